"""The state behind the simulated Notion: users, pages, databases, blocks, comments. Thread-safe."""
from __future__ import annotations

import pickle
import re
import threading
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mirage.bench.services.notion.query import arrange, predicate
from mirage.bench.services.notion.values import (
    NotionError,
    empty_value,
    invalid,
    plain,
    property_value,
    rich_text,
)

if TYPE_CHECKING:
    from mirage.bench.services.clock import Clock

    Object = dict[str, Any]

SPACE = uuid.UUID("6f9619ff-8b86-d011-b42d-00cf4fc964ff")
WORD = re.compile(r"\w+")
TEXTS = ("paragraph", "heading_1", "heading_2", "heading_3", "bulleted_list_item", "numbered_list_item", "to_do",
         "toggle", "quote", "callout", "code", "template")
OTHERS = ("divider", "equation", "image", "video", "file", "pdf", "bookmark", "embed", "table", "table_row",
          "column_list", "column", "synced_block", "table_of_contents", "breadcrumb", "link_to_page", "audio")
STATIC = ("object", "id", "type", "archived", "in_trash", "parent", "created_time", "last_edited_time", "created_by",
          "last_edited_by", "has_children")


class Workspace:
    """me  the bot of the token;  index_lag: seconds until an object is found by search"""

    def __init__(self, clock: Clock, index_lag: float = 0.0, seed: int = 1) -> None:
        self.clock = clock
        self.index_lag = index_lag
        self.seed = seed
        self.lock = threading.RLock()
        self.count = 0
        self.me: Object = {}
        self.users: dict[str, Object] = {}
        self.pages: dict[str, Object] = {}
        self.databases: dict[str, Object] = {}
        self.blocks: dict[str, Object] = {}
        self.children: dict[str, list[str]] = {}             # of a page, block or database (rows), in order
        self.comments: list[Object] = []
        self.hidden: set[str] = set()                        # pages that were not shared with the integration
        self.created: dict[str, float] = {}

    # ---- ids and times

    def new_id(self) -> str:
        with self.lock:
            self.count += 1
            return str(uuid.uuid5(SPACE, f"{self.seed}/{self.count}"))

    def stamp(self, at: float | None = None) -> str:
        """Notion's times have no seconds."""
        when = datetime.fromtimestamp(self.clock.now() if at is None else at, UTC)
        return when.strftime("%Y-%m-%dT%H:%M:00.000Z")

    def _base(self, kind: str, id: str, parent: Object, at: float | None, by: str) -> Object:
        when = self.clock.now() if at is None else at
        self.created[id] = when
        who = {"object": "user", "id": by or self.me["id"]}
        return {"object": kind, "id": id, "created_time": self.stamp(when), "last_edited_time": self.stamp(when),
                "created_by": who, "last_edited_by": dict(who), "parent": parent, "archived": False, "in_trash": False}

    def _touch(self, item: Object) -> None:
        """An object, and the page that it is in, were edited."""
        item["last_edited_time"] = self.stamp()
        item["last_edited_by"] = {"object": "user", "id": self.me["id"]}
        parent = item["parent"]
        if item["object"] == "block" and parent["type"] in ("page_id", "block_id"):
            above = self.pages.get(parent[parent["type"]]) or self.blocks.get(parent[parent["type"]])
            if above is not None:
                self._touch(above)

    # ---- filling

    def add_user(self, name: str, email: str = "", bot: bool = False) -> Object:
        id = self.new_id()
        more = {"type": "bot", "bot": {"owner": {"type": "workspace", "workspace": True},
                                       "workspace_name": "Norrsken Instruments"}} if bot \
            else {"type": "person", "person": {"email": email}}
        self.users[id] = {"object": "user", "id": id, "name": name, "avatar_url": None, **more}
        return self.users[id]

    def add_page(self, parent: Object, properties: Object, children: list[Object] | None = None,
                 at: float | None = None, by: str = "", icon: Any = None, cover: Any = None) -> Object:
        """A page below a page, a block or a database (a row), or of the workspace."""
        with self.lock:
            id = self.new_id()
            page = {**self._base("page", id, parent, at, by), "icon": icon, "cover": cover, "properties": properties,
                    "url": f"https://www.notion.so/{id.replace('-', '')}", "public_url": None}
            self.pages[id] = page
            self.children[id] = []
            above = parent[parent["type"]] if parent["type"] != "workspace" else None
            if above is not None:
                self.children[above].append(id)
                owner = self.pages.get(above) or self.blocks.get(above)
                if at is None and owner is not None:
                    self._touch(owner)
            self.append(id, children or [], at=at, by=by)
            return page

    def add_database(self, parent: Object, title: list[Object], schema: Object, at: float | None = None,
                     by: str = "", description: list[Object] | None = None) -> Object:
        with self.lock:
            id = self.new_id()
            database = {**self._base("database", id, parent, at, by), "icon": None, "cover": None, "title": title,
                        "description": description or [], "is_inline": False, "properties": {},
                        "url": f"https://www.notion.so/{id.replace('-', '')}", "public_url": None}
            self.databases[id] = database
            self.children[id] = []
            self._declare(database, schema)
            if parent["type"] != "workspace":
                self.children[parent[parent["type"]]].append(id)
                owner = self.pages.get(parent[parent["type"]]) or self.blocks.get(parent[parent["type"]])
                if at is None and owner is not None:
                    self._touch(owner)
            return database

    def _declare(self, database: Object, schema: Object) -> None:
        """Add, rename and remove properties of a database."""
        known = database["properties"]
        for name, given in schema.items():
            key = next((n for n, p in known.items() if name in (n, p["id"])), None)
            if given is None:
                known.pop(key or name, None)
                continue
            kind = given.get("type") or next((k for k in given if k not in ("name", "id", "description")), "")
            if key is not None and given.get("name"):
                known[given["name"]] = {**known.pop(key), "name": given["name"]}
                continue
            if not kind:
                raise invalid(f"body failed validation: body.properties.{name} should have a type.")
            about = dict(given.get(kind) or {})
            for option in about.get("options", []):
                option.setdefault("id", self.new_id()[:4])
                option.setdefault("color", "default")
            id = "title" if kind == "title" else self.new_id()[:4]
            known[name] = {"id": id, "name": name, "type": kind, kind: about}
        if sum(p["type"] == "title" for p in known.values()) != 1:
            raise invalid("Title is not provided: a database has exactly one title property.")

    # ---- looking

    def page(self, id: str) -> Object:
        found = self.pages.get(_uuid(id))
        if found is None or found["id"] in self.hidden:
            if _uuid(id) in self.databases and _uuid(id) not in self.hidden:
                raise invalid(
                    f"Provided ID {_uuid(id)} is a database, not a page. Use the retrieve database API instead."
                )
            raise self._missing("page", id)
        return found

    def database(self, id: str) -> Object:
        found = self.databases.get(_uuid(id))
        if found is None or found["id"] in self.hidden:
            if _uuid(id) in self.pages and _uuid(id) not in self.hidden:
                raise invalid(f"Provided ID {_uuid(id)} is a page, not a database. Use the retrieve page API instead.")
            raise self._missing("database", id)
        return found

    @staticmethod
    def _missing(kind: str, id: str) -> NotionError:
        return NotionError(404, "object_not_found", f"Could not find {kind} with ID: {_uuid(id)}. Make sure the "
                           "relevant pages and databases are shared with your integration.")

    def block(self, id: str) -> Object:
        """A block; pages and databases are blocks of their parents."""
        id = _uuid(id)
        if id in self.hidden:
            raise self._missing("block", id)
        if id in self.blocks:
            return {**self.blocks[id], "has_children": bool(self.children.get(id))}
        for kind, found in (("child_page", self.pages.get(id)), ("child_database", self.databases.get(id))):
            if found is not None:
                shown = {k: found[k] for k in STATIC if k in found}
                has = kind == "child_page" and bool(self.children.get(id))
                return {**shown, "object": "block", "has_children": has, "type": kind, kind: {"title": title_of(found)}}
        raise self._missing("block", id)

    def listed(self, id: str) -> list[Object]:
        """The blocks of a page or block."""
        self.block(id)
        if _uuid(id) in self.databases:
            return []
        return [self.block(child) for child in self.children.get(_uuid(id), ()) if child not in self.hidden]

    def rows(self, id: str, filter: Any = None, sorts: Any = None) -> list[Object]:
        database = self.database(id)
        with self.lock:
            found = [self.pages[child] for child in self.children[database["id"]]]
        if filter:
            keep = predicate(filter, database["properties"])
            found = [page for page in found if keep(page)]
        return arrange(found, sorts, database["properties"])

    def search(self, query: str, kind: str = "", ascending: bool = False) -> list[Object]:
        """Pages and databases that have every word of the query in their title, newest edit first."""
        words = [w.casefold() for w in WORD.findall(query)]
        newest = self.clock.now() - self.index_lag
        found = []
        with self.lock:
            items = [*self.pages.values(), *self.databases.values()]
        for item in items:
            if item["archived"] or item["id"] in self.hidden or kind and item["object"] != kind:
                continue
            if self.index_lag and self.created[item["id"]] > newest:
                continue
            if words and not set(words) <= {w.casefold() for w in WORD.findall(title_of(item))}:
                continue
            found.append(item)
        found.sort(key=lambda item: item["last_edited_time"], reverse=not ascending)
        return found

    # ---- changes

    def append(self, id: str, children: list[Object], after: str = "", at: float | None = None,
               by: str = "") -> list[Object]:
        """New blocks at the end of a page or block, or after one of its blocks."""
        with self.lock:
            made = [
                self._new_block(_uuid(id), child, f"body.children[{n}]", at, by) for n, child in enumerate(children)
            ]
            order = self.children.setdefault(_uuid(id), [])
            if after and _uuid(after) not in order:
                raise invalid("Block to append children after does not belong to the parent.")
            where = order.index(_uuid(after)) + 1 if after else len(order)
            order[where:where] = [block["id"] for block in made]
            owner = self.pages.get(_uuid(id)) or self.blocks.get(_uuid(id))
            if made and at is None and owner is not None:
                self._touch(owner)
            return [self.block(block["id"]) for block in made]

    def _new_block(self, parent: str, given: Any, where: str, at: float | None, by: str) -> Object:
        if not isinstance(given, dict):
            raise invalid(f"body failed validation: {where} should be an object, instead was `{given!r}`.")
        kind = given.get("type") or next((k for k in given if k not in STATIC), "")
        if kind not in (*TEXTS, *OTHERS):
            raise invalid(f"body failed validation: {where}.type should be a known block type, "
                          f"instead was `{kind or 'undefined'}`.")
        if kind not in given:
            raise invalid(f"body failed validation: {where}.{kind} should be defined, instead was `undefined`.")
        content = dict(given[kind])
        nested = content.pop("children", None) or given.get("children") or []
        if kind in TEXTS:
            content["rich_text"] = rich_text(content.get("rich_text"), f"{where}.{kind}.rich_text")
            if kind not in ("code", "template"):
                content.setdefault("color", "default")
        if kind == "to_do":
            content.setdefault("checked", False)
        if kind == "table_row":
            content["cells"] = [rich_text(cell, f"{where}.cells") for cell in content.get("cells", [])]
        id = self.new_id()
        above = (
            {"type": "page_id", "page_id": parent} if parent in self.pages else {"type": "block_id", "block_id": parent}
        )
        block = {**self._base("block", id, above, at, by), "has_children": False, "type": kind, kind: content}
        self.blocks[id] = block
        if nested:
            self.append(id, nested, at=at or self.created[id], by=by)
        return block

    def update_block(self, id: str, changes: Object) -> Object:
        with self.lock:
            self.block(id)
            id = _uuid(id)
            if "archived" in changes or "in_trash" in changes:
                self.trash(id, bool(changes.get("archived", changes.get("in_trash"))))
                return self.block(id)
            block = self.blocks.get(id)
            if block is None:
                raise invalid("Update of this block type is not supported: use the page or database API.")
            if block["archived"]:
                raise invalid("Can't edit block that is archived. You must unarchive the block before editing.")
            given = changes.get(block["type"])
            if not isinstance(given, dict):
                raise invalid(
                    f"body failed validation: body.{block['type']} should be defined, instead was `undefined`."
                )
            content = block[block["type"]]
            if "rich_text" in given:
                content["rich_text"] = rich_text(given["rich_text"], f"body.{block['type']}.rich_text")
            content.update({k: v for k, v in given.items() if k not in ("rich_text", "children")})
            self._touch(block)
            return self.block(id)

    def trash(self, id: str, gone: bool = True) -> None:
        """Into the trash, or out of it again."""
        with self.lock:
            item = self.blocks.get(id) or self.pages.get(id) or self.databases[id]
            parent = item["parent"]
            order = self.children.get(parent.get(parent["type"]), []) if parent["type"] != "workspace" else []
            if gone and id in order:
                order.remove(id)
            elif not gone and item["archived"]:
                order.append(id)
            item["archived"] = item["in_trash"] = gone
            self._touch(item)
            owner = self.pages.get(parent.get(parent["type"])) or self.blocks.get(parent.get(parent["type"]))
            if owner is not None:
                self._touch(owner)

    def create_page(self, given: Object) -> Object:
        parent = given.get("parent")
        if not isinstance(parent, dict) or not ("page_id" in parent or "database_id" in parent):
            raise invalid("body failed validation: body.parent.page_id should be defined, instead was `undefined`.")
        kind = "database_id" if "database_id" in parent else "page_id"
        owner = self.database(parent[kind]) if kind == "database_id" else self.page(parent[kind])
        if owner["archived"]:
            raise invalid("Can't edit a page that is archived. You must unarchive the page before editing.")
        schema = owner["properties"] if kind == "database_id" else {"title": {"id": "title", "type": "title"}}
        values = {} if kind == "page_id" else {name: empty_value(p) for name, p in schema.items()}
        values.update(self._values(given.get("properties") or {}, schema, kind == "page_id"))
        if kind == "page_id":
            values.setdefault("title", {"id": "title", "type": "title", "title": []})
        return self.add_page({"type": kind, kind: owner["id"]}, values, given.get("children"), icon=given.get("icon"),
                             cover=given.get("cover"))

    def _values(self, given: Object, schema: Object, loose: bool) -> Object:
        values = {}
        for name, value in given.items():
            key = next((n for n, p in schema.items() if name in (n, p["id"])), None)
            if key is None:
                raise invalid(f"{name} is not a property that exists.")
            if loose and isinstance(value, list):
                value = {"title": value}
            values[key] = property_value(name, schema[key], value, self.users, lambda: self.new_id()[:4])
        return values

    def update_page(self, id: str, given: Object) -> Object:
        with self.lock:
            page = self.page(id)
            gone = given.get("archived", given.get("in_trash"))
            if page["archived"] and gone is not False:
                raise invalid("Can't edit a page that is archived. You must unarchive the page before editing.")
            if gone is not None and bool(gone) != page["archived"]:
                self.trash(page["id"], bool(gone))
            parent = page["parent"]
            loose = parent["type"] != "database_id"
            schema = (
                {"title": {"id": "title", "type": "title"}}
                if loose
                else self.databases[parent["database_id"]]["properties"]
            )
            page["properties"].update(self._values(given.get("properties") or {}, schema, loose))
            page.update({key: given[key] for key in ("icon", "cover") if key in given})
            self._touch(page)
            return page

    def update_database(self, id: str, given: Object) -> Object:
        with self.lock:
            database = self.database(id)
            for key in ("title", "description"):
                if key in given:
                    database[key] = rich_text(given[key], f"body.{key}")
            self._declare(database, given.get("properties") or {})
            for row in self.children[database["id"]]:
                values = self.pages[row]["properties"]
                known = {p["id"]: (name, p) for name, p in database["properties"].items()}
                kept = {known[v["id"]][0]: v for v in values.values() if v["id"] in known}
                self.pages[row]["properties"] = {
                    name: kept.get(name) or empty_value(p) for name, p in database["properties"].items()
                }
            if given.get("archived") or given.get("in_trash"):
                self.trash(database["id"])
            self._touch(database)
            return database

    def comment(self, given: Object) -> Object:
        parent, discussion = given.get("parent") or {}, given.get("discussion_id")
        if discussion:
            first = next((c for c in self.comments if c["discussion_id"] == discussion), None)
            if first is None:
                raise self._missing("discussion", discussion)
            parent = first["parent"]
        else:
            parent = {"type": "page_id", "page_id": self.page(str(parent.get("page_id", "")))["id"]}
        id = self.new_id()
        base = self._base("comment", id, parent, None, "")
        comment = {
            key: base[key] for key in ("object", "id", "parent", "created_time", "last_edited_time", "created_by")
        }
        comment.update(
            discussion_id=discussion or self.new_id(), rich_text=rich_text(given.get("rich_text"), "body.rich_text")
        )
        self.comments.append(comment)
        return comment

    # ---- comparing

    def state(self) -> dict[str, Any]:
        """Every page, database, block and comment by its id, without times."""
        with self.lock:
            items = {**self.pages, **self.databases, **self.blocks, **{c["id"]: c for c in self.comments}}
            return {
                id: {
                    "object": o["object"],
                    "title": title_of(o),
                    "parent": o["parent"],
                    "archived": o.get("archived", False),
                    "content": pickle.dumps(
                        [o.get(k) for k in ("properties", "rich_text", "description", o.get("type", ""))]
                    ),
                }
                for id, o in items.items()
            }

    def snapshot(self) -> Any:
        with self.lock:
            kept = {k: v for k, v in vars(self).items() if k not in ("lock", "clock")}
            return pickle.dumps(kept)

    def restore(self, snapshot: Any) -> None:
        with self.lock:
            vars(self).update(pickle.loads(snapshot))


def title_of(item: Object) -> str:
    if item["object"] == "database":
        return plain(item["title"])
    values = item.get("properties", {}).values()
    return plain(next((v["title"] for v in values if v["type"] == "title"), []))


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except (ValueError, AttributeError, TypeError):
        raise invalid(
            f"path failed validation: path.id should be a valid uuid, instead was `{json_text(text)}`."
        ) from None


def json_text(value: Any) -> str:
    import json
    return json.dumps(value)
