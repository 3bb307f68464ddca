from __future__ import annotations

import errno
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("httpx")

from mirage import Terminal
from mirage.mounts.http import Urls, build
from mirage.mounts.http.client import _public
from mirage.vfs.registry import ProviderError, make_mount
from mirage.vfs.service import Retry
from tests.mounts.contract import MountContract, raises

BIG = bytes(range(256)) * 20_000


class Site(ThreadingHTTPServer):
    """Files with etags and ranges; /moved redirects, /away to another server, /headless has no HEAD, /cut breaks off."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Page)
        self.files = {"/a.txt": b"alpha\nbeta\n", "/docs/b.txt": b"0123456789", "/big": BIG, "/headless": b"no head", "/cut": b"x" * 100}
        self.log = []
        self.away = ""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, body):
        site, path = self.server, self.path.partition("?")[0]
        site.log.append((self.command, path, self.headers.get("Range"), self.headers.get("Authorization")))
        if path in ("/moved", "/away", "/loop"):
            return self.reply(302, b"", {"Location": {"/moved": "/a.txt", "/away": site.away, "/loop": "/loop"}[path]}, body)
        data = site.files.get(path)
        if data is None:
            return self.reply(404, b"nothing here", {}, body)
        if path == "/headless" and not body:
            return self.reply(405, b"", {}, body)
        headers = {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "Accept-Ranges": "bytes", "Last-Modified": "Wed, 09 Sep 2026 07:15:00 GMT"}
        if self.headers.get("Range") and path == "/big":
            start, end = (int(n) for n in self.headers["Range"].removeprefix("bytes=").split("-"))
            return self.reply(206, data[start:end + 1], {**headers, "Content-Range": f"bytes {start}-{end}/{len(data)}"}, body)
        if path == "/cut" and body:
            self.close_connection = True
            return self.reply(200, data, {**headers, "Content-Length": "200"}, body)
        self.reply(200, data, headers, body)

    def reply(self, status, data, headers, body):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(data)


@pytest.fixture
def site():
    site = Site()
    yield site
    site.shutdown()
    site.server_close()


def make(site, names=("a.txt", "docs/b.txt"), **options):
    mount = build(Urls.from_option({name: f"{site.address}/{name}" for name in names}, ""), **{"private": True, **options})
    mount.client.retry = Retry(tries=2, base=0.01)
    return mount


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, site):
        return make(site, ("a.txt", "docs/b.txt", "headless"))


def test_names():
    urls = Urls.from_option(["https://a.example/x/report.pdf", "https://b.example/report.pdf?v=1", "https://c.example/", "https://d.example/a%2Fb"], "")
    assert list(urls) == ["report__1.pdf", "report__2.pdf", "c.example", "a_b"]
    assert list(make_mount("http", {"urls": "https://a.example/x.txt"}).urls) == ["/x.txt"]
    assert list(make_mount("http", {"urls": '{"d/one": "https://a.example/"}'}).urls) == ["/d/one"]
    for bad in ("file:///etc/passwd", "https://me:hunter2@a.example/", '{"a": "https://x.example", "a/b": "https://x.example"}'):
        with pytest.raises(ProviderError) as caught:
            make_mount("http", {"urls": bad})
        assert "hunter2" not in str(caught.value)


def test_what_a_terminal_sees(site):
    with Terminal({"/web": make(site)}) as terminal:
        result = terminal.run("ls -l --time-style=+%F /web/docs | tail -1; cat /web/a.txt; grep -rl beta /web")
        assert result.stdout == "-r--r--r-- 1 user user 10 2026-09-09 b.txt\nalpha\nbeta\n/web/a.txt\n"


def test_ls_asks_nothing_and_a_line_asks_once(site):
    with Terminal({"/web": make(site)}) as terminal:
        terminal.run("ls /web /web/docs")
        assert site.log == []
        terminal.run("cat /web/a.txt; cat /web/a.txt; wc -c /web/a.txt")
        assert [entry[:2] for entry in site.log] == [("HEAD", "/a.txt"), ("GET", "/a.txt")]
        site.log.clear()
        assert terminal.run("cat /web/a.txt").stdout == "alpha\nbeta\n" and [entry[0] for entry in site.log] == ["HEAD"]
        site.files["/a.txt"] = b"new"
        assert terminal.run("cat /web/a.txt").stdout == "new"


def test_large_files_are_read_by_ranges(site):
    mount = make(site, ("big",))
    with Terminal({"/web": mount}) as terminal:
        assert terminal.run("head -c 4 /web/big | od -An -tu1").stdout.split() == ["0", "1", "2", "3"]
        assert site.log[-1][2] == "bytes=0-262143"
        assert terminal.run("tail -c 2 /web/big | od -An -tu1").stdout.split() == ["254", "255"]
    assert mount.read("/big") == BIG


def test_a_file_that_changes_is_an_error_not_a_mixture(site):
    mount = make(site, ("big",))
    assert mount.read("/big", 0, 10) == BIG[:10]
    site.files["/big"] = BIG[::-1]
    assert "changed" in raises(errno.EIO, mount.read, "/big", 10, 10).note


def test_an_answer_that_breaks_off_is_an_error(site):
    raises(errno.EIO, make(site, ("cut",)).read, "/cut")


def test_redirections(site):
    mount = make(site, ("moved", "loop"))
    assert mount.read("/moved") == b"alpha\nbeta\n" and mount.stat("/moved").size == 11
    assert "redirections" in raises(errno.EINVAL, mount.read, "/loop").note


def test_the_token_stays_with_its_server(site, monkeypatch):
    other = Site()
    site.away = f"{other.address}/a.txt"
    monkeypatch.setenv("WEB_TOKEN", "canary-token")
    mount = make_mount("http", {"urls": f"{site.address}/away", "token": "env:WEB_TOKEN", "private": True})
    assert mount.read("/away") == b"alpha\nbeta\n"
    assert {entry[3] for entry in site.log} == {"Bearer canary-token"} and {entry[3] for entry in other.log} == {None}
    assert "canary" not in repr(mount)
    other.shutdown()
    other.server_close()


def test_private_networks_are_refused(site):
    mount = make(site, private=False)
    assert "private" in raises(errno.EACCES, mount.read, "/a.txt").note and site.log == []
    for address, public in (("127.0.0.1", False), ("10.1.2.3", False), ("169.254.169.254", False), ("::1", False), ("fd00::1", False),
                            ("::ffff:127.0.0.1", False), ("100.64.0.1", False), ("0.0.0.0", False), ("8.8.8.8", True), ("2606:4700::1111", True)):
        assert _public(address) is public, address


def test_errors(site):
    error = raises(errno.ENOENT, make(site, ("none",)).read, "/none")
    assert error.note == "http: Not Found (404)"
    raises(errno.EFBIG, make(site, ("a.txt",), max_file=5).read, "/a.txt")
    mount = make(site, ("headless",))
    assert mount.stat("/headless").size is None and mount.read("/headless", 3) == b"head"
