"""Linear as files: /<TEAM>/issues/<KEY>__<Title>.json and .md, projects, cycles, members (mounts/linear/README.md)."""
from __future__ import annotations

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.linear.tree import Linear

OPTIONS: dict[str, object] = {"token": Secret, "endpoint": str, "teams": str, "search": str, "rate": float,
                              "ttl": float, "cache": int}


def build(**options: Any) -> Linear:
    """The mount; see Linear for the options."""
    from mirage.mounts.linear.tree import Linear
    return Linear(**options)
