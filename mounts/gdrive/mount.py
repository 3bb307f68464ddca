"""The mount: paths to folders, files, documents, tabs of spreadsheets and shared drives."""
from __future__ import annotations

import errno
import hashlib
import json
import math
import posixpath
import time
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mirage.mounts.gdrive import office, texts
from mirage.mounts.gdrive.account import DRIVES, LINKED, Account
from mirage.mounts.gdrive.items import DIRECTORIES, SHORTCUT, Item, names_of, office_kind
from mirage.mounts.google.client import GoogleClient
from mirage.process import blocking
from mirage.vfs.declare.store import Kept, Store
from mirage.vfs.describe import Description, Format
from mirage.vfs.names import safe_name, unique_names
from mirage.vfs.service import Retry, service_error
from mirage.vfs.types import S_IFDIR, S_IFLNK, S_IFREG, Capabilities, Entry, Stat, enoent, error, new_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mirage.vfs.estimate import Cost
    from mirage.vfs.search import Candidates, Query
    from mirage.vfs.secrets import Secret

    Entries = list[Entry]
    Named = dict[str, tuple[str, Item]]

MODES = ("exact", "service", "auto")
NAME = "gdrive"
WIDTH = 10                                                   # files that are fetched at a time
LIMITS = {"sheets": (1.0, 60.0), "docs": (5.0, 300.0), "slides": (1.0, 60.0)}   # Google's quotas for reading, a user
WHOLE = 1 << 20                                              # smaller files are never read by ranges
SHEET_FIELDS = ("spreadsheetId,spreadsheetUrl,properties(title,locale,timeZone),namedRanges,sheets(properties,merges,"
                "data(startRow,startColumn,rowData(values(userEnteredValue,effectiveValue,formattedValue,hyperlink,"
                "note))))")
SHEET_EXAMPLE = """\
{"spreadsheetId": "...", "properties": {"title": "..."},
 "sheets": [{"properties": {"sheetId": 0, "title": "..."},
             "data": [{"rowData": [{"values": [{"formattedValue": "..."}]}]}]}]}
"""


class Place:
    """What a path names. kind: those of items.py ("dir", "blob", "sheet", ...), "link", and

    "drives", "linked"  the directories of shared drives, and of what shortcuts lead to outside of the tree
    "one"               a directory of `linked` with one item;  "tab": a CSV file, `tab` is its name
    """

    __slots__ = ("folder", "item", "kind", "part", "tab")

    def __init__(self, kind: str, folder: str = "", item: Item | None = None, tab: str = "", part: str = "") -> None:
        self.kind = kind
        self.folder = folder                                 # the id to list
        self.item = item
        self.tab = tab
        self.part = part                                     # of a link: the kind of what it leads to


class Changed(Exception):
    """The file is not what the listing said any more."""


class Drive:
    """One account's Drive, read-only; changes are made with the CLIs `gdrive`, `google-sheet` and `google-doc`.

    token, credentials  Secrets: an access token, or the JSON of an authorized user
    endpoint            another server (a simulator); default Google's
    root                a folder to show instead of all: its path in My Drive, or `id:` and its id
    search              "exact", "service" or "auto": what `grep -r` does with patterns that are no whole words
    tz                  time zone, for the services that share the options; Drive's files have no days
    rate                requests a second (0: no limit)
    ttl                 seconds until listings are asked for again
    cache               bytes of listings and contents to keep
    lag                 seconds until the service finds a new file by its words
    bound               so many files are read rather than searched
    client              instead of token, credentials, endpoint and rate
    """

    capabilities = Capabilities("read_many", "search", "describe")

    def __init__(self, token: Secret | None = None, credentials: Secret | None = None, endpoint: str = "",
                 root: str = "", search: str = "auto", tz: str = "UTC", rate: float = 20.0, ttl: float = 30.0,
                 cache: int = 64 << 20, lag: float = 300.0, bound: int = 500,
                 client: GoogleClient | None = None) -> None:
        if search not in MODES:
            raise ValueError(f"gdrive: search must be one of {', '.join(MODES)}, not {search!r}")
        try:
            self.zone = ZoneInfo(tz)
        except (ZoneInfoNotFoundError, ValueError):
            raise ValueError(f"gdrive: unknown time zone {tz!r}") from None
        self.client = client or GoogleClient(NAME, token, credentials, endpoint, rate, retry=Retry(tries=7, most=32.0),
                                             limits=LIMITS)
        self.counters = self.client.counters
        self.root = root if root.startswith("id:") else root.strip("/")
        self.mode = search
        self.lag = lag
        self.bound = bound
        self.store = Store(cache, ttl)
        self.account = Account(self.client, self.store)
        self.whole = min(cache // 4, 32 << 20)               # larger files are not kept
        self.point = "/gd"
        self.device = new_device()
        self._made = time.time_ns()
        self._above = ""                                     # where the folder of `root: id:...` is, once known

    def mounted_at(self, point: str) -> None:
        self.point = point

    def top(self) -> Place:
        """The root of the mount: My Drive, or the folder of the option `root`."""
        if not self.root:
            return Place("dir", "root")
        if self.root.startswith("id:"):
            return Place("dir", self.root[3:])
        place = self._descend(Place("dir", "root"), f"/{self.root}", whole=True)
        if place is None or place.kind != "dir":
            raise service_error(errno.ENOENT, f"gdrive: there is no folder {self.root!r} (option root)")
        return place

    # ---- from paths to places

    def find(self, path: str) -> Place:
        """ENOENT or ENOTDIR where there is no such object."""
        place = self._descend(self.top(), path, whole=not self.root)
        if place is None:
            raise enoent(path)
        return place

    def _descend(self, place: Place, path: str, whole: bool) -> Place | None:
        """`whole`: below My Drive's root, where the directories of the mount itself are."""
        for depth, name in enumerate(path.strip("/").split("/") if path != "/" else ()):
            if place.kind not in DIRECTORIES:
                raise error(errno.ENOTDIR, path)
            found = self._special(name) if whole and depth == 0 else None
            place_or_none = found or self._child(place, name)
            if place_or_none is None:
                return None
            place = place_or_none
        return place

    @staticmethod
    def _special(name: str) -> Place | None:
        return {DRIVES: Place("drives"), LINKED: Place("linked")}.get(name)

    def _child(self, parent: Place, name: str) -> Place | None:
        if parent.kind == "drives":
            id = self.account.drives().get(name)
            return Place("dir", id) if id is not None else None
        if parent.kind == "linked":
            return self._outside(name)
        if parent.kind == "tabs":
            return Place("tab", item=parent.item, tab=name) if name in self.tabs(parent, content=True) else None
        found = self.named(parent).get(name)
        return self._place(*found) if found is not None else None

    def named(self, place: Place) -> Named:
        """name -> (kind, item) of what is in a directory of items."""
        if place.kind == "one" and place.item is not None:
            return names_of([place.item])
        return self.account.folder(place.folder)

    @staticmethod
    def _place(kind: str, item: Item) -> Place:
        if item.kind == SHORTCUT:
            return Place("link", item=item, part=kind)
        return Place(kind, item.id if kind == "dir" else "", item)

    # ---- links

    def _outside(self, id: str) -> Place | None:
        """The directory of one item that is not in the tree; what is in it is found by its path only."""
        if not id.replace("-", "").replace("_", "").isalnum() or id == "root":
            return None
        try:
            item = self.account.item(id)
            return Place("one", item=item) if item.id == id and self._chain(id) is None else None
        except OSError as e:
            if e.errno == errno.ENOENT:
                return None
            raise

    def _chain(self, id: str) -> list[str] | None:
        """The ids from a root down to an item; None where the item is not in the tree."""
        return self.account.chain(id, self.top().folder, not self.root)

    def path_of(self, id: str, kind: str = "") -> str | None:
        """The path inside the mount of an item, of its file of a kind or else the first; None where it has none."""
        try:
            chain = self._chain(id)
        except OSError as e:
            if e.errno == errno.ENOENT:
                return None
            raise
        if chain is None:
            return None
        at = Place("dir", chain[0])
        path = next((f"/{DRIVES}/{name}" for name, drive in self.account.drives().items() if drive == chain[0]), "") \
            if chain[0] != self.top().folder else ""
        for number, each in enumerate(chain[1:], 1):
            last = number == len(chain) - 1
            name = next((n for n, (k, item) in self.named(at).items()
                         if item.id == each and (not last or not kind or k == kind)), None)
            if name is None:
                return None
            path, at = f"{path}/{name}", Place("dir", each)
        return path or "/"

    def readlink(self, path: str) -> str:
        """Where a shortcut leads, relative to its directory; below .linked where the target is not in the tree."""
        place = self.find(path)
        if place.kind != "link" or place.item is None:
            raise error(errno.EINVAL, path)
        target = self.path_of(place.item.target, place.part)
        if target is None:
            target = f"/{LINKED}/{place.item.target}/{self._linked_name(place)}"
        return posixpath.relpath(target, posixpath.dirname(path))

    def _linked_name(self, place: Place) -> str:
        assert place.item is not None
        try:
            item = self.account.item(place.item.target)
        except OSError as e:
            if e.errno not in (errno.ENOENT, errno.EACCES):
                raise
            item = place.item                                # it leads nowhere
        return next((name for name, (kind, _) in names_of([item]).items() if kind == place.part), safe_name(item.name))

    def backend(self, path: str) -> tuple[str, str]:
        """The account, and the path in the whole of it."""
        account = f"gdrive:{self.client.account}"
        if not self.root:
            return account, path
        if not self.root.startswith("id:"):
            return account, f"/{self.root}{path}".rstrip("/")
        if not self._above:
            self._above = Drive(client=self.client).path_of(self.root[3:]) or f"/{LINKED}/{self.root[3:]}"
        return account, f"{self._above}{path}".rstrip("/")

    # ---- looking

    def list(self, path: str) -> Entries:
        place = self.find(path)
        if place.kind not in DIRECTORIES:
            raise error(errno.ENOTDIR, path)
        if place.kind == "drives":
            return [Entry(name, self._directory()) for name in sorted(self.account.drives())]
        if place.kind == "linked":
            return []
        if place.kind == "tabs":
            return [Entry(name, self._stat(Place("tab", item=place.item, tab=name))) for name in self.tabs(place)]
        entries = [Entry(name, self._stat(self._place(kind, item)))
                   for name, (kind, item) in self.named(place).items()]
        if path == "/" and not self.root:
            entries.append(Entry(DRIVES, self._directory()))
        return sorted(entries, key=lambda entry: entry.name)

    def stat(self, path: str) -> Stat:
        return self._directory() if path == "/" else self._stat(self.find(path))

    def _directory(self, item: Item | None = None) -> Stat:
        return Stat(S_IFDIR | 0o555, 4096, item.mtime_ns if item is not None else self._made, nlink=2)

    def _stat(self, place: Place) -> Stat:
        item = place.item
        if place.kind in DIRECTORIES or item is None:
            return self._directory(item)
        if place.kind == "link":
            return Stat(S_IFLNK | 0o777, 0, item.mtime_ns)
        return Stat(S_IFREG | 0o444, self._size(place, item), item.mtime_ns,
                    version=f"{item.id}:{item.version}:{place.kind}:{place.tab}")

    def _size(self, place: Place, item: Item) -> int | None:
        if place.kind == "blob":
            return item.size
        if place.kind == "meta":
            return len(self._meta(item))
        kept = self.store.peek(self.resource_key(place, item), f"/{item.id}/content", math.inf)
        data = kept.rendered.get(self._rendering(place)) if kept is not None else None
        return len(data) if data is not None else None

    # ---- content

    @staticmethod
    def _rendering(place: Place) -> str:
        return f"{place.kind}:{place.tab}"

    @staticmethod
    def resource_key(place: Place, item: Item) -> tuple[str, str, str]:
        """Of the resource that a file is made from; the files of an item share it."""
        kind = {"tabs": "sheet", "tab": "sheet", "doc-text": "doc", "slides-text": "slides", "text": "blob"}
        return kind.get(place.kind, place.kind), item.id, item.version

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        for last in (False, True):
            place = self.find(path)
            if place.kind in DIRECTORIES:
                raise error(errno.EISDIR, path)
            if place.kind == "link":
                raise error(errno.EINVAL, path)
            try:
                return self._read(place, offset, length)
            except Changed:
                if last:
                    raise service_error(errno.EIO, "gdrive: the file changes while it is read") from None
                assert place.item is not None
                self.account.changed(place.item.id)
        raise AssertionError

    def _read(self, place: Place, offset: int, length: int | None) -> bytes:
        item = place.item
        assert item is not None
        end = None if length is None else offset + length
        if place.kind == "meta":
            return self._meta(item)[offset:end]
        if place.kind == "blob" and item.size is not None and self._ranged(item, offset, length):
            return self._range(item, offset, min(item.size, item.size if end is None else end))
        return self._content(place, item)[offset:end]

    def _ranged(self, item: Item, offset: int, length: int | None) -> bool:
        """Is only a part of the file wanted, or is it too large to be kept?"""
        assert item.size is not None
        if self.store.peek(("blob", item.id, item.version), f"/{item.id}/content", math.inf) is not None:
            return False
        part = bool(offset) or length is not None and length < item.size
        return item.size > WHOLE and part or item.size > self.whole

    def _range(self, item: Item, start: int, end: int) -> bytes:
        """A part of a file. Who reads on behind the last part gets the rest in one call, if it can be kept."""
        if start >= end:
            return b""
        assert item.size is not None
        key, at = ("part", item.id, item.version), f"/{item.id}/content"
        kept = self.store.peek(key, at, math.inf)
        first, known = kept.value if kept is not None else (start, b"")
        if first <= start and end <= first + len(known):
            return known[start - first:end - first]
        if item.size > self.whole:
            return self._part(item, start, end)
        goes_on = known and start == first + len(known)
        mark = self.store.mark()
        data = self._part(item, start, item.size if goes_on else end)
        whole = known + data if goes_on else data
        self.store.put(key, Kept((first if goes_on else start, whole), len(whole)), mark)
        return data[:end - start]

    def _part(self, item: Item, start: int, end: int) -> bytes:
        data, total = blocking.call(partial(self.client.media, "drive.files.get_media", start, end, fileId=item.id,
                                            supportsAllDrives=True))
        if total is not None and total != item.size:
            raise Changed
        if len(data) != end - start:
            raise service_error(errno.EIO, f"gdrive: the content is not complete: {len(data)} of {end - start} bytes")
        return bytes(data)

    def _content(self, place: Place, item: Item) -> bytes:
        kept = self._resource(place, item)
        name = self._rendering(place)
        data = kept.rendered.get(name)
        if data is None:
            try:
                data = blocking.call(self._render, place, item, kept.value)
            except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as e:
                raise service_error(errno.EIO, f"gdrive: {item.name}: the service's answer has another shape than it "
                                               f"should ({type(e).__name__})") from None
            kept.rendered[name] = data
        return data

    def _resource(self, place: Place, item: Item) -> Kept:
        """What the files of an item are made from, kept until its version changes."""
        key = self.resource_key(place, item)
        return self.store.get(key, f"/{item.id}/content", lambda _: self._fetch(place, item), math.inf)

    def _fetch(self, place: Place, item: Item) -> Kept:
        kind = self.resource_key(place, item)[0]
        if kind == "blob":
            if item.size == 0:
                return Kept(b"", 0)
            data, _ = self.client.media("drive.files.get_media", fileId=item.id, supportsAllDrives=True)
            if item.size is not None and len(data) != item.size \
                    or item.md5 and hashlib.md5(data, usedforsecurity=False).hexdigest() != item.md5:
                raise Changed
            return Kept(data, len(data))
        if kind == "sheet":
            value = self.client.call("sheets.spreadsheets.get", spreadsheetId=item.id, includeGridData=True,
                                     fields=SHEET_FIELDS)
        elif kind == "doc":
            value = texts.single_tab(self.client.call("docs.documents.get", documentId=item.id,
                                                      includeTabsContent=True))
        else:
            value = self.client.call("slides.presentations.get", presentationId=item.id)
        return Kept(value, 2 * len(json.dumps(value)))

    def _render(self, place: Place, item: Item, value: Any) -> bytes:
        if place.kind == "blob":
            return bytes(value)
        if place.kind == "sheet":
            return texts.sheet_json(value)
        if place.kind == "tab":
            sheet = tab_names(value).get(place.tab)
            if sheet is None:
                raise service_error(errno.ENOENT, f"gdrive: there is no tab {place.tab} any more")
            return texts.tab_csv(sheet)
        if place.kind == "text":
            kind = office_kind(item.name, item.kind)
            assert kind is not None
            try:
                return _encode(office.to_markdown(kind, value))
            except ValueError as e:
                raise service_error(errno.EIO, f"gdrive: {item.name}: {e}") from None
        if place.kind in ("doc-text", "slides-text"):
            return _encode((texts.document_text if place.kind == "doc-text" else texts.slides_text)(value))
        return _encode(json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    @staticmethod
    def _meta(item: Item) -> bytes:
        return _encode(json.dumps(item.raw, ensure_ascii=False, indent=2) + "\n")

    def tabs(self, place: Place, content: bool = False) -> dict[str, Any]:
        """CSV files of a spreadsheet: from its content where that is kept, else only their names are asked for.

        content  one of them will be read: where nothing is known ask for all at once
        """
        item = place.item
        assert item is not None
        kept = self.store.peek(self.resource_key(place, item), f"/{item.id}/content", math.inf)
        if kept is not None:
            return tab_names(kept.value)

        def make(previous: Kept | None) -> Kept:
            found = self.client.call("sheets.spreadsheets.get", spreadsheetId=item.id, fields="sheets(properties)")
            return Kept(tab_names(found), 2000)
        key, at = ("tabs", item.id, item.version), f"/{item.id}/content"
        if content and self.store.peek(key, at, math.inf) is None:
            return tab_names(self._resource(place, item).value)
        tabs: dict[str, Any] = self.store.get(key, at, make, math.inf).value
        return tabs

    def read_many(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Contents in the order of the paths, several at a time."""
        results = blocking.map_ordered(self.read, paths, WIDTH)
        for path, result in zip(paths, results, strict=True):
            if isinstance(result, Exception) and not isinstance(result, OSError):
                raise result
            yield path, result

    # ---- for CLIs, search and description

    def path_if_known(self, id: str, folder: str, kind: str = "") -> str | None:
        """path_of for an item of a folder whose place is known without asking; None where it is not."""
        at = folder = "root" if folder == self.account.root else folder
        top = self.top().folder
        while at and at != top:
            at = self.account.parents.get(at, "")
        if not at:
            return None
        self.account.parents[id] = folder
        return self.path_of(id, kind)

    def search(self, path: str, query: Query) -> Candidates | None:
        """Candidates below a directory; None: read everything (mirage/mounts/gdrive/search.py)."""
        from mirage.mounts.gdrive.search import search
        return search(self, path, query)

    def estimate(self, path: str, action: str, queries: Sequence[Query] = ()) -> Cost:
        """What an action would cost (mirage/vfs/estimate.py)."""
        from mirage.mounts.gdrive.estimate import estimate
        return estimate(self, path, action, queries)

    def describe(self) -> Description:
        return Description(
            "Google Drive. Change it with the CLIs `gdrive`, `google-sheet`, `google-doc`.",
            [("<folder>/<Title>.gsheet.json", "spreadsheet; `<Title>.gsheet/<Tab>.csv` are its tabs"),
             ("<folder>/<Title>.gdoc.json", "document; `<Title>.md` is its text (`.gslide.json`: slides alike)"),
             ("<folder>/<name>", "other files as they are; PDF and office files also as `<name>.md`"),
             (f"{DRIVES}/<Drive>/", "shared drives")],
            [Format(".gsheet.json", SHEET_EXAMPLE)])

    def close(self) -> None:
        self.store.clear()
        self.client.close()

    def __repr__(self) -> str:
        return f"Drive({self.client.endpoint or 'www.googleapis.com'})"


def tab_names(spreadsheet: dict[str, Any]) -> dict[str, Any]:
    """CSV file name -> sheet, of those that have cells."""
    sheets = [s for s in spreadsheet.get("sheets", []) if s["properties"].get("sheetType", "GRID") == "GRID"]
    names = unique_names([(f"{s['properties']['title'] or 'untitled'}.csv", str(s["properties"]["sheetId"]))
                          for s in sheets])
    return dict(zip(names, sheets, strict=True))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
