"""Control flow of the interpreter as exceptions: break, continue, return, and errors that abandon a command.

`exit` is `mirage.process.signals.Exit`, a BaseException; these four are ordinary exceptions.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.shell.state import Shell


class Break(Exception):
    """`break N`: caught by a loop, which passes it on with one less while ``levels > 1``."""

    def __init__(self, levels: int = 1) -> None:
        super().__init__(levels)
        self.levels = levels


class Continue(Exception):
    """`continue N`: as Break, but the last loop goes on with its next turn."""

    def __init__(self, levels: int = 1) -> None:
        super().__init__(levels)
        self.levels = levels


class Return(Exception):
    """`return STATUS`: ends the innermost function or sourced file."""

    def __init__(self, status: int = 0) -> None:
        super().__init__(status)
        self.status = status


class ShellError(Exception):
    """An expansion, assignment or arithmetic error.

    message  bash's text without the ``bash: line N: `` prefix; empty when there is nothing to print
    status   what ``$?`` becomes
    fatal    True: the shell exits with `status` (``${x?}`` and ``set -u``: 127 under ``bash -c``, else 1; errors in a
             subscript that is assigned to: 1). False: what is left of the current complete command (all that was
             parsed together, usually the line) is discarded with status 1 and the next one runs; a subshell exits.

    Builtins, ``((``, ``let`` and ``[[`` catch it, print ``NAME: message`` and give status 1. Everybody else lets it
    pass, but calls `report` before anything that would change where the message goes (redirections undone, another
    line number, another function): it prints once.
    """

    ends_errexit = True                                      # with ``set -e`` the shell ends

    def __init__(self, message: str, status: int = 1, fatal: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.fatal = fatal
        self.reported = not message

    def report(self, sh: Shell, command: str = "") -> None:
        """Print the message, unless that was done; `command` (``((``, ``let``) is put before it where bash does so."""
        if not self.reported:
            self.reported = True
            sh.error(f"{command}: {self.message}" if self.is_prefixed(command) else self.message)

    def is_prefixed(self, command: str) -> bool:
        """Does bash name `command` in this message?"""
        return command in ("declare", "typeset", "local", "unset")


class ArithError(ShellError):
    """An error in an arithmetic expression; `message` begins with the expression."""

    ends_errexit = False

    def is_prefixed(self, command: str) -> bool:
        return command != ""


class SubstringError(ShellError):
    """``${x:0:-9}``: an end before the start."""

    ends_errexit = False
