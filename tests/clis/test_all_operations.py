"""Every operation of every CLI with arguments that make no sense: one clear line of JSON and its status, never a traceback."""
from __future__ import annotations

import json
import shlex
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mirage import Terminal
from mirage.clis.framework import OperationError

MODULES = {"canvas": (), "gcal": (), "gdrive": ("googleapiclient",), "github": ("github",), "linear": (), "gmail": ("googleapiclient",),
           "mongo": ("pymongo", "mongomock"), "notion": (), "redis": ("redis",), "s3": ("s3fs", "moto.server"), "slack": ("slack_sdk",),
           "sql": ("sqlalchemy",), "function": (), "openapi": ("jsonschema",), "rest": ()}
SMALL: dict[str, dict[str, Any]] = {
    "canvas": {"courses": 3, "enrollments": 30}, "gcal": {"events": 20}, "gdrive": {"files": 20}, "github": {"size": 0.05}, "gmail": {"messages": 10},
    "linear": {"issues": 10}, "mongo": {"documents": 20}, "notion": {"rows": 20}, "slack": {"messages": 20}}
STATUSES = (0, 1, 2, 126)

# Whole command lines after `CLI OPERATION`, as shell text; {deep} is nested deeper than any parser goes.
LINES = ["", "'{}'", "'[]'", "null", "'{'", "'{} {}'", "'\"text\"'", "1e999", "'{\"nobody\": 1}'", "--nobody 1", "--=x", "--", "--nobody=", "''", "- </dev/null", "@", "@/missing", "@/workspace",
         "@/dev/zero", "- </dev/zero", "@/tmp/latin1.json", "$'\\xff'", "--$'\\xff' x", "@/tmp/deep.json", "@/tmp/digits.json", "@/tmp/surrogate.json", "'{}' '{}'"]
# Values of one argument, as JSON text.
VALUES = ["null", "true", "0", "-1", "1", "1e400", "-0.5", "NaN", "1" + "0" * 30, '""', '"x"', '"\\u0000"', '"\\ud800"', '"a/../b"', '"../../x"', '"%2e%2e/?#"',
          '"é\\r\\nX: y"', '"' + "long " * 4000 + '"', "[]", "[null]", "[[]]", '["x", 1]', "{}", '{"a": null}', '{"a": {"b": []}}', '"9999-99-99"', '"/workspace"', '"@"', '"[1"']


def plausible(schema: dict[str, Any]) -> Any:
    """A value that the schema allows, as far as that is easily told."""
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return plausible(schema[key][0])
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: plausible(properties.get(name, {})) for name in schema.get("required", ())}
    if kind == "array":
        return [plausible(schema.get("items") or {})]
    return {"integer": max(1, int(schema.get("minimum", 1))), "number": 1.5, "boolean": True, "null": None}.get(kind, "x")


def resolved(schema: Any, root: dict[str, Any], depth: int = 0) -> Any:
    """The schema with its references replaced."""
    if isinstance(schema, list):
        return [resolved(part, root, depth) for part in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name in root.get("$defs", {}):
        return resolved(root["$defs"][name], root, depth + 1) if depth < 6 else {}
    return {key: resolved(value, root, depth) for key, value in schema.items()}


def command_lines(cli: str, operation: Any, each: int | None = None) -> Iterator[str]:
    """Shell lines for an operation; `each`: how many of LINES, and of VALUES for each argument (None: all)."""
    def some(of: list[str], about: str) -> list[str]:
        first = zlib.crc32(about.encode())
        return of if each is None else [of[(first + i * 7) % len(of)] for i in range(each)]
    name = f"{cli} {operation.name}"
    for line in some(LINES, name):
        yield f"{name} {line}"
    try:
        schema = operation.model.model_json_schema()
    except OperationError:                                   # the document is wrong: no arguments are known
        return
    schema = resolved({k: v for k, v in schema.items() if k != "$defs"}, schema)
    usual = plausible(schema | {"type": "object"})
    yield f"{name} {shlex.quote(json.dumps(usual))}"
    for key in schema.get("properties", {}):
        if each == 1 and zlib.crc32(f"{name} {key}".encode()) % 3:
            continue                                         # enough of one kind
        for value in some(VALUES, f"{name} {key}"):
            rest = ", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in usual.items() if k != key)
            yield f"{name} {shlex.quote(f'{{{json.dumps(key)}: {value}' + (', ' + rest if rest else '') + '}')}"
        value = some(VALUES, f"{key} {name}")[0]
        yield f"{name} {shlex.quote(json.dumps({k: v for k, v in usual.items() if k != key}))} --{key} {shlex.quote(value)}"


def complaint(terminal: Terminal, line: str) -> str:
    """What is wrong with the answer to a line, or an empty text."""
    result = terminal.run(line, timeout=20)
    errors, text = terminal.machine.errors, result.stderr
    if errors:
        error = errors.pop()[1]
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        where = f" at {at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at is not None else ""
        return f"{type(error).__name__}: {str(error)[:200]}{where}"
    if result.exit_code not in STATUSES:
        return f"status {result.exit_code}: {text[:300]}"
    if "Traceback" in text or "Traceback" in result.stdout:
        return f"traceback: {text[-300:]}"
    if result.exit_code in (1, 2) and not text.startswith("bash: "):
        try:
            message = json.loads(text.splitlines()[0])["error"]["message"]
        except (ValueError, KeyError, IndexError, TypeError):
            return f"not one error: {text[:300]!r}"
        if text.count("\n") != 1 or not message.strip():
            return f"{text[:300]!r}"
        if len(message) > 1500:
            return f"a message of {len(message)} characters: {message[:300]!r}"
    return ""


def simulated(kind: str, stack: ExitStack, folder: Path) -> tuple[Terminal, Any]:
    """A terminal with the CLIs of a service, and the small simulator behind it."""
    if kind in ("canvas", "gcal", "gdrive", "github", "gmail", "linear", "mongo", "notion", "slack"):
        module = import_module(f"mirage.bench.services.{kind}")
        simulator = getattr(module, next(n for n in dir(module) if n.endswith("Simulator")))(**SMALL[kind])
        stack.enter_context(simulator)
        made: Terminal = import_module(f"tests.mounts.{kind}_support").make_terminal(simulator)
        return made, simulator
    return others(kind, stack, folder), None


def others(kind: str, stack: ExitStack, folder: Path) -> Terminal:
    """A terminal with the CLI of a store or an adapter."""
    if kind == "sql":
        from mirage.clis.sql import SqlCli
        from mirage.mounts.sql import build
        from mirage.mounts.sql.url import DatabaseUrl
        from tests.mounts.sql_support import make_sqlite
        make_sqlite(folder / "shop.db", rows=10)
        mount = build(DatabaseUrl(f"sqlite:///{folder}/shop.db"))
        return Terminal({"/db": mount}, clis=[SqlCli(mount, "/db")])
    if kind == "redis":
        from mirage.clis.redis import RedisCli
        from tests.mounts.redis_support import RedisServer
        server = RedisServer(folder)
        stack.callback(server.stop)
        mount = server.mount()
        return Terminal({"/redis": mount}, clis=[RedisCli(mount)])
    if kind == "s3":
        from mirage.clis.s3 import S3Cli
        from tests.mounts.s3_support import S3
        store = stack.enter_context(S3())
        store.reset({"shop/a.txt": b"alpha"})
        mount = store.mount("shop")
        return Terminal({"/s3": mount}, clis=[S3Cli(mount)])
    return adapted(kind, stack, folder)


def adapted(kind: str, stack: ExitStack, folder: Path) -> Terminal:
    """A terminal with the CLI of an adapter."""
    from mirage.clis import FunctionCli, function_operation
    from mirage.clis.openapi import OpenApiCli
    from mirage.clis.rest import RestCli
    from mirage.mounts.rest import build
    from tests.mounts.declare_support import Desk, Token, blocks
    if kind == "function":
        @function_operation(effects=["read"])
        def total(amounts: list[int], rate: float = 1.0, names: dict[str, int] | None = None, when: date | None = None) -> object:
            """Add up."""
            return [sum(amounts) * rate, names, str(when)]
        return Terminal(clis=[FunctionCli("money", [total], "Money.")])
    desk = stack.enter_context(Desk())
    if kind == "rest":
        (folder / "desk.yaml").write_text(blocks("yaml")[0].replace("https://desk.example/api", desk.address))
        mount = build(str(folder / "desk.yaml"), Token())
        return Terminal({"/desk": mount}, clis=[RestCli(mount)])
    return Terminal(clis=[OpenApiCli("billing", Path(__file__).parent / "data" / "billing.yaml", desk.address)])


def prepare(terminal: Terminal) -> None:
    """The files that LINES name."""
    terminal.fs.write("/tmp/latin1.json", b'{"\xff": "\xe9"}')
    terminal.fs.write("/tmp/deep.json", b'{"a":' * 100_000)
    terminal.fs.write("/tmp/digits.json", b'{"a": ' + b"1" * 10_000 + b"}")
    terminal.fs.write("/tmp/surrogate.json", b'{"\\ud800": "\\udfff"}')


# Changes that succeed, and what of `METHOD PATH` or the body tells the request that makes them.
CHANGES = {
    "canvas": ("POST /api", """
        canvas create-course --account_id 1 --name T
        canvas create-page --course_id 101 --title T --body B
        canvas create-announcement --course_id 101 --title T --message M"""),
    "gcal": ("POST /calendar", """
        gcal create-event '{"summary": "x", "start": {"dateTime": "2026-09-30T10:00"}, "end": {"dateTime": "2026-09-30T11:00"}}'
        gcal quick-add --text 'Dinner tomorrow 19:30'"""),
    "gdrive": ("POST", """
        gdrive create-folder --name New
        gdrive upload-file --path /tmp/latin1.json
        google-sheet create-spreadsheet --title T
        google-doc create-document --title T"""),
    "github": ("repos", """
        github create-issue --owner norrsken --repo firmware --title T
        github add-issue-comment --owner norrsken --repo firmware --issue_number 1 --body B
        github create-or-update-file --owner norrsken --repo firmware --branch main --path new-$RANDOM.txt --content X --message M
        github create-repository --name new-$RANDOM"""),
    "gmail": ("POST /gmail", """
        mail send-email --to a@b.example --subject S --body B
        mail reply-email --email_id 6 --body B
        mail forward-email --email_id 6 --to a@b.example
        mail move-email --email_id 6 --target_folder Projects/Apollo
        mail create-folder --folder_name New-$RANDOM
        mail save-draft --to a@b.example --subject S --body B
        mail trash-emails --email_ids 6"""),
    "linear": ("mutation", """
        linear create-issue --team ENG --title T
        linear create-comment --issueId ENG-2 --body B
        linear create-project --team ENG --name P"""),
    "slack": ("chat.postMessage", """
        slack post-message --channel_id C01GENERAL --text hello
        slack post-message --channel_id /slack/channels/apollo__C02APOLLO --text hello"""),
}


@pytest.fixture(params=MODULES, scope="module")
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Terminal, Any]]:
    for module in MODULES[request.param]:
        pytest.importorskip(module)
    with ExitStack() as stack:
        terminal, simulator = simulated(request.param, stack, tmp_path_factory.mktemp(request.param))
        stack.enter_context(terminal)
        prepare(terminal)
        yield request.param, terminal, simulator


def test_arguments_that_make_no_sense(served: tuple[str, Terminal, Any]) -> None:
    _, terminal, _ = served
    wrong = {}
    for name, cli in terminal.machine.clis.items():
        operations = list(cli.operations.values())
        for operation in operations:
            for line in command_lines(name, operation, each=1 if len(operations) > 12 else 2):
                said = complaint(terminal, line)
                if said:
                    wrong[line[:200]] = said
    assert wrong == {}


class Watched:
    """The requests to a simulator that change something; `happen` is called after the first one that did."""

    def __init__(self, simulator: Any, match: str, happen: Callable[[], object]) -> None:
        self.handle, self.match, self.happen = simulator.handle, match, happen
        self.changes = 0

    def __call__(self, request: Any, entry: Any) -> Any:
        response = self.handle(request, entry)
        text = f"{request.method} {request.path} {request.body[:2000].decode('latin-1')}"
        if request.method != "GET" and self.match in text and response.status < 300:
            self.changes += 1
            self.happen()
        return response


@pytest.mark.parametrize("fault", ["reset", "status"])
def test_a_change_is_sent_once_and_not_called_a_failure_where_it_happened(served: tuple[str, Terminal, Any], fault: str,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    """`reset`: the answer to the change is lost. `status`: everything after it fails."""
    kind, terminal, simulator = served
    if kind not in CHANGES or (kind, fault) == ("linear", "reset"):
        pytest.skip("changes nothing over HTTP, or by one address only")
    match, lines = CHANGES[kind]
    for line in lines.strip().splitlines():
        if fault == "reset":
            simulator.fault("reset", match, after=True)
        watched = Watched(simulator, match, lambda: fault == "status" and simulator.fault("status", status=503))
        monkeypatch.setattr(simulator, "handle", watched)
        result = terminal.run(line, timeout=30)
        monkeypatch.undo()
        simulator.heal()
        assert watched.changes <= 1, line
        if fault == "status":
            assert (result.exit_code, watched.changes) == (0, 1), (line, result.stderr)
        else:
            assert result.exit_code == 1 and "connection failed" in result.stderr, (line, result)
