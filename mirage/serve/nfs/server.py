"""A server: one TCP port for NFS and MOUNT, a thread for each connection. No portmapper: clients name the port.

    mount -t nfs -o vers=3,tcp,port=11111,mountport=11111,nolock 127.0.0.1:/ /mnt/x
"""
from __future__ import annotations

import contextlib
import socket
import threading

from mirage.serve.nfs.mountd import MountProgram
from mirage.serve.nfs.nfs3 import Export
from mirage.serve.nfs.rpc import Calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from mirage.vfs.inodes import Inodes

TEND = 0.05                                                  # seconds
MOST = 256                                                   # connections


class NfsServer:
    """`with NfsServer(inodes, stable=True, sync=db.sync) as server:` serves at (server.host, server.port).

    port    0: any free one
    report  gets exceptions that are bugs
    Raises OSError where the address cannot be had.
    """

    def __init__(self, inodes: Inodes, *, stable: bool, sync: Callable[[], None], host: str = "127.0.0.1",
                 port: int = 0, report: Callable[[BaseException], None] | None = None) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=64)
        self.host, self.port = self._socket.getsockname()[:2]
        self._inodes = inodes
        self.export = Export(inodes, stable, sync)
        self._calls = Calls([self.export, MountProgram(self.export)], report or (lambda e: None))
        self._connections: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._own = [threading.Thread(target=run, name="vfs-nfs", daemon=True) for run in (self._accept, self._tend)]
        for thread in self._own:
            thread.start()

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                connection, caller = self._socket.accept()
            except OSError:
                return
            with self._lock:
                if self._stop.is_set() or len(self._connections) >= MOST:
                    connection.close()
                    continue
                self._connections.add(connection)
                thread = threading.Thread(target=self._serve, args=(connection, str(caller[0])), daemon=True,
                                          name="vfs-nfs-client")
                self._threads.add(thread)
            thread.start()

    def _serve(self, connection: socket.socket, caller: str) -> None:
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._calls.serve(connection, caller)
        with self._lock:
            self._connections.discard(connection)
            self._threads.discard(threading.current_thread())

    def _tend(self) -> None:
        """Store what has waited; close files that nobody uses."""
        while not self._stop.wait(TEND):
            with contextlib.suppress(OSError):
                self._inodes.tend()
                self.export.files.tend()

    def close(self) -> None:
        """End the connections, and store everything."""
        self._stop.set()
        with self._lock:
            threads, connections = list(self._threads), list(self._connections)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in (*self._own, *threads):
            thread.join(5)
        self.export.close()
        self._inodes.close()
        self.export.sync()

    def __enter__(self) -> NfsServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, failure: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
