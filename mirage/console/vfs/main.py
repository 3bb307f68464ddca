"""`vfs`: look into, check, copy and repair databases of agents.

Exit status: 0; 1 for a failure; 2 for a bad command line. 3, 4 and 5 are kept for sessions, mounts and bad session ids.
"""
from __future__ import annotations

import os
import sys

from mirage.console.vfs import commands, texts
from mirage.console.vfs.model import Failure, Parsed, UsageError, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script; the exit status."""
    args = list(sys.argv[1:] if argv is None else argv)
    root = commands.build()
    try:
        if args[:1] in (["-V"], ["--version"]):
            from mirage import __version__
            print(f"vfs {__version__}")
            return 0
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        parsed = parse(root, args)
        if parsed.help:
            sys.stdout.write(texts.help_text(parsed.command))
            return 0
        if parsed.command is root:
            sys.stderr.write(texts.help_text(root))
            return 2
        return run(parsed)
    except UsageError as e:
        print(f"error: {e}\n\nUsage: {texts.usage(e.command)}\n\nFor more information, try '--help'.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141


def run(parsed: Parsed) -> int:
    """Carry out a command; every failure is one line on standard error."""
    command = parsed.command
    try:
        if command.run is None:
            raise Failure(f"`{command.title}` is not available in this version")
        if parsed.get("key"):
            from mirage.console.vfs.hiding import hide
            hide(parsed.get("key"))
        import importlib

        from mirage.console.vfs.private import private_temporary
        module, _, name = command.run.partition(":")
        function: Callable[[Parsed], int] = getattr(importlib.import_module(module), name)
        with private_temporary():
            return function(parsed)
    except Failure as e:
        complain(str(e))
        return e.status
    except BrokenPipeError:
        raise
    except OSError as e:
        note: str | None = getattr(e, "note", None)
        where = e.filename or (parsed.get("ID_OR_PATH") if note else None)
        text = (note or "").removeprefix("vfs: ") or e.strerror or str(e)
        complain(f"{where}: {text}" if where else text)
        return 1
    except ValueError as e:                                  # SchemaError, Refused
        complain(str(e))
        return 1


def complain(text: str) -> None:
    """One line, whatever is in a name, in bytes that standard error can take."""
    line = "".join(char if char.isprintable() or "\udc80" <= char <= "\udcff" else repr(char)[1:-1] for char in text)
    sys.stderr.buffer.write(os.fsencode(f"Error: {line}\n"))
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
