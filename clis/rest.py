"""The CLI of a REST declaration: its operations become subcommands, without Python."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field, create_model

from mirage.clis.framework import Call, Operation, OperationError, VirtualCli, explained
from mirage.mounts.rest.declaration import RestService
from mirage.process import blocking
from mirage.vfs.declare import Declared
from mirage.vfs.declare.template import fill, fill_path, holes, select
from mirage.vfs.registry import ProviderError, make_mount

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import BaseModel

    from mirage.mounts.rest.declaration import Operation as Declaration
    from mirage.vfs.types import Mount

TYPES: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list[Any],
                         "object": dict[str, Any], "any": Any}


class RestCli(VirtualCli):
    """The operations of the declaration of `mount`."""

    def __init__(self, mount: Declared, name: str = "") -> None:
        super().__init__()
        service = mount.service
        if not isinstance(service, RestService) or not service.operations:
            raise ProviderError(f"the declaration of {service.name} has no operations")
        self.name = name or service.name
        self.description = f"Operations of {service.name}."
        self.mount = mount
        self.counters = mount.counters
        self.operations = {key: Operation(key, declared.summary, argument_model(key, declared), tuple(declared.effects),
                                          _method(declared)) for key, declared in service.operations.items()}

    def perform(self, declared: Declaration, values: dict[str, Any]) -> Any:
        """Send the request once; repeated only where it was refused, or reads."""
        used = {h for text in (declared.path, *declared.query.values()) for h in holes(text)}
        body: dict[str, Any] = {key: value for key, value in values.items() if key not in used}
        if declared.wrap:
            body = {declared.wrap: body}
        query = {key: fill(text, values) for key, text in declared.query.items()}
        reads = tuple(declared.effects) == ("read",)
        try:
            path = fill_path(declared.path, values)
            answer = blocking.call(lambda: self.mount.client.send(
                declared.method, path, query, body=None if declared.method == "GET" else body, safe=reads))
        except LookupError as e:
            raise OperationError(str(e), "invalid_arguments", 2) from None
        except OSError as e:
            if not reads:
                self._changed(declared, values)
            raise explained(e) from None
        self._changed(declared, values)
        return select(declared.result, answer.value)

    def _changed(self, declared: Declaration, values: dict[str, Any]) -> None:
        self.mount.stale(fill(path, values) for path in declared.stale)


def argument_model(name: str, declared: Declaration) -> type[BaseModel]:
    """The pydantic model of an operation's arguments."""
    fields: dict[str, Any] = {}
    for key, argument in declared.arguments.items():
        kind = Literal[tuple(argument.enum)] if argument.enum else TYPES[argument.type]
        default = ... if argument.required else argument.default
        if default is None:
            kind = kind | None
        fields[key] = (kind, Field(default, description=argument.description or None))
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _method(declared: Declaration) -> Any:
    def method(cli: RestCli, call: Call, arguments: BaseModel) -> Any:
        return cli.perform(declared, arguments.model_dump(mode="json", exclude_none=True))
    return method


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> RestCli:
    """`clis: {desk: {provider: rest}}`: of the mount whose declaration has that name, or of its own options."""
    if options:
        return RestCli(make_mount(provider, options, folder), name)
    for mount in mounts.values():
        if isinstance(mount, Declared) and isinstance(mount.service, RestService) and mount.service.name == name:
            return RestCli(mount, name)
    raise ProviderError(f"clis.{name}: mount a rest declaration named {name!r}, or give its file")
