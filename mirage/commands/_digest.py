"""md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum: make and check digests of files."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import Inputs, chunks, decode, encode, open_input, read_operand
from mirage.commands._text import fatal, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

LONG = {"binary": ("b", NONE), "check": ("c", NONE), "ignore-missing": ("ignore", NONE), "quiet": ("quiet", NONE),
        "status": ("status", NONE), "text": ("t", NONE), "warn": ("w", NONE), "strict": ("strict", NONE),
        "tag": ("tag", NONE), "zero": ("z", NONE)}
HELP = ("Usage: NAME [OPTION]... [FILE]...\nPrint or check checksums.\n")
SPEC = Spec("bctwz", LONG, help=HELP)
SPEC_B2 = Spec("bctwzl:", {**LONG, "length": ("l", REQUIRED)}, help=HELP)
ALGORITHMS = {"md5sum": ("md5", "MD5"), "sha1sum": ("sha1", "SHA1"), "sha224sum": ("sha224", "SHA224"),
              "sha256sum": ("sha256", "SHA256"), "sha384sum": ("sha384", "SHA384"), "sha512sum": ("sha512", "SHA512"),
              "b2sum": ("blake2b", "BLAKE2b")}
_LINE = re.compile(rb"[ \t]*(\\?)([0-9a-fA-F]+) ([ *])(.+)\Z", re.DOTALL)
_TAGGED = re.compile(rb"[ \t]*(\\?)([A-Za-z0-9-]+) ?\((.+)\) ?= ?([0-9a-fA-F]+|[A-Za-z0-9+/]+=*)\Z", re.DOTALL)


class Options:
    def __init__(self) -> None:
        self.algorithm = "md5"
        self.label = "MD5"
        self.bits = 0
        self.flags: set[str] = set()
        self.binary = False
        self.end = b"\n"


def new_hash(algorithm: str, bits: int = 0) -> Any:
    import hashlib
    if algorithm == "blake2b":
        return hashlib.blake2b(digest_size=(bits or 512) // 8)
    return hashlib.new(algorithm, usedforsecurity=False)


def digest(proc: Process, file: OpenFile, algorithm: str, bits: int = 0) -> str:
    """The hexadecimal digest of the rest of an open file."""
    state = new_hash(algorithm, bits)
    for data in chunks(proc, file):
        state.update(data)
    text: str = state.hexdigest()
    return text


def escape(name: str) -> tuple[str, str]:
    """("\\\\" or "", name) with newlines, carriage returns and backslashes escaped as GNU does."""
    if "\\" in name or "\n" in name or "\r" in name:
        return "\\", name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return "", name


def main(proc: Process) -> int:
    o = Options()
    name = proc.name
    o.algorithm, o.label = ALGORITHMS.get(name, ALGORITHMS["md5sum"])
    spec = SPEC_B2 if name == "b2sum" else SPEC
    options, operands = parse(proc, spec)
    for key, value in options:
        if key in "bt" and len(key) == 1:
            o.binary = key == "b"
        elif key == "l":
            if not value.isdecimal():
                raise fatal(proc, f"invalid length: {quote(proc, value)}")
            o.bits = int(value)
            if o.bits > 512:
                proc.message(f"invalid length: {quote(proc, value)}")
                raise fatal(proc, f"maximum digest length for {quote(proc, 'BLAKE2b')} is 512 bits")
            if o.bits % 8:
                proc.message(f"invalid length: {quote(proc, value)}")
                raise fatal(proc, "length is not a multiple of 8")
        elif key == "z":
            o.end = b"\0"
        if key not in ("l",):
            o.flags.add(key)
    check_flags(proc, spec, o)
    if "c" in o.flags:
        return check(proc, o, operands)
    inputs = Inputs(proc, operands)
    for file_name, file in inputs:
        try:
            text = digest(proc, file, o.algorithm, o.bits)
        except OSError as e:
            inputs.fail(shell_quote(file_name), e)
            continue
        proc.stdout.write(encode(line(o, file_name, text)) + o.end)
    return inputs.status


def check_flags(proc: Process, spec: Spec, o: Options) -> None:
    flags = o.flags
    if "tag" in flags and "t" in flags and not o.binary:
        raise usage_error(proc, spec, "--tag does not support --text mode")
    if "c" in flags:
        if "tag" in flags:
            raise usage_error(proc, spec, "the --tag option is meaningless when verifying checksums")
        if "z" in flags:
            raise usage_error(proc, spec, "the --zero option is not supported when verifying checksums")
        if flags & {"b", "t"}:
            raise usage_error(proc, spec, "the --binary and --text options are meaningless when verifying checksums")
    else:
        for flag, option in (("ignore", "ignore-missing"), ("status", "status"), ("w", "warn"), ("quiet", "quiet"),
                             ("strict", "strict")):
            if flag in flags:
                raise usage_error(proc, spec, f"the --{option} option is meaningful only when verifying checksums")


def line(o: Options, name: str, text: str) -> str:
    mark, shown = escape(name) if o.end == b"\n" else ("", name)
    if "tag" in o.flags:
        label = o.label + (f"-{o.bits}" if o.bits and o.bits != 512 else "")
        return f"{mark}{label} ({shown}) = {text}"
    return f"{mark}{text} {'*' if o.binary else ' '}{shown}"


class Checker:
    """State of one -c run."""

    def __init__(self, proc: Process, o: Options) -> None:
        self.proc = proc
        self.o = o
        self.reset()
        self.status = 0

    def reset(self) -> None:
        self.right = self.malformed = self.mismatched = self.unreadable = self.checked = 0


def _unescape(name: bytes) -> bytes:
    return re.sub(rb"\\(.)", lambda m: {b"n": b"\n", b"r": b"\r", b"\\": b"\\"}.get(m[1], m[0]), name, flags=re.DOTALL)


def split_line(o: Options, raw: bytes) -> tuple[str, bytes, int, str] | None:
    """(digest, file name, bits, algorithm) of a line of a checksum file; None for another kind of line."""
    tagged = _TAGGED.match(raw)
    if o.algorithm == "any":
        label = tagged[2].decode().partition("-")[0] if tagged else ""
        known = next((pair for pair in ALGORITHMS.values() if pair[1] == label), None)
        if known is None:
            return None
        o = Options()
        o.algorithm, o.label = known
    size = (o.bits or new_hash(o.algorithm).digest_size * 8) // 4
    if tagged:
        label, _, bits_text = tagged[2].decode().partition("-")
        if label != o.label:
            return None
        bits = int(bits_text) if bits_text.isdecimal() else o.bits
        name = _unescape(tagged[3]) if tagged[1] else tagged[3]
        want = bits // 4 if bits else size
        text = tagged[4].decode()
        if len(text) != want:
            import base64
            try:
                text = base64.b64decode(text, validate=True).hex()
            except ValueError:
                return None
        return (text.lower(), name, bits, o.algorithm) if len(text) == want else None
    found = _LINE.match(raw)
    if not found or len(found[2]) != size and not (o.algorithm == "blake2b" and len(found[2]) % 2 == 0
                                                   and len(found[2]) <= 128):
        return None
    bits = len(found[2]) * 4 if o.algorithm == "blake2b" else 0
    name = _unescape(found[4]) if found[1] else found[4]
    return found[2].decode().lower(), name, bits, o.algorithm


def check(proc: Process, o: Options, operands: list[str]) -> int:
    checker = Checker(proc, o)
    for name in operands or ["-"]:
        checker.reset()
        _check_file(proc, checker, name)
    return checker.status


def _check_file(proc: Process, c: Checker, name: str) -> None:
    o, flags = c.o, c.o.flags
    label = "standard input" if name == "-" else name
    try:
        data = read_operand(proc, name)
    except OSError as e:
        proc.stdout.flush()
        proc.fail(shell_quote(name), e)
        c.status = 1
        return
    for number, raw in enumerate(data.split(b"\n"), 1):
        raw = raw.removesuffix(b"\r")
        if not raw or raw.startswith(b"#"):
            continue
        parts = split_line(o, raw)
        if parts is None:
            c.malformed += 1
            if "w" in flags:
                proc.stdout.flush()
                proc.message(f"{shell_quote(label)}: {number}: improperly formatted {o.label} checksum line")
            continue
        c.checked += 1
        _check_line(proc, c, *parts)
        proc.check()
    proc.stdout.flush()
    _summary(proc, c, label)


def _check_line(proc: Process, c: Checker, want: str, raw_name: bytes, bits: int, algorithm: str) -> None:
    flags, name = c.o.flags, decode(raw_name)
    mark, shown = escape(name)
    try:
        file = open_input(proc, name)
        file.incref()
        try:
            got = digest(proc, file, algorithm, bits)
        finally:
            file.decref()
    except OSError as e:
        if "ignore" in flags and isinstance(e, FileNotFoundError):
            return
        proc.stdout.flush()
        proc.fail(shell_quote(name), e)
        c.unreadable += 1
        if "status" not in flags:
            proc.stdout.write(encode(f"{mark}{shown}: FAILED open or read\n"))
        return
    if got == want:
        c.right += 1
        if not flags & {"status", "quiet"}:
            proc.stdout.write(encode(f"{mark}{shown}: OK\n"))
    else:
        c.mismatched += 1
        if "status" not in flags:
            proc.stdout.write(encode(f"{mark}{shown}: FAILED\n"))


def _summary(proc: Process, c: Checker, label: str) -> None:
    flags = c.o.flags
    if not c.checked:
        proc.message(f"{shell_quote(label)}: no properly formatted checksum lines found")
        c.status = 1
        return
    if "status" not in flags:
        for count, one, many in (
                (c.malformed, "line is improperly formatted", "lines are improperly formatted"),
                (c.unreadable, "listed file could not be read", "listed files could not be read"),
                (c.mismatched, "computed checksum did NOT match", "computed checksums did NOT match")):
            if count:
                proc.message(f"WARNING: {count} {one if count == 1 else many}")
        if "ignore" in flags and not c.right and not c.mismatched:
            proc.message(f"{shell_quote(label)}: no file was verified")
    if c.mismatched or c.unreadable or "strict" in flags and c.malformed or "ignore" in flags and not c.right:
        c.status = 1
