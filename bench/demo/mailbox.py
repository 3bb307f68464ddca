"""The mailbox of the support, on pymap (IMAP), and where its letters go, on aiosmtpd (SMTP)."""
from __future__ import annotations

import asyncio
import random
import threading
from argparse import Namespace
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from typing import TYPE_CHECKING, Any

from mirage.bench.company import CUSTOMERS, FIRST, PEOPLE, parts
from mirage.bench.services.gmail.texts import TICKETS

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Coroutine

USER, PASSWORD = "support@norrsken.example", "support-simulator"
MESSAGES = 120
VALIDITY = 1
FOLDERS = ("Sent", "Drafts", "Trash", "Solved")


class Loop:
    """An asyncio server in a thread of its own, on a listening socket."""

    def __init__(self, main: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(main,), name=type(self).__name__, daemon=True)
        self._thread.start()

    def _run(self, main: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(main())
        self._loop.run_forever()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)


class Mailbox(Loop):
    """An IMAP server with one account."""

    def __init__(self, listening: socket.socket) -> None:
        super().__init__(lambda: self._serve(listening))

    async def _serve(self, listening: socket.socket) -> None:
        from proxyprotocol.sock import SocketInfo
        from pymap.backend.dict import DictBackend
        from pymap.imap import IMAPServer
        from pysasl.hashing import Cleartext
        options = Namespace(host="127.0.0.1", port=0, debug=False, cert=None, key=None, tls=False, proxy_protocol=None,
                            passlib_cfg=None, demo_data=False, demo_user=USER, demo_password=PASSWORD)
        backend, config = await DictBackend.init(options, invalid_user_sleep=0.0, secure_auth=False, hash_context=Cleartext())
        config.apply_context()
        await _fill(config)
        server = IMAPServer(backend.login, config)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server(reader, writer, SocketInfo.get(writer, None))
        await asyncio.start_server(serve, sock=listening)


class Outbox(Loop):
    """An SMTP server that takes everything."""

    def __init__(self, listening: socket.socket) -> None:
        super().__init__(lambda: self._serve(listening))

    async def _serve(self, listening: socket.socket) -> None:
        from aiosmtpd.handlers import Sink
        from aiosmtpd.smtp import SMTP as Server
        await self._loop.create_server(lambda: Server(Sink(), hostname="norrsken.example", enable_SMTPUTF8=True), sock=listening)


async def _fill(config: Any) -> None:
    """Put the messages into the account."""
    from pymap.backend.dict.filter import FilterSet
    from pymap.backend.dict.mailbox import MailboxSet
    from pymap.parsing.message import AppendMessage
    from pymap.parsing.specials.flag import Flag
    boxes = MailboxSet()
    for name in FOLDERS:
        await boxes.add_mailbox(name)
    for name in ("INBOX", *FOLDERS):
        (await boxes.get_mailbox(name))._uid_validity = VALIDITY
    for folder, text, when, seen in messages():
        box = await boxes.get_mailbox(folder)
        await box.append(AppendMessage(text, when, frozenset([Flag(b"\\Seen")] if seen else [])))
    config.set_cache[USER] = boxes, FilterSet()


def messages() -> list[tuple[str, bytes, datetime, bool]]:
    """(folder, message, when it came, whether it was read): customers' questions, and what was answered."""
    rng = random.Random(4)
    found = []
    for n in range(MESSAGES):
        when = FIRST + timedelta(hours=72 * n, minutes=7 * n % 60)
        name, address = rng.choice(CUSTOMERS)
        subject, text = rng.choice(TICKETS)
        serial = f"NI-{1000 + rng.randrange(100)}"
        asked = _message(f"{name} <{address}>", USER, f"{subject} ({serial})", text.format(serial=serial, name=name), when, n)
        solved = n < MESSAGES * 3 // 4
        found.append(("Solved" if solved else "INBOX", asked, when, solved))
        if solved and n % 3 == 0:
            who = parts(rng.choice(PEOPLE[:4]))[0]
            later = when + timedelta(hours=5)
            answer = _message(f"Norrsken support <{USER}>", address, f"Re: {subject} ({serial})",
                              f"Dear {name},\n\nwe have looked at {serial}; it works again.\n\n{who}\n", later, n, "answer")
            found.append(("Sent", answer, later, True))
    return found


def _message(sender: str, to: str, subject: str, text: str, when: datetime, number: int, kind: str = "question") -> bytes:
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"], mail["Subject"], mail["Date"] = sender, to, subject, when
    mail["Message-ID"] = f"<{kind}-{number}@norrsken.example>"
    if kind == "answer":
        mail["In-Reply-To"] = f"<question-{number}@norrsken.example>"
    mail.set_content(text)
    return mail.as_bytes()
