"""Labels as folders: `Projects/Apollo` is /Projects/Apollo; Archive holds what has no label of its own."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.mounts.mail.folders import Folder, FolderTree
from mirage.vfs.names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable

SYSTEM = {"INBOX": "INBOX", "SENT": "Sent", "DRAFT": "Drafts", "TRASH": "Trash", "SPAM": "Spam"}
ARCHIVE = "ARCHIVE"                                          # no label of Gmail: a query
ARCHIVE_QUERY = "-in:inbox -in:sent -in:draft has:nouserlabels"


class Folders(FolderTree):
    """The tree of folders, and the folders of a message."""

    def __init__(self, labels: Iterable[dict[str, Any]]) -> None:
        super().__init__()
        self.names: dict[str, str] = {}                      # label id -> the service's name
        for label, name in (*SYSTEM.items(), (ARCHIVE, "Archive")):
            self.place(label, [name])
        users = []
        for resource in labels:
            self.names[resource["id"]] = resource["name"]
            if resource.get("type") == "user":
                users.append((resource["name"], resource["id"]))
        for name, id in sorted(users, key=lambda pair: (pair[0].count("/"), pair[1])):
            self.place(id, [safe_name(part) for part in name.split("/") if part.strip()] or ["untitled"])

    def of(self, labels: frozenset[str]) -> list[Folder]:
        """The folders that show a message with these labels."""
        for label in ("TRASH", "SPAM"):
            if label in labels:
                return [self.by_label[label]]
        found = [folder for label in labels if (folder := self.by_label.get(label)) is not None]
        return sorted(found, key=lambda f: f.path) or [self.by_label[ARCHIVE]]

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
