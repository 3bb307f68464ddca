"""`mirage exec`: streams, statuses, signals and bad command lines, as a program of the host sees them."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.console.keyboard import run

MIRAGE = [sys.executable, "-m", "mirage.console"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("host")
    (path / "f.txt").write_text("one\ntwo\nthree\n")
    (path / "open.yaml").write_text("mounts: {/src: {provider: host, dir: ., writable: true}}\nlimits: {timeout: 3}\n"
                                    "terminal: {cwd: /src, env: {A: config}}\n")
    (path / "keep.yaml").write_text('rules: [{effect: destroy, action: deny, reason: "nothing is removed here"}]\n')
    return path


class Started:
    """A running `mirage`, with pipes."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen([*MIRAGE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, cwd=folder, bufsize=0)

    def type(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def line(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def end(self) -> tuple[bytes, bytes, int]:
        out, err = self.process.communicate(timeout=30)
        return out, err, self.process.returncode


Start = Callable[..., Started]


@pytest.fixture
def started(folder: Path) -> Iterator[Start]:
    running: list[Started] = []

    def start(*arguments: str) -> Started:
        running.append(Started(folder, *arguments))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate()


def test_both_streams_and_the_status(folder: Path) -> None:
    done = run(folder, ["exec", "echo out; echo err >&2; exit 7"])
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 7)


def test_exec_may_be_left_out_and_options_stand_anywhere(folder: Path) -> None:
    for arguments in (["echo $A", "--env", "A=x"], ["--env=A=x", "exec", "echo $A"], ["exec", "--env", "A=x", "--", "echo $A"]):
        assert run(folder, arguments).stdout == b"x\n"


def test_a_script_from_standard_input(folder: Path) -> None:
    done = run(folder, ["exec", "-"], b"f() {\n  echo in f\n}\nf\nnope\n")
    assert (done.stdout, done.returncode) == (b"in f\n", 127)
    assert done.stderr == b"bash: line 5: nope: command not found\n"


def test_output_comes_while_the_line_runs(started: Start) -> None:
    one = started("exec", "echo first; read x; echo got $x")
    assert one.line() == b"first\n"
    one.type(b"second\n")
    assert one.line() == b"got second\n"
    assert one.end() == (b"", b"", 0)


def test_input_is_read_only_by_who_wants_it(folder: Path, started: Start) -> None:
    one = started("exec", "echo no input needed")
    assert one.line() == b"no input needed\n"
    assert one.process.wait(30) == 0
    assert run(folder, ["exec", "read a; cat; echo [$a]"], b"1\n2\n3").stdout == b"2\n3[1]\n"
    with open(folder / "f.txt", "rb") as file:
        subprocess.run([*MIRAGE, "exec", "read x"], stdin=file, check=True)
        assert os.read(file.fileno(), 100) == b"two\nthree\n"


def test_input_that_is_a_file_can_be_sought(folder: Path) -> None:
    with open(folder / "f.txt", "rb") as file:
        done = subprocess.run([*MIRAGE, "exec", "test -f /dev/stdin || echo odd; tail -c 6; stat -c %s /dev/stdin"], stdin=file, capture_output=True, check=False)
    assert done.stdout.startswith(b"three\n")


def test_a_large_input_goes_through(folder: Path) -> None:
    data = b"".join(b"%d line\n" % i for i in range(200_000))
    done = run(folder, ["exec", "tee >(wc -l >&2) | sha256sum | cut -c 1-8; while read -r x; do :; done"], data)
    import hashlib
    assert done.stdout.strip().decode() == hashlib.sha256(data).hexdigest()[:8]
    assert done.stderr == b"200000\n"
    assert run(folder, ["exec", "n=0; while read -r x; do ((n++)); done; echo $n"], data).stdout == b"200000\n"


def test_closed_streams(folder: Path) -> None:
    def shell(redirection: str, command: str) -> subprocess.CompletedProcess[bytes]:
        program = " ".join(MIRAGE)
        return subprocess.run(["sh", "-c", f"{program} exec '{command}' {redirection}"], capture_output=True, cwd=folder, check=False)

    assert shell("<&-", "cat; echo $?").stdout == b"0\n"
    closed = shell(">&-", "echo hi")
    assert closed.returncode == 1 and b"write error: Bad file descriptor" in closed.stderr and b"Traceback" not in closed.stderr
    full = shell(">/dev/full", "echo hi; seq 100000")
    assert full.returncode == 1 and b"No space left on device" in full.stderr and b"Traceback" not in full.stderr


@pytest.mark.parametrize("arguments", [["exec", "yes"], ["exec", "seq 10000000 | cat"], ["exec", "while :; do echo y; done"]])
def test_a_reader_that_leaves_ends_it_quietly(started: Start, arguments: list[str]) -> None:
    one = started(*arguments)
    assert one.line()
    one.process.stdout.close()
    assert one.process.wait(30) == 141
    assert one.process.stderr.read() == b""


def test_json_to_a_reader_that_left_is_quiet(started: Start) -> None:
    one = started("exec", "--json", "seq 300000")
    one.process.stdout.close()
    assert one.process.wait(30) == 141
    assert one.process.stderr.read() == b""


@pytest.mark.parametrize("command", ["echo go; sleep 100", "echo go; while :; do :; done", "echo go; cat", "echo go; sleep 100 & wait",
                                     "echo go; yes | cat >/dev/null"])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_stop_it(started: Start, command: str, number: int, status: int) -> None:
    one = started("exec", command)
    assert one.line() == b"go\n"
    one.process.send_signal(number)
    assert one.process.wait(10) == status
    assert b"Traceback" not in one.process.stderr.read()


def test_the_exit_trap_runs_at_the_end_and_after_a_signal(folder: Path, started: Start) -> None:
    assert run(folder, ["exec", "trap 'echo bye' EXIT; echo hi"]).stdout == b"hi\nbye\n"
    one = started("exec", "trap 'echo bye' EXIT; echo go; sleep 100")
    one.line()
    one.process.send_signal(signal.SIGINT)
    assert one.line() == b"bye\n"


def test_jobs_finish_before_it_ends(folder: Path) -> None:
    assert run(folder, ["exec", "(sleep 0.2; echo late) & echo now"]).stdout == b"now\nlate\n"


@pytest.mark.parametrize("command", ["sleep 100", "while :; do :; done", "cat", "yes"])
def test_the_timeout(started: Start, command: str) -> None:
    one = started("exec", "--timeout", "0.5", command)
    assert one.process.wait(20) == 124                       # nobody reads what `yes` writes
    assert one.process.stderr.read() == b"mirage: timeout\n"


def test_json(folder: Path) -> None:
    done = run(folder, ["exec", "--json", "echo a > /tmp/n; rm /tmp/n; printf 'b\\xff'; echo c >&2; exit 4", "--policy", "keep.yaml"])
    answer = json.loads(done.stdout)
    assert done.returncode == 4 and done.stderr == b""
    assert (answer["stdout"], answer["exit_code"]) == ("b\\xff", 4)
    assert "mirage: denied: nothing is removed here" in answer["stderr"] and answer["stderr"].endswith("c\n")
    assert {r["target"] for r in answer["refusals"]} == {e["target"] for e in answer["effects"]} == {"/tmp/n"}
    assert answer["usage"]
    assert json.loads(run(folder, ["exec", "--json", "echo a > n"]).stdout)["effects"], "also where there is no policy"


def test_usage_goes_to_standard_error(folder: Path) -> None:
    done = run(folder, ["exec", "--usage", "cat /etc/passwd > /dev/null"])
    assert done.stdout == b"" and done.stderr.startswith(b"usage: ") and b"bytes" in done.stderr


def test_a_configuration_and_what_comes_on_top(folder: Path) -> None:
    def words(*arguments: str) -> list[str]:
        return run(folder, ["-f", "open.yaml", *arguments]).stdout.decode().split()

    assert words("pwd; echo $A; wc -l < f.txt") == ["/src", "config", "3"]
    assert words("pwd; echo $A", "--cwd", "/tmp", "--env", "A=b") == ["/tmp", "b"]
    assert run(folder, ["-fopen.yaml", "exec", "sleep 9"]).returncode == 124
    refused = run(folder, ["-f", "open.yaml", "--policy", "keep.yaml", "rm f.txt"])
    assert refused.returncode == 1 and b"nothing is removed here" in refused.stderr and (folder / "f.txt").exists()


@pytest.mark.parametrize(("arguments", "said"), [
    (["--cwd", "/nope", "pwd"], "--cwd /nope: No such file or directory"),
    (["--env", "FOO", "pwd"], "--env wants NAME=VALUE, got 'FOO'"),
    (["--env", "1A=x", "pwd"], "--env wants NAME=VALUE, got '1A=x'"),
    (["--mount", "src=host:.", "ls"], "--mount wants PATH=SPEC with an absolute PATH, such as /src=host:. ; got 'src=host:.'"),
    (["--mount", "/src=hots:.", "ls"], "--mount /src: unknown provider 'hots'; there are: "),
    (["--mount", "/src=host:/nonexistent", "ls"], "--mount /src: /nonexistent: No such file or directory"),
    (["--mount", "/src=host:", "ls"], "--mount /src: host: the option 'dir' is missing (write host:DIR)"),
    (["--mount", "/m=gmail:?token=abc", "ls"], "a secret is named, not written: env:NAME, file:PATH, keyring:NAME or cmd:COMMAND"),
    (["--mount", "/src=host:.?wrtable=1", "ls"], "unknown option 'wrtable'; there are: dir, hardlinks, writable"),
    (["-f", "nope.yaml", "ls"], "nope.yaml: No such file or directory"),
    (["--policy", "nope", "ls"], "no shipped policy is named 'nope'; there are: no-secrets"),
    (["--policy", "nope.yaml", "ls"], "nope.yaml: No such file or directory"),
    (["--timeout", "soon", "ls"], "--timeout must be a positive number of seconds, not 'soon'"),
    (["--timeout", "0", "ls"], "--timeout must be a positive number of seconds"),
    (["--bogus", "ls"], "unknown option --bogus"),
    (["--json=1", "ls"], "option --json takes no value"),
    (["--cwd"], "option --cwd needs a value"),
    (["exec"], "exec needs a COMMAND"),
    (["ls", "/"], "one COMMAND expected, got 2: quote it as one word: 'ls /'"),
    (["serve"], "serve: not in this version"),
    (["policy", "chek"], "policy: unknown command 'chek'; known: check, list"),
    (["policy", "check", "ls"], "policy check needs -f FILE or --policy NAME"),
    (["demo", "-f", "open.yaml", "exec", "ls"], "-f cannot be used with it"),
])
def test_a_bad_command_line_says_what_to_write(folder: Path, arguments: list[str], said: str) -> None:
    done = run(folder, arguments)
    assert (done.stdout, done.returncode) == (b"", 2)
    first, second = done.stderr.decode().splitlines()
    assert first.startswith("mirage: ") and said in first and second == "Try 'mirage --help' for more information."


@pytest.mark.parametrize(("text", "said"), [
    ("mounts: {/x: {provider: hots}}", "bad.yaml: mounts: /x: unknown provider 'hots'"),
    ("mounts: {/x: {provider: host, dir: ., writeable: true}}", "bad.yaml: mounts: /x: host: unknown option 'writeable'; there are: dir"),
    ("mounts: {x: {provider: memory}}", "bad.yaml: mounts: the mount path 'x' must begin with /"),
    ("polcy: no-secrets", "bad.yaml: unknown key 'polcy'"),
    ("clis: {mail: {provider: gmal}}", "bad.yaml: clis.mail: no CLI for provider 'gmal'; known: "),
    ("limits: {memory: 5 apples}", "'5 apples' is not a size; write for example 512MiB"),
    ("limits: {timeout: soon}", "bad.yaml: limits.timeout: "),
    ("policy: nope", "no shipped policy is named 'nope'"),
    ("mounts: [", "bad.yaml: not valid YAML"),
    ("- a", "bad.yaml: expected keys such as mounts:"),
])
def test_a_bad_configuration_says_where(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    done = run(tmp_path, ["-f", "bad.yaml", "ls"])
    assert done.returncode == 2 and said in done.stderr.decode() and b"Traceback" not in done.stderr


def test_help_for_every_subcommand(folder: Path) -> None:
    for arguments, first in (([], "Usage: mirage [exec]"), (["exec"], "Usage: mirage [exec]"), (["demo"], "Usage: mirage demo"),
                             (["demo", "exec"], "Usage: mirage demo"), (["policy"], "Usage: mirage policy check"),
                             (["policy", "check"], "Usage: mirage policy check"), (["policy", "list"], "Usage: mirage policy check")):
        done = run(folder, [*arguments, "--help"])
        assert done.returncode == 0 and done.stdout.decode().startswith(first) and not done.stderr
        assert max(map(len, done.stdout.decode().splitlines())) <= 125
    assert run(folder, ["--version"]).stdout.startswith(b"mirage 0.")


def test_lines_from_a_pipe(folder: Path, started: Start) -> None:
    done = run(folder, [], b"x=1\nread line\nthis one\necho \"$x $line\"\nfor i in 1 2\ndo echo $i\ndone\ncat <<E\nbody\nE\nnope\ncat /src/f.txt | head -1\nexit 5\necho never\n")
    assert (done.stdout, done.returncode) == (b"1 this one\n1\n2\nbody\none\n", 5)
    assert done.stderr == b"bash: line 10: nope: command not found\n"
    assert run(folder, [], b"exec > /tmp/o\necho hidden\nfalse").stdout == b""
    assert run(folder, [], b"false\n").returncode == 1
    assert run(folder, [], b"").returncode == 0
    assert run(folder, [], b"trap 'echo bye' EXIT\necho 'unfinished").stderr.startswith(b"bash: ")
    one = started()
    one.type(b"echo $((6*7))\n")
    assert one.line() == b"42\n"                             # before the end of the input
    one.type(b"exit 9\n")
    assert one.process.wait(30) == 9


def test_a_long_here_document_from_a_pipe_is_read_in_linear_time(folder: Path) -> None:
    body = b"".join(b"line %d of it\n" % i for i in range(20_000))
    done = run(folder, [], b"wc -l <<'END'\n" + body + b"END\n")
    assert done.stdout == b"20000\n"
