"""How far reading from services has come, for somebody who watches. Written by the FileSystem, read by a console."""
from __future__ import annotations


class Progress:
    """`places`: mount -> [files read, files to read as far as it is known], of the line that runs.

    Numbers only; whoever reads them may see them a moment late.
    """

    __slots__ = ("places",)

    def __init__(self) -> None:
        self.places: dict[str, list[int]] = {}

    def expect(self, place: str, count: int) -> None:
        """So many more files of a mount will be read."""
        counts = self.places.setdefault(place, [0, 0])
        counts[1] = max(counts[1], counts[0] + count)

    def read(self, place: str) -> None:
        """One file of it was read."""
        counts = self.places.setdefault(place, [0, 0])
        counts[0] += 1

    def clear(self) -> None:
        self.places.clear()
