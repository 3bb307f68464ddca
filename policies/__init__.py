"""Shipped policy files (YAML); each one's header says what it is for."""
from __future__ import annotations

if not __name__.startswith("mirage."):
    raise ImportError("import mirage.policies instead of policies: the folder is a room of the package mirage")
