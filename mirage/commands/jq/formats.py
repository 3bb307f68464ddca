"""String formats: @text, @json, @csv, @tsv, @html, @uri, @sh, @base64, @base64d, @base32, @base32d."""
from __future__ import annotations

import binascii
from urllib.parse import quote

from mirage.commands.jq.encode import dumps
from mirage.commands.jq.errors import JqError
from mirage.commands.jq.numbers import format_number
from mirage.commands.jq.values import is_number, unfit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TSV = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"})
HTML = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;", "'": "&apos;", '"': "&quot;"})
BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def text(value: Any) -> str:
    """tostring: strings as they are, all else as JSON."""
    return value if type(value) is str else dumps(value)


def _row(value: Any, name: str, string: Callable[[str], str]) -> list[str]:
    if type(value) is not list:
        raise unfit(value, f"cannot be {name}-formatted, only array")
    cells = []
    for item in value:
        if type(item) is str:
            cells.append(string(item))
        elif item is None:
            cells.append("")
        elif item is True or item is False:
            cells.append("true" if item else "false")
        elif is_number(item):
            cells.append(format_number(item) if item == item else "")
        else:
            raise unfit(item, "is not valid in a csv row")
    return cells


def csv(value: Any) -> str:
    return ",".join(_row(value, "csv", lambda s: '"' + s.replace('"', '""') + '"'))


def tsv(value: Any) -> str:
    return "\t".join(_row(value, "tsv", lambda s: s.translate(TSV)))


def shell(value: Any) -> str:
    words = []
    for item in value if type(value) is list else [value]:
        if type(item) is str:
            words.append("'" + item.replace("'", "'\\''") + "'")
        elif type(item) in (list, dict):
            raise unfit(item, "can not be escaped for shell")
        else:
            words.append(dumps(item))
    return " ".join(words)


def base64_encode(value: Any) -> str:
    return binascii.b2a_base64(text(value).encode(), newline=False).decode()


def base64_decode(value: Any) -> str:
    """The text of base64 data, with or without `=` at its end."""
    string = text(value)
    data = string.encode().rstrip(b"=")
    if not data:
        return ""
    usable = data
    for position, byte in enumerate(data):
        if byte not in BASE64:
            usable = data[:position]
            break
    if usable != data:
        raise unfit(string, "is not valid base64 data")
    if len(usable) % 4 == 1:
        raise unfit(string, "trailing base64 byte found")
    return decode_utf8(binascii.a2b_base64(usable + b"=" * (-len(usable) % 4)))


def decode_utf8(data: bytes) -> str:
    """Text of bytes: U+FFFD for what is not UTF-8; a character cut off by the end takes the rest with it."""
    parts: list[str] = []
    while True:
        try:
            return "".join(parts) + data.decode()
        except UnicodeDecodeError as e:
            parts.append(data[:e.start].decode() + "\ufffd")
            first = data[e.start]
            length = 4 if first >= 0xF0 else 3 if first >= 0xE0 else 2 if first >= 0xC0 else 1
            data = b"" if e.start + length > len(data) and first < 0xF5 else data[e.end:]


def base32_encode(value: Any) -> str:
    from base64 import b32encode
    return b32encode(text(value).encode()).decode()


def base32_decode(value: Any) -> str:
    from base64 import b32decode
    string = text(value)
    try:
        return b32decode(string.rstrip("=") + "=" * (-len(string.rstrip("=")) % 8)).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise unfit(string, "is not valid base32 data") from None


FORMATS: dict[str, Callable[[Any], str]] = {
    "text": text, "json": dumps, "csv": csv, "tsv": tsv, "sh": shell,
    "html": lambda value: text(value).translate(HTML),
    "uri": lambda value: quote(text(value), safe="-_.~"),
    "base64": base64_encode, "base64d": base64_decode, "base32": base32_encode, "base32d": base32_decode,
}


def format_text(name: Any, value: Any) -> str:
    """`value | format(name)`"""
    if type(name) is not str:
        raise unfit(name, "is not a valid format")
    convert = FORMATS.get(name)
    if convert is None:
        raise JqError(f"{name} is not a valid format")
    return convert(value)
