"""realpath: the resolved path."""
from __future__ import annotations

import errno
import os

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import missing_operand, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("EeLmPqsz", {
    "canonicalize": ("E", NONE), "canonicalize-existing": ("e", NONE), "canonicalize-missing": ("m", NONE),
    "logical": ("L", NONE), "physical": ("P", NONE), "quiet": ("q", NONE), "relative-to": ("to", REQUIRED),
    "relative-base": ("base", REQUIRED), "strip": ("s", NONE), "no-symlinks": ("s", NONE), "zero": ("z", NONE)},
    help="Usage: NAME [OPTION]... FILE...\nPrint the resolved absolute file name;\n"
         "all but the last component must exist\n")

MAX_LINKS = 40


def canonical(proc: Process, path: str, mode: str = "", links: bool = True) -> str:
    """Absolute path without `.`, `..` and symbolic links.

    mode: "e" everything must exist, "m" nothing must, "" all but the last component must. OSError otherwise.
    """
    fs = proc.fs
    if not path:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    todo = [part for part in path.split("/") if part]
    todo.reverse()
    at = "" if path.startswith("/") else ("" if proc.cwd == "/" else _physical(proc) if links else proc.cwd)
    if path.endswith("/") and todo:
        todo.insert(0, ".")
    seen = 0
    while todo:
        part = todo.pop()
        if part == ".":
            if not todo and at and mode != "m" and path.rstrip("/") != path and not fs.is_dir(at):
                try:
                    fs.stat(at)
                except OSError:
                    if mode == "e" or fs.exists(at, follow=False):
                        raise
                    break
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            continue
        if part == "..":
            at = at.rpartition("/")[0]
            continue
        here = f"{at}/{part}"
        try:
            stat = fs.stat(here, False)
        except OSError:
            last = not [p for p in todo if p != "."]
            if mode == "m" or mode == "" and last:
                at = here
                continue
            raise
        if stat.is_link and links:
            seen += 1
            if seen > MAX_LINKS:
                if mode == "m":
                    at = here
                    continue
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            target = fs.readlink(here)
            if target.startswith("/"):
                at = ""
            todo.extend(reversed([p for p in target.split("/") if p]))
            continue
        if todo and not stat.is_dir and mode != "m" and not stat.is_link:
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        at = here
    return at or "/"


def _physical(proc: Process) -> str:
    try:
        return proc.fs.realpath(proc.cwd)
    except OSError:
        return proc.cwd


def relative_to(path: str, base: str) -> str:
    """`path` as seen from the directory `base`; both canonical."""
    return os.path.relpath(path, base)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    mode, links, logical, quiet, end = "", True, False, False, b"\n"
    to = base = None
    for key, value in options:
        if key in ("E", "e", "m"):
            mode = "" if key == "E" else key
        elif key == "L":
            logical, links = True, True
        elif key == "P":
            logical, links = False, True
        elif key == "s":
            links = False
        elif key == "q":
            quiet = True
        elif key == "z":
            end = b"\0"
        elif key == "to":
            to = value
        else:
            base = value
    if not operands:
        raise missing_operand(proc, SPEC)
    if not links and not mode:
        mode = "m"                                           # where no link is looked at, nothing has to be there
    status = 0

    def resolve(path: str) -> str:
        if logical:
            path = canonical(proc, path, mode, links=False)
        return canonical(proc, path, mode, links)
    try:
        to_real = resolve(to) if to is not None else None
        base_real = resolve(base) if base is not None else None
        for name, real in ((to, to_real), (base, base_real)):
            if real is not None and mode == "e" and not proc.fs.is_dir(real):
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
    except OSError as e:
        proc.message(f"{shell_quote(to if to is not None else base or '')}: {e.strerror}")
        return 1
    if base_real is not None and to_real is None:
        to_real = base_real
    elif base_real is not None and to_real is not None and not _below(to_real, base_real):
        base_real = to_real = None
    for operand in operands:
        try:
            real = resolve(operand)
        except OSError as e:
            status = 1
            if not quiet:
                proc.stdout.flush()
                shown = shell_quote(operand) if operand else "''"
                proc.fail(shown, e)
            continue
        if to_real is not None and (base_real is None or _below(real, base_real)):
            real = relative_to(real, to_real)
        proc.stdout.write(encode(real) + end)
    return status


def _below(path: str, base: str) -> bool:
    return base == "/" or path == base or path.startswith(base + "/")
