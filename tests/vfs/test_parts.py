"""Tree, devices, /usr/bin, handles, facade, registry, SPECs and secrets."""
from __future__ import annotations

import errno
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from mirage.mounts import Host, Memory
from mirage.process.signals import LimitExceeded
from mirage.vfs import registry
from mirage.vfs.facade import Files
from mirage.vfs.handles import RangeHandle
from mirage.vfs.search import Candidates, Query
from mirage.vfs.secrets import Secret
from mirage.vfs.spec import open_spec, parse, parse_mount
from mirage.vfs.types import Capabilities, Stat
from tests.vfs.support import filesystem, machine, raises


def test_default_tree():
    fs = filesystem()
    assert {e.name for e in fs.list("/")} >= {"tmp", "home", "workspace", "etc", "dev", "usr", "bin", "var", "root"}
    assert fs.readlink("/bin") == "usr/bin" and fs.realpath("/bin/grep") == "/usr/bin/grep"
    assert fs.stat("/tmp").mode & 0o7777 == 0o1777
    assert fs.stat("/home/user").uid == 1000 and fs.stat("/etc").uid == 0
    assert b"user:x:1000:1000:user:/home/user:/bin/bash\n" in fs.read("/etc/passwd")
    fs.write("/home/user/x", b"")
    fs.write("/workspace/x", b"")


def test_bin_lists_what_there_is():
    fs = filesystem()
    assert [e.name for e in fs.list("/usr/bin")] == ["[", "cat", "grep"]
    assert fs.read("/usr/bin/grep") == b"grep is part of this terminal.\n"
    assert fs.stat("/usr/bin/grep").size == len(fs.read("/usr/bin/grep"))
    raises(errno.ENOENT, fs.stat, "/usr/bin/nothing")
    raises(errno.ENOTDIR, fs.stat, "/usr/bin/grep/x")
    raises(errno.ENOTDIR, fs.list, "/usr/bin/grep")


def test_devices():
    fs = filesystem()
    null, zero, full = (fs.open(f"/dev/{name}", os.O_RDWR) for name in ("null", "zero", "full"))
    assert null.pread(10, 0) == b"" and zero.pread(10, 0) == bytes(10) == full.pread(10, 0)
    assert len(zero.pread(1 << 40, 0)) <= 1 << 20
    assert null.pwrite(b"abc", 0) == 3
    raises(errno.ENOSPC, full.pwrite, b"abc", 0)
    random = fs.open("/dev/urandom", os.O_RDONLY)
    assert random.pread(16, 0) != random.pread(16, 0)
    stat = fs.stat("/dev/null")
    assert stat.is_char and (os.major(stat.rdev), os.minor(stat.rdev)) == (1, 3)
    assert fs.read("/dev/null") == b""
    raises(errno.EINVAL, fs.read, "/dev/zero")
    raises(errno.ENOENT, fs.stat, "/dev/tty")
    fs.open("/dev/null", os.O_WRONLY | os.O_CREAT | os.O_TRUNC).close()
    assert fs.list("/dev/fd") == []


@pytest.fixture
def process():
    """A real process on a real kernel, whose body is run with `process(function)`."""
    from mirage.process.files import Pipe, PipeReader
    from mirage.process.kernel import Kernel
    from mirage.process.limits import Limits
    from mirage.process.process import Process
    from mirage.vfs.filesystem import FileSystem
    kernel = Kernel(Limits())
    there = machine()
    there.filesystem = lambda proc: FileSystem(there, proc)

    def run(body):
        results = []
        kernel.attach()
        proc = Process(kernel, there, ["/usr/bin/cat", "x y"], env={"A": "1"}, cwd="/etc", fds={0: PipeReader(Pipe(kernel))})
        proc.launch(lambda p: results.append(body(p)) or 0)
        kernel.run(lambda: proc.status is not None)
        return results[0]

    return run


def test_dev_shows_the_streams_of_the_process(process):
    def body(proc):
        names = {e.name for e in proc.fs.list("/dev")}
        return names, [e.name for e in proc.fs.list("/dev/fd")], proc.fs.stat("/dev/stdin").is_fifo, proc.fs.exists("/dev/fd/1")

    names, descriptors, fifo, one = process(body)
    assert "stdin" in names and "stdout" not in names
    assert descriptors == ["0"] and fifo and not one


def test_proc_shows_the_process(process):
    def body(proc):
        fs = proc.fs
        assert {e.name for e in fs.list("/proc")} == {"self", str(proc.pid), "version"}
        assert fs.read("/proc/self/cmdline") == b"/usr/bin/cat\0x y\0" and fs.read("/proc/self/environ") == b"A=1\0"
        assert fs.read(f"/proc/{proc.pid}/comm") == b"cat\n"
        assert f"Pid:\t{proc.pid}\n".encode() in fs.read("/proc/self/status")
        assert fs.readlink("/proc/self/cwd") == "/etc" and fs.read("/proc/self/cwd/hostname") == b"mirage\n"
        assert [e.name for e in fs.list("/proc/self/fd")] == ["0"] and fs.stat("/proc/self/fd/0").is_fifo
        for path, number in (("/proc/99999", errno.ENOENT), ("/proc/self/fd/7", errno.ENOENT), ("/proc/self/none", errno.ENOENT),
                             ("/proc/self/comm/x", errno.ENOTDIR), ("/proc/version/x", errno.ENOTDIR)):
            raises(number, fs.stat, path)
        raises(errno.EACCES, fs.write, "/proc/self/comm", b"x")
        raises(errno.EACCES, fs.mkdir, "/proc/new")
        assert all(e.stat is not None for _, es in fs.walk("/proc") for e in es)
        return True

    assert process(body)


def test_proc_without_a_process():
    fs = filesystem()
    assert [e.name for e in fs.list("/proc")] == ["version"] and b"Mirage" in fs.read("/proc/version")
    raises(errno.ENOENT, fs.stat, "/proc/self")


def test_ranges_are_read_lazily_and_unknown_sizes_whole():
    calls = []

    class Remote:
        def __init__(self, data):
            self.data = data

        def read(self, path, offset=0, length=None):
            calls.append((offset, length))
            return self.data[offset:None if length is None else offset + length]

    data = os.urandom(1 << 20)
    handle = RangeHandle(Remote(data), "/f", Stat(0o100644, len(data)))
    assert handle.pread(10, 5) == data[5:15] and handle.pread(10, 100) == data[100:110]
    assert calls == [(5, RangeHandle.BLOCK)]
    at, whole = 0, []
    while piece := handle.pread(100_000, at):
        whole.append(piece)
        at += len(piece)
    assert b"".join(whole) == data
    calls.clear()
    handle = RangeHandle(Remote(b"abc"), "/f", Stat(0o100644, None))
    assert handle.stat().size == 3 and handle.pread(2, 1) == b"bc" and calls == [(0, None)]


@pytest.fixture
def files():
    return Files(machine({"/m": Memory({"a": b"1"})}), cwd="/workspace")


def test_facade(files):
    files.write("a/b/c.txt", "text ü", parents=True)
    assert files.read("/workspace/a/b/c.txt") == "text ü".encode()
    files.append("a/b/c.txt", b"!")
    files.append("fresh", "x")
    assert files.read("a/b/c.txt").endswith(b"!") and files.read("fresh") == b"x"
    assert [e.name for e in files.list()] == ["a", "fresh"]
    files.mkdir("p/q/r", parents=True)
    files.mkdir("p/q/r", parents=True)
    raises(errno.EEXIST, files.mkdir, "p")
    raises(errno.ENOENT, files.mkdir, "no/such")
    files.symlink("fresh", "link")
    assert files.readlink("link") == "fresh" and files.stat("link").is_file and files.stat("link", follow=False).is_link
    files.chmod("fresh", 0o600)
    files.rename("fresh", "p/moved")
    assert files.stat("p/moved").mode & 0o777 == 0o600 and not files.exists("link")
    raises(errno.ENOTEMPTY, files.remove, "p")
    files.symlink("/m", "p/away")
    files.remove("p", recursive=True)
    assert not files.exists("p") and files.read("/m/a") == b"1", "links are removed, not what they point to"
    files.remove("a/b/c.txt")
    files.remove("a/b")
    assert [path for path, _ in files.walk("/workspace")] == ["/workspace", "/workspace/a"]


def test_facade_answers_limits_with_an_oserror():
    def charge(size):
        raise LimitExceeded("memory: more than 0 bytes")

    memory = Memory()
    memory.charge = charge
    raises(errno.ENOSPC, Files(machine({"/m": memory})).write, "/m/f", b"x")


def test_facade_removes_only_what_the_policy_lets():
    from tests.vfs.support import RecordingGate
    gate = RecordingGate(refused=[("destroy", "/m/d/keep")])
    files = Files(machine({"/m": Memory({"d/keep": b"1"})}, gate))
    raises(errno.EACCES, files.remove, "/m/d", recursive=True)
    assert files.exists("/m/d/keep")


def test_specs(tmp_path):
    assert isinstance(open_spec("memory"), Memory)
    assert open_spec("memory:?max_bytes=100").max_bytes == 100
    host = open_spec(f"host:{tmp_path}:rw")
    assert isinstance(host, Host) and host.writable and not open_spec(f"host:{tmp_path}").writable
    assert parse("host:/a:b:ro?hardlinks=yes") == ("host", {"dir": "/a:b", "writable": False, "hardlinks": "yes"})
    assert parse("host:?dir=%2Fa%3Fb") == ("host", {"dir": "/a?b"})
    assert parse_mount("/src=host:.:rw") == ("/src", "host:.:rw")


@pytest.mark.parametrize(("spec", "says"), [
    ("nothing:x", "unknown provider 'nothing'; there are: "), ("dev", "unknown provider"), ("../x", "unknown provider"),
    ("memory:arg", "takes no argument"), ("memory:?colour=red", "unknown option 'colour'; there are: max_bytes"),
    ("memory:?max_bytes=lots", "is not a number"), ("host:/tmp?writable=perhaps", "neither true nor false"), ("host", "dir"),
])
def test_bad_specs_say_what_is_wrong(spec, says):
    with pytest.raises(registry.ProviderError, match=says.replace("(", r"\(")):
        open_spec(spec)


def test_bad_mount_arguments():
    for text in ("/src", "src=memory", "/src="):
        with pytest.raises(registry.ProviderError):
            parse_mount(text)


def test_registry_knows_the_providers():
    names = registry.names()
    assert {"memory", "host"} <= set(names) and not {"dev", "bin"} & set(names)


def test_options_of_a_third_party(monkeypatch):
    module = SimpleNamespace(OPTIONS={"token": Secret, "days": int, "rate": float}, build=lambda **options: options)
    monkeypatch.setattr(registry, "provider", lambda name: module)
    built = registry.make_mount("x", {"token": "env:T", "days": "7", "rate": 2})
    assert built == {"token": Secret("env:T"), "days": 7, "rate": 2.0}
    with pytest.raises(registry.ProviderError, match="named, not written"):
        registry.make_mount("x", {"token": "abc123"})
    with pytest.raises(registry.ProviderError, match="is not int"):
        registry.make_mount("x", {"days": [7]})


def test_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("MIRAGE_TEST_TOKEN", "hunter2")
    (tmp_path / "token").write_text("from a file\n")
    secret = Secret("env:MIRAGE_TEST_TOKEN")
    assert secret.reveal() == "hunter2"
    assert "hunter2" not in repr(secret) + str(secret) + f"{secret!r} {[secret]}"
    assert Secret(f"file:{tmp_path / 'token'}").reveal() == "from a file"
    assert Secret("cmd:printf 'one\\ntwo\\n'").reveal() == "one"
    for reference in ("env:MIRAGE_NO_SUCH", f"file:{tmp_path}/none", "cmd:false", "cmd:no-such-command-here", "cmd:'"):
        with pytest.raises(LookupError) as caught:
            Secret(reference).reveal()
        assert "hunter2" not in str(caught.value)
    for text in ("hunter2", "env:", "http://x", ":x"):
        with pytest.raises(ValueError) as caught:
            Secret(text)
        assert "hunter2" not in str(caught.value)


def test_query_and_candidates():
    query = Query(["needle"], whole_words=True)
    assert query.literals == ("needle",) and "needle" in repr(query)
    for literals in ([], [""]):
        with pytest.raises(ValueError):
            Query(literals)
    assert Candidates(["/a"]).complete


def test_capabilities_are_frozen():
    with pytest.raises(ValueError, match="unknown capability"):
        Capabilities("fly")
    with pytest.raises(AttributeError):
        Capabilities().writable = True


def test_the_room_has_one_name_only():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    code = "import sys; sys.path.insert(0, sys.argv[1]); import mounts"
    done = subprocess.run([sys.executable, "-c", code, root], capture_output=True, text=True, cwd="/")
    assert done.returncode and "import mirage.mounts" in done.stderr


def test_slow_modules_are_not_loaded():
    code = ("import sys; from mirage.vfs.tree import default_mounts; from mirage.vfs.facade import Files;"
            "from mirage.vfs.namespace import Namespace; Namespace(default_mounts(set));"
            "print(sorted({'typing', 'dataclasses', 'enum', 'argparse', 'json', 'logging', 'asyncio', 'ctypes', 'sqlite3',"
            "'importlib.metadata', 'pydantic', 'urllib.parse'} & set(sys.modules)))")
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {root!r}); {code}"],
                          capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_an_error_names_the_path_once() -> None:
    terminal_files = Files(machine({"/m": Memory({"a": b"1"})}))
    with pytest.raises(FileNotFoundError) as caught:
        terminal_files.read("/m/nope")
    assert str(caught.value) == "[Errno 2] No such file or directory: '/m/nope'"
