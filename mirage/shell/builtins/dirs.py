"""The directory stack: pushd, popd, dirs. `sh.dir_stack` holds what lies below the current directory."""
from __future__ import annotations

from mirage.shell.builtins._common import USAGE_STATUS, encode, os_error, usage
from mirage.shell.builtins.cd import change_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell


def _short(sh: Shell, path: str) -> str:
    """With `~` for the home directory."""
    home = sh.get("HOME")
    if home and home != "/" and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home):]
    return path


def _stack(sh: Shell) -> list[str]:
    return [sh.proc.cwd, *sh.dir_stack]


def _position(sh: Shell, word: str, size: int) -> int | None:
    """Index that `+N` or `-N` means in a stack of `size`; None when it is out of range."""
    count = int(word[1:])
    at = count if word[0] == "+" else size - 1 - count
    return at if 0 <= at < size else None


def _is_position(word: str) -> bool:
    return len(word) > 1 and word[0] in "+-" and word[1:].isdecimal() and word.isascii()


def _out_of_range(sh: Shell, name: str, word: str) -> int:
    if not sh.dir_stack:
        sh.builtin_error(name, "directory stack empty")
    else:
        sh.builtin_error(name, f"{word}: directory stack index out of range")
    return 1


def _bad(sh: Shell, name: str, word: str, what: str) -> int:
    sh.builtin_error(name, f"{word}: {what}")
    usage(sh, name)
    return USAGE_STATUS


def builtin_dirs(sh: Shell, args: Sequence[str]) -> int:
    long = lines = numbered = clear = False
    position = None
    for word in args:
        if word == "-l":
            long = True
        elif word == "-c":
            clear = True
        elif word == "-v":
            lines = numbered = True
        elif word == "-p":
            lines = True
        elif word == "--":
            break
        elif _is_position(word):
            position = word
        else:
            return _bad(sh, "dirs", word, "invalid number" if word[:1] in ("-", "+") else "invalid option")
    if clear:
        sh.dir_stack = []
        return 0
    stack = _stack(sh)
    shown = stack if long else [_short(sh, path) for path in stack]
    numbers = list(range(len(shown)))
    if position is not None:
        at = _position(sh, position, len(stack))
        if at is None:
            return _out_of_range(sh, "dirs", position[1:])
        shown, numbers = [shown[at]], [at]
    if numbered:
        shown = [f"{number:2d}  {path}" for number, path in zip(numbers, shown)]
    sh.out(encode(("\n" if lines else " ").join(shown) + "\n"))
    return 0


def builtin_pushd(sh: Shell, args: Sequence[str]) -> int:
    words = list(args)
    stay = False
    position = ""
    while words and words[0][:1] in ("-", "+"):
        word = words[0]
        if word == "--":
            del words[0]
            break
        if word == "-n":
            stay = True
            del words[0]
        elif word == "-":
            break
        elif _is_position(word):
            if _position(sh, word, len(sh.dir_stack) + 1) is None:
                return _out_of_range(sh, "pushd", word)
            position = word
            del words[0]
        else:
            return _bad(sh, "pushd", word, "invalid number")
    if position:                                             # directories after it are ignored
        words = [position]
    elif len(words) > 1 and not stay:
        sh.builtin_error("pushd", "too many arguments")
        return 1
    stack = _stack(sh)
    if not words or position:
        if not sh.dir_stack:
            sh.builtin_error("pushd", "directory stack empty" if words else "no other directory")
            return 1
        at = _position(sh, words[0], len(stack)) if words else 1
        assert at is not None
        if stay:
            return 0
        rotated = stack[at:] + stack[:at] if words else [stack[1], stack[0], *stack[2:]]
        return _go(sh, "pushd", rotated[0], rotated[1:])
    target = words[0]
    if stay:
        sh.dir_stack = [target, *sh.dir_stack]
        return builtin_dirs(sh, ())
    if target == "-":
        old = sh.get("OLDPWD")
        if old is None:
            sh.builtin_error("pushd", "OLDPWD not set")
            return 1
        target = old
    return _go(sh, "pushd", target, stack)


def _go(sh: Shell, name: str, target: str, rest: list[str]) -> int:
    """Change the directory; on success `rest` is the stack below it, which is then printed."""
    try:
        status = change_directory(sh, target, sh.options.physical)
    except OSError as e:
        return os_error(sh, name, target, e)
    sh.dir_stack = rest
    return builtin_dirs(sh, ()) or status


def builtin_popd(sh: Shell, args: Sequence[str]) -> int:
    stay = False
    position = "+0"
    for word in args:
        if word == "-n":
            stay = True
        elif word == "--":
            break
        elif _is_position(word):
            position = word
        else:
            return _bad(sh, "popd", word, "invalid number" if word[:1] == "-" else "invalid argument")
    stack = _stack(sh)
    at = _position(sh, position, len(stack))
    if at is None or not sh.dir_stack:
        return _out_of_range(sh, "popd", position)
    if at == 0 and not stay:
        return _go(sh, "popd", stack[1], stack[2:])
    at = max(at, 1)
    sh.dir_stack = stack[1:at] + stack[at + 1:]
    return builtin_dirs(sh, ())
