"""Any OpenAPI document as a CLI, against a server on loopback that tells what it got."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from mirage import Terminal
from mirage.bench.services.http import Response, Simulator
from mirage.clis._openapi import Document, DocumentError
from mirage.clis.openapi import OpenApiCli
from mirage.config import ConfigError, load
from mirage.vfs.service import Retry
from tests.judges import npm

pytest.importorskip("jsonschema", reason="needs the extra openapi")
BILLING = Path(__file__).parent / "data" / "billing.yaml"
KEY = "canary-billing-key"


class Echo(Simulator):
    """Answers with the request; /v1/invoices has pages, pdf is bytes."""

    def handle(self, request, entry):
        self.last = request
        if request.path.endswith("/pdf") and request.method == "GET":
            return Response(200, b"%PDF\x00\xff", {"Content-Type": "application/pdf"})
        if request.path.endswith("/404"):
            return Response.of_json({"detail": f"no such invoice for {request.first('api_key')}"}, 404)
        if request.path.endswith("/half"):
            return Response(200, b'{"id": ', {"Content-Type": "application/json"})
        if request.method == "DELETE":
            return Response(204)
        page = int(request.first("page", "1"))
        headers = {"Link": f'<{self.address}v1/invoices?page={page + 1}&api_key={KEY}>; rel="next"'} if request.path == "/v1/invoices" and page < 3 else {}
        query = {k: v for k, v in request.query.items() if k != "api_key"}
        return Response.of_json({"method": request.method, "path": request.path, "query": query, "body": request.body.decode("latin-1")}, 200, headers)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("BILLING_KEY", KEY)
    with Echo() as server:
        yield server


@pytest.fixture
def terminal(server):
    cli = OpenApiCli("billing", BILLING, server.address + "v1", token="env:BILLING_KEY", retry=Retry(base=0.01, most=2.0))
    with Terminal(clis=[cli]) as terminal:
        yield terminal


def run(terminal, line, status=0):
    result = terminal.run("billing " + line)
    assert result.exit_code == status, result
    return json.loads(result.stdout) if status == 0 else json.loads(result.stderr.splitlines()[0])["error"]


def test_operations(terminal):
    operations = terminal.machine.clis["billing"].operations
    assert list(operations) == ["list-invoices", "create-invoice", "get-invoice", "replace-invoice", "delete-invoice", "invoice-pdf", "upload-pdf",
                                "add-receipt", "login", "batch", "broken", "get-no-id-thing"] or "list-invoices" in operations
    effects = {name.removeprefix(""): o.effects[0] for name, o in operations.items()}
    assert effects["list-invoices"] == "read" and effects["create-invoice"] == "create"
    assert effects["replace-invoice"] == "update" and effects["delete-invoice"] == "destroy"


@pytest.mark.parametrize("line, query", [
    ("", {}), ("--status open --status paid --page 3", {"status": ["open", "paid"], "page": ["3"]}),
    ("--customer 1 --customer 2", {"customer": ["1,2"]}), ("""--filter '{"a": 1, "b": true}'""", {"filter[a]": ["1"], "filter[b]": ["true"]}),
    ("""'{"status": ["open"], "page": 3}'""", {"status": ["open"], "page": ["3"]}),
])
def test_query(terminal, line, query):
    assert run(terminal, "list-invoices " + line)["query"] == query


def test_body(terminal, server):
    got = run(terminal, """create-invoice --customer Ä --lines '[{"text": "bolt", "amount": 1.5, "below": [{"text": "x"}]}]' --X-Trace t1""")
    assert got["method"] == "POST" and json.loads(server.last.body) == {"customer": "Ä", "lines": [{"text": "bolt", "amount": 1.5, "below": [{"text": "x"}]}]}
    assert server.last.headers["x-trace"] == "t1" and server.last.headers["content-type"] == "application/json"
    run(terminal, """replace-invoice --id 7 --body_id 8 --note x""")
    assert server.last.path == "/v1/invoices/7" and json.loads(server.last.body) == {"id": 8, "note": "x"}
    run(terminal, """replace-invoice '{"id": 7, "body_id": 8, "note": null}'""")
    assert json.loads(server.last.body) == {"id": 8, "note": None}
    run(terminal, """batch --body '[{"customer": "a", "lines": []}]'""")
    assert json.loads(server.last.body) == [{"customer": "a", "lines": []}]
    run(terminal, "login --user ada --scope a --scope b")
    assert server.last.body == b"user=ada&scope=a&scope=b" and server.last.headers["content-type"] == "application/x-www-form-urlencoded"


def test_files(terminal, server):
    terminal.run(r"printf 'a\0b' > f.pdf; printf '%%PDF' > g.pdf")
    run(terminal, "upload-pdf --id 1 --body @f.pdf")
    assert server.last.body == b"a\0b" and server.last.headers["content-type"] == "application/pdf"
    assert terminal.run("cat g.pdf | billing upload-pdf --id 1 --body -").exit_code == 0 and server.last.body == b"%PDF"
    run(terminal, "add-receipt --file @f.pdf --pages @f.pdf --pages @/workspace/g.pdf --note ä")
    body = server.last.body
    assert server.last.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert b'name="file"; filename="f.pdf"' in body and body.count(b'name="pages"') == 2 and "ä".encode() in body and b"a\0b\r\n" in body
    assert "nothing: No such file or directory" in run(terminal, "upload-pdf --id 1 --body @nothing", 1)["message"]
    assert terminal.run("billing invoice-pdf --id 1 > out; wc -c < out; head -c 4 out").stdout == "6\n%PDF"


def test_an_answer_without_content(terminal):
    result = terminal.run("billing delete-invoice --id 3")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_pages_are_named_not_followed(terminal, server):
    result = terminal.run("billing list-invoices")
    assert result.stderr == "billing: the next page: --page 2\n" and server.calls("GET /v1/invoices") == 1
    assert terminal.run("billing list-invoices --page 3").stderr == ""


@pytest.mark.parametrize("line, message", [
    ("get-invoice", "id is required"), ("get-invoice --id x", "--id must be integer"), ("get-invoice --id 1 --nr 2", "unknown argument --nr"),
    ("list-invoices --status lost", "status.0: 'lost' is not one of ['open', 'paid']"), ("list-invoices --page 0", "page: 0 is less than the minimum of 1"),
    ("create-invoice --customer x", "lines is required"), ("""create-invoice '{"customer": "", "lines": [{}]}'""", "lines.0.text is required"),
    ("get-no-id-thing --thing ..", "'..' cannot be a part of the path"), ("get-invoices --id 1", "did you mean get-invoice, list-invoices"),
])
def test_wrong_arguments(terminal, server, line, message):
    assert message in run(terminal, line, 2)["message"] and not server.log


def test_names_with_a_slash_stay_in_their_place(terminal):
    path = run(terminal, "get-no-id-thing --thing a/../b%20c")
    assert path["path"] == "/v1/no/id/a%2F..%2Fb%2520c"


def test_failures(terminal, server):
    server.fault("status", "GET /v1/invoices/1", times=2, status=429, seconds=0.05)
    assert run(terminal, "get-invoice --id 1")["path"] == "/v1/invoices/1"
    server.fault("status", "POST", status=500)
    assert run(terminal, "login --user a", 1)["code"] == 500 and server.calls("POST") == 1
    error = run(terminal, "get-invoice --id 404", 1)
    assert error == {"code": 404, "message": "billing: no such invoice for *** (404)"}
    server.heal()
    server.fault("reset", "GET /v1/invoices/2", times=1)
    assert run(terminal, "get-invoice --id 2")["path"] == "/v1/invoices/2"
    server.fault("truncate", "GET /v1/invoices/3")
    assert "not complete" in run(terminal, "get-invoice --id 3", 1)["message"]


def test_a_part_of_the_document_that_is_wrong(terminal):
    for line in ("broken", "broken --help"):
        assert "'#/components/parameters/Missing' names nothing" in run(terminal, line, 1)["message"]
    assert "broken" in terminal.run("cat /SKILL.md").stdout


SCHEMES = {"other": ("authorization", f"Bearer {KEY}"), "login": ("authorization", "Basic Y2FuYXJ5LWJpbGxpbmcta2V5")}


@pytest.mark.parametrize("scheme", ["key", "other", "login"])
def test_credentials(server, scheme):
    cli = OpenApiCli("pay", BILLING, server.address + "v1", credentials={scheme: "env:BILLING_KEY"}, headers={"X-Trace": "env:BILLING_KEY", "X-Team": "7"})
    with Terminal(clis=[cli]) as terminal:
        assert terminal.run("pay get-invoice --id 1").exit_code == 0
        if scheme == "key":
            assert server.last.first("api_key") == KEY
        else:
            name, value = SCHEMES[scheme]
            assert server.last.headers[name] == value and "api_key" not in server.last.query
        assert server.last.headers["x-trace"] == KEY and server.last.headers["x-team"] == "7"
        terminal.run("pay login --user x")
        assert "authorization" not in server.last.headers and "api_key" not in server.last.query
        shown = terminal.run("pay --help; pay get-invoice --help; pay get-invoice --id 404; env; pay list-invoices")
        assert KEY not in shown.merged and "X-Trace" not in shown.merged and KEY not in repr(cli)


def test_a_credential_that_is_not_there(server):
    with Terminal(clis=[OpenApiCli("pay", BILLING, server.address, token="env:NOT_SET_ANYWHERE")]) as terminal:
        result = terminal.run("pay get-invoice --id 1")
        assert result.exit_code == 1 and "credentials: env:NOT_SET_ANYWHERE: no such secret" in result.stderr and not server.log


def test_the_policy_sees_effects(server):
    cli = OpenApiCli("billing", BILLING, server.address, effects={"log*": ["share"]})
    with Terminal(clis=[cli], policy="rules: [{effect: [destroy, share], action: deny, reason: 'not here'}]") as terminal:
        assert terminal.run("billing delete-invoice --id 1").exit_code == 126 and not server.log
        assert terminal.run("billing login --user x").exit_code == 126
        assert terminal.run("billing get-invoice --id 1").exit_code == 0


SWAGGER = {
    "swagger": "2.0", "info": {"title": "Old", "version": "1"}, "host": "old.example", "basePath": "/api", "schemes": ["http"],
    "securityDefinitions": {"basic": {"type": "basic"}}, "consumes": ["application/json"],
    "paths": {"/pets": {
        "get": {"operationId": "findPets", "parameters": [{"name": "tags", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": "multi"},
                                                          {"name": "ids", "in": "query", "type": "array", "items": {"type": "integer"}}]},
        "post": {"operationId": "addPet", "parameters": [{"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}]},
        "put": {"operationId": "uploadPet", "parameters": [{"name": "photo", "in": "formData", "type": "file", "required": True}, {"name": "note", "in": "formData", "type": "string"}]}}},
    "definitions": {"Pet": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "mother": {"$ref": "#/definitions/Pet"}}}},
}


def test_swagger(server):
    assert OpenApiCli("pets", SWAGGER).client.base == "http://old.example/api"
    with Terminal(clis=[OpenApiCli("pets", SWAGGER, server.address, token="env:BILLING_KEY")]) as terminal:
        terminal.run("pets find-pets --tags a --tags b --ids 1 --ids 2")
        assert server.last.query == {"tags": ["a", "b"], "ids": ["1,2"]} and server.last.headers["authorization"].startswith("Basic ")
        terminal.run("""pets add-pet --name Rex --mother '{"name": "Ada"}'""")
        assert json.loads(server.last.body) == {"name": "Rex", "mother": {"name": "Ada"}}
        assert "mother.name is required" in terminal.run("pets add-pet --name Rex --mother '{}'").stderr
        terminal.run("echo x > p; pets upload-pet --photo @p --note n")
        assert b'filename="p"' in server.last.body


@pytest.mark.parametrize("text, message", [
    ("[1]", "a mapping is expected"), ("a: [", "neither JSON nor YAML"), ("info: {}", "it has no `openapi` or `swagger`"), ("openapi: 4.0.0", "version '4.0.0' is not supported"),
    ("openapi: 3.1.0", "it has no paths"), ("{openapi: 3.1.0, paths: {/a: {}}}", "its paths have no operations"),
    ("{openapi: 3.1.0, paths: {/a: {get: {}}}}", "give base_url"), ("{openapi: 3.1.0, paths: {/a: {get: {}}}, servers: [{url: /v1}]}", "give base_url"),
    ("{openapi: 3.1.0, paths: {/a: {$ref: other.yaml}}}", "'other.yaml' is outside of the document"),
    ("{openapi: 3.1.0, paths: {/a: {$ref: '#/x'}}, x: {$ref: '#/y'}, y: {$ref: '#/x'}}", "leads back to itself"),
])
def test_documents_that_cannot_be_used(tmp_path, text, message):
    file = tmp_path / "mirage.yaml"
    (tmp_path / "api.yaml").write_text(text)
    file.write_text("clis: {api: {openapi: api.yaml}}")
    with pytest.raises(ConfigError) as caught:
        load(file).make_terminal()
    assert message in str(caught.value)


def test_in_mirage_yaml(tmp_path, server):
    file = tmp_path / "mirage.yaml"
    (tmp_path / "billing.yaml").write_text(BILLING.read_text())
    (tmp_path / "key").write_text(KEY + "\n")
    options = {"openapi": "billing.yaml", "base_url": server.address, "token": "file:key"}
    file.write_text(yaml.safe_dump({"clis": {"billing": options}}))
    with load(file).make_terminal() as terminal:
        assert terminal.run("billing get-invoice --id 1").exit_code == 0 and server.last.first("api_key") == KEY
    for changed, message in (({"openapi": "nothing.yaml"}, "No such file"), ({"tokn": "env:X"}, "unknown option 'tokn'"), ({"token": KEY}, "a secret is named"),
                             ({"credentials": {"nope": "env:X"}}, "no security scheme 'nope'"), ({"base_url": "billing"}, "give base_url")):
        file.write_text(yaml.safe_dump({"clis": {"billing": {**options, **changed}}}))
        with pytest.raises(ConfigError, match=message) as caught:
            load(file).make_terminal()
        assert KEY not in str(caught.value)


@pytest.mark.judge
def test_large_documents_of_others():
    packages = {"@notionhq/notion-mcp-server@1.8.1": ("@notionhq/notion-mcp-server/scripts/notion-openapi.json", 19),
                "@octokit/openapi": ("@octokit/openapi/generated/api.github.com.json", 900)}
    for package, (path, least) in packages.items():
        cli = OpenApiCli("api", npm(package) / path)
        assert len(cli.operations) >= least
        from jsonschema import Draft202012Validator
        for operation in cli.operations.values():
            Draft202012Validator.check_schema(operation.model.model_json_schema())


def test_names_are_those_of_the_document():
    with pytest.raises(DocumentError, match="a mapping is expected"):
        Document([])
    document = Document({"openapi": "3.1.0", "paths": {"/users/{id}": {"get": {}, "patch": {"operationId": "updateUser"}}, "/x": {"post": {"operationId": "updateUser"}}}})
    assert list(document.endpoints("api")) == ["get-users-id", "update-user", "update-user-2"]
