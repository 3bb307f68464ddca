"""df: space on the mounts."""
from __future__ import annotations

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import BlockSize, block_size, default_block_size, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("aB:hHiklPTt:vx:", {
    "all": ("a", NONE), "block-size": ("B", REQUIRED), "human-readable": ("h", NONE), "si": ("H", NONE),
    "inodes": ("i", NONE), "local": ("l", NONE), "no-sync": ("nosync", NONE), "output": ("output", OPTIONAL),
    "portability": ("P", NONE), "sync": ("sync", NONE), "total": ("total", NONE), "type": ("t", REQUIRED),
    "print-type": ("T", NONE), "exclude-type": ("x", REQUIRED)},
    help="Usage: NAME [OPTION]... [FILE]...\n"
         "Show information about the file system on which each FILE resides,\nor all file systems by default.\n")

INODES = 1_000_000


class Row:
    __slots__ = ("free", "mount", "source", "total")

    def __init__(self, mount: str, total: int, free: int, source: str = "mirage") -> None:
        self.mount = mount
        self.total = total
        self.free = free
        self.source = source


def _mounts(proc: Process) -> list[str]:
    """Mount points that the process can see, shortest first."""
    return sorted(point for point in proc.machine.namespace.table.by_point if proc.fs.exists(point))


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    unit, label = default_block_size(proc, ("DF_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE")), "1K-blocks"
    for key, value in options:
        if key == "B":
            unit, label = block_size(proc, value), f"{value}-blocks"
        elif key in ("h", "H"):
            unit, label = BlockSize(base=1024 if key == "h" else 1000), "Size"
        elif key == "k":
            unit, label = BlockSize(1024), "1K-blocks"
    if "P" in flags and label == "1K-blocks":
        label = "1024-blocks"
    rows: list[Row] = []
    status = 0
    names = operands or _mounts(proc)
    for name in names:
        try:
            proc.fs.stat(name)
            total, free = proc.fs.statfs(name)
            rows.append(Row(proc.fs.mount_point(name), total, free))
        except OSError as e:
            if operands:
                proc.fail(shell_quote(name), e)
                status = 1
    if not rows:
        if not status:
            proc.message("no file systems processed")
        return 1
    if "total" in flags:
        rows.append(Row("-", sum(r.total for r in rows), sum(r.free for r in rows), "total"))
    _print(proc, rows, flags, unit, label)
    return status


def _print(proc: Process, rows: list[Row], flags: set[str], unit: BlockSize, label: str) -> None:
    if "i" in flags:
        head = ["Filesystem", "Inodes", "IUsed", "IFree", "IUse%", "Mounted on"]
    else:
        head = ["Filesystem", label, "Used", "Avail" if flags & {"h", "H"} else "Available",
                "Capacity" if "P" in flags else "Use%", "Mounted on"]
    table = [head]
    for row in rows:
        used = max(0, row.total - row.free)
        if "i" in flags:
            table.append([row.source, str(INODES), "1", str(INODES - 1), "1%", row.mount])
        else:
            percent = f"{-(-used * 100 // row.total)}%" if row.total else "-"
            table.append([row.source, unit.show(row.total), unit.show(used), unit.show(row.free), percent, row.mount])
    if "T" in flags:
        for number, line in enumerate(table):
            line.insert(1, "mirage" if number else "Type")
    widths = [max(len(line[n]) for line in table) for n in range(len(head))]
    for n, least in ((0, 14), (1, 5)):
        widths[n] = max(widths[n], least)
    out = []
    for line in table:
        cells = [text.ljust(widths[n]) if n == 0 or n == 1 and "T" in flags else text.rjust(widths[n])
                 for n, text in enumerate(line[:-1])]
        out.append(" ".join(cells) + " " + line[-1] + "\n")
    proc.stdout.write(encode("".join(out)))
