"""An OpenAPI document (3.0, 3.1, Swagger 2.0) as a list of operations with one flat schema of arguments each.

Sources: the OpenAPI Specification 3.1.1 and 2.0. References are followed inside the document only.
"""
from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from mirage.clis._names import operation_names, words_of
from mirage.clis._schema import pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

METHODS = {"get": "read", "head": "read", "options": "read", "trace": "read", "post": "create", "put": "update",
           "patch": "update", "delete": "destroy"}
PLACES = ("path", "query", "header", "cookie")
IGNORED_HEADERS = ("accept", "authorization", "content-type")         # not parameters, says the specification
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
OLD_SCHEMA = ("default", "enum", "items", "maximum", "minimum", "type")    # what a parameter of 2.0 has of a schema
NOT_SCHEMA = ("deprecated", "discriminator", "example", "examples", "externalDocs", "nullable", "readOnly", "writeOnly",
              "xml")
FILE_HELP = "@PATH: a file of the terminal; -: standard input"
COLLECTIONS = {"multi": ("form", True), "csv": ("form", False), "ssv": ("spaceDelimited", False),
               "pipes": ("pipeDelimited", False)}


class DocumentError(ValueError):
    """The document cannot be used; the text says why and where."""


class Parameter:
    """One argument outside of the body. `name`: as the service knows it."""

    __slots__ = ("explode", "name", "place", "required", "schema", "style")

    def __init__(self, name: str, place: str, required: bool, schema: dict[str, Any], style: str,
                 explode: bool) -> None:
        self.name = name
        self.place = place
        self.required = required
        self.schema = schema
        self.style = style
        self.explode = explode


class Endpoint:
    """One operation. `options`, `fields` and `schema` are made when they are first needed."""

    def __init__(self, document: Document, path: str, item: Mapping[str, Any], method: str,
                 node: Mapping[str, Any]) -> None:
        self.document = document
        self.path = path
        self.method = method.upper()
        self.item = item
        self.node = node
        self.options: dict[str, Parameter] = {}
        self.fields: dict[str, str] = {}                     # option -> property of the body
        self.files: dict[str, bool] = {}                     # property that holds a file -> is it a list of them
        self.media = ""                                      # of the body; "" where there is none
        self.whole = False                                   # the body is one option, `body`
        self._schema: dict[str, Any] | None = None

    @property
    def label(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def title(self) -> str:
        """What the operation is called before names are made of it."""
        given = self.node.get("operationId")
        return given if isinstance(given, str) and given else f"{self.method.lower()} {self.path}"

    @property
    def summary(self) -> str:
        text = str(self.node.get("summary") or self.node.get("description") or self.label)
        return " ".join(text.split())

    def schema(self) -> dict[str, Any]:
        """JSON Schema of all arguments. Raises DocumentError."""
        if self._schema is None:
            self._schema = self._made()
        return self._schema

    def _made(self) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        required: list[str] = []
        for parameter in sorted(self._parameters(), key=lambda p: PLACES.index(p.place)):
            option = _free(parameter.name, parameter.place, properties)
            properties[option] = parameter.schema
            self.options[option] = parameter
            if parameter.required:
                required.append(option)
        self._body(properties, required)
        definitions: dict[str, Any] = {}
        properties = {key: self.document.converted(value, definitions) for key, value in properties.items()}
        return {"type": "object", "properties": properties, **({"required": required} if required else {}),
                **({"$defs": definitions} if definitions else {})}

    def _parameters(self) -> Iterator[Parameter]:
        found: dict[tuple[str, str], Mapping[str, Any]] = {}
        for node in (*_list(self.item.get("parameters")), *_list(self.node.get("parameters"))):
            node = self.document.resolved(node, self.label)
            if not isinstance(node.get("name"), str) or not isinstance(node.get("in"), str):
                raise DocumentError(f"{self.label}: a parameter without name or in")
            found[node["name"], node["in"]] = node
        for (name, place), node in found.items():
            if place not in PLACES or place == "header" and name.lower() in IGNORED_HEADERS:
                continue
            content = node.get("content")
            schema, style = node.get("schema"), node.get("style")
            if isinstance(content, dict) and content:
                schema, style = next(iter(content.values())).get("schema", {}), "json"
            elif schema is None:                             # Swagger 2.0
                schema = {k: v for k, v in node.items() if k in OLD_SCHEMA}
            style = style or ("form" if place in ("query", "cookie") else "simple")
            explode = node.get("explode", style in ("form", "deepObject"))
            if node.get("collectionFormat") or self.document.swagger:
                style, explode = COLLECTIONS.get(node.get("collectionFormat", "csv"), ("form", False)) \
                    if place == "query" else (style, False)
            described = {**schema, "description": node["description"]} if isinstance(node.get("description"), str) \
                and isinstance(schema, dict) else schema
            yield Parameter(name, place, place == "path" or node.get("required") is True, described or {}, style,
                            explode is True)

    def _body(self, properties: dict[str, Any], required: list[str]) -> None:
        node = self._body_node()
        content = node.get("content") or {}
        if not isinstance(content, dict) or not content:
            return
        self.media = min(content, key=_preference)
        media = self.document.resolved(content[self.media] or {}, self.label)
        must = node.get("required") is True
        if _preference(self.media) > 2:
            self.whole = True
            properties["body"] = {"type": "string", "description": f"{self.media}; {FILE_HELP}"}
            required += ["body"] if must else []
            return
        fields, needed = self.document.fields(media.get("schema") or {}, self.label)
        if not fields:
            self.whole = True
            option = _free("body", "body", properties)
            properties[option] = media.get("schema") or {}
            self.fields[option] = ""
            required += [option] if must else []
            return
        for name, schema in fields.items():
            option = _free(name, "body", properties)
            kind = self._file(schema) if self.media == MULTIPART else None
            if kind is not None:
                self.files[name] = kind
                text = {"type": "string", "description": FILE_HELP}
                schema = {"type": "array", "items": text} if kind else text
            properties[option] = schema
            self.fields[option] = name
            if name in needed:
                required.append(option)

    def _file(self, schema: Any) -> bool | None:
        """Is a field of a form a file (False), a list of files (True), or none (None)?"""
        found = self.document.resolved(schema, self.label) if isinstance(schema, dict) else {}
        if found.get("type") == "array":
            return True if self._file(found.get("items") or {}) is False else None
        binary = found.get("format") == "binary" or found.get("type") == "file" or "contentMediaType" in found
        return False if binary else None

    def _body_node(self) -> Mapping[str, Any]:
        if not self.document.swagger:
            return self.document.resolved(self.node.get("requestBody") or {}, self.label)
        fields: dict[str, Any] = {}
        needed: list[str] = []
        kinds = _list(self.node.get("consumes") or self.document.root.get("consumes")) or ["application/json"]
        for node in (*_list(self.item.get("parameters")), *_list(self.node.get("parameters"))):
            node = self.document.resolved(node, self.label)
            if node.get("in") == "body":
                return {"required": node.get("required") is True,
                        "content": {str(kinds[0]): {"schema": node.get("schema")}}}
            if node.get("in") == "formData":
                fields[str(node.get("name"))] = {k: v for k, v in node.items() if k not in ("name", "in", "required")}
                needed += [str(node.get("name"))] if node.get("required") is True else []
        if not fields:
            return {}
        kind = MULTIPART if any(f.get("type") == "file" for f in fields.values()) or MULTIPART in kinds else FORM
        schema = {"type": "object", "properties": fields, "required": needed}
        return {"required": True, "content": {kind: {"schema": schema}}}


class Document:
    """A whole document. Raises DocumentError."""

    def __init__(self, root: Any, where: str = "the document") -> None:
        if not isinstance(root, dict):
            raise DocumentError(f"{where}: not an OpenAPI document: a mapping is expected")
        version = str(root.get("openapi") or root.get("swagger") or "")
        if not re.match(r"(3\.[012]|2\.0)(\.|$)", version):
            wrong = f"version {version!r} is not supported (3.0, 3.1 and 2.0 are)" if version \
                else "not an OpenAPI document: it has no `openapi` or `swagger`"
            raise DocumentError(f"{where}: {wrong}")
        if not isinstance(root.get("paths"), dict) or not root["paths"]:
            raise DocumentError(f"{where}: it has no paths")
        self.root = root
        self.where = where
        self.swagger = version.startswith("2")
        info = root.get("info")
        self.title = str(info.get("title") or "") if isinstance(info, dict) else ""

    @classmethod
    def read(cls, path: Path) -> Document:
        """A YAML or JSON file. Raises DocumentError, OSError."""
        text = path.read_text(encoding="utf-8")
        try:
            root = json.loads(text)
        except ValueError:
            import yaml
            loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            try:
                root = yaml.load(text, loader)
            except (yaml.YAMLError, ValueError, RecursionError) as e:
                raise DocumentError(f"{path}: neither JSON nor YAML: {' '.join(str(e).split())[:200]}") from None
        return cls(root, str(path))

    def endpoints(self, service: str) -> dict[str, Endpoint]:
        """Operations by name."""
        found: dict[str, Endpoint] = {}
        for path, item in self.root["paths"].items():
            if not isinstance(path, str) or not path.startswith("/") or not isinstance(item, dict):
                continue
            item = self.resolved(item, path)
            for method in METHODS:
                node = item.get(method)
                if isinstance(node, dict):
                    endpoint = Endpoint(self, path, item, method, node)
                    key, number = endpoint.title, 1
                    while key in found:
                        number += 1
                        key = f"{endpoint.title} {number}"
                    found[key] = endpoint
        if not found:
            raise DocumentError(f"{self.where}: its paths have no operations")
        named = [key for key, endpoint in found.items() if endpoint.node.get("operationId")]
        names = operation_names(named, (service, self.title))
        for key in found:
            if key not in names:
                name = "-".join(words_of(key))
                names[key] = name if name not in names.values() else f"{name}-{len(names)}"
        return {names[key]: endpoint for key, endpoint in found.items()}

    def base_url(self) -> str:
        """The first server's address, "" where there is none that is whole."""
        if self.swagger:
            host = self.root.get("host")
            schemes = [s for s in _list(self.root.get("schemes")) if s in ("https", "http")] or ["https"]
            scheme = "https" if "https" in schemes else schemes[0]
            return f"{scheme}://{host}{self.root.get('basePath') or ''}" if isinstance(host, str) else ""
        servers = [s for s in _list(self.root.get("servers")) if isinstance(s, dict)]
        url = str(servers[0].get("url", "")) if servers else ""
        variables = servers[0].get("variables") if servers else None
        for name, variable in variables.items() if isinstance(variables, dict) else ():
            url = url.replace(f"{{{name}}}", str(variable.get("default", "")) if isinstance(variable, dict) else "")
        return url if re.match(r"https?://[^{}]+$", url) else ""

    def schemes(self) -> dict[str, dict[str, Any]]:
        """Security schemes by name, those first that the whole document asks for."""
        components = self.root.get("components")
        nodes = self.root.get("securityDefinitions") if self.swagger else \
            components.get("securitySchemes") if isinstance(components, dict) else None
        nodes = nodes if isinstance(nodes, dict) else {}
        found = {str(key): self.resolved(node, f"security scheme {key}") for key, node in nodes.items()}
        wanted = [name for entry in _list(self.root.get("security")) if isinstance(entry, dict) for name in entry]
        first = {name: found[name] for name in wanted if name in found}
        return {**first, **found}

    # ---- references and schemas

    def resolved(self, node: Any, where: str) -> dict[str, Any]:
        """The node, or what its `$ref` names. Raises DocumentError."""
        seen = 0
        while isinstance(node, dict) and isinstance(node.get("$ref"), str):
            reference = node["$ref"]
            if not reference.startswith("#"):
                raise DocumentError(f"{self.where}: {where}: {reference!r} is outside of the document: bundle it first")
            node, seen = pointer(self.root, _decoded(reference)), seen + 1
            if seen > 50:
                raise DocumentError(f"{self.where}: {where}: {reference!r} leads back to itself")
            if node is None:
                raise DocumentError(f"{self.where}: {where}: {reference!r} names nothing")
        if not isinstance(node, dict):
            raise DocumentError(f"{self.where}: {where}: a mapping is expected, not {type(node).__name__}")
        return node

    def fields(self, schema: Any, where: str, depth: int = 0) -> tuple[dict[str, Any], list[str]]:
        """(properties, names of the required ones) of an object's schema, those of `allOf` among them.

        Nothing where it is no plain object. What only the service writes (`readOnly`) is left out.
        """
        node = self.resolved(schema, where)
        if any(key in node for key in ("oneOf", "anyOf")) or depth > 20:
            return {}, []
        found: dict[str, Any] = {}
        needed: list[str] = []
        for part in _list(node.get("allOf")):
            properties, required = self.fields(part, where, depth + 1)
            if not properties and not isinstance(part, dict):
                return {}, []
            found.update(properties)
            needed += required
        own = node.get("properties")
        for name, value in own.items() if isinstance(own, dict) else ():
            if isinstance(value, dict) and value.get("readOnly") is True:
                continue
            found[str(name)] = value
        needed += [str(name) for name in _list(node.get("required"))]
        return found, [name for name in dict.fromkeys(needed) if name in found]

    def converted(self, schema: Any, definitions: dict[str, Any]) -> Any:
        """As JSON Schema 2020-12; what it refers to is put into `definitions`."""
        if isinstance(schema, list):
            return [self.converted(part, definitions) for part in schema]
        if not isinstance(schema, dict):
            return schema
        reference = schema.get("$ref")
        if isinstance(reference, str):
            name = re.sub(r"[^A-Za-z0-9_.-]+", "_", _decoded(reference).rpartition("/")[2] if "/schemas/" in reference
                          or "/definitions/" in reference else _decoded(reference).strip("#/"))
            if name not in definitions:
                definitions[name] = {}                       # it may contain itself
                definitions[name] = self.converted(self.resolved(schema, name), definitions)
            return {"$ref": f"#/$defs/{name}"}
        found: dict[str, Any] = {}
        for key, value in schema.items():
            if key in ("enum", "default", "const", "required"):
                found[key] = value
            elif key == "properties" and isinstance(value, dict):
                found[key] = {str(name): self.converted(part, definitions) for name, part in value.items()
                              if not (isinstance(part, dict) and part.get("readOnly") is True)}
            elif key not in NOT_SCHEMA and not str(key).startswith("x-"):
                found[key] = self.converted(value, definitions)
        if "required" in found:
            known = found.get("properties")
            found["required"] = [name for name in _list(found["required"]) if known is None or name in known]
        if found.get("type") == "file":
            found["type"] = "string"
        for bound in ("Minimum", "Maximum"):                 # booleans in 3.0
            if isinstance(found.get(f"exclusive{bound}"), bool):
                if found.pop(f"exclusive{bound}") and bound.lower() in found:
                    found[f"exclusive{bound}"] = found.pop(bound.lower())
        if schema.get("nullable") is True and isinstance(found.get("type"), str):
            found["type"] = [found["type"], "null"]
            if isinstance(found.get("enum"), list) and None not in found["enum"]:
                found["enum"] = [*found["enum"], None]
        return found


def _preference(media: str) -> int:
    """The lower, the better can arguments be put into it."""
    kind = media.partition(";")[0].strip().lower()
    return 0 if is_json(kind) else 1 if kind == FORM else 2 if kind == MULTIPART else 3


def is_json(media: str) -> bool:
    kind = media.partition(";")[0].strip().lower()
    return kind in ("application/json", "text/json") or kind.endswith("+json")


def _free(name: str, place: str, taken: Mapping[str, Any]) -> str:
    """The option of a parameter: its name, with its place in front where another one has it."""
    option, number = name, 1
    plain = {key.replace("-", "_") for key in taken}
    while option.replace("-", "_") in plain:
        option = f"{place}_{name}" if number == 1 else f"{place}_{name}_{number}"
        number += 1
    return option


def _decoded(reference: str) -> str:
    from urllib.parse import unquote
    return unquote(reference)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
