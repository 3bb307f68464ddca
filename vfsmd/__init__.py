"""Writers of VFS.md and SKILL.md: a page each that tells an agent where things are and what it can do."""
from __future__ import annotations

if not __name__.startswith("mirage."):
    raise ImportError("import mirage.vfsmd instead of vfsmd: the folder is a room of the package mirage")

from mirage.vfsmd.skill import skill_md
from mirage.vfsmd.vfs import vfs_md

__all__ = ["skill_md", "vfs_md"]
