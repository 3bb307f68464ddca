"""cd and pwd."""
from __future__ import annotations

import errno
import os

from mirage.shell.builtins._common import USAGE_STATUS, encode, getopt, os_error
from mirage.shell.control import ShellError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell


def builtin_cd(sh: Shell, args: Sequence[str]) -> int:
    physical = sh.options.physical
    if args and args[0][:1] == "-" and args[0] != "-":
        parsed = getopt(sh, "cd", args, "eLP")
        if parsed is None:
            return USAGE_STATUS
        options, words = parsed
        for letter, _ in options:
            if letter != "e":
                physical = letter == "P"
    else:
        words = list(args)
    if len(words) > 1:
        sh.builtin_error("cd", "too many arguments")
        return 1
    echo = False
    if not words:
        home = sh.get("HOME")
        if home is None:
            sh.builtin_error("cd", "HOME not set")
            return 1
        target = home
    elif words[0] == "-":
        old = sh.get("OLDPWD")
        if old is None:
            sh.builtin_error("cd", "OLDPWD not set")
            return 1
        target, echo = old, True
    else:
        target = words[0]
        if target and target[0] != "/" and target.split("/", 1)[0] not in (".", ".."):
            found = _search(sh, target, physical)
            if found is not None:
                if found[1]:
                    sh.out(encode(sh.proc.cwd + "\n"))
                return found[0]
    try:
        status = change_directory(sh, target, physical)
    except OSError as e:
        variable = sh.get(target) if sh.shopt["cdable_vars"] and target.isidentifier() else None
        if variable is None:
            return os_error(sh, "cd", target, e)
        try:
            status = change_directory(sh, variable, physical)
        except OSError:
            return os_error(sh, "cd", target, e)
        sh.out(encode(variable + "\n"))
    if echo:
        sh.out(encode(sh.proc.cwd + "\n"))
    return status


def _search(sh: Shell, target: str, physical: bool) -> tuple[int, bool] | None:
    """Try CDPATH: (status, was it found by a name that is not empty), or None."""
    for folder in (sh.get("CDPATH") or "").split(":") if sh.get("CDPATH") else ():
        path = f"{folder}/{target}" if folder and not folder.endswith("/") else folder + target
        if sh.proc.fs.is_dir(path):
            try:
                return change_directory(sh, path, physical), bool(folder)
            except OSError:
                continue
    return None


def resolve_directory(sh: Shell, target: str, physical: bool) -> str:
    """The absolute path that the shell would be in after `cd target`; OSError when there is no such directory."""
    proc = sh.proc
    fs = proc.fs
    path = _logical(sh, target)
    if physical:
        path = fs.realpath(path)
    stat = fs.stat(path)
    if not stat.is_dir:
        raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), target)
    if not fs.access(path, os.X_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), target)
    return path


def _logical(sh: Shell, target: str) -> str:
    """`.` and `..` taken away by name; what stands before a `..` must be a directory."""
    whole = target if target[:1] == "/" else f"{sh.proc.cwd if sh.proc.cwd != '/' else ''}/{target}"
    root = "//" if whole[:2] == "//" and whole[2:3] != "/" else "/"
    parts: list[str] = []
    for part in whole.split("/"):
        if part == "..":
            if parts and not sh.proc.fs.stat("/" + "/".join(parts)).is_dir:
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), target)
            del parts[-1:]
        elif part and part != ".":
            parts.append(part)
    if whole.endswith("/") and parts and not sh.proc.fs.is_dir(path := "/" + "/".join(parts)):
        sh.proc.fs.stat(path)
    return root + "/".join(parts)


def change_directory(sh: Shell, target: str, physical: bool = False) -> int:
    """Go there and set PWD and OLDPWD; the status. OSError when it cannot be done."""
    proc = sh.proc
    if target:
        path = resolve_directory(sh, target, physical)
        proc.cwd = path
    elif physical:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), target)
    status = 0
    old = sh.get("PWD")
    for name, value in (("OLDPWD", old), ("PWD", proc.cwd)):
        if value is None:
            continue
        try:
            sh.set(name, value)
        except ShellError as e:
            e.report(sh)
            status = 1
    return status


def builtin_pwd(sh: Shell, args: Sequence[str]) -> int:
    physical = sh.options.physical
    parsed = getopt(sh, "pwd", args, "LP")
    if parsed is None:
        return USAGE_STATUS
    for letter, _ in parsed[0]:
        physical = letter == "P"
    path = sh.proc.cwd
    if physical:
        try:
            path = sh.proc.fs.realpath(path)
        except OSError as e:
            sh.builtin_error("pwd", "error retrieving current directory: getcwd: cannot access parent directories: "
                             f"{e.strerror}")
            return 1
    sh.out(encode(path + "\n"))
    return 0
