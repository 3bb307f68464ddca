"""From a pattern to what can be asked of a mount's search (mirage/vfs/search.py). Shared by grep and rg."""
from __future__ import annotations

import re

from mirage.text.regex_ast import Assert, Char, Node, Seq, _flat
from mirage.text.regex_parse import SYNTAXES, Parser, literal_tree
from mirage.vfs.search import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORDS = re.compile(r"\w+")


def query_for(pattern: str, syntax: str, *, word: bool = False, line: bool = False, icase: bool = False,
              mode: str = "auto", names: Callable[[str], bool] | None = None) -> Query | None:
    """What every file with a match contains: whole words where there are some, else the longest literal, else None.

    syntax  a name of SYNTAXES, or "fixed"
    word, line  the match is a whole word (-w) or a whole line (-x)
    """
    tree = literal_tree(pattern) if syntax == "fixed" else Parser(pattern, SYNTAXES[syntax], False).parse()
    whole: list[str] = []
    longest = ""
    for text, left, right in literal_runs(tree, word or line):
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
