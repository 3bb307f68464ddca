"""The state behind the simulated Slack: users, conversations, messages, files, a search index. Thread-safe."""
from __future__ import annotations

import copy
import re
import threading
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirage.bench.services.clock import Clock

TEAM = "T0NORRSKEN"
WORD = re.compile(r"\w+")


class SlackError(Exception):
    """`error` is the word in an answer with ok: false."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


class Workspace:
    """me       the user of the tokens
    index_lag  seconds until a message is found by its words
    """

    def __init__(self, clock: Clock, index_lag: float = 0.0) -> None:
        self.clock = clock
        self.index_lag = index_lag
        self.lock = threading.RLock()
        self.me = ""
        self.users: dict[str, dict[str, Any]] = {}
        self.conversations: dict[str, dict[str, Any]] = {}
        self.members: dict[str, bool] = {}                   # conversation -> is the user in it
        self.messages: dict[str, list[dict[str, Any]]] = {}  # top level, oldest first
        self.replies: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.files: dict[str, tuple[dict[str, Any], bytes]] = {}
        self._ts = ""

    # ---- filling

    def add_user(self, id: str, name: str, real_name: str, email: str = "", title: str = "", **more: Any) -> None:
        self.users[id] = {
            "id": id, "team_id": TEAM, "name": name, "deleted": False, "real_name": real_name, "tz": "Europe/Stockholm",
            "tz_offset": 7200, "is_admin": False, "is_bot": False, "updated": 1759300000,
            "profile": {"real_name": real_name, "display_name": name, "title": title, "email": email,
                        "team": TEAM}, **more}

    def add_conversation(self, id: str, member: bool = True, **fields: Any) -> None:
        self.conversations[id] = {"id": id, "created": 1759300000, **fields}
        self.members[id] = member
        self.messages[id] = []

    def new_ts(self, at: float | None = None) -> str:
        """A time stamp that no message has; messages of one second count up."""
        with self.lock:
            ts = f"{self.clock.now() if at is None else at:.6f}"
            if at is None and ts <= self._ts:
                ts = f"{float(self._ts) + 0.0001:.6f}"
            if at is None:
                self._ts = ts
            return ts

    def add_message(self, conversation: str, user: str, text: str, ts: str = "", thread: str = "",
                    **more: Any) -> dict[str, Any]:
        with self.lock:
            ts = ts or self.new_ts()
            message = {"type": "message", "user": user, "text": text, "ts": ts, "team": TEAM, **more}
            if not thread:
                kept = self.messages[conversation]
                kept.insert(bisect_left([m["ts"] for m in kept], ts), message)
                return message
            parent = self.find(conversation, thread)
            if parent is None or parent.get("thread_ts", thread) != thread:
                raise SlackError("thread_not_found")
            replies = self.replies.setdefault((conversation, thread), [])
            message["thread_ts"], message["parent_user_id"] = thread, parent["user"]
            replies.append(message)
            people = list(dict.fromkeys(r["user"] for r in replies))
            parent.update(thread_ts=thread, reply_count=len(replies), reply_users=people, reply_users_count=len(people),
                          latest_reply=ts)
            return message

    def add_file(self, id: str, name: str, mimetype: str, content: bytes, user: str, created: int,
                 **more: Any) -> dict[str, Any]:
        file = {"id": id, "created": created, "timestamp": created, "name": name, "title": name, "mimetype": mimetype,
                "filetype": name.rpartition(".")[2], "user": user, "size": len(content), "mode": "hosted",
                "is_external": False, "is_public": True, "url_private": f"files-pri/{TEAM}-{id}/file",
                "url_private_download": f"files-pri/{TEAM}-{id}/download/file", **more}
        self.files[id] = (file, content)
        return file

    # ---- looking

    def conversation(self, id: str, read: bool = False) -> dict[str, Any]:
        found = self.conversations.get(id)
        if found is None:
            raise SlackError("channel_not_found")
        if read and not self.members[id] and found.get("is_private"):
            raise SlackError("channel_not_found")
        return found

    def find(self, conversation: str, ts: str) -> dict[str, Any] | None:
        """A message or reply by its time stamp."""
        groups = [self.messages.get(conversation, [])]
        groups += [replies for (c, _), replies in self.replies.items() if c == conversation]
        return next((m for group in groups for m in group if m["ts"] == ts), None)

    def listed(self, types: str, archived: bool) -> list[dict[str, Any]]:
        wanted = types.split(",")
        return [{**c, "is_member": self.members[id]} if not c.get("is_im") else c
                for id, c in self.conversations.items()
                if _kind(c) in wanted and (archived or not c.get("is_archived"))
                and (self.members[id] or not c.get("is_private"))]

    def search(self, query: str) -> list[tuple[str, dict[str, Any]]]:
        """(conversation, message or reply) that have every word of the query, newest first; `has::emoji:` too."""
        reactions = re.findall(r"has::([\w+-]+):", query)
        words = [w.casefold() for w in WORD.findall(re.sub(r"has::[\w+-]+:", " ", query))]
        newest = self.clock.now() - self.index_lag
        found = []
        with self.lock:
            pairs = [(c, m) for c, messages in self.messages.items() for m in messages]
            pairs += [(c, m) for (c, _), replies in self.replies.items() for m in replies]
        for conversation, message in pairs:
            if self.index_lag and float(message["ts"]) > newest or not self.members[conversation]:
                continue
            texts = [message["text"], *(a.get("text", "") for a in message.get("attachments", ()))]
            tokens = {w.casefold() for w in WORD.findall(" ".join(texts))}
            names = {r["name"] for r in message.get("reactions", ())}
            if all(w in tokens for w in words) and all(r in names for r in reactions) and (words or reactions):
                found.append((conversation, message))
        found.sort(key=lambda pair: pair[1]["ts"], reverse=True)
        return found

    # ---- changes

    def react(self, conversation: str, ts: str, name: str) -> None:
        if not re.fullmatch(r"[\w+'-]+", name):
            raise SlackError("invalid_name")
        with self.lock:
            message = self.find(conversation, ts)
            if message is None:
                raise SlackError("message_not_found")
            reactions = message.setdefault("reactions", [])
            mine = next((r for r in reactions if r["name"] == name), None)
            if mine is None:
                reactions.append({"name": name, "users": [self.me], "count": 1})
            elif self.me in mine["users"]:
                raise SlackError("already_reacted")
            else:
                mine["users"].append(self.me)
                mine["count"] += 1

    # ---- comparing

    def state(self) -> dict[str, Any]:
        """Every message: (conversation, ts) -> user, text, thread, reactions."""
        with self.lock:
            pairs = [(c, m) for c, messages in self.messages.items() for m in messages]
            pairs += [(c, m) for (c, _), replies in self.replies.items() for m in replies]
            return {f"{c} {m['ts']}": {
                "user": m["user"], "text": m["text"], "reactions": copy.deepcopy(m.get("reactions", [])),
                "thread": m["thread_ts"] if m.get("thread_ts", m["ts"]) != m["ts"] else ""} for c, m in pairs}

    def snapshot(self) -> Any:
        with self.lock:
            return copy.deepcopy((self.messages, self.replies, self.files, self._ts))

    def restore(self, snapshot: Any) -> None:
        with self.lock:
            self.messages, self.replies, self.files, self._ts = copy.deepcopy(snapshot)


def _kind(conversation: dict[str, Any]) -> str:
    if conversation.get("is_im"):
        return "im"
    if conversation.get("is_mpim"):
        return "mpim"
    return "private_channel" if conversation.get("is_private") else "public_channel"
