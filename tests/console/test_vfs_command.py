"""The program `vfs`: its command lines, texts, exit statuses, and what each command does."""
from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys

import pytest

from mirage.console.vfs import texts
from mirage.console.vfs.commands import build
from mirage.console.vfs.completions import script
from mirage.console.vfs.main import main
from mirage.mounts import Vfs
from mirage.mounts.vfs.maintenance import layer_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture
def vfs(tmp_path, monkeypatch, capfdbinary):
    """Runs `vfs WORDS` in a directory of its own: (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("VFS_KEY", "VFS_CIPHER"):
        monkeypatch.delenv(name, raising=False)

    def run(*words):
        status = main([str(word) for word in words])
        out = capfdbinary.readouterr()
        return status, out.out.decode(), out.err.decode()

    return run


def every(command):
    yield command
    for below in command.commands:
        yield from every(below)


# ---- texts

def test_T1_the_manual_says_what_the_help_says():
    with open(os.path.join(ROOT, "docs", "MANUAL.md"), encoding="utf-8") as file:
        assert file.read() == texts.manual(build())


@pytest.mark.parametrize("command", list(every(build())), ids=lambda c: c.title)
def test_T1_help_names_every_option_and_operand(vfs, command):
    words = []
    for above in command.path[1:]:
        words.append(above.name)
        if above is not command:
            words.extend("x" for _ in above.arguments)
    status, out, err = vfs(*words, "--help")
    assert (status, err) == (0, "") and out.startswith(command.about)
    text = re.sub(r"\s+", " ", out)
    assert f"Usage: {texts.usage(command)}" in text
    for option in command.options:
        assert f"{texts.named(option)} {texts.notes(option)}".rstrip() in text
    for argument in command.arguments:
        assert texts.notes(argument) in text


# ---- statuses

@pytest.mark.parametrize("words", [
    ["nonsense"], ["fs"], ["fs", "x"], ["fs", "x", "nonsense"], ["fs", "x", "ls", "/", "more"], ["init", "--nonsense"],
    ["timeline", "x", "--status", "odd"], ["timeline", "x", "--format"], ["backup", "x"], ["migrate", "x", "--verify"],
    ["fs", "x", "ls", "--key", "00"], ["fs", "x", "ls", "--cipher", "aes256gcm"], ["completions", "install", "tcsh"], [],
])
def test_T2_T3_a_bad_command_line_is_status_2(vfs, words):
    status, out, err = vfs(*words)
    assert (status, out) == (2, "") and "Usage: vfs" in err


@pytest.mark.parametrize("words", [
    ["run"], ["run", "--key", "00" * 32, "--cipher", "aegis256", "--", "ls"], ["ps"], ["seed", "s"], ["pack", "s"], ["adopt", "s"],
    ["status", "s"], ["sync", "x", "pull"], ["sync", "x", "push"], ["sync", "x", "stats"], ["sync", "x", "checkpoint"],
    *(["init", "x", f"--sync-{name}", value] for name, value in (
        ("remote-url", "u"), ("partial-prefetch", "true"), ("partial-segment-size", "1"), ("partial-bootstrap-query", "q"),
        ("partial-bootstrap-length", "1"))),
])
def test_what_is_not_there_yet_says_so(vfs, words):
    status, out, err = vfs(*words)
    assert status == 1 and not out and "not available in this version" in err and err.count("\n") == 1
    assert not os.path.exists(".vfs")


def test_T4_T5_ids_and_paths(vfs, tmp_path):
    assert vfs("init", "bot")[:2] == (0, "Created agent filesystem: .vfs/bot.db\nAgent ID: bot\n")
    assert vfs("fs", "bot", "write", "/f", "by id")[0] == 0
    assert vfs("fs", ".vfs/bot.db", "cat", "/f")[1] == "by id"
    assert vfs("fs", ":memory:", "ls") == (0, "", "")
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    status, out, err = vfs("fs", "bot", "ls")
    assert (status, out) == (1, "") and "not found" in err
    assert vfs("init", "no/id")[0] == 1 and vfs("init")[0] == 0


def test_init_overwrites_only_what_it_names(vfs):
    for name in ("foo", "foobar"):
        vfs("init", name)
        vfs("fs", name, "write", "/f", "x")
    assert vfs("init", "foo")[0] == 1
    assert vfs("init", "--force", "foo")[0] == 0
    assert vfs("fs", "foo", "ls")[1] == "" and vfs("fs", "foobar", "ls")[1] == "f f\n"


def test_init_overwrites_nothing_that_is_in_use(vfs):
    vfs("init", "bot")
    vfs("fs", "bot", "write", "/f", "x")
    user = subprocess.Popen([sys.executable, "-c", "import sqlite3; db = sqlite3.connect('.vfs/bot.db'); "
                             "db.execute('SELECT * FROM fs_inode').fetchall(); print(flush=True); input()"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    user.stdout.readline()
    status, out, err = vfs("init", "--force", "bot")
    assert (status, out) == (1, "") and f"is in use by process {user.pid}" in err and len(err.splitlines()) == 1
    user.communicate(b"\n")
    with Vfs.open(".vfs/bot.db"):
        assert f"is in use by process {os.getpid()}" in vfs("init", "--force", "bot")[2]
    assert vfs("fs", "bot", "cat", "/f")[1] == "x"
    assert vfs("init", "--force", "bot")[0] == 0 and vfs("fs", "bot", "ls")[1] == ""


def test_help_tells_what_is_not_available(vfs):
    text = re.sub(r"\s+", " ", vfs("--help")[1])
    assert "List active vfs run sessions [not available in this version]" in text
    assert text.count("[not available in this version]") == 7
    assert "Not available in this version." in vfs("ps", "--help")[1]
    assert "ot available" not in vfs("exec", "--help")[1]


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + bytes(3000)])
def test_bad_files_are_one_line_and_stay_as_they_are(vfs, tmp_path, content):
    (tmp_path / "bad.db").write_bytes(content)
    for words in (["fs", "bad.db", "ls"], ["fs", "bad.db", "write", "/f", "x"], ["integrity", "bad.db"], ["timeline", "bad.db"],
                  ["backup", "bad.db", "new.db"], ["migrate", "bad.db"], ["materialize", "bad.db"], ["diff", "bad.db"]):
        status, out, err = vfs(*words)
        assert status == 1 and not out and err.startswith("Error: ") and err.count("\n") == 1, words
    assert (tmp_path / "bad.db").read_bytes() == content
    assert [p.name for p in tmp_path.iterdir() if p.name != "home"] == ["bad.db"]


# ---- files

def test_options_may_follow_operands(vfs):
    vfs("init", "bot")
    assert vfs("fs", "bot", "mkdir", "/a/b", "-p")[0] == 0
    assert vfs("fs", "bot", "rm", "/a", "--recursive")[0] == 0
    assert vfs("fs", "bot", "write", "--", "/f", "-x")[0] == 0 and vfs("fs", "bot", "cat", "/f")[1] == "-x"


def test_files_in_and_out(vfs, tmp_path):
    vfs("init", "bot")
    (tmp_path / "tree" / "sub").mkdir(parents=True)
    (tmp_path / "tree" / "big").write_bytes(bytes(range(256)) * 10_000)
    (tmp_path / "tree" / "sub" / "tool").write_text("#!")
    (tmp_path / "tree" / "sub" / "tool").chmod(0o755)
    os.symlink("big", tmp_path / "tree" / "link")
    assert vfs("fs", "bot", "cp", "tree", ":/")[0] == 1
    assert vfs("fs", "bot", "cp", "-r", "tree", ":/")[0] == 0
    assert vfs("fs", "bot", "ls", "/tree")[1] == "f big\nl link\nd sub\n"
    assert json.loads(vfs("fs", "bot", "stat", "/tree/sub/tool", "--json")[1])["mode"] == "0755"
    assert vfs("fs", "bot", "cp", ":/tree", "out", "-r")[0] == 0
    assert (tmp_path / "out" / "big").read_bytes() == (tmp_path / "tree" / "big").read_bytes()
    assert os.readlink(tmp_path / "out" / "link") == "big" and os.access(tmp_path / "out" / "sub" / "tool", os.X_OK)
    assert vfs("fs", "bot", "cp", ":/tree/big", ":/copy")[0] == 0 and vfs("fs", "bot", "stat", "/copy")[0] == 0
    assert vfs("fs", "bot", "rm", "/tree")[0] == 1
    assert vfs("fs", "bot", "cat", "/none") == (1, "", "Error: /none: No such file or directory\n")


# ---- overlays

@pytest.fixture
def overlay(vfs, tmp_path):
    base = tmp_path / "base"
    (base / "d").mkdir(parents=True)
    (base / "a.txt").write_text("alpha")
    (base / "d" / "b.txt").write_text("beta")
    (base / "big.bin").write_bytes(bytes(1000) * 3000)
    assert vfs("init", "bot", "--base", "base")[0] == 0
    return base


def test_changes_over_a_base_are_listed(vfs, overlay):
    assert vfs("diff", "bot") == (0, "", "")
    assert vfs("fs", "bot", "cat", "/d/b.txt")[1] == "beta"
    vfs("fs", "bot", "write", "/a.txt", "changed")
    vfs("fs", "bot", "write", "/new's.txt", "new")
    vfs("fs", "bot", "rm", "/d", "-r")
    assert vfs("diff", "bot")[1] == "M f /a.txt\nD d /d\nA f /new's.txt\n"
    assert (overlay / "a.txt").read_text() == "alpha" and (overlay / "d" / "b.txt").exists()
    assert vfs("fs", "bot", "ls")[1] == "f a.txt\nf big.bin\nf new's.txt\n"


def change_one_byte(partial):
    with Vfs.open(".vfs/bot.db") as database:
        handle = layer_of(database, partial=partial, threshold=1 << 20).open("/big.bin", os.O_RDWR)
        handle.pwrite(b"X", 1_500_000)
        handle.close()


def test_T28_T30_T31_T85_T87_T88_partial_files(vfs, overlay, tmp_path):
    change_one_byte("auto")
    assert os.path.getsize(".vfs/bot.db") < 500_000
    assert vfs("integrity", "bot")[0] == 0 and vfs("integrity", "bot", "--check-base")[0] == 0
    status, out, _ = vfs("integrity", "bot", "--require-portable", "--json")
    assert status == 1 and json.loads(out)["partialOriginFiles"] == 1
    assert vfs("backup", "bot", "copy.db")[0] == 1 and not os.path.exists("copy.db")
    assert vfs("backup", "bot", "copy.db", "--materialize", "--verify")[0] == 0
    assert vfs("materialize", "bot", "--output", "whole.db", "--verify")[0] == 0
    expected = bytearray((overlay / "big.bin").read_bytes())
    expected[1_500_000] = ord("X")
    os.rename(overlay, tmp_path / "moved away")
    for name in ("copy.db", "whole.db"):
        with Vfs.open(name) as database:
            assert database.fs.read("/big.bin") == bytes(expected)
    os.rename(tmp_path / "moved away", overlay)
    assert vfs("integrity", "whole.db", "--require-portable")[0] == 0
    with open(overlay / "big.bin", "ab") as file:
        file.write(b"more")
    status, out, _ = vfs("integrity", "bot", "--check-base")
    assert status == 1 and "big.bin" in out
    assert vfs("fs", "bot", "cat", "/big.bin")[0] == 1       # not the old and the new content mixed


def test_T29_a_whole_copy_needs_no_base(vfs, overlay):
    change_one_byte("off")
    assert vfs("integrity", "bot", "--require-portable")[0] == 0 and os.path.getsize(".vfs/bot.db") > 3_000_000


# ---- the log, integrity

def test_timeline_filters_before_the_limit(vfs):
    vfs("init", "bot")
    with Vfs.open(".vfs/bot.db") as database:
        for number in range(5):
            database.tools.record("grep", number, number, {"n": number})
        database.tools.record("cat", 100, 101, error="no")
        database.tools.start("slow")
    assert [c["name"] for c in json.loads(vfs("timeline", "bot", "--format", "json", "--limit", "2", "--filter", "grep")[1])] == ["grep"] * 2
    assert json.loads(vfs("timeline", "bot", "--format", "json", "--status", "pending")[1])[0]["name"] == "slow"
    status, out, _ = vfs("timeline", "bot", "--status", "error")
    assert status == 0 and out.splitlines()[0].split() == ["ID", "TOOL", "STATUS", "DURATION", "STARTED"]
    assert out.splitlines()[1].split()[1:4] == ["cat", "error", "1000ms"]


def test_T79_T80_integrity_reports_and_checkpoints(vfs):
    vfs("init", "bot")
    keeper = sqlite3.connect(".vfs/bot.db")
    keeper.execute("SELECT 1 FROM fs_inode").fetchone()
    vfs("fs", "bot", "write", "/f", "x")
    assert os.path.getsize(".vfs/bot.db-wal")
    status, out, _ = vfs("integrity", "bot", "--json", "--checkpoint")
    assert status == 0 and json.loads(out) == {"path": ".vfs/bot.db", "ok": True, "problems": [], "partialOriginFiles": 0,
                                               "checkpointed": True}
    keeper.execute("DELETE FROM fs_inode WHERE ino > 1")
    keeper.commit()
    keeper.close()
    status, out, _ = vfs("integrity", "bot")
    assert status == 1 and "dentry-inode" in out


def test_T59_version(vfs):
    said = json.loads(vfs("version", "--json")[1])
    assert said["artifactVersion"] == "0.6" and said["minSupportedArtifactVersion"] == "0.0"
    assert [name for name, there in said["features"].items() if not there] == ["run", "sync"]


@pytest.mark.parametrize("words", [["nfs", "none"], ["mcp-server", "none"]])
def test_old_names_warn(vfs, words):
    status, out, err = vfs(*words)
    assert status == 1 and not out and err.splitlines()[0].startswith("warning: `vfs ") and "not found" in err


def test_integrity_repairs_what_the_peer_leaves(vfs):
    vfs("init", "bot")
    connection = sqlite3.connect(".vfs/bot.db")
    connection.execute("INSERT INTO fs_inode (mode, nlink, atime, mtime, ctime) VALUES (16877, 1, 0, 0, 0)")
    connection.commit()
    connection.close()
    assert "orphan" in vfs("integrity", "bot")[1]
    assert vfs("integrity", "bot", "--repair")[1] == "repaired: 1 rows removed\nok\n" and vfs("integrity", "bot")[1] == "ok\n"


@pytest.mark.skipif(sys.platform != "linux", reason="needs a pseudo-terminal as on Linux")
def test_progress_is_shown_on_a_terminal_only(vfs, tmp_path):
    import pty
    vfs("init", "bot")
    for words in (["integrity", "bot"], ["backup", "bot", "b.db"], ["migrate", "bot", "--copy", "c.db"]):
        above, below = pty.openpty()
        done = subprocess.run([sys.executable, "-m", "mirage.console.vfs.main", *words], stderr=below, stdout=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": ROOT, "TERM": "xterm"}, timeout=60)
        os.close(below)
        shown = os.read(above, 100_000)
        os.close(above)
        assert done.returncode == 0 and (b"Checking" in shown or b"Copying" in shown) and b"\x1b" not in done.stdout
    for name in ("b.db", "c.db"):
        with Vfs.open(name, create=False) as database:
            assert database.fs.list("/") == []


# ---- completions

def test_completions_come_and_go(vfs, tmp_path):
    rc = tmp_path / "home" / ".bashrc"
    rc.parent.mkdir()
    rc.write_text("alias x=y")
    assert vfs("completions", "install", "bash")[0] == 0 and vfs("completions", "install", "bash")[0] == 0
    assert rc.read_text().count(">>> vfs") == 1
    assert vfs("completions", "uninstall", "bash")[0] == 0 and rc.read_text() == "alias x=y\n"
    assert vfs("completions", "show")[0] == 0
    for shell in ("zsh", "fish", "elvish", "power-shell"):
        assert "timeline" in script(shell) and vfs("completions", "install", shell)[0] == 0


def test_bash_completes(tmp_path):
    lines = script("bash") + 'COMP_WORDS=(vfs fs bot w); COMP_CWORD=3; _vfs; echo "${COMPREPLY[@]}"\n' \
        'COMP_WORDS=(vfs ti); COMP_CWORD=1; _vfs; echo "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash", "--norc"], input=lines, capture_output=True, text=True, timeout=20)
    assert done.stdout == "write\ntimeline\n", done.stderr
