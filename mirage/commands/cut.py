"""cut: remove sections from each line (GNU coreutils 9.7; characters are bytes there)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import Inputs, encode, line_blocks
from mirage.commands._text import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.process import Process

    Range = tuple[int, int]

SPEC = Spec("b:c:d:f:nsz", {
    "bytes": ("b", REQUIRED), "characters": ("c", REQUIRED), "delimiter": ("d", REQUIRED), "fields": ("f", REQUIRED),
    "complement": ("complement", NONE), "only-delimited": ("s", NONE),
    "output-delimiter": ("output-delimiter", REQUIRED), "zero-terminated": ("z", NONE)}, help="""\
Usage: NAME OPTION... [FILE]...
Print selected parts of lines from each FILE to standard output.

  -b, --bytes=LIST        select only these bytes
  -c, --characters=LIST   select only these characters
  -d, --delimiter=DELIM   use DELIM instead of TAB for field delimiter
  -f, --fields=LIST       select only these fields;  also print any line
                            that contains no delimiter character, unless
                            the -s option is specified
  -n                      (ignored)
      --complement        complement the set of selected bytes, characters
                            or fields
  -s, --only-delimited    do not print lines not containing delimiters
      --output-delimiter=STRING  use STRING as the output delimiter
                            the default is to use the input delimiter
  -z, --zero-terminated   line delimiter is NUL, not newline
      --help        display this help and exit
      --version     output version information and exit
""")
MOST = (1 << 64) - 1
END = 1 << 62
LARGE = 4096                                                 # bytes of a block that is cut as a whole


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    kind = listing = ""
    delimiter: bytes | None = None
    only = complement = False
    output: bytes | None = None
    line_end = b"\n"
    for key, value in given:
        if key in ("b", "c", "f"):
            if kind:
                raise usage_error(proc, SPEC, "only one list may be specified")
            kind, listing = key, value
        elif key == "d":
            delimiter = encode(value) or b"\0"
            if len(delimiter) > 1:
                raise usage_error(proc, SPEC, "the delimiter must be a single character")
        elif key == "s":
            only = True
        elif key == "complement":
            complement = True
        elif key == "output-delimiter":
            output = encode(value) or b"\0"
        elif key == "z":
            line_end = b"\0"
    if not kind:
        raise usage_error(proc, SPEC, "you must specify a list of bytes, characters, or fields")
    if kind != "f":
        if delimiter is not None:
            raise usage_error(proc, SPEC, "an input delimiter may be specified only when operating on fields")
        if only:
            raise usage_error(proc, SPEC, "suppressing non-delimited lines makes sense\n\tonly when operating on "
                                          "fields")
    ranges = merge(read_list(proc, listing, kind == "f"), keep=kind != "f" and output is not None)
    if complement:
        ranges = inverted(ranges)
    if kind == "f":
        cut = fields_cutter(ranges, delimiter or b"\t", output, only, line_end)
    else:
        cut = bytes_cutter(ranges, output, line_end)
    inputs = Inputs(proc, operands)
    whole = kind == "f" and delimiter == line_end
    for name, file in inputs:
        try:
            if whole:
                _lines_as_fields(proc, b"".join(line_blocks(proc, file, line_end)), ranges, line_end, output, only)
                continue
            for block in line_blocks(proc, file, line_end):
                proc.stdout.write(cut(block))
        except OSError as e:
            if e.errno == 32:
                raise
            inputs.fail(name, e)
    return inputs.status


def read_list(proc: Process, text: str, fields: bool) -> list[Range]:
    """LIST as (first, last), 1-based; END: to the end of the line."""
    what = "fields are" if fields else "byte/character positions are"
    found: list[Range] = []
    for item in text.replace(" ", ",").replace("\t", ",").split(","):
        first, dash, last = item.partition("-")
        if "-" in last:
            raise usage_error(proc, SPEC, "invalid field range" if fields else "invalid byte or character range")
        if dash and not first and not last:
            raise usage_error(proc, SPEC, "invalid range with no endpoint: -")
        low = _number(proc, first, fields, what) if first or not dash else 1
        high = (_number(proc, last, fields, what) if last else END) if dash else low
        if high < low:
            raise usage_error(proc, SPEC, "invalid decreasing range")
        found.append((low, high))
    return found


def _number(proc: Process, text: str, fields: bool, what: str) -> int:
    if text and not (text.isdecimal() and text.isascii()):
        bad = text.lstrip("0123456789") if text[:1].isdecimal() else text
        kind = "field value" if fields else "byte/character position"
        raise usage_error(proc, SPEC, f"invalid {kind} {quote(proc, bad)}")
    number = int(text or "0")
    if number == 0:
        raise usage_error(proc, SPEC, f"{what} numbered from 1")
    if number >= MOST:
        kind = "field number" if fields else "byte/character offset"
        raise usage_error(proc, SPEC, f"{kind} {quote(proc, text)} is too large")
    return number


def merge(ranges: list[Range], keep: bool = False) -> list[Range]:
    """Sorted, overlapping ones joined; adjacent ones too unless `keep`."""
    out: list[Range] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + (0 if keep else 1):
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


def inverted(ranges: list[Range]) -> list[Range]:
    out: list[Range] = []
    at = 1
    for low, high in ranges:
        if low > at:
            out.append((at, low - 1))
        at = high + 1
    if at < END:
        out.append((at, END))
    return out


def _lines(block: bytes, line_end: bytes) -> list[bytes]:
    lines = block.split(line_end)
    if not lines[-1]:
        lines.pop()
    return lines


def bytes_cutter(ranges: list[Range], output: bytes | None, line_end: bytes) -> Callable[[bytes], bytes]:
    slices = [(low - 1, high if high < END else None) for low, high in ranges]
    if not slices:
        return lambda block: line_end * len(_lines(block, line_end))
    if len(slices) == 1:
        begin, end = slices[0]
        return lambda block: line_end.join([line[begin:end] for line in _lines(block, line_end)]) + line_end
    glue = output or b""

    def cut(block: bytes) -> bytes:
        return line_end.join([glue.join([line[a:b] for a, b in slices if a < len(line)])
                              for line in _lines(block, line_end)]) + line_end

    return cut


def fields_cutter(ranges: list[Range], delimiter: bytes, output: bytes | None, only: bool,
                  line_end: bytes) -> Callable[[bytes], bytes]:
    glue = delimiter if output is None else output
    slices = [(low - 1, high if high < END else None) for low, high in ranges]
    top = max((high for _, high in ranges), default=0)
    limit = -1 if top >= END else top
    whole = _whole_pattern(ranges, delimiter) if line_end == b"\n" and glue == delimiter and not only else None

    def pick(line: bytes) -> bytes:
        parts = line.split(delimiter, limit)
        out: list[bytes] = []
        for a, b in slices:
            out += parts[a:b]
        return glue.join(out)

    def cut(block: bytes) -> bytes:
        if whole is not None and len(block) > LARGE:
            from mirage.text.blocks import Unsuited, substitute
            try:
                return substitute(*whole, block if block[-1:] == line_end else block + line_end)[0]
            except Unsuited:
                pass
        lines = _lines(block, line_end)
        if only:
            chosen = [pick(line) for line in lines if delimiter in line]
        else:
            chosen = [pick(line) if delimiter in line else line for line in lines]
        return line_end.join(chosen) + line_end if chosen else b""

    return cut


def _whole_pattern(ranges: list[Range], delimiter: bytes) -> tuple[bytes, bytes] | None:
    """(pattern of a line with a delimiter, replacement) for `blocks.substitute`, where the fields are few and near.

    The captures of all ranges but the first one begin with the delimiter, so that what a line lacks adds nothing.
    """
    if not ranges or len(ranges) > 9 or any(low > 200 or END > high > 200 for low, high in ranges):
        return None
    from mirage.text.blocks import literal
    mark = literal(delimiter)
    field = b"[^" + mark + rb"\n]*+"
    more = b"(?:" + mark + field + b")"
    pattern = b""
    for index in range(len(ranges) - 1, -1, -1):
        low, high = ranges[index]
        last = ranges[index - 1][1] if index else 0
        span = more + (b"*+" if high >= END else b"{0,%d}+" % (high - low))
        if index:
            pattern = b"(?:%b{%d}(%b%b%b)%b)?+" % (more, low - last - 1, mark, field, span, pattern)
        elif low == 1:
            pattern = b"(%b%b)%b" % (field, span, pattern)
        else:
            pattern = b"(?:%b%b{%d}%b(%b%b)%b)?+" % (field, more, low - 2, mark, field, span, pattern)
    return (b"^(?=%b%b)%b" % (field, mark, pattern) + rb"[^\n]*+",
            b"".join(b"${%d}" % n for n in range(1, len(ranges) + 1)))


def _lines_as_fields(proc: Process, data: bytes, ranges: list[Range], line_end: bytes, output: bytes | None,
                     only: bool) -> None:
    """-d with the line's own end: the lines are the fields."""
    if not data:
        return
    lines = _lines(data, line_end)
    if len(lines) == 1 and not data.endswith(line_end):
        if not only:
            proc.stdout.write(lines[0] + line_end)
        return
    out: list[bytes] = []
    for low, high in ranges:
        out += lines[low - 1:high if high < END else None]
    if out:
        proc.stdout.write((line_end if output is None else output).join(out) + line_end)
