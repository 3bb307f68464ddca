"""The simulated Drive, asked by google-api-python-client itself."""
from __future__ import annotations

import io
import json

import httplib2
import pytest
from google.oauth2.credentials import Credentials
from google_auth_httplib2 import AuthorizedHttp
from googleapiclient.discovery import build_from_document
from googleapiclient.errors import HttpError
from googleapiclient.http import MediaInMemoryUpload, MediaIoBaseDownload

from mirage.bench.services.clock import Clock
from mirage.bench.services.gdrive import DriveSimulator
from mirage.bench.services.gdrive.query import parse
from mirage.mounts.google.transport import read_document
from tests.mounts.gdrive_support import tops

FOLDER = "application/vnd.google-apps.folder"


@pytest.fixture(scope="module")
def shared():
    with DriveSimulator(files=0) as simulator:
        yield simulator


@pytest.fixture
def simulator(shared):
    before = shared.snapshot()
    yield shared
    shared.restore(before)
    shared.heal()


def api(simulator, name, version, token="simulator-token"):
    document = read_document(name, version)
    document["rootUrl"] = simulator.address
    document["baseUrl"] = simulator.address + document["servicePath"]
    document.pop("mtlsRootUrl", None)
    http = httplib2.Http(proxy_info=None)
    http.redirect_codes = http.redirect_codes - {308}        # as googleapiclient's own build_http
    return build_from_document(document, http=AuthorizedHttp(Credentials(token=token), http))


def status(request):
    with pytest.raises(HttpError) as caught:
        request.execute()
    return caught.value.resp.status, caught.value.error_details[0]["reason"]


def test_a_seed_is_a_drive():
    one, two, other = (DriveSimulator(seed=seed, files=230) for seed in (1, 1, 2))
    assert one.state() == two.state() != other.state()
    names = [f.resource["name"] for f in one.store.files.values()]
    assert 220 <= len(names) <= 260 and "" in names and any("/" in n for n in names) and any("\n" in n for n in names)
    assert len(DriveSimulator().store.files) >= 300 and one.store.files[tops(one, "drone.mp4")].resource["size"] == str(10 << 20)
    kinds = {f.resource["mimeType"].rpartition(".")[2] for f in one.store.files.values()}
    assert {"spreadsheet", "document", "presentation", "folder", "shortcut", "form"} <= kinds


def test_queries(simulator):
    files = api(simulator, "drive", "v3").files()

    def found(q, **more):
        return [f["name"] for f in files.list(q=q, pageSize=1000, **more).execute()["files"]]
    assert set(found("'root' in parents and trashed = false")) >= {"Finance", "HR", "todo.txt"}
    assert found("name = 'todo.txt'") == ["todo.txt"] and found("name contains 'tod' and not trashed = true") == ["todo.txt"]
    assert found("name contains 'odo'") == [] and found("fullText contains 'zimtschnecken'") == ["Launch plan"]
    assert found("fullText contains '\"Gravlax and\"'") == ["Launch plan"] and found("fullText contains 'Gravlax sensors'") == []
    assert set(found("trashed = true")) == {"Old stuff", "inside.txt", "Budget 2024 (old).txt"}
    assert found("mimeType = 'application/vnd.google-apps.form' or name = 'it\\'s \"quoted\" \\\\ $HOME.txt'", orderBy="name") == ["Feedback", "it's \"quoted\" \\ $HOME.txt"]
    assert found("sharedWithMe = true") == ["Partner agreement"] and len(found("'me' in owners")) > 80
    assert found("name contains 'Offer Chiara'") == [] and found("name contains 'Offer Chiara'", corpora="allDrives", includeItemsFromAllDrives=True, supportsAllDrives=True) == ["Offer Chiara Rossi"]
    drive = next(iter(simulator.store.drives))
    assert len(found("trashed = false", corpora="drive", driveId=drive, includeItemsFromAllDrives=True, supportsAllDrives=True)) == 8
    assert found("modifiedTime > '2027-01-01T00:00:00'") == [] and found(f"mimeType = '{FOLDER}' and (name = 'HR' or name = 'Films')", orderBy="name desc") == ["HR", "Films"]
    for bad in ("name =", "nothing = 'x'", "name = 'x' and", "('x' in parents", "'x' in", "name contains 'x"):
        assert status(files.list(q=bad))[0] == 400
    for bad in ("name < 'x'", "trashed = 'maybe'", "and", "trashed = maybe"):
        with pytest.raises(ValueError):
            parse(bad, "")


def test_pages_and_fields(simulator):
    files = api(simulator, "drive", "v3").files()
    names, request = [], files.list(q="trashed = false", pageSize=40, fields="nextPageToken,files(name,parents)")
    while request is not None:
        answer = request.execute()
        assert set(answer) <= {"files", "nextPageToken"} and all(set(f) <= {"name", "parents"} for f in answer["files"])
        names += [f["name"] for f in answer["files"]]
        request = files.list_next(request, answer)
    assert len(names) == len(simulator.store.files) - 1 - 3 - 2 - 8
    assert set(files.list(pageSize=1).execute()["files"][0]) == {"kind", "id", "name", "mimeType"}


def test_content(simulator):
    service = api(simulator, "drive", "v3")
    id = tops(simulator, "drone.mp4")
    out = io.BytesIO()
    download = MediaIoBaseDownload(out, service.files().get_media(fileId=id), chunksize=3 << 20)
    done = False
    while not done:
        _, done = download.next_chunk()
    assert out.getvalue() == simulator.store.files[id].data
    assert status(service.files().get_media(fileId=tops(simulator, "Ledger"))) == (403, "fileNotDownloadable")
    assert service.files().export(fileId=tops(simulator, "Ledger"), mimeType="text/csv").execute().startswith(b"Invoice,")
    assert service.files().export(fileId=tops(simulator, "Launch plan"), mimeType="application/pdf").execute().startswith(b"%PDF")
    assert status(service.files().get(fileId="nothing")) == (404, "notFound")
    document = api(simulator, "docs", "v1").documents().get(documentId=tops(simulator, "Field manual")).execute()
    ends = [e["endIndex"] for e in document["body"]["content"]]
    assert ends == sorted(ends) and document["body"]["content"][1]["startIndex"] == 1
    assert len(api(simulator, "slides", "v1").presentations().get(presentationId=tops(simulator, "Apollo board meeting")).execute()["slides"]) == 2


def test_uploads(simulator):
    files = api(simulator, "drive", "v3").files()
    made = files.create(body={"name": "a.txt"}, media_body=MediaInMemoryUpload(b"one\r\n--two\n", mimetype="text/plain"), fields="id,size,parents").execute()
    assert made["size"] == "11" and made["parents"] == [simulator.store.root] and files.get_media(fileId=made["id"]).execute() == b"one\r\n--two\n"
    request = files.create(body={"name": "big"}, media_body=MediaInMemoryUpload(b"x" * 700_000, mimetype="text/plain", chunksize=256 << 10, resumable=True))
    chunks, answer = 0, None
    while answer is None:
        _, answer = request.next_chunk()
        chunks += 1
    assert chunks == 3 and len(files.get_media(fileId=answer["id"]).execute()) == 700_000
    files.update(fileId=made["id"], body={"name": "b.txt"}, media_body=MediaInMemoryUpload(b"two", mimetype="text/plain")).execute()
    assert files.get_media(fileId=made["id"]).execute() == b"two" and files.get(fileId=made["id"]).execute()["name"] == "b.txt"


def test_moving_trash_and_rights(simulator):
    service = api(simulator, "drive", "v3")
    files = service.files()
    inner, outer = (files.create(body={"name": n, "mimeType": FOLDER}).execute()["id"] for n in ("inner", "outer"))
    files.update(fileId=inner, addParents=outer, removeParents="root").execute()
    assert status(files.update(fileId=outer, addParents=inner, removeParents="root")) == (403, "cannotAddParent")
    files.update(fileId=outer, body={"trashed": True}).execute()
    assert files.get(fileId=inner, fields="trashed").execute() == {"trashed": True}
    files.update(fileId=outer, body={"trashed": False}).execute()
    assert files.get(fileId=inner, fields="trashed").execute() == {"trashed": False}
    files.delete(fileId=outer).execute()
    assert status(files.get(fileId=inner)) == (404, "notFound")
    foreign = tops(simulator, "Partner agreement")
    assert status(files.update(fileId=foreign, body={"name": "mine"})) == (403, "insufficientFilePermissions")
    assert status(service.permissions().create(fileId=tops(simulator, "todo.txt"), body={"type": "user", "role": "king"}))[0] == 400
    assert status(service.permissions().delete(fileId=tops(simulator, "todo.txt"), permissionId="1"))[0] == 404


def test_spreadsheets(simulator):
    sheets = api(simulator, "sheets", "v4").spreadsheets()
    id = sheets.create(body={"properties": {"title": "New"}}).execute()["spreadsheetId"]
    values = sheets.values()
    values.update(spreadsheetId=id, range="Sheet1!A1", valueInputOption="USER_ENTERED", body={"values": [["x", 2, "3"], ["=SUM(B1:C1)", "=A2*2", "=1/0"]]}).execute()
    assert values.get(spreadsheetId=id, range="A1:Z9").execute()["values"] == [["x", "2", "3"], ["5", "10", "#DIV/0!"]]
    assert values.get(spreadsheetId=id, range="Sheet1", valueRenderOption="FORMULA").execute()["values"][1][:2] == ["=SUM(B1:C1)", "=A2*2"]
    values.append(spreadsheetId=id, range="Sheet1", valueInputOption="RAW", body={"values": [["=1", "2026-09-30"]]}).execute()
    values.update(spreadsheetId=id, range="A4", valueInputOption="USER_ENTERED", body={"values": [["2026-09-30"]]}).execute()
    assert values.get(spreadsheetId=id, range="A3:B4", valueRenderOption="UNFORMATTED_VALUE").execute()["values"] == [["=1", "2026-09-30"], [46295]]
    values.clear(spreadsheetId=id, range="A3:B3").execute()
    assert values.get(spreadsheetId=id, range="A3:B3").execute().get("values") is None
    before = sheets.get(spreadsheetId=id, includeGridData=True).execute()
    assert status(sheets.batchUpdate(spreadsheetId=id, body={"requests": [{"addSheet": {"properties": {"title": "Two"}}}, {"addSheet": {"properties": {"title": "Two"}}}]}))[0] == 400
    assert sheets.get(spreadsheetId=id, includeGridData=True).execute() == before
    answer = sheets.batchUpdate(spreadsheetId=id, body={"requests": [
        {"addSheet": {"properties": {"title": "Two"}}}, {"sortRange": {"range": {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 1}, "sortSpecs": [{"dimensionIndex": 0}]}},
        {"deleteDimension": {"range": {"sheetId": 0, "dimension": "COLUMNS", "startIndex": 0, "endIndex": 1}}}, {"updateCells": {
            "start": {"sheetId": 1, "rowIndex": 1, "columnIndex": 1}, "rows": [{"values": [{"userEnteredValue": {"numberValue": 4}}]}], "fields": "userEnteredValue"}}]}).execute()
    assert answer["replies"][0]["addSheet"]["properties"]["index"] == 1 and values.get(spreadsheetId=id, range="Two!A1:C3").execute()["values"] == [[], ["", "4"]]
    assert status(values.get(spreadsheetId=id, range="None!A1"))[0] == 400 and status(values.get(spreadsheetId="nothing", range="A1"))[0] == 404
    masked = sheets.get(spreadsheetId=id, fields="sheets(properties(title))").execute()
    assert masked == {"sheets": [{"properties": {"title": "Sheet1"}}, {"properties": {"title": "Two"}}]}


def test_documents(simulator):
    documents = api(simulator, "docs", "v1").documents()
    id = documents.create(body={"title": "New"}).execute()["documentId"]

    def text():
        return "".join(e["textRun"]["content"] for b in documents.get(documentId=id).execute()["body"]["content"] for e in b.get("paragraph", {}).get("elements", []))

    def change(*requests):
        return documents.batchUpdate(documentId=id, body={"requests": list(requests)}).execute()["replies"]
    change({"insertText": {"location": {"index": 1}, "text": "one\ntwo"}}, {"insertText": {"endOfSegmentLocation": {}, "text": " three"}})
    assert text() == "one\ntwo three\n"
    change({"deleteContentRange": {"range": {"startIndex": 2, "endIndex": 6}}})
    assert text() == "owo three\n"
    assert change({"replaceAllText": {"containsText": {"text": "O", "matchCase": False}, "replaceText": "0"}}) == [{"replaceAllText": {"occurrencesChanged": 2}}]
    change({"createParagraphBullets": {"range": {"startIndex": 1, "endIndex": 2}, "bulletPreset": "NUMBERED_DECIMAL_ALPHA_ROMAN"}})
    assert "bullet" in documents.get(documentId=id).execute()["body"]["content"][1]["paragraph"]
    for bad in ({"insertText": {"location": {"index": 99}, "text": "x"}}, {"nothing": {}}, {"deleteContentRange": {"range": {"startIndex": 1, "endIndex": 99}}}):
        assert status(documents.batchUpdate(documentId=id, body={"requests": [bad]}))[0] == 400
    tabs = documents.get(documentId=tops(simulator, "Launch plan"), includeTabsContent=True).execute()["tabs"]
    assert [t["tabProperties"]["title"] for t in tabs] == ["Tab 1", "Menü"]


def test_errors_tokens_snapshots(simulator):
    simulator.fault("status", "/drive/v3/about", times=1, status=429, seconds=3)
    with pytest.raises(HttpError) as caught:
        api(simulator, "drive", "v3").about().get(fields="user").execute()
    assert caught.value.resp["retry-after"] == "3" and json.loads(caught.value.content)["error"]["errors"][0]["reason"] == "rateLimitExceeded"
    before, saved = simulator.state(), simulator.snapshot()
    id = tops(simulator, "todo.txt")
    simulator.store.update(id, {"name": "done.txt"}, None, "", [], [])
    changed = simulator.diff(before, simulator.state())
    assert list(changed["changed"]) == [id] and not changed["added"]
    simulator.restore(saved)
    assert simulator.state() == before


def test_the_index_lags():
    clock = Clock(1790784000.0)
    simulator = DriveSimulator(files=0, index_lag=60, clock=clock)
    simulator.store.add("root", "new.txt", "text/plain", b"quagga", "quagga")
    assert simulator.store.find("fullText contains 'quagga'") == [] and len(simulator.store.find("name = 'new.txt'")) == 1
    clock.advance(61)
    assert len(simulator.store.find("fullText contains 'quagga'")) == 1
