"""The mount that executes a declaration: paths to nodes, listings to names, resources to files."""
from __future__ import annotations

import errno
import json
import math
import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mirage.process import blocking
from mirage.vfs.declare.model import Directory, Fetch, File, Listing, Scope
from mirage.vfs.declare.pages import PagesHandle, read_range
from mirage.vfs.declare.store import Kept, Store
from mirage.vfs.declare.template import as_text, fill, fill_body, fill_path, holes, select
from mirage.vfs.describe import Description, Format
from mirage.vfs.handles import RangeHandle
from mirage.vfs.names import safe_name, split_id
from mirage.vfs.service import service_error
from mirage.vfs.types import S_IFDIR, S_IFREG, Capabilities, Entry, Stat, enoent, error, new_device

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mirage.vfs.declare.client import Answer, RestClient
    from mirage.vfs.declare.model import Node, Rendering, Service
    from mirage.vfs.estimate import Cost
    from mirage.vfs.search import Candidates, Query

    Entries = list[Entry]
    Items = dict[str, Any]

MISSING = (errno.ENOENT, errno.EINVAL)


class Place:
    """What a path names: a directory, or one rendering of a file. `stem` is the path without the rendering's suffix."""

    __slots__ = ("node", "rendering", "scope", "stem")

    def __init__(self, node: Directory | File, stem: str, scope: Scope, rendering: Rendering | None = None) -> None:
        self.node = node
        self.stem = stem
        self.scope = scope
        self.rendering = rendering


class Page:
    """One page of a listing, and what asks whether it changed."""

    __slots__ = ("etag", "items", "next", "size")

    def __init__(self, items: list[Any], etag: str, next: Any, size: int) -> None:
        self.items = items
        self.etag = etag
        self.next = next
        self.size = size


class Declared:
    """A service as files, read-only.

    client  sends requests: RestClient, or anything with its `send`, `counters` and `close`
    ttl     seconds until what is kept is asked for again (with its ETag, where the service gives one)
    cache   bytes to keep;  width: files that are fetched at a time
    """

    def __init__(self, service: Service, client: RestClient | Any, *, ttl: float | None = None, cache: int = 64 << 20,
                 width: int | None = None) -> None:
        self.service = service
        self.client: Any = client
        self.counters = client.counters
        self.store = Store(cache, service.ttl if ttl is None else ttl)
        self.width = width or service.width
        self.device = new_device()
        self.point = f"/{service.name}"
        self._made = time.time_ns()
        self._root = Directory(name="", children=service.tree)
        self.capabilities = Capabilities("read_many", "describe", *(("search",) if service.search else ()),
                                         *(("open",) if _has_pages(self._root, []) else ()))
        self._top = Place(self._root, "/", Scope(self, "/", {}))

    def mounted_at(self, point: str) -> None:
        self.point = point

    # ---- from paths to nodes

    def find(self, path: str) -> Place:
        """ENOENT or ENOTDIR where there is no such object."""
        place = self._top
        for name in path.strip("/").split("/") if path != "/" else ():
            if isinstance(place.node, File):
                raise error(errno.ENOTDIR, path)
            found = self._child(place, name)
            if found is None:
                raise enoent(path)
            place = found
        return place

    def _child(self, parent: Place, name: str) -> Place | None:
        assert isinstance(parent.node, Directory)
        for index, node in enumerate(parent.node.children):
            if isinstance(node, Directory) and node.each is not None:
                listed = self.store.peek((parent.stem, index, "list"), parent.stem, node.ttl)
                if listed is not None and name in listed.value:
                    return self._place(parent, node, name, listed.value[name])
        for index, node in enumerate(parent.node.children):
            if isinstance(node, Directory):
                item = self._named(parent, index, node, name)
                if item is not None:
                    return self._place(parent, node, name, item)
                continue
            for rendering in node.renderings:
                stem = name.removesuffix(rendering.suffix)
                if not stem or not name.endswith(rendering.suffix):
                    continue
                item = self._named(parent, index, node, stem)
                if item is not None:
                    return self._place(parent, node, stem, item, rendering)
        return None

    def _place(self, parent: Place, node: Node, stem: str, item: Any, rendering: Rendering | None = None) -> Place:
        path = _join(parent.stem, stem)
        values = parent.scope.values
        if node.each is not None and node.as_:
            values = {**values, node.as_: item}
        return Place(node, path, Scope(self, path, values, item), rendering)

    def _named(self, parent: Place, index: int, node: Node, name: str) -> Any:
        """The item of a name; True for a fixed node; None where there is none."""
        if node.each is None:
            return True if node.name == name else None
        path = parent.stem
        listed = self.store.peek((path, index, "list"), path, node.ttl)
        if listed is not None and name in listed.value:
            return listed.value[name]
        if node.find is not None:
            if node.ttl == 0:
                return node.find(parent.scope, name)
            key = (path, index, "find", name)
            return self.store.get(key, path, lambda _: self._ask(node, parent, name), node.ttl).value
        if listed is None:
            if self._by_id(node):
                id = split_id(name)[1]
                if not id:
                    return None
                item = self._one(node, parent, _join(path, name), id)
                return item if item is not None and self._is_here(node, parent, item, name) else None
        return self._items(parent, index, node).get(name)

    @staticmethod
    def _by_id(node: Node) -> bool:
        """Can an item be found by its id alone, and is it certain that it belongs where it is looked for?"""
        listing = node.each
        if not isinstance(listing, Listing) or node.one is None or node.unique != "always" \
                or not node.id.isidentifier():
            return False
        return bool(node.within) or not any(holes(str(text)) for text in (listing.path, *listing.query.values()))

    def _is_here(self, node: Node, parent: Place, item: Any, name: str) -> bool:
        values = parent.scope.context
        return self._stem(node, parent, item) == name and all(
            select(mine, item) == select(theirs, values) for mine, theirs in node.within.items())

    @staticmethod
    def _ask(node: Node, parent: Place, name: str) -> Kept:
        assert node.find is not None
        item = node.find(parent.scope, name)
        return Kept(item, len(str(item)) if item is not None else 0)

    def _one(self, node: Node, parent: Place, path: str, id: str) -> Any:
        """One item by its id, None where the service knows none; it is the content of a file as well."""
        assert node.one is not None
        scope = Scope(self, path, parent.scope.values, {node.id: id})
        try:
            return self._fetched(node, node.one, path, scope, "one").value
        except OSError as e:
            if e.errno in MISSING:
                return None
            raise

    # ---- listings

    def _items(self, parent: Place, index: int, node: Node) -> Items:
        """name (without suffix) -> item, in the order of the service."""
        path = parent.stem
        if node.ttl == 0 and node.each is not None and not isinstance(node.each, Listing):
            return self._names(node, parent, node.each(parent.scope))

        def make(previous: Kept | None) -> Kept:
            if isinstance(node.each, Listing):
                kept = self.fetch_listing(node.each, parent.scope.context, previous)
                items, size, validators = kept.value, kept.size, kept.validators
            else:
                assert node.each is not None
                items = list(node.each(parent.scope))
                size, validators = sum(len(str(item)) for item in items), None
            return Kept(self._names(node, parent, items), size, validators)

        found: Items = self.store.get((path, index, "list"), path, make, node.ttl).value
        return found

    def _stem(self, node: Node, parent: Place, item: Any) -> str:
        values = parent.scope.values
        title = fill(node.name, Scope(self, "", values, item).context)
        if node.unique == "always":
            return f"{safe_name(title)}__{safe_name(as_text(select(node.id, item)))}"
        return safe_name(title)

    def _names(self, node: Node, parent: Place, items: Iterable[Any]) -> Items:
        """Names of items: `__<id>` on all that collide, letter case ignored, or on all; an id counts once."""
        assert isinstance(parent.node, Directory)
        pairs: list[tuple[str, str, Any]] = []
        seen: set[str] = set()
        count: dict[str, int] = {}
        for item in items:
            id = as_text(select(node.id, item))
            if id and id in seen:
                continue
            seen.add(id)
            stem = self._stem(node, parent, item)
            pairs.append((stem, safe_name(id) if id else "", item))
            count[stem.casefold()] = count.get(stem.casefold(), 0) + 1
        fixed = {n.name.casefold() for n in parent.node.children if n.each is None}
        whole = isinstance(node, File) and all(not r.suffix for r in node.renderings)
        names: Items = {}
        for stem, id, item in pairs:
            if node.unique == "collision" and (count[stem.casefold()] > 1 or stem.casefold() in fixed):
                stem = _insert(stem, id, whole)
            names.setdefault(stem, item)
        return names

    def fetch_listing(self, listing: Listing, context: Any, previous: Kept | None = None) -> Kept:
        """All items, page by page. Pages that are unchanged by their ETag come from `previous`."""
        known: dict[Any, Page] = previous.validators or {} if previous is not None else {}
        query = {key: fill(str(value), context) for key, value in listing.query.items()}
        path = self._url(listing, context)
        body = fill_body(listing.body, context)
        paging = listing.paging
        given: dict[str, Any] = {}
        if paging is not None and paging.size_parameter:
            given[paging.size_parameter] = paging.size
        if paging is not None and paging.kind in ("page", "offset"):
            given[paging.parameter] = paging.first if paging.kind == "page" else 0
        pages: dict[Any, Page] = {}
        items: list[Any] = []
        while True:
            if body is None:
                query.update({key: str(value) for key, value in given.items()})
            else:
                body = {**body, **given}
            key = (path, tuple(sorted(query.items())), json.dumps(body))
            if key in pages:
                raise self._error(f"the pages of {listing.path} go round in a circle")
            old = known.get(key)
            answer = self.client.send(listing.method, path, query, etag=old.etag if old is not None else "", body=body,
                                      safe=True)
            page = old if old is not None and answer.status == 304 else self._page(listing, answer)
            pages[key] = page
            items += page.items
            following = self._following(listing, page, len(pages), len(items))
            if following is None:
                break
            if paging is not None and len(pages) >= paging.most:
                raise self._error(f"more than {paging.most} pages in {listing.path}", errno.EFBIG)
            if paging is not None and paging.kind == "link":
                path, query = str(following), {}             # a whole address; parameters may stand in it twice
            elif paging is not None:
                given[paging.parameter] = following
        return Kept(items, sum(page.size for page in pages.values()), {k: p for k, p in pages.items() if p.etag})

    def _page(self, listing: Listing, answer: Answer) -> Page:
        items = select(listing.items, answer.value)
        if not isinstance(items, list):
            raise self._error(f"the answer to {listing.path} has no list at {listing.items!r}")
        paging = listing.paging
        following: Any = None
        if paging is not None and paging.kind == "link":
            following = answer.next
        elif paging is not None:
            following = select(paging.next, answer.value) if paging.next else ...
        return Page(items, answer.etag, following, answer.size)

    @staticmethod
    def _following(listing: Listing, page: Page, number: int, count: int) -> Any:
        """Where the next page is, or None."""
        paging = listing.paging
        if paging is None or not page.next:
            return None
        if paging.kind in ("cursor", "link"):
            return page.next
        if not page.items or (page.next is ... and paging.size and len(page.items) < paging.size):
            return None
        return paging.first + number if paging.kind == "page" else count

    # ---- looking

    def list(self, path: str) -> Entries:
        place = self.find(path)
        if isinstance(place.node, File):
            raise error(errno.ENOTDIR, path)
        entries: dict[str, Entry] = {}
        for index, node in enumerate(place.node.children):
            found = self._items(place, index, node) if node.each is not None else {node.name: True}
            for stem, item in found.items():
                for rendering in [r for r in node.renderings if r.listed] if isinstance(node, File) else (None,):
                    name = stem + (rendering.suffix if rendering is not None else "")
                    entries.setdefault(name, Entry(name, self._stat(self._place(place, node, stem, item, rendering))))
        return sorted(entries.values(), key=lambda entry: entry.name)

    def stat(self, path: str) -> Stat:
        return self._stat(self.find(path))

    def _stat(self, place: Place) -> Stat:
        node, subject = place.node, _subject(place.node, place.scope)
        mtime = _time(select(node.modified, subject)) if node.modified else None
        when = self._made if mtime is None else mtime
        if isinstance(node, Directory):
            return Stat(S_IFDIR | 0o555, 4096, when, nlink=2)
        version = as_text(select(node.version, subject)) if node.version else ""
        return Stat(S_IFREG | 0o444, self._size(place, node), when, version=version or None)

    def _size(self, place: Place, node: File) -> int | None:
        if node.pages is not None:
            return None
        if node.content is None and node.one is None:
            return len(self._content(place))
        if node.size:
            size = select(node.size, place.scope.item)
            return size if isinstance(size, int) else None
        kept = self.store.peek(*self._key(node, place.stem, place.scope, node.content is not None))
        assert place.rendering is not None
        data = kept.rendered.get(place.rendering.suffix) if kept is not None else None
        return len(data) if data is not None else None

    # ---- content

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        place = self.find(path)
        if isinstance(place.node, Directory):
            raise error(errno.EISDIR, path)
        if place.node.pages is not None:
            return read_range(self._pages(place), offset, length)
        data = self._content(place)
        return data[offset:] if length is None else data[offset:offset + length]

    def open(self, path: str, flags: int, mode: int = 0) -> PagesHandle | RangeHandle:
        """For files that come in pages; the others are read as a whole."""
        if flags & os.O_ACCMODE != os.O_RDONLY or flags & os.O_TRUNC:
            raise error(errno.EROFS, path)
        place = self.find(path)
        if isinstance(place.node, Directory):
            raise error(errno.EISDIR, path)
        if place.node.pages is None:
            return RangeHandle(self, path, self._stat(place))
        return PagesHandle(lambda: self._pages(place), self._stat(place))

    def _pages(self, place: Place) -> Iterator[bytes]:
        node, rendering = place.node, place.rendering
        assert isinstance(node, File) and node.pages is not None and rendering is not None
        if rendering.render is not None:
            yield self._render(rendering, None, place.scope)
        for page in blocking_pages(node.pages(place.scope)):
            yield self._render(rendering, page, place.scope)

    def _content(self, place: Place) -> bytes:
        node, rendering = place.node, place.rendering
        assert isinstance(node, File) and rendering is not None
        source = node.content if node.content is not None else node.one
        if source is None:
            return self._render(rendering, place.scope.item, place.scope)
        kept = self._fetched(node, source, place.stem, place.scope, "content" if node.content is not None else "one")
        data = kept.rendered.get(rendering.suffix)
        if data is None:
            data = self._render(rendering, kept.value, place.scope)
            kept.rendered[rendering.suffix] = data
        return data

    def _key(self, node: Node, path: str, scope: Scope, content: bool) -> tuple[Any, str, float | None]:
        """(key, path, ttl) of a resource. As long as the listing shows the same version nobody asks again.

        What is known of a directory itself does not become stale with its listing: it belongs to a place below it.
        """
        version = as_text(select(node.version, _subject(node, scope))) if content and node.version else ""
        place = path if isinstance(node, File) else f"{path}/."
        return (path, "content" if content else "one", version), place, math.inf if version else node.ttl

    def _fetched(self, node: Node, source: Any, path: str, scope: Scope, kind: str) -> Kept:
        """The resource of a file ("content"), or what is found by its id ("one")."""
        raw = kind == "content" and isinstance(node, File) and node.renderings[0].format == "bytes"
        size = select(node.size, scope.item) if isinstance(node, File) and node.size and raw else None
        key, at, ttl = self._key(node, path, scope, kind == "content")

        def make(previous: Kept | None) -> Kept:
            if isinstance(source, Listing):
                return self.fetch_listing(source, scope.context, previous)
            if isinstance(source, Fetch):
                etag = previous.validators if previous is not None else ""
                query = {key: fill(str(value), scope.context) for key, value in source.query.items()}
                answer = self.client.send(source.method, self._url(source, scope.context), query, etag=etag or "",
                                          raw=raw, body=fill_body(source.body, scope.context), safe=True,
                                          length=size if isinstance(size, int) else None)
                if previous is not None and answer.status == 304:
                    return previous
                return Kept(answer.value if raw else self._value(source, answer), 2 * answer.size, answer.etag)
            value = source(scope)
            return Kept(value, 2 * len(value if isinstance(value, bytes) else str(value)))
        return self.store.get(key, at, make, ttl)

    def _value(self, fetch: Fetch, answer: Answer) -> Any:
        value = select(fetch.value, answer.value)
        if value is None:
            raise self._error(f"the answer to {fetch.path} has nothing at {fetch.value!r}")
        return value

    def _url(self, fetch: Fetch, context: Any) -> str:
        try:
            return fill_path(fetch.path, context)
        except LookupError as e:
            raise self._error(str(e)) from None

    def _error(self, text: str, number: int = errno.EIO) -> OSError:
        return service_error(number, f"{self.service.name}: {text}")

    def _render(self, rendering: Rendering, value: Any, scope: Scope) -> bytes:
        if rendering.render is not None:
            made = rendering.render(value, scope)
            return made if isinstance(made, bytes) else _encode(made)
        if rendering.format == "bytes":
            return bytes(value)
        if rendering.format == "text":
            values = value if isinstance(value, list) else [value]
            return _encode("".join(fill(rendering.template, Scope(self, "", scope.values, v).context) for v in values))
        if rendering.format == "jsonl":
            values = value if isinstance(value, list) else [value]
            return _encode("".join(json.dumps(v, ensure_ascii=False) + "\n" for v in values))
        return _encode(json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    def read_many(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Contents in the order of the paths, several at a time."""
        results = blocking.map_ordered(self.read, paths, self.width)
        for path, result in zip(paths, results, strict=True):
            if isinstance(result, Exception) and not isinstance(result, OSError):
                raise result
            yield path, result

    # ---- for hooks and CLIs

    def items(self, path: str) -> Items:
        """name (without suffix) -> item of the nodes that a directory lists."""
        place = self.find(path)
        found: Items = {}
        if isinstance(place.node, Directory):
            for index, node in enumerate(place.node.children):
                found.update(self._items(place, index, node) if node.each is not None else {})
        return found

    def fetch(self, path: str, query: dict[str, Any] | None = None) -> Any:
        """The answer of a GET."""
        return self.client.send("GET", path, {k: str(v) for k, v in (query or {}).items()}).value

    def stale(self, paths: Iterable[str], below: bool = True) -> None:
        """These places of the mount were changed: what is kept of them (and of what is below) is asked for again."""
        self.store.drop(paths, below)

    def search(self, path: str, query: Query) -> Candidates | None:
        found: Candidates | None = self.service.search(self, path, query) if self.service.search else None
        return found

    def estimate(self, path: str, action: str, queries: Sequence[Query] = ()) -> Cost:
        """What an action would cost, without a request (mirage/vfs/estimate.py)."""
        from mirage.vfs.declare.estimate import estimate
        return estimate(self, path, action, queries)

    def backend(self, path: str) -> tuple[str, str]:
        """The account and the path: rules about one mount of an account hold for another."""
        account = getattr(self.client, "account", None)
        return f"{self.service.name}:{account or self.device}", path

    def describe(self) -> Description:
        paths: list[tuple[str, str]] = []
        formats: dict[str, Format] = {}
        _describe(self._root, "", paths, formats, [])
        return Description(self.service.summary, paths, list(formats.values()))

    def close(self) -> None:
        self.store.clear()
        self.client.close()

    def __repr__(self) -> str:
        return f"Declared({self.service.name})"


def blocking_pages(pages: Iterable[list[Any]]) -> Iterator[list[Any]]:
    """Each page is waited for so that other processes go on."""
    turn = iter(pages)
    while (page := blocking.call(next, turn, None)) is not None:
        yield page


def _has_pages(node: Directory, seen: list[Directory]) -> bool:
    """Is a file below that comes in pages? A directory may be among its own descendants."""
    if any(node is other for other in seen):
        return False
    seen.append(node)
    return any(_has_pages(child, seen) if isinstance(child, Directory) else child.pages is not None
               for child in node.children)


def _describe(node: Directory, prefix: str, paths: list[tuple[str, str]], formats: dict[str, Format],
              seen: list[Directory]) -> None:
    """`seen`: directories that are described already, of which some may be among their own descendants."""
    known = {id(directory) for directory in seen}
    seen += [child for child in node.children if isinstance(child, Directory)]
    for child in node.children:
        if id(child) in known:
            continue
        name = child.name
        if child.each is not None:
            for hole in holes(name):
                name = name.replace(f"{{{hole}}}", f"<{hole}>")
            name += "__<id>" if child.unique == "always" else ""
        if isinstance(child, Directory):
            if child.about:
                paths.append((f"{prefix}{name}/", child.about))
            _describe(child, f"{prefix}{name}/", paths, formats, seen)
            continue
        if child.about:
            paths.append((prefix + name + " ".join(r.suffix for r in child.renderings[:1]), child.about))
        for rendering in child.renderings:
            if rendering.example:
                label = rendering.suffix if child.each is not None else name + rendering.suffix
                formats.setdefault(label, Format(label, rendering.example, rendering.language, rendering.note))


def _subject(node: Node, scope: Scope) -> Any:
    """What the expressions of a node are about: its item, or the ancestors where it has none."""
    return scope.item if node.each is not None else scope.context


def _join(directory: str, name: str) -> str:
    return f"{directory.rstrip('/')}/{name}"


def _insert(stem: str, id: str, whole: bool) -> str:
    """The name with `__<id>`, before the extension where the name is a whole file name."""
    if not id:
        return stem
    name, dot, extension = stem.rpartition(".")
    return f"{name}__{id}.{extension}" if whole and dot and name and len(extension) < 12 else f"{stem}__{id}"


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _time(value: Any) -> int | None:
    """Nanoseconds since the epoch of ISO 8601 or of seconds (a number or its text)."""
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            when = datetime.fromisoformat(value)
            if when.tzinfo is None:
                when = when.replace(tzinfo=UTC)
            return int(when.timestamp() * 1000) * 10**6
        return int(float(value) * 1000) * 10**6
    except (ValueError, TypeError, OverflowError):
        return None
