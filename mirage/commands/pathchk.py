"""pathchk: are names valid and portable?"""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._text import missing_operand, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("pP", {"portability": ("both", NONE)},
            help="Usage: NAME [OPTION]... NAME...\nDiagnose invalid or non-portable file names.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    portable, extra = bool(flags & {"p", "both"}), bool(flags & {"P", "both"})
    if not operands:
        raise missing_operand(proc, SPEC)
    return max(_check(proc, operand, portable, extra) for operand in operands)


def _check(proc: Process, name: str, portable: bool, extra: bool) -> int:
    def complain(text: str) -> int:
        proc.message(text)
        return 1
    shown = shell_quote(name, True)
    if extra and any(part.startswith("-") for part in name.split("/")):
        return complain(f"leading '-' in a component of file name {shown}")
    if (portable or extra) and not name:
        return complain("empty file name")
    if portable:
        bad = re.search(r"[^A-Za-z0-9._/-]", name)
        if bad:
            return complain(f"non-portable character {quote(proc, bad[0])} in file name {shown}")
    else:
        try:
            proc.fs.stat(name, False)
        except FileNotFoundError as e:
            if not name:
                return complain(f"{shell_quote(name, True)}: {e.strerror}")
        except OSError as e:
            return complain(f"{shell_quote(name)}: {e.strerror}")
    limit, part_limit = (256, 14) if portable else (4096, 255)
    size = len(name.encode("utf-8", "surrogateescape"))
    if size >= limit:
        return complain(f"limit {limit - 1} exceeded by length {size} of file name {shown}")
    for part in name.split("/"):
        size = len(part.encode("utf-8", "surrogateescape"))
        if size > part_limit:
            return complain(f"limit {part_limit} exceeded by length {size} of file name component "
                            f"{shell_quote(part, True)}")
    return 0
