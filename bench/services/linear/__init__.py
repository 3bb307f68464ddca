"""Linear's GraphQL API over HTTP on loopback: `with LinearSimulator() as linear: linear.address + "graphql"`."""
from __future__ import annotations

from mirage.bench.services.linear.server import LinearSimulator

__all__ = ["LinearSimulator"]
