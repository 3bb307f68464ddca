"""The working tree against the index: status, ls-files, blame, grep."""
from __future__ import annotations

from functools import partial

from mirage.commands.git import difference
from mirage.commands.git.store import LINK, SUBMODULE, Repository, fatal
from mirage.commands.rg.ignore import IgnoreFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def work_data(repo: Repository, path: str) -> tuple[int, bytes] | None:
    """(mode, content) of a file of the working tree; None if it is not there."""
    whole = f"{repo.top.rstrip('/')}/{path}"
    try:
        stat = repo.fs.stat(whole, False)
        if stat.is_link:
            return LINK, repo.fs.readlink(whole).encode("utf-8", "surrogateescape")
        if stat.is_file:
            return 0o100755 if stat.mode & 0o100 else 0o100644, repo.fs.read(whole)
    except OSError:
        return None
    return None


def unstaged(repo: Repository, index: dict[str, tuple[int, str, int, int]],
             paths: list[str]) -> list[difference.Change]:
    """Changes of the working tree against the index."""
    out = []
    for path, (mode, sha, mtime, size) in index.items():
        if paths and not difference.matches(path, paths) or mode == SUBMODULE:
            continue
        whole = f"{repo.top.rstrip('/')}/{path}"
        try:
            stat = repo.fs.stat(whole, False)
        except OSError:
            out.append(difference.Change(path, mode, 0, partial(repo.blob, sha), bytes, sha, ""))
            continue
        if stat.mtime_ns == mtime and stat.size == size:
            continue
        found = work_data(repo, path)
        repo.proc.check()
        if found is None:
            out.append(difference.Change(path, mode, 0, partial(repo.blob, sha), bytes, sha, ""))
            continue
        new_mode, data = found
        new_sha = difference.blob_sha(data)
        if new_sha != sha or new_mode != mode:
            out.append(difference.Change(path, mode, new_mode, partial(repo.blob, sha), partial(bytes, data), sha,
                                         new_sha))
    return out


def staged(repo: Repository, index: dict[str, tuple[int, str, int, int]], paths: list[str],
           revision: str = "") -> list[difference.Change]:
    sha = repo.resolve(revision) if revision else repo.head()[1]
    old = repo.files(repo.commit(sha).tree) if sha else {}
    return difference.trees(repo, old, {path: (entry[0], entry[1]) for path, entry in index.items()}, paths)


def untracked(repo: Repository, index: dict[str, tuple[int, str, int, int]], every: bool,
              ignored: bool = False) -> list[str]:
    """Paths that are not in the index, folders with a slash at the end unless `every` file is wanted."""
    folders = {path[:at] for path in index for at in range(len(path)) if path[at] == "/"}
    rules: list[IgnoreFile] = []
    top = repo.top.rstrip("/") + "/"
    exclude = f"{repo.folder}/info/exclude"
    if repo.fs.is_file(exclude):
        rules.append(IgnoreFile(top, repo.fs.read(exclude).decode("utf-8", "replace")))
    return list(_untracked(repo, index, folders, "", rules, every, ignored))


def _untracked(repo: Repository, index: dict[str, tuple[int, str, int, int]], folders: set[str], prefix: str,
               rules: list[IgnoreFile], every: bool, ignored: bool) -> Iterator[str]:
    base = repo.top.rstrip("/") + "/" + prefix
    repo.proc.check()
    try:
        entries = sorted(repo.fs.list(base.rstrip("/") or "/"), key=lambda e: e.name.encode("utf-8", "surrogateescape"))
    except OSError:
        return
    if any(e.name == ".gitignore" for e in entries) and repo.fs.is_file(base + ".gitignore"):
        rules = [*rules, IgnoreFile(base, repo.fs.read(base + ".gitignore").decode("utf-8", "replace"))]
    for entry in entries:
        path = prefix + entry.name
        if entry.name == ".git" or path in index:
            continue
        stat = entry.stat
        try:
            stat = stat or repo.fs.stat(base + entry.name, False)
        except OSError:
            continue
        verdict = next((v for rule in reversed(rules)
                        if (v := rule.verdict(base + entry.name, stat.is_dir)) is not None),
                       False)
        if verdict:
            if ignored:
                yield path + ("/" if stat.is_dir else "")
            continue
        if stat.is_dir:
            inside = _untracked(repo, index, folders, path + "/", rules, every or path not in folders, ignored)
            if path in folders or every or ignored:
                yield from inside
            elif next(inside, None) is not None:
                yield path + "/"
        elif not ignored and (stat.is_file or stat.is_link):
            yield path


LABELS = {"M": "modified:   ", "A": "new file:   ", "D": "deleted:    ", "R": "renamed:    "}


def status(repo: Repository, words: list[str], paths: list[str]) -> int:
    short = branch_line = porcelain = False
    hidden, every, ignored, end = False, False, False, "\n"
    for word in words:
        if word in ("-s", "--short", "--porcelain", "--porcelain=v1"):
            short = True
            porcelain = porcelain or word.startswith("--p")
        elif word in ("-b", "--branch"):
            branch_line = True
        elif word in ("-sb", "-bs"):
            short = branch_line = True
        elif word in ("-uno", "--untracked-files=no"):
            hidden = True
        elif word in ("-u", "-uall", "--untracked-files=all", "--untracked-files"):
            every = True
        elif word == "--ignored":
            ignored = True
        elif word == "-z":
            short, end = True, "\0"
        elif word not in ("--long", "-v", "-unormal", "--untracked-files=normal", "--no-renames", "--ahead-behind"):
            raise fatal(repo.proc, f"option '{word}' is not available in this terminal", 129)
    index = repo.index()
    first = staged(repo, index, paths)
    second = unstaged(repo, index, paths)
    new = [] if hidden else [p for p in untracked(repo, index, every) if not paths
                             or difference.matches(p.rstrip("/"), paths)]
    branch, sha = repo.head()
    out: list[str] = []

    def shown(path: str) -> str:
        return path if porcelain or end == "\0" else relative(repo.prefix, path)
    if short:
        if branch_line:
            name = branch if branch else "HEAD (no branch)"
            out.append(f"## {name if sha else f'No commits yet on {branch}'}{end}")
        letters: dict[str, list[str]] = {}
        for change in sorted([*first, *second], key=lambda c: c.path.encode("utf-8", "surrogateescape")):
            if change in second:
                letters.setdefault(shown(change.path), [" ", " "])[1] = change.letter
                continue
            label = f"{shown(change.source)} -> {shown(change.path)}" if change.letter == "R" else shown(change.path)
            letters.setdefault(label, [" ", " "])[0] = change.letter
        out += [f"{a}{b} {name}{end}" for name, (a, b) in letters.items()]
        out += [f"?? {shown(name)}{end}" for name in new]
        if ignored:
            out += [f"!! {name}{end}" for name in untracked(repo, index, every, True)]
    else:
        out = _long_status(repo, branch, sha, first, second, new, hidden)
    repo.proc.stdout.write("".join(out).encode("utf-8", "surrogateescape"))
    return 0


def relative(prefix: str, path: str) -> str:
    """A path below the top as it is called from the folder `prefix`."""
    up = 0
    while prefix and not path.startswith(prefix):
        prefix = prefix[:prefix.rstrip("/").rfind("/") + 1]
        up += 1
    return "../" * up + path[len(prefix):] or "./"


def _long_status(repo: Repository, branch: str, sha: str, first: list[difference.Change],
                 second: list[difference.Change],
                 new: list[str], hidden: bool) -> list[str]:
    def shown(path: str) -> str:
        return relative(repo.prefix, path)
    out = [f"On branch {branch}\n" if branch else f"HEAD detached at {sha[:7]}\n"]
    if not sha:
        out.append("\nNo commits yet\n\n")
    if first:
        hint = "restore --staged <file>..." if sha else "rm --cached <file>..."
        out.append(f"Changes to be committed:\n  (use \"git {hint}\" to unstage)\n")
        for c in first:
            out.append(f"\t{LABELS[c.letter]}{shown(c.source) + ' -> ' if c.letter == 'R' else ''}{shown(c.path)}\n")
        out.append("\n")
    if second:
        verb = "add/rm" if any(c.letter == "D" for c in second) else "add"
        out.append(f"Changes not staged for commit:\n"
                   f"  (use \"git {verb} <file>...\" to update what will be committed)\n"
                   "  (use \"git restore <file>...\" to discard changes in working directory)\n")
        out += [f"\t{LABELS[c.letter]}{shown(c.path)}\n" for c in second]
        out.append("\n")
    if new:
        out.append("Untracked files:\n  (use \"git add <file>...\" to include in what will be committed)\n")
        out += [f"\t{shown(path)}\n" for path in new]
        out.append("\n")
    if hidden and (first or second):
        out.append("Untracked files not listed (use -u option to show untracked files)\n")
    if first:
        return out
    if second:
        out.append("no changes added to commit (use \"git add\" and/or \"git commit -a\")\n")
    elif new:
        out.append("nothing added to commit but untracked files present (use \"git add\" to track)\n")
    elif sha:
        out.append("nothing to commit, working tree clean\n")
    else:
        out.append("nothing to commit (create/copy files and use \"git add\" to track)\n")
    return out


def ls_files(repo: Repository, words: list[str], paths: list[str]) -> int:
    index = repo.index()
    kinds = set()
    end = "\n"
    for word in words:
        if word == "-z":
            end = "\0"
        elif word in ("-c", "--cached", "-s", "--stage", "-m", "--modified", "-d", "--deleted", "-o", "--others",
                      "--exclude-standard", "-i", "--full-name", "--error-unmatch"):
            kinds.add(word.lstrip("-")[0] if word != "--exclude-standard" else "x")
        else:
            raise fatal(repo.proc, f"option '{word}' is not available in this terminal", 129)
    names: list[str] = []
    if not kinds & {"m", "d", "o"}:
        kinds.add("c")
    if "o" in kinds:
        names += untracked(repo, index, True)
        if "x" not in kinds:
            names += [name for name in untracked(repo, index, True, True) if not name.endswith("/")]
            names.sort()
    if kinds & {"c", "s"}:
        names += list(index)
    if kinds & {"m", "d"}:
        names += [c.path for c in unstaged(repo, index, []) if "m" in kinds or c.letter == "D"]
    status = 0
    for name in sorted(set(names), key=lambda n: n.encode("utf-8", "surrogateescape")) if len(kinds) > 1 else names:
        if paths and not difference.matches(name, paths) or not name.startswith(repo.prefix):
            continue
        stage = f"{index[name][0]:06o} {index[name][1]} 0\t" if "s" in kinds and name in index else ""
        repo.proc.stdout.write(f"{stage}{name[len(repo.prefix):]}{end}".encode("utf-8", "surrogateescape"))
    if "e" in kinds:
        for path in paths:
            if not any(difference.matches(name, [path]) for name in names):
                repo.proc.write_error(f"error: pathspec '{path}' did not match any file(s) known to git\n"
                                      "Did you forget to "
                                      "'git add'?\n")
                status = 1
    return status


def blame(repo: Repository, words: list[str], revisions: list[str], paths: list[str], now: float) -> int:
    """Each line with the commit that brought it."""
    from mirage.commands._diff_output import File
    from mirage.commands.git.history import moment
    low = high = None
    long = porcelain = False
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("-L"):
            text = word[2:]
            if not text and at < len(words):
                text = words[at]
                at += 1
            first, _, right = text.partition(",")
            low = int(first or "1")
            high = low + int(right[1:]) - 1 if right.startswith("+") else int(right) if right else None
        elif word in ("-l", "-s", "-w", "-M", "-C", "-e", "--show-email"):
            long = long or word == "-l"
        elif word in ("-p", "--porcelain", "--line-porcelain"):
            porcelain = True
        else:
            raise fatal(repo.proc, f"option '{word}' is not available in this terminal", 129)
    if len(paths) != 1:
        repo.proc.write_error("usage: git blame [<options>] [<rev-opts>] [<rev>] [--] <file>\n")
        return 129
    path = paths[0]
    start = repo.commit(repo.resolve(revisions[0] if revisions else "HEAD")).sha
    files = repo.files(repo.commit(start).tree)
    work = work_data(repo, path) if not revisions and repo.top else None
    if path not in files:
        raise fatal(repo.proc, f"no such path '{path}' in {revisions[0] if revisions else 'HEAD'}")
    current = work[1] if work is not None else repo.blob(files[path][1])
    lines = File(current, b"").lines
    owner: list[str] = [""] * len(lines)
    places = list(range(len(lines)))
    pending: list[tuple[str, bytes, list[tuple[int, int]]]] = []
    committed = repo.blob(files[path][1])
    pairs = [(n, n) for n in places]
    if current != committed:
        pairs = _carried(repo, current, committed, pairs)
    pending.append((start, committed, pairs))
    while pending:
        at_commit, data, left = pending.pop()
        commit = repo.commit(at_commit)
        for parent in commit.parents:
            found = repo.files(repo.commit(parent).tree).get(path)
            if found is None or not left:
                continue
            older = repo.blob(found[1])
            kept = left if older == data else _carried(repo, data, older, left)
            taken = {line for line, _ in kept}
            left = [pair for pair in left if pair[0] not in taken]
            if kept:
                pending.append((parent, older, kept))
        for index, _ in left:
            owner[index] = at_commit
        repo.proc.check()
    rows = []
    for number, (line, sha) in enumerate(zip(lines, owner, strict=True), 1):
        if low is not None and number < low or high is not None and number > high:
            continue
        if sha:
            commit = repo.commit(sha)
            name, _, seconds, zone = commit.person("author")
            width = 40 if long else 8
            label = f"^{sha[:width - 1]}" if not commit.parents else sha[:width]
        else:
            name, seconds, zone, label = "Not Committed Yet", int(now), "+0000", "0" * (40 if long else 8)
        rows.append((label, name, f"{moment(seconds, zone):%Y-%m-%d %H:%M:%S} {zone}", number, line, sha))
    width = max((len(row[1]) for row in rows), default=0)
    digits = max((len(str(row[3])) for row in rows), default=1)
    for label, name, when, number, line, sha in rows:
        if porcelain:
            repo.proc.stdout.write(f"{sha or '0' * 40} {number} {number} 1\nauthor {name}\n\t".encode() + line + b"\n")
        else:
            repo.proc.stdout.write(f"{label} ({name:<{width}} {when} {number:>{digits}}) ".encode("utf-8", "replace")
                                   + line + b"\n")
    return 0


def _carried(repo: Repository, new: bytes, old: bytes, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """(line of the result, line in `old`) for those lines of `new` that `old` has too."""
    from mirage.commands._diff_output import File
    a, b = File(old, b""), File(new, b"")
    moved: dict[int, int] = {}
    at_a = at_b = 0
    for a0, a1, b0, b1 in [*difference.compare(a, b, repo.proc.check), (len(a.lines), 0, len(b.lines), 0)]:
        while at_b < b0:
            moved[at_b] = at_a
            at_a += 1
            at_b += 1
        at_a, at_b = a1, b1
    return [(line, moved[place]) for line, place in pairs if place in moved]


def grep(repo: Repository, words: list[str]) -> int:
    """git grep: our grep over the tracked files."""
    index = repo.index()
    options: list[str] = []
    rest: list[str] = []
    numbered, patterned = False, False
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            rest += words[at:]
            break
        if word in ("-n", "--line-number"):
            numbered = True
        elif word in ("-e", "-A", "-B", "-C", "-m") and at < len(words):
            options += [word, words[at]]
            patterned = patterned or word == "-e"
            at += 1
        elif word in ("--no-color", "-I", "--untracked", "--cached", "--no-index"):
            continue
        elif word.startswith("-") and len(word) > 1 and not rest:
            options.append(word)
        elif word.startswith("-") and len(word) > 1:
            options.append(word)
        else:
            rest.append(word)
    if not patterned:
        if not rest:
            raise fatal(repo.proc, "no pattern given")
        options += ["-e", rest.pop(0)]
    if numbered:
        options.append("-n")
    paths = [repo.prefix + p.rstrip("/") if p != "." else repo.prefix.rstrip("/") for p in rest]
    files = [p for p in index if p.startswith(repo.prefix) and (not paths or difference.matches(p, paths))
             and repo.fs.is_file(f"{repo.top.rstrip('/')}/{p}")]
    if not files:
        return 1
    below = [p[len(repo.prefix):] for p in files]
    return repo.proc.run(["grep", "-H", "-I", *options, "--", *below],
                         cwd=f"{repo.top.rstrip('/')}/{repo.prefix}".rstrip("/") or "/")
