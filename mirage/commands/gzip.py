"""gzip, gunzip, zcat: compress and expand files in gzip's format."""
from __future__ import annotations

import os
import re
import struct
import zlib

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import chunks, encode
from mirage.commands._prompt import yes
from mirage.process.process import refusal_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process
    from mirage.vfs.types import Stat

SPEC = Spec("acdfhklLnNqrS:tvV123456789", {
    "ascii": ("a", NONE), "to-stdout": ("c", NONE), "stdout": ("c", NONE), "decompress": ("d", NONE),
    "uncompress": ("d", NONE), "force": ("f", NONE), "keep": ("k", NONE), "list": ("l", NONE), "license": ("L", NONE),
    "no-name": ("n", NONE), "name": ("N", NONE), "quiet": ("q", NONE), "silent": ("q", NONE), "recursive": ("r", NONE),
    "suffix": ("S", REQUIRED), "synchronous": ("sync", NONE), "rsyncable": ("rsync", NONE), "test": ("t", NONE),
    "verbose": ("v", NONE), "fast": ("1", NONE), "best": ("9", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\nCompress or uncompress FILEs (by default, compress FILES in-place).\n")

HEADER = 18                                                  # bytes of a member's header (without name) and trailer
MAGIC = b"\x1f\x8b"
SUFFIXES = (".gz", "-gz", ".z", "-z", "_z", ".Z", ".tgz", ".taz")


class BadData(Exception):
    """The input is not what gzip can read; the message is GNU's."""


class Gzip:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.flags: set[str] = set()
        self.level = 6
        self.suffix = ".gz"
        self.status = 0
        self.decompress = False
        self.to_stdout = False
        self.listed = 0
        self.totals = [0, 0]

    def problem(self, text: str, status: int = 1) -> None:
        """An error (1) or a warning (2); a warning does not hide an error."""
        self.proc.stdout.flush()
        if not (status == 2 and "q" in self.flags):
            self.proc.write_error(f"{self.name}: {text}\n")
        self.status = 1 if status == 1 or self.status == 1 else status

    @property
    def name(self) -> str:
        return "gzip"

    # ---- streams

    def pack(self, source: OpenFile, target: OpenFile, name: str, mtime: int) -> tuple[int, int]:
        """Compress a stream; (bytes read, bytes of compressed data without header and trailer)."""
        flags = 8 if name else 0
        extra = {1: 4, 9: 2}.get(self.level, 0)
        header = MAGIC + struct.pack("<BBIBB", 8, flags, mtime & 0xFFFFFFFF, extra, 3)
        if name:
            header += encode(name) + b"\0"
        target.write(header)
        written = 0
        packer = zlib.compressobj(self.level, zlib.DEFLATED, -15, 8)
        crc = size = 0
        for data in chunks(self.proc, source, 262144):
            crc = zlib.crc32(data, crc)
            size += len(data)
            out = packer.compress(data)
            if out:
                target.write(out)
                written += len(out)
        tail = packer.flush()
        target.write(tail + struct.pack("<II", crc, size & 0xFFFFFFFF))
        return size, written + len(tail)

    def unpack(self, source: OpenFile, target: OpenFile | None, name: str) -> tuple[int, int]:
        """Expand all members of a stream; (bytes read, bytes written). BadData for what is no gzip data."""
        held = Input(self.proc, source, name)
        written = members = 0
        while True:
            start = held.peek(2)
            if members and not start:
                break
            if start[:2] != MAGIC:
                if members:
                    if held.peek(1 << 16).strip(b"\0"):
                        self.proc.write_error("\n" if "q" not in self.flags else "")
                        self.problem(f"{name}: decompression OK, trailing garbage ignored", 2)
                    break
                if not members and "f" in self.flags and self.to_stdout and target is not None:
                    return self.copy(held, target)
                if len(start) < 2:
                    raise BadData("unexpected end of file")
                raise BadData("not in gzip format")
            written += self.member(held, target)
            members += 1
        return held.total, written

    def copy(self, held: Input, target: OpenFile) -> tuple[int, int]:
        while data := held.take(65536):
            target.write(data)
        return held.total, held.total

    def member(self, held: Input, target: OpenFile | None) -> int:
        held.header()
        unpacker = zlib.decompressobj(-15)
        crc = size = 0
        data = b""
        while not unpacker.eof:
            data = unpacker.unconsumed_tail or held.take(65536)
            if not data:
                raise BadData("unexpected end of file")
            try:
                out = unpacker.decompress(data, 1 << 20)
            except zlib.error:
                raise BadData("invalid compressed data--format violated") from None
            crc = zlib.crc32(out, crc)
            size += len(out)
            if out and target is not None:
                target.write(out)
            self.proc.check()
        held.give_back(unpacker.unused_data)
        trailer = held.take_exactly(8)
        want_crc, want_size = struct.unpack("<II", trailer)
        if want_crc != crc:
            if want_size != size & 0xFFFFFFFF:
                self.bad(held.name, BadData("invalid compressed data--crc error"))
                raise BadData("invalid compressed data--length error")
            raise BadData("invalid compressed data--crc error")
        if want_size != size & 0xFFFFFFFF:
            raise BadData("invalid compressed data--length error")
        return size

    # ---- files

    def run(self, operands: list[str]) -> int:
        if not operands:
            self.stream()
        for operand in operands:
            if operand == "-":
                self.stream()
            else:
                self.file(operand)
        if "l" in self.flags and self.listed > 1:
            self.list_line(self.totals[0], self.totals[1], "(totals)")
        return self.status

    def stream(self) -> None:
        proc = self.proc
        source, target = proc.file(0), proc.file(1)
        try:
            if "l" in self.flags:
                self.list_file(source, "stdout", None)
            elif "t" in self.flags:
                self.unpack(source, None, "stdin")
            elif self.decompress:
                self.unpack(source, target, "stdin")
            else:
                if target.isatty() and "f" not in self.flags:
                    self.problem("compressed data not written to a terminal. Use -f to force compression.\n"
                                 "For help, type: gzip -h")
                    return
                self.pack(source, target, "", 0)
        except BadData as e:
            self.bad("stdin", e)

    def bad(self, name: str, e: BadData) -> None:
        self.proc.stdout.flush()
        self.proc.write_error("\n")
        self.problem(f"{name}: {e}")

    def file(self, path: str) -> None:
        proc = self.proc
        real = self.find(path)
        if real is None:
            return
        path, stat = real
        if stat.is_dir:
            if "r" in self.flags:
                for entry in sorted(proc.fs.list(path), key=lambda e: e.name):
                    self.file(f"{path.rstrip('/')}/{entry.name}")
            else:
                self.problem(f"{path} is a directory -- ignored", 2)
            return
        if not stat.is_file and not self.to_stdout:
            self.problem(f"{path} is not a directory or a regular file - ignored", 2)
            return
        try:
            source = proc.open(path)
        except OSError as e:
            self.problem(f"{path}: {e.strerror}")
            proc.write_error(refusal_note(e))
            return
        source.incref()
        try:
            self.convert(path, stat, source)
        except BadData as e:
            self.bad(path, e)
        finally:
            source.decref()

    def find(self, path: str) -> tuple[str, Stat] | None:
        """The file that a name means: itself, or when expanding the name with a suffix."""
        proc = self.proc
        try:
            return path, proc.fs.stat(path)
        except OSError as e:
            if self.decompress and not path.endswith(SUFFIXES) or "l" in self.flags or "t" in self.flags:
                try:
                    return path + self.suffix, proc.fs.stat(path + self.suffix)
                except OSError:
                    pass
                shown = path + self.suffix if self.decompress and not path.endswith(SUFFIXES) else path
                self.problem(f"{shown}: {e.strerror}")
            else:
                self.problem(f"{path}: {e.strerror}")
            proc.write_error(refusal_note(e))
            return None

    def convert(self, path: str, stat: Stat, source: OpenFile) -> None:
        proc, flags = self.proc, self.flags
        if "l" in flags:
            self.list_file(source, self.expanded_name(path) or path, stat)
            return
        if "t" in flags:
            read, written = self.unpack(source, None, path)
            if "v" in flags:
                proc.write_error(f"{path}:\t OK\n")
            return
        if self.to_stdout:
            if self.decompress:
                read, written = self.unpack(source, proc.file(1), path)
            else:
                read, written = self.pack(source, proc.file(1), "" if "n" in flags else path.rpartition("/")[2],
                                          0 if "n" in flags else stat.mtime_ns // 10**9)
            self.report(path, read, written, None)
            return
        if self.decompress:
            target = self.expanded_name(path)
            if target is None:
                if "q" not in flags:
                    self.problem(f"{path}: unknown suffix -- ignored", 2)
                return
        else:
            if path.endswith(SUFFIXES) and self.suffix == ".gz" or path.endswith(self.suffix):
                suffix = next((s for s in (self.suffix, *SUFFIXES) if path.endswith(s)), self.suffix)
                if "r" not in flags and "q" not in flags:
                    proc.write_error(f"gzip: {path} already has {suffix} suffix -- unchanged\n")
                return
            target = path + self.suffix
        self.replace(path, target, stat, source)

    def replace(self, path: str, target: str, stat: Stat, source: OpenFile) -> None:
        proc, flags = self.proc, self.flags
        if proc.fs.exists(target, follow=False) and "f" not in flags:
            if not proc.file(0).isatty():
                self.problem(f"{target} already exists;\tnot overwritten", 2)
                return
            if not yes(proc, f"{target} already exists; do you wish to overwrite (y or n)? "):
                self.problem("\tnot overwritten", 2)
                return
        try:
            output = proc.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, stat.mode & 0o777)
        except OSError as e:
            self.problem(f"{target}: {e.strerror}")
            proc.write_error(refusal_note(e))
            return
        output.incref()
        try:
            if self.decompress:
                read, written = self.unpack(source, output, path)
            else:
                read, written = self.pack(source, output, "" if "n" in flags else path.rpartition("/")[2],
                                          0 if "n" in flags else stat.mtime_ns // 10**9)
        except BadData:
            output.decref()
            proc.fs.unlink(target)
            raise
        output.decref()
        proc.fs.utime(target, stat.atime_ns, stat.mtime_ns)
        try:
            proc.fs.chmod(target, stat.mode & 0o7777)
        except OSError:
            pass
        if "k" not in flags:
            proc.fs.unlink(path)
        self.report(path, read, written, target)

    def report(self, path: str, read: int, written: int, target: str | None) -> None:
        if "v" not in self.flags:
            return
        plain, packed = (written, read - HEADER) if self.decompress else (read, written)
        verb = "created" if "k" in self.flags else "replaced with"
        tail = f" -- {verb} {target}" if target else ""
        self.proc.stdout.flush()
        self.proc.write_error(f"{path}:\t{ratio(plain, packed)}{tail}\n")

    def expanded_name(self, path: str) -> str | None:
        """The name without its suffix; None for a name that has none that is known."""
        for suffix in (self.suffix, *SUFFIXES):
            if path.endswith(suffix) and not path.endswith("/" + suffix) and path != suffix:
                stem = path[:-len(suffix)]
                return stem + ".tar" if suffix in (".tgz", ".taz") else stem
        return None

    # ---- listing

    def list_file(self, source: OpenFile, name: str, stat: Stat | None) -> None:
        held = Input(self.proc, source, name)
        if held.peek(2)[:2] != MAGIC:
            raise BadData("not in gzip format" if held.peek(2) else "unexpected end of file")
        method, _, mtime = held.header()
        packed = plain = 0
        tail = b""
        while data := held.take(1 << 20):
            tail = (tail + data)[-8:]
        packed = held.total
        crc, plain = struct.unpack("<II", tail.rjust(8, b"\0"))
        if not self.listed and "q" not in self.flags:
            head = "method  crc     date  time  " if "v" in self.flags else ""
            head += "         compressed        uncompressed  ratio uncompressed_name\n"
            self.proc.stdout.write(head.encode())
        self.listed += 1
        self.totals[0] += packed
        self.totals[1] += plain
        if "v" in self.flags:
            from mirage.commands._times import local
            when = local(self.proc, mtime * 10**9 if mtime else stat.mtime_ns if stat else 0)
            self.proc.stdout.write(f"defla {crc:08x} {when:%b} {when.day:2d} {when:%H:%M} ".encode())
        self.list_line(packed, plain, name, HEADER if self.listed == 1 else 0)

    def list_line(self, packed: int, plain: int, name: str, header: int = 0) -> None:
        if name == "(totals)" and "v" in self.flags:
            self.proc.stdout.write(b" " * 28)
        self.proc.stdout.write(encode(f"{packed:>19} {plain:>19} {ratio(plain, packed - header)} {name}\n"))


def ratio(plain: int, packed: int) -> str:
    """The share that was saved, as gzip prints it."""
    return f"{100.0 * (plain - packed) / plain if plain else 0.0:5.1f}%"


class Input:
    """A stream with bytes given back."""

    def __init__(self, proc: Process, file: OpenFile, name: str) -> None:
        self.proc = proc
        self.file = file
        self.name = name
        self.held = b""
        self.total = 0

    def peek(self, size: int) -> bytes:
        while len(self.held) < size:
            data = self.file.read(65536)
            if not data:
                break
            self.held += data
            self.total += len(data)
        return self.held[:size]

    def take(self, size: int) -> bytes:
        if not self.held:
            self.peek(1)
        data, self.held = self.held[:size], self.held[size:]
        return data

    def take_exactly(self, size: int) -> bytes:
        data = self.peek(size)
        if len(data) < size:
            raise BadData("unexpected end of file")
        self.held = self.held[size:]
        return data

    def give_back(self, data: bytes) -> None:
        self.held = data + self.held

    def until_zero(self) -> bytes:
        out = b""
        while (byte := self.take_exactly(1)) != b"\0":
            out += byte
        return out

    def header(self) -> tuple[int, str, int]:
        """(method, original name, mtime) of a member whose magic number was seen."""
        self.take_exactly(2)
        method, flags, mtime = struct.unpack("<BBIxx", self.take_exactly(8))
        if method != 8:
            raise BadData(f"unknown method {method} -- not supported")
        if flags & 4:
            self.take_exactly(struct.unpack("<H", self.take_exactly(2))[0])
        name = self.until_zero().decode("utf-8", "surrogateescape") if flags & 8 else ""
        if flags & 16:
            self.until_zero()
        if flags & 2:
            self.take_exactly(2)
        return method, name, mtime


def main(proc: Process) -> int:
    gzip = Gzip(proc)
    options, operands = parse(proc, SPEC)
    gzip.decompress = proc.name in ("gunzip", "zcat")
    gzip.to_stdout = proc.name == "zcat"
    for key, value in options:
        if key == "S":
            gzip.suffix = value
        elif key.isdecimal():
            gzip.level = int(key)
        elif key == "d":
            gzip.decompress = True
        elif key == "c":
            gzip.to_stdout = True
        gzip.flags.add(key)
    if gzip.flags & {"l", "t"}:
        gzip.decompress = True
    if not gzip.suffix or re.search("/", gzip.suffix):
        proc.message(f"invalid suffix '{gzip.suffix}'")
        return 1
    return gzip.run(operands)
