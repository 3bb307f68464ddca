from __future__ import annotations

import errno
import os

import pytest

from mirage.mounts import Memory
from mirage.mounts.memory.content import CHUNK, Sparse
from mirage.process.signals import LimitExceeded
from tests.mounts.contract import MountContract, everything, raises

SAMPLE = {"a.txt": b"alpha\nbeta\n", "empty": b"", "docs/deep/blob.bin": bytes(range(256)) * 700, "docs/ü.txt": "naïve", "void/": None}


class TestMemory(MountContract):
    @pytest.fixture
    def mount(self):
        memory = Memory(SAMPLE)
        memory.symlink("../a.txt", "/docs/link", 1000, 1000)
        return memory


def test_constructor_makes_parents_and_encodes_text():
    memory = Memory(SAMPLE)
    assert memory.read("/docs/ü.txt") == "naïve".encode()
    assert memory.stat("/docs/deep").is_dir and memory.stat("/void").is_dir


@pytest.mark.parametrize("path", ["", "/", "../x", "a/../b", "."])
def test_constructor_refuses_what_is_no_name(path):
    with pytest.raises(ValueError):
        Memory({path: b""})


def test_constructor_refuses_content_for_a_directory():
    with pytest.raises(ValueError):
        Memory({"d/": b"x"})


def test_max_bytes_is_enospc_and_space_comes_back():
    memory = Memory({}, max_bytes=10_000)
    handle = memory.create("/f", 0o644, 1000, 1000)
    handle.pwrite(bytes(8000), 0)
    raises(errno.ENOSPC, handle.pwrite, bytes(3000), 8000)
    assert handle.stat().size == 8000
    memory.unlink("/f")
    raises(errno.ENOSPC, memory.replace, "/g", bytes(8000), 0o644, 1000, 1000)
    handle.close()
    memory.replace("/g", bytes(8000), 0o644, 1000, 1000)


def test_many_empty_files_count_as_well():
    memory = Memory({}, max_bytes=100_000)
    with pytest.raises(OSError) as caught:
        for number in range(1000):
            memory.mkdir(f"/{number}", 0o755, 1000, 1000)
    assert caught.value.errno == errno.ENOSPC


def test_charge_is_asked_first_and_balances():
    held = 0

    def charge(size):
        nonlocal held
        if held + size > 1 << 20:
            raise LimitExceeded("memory: more than 1 MiB")
        held += size

    def release(size):
        nonlocal held
        held -= size

    memory = Memory({}, charge=charge, release=release)
    handle = memory.create("/f", 0o644, 1000, 1000)
    handle.pwrite(bytes(500_000), 0)
    with pytest.raises(LimitExceeded):
        handle.pwrite(bytes(600_000), 500_000)
    assert handle.stat().size == 500_000
    handle.truncate(10)
    handle.pwrite(b"far away", 1 << 40)
    handle.truncate(1 << 39)
    handle.truncate(5)
    handle.close()
    memory.link("/f", "/g")
    memory.unlink("/f")
    memory.replace("/g", b"x" * 1000, 0o644, 1000, 1000)
    memory.mkdir("/d", 0o755, 1000, 1000)
    memory.replace("/d/h", b"y" * 1000, 0o644, 1000, 1000)
    memory.rename("/d/h", "/g")
    memory.unlink("/g")
    memory.rmdir("/d")
    assert held == memory.used == 0


def test_nothing_grows_beyond_a_file_systems_size():
    memory = Memory({"f": b""})
    handle = memory.open("/f", os.O_RDWR)
    raises(errno.EFBIG, handle.truncate, 1 << 60)
    raises(errno.EFBIG, handle.pwrite, b"x", 1 << 60)


def test_link_counts_of_directories():
    memory = Memory({"a/b/c/": None, "x/": None})
    assert [memory.stat(p).nlink for p in ("/", "/a", "/a/b/c")] == [4, 3, 2]
    memory.rename("/a/b", "/x/b")
    assert [memory.stat(p).nlink for p in ("/a", "/x")] == [2, 3]
    memory.rmdir("/x/b/c")
    memory.rename("/x/b", "/a")
    assert [memory.stat(p).nlink for p in ("/", "/x", "/a")] == [4, 2, 2]


def test_setgid_directories_pass_their_group_on():
    memory = Memory({"d/": None})
    memory.setattr("/d", mode=0o2775, gid=7)
    memory.create("/d/f", 0o644, 1000, 1000).close()
    memory.mkdir("/d/e", 0o755, 1000, 1000)
    assert memory.stat("/d/f").gid == 7 and memory.stat("/d/e").mode & 0o2000


def test_writing_takes_setuid_away():
    memory = Memory({"f": b"x"})
    memory.setattr("/f", mode=0o4755)
    memory.open("/f", os.O_WRONLY).pwrite(b"y", 0)
    assert memory.stat("/f").mode & 0o7777 == 0o755


def test_clock_is_the_one_given():
    memory = Memory({"f": b"x"}, clock=lambda: 42)
    assert {stat.mtime_ns for _, stat in everything(memory)} == {42}


def test_whole_reads_do_not_copy():
    data = b"z" * 100_000
    memory = Memory({"f": data})
    assert memory.read("/f") is data
    assert memory.open("/f", os.O_RDONLY).pread(1 << 20, 0) is data


def test_read_only_and_write_only_handles():
    memory = Memory({"f": b"x"})
    raises(errno.EBADF, memory.open("/f", os.O_RDONLY).pwrite, b"y", 0)
    raises(errno.EINVAL, memory.open("/f", os.O_RDONLY).truncate, 0)
    raises(errno.EBADF, memory.open("/f", os.O_WRONLY).pread, 1, 0)


def test_sparse_against_a_plain_array():
    import random
    rng = random.Random(7)
    model, sparse = bytearray(), Sparse()
    for _ in range(300):
        action, offset, length = rng.randrange(3), rng.randrange(4 * CHUNK), rng.randrange(CHUNK * 2)
        if action == 0:
            data = rng.randbytes(length)
            cost, before = sparse.cost(offset, length), sparse.allocated
            sparse.write(offset, data)
            assert sparse.allocated == before + cost
            if data:
                model.extend(bytes(max(0, offset + length - len(model))))
                model[offset:offset + length] = data
        elif action == 1:
            sparse.resize(offset)
            model = model[:offset] + bytes(max(0, offset - len(model)))
        assert len(sparse) == len(model)
        assert sparse.read(offset, length) == model[offset:offset + length]
