from __future__ import annotations

import pytest

pytest.importorskip("s3fs")
pytest.importorskip("moto.server")

from mirage import Terminal
from mirage.clis import make_cli
from mirage.clis.s3 import S3Cli
from tests.clis.support import run
from tests.mounts.s3_support import S3, S3Key


@pytest.fixture(scope="module")
def server():
    with S3() as server:
        yield server


@pytest.fixture
def terminal(server):
    server.reset({"shop/a.txt": b"alpha", "shop/docs/b.txt": b"0123", "shop/bin": b"\xff\x00"})
    mount = server.mount("shop")
    with Terminal({"/s3": mount}, clis=[S3Cli(mount)]) as terminal:
        yield terminal


def test_listing(terminal):
    assert [bucket["name"] for bucket in run(terminal, "s3 list-buckets")] == ["shop"]
    found = run(terminal, "s3 list-objects --bucket shop --max_keys 2")
    assert [item["key"] for item in found["objects"]] == ["a.txt", "bin"] and found["truncated"]
    found = run(terminal, "s3 list-objects --bucket shop --start_after bin")
    assert [(item["key"], item["size"]) for item in found["objects"]] == [("docs/b.txt", 4)] and not found["truncated"]


def test_objects(terminal):
    assert run(terminal, "s3 get-object --bucket shop --key a.txt")["body"] == "alpha"
    assert run(terminal, "s3 get-object --bucket shop --key bin")["base64"] == "/wA="
    assert run(terminal, "s3 get-object --bucket shop --key docs/b.txt --path here.txt")["size"] == 4
    assert terminal.run("cat here.txt").stdout == "0123"


def test_changes_show_with_the_next_command(terminal):
    result = terminal.run("ls /s3; printf data > f; s3 put-object --bucket shop --key new.txt --path f > out; cat /s3/new.txt; "
                          "s3 copy-object --bucket shop --key x/y.txt --source_bucket shop --source_key a.txt >> out; cat /s3/x/y.txt; "
                          "s3 delete-object --bucket shop --key a.txt >> out; ls /s3")
    assert result.stdout.split() == ["a.txt", "bin", "docs", "dataalphabin", "docs", "new.txt", "x"], result
    assert "key" in run(terminal, "s3 put-object --bucket shop --key t --body text --content_type text/plain")


def test_errors(terminal):
    for line in ("s3 get-object --bucket shop --key none", "s3 delete-object --bucket shop --key none", "s3 list-objects --bucket none"):
        assert run(terminal, line, 1)["error"]["code"] in (404, "enoent")
    assert run(terminal, "s3 put-object --bucket shop --key k", 2)["error"]["code"] == "invalid_arguments"


def test_presign_is_a_share(terminal):
    import httpx
    found = run(terminal, "s3 presign --bucket shop --key a.txt --expires_in 60")
    assert httpx.get(found["url"], trust_env=False).text == "alpha"
    assert S3Cli(make_cli("s3", "s3", {"bucket": "x"}, mounts={}, folder=".").service).operations["presign"].effects == ("share",)


def test_the_secret_key_is_nowhere(terminal):
    result = terminal.run("s3 get-object --bucket none --key x; env; mount; s3 --help; cat /s3/none; ls /nowhere")
    assert S3Key.TEXT not in result.stdout + result.stderr
