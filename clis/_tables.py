"""Operations from a table: a JSON file beside a service's tree, {name: {summary, effects, arguments, ...}}."""
from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from mirage.clis.framework import Operation
from mirage.clis.rest import TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Table = dict[str, Any]


def operations(service: str, perform: Callable[[Any, str, Table, dict[str, Any]], Any],
               when: Mapping[str, Callable[[Any], bool]] | None = None) -> dict[str, Operation]:
    """The operations of mirage.mounts.`service`; perform(cli, name, row of the table, arguments that were given).

    when  conditions of effects, for operations that also update
    """
    table = json.loads((files(f"mirage.mounts.{service}") / "operations.json").read_text(encoding="utf-8"))
    return {name: Operation(name, row["summary"], _model(name, row["arguments"]), tuple(row["effects"]),
                            _method(name, row, perform), when if "update" in row["effects"] else None)
            for name, row in table.items()}


def _model(name: str, arguments: Table) -> type[BaseModel]:
    fields: Table = {}
    for key, argument in arguments.items():
        kind = Literal[tuple(argument["enum"])] if "enum" in argument else TYPES[argument["type"]]
        if argument.get("or_object"):
            kind |= dict[str, Any]
        default = ... if argument.get("required") else argument.get("default")
        fields[key] = (kind if default is not None else kind | None,
                       Field(default, description=argument.get("description")))
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _method(name: str, row: Table, perform: Callable[[Any, str, Table, dict[str, Any]], Any]) -> Any:
    def method(cli: Any, call: Any, arguments: BaseModel) -> Any:
        unsaid = set(row.get("unsaid", ())) - arguments.model_fields_set
        return perform(cli, name, row, arguments.model_dump(mode="json", exclude_none=True, exclude=unsaid))
    return method
