"""The HTTP side of every simulator: a threaded server on loopback, a log of requests, and faults on demand."""
from __future__ import annotations

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.bench.services.clock import Clock

FAULTS = ("latency", "status", "reset", "slow", "truncate", "short")


class Request:
    """One request. `query` has lists of values; header names are lower case."""

    __slots__ = ("body", "headers", "method", "path", "query")

    def __init__(self, method: str, target: str, headers: dict[str, str], body: bytes) -> None:
        parts = urlsplit(target)
        self.method = method
        self.path = parts.path
        self.query = parse_qs(parts.query, keep_blank_values=True)
        self.headers = headers
        self.body = body

    def first(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        return self.query.get(name, [default])[0]

    def json(self) -> Any:
        return json.loads(self.body or b"{}")


class Response:
    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.status = status
        self.body = body
        self.headers = headers or {}

    @classmethod
    def of_json(cls, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
        return cls(status, json.dumps(value).encode(),
                   {"Content-Type": "application/json; charset=UTF-8", **(headers or {})})


class LogEntry:
    """One answered request; `parts` is the number of requests inside a batch, else 0."""

    __slots__ = ("method", "parts", "path", "query", "sent", "status")

    def __init__(self, request: Request) -> None:
        self.method = request.method
        self.path = request.path
        self.query = request.query
        self.status = 0
        self.parts = 0
        self.sent = 0

    def __repr__(self) -> str:
        return f"{self.method} {self.path} {self.status}" + (f" ({self.parts} parts)" if self.parts else "")


class Fault:
    """Something that goes wrong for requests whose `METHOD PATH` contains `match`.

    latency   wait `seconds` before the answer
    status    answer `status` with Retry-After `seconds` (0: without the header); also inside a batch
    reset     close the connection without an answer; `after`: the request was carried out before
    slow      send the body in pieces over `seconds`
    truncate  cut the body in half, with the length of what is left
    short     cut the body in half, with the length of the whole
    times     how often it happens; None: always
    """

    def __init__(self, kind: str, match: str = "", times: int | None = None, seconds: float = 0.0, status: int = 500,
                 after: bool = False, reason: str = "") -> None:
        if kind not in FAULTS:
            raise ValueError(f"unknown fault {kind!r}; known: {', '.join(FAULTS)}")
        self.kind = kind
        self.match = match
        self.times = times
        self.seconds = seconds
        self.status = status
        self.after = after
        self.reason = reason
        self.seen = 0


class Quota:
    """At most `units` in any `seconds` for requests whose `METHOD PATH` contains `match`; more is answered with 429.

    cost   of a request in units; default: 1
    clock  seconds; the Retry-After that goes out is in these
    """

    def __init__(self, units: float, seconds: float, match: str = "", cost: Callable[[Request], float] = lambda r: 1.0,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self.units, self.seconds, self.match, self.cost, self.clock = units, seconds, match, cost, clock
        self.refused = 0
        self._taken: list[tuple[float, float]] = []

    def take(self, request: Request) -> float:
        """Seconds until there is room again; 0: the request may go on."""
        if self.match not in f"{request.method} {request.path}":
            return 0.0
        now, cost = self.clock(), self.cost(request)
        self._taken = [(at, units) for at, units in self._taken if at > now - self.seconds]
        if self._taken and sum(units for _, units in self._taken) + cost > self.units:
            self.refused += 1
            return max(0.001, self._taken[0][0] + self.seconds - now)
        self._taken.append((now, cost))
        return 0.0


class Simulator:
    """Base of every simulator. Subclasses answer in `handle`; `start` gives the address.

    Also a context manager. `log` has every request that was answered, in order of arrival; `busiest` is the most
    that were worked on at the same time.
    """

    def __init__(self) -> None:
        self.log: list[LogEntry] = []
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self.quotas: list[Quota] = []
        self._busy = 0
        self.busiest = 0
        self._server: ThreadingHTTPServer | None = None

    def handle(self, request: Request, entry: LogEntry) -> Response:
        raise NotImplementedError

    def now(self) -> float:
        """The service's clock, for the Date header."""
        return time.time()

    def error(self, status: int, message: str = "", headers: dict[str, str] | None = None,
              reason: str = "") -> Response:
        """The service's own shape of an error."""
        return Response.of_json({"error": {"code": status, "message": message}}, status, headers)

    # ---- faults and log

    def fault(self, kind: str, match: str = "", **options: Any) -> Fault:
        """Make something go wrong from now on; see Fault."""
        fault = Fault(kind, match, **options)
        with self._lock:
            self._faults.append(fault)
        return fault

    def heal(self) -> None:
        """Take every fault away."""
        with self._lock:
            self._faults.clear()

    def take_fault(self, kinds: tuple[str, ...], request: Request) -> Fault | None:
        """The first fault of these kinds for the request; counts it."""
        text = f"{request.method} {request.path}"
        with self._lock:
            for fault in self._faults:
                if fault.kind in kinds and fault.match in text:
                    if fault.times is not None:
                        if fault.times <= 0:
                            continue
                        fault.times -= 1
                    fault.seen += 1
                    return fault
        return None

    def refusal(self, request: Request) -> Response | None:
        """The answer of a `status` fault, where there is one for the request."""
        fault = self.take_fault(("status",), request)
        if fault is None:
            return None
        headers = {"Retry-After": f"{fault.seconds:g}"} if fault.seconds else {}
        return self.error(fault.status, "", headers, fault.reason)

    def over_quota(self, request: Request) -> Response | None:
        """The answer to a request that is too much."""
        with self._lock:
            wait = max((quota.take(request) for quota in self.quotas), default=0.0)
        return self.error(429, "", {"Retry-After": f"{wait:.3f}"}) if wait else None

    def calls(self, match: str = "") -> int:
        """How many logged requests have `match` in `METHOD PATH`."""
        with self._lock:
            return sum(match in f"{e.method} {e.path}" for e in self.log)

    def clear_log(self) -> None:
        with self._lock:
            self.log.clear()

    # ---- life

    @property
    def address(self) -> str:
        """`http://127.0.0.1:PORT/`, once started."""
        if self._server is None:
            raise RuntimeError("the simulator was not started")
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def start(self, port: int = 0) -> str:
        """Listen on loopback (a free port unless given) in a daemon thread; the address."""
        if self._server is None:
            self._server = _listen(self, type(self).__name__, port)
        return self.address

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> Any:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()


class Service(Simulator):
    """A simulator whose whole state one object holds: `kept`, with snapshot, restore and state of its own."""

    clock: Clock

    @property
    def kept(self) -> Any:
        raise NotImplementedError

    def now(self) -> float:
        return self.clock.now()

    def snapshot(self) -> Any:
        """The whole state, to be given to `restore`."""
        return self.kept.snapshot()

    def restore(self, snapshot: Any) -> None:
        self.kept.restore(snapshot)

    def state(self) -> dict[str, Any]:
        """What a user of the service could see, as JSON values."""
        found: dict[str, Any] = self.kept.state()
        return found

    @staticmethod
    def diff(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        """What was added, removed and changed (before, after) between two `state()`s."""
        return {"added": {k: v for k, v in after.items() if k not in before},
                "removed": {k: v for k, v in before.items() if k not in after},
                "changed": {k: (before[k], v) for k, v in after.items() if k in before and before[k] != v}}


class OnDemand:
    """The address of a simulator that make() gives when the first request comes; until then only a port is open."""

    def __init__(self, make: Callable[[], Simulator]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._simulator: Simulator | None = None
        self._server: _Server | None = None

    @property
    def simulator(self) -> Simulator:
        with self._lock:
            if self._simulator is None:
                self._simulator = self._make()
                self._simulator._server = self._server       # its address is in its answers
            return self._simulator

    def start(self) -> str:
        """Listen on a free port of loopback; the address."""
        with self._lock:
            if self._server is None:
                self._server = _listen(property(lambda handler: self.simulator), "WaitingSimulator")
            return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def stop(self) -> None:
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    block_on_close = False


def _listen(simulator: Simulator | property, name: str, port: int = 0) -> _Server:
    """A server for `simulator` on loopback, in a daemon thread."""
    server = _Server(("127.0.0.1", port), type("Handler", (_Handler,), {"simulator": simulator}))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name=name, daemon=True).start()
    return server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536
    simulator: Simulator

    def _serve(self) -> None:
        simulator = self.simulator
        with simulator._lock:
            simulator._busy += 1
            simulator.busiest = max(simulator.busiest, simulator._busy)
        try:
            self._work()
        finally:
            with simulator._lock:
                simulator._busy -= 1

    def _work(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size) if size else b""
        request = Request(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        simulator, entry = self.simulator, LogEntry(request)
        with simulator._lock:
            simulator.log.append(entry)
        fault = simulator.take_fault(("latency",), request)
        if fault is not None:
            time.sleep(fault.seconds)
        reset = simulator.take_fault(("reset",), request)
        if reset is not None and not reset.after:
            self._drop()
            return
        response = simulator.refusal(request) or simulator.over_quota(request) or simulator.handle(request, entry)
        entry.status, entry.sent = response.status, len(response.body)
        if reset is not None:
            self._drop()
            return
        self._send(response, simulator.take_fault(("slow", "truncate", "short"), request))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    def _drop(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, response: Response, fault: Fault | None) -> None:
        body, kind = response.body, fault.kind if fault is not None else ""
        sent = body[:len(body) // 2] if kind in ("truncate", "short") else body
        self.send_response_only(response.status)
        self.send_header("Date", self.date_time_string(int(self.simulator.now())))
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body if kind == "short" else sent)))
        self.end_headers()
        if self.command == "HEAD":
            self.wfile.flush()
            return
        if kind == "slow" and fault is not None:
            step = max(1, len(sent) // 10)
            for at in range(0, len(sent), step):
                self.wfile.write(sent[at:at + step])
                self.wfile.flush()
                time.sleep(fault.seconds / 10)
        else:
            self.wfile.write(sent)
        if kind == "short":
            self.close_connection = True
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are kept in the simulator's log, not printed."""

    def handle(self) -> None:
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            pass
