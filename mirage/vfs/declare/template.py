"""`{expression}` in names, paths, queries and texts, and jmespath expressions, both checked when they are declared."""
from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import jmespath
import jmespath.exceptions

if TYPE_CHECKING:
    from collections.abc import Callable

_HOLE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")


@functools.lru_cache(1024)
def _compiled(expression: str) -> Any:
    return jmespath.compile(expression)


def select(expression: str, value: Any) -> Any:
    """The part of `value` that a jmespath expression names; None where there is none."""
    if expression == "@":
        return value
    try:
        return _compiled(expression).search(value)
    except jmespath.exceptions.JMESPathError:
        return None


def check_expression(text: str) -> str:
    """The text; ValueError where it is no jmespath."""
    try:
        _compiled(text)
    except jmespath.exceptions.JMESPathError as e:
        raise ValueError(f"{text!r} is no jmespath: {str(e).splitlines()[0]}") from None
    return text


def check_template(text: str) -> str:
    for match in _HOLE.finditer(text):
        if match.group(1) is not None:
            check_expression(match.group(1))
    return text


def holes(template: str) -> list[str]:
    """The expressions of a template."""
    return [m.group(1) for m in _HOLE.finditer(template) if m.group(1) is not None]


def fill(template: str, context: Any, convert: Callable[[str], str] = str) -> str:
    """The template with the values of `context`; a missing one is empty."""
    def put(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group()[0]
        return convert(as_text(select(match.group(1), context)))
    return _HOLE.sub(put, template)


def fill_path(template: str, context: Any) -> str:
    """A URL's path; values are one component each. LookupError where one is missing or would lead elsewhere."""
    def component(value: str) -> str:
        if value in ("", ".", ".."):
            raise LookupError(f"a value for {template} is missing")
        return quote(value, safe="")
    return fill(template, context, component)


def fill_body(value: Any, context: Any) -> Any:
    """A JSON value whose texts are templates; a text that is one `{expression}` becomes the value itself."""
    if isinstance(value, dict):
        return {key: fill_body(v, context) for key, v in value.items()}
    if isinstance(value, list):
        return [fill_body(v, context) for v in value]
    if not isinstance(value, str):
        return value
    whole = _HOLE.fullmatch(value)
    return select(whole.group(1), context) if whole is not None and whole.group(1) is not None else fill(value, context)


def as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
