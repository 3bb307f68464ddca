"""The output modes of the sqlite3 shell."""
from __future__ import annotations

import re

from mirage.commands._text import text_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

MODES = ("list", "csv", "json", "column", "line", "markdown", "box", "table", "html", "tabs", "quote", "ascii",
         "insert")
_QUOTED = re.compile(r"[\x00-\x20\"'\x7f-\U0010ffff]")


def real(value: float, exact: bool = False) -> str:
    """SQLite's text of a REAL: 15 digits, or 17 where `exact` needs them; always with a point."""
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "Inf" if value > 0 else "-Inf"
    text = f"{value:.15g}"
    if exact and float(text) != value:
        text = f"{value:.17g}"
    mantissa, e, exponent = text.partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent


def plain(value: Any, null: str) -> str:
    if value is None:
        return null
    if isinstance(value, float):
        return real(value)
    if isinstance(value, bytes):
        return value.partition(b"\0")[0].decode("utf-8", "surrogateescape")
    return str(value)


def literal(value: Any) -> str:
    """A value as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, float):
        return {"Inf": "9.0e+999", "-Inf": "-9.0e+999"}.get(real(value), real(value, True))
    if isinstance(value, int):
        return str(value)
    text: str = "'" + value.replace("'", "''") + "'"
    if "\n" in text or "\r" in text:
        for char, name in (("\n", "\\n"), ("\r", "\\r")):
            if char in text:
                text = f"replace({text.replace(char, name)},'{name}',char({ord(char)}))"
    return text


def identifier(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.upper() not in KEYWORDS else \
        '"' + name.replace('"', '""') + '"'


KEYWORDS = frozenset(["ADD", "ALL", "ALTER", "AND", "AS", "BETWEEN", "BY", "CASE", "CHECK", "COLLATE", "COMMIT",
                      "CONSTRAINT", "CREATE", "DEFAULT", "DELETE", "DISTINCT", "DROP", "ELSE", "EXISTS", "FOREIGN",
                      "FROM", "GROUP", "HAVING", "IN", "INDEX", "INSERT", "INTO", "IS", "JOIN", "LIMIT", "NOT", "NULL",
                      "ON", "OR", "ORDER", "PRIMARY", "REFERENCES", "SELECT", "SET", "TABLE", "THEN", "TO", "UNION",
                      "UNIQUE", "UPDATE", "USING", "VALUES", "WHEN", "WHERE"])


class Writer:
    def __init__(self) -> None:
        self.mode = "list"
        self.header = False
        self.separator = "|"
        self.row_end = "\n"
        self.null = ""
        self.table = "table"
        self.widths: list[int] = []

    def csv(self, value: Any) -> str:
        text = plain(value, self.null)
        if text and (_QUOTED.search(text) or self.separator in text) or text == "" and value is not None:
            return '"' + text.replace('"', '""') + '"'
        return text

    def rows(self, names: Sequence[str], rows: Iterable[Sequence[Any]], first: bool) -> str:
        """Text of a block of rows; `first`: the header comes with it."""
        mode = self.mode
        if mode in ("list", "tabs", "ascii"):
            lines = [names] if first and self.header else []
            return "".join(self.separator.join(line) + self.row_end for line in
                           [*lines, *([plain(v, self.null) for v in row] for row in rows)])
        if mode == "csv":
            lines = [[self.csv(n) for n in names]] if first and self.header else []
            return "".join(self.separator.join(line) + self.row_end for line in
                           [*lines, *([self.csv(v) for v in row] for row in rows)])
        if mode == "quote":
            lines = [[literal(n) for n in names]] if first and self.header else []
            return "".join(self.separator.join(line) + self.row_end
                           for line in [*lines, *(map(literal, r) for r in rows)])
        if mode == "line":
            width = max([5, *map(len, names)])
            return ("" if first else "\n") + "\n".join(
                "".join(f"{name:>{width}} = {plain(v, self.null)}\n" for name, v in zip(names, row, strict=True))
                for row in rows)
        if mode == "html":
            return self._html(names, rows, first)
        if mode == "insert":
            columns = "(" + ",".join(map(identifier, names)) + ")" if self.header else ""
            return "".join(f"INSERT INTO {identifier(self.table)}{columns} VALUES({','.join(map(literal, row))});\n"
                           for row in rows)
        return ""

    def _html(self, names: Sequence[str], rows: Iterable[Sequence[Any]], first: bool) -> str:
        def escape(text: str) -> str:
            return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace(
                "'", "&#39;")
        lines = [("TH", names)] if first and self.header else []
        lines += [("TD", [plain(v, self.null) for v in row]) for row in rows]
        return "".join("<TR>" + "".join(f"<{tag}>{escape(cell)}</{tag}>\n" for cell in cells) + "</TR>\n"
                       for tag, cells in lines)

    @property
    def whole(self) -> bool:
        """Does the mode need all rows at once?"""
        return self.mode in ("column", "markdown", "box", "table", "json")

    def table_text(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
        if self.mode == "json":
            return self._json(names, rows)
        if not rows:
            return ""
        cells = [[plain(v, self.null) for v in row] for row in rows]
        header = self.mode != "column" or self.header
        widths = []
        for at, name in enumerate(names):
            forced = self.widths[at] if at < len(self.widths) else 0
            widths.append(abs(forced)
                          or max(text_width(name) if header else 0, max(text_width(row[at]) for row in cells)))
        if self.mode == "column":
            lines = [names, ["-" * w for w in widths]] if self.header else []
            return "".join("  ".join(_pad(c, w) for c, w in zip(line, widths, strict=True)) + "\n"
                           for line in [*lines, *cells])
        left, middle, right, bar = ("│ ", " │ ", " │", "─") if self.mode == "box" else ("| ", " | ", " |", "-")

        def rule(start: str, cross: str, end: str) -> str:
            return start + cross.join(bar * (w + 2) for w in widths) + end + "\n"
        head = left + middle.join(_center(n, w) for n, w in zip(names, widths, strict=True)) + right + "\n"
        body = "".join(left + middle.join(_pad(c, w) for c, w in zip(row, widths, strict=True)) + right + "\n"
                       for row in cells)
        if self.mode == "markdown":
            return head + rule("|", "|", "|") + body
        if self.mode == "table":
            return rule("+", "+", "+") + head + rule("+", "+", "+") + body + rule("+", "+", "+")
        return rule("┌", "┬", "┐") + head + rule("├", "┼", "┤") + body + rule("└", "┴", "┘")

    @staticmethod
    def _json(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
        import json

        def value(v: Any) -> str:
            if isinstance(v, bytes):
                return '"' + "".join(f"\\u{b:04x}" for b in v) + '"'
            if isinstance(v, float):
                return {"Inf": "1e999", "-Inf": "-1e999"}.get(real(v), real(v))
            return json.dumps(v, ensure_ascii=False)
        if not rows:
            return ""
        keys = [json.dumps(n, ensure_ascii=False) for n in names]
        return "[" + ",\n".join("{" + ",".join(f"{k}:{value(v)}" for k, v in zip(keys, row, strict=True)) + "}"
                                for row in rows) + "]\n"


def _pad(text: str, width: int) -> str:
    return text + " " * (width - text_width(text))


def _center(text: str, width: int) -> str:
    room = width - text_width(text)
    return " " * (room // 2) + text + " " * (room - room // 2)
