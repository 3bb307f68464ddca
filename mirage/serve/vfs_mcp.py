"""A database as an MCP server: its files and values as tools. Every call is kept in the log of tool calls."""
from __future__ import annotations

import json
import os
import stat as st

from mirage.mounts.vfs.database import OwnerFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from mirage.mounts.vfs import Vfs

LARGEST = 16 << 20                                           # bytes of a file that is read as one answer
KINDS = {st.S_IFDIR: "directory", st.S_IFREG: "file", st.S_IFLNK: "symlink", st.S_IFIFO: "fifo", st.S_IFCHR: "device",
         st.S_IFBLK: "device", st.S_IFSOCK: "socket"}
PATH = {"type": "string", "description": "Absolute path in the filesystem"}
KEY = {"type": "string", "description": "Key"}
TEXT = {"type": "string"}

# name: (what it does, arguments, names of those that must be there, does it only look, can it destroy)
TOOLS: dict[str, tuple[str, dict[str, Any], tuple[str, ...], bool, bool]] = {
    "read_file": ("Read a text file.", {"path": PATH}, ("path",), True, False),
    "write_file": ("Write a text file. An existing one is overwritten in place and keeps its mode; directories above a "
                   "new one are made.", {"path": PATH, "content": TEXT}, ("path", "content"), False, True),
    "readdir": ("List a directory.", {"path": PATH}, ("path",), True, False),
    "mkdir": ("Make a directory.", {"path": PATH}, ("path",), False, False),
    "remove": ("Remove a file, or an empty directory.", {"path": PATH}, ("path",), False, True),
    "rename": ("Move a file or directory; a file at the new place is replaced.",
               {"from": PATH, "to": PATH}, ("from", "to"), False, True),
    "stat": ("Show kind, size, mode, owner and times of a file.", {"path": PATH}, ("path",), True, False),
    "access": ("Is there such a file?", {"path": PATH}, ("path",), True, False),
    "kv_get": ("Get the value of a key; null where there is none.", {"key": KEY}, ("key",), True, False),
    "kv_set": ("Set the value of a key: whatever JSON can say.", {"key": KEY, "value": {}}, ("key", "value"), False,
               True),
    "kv_delete": ("Delete a key.", {"key": KEY}, ("key",), False, True),
    "kv_list": ("List keys and values.", {"prefix": {"type": "string", "description": "Only keys that begin so"}}, (),
                True, False),
}


class BadCall(Exception):
    """What the client should read as the tool's error."""


class Tools:
    """Carries out calls, one at a time."""

    def __init__(self, vfs: Vfs) -> None:
        from mirage.mounts.vfs.maintenance import layer_of
        self._vfs = vfs
        self._files = OwnerFiles(layer_of(vfs))

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """The answer. BadCall for what the client did wrong, and for what failed."""
        log = self._vfs.tools if not self._vfs.db.readonly else None
        id = log.start(name, _shortened(arguments)) if log is not None else 0
        try:
            _check(name, arguments)
            function: Callable[..., Any] = getattr(self, f"_{name}")
            result = function(*(arguments.get(key) for key in TOOLS[name][1]))
        except BadCall as e:
            failure = str(e)
        except (OSError, ValueError) as e:
            failure = _failure(e)
        else:
            if log is not None:
                log.success(id, {"bytes": len(result)} if name == "read_file" else result)
                self._vfs.sync()
            return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        if log is not None:
            log.error(id, failure)
        raise BadCall(failure)

    def _read_file(self, path: str) -> str:
        if (self._files.stat(path).size or 0) > LARGEST:
            raise BadCall(f"{path} is longer than {LARGEST} bytes")
        try:
            return self._files.read(path).decode()
        except UnicodeDecodeError:
            raise BadCall(f"{path} is no text in UTF-8") from None

    def _write_file(self, path: str, content: str) -> str:
        data = content.encode("utf-8", "surrogatepass")
        self._files.write(path, data, parents=True)
        return f"Wrote {len(data)} bytes to {path}"

    def _readdir(self, path: str) -> list[dict[str, Any]]:
        found = []
        for entry in sorted(self._files.list(path), key=lambda e: e.name):
            stat = entry.stat or self._files.stat(f"{path.rstrip('/')}/{entry.name}", follow=False)
            found.append({"name": _text(entry.name), "type": _kind(stat.mode), "size": stat.size})
        return found

    def _mkdir(self, path: str) -> str:
        self._files.mkdir(path)
        return f"Made {path}"

    def _remove(self, path: str) -> str:
        files = self._files.filesystem
        if files.stat(path, False).is_dir:
            files.rmdir(path)
        else:
            files.unlink(path)
        return f"Removed {path}"

    def _rename(self, old: str, new: str) -> str:
        self._files.rename(old, new)
        return f"Renamed {old} to {new}"

    def _stat(self, path: str) -> dict[str, Any]:
        stat = self._files.stat(path, follow=False)
        return {"type": _kind(stat.mode), "size": stat.size, "mode": f"{stat.mode & 0o7777:04o}",
                "nlink": stat.nlink, "uid": stat.uid, "gid": stat.gid, "ino": stat.ino,
                **{name: ns / 1e9 for name, ns in (("atime", stat.atime_ns), ("mtime", stat.mtime_ns),
                                                   ("ctime", stat.ctime_ns))}}

    def _access(self, path: str) -> dict[str, bool]:
        return {"exists": self._files.exists(path)}

    def _kv_get(self, key: str) -> Any:
        return json.dumps(self._vfs.kv.get(key), ensure_ascii=False)

    def _kv_set(self, key: str, value: Any) -> str:
        self._vfs.kv.set(key, value)
        return f"Set {key}"

    def _kv_delete(self, key: str) -> dict[str, bool]:
        return {"deleted": self._vfs.kv.delete(key)}

    def _kv_list(self, prefix: str | None) -> list[dict[str, Any]]:
        return [{"key": key, "value": value} for key, value in self._vfs.kv.list(prefix or "")]


def _failure(error: Exception) -> str:
    text = str(getattr(error, "strerror", None) or error)
    where = getattr(error, "filename", None)
    return f"{where}: {text}" if where else text


def _kind(mode: int) -> str:
    return KINDS.get(st.S_IFMT(mode), "unknown")


def _check(name: str, arguments: dict[str, Any]) -> None:
    _, known, required, _, _ = TOOLS[name]
    for key in arguments:
        if key not in known:
            raise BadCall(f"unknown argument '{key}'; there are {', '.join(known)}")
    for key in required:
        if key not in arguments:
            raise BadCall(f"the argument '{key}' is missing")
    for key, value in arguments.items():
        if known[key].get("type") == "string" and not isinstance(value, str):
            raise BadCall(f"the argument '{key}' must be a string")
        if known[key] is PATH and not value.startswith("/"):
            raise BadCall(f"the argument '{key}' must be an absolute path")


def _shortened(arguments: dict[str, Any]) -> dict[str, Any]:
    """For the log: not the content of a file."""
    if isinstance(arguments.get("content"), str):
        return {**arguments, "content": f"{len(arguments['content'])} characters"}
    return arguments


def _text(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def serve(vfs: Vfs, names: Sequence[str]) -> None:
    """Serve the tools of these names on standard input and output, until the client closes them.

    ImportError where the package `mcp` is missing.
    """
    import anyio
    import anyio.to_thread
    import mcp_types as types
    from mcp.server import Server
    from mcp.server.stdio import stdio_server

    from mirage import __version__
    tools = Tools(vfs)
    lock = anyio.Lock()

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[
            types.Tool(name=name, description=about,
                       input_schema={"type": "object", "properties": known, "required": list(required),
                                     "additionalProperties": False},
                       annotations=types.ToolAnnotations(read_only_hint=looks, destructive_hint=destroys,
                                                         open_world_hint=False))
            for name, (about, known, required, looks, destroys) in TOOLS.items() if name in names])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in names:
            return _answer(f"unknown tool '{params.name}'", True)
        try:
            async with lock:
                text = await anyio.to_thread.run_sync(tools.call, params.name, dict(params.arguments or {}))
                return _answer(text, False)
        except BadCall as e:
            return _answer(str(e), True)

    def _answer(text: str, failed: bool) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    async def run() -> None:
        server: Server[Any] = Server("vfs", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())

    anyio.run(run)
