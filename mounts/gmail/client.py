"""Calls to the Gmail API through google-api-python-client, which is imported by the first call.

Every method waits for the service: call it through mirage.process.blocking. Thread-safe: each thread has its own
connection. Errors are OSError (mirage/vfs/service.py) with the service's message, never with a credential.
"""
from __future__ import annotations

import email.utils
import json
import threading
import time
from typing import TYPE_CHECKING, Any

from mirage.vfs.service import Counters, Failure, RateLimiter, Retry, as_oserror

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.mounts.gmail.transport import Api
    from mirage.vfs.secrets import Secret

NAME = "gmail"
TIMEOUT = 60.0
UNITS = 5                                                    # quota units of an average method
BATCH = 100
RATE_REASONS = ("rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded")


class GmailClient:
    """One account.

    token        an access token; asked for again when the service refuses it (for file: and cmd: secrets)
    credentials  JSON of an authorized user: client_id, client_secret, refresh_token, token_uri
    endpoint     root address of another server, such as the simulator
    rate         quota units a second; 0: no limit
    """

    def __init__(self, token: Secret | None, credentials: Secret | None, endpoint: str = "", rate: float = 250.0,
                 retry: Retry | None = None) -> None:
        if (token is None) == (credentials is None):
            raise ValueError("gmail needs either token or credentials")
        self.counters = Counters()
        self.endpoint = endpoint.rstrip("/") + "/" if endpoint else ""
        self.retry = retry or Retry()
        self._token = token
        self._user = credentials
        self._limiter = RateLimiter(rate, max(rate * 20, 1))
        self._lock = threading.Lock()
        self._local = threading.local()
        self._api: Any = None
        self._credentials: Any = None
        self._offset = 0.0                                   # the service's clock less ours

    # ---- the library

    @property
    def connected(self) -> bool:
        return self._api is not None

    def connect(self) -> None:
        """Load the library and the credentials; needed once, before the first request is made."""
        from mirage.mounts.gmail.transport import build_api, make_credentials
        with self._lock:
            if self._api is None:
                try:
                    self._credentials = make_credentials(self._token, self._user)
                except (LookupError, ValueError) as e:
                    raise as_oserror(NAME, Failure(401, f"credentials: {e}")) from None
                self._api = build_api(self.endpoint)

    @property
    def api(self) -> Api:
        """The resources of the API, to make requests with."""
        if self._api is None:
            self.connect()
        api: Api = self._api
        return api

    def _http(self) -> Any:
        """This thread's connection."""
        http = getattr(self._local, "http", None)
        if http is None:
            from mirage.mounts.gmail.transport import authorized_http
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

    def execute(self, request: Any, safe: bool | None = None) -> Any:
        """The answer to one request; sent again after failures where that does no harm (by default: GET)."""
        def attempt() -> Any:
            self._limiter.take(UNITS)
            from mirage.mounts.gmail.transport import send
            return send(request, self._http())
        return self.retry.run(NAME, attempt, request.method == "GET" if safe is None else safe)

    def batch(self, requests: Sequence[Any]) -> list[Any]:
        """The answers to up to 100 GET requests in one call; an OSError in the place of one that failed."""
        from mirage.mounts.gmail.transport import send_batch
        results: list[Any] = [None] * len(requests)
        todo = list(range(len(requests)))
        number = 1
        while todo:
            indexes = todo

            def attempt(indexes: list[int] = indexes) -> list[Any]:
                self._limiter.take(UNITS * len(indexes))
                return send_batch([requests[i] for i in indexes], self._http(), self.endpoint)

            todo, pause = [], 0.0
            for index, answer in zip(indexes, self.retry.run(NAME, attempt), strict=True):
                if isinstance(answer, Failure):
                    wait = self.retry.pause(number, answer)
                    if wait is None:
                        answer = as_oserror(NAME, answer)
                    else:
                        todo.append(index)
                        pause = max(pause, wait)
                results[index] = answer
            if todo:
                time.sleep(pause)
                number += 1
        return results

    def pages(self, method: Any, key: str, most: int | None = None, **parameters: Any) -> list[Any]:
        """All items of a list method, page by page; at most about `most`."""
        found: list[Any] = []
        request = method(userId="me", **parameters)
        while True:
            answer = self.execute(request)
            found += answer.get(key, ())
            token = answer.get("nextPageToken")
            if not token or most is not None and len(found) >= most:
                return found
            request = method(userId="me", pageToken=token, **parameters)

    def close(self) -> None:
        """Nothing is sent any more."""

    def same_account(self, token: Secret | None, credentials: Secret | None, endpoint: str) -> bool:
        """Do these options name the account of this client?"""
        root = endpoint.rstrip("/") + "/" if endpoint else ""
        return (token, credentials, root) == (self._token, self._user, self.endpoint)

    def __repr__(self) -> str:
        return f"GmailClient(endpoint={self.endpoint!r})"


def load_json(text: str, what: str) -> dict[str, Any]:
    """An object from a secret's text; the error never shows the text."""
    try:
        value = json.loads(text)
    except ValueError:
        raise ValueError(f"{what} is not JSON") from None
    if not isinstance(value, dict):
        raise ValueError(f"{what} is not a JSON object")
    return value
