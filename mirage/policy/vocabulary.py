"""The closed vocabulary of rules, journal and CLI operations."""
from __future__ import annotations

LOOKING = ("stat", "list", "read", "search")
CHANGING = ("create", "write", "destroy", "setattr", "link")
FILE_EFFECTS = LOOKING + CHANGING
CALL_EFFECTS = ("read", "create", "update", "destroy", "send", "share", "spend")
EFFECTS = (*FILE_EFFECTS, "exec", "call", "update", "send", "share", "spend")
ACTIONS = ("allow", "hide", "deny", "ask", "stage", "limit", "readonly")

STRICTNESS = {"allow": 0, "limit": 1, "stage": 2, "ask": 3, "deny": 4, "hide": 5}
"""Where several answers apply, the one with the highest number wins."""

STAGE_REASON = "staging changes is not available in this version"
