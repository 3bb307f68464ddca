"""sed: stream editor (GNU sed 4.9)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.process.process import refusal_note
from mirage.process.signals import Exit
from mirage.text.regex import utf8_locale

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.commands.sed.files import Input
    from mirage.commands.sed.script import Script
    from mirage.process.process import Process

HELP = """\
Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...

  -n, --quiet, --silent
                 suppress automatic printing of pattern space
      --debug
                 annotate program execution
  -e script, --expression=script
                 add the script to the commands to be executed
  -f script-file, --file=script-file
                 add the contents of script-file to the commands to be executed
  --follow-symlinks
                 follow symlinks when processing in place
  -i[SUFFIX], --in-place[=SUFFIX]
                 edit files in place (makes backup if SUFFIX supplied)
  -l N, --line-length=N
                 specify the desired line-wrap length for the `l' command
  --posix
                 disable all GNU extensions.
  -E, -r, --regexp-extended
                 use extended regular expressions in the script
                 (for portability use POSIX -E).
  -s, --separate
                 consider files as separate rather than as a single,
                 continuous long stream.
      --sandbox
                 operate in sandbox mode (disable e/r/w commands).
  -u, --unbuffered
                 load minimal amounts of data from the input files and flush
                 the output buffers more often
  -z, --null-data
                 separate lines by NUL characters
      --help     display this help and exit
      --version  output version information and exit

If no -e, --expression, -f, or --file option is given, then the first
non-option argument is taken as the sed script to interpret.  All
remaining arguments are names of input files; if no input files are
specified, then the standard input is read.

"""
SPEC = Spec(
    "bsnrzuEe:f:l:i::V:hs",
    {
        "binary": ("b", NONE), "debug": ("debug", NONE), "expression": ("e", REQUIRED), "file": ("f", REQUIRED),
        "follow-symlinks": ("follow", NONE), "in-place": ("i", OPTIONAL), "line-length": ("l", REQUIRED),
        "null-data": ("z", NONE), "quiet": ("n", NONE), "posix": ("p", NONE), "silent": ("n", NONE),
        "sandbox": ("sandbox", NONE), "separate": ("s", NONE), "unbuffered": ("u", NONE),
        "zero-terminated": ("z", NONE), "regexp-extended": ("E", NONE),
    },
    help=HELP, status=1, usage=HELP)
VERSION = "sed (GNU sed) 4.9\nThis is the sed of Mirage, written to behave like GNU sed.\n"


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    quiet = extended = separate = posix = sandbox = unbuffered = follow = False
    delimiter = b"\n"
    suffix: str | None = None
    width = _environment_width(proc)
    sources: list[tuple[str, str]] = []
    for key, value in given:
        if key in ("e", "f"):
            sources.append((key, value))
        elif key == "n":
            quiet = True
        elif key in ("E", "r"):
            extended = True
        elif key == "s":
            separate = True
        elif key == "i":
            suffix, separate = value, True
        elif key == "z":
            delimiter = b"\0"
        elif key == "u":
            unbuffered = True
        elif key == "l":
            digits = value[:len(value) - len(value.lstrip("0123456789"))]
            width = int(digits or 0)
        elif key == "p":
            posix = True
        elif key == "sandbox":
            sandbox = True
        elif key == "follow":
            follow = True
        elif key == "h":
            proc.stdout.write(HELP.encode())
            return 0
        elif key == "version":
            proc.stdout.write(VERSION.encode())
            return 0
    if not sources:
        if not operands:
            proc.write_error(HELP)
            return 1
        sources.append(("e", operands.pop(0)))
    from mirage.commands.sed.script import Script
    script = Script(proc, extended=extended, posix=posix, sandbox=sandbox, utf8=utf8_locale(proc.env),
                    lines=delimiter == b"\n")
    try:
        for kind, text in sources:
            if kind == "e":
                script.add(text)
            else:
                script.add(_script_file(proc, text), text)
        script.finish()
    except Exit:
        _create_outputs(proc, script)
        raise
    quiet = quiet or script.quiet
    if suffix is not None and not operands:
        proc.message("no input files")
        return 4
    from mirage.commands.sed.files import Input
    source = Input(proc, operands or ["-"], delimiter, separate=separate, in_place=suffix, follow=follow)
    if suffix is None and not separate and not unbuffered and not posix and delimiter == b"\n":
        from mirage.commands.sed.fast import plan, run
        steps = plan(script, quiet)
        if steps is not None:
            return _guarded(proc, source, lambda: run(proc, source, steps))
    from mirage.commands.sed.execute import Machine
    machine = Machine(proc, script, source, quiet=quiet, delimiter=delimiter, posix=posix, unbuffered=unbuffered,
                      width=width)
    return _guarded(proc, source, machine.run)


def _create_outputs(proc: Process, script: Script) -> None:
    """The files of the w commands before an error are made: GNU opens them while it reads the script."""
    import os
    for command in script.commands:
        for name in (command.label if command.name in ("w", "W") else "", command.sub.output if command.sub else ""):
            if name and not name.startswith("/dev/std"):
                with proc.opened(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
                    pass


def _guarded(proc: Process, source: Input, run: Callable[[], int]) -> int:
    from mirage.text.regex import RegexTooComplex
    try:
        return run()
    except IsADirectoryError:
        proc.stdout.flush()
        proc.message(f"read error on {source.name}: Is a directory")
    except RegexTooComplex:
        proc.stdout.flush()
        proc.message("regex matching took too many steps")
    return 4


def _script_file(proc: Process, name: str) -> str:
    from mirage.commands._io import decode, open_input, read_all
    try:
        file = open_input(proc, name).incref()
    except OSError as e:
        proc.write_error(f"sed: couldn't open file {name}: {e.strerror}\n{refusal_note(e)}")
        raise Exit(4) from None
    try:
        text = decode(read_all(proc, file))
    finally:
        file.decref()
    return text[:-1] if text.endswith("\n") else text


def _environment_width(proc: Process) -> int:
    columns = proc.env.get("COLS", "")
    return int(columns) - 1 if columns.isdecimal() and int(columns) > 1 else 70
