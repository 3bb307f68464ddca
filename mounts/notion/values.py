"""Properties and titles as text."""
from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def plain(pieces: list[Object]) -> str:
    """Rich text without its markup."""
    return "".join(piece.get("plain_text", "") for piece in pieces)


def title_of(item: Object) -> str:
    """The title of a page or database."""
    if item["object"] == "database":
        return plain(item.get("title", []))
    return next((plain(v["title"]) for v in item["properties"].values() if v.get("type") == "title"), "")


def as_text(value: Object) -> str:
    """A property value for people and CSV: names, numbers, dates; several are joined by ", "."""
    return _text(value.get(value.get("type", "")), value.get("type", ""))


def _text(found: Any, kind: str) -> str:
    if found is None:
        return ""
    if kind in ("title", "rich_text"):
        return plain(found)
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, list):
        return ", ".join(_text(one, "") for one in found)
    if not isinstance(found, dict):
        return str(found)
    inner = found.get("type", "")
    if inner in found and "name" not in found and inner not in ("person", "bot"):
        return _text(found[inner], inner)                    # a formula, a rollup, a value in one
    if inner in ("external", "file"):
        return str(found[inner].get("url", ""))
    if "start" in found:
        return str(found["start"]) + (f"/{found['end']}" if found.get("end") else "")
    if kind == "unique_id":
        return f"{found['prefix']}-{found['number']}" if found.get("prefix") else str(found.get("number") or "")
    return str(next((found[key] for key in ("name", "url", "email", "id") if found.get(key)), ""))
