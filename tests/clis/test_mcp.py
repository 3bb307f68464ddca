"""Any MCP server as a CLI: real servers over pipes and HTTP, good ones and bad ones."""
from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mirage import Limits, Terminal
from mirage.bench import environment
from mirage.clis._names import operation_names
from mirage.clis.mcp import McpCli
from mirage.config import ConfigError, load
from mirage.vfs.secrets import Secret
from tests.judges import npm

pytest.importorskip("mcp", reason="needs the extra mcp")
SERVERS = Path(__file__).parent / "servers"
TOOLS = [sys.executable, str(SERVERS / "tools.py")]
KEY = "canary-station-key"


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("STATION_KEY_HERE", KEY)


def raw(*habits, **options):
    return McpCli("raw", [sys.executable, str(SERVERS / "raw.py"), *habits], **options)


def run(terminal, line, status=0):
    result = terminal.run(line)
    assert result.exit_code == status, result
    return result.stdout


@pytest.fixture(scope="module")
def station():
    os.environ["STATION_KEY_FOR_MODULE"] = KEY
    cli = McpCli("station", TOOLS, env={"STATION_KEY": "env:STATION_KEY_FOR_MODULE"})
    with Terminal(clis=[cli]) as terminal:
        yield terminal
    del os.environ["STATION_KEY_FOR_MODULE"]


# ---------------------------------------------------------------------------------------------------- a proper server


def test_operations(station):
    text = run(station, "station --help")
    assert "  get-forecast  Forecast for a city\n" in text and "  move          Move the station\n" in text
    shown = run(station, "station get-forecast --help")
    assert "Effects: read" in shown and '"enum"' in shown and '"required"' in shown
    assert "Effects: destroy" in run(station, "station wipe --help")
    assert "Effects: update" in run(station, "station move --help")


@pytest.mark.parametrize("words, expected", [
    ("--city Bern", {"city": "Bern", "days": 1, "unit": "C", "tags": None}),
    ("--city Bern --days 2 --unit F --tags a --tags b", {"city": "Bern", "days": 2, "unit": "F", "tags": ["a", "b"]}),
    ("""'{"city": "7", "tags": ["x"]}'""", {"city": "7", "days": 1, "unit": "C", "tags": ["x"]}),
    ("--city 7", {"city": "7", "days": 1, "unit": "C", "tags": None}),
])
def test_arguments(station, words, expected):
    assert json.loads(run(station, "station get-forecast " + words)) == expected


def test_other_ways_to_give_arguments(station):
    assert run(station, """echo '{"text": "from a file"}' > a.json; station say @a.json; station say - < a.json""") == "from a file\n" * 2
    assert json.loads(run(station, """station move --place '{"city": "bern"}' --slow""")) == {"city": "BERN", "height": 1}
    assert run(station, "station station_say --text 'by its own name'") == "by its own name\n"


@pytest.mark.parametrize("words, message", [
    ("get-forecast", "city is required"),
    ("get-forecast --city a --town b", "unknown argument --town"),
    ("""get-forecast '{"city": "a", "town": "b"}'""", "unknown argument 'town'"),
    ("get-forecast --city a --unit K", "unit: 'K' is not one of"),
    ("get-forecast --city a --days two", "--days must be integer"),
    ("""move '{"place": {"height": "tall"}}'""", "place.city is required; place.height: 'tall' is not of type 'integer'"),
    ("photograph", "did you mean photo"),
])
def test_wrong_arguments_are_told_without_asking_the_server(station, words, message):
    run(station, "station --help")
    calls = station.machine.clis["station"].counters.calls
    result = station.run("station " + words)
    assert result.exit_code == 2 and message in json.loads(result.stderr)["error"]["message"]
    assert not result.stdout and station.machine.clis["station"].counters.calls == calls


def test_results(station):
    assert run(station, "station say --text 'two\nlines'") == "two\nlines\n"
    assert run(station, "station photo").strip() == "[image/png, 8 bytes: /tmp/station-photo-1.png]"
    assert run(station, "station photo > /dev/null; head -c 4 /tmp/station-photo-2.png | tail -c 3") == "PNG"
    result = station.run("station fail --text Bern")
    assert result.exit_code == 1 and json.loads(result.stderr)["error"]["code"] == "tool_error" and not result.stdout


def test_the_environment_is_what_was_given(station):
    seen = json.loads(run(station, "station environment"))
    assert seen["STATION_KEY"] == "***" and "STATION_KEY_FOR_MODULE" not in seen and "PYTEST_CURRENT_TEST" not in seen


def test_what_the_server_prints_is_the_owners(station):
    run(station, "station say --text x")
    log = station.machine.clis["station"].log
    assert "station: a secret of mine is ***" in log and KEY not in log


def test_a_server_that_dies_is_started_again(station):
    result = station.run("station die")
    assert result.exit_code == 1 and "Connection closed" in result.stderr
    assert run(station, "station say --text again") == "again\n"


def test_calls_side_by_side(station):
    lines = run(station, "for i in 1 2 3; do station meet & done; echo first; wait")
    assert lines.splitlines() == ["first", *["met"] * 3]


def test_the_policy_sees_effects_and_arguments():
    policy = """
    rules:
      - {effect: destroy, action: deny, reason: "nothing is wiped"}
      - {effect: call, cli: station, operation: "get-*", when: "city == 'Atlantis'", action: ask}
    """
    with Terminal(clis=[McpCli("station", TOOLS, effects={"say": ["send"]})], policy=policy) as terminal:
        assert terminal.run("station wipe").stderr.splitlines()[-1] == "mirage: denied: nothing is wiped"
        assert terminal.run("station wipe").exit_code == 126
        assert "held for approval" in terminal.run("station get-forecast --city Atlantis").stderr
        assert terminal.run("station get-forecast --city Bern").exit_code == 0
        assert "Effects: send" in terminal.run("station say --help").stdout
        assert [e.effects for e in terminal.run("station say --text hi").effects] == [("send",)]


# ------------------------------------------------------------------------------------------------------- life of it


def children():
    """The servers that this process has started, by what /proc tells."""
    found = []
    for thread in Path("/proc/self/task").iterdir():
        try:
            pids = (thread / "children").read_text().split()
            found += [pid for pid in pids if b"raw.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        except OSError:                                      # it has ended meanwhile
            continue
    return found


def test_it_starts_late_and_ends_with_the_terminal():
    before = threading.active_count()
    with Terminal(clis=[raw("stays")]) as terminal:
        run(terminal, "echo hi; ls /; cat /SKILL.md; type raw")
        assert not children() and threading.active_count() <= before
        run(terminal, "raw echo --text x")
        assert len(children()) == 1
    assert not children()


def test_the_guide_knows_the_operations_of_another_day():
    with Terminal(clis=[raw()]) as terminal:
        assert "echo" not in run(terminal, "cat /SKILL.md").partition("raw")[2]
        run(terminal, "raw --help")
    with Terminal(clis=[raw()]) as terminal:
        assert "echo" in run(terminal, "cat /SKILL.md").partition("raw")[2] and not children()


# ------------------------------------------------------------------------------------------------------ bad servers


@pytest.mark.parametrize("habits", [[], ["noise"], ["ancient", "noise"]])
def test_bad_manners_do_not_matter(habits):
    with Terminal(clis=[raw(*habits)]) as terminal:
        assert run(terminal, "raw --help").count("\n  ") == 3
        for text in ("ä", "b"):
            assert json.loads(run(terminal, f"raw echo --text {text}")) == {"text": text}
        assert json.loads(run(terminal, """raw shapeless '{"any": [1]}'""")) == {"any": [1]}
        assert json.loads(run(terminal, "raw odd --n aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! --list 1 --list 2")) == {
            "n": "a" * 36 + "!", "list": [1, 2]}
        assert "Welcome" not in terminal.run("raw echo --text x").merged
        assert "noise" not in habits or "Welcome to raw!" in terminal.machine.clis["raw"].log


def test_a_server_that_ends_after_each_call():
    with Terminal(clis=[raw("once")]) as terminal:
        assert run(terminal, "for i in 1 2 3; do raw echo --text $i; sleep 0.2; done | jq -r .text") == "1\n2\n3\n"


@pytest.mark.parametrize("habit, shown", [("structure", "[1, 2]\n"), ("nothing", "")])
def test_unusual_results(habit, shown):
    with Terminal(clis=[raw(habit)]) as terminal:
        assert run(terminal, "raw echo") == shown


@pytest.mark.parametrize("cli, message", [
    (raw("hang", start_timeout=0.5), "the server did not start: no answer within 0.5 seconds"),
    (raw("crash"), "the server did not start: it ended, or closed the connection"),
    (McpCli("raw", ["/nowhere/server", "--key", "k3y"]), "the server did not start: /nowhere/server: No such file or directory"),
    (McpCli("raw", url="http://127.0.0.1:9/k3y"), "the server did not start: "),
    (McpCli("raw", ["true"], env={"K": Secret("env:NOT_SET_ANYWHERE")}), "credentials: env:NOT_SET_ANYWHERE: no such secret"),
])
def test_servers_that_do_not_start(cli, message):
    with Terminal(clis=[cli], limits=Limits(timeout=20)) as terminal:
        for line in ("raw --help", "raw echo --text x"):
            result = terminal.run(line)
            assert result.exit_code == 1 and json.loads(result.stderr)["error"]["message"].startswith(message), result
            assert "k3y" not in result.merged and not result.stdout
    assert not children()


def test_a_server_that_does_not_answer():
    with Terminal(clis=[raw("deaf", timeout=0.5)]) as terminal:
        assert "no answer within 0.5 seconds" in terminal.run("raw echo --text x").stderr
        assert terminal.run("echo the line goes on").stdout == "the line goes on\n"


# ------------------------------------------------------------------------------------------------------------- HTTP


@pytest.fixture(params=["streamable", "sse"])
def address(request):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    kind = "--http" if request.param == "streamable" else "--sse"
    process = subprocess.Popen([*TOOLS, kind, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/{'mcp' if request.param == 'streamable' else 'sse'}"
    finally:
        process.kill()
        process.wait()


def test_over_http(address, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with Terminal(clis=[McpCli("station", url=address, token=Secret("env:STATION_KEY_HERE"))]) as terminal:
        assert json.loads(run(terminal, "station get-forecast --city Bern"))["city"] == "Bern"
        assert run(terminal, "for i in 1 2 3; do station say --text $i; done") == "1\n2\n3\n"


def test_an_address_that_is_no_server(tmp_path):
    from mirage.bench.services.http import Response, Simulator

    class Refuses(Simulator):
        def handle(self, request, entry):
            return Response.of_json({"error": request.headers.get("authorization", "")}, 401)
    with Refuses() as server, Terminal(clis=[McpCli("wiki", url=server.address, token="env:STATION_KEY_HERE")]) as terminal:
        result = terminal.run("wiki --help")
        assert result.exit_code == 1 and "(HTTP 401)" in result.stderr and KEY not in result.merged


# ---------------------------------------------------------------------------------------------------- configuration


def test_in_mirage_yaml(tmp_path):
    file = tmp_path / "mirage.yaml"
    file.write_text(json.dumps({"clis": {"station": {"mcp": {"command": [sys.executable, str(SERVERS / "raw.py")], "env": {"KEY": "env:STATION_KEY_HERE"}}}}}))
    with load(file).make_terminal() as terminal:
        assert run(terminal, "station raw_echo --text hi") == '{"text": "hi"}\n'


@pytest.mark.parametrize("options, message", [
    ({"mcp": {}}, "an MCP server needs either a command or a url"),
    ({"mcp": {"command": ["a"], "url": "http://b"}}, "either a command or a url"),
    ({"mcp": {"command": "uvx server"}}, "command must be a list of words"),
    ({"mcp": {"command": ["a"], "enviroment": {}}}, "unknown option 'enviroment'"),
    ({"mcp": {"url": "http://b", "token": "canary"}}, "a secret is named, not written"),
    ({"mcp": {"command": ["a"], "effects": {"x": ["explode"]}}}, "'explode' is no effect"),
    ({"mcp": {"command": ["a"]}, "provider": "slack"}, "name one of provider, mcp, openapi, python"),
    ({}, "name one of provider, mcp, openapi, python"),
])
def test_bad_configuration(tmp_path, options, message):
    file = tmp_path / "mirage.yaml"
    file.write_text(json.dumps({"clis": {"x": options}}))
    with pytest.raises(ConfigError, match=message) as caught:
        load(file).make_terminal()
    assert "canary" not in str(caught.value)


def test_names():
    assert operation_names(["API-get-user", "API-post-page"], ["notion"]) == {"API-get-user": "get-user", "API-post-page": "post-page"}
    assert list(operation_names(["get_a", "get_b"], ["x"]).values()) == ["get-a", "get-b"]
    assert list(operation_names(["slack_post", "slack_list"], ["slack"]).values()) == ["post", "list"]
    assert list(operation_names(["fetch"], ["fetch"]).values()) == ["fetch"]
    assert list(operation_names(["listPages", "list_pages", "help", "!!"], ["x"]).values()) == ["list-pages", "list-pages-2", "help-2", "call"]


# -------------------------------------------------------------------------------------- servers of other people


def installed(tmp, *packages):
    """A virtual environment of its own: servers for version 1 of the SDK do not run beside version 2."""
    python = environment.create(tmp / "venv")
    done = subprocess.run([python, "-m", "pip", "install", "-q", *packages], capture_output=True, text=True, timeout=300)
    if done.returncode:
        pytest.skip(f"{' '.join(packages)} cannot be installed here: {done.stderr.strip()[-200:]}")
    return python.parent


@pytest.mark.judge
def test_servers_from_pypi(tmp_path):
    programs = installed(tmp_path, "mcp<2", "mcp-server-git", "mcp-server-fetch", "mcp-server-calculator")
    repository = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    clis = [McpCli("git-server", [str(programs / "mcp-server-git"), "--repository", str(repository)]),
            McpCli("calc", [str(programs / "python"), "-m", "mcp_server_calculator"]),
            McpCli("fetcher", [str(programs / "mcp-server-fetch")])]
    with Terminal(clis=clis) as terminal:
        assert "No commits yet" in run(terminal, f"git-server status --repo_path {repository}")
        assert run(terminal, "calc calculate --expression '6*7'") == "42\n"
        assert "Effects: " in run(terminal, "fetcher fetch --help") and '"url"' in run(terminal, "fetcher fetch --help")
        assert terminal.run("fetcher fetch --url http://127.0.0.1:9/").exit_code == 1


@pytest.mark.judge
def test_servers_from_npm(tmp_path):
    programs = npm("@modelcontextprotocol/server-filesystem@2026.7.10", "@modelcontextprotocol/server-memory@2025.8.4") / ".bin"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("of the host\n")
    clis = [McpCli("files", [str(programs / "mcp-server-filesystem"), str(tmp_path / "data")]),
            McpCli("memory", [str(programs / "mcp-server-memory")], env={"MEMORY_FILE_PATH": str(tmp_path / "m.json")})]
    with Terminal(clis=clis) as terminal:
        assert run(terminal, f"files read-text-file --path {tmp_path}/data/a.txt") .startswith("of the host")
        assert "Effects: read" in run(terminal, "files list-directory --help")
        run(terminal, """memory create-entities '{"entities": [{"name": "Bern", "entityType": "city", "observations": ["old"]}]}'""")
        assert json.loads(run(terminal, "memory search-nodes --query Bern"))["entities"][0]["name"] == "Bern"
