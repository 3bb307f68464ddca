"""An error about a server that cannot be reached says which one, and never with what it was asked."""
from __future__ import annotations

import errno
import socket

import pytest

from mirage.vfs.registry import make_mount
from mirage.vfs.service import Retry, connection_failed

SECRET = "canary-of-nowhere"


def closed_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


MOUNTS = {
    "gmail": {"token": "env:NOWHERE", "endpoint": "http://127.0.0.1:{port}/"},
    "gdrive": {"token": "env:NOWHERE", "endpoint": "http://127.0.0.1:{port}/"},
    "gcal": {"token": "env:NOWHERE", "endpoint": "http://127.0.0.1:{port}/"},
    "slack": {"token": "env:NOWHERE", "endpoint": "http://127.0.0.1:{port}/api/"},
    "github": {"token": "env:NOWHERE", "endpoint": "http://127.0.0.1:{port}/"},
    "notion": {"token": "env:NOWHERE", "endpoint": "http://127.0.0.1:{port}/"},
    "linear": {"token": "env:NOWHERE", "endpoint": "http://127.0.0.1:{port}/"},
    "canvas": {"token": "env:NOWHERE", "url": "http://127.0.0.1:{port}/"},
    "imap": {"password": "env:NOWHERE", "user": "me", "host": "127.0.0.1", "port": "{port}", "tls": "none"},
    "redis": {"url": "redis://127.0.0.1:{port}/0"},
}


@pytest.mark.parametrize("name", MOUNTS)
def test_the_server_is_named(name, monkeypatch):
    monkeypatch.setenv("NOWHERE", SECRET)
    port = closed_port()
    options = {key: value.replace("{port}", str(port)) for key, value in MOUNTS[name].items()}
    mount = make_mount(name, options)
    client = getattr(mount, "client", None) or getattr(getattr(mount, "box", None), "client", None)
    if client is not None and hasattr(client, "retry"):
        client.retry = Retry(tries=1, base=0.0)
    try:
        with pytest.raises(OSError) as caught:
            mount.list({"slack": "/channels", "canvas": "/courses"}.get(name, "/"))
    finally:
        getattr(mount, "close", lambda: None)()
    told = str(getattr(caught.value, "note", ""))
    assert caught.value.errno in (errno.EIO, errno.ECONNREFUSED), caught.value
    assert "127.0.0.1" in told and str(port) in told, told
    assert SECRET not in told and SECRET not in str(caught.value)


def test_no_more_of_a_url_than_its_server():
    failure = connection_failed("https://me:secret-word@files.example:8443/a/b?token=abc", ConnectionResetError(104, "reset"))
    assert failure.message == ("the connection failed: files.example:8443 (ConnectionResetError); "
                               "check its address and the network")
    assert failure.transient


def test_files_of_a_database_are_named(tmp_path):
    mount = make_mount("sql", {"url": f"sqlite:///{tmp_path}/missing.db"})
    with pytest.raises(FileNotFoundError) as caught:
        mount.list("/main")
    assert caught.value.note == (f"sql: {tmp_path}/missing.db: unable to open database file; "
                                 "is it there, and may you read it?")
    (tmp_path / "text.db").write_text("no database at all " * 100)
    mount = make_mount("sql", {"url": f"sqlite:///{tmp_path}/text.db"})
    with pytest.raises(OSError) as caught:
        mount.list("/main")
    assert f"{tmp_path}/text.db: file is not a database" in caught.value.note
