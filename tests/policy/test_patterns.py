"""Path patterns: what they cover, and that no name makes them slow."""
from __future__ import annotations

import time

import pytest

from mirage.policy.patterns import PathPattern

COVERED = [
    ("/a", "/a /a/b /a/b/c", "/ /b /ab /x/a"),
    ("/a/**", "/a /a/b", "/ /ab"),
    ("/a/*", "/a/b /a/b/c", "/a /"),
    ("/a/*/c", "/a/b/c /a/x/c/d", "/a/c /a/b/x/c"),
    ("/a/**/c", "/a/c /a/b/c /a/b/b/c/d", "/a /a/b /c"),
    ("/**/c", "/c /a/c /a/b/c/d", "/a /cc"),
    ("*.pem", "/x.pem /a/b/x.pem /a/x.pem/y /.pem", "/x.pem2 /pem /a"),
    ("a/b", "/a/b /x/a/b/c", "/a /b /a/x/b"),
    ("**/a", "/a /x/a", "/ab"),
    ("a*b*c", "/abc /axbxc /aabbcc /x/abcbc/y", "/ab /acb /abcd"),
    ("*a*", "/a /ba /ab /xax/y", "/b"),
    ("a?c", "/abc /x/a.c", "/ac /abbc"),
    ("a[bc]d", "/abd /acd", "/aed /ad"),
    ("a[!bc]d", "/axd", "/abd /ad"),
    ("a[^b]d", "/axd", "/abd"),
    ("a[]]d", "/a]d", "/ad"),
    ("a[b-d]", "/ab /ad", "/ae /a-"),
    ("a[", "/a[", "/a"),
    ("a.b+(c)", "/a.b+(c)", "/axb+(c)"),
    ("/a b/\u00fc", "/a b/\u00fc/c", "/a b/u"),
    ("/", "/ /a /a/b", ""),
    ("/*", "/a /a/b", "/"),
    ("**", "/ /a", ""),
    ("/a/**/b/**/c", "/a/b/c /a/x/b/y/c /a/b/b/c/c", "/a/c/b /a/b"),
    ("/a/**/b/*/c", "/a/b/x/c /a/b/b/b/c /a/x/b/y/c", "/a/b/c"),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), COVERED)
def test_what_is_covered(pattern, yes, no):
    compiled = PathPattern(pattern)
    for path in yes.split(" ") if "a b" not in pattern else [yes]:
        assert compiled.covers(path), path
    for path in no.split() if "a b" not in pattern else [no]:
        assert not compiled.covers(path), path


@pytest.mark.parametrize("text", ["", "/a/../b", "..", "a[z-a]"])
def test_what_is_no_pattern(text):
    with pytest.raises(ValueError):
        PathPattern(text)


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*a*b", "**/a/**/b/**/c/**/d", "/**/*a*/**/*a*/**/*b", "?*?*?*?*?*x"])
def test_no_name_is_slow(pattern):
    compiled = PathPattern(pattern)
    started = time.process_time()
    for path in ("/" + "a" * 255, "/a" * 2000, "/a/b" * 1000, "/a/b/c" * 650, "/" + "ab" * 120 + "/a" * 1800):
        compiled.covers(path)
    assert time.process_time() - started < 0.5
