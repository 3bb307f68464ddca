"""`mirage explain COMMAND`."""
from __future__ import annotations

import sys

from mirage.console.options import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.console.options import Parsed

HELP = """\
Usage: mirage explain [OPTION]... COMMAND
       mirage demo explain [OPTION]... COMMAND

Says what COMMAND would read, ask and change, before it runs: calls to services, bytes of files, searches by services,
as min..max where only running tells (`?`: nobody knows), and what the policy would not allow. Nothing is asked of a
service. A call that is sent again after a failure is not counted. To compare: mirage exec --usage COMMAND
The options are those of mirage; --json prints the steps, the total, the effects and what is unknown.

Example:
  mirage -f mirage.yaml explain 'grep -rw invoice /mail | head'
"""


def explain(parsed: Parsed, demo: bool) -> int:
    """0, or UsageError where the command does not parse."""
    from mirage.console.setup import make_terminal
    if parsed.get("help"):
        sys.stdout.write(HELP)
        return 0
    if len(parsed.operands) != 1:
        raise UsageError("explain needs one COMMAND, quoted as one word")
    with make_terminal(parsed, demo) as terminal:
        try:
            explanation = terminal.explain(parsed.operands[0])
        except ValueError as e:
            raise UsageError(str(e)) from None
    if parsed.get("json"):
        import json
        print(json.dumps(explanation.as_dict(), ensure_ascii=False))
    else:
        print(explanation)
    return 0
