"""Canvas LMS over HTTP on loopback: `with CanvasSimulator() as canvas: canvas.address + "api/v1"`."""
from __future__ import annotations

from mirage.bench.services.canvas.server import CanvasSimulator

__all__ = ["CanvasSimulator"]
