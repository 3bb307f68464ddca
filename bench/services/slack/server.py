"""The simulator: POST /api/METHOD with form fields or JSON, answers with `ok`; files below /files-pri/."""
from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from mirage.bench.services.clock import Clock
from mirage.bench.services.http import LogEntry, Request, Response, Service
from mirage.bench.services.slack.seed import NOW, fill
from mirage.bench.services.slack.workspace import TEAM, SlackError, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    Fields = dict[str, str]

WORDS = {401: "invalid_auth", 403: "missing_scope", 404: "unknown_method", 429: "ratelimited", 500: "internal_error",
         503: "service_unavailable"}
USER, BOT = "xoxp-simulator", "xoxb-simulator"


class SlackSimulator(Service):
    """One workspace.

    messages   how many the seed makes
    index_lag  seconds (of `clock`) until a new message is found by its words
    tokens     token -> "user" or "bot": bots cannot search
    """

    def __init__(self, seed: int = 1, messages: int = 900, index_lag: float = 0.0, clock: Clock | None = None) -> None:
        super().__init__()
        self.clock = clock or Clock(NOW)
        self.index_lag = index_lag
        self.tokens = {USER: "user", BOT: "bot"}
        self.workspace: Workspace
        self._messages = messages
        self.reset(seed, messages)

    def reset(self, seed: int = 1, messages: int | None = None) -> None:
        """A new workspace with the messages of the seed, in the size that it had unless another is given."""
        self._messages = messages = self._messages if messages is None else messages
        self.workspace = Workspace(self.clock, self.index_lag)
        fill(self.workspace, seed, messages)

    @property
    def kept(self) -> Workspace:
        return self.workspace

    # ---- requests

    def error(self, status: int, message: str = "", headers: dict[str, str] | None = None,
              reason: str = "") -> Response:
        body = {"ok": False, "error": reason or message or WORDS.get(status, "fatal_error")}
        return Response.of_json(body, 200 if status in (401, 403, 404) else status, headers)

    def handle(self, request: Request, entry: LogEntry) -> Response:
        kind = self.tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if request.path.startswith("/files-pri/"):
            return self._file(request, kind)
        name = request.path.removeprefix("/api/")
        method = METHODS.get(name)
        if method is None:
            return self.error(404)
        if kind is None:
            return self.error(200, "invalid_auth" if "authorization" in request.headers else "not_authed")
        if request.headers.get("content-type", "").startswith("application/json"):
            fields = {key: str(value) for key, value in request.json().items()}
        else:
            fields = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        fields.update({key: values[0] for key, values in request.query.items()})
        entry.query = {key: [value] for key, value in fields.items()}
        if name.startswith("search.") and kind != "user":
            return self.error(200, "not_allowed_token_type")
        try:
            return Response.of_json({"ok": True, **method(self, fields)})
        except SlackError as e:
            return self.error(200, e.error)

    def _file(self, request: Request, kind: str | None) -> Response:
        id = request.path.split("/")[2].partition("-")[2]
        found = self.workspace.files.get(id)
        if kind is None:
            return Response(302, b"", {"Location": f"{self.address}signin"})
        if found is None:
            return Response(404, b"no such file", {"Content-Type": "text/plain"})
        return Response(200, found[1], {"Content-Type": found[0]["mimetype"]})

    def _absolute(self, message: dict[str, Any]) -> dict[str, Any]:
        """A message as it is sent: with the addresses of its files."""
        if "files" not in message:
            return message
        keys = ("url_private", "url_private_download")
        return {**message, "files": [{**f, **{k: self.address + f[k] for k in keys if not f[k].startswith("http")}}
                                     for f in message["files"]]}

    # ---- methods

    def _auth_test(self, fields: Fields) -> dict[str, Any]:
        me = self.workspace.users[self.workspace.me]
        return {"url": "https://norrsken.slack.example/", "team": "Norrsken", "user": me["name"], "team_id": TEAM,
                "user_id": me["id"]}

    def _conversations_list(self, fields: Fields) -> dict[str, Any]:
        archived = fields.get("exclude_archived", "0") not in ("1", "true")
        found = self.workspace.listed(fields.get("types", "public_channel"), archived)
        return _page("channels", found, fields, 100)

    def _conversations_info(self, fields: Fields) -> dict[str, Any]:
        return {"channel": self.workspace.conversation(fields.get("channel", ""), read=True)}

    def _conversations_history(self, fields: Fields) -> dict[str, Any]:
        space = self.workspace
        id = space.conversation(fields.get("channel", ""), read=True)["id"]
        if not space.members[id]:
            raise SlackError("not_in_channel")
        oldest, latest = fields.get("oldest", "0"), fields.get("latest", "9999999999")
        inside = fields.get("inclusive", "0") in ("1", "true")
        found = [self._absolute(m) for m in reversed(space.messages[id])
                 if float(oldest) < float(m["ts"]) < float(latest) or inside and m["ts"] in (oldest, latest)]
        answer = _page("messages", found, fields, 100)
        return {**answer, "has_more": bool(answer["response_metadata"]["next_cursor"]), "pin_count": 0}

    def _conversations_replies(self, fields: Fields) -> dict[str, Any]:
        space = self.workspace
        id, ts = space.conversation(fields.get("channel", ""), read=True)["id"], fields.get("ts", "")
        parent = space.find(id, ts)
        if parent is None:
            raise SlackError("thread_not_found")
        found = [self._absolute(m) for m in (parent, *space.replies.get((id, ts), ()))]
        answer = _page("messages", found, fields, 1000)
        return {**answer, "has_more": bool(answer["response_metadata"]["next_cursor"])}

    def _users_list(self, fields: Fields) -> dict[str, Any]:
        return _page("members", list(self.workspace.users.values()), fields, 100)

    def _user(self, fields: Fields) -> dict[str, Any]:
        user = self.workspace.users.get(fields.get("user", ""))
        if user is None:
            raise SlackError("user_not_found")
        return user

    def _users_info(self, fields: Fields) -> dict[str, Any]:
        return {"user": self._user(fields)}

    def _users_profile_get(self, fields: Fields) -> dict[str, Any]:
        return {"profile": self._user(fields)["profile"]}

    def _chat_post(self, fields: Fields) -> dict[str, Any]:
        space = self.workspace
        channel = space.conversation(fields.get("channel", ""), read=True)
        if not fields.get("text"):
            raise SlackError("no_text")
        if channel.get("is_archived"):
            raise SlackError("is_archived")
        if not space.members[channel["id"]]:
            raise SlackError("not_in_channel")
        message = space.add_message(channel["id"], space.me, fields["text"], thread=fields.get("thread_ts", ""))
        return {"channel": channel["id"], "ts": message["ts"], "message": message}

    def _reactions_add(self, fields: Fields) -> dict[str, Any]:
        channel = self.workspace.conversation(fields.get("channel", ""), read=True)
        self.workspace.react(channel["id"], fields.get("timestamp", ""), fields.get("name", ""))
        return {}

    def _search_messages(self, fields: Fields) -> dict[str, Any]:
        if not fields.get("query", "").strip():
            raise SlackError("no_query")
        count, page = min(int(fields.get("count", "20")), 100), int(fields.get("page", "1"))
        found = self.workspace.search(fields["query"])
        matches = []
        for id, message in found[count * (page - 1):count * page]:
            channel = self.workspace.conversations[id]
            thread = message.get("thread_ts", "")
            link = f"https://norrsken.slack.example/archives/{id}/p{message['ts'].replace('.', '')}"
            matches.append({"type": "message", "team": TEAM, "user": message["user"], "ts": message["ts"],
                            "text": message["text"], "username": self.workspace.users[message["user"]]["name"],
                            "channel": {"id": id, "name": channel.get("name", channel.get("user", ""))},
                            "permalink": link + (f"?thread_ts={thread}" if thread else "")})
        pages = -(-len(found) // count)
        return {"query": fields["query"], "messages": {
            "total": len(found), "matches": matches,
            "paging": {"count": count, "total": len(found), "page": page, "pages": pages}}}

    def _search_files(self, fields: Fields) -> dict[str, Any]:
        """By the words of names and titles."""
        words = set(re.findall(r"\w+", fields.get("query", "").casefold()))
        if not words:
            raise SlackError("no_query")
        count, page = min(int(fields.get("count", "20")), 100), int(fields.get("page", "1"))
        found = [file for file, _ in self.workspace.files.values()
                 if words <= set(re.findall(r"\w+", f"{file['name']} {file['title']}".casefold()))]
        pages = -(-len(found) // count)
        return {"query": fields["query"], "files": {
            "total": len(found), "matches": found[count * (page - 1):count * page],
            "paging": {"count": count, "total": len(found), "page": page, "pages": pages}}}

    def _files_list(self, fields: Fields) -> dict[str, Any]:
        count, page = int(fields.get("count", "100")), int(fields.get("page", "1"))
        files = [file for file, _ in self.workspace.files.values()]
        return {"files": files[count * (page - 1):count * page],
                "paging": {"count": count, "total": len(files), "page": page, "pages": -(-len(files) // count)}}


METHODS: dict[str, Callable[[SlackSimulator, Fields], dict[str, Any]]] = {
    "auth.test": SlackSimulator._auth_test, "conversations.list": SlackSimulator._conversations_list,
    "conversations.info": SlackSimulator._conversations_info,
    "conversations.history": SlackSimulator._conversations_history,
    "conversations.replies": SlackSimulator._conversations_replies, "users.list": SlackSimulator._users_list,
    "users.info": SlackSimulator._users_info, "users.profile.get": SlackSimulator._users_profile_get,
    "chat.postMessage": SlackSimulator._chat_post, "reactions.add": SlackSimulator._reactions_add,
    "search.files": SlackSimulator._search_files, "search.messages": SlackSimulator._search_messages,
    "files.list": SlackSimulator._files_list}


def _page(key: str, items: list[Any], fields: Fields, default: int) -> dict[str, Any]:
    """One page and the cursor of the next; Slack never gives more than 999."""
    cursor = fields.get("cursor", "")
    try:
        at = int(base64.b64decode(cursor).decode().partition(":")[2]) if cursor else 0
        limit = int(fields.get("limit", default)) or default
    except ValueError:
        raise SlackError("invalid_cursor") from None
    if not 0 < limit <= 1000:
        raise SlackError("invalid_limit")
    more = at + limit < len(items)
    following = base64.b64encode(f"next:{at + limit}".encode()).decode() if more else ""
    return {key: items[at:at + limit], "response_metadata": {"next_cursor": following}}
