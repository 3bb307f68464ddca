"""Quoting: what is printed reads back as the same text."""
from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage.text import quoting

PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126))


@given(PRINTABLE)
def test_printable_words_read_back(text: str) -> None:
    assert shlex.split(quoting.single(text)) == [text]
    assert shlex.split(quoting.backslash(text)) == [text]
    assert shlex.split("x" + quoting.minimal(text), comments=False) == ["x" + text]


@pytest.mark.parametrize(("text", "expected"), [
    ("", "''"), ("plain", "plain"), ("two words", "two\\ words"), ("it's", "it\\'s"), ("~x", "\\~x"), ("a~", "a~"),
    ("a:~b", "a:\\~b"), ("#x", "\\#x"), ("x#", "x#"), ("a,b", "a\\,b"), ("é", "é"), ("a\nb'\\", "$'a\\nb\\'\\\\'"),
    ("\x1b\x01\x7f", "$'\\E\\001\\177'"), ("\udcff", "$'\\377'"), ("\x80", "$'\\302\\200'"),
])
def test_backslash(text: str, expected: str) -> None:
    assert quoting.backslash(text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("", ""), ("a,b=c%", "a,b=c%"), ("a b", "'a b'"), ("'", "\\'"), ("a'b", "'a'\\''b'"), ("#", "'#'"), ("a#", "a#"),
    ("^", "'^'"), ("\t", "$'\\t'"),
])
def test_minimal(text: str, expected: str) -> None:
    assert quoting.minimal(text) == expected


def test_double() -> None:
    assert quoting.double('a"$`\\b') == '"a\\"\\$\\`\\\\b"'
    assert quoting.double("line\n") == "$'line\\n'"


def test_subscript() -> None:
    assert [quoting.subscript(key) for key in ("a", "a b", "@", "", "é", "=", "\n")] == [
        "a", '"a b"', '"@"', '""', "é", "=", "$'\\n'"]
