"""One server through pymongo, which is imported by the first use. Thread-safe; errors are OSError."""
from __future__ import annotations

import errno
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus, urlsplit

from mirage.vfs.service import Counters, service_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.mounts.sql.url import DatabaseUrl

ERRNO = {13: errno.EACCES, 18: errno.EACCES, 8000: errno.EACCES, 26: errno.ENOENT, 27: errno.ENOENT, 48: errno.EEXIST,
         11000: errno.EEXIST, 50: errno.ETIMEDOUT, 9: errno.EINVAL, 2: errno.EINVAL, 14: errno.EINVAL, 73: errno.EINVAL}
WAIT = 10_000                                                # milliseconds to find a server


class Server:
    """timeout  seconds that a command may take; 0: no limit"""

    def __init__(self, url: DatabaseUrl, timeout: float = 30.0) -> None:
        self.url = url
        self.timeout = timeout
        self.counters = Counters()
        self._lock = threading.Lock()
        self._client: Any = None
        self._password = ""

    def client(self) -> Any:
        """The MongoClient. OSError where the secret is missing or the URL is none."""
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _connect(self) -> Any:
        from bson.codec_options import DatetimeConversion
        from pymongo import MongoClient
        from pymongo.errors import PyMongoError
        try:
            url = self.url.reveal()
        except LookupError as e:
            raise service_error(errno.EACCES, f"mongodb: {e}") from None
        try:
            self._password = unquote_plus(urlsplit(url).password or "")
            return MongoClient(url, serverSelectionTimeoutMS=WAIT, connectTimeoutMS=WAIT, appname="mirage",
                               tz_aware=True, event_listeners=[_counting(self.counters)],
                               unicode_decode_error_handler="replace",
                               datetime_conversion=DatetimeConversion.DATETIME_AUTO)
        except (PyMongoError, ValueError) as e:
            raise self.error(e) from None

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """function(client, *args). Reads are tried again after lost connections, until `timeout` is over."""
        import pymongo
        from bson.errors import BSONError
        from pymongo.errors import PyMongoError
        client = self.client()
        try:
            with pymongo.timeout(self.timeout or None):
                return function(client, *args)
        except (PyMongoError, BSONError) as e:
            raise self.error(e) from None

    def error(self, error: Exception) -> OSError:
        """An errno by MongoDB's code; its message, without the password."""
        code = getattr(error, "code", None)
        details = getattr(error, "details", None) or {}
        first: dict[str, Any] = next(iter(details.get("writeErrors") or ()), {})
        code = first.get("code", code)
        text = str(first.get("errmsg") or details.get("errmsg") or error)
        text = text.partition(", full error:")[0].partition(", Timeout:")[0]
        if self._password:
            text = text.replace(self._password, "***")
        number = ERRNO.get(code or 0, errno.EIO)
        if getattr(error, "timeout", False) and number == errno.EIO:
            number = errno.ETIMEDOUT
        name = type(error).__name__
        if name == "CollectionInvalid":
            number = errno.EEXIST
        if name in ("ConfigurationError", "InvalidURI", "InvalidName", "ValueError", "InvalidDocument"):
            number = errno.EINVAL
        return service_error(number, f"mongodb: {' '.join(text.split())[:300] or name}")

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def __repr__(self) -> str:
        return f"Server({self.url!r})"


def _counting(counters: Counters) -> Any:
    from pymongo.monitoring import CommandListener

    class Counting(CommandListener):
        def started(self, event: Any) -> None:
            if event.command_name not in ("endSessions", "ping"):
                counters.add(calls=1)

        def succeeded(self, event: Any) -> None:
            """Only what is asked counts."""

        def failed(self, event: Any) -> None:
            """Errors are raised where they belong."""
    return Counting()
