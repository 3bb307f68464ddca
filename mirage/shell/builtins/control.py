""": true false break continue return exit logout eval source shift let."""
from __future__ import annotations

import errno
import os

from mirage.process.process import refusal_note
from mirage.process.signals import Exit
from mirage.shell.builtins._common import USAGE_STATUS, decode, getopt, no_options, number, usage
from mirage.shell.control import Break, Continue, Return, ShellError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell


def builtin_true(sh: Shell, args: Sequence[str]) -> int:
    return 0


def builtin_false(sh: Shell, args: Sequence[str]) -> int:
    return 1


def _too_many(sh: Shell, name: str) -> ShellError:
    """What one number is expected for got more: bash gives up the whole line."""
    return sh.fail(f"{name}: too many arguments")


def _operands(args: Sequence[str]) -> Sequence[str]:
    return args[1:] if args and args[0] == "--" else args


# ------------------------------------------------------------------------------------------------------ loops


def _levels(sh: Shell, name: str, args: Sequence[str]) -> int | None:
    """The N of `break N`; None where there is no loop, 0 for one that is out of range (reported)."""
    if not sh.loop_depth:
        sh.builtin_error(name, "only meaningful in a `for', `while', or `until' loop")
        return None
    args = _operands(args)
    if not args:
        return 1
    levels = number(args[0])
    if levels is None:
        raise sh.fail(f"{name}: {args[0]}: numeric argument required", 128, True)
    if len(args) > 1:
        raise _too_many(sh, name)
    if levels <= 0:
        sh.builtin_error(name, f"{args[0]}: loop count out of range")
        return 0
    return min(levels, sh.loop_depth)


def builtin_break(sh: Shell, args: Sequence[str]) -> int:
    return _leave(sh, "break", args, Break)


def builtin_continue(sh: Shell, args: Sequence[str]) -> int:
    return _leave(sh, "continue", args, Continue)


def _leave(sh: Shell, name: str, args: Sequence[str], how: type[Break] | type[Continue]) -> int:
    levels = _levels(sh, name, args)
    if levels is None:
        return 0
    if not levels:                                           # a count out of range ends every loop
        sh.status = 1
        raise Break(sh.loop_depth)
    sh.status = 0
    raise how(levels)


# -------------------------------------------------------------------------------------------- return and exit


def builtin_return(sh: Shell, args: Sequence[str]) -> int:
    args = _operands(args)
    status = _status_before(sh)
    if args:
        value = number(args[0])
        if value is None:
            sh.builtin_error("return", f"{args[0]}: numeric argument required")
            status = USAGE_STATUS
        elif len(args) > 1:
            raise _too_many(sh, "return")
        else:
            status = value & 0xFF
    if not sh.function_depth and not any(frame.function == "source" for frame in sh.call_stack):
        sh.builtin_error("return", "can only `return' from a function or sourced script")
        return USAGE_STATUS
    raise Return(status)


def _status_before(sh: Shell) -> int:
    """`$?`; inside a trap (but not that of DEBUG) as it was when the trap began."""
    saved: int | None = sh.extra.get("trap_status")
    return sh.status if saved is None else saved


def builtin_exit(sh: Shell, args: Sequence[str]) -> int:
    args = _operands(args)
    if not args:
        raise Exit(sh.extra.get("exit_status", sh.status))   # in the EXIT trap as it was when that began
    value = number(args[0])
    if value is None:
        sh.builtin_error("exit", f"{args[0]}: numeric argument required")
        raise Exit(USAGE_STATUS)
    if len(args) > 1:
        raise _too_many(sh, "exit")
    raise Exit(value & 0xFF)


def builtin_logout(sh: Shell, args: Sequence[str]) -> int:
    if not sh.shopt["login_shell"]:
        sh.builtin_error("logout", "not login shell: use `exit'")
        return 1
    return builtin_exit(sh, args)


# -------------------------------------------------------------------------------------------- eval and source


def builtin_eval(sh: Shell, args: Sequence[str]) -> int:
    words = no_options(sh, "eval", args)
    if words is None:
        return USAGE_STATUS
    text = " ".join(words)
    return sh.eval_text(text) if text else 0


def builtin_source(sh: Shell, args: Sequence[str]) -> int:
    return _source(sh, "source", args)


def builtin_dot(sh: Shell, args: Sequence[str]) -> int:
    return _source(sh, ".", args)


def _source(sh: Shell, name: str, args: Sequence[str]) -> int:
    words = no_options(sh, name, args)
    if words is None:
        return USAGE_STATUS
    if not words:
        sh.builtin_error(name, "filename argument required")
        return usage(sh, name)
    path = _find_source(sh, words[0])
    try:
        text = _read_source(sh, path)
    except OSError as e:
        if e.errno == errno.EISDIR:
            sh.builtin_error(name, f"{path}: is a directory")
        else:
            if sh.options.posix and "/" not in path:
                sh.builtin_error(name, f"{path}: file not found")
            else:
                sh.error(f"{path}: {e.strerror}")
            if note := refusal_note(e):
                sh.proc.write_error(note)
        if sh.options.posix and name == ".":
            raise Exit(1)
        if "/" in words[0] and sh.traps:
            from mirage.shell.exec.calls import run_return

            return run_return(sh, 1)
        return 1
    from mirage.shell.exec.calls import source_text

    return source_text(sh, text, path, words[1:])


def _find_source(sh: Shell, name: str) -> str:
    """Without a slash PATH is searched (any readable file will do), then the current directory."""
    if "/" in name or not sh.shopt["sourcepath"]:
        return name
    fs = sh.proc.fs
    for folder in (sh.get("PATH") or "").split(":"):
        path = f"{folder or '.'}/{name}"
        if fs.is_file(path) and fs.access(path, os.R_OK):
            return path
    return name


def _read_source(sh: Shell, path: str) -> str:
    with sh.proc.opened(path) as file:
        if getattr(getattr(file, "handle", None), "is_dir", False):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        parts, size = [], 0
        while data := file.read(1 << 20):
            parts.append(data)
            size += len(data)
            sh.kernel.fits(size)
    return decode(b"".join(parts).replace(b"\0", b""))


# ------------------------------------------------------------------------------------------------- shift, let


def builtin_shift(sh: Shell, args: Sequence[str]) -> int:
    if not args:
        if not sh.positional:
            return 1
        del sh.positional[0]
        return 0
    args = _operands(args)
    count = number(args[0]) if args else 1
    if count is None:
        sh.builtin_error("shift", f"{args[0]}: numeric argument required")
        return 1
    if len(args) > 1:
        raise _too_many(sh, "shift")
    if count < 0:
        sh.builtin_error("shift", f"{args[0]}: shift count out of range")
        return 1
    if count > len(sh.positional):
        if sh.shopt["shift_verbose"]:
            sh.builtin_error("shift", f"{args[0] if args else 1}: shift count out of range")
        return 1
    del sh.positional[:count]
    return 0


def builtin_let(sh: Shell, args: Sequence[str]) -> int:
    from mirage.shell.expand.arith import arith_eval

    args = _operands(args)
    if not args:
        sh.builtin_error("let", "expression expected")
        return 1
    value = 0
    try:
        for text in args:
            value = arith_eval(sh, text)
    except ShellError as e:
        e.report(sh, "let")
        return 1
    return 0 if value else 1


def builtin_caller(sh: Shell, args: Sequence[str]) -> int:
    """`caller [N]`: who called the current function."""
    parsed = getopt(sh, "caller", args, "")
    if parsed is None:
        return USAGE_STATUS
    words = parsed[1]
    frames = sh.call_stack
    if not sh.function_depth and not any(frame.function == "source" for frame in frames):
        return 1
    if not words:
        source = frames[-2].source if len(frames) > 1 else "NULL"
        sh.out(f"{frames[-1].line} {source}\n".encode("utf-8", "surrogateescape"))
        return 0
    level = number(words[0])
    if level is None:
        sh.builtin_error("caller", f"{words[0]}: invalid number")
        return usage(sh, "caller")
    if level < 0 or level >= len(frames) - 1:
        return 1
    at = len(frames) - 1 - level
    line, outer = frames[at].line, frames[at - 1]
    sh.out(f"{line} {outer.function} {outer.source}\n".encode("utf-8", "surrogateescape"))
    return 0


def builtin_exec(sh: Shell, args: Sequence[str]) -> int:
    """`exec` when it is called by another builtin; see mirage.shell.exec.simple."""
    return sh.run_command(["exec", *args])
