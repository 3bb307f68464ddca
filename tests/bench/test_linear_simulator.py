"""The simulated Linear, and our mount and commands with an emulator by others."""
from __future__ import annotations

import json
import socket
import subprocess
import time

import httpx
import pytest

from mirage.bench.services.linear import LinearSimulator
from mirage.mounts.linear import queries
from tests.judges import npm
from tests.mounts.linear_support import make_mount, make_terminal


@pytest.fixture
def simulator():
    with LinearSimulator(issues=40) as simulator:
        yield simulator


@pytest.fixture
def ask(simulator):
    with httpx.Client(base_url=simulator.address, headers={"Authorization": "lin_api_simulator"}, trust_env=False) as client:
        def ask(text, status=200, **variables):
            answer = client.post("/graphql", json={"query": text, "variables": variables})
            assert answer.status_code == status, answer.text
            return answer.json()
        yield ask


def test_a_seed_is_a_workspace():
    one, two, other = (LinearSimulator(seed=seed, issues=60) for seed in (1, 1, 2))
    assert one.state() == two.state() != other.state()
    assert max(i["createdAt"] for i in one.workspace.items["issue"].values()) < "2026-10-01"


def test_connections(ask):
    text = "query($n: Int, $after: String) { issues(first: $n, after: $after) { nodes { identifier } pageInfo { hasNextPage endCursor } } }"
    whole = ask(text, n=250)["data"]["issues"]
    found, after = [], None
    while True:
        page = ask(text, n=7, after=after)["data"]["issues"]
        found += page["nodes"]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert found == whole["nodes"] and len(found) > 20
    assert "cursor" in ask(text, n=7, after="nonsense")["errors"][0]["message"]
    assert "greater than 250" in ask(text, n=251)["errors"][0]["message"]


@pytest.mark.parametrize(("filter", "wanted"), [
    ({"title": {"containsIgnoreCase": "QUARTZ"}}, {"ENG-1"}), ({"comments": {"body": {"contains": "vote 7:"}}}, {"ENG-10"}),
    ({"parent": {"title": {"startsWith": "Drift"}}}, {"ENG-2"}), ({"team": {"key": {"eq": "ENG"}}, "number": {"in": [1, 3]}}, {"ENG-1", "ENG-3"}),
    ({"labels": {"some": {"name": {"eq": "Certification"}}}}, {"ENG-1"}), ({"creator": {"name": {"contains": "Gunnar"}}}, {"ENG-3"}),
    ({"and": [{"title": {"eq": "Same title"}}, {"or": [{"number": {"gt": 5}}, {"number": {"lt": 1}}]}]}, {"ENG-6"}),
    ({"assignee": {"null": True}, "title": {"eq": "Two\nlines"}}, {"ENG-4"}), ({"project": {"name": {"eq": "Apollo"}}, "estimate": None}, None)])
def test_filters(ask, filter, wanted):
    text = "query($f: IssueFilter) { issues(first: 250, filter: $f) { nodes { identifier } } }"
    if wanted is None:
        assert ask(text, 200, f=filter)["errors"]
    else:
        assert {i["identifier"] for i in ask(text, f=filter)["data"]["issues"]["nodes"]} == wanted


def test_errors(simulator, ask):
    assert ask("{ nope }", 400)["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
    assert ask("{ issue(id: \"ENG-99999\") { id } }")["errors"][0]["message"].startswith("Entity not found: Issue")
    assert ask("{ issues(first: 250) { nodes { comments(first: 250) { nodes { id } } } } }", 400)["errors"][0]["message"] == "Query too complex"
    answer = httpx.post(f"{simulator.address}graphql", json={"query": "{ viewer { id } }"}, trust_env=False)
    assert answer.status_code == 401 and answer.json()["errors"][0]["extensions"]["code"] == "AUTHENTICATION_ERROR"
    simulator.hourly = 1
    answer = httpx.post(f"{simulator.address}graphql", json={"query": "{ viewer { id } }"}, headers={"Authorization": "lin_api_simulator"}, trust_env=False)
    assert answer.status_code == 400 and answer.json()["errors"][0]["extensions"]["code"] == "RATELIMITED"
    assert int(answer.headers["X-RateLimit-Requests-Reset"]) > time.time() * 1000 - 1000


def test_snapshots(simulator, ask):
    before, kept = simulator.state(), simulator.snapshot()
    ask("mutation { issueCreate(input: {teamId: \"OPS\", title: \"new\"}) { success } }")
    (added,) = simulator.diff(before, simulator.state())["added"].values()
    assert added["title"] == "new" and added["identifier"].startswith("OPS-")
    simulator.restore(kept)
    assert simulator.state() == before


# -------------------------------------------------------------------------------------- an emulator by others


@pytest.mark.judge
def test_issues_of_another_emulator(tmp_path, monkeypatch):
    """npm emulate 0.11.2; what it does not have is left out of the queries."""
    program = npm("emulate@0.11.2") / "emulate" / "dist" / "index.js"
    monkeypatch.setattr(queries, "ISSUE", """id identifier number title description priority priorityLabel dueDate url createdAt updatedAt
        startedAt completedAt canceledAt archivedAt team { id key name } state { name type } assignee { name displayName email }
        creator { name displayName } project { name } cycle { number name }""")
    monkeypatch.setattr(queries, "LISTS", {"labels": ("name", 20), "comments": ("id body createdAt updatedAt user { name displayName }", 30)})
    (tmp_path / "seed.yaml").write_text("tokens:\n  lin_api_test: {login: mara, scopes: []}\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(["node", str(program), "start", "--service", "linear", "--port", str(port), "--seed", str(tmp_path / "seed.yaml")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=tmp_path)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(100):
            try:
                httpx.get(address, trust_env=False)
                break
            except httpx.HTTPError:
                assert server.poll() is None, server.stdout.read()
                time.sleep(0.1)

        class Address:
            pass
        there = Address()
        there.address = address
        with make_terminal(there, make_mount(there, "lin_api_test")) as terminal:
            team = terminal.run("ls /linear").stdout.split()[0]
            answer = make_mount(there, "lin_api_test").client.query("query($t: String!) { team(id: $t) { id name } teams { nodes { id key } } }", {
                "t": make_mount(there, "lin_api_test").teams()[0]["id"]})
            assert answer["teams"]["nodes"][0]["key"] == team
            made = answer["team"]["id"]
            client = make_mount(there, "lin_api_test").client
            created = client.query("mutation($i: IssueCreateInput!) { issueCreate(input: $i) { success issue { identifier id } } }",
                                   {"i": {"teamId": made, "title": "Mast / antenna", "description": "Zażółć"}}, safe=False)["issueCreate"]["issue"]
            client.query("mutation($i: CommentCreateInput!) { commentCreate(input: $i) { success } }", {"i": {"issueId": created["id"], "body": "First."}}, safe=False)
            result = terminal.run(f"ls /linear/{team}/issues; cat /linear/{team}/issues/{created['identifier']}__*.md")
            assert f"{created['identifier']}__Mast _ antenna.json" in result.stdout, result
            assert "\n\nZażółć\n\n## Comments\n\n### " in result.stdout and "First.\n" in result.stdout
            result = terminal.run(f"jq -r .state.type '/linear/{team}/issues/{created['identifier']}__Mast _ antenna.json'")
            assert result.exit_code == 0 and json.dumps(result.stdout)
    finally:
        server.kill()
        server.wait()
