"""Where a database is: a URL without a password, or the name of a secret that holds the URL."""
from __future__ import annotations

import os

from mirage.vfs.secrets import KINDS, Secret


class DatabaseUrl:
    """`sqlite:///file.db`, `postgresql://user@host/db`, or `env:DATABASE_URL` and the other kinds of Secret.

    folder  where the relative path of a SQLite or DuckDB file starts
    ValueError for a URL with a password: that is a secret, and secrets are named.
    """

    __slots__ = ("_folder", "_secret", "_text")

    def __init__(self, text: str, folder: str | os.PathLike[str] = "") -> None:
        kind, colon, name = text.partition(":")
        self._folder = os.fspath(folder)
        self._secret = Secret(text, folder) if colon and kind in KINDS and name else None
        self._text = text
        if self._secret is None:
            if "://" not in text:
                raise ValueError("not a database URL such as sqlite:///file.db, nor env:NAME")
            if ":" in text.partition("://")[2].partition("/")[0].rpartition("@")[0]:
                raise ValueError("a URL with a password is a secret: give it as env:NAME, file:PATH, "
                                 "keyring:NAME or cmd:COMMAND")

    @classmethod
    def from_option(cls, value: object, folder: str | os.PathLike[str]) -> DatabaseUrl:
        return value if isinstance(value, DatabaseUrl) else cls(str(value), folder)

    def reveal(self) -> str:
        """The URL with everything in it. LookupError where the secret is missing."""
        return self._secret.reveal().strip() if self._secret is not None else self._text

    def file(self, path: str) -> str:
        """The absolute path of a database file."""
        return os.path.abspath(os.path.join(self._folder, os.path.expanduser(path)))

    def __repr__(self) -> str:
        return repr(self._secret) if self._secret is not None else self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatabaseUrl) and repr(self) == repr(other) and self._folder == other._folder

    def __hash__(self) -> int:
        return hash(repr(self))
