"""The real bash, as a reference: it reads scripts, and prints functions, but runs nothing of ours."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

BASH = shutil.which("bash") or ""
COMPLAINT = re.compile("syntax error|unexpected EOF|unexpected arg|unexpected tok|expected")


@functools.cache
def is_bash_52() -> bool:
    """Is there a bash 5.2 or later?"""
    if not BASH:
        return False
    said = subprocess.run([BASH, "--version"], capture_output=True, text=True).stdout
    match = re.search(r"version (\d+)\.(\d+)", said)
    return bool(match and (int(match[1]), int(match[2])) >= (5, 2))


needs_bash = pytest.mark.skipif(not is_bash_52(), reason="needs bash 5.2")


def run(script: str, *options: str) -> tuple[str, str]:
    """Output and messages of a restricted bash without commands, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [BASH, "--norc", "-r", "-O", "extglob", *options, "-c", script, "bash"],
            capture_output=True,
            env={"PATH": "/nonexistent", "LC_ALL": "C.UTF-8"},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            timeout=20,
        )
    return (
        done.stdout.decode("utf-8", "surrogateescape"),
        done.stderr.decode("utf-8", "surrogateescape")
        .replace(BASH + ": -c: ", "bash: ")
        .replace("bash: -c: ", "bash: "),
    )


def complaints(scripts: Iterable[str]) -> list[str]:
    """What ``bash -n`` says about each."""
    with ThreadPoolExecutor(2) as pool:
        return [said for _, said in pool.map(lambda script: run(script, "-n"), scripts)]


def functions(bodies: Iterable[str]) -> list[str]:
    """``declare -f`` of a function with each body; empty where bash does not take it."""

    def show(body: str) -> str:
        out = run(f"__f ()\n{{\n{body}\n}}\ndeclare -f __f")[0]
        return out if out.startswith("__f") else ""

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(show, bodies))
