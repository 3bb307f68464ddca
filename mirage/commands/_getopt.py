"""getopt_long(3) as GNU tools use it: permutation, clusters, abbreviated long options, and its error texts."""
from __future__ import annotations

from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mirage.process.process import Process

NONE, REQUIRED, OPTIONAL = 0, 1, 2


class Spec:
    """What a tool accepts: `short` as for getopt ("ab:c::"), `long` name -> (key, NONE|REQUIRED|OPTIONAL).

    `key` is what parse() reports: usually the short letter, else the long name. `status` is the exit status of a
    usage error. `permute` False stops at the first operand, as POSIXLY_CORRECT tools and env, xargs, timeout do.
    `--help` and `--version` are added unless the tool has its own. `usage` is printed before the `Try` line of an
    error, as grep and find do.
    """

    __slots__ = ("help", "long", "permute", "short", "status", "usage")

    def __init__(self, short: str, long: Mapping[str, tuple[str, int]] | None = None, *, help: str = "",
                 status: int = 1, permute: bool = True, usage: str = "") -> None:
        self.short: dict[str, int] = {}
        i = 0
        while i < len(short):
            colons = 2 if short.startswith("::", i + 1) else 1 if short.startswith(":", i + 1) else 0
            self.short[short[i]] = colons
            i += 1 + colons
        self.long = dict(long or {})
        self.long.setdefault("help", ("help", NONE))
        self.long.setdefault("version", ("version", NONE))
        self.help = help
        self.status = status
        self.permute = permute
        self.usage = usage


def usage_error(proc: Process, spec: Spec, text: str) -> Exit:
    """Print `NAME: text` and the `Try ... --help` line; returns the Exit to raise."""
    proc.message(text)
    proc.write_error(f"{spec.usage}Try '{proc.name} --help' for more information.\n")
    return Exit(spec.status)


def parse(proc: Process, spec: Spec, args: Sequence[str] | None = None) -> tuple[list[tuple[str, str]], list[str]]:
    """([(key, value)...] in order, operands). Prints and raises Exit for errors, --help and --version."""
    args = proc.argv[1:] if args is None else args
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    i, n = 0, len(args)
    while i < n:
        arg = args[i]
        i += 1
        if arg == "--":
            operands.extend(args[i:])
            break
        if arg.startswith("--"):
            name, eq, value = arg[2:].partition("=")
            key, kind, name = _long(proc, spec, name, arg)
            if eq and kind == NONE:
                raise usage_error(proc, spec, f"option '--{name}' doesn't allow an argument")
            if kind == REQUIRED and not eq:
                if i >= n:
                    raise usage_error(proc, spec, f"option '--{name}' requires an argument")
                value = args[i]
                i += 1
            if key == "help" and kind == NONE:
                proc.stdout.write(spec.help.replace("NAME", proc.name).encode() or f"Usage: {proc.name}\n".encode())
                raise Exit(0)
            if key == "version" and kind == NONE:
                proc.stdout.write(f"{proc.name} (Mirage)\n".encode())
                raise Exit(0)
            options.append((key, value))
        elif arg.startswith("-") and len(arg) > 1:
            j = 1
            while j < len(arg):
                letter = arg[j]
                j += 1
                short_kind = spec.short.get(letter)
                if short_kind is None:
                    raise usage_error(proc, spec, f"invalid option -- '{letter}'")
                value = ""
                if short_kind == REQUIRED:
                    if j < len(arg):
                        value = arg[j:]
                    elif i < n:
                        value = args[i]
                        i += 1
                    else:
                        raise usage_error(proc, spec, f"option requires an argument -- '{letter}'")
                    j = len(arg)
                elif short_kind == OPTIONAL:
                    value = arg[j:]
                    j = len(arg)
                options.append((letter, value))
        else:
            operands.append(arg)
            if not spec.permute:
                operands.extend(args[i:])
                break
    return options, operands


def _long(proc: Process, spec: Spec, name: str, arg: str) -> tuple[str, int, str]:
    """(key, kind, full name) of a long option that may be abbreviated."""
    if name in spec.long:
        return (*spec.long[name], name)
    found = [full for full in spec.long if full.startswith(name)]
    if not found:
        raise usage_error(proc, spec, f"unrecognized option '{arg}'")
    if len({spec.long[full] for full in found}) > 1:
        listed = " ".join(f"'--{full}'" for full in found)
        raise usage_error(proc, spec, f"option '{arg}' is ambiguous; possibilities: {listed}")
    return (*spec.long[found[0]], found[0])
