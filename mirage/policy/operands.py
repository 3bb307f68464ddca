"""Which words of a command line are paths it works on, and whether it descends into them.

Only as much as rules need: `operand: {mount_root: true}` and `{recursive: true}`. For a command not listed, every
word that is not an option counts as a path.
"""
from __future__ import annotations

import posixpath

from mirage.commands import ALIASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ALWAYS_RECURSIVE = frozenset(("find", "rg", "tree", "du", "fd"))
PATTERN_FIRST = frozenset(("grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk", "jq", "fd", "zgrep"))
PATTERN_OPTIONS = {"grep": "ef", "egrep": "ef", "fgrep": "ef", "rg": "ef", "sed": "ef", "awk": "f", "gawk": "f",
                   "jq": "f", "zgrep": "ef"}
VALUE_OPTIONS = {"grep": "ABCDdefm", "egrep": "ABCDdefm", "fgrep": "ABCDdefm", "rg": "ABCEMTefgjmrt",
                 "tree": "LPIoH", "ls": "ITw", "du": "dBtX", "sed": "efl", "awk": "Fvf", "gawk": "Fvf",
                 "head": "nc", "tail": "nc", "jq": "fL", "cut": "bcdf", "sort": "kotST"}
RECURSIVE_LETTERS = {"grep": "rR", "egrep": "rR", "fgrep": "rR", "ls": "R", "cp": "rRa", "rm": "rR", "chmod": "R",
                     "chown": "R", "chgrp": "R", "zip": "r", "diff": "r", "zgrep": "rR"}
RECURSIVE_LONG = ("--recursive", "--dereference-recursive", "--archive")
PATTERN_LONG = ("--regexp", "--file", "--expression", "--from-file")
VALUE_LONG = (*PATTERN_LONG, "--include", "--exclude", "--exclude-dir", "--exclude-from", "--glob", "--directories",
              "--devices", "--context", "--after-context", "--before-context", "--max-count", "--max-depth", "--label")
SAME = {".": "source", "source": ".", "typeset": "declare", "declare": "typeset", "readarray": "mapfile",
        "mapfile": "readarray"}
CWD_WHEN_NONE = frozenset(("find", "rg", "tree", "du", "ls", "fd"))
WRAPPERS = {"env": 0, "timeout": 1, "nice": 0, "nohup": 0, "command": 0, "builtin": 0, "time": 0, "stdbuf": 0}


class Operand:
    """One path of a command line, absolute and normalized."""

    __slots__ = ("mount_root", "path", "recursive")

    def __init__(self, path: str, recursive: bool, mount_root: bool) -> None:
        self.path = path
        self.recursive = recursive
        self.mount_root = mount_root

    def __repr__(self) -> str:
        return f"Operand({self.path!r}, recursive={self.recursive}, mount_root={self.mount_root})"


def command_names(argv: Sequence[str]) -> list[str]:
    """The names that rules see: the word itself and its last component."""
    name = argv[0]
    return [name] if "/" not in name else [name, posixpath.basename(name)]


def all_names(name: str) -> list[str]:
    """Also the name of the same tool or builtin that a rule may use instead: egrep is grep, `.` is source."""
    found = command_names((name,))
    module = SAME.get(found[-1]) or ALIASES.get(found[-1], "_")
    return found if module.startswith("_") else [*found, module]


def operands(argv: Sequence[str], resolve: Callable[[str], str], is_mount_root: Callable[[str], bool],
             cwd: str) -> list[Operand]:
    """The operands of one command. `resolve` makes a word absolute, following symbolic links."""
    name = posixpath.basename(argv[0])
    words, recursive = _words(name, argv[1:])
    found = [resolve(word) for word in words]
    if not found and (name in CWD_WHEN_NONE or recursive):
        found = [resolve(cwd)]
    return [Operand(path, recursive, is_mount_root(path)) for path in found]


def _words(name: str, args: Sequence[str]) -> tuple[list[str], bool]:
    recursive = name in ALWAYS_RECURSIVE
    if name == "find":
        return _find_starts(args), True
    values, letters = VALUE_OPTIONS.get(name, ""), RECURSIVE_LETTERS.get(name, "")
    pattern_given = name not in PATTERN_FIRST
    words: list[str] = []
    i = 0
    while i < len(args):
        arg = args[i]
        i += 1
        if arg == "--":
            words.extend(args[i:])
            break
        if arg.startswith("--"):
            option, equals, value = arg.partition("=")
            recursive = recursive or _one_of(option, RECURSIVE_LONG)
            pattern_given = pattern_given or _one_of(option, PATTERN_LONG) or name == "rg" and option == "--files"
            if not equals and _one_of(option, VALUE_LONG):
                value = args[i] if i < len(args) else ""
                i += 1
            recursive = recursive or _one_of(option, ("--directories",)) and value == "recurse"
            continue
        if len(arg) > 1 and arg[0] == "-":
            for j, letter in enumerate(arg[1:], 1):
                recursive = recursive or letter in letters
                pattern_given = pattern_given or letter in PATTERN_OPTIONS.get(name, "")
                if letter in values:
                    value = arg[j + 1:] or "".join(args[i:i + 1])
                    recursive = recursive or letter == "d" and value == "recurse"
                    i += j == len(arg) - 1
                    break
            continue
        words.append(arg)
    if not pattern_given and words:
        words = words[1:]
    return words, recursive


def _one_of(option: str, names: Sequence[str]) -> bool:
    """GNU's long options may be shortened."""
    return len(option) > 3 and any(name.startswith(option) for name in names)


def _find_starts(args: Sequence[str]) -> list[str]:
    starts: list[str] = []
    for arg in args:
        if arg in ("-H", "-L", "-P") or arg.startswith("-O") and not starts:
            continue
        if arg.startswith("-") or arg in ("(", ")", "!", ","):
            break
        starts.append(arg)
    return starts
