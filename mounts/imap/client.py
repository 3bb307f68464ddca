"""Connections to an IMAP server through the library IMAPClient, which is imported by the first one.

Every method waits for the server: call it through mirage.process.blocking. Thread-safe: a request has a connection of
its own. Errors are OSError (mirage/vfs/service.py) with the server's words, never with a password or token.
"""
from __future__ import annotations

import errno
import ssl
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from mirage.vfs.service import Counters, Failure, Retry, connection_failed, service_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mirage.vfs.secrets import Secret

T = TypeVar("T")
NAME = "imap"
PORTS = {"tls": 993, "starttls": 143, "none": 143}
TIMEOUT = 60.0
HEADER_FIELDS = b"BODY[HEADER.FIELDS]"
SIZE = 40                                                    # bytes of an answer beside what it holds
CODES = {"AUTHENTICATIONFAILED": 401, "AUTHORIZATIONFAILED": 401, "EXPIRED": 401, "PRIVACYREQUIRED": 401, "NOPERM": 403,
         "NONEXISTENT": 404, "TRYCREATE": 404, "ALREADYEXISTS": 409, "OVERQUOTA": 413, "LIMIT": 429, "UNAVAILABLE": 503,
         "INUSE": 503, "SERVERBUG": 500, "CONTACTADMIN": 403}


class Connection:
    """One logged-in connection. `imap` is the library's object; requests are counted."""

    def __init__(self, imap: Any, counters: Counters) -> None:
        self._imap = imap
        self._counters = counters
        self.selected: tuple[str, bool] | None = None        # folder, may it be changed
        self.state: dict[bytes, Any] = {}                    # what the server said when it was selected

    def can(self, capability: str) -> bool:
        return bool(self._imap.has_capability(capability))

    def ask(self, method: str, *arguments: Any, **options: Any) -> Any:
        """A method of IMAPClient."""
        self._counters.add(calls=1, size=SIZE)
        answer = getattr(self._imap, method)(*arguments, **options)
        self._counters.add(size=_size(answer))
        return answer

    def select(self, folder: str, write: bool = False, again: bool = False) -> dict[bytes, Any]:
        """Open a folder, unless it is open. `again`: ask for its state in any case."""
        if again or self.selected is None or self.selected[0] != folder or write and not self.selected[1]:
            self.selected = None
            self.state = self.ask("select_folder", folder, readonly=not write)
            self.selected = (folder, write)
        return self.state

    def fetch(self, uids: Iterable[int] | str, items: Sequence[str], modifiers: Sequence[str] = ()) -> dict[int, Any]:
        """uid -> what was asked for, without messages that are gone."""
        wanted = uids if isinstance(uids, str) else ",".join(str(uid) for uid in sorted(uids))
        if not wanted:
            return {}
        from imaplib import IMAP4

        from imapclient.response_parser import parse_fetch_response
        self._counters.add(calls=1, size=SIZE)
        more = [f"({' '.join(modifiers)})"] if modifiers else []
        status, data = self._imap._imap.uid("FETCH", wanted, f"({' '.join(items)})", *more)
        if status != "OK":
            raise IMAP4.error(str(data[0]) if data else status)
        found: dict[int, Any] = parse_fetch_response(data, normalise_times=False, uid_is_key=True)
        self._counters.add(size=_size(found))
        return {uid: {_key(name): value for name, value in item.items()} for uid, item in found.items()}

    def untagged(self, code: str) -> str:
        """What the server said under a response code just before; "" where it said nothing."""
        said = self._imap._imap.untagged_responses.pop(code, None)
        return said[-1].decode("ascii", "replace") if said and isinstance(said[-1], bytes) else ""

    def close(self) -> None:
        try:
            self._imap.shutdown()
        except Exception:                                    # it may be closed already, in many ways
            self.selected = None


def _key(name: bytes) -> bytes:
    """The name of an item; servers write the list of header fields each in their own way."""
    return HEADER_FIELDS if name.startswith(b"BODY[HEADER.FIELDS") else name


def _size(answer: Any) -> int:
    if isinstance(answer, bytes | str):
        return len(answer)
    if isinstance(answer, dict):
        return sum(_size(value) for value in answer.values())
    return sum(_size(value) for value in answer) if isinstance(answer, list | tuple) else 8


class ImapClient:
    """One account.

    tls       "tls" (port 993), "starttls" or "none"
    password  or instead `token`, an OAuth 2 access token (XOAUTH2); asked for again when it is refused
    width     connections at a time
    """

    def __init__(self, host: str, user: str, password: Secret | None = None, token: Secret | None = None,
                 port: int = 0, tls: str = "tls", width: int = 4, retry: Retry | None = None) -> None:
        if (password is None) == (token is None):
            raise ValueError("imap needs either password or token")
        if tls not in PORTS:
            raise ValueError(f"imap: tls must be one of {', '.join(PORTS)}, not {tls!r}")
        self.host = host
        self.user = user
        self.port = port or PORTS[tls]
        self.tls = tls
        self.width = width
        self.counters = Counters()
        self.retry = retry or Retry()
        self._secrets = (password, token)
        self._slots = threading.BoundedSemaphore(width)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []

    def secret(self) -> str:
        """The password or token. Raises Failure."""
        given = self._secrets[0] or self._secrets[1]
        assert given is not None
        try:
            return given.reveal()
        except LookupError as e:
            raise Failure(401, f"credentials: {e}") from None

    @property
    def by_token(self) -> bool:
        return self._secrets[1] is not None

    def run(self, function: Callable[[Connection], T], safe: bool = True, folder: str = "") -> T:
        """function(connection); once more on another connection after failures where that does no harm (`safe`).

        folder  a connection that has it open is preferred
        """
        def attempt() -> T:
            with self._slots:
                connection = self._take(folder, not safe)
                try:
                    result = function(connection)
                except Exception as e:
                    failure = failure_of(e, f"{self.host}:{self.port}", self._text())
                    if failure.status == 0 or failure.status >= 500:
                        connection.close()
                    else:
                        self._give(connection)
                    raise failure from None
                except BaseException:
                    connection.close()
                    raise
                self._give(connection)
                return result
        return self.retry.run(NAME, attempt, safe)

    def _take(self, folder: str, check: bool) -> Connection:
        """An idle connection, or a new one. `check`: it must be alive."""
        while True:
            with self._lock:
                fit = [c for c in self._idle if c.selected is not None and c.selected[0] == folder]
                connection = fit[-1] if fit else self._idle[-1] if self._idle else None
                if connection is not None:
                    self._idle.remove(connection)
            if connection is None:
                return self._connect()
            if not check:
                return connection
            try:
                connection.ask("noop")
                return connection
            except Exception:                                # closed meanwhile: another one
                connection.close()

    def _give(self, connection: Connection) -> None:
        with self._lock:
            self._idle.append(connection)

    def _text(self) -> str:
        try:
            return self.secret()
        except Failure:
            return ""

    def _connect(self) -> Connection:
        from imapclient import IMAPClient
        secret = self.secret()
        try:
            imap = IMAPClient(self.host, self.port, use_uid=True, ssl=self.tls == "tls", timeout=TIMEOUT)
            imap.normalise_times = False
            if self.tls == "starttls":
                imap.starttls(ssl.create_default_context())
            if self.by_token:
                imap.oauth2_login(self.user, secret)
            else:
                imap.login(self.user, secret)
        except Exception as e:
            failure = failure_of(e, f"{self.host}:{self.port}", secret)
            raise Failure(401, failure.message) if failure.status == 400 else failure from None
        self.counters.add(calls=1)
        return Connection(imap, self.counters)

    @property
    def account(self) -> str:
        """Equal for two clients of one mailbox."""
        return f"{self.user}@{self.host}:{self.port}"

    def same_account(self, host: str, user: str, port: int) -> bool:
        return (host, user) == (self.host, self.user) and port in (0, self.port)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __repr__(self) -> str:
        return f"ImapClient({self.user!r} at {self.host}:{self.port})"


def failure_of(error: Exception, place: str, secret: str = "") -> Failure:
    """The Failure for what the library raises of `host:port`; what it quotes is without the secret."""
    from imaplib import IMAP4
    if isinstance(error, Failure):
        return error
    if isinstance(error, TimeoutError):
        return Failure(0, f"no answer in time from {place}")
    if isinstance(error, ssl.SSLError):
        return Failure(0, f"the connection to {place} is not secure ({error.reason or type(error).__name__})")
    if isinstance(error, IMAP4.abort | OSError | EOFError):
        return connection_failed(place, error)
    if isinstance(error, IMAP4.error):
        text = str(error)
        text = text.replace(secret, "***") if secret else text
        code = text.partition("[")[2].partition("]")[0].partition(" ")[0].upper()
        return Failure(CODES.get(code, 400), text[:300])
    if isinstance(error, ValueError):
        return Failure(0, "the answer is not complete")
    raise error


def refused(note: str, status: int = 400) -> OSError:
    """An error that the server would give, or should."""
    return service_error({404: errno.ENOENT}.get(status, errno.EINVAL), f"imap: {note}", status)
