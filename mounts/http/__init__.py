"""A list of URLs as files, read-only."""
from __future__ import annotations

import json
from urllib.parse import unquote, urlsplit

from mirage.vfs.names import safe_name, unique_names
from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    from mirage.mounts.http.mount import Http


class Urls(dict[str, str]):
    """Path -> URL: a mapping, a list whose names are the last parts of the URLs, one URL, or JSON of these."""

    @classmethod
    def from_option(cls, value: object, folder: str | os.PathLike[str]) -> Urls:
        if isinstance(value, str):
            value = json.loads(value) if value[:1] in "[{" else [value]
        if isinstance(value, list):
            urls = [str(url) for url in value]
            value = dict(zip(unique_names((_title(url), str(i + 1)) for i, url in enumerate(urls)), urls, strict=True))
        if not isinstance(value, dict):
            raise ValueError("must be a list of URLs, or a mapping of names to URLs")
        found = cls()
        for name, url in value.items():
            found["/".join(safe_name(part) for part in str(name).split("/") if part) or "untitled"] = _checked(str(url))
        for name in found:
            if any(other.startswith(name + "/") for other in found):
                raise ValueError(f"{name!r} cannot be a file and a directory")
        return found


def _title(url: str) -> str:
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.hostname or ""


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"not an http or https URL: {parts.scheme}://{parts.hostname or ''}")
    if parts.username or parts.password:
        raise ValueError(f"a password does not belong into a URL ({parts.hostname}): give token")
    return url


OPTIONS: dict[str, object] = {"urls": Urls, "token": Secret, "private": bool, "timeout": float, "ttl": float,
                              "max_file": int, "cache": int}
ARGUMENT = "urls"


def build(urls: Urls, **options: Any) -> Http:
    """The mount; see Http for the options."""
    from mirage.mounts.http.mount import Http
    return Http(urls, **options)
