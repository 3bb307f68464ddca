"""The long run of random operations: `python -m tests.serve.on_mount [COUNT]`."""
from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tests.serve.fuse_support import served
from tests.serve.random_io import compare

COUNT = 100_000


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with served(folder / "a.db", folder / "m") as mounted:
            compare(mounted.path, count, random.randrange(10 ** 6), 10_000)
    print("equal")
    return 0


if __name__ == "__main__":
    sys.exit(main())
