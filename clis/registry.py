"""CLIs found by the provider's name, for mirage.yaml: `clis: {mail: {provider: gmail, token: "env:..."}}`."""
from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from mirage.clis.framework import VirtualCli
    from mirage.vfs.types import Mount

PROVIDERS = {
    "canvas": "mirage.clis.canvas",
    "gcal": "mirage.clis.gcal",
    "gdrive": "mirage.clis.gdrive",
    "github": "mirage.clis.github",
    "gmail": "mirage.clis.mail",
    "imap": "mirage.clis.mail",
    "google-doc": "mirage.clis.google_doc",
    "google-sheet": "mirage.clis.google_sheet",
    "linear": "mirage.clis.linear",
    "mcp": "mirage.clis.mcp",
    "mongodb": "mirage.clis.mongo",
    "notion": "mirage.clis.notion",
    "openapi": "mirage.clis.openapi",
    "python": "mirage.clis.function",
    "redis": "mirage.clis.redis",
    "rest": "mirage.clis.rest",
    "s3": "mirage.clis.s3",
    "slack": "mirage.clis.slack",
    "sql": "mirage.clis.sql",
}


def make_cli(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
             folder: Path | None = None) -> VirtualCli:
    """The CLI `name` of a provider. It shares the service of a mount of the same provider, if there is one.

    folder  where relative paths of the host start; None is the current directory
    Raises ValueError for an unknown provider or option.
    """
    module = PROVIDERS.get(provider)
    if module is None:
        raise ValueError(f"clis.{name}: no CLI for provider {provider!r}; known: {', '.join(sorted(PROVIDERS))}")
    if folder is None:
        from pathlib import Path
        folder = Path()
    cli: VirtualCli = importlib.import_module(module).from_config(name, provider, options, mounts=mounts, folder=folder)
    return cli
