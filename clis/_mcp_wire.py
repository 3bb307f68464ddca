"""The wire to an MCP server: a child process on pipes, or HTTP; what servers get wrong is put right on the way in.

Everything here runs in the event loop of a connection (`_mcp_connection`).
"""
from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import deque
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse, jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, SUPPORTED_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from mcp.client._transport import TransportStreams

LONGEST_MESSAGE = 64 << 20                                   # bytes
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Log:
    """The last 64 KiB of what a server printed beside the protocol; for the owner, not the agent."""

    def __init__(self, limit: int = 64 << 10) -> None:
        self.limit = limit
        self._lines: deque[str] = deque()
        self._size = 0

    def add(self, data: bytes) -> None:
        text = data[:4096].decode("utf-8", "replace").rstrip("\r\n")
        self._lines.append(text)
        self._size += len(text) + 1
        while self._size > self.limit:
            self._size -= len(self._lines.popleft()) + 1

    @property
    def text(self) -> str:
        return "".join(line + "\n" for line in list(self._lines))


class Child:
    """The server's process, also for whoever must end it without the event loop.

    ended  called when its output ends; `closed` is set then
    grace  seconds that it has to end by itself, and once more after SIGTERM
    """

    def __init__(self) -> None:
        self.pid = 0
        self.closed = False
        self.grace = 0.2
        self.ended: Callable[[], object] = int

    def kill(self) -> None:
        """End the server and what it started, at once."""
        if self.pid:
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
            self.pid = 0


@asynccontextmanager
async def stdio(command: Sequence[str], env: Mapping[str, str], cwd: str | None, log: Log,
                child: Child) -> AsyncIterator[TransportStreams]:
    """A server started as a child process in a group of its own. It sees HOME, PATH and the like, and `env`."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**get_default_environment(), **env}, cwd=cwd, start_new_session=True, limit=LONGEST_MESSAGE)
    child.pid = process.pid
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    inward, read = anyio.create_memory_object_stream[SessionMessage | Exception](32)
    write, outward = anyio.create_memory_object_stream[SessionMessage](32)
    tasks = [asyncio.ensure_future(work) for work in (
        _receive(process.stdout, inward, log, child), _send(process.stdin, outward), _note(process.stderr, log))]
    try:
        yield read, write
    finally:
        process.stdin.close()
        await _end(process, child)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (inward, read, write, outward):
            stream.close()


async def _receive(stdout: asyncio.StreamReader, inward: Any, log: Log, child: Child) -> None:
    try:
        while line := await stdout.readline():
            message = _parse(line)
            if message is not None:
                await inward.send(SessionMessage(message))
            elif line.strip():
                log.add(line)
    except (ValueError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as e:
        log.add(f"[the connection ended: {type(e).__name__}]".encode())
    finally:
        child.closed = True
        inward.close()
        child.ended()


def _parse(line: bytes) -> Any:
    """The JSON-RPC message of a line, also behind noise that has no line of its own; None where there is none."""
    for at in {0, line.find(b'{"jsonrpc"'), line.rfind(b'{"jsonrpc"')}:
        if at >= 0:
            with suppress(ValueError):
                return jsonrpc_message_adapter.validate_json(line[at:], by_name=False)
    return None


async def _send(stdin: asyncio.StreamWriter, outward: Any) -> None:
    with suppress(OSError, anyio.ClosedResourceError):
        async for item in outward:
            stdin.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await stdin.drain()


async def _note(stderr: asyncio.StreamReader, log: Log) -> None:
    while data := await stderr.read(4096):
        for line in data.splitlines():
            log.add(line)


async def _end(process: asyncio.subprocess.Process, child: Child) -> None:
    """Wait for the server, then tell its group to end, then make it."""
    try:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(TimeoutError):
                async with asyncio.timeout(child.grace):
                    await process.wait()
            with suppress(OSError):
                os.killpg(process.pid, number if process.returncode is None else signal.SIGKILL)
            if process.returncode is not None:
                break
        else:
            await process.wait()
    finally:
        child.kill()


@asynccontextmanager
async def http(url: str, kind: str, headers: Mapping[str, str], statuses: list[int]) -> AsyncIterator[TransportStreams]:
    """A server at an address. kind: "streamable" or "sse". `statuses` gets the HTTP status of refused requests."""
    async def note(response: httpx2.Response) -> None:
        if response.status_code >= 400:
            statuses.append(response.status_code)

    def client(headers: Mapping[str, str] | None = None, timeout: Any = None, auth: Any = None) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(headers=headers, timeout=timeout or httpx2.Timeout(30, read=300), auth=auth,
                                  mounts={f"all://{host}": None for host in LOOPBACK},
                                  event_hooks={"response": [note]})
    if kind == "sse":
        async with sse_client(url, dict(headers), 30, httpx_client_factory=client) as streams:
            yield streams
    else:
        async with client(headers) as web, streamable_http_client(url, http_client=web) as streams:
            yield streams


class Repaired:
    """A read stream whose answers are put into the shape that the SDK insists on."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:                 # last_context of the streams of HTTP
        return getattr(self._stream, name)

    async def receive(self) -> Any:
        return repaired(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Repaired:
        return self

    async def __anext__(self) -> Any:
        return repaired(await self._stream.__anext__())

    async def __aenter__(self) -> Repaired:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> Any:
        return await self._stream.__aexit__(*exc)


@asynccontextmanager
async def repairing(transport: Any) -> AsyncIterator[Any]:
    async with transport as (read, write):
        yield Repaired(read), write


def repaired(item: Any) -> Any:
    """Unknown protocol versions count as the oldest; tools without a proper schema take any arguments; schemas of
    results are left out, so that a result is shown also where it does not fit them."""
    message = getattr(item, "message", None)
    if not isinstance(message, JSONRPCResponse) or not isinstance(message.result, dict):
        return item
    result = message.result
    if "protocolVersion" in result and result["protocolVersion"] not in SUPPORTED_PROTOCOL_VERSIONS:
        result["protocolVersion"] = HANDSHAKE_PROTOCOL_VERSIONS[0]
    if "protocolVersion" in result and not isinstance(result.get("serverInfo"), dict):
        result["serverInfo"] = {"name": "", "version": ""}
    if isinstance(result.get("tools"), list):
        result["tools"] = [_tool(tool) for tool in result["tools"] if isinstance(tool, dict)
                           and isinstance(tool.get("name"), str) and tool["name"]]
    if "structuredContent" in result or "isError" in result:
        if not isinstance(result.get("content"), list):
            result["content"] = []
        if not isinstance(result.get("structuredContent", {}), dict):
            result["content"] = result["content"] or [{"type": "text", "text": json.dumps(result["structuredContent"])}]
            del result["structuredContent"]
        if result.get("isError", False) is None:
            del result["isError"]
    return item


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool with what is used of it, in its proper type."""
    schema = tool.get("inputSchema")
    hints = tool.get("annotations")
    if not isinstance(schema, dict):
        schema = {"additionalProperties": True}
    found: dict[str, Any] = {"name": tool["name"], "inputSchema": {**schema, "type": "object"}}
    if isinstance(tool.get("description"), str):
        found["description"] = tool["description"]
    if isinstance(hints, dict):
        found["annotations"] = {key: hints[key] for key in ("readOnlyHint", "destructiveHint")
                                if isinstance(hints.get(key), bool)}
    return found
