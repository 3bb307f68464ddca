"""Gmail's REST API v1 over HTTP on loopback: `with GmailSimulator() as gmail: gmail.address`."""
from __future__ import annotations

from mirage.bench.services.gmail.server import GmailSimulator

__all__ = ["GmailSimulator"]
