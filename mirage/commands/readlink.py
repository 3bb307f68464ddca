"""readlink: what a symbolic link points to, or the canonical path."""
from __future__ import annotations

import errno

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import missing_operand, shell_quote
from mirage.commands.realpath import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("efmnqsvz", {
    "canonicalize": ("f", NONE), "canonicalize-existing": ("e", NONE), "canonicalize-missing": ("m", NONE),
    "no-newline": ("n", NONE), "quiet": ("q", NONE), "silent": ("q", NONE), "verbose": ("v", NONE),
    "zero": ("z", NONE)},
    help="Usage: NAME [OPTION]... FILE...\nPrint value of a symbolic link or canonical file name\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    mode: str | None = None
    verbose = "POSIXLY_CORRECT" in proc.env
    newline, end = True, b"\n"
    for key, _ in options:
        if key in ("e", "f", "m"):
            mode = "" if key == "f" else key
        elif key == "n":
            newline = False
        elif key == "v":
            verbose = True
        elif key in ("q", "s"):
            verbose = False
        elif key == "z":
            end = b"\0"
    if not operands:
        raise missing_operand(proc, SPEC)
    if not newline and len(operands) > 1:
        proc.message("ignoring --no-newline with multiple arguments")
        newline = True
    status = 0
    for operand in operands:
        try:
            if mode is not None:
                text = canonical(proc, operand, mode)
            elif proc.fs.stat(operand, False).is_link:
                text = proc.fs.readlink(operand)
            else:
                raise OSError(errno.EINVAL, "Invalid argument", operand)
        except OSError as e:
            status = 1
            if verbose:
                proc.stdout.flush()
                proc.message(f"{shell_quote(operand) if operand else repr('')}: {e.strerror}")
            continue
        proc.stdout.write(encode(text) + (end if newline else b""))
    return status
