"""A simulated Drive with Docs, Sheets and Slides, over HTTP in the shape of Google's APIs."""
from __future__ import annotations

from mirage.bench.services.gdrive.server import DriveSimulator

__all__ = ["DriveSimulator"]
