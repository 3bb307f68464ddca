"""GitHub as files: /<owner>/<repo>/{tree/<ref>,issues,pulls,releases,actions}, or one repository's refs (README.md)."""
from __future__ import annotations

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.github.tree import GitHub

OPTIONS: dict[str, object] = {"token": Secret, "repo": str, "endpoint": str, "search": str, "rate": float, "ttl": float,
                              "cache": int, "bound": int, "archive": int, "runs": int}
ARGUMENT = "repo"


def build(**options: Any) -> GitHub:
    """The mount; see GitHub for the options."""
    from mirage.mounts.github.tree import GitHub
    return GitHub(**options)
