from __future__ import annotations

import errno
import json
import re
import subprocess

import pytest

from mirage import Terminal
from mirage.bench.services.github import TOKEN, GitHubSimulator
from mirage.bench.services.github.seed import DEV
from mirage.bench.services.github.seed import MAIN as TODO_MAIN
from mirage.mounts.github.client import blob_sha
from mirage.mounts.github.refs import to_name, to_ref
from mirage.mounts.github.threads import is_whole_diff
from mirage.mounts.github.tree import GitHub
from mirage.vfs.registry import ProviderError
from mirage.vfs.registry import make_mount as mount_by_name
from mirage.vfs.search import Query
from mirage.vfs.service import Retry
from mirage.vfs.spec import parse
from tests.mounts.contract import MountContract, everything, raises
from tests.mounts.github_support import FIRMWARE, MAIN, QUICK, TODO, Token, make_mount, make_terminal

ISSUES = f"{FIRMWARE}/issues"


def make_small():
    """Few files and issues: one repository of each kind."""
    simulator = GitHubSimulator(size=0.05)
    for name in ("norrsken/cloud", "norrsken/docs", "mara/dotfiles"):
        del simulator.hub.repos[name]
    for ref in list(simulator.hub.repos["norrsken/firmware"].refs):
        if ref.startswith("refs/tags/") or "work" in ref:
            del simulator.hub.repos["norrsken/firmware"].refs[ref]
    return simulator


@pytest.fixture(scope="module")
def small():
    with make_small() as simulator:
        yield simulator


@pytest.fixture
def simulator():
    with make_small() as simulator:
        yield simulator


@pytest.fixture(scope="module")
def year():
    with GitHubSimulator() as simulator:
        yield simulator


def break_often(simulator):
    simulator.heal()
    simulator.fault("status", "/repos/", times=2, status=429, seconds=0.02)
    simulator.fault("status", "/repos/", times=1, status=403, seconds=0.02)
    simulator.fault("status", "/user/repos", times=1, status=500)
    simulator.fault("reset", "/repos/", times=3)
    simulator.fault("truncate", "/git/", times=3)
    simulator.fault("short", "/git/", times=2)
    simulator.fault("truncate", "/issues", times=2)
    simulator.fault("short", "/pulls", times=2)
    simulator.fault("truncate", "/_codeload", times=1)


@pytest.fixture(scope="module")
def one_branch():
    with make_small() as simulator:
        for ref in ("dev", "feature/ultrasonic"):
            del simulator.hub.repos["norrsken/firmware"].refs[f"refs/heads/{ref}"]
        yield simulator


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, one_branch):
        small = one_branch
        break_often(small)
        mount = make_mount(small)
        mount.client.retry = Retry(tries=12, base=0.01, most=1.0)
        yield mount
        small.heal()


class TestContractOfOneRepository(MountContract):
    @pytest.fixture
    def mount(self, one_branch):
        small = one_branch
        break_often(small)
        mount = make_mount(small, repo="norrsken/firmware")
        mount.client.retry = Retry(tries=12, base=0.01, most=1.0)
        yield mount
        small.heal()


def log(simulator):
    return [f"{e.method} {e.path}" for e in simulator.log]


# ---- the tree

def test_names(year):
    mount = make_mount(year)
    assert [e.name for e in mount.list("/")] == ["mara", "norrsken"]
    assert [e.name for e in mount.list("/norrsken")] == ["cloud", "docs", "firmware", "new-idea", "sync-todo-to-readme"]
    assert [e.name for e in mount.list(FIRMWARE)] == ["actions", "issues", "pulls", "releases", "tree"]
    refs = [e.name for e in mount.list(f"{FIRMWARE}/tree")]
    assert {"main", "dev", "feature%2Fultrasonic", "v1.0", "rel%2F2026-09"} <= set(refs)
    assert [e.name for e in mount.list("/norrsken/new-idea/tree")] == []
    issues = [e.name for e in mount.list(ISSUES)]
    assert {"121__Crash _ reboot when it hails.json", "122__Line one_line two.md", "123__..json",
            "126__Crash _ reboot when it hails.json"} <= set(issues)
    assert not any(name.startswith("127__") for name in issues), "a pull request is no issue"
    assert all(len(name.encode()) <= 125 for name in issues)
    assert [e.name for e in mount.list(f"{FIRMWARE}/pulls/127__Ultrasonic _ wind")] == ["diff.patch", "pr.json", "pr.md"]
    assert "rel%2F2026-09.json" in [e.name for e in mount.list(f"{FIRMWARE}/releases")]
    assert len(mount.list(f"{FIRMWARE}/actions")) == 40


def test_what_is_not_mine_is_there_by_its_name(year):
    mount = make_mount(year)
    assert mount.read("/kisho/sensor-sdk/tree/main/sdk.h") == b"int kisho_read(void);\n"
    assert [e.name for e in mount.list("/kisho")] == ["sensor-sdk"]
    for path in ("/nobody", "/no body", "/nobody/x/tree", f"{FIRMWARE}x", f"{FIRMWARE}/tree/nope", f"{MAIN}/nope"):
        raises(errno.ENOENT, mount.stat, path)


def test_one_object_has_one_name(year):
    """A rule for a path cannot be got around by another spelling of it."""
    mount = make_mount(year)
    tip = year.hub.repos["norrsken/firmware"].refs["refs/heads/dev"]
    mount.stat(f"{FIRMWARE}/tree/dev/README.md")
    for path in ("/Norrsken/firmware", "/norrsken/Firmware", f"{FIRMWARE}/tree/{tip}", f"{FIRMWARE}/tree/{tip[:7]}",
                 f"{FIRMWARE}/tree/heads%2Fdev", f"{FIRMWARE}/tree/refs%2Fheads%2Fdev", f"{FIRMWARE}/tree/HEAD",
                 f"{FIRMWARE}/tree/feature%2fultrasonic", f"{ISSUES}/127__Ultrasonic _ wind.json",
                 f"{ISSUES}/126__Crash.json", f"{ISSUES}/0126__Crash _ reboot when it hails.json",
                 f"{FIRMWARE}/pulls/126__Crash _ reboot when it hails", "/norrsken/cloud/actions/5001000040.json"):
        raises(errno.ENOENT, mount.stat, path)


def test_files_are_those_of_git(year):
    mount = make_mount(year, archive=0)
    repo = year.hub.repos["norrsken/firmware"]
    known = year.hub.objects.files(year.hub.commit_of(repo, "main").tree)
    for path in ("README.md", "images/board.png", "docs/Überblick – Sensoren.md", "docs/empty.txt", "docs/crlf.txt",
                 "docs/no newline.txt", "data/calibration.csv", "VERSION", "internal/notes.txt"):
        data, stat = mount.read(f"{MAIN}/{path}"), mount.stat(f"{MAIN}/{path}")
        assert blob_sha(data) == known[path][1] == stat.version and len(data) == stat.size, path
    assert mount.stat(f"{MAIN}/data/calibration.csv").size > 1 << 20
    assert mount.stat(f"{MAIN}/scripts/flash.sh").mode & 0o777 == 0o555 and mount.stat(f"{MAIN}/Makefile").mode & 0o111 == 0
    assert mount.stat(f"{MAIN}/README.md").mtime_ns == year.hub.commit_of(repo, "main").when * 10**9
    assert mount.readlink(f"{MAIN}/LATEST.md") == "docs/manual.md" and mount.stat(f"{MAIN}/LATEST.md").is_link
    assert mount.stat(f"{MAIN}/vendor/sdk").is_dir and mount.list(f"{MAIN}/vendor/sdk") == []
    assert mount.read(f"{MAIN}/data/calibration.csv", 6, 6) == b"1,7919"


def test_links_are_followed_by_tools(year):
    with make_terminal(year) as terminal:
        result = terminal.run(f"cd /github{MAIN}; cat LATEST.md; head -1 docs/source/wind/wind_03.c; readlink LATEST.md; "
                              "cat docs/broken; ls vendor/sdk | wc -l; test -x scripts/flash.sh && scripts/flash.sh x")
        assert result.stdout == ("# Manual\n\nHold the button for three seconds.\n/* wind sensor, revision 3 */\n"
                                 "docs/manual.md\n0\nflashing x\n")
        assert result.stderr == "cat: docs/broken: No such file or directory\n"


def test_git_itself_agrees(year, tmp_path):
    """The tree of the mount, written to a disk, gives git the same tree."""
    try:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, capture_output=True)
    except OSError:
        pytest.skip("git is not installed")
    mount = make_mount(year)
    top = "/norrsken/docs/tree/trunk"
    for path, stat in everything(make_mount(year, repo="norrsken/docs")):
        if stat.is_file:
            target = tmp_path / path.removeprefix("/trunk/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(mount.read(f"{top}/{path.removeprefix('/trunk/')}"))
    git = ["git", "-C", str(tmp_path), "-c", "core.autocrlf=false"]
    subprocess.run([*git, "add", "-A"], check=True, capture_output=True)
    sha = subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()
    assert sha == year.hub.commit_of(year.hub.repos["norrsken/docs"], "trunk").tree


def test_issues_and_pull_requests(year):
    mount = make_mount(year)
    path = f"{ISSUES}/126__Crash _ reboot when it hails"
    issue = json.loads(mount.read(f"{path}.json"))
    assert issue["number"] == 126 and issue["comments"] == 2
    assert [c["user"]["login"] for c in issue["comment_list"]] == ["priya", "build-bot"]
    text = mount.read(f"{path}.md").decode()
    assert text.startswith("# Crash / reboot when it hails (#126)\n\nopen; by elena; 2026-09-16; labels: bug\n\nThe same title")
    assert "\n---\n\n**priya** commented, 2026-09-17 09:00\n\nI cannot reproduce it" in text
    assert json.loads(mount.read(f"{ISSUES}/124__Größe der Gehäuse prüfen 📏.json"))["body"] is None
    assert mount.read(f"{ISSUES}/122__Line one_line two.md").decode().startswith("# Line one line two (#122)\n")
    pull = f"{FIRMWARE}/pulls/127__Ultrasonic _ wind"
    value = json.loads(mount.read(f"{pull}/pr.json"))
    assert value["changed_files"] == 1 and value["mergeable"] is True and value["head"]["ref"] == "feature/ultrasonic"
    assert value["review_list"][0]["state"] == "CHANGES_REQUESTED" and value["review_comment_list"][0]["body"] == "Which unit?"
    assert "**soren** changes requested, 2026-09-19 11:00" in mount.read(f"{pull}/pr.md").decode()
    assert mount.read(f"{pull}/diff.patch").decode().startswith("diff --git a/src/ultrasonic.c b/src/ultrasonic.c\nnew file mode")
    release = mount.read(f"{FIRMWARE}/releases/v1.0.md").decode()
    assert release == "# 1.0: Apollo\n\nv1.0, 2026-06-09, by soren\n\n* reads in 40 ms\n* fixes #1\n"
    run = json.loads(mount.read(f"{FIRMWARE}/actions/5001000001.json"))
    assert run["run_number"] == 1 and run["job_list"][0]["steps"][-1]["name"] == "Run tests"


def test_a_diff_is_whole_or_no_diff(year):
    mount = make_mount(year)
    pull = f"{FIRMWARE}/pulls/127__Ultrasonic _ wind/diff.patch"
    data = mount.read(pull)
    assert is_whole_diff(data) and is_whole_diff(b"")
    assert not any(is_whole_diff(data[:cut]) for cut in range(1, len(data)))
    two = data + b"diff --git a/x b/x\nBinary files a/x and b/x differ\n"
    assert is_whole_diff(two) and not is_whole_diff(two[:len(data) + 19])
    assert is_whole_diff(b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n")


def test_odd_names_of_refs():
    """What is listed can be opened; letter case and composition tell refs apart as they do in git."""
    with GitHubSimulator(size=0.05) as simulator:
        repo = simulator.hub.repos["norrsken/docs"]
        sha = repo.refs["refs/heads/trunk"]
        long, composed = "long/" + "x" * 150, "caf\u00e9"
        for name in ("Trunk", "50%", "a%2Fb", long, "cafe\u0301", "v1", "trunk-1"):
            repo.refs[f"refs/heads/{name}"] = sha
        repo.refs["refs/tags/v1"] = repo.refs["refs/tags/v2"] = sha
        mount = make_mount(simulator, repo="norrsken/docs")
        for known in (False, True):
            for name in ("Trunk", "trunk", "50%25", "a%252Fb", to_name(long)[:120], composed, "v1", "tags%2Fv1", "v2"):
                mount.store.clear()
                if known:
                    assert name in [e.name for e in mount.list("/")], name
                assert mount.read(f"/{name}/index.md").startswith(b"# Handbuch"), name
            for name in ("TRUNK", "50%", "a%2Fb", to_name(long), "cafe\u0301", "tags%2Fv2"):
                raises(errno.ENOENT, mount.stat, f"/{name}")


def test_a_server_below_a_path():
    """As GitHub Enterprise: every address begins with /api/v3, also of next pages."""
    class Enterprise(GitHubSimulator):
        def handle(self, request, entry):
            if not request.path.startswith("/api/v3/"):
                return super().handle(request, entry) if request.path.startswith("/_codeload/") else self.error(404, "elsewhere")
            request.path = request.path.removeprefix("/api/v3")
            response = super().handle(request, entry)
            if "Link" in response.headers:
                response.headers["Link"] = response.headers["Link"].replace(self.address, f"{self.address}api/v3/")
            return response
    with Enterprise(size=1.0) as simulator:
        mount = GitHub(Token(), endpoint=f"{simulator.address}api/v3/", rate=0.0)
        mount.client.retry = QUICK
        assert len(mount.list(ISSUES)) == 172
        assert [data for _, data in mount.read_many([f"{MAIN}/src/wind/wind_{n:02}.c" for n in range(12)])][3].startswith(b"/* wind")
        assert simulator.calls("/_codeload/") == 1


def test_names_of_refs():
    for ref in ("main", "a/b", "50%", "a%2Fb", "%", "%252F/x"):
        assert to_ref(to_name(ref)) == ref and "/" not in to_name(ref)
    assert to_ref("a%2fb") == "" and to_ref("100%") == ""


# ---- the specification's lines

def test_two_branches_of_a_repository(year):
    mount = make_mount(year, repo=TODO)
    year.clear_log()
    with Terminal({"/repo": mount}) as terminal:
        result = terminal.run("diff -ruN --exclude='.git' /repo/main /repo/dev | sed -n '1,500p'")
        calls = log(year)
        assert result.stderr == "" and result.exit_code == 0
        changed = re.findall(r"^\+\+\+ /repo/dev/(\S+)", result.stdout, re.M)
        assert changed == sorted(DEV) and "+# TODO: bound the cache\n" in result.stdout
        assert "-# FIXME: remove with version 2\n" in result.stdout
        assert len(calls) == len(set(calls)) and len(calls) <= 16, calls
        year.clear_log()
        found = terminal.run("grep -RIn --include='*.py' -E 'TODO|FIXME|todo' /repo/dev | sed -n '1,300p'")
        files = {**TODO_MAIN, **DEV}
        wanted = {f"/repo/dev/{path}:{n}:{line}" for path, text in files.items() if text is not None and path.endswith(".py")
                  for n, line in enumerate(text.splitlines(), 1) if re.search("TODO|FIXME|todo", line)}
        assert set(found.stdout.splitlines()) == wanted and found.stderr == "" and year.log == []


def test_a_branch_with_a_slash(year):
    with Terminal({"/repo": make_mount(year, repo="norrsken/firmware")}) as terminal:
        assert terminal.run("cat /repo/feature%2Fultrasonic/src/ultrasonic.c | wc -l; ls /repo | grep -c %2F").stdout.startswith("2\n")
        assert terminal.run("ls /repo/feature").exit_code == 2


# ---- what it costs

def test_calls(year):
    mount = make_mount(year)

    def cost(function, *args):
        year.clear_log()
        function(*args)
        return len(year.log)

    assert cost(mount.read, f"{MAIN}/src/wind/wind_00.c") == 4, "repository, branch, tree, blob"
    assert cost(mount.read, f"{MAIN}/src/wind/wind_00.c") == 0
    assert cost(mount.list, f"{MAIN}/src/rain") == 0
    assert cost(mount.read, f"{FIRMWARE}/tree/dev/src/wind/wind_01.c") == 3, "branch, tree, blob"
    assert cost(mount.read, f"{MAIN}/src/wind/wind_01.c") == 0, "the same blob in another branch"
    assert cost(mount.list, "/") == 1 and cost(mount.list, "/norrsken") == 0
    assert cost(mount.list, f"{FIRMWARE}/tree") == 2, "branches, tags"
    assert cost(mount.list, ISSUES) == 2, "127 issues and pull requests are two pages"
    quiet = next(stem for stem, issue in mount.items(ISSUES).items() if not issue["comments"])
    loud = next(stem for stem, issue in mount.items(ISSUES).items() if issue["comments"])
    assert cost(mount.read, f"{ISSUES}/{quiet}.json") == 0 and cost(mount.read, f"{ISSUES}/{loud}.md") == 1
    assert cost(mount.read, f"{ISSUES}/{loud}.json") == 0
    assert cost(mount.list, f"{FIRMWARE}/releases") == 1 and cost(mount.read, f"{FIRMWARE}/releases/v1.0.json") == 0
    fresh = make_mount(year)
    assert cost(fresh.read, f"{ISSUES}/126__Crash _ reboot when it hails.json") == 3, "repository, issue, comments"
    assert cost(make_mount(year).read, f"{FIRMWARE}/pulls/127__Ultrasonic _ wind/diff.patch") == 3
    assert cost(make_mount(year).read, f"{FIRMWARE}/tree/v1.0/README.md") <= 8


def test_what_did_not_change_costs_no_rate_limit(year):
    mount = make_mount(year, ttl=0.0)
    with make_terminal(year, mount) as terminal:
        terminal.run(f"ls /github{ISSUES} /github{FIRMWARE}/tree /github/norrsken; cat /github{MAIN}/README.md")
        used = year.used
        year.clear_log()
        terminal.run(f"ls /github{ISSUES} /github{FIRMWARE}/tree /github/norrsken; cat /github{MAIN}/README.md")
        assert year.used == used and {e.status for e in year.log} == {304}


def test_many_files_come_as_one_archive(year):
    mount = make_mount(year)
    repo = year.hub.repos["norrsken/firmware"]
    known = year.hub.objects.files(year.hub.commit_of(repo, "main").tree)
    paths = [f"{MAIN}/{path}" for path, (mode, _) in known.items() if mode in ("100644", "100755")]
    mount.list(MAIN)
    year.clear_log()
    for path, data in mount.read_many(paths):
        assert blob_sha(data) == known[path.removeprefix(f"{MAIN}/")][1], path
    assert len(paths) > 250
    blobs = [e.path.rpartition("/")[2] for e in year.log if "/git/blobs/" in e.path]
    assert sorted(blobs) == sorted(known[p][1] for p in ("VERSION", "internal/notes.txt")), "not, or not so, in an archive"
    assert len(year.log) == 4, year.log
    one_by_one = make_mount(year, archive=0)
    one_by_one.list(MAIN)
    year.clear_log()
    assert [data for _, data in one_by_one.read_many(paths[:20])] == [data for _, data in mount.read_many(paths[:20])]
    assert {e.path.split("/")[-2] for e in year.log} == {"blobs"}


def test_an_archive_that_is_wrong_is_no_harm(simulator):
    repo = simulator.hub.repos["norrsken/firmware"]
    known = simulator.hub.objects.files(simulator.hub.commit_of(repo, "main").tree)
    for kind, options in (("truncate", {"times": 1}), ("status", {"status": 404}), ("reset", {})):
        simulator.heal()
        simulator.fault(kind, "/_codeload/", **options)
        mount = make_mount(simulator)
        for path, (mode, sha) in known.items():
            if mode == "100644":
                assert blob_sha(mount.read(f"{MAIN}/{path}")) == sha
        assert simulator.calls("/git/blobs/") > 5 and simulator.calls("/tarball/") >= 1
        simulator.clear_log()


def test_a_large_tree_is_fetched_by_directories():
    with GitHubSimulator(size=0.3, entries=40) as simulator:
        mount = make_mount(simulator)
        simulator.clear_log()
        assert mount.read(f"{MAIN}/src/wind/wind_02.c").startswith(b"/* wind sensor, revision 2 */")
        assert simulator.calls("/git/trees/") == 4, "the whole, then /, src, src/wind"
        assert "rain_00.c" in [e.name for e in mount.list(f"{MAIN}/src/rain")]
        assert simulator.calls("/git/trees/") == 5
        raises(errno.ENOENT, mount.stat, f"{MAIN}/src/none/x")
        raises(errno.ENOTDIR, mount.stat, f"{MAIN}/README.md/x")


def test_comments_of_many_issues_come_together(year):
    mount = make_mount(year)
    names = [e.name for e in mount.list(ISSUES) if e.name.endswith(".json")]
    year.clear_log()
    results = dict(mount.read_many([f"{ISSUES}/{name}" for name in names]))
    assert len(year.log) == 2 and year.calls("/issues/comments") == 2, "124 comments are two pages"
    repo = year.hub.repos["norrsken/firmware"]
    for data in results.values():
        issue = json.loads(data)
        assert [c["id"] for c in issue["comment_list"]] == [c["id"] for c in year.hub.comments_of(repo, issue["number"])]


# ---- errors

def test_limits_of_the_service(simulator):
    mount = make_mount(simulator)
    simulator.fault("status", "/branches/", times=2, status=403, seconds=0.02)
    assert mount.read(f"{MAIN}/Makefile").startswith(b"all:")
    simulator.limit = 0
    error = raises(errno.EAGAIN, make_mount(simulator).list, "/")
    assert "rate limit exceeded" in error.note and "try again in" in error.note


def test_refusals(simulator):
    error = raises(errno.EACCES, make_mount(simulator, "ghp_other").list, "/")
    assert error.note == "github: Bad credentials (401)"
    simulator.fault("truncate", "/git/blobs/")
    raises(errno.EIO, make_mount(simulator).read, f"{MAIN}/Makefile")
    simulator.heal()
    simulator.fault("status", "/git/trees/", status=500)
    raises(errno.EIO, make_mount(simulator).list, MAIN)


def test_a_token_that_was_replaced(simulator):
    token = Token()
    mount = GitHub(token, endpoint=simulator.address, rate=0.0)
    mount.client.retry = QUICK
    mount.list("/")
    simulator.tokens = {"ghp_second": "mara"}
    token.text = "ghp_second"
    mount.store.clear()
    assert [e.name for e in mount.list("/")] == ["norrsken"]


def test_without_a_token_only_what_is_public(simulator):
    raises(errno.EACCES, GitHub(endpoint=simulator.address, rate=0.0).list, "/")


def test_options():
    for options in ({"search": "fast"}, {"repo": "norrsken"}, {"repo": "a/b/c"}, {"repo": "a/.."}, {"endpoint": "ftp://x"}):
        with pytest.raises(ValueError):
            GitHub(Token(), **options)
    mount = mount_by_name("github", {"repo": "norrsken/docs", "token": "env:NO_SUCH", "endpoint": "https://git.example/api/v3"})
    assert repr(mount) == "GitHub(https://git.example/api/v3, norrsken/docs)"
    assert parse("github:norrsken/docs?token=env:T&ttl=5") == ("github", {"repo": "norrsken/docs", "token": "env:T", "ttl": "5"})
    with pytest.raises(ProviderError):
        mount_by_name("github", {"token": "ghp_secret"})


def test_the_token_goes_to_github_only(simulator):
    """The archive's server would refuse a request that has it; and nothing shows it."""
    mount = make_mount(simulator)
    with make_terminal(simulator, mount) as terminal:
        result = terminal.run(f"cat /github{MAIN}/*/*/*.c | wc -l; env; github get-issue --owner norrsken --repo firmware --issue_number 99999; "
                              "cat /github/norrsken/secret; cat /VFS.md")
        assert simulator.calls("/_codeload/") == 1
        assert TOKEN not in result.stdout + result.stderr + repr(mount) + repr(mount.client)
    error = raises(errno.EIO, mount.client.send, "GET", "http://127.0.0.1:9/repos/a/b")
    assert error.note == "github: an address on another server"


# ---- search

PATTERNS = """quartz drift calibrate -w:quartz -w:Quartz -i:QUARTZ ultraschall Ultraschall prüfen -w:prüfen bus_read 0x4 return
-w:raw 0xffff stdint flashing -w:notes Überblick Regen last -F:$Format -w:VERSION pragma wind_read assert.read -E:rain|snow
-w:include station anemometer hails zephyr reboot -w:reboot watchdog Körper -i:KÖRPER duplicate -w:Duplicate budget
-w:bug enhancement -w:priya jonas übersetzung Größe 📏 -w:zzz nothinghere -E:[0-9]{4} NI-10 -w:NI -F:"quoted" comment_list
login -w:open closed completed MEMBER hardware norrsken approve -w:reviewed -x:b^uild -E:^all: -E:sensors?$""".split()


@pytest.fixture(scope="module")
def texts():
    """A simulator and the content of every file below some directories, read without a search."""
    with GitHubSimulator(size=0.15) as simulator:
        repo = simulator.hub.repos["norrsken/firmware"]
        for branch in ("main", "feature/ultrasonic"):
            simulator.hub.commit(repo, branch, {"data/calibration.csv": b"0,0,0\n1,7919,42\n"}, "Shorter", "soren")
        mount = make_mount(simulator)
        found = {}
        for top in (MAIN, ISSUES, f"{FIRMWARE}/tree/feature%2Fultrasonic"):
            todo = [top]
            while todo:
                path = todo.pop()
                for entry in mount.list(path):
                    inner = f"{path}/{entry.name}"
                    if entry.stat.is_dir:
                        todo.append(inner)
                    elif entry.stat.is_file:
                        found[inner] = mount.read(inner)
        yield simulator, found


def test_grep_gives_what_reading_everything_gives(texts):
    simulator, found = texts
    checked = 0
    with make_terminal(simulator, make_mount(simulator)) as terminal:
        for n, pattern in enumerate(PATTERNS):
            flag, colon, word = pattern.partition(":")
            flag, word = (flag, word) if colon and flag.startswith("-") else ("", pattern)
            for k, top in enumerate((MAIN, ISSUES, f"{FIRMWARE}/tree/feature%2Fultrasonic")):
                option = "--exact " if (n + k) % 2 else ""
                result = terminal.run(f"grep {option}-rl {flag} -- '{word}' /github{top}")
                one = {"-w": rf"(?<!\w)(?:{re.escape(word)})(?!\w)", "-F": re.escape(word), "-E": word}.get(flag, re.escape(word))
                one = rf"^(?:{word})$" if flag == "-x" else one.replace(r"assert\.read", "assert.read")
                regex = re.compile(one, re.M | (re.I if flag == "-i" else 0))
                wanted = {f"/github{path}" for path, data in found.items() if path.startswith(top + "/")
                          and regex.search(data.decode("utf-8", "replace"))}
                assert set(result.stdout.splitlines()) == wanted, (pattern, top)
                assert result.stderr == "", result.stderr
                checked += 1
    assert checked > 190


def test_what_the_service_does_not_know_is_announced(texts):
    simulator, found = texts
    with make_terminal(simulator, make_mount(simulator, search="service")) as terminal:
        for word, top in (("quartz", MAIN), ("zephyr", ISSUES), ("calibr", MAIN), ("Ultrasonic", FIRMWARE)):
            simulator.clear_log()
            result = terminal.run(f"grep -rlw {word} /github{top}")
            assert result.stderr.startswith(f"grep: /github{top}: searched by the service for whole words; "), word
            assert "(--exact reads them)" in result.stderr and result.usage.searches == 1
            exact = terminal.run(f"grep --exact -rlw {word} /github{top}") if top != FIRMWARE else result
            assert set(result.stdout.splitlines()) <= set(exact.stdout.splitlines())
        result = terminal.run(f"grep -rlw quartz /github{MAIN}")
        assert f"/github{MAIN}/internal/notes.txt" in result.stdout
        result = terminal.run(f"grep -rlw Ultraschall /github{FIRMWARE}/tree/feature%2Fultrasonic")
        assert result.stderr == "" and result.stdout, "no index of other branches: read"


def test_auto_reads_what_is_little_and_asks_for_what_is_much(texts):
    simulator, _ = texts
    with make_terminal(simulator, make_mount(simulator)) as terminal:
        result = terminal.run(f"grep -rlw quartz /github{MAIN}")
        assert result.stderr == "" and result.usage.searches == 0
        result = terminal.run("grep -rlw zephyr /github/norrsken")
        assert result.stderr == "" and result.usage.searches == 0 and "126" not in result.stdout and result.stdout.count("\n") >= 2
    with make_terminal(simulator, make_mount(simulator, bound=2, archive=0)) as terminal:
        simulator.clear_log()
        result = terminal.run(f"grep -rlw quartz /github{MAIN}")
        assert simulator.calls("/search/code") == 1 and "items not read (--exact reads them)" in result.stderr
        assert result.stdout.count("\n") > 10
        result = terminal.run("grep -rlw zephyr /github")
        assert "other items not read" in result.stderr and "126__" not in result.stdout
        assert re.search(r"/issues/\d+__Crash _ reboot when it hails.json\n", result.stdout)
        assert simulator.calls("/search/issues") == 2
        result = terminal.run(f"grep -rlw quartz --include='*.h' /github{MAIN}")
        assert result.stdout == "" and result.exit_code == 1


def test_a_lagging_index_is_not_believed():
    with GitHubSimulator(size=0.1, index_lag=3600) as simulator:
        repo = simulator.hub.repos["norrsken/firmware"]
        simulator.hub.commit(repo, "main", {"src/new.c": b"the quagga\n"}, "Now", "soren")
        mount = make_mount(simulator)
        assert mount.search(MAIN, Query(["quagga"], True)) is None
        found = make_mount(simulator, search="service").search(MAIN, Query(["quagga"], True))
        assert not found.complete and found.note and list(found.paths) == []


def test_hidden_paths_are_not_searched(texts):
    simulator, _ = texts
    policy = f"rules:\n  - {{path: '/github{ISSUES}/**', action: hide}}\n  - {{path: '/github{MAIN}/internal/**', action: hide}}\n"
    with make_terminal(simulator, make_mount(simulator, search="service"), policy=policy) as terminal:
        result = terminal.run(f"grep -rlw quartz /github{MAIN}; grep -rlw zephyr /github{FIRMWARE}")
        assert "internal" not in result.stdout and "issues" not in result.stdout and "src/wind" in result.stdout


def test_a_second_mount_is_no_way_around_a_rule(year):
    mounts = {"/github": make_mount(year), "/repo": make_mount(year, repo="norrsken/firmware")}
    assert mounts["/github"].backend(MAIN) == mounts["/repo"].backend("/main")
    assert mounts["/github"].backend(f"{FIRMWARE}/tree") == mounts["/repo"].backend("/")
    policy = f"rules:\n  - {{path: '/github{FIRMWARE}/tree/dev/**', action: hide}}\n  - {{path: '/repo/main/internal/**', action: deny}}\n"
    with Terminal(mounts, policy=policy) as terminal:
        assert "No such file" in terminal.run("cat /repo/dev/README.md").stderr
        assert "Permission denied" in terminal.run(f"cat /github{MAIN}/internal/notes.txt").stderr
        assert terminal.run("cat /repo/main/README.md").exit_code == 0


def test_estimates_hold(year):
    mount = make_mount(year, repo="norrsken/firmware")
    assert mount.estimate("/main/README.md", "read").calls.high is None
    mount.list("/main")
    for path, action, function in (("/main/docs/manual.md", "read", mount.read), ("/main/docs/manual.md", "read", mount.read),
                                   ("/main/src", "list", mount.list), ("/main/README.md", "stat", mount.stat)):
        cost = mount.estimate(path, action)
        year.clear_log()
        result = function(path)
        assert len(year.log) in cost.calls, (path, action)
        assert action != "read" or len(result) in cost.bytes
    for line, action in (("grep --exact -r zzz /repo/main", "read_all"), ("find /repo/main -name x", "walk")):
        mount = make_mount(year, repo="norrsken/firmware")
        with Terminal({"/repo": mount}) as terminal:
            terminal.run("ls /repo/main")
            cost = mount.estimate("/main", action)
            year.clear_log()
            terminal.run(line)
            assert cost.calls.high is not None and len(year.log) in cost.calls, line


def test_describe(small):
    with make_terminal(small) as terminal:
        text = terminal.run("cat /VFS.md").stdout
    assert "`/github/<owner>/<repo>/tree/<ref>/`" in text and "`/github/<owner>/<repo>/issues/<number>__<title>.json`" in text
    assert len(text) < 3000
