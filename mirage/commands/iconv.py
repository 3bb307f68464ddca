"""iconv: convert text from one encoding to another."""
from __future__ import annotations

import codecs
import os

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import open_input, read_all
from mirage.commands._text import quote
from mirage.text.regex import utf8_locale

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("f:t:co:sl", {
    "from-code": ("f", REQUIRED), "to-code": ("t", REQUIRED), "output": ("o", REQUIRED), "silent": ("s", NONE),
    "list": ("l", NONE), "verbose": ("verbose", NONE)},
    help="Usage: iconv [OPTION...] [FILE...]\nConvert encoding of given files from one encoding to another.\n")

C_LATIN = ("\xa0\xa9\xab\xae\xb5\xb8\xbb\xbc\xbd\xbe\xc6\xd7\xdf\xe6\u0132\u0133\u0149\u0152\u0153\u017f\u01c7\u01c8"
           "\u01c9\u01ca\u01cb\u01cc\u01f1\u01f2\u01f3\u02bc\u02c6\u02c8\u02cb\u02cd\u02d0\u02dc")
NAMES = ("ASCII", "BIG5", "CP437", "CP850", "CP1250", "CP1251", "CP1252", "EUC-JP", "EUC-KR", "GB18030", "GBK",
         "ISO-8859-1", "ISO-8859-2", "ISO-8859-5", "ISO-8859-15", "KOI8-R", "SHIFT_JIS", "UTF-7", "UTF-8", "UTF-16",
         "UTF-16BE", "UTF-16LE", "UTF-32", "UTF-32BE", "UTF-32LE")
SPELLINGS = {"utf8": "utf-8", "utf16le": "utf-16-le", "utf16be": "utf-16-be", "utf32le": "utf-32-le",
             "utf32be": "utf-32-be", "iso88591": "iso-8859-1",
             "ucs-2": "utf-16", "ucs-4": "utf-32-be", "latin1": "iso-8859-1", "l1": "iso-8859-1",
             "ansi_x3.4-1968": "ascii", "us-ascii": "ascii", "unicode": "utf-16"}


def _codec(name: str) -> codecs.CodecInfo | None:
    plain = name.partition("//")[0].lower() or "utf-8"
    try:
        found = codecs.lookup(SPELLINGS.get(plain, plain))
    except (LookupError, ValueError):
        return None
    text_codec: bool = getattr(found, "_is_text_encoding", True)
    return found if text_codec else None


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    values = dict(options)
    if "l" in values:
        proc.stdout.write("".join(f"{name}//\n" for name in NAMES).encode())
        return 0
    source, target = values.get("f", "UTF-8"), values.get("t", "UTF-8")
    decoder, encoder = _codec(source), _codec(target)
    if decoder is None or encoder is None:
        if decoder is None and encoder is None:
            proc.message(f"conversions from {quote(proc, source)} and to {quote(proc, target)} are not supported")
        elif decoder is None:
            proc.message(f"conversion from {quote(proc, source)} is not supported")
        else:
            proc.message(f"conversion to {quote(proc, target)} is not supported")
        proc.write_error("Try 'iconv --help' or 'iconv --usage' for more information.\n")
        return 1
    if "o" in values:
        try:
            proc.install(1, proc.open(values["o"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
        except OSError as e:
            proc.message(f"unable to open output file: {e.strerror}")
            return 1
    status = 0
    for name in operands or ["-"]:
        try:
            file = open_input(proc, name).incref()
        except OSError as e:
            proc.fail(f"cannot open input file {quote(proc, name)}", e)
            status = 1
            continue
        try:
            data = read_all(proc, file)
        finally:
            file.decref()
        status = max(status, _convert(proc, data, decoder, encoder, target, "c" in values))
    return status


def _convert(proc: Process, data: bytes, decoder: codecs.CodecInfo, encoder: codecs.CodecInfo, target: str,
             skip: bool) -> int:
    status = 0
    try:
        text = decoder.decode(data)[0]
    except UnicodeDecodeError as e:
        if not skip:
            text = decoder.decode(data[:e.start])[0]
            proc.stdout.write(encoder.encode(text, "ignore")[0])
            proc.stdout.flush()
            incomplete = e.end == len(data) and "end" in e.reason
            proc.message("incomplete character or shift sequence at end of buffer" if incomplete
                         else f"illegal input sequence at position {e.start}")
            return 1
        text, status = decoder.decode(data, "ignore")[0], 1
    if "//TRANSLIT" in target.upper():
        text = _transliterated(text, encoder, utf8_locale(proc.env))
    elif "//IGNORE" in target.upper() or skip:
        kept = encoder.encode(text, "ignore")[0]
        lossy = decoder.decode(data, "ignore")[0] != encoder.decode(kept, "ignore")[0]
        proc.stdout.write(kept)
        return 1 if lossy and not skip else status
    try:
        proc.stdout.write(encoder.encode(text)[0])
    except UnicodeEncodeError as e:
        proc.stdout.write(encoder.encode(text[:e.start])[0])
        proc.stdout.flush()
        proc.message(f"illegal input sequence at position {len(decoder.encode(text[:e.start])[0])}")
        return 1
    return status


def _transliterated(text: str, encoder: codecs.CodecInfo, letters: bool) -> str:
    """`letters`: a locale with a table for letters with accents; the C locale's table has only `C_LATIN`."""
    from mirage.text.transliteration import replacement
    out = []
    for char in text:
        try:
            encoder.encode(char)
            out.append(char)
        except UnicodeEncodeError:
            known = letters or char >= "\u0370" or char in C_LATIN
            out.append(replacement(char) if known else "?")
    return "".join(out)
