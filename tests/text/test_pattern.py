"""Shell patterns: matching, prefixes, suffixes, spans, and that none of it can be made slow."""

from __future__ import annotations

import time

import pytest

from mirage.text import pattern

MATCHES = [
    ("", "", True), ("", "a", False), ("*", "", True), ("?", "", False), ("?", "é", True), ("a*c", "abbc", True),
    ("a*c", "abb", False), ("*b*", "abc", True), ("*a*b*c", "xaxbxc", True), ("*a*b*c", "xbxaxc", False),
    ("a*a", "a", False), ("a*a", "aa", True), ("*.tar.*", "x.tar.gz", True), ("??*", "a", False),
    ("[abc]", "b", True), ("[!abc]", "b", False), ("[^abc]", "d", True), ("[a-c]", "c", True), ("[c-a]", "b", False),
    ("[]a]", "]", True), ("[!]a]", "]", False), ("[a-]", "-", True), ("[-a]", "-", True), ("[", "[", True),
    ("[a", "[a", True), ("[[:digit:]x]", "7", True), ("[[:alpha:]]", "é", True), ("[[:upper:]]", "É", True),
    ("[[:upper:]]", "é", False), ("[[:lower:]]", "ß", True), ("[![:space:]]", "\t", False), ("[[:nosuch:]]", "a", False),
    ("[[.hyphen.]]", "-", True), ("[[=e=]]", "e", True), (r"[\]]", "]", True), (r"[a\-c]", "b", False),
    (r"\*", "*", True), (r"\*", "a", False), (r"a\b", "ab", True), ("\\", "\\", True), ("a\nb", "a\nb", True),
    ("a*b", "a\n\nb", True), ("?", "\udcff", True), ("[!a]", "\udcff", True), ("\udcff*", "\udcffx", True),
    ("@(a|b)c", "bc", True), ("?(a)b", "b", True), ("*(ab|c)", "abcab", True), ("*(ab)", "", True), ("+(ab)", "", False),
    ("+([0-9])", "123", True), ("!(a)", "a", False), ("!(a)", "", True), ("!(a|b)c", "ac", False), ("!(*.c)", "x.h", True),
    ("!(!(a))", "a", True), ("a!(b)c", "abc", False), ("@(a|*(b|c))d", "bcbd", True), ("@(", "@(", True),
    (r"@(a\|b)", "a|b", True), ("@([|])", "|", True), ("*(a)b*", "aabx", True),
]  # fmt: skip


@pytest.mark.parametrize(("glob", "text", "expected"), MATCHES)
def test_matches(glob: str, text: str, expected: bool) -> None:
    assert pattern.compile(glob).matches(text) is expected


def test_groups_are_ordinary_text_without_extglob() -> None:
    assert pattern.compile("@(a|b)", extglob=False).matches("@(a|b)")
    assert pattern.compile("*(a)", extglob=False).matches("x(a)")


@pytest.mark.parametrize(("glob", "text"), [("ABC", "abc"), ("[A-C]x", "BX"), ("+([a-c])", "ABC"), ("É*", "éa")])
def test_without_regard_to_case(glob: str, text: str) -> None:
    assert pattern.compile(glob, nocase=True).matches(text)
    assert not pattern.compile(glob).matches(text)


@pytest.mark.parametrize(
    ("glob", "text", "shortest", "longest"),
    [
        ("*/", "a/b/c", 2, 4), ("a*", "abc", 1, 3), ("a?b", "axb-", 3, 3), ("b", "abc", -1, -1), ("*[0-9]", "a1b2c", 2, 4),
        ("*(a)", "aab", 0, 2), ("+(a|b)", "aabc", 1, 3), ("!(a)", "ab", 0, 2), ("*x*y", "axbycy", 4, 6),
    ],
)  # fmt: skip
def test_prefix(glob: str, text: str, shortest: int, longest: int) -> None:
    compiled = pattern.compile(glob)
    assert (compiled.prefix(text, False), compiled.prefix(text, True)) == (shortest, longest)


@pytest.mark.parametrize(
    ("glob", "text", "shortest", "longest"),
    [
        ("/*", "a/b/c", 3, 1), (".*", "x.tar.gz", 5, 1), ("*c", "abc", 2, 0), ("a", "abc", -1, -1), ("[a-z]*", "1a2b3", 3, 1),
        ("*(b)", "abb", 3, 1), ("+(b)", "abb", 2, 1), ("x*y", "axbxcy", 3, 1),
    ],
)  # fmt: skip
def test_suffix(glob: str, text: str, shortest: int, longest: int) -> None:
    compiled = pattern.compile(glob)
    assert (compiled.suffix(text, False), compiled.suffix(text, True)) == (shortest, longest)


@pytest.mark.parametrize(
    ("glob", "text", "expected"),
    [
        ("a", "banana", [(1, 2), (3, 4), (5, 6)]),
        ("an*n", "banana banana", [(1, 12)]),
        ("[0-9]", "a1é2", [(1, 2), (3, 4)]),
        ("+([0-9])", "é12a345", [(1, 3), (4, 7)]),
        ("*", "abc", [(0, 3)]),
        ("+(\udcff|b)", "a\udcff\udcffé b", [(1, 3), (5, 6)]),
        ("!(b)", "ab", [(0, 2)]),
        ("*(z)", "az", [(0, 0), (1, 2)]),
        ("x", "", []),
    ],
)
def test_spans_are_leftmost_and_longest(glob: str, text: str, expected: list[tuple[int, int]]) -> None:
    assert list(pattern.compile(glob).spans(text)) == expected


def test_literal() -> None:
    assert pattern.compile(r"a\*b").literal == "a*b"
    assert pattern.compile("a*b").literal is None
    assert pattern.compile(pattern.escape("[a]*?(x)\\")).literal == "[a]*?(x)\\"
    assert pattern.has_magic("a[b]") and not pattern.has_magic(r"a\[b]") and not pattern.has_magic("@(a)")
    assert pattern.has_magic("@(a)", True)


@pytest.mark.parametrize(
    ("glob", "text", "shortest", "longest"),
    [
        ("+(é|ab)", "éab" * 200 + "x", 1, 600), ("*(a)b", "a" * 400 + "bb", 401, 401), ("@(x|y)", "a" * 400, -1, -1),
        ("?(a)*(b|\udcff)", "a" + "\udcff" * 300, 0, 301),
    ],
)  # fmt: skip
def test_long_texts_are_matched_like_short_ones(glob: str, text: str, shortest: int, longest: int) -> None:
    compiled = pattern.compile(glob)
    assert (compiled.prefix(text, False), compiled.prefix(text, True)) == (shortest, longest)
    mirrored = pattern.compile(glob if glob != "*(a)b" else "b*(a)")
    if glob != "?(a)*(b|\udcff)":
        ends = tuple(len(text) - end if end >= 0 else -1 for end in (shortest, longest))
        reverse = text[::-1].replace("ba", "ab") if "é" in glob else text[::-1]
        assert (mirrored.suffix(reverse, False), mirrored.suffix(reverse, True)) == ends
    assert compiled.matches(text[:longest]) is (longest > 0)


def test_groups_on_a_very_long_text_end_soon() -> None:
    text = "ab" * 1_000_000
    start = time.process_time()
    assert not pattern.compile("+(ab)c").matches(text)
    assert pattern.compile("*(a|b)").matches(text)
    assert pattern.compile("+(ab)b").prefix(text, False) == -1
    assert not pattern.compile("*!(b)c*").matches(text)
    with pytest.raises(pattern.PatternTooComplex):
        pattern.compile("*!(*)c").matches(text)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("glob", ["*a*a*a*a*a*a*a*b", "+(a|aa|aaa)b", "*(*(a))b", "*?a*?a*?a*?b", "*[ab]*[ab]*[ab]c"])
def test_no_pattern_is_exponential(glob: str) -> None:
    text = "a" * 2000
    compiled = pattern.compile(glob)
    start = time.process_time()
    assert not compiled.matches(text)
    assert compiled.prefix(text, True) == -1
    assert compiled.suffix(text, False) == -1
    assert list(compiled.spans(text)) == []
    assert time.process_time() - start < 5
