"""rev: reverse lines characterwise (util-linux)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import decode, encode, line_blocks
from mirage.commands._text import is_utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("0hV", {"zero": ("0", NONE)}, help="""\

Usage:
 NAME [options] [file ...]

Reverse lines characterwise.

Options:
 -0, --zero     use zero byte as separator

 -h, --help     display this help
 -V, --version  display version
""")


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    end = b"\n"
    for key, _ in given:
        if key == "0":
            end = b"\0"
        elif key == "h":
            proc.stdout.write(SPEC.help.replace("NAME", proc.name).encode())
            return 0
        elif key == "V":
            proc.stdout.write(b"rev (Mirage)\n")
            return 0
    status = 0
    utf8 = is_utf8(proc.env)
    for name in operands or ["-"]:
        try:
            file = (proc.file(0) if not operands else proc.open(name)).incref()
        except OSError as e:
            proc.stdout.flush()
            proc.message(f"cannot open {name}: {e.strerror}")
            status = 1
            continue
        try:
            for block in line_blocks(proc, file, end):
                lines = block.split(end)
                if utf8 and not block.isascii():
                    proc.stdout.write(end.join([encode(decode(line)[::-1]) for line in lines]))
                else:
                    proc.stdout.write(end.join([line[::-1] for line in lines]))
        except OSError as e:
            if e.errno == 32:
                raise
            proc.stdout.flush()
            proc.message(f"{name}: {e.strerror}")
            status = 1
        finally:
            file.decref()
    return status
