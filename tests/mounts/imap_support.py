"""A mailbox on pymap (IMAP) and aiosmtpd (SMTP) over loopback, with a mount, for tests of the mount and the CLI."""
from __future__ import annotations

import asyncio
import imaplib
import threading
from argparse import Namespace
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP

from mirage import Terminal
from mirage.clis.mail import MailCli
from mirage.mounts.imap.mount import Imap
from mirage.vfs.service import Retry
from tests.mounts.support import Given

USER, PASSWORD = "mara@norrsken.example", "CANARY-s3cret"
QUICK = Retry(tries=3, base=0.01, most=0.5)
COURSE = "/INBOX/2026-09-09/Course_Schedule_Notification__"


class Token(Given):
    place, default = "env:IMAP_TEST_PASSWORD", PASSWORD


class Server:
    """pymap's server with one empty account, in a thread; `port` of loopback. `drop()` closes every connection."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._writers: list[asyncio.StreamWriter] = []
        self.port = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(20), "pymap does not start"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._main())
        self._loop.run_forever()

    async def _main(self) -> None:
        from proxyprotocol.sock import SocketInfo
        from pymap.backend.dict import DictBackend
        from pymap.imap import IMAPServer
        from pysasl.hashing import Cleartext
        arguments = Namespace(host="127.0.0.1", port=0, debug=False, cert=None, key=None, tls=False, proxy_protocol=None,
                              passlib_cfg=None, demo_data=False, demo_user=USER, demo_password=PASSWORD)
        backend, config = await DictBackend.init(arguments, invalid_user_sleep=0.0, secure_auth=False, hash_context=Cleartext())
        config.apply_context()
        server = IMAPServer(backend.login, config)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._writers.append(writer)
            await server(reader, writer, SocketInfo.get(writer, None))
        self._listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        self.port = self._listening.sockets[0].getsockname()[1]
        self._ready.set()

    def drop(self) -> None:
        def close() -> None:
            for writer in self._writers:
                writer.transport.abort()
            self._writers.clear()
        self._loop.call_soon_threadsafe(close)

    def stop(self) -> None:
        def close() -> None:
            self._listening.close()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.call_later(0.05, self._loop.stop)
        if self._loop.is_running():
            self.drop()
            self._loop.call_soon_threadsafe(close)
            self._thread.join(5)

    # ---- filling, with the standard library's client

    def login(self) -> imaplib.IMAP4:
        other = imaplib.IMAP4("127.0.0.1", self.port)
        other.login(USER, PASSWORD)
        return other

    def append(self, folder: str, message: bytes, when: datetime, flags: str = "") -> None:
        other = self.login()
        other.append(folder, flags, when, message)
        other.logout()


class Inbox:
    """What arrived at the SMTP server."""

    def __init__(self) -> None:
        self.received: list[tuple[str, list[str], bytes]] = []

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        self.received.append((envelope.mail_from, envelope.rcpt_tos, envelope.content))
        return "250 OK"


def message(subject: str, text: str, sender: str = "Alpine Training Institute <office@alpine-training.example>", html: str = "",
            files: dict[str, tuple[str, bytes]] | None = None, id: str = "", **headers: str) -> bytes:
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"] = sender, "Mara Lindqvist <mara@norrsken.example>"
    if subject:
        mail["Subject"] = subject
    mail["Message-ID"] = id or f"<{abs(hash((subject, text)))}@test.example>"
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    if text or not html:
        mail.set_content(text)
        if html:
            mail.add_alternative(html, subtype="html")
    else:
        mail.set_content(html, subtype="html")
    for name, (kind, data) in (files or {}).items():
        main, _, sub = kind.partition("/")
        mail.add_attachment(data, maintype=main, subtype=sub, filename=name)
    return mail.as_bytes()


def day(number: int, hour: int = 9, month: int = 9) -> datetime:
    return datetime(2026, month, number, hour, 15, tzinfo=UTC)


def fill(server: Server, count: int = 20, folders: bool = True) -> None:
    """The hard cases, and `count` plain messages."""
    other = server.login()
    for name in () if not folders else ("Sent", "Drafts", "Trash", "Projects", "Projects/Apollo", '"B&APw-ro Ume&AOU-"'):
        other.create(name)

    def put(folder: str, data: bytes, when: datetime, flags: str = "") -> None:
        status, said = other.append(folder, flags, when, data)
        assert status == "OK", said
    schedule = b"# Course schedule, autumn 2026\n\n| Painting | 2026-10-05 |\n"
    put("INBOX", message("Course_Schedule_Notification", "Dear Ms Lindqvist,\n\nthe schedule is attached.\n",
                         files={"course_schedule.md": ("text/markdown", schedule)}), day(9, 7), "\\Seen")
    put("INBOX", message("", "no subject at all\n"), day(10))
    put("INBOX", message("Grüße: Q3/Q4 💡", "Schöne Grüße aus Umeå.\nZweite Zeile\n", "Łukasz Nowak <lukasz@norrsken.example>"), day(11))
    put("INBOX", message("Política", "", html="<p>Hola Mara,</p><p>la pol&iacute;tica est&aacute; lista.</p>"), day(12), "\\Flagged")
    put("INBOX", message("Two files", "see both\n", files={"report.txt": ("text/plain", b"first\n"), "ünï.csv": ("text/csv", b"a,b\n1,2\n")}), day(13))
    put("INBOX", message("Large", "the recording\n", files={"field.bin": ("application/octet-stream", bytes(range(256)) * 4096)}), day(14))
    put("INBOX", message("Re: Large", "thank you\n", id="<re@test.example>", In_Reply_To="<large@test.example>"), day(14, 23))
    forwarded = EmailMessage(policy=SMTP)
    forwarded["From"], forwarded["To"], forwarded["Subject"] = "a@b.example", "mara@norrsken.example", "Fwd: inner"
    forwarded.set_content("look\n")
    inner = EmailMessage(policy=SMTP)
    inner["Subject"], inner["From"] = "inner", "c@d.example"
    inner.set_content("the inner text\n")
    forwarded.add_attachment(inner)
    put("INBOX", forwarded.as_bytes(), day(15))
    put("INBOX", b"From: x@y.example\r\nSubject: =?iso-2022-jp?B?GyRCOCtAUT1xGyhC?=\r\nContent-Type: text/plain; charset=iso-2022-jp\r\n"
                 b"\r\n\x1b$B8+@Q=q\x1b(B\r\n", day(16))
    for n in range(count):
        put("INBOX", message(f"Weekly report {n}", f"Stations sold: {n * 7}\nThe lab is quiet.\n"), day(1 + n % 28, 12, 8), "\\Seen")
    if folders:
        _fill_folders(put)
    other.logout()


def _fill_folders(put) -> None:
    put("Projects/Apollo", message("Apollo ships", "Champagne at four.\n", "Jonas Weiß <jonas@norrsken.example>"), day(24))
    put('"B&APw-ro Ume&AOU-"', message("Plants", "¿Quién riega las plantas?\n"), day(1))
    put("Sent", message("Offer", "Five stations.\n", "mara@norrsken.example"), day(2), "\\Seen")


def make_mount(server: Server, smtp_port: int = 1, **options: object) -> Imap:
    mount = Imap("127.0.0.1", USER, Token(), port=server.port, tls="none", smtp_port=smtp_port, **options)
    mount.client.retry = QUICK
    return mount


def make_terminal(server: Server, mount: Imap | None = None, smtp_port: int = 1, **options: object) -> Terminal:
    mount = mount or make_mount(server, smtp_port)
    return Terminal({"/mail": mount}, clis=[MailCli(mount, "/mail")], **options)
