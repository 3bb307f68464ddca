"""A GitHub on loopback: the organization of Norrsken Instruments, with repositories, issues, releases and runs."""
from __future__ import annotations

from mirage.bench.services.github.server import NOW, OWNER, TOKEN, GitHubSimulator

__all__ = ["NOW", "OWNER", "TOKEN", "GitHubSimulator"]
