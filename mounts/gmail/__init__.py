"""Gmail as files: /<Folder>/<YYYY-MM-DD>/<Subject>__<id>.email.json, attachments in a folder beside it."""
from __future__ import annotations

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.gmail.mount import Gmail

OPTIONS: dict[str, object] = {"token": Secret, "credentials": Secret, "endpoint": str, "search": str, "tz": str,
                              "rate": float, "ttl": float, "cache": int, "lag": float, "bound": int}


def build(**options: Any) -> Gmail:
    """The mount; see Gmail for the options."""
    from mirage.mounts.gmail.mount import Gmail
    return Gmail(**options)
