"""Calls to Slack's Web API through slack-sdk's WebClient, which is imported by the first one. Thread-safe.

Errors are OSError (mirage/vfs/service.py) with Slack's word for it in `note`, never with a token.
"""
from __future__ import annotations

import email.utils
import http.client
import threading
import time
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

from mirage.vfs.credential import Credential
from mirage.vfs.declare.client import LOOPBACK, Answer
from mirage.vfs.service import Counters, Failure, RateLimiter, Retry, connection_failed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mirage.vfs.secrets import Secret

NAME = "slack"
ENDPOINT = "https://slack.com/api/"
TIMEOUT = 60
WIDTH = 8
TIERS = {"conversations.list": 20, "users.list": 20, "search.messages": 20, "reactions.add": 50, "chat.postMessage": 60,
         "files.list": 50, "conversations.info": 50, "users.info": 100, "users.profile.get": 100}
TIER = 50                                                    # calls a minute of the other methods
STATUS = {404: ("channel_not_found", "user_not_found", "thread_not_found", "message_not_found", "file_not_found"),
          403: ("not_in_channel", "missing_scope", "not_allowed_token_type", "is_archived", "restricted_action",
                "no_permission", "access_denied", "ekm_access_denied", "team_access_not_granted"),
          401: ("invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"),
          429: ("ratelimited", "rate_limited"), 409: ("already_reacted",),
          503: ("internal_error", "fatal_error", "service_unavailable", "request_timeout")}
CODES = {word: status for status, words in STATUS.items() for word in words}
RENEW = ("token_expired", "invalid_auth", "token_revoked")


class SlackClient:
    """One workspace.

    token       of a bot (xoxb-) or a user (xoxp-)
    user_token  of a user, for search, where `token` is a bot's
    endpoint    another server than Slack's, such as the simulator
    rate        1: the published limits of each method; 2: twice as much; 0: none
    """

    def __init__(self, token: Secret, user_token: Secret | None = None, endpoint: str = "", rate: float = 1.0,
                 retry: Retry | None = None) -> None:
        self.counters = Counters()
        self.retry = retry or Retry(most=65.0)
        self.endpoint = endpoint.rstrip("/") + "/" if endpoint else ENDPOINT
        self._secret = token
        self._tokens = {"token": Credential(token), "user": Credential(user_token or token)}
        self._rate = rate
        self._limiters: dict[str, RateLimiter] = {}
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(WIDTH)
        self._web: Any = None
        self._offset = 0.0                                   # the service's clock less ours

    def connect(self) -> None:
        """Called before every request; a subclass may start its server here."""

    @property
    def account(self) -> str:
        """Equal for two clients of one account; shows the name of the secret, not its text."""
        return f"{self.endpoint}:{self._secret!r}"

    def same_account(self, token: Secret | None, endpoint: str) -> bool:
        """Do these options name the account of this client?"""
        root = endpoint.rstrip("/") + "/" if endpoint else ENDPOINT
        return (token, root) == (self._secret, self.endpoint)

    def send(self, method: str, path: str, query: Mapping[str, Any] | None = None, *, etag: str = "", raw: bool = False,
             body: Any = None, safe: bool | None = None, length: int | None = None) -> Answer:
        """A method of the Web API, or with `raw` the bytes at an address of a file.

        `safe` (default: it only looks) may be sent again after a lost answer.
        """
        self.connect()
        arguments = {key: str(value) for key, value in {**(query or {}), **(body or {})}.items()}

        def attempt() -> Answer:
            self._limiter("files" if raw else path).take(1)
            with self._slots:
                return self._download(path, length) if raw else self._call(path, arguments)
        return self.retry.run(NAME, attempt, method == "GET" if safe is None else safe)

    def call(self, method: str, safe: bool = True, **arguments: Any) -> dict[str, Any]:
        """The answer of a method of the Web API."""
        answer: dict[str, Any] = self.send("GET", method, arguments, safe=safe).value
        return answer

    def now(self) -> float:
        """Seconds since the epoch on the service's clock, as far as it is known."""
        return time.time() + self._offset

    def _limiter(self, method: str) -> RateLimiter:
        with self._lock:
            found = self._limiters.get(method)
            if found is None:
                minute = TIERS.get(method, TIER) * self._rate
                found = self._limiters[method] = RateLimiter(minute / 60, max(minute, 1))
            return found

    def _call(self, method: str, arguments: dict[str, str]) -> Answer:
        credential = self._tokens["user" if method.startswith("search.") else "token"]
        token = credential.text()
        try:
            return self._once(method, arguments, token)
        except _Refused as refused:
            if not credential.renewed(token):
                raise Failure(401, refused.message) from None
        return self._once(method, arguments, credential.text())

    def _once(self, method: str, arguments: dict[str, str], token: str) -> Answer:
        from slack_sdk.errors import SlackApiError, SlackClientError
        web, headers = self._client(), {"Authorization": f"Bearer {token}"}
        try:
            response = web.api_call(method, data=arguments or None, headers=headers)
        except SlackApiError as e:
            self.counters.add(calls=1)
            raise _failure(e.response, token) from None
        except TimeoutError:
            raise Failure(0, "no answer in time") from None
        except (OSError, SlackClientError, http.client.HTTPException, ValueError) as e:
            self.counters.add(calls=1)
            raise connection_failed(self.endpoint, e) from None
        size = int(_header(response.headers, "content-length") or 0)
        date = _header(response.headers, "date")
        if date:
            self._offset = email.utils.parsedate_to_datetime(date).timestamp() - time.time()
        self.counters.add(calls=1, size=size)
        return Answer(response.data, size or len(str(response.data)))

    def _client(self) -> Any:
        with self._lock:
            if self._web is None:
                import logging

                from slack_sdk import WebClient
                quiet = logging.Logger("mirage.slack", logging.CRITICAL)
                quiet.addHandler(logging.NullHandler())
                self._web = WebClient(base_url=self.endpoint, timeout=TIMEOUT, retry_handlers=[], logger=quiet)
                if urlsplit(self.endpoint).hostname in LOOPBACK:
                    self._web.proxy = None
            return self._web

    def _download(self, url: str, length: int | None) -> Answer:
        """The bytes of a file; the token is sent to Slack only, and no redirection is followed."""
        if not self.ours(url):
            raise Failure(403, "the file is on another server")
        proxies: dict[str, str] | None = {} if urlsplit(url).hostname in LOOPBACK else None
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _Stay())
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {self._tokens['token'].text()}"})
        try:
            with opener.open(request, timeout=TIMEOUT) as response:
                data: bytes = response.read()
                kind = response.headers.get("Content-Type", "")
        except HTTPError as e:
            e.close()
            self.counters.add(calls=1)
            status = 403 if 300 <= e.code < 400 else e.code
            wait = _seconds(_header(e.headers, "retry-after"))
            raise Failure(status, f"the file was not delivered ({e.code})", wait) from None
        except TimeoutError:
            raise Failure(0, "no answer in time") from None
        except (OSError, http.client.HTTPException) as e:
            self.counters.add(calls=1)
            raise connection_failed(url, e) from None
        self.counters.add(calls=1, size=len(data))
        if length is not None and len(data) != length:
            if kind.startswith("text/html"):
                raise Failure(403, "Slack asks to sign in: the token lacks the scope files:read")
            raise Failure(0, f"the file is not complete: {len(data)} of {length} bytes")
        return Answer(data, len(data))

    def ours(self, url: str) -> bool:
        """Is this an address of Slack, or of the server that stands for it?"""
        parts, own = urlsplit(url), urlsplit(self.endpoint)
        if (parts.scheme, parts.netloc) == (own.scheme, own.netloc):
            return True
        return self.endpoint == ENDPOINT and parts.scheme == "https" and (parts.hostname or "").endswith(".slack.com")

    def close(self) -> None:
        """Nothing is sent any more."""

    def __repr__(self) -> str:
        return f"SlackClient({self.endpoint!r})"


class _Refused(Exception):
    """The token is not good (any more)."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def _failure(response: Any, token: str) -> Exception:
    """What an answer with ok: false means."""
    data = response.data if isinstance(response.data, dict) else {}
    word = str(data.get("error") or "error").replace(token, "***")
    if response.status_code == 200 and not word.replace("_", "").isalnum():
        return Failure(0, "the answer is not complete, or no JSON")
    if word in RENEW:
        return _Refused(word)
    status = CODES.get(word, 400) if response.status_code == 200 else response.status_code
    needed = f" (needed: {data['needed']})" if data.get("needed") else ""
    text = word if word.replace("_", "").isalnum() else "error"
    return Failure(status, f"{text}{needed}", _seconds(_header(response.headers, "retry-after")))


def _header(headers: Any, name: str) -> str:
    return next((str(value) for key, value in dict(headers or {}).items() if key.lower() == name), "")


def _seconds(text: str) -> float | None:
    return float(text) if text.replace(".", "", 1).isdigit() else None


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: it would take the token along."""

    def redirect_request(self, *args: Any, **options: Any) -> None:
        return None
