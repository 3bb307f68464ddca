"""/VFS.md and /SKILL.md tell all there is and stay short, also with every service."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, create_model

from mirage import Terminal
from mirage.clis import OpenApiCli, make_cli
from mirage.clis.framework import Operation, VirtualCli
from mirage.vfs.describe import Description
from mirage.vfs.registry import make_mount

TOKEN: dict[str, Any] = {"token": "env:NOT_ASKED_FOR"}
ADDRESS = "http://127.0.0.1:9"
MOUNTS: dict[str, tuple[str, dict[str, Any]]] = {
    "/mail": ("gmail", TOKEN), "/gd": ("gdrive", TOKEN), "/gcal": ("gcal", TOKEN), "/slack": ("slack", TOKEN), "/github": ("github", TOKEN),
    "/repo": ("github", {**TOKEN, "repo": "a/b"}), "/notion": ("notion", TOKEN), "/linear": ("linear", TOKEN), "/canvas": ("canvas", {**TOKEN, "url": ADDRESS}),
    "/pg": ("sql", {"url": "env:NOT_ASKED_FOR"}), "/mongo": ("mongodb", {"url": "env:NOT_ASKED_FOR"}), "/redis": ("redis", {"url": "env:NOT_ASKED_FOR"}),
    "/s3": ("s3", {"bucket": "b"}), "/web": ("http", {"urls": ADDRESS + "/a"}), "/imap": ("imap", {"host": "127.0.0.1", "user": "u@v.example", "password": "env:X"})}
CLIS = {"mail": "gmail", "gdrive": "gdrive", "google-sheet": "google-sheet", "google-doc": "google-doc", "gcal": "gcal", "slack": "slack", "github": "github",
        "notion": "notion", "linear": "linear", "canvas": "canvas", "sql": "sql", "mongo": "mongodb", "redis": "redis", "s3": "s3"}


def tokens(text: str) -> int:
    encoding = pytest.importorskip("bpe_openai", reason="needs bpe-openai").get_encoding("o200k_base")
    return len(encoding.encode(text))


@pytest.fixture(scope="module")
def office() -> Any:
    """A terminal with every service whose library is installed; none of them is asked anything."""
    mounts = {}
    for point, (provider, options) in MOUNTS.items():
        try:
            mounts[point] = make_mount(provider, options)
        except ImportError:
            continue
    clis = []
    for name, provider in CLIS.items():
        try:
            clis.append(make_cli(name, provider, {}, mounts=mounts, folder=Path(".")))
        except (ImportError, ValueError):
            continue
    with Terminal(mounts, clis=clis) as terminal:
        yield terminal


def test_skill_md(office: Terminal) -> None:
    page = office.run("cat /SKILL.md").stdout
    for name, cli in office.machine.clis.items():
        part = page.partition(f"**{name}**: ")[2].partition("\n\n")[0]
        assert set(re.findall(r"(?:^- \w+: |, )([a-z][\w-]*)(?=[(,\n]|$)", re.sub(r"\([^)]*\)", "", part), re.M)) >= set(cli.operations), name
    assert tokens(page) < 2000, tokens(page)
    operations = sum(len(cli.operations) for cli in office.machine.clis.values())
    assert tokens(page) / operations < 12 or operations < 30


def test_vfs_md(office: Terminal) -> None:
    page = office.run("cat /VFS.md").stdout
    mounts = [m.point for m in office.machine.namespace.mounts() if m.point in MOUNTS]
    assert len(mounts) > 5 and all(f"`{point}`" in page for point in mounts)
    assert tokens(page) < 1200, tokens(page)


def fake(name: str, operations: int, fields: int) -> VirtualCli:
    cli = VirtualCli()
    cli.name, cli.description = name, f"Does things for {name}."
    definitions: Any = {f"argument_{i}": (str, ...) for i in range(fields)}
    model: type[BaseModel] = create_model("Model", **definitions)
    cli.operations = {f"operation-{i}": Operation(f"operation-{i}", "Do it", model, ("read" if i % 2 else "send",), lambda *a: None) for i in range(operations)}
    return cli


def test_arguments_are_shown_where_there_is_room() -> None:
    with Terminal(clis=[fake("one", 3, 2), fake("two", 2, 5), fake("none", 0, 0)]) as terminal:
        page = terminal.run("cat /SKILL.md").stdout
    assert "- look: operation-1(argument_0, argument_1)\n- act: operation-0(argument_0, argument_1), operation-2(" in page
    assert "operation-0(argument_0, argument_1, argument_2, ...)" in page and "In parentheses: required arguments." in page
    assert "**none**: Does things for none. See `none --help`." in page


def test_very_many_operations_are_cut_with_a_note() -> None:
    document = {"openapi": "3.1.0", "servers": [{"url": ADDRESS}], "paths": {f"/things/of/kind/{i}": {"get": {"operationId": f"listAllThingsOfKind{i}"}} for i in range(1500)}}
    with Terminal(clis=[OpenApiCli("big", document), fake("small", 9, 1)]) as terminal:
        page = terminal.run("cat /SKILL.md").stdout
        assert tokens(page) < 2000 and re.search(r"and 1,\d+ more", page) and "operation-8" in page
        assert terminal.run("big --help | grep -c list-all").stdout == "1500\n"


def test_a_line_for_each_mount() -> None:
    from mirage.vfsmd.vfs import _lines, _table
    mount = Description("Things. Change them.", [("a/<x>/one.json", "first"), ("a/<x>/two.json", "second"), ("b.txt", "third; last"), ("c/", "more")])
    other = Description("Notes", writable=True)
    assert _table([("/m", mount)]).splitlines()[2:4] == ["| `/m` | Things. Change them. Read-only. |", "| `/m/a/<x>/one.json` | first |"]
    assert _lines([("/m", mount), ("/n", mount), ("/o", other)]).splitlines()[2:] == [
        "- `/m`: Things. `a/<x>/`: `one.json` (first), `two.json` (second); `b.txt` (third; last); `c/` (more)", "- `/n`: Things; as `/m`", "- `/o` (writable): Notes"]
