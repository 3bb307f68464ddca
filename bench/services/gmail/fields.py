"""Partial responses: the query parameter `fields` of Google's APIs, as `id,payload(headers,parts/filename)`."""
from __future__ import annotations

from typing import Any

Mask = dict[str, Any]


def parse(text: str) -> Mask:
    """A tree of names; an empty tree means everything below. ValueError for bad syntax."""
    mask, at = _list(text, 0)
    if at != len(text):
        raise ValueError(f"Invalid field selection {text}")
    return mask


def _list(text: str, at: int) -> tuple[Mask, int]:
    mask: Mask = {}
    while True:
        start = at
        while at < len(text) and text[at] not in ",()/":
            at += 1
        name = text[start:at]
        if not name:
            raise ValueError(f"Invalid field selection {text}")
        inner: Mask = {}
        if at < len(text) and text[at] == "/":
            rest = at + 1
            depth, end = 0, rest
            while end < len(text) and (depth or text[end] not in ",)"):
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            inner, at = parse(text[rest:end]), end
        elif at < len(text) and text[at] == "(":
            inner, at = _list(text, at + 1)
            if at >= len(text) or text[at] != ")":
                raise ValueError(f"Invalid field selection {text}")
            at += 1
        mask[name] = inner
        if at >= len(text) or text[at] != ",":
            return mask, at
        at += 1


def apply(mask: Mask, value: Any) -> Any:
    """`value` with only the fields of the mask."""
    if not mask or "*" in mask:
        return value
    if isinstance(value, list):
        return [apply(mask, item) for item in value]
    if isinstance(value, dict):
        return {name: apply(mask[name], inner) for name, inner in value.items() if name in mask}
    return value
