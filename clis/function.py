"""Python functions as a CLI: type hints check the arguments, the docstring is the help.

    def add(a: int, b: int = 1) -> int:
        '''Add two numbers.'''
        return a + b

    Terminal(clis=[FunctionCli("tools", [add])])             # tools add --a 2

Parameters may be whatever pydantic checks: dataclasses, models, Literal, lists, ... A parameter annotated with `Call`
gets the running call. Functions may be async. Texts and bytes are printed as they are, the rest as JSON, None not.
"""
from __future__ import annotations

import asyncio
import importlib
import inspect
import re
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_core import PydanticSerializationError, to_json

from mirage.clis._options import check_effects
from mirage.clis.framework import Call, Operation, OperationError, VirtualCli, in_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount

F = TypeVar("F", bound="Callable[..., Any]")
LONGEST_MESSAGE = 500
SECTION = re.compile(r"^(args|arguments|parameters|params)\s*:\s*$", re.IGNORECASE)
ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
SPHINX = re.compile(r"^:param\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)$")


def function_operation(*, effects: Iterable[str] = ("update",), name: str | None = None,
                       summary: str | None = None) -> Callable[[F], F]:
    """Decorator that says what a function does to the world; without it, `update` is assumed."""
    def mark(function: F) -> F:
        function.__dict__["cli_operation"] = (check_effects(tuple(effects)), name, summary)
        return function
    return mark


class FunctionCli(VirtualCli):
    """`functions`: the subcommands, by their names with `-` for `_`. TypeError for a function that cannot be one."""

    def __init__(self, name: str, functions: Iterable[Callable[..., Any]], description: str = "") -> None:
        super().__init__()
        made = [_made(function) for function in functions]
        if not made:
            raise TypeError(f"{name}: no functions")
        self.name = name
        self.description = description or f"Functions: {', '.join(o.name for o in made)}."
        self.operations = {o.name: o for o in made}
        if len(self.operations) < len(made):
            raise TypeError(f"{name}: two functions have the same name")


def _made(function: Callable[..., Any]) -> Operation:
    effects, name, summary = getattr(function, "cli_operation", (("update",), None, None))
    if not callable(function):
        raise TypeError(f"{function!r} is not a function")
    plain = name or getattr(function, "__name__", "").strip("_").replace("_", "-")
    if not plain or plain.startswith("<"):
        raise TypeError("a function without a name: give one with function_operation(name=...)")
    text = inspect.getdoc(function) or ""
    model, wants = _model(plain, function, _described(text))
    head = summary or " ".join(text.partition("\n\n")[0].split()).rstrip(".") or plain
    return Operation(plain, head, model, effects, _method(function, wants))


def _model(name: str, function: Callable[..., Any], described: dict[str, str]) -> tuple[type[BaseModel], str]:
    """The model of the arguments, and the name of the parameter that gets the Call ("": none)."""
    try:
        parameters = inspect.signature(function, eval_str=True).parameters
    except (NameError, TypeError, ValueError, SyntaxError) as e:
        raise TypeError(f"{name}: its signature cannot be read: {e}") from None
    fields: dict[str, Any] = {}
    wants = ""
    for key, parameter in parameters.items():
        if parameter.annotation is Call:
            wants = key
            continue
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD and parameter.kind is not parameter.KEYWORD_ONLY:
            raise TypeError(f"{name}: the parameter {parameter} has no name to give it by")
        kind = Any if parameter.annotation is parameter.empty else parameter.annotation
        default = ... if parameter.default is parameter.empty else parameter.default
        field = f"field_{key}" if key.startswith("_") or hasattr(BaseModel, key) else key
        fields[field] = (kind, Field(default, alias=key if field != key else None, description=described.get(key)))
    try:
        return create_model(name, __config__=ConfigDict(extra="forbid", arbitrary_types_allowed=False), **fields), wants
    except Exception as e:                                   # pydantic has several for types that it cannot check
        raise TypeError(f"{name}: pydantic cannot check its parameters: {e}") from None


def _described(text: str) -> dict[str, str]:
    """Parameter -> description, of a docstring in Google's or Sphinx's style."""
    found: dict[str, str] = {}
    inside, margin, last = False, -1, ""
    for line in text.splitlines():
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        sphinx = SPHINX.match(bare)
        if sphinx:
            found[sphinx.group(1)] = sphinx.group(2)
        elif SECTION.match(bare):
            inside, margin, last = True, -1, ""
        elif inside and bare:
            margin = indent if margin < 0 else margin
            entry = ENTRY.match(bare)
            if indent == 0 or indent < margin:
                inside = False
            elif indent == margin and entry:
                last = entry.group(1)
                found[last] = entry.group(2)
            elif last:
                found[last] += " " + bare
    return found


def _method(function: Callable[..., Any], wants: str) -> Callable[..., bytes]:
    def method(cli: FunctionCli, call: Call, arguments: BaseModel) -> bytes:
        values = {(field.alias or key): getattr(arguments, key) for key, field in type(arguments).model_fields.items()}

        def perform() -> bytes:
            result = function(**values, **({wants: call} if wants else {}))
            return printed(asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result)
        try:
            return perform() if wants else in_pool(perform)  # a Call belongs to the thread of its line
        except (OperationError, MemoryError):
            raise
        except (Exception, SystemExit) as e:
            text = " ".join(str(e).split())[:LONGEST_MESSAGE]
            raise OperationError(text or type(e).__name__, type(e).__name__) from None
    return method


async def _awaited(result: Any) -> Any:
    return await result


def printed(result: Any) -> bytes:
    """What a result looks like on standard output. TypeError for what is no JSON."""
    if result is None:
        return b""
    if isinstance(result, bytes):
        return result
    if isinstance(result, str):
        return (result if result.endswith("\n") or not result else result + "\n").encode("utf-8", "surrogateescape")
    try:
        return to_json(result) + b"\n"
    except PydanticSerializationError as e:
        raise TypeError(f"the result cannot be shown as JSON: {e}") from None


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> FunctionCli:
    """`clis: {NAME: {python: "package.module:attribute"}}`: a FunctionCli, a function, or a list of them, of a module
    that is installed; the folder of mirage.yaml is not searched."""
    unknown = sorted(set(options) - {"functions", "description"})
    if unknown:
        raise ValueError(f"clis.{name}: unknown option {unknown[0]!r}; there are: description")
    module, colon, attribute = str(options.get("functions", "")).partition(":")
    if not (colon and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise ValueError(f"clis.{name}: write python: \"module:attribute\"")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ImportError as e:
        raise ValueError(f"clis.{name}: {e}") from None
    except AttributeError:
        raise ValueError(f"clis.{name}: {module} has no {attribute}") from None
    if isinstance(found, FunctionCli):
        found.name = name
        return found
    try:
        return FunctionCli(name, [found] if callable(found) else found, options.get("description", ""))
    except TypeError as e:
        raise ValueError(f"clis.{name}: {e}") from None
