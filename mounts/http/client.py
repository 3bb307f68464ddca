"""Requests for the mount: only to addresses that are allowed, redirections too, whole answers or an error."""
from __future__ import annotations

import errno
import ipaddress
import socket
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import httpx

from mirage.vfs.service import Counters, Failure, Retry, connection_failed, service_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mirage.vfs.secrets import Secret

REDIRECTS = 5
AGENT = "mirage-terminal"


class Reply:
    """Status, headers and content of an answer that was not a redirection."""

    __slots__ = ("content", "headers", "status")

    def __init__(self, status: int, headers: httpx.Headers, content: bytes) -> None:
        self.status = status
        self.headers = headers
        self.content = content


class HttpClient:
    """token: sent as Bearer to the server of the URL, not to where it redirects. private: loopback and such may be
    asked. most: bytes of the largest answer.
    """

    def __init__(self, token: Secret | None, private: bool, timeout: float, most: int) -> None:
        self.token = token
        self.private = private
        self.timeout = timeout
        self.most = most
        self.counters = Counters()
        self.retry = Retry()
        self._lock = threading.Lock()
        self._http: httpx.Client | None = None

    def send(self, method: str, url: str, headers: Mapping[str, str] | None = None) -> Reply:
        """One request, repeated where that may help. OSError for what is not 2xx or 416."""
        return self.retry.run("http", lambda: self._follow(method, url, dict(headers or {})))

    def _follow(self, method: str, url: str, headers: dict[str, str]) -> Reply:
        first = _origin(url)
        for _ in range(REDIRECTS + 1):
            reply = self._once(method, url, headers, _origin(url) == first)
            target = reply.headers.get("location", "")
            if reply.status not in (301, 302, 303, 307, 308) or not target:
                break
            url = urljoin(url, target)
            if urlsplit(url).scheme not in ("http", "https"):
                raise Failure(403, "a redirection to what is not http")
        else:
            raise Failure(400, "too many redirections")
        if reply.status in (206, 416) or 200 <= reply.status < 300:
            return reply
        wait = reply.headers.get("retry-after", "")
        raise Failure(reply.status, f"{httpx.codes.get_reason_phrase(reply.status) or 'error'} ({reply.status})",
                      float(wait) if wait.isdigit() else None)

    def _once(self, method: str, url: str, headers: dict[str, str], trusted: bool) -> Reply:
        address, host, name = self._allowed(url)
        sent = {"User-Agent": AGENT, "Accept-Encoding": "identity", **headers, "Host": host}
        if self.token is not None and trusted:
            try:
                sent["Authorization"] = f"Bearer {self.token.reveal()}"
            except LookupError as e:
                raise Failure(401, f"credentials: {e}") from None
        try:
            with self._client().stream(method, address, headers=sent, extensions={"sni_hostname": name}) as response:
                content = bytearray()
                for piece in response.iter_raw():
                    content += piece
                    if len(content) > self.most:
                        raise service_error(errno.EFBIG, f"http: more than {self.most:,} bytes")
                self.counters.add(calls=1, size=len(content))
                return Reply(response.status_code, response.headers, bytes(content))
        except httpx.TimeoutException:
            raise Failure(0, "no answer in time") from None
        except (httpx.HTTPError, httpx.InvalidURL) as e:
            raise connection_failed(url, e) from None

    def _allowed(self, url: str) -> tuple[httpx.URL, str, str]:
        """The URL with the address that was checked, the header Host, and the server's name for TLS."""
        try:
            whole = httpx.URL(url)
            found = socket.getaddrinfo(whole.host, whole.port or (443 if whole.scheme == "https" else 80),
                                       type=socket.SOCK_STREAM)
        except (httpx.InvalidURL, UnicodeError):
            raise Failure(400, "not a URL") from None
        except OSError:
            raise Failure(0, "the server was not found") from None
        addresses = [str(info[4][0]) for info in found]
        if not self.private and not all(_public(address) for address in addresses):
            raise Failure(403, "the server is in a private network (option private=true allows it)")
        return whole.copy_with(host=addresses[0]), whole.netloc.decode("ascii"), whole.raw_host.decode("ascii")

    def _client(self) -> httpx.Client:
        with self._lock:
            if self._http is None:
                self._http = httpx.Client(timeout=self.timeout, follow_redirects=False, trust_env=False)
            return self._http

    def close(self) -> None:
        with self._lock:
            if self._http is not None:
                self._http.close()
                self._http = None


def _public(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    inner = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None) or address
    return bool(address.is_global and inner.is_global and not address.is_multicast)


def _origin(url: str) -> tuple[Any, ...]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port
