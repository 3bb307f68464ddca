"""A declaration in YAML: a service's tree, and the operations of its CLI."""
from __future__ import annotations

from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from mirage.vfs.declare import Service
from mirage.vfs.declare.template import check_expression, check_template
from mirage.vfs.registry import ProviderError


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Argument(_Strict):
    type: Literal["string", "integer", "number", "boolean", "array", "object", "any"] = "string"
    description: str = ""
    required: bool = False
    default: Any = None
    enum: list[str] | None = None


class Operation(_Strict):
    """One subcommand: a request made from its arguments.

    path, query  templates of the arguments; those that occur in neither are the fields of the JSON body
    wrap         the field of the body that holds them, where they are not the body itself
    result       jmespath of what is printed;  stale: places of the mount that it changes (with what is below)
    """

    summary: str
    effects: list[Literal["read", "create", "update", "destroy", "send", "share", "spend"]] = Field(min_length=1)
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    path: str
    query: dict[str, str] = Field(default_factory=dict)
    wrap: str = ""
    arguments: dict[str, Argument] = Field(default_factory=dict)
    result: str = "@"
    stale: list[str] = Field(default_factory=list)

    @field_validator("path")
    @classmethod
    def _path(cls, text: str) -> str:
        return check_template(text)

    @field_validator("result")
    @classmethod
    def _result(cls, text: str) -> str:
        return check_expression(text)


class RestService(Service):
    operations: dict[str, Operation] = Field(default_factory=dict)


def load(file: str) -> RestService:
    """The declaration of a file. Raises ProviderError that names file and place, or OSError."""
    try:
        with open(file, encoding="utf-8") as text:
            value = yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError) as e:
        raise ProviderError(f"rest: {file}: no YAML: {' '.join(str(e).split())}") from None
    try:
        return RestService.model_validate(value)
    except ValidationError as e:
        first = e.errors(include_url=False)[0]
        where = ".".join(str(x) for x in first["loc"])
        raise ProviderError(f"rest: {file}: {where or 'top'}: {first['msg'].removeprefix('Value error, ')}") from None
