"""Messages as trees of MIME parts: from RFC 5322 bytes and back, and as the payload of the Gmail API."""
from __future__ import annotations

import base64
from email import message_from_bytes
from email.generator import BytesGenerator
from email.header import Header, decode_header, make_header
from email.message import Message
from email.mime.base import MIMEBase
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Headers = list[tuple[str, str]]


class Part:
    """One MIME part. `make` gives the content, decoded from its transfer encoding; `parts` of a multipart."""

    __slots__ = ("_size", "filename", "headers", "make", "mime_type", "parts")

    def __init__(self, mime_type: str, make: Callable[[], bytes] | None = None, filename: str = "",
                 parts: list[Part] | None = None, headers: Headers | None = None) -> None:
        self.mime_type = mime_type
        self.make = make
        self.filename = filename
        self.parts = parts or []
        self.headers = headers
        self._size: int | None = None

    @property
    def content(self) -> bytes:
        return self.make() if self.make is not None else b""

    @property
    def size(self) -> int:
        if self._size is None:
            self._size = len(self.content)
        return self._size

    def own_headers(self) -> Headers:
        """The part's MIME headers."""
        if self.headers is not None:
            return self.headers
        if self.parts:
            return [("Content-Type", f'{self.mime_type}; boundary="=_mirage"')]
        if self.filename:
            return [("Content-Type", f'{self.mime_type}; name="{self.filename}"'),
                    ("Content-Disposition", f'attachment; filename="{self.filename}"'),
                    ("Content-Transfer-Encoding", "base64")]
        return [("Content-Type", f"{self.mime_type}; charset=UTF-8"), ("Content-Transfer-Encoding", "base64")]

    def walk(self) -> list[Part]:
        return [self, *(inner for part in self.parts for inner in part.walk())]


def text(kind: str, value: str) -> Part:
    """A text part."""
    content = value.encode()
    return Part(f"text/{kind}", lambda: content)


def encode(content: bytes) -> str:
    """The API's base64url."""
    return base64.urlsafe_b64encode(content).decode()


def decode(content: str) -> bytes:
    return base64.urlsafe_b64decode(content + "=" * (-len(content) % 4))


def payload(part: Part, headers: Headers, path: str = "") -> dict[str, Any]:
    """The part in the API's shape; contents of files stay behind an attachmentId."""
    body: dict[str, Any] = {"size": 0 if part.parts else part.size}
    if part.filename and not part.parts:
        body["attachmentId"] = attachment_id(path or "0")
    elif not part.parts:
        body["data"] = encode(part.content)
    result: dict[str, Any] = {"partId": path, "mimeType": part.mime_type, "filename": part.filename,
                              "headers": [{"name": n, "value": v} for n, v in headers], "body": body}
    if part.parts:
        prefix = f"{path}." if path else ""
        result["parts"] = [payload(p, p.own_headers(), f"{prefix}{i}") for i, p in enumerate(part.parts)]
    return result


def attachment_id(path: str) -> str:
    """As long and opaque as the real ones."""
    return encode(f"ANGjdJ-mirage-simulator-attachment-of-part-{path}".encode()).rstrip("=")


def find_attachment(part: Part, wanted: str, path: str = "") -> Part | None:
    if part.filename and not part.parts and attachment_id(path or "0") == wanted:
        return part
    prefix = f"{path}." if path else ""
    for i, inner in enumerate(part.parts):
        found = find_attachment(inner, wanted, f"{prefix}{i}")
        if found is not None:
            return found
    return None


def to_bytes(headers: Headers, part: Part) -> bytes:
    """The message as RFC 5322 bytes."""
    message = _mime(part)
    for name, value in headers:
        if not name.lower().startswith(("content-", "mime-version")):
            message[name] = value if value.isascii() and "\n" not in value else Header(value, "utf-8").encode()
    out = BytesIO()
    BytesGenerator(out, mangle_from_=False, maxheaderlen=0).flatten(message)
    return out.getvalue()


def _mime(part: Part) -> Message:
    kind, _, sub = part.mime_type.partition("/")
    message = MIMEBase(kind, sub or "octet-stream")
    if part.parts:
        for inner in part.parts:
            message.attach(_mime(inner))
        return message
    if part.filename:
        message.add_header("Content-Disposition", "attachment", filename=("utf-8", "", part.filename)
                           if not part.filename.isascii() else part.filename)
    elif kind == "text":
        message.set_param("charset", "UTF-8")
    message.set_payload(base64.encodebytes(part.content).decode())
    message["Content-Transfer-Encoding"] = "base64"
    return message


def from_bytes(raw: bytes) -> tuple[Headers, Part]:
    """(headers, decoded; tree of parts) of a message that was sent."""
    message = message_from_bytes(raw)
    headers = [(name, unfold(str(value))) for name, value in message.items()]
    return headers, _part(message)


def unfold(value: str) -> str:
    """A header without folding and encoded words."""
    value = value.replace("\r\n", "").replace("\n", "")
    try:
        return str(make_header(decode_header(value)))
    except (LookupError, UnicodeError, ValueError):
        return value


def parts(kind: str, body: bytes) -> list[Message]:
    """The parts of a multipart body with this Content-Type."""
    message = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    found = message.get_payload()
    return [m for m in found if isinstance(m, Message)] if isinstance(found, list) else []


def data(message: Message) -> bytes:
    content = message.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _part(message: Message) -> Part:
    headers = [(n, unfold(str(v))) for n, v in message.items() if n.lower().startswith("content-")]
    name = message.get_filename()
    filename = unfold(name) if name else ""
    kind = message.get_content_type()
    if message.is_multipart() and kind != "message/rfc822":
        return Part(kind, None, "", [_part(m) for m in message.get_payload() if isinstance(m, Message)], headers)
    if kind == "message/rfc822":
        inner = message.get_payload()
        raw = inner[0].as_bytes() if isinstance(inner, list) and isinstance(inner[0], Message) else b""
        return Part(kind, lambda: raw, filename or "message.eml", headers=headers)
    content = data(message)
    if kind.startswith("text/") and not filename:
        content = _utf8(content, message.get_content_charset() or "utf-8")
    return Part(kind, lambda: content, filename, headers=headers)


def _utf8(content: bytes, charset: str) -> bytes:
    try:
        return content.decode(charset).encode()
    except (LookupError, UnicodeDecodeError):
        return content
