"""What the tests of services share."""
from __future__ import annotations

from mirage.vfs.secrets import Secret


class Given(Secret):
    """A secret with a text, `default` where none is given; what is printed of it is only its `place`."""

    __slots__ = ("text",)
    place, default = "env:TEST_TOKEN", "test-token"

    def __init__(self, text: str | None = None) -> None:
        super().__init__(self.place)
        self.text = self.default if text is None else text

    def reveal(self) -> str:
        return self.text
