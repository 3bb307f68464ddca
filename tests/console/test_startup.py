"""What `mirage exec 'echo hi'` loads: its start-up is a promise, and every import has its price."""
from __future__ import annotations

import subprocess
import sys

HEAVY = {"typing", "dataclasses", "argparse", "json", "logging", "asyncio", "concurrent.futures", "importlib.metadata", "importlib.resources",
         "inspect", "pathlib", "pydantic", "prompt_toolkit", "rich", "sqlite3", "signal", "socket", "subprocess", "tempfile", "yaml",
         "pcre2", "re2", "bashlex", "mirage.policy", "mirage.config", "mirage.mounts.host", "mirage.mounts.gmail"}


def test_exec_loads_little() -> None:
    program = ("import sys; before = set(sys.modules); from mirage.console.main import main; main(['exec', 'echo hi'])\n"
               "print(*sorted(set(sys.modules) - before))")
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)                # the grammar's tables are cached
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    loaded = set(second.split())
    assert first == "hi" and not loaded & HEAVY
    assert len([name for name in loaded if name.startswith("mirage")]) <= 85
