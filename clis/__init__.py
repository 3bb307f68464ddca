"""Virtual CLIs: one program per service, one subcommand per operation."""
from __future__ import annotations

if not __name__.startswith("mirage."):
    raise ImportError("import mirage.clis instead of clis: the folder is a room of the package mirage")

from mirage.clis.framework import Call, OperationError, VirtualCli, operation
from mirage.clis.registry import make_cli

__all__ = ["Call", "OperationError", "VirtualCli", "make_cli", "operation"]
