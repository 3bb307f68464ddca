"""Providers by name: the folders of mirage/mounts, and entry points `mirage.mounts` of other packages.

A provider is a module with

  OPTIONS   dict of option name -> str, int, float, bool, HostPath, Secret (what a text is turned into), or a class
            with from_option(value, folder), which raises ValueError
  build     build(**options) -> Mount
  ARGUMENT  the option that `PROVIDER:ARG` sets (may be absent)
  SUFFIXES  dict of a word behind the last colon of ARG -> (option, value), as `:rw` (may be absent)

Nothing is imported before its name is asked for.
"""
from __future__ import annotations

import os

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any

GROUP = "mirage.mounts"
LIBRARIES = {
    "canvas": "httpx", "fsspec": "fsspec", "gcal": "googleapiclient", "gdrive": "googleapiclient", "github": "github",
    "gmail": "googleapiclient", "http": "httpx", "imap": "imapclient", "linear": "httpx", "mongodb": "pymongo",
    "notion": "httpx", "redis": "redis", "rest": "httpx", "s3": "s3fs", "slack": "slack_sdk", "sql": "sqlalchemy"}
INTERNAL = ("bin", "dev", "document", "google", "mail", "proc")       # parts of the tree and of other mounts


class ProviderError(ValueError):
    """A provider or an option that does not exist, or a value that cannot be."""


class HostPath(str):
    """The type of an option that names a file of the host, relative to the configuration's folder."""

    __slots__ = ()


def provider(name: str) -> ModuleType:
    """The module of a provider; ProviderError says which there are."""
    import importlib
    import importlib.util
    if name.isidentifier() and name not in INTERNAL:
        if importlib.util.find_spec(f"mirage.mounts.{name}") is not None:
            return importlib.import_module(f"mirage.mounts.{name}")
        from importlib.metadata import entry_points
        for point in entry_points(group=GROUP, name=name):
            module: ModuleType = point.load()
            return module
    raise ProviderError(f"unknown provider {name!r}; there are: {', '.join(names())}")


def names() -> list[str]:
    """Every provider's name, sorted."""
    import pkgutil
    from importlib.metadata import entry_points

    from mirage import mounts
    found = {module.name for module in pkgutil.iter_modules(mounts.__path__) if module.ispkg}
    found.difference_update(INTERNAL)
    found.update(point.name for point in entry_points(group=GROUP))
    return sorted(found)


def make_mount(name: str, options: Mapping[str, Any], folder: str | os.PathLike[str] = "") -> Any:
    """The mount of provider `name`. Text values become what the provider's OPTIONS say.

    folder  where relative paths of the host start; "" is the current directory
    Raises ProviderError, and OSError where the mount itself cannot be made.
    """
    import importlib.util
    module = provider(name)
    known: dict[str, Any] = getattr(module, "OPTIONS", {})
    ready = {}
    for key, value in options.items():
        if key not in known:
            there = ", ".join(sorted(known)) or "none"
            raise ProviderError(f"{name}: unknown option {key!r}; there are: {there}")
        ready[key] = convert(name, key, value, known[key], folder)
    missing = [key for key in _required(module) if key not in ready]
    if missing:
        argument = f" (write {name}:{missing[0].upper()})" if missing[0] == getattr(module, "ARGUMENT", None) else ""
        raise ProviderError(f"{name}: the option {missing[0]!r} is missing{argument}")
    library = LIBRARIES.get(name, "")
    if library and importlib.util.find_spec(library) is None:
        raise ProviderError(f"{name}: the package {library} is not installed: pip install 'mirage-terminal[{name}]'")
    return module.build(**ready)


def _required(module: ModuleType) -> list[str]:
    """The options without which the provider cannot be made."""
    import inspect
    parameters = inspect.signature(module.build).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def convert(name: str, key: str, value: Any, kind: Any, folder: str | os.PathLike[str] = "") -> Any:
    """`value` as `kind`; a bool is true, false, yes, no, 1, 0, or "" (for `?writable`)."""
    if kind is Secret:
        try:
            return value if isinstance(value, Secret) else Secret(str(value), folder)
        except ValueError as e:
            raise ProviderError(f"{name}: {key}: {e}") from None
    if hasattr(kind, "from_option"):
        try:
            return kind.from_option(value, folder)
        except ValueError as e:
            raise ProviderError(f"{name}: {key}: {e}") from None
    if kind is HostPath and isinstance(value, str | os.PathLike):
        return HostPath(os.path.join(folder, os.path.expanduser(value)))
    if kind is bool and isinstance(value, str):
        word = value.lower()
        if word in ("", "1", "true", "yes", "on"):
            return True
        if word in ("0", "false", "no", "off"):
            return False
        raise ProviderError(f"{name}: {key}: {value!r} is neither true nor false")
    if isinstance(value, str) or (kind is float and isinstance(value, int)):
        try:
            return kind(value)
        except ValueError:
            raise ProviderError(f"{name}: {key}: {value!r} is not a number") from None
    if not isinstance(value, kind):
        raise ProviderError(f"{name}: {key}: {value!r} is not {kind.__name__}")
    return value
