"""Traps: signals at command boundaries, EXIT, ERR, DEBUG and RETURN; and what `set -e` does to a failed command."""
from __future__ import annotations

from mirage.process.signals import NAMES, NUMBERS, SIGCHLD, Exit
from mirage.shell.control import Return

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.shell.state import Shell

PSEUDO = ("EXIT", "ERR", "DEBUG", "RETURN")


def slow_tick(sh: Shell) -> None:
    """The rare part of a tick in the interpreter: limits, other processes, traps of pending signals."""
    kernel = sh.kernel
    kernel.slow_tick()
    kernel.attention.discard(sh.proc)
    if sh.proc.pending:
        run_pending(sh)


def set_trap(sh: Shell, name: str, text: str | None) -> None:
    """Install a trap: `text` None resets to the default, empty ignores. `name`: INT, EXIT, ERR, ..."""
    sh.extra.pop("parent_traps", None)
    if text is None:
        sh.traps.pop(name, None)
    else:
        sh.traps[name] = text
    if name in PSEUDO:
        return
    proc, number = sh.proc, NUMBERS[name]
    proc.caught.discard(number)
    proc.ignored.discard(number)
    if text == "":
        proc.ignored.add(number)
    elif text is not None:
        proc.caught.add(number)


def inherit(parent: Shell, sub: Shell) -> None:
    """Traps of a new subshell: ignored signals stay so, ERR with `set -E`, DEBUG and RETURN with `set -T`.

    The others are shown by `trap -p` until the subshell sets one of its own.
    """
    kept = {}
    for name, text in parent.traps.items():
        keep = text == "" if name not in PSEUDO else (
            sub.options.errtrace if name == "ERR" else sub.options.functrace and name != "EXIT")
        if keep:
            kept[name] = text
    sub.extra["parent_traps"] = dict(parent.extra.get("parent_traps") or parent.traps)
    sub.traps = kept


def run_pending(sh: Shell) -> None:
    """Run the traps of the caught signals that have arrived."""
    proc = sh.proc
    proc.deliver()
    while proc.pending:
        number = proc.pending.pop(0)
        text = sh.traps.get(NAMES.get(number, ""))
        if text:
            run_trap(sh, text)


def run_trap(sh: Shell, text: str, line: int | None = None) -> int:
    """Run a trap's text; `$?` is the same after it. The status it ended with. `return` in it passes through."""
    from mirage.shell.exec.calls import run_text, traced_deeper
    status, pipestatus, at = sh.status, sh.pipestatus, sh.line
    outer, command = sh.trap_command, sh.command
    outer_status = sh.extra.get("trap_status")
    sh.extra["trap_status"] = outer_status if sh.extra.get("in_debug") else status
    if outer is None:
        sh.trap_command = command if isinstance(command, str) else command()
    if line is not None:
        sh.line = line
    try:
        result = traced_deeper(sh, lambda: run_text(sh, text, line=sh.line))
    finally:
        sh.trap_command, sh.command = outer, command
        sh.extra["trap_status"] = outer_status
        sh.line = at
    sh.status, sh.pipestatus = status, pipestatus
    return result


def run_exit_trap(sh: Shell, status: int) -> int:
    """Run the EXIT trap, if any, once; the status the shell exits with."""
    if sh.proc.pending:
        sh.status = status
        try:
            run_pending(sh)
        except Exit as e:
            status = e.status
    text = sh.traps.pop("EXIT", None)
    if not text:
        return status
    sh.status = sh.extra["exit_status"] = status
    sh.in_condition = 0
    sh.loop_depth = 0
    sh.line = 1
    try:
        run_trap(sh, text)
    except Exit as e:
        return e.status
    except Return as e:
        return e.status
    return status


def run_debug(sh: Shell, line: int) -> int:
    """The DEBUG trap, before a command; its status (with `extdebug`, nonzero skips the command)."""
    text = sh.traps["DEBUG"]
    if not text or sh.extra.get("in_debug"):
        return 0
    sh.extra["in_debug"] = True
    try:
        return run_trap(sh, text, line)
    finally:
        sh.extra["in_debug"] = False


def err_trap_is_new(sh: Shell) -> None:
    """A call that is about to fail has itself set the ERR trap, if there is one: the trap does not run for the call."""
    if "ERR" in sh.traps:
        sh.extra["new_err_trap"] = True


def failed(sh: Shell, status: int, line: int = 0) -> int:
    """A command that is no condition ended with `status` (not 0): the ERR trap, then `set -e`."""
    new_trap = bool(sh.traps) and sh.extra.pop("new_err_trap", False)
    if sh.in_condition:
        return status
    if sh.traps and not new_trap:
        text = sh.traps.get("ERR")
        if text and not sh.extra.get("in_err"):
            sh.extra["in_err"] = True
            try:
                run_trap(sh, text, line or None)
            finally:
                sh.extra["in_err"] = False
            sh.status = status
    if sh.options.errexit:
        raise Exit(status)
    return status


def child_ended(sh: Shell) -> None:
    """A child ended: SIGCHLD, where it is trapped."""
    if "CHLD" in sh.traps and not sh.extra.get("in_child"):
        sh.kernel.kill(sh.proc, SIGCHLD)
