"""`vfs clone`, T95 to T100."""
from __future__ import annotations

import hashlib
import os
import random
import subprocess

import pytest

from mirage.console.vfs.cloning import name_of
from mirage.console.vfs.git_index import Entry, index
from mirage.mounts import Vfs
from mirage.mounts.vfs.bulk import Import
from mirage.mounts.vfs.integrity import check
from tests.console.vfs_support import environment, vfs
from tests.serve.fuse_support import needs, needs_mount

GIT = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
       "GIT_CONFIG_NOSYSTEM": "1"}
pytestmark = needs("git")


def git(cwd, *words, **env):
    return subprocess.run(["git", *words], cwd=cwd, env=environment(**GIT, HOME=str(cwd), **env), check=True, capture_output=True).stdout


@pytest.fixture
def source(tmp_path):
    """A repository with what is hard in one."""
    folder = tmp_path / "project.git"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for number in range(60):
        place = folder / f"d{number % 7}" / f"e{number % 3}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"f{number}").write_bytes(random.Random(number).randbytes(number * 97))
    (folder / "long").write_bytes(random.Random(0).randbytes(5_000_000))
    (folder / "empty").write_bytes(b"")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "d0.txt").write_text("sorted between d0 and d0/")
    os.symlink("d1/e0", folder / "link")
    (folder / "n\u00e4me with  spaces\t").write_text("x")
    (folder / "dos.txt").write_text("a\nb\n")
    (folder / "id.c").write_text("$Id$\n")
    (folder / ".gitattributes").write_text("dos.txt eol=crlf\n*.c ident\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    return folder


@needs_mount
def test_T95_T96_T97_T98_T99_a_clone_is_clean_at_once(tmp_path, source):
    (tmp_path / "work").mkdir()
    work, home = tmp_path / "work", tmp_path / "home"
    home.mkdir()
    status, out, err = vfs(work, "clone", "bot", source, "--verify", HOME=str(home), TMPDIR=str(home))
    assert (status, err) == (0, "") and out == f"Cloned {source} into /project: 69 files\n"
    assert os.listdir(work) == [".vfs"] and os.listdir(work / ".vfs") == ["bot.db"] and os.listdir(home) == []
    plain = tmp_path / "plain"
    git(tmp_path, "clone", "-q", str(source), str(plain))
    with Vfs.open(work / ".vfs" / "bot.db") as database:
        assert check(database.db) == []
        for folder, _, names in os.walk(plain):
            if ".git" in folder:
                continue
            for name in names:
                path = os.path.join(folder, name)
                inside = "/project" + path[len(str(plain)):]
                stat = database.fs.stat(inside, follow=False)
                assert stat.mode == os.lstat(path).st_mode, name
                if stat.is_file:
                    with open(path, "rb") as file:
                        assert database.fs.read(inside) == file.read(), name
        assert database.fs.filesystem.readlink("/project/link") == "d1/e0"
    status, out, err = vfs(work, "exec", "bot", "sh", "-c", "cd project && git status --porcelain && git fsck 2>&1 && git log --format=%s"
                           " && rm d0/e0/f21 && printf x >> empty && chmod -x run.sh && git status --porcelain && git stash -q"
                           " && git status --porcelain", **GIT)
    assert status == 0 and [line for line in out.splitlines() if "Checking" not in line] == [
        "one", " D d0/e0/f21", " M empty", " M run.sh"], out + err


@needs_mount
def test_git_takes_the_index_at_its_word(tmp_path, source):
    assert vfs(tmp_path, "clone", "new.db", source)[0] == 0
    trick = ("cd project && ino=$(stat -c %Y:%Z d0/e0/f21) && git ls-files --debug d0/e0/f21 | grep -c \"mtime: ${ino%:*}\""
             " && git ls-files --debug | grep -c 'ino: 0'")
    status, out, err = vfs(tmp_path, "exec", "new.db", "sh", "-c", trick)
    assert out.split() == ["1", "0"], err


@needs_mount
def test_T100_submodules_and_filters_are_refused_and_leave_nothing(tmp_path, source):
    (source / ".gitattributes").write_text("*.bin filter=lfs\n")
    (source / "x.bin").write_text("pointer")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "two")
    status, out, err = vfs(tmp_path, "clone", "bot", source)
    assert status == 1 and not out and "x.bin needs the filter 'lfs'" in err and err.count("\n") == 1
    assert os.listdir(tmp_path / ".vfs") == []
    git(source, "rm", "-q", "x.bin")
    git(source, "update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,sub")
    git(source, "commit", "-qm", "three")
    vfs(tmp_path, "init", "bot")
    status, out, err = vfs(tmp_path, "clone", "bot", source)
    assert status == 1 and "submodule, sub" in err
    assert vfs(tmp_path, "fs", "bot", "ls")[1] == "" and vfs(tmp_path, "integrity", "bot")[0] == 0


@needs_mount
def test_what_cannot_be_cloned_is_one_line(tmp_path, source):
    vfs(tmp_path, "init", "bot")
    vfs(tmp_path, "fs", "bot", "mkdir", "/project")
    for words, text in (((source,), "/project exists already"), ((tmp_path / "nowhere",), "git clone: fatal"),
                        ((source, "a/b"), "no name"), ((source, "--backend", "nfs"), "nfs" if not os.path.exists("/sbin/mount.nfs") else "")):
        status, out, err = vfs(tmp_path, "clone", "bot", *words)
        assert status == (4 if "--backend" in words else 1) and not out and text.lower() in err.lower() and err.count("\n") == 1, err
    (tmp_path / "none").mkdir()
    git(tmp_path / "none", "init", "-q")
    status, out, err = vfs(tmp_path, "clone", "bot", tmp_path / "none")
    assert status == 0 and out.endswith("0 files\n")


@pytest.mark.parametrize(("source", "name"), [
    ("https://example.org/a/project.git", "project"), ("https://example.org/a/project/", "project"), ("git@example.org:project.git", "project"),
    ("/home/x/project/.git", "project"), ("project", "project"), ("ssh://example.org:22/a.git/", "a"),
])
def test_T96_the_name_of_the_source(source, name):
    assert name_of(source) == name


# ---- the parts

def test_an_index_is_what_git_reads(tmp_path):
    git(tmp_path, "init", "-q")
    paths = ["a/b", "a.c", "a/c/d", "z" * 5000]
    blob = hashlib.sha1(b"blob 1\0x").digest()
    entries = [Entry(path.encode(), 0o100644, blob) for path in paths]
    (tmp_path / ".git" / "index").write_bytes(index(entries, {}, 0, (0, 0)))
    assert git(tmp_path, "ls-files").decode().split() == sorted(paths)


def test_a_bulk_import_is_what_single_files_are(tmp_path):
    with Vfs.open(tmp_path / "x.db") as database:
        database.fs.mkdir("/top")
        load = Import(database.mount, "/top", (1000, 1000), 10 ** 18 + 5)
        load.directories(["d", "d/e", "f"], 0o755)
        made = [load.file(f"d/e/{number}", 0o644, bytes([number % 256]) * number * 40) for number in range(1200)]
        load.symlink("f/l", b"../d")
        long = load.long_file("f/long", 0o600, iter([b"1" * 3_000_000, b"2" * 3_000_000]))
        load.flush()
        assert check(database.db) == [] and len({one.ino for one in made}) == 1200
        stat = database.fs.stat("/top/d/e/1199")
        assert (stat.ino, stat.size, stat.mtime_ns, stat.uid) == (made[-1].ino, 1199 * 40, 10 ** 18 + 5, 1000)
        assert database.fs.read("/top/d/e/1199") == bytes([1199 % 256]) * 1199 * 40 and database.fs.stat("/top").nlink == 4
        assert database.fs.stat("/top/f/long").ino == long.ino and database.fs.read("/top/f/long")[-1:] == b"2"
        assert database.fs.filesystem.readlink("/top/f/l") == "../d"
        again = Import(database.mount, "/top/f", (0, 0), 0)
        again.file("l", 0o644, b"")
        with pytest.raises(FileExistsError):
            again.flush()
        database.fs.write("/top/after", b"1")
        assert check(database.db) == []
