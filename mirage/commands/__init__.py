"""The table of Unix tools: every module of this folder that does not begin with `_`, and the aliases below."""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Main

ALIASES: dict[str, str] = {
    "[": "test",
    "base32": "base64",
    "apt": "stty", "apt-get": "stty", "chroot": "stty", "mount": "stty", "ptx": "stty", "shred": "stty",
    "su": "stty", "sudo": "stty", "systemctl": "stty", "top": "stty", "umount": "stty", "watch": "stty",
    "bunzip2": "bzip2", "bzcat": "bzip2",
    "chgrp": "chown",
    "reset": "tput",
    "dir": "ls", "vdir": "ls",
    "egrep": "grep", "fgrep": "grep",
    "fdfind": "fd",
    "find": "_find",
    "gawk": "awk", "mawk": "awk",
    "gunzip": "gzip", "zcat": "gzip",
    "hd": "hexdump",
    "mac2unix": "dos2unix", "unix2dos": "dos2unix", "unix2mac": "dos2unix",
    "md5sum": "_digest", "sha1sum": "_digest", "sha224sum": "_digest", "sha256sum": "_digest",
    "sha384sum": "_digest", "sha512sum": "_digest", "b2sum": "_digest",
    "more": "less",
    "pip": "stty", "pip3": "stty",
    "python": "python3",
    "sh": "bash",
    "unzstd": "zstd", "zstdcat": "zstd",
    "unxz": "xz", "xzcat": "xz",
    "bzgrep": "zgrep", "xzgrep": "zgrep", "zegrep": "zgrep", "zfgrep": "zgrep",
    "zless": "less", "zmore": "less",
    "zipinfo": "unzip",
}

_names: tuple[str, ...] = ()
_mains: dict[str, Main] = {}


def names() -> tuple[str, ...]:
    """Every name that can be called, sorted. An alias counts only where its module is there."""
    global _names
    if not _names:
        modules = set()
        for entry in os.listdir(os.path.dirname(__file__)):
            stem, extension = os.path.splitext(entry)
            if extension in (".py", "") and stem.isidentifier() and stem != "__init__" and stem != "__pycache__":
                modules.add(stem)
        tools = {name for name in modules if not name.startswith("_")}
        tools.update(name for name, module in ALIASES.items() if module in modules)
        _names = tuple(sorted(tools))
    return _names


def find(name: str) -> Main | None:
    """The `main` of a tool, imported on first use; None if there is no such tool."""
    main = _mains.get(name)
    if main is None and name in names():
        import importlib
        loaded = importlib.import_module(f"{__name__}.{ALIASES.get(name, name)}")   # waits for another thread's import
        main = _mains[name] = loaded.main
    return main
