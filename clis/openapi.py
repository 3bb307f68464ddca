"""Any HTTP service that has an OpenAPI document as a CLI.

    clis:
      billing: {openapi: billing.yaml, base_url: "https://billing.example/v1", token: "keyring:billing"}

Parameters and the fields of the body become options side by side. Bodies are JSON, forms, or a file of the terminal
(`@PATH`, `-`). Pages are the service's own: where an answer names the next one, a line on stderr says how to get it.
"""
from __future__ import annotations

import base64
import json
import os
import shlex
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from mirage.clis._openapi import FORM, METHODS, MULTIPART, Document, DocumentError, Endpoint, Parameter, is_json
from mirage.clis._options import check_effects, secret_or_text, summary
from mirage.clis._schema import SchemaArguments, Values
from mirage.clis.framework import Call, Operation, OperationError, VirtualCli, explained, in_pool
from mirage.commands._io import read_all
from mirage.vfs.declare.client import Answer, Body, RestClient
from mirage.vfs.declare.model import Auth, Service
from mirage.vfs.secrets import Secret, hide, remember

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mirage.process.process import Process
    from mirage.vfs.service import Retry
    from mirage.vfs.types import Mount

MESSAGES = "error.message || message || error_description || errors[0].message || detail || title || error"
DELIMITERS = {"spaceDelimited": " ", "pipeDelimited": "|"}


class OpenApiCli(VirtualCli):
    """The operations of a document (a path, or a mapping).

    base_url     the service; by default the document's first server
    token        for the security scheme that the document asks for (`user:password` for basic)
    credentials  scheme -> token, where it takes several
    headers      sent with every request; values may name a secret ("env:NAME")
    effects      operation pattern -> effects; by default GET reads, POST creates, PUT and PATCH update, DELETE destroys
    Raises DocumentError (a ValueError) and OSError.
    """

    def __init__(self, name: str, document: Path | Mapping[str, Any], base_url: str = "", *,
                 token: Secret | str | None = None, credentials: Mapping[str, Secret | str] | None = None,
                 headers: Mapping[str, Secret | str] | None = None, effects: Mapping[str, Sequence[str]] | None = None,
                 description: str = "", timeout: float = 60.0, rate: float = 0.0, retry: Retry | None = None) -> None:
        super().__init__()
        self.document = Document.read(document) if isinstance(document, Path) else Document(dict(document))
        endpoints = self.document.endpoints(name)
        base = base_url or self.document.base_url()
        if urlsplit(base).scheme not in ("http", "https"):
            raise DocumentError(f"{self.document.where}: give base_url: it names no server by a whole address")
        self.name = name
        self.description = description or f"{self.document.title or name}."
        self._headers = {key: secret_or_text(value) for key, value in (headers or {}).items()}
        self._credentials = self._chosen(token, credentials or {})
        service = Service(name="api", summary=self.description, error=MESSAGES, auth=Auth(), tree=[])
        service.name = name
        self.client = RestClient(service, None, base, rate, retry, timeout)
        self.counters = self.client.counters
        ready = {key: check_effects(value) for key, value in (effects or {}).items()}
        self.operations = {}
        for key, endpoint in endpoints.items():
            usual = (METHODS[endpoint.method.lower()],)
            chosen = next((e for pattern, e in ready.items() if fnmatchcase(key, pattern)), usual)
            self.operations[key] = Operation(key, summary(endpoint.summary), SchemaArguments(self._schema_of(endpoint)),
                                             chosen, _method(endpoint))

    def _schema_of(self, endpoint: Endpoint) -> Callable[[], dict[str, Any]]:
        """The schema of the arguments, without the headers that are sent anyway."""
        def schema() -> dict[str, Any]:
            try:
                whole = endpoint.schema()
            except DocumentError as e:
                raise OperationError(str(e), "document") from None
            sent = {key.lower() for key in self._headers}
            given = {o for o, p in endpoint.options.items() if p.place == "header" and p.name.lower() in sent}
            return {**whole, "properties": {k: v for k, v in whole["properties"].items() if k not in given},
                    "required": [k for k in whole.get("required", []) if k not in given]}
        return schema

    def _chosen(self, token: Secret | str | None, credentials: Mapping[str, Secret | str]
                ) -> list[tuple[dict[str, Any], Secret]]:
        schemes = self.document.schemes()
        found = []
        for key, value in credentials.items():
            if key not in schemes:
                raise DocumentError(f"no security scheme {key!r}; there are: {', '.join(schemes) or 'none'}")
            found.append((schemes[key], value))
        if token is not None:
            found.append((next(iter(schemes.values()), {"type": "http", "scheme": "bearer"}), token))
        return [(scheme, value if isinstance(value, Secret) else Secret(value)) for scheme, value in found]

    def main(self, proc: Process) -> int:
        try:
            return super().main(proc)
        except OperationError as e:                          # a part of the document that cannot be used
            return self.fail(proc, e.code, str(e), e.status)

    # ---- one request

    def perform(self, call: Call, endpoint: Endpoint, arguments: Values) -> bytes:
        values = arguments.values
        query: list[tuple[str, str]] = []
        headers = {key: self._reveal(value) for key, value in self._headers.items()}
        cookies: list[str] = []
        path = endpoint.path
        for option, parameter in endpoint.options.items():
            if values.get(option) is None:
                continue
            pairs = _pairs(parameter, values[option])
            if parameter.place == "path":
                path = path.replace(f"{{{parameter.name}}}", _segment(option, pairs))
            elif parameter.place == "query":
                query += pairs
            elif parameter.place == "header":
                headers[parameter.name] = _header(option, ",".join(text for _, text in pairs))
            else:
                cookies += [f"{quote(name)}={quote(text)}" for name, text in pairs]
        body = self._body(call, endpoint, values)
        shown = list(query)
        for scheme, secret in self._credentials if endpoint.node.get("security") != [] else ():
            _authenticate(scheme, self._reveal(secret), headers, query, cookies)
        if cookies:
            headers["Cookie"] = "; ".join(cookies)
        headers.setdefault("Accept", "application/json, */*;q=0.5")
        address = path + ("?" + urlencode(query) if query else "")
        try:
            answer: Answer = in_pool(lambda: self.client.send(
                endpoint.method, address, raw=True, body=body, headers=headers,
                safe=METHODS[endpoint.method.lower()] == "read"))
            return self._printed(call, endpoint, answer, shown)
        except OSError as e:
            raise explained(e) from None

    @staticmethod
    def _reveal(value: str | Secret) -> str:
        if not isinstance(value, Secret):
            return value
        try:
            text = value.reveal()
        except LookupError as e:
            raise OperationError(f"credentials: {e}", "credentials") from None
        remember(text.partition(":")[2])                     # the password of basic
        return text

    def _body(self, call: Call, endpoint: Endpoint, values: Mapping[str, Any]) -> Any:
        """None, a JSON value, or a Body."""
        media = endpoint.media
        if not media:
            return None
        if endpoint.whole and not endpoint.fields:
            return Body(_content(call, values["body"])[1], media) if values.get("body") is not None else None
        given = {name: values[option] for option, name in endpoint.fields.items() if option in values}
        if not given:
            return None
        if endpoint.whole:
            value = next(iter(given.values()))
            return value if media == "application/json" else Body(json.dumps(value).encode(), media)
        if is_json(media):
            return given if media == "application/json" else Body(json.dumps(given).encode(), media)
        if media.partition(";")[0].strip().lower() == FORM:
            pairs = [pair for name, value in given.items() for pair in _form(name, value)]
            return Body(urlencode(pairs).encode(), FORM)
        return _multipart(call, endpoint, given)

    def _printed(self, call: Call, endpoint: Endpoint, answer: Answer, query: list[tuple[str, str]]) -> bytes:
        data: bytes = answer.value
        if is_json(answer.kind):
            try:
                value = json.loads(data) if data else None
            except (ValueError, RecursionError):
                raise OperationError("the answer is not complete, or no JSON", "io") from None
            data = hide(json.dumps(value, ensure_ascii=False)).encode("utf-8", "surrogatepass") + b"\n" if data else b""
        if answer.next:
            then = dict(parse_qsl(urlsplit(answer.next).query))
            options = {p.name: o for o, p in endpoint.options.items() if p.place == "query"}
            more = [f"--{options[k]} {shlex.quote(v)}" for k, v in then.items() if k in options and (k, v) not in query]
            if more:
                call.proc.write_error(hide(f"{self.name}: the next page: {' '.join(more)}\n"))
        return data

    def close(self) -> None:
        self.client.close()

    def __repr__(self) -> str:
        return f"OpenApiCli({self.name!r})"


def _method(endpoint: Endpoint) -> Callable[..., bytes]:
    def method(cli: OpenApiCli, call: Call, arguments: Values) -> bytes:
        return cli.perform(call, endpoint, arguments)
    return method


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pairs(parameter: Parameter, value: Any) -> list[tuple[str, str]]:
    """A parameter's value as its style writes it."""
    name, style = parameter.name, parameter.style
    if style == "json":
        return [(name, json.dumps(value, ensure_ascii=False))]
    if isinstance(value, list):
        texts = [_text(v) for v in value]
        if parameter.explode and parameter.place in ("query", "cookie"):
            return [(name, text) for text in texts]
        return [(name, DELIMITERS.get(style, ",").join(texts))]
    if isinstance(value, dict):
        items = [(str(k), _text(v)) for k, v in value.items()]
        if style == "deepObject":
            return [(f"{name}[{k}]", v) for k, v in items]
        if parameter.explode:
            return items if parameter.place == "query" else [(name, ",".join(f"{k}={v}" for k, v in items))]
        return [(name, ",".join(x for pair in items for x in pair))]
    return [(name, _text(value))]


def _segment(option: str, pairs: list[tuple[str, str]]) -> str:
    """A piece of the path; it cannot leave its place."""
    text = ",".join(text for _, text in pairs)
    if text in ("", ".", ".."):
        raise OperationError(f"{option}: {text!r} cannot be a part of the path", "invalid_arguments", 2)
    return quote(text, safe="")


def _header(option: str, text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise OperationError(f"{option}: only printable ASCII can be in a header", "invalid_arguments", 2)
    return text


def _authenticate(scheme: Mapping[str, Any], text: str, headers: dict[str, str], query: list[tuple[str, str]],
                  cookies: list[str]) -> None:
    kind, name, place = scheme.get("type"), str(scheme.get("name") or ""), scheme.get("in")
    if kind == "apiKey" and place == "query":
        query.append((name, text))
    elif kind == "apiKey" and place == "cookie":
        cookies.append(f"{name}={text}")
    elif kind == "apiKey":
        headers[name] = text
    elif kind == "basic" or kind == "http" and str(scheme.get("scheme")).lower() == "basic":
        headers["Authorization"] = "Basic " + base64.b64encode(text.encode()).decode()
    else:
        headers["Authorization"] = f"Bearer {text}"


def _form(name: str, value: Any) -> list[tuple[str, str]]:
    return [(name, _text(v)) for v in value] if isinstance(value, list) else [(name, _text(value))]


def _content(call: Call, text: str) -> tuple[str, bytes]:
    """(name, bytes) of a file argument: `@PATH`, `-`, or the text itself."""
    if text == "-":
        return "stdin", read_all(call.proc, call.proc.file(0))
    if text.startswith("@"):
        return text.rpartition("/")[2].lstrip("@"), call.read_file(text[1:])
    return "content", text.encode("utf-8", "surrogateescape")


def _multipart(call: Call, endpoint: Endpoint, given: Mapping[str, Any]) -> Body:
    import httpx
    fields: dict[str, Any] = {}
    files: list[tuple[str, tuple[str, bytes]]] = []
    for name, value in given.items():
        if name in endpoint.files:
            files += [(name, _content(call, text)) for text in (value if isinstance(value, list) else [value])]
        else:
            fields[name] = [_text(v) for v in value] if isinstance(value, list) else _text(value)
    if not files:                                            # httpx would send a plain form
        return Body(*_encoded(httpx.Request("POST", "http://localhost", files=[
            (name, (None, text.encode())) for name, value in fields.items()
            for text in (value if isinstance(value, list) else [value])])))
    return Body(*_encoded(httpx.Request("POST", "http://localhost", data=fields, files=files)))


def _encoded(request: Any) -> tuple[bytes, str]:
    return request.read(), request.headers["content-type"] or MULTIPART


OPTIONS = ("base_url", "credentials", "description", "document", "effects", "headers", "rate", "timeout", "token")


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> OpenApiCli:
    """`clis: {NAME: {openapi: FILE, ...}}`: the arguments of OpenApiCli. Raises ValueError."""
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise ValueError(f"clis.{name}: unknown option {unknown[0]!r}; there are: openapi, {', '.join(OPTIONS)}")
    given = dict(options)
    document = given.pop("document", "")
    try:
        for key in ("headers", "credentials"):
            given[key] = {k: secret_or_text(v, folder) for k, v in (given.get(key) or {}).items()}
        if given.get("token") is not None:
            given["token"] = Secret(str(given["token"]), folder)
        if not isinstance(document, dict):
            document = folder / os.path.expanduser(str(document))
        return OpenApiCli(name, document, **given)
    except OSError as e:
        raise ValueError(f"clis.{name}: {e.filename}: {e.strerror}") from None
    except (TypeError, ValueError, AttributeError) as e:
        raise ValueError(f"clis.{name}: {e}") from None
