"""The tree of Slack as a declaration, with hooks for what is odd: days, threads, names of direct conversations."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mirage.mounts.slack.chats import DAY, Chats
from mirage.mounts.slack.client import SlackClient
from mirage.mounts.slack.text import chat_text
from mirage.vfs.days import Days
from mirage.vfs.declare import Declared, Directory, Fetch, File, Listing, Paging, Rendering, Scope, Service
from mirage.vfs.names import safe_name

if TYPE_CHECKING:
    from mirage.vfs.secrets import Secret

MODES = ("exact", "service", "auto")
CURSOR = Paging(kind="cursor", parameter="cursor", next="response_metadata.next_cursor", size=200,
                size_parameter="limit")
EXAMPLE = """\
{"type": "message", "user": "U1", "text": "Hi <@U2>", "ts": "1790776000.000100", "reactions": [...], "files": [...],
 "replies": [{"user": "U2", "text": "...", "ts": "...", "thread_ts": "1790776000.000100"}]}
"""


class Slack(Declared):
    """One workspace, read-only; changes are made with the CLI `slack`.

    token, user_token   Secrets: of a bot or a user; of a user for search, where `token` is a bot's
    endpoint            another server (a simulator)
    search              "exact", "service" or "auto": what `grep -r` does with patterns that are no whole words
    tz                  time zone of the day folders and times
    rate                1: Slack's published limits per method; 0: no limit
    ttl                 seconds until things are asked for again
    cache               bytes to keep
    lag                 seconds until Slack finds a new message by its words
    bound               so many unread days are read rather than searched
    pages               pages of 999 messages that a listing of days reads
    client              instead of tokens, endpoint and rate
    """

    client: SlackClient

    def __init__(self, token: Secret | None = None, user_token: Secret | None = None, endpoint: str = "",
                 search: str = "auto", tz: str = "UTC", rate: float = 1.0, ttl: float = 30.0, cache: int = 64 << 20,
                 lag: float = 120.0, bound: int = 500, pages: int = 20, client: SlackClient | None = None) -> None:
        if search not in MODES:
            raise ValueError(f"slack: search must be one of {', '.join(MODES)}, not {search!r}")
        try:
            zone = ZoneInfo(tz)
        except (ZoneInfoNotFoundError, ValueError):
            raise ValueError(f"slack: unknown time zone {tz!r}") from None
        if client is None:
            if token is None:
                raise ValueError("slack needs a token")
            client = SlackClient(token, user_token, endpoint, rate)
        super().__init__(self._service(), client, ttl=ttl, cache=cache)
        self.mode = search
        self.lag = lag
        self.bound = bound
        self.zone = zone
        self.chats = Chats(client, self.store, Days(zone), pages)

    def _service(self) -> Service:
        from mirage.mounts.slack.search import search
        channels = Listing(path="conversations.list", items="channels", paging=CURSOR,
                           query={"types": "public_channel,private_channel"})
        return Service(name="slack", summary="Slack. Post and react with the `slack` CLI.", search=search, tree=[
            Directory(name="channels", children=[
                Directory(name="{name}", each=channels, unique="always", as_="channel", modified="created",
                          one=Fetch(path="conversations.info", query={"channel": "{id}"}, value="channel"),
                          within={"is_im || is_mpim || `false`": "`false`"},
                          children=self._days(about="messages, threads under their parent"))]),
            Directory(name="dms", children=[
                Directory(name="{title}", each=lambda scope: self.chats.direct(), unique="always", as_="channel",
                          find=self._direct, children=self._days(about="direct messages"))]),
            Directory(name="users", children=[
                File(name="{name}", each=lambda scope: self.chats.users().values(), unique="always",
                     modified="updated", about="a person")])])

    def _days(self, about: str) -> list[Any]:
        return [Directory(
            name="{day}", each=lambda scope: self.chats.list_days(scope), id="day", modified="latest", as_="day",
            find=lambda scope, name: self.chats.find_day(scope, name), children=[
                File(name="chat", content=lambda scope: self.chats.chat(scope), modified="day.latest", about=about,
                     renderings=[
                         Rendering(suffix=".jsonl", format="jsonl", example=EXAMPLE,
                                   note="`chat.txt` is the same to read."),
                         Rendering(suffix=".txt", format="text", render=self._text)]),
                Directory(name="files", modified="day.latest", children=[
                    File(name="{title_or_name}", each=lambda scope: self.chats.files(scope), size="length",
                         modified="created", content=lambda scope: self.chats.download(scope),
                         renderings=[Rendering(format="bytes")])])])]

    def ages_with_content(self, path: str) -> bool:
        """A day has the time of its last message, reply or edit: nothing in it is younger."""
        parts = path.split("/")
        return len(parts) > 3 and parts[1] in ("channels", "dms") and DAY.fullmatch(parts[3]) is not None

    def _direct(self, scope: Scope, name: str) -> Any:
        """The direct conversation of a name."""
        for item in self.chats.direct():
            if f"{safe_name(item['title'])}__{item['id']}" == name:
                return item
        return None

    def _text(self, messages: Any, scope: Scope) -> str:
        from datetime import datetime

        def clock(message: dict[str, Any]) -> str:
            at = datetime.fromtimestamp(int(float(message["ts"])), self.zone)
            own = scope.path.rpartition("/")[0].rpartition("/")[2]
            day = at.strftime("%Y-%m-%d")
            return at.strftime("%H:%M") if day == own else at.strftime("%Y-%m-%d %H:%M")
        return chat_text(messages, self.chats.name, clock)

    def conversation(self, id: str) -> str:
        """The path of a conversation's directory. Raises OSError where there is none."""
        if id in self.chats.paths:
            return self.chats.paths[id]
        for top in ("/channels", "/dms"):
            kept = self.store.peek((top, 0, "list"), top)
            for stem, item in kept.value.items() if kept is not None else ():
                if item["id"] == id:
                    return f"{top}/{stem}"
        channel = self.client.call("conversations.info", channel=id)["channel"]
        if channel.get("is_im") or channel.get("is_mpim"):
            item = self.chats.one_direct(id) or {**channel, "title": channel.get("name") or channel.get("user", id)}
            return f"/dms/{safe_name(item['title'])}__{id}"
        return f"/channels/{safe_name(channel['name'])}__{id}"

    def __repr__(self) -> str:
        return f"Slack({self.client.endpoint})"
