"""Services without a simulator of their own in the table: a mailbox on pymap, a REST declaration, URLs."""
from __future__ import annotations

import asyncio
import email.message
import email.policy
import imaplib
import importlib.util
import tempfile
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mirage.bench.counts.model import Account, Script, Unavailable, standard
from mirage.bench.counts.stores import OPEN, Text
from mirage.bench.services.http import LogEntry, Request, Response, Simulator
from mirage.terminal import Terminal

USER, PASSWORD = "mara@norrsken.example", "counts-password"
MAILS = 60


class _Mailbox:
    """pymap's server with one account, in a thread; `log` has the commands that it read, without their tags."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        if not self._ready.wait(20):
            raise Unavailable("pymap does not start")

    def clear_log(self) -> None:
        self.log.clear()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._loop.run_forever()

    async def _start(self) -> None:
        from proxyprotocol.sock import SocketInfo
        from pymap.backend.dict import DictBackend
        from pymap.imap import IMAPServer
        from pysasl.hashing import Cleartext
        arguments = Namespace(host="127.0.0.1", port=0, debug=False, cert=None, key=None, tls=False,
                              proxy_protocol=None, passlib_cfg=None, demo_data=False, demo_user=USER,
                              demo_password=PASSWORD)
        backend, config = await DictBackend.init(arguments, invalid_user_sleep=0.0, secure_auth=False,
                                                 hash_context=Cleartext())
        config.apply_context()
        server = IMAPServer(backend.login, config)
        log = self.log

        class Reader:
            """Every line that begins a command is logged."""

            def __init__(self, reader: asyncio.StreamReader) -> None:
                self._reader = reader

            async def readline(self) -> bytes:
                line = await self._reader.readline()
                words = line.split(None, 2)
                if len(words) > 1 and words[1].isalpha():
                    log.append(words[1].decode().upper())
                return line

            def __getattr__(self, name: str) -> Any:
                return getattr(self._reader, name)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server(Reader(reader), writer, SocketInfo.get(writer, None))  # type: ignore[arg-type]

        self._listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        self.port = self._listening.sockets[0].getsockname()[1]
        self._ready.set()

    def stop(self) -> None:
        def close() -> None:
            self._listening.close()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.call_later(0.05, self._loop.stop)
        self._loop.call_soon_threadsafe(close)
        self._thread.join(5)

    def fill(self) -> None:
        """`MAILS` messages, one an hour."""
        client = imaplib.IMAP4("127.0.0.1", self.port)
        client.login(USER, PASSWORD)
        for n in range(MAILS):
            mail = email.message.EmailMessage(policy=email.policy.SMTP)
            mail["From"], mail["To"], mail["Subject"] = "office@norrsken.example", USER, f"Report {n}"
            mail["Message-ID"] = f"<{n}@norrsken.example>"
            mail.set_content("Champagne\n" if n % 20 == 7 else "Nothing new.\n")
            when = datetime(2026, 9, 9, 8, tzinfo=UTC) + timedelta(hours=n)
            client.append("INBOX", "", when, mail.as_bytes())
        client.logout()


@contextmanager
def imap() -> Iterator[Account]:
    if importlib.util.find_spec("pymap") is None:
        raise Unavailable("pymap")
    from mirage.clis.mail import MailCli
    from mirage.mounts.imap.mount import Imap
    server = _Mailbox()
    try:
        server.fill()

        def terminal() -> Terminal:
            mount = Imap(host="127.0.0.1", port=server.port, tls="none", user=USER, password=Text(PASSWORD))
            return Terminal({"/mail": mount}, clis=[MailCli(mount, "/mail")], policy=OPEN)

        with terminal() as one:
            file, other = one.run("find /mail/INBOX -name '*.email.json' | sort | sed -n '1p;$p'").stdout.splitlines()
        scripts = standard(
            "/mail/INBOX", MAILS, 1000, file, 4, "/mail", "Champagne", 3,
            change=f"mail mark-emails --status read --email_ids '{other}'")
        least = {"cold ls": (5, "set-up (CAPABILITY, LOGIN), LIST, EXAMINE, one FETCH"),
                 "grep -rw": (8, "set-up, LIST, EXAMINE, names, CAPABILITY, SEARCH, one FETCH of the candidates")}
        again = 2, "one revalidation: EXAMINE and the flags, for pymap has no CONDSTORE"
        for script in scripts:
            if script.name in ("second ls", "second cat", "ls after a change", "cat of another after it"):
                script.minimum, script.rule = again
            script.minimum, script.rule = least.get(script.name, (script.minimum, script.rule))
        yield Account(server, terminal, scripts)
    finally:
        server.stop()


DECLARATION = """\
name: hub
summary: Issues of repositories.
base_url: http://127.0.0.1
tree:
  - directory: "{name}"
    each: {path: /users/norrsken/repos, paging: {kind: page, parameter: page, size: 100, size_parameter: per_page}}
    as: repo
    children:
      - file: "{number} {title}"
        each:
          path: "/repos/norrsken/{repo.name}/issues"
          query: {state: all}
          paging: {kind: page, parameter: page, size: 100, size_parameter: per_page}
        id: number
        version: updated_at
        modified: updated_at
        renderings: [{suffix: .json}]
operations:
  create-issue:
    summary: Open an issue
    effects: [create]
    path: "/repos/norrsken/{repo}/issues"
    arguments: {repo: {required: true}, title: {required: true}}
    stale: ["/{repo}"]
"""


@contextmanager
def rest() -> Iterator[Account]:
    from mirage.bench.services.github import GitHubSimulator
    from mirage.clis.rest import RestCli
    from mirage.mounts.rest import build
    with GitHubSimulator() as simulator, tempfile.TemporaryDirectory() as folder:
        declaration = Path(folder, "hub.yaml")
        declaration.write_text(DECLARATION, encoding="utf-8")

        def terminal() -> Terminal:
            mount = build(str(declaration), Text("ghp_simulator"), simulator.address.rstrip("/"))
            return Terminal({"/hub": mount}, clis=[RestCli(mount)], policy=OPEN)

        with terminal() as one:
            names = one.run("ls /hub/firmware").stdout.splitlines()
        yield Account(simulator, terminal, standard(
            "/hub/firmware", len(names), 100, "/hub/docs/1 Fehlende Übersetzung.json", 2, "/hub", "", 0, first=1,
            change="hub create-issue --repo firmware --title New%", shows="New1"))


class _Site(Simulator):
    """Pages with an ETag."""

    def handle(self, request: Request, entry: LogEntry) -> Response:
        return Response(200, b"page\n", {"ETag": f'"{len(request.path)}"', "Content-Type": "text/plain"})


@contextmanager
def http() -> Iterator[Account]:
    from mirage.mounts.http import Urls
    from mirage.mounts.http.mount import Http
    with _Site() as site:
        def terminal() -> Terminal:
            address = site.address.rstrip("/")
            urls = Urls.from_option({f"docs/{n}.txt": f"{address}/{n}.txt" for n in range(20)}, "")
            return Terminal({"/web": Http(urls, private=True)}, policy=OPEN)

        scripts = standard("/web/docs", 20, 1000, "/web/docs/7.txt", 2, "/web", "", 0)
        for script in scripts:
            if script.name in ("cold ls", "second ls"):
                script.minimum, script.rule = 0, "the list of URLs is the configuration"
        scripts.append(Script("grep -r", "grep -rl page /web", 40, "size and content of each: URLs cannot be searched"))
        yield Account(site, terminal, scripts)
