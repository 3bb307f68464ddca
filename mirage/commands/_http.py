"""A small HTTP client for curl and wget: only to hosts that the owner allowed, never to private addresses."""
from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from mirage.process.blocking import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mirage.process.process import Process

PIECE = 1 << 16


class HttpError(Exception):
    """A transfer that failed: curl's exit status, its text, and the note of the terminal."""

    def __init__(self, status: int, text: str, note: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.note = note


class Response:
    """Status line, headers and the body, which is read piece by piece."""

    def __init__(self, url: str, status: int, reason: str, headers: list[tuple[str, str]],
                 connection: http.client.HTTPConnection | None, body: http.client.HTTPResponse | None,
                 data: bytes = b"") -> None:
        self.url = url
        self.status = status
        self.reason = reason
        self.headers = headers
        self._connection = connection
        self._body = body
        self._data = data

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    def pieces(self) -> Iterator[bytes]:
        if self._body is None:
            for at in range(0, len(self._data), PIECE):
                yield self._data[at:at + PIECE]
            return
        try:
            while data := call(self._body.read, PIECE):
                yield data
        except (OSError, http.client.HTTPException) as e:
            raise HttpError(56, f"Recv failure: {e}") from None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def allowed(proc: Process, host: str) -> bool:
    """Is the host one of those that the owner of the terminal gave? `.example.com` stands for all below it too."""
    host = host.lower().rstrip(".")
    for name in proc.machine.net:
        name = name.lower()
        if name == "*" or host == name.lstrip(".") or name.startswith(".") and host.endswith(name):
            return True
    return False


def addresses(proc: Process, host: str, port: int) -> list[str]:
    """The public addresses of an allowed host; HttpError 6 where the network is off or the name unknown."""
    if not allowed(proc, host):
        reason = f"the network is off for {host}" if proc.machine.net else "the network is off in this terminal"
        raise HttpError(6, f"Could not resolve host: {host}",
                        f"{reason}; its owner names the hosts that may be reached")
    try:
        found = call(socket.getaddrinfo, host, port, 0, socket.SOCK_STREAM)
    except OSError:
        raise HttpError(6, f"Could not resolve host: {host}") from None
    public = [str(info[4][0]) for info in found if is_public(str(info[4][0]))]
    if not public:
        raise HttpError(7, f"Failed to connect to {host} port {port}: Permission denied",
                        f"{host} has a private address, which cannot be reached from here")
    return public


def is_public(address: str) -> bool:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None)
    return (mapped or ip).is_global and not ip.is_multicast


class _Pinned(http.client.HTTPSConnection):
    """A connection to an address that was checked, with the host's name in the certificate check."""

    def __init__(self, host: str, port: int, address: str, timeout: float, secure: bool) -> None:
        self.tls = ssl.create_default_context()
        super().__init__(host, port, timeout=timeout, context=self.tls)
        self.address = address
        self.secure = secure
        if not secure:
            self.default_port = 80

    def connect(self) -> None:
        self.sock = socket.create_connection((self.address, self.port), self.timeout)
        if self.secure:
            self.sock = self.tls.wrap_socket(self.sock, server_hostname=self.host)


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:                                       # what stands in brackets is no address
        raise HttpError(3, "URL rejected: Bad IPv6 address") from None


def request(proc: Process, method: str, url: str, headers: Mapping[str, str], body: bytes | None,
            timeout: float) -> Response:
    """One request, without following redirections."""
    parts = _split(url)
    scheme = parts.scheme.lower()
    if scheme == "file":
        return _file(proc, url, unquote(parts.path))
    if scheme not in ("http", "https"):
        raise HttpError(1, f"Protocol \"{scheme}\" not supported")
    host = parts.hostname or ""
    try:
        port = parts.port or (443 if scheme == "https" else 80)
    except ValueError:
        raise HttpError(3, "URL rejected: Port number was not a decimal number between 0 and 65535") from None
    if not host:
        raise HttpError(3, "URL rejected: No host part in the URL")
    public = addresses(proc, host, port)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if any(ord(c) <= 32 or ord(c) == 127 for c in target + "".join(headers) + "".join(headers.values()).replace(" ", "")
           .replace("\t", "")):
        raise HttpError(3, "URL rejected: Malformed input to a URL function")
    connection = _Pinned(host, port, public[0], timeout, scheme == "https")
    try:
        call(connection.request, method, target.encode("ascii", "backslashreplace").decode(), body, dict(headers))
        answer = call(connection.getresponse)
    except ssl.SSLError as e:
        connection.close()
        raise HttpError(60, f"SSL certificate problem: {getattr(e, 'verify_message', '') or e.reason}") from None
    except TimeoutError:
        connection.close()
        raise HttpError(28, f"Connection timed out after {int(timeout * 1000)} milliseconds") from None
    except (OSError, http.client.HTTPException, ValueError, UnicodeError) as e:
        connection.close()
        raise HttpError(7, f"Failed to connect to {host} port {port}: {getattr(e, 'strerror', None) or e}") from None
    return Response(url, answer.status, answer.reason, answer.getheaders(), connection, answer)


def _file(proc: Process, url: str, path: str) -> Response:
    try:
        stat = proc.fs.stat(path)
        proc.kernel.fits(stat.size or 0)
        data = proc.fs.read(path)
    except OSError as e:
        raise HttpError(37, f"Couldn't open file {path}", getattr(e, "note", "") or "") from None
    return Response(url, 0, "", [("Content-Length", str(len(data)))], None, None, data)


def fetch(proc: Process, method: str, url: str, headers: Mapping[str, str], body: bytes | None, timeout: float,
          redirects: int) -> Iterator[Response]:
    """The responses of a request and of the redirections that follow it, the last one with its body unread."""
    first = _split(url).hostname
    headers = dict(headers)
    for turn in range(redirects + 1):
        response = request(proc, method, url, headers, body, timeout)
        target = response.header("Location")
        if not (redirects and target and response.status in (301, 302, 303, 307, 308)):
            yield response
            return
        if turn == redirects:
            response.close()
            raise HttpError(47, f"Maximum ({redirects}) redirects followed")
        yield response
        response.close()
        try:
            url = urljoin(url, target)
        except ValueError:
            raise HttpError(3, "URL rejected: Bad IPv6 address") from None
        if _split(url).scheme not in ("http", "https"):
            raise HttpError(1, f"Protocol \"{_split(url).scheme}\" not supported")
        if response.status == 303 or response.status in (301, 302) and method == "POST":
            method, body = "GET" if method != "HEAD" else method, None
            headers = {k: v for k, v in headers.items() if k.lower() not in ("content-type", "content-length")}
        if _split(url).hostname != first:
            headers = {k: v for k, v in headers.items() if k.lower() not in ("authorization", "cookie")}
