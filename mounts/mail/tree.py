"""The tree of every mailbox as a declaration: folders in folders, days, messages, attachments beside them.

A mailbox (`box`) knows folders, messages and contents, and asks for many of them in a call; here they get their places.
"""
from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any, Protocol

from mirage.mounts.mail.folders import DAY
from mirage.mounts.mail.message import EML, JSON
from mirage.vfs.days import Days, zone_of
from mirage.vfs.declare import Declared, Directory, File, Rendering, Scope, Service
from mirage.vfs.names import split_id
from mirage.vfs.types import S_IFREG, Stat, enoent, error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mirage.mounts.mail.account import Account
    from mirage.mounts.mail.folders import Folder
    from mirage.mounts.mail.message import Attachment, Mail, Meta
    from mirage.vfs.declare.mount import Entries, Place
    from mirage.vfs.estimate import Cost
    from mirage.vfs.search import Query
    from mirage.vfs.service import ByteCache

    Item = dict[str, Any]
    Metas = list[Meta]

MODES = ("exact", "service", "auto")
EXAMPLE = """\
{
  "id": "...", "threadId": "...", "folder": "INBOX", "date": "2026-09-09T07:15:00Z",
  "from": "Name <a@b.example>", "to": ["..."], "cc": [], "bcc": [], "replyTo": "",
  "subject": "...", "body": "plain text", "labels": ["INBOX", "UNREAD"],
  "attachments": [{"name": "...", "mimeType": "...", "size": 1, "path": "/mail/INBOX/..."}]
}
"""


class Box(Protocol):
    """What is known of one account. Every method may wait, through mirage.process.blocking."""

    contents: ByteCache

    def refresh(self) -> None:
        """Take in what changed, unless that was asked a moment ago."""

    def folders(self, again: bool = False) -> Any:
        """FolderTree with `of(labels)`, the folders that show a message, `label_of(name)` and `shown(labels)`."""

    def is_listed(self, folder: Folder) -> bool: ...

    def listed(self, folder: Folder, id: str) -> bool:
        """May the folder have that message? False only where it was listed without it."""

    def messages(self, folder: Folder) -> Metas:
        """All of a folder, oldest first; the same list while nothing changes."""

    def day(self, folder: Folder, start: int, end: int) -> Metas:
        """Those between two times, without listing all of the folder."""

    def now(self) -> float: ...

    def meta(self, id: str) -> Meta | None: ...

    def mail(self, meta: Meta, following: Callable[[], Metas] | None = None) -> Mail: ...

    def load(self, ids: Iterable[str]) -> None: ...

    def attachment(self, meta: Meta, attachment: Attachment) -> bytes: ...

    def load_attachments(self, pairs: Sequence[tuple[Meta, Attachment]]) -> None: ...

    def raw(self, id: str) -> bytes: ...


class MailMount(Declared):
    """One account, read-only; changes are made with the CLI `mail`.

    search  "exact", "service" or "auto": what `grep -r` does with patterns that the service cannot answer for sure
    tz      time zone of the day folders and dates
    lag     seconds until the service finds a new message
    bound   so many items are read rather than searched
    """

    box: Any

    def __init__(self, name: str, client: Any, box: Any, search: str = "auto", tz: str = "UTC", lag: float = 0.0,
                 bound: int = 500, find: Callable[[Any, str, Any], Any] | None = None) -> None:
        if search not in MODES:
            raise ValueError(f"{name}: search must be one of {', '.join(MODES)}, not {search!r}")
        self.days = Days(zone_of(name, tz))
        self.box = box
        self.mode = search
        self.lag = lag
        self.bound = bound
        self._grouped: dict[str, tuple[Metas, dict[str, Metas]]] = {}
        self._attachment = File(name="{name}", each=self._attachments, id="", ttl=0, find=self._one_attachment,
                                content=_nothing, renderings=[Rendering(format="bytes")])
        self._message = File(
            name="{Subject}", each=self._in_folder, unique="always", ttl=0, find=self._message_of, content=_nothing,
            about="one message (INBOX, Sent, Drafts, Archive, ...)",
            renderings=[Rendering(suffix=JSON, example=EXAMPLE), Rendering(suffix=EML, format="bytes", listed=False)])
        beside = Directory(
            name="{Subject}", each=self._attached, unique="always", as_="mail", ttl=0, find=self._one_attached,
            modified="date", about="its attachments, if any", children=[self._attachment])
        self._day = Directory(name="{day}", each=self._days, id="", ttl=0, modified="date", as_="day",
                              find=self._one_day, children=[self._message, beside])
        folder = Directory(name="{Folder}", each=self._subfolders, id="", ttl=0, as_="folder", find=self._subfolder)
        folder.children += [folder, self._day]
        super().__init__(Service(
            name=name, summary="Mailbox: folders, then days. Change it with the `mail` CLI.", search=find,
            tree=[folder]), client)
        self.point = "/mail"

    def account(self) -> Account:
        """What changes the account, for the CLI."""
        raise NotImplementedError

    def is_account(self, options: Mapping[str, Any]) -> bool:
        """Do these options of the provider name the account of this mount?"""
        raise NotImplementedError

    # ---- the hooks of the declaration

    def _folder_of(self, scope: Scope) -> Folder:
        found: Folder = scope["folder"]["folder"] if "folder" in scope.values else self.box.folders().root
        return found

    def _subfolders(self, scope: Scope) -> list[Item]:
        return [{"Folder": name, "folder": child} for name, child in self._folder_of(scope).children.items()]

    def _subfolder(self, scope: Scope, name: str) -> Item | None:
        child = self._folder_of(scope).children.get(name)
        return {"Folder": name, "folder": child} if child is not None else None

    def _days(self, scope: Scope) -> list[Item]:
        folder = self._folder_of(scope)
        groups = self.by_day(folder) if folder.label is not None else {}
        return [{"day": day, "date": metas[-1].date / 1000} for day, metas in groups.items()]

    def _one_day(self, scope: Scope, name: str) -> Item | None:
        """Any day: whether there is something in it is asked when that matters."""
        return {"day": name} if self._folder_of(scope).label is not None and DAY.fullmatch(name) else None

    def _in_folder(self, scope: Scope) -> list[Item]:
        return [_item(meta) for meta in self.in_day(self._folder_of(scope), scope["day"]["day"])]

    def _message_of(self, scope: Scope, name: str) -> Item | None:
        """The message of a name, if it belongs into this folder and day."""
        id, folder = split_id(name)[1], self._folder_of(scope)
        if not id or not self.box.listed(folder, id):
            return None
        meta = self.box.meta(id)
        if meta is None or meta.stem != name or self.days.of(meta.date) != scope["day"]["day"] \
                or folder not in self.box.folders().of(meta.labels):
            return None
        return _item(meta)

    def _attached(self, scope: Scope) -> list[Item]:
        return [item for item in self._in_folder(scope) if item["meta"].attachments]

    def _one_attached(self, scope: Scope, name: str) -> Item | None:
        item = self._message_of(scope, name)
        return item if item is not None and item["meta"].attachments else None

    def _attachments(self, scope: Scope) -> list[Item]:
        return [{"name": a.name, "attachment": a} for a in scope["mail"]["meta"].attachments]

    def _one_attachment(self, scope: Scope, name: str) -> Item | None:
        return next((item for item in self._attachments(scope) if item["name"] == name), None)

    # ---- days

    def in_day(self, folder: Folder, day: str) -> Metas:
        """The messages of a day, in the order of the listing."""
        if self.box.is_listed(folder):
            return self.by_day(folder).get(day, [])
        bounds = self.days.bounds(day)
        if bounds is None:
            return []
        if bounds[1] > self.box.now() - 86400:               # too new to be found by a search for sure
            return self.by_day(folder).get(day, [])
        found: Metas = self.box.day(folder, *bounds)
        return found

    def by_day(self, folder: Folder) -> dict[str, Metas]:
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

    def find(self, path: str) -> Place:
        self.box.refresh()
        try:
            return super().find(path)
        except FileNotFoundError:                            # perhaps the folder was made a moment ago
            before = self.box.folders()
            if before.find(path.split("/")[1]) is not None or self.box.folders(again=True) is before:
                raise
            return super().find(path)

    def _there(self, path: str) -> Place:
        """The place of a path; ENOENT where it is a day without messages."""
        place = self.find(path)
        if place.node is self._day:
            metas = self.in_day(self._folder_of(place.scope), place.scope.item["day"])
            if not metas:
                raise enoent(path)
            place.scope.item["date"] = metas[-1].date / 1000
        return place

    def list(self, path: str) -> Entries:
        self._there(path)
        return super().list(path)

    def stat(self, path: str) -> Stat:
        return self._stat(self._top if path == "/" else self._there(path))

    def _stat(self, place: Place) -> Stat:
        if place.node is self._message:
            meta, key = place.scope.item["meta"], self._key_of(place)
            return self._file(meta, meta.sizes.get(key), key)
        if place.node is self._attachment:
            attachment: Attachment = place.scope.item["attachment"]
            return self._file(place.scope["mail"]["meta"], attachment.size, attachment.part)
        return super()._stat(place)

    def _file(self, meta: Meta, size: int | None, key: str) -> Stat:
        links = len(self.box.folders().of(meta.labels))
        return Stat(S_IFREG | 0o444, size, meta.date * 10**6, nlink=links, version=f"{meta.id}:{key}")

    def _key_of(self, place: Place) -> str:
        """What a rendering of a message depends on, beside the message."""
        if place.rendering is not None and place.rendering.suffix == EML:
            return "eml"
        return f"{self._folder_of(place.scope).path}:{','.join(sorted(place.scope.item['meta'].labels))}"

    def names(self, path: str) -> Sequence[str]:
        """Every path of a message or attachment: it is in several folders where it has several labels."""
        place = self.find(path)
        meta = _meta_of(place)
        if meta is None:
            return [path]
        prefix = len(self._folder_of(place.scope).path) + 1
        return [f"/{folder.path}{path[prefix:]}" for folder in self.box.folders().of(meta.labels)]

    def path_of(self, meta: Meta, folder: Folder) -> str:
        """The path inside the mount of a message's file."""
        return f"/{folder.path}/{self.days.of(meta.date)}/{meta.stem}{JSON}"

    def folder_at(self, path: str) -> Folder | None:
        """The folder of a directory's path; None: it is something else."""
        place = self.find(path)
        if place is self._top:
            root: Folder = self.box.folders().root
            return root
        return self._folder_of(place.scope) if "Folder" in place.scope.item else None

    # ---- content

    def _content(self, place: Place, ahead: bool = True) -> bytes:
        if place.node is self._attachment:
            data: bytes = self.box.attachment(place.scope["mail"]["meta"], place.scope.item["attachment"])
            return data
        meta, key = place.scope.item["meta"], self._key_of(place)
        kept: bytes | None = self.box.contents.get((meta.id, key))
        if kept is not None:
            return kept
        folder = self._folder_of(place.scope)
        if key == "eml":
            data = self.box.raw(meta.id)
        else:
            following = self._behind(folder, meta) if ahead and self.box.is_listed(folder) else None
            data = self.render(self.box.mail(meta, following), meta, folder)
        meta.sizes[key] = len(data)
        if key == "eml" or len(data) > 1 << 16:
            self.box.contents.put((meta.id, key), data, len(data))
        return data

    def render(self, mail: Mail, meta: Meta, folder: Folder) -> bytes:
        """The content of a message's file in a folder."""
        return mail.render(meta, folder.path, self.point, self.days.iso(meta.date), self.days.of(meta.date),
                           self.box.folders().shown(meta.labels))

    def _behind(self, folder: Folder, meta: Meta) -> Callable[[], Metas]:
        """The messages behind this one in its folder, for reading ahead."""
        def find() -> Metas:
            metas: Metas = self.box.messages(folder)
            at = next((i for i, m in enumerate(metas) if m is meta), len(metas))
            return metas[at + 1:at + 200]
        return find

    def read_many(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Contents in the order of the paths, asked for many in a call."""
        found: dict[str, Place | OSError] = {}
        parents: dict[str, Place] = {}
        for path in paths:
            directory, _, name = path.rpartition("/")
            try:
                if directory not in parents:
                    parents[directory] = self.find(directory or "/")
                above = parents[directory]
                child = self._child(above, name) if isinstance(above.node, Directory) else None
                child = child or self.find(path)             # says what is wrong
                found[path] = error(errno.EISDIR, path) if isinstance(child.node, Directory) else child
            except OSError as e:
                found[path] = e
        places = [place for place in found.values() if not isinstance(place, OSError)]
        self.box.load([p.scope.item["meta"].id for p in places if p.node is self._message and self._key_of(p) != "eml"])
        self.box.load_attachments([(p.scope["mail"]["meta"], p.scope.item["attachment"]) for p in places
                                   if p.node is self._attachment])
        for path in paths:
            what = found[path]
            if isinstance(what, OSError):
                yield path, what
                continue
            try:
                yield path, self._content(what, ahead=False)
            except OSError as e:
                yield path, e

    def estimate(self, path: str, action: str, queries: Sequence[Query] = ()) -> Cost:
        """Nothing is told in advance where the provider does not know better."""
        from mirage.vfs.estimate import unknown
        return unknown(len(queries))

    def close(self) -> None:
        self.box.contents.clear()
        super().close()


def _item(meta: Meta) -> Item:
    return {"id": meta.id, "Subject": meta.subject, "date": meta.date / 1000, "meta": meta}


def _meta_of(place: Place) -> Meta | None:
    item = place.scope.values.get("mail") or place.scope.item
    meta: Meta | None = item.get("meta") if isinstance(item, dict) else None
    return meta


def _nothing(scope: Scope) -> None:
    """Contents come from the box, many at a time."""
