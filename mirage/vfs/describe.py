"""What a mount tells about itself for VFS.md: a sentence, its paths, and the format of each kind of file."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Format:
    """One kind of file. `example` is shown in a fenced block of language `language`."""

    __slots__ = ("example", "language", "note", "suffix")

    def __init__(self, suffix: str, example: str, language: str = "json", note: str = "") -> None:
        self.suffix = suffix
        self.example = example
        self.language = language
        self.note = note


class Description:
    """summary: one sentence; paths: (pattern in the mount, what it is); writable: files can be changed."""

    __slots__ = ("formats", "paths", "summary", "writable")

    def __init__(self, summary: str, paths: Sequence[tuple[str, str]] = (), formats: Sequence[Format] = (),
                 writable: bool = False) -> None:
        self.summary = summary
        self.paths = tuple(paths)
        self.formats = tuple(formats)
        self.writable = writable
