"""What the words of a command are for, as far as can be told without running it: for `mirage policy check`.

A use is an effect, or one of: replace, append, touch (create or more, as the file is there or not), copy, move (a
group of sources and a destination), unknown.
"""
from __future__ import annotations

import posixpath
import re

from mirage.policy.operands import operands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Use = tuple[str, str]

OPERANDS: dict[str, str] = {
    "rm": "destroy", "rmdir": "destroy", "unlink": "destroy", "shred": "destroy", "truncate": "write",
    "mkdir": "create",
    "mkfifo": "create", "mktemp": "create", "touch": "touch", "tee": "replace",
    "chmod": "setattr", "chown": "setattr", "chgrp": "setattr", "ls": "list", "du": "list", "tree": "list",
    "find": "list", "stat": "stat", "test": "stat", "[": "stat", "cd": "stat", "pushd": "stat", "realpath": "stat",
    "readlink": "stat", "gzip": "destroy", "gunzip": "destroy", "bzip2": "destroy", "bunzip2": "destroy",
    "xz": "destroy", "unxz": "destroy", "zstd": "destroy",
}
"""A command that is in none of these tables reads its operands."""

WORDS = frozenset((
    "echo", "printf", "true", "false", ":", "exit", "return", "seq", "sleep", "export", "declare", "typeset", "local",
    "set", "shopt", "unset", "read", "mapfile", "readarray", "basename", "dirname", "date", "expr", "yes", "which",
    "type", "kill", "wait", "trap", "shift", "let", "umask", "alias", "unalias", "break", "continue", "exec", "eval",
    "hash", "history", "whoami", "id", "uname", "hostname", "env", "printenv", "pwd", "jobs", "getopts", "factor",
    "numfmt", "tr", "dd", "xargs"))
"""Operands are not paths (or are looked at on their own)."""

GROUPS = {"cp": "copy", "mv": "move", "ln": "link", "install": "copy"}
MODE_FIRST = frozenset(("chmod", "chown", "chgrp"))
OUTPUTS = {"sort": ("-o", "--output"), "shuf": ("-o", "--output"), "curl": ("-o", "--output"), "wget": ("-O", None),
           "tree": ("-o", None), "gawk": ("-o", None), "unzip": ("-d", None)}
COMPRESSORS = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}


def uses(words: Sequence[str], cwd: str) -> list[Use]:
    """(use, absolute path) for one command; ("unknown", why) where only running can tell."""
    name = posixpath.basename(words[0])
    if name in WORDS:
        return _dd(words, cwd) if name == "dd" else []
    if name in ("tar", "sed", "awk", "gawk", "mawk"):
        return _tar(words, cwd) if name == "tar" else _sed(words, cwd) if name == "sed" else _awk(words, cwd)
    paths = _paths(words, cwd)
    options = [w for w in words[1:] if w.startswith("-")]
    if name in GROUPS:
        return [(GROUPS[name], path) for path in paths]
    found: list[Use] = []
    if name in MODE_FIRST and not any(w.startswith("--reference") for w in options):
        paths = paths[1:]
    use = OPERANDS.get(name, "read")
    if name == "tee" and ({"-a", "--append"} & set(options)):
        use = "append"
    if name == "find":
        found.extend(_find(words, cwd))
    if name in COMPRESSORS or name.startswith("un"):
        if {"-c", "--stdout", "-t", "-l", "-dc", "-cd", "-k", "--keep"} & set(options):
            use = "read"
        if name in COMPRESSORS and use == "destroy" and not {"-d", "--decompress"} & set(options):
            found.extend(("replace", path + COMPRESSORS[name]) for path in paths)
    if name in ("uniq", "split", "csplit") and len(paths) > 1:
        found.append(("replace", paths.pop(1)))
    output = _output(name, words)
    if output is not None:
        paths = [path for path in paths if path != _absolute(output, cwd)]
        found.append(("replace", _absolute(output, cwd)))
    return [(use, path) for path in paths] + found


def _paths(words: Sequence[str], cwd: str) -> list[str]:
    return [o.path for o in operands(words, lambda word: _absolute(word, cwd), lambda path: False, cwd)]


def _absolute(word: str, cwd: str) -> str:
    return posixpath.normpath(posixpath.join(cwd, word))


def _output(name: str, words: Sequence[str]) -> str | None:
    short, long = OUTPUTS.get(name, (None, None))
    if short is None:
        return None
    for i, word in enumerate(words[1:], 1):
        if word in (short, long):
            return words[i + 1] if i + 1 < len(words) else None
        if word.startswith(short) and not word.startswith("--"):
            return word[len(short):]
        if long is not None and word.startswith(long + "="):
            return word[len(long) + 1:]
    return None


def _find(words: Sequence[str], cwd: str) -> list[Use]:
    found: list[Use] = []
    if "-delete" in words:
        found.extend(("destroy", path) for path in _paths(words, cwd))
    for option, word in zip(words, words[1:], strict=False):
        if option in ("-fprint", "-fprintf", "-fls", "-fprint0"):
            found.append(("replace", _absolute(word, cwd)))
    return found


def _dd(words: Sequence[str], cwd: str) -> list[Use]:
    use = {"if": "read", "of": "replace"}
    return [(use[key], _absolute(path, cwd)) for key, _, path in (w.partition("=") for w in words[1:]) if key in use]


def _tar(words: Sequence[str], cwd: str) -> list[Use]:
    letters, archive, members, at, i = "", None, [], cwd, 1
    while i < len(words):
        word = words[i]
        i += 1
        if word.startswith("--file="):
            archive = word[7:]
        elif word.startswith("--"):
            letters += {"--create": "c", "--extract": "x", "--list": "t", "--append": "r", "--get": "x"}.get(word, "")
        elif word.startswith("-") and len(word) > 1 or i == 2:
            group = word.lstrip("-")
            letters += group
            for letter in group:
                if letter in "fC" and i < len(words):
                    if letter == "f":
                        archive = words[i]
                    else:
                        at = _absolute(words[i], at)
                    i += 1
        else:
            members.append(_absolute(word, at))
    found: list[Use] = []
    if archive not in (None, "-"):
        use = "replace" if "c" in letters else "write" if set("ru") & set(letters) else "read"
        found.append((use, _absolute(archive or "", cwd)))
    if "x" in letters:
        found.append(("create", at))
        found.append(("unknown", "which files the archive replaces depends on its content"))
    elif "t" not in letters:
        found.extend(("read", path) for path in members)
    return found


def _sed(words: Sequence[str], cwd: str) -> list[Use]:
    args, scripts, paths, in_place, i = words[1:], [], [], False, 0
    while i < len(args):
        word = args[i]
        i += 1
        if word in ("-e", "--expression", "-f", "--file") and i < len(args):
            if word in ("-e", "--expression"):
                scripts.append(args[i])
            else:
                scripts.append("")
                paths.append(("read", args[i]))
            i += 1
        elif word.startswith(("-i", "--in-place")):
            in_place = True
        elif word.startswith("-") and len(word) > 1:
            in_place = in_place or not word.startswith("--") and "i" in word
        elif not scripts:
            scripts.append(word)
        else:
            paths.append(("replace" if in_place else "read", word))
    found = [(use, _absolute(path, cwd)) for use, path in paths]
    for script in scripts:
        for use, file in re.findall(r"(?:^|[;{}/|,!gpIM0-9$\s])([wrWR]) +([^\n;}]+)", script):
            found.append(("replace" if use in "wW" else "read", _absolute(file.strip(), cwd)))
        if re.search(r"(?:^|[;{}0-9$\s])e(?: |$)|/[gp0-9]*e[gp0-9]*(?:$|[;}\s])", script):
            found.append(("unknown", "the sed script may run a command (e)"))
    return found


def _awk(words: Sequence[str], cwd: str) -> list[Use]:
    found = [("read", path) for path in _paths(words, cwd) if "=" not in posixpath.basename(path)]
    for word in words[1:]:
        if re.search(r"\bsystem\s*\(|\|\s*&?\s*getline|\|&?\s*\"", word):
            found.append(("unknown", "the awk program may run a command"))
        for use, file in re.findall(r"(>>?|<)\s*\"([^\"]*)\"", word):
            found.append(({"<": "read", ">": "replace", ">>": "append"}[use], _absolute(file, cwd)))
    return found
