"""Any mailbox as files through IMAP, with the tree of gmail; sending through SMTP."""
from __future__ import annotations

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.imap.mount import Imap

ARGUMENT = "host"
OPTIONS: dict[str, object] = {
    "host": str, "port": int, "tls": str, "user": str, "password": Secret, "token": Secret, "address": str,
    "smtp_host": str, "smtp_port": int, "smtp_tls": str, "search": str, "tz": str, "ttl": float, "cache": int,
    "bound": int, "connections": int}


def build(host: str, user: str, **options: Any) -> Imap:
    """The mount; see Imap for the options."""
    from mirage.mounts.imap.mount import Imap
    return Imap(host, user, **options)
