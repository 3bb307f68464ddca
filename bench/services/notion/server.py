"""The simulator: Notion's REST API of version 2022-06-28, errors included."""
from __future__ import annotations

import re
import time
import uuid
from typing import TYPE_CHECKING, Any

from mirage.bench.services.clock import Clock
from mirage.bench.services.http import LogEntry, Request, Response, Service
from mirage.bench.services.notion.seed import NOW, fill
from mirage.bench.services.notion.values import NotionError, invalid, rich_text
from mirage.bench.services.notion.workspace import SPACE, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    Object = dict[str, Any]

TOKEN = "ntn_simulator"
VERSIONS = ("2022-06-28", "2022-02-22")
CODES = {
    400: "validation_error",
    401: "unauthorized",
    403: "restricted_resource",
    404: "object_not_found",
    409: "conflict_error",
    429: "rate_limited",
    500: "internal_server_error",
    502: "bad_gateway",
    503: "service_unavailable",
    504: "gateway_timeout",
}
MOST = 100


class NotionSimulator(Service):
    """One workspace, seen by one integration.

    rows       rows of the table of campaigns
    index_lag  seconds (of `clock`) until a new object is found by search
    rate       requests a second before 429; 0: no limit
    """

    def __init__(self, seed: int = 1, rows: int = 5000, index_lag: float = 0.0, clock: Clock | None = None,
                 rate: float = 0.0) -> None:
        super().__init__()
        self.clock = clock or Clock(NOW)
        self.index_lag = index_lag
        self.tokens = {TOKEN}
        self.rate = rate
        self._level, self._at = rate * 2, time.monotonic()
        self._requests = 0
        self.workspace: Workspace
        self._size = rows
        self.reset(seed, rows)

    def reset(self, seed: int = 1, rows: int | None = None) -> None:
        """A new workspace with the content of the seed, in the size that it had unless another is given."""
        self._size = rows = self._size if rows is None else rows
        self.workspace = Workspace(self.clock, self.index_lag, seed)
        fill(self.workspace, seed, rows)

    @property
    def kept(self) -> Workspace:
        return self.workspace

    # ---- requests

    def _request_id(self) -> str:
        self._requests += 1
        return str(uuid.uuid5(SPACE, f"request {self._requests}"))

    def error(
        self, status: int, message: str = "", headers: dict[str, str] | None = None, reason: str = ""
    ) -> Response:
        code = reason or CODES.get(status, "internal_server_error")
        body = {"object": "error", "status": status, "code": code, "message": message or code.replace("_", " "),
                "request_id": self._request_id()}
        return Response.of_json(body, status, headers)

    def _limited(self) -> Response | None:
        if not self.rate:
            return None
        now = time.monotonic()
        self._level = min(self.rate * 2, self._level + (now - self._at) * self.rate) - 1
        self._at = now
        if self._level >= 0:
            return None
        self._level += 1
        return self.error(429, "You have been rate limited. Please try again in a few minutes.", {"Retry-After": "1"})

    def handle(self, request: Request, entry: LogEntry) -> Response:
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return self.error(401, "API token is invalid.")
        version = request.headers.get("notion-version", "")
        if version not in VERSIONS:
            return self.error(
                400,
                f"Notion-Version header failed validation: {version or 'undefined'} should be one of "
                f"{', '.join(VERSIONS)}.",
                reason="validation_error" if version else "missing_version",
            )
        limited = self._limited()
        if limited is not None:
            return limited
        for method, pattern, route in ROUTES:
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                try:
                    body = request.json() if request.body else {}
                    answer = route(self, body, request, *match.groups())
                    return Response.of_json({**answer, "request_id": self._request_id()})
                except NotionError as e:
                    return self.error(e.status, e.message, reason=e.code)
                except ValueError:
                    return self.error(400, "Error parsing JSON body.", reason="invalid_json")
        return self.error(400, "Invalid request URL.", reason="invalid_request_url")

    @staticmethod
    def _page(items: list[Object], given: Object, kind: str) -> Object:
        """One page of a list; the cursor is the id of the next item."""
        try:
            size = int(given.get("page_size") or MOST)
        except ValueError:
            size = -1
        if not 1 <= size <= MOST:
            raise invalid(
                f"body failed validation: body.page_size should be ≤ `{MOST}`, instead was `{given['page_size']}`."
            )
        cursor, at = given.get("start_cursor"), 0
        if cursor:
            at = next((n for n, item in enumerate(items) if item["id"] == cursor), -1)
            if at < 0:
                raise invalid(f"The start_cursor provided is invalid: {cursor}")
        following = items[at + size]["id"] if at + size < len(items) else None
        return {"object": "list", "results": items[at:at + size], "next_cursor": following,
                "has_more": following is not None, "type": kind, kind: {}}

    @staticmethod
    def _query(request: Request) -> Object:
        return {key: values[0] for key, values in request.query.items()}

    # ---- routes

    def _users(self, body: Object, request: Request) -> Object:
        return self._page(list(self.workspace.users.values()), self._query(request), "user")

    def _user(self, body: Object, request: Request, id: str) -> Object:
        if id == "me":
            return self.workspace.me
        found = self.workspace.users.get(id)
        if found is None:
            raise NotionError(404, "object_not_found", f"Could not find user with ID: {id}.")
        return found

    def _search(self, body: Object, request: Request) -> Object:
        kind = (body.get("filter") or {}).get("value", "")
        if kind not in ("", "page", "database"):
            raise invalid(
                f'body failed validation: body.filter.value should be `"page"` or `"database"`, instead was `"{kind}"`.'
            )
        ascending = (body.get("sort") or {}).get("direction") == "ascending"
        found = self.workspace.search(body.get("query") or "", kind, ascending)
        return self._page(found, body, "page_or_database")

    def _retrieve_page(self, body: Object, request: Request, id: str) -> Object:
        page = self.workspace.page(id)
        wanted = request.query.get("filter_properties")
        if wanted:
            kept = {name: v for name, v in page["properties"].items() if v["id"] in wanted}
            return {**page, "properties": kept}
        return page

    def _create_page(self, body: Object, request: Request) -> Object:
        return self.workspace.create_page(body)

    def _update_page(self, body: Object, request: Request, id: str) -> Object:
        return self.workspace.update_page(id, body)

    def _property(self, body: Object, request: Request, id: str, name: str) -> Object:
        values = self.workspace.page(id)["properties"]
        found = next((v for n, v in values.items() if name in (n, v["id"])), None)
        if found is None:
            raise NotionError(404, "object_not_found", f"Could not find property with ID: {name}.")
        kind, value = found["type"], found[found["type"]]
        item = {"object": "property_item", "id": found["id"], "type": kind}
        if kind not in ("title", "rich_text", "people", "relation"):
            return {**item, kind: value}
        items = [{**item, kind: one} for one in value]
        answer = self._page([{"id": str(n)} for n in range(len(items))], self._query(request), "property_item")
        answer["results"] = [items[int(one["id"])] for one in answer["results"]]
        answer["property_item"] = {"id": found["id"], "type": kind, kind: {}, "next_url": None}
        return answer

    def _block(self, body: Object, request: Request, id: str) -> Object:
        return self.workspace.block(id)

    def _update_block(self, body: Object, request: Request, id: str) -> Object:
        return self.workspace.update_block(id, body)

    def _delete_block(self, body: Object, request: Request, id: str) -> Object:
        return self.workspace.update_block(id, {"archived": True})

    def _children(self, body: Object, request: Request, id: str) -> Object:
        return self._page(self.workspace.listed(id), self._query(request), "block")

    def _append(self, body: Object, request: Request, id: str) -> Object:
        self.workspace.block(id)
        children = body.get("children")
        if not isinstance(children, list):
            raise invalid("body failed validation: body.children should be defined, instead was `undefined`.")
        if len(children) > MOST:
            raise invalid(
                f"body failed validation: body.children.length should be ≤ `{MOST}`, instead was `{len(children)}`."
            )
        made = self.workspace.append(id, children, body.get("after") or "")
        return {"object": "list", "results": made, "next_cursor": None, "has_more": False, "type": "block", "block": {}}

    def _database(self, body: Object, request: Request, id: str) -> Object:
        return self.workspace.database(id)

    def _rows(self, body: Object, request: Request, id: str) -> Object:
        found = self.workspace.rows(id, body.get("filter"), body.get("sorts"))
        return self._page(found, body, "page_or_database")

    def _create_database(self, body: Object, request: Request) -> Object:
        parent = self.workspace.page(str((body.get("parent") or {}).get("page_id", "")))
        return self.workspace.add_database(
            {"type": "page_id", "page_id": parent["id"]},
            rich_text(body.get("title") or [], "body.title"),
            body.get("properties") or {},
        )

    def _update_database(self, body: Object, request: Request, id: str) -> Object:
        return self.workspace.update_database(id, body)

    def _comments(self, body: Object, request: Request) -> Object:
        block = self.workspace.block(request.first("block_id"))["id"]
        found = [c for c in self.workspace.comments if c["parent"][c["parent"]["type"]] == block]
        return self._page(found, self._query(request), "comment")

    def _comment(self, body: Object, request: Request) -> Object:
        return self.workspace.comment(body)


ONE = "([^/]+)"
ROUTES: list[tuple[str, str, Callable[..., Object]]] = [
    ("GET", "/v1/users", NotionSimulator._users),
    ("GET", f"/v1/users/{ONE}", NotionSimulator._user),
    ("POST", "/v1/search", NotionSimulator._search),
    ("POST", "/v1/pages", NotionSimulator._create_page),
    ("GET", f"/v1/pages/{ONE}", NotionSimulator._retrieve_page),
    ("PATCH", f"/v1/pages/{ONE}", NotionSimulator._update_page),
    ("GET", f"/v1/pages/{ONE}/properties/{ONE}", NotionSimulator._property),
    ("GET", f"/v1/blocks/{ONE}", NotionSimulator._block),
    ("PATCH", f"/v1/blocks/{ONE}", NotionSimulator._update_block),
    ("DELETE", f"/v1/blocks/{ONE}", NotionSimulator._delete_block),
    ("GET", f"/v1/blocks/{ONE}/children", NotionSimulator._children),
    ("PATCH", f"/v1/blocks/{ONE}/children", NotionSimulator._append),
    ("POST", "/v1/databases", NotionSimulator._create_database),
    ("GET", f"/v1/databases/{ONE}", NotionSimulator._database),
    ("PATCH", f"/v1/databases/{ONE}", NotionSimulator._update_database),
    ("POST", f"/v1/databases/{ONE}/query", NotionSimulator._rows),
    ("GET", "/v1/comments", NotionSimulator._comments),
    ("POST", "/v1/comments", NotionSimulator._comment),
]
