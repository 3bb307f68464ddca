"""Which files rg searches: hidden ones, ignore files, globs, types."""
from __future__ import annotations

from mirage.commands.rg.ignore import IgnoreFile, Overrides
from mirage.commands.rg.types import TYPES
from mirage.process.process import refusal_note
from mirage.process.signals import Exit
from mirage.text import pattern as glob
from mirage.vfs.types import S_IFDIR, S_IFMT, S_IFREG, Entry, Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.commands.rg import Settings
    from mirage.process.process import Process
    from mirage.vfs.search import Candidates, Query


class Walker:
    """Yields (path to open, path to show) of the files below one operand."""

    def __init__(self, proc: Process, settings: Settings) -> None:
        self.proc = proc
        self.s = settings
        self.overrides = Overrides(settings.globs) if settings.globs else None
        self.types = self._types()
        self.failed = False
        self.queries: list[Query] | None = None              # what the files with a match contain
        self.found: dict[str, Candidates | OSError] = {}
        self.asked = False                                   # did a service search for something?
        self.notes: list[str] = []

    def _types(self) -> tuple[list[glob.Pattern], list[glob.Pattern]]:
        table = {name: list(globs) for name, globs in TYPES.items()}
        for spec in self.s.type_add:
            name, _, text = spec.partition(":")
            if text.startswith("include:"):
                for other in text[8:].split(","):
                    table.setdefault(name, []).extend(table.get(other, []))
            else:
                table.setdefault(name, []).append(text)
        found: tuple[list[glob.Pattern], list[glob.Pattern]] = ([], [])
        for name, negated in self.s.types:
            if name == "all":
                texts = [text for globs in table.values() for text in globs]
            elif name in table:
                texts = table[name]
            else:
                self.proc.write_error(f"rg: unrecognized file type: {name}\n")
                raise Exit(2)
            found[negated].extend(glob.compile(text, extglob=False) for text in texts)
        return found

    def run(self, operand: str, shown: str) -> Iterator[tuple[str, str]]:
        prefix = shown if not shown or shown.endswith("/") else shown + "/"
        if self.queries is not None:
            self.found = self.proc.fs.searches(operand, self.queries, lambda names: len(names) < self.s.max_depth)
            self.asked = self.asked or bool(self.found)
        ignores = self._parents(operand)
        yield from self._directory(operand, prefix, ignores, 1, self._in_git(operand))

    # ---- directories

    def _in_git(self, operand: str) -> bool:
        path = self.proc.fs.abspath(operand)
        while True:
            if self.proc.fs.exists(f"{path.rstrip('/')}/.git"):
                return True
            if path == "/":
                return False
            path = path.rpartition("/")[0] or "/"

    def _parents(self, operand: str) -> list[IgnoreFile]:
        """Ignore files of the directories above the operand (paths there are absolute)."""
        if self.s.no_ignore or self.s.no_ignore_parent:
            return []
        path = self.proc.fs.abspath(operand)
        found: list[IgnoreFile] = []
        git = self._in_git(operand)
        while path != "/":
            path = path.rpartition("/")[0] or "/"
            found = self._ignore_files(path, path.rstrip("/") + "/", git) + found
        return found

    def _ignore_files(self, directory: str, base: str, git: bool) -> list[IgnoreFile]:
        names = []
        if not self.s.no_ignore_vcs and (git or self.s.no_require_git):
            names.append(".gitignore")
        if not self.s.no_ignore_dot:
            names += [".ignore", ".rgignore"]
        found = []
        for name in names:
            path = f"{directory.rstrip('/')}/{name}" if directory else name
            if self.proc.fs.is_file(path):
                try:
                    found.append(IgnoreFile(base, self.proc.fs.read(path).decode("utf-8", "surrogateescape")))
                except OSError:
                    continue
        return found

    def _directory(self, directory: str, prefix: str, ignores: list[IgnoreFile], depth: int,
                   git: bool) -> Iterator[tuple[str, str]]:
        s, fs = self.s, self.proc.fs
        if depth > s.max_depth:
            return
        self.proc.check()
        answer = self.found.get(directory)
        if answer is not None:
            yield from self._candidates(answer, directory, prefix, ignores, depth, git)
            return
        try:
            entries = list(fs.list(directory))
        except OSError as e:
            self.error(directory, e)
            return
        absolute = fs.abspath(directory).rstrip("/") + "/"
        if not s.no_ignore:
            ignores = ignores + self._ignore_files(directory, absolute, git)
        entries.sort(key=lambda entry: entry.name.encode("utf-8", "surrogateescape"))
        base = directory if directory.endswith("/") else directory + "/"
        for entry in entries:
            path = base + entry.name
            stat = self._stat(entry, path)
            if stat is None:
                continue
            kind = stat.mode & S_IFMT
            is_dir = kind == S_IFDIR
            if not is_dir and kind != S_IFREG:
                continue
            if self._skipped(entry.name, prefix + entry.name, absolute + entry.name, is_dir, ignores):
                continue
            if is_dir:
                yield from self._directory(path, prefix + entry.name + "/", ignores, depth + 1, git)
            elif s.max_filesize is None or (stat.size or 0) <= s.max_filesize:
                yield path, prefix + entry.name

    def _candidates(self, answer: Candidates | OSError, directory: str, prefix: str, ignores: list[IgnoreFile],
                    depth: int, git: bool) -> Iterator[tuple[str, str]]:
        """Of the files that a service found, those that the walk would reach, in its order."""
        if isinstance(answer, OSError):
            self.error(directory, answer)
            return
        for place, error in answer.refused:
            self.error(place, error)
        if answer.withheld:
            from mirage.vfs.pushdown import withheld
            self.error(directory, withheld(directory))
        base = directory if directory.endswith("/") else directory + "/"
        rest = sorted((path[len(base):].split("/") for path in answer.paths), key=_byte_order)
        yield from self._found_in(directory, prefix, rest, ignores, depth, git)
        if answer.note:
            self.notes.append(f"{directory}: {answer.note}")

    def _found_in(self, directory: str, prefix: str, paths: list[list[str]], ignores: list[IgnoreFile], depth: int,
                  git: bool) -> Iterator[tuple[str, str]]:
        """`paths`, names below the directory, sorted."""
        s, fs = self.s, self.proc.fs
        if depth > s.max_depth:
            return
        absolute = fs.abspath(directory).rstrip("/") + "/"
        if not s.no_ignore:
            ignores = ignores + self._ignore_files(directory, absolute, git)
        base = directory if directory.endswith("/") else directory + "/"
        at = 0
        while at < len(paths):
            name, is_dir, end = paths[at][0], len(paths[at]) > 1, at + 1
            while end < len(paths) and paths[end][0] == name:
                end += 1
            if not self._skipped(name, prefix + name, absolute + name, is_dir, ignores):
                if is_dir:
                    yield from self._found_in(base + name, f"{prefix}{name}/", [p[1:] for p in paths[at:end]], ignores,
                                              depth + 1, git)
                else:
                    yield base + name, prefix + name
            at = end

    def wanted_name(self, name: str) -> bool:
        """May a file of this name be searched, as far as types tell?"""
        return not any(p.matches(name) for p in self.types[1]) \
            and (not self.types[0] or any(p.matches(name) for p in self.types[0]))

    def _stat(self, entry: Entry, path: str) -> Stat | None:
        stat = entry.stat
        try:
            if stat is None:
                stat = self.proc.fs.stat(path, False)
            if stat.is_link and self.s.follow:
                stat = self.proc.fs.stat(path)
        except OSError as e:
            self.error(path, e)
            return None
        return stat

    def _skipped(self, name: str, shown: str, absolute: str, is_dir: bool, ignores: list[IgnoreFile]) -> bool:
        if self.overrides is not None:
            cwd = self.proc.cwd.rstrip("/") + "/"
            relative = absolute[len(cwd):] if absolute.startswith(cwd) else absolute.lstrip("/")
            verdict = self.overrides.verdict(relative, is_dir)
            if verdict is not None:
                return verdict
        for file in reversed(ignores):
            verdict = file.verdict(absolute, is_dir)
            if verdict is not None:
                if verdict:
                    return True
                break
        else:
            verdict = None
        if not is_dir and not self.wanted_name(name):
            return True
        return verdict is None and not self.s.hidden and name.startswith(".")

    def error(self, path: str, error: OSError) -> None:
        self.failed = True
        if not self.s.no_messages:
            self.proc.stdout.flush()
            self.proc.write_error(f"rg: {path}: {error.strerror} (os error {error.errno})\n{refusal_note(error)}")


def _byte_order(names: list[str]) -> list[bytes]:
    return [name.encode("utf-8", "surrogateescape") for name in names]
