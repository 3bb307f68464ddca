"""rmdir: remove empty directories."""
from __future__ import annotations

import errno

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._text import missing_operand, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("pv", {"ignore-fail-on-non-empty": ("ignore", NONE), "parents": ("p", NONE), "verbose": ("v", NONE)},
            help="Usage: NAME [OPTION]... DIRECTORY...\nRemove the DIRECTORY(ies), if they are empty.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    if not operands:
        raise missing_operand(proc, SPEC)
    status = 0
    for operand in operands:
        path: str | None = operand
        first = True
        while path is not None:
            if not _remove(proc, path, flags, first):
                status = 1
                break
            first = False
            path = _parent(path) if "p" in flags else None
    return status


def _parent(path: str) -> str | None:
    """The next name for -p; "/" comes last for absolute ones."""
    folder, slash, name = path.rstrip("/").rpartition("/")
    if not slash or not name:
        return None
    return folder.rstrip("/") or "/"


def _remove(proc: Process, path: str, flags: set[str], first: bool) -> bool:
    if "v" in flags:
        text = f"{proc.name}: removing directory, {shell_quote(path, True)}\n"
        proc.stdout.write(text.encode("utf-8", "surrogateescape"))
    try:
        proc.fs.rmdir(path)
    except OSError as e:
        if "ignore" in flags and e.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return True
        proc.stdout.flush()
        what = "failed to remove" if first else "failed to remove directory"
        proc.fail(f"{what} {shell_quote(path, True)}", e)
        return False
    return True
