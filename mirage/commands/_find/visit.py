"""One file that find looks at, and the walk over everything below a start point."""
from __future__ import annotations

from mirage.commands._text import quote
from mirage.process.process import refusal_note
from mirage.vfs.types import S_IFDIR, S_IFMT, Entry, Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.process.process import Process


PIECE = 1000                                                 # paths that are printed at a time


class Settings:
    """What holds for the whole run; `status` becomes 1 with the first error."""

    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.follow = "P"                                    # P, H or L
        self.maxdepth = 1 << 30
        self.mindepth = 0
        self.depth = False
        self.explicit_depth = False
        self.xdev = False
        self.daystart = False
        self.warn = False
        self.ignore_race = False
        self.status = 0
        self.stop = False                                    # -quit
        self.prunes = False                                  # an expression that may keep the walk out
        self.changes = False                                 # -delete or a command: listings may change meanwhile
        self.within: list[tuple[str, bool]] = []             # (beginning of every path found, letter case ignored)
        self.after_ns: int | None = None                     # all that is found was modified after this
        self.now_ns = int(proc.now() * 1_000_000_000)

    def outside(self, path: str, stat: Stat) -> bool:
        """Is it known that nothing below a directory is found, and would listing it cost something?"""
        if self.after_ns is not None and stat.mtime_ns <= self.after_ns and self.proc.fs.ages_with_content(path):
            return True
        if not self.within:
            return False
        at = path.rstrip("/") + "/"
        for beginning, nocase in self.within:
            low, own = (beginning.lower(), at.lower()) if nocase else (beginning, at)
            if not own.startswith(low) and not low.startswith(own):
                return self.proc.fs.is_remote(path)
        return False

    def find_all(self) -> None:
        """What was known of the paths and times of what is found does not hold."""
        self.within.clear()
        self.after_ns = None

    def modified_after(self, limit: int) -> None:
        """All that is found must be younger."""
        self.after_ns = limit if self.after_ns is None else max(limit, self.after_ns)

    def fail(self, path: str, error: OSError) -> None:
        self.status = 1
        self.proc.stdout.flush()
        self.proc.message(f"{quote(self.proc, path)}: {error.strerror}")
        note = refusal_note(error)
        if note:
            self.proc.write_error(note)

    def message(self, text: str) -> None:
        self.status = 1
        self.proc.stdout.flush()
        self.proc.message(text)


class Visit:
    """A file: `stat` is lstat's or (with -L) stat's answer, `pruned` is set by -prune."""

    __slots__ = ("depth", "name", "path", "pruned", "start", "stat")

    def __init__(self, path: str, name: str, stat: Stat, depth: int, start: str) -> None:
        self.path = path
        self.name = name
        self.stat = stat
        self.depth = depth
        self.start = start
        self.pruned = False


class Frame:
    """A directory that is being walked."""

    __slots__ = ("entries", "identity", "prefix", "visit")

    def __init__(self, visit: Visit, entries: Iterator[Entry]) -> None:
        self.visit = visit
        self.entries = entries
        self.prefix = visit.path if visit.path.endswith("/") else visit.path + "/"
        self.identity = visit.stat.identity


class Walk:
    """Visits in find's order; with `settings.depth` directories come after what they hold."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.proc = settings.proc

    def run(self, start: str) -> Iterator[Visit]:
        settings = self.settings
        top = self._top(start)
        if top is None:
            return
        device = top.stat.dev
        stack: list[Frame] = []
        if not settings.depth and settings.mindepth <= 0:
            yield top
        if not top.pruned and top.stat.mode & S_IFMT == S_IFDIR and settings.maxdepth > 0:
            stack.append(Frame(top, self._list(top.path)))
        elif settings.depth and settings.mindepth <= 0:
            yield top
        follow = settings.follow == "L"
        while stack:
            frame = stack[-1]
            entry = next(frame.entries, None)
            depth = len(stack)
            if entry is None:
                stack.pop()
                if settings.depth and frame.visit.depth >= settings.mindepth:
                    yield frame.visit
                continue
            visit = self._visit(frame, entry, depth, follow)
            if visit is None:
                continue
            enters = visit.stat.mode & S_IFMT == S_IFDIR and depth < settings.maxdepth
            if follow and enters and any(f.identity == visit.stat.identity for f in stack):
                loop = next(f.visit.path for f in stack if f.identity == visit.stat.identity)
                settings.message(f"File system loop detected; {quote(self.proc, visit.path)} is part of the same "
                                 f"file system loop as {quote(self.proc, loop)}.")
                continue
            if enters and (settings.xdev and visit.stat.dev != device or settings.outside(visit.path, visit.stat)):
                enters = False
            if depth >= settings.mindepth and not (settings.depth and enters):
                yield visit
            if enters and not visit.pruned:
                stack.append(Frame(visit, self._list(visit.path)))

    def _top(self, start: str) -> Visit | None:
        settings = self.settings
        try:
            stat = self._stat(start, settings.follow != "P")
        except OSError as e:
            settings.fail(start, e)
            return None
        name = start.rstrip("/").rpartition("/")[2] or start[:1]
        return Visit(start, name, stat, 0, start)

    def _stat(self, path: str, follow: bool) -> Stat:
        if not follow:
            return self.proc.fs.stat(path, False)
        try:
            return self.proc.fs.stat(path)
        except FileNotFoundError:
            return self.proc.fs.stat(path, False)

    def _visit(self, frame: Frame, entry: Entry, depth: int, follow: bool) -> Visit | None:
        path = frame.prefix + entry.name
        stat = entry.stat
        if stat is None or follow and stat.is_link:
            try:
                stat = self._stat(path, follow)
            except OSError as e:
                if not self.settings.ignore_race:
                    self.settings.fail(path, e)
                return None
        return Visit(path, entry.name, stat, depth, frame.visit.start)

    def _list(self, path: str) -> Iterator[Entry]:
        self.proc.check()
        try:
            entries = self.proc.fs.list(path)
        except OSError as e:
            self.settings.fail(path, e)
            return iter(())
        return iter(list(entries))


class PlainWalk(Walk):
    """The same over fs.walk, for expressions that neither prune nor change what is walked."""

    def run(self, start: str) -> Iterator[Visit]:
        settings = self.settings
        top = self._top(start)
        if top is None:
            return
        if settings.mindepth <= 0:
            yield top
        if top.stat.mode & S_IFMT != S_IFDIR or settings.maxdepth <= 0:
            return
        source = self.proc.fs.walk(start, onerror=settings.fail)
        mindepth, maxdepth = settings.mindepth, settings.maxdepth
        stack = [self._frame(source, 1)]
        work = 0
        while stack:
            prefix, entries, left_out = stack[-1]
            entry = next(entries, None)
            depth = len(stack)
            if entry is None:
                stack.pop()
                continue
            stat = entry.stat
            assert stat is not None
            if depth >= mindepth:
                yield Visit(prefix + entry.name, entry.name, stat, depth, start)
            if stat.mode & S_IFMT == S_IFDIR and depth < maxdepth and entry.name not in left_out:
                stack.append(self._frame(source, depth + 1))
                work += 1
                if not work & 63:
                    self.proc.check()

    def paths(self, start: str) -> Iterator[list[str]]:
        """The paths that `run` visits, in its order, in pieces: for an expression that only prints them."""
        settings = self.settings
        top = self._top(start)
        if top is None:
            return
        if settings.mindepth <= 0:
            yield [start]
        if top.stat.mode & S_IFMT != S_IFDIR or settings.maxdepth <= 0:
            return
        source = self.proc.fs.walk(start, onerror=settings.fail)
        mindepth, maxdepth = settings.mindepth, settings.maxdepth
        stack = [self._frame(source, 1)]
        found: list[str] = []
        while stack:
            prefix, entries, _ = stack[-1]
            depth = len(stack)
            printed = depth >= mindepth
            for entry in entries:
                stat = entry.stat
                assert stat is not None
                if printed:
                    found.append(prefix + entry.name)
                if stat.mode & S_IFMT == S_IFDIR and depth < maxdepth:
                    if found:
                        yield found
                        found = []
                    stack.append(self._frame(source, depth + 1))
                    break
                if len(found) >= PIECE:
                    yield found
                    found = []
            else:
                stack.pop()
            self.proc.check()
        if found:
            yield found

    def _frame(self, source: Iterator[tuple[str, list[Entry]]],
               depth: int) -> tuple[str, Iterator[Entry], frozenset[str]]:
        """(beginning of the paths, entries, the names of directories that are not entered)"""
        directory, entries = next(source)
        prefix = directory if directory.endswith("/") else directory + "/"
        kept = list(entries)
        left_out: frozenset[str] = frozenset()
        if depth >= self.settings.maxdepth:
            entries[:] = []
        elif self.settings.within or self.settings.after_ns is not None:
            left_out = frozenset(e.name for e in kept if e.stat is not None and e.stat.mode & S_IFMT == S_IFDIR
                                 and self.settings.outside(prefix + e.name, e.stat))
            entries[:] = [e for e in kept if e.name not in left_out]
        return prefix, iter(kept), left_out
