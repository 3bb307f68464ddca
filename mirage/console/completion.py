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
    from mirage.vfs.types import Stat

_STARTERS = frozenset({
    "if", "then", "elif", "else", "while", "until", "do", "!", "time", "{", "coproc",
    "command", "builtin", "exec", "env", "xargs", "nohup", "type", "which", "eval"})
"""Words after which another command name may follow."""
_VARIABLE = re.compile(r"(?<!\\)\$(\{?)(\w*)\Z")
_LEADING_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))(?=/)")
_SPECIAL = re.compile(r"([^\w@%+=:,./~-])")


class Place:
    """Where the cursor is.

    word   the raw text of the word it ends, from `start` on; quote: the quote that is open in it, or ""
    words  the raw words before it in its simple command; redirect: the word is the target of a redirection
    """

    __slots__ = ("quote", "redirect", "start", "word", "words")

    def __init__(self, start: int, word: str, quote: str, words: list[str], redirect: bool) -> None:
        self.start = start
        self.word = word
        self.quote = quote
        self.words = words
        self.redirect = redirect

    @property
    def is_command(self) -> bool:
        return not self.redirect and all(w in _STARTERS or re.match(r"\w+\+?=", w) for w in self.words)


def find_place(text: str) -> Place:
    """The place at the end of `text`: words, quotes and command substitutions, without a full parse."""
    outer: list[tuple[int, str, list[str], bool]] = []       # of each open $( or backquote
    words: list[str] = []
    start, quote, redirect, i = -1, "", False, 0
    while i < len(text):
        c = text[i]
        if quote == "'":
            if c == "'":
                quote = ""
        elif c == "\\":
            start = i if start < 0 else start
            i += 1
        elif c == "$" and text[i + 1:i + 2] == "(" or c == "`" and not (outer and text[outer[-1][0]] == "`"):
            outer.append((i, quote, [text[start:i] if start >= 0 else "", str(start), *words], redirect))
            start, quote, words, redirect = -1, "", [], False
            i += c == "$"
        elif outer and c == ("`" if text[outer[-1][0]] == "`" else ")") and not quote:
            _, quote, saved, redirect = outer.pop()
            start, words = int(saved[1]), saved[2:]
            start = i if start < 0 else start
        elif quote:
            if c == quote:
                quote = ""
        elif c in "'\"":
            start = i if start < 0 else start
            quote = c
        elif c in " \t\n|&;()<>":
            if start >= 0:
                if not redirect:
                    words.append(text[start:i])
                start, redirect = -1, False
            if c in "|&;()\n":
                words, redirect = [], False
            elif c in "<>":
                redirect = True
        elif start < 0:
            start = i
        i += 1
    if start < 0:
        start = len(text)
    return Place(start, text[start:], quote, words, redirect)


class ShellCompleter(Completer):
    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        place = find_place(before)
        for start, text, shown in self.candidates(place):
            yield Completion(text, start_position=start - len(place.word), display=shown)

    def candidates(self, place: Place) -> Iterator[tuple[int, str, str]]:
        """(where in the word to insert, what to insert, what to show)."""
        word = place.word
        variable = _VARIABLE.search(word) if place.quote != "'" else None
        if variable:
            brace, begun = variable.groups()
            for name in sorted(self.terminal.variable_names()):
                if name.startswith(begun):
                    yield variable.start(), f"${brace}{name}{'}' if brace else ''}", name
            return
        if place.is_command and "/" not in word and not place.quote:
            yield from ((0, name + " ", name) for name in self._commands() if name.startswith(word))
            return
        cli = self.terminal.machine.clis.get(place.words[0]) if place.words and not place.redirect else None
        if cli is not None and len(place.words) == 1:
            yield from ((0, name + " ", name) for name in sorted(cli.known_operations()) if name.startswith(word))
            return
        chosen = cli.known_operations().get(place.words[1]) if cli is not None and word.startswith("--") else None
        if chosen is not None:
            keys = chosen.model.model_json_schema().get("properties", {})
            options = sorted("--" + key.replace("_", "-") for key in keys)
            yield from ((0, option + " ", option) for option in options if option.startswith(word))
            return
        yield from self._paths(place)

    def _commands(self) -> list[str]:
        machine, process = self.terminal.machine, self.terminal.session.process
        programs = [name for name in machine.program_names() if machine.find_program(process, f"/usr/bin/{name}")]
        return sorted({*NAMES, *programs, *self.terminal.function_names(), *self.terminal.session.shell.aliases})

    def _paths(self, place: Place) -> Iterator[tuple[int, str, str]]:
        word, at = place.word, 0
        if not place.quote and "=" in word:
            at = word.index("=") + 1                         # --file=PATH, NAME=PATH
        raw = word[at:]
        head, slash, tail = raw.rpartition("/")
        if not slash and raw[:1] in ("'", '"'):
            head, tail = raw[0], raw[1:]
        folder = posixpath.normpath(posixpath.join(self.terminal.cwd, self._value(head + slash)))
        begun = _unquote(tail)
        for name, is_dir in self._names(folder):
            if not name.startswith(begun) or name.startswith(".") and not begun.startswith("."):
                continue
            if place.quote:
                shown, end = _quoted(name, place.quote), place.quote + " "
            else:
                shown, end = _SPECIAL.sub(r"\\\1", name), " "
            yield at, head + slash + shown + ("/" if is_dir else end), name + ("/" if is_dir else "")

    def _value(self, text: str) -> str:
        """What a path's folder, as typed, stands for: quotes, `~` and a variable at its beginning."""
        text = text.lstrip("'\"") if text[:1] in ("'", '"') else text
        home = self.terminal.session.shell.get("HOME") or "/"
        if text == "~" or text.startswith("~/"):
            text = home + text[1:]
        match = _LEADING_VARIABLE.match(text)
        if match:
            text = (self.terminal.session.shell.get(match.group(1) or match.group(2)) or "") + text[match.end():]
        return _unquote(text)

    def _names(self, folder: str) -> list[tuple[str, bool]]:
        """(name, leads to a directory) of what the policy shows in a folder."""
        files, found = self.terminal.fs, []
        try:
            for entry in sorted(files.list(folder), key=lambda e: e.name):
                found.append((entry.name, self._is_dir(posixpath.join(folder, entry.name), entry.stat)))
        except OSError:
            pass
        return found

    def _is_dir(self, path: str, stat: Stat | None) -> bool:
        if stat is None or stat.is_link:
            try:
                stat = self.terminal.fs.stat(path)
            except OSError:                                  # a link to nowhere
                return False
        return stat.is_dir


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text).replace('"', "").replace("'", "")


def _quoted(name: str, quote: str) -> str:
    if quote == "'":
        return name.replace("'", "'\\''")
    return re.sub(r'([$`"\\])', r"\\\1", name)
