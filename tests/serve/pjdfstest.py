"""Run pjdfstest on a mounted database, or what else is to run in the directory of one.

    python -m tests.serve.pjdfstest DIR      DIR is a built checkout; needs root and `prove`
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "tests").is_dir():
        print("PJDFSTEST=DIR must name a built checkout of pjdfstest", file=sys.stderr)
        return 2
    source = Path(sys.argv[1]).resolve()
    if not os.access(source / "pjdfstest", os.X_OK):
        print(f"{source}/pjdfstest is not built: autoreconf -ifs && ./configure && make pjdfstest", file=sys.stderr)
        return 2
    if shutil.which("prove") is None:
        print("prove (package perl) is not installed", file=sys.stderr)
        return 2
    from tests.serve.fuse_support import served
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with served(folder / "a.db", folder / "m") as mounted:
            return subprocess.run(["prove", "-r", source / "tests"], cwd=mounted.path, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
