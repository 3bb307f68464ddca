"""Any MCP server as a CLI: its tools become operations, their annotations effects.

    clis:
      weather: {mcp: {command: [uvx, mcp-weather], env: {KEY: "env:WEATHER_KEY"}}}
      wiki: {mcp: {url: "https://mcp.example/mcp", token: "keyring:wiki"}}

The server is started by the first command that needs it, and stopped with the Terminal. What it prints beside the
protocol is kept in `McpCli.log`; the agent never sees it.
"""
from __future__ import annotations

import base64
import hashlib
import json
import mimetypes
import os
import threading
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from mirage.clis._names import operation_names
from mirage.clis._options import check_effects, secret_or_text, summary
from mirage.clis._schema import SchemaArguments, Values
from mirage.clis.framework import Call, Operation, OperationError, VirtualCli, in_pool
from mirage.vfs.secrets import Secret, hide
from mirage.vfs.service import Counters

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from mcp import Client

    from mirage.clis._mcp_connection import Connection, Endpoint
    from mirage.clis._mcp_wire import Log
    from mirage.process.process import Process
    from mirage.vfs.types import Mount

CACHED = 4 << 20                                             # bytes of a kept list of tools, at most


class McpCli(VirtualCli):
    """The tools of one MCP server.

    command, env, cwd   a server to start; `env` is all that it sees, beside HOME, PATH, USER and the like
    url, token, headers a server at an address; token is sent as `Authorization: Bearer`
    transport           "streamable" or "sse"; both are tried where it is not given
    effects             operation pattern -> effects, for what the server's annotations do not say
    timeout             seconds for one call; start_timeout: for the start
    Values of env and headers, the url and the token may be a Secret, or name one ("env:NAME").
    """

    def __init__(self, name: str, command: Sequence[str] = (), url: str | Secret = "", *,
                 env: Mapping[str, str | Secret] | None = None, cwd: str | os.PathLike[str] | None = None,
                 token: str | Secret | None = None, headers: Mapping[str, str | Secret] | None = None,
                 transport: str = "", effects: Mapping[str, Sequence[str]] | None = None, description: str = "",
                 timeout: float = 100.0, start_timeout: float = 60.0, folder: str | os.PathLike[str] = "") -> None:
        super().__init__()
        if bool(command) == bool(url):
            raise ValueError("an MCP server needs either a command or a url")
        if isinstance(command, str) or not all(isinstance(word, str) for word in command):
            raise ValueError("command must be a list of words")
        if transport not in ("", "streamable", "sse"):
            raise ValueError(f"transport must be streamable or sse, not {transport!r}")
        self.name = name
        self.description = description or f"Tools of the MCP server {name}."
        self.counters = Counters()
        self.timeout = timeout
        self._effects = {key: check_effects(value) for key, value in (effects or {}).items()}
        self._command = tuple(command)
        self._cwd = os.fspath(cwd) if cwd is not None else None
        self._url = secret_or_text(url, folder)
        self._transport = transport
        self._env = {key: secret_or_text(value, folder) for key, value in (env or {}).items()}
        self._headers = {key: secret_or_text(value, folder) for key, value in (headers or {}).items()}
        self._token = token if token is None or isinstance(token, Secret) else Secret(token, folder)
        self._log: Log | None = None
        self.start_timeout = start_timeout
        self._connection: Connection | None = None           # with its imports, when it is needed
        self._lock = threading.Lock()
        self._aliases: dict[str, str] = {}
        self._known: dict[str, Operation] | None = None

    # ---- the server

    def _endpoint(self) -> Endpoint:
        from mirage.clis._mcp_connection import Endpoint
        headers = {key: self._reveal(value) for key, value in self._headers.items()}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._reveal(self._token)}"
        return Endpoint(self._command, {key: self._reveal(value) for key, value in self._env.items()}, self._cwd,
                        self._reveal(self._url), self._transport, headers)

    def _reveal(self, value: str | Secret) -> str:
        if not isinstance(value, Secret):
            return value
        try:
            return value.reveal()
        except LookupError as e:
            raise OperationError(f"credentials: {e}", "credentials") from None

    def _new_log(self) -> Log:
        from mirage.clis._mcp_wire import Log
        if self._log is None:
            self._log = Log()
        return self._log

    @property
    def log(self) -> str:
        """What the server printed beside the protocol, the last 64 KiB; without secrets."""
        return hide(self._log.text) if self._log is not None else ""

    def request(self, make: Callable[[Client], Awaitable[Any]], timeout: float) -> Any:
        """An answer of the server; blocks. Raises OperationError."""
        try:
            from mcp import MCPError
        except ImportError:
            raise OperationError("install mirage-terminal[mcp]", "missing") from None
        from mirage.clis._mcp_connection import Connection, leaf
        with self._lock:
            if self._connection is None:
                self._connection = Connection(self._endpoint, self._new_log, self.start_timeout)
        self.counters.add(calls=1)
        try:
            return self._connection.request(make, timeout)
        except OperationError as e:
            raise OperationError(hide(str(e)), e.code, e.status) from None
        except MCPError as e:
            raise OperationError(self._line(str(e)), e.code) from None
        except Exception as e:
            raise OperationError(f"the server's answer cannot be used ({type(leaf(e)).__name__})", "protocol") from None

    def _line(self, text: str) -> str:
        return hide(" ".join(text.split()))[:2000]

    def load(self) -> None:
        """Ask the server for its tools, once; blocks. Raises OperationError."""
        from mirage.clis._mcp_connection import all_tools
        if not self._aliases:
            server, tools = self.request(all_tools, self.timeout)
            self.operations, self._aliases = self._made(server, tools)
            self._known = dict(self.operations)
            _keep(self._cache_path(), server, tools)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    # ---- operations

    def _made(self, server: str, tools: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Operation], dict[str, str]]:
        """Operations by name, and the operation of each tool."""
        by_name = {tool["name"]: tool for tool in tools}
        names = operation_names(list(by_name), (self.name, server))
        made = {}
        for tool, name in names.items():
            described = by_name[tool]
            text = " ".join(str(described.get("description") or tool).split())
            made[name] = Operation(name, hide(summary(text)), SchemaArguments(described["inputSchema"]),
                                   self._effects_of(name, described.get("annotations") or {}), _method(tool))
        return made, names

    def _effects_of(self, name: str, hints: Mapping[str, Any]) -> tuple[str, ...]:
        for pattern, effects in self._effects.items():
            if fnmatchcase(name, pattern):
                return effects
        if hints.get("readOnlyHint"):
            return ("read",)
        return ("destroy",) if hints.get("destructiveHint") else ("update",)

    def known_operations(self) -> Mapping[str, Operation]:
        if self._known is None:
            kept = _kept(self._cache_path())
            self._known = self._made(*kept)[0] if kept is not None else {}
        return self._known

    def find(self, name: str) -> Operation | None:
        return self.operations.get(self._aliases.get(name, name))

    def main(self, proc: Process) -> int:
        try:
            in_pool(self.load)
        except OperationError as e:
            return self.fail(proc, e.code, str(e), e.status)
        return super().main(proc)

    def perform(self, call: Call, tool: str, name: str, arguments: Values) -> bytes:
        """The output of one call."""
        from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments.values))

        async def make(client: Client) -> Any:               # client.call_tool would list all tools once more
            return await client.session.send_request(request, CallToolResult)
        result = in_pool(self.request, make, self.timeout)
        if result.is_error:
            text = "\n".join(b.text for b in result.content if b.type == "text") or "the tool failed"
            raise OperationError(hide(text).strip(), "tool_error")
        structured = result.structured_content
        texts = "".join(b.text for b in result.content if b.type == "text")
        if structured is None or list(structured.values()) == [texts]:
            parts = [self._shown(call, name, block) for block in result.content]
        else:
            parts = [json.dumps(structured, ensure_ascii=False),
                     *(self._shown(call, name, block) for block in result.content if block.type != "text")]
        text = "".join(part if part.endswith("\n") else part + "\n" for part in parts)
        return hide(text).encode("utf-8", "replace")

    def _shown(self, call: Call, name: str, block: Any) -> str:
        """A piece of content as text; what is none becomes a file in /tmp."""
        if block.type == "text":
            return str(block.text)
        if block.type == "resource_link":
            return f"[{block.name}: {block.uri}]"
        kind, data = "", None
        if block.type == "resource":
            resource = block.resource
            if getattr(resource, "text", None) is not None:
                return str(resource.text)
            kind, data = resource.mime_type or "application/octet-stream", resource.blob
        elif block.type in ("image", "audio"):
            kind, data = block.mime_type, block.data
        if data is None:
            return f"[{block.type}]"
        return self._saved(call, name, kind, data)

    def _saved(self, call: Call, name: str, kind: str, text: str) -> str:
        try:
            data = base64.b64decode(text)
        except ValueError:
            return f"[{kind}: not valid base64]"
        end = mimetypes.guess_extension(kind.partition(";")[0].strip()) or ".bin"
        number = 1
        while call.proc.fs.exists(path := f"/tmp/{self.name}-{name}-{number}{end}"):
            number += 1
        try:
            call.proc.fs.write(path, data)
        except OSError as e:
            return f"[{kind}, {len(data):,} bytes, not saved: {e.strerror}]"
        return f"[{kind}, {len(data):,} bytes: {path}]"

    # ---- the list of tools of another day

    def _cache_path(self) -> str:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        key = json.dumps([self.name, self._command, str(self._url), self._cwd, sorted(self._env)])
        return os.path.join(base, "mirage", "mcp", hashlib.sha256(key.encode()).hexdigest()[:32] + ".json")

    def __repr__(self) -> str:
        return f"McpCli({self.name!r})"


def _method(tool: str) -> Callable[..., bytes]:
    def method(cli: McpCli, call: Call, arguments: Values) -> bytes:
        return cli.perform(call, tool, cli._aliases[tool], arguments)
    return method


def _keep(path: str, server: str, tools: list[dict[str, Any]]) -> None:
    """Remember the list for /SKILL.md; it does not matter where that fails."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        temporary = f"{path}.{os.getpid()}"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"server": server, "tools": tools}, file)
        os.replace(temporary, path)
    except (OSError, ValueError):
        pass


def _kept(path: str) -> tuple[str, list[dict[str, Any]]] | None:
    try:
        if os.path.getsize(path) > CACHED:
            return None
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        return str(data["server"]), [tool for tool in data["tools"] if isinstance(tool["inputSchema"], dict)]
    except (OSError, ValueError, TypeError, LookupError):
        return None


OPTIONS = ("command", "cwd", "description", "effects", "env", "headers", "start_timeout", "timeout", "token",
           "transport", "url")


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> McpCli:
    """`clis: {NAME: {mcp: {...}}}`: the arguments of McpCli. Raises ValueError."""
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise ValueError(f"clis.{name}: unknown option {unknown[0]!r}; there are: {', '.join(OPTIONS)}")
    given = dict(options)
    if "cwd" in given:
        given["cwd"] = folder / os.path.expanduser(given["cwd"])
    try:
        return McpCli(name, **given, folder=folder)
    except (TypeError, ValueError, AttributeError) as e:
        raise ValueError(f"clis.{name}: {e}") from None
