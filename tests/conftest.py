"""For all tests: a slow or busy machine must not make one fail, so hypothesis has no deadline per example."""
from __future__ import annotations

from hypothesis import settings

settings.register_profile("mirage", deadline=None)
settings.load_profile("mirage")
