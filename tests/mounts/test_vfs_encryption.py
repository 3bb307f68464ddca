"""Encrypted databases: eight ciphers, wrong keys, crashes, several processes, and Turso's own reader."""
from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from mirage import Terminal
from mirage.bench import environment
from mirage.mounts import Vfs
from mirage.mounts.vfs import SchemaError, maintenance
from mirage.mounts.vfs.integrity import check
from mirage.mounts.vfs.secret import CIPHERS, Secret, secret_of
from mirage.vfs.spec import open_spec

apsw = pytest.importorskip("apsw")
pytest.importorskip("cryptography")
pytest.importorskip("aeg")
KEY = "5e" * 32
AES = {"key": KEY, "cipher": "aes256gcm"}


def key_for(cipher):
    return "5e" * CIPHERS[cipher][1]


def kept(folder):
    """The bytes of every file there."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ---- keys

@pytest.mark.parametrize(("key", "cipher", "text"), [
    ("5e" * 16, "aes256gcm", "64 hexadecimal"), ("5e" * 32, "aes128gcm", "32 hexadecimal"), ("zz" * 32, "aegis256", "64"),
    ("", "aes256gcm", "belong together"), (KEY, "", "belong together"), (KEY, "rot13", "unknown cipher"),
    (" " + KEY, "aes256gcm", "64"),
])
def test_T102_what_is_no_key_is_refused_without_showing_it(tmp_path, key, cipher, text):
    with pytest.raises(ValueError, match=text) as caught:
        Vfs.open(tmp_path / "x.db", key=key, cipher=cipher)
    assert not key.strip() or key not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_secret_does_not_show_its_key():
    secret = Secret("aes256gcm", KEY)
    assert KEY not in repr(secret) and KEY not in str(secret) and secret == Secret("aes256gcm", KEY.upper())
    assert secret_of(None, None) is None


# ---- content

@pytest.mark.parametrize("cipher", sorted(CIPHERS))
def test_T102_every_cipher_keeps_files_and_shows_nothing(tmp_path, cipher):
    path, secret = tmp_path / "x.db", {"key": key_for(cipher), "cipher": cipher}
    with Vfs.open(path, **secret) as vfs:
        vfs.fs.write("/needle-name/f", b"needle-content" * 9000, parents=True)
        vfs.kv.set("needle-key", "needle-value")
        vfs.sync()
        assert not any(b"needle" in data for data in kept(tmp_path).values())
        assert check(vfs.db) == []
    raw = path.read_bytes()
    assert raw.startswith(b"Turso\0" + bytes([CIPHERS[cipher][0]])) and b"needle" not in raw and b"CREATE TABLE" not in raw
    assert raw[16:18] == b"\x10\x00" and raw[20] == 16 + CIPHERS[cipher][2]
    with Vfs.open(path, create=False, **secret) as vfs:
        assert vfs.fs.read("/needle-name/f") == b"needle-content" * 9000 and vfs.kv.get("needle-key") == "needle-value"


@pytest.mark.parametrize("opened", [
    {"key": "5f" * 32, "cipher": "aes256gcm"}, {"key": KEY, "cipher": "aegis256"}, {"key": "5e" * 16, "cipher": "aes128gcm"}, {},
])
@pytest.mark.parametrize("readonly", [False, True])
def test_a_wrong_key_or_none_changes_no_byte(tmp_path, opened, readonly):
    vfs = Vfs.open(tmp_path / "x.db", **AES)
    vfs.fs.write("/f", "x")
    (tmp_path / "copy").mkdir()
    for ending in ("", "-wal"):                              # as a killed process leaves it
        shutil.copy(str(tmp_path / "x.db") + ending, str(tmp_path / "copy" / "x.db") + ending)
    vfs.close()
    before = kept(tmp_path / "copy")
    with pytest.raises(SchemaError, match="key"):
        Vfs.open(tmp_path / "copy" / "x.db", readonly=readonly, **opened)
    assert kept(tmp_path / "copy") == before


def test_a_plain_database_is_not_opened_with_a_key(tmp_path):
    Vfs.open(tmp_path / "x.db").close()
    before = kept(tmp_path)
    with pytest.raises(SchemaError, match="not encrypted"):
        Vfs.open(tmp_path / "x.db", **AES)
    assert kept(tmp_path) == before


def test_two_sqlite_libraries_are_never_on_one_file(tmp_path):
    with Vfs.open(tmp_path / "x.db", **AES), pytest.raises(SchemaError, match="is encrypted"):
        Vfs.open(tmp_path / "x.db")
    with Vfs.open(tmp_path / "y.db"), pytest.raises(SchemaError, match="not encrypted"):
        Vfs.open(tmp_path / "y.db", **AES)
    with pytest.raises(SchemaError, match="in memory"):
        Vfs.open(":memory:", **AES)


@pytest.mark.parametrize("size", [1, 50, 4000, 5000, 9000])
def test_a_truncated_one_is_refused_and_left_alone(tmp_path, size):
    with Vfs.open(tmp_path / "x.db", **AES) as vfs:
        vfs.fs.write("/f", b"1" * 50_000)
    os.truncate(tmp_path / "x.db", size)
    before = kept(tmp_path)
    with pytest.raises(ValueError):
        with Vfs.open(tmp_path / "x.db", readonly=True, **AES) as vfs:
            raise ValueError(check(vfs.db)[0].message)
    assert kept(tmp_path)["x.db"] == before["x.db"]


def test_a_changed_page_is_noticed(tmp_path):
    with Vfs.open(tmp_path / "x.db", **AES) as vfs:
        vfs.fs.write("/f", os.urandom(200_000))
    data = bytearray((tmp_path / "x.db").read_bytes())
    data[len(data) - 9000] ^= 1
    (tmp_path / "x.db").write_bytes(data)
    with Vfs.open(tmp_path / "x.db", **AES) as vfs:
        assert [p.check for p in check(vfs.db)] == ["sqlite"]
        with pytest.raises(OSError):
            vfs.fs.read("/f")


# ---- uses

def test_T81_copies_and_migrations_stay_encrypted(tmp_path):
    with Vfs.open(tmp_path / "x.db", **AES) as vfs:
        vfs.fs.write("/f", b"needle" * 30_000)
        steps = []
        maintenance.backup(vfs, str(tmp_path / "b.db"), progress=lambda done, all: steps.append((done, all)))
        assert steps[-1][0] == steps[-1][1] > 0
        assert not maintenance.checkpoint(vfs) or (tmp_path / "x.db-wal").stat().st_size == 0
    secret = secret_of(**AES)
    assert maintenance.migrate(str(tmp_path / "b.db"), secret=secret) == ("0.6", [])
    maintenance.migrate_copy(str(tmp_path / "b.db"), str(tmp_path / "c.db"), secret=secret)
    assert maintenance.state(str(tmp_path / "x.db"), secret) == maintenance.state(str(tmp_path / "c.db"), secret)
    with maintenance.reopened(str(tmp_path / "c.db"), secret) as vfs:
        assert vfs.fs.read("/f") == b"needle" * 30_000 and check(vfs.db) == []
    assert not any(b"needle" in data for data in kept(tmp_path).values())


def test_a_terminal_mounts_one(tmp_path, monkeypatch):
    monkeypatch.setenv("THE_KEY", KEY)
    spec = f"vfs:{tmp_path}/x.db?key=env:THE_KEY&cipher=aes256gcm"
    with Terminal({"/workspace": open_spec(spec)}) as terminal:
        assert terminal.run("echo hi > f; cat f; ls").stdout == "hi\nf\n"
    with pytest.raises(OSError, match="encrypted"):
        open_spec(f"vfs:{tmp_path}/x.db")


WRITER = """
import sys
from mirage.mounts import Vfs
with Vfs.open(sys.argv[1], key=sys.argv[2], cipher="aes256gcm") as vfs:
    for number in range(int(sys.argv[4])):
        vfs.fs.write(f"/{sys.argv[3]}-{number}", str(number).encode() * 2000)
        if number % 3 == 0:
            vfs.sync()
            print(number, flush=True)
"""


def writer(path, name, count):
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), KEY, name, str(count)], stdout=subprocess.PIPE)


def test_several_processes_write_one(tmp_path):
    processes = [writer(tmp_path / "x.db", name, 40) for name in "ab"]
    with Vfs.open(tmp_path / "x.db", **AES) as vfs:
        for number in range(40):
            vfs.fs.write(f"/c-{number}", b"c")
        for process in processes:
            process.communicate(timeout=60)
            assert process.returncode == 0
        assert len(vfs.fs.list("/")) == 120 and vfs.fs.read("/b-39") == b"39" * 2000 and check(vfs.db) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_kill_loses_nothing_that_was_synced(tmp_path, seed):
    process = writer(tmp_path / "x.db", "k", 100_000)
    rest = random.Random(seed)
    said = [int(process.stdout.readline()) for _ in range(2 + seed)]
    time.sleep(rest.random() * 0.05)
    process.send_signal(signal.SIGKILL)
    said += [int(line) for line in process.stdout.read().split()]
    process.wait()
    process.stdout.close()
    with Vfs.open(tmp_path / "x.db", create=False, **AES) as vfs:
        assert check(vfs.db) == []
        for number in range(max(said) + 1):
            assert vfs.fs.read(f"/k-{number}") == str(number).encode() * 2000


class Disk:
    """What a disk would still have after a loss of power: each file as it was when it was last synced, and of what was
    written later, any blocks."""

    def __init__(self, monkeypatch):
        from mirage.mounts.vfs import connection, encrypted
        self.synced: dict[str, bytes] = {}
        disk, base_open, base_sync = self, encrypted.File.__init__, encrypted.File.xSync

        def opened(file, codec, name, flags):
            file.place = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
            base_open(file, codec, name, flags)

        def synced(file, flags):
            base_sync(file, flags)
            disk.keep(file.place)

        monkeypatch.setattr(encrypted.File, "__init__", opened)
        monkeypatch.setattr(encrypted.File, "xSync", synced)

        class Os:
            def __getattr__(self, name):
                return getattr(os, name)

            def fsync(self, fd):
                os.fsync(fd)
                disk.keep(os.readlink(f"/proc/self/fd/{fd}"))

        monkeypatch.setattr(connection, "os", Os())

    def keep(self, place):
        if os.path.isfile(place):
            with open(os.dup(os.open(place, os.O_RDONLY)), "rb", closefd=False) as file:     # never closed: see mounts/vfs/users.py
                self.synced[place] = file.read()

    def after_a_loss_of_power(self, path, target, random):
        for ending in ("", "-wal"):
            old, now = self.synced.get(path + ending, b""), b""
            with contextlib.suppress(FileNotFoundError), open(os.dup(os.open(path + ending, os.O_RDONLY)), "rb", closefd=False) as file:
                now = file.read()
            size = random.choice((len(old), max(len(old), len(now))))
            blocks = []
            for at in range(0, size, 4096):
                block = random.choice((old, now))[at:at + 4096] or old[at:at + 4096]
                blocks.append(block.ljust(min(4096, size - at), b"\0"))
            with open(target + ending, "wb") as file:
                file.write(b"".join(blocks))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
@pytest.mark.parametrize("seed", range(15))
def test_a_loss_of_power_loses_nothing_that_was_synced(tmp_path, monkeypatch, seed):
    rest = random.Random(seed)
    path, target = str(tmp_path / "x.db"), str(tmp_path / "after.db")
    with monkeypatch.context() as patched:
        disk = Disk(patched)
        vfs = Vfs.open(path, **AES)
        vfs.sync()
        kept = {}
        for step in range(rest.randrange(20, 60)):
            name = f"/{rest.randrange(12)}"
            data = rest.randbytes(rest.randrange(60_000))
            vfs.fs.write(name, data)
            if rest.random() < 0.3:
                vfs.sync()
                kept = {f"/{e.name}": vfs.fs.read(f"/{e.name}") for e in vfs.fs.list("/")}
            elif kept.get(name) != data:
                kept.pop(name, None)                         # the old or the new content may be there
            if rest.random() < 0.1:
                vfs.db.checkpoint()
        disk.after_a_loss_of_power(path, target, rest)
        vfs.close()
    with Vfs.open(target, create=False, **AES) as vfs:
        assert check(vfs.db) == []
        for name, data in kept.items():
            assert vfs.fs.read(name) == data, name


# ---- Turso

TURSO = """
import sys, turso
connection = turso.connect(sys.argv[1], experimental_features="encryption",
                           encryption=turso.EncryptionOpts(sys.argv[2], sys.argv[3]))
print(connection.execute("SELECT value FROM kv_store ORDER BY key").fetchall())
connection.execute("INSERT INTO kv_store (key, value) VALUES ('turso', '1')")
connection.commit()
connection.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.4.4", "0.8.3"])
def test_T102_turso_reads_and_writes_what_we_write(tmp_path, version):
    folder = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"pyturso-{version}-{os.getuid()}")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "ready")):
        environment.create(folder)
        if subprocess.run([python, "-m", "pip", "install", "-q", f"pyturso=={version}"], capture_output=True, timeout=300).returncode:
            pytest.skip(f"pyturso {version} cannot be installed here")
        open(os.path.join(folder, "ready"), "w").close()
    for cipher in CIPHERS:
        path = tmp_path / f"{cipher}.db"
        vfs = Vfs.open(path, key=key_for(cipher), cipher=cipher)
        vfs.kv.set("ours", "v")
        for ending in ("", "-wal"):                          # with a log that is not checkpointed
            shutil.copy(str(path) + ending, str(tmp_path / "hot.db") + ending)
        vfs.close()
        done = subprocess.run([python, "-c", TURSO, str(tmp_path / "hot.db"), cipher, key_for(cipher)], capture_output=True,
                              text=True, timeout=60)
        assert done.stdout.strip() == """[('"v"',)]""", done.stderr
        with Vfs.open(tmp_path / "hot.db", key=key_for(cipher), cipher=cipher, create=False) as vfs:
            assert vfs.kv.list() == [("ours", "v"), ("turso", 1)] and check(vfs.db) == []
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(str(tmp_path / "hot.db") + ending)


def test_errors_are_those_of_sqlite3(tmp_path):
    with Vfs.open(tmp_path / "x.db", **AES) as vfs:
        with pytest.raises(sqlite3.Error):
            vfs.db.execute("SELECT * FROM nothing")
        with vfs.db.reading:
            pages = vfs.db.execute("PRAGMA page_count").fetchone()[0]
            vfs.db.execute(f"PRAGMA max_page_count = {pages + 20}").fetchall()
        with pytest.raises(OSError) as caught:
            vfs.fs.write("/g", bytes(1 << 20))
        assert caught.value.strerror == "No space left on device" and check(vfs.db) == []
