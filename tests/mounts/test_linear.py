from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import pytest

from mirage.bench.services.linear import LinearSimulator
from mirage.mounts.linear import queries
from mirage.mounts.linear.tree import Linear
from mirage.vfs.registry import ProviderError
from mirage.vfs.registry import make_mount as mount_by_name
from mirage.vfs.search import Query
from mirage.vfs.service import Retry
from tests.mounts.contract import MountContract, raises
from tests.mounts.honesty import check_honest
from tests.mounts.linear_support import asked, make_mount, make_terminal

DRIFT = "/ENG/issues/ENG-1__Drift of the quartz"


@pytest.fixture(scope="module")
def small():
    with LinearSimulator(issues=30) as simulator:
        yield simulator


@pytest.fixture
def simulator():
    with LinearSimulator(issues=30) as simulator:
        yield simulator


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, small):
        small.heal()
        small.fault("status", "/graphql", times=2, status=429, seconds=0.02)
        small.fault("status", "/graphql", times=2, status=500)
        small.fault("reset", "/graphql", times=2)
        small.fault("truncate", "/graphql", times=2)
        small.fault("short", "/graphql", times=2)
        mount = make_mount(small, ttl=600.0)
        mount.client.retry = Retry(tries=12, base=0.01, most=1.0)
        yield mount
        small.heal()


# ---- the tree

def test_names(small):
    mount = make_mount(small)
    assert [e.name for e in mount.list("/")] == ["ENG", "OPS", "SUP"]
    assert [e.name for e in mount.list("/ENG")] == ["cycles", "issues", "members.jsonl", "projects"]
    names = [e.name for e in mount.list("/ENG/issues")]
    for name in ("ENG-1__Drift of the quartz.json", "ENG-2__Emulate_replay the rain gauge.md", "ENG-3__untitled.json", "ENG-4__Two_lines.md",
                 "ENG-5__Same title.json", "ENG-6__Same title.json", "ENG-7__天気予報 ☔ zeigt Grüße.json"):
        assert name in names
    assert not any("Archived" in name for name in names) and any(len(name.encode()) == 125 for name in names)
    assert [e.name for e in mount.list("/ENG/projects")] == [
        "Apollo__00c0ffee0000.json", "Apollo__00c0ffee0000.md", "Apollo__03c0ffee0003.json", "Apollo__03c0ffee0003.md",
        "Borealis.json", "Borealis.md", "Q4_Fair_Hamburg.json", "Q4_Fair_Hamburg.md"]
    assert "5__Abisko_winter.json" in [e.name for e in mount.list("/ENG/cycles")] and mount.list("/SUP/cycles") == []
    people = [json.loads(line) for line in mount.read("/ENG/members.jsonl").decode().splitlines()]
    assert len(people) == 7 and {"id", "name", "displayName", "email", "active", "admin"} == set(people[0])
    assert [e.name for e in make_mount(small, teams="ops, sup").list("/")] == ["OPS", "SUP"]


def test_an_issue_with_its_comments(small):
    mount = make_mount(small)
    issue = json.loads(mount.read(f"{DRIFT}.json"))
    assert issue["state"] == {"name": "Backlog", "type": "backlog"} and issue["url"] == "https://linear.app/norrsken/issue/ENG-1"
    assert [c["user"]["name"] for c in issue["comments"]["nodes"]] == ["Søren Dahl", "Priya Raman"]
    assert issue["children"]["nodes"] == [{"identifier": "ENG-2", "title": "Emulate/replay the rain gauge"}]
    text = mount.read(f"{DRIFT}.md").decode()
    assert text.startswith("# ENG-1 Drift of the quartz\n\n- Status: Backlog\n- Priority: Urgent\n- Assignee: Søren Dahl\n")
    assert "- Labels: Certification, Bug\n- Sub-issue: ENG-2 Emulate/replay the rain gauge\n- Attachment: [Plot of the lab]" in text
    assert text.endswith("## Comments\n\n### Søren Dahl, 2025-10-03 08:00\n\nMeasured it twice.\nSame value.\n\n"
                         "#### Priya Raman, 2025-10-03 09:00\n\nSame here: \"quoted\" \\ back\n")
    many = json.loads(mount.read("/ENG/issues/ENG-10__Which enclosure?.json"))["comments"]["nodes"]
    assert [c["body"].split(":")[0] for c in many] == [f"vote {n}" for n in range(120)]
    project = mount.read("/ENG/projects/Borealis.md").decode()
    assert project.startswith("# Borealis\n\n- Status: started\n- Lead: Jonas Weiß\n") and project.endswith("# Borealis\n\nSee the wiki.\n")


def test_a_wrong_name_is_no_name(small):
    mount = make_mount(small)
    other = mount.list("/SUP/issues")[0].name
    for fresh in (mount, make_mount(small)):
        for path in ("/XYZ", "/eng", f"/ENG/issues/{other}", "/ENG/issues/ENG-1__Drift.json", "/ENG/issues/ENG-1.json", "/ENG/issues/ENG-9999__x.md",
                     "/ENG/issues/ENG-1__Drift of the quartz", "/ENG/issues/ENG-11__Archived long ago.json", "/SUP/issues/ENG-1__Drift of the quartz.json",
                     "/ENG/issues/ENG-01__Drift of the quartz.json", "/ENG/projects/Apollo.json", "/ENG/cycles/99__untitled.json", "/ENG/members.json"):
            raises(errno.ENOENT, fresh.stat, path)
        fresh.list("/ENG/issues")
    raises(errno.ENOTDIR, mount.stat, f"{DRIFT}.json/x")


# ---- cost and freshness

def test_calls_are_as_few_as_can_be():
    with LinearSimulator(issues=480) as simulator, make_terminal(simulator) as terminal:
        simulator.clear_log()
        terminal.run("echo hi; ls /; cat /VFS.md; linear --help; linear create-issue --help")
        assert simulator.log == []
        assert "0.42 kelvin" in terminal.run(f"cat '/linear{DRIFT}.md'").stdout
        assert asked(simulator) == ["Teams", "Issue"]
        simulator.clear_log()
        terminal.run(f"cat '/linear{DRIFT}.md' '/linear{DRIFT}.json'; ls /linear /linear/ENG")
        assert simulator.log == []
        count = int(terminal.run("ls /linear/ENG/issues/*.json | wc -l").stdout)
        assert count > 250 and asked(simulator) == ["TeamIssues"] * -(-count // 250)
        simulator.clear_log()
        result = terminal.run("cat /linear/ENG/issues/ENG-[1-9]__*.json | jq -r .identifier | sort -u | wc -l")
        assert result.stdout == "9\n" and asked(simulator) == ["Issue"] * 8
        simulator.clear_log()
        terminal.run("ls -l /linear/ENG/issues; cat /linear/ENG/issues/ENG-[1-9]__*.md")
        assert simulator.log == []
    with LinearSimulator(issues=140) as simulator, make_terminal(simulator) as terminal:
        simulator.clear_log()
        terminal.run("grep -rlw 1042 /linear")               # digits are not asked for: everything is read, 40 at a time
        issues = len(simulator.workspace.items["issue"])
        assert asked(simulator).count("Issues") <= issues // queries.BATCH + 3 and len(simulator.log) < 30


def test_changes_by_others_show_after_the_ttl(simulator):
    mount = make_mount(simulator, ttl=0.0)
    assert b"Backlog" in mount.read(f"{DRIFT}.md")
    space = simulator.workspace
    space.comment("ENG-1", "by somebody else")
    space.create_issue(teamId="ENG", title="by somebody else")
    assert mount.read(f"{DRIFT}.md").endswith(b"by somebody else\n")
    assert any("by somebody else" in e.name for e in mount.list("/ENG/issues"))


# ---- failures

@pytest.mark.parametrize(("fault", "number"), [
    ({"kind": "status", "status": 429, "seconds": 30.0}, errno.EAGAIN), ({"kind": "status", "status": 500}, errno.EIO),
    ({"kind": "status", "status": 403}, errno.EACCES), ({"kind": "status", "status": 401}, errno.EACCES),
    ({"kind": "reset"}, errno.EIO), ({"kind": "truncate"}, errno.EIO), ({"kind": "short"}, errno.EIO)])
def test_what_does_not_heal_is_an_errno(simulator, fault, number):
    with make_terminal(simulator) as terminal:
        terminal.run("ls /linear/ENG/issues")
        simulator.fault(match="/graphql", **fault)
        result = terminal.run(f"cat '/linear{DRIFT}.json'")
        assert result.stdout == "" and result.exit_code == 1 and "mirage: linear: " in result.stderr
        with pytest.raises(OSError) as caught:
            terminal.fs.read(f"/linear{DRIFT}.json")
        assert caught.value.errno == number and not terminal.machine.errors
        result = terminal.run("grep -rl 1042 /linear/ENG/issues | wc -l")
        assert result.stdout == "0\n" and "ENG-1__" in result.stderr
        simulator.heal()
        assert terminal.run(f"jq -r '.comments.nodes|length' '/linear{DRIFT}.json'").stdout == "2\n"


def test_the_rest_of_the_comments_is_there_or_the_issue_is_an_error(simulator):
    mount = make_mount(simulator)
    path = "/ENG/issues/ENG-10__Which enclosure?.json"
    mount.list("/ENG/issues")
    real, seen = mount.client.query, []

    def query(text, *arguments, **options):
        seen.append(text)
        if text.startswith("query More"):
            simulator.fault("status", "/graphql", status=500)
        return real(text, *arguments, **options)
    mount.client.query = query
    raises(errno.EIO, mount.read, path)
    mount.client.query = real
    simulator.heal()
    assert len(json.loads(mount.read(path))["comments"]["nodes"]) == 120 and any(t.startswith("query More") for t in seen)


def test_the_limit_of_an_hour_is_told():
    with LinearSimulator(issues=20, hourly=2) as simulator:
        mount = make_mount(simulator)
        mount.client.retry = Retry(tries=1)
        mount.list("/ENG/issues")
        error = raises(errno.EAGAIN, mount.read, f"{DRIFT}.md")
        assert error.note.startswith("linear: Rate limit exceeded")


def test_queries_stay_below_the_complexity_that_linear_takes(small):
    client = make_mount(small).client
    client.query(queries.issues(), {"filter": None})
    with pytest.raises(OSError) as caught:
        client.query(queries.issues(first=60), {"filter": None})
    assert "too complex" in caught.value.note


def test_tokens_show_nowhere(small):
    mount = make_mount(small, "lin_api_CANARY")
    with pytest.raises(PermissionError) as caught:
        mount.list("/")
    assert caught.value.note == "linear: Authentication required, not authenticated"
    assert "CANARY" not in f"{caught.value!r} {mount!r} {mount.client!r}"
    assert make_mount(small).client.credentials("lin_api_x") == "lin_api_x" and mount.client.credentials("lin_oauth_x") == "Bearer lin_oauth_x"


def test_options_are_checked():
    for options in ({}, {"token": "env:A", "search": "fast"}, {"token": "lin_api_hunter2"}, {"token": "env:A", "colour": "red"}):
        with pytest.raises((ProviderError, ValueError)) as caught:
            mount_by_name("linear", options)
        assert "hunter2" not in str(caught.value)
    assert isinstance(mount_by_name("linear", {"token": "env:A", "teams": "ENG"}), Linear)


# ---- search

def test_search_is_honest():
    with LinearSimulator(issues=26) as simulator:
        _check_search(simulator)


def _check_search(small):
    long = next(i for i in small.workspace.items["issue"].values() if i["title"] == "Long text")
    long["description"] = "\n".join(long["description"].split("\n")[:20])
    with make_terminal(small, make_mount(small, ttl=600.0)) as terminal:
        report = check_honest(terminal, "/linear", count=200, options="--include='ENG-[1-9]_*' --include='*.md'")
        assert report.pushed > 20 and report.announced == 0, report
        report = check_honest(terminal, "/linear", exact=True, count=20)
        assert report.pushed == 0


def test_only_what_can_be_found_is_asked_for(small):
    mount = make_mount(small)
    for word in ("priority", "description", "Urgent", "linear", "norrsken", "Engineering", "SUP", "beef", "nbeef", "0.42", "drift of", "żółć", "ab"):
        found = mount.search("/", Query([word]))
        assert (found is None) == (word != "drift of"), word
    assert mount.search("/", Query(["quartz"], mode="exact")) is None
    found = mount.search("/ENG/issues", Query(["quartz"], names=lambda name: name.endswith(".md")))
    assert found.complete and not found.note
    assert {p.partition("__")[0] for p in found.paths} == {"/ENG/issues/ENG-1", "/ENG/issues/ENG-2"}       # ENG-2 names its parent


def test_the_example_of_the_readme(simulator, tmp_path, monkeypatch):
    from mirage.config import load
    from mirage.mounts import linear
    readme = (Path(linear.__file__).parent / "README.md").read_text()
    found = re.search(r"```yaml\n(.*?)```", readme, re.S).group(1)
    (tmp_path / "mirage.yaml").write_text(found.replace('"env:LINEAR_TOKEN"', f'"env:LINEAR_TOKEN", endpoint: "{simulator.address}"'))
    monkeypatch.setenv("LINEAR_TOKEN", "lin_api_simulator")
    with load(tmp_path / "mirage.yaml").make_terminal() as terminal:
        result = terminal.run(re.search(r"```sh\n(.*?)```", readme, re.S).group(1))
        assert result.exit_code == 0 and result.stdout.startswith("# ENG-") and "- Status: Todo\n- Priority: High\n" in result.stdout, result
        result = terminal.run("grep -rl lin_api_ / 2>/dev/null; env; linear list-users; cat /proc/*/environ")
        assert "lin_api_" not in result.stdout + result.stderr
