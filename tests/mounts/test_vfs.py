"""The database as a mount: the contract, and what only a database has."""
from __future__ import annotations

import asyncio
import errno
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from mirage import Terminal
from mirage.mounts import Vfs
from mirage.mounts.vfs import SchemaError, maintenance, schema
from mirage.mounts.vfs.integrity import check, repair
from mirage.mounts.vfs.names import shown, stored
from mirage.vfs.spec import open_spec
from tests.mounts.contract import MountContract

SAMPLE = {"/a.txt": b"alpha\nbeta\n", "/empty": b"", "/docs/deep/blob.bin": bytes(range(256)) * 700, "/docs/ü.txt": "naïve"}


@pytest.fixture
def vfs(tmp_path):
    with Vfs.open(tmp_path / "agent.db") as vfs:
        yield vfs


class TestVfs(MountContract):
    @pytest.fixture
    def mount(self, vfs):
        for path, data in SAMPLE.items():
            vfs.fs.write(path, data, parents=True)
        vfs.mount.symlink("../a.txt", "/docs/link", 1000, 1000)
        return vfs.mount


class TestReadOnlyVfs(MountContract):
    @pytest.fixture
    def mount(self, tmp_path):
        with Vfs.open(tmp_path / "agent.db") as vfs:
            for path, data in SAMPLE.items():
                vfs.fs.write(path, data, parents=True)
        with Vfs.open(tmp_path / "agent.db", readonly=True) as vfs:
            yield vfs.mount


class TestSmallChunks(TestVfs):
    @pytest.fixture
    def vfs(self, tmp_path):
        with Vfs.open(tmp_path / "agent.db", chunk_size=4096) as vfs:
            yield vfs


# ---- content

def test_random_content_against_plain_bytes(vfs, tmp_path):
    """Overlapping writes, appends, truncations and holes, flushed or not, read back through every way."""
    rng = random.Random(11)
    model = bytearray()
    handle = vfs.mount.create("/f", 0o644, 1000, 1000)
    for turn in range(400):
        kind = rng.randrange(6)
        if kind < 3:
            offset = rng.choice([rng.randrange(300_000), len(model), max(0, len(model) - 10), 65536 * rng.randrange(5)])
            data = rng.randbytes(rng.choice([1, 100, 65536, 70_000]))
            handle.pwrite(data, offset)
            model.extend(bytes(max(0, offset + len(data) - len(model))))
            model[offset:offset + len(data)] = data
        elif kind == 3:
            data = rng.randbytes(rng.randrange(1, 5000))
            assert handle.pwrite(data, -1) == len(model) + len(data)
            model += data
        elif kind == 4:
            size = rng.randrange(400_000)
            handle.truncate(size)
            del model[size:]
            model.extend(bytes(size - len(model)))
        elif rng.random() < 0.3:
            handle.sync()
        offset, length = rng.randrange(400_000), rng.choice([10, 1000, 200_000])
        assert handle.pread(length, offset) == bytes(model[offset:offset + length]), turn
        assert handle.stat().size == len(model)
    assert vfs.mount.read("/f") == bytes(model)
    handle.close()
    with Vfs.open(vfs.path, readonly=True) as other:
        assert other.fs.read("/f") == bytes(model)
    assert check(vfs.db) == []


def test_long_content_is_replaced_in_short_transactions(vfs):
    data = random.Random(1).randbytes(9 << 20)
    vfs.fs.write("/f", b"short")
    vfs.mount.setattr("/f", mode=0o600)
    vfs.fs.write("/f", data)
    assert vfs.fs.read("/f") == data and vfs.fs.stat("/f").mode & 0o777 == 0o600 and vfs.fs.stat("/f").nlink == 1
    vfs.mount.link("/f", "/g")
    vfs.fs.write("/f", data[::-1])
    assert vfs.fs.read("/g") == data[::-1]
    vfs.fs.remove("/f")
    vfs.fs.remove("/g")
    assert rows(vfs, "fs_data") == 0 and rows(vfs, "fs_inode") == 1 and check(vfs.db) == []


def test_no_transaction_is_long(vfs):
    """Rows of 64 KiB are counted: cutting, overwriting and punching long files lets others write in between."""
    from mirage.mounts.vfs.inodes import TreeInodes
    mount, data = vfs.mount, random.Random(2).randbytes(9 << 20)
    for name in ("cut", "emptied", "linked", "open", "small", "punched"):
        vfs.fs.write(f"/{name}", data)
    mount.link("/linked", "/other")
    held = mount.open("/open", os.O_RDWR)
    counts = [vfs.db.sql.total_changes]
    mount.observers.append(lambda: counts.append(vfs.db.sql.total_changes))
    mount.open("/emptied", os.O_RDWR | os.O_TRUNC).close()
    with_cut = mount.open("/cut", os.O_RDWR)
    with_cut.truncate(100_001)
    with_cut.close()
    vfs.fs.write("/linked", data[::-1])
    vfs.fs.write("/open", b"new")
    vfs.fs.write("/small", b"new")
    inodes = TreeInodes(mount)
    punched = inodes.open(inodes.lookup(1, "punched")[0], os.O_RDWR)
    punched.allocate(3, 1000, 8 << 20)
    assert max(b - a for a, b in zip(counts, counts[1:], strict=False)) < 50
    assert vfs.fs.stat("/emptied").size == 0 and vfs.fs.read("/cut") == data[:100_001]
    assert vfs.fs.read("/other") == data[::-1] and vfs.fs.read("/small") == held.pread(9, 0) == b"new"
    assert vfs.fs.read("/punched") == data[:1000] + bytes(8 << 20) + data[1000 + (8 << 20):]
    held.close()
    punched.close()
    assert check(vfs.db) == []


def test_cutting_a_sparse_file_takes_no_longer_than_it_has_chunks(vfs):
    handle = vfs.mount.create("/f", 0o644, 1000, 1000)
    handle.truncate(1 << 43)
    handle.pwrite(b"end", 1 << 42)
    started = time.process_time()
    handle.truncate(5)
    assert time.process_time() - started < 2 and handle.stat().size == 5
    handle.close()
    assert rows(vfs, "fs_data") == 0 and check(vfs.db) == []


def rows(vfs, table):
    with vfs.db.reading:
        return vfs.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_nothing_is_left_of_what_is_removed(vfs):
    fs = vfs.fs.filesystem
    vfs.fs.write("/d/e/f", b"x" * 100_000, parents=True)
    fs.symlink("target", "/d/l")
    fs.mkfifo("/d/p")
    fs.setxattr("/d/e/f", "user.a", b"1")
    handle = fs.open("/d/e/f")
    vfs.fs.remove("/d", recursive=True)
    assert rows(vfs, "fs_inode") == 2 and handle.pread(3, 0) == b"xxx"
    handle.close()
    for table in ("fs_data", "fs_symlink", "fs_xattr", "fs_dentry"):
        assert rows(vfs, table) == 0
    assert rows(vfs, "fs_inode") == 1


def test_names_that_are_not_utf8_are_stored_as_utf8(vfs):
    names = ["\udcff", "\uf7ff", "a\udc80b", "ü\uf780", "\udcef\udc9e\udc80"]
    assert len({stored(name) for name in names}) == len(names)
    for name in names:
        assert shown(stored(name)).encode("utf-8", "surrogateescape") == name.encode("utf-8", "surrogateescape")
        stored(name).encode("utf-8")
    for name in names[:4]:
        vfs.fs.write("/" + name, b"x")
    assert {e.name for e in vfs.fs.list("/")} == set(names[:4])
    connection = sqlite3.connect(vfs.path)
    assert len(connection.execute("SELECT name FROM fs_dentry").fetchall()) == 4
    connection.close()


# ---- several connections

def test_two_programs_see_each_other_at_once(vfs):
    with Vfs.open(vfs.path) as other:
        vfs.fs.write("/d/f", b"1", parents=True)
        assert other.fs.read("/d/f") == b"1" and other.fs.stat("/").nlink == 3
        other.fs.write("/d/f", b"22")
        assert vfs.fs.stat("/d/f").size == 2 and vfs.fs.read("/d/f") == b"22"
        other.fs.mkdir("/d/e")
        assert vfs.fs.stat("/d").nlink == 3
        vfs.fs.remove("/d", recursive=True)
        assert not other.fs.exists("/d")


def test_appends_of_two_programs_are_all_kept(vfs):
    with Vfs.open(vfs.path) as other:
        vfs.fs.write("/log", b"")
        handles = [v.mount.open("/log", os.O_WRONLY | os.O_APPEND) for v in (vfs, other)]
        for turn in range(20):
            for number, handle in enumerate(handles):
                handle.pwrite(f"{number}:{turn}\n".encode(), -1)
                if turn % 3 == number:
                    handle.sync()
        for handle in handles:
            handle.close()
        lines = vfs.fs.read("/log").decode().splitlines()
        assert sorted(lines) == sorted(f"{n}:{t}" for n in (0, 1) for t in range(20))


def test_a_file_that_another_program_has_open_lives_until_it_is_closed(vfs):
    with Vfs.open(vfs.path) as other:
        vfs.fs.write("/f", b"kept" * 100)
        handle = other.mount.open("/f", os.O_RDWR)
        vfs.fs.remove("/f")
        assert handle.pread(4, 0) == b"kept" and handle.stat().nlink == 0
        handle.pwrite(b"more", 0)
        handle.sync()
        assert handle.pread(8, 0) == b"morekept" and rows(vfs, "fs_inode") == 2
        handle.close()
        assert rows(vfs, "fs_inode") == 1 and rows(vfs, "fs_data") == 0
    assert not os.path.exists(vfs.path + "-open") or vfs.mount.opens._fd >= 0


def test_a_writer_waits_for_another_one(vfs):
    connection = sqlite3.connect(vfs.path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.2, connection.execute, ["COMMIT"])
    timer.start()
    vfs.fs.write("/f", b"1")
    timer.join()
    connection.close()
    assert vfs.fs.read("/f") == b"1"


def test_processes_write_one_database_without_an_error(vfs):
    script = ("import sys\nfrom mirage.mounts import Vfs\nvfs = Vfs(sys.argv[1])\nfor i in range(60):\n"
              "    vfs.fs.write(f'/{sys.argv[2]}.{i}', b'x' * 3000)\n    vfs.fs.append('/log', f'{sys.argv[2]}:{i}\\n')\n"
              "    vfs.kv.set(f'{sys.argv[2]}:{i}', i)\n    vfs.fs.read(f'/{sys.argv[2]}.{i}')\nvfs.close()\n")
    vfs.fs.write("/log", b"")
    workers = [subprocess.Popen([sys.executable, "-c", script, vfs.path, str(n)], stderr=subprocess.PIPE) for n in range(3)]
    for worker in workers:
        assert worker.communicate(timeout=60)[1] == b"" and worker.returncode == 0
    assert len(vfs.fs.list("/")) == 181 and len(vfs.kv.list()) == 180
    assert len(vfs.fs.read("/log").splitlines()) == 180 and check(vfs.db) == []


# ---- crashes

WRITER = """
import os, random, sys
from mirage.mounts import Vfs
path, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)
vfs = Vfs(path)
vfs.fs.mkdir(f"/{seed}")
for i in range(100000):
    name = f"/{seed}/{i}"
    data = bytes([i % 251]) * rng.choice([10, 5000, 70000, 300000])
    handle = vfs.mount.create(name, 0o644, 1000, 1000)
    handle.pwrite(data, 0)
    if rng.random() < 0.5:
        handle.sync()
        os.write(1, f"{name} {len(data)} {i % 251}\\n".encode())
    if rng.random() < 0.3:
        vfs.mount.rename(name, name + ".moved")
        vfs.mount.rename(name + ".moved", name)
    if rng.random() < 0.2:
        vfs.mount.create("/gone", 0o644, 1000, 1000).pwrite(data, 0)
        vfs.mount.unlink("/gone")
    handle.close()
"""


def crash(path, rounds, pause):
    rng = random.Random(5)
    for seed in range(rounds):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, path, str(seed)], stdout=subprocess.PIPE)
        first = writer.stdout.readline()
        time.sleep(rng.random() * pause)
        writer.kill()
        lines = (first + writer.stdout.read()).decode().splitlines()
        writer.wait()
        with Vfs(path) as vfs:
            assert [p for p in check(vfs.db) if not p.repairable] == []
            with vfs.db.reading:
                assert vfs.db.execute("SELECT count(*) FROM fs_inode WHERE nlink = 0").fetchone()[0] == 0
            for line in lines:
                name, size, byte = line.split()
                assert vfs.fs.exists(name) or vfs.fs.exists(name + ".moved"), (seed, line)
                if vfs.fs.exists(name):
                    assert vfs.fs.read(name) == bytes([int(byte)]) * int(size), (seed, line)
        assert not os.path.exists(path + "-wal")


def test_kills_lose_nothing_that_was_synced(tmp_path):
    crash(str(tmp_path / "agent.db"), 4, 0.3)


@pytest.mark.slow
def test_many_kills_lose_nothing_that_was_synced(tmp_path):
    crash(str(tmp_path / "agent.db"), 40, 0.5)


# ---- the API

def test_values_and_calls(vfs):
    vfs.kv.set("user:1", {"name": "A", "n": 1})
    vfs.kv.set("user:2", [1, None])
    vfs.kv.set("user:1", {"name": "B"})
    assert vfs.kv.get("user:1") == {"name": "B"} and vfs.kv.get("none", 7) == 7
    assert vfs.kv.list("user:") == [("user:1", {"name": "B"}), ("user:2", [1, None])]
    assert vfs.kv.delete("user:2") and not vfs.kv.delete("user:2")
    first = vfs.tools.start("search", {"q": "x"})
    second = vfs.tools.start("fetch")
    vfs.tools.success(first, {"hits": 3})
    vfs.tools.error(second, "no answer")
    vfs.tools.record("old", 100.0, 101.5, result="done")
    assert [(c.name, c.status) for c in vfs.tools.list()][-1] == ("old", "success")
    assert vfs.tools.get(first).result == {"hits": 3} and vfs.tools.get(second).error == "no answer"
    assert vfs.tools.list(status="error")[0].id == second and vfs.tools.list(name="old")[0].duration_ms == 1500


def test_the_same_for_asyncio(tmp_path):
    async def use():
        async with await Vfs.aopen(tmp_path / "agent.db") as vfs:
            await asyncio.gather(*(vfs.fs.write(f"/{n}", str(n)) for n in range(20)))
            await vfs.kv.set("k", 1)
            return sorted(e.name for e in await vfs.fs.list("/")), await vfs.kv.get("k")

    names, value = asyncio.run(use())
    assert names == sorted(str(n) for n in range(20)) and value == 1


def test_a_terminal_on_a_database_fills_its_log(tmp_path):
    path = tmp_path / "agent.db"
    with Vfs.open(path):
        pass
    with Terminal({"/workspace": Vfs.open(path)}, journal=path) as terminal:
        assert terminal.run("echo one > a; cat a").stdout == "one\n"
        assert terminal.run("cat missing").exit_code == 1
    with Vfs.open(path) as vfs:
        calls = vfs.tools.list()
        assert [(c.name, c.parameters["command"], c.status) for c in reversed(calls)] == \
            [("bash", "echo one > a; cat a", "success"), ("bash", "cat missing", "error")]
        assert vfs.fs.read("/a") == b"one\n"


def test_the_provider_is_found_by_its_spec(tmp_path):
    mount = open_spec(f"vfs:{tmp_path}/agent.db")
    mount.replace("/f", b"1", 0o644, 1000, 1000)
    mount.close()
    readonly = open_spec(f"vfs:{tmp_path}/agent.db:ro")
    assert readonly.read("/f") == b"1" and not readonly.capabilities.writable
    readonly.close()


def test_a_terminal_loads_no_sqlite():
    code = "import sys\nfrom mirage import Terminal\nTerminal().run('echo hi')\nsys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


# ---- files of others

OLD = """
CREATE TABLE fs_config (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE fs_inode (ino INTEGER PRIMARY KEY AUTOINCREMENT, mode INTEGER NOT NULL, uid INTEGER NOT NULL DEFAULT 0,
  gid INTEGER NOT NULL DEFAULT 0, size INTEGER NOT NULL DEFAULT 0, atime INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL);
CREATE TABLE fs_dentry (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, parent_ino INTEGER NOT NULL, ino INTEGER NOT NULL, UNIQUE(parent_ino, name));
CREATE TABLE fs_data (ino INTEGER NOT NULL, chunk_index INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (ino, chunk_index));
CREATE TABLE fs_symlink (ino INTEGER PRIMARY KEY, target TEXT NOT NULL);
CREATE TABLE kv_store (key TEXT PRIMARY KEY, value TEXT NOT NULL, created_at INTEGER DEFAULT (unixepoch()), updated_at INTEGER DEFAULT (unixepoch()));
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, parameters TEXT, result TEXT, error TEXT,
  started_at INTEGER NOT NULL, completed_at INTEGER NOT NULL, duration_ms INTEGER NOT NULL);
INSERT INTO fs_config VALUES ('chunk_size', '4096'), ('schema_version', '0.4');
INSERT INTO fs_inode VALUES (1, 16877, 0, 0, 0, 5, 5, 5), (2, 33188, 0, 0, 5, 6, 6, 6), (3, 16877, 0, 0, 0, 7, 7, 7);
INSERT INTO fs_dentry (name, parent_ino, ino) VALUES ('f', 1, 2), ('g', 1, 2), ('d', 1, 3);
INSERT INTO fs_data VALUES (2, 0, 'hello');
INSERT INTO tool_calls VALUES (1, 'old', '{}', '"r"', NULL, 10, 11, 1000);
"""


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript(OLD)
    connection.close()
    return str(path)


def test_an_old_database_is_refused_until_it_is_migrated(old):
    before = open(old, "rb").read()
    with pytest.raises(SchemaError, match="vfs migrate"):
        Vfs.open(old)
    assert open(old, "rb").read() == before


def test_T89_a_dry_run_changes_nothing(old):
    before = open(old, "rb").read()
    version, steps = maintenance.migrate(old, dry_run=True)
    assert version == "0.0" and steps and open(old, "rb").read() == before


def test_T90_T94_migration_counts_links_and_is_idempotent(old):
    maintenance.migrate(old)
    assert maintenance.migrate(old)[1] == []
    with Vfs.open(old) as vfs:
        assert vfs.fs.stat("/f").nlink == 2 and vfs.fs.read("/g") == b"hello" and vfs.fs.stat("/").nlink == 3
        assert vfs.tools.get(1).status == "success" and check(vfs.db) == []


def test_T91_T92_T93_copying_leaves_the_source_alone(old, tmp_path):
    before, target = open(old, "rb").read(), str(tmp_path / "new.db")
    maintenance.migrate_copy(old, target)
    assert open(old, "rb").read() == before and maintenance.state(old) == maintenance.state(target)
    with pytest.raises(maintenance.Refused):
        maintenance.migrate_copy(old, target)
    maintenance.migrate_copy(old, target, overwrite=True)


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\0" + b"\1" * 2000, b"", b"x"])
def test_what_is_no_database_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(SchemaError):
        Vfs.open(path, create=False)
    assert path.read_bytes() == content and sorted(p.name for p in tmp_path.iterdir()) == ["x.db"]


def test_a_newer_and_a_foreign_database_are_refused(vfs, tmp_path):
    connection = sqlite3.connect(tmp_path / "foreign.db")
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(SchemaError, match="fs_config"):
        Vfs.open(tmp_path / "foreign.db")
    with vfs.db.writing:
        vfs.db.execute("UPDATE vfs_meta SET value = '0.7' WHERE key = 'schema_version'")
    with pytest.raises(SchemaError, match=r"0\.7.*0\.6"):
        Vfs.open(vfs.path)


# ---- integrity and copies

@pytest.mark.parametrize(("damage", "name"), [
    ("DELETE FROM fs_inode WHERE ino = 2", "dentry-inode"),
    ("DELETE FROM fs_inode WHERE ino = 1", "root"),
    ("UPDATE fs_dentry SET parent_ino = 99", "dentry-parent"),
    ("UPDATE fs_dentry SET name = 'a/b' WHERE ino = 2", "name"),
    ("UPDATE fs_inode SET nlink = 3 WHERE ino = 2", "nlink"),
    ("UPDATE fs_inode SET size = 1 WHERE ino = 2", "size"),
    ("UPDATE fs_inode SET mtime_nsec = 1000000000", "time"),
    ("UPDATE fs_inode SET mode = 'abc' WHERE ino = 2", "inode"),
    ("UPDATE fs_inode SET mtime = 1.5 WHERE ino = 2", "inode"),
    ("UPDATE fs_inode SET size = -5 WHERE ino = 2", "inode"),
    ("UPDATE fs_dentry SET name = x'ff41' WHERE ino = 2", "name"),
    ("INSERT INTO fs_data VALUES (99, 0, x'00')", "chunk-inode"),
    ("INSERT INTO fs_data VALUES (2, 9, x'00')", "chunk"),
    ("DELETE FROM fs_symlink", "symlink"),
    ("UPDATE fs_dentry SET parent_ino = (SELECT ino FROM fs_dentry WHERE name = 'd') WHERE name = 'd'", "reachable"),
    ("INSERT INTO fs_whiteout VALUES ('/f', '/', 0)", "whiteout"),
    ("INSERT INTO fs_whiteout VALUES ('f//', '/', 0)", "whiteout"),
    ("UPDATE kv_store SET value = '{'", "kv"),
])
def test_T78_every_kind_of_damage_is_found(vfs, damage, name):
    vfs.fs.write("/f", b"hello")
    vfs.fs.mkdir("/d")
    vfs.fs.symlink("f", "/l")
    vfs.kv.set("k", 1)
    assert check(vfs.db) == []
    with vfs.db.writing:
        vfs.db.execute(damage)
    assert name in [p.check for p in check(vfs.db) if not p.repairable]


def test_T78_a_flipped_byte_is_found(vfs):
    for number in range(50):
        vfs.fs.write(f"/{number}", b"x" * 3000)
    vfs.close()
    data = bytearray(open(vfs.path, "rb").read())
    page = data.index(b"fs_dentry")
    data[8192:8200] = b"\xff" * 8
    assert page
    with open(vfs.path, "wb") as file:
        file.write(data)
    with pytest.raises(SchemaError, match="damaged"):
        with Vfs.open(vfs.path, readonly=True) as broken:
            raise SchemaError("damaged") if check(broken.db) else AssertionError("nothing was found")


def test_what_cannot_be_a_name_or_a_number_harms_nothing_else(vfs):
    from mirage.mounts.vfs.inodes import TreeInodes
    vfs.fs.write("/f", b"hello")
    vfs.fs.write("/g", b"hello")
    with vfs.db.writing:
        for name in ("a/b", "..", ".", "", b"blob"):
            vfs.db.execute("INSERT INTO fs_dentry (name, parent_ino, ino) VALUES (?, 1, 2)", (name,))
    inodes = TreeInodes(vfs.mount)
    assert sorted(e.name for e in vfs.fs.list("/")) == ["f", "g"]
    assert sorted(name for name, _, _ in inodes.opendir(1).entries) == ["f", "g"]
    with vfs.db.writing:
        vfs.db.execute("UPDATE fs_inode SET size = 'x' WHERE ino = 2")
    with Vfs.open(vfs.path) as other:
        with pytest.raises(OSError) as caught:
            other.fs.read("/f")
        assert caught.value.errno == errno.EIO and "inode 2" in caught.value.note
        assert other.fs.read("/g") == b"hello"


def test_a_table_without_a_column_is_refused(vfs):
    with vfs.db.writing:
        vfs.db.execute("ALTER TABLE fs_inode DROP COLUMN gid")
    with pytest.raises(SchemaError, match="fs_inode has no column gid"):
        Vfs.open(vfs.path)


def test_repair_removes_what_the_peer_leaves(vfs):
    with vfs.db.writing:
        vfs.db.execute("INSERT INTO fs_inode (mode, nlink, atime, mtime, ctime) VALUES (16877, 1, 0, 0, 0)")
        vfs.db.execute("INSERT INTO fs_symlink VALUES (99, 'x')")
    assert {p.check for p in check(vfs.db)} == {"orphan", "symlink-row"} and all(p.repairable for p in check(vfs.db))
    repair(vfs.db)
    assert check(vfs.db) == []


def test_T82_T83_T86_backup_of_a_database_in_use(vfs, tmp_path):
    vfs.fs.write("/d/f", b"1" * 100_000, parents=True)
    handle = vfs.mount.create("/sparse", 0o644, 1000, 1000)
    handle.truncate(5 << 20)
    target = str(tmp_path / "copy.db")
    maintenance.backup(vfs, target)
    vfs.fs.write("/later", b"")
    with pytest.raises(maintenance.Refused):
        maintenance.backup(vfs, target)
    handle.close()
    with Vfs.open(target) as made:
        assert made.fs.read("/d/f") == b"1" * 100_000 and not made.fs.exists("/later")
        assert rows(made, "fs_data") == 2 + 80 and check(made.db) == []
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("copy")) == ["copy.db"]


def test_who_waits_for_another_program_does_not_stop_the_terminal(vfs):
    connection = sqlite3.connect(vfs.path, isolation_level=None, check_same_thread=False)
    with Terminal({"/workspace": vfs}) as terminal:
        terminal.run("true")
        connection.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.8, connection.execute, ["COMMIT"])
        timer.start()
        assert terminal.run("(echo x > f; echo second) & sleep 0.1; echo first; wait").stdout == "first\nsecond\n"
        timer.join()
        connection.close()


def test_a_database_that_cannot_grow_says_so_and_stays_whole(vfs):
    vfs.fs.write("/f", b"kept")
    with vfs.db.reading:
        pages = vfs.db.execute("PRAGMA page_count").fetchone()[0]
        vfs.db.execute(f"PRAGMA max_page_count = {pages + 20}")
    with pytest.raises(OSError) as caught:
        vfs.fs.write("/g", bytes(1 << 20))
    assert caught.value.errno == errno.ENOSPC and not vfs.fs.exists("/g")
    handle = vfs.mount.open("/f", os.O_RDWR)
    handle.pwrite(bytes(1 << 20), 0)
    with pytest.raises(OSError):
        handle.sync()
    with pytest.raises(OSError):
        handle.close()
    assert vfs.fs.read("/f") == b"kept" and check(vfs.db) == [] and vfs.mount.dirty == 0
    vfs.fs.write("/f", b"new")
    assert vfs.fs.read("/f") == b"new"


def test_a_failed_change_leaves_no_trace(vfs):
    vfs.fs.write("/d/f", b"1", parents=True)
    with pytest.raises(RuntimeError):
        with vfs.db.writing:
            vfs.mount.rename("/d", "/e")
            vfs.mount.unlink("/e/f")
            vfs.mount.mkdir("/new", 0o755, 1000, 1000)
            raise RuntimeError
    assert vfs.fs.read("/d/f") == b"1" and [e.name for e in vfs.fs.list("/")] == ["d"]
    assert vfs.fs.stat("/").nlink == 3 and check(vfs.db) == []


def test_looking_into_the_peers_file_writes_nothing(tmp_path):
    path = tmp_path / "plain.db"
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in schema.BASE.split(";"):
        connection.execute(statement)
    connection.execute("INSERT INTO fs_config VALUES ('chunk_size', '4096'), ('schema_version', '0.4')")
    connection.execute("INSERT INTO fs_inode (ino, mode, nlink, atime, mtime, ctime) VALUES (1, 16877, 1, 0, 0, 0)")
    connection.close()
    before = path.read_bytes()
    with Vfs.open(path) as vfs:
        assert vfs.fs.list("/") == [] and vfs.fs.filesystem.listxattr("/") == [] and check(vfs.db) == []
    assert path.read_bytes() == before
    with Vfs.open(path) as vfs:
        vfs.fs.write("/f", b"1")
        assert vfs.db.complete and vfs.fs.read("/f") == b"1"
