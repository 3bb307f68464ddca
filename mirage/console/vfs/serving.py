"""`vfs serve nfs`, `vfs serve mcp`, and their old names."""
from __future__ import annotations

import os
import sys

from mirage.console.vfs.model import Failure, UsageError
from mirage.console.vfs.opening import open_database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.console.vfs.model import Parsed


def nfs(parsed: Parsed) -> int:
    """Until a signal comes."""
    from mirage.console.vfs.mounting import inodes_of
    from mirage.mounts.vfs.inodes import TreeInodes
    from mirage.serve.fuse.mount import stop_signals
    from mirage.serve.nfs.server import NfsServer
    text = parsed.get("port")
    if not text.isdigit() or int(text) > 65535:
        raise UsageError(f"invalid value '{text}' for '--port <PORT>'", parsed.command)
    stop = stop_signals()
    with open_database(parsed) as vfs:
        inodes, _ = inodes_of(vfs, parsed)
        try:
            server = NfsServer(inodes, stable=isinstance(inodes, TreeInodes), sync=vfs.db.sync, host=parsed.get("bind"),
                               port=int(text))
        except OSError as e:
            raise Failure(f"cannot listen on {parsed.get('bind')} port {text}: {os.strerror(e.errno or 0)}") from None
        with server:
            where = f"[{server.host}]" if ":" in server.host else server.host
            print(f"Serving {vfs.path} over NFS at {server.host}:{server.port}\n"
                  f"  mount -t nfs -o vers=3,tcp,port={server.port},mountport={server.port},nolock {where}:/ "
                  "MOUNTPOINT",
                  flush=True)
            while not stop.wait(0.2):
                pass
    return 0


def old_nfs(parsed: Parsed) -> int:
    print("warning: `vfs nfs` is deprecated, use `vfs serve nfs`", file=sys.stderr)
    return nfs(parsed)


def mcp(parsed: Parsed) -> int:
    from mirage.serve.vfs_mcp import TOOLS, serve
    names = parsed.get("tools")
    chosen = [name.strip() for name in names.split(",") if name.strip()] if names is not None else list(TOOLS)
    unknown = [name for name in chosen if name not in TOOLS]
    if unknown or not chosen:
        raise Failure(f"unknown tool '{unknown[0] if unknown else ''}'; there are {', '.join(TOOLS)}")
    with open_database(parsed) as vfs:
        try:
            serve(vfs, chosen)
        except ImportError as e:
            raise Failure(f"the MCP server needs {e.name}: pip install 'mirage-terminal[mcp]'") from None
    return 0


def old_mcp(parsed: Parsed) -> int:
    print("warning: `vfs mcp-server` is deprecated, use `vfs serve mcp`", file=sys.stderr)
    return mcp(parsed)
