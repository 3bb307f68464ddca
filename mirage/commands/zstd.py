"""zstd, unzstd, zstdcat: compress and expand .zst files (with the optional library zstandard)."""
from __future__ import annotations

import os

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import chunks
from mirage.process.process import refusal_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

HELP = """Compress or decompress the INPUT file(s); reads from STDIN if INPUT is `-` or not provided.

Usage: NAME [OPTIONS...] [INPUT... | -] [-o OUTPUT]

Options:
  -o OUTPUT                     Write output to a single file, OUTPUT.
  -k, --keep                    Preserve INPUT file(s). [Default]
  --rm                          Remove INPUT file(s) after successful (de)compression.
  -#                            Desired compression level, where `#` is a number between 1 and 19.
  -d, --decompress              Perform decompression.
  -f, --force                   Allows overwriting existing files.
  -c, --stdout                  Write to STDOUT.
  -t, --test                    Test compressed file integrity.
  -q, --quiet                   Suppress warnings.
  -h                            Display short usage and exit.
  -V, --version                 Display the program version and exit.
"""
SPEC = Spec("o:kdfctqvhVzlT:0123456789", {
    "keep": ("k", NONE), "rm": ("rm", NONE), "decompress": ("d", NONE), "uncompress": ("d", NONE), "force": ("f", NONE),
    "stdout": ("c", NONE), "test": ("t", NONE), "quiet": ("q", NONE), "verbose": ("v", NONE), "compress": ("z", NONE),
    "version": ("V", NONE), "list": ("l", NONE), "threads": ("T", REQUIRED), "ultra": ("ultra", NONE),
    "fast": ("fast", OPTIONAL), "long": ("long", OPTIONAL), "no-progress": ("np", NONE), "no-check": ("nc", NONE),
    "check": ("check", NONE), "adapt": ("adapt", OPTIONAL)}, help=HELP)
MAGIC = b"\x28\xb5\x2f\xfd"


def library(proc: Process) -> Any:
    """The module zstandard, or None after a message."""
    try:
        import zstandard
    except ImportError:
        proc.message("not available: the owner of this terminal has not installed the extra mirage-terminal[zstd]")
        return None
    return zstandard


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    output = next((value for key, value in options if key == "o"), None)
    if flags & {"h", "V"}:
        proc.stdout.write(HELP.replace("NAME", proc.name).encode() if "h" in flags
                          else f"{proc.name} (Mirage)\n".encode())
        return 0
    if proc.name in ("unzstd", "zstdcat"):
        flags.add("d")
    if proc.name == "zstdcat":
        flags |= {"c", "pass"}
    if "z" in flags:
        flags.discard("d")
    if "t" in flags:
        flags |= {"d"}
    if "l" in flags:
        proc.message("--list is not available in this terminal")
        return 1
    zstandard = library(proc)
    if zstandard is None:
        return 1
    level = int("".join(key for key, _ in options if key.isdecimal()) or "3")
    return Job(proc, zstandard, flags, min(max(level, 1), 19), output).run(operands)


class Job:
    def __init__(self, proc: Process, zstandard: Any, flags: set[str], level: int, output: str | None) -> None:
        self.proc = proc
        self.zstandard = zstandard
        self.flags = flags
        self.level = level
        self.output = output
        self.status = 0

    def problem(self, text: str) -> None:
        self.proc.stdout.flush()
        self.proc.message(text)
        self.status = 1

    def run(self, operands: list[str]) -> int:
        for name in operands or ["-"]:
            if name == "-":
                target = self.target(self.output) if self.output else self.proc.file(1)
                if target is not None:
                    target.incref()
                    try:
                        self.transfer(self.proc.file(0), None if "t" in self.flags else target, "/*stdin*\\")
                    finally:
                        target.decref()
            else:
                self.file(name)
        return self.status

    def transfer(self, source: OpenFile, target: OpenFile | None, name: str) -> bool:
        if "d" not in self.flags:
            machine = self.zstandard.ZstdCompressor(level=self.level, write_checksum=True).compressobj()
            for data in chunks(self.proc, source):
                self.put(target, machine.compress(data))
            self.put(target, machine.flush())
            return True
        return self.expand(source, target, name)

    @staticmethod
    def put(target: OpenFile | None, data: bytes) -> None:
        if data and target is not None:
            target.write(data)

    def expand(self, source: OpenFile, target: OpenFile | None, name: str) -> bool:
        decompressor = self.zstandard.ZstdDecompressor(max_window_size=1 << 27)
        data = source.read(65536)
        if not data.startswith(MAGIC):
            if self.flags & {"pass"} or {"f", "c"} <= self.flags:
                while data:
                    self.put(target, data)
                    data = source.read(65536)
                return True
            self.problem(f"{name}: unsupported format" if data else f"{name}: unexpected end of file")
            return False
        machine = None
        try:
            while data:
                machine = machine or decompressor.decompressobj()
                self.put(target, machine.decompress(data))
                data = b""
                if machine.eof:
                    data, machine = machine.unused_data, None
                data = data or source.read(65536)
                self.proc.check()
        except self.zstandard.ZstdError as e:
            self.problem(f"{name} : Decoding error (36) : {str(e).rpartition(': ')[2]}")
            return False
        if machine is not None:
            self.problem(f"{name} : Read error (39) : premature end")
            return False
        return True

    def target(self, path: str) -> OpenFile | None:
        proc = self.proc
        if "f" not in self.flags and proc.fs.exists(path, False) and proc.fs.is_file(path):
            proc.write_error(f"zstd: {path} already exists; overwrite (y/n) ? Not overwritten  \n")
            self.status = 1
            return None
        try:
            return proc.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        except OSError as e:
            self.problem(f"{path}: {e.strerror}")
            proc.write_error(refusal_note(e))
            return None

    def file(self, path: str) -> None:
        proc, fs = self.proc, self.proc.fs
        try:
            if fs.is_dir(path):
                self.problem(f"{path} is a directory -- ignored ")
                return
            source = proc.open(path).incref()
        except OSError as e:
            self.problem(f"can't stat {path} : {e.strerror} -- ignored ")
            proc.write_error(refusal_note(e))
            return
        try:
            if self.flags & {"c", "t"}:
                good = self.transfer(source, None if "t" in self.flags else proc.file(1), path)
            else:
                name = self.output or self.name(path)
                target = self.target(name) if name else None
                if target is None:
                    return
                target.incref()
                try:
                    good = self.transfer(source, target, path)
                finally:
                    target.decref()
                if not good and self.output is None:
                    fs.unlink(str(name))
        finally:
            source.decref()
        if good and "rm" in self.flags and "c" not in self.flags:
            fs.unlink(path)

    def name(self, path: str) -> str | None:
        if "d" not in self.flags:
            return path + ".zst"
        for suffix, plain in ((".zst", ""), (".tzst", ".tar")):
            if path.endswith(suffix) and len(path) > len(suffix):
                return path[:-len(suffix)] + plain
        self.problem(f"{path}: unknown suffix (.zst/.tzst expected). Can't derive the output file name. "
                     "Specify it with -o dstFileName. Ignoring.")
        return None
