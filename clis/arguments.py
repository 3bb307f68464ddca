"""The arguments of one operation: a JSON object, `--key value` pairs, `@file` or `-`, checked by its pydantic model."""
from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from mirage.commands._io import chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.clis.framework import ArgumentModel
    from mirage.process.files import OpenFile
    from mirage.process.process import Process


LONGEST = 32 << 20                                           # bytes of JSON that @FILE or standard input may have
DEEPEST = 100                                                # arrays and objects within each other
SURROGATE = re.compile("[\ud800-\udfff]")                    # bytes that are no UTF-8, and halves of pairs
TYPE_NAMES = {bool: "boolean", int: "integer", float: "number", type(None): "null", list: "array", dict: "object"}


class ArgumentError(ValueError):
    """The words cannot be read as arguments of this operation; the text says what to write."""


def read_arguments(proc: Process, words: Sequence[str], model: ArgumentModel) -> Any:
    """The checked arguments. Words: any mix of one JSON object (or @FILE, or - for stdin) and --key value pairs."""
    values: dict[str, Any] = {}
    given = False
    properties = model.model_json_schema().get("properties", {})
    i = 0
    while i < len(words):
        word = words[i]
        i += 1
        if word.startswith("--") and len(word) > 2:
            name, equals, text = word[2:].partition("=")
            key = _key(name, properties)
            if not equals:
                if i < len(words) and not (words[i].startswith("--") and _is_flag(properties[key])):
                    text, i = words[i], i + 1
                elif _is_flag(properties[key]):
                    text = "true"
                else:
                    raise ArgumentError(f"--{name} needs a value")
            _put(values, key, _convert(text, properties[key], name), properties[key])
        elif not given:
            given = True
            values.update(_object(proc, word))
        else:
            raise ArgumentError(f"unexpected argument {word!r}: give one JSON object, or --key value pairs")
    _sendable(values, "")
    try:
        return model.model_validate(values)
    except ValidationError as e:
        raise ArgumentError("; ".join(_explain(error) for error in e.errors(include_url=False))) from None


def _object(proc: Process, word: str) -> dict[str, Any]:
    if word == "-":
        text, where = _text(proc, proc.file(0)), "standard input"
    elif word.startswith("@"):
        with proc.opened(word[1:]) as file:
            text, where = _text(proc, file), word[1:]
    else:
        text, where = word, "the argument"
    value = _parsed(text, where)
    if not isinstance(value, dict):
        raise ArgumentError(f"{where} must be a JSON object")
    return value


def _text(proc: Process, file: OpenFile) -> str:
    parts, size = [], 0
    for data in chunks(proc, file):
        size += len(data)
        if size > LONGEST:
            raise ArgumentError(f"the arguments are larger than {LONGEST >> 20} MiB")
        parts.append(data)
    try:
        return b"".join(parts).decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise ArgumentError(f"the arguments are not UTF-8 (byte {e.start})") from None


def _parsed(text: str, where: str) -> Any:
    def constant(name: str) -> Any:
        raise ValueError(f"{name} is no number")
    try:
        return json.loads(text, parse_constant=constant)
    except ValueError as e:
        if where == "the argument" and text.lstrip()[:1] not in ("{", "["):
            raise ArgumentError(f"{text[:40]!r} is neither a JSON object nor --key value") from None
        raise ArgumentError(f"{where} is not JSON: {e}") from None
    except RecursionError:
        raise ArgumentError(f"{where} is nested too deeply") from None


def _sendable(value: Any, where: str, depth: int = 0) -> None:
    """Raises ArgumentError for what JSON in UTF-8 cannot say."""
    if isinstance(value, str):
        if SURROGATE.search(value):
            raise ArgumentError(f"{where or 'a name'} is not valid Unicode")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ArgumentError(f"{where} is too large a number")
    elif isinstance(value, dict | list):
        if depth > DEEPEST:
            raise ArgumentError("the arguments are nested too deeply")
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(key, str):
                _sendable(key, where)
            _sendable(part, f"{where}.{key}" if where else str(key), depth + 1)


def _key(name: str, properties: dict[str, Any]) -> str:
    for key in properties:
        if name == key or name.replace("-", "_") == key.replace("-", "_"):
            return key
    known = ", ".join("--" + key for key in properties)
    raise ArgumentError(f"unknown argument --{name}; known: {known or 'none'}")


def _types(schema: dict[str, Any]) -> set[str]:
    found = {schema["type"]} if isinstance(schema.get("type"), str) else set(schema.get("type", ()))
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        found |= _types(part) if isinstance(part, dict) else set()
    if not found and isinstance(schema.get("enum"), list):
        found = {TYPE_NAMES.get(type(value), "string") for value in schema["enum"]}
    return found


def _is_flag(schema: dict[str, Any]) -> bool:
    return "boolean" in _types(schema)


def _convert(text: str, schema: dict[str, Any], name: str) -> Any:
    types = _types(schema)
    if not types or types & {"array", "object"}:
        if text[:1] in ("[", "{"):
            return _parsed(text, f"--{name}")
        items = schema.get("items")
        return _convert(text, items, name) if isinstance(items, dict) and "array" in types else text
    if "string" in types or not types & {"boolean", "integer", "null", "number"}:
        return text
    if "boolean" in types and text in ("true", "false"):
        return text == "true"
    try:
        return _parsed(text, f"--{name}")
    except ArgumentError:
        raise ArgumentError(f"--{name} must be {' or '.join(sorted(types))}, not {text!r}") from None


def _put(values: dict[str, Any], key: str, value: Any, schema: dict[str, Any]) -> None:
    if "array" in _types(schema) and not isinstance(value, list):
        values.setdefault(key, []).append(value)
    elif key in values:
        raise ArgumentError(f"--{key} is given twice")
    else:
        values[key] = value


def _explain(error: Any) -> str:
    where = ".".join(str(x) for x in error["loc"])
    if error["type"] == "missing":
        return f"{where} is required"
    if error["type"] == "extra_forbidden":
        return f"unknown argument {where!r}"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}" if where else str(error["msg"])
