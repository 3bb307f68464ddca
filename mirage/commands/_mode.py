"""File modes: symbolic and octal texts as chmod, mkdir -m and install -m take them."""
from __future__ import annotations

import re

_CLAUSE = re.compile(r"([ugoa]*)((?:[-+=](?:[ugo]|[rwxXst]*|[0-7]+))+)\Z")
_ACTION = re.compile(r"([-+=])([ugo](?![rwxXstugo])|[0-7]+|[rwxXst]*)")
_WHO = {"u": 0o4700, "g": 0o2070, "o": 0o1007, "a": 0o7777}
_BITS = {"r": 0o444, "w": 0o222, "x": 0o111, "s": 0o6000, "t": 0o1000}
Change = tuple[str, str, str]


class Mode:
    """A parsed mode; `apply` gives the new permission bits of a file."""

    __slots__ = ("absolute", "changes", "digits")

    def __init__(self, text: str) -> None:
        """ValueError when `text` is no mode."""
        self.absolute: int | None = None
        self.digits = 0
        self.changes: list[Change] = []
        octal = re.fullmatch(r"([-+=]?)([0-7]+)", text)
        if octal and not octal[1]:
            value = int(octal[2], 8)
            if value > 0o7777:
                raise ValueError(text)
            self.absolute, self.digits = value, len(octal[2])
            return
        if not text:
            raise ValueError(text)
        for clause in text.split(","):
            found = _CLAUSE.match(clause)
            if not found:
                raise ValueError(text)
            who, actions = found.groups()
            at = 0
            while at < len(actions):
                action = _ACTION.match(actions, at)
                if not action or action[2][:1].isdigit() and (who or int(action[2], 8) > 0o7777):
                    raise ValueError(text)
                self.changes.append((who, action[1], action[2]))
                at = action.end()

    def apply(self, mode: int, is_dir: bool, umask: int) -> int:
        """The 12 permission bits that a file with `mode` gets."""
        mode &= 0o7777
        if self.absolute is not None:
            keep = mode & 0o6000 if is_dir and self.digits < 5 else 0
            return self.absolute | keep
        for who, operator, what in self.changes:
            if what[:1].isdigit():
                value, mask = int(what, 8), 0o7777
            else:
                mask = 0
                for letter in who:
                    mask |= _WHO[letter]
                value = self._value(what, mode, is_dir)
                value &= mask if who else ~umask & 0o7777
                mask = mask or 0o7777
                if not who and operator == "=":
                    mask = 0o7777
            if operator == "+":
                mode |= value
            elif operator == "-":
                mode &= ~value
            else:
                keep = mode & 0o6000 if is_dir and "s" not in what and not what[:1].isdigit() else 0
                mode = mode & ~mask | value | keep & mask
        return mode

    @staticmethod
    def _value(what: str, mode: int, is_dir: bool) -> int:
        if what in ("u", "g", "o"):
            bits = mode >> {"u": 6, "g": 3, "o": 0}[what] & 7
            return bits << 6 | bits << 3 | bits
        value = 0
        for letter in what:
            if letter == "X":
                value |= 0o111 if is_dir or mode & 0o111 else 0
            else:
                value |= _BITS[letter]
        return value

    def refused_bits(self, mode: int, is_dir: bool, umask: int) -> int:
        """Bits that `chmod -x` would have cleared were the umask 0 (GNU then reports an error)."""
        if any(not who and operator == "-" for who, operator, _ in self.changes):
            return self.apply(mode, is_dir, umask) & ~self.apply(mode, is_dir, 0)
        return 0
