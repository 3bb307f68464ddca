"""A message as what Mirage shows: names, attachments, the one JSON format of mail.

A message comes as a dict in the form of the Gmail API: id, threadId, labelIds, internalDate (milliseconds), payload; a
part has mimeType, filename, headers, parts and body (size, attachmentId, data in base64url, or `content` as bytes).
"""
from __future__ import annotations

import base64
import functools
import json
from email.header import decode_header, make_header
from email.utils import getaddresses
from typing import TYPE_CHECKING, Any

from mirage.vfs.names import unique_names, with_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

JSON, EML = ".email.json", ".eml"


class Attachment:
    """One file of a message. `name` is path-safe and unique in it, `title` as the sender wrote it.

    size  bytes; None until somebody knows them
    """

    __slots__ = ("mime_type", "name", "part", "size", "title")

    def __init__(self, title: str, mime_type: str, size: int | None, part: str) -> None:
        self.title = title
        self.name = title
        self.mime_type = mime_type
        self.size = size
        self.part = part


class Meta:
    """What a listing needs of a message. `labels` changes (Mailbox replaces it), the rest never does."""

    __slots__ = ("attachments", "date", "id", "labels", "sizes", "stem", "subject", "thread")

    def __init__(self, message: dict[str, Any]) -> None:
        self.id: str = message["id"]
        self.thread: str = message.get("threadId", "")
        self.labels = frozenset(message.get("labelIds", ()))
        self.date = int(message.get("internalDate", 0))      # milliseconds since the epoch
        payload = message.get("payload", {})
        self.subject = decoded(header(payload, "Subject"))
        self.stem = with_id(self.subject, self.id)
        self.attachments = attachments(payload)
        self.sizes: dict[Any, int] = {}                      # of renderings that somebody has read


class Mail:
    """The content of a message, without what depends on the folder and the labels."""

    __slots__ = ("body", "headers", "meta", "size", "tokens")

    def __init__(self, message: dict[str, Any]) -> None:
        payload = message.get("payload", {})
        self.meta = Meta(message)
        self.headers = {name: header(payload, name) for name in
                        ("From", "To", "Cc", "Bcc", "Reply-To", "Message-ID", "References")}
        self.body = body(payload)
        self.tokens = {part["partId"]: part["body"]["attachmentId"] for part in walk(payload)
                       if part.get("body", {}).get("attachmentId")}
        self.size = 1000 + 2 * len(self.body) + sum(map(len, self.headers.values()))

    def addresses(self, name: str) -> list[str]:
        """The people of a header, each as `Name <address>` or `address`."""
        return list(people(self.headers[name])) if self.headers.get(name) else []

    def render(self, meta: Meta, folder: str, root: str, date: str, day: str, labels: Iterable[str]) -> bytes:
        """The file's bytes. `date` in ISO 8601, `folder` as a path below `root`."""
        sender = self.addresses("From")
        place = f"{root.rstrip('/')}/{folder}/{day}/{meta.stem}"
        value = {"id": meta.id, "threadId": meta.thread, "folder": folder, "date": date,
                 "from": sender[0] if sender else "", "to": self.addresses("To"), "cc": self.addresses("Cc"),
                 "bcc": self.addresses("Bcc"), "replyTo": ", ".join(self.addresses("Reply-To")),
                 "subject": meta.subject, "body": self.body, "labels": list(labels),
                 "attachments": [{"name": a.name, "mimeType": a.mime_type, "size": a.size, "path": f"{place}/{a.name}"}
                                 for a in meta.attachments]}
        return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"


@functools.lru_cache(maxsize=2048)
def people(text: str) -> tuple[str, ...]:
    """The people of a header's text. The same ones write again and again."""
    found = getaddresses([text.replace("\r", "").replace("\n", "")])
    return tuple(f"{decoded(person)} <{address}>" if person else address for person, address in found if address)


def header(payload: dict[str, Any], name: str) -> str:
    """The first header of that name, as it is."""
    low = name.lower()
    return next((str(h.get("value", "")) for h in payload.get("headers", ()) if str(h.get("name")).lower() == low), "")


def decoded(text: str) -> str:
    """A header's text without encoded words and folding."""
    if "=?" in text:
        try:
            text = str(make_header(decode_header(text)))
        except (LookupError, UnicodeError, ValueError):
            pass
    return text.strip()


def walk(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All parts, parents first; a message that is attached as a file is one part."""
    yield part
    if not _is_file(part):
        for inner in part.get("parts", ()):
            yield from walk(inner)


def _is_file(part: dict[str, Any]) -> bool:
    return part.get("mimeType") == "message/rfc822" and bool(part.get("body", {}).get("attachmentId"))


def attachments(payload: dict[str, Any]) -> list[Attachment]:
    """The parts with a file name (or an attachmentId), with path-safe, unique names."""
    found = []
    for part in walk(payload):
        data = part.get("body", {})
        title = decoded(str(part.get("filename") or ""))
        if part.get("parts") and not _is_file(part) or not (title or data.get("attachmentId")):
            continue
        if not title and str(part.get("mimeType", "")).startswith("text/"):
            continue                                         # a long body
        number = str(part.get("partId", ""))
        size = data.get("size", 0)
        found.append(Attachment(title or f"part-{number}", str(part.get("mimeType", "")),
                                None if size is None else int(size), number))
    names = unique_names((a.title, a.part) for a in found)
    for attachment, name in zip(found, names, strict=True):
        attachment.name = name
    return found


def content(part: dict[str, Any]) -> bytes:
    """The decoded data that stands in the part itself."""
    data = part.get("body", {})
    return data["content"] if "content" in data else decode(data.get("data", ""))


def decode(data: str) -> bytes:
    """The API's base64url."""
    return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))


def body(payload: dict[str, Any]) -> str:
    """The text to read: plain parts, HTML converted where there is nothing else. Lines end with a newline."""
    return "\n".join(text for text in _texts(payload) if text.strip())


def _texts(part: dict[str, Any]) -> list[str]:
    kind = str(part.get("mimeType", ""))
    parts = () if _is_file(part) else part.get("parts", ())
    if kind == "multipart/alternative":
        choices = [(str(p.get("mimeType", "")), _texts(p)) for p in parts]
        for plain in (True, False):
            for inner, texts in choices:
                if (inner == "text/plain") == plain and any(t.strip() for t in texts):
                    return texts
        return []
    if parts:
        return [text for p in parts for text in _texts(p)]
    if part.get("filename") or not kind.startswith("text/"):
        return []
    text = _text(part).replace("\r\n", "\n").replace("\r", "\n")
    if kind == "text/html":
        from mirage.text.html import html_to_text
        text = html_to_text(text)
    return [text]


def _text(part: dict[str, Any]) -> str:
    """UTF-8, as Gmail gives it; where that cannot be, the part's own charset counts."""
    data = content(part)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    charset = ""
    for piece in header(part, "Content-Type").split(";")[1:]:
        name, _, value = piece.strip().partition("=")
        if name.lower() == "charset":
            charset = value.strip("\"' ")
    try:
        return data.decode(charset or "latin-1", "replace")
    except LookupError:
        return data.decode("latin-1")
