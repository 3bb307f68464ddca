"""The mounts of the demo's stores, for servers on these ports of loopback."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirage.mounts.fsspec.mount import FileStore
    from mirage.mounts.http.mount import Http
    from mirage.mounts.imap.mount import Imap
    from mirage.mounts.mongodb.mount import MongoDB


def mongo(port: int) -> MongoDB:
    from mirage.mounts.mongodb.mount import MongoDB
    from mirage.mounts.sql.url import DatabaseUrl
    return MongoDB(DatabaseUrl(f"mongodb://127.0.0.1:{port}/"))


def redis(port: int) -> FileStore:
    from mirage.mounts.redis import build
    from mirage.mounts.sql.url import DatabaseUrl
    return build(DatabaseUrl(f"redis://127.0.0.1:{port}/0"), writable=True)


def s3(port: int) -> FileStore:
    from mirage.bench.demo.services import DemoToken
    from mirage.mounts.s3 import build
    key = DemoToken("simulator")
    return build("", key, key, endpoint=f"http://127.0.0.1:{port}", region="us-east-1", writable=True)


def support(imap: int, smtp: int) -> Imap:
    from mirage.bench.demo.mailbox import PASSWORD, USER
    from mirage.bench.demo.services import DemoToken
    from mirage.mounts.imap.mount import Imap
    return Imap("127.0.0.1", USER, DemoToken(PASSWORD), port=imap, tls="none", smtp_port=smtp)


def web(address: str) -> Http:
    from mirage.bench.demo.contents import PAGES
    from mirage.mounts.http.mount import Http
    urls: dict[str, Any] = {name: address + name for name in PAGES}
    return Http(urls, private=True)
