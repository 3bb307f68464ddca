"""No secret is ever seen: canaries in every credential, a server that throws them back, and a search through everything."""
from __future__ import annotations

import base64
import json
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mirage import Terminal
from mirage.bench.services.http import LogEntry, Request, Response, Simulator
from mirage.clis.framework import OperationError
from mirage.clis.registry import PROVIDERS as CLI_PROVIDERS
from mirage.config import load
from mirage.vfs import registry
from mirage.vfs.secrets import Secret

MARK = "Q7canaryZ9"
CLOSED = "127.0.0.1:9"                                       # nothing listens there
ALONE = {"imap": ("token",)}                                 # secrets that exclude the others
PATIENT = ("imap", "mongodb")                                # wait long for a server that is not there: one look
STATUSES = (401, 403, 404, 400, 422)
DESK = "tests/clis/data/billing.yaml"
ROOT = Path(__file__).resolve().parents[2]

# What a provider needs beside its secrets; "{echo}" is the address of the server.
NEEDS: dict[str, dict[str, Any]] = {
    "canvas": {"url": "{echo}"}, "fsspec": {"url": "http://{host}"}, "host": {"dir": "."}, "http": {"urls": ["{echo}a.txt"], "private": True},
    "mongodb": {"url": f"mongodb://user:{MARK}@{CLOSED}/db?serverSelectionTimeoutMS=50", "timeout": 0.05}, "redis": {"url": f"redis://user:{MARK}@{CLOSED}/0"},
    "rest": {"file": "desk.yaml"}, "s3": {"bucket": "b", "region": "eu-north-1"}, "sql": {"url": f"postgresql://user:{MARK}@{CLOSED}/db?connect_timeout=1"},
    "vfs": {"file": "store.db", "cipher": "aes256gcm"}, "memory": {}, "imap": {"host": "127.0.0.1", "port": 9, "user": "u@v.example", "smtp_host": "127.0.0.1", "smtp_port": 9},
}
REST = """
name: desk
summary: Tickets.
base_url: http://127.0.0.1:9
tree: [{directory: "{name}", each: {path: /projects, items: projects}, as: project, children: []}]
operations: {create-ticket: {summary: Open one, effects: [create], path: /tickets, arguments: {title: {required: true}}}}
"""
LOOKING = """
ls /m; ls -laR /m; cat /m/*; cat /m/a.txt /m/x/y; find /m; find /m -name '*a*'; grep -r word /m; rg word /m; head -c 10 /m/x; stat /m /m/x; tree /m; du -a /m; wc /m/x
cp -r /m /tmp/copy; tar cf /tmp/a.tar /m; diff -r /m /tmp; file /m/x; jq . /m/x.json; awk 1 /m/x; sed p /m/x; sort /m/x; md5sum /m/x; test -e /m/x; for f in /m/*; do cat "$f"; done
echo x > /m/new; mkdir /m/dir; rm -r /m/x; mv /m/x /m/y; touch /m/t; cat < /m/x; mapfile < /m/x; source /m/x; cd /m; pwd; ls ..; df /m; mount; cat /proc/mounts; realpath /m/x
env; printenv; set; export -p; declare -p; cat /proc/self/environ /proc/1/environ; cat /etc/passwd; echo $PATH ${!A*} $HOST_CANARY $AWS_SECRET_ACCESS_KEY; jq -n env; jq -n '$ENV'; awk 'BEGIN {for (k in ENVIRON) print k, ENVIRON[k]}'
cat /VFS.md /SKILL.md; history; type -a cat; cat /usr/bin/*; ls -la /usr/bin /etc /dev /proc; find / -name '*token*'; grep -r Q7canary /etc /home /workspace /tmp /proc; strings /usr/bin/bash; no-such-command; exit 3
curl -s http://127.0.0.1:9/; wget http://127.0.0.1:9/; printf '%s' "$(<mirage.yaml)"; cat /mirage.yaml mirage.yaml key.txt ../key.txt; bash -c 'env; exec 9< /m/x'; timeout 1 env; xargs -a /m/x env; trap; times; ulimit -a; x=$(ls /m 2>&1); echo "$x"
"""


class Echo(Simulator):
    """Refuses everything, with all that it was sent in its words."""

    def handle(self, request: Request, entry: LogEntry) -> Response:
        words = f"no: {request.method} {request.path} {request.query} {request.headers} {request.body.decode('latin-1')}"
        if request.path.startswith("/api/") and request.path.count("/") == 2:      # Slack
            return Response.of_json({"ok": False, "error": words})
        status = STATUSES[len(request.path) % len(STATUSES)]
        return Response.of_json({"error": {"message": words, "code": status}, "message": words, "errors": [{"message": words}], "detail": words}, status)


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    with Echo() as server:
        yield server


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOST_CANARY", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "SLACK_TOKEN", "PGPASSWORD"):
        monkeypatch.setenv(name, f"{MARK}-{name}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "key.txt").write_text(f"{MARK}-file\n")
    (tmp_path / "desk.yaml").write_text(REST)


def filled(value: Any, echo: Echo) -> Any:
    if isinstance(value, str):
        return value.replace("{echo}", echo.address).replace("{host}", echo.address.split("//")[1].rstrip("/"))
    return [filled(v, echo) for v in value] if isinstance(value, list) else value


def variants(name: str, echo: Echo) -> list[dict[str, Any]]:
    """Options of a provider with a canary in every secret; credentials of Google in one of their own."""
    known: dict[str, Any] = getattr(registry.provider(name), "OPTIONS", {})
    secrets = [key for key, kind in known.items() if kind is Secret]
    common = {key: filled(value, echo) for key, value in NEEDS.get(name, {}).items() if key in known}
    if "endpoint" in known:
        common["endpoint"] = echo.address
    found = []
    alone = [key for key in secrets if key in ("credentials", *ALONE.get(name, ()))]
    for keys in ([key for key in secrets if key not in alone], *([key] for key in alone)):
        if not keys and found:
            continue
        options = dict(common)
        for key in keys:
            variable = f"SECRET_{name}_{key}".upper()
            os.environ[variable] = secret_text(name, key, echo)
            options[key] = f"env:{variable}"
        url = str(options.get("url", ""))
        if MARK in url:
            variable = f"URL_{name}".upper()
            os.environ[variable] = url
            options["url"] = f"env:{variable}"
        found.append(options)
    return found


def secret_text(name: str, key: str, echo: Echo) -> str:
    if name == "vfs":
        return MARK.encode().hex().ljust(64, "0")            # a key of 32 bytes
    value = f"{MARK}-{name}-{key}"
    if key == "credentials":
        return json.dumps({"type": "authorized_user", "client_id": value, "client_secret": value, "refresh_token": value, "token_uri": echo.address + "token"})
    return json.dumps({"password": value}) if name == "fsspec" else value


@pytest.fixture
def environment() -> Iterator[None]:
    before = dict(os.environ)
    yield
    for key in set(os.environ) - set(before):
        del os.environ[key]


def example(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """Something that fits a JSON schema."""
    if "$ref" in schema:
        return example(root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {}), root)
    if "enum" in schema or "const" in schema:
        return schema.get("const", (schema.get("enum") or [None])[0])
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return example(schema[key][0], root)
    kind = schema.get("type")
    if kind == "object":
        return {name: example(schema.get("properties", {}).get(name, {}), root) for name in schema.get("required", [])}
    return {"integer": max(1, int(schema.get("minimum", 1))), "number": 1, "boolean": True, "array": [example(schema.get("items", {}), root)] if kind == "array" else []}.get(
        str(kind), "x@y.example"[:schema.get("maxLength", 20)])


def calls(cli: Any) -> Iterator[str]:
    """Lines that ask for help and run every operation."""
    yield f"{cli.name}; {cli.name} --help; {cli.name} nope; {cli.name} nope --help; {cli.name} {next(iter(cli.operations), 'x')} --no-such"
    operations = list(cli.operations.items())
    for name, operation in operations[::1 + len(operations) // 10]:
        try:
            schema = operation.model.model_json_schema()
        except OperationError:                               # a wrong part of a document
            schema = {}
        given = json.dumps(example({"type": "object", **schema}, schema)).replace("'", "")
        yield f"{cli.name} {name} --help; {cli.name} {name} '{given}'"


def everything(terminal: Terminal, lines: list[str]) -> Iterator[str]:
    """All that an agent, a harness or an owner can see of what the lines did."""
    for line in lines:
        result = terminal.run(line, timeout=20)
        yield from (result.stdout, result.stderr, result.merged, repr(result), str(result), json.dumps(result.as_dict()))
    yield from (terminal.call("bash", {"command": line.partition(";")[0]}) for line in lines[1:4])
    looks = (terminal.fs.list, terminal.fs.stat, terminal.fs.read, lambda p: terminal.fs.write(p + "/new", b"x"))
    for path in ("/m",) if len(lines) == 1 else ("/", "/m", "/m/x", "/workspace"):
        for look in looks[:1] if len(lines) == 1 else looks:
            try:
                yield repr(look(path))
            except OSError as e:
                yield from (repr(e), str(e), str(vars(e)), "".join(traceback.format_exception(e)))
    for style in ("openai", "anthropic", "mcp"):
        yield json.dumps(terminal.tools(style))
    machine = terminal.machine
    for thing in (terminal, machine, machine.namespace, machine.gate, *machine.clis.values(), *(m.mount for m in machine.namespace.mounts())):
        yield from (repr(thing), str(thing))
        for name, value in getattr(thing, "__dict__", {}).items():
            yield f"{name}={value!r}"
        client = getattr(thing, "client", None)
        yield repr(client) if client is not None else ""
    for name, error in machine.errors:
        yield from (name, "".join(traceback.format_exception(error)))


def check(texts: Iterator[str], *more: bytes) -> None:
    hidden = [value for key, value in os.environ.items() if MARK in value] + [MARK, MARK.encode().hex()]
    forms = {form for text in hidden for form in (text, base64.b64encode(text.encode()).decode(), text[::-1])}
    for text in (*texts, *(data.decode("latin-1") for data in more)):
        for form in forms:
            assert form not in text, f"...{text[max(0, text.index(form) - 300):][:400]}..."


def run(config: dict[str, Any], tmp_path: Path, lines: list[str]) -> None:
    """Everything that a terminal of this mirage.yaml shows for the lines and for every operation of its CLIs."""
    file = tmp_path / "mirage.yaml"
    file.write_text(json.dumps({**config, "journal": "journal.db", "policy": "rules.yaml"}))
    (tmp_path / "rules.yaml").write_text("rules: [{effect: destroy, path: /workspace/keep, action: ask}]\n")
    with load(file).make_terminal() as terminal:
        for cli in terminal.machine.clis.values():
            lines = [*lines, *(calls(cli) if cli.operations and len(lines) > 1 else ())]
        texts = list(everything(terminal, lines))
        assert not terminal.machine.errors, terminal.machine.errors
    journal = b"".join(path.read_bytes() for path in tmp_path.glob("journal.db*"))
    assert len(texts) > 20 and len(journal) > 4096
    check(iter(texts), journal)


@pytest.mark.parametrize("name", registry.names())
def test_a_provider(name: str, echo: Echo, tmp_path: Path, environment: None) -> None:
    try:
        found = variants(name, echo)
    except ImportError as e:
        pytest.skip(f"needs the extra of {name}: {e}")
    if name == "host":
        (tmp_path / "shown").mkdir()
        found = [{"dir": "shown"}]
    for options in found:
        clis = {cli.replace("_", "-"): {"provider": cli} for cli, module in CLI_PROVIDERS.items()
                if (cli == name or cli in ("google-doc", "google-sheet") and name == "gdrive") and cli != "rest"}
        if name == "rest":
            clis = {"desk": {"provider": "rest"}}
        lines = [line for line in LOOKING.strip().split("\n") if line]
        looks = ["ls /m; env"] if name in PATIENT else lines if name == "memory" else lines[:3]
        try:
            run({"mounts": {"/m": {"provider": name, **options}}, "clis": clis}, tmp_path, looks)
        except ImportError as e:
            pytest.skip(f"needs the extra of {name}: {e}")


def test_adapters(echo: Echo, tmp_path: Path, environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mcp", reason="needs the extra mcp")
    monkeypatch.setenv("ADAPTER_KEY", f"{MARK}-adapter")
    server = [sys.executable, str(ROOT / "tests" / "clis" / "servers" / "tools.py")]
    clis = {"station": {"mcp": {"command": server, "env": {"STATION_KEY": "env:ADAPTER_KEY"}, "timeout": 2}},
            "broken": {"mcp": {"command": ["false"], "env": {"KEY": "file:key.txt"}}},
            "remote": {"mcp": {"url": echo.address + "mcp", "token": "env:ADAPTER_KEY", "headers": {"X-Key": "file:key.txt"}}},
            "billing": {"openapi": str(ROOT / DESK), "base_url": echo.address, "token": "env:ADAPTER_KEY", "headers": {"X-Trace": "file:key.txt"}},
            "basic": {"openapi": str(ROOT / DESK), "base_url": echo.address, "credentials": {"login": "env:ADAPTER_KEY", "other": "file:key.txt"}}}
    others = [f"{cli} --help; {cli} x --y z" for cli in ("station", "broken", "remote")]
    run({"clis": clis}, tmp_path, ["station environment; station fail --text x", "cat /SKILL.md; env; jq -n env", *others])


def test_a_secret_that_is_written_instead_of_named(tmp_path: Path) -> None:
    """mirage.yaml refuses it, and does not repeat it."""
    file = tmp_path / "mirage.yaml"
    for config in ({"mounts": {"/m": {"provider": "slack", "token": f"{MARK}-literal"}}}, {"mounts": {"/m": {"provider": "sql", "url": f"postgresql://u:{MARK}@h/db"}}},
                   {"mounts": {"/m": {"provider": "http", "urls": f"https://u:{MARK}@h/a"}}}, {"clis": {"w": {"mcp": {"url": "https://h", "token": f"{MARK}-x"}}}},
                   {"mounts": {"/m": {"provider": "gmail", "token": [f"{MARK}-x"]}}}, {"clis": {"w": {"openapi": str(ROOT / DESK), "token": f"{MARK}:x"}}}):
        file.write_text(json.dumps(config))
        with pytest.raises(ValueError) as caught:
            load(file).make_terminal()
        assert MARK not in str(caught.value), caught.value
