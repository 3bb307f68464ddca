"""`vfs serve mcp`, with the client of the MCP SDK."""
from __future__ import annotations

import asyncio
import json
import sys

import pytest

from mirage.mounts import Vfs
from mirage.serve.vfs_mcp import TOOLS, BadCall, Tools


@pytest.fixture
def vfs(tmp_path):
    with Vfs.open(tmp_path / "m.db") as vfs:
        yield vfs


def test_a_client_of_the_sdk_uses_every_tool(tmp_path):
    pytest.importorskip("mcp")
    from mcp import Client, StdioServerParameters
    path = str(tmp_path / "m.db")
    with Vfs.open(path) as vfs:
        vfs.fs.write("/seed.txt", "seed")

    async def talk():
        server = StdioServerParameters(command=sys.executable,
                                       args=["-m", "mirage.console.vfs.main", "serve", "mcp", path])
        async with Client(server) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == list(TOOLS)
            assert listed[0].annotations.read_only_hint and listed[1].input_schema["required"] == ["path", "content"]
            answers = {}
            for name, arguments in [
                ("read_file", {"path": "/seed.txt"}), ("write_file", {"path": "/a/b", "content": "\u00fc"}),
                ("readdir", {"path": "/"}), ("mkdir", {"path": "/d"}), ("rename", {"from": "/a/b", "to": "/d/c"}),
                ("stat", {"path": "/d/c"}), ("remove", {"path": "/a"}), ("access", {"path": "/a"}),
                ("kv_set", {"key": "k", "value": {"n": [1, None]}}), ("kv_get", {"key": "k"}), ("kv_list", {}),
                ("kv_delete", {"key": "k"}),
            ]:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result
                answers[name] = result.content[0].text
            refused = await client.call_tool("read_file", {"path": "/nowhere"})
            assert refused.is_error and "No such file" in refused.content[0].text
            return answers

    answers = asyncio.run(asyncio.wait_for(talk(), 60))
    assert answers["read_file"] == "seed" and json.loads(answers["access"]) == {"exists": False}
    assert json.loads(answers["kv_get"]) == {"n": [1, None]} and json.loads(answers["stat"])["size"] == 2
    assert json.loads(answers["kv_list"]) == [{"key": "k", "value": {"n": [1, None]}}]
    assert [e["name"] for e in json.loads(answers["readdir"])] == ["a", "seed.txt"]
    with Vfs.open(path) as vfs:
        assert vfs.fs.read("/d/c") == "\u00fc".encode()
        calls = vfs.tools.list()
        assert len(calls) == 13 and calls[0].status == "error" and "2" not in str(calls[-2].parameters["content"])


def test_T101_write_file_keeps_the_mode_and_makes_0644(vfs):
    tools = Tools(vfs)
    tools.call("write_file", {"path": "/new", "content": "1"})
    vfs.fs.write("/tool", "#!/bin/sh\n")
    vfs.fs.chmod("/tool", 0o750)
    before = vfs.fs.stat("/tool").ino
    tools.call("write_file", {"path": "/tool", "content": "2"})
    assert vfs.fs.stat("/new").mode & 0o7777 == 0o644 and vfs.fs.stat("/tool").mode & 0o7777 == 0o750
    assert vfs.fs.read("/tool") == b"2" and vfs.fs.stat("/tool").ino == before


@pytest.mark.parametrize(("name", "arguments", "text"), [
    ("read_file", {}, "'path' is missing"), ("read_file", {"path": 1}, "must be a string"),
    ("read_file", {"path": "f"}, "absolute"), ("read_file", {"path": "/f", "x": 1}, "unknown argument"),
    ("read_file", {"path": "/binary"}, "no text"), ("read_file", {"path": "/"}, "Is a directory"),
    ("remove", {"path": "/full"}, "not empty"), ("mkdir", {"path": "/full"}, "exists"),
    ("rename", {"from": "/none", "to": "/x"}, "No such file"), ("read_file", {"path": "/a\0b"}, ""),
])
def test_a_bad_call_is_told_as_the_tools_error(vfs, name, arguments, text):
    vfs.fs.write("/binary", b"\xff\xfe")
    vfs.fs.write("/full/f", b"", parents=True)
    with pytest.raises(BadCall) as caught:
        Tools(vfs).call(name, arguments)
    assert text.lower() in str(caught.value).lower() and vfs.tools.list()[0].status == "error"


def test_only_the_named_tools_are_there(tmp_path, capsys):
    from mirage.console.vfs.main import main
    path = str(tmp_path / "m.db")
    Vfs.open(path).close()
    assert main(["serve", "mcp", path, "--tools", "read_file,fly"]) == 1
    assert "unknown tool 'fly'" in capsys.readouterr().err
