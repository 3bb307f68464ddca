"""A client of NFS that sends calls as they are."""
from __future__ import annotations

import itertools
import socket

from mirage.serve.nfs.xdr import Reader, opaque, text, u32, u64

NFS, MOUNT = 100003, 100005
KEEP = u32(0) * 6                                            # sattr3 that changes nothing
(NULL, GETATTR, SETATTR, LOOKUP, ACCESS, READLINK, READ, WRITE, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK,
 READDIR, READDIRPLUS, FSSTAT, FSINFO, PATHCONF, COMMIT) = range(22)


class Attributes:
    def __init__(self, reader):
        self.type, self.mode, self.nlink, self.uid, self.gid = (reader.u32() for _ in range(5))
        self.size, self.used = reader.u64(), reader.u64()
        self.rdev = reader.u32(), reader.u32()
        self.fsid, self.ino = reader.u64(), reader.u64()
        self.atime, self.mtime, self.ctime = ((reader.u32(), reader.u32()) for _ in range(3))


class Client:
    """Calls as `uid`. Each method gives (status, what follows)."""

    def __init__(self, server, uid=1000, gid=1000, gids=()):
        self.uid, self.gid, self.gids = uid, gid, gids
        self.xids = itertools.count(1 + uid)
        self.socket = socket.create_connection((server.host, server.port), timeout=20)
        self.file = self.socket.makefile("rb")
        self.root = self.mount("/")

    def send(self, program, procedure, args, xid=None, version=3):
        body = b"".join((u32(0), text("test"), u32(self.uid), u32(self.gid), u32(len(self.gids)), *map(u32, self.gids)))
        record = b"".join((u32(next(self.xids) if xid is None else xid), u32(0), u32(2), u32(program), u32(version),
                           u32(procedure), u32(1), opaque(body), u32(0), u32(0), args))
        self.socket.sendall(u32(1 << 31 | len(record)) + record)
        size = int.from_bytes(self.file.read(4), "big") & 0x7FFFFFFF
        reply = Reader(self.file.read(size))
        reply.u32()
        assert reply.u32() == 1 and reply.u32() == 0
        reply.u32()
        reply.opaque(400)
        return reply.u32(), reply

    def call(self, procedure, *args, xid=None):
        accepted, reply = self.send(NFS, procedure, b"".join(args), xid)
        assert accepted == 0, accepted
        return reply.u32(), reply

    def mount(self, path):
        accepted, reply = self.send(MOUNT, 1, text(path))
        assert accepted == 0
        return opaque(reply.opaque(64)) if reply.u32() == 0 else None

    def lookup(self, directory, name):
        status, reply = self.call(LOOKUP, directory, text(name))
        return opaque(reply.opaque(64)) if status == 0 else status

    def attributes(self, handle):
        status, reply = self.call(GETATTR, handle)
        return Attributes(reply) if status == 0 else status

    def made(self, status, reply):
        return (opaque(reply.opaque(64)) if reply.flag() else None) if status == 0 else status

    def create(self, directory, name, mode=0o644, how=0):
        settings = u32(how) + u32(1) + u32(mode) + u32(0) * 5
        return self.made(*self.call(CREATE, directory, text(name), settings))

    def mkdir(self, directory, name, mode=0o755):
        return self.made(*self.call(MKDIR, directory, text(name), u32(1) + u32(mode) + u32(0) * 5))

    def write(self, handle, data, offset=0, stable=0):
        """The write verifier, or the status."""
        status, reply = self.call(WRITE, handle, u64(offset), u32(len(data)), u32(stable), opaque(data))
        if status:
            return status
        self.wcc(reply)
        assert reply.u32() == len(data) and reply.u32() >= stable
        return reply.fixed(8)

    def commit(self, handle):
        status, reply = self.call(COMMIT, handle, u64(0), u32(0))
        assert status == 0
        self.wcc(reply)
        return reply.fixed(8)

    def read(self, handle, count=1 << 20, offset=0):
        status, reply = self.call(READ, handle, u64(offset), u32(count))
        if status:
            return status
        if reply.flag():
            Attributes(reply)
        reply.u32()
        reply.flag()
        return reply.opaque(1 << 20)

    def wcc(self, reply):
        if reply.flag():
            reply.fixed(24)
        return Attributes(reply) if reply.flag() else None

    def names(self, directory, procedure=READDIR, room=8192):
        """All names, call by call: [(cookie, name)]."""
        found, cookie = [], 0
        while True:
            extra = u32(room) * (2 if procedure == READDIRPLUS else 1)
            status, reply = self.call(procedure, directory, u64(cookie), bytes(8), extra)
            assert status == 0, status
            if reply.flag():
                Attributes(reply)
            reply.fixed(8)
            while reply.flag():
                reply.u64()
                name, cookie = reply.text(), reply.u64()
                found.append((cookie, name))
                if procedure == READDIRPLUS:
                    assert reply.flag()
                    Attributes(reply)
                    assert reply.flag() and len(reply.opaque(64)) <= 64
            if reply.flag():
                return found

    def close(self):
        self.file.close()
        self.socket.close()
