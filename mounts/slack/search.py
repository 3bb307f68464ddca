"""Search by Slack's index of words. The answer is a superset of what matches, or says what was left out.

What search.messages finds for a whole word: it occurs in the text of a message. A word in our files may come from
elsewhere: keys, ids, people, conversations, reactions, the letter behind an escaped newline: looked after here.
The contents of shared files are not known to that index: the note counts them where they would be read.
"""
from __future__ import annotations

import errno
import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from mirage.mounts.slack.chats import possible_names
from mirage.process import blocking
from mirage.vfs.search import Candidates, left_out

if TYPE_CHECKING:
    from mirage.mounts.slack.tree import Slack
    from mirage.vfs.search import Query

TOKEN = re.compile(r"\w+")
PLAIN = re.compile(r"[^\W\d_]{3,}")
LAST_LETTER = 0x52F                                          # Latin, Greek, Cyrillic: scripts with spaces
KEYS = """
type message user text team thread_ts thread parent_user_id reply_count reply_users reply_users_count
latest_reply replies reactions name users count files attachments subtype bot_message bot_id color danger good
warning fallback blocks elements rich_text rich_text_section edited true false null file url private download
mimetype filetype title mode hosted created timestamp size somebody channel here everyone http https mailto
slack com purpose topic inviter icons emoji subscribed upload permalink external public footer fields short
actions value style element section divider context mrkdwn verbatim border indent list link unicode range
broadcast usergroup date pinned starred hidden deleted updated app root editor lines preview shares username has
joined left set renamed archived unarchived added removed integration"""
CONSTANT = frozenset(KEYS.split())
COUNT = 100
RECENT = 50                                                  # Slack allows about so many calls at once


def search(mount: Slack, path: str, query: Query) -> Candidates | None:
    """Candidates below a directory; None: read everything."""
    mode = query.mode if query.mode != "auto" else mount.mode
    parts = path.strip("/").split("/") if path != "/" else []
    if mode == "exact" or len(parts) > 2 or parts[:1] == ["users"]:
        return None
    words = list(dict.fromkeys(w.casefold() for literal in query.literals for w in TOKEN.findall(literal)))
    found = _Search(mount, path, query)
    if query.whole_words:
        terms = [w for w in words if found.is_plain(w)]
        return found.whole(max(terms, key=len)) if terms else None
    terms = [w for w in words if PLAIN.fullmatch(w)]
    if not terms:
        return None
    if mode == "auto":
        unread = found.unread()
        if unread <= mount.bound:
            return None
        return found.service(terms, unread)
    return found.service(terms, None)


class _Search:
    def __init__(self, mount: Slack, path: str, query: Query) -> None:
        self.mount = mount
        self.chats = mount.chats
        self.client = mount.client
        self.path = path
        self.query = query
        self.kept: list[str] = []

    def is_plain(self, word: str) -> bool:
        """Does the word occur in our files only where the text of a message has it, or its reactions?

        Not where it is in the name of a person or a conversation, or in what is told of a shared file.
        """
        if word in CONSTANT or not PLAIN.fullmatch(word) or ord(max(word)) > LAST_LETTER:
            return False
        return word not in self._names()

    def _names(self) -> set[str]:
        texts = []
        for user in self.chats.users().values():
            texts += [user.get("name", ""), self.chats.name(user["id"])]
        texts += [item.get("name", "") for _, item in self.conversations()]
        texts += self.mount.point.split("/")
        for file in self.chats.shared():
            texts.append(json.dumps(file, ensure_ascii=False))
        return {w.casefold() for text in texts for w in (*TOKEN.findall(text), *PLAIN.findall(text))}

    def conversations(self) -> list[tuple[str, dict[str, Any]]]:
        """(path, item) of the conversations below the operand."""
        found = []
        for top in ("/channels", "/dms"):
            if self.path == "/" or (self.path + "/").startswith(top + "/"):
                found += [(f"{top}/{stem}", item) for stem, item in self.mount.items(top).items()]
        inside = self.path.rstrip("/") + "/"
        return [(p, item) for p, item in found if (p + "/").startswith(inside)]

    def unread(self) -> int:
        """Days that are not kept; the others are in `kept`."""
        days: list[str] = []
        for path, _ in self.conversations():
            try:
                days += [f"{path}/{entry.name}" for entry in self.mount.list(path)]
            except OSError:
                continue                                     # the walk will say why
        store = self.mount.store
        self.kept = [day for day in days if store.peek((f"{day}/chat", "content", ""), f"{day}/chat") is not None]
        return len(days) - len(self.kept)

    # ---- asking

    def whole(self, word: str) -> Candidates:
        known = {item["id"]: path for path, item in self.conversations()}
        days: dict[str, None] = {}
        for text in self._forms(word):
            for match in self._matches(text):
                self._add(days, known, match)
        return self._candidates(days, self._files() + self._recent(days, known))

    @staticmethod
    def _forms(word: str) -> list[str]:
        """The word, the reaction of that name, and the word without the letter of an escape sequence before it."""
        forms = [word, f"has::{word}:"]
        return [*forms, word[1:]] if word[0] in "ntrbf" and len(word) > 3 else forms

    def service(self, terms: list[str], unread: int | None) -> Candidates:
        known = {item["id"]: path for path, item in self.conversations()}
        days: dict[str, None] = {}
        for match in self._matches(" ".join(terms)):
            self._add(days, known, match)
        skipped = max(0, (self.unread() if unread is None else unread) - len(days.keys() - set(self.kept)))
        days.update(dict.fromkeys(self.kept))
        return self._candidates(days, skipped + self._files())

    def _matches(self, text: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        page = 1
        while True:
            answer = blocking.call(partial(self.client.call, "search.messages", query=text, count=COUNT, page=page))
            messages = answer["messages"]
            found += messages["matches"]
            if page >= (messages.get("paging") or {}).get("pages", 0):
                return found
            page += 1

    def _add(self, days: dict[str, None], known: dict[str, str], match: dict[str, Any]) -> None:
        """The day of a message; of its parent, where it is a reply."""
        path = known.get(match["channel"]["id"])
        if path is not None:
            thread = parse_qs(urlsplit(match.get("permalink", "")).query).get("thread_ts", [""])[0]
            days[f"{path}/{self.chats.day_of(thread or match['ts'])}"] = None

    def _recent(self, days: dict[str, None], known: dict[str, str]) -> int:
        """Add messages that the index may not know yet, a call for each conversation; how many were not asked for."""
        since = self.client.now() - self.mount.lag
        own = self.chats.own(since)
        inside = tuple(f"{path}/" for path in known.values())
        days.update(dict.fromkeys(path for path in own if path.startswith(inside)))
        open_ = {item["id"]: path for path, item in self.conversations()
                 if self.mount.lag and not item.get("is_archived") and not item.get("is_user_deleted")}
        if len(open_) > RECENT:
            return len(open_)

        def newest(pair: tuple[str, str]) -> tuple[list[str], bool]:
            """Days of what is new among the newest messages and their replies; may there be more?"""
            id, path = pair
            try:
                messages = self.client.call("conversations.history", channel=id, limit=COUNT)["messages"]
            except OSError as e:
                if e.errno not in (errno.EACCES, errno.ENOENT):
                    raise
                return [], False                             # not in that channel: nothing of it can be read
            new = [m["ts"] for m in messages if float(m["ts"]) >= since or float(m.get("latest_reply", 0)) >= since]
            return [f"{path}/{self.chats.day_of(ts)}" for ts in new], len(new) == COUNT
        more = 0
        for result in blocking.map_ordered(newest, list(open_.items()), self.mount.width):
            if isinstance(result, Exception):
                raise result
            days.update(dict.fromkeys(result[0]))
            more += result[1]
        return more

    def _files(self) -> int:
        """Shared files that the command would read and nobody searched."""
        names = self.query.names
        return sum(names is None or any(map(names, possible_names(file))) for file in self.chats.shared())

    def _candidates(self, days: dict[str, None], skipped: int) -> Candidates:
        names = self.query.names
        chats = [name for name in ("chat.jsonl", "chat.txt") if names is None or names(name)]
        paths = [f"{day}/{name}" for day in sorted(days, key=lambda d: d.split("/")) for name in chats]
        if self.path == "/":
            paths += [f"/users/{e.name}" for e in self.mount.list("/users") if names is None or names(e.name)]
        self.mount.counters.add(searches=1, candidates=len(paths))
        return Candidates(paths, not skipped, skipped, left_out(skipped))
