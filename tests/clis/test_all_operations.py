"""Every operation of every CLI with arguments that make no sense: one clear line of JSON and its status, never a traceback."""
from __future__ import annotations

import json
import shlex
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mirage import Terminal

MODULES = {"canvas": (), "gcal": (), "gdrive": ("googleapiclient",), "github": ("github",), "linear": (), "mail": ("googleapiclient",),
           "mongo": ("pymongo", "mongomock"), "notion": (), "redis": ("redis",), "s3": ("s3fs", "moto.server"), "slack": ("slack_sdk",),
           "sql": ("sqlalchemy",), "function": (), "openapi": ("jsonschema",), "rest": ()}
STATUSES = (0, 1, 2, 126)

# Whole command lines after `CLI OPERATION`, as shell text; {deep} is nested deeper than any parser goes.
LINES = ["", "'{}'", "'[]'", "null", "'{'", "'{} {}'", "'\"text\"'", "1e999", "'{\"nobody\": 1}'", "--nobody 1", "--=x", "--", "--nobody=", "''", "- </dev/null", "@", "@/missing", "@/workspace",
         "@/dev/zero", "- </dev/zero", "@/tmp/latin1.json", "$'\\xff'", "--$'\\xff' x", "@/tmp/deep.json", "@/tmp/digits.json", "@/tmp/surrogate.json", "'{}' '{}'"]
# Values of one argument, as JSON text.
VALUES = ["null", "true", "0", "-1", "1", "1e400", "-0.5", "NaN", "1" + "0" * 30, '""', '"x"', '"\\u0000"', '"\\ud800"', '"a/../b"', '"../../x"', '"%2e%2e/?#"',
          '"é\\r\\nX: y"', '"' + "long " * 4000 + '"', "[]", "[null]", "[[]]", '["x", 1]', "{}", '{"a": null}', '{"a": {"b": []}}', '"9999-99-99"', '"/workspace"', '"@"', '"[1"']


def plausible(schema: dict[str, Any]) -> Any:
    """A value that the schema allows, as far as that is easily told."""
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return plausible(schema[key][0])
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: plausible(properties.get(name, {})) for name in schema.get("required", ())}
    if kind == "array":
        return [plausible(schema.get("items") or {})]
    return {"integer": max(1, int(schema.get("minimum", 1))), "number": 1.5, "boolean": True, "null": None}.get(kind, "x")


def resolved(schema: Any, root: dict[str, Any], depth: int = 0) -> Any:
    """The schema with its references replaced."""
    if isinstance(schema, list):
        return [resolved(part, root, depth) for part in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name in root.get("$defs", {}):
        return resolved(root["$defs"][name], root, depth + 1) if depth < 6 else {}
    return {key: resolved(value, root, depth) for key, value in schema.items()}


def command_lines(cli: str, operation: Any, each: int | None = None) -> Iterator[str]:
    """Shell lines for an operation; `each`: how many of LINES, and of VALUES for each argument (None: all)."""
    def some(of: list[str], about: str) -> list[str]:
        first = zlib.crc32(about.encode())
        return of if each is None else [of[(first + i * 7) % len(of)] for i in range(each)]
    name = f"{cli} {operation.name}"
    for line in some(LINES, name):
        yield f"{name} {line}"
    schema = operation.model.model_json_schema()
    schema = resolved({k: v for k, v in schema.items() if k != "$defs"}, schema)
    usual = plausible(schema | {"type": "object"})
    yield f"{name} {shlex.quote(json.dumps(usual))}"
    for key in schema.get("properties", {}):
        for value in some(VALUES, f"{name} {key}"):
            rest = ", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in usual.items() if k != key)
            yield f"{name} {shlex.quote(f'{{{json.dumps(key)}: {value}' + (', ' + rest if rest else '') + '}')}"
        value = some(VALUES, f"{key} {name}")[0]
        yield f"{name} {shlex.quote(json.dumps({k: v for k, v in usual.items() if k != key}))} --{key} {shlex.quote(value)}"


def complaint(terminal: Terminal, line: str) -> str:
    """What is wrong with the answer to a line, or an empty text."""
    result = terminal.run(line, timeout=20)
    errors, text = terminal.machine.errors, result.stderr
    if errors:
        error = errors.pop()[1]
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        where = f" at {at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at is not None else ""
        return f"{type(error).__name__}: {str(error)[:200]}{where}"
    if result.exit_code not in STATUSES:
        return f"status {result.exit_code}: {text[:300]}"
    if "Traceback" in text or "Traceback" in result.stdout:
        return f"traceback: {text[-300:]}"
    if result.exit_code in (1, 2) and not text.startswith("bash: "):
        try:
            message = json.loads(text.splitlines()[0])["error"]["message"]
        except (ValueError, KeyError, IndexError, TypeError):
            return f"not one error: {text[:300]!r}"
        if text.count("\n") != 1 or not message.strip():
            return f"{text[:300]!r}"
        if len(message) > 1500:
            return f"a message of {len(message)} characters: {message[:300]!r}"
    return ""


def service(name: str, folder: Path) -> tuple[Any, list[Any], Any]:
    """(context of a server, CLIs, terminal) of a service."""
    raise NotImplementedError


class Closing:
    """A terminal and the server behind it."""

    def __init__(self, terminal: Terminal, stop: Callable[[], object] = lambda: None) -> None:
        self.terminal = terminal
        self.stop = stop
