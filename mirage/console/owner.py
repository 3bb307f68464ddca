"""The person at the host's terminal, as the one who answers what the policy holds for approval."""
from __future__ import annotations

import os
import threading

from mirage.policy.records import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.policy.records import Ask

REFUSED = "refused by the owner"


class Owner:
    """`on_ask` of a Terminal at a host's terminal: the y/n question.

    away     there is nobody to ask: the prompt has the keyboard, or a completion looks at files
    stopped  set by whoever stops the line; ends an open question
    """

    def __init__(self) -> None:
        self.away = False
        self.stopped = threading.Event()
        self._one = threading.Lock()

    def __call__(self, ask: Ask) -> Verdict:
        with self._one:
            if self.away:
                return Verdict.deny("asked while nobody was there to answer; run it in the foreground")
            self.stopped.clear()
            self._forget_input()
            self._say(f"mirage: approval needed: {plain(ask.effect)} {plain(ask.target)}\n"
                      f"  reason:  {plain(ask.reason)}\n  command: {plain(' '.join(ask.command))}\n"
                      "  allow it? [y]es, [a]lways for the session, [N]o: ")
            answer = self._answer()
        if answer in ("y", "yes"):
            return Verdict.allow()
        if answer in ("a", "always"):
            return Verdict.allow("session")
        return Verdict.deny(REFUSED)

    @staticmethod
    def _say(text: str) -> None:
        os.write(2, text.encode("utf-8", "backslashreplace"))

    @staticmethod
    def _forget_input() -> None:
        """What was typed before the question does not answer it."""
        import termios
        try:
            termios.tcflush(0, termios.TCIFLUSH)
        except (OSError, termios.error):
            pass

    def _answer(self) -> str:
        """A line of the terminal."""
        import select
        try:
            while not self.stopped.is_set():
                if select.select((0,), (), (), 0.1)[0]:
                    return os.read(0, 4096).decode("utf-8", "replace").strip().lower()
        except OSError:
            pass
        return ""


def plain(text: str) -> str:
    """What an agent wrote, unable to move the cursor or to look like something else."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def owner_here() -> Owner | None:
    """The person whom to ask, if both keyboard and screen are here."""
    try:
        return Owner() if os.isatty(0) and os.isatty(2) else None
    except OSError:
        return None
