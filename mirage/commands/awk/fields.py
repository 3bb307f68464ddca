"""The current record and its fields, split when they are first asked for."""
from __future__ import annotations

import re

from mirage.commands.awk.errors import Fatal
from mirage.commands.awk.records import UNUSUAL_SPACE
from mirage.commands.awk.values import Known, number_of, to_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mirage.commands.awk.regexes import Matcher
    from mirage.process.process import Process

MAX_FIELD = 50_000_000
MANY = 1 << 16
BLANKS = re.compile("[ \t\n]+")
WIDTH = re.compile(r"(?:([0-9]+):)?([0-9]+|\*)\Z")


class Fields:
    """Part of Runtime: $0, $1 .. $NF, NF, FS, FIELDWIDTHS, FPAT, RS.

    `record` is valid unless `_stale`; `_fields` are valid if `_is_split`. The way of splitting that held when the
    record was read is kept with it.
    """

    process: Process
    matcher: Callable[[str], Matcher]
    text: Callable[[Any], str]
    input_value: Callable[[str], str]
    OFS: Any
    IGNORECASE: Any
    _matchers: dict[str, Matcher]

    def start_fields(self) -> None:
        self.values = Known(self.input_value)
        self.numbers = Known(lambda text: number_of(self.input_value(text)))
        self.record = ""
        self.plain = False
        self._fields: list[str] = []
        self._is_split = True
        self._stale = False
        self.FS: Any = " "
        self.RS: Any = "\n"
        self.separator = "\n"
        self.FIELDWIDTHS: Any = ""
        self.FPAT: Any = "[^[:space:]]+"
        self.field_mode = "FS"
        self._splitter: Callable[[str], list[str]] = self.split_blank
        self._blanks = True                                  # the splitter is that one

    # ---- splitting

    def split_blank(self, text: str) -> list[str]:
        if self.plain or UNUSUAL_SPACE.search(text) is None:
            return text.split()
        return [piece for piece in BLANKS.split(text) if piece]

    def splitter_of(self, separator: str) -> Callable[[str], list[str]]:
        """How FS splits: blanks, one character, each character, or a regular expression."""
        paragraphs = self.separator == ""
        if separator == " ":
            return self.split_blank
        if separator == "":
            return list
        if len(separator) == 1 and separator != "\\" and not (self.IGNORECASE and separator.isalpha()):
            if paragraphs and separator != "\n":
                both = self.matcher(f"[{separator}\n]" if separator not in "^]" else f"\\{separator}|\n")
                return lambda text: both.split(text)[0] if text else []
            return lambda text: text.split(separator) if text else []
        single = len(separator) == 1
        if separator == "\\":
            separator = "\\\\"
        found = self.matcher(f"({separator})|\n" if paragraphs and single else separator)
        return lambda text: found.split(text)[0] if text else []

    def _choose_splitter(self) -> None:
        if self.field_mode == "FS":
            self._splitter = self.splitter_of(self.text(self.FS))
        elif self.field_mode == "FPAT":
            pattern = self.matcher(self.text(self.FPAT))
            self._splitter = lambda text: find_fields(pattern, text)[0]
        else:
            self._splitter = fixed_splitter(self.text(self.FIELDWIDTHS))
        self._blanks = self._splitter == self.split_blank

    def split_record(self) -> None:
        self._fields = self._splitter(self.record)
        self._is_split = True

    def fields(self) -> list[str]:
        """The fields of the record; whoever asks does not change them."""
        if not self._is_split:
            self._fields = self.record.split() if self.plain and self._blanks else self._splitter(self.record)
            self._is_split = True
        return self._fields

    def set_FS(self, value: Any) -> Any:
        if not self._is_split:
            self.split_record()
        self.FS = value
        self.field_mode = "FS"
        self._choose_splitter()
        return value

    def set_FIELDWIDTHS(self, value: Any) -> Any:
        if not self._is_split:
            self.split_record()
        self.FIELDWIDTHS = value
        self.field_mode = "FIELDWIDTHS"
        self._choose_splitter()
        return value

    def set_FPAT(self, value: Any) -> Any:
        if not self._is_split:
            self.split_record()
        self.FPAT = value
        self.field_mode = "FPAT"
        self._choose_splitter()
        return value

    def set_RS(self, value: Any) -> Any:
        self.RS = value
        was = self.separator
        self.separator = self.text(value)
        if self.separator == "\\":
            self.separator = "\\\\"
        elif len(self.separator) == 1 and self.IGNORECASE and self.separator.isalpha():
            self.separator = f"[{self.separator}]"
        if (was == "") != (self.separator == ""):
            if not self._is_split:
                self.split_record()
            self._choose_splitter()
        return value

    def set_IGNORECASE(self, value: Any) -> Any:
        if not self._is_split:
            self.split_record()
        self.IGNORECASE = value if number_of(value) or type(value) is not float and value and number_of(value) else 0.0
        self._matchers.clear()
        self._choose_splitter()
        return value

    # ---- reading

    def set_record(self, text: str) -> None:
        """$0 = text"""
        self.record = text
        self.plain = False
        self._is_split = False
        self._stale = False

    def line(self) -> str:
        if self._stale:
            self.record = self.text(self.OFS).join(self._fields)
            self._stale = False
        return self.record

    def line_value(self) -> str:
        return self.input_value(self.line())

    def field(self, index: int) -> str:
        """The text of $index, index from 1."""
        if not self._is_split:
            self.split_record()
        fields = self._fields
        return fields[index - 1] if index <= len(fields) else ""

    def field_value(self, index: int) -> str:
        if not self._is_split:
            self.split_record()
        fields = self._fields
        return self.input_value(fields[index - 1]) if index <= len(fields) else ""

    def field_number(self, index: int) -> float:
        if not self._is_split:
            self.split_record()
        fields = self._fields
        if index > len(fields):
            return 0.0
        text = fields[index - 1]
        if self.input_value.__name__ != "input_value":
            return number_of(self.input_value(text))
        return to_number(text)

    def any_field(self, index: float) -> str:
        """The value of $(index)."""
        number = self.field_index(index)
        return self.field_value(number) if number else self.line_value()

    @staticmethod
    def field_index(index: float) -> int:
        if not index < MAX_FIELD:
            raise Fatal(f"attempt to access field {index:.0f}" if index == index else "attempt to access field nan")
        number = int(index)
        if number < 0:
            raise Fatal(f"attempt to access field {number}")
        return number

    def get_NF(self) -> float:
        if not self._is_split:
            self.split_record()
        return float(len(self._fields))

    # ---- changing

    def set_NF(self, value: Any) -> Any:
        number = number_of(value)
        if number < 0:
            raise Fatal("NF set to negative value")
        count = self.field_index(number)
        if not self._is_split:
            self.split_record()
        fields = self._fields
        if count < len(fields):
            del fields[count:]
        else:
            self._extend(count)
        self._stale = True
        return value

    def _extend(self, count: int) -> None:
        """Empty fields up to $count."""
        if count > MANY:
            self.process.kernel.fits(count * 24)
        self._fields.extend([""] * (count - len(self._fields)))

    def set_field(self, index: float, value: Any) -> Any:
        number = self.field_index(index)
        text = str.__str__(self.text(value))
        if number == 0:
            self.set_record(text)
            return value
        if not self._is_split:
            self.split_record()
        fields = self._fields
        if number > len(fields):
            self._extend(number)
        fields[number - 1] = text
        self._stale = True
        return value


def find_fields(pattern: Matcher, text: str) -> tuple[list[str], list[str]]:
    """(fields, separators before, between and behind them) by what fields look like."""
    fields: list[str] = []
    separators: list[str] = []
    last = 0
    for spans in pattern.iterate(text):
        begin, end = spans[0]
        if begin == end and (not text or begin == last != 0 and fields):
            continue
        fields.append(text[begin:end])
        separators.append(text[last:begin])
        last = end
    separators.append(text[last:])
    return fields, separators


def fixed_splitter(widths: str) -> Callable[[str], list[str]]:
    """FIELDWIDTHS: `[skip:]width` each, `*` for the rest."""
    parsed: list[tuple[int, int | None]] = []
    for word in widths.split():
        found = WIDTH.match(word)
        if found is None or parsed and parsed[-1][1] is None:
            raise Fatal(f"invalid FIELDWIDTHS value, for field {len(parsed) + 1}, near `{word}'")
        parsed.append((int(found.group(1) or 0), None if found.group(2) == "*" else int(found.group(2))))

    def split(text: str) -> list[str]:
        out: list[str] = []
        at = 0
        for skip, width in parsed:
            at += skip
            if at >= len(text):
                break
            out.append(text[at:] if width is None else text[at:at + width])
            at = len(text) if width is None else at + width
        return out

    return split
