"""Completion for the interactive terminal: commands, variables, CLI operations, and paths as the policy shows them."""
from __future__ import annotations

import posixpath
import re

from prompt_toolkit.completion import Completer, Completion

from mirage.shell.builtins import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from mirage.terminal import Terminal

_WORD = re.compile(r"(?:[^\s|&;()<>\"'`\\]|\\.)*\Z")
_COMMAND_POSITION = re.compile(r"(?:^|[|&;(\n`]|\$\(|\b(?:then|do|else|while|until|if|!|time)\s)\s*\Z")


class ShellCompleter(Completer):
    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        match = _WORD.search(before)
        word = match.group() if match else ""
        for text, shown in self.candidates(before[:len(before) - len(word)], word):
            yield Completion(text, start_position=-len(word), display=shown)

    def candidates(self, left: str, word: str) -> Iterator[tuple[str, str]]:
        """(what to insert, what to show) for `word`, which follows `left`."""
        if word.startswith("$"):
            brace = "{" if word.startswith("${") else ""
            for name in sorted(self.terminal.variable_names()):
                if name.startswith(word[1 + len(brace):]):
                    yield f"${brace}{name}{'}' if brace else ''}", name
            return
        if _COMMAND_POSITION.search(left) and "/" not in word:
            for name in self._commands():
                if name.startswith(word):
                    yield name + " ", name
            return
        cli = self.terminal.machine.clis.get(left.split()[-1]) if left.split() else None
        if cli is not None:
            for name in sorted(cli.operations):
                if name.startswith(word):
                    yield name + " ", name
            return
        yield from self._paths(word)

    def _commands(self) -> list[str]:
        return sorted({*NAMES, *self.terminal.machine.program_names(), *self.terminal.function_names()})

    def _paths(self, word: str) -> Iterator[tuple[str, str]]:
        plain = re.sub(r"\\(.)", r"\1", word)
        head, tail = posixpath.split(plain)
        folder = head
        if head == "~" or head.startswith("~/"):
            folder = "/home/user" + head[1:]
        folder = posixpath.normpath(posixpath.join(self.terminal.cwd, folder))
        try:
            entries = self.terminal.fs.list(folder)
        except OSError:
            return
        for entry in sorted(entries, key=lambda e: e.name):
            if not entry.name.startswith(tail) or entry.name.startswith(".") and not tail.startswith("."):
                continue
            try:
                is_dir = (entry.stat or self.terminal.fs.stat(posixpath.join(folder, entry.name))).is_dir
            except OSError:
                is_dir = False
            path = posixpath.join(head, entry.name) if head else entry.name
            quoted = re.sub(r"([^\w@%+=:,./~-])", r"\\\1", path)
            yield quoted + ("/" if is_dir else " "), entry.name + ("/" if is_dir else "")
