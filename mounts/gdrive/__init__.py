"""Google Drive as files: folders as directories, Docs, Sheets and Slides as JSON and text (mounts/gdrive/README.md)."""
from __future__ import annotations

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.gdrive.mount import Drive

OPTIONS: dict[str, object] = {"token": Secret, "credentials": Secret, "endpoint": str, "root": str, "search": str,
                              "tz": str, "rate": float, "ttl": float, "cache": int, "lag": float, "bound": int}


def build(**options: Any) -> Drive:
    """The mount; see Drive for the options."""
    from mirage.mounts.gdrive.mount import Drive
    return Drive(**options)
