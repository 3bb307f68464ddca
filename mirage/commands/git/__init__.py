"""git: read a repository: log, show, diff, status, ls-files, blame, grep and their plumbing (needs dulwich)."""
from __future__ import annotations

import re
from functools import partial

from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.commands.git.difference import Change
    from mirage.commands.git.history import Log
    from mirage.commands.git.store import Repository
    from mirage.process.process import Process

USAGE = """usage: git [-v | --version] [-h | --help] [-C <path>] [--no-pager] [--git-dir=<path>] <command> [<args>]

These Git commands read a repository in this terminal:

   blame      Show what revision and author last modified each line of a file
   branch     List branches
   cat-file   Provide contents or details of repository objects
   config     Get options of the repository
   describe   Give an object a human readable name based on tags
   diff       Show changes between commits, commit and working tree, etc
   grep       Print lines matching a pattern
   log        Show commit logs
   ls-files   Show information about files in the index and the working tree
   ls-tree    List the contents of a tree object
   merge-base Find as good common ancestors as possible
   remote     List remotes
   rev-list   List commit objects
   rev-parse  Pick out and massage parameters
   shortlog   Summarize 'git log' output
   show       Show various types of objects
   show-ref   List references
   status     Show the working tree status
   tag        List tags

Commands that write (add, commit, checkout, push, ...) are not available.
"""
WRITING = frozenset(["add", "am", "apply", "bisect", "checkout", "cherry-pick", "clean", "clone", "commit", "fetch",
                     "gc", "init", "merge", "mv", "pull", "push", "rebase", "reset", "restore", "revert", "rm",
                     "stash", "switch", "submodule", "worktree", "update-index", "update-ref", "write-tree",
                     "read-tree", "commit-tree", "hash-object", "filter-branch", "notes", "replace", "repack", "prune",
                     "bundle", "archive", "format-patch", "mergetool", "difftool", "sparse-checkout", "maintenance"])


def main(proc: Process) -> int:
    args, start, folder, at = proc.argv[1:], proc.cwd, None, 0
    while at < len(args) and args[at].startswith("-"):
        word = args[at]
        at += 1
        if word in ("--help", "-h", "--version", "-v"):
            proc.stdout.write(USAGE.encode() if word in ("--help", "-h") else b"git version 2.47.3 (Mirage)\n")
            return 0
        if word == "-C" and at < len(args):
            start = proc.fs.abspath(args[at]) if args[at].startswith("/") else f"{start.rstrip('/')}/{args[at]}"
            at += 1
        elif word == "-c" and at < len(args):
            at += 1
        elif word.startswith("--git-dir="):
            folder = word[10:]
        elif word not in ("--no-pager", "-P", "-p", "--paginate", "--bare", "--no-optional-locks",
                          "--literal-pathspecs"):
            proc.write_error(f"unknown option: {word}\n{USAGE}")
            return 129
    if at >= len(args):
        proc.stdout.write(USAGE.encode())
        return 1
    command, words = args[at], args[at + 1:]
    if command in ("help", "version"):
        proc.stdout.write(USAGE.encode() if command == "help" else b"git version 2.47.3 (Mirage)\n")
        return 0
    if command in WRITING or command == "stash" and words[:1] != ["list"]:
        proc.write_error(f"git: '{command}' is not available in this terminal: repositories can only be read here\n")
        return 1
    function = COMMANDS.get(command)
    if function is None:
        proc.write_error(f"git: '{command}' is not a git command. See 'git --help'.\n")
        return 1
    from importlib.util import find_spec
    if find_spec("dulwich") is None:
        proc.message("not available: the owner of this terminal has not installed the extra mirage-terminal[git]")
        return 1
    return _run(proc, function, words, start, folder)


def _run(proc: Process, name: str, words: list[str], start: str, folder: str | None) -> int:
    from mirage.commands.git.store import Repository, fatal
    if not proc.fs.is_dir(start):
        raise fatal(proc, f"cannot change to '{start}': No such file or directory")
    proc.cwd = proc.fs.abspath(start)
    repo = Repository(proc, start, folder)
    try:
        status: int = globals()[f"_{name}"](repo, words)
    except KeyError as e:
        raise fatal(proc, f"Not a valid object name {e.args[0]}") from None
    return status


COMMANDS = {"log": "log", "show": "show", "diff": "diff", "status": "status", "ls-files": "ls_files", "blame": "blame",
            "annotate": "blame", "grep": "grep", "branch": "branch", "tag": "tag", "rev-parse": "rev_parse",
            "cat-file": "cat_file", "ls-tree": "ls_tree", "rev-list": "rev_list", "show-ref": "show_ref",
            "remote": "remote", "config": "config", "describe": "describe", "shortlog": "shortlog",
            "merge-base": "merge_base", "symbolic-ref": "symbolic_ref", "whatchanged": "log", "reflog": "reflog",
            "for-each-ref": "for_each_ref", "diff-tree": "diff", "name-rev": "describe"}


def split(repo: Repository, words: list[str], options: list[str] | None = None) -> tuple[list[str], list[str]]:
    """Words without options as (revisions, paths below the top); `--` ends the revisions."""
    from mirage.commands.git.store import unknown_revision
    revisions: list[str] = []
    paths: list[str] = []
    behind = False
    for word in words:
        if word == "--":
            behind = True
        elif behind or paths:
            paths.append(word)
        elif _is_revision(repo, word):
            revisions.append(word)
        elif repo.fs.exists(f"{repo.top.rstrip('/')}/{repo.prefix}{word}", False) or any(c in word for c in "*?[") \
                or "--" in words:
            paths.append(word)
        else:
            raise unknown_revision(repo.proc, word)
    return revisions, [normal(repo, path) for path in paths]


def normal(repo: Repository, path: str) -> str:
    """A path as the index has it."""
    if path.startswith("/"):
        return path[len(repo.top.rstrip("/")) + 1:]
    parts: list[str] = []
    for part in (repo.prefix + path).split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/".join(parts)


def _is_revision(repo: Repository, word: str) -> bool:
    for part in re.split(r"\.{2,3}",
                         word) if ".." in word and "/.." not in word and not word.startswith("..") else [word]:
        try:
            if part:
                repo.resolve(part.removeprefix("^"))
        except (KeyError, ValueError):
            return False
    return True


def _history(repo: Repository, words: list[str]) -> tuple[Log, list[str]]:
    """A Log with its options taken out of the words."""
    from mirage.commands.git.history import Log
    log = Log(repo, repo.proc.now())
    rest: list[str] = []
    at = 0

    def value() -> str:
        nonlocal at
        at += 1
        return words[at - 1] if at <= len(words) else ""
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            rest += words[at - 1:]
            break
        if word.startswith("-") and len(word) > 1:
            if not log.take(word, value):
                from mirage.commands.git.store import fatal
                raise fatal(repo.proc, f"unrecognized argument: {word}")
        else:
            rest.append(word)
    return log, rest


def _log(repo: Repository, words: list[str]) -> int:
    log, rest = _history(repo, words)
    revisions, paths = split(repo, rest)
    for number, commit in enumerate(log.commits(revisions, paths)):
        log.write(commit, number == 0, "", paths)
        repo.proc.check()
    return 0


def _show(repo: Repository, words: list[str]) -> int:
    from mirage.commands.git.history import date_text
    log, rest = _history(repo, words)
    revisions, paths = split(repo, rest)
    for number, text in enumerate(revisions or ["HEAD"]):
        sha = repo.resolve(text)
        kind = repo.kind(sha)
        if kind == "blob":
            repo.proc.stdout.write(repo.blob(sha))
        elif kind == "tree":
            names = "".join(f"{name}{'/' if mode == 0o040000 else ''}\n" for name, mode, _ in repo.tree(sha))
            repo.proc.stdout.write(f"tree {text}\n\n{names}".encode("utf-8", "surrogateescape"))
        else:
            if kind == "tag":
                from mirage.commands.git.store import Commit
                tag = Commit(sha, repo.raw(sha)[1])
                name, mail, seconds, zone = tag.person("tagger")
                repo.proc.stdout.write((f"tag {tag.fields['tag'][0]}\nTagger: {name} <{mail}>\nDate:   "
                                        f"{date_text(seconds, zone, log.date, log.now)}\n\n{tag.message}\n").encode())
            log.write(repo.commit(sha), number == 0, "patch", paths)
    return 0


def _diff(repo: Repository, words: list[str]) -> int:
    from mirage.commands.git import difference, worktree
    from mirage.commands.git.store import fatal
    form, rest, cached, quiet, code = difference.Form(), [], False, False, False
    for at, word in enumerate(words):
        if word == "--":
            rest += words[at:]
            break
        if word in ("--cached", "--staged"):
            cached = True
        elif word in ("--quiet", "--exit-code"):
            code = True
            quiet = quiet or word == "--quiet"
        elif word.startswith("-") and len(word) > 1 and word != "-r":
            if not form.take(word):
                raise fatal(repo.proc, f"invalid option: {word}", 129)
        elif word != "-r":
            rest.append(word)
    revisions, paths = split(repo, rest)
    if len(revisions) == 1 and ".." in revisions[0]:
        revisions = [part or "HEAD" for part in re.split(r"\.{2,3}", revisions[0])]
    if cached:
        changes = worktree.staged(repo, repo.index(), paths, revisions[0] if revisions else "")
    elif len(revisions) >= 2:
        sides = [repo.resolve(r) for r in revisions[:2]]
        if all(repo.kind(s) == "blob" for s in sides):
            a, b = (repo.blob(s) for s in sides)
            names = [r.partition(":")[2] or r for r in revisions[:2]]
            change = difference.Change(names[1], 0o100644, 0o100644, lambda: a, lambda: b, sides[0], sides[1])
            changes = [change] if a != b else []
        else:
            old, new = (repo.files(repo.commit(s).tree if repo.kind(s) != "tree" else s) for s in sides)
            changes = difference.trees(repo, old, new, paths)
    elif revisions:
        changes = _against(repo, revisions[0], paths)
    else:
        changes = worktree.unstaged(repo, repo.index(), paths)
    if not quiet:
        form.show(repo, changes, repo.proc.stdout.write, "patch")
    return 1 if code and changes else 0


def _against(repo: Repository, revision: str, paths: list[str]) -> list[Change]:
    """The working tree against a commit."""
    from mirage.commands.git import difference, worktree
    old = repo.files(repo.commit(repo.resolve(revision)).tree)
    out: list[Change] = []
    for path in sorted(old.keys() | repo.index().keys()):
        if paths and not difference.matches(path, paths):
            continue
        found = worktree.work_data(repo, path)
        mode, sha = old.get(path, (0, ""))
        new_mode, data = found or (0, b"")
        new_sha = difference.blob_sha(data) if found else ""
        if (mode, sha) != (new_mode, new_sha):
            out.append(difference.Change(path, mode, new_mode, partial(repo.blob, sha), partial(bytes, data), sha,
                                         new_sha))
    return difference.renames(out)


def _status(repo: Repository, words: list[str]) -> int:
    from mirage.commands.git import worktree
    options = [w for w in words if w.startswith("-") and w != "--"]
    return worktree.status(repo, options, [normal(repo, w) for w in words if not w.startswith("-")])


def _ls_files(repo: Repository, words: list[str]) -> int:
    from mirage.commands.git import worktree
    options = [w for w in words if w.startswith("-") and w != "--"]
    return worktree.ls_files(repo, options, [normal(repo, w) for w in words if not w.startswith("-")])


def _blame(repo: Repository, words: list[str]) -> int:
    from mirage.commands.git import worktree
    options, rest, at = [], [], 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("-") and word != "--":
            options.append(word)
            if word == "-L" and at < len(words):
                options.append(words[at])
                at += 1
        else:
            rest.append(word)
    revisions, paths = split(repo, rest)
    return worktree.blame(repo, options, revisions, paths, repo.proc.now())


def _grep(repo: Repository, words: list[str]) -> int:
    from mirage.commands.git import worktree
    return worktree.grep(repo, words)


def _write(repo: Repository, text: str) -> int:
    repo.proc.stdout.write(text.encode("utf-8", "surrogateescape"))
    return 0


def _refuse(repo: Repository, what: str) -> Exit:
    repo.proc.write_error(f"git: {what} is not available in this terminal: repositories can only be read here\n")
    return Exit(1)


def _branch(repo: Repository, words: list[str]) -> int:
    shown = set()
    for word in words:
        if word in ("-a", "--all", "-r", "--remotes", "-v", "-vv", "--list", "-l", "--show-current", "--no-color"):
            shown.add(word.lstrip("-")[0] if word != "--show-current" else "current")
        else:
            raise _refuse(repo, f"'git branch {word}'")
    branch, sha = repo.head()
    if "current" in shown:
        return _write(repo, f"{branch}\n" if branch else "")
    rows = []
    if not branch and "r" not in shown:
        rows.append((f"* (HEAD detached at {sha[:7]})", sha))
    for name, target in repo.refs().items():
        if name.startswith("refs/heads/") and "r" not in shown:
            rows.append((f"{'*' if name[11:] == branch else ' '} {name[11:]}", target))
    for name, target in repo.refs().items():
        if name.startswith("refs/remotes/") and shown & {"a", "r"}:
            rows.append((f"  {'remotes/' if 'a' in shown else ''}{name[13:]}", target))
    width = max((len(label) for label, _ in rows), default=0)
    return _write(repo, "".join(f"{label:<{width}} {target[:7]} {repo.commit(target).subject}\n" if "v" in shown else
                                f"{label}\n" for label, target in rows))


def _tag(repo: Repository, words: list[str]) -> int:
    from mirage.text import pattern
    globs = [w for w in words if not w.startswith("-")]
    options = [w for w in words if w.startswith("-")]
    if globs and not options or any(o not in ("-l", "--list", "-n") for o in options):
        raise _refuse(repo, "making or removing tags")
    names = [n[10:] for n in repo.refs() if n.startswith("refs/tags/")]
    matchers = [pattern.compile(g, extglob=False) for g in globs]
    return _write(repo, "".join(f"{n}\n" for n in names if not matchers or any(m.matches(n) for m in matchers)))


def _rev_parse(repo: Repository, words: list[str]) -> int:
    from mirage.commands.git.store import fatal, unknown_revision
    short = abbrev = verify = quiet = False
    for word in words:
        if word == "--short" or word.startswith("--short="):
            short = True
        elif word == "--abbrev-ref":
            abbrev = True
        elif word == "--verify":
            verify = True
        elif word in ("-q", "--quiet"):
            quiet = True
        elif word == "--show-toplevel":
            _write(repo, f"{repo.top}\n")
        elif word in ("--git-dir", "--absolute-git-dir", "--git-common-dir"):
            same = repo.fs.realpath(repo.proc.cwd, strict=False) == repo.top
            _write(repo, ".git\n" if same and word != "--absolute-git-dir" else f"{repo.folder}\n")
        elif word == "--is-inside-work-tree":
            _write(repo, "true\n" if repo.top else "false\n")
        elif word == "--is-bare-repository":
            _write(repo, "false\n" if repo.top else "true\n")
        elif word == "--show-prefix":
            _write(repo, f"{repo.prefix}\n")
        elif word == "--show-cdup":
            _write(repo, "../" * repo.prefix.count("/") + "\n")
        elif word.startswith("--"):
            _write(repo, f"{word}\n")
        else:
            try:
                sha = repo.resolve(word)
            except KeyError:
                if quiet:
                    raise Exit(1) from None
                if verify:
                    raise fatal(repo.proc, "Needed a single revision") from None
                _write(repo, f"{word}\n")
                raise unknown_revision(repo.proc, word) from None
            branch = repo.head()[0] or "HEAD"
            _write(repo, (branch if word in ("HEAD", "@") else word) + "\n" if abbrev else
                   f"{sha[:7] if short else sha}\n")
    return 0


def _cat_file(repo: Repository, words: list[str]) -> int:
    if len(words) != 2:
        repo.proc.write_error("usage: git cat-file (-t | -s | -e | -p | <type>) <object>\n")
        return 129
    from mirage.commands.git.store import fatal
    what, name = words
    try:
        sha = repo.resolve(name)
        kind, data = repo.kind(sha), repo.raw(sha)[1]
    except KeyError:
        if what == "-e":
            return 1
        raise fatal(repo.proc, f"Not a valid object name {name}") from None
    if what == "-e":
        return 0
    if what == "-t":
        return _write(repo, f"{kind}\n")
    if what == "-s":
        return _write(repo, f"{len(data)}\n")
    if what not in ("-p", kind):
        raise fatal(repo.proc, f"git cat-file {name}: bad file")
    if kind == "tree" and what == "-p":
        return _ls_tree(repo, [sha])
    repo.proc.stdout.write(data)
    return 0


def _ls_tree(repo: Repository, words: list[str]) -> int:
    options = {w for w in words if w.startswith("-")}
    names = [w for w in words if not w.startswith("-")]
    if not names:
        repo.proc.write_error("usage: git ls-tree [<options>] <tree-ish> [<path>...]\n")
        return 129
    sha = repo.resolve(names[0])
    tree = sha if repo.kind(sha) == "tree" else repo.commit(sha).tree
    stack = [(entry, "") for entry in reversed(repo.tree(tree))]
    paths = [p.rstrip("/") for p in names[1:]]
    while stack:
        (name, mode, inner), prefix = stack.pop()
        path = prefix + name
        folder = mode == 0o040000
        above = folder and any(p.startswith(path + "/") for p in paths)
        slash = folder and f"{path}/" in names[1:]
        if folder and ("-r" in options or above or slash) and (not paths or above or slash or any(
                path == p or path.startswith(p + "/") for p in paths)):
            stack += [(entry, path + "/") for entry in reversed(repo.tree(inner))]
            if "-t" not in options:
                continue
        if paths and not any(path == p or path.startswith(p + "/") for p in paths):
            continue
        kind = "tree" if folder else "commit" if mode == 0o160000 else "blob"
        size = f" {len(repo.blob(inner)) if kind == 'blob' else '-':>7}" if "-l" in options else ""
        _write(repo, f"{path}\n" if options & {"--name-only", "--name-status"} else
               f"{mode:06o} {kind} {inner}{size}\t{path}\n")
    return 0


def _rev_list(repo: Repository, words: list[str]) -> int:
    counted = "--count" in words
    log, rest = _history(repo, [w for w in words if w != "--count"])
    revisions, paths = split(repo, rest)
    found = 0
    for commit in log.commits(revisions, paths):
        found += 1
        if not counted:
            _write(repo, f"{commit.sha}\n")
    return _write(repo, f"{found}\n") if counted else 0


def _show_ref(repo: Repository, words: list[str]) -> int:
    kinds = [f"refs/{w[2:]}/" for w in words if w in ("--heads", "--tags", "--branches")]
    kinds = ["refs/heads/" if k == "refs/branches/" else k for k in kinds]
    names = [w for w in words if not w.startswith("-")]
    rows = [(name, sha) for name, sha in repo.refs().items() if (not kinds or name.startswith(tuple(kinds)))
            and (not names or any(name == n or name.endswith("/" + n) for n in names))]
    _write(repo, "".join(f"{sha} {name}\n" for name, sha in rows))
    return 0 if rows else 1


def _for_each_ref(repo: Repository, words: list[str]) -> int:
    form = next((w[9:] for w in words if w.startswith("--format=")), "%(objectname) %(objecttype)\t%(refname)")
    prefixes = tuple(w for w in words if not w.startswith("-"))
    for name, sha in repo.refs().items():
        if prefixes and not name.startswith(prefixes):
            continue
        short = re.sub(r"\Arefs/(?:heads|tags|remotes)/", "", name)
        values = {"objectname": sha, "objectname:short": sha[:7], "objecttype": repo.kind(sha), "refname": name,
                  "refname:short": short}
        _write(repo, re.sub(r"%\(([a-z:]+)\)", partial(_field, values), form) + "\n")
    return 0


def _field(values: dict[str, str], match: re.Match[str]) -> str:
    return values.get(match[1], "")


def _remote(repo: Repository, words: list[str]) -> int:
    remotes = {key[7:-4]: value for key, value in repo.config() if key.startswith("remote.") and key.endswith(".url")}
    if words[:1] == ["get-url"] and len(words) == 2:
        if words[1] not in remotes:
            repo.proc.write_error(f"error: No such remote '{words[1]}'\n")
            return 2
        return _write(repo, f"{remotes[words[1]]}\n")
    if words not in ([], ["-v"], ["show"]):
        raise _refuse(repo, f"'git remote {words[0]}'")
    return _write(repo, "".join(f"{name}\t{url} (fetch)\n{name}\t{url} (push)\n" if words == ["-v"] else f"{name}\n"
                                for name, url in sorted(remotes.items())))


def _config(repo: Repository, words: list[str]) -> int:
    words = [w for w in words if w not in ("--local", "--global", "get")]
    if words[:1] in (["-l"], ["--list"], ["list"]):
        return _write(repo, "".join(f"{key}={value}\n" for key, value in repo.config()))
    if words[:1] in (["--get"], ["--get-all"]):
        words = words[1:]
    if len(words) != 1:
        raise _refuse(repo, "changing the configuration")
    found = [value for key, value in repo.config() if key.lower() == words[0].lower()]
    return _write(repo, f"{found[-1]}\n") if found else 1


def _describe(repo: Repository, words: list[str]) -> int:
    from mirage.commands.git.store import fatal
    names = [w for w in words if not w.startswith("-")]
    start = repo.commit(repo.resolve(names[0] if names else "HEAD")).sha
    tags: dict[str, str] = {}
    for name, sha in repo.refs().items():
        if name.startswith("refs/tags/") and ("--tags" in words or repo.kind(sha) == "tag"):
            tags[repo.commit(sha).sha] = name[10:]
    level, seen, count = [start], {start}, 0
    while level:
        for sha in level:
            if sha in tags:
                return _write(repo, f"{tags[sha]}\n" if not count and "--long" not in words else
                              f"{tags[sha]}-{count}-g{start[:7]}\n")
        count += len(level)
        level = list(dict.fromkeys(p for sha in level for p in repo.commit(sha).parents if p not in seen))
        seen.update(level)
    if "--always" in words:
        return _write(repo, f"{start[:7]}\n")
    raise fatal(repo.proc, "No names found, cannot describe anything.")


def _shortlog(repo: Repository, words: list[str]) -> int:
    flags = "".join(w[1:] for w in words if w.startswith("-") and not w.startswith("--"))
    log, rest = _history(repo, [w for w in words if not w.startswith("-") or w.startswith("--")])
    revisions, paths = split(repo, rest)
    people: dict[str, list[str]] = {}
    for commit in log.commits(revisions, paths):
        name, mail, _, _ = commit.person("author")
        people.setdefault(f"{name} <{mail}>" if "e" in flags else name, []).insert(0, commit.subject)
    rows = sorted(people.items(), key=lambda pair: (-len(pair[1]), pair[0]) if "n" in flags else (0, pair[0]))
    if "s" in flags:
        return _write(repo, "".join(f"{len(subjects):6d}\t{name}\n" for name, subjects in rows))
    return _write(repo, "".join(f"{name} ({len(subjects)}):\n" + "".join(f"      {s}\n" for s in subjects) + "\n"
                                for name, subjects in rows))


def _merge_base(repo: Repository, words: list[str]) -> int:
    from mirage.commands.git.history import Log
    log = Log(repo, repo.proc.now())
    names = [w for w in words if not w.startswith("-")]
    if len(names) < 2:
        repo.proc.write_error("usage: git merge-base [-a | --all] <commit> <commit>...\n")
        return 129
    one, two = (log.sha(n) for n in names[:2])
    first, second = log._ancestors([one]), log._ancestors([two])
    if "--is-ancestor" in words:
        return 0 if one in second else 1
    common = first & second
    best = [sha for sha in common if not any(sha in repo.commit(other).parents for other in common)]
    _write(repo, "".join(f"{sha}\n" for sha in (best if "--all" in words or "-a" in words else best[:1])))
    return 0 if best else 1


def _symbolic_ref(repo: Repository, words: list[str]) -> int:
    names = [w for w in words if not w.startswith("-")]
    if names != ["HEAD"]:
        raise _refuse(repo, "changing references")
    branch = repo.head()[0]
    if not branch:
        repo.proc.write_error("fatal: ref HEAD is not a symbolic ref\n")
        return 128
    return _write(repo, f"{branch}\n" if "--short" in words else f"refs/heads/{branch}\n")


def _reflog(repo: Repository, words: list[str]) -> int:
    path = f"{repo.folder}/logs/HEAD"
    lines = repo.fs.read(path).decode("utf-8", "replace").splitlines() if repo.fs.is_file(path) else []
    for number, line in enumerate(reversed(lines)):
        head, _, message = line.partition("\t")
        _write(repo, f"{head.split(' ')[1][:7]} HEAD@{{{number}}}: {message}\n")
    return 0
