"""The simulator: HTTP requests of the Gmail API to methods of a Mailbox."""
from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mirage.bench.services.clock import Clock
from mirage.bench.services.gmail import fields, mime
from mirage.bench.services.gmail.mailbox import NOT_FOUND, Mailbox, MailError, Stored, difference
from mirage.bench.services.gmail.seed import ADDRESS, NOW, fill
from mirage.bench.services.google import GoogleService
from mirage.bench.services.http import LogEntry, Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH_MOST = 100
UPLOAD_MOST = 35 << 20
STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED",
          429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}
MESSAGES = {401: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
                 "valid authentication credential.",
            403: "Request had insufficient authentication scopes.", 404: NOT_FOUND,
            429: "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service "
                 "'gmail.googleapis.com'.",
            500: "Internal error encountered.", 503: "The service is currently unavailable."}
REASONS = {401: "authError", 403: "insufficientPermissions", 404: "notFound", 429: "rateLimitExceeded",
           500: "backendError", 503: "backendError"}
READ = "https://www.googleapis.com/auth/gmail.readonly"
FULL = "https://mail.google.com/"


class GmailSimulator(GoogleService):
    """One Gmail account.

    messages   how many the seed makes
    index_lag  seconds (of `clock`) until a new message is found by its words
    clock      of the account; by default it stands at the end of the seed's year and every change takes a second
    tokens     access token -> scope; refresh tokens give new ones
    """

    def __init__(self, seed: int = 1, messages: int = 600, index_lag: float = 0.0, clock: Clock | None = None) -> None:
        super().__init__(FULL)
        self.clock = clock or Clock(NOW)
        self.index_lag = index_lag
        self.mailbox: Mailbox
        self._messages = messages
        self.reset(seed, messages)

    # ---- for tests and benchmarks

    def reset(self, seed: int = 1, messages: int | None = None) -> None:
        """A new mailbox with the messages of the seed, in the size that it had unless another is given."""
        self._messages = messages = self._messages if messages is None else messages
        self.mailbox = Mailbox(ADDRESS, self.clock, self.index_lag)
        fill(self.mailbox, seed, messages)

    @property
    def kept(self) -> Mailbox:
        return self.mailbox

    @staticmethod
    def diff(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        return difference(before, after)

    # ---- requests

    def error(self, status: int, message: str = "", headers: dict[str, str] | None = None,
              reason: str = "") -> Response:
        message = message or MESSAGES.get(status, "Error")
        reason = reason or REASONS.get(status, "invalidArgument")
        return Response.of_json({"error": {"code": status, "message": message, "errors": [
            {"message": message, "domain": "global", "reason": reason}], "status": STATUS.get(status, "UNKNOWN")}},
            status, headers)

    def handle(self, request: Request, entry: LogEntry) -> Response:
        if request.path == "/token":
            return self.refresh(request)
        if request.path in ("/batch/gmail/v1", "/batch"):
            return self._batch(request, entry)
        return self._answer(request)

    def _answer(self, request: Request) -> Response:
        scope = self.scope_of(request)
        if scope is None:
            return self.unauthorized()
        if scope == READ and request.method != "GET":
            return self.error(403)
        upload = request.path.startswith("/upload/")
        path = request.path.removeprefix("/upload").removeprefix("/resumable")
        match = re.fullmatch(r"/gmail/v1/users/([^/]+)(/.*)", path)
        if match is None or match.group(1) not in ("me", self.mailbox.address):
            return self.error(404)
        try:
            for method, pattern, function in ROUTES:
                found = re.fullmatch(pattern, match.group(2))
                if found is not None and method == request.method:
                    value = function(self, request, upload, *map(unquote, found.groups()))
                    break
            else:
                return self.error(404)
            if value is None:
                return Response(204)
            mask = request.first("fields")
            return Response.of_json(fields.apply(fields.parse(mask), value) if mask else value)
        except MailError as e:
            return self.error(e.status, str(e), reason=e.reason)
        except (ValueError, KeyError, TypeError) as e:
            return self.error(400, f"Invalid value: {type(e).__name__}")

    def _batch(self, request: Request, entry: LogEntry) -> Response:
        kind = request.headers.get("content-type", "")
        parts = mime.parts(kind, request.body)
        if not parts:
            return self.error(400, "Failed to parse batch request")
        entry.parts = len(parts)
        if len(parts) > BATCH_MOST:
            return self.error(400, f"The batch request is too large: {len(parts)} > {BATCH_MOST}")
        out = []
        for part in parts:
            head, _, body = mime.data(part).replace(b"\r\n", b"\n").partition(b"\n\n")
            lines = head.decode().split("\n")
            method, target, *_ = lines[0].split(" ")
            headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines[1:])}
            headers.setdefault("authorization", request.headers.get("authorization", ""))
            inner = Request(method, target, headers, body)
            answer = self.refusal(inner) or self._answer(inner)
            extra = "".join(f"{n}: {v}\r\n" for n, v in answer.headers.items())
            out.append(b"--batch_mirage\r\nContent-Type: application/http\r\nContent-ID: <response-"
                       + str(part["Content-ID"]).strip("<>").encode() + b">\r\n\r\nHTTP/1.1 "
                       + f"{answer.status} X\r\n{extra}Content-Length: {len(answer.body)}\r\n\r\n".encode()
                       + answer.body + b"\r\n")
        return Response(200, b"".join(out) + b"--batch_mirage--\r\n",
                        {"Content-Type": "multipart/mixed; boundary=batch_mirage"})


def _number(request: Request, name: str, default: int, most: int) -> int:
    return max(1, min(int(request.first(name, str(default))), most))


def _incoming(request: Request, upload: bool) -> tuple[bytes, dict[str, Any]]:
    """(raw message, resource) from JSON, a media upload, or a multipart upload."""
    if not upload:
        value = request.json()
        inner = value.get("message", value)
        if "raw" not in inner:
            raise MailError(400, "'raw' RFC822 payload message string or uploading message via /upload/* URL required")
        return mime.decode(inner["raw"]), value
    if len(request.body) > UPLOAD_MOST:
        raise MailError(413, "Request entity too large")
    kind = request.headers.get("content-type", "")
    if not kind.startswith("multipart/related"):
        return request.body, {}
    boundary = b"--" + kind.partition("boundary=")[2].partition(";")[0].strip('" ').encode()
    pieces = [_after_headers(piece) for piece in request.body.split(boundary)[1:3]]
    if len(pieces) < 2:
        raise MailError(400, "Bad multipart request")
    return pieces[1], json.loads(pieces[0] or b"{}")


def _after_headers(piece: bytes) -> bytes:
    """What stands behind a part's headers, untouched but for the last line end."""
    cuts = [at + len(mark) for mark in (b"\r\n\r\n", b"\n\n") if (at := piece.find(mark)) >= 0]
    return piece[min(cuts):].removesuffix(b"\n").removesuffix(b"\r") if cuts else b""


def _page(found: list[Any], request: Request, key: str, default: int = 100) -> dict[str, Any]:
    size, at = _number(request, "maxResults", default, 500), int(request.first("pageToken", "0"))
    result: dict[str, Any] = {"resultSizeEstimate": len(found)}
    if found[at:at + size]:
        result[key] = found[at:at + size]
    if at + size < len(found):
        result["nextPageToken"] = str(at + size)
    return result


def _search(s: GmailSimulator, r: Request) -> list[Stored]:
    return s.mailbox.search(r.first("q"), r.query.get("labelIds", []), r.first("includeSpamTrash") == "true")


def _view(s: GmailSimulator, r: Request, message: Stored) -> dict[str, Any]:
    return s.mailbox.view(message, r.first("format", "full").lower(), r.query.get("metadataHeaders", []))


def _minimal(message: Stored) -> dict[str, Any]:
    return {"id": message.id, "threadId": message.thread, "labelIds": sorted(message.labels)}


def _list_messages(s: GmailSimulator, r: Request, _: bool) -> Any:
    return _page([{"id": m.id, "threadId": m.thread} for m in _search(s, r)], r, "messages")


def _get_message(s: GmailSimulator, r: Request, _: bool, id: str) -> Any:
    return _view(s, r, s.mailbox.get(id))


def _attachment(s: GmailSimulator, r: Request, _: bool, id: str, attachment: str) -> Any:
    part = mime.find_attachment(s.mailbox.get(id).body, attachment)
    if part is None:
        raise MailError(400, "Invalid attachment token")
    return {"size": part.size, "data": mime.encode(part.content)}


def _send(s: GmailSimulator, r: Request, upload: bool) -> Any:
    raw, resource = _incoming(r, upload)
    return _minimal(s.mailbox.send(raw, resource.get("threadId", "")))


def _insert(s: GmailSimulator, r: Request, upload: bool) -> Any:
    raw, resource = _incoming(r, upload)
    dated = r.first("internalDateSource", "receivedTime") == "dateHeader"
    return _minimal(s.mailbox.receive(raw, resource.get("labelIds", []), resource.get("threadId", ""), dated))


def _modify(s: GmailSimulator, r: Request, _: bool, id: str) -> Any:
    body = r.json()
    return _minimal(s.mailbox.change_labels([id], body.get("addLabelIds", []), body.get("removeLabelIds", []))[0])


def _batch_modify(s: GmailSimulator, r: Request, _: bool) -> Any:
    body = r.json()
    s.mailbox.change_labels(body["ids"], body.get("addLabelIds", []), body.get("removeLabelIds", []))


def _draft_raw(r: Request, upload: bool) -> tuple[bytes, str]:
    raw, resource = _incoming(r, upload)
    return raw, resource.get("message", {}).get("threadId", "")


def _list_drafts(s: GmailSimulator, r: Request, _: bool) -> Any:
    box = s.mailbox
    with box.lock:
        found = [box.draft(id, "minimal") for id in sorted(box.drafts, key=lambda d: -box.get(box.drafts[d]).date)]
    for draft in found:
        draft["message"].pop("labelIds", None)
    return _page(found, r, "drafts")


def _send_draft(s: GmailSimulator, r: Request, upload: bool) -> Any:
    return _minimal(s.mailbox.send_draft(r.json()["id"]))


def _list_threads(s: GmailSimulator, r: Request, _: bool) -> Any:
    newest: dict[str, Stored] = {}
    for message in _search(s, r):
        newest.setdefault(message.thread, message)
    found = [{"id": id, "snippet": " ".join(m.text().split())[:100], "historyId": str(m.history)}
             for id, m in newest.items()]
    return _page(found, r, "threads")


def _get_thread(s: GmailSimulator, r: Request, _: bool, id: str) -> Any:
    messages = s.mailbox.thread(id)
    return {"id": id, "historyId": str(max(m.history for m in messages)),
            "messages": [_view(s, r, m) for m in messages]}


def _modify_thread(s: GmailSimulator, r: Request, _: bool, id: str) -> Any:
    body, ids = r.json(), [m.id for m in s.mailbox.thread(id)]
    changed = s.mailbox.change_labels(ids, body.get("addLabelIds", []), body.get("removeLabelIds", []))
    return {"id": id, "messages": [_minimal(m) for m in changed]}


def _trash_thread(s: GmailSimulator, r: Request, _: bool, id: str, action: str) -> Any:
    changed = s.mailbox.trash([m.id for m in s.mailbox.thread(id)], back=action == "untrash")
    return {"id": id, "messages": [_minimal(m) for m in changed]}


def _history(s: GmailSimulator, r: Request, _: bool) -> Any:
    return s.mailbox.list_history(int(r.first("startHistoryId")), r.query.get("historyTypes", []), r.first("labelId"),
                                  _number(r, "maxResults", 100, 500), r.first("pageToken"))


ID = "/([^/]+)"
ROUTES: list[tuple[str, str, Callable[..., Any]]] = [
    ("GET", "/profile", lambda s, r, u: s.mailbox.profile()),
    ("GET", "/labels", lambda s, r, u: s.mailbox.list_labels()),
    ("POST", "/labels", lambda s, r, u: s.mailbox.create_label(r.json()["name"])),
    ("GET", f"/labels{ID}", lambda s, r, u, id: s.mailbox.label(id, counts=True)),
    ("PATCH", f"/labels{ID}", lambda s, r, u, id: s.mailbox.rename_label(id, r.json()["name"])),
    ("PUT", f"/labels{ID}", lambda s, r, u, id: s.mailbox.rename_label(id, r.json()["name"])),
    ("DELETE", f"/labels{ID}", lambda s, r, u, id: s.mailbox.delete_label(id)),
    ("GET", "/messages", _list_messages),
    ("POST", "/messages", _insert),
    ("POST", "/messages/send", _send),
    ("POST", "/messages/batchModify", _batch_modify),
    ("POST", "/messages/batchDelete", lambda s, r, u: s.mailbox.delete(r.json()["ids"], strict=False)),
    ("GET", f"/messages{ID}", _get_message),
    ("DELETE", f"/messages{ID}", lambda s, r, u, id: s.mailbox.delete([id])),
    ("POST", f"/messages{ID}/modify", _modify),
    ("POST", f"/messages{ID}/(trash|untrash)",
     lambda s, r, u, id, action: _minimal(s.mailbox.trash([id], back=action == "untrash")[0])),
    ("GET", f"/messages{ID}/attachments{ID}", _attachment),
    ("GET", "/drafts", _list_drafts),
    ("POST", "/drafts", lambda s, r, u: s.mailbox.create_draft(*_draft_raw(r, u))),
    ("POST", "/drafts/send", _send_draft),
    ("GET", f"/drafts{ID}", lambda s, r, u, id: s.mailbox.draft(id, r.first("format", "full").lower())),
    ("PUT", f"/drafts{ID}", lambda s, r, u, id: s.mailbox.update_draft(id, *_draft_raw(r, u))),
    ("DELETE", f"/drafts{ID}", lambda s, r, u, id: s.mailbox.delete_draft(id)),
    ("GET", "/threads", _list_threads),
    ("GET", f"/threads{ID}", _get_thread),
    ("POST", f"/threads{ID}/modify", _modify_thread),
    ("POST", f"/threads{ID}/(trash|untrash)", _trash_thread),
    ("GET", "/history", _history),
]
