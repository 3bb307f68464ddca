"""The database as a mount: the contract, and what only a database has."""
from __future__ import annotations

import pytest

from mirage.mounts import Vfs
from tests.mounts.contract import MountContract

SAMPLE = {"/a.txt": b"alpha\nbeta\n", "/empty": b"", "/docs/deep/blob.bin": bytes(range(256)) * 700, "/docs/ü.txt": "naïve"}


@pytest.fixture
def vfs(tmp_path):
    with Vfs.open(tmp_path / "agent.db") as vfs:
        yield vfs


class TestVfs(MountContract):
    @pytest.fixture
    def mount(self, vfs):
        for path, data in SAMPLE.items():
            vfs.fs.write(path, data, parents=True)
        vfs.mount.symlink("../a.txt", "/docs/link", 1000, 1000)
        return vfs.mount


class TestReadOnlyVfs(MountContract):
    @pytest.fixture
    def mount(self, tmp_path):
        with Vfs.open(tmp_path / "agent.db") as vfs:
            for path, data in SAMPLE.items():
                vfs.fs.write(path, data, parents=True)
        with Vfs.open(tmp_path / "agent.db", readonly=True) as vfs:
            yield vfs.mount


class TestSmallChunks(TestVfs):
    @pytest.fixture
    def vfs(self, tmp_path):
        with Vfs.open(tmp_path / "agent.db", chunk_size=4096) as vfs:
            yield vfs
