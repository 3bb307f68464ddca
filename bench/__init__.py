"""Simulated services and benchmarks."""
from __future__ import annotations

if not __name__.startswith("mirage."):
    raise ImportError("import mirage.bench instead of bench: the folder is a room of the package mirage")
