"""A TCP proxy on loopback that cuts, resets and delays what a server sends."""
from __future__ import annotations

import contextlib
import random
import socket
import struct
import threading
import time


class FaultyProxy:
    """Between a client and the server on a port. While `share` is above 0, that part of the connections goes wrong: closed or reset
    after some bytes of the answer, or slow. `hurt` counts them."""

    def __init__(self, port: int, seed: int = 1) -> None:
        self._target = port
        self._rng = random.Random(seed)
        self._server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._server.getsockname()[1]
        self.share = 0.0
        self.most = 3000                                     # bytes of an answer before it goes wrong
        self.hurt = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        kind, after = "", self._rng.randrange(self.most)
        if self._rng.random() < self.share:
            kind = self._rng.choice(("close", "reset", "slow"))
            self.hurt += 1
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._target)) as server, client:
            threading.Thread(target=self._pump, args=(client, server), daemon=True).start()
            sent = 0
            while data := server.recv(4096):
                if kind in ("close", "reset") and sent + len(data) > after:
                    client.sendall(data[:after - sent])
                    if kind == "reset":
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    client.shutdown(socket.SHUT_RD if kind == "reset" else socket.SHUT_RDWR)    # ends the recv of _pump
                    return
                if kind == "slow":
                    time.sleep(0.005)
                client.sendall(data)
                sent += len(data)

    @staticmethod
    def _pump(client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)
