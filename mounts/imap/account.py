"""Changes of an IMAP account (mirage/mounts/mail/account.py)."""
from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email import message_from_bytes
from email.utils import getaddresses, parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from mirage.mounts.imap.client import refused
from mirage.mounts.imap.folders import MARKS, Folders
from mirage.mounts.imap.mailbox import ImapMeta
from mirage.mounts.mail.account import Receipt, partly
from mirage.mounts.mail.mime import headers_of
from mirage.process import blocking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mirage.mounts.imap.client import Connection
    from mirage.mounts.imap.mount import Imap
    from mirage.mounts.mail.message import Meta

T = TypeVar("T")
MOST = 25 << 20
SEEN, DELETED, DRAFT = b"\\Seen", b"\\Deleted", b"\\Draft"
SET = {"STARRED": b"\\Flagged", "IMPORTANT": b"$Important", "ANSWERED": b"\\Answered"}
WORD = re.compile(r'(?:(\w+):)?(?:"([^"]*)"|(\S+))')
KEYS = {"from": "FROM", "to": "TO", "cc": "CC", "bcc": "BCC", "subject": "SUBJECT", "body": "BODY"}
DATES = {"before": "BEFORE", "after": "SINCE", "since": "SINCE", "on": "ON"}
STATES = {"unread": "UNSEEN", "read": "SEEN", "starred": "FLAGGED", "answered": "ANSWERED", "draft": "DRAFT"}
CODE = re.compile(r"(?:APPENDUID|COPYUID) (\d+) (\S+?)(?: (\S+?))?\]")


class ImapAccount:
    most = MOST
    syntax = "words, from: to: cc: subject: body: before:2026-01-31 after: on: is:unread is:starred"

    def __init__(self, mount: Imap) -> None:
        self.mount = mount
        self.client = mount.client
        self.box = mount.box

    def _run(self, label: str, function: Callable[[Connection], T], write: bool = True) -> T:
        """function(connection) in a folder, once."""
        raw = Folders.raw(label)

        def ask(connection: Connection) -> T:
            connection.select(raw, write)
            return function(connection)
        try:
            result: T = blocking.call(self.client.run, ask, not write, raw)
            return result
        finally:
            if write:
                self.box.touch(label)

    def address(self) -> str:
        return self.mount.address

    # ---- new messages

    def _special(self, name: str) -> str:
        """The label of Sent, Drafts or Trash; it is made where there is none."""
        folders = self.box.folders()
        label = folders.special.get(name) or folders.label_of(name)
        return label if label is not None else self.create_folder(name)

    def _append(self, raw: bytes, label: str, flags: Sequence[bytes], at: datetime | None = None) -> Meta | Receipt:
        folder = Folders.raw(label)
        answer = blocking.call(self.client.run, lambda c: c.ask("append", folder, raw, list(flags), at), False)
        self.box.touch(label)
        match = CODE.search(_text(answer))
        try:
            uid = int(match.group(2)) if match is not None else self._newest(label, raw)
            return self._known(label, [uid])[0]
        except OSError:                                      # it is there; it cannot be looked at just now
            return Receipt()

    def _newest(self, label: str, raw: bytes) -> int:
        """The message that was appended, where the server does not tell its uid."""
        id = message_from_bytes(raw).get("Message-ID", "")
        found = self.box.search(label, ["HEADER", "MESSAGE-ID", str(id)] if id else "ALL")
        if not found:
            raise refused("the message is not there", 404)
        return max(found)

    def _known(self, label: str, uids: Sequence[int]) -> list[Meta]:
        tag = self.box.sync(label).tag
        metas = self.box.metas([f"{uid}.{tag}" for uid in uids])
        if not metas:
            raise refused("the message is gone", 404)
        return metas

    def send(self, raw: bytes, thread: str = "") -> Meta | Receipt:
        """Through SMTP; a copy goes into Sent. Who is in Bcc is in the copy only."""
        message = message_from_bytes(raw)
        people = [address for _, address in getaddresses(
            [str(value) for name in ("To", "Cc", "Bcc") for value in message.get_all(name, [])]) if address]
        sender = getaddresses([str(message.get("From", ""))])[0][1] or self.address()
        blocking.call(self.mount.smtp.send, sender, people, _without_bcc(raw))
        try:
            return self._append(raw, self._special("Sent"), (SEEN,))
        except OSError as e:
            note = str(getattr(e, "note", "") or e.strerror)
            raise refused(f"the message was sent, but its copy could not be put into Sent: {note}") from None

    def insert(self, raw: bytes, label: str, marks: Iterable[str] = ()) -> Meta | Receipt:
        given = set(marks)
        flags = [flag for mark, flag in SET.items() if mark in given] + ([] if "UNREAD" in given else [SEEN])
        try:
            at = parsedate_to_datetime(str(message_from_bytes(raw).get("Date", "")))
        except ValueError:
            at = None
        return self._append(raw, label, flags, at.replace(tzinfo=at.tzinfo or UTC) if at is not None else None)

    # ---- filing

    @staticmethod
    def _by_folder(metas: Sequence[Meta]) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = {}
        for meta in metas:
            assert isinstance(meta, ImapMeta)
            groups.setdefault(meta.folder, []).append(meta.uid)
        return groups

    def change(self, metas: Sequence[Meta], add: Sequence[str], remove: Sequence[str]) -> list[Meta]:
        if any(label not in MARKS for label in (*add, *remove)):
            raise refused("folders are no labels here: use move-email")
        on = [SET[x] for x in add if x in SET] + ([SEEN] if "UNREAD" in remove else [])
        off = [SET[x] for x in remove if x in SET] + ([SEEN] if "UNREAD" in add else [])

        def ask(connection: Connection, uids: list[int]) -> None:
            for method, flags in (("add_flags", on), ("remove_flags", off)):
                if flags:
                    connection.ask(method, uids, flags, silent=True)
        for label, uids in self._by_folder(metas).items():
            self._run(label, partial(ask, uids=uids))
        return self.box.metas([m.id for m in metas if self.box.meta(m.id) is not None])

    def move(self, metas: Sequence[Meta], label: str) -> list[Meta | Receipt]:
        found: dict[str, Meta | Receipt] = {}
        for source, uids in self._by_folder(metas).items():
            own = [m for m in metas if isinstance(m, ImapMeta) and m.folder == source]
            if source == label:
                found.update((m.id, m) for m in own)
                continue
            try:
                new = self._move(source, uids, label)
            except OSError as e:
                raise partly(e, list(found), len(metas)) from None
            found.update((m.id, Receipt("", m.thread)) for m in own)
            try:
                known = self._known(label, new)
            except OSError:                                  # they were moved; they cannot be looked at just now
                continue
            if len(known) == len(own):
                found.update((m.id, moved) for m, moved in zip(own, known, strict=True))
        return [found[m.id] for m in metas if m.id in found]

    def _move(self, source: str, uids: list[int], label: str) -> list[int]:
        """The uids in the other folder, in the order of `uids`."""
        target = Folders.raw(label)
        before = self._run(label, lambda c: int(c.select(target, again=True).get(b"UIDNEXT", 1)), write=False)

        def ask(connection: Connection) -> str:
            if connection.can("MOVE"):
                answer = _text(connection.ask("move", uids, target))
                told = connection.untagged("COPYUID")
                return answer if "COPYUID" in answer else f"[COPYUID {told}]" if told else ""
            answer = _text(connection.ask("copy", uids, target))
            _expunge(connection, uids)
            return answer
        match = CODE.search(self._run(source, ask))
        self.box.touch(label)
        if match is not None and match.group(3):
            pairs = dict(zip(_expanded(match.group(2)), _expanded(match.group(3)), strict=False))
            return [pairs[uid] for uid in uids if uid in pairs]
        return sorted(uid for uid in self.box.search(label, ["UID", f"{before}:*"]) if uid >= before)

    def trash(self, metas: Sequence[Meta]) -> list[Meta | Receipt]:
        return self.move(metas, self._special("Trash"))

    def delete(self, metas: Sequence[Meta]) -> None:
        done: list[str] = []
        for label, uids in self._by_folder(metas).items():
            try:
                self._run(label, partial(_expunge, uids=uids))
            except OSError as e:
                raise partly(e, done, len(metas)) from None
            done += [m.id for m in metas if isinstance(m, ImapMeta) and m.folder == label]

    # ---- looking

    def search(self, query: str, label: str, most: int) -> tuple[list[str], bool]:
        criteria = _criteria(query)
        charset = None if query.isascii() else "UTF-8"
        skipped = {self.box.folders().special.get(name) for name in ("Spam", "Trash")}
        labels = [label] if label else [x for x in self.box.folders().by_label if x not in skipped]
        found: list[str] = []
        for one in labels:
            tag = self.box.sync(one).tag
            found += [f"{uid}.{tag}" for uid in sorted(self.box.search(one, criteria, charset), reverse=True)]
        if len(labels) > 1:
            dates = {m.id: m.date for m in self.box.metas(found)}
            found.sort(key=lambda id: dates.get(id, 0), reverse=True)
        return found, len(found) > most

    def headers(self, meta: Meta) -> list[dict[str, str]]:
        assert isinstance(meta, ImapMeta)
        found = self._run(meta.folder, lambda c: c.fetch([meta.uid], ("BODY.PEEK[HEADER]",)), write=False)
        return headers_of(found.get(meta.uid, {}).get(b"BODY[HEADER]", b""))

    def counts(self, labels: Sequence[str]) -> dict[str, tuple[int, int]]:
        def ask(label: str) -> tuple[int, int]:
            said = self.client.run(lambda c: c.ask("folder_status", Folders.raw(label), ["MESSAGES", "UNSEEN"]))
            return int(said.get(b"MESSAGES", 0)), int(said.get(b"UNSEEN", 0))
        found = {}
        for label, answer in zip(labels, blocking.map_ordered(ask, labels, self.client.width), strict=True):
            if isinstance(answer, Exception):
                raise answer
            found[label] = answer
        return found

    def check(self) -> dict[str, Any]:
        blocking.call(self.client.run, lambda c: c.ask("noop"))
        return {"address": self.address(), "server": self.client.host}

    # ---- folders

    def create_folder(self, name: str) -> str:
        folders = self.box.folders()
        if folders.label_of(name) is not None:
            raise refused(f"the folder {name} exists", 409)
        raw = folders.name_for(name)
        blocking.call(self.client.run, lambda c: c.ask("create_folder", raw), False)
        self.box.reload()
        label = self.box.folders().label_of(raw) or self.box.folders().label_of(name)
        if label is None:
            raise refused(f"the server did not make the folder {name}")
        return label

    def delete_folder(self, label: str) -> None:
        def ask(connection: Connection) -> None:
            if connection.selected is not None and connection.selected[0] == Folders.raw(label):
                connection.ask("close_folder")
                connection.selected = None
            connection.ask("delete_folder", Folders.raw(label))
        blocking.call(self.client.run, ask, False)
        self.box.reload()

    def reload_folders(self) -> None:
        self.box.reload()

    # ---- drafts: the messages in Drafts, by their own ids

    def save_draft(self, raw: bytes, id: str = "", old: Meta | None = None) -> tuple[str, Meta | Receipt]:
        meta = self._append(raw, self._special("Drafts"), (SEEN, DRAFT))
        if old is not None:
            self._clear(old, "the draft was saved, but its old version could not be removed")
        return meta.id, meta

    def _clear(self, meta: Meta, done: str) -> None:
        """Remove what another message has replaced; an error begins with what was done."""
        try:
            self.delete([meta])
        except OSError as e:
            raise refused(f"{done}: {getattr(e, 'note', '') or e.strerror}") from None

    def drafts(self, most: int | None = None) -> list[tuple[str, str]]:
        label = self.box.folders().special.get("Drafts") or self.box.folders().label_of("Drafts")
        if label is None:
            return []
        metas = self.box.messages(self.box.folders().by_label[label])
        return [(m.id, m.id) for m in reversed(metas)]

    def delete_draft(self, id: str, meta: Meta) -> None:
        self.delete([meta])

    def send_draft(self, id: str, meta: Meta) -> Meta | Receipt:
        sent = self.send(self.box.raw(meta.id))
        self._clear(meta, "the draft was sent, but could not be removed from Drafts")
        return sent


def _expunge(connection: Connection, uids: list[int]) -> None:
    """Delete for good; without UIDPLUS everything in the folder that is marked as deleted goes."""
    connection.ask("add_flags", uids, [DELETED], silent=True)
    if connection.can("UIDPLUS"):
        connection.ask("expunge", uids)
    else:
        connection.ask("expunge")


def _text(answer: Any) -> str:
    if isinstance(answer, bytes):
        return answer.decode("utf-8", "replace")
    if isinstance(answer, list | tuple):
        return " ".join(_text(a) for a in answer)
    return str(answer)


def _expanded(ranges: str) -> list[int]:
    """`4,7:9` as numbers."""
    found: list[int] = []
    for piece in ranges.split(","):
        first, _, last = piece.partition(":")
        low, high = sorted((int(first), int(last or first)))
        found += range(low, high + 1)
    return found


def _without_bcc(raw: bytes) -> bytes:
    head, blank, body = raw.partition(b"\r\n\r\n")
    return re.sub(rb"(?im)^bcc:.*\r\n(?:[ \t].*\r\n)*", b"", head + b"\r\n")[:-2] + blank + body


def _criteria(query: str) -> list[Any]:
    """IMAP's search keys for words and operators like those of Gmail."""
    found: list[Any] = []
    for name, quoted, plain in WORD.findall(query):
        key, value = name.lower(), quoted or plain
        if key in KEYS:
            found += [KEYS[key], value]
        elif key in DATES:
            try:
                found += [DATES[key], date.fromisoformat(value.replace("/", "-"))]
            except ValueError:
                raise refused(f"{name}: wants a date such as 2026-01-31, not {value!r}") from None
        elif key == "is" and value.lower() in STATES:
            found.append(STATES[value.lower()])
        elif value:
            found += ["TEXT", f"{name}:{value}" if name else value]
    return found or ["ALL"]
