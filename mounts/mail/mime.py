"""RFC 5322 messages, and the BODYSTRUCTURE of IMAP, in the form that mirage.mounts.mail.message reads."""
from __future__ import annotations

import email
from email.utils import collapse_rfc2231_value, decode_rfc2231
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from email.message import Message

    Part = dict[str, Any]

HEADERS = ("SUBJECT", "FROM", "TO", "CC", "BCC", "REPLY-TO", "MESSAGE-ID", "REFERENCES", "IN-REPLY-TO")


def from_bytes(data: bytes) -> Part:
    """The payload of a message with the decoded content of every part; part numbers as IMAP counts."""
    return _part(email.message_from_bytes(data), "")


def headers_of(data: bytes) -> list[dict[str, str]]:
    """The header lines as they stand, without folding; bytes above 127 as UTF-8 or else Latin-1."""
    return _headers(email.message_from_bytes(data))


def _headers(message: Message) -> list[dict[str, str]]:
    return [{"name": name, "value": "".join(_text(str(value)).splitlines())} for name, value in message.raw_items()]


def _text(value: str) -> str:
    """A header's text; the parser keeps bytes above 127 as surrogates."""
    data = value.encode("utf-8", "surrogateescape")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _part(message: Message, number: str) -> Part:
    kind = message.get_content_type()
    part: Part = {"partId": number or "0", "mimeType": kind, "headers": _headers(message), "filename": "", "body": {}}
    if message.is_multipart() and kind.startswith("multipart/"):
        inner = [m for m in message.get_payload() if not isinstance(m, str)]
        part["parts"] = [_part(m, f"{number}.{n}".lstrip(".")) for n, m in enumerate(inner, 1)]
        return part
    part["partId"] = number or "1"
    part["filename"] = _filename(message.get_filename(""), kind)
    content = _content(message)
    if kind.startswith("text/") and not part["filename"]:
        content = unicode_text(content, message.get_content_charset("")).encode("utf-8", "replace")
    part["body"] = _body(part, len(content), content)
    return part


def _content(message: Message) -> bytes:
    if message.is_multipart():                               # message/rfc822: the message itself
        inner = message.get_payload()
        return b"".join(m.as_bytes() for m in inner if not isinstance(m, str)) if isinstance(inner, list) else b""
    data = message.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _filename(name: str, kind: str) -> str:
    return name or ("message.eml" if kind == "message/rfc822" else "")


def _body(part: Part, size: int | None, content: bytes | None = None) -> Part:
    """Files, and what is neither text nor named, have an id: the number of the part."""
    body: Part = {"size": size}
    if part["filename"] or not part["mimeType"].startswith("text/"):
        body["attachmentId"] = part["partId"]
    if content is not None:
        body["content"] = content
    return body


def decoded_part(data: bytes, encoding: str) -> bytes:
    """The content of a part without its transfer encoding."""
    from email.message import Message
    part = Message()
    part["Content-Transfer-Encoding"] = encoding or "8bit"
    part.set_payload(data.decode("ascii", "surrogateescape"))
    return _content(part)


def unicode_text(data: bytes, charset: str) -> str:
    """Text in the charset that is declared; UTF-8 or Latin-1 where that cannot be."""
    for name in (charset, "utf-8"):
        try:
            if name:
                return data.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("latin-1")


# ---- BODYSTRUCTURE

def from_structure(body: Any, headers: bytes) -> Part:
    """The payload of a message whose contents were not fetched: sizes of files are not known (None)."""
    part = _structure(body, "")
    part["headers"] = headers_of(headers)
    return part


def _structure(body: Any, number: str) -> Part:
    if isinstance(body[0], list):
        kind = f"multipart/{_word(body[1])}"
        parts = [_structure(b, f"{number}.{n}".lstrip(".")) for n, b in enumerate(body[0], 1)]
        return {"partId": number or "0", "mimeType": kind, "headers": [], "filename": "", "body": {}, "parts": parts}
    kind = f"{_word(body[0])}/{_word(body[1])}"
    extra = {"text": 8, "message": 10 if kind == "message/rfc822" else 7}.get(_word(body[0]), 7)
    given = _disposition(body[extra + 1] if len(body) > extra + 1 else None)
    own = _parameters(body[2])
    name = _filename(given.get("filename") or own.get("name", ""), kind)
    part: Part = {"partId": number or "1", "mimeType": kind, "headers": [], "filename": name,
                  "encoding": _word(body[5]), "charset": own.get("charset", "")}
    part["body"] = _body(part, None)
    return part


def _word(value: Any) -> str:
    return value.decode("ascii", "replace").lower() if isinstance(value, bytes) else ""


def _disposition(value: Any) -> dict[str, str]:
    """The parameters of a disposition: (kind, (name, value, ...)), or the header's text as some servers have it."""
    if isinstance(value, tuple):
        return _parameters(value[1]) if len(value) > 1 else {}
    if not isinstance(value, bytes):
        return {}
    text = value.decode("utf-8", "surrogateescape")
    header = email.message_from_string(f"Content-Disposition: {text}\n\n")
    return {"filename": _text(name)} if (name := header.get_filename("")) else {}


def _parameters(pairs: Any) -> dict[str, str]:
    """Names and values; continuations (`filename*0*`) put together and decoded (RFC 2231)."""
    if not isinstance(pairs, tuple):
        return {}
    found: dict[str, str] = {}
    pieces: dict[str, list[tuple[int, str, bool]]] = {}
    for key, value in zip(pairs[::2], pairs[1::2], strict=False):
        name, text = _word(key), value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
        base, *rest = name.rstrip("*").split("*")
        if name.endswith("*") or rest:
            number = int(rest[0]) if rest and rest[0].isdigit() else 0
            pieces.setdefault(base, []).append((number, text, name.endswith("*")))
        else:
            found[name] = text
    for base, several in pieces.items():
        text = "".join(piece for _, piece, _ in sorted(several))
        encoded = any(mark for _, _, mark in several)
        found[base] = collapse_rfc2231_value(_percent(decode_rfc2231(text))) if encoded else text
    return found


def _percent(value: Any) -> Any:
    from urllib.parse import unquote
    charset, language, text = value
    return (charset, language, unquote(text, encoding="latin-1"))
