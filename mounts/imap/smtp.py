"""Sending through SMTP, with the credentials of the IMAP account (RFC 5321, through smtplib)."""
from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

from mirage.vfs.service import Failure, as_oserror, connection_failed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.mounts.imap.client import ImapClient

PORTS = {"tls": 465, "starttls": 587, "none": 25}
TIMEOUT = 60.0


class Smtp:
    """tls  "tls" (port 465), "starttls" (587) or "none" (25)"""

    def __init__(self, client: ImapClient, host: str, port: int = 0, tls: str = "starttls") -> None:
        if tls not in PORTS:
            raise ValueError(f"imap: smtp_tls must be one of {', '.join(PORTS)}, not {tls!r}")
        self.client = client
        self.host = host
        self.port = port or PORTS[tls]
        self.tls = tls

    def send(self, sender: str, recipients: Sequence[str], data: bytes) -> None:
        """Hand a message over, once. OSError with the server's words where it does not take it for everybody."""
        import smtplib
        secret, begun = "", False
        try:
            secret = self.client.secret()
            smtp = self._connect()
            try:
                self._login(smtp, secret)
                self.client.counters.add(calls=1)
                begun = True
                refused = smtp.sendmail(sender, list(recipients), data)
            finally:
                _leave(smtp)
        except Failure as failure:
            raise as_oserror("smtp", failure) from None
        except smtplib.SMTPResponseException as e:
            text = e.smtp_error.decode("utf-8", "replace") if isinstance(e.smtp_error, bytes) else str(e.smtp_error)
            status = 401 if isinstance(e, smtplib.SMTPAuthenticationError) else 400 if e.smtp_code >= 500 else 503
            raise as_oserror("smtp", Failure(status, _clean(f"{text} ({e.smtp_code})", secret))) from None
        except smtplib.SMTPRecipientsRefused as e:
            raise as_oserror("smtp", Failure(400, _clean(_refusals(e.recipients), secret))) from None
        except (smtplib.SMTPException, OSError) as e:
            text = connection_failed(f"{self.host}:{self.port}", e).message
            raise as_oserror("smtp", Failure(0, text + "; perhaps the message was sent" * begun)) from None
        if refused:
            raise as_oserror("smtp", Failure(400, _clean(f"sent, but not to: {_refusals(refused)}", secret)))

    def _connect(self) -> Any:
        import smtplib
        if self.tls == "tls":
            return smtplib.SMTP_SSL(self.host, self.port, timeout=TIMEOUT, context=ssl.create_default_context())
        smtp = smtplib.SMTP(self.host, self.port, timeout=TIMEOUT)
        if self.tls == "starttls":
            smtp.starttls(context=ssl.create_default_context())
        return smtp

    def _login(self, smtp: Any, secret: str) -> None:
        smtp.ehlo_or_helo_if_needed()
        if not smtp.has_extn("auth"):
            return
        if self.client.by_token:
            text = f"user={self.client.user}\1auth=Bearer {secret}\1\1"
            smtp.auth("XOAUTH2", lambda challenge=None: text)
        else:
            smtp.login(self.client.user, secret)


def _leave(smtp: Any) -> None:
    """Say goodbye; what was sent is sent, whatever the server answers."""
    import smtplib
    try:
        smtp.quit()
    except (smtplib.SMTPException, OSError):
        smtp.close()


def _refusals(recipients: Any) -> str:
    return ", ".join(f"{address} ({code} {text.decode('utf-8', 'replace') if isinstance(text, bytes) else text})"
                     for address, (code, text) in recipients.items())


def _clean(text: str, secret: str) -> str:
    return text.replace(secret, "***")[:300] if secret else text[:300]
