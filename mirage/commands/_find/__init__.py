"""find: search for files in a directory hierarchy (GNU findutils 4.10)."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.commands._find.expression import CommandLine, Predicate
    from mirage.commands._find.visit import Settings
    from mirage.process.process import Process

HELP = """\
Usage: find [-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]

Default path is the current directory; default expression is -print.
Expression may consist of: operators, options, tests, and actions.

Operators (decreasing precedence; -and is implicit where no others are given):
      ( EXPR )   ! EXPR   -not EXPR   EXPR1 -a EXPR2   EXPR1 -and EXPR2
      EXPR1 -o EXPR2   EXPR1 -or EXPR2   EXPR1 , EXPR2

Positional options (always true):
      -daystart -follow -nowarn -regextype -warn

Normal options (always true, specified before other expressions):
      -depth -files0-from FILE -maxdepth LEVELS -mindepth LEVELS
      -mount -noleaf -xdev -ignore_readdir_race -noignore_readdir_race

Tests (N can be +N or -N or N):
      -amin N -anewer FILE -atime N -cmin N -cnewer FILE -context CONTEXT
      -ctime N -empty -false -fstype TYPE -gid N -group NAME -ilname PATTERN
      -iname PATTERN -inum N -iwholename PATTERN -iregex PATTERN
      -links N -lname PATTERN -mmin N -mtime N -name PATTERN -newer FILE
      -nouser -nogroup -path PATTERN -perm [-/]MODE -regex PATTERN
      -readable -writable -executable
      -wholename PATTERN -size N[bcwkMG] -true -type [bcdpflsD] -uid N
      -used N -user NAME -xtype [bcdpfls]

Actions:
      -delete -print0 -printf FORMAT -fprintf FILE FORMAT -print
      -fprint0 FILE -fprint FILE -ls -fls FILE -prune -quit
      -exec COMMAND ; -exec COMMAND {} + -ok COMMAND ;
      -execdir COMMAND ; -execdir COMMAND {} + -okdir COMMAND ;

"""


def main(proc: Process) -> int:
    from mirage.commands._find.actions import Quit
    from mirage.commands._find.expression import CommandLine
    from mirage.commands._find.tests import UsageError
    from mirage.commands._find.visit import Settings
    args = proc.argv[1:]
    if "-help" in args or "--help" in args:
        proc.stdout.write(HELP.encode())
        return 0
    if "-version" in args or "--version" in args:
        proc.stdout.write(b"find (GNU findutils) 4.10.0\nThis is the find of Mirage.\n")
        return 0
    settings = Settings(proc)
    line = CommandLine(proc, settings)
    try:
        test = line.parse(args)
        roots = _roots(proc, line)
    except UsageError as e:
        proc.message(str(e))
        return 1
    try:
        for start in roots:
            if not start:
                settings.message("‘’: No such file or directory")
                continue
            _walk(settings, start, test, not line.words)
    except Quit:
        pass
    line.actions.finish()
    return settings.status


def _roots(proc: Process, line: CommandLine) -> list[str]:
    from mirage.commands._find.tests import UsageError
    from mirage.commands._io import decode, open_input, read_all
    from mirage.commands._text import quote
    name = line.files_from
    if name is None:
        return line.roots or ["."]
    if line.roots:
        raise UsageError(f"extra operand ‘{line.roots[0]}’\nfind: file operands cannot be combined with -files0-from")
    try:
        file = open_input(proc, name).incref()
    except OSError as e:
        raise UsageError(f"cannot open {quote(proc, name)} for reading: {e.strerror}") from None
    try:
        data = decode(read_all(proc, file))
    finally:
        file.decref()
    return data.removesuffix("\0").split("\0") if data else []


def _walk(settings: Settings, start: str, test: Predicate, only_prints: bool) -> None:
    from mirage.commands._find.visit import PlainWalk, Walk
    plain = not (settings.prunes or settings.changes or settings.depth or settings.xdev or settings.ignore_race
                 or settings.follow != "P")
    if plain and only_prints:
        write = settings.proc.stdout.write
        for paths in PlainWalk(settings).paths(start):
            write("\n".join(paths).encode("utf-8", "surrogateescape") + b"\n")
        return
    for visit in (PlainWalk if plain else Walk)(settings).run(start):
        test(visit)
