"""MongoDB's wire protocol over TCP: OP_MSG with a body and document sequences, and the OP_QUERY of an old handshake."""
from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import bson
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.raw_bson import RawBSONDocument

if TYPE_CHECKING:
    import socket

HEADER = struct.Struct("<iiii")                              # length, id, id of the request, operation
REPLY, QUERY, MSG = 1, 2004, 2013
CHECKSUM, MORE = 1, 2
MOST = 48 << 20
CODEC: CodecOptions[dict[str, Any]] = CodecOptions(document_class=dict, datetime_conversion=DatetimeConversion.DATETIME_AUTO)

__all__ = ["CODEC", "Message", "RawBSONDocument", "read_message", "reply"]


class Message:
    """One request: the command as a document, with its document sequences (`documents`, `updates`) as lists."""

    __slots__ = ("command", "id", "old", "silent")

    def __init__(self, id: int, command: dict[str, Any], old: bool, silent: bool) -> None:
        self.id = id
        self.command = command
        self.old = old
        self.silent = silent


def read_message(connection: socket.socket) -> Message | None:
    """The next request; None at the end of the connection. ValueError for what is no message."""
    head = _exactly(connection, HEADER.size)
    if head is None:
        return None
    length, id, _, operation = HEADER.unpack(head)
    if not HEADER.size <= length <= MOST:
        raise ValueError("bad length")
    data = _exactly(connection, length - HEADER.size)
    if data is None:
        return None
    if operation == QUERY:
        end = data.index(b"\0", 4) + 1 + 8
        return Message(id, bson.decode(data[end:], CODEC), True, False)
    if operation != MSG:
        raise ValueError(f"unknown operation {operation}")
    flags = struct.unpack_from("<I", data)[0]
    at, end = 4, len(data) - (4 if flags & CHECKSUM else 0)
    command: dict[str, Any] = {}
    while at < end:
        kind = data[at]
        size = struct.unpack_from("<i", data, at + 1)[0]
        part = data[at + 1:at + 1 + size]
        if kind == 0:
            command.update(bson.decode(part, CODEC))
        else:
            stop = part.index(b"\0", 4)
            command[part[4:stop].decode()] = bson.decode_all(part[stop + 1:], CODEC)
        at += 1 + size
    return Message(id, command, False, bool(flags & MORE))


def reply(message: Message, answer: dict[str, Any]) -> bytes:
    """The bytes of an answer."""
    body = bson.encode(answer, codec_options=CODEC)
    data = struct.pack("<iqii", 0, 0, 0, 1) + body if message.old else struct.pack("<IB", 0, 0) + body
    return HEADER.pack(HEADER.size + len(data), message.id + 1, message.id, REPLY if message.old else MSG) + data


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    parts = []
    while size:
        piece = connection.recv(min(size, 1 << 20))
        if not piece:
            return None
        parts.append(piece)
        size -= len(piece)
    return b"".join(parts)
