"""The backslash escapes of bash's printf and `echo -e`."""
from __future__ import annotations

from mirage.text.printf import byte, code_point, hex_digits, octal_escape, simple_escape


def escape(text: str, i: int, octal: int) -> tuple[str | None, int]:
    """The escape after the backslash before text[i]: (what it stands for, next index).

    None: it is none, or lacks its digits, and text up to the index stands for itself. `octal` is the number of
    digits that may follow when the first is 0 (4 where `\\0nnn` is the form).
    """
    letter = text[i:i + 1]
    simple = simple_escape(letter)
    if simple is not None:
        return simple, i + 1
    if letter == "E":
        return "\x1b", i + 1
    if letter and letter in "01234567":
        return octal_escape(text, i, octal if letter == "0" else 3)
    if letter == "x":
        value, end = hex_digits(text, i + 1, 2)
        return (byte(value) if value is not None else None), end
    if letter and letter in "uU":
        value, end = hex_digits(text, i + 1, 4 if letter == "u" else 8)
        return (code_point(value) if value is not None else None), end
    return None, i + (1 if letter else 0)
