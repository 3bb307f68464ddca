"""Requests to a REST service through httpx, which is imported by the first one. Thread-safe; waits in the thread.

Errors are OSError (mirage/vfs/service.py) with the service's own message, from which the token is removed.
"""
from __future__ import annotations

import email.utils
import functools
import json
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from mirage.vfs.credential import Credential
from mirage.vfs.service import Counters, Failure, RateLimiter, Retry, as_oserror, connection_failed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mirage.vfs.declare.model import Service
    from mirage.vfs.secrets import Secret

REDIRECTS = 5
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Answer:
    """What came back: `value` parsed from JSON, or bytes where they were asked for. `status` 304: unchanged.

    next  path and query of the next page, from the header Link
    kind  the media type of bytes
    """

    __slots__ = ("etag", "kind", "next", "size", "status", "value")

    def __init__(self, value: Any, size: int = 0, etag: str = "", status: int = 200, next: str = "",
                 kind: str = "") -> None:
        self.kind = kind
        self.value = value
        self.size = size
        self.etag = etag
        self.status = status
        self.next = next


class Body:
    """The body of a request that is not JSON: its bytes and their media type."""

    __slots__ = ("content", "kind")

    def __init__(self, content: bytes, kind: str) -> None:
        self.content = content
        self.kind = kind


class RestClient:
    """One account of one service.

    token     sent as the declaration says; asked for again when the service refuses it
    endpoint  another server than the declaration's base_url
    timeout   seconds without a byte
    """

    def __init__(self, service: Service, token: Secret | None = None, endpoint: str = "", rate: float | None = None,
                 retry: Retry | None = None, timeout: float = 30.0) -> None:
        self.service = service
        self.name = service.name
        self.base = (endpoint or service.base_url).rstrip("/")
        if urlsplit(self.base).scheme not in ("http", "https"):
            raise ValueError(f"{service.name}: base_url must begin with https:// or http://")
        self.counters = Counters()
        self.retry = retry or Retry()
        self.timeout = timeout
        self._token = Credential(token)
        rate = service.rate if rate is None else rate
        self._limiter = RateLimiter(rate, max(1.0, rate * 2))
        self._slots = threading.BoundedSemaphore(service.width)
        self._lock = threading.Lock()
        self._http: Any = None

    def send(self, method: str, path: str, query: Mapping[str, str] | None = None, *, etag: str = "",
             raw: bool = False, body: Any = None, safe: bool | None = None, length: int | None = None,
             headers: Mapping[str, str] | None = None) -> Answer:
        """One request, repeated after failures where that does no harm (`safe`; by default GET).

        path    below base_url, or an address of a next page on the same server
        raw     bytes instead of JSON; `length`: how many there must be
        body    sent as JSON, or a Body
        """
        url = self.base + path if path.startswith("/") else path
        if _origin(url) != _origin(self.base):
            raise as_oserror(self.name, Failure(0, "an address on another server"))
        sent = {**(headers or {}), **({"If-None-Match": etag} if etag else {})}

        def attempt() -> Answer:
            self._limiter.take(1)
            with self._slots:
                return self._once(method, url, dict(query or {}), sent, raw, body, length)
        return self.retry.run(self.name, attempt, method == "GET" if safe is None else safe)

    def _once(self, method: str, url: str, query: dict[str, str], headers: dict[str, str], raw: bool, body: Any,
              length: int | None) -> Answer:
        refused = False
        while True:
            token = self._token.text()
            response, data = self._exchange(method, url, query, headers, token, body)
            if response.status_code == 401 and not refused and self._token.renewed(token):
                refused = True
                continue
            break
        status = response.status_code
        etag = response.headers.get("etag", "")
        if status == 304 and "If-None-Match" in headers:
            return Answer(None, 0, etag or headers["If-None-Match"], 304, self._next(response))
        failure = self.failure(response, data, token)
        if failure is not None:
            raise failure
        if raw:
            if length is not None and len(data) != length:
                raise Failure(0, f"the content is not complete: {len(data)} of {length} bytes")
            return Answer(data, len(data), etag, status, self._next(response), response.headers.get("content-type", ""))
        try:
            value = json.loads(data) if data else None
        except ValueError:
            raise Failure(0, "the answer is not complete, or no JSON") from None
        return Answer(value, len(data), etag, status, self._next(response))

    def _exchange(self, method: str, url: str, query: dict[str, str], headers: dict[str, str], token: str,
                  body: Any) -> tuple[Any, bytes]:
        """The response, after redirects; what leads to another server does not get the token."""
        import httpx
        auth = self.service.auth
        sent = {**self.service.headers, **headers}
        if token:
            sent[auth.header] = self.credentials(token)
        payload: dict[str, Any] = {"json": body}
        if isinstance(body, Body):
            payload = {"content": body.content}
            sent["Content-Type"] = body.kind
        for _ in range(REDIRECTS):
            try:
                address = httpx.URL(url).copy_merge_params(query) if query else url
                response = self._client().request(method, address, headers=sent, **payload)
            except httpx.TimeoutException:
                raise Failure(0, "no answer in time") from None
            except (httpx.HTTPError, httpx.InvalidURL) as e:
                raise connection_failed(url, e) from None
            self.counters.add(calls=1, size=len(response.content))
            target = response.headers.get("location", "")
            if response.status_code not in (301, 302, 303, 307, 308) or not target or method != "GET":
                return response, response.content
            target, query = urljoin(url, target), {}
            if urlsplit(target).scheme not in ("http", "https"):
                break
            if _origin(target) != _origin(url):
                sent = {name: value for name, value in sent.items() if name == "Range"}
            url = target
        raise Failure(0, "too many redirections, or one that leads nowhere")

    def credentials(self, token: str) -> str:
        """What the header that carries the token says."""
        return f"{self.service.auth.scheme} {token}".strip()

    def failure(self, response: Any, data: bytes, token: str) -> Failure | None:
        """What an answer says went wrong."""
        if 200 <= response.status_code < 300:
            return None
        return Failure(response.status_code, self._message(response, data, token),
                       _wait(response.headers.get("retry-after", "")))

    def _client(self) -> Any:
        with self._lock:
            if self._http is None:
                import httpx
                direct = {f"all://{host}": None for host in LOOPBACK}
                self._http = httpx.Client(timeout=self.timeout, follow_redirects=False, mounts=direct, verify=_tls())
            return self._http

    def _message(self, response: Any, data: bytes, token: str) -> str:
        try:
            text = self.service.message(json.loads(data))
        except ValueError:
            text = ""
        return f"{clean(text or response.reason_phrase, token)} ({response.status_code})"

    @staticmethod
    def _next(response: Any) -> str:
        link: str = response.links.get("next", {}).get("url", "")
        return urljoin(str(response.url), link) if link else ""

    @property
    def account(self) -> str:
        """Equal for two clients of one account; shows the name of the secret, not its text."""
        return f"{self.base}:{self._token!r}"

    def same_account(self, token: Secret | None, endpoint: str) -> bool:
        """Do these options name the account of this client? Without a token: its server."""
        base = (endpoint or self.service.base_url).rstrip("/")
        return base == self.base and (token is None or repr(token) == repr(self._token))

    def close(self) -> None:
        with self._lock:
            if self._http is not None:
                self._http.close()
                self._http = None

    def __repr__(self) -> str:
        return f"RestClient({self.base!r})"


def clean(text: str, token: str) -> str:
    """A message of the service in one line, without the token."""
    text = " ".join((text or "error").split())[:300]
    return text.replace(token, "***") if token else text


@functools.cache
def _tls() -> Any:
    """Reading the certificates takes a fifth of a second: once for all clients."""
    import httpx
    return httpx.create_ssl_context()


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _wait(text: str) -> float | None:
    """Seconds of a Retry-After header, which may also be a date."""
    if text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
