"""A virtual environment of its own, for an installed wheel or a peer."""
from __future__ import annotations

import importlib.util
import subprocess
import sys
import venv
from pathlib import Path


def create(folder: Path) -> Path:
    """Make a virtual environment with pip in `folder` (replaced if it is there); its Python.

    Debian's Python without python3-venv has no ensurepip: the pip that runs us then installs pip there.
    """
    bundled = importlib.util.find_spec("ensurepip") is not None
    venv.create(folder, with_pip=bundled, clear=True)
    python = Path(folder) / "bin/python"
    if not bundled:
        subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet",
                        "--disable-pip-version-check", "pip"], check=True, capture_output=True)
    return python
