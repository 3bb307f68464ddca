"""How ls lays out and colours what it lists."""
from __future__ import annotations

import stat as st

from mirage.commands._text import BlockSize, c_escape, quote, shell_quote, text_width
from mirage.commands._times import full_iso, local, short
from mirage.commands._users import group_name, user_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.commands.ls import Item, Options
    from mirage.process.process import Process
    from mirage.vfs.types import Stat

DEFAULT_COLORS = {"di": "01;34", "ln": "01;36", "pi": "33", "so": "01;35", "bd": "01;33", "cd": "01;33",
                  "ex": "01;32", "su": "37;41", "sg": "30;43", "ow": "34;42", "st": "37;44", "tw": "30;42"}
TERMS = ("alacritty", "ansi", "color", "con", "cygwin", "dtterm", "eterm", "foot", "gnome", "hurd", "jfbterm",
         "konsole",
         "kterm", "linux", "mlterm", "putty", "rxvt", "screen", "st", "terminator", "tmux", "vt100", "vt220", "vt520",
         "xterm")
PAGE_BLOCKS = 8


def allocated(stat: Stat) -> int:
    """Bytes that a file occupies: whole pages of 4096 for what has content."""
    if stat.is_dir and stat.blocks * 512 <= (stat.size or 0) < 4096:
        return 0
    return -(-stat.blocks // PAGE_BLOCKS) * PAGE_BLOCKS * 512 if not stat.is_link else 0


def time_of(stat: Stat, which: str) -> int | None:
    if which == "birth":
        return stat.btime_ns
    times: dict[str, int] = {"mtime": stat.mtime_ns, "atime": stat.atime_ns, "ctime": stat.ctime_ns}
    return times[which]


def colors_of(proc: Process) -> dict[str, str] | None:
    """LS_COLORS as a table, the default one for a known terminal, None for no colours."""
    text = proc.env.get("LS_COLORS")
    term = proc.env.get("TERM", "")
    if not text:
        if proc.env.get("COLORTERM") or any(term.startswith(t) for t in TERMS) or "color" in term:
            return dict(DEFAULT_COLORS)
        return None
    table = dict(DEFAULT_COLORS)
    for part in text.split(":"):
        name, equals, value = part.partition("=")
        if equals:
            table[name] = value
    return table


class Printer:
    def __init__(self, proc: Process, options: Options) -> None:
        self.proc = proc
        self.o = options
        self.colors = colors_of(proc) if options.color else None
        self.colored = False
        self.now = proc.now()
        self.align_quotes = options.quoting in ("shell", "shell-escape", "c-maybe") and options.format in (
            "verbose", "vertical", "horizontal") and options.width != 0

    def write(self, text: str) -> None:
        self.proc.stdout.write(text.encode("utf-8", "surrogateescape"))

    # ---- names

    def quoted(self, name: str, header: bool = False) -> str:
        style = self.o.quoting
        if style == "literal":
            if self.o.hide_control and not name.isprintable():
                return "".join(c if c.isprintable() else "?" for c in name)
            return name
        if style in ("shell-escape", "shell"):
            return shell_quote(name) if not (header and ":" in name) else shell_quote(name, True)
        if style in ("shell-escape-always", "shell-always"):
            return shell_quote(name, True)
        if style == "c":
            return '"' + c_escape(name) + '"'
        if style == "c-maybe":
            escaped = c_escape(name)
            return f'"{escaped}"' if escaped != name else name
        if style == "escape":
            return c_escape(name, "").replace(" ", "\\ ")
        return quote(self.proc, name)

    def indicator(self, stat: Stat | None) -> str:
        kind = self.o.indicator
        if stat is None or kind == "none":
            return ""
        if stat.is_dir:
            return "/"
        if kind == "slash":
            return ""
        if stat.is_link:
            return "@"
        if stat.is_fifo:
            return "|"
        if st.S_ISSOCK(stat.mode):
            return "="
        return "*" if kind == "classify" and stat.is_file and stat.mode & 0o111 else ""

    def color(self, item: Item, stat: Stat | None, name: str) -> str:
        colors = self.colors
        assert colors is not None
        if stat is None:
            return colors.get("mi") or colors.get("or") or ""
        mode = stat.mode
        if stat.is_dir:
            if mode & 0o1002 == 0o1002 and "tw" in colors:
                return colors["tw"]
            if mode & 0o2 and "ow" in colors:
                return colors["ow"]
            if mode & 0o1000 and "st" in colors:
                return colors["st"]
            return colors.get("di", "")
        if stat.is_link:
            if item.target_stat is None and colors.get("or"):
                return colors["or"]
            if colors.get("ln") == "target":
                return self.color(item, item.target_stat, name) if item.target_stat is not None else ""
            return colors.get("ln", "")
        if stat.is_fifo:
            return colors.get("pi", "")
        if stat.is_char:
            return colors.get("cd", "")
        if mode & 0o4000 and colors.get("su"):
            return colors["su"]
        if mode & 0o2000 and colors.get("sg"):
            return colors["sg"]
        if mode & 0o111 and colors.get("ex"):
            return colors["ex"]
        for pattern, value in colors.items():
            if pattern.startswith("*") and name.endswith(pattern[1:]):
                return value
        return colors.get("fi", "")

    def painted(self, item: Item, stat: Stat | None, name: str, text: str) -> str:
        if self.colors is None:
            return text
        code = self.color(item, stat, name)
        if not code or code in ("0", "00"):
            return text
        start = "" if self.colored else "\033[0m"
        self.colored = True
        return f"{start}\033[{code}m{text}\033[0m"

    def name_of(self, item: Item) -> str:
        text = self.quoted(item.name)
        if self.align_quotes and self.pad_quotes and text[:1] not in ("'", '"'):
            return " " + self.painted(item, item.stat, item.name, text)
        return self.painted(item, item.stat, item.name, text)

    # ---- layout

    def show(self, items: list[Item]) -> None:
        o = self.o
        self.pad_quotes = self.align_quotes and any(self.quoted(i.name)[:1] in ("'", '"') for i in items)
        if o.format == "verbose":
            self.long(items)
            return
        if o.format == "single-column" and o.indicator == "none" and self.colors is None and not self.align_quotes \
                and not (o.inode or o.blocks or o.context):
            quoted, end = self.quoted, o.end
            self.write("".join([quoted(item.name) + end for item in items]))
            return
        cells = [self.cell(item, items) for item in items]
        if o.format == "single-column":
            self.write("".join(text + o.end for text, _ in cells))
        elif o.format == "commas":
            self.commas(cells)
        elif o.width == 0:
            self.write("  ".join(text for text, _ in cells) + (o.end if cells else ""))
        elif cells:
            self.columns(cells, o.format == "vertical")

    def cell(self, item: Item, items: list[Item]) -> tuple[str, int]:
        """(text, columns) of one item in the short formats."""
        o = self.o
        front = ""
        wide = o.format != "commas"
        if o.inode:
            number = str(item.stat.ino) if item.stat is not None and not item.failed else "?"
            front += (number.rjust(self.width_of(items, "ino")) if wide else number) + " "
        if o.blocks:
            size = self.o.block_unit.show(allocated(item.stat)) if item.stat is not None else "?"
            front += (size.rjust(self.width_of(items, "blocks")) if wide else size) + " "
        if o.context:
            front += "? "
        name = self.quoted(item.name)
        pad = 1 if self.pad_quotes and name[:1] not in ("'", '"') else 0
        mark = self.indicator(item.stat)
        return front + self.name_of(item) + mark, len(front) + pad + text_width(name) + len(mark)

    def width_of(self, items: list[Item], what: str) -> int:
        if what == "ino":
            return max((len(str(i.stat.ino)) for i in items if i.stat is not None), default=1)
        return max((len(self.o.block_unit.show(allocated(i.stat))) for i in items if i.stat is not None), default=1)

    def commas(self, cells: list[tuple[str, int]]) -> None:
        out, position = [], 0
        for number, (text, width) in enumerate(cells):
            if number:
                if self.o.width and position + width + 2 >= self.o.width:
                    out.append(",\n")
                    position = 0
                else:
                    out.append(", ")
                    position += 2
            out.append(text)
            position += width
        self.write("".join(out) + self.o.end if cells else "")

    def columns(self, cells: list[tuple[str, int]], vertical: bool) -> None:
        count, line = len(cells), self.o.width
        most = max(1, min(count, line // 3))
        widths: list[int] = []
        rows = count
        for columns in range(most, 0, -1):
            rows = -(-count // columns)
            widths = [3] * columns
            for number, (_, width) in enumerate(cells):
                column = number // rows if vertical else number % columns
                widths[column] = max(widths[column], width + (0 if column == columns - 1 else 2))
            if vertical and -(-count // rows) < columns:
                continue
            if sum(widths) < line or columns == 1:
                break
        columns = len(widths)
        out = []
        for row in range(rows):
            position = 0
            start = 0
            line_cells = cells[row::rows] if vertical else cells[row * columns:(row + 1) * columns]
            for column, (text, width) in enumerate(line_cells):
                if column:
                    out.append(self.indent(position, start))
                out.append(text)
                position = start + width
                start += widths[column]
            out.append(self.o.end)
        self.write("".join(out))

    def indent(self, position: int, to: int) -> str:
        out, tab = [], self.o.tab
        if self.colors is not None:
            tab = 0
        while position < to:
            if tab and to // tab > (position + 1) // tab:
                out.append("\t")
                position += tab - position % tab
            else:
                out.append(" ")
                position += 1
        return "".join(out)

    # ---- ls -l

    def long(self, items: list[Item]) -> None:
        o = self.o
        rows = []
        for item in items:
            rows.append(self.fields(item))
        widths = [max((len(row[n]) for row in rows), default=0) for n in range(9)]
        if any(item.stat is not None and item.stat.is_char for item in items):
            widths[7] = max(widths[7], 6)
        out = []
        for item, row in zip(items, rows):
            inode, blocks, mode, links, owner, group, author, size, when = row
            parts = []
            if o.inode:
                parts.append(inode.rjust(widths[0]))
            if o.blocks:
                parts.append(blocks.rjust(widths[1]))
            parts += [mode, links.rjust(widths[3])]
            if o.owner:
                parts.append(owner.ljust(widths[4]) if not o.numeric else owner.rjust(widths[4]))
            if o.group:
                parts.append(group.ljust(widths[5]) if not o.numeric else group.rjust(widths[5]))
            if o.author:
                parts.append(author.ljust(widths[6]))
            if o.context:
                parts.append("?")
            parts += [size.rjust(widths[7]), when.ljust(widths[8]) if when == "?" else when]
            if when == "?":
                parts[-1] = when.rjust(widths[8])
            text = " ".join(parts) + " " + self.name_of(item)
            if item.target is not None:
                text += " -> " + self.link_target(item)
            else:
                text += self.indicator(item.stat)
            out.append(text + o.end)
        self.write("".join(out))

    def link_target(self, item: Item) -> str:
        assert item.target is not None
        text = self.quoted(item.target)
        if self.colors is not None:
            if item.target_stat is not None or self.colors.get("mi") or self.colors.get("or"):
                text = self.painted(item, item.target_stat, item.target, text)
        return text + self.indicator(item.target_stat)

    def fields(self, item: Item) -> tuple[str, ...]:
        stat, o = item.stat, self.o
        if stat is None or item.failed:
            kind = "l" if stat is not None and stat.is_link else "-"
            return "?", "?", kind + "?????????", "?", "?", "?", "?", "?", "?"
        mode = st.filemode(stat.mode)
        owner = str(stat.uid) if o.numeric else user_name(self.proc, stat.uid)
        group = str(stat.gid) if o.numeric else group_name(self.proc, stat.gid)
        if stat.is_char:
            size = f"{stat.rdev >> 8 & 0xfff:3d}, {stat.rdev & 0xff | stat.rdev >> 12 & 0xfff00:3d}"
        else:
            size = (o.size_unit or BlockSize(1)).show(stat.size or 0)
        return (str(stat.ino), o.block_unit.show(allocated(stat)), mode, str(stat.nlink), owner, group, owner, size,
                self.time(time_of(stat, o.time)))

    def time(self, ns: int | None) -> str:
        if ns is None:
            return "?"
        style = self.o.time_style
        if style == "full-iso":
            return full_iso(self.proc, ns)
        if style == "locale":
            return short(self.proc, ns, self.now)
        try:
            when = local(self.proc, ns)
        except OverflowError:
            return str(ns // 1_000_000_000)
        recent = self.now - 31556952 / 2 < ns / 1e9 <= self.now
        if style == "long-iso":
            return f"{when:%Y-%m-%d %H:%M}"
        if style == "iso":
            return f"{when:%m-%d %H:%M}" if recent else f"{when:%Y-%m-%d }"
        old, newline, new = style[1:].partition("\n")
        from mirage.text.strftime import strftime
        return strftime(new if newline and recent else old, when, ns % 1_000_000_000)
