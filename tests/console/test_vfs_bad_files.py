"""What is no database, or none that can be used: one clear line, the status, and not a byte changed."""
from __future__ import annotations

import os
import socket
import sqlite3
import subprocess

import pytest

from mirage.console.vfs.main import main
from mirage.mounts import Vfs
from tests.console.vfs_support import VFS, environment
from tests.serve.fuse_support import needs_mount

READING = (["fs", "x.db", "ls"], ["fs", "x.db", "cat", "/f"], ["integrity", "x.db"], ["integrity", "x.db", "--json"], ["timeline", "x.db"],
           ["backup", "x.db", "new.db"], ["materialize", "x.db", "--output", "new.db"], ["migrate", "x.db"],
           ["migrate", "x.db", "--dry-run"], ["migrate", "x.db", "--copy", "new.db"], ["diff", "x.db"])
WRITING = (["fs", "x.db", "write", "/f", "x"], ["fs", "x.db", "rm", "/f"], ["fs", "x.db", "mkdir", "/d"], ["serve", "nfs", "x.db", "--port", "0"],
           ["integrity", "x.db", "--checkpoint"], ["serve", "mcp", "x.db"])


@pytest.fixture
def vfs(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VFS_KEY", raising=False)
    monkeypatch.delenv("VFS_CIPHER", raising=False)

    def run(*words):
        status = main([str(word) for word in words])
        out = capfdbinary.readouterr()
        return status, out.out.decode(), out.err.decode()

    return run


def database(path):
    with Vfs.open(path) as made:
        made.fs.write("/f", b"kept" * 20_000)
        made.fs.mkdir("/d0")


def foreign(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE fs_config (x)")
    connection.close()


def newer(path):
    database(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE vfs_meta SET value = '1.0' WHERE key = 'schema_version'")
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def odd_chunks(path):
    database(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE fs_config SET value = '0' WHERE key = 'chunk_size'")
    connection.commit()
    connection.close()


def of(content):
    def make(path):
        path.write_bytes(content)
    return make


BAD = {"empty": of(b""), "text": of(b"no database\n" * 900), "zeros": of(bytes(8192)), "header": of(b"SQLite format 3\0"),
       "noise": of(os.urandom(20_000)), "foreign": foreign, "newer": newer, "turso": of(b"Turso\0\2" + bytes(9000))}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_database_of_ours(vfs, tmp_path, kind):
    BAD[kind](tmp_path / "x.db")
    before = (tmp_path / "x.db").read_bytes()
    for words in (*READING, *WRITING):
        status, out, err = vfs(*words)
        assert status == 1 and not out and err.startswith("Error: ") and err.count("\n") == 1 and "x.db" in err, (words, err)
    assert (tmp_path / "x.db").read_bytes() == before and os.listdir(tmp_path) == ["x.db"]
    if kind == "newer":
        assert "1.0" in err and "0.6" in err


@pytest.mark.parametrize("size", [99, 100, 4000, 4096, 12_288, 40_000, -1])
def test_a_truncated_database(vfs, tmp_path, size):
    database(tmp_path / "x.db")
    os.truncate(tmp_path / "x.db", size if size > 0 else os.path.getsize(tmp_path / "x.db") - 1)
    before = (tmp_path / "x.db").read_bytes()
    failed = 0
    for words in READING:
        status, out, err = vfs(*words)
        assert status in (0, 1) and "Traceback" not in err and err.count("\n") <= 1, (words, err)
        failed += status
        if words[0] == "integrity":
            assert status == 1 and (err.startswith("Error: ") or "sqlite" in out), (words, out, err)
    assert failed >= 2 and (tmp_path / "x.db").read_bytes() == before


@pytest.mark.parametrize("kind", ["directory", "fifo", "socket", "device", "missing"])
def test_what_is_no_regular_file(vfs, tmp_path, kind):
    if kind == "directory":
        (tmp_path / "x.db").mkdir()
    elif kind == "fifo":
        os.mkfifo(tmp_path / "x.db")
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind("x.db" if len(str(tmp_path)) > 90 else str(tmp_path / "x.db"))
    elif kind == "device":
        os.symlink("/dev/zero", tmp_path / "x.db")
    for words in (*READING, *WRITING):
        status, out, err = vfs(*words)
        assert status == 1 and not out and err.startswith("Error: ") and err.count("\n") == 1, (words, err)
    assert os.listdir(tmp_path) == ([] if kind == "missing" else ["x.db"])


def test_an_impossible_chunk_size(vfs, tmp_path):
    odd_chunks(tmp_path / "x.db")
    before = (tmp_path / "x.db").read_bytes()
    status, out, err = vfs("fs", "x.db", "ls")
    assert (status, out) == (1, "") and "chunk size" in err and (tmp_path / "x.db").read_bytes() == before


def in_namespace(tmp_path, options, script):
    """A shell in a mount namespace of its own where `./m` is a file system mounted with `options`."""
    (tmp_path / "m").mkdir(exist_ok=True)
    vfs = " ".join(VFS)
    return subprocess.run(["unshare", "-m", "sh", "-ec", f"mount {options} m\nvfs() {{ {vfs} \"$@\"; }}\n{script}"], cwd=tmp_path,
                          env=environment(), capture_output=True, text=True, timeout=120)


@needs_mount
def test_a_database_that_cannot_be_written_can_be_read(tmp_path):
    (tmp_path / "m").mkdir()
    database(tmp_path / "m" / "x.db")
    before = (tmp_path / "m" / "x.db").read_bytes()
    done = in_namespace(tmp_path, "--bind m", """
        mount -o remount,bind,ro m
        vfs fs m/x.db ls; vfs fs m/x.db cat /f | wc -c; vfs integrity m/x.db; vfs backup m/x.db copy.db --verify
        for words in 'fs m/x.db write /f x' 'fs m/x.db rm /f' 'fs m/x.db mkdir /n' 'migrate m/x.db'; do
            vfs $words && echo "status 0" || echo "status $?"
        done
        ls m""")
    assert done.stdout.splitlines() == ["d d0", "f f", "80000", "ok", "Created backup: copy.db", "status 1", "status 1", "status 1",
                                        "Already at schema version 0.6" if "Already" in done.stdout else "status 1",
                                        *(["status 0"] if "Already" in done.stdout else []), "x.db"], done.stderr
    assert done.stderr.count("\n") == done.stdout.count("status 1") and done.stderr.count("Error: ") == done.stderr.count("\n")
    assert (tmp_path / "m" / "x.db").read_bytes() == before


@needs_mount
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_full_disk(tmp_path, encrypted):
    (tmp_path / "big").write_bytes(os.urandom(3_000_000))
    words = "--key " + "ab" * 32 + " --cipher aes256gcm" if encrypted else ""
    if encrypted:
        pytest.importorskip("apsw")
    done = in_namespace(tmp_path, "-t tmpfs -o size=1m none", f"""
        (cd m && vfs init bot {words} >/dev/null && vfs fs bot write /f kept {words})
        vfs fs m/.vfs/bot.db cp big :/big {words} && echo "status 0" || echo "status $?"
        vfs fs m/.vfs/bot.db ls {words}
        vfs fs m/.vfs/bot.db cat /f {words}; echo
        vfs integrity m/.vfs/bot.db {words}
        cp m/.vfs/bot.db before.db
        head -c 900000 big > m/fill 2>/dev/null || true
        for words in 'write /g x' 'mkdir /d' 'write /f other' 'rm /f'; do
            vfs fs m/.vfs/bot.db $words {words} && echo "status 0" || echo "status $?"
        done
        vfs backup m/.vfs/bot.db m/copy.db {words} && echo "status 0" || echo "status $?"
        cmp before.db m/.vfs/bot.db && ls -A m m/.vfs | grep -v -e '-wal$' -e '-shm$'
        rm m/fill
        vfs fs m/.vfs/bot.db cat /f {words}""")
    assert done.stdout.splitlines() == ["status 1", "f f", "kept", "ok", *["status 1"] * 5, "m:", ".vfs", "fill", "", "m/.vfs:", "bot.db",
                                        "kept"], done.stdout + done.stderr
    errors = done.stderr.splitlines()
    assert len(errors) == 6 and all(line.startswith("Error: ") and "/bot.db: " in line for line in errors), errors
    assert all("full" in line or "no space" in line for line in errors), errors


def test_a_pipe_that_closes_is_no_failure_of_ours(tmp_path):
    database(tmp_path / "x.db")
    done = subprocess.run(f"{' '.join(VFS)} fs x.db cat /f | head -c 4", shell=True, cwd=tmp_path, env=environment(), capture_output=True,
                          timeout=60)
    assert done.stdout == b"kept" and done.stderr == b""


def test_a_message_is_one_line_whatever_the_name(vfs):
    status, out, err = vfs("fs", "no\nsuch\x1b[2J", "ls")
    assert (status, out, err) == (1, "", "Error: 'no\\nsuch\\x1b[2J' not found\n")


def test_a_name_that_is_no_text_is_left_out(vfs):
    database("x.db")
    connection = sqlite3.connect("x.db")
    connection.execute("INSERT INTO fs_dentry (name, parent_ino, ino) VALUES (x'ff41', 1, 2)")
    connection.commit()
    connection.close()
    status, out, err = vfs("fs", "x.db", "ls")
    assert (status, out, err) == (0, "d d0\nf f\n", "")
    assert vfs("integrity", "x.db")[0] == 1
