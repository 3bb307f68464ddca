from __future__ import annotations

import pytest

from mirage.commands._search import queries_for


def asked(pattern, syntax, **options):
    """[(literals, whole words?)] of the alternatives, or None."""
    found = queries_for([pattern] if isinstance(pattern, str) else pattern, syntax, **options)
    return None if found is None else [(set(q.literals), q.whole_words) for q in found]


@pytest.mark.parametrize(("pattern", "syntax", "options", "literals", "whole"), [
    ("foo", "fixed", {"word": True}, ("foo",), True), ("foo", "fixed", {}, ("foo",), False),
    ("foo bar baz", "fixed", {}, ("bar",), True), ("foo bar", "fixed", {"word": True}, ("foo", "bar"), True),
    ("foo bar", "fixed", {"line": True}, ("foo", "bar"), True), (r"\bfoo\b", "grep", {}, ("foo",), True),
    (r"\<foo\>x", "egrep", {}, ("foo",), True), (r"\bfoo", "grep", {}, ("foo",), False), ("fo*", "grep", {}, ("f",), False),
    ("a.long_literal", "grep", {}, ("long_literal",), False), ("^From: x", "grep", {}, ("From",), True),
    ("one.*three", "grep", {"word": True}, ("three",), False), (r"one \(two\) three", "grep", {}, ("two",), True)])
def test_literals(pattern, syntax, options, literals, whole):
    assert asked(pattern, syntax, **options) == [(set(literals), whole)]


@pytest.mark.parametrize(("pattern", "syntax"), [("[0-9]+", "egrep"), ("foo|[a-z]", "egrep"), ("...", "grep"), ("", "fixed"),
                                                 ("--", "fixed"), ("a|b|c|d|e|f|g|h|i", "egrep")])
def test_nothing_to_ask(pattern, syntax):
    assert asked(pattern, syntax) is None


def test_alternatives_and_several_patterns():
    assert asked("foo|bar", "egrep") == [({"foo"}, False), ({"bar"}, False)]
    assert asked("((foo|bar)|baz)", "egrep", word=True) == [({"foo"}, True), ({"bar"}, True), ({"baz"}, True)]
    assert asked("x(foo|bar)", "egrep") == [({"xfoo"}, False), ({"xbar"}, False)]
    assert asked(r"\b(foo|bar)\b", "egrep") == [({"foo"}, True), ({"bar"}, True)]
    assert asked("(a|b)long(c|d)", "egrep") == [({"long"}, False)]
    assert asked("long(a|b|c|d|e|f|g|h|i)", "egrep") == [({"long"}, False)]
    assert asked(["foo", "bar"], "fixed", word=True) == [({"foo"}, True), ({"bar"}, True)]
    assert asked(["foo", "..."], "grep") is None
    assert asked([], "grep") is None


@pytest.mark.parametrize(("pattern", "literals"), [
    (r"foo\d+bar", "foo"), (r"\bword\b", "word"), (r"(?:foo)bar", "foobar"), (r"(?P<n>foo)x", "foox"), ("foo[x-z]ba", "foo"),
    (r"a\.long", "a.long"), (r"foo[\]x]longer", "longer"), (r"[[:alpha:]]foo", "foo"), ("foo??long", "long"), ("ab{2}foo", "foo"),
    (r"say\-so", "say-so")])
def test_perl_and_rust(pattern, literals):
    assert [q.literals for q in queries_for([pattern], "perl")] == [(literals,)]


@pytest.mark.parametrize("pattern", [r"(?i)foo", r"foo\x41", r"\Qfoo\E", "(?=foo)", "[a[bc]]foo", "foo\\", "(*UCP)foo", "fo(o",
                                     r"(a)\1", "[foo"])
def test_perl_that_is_not_known(pattern):
    assert queries_for([pattern], "perl") is None
