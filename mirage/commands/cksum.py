"""cksum: CRC checksums, or the digest that -a names."""
from __future__ import annotations

from mirage.commands import _digest
from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import Inputs, chunks, encode
from mirage.commands._text import choice, fatal, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("a:bctwzl:", {
    **_digest.LONG, "algorithm": ("a", REQUIRED), "base64": ("base64", NONE), "length": ("l", REQUIRED),
    "raw": ("raw", NONE), "untagged": ("untagged", NONE), "debug": ("debug", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\nPrint or verify checksums.\n")

ALGORITHMS = (("bsd",), ("sysv",), ("crc",), ("crc32b",), ("md5",), ("sha1",), ("sha224",), ("sha256",), ("sha384",),
              ("sha512",), ("blake2b",), ("sm3",))
LABELS = {"md5": "MD5", "sha1": "SHA1", "sha224": "SHA224", "sha256": "SHA256", "sha384": "SHA384", "sha512": "SHA512",
          "blake2b": "BLAKE2b", "sm3": "SM3"}
_table: list[int] = []


def _crc_table() -> list[int]:
    if not _table:
        for byte in range(256):
            value = byte << 24
            for _ in range(8):
                value = (value << 1 ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
            _table.append(value)
    return _table


def crc(proc: Process, file: OpenFile) -> tuple[int, int]:
    """(POSIX CRC, length): the CRC of zlib over reflected bytes gives the same polynomial."""
    import zlib
    flip = bytes(int(f"{b:08b}"[::-1], 2) for b in range(256))
    size, state = 0, 0xFFFFFFFF
    for data in chunks(proc, file):
        size += len(data)
        state = zlib.crc32(data.translate(flip), state)
    state ^= 0xFFFFFFFF
    value = int(f"{state:032b}"[::-1], 2)
    table, length = _crc_table(), size
    while length:
        value = (value << 8 ^ table[(value >> 24) ^ (length & 0xFF)]) & 0xFFFFFFFF
        length >>= 8
    return value ^ 0xFFFFFFFF, size


def crc32b(proc: Process, file: OpenFile) -> tuple[int, int]:
    import zlib
    size, state = 0, 0
    for data in chunks(proc, file):
        size += len(data)
        state = zlib.crc32(data, state)
    return state, size


def bsd(proc: Process, file: OpenFile) -> tuple[int, int]:
    value = size = 0
    for data in chunks(proc, file, 65536):
        size += len(data)
        for byte in data:
            value = ((value >> 1) + ((value & 1) << 15) + byte) & 0xFFFF
    return value, size


def sysv(proc: Process, file: OpenFile) -> tuple[int, int]:
    total = size = 0
    for data in chunks(proc, file):
        size += len(data)
        total += sum(data)
    total &= 0xFFFFFFFF
    folded = (total & 0xFFFF) + (total >> 16)
    return (folded & 0xFFFF) + (folded >> 16), size


LEGACY = {"crc": crc, "crc32b": crc32b, "bsd": bsd, "sysv": sysv}


def show_legacy(algorithm: str, value: int, size: int, name: str | None) -> str:
    if algorithm == "bsd":
        text = f"{value:05d} {-(-size // 1024):5d}"
    elif algorithm == "sysv":
        text = f"{value} {-(-size // 512)}"
    else:
        text = f"{value} {size}"
    return text if name is None else f"{text} {name}"


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    o = _digest.Options()
    algorithm, untagged, raw, base64, explicit = "crc", False, False, False, False
    for key, value in options:
        if key == "a":
            algorithm, explicit = choice(proc, SPEC, "--algorithm", value, ALGORITHMS), True
        elif key == "untagged":
            untagged = True
        elif key == "tag":
            untagged = False
        elif key == "raw":
            raw = True
        elif key == "base64":
            base64 = True
        elif key == "l":
            if not value.isdecimal():
                raise fatal(proc, f"invalid length: {quote(proc, value)}")
            o.bits = int(value)
        elif key == "z":
            o.end = b"\0"
        elif key in ("b", "t"):
            o.binary = key == "b"
        if key not in ("b", "t", "tag", "l", "a"):
            o.flags.add(key)
    if o.bits and algorithm != "blake2b":
        raise fatal(proc, "--length is only supported with --algorithm=blake2b")
    if "c" in o.flags and algorithm in LEGACY and explicit:
        raise fatal(proc, "--check is not supported with --algorithm={bsd,sysv,crc,crc32b}")
    _digest.check_flags(proc, SPEC, o)
    if "c" in o.flags:
        return _check(proc, o, algorithm if explicit else None, operands)
    if raw and len(operands) > 1:
        raise fatal(proc, "the --raw option is not supported with multiple files")
    o.algorithm, o.label = algorithm, LABELS.get(algorithm, "")
    if not untagged:
        o.flags.add("tag")
    inputs = Inputs(proc, operands)
    for name, file in inputs:
        try:
            _one(proc, o, algorithm, name if operands else None, file, raw, base64)
        except OSError as e:
            inputs.fail(shell_quote(name), e)
    return inputs.status


def _one(proc: Process, o: _digest.Options, algorithm: str, name: str | None, file: OpenFile, raw: bool,
         base64: bool) -> None:
    if algorithm in LEGACY:
        value, size = LEGACY[algorithm](proc, file)
        if raw:
            proc.stdout.write(value.to_bytes(2 if algorithm in ("bsd", "sysv") else 4, "big"))
        else:
            proc.stdout.write(encode(show_legacy(algorithm, value, size, name)) + o.end)
        return
    text = _digest.digest(proc, file, algorithm, o.bits)
    if raw:
        proc.stdout.write(bytes.fromhex(text))
        return
    if base64:
        import binascii
        text = binascii.b2a_base64(bytes.fromhex(text), newline=False).decode()
    proc.stdout.write(encode(_digest.line(o, name if name is not None else "-", text)) + o.end)


def _check(proc: Process, o: _digest.Options, algorithm: str | None, operands: list[str]) -> int:
    """With -a that algorithm, else what each tagged line names."""
    if algorithm is not None:
        o.algorithm, o.label = algorithm, LABELS[algorithm]
        return _digest.check(proc, o, operands)
    o.algorithm, o.label = "any", ""
    return _digest.check(proc, o, operands)
