"""find's actions: -print and its kin, -exec, -ok, -delete, -prune, -quit."""
from __future__ import annotations

import os

from mirage.commands._find.tests import UsageError
from mirage.commands._find.visit import Visit
from mirage.commands._io import encode
from mirage.commands._text import quote
from mirage.process.process import refusal_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.commands._find.expression import CommandLine, Predicate

ARG_MAX = 131_072                                            # bytes of one command line built by -exec ... +
ACTIONS = {                                                  # name -> (method, does it replace -print)
    "-print": ("print", True), "-print0": ("print", True), "-printf": ("printf", True), "-fprint": ("fprint", True),
    "-fprint0": ("fprint", True), "-fprintf": ("fprintf", True), "-ls": ("ls", True), "-fls": ("ls", True),
    "-exec": ("execute", True), "-execdir": ("execute", True), "-ok": ("execute", True),
    "-okdir": ("execute", True), "-delete": ("delete", True), "-prune": ("prune", False), "-quit": ("quit", True),
}


class Actions:
    """Makes the function of an action."""

    def __init__(self, line: CommandLine) -> None:
        self.line = line
        self.proc = line.proc
        self.settings = line.settings
        self.deletes = False
        self.batches: list[Batch] = []
        self.files: dict[str, Callable[[bytes], object]] = {}
        self.closers: list[Callable[[], None]] = []

    def finish(self) -> None:
        """Run what is still waiting for -exec ... +, and close the files of -fprint."""
        for batch in self.batches:
            batch.flush()
        for close in self.closers:
            close()

    # ---- printing

    def printer(self) -> Predicate:
        write = self.proc.stdout.write

        def show(visit: Visit) -> bool:
            write(visit.path.encode("utf-8", "surrogateescape") + b"\n")
            return True

        return show

    def print(self, word: str) -> Predicate:
        if word == "-print":
            return self.printer()
        return self._paths(self.proc.stdout.write, b"\0")

    def _paths(self, write: Callable[[bytes], object], end: bytes) -> Predicate:
        def show(visit: Visit) -> bool:
            write(encode(visit.path) + end)
            return True

        return show

    def fprint(self, word: str) -> Predicate:
        return self._paths(self._file(self.line.argument(word)), b"\0" if word == "-fprint0" else b"\n")

    def printf(self, word: str) -> Predicate:
        return self._formatted(self.proc.stdout.write, self.line.argument(word))

    def fprintf(self, word: str) -> Predicate:
        write = self._file(self.line.argument(word))
        return self._formatted(write, self.line.argument(word))

    def _formatted(self, write: Callable[[bytes], object], text: str) -> Predicate:
        from mirage.commands._find.printf import compile_format
        render = compile_format(self.line, text)

        def show(visit: Visit) -> bool:
            write(render(visit))
            return True

        return show

    def ls(self, word: str) -> Predicate:
        from mirage.commands._find.printf import list_line
        write = self.proc.stdout.write if word == "-ls" else self._file(self.line.argument(word))

        def show(visit: Visit) -> bool:
            write(list_line(self.line, visit))
            return True

        return show

    def _file(self, name: str) -> Callable[[bytes], object]:
        """The write function of an output file, which is emptied now."""
        found = self.files.get(name)
        if found is not None:
            return found
        proc = self.proc
        if name == "/dev/stdout":
            found = proc.stdout.write
        elif name == "/dev/stderr":
            found = proc.stderr.write
        else:
            try:
                file = proc.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC).incref()
            except OSError as e:
                raise UsageError(f"{quote(proc, name)}: {e.strerror}") from None
            parts: list[bytes] = []

            def close() -> None:
                if parts:
                    file.write(b"".join(parts))
                file.decref()

            self.closers.append(close)
            found = parts.append
        self.files[name] = found
        return found

    # ---- commands

    def execute(self, word: str) -> Predicate:
        line = self.line
        argv: list[str] = []
        while True:
            if line.at >= len(line.words):
                raise UsageError(f"missing argument to `{word}'")
            text = line.words[line.at]
            line.at += 1
            if text == ";":
                break
            if text == "+" and argv and argv[-1] == "{}" and word in ("-exec", "-execdir"):
                if sum("{}" in a for a in argv) > 1:
                    raise UsageError(f"Only one instance of {{}} is supported with {word} ... +")
                return self._batched(word, argv)
            argv.append(text)
        if not argv:
            raise UsageError(f"invalid argument `;' to `{word}'")
        self.settings.changes = True
        in_place, asks = word.endswith("dir"), word.startswith("-ok")

        def run(visit: Visit) -> bool:
            shown, cwd = visit.path, None
            if in_place:
                folder = visit.path.rstrip("/").rpartition("/")
                shown = _in_place(visit.path)
                cwd = self.proc.fs.abspath(folder[0] or ("/" if folder[1] else "."))
            words = [a.replace("{}", shown) for a in argv]
            if asks and not self._agreed(words, visit.path):
                return False
            return self._run(words, cwd) == 0

        return run

    def _agreed(self, words: list[str], path: str) -> bool:
        proc = self.proc
        proc.stdout.flush()
        proc.write_error(f"< {words[0]} ... {path} > ? ")
        try:
            answer = proc.stdin.readline()
        except OSError:
            answer = b""
        return answer[:1] in (b"y", b"Y")

    def _run(self, words: list[str], cwd: str | None) -> int:
        proc = self.proc
        proc.flush()
        try:
            child = proc.spawn(words, cwd=cwd)
        except OSError as e:
            proc.message(f"{quote(proc, words[0])}: {e.strerror}")
            note = refusal_note(e)
            if note:
                proc.write_error(note)
            return 127
        return proc.wait(child)

    def _batched(self, word: str, argv: list[str]) -> Predicate:
        batch = Batch(self, argv[:-1], word == "-execdir")
        self.batches.append(batch)
        self.settings.changes = True
        return batch.add

    # ---- the rest

    def delete(self, word: str) -> Predicate:
        self.deletes = True
        self.settings.depth = self.settings.changes = True
        fs = self.proc.fs

        def remove(visit: Visit) -> bool:
            if visit.path in (".", "/"):
                return True
            try:
                if visit.stat.is_dir:
                    fs.rmdir(visit.path)
                else:
                    fs.unlink(visit.path)
            except OSError as e:
                self.settings.message(f"cannot delete {quote(self.proc, visit.path)}: {e.strerror}")
                note = refusal_note(e)
                if note:
                    self.proc.write_error(note)
                return False
            return True

        return remove

    def prune(self, word: str) -> Predicate:
        self.settings.prunes = True

        def keep_out(visit: Visit) -> bool:
            visit.pruned = True
            return True

        return keep_out

    def quit(self, word: str) -> Predicate:
        def stop(visit: Visit) -> bool:
            self.settings.stop = True
            raise Quit

        return stop


def _in_place(path: str) -> str:
    """What -execdir puts for `{}`: the last part of the path, seen from its directory."""
    bare = path.rstrip("/")
    return "./" + path[bare.rfind("/") + 1:] if bare else path


class Quit(Exception):
    """-quit: the walk is over."""


class Batch:
    """The command line that -exec ... {} + collects."""

    def __init__(self, actions: Actions, argv: list[str], in_place: bool) -> None:
        self.actions = actions
        self.argv = argv
        self.in_place = in_place
        self.folder: str | None = None
        self.names: list[str] = []
        self.fixed = sum(len(a) + 9 for a in argv)
        self.size = self.fixed

    def add(self, visit: Visit) -> bool:
        name = visit.path
        if self.in_place:
            folder, slash, _ = visit.path.rstrip("/").rpartition("/")
            where = folder or ("/" if slash else ".")
            if self.names and where != self.folder:
                self.flush()
            self.folder = where
            name = _in_place(visit.path)
        size = len(name) + 9
        if self.names and self.size + size > ARG_MAX:
            self.flush()
        self.names.append(name)
        self.size += size
        return True

    def flush(self) -> None:
        if not self.names:
            return
        names, self.names, self.size = self.names, [], self.fixed
        cwd = self.actions.proc.fs.abspath(self.folder or ".") if self.in_place else None
        if self.actions._run([*self.argv, *names], cwd):
            self.actions.settings.status = 1
