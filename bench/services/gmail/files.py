"""Attachments, made when somebody asks for them; the same arguments give the same bytes."""
from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib

COURSES = ("Safe work at height", "Firmware testing", "Calibration of anemometers", "Statistics for engineers",
           "Technical English", "First aid", "Negotiation", "Radio certification", "Project planning")


def pdf(title: str, text: str) -> bytes:
    """A PDF of one page."""
    lines = "".join(f"({_escape(line)}) Tj T*\n" for line in [title, "", *text.split("\n")])
    stream = f"BT /F1 11 Tf 14 TL 56 780 Td\n{lines}ET".encode("cp1252", "replace")
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
               b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
               b"/Resources << /Font << /F1 5 0 R >> >> >>",
               b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
               b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        table, len(out))


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def csv_lines(number: str, item: str, amount: float) -> bytes:
    half = round(amount / 2, 2)
    return (f"invoice,position,description,net\n{number},1,{item},{half:.2f}\n"
            f"{number},2,\"freight, insurance\",{amount - half:.2f}\n").encode()


def png(number: int) -> bytes:
    """A small picture of one colour."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    row = b"\0" + bytes((number * 37 % 256, 90, 160)) * 32
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(row * 32)) + chunk(b"IEND", b""))


def _archive(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text)
    return out.getvalue()


def docx(name: str) -> bytes:
    """A word-processor document of two paragraphs."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    text = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in (f"Curriculum vitae of {name}", "Ten years of sensors."))
    return _archive({
        "[Content_Types].xml": '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main'
        '+xml"/></Types>',
        "_rels/.rels": '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<?xml version="1.0" encoding="UTF-8"?><w:document {space}><w:body>{text}</w:body></w:document>'})


def zipped(name: str) -> bytes:
    return _archive({"diploma.txt": f"Diploma of {name}\n", "reference.txt": "Always on time.\n"})


def calendar(title: str) -> bytes:
    return (f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Norrsken//EN\r\nBEGIN:VEVENT\r\nUID:apollo-review@norrsken.example\r\n"
            f"DTSTAMP:20260920T090000Z\r\nDTSTART:20261001T100000Z\r\nDTEND:20261001T110000Z\r\nSUMMARY:{title}\r\nEND:VEVENT\r\n"
            "END:VCALENDAR\r\n").encode()


def schedule() -> bytes:
    """27 courses as a Markdown table."""
    rows = "".join(f"| {COURSES[n % 9]}-{n // 9 + 1} | 2026-{10 + n // 9:02d}-{n % 9 * 3 + 2:02d} | {9 + n % 3}:00 | "
                   f"Room {101 + n % 5} | {12 - n % 4} |\n" for n in range(27))
    return ("# Course schedule, autumn 2026\n\n| Course | Date | Time | Room | Seats |\n|---|---|---|---|---|\n" + rows).encode()


def big(size: int) -> bytes:
    """`size` bytes that do not compress."""
    return hashlib.shake_128(b"drone footage").digest(size)
