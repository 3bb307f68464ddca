"""The Python contract: Terminal, Result, Limits, t.fs, tools, configuration."""
from __future__ import annotations

import errno
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mirage import Limits, Result, Terminal
from mirage.mounts import Host, Memory
from mirage.process.files import Source


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with Terminal() as terminal:
        yield terminal


# ------------------------------------------------------------------------------------------------------------- Result


def test_result(terminal: Terminal) -> None:
    result = terminal.run("echo out; echo err >&2; exit 3")
    assert isinstance(result, Result)
    assert (result.stdout, result.stderr, result.exit_code, result.exited) == ("out\n", "err\n", 3, True)
    assert (result.refusals, result.effects) == ((), ())
    assert result.as_dict()["exit_code"] == 3
    assert "exit_code=3" in repr(result)


def test_bytes_that_are_no_text(terminal: Terminal) -> None:
    result = terminal.run(r"printf '\xff\x00a\xc3'; printf '\xfe' >&2")
    assert (result.stdout_bytes, result.stderr_bytes) == (b"\xff\x00a\xc3", b"\xfe")
    assert (result.stdout, result.stderr) == ("\\xff\x00a\\xc3", "\\xfe")
    assert result.merged == "\\xff\x00a\\xc3\\xfe"


def test_merged_has_the_order_of_writing(terminal: Terminal) -> None:
    assert terminal.run("echo 1; echo 2 >&2; echo 3; nope; ls /none").merged == (
        "1\n2\n3\nbash: line 1: nope: command not found\nls: cannot access '/none': No such file or directory\n")


def test_merged_is_cut_in_the_middle(terminal: Terminal) -> None:
    result = terminal.run("seq 20000")
    assert len(result.stdout) > 100_000
    assert len(result.merged) < 31_000
    assert result.merged.startswith("1\n2\n") and result.merged.endswith("19999\n20000\n")
    assert "characters left out" in result.merged


def test_exit_ends_the_line_not_the_terminal(terminal: Terminal) -> None:
    assert terminal.run("x=5; exit 4; echo no").exited
    after = terminal.run("echo $x")
    assert (after.stdout, after.exited, after.exit_code) == ("5\n", False, 0)


@pytest.mark.parametrize(("script", "status"), [("true", 0), ("false", 1), ("exit 256", 0), ("exit -1", 255), ("nope", 127), ("/etc/passwd", 126), ("kill -9 $BASHPID", 137), ("if", 2)])
def test_exit_status(terminal: Terminal, script: str, status: int) -> None:
    assert terminal.run(script).exit_code == status


def test_state_is_kept(terminal: Terminal) -> None:
    terminal.run("cd /tmp; x=1; f() { echo f$x; }; export y=2; set -o pipefail; arr=(a b)")
    assert terminal.run('f; echo $y $PWD ${arr[1]}; false | true; echo $?').stdout == "f1\n2 /tmp b\n1\n"
    assert terminal.cwd == "/tmp"
    assert "f" in terminal.function_names() and "arr" in terminal.variable_names()


# ------------------------------------------------------------------------------------------------------------ options


def test_defaults(terminal: Terminal) -> None:
    assert terminal.run("echo $HOME $USER $LANG $TZ $PATH; pwd; hostname; id -u; umask; whoami").stdout == (
        "/home/user user C.UTF-8 UTC /usr/local/bin:/usr/bin:/bin\n/workspace\nmirage\n1000\n0022\nuser\n")


def test_nothing_of_the_hosts_environment(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_SECRET", "s3cret")
    with Terminal() as fresh:
        assert "s3cret" not in fresh.run("env; set; jq -n env; jq -n '$ENV'; awk 'BEGIN{for(k in ENVIRON) print ENVIRON[k]}'; cat /proc/self/environ").merged


def test_env_cwd_tz_hostname() -> None:
    with Terminal(env={"A": "x y", "HOME": "/tmp"}, cwd="/tmp", tz="Asia/Tokyo", hostname="box") as terminal:
        assert terminal.run('echo "$A" ~; pwd; hostname; date -d @0 +%H; sh -c \'echo $A\'').stdout == "x y /tmp\n/tmp\nbox\n09\nx y\n"


def test_mounts() -> None:
    shared = Memory({"a.txt": b"hello\n", "d/": None})
    with Terminal(mounts={"/data": shared}) as one, Terminal(mounts={"/d2": shared}) as two:
        one.run("echo more >> /data/a.txt")
        assert two.run("cat /d2/a.txt; ls /d2").stdout == "hello\nmore\na.txt\nd\n"
        assert one.run("ls -d /tmp /etc /workspace").exit_code == 0


def test_host_mount(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x\n")
    with Terminal(mounts={"/ro": Host(tmp_path), "/rw": Host(tmp_path, writable=True)}) as terminal:
        assert terminal.run("cat /ro/f; echo y > /ro/f").exit_code == 1
        assert terminal.run("echo z > /rw/g; cat /ro/g").stdout == "z\n"
    assert (tmp_path / "f").read_text() == "x\n" and (tmp_path / "g").read_text() == "z\n"


def test_stdin(terminal: Terminal) -> None:
    assert terminal.run("read x; echo [$x]; cat", stdin=b"a b\nc\n\xff").stdout_bytes == b"[a b]\nc\n\xff"
    assert terminal.run("cat").stdout == ""
    assert terminal.run("wc -c", stdin=Source(b"12345")).stdout == "5\n"


def test_timeout_argument(terminal: Terminal) -> None:
    result = terminal.run("echo before; sleep inf", timeout=0.1)
    assert (result.stdout, result.stderr, result.exit_code) == ("before\n", "mirage: timeout\n", 124)
    assert terminal.run("sleep 0.15; echo ok").stdout == "ok\n"


def test_limits_objects() -> None:
    assert Limits() == Limits(timeout=120, steps=50_000_000, processes=512, output=64 << 20, memory=1 << 30, depth=1000)
    assert Limits(timeout=0).timeout is None and Limits(depth=10**9).depth == 10_000
    assert Limits(steps=5) != Limits() and "steps=5" in repr(Limits(steps=5))
    with Terminal(limits=Limits(output=100)) as terminal:
        result = terminal.run("yes")
        assert (result.exit_code, len(result.stdout_bytes)) == (137, 100)
        assert result.stderr == "mirage: limit: output: stdout is larger than 100 bytes\n"


def test_context_manager_and_close() -> None:
    with Terminal() as terminal:
        assert terminal.run("echo x").stdout == "x\n"
    terminal.close()
    with pytest.raises(ValueError, match="closed"):
        terminal.run("echo x")


def test_chdir(terminal: Terminal) -> None:
    terminal.chdir("/tmp")
    assert terminal.run("pwd; echo $PWD").stdout == "/tmp\n/tmp\n"
    with pytest.raises(NotADirectoryError):
        terminal.chdir("/etc/passwd")
    with pytest.raises(FileNotFoundError):
        terminal.chdir("/none")


def test_final_line_runs_the_exit_trap(terminal: Terminal) -> None:
    assert terminal.run("trap 'echo bye $?' EXIT; (exit 3)", final=True).stdout == "bye 3\n"


# ----------------------------------------------------------------------------------------------------------------- fs


def test_fs(terminal: Terminal) -> None:
    fs = terminal.fs
    fs.write("/workspace/a/b/c.txt", b"one\n", parents=True)
    fs.append("/workspace/a/b/c.txt", b"two\n")
    fs.write("/workspace/text", "é")
    assert fs.read("/workspace/a/b/c.txt") == b"one\ntwo\n" and fs.read("/workspace/text") == "é".encode()
    assert terminal.run("cat a/b/c.txt").stdout == "one\ntwo\n"
    assert [entry.name for entry in fs.list("/workspace")] == ["a", "text"]
    assert fs.exists("/workspace/a") and not fs.exists("/nope")
    assert fs.stat("/workspace/text").size == 2
    fs.mkdir("/workspace/new")
    fs.mkdir("/workspace/x/y", parents=True)
    fs.rename("/workspace/text", "/workspace/new/t")
    fs.symlink("t", "/workspace/new/link")
    fs.chmod("/workspace/new/t", 0o600)
    assert terminal.run("readlink new/link; stat -c %a new/t; cat new/link").stdout == "t\n600\né"
    assert sorted(place for place, _ in fs.walk("/workspace")) == ["/workspace", "/workspace/a", "/workspace/a/b", "/workspace/new", "/workspace/x", "/workspace/x/y"]
    fs.remove("/workspace/new", recursive=True)
    assert not fs.exists("/workspace/new")


@pytest.mark.parametrize(("action", "number"), [
    (lambda fs: fs.read("/none"), errno.ENOENT), (lambda fs: fs.read("/tmp"), errno.EISDIR), (lambda fs: fs.write("/none/x", b""), errno.ENOENT), (lambda fs: fs.mkdir("/tmp"), errno.EEXIST),
    (lambda fs: (fs.mkdir("/tmp/d/e", parents=True), fs.remove("/tmp/d")), errno.ENOTEMPTY), (lambda fs: fs.list("/etc/passwd"), errno.ENOTDIR), (lambda fs: fs.rename("/none", "/tmp/x"), errno.ENOENT), (lambda fs: fs.stat("/none"), errno.ENOENT)])
def test_fs_errors(terminal: Terminal, action: Callable[..., object], number: int) -> None:
    with pytest.raises(OSError) as caught:
        action(terminal.fs)
    assert caught.value.errno == number


def test_fs_keeps_the_memory_limit() -> None:
    with Terminal(limits=Limits(memory=1 << 20)) as terminal:
        with pytest.raises(OSError) as caught:
            terminal.fs.write("/workspace/big", bytes(2 << 20))
        assert caught.value.errno == errno.ENOSPC
        assert terminal.run("echo ok").stdout == "ok\n"


# -------------------------------------------------------------------------------------------------------------- tools


@pytest.mark.parametrize(("style", "schema"), [("openai", lambda d: d["function"]["parameters"]), ("anthropic", lambda d: d["input_schema"]), ("mcp", lambda d: d["inputSchema"])])
def test_tool_definitions(terminal: Terminal, style: str, schema: Callable[..., Any]) -> None:
    (definition,) = terminal.tools(style)
    assert schema(definition)["required"] == ["command"]
    assert (definition.get("function") or definition)["name"] == "bash"
    json.dumps(definition)


def test_unknown_style(terminal: Terminal) -> None:
    with pytest.raises(ValueError, match="openai, anthropic, mcp"):
        terminal.tools("xml")


def test_call(terminal: Terminal) -> None:
    assert terminal.call("bash", {"command": "echo hi; echo e >&2"}) == "hi\ne\n"
    assert terminal.call("bash", '{"command": "printf x; exit 3"}') == "x\n[exit status 3]"
    assert terminal.call("bash", {"command": "sleep 9", "timeout": 0.05}) == "mirage: timeout\n[exit status 124]"


@pytest.mark.parametrize(("name", "arguments", "says"), [
    ("nope", {}, "unknown tool 'nope'"), ("bash", "{", "not JSON"), ("bash", {}, "must be an object"), ("bash", "[1]", "must be an object"), ("bash", {"command": 3}, "must be an object"),
    ("bash", {"command": "ls", "cwd": "/"}, "unknown argument 'cwd'"), ("bash", {"command": "ls", "timeout": -1}, "positive"), ("bash", {"command": "ls", "timeout": True}, "positive"), ("bash", {"command": "ls", "timeout": "x"}, "positive")])
def test_bad_calls_are_answered(terminal: Terminal, name: str, arguments: Any, says: str) -> None:
    assert says in terminal.call(name, arguments)


# ------------------------------------------------------------------------------------------------------ configuration


def configured(folder: Path, text: str) -> Terminal:
    (folder / "mirage.yaml").write_text(text)
    return Terminal.from_config(folder / "mirage.yaml")


def test_from_config(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "f").write_text("from the host\n")
    with configured(tmp_path, """
mounts:
  /src: {provider: host, dir: src, writable: false}
  /scratch: {provider: memory}
limits: {timeout: 5, memory: 2MiB, output: 1K}
terminal: {cwd: /scratch, env: {A: b}, tz: Asia/Tokyo}
policy: 'rules: [{effect: read, path: "/src/secret*", action: deny}]'
""") as terminal:
        assert terminal.run("pwd; echo $A; cat /src/f; date -d @0 +%H").stdout == "/scratch\nb\nfrom the host\n09\n"
        assert terminal.run("yes").exit_code == 137
        assert "2097152" in terminal.run("x=$(head -c 5M /dev/zero | tr '\\0' a)").stderr
        assert terminal.run("echo x > /src/g").exit_code == 1


def test_policies_of_a_list_must_all_allow(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text('rules: [{effect: exec, command: [seq], action: deny}]')
    (tmp_path / "two.yaml").write_text('rules: [{effect: exec, command: [rev], action: deny}]')
    with configured(tmp_path, "policy: [one.yaml, two.yaml]") as terminal:
        assert [terminal.run(line).exit_code for line in ("seq 1", "rev", "echo x")] == [126, 126, 0]


@pytest.mark.parametrize(("text", "says"), [
    ("mount: {}", "mount"), ("limits: {timeouts: 5}", "timeouts"), ("limits: {memory: 5 parsecs}", "memory"), ("terminal: {shell: zsh}", "shell"), ("mounts: {src: {provider: memory}}", "src"), ("mounts: {/a: {provider: nope}}", "nope"),
    ("mounts: {/a: {provider: host, dir: ., colour: red}}", "colour"), ("a: [", "mirage.yaml"), ("- 1", "mirage.yaml"), ("policy: no/such.yaml", "no/such.yaml")])
def test_bad_configuration_says_what(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises((ValueError, OSError)) as caught:
        configured(tmp_path, text)
    assert says in str(caught.value)


# ------------------------------------------------------------------------------------------------------------ start-up


def test_what_a_start_does_not_load() -> None:
    heavy = {"typing", "pydantic", "dataclasses", "argparse", "json", "asyncio", "concurrent.futures", "importlib.metadata", "sqlite3", "logging", "googleapiclient", "yaml", "re2", "pcre2"}
    code = ("import sys; before = set(sys.modules)\nfrom mirage.console.main import main\n"
            "try:\n    main(['exec', 'echo hi'])\nexcept SystemExit:\n    pass\n"
            f"print(sorted({heavy!r} & (set(sys.modules) - before)))")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "hi\n[]\n"
