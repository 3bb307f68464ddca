"""Databases go back and forth between Mirage and agentfs-sdk 0.6.4, which is installed in an environment of its own."""
from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys

import pytest

from mirage.bench import environment
from mirage.mounts import Vfs
from mirage.mounts.vfs import maintenance
from mirage.mounts.vfs.integrity import check, repair

pytestmark = pytest.mark.slow

PEER = """
import asyncio, json, sys
from agentfs_sdk import AgentFS, AgentFSOptions

async def main():
    agent = await AgentFS.open(AgentFSOptions(path=sys.argv[1]))
    result = None
    try:
        body = "async def work(agent):\\n" + "\\n".join("    " + line for line in sys.stdin.read().splitlines())
        names = {}
        exec(body, names)
        result = await names["work"](agent)
    finally:
        await agent.close()
    print(json.dumps(result))

asyncio.run(main())
"""


@pytest.fixture(scope="session")
def peer():
    """Runs the body of a coroutine with an open AgentFS `agent`; what it returns."""
    folder = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"agentfs-sdk-0.6.4-{os.getuid()}")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "ready")):
        environment.create(folder)
        done = subprocess.run([python, "-m", "pip", "install", "-q", "agentfs-sdk==0.6.4"], capture_output=True, timeout=300)
        if done.returncode:
            pytest.skip("agentfs-sdk 0.6.4 cannot be installed here")
        open(os.path.join(folder, "ready"), "w").close()

    def run(path, body):
        done = subprocess.run([python, "-c", PEER, str(path)], input=body, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def path(tmp_path):
    return tmp_path / "agent.db"


def test_the_peer_reads_what_we_write(peer, path):
    big = bytes(range(256)) * 1000
    with Vfs.open(path) as vfs:
        vfs.fs.write("/docs/big.bin", big, parents=True)
        vfs.fs.write("/docs/hello.txt", "hi")
        vfs.fs.write("/empty", b"")
        vfs.fs.rename("/docs/hello.txt", "/moved.txt")
        vfs.mount.link("/moved.txt", "/hard.txt")
        vfs.fs.write("/\udcff", b"odd")
        vfs.kv.set("k", {"a": 1})
        vfs.tools.record("grep", 100, 102, {"q": "x"}, "found")
    said = peer(path, """
big = await agent.fs.read_file("/docs/big.bin", encoding=None)
stat = await agent.fs.stat("/hard.txt")
calls = await agent.tools.get_by_name("grep")
return [len(big), sum(big), await agent.fs.read_file("/moved.txt"), await agent.fs.read_file("/hard.txt"), stat.nlink,
        sorted(await agent.fs.readdir("/")), await agent.kv.get("k"), [c.status for c in calls], await agent.fs.read_file("/empty")]
""")
    assert said == [len(big), sum(big), "hi", "hi", 2, sorted(["docs", "moved.txt", "hard.txt", "empty", "\uf7ff"]), {"a": 1},
                    ["success"], ""]
    with Vfs.open(path) as vfs:
        assert check(vfs.db) == [] and vfs.fs.read("/docs/big.bin") == big


@pytest.mark.parametrize("chunk", [4096, 65536, 262144])
def test_both_change_one_database(peer, path, chunk):
    with Vfs.open(path, chunk_size=chunk) as vfs:
        vfs.fs.write("/ours", b"1" * 100_000)
        vfs.fs.mkdir("/d")
        vfs.fs.write("/d/x", b"x")
    peer(path, """
await agent.fs.write_file("/theirs", "2" * 100000)
await agent.fs.write_file("/d/y", "y")
await agent.fs.write_file("/ours", "3" * 70000)
await agent.fs.rename("/d/x", "/d/z")
await agent.fs.mkdir("/e")
await agent.kv.set("k", [1])
id = await agent.tools.start("t", {"a": 1})
await agent.tools.success(id, {"b": 2})
""")
    with Vfs.open(path) as vfs:
        assert vfs.fs.read("/theirs") == b"2" * 100_000 and vfs.fs.read("/ours") == b"3" * 70_000
        assert [e.name for e in vfs.fs.list("/d")] == ["y", "z"] and vfs.fs.stat("/").nlink == 4
        assert vfs.kv.get("k") == [1] and vfs.tools.list()[0].result == {"b": 2}
        assert check(vfs.db) == []
        vfs.fs.append("/theirs", b"!")
        vfs.fs.remove("/ours")
    assert peer(path, "return [len(await agent.fs.read_file('/theirs')), sorted(await agent.fs.readdir('/'))]") == \
        [100_001, ["d", "e", "theirs"]]


def test_we_change_what_the_peer_made(peer, path):
    peer(path, """
await agent.fs.write_file("/docs/sub/big.bin", b"b" * 10000)
await agent.fs.write_file("/hello.txt", "hello")
await agent.fs.mkdir("/d2")
id = await agent.tools.start("running")
""")
    with Vfs.open(path) as vfs:
        assert vfs.db.chunk_size == 4096 and vfs.fs.read("/docs/sub/big.bin") == b"b" * 10_000
        assert vfs.fs.stat("/docs").nlink == 3 and vfs.tools.list()[0].status == "pending"
        assert vfs.fs.stat("/hello.txt").uid == 1000         # of root in the file: the user's
        vfs.fs.write("/docs/sub/new", b"n" * 9000)
        vfs.fs.remove("/d2")
        vfs.mount.setattr("/hello.txt", mtime_ns=1_000_000_007)
        assert check(vfs.db) == []
    assert peer(path, "return [len(await agent.fs.read_file('/docs/sub/new', encoding=None)), (await agent.fs.stat('/hello.txt')).mtime,"
                      " sorted(await agent.fs.readdir('/'))]") == [9000, 1, ["docs", "hello.txt"]]


def test_what_the_peer_leaves_behind_is_repaired(peer, path):
    with Vfs.open(path) as vfs:
        vfs.fs.mkdir("/d")
        with vfs.db.writing:                                 # as another implementation counts directories
            vfs.db.execute("UPDATE fs_inode SET nlink = 2 WHERE mode & 61440 = 16384")
    peer(path, "await agent.fs.rmdir('/d')")
    with Vfs.open(path) as vfs:
        assert [p.check for p in check(vfs.db)] == ["orphan"]
        repair(vfs.db)
        assert check(vfs.db) == []


def test_a_rewritten_version_does_not_confuse_us(peer, path):
    with Vfs.open(path) as vfs:
        vfs.fs.write("/f", b"1")
        with vfs.db.writing:
            vfs.db.execute("UPDATE fs_config SET value = '0.6' WHERE key = 'schema_version'")
    peer(path, "return None")
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT value FROM fs_config WHERE key = 'schema_version'").fetchone() == ("0.4",)
    assert connection.execute("SELECT value FROM vfs_meta WHERE key = 'schema_version'").fetchone() == ("0.6",)
    connection.close()
    with Vfs.open(path) as vfs:
        assert vfs.fs.read("/f") == b"1"


def test_a_backup_has_no_holes_for_the_peer(peer, path, tmp_path):
    with Vfs.open(path) as vfs:
        handle = vfs.mount.create("/sparse", 0o644, 1000, 1000)
        handle.truncate(3 << 20)
        handle.pwrite(b"end", 3 << 20)
        handle.close()
        maintenance.backup(vfs, str(tmp_path / "copy.db"))
    assert peer(tmp_path / "copy.db", "return len(await agent.fs.read_file('/sparse', encoding=None))") == (3 << 20) + 3


def test_while_the_peer_has_it_we_say_so(peer, path):
    Vfs.open(path).close()
    code = f"from mirage.mounts import Vfs\ntry:\n    Vfs({str(path)!r}, patience=0.5)\nexcept OSError as e:\n    print(e.errno)"
    script = (f"import subprocess\ndone = subprocess.run([{sys.executable!r}, '-c', {code!r}], capture_output=True, text=True,"
              f" cwd={os.getcwd()!r})\nreturn done.stdout.strip() + done.stderr")
    assert peer(path, script) == "16"
