"""Functions are printed as ``declare -f`` prints them, byte for byte."""

from __future__ import annotations

from mirage.shell import ast
from mirage.shell.parse import parse
from mirage.shell.printer import command_text, function_text
from tests.shell.parser.bash import functions, needs_bash
from tests.shell.parser.constructs import ALL_VALID


def printed(body: str) -> str:
    script = parse(f"__f ()\n{{\n{body}\n}}\n", extglob=True)
    assert script.error is None, script.error
    (function,) = script.items
    assert type(function) is ast.Function
    return function_text(function) + "\n"


@needs_bash
def test_functions_look_as_in_bash() -> None:
    compared = 0
    for body, theirs in zip(ALL_VALID, functions(ALL_VALID), strict=True):
        if theirs:
            if body.startswith("coproc "):              # patch levels before 5.2.37 print a name nobody gave
                theirs = theirs.replace(f"coproc COPROC {body[7:]}", body)
            assert printed(body) == theirs, body
            compared += 1
    assert compared > 300


def test_a_printed_function_parses_to_the_same_tree() -> None:
    for body in (
        "a; b & c",
        "if a; then b; fi",
        "x=$(a; b\nc)",
        "cat <<EOF\n$x\nEOF",
        "case x in a) b;; esac",
    ):
        once = printed(body)
        assert parse(once, extglob=True).items == parse(printed(body), extglob=True).items
        again = parse(once, extglob=True).items[0]
        assert type(again) is ast.Function
        assert function_text(again) + "\n" == once


def test_a_function_can_be_printed_under_another_name() -> None:
    (function,) = parse("function f { a; }").items
    assert type(function) is ast.Function
    assert function_text(function, "g") == "g () \n{ \n    a\n}"


def test_commands_outside_of_functions_stay_on_one_line() -> None:
    def shown(script: str) -> str:
        return command_text(parse(script).items)

    assert shown("echo  hi   >f 2>&1") == "echo hi > f 2>&1"
    assert shown("a | b && { c; d; }") == "a | b && { c; d; }"
    assert shown("( a; b ) & c") == "( a; b ) & c"
    assert shown("[[ $x == y ]]") == "[[ $x == y ]]"
    assert shown("for i in 1 2; do a; done") == "for i in 1 2;\ndo\n    a;\ndone"
