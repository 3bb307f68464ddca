from __future__ import annotations

import errno
import json
import os
import re

import pytest

from mirage.bench.services.gdrive import DriveSimulator
from mirage.mounts.gdrive import office, texts
from mirage.mounts.gdrive.items import Item, names_of
from mirage.mounts.gdrive.mount import Drive
from mirage.vfs.registry import ProviderError, names
from mirage.vfs.registry import make_mount as mount_by_name
from mirage.vfs.search import Query
from mirage.vfs.service import Retry
from tests.mounts.contract import MountContract, everything, raises
from tests.mounts.gdrive_support import ODD, TOKEN, Token, make_mount, make_terminal, prune, tops, user_credentials

FINANCE = "/Finance/Budget 2026.gsheet"


@pytest.fixture(scope="module")
def small():
    with DriveSimulator(files=180) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def tiny():
    """Without what cannot be read, and with less of everything."""
    with DriveSimulator(files=0) as simulator:
        prune(simulator, "broken.pdf", "Invoices", "Borealis", "Office pool", "Notes", "Support")
        yield simulator


@pytest.fixture
def simulator():
    with DriveSimulator(files=180) as simulator:
        yield simulator


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, tiny):
        tiny.heal()
        tiny.fault("status", "/drive/v3/files", times=3, status=429, seconds=0.02)
        tiny.fault("status", "/v4/spreadsheets", times=1, status=500)
        tiny.fault("status", "/v1/", times=1, status=403, reason="userRateLimitExceeded")
        tiny.fault("reset", "/v1/documents", times=2)
        tiny.fault("truncate", "/drive/v3", times=3)
        tiny.fault("short", "/v4/spreadsheets", times=2)
        tiny.fault("short", "/drive/v3/files/", times=2)
        mount = make_mount(tiny)
        mount.client.retry = Retry(tries=12, base=0.01, most=1.0)
        yield mount
        tiny.heal()


# ---- names

def test_the_tree(small):
    mount = make_mount(small)
    assert [e.name for e in mount.list("/")] == [".shared", "Field data", "Films", "Finance", "HR", "Links", "Office pool", "Projects", "Support",
                                                 "todo.txt", "Übrigens: odd _ names"]
    assert [e.name for e in mount.list("/Finance")] == ["Budget 2026.gsheet", "Budget 2026.gsheet.json", "Invoices", "Ledger.gsheet",
                                                        "Ledger.gsheet.json", "Price list.xlsx", "Price list.xlsx.md"]
    assert [e.name for e in mount.list(FINANCE)] == ["Apollo.csv", "Ändringar & Q3_Q4.csv", "Empty.csv"]
    assert [e.name for e in mount.list("/Projects/Apollo")] == ["Apollo board meeting.gslide.json", "Apollo board meeting.md", "Field manual.gdoc.json",
        "Field manual.md", "Launch plan.gdoc.json", "Launch plan.md", "Notes", "README.md", "config.json", "sensor board.bin"]
    assert [e.name for e in mount.list("/.shared")] == ["Empty drive", "Sales _ Försäljning"] and mount.list("/.shared/Empty drive") == []
    assert "Offer Chiara Rossi.md" in [e.name for e in mount.list("/.shared/Sales _ Försäljning/Offers")]
    raises(errno.ENOENT, mount.stat, "/Budget 2024 (old).txt")
    raises(errno.ENOENT, mount.stat, "/Old stuff/inside.txt")


def test_hard_names(small):
    mount = make_mount(small)
    found = [e.name for e in mount.list(ODD)]
    plain = [n for n in found if "__" not in n]
    for name in ("Q3_Q4 drift.csv", "two_lines.txt", "Übersicht.txt", "it's \"quoted\" \\ $HOME.txt", "empty.txt", "Feedback.gform.json", "Mast.gdrawing.json"):
        assert name in plain
    assert sum(re.fullmatch(r"untitled__1[0-9a-f]{32}", n) is not None for n in found) == 2
    assert len([n for n in found if n.casefold().startswith("notes__")]) == 3 and "notes.txt" not in found
    plans = [n for n in found if n.startswith("Plan")]
    assert len(plans) == 3 and all("__" in n for n in plans)
    assert [mount.read(f"{ODD}/{n}") for n in plans if n.endswith(".md")] in ([b"Plan A\n", b"# Plan B\n"], [b"# Plan B\n", b"Plan A\n"])
    assert len([n for n in found if n.startswith("Twins__")]) == 2 and ".shared" in found
    longest = next(n for n in found if n.startswith("xxx"))
    assert longest.endswith(".txt") and len(longest) == 120


def test_ids_are_only_where_names_collide_and_on_all_that_do():
    def item(id, name, kind="text/plain"):
        return Item({"id": id, "name": name, "mimeType": kind})
    doc = "application/vnd.google-apps.document"
    assert list(names_of([item("1", "a.txt"), item("2", "b.txt"), item("1", "a.txt")])) == ["a.txt", "b.txt"]
    assert list(names_of([item("1", "a"), item("2", "A"), item("3", "a__1")])) == ["a__1", "A__2", "a__1__3"]
    assert list(names_of([item("1", "Plan", doc), item("2", "plan.MD"), item("3", "Plan.gdoc.json")])) \
        == ["Plan__1.gdoc.json", "Plan__1.md", "plan__2.MD", "Plan.gdoc__3.json"]
    assert list(names_of([item("1", ".shared")], [".shared"])) == [".shared__1"]
    shortcut = Item({"id": "1", "name": "x", "mimeType": "application/vnd.google-apps.shortcut", "shortcutDetails": {"targetId": "2", "targetMimeType": doc}})
    assert list(names_of([shortcut])) == ["x.gdoc.json", "x.md"]


def test_shortcuts_are_links(small):
    mount = make_mount(small)
    links = {e.name: mount.readlink(f"/Links/{e.name}") for e in mount.list("/Links") if e.stat.is_link}
    assert links["Apollo"] == "../Projects/Apollo" and links["Offers"] == "../.shared/Sales _ Försäljning/Offers"
    assert links["The budget.gsheet.json"] == "../Finance/Budget 2026.gsheet.json" and links["The budget.gsheet"] == "../Finance/Budget 2026.gsheet"
    assert re.fullmatch(r"\.\./\.linked/1[0-9a-f]{32}/Partner agreement\.md", links["Agreement.md"])
    with make_terminal(small) as terminal:
        result = terminal.run("cat /gd/Links/Agreement.md; head -1 /gd/Links/Apollo/README.md; head -1 '/gd/Links/The budget.gsheet/Apollo.csv'; cat /gd/Links/Gone")
        assert result.stdout == "# Partner agreement\n\nBoth partners like lingonberries.\n# Apollo\nItem,Planned,Spent,Left\n"
        assert "Gone: No such file or directory" in result.stderr


def test_links_of_a_mount_that_is_made_later(small):
    from mirage import Terminal
    from mirage.vfs.lazy import LazyLinkMount
    mount = LazyLinkMount(lambda counters: make_mount(small), ("read_many", "search", "describe"))
    with Terminal({"/gd": mount}) as terminal:
        assert terminal.run("readlink /gd/Links/Apollo; head -1 /gd/Links/Apollo/README.md").stdout == "../Projects/Apollo\n# Apollo\n"


def test_an_id_is_no_way_around_a_folder(small):
    """What is in the tree is not found below .linked, whatever its id."""
    mount = make_mount(small)
    for id in (tops(small, "Budget 2026"), tops(small, "Field manual"), tops(small, "Offers"), "root", small.store.root, "nothing",
               tops(small, "Sales / Försäljning"), tops(small, "inside.txt")):
        raises(errno.ENOENT, mount.stat, f"/.linked/{id}")
    policy = "rules:\n  - {path: '/gd/Finance/**', action: hide}\n"
    with make_terminal(small, policy=policy) as terminal:
        result = terminal.run("cat '/gd/Links/The budget.gsheet/Apollo.csv'; google-sheet list-sheets --spreadsheet_id '/gd/Finance/Budget 2026.gsheet.json'")
        assert result.stdout == "" and "No such file" in result.stderr


def test_root(simulator):
    for root in ("Projects/Apollo", f"id:{tops(simulator, 'Apollo')}"):
        mount = make_mount(simulator, root=root)
        names = [e.name for e in mount.list("/")]
        assert "Field manual.md" in names and ".shared" not in names
        raises(errno.ENOENT, mount.stat, "/.shared")
        raises(errno.ENOENT, mount.stat, f"/.linked/{tops(simulator, 'Partner agreement')}")
        assert mount.backend("/Notes")[1] == "/Projects/Apollo/Notes"
        assert mount.backend("/")[0] == make_mount(simulator).backend("/")[0]
    raises(errno.ENOENT, make_mount(simulator, root="Projects/None").list, "/")
    whole, team = make_mount(simulator), make_mount(simulator, root="Finance")
    from mirage import Terminal
    with Terminal({"/gd": whole, "/team": team}, policy="rules:\n  - {path: '/gd/Finance/**', action: hide}\n") as terminal:
        assert terminal.run("ls /team; cat '/team/Budget 2026.gsheet/Apollo.csv'").stdout == ""


# ---- formats

def test_a_spreadsheet(small):
    mount = make_mount(small)
    data = json.loads(mount.read(f"{FINANCE}.json"))
    assert data["properties"]["title"] == "Budget 2026" and [s["properties"]["title"] for s in data["sheets"]] == ["Apollo", "Ändringar & Q3/Q4", "Empty"]
    total = data["sheets"][0]["data"][0]["rowData"][6]["values"]
    assert total[1]["userEnteredValue"] == {"formulaValue": "=SUM(B2:B6)"} and total[1]["effectiveValue"] == {"numberValue": 220000.5}
    assert mount.read(f"{FINANCE}/Apollo.csv").decode().splitlines()[:2] == ["Item,Planned,Spent,Left", 'Staff,"€128,000.00","€47,360.00",80640']
    assert mount.read(f"{FINANCE}/Ändringar & Q3_Q4.csv").decode() == 'Date,What\n2026-03-03,"certificate, ""urgent"""\n2026-09-28,"launch\nin Hamburg"\n'
    assert mount.read(f"{FINANCE}/Empty.csv") == b""
    lines = mount.read(f"{FINANCE}.json").decode().splitlines()
    assert sum('{"values"' in line for line in lines) == 10      # a row is a line


def test_grids_that_begin_late():
    sheet = {"data": [{"startRow": 1, "startColumn": 1, "rowData": [{"values": [{"formattedValue": "a"}, {}, {}]}, {}, {"values": [{}, {"formattedValue": "b,c"}]}, {}]}]}
    assert texts.tab_csv(sheet) == b',,\n,a,\n,,\n,,"b,c"\n'
    assert texts.tab_csv({}) == b"" and json.loads(texts.sheet_json({"sheets": [sheet, {}]})) == {"sheets": [sheet, {}]}


def test_a_document(small):
    mount = make_mount(small)
    text = mount.read("/Projects/Apollo/Field manual.md").decode()
    for part in ("# Field manual\n\nFor the ***Apollo*** station\n\n# Setting up\n\n1. Dig a hole\n   1. two spades deep\n2. Raise the mast *carefully*\n\n## Tools\n",
                 "- spade\n  - 13 mm spanner\n", "**Never** ~~in a storm~~ alone. Type `make flash` first; see [the drawings](https://wiki.norrsken.example/masts).",
                 "| Part | Torque \\| Nm |\n|---|---|\n| mast | 25 |\n| sensor head | 4 |", "Ask Søren Dahl before noon.\nHe knows.\n\n---\n\n### 風速計 🌬\n"):
        assert part in text
    resource = json.loads(mount.read("/Projects/Apollo/Field manual.gdoc.json"))
    assert resource["title"] == "Field manual" and "tabs" not in resource and resource["body"]["content"][1]["paragraph"]["paragraphStyle"]["namedStyleType"] == "TITLE"
    tabs = mount.read("/Projects/Apollo/Launch plan.md").decode()
    assert tabs.endswith("<!-- tab: Menü -->\n\nGravlax and *Zimtschnecken*\n")
    assert len(json.loads(mount.read("/Projects/Apollo/Launch plan.gdoc.json"))["tabs"]) == 2


def test_documents_with_everything():
    part = {"inlineObjects": {"o": {"inlineObjectProperties": {"embeddedObject": {"title": "Map"}}}},
            "footnotes": {"f": {"content": [{"paragraph": {"elements": [{"textRun": {"content": "see page 3\n"}}]}}]}},
            "body": {"content": [{"sectionBreak": {}}, {"paragraph": {"elements": [
                {"textRun": {"content": "A ", "textStyle": {}}}, {"inlineObjectElement": {"inlineObjectId": "o"}}, {"footnoteReference": {"footnoteId": "f"}},
                {"richLink": {"richLinkProperties": {"title": "Sheet", "uri": "https://x.example"}}}, {"pageBreak": {}},
                {"dateElement": {"dateElementProperties": {"displayText": "30 Sep"}}}, {"textRun": {"content": " \n", "textStyle": {"bold": True}}}]}},
                {"paragraph": {"elements": []}}, {"tableOfContents": {}}]}}
    assert texts.document_text(part) == "A ![Map]()[^1][Sheet](https://x.example)30 Sep\n\n[^1]: see page 3\n"
    assert texts.document_text({}) == "\n"


def test_numbers_of_the_service_are_not_believed():
    deep = {"elements": [{"textRun": {"content": "x"}}], "bullet": {"nestingLevel": 10**12}}
    assert texts.document_text({"body": {"content": [{"paragraph": deep}]}}) == "  " * 20 + "- x\n"
    head = {"elements": [{"textRun": {"content": "x"}}], "paragraphStyle": {"namedStyleType": "HEADING_999999999999"}}
    assert texts.document_text({"body": {"content": [{"paragraph": head}]}}) == "###### x\n"
    with pytest.raises(ValueError):
        texts.tab_csv({"data": [{"startRow": 10**12, "rowData": [{"values": [{"formattedValue": "x"}]}]}]})


def test_a_resource_of_another_shape_is_an_error(small):
    mount = make_mount(small)
    mount.list("/Projects/Apollo")
    mount.client.call = lambda method, **parameters: {"body": {"content": [{"paragraph": {"elements": 7}}]}}
    error = raises(errno.EIO, mount.read, "/Projects/Apollo/Field manual.md")
    assert error.note == "gdrive: Field manual: the service's answer has another shape than it should (TypeError)"
    assert json.loads(mount.read("/Projects/Apollo/Field manual.gdoc.json"))


def test_slides(small):
    text = make_mount(small).read("/Projects/Apollo/Apollo board meeting.md").decode()
    assert text.startswith("# Apollo board meeting\n\n## Slide 1: Apollo: where we are\n\n- On time\n- Within the budget\n- Kickoff\n\n> Say thank you to Søren.\n\n## Slide 2")


def test_office_files(small):
    pytest.importorskip("docx"), pytest.importorskip("openpyxl"), pytest.importorskip("pptx"), pytest.importorskip("pypdf")
    mount = make_mount(small)
    assert mount.read("/HR/Contract Søren Dahl.docx.md").decode() == (
        "# Employment contract\n\nbetween Norrsken Instruments and **Søren Dahl**.\n\n# Duties\n\n- Measure the weather\n- Answer customers\n\n"
        "| Year | Salary |\n|---|---|\n| 2026 | EUR 54,000 |\n")
    assert mount.read("/HR/Welcome.pptx.md").decode() == "## Slide 1: Välkommen!\n\n- Your first day\n- Fika at 3\n\n## Slide 2: Keys\n\n- Ask Elena for the lab\n"
    assert mount.read("/Finance/Price list.xlsx.md").decode().startswith("## Prices\n\n| Product | EUR |\n|---|---|\n| Apollo | 2490 |\n")
    folder = mount.list("/Finance/Invoices/2025-10")
    pdf = next(e.name for e in folder if e.name.endswith(".pdf.md"))
    assert "Due in 30 days." in mount.read(f"/Finance/Invoices/2025-10/{pdf}").decode()


def test_broken_office_files_are_errors(simulator):
    pytest.importorskip("pypdf")
    with make_terminal(simulator) as terminal:
        result = terminal.run(f"cat '/gd{ODD}/broken.pdf.md'; cat '/gd{ODD}/broken.pdf' | head -c 8")
        assert result.stdout == "%PDF-1.4" and "mirage: gdrive: broken.pdf: no text can be read from the file" in result.stderr
    for kind in office.KINDS:
        with pytest.raises(ValueError):
            office.to_markdown(kind, b"nothing")


def test_without_the_libraries_there_are_no_texts(small, monkeypatch):
    from mirage.mounts.gdrive import items
    monkeypatch.setattr(items, "available", lambda kind: kind != "docx")
    found = [e.name for e in make_mount(small).list("/HR")]
    assert "Contract Søren Dahl.docx" in found and "Contract Søren Dahl.docx.md" not in found and "Welcome.pptx.md" in found


def test_a_small_file_of_huge_content_is_refused():
    import io
    import zipfile
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("xl/workbook.xml", "w", force_zip64=True) as file:
            for _ in range(260):
                file.write(bytes(1 << 20))
    with pytest.raises(ValueError, match="unpacks to more than"):
        office.to_markdown("xlsx", out.getvalue())


# ---- cost and freshness

def test_calls_are_as_few_as_can_be(simulator):
    with make_terminal(simulator) as terminal:
        simulator.clear_log()
        terminal.run("echo hi; ls /; cat /VFS.md; gdrive --help; google-sheet update-cells --help")
        assert simulator.log == []
        assert terminal.run("ls /gd").stdout.count("\n") == 10 and len(simulator.log) == 1
        terminal.run("ls -la /gd; stat /gd/HR; test -e /gd/none")
        assert len(simulator.log) == 1
        simulator.clear_log()
        assert terminal.run("cat /gd/Projects/Apollo/README.md | head -1").stdout == "# Apollo\n"
        assert len(simulator.log) == 3, simulator.log           # of depth 3, and the root was known: 2 folders and the file
        simulator.clear_log()
        terminal.run("cat /gd/Projects/Apollo/README.md; cat '/gd/Projects/Apollo/Field manual.md' '/gd/Projects/Apollo/Field manual.gdoc.json'")
        assert [e.path for e in simulator.log] == [f"/v1/documents/{tops(simulator, 'Field manual')}"]
        simulator.clear_log()
        terminal.run("cat '/gd/Finance/Ledger.gsheet/2026.csv' /gd/Finance/Ledger.gsheet.json; ls -l /gd/Finance/Ledger.gsheet")
        assert len(simulator.log) == 2, simulator.log           # the folder, and the spreadsheet
        simulator.clear_log()
        names = terminal.run("ls -lR '/gd/Field data'").stdout.count(".csv\n")
        folders = 1 + sum(f.resource["mimeType"].endswith("folder") for f in simulator.store.children(tops(simulator, "Field data")))
        assert names >= 20 and folders == 8 and simulator.calls("/drive/v3/files") <= 4     # a walk asks for several at once


def test_a_walk_asks_for_several_folders_at_once(simulator):
    mount, single = make_mount(simulator), make_mount(simulator)
    single.account._following = lambda id: []
    simulator.clear_log()
    expected = [path for path, _ in everything(single)]
    alone = simulator.calls("GET /drive/v3/files")
    simulator.clear_log()
    assert [path for path, _ in everything(mount)] == expected and simulator.calls("GET /drive/v3/files") < alone / 2
    mount = make_mount(simulator)
    mount.list("/")
    simulator.clear_log()
    for path in ("/Finance", "/Projects", "/Projects/Apollo", "/Projects/Apollo/Notes"):
        mount.list(path)
    assert len(simulator.log) == 4                           # going down is no walk


def test_a_walk_copes_with_folders_that_go_away_or_are_long(simulator):
    mount = make_mount(simulator)
    for path in ("/", "/Field data", "/Films"):
        mount.list(path)
    many = tops(simulator, "HR")
    for n in range(1100):
        simulator.store.add(many, f"{n:04}.txt", "text/plain", b"x")
    simulator.store.delete(tops(simulator, "Office pool"))
    simulator.clear_log()
    assert len(mount.list("/HR")) == 1114 and len(simulator.log) == 3      # a question in vain, and two pages
    raises(errno.ENOENT, mount.list, "/Office pool")
    assert [e.name for e in mount.list("/Support")] and simulator.calls() < 10


def test_long_folders_are_pages(simulator):
    folder = simulator.store.add("root", "Many", "application/vnd.google-apps.folder")
    for n in range(2100):
        simulator.store.add(folder, f"{n:04}.txt", "text/plain", b"x")
    mount = make_mount(simulator)
    mount.list("/")
    simulator.clear_log()
    assert len(mount.list("/Many")) == 2100 and len(simulator.log) == 3


def test_large_files_are_read_by_ranges(simulator):
    with make_terminal(simulator) as terminal:
        film = simulator.store.files[tops(simulator, "drone.mp4")].data
        terminal.run("ls /gd/Films")
        simulator.clear_log()
        assert terminal.run("tail -c 5 /gd/Films/drone.mp4 > t; head -c 5 /gd/Films/drone.mp4 > h; wc -c < /gd/Films/drone.mp4").stdout == f"{10 << 20}\n"
        assert terminal.fs.read("/workspace/t") == film[-5:] and terminal.fs.read("/workspace/h") == film[:5]
        assert sum(e.sent for e in simulator.log) < 2 << 20 and all(e.status == 206 for e in simulator.log)
        simulator.clear_log()
        assert terminal.run("md5sum < /gd/Films/drone.mp4").stdout.split()[0] == simulator.store.files[tops(simulator, "drone.mp4")].resource["md5Checksum"]

        assert len(simulator.log) == 2                       # the first part, and the rest
        terminal.run("cmp /gd/Films/drone.mp4 /gd/Films/drone.mp4; tail -c 100 /gd/Films/drone.mp4")
        assert len(simulator.log) == 2


def test_changes_by_others_show_after_the_ttl(simulator):
    mount = make_mount(simulator)
    before = mount.read("/todo.txt")
    simulator.store.update(tops(simulator, "todo.txt"), {}, b"nothing left\n", "text/plain", [], [])
    simulator.store.add("root", "new.txt", "text/plain", b"new\n")
    assert mount.read("/todo.txt") == before
    raises(errno.ENOENT, mount.stat, "/new.txt")
    mount.store.ttl = 0.0
    assert mount.read("/todo.txt") == b"nothing left\n" and mount.read("/new.txt") == b"new\n"
    simulator.clear_log()
    mount.read("/todo.txt")
    assert len(simulator.log) == 1                           # the folder; the content has its version


def test_a_file_that_changes_meanwhile_is_never_mixed(simulator):
    mount = make_mount(simulator)
    mount.list("/")
    simulator.store.update(tops(simulator, "todo.txt"), {}, b"longer than it was before\n" * 3, "text/plain", [], [])
    assert mount.read("/todo.txt") == b"longer than it was before\n" * 3
    film = tops(simulator, "drone.mp4")
    assert len(mount.read("/Films/drone.mp4", 0, 10)) == 10
    simulator.store.update(film, {}, os.urandom(1 << 20), "video/mp4", [], [])
    assert mount.read("/Films/drone.mp4", 5, 10) == simulator.store.files[film].data[5:15]


LINES = ["ls /gd", "ls /gd", "ls -l /gd/Finance", "cat /gd/todo.txt", "cat /gd/todo.txt", "cat /gd/nothing", "stat /gd/Films/drone.mp4", "head -c 5 /gd/Films/drone.mp4",
         "md5sum /gd/Films/drone.mp4", "ls '/gd/Finance/Budget 2026.gsheet'", "cat '/gd/Finance/Budget 2026.gsheet/Apollo.csv'", "cat '/gd/Finance/Budget 2026.gsheet.json'",
         "cat '/gd/Projects/Apollo/Field manual.md'", "ls -l /gd/Links", "cat /gd/Links/Agreement.md", "ls /gd/.shared", "ls '/gd/.shared/Sales _ Försäljning'", "find /gd/HR",
         "cat '/gd/HR/Contract Søren Dahl.docx.md'", "grep -rlw Gravlax /gd/Projects", "grep -rl ravla /gd/Projects/Apollo", "find /gd -name '*.csv'", "test -e /gd/x || echo no"]


def test_what_lines_cost_lies_within_what_was_told(simulator):
    with make_terminal(simulator, policy="default: allow") as terminal:
        for line in LINES:
            told = terminal.explain(line)
            usage = terminal.run(line).usage
            for name in ("calls", "bytes", "searches"):
                assert getattr(usage, name) in getattr(told, name), (line, name, getattr(usage, name), str(told))
        assert terminal.explain("ls /gd").calls.high == 0


def test_many_files_are_read_at_a_time(simulator):
    folder = simulator.store.add("root", "Many", "application/vnd.google-apps.folder")
    for n in range(100):
        simulator.store.add(folder, f"{n:03}.txt", "text/plain", b"number %d\n" % n)
    with make_terminal(simulator) as terminal:
        terminal.run("ls /gd/Many")
        simulator.fault("latency", seconds=0.05)
        result = terminal.run("grep -rh 'ber 9' /gd/Many")
        assert result.stdout.split() == [w for n in (9, *range(90, 100)) for w in ("number", str(n))]
        assert 100 <= result.usage.calls <= 102


# ---- failures

@pytest.mark.parametrize(("fault", "number"), [
    ({"kind": "status", "status": 429, "seconds": 30.0}, errno.EAGAIN), ({"kind": "status", "status": 500}, errno.EIO),
    ({"kind": "status", "status": 403}, errno.EACCES), ({"kind": "status", "status": 401}, errno.EACCES), ({"kind": "status", "status": 404}, errno.ENOENT),
    ({"kind": "reset"}, errno.EIO), ({"kind": "truncate"}, errno.EIO), ({"kind": "short"}, errno.EIO)])
def test_what_does_not_heal_is_an_errno(simulator, fault, number, capfd):
    with make_terminal(simulator) as terminal:
        terminal.run("ls /gd /gd/Films /gd/Projects/Apollo")
        simulator.fault(match="GET /", **fault)
        for line in ("cat /gd/todo.txt", "cat '/gd/Projects/Apollo/Field manual.md'", "ls '/gd/Office pool'"):
            result = terminal.run(line)
            assert result.stdout == "" and result.exit_code in (1, 2) and "mirage: gdrive: " in result.stderr, line
        with pytest.raises(OSError) as caught:
            terminal.fs.read("/gd/todo.txt")
        assert caught.value.errno == number and not terminal.machine.errors
        result = terminal.run("head -c 9999999 /gd/Films/drone.mp4 | tail -c 3")
        assert result.stdout == ""
        simulator.heal()
        assert terminal.run("cat /gd/todo.txt").stdout == "Buy sensors\nCall Kisho\n"
    assert capfd.readouterr() == ("", "")


def test_tokens_show_nowhere_and_are_renewed(simulator):
    mount = make_mount(simulator, "CANARY")
    with pytest.raises(PermissionError) as caught:
        mount.list("/")
    assert "CANARY" not in f"{caught.value!r} {caught.value.note} {mount!r} {mount.client!r} {mount.backend('/')}"
    token = Token("old")
    mount = Drive(token, endpoint=simulator.address, rate=0.0)
    raises(errno.EACCES, mount.list, "/")
    token.text = TOKEN
    assert mount.list("/")
    mount = Drive(credentials=user_credentials(simulator), endpoint=simulator.address, rate=0.0)
    assert mount.list("/")
    simulator.expire_tokens()
    assert mount.list("/HR")


def test_options_are_checked():
    for options in ({}, {"token": "env:A", "credentials": "env:B"}, {"token": "env:A", "search": "fast"}, {"token": "env:A", "tz": "Mars/Olympus"},
                    {"token": "ya29.hunter2"}, {"token": "env:A", "colour": "red"}):
        with pytest.raises((ProviderError, ValueError)) as caught:
            mount_by_name("gdrive", options)
        assert "hunter2" not in str(caught.value)
    assert "gdrive" in names() and "google" not in names()


# ---- search

WORDS = """Apollo Borealis budget Budget drift sensors sensor kelvin wiki quokka Gravlax Zimtschnecken lingonberries fjällräv Christmas Fika Keys lab Elena
Contract Duties weather customers Employment contract Salary Kisho Hagen strike invoice Invoice supplier Staff Travel certificate urgent launch Hamburg
Overtime Regulation Boston Bruins Jonas Priya Søren Łukasz Guesses Schedule SUM AVERAGE title values sheets formattedValue stringValue body content
paragraph TITLE textRun Decision Written project interval codename humidity Wind Hours Mean anemometer Battery percent battery storm Station station NI Subject
refund Refund From agreement partners Partner Plan Plan one two second first third capitals name dots quotes hour decomposed Field manual spade spanner mast Torque
head noon knows risks Risks Within thank you Offer stations lead offer won Pipeline Customer Stage Feedback Mast drawing form google spreadsheet webcam
bulletin zebra 42 2026 EUR 54 000 2490 11 30 风 風速計 Ändringar Übersicht Tromsø Bergen temperature time wind Mueller Müller Söhne catering hosting freight
segments Nordlys Café Zentral CloudHarbor Papeterie office supplies I 1001 reliable owner responsible numbers decide tomorrow doubts wait autumn
Approved customer measured Good work board money again coffee press release Manual translations pilot migration tokens log files serious audit
centre Trieste Halle Skye University Harbour pilots contradiction harvest anywhere fair stickers desk party quagga""".split()


@pytest.fixture(scope="module")
def searched():
    with DriveSimulator(files=180, index_lag=100) as simulator:
        prune(simulator, "broken.pdf", "drone.mp4")
        store = simulator.store
        new = store.add(tops(simulator, "HR"), "new.txt", "text/plain", b"a zebra\n", "a zebra")
        store._touch(store.files[new], simulator.now() - 20, True)
        other = make_mount(simulator)
        found = {path: other.read(path).decode("utf-8", "replace") for path, stat in everything(other) if stat.is_file}
        words = {path: set(re.findall(r"\w+", text)) for path, text in found.items()}
        yield simulator, make_mount(simulator), words


def test_no_whole_word_is_missed(searched):
    simulator, mount, found = searched
    folded = {path: {w.casefold() for w in words} for path, words in found.items()}
    asked = 0
    for number, word in enumerate(WORDS):
        having = folded if number % 3 == 0 else found
        mine = word.casefold() if number % 3 == 0 else word
        for top in ("/", "/Finance", "/Projects/Apollo", "/.shared", "/.shared/Sales _ Försäljning/Offers") if number % 20 == 0 else ("/",):
            candidates = mount.search(top, Query([word], True, number % 3 == 0))
            if candidates is None:
                continue
            asked += 1
            assert candidates.complete and not candidates.note
            inside = top.rstrip("/") + "/"
            wanted = {p for p, words in having.items() if mine in words and p.startswith(inside)}
            assert wanted <= set(candidates.paths), (word, top, wanted - set(candidates.paths))
            assert set(candidates.paths) <= set(found) and all(p.startswith(inside) for p in candidates.paths)
    assert asked > 120 and len(WORDS) >= 200, (asked, len(WORDS))


def test_grep_gives_the_same_with_and_without_the_service(searched):
    simulator, _, _ = searched
    with make_terminal(simulator) as terminal:
        for word in ("lingonberries", "zebra", "Zimtschnecken", "spanner", "Kisho"):
            service = terminal.run(f"grep -rwn '{word}' /gd --include='*.md' --include='*.csv' --include='*.txt'")
            exact = terminal.run(f"grep --exact -rwn '{word}' /gd --include='*.md' --include='*.csv' --include='*.txt'")
            assert service.stdout == exact.stdout and service.exit_code == exact.exit_code, word
            assert service.stderr == exact.stderr == "" and service.usage.searches == 1
        simulator.clear_log()
        terminal.run("grep -rlw quokka /gd --include='*.md'")
        assert simulator.calls("/v4/") == 0 and simulator.calls("/v1/") <= 1


@pytest.mark.parametrize(("word", "include", "count"), [("Total", "Apollo.csv", 1), ("SUM", "Budget*.gsheet.json", 1), ("AVERAGE", "Station*", 2), ("Kisho", "*01 Kisho*.md", 5),
                                                        ("spanner", "Field manual.*", 2), ("fjällräv", "con*", 2), ("one", "Same__*", 1)])
def test_names_that_are_wanted_are_found(searched, word, include, count):
    simulator, _, _ = searched
    with make_terminal(simulator) as terminal:
        service = terminal.run(f"grep -rlw '{word}' /gd --include='{include}'")
        exact = terminal.run(f"grep --exact -rlw '{word}' /gd --include='{include}'")
        assert service.stdout == exact.stdout and service.stderr == "" and service.stdout.count("\n") >= count


def test_other_patterns_follow_the_mode(searched):
    simulator, _, _ = searched
    with make_terminal(simulator, make_mount(simulator, bound=3)) as terminal:
        result = terminal.run("grep -rl Gravla /gd --include='*.md'")
        assert result.usage.searches == 1 and result.exit_code == 1
        assert re.fullmatch(r"grep: /gd: searched by the service for whole words; \d+ items not read \(--exact reads them\)\n", result.stderr)
        result = terminal.run("grep -rlw Gravlax /gd --include='*.md'")
        assert result.stdout == "/gd/Projects/Apollo/Launch plan.md\n" and result.stderr == ""
        result = terminal.run("grep -rlw Gravlax /gd")
        assert result.stdout.count("\n") == 2 and "items not read" in result.stderr
    with make_terminal(simulator, make_mount(simulator, search="exact")) as terminal:
        assert terminal.run("grep -rlw Gravlax /gd/Projects").usage.searches == 0
    with make_terminal(simulator, make_mount(simulator)) as terminal:
        result = terminal.run("grep -rl Gravla /gd/Projects")
        assert result.usage.searches == 0 and result.stderr == "" and result.stdout.count("\n") == 2


def test_a_search_that_the_service_cut_off_says_so(searched):
    simulator, _, _ = searched
    simulator.incomplete = True
    try:
        with make_terminal(simulator) as terminal:
            result = terminal.run("grep -rlw Gravlax /gd --include='*.md'")
            assert "other items not read (--exact reads them)" in result.stderr
            assert terminal.run("grep -rlw Gravlax /gd/Projects --include='*.md'").stderr == ""
    finally:
        simulator.incomplete = False


def test_describe(small):
    with make_terminal(small) as terminal:
        text = terminal.run("cat /VFS.md").stdout
    assert "`/gd/<folder>/<Title>.gsheet.json`" in text and '"formattedValue"' in text


# ---- the specification's lines

def test_the_first_rows_of_a_schedule_and_all_of_it_as_tsv(small):
    with make_terminal(small) as terminal:
        result = terminal.run("""f='/gd/Office pool/NHL schedule 2025-26.gsheet.json'
jq -c '.sheets[0].data[0].rowData[0:5][] | [.values[].formattedValue]' "$f"
jq -r '.sheets[0].data[0].rowData[1:][] | [.values[].formattedValue] | @tsv' "$f" > s.tsv
cut -f3 s.tsv | sort | uniq -c | sort -rn | head -1; wc -l < s.tsv""")
        lines = result.stdout.splitlines()
        assert json.loads(lines[0]) == ["Date", "Start (ET)", "Visitor", "G", "Home", "G", "Status", "Notes"]
        assert json.loads(lines[1])[0] == "2025-10-07" and len(lines) == 7 and lines[6] == "420" and result.stderr == ""
        again = make_mount(small).read("/Office pool/NHL schedule 2025-26.gsheet/Schedule.csv").decode().splitlines()
        assert len(again) == 421


def test_the_format_of_a_sheet_is_in_the_description_as_the_specification_has_it(small):
    example = make_mount(small).describe().formats[0].example
    assert re.sub(r"\s", "", example) == re.sub(r"\s", "", """{"spreadsheetId": "...", "properties": {"title": "..."},
        "sheets": [{"properties": {"sheetId": 0, "title": "..."}, "data": [{"rowData": [{"values": [{"formattedValue": "..."}]}]}]}]}""")
