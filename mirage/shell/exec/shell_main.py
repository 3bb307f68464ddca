"""`bash` and `sh` as programs: options, `-c`, scripts, standard input."""
from __future__ import annotations

import errno

from mirage.process.process import refusal_note
from mirage.process.signals import NAMES, Exit
from mirage.shell.exec.calls import PROGRAM_WEIGHT, ParseView, run_body, run_text
from mirage.shell.exec.jobs import JobTable
from mirage.shell.parse import ParseError, UnitParser
from mirage.shell.state import Frame, Shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

VERSION = """GNU bash, version 5.2.37(1)-release (x86_64-pc-linux-gnu)
Copyright (C) 2022 Free Software Foundation, Inc.
License GPLv3+: GNU GPL version 3 or later <http://gnu.org/licenses/gpl.html>

This is free software; you are free to change and redistribute it.
There is NO WARRANTY, to the extent permitted by law.
"""
_LONG = ("debug", "debugger", "dump-po-strings", "dump-strings", "help", "init-file", "login", "noediting", "noprofile",
         "norc", "posix", "pretty-print", "rcfile", "restricted", "verbose", "version")
_WITH_ARGUMENT = ("init-file", "rcfile")


class _Arguments:
    """What the command line says. `usage`: an error was printed, the program ends with this status."""

    def __init__(self) -> None:
        self.command = False
        self.stdin = False
        self.interactive = False
        self.login = False
        self.posix = False
        self.verbose = False
        self.version = False
        self.help = False
        self.letters: list[tuple[str, bool]] = []
        self.options: list[tuple[str, bool]] = []
        self.shopts: list[tuple[str, bool]] = []
        self.rest: list[str] = []
        self.status: int | None = None


def main(proc: Process) -> int:
    """Run a shell as the process `proc`; the exit status."""
    arguments = _parse(proc, proc.argv[1:])
    if arguments.status is not None:
        return arguments.status
    if arguments.version:
        proc.stdout.write(VERSION.encode())
        return 0
    if arguments.help:
        proc.stdout.write(_usage(proc).encode())
        return 0
    name = proc.argv[0] if proc.argv else "bash"
    sh = Shell(proc, name)
    sh.jobs = JobTable()
    sh.last_arg = proc.env.get("_") or name
    proc.shell = sh
    sh.line = 0
    outer = proc.outer
    if outer is not None and outer.shell is not None:
        sh.frames = outer.shell.frames + PROGRAM_WEIGHT
    for number in proc.ignored:
        if number in NAMES:
            sh.traps[NAMES[number]] = ""
    _import_functions(sh)
    sh.options.command = arguments.command
    if not _set_options(sh, arguments):
        return 2
    return run_body(sh, lambda shell: _run(shell, arguments))


# ------------------------------------------------------------------------------------------------------------ options


def _parse(proc: Process, args: list[str]) -> _Arguments:
    found = _Arguments()
    name = proc.name
    if name == "sh" or name == "-sh":
        found.posix = True
    at = 0
    while at < len(args) and args[at].startswith("-") and len(args[at]) > 1:
        long = args[at].removeprefix("-").removeprefix("-")
        if long not in _LONG or not args[at].startswith("--") and len(long) == 1:
            break
        at += 1
        if long in _WITH_ARGUMENT:
            if at >= len(args):
                proc.write_error(f"{proc.argv[0]}: {long}: option requires an argument\n")
                found.status = 2
                return found
            at += 1
        _long(found, long)
    at = _short(proc, found, args, at)
    found.rest = args[at:]
    return found


def _long(found: _Arguments, name: str) -> None:
    if name == "help":
        found.help = True
    elif name == "version":
        found.version = True
    elif name == "posix":
        found.posix = True
    elif name == "verbose":
        found.verbose = True
    elif name == "login":
        found.login = True


def _short(proc: Process, found: _Arguments, args: list[str], at: int) -> int:
    while at < len(args):
        word = args[at]
        if word in ("-", "--"):
            return at + 1
        if len(word) < 2 or word[0] not in "-+":
            return at
        at += 1
        on = word[0] == "-"
        if word.startswith("--"):
            proc.write_error(f"{proc.argv[0]}: {word}: invalid option\n{_short_usage(proc)}")
            found.status = 2
            return at
        for letter in word[1:]:
            if letter in "oO":
                if at >= len(args):
                    found.status = _list_options(proc, letter, on)
                    return at
                (found.options if letter == "o" else found.shopts).append((args[at], on))
                at += 1
            elif not _letter(found, letter, on):
                proc.write_error(f"{proc.argv[0]}: {word[0]}{letter}: invalid option\n{_short_usage(proc)}")
                found.status = 2
                return at
    return at


def _letter(found: _Arguments, letter: str, on: bool) -> bool:
    from mirage.shell.state_options import LETTERS
    if letter == "c":
        found.command = True
    elif letter == "s":
        found.stdin = True
    elif letter == "i":
        found.interactive = on
    elif letter == "l":
        found.login = on
    elif letter in "rD":
        return True
    elif letter in LETTERS:
        found.letters.append((letter, on))
    else:
        return False
    return True


def _list_options(proc: Process, letter: str, on: bool) -> int:
    """`bash -o` and `bash -O` without a name list the options."""
    sh = Shell(proc, proc.argv[0])
    names = [(name, bool(sh.options.get(name))) for name in _set_names()] if letter == "o" else list(sh.shopt.items())
    for name, value in names:
        if letter == "o":
            line = f"{name:<15}\t{'on' if value else 'off'}" if on else f"set {'-' if value else '+'}o {name}"
        else:
            line = f"{name:<20}\t{'on' if value else 'off'}" if on else f"shopt {'-s' if value else '-u'} {name}"
        proc.stdout.write(line.encode() + b"\n")
    return 0


def _set_names() -> list[str]:
    from mirage.shell.state_options import NAMES as names
    return list(names)


def _set_options(sh: Shell, arguments: _Arguments) -> bool:
    for name in sh.proc.env.get("SHELLOPTS", "").split(":"):
        sh.options.set(name, True)
    for name in sh.proc.env.get("BASHOPTS", "").split(":"):
        if name in sh.shopt:
            sh.shopt[name] = True
    if arguments.posix:
        sh.options.posix = True
        sh.shopt["expand_aliases"] = True
    if arguments.verbose:
        sh.options.verbose = True
    for letter, on in arguments.letters:
        sh.options.set_letter(letter, on)
    for name, on in arguments.options:
        if not sh.options.set(name, on):
            sh.proc.write_error(f"{sh.name}: line 0: {sh.name}: {name}: invalid option name\n")
            return False
    for name, on in arguments.shopts:
        if name not in sh.shopt:
            sh.proc.write_error(f"{sh.name}: line 0: {name}: invalid shell option name\n")
            return False
        sh.shopt[name] = on
    if arguments.login:
        sh.shopt["login_shell"] = True
    return True


def _import_functions(sh: Shell) -> None:
    """Functions that the parent exported (`export -f`)."""
    from mirage.shell import ast
    from mirage.shell.parse import parse
    from mirage.shell.state import EXPORT
    for variable, text in sh.proc.env.items():
        if not variable.startswith("BASH_FUNC_") or not variable.endswith("%%") or not text.startswith("() {"):
            continue
        name = variable[10:-2]
        script = parse(f"{name} {text}\n", extglob=True)
        if script.error is None and len(script.items) == 1 and isinstance(script.items[0], ast.Function):
            sh.functions[name] = script.items[0]
            sh.function_flags[name] = EXPORT
            sh.function_sources[name] = "environment"
            sh.vars.pop(variable, None)


def _usage(proc: Process) -> str:
    return f"GNU bash, version 5.2.37(1)-release-(x86_64-pc-linux-gnu)\n{_short_usage(proc)}{_MORE}"


def _short_usage(proc: Process) -> str:
    name = proc.argv[0]
    long = "\n".join(f"\t--{option}" for option in sorted(_LONG))
    return (f"Usage:\t{name} [GNU long option] [option] ...\n\t{name} [GNU long option] [option] script-file ...\n"
            f"GNU long options:\n{long}\nShell options:\n"
            "\t-ilrsD or -c command or -O shopt_option\t\t(invocation only)\n"
            "\t-abefhkmnptuvxBCEHPT or -o option\n")


_MORE = """Type `bash -c "help set"' for more information about shell options.
Type `bash -c help' for more information about shell builtin commands.
Use the `bashbug' command to report bugs.

bash home page: <http://www.gnu.org/software/bash>
General help using GNU software: <http://www.gnu.org/gethelp/>
"""


# ------------------------------------------------------------------------------------------------------------ running


def _run(sh: Shell, arguments: _Arguments) -> int:
    rest = arguments.rest
    if arguments.command:
        if not rest:
            sh.proc.write_error(f"{sh.name}: -c: option requires an argument\n")
            raise Exit(2)
        label = f"{rest[1] if len(rest) > 1 else sh.name}: -c"
        if len(rest) > 1:
            sh.name = rest[1]
        sh.positional = rest[2:]
        sh.set("BASH_EXECUTION_STRING", rest[0])
        return run_text(sh, rest[0], label=label)
    if rest and not arguments.stdin:
        return _script(sh, rest[0], rest[1:])
    sh.options.stdin = True
    sh.positional = rest
    return _standard_input(sh)


def _script(sh: Shell, path: str, args: list[str]) -> int:
    text = _read_script(sh, path)
    sh.name = path
    sh.positional = args
    sh.call_stack.append(Frame(("main", path, 0, None)))
    return run_text(sh, text, label=path, reader=True)


def _read_script(sh: Shell, path: str) -> str:
    proc = sh.proc
    if "/" not in path and not proc.fs.exists(path):
        path = proc.machine.find_program(proc, path) or path
    try:
        with proc.opened(path) as file:
            if file.stat().is_dir:
                proc.write_error(f"{path}: {path}: Is a directory\n")
                raise Exit(126)
            data = _read_all(sh, file)
    except OSError as e:
        proc.write_error(f"{sh.name}: {path}: {e.strerror}\n{refusal_note(e)}")
        raise Exit(127 if e.errno == errno.ENOENT else 126) from None
    first = data[:80].partition(b"\n")[0]
    if b"\0" in first or first.endswith(b" is part of this terminal."):
        proc.write_error(f"{path}: {path}: cannot execute binary file\n")
        raise Exit(126)
    return data.replace(b"\0", b"").decode("utf-8", "surrogateescape")


def _read_all(sh: Shell, file: OpenFile) -> bytes:
    parts = []
    size = 0
    while data := file.read(1 << 20):
        parts.append(data)
        size += len(data)
        sh.kernel.fits(size)
    return b"".join(parts)


def _standard_input(sh: Shell) -> int:
    """Commands from standard input, read no further than the complete command that runs."""
    sh.line = 1
    status = 0
    text = ""
    number = 1
    while True:
        data = sh.proc.stdin.readline()
        text += data.decode("utf-8", "surrogateescape")
        if not data and not text:
            return status
        if data and _incomplete(sh, text, number):
            continue
        line, text = text, ""
        if line.strip() and not line.lstrip().startswith("#"):
            status = run_text(sh, line, line=number, label=sh.name, reader=True)
        number += line.count("\n")
        if not data:
            return status


def _incomplete(sh: Shell, text: str, number: int) -> bool:
    stripped = text.rstrip("\n")
    if (len(stripped) - len(stripped.rstrip("\\"))) % 2:
        return True
    parser = UnitParser(text, ParseView(sh), number)
    try:
        while parser.next() is not None:
            if parser.warnings:
                return True
    except ParseError as e:
        return e.incomplete
    return bool(parser.warnings)
