"""Virtual CLIs: one program per service, one subcommand per operation; adapters for what has operations already."""
from __future__ import annotations

if not __name__.startswith("mirage."):
    raise ImportError("import mirage.clis instead of clis: the folder is a room of the package mirage")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.clis.framework import Call, OperationError, VirtualCli, operation
    from mirage.clis.function import FunctionCli, function_operation
    from mirage.clis.mcp import McpCli
    from mirage.clis.openapi import OpenApiCli
    from mirage.clis.registry import make_cli

MODULES = {"Call": "framework", "FunctionCli": "function", "McpCli": "mcp", "OpenApiCli": "openapi",
           "OperationError": "framework", "VirtualCli": "framework", "function_operation": "function",
           "make_cli": "registry", "operation": "framework"}

__all__ = ["Call", "FunctionCli", "McpCli", "OpenApiCli", "OperationError", "VirtualCli", "function_operation",
           "make_cli", "operation"]


def __getattr__(name: str) -> object:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module
    found: object = getattr(import_module(f"mirage.clis.{MODULES[name]}"), name)
    return found
