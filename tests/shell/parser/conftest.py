"""Lets the tests of this folder import each other as ``tests.shell.parser``, however pytest was started."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[3])
if ROOT not in sys.path:
    sys.path.append(ROOT)
