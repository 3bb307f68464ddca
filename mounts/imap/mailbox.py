"""What is known of one IMAP account: folders, listings, messages; asked for when needed, a folder at a time.

A message's id is `<uid>.<tag>`; the tag stands for its folder and the folder's UIDVALIDITY, so that an id never means
another message. Every method may wait, through mirage.process.blocking; no lock is held meanwhile.
"""
from __future__ import annotations

import errno
import threading
import time
from datetime import UTC, datetime, timedelta
from hashlib import blake2s
from typing import TYPE_CHECKING, Any

from mirage.mounts.imap.client import HEADER_FIELDS
from mirage.mounts.imap.folders import Folders
from mirage.mounts.mail.ahead import Ahead
from mirage.mounts.mail.message import Attachment, Mail, Meta, content, walk
from mirage.mounts.mail.mime import HEADERS, decoded_part, from_bytes, from_structure, headers_of, unicode_text
from mirage.process import blocking
from mirage.vfs.service import ByteCache, Freshness, service_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mirage.mounts.imap.client import Connection, ImapClient
    from mirage.mounts.mail.folders import Folder

ITEMS = ("FLAGS", "INTERNALDATE", "RFC822.SIZE", "BODYSTRUCTURE", f"BODY.PEEK[HEADER.FIELDS ({' '.join(HEADERS)})]")
BATCH = 50                                                   # whole messages in a request
BYTES = 4 << 20                                              # and their bytes
LARGE = 256 << 10                                            # of a larger one only the text is fetched, if possible
FOLDERS_TTL = 30.0
FLAGS = {b"\\flagged": "STARRED", b"\\answered": "ANSWERED", b"\\draft": "DRAFT", b"$important": "IMPORTANT"}


class ImapMeta(Meta):
    """A message of a folder. `encoded`: its text is HTML or in a transfer encoding; `bare`: itself without a body."""

    __slots__ = ("bare", "bytes", "checked", "encoded", "folder", "part", "uid")

    def __init__(self, message: dict[str, Any], folder: str, uid: int, size: int) -> None:
        super().__init__(message)
        self.bare: Mail | None = None
        self.checked = 0                                     # State.serial when it was there for sure
        self.folder = folder                                 # label
        self.uid = uid
        self.bytes = size
        self.part = message["payload"]
        texts = [p for p in walk(self.part) if p["mimeType"].startswith("text/") and not p["filename"]]
        plain = ("7bit", "8bit", "")
        self.encoded = any(p["mimeType"] != "text/plain" or p.get("encoding") not in plain for p in texts)


class State:
    """What is known of one folder. `metas` is None until it is listed; `sorted` follows; `serial` counts requests."""

    __slots__ = ("fresh", "metas", "modseq", "next", "serial", "sorted", "tag", "validity")

    def __init__(self, ttl: float) -> None:
        self.fresh = Freshness(ttl)
        self.metas: dict[int, ImapMeta] | None = None
        self.sorted: list[Meta] | None = None
        self.validity = self.next = self.modseq = self.serial = 0
        self.tag = ""


class Mailbox:
    """`ttl` seconds until a long line asks again; `cache` bytes of contents."""

    def __init__(self, client: ImapClient, ttl: float = 30.0, cache: int = 64 << 20) -> None:
        self.client = client
        self.ttl = ttl
        self.contents = ByteCache(cache)
        self._lock = threading.Lock()
        self._ahead = Ahead(self.contents)
        self._folders: Folders | None = None
        self._folders_fresh = Freshness(FOLDERS_TTL)
        self._states: dict[str, State] = {}
        self._metas: dict[str, ImapMeta] = {}                # id -> message
        self._days: dict[tuple[str, int], tuple[int, list[Meta]]] = {}

    def now(self) -> float:
        return time.time()

    # ---- folders

    def refresh(self) -> None:
        """Folders are asked for once; what is in one, when it is looked at."""
        if self._folders is None:
            self.reload()

    def reload(self) -> None:
        listed = blocking.call(self.client.run, lambda connection: connection.ask("list_folders"))
        with self._lock:
            self._folders = Folders(listed)
            known = self._folders.by_label
            self._states = {label: state for label, state in self._states.items() if label in known}
        self._folders_fresh.done()

    def folders(self, again: bool = False) -> Folders:
        """The folders. `again`: somebody asks for one that is not there; look whether it was made meanwhile."""
        if self._folders is None or again and self._folders_fresh.due():
            self.reload()
        assert self._folders is not None
        return self._folders

    def _state(self, label: str) -> State:
        with self._lock:
            return self._states.setdefault(label, State(self.ttl))

    def touch(self, label: str) -> None:
        """We changed something in a folder: ask before the next answer."""
        self._state(label).fresh.expire()

    # ---- what is in a folder

    def sync(self, label: str, whole: bool = False) -> State:
        """The folder as it is now: asked once per typed line. `whole`: with all its messages."""
        state = self._state(label)
        due = state.fresh.due()
        if due or whole and state.metas is None:
            blocking.call(self.client.run, lambda connection: self._sync(connection, label, state, whole, due), True,
                          Folders.raw(label))
            state.fresh.done()
        return state

    def _sync(self, connection: Connection, label: str, state: State, whole: bool, due: bool) -> None:
        said = connection.select(Folders.raw(label), again=due)      # an open folder may be seen as it was before
        validity = int(said.get(b"UIDVALIDITY", 0))
        if validity != state.validity:
            self._forget(label, state, validity)
        modseq, following = _number(said.get(b"HIGHESTMODSEQ")), int(said.get(b"UIDNEXT", 0))
        if state.metas is None:
            if whole:
                found = connection.fetch("1:*", ITEMS) if said.get(b"EXISTS") or not due else {}
                metas = {uid: meta for uid, data in found.items() if (meta := self._meta_of(label, state, uid, data))}
                with self._lock:
                    state.metas, state.sorted = metas, None
        elif not (modseq and modseq == state.modseq and following == state.next
                  and said.get(b"EXISTS") == len(state.metas)):
            self._take_changes(connection, label, state)
        state.modseq, state.next = modseq, following
        state.serial += 1

    def _forget(self, label: str, state: State, validity: int) -> None:
        with self._lock:
            state.metas = state.sorted = None
            state.validity = validity
            state.tag = blake2s(f"{label}\0{validity}".encode(), digest_size=3).hexdigest()
            self._metas = {id: meta for id, meta in self._metas.items() if meta.folder != label}

    def _take_changes(self, connection: Connection, label: str, state: State) -> None:
        """Flags of all messages tell which are new, changed or gone; the new ones are asked for."""
        known = state.metas or {}
        found = connection.fetch("1:*", ("FLAGS",))
        new = connection.fetch([uid for uid in found if uid not in known], ITEMS)
        for uid, data in found.items():
            if uid in known:
                known[uid].labels = _labels(label, data[b"FLAGS"])
        made = {uid: meta for uid, data in new.items() if (meta := self._meta_of(label, state, uid, data))}
        gone = [uid for uid in known if uid not in found]
        if made or gone:
            with self._lock:
                state.metas = {uid: meta for uid, meta in {**known, **made}.items() if uid in found}
                state.sorted = None
                for uid in gone:
                    self._metas.pop(known[uid].id, None)

    def _meta_of(self, label: str, state: State, uid: int, data: dict[bytes, Any]) -> ImapMeta | None:
        id = f"{uid}.{state.tag}"
        if b"FLAGS" not in data or id not in self._metas and b"BODYSTRUCTURE" not in data:
            return None
        labels = _labels(label, data.get(b"FLAGS", ()))
        known = self._metas.get(id)
        if known is not None:
            known.labels, known.checked = labels, state.serial
            return known
        payload = from_structure(data[b"BODYSTRUCTURE"], data.get(HEADER_FIELDS, b""))
        headers = {h["name"].lower(): h["value"] for h in payload["headers"]}
        references = f"{headers.get('references', '')} {headers.get('in-reply-to', '')}".split()
        when: datetime | None = data.get(b"INTERNALDATE")
        meta = ImapMeta({
            "id": id, "threadId": references[0] if references else headers.get("message-id", "").strip(),
            "labelIds": labels, "internalDate": int(when.timestamp()) * 1000 if when is not None else 0,
            "payload": payload}, label, uid, int(data.get(b"RFC822.SIZE", 0)))
        meta.checked = state.serial
        with self._lock:
            return self._metas.setdefault(id, meta)

    def is_listed(self, folder: Folder) -> bool:
        state = self._states.get(folder.label or "")
        return state is not None and state.metas is not None

    def listed(self, folder: Folder, id: str) -> bool:
        uid, _, tag = id.partition(".")
        if not (uid.isascii() and uid.isdigit()) or folder.label is None:
            return False
        state = self.sync(folder.label)
        return tag == state.tag and (state.metas is None or int(uid) in state.metas)

    def messages(self, folder: Folder) -> list[Meta]:
        """All messages of a folder, oldest first. The same list object as long as nothing changes."""
        if folder.label is None:
            return []
        state = self.sync(folder.label, whole=True)
        with self._lock:
            if state.sorted is None:
                state.sorted = [*sorted((state.metas or {}).values(), key=lambda m: (m.date, m.uid))]
            return state.sorted

    def day(self, folder: Folder, start: int, end: int) -> list[Meta]:
        """The messages of a folder between two times, without listing all of it: IMAP searches by whole days."""
        label = folder.label or ""
        serial = self.sync(label).serial
        kept = self._days.get((label, start))
        if kept is not None and kept[0] == serial:
            return kept[1]
        dates = [datetime.fromtimestamp(at, UTC).date() + timedelta(days=d) for at, d in ((start, -1), (end, 2))]
        criteria = ["SINCE", dates[0], "BEFORE", dates[1]]
        found = self.metas(self._ids(label, self.search(label, criteria)))
        metas = sorted((m for m in found if start * 1000 <= m.date < end * 1000), key=lambda m: (m.date, m.id))
        self._days[label, start] = (serial, metas)
        return metas

    def search(self, label: str, criteria: Any, charset: str | None = None) -> list[int]:
        """The uids in a folder that the server finds."""
        def ask(connection: Connection) -> list[int]:
            connection.select(Folders.raw(label))
            found: list[int] = connection.ask("search", criteria, charset)
            return list(found)
        return blocking.call(self.client.run, ask, True, Folders.raw(label))

    def _ids(self, label: str, uids: Iterable[int]) -> list[str]:
        tag = self.sync(label).tag
        return [f"{uid}.{tag}" for uid in uids]

    # ---- messages

    def place(self, id: str) -> tuple[str, int] | None:
        """(label, uid) of an id; None where it is of no folder."""
        uid, _, tag = id.partition(".")
        if not (uid.isascii() and uid.isdigit()) or not tag:
            return None
        for label in sorted(self.folders().by_label, key=lambda x: self._state(x).tag != tag):
            if self._state(label).tag == tag or self.sync(label).tag == tag:
                return label, int(uid)
        return None

    def metas(self, ids: Iterable[str]) -> list[Meta]:
        """What listings need; messages that are gone are left out."""
        wanted = list(ids)
        missing: dict[str, list[int]] = {}
        for id in wanted:
            place = self.place(id) if id not in self._metas else None
            if place is not None:
                missing.setdefault(place[0], []).append(place[1])
        for label, uids in missing.items():
            self._fetch(label, uids, ITEMS)
        return [meta for id in wanted if (meta := self._metas.get(id)) is not None]

    def _fetch(self, label: str, uids: Sequence[int], items: Sequence[str]) -> dict[int, dict[bytes, Any]]:
        """Ask for messages of a folder; those with a BODYSTRUCTURE are known then."""
        state = self._state(label)

        def ask(connection: Connection) -> dict[int, dict[bytes, Any]]:
            connection.select(Folders.raw(label))
            found = connection.fetch(uids, items)
            for uid, data in found.items():
                self._meta_of(label, state, uid, data)
            return found
        return blocking.call(self.client.run, ask, True, Folders.raw(label))

    def meta(self, id: str) -> Meta | None:
        """One message; None where there is none. A small one's content comes in the same request.

        In a folder that is not listed it is asked once per line whether a known message is still there.
        """
        place = self.place(id)
        if place is None:
            return None
        state = self.sync(place[0])
        known = self._metas.get(id)
        if known is not None:
            if known.uid in state.metas if state.metas is not None else known.checked == state.serial:
                return known
        items = ("FLAGS",) if known is not None else (*ITEMS, f"BODY.PEEK[]<0.{LARGE}>")
        data = self._fetch(place[0], [place[1]], items).get(place[1])
        meta = self._metas.get(id)
        if data is None or meta is None:
            self._metas.pop(id, None)
            return None
        raw = data.get(b"BODY[]<0>", b"")
        if meta.bytes <= LARGE and raw:
            self._keep(meta, from_bytes(raw))
        return meta

    def _keep(self, meta: ImapMeta, payload: dict[str, Any]) -> Mail:
        """The content of a message, with the files that came along."""
        mail = Mail({"id": meta.id, "threadId": meta.thread, "payload": payload})
        parts = {part["partId"]: part for part in walk(payload)}
        mail.meta = meta
        for attachment in meta.attachments:
            part = parts.get(attachment.part)
            if part is not None and "content" in part["body"]:
                data = content(part)
                self.contents.put((meta.id, attachment.part), data, len(data) + 100)
                attachment.size = len(data)
            elif part is not None and part["body"].get("size") is not None:
                attachment.size = part["body"]["size"]
        self.contents.put(meta.id, mail, mail.size)
        return mail

    def mail(self, meta: Meta, following: Callable[[], list[Meta]] | None = None) -> Mail:
        """The content of a message. `following` gives what somebody who reads in order will want next."""
        known: Mail | None = self.contents.get(meta.id)
        if known is None:
            ahead = self._ahead.wanted(meta, following) if following is not None else []
            small = [m.id for m in ahead if isinstance(m, ImapMeta) and m.bytes <= LARGE]
            self.load([meta.id, *small])
            known = self.contents.get(meta.id)
        self._ahead.read(meta)
        if known is None:                                    # too large to be kept, or gone
            assert isinstance(meta, ImapMeta)
            known = self._keep(meta, from_bytes(self.raw(meta.id)))
        return known

    def load(self, ids: Iterable[str]) -> None:
        """Fetch contents that are not kept: many in a request, several requests at a time."""
        missing = [meta for id in dict.fromkeys(ids) if id not in self.contents and (meta := self._metas.get(id))]
        groups: list[list[ImapMeta]] = []
        room = 0
        for meta in sorted((m for m in missing if m.bytes <= LARGE), key=lambda m: m.folder):
            last = groups[-1] if groups else []
            if not last or room < meta.bytes or len(last) >= BATCH or last[0].folder != meta.folder:
                groups.append([])
                room = BYTES
            groups[-1].append(meta)
            room -= meta.bytes
        groups += [[meta] for meta in missing if meta.bytes > LARGE]
        if len(groups) == 1:
            blocking.call(self._load, groups[0])
            return
        for result in blocking.map_ordered(self._load, groups, self.client.width):
            if isinstance(result, Exception):
                raise result

    def _load(self, group: list[ImapMeta]) -> None:
        if len(group) == 1 and group[0].bytes > LARGE:
            self._load_large(group[0])
            return
        folder = Folders.raw(group[0].folder)

        def ask(connection: Connection) -> dict[int, dict[bytes, Any]]:
            connection.select(folder)
            return connection.fetch([m.uid for m in group], ("BODY.PEEK[]",))
        found = self.client.run(ask, True, folder)
        for meta in group:
            raw = found.get(meta.uid, {}).get(b"BODY[]")
            if raw is not None:
                self._keep(meta, from_bytes(raw))

    def _load_large(self, meta: ImapMeta) -> None:
        """The text of a large message, and the sizes of its files, where the server can tell them (BINARY)."""
        folder, files = Folders.raw(meta.folder), [a.part for a in meta.attachments]
        leaves = [p for p in walk(meta.part) if "parts" not in p]
        plain = all(p["mimeType"] != "message/rfc822" for p in leaves)
        texts = [p["partId"] for p in leaves if p["partId"] not in files and p["mimeType"].startswith("text/")]

        def ask(connection: Connection) -> dict[bytes, Any] | None:
            connection.select(folder)
            if not (plain and texts and connection.can("BINARY")):
                return None
            items = ["BODY.PEEK[HEADER]", *(f"BODY.PEEK[{n}]" for n in texts), *(f"BINARY.SIZE[{n}]" for n in files)]
            return connection.fetch([meta.uid], items).get(meta.uid)
        data = self.client.run(ask, True, folder)
        if data is None or any(not isinstance(data.get(f"BINARY.SIZE[{n}]".encode()), int) for n in files):
            whole = self._fetch(meta.folder, [meta.uid], ("BODY.PEEK[]",))
            if meta.uid in whole:
                self._keep(meta, from_bytes(whole[meta.uid][b"BODY[]"]))
            return
        self._keep(meta, _filled(meta.part, data, texts))

    def attachment(self, meta: Meta, attachment: Attachment) -> bytes:
        """The bytes of an attachment: its part alone where the message is large."""
        assert isinstance(meta, ImapMeta)
        known: bytes | None = self.contents.get((meta.id, attachment.part))
        if known is None and meta.bytes > LARGE:
            known = self._part(meta, attachment)
        if known is None:
            payload = from_bytes(self.raw(meta.id))
            self._keep(meta, payload)
            part = next((p for p in walk(payload) if p["partId"] == attachment.part), None)
            if part is None:
                raise service_error(errno.EIO, f"imap: the attachment {attachment.title!r} has no content")
            known = content(part)
        attachment.size = len(known)
        return known

    def _part(self, meta: ImapMeta, attachment: Attachment) -> bytes | None:
        """One part of a message, decoded; None where it must be taken from the whole."""
        part = next((p for p in walk(meta.part) if p["partId"] == attachment.part), None)
        if part is None or attachment.mime_type == "message/rfc822":
            return None
        name = f"BODY[{attachment.part}]"
        found = self._fetch(meta.folder, [meta.uid], (name.replace("[", ".PEEK[", 1),)).get(meta.uid, {})
        raw = found.get(name.encode())
        if not isinstance(raw, bytes):
            return None
        data = decoded_part(raw, part.get("encoding", ""))
        self.contents.put((meta.id, attachment.part), data, len(data) + 100)
        return data

    def load_attachments(self, pairs: Sequence[tuple[Meta, Attachment]]) -> None:
        """Small messages come whole, with their files."""
        self.load([m.id for m, a in pairs if (m.id, a.part) not in self.contents
                   and isinstance(m, ImapMeta) and m.bytes <= LARGE])

    def raw(self, id: str) -> bytes:
        """The message as it came, RFC 5322."""
        place = self.place(id)
        found = self._fetch(place[0], [place[1]], ("BODY.PEEK[]",)) if place is not None else {}
        if place is None or place[1] not in found:
            raise service_error(errno.ENOENT, "imap: the message is gone", 404)
        data: bytes = found[place[1]][b"BODY[]"]
        return data


def _labels(folder: str, flags: Iterable[bytes]) -> frozenset[str]:
    low = {flag.lower() for flag in flags}
    marks = [mark for flag, mark in FLAGS.items() if flag in low]
    return frozenset((folder, *marks, *(() if b"\\seen" in low else ("UNREAD",))))


def _number(value: Any) -> int:
    return int(value[0] if isinstance(value, list | tuple) else value or 0)


def _filled(part: dict[str, Any], data: dict[bytes, Any], texts: list[str]) -> dict[str, Any]:
    """The structure of a message with its headers, the texts that were fetched, and the sizes of the files."""
    filled = {**part}
    if b"BODY[HEADER]" in data:
        filled["headers"] = headers_of(data[b"BODY[HEADER]"])
    if "parts" in part:
        inner = {key: value for key, value in data.items() if key != b"BODY[HEADER]"}
        filled["parts"] = [_filled(p, inner, texts) for p in part["parts"]]
        return filled
    number = part["partId"]
    body = {**part["body"]}
    if number in texts:
        raw = decoded_part(data.get(f"BODY[{number}]".encode()) or b"", part.get("encoding", ""))
        text = unicode_text(raw, part.get("charset", ""))
        body["content"] = text.encode("utf-8", "replace")
    elif f"BINARY.SIZE[{number}]".encode() in data:
        body["size"] = int(data[f"BINARY.SIZE[{number}]".encode()])
    filled["body"] = body
    return filled
