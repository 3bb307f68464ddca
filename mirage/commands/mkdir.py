"""mkdir: make directories."""
from __future__ import annotations

import errno

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._mode import Mode
from mirage.commands._text import fatal, missing_operand, quote, shell_quote
from mirage.vfs.types import annotate, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("m:pvZ", {"mode": ("m", REQUIRED), "parents": ("p", NONE), "verbose": ("v", NONE),
                      "context": ("Z", OPTIONAL)},
            help="Usage: NAME [OPTION]... DIRECTORY...\nCreate the DIRECTORY(ies), if they do not already exist.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    parents = verbose = False
    mode: Mode | None = None
    for key, value in options:
        if key == "p":
            parents = True
        elif key == "v":
            verbose = True
        elif key == "m":
            try:
                mode = Mode(value)
            except ValueError:
                raise fatal(proc, f"invalid mode {quote(proc, value)}") from None
    if not operands:
        raise missing_operand(proc, SPEC)
    status = 0
    for operand in operands:
        try:
            if parents:
                make_parents(proc, operand, mode, verbose)
            else:
                _make(proc, operand, mode, verbose)
        except OSError as e:
            proc.stdout.flush()
            proc.fail(f"cannot create directory {quote(proc, getattr(e, 'shown', operand))}", e)
            status = 1
    return status


def _make(proc: Process, path: str, mode: Mode | None, verbose: bool) -> None:
    proc.fs.mkdir(path, 0o777)
    if mode is not None:
        proc.fs.chmod(path, mode.apply(0o777, True, proc.umask))
    if verbose:
        text = f"{proc.name}: created directory {shell_quote(path, True)}\n"
        proc.stdout.write(text.encode("utf-8", "surrogateescape"))


def make_parents(proc: Process, path: str, mode: Mode | None, verbose: bool) -> None:
    """mkdir -p; the OSError has `shown`: the name that could not be made."""
    parts = path.split("/")
    at = ""
    names = []
    for number, part in enumerate(parts):
        at = part if number == 0 else f"{at}/{part}"
        if part and part != "." or number == len(parts) - 1 and part == ".":
            names.append(at)
    if not names:
        names = [path]
    for number, name in enumerate(names):
        last = number == len(names) - 1
        try:
            _make(proc, name, mode if last else None, verbose)
            if not last and proc.umask & 0o300:              # the next one is made in it
                proc.fs.chmod(name, 0o777 & ~proc.umask | 0o300)
        except FileExistsError as e:
            if not proc.fs.is_dir(name):
                failure: OSError = e
                if not last and not proc.fs.is_dir(name):
                    failure = error(errno.ENOTDIR, name) if proc.fs.exists(name) else e
                raise annotate(failure, shown=name) from None
        except OSError as e:
            if not last and proc.fs.is_dir(name) or last and proc.fs.is_dir(name):
                continue
            annotate(e, shown=name)
            raise
