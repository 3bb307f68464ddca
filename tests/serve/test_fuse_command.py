"""`vfs mount`, `vfs exec`, `vfs init -c`, `vfs prune mounts`, as programs."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.serve.fuse_support import ENVIRONMENT, VFS, Served, gone, needs_mount, ok, run

pytestmark = needs_mount


@pytest.fixture
def box(monkeypatch):
    """A directory with the database of the agent `bot`, and a TMPDIR of its own, which every user can reach."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        (folder / "tmp").mkdir()
        monkeypatch.setitem(ENVIRONMENT, "TMPDIR", os.fspath(folder / "tmp"))
        ok(*VFS, "init", "bot", cwd=folder)
        yield folder


def vfs(box: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(*VFS, *words, cwd=box)


def test_exec_runs_in_the_mounted_database(box):
    done = vfs(box, "exec", "bot", "sh", "-c", "echo hi > f; mkdir d; ls; pwd; exit 7")
    place = done.stdout.splitlines()[-1]
    assert (done.returncode, done.stdout.splitlines()[:2], done.stderr) == (7, ["d", "f"], "")
    assert not os.path.exists(place)
    assert vfs(box, "fs", "bot", "cat", "/f").stdout == "hi\n"
    assert vfs(box, "exec", "bot", "cat", "f").stdout == "hi\n"


@pytest.mark.parametrize("command, status", [
    (["true"], 0), (["sh", "-c", "exit 255"], 255), (["sh", "-c", "kill -9 $$"], 137), (["sh", "-c", "kill $$"], 143),
    (["no-such-command"], 127), (["./plain"], 126), (["--", "false"], 1), (["/etc"], 126),
])
def test_T6_T7_T8_T9_exec_has_the_status_of_its_command(box, command, status):
    vfs(box, "fs", "bot", "write", "/plain", "text")
    assert vfs(box, "exec", "bot", *command).returncode == status


def test_exec_passes_signals_on(box):
    process = subprocess.Popen([*VFS, "exec", "bot", "sh", "-c", "trap 'echo got; exit 5' TERM; echo up; while :; do sleep 0.05; done"],
                               cwd=box, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "up\n"
    process.terminate()
    assert process.communicate(timeout=10)[0] == "got\n" and process.returncode == 5


def test_exec_leaves_nothing_when_it_is_killed(box):
    process = subprocess.Popen([*VFS, "exec", "bot", "sh", "-c", "echo up; sleep 0.4; echo late > late"], cwd=box,
                               env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "up\n"
    process.kill()
    process.communicate(timeout=10)
    assert os.listdir(box / "tmp")
    vfs(box, "fs", "bot", "ls")                              # whatever runs next cleans up
    assert os.listdir(box / "tmp") == []
    assert os.fspath(box) not in Path("/proc/self/mountinfo").read_text()


def test_T18_programs_see_the_callers_tmpdir(box):
    done = vfs(box, "exec", "bot", "sh", "-c", "echo $TMPDIR; ls $TMPDIR | sed s/-.*//")
    assert done.stdout == f"{box / 'tmp'}\nvfs\nvfs\n"       # the directory of the process, and the mountpoint
    assert os.listdir(box / "tmp") == []
    process = subprocess.Popen([*VFS, "mount", "-f", "bot", box / "tmp"], cwd=box, env={**ENVIRONMENT, "TMPDIR": os.fspath(box)},
                               stdout=subprocess.PIPE)
    assert process.stdout.readline().startswith(b"Mounted")
    own = [name for name in os.listdir(box) if name.startswith("vfs-tmp-")]
    process.kill()
    process.communicate()
    gone(box / "tmp")
    assert len(own) == 1 and (box / own[0]).exists()
    run(*VFS, "fs", "bot", "ls", cwd=box, env={**ENVIRONMENT, "TMPDIR": os.fspath(box)})
    assert not (box / own[0]).exists()


def test_init_with_a_command(box):
    done = vfs(box, "init", "second", "-c", "echo made > f; cat f; exit 3")
    assert (done.returncode, done.stdout) == (3, "Created agent filesystem: .vfs/second.db\nAgent ID: second\nmade\n")
    assert vfs(box, "fs", "second", "cat", "/f").stdout == "made\n"


def test_mount_goes_to_the_background_and_is_listed(box):
    (box / "m").mkdir()
    assert vfs(box, "mount").stdout in ("No mounts.\n",) or "on" in vfs(box, "mount").stdout
    done = vfs(box, "mount", "bot", "m")
    try:
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert f"{box}/.vfs/bot.db on {box}/m\n" in vfs(box, "mount").stdout
        (box / "m" / "f").write_text("x")
        assert (box / "m" / "f").stat().st_uid == os.getuid()
        assert vfs(box, "fs", "bot", "ls").stdout == "f f\n"
    finally:
        ok("umount", box / "m")
    until = time.monotonic() + 5
    while os.listdir(box / "tmp") and time.monotonic() < until:
        time.sleep(0.05)
    assert os.listdir(box / "tmp") == []                     # the server has ended


def test_owners_can_be_chosen(box):
    (box / "m").mkdir()
    found = Served([*VFS, "mount", "-f", box / ".vfs/bot.db", box / "m", "--uid", "1234", "--gid=4321"], box / "m", box / "err")
    (box / "m" / "f").touch()
    assert ((box / "m" / "f").stat().st_uid, (box / "m").stat().st_gid) == (1234, 4321)
    found.stop()
    assert "Uid: 1000" in vfs(box, "fs", "bot", "stat", "/f").stdout or "1000" in vfs(box, "fs", "bot", "stat", "/f").stdout


def test_other_users_are_kept_out_unless_asked_for(box):
    script = "import os, sys; os.setuid(65534); os.listdir(sys.argv[1])"
    (box / "m").mkdir()
    for words, allowed in (((), False), (("--allow-root",), False), (("--system",), True)):
        found = Served([*VFS, "mount", "-f", box / ".vfs/bot.db", box / "m", *words], box / "m", box / "err")
        assert (run(sys.executable, "-S", "-c", script, box / "m").returncode == 0) is allowed, words
        found.stop()


@pytest.mark.parametrize("words, status, message", [
    (["mount", "bot"], 2, "<MOUNTPOINT>"), (["mount", "bot", "missing"], 4, "No such file"),
    (["mount", "nobody", "m"], 1, "not found"), (["mount", ":memory:", "m"], 1, "memory"),
    (["mount", "bot", ".vfs"], 4, "hide"), (["mount", "bot", "plain"], 4, "Not a directory"),
    (["mount", "bot", "m", "--uid", "me"], 2, "invalid value 'me'"), (["exec", "bot"], 2, "<COMMAND>"),
    (["mount", "nobody", "m", "-f"], 1, "not found"), (["exec", "nobody", "ls"], 1, "not found"),
    (["mount", "layer", "base/inside"], 4, "cannot contain its own mountpoint"),
])
def test_T11_what_cannot_be_mounted(box, words, status, message):
    (box / "m").mkdir()
    (box / "plain").touch()
    (box / "base" / "inside").mkdir(parents=True)
    if "layer" in words:
        ok(*VFS, "init", "layer", "--base", "base", cwd=box)
    done = vfs(box, *words)
    assert done.returncode == status and message in done.stderr and "Traceback" not in done.stderr
    assert not os.path.ismount(box / "m")


def test_prune_unmounts_what_nobody_uses(box):
    (box / "m").mkdir()
    (box / "used").mkdir()
    ok(*VFS, "init", "other", cwd=box)
    assert vfs(box, "mount", "bot", "m").returncode == 0
    assert vfs(box, "mount", "other", "used").returncode == 0
    user = subprocess.Popen(["sleep", "20"], cwd=box / "used")
    try:
        asked = vfs(box, "prune", "mounts")
        assert asked.returncode == 1 and f"{box}/m\n" in asked.stdout and os.path.ismount(box / "m")
        assert f"{box}/used" not in asked.stdout
        mine = {str(box / "m")}
        listed = {line.split(" on ")[1] for line in asked.stdout.splitlines() if " on " in line}
        if listed == mine:                                   # nobody else's mounts are here
            done = vfs(box, "prune", "mounts", "--force")
            assert done.returncode == 0 and f"Unmounted {box}/m\n" in done.stdout
            gone(box / "m")
            assert os.path.ismount(box / "used")
    finally:
        user.kill()
        user.wait()
        for name in ("m", "used"):
            if os.path.ismount(box / name):
                ok("umount", box / name)


def test_a_layer_is_mounted_over_its_base(box):
    (box / "base" / "d").mkdir(parents=True)
    (box / "base" / "a").write_text("base")
    (box / "base" / "d" / "b").write_text("b" * 100_000)
    os.link(box / "base" / "a", box / "base" / "hard")
    os.utime(box / "base" / "a", ns=(1_000_000_000, 2_000_000_000))
    ok(*VFS, "init", "layer", "--base", "base", cwd=box)
    script = """
set -e
stat -c '%Y %h %U' a; cmp a hard
echo more >> a; cat hard; mv d e; rm e/b; ls -a . e; ln -s a link; cat link
python3 - <<'END'
import os
fd = os.open("a", os.O_RDWR)
os.unlink("a")
os.write(fd, b"gone")
assert os.fstat(fd).st_nlink == 1 and os.pread(fd, 4, 0) == b"gone"
END
cat hard
"""
    done = vfs(box, "exec", "layer", "sh", "-c", script)
    assert done.stderr == "" and done.stdout.split() == [
        "2", "2", "root", "basemore", ".", "..", "a", "e", "hard", "link", ".", "..", "basemore", "gonemore"] or \
        done.stdout.split() == ["2", "2", "root", "basemore", ".:", ".", "..", "a", "e", "hard", "e:", ".", "..", "basemore", "gonemore"]
    assert (box / "base" / "a").read_text() == "base" and (box / "base" / "d" / "b").exists()
    assert vfs(box, "diff", "layer").stdout.splitlines() == ["D f /a", "D d /d", "A d /e", "M f /hard", "A l /link"]


def test_a_layer_keeps_what_is_open_over_a_copy(box):
    (box / "base").mkdir()
    (box / "base" / "a").write_text("old")
    ok(*VFS, "init", "layer", "--base", "base", cwd=box)
    (box / "m").mkdir()
    found = Served([*VFS, "mount", "-f", box / ".vfs/layer.db", box / "m", "--partial-origin", "on"], box / "m", box / "err")
    with (box / "m" / "a").open() as reader:
        assert reader.read() == "old"
        with (box / "m" / "a").open("r+") as writer:
            writer.write("new")
        reader.seek(0)
        assert reader.read() == "new"
    assert (box / "base" / "a").read_text() == "old"
    found.stop(signal.SIGTERM)


PLAIN_USER = """
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755,dev none /mnt
mknod -m 666 /mnt/fuse c 10 229
mount --bind /mnt/fuse /dev/fuse
case {python} in /root/*)                # a Python in a home that others may not enter
    mkdir /mnt/python
    mount --bind {python} /mnt/python
    mount -t tmpfs -o mode=755 none /root
    mkdir -p {python}
    mount --bind /mnt/python {python}
esac
cd {box}
exec setpriv --reuid 65534 --regid 65534 --clear-groups {command}
"""


@pytest.mark.parametrize("helper", [True, False])
def test_an_ordinary_user_can_mount(box, helper):
    """Through fusermount3, or in a user namespace. The device is made usable for all in a namespace of the test."""
    import shutil
    if shutil.which("setpriv") is None or helper and shutil.which("fusermount3") is None:
        pytest.skip("setpriv or fusermount3 is not installed")
    (box / "tmp").chmod(0o777)
    (box / "home").mkdir()
    (box / "home").chmod(0o777)
    path = os.environ["PATH"] if helper else "/nonexistent"
    command = (f"env PATH={path} PYTHONDONTWRITEBYTECODE=1 {sys.executable} -m mirage.console.vfs.main init own -c "
               "'/bin/echo text > f; /usr/bin/stat -c %u f; /bin/ls; exit 3'")
    done = run("unshare", "-m", "sh", "-c", PLAIN_USER.format(
        box=box / "home", command=command, python=Path(sys.executable).resolve().parents[1]))
    if done.returncode in (126, 127) or "Permission denied" in done.stderr and "python" in done.stderr:
        pytest.skip("an ordinary user cannot run this Python")
    assert (done.returncode, done.stdout.splitlines()[2:]) == (3, ["65534", "f"]), done.stderr
