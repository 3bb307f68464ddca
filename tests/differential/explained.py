"""Differences with a reason: what a case must look like for each, and why Mirage answers otherwise."""
from __future__ import annotations

import re

EXPLAINED: tuple[tuple[str, str, str], ...] = ()
"""(pattern of the kind of case, pattern found in the script, reason)."""


def reason(kind: str, script: str) -> str:
    """Why the answers to this script may differ; empty where they may not."""
    for kinds, pattern, text in EXPLAINED:
        if re.fullmatch(kinds, kind) and re.search(pattern, script):
            return text
    return ""
