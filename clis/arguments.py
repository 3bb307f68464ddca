"""The arguments of one operation: a JSON object, `--key value` pairs, `@file` or `-`, checked by its pydantic model."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from mirage.commands._io import read_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.clis.framework import ArgumentModel
    from mirage.process.process import Process


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
    try:
        return model.model_validate(values)
    except ValidationError as e:
        raise ArgumentError("; ".join(_explain(error) for error in e.errors(include_url=False))) from None


def _object(proc: Process, word: str) -> dict[str, Any]:
    if word == "-":
        text, where = read_all(proc, proc.file(0)).decode("utf-8", "replace"), "standard input"
    elif word.startswith("@"):
        text, where = proc.fs.read(word[1:]).decode("utf-8", "replace"), word[1:]
    else:
        text, where = word, "the argument"
    try:
        value = json.loads(text)
    except ValueError as e:
        raise ArgumentError(f"{where} is not JSON: {e}") from None
    if not isinstance(value, dict):
        raise ArgumentError(f"{where} must be a JSON object")
    return value


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
            try:
                return json.loads(text)
            except ValueError as e:
                raise ArgumentError(f"--{name} is not JSON: {e}") from None
        items = schema.get("items")
        return _convert(text, items, name) if isinstance(items, dict) and "array" in types else text
    if "string" in types or not types & {"boolean", "integer", "null", "number"}:
        return text
    if "boolean" in types and text in ("true", "false"):
        return text == "true"
    try:
        return json.loads(text)
    except ValueError:
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
