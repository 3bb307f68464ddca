from __future__ import annotations

import pytest

from mirage.mounts import Memory
from mirage.vfs.namespace import Namespace
from mirage.vfs.types import Capabilities, Entry, Stat, enoent


class Plain:
    """The smallest mount: three methods, no identity."""

    capabilities = Capabilities()

    def list(self, path):
        return [Entry("f", Stat(0o100644, 1)), Entry("g", Stat(0o100644, None))]

    def stat(self, path):
        if path == "/":
            return Stat(0o040755, 4096)
        if path not in ("/f", "/g"):
            raise enoent(path)
        return Stat(0o100644, 1 if path == "/f" else None)

    def read(self, path, offset=0, length=None):
        return b"x"[offset:]


def test_longest_prefix():
    a, b, c = Memory(), Memory(), Memory()
    space = Namespace({"/": a, "/x": b, "/x/y": c})
    assert [space.find(p).mount for p in ("/", "/xy", "/x", "/x/", "/x/yz", "/x/y", "/x/y/z")] == [a, a, b, b, b, c, c]
    assert [m.point for m in space.mounts()] == ["/", "/x", "/x/y"]


def test_mount_and_unmount():
    space, memory = Namespace(), Memory()
    space.mount("/a//b/../c/", memory)
    assert space.find("/a/c/x").mount is memory
    with pytest.raises(ValueError):
        space.mount("/a/c", Memory())
    with pytest.raises(ValueError):
        space.mount("relative", Memory())
    assert space.unmount("/a/c") is memory
    assert space.find("/a/c").point == "/"
    with pytest.raises(ValueError):
        space.unmount("/a/c")


def test_identity_is_made_up_where_a_mount_has_none():
    plain = Plain()
    space = Namespace({"/a": plain, "/b": plain, "/c": Plain()})
    f, g = (space.find("/a").lookup(p, 1000) for p in ("/f", "/g"))
    again = space.find("/b").lookup("/f", 1000)
    other = space.find("/c").lookup("/f", 1000)
    assert f.identity == again.identity and len({f.identity, g.identity, other.identity}) == 3


def test_close_closes_each_mount_once():
    class Closing(Memory):
        closed = 0

        def close(self):
            self.closed += 1

    mount = Closing()
    Namespace({"/a": mount, "/b": mount, "/c": Memory()}).close()
    assert mount.closed == 1


def test_what_lookup_finds_has_an_identity():
    """A mount that looks up by itself and knows no device still has objects that can be told apart."""
    class Own(Memory):
        capabilities = Capabilities("lookup")

        def lookup(self, path, uid):
            found = super().lookup(path, uid)
            return found if isinstance(found, str) else Stat(found.mode, found.size, found.mtime_ns)

    space = Namespace({"/a": Own({"f": b""}), "/b": Own({"f": b""})})
    found = {space.find(point).lookup(path, 1000).identity for point in ("/a", "/b") for path in ("/", "/f")}
    assert None not in found and len(found) == 4
