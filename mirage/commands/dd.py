"""dd: copy and convert a file block by block."""
from __future__ import annotations

import errno
import os
import re
import time

from mirage.commands._getopt import Spec, usage_error
from mirage.commands._text import UINT64, fatal, multiplier, quote, shell_quote
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

HELP = """Usage: dd [OPERAND]...
  or:  dd OPTION
Copy a file, converting and formatting according to the operands.

  bs=BYTES        read and write up to BYTES bytes at a time (default: 512);
                  overrides ibs and obs
  cbs=BYTES       convert BYTES bytes at a time
  conv=CONVS      convert the file as per the comma separated symbol list
  count=N         copy only N input blocks
  ibs=BYTES       read up to BYTES bytes at a time (default: 512)
  if=FILE         read from FILE instead of stdin
  iflag=FLAGS     read as per the comma separated symbol list
  obs=BYTES       write BYTES bytes at a time (default: 512)
  of=FILE         write to FILE instead of stdout
  oflag=FLAGS     write as per the comma separated symbol list
  seek=N          (or oseek=N) skip N obs-sized output blocks
  skip=N          (or iseek=N) skip N ibs-sized input blocks
  status=LEVEL    The LEVEL of information to print to stderr;
                  'none' suppresses everything but error messages,
                  'noxfer' suppresses the final transfer statistics,
                  'progress' shows periodic transfer statistics
"""
SPEC = Spec("", help=HELP)
CONVERSIONS = ("ascii", "ebcdic", "ibm", "block", "unblock", "lcase", "ucase", "sparse", "swab", "sync", "excl",
               "nocreat", "notrunc", "noerror", "fdatasync", "fsync")
FLAGS = ("append", "direct", "directory", "dsync", "sync", "fullblock", "nonblock", "noatime", "nocache", "noctty",
         "nofollow", "count_bytes", "skip_bytes", "seek_bytes")
INPUT_ONLY, OUTPUT_ONLY = ("fullblock", "count_bytes", "skip_bytes"), ("seek_bytes",)
PIECE = 1 << 20
_EBCDIC = ("009C6H!UtN76l~>3=Iws5D^j+JUucd7#Tk&9337XKw5u$TWnB$O<i10YhX)Z@bU8V^!4`l`1yKXOnz=}e8IxQ#Kp$P$jQ;t)6~`0*Vx("
           "O<K*S$=jiFJ;Jun{d4Yn1goTEOh>4Msla!T~mzbHNqok##r>LpGPtacnAR!_nBozi1C@Cr{EC~u5Ffkf4G&ME|I5|2y1Qb5uK|(`BMMg("
           "RNl{W$R8>}2SXp9YWMyV&XlZb9a&vTbc6WGyii?bmj*pOPo1C4VpP;I%tV*u0u(7hUw6(UkxVgH!yrI6o%FE2n&d=K0+}+;a>g(+7?(h2h"
           "{Qds_")
_IBM = {94: 95, 126: 161, 203: 154, 213: 173, 229: 189}      # where conv=ibm differs


def _tables() -> tuple[bytes, bytes, bytes]:
    """Translation to EBCDIC, to its IBM variant, and from EBCDIC to ASCII."""
    import base64
    ebcdic = base64.b85decode(_EBCDIC)
    ibm = bytearray(ebcdic)
    for code, value in _IBM.items():
        ibm[code] = value
    back = bytearray(256)
    for code, value in enumerate(ebcdic):
        back[value] = code
    return ebcdic, bytes(ibm), bytes(back)


def number(proc: Process, text: str) -> tuple[int, bool]:
    """(value, ends in B: a number of bytes) of `2x10k`; GNU's error where it is none."""
    value, in_bytes = 1, text.endswith("B") and not text.endswith(("iB", "kB", "KB", "MB", "GB", "TB", "PB", "EB"))
    parts = (text[:-1] if in_bytes else text).split("x")
    for place, part in enumerate(parts):
        found = re.fullmatch(r"([0-9]+)([a-zA-Z]*)", part)
        factor = multiplier(found[2]) if found else None
        if found is None or factor is None or len(found[1]) > 4000:
            raise fatal(proc, f"invalid number: {shell_quote(text, True)}")
        if part == "0" and place < len(parts) - 1:
            proc.message(f"warning: {quote(proc, '0x')} is a zero multiplier; use {quote(proc, '00x')} if that is "
                         "intended")
        value *= int(found[1]) * factor
    if value > UINT64 >> 1:
        raise fatal(proc, f"invalid number: {shell_quote(text, True)}: Value too large for defined data type")
    return value, in_bytes


class Job:
    """The operands, and the counters of the report."""

    def __init__(self) -> None:
        self.source = self.target = ""
        self.ibs = self.obs = 512
        self.bs = self.cbs = 0
        self.skip = self.seek = 0
        self.count: int | None = None
        self.skip_bytes = self.seek_bytes = self.count_bytes = False
        self.conv: set[str] = set()
        self.iflag: set[str] = set()
        self.oflag: set[str] = set()
        self.status = ""
        self.full_in = self.part_in = self.full_out = self.part_out = self.truncated = self.bytes = 0
        self.started = time.monotonic()


def _symbols(proc: Process, value: str, known: tuple[str, ...], what: str) -> set[str]:
    out = set()
    for name in value.split(","):
        if name not in known:
            raise usage_error(proc, SPEC, f"invalid {what}: {quote(proc, name)}")
        out.add(name)
    return out


def _size(proc: Process, text: str) -> int:
    value, _ = number(proc, text)
    if value == 0:
        raise fatal(proc, f"invalid number: {shell_quote(text, True)}")
    return value


def parse_operands(proc: Process) -> Job:
    job = Job()
    for word in [w for n, w in enumerate(proc.argv[1:]) if w != "--" or n]:
        name, equals, value = word.partition("=")
        if word in ("--help", "--version"):
            proc.stdout.write((HELP if word == "--help" else "dd (Mirage)\n").encode())
            raise Exit(0)
        if word.startswith("--"):
            raise usage_error(proc, SPEC, f"unrecognized option '{word}'")
        if word.startswith("-") and len(word) > 1 and not equals:
            raise usage_error(proc, SPEC, f"invalid option -- '{word[1]}'")
        if not equals:
            raise usage_error(proc, SPEC, f"unrecognized operand '{word}'")
        if name == "if":
            job.source = value
        elif name == "of":
            job.target = value
        elif name == "conv":
            job.conv |= _symbols(proc, value, CONVERSIONS, "conversion")
        elif name == "iflag":
            job.iflag |= _symbols(proc, value, tuple(f for f in FLAGS if f not in OUTPUT_ONLY), "input flag")
        elif name == "oflag":
            job.oflag |= _symbols(proc, value, tuple(f for f in FLAGS if f not in INPUT_ONLY), "output flag")
        elif name == "status":
            if value not in ("none", "noxfer", "progress"):
                raise usage_error(proc, SPEC, f"invalid status level: {quote(proc, value)}")
            job.status = value
        elif name in ("bs", "ibs", "obs", "cbs"):
            setattr(job, name, _size(proc, value))
        elif name in ("skip", "iseek"):
            job.skip, job.skip_bytes = number(proc, value)
        elif name in ("seek", "oseek"):
            job.seek, job.seek_bytes = number(proc, value)
        elif name == "count":
            job.count, job.count_bytes = number(proc, value)
        else:
            raise usage_error(proc, SPEC, f"unrecognized operand '{word}'")
    _check(proc, job)
    return job


def _check(proc: Process, job: Job) -> None:
    conv = job.conv
    for group, text in ((("ascii", "ebcdic", "ibm"), "cannot combine any two of {ascii,ebcdic,ibm}"),
                        (("block", "unblock"), "cannot combine block and unblock"),
                        (("lcase", "ucase"), "cannot combine lcase and ucase"),
                        (("excl", "nocreat"), "cannot combine excl and nocreat")):
        if len(conv & set(group)) > 1:
            raise fatal(proc, text)
    if job.bs:
        job.ibs = job.obs = job.bs
    if "ascii" in conv and job.cbs:
        conv.add("unblock")
    elif conv & {"ebcdic", "ibm"} and job.cbs:
        conv.add("block")
    if not job.cbs:
        conv -= {"block", "unblock"}
    job.skip_bytes = job.skip_bytes or "skip_bytes" in job.iflag
    job.seek_bytes = job.seek_bytes or "seek_bytes" in job.oflag
    job.count_bytes = job.count_bytes or "count_bytes" in job.iflag


def main(proc: Process) -> int:
    job = parse_operands(proc)
    return Copy(proc, job).run()


class Copy:
    def __init__(self, proc: Process, job: Job) -> None:
        self.proc = proc
        self.job = job
        self.held = b""
        self.odd = b""                                       # the byte that swab has kept
        self.column = 0                                      # of the record that block and unblock are in
        self.blanks = 0
        tables = _tables() if job.conv & {"ascii", "ebcdic", "ibm"} else (b"", b"", b"")
        self.table = tables[0] if "ebcdic" in job.conv else tables[1] if "ibm" in job.conv else tables[2]

    def run(self) -> int:
        proc, job = self.proc, self.job
        try:
            self.source = proc.open(job.source).incref() if job.source else proc.file(0).incref()
        except OSError as e:
            proc.message(f"failed to open {shell_quote(job.source, True)}: {e.strerror}")
            return 1
        self.input_name = job.source or "standard input"
        try:
            self.target = self._open_target()
            try:
                return self._copy()
            finally:
                self.target.decref()
        finally:
            self.source.decref()

    def _open_target(self) -> OpenFile:
        proc, job = self.proc, self.job
        offset = job.seek if job.seek_bytes else job.seek * job.obs
        if not job.target:
            target = proc.file(1)
        else:
            flags = os.O_WRONLY | (0 if "nocreat" in job.conv else os.O_CREAT) | (os.O_EXCL if "excl" in job.conv
                                                                                  else 0)
            if "append" in job.oflag:
                flags |= os.O_APPEND
            if not offset and "notrunc" not in job.conv:
                flags |= os.O_TRUNC
            try:
                target = proc.open(job.target, flags)
            except OSError as e:
                proc.message(f"failed to open {shell_quote(job.target, True)}: {e.strerror}")
                raise Exit(1) from None
        target.incref()
        if offset:
            self._seek(target, offset)
        return target

    def _seek(self, target: OpenFile, offset: int) -> None:
        job, proc = self.job, self.proc
        try:
            if job.target and "notrunc" not in job.conv and target.stat().is_file:
                proc.kernel.fits(offset)
                target.truncate(offset)
            if target.seekable:
                target.seek(offset, os.SEEK_CUR if not job.target else os.SEEK_SET)
                return
        except OSError as e:
            if e.errno != errno.ESPIPE:
                proc.message(f"failed to truncate to {offset} bytes in output file "
                             f"{shell_quote(job.target, True)}: {e.strerror}")
                raise Exit(1) from None
        if target.stat().is_char:
            return
        proc.message(f"{shell_quote(job.target or 'standard output', True)}: cannot seek: Illegal seek")
        raise Exit(1)

    def _skip(self) -> None:
        job, source = self.job, self.source
        left = job.skip if job.skip_bytes else job.skip * job.ibs
        if source.seekable and source.stat().is_file:
            here, size = source.tell(), source.stat().size
            if size is not None and here + left > size:
                source.seek(0, os.SEEK_END)
                left = here + left - size
            else:
                source.seek(left, os.SEEK_CUR)
                return
        while left > 0:
            data = source.read(min(left, PIECE))
            if not data:
                break
            left -= len(data)
            self.proc.check()
        if left and job.status != "none":
            self.proc.message(f"{shell_quote(self.input_name, not job.source)}: cannot skip to specified offset")

    def _copy(self) -> int:
        job, proc = self.job, self.proc
        status = 0
        try:
            if job.skip:
                self._skip()
            plain = job.bs and not job.conv & {"ascii", "ebcdic", "ibm", "block", "unblock", "lcase", "ucase", "swab"}
            if not plain:
                proc.kernel.fits(2 * (job.ibs + job.obs))
            self._blocks(bool(plain))
        except OSError as e:
            reading = getattr(e, "reading", None) is not None or e.errno in (errno.EISDIR, errno.EBADF)
            what = "reading" if reading else "writing"
            name = self.input_name if reading else job.target or "standard output"
            proc.fail(f"error {what} {shell_quote(name, True)}", e)
            status = 1
        self._report()
        return status

    def _blocks(self, plain: bool) -> None:
        job, proc = self.job, self.proc
        left = job.count
        while left is None or left > 0:
            size = job.ibs if left is None or not job.count_bytes else min(job.ibs, left)
            got = self._through(size) if plain else self._converted(size)
            if not got:
                break
            if got == job.ibs:
                job.full_in += 1
            else:
                job.part_in += 1
            if left is not None:
                left -= got if job.count_bytes else 1
            proc.check()
        if not plain:
            self._finish()

    def _through(self, size: int) -> int:
        """One input block written as it comes, in pieces; its length."""
        job, got = self.job, 0
        whole = "fullblock" in job.iflag or self.source.stat().mode & 0o170000 != 0o010000
        while got < size:
            data = self.source.read(min(PIECE, size - got))
            if not data:
                break
            got += len(data)
            self._write(data)
            self.proc.check()
            if not whole:
                break
        if got and got < size and "sync" in job.conv and got < job.ibs:
            for at in range(got, job.ibs, PIECE):
                self._write(b"\0" * min(PIECE, job.ibs - at))
            got_out = job.ibs
        else:
            got_out = got
        if got:
            if got_out == job.obs:
                job.full_out += 1
            else:
                job.part_out += 1
        return got

    def _write(self, data: bytes) -> None:
        if "sparse" in self.job.conv and self.target.seekable and not data.strip(b"\0"):
            end = self.target.seek(len(data), os.SEEK_CUR)
            if (self.target.stat().size or 0) < end:
                self.target.truncate(end)
        else:
            self.target.write(data)
        self.job.bytes += len(data)

    def _converted(self, size: int) -> int:
        job = self.job
        parts, got = [], 0
        while got < size:
            data = self.source.read(size - got)
            if not data:
                break
            parts.append(data)
            got += len(data)
            if "fullblock" not in job.iflag and self.source.stat().mode & 0o170000 == 0o010000:
                break
        data = b"".join(parts)
        if not data:
            return 0
        if "sync" in job.conv and len(data) < job.ibs:
            data = data.ljust(job.ibs, b" " if job.conv & {"block", "unblock"} else b"\0")
        if "ascii" in job.conv:
            data = data.translate(self.table)
        if "swab" in job.conv:
            data = self.odd + data
            even = len(data) & ~1
            self.odd = data[even:]
            swapped = bytearray(data[:even])
            swapped[0::2], swapped[1::2] = data[1:even:2], data[0:even:2]
            data = bytes(swapped)
        data = self._case(data)
        if "block" in job.conv:
            data = self._block(data)
        elif "unblock" in job.conv:
            data = self._unblock(data)
        self._emit(self._coded(data))
        return got

    def _case(self, data: bytes) -> bytes:
        return data.lower() if "lcase" in self.job.conv else data.upper() if "ucase" in self.job.conv else data

    def _coded(self, data: bytes) -> bytes:
        return data.translate(self.table) if self.job.conv & {"ebcdic", "ibm"} else data

    def _block(self, data: bytes) -> bytes:
        """Lines padded with blanks, or cut, to cbs bytes."""
        cbs, out = self.job.cbs, []
        lines = data.split(b"\n")
        for number_, line in enumerate(lines):
            room = max(0, cbs - self.column)
            out.append(line[:room])
            if line[room:] and self.column <= cbs:
                self.job.truncated += 1
                self.column = cbs + 1
            elif self.column <= cbs:
                self.column += len(line)
            if number_ < len(lines) - 1:
                gap = max(0, cbs - self.column)
                self.proc.kernel.fits(gap)
                out.append(b" " * gap)
                self.column = 0
        return b"".join(out)

    def _unblock(self, data: bytes) -> bytes:
        """Records of cbs bytes as lines without their trailing blanks."""
        cbs, out = self.job.cbs, []
        at = 0
        while at < len(data):
            piece = data[at:at + cbs - self.column]
            at += len(piece)
            self.column += len(piece)
            text = piece.rstrip(b" ")
            if text:
                out.append(b" " * self.blanks + text)
                self.blanks = 0
            self.blanks += len(piece) - len(text)
            if self.column == cbs:
                out.append(b"\n")
                self.column = self.blanks = 0
        return b"".join(out)

    def _emit(self, data: bytes) -> None:
        job = self.job
        data = self.held + data
        whole = len(data) // job.obs * job.obs
        if whole:
            if "sparse" in job.conv:
                for at in range(0, whole, job.obs):
                    self._write(data[at:at + job.obs])
            else:
                self._write(data[:whole])
            job.full_out += whole // job.obs
        self.held = data[whole:]

    def _finish(self) -> None:
        job = self.job
        if self.odd:
            self._emit(self._coded(self._case(self.odd)))
        if "block" in job.conv and self.column:
            self._emit(self._coded(b" " * max(0, job.cbs - self.column)))
        elif "unblock" in job.conv and self.column:
            self._emit(b"\n")
        if self.held:
            job.part_out += 1
            self._write(self.held)

    def _report(self) -> None:
        job = self.job
        if job.status == "none":
            return
        text = f"{job.full_in}+{job.part_in} records in\n{job.full_out}+{job.part_out} records out\n"
        if job.truncated:
            text += f"{job.truncated} truncated record{'' if job.truncated == 1 else 's'}\n"
        if job.status != "noxfer":
            seconds = max(time.monotonic() - job.started, 1e-9)
            size = f"{job.bytes} byte{'' if job.bytes == 1 else 's'}"
            if job.bytes >= 1000:
                forms = scaled(job.bytes, 1000) + (f", {scaled(job.bytes, 1024)}" if job.bytes >= 1024 else "")
                size += f" ({forms})"
            text += f"{size} copied, {seconds:g} s, {speed(job.bytes / seconds)}\n"
        self.proc.write_error(text)


def scaled(n: int, base: int) -> str:
    """`1.0 kB`, `12 MB`, `1.0 KiB`: rounded to the nearest, one decimal below ten."""
    units = ("B", "kB", "MB", "GB", "TB", "PB", "EB") if base == 1000 else ("B", "KiB", "MiB", "GiB", "TiB", "PiB",
                                                                            "EiB")
    value, power = float(n), 0
    while value >= base and power < len(units) - 1:
        value /= base
        power += 1
    if not power:
        return f"{n} B"
    return f"{value:.1f} {units[power]}" if value < 9.95 else f"{value:.0f} {units[power]}"


def speed(n: float) -> str:
    """Bytes a second as dd shows them: one decimal up to 99.9."""
    power = 0
    n /= 1000
    while n >= 1000 and power < 4:
        n /= 1000
        power += 1
    unit = ("kB", "MB", "GB", "TB", "PB")[power]
    return f"{n:.1f} {unit}/s" if n < 99.95 else f"{n:.0f} {unit}/s"
