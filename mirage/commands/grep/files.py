"""Which files grep reads: operands, directories, --include and --exclude."""
from __future__ import annotations

from mirage.commands._io import BLOCK
from mirage.commands.grep.matcher import LiteralMatcher, RegexMatcher
from mirage.process.files import Source
from mirage.text import pattern as glob
from mirage.vfs.types import S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFMT, S_IFREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.commands.grep.options import Options
    from mirage.commands.grep.scan import Scanner
    from mirage.process.files import OpenFile
    from mirage.process.process import Process
    from mirage.vfs.search import Candidates, Query
    from mirage.vfs.types import Stat

R_OK = 4
S_IFBLK = 0o060000
FIRST_WINDOW, LAST_WINDOW = 16, 256                          # files that are fetched at a time where the mount can
DEVICES = (S_IFCHR, S_IFIFO, S_IFBLK)


class Walker:
    """Gives the scanner one open file after the other."""

    def __init__(self, proc: Process, options: Options, scanner: Scanner) -> None:
        self.proc = proc
        self.options = options
        self.scanner = scanner
        self.globs = [(glob.compile(text, extglob=False), include) for text, include in options.globs]
        self.dir_globs = [glob.compile(text, extglob=False) for text in options.dir_globs]
        self.needed = self._needed()
        self.lines: tuple[list[Query] | None] | None = None  # once it was asked for

    def run(self, files: list[str]) -> None:
        recurse = self.options.directories == "recurse"
        if not files and recurse:
            self._tree(".", "")
            return
        for name in files or ["-"]:
            self._operand(name, recurse)
            if self.scanner.done:
                return

    # ---- operands

    def _operand(self, name: str, recurse: bool) -> None:
        proc, options = self.proc, self.options
        if name == "-":
            try:
                file = proc.file(0)
            except OSError as e:
                self.scanner.fail(options.label, e)
                return
            self.scanner.scan(options.label, file, standard_input=True)
            return
        try:
            stat = proc.fs.stat(name)
        except OSError as e:
            self.scanner.fail(name, e)
            return
        if stat.is_dir:
            if options.directories == "skip" or self._directory_excluded(name, True):
                return
            if recurse:
                self._tree(name, name)
            else:
                self.scanner.directory(name)
            return
        if options.devices == "skip" and stat.mode & S_IFMT in DEVICES:
            return
        if not self._excluded(name, True):
            self._read(name, name)

    def _read(self, path: str, shown: str) -> None:
        try:
            file = self.proc.open(path)
        except OSError as e:
            self.scanner.fail(shown, e)
            return
        file.incref()
        try:
            self._scan(file, shown)
        finally:
            file.decref()

    def _scan(self, file: OpenFile, shown: str) -> None:
        """The whole file; of a mount that can choose, only the lines that may match, where the others do not count."""
        queries = self._by_line()
        try:
            chosen = file.lines_with(queries) if queries is not None else None
        except OSError as e:
            self.scanner.fail(shown, e)
            return
        if chosen is None:
            self.scanner.scan(shown, file)
            return
        chosen.incref()
        try:
            self.scanner.scan(shown, chosen)
        finally:
            chosen.decref()

    def _by_line(self) -> list[Query] | None:
        """What a line with a match contains; None where other lines are needed as well."""
        if self.lines is None:
            o = self.options
            whole = o.number or o.byte_offset or o.before > 0 or o.after > 0
            self.lines = (None if whole else asked(o),)
        return self.lines[0]

    def _read_whole(self, read: Callable[[str, Stat], bytes], name: str, stat: Stat, path: str, shown: str) -> None:
        """A small file: in one piece, and left at once where it lacks what every match contains."""
        try:
            data = read(name, stat)
        except OSError as e:
            self.scanner.fail(shown, e)
            return
        if self.needed is None or self.needed in data:
            self.scanner.scan(shown, Source(data, path).incref())

    def _needed(self) -> bytes | None:
        """A string without which a file prints nothing."""
        o, matcher = self.options, self.scanner.matcher
        if o.invert or o.count or o.list_files == "L" or o.null_data:
            return None
        if type(matcher) is LiteralMatcher:
            return matcher.literal
        return matcher.regex.literal if isinstance(matcher, RegexMatcher) else None

    # ---- directories

    def _tree(self, top: str, shown: str) -> None:
        """Everything below `top`; names begin with `shown` ("": without `./`)."""
        fs, follow = self.proc.fs, self.options.follow
        prefix = len(top.rstrip("/")) + 1 if top != "/" else 1
        cut = 0 if shown else prefix
        small = self.scanner.output is None and not self.options.initial_tab
        found = self._searched(top)
        answer = found.get(top)
        if answer is not None and not self.every:
            self._read_candidates(top, answer, cut)
            return
        known = () if self.every else found
        sifted = self._candidates_of(found) if self.every else None
        pending: list[tuple[str, str]] = []
        window = FIRST_WINDOW
        for directory, entries in fs.walk(top, follow=follow, onerror=self._unreadable, known=known):
            at = directory if directory.endswith("/") else directory + "/"
            below = at[prefix:] if not shown else at
            many = fs.reads_many(directory)
            answer = found.get(directory) if known else None
            if pending and (answer is not None or not many):
                self._read_many(pending)
                pending = []
            if self.scanner.done:
                return
            if answer is not None:
                self._read_candidates(directory, answer, cut)
            kept = []
            read = None
            for entry in entries:
                stat = entry.stat
                if stat is None:
                    continue
                path = at + entry.name
                kind = stat.mode & S_IFMT
                if kind == S_IFLNK and follow:
                    try:
                        stat = fs.stat(path)
                    except OSError as e:
                        self.scanner.fail(below + entry.name, e)
                        continue
                    kind = stat.mode & S_IFMT
                if kind == S_IFDIR:
                    if not self._directory_excluded(entry.name, False):
                        kept.append(entry)
                elif self._readable(kind, stat) and not self._excluded(entry.name, False):
                    if many and kind == S_IFREG:
                        pending.append((path, below + entry.name))
                        continue
                    if small and kind == S_IFREG and stat.size is not None and stat.size <= BLOCK:
                        if read is None:
                            read = fs.reader(directory)
                        self._read_whole(read, entry.name, stat, path, below + entry.name)
                    else:
                        self._read(path, below + entry.name)
                    if self.scanner.done:
                        return
            entries[:] = kept
            if sifted is not None:
                pending = self._sifted(pending, sifted)
            if len(pending) >= window:
                self._read_many(pending)
                pending, window = [], min(window * 4, LAST_WINDOW)
                if self.scanner.done:
                    return
            self.proc.check()
        self._read_many(pending)

    # ---- search by the service

    def _searched(self, top: str) -> dict[str, Candidates | OSError]:
        """directory -> what its service says: which files may match."""
        queries = asked(self.options, lambda name: not self._excluded(name, False))
        if queries is None:
            return {}
        found: dict[str, Candidates | OSError] = self.proc.fs.searches(
            top, queries, lambda names: not any(self._directory_excluded(name, False) for name in names))
        if not self.every:
            return found
        return {at: answer for at, answer in found.items() if not isinstance(answer, OSError) and answer.complete}

    def _read_candidates(self, top: str, answer: Candidates | OSError, cut: int) -> None:
        if isinstance(answer, OSError):
            self._unreadable(top, answer)
            return
        for directory, error in answer.refused:
            self._unreadable(directory, error)
        if answer.withheld:
            from mirage.vfs.pushdown import withheld
            self._unreadable(top, withheld(top))
        base = len(top.rstrip("/")) + 1
        paths = [(path, path[cut:]) for path in answer.paths if self._wanted(path[base:].split("/"))]
        self.proc.fs.expect(top, len(paths))
        at, window = 0, FIRST_WINDOW
        while at < len(paths) and not self.scanner.done:
            self._read_many(paths[at:at + window], True)
            at, window = at + window, min(window * 4, LAST_WINDOW)
        if answer.note and not self.options.no_messages:
            self.proc.stdout.flush()
            self.proc.message(f"{top}: {answer.note}")

    @staticmethod
    def _candidates_of(found: dict[str, Candidates | OSError]) -> list[tuple[str, set[str]]]:
        """(beginning of the paths below a searched directory, its candidates)."""
        return [(at.rstrip("/") + "/", set(answer.paths)) for at, answer in found.items()
                if not isinstance(answer, OSError)]

    def _sifted(self, files: list[tuple[str, str]], sifted: list[tuple[str, set[str]]]) -> list[tuple[str, str]]:
        """The files that may match, or may not be read; of the others it is known that no line does."""
        kept: list[tuple[str, str]] = []
        for path, shown in files:
            inside = next((paths for prefix, paths in sifted if path.startswith(prefix)), None)
            if inside is None or path in inside or not self.proc.fs.access(path, R_OK):
                kept.append((path, shown))
                continue
            self._read_many(kept)
            kept = []
            if self.scanner.done:
                break
            self.scanner.scan(shown, Source(b"", path).incref())
        return kept

    @property
    def every(self) -> bool:
        """Is something printed for files without a match too?"""
        o = self.options
        return o.list_files == "L" or o.count and not o.list_files and not o.quiet

    def _wanted(self, names: list[str]) -> bool:
        """Do the patterns on names let the walk reach this file?"""
        return not self._excluded(names[-1], False) \
            and not any(self._directory_excluded(name, False) for name in names[:-1])

    def _read_many(self, files: list[tuple[str, str]], unseen: bool = False) -> None:
        """Files of a service, (path, shown name): fetched several at a time. `unseen`: not from a listing."""
        contents = self.proc.fs.read_many([path for path, _ in files], unseen) if files else ()
        for (_, shown), (path, data) in zip(files, contents, strict=False):
            if isinstance(data, OSError):
                self.scanner.fail(shown, data)
                continue
            self.scanner.scan(shown, Source(data, path).incref())
            if self.scanner.done:
                return

    def _readable(self, kind: int, stat: Stat) -> bool:
        if kind == S_IFLNK:
            return False
        return kind not in DEVICES or self.options.devices == "read"

    def _unreadable(self, path: str, error: OSError) -> None:
        self.scanner.fail(path, error)

    # ---- patterns on names

    def _excluded(self, name: str, operand: bool) -> bool:
        """GNU's rule: the last pattern that matches decides; none matches: the opposite of the first one."""
        if not self.globs:
            return False
        parts = _suffixes(name) if operand else (name,)
        for pattern, include in reversed(self.globs):
            for part in parts:
                if pattern.matches(part):
                    return not include
        return self.globs[0][1]

    def _directory_excluded(self, name: str, operand: bool) -> bool:
        if not self.dir_globs:
            return False
        parts = _suffixes(name.rstrip("/") or name) if operand else [name]
        return any(pattern.matches(part) for pattern in self.dir_globs for part in parts)


def _suffixes(name: str) -> list[str]:
    """The name, and what follows each of its slashes."""
    found = [name]
    at = name.find("/")
    while at >= 0:
        rest = name[at + 1:]
        if rest and not rest.startswith("/"):
            found.append(rest)
        at = name.find("/", at + 1)
    return found


def asked(o: Options, names: Callable[[str], bool] | None = None) -> list[Query] | None:
    """What the files with a match contain; None where they may contain anything."""
    if o.exact or o.invert or o.null_data:
        return None
    from mirage.commands._search import queries_for
    syntax = {"F": "fixed", "E": "egrep", "P": "perl"}.get(o.matcher, "grep")
    return queries_for(o.patterns, syntax, word=o.word, line=o.line, icase=o.icase, names=names)
