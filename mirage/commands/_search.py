"""From patterns to what can be asked of a mount's search (mirage/vfs/search.py). Shared by grep and rg."""
from __future__ import annotations

import re

from mirage.text.regex import RegexError
from mirage.text.regex_ast import Alt, Assert, Char, Node, Seq, _flat
from mirage.text.regex_parse import SYNTAXES, Parser, literal_tree
from mirage.vfs.search import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WORDS = re.compile(r"\w+")
MOST = 8                                                     # questions for one search; with more everything is read
GROUP_START = re.compile(r"\(\?(?::|P?<[A-Za-z_]\w*>)")


def queries_for(patterns: Sequence[str], syntax: str, *, word: bool = False, line: bool = False, icase: bool = False,
                mode: str = "auto", names: Callable[[str], bool] | None = None) -> list[Query] | None:
    """Queries of which every file with a match answers at least one; None where there may be files that answer none.

    syntax  a name of SYNTAXES, "perl" (of PCRE and Rust), or "fixed"
    word, line  the match is a whole word (-w) or a whole line (-x)
    """
    found: dict[tuple[tuple[str, ...], bool], Query] = {}
    for pattern in patterns:
        tree = _tree(pattern, syntax)
        if tree is None:
            return None
        for branch in _branches(tree):
            query = _query(branch, word or line, icase, mode, names)
            if query is None:
                return None
            found[query.literals, query.whole_words] = query
    return list(found.values()) if 0 < len(found) <= MOST else None


def _tree(pattern: str, syntax: str) -> Node | None:
    if syntax == "fixed":
        return literal_tree(pattern)
    if syntax == "perl":
        extended = _extended(pattern)
        if extended is None:
            return None
        pattern, syntax = extended, "egrep"
    try:
        return Parser(pattern, SYNTAXES[syntax], False).parse()
    except RegexError:
        return None


def _branches(tree: Node) -> list[Node]:
    """Alternatives of which every match is one: those of the whole pattern, or of its only group that has some."""
    items = list(_flat(tree))
    places = [i for i, item in enumerate(items) if isinstance(item, Alt)]
    if len(places) != 1:
        return [tree]
    at = places[0]
    choice = items[at]
    assert isinstance(choice, Alt)
    found = [branch for item in choice.items for branch in _branches(Seq([*items[:at], item, *items[at + 1:]]))]
    return found if len(found) <= MOST or len(items) == 1 else [tree]


def _query(tree: Node, edges: bool, icase: bool, mode: str, names: Callable[[str], bool] | None) -> Query | None:
    """Whole words where there are some, else the longest literal, else None."""
    whole: list[str] = []
    longest = ""
    for text, left, right in literal_runs(tree, edges):
        longest = max(longest, text, key=len)
        for match in WORDS.finditer(text):
            if (match.start() or left) and (match.end() < len(text) or right):
                whole.append(match.group())
    if whole:
        return Query(dict.fromkeys(whole), True, icase, mode, names)
    return Query([longest], False, icase, mode, names) if WORDS.search(longest) else None


def literal_runs(tree: Node, edges: bool) -> Iterator[tuple[str, bool, bool]]:
    """(text, is there a word boundary before it, and behind it) of all literals that every match contains.

    edges  the match as a whole stands between word boundaries
    """
    text, left = "", edges
    for item in _flat(tree if isinstance(tree, Seq) else Seq([tree])):
        if isinstance(item, Char) and not 0xD800 <= item.code < 0xE000:
            text += chr(item.code)
            continue
        boundary = isinstance(item, Assert) and item.kind in ("<", ">", "b", "^", "$", "`", "'")
        if text:
            yield text, left, boundary
        text, left = "", boundary
    if text:
        yield text, left, edges


def _extended(pattern: str) -> str | None:
    """A pattern of PCRE or Rust as an extended one with the same literals; None where it has what is not known here."""
    out: list[str] = []
    i = 0
    while i < len(pattern):
        char = pattern[i]
        i += 1
        if char == "\\":
            letter = pattern[i:i + 1]
            i += 1
            if letter in ("b", "<", ">"):
                out.append("\\" + letter)
            elif letter and letter in "dDwWsS":
                out.append(".")
            elif not letter or letter.isalnum():
                return None
            else:
                out.append("\\" + letter if letter in "^$.[]|()*+?{}\\" else letter)
        elif char == "[":
            end = _bracket_end(pattern, i)
            if end < 0:
                return None
            out.append(".")
            i = end
        elif pattern.startswith("(*", i - 1):
            return None
        elif pattern.startswith("(?", i - 1):
            start = GROUP_START.match(pattern, i - 1)
            if start is None:
                return None
            out.append("(")
            i = start.end()
        else:
            out.append(char)
    return "".join(out)


def _bracket_end(pattern: str, i: int) -> int:
    """The offset behind the `]` of the set that begins before `i`; -1 where sets are nested or not closed."""
    if pattern.startswith("^", i):
        i += 1
    if pattern.startswith("]", i):
        i += 1
    while i < len(pattern):
        char = pattern[i]
        if char == "]":
            return i + 1
        if char == "[":
            end = pattern.find(":]", i) if pattern.startswith("[:", i) else -1
            if end < 0:
                return -1
            i = end + 2
        else:
            i += 2 if char == "\\" else 1
    return -1
