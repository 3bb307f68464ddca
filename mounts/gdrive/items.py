"""What Drive has, and the names of the files that show it."""
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from mirage.mounts.gdrive.office import KINDS as OFFICE
from mirage.mounts.gdrive.office import available
from mirage.vfs.names import LIMIT, safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable

APPS = "application/vnd.google-apps."
FOLDER, SHORTCUT = APPS + "folder", APPS + "shortcut"
SHEET, DOC, SLIDES = APPS + "spreadsheet", APPS + "document", APPS + "presentation"
FIELDS = ("id,name,mimeType,size,modifiedTime,createdTime,version,md5Checksum,headRevisionId,parents,driveId,trashed,"
          "description,webViewLink,shortcutDetails(targetId,targetMimeType)")
# kind -> suffix, of the files and directories that an item becomes; "blob" and "meta" are completed below
PARTS = {
    FOLDER: (("dir", ""),),
    SHEET: (("sheet", ".gsheet.json"), ("tabs", ".gsheet")),
    DOC: (("doc", ".gdoc.json"), ("doc-text", ".md")),
    SLIDES: (("slides", ".gslide.json"), ("slides-text", ".md")),
}
DIRECTORIES = ("dir", "tabs", "drives", "linked", "one")


class Item:
    """A file resource of Drive. `version` changes with the content; `size` is None where Drive knows none."""

    __slots__ = ("id", "kind", "md5", "mtime_ns", "name", "parent", "raw", "size", "target", "target_kind", "version")

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.id = str(raw["id"])
        self.name = str(raw.get("name", ""))
        self.kind = str(raw.get("mimeType", ""))
        self.size = int(raw["size"]) if "size" in raw else None
        self.md5 = str(raw.get("md5Checksum", ""))
        self.mtime_ns = _time(raw.get("modifiedTime", ""))
        self.parent: str = (raw.get("parents") or [""])[0]
        self.version = str(raw.get("headRevisionId") or raw.get("version") or raw.get("modifiedTime") or "")
        details = raw.get("shortcutDetails") or {}
        self.target = str(details.get("targetId", ""))
        self.target_kind = str(details.get("targetMimeType", ""))

    def parts(self) -> list[tuple[str, str]]:
        """(kind, suffix) of each file or directory that shows the item; of a shortcut, those of its target."""
        kind = self.target_kind if self.kind == SHORTCUT else self.kind
        if kind in PARTS:
            return list(PARTS[kind])
        if kind.startswith(APPS):
            return [("meta", f".g{kind.removeprefix(APPS)}.json")]
        found = [("blob", "")]
        if office_kind(self.name, kind) is not None:
            found.append(("text", ".md"))
        return found

    def stem(self) -> str:
        """The name made safe; the extension of a file survives the cut of a long one."""
        name, dot, extension = self.name.rpartition(".")
        if dot and name and len(extension) < 12 and len(self.name.encode()) > LIMIT:
            return safe_name(name, LIMIT - len(extension.encode()) - 1) + safe_name(dot + extension)
        return safe_name(self.name)


def office_kind(name: str, kind: str) -> str | None:
    """Which text can be had of a file by its name or type: "pdf", "docx", "xlsx" or "pptx", if its library is there."""
    extension = name.rpartition(".")[2].lower()
    found = extension if extension in OFFICE else next((e for e, (mime, _) in OFFICE.items() if mime == kind), None)
    return found if found is not None and available(found) else None


def possible_names(item: Item) -> list[tuple[str, str]]:
    """(kind, name) of an item's files, with and without its id: which it is depends on what else is in the folder."""
    whole = item.parts()[0][0] == "blob"
    return [(kind, stem + suffix) for stem in (item.stem(), _insert(item.stem(), item.id, whole))
            for kind, suffix in item.parts()]


def names_of(items: Iterable[Item], taken: Iterable[str] = ()) -> dict[str, tuple[str, Item]]:
    """name -> (kind, item) of everything in a folder. `__<id>` on all items of which a name collides, case ignored."""
    known = list({item.id: item for item in items}.values())
    marked: set[str] = set()
    while True:
        owners: dict[str, set[str]] = {name.casefold(): {""} for name in taken}
        found: dict[str, tuple[str, Item]] = {}
        for item in known:
            stem = item.stem()
            parts = item.parts()
            if item.id in marked:
                stem = _insert(stem, item.id, parts[0][0] == "blob")
            for kind, suffix in parts:
                found[stem + suffix] = (kind, item)
                owners.setdefault((stem + suffix).casefold(), set()).add(item.id)
        again = {id for ids in owners.values() if len(ids) > 1 for id in ids if id} - marked
        if not again:
            return found
        marked |= again


def _insert(stem: str, id: str, whole: bool) -> str:
    name, dot, extension = stem.rpartition(".")
    return f"{name}__{id}.{extension}" if whole and dot and name and len(extension) < 12 else f"{stem}__{id}"


def _time(text: str) -> int:
    """Nanoseconds since the epoch of an RFC 3339 time."""
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000) * 10**6
    except (ValueError, TypeError):
        return 0
