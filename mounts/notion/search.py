"""What `grep -r` can ask of Notion. Its search knows titles only, so it never finds all that matches: below `bound`
unread pages everything is read; above, pages whose title has the words, and what is kept; the note counts the rest.
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mirage.process import blocking
from mirage.vfs.names import with_id
from mirage.vfs.search import Candidates, left_out

if TYPE_CHECKING:
    from mirage.mounts.notion.tree import Notion
    from mirage.vfs.search import Query

WORD = re.compile(r"[^\W_]{2,}")


def search(mount: Notion, path: str, query: Query) -> Candidates | None:
    """Candidates below a directory; None: read everything."""
    mode = query.mode if query.mode != "auto" else mount.mode
    words = [w for literal in query.literals for w in WORD.findall(literal)]
    if mode == "exact" or not words:
        return None
    place = mount.find(path)
    if path.endswith("/rows") or "page" in place.scope.values and "database" in place.scope.values:
        top = "" if path == "/" else place.scope.values["database"]["id"]
    else:
        top = next((place.scope.values[key]["id"] for key in ("database", "page") if key in place.scope.values), "")
    base = path.removesuffix("/rows") if path != "/" else ""
    items = blocking.call(_below, mount, top, base)
    names = query.names or (lambda name: True)
    unread = [(where, item) for where, item in items if not mount.content.has_blocks(item)]
    wants_pages = names("page.json") or names("page.md")
    if mode == "auto" and (len(unread) <= mount.bound or not wants_pages):
        return None
    found = {item["id"] for item in blocking.call(mount.content.search, " ".join(words))}
    paths, skipped = [], 0
    for where, item in items:
        files = ("page.json", "page.md") if item["object"] == "page" else ("database.json", "rows.jsonl", "rows.csv")
        wanted = [f"{where}/{name}" for name in files if names(name)]
        cheap = mount.content.has_blocks(item) if item["object"] == "page" else mount.content.kept_rows(item["id"])[1]
        if cheap or item["id"] in found:
            paths += wanted
        else:
            skipped += bool(wanted)
    mount.counters.add(searches=1, candidates=len(paths))
    return Candidates(sorted(paths, key=_in_walk), not skipped, skipped, left_out(skipped, "in titles only"))


def _in_walk(path: str) -> list[tuple[bool, str]]:
    """The order of a walk: the files of a directory stand before what is below."""
    *above, name = path.split("/")
    return [*((True, part) for part in above), (False, name)]


def _below(mount: Notion, top: str, base: str) -> list[tuple[str, Any]]:
    """(directory, item) of everything below a page or database, itself included."""
    groups = mount.content.by_owner()
    items = mount.content.index()
    found: list[tuple[str, Any]] = [(base, items[top])] if top in items else []
    todo = [(base, top)]
    while todo:
        where, owner = todo.pop()
        inside = f"{where}/rows" if items.get(owner, {}).get("object") == "database" else where
        for item in groups.get(owner, []):
            path = f"{inside}/{with_id(item['title'], item['hex'])}"
            found.append((path, item))
            todo.append((path, item["id"]))
    return found
