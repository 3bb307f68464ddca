"""Calls to GitHub's REST API through PyGithub's requester, which is imported by the first one. Thread-safe.

An answer that has an ETag is kept and asked about with it: 304 does not count against GitHub's rate limit.
Errors are OSError (mirage/vfs/service.py) with GitHub's message in `note`, never with the token.
"""
from __future__ import annotations

import base64
import email.utils
import json
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlsplit

from mirage.vfs.credential import Credential
from mirage.vfs.declare.client import LOOPBACK, Answer
from mirage.vfs.service import ByteCache, Counters, Failure, RateLimiter, Retry, connection_failed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mirage.vfs.secrets import Secret

NAME = "github"
ENDPOINT = "https://api.github.com"
JSON, RAW, DIFF = "application/vnd.github+json", "application/vnd.github.raw+json", "application/vnd.github.diff"
VERSION = "2022-11-28"
TIMEOUT = 60
WIDTH = 8
PER_PAGE = 100
SEARCHES = {"/search/code": 10, "/search/": 30}              # calls a minute
MOST = 1000                                                  # pages


class GitHubClient:
    """One account.

    token     classic or fine-grained; None: public repositories only, 60 requests an hour
    endpoint  another server than GitHub's: GitHub Enterprise's /api/v3, or the simulator
    rate      requests a second, 0: no limit, also for searches
    """

    def __init__(self, token: Secret | None, endpoint: str = "", rate: float = 15.0,
                 retry: Retry | None = None) -> None:
        self.counters = Counters()
        self.retry = retry or Retry(most=65.0)
        self.endpoint = (endpoint or ENDPOINT).rstrip("/")
        if urlsplit(self.endpoint).scheme not in ("http", "https"):
            raise ValueError("github: endpoint must begin with https:// or http://")
        self._secret = token
        self._token = Credential(token)
        self._limiters = {path: RateLimiter(a_minute / 60 if rate else 0.0, a_minute)
                          for path, a_minute in SEARCHES.items()}
        self._limiter = RateLimiter(rate, max(1.0, rate * 30))
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(WIDTH)
        self._known = ByteCache(16 << 20)                    # request -> Answer with an ETag
        self._requester: Any = None
        self._session: Any = None

    def same_account(self, token: Secret | None, endpoint: str) -> bool:
        """Do these options name the account of this client?"""
        return (token, (endpoint or ENDPOINT).rstrip("/")) == (self._secret, self.endpoint)

    def send(self, method: str, path: str, query: Mapping[str, Any] | None = None, *, etag: str = "", raw: bool = False,
             body: Any = None, safe: bool | None = None, length: int | None = None, accept: str = "",
             accepted: Callable[[bytes], bytes | None] | None = None) -> Answer:
        """One request, repeated after failures where that does no harm (`safe`; by default GET).

        path   below the endpoint, or an address of a next page
        raw    bytes instead of JSON; `accepted` gives the content in them, None where they are not whole
        """
        if not path.startswith("/"):
            parts, own = urlsplit(path), urlsplit(self.endpoint)
            if (parts.scheme, parts.netloc) != (own.scheme, own.netloc):
                raise self.error(0, "an address on another server")
            query = {**dict(parse_qsl(parts.query, keep_blank_values=True)), **(query or {})}
            path = parts.path.removeprefix(own.path)
        asked = {key: str(value) for key, value in (query or {}).items()}
        accept = accept or JSON
        key = (path, tuple(sorted(asked.items())), accept) if method == "GET" and not raw else None
        kept: Answer | None = self._known.get(key) if key is not None and not etag else None
        headers = {"Accept": accept, "X-GitHub-Api-Version": VERSION}
        if etag or kept is not None:
            headers["If-None-Match"] = etag or (kept.etag if kept is not None else "")
        limiter = next((found for start, found in self._limiters.items() if path.startswith(start)), self._limiter)

        def attempt() -> Answer:
            limiter.take(1)
            with self._slots:
                return self._once(method, path, asked, headers, raw, body, accepted)
        answer = self.retry.run(NAME, attempt, method == "GET" if safe is None else safe)
        if answer.status == 304 and kept is not None:
            return kept
        if key is not None and answer.etag and answer.status == 200:
            self._known.put(key, answer, 2 * answer.size + 500)
        return answer

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of a GET."""
        return self.send("GET", path, query).value

    def pages(self, path: str, items: str = "", most: int = 0, **query: Any) -> list[Any]:
        """All items of a listing, or those of its first `most` pages; `items` is their key in the answer."""
        found: list[Any] = []
        following, asked = path, {"per_page": PER_PAGE, **query}
        seen: set[str] = set()
        for number in range(1, MOST + 1):
            answer = self.send("GET", following, asked)
            page = answer.value.get(items) if items and isinstance(answer.value, dict) else answer.value
            if not isinstance(page, list):
                raise self.error(0, f"the answer to {path} has no list")
            found += page
            if not answer.next or number == most:
                return found
            if answer.next in seen:
                raise self.error(0, f"the pages of {path} go round in a circle")
            seen.add(answer.next)
            following, asked = answer.next, {}
        raise self.error(413, f"more than {MOST} pages in {path}")

    def blob(self, repo: str, sha: str) -> bytes:
        """The bytes of a git object, checked by their name."""
        def accepted(data: bytes) -> bytes | None:
            return data if blob_sha(data) == sha else _in_json(data, sha)
        data: bytes = self.send("GET", f"/repos/{repo}/git/blobs/{sha}", raw=True, accept=RAW, accepted=accepted).value
        return data

    def archive(self, repo: str, sha: str, most: int) -> bytes:
        """The tarball of a commit, at most `most` bytes; from another server, which does not get the token."""
        def attempt() -> bytes:
            self._limiter.take(1)
            with self._slots:
                path = f"/repos/{repo}/tarball/{sha}"
                status, headers, data = self._exchange("GET", path, {}, {"Accept": JSON}, None)
                target = headers.get("location", "")
                if status != 302 or not target:
                    raise self._failure(status, headers, data)
                if urlsplit(target).scheme not in ("https", urlsplit(self.endpoint).scheme):
                    raise Failure(403, "the archive is on another server")
                return self._download(target, most)
        return self.retry.run(NAME, attempt)

    @staticmethod
    def error(status: int, text: str) -> OSError:
        from mirage.vfs.service import as_oserror
        return as_oserror(NAME, Failure(status, text))

    # ---- one request

    def _once(self, method: str, path: str, query: dict[str, str], headers: dict[str, str], raw: bool, body: Any,
              accepted: Callable[[bytes], bytes | None] | None) -> Answer:
        token = self._token.text()
        status, got, data = self._exchange(method, path, query, headers, body)
        if status == 401 and token and self._renewed(token):
            status, got, data = self._exchange(method, path, query, headers, body)
        etag = got.get("etag", "")
        if status == 304 and "If-None-Match" in headers:
            return Answer(None, 0, etag or headers["If-None-Match"], 304, _next(got))
        if not 200 <= status < 300:
            raise self._failure(status, got, data)
        if raw:
            content = accepted(data) if accepted is not None else data
            if content is None:
                raise Failure(0, "the content is not complete")
            return Answer(content, len(data), etag)
        try:
            value = json.loads(data) if data else None
        except ValueError:
            raise Failure(0, "the answer is not complete, or no JSON") from None
        return Answer(value, len(data), etag, status, _next(got))

    def _exchange(self, method: str, path: str, query: dict[str, str], headers: dict[str, str],
                  body: Any) -> tuple[int, dict[str, str], bytes]:
        import requests
        requester, connection = self._connect()
        try:
            status, got, text = requester.requestJson(method, path, query, dict(headers), body, connection)
        except requests.Timeout:
            raise Failure(0, "no answer in time") from None
        except (requests.RequestException, OSError, RuntimeError) as e:
            self.counters.add(calls=1)
            raise connection_failed(self.endpoint, e) from None
        self.counters.add(calls=1, size=len(text))
        return status, got, text.encode("latin-1")

    def _connect(self) -> tuple[Any, Any]:
        """PyGithub's requester, and a connection for one request."""
        from mirage.mounts.github.transport import Connection, make_requester, make_session
        token = self._token.text()
        with self._lock:
            if self._session is None:
                self._session = make_session(urlsplit(self.endpoint).hostname in LOOPBACK, WIDTH)
            if self._requester is None:
                self._requester = make_requester(token, self.endpoint, TIMEOUT)
            return self._requester, Connection(self._session, self.endpoint, TIMEOUT)

    def _renewed(self, old: str) -> bool:
        """Is there another token now than the one that was refused?"""
        with self._lock:
            self._requester = None
        return self._token.renewed(old)

    def _download(self, url: str, most: int) -> bytes:
        import requests
        chunks, size = [], 0
        try:
            with self._session.get(url, timeout=TIMEOUT, stream=True, allow_redirects=False) as response:
                if response.status_code != 200:
                    raise Failure(response.status_code, f"the archive was not delivered ({response.status_code})")
                for chunk in response.iter_content(1 << 16):
                    chunks.append(chunk)
                    size += len(chunk)
                    if size > most:
                        raise Failure(413, "the archive is larger than its files")
        except requests.RequestException as e:
            raise connection_failed(url, e) from None
        finally:
            self.counters.add(calls=1, size=size)
        return b"".join(chunks)

    def _failure(self, status: int, headers: dict[str, str], data: bytes) -> Failure:
        """What an answer says about an error; GitHub's limits are 403 or 429."""
        try:
            value = json.loads(data)
        except ValueError:
            value = {}
        text = _message(value) if isinstance(value, dict) else ""
        if self._token.known:
            text = text.replace(self._token.known, "***")
        wait = _wait(headers)
        if status == 403 and (wait is not None or "rate limit" in text.lower()):
            status = 429
        if status in (301, 307, 308):
            return Failure(404, "it has moved")
        if status == 406 and "diff" in text.lower():
            status = 413
        return Failure(status, f"{' '.join(text.split())[:300] or 'error'} ({status})", wait)

    def close(self) -> None:
        with self._lock:
            if self._session is not None:
                self._session.close()
            self._session = self._requester = None

    def __repr__(self) -> str:
        return f"GitHubClient({self.endpoint!r})"


def blob_sha(data: bytes) -> str:
    """The name that git gives to a content."""
    import hashlib
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _in_json(data: bytes, sha: str) -> bytes | None:
    """The content where a server gives JSON instead of it; that has its name and size."""
    if not data.startswith(b"{"):
        return None
    try:
        value = json.loads(data)
        content = base64.b64decode(value["content"])
        return content if value["sha"] == sha and value["size"] == len(content) else None
    except (ValueError, KeyError, TypeError):
        return None


class Expected:
    """`with Expected():` an answer that lacks what GitHub's have is an error of the service (EIO)."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, KeyError | TypeError | AttributeError | IndexError):
            raise GitHubClient.error(0, "an answer has not the form of GitHub's") from None


def part(text: str) -> str:
    """A text as one component, or several, of a URL's path."""
    return "/".join(quote(name, safe="") for name in text.split("/"))


def _message(value: dict[str, Any]) -> str:
    """`Validation Failed: title missing_field`."""
    text = str(value.get("message") or "")
    details = []
    for error in value.get("errors") or ():
        if isinstance(error, dict):
            words = (error.get("field"), error.get("code"))
            details.append(str(error.get("message") or " ".join(str(w) for w in words if w)))
        else:
            details.append(str(error))
    return text + (f": {'; '.join(details)}" if details else "")


def _next(headers: dict[str, str]) -> str:
    import requests
    for link in requests.utils.parse_header_links(headers.get("link", "")):
        if link.get("rel") == "next":
            return str(link.get("url", ""))
    return ""


def _wait(headers: dict[str, str]) -> float | None:
    """Seconds that GitHub asks to wait, or None."""
    text = headers.get("retry-after", "")
    if text.replace(".", "", 1).isdigit():
        return float(text)
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") != "0" or not reset.isdigit():
        return None
    try:
        now = email.utils.parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, TypeError):
        now = time.time()
    return max(1.0, float(reset) - now)
