"""Python functions as subcommands."""
from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from mirage import Terminal
from mirage.clis.framework import Call, OperationError
from mirage.clis.function import FunctionCli, function_operation
from mirage.config import ConfigError, load


@dataclass
class Point:
    x: int
    y: int = 0


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Order(BaseModel):
    item: str
    count: Annotated[int, Field(gt=0)] = 1


@function_operation(effects=["read"])
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    With a text that is not in the list.

    Args:
        a: the first number,
            on two lines
        b (int): what is added

    Returns:
        sum: both
    """
    return a + b


def describe(point: Point, colour: Colour = Colour.RED, *, tags: list[str] | None = None, kind: Literal["a", "b"] = "a",
             when: date | None = None) -> dict[str, Any]:
    """:param point: where it is"""
    return {"point": point, "is": type(point).__name__, "colour": colour, "tags": tags, "kind": kind, "when": when}


@function_operation(effects=["spend"], name="buy", summary="Buy something")
async def _purchase(order: Order, copy: bool = False) -> Order:
    await asyncio.sleep(0)
    return order.model_copy(update={"count": order.count * (2 if copy else 1)})


def text(kind: str) -> object:
    return {"text": "ä", "line": "x\n", "bytes": b"\x00\xff", "none": None, "empty": "", "list": (1, 2.5, None), "generator": (n for n in (1, 2)),
            "function": text, "nan": float("nan")}[kind]


def fail(how: str) -> None:
    if how == "operation":
        raise OperationError("not today", 409)
    if how == "exit":
        sys.exit("leave")
    if how == "silent":
        raise RuntimeError
    if how == "missing":
        open("/nowhere/at/all").close()
    raise ValueError("two\nlines " + "x" * 1000)


def lines(path: str, call: Call) -> int:
    return call.read_file(path).count(b"\n")


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with Terminal(clis=[FunctionCli("tools", [add, describe, _purchase, text, fail, lines])]) as terminal:
        yield terminal


@pytest.mark.parametrize("line, expected", [
    ("add --a 2", 3), ("add --a 2 --b 40", 42), ("""add '{"a": 1, "b": 1}'""", 2),
    ("""buy --order '{"item": "bolt", "count": 2}' --copy""", {"item": "bolt", "count": 4}),
    ("""describe --point '{"x": "1"}' --colour blue --tags t --tags u --when 2026-09-30""",
     {"point": {"x": 1, "y": 0}, "is": "Point", "colour": "blue", "tags": ["t", "u"], "kind": "a", "when": "2026-09-30"}),
    ("text --kind list", [1, 2.5, None]), ("text --kind generator", [1, 2]),
])
def test_arguments_and_results(terminal, line, expected):
    result = terminal.run("tools " + line)
    assert (result.exit_code, json.loads(result.stdout)) == (0, expected), result


@pytest.mark.parametrize("kind, shown", [("text", "ä\n".encode()), ("line", b"x\n"), ("bytes", b"\x00\xff"), ("none", b""), ("empty", b"")])
def test_results_that_are_no_json(terminal, kind, shown):
    result = terminal.run(f"tools text --kind {kind}")
    assert (result.exit_code, result.stdout_bytes) == (0, shown)


@pytest.mark.parametrize("line, message", [
    ("add", "a is required"), ("add --a x", "--a must be integer"), ("add --a 1 --c 2", "unknown argument --c"),
    ("""buy '{"order": {"item": "x", "count": 0}}'""", "order.count: Input should be greater than 0"),
    ("""describe '{"point": {"x": 1, "z": 2}, "colour": "green"}'""", "colour: Input should be 'red' or 'blue'"),
    ("""describe --point '{"x": 1}' --kind c""", "kind: Input should be 'a' or 'b'"),
])
def test_wrong_arguments(terminal, line, message):
    result = terminal.run("tools " + line)
    assert result.exit_code == 2 and message in json.loads(result.stderr)["error"]["message"] and not result.stdout


@pytest.mark.parametrize("how, code, message", [
    ("value", "ValueError", "two lines xxx"), ("operation", 409, "not today"), ("exit", "SystemExit", "leave"),
    ("silent", "RuntimeError", "RuntimeError"), ("missing", "FileNotFoundError", "[Errno 2] No such file or directory: '/nowhere/at/all'"),
])
def test_failures_are_one_line(terminal, how, code, message):
    result = terminal.run(f"tools fail --how {how}")
    error = json.loads(result.stderr)["error"]
    assert result.exit_code == 1 and error["code"] == code and error["message"].startswith(message)
    assert result.stderr.count("\n") == 1 and len(result.stderr) < 700 and "Traceback" not in result.merged


def test_a_result_that_is_no_json(terminal):
    assert "the result cannot be shown as JSON" in terminal.run("tools text --kind function").stderr


def test_help(terminal):
    text = terminal.run("tools --help").stdout
    assert "  add       Add two numbers\n" in text and "  buy       Buy something\n" in text
    shown = terminal.run("tools add --help").stdout
    assert "Effects: read" in shown and '"the first number, on two lines"' in shown and '"what is added"' in shown
    assert '"where it is"' in terminal.run("tools describe --help").stdout
    assert "call" not in terminal.run("tools lines --help").stdout.partition("Arguments")[2]
    assert "add(a)" in terminal.run("cat /SKILL.md").stdout


def test_files_of_the_terminal(terminal):
    assert terminal.run("printf '1\n2\n' > f; tools lines --path f").stdout == "2\n"
    assert "nope: No such file or directory" in terminal.run("tools lines --path nope").stderr


def test_functions_wait_side_by_side():
    meeting = threading.Barrier(3, timeout=20)

    def meet() -> str:
        meeting.wait()
        return "met"

    with Terminal(clis=[FunctionCli("tools", [meet])]) as terminal:
        assert terminal.run("for i in 1 2 3; do tools meet & done; wait").stdout == "met\n" * 3


def test_the_policy_sees_effects():
    with Terminal(clis=[FunctionCli("tools", [add, _purchase])], policy="rules: [{effect: spend, action: ask}]") as terminal:
        assert terminal.run("tools add --a 1").exit_code == 0
        assert terminal.run("""tools buy --order '{"item": "x"}'""").exit_code == 126


def anything(*values: int) -> None: ...
def positional(value: int, /) -> None: ...
def unknown(value): ...
def unchecked(value: Iterator[Terminal] | Terminal) -> None: ...


unknown.__annotations__["value"] = "Nothing"


@pytest.mark.parametrize("functions, message", [
    ([anything], "has no name to give it by"), ([positional], "has no name to give it by"), ([unknown], "its signature cannot be read"),
    ([unchecked], "pydantic cannot check"), ([lambda: None], "without a name"), ([add, add], "same name"), ([], "no functions"), ([3], "is not a function"),
])
def test_functions_that_cannot_be_operations(functions, message):
    with pytest.raises(TypeError, match=message):
        FunctionCli("tools", functions)


FUNCTIONS = [add]


def test_in_mirage_yaml(tmp_path):
    file = tmp_path / "mirage.yaml"
    for attribute in ("FUNCTIONS", "add"):
        file.write_text(f"clis: {{calc: {{python: '{__name__}:{attribute}'}}}}")
        with load(file).make_terminal() as terminal:
            assert terminal.run("calc add --a 1").stdout == "2\n"
    for text, message in (("nowhere.at_all:x", "No module named"), (f"{__name__}:nothing", "has no nothing"), ("os.system", "module:attribute"), ("os:name", "is not a function")):
        file.write_text(f"clis: {{calc: {{python: '{text}'}}}}")
        with pytest.raises(ConfigError, match=message):
            load(file).make_terminal()
