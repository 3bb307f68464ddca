"""Pieces that are parsed at run time: arithmetic, subscripts, arrays, texts."""

from __future__ import annotations

import pytest

from mirage.shell.ast import AExp, ArrayLit, AVar, Bin, Lit, Num, Param, Quoted, Subscript, Tilde, Word
from mirage.shell.parse import (
    ArithSyntaxError,
    ParseError,
    parse_arith,
    parse_array,
    parse_dquoted,
    parse_subscript,
    parse_word,
)  # fmt: skip
from tests.shell.parser.bash import needs_bash, run

MALFORMED = (
    "1 +", "1 + ", "1 2", "1 @ 2", "@", "1=2", "1?2", "1?:3", "1?2:", "(1", "a[1", "a[", "08", "8#9", "2#", "70#1", "1#1", "++",
    "1++", "a++b", "++a++", "a=", "1,", ",1", "()", "0xg", "1.5", "a.b", '"1"', "'1'", "1 || ", "!", "a b", "1 + * 2", "$", "a[1]b",
    "a[1]=", "x ? y", "3a", "2#12", "1;2", "1}", "a+=", "1+=2", "(a)=2", "0?1:a=3", "-a=3", "~", "a#b", "37#Zz", "1 : 2",
)  # fmt: skip


@needs_bash
def test_arithmetic_errors_have_bashs_text() -> None:
    for text in MALFORMED:
        with pytest.raises(ArithSyntaxError) as caught:
            parse_arith(text)
        quoted = text.replace("'", "'\\''")
        assert run(f"let '{quoted}'")[1] == f"bash: line 1: let: {text}: {caught.value}\n"


def test_arithmetic_text() -> None:
    assert parse_arith("") == Num(0)
    assert parse_arith(" 1 +\n2 ") == Bin("+", Num(1), Num(2))
    assert parse_arith("a['x y']") == AVar("a", Subscript(Word((Quoted("x y"),), "x y", False), None))
    assert parse_arith("a[$i]") == AVar("a", Subscript(Word((Param("i"),), None, False), AExp(Param("i"))))


def test_deep_expressions_end_in_a_message() -> None:
    for text in ("(" * 5000 + "1" + ")" * 5000, "-" * 5000 + "1", "1?" * 5000, "a[" * 5000 + "]" * 5000):
        try:
            parse_arith(text)
        except ArithSyntaxError as error:
            assert error.msg
    long = parse_arith("1" + "+1" * 5000)
    assert type(long) is Bin


def test_arrays() -> None:
    assert parse_array("(1 [2]=x)") == ArrayLit(
        (
            (None, "", Word((Lit("1"),), "1", False)),
            (Subscript(Word((Lit("2"),), "2", False), Num(2)), "=", Word((Lit("x"),), "x", False)),
        )
    )
    for text in ("1 2)", "(1", "(1) x", "(;)"):
        with pytest.raises(ParseError):
            parse_array(text)


def test_subscripts() -> None:
    assert parse_subscript("i+1") == Subscript(Word((Lit("i+1"),), "i+1", False), Bin("+", AVar("i"), Num(1)))
    assert parse_subscript("@").star == "@"
    assert parse_subscript('"@"').star == ""
    assert parse_subscript("~").word.lit == "~"


def test_texts_as_in_double_quotes() -> None:
    assert parse_dquoted("a \"$x\" 'b' \\$").parts == (Quoted('a "'), Param("x"), Quoted("\" 'b' $"))
    assert parse_dquoted("plain").lit == "plain"
    assert parse_dquoted("").lit == ""
    with pytest.raises(ParseError):
        parse_dquoted("${x")


def test_texts_as_words() -> None:
    assert parse_word("a b|c") == Word((Lit("a b|c"),), "a b|c", False)
    assert parse_word("~/$x") == Word((Tilde(""), Lit("/"), Param("x")), None, False)
