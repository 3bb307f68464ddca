"""The tree of Notion as a declaration: pages in pages, databases with their rows."""
from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

from mirage.mounts.notion.content import Content, as_item
from mirage.mounts.notion.markdown import page_markdown
from mirage.mounts.notion.values import as_text, title_of
from mirage.vfs.declare import Declared, Directory, File, Rendering, RestClient, Scope, Service
from mirage.vfs.names import split_id, with_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mirage.vfs.secrets import Secret

    Item = dict[str, Any]

VERSION = "2022-06-28"
MODES = ("exact", "service", "auto")
HEX = re.compile(r"[0-9a-f]{32}")
PAGE = """\
{"object": "page", "id": "...", "last_edited_time": "2026-09-30T16:00:00.000Z", "properties": {...},
 "blocks": [{"type": "paragraph", "paragraph": {"rich_text": [...]}, "children": [...]}]}
"""
ROW = '{"object": "page", "id": "...", "properties": {"Rate": {"type": "number", "number": 15.0}, "Name": {...}}}\n'


class Notion(Declared):
    """What one integration sees, read-only; changes are made with the CLI `notion`.

    token     Secret of the integration
    endpoint  another server (a simulator)
    roots     ids of pages and databases, separated by commas: only these, found without listing everything
    search    "exact", "service" or "auto": what `grep -r` does
    rate      requests a second; Notion allows 3 on the average; 0: no limit
    ttl       seconds until things are asked for again;  cache: bytes to keep
    bound     so many unread pages are read rather than searched
    """

    client: RestClient

    def __init__(self, token: Secret | None = None, endpoint: str = "", roots: str = "", search: str = "auto",
                 rate: float = 3.0, ttl: float = 30.0, cache: int = 128 << 20, bound: int = 500) -> None:
        if search not in MODES:
            raise ValueError(f"notion: search must be one of {', '.join(MODES)}, not {search!r}")
        if token is None:
            raise ValueError("notion needs a token")
        self.roots = [id.strip().replace("-", "") for id in roots.split(",") if id.strip()]
        if not all(HEX.fullmatch(id) for id in self.roots):
            raise ValueError("notion: roots must be ids of 32 hexadecimal digits")
        service = self._service()
        super().__init__(service, RestClient(service, token, endpoint, rate), ttl=ttl, cache=cache)
        self.mode = search
        self.bound = bound
        self.content = Content(self.client, self.store, service.width)
        self.paths: dict[str, str] = {}                      # id -> directory, of what was looked at

    def _service(self) -> Service:
        from mirage.mounts.notion.search import search

        page = [
            File(
                name="page",
                content=self._whole,
                modified="page.edited",
                about="a page with its blocks",
                renderings=[
                    Rendering(
                        suffix=".json",
                        example=PAGE,
                        note="`page.md` is the same to read; child pages are directories beside it.",
                    ),
                    Rendering(suffix=".md", format="text", render=lambda whole, scope: page_markdown(whole)),
                ],
            )
        ]
        database = [
            File(name="database", content=lambda scope: self.content.get("database", scope["database"]["id"]),
                 modified="database.edited", renderings=[Rendering(suffix=".json")]),
            File(name="rows", pages=self._rows, about="its rows; `head` is cheap", renderings=[
                Rendering(suffix=".jsonl", format="jsonl", example=ROW, note="`rows.csv` has the values only.")]),
            File(name="rows", pages=self._rows, renderings=[Rendering(suffix=".csv", format="text", render=self._csv)])]

        def directory(each: Callable[[Scope], Any], kind: str, about: str = "") -> Directory:
            return Directory(
                name="{title}",
                each=each,
                find=lambda scope, name: self._find(scope, kind, name),
                id="hex",
                unique="always",
                as_=kind,
                modified="edited",
                about=about,
            )
        pages = directory(lambda scope: self._inside(scope, "page"), "page", "a page; pages in it are below")
        tables = directory(lambda scope: self._inside(scope, "database"), "database", "a database")
        rows = directory(self._row_items, "page")
        service = Service(name="notion", summary="Notion. Change it with the `notion` CLI.", base_url="https://api.notion.com",
                          headers={"Notion-Version": VERSION}, rate=3.0, width=6, error="message", search=search,
                          tree=[pages, tables])
        pages.children += [*page, pages, tables]
        rows.children += [*page, pages, tables]
        tables.children += [*database, Directory(name="rows", children=[rows])]
        return service

    # ---- directories

    def _inside(self, scope: Scope, kind: str) -> list[Item]:
        if "page" in scope.values:
            found = self.content.inside(scope["page"])
        elif self.roots:
            found = [item for id in self.roots if (item := self._root_item(id)) is not None]
        else:
            found = self.content.by_owner().get("", [])
        return self._seen(scope.path, [item for item in found if item["object"] == kind])

    def _root_item(self, id: str) -> Item | None:
        found = self.content.find("page", dashed(id)) or self.content.find("database", dashed(id))
        return as_item(found) if found is not None else None

    def _row_items(self, scope: Scope) -> list[Item]:
        rows = self.content.row_pages(scope["database"]["id"])
        return self._seen(scope.path, [as_item(row) for page in rows for row in page])

    def _seen(self, path: str, items: list[Item]) -> list[Item]:
        for item in items:
            self.paths[item["id"]] = f"{path.rstrip('/')}/{with_id(item['title'], item['hex'])}"
        return items

    def _find(self, scope: Scope, kind: str, name: str) -> Item | None:
        """The page or database of a name, if it is where it is looked for."""
        title, id = split_id(name)
        if not title or not HEX.fullmatch(id):
            return None
        item = (self.content.peek_index() or {}).get(dashed(id))
        if item is None:
            found = self.content.find(kind, dashed(id))
            item = as_item(found) if found is not None else None
        if (
            item is None
            or item["object"] != kind
            or with_id(item["title"], id) != name
            or not self._belongs(scope, item)
        ):
            return None
        return self._seen(scope.path, [item])[0]

    def _belongs(self, scope: Scope, found: Item) -> bool:
        owner = self.content.owner(found)
        values = scope.values
        if scope.path.endswith("/rows") and "database" in values:
            return bool(owner == values["database"]["id"])
        if "page" in values:
            return bool(owner == values["page"]["id"])
        if self.roots:
            return found["id"].replace("-", "") in self.roots
        known = self.content.peek_index()
        if not owner or known is not None:
            return not owner or owner not in (known or {})
        return self.content.find("page", owner) is None and self.content.find("database", owner) is None

    # ---- content

    def _whole(self, scope: Scope) -> Item:
        page = self.content.get("page", scope["page"]["id"])
        return {**page, "blocks": self.content.blocks(page)}

    def _rows(self, scope: Scope) -> Iterator[list[Item]]:
        return self.content.row_pages(scope["database"]["id"])

    def _csv(self, page: list[Item] | None, scope: Scope) -> str:
        """Lines of a page of rows; the header for None."""
        columns = list(self.content.get("database", scope["database"]["id"])["properties"])
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        if page is None:
            writer.writerow(["id", *columns])
        for row in page or []:
            values = row["properties"]
            writer.writerow([row["id"], *(as_text(values[name]) if name in values else "" for name in columns)])
        return out.getvalue()

    # ---- after changes of ours

    def changed(self, item: Item) -> None:
        """A page or database that we made or changed, as Notion answered: its place is fresh with the next command."""
        content, parent = self.content, item["parent"]
        owner = content.owner(item)
        self.edited(item["id"])
        self.edited(owner)
        content.put(item)
        content.index_changed(item)
        if parent["type"] == "database_id":
            content.row_changed(parent["database_id"], item)
        if item["id"] in self.paths or not owner:
            self.store.drop([self.paths.get(item["id"], "/").rpartition("/")[0] or "/"], below=False)

    def edited(self, id: str) -> None:
        """The blocks of a page were changed, or what is listed in it."""
        places = [f"/.blocks/{id}", f"/.pages/{id}", f"/.databases/{id}"]
        path = self.paths.get(id)
        self.store.drop(
            places + ([path, f"{path}/page", f"{path}/database", f"{path}/rows"] if path else []), below=False
        )

    def path_of(self, item: Item) -> str | None:
        """Where a page or database is, if its parent was looked at."""
        owner = self.content.owner(item)
        above = self.paths.get(owner, "" if not owner else None)
        if above is None:
            return None
        rows = "/rows" if item["parent"]["type"] == "database_id" else ""
        return f"{above}{rows}/{with_id(title_of(item), item['id'].replace('-', ''))}"

    def __repr__(self) -> str:
        return f"Notion({self.client.base})"


def dashed(hex: str) -> str:
    """An id as Notion writes it."""
    return f"{hex[:8]}-{hex[8:12]}-{hex[12:16]}-{hex[16:20]}-{hex[20:]}"
