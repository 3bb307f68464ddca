"""Slack's Web API over HTTP on loopback: `with SlackSimulator() as slack: slack.address + "api/"`."""
from __future__ import annotations

from mirage.bench.services.slack.server import SlackSimulator

__all__ = ["SlackSimulator"]
