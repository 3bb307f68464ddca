"""The account of a CLI in mirage.yaml: that of a mount of the same provider, or one of its own options."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.vfs.registry import ProviderError, convert, provider

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount


def account(name: str, of: str, kind: type[Any], options: dict[str, Any], mounts: Mapping[str, Mount],
            folder: Path, secrets: tuple[str, ...] = ("token",)) -> tuple[Any, str | None]:
    """(mount, where it is mounted or None). `kind`: the class of the provider `of`'s mounts, whose client has
    same_account(*secrets, endpoint).
    """
    known = provider(of).OPTIONS
    unknown = next((key for key in options if key not in known), None)
    if unknown is not None:
        raise ProviderError(f"clis.{name}: unknown option {unknown!r}; there are: {', '.join(sorted(known))}")
    ready = {key: convert(name, key, value, known[key], folder) for key, value in options.items()}
    for point, mount in mounts.items():
        if isinstance(mount, kind) and (not ready or mount.client.same_account(
                *(ready.get(key) for key in secrets), str(ready.get("endpoint", "")))):
            return mount, point
    if not ready:
        raise ProviderError(f"clis.{name}: give {' or '.join(secrets)}, or mount {of}")
    return kind(**ready), None
