"""What is easily given wrongly is refused at once, in words that say what to write."""
from __future__ import annotations

import importlib.util

import pytest

from mirage import Terminal
from mirage.config import ConfigError, load
from mirage.mounts import Memory
from mirage.vfs.registry import LIBRARIES, ProviderError, make_mount, names
from mirage.vfs.types import Capabilities, enoent


@pytest.mark.parametrize(("arguments", "error", "text"), [
    ({"mounts": Memory()}, TypeError, "mounts must be a dict of path -> mount, not Memory"),
    ({"mounts": {"/src": "."}}, TypeError, "mounts: /src: '.' is no mount; for a folder: Host"),
    ({"mounts": {"src": Memory()}}, ValueError, "not an absolute path: 'src'"),
    ({"env": {"A": 1}}, TypeError, "env: 'A': names and values must be texts, not 1"),
    ({"cwd": "src"}, ValueError, "cwd must be an absolute path, not 'src'"),
    ({"limits": {"timeout": 3}}, TypeError, "limits must be Limits(timeout=..., ...), not dict"),
])
def test_arguments_of_a_terminal(arguments, error, text):
    with pytest.raises(error) as raised:
        Terminal(**arguments)
    assert text in str(raised.value)


def test_standard_input_may_be_text():
    with Terminal() as terminal:
        assert terminal.run("cat", stdin="é\n").stdout == "é\n"
    with pytest.raises(ValueError, match="the Terminal is closed"):
        terminal.run("cat")


def test_a_missing_library_names_its_extra(monkeypatch):
    assert set(LIBRARIES) <= set(names())
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "imapclient" else there(name, *a))
    with pytest.raises(ProviderError, match=r"the package imapclient is not installed: pip install 'mirage-terminal\[imap\]'"):
        make_mount("imap", {"host": "imap.example", "user": "me", "password": "env:PASSWORD"})


class Failing:
    """A directory that cannot be listed."""

    capabilities = Capabilities()

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def list(self, path):
        if self.error is ModuleNotFoundError:
            raise ModuleNotFoundError("No module named 'httpx'", name="httpx")
        error = PermissionError(13, "Permission denied")
        error.note = "desk: no such token"
        raise error

    def stat(self, path):
        if path == "/":
            return Memory().stat("/")
        raise enoent(path)

    def read(self, path, offset=0, length=None):
        raise enoent(path)


def test_a_missing_library_is_named_while_a_line_runs():
    with Terminal({"/x": Failing(ModuleNotFoundError)}) as terminal:
        assert "the Python package 'httpx' is not installed" in terminal.run("ls /x").stderr


def test_why_a_service_refused_is_said_once():
    with Terminal({"/x": Failing(PermissionError)}) as terminal:
        for line in ("ls /x", "ls -l /x", "find /x", "du /x"):
            assert terminal.run(line).stderr.count("mirage: desk: no such token") == 1, line


@pytest.mark.parametrize(("text", "wanted"), [
    ("mount: {}", "unknown key 'mount'; did you mean 'mounts'?"),
    ("limits: {timout: 3}", "unknown key 'limits.timout'; did you mean 'timeout'?"),
    ("colour: red", "unknown key 'colour'; there are: mounts, clis, policy, limits, journal, index, terminal"),
    ("rules: []", "unknown key 'rules' (that is a policy: --policy FILE, or `policy: FILE` in a mirage.yaml)"),
    ("mounts: {/x: memory}", "mounts./x: write {provider: NAME, OPTION: VALUE, ...}"),
    ("mounts: {x: {provider: memory}}", "the mount path 'x' must begin with /"),
    ("mounts: {/x: {provider: sql, url: nowhere}}", "mounts: /x: sql: url: "),
])
def test_mistakes_in_a_configuration(text, wanted, tmp_path):
    pytest.importorskip("sqlalchemy")
    (tmp_path / "mirage.yaml").write_text(text)
    with pytest.raises(ConfigError) as raised:
        load(tmp_path / "mirage.yaml").make_terminal()
    assert "mirage.yaml: " in str(raised.value) and wanted in str(raised.value)


def test_a_provider_that_refuses_names_its_mount(tmp_path):
    pytest.importorskip("slack_sdk")
    (tmp_path / "mirage.yaml").write_text("mounts: {/chat: {provider: slack}}")
    with pytest.raises(ConfigError, match=r"mounts: /chat: slack needs a token"):
        load(tmp_path / "mirage.yaml").make_terminal()


def test_help_of_mount(capsys):
    from mirage.console.main import main
    assert main(["mount", "--help"]) == 0
    assert "umount MOUNTPOINT" in capsys.readouterr().out
