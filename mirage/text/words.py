"""Words of a pattern, and what they can be inside of a JSON text."""
from __future__ import annotations

import re

WORDS = re.compile(r"\w+")


def words_of(literals: tuple[str, ...]) -> list[str]:
    """The runs of letters, digits and _ of some texts, each once."""
    return list(dict.fromkeys(word for literal in literals for word in WORDS.findall(literal)))


def json_variants(word: str) -> list[str]:
    """The texts of which one is in a value whose JSON holds `word`: \\n before `foo` reads as `nfoo`."""
    found = [word]
    if word[0] in "bfnrt":
        found.append(word[1:])
    elif re.match("u[0-9a-f]{4}", word):
        found.append(word[5:])
    return found
