"""Packages of npm that other people made, for tests with the marker `judge`: installed once into a folder of the cache."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def npm(*packages: str) -> Path:
    """The node_modules that has these (`name@version`); the test is skipped where they cannot be had."""
    node, program = shutil.which("node"), shutil.which("npm")
    if node is None or program is None:
        pytest.skip("node and npm are not installed")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "mirage-judges" / "+".join(p.replace("/", "_") for p in packages)
    ready = folder / "ready"
    if not ready.exists():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            done = subprocess.run([program, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *packages],
                                  capture_output=True, text=True, timeout=180)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm did not install {', '.join(packages)} in time")
        if done.returncode:
            pytest.skip(f"npm cannot install {', '.join(packages)} here: {done.stderr.strip()[-200:]}")
        ready.touch()
    return folder / "node_modules"
