"""`grep --include` with names that no sample name is like: what the service is not asked about is still read, or told of."""
from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from mirage import Terminal

GUESSED = r"(?:grep|rg): /\w+: searched by the service[^\n]*; [1-9][\d,]* items? not read \(--exact reads them\)\n"


@pytest.fixture(scope="module", params=["gmail", "imap", "slack"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, Terminal]]:
    """(place, terminal) of a service with attached or shared files."""
    if request.param == "gmail":
        pytest.importorskip("googleapiclient")
        from mirage.bench.services.gmail import GmailSimulator
        from tests.mounts.gmail_support import make_terminal as gmail
        with GmailSimulator(messages=40) as simulator, gmail(simulator) as terminal:
            yield "/mail", terminal
    elif request.param == "slack":
        pytest.importorskip("slack_sdk")
        from mirage.bench.services.slack import SlackSimulator
        from tests.mounts.slack_support import make_terminal as slack
        with SlackSimulator(messages=40) as simulator, slack(simulator) as terminal:
            yield "/slack", terminal
    else:
        for module in ("pymap", "imapclient", "proxyprotocol"):
            pytest.importorskip(module)
        from tests.mounts.imap_support import Server, fill
        from tests.mounts.imap_support import make_terminal as imap
        server = Server()
        fill(server, 3)
        with imap(server) as terminal:
            yield "/mail", terminal
        server.stop()


def test_attached_files_are_found_by_any_name(served: tuple[str, Terminal]) -> None:
    place, terminal = served
    listed = terminal.run(f"find {place} -type f ! -name '*.email.json' ! -name 'chat.*' ! -path '*/users/*'").stdout.splitlines()
    assert listed
    tried = 0
    for path in listed:
        name = path.rpartition("/")[2]
        text = terminal.run(f"cat '{path}'").stdout_bytes
        words = re.findall(rb"\b[a-z]{5,}\b", text) if b"\0" not in text and text.isascii() else []
        for word in words[:1]:
            line = f"grep -rlw --include='{name[:6]}*' {word.decode()} {place}"
            pushed, exact = terminal.run(line), terminal.run(line.replace("grep", "grep --exact", 1))
            assert path in exact.stdout.splitlines()
            missing = set(exact.stdout.splitlines()) - set(pushed.stdout.splitlines())
            assert not missing or re.fullmatch(GUESSED, pushed.stderr), (line, missing, pushed.stderr)
            tried += 1
    assert tried
