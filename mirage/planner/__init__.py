"""What a command would do, told without running it: the verdicts of the policy, and what it would read and cost.

Words of literals, tildes, braces and globs are expanded; whatever only running can tell (a variable, a substitution,
what comes from a pipe) is reported as unknown. Every command of the text is looked at once, also in branches and
functions that might not run; commands inside commands (env, xargs, find -exec, bash -c, eval) are followed. Nothing
is asked of a service: what is known decides.

  checks       the walk over the text, and the findings about each command (`mirage policy check`)
  costs        calls, bytes and searches of each command (`mirage explain`)
  searching    what grep and rg would ask of a mount's search
  explanation  the result, as text and JSON
"""
from __future__ import annotations

from mirage.planner.checks import UNKNOWN, Finding, check, verdict
from mirage.planner.explanation import Explanation, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.terminal import Terminal

__all__ = ["UNKNOWN", "Explanation", "Finding", "Step", "check", "explain", "verdict"]


def explain(terminal: Terminal, text: str) -> Explanation:
    """What `text` would read, ask and change, as far as can be told. Raises ValueError where it does not parse."""
    from mirage.planner.costs import explain
    return explain(terminal, text)
