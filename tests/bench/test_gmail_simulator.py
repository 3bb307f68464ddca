from __future__ import annotations

import base64
import http.client
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from mirage.bench.services.gmail import GmailSimulator
from mirage.bench.services.gmail.fields import apply, parse
from mirage.bench.services.gmail.mailbox import MailError

ME = "/gmail/v1/users/me"


@pytest.fixture
def simulator():
    with GmailSimulator(messages=60) as simulator:
        yield simulator


def call(simulator, method, path, body=None, headers=None, token="simulator-token", raw=False):
    host = simulator.address.removeprefix("http://").rstrip("/")
    connection = http.client.HTTPConnection(host, timeout=10)
    data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
    connection.request(method, path, data, {"Authorization": f"Bearer {token}", **(headers or {})})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content if raw or not content else json.loads(content), dict(answer.getheaders())


def get(simulator, path):
    status, value, _ = call(simulator, "GET", ME + path)
    assert status == 200, value
    return value


def ids(simulator, query, **options):
    more = "".join(f"&{k}={v}" for k, v in options.items())
    return [m["id"] for m in get(simulator, f"/messages?maxResults=500&q={quote(query)}{more}").get("messages", [])]


def test_the_same_seed_is_the_same_mailbox():
    assert GmailSimulator(3).state() == GmailSimulator(3).state() != GmailSimulator(4).state()


def test_the_year_of_a_company():
    simulator = GmailSimulator()
    messages = simulator.mailbox.messages.values()
    assert len(messages) == 600
    dates = sorted(m.date for m in messages)
    assert 360 < (dates[-1] - dates[0]) / 86_400_000 < 366
    kinds = {p.mime_type for m in messages for p in m.attachments()}
    assert {"application/pdf", "text/csv", "text/markdown", "image/png", "application/zip", "text/calendar"} <= kinds
    assert max(p.size for m in messages for p in m.attachments()) == 10 << 20
    assert sum(m.body.mime_type == "text/html" for m in messages) > 50
    assert len({m.thread for m in messages}) < 500 and len(simulator.mailbox.drafts) == 4


def check_schema(value, schema, schemas, path=""):
    """Every field is one of the API's discovery document, of its type."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"]]
    kind = schema.get("type")
    if kind == "object":
        for name, inner in value.items():
            assert name in schema["properties"], f"{path}.{name} is not in the API"
            check_schema(inner, schema["properties"][name], schemas, f"{path}.{name}")
    elif kind == "array":
        for inner in value:
            check_schema(inner, schema["items"], schemas, path + "[]")
    else:
        assert isinstance(value, {"string": str, "integer": int, "boolean": bool}[kind]), (path, value)


def test_answers_have_the_shapes_of_the_api(simulator):
    import googleapiclient
    document = json.loads((Path(googleapiclient.__file__).parent / "discovery_cache/documents/gmail.v1.json").read_text())
    schemas = document["schemas"]
    message = get(simulator, "/messages?maxResults=3")
    check_schema(message, schemas["ListMessagesResponse"], schemas)
    for form in ("full", "metadata", "minimal", "raw"):
        check_schema(get(simulator, f"/messages/6?format={form}"), schemas["Message"], schemas)
    check_schema(get(simulator, "/profile"), schemas["Profile"], schemas)
    check_schema(get(simulator, "/labels"), schemas["ListLabelsResponse"], schemas)
    check_schema(get(simulator, "/labels/INBOX"), schemas["Label"], schemas)
    check_schema(get(simulator, "/drafts"), schemas["ListDraftsResponse"], schemas)
    check_schema(get(simulator, "/threads?maxResults=5"), schemas["ListThreadsResponse"], schemas)
    check_schema(get(simulator, "/threads/6"), schemas["Thread"], schemas)
    start = get(simulator, "/profile")["historyId"]
    call(simulator, "POST", f"{ME}/messages/6/modify", {"addLabelIds": ["STARRED"], "removeLabelIds": ["INBOX"]})
    history = get(simulator, f"/history?startHistoryId={start}")
    check_schema(history, schemas["ListHistoryResponse"], schemas)
    assert len(history["history"]) == 2


def test_pages_and_folders(simulator):
    first = get(simulator, "/messages?maxResults=20&includeSpamTrash=true")
    found, token = [m["id"] for m in first["messages"]], first["nextPageToken"]
    while token:
        page = get(simulator, f"/messages?maxResults=20&includeSpamTrash=true&pageToken={token}")
        found += [m["id"] for m in page["messages"]]
        token = page.get("nextPageToken")
    assert len(found) == len(set(found)) == 60
    plain = ids(simulator, "")
    trash = {m["id"] for m in get(simulator, "/messages?labelIds=TRASH").get("messages", [])}
    assert not trash & set(plain)


@pytest.mark.parametrize(("query", "expected"), [
    ("champagne", True), ("CHAMPAGNE everybody", True), ("champ", False), ('"champagne at four"', True),
    ('"four at champagne"', False), ("champagne -invited", False), ("zebra OR champagne", True),
    ("{zebra champagne}", True), ("champagne zebra", False), ("subject:ships", True), ("subject:champagne", False),
    ("from:soren champagne", True), ("to:soren champagne", False), ("to:mara champagne", True),
    ("label:projects-apollo champagne", True), ("in:inbox champagne", True), ("in:sent champagne", False),
    ("has:attachment champagne", False), ("champagne after:2026/09/19 before:2026/09/21", True),
    ("champagne after:2026/09/21", False), ("champagne older_than:8d", True), ("champagne newer_than:8d", False),
    ("champagne -in:inbox", False), ("(champagne OR zebra) ships", True), ("-(champagne zebra) ships", True),
    ("champagne has:userlabels", True)])
def test_search_syntax(simulator, query, expected):
    (wanted,) = [m.id for m in simulator.mailbox.messages.values() if "Apollo ships" in m.header("Subject")]
    assert (wanted in ids(simulator, query)) == expected


def test_more_operators(simulator):
    assert ids(simulator, "filename:course_schedule.md") == ["6"] and ids(simulator, "filename:md has:attachment alpine") == ["6"]
    unread = ids(simulator, "is:unread")
    assert unread and not set(unread) & set(ids(simulator, "is:read"))
    assert all("TRASH" in simulator.mailbox.get(i).labels for i in ids(simulator, "in:trash"))
    assert len(ids(simulator, "in:anywhere")) == 60


def test_new_messages_are_found_by_words_after_the_lag():
    with GmailSimulator(messages=20, index_lag=60) as simulator:
        new = simulator.mailbox.deliver("a@b.example", "quagga", "x")
        assert ids(simulator, "quagga") == [] and new.id in ids(simulator, "in:inbox")
        simulator.clock.advance(61)
        assert ids(simulator, "quagga") == [new.id]


def test_errors(simulator):
    status, value, headers = call(simulator, "GET", f"{ME}/profile", token="wrong")
    assert status == 401 and value["error"]["status"] == "UNAUTHENTICATED" and "Bearer" in headers["WWW-Authenticate"]
    assert call(simulator, "GET", f"{ME}/messages/ffff")[0] == 404
    assert call(simulator, "GET", "/gmail/v1/users/other@x.example/profile")[0] == 404
    assert call(simulator, "POST", f"{ME}/messages/send", {"raw": base64.urlsafe_b64encode(b"Subject: x\n\ny").decode()})[0] == 400
    assert call(simulator, "GET", f"{ME}/messages?labelIds=Nope")[0] == 400
    assert call(simulator, "GET", f"{ME}/history?startHistoryId=1")[0] == 404
    simulator.fault("status", "/profile", status=429, seconds=7, times=1)
    status, value, headers = call(simulator, "GET", f"{ME}/profile")
    assert status == 429 and headers["Retry-After"] == "7" and value["error"]["errors"][0]["reason"] == "rateLimitExceeded"
    assert call(simulator, "GET", f"{ME}/profile")[0] == 200


def test_tokens_are_refreshed(simulator):
    form = b"grant_type=refresh_token&client_id=i&client_secret=s&refresh_token=simulator-refresh"
    status, value, _ = call(simulator, "POST", "/token", form, {"Content-Type": "application/x-www-form-urlencoded"})
    assert status == 200 and call(simulator, "GET", f"{ME}/profile", token=value["access_token"])[0] == 200
    simulator.expire_tokens()
    assert call(simulator, "GET", f"{ME}/profile", token=value["access_token"])[0] == 401
    assert call(simulator, "POST", "/token", b"grant_type=refresh_token&refresh_token=x")[1]["error"] == "invalid_grant"


def test_uploads_of_three_kinds(simulator):
    raw = b"To: a@b.example\r\nSubject: Upload\r\n\r\nline\r\n"
    before = simulator.state()
    call(simulator, "POST", f"{ME}/messages/send", {"raw": base64.urlsafe_b64encode(raw).decode()})
    call(simulator, "POST", f"/upload{ME}/messages/send?uploadType=media", raw, {"Content-Type": "message/rfc822"})
    body = b'--B\r\nContent-Type: application/json\r\n\r\n{"threadId": "6"}\r\n--B\r\nContent-Type: message/rfc822\r\n\r\n' + raw + b"\r\n--B--"
    status, value, _ = call(simulator, "POST", f"/upload{ME}/messages/send?uploadType=multipart", body,
                            {"Content-Type": "multipart/related; boundary=B"})
    assert status == 200 and value["threadId"] == "6" and value["labelIds"] == ["SENT"]
    added = simulator.diff(before, simulator.state())["messages"]["added"].values()
    assert [m["text"] for m in added] == ["line\r\n"] * 3


def test_batches(simulator):
    body = "".join(f"--X\r\nContent-Type: application/http\r\nContent-ID: <{i}>\r\n\r\nGET {ME}/messages/{m}?fields=id HTTP/1.1\r\n\r\n\r\n"
                   for i, m in enumerate(("6", "ffff"))) + "--X--"
    status, content, _ = call(simulator, "POST", "/batch/gmail/v1", body.encode(), {"Content-Type": "multipart/mixed; boundary=X"},
                              raw=True)
    assert status == 200 and b'{"id": "6"}' in content and b"HTTP/1.1 404" in content and b"<response-1>" in content
    assert simulator.log[-1].parts == 2
    many = body.replace("--X--", "") * 51 + "--X--"
    assert call(simulator, "POST", "/batch/gmail/v1", many.encode(), {"Content-Type": "multipart/mixed; boundary=X"})[0] == 400


def test_partial_responses():
    assert apply(parse("a,b(c,d/e),f/g"), {"a": 1, "b": {"c": 2, "d": {"e": 3, "x": 0}, "y": 0}, "f": [{"g": 4, "h": 0}], "z": 0}) \
        == {"a": 1, "b": {"c": 2, "d": {"e": 3}}, "f": [{"g": 4}]}
    for bad in ("", "a(", "a,,b", "a)b"):
        with pytest.raises(ValueError):
            parse(bad)


def test_snapshot_and_difference(simulator):
    before, snapshot = simulator.state(), simulator.snapshot()
    box = simulator.mailbox
    box.trash(["6"])
    label = box.create_label("Later")["id"]
    sent = box.send(b"To: a@b.example\nSubject: x\n\ny\n")
    found = simulator.diff(before, simulator.state())
    assert list(found["messages"]["changed"]) == ["6"] and list(found["messages"]["added"]) == [sent.id]
    assert found["labels"]["added"] == {label: "Later"} and not found["drafts"]["added"]
    simulator.restore(snapshot)
    assert simulator.state() == before
    simulator.reset(2, 30)
    assert len(simulator.state()["messages"]) == 30


def test_system_labels_cannot_be_changed(simulator):
    box = simulator.mailbox
    for change in (lambda: box.delete_label("INBOX"), lambda: box.rename_label("SENT", "x"), lambda: box.create_label("inbox"),
                   lambda: box.change_labels(["6"], ["SENT"], []), lambda: box.change_labels(["6"], ["Label_99"], [])):
        with pytest.raises(MailError):
            change()
