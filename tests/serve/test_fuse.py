"""A database on a mount: what the kernel caches, what it keeps, how it ends."""
from __future__ import annotations

import errno
import fcntl
import mmap
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mirage.mounts import Vfs
from tests.serve.fuse_support import ENVIRONMENT, VFS, Served, gone, needs, needs_mount, ok, run, served
from tests.serve.random_io import compare

pytestmark = needs_mount
SOON = 1.0                                                   # seconds until what others changed must show


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuse")
    with served(folder / "a.db", folder / "m") as found:
        yield found


@pytest.fixture
def mnt(place, request):
    found = place.path / request.node.name.replace("/", "_")[:200]
    found.mkdir()
    return found


@pytest.fixture
def vfs(place):
    with Vfs(place.path.parent / "a.db") as found:
        yield found


def inner(path: Path) -> str:
    return "/" + "/".join(path.parts[path.parts.index("m") + 1:])


def eventually(check, patience: float = SOON) -> None:
    until = time.monotonic() + patience
    while True:
        try:
            if check():
                return
        except OSError:
            pass
        if time.monotonic() > until:
            pytest.fail("it did not show in time")
        time.sleep(0.01)


# ---- others

def test_what_another_program_writes_shows(mnt, vfs):
    path = mnt / "f"
    assert not path.exists()                                 # the kernel knows that there is no such name
    vfs.fs.write(inner(path), "one")
    eventually(lambda: path.read_text() == "one")
    vfs.fs.write(inner(path), "two and longer")
    eventually(lambda: path.read_text() == "two and longer" and path.stat().st_size == 14)
    fd = os.open(path, os.O_RDONLY)                          # its pages are cached
    assert os.read(fd, 100) == b"two and longer"
    vfs.fs.write(inner(path), "six and longer")
    eventually(lambda: os.pread(fd, 100, 0) == b"six and longer")
    os.close(fd)
    vfs.fs.rename(inner(path), inner(path) + "2")
    eventually(lambda: not path.exists() and (mnt / "f2").exists())
    vfs.fs.mkdir(inner(mnt) + "/d")
    eventually(lambda: sorted(os.listdir(mnt)) == ["d", "f2"])
    vfs.fs.remove(inner(mnt) + "/f2")
    eventually(lambda: not (mnt / "f2").exists())
    vfs.fs.chmod(inner(mnt) + "/d", 0o711)
    eventually(lambda: (mnt / "d").stat().st_mode & 0o777 == 0o711)


def test_what_is_written_here_shows_elsewhere(mnt, vfs):
    with (mnt / "f").open("w") as file:
        file.write("closed")
    assert vfs.fs.read(inner(mnt) + "/f") == b"closed"
    with (mnt / "g").open("w") as file:
        file.write("still open")
        file.flush()
        eventually(lambda: vfs.fs.read(inner(mnt) + "/g") == b"still open")
    os.rename(mnt / "g", mnt / "h")
    assert [entry.name for entry in vfs.fs.list(inner(mnt))] == ["f", "h"]


def test_changes_in_sql_show(mnt, place):
    path = mnt / "f"
    path.write_text("x")
    with sqlite3.connect(place.path.parent / "a.db", timeout=5) as db:
        db.execute("UPDATE fs_inode SET mode = 33024 WHERE ino = ?", (path.stat().st_ino,))
    db.close()
    eventually(lambda: path.stat().st_mode & 0o777 == 0o400, 2.0)


def test_names_that_only_sql_changes_show(mnt, place):
    def change(*statements):
        with sqlite3.connect(place.path.parent / "a.db", timeout=5) as db:
            for statement in statements:
                db.execute(statement)
        db.close()

    here, there = mnt / "here", mnt / "there"
    here.write_text("x")
    assert not there.exists()
    ino, folder = here.stat().st_ino, mnt.stat().st_ino
    change(f"INSERT INTO fs_dentry (name, parent_ino, ino) VALUES ('there', {folder}, {ino})",
           f"UPDATE fs_inode SET nlink = 2 WHERE ino = {ino}")
    eventually(there.exists)
    assert here.exists()
    change(f"DELETE FROM fs_dentry WHERE parent_ino = {folder} AND name = 'here'",
           f"UPDATE fs_inode SET nlink = 1 WHERE ino = {ino}")
    eventually(lambda: not here.exists())
    assert there.read_text() == "x"


def test_appends_of_two_programs_are_all_kept(mnt, vfs):
    path = mnt / "log"
    path.touch()
    for number in range(40):
        with path.open("a") as file:
            file.write(f"here {number}\n")
        vfs.fs.append(inner(path), f"there {number}\n")
    lines = vfs.fs.read(inner(path)).decode().splitlines()
    assert sorted(lines) == sorted(f"{who} {number}" for who in ("here", "there") for number in range(40))
    eventually(lambda: path.read_text().splitlines() == lines)


# ---- files

def test_extended_attributes(mnt, vfs):
    path = mnt / "f"
    path.touch()
    os.setxattr(path, "user.one", b"1")
    os.setxattr(path, "user.\udcff", bytes(1000))
    assert sorted(os.listxattr(path)) == ["user.one", "user.\udcff"] and os.getxattr(path, "user.one") == b"1"
    for flags, name, number in ((os.XATTR_CREATE, "user.one", errno.EEXIST), (os.XATTR_REPLACE, "user.no", errno.ENODATA)):
        with pytest.raises(OSError) as failure:
            os.setxattr(path, name, b"", flags)
        assert failure.value.errno == number
    os.removexattr(path, "user.one")
    with pytest.raises(OSError) as failure:
        os.getxattr(path, "user.one")
    assert failure.value.errno == errno.ENODATA
    with pytest.raises(OSError) as failure:
        os.setxattr(path, "system.posix_acl_access", b"\2\0\0\0")
    assert failure.value.errno == errno.EOPNOTSUPP
    assert vfs.fs.filesystem.getxattr(inner(path), "user.\udcff") == bytes(1000)


def test_holes(mnt):
    with (mnt / "f").open("wb+") as file:
        file.truncate(8 << 20)
        file.seek(4 << 20)
        file.write(b"data")
        file.flush()
        fd = file.fileno()
        assert os.lseek(fd, 0, os.SEEK_DATA) == 4 << 20
        assert os.lseek(fd, 4 << 20, os.SEEK_HOLE) == (4 << 20) + 65536
        assert os.lseek(fd, 0, os.SEEK_HOLE) == 0
        assert os.fstat(fd).st_blocks * 512 <= 65536 * 2
        with pytest.raises(OSError) as failure:
            os.lseek(fd, 5 << 20, os.SEEK_DATA)
        assert failure.value.errno == errno.ENXIO
        os.posix_fallocate(fd, 0, 9 << 20)
        assert os.fstat(fd).st_size == 9 << 20
        free = os.statvfs(mnt)
        with pytest.raises(OSError) as failure:
            os.posix_fallocate(fd, 0, 2 * free.f_bavail * free.f_frsize)
        assert failure.value.errno == errno.ENOSPC and os.fstat(fd).st_size == 9 << 20


@needs("fallocate")
def test_punching_and_zeroing(mnt):
    path = mnt / "f"
    path.write_bytes(b"x" * (3 << 20))
    ok("fallocate", "--punch-hole", "--offset", "1000", "--length", str(2 << 20), path)
    data = path.read_bytes()
    assert len(data) == 3 << 20 and data.count(b"x") == 1 << 20 and data[999:1001] == b"x\0"
    ok("fallocate", "--zero-range", "--offset", "0", "--length", "500", path)
    assert path.read_bytes()[:501].count(b"\0") == 500
    ok("fallocate", "--keep-size", "--length", str(4 << 20), path)
    assert path.stat().st_size == 3 << 20
    assert run("fallocate", "--collapse-range", "--offset", "0", "--length", "4096", path).returncode


def test_a_file_without_a_name_can_get_one(mnt):
    fd = os.open(mnt, os.O_TMPFILE | os.O_RDWR, 0o640)
    os.write(fd, b"secret")
    assert os.listdir(mnt) == [] and os.fstat(fd).st_nlink == 0
    ok(sys.executable, "-c", "import ctypes, sys; sys.exit(ctypes.CDLL(None).linkat(-100, sys.argv[1].encode(), -100,"
       " sys.argv[2].encode(), 0x400))", f"/proc/{os.getpid()}/fd/{fd}", mnt / "named")
    os.close(fd)
    assert (mnt / "named").read_text() == "secret" and (mnt / "named").stat().st_mode & 0o777 == 0o640


def test_locks(mnt):
    path = mnt / "f"
    path.touch()
    script = ("import fcntl, sys\nf = open(sys.argv[1], 'r+')\ntry:\n {}\nexcept BlockingIOError:\n sys.exit(3)\n")
    flock, posix = "fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)", "fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 10)"
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert run(sys.executable, "-c", script.format(flock), path).returncode == 3
        fcntl.flock(file, fcntl.LOCK_UN)
        fcntl.lockf(file, fcntl.LOCK_EX, 5, 5)
        assert run(sys.executable, "-c", script.format(posix), path).returncode == 3
        fcntl.lockf(file, fcntl.LOCK_UN, 5, 5)
        ok(sys.executable, "-c", script.format(posix), path)
        ok(sys.executable, "-c", script.format(flock), path)


def test_direct_io_and_maps(mnt):
    path = mnt / "f"
    block = mmap.mmap(-1, 8192)                              # aligned
    block[:] = b"d" * 8192
    fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_DIRECT)
    assert os.pwrite(fd, block, 4096) == 8192
    with mmap.mmap(fd, 12288) as view:
        assert view[:4097] == bytes(4096) + b"d"
        view[0:3] = b"map"
        view.flush()
        assert os.preadv(fd, [block], 0) == 8192 and block[:3] == b"map"
    os.close(fd)
    with path.open("rb+") as file, mmap.mmap(file.fileno(), 12288) as view:
        os.pwrite(file.fileno(), b"mixed", 100)
        assert view[100:105] == b"mixed"
        view[200:205] = b"other"
        assert os.pread(file.fileno(), 5, 200) == b"other"


def test_names_that_are_not_utf8(mnt, vfs):
    raw = os.fsencode(mnt) + b"/\xff\xfe-\xc3\xa9"
    with open(raw, "w") as file:
        file.write("x")
    os.symlink(b"\xf0\x80target", os.fsencode(mnt) + b"/link")
    os.mkdir(os.fsencode(mnt) + "/\uf7ff".encode())
    assert sorted(os.listdir(os.fsencode(mnt))) == sorted([b"\xff\xfe-\xc3\xa9", b"link", "\uf7ff".encode()])
    assert os.readlink(os.fsencode(mnt) + b"/link") == b"\xf0\x80target"
    assert vfs.fs.read(inner(mnt) + "/" + os.fsdecode(b"\xff\xfe-\xc3\xa9")) == b"x"


def test_a_directory_can_change_while_it_is_read(mnt):
    names = {f"f{number:04}" for number in range(600)}
    for name in names:
        (mnt / name).touch()
    seen = []
    with os.scandir(mnt) as entries:
        for number, entry in enumerate(entries):
            seen.append(entry.name)
            if number % 3 == 0:
                os.unlink(mnt / entry.name)
                (mnt / f"g{number}").touch()
    assert len(seen) == len(set(seen)) and {name for name in seen if name[0] == "f"} == names
    assert len(os.listdir(mnt)) == 600


def test_a_deep_tree_and_its_removal(mnt):
    at = mnt
    for number in range(60):
        at = at / f"directory-{number}"
        at.mkdir()
        (at / "file").write_text(str(number))
    assert ok("find", mnt, "-type", "f").count("\n") == 60
    assert ok("sh", "-c", f"cd {mnt} && tar cf - . | tar tf - | wc -l").strip() == "121"
    ok("rm", "-r", mnt / "directory-0")
    assert os.listdir(mnt) == []


def test_random_operations_equal_a_plain_file(mnt):
    compare(mnt, 3000, 20)


# ---- programs

def test_sqlite_in_wal_mode(mnt):
    path = mnt / "inner.db"
    script = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
for number in range(60):
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE n SET value = value + 1")
    db.execute("INSERT INTO t VALUES (?, ?)", (sys.argv[2], number))
    db.execute("COMMIT")
"""
    with sqlite3.connect(path, isolation_level=None) as db:
        assert db.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
        db.execute("CREATE TABLE n (value)")
        db.execute("CREATE TABLE t (who, number)")
        db.execute("INSERT INTO n VALUES (0)")
        writers = [subprocess.Popen([sys.executable, "-c", script, path, str(who)]) for who in range(3)]
        assert [writer.wait(60) for writer in writers] == [0, 0, 0]
        assert db.execute("SELECT value FROM n").fetchone() == (180,)
        assert db.execute("SELECT count(*) FROM (SELECT DISTINCT * FROM t)").fetchone() == (180,)
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("DELETE FROM t WHERE number > 5")
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


@needs("git")
def test_git(mnt, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for number in range(60):
        (source / f"d{number % 7}").mkdir(exist_ok=True)
        (source / f"d{number % 7}" / f"f{number}").write_text(f"{number}\n" * 50)
    (source / "run").write_text("#!/bin/sh\n")
    (source / "run").chmod(0o755)
    os.symlink("run", source / "link")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    ok(*git, "init", "-q", source)
    ok(*git, "add", ".", cwd=source)
    ok(*git, "commit", "-qm", "first", cwd=source)
    ok(*git, "clone", "-q", source, mnt / "copy")
    copy = mnt / "copy"
    ok(*git, "fsck", "--full", cwd=copy)
    assert ok(*git, "status", "--porcelain", cwd=copy) == ""
    (copy / "d1" / "f1").write_text("changed")
    (copy / "run").chmod(0o644)
    assert ok(*git, "status", "--porcelain", cwd=copy).split() == ["M", "d1/f1", "M", "run"]
    ok(*git, "commit", "-qam", "second", cwd=copy)
    ok(*git, "gc", "-q", cwd=copy)
    ok(*git, "fsck", "--full", cwd=copy)
    ok(*git, "checkout", "-q", "HEAD~1", cwd=copy)
    assert (copy / "d1" / "f1").read_text() == "1\n" * 50


@needs("cc", "make")
def test_building_a_program(mnt):
    for number in range(6):
        (mnt / f"part{number}.c").write_text(f"int part{number}(void) {{ return {number}; }}\n")
    (mnt / "main.c").write_text("#include <stdio.h>\n" + "".join(f"int part{n}(void);\n" for n in range(6))
                                + 'int main(void) { printf("%d\\n", ' + "+".join(f"part{n}()" for n in range(6))
                                + "); return 0; }\n")
    (mnt / "Makefile").write_text("OBJECTS = main.o $(patsubst %,part%.o,0 1 2 3 4 5)\n"
                                  "sum: $(OBJECTS)\n\tcc -o $@ $(OBJECTS)\n%.o: %.c\n\tcc -c -o $@ $<\n")
    ok("make", "-j2", cwd=mnt)
    assert ok(mnt / "sum") == "15\n"
    assert "up to date" in ok("make", cwd=mnt)


def test_installing_a_package(mnt, tmp_path):
    project = tmp_path / "project"
    (project / "hello").mkdir(parents=True)
    (project / "hello" / "__init__.py").write_text("def main():\n    print('installed')\n")
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "hello"\nversion = "1"\nscripts = {hello = "hello:main"}\n')
    done = run(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--target",
               mnt / "site", project, timeout=120)
    if "No module named" in done.stderr:
        pytest.skip("pip or hatchling is not installed")
    assert done.returncode == 0, done.stderr
    assert ok("env", f"PYTHONPATH={mnt}/site", sys.executable, "-c", "import hello; hello.main()") == "installed\n"


@needs("fio")
@pytest.mark.parametrize("engine", ["psync", "mmap"])
def test_fio_verifies_what_it_wrote(mnt, engine):
    ok("fio", "--name=verify", f"--directory={mnt}", "--size=4m", "--bsrange=4k-64k", "--rw=randwrite", "--verify=crc32c",
       f"--ioengine={engine}", "--randseed=7", "--fsync=50", "--unlink=1", cwd=mnt)


# ---- the end

def start(folder: Path, *words: str) -> Served:
    path = folder / "m"
    if not (folder / "a.db").exists():
        path.mkdir()
        Vfs(folder / "a.db").close()
    return Served([*VFS, "mount", "-f", folder / "a.db", path, *words], path, folder / "err")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_unmount_and_store(tmp_path, number):
    found = start(tmp_path)
    file = (found.path / "f").open("w")
    file.write("written, not closed")
    file.flush()
    assert found.stop(number) == 0 and not os.path.ismount(found.path)
    with pytest.raises(OSError):
        file.close()
        os.fstat(file.fileno())
    with Vfs(tmp_path / "a.db") as vfs:
        assert vfs.fs.read("/f") == b"written, not closed"


def test_a_killed_server_leaves_no_mount(tmp_path):
    found = start(tmp_path)
    (found.path / "f").write_text("x")
    found.stop(signal.SIGKILL)
    gone(found.path)
    again = start(tmp_path)
    assert (again.path / "f").read_text() == "x"
    ok("umount", again.path)
    assert again.process.wait(10) == 0
    again.stop()


def test_a_dead_mount_is_replaced(tmp_path):
    """Where even the watcher was killed."""
    found = start(tmp_path)
    children = Path(f"/proc/{found.process.pid}/task/{found.process.pid}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    found.stop(signal.SIGKILL)
    with pytest.raises(OSError) as failure:
        os.stat(found.path)
    assert failure.value.errno == errno.ENOTCONN
    assert "(dead" in ok(*VFS, "mount")
    again = start(tmp_path)
    assert os.listdir(again.path) == []
    again.stop()
    assert not os.path.ismount(again.path)


def test_unlinked_files_of_a_killed_server_do_not_leak(tmp_path):
    found = start(tmp_path)
    file = (found.path / "f").open("w")
    file.write("x" * 100_000)
    file.flush()
    os.fsync(file.fileno())
    (found.path / "f").unlink()
    found.stop(signal.SIGKILL)
    with pytest.raises(OSError):
        file.close()
    gone(found.path)
    with Vfs(tmp_path / "a.db") as vfs:
        assert vfs.db.execute("SELECT count(*) FROM fs_inode").fetchone() == (1,)
        assert vfs.db.execute("SELECT count(*) FROM fs_data").fetchone() == (0,)




@pytest.mark.parametrize("seed", range(2))
def test_a_killed_server_loses_nothing_that_was_synced(tmp_path, seed):
    """`make crash` does it 200 times."""
    from tests.serve.crash import crash
    crash(tmp_path, seed)


@needs("unshare", "mount")
def test_on_a_full_disk_files_can_still_be_removed(tmp_path):
    """The write-ahead log must not take the room that it needs to be moved into the file."""
    script = """
import errno, os, subprocess, sys
from mirage.mounts import Vfs
from mirage.mounts.vfs.inodes import TreeInodes
from mirage.mounts.vfs.integrity import check
from mirage.serve.fuse.mounted import Mounted
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", "disk"], check=True)
with Vfs.open("disk/a.db") as vfs, Mounted(TreeInodes(vfs.mount, alone=True), "m"):
    child = os.fork()                                        # who serves a mount does not use it
    if not child:
        done = []
        try:
            for number in range(20):
                with open(f"m/{number}", "wb") as file:
                    file.write(os.urandom(1000000))
                done.append(number)
        except OSError as e:
            assert e.errno == errno.ENOSPC and len(done) > 5, (e, done)
        os.mkdir("m/d")
        for number in done[:4]:
            os.unlink(f"m/{number}")
        with open("m/new", "wb") as file:
            file.write(bytes(1000000))
        os._exit(0 if os.path.getsize("m/new") == 1000000 else 1)
    assert os.waitpid(child, 0)[1] == 0
with Vfs.open("disk/a.db") as vfs:
    assert check(vfs.db) == []
    vfs.fs.write("/after", b"x" * 100000)
"""
    for name in ("disk", "m"):
        (tmp_path / name).mkdir()
    ok("unshare", "-m", sys.executable, "-c", script, cwd=tmp_path)


def test_read_only_databases_are_mounted_read_only(tmp_path):
    found = start(tmp_path)
    (found.path / "f").write_text("x")
    found.stop()
    with Vfs(tmp_path / "a.db") as vfs:
        vfs.db.execute("PRAGMA journal_mode = DELETE")
    os.chmod(tmp_path / "a.db", 0o444)
    script = f"""
import os, sys
sys.path.insert(0, {os.fspath(Path(__file__).parents[2])!r})
from mirage.mounts import Vfs
from mirage.mounts.vfs.inodes import TreeInodes
from mirage.serve.fuse.mounted import Mounted
with Mounted(TreeInodes(Vfs({os.fspath(tmp_path / 'a.db')!r}, readonly=True).mount), {os.fspath(found.path)!r}, readonly=True):
    assert open({os.fspath(found.path / 'f')!r}).read() == "x"
    try:
        open({os.fspath(found.path / 'g')!r}, "w")
    except OSError as e:
        print(e.errno)
"""
    assert ok(sys.executable, "-c", script) == f"{errno.EROFS}\n"


def test_T104_a_mount_that_hangs_is_given_up():
    from mirage.serve.fuse.mount import MountError, _bounded
    released = threading.Event()
    try:
        with pytest.raises(MountError, match=r"did not return within"):
            _bounded(released.wait, time.monotonic() + 0.2, "/x")
    finally:
        released.set()


def test_without_the_device_there_is_a_clear_message(tmp_path):
    script = f"""
from mirage.serve.fuse import mount
mount.DEVICE = "/nonexistent"
from mirage.console.vfs.main import main
print(main(["mount", "-f", {os.fspath(tmp_path / 'a.db')!r}, {os.fspath(tmp_path)!r} + "/m"]))
"""
    (tmp_path / "m").mkdir()
    Vfs(tmp_path / "a.db").close()
    done = subprocess.run([sys.executable, "-c", script], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout == "4\n" and done.stderr == "Error: there is no /nonexistent: this system cannot mount FUSE file systems\n"


def test_four_processes_share_a_database(tmp_path):
    """Without a lock error or a lost update; `make four-processes` does it for a minute."""
    from tests.serve.four_processes import compete
    compete(tmp_path, 1.5)
