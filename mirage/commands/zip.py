"""zip: make and change zip archives (Info-ZIP 3.0)."""
from __future__ import annotations

import fnmatch
import io
import os
import stat as st
import struct
import zipfile

from mirage.commands._io import decode, encode, read_all
from mirage.commands._times import local
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process
    from mirage.vfs.types import Stat

USAGE = b"""Copyright (c) 1990-2008 Info-ZIP
Zip 3.0. Usage:
zip [-options] [-b path] [-t mmddyyyy] [-n suffixes] [zipfile list] [-xi list]
"""
PLAIN = set("rqjufdmyDXoTvl@gAek0123456789FS")
LONG = {"recurse-paths": "r", "quiet": "q", "junk-paths": "j", "update": "u", "freshen": "f", "delete": "d",
        "move": "m", "symlinks": "y", "no-dir-entries": "D", "no-extra": "X", "test": "T", "filesync": "FS",
        "names-stdin": "@", "exclude": "x", "include": "i"}


class Zip:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.flags: set[str] = set()
        self.level = 6
        self.exclude: list[str] = []
        self.include: list[str] = []
        self.names: list[str] = []
        self.status = 0
        self.entries: dict[str, tuple[zipfile.ZipInfo, bytes]] = {}
        self.added: list[tuple[str, bool]] = []
        self.touched: set[str] = set()

    def say(self, text: str) -> None:
        if "q" not in self.flags:
            if self.names and self.names[0] == "-":
                self.proc.write_error(text)
            else:
                self.proc.stdout.write(encode(text))

    def warn(self, text: str) -> None:
        self.proc.stdout.flush()
        self.proc.write_error(f"\tzip warning: {text}\n")

    def fatal(self, text: str, status: int) -> Exit:
        self.proc.stdout.flush()
        self.proc.write_error(f"\nzip error: {text}\n")
        return Exit(status)

    def parse(self) -> None:
        args = self.proc.argv[1:]
        lists = {"x": self.exclude, "i": self.include}
        into = self.names
        ended = False
        for arg in args:
            if ended or not arg.startswith("-") or arg == "-":
                if arg == "@" and into is not self.names:
                    into = self.names
                else:
                    into.append(arg)
                continue
            if arg == "--":
                ended = True
                continue
            into = self.names
            letters = list(arg[1:])
            if arg.startswith("--"):
                name, _, value = arg[2:].partition("=")
                if name not in LONG:
                    raise self.fatal(f"Invalid command arguments (long option '{name}' not supported)", 16)
                letters = [LONG[name]]
                if value:
                    lists[LONG[name]].append(value)
                    continue
            elif "FS" in arg:
                letters = [*arg[1:].replace("FS", ""), "FS"]
            for number, letter in enumerate(letters):
                if letter in lists:
                    into = lists[letter]
                    rest = "".join(letters[number + 1:])
                    if rest:
                        into.append(rest)
                    break
                if letter.isdecimal():
                    self.level = int(letter)
                elif letter not in PLAIN and letter != "FS":
                    raise self.fatal(f"Invalid command arguments (short option '{letter}' not supported)", 16)
                self.flags.add(letter)

    def matches(self, name: str, patterns: list[str]) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)

    def add(self, path: str) -> bool:
        """A file or, with -r, a tree; False when there is nothing of that name."""
        fs = self.proc.fs
        stack = [path]
        first = True
        while stack:
            here = stack.pop()
            try:
                stat = fs.stat(here, "y" not in self.flags)
            except OSError:
                if first:
                    return False
                self.warn(f"name not matched: {here}")
                continue
            first = False
            if stat.is_dir and "r" in self.flags:
                names = [entry.name for entry in fs.list(here)]
                stack.extend(f"{here.rstrip('/')}/{name}" for name in reversed(names))
            self.one(here, stat)
            self.proc.check()
        return True

    def one(self, path: str, stat: Stat) -> None:
        name = path.lstrip("/")
        while name.startswith("./"):
            name = name[2:]
        if "j" in self.flags:
            name = name.rstrip("/").rpartition("/")[2]
        if stat.is_dir:
            if "D" in self.flags or "j" in self.flags or name in ("", ".", "./"):
                return
            name = name.rstrip("/") + "/"
        if self.exclude and self.matches(name, self.exclude) or self.include and not self.matches(name, self.include):
            return
        old = self.entries.get(name)
        if old is None and "f" in self.flags:
            return
        mtime = stat.mtime_ns // 10**9
        if old is not None and self.flags & {"u", "f", "FS"} and mtime <= mtime_of(old[0], self.proc) + 1:
            self.touched.add(name)
            return
        if stat.is_link:
            data = encode(self.proc.fs.readlink(path))
        elif stat.is_dir:
            data = b""
        else:
            try:
                data = self.proc.fs.read(path)
            except OSError as e:
                self.warn(f"could not open for reading: {path}")
                self.proc.write_error(refusal_note(e))
                self.status = 18
                return
        info = self.info(name, stat, mtime)
        self.entries[name] = (info, data)
        self.touched.add(name)
        self.added.append((path, stat.is_dir))
        self.report("updating" if old is not None else "  adding", name, info, data)

    def info(self, name: str, stat: Stat, mtime: int) -> zipfile.ZipInfo:
        when = local(self.proc, mtime * 10**9)
        info = zipfile.ZipInfo(name, (max(1980, when.year), when.month, when.day, when.hour, when.minute, when.second))
        info.create_system = 3
        info.external_attr = stat.mode << 16 | (0x10 if stat.is_dir else 0)
        if "X" not in self.flags:
            info.extra = struct.pack("<HHBI", 0x5455, 5, 1, mtime & 0xFFFFFFFF)
        return info

    def report(self, verb: str, name: str, info: zipfile.ZipInfo, data: bytes) -> None:
        import zlib
        packer = zlib.compressobj(self.level, zlib.DEFLATED, -15)
        size = len(packer.compress(data) + packer.flush()) if data and self.level else len(data)
        if size < len(data):
            info.compress_type = zipfile.ZIP_DEFLATED
            percent = (1 + 200 * (len(data) - size) // len(data)) // 2
            how = f"deflated {percent}%"
        else:
            info.compress_type = zipfile.ZIP_STORED
            how = "stored 0%"
        self.say(f"{verb}: {name} ({how})\n")

    def run(self) -> int:
        self.parse()
        if not self.names:
            self.proc.stdout.write(USAGE)
            return 0
        archive = self.names[0]
        if archive != "-" and "." not in archive.rpartition("/")[2]:
            archive += ".zip"
        operands = self.names[1:]
        if "@" in self.flags:
            operands += decode(read_all(self.proc, self.proc.file(0))).splitlines()
        self.load(archive)
        if "T" in self.flags and not operands:
            self.say(f"test of {archive} OK\n")
            return 0
        before = len(self.added)
        if "d" in self.flags:
            self.delete(operands, archive)
        else:
            for operand in operands:
                if not self.add(operand):
                    self.warn(f"name not matched: {operand}")
            if "FS" in self.flags:
                for name in [n for n in self.entries if n not in self.touched]:
                    del self.entries[name]
                    self.say(f"deleting: {name}\n")
            elif len(self.added) == before and not self.touched:
                raise self.fatal(f"Nothing to do! ({archive})", 12)
        self.save(archive)
        if "m" in self.flags:
            for path, is_dir in reversed(self.added):
                try:
                    (self.proc.fs.rmdir if is_dir else self.proc.fs.unlink)(path)
                except OSError:
                    self.warn(f"could not delete: {path}")
        return self.status

    def load(self, archive: str) -> None:
        if archive == "-" or not self.proc.fs.exists(archive):
            return
        try:
            with zipfile.ZipFile(io.BytesIO(self.proc.fs.read(archive))) as old:
                for info in old.infolist():
                    self.proc.kernel.fits(info.file_size)
                    self.entries[info.filename] = (info, old.read(info))
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError):
            raise self.fatal(f"Zip file structure invalid ({archive})", 3) from None
        except OSError as e:
            raise self.fatal(f"{e.strerror} ({archive})", 15) from None

    def delete(self, patterns: list[str], archive: str) -> None:
        gone = [name for name in self.entries if self.matches(name, patterns)]
        for pattern in patterns:
            if not self.matches_any(pattern):
                self.warn(f"name not matched: {pattern}")
        if not gone:
            raise self.fatal(f"Nothing to do! ({archive})", 12)
        for name in gone:
            del self.entries[name]
            self.say(f"deleting: {name}\n")

    def matches_any(self, pattern: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for name in self.entries)

    def save(self, archive: str) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", strict_timestamps=False) as new:
            for info, data in self.entries.values():
                new.writestr(info, data, info.compress_type, self.level or None)
                self.proc.check()
        if archive == "-":
            self.proc.stdout.flush()
            self.proc.file(1).write(buffer.getvalue())
            return
        try:
            if not self.entries:
                self.proc.fs.unlink(archive)
                self.warn("zip file empty")
                return
            with self.proc.opened(archive, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
                file.write(buffer.getvalue())
        except OSError as e:
            self.proc.write_error(refusal_note(e))
            raise self.fatal(f"Could not create output file ({archive})", 15) from None


def mtime_of(info: zipfile.ZipInfo, proc: Process) -> int:
    """Seconds since the epoch of a member: from its extra field, else from its local date."""
    extra, at = info.extra, 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack("<HH", extra[at:at + 4])
        if kind == 0x5455 and size >= 5 and extra[at + 4] & 1:
            return int(struct.unpack("<I", extra[at + 5:at + 9])[0])
        at += 4 + size
    from datetime import datetime

    from mirage.commands._times import zone
    try:
        return int(datetime(*info.date_time, tzinfo=zone(proc)).timestamp())
    except ValueError:
        return 0


def is_link(info: zipfile.ZipInfo) -> bool:
    return info.create_system == 3 and st.S_ISLNK(info.external_attr >> 16)


def main(proc: Process) -> int:
    return Zip(proc).run()
