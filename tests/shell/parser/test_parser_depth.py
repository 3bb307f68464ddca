"""Deep nesting is parsed or refused in words; it never ends in a RecursionError and never takes long."""

from __future__ import annotations

import random
import sys
import time

import pytest

from mirage.shell.parse import parse


def nested(opening: str, middle: str, closing: str, depth: int) -> str:
    return opening * depth + middle + closing * depth


SHAPES = {
    "$( )": ("echo ", "$(", "a", ")"),
    '"$( )"': ("echo ", '"$(echo ', "a", ')"'),
    "$(( ))": ("echo ", "$((", "1", "))"),
    "${ }": ("echo ", "${x:-", "1", "}"),
    "[[ ( ) ]]": ("[[ ", "( ", "a", " )"),
    "{a,}": ("echo ", "{a,", "b", "}"),
    "$(( ( ) ))": ("echo $((", "(", "1", ")"),
    "a[ ]": ("echo $((", "a[", "1", "]"),
    "${a[ ]}": ("echo ", "${a[", "1", "]}"),
    "<( )": ("echo ", "<(a ", "", ")"),
    "@( )": ("echo ", "@(", "a", ")"),
    "{ }": ("", "{ ", "a", "; }"),
    "( )": ("", "( ", "a", " )"),
    "((": ("", "(", "a", ")"),
    "if": ("", "if a; then ", "b", "; fi"),
    "case": ("", "case a in a) ", "b", ";; esac"),
    "f()": ("", "f() { ", "a", "; }"),
    "while": ("", "while a; do ", "b", "; done"),
    "!": ("", "! ", "a", ""),
    "[[ !": ("[[ ", "! ", "a", ""),
    "`": ("echo ", "`\\", "", ""),
    "$((a ": ("echo ", "$((a ) ", "", ""),
    "$'": ("echo ", "$'", "", ""),
    "a=(": ("", "a=(", "", ")"),
}
SHAPES["$((( a ) ))"] = ("echo ", "$(((", "", "a ) ))")
ENDS = {"[[ ( ) ]]": " ]]", "[[ !": " ]]", "$(( ( ) ))": "))", "a[ ]": "))"}


@pytest.mark.parametrize("shape", SHAPES)
def test_any_depth_is_answered_quickly(shape: str) -> None:
    before, opening, middle, closing = SHAPES[shape]
    for depth in (20, 55, 500, 1200, 5000):
        script = before + nested(opening, middle, closing, depth) + ENDS.get(shape, "")
        start = time.process_time()
        error = parse(script, extglob=True).error
        assert time.process_time() - start < 5
        assert error is None or error.msg


def test_reasonable_depths_are_accepted() -> None:
    for shape in ("$( )", '"$( )"', "$(( ))", "${ }", "[[ ( ) ]]", "{a,}", "$(( ( ) ))", "${a[ ]}"):
        before, opening, middle, closing = SHAPES[shape]
        assert parse(before + nested(opening, middle, closing, 25) + ENDS.get(shape, ""), extglob=True).error is None, (
            shape
        )
    for shape in ("{ }", "( )", "if", "case", "f()", "while"):
        before, opening, middle, closing = SHAPES[shape]
        assert parse(before + nested(opening, middle, closing, 900)).error is None, shape


def test_too_deep_is_said_in_words() -> None:
    for depth, shape in ((200, "$( )"), (2000, "{ }"), (2000, "if")):
        before, opening, middle, closing = SHAPES[shape]
        error = parse(before + nested(opening, middle, closing, depth)).error
        assert error is not None
        assert error.msg == "nesting too deep"


def test_a_caller_deep_in_recursion_gets_an_error_not_an_exception() -> None:
    script = "echo " + nested("$(", "a", ")", 40)

    def down(levels: int) -> object:
        return down(levels - 1) if levels else parse(script, line=levels + 1000).error

    depth = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        depth += 1
        frame = frame.f_back
    assert str(down(sys.getrecursionlimit() - depth - 120)).endswith("nesting too deep")


def test_long_lists_take_linear_time() -> None:
    for unit in (
        "a; ",
        "a | ",
        "a && ",
        "a 'b' \"$c\" > d\n",
        "x=$((1+2))\n",
        "cat <<E\nb\nE\n",
        "$(a) ",
        "if a; then b; fi\n",
    ):
        start = time.process_time()
        assert parse(unit * 3000 + "a").error is None
        assert time.process_time() - start < 4, unit


OPENINGS = (
    "$((", "$(", '"$(', "${x:-", "((", "(", "<(", "`", "[[ $(( ", "a[", "${a[", "$((a[", "{ ", "@(", "x=(", "$[", "cat <<E $(",
    "a ) ", "$(( 1 + ", "for (( $(", "declare a[$((", "a[$((", "x=([$((", "${$", "${x:",
)  # fmt: skip
CLOSINGS = (")", "))", "}", "]", " ) ", '"', " ))", ")} ", ";", "\nE\n", " )))")


def test_constructs_that_fail_inside_each_other_take_no_exponential_time() -> None:
    chance = random.Random(7)
    for _ in range(600):
        openings = chance.sample(OPENINGS, chance.randint(1, 3))
        closings = chance.sample(CLOSINGS, chance.randint(1, 3))
        script = "echo " + "".join(chance.choice(openings) for _ in range(35)) + "1"
        script += "".join(chance.choice(closings) for _ in range(chance.choice((35, 70))))
        start = time.process_time()
        parse(script, extglob=True)
        assert time.process_time() - start < 3, script
