"""A layer over a service in which messages come and go while the layer is used."""
from __future__ import annotations

import json

import pytest

from mirage import Terminal
from mirage.bench.services.gmail import GmailSimulator
from mirage.mounts import Vfs
from mirage.mounts.memory.store import MemoryStore
from mirage.mounts.vfs.store import VfsStore
from mirage.vfs.layer import Layer
from tests.mounts.gmail_support import make_mount

BOX = "/mail/INBOX"
DAY = f"{BOX}/2026-09-30"


@pytest.fixture
def simulator():
    with GmailSimulator() as found:
        yield found


@pytest.fixture(params=["memory", "database"])
def store(request):
    return MemoryStore() if request.param == "memory" else VfsStore(Vfs(":memory:").mount)


@pytest.fixture
def terminal(simulator, store):
    with Terminal({"/mail": Layer(make_mount(simulator), store)}) as found:
        assert said(found, f"chmod u+w {BOX}") == ("", 0)    # a service's directories are read-only
        yield found


def said(terminal, line):
    done = terminal.run(line)
    return done.stdout, done.exit_code


def test_a_message_that_comes_shows_beside_what_was_written(simulator, terminal):
    first = simulator.mailbox.deliver("Kim <kim@news.example>", "First", "hello")
    there = f"First__{first.id}.email.json\n"
    assert said(terminal, f"chmod u+w {DAY}; echo mine > {DAY}/note; ls {DAY}") == (f"{there}note\n", 0)
    new = simulator.mailbox.deliver("Kim <kim@news.example>", "Fresh", "hello")
    name = f"Fresh__{new.id}.email.json"
    assert said(terminal, f"ls {DAY}") == (f"{there}{name}\nnote\n", 0)
    assert json.loads(terminal.run(f"cat {DAY}/{name}").stdout)["subject"] == "Fresh"
    simulator.mailbox.delete([new.id])
    assert said(terminal, f"ls {DAY}") == (f"{there}note\n", 0)
    assert said(terminal, f"cat {DAY}/{name}") == ("", 1)
    simulator.mailbox.delete([first.id])                     # the day is gone beneath, but for what was written
    assert said(terminal, f"ls {DAY}; cat {DAY}/note") == ("note\nmine\n", 0)


def test_a_directory_that_was_made_is_the_layers_own(simulator, terminal):
    assert said(terminal, f"mkdir {DAY}; echo mine > {DAY}/note") == ("", 0)
    simulator.mailbox.deliver("Kim <kim@news.example>", "Fresh", "hello")
    assert said(terminal, f"ls {DAY}") == ("note\n", 0)


def test_a_message_that_goes_keeps_its_changed_copy(simulator, terminal):
    new = simulator.mailbox.deliver("Kim <kim@news.example>", "Fresh", "hello")
    path = f"{DAY}/Fresh__{new.id}.email.json"
    before = terminal.run(f"cat {path}").stdout
    assert said(terminal, f"chmod u+w {path} {DAY}; echo seen >> {path}; tail -n1 {path}") == ("seen\n", 0)
    simulator.mailbox.delete([new.id])
    assert said(terminal, f"cat {path}") == (before + "seen\n", 0)
    assert said(terminal, f"ls {DAY}") == (path.rpartition("/")[2] + "\n", 0)
    assert said(terminal, f"rm {path}; ls {DAY} 2>/dev/null; echo {DAY}/*") == (f"{DAY}/*\n", 0)


def test_what_was_removed_stays_removed_when_others_come(simulator, terminal):
    first = simulator.mailbox.deliver("Kim <kim@news.example>", "Fresh", "hello")
    assert said(terminal, f"chmod u+w {DAY}; rm {DAY}/Fresh__{first.id}.email.json; ls {DAY}") == ("", 0)
    second = simulator.mailbox.deliver("Kim <kim@news.example>", "Fresh", "again")
    assert said(terminal, f"ls {DAY}") == (f"Fresh__{second.id}.email.json\n", 0)
    simulator.mailbox.change_labels([first.id], ["STARRED"], [])         # changes under the whiteout
    assert said(terminal, f"ls {DAY}") == (f"Fresh__{second.id}.email.json\n", 0)


def test_a_directory_that_was_moved_goes_on_showing_what_comes(simulator, terminal):
    first = simulator.mailbox.deliver("Kim <kim@news.example>", "Fresh", "hello")
    assert said(terminal, f"chmod u+w {DAY}; mv {DAY} /mail/today; ls /mail/today") == (f"Fresh__{first.id}.email.json\n", 0)
    assert terminal.run(f"ls {DAY}").exit_code == 2
    second = simulator.mailbox.deliver("Kim <kim@news.example>", "Later", "again")
    assert sorted(said(terminal, "ls /mail/today")[0].split()) == sorted(
        [f"Fresh__{first.id}.email.json", f"Later__{second.id}.email.json"])
    simulator.mailbox.delete([first.id])
    assert said(terminal, "ls /mail/today") == (f"Later__{second.id}.email.json\n", 0)


def test_a_message_that_goes_before_it_is_copied_is_missing(simulator, store):
    layer = Layer(make_mount(simulator), store)
    new = simulator.mailbox.deliver("Kim <kim@news.example>", "Fresh", "hello")
    with Terminal({"/mail": layer}) as terminal:
        path = f"{DAY}/Fresh__{new.id}.email.json"
        assert said(terminal, f"test -f {path}") == ("", 0)
        simulator.mailbox.delete([new.id])
        done = terminal.run(f"chmod 600 {path}")
        assert done.exit_code == 1 and "No such file" in done.stderr
        assert list(layer.changes()) == []
