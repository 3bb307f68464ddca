"""From ID_OR_PATH to a database."""
from __future__ import annotations

import os
import re

from mirage.console.vfs.model import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.console.vfs.model import Parsed
    from mirage.mounts.vfs import Vfs
    from mirage.mounts.vfs.secret import Secret

FOLDER = ".vfs"
PATIENCE = 5.0                                               # seconds to wait for one that keeps the file to itself


def is_id(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_-]+", text) is not None


def locate(text: str) -> str:
    """":memory:", the file of an agent's ID in .vfs of this directory, or an existing file."""
    if text == ":memory:":
        return text
    path = os.path.join(FOLDER, text + ".db")
    if is_id(text) and os.path.isfile(path):
        return path
    if os.path.exists(text):
        return text
    raise Failure(f"'{text}' not found: there is no {path} and no such file" if is_id(text) else f"'{text}' not found")


def secret(parsed: Parsed) -> Secret | None:
    """What --key and --cipher say; Failure for what is no key of that cipher."""
    from mirage.mounts.vfs.secret import secret_of
    try:
        return secret_of(parsed.get("key"), parsed.get("cipher"))
    except ValueError as e:
        raise Failure(str(e)) from None


def open_database(parsed: Parsed, readonly: bool = False, create: bool = False) -> Vfs:
    """The database that is named; a clear Failure where there is none, where the key does not fit it, where another
    program keeps it."""
    from mirage.mounts.vfs import SchemaError, Vfs
    path: str = parsed.get("ID_OR_PATH")
    if not create:
        path = locate(path)
    if path != ":memory:" and os.path.exists(path):
        folder = os.path.dirname(os.path.abspath(path))
        if not (os.access(path, os.W_OK) and os.access(folder, os.W_OK)):
            readonly = True
    secret(parsed)
    try:
        return Vfs(path, create=create or path == ":memory:", readonly=readonly, patience=PATIENCE,
                   key=parsed.get("key"), cipher=parsed.get("cipher"))
    except SchemaError as e:
        raise Failure(f"{path}: {e}") from None
    except OSError as e:
        import errno
        if e.errno == errno.EBUSY:
            raise Failure(f"{path}: another program keeps the database to itself (agentfs-sdk does)") from None
        raise


def view(vfs: Vfs) -> Any:
    """What a user sees: the layer over the base where the database has one."""
    from mirage.mounts.vfs.maintenance import layer_of
    return layer_of(vfs)
