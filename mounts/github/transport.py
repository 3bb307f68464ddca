"""What carries PyGithub's requests: one session of `requests` for all threads, and bodies that keep their bytes.

PyGithub's own connections give text, which loses bytes, and hold the request that is under way, so that one of them
cannot serve two threads. Its requester takes another one for each request.
"""
from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import github
import requests
from github import Auth
from requests.adapters import HTTPAdapter


def make_session(direct: bool, width: int) -> requests.Session:
    """`direct`: without the proxies of the environment."""
    session = requests.Session()
    session.auth = lambda request: request                   # never that of ~/.netrc
    session.trust_env = not direct
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=0, pool_connections=2, pool_maxsize=width))
    return session


def make_requester(token: str, endpoint: str, timeout: int) -> Any:
    """Without retries and pauses of its own."""
    auth = Auth.Token(token) if token else None
    return github.Github(auth=auth, base_url=endpoint, timeout=timeout, retry=None, user_agent="mirage",
                         seconds_between_requests=None, seconds_between_writes=None).requester


class Connection:
    """One request in the form that the requester wants."""

    def __init__(self, session: requests.Session, endpoint: str, timeout: int) -> None:
        parts = urlsplit(endpoint)
        self.host = parts.hostname
        self._root = f"{parts.scheme}://{parts.netloc}"
        self._session = session
        self._timeout = timeout
        self._request: tuple[str, str, Any, dict[str, str]] = ("", "", None, {})

    def request(self, verb: str, url: str, input: Any, headers: dict[str, str], stream: bool = False) -> None:
        self._request = (verb, self._root + url, input, headers)

    def getresponse(self) -> Response:
        verb, url, data, headers = self._request
        return Response(self._session.request(verb, url, headers=headers, data=data, timeout=self._timeout,
                                              allow_redirects=False))

    def close(self) -> None:
        """The session goes on."""


class Response:
    """`read` gives each byte as one character. A moved object (301) is not followed: its query would be lost."""

    def __init__(self, response: requests.Response) -> None:
        self.status = response.status_code
        self._response = response

    def getheaders(self) -> list[tuple[str, str]]:
        return [(name.lower(), value) for name, value in self._response.headers.items()
                if self.status != 301 or name.lower() != "location"]

    def read(self) -> str:
        return self._response.content.decode("latin-1")
