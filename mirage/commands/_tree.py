"""What the syntax trees of awk and jq are made of."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Node:
    """Base: the constructor takes the fields in the order of `__slots__`."""

    __slots__: tuple[str, ...] = ()

    def __init__(self, *fields: Any) -> None:
        for name, value in zip(self.__slots__, fields, strict=True):
            setattr(self, name, value)
