"""What is asked of Notion, and kept: pages, databases, blocks with what is inside, rows, and where a page belongs."""

from __future__ import annotations

import errno
import math
import threading
import time
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from mirage.mounts.notion.values import title_of
from mirage.vfs.declare.store import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mirage.vfs.declare import RestClient
    from mirage.vfs.declare.store import Store

    Object = dict[str, Any]

SIZE = 100                                                   # the most that Notion gives in a page
MISSING = (errno.ENOENT, errno.EINVAL)
SETTLED = 180.0                                              # seconds after an edit: Notion's times have no seconds
WHOLE = 600.0                                                # seconds until everything is listed again
FEW = 10                                                     # pages whose children are looked for one by one
CHILDREN = {"child_page": "page", "child_database": "database"}


class Content:
    """width  blocks of one page that are asked for at a time"""

    def __init__(self, client: RestClient, store: Store, width: int) -> None:
        self.client = client
        self.store = store
        self.width = width
        self._looked: set[str] = set()
        self._groups: tuple[dict[str, Object], dict[str, list[Object]]] = ({}, {})

    # ---- single objects

    def get(self, kind: str, id: str) -> Object:
        """A page, a database or a block. ENOENT where there is none, or only in the trash."""
        def make(previous: Kept | None) -> Kept:
            answer = self.client.send("GET", f"/v1/{kind}s/{id}")
            answer.value.pop("request_id", None)             # another one each time
            return Kept(answer.value, 2 * answer.size)
        found: Object = self.store.get((kind, id), f"/.{kind}s/{id}", make).value
        if found.get("archived") or found.get("in_trash"):
            raise OSError(errno.ENOENT, "in the trash")
        return found

    def find(self, kind: str, id: str) -> Object | None:
        try:
            return self.get(kind, id)
        except OSError as e:
            if e.errno in MISSING:
                return None
            raise

    def put(self, item: Object) -> None:
        """An object that came along with something else."""
        self.store.put((item["object"], item["id"]), Kept({k: v for k, v in item.items() if k != "request_id"}, 0))

    def owner(self, item: Object) -> str:
        """The page or database that an item is in, also inside of blocks; "" where nothing above can be seen."""
        parent = item["parent"]
        if parent["type"] == "block_id":
            return self._owner_of_block(parent["block_id"])
        return str(parent.get(parent["type"], "")) if parent["type"] in ("page_id", "database_id") else ""

    def _owner_of_block(self, id: str) -> str:
        def make(previous: Kept | None) -> Kept:
            block = self.find("block", id)
            if block is None:
                return Kept("", 0)
            return Kept(block["id"] if block["type"] in CHILDREN else self.owner(block), 0)
        return str(self.store.get(("owner", id), "/.owners", make, math.inf).value)

    # ---- blocks

    def blocks(self, page: Object) -> list[Object]:
        """The blocks of a page, what is inside them as `children`. Unchanged pages are not asked about again."""
        id, edited = page["id"], page["last_edited_time"]
        age = time.time() - datetime.fromisoformat(edited).timestamp()

        def make(previous: Kept | None) -> Kept:
            found, size = self._below(id)
            level = [block for block in found if _has_more(block)]
            while level:
                inside = parallel(lambda block: self._below(block["id"]), level, self.width)
                for block, result in zip(level, inside, strict=True):
                    if isinstance(result, OSError) and result.errno in MISSING and block["type"] == "synced_block":
                        result = ([], 0)                     # a copy of what we may not see
                    if isinstance(result, BaseException):
                        raise result
                    block["children"] = result[0]
                    size += result[1]
                level = [block for above in level for block in above["children"] if _has_more(block)]
            return Kept(found, 2 * size)
        blocks: list[Object] = self.store.get(("blocks", id, edited), f"/.blocks/{id}", make,
                                              math.inf if age > SETTLED else None).value
        return blocks

    def has_blocks(self, item: Object) -> bool:
        """Are the blocks of a page kept?"""
        return self.store.peek(("blocks", item["id"], item["edited"]), f"/.blocks/{item['id']}", math.inf) is not None

    def _below(self, id: str) -> tuple[list[Object], int]:
        found: list[Object] = []
        size, cursor = 0, None
        while True:
            query = {"page_size": str(SIZE), **({"start_cursor": cursor} if cursor else {})}
            answer = self.client.send("GET", f"/v1/blocks/{id}/children", query)
            found += answer.value["results"]
            size += answer.size
            cursor = answer.value["next_cursor"]
            if not cursor:
                return found, size

    # ---- rows

    def row_pages(self, id: str) -> Iterator[list[Object]]:
        """The rows of a database, oldest first, a page at a time."""
        cursor: str | None = ""
        while cursor is not None:
            make = partial(self._query, id, cursor)
            kept = self.store.get(("rows", id, cursor), f"/.rows/{id}/{cursor}", make)
            yield kept.value
            cursor = kept.validators

    def _query(self, id: str, cursor: str, previous: Kept | None) -> Kept:
        body: Object = {"page_size": SIZE, "sorts": [{"timestamp": "created_time", "direction": "ascending"}]}
        if cursor:
            body["start_cursor"] = cursor
        answer = self.client.send("POST", f"/v1/databases/{id}/query", body=body, safe=True)
        for row in answer.value["results"]:
            self.put(row)
        return Kept(answer.value["results"], 2 * answer.size, answer.value["next_cursor"] or None)

    def kept_rows(self, id: str) -> tuple[list[Kept], bool]:
        """The pages of rows that are kept, from the first one; are these all?"""
        pages: list[Kept] = []
        cursor: str | None = ""
        while cursor is not None:
            kept = self.store.peek(("rows", id, cursor), f"/.rows/{id}/{cursor}", math.inf)
            if kept is None:
                return pages, False
            pages.append(kept)
            cursor = kept.validators
        return pages, True

    def row_changed(self, id: str, row: Object) -> None:
        """A row that we made, changed or put into the trash."""
        pages, whole = self.kept_rows(id)
        gone = row.get("archived") or row.get("in_trash")
        for kept in pages:
            if any(old["id"] == row["id"] for old in kept.value):
                kept.value = [row if old["id"] == row["id"] else old for old in kept.value
                              if not gone or old["id"] != row["id"]]
                return
        if whole and pages:                                  # a new one is at the end
            cursor = pages[-2].validators if len(pages) > 1 else ""
            self.store.drop([f"/.rows/{id}/{cursor}"], below=False)

    # ---- everything that the integration sees

    def index(self) -> dict[str, Object]:
        """id -> item of every page and database. Asked again from the newest edit on, and whole after ten minutes."""
        def make(previous: Kept | None) -> Kept:
            now = time.monotonic()
            if previous is None or now - previous.validators > WHOLE:
                found = {item["id"]: item for item in self.search("")}
                return Kept(found, 300 * len(found), now)
            known: dict[str, Object] = previous.value
            newest = max((item["edited"] for item in known.values()), default="")
            newer = {item["id"]: item for item in self.search("", until=newest)}
            return Kept({**known, **newer}, 300 * len(known), previous.validators)
        items: dict[str, Object] = self.store.get(("index",), "/.index", make).value
        return items

    def search(self, query: str, until: str = "") -> list[Object]:
        """Items whose title has the words; `until`: none that was edited before."""
        found: list[Object] = []
        cursor = None
        while True:
            body: Object = {"page_size": SIZE, "sort": {"timestamp": "last_edited_time", "direction": "descending"}}
            body.update({"query": query} if query else {}, **({"start_cursor": cursor} if cursor else {}))
            answer = self.client.send("POST", "/v1/search", body=body, safe=True).value
            found += [as_item(result) for result in answer["results"]]
            cursor = answer["next_cursor"]
            if not cursor or until and found[-1]["edited"] < until:
                return [item for item in found if item["edited"] >= until]

    def peek_index(self) -> dict[str, Object] | None:
        kept = self.store.peek(("index",), "/.index")
        return kept.value if kept is not None else None

    def index_changed(self, item: Object) -> None:
        """We made, changed or removed a page or database."""
        kept = self.store.peek(("index",), "/.index", math.inf)
        if kept is not None:
            rest = {id: old for id, old in kept.value.items() if id != item["id"]}
            gone = item.get("archived") or item.get("in_trash")
            kept.value = rest if gone else {**rest, item["id"]: as_item(item)}

    def by_owner(self) -> dict[str, list[Object]]:
        """Items by what they are in; "" has what stands at the top."""
        items = self.index()
        if self._groups[0] is items:
            return self._groups[1]
        blocks = [item for item in items.values() if item["parent"]["type"] == "block_id"]
        for result in parallel(self.owner, blocks, self.width):
            if isinstance(result, BaseException):
                raise result
        groups: dict[str, list[Object]] = {}
        for item in items.values():
            owner = self.owner(item)
            groups.setdefault(owner if owner in items else "", []).append(item)
        self._groups = (items, groups)
        return groups

    def inside(self, page: Object) -> list[Object]:
        """The pages and databases in a page: by the list of everything where that is there, else by its blocks."""
        if self.peek_index() is None and (page["id"] in self._looked or len(self._looked) < FEW):
            self._looked.add(page["id"])
            blocks = self.blocks(self.get("page", page["id"]))
            return [_child(block) for block in _flat(blocks) if block["type"] in CHILDREN]
        return self.by_owner().get(page["id"], [])


def as_item(found: Object) -> Object:
    """What names and listings need of a page or database."""
    return {"id": found["id"], "hex": found["id"].replace("-", ""), "object": found["object"], "title": title_of(found),
            "edited": found["last_edited_time"], "parent": found["parent"]}


def _child(block: Object) -> Object:
    kind = block["type"]
    return {"id": block["id"], "hex": block["id"].replace("-", ""), "object": CHILDREN[kind],
            "title": block[kind]["title"], "edited": block["last_edited_time"], "parent": block["parent"]}


def _has_more(block: Object) -> bool:
    return bool(block.get("has_children")) and block["type"] not in CHILDREN


def _flat(blocks: list[Object]) -> Iterator[Object]:
    for block in blocks:
        yield block
        yield from _flat(block.get("children", []))


def parallel(function: Callable[[Any], Any], items: Sequence[Any], width: int) -> list[Any]:
    """function(item) of each on threads of its own: it is called from the pool, whose threads could all be waiting."""
    results: list[Any] = [None] * len(items)
    turn = iter(enumerate(items))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                number, item = next(turn, (-1, None))
            if number < 0:
                return
            try:
                results[number] = function(item)
            except Exception as e:
                results[number] = e
    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(width, len(items)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
