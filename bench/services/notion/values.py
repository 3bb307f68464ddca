"""Rich text and property values: from what a request may say to what Notion answers."""
from __future__ import annotations

from typing import Any

TEXT_LIMIT = 2000
COLORS = ("default", "gray", "brown", "orange", "yellow", "green", "blue", "purple", "pink", "red")
READ_ONLY = ("formula", "rollup", "created_time", "created_by", "last_edited_time", "last_edited_by", "unique_id")
PLAIN = {"bold": False, "italic": False, "strikethrough": False, "underline": False, "code": False, "color": "default"}


class NotionError(Exception):
    """`code` is Notion's word for it."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def invalid(message: str) -> NotionError:
    return NotionError(400, "validation_error", message)


def text(content: str, link: str = "", **annotations: Any) -> dict[str, Any]:
    """One piece of rich text."""
    return {"type": "text", "text": {"content": content, "link": {"url": link} if link else None},
            "annotations": {**PLAIN, **annotations}, "plain_text": content, "href": link or None}


def rich(content: str) -> list[dict[str, Any]]:
    """Rich text without any markup; of no pieces where it is empty."""
    return [text(content)] if content else []


def plain(pieces: list[dict[str, Any]]) -> str:
    return "".join(piece["plain_text"] for piece in pieces)


def rich_text(given: Any, where: str) -> list[dict[str, Any]]:
    """Checked and completed."""
    if not isinstance(given, list):
        raise invalid(f"body failed validation: {where} should be an array, instead was `{type(given).__name__}`.")
    return [_piece(piece, f"{where}[{n}]") for n, piece in enumerate(given)]


def _piece(given: Any, where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise invalid(f"body failed validation: {where} should be an object.")
    annotations = {**PLAIN, **(given.get("annotations") or {})}
    if "text" in given:
        content = given["text"].get("content") if isinstance(given["text"], dict) else None
        if not isinstance(content, str):
            raise invalid(f"body failed validation: {where}.text.content should be defined, instead was `undefined`.")
        if len(content) > TEXT_LIMIT:
            raise invalid(f"body failed validation: {where}.text.content.length should be ≤ `{TEXT_LIMIT}`, "
                          f"instead was `{len(content)}`.")
        link = given["text"].get("link") or None
        return {"type": "text", "text": {"content": content, "link": link}, "annotations": annotations,
                "plain_text": content, "href": link["url"] if link else None}
    if "equation" in given:
        return {"type": "equation", "equation": given["equation"], "annotations": annotations,
                "plain_text": given["equation"]["expression"], "href": None}
    if "mention" in given:
        kind = given["mention"].get("type") or next(iter(given["mention"]))
        shown = given.get("plain_text") or f"@{given['mention'][kind].get('id') or given['mention'][kind].get('start')}"
        return {"type": "mention", "mention": {"type": kind, **given["mention"]}, "annotations": annotations,
                "plain_text": shown, "href": None}
    raise invalid(f"body failed validation: {where}.text should be defined, instead was `undefined`.")


def _number(given: Any, where: str) -> Any:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int | float)):
        raise invalid(f"body failed validation: {where} should be a number or `null`.")
    return given


def _option(schema: dict[str, Any], given: Any, new_id: Any) -> Any:
    """The option that a name or an id stands for; an unknown name becomes a new option."""
    if given is None:
        return None
    options = schema[schema["type"]].setdefault("options", [])
    for option in options:
        if given.get("id") == option["id"] or given.get("name") == option["name"]:
            return dict(option)
    name = given.get("name")
    if not isinstance(name, str) or "," in name:
        raise invalid("Invalid select option, commas not allowed.")
    if schema["type"] == "status":
        raise invalid(f'Invalid status option. Status option "{name}" does not exist".')
    option = {"id": new_id(), "name": name, "color": COLORS[len(options) % len(COLORS)]}
    options.append(option)
    return dict(option)


def property_value(name: str, schema: dict[str, Any], given: Any, users: dict[str, Any], new_id: Any) -> dict[str, Any]:
    """The value of a property as a page has it. Raises NotionError where Notion would not take it."""
    kind = schema["type"]
    if kind in READ_ONLY:
        raise invalid(f"body failed validation: {name} is a {kind} property and cannot be written.")
    if not isinstance(given, dict) or kind not in given:
        raise invalid(f"{name} is expected to be {kind}.")
    value, where = given[kind], f"body.properties.{name}.{kind}"
    if kind in ("title", "rich_text"):
        value = rich_text(value, where)
    elif kind == "number":
        value = _number(value, where)
    elif kind in ("select", "status"):
        value = _option(schema, value, new_id)
    elif kind == "multi_select":
        value = [_option(schema, one, new_id) for one in value]
    elif kind == "date" and value is not None:
        if not isinstance(value, dict) or not isinstance(value.get("start"), str):
            raise invalid(f"body failed validation: {where}.start should be a valid ISO 8601 date string.")
        value = {"start": value["start"], "end": value.get("end"), "time_zone": value.get("time_zone")}
    elif kind == "people":
        if any(one.get("id") not in users for one in value):
            raise invalid(f"body failed validation: {where}[0].id should be the id of a user of the workspace.")
        value = [users[one["id"]] for one in value]
    elif kind == "checkbox" and not isinstance(value, bool):
        raise invalid(f"body failed validation: {where} should be a boolean.")
    return {"id": schema["id"], "type": kind, kind: value}


EMPTY: dict[str, Any] = {"title": [], "rich_text": [], "multi_select": [], "people": [], "relation": [], "files": [],
                         "checkbox": False}


def empty_value(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema["type"]
    return {"id": schema["id"], "type": kind, kind: EMPTY.get(kind)}
