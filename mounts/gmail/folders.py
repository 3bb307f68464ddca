"""Labels as folders: `Projects/Apollo` is /Projects/Apollo; Archive holds what has no label of its own."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mirage.vfs.names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SYSTEM = {"INBOX": "INBOX", "SENT": "Sent", "DRAFT": "Drafts", "TRASH": "Trash", "SPAM": "Spam"}
ARCHIVE = "ARCHIVE"                                          # no label of Gmail: a query
ARCHIVE_QUERY = "-in:inbox -in:sent -in:draft has:nouserlabels"
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Folder:
    """A directory: of a label (`label` is its id), or only the way to nested ones (`label` None)."""

    __slots__ = ("children", "label", "path")

    def __init__(self, path: str, label: str | None = None) -> None:
        self.path = path                                     # without leading slash
        self.label = label
        self.children: dict[str, Folder] = {}

    def walk(self) -> Iterator[Folder]:
        yield self
        for child in self.children.values():
            yield from child.walk()


class Folders:
    """The tree of folders, and the folders of a message."""

    def __init__(self, labels: Iterable[dict[str, Any]]) -> None:
        self.root = Folder("")
        self.names: dict[str, str] = {}                      # label id -> the service's name
        self.by_label: dict[str, Folder] = {}
        for label, name in (*SYSTEM.items(), (ARCHIVE, "Archive")):
            self._place(label, [name])
        users = []
        for resource in labels:
            self.names[resource["id"]] = resource["name"]
            if resource.get("type") == "user":
                users.append((resource["name"], resource["id"]))
        for name, id in sorted(users, key=lambda pair: (pair[0].count("/"), pair[1])):
            self._place(id, [safe_name(part) for part in name.split("/") if part.strip()] or ["untitled"])

    def _place(self, label: str, parts: list[str]) -> None:
        at = self.root
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            name = f"{part}__{label}" if DAY.fullmatch(part) else part
            child = at.children.get(name)
            if child is not None and last and child.label is not None:
                name, child = f"{part}__{label}", None
            if child is None:
                child = at.children[name] = Folder(f"{at.path}/{name}".lstrip("/"))
            if last:
                child.label = label
                self.by_label[label] = child
            at = child

    def of(self, labels: frozenset[str]) -> list[Folder]:
        """The folders that show a message with these labels."""
        for label in ("TRASH", "SPAM"):
            if label in labels:
                return [self.by_label[label]]
        found = [folder for label in labels if (folder := self.by_label.get(label)) is not None]
        return sorted(found, key=lambda f: f.path) or [self.by_label[ARCHIVE]]

    def find(self, path: str) -> Folder | None:
        """The folder at a path without leading slash; "" is the root."""
        at: Folder | None = self.root
        for part in path.split("/") if path else ():
            at = at.children.get(part) if at is not None else None
        return at

    def label_of(self, name: str) -> str | None:
        """The label id of a folder's path, of a label's name or id; letter case does not matter."""
        low = name.strip("/").lower()
        for folder in self.root.walk():
            if folder.label is not None and folder.path.lower() == low:
                return folder.label
        for id, known in self.names.items():
            if known.lower() == low or id.lower() == low:
                return id
        return None

    def shown(self, labels: Iterable[str]) -> list[str]:
        """Names of labels, sorted."""
        return sorted(self.names[label] for label in labels if label in self.names)
