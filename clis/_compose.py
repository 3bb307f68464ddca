"""RFC 5322 messages from the arguments of a mail CLI."""
from __future__ import annotations

import mimetypes
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formataddr, getaddresses, localtime, make_msgid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = {"md": "text/markdown", "csv": "text/csv", "jsonl": "application/jsonl"}
File = tuple[str, bytes]                                     # name, content


def addresses(text: str) -> list[str]:
    """Comma-separated addresses, each `a@b` or `Name <a@b>`. ValueError names the first that is none."""
    found = []
    for name, address in getaddresses([text]):
        local, at, domain = address.rpartition("@")
        if not (at and local and domain) or any(c.isspace() or c in "<>,;" for c in address):
            raise ValueError(f"{address or name or text!r} is not an e-mail address")
        found.append(formataddr((name, address)))
    if not found:
        raise ValueError("at least one e-mail address is needed")
    return found


def compose(sender: str, to: Sequence[str], subject: str, body: str, *, html: str | None = None, cc: Sequence[str] = (),
            bcc: Sequence[str] = (), files: Sequence[File] = (), replies_to: str = "", references: str = "",
            date: float | None = None) -> bytes:
    """The message's bytes. `replies_to` and `references` are Message-IDs; `date` in seconds, None: now."""
    from datetime import UTC, datetime
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    for name, people in (("To", to), ("Cc", cc), ("Bcc", bcc)):
        if people:
            message[name] = ", ".join(people)
    message["Subject"] = subject
    message["Date"] = datetime.fromtimestamp(date, UTC) if date is not None else localtime()
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2].strip("<> ") or "localhost")
    if replies_to:
        message["In-Reply-To"] = replies_to
        message["References"] = f"{references} {replies_to}".strip()
    message.set_content(body if body.endswith("\n") else body + "\n", cte="base64" if not body.isascii() else None)
    if html:
        message.add_alternative(html, subtype="html")
    for name, data in files:
        kind = KINDS.get(name.rpartition(".")[2]) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        main, _, sub = kind.partition("/")
        message.add_attachment(data, maintype=main, subtype=sub, filename=name)
    return message.as_bytes()
