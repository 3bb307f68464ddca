from __future__ import annotations

import csv
import errno
import io
import json
import re

import pytest

from mirage.bench.services.clock import Clock
from mirage.bench.services.notion import NotionSimulator
from mirage.bench.services.notion.seed import NOW, block, title
from mirage.bench.services.notion.values import rich, text
from mirage.mounts.notion.markdown import blocks_markdown, rich_markdown
from mirage.mounts.notion.tree import Notion, dashed
from mirage.mounts.notion.values import as_text
from mirage.vfs.registry import ProviderError
from mirage.vfs.registry import make_mount as mount_by_name
from mirage.vfs.search import Query
from mirage.vfs.service import Retry
from tests.mounts.contract import MountContract, everything, raises
from tests.mounts.honesty import check_honest
from tests.mounts.notion_support import make_mount, make_terminal, named, paths_called

ID = r"__[0-9a-f]{32}"


@pytest.fixture(scope="module")
def small():
    with NotionSimulator(rows=3) as simulator:
        yield simulator


@pytest.fixture
def simulator():
    with NotionSimulator(rows=12) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def large():
    with NotionSimulator(rows=2000) as simulator:
        yield simulator


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, small):
        small.heal()
        small.fault("status", "/v1/search", times=1, status=429, seconds=0.02)
        small.fault("status", "/children", times=2, status=500)
        small.fault("status", "/query", times=1, status=503)
        small.fault("reset", "/children", times=2)
        small.fault("truncate", "/v1/", times=3)
        small.fault("short", "/v1/", times=2)
        mount = make_mount(small, ttl=600.0)
        mount.client.retry = Retry(tries=12, base=0.01, most=1.0)
        yield mount
        small.heal()


# ---- the tree

def test_names(small):
    mount = make_mount(small)
    names = [e.name for e in mount.list("/")]
    assert all(re.search(ID + "$", name) for name in names)
    assert [n.rpartition("__")[0] for n in names] == ["Campaigns", "How to write here", "Log of the Abisko test", "Meeting notes",
                                                      "Operations", "Q3_Q4 plan", "Sales", "Shared from the board", "Wiki"]
    odd = [e.name.rpartition("__")[0] for e in mount.list(named(mount, "/Q3_Q4 plan"))]
    assert sorted(odd) == sorted(["Notes", "Notes", "Notes__2", "", "", "Two_lines", "notes", "untitled", "untitled", "x" * 120, "天気予報 ☔"])
    assert [re.sub(ID, "", e.name) for e in mount.list(named(mount, "/Wiki"))] == ["Apollo", "Borealis", "Büro & Personal", "Engineering",
                                                                                  "page.json", "page.md"]
    assert [e.name for e in mount.list(named(mount, "/Campaigns"))] == ["database.json", "rows", "rows.csv", "rows.jsonl"]
    row = f"{named(mount, '/Sales/CRM')}/rows"
    assert [e.name for e in mount.list(f"{row}/{mount.list(row)[0].name}")] == ["page.json", "page.md"]


def test_a_page_inside_a_column_is_below_its_page(small):
    mount = make_mount(small)
    path = named(mount, "/Wiki/Büro & Personal/Reisekosten (in einer Spalte)")
    assert b"Second class" in mount.read(f"{path}/page.md")
    fresh = make_mount(small)
    assert fresh.stat(path).is_dir                           # found by its name alone
    assert [re.sub(ID, "", e.name) for e in fresh.list(path.rpartition("/")[0])] == ["Reisekosten (in einer Spalte)", "page.json", "page.md"]


def test_page_json_has_all_blocks_with_what_is_inside(small):
    mount = make_mount(small)
    page = json.loads(mount.read(f"{named(mount, '/Log of the Abisko test')}/page.json"))
    assert page["object"] == "page" and page["parent"] == {"type": "workspace", "workspace": True}
    assert len(page["blocks"]) == 300 and page["blocks"][299]["paragraph"]["rich_text"][0]["plain_text"].startswith("24:55")
    page = json.loads(mount.read(f"{named(mount, '/How to write here')}/page.json"))
    outer = next(b for b in page["blocks"] if b["type"] == "bulleted_list_item")
    inner = outer["children"][0]
    assert inner["bulleted_list_item"]["rich_text"][0]["plain_text"] == "one point one"
    assert inner["children"][0]["paragraph"]["rich_text"][0]["plain_text"] == "deep"


def test_rows(small):
    mount = make_mount(small)
    table = named(mount, "/Sales/CRM")
    rows = [json.loads(line) for line in mount.read(f"{table}/rows.jsonl").decode().splitlines()]
    assert len(rows) == 12 and rows[0]["properties"]["Name"]["title"][0]["plain_text"] == "Ingrid Solheim"
    lines = list(csv.DictReader(io.StringIO(mount.read(f"{table}/rows.csv").decode())))
    assert [line["Name"] for line in lines] == [row["properties"]["Name"]["title"][0]["plain_text"] for row in rows]
    assert lines[6]["Value"] == "412.0" and lines[6]["Stage"] == "" and lines[0]["id"] == rows[0]["id"]
    assert json.loads(mount.read(f"{table}/database.json"))["properties"]["Value"]["number"] == {"format": "euro"}
    row = json.loads(mount.read(f"{table}/rows/Ingrid Solheim__{rows[0]['id'].replace('-', '')}/page.json"))
    assert row["properties"] == rows[0]["properties"] and row["blocks"][0]["type"] == "paragraph"


def test_a_wrong_name_is_no_name(small):
    mount = make_mount(small)
    wiki, table = named(mount, "/Wiki"), named(mount, "/Sales/CRM")
    engineering = named(mount, "/Wiki/Engineering")
    row = mount.list(f"{table}/rows")[0].name
    hidden = next(iter(small.workspace.hidden)).replace("-", "")
    gone = next(p["id"] for p in small.workspace.pages.values() if p["archived"]).replace("-", "")
    for path in (f"/Wikis{wiki[5:]}", "/Wiki", "/Wiki__" + "0" * 32, "/Wiki__x", f"/{engineering.rpartition('/')[2]}", f"/{row}",
                 f"{wiki}/{row}", f"{wiki}/rows", f"{wiki}/database.json", f"{table}/page.json", f"{table}{wiki}", f"{table}/rows{wiki}",
                 f"{wiki}{wiki}", f"/Board only__{hidden}", f"/Old draft__{gone}", f"{wiki}/page.txt", f"/{table.rpartition('/')[2]}"):
        raises(errno.ENOENT, mount.stat, path)
        raises(errno.ENOENT, make_mount(small).stat, path)
    raises(errno.ENOTDIR, mount.stat, f"{wiki}/page.json/x")


def test_roots(small):
    full = make_mount(small)
    wiki, table = named(full, "/Wiki"), named(full, "/Sales/CRM")
    small.clear_log()
    mount = make_mount(small, roots=f"{wiki[-32:]}, {table[-32:]}")
    assert [e.name for e in mount.list("/")] == [table.rpartition("/")[2], wiki[1:]]
    assert small.calls("search") == 0 and len(small.log) <= 4
    assert mount.read(f"{wiki}/page.md") == full.read(f"{wiki}/page.md")
    raises(errno.ENOENT, mount.stat, named(full, "/Sales"))


# ---- text

def test_markdown_of_every_kind_of_block(small):
    mount = make_mount(small)
    found = mount.read(f"{named(mount, '/How to write here')}/page.md").decode()
    assert found.startswith("# How to write here\n\n## Formatting\n\n**bold** and *italic* and ~~gone~~ and `code()` and "
                            "[a link](https://norrsken.example/a%20b) and $E = mc^2$@Jonas Weiß\n\n")
    for part in ("\n- one\n  - one point one\n\n    deep\n- two\n1. first\n   1. inner\n   2. inner two\n2. second\n- [x] done\n- [ ] open\n",
                 "\n- Click me\n\n  hidden\n  lines\n\n> To be\n> or not\n>\n> a child of the quote\n\n> ⚠️ Careful with the mast!\n\n",
                 "\n````python\nprint('```')\nx = 1\n````\n\nan example\n\n$$\nv = \\frac{s}{t}\n$$\n\n---\n\n",
                 "\n| Sensor | Drift |\n| --- | --- |\n| ultra\\|sonic | **0.1** |\n\n![The mast](https://norrsken.example/mast.png)\n\n"
                 "[data.csv](https://norrsken.example/data.csv)\n\n<https://weather.example/>\n\nsynced text\n\n<https://www.notion.so/"):
        assert part in found, part
    wiki = mount.read(f"{named(mount, '/Wiki')}/page.md").decode()
    assert f"[Engineering]({named(mount, '/Wiki/Engineering').rpartition('/')[2]}/page.md)" in wiki
    row = f"{named(mount, '/Campaigns')}/rows"
    text_of = mount.read(f"{row}/{mount.list(row)[1].name}/page.md").decode()
    assert re.search(r"\n- \*\*Locality\*\*: (Local|National|International)\n", text_of) and "\n- **Engagement rate**: " in text_of


def test_text_that_would_be_markup():
    assert rich_markdown([text(" a ", bold=True), text("x]y", "https://a.example/(1)"), text("a`b", code=True)]) \
        == " **a** [x\\]y](https://a.example/%281%29)``a`b``"
    assert blocks_markdown([block("paragraph", ""), {"type": "table", "table": {}}, {"type": "ai_block", "ai_block": {}},
                            {"type": "unsupported", "unsupported": {}}]) == "\n\n[table]\n\n[ai_block]"


def test_values_as_text():
    for value, wanted in (({"type": "number", "number": 0}, "0"), ({"type": "checkbox", "checkbox": False}, "false"),
                          ({"type": "date", "date": {"start": "2026-01-01", "end": "2026-01-02"}}, "2026-01-01/2026-01-02"),
                          ({"type": "multi_select", "multi_select": [{"name": "a"}, {"name": "b"}]}, "a, b"),
                          ({"type": "people", "people": [{"object": "user", "id": "1", "type": "person", "name": "Ø"}, {"id": "2"}]}, "Ø, 2"),
                          ({"type": "formula", "formula": {"type": "number", "number": 3}}, "3"), ({"type": "select", "select": None}, ""),
                          ({"type": "rollup", "rollup": {"type": "array", "array": [{"type": "title", "title": rich("x")}]}}, "x"),
                          ({"type": "files", "files": [{"name": "a.pdf", "type": "external", "external": {"url": "u"}}]}, "u"),
                          ({"type": "unique_id", "unique_id": {"prefix": "T", "number": 4}}, "T-4"), ({"type": "relation", "relation": [{"id": "9"}]}, "9")):
        assert as_text(value) == wanted, value


# ---- cost and freshness

def test_calls_are_as_few_as_can_be(large):
    with make_terminal(large) as terminal:
        large.clear_log()
        terminal.run("echo hi; ls /; cat /VFS.md; notion --help; notion post-page --help")
        assert large.log == []
        table = f"/notion/Campaigns__{next(d['id'] for d in large.workspace.databases.values() if d['title'][0]['plain_text'] == 'Campaigns').replace('-', '')}"
        assert terminal.run(f"head -n 5 {table}/rows.jsonl | wc -l").stdout == "5\n"
        assert paths_called(large) == ["GET pages", "GET databases", "POST databases query"]
        large.clear_log()
        assert terminal.run(f"head -n 5 {table}/rows.jsonl | wc -l").stdout == "5\n" and large.log == []
        assert terminal.run(f"wc -l < {table}/rows.csv").stdout == "2001\n"
        assert paths_called(large) == ["POST databases query"] * 19
        large.clear_log()
        result = terminal.run(f"""jq -r '.properties | select(.["Engagement rate"].number == 15 and (.["Start date"].date.start | . > "2015" and . < "2024"))
            | [.["Start date"].date.start, .Locality.select.name] | @tsv' {table}/rows.jsonl; ls {table}/rows | wc -l""")
        assert result.stdout == "2017-05-29\tNational\n2019-11-04\tNational\n2022-02-14\tNational\n2000\n"
        assert large.log == []


def test_a_path_costs_no_listing(simulator):
    known = make_mount(simulator)
    path = named(known, "/Wiki/Engineering/Firmware")
    with make_terminal(simulator) as terminal:
        simulator.clear_log()
        assert "make flash" in terminal.run(f"cat '/notion{path}/page.md'").stdout
        assert paths_called(simulator) == ["GET pages"] * 3 + ["GET blocks children"]    # depth is 4
        simulator.clear_log()
        terminal.run(f"cat '/notion{path}/page.md' '/notion{path}/page.json'; ls '/notion{path}'")
        assert simulator.log == []
    with make_terminal(simulator, make_mount(simulator, ttl=0.3)) as terminal:
        terminal.run(f"cat '/notion{path}/page.md'; sleep 0.4")
        simulator.clear_log()
        terminal.run(f"cat '/notion{path}/page.md'")
        assert paths_called(simulator) == ["GET pages"] * 3  # unchanged: blocks are not asked for


def test_the_list_of_everything_is_asked_for_from_the_newest_edit_on():
    with NotionSimulator(rows=250, clock=Clock(NOW)) as simulator:
        mount = make_mount(simulator)
        with make_terminal(simulator, mount) as terminal:
            count = terminal.run("find /notion -name page.md | wc -l").stdout
            assert simulator.calls("/v1/search") == 4 and simulator.calls("/children") == 0
        space = simulator.workspace
        space.clock.advance(90)
        space.add_page({"type": "page_id", "page_id": dashed(named(mount, "/Wiki")[-32:])}, title("New by others"))
        simulator.clear_log()
        mount.store.ttl = 0.0
        assert len(mount.content.index()) == int(count) + 1 + len(space.databases)
        assert simulator.calls() == simulator.calls("/v1/search") == 1


def test_blocks_that_others_change_show_after_the_ttl():
    with NotionSimulator(rows=3, clock=Clock(NOW)) as simulator:
        mount = make_mount(simulator, ttl=0.0)
        path = named(mount, "/Wiki/Engineering/Radio")
        assert b"868 MHz" in mount.read(f"{path}/page.md")
        simulator.clock.advance(60)
        page = simulator.workspace.page(path[-32:])
        simulator.workspace.append(page["id"], [block("paragraph", "A new filter.")])
        assert mount.read(f"{path}/page.md").endswith(b"A new filter.\n")


def test_many_pages_without_a_list_make_one_listing(simulator):
    table = named(make_mount(simulator), "/Campaigns")
    with make_terminal(simulator) as terminal:
        simulator.clear_log()
        terminal.run(f"find /notion{table} -type f")
        assert simulator.calls("/children") <= 10 and simulator.calls("/v1/search") == 1


# ---- what an agent types

def test_a_date_is_looked_up_in_a_table_and_not_in_the_whole_mount(simulator):
    policy = ("rules:\n  - {effect: exec, command: [grep, rg, find, cat], operand: {mount_root: true}, action: deny, "
              "reason: name a directory or file}\n")
    with make_terminal(simulator, policy=policy) as terminal:
        simulator.clear_log()
        result = terminal.run('grep -rn "2017-05-29" /notion /workspace')
        assert result.exit_code == 126 and "mirage: denied: name a directory or file" in result.stderr and simulator.log == []
        assert terminal.run("find /notion | head -100").stdout == ""
        result = terminal.run('grep -h "2017-05-29" /notion/Campaigns__*/rows.csv | cut -d, -f3,5,8')
        assert result.stdout == "2017-05-29,National,15.0\n" and result.exit_code == 0
        result = terminal.run("""jq -rs 'map(.properties | {start: .["Start date"].date.start, where: .Locality.select.name,
            rate: .["Engagement rate"].number} | select(.start >= "2015" and .start < "2024")) | max_by(.rate).rate as $top
            | .[] | select(.rate == $top) | "\\(.start) \\(.where)"' /notion/Campaigns__*/rows.jsonl""")
        assert result.stdout.splitlines() == ["2017-05-29 National", "2019-11-04 National", "2022-02-14 International"], result
        result = terminal.run("notion post-database-query --database_id /notion/Campaigns__* --page_size 3 --sorts "
                              "'[{\"property\": \"Engagement rate\", \"direction\": \"descending\"}]' | jq '.results|length'")
        assert result.stdout == "3\n"


# ---- failures

@pytest.mark.parametrize(("fault", "number"), [
    ({"kind": "status", "status": 429, "seconds": 30.0}, errno.EAGAIN), ({"kind": "status", "status": 500}, errno.EIO),
    ({"kind": "status", "status": 403}, errno.EACCES), ({"kind": "status", "status": 401}, errno.EACCES),
    ({"kind": "status", "status": 409}, errno.EEXIST), ({"kind": "reset"}, errno.EIO), ({"kind": "truncate"}, errno.EIO),
    ({"kind": "short"}, errno.EIO)])
def test_what_does_not_heal_is_an_errno(small, fault, number):
    mount = make_mount(small)
    path = named(mount, "/How to write here")
    inner = next(b["id"] for b in small.workspace.blocks.values() if b["type"] == "quote" and small.workspace.children.get(b["id"]))
    with make_terminal(small, mount) as terminal:
        small.fault(match=f"{inner}/children", **fault)
        result = terminal.run(f"cat '/notion{path}/page.json'")
        assert result.stdout == "" and result.exit_code == 1 and "mirage: notion: " in result.stderr
        with pytest.raises(OSError) as caught:
            terminal.fs.read(f"/notion{path}/page.json")
        assert caught.value.errno == number and not terminal.machine.errors
        small.heal()
        assert terminal.run(f"grep -c 'child of the quote' '/notion{path}/page.md'").stdout == "1\n"


def test_rows_are_whole_or_an_error(simulator):
    for _ in range(200):
        simulator.workspace.create_page({"parent": {"database_id": _table(simulator)}, "properties": {}})
    mount = make_mount(simulator)
    path = named(mount, "/Sales/CRM")
    with make_terminal(simulator, mount) as terminal:
        terminal.run(f"head -1 /notion{path}/rows.jsonl")
        simulator.fault("status", "/query", status=500)
        result = terminal.run(f"cat /notion{path}/rows.jsonl > all; echo $?; tail -1 /notion{path}/rows.csv")
        assert "Input/output error" in result.stderr and "1\n" in result.stdout
        simulator.heal()
        assert terminal.run(f"wc -l < /notion{path}/rows.jsonl").stdout == "212\n"


def _table(simulator):
    return next(d["id"] for d in simulator.workspace.databases.values() if d["title"][0]["plain_text"] == "CRM")


def test_the_limit_of_three_requests_a_second_is_kept():
    with NotionSimulator(rows=3, rate=20.0) as simulator:
        mount = make_mount(simulator, rate=18.0)
        assert len(everything(mount)) > 50
        mount.read(f"{named(mount, '/How to write here')}/page.json")
        assert all(entry.status != 429 for entry in simulator.log)
        hasty = make_mount(simulator)
        hasty.client.retry = Retry(tries=1)
        with pytest.raises(OSError):
            for _ in range(60):
                hasty.content.client.send("GET", "/v1/users/me")
        assert any(entry.status == 429 for entry in simulator.log)


def test_tokens_show_nowhere(small):
    mount = make_mount(small, "ntn_CANARY")
    with pytest.raises(PermissionError) as caught:
        mount.list("/")
    assert caught.value.note == "notion: API token is invalid. (401)"
    assert "CANARY" not in f"{caught.value!r} {mount!r} {mount.client!r} {mount.service!r}"


def test_options_are_checked():
    for options in ({}, {"token": "env:A", "search": "fast"}, {"token": "env:A", "roots": "Wiki"}, {"token": "ntn_hunter2"},
                    {"token": "env:A", "colour": "red"}):
        with pytest.raises((ProviderError, ValueError)) as caught:
            mount_by_name("notion", options)
        assert "hunter2" not in str(caught.value)
    assert isinstance(mount_by_name("notion", {"token": "env:A", "rate": "1"}), Notion)


# ---- search

@pytest.fixture
def compact():
    """Without the long pages: every pattern reads everything."""
    with NotionSimulator(rows=3) as simulator:
        space = simulator.workspace
        todo = [p["id"] for p in space.pages.values() if p["parent"]["type"] == "workspace" and
                p["properties"]["title"]["title"][0]["plain_text"] in ("Log of the Abisko test", "Meeting notes", "Operations")]
        while todo:
            space.hidden.add(todo[-1])
            todo += space.children.get(todo.pop(), [])
        yield simulator


def test_search_is_honest(compact):
    with make_terminal(compact, make_mount(compact, bound=0, cache=30_000, ttl=600.0)) as terminal:
        report = check_honest(terminal, "/notion", count=24)
        assert report.pushed > 15 and report.announced > 5, report
    with make_terminal(compact, make_mount(compact, ttl=600.0)) as terminal:
        report = check_honest(terminal, "/notion", exact=True, count=200, options="--include='page.md'")
        assert report.pushed == 0 and report.tried > 150


def test_what_is_not_read_is_counted(simulator):
    mount = make_mount(simulator, bound=10)
    with make_terminal(simulator, mount) as terminal:
        simulator.clear_log()
        result = terminal.run("grep -rl --include='page.md' Abisko /notion")
        assert result.stdout.count("\n") >= 1 and "/Log of the Abisko test__" in result.stdout and result.usage.searches == 1
        found = re.fullmatch(r"grep: /notion: searched by the service in titles only; (\d+) items not read \(--exact reads them\)\n", result.stderr)
        assert found and int(found.group(1)) > 20
        exact = terminal.run("grep -rl --exact --include='page.md' Abisko /notion")
        assert set(result.stdout.splitlines()) < set(exact.stdout.splitlines()) and exact.stderr == ""
        again = terminal.run("grep -rl --include='page.md' Abisko /notion")       # now they are kept
        assert again.stdout == exact.stdout and again.stderr == ""
        assert terminal.run("grep -rl --include='*.csv' quartz /notion").stderr == ""
        assert mount.search("/", Query(["a.b"], mode="exact")) is None


def test_the_example_of_the_readme(simulator, tmp_path, monkeypatch):
    from pathlib import Path

    from mirage.config import load
    from mirage.mounts import notion
    found = re.search(r"```yaml\n(.*?)```", (Path(notion.__file__).parent / "README.md").read_text(), re.S).group(1)
    (tmp_path / "mirage.yaml").write_text(found.replace('"env:NOTION_TOKEN"', f'"env:NOTION_TOKEN", endpoint: "{simulator.address}", rate: 0'))
    monkeypatch.setenv("NOTION_TOKEN", "ntn_simulator")
    line = re.search(r"```sh\n(.*?)```", (Path(notion.__file__).parent / "README.md").read_text(), re.S).group(1)
    with load(tmp_path / "mirage.yaml").make_terminal() as terminal:
        result = terminal.run(line)
        assert result.exit_code == 0 and "- [ ] Order masts\n" in result.stdout, result
        result = terminal.run("grep -rl ntn_ / 2>/dev/null; env; notion get-self; cat /proc/*/environ")
        assert "ntn_" not in result.stdout + result.stderr
