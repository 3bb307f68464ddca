"""`mirage`: run a command, open the interactive terminal, show the demo, check a policy."""
from __future__ import annotations

import gc
import sys

from mirage.console.options import UsageError, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HELP = """\
Usage: mirage [exec] [OPTION]... COMMAND       run a line of bash (- reads it from standard input)
       mirage [OPTION]...                      open the interactive terminal
       mirage demo [exec [OPTION]... COMMAND]  the same on the demo workspace
       mirage mount [OPTION]... MOUNTPOINT     show the same files to real programs, until it is unmounted
       mirage explain [OPTION]... COMMAND      what it would read, ask, change and cost, without running it
       mirage index [OPTION]... PATH...        build or update the local index that the command `search` uses
       mirage policy check -f FILE COMMAND     explain what a policy says to a command, without running it
       mirage policy list                      the policies that ship with Mirage

Options (before or after COMMAND):
  -f, --config FILE   mirage.yaml that describes mounts, CLIs, policy, limits
  --mount PATH=SPEC   add a mount; SPEC is memory, host:DIR[:rw], or PROVIDER:ARG?option=value&...
                      (a secret is named, not written: token=env:NAME, file:PATH, keyring:NAME, cmd:COMMAND)
  --policy NAME|FILE  a shipped policy or a policy file; may repeat: all must allow
  --cwd DIR           where to start (default /workspace)
  --index FILE        the local index (default .mirage/index.db, beside the configuration)
  --env NAME=VALUE    set an environment variable inside; may repeat
  --timeout SECONDS   stop the line after this time (default 120, none at the prompt of the interactive terminal)
  --json              print {stdout, stderr, exit_code, refusals, effects, usage} as one JSON object
  --usage             print what it cost (calls, bytes, time) on standard error
  -h, --help          this text
  --version           the version

The exit status is that of COMMAND; 124 after the timeout, 126 refused by the policy, 130 interrupted, 137 a limit,
2 for a bad command line. Without a configuration /workspace is in memory; the interactive terminal shows the current
folder read-only at /src as well. With a pipe as standard input `mirage` runs the lines that come.

Examples:
  mirage exec --mount /src=host:. 'grep -rn TODO /src | head'
  mirage -f mirage.yaml 'jq -r .subject /mail/INBOX/*/*.json | sort | uniq -c'
  mirage demo
"""
DEMO_HELP = """\
Usage: mirage demo [OPTION]...               open the interactive terminal on the demo workspace
       mirage demo exec [OPTION]... COMMAND  run a line of bash there
       mirage demo mount MOUNTPOINT          show it to real programs

A small company, made up, in services that are simulated in this process: mail, Slack, Drive, calendars, GitHub, Notion,
Linear, Canvas, a database; and its documents. /VFS.md tells where things are, /SKILL.md which commands change them.
Nothing of yours is in it and nothing leaves the machine.
The options are those of mirage; see: mirage --help

Examples:
  mirage demo exec 'ls /mail; cat /VFS.md'
  mirage demo exec 'grep -rl invoice /mail/INBOX | head -3'
  mirage demo exec 'diff -r /repo/main /repo/dev; linear create-issue --help'
"""
LATER = ("serve", "run")
COLLECT_AFTER = 20_000                                       # new objects: loading modules makes many, no garbage
"""Subcommands of a later version; until then nobody shall rely on them being commands of bash."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; the exit status is that of the command, 2 for a bad command line."""
    args = list(sys.argv[1:] if argv is None else argv)
    gc.set_threshold(COLLECT_AFTER)
    try:
        return _dispatch(args)
    except UsageError as e:
        text = f"mirage: {e}\nTry 'mirage --help' for more information.\n"
        if sys.stderr is not None:
            sys.stderr.write(text)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _drop_output()
        return 141


def _drop_output() -> None:
    """Nobody reads standard output any more: Python shall not complain about that when it ends."""
    import os
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def _dispatch(args: list[str]) -> int:
    parsed = parse(args)
    operands = parsed.operands
    first = operands[0] if operands else ""
    if parsed.get("version"):
        from mirage import __version__
        print(f"mirage {__version__}")
        return 0
    if first == "policy":
        from mirage.console.policy import policy
        del args[parsed.places[0]]
        return policy(args)
    demo = first == "demo"
    if demo:
        del operands[0]
    if operands[:1] == ["explain"]:
        from mirage.console.explain import explain
        del operands[0]
        return explain(parsed, demo)
    if operands[:1] == ["index"]:
        from mirage.console.index import index
        del operands[0]
        return index(parsed, demo)
    explicit = operands[:1] == ["exec"]
    if explicit:
        del operands[0]
    if operands[:1] == ["mount"] and not explicit:
        from mirage.console.mount import mount
        del operands[0]
        return mount(parsed, demo)
    if parsed.get("help"):
        sys.stdout.write(DEMO_HELP if demo else HELP)
        return 0
    if first in LATER:
        raise UsageError(f"{first}: not in this version; a command of this name is run by: mirage exec {first}")
    if len(operands) > 1:
        raise UsageError(f"one COMMAND expected, got {len(operands)}: quote it as one word: '{' '.join(operands)}'")
    if operands:
        from mirage.console.execute import execute
        return execute(parsed, demo)
    if explicit:
        raise UsageError("exec needs a COMMAND (or - to read it from standard input)")
    from mirage.console.interactive import interact
    return interact(parsed, demo)
