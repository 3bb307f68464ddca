"""What the tests of CLIs share."""
from __future__ import annotations

import json
from typing import Any

from mirage import Terminal


def run(terminal: Terminal, line: str, status: int = 0) -> Any:
    """The JSON that a line prints; for a line that fails with `status`, that of its error."""
    result = terminal.run(line)
    assert result.exit_code == status, result
    return json.loads(result.stdout if status == 0 else result.stderr.splitlines()[0])
