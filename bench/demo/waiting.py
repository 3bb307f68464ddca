"""A port of loopback behind which nothing runs until somebody knocks."""
from __future__ import annotations

import select
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Waiting:
    """serve(socket) starts a server on the listening socket and gives what stops it. It is called, in a thread of its
    own, when the first client connects; the kernel keeps that client waiting meanwhile.
    """

    def __init__(self, serve: Callable[[socket.socket], Callable[[], None]]) -> None:
        self._serve = serve
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._wake: socket.socket | None = None
        self._stop: Callable[[], None] | None = None
        self.started = False

    def port(self) -> int:
        """The port, which is opened now."""
        with self._lock:
            if self._socket is None:
                self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
                self._wake, other = socket.socketpair()
                threading.Thread(target=self._run, args=(self._socket, other), name="WaitingServer", daemon=True).start()
            number: int = self._socket.getsockname()[1]
            return number

    def _run(self, listening: socket.socket, wake: socket.socket) -> None:
        with wake:
            ready, _, _ = select.select([listening, wake], [], [])
            if wake in ready:
                return
            with self._lock:
                if self._socket is listening:
                    self._stop = self._serve(listening)
                    self.started = True

    def stop(self) -> None:
        with self._lock:
            stop, self._stop = self._stop, None
            listening, self._socket = self._socket, None
            wake, self._wake = self._wake, None
        if wake is not None:
            wake.close()
        if stop is not None:
            stop()
        if listening is not None:
            listening.close()
