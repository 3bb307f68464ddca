"""WordPiece as BERT's uncased models know it: text to the numbers of its pieces."""
from __future__ import annotations

import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST = 100                                                # characters of a word that is looked up


class WordPiece:
    """vocabulary: a file with one piece per line; the line's number is the piece's."""

    def __init__(self, vocabulary: Path) -> None:
        pieces = vocabulary.read_text(encoding="utf-8").splitlines()
        self.numbers = {piece: number for number, piece in enumerate(pieces)}
        self.first, self.last = self.numbers["[CLS]"], self.numbers["[SEP]"]
        self.unknown = self.numbers["[UNK]"]

    def encode(self, text: str, most: int) -> list[int]:
        """At most `most` numbers, the marks of beginning and end among them."""
        found = [self.first]
        for word in _words(text):
            found += self._pieces(word)
            if len(found) >= most:
                break
        return [*found[:most - 1], self.last]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > LONGEST:
            return [self.unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            end = len(word)
            while end > start:
                number = self.numbers.get(word[start:end] if not start else "##" + word[start:end])
                if number is not None:
                    found.append(number)
                    break
                end -= 1
            else:
                return [self.unknown]
            start = end
        return found


def _words(text: str) -> Iterator[str]:
    """Lower case without accents; punctuation and CJK characters are words of their own."""
    word: list[str] = []
    for char in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(char)
        if kind == "Mn" or char == "\ufffd" or kind[0] == "C" and char not in "\t\n\r":
            continue
        alone = _is_punctuation(char, kind) or _is_cjk(ord(char))
        if (alone or char.isspace()) and word:
            yield "".join(word)
            word = []
        if alone:
            yield char
        elif not char.isspace():
            word.append(char)
    if word:
        yield "".join(word)


def _is_punctuation(char: str, kind: str) -> bool:
    return kind[0] == "P" or char.isascii() and char.isprintable() and not char.isalnum() and not char.isspace()


def _is_cjk(code: int) -> bool:
    return 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF \
        or 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F
