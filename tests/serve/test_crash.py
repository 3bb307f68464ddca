"""Short runs of tests/serve/crash.py: kills of commands, and losses of power."""
from __future__ import annotations

import random
import shutil

import pytest

from tests.serve import crash
from tests.serve.fuse_support import needs, needs_mount
from tests.serve.power import Disk


@pytest.mark.parametrize("kind", ["backup", "migrate", "checkpoint"])
def test_a_command_that_is_killed_breaks_nothing(tmp_path, kind):
    crash.command(tmp_path, 5, kind)


@needs_mount
@needs("git")
def test_a_clone_that_is_killed_breaks_nothing(tmp_path):
    crash.command(tmp_path, 6, "clone")


@needs("cc")
def test_a_loss_of_power_loses_nothing_that_was_synced(tmp_path):
    crash.power(tmp_path, 7)


@needs_mount
@needs("cc")
def test_a_loss_of_power_under_a_mount_loses_nothing_that_was_synced(tmp_path):
    crash.power_mount(tmp_path, 8)


@needs("cc")
def test_without_syncs_a_loss_of_power_shows(tmp_path):
    """The disk of these tests does lose what is not synced."""
    disk = Disk(tmp_path)
    path, target = tmp_path / "a.db", tmp_path / "after.db"
    path.write_bytes(b"old" * 4096)
    disk.keep(path)
    path.write_bytes(b"new" * 4096)
    found = set()
    for seed in range(20):
        disk.after_a_loss_of_power(path, target, random.Random(seed))
        found |= {target.read_bytes()[at:at + 3] for at in range(0, 3 * 4096, 4096)}
    assert len(found) == 6                                   # each block old or new
    shutil.rmtree(disk.kept)
