"""The CLIs `gdrive`, `google-sheet` and `google-doc`."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mirage import Terminal
from mirage.bench.services.gdrive import DriveSimulator
from mirage.clis import make_cli
from mirage.clis.gdrive import DriveCli
from mirage.clis.google_doc import DocCli
from mirage.clis.google_sheet import SheetCli
from mirage.mounts.gdrive.mount import Drive
from mirage.mounts.memory import Memory
from tests.clis.support import run
from tests.mounts.gdrive_support import TOKEN, Token, make_mount, make_terminal, tops, user_credentials

SCHEMAS = Path(__file__).parent / "data" / "google-sheet-operations.json"
BUDGET = "/gd/Finance/Budget 2026.gsheet"


@pytest.fixture
def simulator():
    with DriveSimulator(files=0) as simulator:
        yield simulator


@pytest.fixture
def terminal(simulator):
    with make_terminal(simulator) as terminal:
        yield terminal


def sheet(terminal, operation, status=0, **arguments):
    terminal.fs.write("/workspace/arguments.json", json.dumps(arguments).encode())
    return run(terminal, f"google-sheet {operation} @/workspace/arguments.json", status)


def methods(simulator):
    return [f"{e.method} {re.sub('1[0-9a-f]{32}', 'ID', e.path)}" for e in simulator.log]


# ---- declared

def test_sheet_operations_are_those_of_the_usual_server():
    """Names (`update_cells` is update-cells), arguments, their types, defaults and whether they are required."""
    published = json.loads(SCHEMAS.read_text())
    cli = SheetCli(Drive(Token()))
    assert set(cli.operations) == set(published) and len(published) == 19
    for name, operation in published.items():
        schema = cli.operations[name].model.model_json_schema()
        assert set(schema.get("properties", ())) == set(operation["arguments"]), name
        assert set(schema.get("required", ())) == {k for k, a in operation["arguments"].items() if a.get("required")}, name
        assert (cli.operations[name].effects == ("read",)) == operation["reads"], name
        for key, argument in operation["arguments"].items():
            mine = schema["properties"][key]
            types = {mine.get("type"), *(part.get("type") for part in mine.get("anyOf", ()))}
            assert argument["type"] in types and ("null" in types) == argument.get("nullable", False), (name, key)
            assert mine.get("default") == argument.get("default"), (name, key)


def test_effects():
    effects = {name: o.effects for name, o in DriveCli(Drive(Token())).operations.items()}
    assert effects["share-file"] == effects["update-permission"] == effects["remove-permission"] == ("share",)
    assert effects["trash-file"] == effects["delete-file"] == ("destroy",) and effects["upload-file"] == ("create",)
    assert {n for n, e in effects.items() if e == ("read",)} == {"list-files", "search-files", "get-file", "export-file", "list-permissions", "list-drives", "about"}
    batch = SheetCli(Drive(Token())).operations["batch-update"]
    assert batch.effects_of(batch.model.model_validate({"spreadsheet_id": "1", "requests": [{"addSheet": {}}]})) == ("update",)
    assert batch.effects_of(batch.model.model_validate({"spreadsheet_id": "1", "requests": [{"deleteSheet": {}}]})) == ("update", "destroy")
    assert SheetCli(Drive(Token())).operations["share-spreadsheet"].effects == ("share",)


# ---- files

def test_what_was_made_is_there_at_once(simulator, terminal):
    terminal.run("ls /gd /gd/Finance /gd/HR; printf 'a,b\\n1,2\\n' > t.csv")
    before = simulator.state()
    simulator.clear_log()
    made = run(terminal, "gdrive create-folder --name 'Neu/Ordner' --parent_id /gd/Finance")
    assert made["path"] == "/gd/Finance/Neu_Ordner" and terminal.run("ls /gd/Finance | grep Neu; ls /gd/HR | wc -l").stdout == "Neu_Ordner\n14\n"
    assert methods(simulator) == ["POST /drive/v3/files", "GET /drive/v3/files"]
    simulator.clear_log()
    made = run(terminal, f"gdrive upload-file --path t.csv --parent_id '{made['path']}'")
    assert made["path"] == "/gd/Finance/Neu_Ordner/t.csv" and made["mimeType"] == "text/csv"
    assert terminal.run(f"cat '{made['path']}'; ls /gd /gd/Finance | wc -l").stdout == "a,b\n1,2\n21\n"
    assert methods(simulator) == ["POST /upload/drive/v3/files", "GET /drive/v3/files", "GET /drive/v3/files/ID"]
    made = run(terminal, "gdrive upload-file --path t.csv --parent_id /gd/HR --name Table --convert")
    assert terminal.run("cat /gd/HR/Table.gsheet/Sheet1.csv").stdout == "a,b\n1,2\n"
    assert len(simulator.diff(before, simulator.state())["added"]) == 3
    terminal.run("printf 'new\\n' > t.csv; cat /gd/todo.txt")
    simulator.clear_log()
    run(terminal, "gdrive update-file --file_id /gd/todo.txt --path t.csv")
    assert terminal.run("cat /gd/todo.txt; ls /gd/HR /gd/Finance | wc -l").stdout == "new\n27\n"
    assert methods(simulator) == ["PATCH /upload/drive/v3/files/ID", "GET /drive/v3/files", "GET /drive/v3/files/ID"]


def test_rename_move_copy_trash(simulator, terminal):
    terminal.run("ls -R /gd/Finance /gd/HR; cat /gd/todo.txt")
    simulator.clear_log()
    assert run(terminal, "gdrive rename-file --file_id /gd/todo.txt --name list.txt")["path"] == "/gd/list.txt"
    assert terminal.run("cat /gd/list.txt; test -e /gd/todo.txt").exit_code == 1
    assert len(simulator.log) == 3
    assert run(terminal, "gdrive move-file --file_id /gd/list.txt --folder_id /gd/HR")["path"] == "/gd/HR/list.txt"
    assert "list.txt" not in terminal.run("ls /gd").stdout and terminal.run("cat /gd/HR/list.txt").stdout.startswith("Buy")
    copied = run(terminal, "gdrive copy-file --file_id '/gd/Finance/Budget 2026.gsheet.json' --name Budget2 --parent_id /gd")
    assert copied["path"] == "/gd/Budget2.gsheet.json" and terminal.run("head -1 /gd/Budget2.gsheet/Apollo.csv").stdout == "Item,Planned,Spent,Left\n"
    assert run(terminal, "gdrive copy-file --file_id /gd/HR/list.txt")["path"] == "/gd/HR/Copy of list.txt"
    link = run(terminal, "gdrive create-shortcut --file_id /gd/HR/list.txt --parent_id /gd --name L")
    assert terminal.run(f"readlink {link['path']}; cat {link['path']} | head -1").stdout == "HR/list.txt\nBuy sensors\n"
    gone = run(terminal, "gdrive trash-file --file_id /gd/HR/list.txt")
    assert terminal.run("ls /gd/HR/list.txt; cat /gd/L").stdout == ""
    run(terminal, f"gdrive untrash-file --file_id {gone['id']}")
    assert terminal.run("cat /gd/HR/list.txt").stdout.startswith("Buy")
    run(terminal, "gdrive delete-file --file_id /gd/HR")
    assert "HR" not in terminal.run("ls /gd").stdout and gone["id"] not in simulator.state()


def test_large_uploads_go_on_after_a_failure(simulator, terminal):
    simulator.fault("reset", "PUT /upload", times=1)
    simulator.fault("reset", "PUT /upload", times=1, after=True)
    terminal.run("yes | head -c 20000000 > big.bin")
    made = run(terminal, "gdrive upload-file --path big.bin")
    assert simulator.store.files[made["id"]].data == (b"y\n" * 10_000_000) and made["size"] == "20000000"
    assert sum(f.resource["name"] == "big.bin" for f in simulator.store.files.values()) == 1
    assert terminal.run("tail -c 2 /gd/big.bin").stdout == "y\n"


def test_a_lost_answer_never_makes_it_twice(simulator, terminal):
    terminal.run("ls /gd")
    simulator.fault("reset", "POST /drive/v3/files", after=True)
    error = run(terminal, "gdrive create-folder --name Once", 1)
    assert "connection failed" in error["error"]["message"]
    assert terminal.run("ls /gd | grep Once").stdout == "Once\n"
    simulator.heal()
    simulator.fault("status", "POST /drive/v3/files", times=1, status=429, seconds=0.01)
    run(terminal, "gdrive create-folder --name Twice")
    assert [f.resource["name"] for f in simulator.store.files.values()].count("Twice") == 1


def test_sharing(simulator, terminal):
    run(terminal, "gdrive share-file --file_id /gd/todo.txt --role writer --email priya@norrsken.example --notify false")
    run(terminal, "gdrive share-file '{\"file_id\": \"/gd/todo.txt\", \"role\": \"reader\", \"anyone\": true}'")
    found = run(terminal, "gdrive list-permissions --file_id /gd/todo.txt")["permissions"]
    assert [(p["type"], p["role"]) for p in found] == [("user", "owner"), ("user", "writer"), ("anyone", "reader")]
    run(terminal, f"gdrive update-permission --file_id /gd/todo.txt --permission_id {found[1]['id']} --role commenter")
    run(terminal, f"gdrive remove-permission --file_id /gd/todo.txt --permission_id {found[2]['id']}")
    assert [p["role"] for p in run(terminal, "gdrive list-permissions --file_id /gd/todo.txt")["permissions"]] == ["owner", "commenter"]
    assert run(terminal, "gdrive share-file --file_id /gd/todo.txt --role reader", 2)["error"]["code"] == "invalid_arguments"
    assert run(terminal, "gdrive share-file --file_id /gd/todo.txt --role reader --email nobody", 1)["error"]["code"] == 400


def test_looking(simulator, terminal):
    found = run(terminal, "gdrive list-files --folder_id /gd/Finance --page_size 2")
    more = run(terminal, f"gdrive list-files --folder_id /gd/Finance --page_token {found['nextPageToken']}")
    assert [f["name"] for f in (*found["files"], *more["files"])] == ["Invoices", "Budget 2026", "Ledger", "Price list.xlsx"]
    assert [f["name"] for f in run(terminal, "gdrive search-files --query Zimtschnecken")["files"]] == ["Launch plan"]
    assert run(terminal, "gdrive search-files --query \"it's\" --q \"mimeType = 'text/plain'\"")["files"][0]["name"].startswith("it's")
    assert run(terminal, "gdrive get-file --file_id /gd/HR/Welcome.pptx")["owners"][0]["emailAddress"] == "mara@norrsken.example"
    assert [d["name"] for d in run(terminal, "gdrive list-drives")["drives"]] == ["Sales / Försäljning", "Empty drive"]
    assert run(terminal, "gdrive about")["user"]["emailAddress"] == "mara@norrsken.example"
    assert terminal.run("gdrive export-file --file_id /gd/Finance/Ledger.gsheet.json --mime_type text/csv | head -1").stdout == "Invoice,Supplier,Date,Net,Paid\r\n"
    id = tops(simulator, "Ledger")
    for name in (id, f"https://docs.google.com/spreadsheets/d/{id}/edit#gid=0", "/gd/Finance/Ledger.gsheet", "/gd/Finance/Ledger.gsheet/2026.csv"):
        assert run(terminal, f"gdrive get-file --file_id '{name}'")["id"] == id


def test_refusals(terminal):
    for line, code in (("gdrive get-file --file_id nothing", 404), ("gdrive get-file --file_id /gd/none", "file"), ("gdrive get-file --file_id /etc/passwd", "file"),
                       ("gdrive upload-file --path /workspace/none", "file"), ("gdrive move-file --file_id /gd/HR --folder_id /gd/HR", 403),
                       ("gdrive export-file --file_id /gd/todo.txt --mime_type text/csv", 400), ("gdrive search-files --query x --q 'name ='", 400),
                       ("google-sheet list-sheets --spreadsheet_id /gd/todo.txt", 404), ("google-doc append-text --document_id nothing --text x", 404),
                       ("google-doc insert-text --document_id '/gd/Projects/Apollo/Launch plan.md' --text x --index 9999", 400)):
        assert run(terminal, line, 1)["error"]["code"] == code, line
    assert run(terminal, "gdrive create-folder --name ''", 2)["error"]["code"] == "invalid_arguments"


# ---- spreadsheets

def test_reading_sheets(terminal):
    data = sheet(terminal, "get-sheet-data", spreadsheet_id=BUDGET + ".json", sheet="Apollo", range="A1:B2")
    assert data["valueRanges"] == [{"range": "'Apollo'!A1:B2", "values": [["Item", "Planned"], ["Staff", "€128,000.00"]]}]
    grid = sheet(terminal, "get-sheet-data", spreadsheet_id=BUDGET, sheet="Ändringar & Q3/Q4", include_grid_data=True)
    assert grid["sheets"][0]["data"][0]["rowData"][1]["values"][1]["formattedValue"] == "certificate, \"urgent\""
    assert sheet(terminal, "get-sheet-formulas", spreadsheet_id=BUDGET, sheet="Apollo", range="B7:D7") == [["=SUM(B2:B6)", "=SUM(C2:C6)", "=B7-C7"]]
    assert sheet(terminal, "list-sheets", spreadsheet_id=BUDGET) == ["Apollo", "Ändringar & Q3/Q4", "Empty"]
    several = sheet(terminal, "get-multiple-sheet-data", queries=[{"spreadsheet_id": BUDGET, "sheet": "Apollo", "range": "A2"},
                                                                  {"spreadsheet_id": "nothing", "sheet": "x", "range": "A1"}])
    assert several[0]["data"] == [["Staff"]] and "not found" in several[1]["error"].lower()
    summary, bad = sheet(terminal, "get-multiple-spreadsheet-summary", spreadsheet_ids=[BUDGET, "nothing"], rows_to_fetch=2)
    assert summary["title"] == "Budget 2026" and summary["sheets"][0]["headers"][0] == "Item" and len(summary["sheets"][0]["first_rows"]) == 1 and bad["error"]
    cells = sheet(terminal, "find-in-spreadsheet", spreadsheet_id=BUDGET, query="HAMBURG")
    assert cells == [{"sheet": "Apollo", "cell": "A6", "value": "Fair in Hamburg"}, {"sheet": "Ändringar & Q3/Q4", "cell": "B3", "value": "launch\nin Hamburg"}]
    assert sheet(terminal, "find-in-spreadsheet", spreadsheet_id=BUDGET, query="HAMBURG", case_sensitive=True) == []
    assert [s["title"] for s in sheet(terminal, "list-spreadsheets", folder_id="/gd/Finance")] == ["Budget 2026", "Ledger"]
    assert [s["name"] for s in sheet(terminal, "list-folders", parent_folder_id="/gd/Projects")] == ["Apollo", "Borealis"]
    assert sheet(terminal, "search-spreadsheets", query="Kraken")[0]["name"] == "NHL schedule 2025-26"


def test_a_changed_cell_shows_at_once_and_nothing_else_is_asked_for(simulator, terminal):
    terminal.run(f"cat '{BUDGET}/Apollo.csv' /gd/Finance/Ledger.gsheet.json; ls -R /gd/HR")
    simulator.clear_log()
    answer = sheet(terminal, "update-cells", spreadsheet_id=BUDGET + ".json", sheet="Apollo", range="A2:B2", data=[["Personal", 1000]])
    assert answer["updatedCells"] == 2
    assert terminal.run(f"sed -n '2p;7p' '{BUDGET}/Apollo.csv'; wc -l < /gd/Finance/Ledger.gsheet/2026.csv; ls /gd/HR | wc -l").stdout == \
        'Personal,1000,"€47,360.00",-46360\nTotal,93000.5,81400.18,11600.32\n61\n14\n'
    assert methods(simulator) == ["PUT /v4/spreadsheets/ID/values/%27Apollo%27%21A2%3AB2", "GET /drive/v3/files", "GET /v4/spreadsheets/ID"]


def test_changing_sheets(simulator, terminal):
    made = sheet(terminal, "create-spreadsheet", title="Slots", folder_id="/gd/HR")
    id = made["spreadsheetId"]
    assert made["path"] == "/gd/HR/Slots.gsheet.json" and made["title"] == "Slots"
    assert sheet(terminal, "create-sheet", spreadsheet_id=id, title="It's")["title"] == "It's"
    sheet(terminal, "batch-update-cells", spreadsheet_id=id, sheet="It's", ranges={"A1:B2": [["when", "who"], ["9:00", True]], "D1": [["=1+2*3"]]})
    assert terminal.run("cat \"/gd/HR/Slots.gsheet/It's.csv\"").stdout == "when,who,,7\n9:00,TRUE,,\n"
    sheet(terminal, "add-rows", spreadsheet_id=id, sheet="It's", count=2, start_row=1)
    sheet(terminal, "add-columns", spreadsheet_id=id, sheet="It's", count=1)
    assert terminal.run("cat \"/gd/HR/Slots.gsheet/It's.csv\"").stdout == ",when,who,,7\n,,,,\n,,,,\n,9:00,TRUE,,\n"
    sheet(terminal, "rename-sheet", spreadsheet="/gd/HR/Slots.gsheet", sheet="It's", new_name="Ours")
    copied = sheet(terminal, "copy-sheet", src_spreadsheet=id, src_sheet="Ours", dst_spreadsheet=BUDGET, dst_sheet="Slots")
    assert copied["rename"]
    assert terminal.run(f"ls '{BUDGET}'; ls /gd/HR/Slots.gsheet").stdout.split("\n") == [
        "Apollo.csv", "Empty.csv", "Slots.csv", "Ändringar & Q3_Q4.csv", "Ours.csv", "Sheet1.csv", ""]
    first = run(terminal, f"jq '.sheets[0].properties.sheetId' {made['path']}")
    sheet(terminal, "batch-update", spreadsheet_id=id, requests=[{"deleteSheet": {"sheetId": first}}])
    assert sheet(terminal, "list-sheets", spreadsheet_id=id) == ["Ours"]
    shared = sheet(terminal, "share-spreadsheet", spreadsheet_id=id, recipients=[{"email_address": "a@b.example", "role": "writer"}, {"email_address": "bad", "role": "reader"},
                                                                                 {"email_address": "c@d.example", "role": "king"}])
    assert len(shared["successes"]) == 1 and len(shared["failures"]) == 2
    assert sheet(terminal, "update-cells", 1, spreadsheet_id=id, sheet="None", range="A1", data=[[1]])["error"]["code"] == 400
    assert sheet(terminal, "add-rows", 1, spreadsheet_id=id, sheet="None", count=1)["error"]["code"] == 404


# ---- documents

def test_documents(simulator, terminal):
    made = run(terminal, "google-doc create-document --title 'Memo 1' --text 'one\ntwo' --folder_id /gd/HR")
    assert made["path"] == "/gd/HR/Memo 1.md" and terminal.run("cat '/gd/HR/Memo 1.md'").stdout == "one\n\ntwo\n"
    terminal.run("ls -R /gd/Projects")
    simulator.clear_log()
    run(terminal, f"google-doc append-text --document_id '{made['path']}' --text '\nthree'")
    assert terminal.run("tail -1 '/gd/HR/Memo 1.md'; ls -R /gd/Projects | wc -l").stdout.split()[0] == "three"
    assert methods(simulator) == ["POST /v1/documents/ID:batchUpdate", "GET /drive/v3/files", "GET /v1/documents/ID"]
    run(terminal, f"google-doc insert-text --document_id {made['id']} --text 'zero\n' --index 1")
    assert run(terminal, f"google-doc replace-text --document_id {made['id']} --find TWO --replace zwei --match_case false")["occurrencesChanged"] == 1
    requests = [{"updateTextStyle": {"range": {"startIndex": 1, "endIndex": 5}, "textStyle": {"bold": True}, "fields": "bold"}},
                {"updateParagraphStyle": {"range": {"startIndex": 6, "endIndex": 9}, "paragraphStyle": {"namedStyleType": "HEADING_1"}, "fields": "namedStyleType"}}]
    run(terminal, f"google-doc batch-update '{json.dumps({'document_id': made['id'], 'requests': requests})}'")
    assert run(terminal, f"google-doc get-document --document_id {made['id']}") == {
        "documentId": made["id"], "title": "Memo 1", "text": "**zero**\n\n# one\n\nzwei\n\nthree\n"}
    assert terminal.run("cat '/gd/HR/Memo 1.md'").stdout == "**zero**\n\n# one\n\nzwei\n\nthree\n"


# ---- policy and configuration

def test_policy(simulator):
    policy = ("rules:\n  - {effect: share, action: deny, reason: nothing leaves}\n"
              "  - {effect: call, cli: google-sheet, operation: 'update-*', when: \"sheet != 'Apollo'\", action: deny, reason: only Apollo}\n"
              "  - {effect: destroy, action: deny, reason: keep}\n")
    with make_terminal(simulator, policy=policy) as terminal:
        before = simulator.state()
        for line, reason in (("gdrive share-file --file_id /gd/todo.txt --role reader --anyone", "nothing leaves"), ("gdrive delete-file --file_id /gd/todo.txt", "keep"),
                             (f"google-sheet update-cells --spreadsheet_id '{BUDGET}' --sheet Empty --range A1 --data '[[1]]'", "only Apollo"),
                             (f"google-sheet batch-update --spreadsheet_id '{BUDGET}' --requests '[{{\"deleteSheet\": {{\"sheetId\": 0}}}}]'", "keep")):
            result = terminal.run(line)
            assert result.exit_code == 126 and f"mirage: denied: {reason}" in result.stderr, line
        assert simulator.state() == before
        assert terminal.run(f"google-sheet update-cells --spreadsheet_id '{BUDGET}' --sheet Apollo --range A1 --data '[[1]]'").exit_code == 0
        assert terminal.run("rm /gd/todo.txt; echo x > /gd/todo.txt; touch /gd/new").exit_code != 0


def test_from_config(simulator, tmp_path):
    mount = make_mount(simulator)
    mounts = {"/": Memory(), "/drive": mount}
    cli = make_cli("files", "gdrive", {}, mounts=mounts, folder=tmp_path)
    assert cli.mount is mount and cli.point == "/drive" and cli.name == "files"
    assert type(make_cli("google-sheet", "google-sheet", {}, mounts=mounts, folder=tmp_path)) is SheetCli
    assert type(make_cli("google-doc", "google-doc", {}, mounts=mounts, folder=tmp_path)) is DocCli
    other = make_cli("gdrive", "gdrive", {"token": "env:OTHER"}, mounts=mounts, folder=tmp_path)
    assert other.mount is not mount and other.point is None
    for options in ({"colour": "red"}, {"token": "ya29.1"}):
        with pytest.raises(ValueError):
            make_cli("gdrive", "gdrive", options, mounts=mounts, folder=tmp_path)
    with pytest.raises(ValueError):
        make_cli("gdrive", "gdrive", {}, mounts={}, folder=tmp_path)
    with Terminal({"/drive": mount}, clis=[cli]) as terminal:
        assert json.loads(terminal.run("files create-folder --name x").stdout)["path"] == "/drive/x"


def test_the_example_of_the_readme(simulator, tmp_path, monkeypatch):
    from mirage.config import load
    from mirage.mounts import gdrive
    text = re.search(r"```yaml\n(.*?)```", (Path(gdrive.__file__).parent / "README.md").read_text(), re.S).group(1)
    (tmp_path / "mirage.yaml").write_text(text.replace("tz:", f"endpoint: '{simulator.address}', rate: 0, tz:"))
    secret = user_credentials(simulator)
    home = tmp_path / "home" / ".config" / "mirage"
    home.mkdir(parents=True)
    (home / "google.json").write_text(secret.text)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with load(tmp_path / "mirage.yaml").make_terminal() as terminal:
        shown = re.search(r"```console\n(.*?)```", (Path(gdrive.__file__).parent / "README.md").read_text(), re.S).group(1)
        result = terminal.run("\n".join(re.findall(r"^\$ (.*)", shown, re.M)))
        assert result.exit_code == 0 and result.stderr == "", result
        assert result.stdout.splitlines()[-1] == "Total,200001.5,81400.18,118601.32"
        result = terminal.run("grep -rl s3cret- / --include='*.txt' 2>/dev/null; env; gdrive about; cat /proc/*/environ; mount 2>&1")
        assert "s3cret" not in result.stdout + result.stderr and TOKEN not in result.stdout


@pytest.mark.parametrize("operation", ["gdrive share-file", "google-sheet update-cells", "google-doc insert-text"])
def test_help_is_the_schema(terminal, operation):
    text = terminal.run(f"{operation} --help").stdout
    schema = json.loads(text.partition("Arguments:\n")[2])
    assert schema["type"] == "object" and schema["required"]
