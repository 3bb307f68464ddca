"""The simulated Notion, and what Notion's own MCP server says to it."""
from __future__ import annotations

import json
import subprocess
import threading
import time

import httpx
import pytest

from mirage.bench.services.clock import Clock
from mirage.bench.services.notion import NotionSimulator
from mirage.bench.services.notion.seed import NOW
from tests.judges import npm

HEADERS = {"Authorization": "Bearer ntn_simulator", "Notion-Version": "2022-06-28"}


@pytest.fixture
def simulator():
    with NotionSimulator(rows=30) as simulator:
        yield simulator


@pytest.fixture
def ask(simulator):
    with httpx.Client(base_url=simulator.address, headers=HEADERS, trust_env=False) as client:
        def ask(method, path, status=200, **body):
            answer = client.request(method, f"/v1/{path}", json=body or None)
            assert answer.status_code == status, answer.text
            return answer.json()
        yield ask


def database(simulator, title):
    return next(d for d in simulator.workspace.databases.values() if d["title"][0]["plain_text"] == title)


def test_a_seed_is_a_workspace():
    one, two, other = (NotionSimulator(seed=seed, rows=20) for seed in (1, 1, 2))
    assert one.state() == two.state() != other.state()
    assert max(p["last_edited_time"] for p in one.workspace.pages.values()) < "2026-10-01"


def test_pages_of_lists(simulator, ask):
    id = database(simulator, "Campaigns")["id"]
    whole = ask("POST", f"databases/{id}/query")
    assert len(whole["results"]) == 30 and not whole["has_more"] and whole["object"] == "list"
    found, cursor = [], None
    while True:
        page = ask("POST", f"databases/{id}/query", page_size=7, **({"start_cursor": cursor} if cursor else {}))
        found += page["results"]
        cursor = page["next_cursor"]
        assert page["has_more"] == bool(cursor)
        if not cursor:
            break
    assert found == whole["results"]
    assert "start_cursor" in ask("POST", f"databases/{id}/query", 400, start_cursor="0" * 32)["message"]


@pytest.mark.parametrize(("filter", "test"), [
    ({"property": "Engagement rate", "number": {"greater_than_or_equal_to": 8}}, lambda p: (p["Engagement rate"]["number"] or 0) >= 8),
    ({"property": "Engagement rate", "number": {"is_empty": True}}, lambda p: p["Engagement rate"]["number"] is None),
    ({"property": "Locality", "select": {"equals": "Local"}}, lambda p: p["Locality"]["select"]["name"] == "Local"),
    ({"property": "Start date", "date": {"before": "2020-01-01"}}, lambda p: p["Start date"]["date"]["start"] < "2020"),
    ({"property": "Campaign", "title": {"contains": "HARBOUR"}}, lambda p: "Harbour" in "".join(t["plain_text"] for t in p["Campaign"]["title"])),
    ({"property": "Tags", "multi_select": {"contains": "storm"}}, lambda p: "storm" in [t["name"] for t in p["Tags"]["multi_select"]]),
    ({"property": "Approved", "checkbox": {"equals": False}}, lambda p: not p["Approved"]["checkbox"]),
    ({"or": [{"property": "Budget", "number": {"less_than": 9000}}, {"and": [{"property": "Channel", "select": {"does_not_equal": "Mail"}}]}]},
     lambda p: p["Budget"]["number"] < 9000 or p["Channel"]["select"]["name"] != "Mail")])
def test_filters(simulator, ask, filter, test):
    id = database(simulator, "Campaigns")["id"]
    rows = ask("POST", f"databases/{id}/query")["results"]
    assert ask("POST", f"databases/{id}/query", filter=filter)["results"] == [row for row in rows if test(row["properties"])]


def test_sorts(simulator, ask):
    id = database(simulator, "Campaigns")["id"]
    found = ask("POST", f"databases/{id}/query", sorts=[{"property": "Locality", "direction": "ascending"}, {"property": "Budget", "direction": "descending"}])
    keys = [(r["properties"]["Locality"]["select"]["name"], -r["properties"]["Budget"]["number"]) for r in found["results"]]
    assert keys == sorted(keys)


def test_errors_and_limits(simulator, ask):
    wrong = {**HEADERS, "Authorization": "Bearer ntn_wrong"}
    assert httpx.get(f"{simulator.address}v1/users/me", headers=wrong, trust_env=False).json()["code"] == "unauthorized"
    old = {"Authorization": HEADERS["Authorization"]}
    assert httpx.get(f"{simulator.address}v1/users/me", headers=old, trust_env=False).json()["code"] == "missing_version"
    secret = next(iter(simulator.workspace.hidden))
    assert ask("GET", f"pages/{secret}", 404)["code"] == "object_not_found" == ask("GET", f"blocks/{secret}/children", 404)["code"]
    assert ask("POST", "no-such-thing", 400)["code"] == "invalid_request_url"
    simulator.fault("status", "users", status=409)
    assert ask("GET", "users", 409)["code"] == "conflict_error"
    simulator.heal()
    simulator.rate, simulator._level, simulator._at = 1.0, 0.0, time.monotonic()
    answer = httpx.get(f"{simulator.address}v1/users", headers=HEADERS, trust_env=False)
    assert answer.status_code == 429 and answer.headers["Retry-After"] == "1" and answer.json()["code"] == "rate_limited"


def test_search_knows_titles_only_and_lags():
    clock = Clock(NOW)
    with NotionSimulator(rows=5, index_lag=60, clock=clock) as simulator, httpx.Client(base_url=simulator.address, headers=HEADERS, trust_env=False) as client:
        def titles(query):
            return len(client.post("/v1/search", json={"query": query}).json()["results"])
        assert titles("wiki") == 1 and titles("quartz") == 0 and titles("board only") == 0 and titles("old draft") == 0
        wiki = client.post("/v1/search", json={"query": "wiki"}).json()["results"][0]["id"]
        client.post("/v1/pages", json={"parent": {"page_id": wiki}, "properties": {"title": [{"text": {"content": "Zebra"}}]}})
        assert titles("zebra") == 0
        clock.advance(61)
        assert titles("zebra") == 1


def test_snapshots(simulator, ask):
    before, kept = simulator.state(), simulator.snapshot()
    id = database(simulator, "CRM")["id"]
    ask("POST", "pages", parent={"database_id": id}, properties={"Name": {"title": [{"text": {"content": "new"}}]}})
    (added,) = simulator.diff(before, simulator.state())["added"].values()
    assert added["title"] == "new"
    simulator.restore(kept)
    assert simulator.state() == before


# -------------------------------------------------------------------------------------- Notion's own server


@pytest.mark.judge
def test_the_mcp_server_of_notion_works_with_it(simulator):
    """@notionhq/notion-mcp-server 1.8.1 over stdio, each of its tools once."""
    package = npm("@notionhq/notion-mcp-server@1.8.1") / "@notionhq" / "notion-mcp-server"
    auth = json.dumps({"Authorization": "Bearer ntn_simulator", "Notion-Version": "2022-06-28"})
    server = subprocess.Popen(["node", str(package / "bin" / "cli.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "BASE_URL": simulator.address.rstrip("/"), "OPENAPI_MCP_HEADERS": auth})
    watch = threading.Timer(60, server.kill)
    watch.start()
    try:
        asked = 0

        def rpc(method, **params):
            nonlocal asked
            asked += 1
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": asked, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            while True:
                line = server.stdout.readline()
                assert line, "the server ended"
                answer = json.loads(line) if line.startswith("{") else {}
                if answer.get("id") == asked:
                    return answer["result"]

        def tool(name, **arguments):
            answer = json.loads(rpc("tools/call", name=f"API-{name}", arguments=arguments)["content"][0]["text"])
            assert answer.get("object") not in ("error", None), answer
            return answer
        rpc("initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo={"name": "test", "version": "1"})
        names = {t["name"].removeprefix("API-") for t in rpc("tools/list")["tools"]}
        assert len(names) == 19
        text = [{"text": {"content": "by the server"}, "type": "text"}]
        tool("get-self")
        tool("get-user", user_id=tool("get-users", page_size=2)["results"][0]["id"])
        table = database(simulator, "Campaigns")["id"]
        assert len(tool("post-database-query", database_id=table, page_size=3)["results"]) == 3
        wiki = tool("post-search", query="Wiki")["results"][0]["id"]
        page = tool("post-page", parent={"page_id": wiki}, properties={"title": text})["id"]
        block = tool("patch-block-children", block_id=page, children=[{"paragraph": {"rich_text": text}, "type": "paragraph"}])["results"][0]["id"]
        assert tool("get-block-children", block_id=page)["results"][0]["id"] == block
        tool("retrieve-a-block", block_id=block)
        tool("update-a-block", block_id=block, archived=False)
        tool("delete-a-block", block_id=block)
        tool("patch-page", page_id=page, properties={"title": text})
        assert tool("retrieve-a-page", page_id=page)["parent"]["page_id"] == wiki
        made = tool("create-a-database", parent={"type": "page_id", "page_id": page}, properties={"Name": {"title": {}}}, title=text)["id"]
        tool("update-a-database", database_id=made, title=text)
        tool("retrieve-a-database", database_id=made)
        tool("retrieve-a-page-property", page_id=page, property_id="title")
        tool("create-a-comment", parent={"page_id": page}, rich_text=text)
        assert tool("retrieve-a-comment", block_id=page)["results"][0]["rich_text"][0]["plain_text"] == "by the server"
    finally:
        watch.cancel()
        server.kill()
        server.wait()


@pytest.mark.judge
def test_answers_have_the_shape_that_notion_documents(simulator, ask):
    """Against the examples in the OpenAPI document of Notion's MCP server: their fields, with the same types."""
    path = npm("@notionhq/notion-mcp-server@1.8.1") / "@notionhq" / "notion-mcp-server" / "scripts" / "notion-openapi.json"
    document = json.loads(path.read_text())
    wiki = next(p["id"] for p in simulator.workspace.pages.values() if p["properties"].get("title", {}).get("title") and
                p["properties"]["title"]["title"][0]["plain_text"] == "Wiki")
    comment = ask("POST", "comments", parent={"page_id": wiki}, rich_text=[{"text": {"content": "x"}}])
    made = ask("POST", "databases", parent={"type": "page_id", "page_id": wiki}, properties={"Name": {"title": {}}}, title=[{"text": {"content": "T"}}])
    for where, answer in ((("get", "/v1/users/me"), ask("GET", "users/me")), (("post", "/v1/comments"), comment),
                          (("get", "/v1/comments"), ask("GET", f"comments?block_id={wiki}")), (("post", "/v1/databases"), made),
                          (("get", "/v1/databases/{database_id}"), ask("GET", f"databases/{database(simulator, 'CRM')['id']}"))):
        examples = document["paths"][where[1]][where[0]]["responses"]["200"]["content"]["application/json"]["examples"]
        assert differences(first(examples), answer) == [], where


def first(examples):
    """The first example; one of them has a brace too many."""
    return json.JSONDecoder().raw_decode(next(iter(examples.values()))["value"])[0]


def differences(example, answer, at=""):
    """Fields of the example that the answer lacks, or has with another type. What somebody may name is not compared."""
    if example is None or answer is None or at.endswith((".properties", ".owner", ".icon", ".cover", ".comment")):
        return []
    if isinstance(example, dict):
        if not isinstance(answer, dict):
            return [at]
        missing = [f"{at}.{key}" for key in example if key not in answer]
        return missing + [d for key in example if key in answer for d in differences(example[key], answer[key], f"{at}.{key}")]
    if isinstance(example, list):
        return [d for one in answer[:1] for d in differences(example[0], one, f"{at}[]")] if example and isinstance(answer, list) else []
    return [] if type(example) is type(answer) else [at]
