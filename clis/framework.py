"""What a virtual CLI is: operations with argument models, effects and the paths they make stale.

    class Weather(VirtualCli):
        name, description = "weather", "Forecasts."

        @operation("Forecast for a place", Place, effects=("read",))
        def get_forecast(self, call, arguments): ...

`weather get-forecast '{"city": "Bern"}'` prints what the method returns as JSON (bytes as they are); OperationError
becomes a JSON error on stderr and exit status 1, bad arguments 2, a refusal of the policy 126.
"""
from __future__ import annotations

import difflib
import errno
import json
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mirage.process import blocking
from mirage.process.process import refusal_note
from mirage.vfs.secrets import hide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mirage.process.process import Process


F = TypeVar("F", bound="Callable[..., Any]")
LONGEST = 1200                                               # characters of one error


class OperationError(Exception):
    """The service refused or failed; `code` is the service's own (an HTTP status or a word)."""

    def __init__(self, message: str, code: int | str = "error", status: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class ArgumentModel(Protocol):
    """What checks an operation's arguments: a pydantic model, or `mirage.clis._schema.SchemaArguments`."""

    def model_json_schema(self) -> dict[str, Any]: ...

    def model_validate(self, obj: Any, /) -> Any: ...


class Operation:
    """One subcommand. `effects` are of the policy's vocabulary for calls.

    when  effect -> does a call with these arguments have it? Without an entry it always has
    """

    __slots__ = ("effects", "method", "model", "name", "summary", "when")

    def __init__(self, name: str, summary: str, model: ArgumentModel, effects: tuple[str, ...],
                 method: Callable[..., Any], when: Mapping[str, Callable[[Any], bool]] | None = None) -> None:
        self.name = name
        self.summary = summary
        self.model = model
        self.effects = effects
        self.method = method
        self.when = dict(when or {})

    def effects_of(self, arguments: Any) -> tuple[str, ...]:
        """The effects that a call with these arguments has."""
        return tuple(e for e in self.effects if e not in self.when or self.when[e](arguments))


def operation(summary: str, model: ArgumentModel, effects: Iterable[str],
              name: str | None = None,
              when: Mapping[str, Callable[[Any], bool]] | None = None) -> Callable[[F], F]:
    """Decorator of a VirtualCli's method; the operation's name is the method's with `-` for `_`."""
    def mark(method: F) -> F:
        method.__dict__["operation"] = Operation(
            name or method.__name__.replace("_", "-"), summary, model, tuple(effects), method, when)
        return method
    return mark


class Call:
    """One running operation: where its method finds files of the terminal (attachments) and the clock."""

    __slots__ = ("proc",)

    def __init__(self, proc: Process) -> None:
        self.proc = proc

    def read_file(self, path: str) -> bytes:
        """A file of the terminal, through the gate. Raises OperationError that names it."""
        try:
            return self.proc.fs.read(path)
        except OSError as e:
            raise OperationError(f"{path}: {e.strerror}", "file") from None


class VirtualCli:
    """Base of every CLI. Subclasses set `name` and `description` and mark methods with @operation."""

    name = ""
    description = ""
    counters: Any = None                                     # calls to the service, shared with its mount

    def __init__(self) -> None:
        found = [getattr(type(self), n).operation for n in dir(type(self))
                 if hasattr(getattr(type(self), n), "operation")]
        found.sort(key=lambda o: o.method.__code__.co_firstlineno)
        self.operations: Mapping[str, Operation] = {o.name: o for o in found}

    def known_operations(self) -> Mapping[str, Operation]:
        """The operations as far as they are known without asking anybody: for /SKILL.md and completion."""
        return self.operations

    def find(self, name: str) -> Operation | None:
        """The operation that an agent means by `name`."""
        return self.operations.get(name)

    def close(self) -> None:
        """Let go of connections and processes; the next call opens them again."""

    def main(self, proc: Process) -> int:
        """The program of /usr/bin: argv is NAME [OPERATION [ARGUMENT]...]."""
        args = proc.argv[1:]
        if not args or args[0] in ("--help", "-h", "help"):
            proc.stdout.write(self.help().encode())
            return 0
        chosen = self.find(args[0])
        if chosen is None:
            close = difflib.get_close_matches(args[0], self.operations, 3, 0.5)
            hint = f"; did you mean {', '.join(close)}?" if close else "."
            return self.fail(proc, "unknown_operation", f"no operation {args[0]!r}{hint} See {self.name} --help", 2)
        if "--help" in args[1:] or "-h" in args[1:]:
            proc.stdout.write(self.operation_help(chosen).encode())
            return 0
        return self._perform(proc, chosen, args[1:])

    def _perform(self, proc: Process, chosen: Operation, words: Sequence[str]) -> int:
        from mirage.clis.arguments import ArgumentError, read_arguments
        try:
            arguments = read_arguments(proc, words, chosen.model)
        except ArgumentError as e:
            return self.fail(proc, "invalid_arguments", f"{e}. See {self.name} {chosen.name} --help", 2)
        except OSError as e:
            return self.fail(proc, "invalid_arguments", f"{e.filename}: {e.strerror}", 2)
        gate = proc.machine.gate
        if gate is not None:
            try:
                gate.call(proc, self.name, chosen.name, chosen.effects_of(arguments),
                          arguments.model_dump(mode="json", by_alias=True, exclude_none=True))
            except PermissionError as e:
                status = self.fail(proc, "denied", f"{chosen.name}: {e.strerror}", 126)
                proc.write_error(refusal_note(e))
                return status
        try:
            result = chosen.method(self, Call(proc), arguments)
        except OperationError as e:
            return self.fail(proc, e.code, str(e), e.status)
        except OSError as e:
            return self.fail(proc, "io", e.strerror or str(e), 1)
        if not isinstance(result, bytes):
            result = as_json(result).encode() + b"\n"
        proc.stdout.write(result)
        return 0

    @staticmethod
    def fail(proc: Process, code: int | str, message: str, status: int) -> int:
        if len(message) > LONGEST:                           # it may quote a value
            message = f"{message[:LONGEST - 300]} ... {message[-300:]}"
        told = hide(as_json({"error": {"code": code, "message": message}}))
        proc.write_error(told + "\n")
        return status

    def help(self) -> str:
        """What `NAME --help` prints: one line per operation."""
        width = max((len(name) for name in self.operations), default=0)
        lines = "\n".join(f"  {o.name:<{width}}  {o.summary}" for o in self.operations.values())
        return (f"Usage: {self.name} OPERATION ['{{JSON}}' | --key value ... | @FILE | -]\n\n{self.description}\n\n"
                f"Operations:\n{lines}\n\n'{self.name} OPERATION --help' prints its arguments.\n")

    def operation_help(self, chosen: Operation) -> str:
        """What `NAME OPERATION --help` prints: usage, effects and the JSON schema of the arguments."""
        schema = compact_schema(chosen.model.model_json_schema())
        return (f"Usage: {self.name} {chosen.name} ['{{JSON}}' | --key value ... | @FILE | -]\n\n{chosen.summary}\n"
                f"Effects: {', '.join(chosen.effects)}\n\nArguments:\n{json.dumps(schema, indent=2)}\n")


def as_json(value: Any) -> str:
    """JSON that UTF-8 can say: characters as they are, but halves of surrogate pairs escaped."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def compact_schema(schema: Any) -> Any:
    """A JSON schema without the titles that pydantic repeats from the names."""
    if isinstance(schema, list):
        return [compact_schema(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key == "properties":
            out[key] = {name: compact_schema(s) for name, s in value.items()}
        else:
            out[key] = compact_schema(value)
    return out


def explained(e: OSError) -> OperationError:
    """An error of a mount's client as the operation's: the service's own words and status."""
    note = str(getattr(e, "note", "") or e.strerror or e)
    return OperationError(note, getattr(e, "status", 0) or errno.errorcode.get(e.errno or 0, "io").lower())


def in_pool(function: Callable[..., Any], *args: Any) -> Any:
    """Run a blocking call to a service so that other processes of the terminal go on."""
    return blocking.call(function, *args)
