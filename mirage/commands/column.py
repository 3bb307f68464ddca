"""column: columnate lists and tables (util-linux 2.41)."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import decode, encode, read_operand
from mirage.commands._text import char_width, fatal
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("c:C:dE:eH:i:Jl:LmN:n:O:o:p:R:r:s:S:T:txW:h", {
    "columns": ("c", REQUIRED), "table-columns-limit": ("l", REQUIRED), "fillrows": ("x", NONE),
    "input-separator": ("s", REQUIRED), "json": ("J", NONE), "keep-empty-lines": ("L", NONE),
    "output-separator": ("o", REQUIRED), "output-width": ("c", REQUIRED), "separator": ("s", REQUIRED),
    "table": ("t", NONE), "table-columns": ("N", REQUIRED), "table-column": ("C", REQUIRED),
    "table-empty-lines": ("L", NONE), "table-header-repeat": ("e", NONE), "table-hide": ("H", REQUIRED),
    "table-maxout": ("m", NONE), "table-name": ("n", REQUIRED), "table-noextreme": ("E", REQUIRED),
    "table-noheadings": ("d", NONE), "table-order": ("O", REQUIRED), "table-right": ("R", REQUIRED),
    "table-truncate": ("T", REQUIRED), "table-wrap": ("W", REQUIRED), "tree": ("r", REQUIRED),
    "tree-id": ("i", REQUIRED),
    "tree-parent": ("p", REQUIRED), "use-spaces": ("S", REQUIRED)},
    help="Usage:\n column [options] [<file>...]\n\nColumnate lists.\n")


class Options:
    def __init__(self) -> None:
        self.table = self.json = self.fill_rows = self.keep_empty = self.no_headings = False
        self.input_separator: str | None = None
        self.output_separator = "  "
        self.width = 80
        self.names: list[str] = []
        self.right: list[str] = []
        self.hide: list[str] = []
        self.order: list[str] = []
        self.table_name = "table"
        self.limit = 0
        self.spaces: int | None = None


def cells(text: str) -> int:
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(max(0, char_width(c)) for c in text)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    o = Options()
    columns = proc.env.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        o.width = int(columns)
    for key, value in options:
        _option(proc, o, key, value)
    if o.json and not o.names:
        raise fatal(proc, "option --table-columns or --table-column required for --json")
    if o.json:
        o.table = True
    if not o.table and (o.right or o.hide or o.order or o.names or o.table_name != "table"):
        raise fatal(proc, "option --table required for all --table-*")
    if o.table and o.fill_rows:
        raise fatal(proc, "mutually exclusive arguments: --table --fillrows")
    lines, status = _lines(proc, operands, o)
    if o.table and lines:
        _table(proc, o, lines)
    elif lines:
        _columns(proc, o, lines)
    if o.table:
        return 0 if lines else min(status, 1)
    return min(status, 1) if lines else status


def _option(proc: Process, o: Options, key: str, value: str) -> None:
    if key == "c":
        if value == "unlimited":
            o.width = 1 << 30
        elif not value.isdecimal() or int(value) == 0:
            raise fatal(proc, f"invalid columns argument: '{value}'")
        else:
            o.width = int(value)
    elif key == "s":
        o.input_separator = value
    elif key == "o":
        o.output_separator = value
    elif key == "t":
        o.table = True
    elif key == "x":
        o.fill_rows = True
    elif key == "J":
        o.json = True
    elif key == "L":
        o.keep_empty = True
    elif key == "d":
        o.no_headings = True
    elif key == "N":
        o.names += value.split(",")
    elif key == "C":
        found = re.search(r"(?:^|,)name=([^,]*)", value)
        o.names.append(found[1] if found else value)
        if re.search(r"(?:^|,)right(?:,|$)", value):
            o.right.append(o.names[-1])
    elif key == "R":
        o.right += value.split(",")
    elif key == "H":
        o.hide += value.split(",")
    elif key == "O":
        o.order += value.split(",")
    elif key == "n":
        o.table_name = value
    elif key == "l":
        if not value.isdecimal():
            raise fatal(proc, f"invalid columns limit argument: '{value}'")
        o.limit = int(value)
    elif key == "S":
        if not value.isdecimal():
            raise fatal(proc, f"invalid spaces argument: '{value}'")
        o.spaces = int(value)
    elif key == "h":
        proc.stdout.write(SPEC.help.encode())
        raise Exit(0)


def _lines(proc: Process, operands: list[str], o: Options) -> tuple[list[str], int]:
    lines: list[str] = []
    status = 0
    for name in operands or ["-"]:
        try:
            data = read_operand(proc, name)
        except OSError as e:
            proc.message(f"{name}: {e.strerror}" if not isinstance(e, IsADirectoryError)
                         else f"read failed: {e.strerror}")
            proc.write_error(refusal_note(e))
            status += 1
            continue
        text = decode(data)
        parts = text.split("\n")
        if parts and not parts[-1]:
            parts.pop()
        lines += [p for p in parts if o.keep_empty or p.strip(" \t\v\f\r")]
    return lines, status


def _columns(proc: Process, o: Options, lines: list[str]) -> None:
    """Fill columns (down, or with -x across), padded with tabs."""
    longest = max(cells(line) for line in lines)
    if o.spaces is not None:
        width = longest + o.spaces
    else:
        width = (longest + 8) & ~7
    count = max(1, o.width // width)
    rows = -(-len(lines) // count)
    out = []
    if longest >= o.width:
        proc.stdout.write(encode("".join(line + "\n" for line in lines)))
        return
    for row in range(rows):
        items = lines[row * count:(row + 1) * count] if o.fill_rows else lines[row::rows]
        position = 0
        for number, item in enumerate(items):
            out.append(item)
            position += cells(item)
            if number == len(items) - 1:
                break
            end = (number + 1) * width
            if o.spaces is not None:
                out.append(" " * (end - position))
                position = end
            else:
                while (position + 8) & ~7 <= end:
                    out.append("\t")
                    position = (position + 8) & ~7
        out.append("\n")
        proc.check()
    proc.stdout.write(encode("".join(out)))


def _split(o: Options, line: str) -> list[str]:
    if o.input_separator is None:
        text = line.strip(" \t\n\v\f\r")
        return re.split(r"[ \t\n\v\f\r]+", text, maxsplit=o.limit - 1 if o.limit else 0) \
            if text else []
    if not o.input_separator:
        return [line]
    if len(o.input_separator) == 1:
        return line.split(o.input_separator, o.limit - 1 if o.limit else -1)
    pattern = "[" + re.escape(o.input_separator) + "]"
    return re.split(pattern, line, maxsplit=o.limit - 1 if o.limit else 0)


def _index(proc: Process, o: Options, names: list[str], text: str, count: int) -> list[int]:
    """Columns that a name, a number or a range means; `-` the unnamed ones, 0 all."""
    if text in names:
        return [names.index(text)]
    if text.lstrip("-").isdecimal() and int(text):
        number = int(text)
        at = number - 1 if number > 0 else count + number
        if 0 <= at < count:
            return [at]
    if text == "0":
        return list(range(count))
    if text == "-":
        return [n for n in range(count) if n >= len(names) or not names[n]]
    found = re.fullmatch(r"([0-9]+)-([0-9]+)", text)
    if found:
        return [n for n in range(int(found[1]) - 1, int(found[2])) if n < count]
    raise fatal(proc, f"undefined column name '{text}'")


def _table(proc: Process, o: Options, lines: list[str]) -> None:
    rows = [_split(o, line) for line in lines]
    count = max([len(r) for r in rows] + [len(o.names)])
    names = o.names + [""] * (count - len(o.names))
    hidden = {n for text in o.hide for n in _index(proc, o, o.names, text, count)}
    right = {n for text in o.right for n in _index(proc, o, o.names, text, count)}
    order = [n for text in o.order for n in _index(proc, o, o.names, text, count)]
    order += [n for n in range(count) if n not in order]
    order = [n for n in order if n not in hidden]
    if o.json:
        _json(proc, o, rows, names, order)
        return
    headed = bool(o.names) and not o.no_headings
    table = ([names] if headed else []) + rows
    widths = {n: max((cells(r[n]) for r in table if n < len(r)), default=0) for n in order}
    out = []
    for row in table:
        parts = []
        for position, n in enumerate(order):
            text = row[n] if n < len(row) else ""
            last = position == len(order) - 1
            gap = " " * (widths[n] - cells(text))
            if n in right:
                parts.append(gap + text)
            else:
                parts.append(text if last else text + gap)
        out.append(o.output_separator.join(parts) + "\n")
        if len(out) > 4096:
            proc.stdout.write(encode("".join(out)))
            out.clear()
            proc.check()
    proc.stdout.write(encode("".join(out)))


def _json(proc: Process, o: Options, rows: list[list[str]], names: list[str], order: list[int]) -> None:
    import json
    out = [f'{{\n   "{o.table_name}": [\n      ']
    parts = []
    for row in rows:
        fields = []
        for n in order:
            value = row[n] if n < len(row) else ""
            key = names[n].lower() if names[n] else f"column{n + 1}"
            fields.append(f'         {json.dumps(key, ensure_ascii=False)}: '
                          + (json.dumps(value, ensure_ascii=False) if n < len(row) and value else "null"))
        parts.append("{\n" + ",\n".join(fields) + "\n      }")
    out.append(",".join(parts))
    out.append("\n   ]\n}\n")
    proc.stdout.write(encode("".join(out)))
