"""What is recorded: effects that happened, refusals, sums; the file others can read; threads."""
from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading

import pytest

from mirage import Terminal
from mirage.mounts import Host, Memory
from mirage.policy.journal import FIELDS, Journal
from tests.policy.support import RULES, SECRET, rule, terminal


def changes(result):
    return [(e.effect, e.target) for e in result.effects]


@pytest.mark.parametrize(("line", "expected"), [
    ("cat pub.txt", []), ("ls -lR .", []), ("true < pub.txt", []), (": >> pub.txt", []), ("exec 3<>pub.txt; exec 3>&-", []),
    ("echo x > new", [("create", "new"), ("write", "new")]), ("> new", [("create", "new")]),
    ("> pub.txt", [("destroy", "pub.txt")]), ("echo x >> pub.txt", [("write", "pub.txt")]),
    ("echo x > pub.txt", [("destroy", "pub.txt"), ("write", "pub.txt")]), ("rm pub.txt", [("destroy", "pub.txt")]),
    ("mkdir n", [("create", "n")]), ("mkdir dir", []), ("rmdir dir", []), ("rm dir", []), ("rm none", []),
    ("mv pub.txt new", [("destroy", "pub.txt"), ("create", "new")]), ("mv none new", []),
    ("mv pub.txt dir/a.txt", [("destroy", "pub.txt"), ("destroy", "dir/a.txt")]),
    ("ln pub.txt l", [("link", "pub.txt"), ("create", "l")]), ("ln pub.txt dir/a.txt", []),
    ("ln -s x l", [("create", "l"), ("link", "l")]), ("chmod 600 pub.txt", [("setattr", "pub.txt")]), ("chmod 600 none", []),
    ("truncate -s 1 pub.txt", [("destroy", "pub.txt")]), ("truncate -s 99 pub.txt", [("write", "pub.txt")]),
    ("find . -name a.txt -delete", [("destroy", "dir/a.txt")]), ("set -C; > pub.txt", []), ("> none/x", []),
    ("rm -r dir", [("destroy", "dir/a.txt"), ("destroy", "dir")]),
    ("for i in 1 2 3; do echo x >> pub.txt; done", [("write", "pub.txt")]),
])
def test_effects_are_what_happened(line, expected):
    with terminal(rule("allow", path="/"), cwd="/data") as t:
        assert changes(t.run(line)) == [(effect, f"/data/{name}") for effect, name in expected]


def test_what_a_mount_refuses_is_no_effect(tmp_path):
    (tmp_path / "f").write_text("f")
    with Terminal({"/ro": Host(tmp_path)}, policy=rule("allow", path="/"), cwd="/ro") as t:
        for line in ("> f", "rm f", "mkdir d", "mv f g", "chmod 600 f", "ln -s x y", "ln f g", "touch f"):
            result = t.run(line)
            assert result.exit_code == 1 and result.effects == () and result.refusals == (), line


def test_who_did_it():
    with terminal(RULES["deny"], cwd="/data") as t:
        result = t.run("echo 1 > n; cp pub.txt c; seq 2 | tee s > t; bash -c 'rm c'; cat secret/key.txt; f() { : > g; }; f > h")
        assert {(e.command, e.target.rpartition("/")[2]) for e in result.effects} == {
            ("echo", "n"), ("cp", "c"), ("tee", "t"), ("tee", "s"), ("rm", "c"), ("f", "h"), (":", "g")}
        assert [(r.command, r.target) for r in result.refusals] == [("cat", "/data/secret/key.txt")]


def test_record_kinds():
    with terminal(RULES["deny"], cwd="/data") as t:
        t.run("for i in 1 2 3; do cat pub.txt; done; echo x > new; cat x.pem; ls dir; seq 1")
        records = t.machine.gate.journal.records()
        assert all(tuple(r) == FIELDS for r in records)
        assert len({r["session"] for r in records}) == 1 and {r["line"] for r in records} == {1}
        line = records[0]
        assert line["effect"] == "line" and line["command"].startswith("for i") and line["duration"] > 0
        assert (line["calls"], line["bytes"]) == (7, 21)
        execs = {r["command"]: r["calls"] for r in records if r["effect"] == "exec"}
        assert execs == {"cat pub.txt": 3, "echo x": 1, "cat x.pem": 1, "ls dir": 1, "seq 1": 1}
        read, = (r for r in records if r["effect"] == "read" and r["verdict"] == "allow")
        assert (read["command"], read["target"], read["calls"], read["bytes"]) == ("cat", "/data", 3, 21)
        refused, = (r for r in records if r["verdict"] == "deny")
        assert (refused["command"], refused["effect"], refused["target"], refused["reason"], refused["rule"]) == (
            "cat", "read", "/data/x.pem", "KEEPOUT", "policy[1]")
        assert [r["target"] for r in records if r["effect"] == "create"] == ["/data/new"]


def test_the_commands_of_a_loop_are_added_up():
    with terminal(RULES["deny"]) as t:
        t.run("for i in {1..500}; do : $i; done")
        execs = t.machine.gate.journal.records("effect = 'exec'")
        assert len(execs) <= 25 and sum(r["calls"] for r in execs) == 500


def test_no_secret_in_it(tmp_path):
    file = tmp_path / "sub" / "journal.db"
    with terminal(RULES["deny"], journal=file, env={"TOKEN": "s3cr3t"}) as t:
        t.run("cat /data/secret/key.txt; read x < /data/x.pem; env; cat /data/pub.txt | grep pub > /tmp/o")
        t.fs.write("/data/n", b"content-9")
    data = b"".join(p.read_bytes() for p in file.parent.iterdir())
    for secret in (SECRET, "s3cr3t", "content-9", "public"):
        assert secret.encode() not in data


def test_the_file_is_readable_meanwhile_and_goes_on(tmp_path):
    file = tmp_path / "journal.db"
    for number in (1, 2):
        with terminal(RULES["deny"], journal=file) as t:
            t.run("cat /data/x.pem")
            other = sqlite3.connect(file)
            assert other.execute("select count(*) from journal where verdict = 'deny'").fetchone() == (number,)
            assert other.execute("pragma integrity_check").fetchone() == ("ok",)
            other.close()
    assert len({r["session"] for r in Journal(file).records()}) == 2


def test_a_crash_loses_no_finished_line(tmp_path):
    file = tmp_path / "journal.db"
    script = ("import os, sys; from mirage import Terminal\n"
              "t = Terminal(journal=sys.argv[1])\n"
              "for i in range(5): t.run(f'echo {i} > /workspace/f{i}')\n"
              "os._exit(9)\n")
    assert subprocess.run([sys.executable, "-c", script, str(file)], check=False, cwd=os.getcwd()).returncode == 9
    records = Journal(file).records("effect = 'create'")
    assert [r["target"] for r in records] == [f"/workspace/f{i}" for i in range(5)]


def test_names_that_are_not_text(tmp_path):
    with terminal(rule("allow", path="/"), journal=tmp_path / "j.db") as t:
        t.run("> $'/data/a\\xff'; echo $'\\xfe'; rm $'/data/none\\xff'")
        assert "/data/a\\udcff" in [r["target"] for r in t.machine.gate.journal.records()]


def test_the_python_door_is_recorded_on_its_own():
    with terminal(RULES["deny"]) as t:
        t.fs.write("/data/n", b"x")
        result = t.run("echo 1 > /data/m")
        assert changes(result) == [("create", "/data/m"), ("write", "/data/m")]
        records = t.machine.gate.journal.records("effect = 'create'")
        assert sorted((r["line"], r["command"], r["target"]) for r in records) == [(0, "python", "/data/n"), (1, "echo", "/data/m")]


def test_many_threads_at_the_door_while_a_line_runs():
    with terminal(RULES["deny"] + "  - {path: /data/pub.txt, action: limit, effect: read, calls: 100000}\n") as t:
        failures = []

        def work(number):
            try:
                for i in range(60):
                    t.fs.write(f"/data/dir/{number}-{i}", b"x")
                    assert t.fs.read("/data/pub.txt") == b"public\n"
                    with pytest.raises(PermissionError):
                        t.fs.read("/data/secret/key.txt")
                    t.fs.remove(f"/data/dir/{number}-{i}")
            except BaseException as e:
                failures.append(e)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        results = [t.run("for i in {1..50}; do echo $i > /data/own; cat /data/own > /dev/null; done") for _ in range(5)]
        for thread in threads:
            thread.join()
        assert not failures
        for result in results:
            assert {e.target for e in result.effects} == {"/data/own"} and not result.refusals and result.exit_code == 0
        t.run("true")
        removed = t.machine.gate.journal.records("effect = 'destroy' and command = 'python'")
        assert sum(r["calls"] for r in removed) == 360


def test_usage():
    with terminal(rule("allow", path="/"), {"/data": Memory({"a": "12345", "b": "123"})}) as t:
        usage = t.run("cat /data/a /data/b; ls /data").usage
        assert (usage.reads, usage.bytes, usage.lists, usage.commands) == (2, 8, 1, 2)
