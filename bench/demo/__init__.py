"""The world of `mirage demo`: documents of the company whose mailbox the simulator holds."""
from __future__ import annotations

import os

DOCS = os.path.join(os.path.dirname(__file__), "docs")
NOW = 1790784000.0                                           # 2026-09-30 16:00 UTC, the end of the mailbox's year
