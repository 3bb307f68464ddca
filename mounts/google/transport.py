"""The parts that need google-api-python-client: APIs, credentials, connections, batches. Imported on first use."""
from __future__ import annotations

import gzip
import http.client
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import google_auth_httplib2
import googleapiclient
import httplib2
from google.auth.credentials import Credentials
from google.auth.exceptions import GoogleAuthError, RefreshError
from google.oauth2.credentials import Credentials as UserCredentials
from googleapiclient.discovery import build_from_document
from googleapiclient.errors import HttpError

from mirage.vfs.secrets import remember
from mirage.vfs.service import Failure, connection_failed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.mounts.google.client import GoogleClient
    from mirage.vfs.secrets import Secret

DOCUMENTS = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
BOUNDARY = "===============mirage=="
RATE_REASONS = ("rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded",
                "sharingRateLimitExceeded")


class SecretToken(Credentials):
    """An access token from a Secret. Refreshing means to ask for the secret again."""

    def __init__(self, secret: Secret) -> None:
        Credentials.__init__(self)
        self._secret = secret

    def refresh(self, request: Any) -> None:
        token = self._secret.reveal()
        if token == self.token:
            raise RefreshError("the access token was refused")
        self.token = token


def make_credentials(token: Secret | None, user: Secret | None) -> Any:
    """Credentials of google-auth. LookupError where the secret is missing, ValueError where it is no good."""
    credentials: Any
    if token is not None:
        credentials = SecretToken(token)
        credentials.refresh(None)
    else:
        assert user is not None
        info = _load_json(user.reveal(), repr(user))
        missing = [key for key in ("client_id", "client_secret", "refresh_token") if not info.get(key)]
        if missing:
            raise ValueError(f"{user!r} lacks {', '.join(missing)}")
        credentials = UserCredentials(
            info.get("token"), refresh_token=info["refresh_token"], client_id=info["client_id"],
            client_secret=info["client_secret"], scopes=info.get("scopes"),
            token_uri=info.get("token_uri") or "https://oauth2.googleapis.com/token")
    lock, refresh = threading.Lock(), credentials.refresh

    def refresh_once(request: Any) -> None:
        """One thread refreshes; those that waited meanwhile use its token."""
        before = credentials.token
        with lock:
            if credentials.token == before or not credentials.valid:
                refresh(request)
                remember(str(credentials.token or ""))

    credentials.refresh = refresh_once
    return credentials


def _load_json(text: str, what: str) -> dict[str, Any]:
    """An object from a secret's text; the error never shows the text."""
    try:
        value = json.loads(text)
    except ValueError:
        raise ValueError(f"{what} is not JSON") from None
    if not isinstance(value, dict):
        raise ValueError(f"{what} is not a JSON object")
    return value


class Api:
    """One API: its methods by their ids in the discovery document, and where its batches go.

    The library makes resources and methods anew at every use; here they are made once. It uses schemas only to write
    documentation, which takes most of a second; so it gets their names only.
    """

    def __init__(self, name: str, version: str, endpoint: str) -> None:
        document = read_document(name, version)
        if endpoint:
            document["rootUrl"] = endpoint
            document["baseUrl"] = endpoint + document["servicePath"]
            document.pop("mtlsRootUrl", None)
        document["schemas"] = {name: {"id": name, "type": "object"} for name in document["schemas"]}
        self.batch_url = document["rootUrl"] + document["batchPath"]
        self._root = build_from_document(document, http=httplib2.Http(proxy_info=None))
        self._methods: dict[str, Any] = {}

    def method(self, id: str) -> Any:
        """The function that makes requests, of `files.list` or `files.get_media`."""
        found = self._methods.get(id)
        if found is None:
            *resources, name = id.split(".")
            at = self._root
            for resource in resources:
                at = getattr(at, resource)()
            found = self._methods[id] = getattr(at, name)
        return found


def read_document(name: str, version: str) -> dict[str, Any]:
    """The discovery document that comes with the library."""
    document: dict[str, Any] = json.loads((DOCUMENTS / f"{name}.{version}.json").read_text(encoding="utf-8"))
    return document


class OneTry(httplib2.Http):
    """An Http that sends a request once: httplib2 repeats even a POST that may have been carried out."""

    def __init__(self, client: GoogleClient, timeout: float) -> None:
        super().__init__(timeout=timeout, proxy_info=None)
        self.client = client
        self.follow_redirects = False

    def _conn_request(self, conn: Any, request_uri: str, method: str, body: Any, headers: Any) -> tuple[Any, bytes]:
        fresh = conn.sock is None
        try:
            if fresh:
                conn.connect()
            elif method != "GET" and _closed(conn.sock):
                conn.close()
                conn.connect()
            conn.request(method, request_uri, body, headers)
            answer = conn.getresponse()
            content = answer.read()
        except BaseException:
            conn.close()
            raise
        response = httplib2.Response(answer)
        self.client.received(len(content), response.get("date", ""))
        if response.get("content-encoding", "") == "gzip":
            del response["content-encoding"]
            content = gzip.decompress(content)
        return response, content


def _closed(sock: Any) -> bool:
    """Did the other side close an idle connection?"""
    import select
    try:
        return bool(select.select([sock], [], [], 0)[0])
    except (OSError, ValueError):
        return True


def authorized_http(credentials: Any, client: GoogleClient, timeout: float) -> Any:
    """A connection for one thread. A 401 refreshes the credentials and tries once more."""
    return google_auth_httplib2.AuthorizedHttp(credentials, http=OneTry(client, timeout), max_refresh_attempts=1)


def send(request: Any, connection: Any, headers: dict[str, str] | None = None) -> tuple[Any, Any]:
    """(the answer's headers and status, its value) of one request, sent once. Raises Failure.

    headers  to be sent with it; with If-None-Match the status may be 304, and the value None
    """
    responses: list[Any] = []
    request.headers.update(headers or {})
    request.response_callbacks = [responses.append]
    with _Failures(request.uri):
        try:
            value = request.execute(http=connection, num_retries=0)
        except HttpError as e:
            if e.resp.status != 304:
                raise
            value = None
        return responses[-1], _whole(request, value)


def _whole(request: Any, value: Any) -> Any:
    """The value; ValueError where the library gives a text because the JSON is cut off."""
    if isinstance(value, str) and value and "json" in request.headers.get("accept", ""):
        raise ValueError("no JSON")
    return value


def send_chunk(request: Any, connection: Any) -> Any:
    """The next piece of a resumable upload: None, or the answer when it was the last. Raises Failure."""
    with _Failures(request.uri):
        _, value = request.next_chunk(http=connection, num_retries=0)
    return value


def send_batch(requests: Sequence[Any], connection: Any, url: str) -> list[Any]:
    """GET requests in one call; a Failure in the place of each that failed. Raises Failure for the whole."""
    parts = []
    for number, request in enumerate(requests):
        target = request.uri.partition("://")[2].partition("/")[2]
        parts.append(f"--{BOUNDARY}\r\nContent-Type: application/http\r\nContent-ID: <{number}>\r\n\r\n"
                     f"GET /{target} HTTP/1.1\r\nAccept: application/json\r\n\r\n\r\n")
    body = "".join(parts) + f"--{BOUNDARY}--\r\n"
    with _Failures(url):
        response, content = connection.request(url, "POST", body.encode(),
                                               {"Content-Type": f'multipart/mixed; boundary="{BOUNDARY}"'})
        if response.status >= 300:
            raise HttpError(response, content)
        answers = _split(response.get("content-type", ""), content, len(requests))
    results: list[Any] = []
    refused = False
    for request, (status, headers, data) in zip(requests, answers, strict=True):
        try:
            with _Failures(request.uri):
                value = request.postproc(httplib2.Response({**headers, "status": str(status)}), data)
                results.append(_whole(request, value))
        except Failure as failure:
            refused = refused or failure.status == 401
            results.append(failure)
    if refused:                                              # the token ran out on the way: once more with a new one
        with _Failures(url):
            connection.credentials.refresh(google_auth_httplib2.Request(connection.http))
        again = [i for i, answer in enumerate(results) if isinstance(answer, Failure) and answer.status == 401]
        for i in again:
            results[i] = Failure(503, "the access token ran out")
    return results


def _split(kind: str, content: bytes, count: int) -> list[tuple[int, dict[str, str], bytes]]:
    """The answers inside a batch, in the order of the requests. ValueError where one is missing."""
    boundary = kind.partition("boundary=")[2].partition(";")[0].strip().strip('"').encode()
    if not boundary:
        raise ValueError("a batch without boundary")
    found: list[tuple[int, dict[str, str], bytes] | None] = [None] * count
    pieces = (b"\r\n" + content).split(b"\r\n--" + boundary)
    if not pieces[-1].startswith(b"--"):
        raise ValueError("the batch is cut off")
    for piece in pieces[1:-1]:
        outer, _, rest = piece.partition(b"\r\n\r\n")
        head, _, data = rest.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        own = _headers(outer.decode("latin-1").split("\r\n"))
        number = int(own.get("content-id", "").rpartition("-")[2].strip("<> "))
        headers = _headers(lines[1:])
        size = headers.pop("content-length", "")
        if size and len(data) < int(size):
            raise ValueError("an answer of the batch is cut off")
        found[number] = (int(lines[0].split(" ")[1]), headers, data[:int(size)] if size else data)
    missing = sum(answer is None for answer in found)
    if missing:
        raise ValueError(f"{missing} answers are missing in the batch")
    return [answer for answer in found if answer is not None]


def _headers(lines: list[str]) -> dict[str, str]:
    return {name.strip().lower(): value.strip() for name, colon, value in (x.partition(":") for x in lines) if colon}


class _Failures:
    """Turns what the libraries raise of a request to `url` into Failure; their texts only where they hold no secret."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        failure = None
        if isinstance(error, Exception) and not isinstance(error, Failure):
            failure = _failure(error, self.url)
        if failure is not None:
            raise failure from None


def _failure(error: Exception, url: str) -> Failure | None:
    """The Failure for an error of the libraries; None for a mistake in the program."""
    if isinstance(error, HttpError):
        return _of_status(error)
    if isinstance(error, GoogleAuthError):
        text = str(error.args[0]) if error.args else type(error).__name__
        return Failure(401, f"authorization failed: {text[:200]}")
    if isinstance(error, LookupError) and not isinstance(error, KeyError | IndexError):
        return Failure(401, f"credentials: {error}")
    if isinstance(error, TimeoutError):
        return Failure(0, "no answer in time")
    if isinstance(error, OSError | EOFError | http.client.HTTPException | httplib2.HttpLib2Error):
        return connection_failed(url, error)
    if isinstance(error, ValueError):
        return Failure(0, "the answer is not complete")
    return None


def _of_status(error: HttpError) -> Failure:
    status = int(error.resp.status)
    try:
        detail = json.loads(error.content).get("error", {})
        message = str(detail.get("message") or "")
        reasons = [str(e.get("reason")) for e in detail.get("errors", ())]
    except (ValueError, AttributeError):
        message, reasons = "", []
    if status == 403 and any(reason in RATE_REASONS for reason in reasons):
        status = 429
    wait = error.resp.get("retry-after", "")
    return Failure(status, f"{message or error.resp.reason or 'error'} ({status})",
                   float(wait) if wait.replace(".", "", 1).isdigit() else None)
