"""S3 and what speaks its protocol (MinIO, R2, Ceph): `s3:BUCKET`, `s3:BUCKET/PREFIX`, or all buckets."""
from __future__ import annotations

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.fsspec.mount import FileStore

OPTIONS: dict[str, object] = {"bucket": str, "key": Secret, "secret": Secret, "session": Secret, "endpoint": str,
                              "region": str, "anonymous": bool, "profile": str, "writable": bool, "ttl": float,
                              "max_file": int, "timeout": float}
ARGUMENT = "bucket"


def build(bucket: str = "", key: Secret | None = None, secret: Secret | None = None, session: Secret | None = None,
          endpoint: str = "", region: str = "", anonymous: bool = False, profile: str = "",
          timeout: float = 60.0, **more: Any) -> FileStore:
    """bucket: a bucket, perhaps with a prefix behind a `/`; "" shows all. timeout: seconds without an answer."""
    from mirage.mounts.fsspec.mount import FileStore
    from mirage.mounts.fsspec.store import Store
    root = bucket.removeprefix("s3://").strip("/")

    def make() -> tuple[Any, str]:
        from s3fs import S3FileSystem
        client = {name: value for name, value in (("region_name", region), ("endpoint_url", endpoint)) if value}
        fs = S3FileSystem(anon=anonymous, key=key.reveal() if key else None, secret=secret.reveal() if secret else None,
                          token=session.reveal() if session else None, profile=profile or None, client_kwargs=client,
                          config_kwargs={"connect_timeout": 10, "read_timeout": timeout}, use_listings_cache=False,
                          skip_instance_cache=True)
        return fs, root

    store = Store(make, f"s3://{root}", "s3")
    return FileStore(store, buckets=not root, **more)
