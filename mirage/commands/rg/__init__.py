"""rg: recursively search for a pattern, respecting ignore files (ripgrep 14.1)."""
from __future__ import annotations

from mirage.commands._io import decode, encode, open_input, read_all
from mirage.commands.rg.options import FLAGS, UNSUPPORTED, fail, help_text, number, parse
from mirage.process.files import Source
from mirage.process.signals import Exit
from mirage.text.regex import RegexError, RegexTooComplex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mirage.commands.rg.engine import Engine
    from mirage.commands.rg.report import Report
    from mirage.commands.rg.walk import Walker
    from mirage.process.process import Process
    from mirage.vfs.search import Query

FIRST_WINDOW, LAST_WINDOW = 16, 256                          # files that are fetched at a time where the mount can


class Settings:
    def __init__(self) -> None:
        self.patterns: list[str] | None = None
        self.globs: list[tuple[str, bool]] = []
        self.types: list[tuple[str, bool]] = []
        self.type_add: list[str] = []
        self.before = self.after = 0
        self.count = self.count_matches = self.include_zero = self.quiet = False
        self.list_files = ""
        self.files = False
        self.fixed = self.word = self.line = self.invert = self.pcre = False
        self.case = "sensitive"
        self.multiline = self.dotall = False
        self.unicode = True
        self.number = False
        self.heading = False
        self.color = False
        self.column = self.vimgrep = self.byte_offset = self.trim = self.null = self.passthru = False
        self.with_filename: bool | None = None
        self.only_matching = self.text = self.binary = self.json = self.stats = False
        self.replace: bytes | None = None
        self.max_count: int | None = None
        self.max_columns = 0
        self.max_depth = 1 << 30
        self.max_filesize: int | None = None
        self.follow = self.hidden = self.no_ignore = self.no_ignore_vcs = self.no_ignore_dot = False
        self.no_ignore_parent = self.no_require_git = self.no_messages = False
        self.separator: bytes | None = b"--"
        self.match_separator = b":"
        self.context_mark = b"-"
        self.sort = ""
        self.reverse = False
        self.unrestricted = 0
        self.exact = False                                   # never let a service search


SIMPLE = {
    "count": "count", "count-matches": "count_matches", "include-zero": "include_zero", "quiet": "quiet",
    "files": "files", "fixed-strings": "fixed", "invert-match": "invert", "pcre2": "pcre", "multiline": "multiline",
    "multiline-dotall": "dotall", "line-number": "number", "heading": "heading", "column": "column",
    "byte-offset": "byte_offset", "trim": "trim", "null": "null", "passthru": "passthru", "passthrough": "passthru",
    "with-filename": "with_filename", "only-matching": "only_matching", "text": "text", "binary": "binary",
    "json": "json", "stats": "stats", "follow": "follow", "hidden": "hidden", "no-ignore": "no_ignore",
    "no-ignore-vcs": "no_ignore_vcs", "no-ignore-dot": "no_ignore_dot", "no-ignore-parent": "no_ignore_parent",
    "no-require-git": "no_require_git", "no-messages": "no_messages", "exact": "exact",
}
OFF = {
    "no-line-number": "number", "no-heading": "heading", "no-filename": "with_filename", "no-column": "column",
    "no-hidden": "hidden", "no-follow": "follow", "no-multiline": "multiline", "no-pcre2": "pcre",
    "no-fixed-strings": "fixed", "no-invert-match": "invert", "no-unicode": "unicode", "ignore": "no_ignore",
    "no-binary": "binary",
}


def main(proc: Process) -> int:
    given, operands = parse(proc)
    s = Settings()
    for name, value in given:
        apply_option(proc, s, name, value)
    if s.files:
        return _list_files(proc, s, operands)
    if s.patterns is None:
        if not operands:
            raise fail(proc, "ripgrep requires at least one pattern to execute a search")
        s.patterns = [operands.pop(0)]
    if not s.patterns:
        return 1
    engine = _engine(proc, s)
    from mirage.commands.rg.report import Report
    report = Report(proc, s, engine)
    return _search(proc, s, report, operands)


def apply_option(proc: Process, s: Settings, name: str, value: str) -> None:
    if name in SIMPLE:
        setattr(s, SIMPLE[name], True)
    elif name in OFF:
        setattr(s, OFF[name], False)
    elif name == "help":
        proc.stdout.write(help_text().encode())
        raise Exit(0)
    elif name == "version":
        proc.stdout.write(b"ripgrep 14.1.1\n")
        raise Exit(0)
    elif name == "type-list":
        from mirage.commands.rg.types import TYPES
        for kind, globs in sorted(TYPES.items()):
            proc.stdout.write(f"{kind}: {', '.join(sorted(globs))}\n".encode())
        raise Exit(0)
    elif name in UNSUPPORTED:
        raise fail(proc, f"--{name} is not available in this terminal")
    elif name in ("regexp", "file"):
        s.patterns = (s.patterns or []) + ([value] if name == "regexp" else _pattern_file(proc, value))
    elif name in ("glob", "iglob"):
        s.globs.append((value, name == "iglob"))
    elif name in ("type", "type-not"):
        s.types.append((value, name == "type-not"))
    elif name == "type-add":
        s.type_add.append(value)
    elif name in ("after-context", "before-context", "context"):
        lines = number(proc, name, value)
        if name != "before-context":
            s.after = lines
        if name != "after-context":
            s.before = lines
    elif name in ("files-with-matches", "files-without-match"):
        s.list_files = "l" if name == "files-with-matches" else "L"
    elif name in ("ignore-case", "case-sensitive", "smart-case"):
        s.case = {"ignore-case": "ignore", "case-sensitive": "sensitive", "smart-case": "smart"}[name]
    elif name == "line-regexp":
        s.line, s.word = True, False
    elif name == "word-regexp":
        s.word, s.line = True, False
    elif name == "unrestricted":
        s.unrestricted += 1
        s.no_ignore = True
        s.hidden = s.hidden or s.unrestricted > 1
        s.binary = s.binary or s.unrestricted > 2
    else:
        _apply_value(proc, s, name, value)


def _apply_value(proc: Process, s: Settings, name: str, value: str) -> None:
    if name == "replace":
        s.replace = encode(value)
    elif name == "max-count":
        s.max_count = number(proc, name, value)
    elif name == "max-columns":
        s.max_columns = number(proc, name, value)
    elif name == "max-depth":
        s.max_depth = number(proc, name, value)
    elif name == "max-filesize":
        unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(value[-1:].upper(), 1)
        s.max_filesize = number(proc, name, value[:-1] if unit > 1 else value) * unit
    elif name == "color":
        if value not in ("never", "auto", "always", "ansi"):
            raise fail(proc, f"error parsing flag --color: choice '{value}' is unrecognized")
        s.color = value in ("always", "ansi")
    elif name in ("sort", "sortr", "sort-files"):
        if name != "sort-files" and value not in ("path", "modified", "accessed", "created", "none"):
            raise fail(proc, f"error parsing flag --{name}: choice '{value}' is unrecognized")
        s.sort, s.reverse = value or "path", name == "sortr"
    elif name == "context-separator":
        s.separator = encode(value.replace("\\n", "\n").replace("\\t", "\t"))
    elif name == "no-context-separator":
        s.separator = None
    elif name == "field-match-separator":
        s.match_separator = encode(value.replace("\\t", "\t"))
    elif name == "field-context-separator":
        s.context_mark = encode(value.replace("\\t", "\t"))
    elif name == "pretty":
        s.color = s.heading = s.number = True
    elif name == "vimgrep":
        s.vimgrep = s.column = s.number = s.with_filename = True
    assert name in FLAGS


def _pattern_file(proc: Process, name: str) -> list[str]:
    try:
        file = open_input(proc, name).incref()
    except OSError as e:
        raise fail(proc, f"{name}: {e.strerror} (os error {e.errno})") from None
    try:
        data = read_all(proc, file)
    finally:
        file.decref()
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    try:
        return [line.decode() for line in lines]
    except UnicodeDecodeError:
        raise fail(proc, f"{name}:1: found invalid UTF-8 in pattern") from None


def _engine(proc: Process, s: Settings) -> Engine:
    from mirage.commands.rg.engine import Engine
    patterns = s.patterns or []
    icase = _ignores_case(s)
    if s.column or s.vimgrep:
        s.number = True
    if not s.multiline and not s.fixed and any("\n" in p or _escaped_newline(p) for p in patterns):
        raise fail(proc, 'the literal "\\n" is not allowed in a regex\n\n'
                         "Consider enabling multiline mode with the --multiline flag (or -U for short).\n"
                         "When multiline mode is enabled, new line characters can be matched.")
    try:
        return Engine(patterns, fixed=s.fixed, icase=icase, word=s.word, line=s.line, pcre=s.pcre,
                      multiline=s.multiline, dotall=s.dotall and s.multiline, unicode=s.unicode)
    except RegexError as e:
        kind = "PCRE2: error compiling pattern: " if s.pcre else "regex parse error:\n    "
        raise fail(proc, f"{kind}{e}") from None


def _escaped_newline(text: str) -> bool:
    at = text.find("\\")
    while 0 <= at < len(text) - 1:
        if text[at + 1] == "n":
            return True
        at = text.find("\\", at + 2)
    return False


def _search(proc: Process, s: Settings, report: Report, operands: list[str]) -> int:
    from mirage.commands.rg.walk import Walker
    walker = Walker(proc, s)
    walker.queries = asked(s, walker.wanted_name)
    if not operands and _has_stdin(proc):
        operands = ["-"]
    if s.with_filename is None:
        s.with_filename = len(operands) != 1 or operands[0] != "-" and proc.fs.is_dir(operands[0])
    try:
        for operand in operands or [""]:
            _operand(proc, s, report, walker, operand)
            if s.quiet and report.matched and not s.stats:
                break
    except RegexTooComplex as e:
        raise fail(proc, f"PCRE2: error matching: {e}") from None
    if s.json:
        from mirage.commands.rg.json_report import summary
        summary(report)
    elif s.stats:
        _stats(proc, report)
    if operands == [] and not report.stats["searched"] and not walker.asked:
        proc.stdout.flush()
        proc.write_error("rg: No files were searched, which means ripgrep probably applied a filter you didn't "
                         "expect.\n"
                         "Running with --debug will show why files are being skipped.\n")
        return 2
    if walker.failed and not (s.quiet and report.matched):
        return 2
    found = report.matched
    if s.list_files == "L":
        found = report.stats["searched"] > report.stats["files"]
    return 0 if found else 1


def _operand(proc: Process, s: Settings, report: Report, walker: Walker, operand: str) -> None:
    if operand == "-":
        report.search("<stdin>", read_all(proc, proc.file(0)), True)
        return
    if not operand or proc.fs.is_dir(operand):
        _directory(proc, s, report, walker, operand)
        return
    _file(proc, report, walker, operand, operand, True)


def _directory(proc: Process, s: Settings, report: Report, walker: Walker, operand: str) -> None:
    """Everything below an operand; files of services are fetched several at a time."""
    found = walker.run(operand or ".", operand)
    files = _sorted(proc, s, list(found) if s.sort else found)
    pending: list[tuple[str, str]] = []
    window = FIRST_WINDOW
    folder, many = "", False
    for path, shown in files:
        if path.rpartition("/")[0] != folder:
            folder = path.rpartition("/")[0]
            many = proc.fs.reads_many(path)
        if many:
            pending.append((path, shown))
        if pending and (not many or len(pending) >= window):
            _read_many(proc, s, report, walker, pending)
            pending, window = [], min(window * 4, LAST_WINDOW)
        if not many:
            _file(proc, report, walker, path, shown, False)
        if s.quiet and report.matched:
            return
    _read_many(proc, s, report, walker, pending)
    for note in walker.notes:
        if not s.no_messages:
            proc.stdout.flush()
            proc.write_error(f"rg: {note}\n")
    walker.notes.clear()


def _read_many(proc: Process, s: Settings, report: Report, walker: Walker, files: list[tuple[str, str]]) -> None:
    contents = proc.fs.read_many([path for path, _ in files], bool(walker.found)) if files else ()
    for (_, shown), (_, data) in zip(files, contents, strict=False):
        if isinstance(data, OSError):
            walker.error(shown, data)
        else:
            report.search(shown, data, False)
            if s.quiet and report.matched:
                return


def asked(s: Settings, names: Callable[[str], bool] | None = None) -> list[Query] | None:
    """What the files with a match contain; None where files without one are reported too, or it may be anything."""
    if s.exact or s.invert or s.max_filesize is not None or s.list_files == "L" or s.passthru or s.stats or s.json \
            or s.include_zero and (s.count or s.count_matches):
        return None
    from mirage.commands._search import queries_for
    return queries_for(s.patterns or [], "fixed" if s.fixed else "perl", word=s.word, line=s.line,
                       icase=_ignores_case(s), names=names)


def _ignores_case(s: Settings) -> bool:
    return s.case == "ignore" or s.case == "smart" and not any(c.isupper() for p in s.patterns or () for c in p)


def _file(proc: Process, report: Report, walker: Walker, path: str, shown: str, explicit: bool) -> None:
    try:
        with proc.opened(path) as file:
            data = read_all(proc, file)
    except OSError as e:
        walker.error(shown, e)
        return
    report.search(shown, data, explicit)


def _sorted(proc: Process, s: Settings, files: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    if not s.sort or s.sort == "none":
        return files
    if s.sort == "path":
        return sorted(files, key=lambda f: encode(f[1]).split(b"/"), reverse=s.reverse)
    field = {"modified": "mtime_ns", "accessed": "atime_ns", "created": "btime_ns"}[s.sort]
    return sorted(files, key=lambda f: getattr(proc.fs.stat(f[0]), field) or 0, reverse=s.reverse)


def _has_stdin(proc: Process) -> bool:
    """Is standard input something to search: a pipe, or a file that holds something?"""
    file = proc.fds.get(0)
    if file is None or file.isatty():
        return False
    inner = getattr(file, "source", file)
    if isinstance(inner, Source):
        return len(inner.data) > inner.offset
    stat = file.stat()
    return stat.is_fifo or stat.is_file


def _list_files(proc: Process, s: Settings, operands: list[str]) -> int:
    from mirage.commands.rg.walk import Walker
    walker = Walker(proc, s)
    found = False
    end = b"\0" if s.null else b"\n"
    for operand in operands or [""]:
        if operand and not proc.fs.is_dir(operand):
            try:
                proc.fs.stat(operand)
            except OSError as e:
                walker.error(operand, e)
                continue
            files: Iterable[tuple[str, str]] = [(operand, operand)]
        else:
            files = walker.run(operand or ".", operand)
        for _, shown in _sorted(proc, s, list(files) if s.sort else files):
            found = True
            if not s.quiet:
                proc.stdout.write(encode(shown) + end)
    if walker.failed:
        return 2
    return 0 if found else 1


def _stats(proc: Process, report: Report) -> None:
    n = report.stats
    proc.stdout.write(f"\n{n['matches']} matches\n{n['matched_lines']} matched lines\n{n['files']} files contained "
                      f"matches\n{n['searched']} files searched\n{n['printed']} bytes printed\n{n['bytes']} bytes "
                      "searched\n0.000000 seconds spent searching\n0.000000 seconds\n".encode())


__all__ = ["Settings", "decode", "main"]
