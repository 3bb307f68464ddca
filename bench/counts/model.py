"""Services with a simulator, and the scripts whose calls are counted."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from mirage.terminal import Terminal


class Unavailable(Exception):
    """What a service needs is not installed here."""


@dataclass
class Script:
    """`line` is counted, after the lines of `before`, in a new terminal.

    minimum  calls that are needed at least, as the rules of the table say;  rule: how it comes about
    peer     the same for mirage-ai, whose paths differ: (before, line); None: it has nothing like it
    """

    name: str
    line: str
    minimum: int
    rule: str
    before: tuple[str, ...] = ()
    peer: tuple[tuple[str, ...], str] | None = None


@dataclass
class Account:
    """A running simulator: `terminal()` makes a new Terminal on it, `calls()` and `clear()` are about its log.

    peer  how mirage-ai is pointed there: {"vfs": class, "config": keyword arguments, "at": mount point}
    """

    simulator: Any
    terminal: Callable[[], Terminal]
    scripts: list[Script]
    peer: dict[str, Any] | None = None

    def clear(self) -> None:
        self.simulator.clear_log()

    def calls(self) -> int:
        return len(self.simulator.log)


@dataclass
class Service:
    name: str
    open: Callable[[], AbstractContextManager[Account]]


@dataclass
class Count:
    """`problem`: why there is no number of the peer's, or what is wrong with ours."""

    service: str
    script: Script
    ours: int
    peer: int | None = None
    problem: str = ""
    output: str = field(default="", repr=False)


def standard(listing: str, n: int, page: int, file: str, depth: int, root: str, word: str, found: int, *,
             first: int = 0, details: int = 0, unsure: int = 0, why: str = "", change: str = "",
             options: str = "") -> list[Script]:
    """The six scripts of every service.

    listing  a directory of `n` items, of which the service gives `page` at a time; `details`: further calls it needs
    file     one item's file, `depth` names deep;  root, word: where and what to search, in `found` files
    first    calls before the first answer that every program needs (which folders there are)
    unsure   calls that look after what the service's index cannot be asked for, and `why`
    change   a command that changes something in `listing`
    """
    pages = max(1, ceil(n / page))
    scripts = [
        Script("cold ls", f"ls '{listing}'", first + pages + details,
               ("first call + " if first else "") + f"pages of {page}" + (" + batches of names" if details else "")),
        Script("second ls", f"ls '{listing}'", 1, "one revalidation", (f"ls '{listing}'",)),
        Script("second cat", f"cat '{file}'", 1, "one revalidation", (f"cat '{file}'",)),
        Script("grep -rw", f"grep -rlw {options} {word} {root}", first + 1 + found + unsure,
               "search pages + one read per candidate" + (f" + {why}" if why else "")),
        Script("cat by path, cold", f"cat '{file}'", depth + 1, "depth + 1"),
    ]
    if not word:
        del scripts[3]
    if change:
        scripts.append(Script("ls after a change", f"ls '{listing}'", 1 + pages, "the changed listing",
                              (f"ls '{listing}'", change)))
    return scripts


def count(account: Account, service: str) -> Iterator[Count]:
    """Run every script of an account in a terminal of its own."""
    for script in account.scripts:
        with account.terminal() as terminal:
            for line in script.before:
                terminal.run(line)
            account.clear()
            result = terminal.run(script.line)
            problem = "" if result.exit_code == 0 else f"status {result.exit_code}: {result.stderr[:100]}"
            yield Count(service, script, account.calls(), problem=problem, output=result.stdout)
