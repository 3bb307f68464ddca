from __future__ import annotations

import pytest

from mirage.commands._search import query_for


@pytest.mark.parametrize(("pattern", "syntax", "options", "literals", "whole"), [
    ("foo", "fixed", {"word": True}, ("foo",), True), ("foo", "fixed", {}, ("foo",), False),
    ("foo bar baz", "fixed", {}, ("bar",), True), ("foo bar", "fixed", {"word": True}, ("foo", "bar"), True),
    ("foo bar", "fixed", {"line": True}, ("foo", "bar"), True), (r"\bfoo\b", "grep", {}, ("foo",), True),
    (r"\<foo\>x", "egrep", {}, ("foo",), True), (r"\bfoo", "grep", {}, ("foo",), False), ("fo*", "grep", {}, ("f",), False),
    ("a.long_literal", "grep", {}, ("long_literal",), False), ("^From: x", "grep", {}, ("From",), True),
    ("one.*three", "grep", {"word": True}, ("three",), False), (r"one \(two\) three", "grep", {}, ("two",), True)])
def test_literals(pattern, syntax, options, literals, whole):
    query = query_for(pattern, syntax, **options)
    assert (set(query.literals), query.whole_words) == (set(literals), whole)


@pytest.mark.parametrize(("pattern", "syntax"), [("[0-9]+", "egrep"), ("foo|bar", "egrep"), ("...", "grep"), ("", "fixed"),
                                                 ("--", "fixed")])
def test_nothing_to_ask(pattern, syntax):
    assert query_for(pattern, syntax) is None
