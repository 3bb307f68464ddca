"""Is the search of a mount honest? For every service that declares `search`.

    from tests.mounts.honesty import check_honest

    def test_search_is_honest(terminal):                     # a Terminal with the service at /linear
        report = check_honest(terminal, "/linear")           # some 200 patterns made from what is in the files
        assert report.pushed > 20                            # the service was really asked

check_honest reads every file below the root once, makes patterns from them (whole words, parts of words, regular
expressions, letters beyond ASCII, punctuation, keys of JSON, numbers, phrases, several at once, words that are
nowhere), and runs `grep -rl`, -rn, -rc, -rL, -rvc, -rvl and -rho with -w, -i, -F, -E (and `rg -l` with some of them) on the mount
and on a copy in memory. Both must give the same lines in the same order; where the mount gives fewer, standard error must say how many items were not read.
With `exact=True` (grep --exact, or a mount with the option search=exact) nothing may be missing and nothing is said.
"""
from __future__ import annotations

import errno
import hashlib
import random
import re
import shlex
from fnmatch import fnmatchcase as fnmatch

from mirage import Result, Terminal
from mirage.mounts.memory import Memory
from mirage.vfs.facade import Actor

NOTE = re.compile(r"(?:grep|rg): [^\n]*: searched by the service[^\n]*; (?:[\d,]+|other) items? not read \(--exact reads them\)")
KEY = re.compile(r'"([^"\\\n]{1,40})": ')
ABSENT = ("xylocarp", "quuxbar", "Zwyntgrd", "zzz99zzz", "неттакого", "no such phrase here", "qqq-qqq")
SMALL = 1 << 20
SHAPES = ("-rn", "-rl", "-rl", "-rc", "-rl", "-rl", "-rL", "-rl", "-rvc", "-rl", "-rvl", "-rho")
_truths: dict[str, dict[str, Result]] = {}                   # files -> what grep gives on a copy of them


class Pattern:
    """Options of grep and the patterns: `grep -r OPTIONS -e TEXT...`."""

    __slots__ = ("kind", "options", "texts")

    def __init__(self, kind: str, options: str, *texts: str) -> None:
        self.kind = kind
        self.options = options
        self.texts = texts

    def __str__(self) -> str:
        return " ".join([self.options, *(f"-e {shlex.quote(text)}" for text in self.texts)])


class Report:
    """What happened: patterns tried, those that a service searched for, those with an announced difference."""

    def __init__(self) -> None:
        self.tried = 0
        self.pushed = 0
        self.announced = 0
        self.found = 0
        self.failures: list[str] = []
        self.usual: set[str] = set()
        self.broken: tuple[bytes, ...] = ()

    def __repr__(self) -> str:
        return f"Report(tried={self.tried}, pushed={self.pushed}, announced={self.announced}, found={self.found})"


def contents(terminal: Terminal, root: str, options: str = "", report: Report | None = None) -> dict[str, bytes]:
    """path -> bytes of every file below `root` that grep with these options reads, in the order of a walk (a
    directory's files before what is below). `report` gets those that cannot be read (locked, no PDF)."""
    globs = re.findall(r"--include='?([^' ]+)", options) or ["*"]
    fs = terminal.machine.filesystem(Actor("test"))
    paths = [f"{at.rstrip('/')}/{entry.name}" for at, entries in fs.walk(root) for entry in entries
             if entry.stat is not None and entry.stat.is_file and any(fnmatch(entry.name, glob) for glob in globs)]
    found = {}
    for path, data in fs.read_many(paths):
        if isinstance(data, bytes):
            found[path] = data
        else:
            assert report is not None and data.errno in (errno.EACCES, errno.EIO), f"{path}: {data}"
            report.broken += (path.encode(),)
    return found


def make_patterns(files: dict[str, bytes], count: int = 200, seed: int = 1) -> list[Pattern]:
    """Patterns of every kind from the texts, the same for the same files."""
    rng = random.Random(seed)
    texts = [data.decode() for data in files.values() if len(data) < SMALL and _is_text(data)]
    lines = [line for text in texts for line in text.split("\n") if line.strip()]
    if not lines:
        return []
    words = sorted({w for line in lines for w in re.findall(r"\w{2,30}", line)})
    plain = [w for w in words if w.isalpha() and len(w) > 3] or words
    foreign = [w for w in words if not w.isascii()]
    numbers = sorted({n for line in lines for n in re.findall(r"\d[\d.:-]*\d", line)})
    keys = sorted({k for text in texts for k in KEY.findall(text)})
    share = max(1, count // 20)
    found: list[Pattern] = []

    def case(options: str) -> str:
        return options + rng.choice(("", "", "i"))

    for word in _some(rng, words, 4 * share):
        found.append(Pattern("word", case("-w"), word.swapcase() if rng.random() < 0.1 else word))
    for word in _some(rng, plain, 3 * share):
        start = rng.randrange(len(word) - 1)
        part = word[start:start + rng.randint(2, max(2, len(word) - 1))]
        found.append(Pattern("part", case(rng.choice(("-F", "-E", "-G"))), part))
    for word in _some(rng, plain, 3 * share):
        found.append(Pattern("regex", case("-E"), _regex(rng, word, rng.choice(plain))))
    for word in _some(rng, foreign, 2 * share):
        found.append(Pattern("foreign", case(rng.choice(("-w", "-F", "-E"))), word))
    for line in _some(rng, lines, 2 * share):
        marks = [m.start() for m in re.finditer(r"[^\w\s]", line)]
        at = rng.choice(marks) if marks else 0
        found.append(Pattern("punctuation", case("-F"), line[max(0, at - 3):at + rng.randint(1, 5)] or line[:3]))
    for key in _some(rng, keys, share):
        found.append(Pattern("key", case(rng.choice(("-w", "-F"))), rng.choice((key, f'"{key}": ', f'"{key}"'))))
    for number in _some(rng, numbers, 2 * share):
        found.append(Pattern("number", rng.choice(("-w", "-F")), number[:rng.randint(1, len(number))]))
    for line in _some(rng, [line for line in lines if line.count(" ") > 2], 2 * share):
        parts = line.split(" ")
        start = rng.randrange(len(parts) - 1)
        found.append(Pattern("phrase", case(rng.choice(("-F", "-wF"))), " ".join(parts[start:start + rng.randint(2, 3)])))
    for word in _some(rng, plain, share):
        found.append(Pattern("several", case(rng.choice(("-w", "-E", "-F"))), word, rng.choice(plain)))
    found += [Pattern("absent", case(rng.choice(("-w", "-F"))), word) for word in ABSENT]
    return [p for p in found if all(text and "\n" not in text and "\0" not in text for text in p.texts)]


def check_honest(terminal: Terminal, root: str, patterns: list[Pattern] | None = None, *, exact: bool = False,
                 options: str = "", count: int = 200, seed: int = 1) -> Report:
    """Compare grep on the mount at `root` with grep on a copy of its files; AssertionError names every difference.

    options  more options of grep for every command (--include='*.json')
    exact    nothing may be missing, announced or not
    """
    report = Report()
    files = contents(terminal, root, options, report)
    for tool in ("grep -r", "rg"):                           # what a look at everything complains of
        report.usual.update(terminal.run(f"{tool} --exact -c . {shlex.quote(root)}").stderr.splitlines())
    known = _truths.setdefault(hashlib.sha256(repr((root, files)).encode()).hexdigest(), {})
    copy = Memory({path.removeprefix(root.rstrip("/")).lstrip("/"): data for path, data in files.items()})
    flag = "--exact " if exact else ""
    with Terminal({root: copy}, policy="default: allow") as plain:
        def truth(line: str) -> Result:
            if line not in known:
                known[line] = plain.run(line)
            return known[line]

        for number, pattern in enumerate(make_patterns(files, count, seed) if patterns is None else patterns):
            shape = SHAPES[number % len(SHAPES)]
            rest = f"{options} {pattern} {shlex.quote(root)}"
            asked = terminal.run(f"grep {flag}{shape} {rest}")
            wanted = truth(f"grep {shape} {rest}")
            _compare(report, pattern, asked, wanted, list(files), exact)
            if number % 5 == 0 and not options and pattern.kind in ("word", "foreign", "absent", "number"):
                rest = rest.replace(pattern.options, "-l" + "".join(c for c in pattern.options if c in "wFi"), 1)
                _compare(report, pattern, terminal.run(f"rg {flag}{rest}"), truth(f"rg {rest}"), [], exact)
    assert not report.failures, f"{len(report.failures)} of {report.tried}:\n" + "\n".join(report.failures[:20])
    return report


def _compare(report: Report, pattern: Pattern, asked, wanted, order: list[str], exact: bool) -> None:
    report.tried += 1
    report.pushed += bool(asked.usage and asked.usage.searches)
    report.found += wanted.exit_code == 0
    truth = wanted.stdout_bytes.splitlines()
    got = [line for line in asked.stdout_bytes.splitlines() if not line.startswith(report.broken)]
    said = NOTE.findall(asked.stderr)
    other = [line for line in asked.stderr.splitlines()
             if not NOTE.fullmatch(line) and not line.endswith(": binary file matches")
             and line not in report.usual]
    if other:
        report.failures.append(f"{pattern.kind}: grep {pattern}: {other[0]}")
    invented = set(got) - set(truth)
    missing = set(truth) - set(got)
    if invented:
        report.failures.append(f"{pattern.kind}: grep {pattern}: not in the files: {sorted(invented)[:2]}")
    if missing:
        report.announced += bool(said)
    if missing and (exact or not said):
        report.failures.append(f"{pattern.kind}: grep {pattern}: missing without a word: {sorted(missing)[:2]}")
    if exact and said:
        report.failures.append(f"{pattern.kind}: grep {pattern}: {said[0]}")
    gave = set(got)
    kept = [line for line in truth if line in gave]
    if order and not invented and not missing and sorted(kept) == sorted(got) and _places(got, order) != sorted(_places(got, order)):
        report.failures.append(f"{pattern.kind}: grep {pattern}: not in the order of a walk: {got[:3]}")


def _places(lines: list[bytes], order: list[str]) -> list[int]:
    """Where the files of the output stand in the walk."""
    at = {path: number for number, path in enumerate(order)}
    found = []
    for line in lines:
        text = line.decode("utf-8", "replace")
        while text and text not in at:
            text = text.rpartition(":")[0]
        if text:
            found.append(at[text])
    return found


def _regex(rng: random.Random, word: str, other: str) -> str:
    middle = len(word) // 2
    return rng.choice((rf"\b{word}\b", f"{word}.*{other}", f"({word}|{other})", f"{word[:middle]}.{word[middle + 1:]}",
                       f"{word}s?", f"[{word[0]}{word[0].swapcase()}]{word[1:]}", f"^.*{word}", f"{word}[^a-z]+\\w",
                       f"{word[:-1]}({word[-1]}|x)", rf"\<{word}", f"({word})+", f"{word}{{1,2}}"))


def _some(rng: random.Random, items: list[str], count: int) -> list[str]:
    return rng.sample(items, min(count, len(items)))


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data
