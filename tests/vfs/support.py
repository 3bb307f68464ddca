"""A namespace with the default tree, and gates with fixed answers."""
from __future__ import annotations

import errno
import os
from types import SimpleNamespace

from mirage.vfs.facade import Actor
from mirage.vfs.filesystem import FileSystem
from mirage.vfs.namespace import Namespace
from mirage.vfs.tree import default_mounts


def machine(mounts=None, gate=None, default=True):
    there = default_mounts(lambda: {"grep", "cat", "["}) if default else {}
    return SimpleNamespace(namespace=Namespace({**there, **(mounts or {})}), gate=gate)


def filesystem(mounts=None, gate=None, cwd="/workspace", umask=0o022, default=True):
    actor = Actor("test", cwd, umask)
    return FileSystem(machine(mounts, gate, default), actor)


def raises(number, function, *args, **options):
    try:
        result = function(*args, **options)
    except OSError as e:
        assert e.errno == number, f"{errno.errorcode.get(e.errno)} instead of {errno.errorcode[number]}"
        return e
    raise AssertionError(f"{errno.errorcode[number]} was not raised, but {result!r} returned")


class RecordingGate:
    """Allows everything but the (effect, path) pairs of `refused`; hides the subtrees of `hidden`."""

    def __init__(self, refused=(), hidden=()):
        self.refused = set(refused)
        self.hidden = tuple(hidden)
        self.asked = []
        self.moves = []
        self.happened = []
        self.bytes = {"read": 0, "write": 0}

    def check(self, effect, target, proc, subtree=False):
        self.asked.append((effect, target.path, subtree) if subtree else (effect, target.path))
        if (effect, target.path) in self.refused:
            e = PermissionError(errno.EACCES, os.strerror(errno.EACCES), target.path)
            e.note = "denied: the test says so"
            raise e

    def allows(self, effect, target, proc):
        return (effect, target.path) not in self.refused

    def moving(self, old, new, directory, proc):
        self.moves.append((old.path, new.path, directory))

    def visible(self, target):
        return not any(target.path == h or target.path.startswith(h + "/") for h in self.hidden)

    def passable(self, target):
        return True

    def reveals(self, target, proc):
        pass

    def shown(self, stat):
        return stat

    def kinds(self, directory, entries):
        return {}

    def done(self, effect, target, proc):
        self.happened.append((effect, target.path))

    def filter(self, directory, entries):
        return [e for e in entries if f"{directory.path.rstrip('/')}/{e.name}" not in self.hidden]

    def moved(self, effect, target, size, proc):
        self.bytes[effect] += size

    def take(self):
        asked, self.asked = self.asked, []
        return asked
