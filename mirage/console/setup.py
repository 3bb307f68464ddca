"""From parsed options to a Terminal; shared by exec, the interactive terminal and the demo."""
from __future__ import annotations

from mirage.console.options import Parsed, UsageError
from mirage.terminal import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.vfs.types import Mount


INDEX = ".mirage/index.db"


def make_terminal(parsed: Parsed, demo: bool, defaults: dict[str, Mount] | None = None, *, records: bool = False,
                  **extra: Any) -> Terminal:
    """The Terminal that the options describe; `defaults` are mounts that --mount may replace.

    records  Result.effects and usage are wanted, even where no policy makes the Terminal keep them
    Raises UsageError with what to write instead.
    """
    mounts = {**(defaults or {}), **_mounts(parsed.get("mount", []))}
    arguments: dict[str, Any] = {"mounts": mounts, "env": _environment(parsed.get("env", [])), **extra}
    if parsed.get("cwd"):
        arguments["cwd"] = parsed.get("cwd")
    try:
        terminal = _terminal(parsed, demo, records, arguments)
    except (ValueError, ImportError) as e:                   # of a config, policy, provider; the demo's NEEDS
        raise UsageError(str(e)) from None
    except OSError as e:
        raise UsageError(_told(e)) from None
    if parsed.get("cwd"):
        try:
            terminal.chdir(parsed.get("cwd"))
        except OSError as e:
            terminal.close()
            raise UsageError(f"--cwd {parsed.get('cwd')}: {e.strerror}") from None
    return terminal


def _terminal(parsed: Parsed, demo: bool, records: bool, arguments: dict[str, Any]) -> Terminal:
    policies = parsed.get("policy", [])
    config = parsed.get("config")
    if parsed.get("index"):
        arguments["index"] = parsed.get("index")
    elif not config:
        arguments["index"] = INDEX
    if config and not demo:
        from mirage.config import load
        return load(config).make_terminal(policies=policies, **arguments)
    if config:
        raise UsageError("the demo has its own configuration: -f cannot be used with it")
    if policies or records:
        from mirage.policy import Policy
        arguments["policy"] = Policy.load_all(policies)
    if demo:
        from mirage.console.demo import demo_terminal
        return demo_terminal(**arguments)
    return Terminal(**arguments)


def _told(e: OSError) -> str:
    return f"{e.filename}: {e.strerror}" if e.filename and e.strerror else str(e)


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
            raise UsageError(f"--mount wants PATH=SPEC with an absolute PATH, such as /src=host:. ; got {text!r}")
        try:
            mounts[path] = open_spec(spec)
        except OSError as e:
            raise UsageError(f"--mount {path}: {_told(e)}") from None
        except ValueError as e:
            raise UsageError(f"--mount {path}: {e}") from None
    return mounts


def _environment(pairs: list[str]) -> dict[str, str]:
    env = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not (name.isascii() and name.isidentifier()):
            raise UsageError(f"--env wants NAME=VALUE, got {pair!r}")
        env[name] = value
    return env
