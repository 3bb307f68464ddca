"""fd: find entries by name, respecting ignore files (fd 10.2, as Debian's fdfind)."""
from __future__ import annotations

import re

from mirage.commands._fd_options import Options, parse
from mirage.commands._io import decode, encode
from mirage.commands.rg.engine import perl_classes, quote
from mirage.commands.rg.ignore import IgnoreFile, Rule
from mirage.process.process import refusal_note
from mirage.process.signals import Exit
from mirage.vfs.types import Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mirage.process.process import Process


def main(proc: Process) -> int:
    o = parse(proc)
    if o.base_directory is not None:
        if not proc.fs.is_dir(o.base_directory):
            raise failure(proc, f"The '--base-directory' path '{o.base_directory}' is not a directory.")
        proc.cwd = proc.fs.abspath(o.base_directory)
    if o.pattern and "/" in o.pattern and not o.full_path and not o.glob and proc.fs.is_dir(o.pattern):
        raise failure(proc, f"The search pattern '{o.pattern}' contains a path-separation character ('/') and will not "
                            "lead to any search results.\n\nIf you want to search for all files inside the "
                            f"'{o.pattern}' directory, use a match-all pattern:\n\n  fd . '{o.pattern}'\n\nInstead, if "
                            "you want your pattern to match the full file path, use:\n\n  fd --full-path "
                            f"'{o.pattern}'")
    roots = []
    for path in o.paths:
        if proc.fs.is_dir(path):
            roots.append(path)
        else:
            proc.write_error(f"[fd error]: Search path '{path}' is not a directory.\n")
    if o.paths and not roots:
        raise failure(proc, "No valid search paths given.")
    return Search(proc, o).run(roots)


def failure(proc: Process, text: str, status: int = 1) -> Exit:
    proc.stdout.flush()
    proc.write_error(f"[fd error]: {text}\n")
    return Exit(status)


def _matcher(proc: Process, o: Options, text: str) -> Callable[[bytes], bool]:
    """Does a name (or the whole path) match? Smart case: ignored where the pattern has no upper-case letter."""
    from re2 import Options as Re2Options
    from re2 import _re2
    if o.glob:
        source = _glob(proc, text, o.full_path)
    else:
        source = quote(text) if o.fixed else perl_classes(text)
    sensitive = o.case == "sensitive" or o.case == "smart" and bool(re.search("[A-Z]", re.sub(r"\\.", "", text)))
    settings = Re2Options()
    settings.log_errors = False
    settings.case_sensitive = sensitive
    engine = _re2.RE2(encode("(?s)" + source if o.glob else source), settings)
    if not engine.ok():
        error = decode(engine.error())
        detail = "unclosed character class" if "missing ]" in error else \
            "unclosed group" if "missing )" in error else error
        raise failure(proc, f"regex parse error:\n    {text}\n    ^\nerror: {detail}\n\nNote: You can use the "
                            "'--fixed-strings' option to search for a literal string instead of a regular expression. "
                            "Alternatively, you can also use the '--glob' option to match on a glob pattern.")
    anchor, match = _re2.RE2.Anchor.UNANCHORED, engine.Match
    return lambda data: bool(match(anchor, data, 0, len(data))[0][0] >= 0)


def _glob(proc: Process, text: str, full: bool) -> str:
    """globset's syntax: `*` crosses no slash, `**` does, {a,b}, [a-z], [!a]."""
    out, at, depth = [], 0, 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "*":
            if text.startswith("*/", at) and at == 1:
                out.append("(?:.*/)?")
                at += 2
            elif text.startswith("*", at):
                out.append(".*")
                at += 1
            else:
                out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[":
            end = text.find("]", at + 2 if text[at:at + 1] in ("!", "^") else at + 1)
            if end < 0:
                raise failure(proc, f"error parsing glob '{text}': unclosed character class; missing ']'")
            body = text[at:end].replace("\\", "\\\\")
            out.append(f"[^{body[1:]}]" if body[:1] == "!" else f"[{body}]")
            at = end + 1
        elif char == "{":
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "\\" and at < len(text):
            out.append(re.escape(text[at]))
            at += 1
        else:
            out.append(re.escape(char))
    return "^" + "".join(out) + "$"


class Search:
    """One walk; `found` are the paths as they are shown (a directory without its slash)."""

    def __init__(self, proc: Process, o: Options) -> None:
        self.proc = proc
        self.o = o
        self.tests = [_matcher(proc, o, text) for text in (o.pattern, *o.more_patterns)
                      if text and (text != "." or o.fixed or o.glob)]
        self.excluded = [Rule(text) for text in o.exclude]
        self.count = 0
        self.status = 0
        self.batch: list[str] = []
        self.now = proc.now()

    def run(self, roots: list[str]) -> int:
        for root in roots or ["."]:
            if self._root(root, not roots):
                break
        if self.o.quiet:
            return 0 if self.count else 1
        if self.o.batch and self.batch:
            self._execute(self.o.batch, self.batch)
        return self.status

    def _root(self, root: str, implied: bool) -> bool:
        o, fs = self.o, self.proc.fs
        prefix = "" if implied else root if root.endswith("/") else root + "/"
        if o.absolute:
            prefix = fs.realpath(root).rstrip("/") + "/"
        elif implied and (o.execute or o.batch or o.null or o.details) and not o.strip_prefix:
            prefix = "./"
        ignores = self._above(root)
        for path, stat in self._walk(root, prefix, ignores, 1, self._in_git(root)):
            self.count += 1
            if o.quiet:
                return True
            self._report(path, stat)
            if o.max_results and self.count >= o.max_results:
                return True
        return False

    # ---- walking

    def _in_git(self, root: str) -> bool:
        path = self.proc.fs.abspath(root)
        while not self.proc.fs.exists(f"{path.rstrip('/')}/.git"):
            if path == "/":
                return self.o.no_require_git
            path = path.rpartition("/")[0] or "/"
        return True

    def _above(self, root: str) -> list[IgnoreFile]:
        if self.o.no_ignore or self.o.no_ignore_parent:
            return []
        path, git = self.proc.fs.abspath(root), self._in_git(root)
        found: list[IgnoreFile] = []
        while path != "/":
            path = path.rpartition("/")[0] or "/"
            found[:0] = self._ignore_files(path, git)
        return found

    def _ignore_files(self, directory: str, git: bool) -> list[IgnoreFile]:
        names = [".gitignore"] if git and not self.o.no_ignore_vcs else []
        base = self.proc.fs.abspath(directory).rstrip("/") + "/"
        found = []
        for name in (*names, ".ignore", ".fdignore"):
            try:
                if self.proc.fs.is_file(base + name):
                    found.append(IgnoreFile(base, decode(self.proc.fs.read(base + name))))
            except OSError:
                continue
        return found

    def _walk(self, directory: str, prefix: str, ignores: list[IgnoreFile], depth: int,
              git: bool) -> Iterator[tuple[str, Stat]]:
        o, fs, proc = self.o, self.proc.fs, self.proc
        if o.max_depth is not None and depth > o.max_depth:
            return
        proc.check()
        try:
            entries = sorted(fs.list(directory), key=lambda entry: encode(entry.name))
        except OSError as e:
            if o.show_errors:
                proc.stdout.flush()
                proc.write_error(f"[fd error]: {directory}: {e.strerror} (os error {e.errno})\n{refusal_note(e)}")
            self.status = 1
            return
        if not o.no_ignore:
            ignores = ignores + self._ignore_files(directory, git)
        absolute = fs.abspath(directory).rstrip("/") + "/"
        base = directory if directory.endswith("/") else directory + "/"
        for entry in entries:
            name = entry.name
            try:
                stat = entry.stat or fs.stat(base + name, False)
                target = fs.stat(base + name) if o.follow and stat.is_link and fs.exists(base + name) else stat
            except OSError:
                continue
            is_dir = target.is_dir
            if not o.hidden and name.startswith(".") and not self._expressly(absolute + name, is_dir, ignores):
                continue
            if self._ignored(absolute + name, is_dir,
                             ignores) or any(r.matches(prefix.removeprefix("./") + name, is_dir)
                                                                      for r in self.excluded):
                continue
            accepted = (o.min_depth is None or depth >= o.min_depth) and self._matches(base + name, name, target)
            if accepted:
                yield prefix + name + ("/" if is_dir else ""), target
            if is_dir and not (accepted and o.prune) and (o.follow or not stat.is_link):
                yield from self._walk(base + name, f"{prefix}{name}/", ignores, depth + 1, git)

    @staticmethod
    def _ignored(path: str, is_dir: bool, ignores: list[IgnoreFile]) -> bool:
        for file in reversed(ignores):
            verdict = file.verdict(path, is_dir)
            if verdict is not None:
                return verdict
        return False

    @staticmethod
    def _expressly(path: str, is_dir: bool, ignores: list[IgnoreFile]) -> bool:
        return any(file.verdict(path, is_dir) is False for file in ignores)

    # ---- filters

    def _matches(self, path: str, name: str, stat: Stat) -> bool:
        o = self.o
        subject = encode(self.proc.fs.abspath(path) if o.full_path else name)
        if not all(test(subject) for test in self.tests):
            return False
        if o.extensions and not any(name.lower().endswith("." + e) for e in o.extensions):
            return False
        if o.types and not self._type(path, stat):
            return False
        if o.sizes and not (stat.is_file and all(self._size(stat.size or 0, *size) for size in o.sizes)):
            return False
        if o.owner and not all((want == stat_id) != negated for want, negated, stat_id in (
                (o.owner[0], o.owner[1], stat.uid), (o.owner[2], o.owner[3], stat.gid)) if want is not None):
            return False
        seconds = stat.mtime_ns / 1e9
        return (o.newer is None or seconds >= o.newer) and (o.older is None or seconds <= o.older)

    def _type(self, path: str, stat: Stat) -> bool:
        fs = self.proc.fs
        kinds = set(self.o.types)
        empty = "empty" in kinds
        kinds.discard("empty")
        if empty and not (stat.is_file and not stat.size or stat.is_dir and not any(True for _ in fs.list(path))):
            return False
        if not kinds:
            return True
        if "executable" in kinds:
            if not stat.mode & 0o111:
                return False
            kinds.add("file")
        return "file" in kinds and stat.is_file or "directory" in kinds and stat.is_dir \
            or "symlink" in kinds and stat.is_link or "pipe" in kinds and stat.is_fifo \
            or "char-device" in kinds and stat.is_char

    @staticmethod
    def _size(size: int, sign: str, limit: int) -> bool:
        return size >= limit if sign == "+" else size <= limit if sign == "-" else size == limit

    # ---- output

    def _report(self, path: str, stat: Stat) -> None:
        o, proc = self.o, self.proc
        if o.execute:
            for command in o.execute:
                status = self._one(command, path.rstrip("/"))
                if status:
                    self.status = 1
        elif o.batch or o.details:
            self.batch.append(path.rstrip("/"))
            proc.kernel.fits(len(self.batch) * 200)
        else:
            if o.format is not None:
                path = expand(o.format, path.rstrip("/"))
            end = b"\0" if o.null else b"\n"
            proc.stdout.write(encode(path.replace("/", o.separator) if o.separator else path) + end)

    def _one(self, command: list[str], path: str) -> int:
        words = [expand(word, path) for word in command]
        if not any(has_token(word) for word in command):
            words.append(path)
        return self._run(words)

    def _execute(self, commands: list[list[str]], paths: list[str]) -> None:
        for command in commands:
            if not any(has_token(word) for word in command):
                command = [*command, "{}"]
            words: list[str] = []
            for word in command:
                words += [expand(word, path) for path in paths] if has_token(word) else [word]
            if self._run(words):
                self.status = 1

    def _run(self, words: list[str]) -> int:
        proc = self.proc
        try:
            return proc.run(words)
        except FileNotFoundError:
            proc.write_error(f"[fd error]: Command not found: {words[0]}\n")
        except OSError as e:
            proc.write_error(f"[fd error]: Problem while executing command: {e.strerror} (os error {e.errno})\n"
                             f"{refusal_note(e)}")
        return 1


def has_token(word: str) -> bool:
    return re.search(r"\{(?:|\.|/|//|/\.)\}", word) is not None


def expand(word: str, path: str) -> str:
    """{} the path, {/} its last part, {//} its directory, {.} and {/.} without the extension, {{ a brace."""
    base = path.rpartition("/")[2]
    stem = base.rpartition(".")[0] if "." in base[1:] else base
    folder = path.rpartition("/")[0]
    values = {"{}": path, "{/}": base, "{//}": folder or ("/" if path.startswith("/") else "."), "{/.}": stem,
              "{.}": path[:len(path) - len(base)].removeprefix("./") + stem, "{{": "{", "}}": "}"}
    return re.sub(r"\{\{|\}\}|\{(?:|\.|/|//|/\.)\}", lambda m: values[m[0]], word)


