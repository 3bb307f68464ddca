"""The gated namespace of a Machine as a directory: real programs under the policy."""
from __future__ import annotations

import errno
import os
import sqlite3
import sys
import time
from pathlib import Path

import pytest

from tests.serve.fuse_support import MIRAGE, Served, gone, needs_mount, ok, run

pytestmark = needs_mount
POLICY = """
default: allow
rules:
  - {effect: [read, list, search, stat], path: "/work/hidden/**", action: hide}
  - {path: "/work/fixed/**", action: readonly, reason: "it is finished"}
  - {effect: [destroy], path: "/work/keep/**", action: deny, reason: "nothing here may be removed"}
  - {effect: [create], path: "/work/asked/**", action: ask, reason: "ask first"}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("machine")
    host = folder / "host"
    for name in ("hidden", "fixed", "keep", "asked", "plain"):
        (host / name).mkdir(parents=True)
        (host / name / "file").write_text(f"in {name}\n")
    (host / "absolute").symlink_to("/work/plain/file")
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "mirage.yaml").write_text(
        f"mounts:\n  /work: {{provider: host, dir: {host}, writable: true}}\n"
        f"  /db: {{provider: vfs, file: {folder}/a.db}}\n  /memory: {{provider: memory}}\n"
        f"policy: [{folder}/policy.yaml]\njournal: {folder}/journal.db\n")
    (folder / "m").mkdir()
    found = Served([*MIRAGE, "mount", "-f", folder / "mirage.yaml", folder / "m"], folder / "m", folder / "err")
    yield found
    assert found.stop() == 0
    assert not os.path.ismount(folder / "m")


@pytest.fixture
def mnt(place):
    return place.path


def test_real_programs_read_and_write(mnt, place):
    assert ok("cat", mnt / "work/plain/file") == "in plain\n"
    assert ok("grep", "-r", "in plain", mnt / "work/plain") == f"{mnt}/work/plain/file:in plain\n"
    ok("sh", "-c", "echo new > new; cat new >> file; mkdir d; mv new d/x; cp d/x d/y; rm d/x; ls -l d", cwd=mnt / "work/plain")
    host = place.path.parent / "host/plain"
    assert (host / "file").read_text() == "in plain\nnew\n" and os.listdir(host / "d") == ["y"]
    for where in ("db", "memory", "tmp", "workspace"):
        ok("sh", "-c", "printf abc > f && printf def >> f && cat f && mv f g && ln -s g l && cat l && rm g l", cwd=mnt / where)


def test_files_belong_to_who_mounts(mnt):
    found = (mnt / "work/plain/file").stat()
    assert (found.st_uid, found.st_gid) == (os.getuid(), os.getgid())


def test_absolute_links_stay_inside(mnt):
    assert os.readlink(mnt / "work/absolute") == "../work/plain/file"
    assert (mnt / "work/absolute").read_text().startswith("in plain")


def test_hidden_files_do_not_exist(mnt):
    assert "hidden" not in os.listdir(mnt / "work") and not (mnt / "work/hidden").exists()
    done = run("cat", mnt / "work/hidden/file")
    assert done.returncode == 1 and "No such file or directory" in done.stderr
    with pytest.raises(FileNotFoundError):
        (mnt / "work/hidden").mkdir()


def test_refusals_are_eacces(mnt):
    for change in ("echo x > fixed/file", "echo x >> fixed/file", "touch fixed/new", "rm fixed/file", "mv fixed/file plain/",
                   "rm keep/file", "truncate -s 0 keep/file", "echo x > keep/file", "touch asked/new"):
        done = run("sh", "-c", change, cwd=mnt / "work")
        assert done.returncode and "Permission denied" in done.stderr, change
    assert ok("cat", mnt / "work/fixed/file", mnt / "work/keep/file") == "in fixed\nin keep\n"
    ok("sh", "-c", "echo more >> keep/file; touch keep/new", cwd=mnt / "work")


def test_what_would_be_asked_is_refused_at_once_with_its_id_in_the_journal(mnt, place):
    with pytest.raises(PermissionError):
        (mnt / "work/asked/later").touch()
    until = time.monotonic() + 10
    rows: list[tuple[str, ...]] = []
    while not rows and time.monotonic() < until:
        time.sleep(0.1)
        journal = sqlite3.connect(f"file:{place.path.parent}/journal.db?mode=ro", uri=True)
        try:
            table = journal.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (name,) in table:
                rows += [row for row in journal.execute(f"SELECT * FROM {name}") if "ask" in map(str, row)]
        except sqlite3.Error:
            continue
        finally:
            journal.close()
    assert any("/work/asked/later" in map(str, row) for row in rows), rows


def test_devices_and_tools_are_there(mnt):
    assert ok("cat", mnt / "usr/bin/grep").strip()
    assert (mnt / "VFS.md").stat().st_size == 0 or "/work" in (mnt / "VFS.md").read_text()
    assert "/work" in ok("cat", mnt / "VFS.md")


def test_unknown_sizes_are_read_whole(mnt):
    """A document that is written when it is read: its size is 0 until then."""
    text = ok("cat", mnt / "VFS.md")
    assert ok("wc", "-c", mnt / "VFS.md").split()[0] == str(len(text.encode()))
    assert ok("grep", "-c", "", mnt / "VFS.md").strip() == str(text.count("\n"))
    assert ok("ls", "-l", mnt / "VFS.md")
    ok("cp", mnt / "VFS.md", mnt / "memory/copy")
    assert (mnt / "memory/copy").read_text() == text


def test_what_cannot_be_done(mnt):
    for number, call in ((errno.EBUSY, lambda: os.rmdir(mnt / "work")), (errno.EXDEV, lambda: os.rename(mnt / "work/plain/file", mnt / "db/x")),
                         (errno.EPERM, lambda: os.mknod(mnt / "memory/b", 0o60600, 1)), (errno.EEXIST, lambda: os.mkdir(mnt / "db"))):
        with pytest.raises(OSError) as failure:
            call()
        assert failure.value.errno in (number, errno.EACCES if number == errno.EPERM else number)


def test_a_change_in_the_database_below_shows(mnt, place):
    from mirage.mounts import Vfs
    assert not (mnt / "db/late").exists()
    with Vfs(place.path.parent / "a.db") as vfs:
        vfs.fs.write("/late", "now")
        until = time.monotonic() + 2
        while not (mnt / "db/late").exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert (mnt / "db/late").read_text() == "now"
        vfs.fs.remove("/late")


@pytest.mark.parametrize("words, status, message", [
    (["mount"], 2, "MOUNTPOINT"), (["mount", "a", "b"], 2, "MOUNTPOINT"), (["mount", "missing"], 4, "No such file"),
    (["mount", "--mount", "/src=host:.", "inside"], 4, "cannot contain its own mountpoint"),
])
def test_what_cannot_be_mounted(tmp_path, words, status, message):
    (tmp_path / "inside").mkdir()
    done = run(*MIRAGE, *words, cwd=tmp_path)
    assert done.returncode == status and message in done.stderr and "Traceback" not in done.stderr


def test_a_service_is_read_as_files(tmp_path):
    """The mailbox of the demo, by real programs."""
    pytest.importorskip("googleapiclient")
    (tmp_path / "m").mkdir()
    done = run(sys.executable, "-c", SERVICE, tmp_path / "m", cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    inbox, size, subject = done.stdout.splitlines()
    assert int(inbox) > 0 and int(size) > 100 and "subject" in subject


SERVICE = """
import subprocess, sys
from mirage.console.demo import demo_terminal
from mirage.serve.fuse.mounted import Mounted
from mirage.vfs.paths import of_machine
with demo_terminal() as terminal, Mounted(of_machine(terminal.machine), sys.argv[1]):
    sh = lambda script: print(subprocess.run(["sh", "-c", script], cwd=sys.argv[1], stdout=subprocess.PIPE, text=True).stdout.strip())
    sh("ls mail/INBOX | wc -l")
    sh("find mail/INBOX -name '*.json' -print0 | head -zn1 | xargs -0 cat | wc -c")
    sh("find mail/INBOX -name '*.json' -print0 | head -zn1 | xargs -0 grep -m1 -o subject")
"""


SLOW = """
import subprocess, sys, threading
from mirage import Terminal
from mirage.serve.fuse.mounted import Mounted
from mirage.vfs.paths import of_machine
from mirage.vfs.types import Capabilities, Entry, Stat, enoent

answered = threading.Event()

class Slow:
    capabilities = Capabilities()
    def list(self, path):
        return [Entry("slow"), Entry("quick")]
    def stat(self, path):
        if path == "/":
            return Stat(0o40755, 4096)
        if path in ("/slow", "/quick"):
            return Stat(0o100644, 5)
        raise enoent(path)
    def read(self, path, offset=0, length=None):
        if path == "/slow":
            answered.wait()
        return b"data\\n"

with Terminal({"/s": Slow()}) as t, Mounted(of_machine(t.machine), sys.argv[1]):
    slow = [subprocess.Popen(["timeout", "1", "cat", sys.argv[1] + "/s/slow"]) for _ in range(6)]
    assert subprocess.run(["cat", sys.argv[1] + "/s/quick"], stdout=subprocess.PIPE).stdout == b"data\\n"
    print([process.wait() for process in slow], flush=True)
    answered.set()
    import os
    os._exit(0)
"""


def test_a_slow_file_holds_up_nobody_and_can_be_interrupted(tmp_path):
    (tmp_path / "m").mkdir()
    assert ok(sys.executable, "-c", SLOW, tmp_path / "m") == "[124, 124, 124, 124, 124, 124]\n"
    gone(tmp_path / "m")
