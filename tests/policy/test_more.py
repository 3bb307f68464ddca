"""Denied for some effects only; what a listing tells; what an approver sees on a terminal; the speed of the gate."""
from __future__ import annotations

import time

import pytest

from mirage import Terminal
from mirage.console.owner import plain
from mirage.mounts import Memory
from mirage.process.process import refusal_note
from tests.policy.support import SECRET, rule, seen, terminal


def test_a_drop_box_is_written_and_not_read():
    with terminal(rule("deny", path="/data/out", effect="[read, list, stat, search]", reason="BOX"),
                  {"/data": Memory({"out/x": SECRET, "in": "i\n"})}) as t:
        assert t.run("echo new > /data/out/new; cp /data/in /data/out/c; mkdir /data/out/d; echo y >> /data/out/x").exit_code == 0
        for line in ("cat /data/out/x", "ls /data/out", "mv /data/out/x /tmp/x", "ln /data/out/x /data/x", "cp -r /data /tmp/c",
                     "grep -r . /data/out", "tar cf - /data/out"):
            result = t.run(line)
            assert SECRET not in seen(result) and "mirage: denied: " in result.stderr, line


def test_a_listing_tells_no_more_than_stat_would():
    with terminal(rule("deny", path="'*.key'", effect="[stat, read]", reason="NOSTAT"),
                  {"/data": Memory({"a.key": "x" * 4711, "b": "b"})}) as t:
        assert t.run("ls /data; echo /data/*").stdout == "a.key\nb\n/data/a.key /data/b\n"
        for line in ("ls -l /data", "find /data -printf '%p %s %t %m\\n'", "du -a --apparent-size -b /data", "wc -c /data/*",
                     "find /data -size +1k", "tree -s /data", "stat /data/*", "ls -sS /data", "find /data -newermt 2001-01-01 -ls",
                     "tar tvf <(tar cf - /data)"):
            assert "4711" not in seen(t.run(line)), line
        entries = {e.name: e.stat for e in t.fs.list("/data")}
        assert entries["a.key"] is None and entries["b"].size == 1
        walked = {e.name: e.stat for _, found in t.fs.walk("/data") for e in found}
        assert walked["a.key"].size is None and walked["a.key"].is_file and walked["a.key"].mtime_ns == 0


def test_a_directory_that_may_not_be_listed():
    with terminal(rule("deny", path="/data/d", effect="list", reason="NOLIST"), {"/data": Memory({"d/x": "x", "d/e/y": "y"})}) as t:
        assert t.run("cat /data/d/x; cd /data/d; cat e/y").stdout == "xy"
        for line in ("ls /data/d", "find /data", "rm -r /data/d", "cp -r /data/d /tmp/d", "du /data", "cd /data/d; ls"):
            assert t.run(line).stderr.count("mirage: denied: NOLIST\n") == 1, line
        assert t.run("echo /data/d/* /data/d/e/*; compgen -f /data/d/").stdout == "/data/d/* /data/d/e/*\n"


def test_what_an_agent_writes_cannot_draw_over_the_question():
    shown = plain("rm \r\x1b[2Kls \x9b2K \u202egood \ud800 gr\u00fcn")
    assert shown == "rm \\r\\x1b[2Kls \\x9b2K \\u202egood \\ud800 gr\u00fcn"


def test_the_note_is_taken_once_per_process_and_kept_on_the_error():
    with terminal(rule("deny", path="/data", reason="WHY")) as t:
        with pytest.raises(PermissionError) as refused:
            t.fs.read("/data/pub.txt")
        assert refused.value.note == "denied: WHY"
        assert refusal_note(refused.value) == "mirage: denied: WHY\n" and refusal_note(refused.value) == ""
        assert refused.value.note == "denied: WHY"
        assert refusal_note(FileNotFoundError(2, "x")) == ""


def test_the_gate_costs_little():
    with Terminal({"/data": Memory({"d/f": "x"})}, policy="no-secrets") as t:
        fs = t.machine.filesystem(t.session.process)
        best = 1.0
        for _ in range(10):
            started = time.process_time()
            for _ in range(1000):
                fs.stat("/data/d/f")
            best = min(best, (time.process_time() - started) / 1000)
        assert best < 20e-6                                  # 5 microseconds on the machine it was written on
