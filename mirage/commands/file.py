"""file: what kind of file is it? (file 5.46)"""
from __future__ import annotations

import stat as st

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import encode
from mirage.commands._magic import Result, identify
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process
    from mirage.vfs.types import Stat

USAGE = """Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]
            [--mime-type] [-e <testname>] [-F <separator>]  [-f <namefile>]
            [-m <magicfiles>] [-P <parameter=value>] [--exclude-quiet]
            <file> ...
       file -C [-m <magicfiles>]
       file [--help]
"""
SPEC = Spec("bcCdEe:F:f:hikLlm:NnpP:rsSvzZ0", {
    "brief": ("b", NONE), "checking-printout": ("c", NONE), "dereference": ("L", NONE), "no-dereference": ("h", NONE),
    "exclude": ("e", REQUIRED), "exclude-quiet": ("e", REQUIRED), "separator": ("F", REQUIRED),
    "files-from": ("f", REQUIRED), "mime": ("i", NONE), "mime-type": ("type", NONE),
    "mime-encoding": ("encoding", NONE),
    "extension": ("extension", NONE), "apple": ("apple", NONE), "keep-going": ("k", NONE), "list": ("l", NONE),
    "magic-file": ("m", REQUIRED), "no-buffer": ("n", NONE), "no-pad": ("N", NONE), "print0": ("0", NONE),
    "preserve-date": ("p", NONE), "parameter": ("P", REQUIRED), "raw": ("r", NONE), "special-files": ("s", NONE),
    "uncompress": ("z", NONE), "uncompress-noreport": ("Z", NONE), "no-sandbox": ("S", NONE), "debug": ("d", NONE)},
    help=USAGE, status=1)

HEAD = 7 << 20


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    separator = ":"
    for key, value in options:
        if key == "F":
            separator = value
        elif key == "f":
            operands = _names(proc, value) + operands
        elif key == "v":
            proc.stdout.write(b"file-5.46\nmagic file from Mirage\n")
            return 0
    if not operands:
        proc.write_error(USAGE)
        return 1
    if "h" not in flags and "POSIXLY_CORRECT" in proc.env:
        flags.add("L")
    width = max(_width("/dev/stdin" if name == "-" else name) for name in operands)
    status = 0
    for name in operands:
        shown = "/dev/stdin" if name == "-" else name
        description, failed = _describe(proc, name, flags)
        if failed and "E" in flags:
            status = 1
        if "b" in flags:
            proc.stdout.write(encode(description + "\n"))
            continue
        end = "\0" if "0" in flags else ""
        pad = "" if "N" in flags else " " * (width - _width(shown))
        proc.stdout.write(encode(f"{shown}{end}{separator} {pad}{description}\n"))
    return status


def _width(name: str) -> int:
    from mirage.commands._text import text_width
    return text_width(name)


def _names(proc: Process, source: str) -> list[str]:
    try:
        data = proc.file(0).read(1 << 20) if source == "-" else proc.fs.read(source)
    except OSError as e:
        proc.write_error(f"file: Cannot open `{source}' ({e.strerror})\n")
        raise Exit(1) from None
    return data.decode("utf-8", "surrogateescape").splitlines()


def _describe(proc: Process, name: str, flags: set[str]) -> tuple[str, bool]:
    fs = proc.fs
    if name == "-":
        return _show(identify(_head(proc, proc.file(0))), flags), False
    try:
        stat = fs.stat(name, False)
        if stat.is_link and "L" in flags:
            stat = fs.stat(name)
    except OSError as e:
        proc.write_error(refusal_note(e))
        if "E" in flags:
            return f"ERROR: cannot stat `{name}' ({e.strerror})", True
        return f"cannot open `{name}' ({e.strerror})", True
    special = _special(proc, name, stat)
    if special is not None:
        return _show(special, flags), False
    try:
        with proc.opened(name) as file:
            data = _head(proc, file)
    except OSError as e:
        proc.write_error(refusal_note(e))
        return "regular file, no read permission" if e.errno == 13 else f"cannot open `{name}' ({e.strerror})", True
    result = identify(data)
    if flags & {"z", "Z"} and result.mime == "application/gzip":
        import zlib
        try:
            inner = identify(zlib.decompressobj(31).decompress(data, HEAD))
            result.description = inner.description if "Z" in flags else \
                f"{inner.description} ({result.description.partition(', original')[0]})"
        except zlib.error:
            pass
    return _show(result, flags), False


def _head(proc: Process, file: OpenFile) -> bytes:
    parts, size = [], 0
    while size < HEAD:
        data = file.read(min(1 << 20, HEAD - size))
        if not data:
            break
        parts.append(data)
        size += len(data)
        proc.check()
    return b"".join(parts)


def _special(proc: Process, name: str, stat: Stat) -> Result | None:
    if stat.is_file:
        return None
    if stat.is_dir:
        extra = "".join(word for bit, word in ((0o1000, "sticky, "), (0o2000, "setgid, "), (0o4000, "setuid, "))
                        if stat.mode & bit)
        return Result(f"{extra}directory", "inode/directory")
    if stat.is_link:
        target = proc.fs.readlink(name)
        if not proc.fs.exists(name):
            return Result(f"broken symbolic link to {target}", "inode/symlink", "")
        return Result(f"symbolic link to {target}", "inode/symlink")
    if stat.is_fifo:
        return Result("fifo (named pipe)", "inode/fifo")
    if st.S_ISSOCK(stat.mode):
        return Result("socket", "inode/socket")
    major, minor = stat.rdev >> 8 & 0xFFF, stat.rdev & 0xFF
    return Result(f"character special ({major}/{minor})", "inode/chardevice")


def _show(result: Result, flags: set[str]) -> str:
    if "extension" in flags:
        return "???"
    if "i" in flags:
        return f"{result.mime}; charset={result.charset}" if result.charset else result.mime
    if "type" in flags and "encoding" not in flags:
        return result.mime
    if "encoding" in flags:
        return result.charset
    return result.description
