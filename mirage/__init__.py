"""Mirage: a virtual terminal for agents. Services appear as files, Unix tools run in process over them."""
from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.clis import VirtualCli
    from mirage.policy import Ask, Policy, Refusal, Verdict
    from mirage.process.limits import Limits
    from mirage.terminal import Result, Terminal

_HOME = {"Terminal": "mirage.terminal", "Result": "mirage.terminal", "Limits": "mirage.process.limits",
         "Policy": "mirage.policy", "Ask": "mirage.policy", "Verdict": "mirage.policy", "Refusal": "mirage.policy",
         "VirtualCli": "mirage.clis"}

__all__ = ["Ask", "Limits", "Policy", "Refusal", "Result", "Terminal", "Verdict", "VirtualCli"]

if not TYPE_CHECKING:                                        # a name that does not exist is an error of the checker
    def __getattr__(name):
        if name not in _HOME:
            raise AttributeError(f"module 'mirage' has no attribute {name!r}")
        import importlib
        return getattr(importlib.import_module(_HOME[name]), name)

    def __dir__():
        return sorted([*globals(), *_HOME])
