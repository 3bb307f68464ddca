from __future__ import annotations

import json
import shlex

import pytest

from mirage import Terminal
from mirage.bench.services.linear import LinearSimulator
from mirage.clis.linear import LinearCli
from mirage.clis.registry import make_cli
from mirage.mounts import Memory
from mirage.mounts.linear.tree import Linear
from tests.mounts.linear_support import Token, asked, make_mount, make_terminal

USUAL = """list-issues get-issue create-issue update-issue list-comments create-comment list-projects get-project create-project
update-project list-teams get-team list-users get-user list-issue-statuses list-issue-labels create-issue-label list-cycles search-issues"""


@pytest.fixture
def simulator():
    with LinearSimulator(issues=30) as simulator:
        yield simulator


@pytest.fixture
def terminal(simulator):
    with make_terminal(simulator) as terminal:
        yield terminal


def run(terminal, operation, status=0, **arguments):
    result = terminal.run(f"linear {operation} {shlex.quote(json.dumps(arguments))}")
    assert result.exit_code == status, result
    return json.loads(result.stdout if status == 0 else result.stderr.splitlines()[0])


def test_operations_and_effects():
    cli = LinearCli(Linear(Token()))
    assert set(cli.operations) == set(USUAL.split())
    for name, operation in cli.operations.items():
        expected = {"create": "create", "update": "update"}.get(name.partition("-")[0], "read")
        assert operation.effects == (expected,), name
        assert hasattr(cli, "_" + name.replace("-", "_"))
    required = {n: o.model.model_json_schema().get("required") for n, o in cli.operations.items()}
    assert required["create-issue"] == ["title", "team"] and required["create-comment"] == ["issueId", "body"]


def test_a_new_issue_is_there_at_once_without_another_request(simulator, terminal):
    terminal.run("ls /linear/*/issues; cat /linear/ENG/issues/ENG-2__*.md")
    before = simulator.state()
    run(terminal, "list-users")
    run(terminal, "get-team", query="eng")
    simulator.clear_log()
    made = run(terminal, "create-issue", team="ENG", title="Mast / antenna", description="Zażółć\n", assignee="me", state="in progress", priority=2,
               labels=["bug", "Feature"], project="Borealis", cycle="current", parentId="/linear/ENG/issues/ENG-2__Emulate_replay the rain gauge.md", estimate=2, dueDate="2026-10-01")
    assert made["path"] == f"/linear/ENG/issues/{made['identifier']}__Mast _ antenna.json" and asked(simulator) == ["IssueCreate"]
    simulator.clear_log()
    result = terminal.run(f"ls /linear/ENG/issues | grep -c Mast; cat '{made['path'].replace('.json', '.md')}'; tail -1 /linear/ENG/issues/{made['identifier']}*.md")
    assert result.stdout.startswith(f"2\n# {made['identifier']} Mast / antenna\n\n- Status: In Progress\n- Priority: High\n- Assignee: Mara Lindqvist\n"
                                    "- Creator: Mara Lindqvist\n- Project: Borealis\n- Cycle: 27\n- Estimate: 2\n- Due: 2026-10-01\n- Parent: ENG-2\n")
    assert "Zażółć\n" in result.stdout and "- Labels: Feature, Bug\n" in result.stdout and asked(simulator) == []
    (added,) = simulator.diff(before, simulator.state())["added"].values()
    assert added["title"] == "Mast / antenna"
    assert f"- Sub-issue: {made['identifier']} Mast / antenna\n" in terminal.run("cat /linear/ENG/issues/ENG-2__*.md").stdout
    assert asked(simulator) == ["Issue"]                     # the parent, nothing else


def test_changes(simulator, terminal):
    terminal.run("ls /linear/ENG/issues; cat /linear/ENG/issues/ENG-1__*.md")
    simulator.clear_log()
    changed = run(terminal, "update-issue", id="ENG-1", title="Drift is gone", state="Done", assignee="Priya Raman", labels=[], priority=0)
    assert set(asked(simulator)) <= {"Team", "Users", "IssueUpdate"}
    simulator.clear_log()
    result = terminal.run(f"ls /linear/ENG/issues | grep ENG-1__; cat '{changed['path']}' | jq -r '.state.name, .assignee.displayName, (.labels.nodes|length)'")
    assert result.stdout == "ENG-1__Drift is gone.json\nENG-1__Drift is gone.md\nDone\npriya\n0\n" and simulator.log == []
    run(terminal, "update-issue", id=changed["path"], assignee="")
    assert terminal.run(f"jq .assignee '{changed['path']}'").stdout == "null\n"
    comment = run(terminal, "create-comment", issueId=changed["path"], body="Good.\nBetter.")
    answer = run(terminal, "create-comment", issueId="ENG-1", body="Best.", parentId=comment["id"])
    assert answer["path"] == changed["path"]
    simulator.clear_log()
    assert terminal.run("tail -8 /linear/ENG/issues/ENG-1__*.md").stdout == ("### Mara Lindqvist, 2026-09-30 16:00\n\nGood.\nBetter.\n\n"
                                                                           "#### Mara Lindqvist, 2026-09-30 16:00\n\nBest.\n")
    assert len(run(terminal, "list-comments", issueId="ENG-1")["comments"]) == 4 and simulator.log == []


def test_projects_and_labels(simulator, terminal):
    terminal.run("ls /linear/*/projects")
    made = run(terminal, "create-project", name="Winter", team="ENG,SUP", description="Snow", lead="soren", targetDate="2026-12-01")
    assert made["lead"]["name"] == "Søren Dahl"
    assert terminal.run("ls /linear/*/projects/Winter.md | wc -l; grep -c Snow /linear/SUP/projects/Winter.md").stdout == "2\n1\n"
    run(terminal, "update-project", id="/linear/ENG/projects/Winter.json", description="Ice")
    assert terminal.run("jq -r .description /linear/ENG/projects/Winter.json").stdout == "Ice\n"
    assert run(terminal, "get-project", query="winter")["id"] == made["id"]
    assert run(terminal, "get-project", 1, query="Apollo")["error"]["code"] == "ambiguous"
    run(terminal, "create-issue-label", name="Snow", team="ENG")
    assert [label["name"] for label in run(terminal, "list-issue-labels", team="ENG", name="sno")["labels"]] == ["Snow"]


def test_looking(terminal):
    names = [i["identifier"] for i in run(terminal, "list-issues", team="Engineering", query="same TITLE")["nodes"]]
    assert sorted(names) == ["ENG-5", "ENG-6"]
    page = run(terminal, "list-issues", limit=3)
    more = run(terminal, "list-issues", limit=3, cursor=page["pageInfo"]["endCursor"])
    assert len(page["nodes"]) == len(more["nodes"]) == 3 and page["nodes"] != more["nodes"]
    for arguments, wanted in (({"assignee": "Søren Dahl", "project": "Apollo", "label": "bug", "priority": 1}, {"ENG-1"}), ({"parentId": "ENG-1"}, {"ENG-2"}),
                              ({"state": "backlog", "query": "enclosure"}, {"ENG-10"}), ({"createdAt": "2026-10-01"}, set())):
        found = {i["identifier"] for i in run(terminal, "list-issues", **arguments)["nodes"]}
        assert wanted <= found and (wanted or not found), arguments
    assert run(terminal, "list-issues", cycle="5")["pageInfo"]["hasNextPage"] is False
    assert run(terminal, "get-issue", id="/linear/ENG/issues/ENG-1__x.md")["title"] == "Drift of the quartz"
    assert [i["identifier"] for i in run(terminal, "search-issues", query="metal vote")["nodes"]] == ["ENG-10"]
    assert run(terminal, "search-issues", query="metal vote", includeComments=False)["nodes"] == []
    assert [t["key"] for t in run(terminal, "list-teams", query="büro")["teams"]] == ["OPS"]
    assert len(run(terminal, "list-users")["users"]) == 8 and [u["name"] for u in run(terminal, "list-users", query="jonas")["users"]] == ["Jonas Weiß"]
    assert run(terminal, "get-user", query="me")["name"] == "Mara Lindqvist" and len(run(terminal, "list-users", team="OPS")["users"]) < 7
    assert [s["name"] for s in run(terminal, "list-issue-statuses", team="SUP")["statuses"]].count("Done") == 1
    assert [c["number"] for c in run(terminal, "list-cycles", teamId="ENG", type="current")["cycles"]] == [27]
    assert {p["name"] for p in run(terminal, "list-projects", team="SUP")["nodes"]} == {"Borealis"}


def test_refusals(simulator, terminal):
    for operation, arguments, code, part in (
            ("get-issue", {"id": "ENG-9999"}, 404, "Entity not found: Issue"), ("create-issue", {"team": "XYZ", "title": "x"}, "not_found", "there are: "),
            ("create-issue", {"team": "ENG", "title": "x", "state": "Nope"}, "not_found", "no state 'Nope'"),
            ("create-issue", {"team": "ENG", "title": "x", "priority": 9}, 400, "must not be greater than 4"),
            ("create-issue", {"team": "ENG", "title": "x", "project": "Apollo"}, "ambiguous", "give the id"),
            ("create-comment", {"issueId": "ENG-1", "body": ""}, 400, "body must not be empty"), ("list-issues", {"limit": 251}, 400, "greater than 250")):
        error = run(terminal, operation, 1, **arguments)["error"]
        assert error["code"] == code and part in error["message"], (operation, error)
    assert run(terminal, "create-issue", 2, team="ENG")["error"]["message"].startswith("title is required")
    before = simulator.state()
    with make_terminal(simulator, policy="rules:\n  - {effect: call, cli: linear, operation: 'create-*', action: deny, reason: look only}\n") as other:
        result = other.run("linear create-issue --team ENG --title x")
        assert result.exit_code == 126 and "mirage: denied: look only" in result.stderr and simulator.state() == before


def test_a_lost_answer_is_not_sent_again(simulator, terminal):
    run(terminal, "get-team", query="ENG")
    before = simulator.state()
    simulator.fault("reset", "/graphql", after=True, times=1)
    assert "connection failed" in run(terminal, "create-issue", 1, team="ENG", title="Once")["error"]["message"]
    assert len(simulator.diff(before, simulator.state())["added"]) == 1
    simulator.heal()
    assert terminal.run("ls /linear/ENG/issues | grep -c Once").stdout == "2\n"
    simulator.fault("status", "/graphql", status=429, times=1, seconds=0.01)
    run(terminal, "create-issue", team="ENG", title="Later")


def test_from_config(simulator, tmp_path):
    mount = make_mount(simulator)
    cli = make_cli("tasks", "linear", {}, mounts={"/": Memory(), "/tasks": mount}, folder=tmp_path)
    assert cli.mount is mount and cli.point == "/tasks" and cli.name == "tasks"
    other = make_cli("linear", "linear", {"token": "env:OTHER"}, mounts={"/tasks": mount}, folder=tmp_path)
    assert other.mount is not mount and other.point is None
    for options in ({"colour": "red"}, {"token": "lin_api_1"}):
        with pytest.raises(ValueError):
            make_cli("linear", "linear", options, mounts={"/tasks": mount}, folder=tmp_path)
    with pytest.raises(ValueError):
        make_cli("linear", "linear", {}, mounts={}, folder=tmp_path)
    with Terminal({"/tasks": mount}, clis=[cli]) as terminal:
        made = json.loads(terminal.run("tasks create-issue --team OPS --title x").stdout)
        assert made["path"].startswith("/tasks/OPS/issues/OPS-")
