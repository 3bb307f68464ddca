"""Blocks of lines searched and changed in C must give what a loop over the lines gives."""
from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage.text import blocks
from mirage.text.regex import compile_ere

LINES = st.lists(st.text("ab1 $.\x01", max_size=8), min_size=1, max_size=12)


@given(LINES, st.sampled_from(["a", "b1", "a.", "$", "1 ", "a b"]), st.booleans())
def test_selects_lines_with_a_string(lines, needle, invert):
    block = "\n".join(lines).encode() + (b"\n" if not lines[-1] or invert else b"")
    marked = blocks.mark_lines(blocks.literal(needle.encode()), block)
    wanted = [line for line in lines if (needle in line) != invert]
    assert marked.select(invert) == b"".join(line.encode() + b"\n" for line in wanted)
    assert marked.count == sum(needle in line for line in lines)


@given(LINES, st.sampled_from(["a+1", "(a|b1) ", "[ab]+$", "^a.*1", "b{2}", "a.*b"]))
def test_selects_lines_with_an_expression(lines, text):
    block = "\n".join(line.replace("\x01", "") for line in lines).encode() + b"\n"
    source = blocks.plain_source(compile_ere(text, lines=True), block)
    assert source is not None
    marked = blocks.mark_lines(source, block)
    assert marked.select(False) == b"".join(line + b"\n" for line in block[:-1].split(b"\n")
                                            if re.search(text.encode(), line))


def test_a_block_full_of_control_bytes_is_left_to_others():
    with pytest.raises(blocks.Unsuited):
        blocks.mark_lines(b"a", bytes(range(1, 32)) * 2)


def test_long_lines_keep_costly_expressions_out():
    regex = compile_ere("a.*b", lines=True)
    assert blocks.plain_source(regex, b"a" * 150 + b"\n") is not None
    assert blocks.plain_source(regex, b"a" * 5000 + b"\n") is None


def test_replaces_with_groups_and_dollars():
    assert blocks.substitute(rb"(a)(b)?", b"$$<$2$1>", b"ab a\n") == (b"$<ba> $<a>\n", 2)
