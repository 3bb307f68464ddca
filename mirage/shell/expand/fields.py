"""Building the fields of a word: quoting, splitting by IFS, and what is to be globbed."""

from __future__ import annotations

import re

from mirage.text import pattern as patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mirage.shell.state import Shell

DEFAULT_IFS = " \t\n"
LARGE = 1 << 16
_FIELD_BYTES = 80  # what a short field takes
_CHECK_EVERY = 1 << 14  # pieces
MAGIC = re.compile(r"[*?\[]|[+@!]\(")
NEEDS_WORK = re.compile(r"[ \t\n*?\[]|[+@!]\(")  # splitting by the default IFS or globbing

_splitters: dict[str, re.Pattern[str]] = {}


def splitter(ifs: str) -> re.Pattern[str]:
    """Matches, one after another: text (group 1), a delimiter with a non-blank in it (2), IFS blanks (3)."""
    found = _splitters.get(ifs)
    if found is None:
        blanks = re.escape("".join(char for char in " \t\n" if char in ifs))
        hard = re.escape("".join(char for char in ifs if char not in " \t\n"))
        blank = f"[{blanks}]" if blanks else "(?!)"
        delimiter = f"{blank}*[{hard}]{blank}*" if hard else "(?!)"
        if len(_splitters) >= 64:
            _splitters.clear()
        found = _splitters[ifs] = re.compile(f"([^{re.escape(ifs)}]+)|({delimiter})|({blank}+)")
    return found


def join(sh: Shell, pieces: Sequence[str], separator: str = "") -> str:
    """``separator.join(pieces)`` within the memory limit."""
    total = sum(map(len, pieces))
    if total > LARGE:
        total += len(separator) * len(pieces)
        sh.kernel.fits(total)
        sh.grow(total)
    return separator.join(pieces)


def star_separator(sh: Shell) -> str:
    """What ``"$*"`` joins with: the first character of IFS."""
    ifs = sh.vars.get("IFS")
    if ifs.__class__ is not str:
        ifs = sh.get("IFS")
        if ifs is None:
            return " "
    return ifs[:1]


class Fields:
    """The fields of one word as they grow: pieces are added from left to right, `finish` gives the result.

    A piece is quoted (literal), unquoted literal text (never split) or the result of an expansion (split by IFS).
    """

    __slots__ = ("after_blank", "ifs", "magic", "out", "pieces", "quotes", "sh", "started")

    def __init__(self, sh: Shell) -> None:
        self.sh = sh
        self.out: list[str] = []
        self.pieces: list[str] = []
        self.quotes: list[bool] = []
        self.started = False
        self.magic = False
        self.after_blank = False
        ifs = sh.vars.get("IFS")
        if ifs.__class__ is not str:
            ifs = sh.get("IFS")
        self.ifs: str = DEFAULT_IFS if ifs is None else ifs

    def quoted(self, text: str) -> None:
        self.started = True
        self.after_blank = False
        self.pieces.append(text)
        self.quotes.append(True)

    def forget_empty(self) -> None:
        """A field that has begun but is still empty is none."""
        if not any(self.pieces):
            self.pieces.clear()
            self.quotes.clear()
            self.started = False

    def literal(self, text: str) -> None:
        """Text that is not split but may be a pattern."""
        self.started = True
        self.after_blank = False
        self.pieces.append(text)
        self.quotes.append(False)
        if not self.magic and MAGIC.search(text):
            self.magic = True

    def expansion(self, text: str) -> None:
        """The result of an unquoted expansion."""
        if not text:
            return
        ifs = self.ifs
        if not ifs:
            self.literal(text)
            return
        if ifs == DEFAULT_IFS and NEEDS_WORK.search(text) is None:
            self.literal(text)
            return
        for piece, hard, _ in splitter(ifs).findall(text) if len(text) <= LARGE else self._split_large(ifs, text):
            if piece:
                self.literal(piece)
            elif hard:
                if self.after_blank and not self.started:
                    self.after_blank = False
                else:
                    self.end()
            elif self.started:
                self.end()
                self.after_blank = True

    def _split_large(self, ifs: str, text: str) -> Iterator[tuple[str, ...]]:
        """What the splitter finds in a long text, one after another, within the limits."""
        kernel = self.sh.kernel
        for number, match in enumerate(splitter(ifs).finditer(text), 1):
            yield match.groups("")
            if not number % _CHECK_EVERY:
                kernel.fits(len(text) + _FIELD_BYTES * len(self.out))
                kernel.check()

    def several(self, values: Sequence[str], quoted: bool) -> None:
        """``$@``, ``${a[@]}`` and unquoted ``$*``."""
        if quoted:
            for index, value in enumerate(values):
                if index:
                    self.end()
                self.quoted(value)
        elif not self.ifs:
            for index, value in enumerate(values):
                if index and self.started:
                    self.end()
                if value:
                    self.literal(value)
        elif self.sh.vars.get("IFS") is None:
            self.expansion(join(self.sh, values, " "))
        else:
            self.expansion(join(self.sh, values, self.ifs[0]))

    def end(self) -> None:
        """The current field is complete (it may be empty)."""
        text = "".join(self.pieces)
        if self.magic:
            self._glob(text)
            self.magic = False
        else:
            self.out.append(text)
        self.pieces.clear()
        self.quotes.clear()
        self.started = False
        self.after_blank = False

    def _glob(self, text: str) -> None:
        sh = self.sh
        if sh.options.noglob:
            self.out.append(text)
            return
        from mirage.shell.expand.glob import expand_pattern

        pattern = "".join(
            patterns.escape(piece) if quoted else piece
            for piece, quoted in zip(self.pieces, self.quotes, strict=True)
        )
        self.out += expand_pattern(sh, pattern, text)

    def finish(self) -> list[str]:
        if self.started:
            self.end()
        return self.out


def split_text(sh: Shell, text: str) -> list[str]:
    """A text as the result of an unquoted expansion that is a whole word: split and globbed."""
    if not text:
        return []
    if NEEDS_WORK.search(text) is None and sh.vars.get("IFS") == DEFAULT_IFS:
        return [text]
    if MAGIC.search(text) is None and sh.vars.get("IFS") == DEFAULT_IFS:
        if len(text) > LARGE:
            blanks = text.count(" ") + text.count("\n") + text.count("\t")
            sh.kernel.fits(len(text) * 3 + blanks * 8 + min(blanks, len(text) - blanks) * _FIELD_BYTES)
        return [piece for piece in text.replace("\t", " ").replace("\n", " ").split(" ") if piece]
    fields = Fields(sh)
    fields.expansion(text)
    return fields.finish()
