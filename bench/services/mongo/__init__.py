"""A small MongoDB on loopback, for the real driver: `with MongoSimulator() as mongo: MongoClient(mongo.url)`."""
from __future__ import annotations

from mirage.bench.services.mongo.server import MongoSimulator

__all__ = ["MongoSimulator"]
