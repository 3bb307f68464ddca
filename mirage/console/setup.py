"""From parsed options to a Terminal; shared by exec, the interactive terminal and the demo."""
from __future__ import annotations

from mirage.console.options import Parsed, UsageError
from mirage.terminal import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.vfs.types import Mount


def make_terminal(parsed: Parsed, demo: bool, defaults: dict[str, Mount] | None = None, **extra: Any) -> Terminal:
    """The Terminal that the options describe; `defaults` are mounts that --mount may replace.

    Raises UsageError with what to write instead.
    """
    mounts = {**(defaults or {}), **_mounts(parsed.get("mount", []))}
    arguments: dict[str, Any] = dict(extra)
    if parsed.get("cwd"):
        arguments["cwd"] = parsed.get("cwd")
    env = _environment(parsed.get("env", []))
    policies = parsed.get("policy", [])
    if policies:
        from mirage.policy import Policy, PolicyError
        try:
            arguments["policy"] = Policy.load_all(policies)
        except (PolicyError, OSError) as e:
            raise UsageError(str(e)) from None
    if demo:
        from mirage.console.demo import demo_terminal
        return demo_terminal(mounts, env=env, **arguments)
    if parsed.get("config"):
        from mirage.config import ConfigError, load
        try:
            return load(parsed.get("config")).terminal(mounts=mounts, env=env, **arguments)
        except (ConfigError, OSError) as e:
            raise UsageError(str(e)) from None
    return Terminal(mounts, env=env, **arguments)


def timeout_of(parsed: Parsed) -> float | None:
    text = parsed.get("timeout")
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not seconds > 0:
        raise UsageError(f"--timeout must be a positive number of seconds, not {text!r}")
    return seconds


def _mounts(specs: list[str]) -> dict[str, Mount]:
    mounts: dict[str, Mount] = {}
    if not specs:
        return mounts
    from mirage.vfs.spec import open_spec
    for text in specs:
        path, equals, spec = text.partition("=")
        if not equals or not path.startswith("/"):
            raise UsageError(f"--mount wants PATH=SPEC, such as /src=host:. ; got {text!r}")
        try:
            mounts[path] = open_spec(spec)
        except (ValueError, OSError) as e:
            raise UsageError(f"--mount {path}: {e}") from None
    return mounts


def _environment(pairs: list[str]) -> dict[str, str]:
    env = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.replace("_", "a").isalnum() or name[0].isdigit():
            raise UsageError(f"--env wants NAME=VALUE, got {pair!r}")
        env[name] = value
    return env
