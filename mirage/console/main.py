"""`mirage`: run a command, open the interactive terminal, show the demo, check a policy."""
from __future__ import annotations

import sys

from mirage.console.options import UsageError, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HELP = """\
Usage: mirage [exec] [OPTION]... COMMAND     run a line of bash (- reads it from standard input)
       mirage [OPTION]...                    open the interactive terminal
       mirage demo [exec [OPTION]... COMMAND]  the same on the demo workspace
       mirage policy check -f FILE COMMAND   explain what a policy says to a command, without running it
       mirage policy list                    the policies that ship with Mirage

Options (before or after COMMAND):
  -f, --config FILE   mirage.yaml that describes mounts, CLIs, policy, limits
  --mount PATH=SPEC   add a mount; SPEC is memory, host:DIR[:rw], or PROVIDER:ARG?option=value&...
                      (a secret is named, not written: token=env:NAME, file:PATH, keyring:NAME, cmd:COMMAND)
  --policy NAME|FILE  a shipped policy or a policy file; may repeat: all must allow
  --cwd DIR           where to start (default /workspace)
  --env NAME=VALUE    set an environment variable inside; may repeat
  --timeout SECONDS   stop the line after this time (default 120)
  --json              print {stdout, stderr, exit_code, refusals, effects, usage} as one JSON object
  --usage             print what it cost (calls, bytes, time) on standard error
  -h, --help          this text
  --version           the version

Examples:
  mirage exec --mount /src=host:. 'grep -rn TODO /src | head'
  mirage -f mirage.yaml 'jq -r .subject /mail/INBOX/*/*.json | sort | uniq -c'
  mirage demo
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; the exit status is that of the command, 2 for a bad command line."""
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(args)
    except UsageError as e:
        print(f"mirage: {e}\nTry 'mirage --help' for more information.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141


def _dispatch(args: list[str]) -> int:
    first = args[0] if args else ""
    if first == "--version":
        from mirage import __version__
        print(f"mirage {__version__}")
        return 0
    if first == "policy":
        from mirage.console.policy import policy
        return policy(args[1:])
    if first == "demo":
        return _terminal(args[1:], demo=True)
    return _terminal(args, demo=False)


def _terminal(args: list[str], demo: bool) -> int:
    explicit = args[:1] == ["exec"]
    parsed = parse(args[1:] if explicit else args)
    if parsed.get("help"):
        sys.stdout.write(HELP)
        return 0
    if len(parsed.operands) > 1:
        raise UsageError(f"one COMMAND expected, got {len(parsed.operands)}: quote it as one word "
                         f"('{parsed.operands[0]} {parsed.operands[1]} ...')")
    if parsed.operands:
        from mirage.console.execute import execute
        return execute(parsed, demo)
    if explicit:
        raise UsageError("exec needs a COMMAND (or - to read it from standard input)")
    from mirage.console.interactive import interact
    return interact(parsed, demo)
