"""What an action in Drive would cost, from what is known of it now; nothing is asked."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mirage.mounts.gdrive.account import DRIVES, LINKED
from mirage.mounts.gdrive.items import DIRECTORIES, SHORTCUT
from mirage.mounts.gdrive.mount import Place
from mirage.vfs.estimate import Cost, Range, calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.mounts.gdrive.items import Item
    from mirage.mounts.gdrive.mount import Drive

FREE = calls(0, 0)
PART = 1 << 18                                               # the smallest part that is read of a file
READING = ("read", "read_all", "search")


def estimate(mount: Drive, path: str, action: str, queries: Sequence[Any] = ()) -> Cost:
    if mount.root or path.startswith(f"/{LINKED}/"):
        return _open(0, action, queries)                     # where that is must be asked for as well
    parts = path.strip("/").split("/") if path != "/" else []
    if not parts and action == "stat":
        return FREE
    place = Place("dir", "root")
    for depth, name in enumerate(parts):
        if place.kind == "drives" or depth == 0 and name == DRIVES:
            known = mount.store.peek(("drives",), "/drives")
            if depth == 0:
                place = Place("drives")
                continue
            if known is None:
                return _open(1, action, queries)
            if name not in known.value:
                return FREE
            place = Place("dir", known.value[name])
        elif place.kind == "tabs":
            return _item(mount, Place("tab", item=place.item, tab=name), action)
        elif place.kind != "dir":
            return FREE
        else:
            listing = mount.store.peek(("list", place.folder), f"/{place.folder}/list")
            if listing is None:
                return _open(1, action, queries)
            if name not in listing.value:
                return FREE
            kind, item = listing.value[name]
            if item.kind == SHORTCUT:
                return _open(0, action, queries)
            place = Place(kind, item.id if kind == "dir" else "", item)
    return _directory(mount, place, action, queries) if place.kind in DIRECTORIES else _item(mount, place, action)


def _open(low: int, action: str, queries: Sequence[Any]) -> Cost:
    """At least so many calls; nobody knows how many more."""
    content = Range(0, None if action in READING else 0)
    return Cost(Range(low, None), content, Range(0, len(queries) if action == "search" else 0))


def _directory(mount: Drive, place: Place, action: str, queries: Sequence[Any]) -> Cost:
    if action in ("stat", "read"):
        return FREE
    if place.kind == "drives":
        known = mount.store.peek(("drives",), "/drives") is not None
        return (FREE if known else calls(1, None)) if action == "list" else _open(0 if known else 1, action, queries)
    if place.kind == "tabs":
        assert place.item is not None
        listed = calls(0, 0 if _known_tabs(mount, place.item) else 1)
        return listed if action in ("list", "walk") else listed.plus(_content(mount, "sheet", place.item))
    listing = mount.store.peek(("list", place.folder), f"/{place.folder}/list")
    if action == "list":
        if listing is None:
            return calls(1, None)
        links = any(item.kind == SHORTCUT for _, item in listing.value.values())
        return calls(0, None if links else 0)                # where they lead may be asked for
    return _open(0 if listing is not None else 1, action, queries)


def _known_tabs(mount: Drive, item: Item) -> bool:
    return any(mount.store.peek((kind, item.id, item.version), f"/{item.id}/content", math.inf) is not None
               for kind in ("sheet", "tabs"))


def _item(mount: Drive, place: Place, action: str) -> Cost:
    item = place.item
    assert item is not None
    tabs = calls(0, 0 if place.kind != "tab" or _known_tabs(mount, item) else 1)
    if action not in READING:
        return tabs
    if place.kind == "meta":
        return Cost(Range(), Range(0, None))
    return tabs.plus(_content(mount, mount.resource_key(place, item)[0], item))


def _content(mount: Drive, kind: str, item: Item) -> Cost:
    content = Range(0, item.size if kind == "blob" and item.size is not None else None)
    if mount.store.peek((kind, item.id, item.version), f"/{item.id}/content", math.inf) is not None or item.size == 0:
        return Cost(Range(), Range(0, None))
    most = 1 + (item.size or 0) // PART if kind == "blob" else 1
    return Cost(Range(0, most), content if kind == "blob" else Range(0, None))
