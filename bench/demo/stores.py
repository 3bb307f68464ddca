"""The stores of the demo whose servers are not simulators of ours: each as serve(socket) for bench/demo/waiting.py."""
from __future__ import annotations

import socketserver
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    Stop = Callable[[], None]

DOCUMENTS = 1500                                             # of MongoDB


def _run(server: socketserver.BaseServer, name: str) -> Stop:
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name=name, daemon=True).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()
    return stop


def mongo(listening: socket.socket) -> Stop:
    """Telemetry, on our server for MongoDB's driver."""
    from mirage.bench.services.mongo.server import MongoSimulator
    simulator = MongoSimulator(documents=DOCUMENTS)
    simulator.start(listening=listening)
    return simulator.stop


def redis(listening: socket.socket) -> Stop:
    """Sessions, flags and queues, on fakeredis."""
    from fakeredis import FakeRedis, TcpFakeServer

    from mirage.bench.demo.contents import fill_redis
    server = TcpFakeServer(listening.getsockname(), bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.daemon_threads = True
    fill_redis(FakeRedis(server=server.fake_server))
    return _run(server, "RedisServer")


def s3(listening: socket.socket) -> Stop:
    """Exports and backups, on moto."""
    import logging

    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
    from werkzeug.serving import make_server

    from mirage.bench.demo.contents import fill_s3
    fill_s3()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    host, port = listening.getsockname()
    server: Any = make_server(host, port, DomainDispatcherApplication(create_backend_app), threaded=True,
                              request_handler=MotoRequestHandler, fd=listening.fileno())
    server.daemon_threads = True
    return _run(server, "S3Server")


def mailbox(listening: socket.socket) -> Stop:
    """The mailbox of the support, on pymap."""
    from mirage.bench.demo.mailbox import Mailbox
    return Mailbox(listening).stop


def smtp(listening: socket.socket) -> Stop:
    """Takes mail of the support, on aiosmtpd, and keeps nothing: the world ends here."""
    from mirage.bench.demo.mailbox import Outbox
    return Outbox(listening).stop
