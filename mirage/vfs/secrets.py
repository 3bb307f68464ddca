"""Secrets of mounts and CLIs: named in configuration, resolved when used, never shown."""
from __future__ import annotations

import os

KINDS = ("env", "file", "keyring", "cmd")
HIDDEN = "***"
SHORTEST = 6                                                 # characters; shorter ones cannot be told from other text
BEGINNING = 12                                               # characters that tell of a secret in a text that was cut
KEPT = 1_000

_known: dict[str, None] = {}


def remember(text: str) -> None:
    """Hide this from now on: the secret itself, the password of a URL, the values of a JSON object.

    For what is derived from a Secret, such as an access token; Secret.reveal calls it.
    """
    parts = [text, text.strip()]
    if text.lstrip().startswith("{"):
        import json
        try:
            parts += [value for key, value in json.loads(text).items()
                      if isinstance(value, str) and not key.endswith(("_uri", "_url", "type"))]
        except (ValueError, AttributeError):
            pass
    elif "://" in text:
        from urllib.parse import unquote, urlsplit
        try:
            password = urlsplit(text.strip()).password or ""
        except ValueError:
            password = ""
        parts += [password, unquote(password)]
    for part in parts:
        if len(part) >= SHORTEST:
            _known[part] = None
    while len(_known) > KEPT:
        del _known[next(iter(_known))]


def hide(text: str) -> str:
    """`text` without any secret that was used so far, for the words of a service: some repeat what they were sent."""
    known = sorted(_known, key=len, reverse=True)
    for secret in known:
        if secret in text:
            text = text.replace(secret, HIDDEN)
    for secret in known:
        head = secret[:BEGINNING]
        at = text.find(head) if len(secret) > BEGINNING and "://" not in head and head[0] != "{" else -1
        while at >= 0:                                       # the text was cut inside of it
            end = at + len(head)
            while end < len(text) and text[end] == secret[end - at]:
                end += 1
            text = text[:at] + HIDDEN + text[end:]
            at = text.find(head, at + len(HIDDEN))
    return text


class Secret:
    """A reference such as `env:GMAIL_TOKEN`. `reveal()` gives the text; repr and str show only the reference.

    env:NAME      an environment variable of the host process
    file:PATH     a file of the host (relative to `folder`), without its last newline
    keyring:NAME  the system keyring, service "mirage" (needs the package keyring)
    cmd:COMMAND   first line of a host command's output (run without a shell, 30 s at most)
    """

    __slots__ = ("_folder", "_kind", "_name")

    def __init__(self, reference: str, folder: str | os.PathLike[str] = "") -> None:
        kind, colon, name = reference.partition(":")
        if not colon or kind not in KINDS or not name:
            raise ValueError("a secret is named, not written: "
                             "env:NAME, file:PATH, keyring:NAME or cmd:COMMAND")
        self._kind = kind
        self._name = name
        self._folder = folder

    def reveal(self) -> str:
        """The secret. LookupError, without any of the secret's text, where there is none."""
        text = getattr(self, f"_from_{self._kind}")()
        if not text:
            raise LookupError(f"{self}: no such secret, or it is empty")
        remember(str(text))
        return str(text)

    def _from_env(self) -> str | None:
        return os.environ.get(self._name)

    def _from_file(self) -> str:
        try:
            with open(os.path.join(self._folder, os.path.expanduser(self._name)), encoding="utf-8") as file:
                return file.read().removesuffix("\n")
        except OSError as e:
            raise LookupError(f"{self}: {e.strerror}") from None

    def _from_keyring(self) -> str | None:
        try:
            import keyring
        except ImportError:
            raise LookupError(f"{self}: install the package keyring") from None
        return keyring.get_password("mirage", self._name)

    def _from_cmd(self) -> str:
        import shlex
        import subprocess
        try:
            done = subprocess.run(shlex.split(self._name), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  timeout=30, check=True)
        except (OSError, ValueError, subprocess.SubprocessError) as e:
            raise LookupError(f"{self}: the command failed ({type(e).__name__})") from None
        return done.stdout.decode("utf-8", "replace").partition("\n")[0]

    def __repr__(self) -> str:
        return f"{self._kind}:{self._name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))
