"""Runs a script in a fresh Terminal as `bash -c` would; expected values are those of bash 5.2.37 and coreutils 9.7."""
from __future__ import annotations

import pytest

from mirage import Terminal

ENVIRONMENT = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@pytest.fixture
def bash():
    def run(script: str) -> tuple[str, int, str]:
        """(stdout, exit status, stderr)."""
        with Terminal(cwd="/home/user", env=ENVIRONMENT) as terminal:
            result = terminal.run(script)
        return (result.stdout_bytes.decode("utf-8", "surrogateescape"), result.exit_code,
                result.stderr_bytes.decode("utf-8", "surrogateescape"))
    return run
