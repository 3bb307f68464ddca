"""What bzip2 and xz share: one file in, one file out, the original replaced unless -k or -c."""
from __future__ import annotations

import os

from mirage.commands._archive_stream import BadStream, Reader, Writer
from mirage.commands._getopt import parse
from mirage.commands._io import BLOCK
from mirage.process.process import refusal_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.commands._getopt import Spec
    from mirage.process.files import OpenFile
    from mirage.process.process import Process


class Words:
    """The messages and statuses in which the tools differ; {} is the file's name."""

    def __init__(self, suffix: str, missing: str, directory: str, exists: str, format: str, suffixed: str,
                 bad_status: int, skip_status: int) -> None:
        self.suffix = suffix
        self.missing = missing
        self.directory = directory
        self.exists = exists
        self.format = format
        self.suffixed = suffixed
        self.bad_status = bad_status
        self.skip_status = skip_status


def pack(proc: Process, spec: Spec, words: Words, kind: str, names: dict[str, str]) -> int:
    """The main function of a tool; `names`: the options that its other names stand for."""
    options, operands = parse(proc, spec)
    flags = {key for key, _ in options} | set(names.get(proc.name, ""))
    if "z" in flags:
        flags.discard("d")
    return Packer(proc, kind, words, flags).run(operands)


class Packer:
    def __init__(self, proc: Process, kind: str, words: Words, flags: set[str]) -> None:
        self.proc = proc
        self.kind = kind
        self.words = words
        self.flags = flags
        self.status = 0

    @property
    def expanding(self) -> bool:
        return bool(self.flags & {"d", "t"})

    def problem(self, text: str, status: int) -> None:
        self.proc.stdout.flush()
        self.proc.message(text)
        self.status = max(self.status, status)

    def run(self, operands: list[str]) -> int:
        for name in operands or ["-"]:
            if name == "-":
                self.transfer(self.proc.file(0), None if "t" in self.flags else self.proc.file(1), "(stdin)")
            else:
                self.file(name)
        return self.status

    def transfer(self, source: OpenFile, target: OpenFile | None, name: str) -> bool:
        """Compress or expand a stream; False after an error message."""
        if not self.expanding:
            assert target is not None
            writer = Writer(self.proc, target, self.kind)
            while data := source.read(BLOCK):
                writer.write(data)
            writer.finish()
            return True
        reader = Reader(self.proc, source)
        if reader.kind != self.kind:
            if "f" in self.flags and target is not None and "c" in self.flags:
                while data := reader.read(BLOCK):
                    target.write(data)
                return True
            self.problem(self.words.format.format(name), self.words.bad_status)
            return False
        try:
            while data := reader.read(BLOCK):
                if target is not None:
                    target.write(data)
        except BadStream:
            self.problem(f"{name}: Unexpected end of input or damaged data", self.words.bad_status)
            return False
        return True

    def file(self, path: str) -> None:
        proc, fs, words = self.proc, self.proc.fs, self.words
        try:
            stat = fs.stat(path)
            if stat.is_dir:
                self.problem(words.directory.format(path), words.skip_status)
                return
            source = proc.open(path).incref()
        except OSError as e:
            self.problem(words.missing.format(path, e.strerror), 1)
            proc.write_error(refusal_note(e))
            return
        try:
            if self.flags & {"c", "t"}:
                if self.transfer(source, None if "t" in self.flags else proc.file(1), path) and {"t",
                    "v"} <= self.flags:
                    proc.write_error(f"  {path}: ok\n")
                return
            if self.kind == "xz" and self.expanding and not self._is_xz(path):
                self.problem(words.format.format(path), words.bad_status)
                return
            target = self.target(path)
            if target is None:
                return
            if fs.exists(target, follow=False) and "f" not in self.flags:
                self.problem(words.exists.format(target), 1)
                return
            try:
                output = proc.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, stat.mode & 0o777).incref()
            except OSError as e:
                self.problem(f"{target}: {e.strerror}", 1)
                proc.write_error(refusal_note(e))
                return
            try:
                good = self.transfer(source, output, path)
            finally:
                output.decref()
            if not good:
                fs.unlink(target)
                return
            fs.utime(target, stat.atime_ns, stat.mtime_ns)
            if "k" not in self.flags:
                fs.unlink(path)
        finally:
            source.decref()

    def _is_xz(self, path: str) -> bool:
        with self.proc.opened(path) as file:
            return file.read(6).startswith((b"\xfd7zXZ\0", b"]\0\0"))

    def target(self, path: str) -> str | None:
        suffix = self.words.suffix
        if not self.expanding:
            if path.endswith(suffix):
                self.problem(self.words.suffixed.format(path), self.words.skip_status)
                return None
            return path + suffix
        for known, plain in ((suffix, ""), (".tbz2", ".tar"), (".tbz", ".tar"), (".txz", ".tar"), (".lzma", "")):
            if path.endswith(known) and len(path) > len(known):
                return path[:-len(known)] + plain
        if self.kind == "bzip2":
            self.proc.message(f"Can't guess original name for {path} -- using {path}.out")
            return path + ".out"
        self.problem(f"{path}: Filename has an unknown suffix, skipping", self.words.skip_status)
        return None
