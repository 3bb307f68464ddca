"""The services of the table."""
from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from math import ceil
from typing import Any

from mirage.bench.counts import others, stores
from mirage.bench.counts.model import Account, Script, Service, standard
from mirage.terminal import Terminal
from mirage.vfs.secrets import Secret

BIG = 2                                                      # large files of the repository
BELIEVES = "mirage-ai does not ask: a listing is believed for ten minutes; ours asks whether something changed"
DAY = "2026-09-09"
COURSE = "Course_Schedule_Notification__6"


class Token(Secret):
    """A secret of a simulator, which has its text here."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        super().__init__("env:MIRAGE_COUNTS_TOKEN")
        self.text = text

    def reveal(self) -> str:
        return self.text


@contextmanager
def gmail() -> Iterator[Account]:
    from mirage.bench.services.gmail import GmailSimulator
    from mirage.clis.mail import MailCli
    from mirage.mounts.gmail.mount import Gmail
    with GmailSimulator(messages=600) as simulator:
        def terminal() -> Terminal:
            mount = Gmail(Token("simulator-token"), endpoint=simulator.address, rate=0.0)
            return Terminal({"/mail": mount}, clis=[MailCli(mount, "/mail")])

        with terminal() as one:
            inbox = len(one.run("find /mail/INBOX -name '*.email.json'").stdout.splitlines())
            found = len(one.run("grep -rlw --exact --include='*.json' Champagne /mail").stdout.splitlines())
        file = f"/mail/INBOX/{DAY}/{COURSE}.email.json"
        scripts = standard("/mail/INBOX", inbox, 500, file, 4, "/mail", "Champagne", found, first=1,
                           details=ceil(inbox / 100), options="--include='*.json'", unsure=3,
                           why="the newest, and names of attachments, in batches",
                           fresh=(2, "what changed + names, in a batch"),
                           change="mail mark-emails --status unread --email_ids 6")
        theirs = f"/mail/INBOX/{DAY}/{COURSE}.gmail.json"
        _peer(scripts, {"cold ls": ((), "ls /mail/INBOX"), "second ls": (("ls /mail/INBOX",), "ls /mail/INBOX"),
                        "second cat": ((f"cat {theirs}",), f"cat {theirs}"), "cat by path, cold": ((), f"cat {theirs}"),
                        "grep -rw": ((), "grep -rlw Champagne /mail")})
        for script in scripts:
            if script.name.startswith("second"):
                script.more = BELIEVES
        yield Account(simulator, terminal, scripts, {
            "vfs": "GmailVFS", "config": "GmailConfig", "at": "/mail",
            "options": {"access_token": "simulator-token", "api_base": simulator.address.rstrip("/")}})


@contextmanager
def slack() -> Iterator[Account]:
    from mirage.bench.services.slack import SlackSimulator
    from mirage.clis.slack import SlackCli
    from mirage.mounts.slack.tree import Slack
    with SlackSimulator(messages=400) as simulator:
        def terminal() -> Terminal:
            mount = Slack(Token("xoxp-simulator"), endpoint=f"{simulator.address}api/", rate=0.0)
            return Terminal({"/slack": mount}, clis=[SlackCli(mount)])

        with terminal() as one:
            channels = len(one.run("ls /slack/channels").stdout.splitlines())
            open_ = [c for c in simulator.workspace.conversations.values() if not c.get("is_archived")]
            found = len(one.run("grep -rlw --exact --include=chat.jsonl Champagne /slack").stdout.splitlines())
        channel = "/slack/channels/apollo__C02APOLLO"
        file = f"{channel}/2026-09-22/chat.txt"
        scripts = standard("/slack/channels", channels, 200, file, 5, "/slack", "Champagne", found,
                           options="--include=chat.jsonl", unsure=len(open_) + 5,
                           why="the newest of each conversation, reactions, conversations, people, files",
                           change="slack post-message --channel_id C02APOLLO --text 'One more'", changed=channel)
        theirs = f"{channel}/2026-09-22/chat.jsonl"
        ls = "ls /slack/channels"
        _peer(scripts, {"cold ls": ((), ls), "second ls": ((ls,), ls),
                        "second cat": ((f"cat {theirs}",), f"cat {theirs}"),
                        "cat by path, cold": ((), f"cat {theirs}"),
                        "grep -rw": ((), "grep -rlw --include=chat.jsonl Champagne /slack")})
        yield Account(simulator, terminal, scripts, {
            "vfs": "SlackVFS", "config": "SlackConfig", "at": "/slack",
            "options": {"token": "xoxp-simulator", "search_token": "xoxp-simulator", "content_search": True,
                        "base_url": f"{simulator.address}api"}})


def _peer(scripts: list[Script], lines: dict[str, tuple[tuple[str, ...], str]]) -> None:
    for script in scripts:
        script.peer = lines.get(script.name)


def simulated(name: str, simulator: str, mount: Callable[[Any, Any], Any], at: str, listing: str, page: int,
              find: str, word: str, *, n: int | None = None, least: tuple[int, str] | None = None,
              cli: str = "", where: str = "", **rest: Any) -> Callable[[], AbstractContextManager[Account]]:
    """A service whose simulator is the class `simulator` of bench/services/NAME, its mount mount(module, simulator).

    find  arguments of find that give the file of the scripts first;  n: items of `listing`, where a name is not one
    item;  least: calls of the search, and why, where one answer has many files;  cli: "module:class" of its CLI
    word, rest: as in `standard`;  where: what is searched, or all
    """
    @contextmanager
    def open_account() -> Iterator[Account]:
        tree = importlib.import_module(f"mirage.mounts.{name}.{'mount' if name == 'gdrive' else 'tree'}")
        with getattr(importlib.import_module(f"mirage.bench.services.{name}"), simulator)() as running:
            def terminal() -> Terminal:
                one = mount(tree, running)
                clis = [make(one)] if make is not None else []
                return Terminal({at: one}, clis=clis, policy="default: allow")

            module, _, cls = cli.partition(":")
            make = getattr(importlib.import_module(f"mirage.clis.{module}"), cls) if cli else None
            with terminal() as one:
                file = one.run(f"find {find} | head -1").stdout.rstrip("\n")
                items = n or len(one.run(f"ls '{listing}'").stdout.splitlines())
                usage = one.run(f"grep -rlw {word} {where or at}").usage if word else None
            found = usage.candidates if usage is not None else 0
            depth = file.count("/")
            scripts = standard(listing, items, page, file, depth, where or at, word, found, **rest)
            for script in scripts:
                if script.name == "grep -rw" and least is not None:
                    script.minimum, script.rule = least
            yield Account(running, terminal, scripts)
    return open_account


@contextmanager
def repository() -> Iterator[Account]:
    """One repository at one ref, which is what mirage-ai mounts of GitHub."""
    from mirage.bench.services.github import GitHubSimulator
    from mirage.mounts.github.tree import GitHub
    with GitHubSimulator() as simulator:
        def terminal() -> Terminal:
            mount = GitHub(Token("ghp_simulator"), endpoint=simulator.address, rate=0.0, repo="norrsken/firmware")
            return Terminal({"/repo": mount}, policy="default: allow")

        top, file = "/repo/main", "/repo/main/README.md"
        scripts = standard(top, 1, 1000, file, 2, top, "", 0, first=1)
        scripts.append(Script(
            "grep -r", f"grep -rl firmware {top}", 4 + BIG,
            "ref, tree, the files as one archive (and its redirection), each that is too large for it"))
        lines = [("cold ls", "ls /repo", ()), ("second ls", "ls /repo", ("ls /repo",)),
                 ("cat by path, cold", "cat /repo/README.md", ()), ("grep -r", "grep -rl firmware /repo", ()),
                 ("second cat", "cat /repo/README.md", ("cat /repo/README.md",))]
        _peer(scripts, {name: (before, line) for name, line, before in lines})
        for script in scripts:
            if "cold" in script.name:
                script.more = "ours asks for the commit, whose date is that of the files; mirage-ai shows none"
        yield Account(simulator, terminal, scripts, {
            "vfs": "GitHubVFS", "config": "GitHubConfig", "at": "/repo",
            "options": {"token": "ghp_simulator", "owner": "norrsken", "repo": "firmware", "ref": "main",
                        "base_url": simulator.address.rstrip("/")}})


SERVICES = [
    Service("gmail", gmail), Service("imap", others.imap), Service("slack", slack),
    Service("github", simulated(
        "github", "GitHubSimulator", lambda t, s: t.GitHub(Token("ghp_simulator"), endpoint=s.address, rate=0.0),
        "/github", "/github/norrsken/firmware/issues", 100, "/github/norrsken/firmware/issues -name '1*.json'",
        "firmware", n=200, first=1, cli="github:GitHubCli", where="/github/norrsken/firmware/issues",
        least=(5, "repository, pages of issues and of comments, which is less than a search and a read per candidate"),
        change="github create-issue --owner norrsken --repo firmware --title New%", shows="New1")),
    Service("repo", repository),
    Service("linear", simulated(
        "linear", "LinearSimulator", lambda t, s: t.Linear(Token("lin_api_simulator"), endpoint=s.address), "/linear",
        "/linear/ENG/issues", 250, "/linear/ENG/issues -name '*.md'", "kelvin", n=200, first=1, least=(
            15, "teams, workspace; for each of 3 teams a search, projects, cycles, members; one read"),
        cli="linear:LinearCli", change="linear create-issue --team ENG --title New%", shows="New1")),
    Service("gdrive", simulated(
        "gdrive", "DriveSimulator", lambda t, s: t.Drive(Token("simulator-token"), endpoint=s.address, rate=0.0), "/gd",
        "/gd", 1000, "/gd/Projects -name '*.md'", "", cli="gdrive:DriveCli",
        change="gdrive create-folder --name New%", shows="New1")),
    Service("gcal", simulated(
        "gcal", "CalendarSimulator", lambda t, s: t.Calendar(Token("simulator-token"), endpoint=s.address, rate=0.0),
        "/calendar", "/calendar", 250, "/calendar/Apollo -name '*.event.json'", "", cli="gcal:GcalCli",
        change="gcal create-event '{\"calendarId\": \"Apollo\", \"summary\": \"New%\", \"start\": {\"dateTime\": "
               "\"2025-10-01T10:00:00Z\"}, \"end\": {\"dateTime\": \"2025-10-01T11:00:00Z\"}}'",
        changed="/calendar/Apollo/2025-10-01", shows="New1")),
    Service("canvas", simulated(
        "canvas", "CanvasSimulator", lambda t, s: t.Canvas(s.address, Token("canvas-simulator"), rate=0.0), "/canvas",
        "/canvas/courses", 100, "/canvas/courses/Calib* -name '*.json'", "", cli="canvas:CanvasCli",
        change="canvas create-announcement --course_id 103 --title New% --message Hello", shows="New1",
        changed="/canvas/courses/Calibration of anemometers__103/announcements")),
    Service("notion", stores.notion), Service("rest", others.rest), Service("http", others.http),
    Service("s3", stores.s3), Service("postgres", stores.postgres), Service("redis", stores.redis),
    Service("mongodb", stores.mongodb),
]
