"""The same scripts with mirage-ai against the same simulator, in an environment of its own."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from mirage.bench.counts.model import Account, Count

VERSION = "0.0.7"
DRIVER = Path(__file__).with_name("peer_driver.py")
NEEDS = (f"mirage-ai=={VERSION}", "slack-sdk", "aiohttp", "httpx", "aioboto3", "asyncpg")


def environment() -> Path | None:
    """Its Python, made once below the user's cache; None where it does not install."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "mirage" / "counts"
    place = cache / f"mirage-ai-{VERSION}"
    python = place / "bin/python"
    ready = place / f"ready-{len(NEEDS)}"
    if not ready.exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", place], check=True, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *NEEDS],
                           check=True, capture_output=True, timeout=900)
        except (OSError, subprocess.SubprocessError):
            return None
        ready.touch()
    return python


def add(python: Path, account: Account, counts: list[Count]) -> None:
    """Fill in `peer` of the counts of one account."""
    if account.peer is None:
        return
    driver = subprocess.Popen([python, DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, cwd="/")
    assert driver.stdin is not None and driver.stdout is not None
    send, receive = driver.stdin, driver.stdout

    def tell(value: Any) -> None:
        send.write(json.dumps(value) + "\n")
        send.flush()

    try:
        tell(account.peer)
        for count in counts:
            if count.script.peer is None:
                continue
            before, line = count.script.peer
            tell({"before": list(before), "line": line})
            answer = json.loads(receive.readline() or '{"status": -1, "output": "it ended"}')
            if answer == "ready":
                account.clear()
                tell("go")
                answer = json.loads(receive.readline() or '{"status": -1, "output": "it ended"}')
                count.peer = account.calls()
            if answer["status"] != 0:
                told = " ".join(answer["output"].split())[-160:]
                count.problem = count.problem or f"mirage-ai: status {answer['status']}: {told}"
    finally:
        driver.kill()
        driver.wait()
        send.close()
        receive.close()
