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
    shows    what must be in the output
    more     why ours may take more calls than mirage-ai
    """

    name: str
    line: str
    minimum: int
    rule: str
    before: tuple[str, ...] = ()
    peer: tuple[tuple[str, ...], str] | None = None
    shows: str = ""
    more: str = ""


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
             changed: str = "", shows: str = "", fresh: tuple[int, str] | None = None,
             options: str = "") -> list[Script]:
    """The scripts of every service.

    listing  a directory of `n` items, of which the service gives `page` at a time; `details`: further calls it needs
    file     one item's file, `depth` names deep;  root, word: where and what to search, in `found` files
    first    calls before the first answer that every program needs (which folders there are)
    unsure   calls that look after what the service's index cannot be asked for, and `why`
    change   a command that changes what is in `changed`, or in `listing`, which then has `shows`; `%` in them is
             another number each time;  fresh: calls that show it, and why
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
        shown = changed or listing
        least, rule = fresh or (pages + details, "the changed listing")
        scripts += [
            Script("ls after a change", f"ls '{shown}'", least, rule, (f"ls '{shown}'", change.replace("%", "1")),
                   shows=shows.replace("%", "1")),
            Script("cat of another after it", f"cat '{file}'", 1, "one revalidation: nothing else is fetched again",
                   (f"ls '{shown}'; cat '{file}'", change.replace("%", "2")))]
    return scripts


def count(account: Account, service: str) -> Iterator[Count]:
    """Run every script of an account in a terminal of its own."""
    for script in account.scripts:
        with account.terminal() as terminal:
            failed = [result for line in script.before if (result := terminal.run(line)).exit_code]
            account.clear()
            result = terminal.run(script.line)
            problem = "".join(f"status {one.exit_code}: {one.stderr[:100]}"
                              for one in (*failed, result) if one.exit_code)
            if script.shows not in result.stdout:
                problem += f"{script.shows!r} is not shown"
            yield Count(service, script, account.calls(), problem=problem, output=result.stdout)
