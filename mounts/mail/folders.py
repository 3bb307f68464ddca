"""Folders of a mailbox as a tree of directories."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class FolderTree:
    """`by_label`: the folders that hold messages, by what the service calls them."""

    def __init__(self) -> None:
        self.root = Folder("")
        self.by_label: dict[str, Folder] = {}

    def place(self, label: str, parts: list[str]) -> None:
        """Make the folder of a label at a path. A name that looks like a day, or is taken, gets `__<label>`."""
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

    def find(self, path: str) -> Folder | None:
        """The folder at a path without leading slash; "" is the root."""
        at: Folder | None = self.root
        for part in path.split("/") if path else ():
            at = at.children.get(part) if at is not None else None
        return at
