"""Days of a conversation: from its whole history once that was listed, else from the window of one day."""
from __future__ import annotations

import errno
import re
import threading
from typing import TYPE_CHECKING, Any

from mirage.vfs.declare.store import Kept
from mirage.vfs.names import unique_names
from mirage.vfs.service import service_error

if TYPE_CHECKING:
    from mirage.mounts.slack.client import SlackClient
    from mirage.vfs.days import Days
    from mirage.vfs.declare import Scope
    from mirage.vfs.declare.store import Store

    Message = dict[str, Any]

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
PAGE = 999                                                   # the most that Slack gives
THREADS_TTL = 600.0
PEOPLE_TTL = 600.0


class Chats:
    """days   time zone;  pages: how many pages of history a listing of days reads"""

    def __init__(self, client: SlackClient, store: Store, days: Days, pages: int) -> None:
        self.client = client
        self.store = store
        self.days = days
        self.pages = pages
        self._lock = threading.Lock()
        self._changed: set[tuple[str, str]] = set()          # (conversation, day) that we changed
        self.paths: dict[str, str] = {}                      # of conversations that were looked into
        self._own: list[tuple[float, str]] = []              # when and in which day we wrote

    # ---- people

    def users(self) -> dict[str, Message]:
        """Every user by id."""
        def make(previous: Kept | None) -> Kept:
            found = self._pages("users.list", "members", limit=200)
            return Kept({user["id"]: user for user in found}, 1000 * len(found))
        people: dict[str, Message] = self.store.get(("users",), "/users", make, PEOPLE_TTL).value
        return people

    def name(self, id: str) -> str:
        """The name that people see, or ""."""
        user = self.users().get(id)
        if user is None:
            return ""
        profile = user.get("profile", {})
        return str(profile.get("real_name") or user.get("real_name") or user.get("name") or "")

    def direct(self) -> list[Message]:
        """Direct conversations, with the name that their directory gets as `title`."""
        def make(previous: Kept | None) -> Kept:
            found = self._pages("conversations.list", "channels", types="im,mpim", limit=200)
            users = self.users()
            for item in found:
                user = users.get(item.get("user", ""), {})
                item["title"] = user.get("name") or item.get("name") or item.get("user", "")
            return Kept(found, 300 * len(found))
        direct: list[Message] = self.store.get(("direct",), "/dms", make).value
        return direct

    def one_direct(self, id: str) -> Message | None:
        return next((item for item in self.direct() if item["id"] == id), None)

    def shared(self) -> list[Message]:
        """Every file of the workspace, without content."""
        def make(previous: Kept | None) -> Kept:
            found: list[Message] = []
            page, pages = 1, 1
            while page <= pages:
                answer = self.client.call("files.list", count=1000, page=page)
                found += answer["files"]
                pages = (answer.get("paging") or {}).get("pages", 1)
                page += 1
            return Kept(found, 1000 * len(found))
        files: list[Message] = self.store.get(("shared",), "/", make).value
        return files

    # ---- days

    def list_days(self, scope: Scope) -> list[Message]:
        """The days with messages, oldest first."""
        self.paths[scope["channel"]["id"]] = scope.path
        history = self._history(scope)
        return [{"day": day, "latest": _latest(messages)} for day, messages in sorted(history.items()) if messages]

    def find_day(self, scope: Scope, name: str) -> Message | None:
        self.paths[scope["channel"]["id"]] = scope.path
        messages = self.messages(scope["channel"]["id"], scope.path, name)
        return {"day": name, "latest": _latest(messages)} if messages else None

    def messages(self, channel: str, path: str, day: str) -> list[Message]:
        """Top-level messages of a day, oldest first. `path` is that of the conversation."""
        bounds = self.days.bounds(day)
        if bounds is None or not DAY.fullmatch(day):
            return []
        kept = self.store.peek((path, "history"), f"{path}/.history")
        if kept is not None:
            self._redo(kept, channel, path)
            found: list[Message] = kept.value.get(day, [])
            if found or not self._cut(kept):
                return found

        def make(previous: Kept | None) -> Kept:
            window = self._window(channel, *bounds)
            return Kept(window, len(str(window)))
        value: list[Message] = self.store.get((path, "window", day), f"{path}/{day}", make).value
        return value

    @staticmethod
    def _cut(kept: Kept) -> bool:
        """Does the history begin before what was read?"""
        return bool(kept.validators)

    def _history(self, scope: Scope) -> dict[str, list[Message]]:
        channel, path = scope["channel"]["id"], scope.path

        def make(previous: Kept | None) -> Kept:
            with self._lock:
                self._changed = {(c, d) for c, d in self._changed if c != channel}
            found, cut = self._walk("conversations.history", "messages", self.pages, channel=channel, limit=PAGE)
            by_day: dict[str, list[Message]] = {}
            for message in reversed(found):
                by_day.setdefault(self.day_of(message["ts"]), []).append(message)
            if cut and by_day:
                del by_day[min(by_day)]                      # perhaps not whole
            return Kept(by_day, len(str(found)), cut)
        kept = self.store.get((path, "history"), f"{path}/.history", make)
        self._redo(kept, channel, path)
        history: dict[str, list[Message]] = kept.value
        return history

    def _redo(self, history: Kept, channel: str, path: str) -> None:
        """Ask again for the days that we changed. Others may be reading the old ones."""
        with self._lock:
            days = [day for c, day in self._changed if c == channel]
            self._changed.difference_update((channel, day) for day in days)
        for day in days:
            bounds = self.days.bounds(day)
            assert bounds is not None

            def make(previous: Kept | None, bounds: tuple[int, int] = bounds) -> Kept:
                window = self._window(channel, *bounds)
                return Kept(window, len(str(window)))
            try:
                window = self.store.get((path, "window", day), f"{path}/{day}", make).value
                with self._lock:
                    history.value = {**history.value, day: window}
            except OSError:
                with self._lock:
                    self._changed.add((channel, day))
                raise

    def day_of(self, ts: str) -> str:
        return self.days.of(int(float(ts) * 1000))

    def _window(self, channel: str, start: int, end: int) -> list[Message]:
        found = self._pages("conversations.history", "messages", channel=channel, oldest=f"{start}.000000",
                            latest=f"{end}.000000", inclusive="true", limit=PAGE)
        return [m for m in reversed(found) if start <= float(m["ts"]) < end]

    def changed(self, channel: str, path: str, ts: str, posted: str = "") -> str:
        """We changed a message or its replies: its day is asked for again; the day.

        posted  the time stamp of what is new
        """
        day = self.day_of(ts)
        with self._lock:
            self._changed.add((channel, day))
            if posted:
                self._own.append((float(posted), f"{path}/{day}"))
        below = [f"{path}/{day}/{name}" for name in ("chat", "files", ts)]
        self.store.drop([path, f"{path}/{day}", *below], below=False)
        return day

    def own(self, since: float) -> list[str]:
        """Days in which we wrote something after a time of the service's clock."""
        with self._lock:
            self._own = [(at, path) for at, path in self._own if at >= since]
            return [path for _, path in self._own]

    # ---- content

    def chat(self, scope: Scope) -> list[Message]:
        """The messages of a day with their replies; `scope.path` is that of the file."""
        day_path = scope.path.rpartition("/")[0]
        return self.whole(scope["channel"]["id"], day_path)

    def whole(self, channel: str, day_path: str) -> list[Message]:
        """Messages of a day, each thread in place under its parent as `replies`."""
        path, _, day = day_path.rpartition("/")
        result = []
        for message in self.messages(channel, path, day):
            if message.get("reply_count") and message.get("thread_ts") == message["ts"]:
                result.append({**message, "replies": self._replies(channel, day_path, message)})
            else:
                result.append(message)
        return result

    def _replies(self, channel: str, day_path: str, parent: Message) -> list[Message]:
        ts = parent["ts"]

        def make(previous: Kept | None) -> Kept:
            found = self._pages("conversations.replies", "messages", channel=channel, ts=ts, limit=PAGE)
            replies = [m for m in found if m["ts"] != ts]
            return Kept(replies, len(str(replies)))
        key = ("thread", channel, ts, parent.get("latest_reply"), parent["reply_count"])
        replies: list[Message] = self.store.get(key, f"{day_path}/{ts}", make, THREADS_TTL).value
        return replies

    def files(self, scope: Scope) -> list[Message]:
        """The files of a day's messages and replies that Slack itself keeps; `scope.path` is that of `files`."""
        found = []
        for message in self.whole(scope["channel"]["id"], scope.path.rpartition("/")[0]):
            for one in (message, *message.get("replies", ())):
                for file in one.get("files", ()):
                    url = file.get("url_private_download") or file.get("url_private")
                    if file.get("is_external") or not url or not self.client.ours(url):
                        continue
                    exact = file.get("mode") in ("hosted", "snippet")
                    found.append({**file, "length": file.get("size") if exact else None, "url": url,
                                  "title_or_name": _title(file)})
        return found

    def download(self, scope: Scope) -> bytes:
        data: bytes = self.client.send("GET", scope.item["url"], raw=True, length=scope.item["length"]).value
        return data

    # ---- requests

    def _pages(self, method: str, key: str, **arguments: Any) -> list[Message]:
        """All items of a method that gives cursors."""
        return self._walk(method, key, None, **arguments)[0]

    def _walk(self, method: str, key: str, most: int | None, **arguments: Any) -> tuple[list[Message], bool]:
        """(the items of at most `most` pages, are there more)"""
        found: list[Message] = []
        cursor, pages = "", 0
        while True:
            if cursor:
                arguments["cursor"] = cursor
            answer = self.client.call(method, **arguments)
            found += answer[key]
            pages += 1
            following = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not following or most is not None and pages >= most:
                return found, bool(following)
            if following == cursor:
                raise service_error(errno.EIO, f"slack: the pages of {method} go round in a circle")
            cursor = following


def _title(file: Message) -> str:
    return str(file.get("name") or file.get("title") or file["id"])


def possible_names(file: Message) -> set[str]:
    """The names that a file may have in `files`, with and without its id: that depends on what is beside it."""
    pair = (_title(file), str(file["id"]))
    return {*unique_names([pair]), *unique_names([pair, pair])}


def _latest(messages: list[Message]) -> str:
    """Time of the last message, reply or edit of a day's chat."""
    times = [message["ts"] for message in messages]
    times += [message["latest_reply"] for message in messages if message.get("latest_reply")]
    times += [message["edited"]["ts"] for message in messages if message.get("edited")]
    return str(max(times, key=float))
