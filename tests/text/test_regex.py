"""POSIX and Perl expressions as GNU understands them: matches, groups, errors, and time."""
from __future__ import annotations

import random

import pytest

from mirage.text.regex import (
    RegexError,
    RegexTooComplex,
    compile_bre,
    compile_ere,
    compile_fixed,
    compile_many,
    compile_pcre,
    utf8_locale,
)


def found(rx, data):
    match = rx.search(data.encode() if isinstance(data, str) else data)
    return None if match is None else [match.group(), *match.groups()]


@pytest.mark.parametrize(("pattern", "data", "want"), [
    ("a|ab|abc", "xabcd", [b"abc"]),
    ("(a|ab)(c|bcd)(d*)", "abcd", [b"abcd", b"a", b"bcd", b""]),
    ("(a*)(ab)*(b*)", "aab", [b"aab", b"aa", None, b"b"]),
    ("x{2,3}", "xxxx", [b"xxx"]),
    ("x{,2}y", "xxxy", [b"xxy"]),
    ("()b", "b", [b"b", b""]),
    ("[[:digit:]_]+", "a1_2b", [b"1_2"]),
    ("[]x-]+", "a]-x", [b"]-x"]),
    ("[a\\]+", "b\\a", [b"\\a"]),
    ("a)", "a)", [b"a)"]),
    ("^b", "a\nb", None),
    ("a.b", "a\nb", [b"a\nb"]),
    ("\\<fo+\\>", "xfoo foo", [b"foo"]),
    ("\\w+\\W", "-ab cd", [b"ab "]),
    ("é+", "ceée", ["é".encode()]),
    (".", "é", ["é".encode()]),
    ("(.)\\1", "abccd", [b"cc", b"c"]),
])
def test_extended(pattern, data, want):
    assert found(compile_ere(pattern), data) == want


@pytest.mark.parametrize(("pattern", "data", "want"), [
    ("\\(a\\)\\1", "xaa", [b"aa", b"a"]),
    ("a\\{2\\}", "caaa", [b"aa"]),
    ("*a", "b*a", [b"*a"]),
    ("^*a", "*a", [b"*a"]),
    ("a\\+b\\?", "xaab", [b"aab"]),
    ("a\\|b", "cb", [b"b"]),
    ("a^b$c", "a^b$c", [b"a^b$c"]),
    ("(a)", "(a)", [b"(a)"]),
    ("\\(^a\\)", "ba", None),
])
def test_basic(pattern, data, want):
    assert found(compile_bre(pattern), data) == want


@pytest.mark.parametrize(("pattern", "syntax", "message"), [
    ("(", "egrep", "Unmatched ( or \\("), ("a)", "esed", "Unmatched ) or \\)"), ("[a", "egrep", "Unmatched [, [^, [:, [., or [="),
    ("*a", "esed", "Invalid preceding regular expression"), ("a{1", "esed", "Unmatched \\{"), ("a{2,1}", "egrep", "Invalid content of \\{\\}"),
    ("a{40000}", "egrep", "Regular expression too big"), ("\\", "grep", "Trailing backslash"), ("\\(a\\)\\2", "grep", "Invalid back reference"),
    ("[[:no:]]", "grep", "Invalid character class name"), ("[b-a]", "grep", "Invalid range end"), ("[[.xx.]]", "grep", "Invalid collation character"),
    ("[:space:]", "grep", "character class syntax is [[:space:]], not [:space:]"), ("a**", "sed", "Invalid preceding regular expression"),
])
def test_errors_have_the_texts_of_glibc(pattern, syntax, message):
    compile_ = compile_ere if syntax in ("egrep", "esed") else compile_bre
    with pytest.raises(RegexError) as caught:
        compile_(pattern, syntax=syntax)
    assert str(caught.value) == message


def test_what_only_some_tools_take_literally():
    assert found(compile_ere("a{x", syntax="egrep"), "a{x") == [b"a{x"]
    assert found(compile_ere("*a", syntax="awk"), "*a") == [b"*a"]
    assert found(compile_bre("\\{1", syntax="grep"), "{1") == [b"{1"]
    assert found(compile_bre("a\\nb", syntax="sed"), "a\nb") == [b"a\nb"]
    assert found(compile_ere("[\\]a]", syntax="awk"), "]") == [b"]"]


def test_case_and_locale():
    assert found(compile_ere("[a-c]x", icase=True), "Bx") == [b"Bx"]
    assert found(compile_ere("É", icase=True), "é") == ["é".encode()]
    assert found(compile_ere(".", utf8=False), "é") == ["é".encode()[:1]]
    assert found(compile_ere("[[:upper:]]", icase=True), "a") == [b"a"]
    assert found(compile_ere("\\bw\\w+", icase=False), "äw wörd") == ["wörd".encode()]
    assert utf8_locale({"LANG": "C.UTF-8"}) and not utf8_locale({"LC_ALL": "C", "LANG": "C.UTF-8"})


def test_lines_never_cross_a_newline():
    rx = compile_ere("a[^x]b|\\s+$|^c", lines=True)
    assert [m.span() for m in rx.finditer(b"a\nb \nc")] == [(3, 4), (5, 6)]


def test_matches_go_on_as_in_sed():
    assert [m.span() for m in compile_ere("a*").finditer(b"baac")] == [(0, 0), (1, 3), (4, 4)]
    assert [m.span() for m in compile_ere("x*").finditer("é".encode())] == [(0, 0), (2, 2)]


def test_search_looks_back_over_pos():
    assert compile_ere("^b").search(b"ab", 1) is None
    assert compile_ere("\\bb").search(b"ab", 1) is None
    assert compile_ere("b").match(b"ab", 1).span() == (1, 2)
    assert compile_ere("a|ab").fullmatch(b"ab").span() == (0, 2)


def test_literals_are_known():
    assert compile_fixed(["a.b"]).literal_only
    assert compile_ere("foo.*[0-9]").literal == b"foo"
    assert compile_ere("foo", icase=True).literal is None
    assert found(compile_fixed(["x.", "y"]), "xx y") == [b"y"]
    assert found(compile_many(["\\(a\\)\\1", "\\(b\\)\\1"], "grep"), "abb") == [b"bb", None, b"b"]


def test_large_repetitions():
    assert found(compile_ere("(ab?){1500}c"), "ab" * 1500 + "c")[1] == b"ab"
    assert found(compile_ere("(a{500}){3}$"), "a" * 1600)[0] == b"a" * 1500
    with pytest.raises(RegexError):
        compile_ere("((a{1000}){1000}){1000}")


def test_perl():
    assert found(compile_pcre(r"(?<=x)y+\x{e9}"), "xyyé") == ["yyé".encode()]
    assert found(compile_pcre(r"(?<n>a)\k<n>"), "baa") == [b"aa", b"a"]
    assert compile_pcre(r"(?<n>a)").names == {"n": 1}
    assert found(compile_pcre(r"\w", ucp=False), "é") is None
    with pytest.raises(RegexError) as caught:
        compile_pcre("(")
    assert str(caught.value) == "missing closing parenthesis"


@pytest.mark.parametrize("rx", [
    lambda: compile_ere("(a+)+$"), lambda: compile_ere("((((a*)*)*)*)*b"), lambda: compile_ere("(a|aa)+\\1{9}x"),
    lambda: compile_pcre("^(a+)+$"), lambda: compile_pcre("(a|a|a)*b"), lambda: compile_bre("\\(a*\\)*\\1b"),
])
def test_nothing_hangs(rx):
    try:
        rx().search(b"a" * 20000 + b"!")
    except RegexTooComplex:
        pass


def test_python_patterns_agree_with_re2():
    """Where a pattern may go to Python's re, it must find what the linear engine finds."""
    rng = random.Random(7)
    atoms = ["a", "b", "[ab]", "[^b]", ".", "x*", "a+", "[ab]{1,2}", "b?", "(a)", "(foo|ba)"]
    checked = 0
    for _ in range(400):
        rx = compile_ere("".join(rng.choice(atoms) for _ in range(rng.randint(1, 5))), lines=True)
        plain = rx.python()
        if plain is None:
            continue
        data = "".join(rng.choice("abxfo\n") for _ in range(30)).encode()
        ours = rx.search(data)
        theirs = plain[0].search(data)
        assert (ours and ours.span()) == (theirs and theirs.span()), plain[0].pattern
        checked += 1
    assert checked > 100
