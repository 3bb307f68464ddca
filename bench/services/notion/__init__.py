"""Notion's REST API (version 2022-06-28) over HTTP on loopback: `with NotionSimulator() as notion: notion.address`."""
from __future__ import annotations

from mirage.bench.services.notion.server import NotionSimulator

__all__ = ["NotionSimulator"]
