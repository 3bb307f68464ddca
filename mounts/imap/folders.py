"""The folders of an IMAP server: special ones by their use (RFC 6154) or usual name, the others as they are nested."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.mounts.mail.folders import Folder, FolderTree
from mirage.vfs.names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable

USES = {b"\\sent": "Sent", b"\\drafts": "Drafts", b"\\trash": "Trash", b"\\junk": "Spam", b"\\archive": "Archive"}
USUAL = {"sent": "Sent", "sent items": "Sent", "sent messages": "Sent", "sent mail": "Sent", "sent-mail": "Sent",
         "drafts": "Drafts", "draft": "Drafts", "trash": "Trash", "deleted items": "Trash", "deleted messages": "Trash",
         "bin": "Trash", "junk": "Spam", "junk e-mail": "Spam", "junk email": "Spam", "spam": "Spam",
         "archive": "Archive", "archives": "Archive"}
MARKS = {"UNREAD": "UNREAD", "STARRED": "STARRED", "IMPORTANT": "IMPORTANT", "ANSWERED": "ANSWERED", "DRAFT": "DRAFT"}


class Folders(FolderTree):
    """A folder's label is the server's name for it (with a space behind it where that is the name of a mark)."""

    def __init__(self, listed: Iterable[tuple[Any, Any, str]]) -> None:
        """listed  (flags, delimiter, name) as LIST gives them"""
        super().__init__()
        self.delimiter = "/"
        self.special: dict[str, str] = {}                    # Sent, Drafts, Trash, Spam, Archive -> label
        rows = []
        for flags, delimiter, name in listed:
            mark = delimiter.decode() if isinstance(delimiter, bytes) else delimiter or ""
            self.delimiter = mark or self.delimiter
            uses = {flag.lower() for flag in flags}
            parts = name.split(mark) if mark else [name]
            rows.append((name, parts, uses))
        rows.sort(key=lambda row: (len(row[1]), row[0]))
        for name, _, uses in rows:
            use = next((USES[u] for u in uses if u in USES), None)
            if use is not None and b"\\noselect" not in uses:
                self.special.setdefault(use, name)
        for name, parts, uses in rows:
            below = parts[1:] if len(parts) == 2 and parts[0].upper() == "INBOX" else parts
            use = USUAL.get(below[0].casefold()) if len(below) == 1 else None
            if use is not None and use not in self.special and b"\\noselect" not in uses:
                self.special[use] = name
        named = {label: name for name, label in self.special.items()}
        for name, parts, uses in rows:
            if b"\\noselect" in uses or b"\\nonexistent" in uses:
                continue
            path = [named[name]] if name in named else [safe_name(part) for part in parts if part.strip()]
            label = f"{name} " if name in MARKS else name
            self.place(label, ["INBOX"] if name.upper() == "INBOX" else path or ["untitled"])

    @staticmethod
    def raw(label: str) -> str:
        """The server's name of a folder."""
        return label[:-1] if label[:-1] in MARKS else label

    def of(self, labels: frozenset[str]) -> list[Folder]:
        """The folder of a message, as a list: an IMAP message is in one."""
        return [self.by_label[label] for label in labels if label in self.by_label]

    def label_of(self, name: str) -> str | None:
        """The label of a folder's path or of the server's name; letter case does not matter."""
        low = name.strip("/").lower()
        for folder in self.root.walk():
            if folder.label is not None and low in (folder.path.lower(), folder.label.strip().lower()):
                return folder.label
        return None

    def shown(self, labels: Iterable[str]) -> list[str]:
        """The folder's path, and the marks, sorted."""
        return sorted(MARKS.get(label) or self.by_label[label].path for label in labels
                      if label in MARKS or label in self.by_label)

    def name_for(self, path: str) -> str:
        """The server's name of a folder that is to be made at a path."""
        parts = [part for part in path.strip("/").split("/") if part]
        inbox = self.by_label.get("INBOX")
        prefix = "INBOX" + self.delimiter
        below = inbox is not None and self.special and all(n.startswith(prefix) for n in self.special.values())
        return (prefix if below else "") + self.delimiter.join(parts)
