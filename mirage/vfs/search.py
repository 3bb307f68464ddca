"""What a tool asks of a mount that can search, and what it may rely on in the answer."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SUBSTRING = "substring"
TOKEN = "token"


def left_out(skipped: int | None, how: str = "for whole words") -> str:
    """The note of Candidates, "" where nothing was left out; None: nobody knows how much it is."""
    if skipped == 0:
        return ""
    number = "other" if skipped is None else f"{skipped:,}"
    return f"searched by the service {how}; {number} item{'' if skipped == 1 else 's'} not read (--exact reads them)"


class Query:
    """What every matching file must contain.

    literals     texts of which all must occur in the file (a conjunction); never empty
    whole_words  every literal stands between word boundaries, so that a search by words finds it
    ignore_case  letter case does not matter
    mode         the mount's option `search`, where the command overrides it: "exact", "service" or "auto"
    names        False for the name of a file that the command will not read (--include, --exclude); None: reads all
    """

    __slots__ = ("ignore_case", "literals", "mode", "names", "whole_words")

    def __init__(self, literals: Iterable[str], whole_words: bool = False, ignore_case: bool = False,
                 mode: str = "auto", names: Callable[[str], bool] | None = None) -> None:
        self.literals = tuple(literals)
        self.whole_words = whole_words
        self.ignore_case = ignore_case
        self.mode = mode
        self.names = names
        if not self.literals or not all(self.literals):
            raise ValueError("a query needs at least one literal, none of them empty")

    def __repr__(self) -> str:
        return f"Query({self.literals!r}, whole_words={self.whole_words}, ignore_case={self.ignore_case})"


class Candidates:
    """Paths (inside the mount) to read and match for real.

    complete  every matching file is among `paths`; False: nobody knows about `skipped` items
    note      for standard error, where something was left out (left_out)
    refused   (directory, error) of directories that the policy does not let list (set by the FileSystem)
    withheld  the policy refuses to read some file below, candidate or not (set by the FileSystem)
    """

    __slots__ = ("complete", "note", "paths", "refused", "skipped", "withheld")

    def __init__(self, paths: Iterable[str], complete: bool = True, skipped: int = 0, note: str = "") -> None:
        self.paths = paths
        self.complete = complete
        self.skipped = skipped
        self.note = note
        self.refused: tuple[tuple[str, OSError], ...] = ()
        self.withheld = False
