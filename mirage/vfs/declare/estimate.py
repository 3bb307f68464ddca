"""What an action on a declared service would cost, from what its store keeps and the declaration says."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.vfs.declare.model import Directory, File, Listing
from mirage.vfs.declare.template import select
from mirage.vfs.estimate import Cost, Range, calls, unknown
from mirage.vfs.names import split_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.vfs.declare.model import Node
    from mirage.vfs.declare.mount import Declared, Place

FREE = calls(0, 0)
SOME = calls(0, None)
MOST = 5000                                                  # nodes of the tree that are looked at


def estimate(mount: Declared, path: str, action: str, queries: Sequence[Any] = ()) -> Cost:
    found = Estimate(mount)
    cost, node, place = found.way(path)
    if node is None:                                         # no such path, or one of a hook that nobody asked
        return cost if cost.calls.high is not None else Cost(cost.calls, Range(0, None))
    if action == "search" and mount.service.search is not None:
        both = cost.plus(found.below(node, place, True)).either(Cost(Range(cost.calls.low, None), Range(0, None)))
        return Cost(both.calls.maybe, both.bytes.maybe, Range(0, len(queries)))
    if action == "list":
        return cost.plus(found.listing(node, place)) if isinstance(node, Directory) else cost
    if action == "read":
        return cost.plus(found.content(node, place, path)) if isinstance(node, File) else cost
    if action in ("walk", "read_all", "search"):
        return cost.plus(found.below(node, place, action != "walk"))
    return cost


class Estimate:
    def __init__(self, mount: Declared) -> None:
        self.mount = mount
        self.left = MOST
        self.fetched = False                                 # the last name of the way was asked for by its id

    def way(self, path: str) -> tuple[Cost, Node | None, Place | None]:
        """(cost of finding the path, its node, its place where the items on the way are known)."""
        cost = FREE
        at: Place | None = self.mount._top
        current: Node = self.mount._root
        for name in path.strip("/").split("/") if path != "/" else ():
            if isinstance(current, File):
                return cost, None, None
            step, following, at = self._step(current, at, name)
            cost = cost.plus(step)
            if following is None:
                return cost, None, None
            current = following
        return cost, current, at

    def _step(self, parent: Directory, place: Place | None, name: str) -> tuple[Cost, Node | None, Place | None]:
        cost = FREE
        for index, node in enumerate(parent.children):
            listed = self._listed(place, index, node) if isinstance(node, Directory) and node.each is not None else None
            if listed is not None and name in listed:
                assert place is not None
                return cost, node, self.mount._place(place, node, name, listed[name], None)
        for index, node in enumerate(parent.children):
            for stem, rendering in _stems(node, name):
                self.fetched = False
                if node.each is None:
                    if node.name == stem:
                        found = None if place is None else self.mount._place(place, node, stem, True, rendering)
                        return cost, node, found
                    continue
                listed = self._listed(place, index, node)
                if listed is not None and stem in listed:
                    assert place is not None
                    return cost, node, self.mount._place(place, node, stem, listed[stem], rendering)
                if node.find is not None:
                    return cost.plus(SOME), node, None
                if listed is not None:
                    continue
                if self.mount._by_id(node):
                    if split_id(stem)[1]:
                        self.fetched = True
                        known = place is not None and self.mount.store.peek(
                            (f"{place.stem.rstrip('/')}/{stem}", "one", ""), place.stem, node.ttl) is not None
                        return cost.plus(calls(0, 1) if known else calls(1, 1)), node, None
                    continue
                return cost.plus(self._pages(node)), node, None
        return cost, None, None

    def _listed(self, place: Place | None, index: int, node: Node) -> dict[str, Any] | None:
        if place is None:
            return None
        kept = self.mount.store.peek((place.stem, index, "list"), place.stem, node.ttl)
        return kept.value if kept is not None else None

    @staticmethod
    def _pages(node: Node) -> Cost:
        if not isinstance(node.each, Listing):
            return SOME
        return calls(1, 1 if node.each.paging is None else None)

    def listing(self, node: Directory, place: Place | None) -> Cost:
        cost = FREE
        for index, child in enumerate(node.children):
            if child.each is not None and self._listed(place, index, child) is None:
                cost = cost.plus(self._pages(child))
        return cost

    def content(self, node: File, place: Place | None, path: str) -> Cost:
        size = Range(0, None)
        if place is not None and node.size and isinstance(known := select(node.size, place.scope.item), int):
            size = Range(0, known)
        if getattr(node, "pages", None) is not None:
            return Cost(Range(0, None), Range(0, None))
        source = node.content if node.content is not None else node.one
        if source is None or node.content is None and self.fetched:
            return Cost(Range(), size)
        if place is not None:
            kept = self.mount.store.peek(*self.mount._key(node, place.stem, place.scope, node.content is not None))
            if kept is not None:
                data = kept.rendered.get(place.rendering.suffix) if place.rendering is not None else None
                return Cost(Range(), Range(0, None) if data is None else Range(len(data), len(data)))
        if isinstance(source, Listing):
            return Cost(Range(1, 1 if source.paging is None else None), size)
        return Cost(Range(0, None) if callable(source) else Range(1, 1), size)

    def below(self, node: Node, place: Place | None, contents: bool) -> Cost:
        """Everything at and below a node."""
        self.left -= 1
        if isinstance(node, File):
            return self.content(node, place, "") if contents else FREE
        if place is None or self.left < 0:
            return unknown() if contents else SOME
        cost = FREE
        for index, child in enumerate(node.children):
            if child.each is None:
                items = {child.name: True}
            else:
                listed = self._listed(place, index, child)
                if listed is None:
                    pages = self._pages(child).calls
                    deeper = contents or isinstance(child, Directory)
                    cost = cost.plus(Cost(Range(pages.low, None if deeper else pages.high),
                                          Range(0, None if contents else 0)))
                    continue
                items = listed
            for stem, item in items.items():
                rendering = child.renderings[0] if isinstance(child, File) else None
                at = self.mount._place(place, child, stem, item, rendering)
                cost = cost.plus(self.below(child, at, contents))
                if contents and isinstance(child, File) and len(child.renderings) > 1:
                    cost = cost.plus(Cost(None, Range(0, None)))  # the same resource in another form
        return cost


def _renderings(node: Node) -> list[tuple[str, Any]]:
    return [(r.suffix, r) for r in node.renderings] if isinstance(node, File) else [("", None)]


def _stems(node: Node, name: str) -> list[tuple[str, Any]]:
    return [(name.removesuffix(suffix), rendering) for suffix, rendering in _renderings(node)
            if name.endswith(suffix) and name != suffix]

