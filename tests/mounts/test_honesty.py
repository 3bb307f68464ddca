"""The search of every service against reading everything; tests/mounts/honesty.py makes the patterns."""
from __future__ import annotations

import pytest

from mirage import Terminal
from mirage.bench.services.gmail import GmailSimulator
from mirage.bench.services.slack import SlackSimulator
from mirage.vfs.registry import make_mount
from tests.mounts import gmail_support, slack_support
from tests.mounts.honesty import Pattern, check_honest, contents, make_patterns
from tests.mounts.sql_support import make_sqlite
from tests.mounts.word_search import WordSearch


@pytest.fixture(scope="module")
def gmail():
    with GmailSimulator(messages=20, index_lag=300) as simulator:
        simulator.mailbox.deliver("New <new@late.example>", "Brandnew zebra", "A quagga and an invoice.\nnext line")
        yield simulator


@pytest.fixture(scope="module")
def slack():
    with SlackSimulator(messages=30, index_lag=100) as simulator:
        del simulator.workspace.conversations["C10OTHERS"]
        yield simulator


MAILS = "--include='*.email.json' --include='*.md'"


@pytest.mark.parametrize(("options", "count"), [({}, 100), ({"search": "service", "cache": 4000}, 40)])
def test_gmail(gmail, options, count):
    mount = gmail_support.make_mount(gmail, lag=300.0, **options)
    with gmail_support.make_terminal(gmail, mount) as terminal:
        report = check_honest(terminal, "/mail", options=MAILS, count=count)
    assert report.tried >= count * 0.9 and report.pushed > (20 if options else 15), report
    assert report.announced > 2 if options else report.announced == 0


def test_gmail_reads_everything_in_exact(gmail):
    with gmail_support.make_terminal(gmail, gmail_support.make_mount(gmail, lag=300.0)) as terminal:
        report = check_honest(terminal, "/mail/INBOX/2026-09-26", exact=True, options=MAILS)
    assert report.tried > 100 and report.pushed == 0, report


@pytest.mark.parametrize(("options", "count"), [({}, 120), ({"search": "service", "cache": 40_000}, 60)])
def test_slack(slack, options, count):
    with slack_support.make_terminal(slack, slack_support.make_mount(slack, **options)) as terminal:
        report = check_honest(terminal, "/slack", options="--include='chat.*'", count=count)
    assert report.tried >= count * 0.9 and report.pushed > 10, report
    assert report.announced > 0 if options else report.announced == 0, report


def test_slack_reads_everything_in_exact(slack):
    with slack_support.make_terminal(slack) as terminal:
        report = check_honest(terminal, "/slack/channels/apollo__C02APOLLO", exact=True, options="--include='chat.*'")
    assert report.tried > 100 and report.pushed == 0, report


@pytest.mark.parametrize(("root", "count"), [("/db/main/customers", 200), ("/db", 20)])
def test_sql(tmp_path, root, count):
    make_sqlite(tmp_path / "shop.db", rows=30)
    mount = make_mount("sql", {"url": f"sqlite:///{tmp_path}/shop.db"})
    with Terminal({"/db": mount}, policy="default: allow") as terminal:
        report = check_honest(terminal, root, count=count)
    assert report.tried >= count * 0.75 and report.pushed > count / 2 and report.announced == 0, report


def test_a_search_that_leaves_something_out_without_a_word_is_found():
    class Silent(WordSearch):
        def search(self, path, query):
            found = super().search(path, query)
            if found is not None:
                found.note = ""
            return found

    class Wrong(WordSearch):
        def search(self, path, query):
            found = super().search(path, query)
            if found is not None:
                found.paths = list(found.paths)[1:]
            return found

    files = {"a.txt": b"apple pie\n", "b.txt": b"pineapple\napple\n", "c.txt": b"plum\n"}
    patterns = [Pattern("word", "-w", "apple"), Pattern("part", "-F", "appl")]
    for kind in (Silent, Wrong):
        with Terminal({"/s": kind(files, bound=1)}, policy="default: allow") as terminal, \
                pytest.raises(AssertionError, match="missing without a word"):
            check_honest(terminal, "/s", patterns)
    with Terminal({"/s": WordSearch(files, bound=1)}, policy="default: allow") as terminal:
        report = check_honest(terminal, "/s", patterns)
        assert (report.tried, report.pushed, report.announced) == (3, 3, 1)
        with pytest.raises(AssertionError, match="part: grep"):
            check_honest(Terminal({"/s": Silent(files, bound=1)}, policy="default: allow"), "/s", patterns)


def test_patterns_are_of_every_kind_and_the_same_each_time():
    with Terminal({"/s": WordSearch({"a.json": b'{"key": "some words, 12 of them", "n": 3.14}\n', "b.txt": "Grüße aus Köln\n".encode()})},
                  policy="default: allow") as terminal:
        files = contents(terminal, "/s")
    first, again = make_patterns(files), make_patterns(files)
    assert [str(p) for p in first] == [str(p) for p in again] and len(first) > 30
    assert {p.kind for p in first} == {"word", "part", "regex", "foreign", "punctuation", "key", "number", "phrase", "several", "absent"}
