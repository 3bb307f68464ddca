"""Any file store that fsspec knows as a mount: sftp, smb, webdav, Google Cloud Storage, Azure, zip archives, ..."""
from __future__ import annotations

import json

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    from mirage.mounts.fsspec.mount import FileStore

HOST = ("file", "local")


class StorageOptions(dict[str, "Any"]):
    """What fsspec's file system takes: a mapping, or JSON text."""

    @classmethod
    def from_option(cls, value: object, folder: str | os.PathLike[str]) -> StorageOptions:
        found = json.loads(value) if isinstance(value, str) else value
        if not isinstance(found, dict):
            raise ValueError("must be a mapping")
        return cls(found)


OPTIONS: dict[str, object] = {"url": str, "writable": bool, "options": StorageOptions, "secrets": Secret, "ttl": float,
                              "max_file": int}
ARGUMENT = "url"


def build(url: str, options: StorageOptions | None = None, secrets: Secret | None = None,
          **more: Any) -> FileStore:
    """url: as fsspec has it, `sftp://host/folder`; secrets: JSON of options that are not to be shown."""
    from mirage.mounts.fsspec.mount import FileStore
    from mirage.mounts.fsspec.store import Store
    protocol = url.partition("://")[0]
    if protocol in HOST or "://" not in url or "::" in url:
        raise ValueError("fsspec: give a URL such as sftp://host/folder (a folder of this host is host:DIR)")
    if "@" in url.partition("://")[2].partition("/")[0] and ":" in url.partition("://")[2].partition("@")[0]:
        raise ValueError("fsspec: a password does not belong into the URL; give it in secrets=env:NAME (JSON)")

    def make() -> tuple[Any, str]:
        from fsspec.core import url_to_fs
        hidden = json.loads(secrets.reveal()) if secrets is not None else {}
        fs, root = url_to_fs(url, skip_instance_cache=True, use_listings_cache=False, **{**(options or {}), **hidden})
        return fs, root

    return FileStore(Store(make, url.partition("?")[0], f"fsspec:{protocol}"), **more)
