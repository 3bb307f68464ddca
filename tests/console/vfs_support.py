"""Running the program `vfs` in a process of its own."""
from __future__ import annotations

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VFS = (sys.executable, "-m", "mirage.console.vfs.main")


def environment(**more):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("VFS_", "GIT_"))}
    return {**env, "PYTHONPATH": ROOT, **more}


def vfs(cwd, *words, **env):
    """(status, stdout, stderr)"""
    done = subprocess.run([*VFS, *map(str, words)], cwd=cwd, env=environment(**env), capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr
