"""Search by Drive's index of words. The answer is a superset of what matches, or says what was left out.

What `fullText contains` finds for a whole word: the name, and the text of documents, slides, PDF, office and text
files. A word in our files may come from elsewhere: keys and constants of the resources, formulas, names of types. The
types that Drive may not index, files that are too large or too new, and spreadsheets where their JSON would be read
(formulas are not indexed), are candidates in any case.
"""
from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from mirage.mounts.gdrive.account import ALL, DRIVES, PAGE, SEARCHED
from mirage.mounts.gdrive.items import DOC, FOLDER, SHEET, SHORTCUT, SLIDES, Item, office_kind, possible_names
from mirage.mounts.gdrive.mount import Place
from mirage.mounts.gdrive.office import KINDS
from mirage.process import blocking
from mirage.vfs.declare.store import Kept
from mirage.vfs.search import Candidates, left_out

if TYPE_CHECKING:
    from mirage.mounts.gdrive.mount import Drive
    from mirage.vfs.search import Query

    Wanted = dict[str, tuple[Item, tuple[str, ...]]]         # id -> the item, and the kinds of its files

TOKEN = re.compile(r"\w+")
PLAIN = re.compile(r"[^\W\d_]{3,}")
LAST_LETTER = 0x52F                                          # Latin, Greek, Cyrillic: scripts with spaces
INDEXED = ("text/plain", "text/csv", "text/markdown", "text/html", *(mime for mime, _ in KINDS.values()))
LARGE = 1 << 20                                              # bytes of a text; of larger ones only a part is indexed
BYTES = 64 << 20                                             # read at most because the index may not know them
OFFICE_TYPES = tuple(mime for mime, _ in KINDS.values())
ANY: tuple[str, ...] = ()                                    # all files of an item
WIDTH = 6
FILES = f"trashed = false and mimeType != '{FOLDER}'"
SOME = "id,name,mimeType,size,parents,modifiedTime,shortcutDetails(targetId,targetMimeType)"
WORDS = """true false null page tab image http https www com org net google docs drive spreadsheets
document presentation user content googleusercontent
kix arial calibri roboto courier new times roman verdana georgia consolas slide text br"""


def search(mount: Drive, path: str, query: Query) -> Candidates | None:
    """Candidates below a directory; None: read everything."""
    mode = query.mode if query.mode != "auto" else mount.mode
    place = mount.find(path)
    if mode == "exact" or place.kind not in ("dir", "drives"):
        return None
    words = list(dict.fromkeys(w.casefold() for literal in query.literals for w in TOKEN.findall(literal)))
    found = _Search(mount, path, place, query)
    if query.whole_words:
        terms = [w for w in words if is_plain(w)]
        return found.whole(terms) if terms else None
    terms = [w for w in words if PLAIN.fullmatch(w)]
    if not terms:
        return None
    return found.some(terms, None if mode == "service" else mount.bound)


def is_plain(word: str) -> bool:
    """Does the word occur in our files only where the service's index has it?"""
    return bool(PLAIN.fullmatch(word)) and ord(max(word)) <= LAST_LETTER and word not in constants()


@cache
def constants() -> frozenset[str]:
    """Words of keys, constants and types in the resources, from the APIs' own descriptions."""
    from mirage.mounts.google.client import VERSIONS
    from mirage.mounts.google.transport import read_document
    found = set(WORDS.split())

    def collect(schema: dict[str, Any]) -> None:
        for key, inner in schema.get("properties", {}).items():
            found.update(w.casefold() for w in TOKEN.findall(key))
            collect(inner)
        for value in schema.get("enum", ()):
            found.add(value.casefold())
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                collect(schema[key])
    for api in ("docs", "sheets", "slides"):
        for schema in read_document(api, VERSIONS[api])["schemas"].values():
            collect(schema)
    return frozenset(found)


def quoted(text: str) -> str:
    """A text in a query of files.list."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class _Search:
    def __init__(self, mount: Drive, path: str, place: Place, query: Query) -> None:
        self.mount = mount
        self.path = path
        self.query = query
        self.everywhere = path == "/" and not mount.root
        self.partial = False                                 # did the service leave something out?
        self.parameters = self._corpora(place)
        self.folders = self._folders(place)

    def _corpora(self, place: Place) -> dict[str, Any]:
        """Where to search: everything, one shared drive, or what the user has."""
        if self.everywhere or place.kind == "drives":
            return {"corpora": "allDrives"}
        if not self.mount.root and self.path.startswith(f"/{DRIVES}/"):
            return {"corpora": "drive", "driveId": self.mount.account.drives()[self.path.split("/")[2]]}
        return {"corpora": "user"}

    def _folders(self, top: Place) -> dict[str, str]:
        """id -> parent of every folder below the operand; the first ones have the parent ""."""
        if top.kind == "drives":
            tops = list(self.mount.account.drives().values())
        else:
            tops = [top.folder, *(self.mount.account.drives().values() if self.everywhere else ())]
        if top.folder == "root":
            tops.append(self.mount.account.my_drive())
        below: dict[str, list[str]] = {}
        for raw in self._kept(f"mimeType = '{FOLDER}' and trashed = false", "id,parents"):
            for parent in raw.get("parents", ()):
                below.setdefault(parent, []).append(raw["id"])
        found = dict.fromkeys(tops, "")
        todo = list(tops)
        while todo:
            at = todo.pop()
            for id in below.get(at, ()):
                if id not in found:
                    found[id] = at
                    todo.append(id)
        return found

    # ---- asking

    def _kept(self, q: str, fields: str, about: str = "") -> list[dict[str, Any]]:
        """What a query finds; asked for again after the mount's `ttl`, or a change of ours."""
        def make(previous: Kept | None) -> Kept:
            before, self.partial = self.partial, False
            found = self._files(q, fields)
            kept = Kept(found, 300 * len(found), self.partial)
            self.partial = before
            return kept
        kept = self.mount.store.get(("search", about or q, *self.parameters.values()), SEARCHED, make)
        self.partial = self.partial or bool(kept.validators)
        found: list[dict[str, Any]] = kept.value
        return found

    def _files(self, q: str, fields: str) -> list[dict[str, Any]]:
        """What a query finds now; `partial` tells whether the service looked everywhere."""
        def seen(answer: dict[str, Any]) -> None:
            self.partial = self.partial or bool(answer.get("incompleteSearch"))
        return self.mount.account.files(q, fields, seen=seen, **self.parameters)

    def _below(self, found: list[dict[str, Any]]) -> list[Item]:
        """Files below the operand."""
        return [item for item in map(Item, found) if item.parent in self.folders and item.kind != SHORTCUT]

    def _ask(self, terms: list[str]) -> list[Item]:
        """Files below the operand that contain all words."""
        q = " and ".join(f"fullText contains {quoted(term)}" for term in terms)
        return self._below(self._files(f"{FILES} and {q}", SOME))

    def _wants(self, item: Item, *kinds: str) -> bool:
        """Would the command read one of these files of an item, by their names?"""
        names = self.query.names
        return names is None or any(names(name) for kind, name in possible_names(item) if not kinds or kind in kinds)

    def whole(self, terms: list[str]) -> Candidates:
        """Every file with these whole words is among the candidates, or the note says how many are not."""
        hits: Wanted = {item.id: (item, ANY) for item in self._ask(terms)}
        others = {id: pair for id, pair in self._elsewhere().items() if id not in hits}
        size = sum(item.size or 0 for item, _ in others.values())
        if len(others) > self.mount.bound or size > BYTES:
            return self._candidates(hits, len(others))
        return self._candidates({**hits, **others}, 0)

    def _elsewhere(self) -> Wanted:
        """Files of which the index does not surely know all words, with the kinds that are in doubt.

        Of a PDF or office file that is the file itself, not its text; of a spreadsheet its JSON, not its tabs.
        """
        since = self.mount.client.now() - self.mount.lag - self.mount.store.ttl
        at = datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        found: Wanted = {}
        q = f"{FILES} and ((mimeType != '{DOC}' and mimeType != '{SLIDES}') or modifiedTime > '{at}')"
        for item in self._below(self._kept(q, SOME, "elsewhere")):
            if item.mtime_ns >= since * 10**9 or item.kind not in INDEXED and item.kind != SHEET \
                    or (item.size or 0) > LARGE:
                if item.kind == SHEET or self._wants(item):
                    found[item.id] = (item, ANY)
            elif item.kind == SHEET:
                if self._wants(item, "sheet"):
                    found[item.id] = (item, ("sheet",))
            elif (item.kind in OFFICE_TYPES or office_kind(item.name, item.kind) is not None) \
                    and self._wants(item, "blob"):
                found[item.id] = (item, ("blob",))
        return found

    def some(self, terms: list[str], bound: int | None) -> Candidates | None:
        """What the service finds for the words of the pattern; None where there are few files: read them all."""
        total = self._count(bound)
        if bound is not None and total <= bound:
            return None
        hits: Wanted = {item.id: (item, ANY) for item in self._ask(terms)}
        return self._candidates(hits, max(total - len(hits), 1))

    def _count(self, bound: int | None) -> int:
        """Unread files below the operand; asks for a page more than the bound needs at most."""
        most = None if bound is None else bound * 2
        found = self.mount.account.pages("drive.files.list", "files", q=FILES, pageSize=PAGE, most=most, **ALL,
                                         fields="nextPageToken,files(id,parents)", **self.parameters)
        return sum((raw.get("parents") or [""])[0] in self.folders for raw in found)

    # ---- from items to paths

    def _candidates(self, items: Wanted, skipped: int) -> Candidates:
        parents = list(dict.fromkeys(item.parent for item, _ in items.values()))
        paths: list[str] = []
        for place in blocking.map_ordered(self._named, parents, WIDTH):
            if isinstance(place, Exception):
                raise place
            directory, named = place
            for name, (kind, item) in named.items():
                if item.id in items and (items[item.id][1] is ANY or kind in items[item.id][1]):
                    paths += self._shown(f"{directory}/{name}", name, kind, item)
        paths.sort(key=_walk_order)
        self.mount.counters.add(searches=1, candidates=len(paths))
        return Candidates(paths, not skipped and not self.partial, skipped, left_out(None if self.partial else skipped))

    def _shown(self, path: str, name: str, kind: str, item: Item) -> list[str]:
        """The files of one name that the command would read."""
        names = self.query.names
        if kind != "tabs":
            return [path] if names is None or names(name) else []
        likely = names is None or names("a.csv")             # else only their names are asked for
        tabs = self.mount.tabs(Place("tabs", item=item), content=likely)
        return [f"{path}/{tab}" for tab in tabs if names is None or names(tab)]

    def _named(self, folder: str) -> tuple[str, Any]:
        """(path, names) of a folder."""
        chain = [folder]
        while self.folders[chain[0]]:
            chain.insert(0, self.folders[chain[0]])
        path, at = self._top(chain[0]), Place("dir", self._key(chain[0]))
        for id in chain[1:]:
            name = next((n for n, (_, item) in self.mount.named(at).items() if item.id == id), None)
            if name is None:
                return path, {}                              # moved away meanwhile
            path, at = f"{path}/{name}", Place("dir", id)
        return path, self.mount.named(at)

    def _key(self, id: str) -> str:
        return "root" if id == self.mount.account.root and not self.mount.root else id

    def _top(self, id: str) -> str:
        """The path of one of the first folders, without a slash at its end."""
        drives = {drive: f"/{DRIVES}/{name}" for name, drive in self.mount.account.drives().items()} \
            if self.everywhere or self.path == f"/{DRIVES}" else {}
        return drives.get(id, self.path.rstrip("/"))


def _walk_order(path: str) -> list[tuple[int, str]]:
    """A walk gives the files of a directory before what is in its directories."""
    *directories, name = path.split("/")
    return [*((1, d) for d in directories), (0, name)]
