"""The mount: paths to folders, days, messages and attachments."""
from __future__ import annotations

import errno
import time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mirage.mounts.gmail.client import GmailClient
from mirage.mounts.gmail.dates import Days
from mirage.mounts.gmail.folders import DAY, Folder
from mirage.mounts.gmail.mailbox import Mailbox
from mirage.mounts.gmail.message import EML, JSON, Attachment, Meta
from mirage.vfs.describe import Description, Format
from mirage.vfs.names import split_id
from mirage.vfs.types import S_IFDIR, S_IFREG, Capabilities, Entry, Stat, enoent, error, new_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mirage.vfs.search import Candidates, Query
    from mirage.vfs.secrets import Secret

    Entries = list[Entry]
    Metas = list[Meta]
    Paths = list[str]

MODES = ("exact", "service", "auto")
EXAMPLE = """\
{
  "id": "...", "threadId": "...", "folder": "INBOX", "date": "2026-09-09T07:15:00Z",
  "from": "Name <a@b.example>", "to": ["..."], "cc": [], "bcc": [], "replyTo": "",
  "subject": "...", "body": "plain text", "labels": ["INBOX", "UNREAD"],
  "attachments": [{"name": "...", "mimeType": "...", "size": 1, "path": "/mail/INBOX/..."}]
}
"""


class Place:
    """What a path names. folder: `day` and `meta` None; day: `meta` None; else a message, in one of its forms.

    kind  "folder", "day", "json", "eml", "dir" (of attachments), "file" (an attachment)
    """

    __slots__ = ("attachment", "day", "folder", "kind", "meta")

    def __init__(self, kind: str, folder: Folder, day: str = "", meta: Meta | None = None,
                 attachment: Attachment | None = None) -> None:
        self.kind = kind
        self.folder = folder
        self.day = day
        self.meta = meta
        self.attachment = attachment


class Gmail:
    """One account, read-only; changes are made with the CLI `mail`.

    token, credentials  Secrets: an access token, or the JSON of an authorized user
    endpoint            another server (a simulator); default Google's
    search              "exact", "service" or "auto": what `grep -r` does with patterns that are no whole words
    tz                  time zone of the day folders and dates
    rate                quota units a second (0: no limit); a message costs 5
    ttl                 seconds until a long line asks for changes again; every new line asks once
    cache               bytes of contents to keep
    lag                 seconds until the service finds a new message by its words
    bound               so many items are read rather than searched
    client              instead of token, credentials, endpoint and rate
    """

    capabilities = Capabilities("read_many", "search", "describe")

    def __init__(self, token: Secret | None = None, credentials: Secret | None = None, endpoint: str = "",
                 search: str = "auto", tz: str = "UTC", rate: float = 250.0, ttl: float = 30.0, cache: int = 64 << 20,
                 lag: float = 120.0, bound: int = 500, client: GmailClient | None = None) -> None:
        if search not in MODES:
            raise ValueError(f"gmail: search must be one of {', '.join(MODES)}, not {search!r}")
        try:
            zone = ZoneInfo(tz)
        except (ZoneInfoNotFoundError, ValueError):
            raise ValueError(f"gmail: unknown time zone {tz!r}") from None
        self.client = client or GmailClient(token, credentials, endpoint, rate)
        self.box = Mailbox(self.client, ttl, cache)
        self.counters = self.client.counters
        self.days = Days(zone)
        self.mode = search
        self.lag = lag
        self.bound = bound
        self.point = "/mail"
        self.device = new_device()
        self._made = time.time_ns()
        self._grouped: dict[str, tuple[Metas, dict[str, Metas]]] = {}

    def mounted_at(self, point: str) -> None:
        """Where the mount is in the tree: for the paths of attachments inside the files."""
        self.point = point

    # ---- from paths to messages

    def _place(self, path: str) -> Place:
        """ENOENT or ENOTDIR where there is no such object."""
        self.box.refresh()
        parts = path.strip("/").split("/") if path != "/" else []
        place = self._find(path, parts)
        if place is None and self._may_be_new(parts):
            place = self._find(path, parts)
        if place is None:
            raise enoent(path)
        return place

    def _may_be_new(self, parts: Paths) -> bool:
        """Was the label perhaps made a moment ago? Asks for labels again, at most every half minute."""
        before = self.box.folders()
        return before.find(parts[0]) is None and self.box.folders(again=True) is not before

    def _find(self, path: str, parts: Paths) -> Place | None:
        folder, at = self.box.folders().root, 0
        while at < len(parts) and parts[at] in folder.children:
            folder = folder.children[parts[at]]
            at += 1
        rest = parts[at:]
        if not rest:
            return Place("folder", folder)
        if folder.label is None or not DAY.fullmatch(rest[0]):
            return None
        day = rest[0]
        if len(rest) == 1:
            return Place("day", folder, day) if self._in_day(folder, day) else None
        return self._find_message(path, folder, day, rest[1:])

    def _find_message(self, path: str, folder: Folder, day: str, rest: Paths) -> Place | None:
        name, kind = rest[0], "dir"
        for suffix, form in ((JSON, "json"), (EML, "eml")):
            if name.endswith(suffix):
                name, kind = name.removesuffix(suffix), form
                break
        id = split_id(name)[1]
        if not id or not all(c in "0123456789abcdef" for c in id):
            return None
        if self.box.is_listed(folder) and id not in self.box._lists[folder.label or ""]:
            return None
        meta = self.box.meta(id)
        if meta is None or meta.stem != name or self.days.of(meta.date) != day \
                or folder not in self.box.folders().of(meta.labels):
            return None
        if kind != "dir":
            if len(rest) > 1:
                raise error(errno.ENOTDIR, path)
            return Place(kind, folder, day, meta)
        if not meta.attachments:
            return None
        if len(rest) == 1:
            return Place("dir", folder, day, meta)
        for attachment in meta.attachments:
            if attachment.name == rest[1]:
                if len(rest) > 2:
                    raise error(errno.ENOTDIR, path)
                return Place("file", folder, day, meta, attachment)
        return None

    def _in_day(self, folder: Folder, day: str) -> Metas:
        """The messages of a day, in the order of the listing."""
        if self.box.is_listed(folder):
            return self._by_day(folder).get(day, [])
        bounds = self.days.bounds(day)
        if bounds is None:
            return []
        if bounds[1] > self.client.now() - 86400:            # too new to be found by a search for sure
            return self._by_day(folder).get(day, [])
        return self.box.day(folder, *bounds)

    def _by_day(self, folder: Folder) -> dict[str, Metas]:
        """day -> the messages of it, for all of a folder."""
        metas = self.box.messages(folder)
        known = self._grouped.get(folder.label or "")
        if known is not None and known[0] is metas:
            return known[1]
        groups: dict[str, Metas] = {}
        for meta in metas:
            groups.setdefault(self.days.of(meta.date), []).append(meta)
        self._grouped[folder.label or ""] = (metas, groups)
        return groups

    # ---- looking

    def list(self, path: str) -> Entries:
        place = self._place(path)
        if place.kind == "folder":
            return self._list_folder(place.folder)
        if place.kind == "day":
            return self._list_day(place)
        if place.kind == "dir" and place.meta is not None:
            return [Entry(a.name, self._stat(Place("file", place.folder, place.day, place.meta, a)))
                    for a in place.meta.attachments]
        raise error(errno.ENOTDIR, path)

    def _list_folder(self, folder: Folder) -> Entries:
        entries = [Entry(name, self._stat(Place("folder", child))) for name, child in folder.children.items()]
        entries += [Entry(day, self._directory(metas[-1].date)) for day, metas in self._by_day(folder).items()]
        return sorted(entries, key=lambda e: e.name)

    def _list_day(self, place: Place) -> Entries:
        entries = []
        for meta in self._in_day(place.folder, place.day):
            entries.append(Entry(meta.stem + JSON, self._stat(Place("json", place.folder, place.day, meta))))
            if meta.attachments:
                entries.append(Entry(meta.stem, self._stat(Place("dir", place.folder, place.day, meta))))
        return sorted(entries, key=lambda e: e.name)

    def stat(self, path: str) -> Stat:
        return self._directory(0) if path == "/" else self._stat(self._place(path))

    def _stat(self, place: Place) -> Stat:
        meta = place.meta
        if place.kind == "folder":
            return self._directory(0)
        if meta is None:
            return self._directory(self._in_day(place.folder, place.day)[-1].date)
        links = len(self.box.folders().of(meta.labels))
        if place.kind == "dir":
            return self._directory(meta.date)
        if place.kind == "file" and place.attachment is not None:
            return Stat(S_IFREG | 0o444, place.attachment.size, meta.date * 10**6, nlink=links,
                        version=f"{meta.id}:{place.attachment.part}")
        size = meta.sizes.get(self._key(place))
        return Stat(S_IFREG | 0o444, size, meta.date * 10**6, nlink=links, version=f"{meta.id}:{self._key(place)}")

    def _directory(self, date: int) -> Stat:
        return Stat(S_IFDIR | 0o555, 4096, date * 10**6 or self._made, nlink=2)

    @staticmethod
    def _key(place: Place) -> str:
        """What a rendering of a message depends on, beside the message."""
        if place.kind == "eml" or place.meta is None:
            return place.kind
        return f"{place.folder.path}:{','.join(sorted(place.meta.labels))}"

    def names(self, path: str) -> Paths:
        """Every path of a message or attachment: it is in several folders where it has several labels."""
        place = self._place(path)
        if place.meta is None:
            return [path]
        prefix = len(place.folder.path) + 1
        return [f"/{folder.path}{path[prefix:]}" for folder in self.box.folders().of(place.meta.labels)]

    # ---- content

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        data = self._content(self._place(path), path)
        return data[offset:] if length is None else data[offset:offset + length]

    def _content(self, place: Place, path: str, ahead: bool = True) -> bytes:
        meta = place.meta
        if meta is None or place.kind == "dir":
            raise error(errno.EISDIR, path)
        if place.kind == "file" and place.attachment is not None:
            return self.box.attachment(meta, place.attachment)
        key = (meta.id, self._key(place))
        kept: bytes | None = self.box.contents.get(key)
        if kept is not None:
            return kept
        if place.kind == "eml":
            data = self.box.raw(meta.id)
        else:
            following = self._following(place) if ahead and self.box.is_listed(place.folder) else None
            mail = self.box.mail(meta, following)
            data = mail.render(meta, place.folder.path, self.point, self.days.iso(meta.date), place.day,
                               self.box.folders().shown(meta.labels))
        meta.sizes[self._key(place)] = len(data)
        if place.kind == "eml" or len(data) > 1 << 16:
            self.box.contents.put(key, data, len(data))
        return data

    def _following(self, place: Place) -> Callable[[], Metas]:
        """The messages behind this one in its folder, for reading ahead."""
        def find() -> Metas:
            metas = self.box.messages(place.folder)
            at = next((i for i, m in enumerate(metas) if m is place.meta), len(metas))
            return metas[at + 1:at + 200]
        return find

    def read_many(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Contents in the order of the paths, fetched several at a time."""
        found: list[tuple[str, Place | OSError]] = []
        for path in paths:
            try:
                found.append((path, self._place(path)))
            except OSError as e:
                found.append((path, e))
        places = [place for _, place in found if isinstance(place, Place)]
        self.box.load([p.meta.id for p in places if p.kind == "json" and p.meta is not None])
        self.box.load_attachments([(p.meta, p.attachment) for p in places
                                   if p.meta is not None and p.attachment is not None])
        for path, place in found:
            if isinstance(place, OSError):
                yield path, place
                continue
            try:
                yield path, self._content(place, path, ahead=False)
            except OSError as e:
                yield path, e

    # ---- search and description

    def search(self, path: str, query: Query) -> Candidates | None:
        """Candidates below a directory; None: read everything (mirage/mounts/gmail/search.py)."""
        from mirage.mounts.gmail.search import search
        return search(self, self._place(path), query)

    def path_of(self, meta: Meta, folder: Folder) -> str:
        """The path inside the mount of a message's file."""
        return f"/{folder.path}/{self.days.of(meta.date)}/{meta.stem}{JSON}"

    def describe(self) -> Description:
        return Description(
            "Mailbox (Gmail): folders are labels, then days. Change it with the `mail` CLI.",
            [("<Folder>/<YYYY-MM-DD>/<Subject>__<id>.email.json", "one message (INBOX, Sent, Drafts, Archive, ...)"),
             ("<Folder>/<YYYY-MM-DD>/<Subject>__<id>/", "its attachments, if any")],
            [Format(JSON, EXAMPLE)])

    def close(self) -> None:
        self.box.contents.clear()
        self.client.close()

    def __repr__(self) -> str:
        return f"Gmail({self.client.endpoint or 'gmail.googleapis.com'})"
