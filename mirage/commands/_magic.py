"""What file(1) 5.46 says about contents: description, MIME type, charset."""
from __future__ import annotations

import re
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[bytes], "Result | None"]

ENCODINGS = {"us-ascii": "ASCII", "utf-8": "Unicode text, UTF-8", "utf-8-bom": "Unicode text, UTF-8 (with BOM)",
             "iso-8859-1": "ISO-8859", "unknown-8bit": "Non-ISO extended-ASCII",
             "utf-16le": "Unicode text, UTF-16, little-endian",
             "utf-16be": "Unicode text, UTF-16, big-endian"}
SHEBANGS = (
    (rb"\S*/(?:env\s+)?bash(?:\s|\Z)", "Bourne-Again shell script", "text/x-shellscript"),
    (rb"\S*/(?:env\s+)?(?:dash|sh)(?:\s|\Z)", "POSIX shell script", "text/x-shellscript"),
    (rb"\S*/(?:env\s+)?zsh(?:\s|\Z)", "Paul Falstad's zsh script", "text/x-shellscript"),
    (rb"\S*/(?:env\s+)?ksh(?:\s|\Z)", "Korn shell script", "text/x-shellscript"),
    (rb"\S*/(?:env\s+)?fish(?:\s|\Z)", "fish shell script", "text/x-shellscript"),
    (rb"\S*/(?:env\s+)?t?csh(?:\s|\Z)", "C shell script", "text/x-shellscript"),
    (rb"\S*/(?:env\s+)?python[0-9.]*(?:\s|\Z)", "Python script", "text/x-script.python"),
    (rb"\S*/(?:env\s+)?perl(?:\s|\Z)", "Perl script", "text/x-perl"),
    (rb"\S*/(?:env\s+)?ruby[0-9.]*(?:\s|\Z)", "Ruby script", "text/x-ruby"),
    (rb"\S*/(?:env\s+)?node(?:js)?(?:\s|\Z)", "Node.js script executable", "application/javascript"),
    (rb"\S*/(?:env\s+)?[gmn]?awk(?:\s|\Z)", "awk script", "text/x-awk"),
    (rb"\S*/(?:env\s+)?php(?:\s|\Z)", "PHP script", "text/x-php"),
    (rb"\S*/(?:env\s+)?lua(?:\s|\Z)", "Lua script", "text/x-lua"),
    (rb"\S*/(?:env\s+)?(?:make)(?:\s|\Z)", "makefile script", "text/x-makefile"),
)
SOURCES: tuple[tuple[bytes, str, str], ...] = (
    (rb"\A\s*<\?php|\A\s*<\?\n", "PHP script", "text/x-php"),
    (rb"\A(?:\xef\xbb\xbf)?\s*<\?xml\s+version=[\"']([0-9.]+)", "XML {} document", "text/xml"),
    (rb"(?i)\A\s*(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html|head|title|body|h1)\b", "HTML document", "text/html"),
    (rb"(?s)\A\s*<svg\b", "SVG Scalable Vector Graphics image", "image/svg+xml"),
    (rb"\A-----BEGIN CERTIFICATE-----", "PEM certificate", "application/x-pem-file"),
    (rb"(?m)^\s*(?:from\s+[\w.]+\s+import\s+\S|import\s+\w+(?:,\s*\w+)*\s*$)(?s:.*)", "Python script",
     "text/x-script.python"),
    (rb"(?m)^(?:\s{0,50}def\s{1,50}[a-zA-Z]\w{0,100}\s{0,50}\(.{0,255}\)\s{0,10}(?:->.{0,50})?:(?:\s|$))",
     "Python script",
     "text/x-script.python"),
    (rb"(?m)^(?:class\s{1,50}\w+(?:.*)?\{|template\s*<|\s*(?:public|private|protected):|namespace\s+\w+\s*\{|using "
     rb"namespace\b)",
     "C++ source", "text/x-c++"),
    (rb"(?m)^\s*#\s*include\b|main\(|^(?:static\s+)?struct\s+\w+\s*\{|^\s*(?:typedef|extern)\s+\w", "C source",
     "text/x-c"),
    (rb"\A\s*\\documentclass|\\usepackage", "LaTeX 2e document", "text/x-tex"),
    (rb"\A\s*\\(?:section|chapter|begin)\b", "LaTeX document", "text/x-tex"),
    (rb"(?m)^\.(?:PHONY|SUFFIXES)\s*:|^(?:all|clean|install)\s*:(?:$|\s)", "makefile script", "text/x-makefile"),
)


class Result:
    """`text` is set for what is printable text; then encoding and line ends are told too."""

    __slots__ = ("charset", "description", "mime")

    def __init__(self, description: str, mime: str, charset: str = "binary") -> None:
        self.description = description
        self.mime = mime
        self.charset = charset


def charset_of(data: bytes) -> str | None:
    """The charset of a text; None where the bytes are no text."""
    if data.startswith(b"\xff\xfe") and len(data) % 2 == 0 and len(data) > 2:
        return "utf-16le"
    if data.startswith(b"\xfe\xff") and len(data) % 2 == 0 and len(data) > 2:
        return "utf-16be"
    data = data.rstrip(b"\0") or b"\0"
    if re.search(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]", data):
        return None
    if data.isascii():
        return "us-ascii"
    try:
        data.decode()
        return "utf-8-bom" if data.startswith(b"\xef\xbb\xbf") else "utf-8"
    except UnicodeDecodeError as e:
        if e.end == len(data) and len(data) >= 1 << 20:
            return "utf-8"
    return "unknown-8bit" if re.search(rb"[\x80-\x84\x86-\x9f]", data) else "iso-8859-1"


def line_notes(data: bytes) -> str:
    """`, with CRLF line terminators` and the like."""
    notes = ""
    longest = max((len(line) for line in data.split(b"\n")), default=0)
    if longest > 300:
        notes += f", with very long lines ({longest})"
    crlf = data.count(b"\r\n")
    cr = data.count(b"\r") - crlf
    lf = data.count(b"\n") - crlf
    if not crlf and not cr and not lf:
        notes += ", with no line terminators"
    elif crlf or cr:
        kinds = [name for name, count in (("CRLF", crlf), ("CR", cr), ("LF", lf)) if count]
        notes += f", with {', '.join(kinds)} line terminators"
    if b"\x1b" in data:
        notes += ", with escape sequences"
    if b"\b" in data:
        notes += ", with overstriking"
    return notes


def identify(data: bytes) -> Result:
    """`data` is the beginning of the contents (a MiB is enough)."""
    if not data:
        return Result("empty", "inode/x-empty")
    if len(data) == 1:
        return Result("very short file (no magic)", "application/octet-stream")
    charset = charset_of(data)
    found = _binary(data)
    if found is not None:
        if charset is not None:
            found.charset = charset
        return found
    if charset is None:
        return Result("data", "application/octet-stream")
    return _text(data if charset.startswith("utf-16") else data.rstrip(b"\0"), charset)


def _text(data: bytes, charset: str) -> Result:
    shown = "utf-8" if charset == "utf-8-bom" else charset
    encoding = ENCODINGS[charset]
    if charset.startswith("utf-16"):
        text = data.decode("utf-16").encode()
        return Result(f"{encoding} text{line_notes(text)}", "text/plain", charset)
    notes = line_notes(data)
    if data.startswith(b"#!"):
        line = data[2:].split(b"\n", 1)[0].strip()
        for pattern, name, mime in SHEBANGS:
            if re.match(pattern, line + b" "):
                if name == "Perl script":
                    return Result("Perl script text executable", mime, shown)
                if name == "Node.js script executable":
                    return Result(f"{name}, {encoding} text{notes}", mime, shown)
                return Result(f"{name}, {encoding} text executable{notes}", mime, shown)
        name = line.decode("utf-8", "replace")
        return Result(f"a {name} script, {encoding} text executable{notes}", "text/plain", shown)
    json = _json(data)
    if json is not None:
        return Result(json[0], json[1], shown)
    special = _special_text(data, encoding, notes, shown)
    if special is not None:
        return special
    for pattern, name, mime in SOURCES:
        found = re.search(pattern, data[:8192])
        if found:
            if "{}" in name:
                name = name.format(found[1].decode())
            executable = " executable" if name == "Python script" else ""
            return Result(f"{name}, {encoding} text{executable}{notes}", mime, shown)
    if _csv(data):
        return Result(f"CSV {encoding} text{notes}", "text/csv", shown)
    return Result(f"{encoding} text{notes}", "text/plain", shown)


def _special_text(data: bytes, encoding: str, notes: str, charset: str) -> Result | None:
    lines = data[:4096].split(b"\n")
    if data.startswith(b"diff ") or data.startswith(b"--- ") and len(lines) > 1 and lines[1].startswith(b"+++ "):
        names = ("1st", "2nd", "3rd")
        parts = [f'{n} line "{line.decode("utf-8", "replace")}"' for n, line in zip(names, lines) if line]
        if not data.startswith(b"diff "):
            parts = parts[:2]
        return Result(", ".join(["unified diff output text", *parts, f"{encoding} text{notes}"]), "text/x-diff",
                      charset)
    if data.startswith(b"From "):
        return Result(f'Mailbox text, 1st line "{lines[0].decode("utf-8", "replace")}"', "application/mbox", charset)
    if re.match(rb"(?:From|Received|Return-Path|Path|Xref|Delivered-To): ", data):
        kind = "SMTP mail" if data.startswith((b"Received:", b"Return-Path:", b"Delivered-To:")) else "news or mail"
        return Result(f"{kind}, {encoding} text{notes}", "message/rfc822", charset)
    if data.startswith(b"BEGIN:VCARD"):
        return Result("vCard visiting card", "text/vcard", charset)
    if data.startswith(b"BEGIN:VCALENDAR"):
        return Result("iCalendar calendar file" + ("" if b"\r\n" in data else ", without CRLF"), "text/calendar",
                      charset)
    if data.startswith((b"ssh-rsa ", b"ssh-ed25519 ")):
        kind = "RSA" if data.startswith(b"ssh-rsa") else "ED25519"
        return Result(f"OpenSSH {kind} public key", "text/x-ssh-public-key", charset)
    return None


def _json(data: bytes) -> tuple[str, str] | None:
    start = data.lstrip()[:1]
    if start not in (b"{", b"["):
        return None
    import json
    try:
        json.loads(data)
        return "JSON text data", "application/json"
    except (ValueError, RecursionError):
        pass
    lines = [line for line in data.split(b"\n") if line.strip()]
    if len(lines) < 2 or start != b"{":
        return None
    try:
        for line in lines[:200]:
            json.loads(line)
    except (ValueError, RecursionError):
        return None
    return "New Line Delimited JSON text data", "application/x-ndjson"


def _csv(data: bytes) -> bool:
    """Ten lines (or all, more than two) with the same number of commas, at least one, quotes honoured."""
    expected = fields = lines = 0
    quoted = False
    for byte in data[:65536]:
        if byte == 34:
            quoted = not quoted
        elif quoted:
            continue
        elif byte == 44:
            fields += 1
        elif byte == 10:
            lines += 1
            if lines == 10:
                return bool(expected) and expected == fields
            if not expected:
                if not fields:
                    return False
                expected = fields
            elif expected != fields:
                return False
            fields = 0
    return bool(expected) and lines > 2


def _binary(data: bytes) -> Result | None:
    for prefix, function in _FORMATS:
        if data.startswith(prefix):
            found = function(data)
            if found is not None:
                return found
    if data[257:262] == b"ustar":
        kind = "POSIX tar archive (GNU)" if data[257:265] == b"ustar  \0" else "POSIX tar archive"
        return Result(kind, "application/x-tar")
    if data[4:8] == b"ftyp":
        return Result("ISO Media, MP4 Base Media v1 [ISO 14496-12:2003]" if data[8:12] == b"isom" else "ISO Media",
                      "video/mp4")
    return None


def _png(data: bytes) -> Result | None:
    if data[12:16] != b"IHDR" or len(data) < 29:
        return None
    width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", data[16:29])
    colors = {0: "grayscale", 2: "color RGB", 3: "colormap", 4: "gray+alpha", 6: "color RGBA"}
    bits = f"{depth}-bit{'/' if color else ' '}{colors.get(color, '')}"
    if color == 0:
        bits = f"{depth}-bit grayscale"
    shape = "interlaced" if interlace else "non-interlaced"
    return Result(f"PNG image data, {width} x {height}, {bits}, {shape}", "image/png")


def _gif(data: bytes) -> Result | None:
    if len(data) < 10:
        return None
    width, height = struct.unpack("<HH", data[6:10])
    return Result(f"GIF image data, version {data[3:6].decode()}, {width} x {height}", "image/gif")


def _jpeg(data: bytes) -> Result | None:
    text = "JPEG image data"
    if data[6:10] == b"JFIF" and len(data) >= 18:
        unit = {0: "aspect ratio", 1: "resolution (DPI)", 2: "resolution (DPCM)"}.get(data[13], "")
        x, y = struct.unpack(">HH", data[14:18])
        length = struct.unpack(">H", data[4:6])[0]
        text += f", JFIF standard {data[11]}.{data[12]:02d}, {unit}, density {x}x{y}, segment length {length}"
        at = 2
        while at + 9 < len(data) and data[at] == 0xFF:
            marker, size = data[at + 1], struct.unpack(">H", data[at + 2:at + 4])[0]
            if marker in (0xC0, 0xC1, 0xC2):
                depth, height, width, parts = struct.unpack(">BHHB", data[at + 4:at + 10])
                kind = {0xC0: "baseline", 0xC1: "extended sequential", 0xC2: "progressive"}[marker]
                text += f", {kind}, precision {depth}, {width}x{height}, components {parts}"
                break
            at += 2 + size
    elif data[6:10] == b"Exif":
        text += ", Exif standard: [TIFF image data]"
    return Result(text, "image/jpeg")


def _gzip(data: bytes) -> Result | None:
    if len(data) < 10:
        return None
    method, flags, mtime, extra, system = struct.unpack("<BBIBB", data[2:10])
    if method != 8:
        return None
    parts = ["gzip compressed data"]
    if flags & 8:
        at = 10 + (2 + struct.unpack("<H", data[10:12])[0] if flags & 4 else 0)
        parts.append(f'was "{data[at:data.find(bytes(1), at)].decode("utf-8", "replace")}"')
    if mtime:
        from datetime import UTC, datetime
        when = datetime.fromtimestamp(mtime, UTC)
        parts.append(f"last modified: {when:%a %b} {when.day:2d} {when:%H:%M:%S %Y}")
    if extra in (2, 4):
        parts.append("max compression" if extra == 2 else "max speed")
    parts.append({0: "from FAT filesystem (MS-DOS, OS/2, NT)", 3: "from Unix", 255: "unknown"}.get(system, "from Unix"))
    size = struct.unpack("<I", data[-4:])[0]
    return Result(", ".join(parts) + f", original size modulo 2^32 {size}", "application/gzip")


def _zip(data: bytes) -> Result | None:
    if len(data) < 30:
        return None
    version, _, method = struct.unpack("<HHH", data[4:10])
    name = data[30:30 + struct.unpack("<H", data[26:28])[0]]
    if name == b"[Content_Types].xml" or name.startswith(b"_rels/"):
        for part, kind, mime in ((b"word/", "Microsoft Word 2007+", "wordprocessingml.document"),
                                 (b"xl/", "Microsoft Excel 2007+", "spreadsheetml.sheet"),
                                 (b"ppt/", "Microsoft PowerPoint 2007+", "presentationml.presentation")):
            if part in data:
                return Result(kind, f"application/vnd.openxmlformats-officedocument.{mime}")
    how = {0: "store", 8: "deflate", 12: "bzip2", 14: "lzma", 93: "zstd"}.get(method, str(method))
    return Result(f"Zip archive data, at least v{version // 10}.{version % 10} to extract, compression method={how}",
                  "application/zip")


def _riff(data: bytes) -> Result | None:
    kind = data[8:12]
    if kind == b"WAVE" and len(data) >= 36:
        form, channels, rate = struct.unpack("<HHI", data[20:28])
        bits = struct.unpack("<H", data[34:36])[0]
        sound = {1: "mono", 2: "stereo"}.get(channels, f"{channels} channels")
        codec = "Microsoft PCM" if form == 1 else f"0x{form:x}"
        return Result(f"RIFF (little-endian) data, WAVE audio, {codec}, {bits} bit, {sound} {rate} Hz", "audio/x-wav")
    if kind == b"WEBP":
        return Result("RIFF (little-endian) data, Web/P image", "image/webp")
    if kind == b"AVI ":
        return Result("RIFF (little-endian) data, AVI", "video/x-msvideo")
    return Result("RIFF (little-endian) data", "application/octet-stream")


def _bmp(data: bytes) -> Result | None:
    if len(data) < 30 or struct.unpack("<I", data[14:18])[0] != 40:
        return None
    size, offset = struct.unpack("<I4xI", data[2:14])
    width, height, _, depth = struct.unpack("<iiHH", data[18:30])
    return Result(f"PC bitmap, Windows 3.x format, {width} x {height} x {depth}, cbSize {size}, bits offset {offset}",
                  "image/bmp")


def _elf(data: bytes) -> Result | None:
    if len(data) < 20:
        return None
    bits = {1: "32-bit", 2: "64-bit"}.get(data[4], "unknown")
    order = "<" if data[5] == 1 else ">"
    kind, machine = struct.unpack(order + "HH", data[16:20])
    kinds = {1: ("relocatable", "x-object"), 2: ("executable", "x-executable"), 3: ("shared object", "x-sharedlib"),
             4: ("core file", "x-coredump")}
    name, mime = kinds.get(kind, ("unknown", "x-executable"))
    cpu = {3: "Intel i386", 62: "x86-64", 183: "ARM aarch64", 40: "ARM"}.get(machine, f"machine {machine}")
    end = "LSB" if order == "<" else "MSB"
    return Result(f"ELF {bits} {end} {name}, {cpu}, version 1 (SYSV)", f"application/{mime}")


def _sqlite(data: bytes) -> Result | None:
    if len(data) < 100 or data[21:24] != b"\x40\x20\x20":
        return None
    counter, pages = struct.unpack(">II", data[24:32])
    cookie, schema = struct.unpack(">II", data[40:48])
    encoding = {1: "UTF-8", 2: "UTF-16 little endian", 3: "UTF-16 big endian"}.get(struct.unpack(">I",
        data[56:60])[0], "")
    valid, version = struct.unpack(">II", data[92:100])
    return Result(f"SQLite 3.x database, last written using SQLite version {version}, file counter {counter}, "
                  f"database pages {pages}, cookie 0x{cookie:x}, schema {schema}, {encoding}, version-valid-for "
                  f"{valid}",
                  "application/vnd.sqlite3")


def _pdf(data: bytes) -> Result | None:
    found = re.match(rb"%PDF-([0-9]\.[0-9])", data)
    if not found:
        return None
    pages = re.search(rb"/Type\s*/Pages\b[^>]*?/Count\s+([0-9]+)", data)
    tail = f", {int(pages[1])} page(s)" if pages else ""
    return Result(f"PDF document, version {found[1].decode()}{tail}", "application/pdf")


def _fixed(description: str, mime: str) -> Reader:
    return lambda data: Result(description, mime)


_FORMATS: tuple[tuple[bytes, Reader], ...] = (
    (b"\x89PNG\r\n\x1a\n", _png), (b"GIF8", _gif), (b"\xff\xd8\xff", _jpeg), (b"\x1f\x8b", _gzip),
    (b"PK\x03\x04", _zip),
    (b"PK\x05\x06", _fixed("Zip archive data (empty)", "application/zip")), (b"RIFF", _riff), (b"BM", _bmp),
    (b"\x7fELF", _elf), (b"SQLite format 3\0", _sqlite), (b"%PDF-", _pdf),
    (b"BZh", lambda d: Result(f"bzip2 compressed data, block size = {chr(d[3])}00k", "application/x-bzip2")
     if len(d) > 3 and 49 <= d[3] <= 57 else None),
    (b"\xfd7zXZ\0", lambda d: Result("XZ compressed data, checksum "
                                     + {0: "NONE", 1: "CRC32", 4: "CRC64", 10: "SHA-256"}.get(d[7] if len(d) > 7 else
                                         -1, "")
                                     .strip(), "application/x-xz")),
    (b"\x28\xb5\x2f\xfd", _fixed("Zstandard compressed data (v0.8+), Dictionary ID: None", "application/zstd")),
    (b"\x1f\x9d", _fixed("compress'd data 16 bits", "application/x-compress")),
    (b"7z\xbc\xaf\x27\x1c", lambda d: Result(f"7-zip archive data, version {d[6]}.{d[7]}",
                                             "application/x-7z-compressed")
     if len(d) > 7 else None),
    (b"Rar!\x1a\x07", _fixed("RAR archive data", "application/x-rar")),
    (b"ID3", lambda d: Result(f"Audio file with ID3 version 2.{d[3]}.{d[4]}", "audio/mpeg") if len(d) > 9 else
     Result(f"Audio file with ID3 version 2.{d[3]}.{d[4]}", "application/octet-stream") if len(d) > 4 else None),
    (b"OggS", _fixed("Ogg data", "application/ogg")), (b"fLaC", _fixed("FLAC audio bitstream data", "audio/flac")),
    (b"\0asm", _fixed("WebAssembly (wasm) binary module version 0x1 (MVP)", "application/wasm")),
    (b"\xca\xfe\xba\xbe", lambda d: Result(f"compiled Java class data, version {int.from_bytes(d[6:8], 'big')}."
                                           f"{int.from_bytes(d[4:6], 'big')}", "application/x-java-applet")
     if len(d) > 8 and d[7] > 40 else None),
    (b"{\\rtf1", lambda d: Result("Rich Text Format data, version 1" + (", ANSI" if b"\\ansi" in d[:64] else ""),
                                  "text/rtf")),
    (b"%!PS-Adobe-", lambda d: Result(f"PostScript document text conforming DSC level "
                                      f"{d[11:14].decode('latin-1').strip()}", "application/postscript")),
    (b"II*\0", _fixed("TIFF image data, little-endian", "image/tiff")),
    (b"MM\0*", _fixed("TIFF image data, big-endian", "image/tiff")),
    (b"\0\0\1\0", _fixed("MS Windows icon resource", "image/vnd.microsoft.icon")),
    (b"\xd0\xcf\x11\xe0", _fixed("Composite Document File V2 Document", "application/x-ole-storage")),
)
