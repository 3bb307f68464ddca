"""The interactive terminal: a prompt over one Terminal. With a pipe as stdin it runs the lines and exits."""
from __future__ import annotations

import os
import signal
import sys
from contextlib import nullcontext

from mirage.console.execute import Stop
from mirage.console.owner import Owner, owner_here
from mirage.console.setup import make_terminal, timeout_of
from mirage.console.streams import HostInput, HostOutput, host_input
from mirage.shell.parse import needs_more

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from prompt_toolkit import PromptSession
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.history import History

    from mirage.console.options import Parsed
    from mirage.console.progress import ProgressLine
    from mirage.terminal import Terminal
    from mirage.vfs.types import Mount

WELCOME = """\
Mirage: a virtual terminal. Nothing here runs on your machine.
Try: cat /VFS.md     Leave: exit or Ctrl-D     Stop a line: Ctrl-C
"""
ALIASES = {"ls": "ls --color=auto", "grep": "grep --color=auto", "diff": "diff --color=auto"}


def interact(parsed: Parsed, demo: bool) -> int:
    """Open the terminal; the exit status is that of `exit` or of the last line."""
    for name in ("json", "usage"):
        if parsed.get(name):
            from mirage.console.options import UsageError
            raise UsageError(f"--{name} needs a COMMAND")
    on_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()
    owner = owner_here() if on_terminal else None
    defaults: dict[str, Mount] = {}
    if not demo and not parsed.get("config"):
        from mirage.mounts.host import Host
        defaults["/src"] = Host(".")
        if on_terminal and os.path.exists("mirage.yaml"):
            print("mirage: there is a mirage.yaml here; use it with: mirage -f mirage.yaml", file=sys.stderr)
    if on_terminal:
        parsed.values.setdefault("env", []).insert(0, f"TERM={os.environ.get('TERM', 'dumb')}")
    timeout = timeout_of(parsed)
    if timeout is None and on_terminal and not parsed.get("config"):
        timeout = 0.0                                        # a person stops a line with Ctrl-C
    with make_terminal(parsed, demo, defaults, on_ask=owner) as terminal:
        if owner is not None:
            return Prompt(terminal, owner, timeout).loop()
        return run_lines(terminal, timeout)


def run_lines(terminal: Terminal, timeout: float | None) -> int:
    """Run complete commands of standard input as they come; the exit status of the last, or of `exit`.

    A command that reads standard input gets the lines after it, as in bash.
    """
    stdin, stdout, stderr = host_input(), HostOutput(1, "/dev/stdout"), HostOutput(2, "/dev/stderr")
    stop = Stop(terminal)
    stop.install(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    wanted: str | None = None
    status, number, pending = 0, 1, ""
    while not stop.status:
        line = stdin.readline().decode("utf-8", "surrogateescape") if isinstance(stdin, HostInput) else ""
        pending += line
        if not pending:
            break
        if line and (wanted is not None and line.strip("\t\n") != wanted or needs_more(pending, extglob=True)):
            wanted = wanted or _delimiter(pending)
            continue
        result = terminal.run(pending, stdin, timeout, stdout=stdout, stderr=stderr, line=number)
        number += pending.count("\n")
        status, pending, wanted = result.exit_code, "", None
        if result.exited or not line:
            break
    return stop.status or status


def _delimiter(text: str) -> str | None:
    """The word that ends the here-document which is open at the end of `text`."""
    from mirage.shell.parse import parse
    for warning in parse(text, extglob=True).warnings:
        before, found, word = warning.msg.partition("(wanted `")
        if found:
            return word.removesuffix("')")
    return None


def _progress(terminal: Terminal) -> ProgressLine | None:
    """Where there are services to wait for, and standard error is a terminal."""
    remote = any(hasattr(mounted.mount, "counters") for mounted in terminal.machine.namespace.mounts())
    if not remote or sys.stderr is None or not sys.stderr.isatty():
        return None
    from mirage.console.progress import ProgressLine
    return ProgressLine(terminal)


class Prompt:
    """Reads lines with prompt-toolkit: history search, completion, multi-line editing."""

    def __init__(self, terminal: Terminal, owner: Owner, timeout: float | None) -> None:
        self.terminal = terminal
        self.owner = owner
        self.timeout = timeout
        self.status = 0
        self.stdin = HostInput()
        self.stdout, self.stderr = HostOutput(1, "/dev/stdout"), HostOutput(2, "/dev/stderr")
        self.stdout.around = self.stderr.around = self._beside_prompt
        terminal.session.make_interactive(ALIASES)
        self.progress = _progress(terminal)

    def loop(self) -> int:
        os.write(1, WELCOME.encode())
        signal.signal(signal.SIGQUIT, signal.SIG_IGN)
        self.prompt = self._prompt_session()
        while True:
            for line in self.terminal.session.job_notes():
                os.write(2, line.encode("utf-8", "surrogateescape"))
            self.owner.away = True
            try:
                text = self.prompt.prompt(self._prompt)
            except KeyboardInterrupt:
                self.status = 130
                continue
            except EOFError:
                os.write(1, b"exit\n")
                return self.status
            if text.strip() and not self._run(text):
                return self.status

    def _run(self, text: str) -> bool:
        """Run a line, which Ctrl-C stops; False when it was `exit`."""
        self.owner.away = False
        size = os.get_terminal_size(1)
        self.terminal.session.typed(text, size.columns, size.lines)
        previous = signal.signal(signal.SIGINT, self._interrupt)
        try:
            with self.progress or nullcontext():
                result = self.terminal.run(text, self.stdin, self.timeout, stdout=self.stdout, stderr=self.stderr)
        finally:
            signal.signal(signal.SIGINT, previous)
        self.status = result.exit_code
        return not result.exited

    def _interrupt(self, number: int, frame: object) -> None:
        os.write(2, b"\n")
        self.owner.stopped.set()
        self.terminal.cancel()

    def _beside_prompt(self, write: Callable[[], object]) -> None:
        """What a job in the background writes goes above the prompt that is open."""
        if self.progress is not None:
            self.progress.hide()
        app = self.prompt.app
        loop = app.loop
        if not app.is_running or loop is None:
            write()
            return
        from prompt_toolkit.application import run_in_terminal

        def above() -> None:
            run_in_terminal(write)

        context = app.context
        loop.call_soon_threadsafe(above, context=context.copy() if context is not None else None)

    def _prompt(self) -> Any:
        from prompt_toolkit.formatted_text import FormattedText
        cwd = self.terminal.cwd
        home = "/home/user"
        shown = "~" + cwd[len(home):] if cwd == home or cwd.startswith(home + "/") else cwd
        shown = shown.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        colour = "ansired" if self.status else "ansigreen"
        return FormattedText([("bold ansigreen", "user@mirage"), ("", ":"), ("bold ansiblue", shown),
                              (f"bold {colour}", "$ ")])

    def _prompt_session(self) -> PromptSession[str]:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
        from prompt_toolkit.lexers import PygmentsLexer
        from prompt_toolkit.shortcuts import CompleteStyle
        from pygments.lexers.shell import BashLexer

        from mirage.console.completion import ShellCompleter
        return PromptSession(history=_history(), multiline=True, key_bindings=self._keys(),
                             completer=ShellCompleter(self.terminal), complete_style=CompleteStyle.READLINE_LIKE,
                             complete_while_typing=False, enable_history_search=True,
                             auto_suggest=AutoSuggestFromHistory(), lexer=PygmentsLexer(BashLexer),
                             prompt_continuation=lambda width, number, wrapped: "" if wrapped else "> ")

    @staticmethod
    def _keys() -> Any:
        from prompt_toolkit.application.current import get_app
        from prompt_toolkit.filters import is_searching
        from prompt_toolkit.key_binding import KeyBindings
        from prompt_toolkit.search import accept_search
        keys = KeyBindings()

        @keys.add("enter", filter=is_searching)
        def accept_found(event: Any) -> None:
            accept_search()
            accept_line(get_app().current_buffer)

        @keys.add("enter", filter=~is_searching)
        def accept(event: Any) -> None:
            accept_line(event.current_buffer)

        def accept_line(buffer: Buffer) -> None:
            if buffer.text.strip() and needs_more(buffer.text + "\n", extglob=True):
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        return keys


def _history() -> History:
    """Typed lines in the user's state folder; those that begin with a space are not kept, as in Debian's bash."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class Lines(FileHistory):
        def store_string(self, string: str) -> None:
            if not string.startswith(" "):
                super().store_string(string)

    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    path = os.path.join(state, "mirage", "history")
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError as e:
        print(f"mirage: the history is not kept: {e}", file=sys.stderr)
        return InMemoryHistory()
    return Lines(path)
