"""Arguments described by a JSON Schema instead of a pydantic model: operations of MCP servers and OpenAPI documents."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.clis.arguments import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

UNCHECKED = ("$id", "$schema", "format", "pattern", "uniqueItems")    # left to the service; a pattern may take years
SUBSCHEMAS = ("$defs", "definitions", "dependentSchemas", "properties")
SHOWN_ERRORS = 5
LONGEST = 200                                                # characters of one error; it may quote the whole value


class Values:
    """Checked arguments."""

    __slots__ = ("values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def model_dump(self, *, mode: str = "json", by_alias: bool = True, exclude_none: bool = False) -> dict[str, Any]:
        return {k: v for k, v in self.values.items() if v is not None} if exclude_none else dict(self.values)


class SchemaArguments:
    """Does for an Operation what a pydantic model does. `schema`: of an object, or what gives it at first use."""

    def __init__(self, schema: dict[str, Any] | Callable[[], dict[str, Any]]) -> None:
        self._given = schema
        self._schema: dict[str, Any] | None = None
        self._validator: Any = None

    def model_json_schema(self) -> dict[str, Any]:
        if self._schema is None:
            given = self._given() if callable(self._given) else self._given
            properties = given.get("properties")
            properties = properties if isinstance(properties, dict) else {}
            self._schema = {"type": "object", **given, "properties": {
                key: inlined(value, given) for key, value in properties.items()}}
            if not self._schema.get("additionalProperties") and "patternProperties" not in given:
                self._schema["additionalProperties"] = False
        return self._schema

    def model_validate(self, obj: Any, /) -> Values:
        """Raises ArgumentError that names the arguments."""
        if self._validator is None:
            self._validator = _validator(self.model_json_schema())
        try:
            errors = sorted(self._validator.iter_errors(obj), key=lambda e: [str(x) for x in e.absolute_path])
        except Exception:                                    # a schema that cannot be followed: the service decides
            errors = []
        if errors:
            told = dict.fromkeys(text for e in errors for text in _explain(e))
            raise ArgumentError("; ".join(list(told)[:SHOWN_ERRORS]))
        return Values(dict(obj))


def inlined(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    """A property's schema whose outermost `$ref` into the same document is replaced by what it names."""
    for _ in range(20):
        if not isinstance(schema, dict):
            return {}
        rest = {k: v for k, v in schema.items() if k not in ("$ref", "allOf")}
        if isinstance(schema.get("$ref"), str):
            target = pointer(root, schema["$ref"])
        elif isinstance(schema.get("allOf"), list) and len(schema["allOf"]) == 1:
            target = schema["allOf"][0]
        else:
            return schema
        if not isinstance(target, dict):
            return rest
        schema = {**target, **rest}
    return {}


def pointer(root: Any, reference: str) -> Any:
    """What a local reference (`#/$defs/Place`) names, or None."""
    if not reference.startswith("#"):
        return None
    found = root
    for part in filter(None, reference[1:].split("/")):
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
        elif isinstance(found, dict):
            found = found.get(part)
        else:
            return None
    return found


def checkable(schema: Any) -> Any:
    """The schema without what is left to the service."""
    if isinstance(schema, list):
        return [checkable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {}
    for key, value in schema.items():
        if key in ("const", "enum", "default", "required"):
            found[key] = value
        elif key in SUBSCHEMAS and isinstance(value, dict):
            found[key] = {name: checkable(part) for name, part in value.items()}
        elif key == "patternProperties" or (key == "additionalProperties" and "patternProperties" in schema):
            continue
        elif key not in UNCHECKED:
            found[key] = checkable(value)
    return found


def _validator(schema: dict[str, Any]) -> Any:
    from jsonschema import Draft202012Validator, SchemaError
    from referencing import Registry
    plain = checkable(schema)
    try:
        Draft202012Validator.check_schema(plain)
    except SchemaError:                                      # an older draft, or nonsense: only names are checked
        plain = {key: plain[key] for key in ("required", "additionalProperties") if key in plain}
        plain["properties"] = dict.fromkeys(schema["properties"], True)
    return Draft202012Validator(plain, registry=Registry())  # the registry fetches nothing


def _explain(error: Any) -> list[str]:
    where = ".".join(str(x) for x in error.absolute_path)
    prefix = where + "." if where else ""
    if error.validator == "required":
        return [f"{prefix}{key} is required" for key in error.validator_value if key not in error.instance]
    if error.validator == "additionalProperties" and error.validator_value is False:
        known = error.schema.get("properties", {})
        return [f"unknown argument {prefix + key!r}" for key in error.instance if key not in known]
    if error.validator in ("anyOf", "oneOf") and error.context:
        error = max(error.context, key=lambda e: len(e.absolute_path))
        where = ".".join(str(x) for x in error.absolute_path)
    text = error.message if len(error.message) <= LONGEST else error.message[:LONGEST] + "..."
    return [f"{where}: {text}" if where else text]
