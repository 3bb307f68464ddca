"""The policy: rules, the gate that applies them before every operation, approvals, and the journal."""
from __future__ import annotations

from mirage.policy.model import PolicyError, shipped_names
from mirage.policy.records import Ask, Effect, Refusal, Usage, Verdict
from mirage.policy.rules import Decision, Policy

__all__ = ["Ask", "Decision", "Effect", "Policy", "PolicyError", "Refusal", "Usage", "Verdict", "shipped_names"]
