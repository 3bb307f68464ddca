"""Random operations on a file of a mount and on a plain file: both must always hold the same.

    python -m tests.serve.random_io FOLDER-ON-THE-MOUNT [COUNT [SEED]]
"""
from __future__ import annotations

import ctypes
import mmap
import os
import random
import sys
import tempfile
from pathlib import Path

LIMIT = 1 << 20
KEEP, PUNCH, ZERO = 1, 2, 16
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]


class Pair:
    """The same file twice: first on the mount, second on the disk."""

    def __init__(self, one: Path, two: Path, chance: random.Random) -> None:
        self.paths = (one, two)
        self.chance = chance
        self.fds: list[int] = []
        self.open()

    def open(self, flags: int = os.O_CREAT | os.O_RDWR) -> None:
        for fd in self.fds:
            os.close(fd)
        self.fds = [os.open(path, flags, 0o644) for path in self.paths]

    def size(self) -> int:
        sizes = {os.fstat(fd).st_size for fd in self.fds}
        assert len(sizes) == 1, sizes
        return sizes.pop()

    def place(self) -> int:
        size = self.size()
        return self.chance.choice((0, size, self.chance.randrange(size + 1), self.chance.randrange(LIMIT)))

    def data(self) -> bytes:
        length = self.chance.choice((1, 7, 100, 4096, 4097, 65536, 70_000, 200_000))
        return self.chance.randbytes(self.chance.randrange(1, length + 1))

    # ---- operations

    def write(self) -> None:
        at, data = self.place(), self.data()
        for fd in self.fds:
            assert os.pwrite(fd, data, at) == len(data)

    def read(self) -> None:
        at, length = self.place(), self.chance.choice((1, 4096, 100_000))
        one, two = (os.pread(fd, length, at) for fd in self.fds)
        assert one == two, (at, length, len(one), len(two))

    def append(self) -> None:
        data = self.data()
        for path in self.paths:
            with path.open("ab") as file:
                file.write(data)

    def truncate(self) -> None:
        size = self.place()
        for fd in self.fds:
            os.ftruncate(fd, size)

    def replace(self) -> None:
        data = self.data()
        for path in self.paths:
            path.write_bytes(data)

    def sync(self) -> None:
        os.fsync(self.fds[0])

    def reopen(self) -> None:
        self.open()

    def unlink(self) -> None:
        """It goes on without its name, then gets a new one."""
        for path in self.paths:
            path.unlink()
        self.write()
        self.read()
        self.open()

    def mapped(self) -> None:
        size = self.size()
        if not size:
            return
        at = self.chance.randrange(size)
        data = self.data()[:size - at]
        for fd in self.fds:
            with mmap.mmap(fd, size) as view:
                view[at:at + len(data)] = data
                if self.chance.random() < 0.3:
                    view.flush()

    def zero(self) -> None:
        at, length = self.place(), self.chance.randrange(1, 200_000)
        mode = self.chance.choice((PUNCH | KEEP, ZERO | KEEP, ZERO, 0, KEEP))
        if at + length > LIMIT + (1 << 20):
            return
        for fd in self.fds:
            if libc.fallocate(fd, mode, at, length):
                number = ctypes.get_errno()
                raise OSError(number, f"fallocate mode {mode}: {os.strerror(number)}")

    def holes(self) -> None:
        """Where the mount says there is a hole, all bytes are zero; every byte that is not zero is data."""
        fd, at, size = self.fds[0], 0, self.size()
        while at < size:
            try:
                start = os.lseek(fd, at, os.SEEK_DATA)
            except OSError:
                start = size
            assert not os.pread(self.fds[1], start - at, at).strip(b"\0")
            at = os.lseek(fd, start, os.SEEK_HOLE) if start < size else size

    def same(self) -> None:
        one, two = (path.read_bytes() for path in self.paths)
        assert one == two, (len(one), len(two), next((i for i, (a, b) in enumerate(zip(one, two)) if a != b), None))


OPERATIONS = {"write": 30, "read": 30, "append": 5, "truncate": 8, "replace": 1, "sync": 1, "reopen": 3, "unlink": 1,
              "mapped": 5, "zero": 5, "holes": 1, "same": 1}


def compare(folder: Path, count: int, seed: int, progress: int = 0) -> None:
    """`count` operations in a file of `folder`. AssertionError tells the operation that differed."""
    chance = random.Random(seed)
    names, weights = list(OPERATIONS), list(OPERATIONS.values())
    with tempfile.TemporaryDirectory() as other:
        pair = Pair(folder / f"io{seed}", Path(other) / "io", chance)
        done: list[str] = []
        for number in range(count):
            name = chance.choices(names, weights)[0]
            done.append(name)
            try:
                getattr(pair, name)()
            except (AssertionError, OSError) as e:
                raise AssertionError(f"seed {seed}, operation {number} after {done[-8:]}: {e}") from e
            if progress and not (number + 1) % progress:
                pair.same()
                print(f"{number + 1} operations", flush=True)
        pair.same()
        for fd in pair.fds:
            os.close(fd)
        pair.paths[0].unlink()


if __name__ == "__main__":
    compare(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000,
            int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(10 ** 6), 10_000)
