"""`vfs` with --key and --cipher."""
from __future__ import annotations

import json
import os
import subprocess
import time

import pytest

from mirage.console.vfs.main import main
from tests.console.vfs_support import VFS, environment
from tests.serve.fuse_support import needs_mount

pytest.importorskip("apsw")
pytest.importorskip("cryptography")
KEY, OTHER = "a7" * 32, "a8" * 32
AES = ("--key", KEY, "--cipher", "aes256gcm")


@pytest.fixture
def vfs(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VFS_KEY", raising=False)
    monkeypatch.delenv("VFS_CIPHER", raising=False)

    def run(*words):
        status = main([str(word) for word in words])
        out = capfdbinary.readouterr()
        assert KEY not in out.out.decode() and KEY not in out.err.decode()
        return status, out.out.decode(), out.err.decode()

    return run


def test_the_example_of_the_reference(vfs, monkeypatch):
    assert vfs("init", *AES, "my-secure-agent")[0] == 0
    assert vfs("fs", "my-secure-agent", *AES, "ls", "/") == (0, "", "")
    assert vfs("fs", "my-secure-agent", *AES, "write", "/f", "x")[0] == 0
    monkeypatch.setenv("VFS_KEY", KEY)
    monkeypatch.setenv("VFS_CIPHER", "aes256gcm")
    assert vfs("fs", "my-secure-agent", "ls", "/") == (0, "f f\n", "")


@pytest.mark.parametrize(("words", "text", "status"), [
    ((), "is encrypted: give its key", 1), (("--key", OTHER, "--cipher", "aes256gcm"), "key or cipher is wrong", 1),
    (("--key", KEY, "--cipher", "aegis256"), "encrypted with aes256gcm", 1), (("--key", "12", "--cipher", "aegis256"), "64 hex", 1),
    (("--key", KEY, "--cipher", "rot13"), "unknown cipher", 1), (("--key", KEY), "--cipher", 2), (("--cipher", "aegis256"), "--key", 2),
])
def test_T3_T102_a_wrong_key_is_one_line_and_changes_nothing(vfs, tmp_path, words, text, status):
    vfs("init", *AES, "bot")
    vfs("fs", "bot", *AES, "write", "/f", "x")
    before = (tmp_path / ".vfs" / "bot.db").read_bytes()
    for command in (("fs", "bot", "ls"), ("fs", "bot", "write", "/f", "y"), ("integrity", "bot"), ("backup", "bot", "new.db"),
                    ("materialize", "bot"), ("migrate", "bot"), ("migrate", "bot", "--copy", "new.db"),
                    ("serve", "nfs", "bot", "--port", "0")):
        found, out, err = vfs(*command, *words)
        assert found == status and text in err and not out, command
        assert status == 2 or err.startswith("Error: ") and err.count("\n") == 1, err
    assert (tmp_path / ".vfs" / "bot.db").read_bytes() == before
    assert sorted(os.listdir(".vfs")) == ["bot.db"] and sorted(os.listdir(".")) == [".vfs"]


def test_T81_T84_care_of_an_encrypted_database(vfs):
    vfs("init", *AES, "bot")
    vfs("fs", "bot", *AES, "write", "/f", "x")
    assert json.loads(vfs("integrity", "bot", *AES, "--json", "--checkpoint")[1])["ok"]
    assert vfs("backup", "bot", "b.db", "--verify", *AES)[0] == 0
    assert vfs("materialize", "bot", "--output", "m.db", "--verify", *AES)[0] == 0
    assert vfs("migrate", "bot", "--copy", "c.db", "--verify", *AES)[0] == 0 and vfs("migrate", "bot", *AES)[0] == 0
    for name in ("b.db", "m.db", "c.db"):
        assert vfs("fs", name, *AES, "cat", "/f") == (0, "x", "") and vfs("fs", name, "ls")[0] == 1
    assert vfs("init", "plain")[0] == 0
    status, _, err = vfs("fs", "plain", *AES, "ls")
    assert status == 1 and "not encrypted" in err
    assert vfs("init", "mixed", "--key", KEY, "--cipher", "aegis128l")[0] == 1 and not os.path.exists(".vfs/mixed.db")


def test_the_key_is_not_in_the_list_of_processes(tmp_path):
    environ = environment()
    subprocess.run([*VFS, "init", *AES, "bot"], cwd=tmp_path, env=environ, check=True, stdout=subprocess.DEVNULL)
    with subprocess.Popen([*VFS, "serve", "nfs", "bot", "--port", "0", *AES], cwd=tmp_path, env=environ,
                          stdout=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b"Serving")
        try:
            with open(f"/proc/{process.pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        finally:
            process.terminate()
    assert b"--key" in words and KEY.encode() not in words and words[words.index(b"--key") + 1] == b"x" * len(KEY)


@needs_mount
def test_programs_work_in_an_encrypted_database(tmp_path):
    environ = environment(VFS_KEY=KEY, VFS_CIPHER="aes256gcm")

    def run(*words):
        return subprocess.run([*VFS, *words], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60)

    assert run("init", "bot", "-c", "echo needle > f").returncode == 0
    done = run("exec", "bot", "sh", "-c", "cat f; env | grep -c VFS_KEY; exit 7")
    assert (done.returncode, done.stdout) == (7, "needle\n0\n"), done.stderr
    (tmp_path / "mnt").mkdir()
    assert run("mount", "bot", "mnt").returncode == 0
    try:
        assert (tmp_path / "mnt" / "f").read_text() == "needle\n"
        (tmp_path / "mnt" / "g").write_text("by the mount")
    finally:
        subprocess.run(["umount", tmp_path / "mnt"], check=True)
    for _ in range(50):
        if run("fs", "bot", "cat", "/g").stdout == "by the mount":
            break
        time.sleep(0.1)
    assert run("fs", "bot", "cat", "/g").stdout == "by the mount" and run("integrity", "bot", "--key", KEY, "--cipher", "aes256gcm").stdout == "ok\n"
    assert b"needle" not in (tmp_path / ".vfs" / "bot.db").read_bytes()
