"""The key of an encrypted database. It is shown nowhere: not by repr, not in an error."""
from __future__ import annotations

CIPHERS = {                                                  # name: (number in the file, bytes of key, of nonce)
    "aes128gcm": (1, 16, 12), "aes256gcm": (2, 32, 12),
    "aegis256": (3, 32, 32), "aegis256x2": (4, 32, 32), "aegis256x4": (5, 32, 32),
    "aegis128l": (6, 16, 16), "aegis128x2": (7, 16, 16), "aegis128x4": (8, 16, 16),
}


class Secret:
    """cipher  one of CIPHERS
    key     in hexadecimal digits, as many as the cipher wants; ValueError
    """

    __slots__ = ("cipher", "key")

    def __init__(self, cipher: str, key: str) -> None:
        if cipher not in CIPHERS:
            raise ValueError(f"unknown cipher '{cipher}'; possible are {', '.join(sorted(CIPHERS))}")
        wanted = CIPHERS[cipher][1]
        try:
            self.key = bytes.fromhex(key) if not any(c.isspace() for c in key) else b""
        except ValueError:
            self.key = b""
        if len(self.key) != wanted:
            raise ValueError(f"the key for {cipher} must be {2 * wanted} hexadecimal digits")
        self.cipher = cipher

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and (self.cipher, self.key) == (other.cipher, other.key)

    def __hash__(self) -> int:
        return hash((self.cipher, self.key))

    def __repr__(self) -> str:
        return f"Secret({self.cipher!r})"


def secret_of(key: str | None, cipher: str | None) -> Secret | None:
    """Both or none; ValueError."""
    if not key and not cipher:
        return None
    if not key or not cipher:
        raise ValueError("a key and a cipher belong together")
    return Secret(cipher, key)
