"""What is known of one account: folders, items, shared drives; asked for when needed, kept for the mount's `ttl`.

Every method may wait for the service, through mirage.process.blocking.
"""
from __future__ import annotations

import errno
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from mirage.mounts.gdrive.items import FIELDS, Item, names_of
from mirage.process import blocking
from mirage.vfs.declare.store import Kept
from mirage.vfs.names import unique_names
from mirage.vfs.service import service_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mirage.mounts.google.client import GoogleClient
    from mirage.vfs.declare.store import Store

    Named = dict[str, tuple[str, Item]]

PAGE = 1000
DRIVES, LINKED = ".shared", ".linked"
SEARCHED = "/.searched"                                      # where the store keeps what searches asked for
ALL: dict[str, Any] = {"supportsAllDrives": True, "includeItemsFromAllDrives": True}
AHEAD = 40                                                   # folders in one question while somebody walks
PAUSE = 5.0                                                  # seconds after which it is a walk no more


class Account:
    """`store` keeps what the service said; places in it begin with the id of a folder or file."""

    def __init__(self, client: GoogleClient, store: Store) -> None:
        self.client = client
        self.store = store
        self.parents: dict[str, str] = {}                    # id -> folder, of what was listed
        self.root = ""                                       # the id of My Drive, once known
        self._width = 1                                      # folders to ask for at once
        self._last = ("", -1e9)                              # folder and time of the last question

    def call(self, method: str, **parameters: Any) -> Any:
        """The answer of a method that only reads."""
        return blocking.call(partial(self.client.call, method, **parameters))

    def pages(self, method: str, key: str, **parameters: Any) -> list[Any]:
        """All items of a listing."""
        return blocking.call(partial(self.client.pages, method, key, **parameters))

    def files(self, q: str, fields: str = FIELDS, **parameters: Any) -> list[dict[str, Any]]:
        """Every file resource that a query finds."""
        return self.pages("drive.files.list", "files", q=q, pageSize=PAGE, **ALL, **parameters,
                          fields=f"nextPageToken,incompleteSearch,files({fields})")

    # ---- folders

    def folder(self, id: str) -> Named:
        """name -> (kind, item) of what is in a folder."""
        named: Named = self.store.get(("list", id), f"/{id}/list", lambda _: self._list(id)).value
        return named

    def _list(self, id: str) -> Kept:
        others = self._following(id)
        if others:
            found = self._together([id, *others])
            if found is not None:
                return found
        return self._listing(id, self.files(f"'{id}' in parents and trashed = false"))

    def _listing(self, id: str, found: list[dict[str, Any]]) -> Kept:
        items = [Item(raw) for raw in found]
        for item in items:
            self.parents[item.id] = id
        if id == "root" and items:
            self.root = items[0].parent
        return Kept(names_of(items, (DRIVES, LINKED) if id == "root" else ()), 1500 * len(items))

    def _together(self, ids: list[str]) -> Kept | None:
        """Several folders in one call: the first one's listing. None where the answer has more than a page."""
        mark = self.store.mark()
        q = " or ".join(f"'{id}' in parents" for id in ids)
        try:
            answer = self.call("drive.files.list", q=f"({q}) and trashed = false", pageSize=PAGE, **ALL,
                               fields=f"nextPageToken,files({FIELDS})")
        except OSError as e:
            if e.errno not in (errno.ENOENT, errno.EACCES):
                raise
            answer = {"nextPageToken": "a folder is gone"}
        if answer.get("nextPageToken"):
            self._width = 1
            return None
        below: dict[str, list[dict[str, Any]]] = {id: [] for id in ids}
        for raw in answer.get("files", ()):
            for parent in raw.get("parents", ()):
                if parent in below:
                    below[parent].append(raw)
        for id in ids[1:]:
            self.store.put(("list", id), self._listing(id, below[id]), mark)
        return self._listing(ids[0], below[ids[0]])

    def _following(self, id: str) -> list[str]:
        """Folders that a walk will list after this one, if it looks like a walk: twice as many each time."""
        last, at = self._last
        now = time.monotonic()
        self._last = (id, now)
        parent = self.parents.get(id)
        if parent is None or now - at > PAUSE:
            self._width = 1
            return []
        if parent != last:                                   # beside the last one, not in it
            self._width = min(2 * self._width, AHEAD)
        found: list[str] = []
        while parent is not None and len(found) < self._width - 1:
            kept = self.store.peek(("list", parent), f"/{parent}/list")
            if kept is None:
                break
            folders = [item.id for _, (kind, item) in sorted(kept.value.items()) if kind == "dir" and not item.target]
            place = folders.index(id) if id in folders else 0
            found += [each for each in (*folders[place + 1:], *folders[:place])
                      if self.store.peek(("list", each), f"/{each}/list") is None]
            id, parent = parent, self.parents.get(parent)
        return found[:self._width - 1]

    # ---- items and drives

    def item(self, id: str) -> Item:
        """One item by its id. Raises OSError where there is none, also in the trash."""
        def make(previous: Kept | None) -> Kept:
            raw = self.call("drive.files.get", fileId=id, fields=FIELDS, supportsAllDrives=True)
            return Kept(Item(raw), 1500)
        item: Item = self.store.get(("item", id), f"/{id}/item", make).value
        if item.raw.get("trashed"):
            raise service_error(errno.ENOENT, "gdrive: the file is in the trash")
        return item

    def drives(self) -> dict[str, str]:
        """name -> id of the shared drives."""
        def make(previous: Kept | None) -> Kept:
            found = self.pages("drive.drives.list", "drives", pageSize=100, fields="nextPageToken,drives(id,name)")
            names = unique_names([(drive["name"], drive["id"]) for drive in found])
            return Kept(dict(zip(names, (drive["id"] for drive in found), strict=True)), 100 * len(found))
        drives: dict[str, str] = self.store.get(("drives",), "/drives", make).value
        return drives

    def my_drive(self) -> str:
        """The id of My Drive's root folder."""
        if not self.root:
            self.root = self.call("drive.files.get", fileId="root", fields="id")["id"]
        return self.root

    def chain(self, id: str, top: str, whole: bool) -> list[str] | None:
        """The ids from a root down to an item, the root's first; None where the item is not in the tree.

        top    the folder at the top of the tree;  whole: shared drives are in the tree as well
        """
        chain = [id]
        while len(chain) < 200:
            parent = self.parents.get(chain[0]) or self._parent(chain[0], first=len(chain) == 1)
            if parent is None:
                return [top, *chain[1:]] if top == "root" and chain[0] == self.my_drive() else None
            if parent == chain[0]:                           # a shared drive
                return chain if whole else None
            if parent == top or top == "root" and parent == self.my_drive():
                return [top, *chain]
            chain.insert(0, parent)
        return None

    def _parent(self, id: str, first: bool) -> str | None:
        """The folder of an item, itself for a shared drive; None at the end. Folders above may be invisible."""
        try:
            item = self.item(id)
        except OSError as e:
            if first or e.errno not in (errno.ENOENT, errno.EACCES):
                raise
            return None
        return item.parent or (id if item.raw.get("driveId") == id else None)

    # ---- changes

    def changed(self, *ids: str, inside: Iterable[str] = ()) -> None:
        """Items were changed: they, and the listings that show them, are asked for again.

        inside  folders in which something came or went
        """
        folders = {*inside, *(self.parents[id] for id in ids if id in self.parents)}
        if self.root in folders:
            folders.add("root")
        self.store.drop([*(f"/{id}" for id in ids), *(f"/{folder}/list" for folder in folders), SEARCHED])
        self._last = ("", -1e9)

