"""The interactive terminal: a prompt over one Terminal. With a pipe as stdin it runs the lines and exits."""
from __future__ import annotations

import os
import signal
import sys

from mirage.console.execute import emitter
from mirage.console.setup import make_terminal, timeout_of
from mirage.policy.records import Verdict
from mirage.process.files import Sink
from mirage.shell.parse import needs_more

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from prompt_toolkit import PromptSession

    from mirage.console.options import Parsed
    from mirage.policy.records import Ask
    from mirage.terminal import Result, Terminal
    from mirage.vfs.types import Mount

WELCOME = """\
Mirage: a virtual terminal. Nothing here runs on your machine.
Try: cat /VFS.md     Leave: exit or Ctrl-D     Stop a line: Ctrl-C
"""


def interact(parsed: Parsed, demo: bool) -> int:
    """Open the terminal; the exit status is that of `exit` or of the last line."""
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    extra: dict[str, Any] = {"on_ask": ask_owner} if on_terminal else {}
    defaults: dict[str, Mount] = {}
    if not demo and not parsed.get("config"):
        from mirage.mounts.host import Host
        defaults["/src"] = Host(".")
        if on_terminal and os.path.exists("mirage.yaml"):
            print("mirage: there is a mirage.yaml here; use it with: mirage -f mirage.yaml", file=sys.stderr)
    timeout = timeout_of(parsed)
    with make_terminal(parsed, demo, defaults, **extra) as terminal:
        if on_terminal:
            return Prompt(terminal, timeout).loop()
        return run_lines(terminal, sys.stdin.buffer.read().decode("utf-8", "surrogateescape"), timeout)


def run_lines(terminal: Terminal, text: str, timeout: float | None) -> int:
    """Run complete commands one after another; the exit status of the last, or of `exit`."""
    status, pending = 0, ""
    for line in text.splitlines(keepends=True):
        pending += line
        if needs_more(pending, extglob=True):
            continue
        result, pending = run(terminal, pending, timeout), ""
        status = result.exit_code
        if result.exited:
            return status
    return run(terminal, pending, timeout).exit_code if pending.strip() else status


def run(terminal: Terminal, text: str, timeout: float | None, tty: bool = False) -> Result:
    return terminal.run(text, timeout=timeout, stdout=Sink(emitter(1), "/dev/stdout", tty=tty),
                        stderr=Sink(emitter(2), "/dev/stderr", tty=tty))


def ask_owner(ask: Ask) -> Verdict:
    """The y/n question on the terminal."""
    sys.stderr.write(f"mirage: {_plain(ask.target)}: {ask.reason}\n  asked by: {_plain(' '.join(ask.command))}\n")
    try:
        answer = input("  allow it? [y]es, [a]lways in this session, [N]o: ").strip().lower()
    except (EOFError, KeyboardInterrupt):
        return Verdict.deny("refused by the owner")
    if answer in ("y", "yes"):
        return Verdict.allow()
    if answer in ("a", "always"):
        return Verdict.allow("session")
    return Verdict.deny("refused by the owner")


def _plain(text: str) -> str:
    """What an agent wrote, unable to move the cursor or to look like something else."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


class Prompt:
    """Reads lines with prompt-toolkit: history search, completion, multi-line editing."""

    def __init__(self, terminal: Terminal, timeout: float | None) -> None:
        self.terminal = terminal
        self.timeout = timeout
        self.status = 0

    def loop(self) -> int:
        sys.stdout.write(WELCOME)
        session = self._session()
        while True:
            try:
                text = session.prompt(self._prompt)
            except KeyboardInterrupt:
                continue
            except EOFError:
                print("exit")
                return self.status
            if not text.strip():
                continue
            result = self._run(text)
            self.status = result.exit_code
            if result.exited:
                return self.status

    def _run(self, text: str) -> Result:
        """Ctrl-C stops the running line, not the terminal."""
        previous = signal.signal(signal.SIGINT, lambda *_: self.terminal.cancel())
        try:
            return run(self.terminal, text, self.timeout, tty=True)
        finally:
            signal.signal(signal.SIGINT, previous)

    def _prompt(self) -> Any:
        from prompt_toolkit.formatted_text import FormattedText
        cwd = self.terminal.cwd
        home = "/home/user"
        shown = "~" + cwd[len(home):] if cwd == home or cwd.startswith(home + "/") else cwd
        colour = "ansired" if self.status else "ansigreen"
        return FormattedText([("bold ansigreen", "user@mirage"), ("", ":"), ("bold ansiblue", shown),
                              (f"bold {colour}", "$ ")])

    def _session(self) -> PromptSession[str]:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
        from prompt_toolkit.history import FileHistory
        from prompt_toolkit.lexers import PygmentsLexer
        from pygments.lexers.shell import BashLexer

        from mirage.console.completion import ShellCompleter
        state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        folder = os.path.join(state, "mirage")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return PromptSession(history=FileHistory(os.path.join(folder, "history")), multiline=True,
                             key_bindings=self._keys(), completer=ShellCompleter(self.terminal),
                             complete_while_typing=False, enable_history_search=True,
                             auto_suggest=AutoSuggestFromHistory(), lexer=PygmentsLexer(BashLexer),
                             prompt_continuation=lambda width, number, wrapped: "> ".rjust(min(width, 4)))

    @staticmethod
    def _keys() -> Any:
        from prompt_toolkit.filters import has_completions, completion_is_selected
        from prompt_toolkit.key_binding import KeyBindings
        keys = KeyBindings()

        @keys.add("enter", filter=~(has_completions & completion_is_selected))
        def accept(event: Any) -> None:
            buffer = event.current_buffer
            if buffer.text.strip() and needs_more(buffer.text + "\n", extglob=True):
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        return keys
