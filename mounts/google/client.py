"""Calls to Google's APIs through google-api-python-client, which is imported by the first one.

Methods have the ids of the discovery documents: `drive.files.list`, `sheets.spreadsheets.values.get`,
`calendar.events.list`, `gmail.users.messages.get`. Every method of GoogleClient waits for the service: call it through
mirage.process.blocking. Thread-safe: each thread has its own connection. Errors are OSError (mirage/vfs/service.py)
with the service's message, never with a credential.
"""
from __future__ import annotations

import email.utils
import errno
import threading
import time
from typing import TYPE_CHECKING, Any

from mirage.vfs.declare.client import Answer
from mirage.vfs.service import Counters, Failure, RateLimiter, Retry, as_oserror, service_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mirage.mounts.google.transport import Api
    from mirage.vfs.secrets import Secret

VERSIONS = {"calendar": "v3", "docs": "v1", "drive": "v3", "gmail": "v1", "sheets": "v4", "slides": "v1"}
TIMEOUT = 60.0
PARTS = 100                                                  # requests in a batch


class GoogleClient:
    """One account, for one service.

    name         the service's name in messages
    token        an access token; asked for again when the service refuses it (for file: and cmd: secrets)
    credentials  JSON of an authorized user: client_id, client_secret, refresh_token, token_uri
    endpoint     root address of another server, such as a simulator, for every API
    rate         units a second; 0: no limit.  units: what a request costs
    defaults     parameters of every request that knows them, such as {"userId": "me"}
    limits       API -> (requests a second, requests at once), beside `rate`, where `rate` is not 0
    """

    def __init__(self, name: str, token: Secret | None, credentials: Secret | None, endpoint: str = "",
                 rate: float = 0.0, units: float = 1.0, retry: Retry | None = None,
                 defaults: Mapping[str, Any] | None = None,
                 limits: Mapping[str, tuple[float, float]] | None = None) -> None:
        if (token is None) == (credentials is None):
            raise ValueError(f"{name} needs either token or credentials")
        self.name = name
        self.counters = Counters()
        self.endpoint = endpoint.rstrip("/") + "/" if endpoint else ""
        self.retry = retry or Retry()
        self.units = units
        self.defaults = dict(defaults or {})
        self._token = token
        self._user = credentials
        self._limiter = RateLimiter(rate, max(rate * 20, 1))
        self._limiters = {api: RateLimiter(*limit) for api, limit in (limits or {}).items()} if rate else {}
        self._lock = threading.Lock()
        self._local = threading.local()
        self._apis: dict[str, Api] = {}
        self._credentials: Any = None
        self._offset = 0.0                                   # the service's clock less ours

    # ---- the library

    @property
    def connected(self) -> bool:
        return self._credentials is not None

    def connect(self) -> None:
        """Load the library and the credentials; also done by the first request."""
        from mirage.mounts.google.transport import make_credentials
        with self._lock:
            if self._credentials is None:
                try:
                    self._credentials = make_credentials(self._token, self._user)
                except (LookupError, ValueError) as e:
                    raise as_oserror(self.name, Failure(401, f"credentials: {e}")) from None

    def _api(self, name: str) -> Api:
        found = self._apis.get(name)
        if found is None:
            from mirage.mounts.google.transport import Api
            self.connect()
            with self._lock:
                found = self._apis.get(name)
                if found is None:
                    found = self._apis[name] = Api(name, VERSIONS[name], self.endpoint)
        return found

    def _http(self) -> Any:
        """This thread's connection."""
        http = getattr(self._local, "http", None)
        if http is None:
            from mirage.mounts.google.transport import authorized_http
            self.connect()
            http = self._local.http = authorized_http(self._credentials, self, TIMEOUT)
        return http

    def received(self, size: int, date: str) -> None:
        """One HTTP answer arrived (called by the transport)."""
        self.counters.add(calls=1, size=size)
        when = email.utils.parsedate_to_datetime(date).timestamp() if date else None
        if when is not None:
            self._offset = when - time.time()

    def now(self) -> float:
        """Seconds since the epoch on the service's clock, as far as it is known."""
        return time.time() + self._offset

    # ---- requests

    def request(self, method: str, **parameters: Any) -> Any:
        """A request of the library, not sent yet. ValueError for a parameter that the method does not know."""
        api, _, id = method.partition(".")
        try:
            return self._api(api).method(id)(**self.defaults, **parameters)
        except TypeError as e:
            raise ValueError(f"{method}: {e}") from None

    def execute(self, request: Any, safe: bool | None = None, units: float | None = None) -> Any:
        """The answer to one request; sent again after failures where that does no harm (by default: GET)."""
        return self._send(request, safe, units)[1]

    def call(self, method: str, safe: bool | None = None, **parameters: Any) -> Any:
        """The answer of a method; `safe` as for execute."""
        return self.execute(self.request(method, **parameters), safe)

    def _send(self, request: Any, safe: bool | None = None, units: float | None = None,
              headers: dict[str, str] | None = None) -> tuple[Any, Any]:
        own = self._limiters.get(str(request.methodId).partition(".")[0])

        def attempt() -> tuple[Any, Any]:
            self._limiter.take(self.units if units is None else units)
            if own is not None:
                own.take(1)
            from mirage.mounts.google.transport import send
            return send(request, self._http(), headers)
        return self.retry.run(self.name, attempt, request.method == "GET" if safe is None else safe)

    def send(self, method: str, path: str, query: Mapping[str, Any] | None = None, *, etag: str = "", raw: bool = False,
             body: Any = None, safe: bool | None = None, length: int | None = None) -> Answer:
        """For declarations (mirage/vfs/declare): `path` is the id of a method, `query` its parameters.

        raw  the content as bytes (of a method such as `drive.files.get_media`); `length`: how many there must be
        """
        parameters = {key: False if value in ("false", "False") else value for key, value in (query or {}).items()}
        if body is not None:
            parameters["body"] = body
        headers = {"If-None-Match": etag} if etag else None
        response, value = self._send(self.request(path, **parameters), method == "GET" if safe is None else safe,
                                     headers=headers)
        size = len(value) if isinstance(value, bytes) else int(response.get("content-length", 0) or 0)
        if raw and length is not None and size != length:
            raise service_error(errno.EIO, f"{self.name}: the content is not complete: {size} of {length} bytes")
        return Answer(value, size, response.get("etag", ""), int(response.status))

    def media(self, method: str, start: int = 0, end: int | None = None, **parameters: Any) -> tuple[bytes, int | None]:
        """(bytes from `start` to before `end`, size of the whole where the service tells) of a method `..._media`."""
        headers = {"accept-encoding": "identity"}
        if start or end is not None:
            headers["range"] = f"bytes={start}-{end - 1 if end is not None else ''}"
        response, data = self._send(self.request(method, **parameters), True, headers=headers)
        if int(response.status) != 206:
            return (data[start:end], len(data)) if "range" in headers else (data, len(data))
        total = response.get("content-range", "").rpartition("/")[2]
        return data, int(total) if total.isdigit() else None

    def upload(self, method: str, **parameters: Any) -> Any:
        """The answer to a resumable upload (`media_body` a MediaUpload with resumable=True).

        After a failure it goes on with what the service has; only the request that begins it is never in doubt.
        """
        from mirage.mounts.google.transport import send_chunk
        request = self.request(method, **parameters)

        def attempt() -> Any:
            self._limiter.take(self.units)
            return send_chunk(request, self._http())
        while True:
            value = self.retry.run(self.name, attempt, True)
            if value is not None:
                return value

    def batch(self, requests: Sequence[Any], api: str, units: float | None = None) -> list[Any]:
        """The answers to up to 100 GET requests of an API in one call; an OSError in the place of one that failed."""
        from mirage.mounts.google.transport import send_batch
        cost = self.units if units is None else units
        results: list[Any] = [None] * len(requests)
        todo = list(range(len(requests)))
        number = 1
        while todo:
            indexes = todo

            def attempt(indexes: list[int] = indexes) -> list[Any]:
                self._limiter.take(cost * len(indexes))
                return send_batch([requests[i] for i in indexes], self._http(), self._api(api).batch_url)

            todo, pause = [], 0.0
            for index, answer in zip(indexes, self.retry.run(self.name, attempt), strict=True):
                if isinstance(answer, Failure):
                    wait = self.retry.pause(number, answer)
                    if wait is None:
                        answer = as_oserror(self.name, answer)
                    else:
                        todo.append(index)
                        pause = max(pause, wait)
                results[index] = answer
            if todo:
                time.sleep(pause)
                number += 1
        return results

    def pages(self, method: str, key: str, most: int | None = None, seen: Callable[[Any], None] | None = None,
              **parameters: Any) -> list[Any]:
        """All items of a list method, page by page; at most about `most`. `seen` gets every answer."""
        found: list[Any] = []
        token = None
        while True:
            answer = self.call(method, **parameters, **({"pageToken": token} if token else {}))
            found += answer.get(key, ())
            if seen is not None:
                seen(answer)
            before, token = token, answer.get("nextPageToken")
            if not token or most is not None and len(found) >= most:
                return found
            if token == before:
                raise service_error(errno.EIO, f"{self.name}: the pages of {method} go round in a circle")

    def close(self) -> None:
        """Nothing is sent any more."""

    @property
    def account(self) -> str:
        """Equal for two clients of one account; shows the names of secrets, not their texts."""
        return f"{self.endpoint}:{self._token!r}:{self._user!r}"

    def same_account(self, token: Secret | None, credentials: Secret | None, endpoint: str) -> bool:
        """Do these options name the account of this client?"""
        root = endpoint.rstrip("/") + "/" if endpoint else ""
        return (token, credentials, root) == (self._token, self._user, self.endpoint)

    def __repr__(self) -> str:
        return f"GoogleClient({self.name!r}, endpoint={self.endpoint!r})"
