"""The state behind the simulated Drive: files, folders, shared drives, permissions, a search index. Thread-safe."""
from __future__ import annotations

import copy
import hashlib
import re
import threading
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from mirage.bench.services.gdrive import query
from mirage.bench.services.gdrive.documents import Document, Presentation
from mirage.bench.services.gdrive.grid import Spreadsheet

if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.bench.services.clock import Clock

    Content = bytes | Callable[[], bytes]

APPS = "application/vnd.google-apps."
FOLDER, SHORTCUT = APPS + "folder", APPS + "shortcut"
SHEET, DOC, SLIDES = APPS + "spreadsheet", APPS + "document", APPS + "presentation"
TEXTS = ("text/", "application/json", "application/pdf", "application/vnd.openxmlformats")
INDEXED = 1 << 20                                            # bytes of a text that the index looks at
ROLES = ("owner", "organizer", "fileOrganizer", "writer", "commenter", "reader")


class DriveError(Exception):
    """An error of the API: HTTP status, message, and the reason of Google's error list."""

    def __init__(self, status: int, message: str, reason: str = "invalid") -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class File:
    """One item. `indexed` is the text that the service finds it by, beside its name."""

    __slots__ = ("changed", "content", "indexed", "me", "permissions", "resource", "_words")

    def __init__(self, resource: dict[str, Any], me: str, content: Content | None = None, indexed: str = "") -> None:
        self.resource = resource
        self.me = me
        self.content = content
        self.indexed = indexed
        self.permissions: dict[str, dict[str, Any]] = {}
        self.changed = 0.0                                   # when the index has to look again
        self._words: tuple[str, list[str], frozenset[str]] = ("", [], frozenset())

    @property
    def data(self) -> bytes:
        return self.content() if callable(self.content) else self.content or b""

    def flag(self, name: str) -> bool:
        if name == "sharedWithMe":
            return (
                not any(p["role"] == "owner" and p.get("emailAddress") == self.me for p in self.permissions.values())
                and "driveId" not in self.resource
            )
        return bool(self.resource.get(name))

    def has(self, wanted: list[str], phrase: bool) -> bool:
        text = f"{self.resource['name']}\n{self.indexed}"
        if text != self._words[0]:
            found = query.words(text)
            self._words = (text, found, frozenset(found))
        _, found, known = self._words
        if phrase:
            return any(found[i:i + len(wanted)] == wanted for i in range(len(found)))
        return known.issuperset(wanted)


class DriveStore:
    """me: the address of the account.  index_lag: seconds until the words of a change are found"""

    def __init__(self, me: str, clock: Clock, index_lag: float = 0.0) -> None:
        self.me = me
        self.clock = clock
        self.index_lag = index_lag
        self.lock = threading.RLock()
        self.files: dict[str, File] = {}
        self.drives: dict[str, str] = {}                     # id -> name
        self.sheets: dict[str, Spreadsheet] = {}
        self.documents: dict[str, Document] = {}
        self.presentations: dict[str, Presentation] = {}
        self._next = 0
        self._version = 100
        self.root = self.new_id("root")
        self._put(self.root, {"name": "My Drive", "mimeType": FOLDER})

    # ---- ids, times

    def new_id(self, kind: str) -> str:
        self._next += 1
        return "1" + hashlib.blake2b(f"{kind}{self._next}".encode(), digest_size=16).hexdigest()

    def time(self, at: float | None = None) -> str:
        when = datetime.fromtimestamp(self.clock.now() if at is None else at, UTC)
        return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03}Z"

    def _touch(self, file: File, at: float | None = None, content: bool = False) -> None:
        self._version += 1
        file.resource["version"] = str(self._version)
        file.resource["modifiedTime"] = self.time(at)
        file.changed = self.clock.now() if at is None else at
        if content:
            data = file.data
            file.resource.update(size=str(len(data)), md5Checksum=hashlib.md5(data, usedforsecurity=False).hexdigest(),
                                 headRevisionId=f"rev{self._version}")

    def _put(self, id: str, fields: dict[str, Any], content: Content | None = None, indexed: str = "",
             at: float | None = None, owner: str = "") -> File:
        file = File(
            {
                "kind": "drive#file",
                "id": id,
                "trashed": False,
                "starred": False,
                "createdTime": self.time(at),
                **fields,
            },
            self.me,
            content,
            indexed,
        )
        self.files[id] = file
        drive = next(
            (self.files[p].resource.get("driveId") for p in fields.get("parents", ()) if p in self.files), None
        )
        if drive is not None:
            file.resource["driveId"] = drive
        else:
            self.permit(file, owner or self.me, "owner")
        self._touch(file, at, content is not None)
        return file

    def permit(self, file: File, address: str, role: str, kind: str = "user") -> dict[str, Any]:
        id = str(int(hashlib.blake2b(address.encode(), digest_size=8).hexdigest(), 16))
        found: dict[str, Any] = {
            "kind": "drive#permission",
            "id": "anyoneWithLink" if kind == "anyone" else id,
            "type": kind,
            "role": role,
        }
        if kind in ("user", "group"):
            found["emailAddress"] = address
        elif kind == "domain":
            found["domain"] = address
        file.permissions[found["id"]] = found
        return found

    # ---- making

    def add(self, parent: str, name: str, kind: str, content: Content | None = None, indexed: str = "",
            at: float | None = None, owner: str = "", **fields: Any) -> str:
        """A new item; "" as parent: shared with me, in no folder. The id."""
        id = self.new_id(name)
        parents = {"parents": [self.root if parent == "root" else parent]} if parent else {}
        self._put(id, {"name": name, "mimeType": kind, **parents, **fields}, content, indexed, at, owner)
        return id

    def add_drive(self, name: str) -> str:
        id = "0A" + self.new_id(name)[1:18]
        self.drives[id] = name
        self._put(id, {"name": name, "mimeType": FOLDER})
        self.files[id].resource["driveId"] = id
        self.files[id].permissions.clear()
        self.permit(self.files[id], self.me, "organizer")
        return id

    def reindex(self, id: str, at: float | None = None) -> None:
        """The document, spreadsheet or presentation of a file was changed."""
        file = self.files[id]
        made = self.sheets.get(id) or self.documents.get(id) or self.presentations.get(id)
        if made is not None:
            file.indexed = made.text()
            file.resource["name"] = made.title
            self._touch(file, at)

    # ---- looking

    def get(self, id: str) -> File:
        file = self.files.get(self.root if id == "root" else id)
        if file is None:
            raise DriveError(404, f"File not found: {id}.", "notFound")
        return file

    def find(
        self, q: str, corpora: str = "user", drive: str = "", everything: bool = False, order: str = ""
    ) -> list[File]:
        """The files that a query finds, newest first unless ordered."""
        try:
            wanted = query.parse(q, self.root)
        except ValueError:
            raise DriveError(400, "Invalid Value") from None
        for id in re.findall(r"'([^']*)' in parents", q):
            if id != "root" and id not in self.files:
                raise DriveError(404, "File not found: .", "notFound")
        if corpora == "drive" and drive not in self.drives:
            raise DriveError(404, f"Shared drive not found: {drive}", "notFound")
        found = []
        lagging = self.clock.now() - self.index_lag
        for file in self.files.values():
            if file.resource["id"] == self.root or file.resource["id"] in self.drives:
                continue
            own = file.resource.get("driveId")
            if corpora == "drive" and own != drive or own and not everything:
                continue
            if "fullText" in q and self.index_lag and file.changed > lagging:
                continue
            if wanted(file):
                found.append(file)
        found.sort(key=lambda f: f.resource["id"])
        for key in reversed(order.split(",") if order else ["modifiedTime desc"]):
            field, _, direction = key.strip().partition(" ")
            found.sort(key=partial(_sort_key, field), reverse=direction == "desc")
        return found

    def children(self, id: str) -> list[File]:
        return [f for f in self.files.values() if id in f.resource.get("parents", ())]

    def writable(self, id: str) -> File:
        file = self.get(id)
        if file.resource["id"] in self.drives or file.resource["id"] == self.root:
            return file
        mine = [p["role"] for p in file.permissions.values() if p.get("emailAddress") == self.me]
        if "driveId" not in file.resource and not {"owner", "writer"} & set(mine):
            raise DriveError(
                403, f"The user does not have sufficient permissions for file {id}.", "insufficientFilePermissions"
            )
        return file

    # ---- changing

    def update(
        self, id: str, fields: dict[str, Any], content: bytes | None, kind: str, add: list[str], remove: list[str]
    ) -> File:
        file = self.writable(id)
        for key in ("name", "description", "starred", "trashed", "mimeType", "modifiedTime"):
            if key in fields:
                file.resource[key] = fields[key]
        made = self.sheets.get(id) or self.documents.get(id) or self.presentations.get(id)
        if made is not None and "name" in fields:
            made.title = fields["name"]
        if add or remove:
            gone = {self.root if r == "root" else r for r in remove}
            parents = [p for p in file.resource.get("parents", []) if p not in gone]
            for each in add:
                target = self.writable(each)
                if target.resource["mimeType"] != FOLDER:
                    raise DriveError(403, "The specified parent is not a folder.", "parentNotAFolder")
                at: str | None = target.resource["id"]
                while at is not None:
                    if at == file.resource["id"]:
                        raise DriveError(403, "A folder cannot be a child of itself.", "cannotAddParent")
                    at = (self.files[at].resource.get("parents") or [None])[0]
                parents.append(target.resource["id"])
            if len(parents) > 1:
                raise DriveError(403, "Increasing the number of parents is not allowed", "cannotAddParent")
            file.resource["parents"] = parents
        if content is not None:
            file.content = content
            file.resource["mimeType"] = kind or file.resource["mimeType"]
            file.indexed = as_text(content, file.resource["mimeType"])
        if made is not None:
            self.reindex(id)
        else:
            self._touch(file, content=content is not None)
        return file

    def delete(self, id: str) -> None:
        """For good, with everything below."""
        self.writable(id)
        for child in self.children(id):
            self.delete(child.resource["id"])
        kinds: tuple[dict[str, Any], ...] = (self.files, self.sheets, self.documents, self.presentations)
        for kept in kinds:
            kept.pop(id, None)

    def copy(self, id: str, fields: dict[str, Any]) -> File:
        file = self.get(id)
        if file.resource["mimeType"] == FOLDER:
            raise DriveError(403, "This file cannot be copied by the user.", "cannotCopyFile")
        parents = fields.get("parents") or file.resource.get("parents") or [self.root]
        new = self.add(parents[0], fields.get("name") or f"Copy of {file.resource['name']}", file.resource["mimeType"],
                       file.content, file.indexed)
        kinds: tuple[dict[str, Any], ...] = (self.sheets, self.documents, self.presentations)
        for kept in kinds:
            if id in kept:
                made = kept[new] = copy.deepcopy(kept[id])
                made.id, made.title = new, self.files[new].resource["name"]
        return self.files[new]

    def trashed(self, file: File) -> bool:
        """In the trash, itself or a folder above it."""
        at: File | None = file
        while at is not None:
            if at.resource["trashed"]:
                return True
            parents = at.resource.get("parents")
            at = self.files.get(parents[0]) if parents else None
        return False

    def settle(self) -> None:
        """What is below a folder in the trash is in the trash as well, as the API shows it."""
        for file in self.files.values():
            implied = self.trashed(file)
            if implied and not file.resource["trashed"]:
                file.resource["trashed"] = True
                file.resource["_implied"] = True
        for file in self.files.values():
            if file.resource.get("_implied"):
                parents = file.resource.get("parents")
                above = self.files.get(parents[0]) if parents else None
                if above is None or not above.resource["trashed"]:
                    file.resource["trashed"] = False
                    del file.resource["_implied"]

    # ---- for tests

    def state(self) -> dict[str, Any]:
        """What a comparison of two states looks at, by id."""
        found = {}
        for id, file in self.files.items():
            keep = {
                k: v for k, v in file.resource.items() if k not in ("version", "modifiedTime", "headRevisionId", "kind")
            }
            made = self.sheets.get(id) or self.documents.get(id) or self.presentations.get(id)
            found[id] = {
                **keep,
                "permissions": sorted((p.get("emailAddress", p["type"]), p["role"]) for p in file.permissions.values()),
                **({"content": made.state()} if made is not None else {}),
            }
        return found

    def snapshot(self) -> Any:
        with self.lock:
            return copy.deepcopy((self.files, self.drives, self.sheets, self.documents, self.presentations, self._next,
                                  self._version))

    def restore(self, snapshot: Any) -> None:
        with self.lock:
            (self.files, self.drives, self.sheets, self.documents, self.presentations, self._next,
             self._version) = copy.deepcopy(snapshot)


def _sort_key(field: str, file: File) -> Any:
    value = file.resource.get(field, "")
    if field == "folder":
        return file.resource["mimeType"] != FOLDER
    if field in ("name", "name_natural"):
        return str(value).casefold()
    return int(value) if field == "quotaBytesUsed" and value else str(value)


def as_text(data: bytes, kind: str) -> str:
    """What the index reads of an uploaded file."""
    if kind.startswith("text/"):
        return data[:INDEXED].decode("utf-8", "ignore")
    return ""
