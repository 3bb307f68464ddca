"""docs/KNOBS.md: every environment variable, limit and option, from where the program itself has them."""
from __future__ import annotations

import importlib

from mirage.console.vfs.commands import build
from mirage.console.vfs.texts import named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.console.vfs.model import Command, Option

# (name, default, who reads it, the test that holds it, what it does)
VARIABLES = (
    ("VFS_KEY", "-", "vfs", "console/test_vfs_encrypted_command.py", "key of a database, for commands that have "
     "`--key`"),
    ("VFS_CIPHER", "-", "vfs", "console/test_vfs_encrypted_command.py", "cipher of a database, for commands that have "
     "`--cipher`"),
    ("VFS_FUSE_URING", "0", "nobody", "-", "kept for FUSE over io_uring, which is not used"),
    ("VFS_WAKEFUL", "1", "vfs", "serve/test_wakeful.py", "0: a busy mount of root does not keep the processors awake "
     "(/dev/cpu_dma_latency)"),
    ("TMPDIR", "/tmp", "vfs", "serve/test_fuse_command.py", "where the private directory of the process is made; "
     "programs that are started get it unchanged"),
    ("SHELL", "-", "vfs completions", "console/test_knobs.py", "the shell that is meant where none is named"),
    ("TERM", "dumb", "mirage", "console/keyboard.py", "TERM of the terminal's commands"),
    ("XDG_STATE_HOME", "~/.local/state", "mirage", "console/keyboard.py", "where the history of typed lines is kept"),
    ("XDG_CACHE_HOME", "~/.cache", "mirage", "clis/test_mcp.py", "where compiled tables and descriptions are kept"),
    ("OPENBLAS_NUM_THREADS", "1", "the index", "-", "threads of numpy while the index is used"),
)
# (module, name in it, unit, what it bounds)
CONSTANTS = (
    ("mirage.console.vfs.opening", "PATIENCE", "s", "`vfs` waits for a program that keeps a database to itself"),
    ("mirage.mounts.vfs.connection", "PATIENCE", "s", "a transaction waits for those of other programs"),
    ("mirage.mounts.vfs.connection", "CHECKPOINT_PAGES", "pages", "in the write-ahead log, then it goes into the file"),
    ("mirage.mounts.vfs.schema", "CHUNK_SIZE", "bytes", "of a chunk in new databases"),
    ("mirage.mounts.vfs.naming", "SHORT", "bytes", "written or removed by one transaction, and waiting for one file"),
    ("mirage.mounts.vfs.contents", "DIRTY", "bytes", "waiting in memory, of all files"),
    ("mirage.mounts.vfs.contents", "WAITS", "ns", "for which written data waits on a mount and an NFS server"),
    ("mirage.mounts.vfs.nodes", "CACHED", "entries", "of inodes and names in memory"),
    ("mirage.mounts.vfs.content", "HOLE", "bytes", "of a gap that is stored as zeros"),
    ("mirage.mounts.vfs.content", "MAX_FILE_SIZE", "bytes", "of a file"),
    ("mirage.mounts.vfs.bulk", "FILES", "files", "of one transaction of `vfs clone`"),
    ("mirage.mounts.vfs.maintenance", "DENSE", "bytes", "of holes that a backup fills"),
    ("mirage.mounts.vfs.inodes", "TTL", "s", "for which the kernel may rely on what it knows of a mount"),
    ("mirage.serve.fuse.mount", "SECONDS", "s", "for one attempt to mount"),
    ("mirage.serve.fuse.server", "SPIN", "s", "for which the server of a database looks for a request, before it "
     "sleeps"),
    ("mirage.serve.fuse.wakeful", "MANY", "requests", "within 25 ms, from which on the processors are kept awake"),
    ("mirage.serve.nfs.nfs3", "LONGEST", "bytes", "of one READ or WRITE over NFS"),
    ("mirage.serve.nfs.files", "MOST", "files", "that the NFS server keeps open"),
    ("mirage.serve.nfs.files", "IDLE", "s", "after which it closes one"),
    ("mirage.serve.nfs.server", "MOST", "connections", "of the NFS server"),
    ("mirage.serve.vfs_mcp", "LARGEST", "bytes", "of a file that the MCP server reads as one answer"),
)


def ledger() -> str:
    """The text of the file."""
    from mirage.process.limits import Limits
    out = ["# Knobs", "", "Written by `python -m mirage.console.vfs.knobs`; a test keeps it so.", "",
           "## Environment variables", "", "| variable | default | read by | held by tests/ | |",
           "|---|---|---|---|---|"]
    out.extend(f"| `{name}` | {default} | {owner} | {gate} | {text} |"
               for name, default, owner, gate, text in VARIABLES)
    out += ["", "Inside `vfs exec` and mounts the environment is the caller's, without VFS_KEY.", "",
            "## Limits of a terminal", "",
            "Options of `Limits(...)`, `limits:` in mirage.yaml (docs/architecture.md).", "",
            "| limit | default |", "|---|---|"]
    limits = Limits()
    out.extend(f"| `{name}` | {getattr(limits, name)} |" for name in Limits.__slots__)
    out += ["", "## Bounds of databases and servers", "", "Constants; the module says more.", "",
            "| constant | value | unit | |", "|---|---|---|---|"]
    for module, name, unit, text in CONSTANTS:
        out.append(f"| `{module}.{name}` | {getattr(importlib.import_module(module), name)} | {unit} | {text} |")
    out += ["", "## Options of `vfs`", "", "What each does: [MANUAL.md](MANUAL.md). They are held by tests/console/"
            "test_vfs_command.py, T1.", "", "| command | option | default | variable |", "|---|---|---|---|"]
    for command in _all(build()):
        out.extend(f"| {command.title} | `{named(option)}` | {_default(option)} | {option.env or ''} |"
                   for option in command.options)
    return "\n".join(out) + "\n"


def _default(option: Option) -> str:
    return option.default or ("off" if option.value is None else "-")


def _all(command: Command) -> list[Command]:
    return [command, *(found for below in command.commands for found in _all(below))]


if __name__ == "__main__":
    print(ledger(), end="")
