"""`mirage policy check` and `mirage policy list`."""
from __future__ import annotations

import sys

from mirage.console.options import FLAG, LIST, VALUE, UsageError, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.console.options import Parsed
    from mirage.terminal import Terminal

HELP = """\
Usage: mirage policy check -f FILE [OPTION]... COMMAND
       mirage policy list

check says what a policy would decide about COMMAND, without running it: for each command, path and call the effect,
the verdict and the rule. Literals and globs are resolved, commands in commands (xargs, find -exec, bash -c, eval)
are followed; what only running can tell is `unknown`.
Exit status: 0 allowed, 1 something is refused or asked, 3 something is unknown, 2 bad usage.

  -f, --config FILE    a mirage.yaml (its mounts, CLIs and policies) or a policy file
  --policy NAME|FILE   a shipped policy or a policy file; may repeat
  --mount PATH=SPEC    add a mount
  --cwd DIR            where the command would run (default /workspace)
  --json               print the findings as JSON
"""
OPTIONS = {"-f": ("config", VALUE), "--config": ("config", VALUE), "--policy": ("policy", LIST),
           "--mount": ("mount", LIST), "--cwd": ("cwd", VALUE), "--json": ("json", FLAG),
           "-h": ("help", FLAG), "--help": ("help", FLAG)}


def policy(args: Sequence[str]) -> int:
    if not args:
        sys.stdout.write(HELP)
        return 0
    parsed = parse(args, OPTIONS)
    if parsed.get("help"):
        sys.stdout.write(HELP)
        return 0
    command = parsed.operands.pop(0) if parsed.operands else ""
    if command == "list" and not parsed.operands and not parsed.values:
        return _list()
    if command != "check":
        raise UsageError(f"policy: unknown command {command!r}; known: check, list")
    if len(parsed.operands) != 1:
        raise UsageError("policy check needs one COMMAND, quoted as one word")
    return _check(parsed)


def _list() -> int:
    from mirage.policy.model import shipped_folder, shipped_names
    for name in shipped_names():
        text = (shipped_folder() / f"{name}.yaml").read_text(encoding="utf-8")
        header = [line[1:].strip() for line in text.splitlines() if line.startswith("#")]
        print(f"{name}\n  {' '.join(header)}")
    return 0


def _check(parsed: Parsed) -> int:
    from mirage.planner import UNKNOWN, check, verdict
    with _terminal(parsed) as terminal:
        try:
            findings = check(terminal, parsed.operands[0])
        except ValueError as e:
            raise UsageError(str(e)) from None
    answer = verdict(findings)
    if parsed.get("json"):
        import json
        print(json.dumps({"verdict": answer, "findings": [f.as_dict() for f in findings]}, ensure_ascii=False))
    else:
        for finding in findings:
            why = f"  {finding.rule}: {finding.reason}" if finding.reason else ""
            print(f"{finding.action:8} {finding.effect:8} {finding.target}{why}")
        print(f"verdict: {answer}")
    return {"allow": 0, UNKNOWN: 3}.get(answer, 1)


def _terminal(parsed: Parsed) -> Terminal:
    """A Terminal with the policy in question; a -f file with rules is a policy, any other one a mirage.yaml."""
    from mirage.console.setup import make_terminal
    config = parsed.get("config")
    if config and _is_policy(config):
        parsed.values.setdefault("policy", []).append(config)
        del parsed.values["config"]
    if not parsed.get("config") and not parsed.get("policy"):
        raise UsageError("policy check needs -f FILE or --policy NAME")
    return make_terminal(parsed, demo=False)


def _is_policy(path: str) -> bool:
    import yaml
    try:
        with open(path, encoding="utf-8") as file:
            data = yaml.safe_load(file)
    except OSError as e:
        raise UsageError(f"{path}: {e.strerror}") from None
    except (ValueError, yaml.YAMLError) as e:
        raise UsageError(f"{path}: {e}") from None
    return isinstance(data, dict) and bool({"rules", "allow_paths", "default"} & set(data))
