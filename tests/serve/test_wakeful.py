"""Processors are kept awake while a mount is busy, and only then."""
from __future__ import annotations

import os

import pytest

from mirage.serve.fuse import wakeful
from mirage.serve.fuse.wakeful import FEW, MANY, Wakeful


def holders(path):
    return sum(os.path.realpath(f"/proc/self/fd/{fd}") == os.fspath(path) for fd in os.listdir("/proc/self/fd"))


@pytest.fixture
def device(tmp_path, monkeypatch):
    path = tmp_path.resolve() / "latency"
    path.touch()
    monkeypatch.setattr(wakeful, "DEVICE", os.fspath(path))
    monkeypatch.delenv("VFS_WAKEFUL", raising=False)
    return path


def test_the_order_holds_while_there_are_many_requests(device):
    found = Wakeful()
    found.answered(MANY - 1)
    assert holders(device) == 0
    found.answered(MANY)
    found.answered(FEW + 1)
    assert holders(device) == 1 and device.read_bytes() == bytes(4)
    found.answered(FEW)
    assert holders(device) == 0
    found.answered(MANY)
    found.close()
    assert holders(device) == 0


def test_it_can_be_switched_off(device, monkeypatch):
    monkeypatch.setenv("VFS_WAKEFUL", "0")
    found = Wakeful()
    found.answered(MANY)
    assert holders(device) == 0


def test_without_the_device_nothing_happens(device):
    device.unlink()
    found = Wakeful()
    found.answered(MANY)
    device.touch()
    found.answered(MANY)
    assert holders(device) == 0
