"""Input line by line with a look ahead, and output files that know whether the last line had its newline."""
from __future__ import annotations

import os

from mirage.commands._io import BLOCK, encode
from mirage.process.files import OpenFile
from mirage.process.process import refusal_note
from mirage.vfs.types import S_IFMT, S_IFREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.process import Process


class Output:
    """A destination of lines. `missing`: what was written last lacks its newline."""

    def __init__(self, write: Callable[[bytes], object], flush: Callable[[], object], delimiter: bytes) -> None:
        self.write = write
        self.flush = flush
        self.delimiter = delimiter
        self.missing = False

    def line(self, text: bytes, complete: bool = True) -> None:
        if self.missing:
            self.write(self.delimiter)
        if complete:
            self.write(text + self.delimiter)
            self.missing = False
        else:
            self.write(text)
            self.missing = True

    def raw(self, text: bytes) -> None:
        """Text that brings its own newlines."""
        if self.missing:
            self.write(self.delimiter)
            self.missing = False
        self.write(text)


class Reader:
    """The lines of one open file."""

    def __init__(self, proc: Process, file: OpenFile, delimiter: bytes) -> None:
        self.proc = proc
        self.file = file
        self.delimiter = delimiter
        self.data = b""
        self.pos = 0
        self.ended = False
        self.offset = file.tell() if file.seekable else 0    # of data[0] in the file

    def more(self) -> bool:
        """Is there another line? Reads until it is known."""
        if self.pos < len(self.data):
            return True
        return self._fill()

    def _fill(self) -> bool:
        while not self.ended:
            block = self.file.read(BLOCK)
            self.proc.check()
            if not block:
                self.ended = True
                break
            self.offset += self.pos
            if self.pos < len(self.data):
                self.proc.kernel.fits(len(self.data) - self.pos + len(block))
                self.data = self.data[self.pos:] + block
            else:
                self.data = block
            self.pos = 0
            return True
        return False

    def line(self) -> tuple[bytes, bool]:
        """(line, had its newline); more() must have said True."""
        while True:
            end = self.data.find(self.delimiter, self.pos)
            if end >= 0:
                line = self.data[self.pos:end]
                self.pos = end + 1
                return line, True
            if not self._fill():
                line = self.data[self.pos:]
                self.pos = len(self.data)
                return line, False

    def close(self) -> None:
        """Standard input keeps its place behind the last line that was used."""
        if self.file.seekable and self.file.path != "/dev/null":
            self.file.seek(self.offset + self.pos)
        self.file.decref()


class InPlace:
    """-i: the new content is written beside the file and then takes its name."""

    def __init__(self, proc: Process, name: str, suffix: str | None, follow: bool) -> None:
        self.proc = proc
        self.name = proc.fs.realpath(name) if follow else name
        self.suffix = suffix
        self.mode = proc.fs.stat(self.name).mode & 0o7777
        folder, _, self.base = self.name.rpartition("/")
        self.folder = folder + "/" if folder or name.startswith("/") else ""
        self.temporary = self._temporary()
        self.file = proc.open(self.temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self.file.incref()
        self.parts: list[bytes] = []
        self.size = 0

    def _temporary(self) -> str:
        import random
        while True:
            path = self.folder + "sed" + "".join(random.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST", k=6))
            if not self.proc.fs.exists(path, False):
                return path

    def write(self, data: bytes) -> None:
        self.parts.append(data)
        self.size += len(data)
        if self.size > BLOCK:
            self.flush()

    def flush(self) -> None:
        data = b"".join(self.parts)
        self.parts, self.size = [], 0
        if data:
            self.file.write(data)

    def finish(self) -> None:
        self.flush()
        self.file.decref()
        fs = self.proc.fs
        try:
            if fs.stat(self.temporary).mode & 0o7777 != self.mode & 0o7777:
                fs.chmod(self.temporary, self.mode)
            if self.suffix:
                fs.rename(self.name, self._backup(self.suffix))
            fs.rename(self.temporary, self.name)
        except OSError:
            self._remove()
            raise

    def abandon(self) -> None:
        self.file.decref()
        self._remove()

    def _remove(self) -> None:
        try:
            self.proc.fs.unlink(self.temporary)
        except OSError:
            pass

    def _backup(self, suffix: str) -> str:
        if "*" not in suffix:
            return self.folder + self.base + suffix
        name = suffix.replace("*", self.base)
        return name if "/" in name else self.folder + name


class Input:
    """All input files as one stream of lines (or one after the other with `separate`)."""

    def __init__(self, proc: Process, names: list[str], delimiter: bytes, *, separate: bool = False,
                 in_place: str | None = None, follow: bool = False) -> None:
        self.proc = proc
        self.names = names
        self.delimiter = delimiter
        self.separate = separate
        self.in_place = in_place                             # None: no; "": without backup
        self.follow = follow
        self.next = 0
        self.reader: Reader | None = None
        self.name = "-"
        self.number = 0
        self.status = 0
        self.edit: InPlace | None = None
        self.switched: Callable[[InPlace | None], None] = lambda edit: None
        self.restarted: Callable[[], None] = lambda: None    # called where a file's lines are counted from 1 again

    def open_next(self) -> bool:
        """Go on to the next file that can be read; False when there is none."""
        while self.next < len(self.names):
            name = self.names[self.next]
            self.next += 1
            if self._open(name):
                return True
        return False

    def _open(self, name: str) -> bool:
        proc = self.proc
        try:
            if name == "-" and self.in_place is None:
                self.reader = Reader(proc, proc.file(0).incref(), self.delimiter)
                self.name = "-"
                return True
            file = proc.open(name)
        except OSError as e:
            proc.stdout.flush()
            proc.write_error(f"sed: can't read {name}: {e.strerror}\n{refusal_note(e)}")
            self.status = 2
            return False
        file.incref()
        if self.in_place is not None:
            if file.stat().mode & S_IFMT != S_IFREG:
                file.decref()
                proc.stdout.flush()
                proc.message(f"couldn't edit {name}: not a regular file")
                self.status = 4
                return False
            try:
                self.edit = InPlace(proc, name, self.in_place, self.follow)
            except OSError as e:
                file.decref()
                proc.stdout.flush()
                folder = name.rpartition("/")[0] or ("" if name.startswith("/") else ".")
                proc.write_error(f"sed: couldn't open temporary file {folder}/sedXXXXXX: {e.strerror}\n"
                                 f"{refusal_note(e)}")
                self.status = 4
                return False
            self.switched(self.edit)
        if self.separate:
            self.number = 0
            self.restarted()
        self.reader = Reader(proc, file, self.delimiter)
        self.name = name
        return True

    def close_current(self) -> None:
        if self.reader is not None:
            self.reader.close()
            self.reader = None
        if self.edit is not None:
            edit, self.edit = self.edit, None
            self.switched(None)
            try:
                edit.finish()
            except OSError as e:
                self.proc.fail(f"cannot rename {edit.temporary}", e)
                self.status = 4

    def more(self, across: bool = True) -> bool:
        """Is there another line, in this file or (across) a following one?"""
        while True:
            if self.reader is not None and self.reader.more():
                return True
            if not across and self.reader is not None:
                return False
            self.close_current()
            if not self.open_next():
                return False

    def last(self) -> bool:
        """Is the line that was read last the last one (of its file with `separate`)?"""
        if self.reader is None:
            return True
        return not self.more(across=not self.separate)

    def line(self) -> tuple[bytes, bool]:
        assert self.reader is not None
        self.number += 1
        return self.reader.line()


__all__ = ["Input", "Output", "encode"]
