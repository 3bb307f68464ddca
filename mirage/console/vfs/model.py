"""What a command of `vfs` takes, and how a command line is read: options may stand before and after operands."""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Failure(Exception):
    """One line for the user, and the status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class UsageError(Exception):
    """A bad command line (status 2); `command` is where it was noticed."""

    def __init__(self, message: str, command: Command) -> None:
        super().__init__(message)
        self.command = command


class Option:
    """value    the placeholder of its value, None for a flag
    values   the possible ones
    env      the environment variable that gives it where the command line does not
    """

    __slots__ = ("default", "env", "help", "long", "many", "short", "value", "values")

    def __init__(self, long: str, help: str = "", *, value: str | None = None, short: str | None = None,
                 values: Sequence[str] = (), default: str | None = None, env: str | None = None,
                 many: bool = False) -> None:
        self.long = long
        self.help = help
        self.value = value
        self.short = short
        self.values = tuple(values)
        self.default = default
        self.env = env
        self.many = many

    @property
    def name(self) -> str:
        return self.long[2:].replace("-", "_")


class Argument:
    """An operand. `rest`: it and everything behind it belongs to another program, options too."""

    __slots__ = ("default", "help", "name", "required", "rest", "values")

    def __init__(self, name: str, help: str = "", *, required: bool = True, rest: bool = False,
                 values: Sequence[str] = (), default: str | None = None) -> None:
        self.name = name
        self.help = help
        self.required = required
        self.rest = rest
        self.values = tuple(values)
        self.default = default


class Command:
    """about    the first line of the help; `more`, a paragraph behind it
    run      "module:function" called with the values; None: not in this version
    """

    def __init__(self, name: str, about: str, *, more: str = "", arguments: Sequence[Argument] = (),
                 options: Sequence[Option] = (), commands: Sequence[Command] = (), run: str | None = None,
                 ours: bool = False) -> None:
        self.name = name
        self.about = about
        self.more = more
        self.arguments = tuple(arguments)
        self.options = tuple(options)
        self.commands = tuple(commands)
        self.run = run
        self.ours = ours
        self.parent: Command | None = None
        for command in commands:
            command.parent = self

    @property
    def path(self) -> tuple[Command, ...]:
        return (*(self.parent.path if self.parent else ()), self)

    @property
    def title(self) -> str:
        """`vfs fs ls`."""
        return " ".join(command.name for command in self.path)


class Parsed:
    """The command that was named, and the values of its own and its parents' options and operands."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.values: dict[str, Any] = {}
        self.help = False

    def get(self, name: str) -> Any:
        return self.values.get(name)


def parse(root: Command, args: Sequence[str]) -> Parsed:
    parsed = Parsed(root)
    waiting = list(root.arguments)
    given: set[str] = set()
    at, plain = 0, False
    while at < len(args):
        word = args[at]
        at += 1
        if not plain and word == "--":
            plain = True
            continue
        if not plain and word.startswith("-") and word != "-":
            at = _option(parsed, word, args, at, given)
            continue
        command = parsed.command
        if waiting:
            argument = waiting[0]
            if argument.rest:
                parsed.values[argument.name] = [word, *(w for w in args[at:])]
                return _finish(parsed, [])
            if argument.values and word not in argument.values:
                raise UsageError(f"invalid value '{word}' for '[{argument.name}]'\n"
                                 f"  [possible values: {', '.join(argument.values)}]", command)
            parsed.values[argument.name] = word
            waiting.pop(0)
        elif command.commands:
            below = next((c for c in command.commands if c.name == word), None)
            if below is None:
                raise UsageError(f"unrecognized subcommand '{word}'", command)
            parsed.command = below
            waiting = list(below.arguments)
        else:
            raise UsageError(f"unexpected argument '{word}' found", command)
    return _finish(parsed, waiting)


def _option(parsed: Parsed, word: str, args: Sequence[str], at: int, given: set[str]) -> int:
    """Read one option; where the next word is."""
    command = parsed.command
    name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
    if name in ("-h", "--help"):
        parsed.help = True
        return at
    known = [option for c in command.path for option in c.options]
    option = next((o for o in known if name in (o.long, o.short)), None)
    if option is None:
        raise UsageError(f"unexpected argument '{name}' found", command)
    if option.value is None:
        if equals:
            raise UsageError(f"unexpected value '{value}' for '{name}' found; no more were expected", command)
        parsed.values[option.name] = True
        if value:                                            # several letters in one word: -af
            return _option(parsed, "-" + value, args, at, given)
        return at
    if not equals and not value:
        if at >= len(args):
            raise UsageError(f"a value is required for '{name} <{option.value}>' but none was supplied", command)
        value = args[at]
        at += 1
    if option.values and value not in option.values:
        raise UsageError(f"invalid value '{value}' for '{name} <{option.value}>'\n"
                         f"  [possible values: {', '.join(option.values)}]", command)
    if option.many:
        parsed.values.setdefault(option.name, []).append(value)
    elif option.name in given:
        raise UsageError(f"the argument '{option.long} <{option.value}>' cannot be used multiple times", command)
    else:
        parsed.values[option.name] = value
        given.add(option.name)
    return at


def _finish(parsed: Parsed, waiting: Sequence[Argument]) -> Parsed:
    command = parsed.command
    if parsed.help:
        return parsed
    missing = [f"<{argument.name}>" for argument in waiting if argument.required]
    if command.commands and not missing:
        missing = ["<COMMAND>"]
    if missing and command.parent is not None:
        raise UsageError("the following required arguments were not provided:\n  " + "\n  ".join(missing), command)
    for above in command.path:
        for argument in above.arguments:
            if argument.default is not None:
                parsed.values.setdefault(argument.name, argument.default)
        for option in above.options:
            if option.name not in parsed.values and option.env and os.environ.get(option.env):
                parsed.values[option.name] = os.environ[option.env]
            if option.default is not None:
                parsed.values.setdefault(option.name, option.default)
    key, cipher = parsed.get("key"), parsed.get("cipher")
    if key and not cipher:
        raise UsageError("the following required arguments were not provided:\n  --cipher <CIPHER>", command)
    if cipher and not key:
        raise UsageError("the following required arguments were not provided:\n  --key <KEY>", command)
    return parsed
