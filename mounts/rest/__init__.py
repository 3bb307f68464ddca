"""A user's own REST API as files: `rest:FILE.yaml?token=env:NAME`, the declaration in YAML (mounts/rest/README.md)."""
from __future__ import annotations

from mirage.vfs.registry import HostPath, ProviderError
from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.vfs.declare import Declared

ARGUMENT = "file"
OPTIONS: dict[str, object] = {"file": HostPath, "token": Secret, "endpoint": str, "ttl": float, "rate": float,
                              "cache": int}


def build(file: str, token: Secret | None = None, endpoint: str = "", ttl: float | None = None,
          rate: float | None = None, cache: int = 64 << 20) -> Declared:
    """The mount. ProviderError says what is wrong with the declaration; OSError where it cannot be read."""
    from mirage.mounts.rest.declaration import load
    from mirage.vfs.declare import Declared, RestClient
    service = load(file)
    try:
        client = RestClient(service, token, endpoint, rate)
    except ValueError as e:
        raise ProviderError(f"rest: {file}: {e}") from None
    return Declared(service, client, ttl=ttl, cache=cache)
