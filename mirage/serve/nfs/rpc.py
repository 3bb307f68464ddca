"""Calls of ONC RPC (RFC 5531) over TCP: records, credentials, replies."""
from __future__ import annotations

import socket
import zlib
from collections import OrderedDict

from mirage.serve.nfs.xdr import BadArguments, Reader, opaque, u32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    Procedure = Callable[["Credentials", Reader], bytes]
else:
    Protocol = object

LARGEST = (1 << 20) + 65536                                  # bytes of a call
SUCCESS, PROGRAM_UNAVAILABLE, VERSION_MISMATCH, PROCEDURE_UNAVAILABLE, GARBAGE, SYSTEM_ERROR = range(6)
AUTH_NONE, AUTH_SYS = 0, 1
NOBODY = 65534
REMEMBERED = 512                                             # replies to calls that must not be done twice


class Credentials:
    """Who calls, as he says himself: NFS over AUTH_SYS has no other proof."""

    __slots__ = ("gid", "gids", "uid")

    def __init__(self, uid: int = NOBODY, gid: int = NOBODY, gids: tuple[int, ...] = ()) -> None:
        self.uid = uid
        self.gid = gid
        self.gids = gids


class Program(Protocol):
    """number, version   of the program
    procedures        by number; each takes who calls and the arguments, and gives the results
    once              the procedures that must not be done again when the same call comes again
    """

    number: int
    version: int
    procedures: dict[int, Procedure]
    once: frozenset[int]


class Calls:
    """Answers calls of some programs."""

    def __init__(self, programs: list[Program], report: Callable[[BaseException], None]) -> None:
        self._programs = programs
        self._report = report
        self._done: OrderedDict[tuple[object, ...], bytes] = OrderedDict()

    def answer(self, record: bytes, caller: str) -> bytes | None:
        """The reply to one call; None for what is no call."""
        reader = Reader(record)
        try:
            xid, kind, version, number, program_version, procedure = (reader.u32() for _ in range(6))
            if kind != 0:
                return None
            head = u32(xid) + u32(1)
            if version != 2:
                return head + u32(1) + u32(0) + u32(2) + u32(2)          # denied: other versions of RPC
            flavor, body = reader.u32(), reader.opaque(400)
            reader.u32()
            reader.opaque(400)
            credentials = _credentials(flavor, body)
        except BadArguments:
            return None
        if credentials is None:
            return head + u32(1) + u32(1) + u32(5)                       # denied: too weak
        accepted = head + u32(0) + u32(AUTH_NONE) + opaque(b"")
        known = [p for p in self._programs if p.number == number]
        if not known:
            return accepted + u32(PROGRAM_UNAVAILABLE)
        program = next((p for p in known if p.version == program_version), None)
        if program is None:
            versions = [p.version for p in known]
            return accepted + u32(VERSION_MISMATCH) + u32(min(versions)) + u32(max(versions))
        function = program.procedures.get(procedure)
        if function is None:
            return accepted + u32(PROCEDURE_UNAVAILABLE)
        key = (caller, xid, number, procedure, zlib.crc32(reader.rest())) if procedure in program.once else None
        if key is not None and key in self._done:
            return self._done[key]
        try:
            reply = accepted + u32(SUCCESS) + function(credentials, reader)
        except BadArguments:
            return accepted + u32(GARBAGE)
        except Exception as e:
            self._report(e)
            return accepted + u32(SYSTEM_ERROR)
        if key is not None:
            self._done[key] = reply
            while len(self._done) > REMEMBERED:
                self._done.popitem(last=False)
        return reply

    def serve(self, connection: socket.socket, caller: str) -> None:
        """Calls of one connection, one after the other, until it ends."""
        with connection, connection.makefile("rb", buffering=1 << 17) as stream:
            while True:
                parts: list[bytes] = []
                size, last = 0, False
                while not last:
                    mark = stream.read(4)
                    if len(mark) < 4:
                        return
                    length = int.from_bytes(mark, "big")
                    last, length = bool(length >> 31), length & 0x7FFFFFFF
                    size += length
                    if size > LARGEST:
                        return
                    part = stream.read(length)
                    if len(part) < length:
                        return
                    parts.append(part)
                reply = self.answer(parts[0] if len(parts) == 1 else b"".join(parts), caller)
                if reply is not None:
                    connection.sendall(u32(1 << 31 | len(reply)) + reply)


def _credentials(flavor: int, body: bytes) -> Credentials | None:
    if flavor == AUTH_NONE:
        return Credentials()
    if flavor != AUTH_SYS:
        return None
    reader = Reader(body)
    reader.u32()
    reader.opaque(255)
    uid, gid, count = reader.u32(), reader.u32(), reader.u32()
    if count > 16:
        raise BadArguments
    return Credentials(uid, gid, tuple(reader.u32() for _ in range(count)))
