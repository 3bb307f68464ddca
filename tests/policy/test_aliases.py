"""The object counts, not the name: second mounts, mounted subfolders, hard links older than the policy."""
from __future__ import annotations

import os

import pytest

from mirage.mounts import Host, Memory
from tests.policy.support import SECRET, rule, seen, terminal


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "p" / "sub" / "secret").mkdir(parents=True)
    (tmp_path / "p" / "sub" / "secret" / "k").write_text(SECRET)
    (tmp_path / "p" / "sub" / "x").write_text("x\n")
    return tmp_path


@pytest.mark.parametrize("action", ["hide", "deny"])
def test_one_memory_mounted_twice(action):
    for line in ("cat /b/dir/secret/k", "mv /b/dir /b/d; cat /b/d/secret/k", "cp -r /b /tmp/c; cat /tmp/c/dir/secret/k",
                 "mv /b/dir/secret /b/s; cat /b/s/k", "ln /b/dir/secret/k /b/l; cat /b/l", "grep -r . /b",
                 "ln -s /b/dir/secret /tmp/s; cat /tmp/s/k", "mv /b/dir/secret/k /b/k; cat /b/k", "cat /b/dir/*/*"):
        memory = Memory({"dir/secret/k": SECRET, "dir/pub": "p"})
        with terminal(rule(action, path="/a/dir/secret"), {"/a": memory, "/b": memory}) as t:
            assert SECRET not in seen(t.run(line)), line
            assert t.run("grep -rl . /a /b /tmp").stdout.count("secret") == 0
            assert memory.read("/dir/secret/k") == SECRET.encode(), line


@pytest.mark.parametrize("path", ["/all/p/sub/secret", "/sub/secret"])
@pytest.mark.parametrize("action", ["hide", "deny"])
def test_a_subfolder_mounted_on_its_own(folder, action, path):
    mounts = {"/all": Host(folder, writable=True), "/sub": Host(folder / "p" / "sub", writable=True)}
    with terminal(rule(action, path=path), mounts) as t:
        for line in ("cat /all/p/sub/secret/k", "cat /sub/secret/k", "mv /all/p /all/q; cat /all/q/sub/secret/k",
                     "mv /all/p/sub /all/z; cat /all/z/secret/k", "mv /sub/secret /sub/s; cat /sub/s/k",
                     "ln /sub/secret/k /sub/l; cat /sub/l", "grep -r . /all /sub", "find / -name k -exec cat {} +"):
            assert SECRET not in seen(t.run(line)), line
        assert (folder / "p" / "sub" / "secret" / "k").read_text() == SECRET


@pytest.mark.parametrize("action", ["hide", "deny"])
def test_hard_links_made_before(tmp_path, action):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "k").write_text(SECRET)
    os.link(tmp_path / "a" / "k", tmp_path / "b" / "l")
    memory = Memory({"a/k": SECRET, "b/f": "f"})
    memory.link("/a/k", "/b/l")
    for mounts in ({"/m": memory}, {"/m": Host(tmp_path, writable=True)},
                   {"/m/a": Host(tmp_path / "a"), "/m/b": Host(tmp_path / "b", writable=True)}):
        with terminal(rule(action, path="/m/a/k"), mounts) as t:
            for line in ("cat /m/b/l", "cat /m/b/*", "mv /m/b/l /m/b/n; cat /m/b/n", "ln /m/b/l /m/b/o; cat /m/b/o",
                         "cp /m/b/l /tmp/l; cat /tmp/l", "ln -s /m/b/l /tmp/s; cat /tmp/s", "tar cf - /m/b"):
                assert SECRET not in seen(t.run(line)), line
            if action == "hide":
                assert "l" not in t.run("ls /m/b").stdout.split()


def test_a_link_found_later_counts_at_once():
    memory = Memory({"a/k": SECRET, "b/": None})
    with terminal(rule("deny", path="/m/a/k"), {"/m": memory}) as t:
        assert t.run("cat /m/b/l").exit_code == 1
        memory.link("/a/k", "/b/l")
        assert SECRET not in seen(t.run("cat /m/b/l"))


@pytest.mark.parametrize("effects", ["[read]", "[write, destroy]", "[setattr]", "[destroy]"])
def test_no_rename_or_link_out_of_a_rule(effects):
    memory = Memory({"in/f": "f", "out/": None, "in/d/g": "g"})
    with terminal(rule("deny", path="/m/in", effect=effects), {"/m": memory, "/again": memory}) as t:
        for line in ("mv /m/in/f /m/out/f", "ln /m/in/f /m/out/f", "mv /m/in /m/out/in", "mv /m/in/d /m/out/d",
                     "mv /again/in/f /again/out/f", "ln /again/in/f /again/out/l", "mv /again/in /again/x",
                     "cp -l /m/in/f /m/out/f"):
            result = t.run(line)
            assert result.exit_code == 1 and "mirage: denied: " in result.stderr, line
            assert result.effects == (), line
        assert t.run("mv /m/in/f /m/in/h").exit_code == (1 if "destroy" in effects else 0)
        assert t.run("ln /m/out/x /m/in/f; touch /m/out/new; mv /m/out/new /m/in/new").exit_code == 0


def test_no_rename_into_a_rule_that_allows_more():
    policy = "rules: [{path: /m/*/pub, action: allow}, {path: /m/x, effect: read, action: deny}]"
    with terminal(policy, {"/m": Memory({"x/y/pub/k": SECRET, "x/d/pub": SECRET, "w/": None})}) as t:
        for line in ("mv /m/x/y /m/w; cat /m/w/y/pub/k", "mv /m/x/y /m/v; cat /m/v/pub/k", "mv -T /m/x/d /m/w; cat /m/w/pub",
                     "mv /m/x/y/pub /m/w/pub; cat /m/w/pub/k", "ln /m/x/d/pub /m/w/pub; cat /m/w/pub"):
            assert SECRET not in seen(t.run(line)), line


def test_removing_the_protected_name_does_not_free_the_other():
    for line in ("rm /m/in/k; cat /m/out", "mv /m/x /m/in/k; cat /m/out", "ln -f /m/x /m/in/k; cat /m/out", "rm -rf /m/in; cat /m/out",
                 "cp --remove-destination /m/x /m/in/k; cat /m/out", "find /m/in -delete; cat /m/out", "ln -sf /m/x /m/in/k; cat /m/out"):
        memory = Memory({"in/k": SECRET, "x": "x"})
        memory.link("/in/k", "/out")
        with terminal(rule("deny", path="/m/in", effect="read"), {"/m": memory}) as t:
            assert SECRET not in seen(t.run(line)), line
            assert SECRET not in seen(t.run("cat /m/out /m/*")), line


def test_many_hard_links_are_not_slow():
    import time
    memory = Memory({f"d/{i}": SECRET for i in range(800)})
    with terminal(rule("deny", path="/m/none", effect="write"), {"/m": memory}) as t:
        started = time.process_time()
        assert t.run("cp -al /m/d /m/e; cat /m/e/* /m/d/* > /dev/null; for f in /m/e/1*; do cat $f > /m/o; rm /m/o; done").exit_code == 0
        assert time.process_time() - started < 5
