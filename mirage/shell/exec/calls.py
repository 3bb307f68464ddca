"""Calls: functions and texts (`eval`, `source`, traps, scripts); on a fresh stack when this one is high."""
from __future__ import annotations

from mirage.process.signals import Exit, LimitExceeded
from mirage.shell.ast import Function
from mirage.shell.builtins import SPECIAL
from mirage.shell.control import Break, Continue, Return, ShellError
from mirage.shell.exec.compile import NESTING, compile_command, compiled, nesting
from mirage.shell.exec.traps import err_trap_is_new, run_debug, run_trap, slow_tick
from mirage.shell.parse import ParseError, UnitParser
from mirage.shell.state import READONLY, Frame, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mirage.shell.exec.compile import Run
    from mirage.shell.state import Shell

MAX_FRAMES = 220                                             # weight after which a fresh greenlet goes on
PROGRAM_WEIGHT = 30                                          # of a program, maybe a shell, on this greenlet
_UNMATCHED = "unexpected EOF while looking for matching"
ENVIRONMENT = "environment"                                  # BASH_SOURCE of a function defined by `bash -c`
_functions: dict[int, tuple[Function, Run, int]] = {}


class NotExecuted(Exception):
    """`set -n` was switched on: what follows is only read."""


class ParseView:
    """The options of a shell that its parser reads before every line."""

    __slots__ = ("sh",)

    def __init__(self, sh: Shell) -> None:
        self.sh = sh

    @property
    def aliases(self) -> Mapping[str, str] | None:
        return self.sh.aliases if self.sh.shopt["expand_aliases"] else None

    @property
    def extglob(self) -> bool:
        return self.sh.shopt["extglob"]

    @property
    def posix(self) -> bool:
        return self.sh.options.posix


# -------------------------------------------------------------------------------------------------------------- depth


def enter(sh: Shell, weight: int, body: Callable[[], int]) -> int:
    """body(), one call deeper; LimitExceeded beyond the limit of nested calls."""
    depth = sh.depth = sh.depth + 1
    frames = sh.frames
    try:
        if depth > sh.kernel.limits.depth:
            raise LimitExceeded(f"depth: more than {sh.kernel.limits.depth} nested calls")
        if frames + weight <= MAX_FRAMES:
            sh.frames = frames + weight
            return body()
        sh.frames = weight
        return sh.kernel.call_deep(body)
    finally:
        sh.depth = depth - 1
        sh.frames = frames


def _prepared(node: Function) -> tuple[Function, Run, int]:
    """(the node, its body compiled, the weight of a call), kept by the identity of the node."""
    entry = _functions.get(id(node))
    if entry is None:
        if len(_functions) >= 4096:
            _functions.clear()
        weight = 10 + 3 * min(nesting(node.body), NESTING)
        entry = _functions[id(node)] = (node, compile_command(node.body), weight)
    return entry


# ---------------------------------------------------------------------------------------------------------- functions


def define_function(sh: Shell, node: Function) -> int:
    name = node.name
    status = 0
    if sh.options.posix and name in SPECIAL:
        sh.error(f"`{name}': is a special builtin")
        if not sh.interactive:
            raise Exit(2)
        status = 1
    elif not node.valid:
        sh.error(f"`{name}': not a valid identifier")
        status = 1
    elif sh.function_flags.get(name, 0) & READONLY:
        sh.error(f"{name}: readonly function")
        status = 1
    else:
        sh.functions[name] = node
        sh.function_sources[name] = current_source(sh)
        if sh.function_flags.get(name):
            sh.exports_changed()
    sh.pipestatus = None
    sh.status = status
    return status


def current_source(sh: Shell) -> str:
    """BASH_SOURCE of what is defined or called here."""
    if sh.call_stack:
        source: str = sh.call_stack[-1].source
        return source
    return "main" if sh.interactive else ENVIRONMENT


def run_function(sh: Shell, name: str, args: Sequence[str]) -> int:
    return call_function(sh, sh.functions[name], name, list(args))


def call_function(sh: Shell, node: Function, name: str, args: list[str]) -> int:
    """Call a function; the status, also in `sh.status`."""
    if "FUNCNEST" in sh.vars:
        _check_funcnest(sh, name)
    kernel = sh.kernel
    kernel.budget -= 1
    if kernel.budget < 0:
        slow_tick(sh)
    _, body, weight = _functions.get(id(node)) or _prepared(node)
    positional, loops, depth, frames = sh.positional, sh.loop_depth, sh.depth + 1, sh.frames
    if depth > kernel.limits.depth:
        raise LimitExceeded(f"depth: more than {kernel.limits.depth} nested calls")
    sh.positional = args
    sh.loop_depth = 0
    sh.depth = depth
    sh.function_depth += 1
    sh.call_stack.append(Frame((name, sh.function_sources.get(name, ENVIRONMENT), sh.line,
                                args.copy() if sh.shopt["extdebug"] else None)))
    sh.scopes.append(Scope())
    trapped = False
    hidden = None
    if sh.traps:
        trapped = "ERR" in sh.traps
        hidden = _hide_traps(sh, name)
    try:
        if hidden is not None and "DEBUG" in sh.traps:
            run_debug(sh, node.line)
        try:
            if frames + weight <= MAX_FRAMES:
                sh.frames = frames + weight
                status = body(sh)
            else:
                sh.frames = weight
                status = kernel.call_deep(lambda: body(sh))
        except Return as e:
            status = e.status
        if sh.traps:
            status = run_return(sh, status)
            if status and not trapped:
                err_trap_is_new(sh)
        sh.status = status
    except ShellError as e:
        e.report(sh)
        sh.line = sh.call_stack[-1].line
        raise
    finally:
        if hidden:
            for trap, text in hidden.items():
                sh.traps.setdefault(trap, text)
        if sh.scopes[-1]:
            sh.pop_scope()
        else:
            sh.scopes.pop()
        sh.call_stack.pop()
        sh.function_depth -= 1
        sh.depth = depth - 1
        sh.frames = frames
        sh.loop_depth = loops
        sh.positional = positional
    return status


def _hide_traps(sh: Shell, name: str) -> dict[str, str]:
    """Take away what a function does not inherit: DEBUG and RETURN without `set -T`, ERR without `set -E`."""
    from mirage.shell.state import TRACE
    hidden = {}
    traced = sh.options.functrace or sh.function_flags.get(name, 0) & TRACE
    for trap, stays in (("DEBUG", traced), ("RETURN", traced), ("ERR", sh.options.errtrace)):
        if trap in sh.traps and not stays:
            hidden[trap] = sh.traps.pop(trap)
    return hidden


def run_return(sh: Shell, status: int) -> int:
    """The RETURN trap of what ends with `status`; the status then."""
    text = sh.traps.get("RETURN")
    if text:
        try:
            run_trap(sh, text)
        except Return as e:
            return e.status
    return status


def _check_funcnest(sh: Shell, name: str) -> None:
    text = sh.get("FUNCNEST") or ""
    if text.isdecimal() and 0 < int(text) <= sh.function_depth:
        raise ShellError(f"{name}: maximum function nesting level exceeded ({int(text)})", fatal=False)


# -------------------------------------------------------------------------------------------------------------- texts


def run_text(sh: Shell, text: str, *, line: int = 1, label: str | None = None, reader: bool = False) -> int:
    """Run a text, a complete line at a time; the status, also in `sh.status`.

    label    what stands before `line N: syntax error` (``bash: -c``, ``bash: eval``); None: as other messages
    reader   a script or standard input, where `set -t` counts
    A ShellError discards the rest of its line; a fatal one, or one in a subshell, ends the shell.
    """
    base = sh.base_line
    try:
        return _run_units(sh, UnitParser(text, ParseView(sh), line), label, reader)
    finally:
        sh.base_line = base


def _run_units(sh: Shell, parser: UnitParser, label: str | None, reader: bool) -> int:
    status = 0
    ran = False
    level = len(sh.call_stack)
    while True:
        try:
            unit = parser.next()
        except ParseError as e:
            _warn(sh, parser)
            _syntax_error(sh, e, label)
            if e.nested and not sh.interactive:
                raise Exit(127 if sh.options.command else 2) from None
            unmatched = not sh.depth and e.msg.startswith(_UNMATCHED) and not e.msg.endswith("`)'")
            sh.status = status = sh.status or 2 if unmatched else 2
            return status
        if parser.warnings:
            _warn(sh, parser)
        if unit is None:
            break
        if sh.options.verbose:
            _echo(sh, parser.text)
        if sh.options.noexec and not sh.interactive:
            continue
        ran = True
        sh.base_line = (level, parser.line + parser.text.count("\n", 0, -1))
        try:
            status = compiled(unit)(sh)
        except ShellError as e:
            status = _discard(sh, e)
            if sh.line != sh.base_line[1] and sh.base_line[0] == level:
                parser = parser.renumbered(sh.line - sh.base_line[1])
        except _too_complex():
            status = _discard(sh, ShellError("pattern matching: too many steps"))
        except NotExecuted:
            status = sh.status
        if sh.options.onecmd and reader:
            raise Exit(status)
    if not ran:
        sh.status = 0
        return 0
    if sh.options.noexec and sh.depth:
        raise NotExecuted
    return status


def _too_complex() -> type[Exception]:
    """The error of a pattern that takes too many steps; its module is loaded when an error comes by."""
    from mirage.text.pattern import PatternTooComplex
    return PatternTooComplex


def _discard(sh: Shell, error: ShellError) -> int:
    """An error abandoned the rest of a line; Exit where that ends the shell."""
    error.report(sh)
    if error.fatal and not sh.options.errexit:
        raise Exit(error.status) from None
    if error.fatal or sh.subshell_level or sh.options.errexit and error.ends_errexit:
        raise Exit(1) from None
    sh.pipestatus = None
    sh.status = 1
    return 1


def _warn(sh: Shell, parser: UnitParser) -> None:
    for warning in parser.warnings:
        sh.proc.write_error(warning.text(_label(sh)) + "\n")


def _syntax_error(sh: Shell, error: ParseError, label: str | None) -> None:
    for text in error.lines(label or _label(sh)):
        sh.proc.write_error(text + "\n")


def _label(sh: Shell) -> str:
    return sh.call_stack[-1].source if sh.call_stack else sh.name


def _echo(sh: Shell, text: str) -> None:
    sh.proc.write_error(text if text.endswith("\n") else text + "\n")


def eval_text(sh: Shell, text: str, line: int | None = None) -> int:
    """`eval`: run `text` here; lines count on from the line of the command."""
    first = sh.line if line is None else line
    label = f"{_label(sh)}: eval"
    trapped = "ERR" in sh.traps
    status = enter(sh, 14, lambda: traced_deeper(sh, lambda: run_text(sh, text, line=first, label=label)))
    if status and not trapped:
        err_trap_is_new(sh)
    return status


def traced_deeper(sh: Shell, run: Callable[[], int]) -> int:
    """run(), with one `+` more before the lines of `set -x`."""
    extra = sh.extra
    level = extra["trace_level"] = extra.get("trace_level", 0) + 1
    try:
        return run()
    finally:
        extra["trace_level"] = level - 1


def source_text(sh: Shell, text: str, path: str, args: Sequence[str] | None) -> int:
    """`source`: run the text of the file `path`; `args` replace `$@` when there are any."""
    positional, loops = sh.positional, sh.loop_depth
    if args:
        sh.positional = list(args)
    mine = sh.positional
    trapped = "ERR" in sh.traps
    sh.call_stack.append(Frame(("source", path, sh.line, None)))
    try:
        try:
            status = enter(sh, 16, lambda: traced_deeper(sh, lambda: run_text(sh, text, label=path)))
        except Return as e:
            status = e.status
        if sh.traps:
            status = run_return(sh, status)
            if status and not trapped:
                err_trap_is_new(sh)
        sh.status = status
        return status
    except ShellError as e:
        e.report(sh)
        raise
    finally:
        sh.call_stack.pop()
        sh.loop_depth = loops
        if args and (sh.function_depth or _shifted(mine, sh.positional)):
            sh.positional = positional


def _shifted(before: list[str], after: list[str]) -> bool:
    """Was `$@` at most shifted, not set anew?"""
    return after is before or len(after) < len(before) and before[len(before) - len(after):] == after


def run_command(sh: Shell, argv: Sequence[str]) -> int:
    """Run a builtin or a program, as `command` does; the status."""
    from mirage.shell.exec.simple import run_builtin_or_program
    return run_builtin_or_program(sh, list(argv))


def run_body(sh: Shell, run: Callable[[Shell], int]) -> int:
    """A whole shell process: run(sh), and whatever way it ends, its EXIT trap; the exit status."""
    from mirage.shell.exec.traps import run_exit_trap
    try:
        status = run(sh)
    except Exit as e:
        status = e.status
    except Return as e:
        status = e.status
    except (Break, Continue, NotExecuted):
        status = sh.status
    except ShellError as e:
        e.report(sh)
        status = e.status
    return run_exit_trap(sh, status & 0xFF)
