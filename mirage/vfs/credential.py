"""The text of a token that is sent with requests."""
from __future__ import annotations

import threading

from mirage.vfs.service import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.vfs.secrets import Secret


class Credential:
    """A secret's text: asked for when it is first needed, and again when the service refuses it. Thread-safe.

    known  the text, where it was asked for already
    """

    __slots__ = ("_lock", "_secret", "known")

    def __init__(self, secret: Secret | None) -> None:
        self._secret = secret
        self._lock = threading.Lock()
        self.known = ""

    def text(self) -> str:
        """"" without a secret. Raises Failure where it cannot be had."""
        if self._secret is None:
            return ""
        text = self.known
        if not text:
            try:
                self.known = text = self._secret.reveal()
            except LookupError as e:
                raise Failure(401, f"credentials: {e}") from None
        return text

    def renewed(self, old: str) -> bool:
        """Is there another text now than the one that was refused?"""
        if not old:
            return False
        with self._lock:
            if self.known == old:
                self.known = ""
        return self.text() != old

    def __repr__(self) -> str:
        return repr(self._secret)
