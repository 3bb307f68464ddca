"""A connection to an MCP server, held by a thread of its own with an event loop; started by the first request."""
from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import weakref
from typing import TYPE_CHECKING, Any

from mirage.clis.framework import OperationError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mcp import Client

    from mirage.clis._mcp_wire import Child, Log

MODERN_ONLY = -32022                                         # unsupported protocol version
CLOSED = -32000
TOOLS = 5_000                                                # of one server, at most
GRACE = 2.0                                                  # seconds that a server which did start has to end
LINGER = 0.1                                                 # seconds from the end of a server to its connection's
PROBE = 5.0                                                  # seconds for a server that did not answer before


class Endpoint:
    """How to reach the server: a command, or a URL. Texts are in the clear here, so this is never shown."""

    def __init__(self, command: Sequence[str] = (), env: dict[str, str] | None = None, cwd: str | None = None,
                 url: str = "", transport: str = "", headers: dict[str, str] | None = None) -> None:
        self.command = list(command)
        self.env = env or {}
        self.cwd = cwd
        self.url = url
        self.transport = transport
        self.headers = headers or {}

    @property
    def kinds(self) -> tuple[str, ...]:
        """Transports to try."""
        if self.command:
            return ("stdio",)
        if self.transport:
            return (self.transport,)
        return ("sse", "streamable") if self.url.rstrip("/").endswith("/sse") else ("streamable", "sse")


class Connection:
    """One server. `request` starts it where it does not run (any more). Thread-safe."""

    def __init__(self, endpoint: Callable[[], Endpoint], log: Callable[[], Log], start_timeout: float) -> None:
        self._endpoint = endpoint
        self._log = log
        self._start_timeout = start_timeout
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def request(self, make: Callable[[Client], Awaitable[Any]], timeout: float) -> Any:
        """What `make(client)` gives; blocks. OperationError where there is no answer, MCPError where it is an error."""
        running = self._ready()
        try:
            future = asyncio.run_coroutine_threadsafe(_awaited(make, running.client), running.loop)
        except RuntimeError:                                 # its loop ended just now
            raise OperationError("the server ended; try again", "closed") from None
        try:
            return future.result(timeout)
        except (TimeoutError, concurrent.futures.TimeoutError):
            future.cancel()
            running.suspect = True
            raise OperationError(f"no answer within {timeout:g} seconds", "timeout") from None
        except concurrent.futures.CancelledError:
            raise OperationError("the server was stopped", "closed") from None
        except Exception as e:
            if running.broken(e):
                self._drop(running)
            raise

    def _ready(self) -> _Running:
        with self._lock:
            running = self._running
            if running is not None and running.alive and running.suspect:
                running.suspect = not running.answers()
            if running is None or not running.alive or running.suspect:
                if running is not None:
                    running.stop()
                self._running = None
                running = _Running(self._endpoint(), self._log(), self._start_timeout)
                running.start()
                self._running = running
            return running

    def _drop(self, running: _Running) -> None:
        with self._lock:
            if self._running is running:
                self._running = None
        running.stop()

    def close(self) -> None:
        """Stop the server; the next request starts it again."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.stop()


async def _awaited(make: Callable[[Client], Awaitable[Any]], client: Client) -> Any:
    return await make(client)


class _Running:
    """A started server. `suspect`: it left a request without an answer."""

    def __init__(self, endpoint: Endpoint, log: Log, start_timeout: float) -> None:
        from mirage.clis._mcp_wire import Child
        self.endpoint = endpoint
        self.log = log
        self.start_timeout = start_timeout
        self.client: Client
        self.loop: asyncio.AbstractEventLoop
        self.statuses: list[int] = []
        self.suspect = False
        self._child: Child = Child()
        self._stop: asyncio.Event
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="mirage-mcp", daemon=True)
        weakref.finalize(self, self._child.kill)             # also when the interpreter ends

    @property
    def alive(self) -> bool:
        return self._thread.is_alive() and self._failure is None and not self._child.closed

    def start(self) -> None:
        """Raises OperationError."""
        self._thread.start()
        if not self._started.wait(self.start_timeout + 15):
            self._child.kill()
            self._failure = TimeoutError()
        if self._failure is not None:
            raise OperationError(f"the server did not start: {self._reason(self._failure)}", "start") from None

    def answers(self) -> bool:
        future = asyncio.run_coroutine_threadsafe(self.client.list_tools(), self.loop)
        try:
            future.result(PROBE)
        except Exception:
            future.cancel()
            return False
        return True

    def broken(self, error: BaseException) -> bool:
        """Is the connection of no more use after this error?"""
        code = getattr(error, "code", None)
        return code == CLOSED or code is None or "Session terminated" in str(error)

    def stop(self) -> None:
        if self._thread.is_alive() and self._started.is_set():
            try:
                self.loop.call_soon_threadsafe(self._stop.set)
            except RuntimeError:                             # the loop ended meanwhile
                pass
            self._thread.join(10)
        self._child.kill()

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as e:                           # also groups of errors, which the SDK raises on closing
            self._failure = e
        finally:
            self._child.kill()
            self._started.set()

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.loop.set_exception_handler(lambda loop, context: self.log.add(str(context.get("message")).encode()))
        self._stop = asyncio.Event()
        self._child.ended = lambda: self.loop.call_later(LINGER, self._stop.set)
        attempts = [(kind, "legacy") for kind in self.endpoint.kinds]
        first: BaseException | None = None
        while attempts:
            kind, mode = attempts.pop(0)
            try:
                await self._hold(kind, mode)
                return
            except Exception as e:
                error = leaf(e)
                if self._started.is_set():                   # the SDK raises on closing, too
                    return
                first = error if first is None else first
                if getattr(error, "code", None) == MODERN_ONLY and mode == "legacy":
                    attempts.insert(0, (kind, "auto"))
                elif not attempts or isinstance(error, TimeoutError):
                    raise first from None

    async def _hold(self, kind: str, mode: str) -> None:
        """Connect and stay so until told to stop."""
        from mcp import Client

        from mirage.clis import _mcp_wire as wire
        end = self.endpoint
        transport = wire.stdio(end.command, end.env, end.cwd, self.log, self._child) if kind == "stdio" \
            else wire.http(end.url, kind, end.headers, self.statuses)
        async with asyncio.timeout(self.start_timeout) as limit:
            async with Client(wire.repairing(transport), mode=mode, cache=None) as client:
                limit.reschedule(None)
                self.client = client
                self._child.grace = GRACE
                self._started.set()
                await self._stop.wait()

    def _reason(self, error: BaseException) -> str:
        """In words; nothing of an address or a header."""
        error = leaf(error)
        if isinstance(error, TimeoutError):
            return f"no answer within {self.start_timeout:g} seconds"
        if isinstance(error, OSError) and error.strerror:
            name = self.endpoint.command[0] + ": " if self.endpoint.command and error.filename else ""
            return name + error.strerror
        status = f" (HTTP {self.statuses[-1]})" if self.statuses else ""
        if getattr(error, "code", None) == CLOSED:
            return f"it ended, or closed the connection{status}"
        if hasattr(error, "code"):
            return f"{error}{status}"
        return f"{type(error).__name__}{status}"


def leaf(error: BaseException) -> BaseException:
    """The first error that is not a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def all_tools(client: Client) -> tuple[str, list[dict[str, Any]]]:
    """(the server's name, its tools), page by page."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = await client.list_tools(cursor=cursor)
        found += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(found) >= TOOLS:
            info = client.server_info
            return (info.name if info is not None else ""), found[:TOOLS]
        seen.add(cursor)
