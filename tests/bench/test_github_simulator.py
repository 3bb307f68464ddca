"""The simulated GitHub, asked by PyGithub's own objects, and its hashes by git."""
from __future__ import annotations

import io
import json
import subprocess
import tarfile
import urllib.error
import urllib.request
import zipfile

import github
import pytest
from github import Auth, Github, InputGitTreeElement

from mirage.bench.services.clock import Clock
from mirage.bench.services.github import NOW, TOKEN, GitHubSimulator
from mirage.bench.services.github.objects import MODULE, TREE, Objects


@pytest.fixture
def simulator():
    with GitHubSimulator(size=0.1, links=True) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def year():
    with GitHubSimulator(links=True) as simulator:
        yield simulator


def client(simulator, token=TOKEN):
    return Github(auth=Auth.Token(token), base_url=simulator.address.rstrip("/"), retry=None, per_page=100,
                  seconds_between_requests=None, seconds_between_writes=None)


def ask(simulator, path, **headers):
    """(status, headers, body) without following redirections."""
    request = urllib.request.Request(simulator.address.rstrip("/") + path, headers={"Authorization": f"token {TOKEN}", **headers})

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *args):
            return None
    try:
        with urllib.request.build_opener(Stay).open(request, timeout=20) as response:
            return response.status, response.headers, response.read()
    except urllib.error.HTTPError as e:
        with e:
            return e.code, e.headers, e.read()


def test_the_seed_is_a_year_of_a_company(year):
    hub = client(year)
    repos = {r.full_name: r for r in hub.get_user().get_repos()}
    assert {"norrsken/firmware", "norrsken/cloud", "norrsken/sync-todo-to-readme", "norrsken/docs"} <= set(repos)
    firmware = repos["norrsken/firmware"]
    issues = list(firmware.get_issues(state="all"))
    assert len(issues) > 120 and sum(i.pull_request is not None for i in issues) > 40
    assert (issues[0].created_at - issues[-1].created_at).days > 330
    tree = firmware.get_git_tree("main", recursive=True)
    assert len(tree.tree) > 250 and not tree.raw_data["truncated"]
    assert {e.mode for e in tree.tree} == {"100644", "100755", "120000", "160000", "040000"}
    assert firmware.get_workflow_runs().totalCount == 40 and {r.conclusion for r in firmware.get_workflow_runs()} == {"success", "failure"}
    assert [r.tag_name for r in firmware.get_releases()] == ["v1.1", "rel/2026-09", "v1.0", "v0.9"]


def test_the_same_seed_gives_the_same():
    a, b, c = GitHubSimulator(1, 0.1), GitHubSimulator(1, 0.1), GitHubSimulator(2, 0.1)
    assert a.state() == b.state() != c.state()


def test_hashes_are_those_of_git(year, tmp_path):
    """git reads the objects under the names that we give them."""
    repo = year.hub.repos["norrsken/firmware"]
    try:
        subprocess.run(["git", "init", "-q", "--bare", str(tmp_path)], check=True, capture_output=True)
    except OSError:
        pytest.skip("git is not installed")

    def put(kind, data):
        return subprocess.run(["git", "-C", str(tmp_path), "hash-object", "-w", "-t", kind, "--stdin"], input=data,
                              capture_output=True, check=True).stdout.decode().strip()
    objects: Objects = year.hub.objects
    commit = year.hub.commit_of(repo, "dev")
    for path in ("README.md", "images/board.png", "docs/empty.txt"):
        sha = objects.at(commit.tree, path)[1]
        assert put("blob", objects.blobs[sha]) == sha
    for sha in (objects.at(commit.tree, "docs")[1], commit.tree):
        data = b"".join(b"%s %s\0%s" % (mode.lstrip("0").encode(), name.encode(), bytes.fromhex(one))
                        for name, (mode, one) in objects.trees[sha].items())
        done = subprocess.run(["git", "-C", str(tmp_path), "hash-object", "-t", "tree", "--literally", "--stdin"], input=data, capture_output=True, check=True)
        assert done.stdout.decode().strip() == sha
        lines = b"".join(b"%s %s %s\t%s\0" % (mode.encode(), b"tree" if mode == TREE else b"commit" if mode == MODULE else b"blob", one.encode(), name.encode())
                         for name, (mode, one) in reversed(objects.trees[sha].items()))
        made = subprocess.run(["git", "-C", str(tmp_path), "mktree", "--missing", "-z"], input=lines, capture_output=True, check=True)
        assert made.stdout.decode().strip() == sha, "git sorts the names as we do"
    text = f"tree {commit.tree}\nparent {commit.parents[0]}\nauthor {commit.author} {commit.when} +0000\ncommitter {commit.committer} {commit.when} +0000\n\n{commit.message}"
    assert put("commit", text.encode()) == commit.sha


def test_contents_through_pygithub(simulator):
    repo = client(simulator).get_repo("norrsken/firmware")
    assert repo.get_contents("README.md").decoded_content.decode().endswith("für innen.\n")
    assert [c.name for c in repo.get_contents("docs", ref="dev")][:2] == ["broken", "empty.txt"]
    big = repo.get_contents("data/calibration.csv")
    assert big.encoding == "none" and big.size > 1 << 20, "too large for this request"
    made = repo.create_file("neu/ä.txt", "Add", "Größe\n", branch="dev")
    assert repo.get_contents("neu/ä.txt", ref="dev").decoded_content.decode() == "Größe\n"
    changed = repo.update_file("neu/ä.txt", "Change", "x", made["content"].sha, branch="dev")
    with pytest.raises(github.GithubException, match="does not match"):
        repo.update_file("neu/ä.txt", "Again", "y", made["content"].sha, branch="dev")
    repo.delete_file("neu/ä.txt", "Gone", changed["content"].sha, branch="dev")
    with pytest.raises(github.UnknownObjectException):
        repo.get_contents("neu/ä.txt", ref="dev")
    assert [c.commit.message for c in repo.get_commits("dev")][:3] == ["Gone", "Change", "Add"]
    assert [c.commit.message for c in repo.get_commits("dev", path="neu/ä.txt")] == ["Gone", "Change", "Add"]


def test_git_data_through_pygithub(simulator):
    repo = client(simulator).get_repo("norrsken/sync-todo-to-readme")
    base = repo.get_branch("dev").commit
    blob = repo.create_git_blob("aGk=", "base64")
    tree = repo.create_git_tree([InputGitTreeElement("run", "100755", "blob", sha=blob.sha), InputGitTreeElement("docs/usage.md", "100644", "blob", sha=None)],
                                base_tree=base.commit.tree)
    commit = repo.create_git_commit("By hand", tree, [base.commit])
    repo.get_git_ref("heads/dev").edit(commit.sha)
    names = {e.path: e.mode for e in repo.get_git_tree("dev", recursive=True).tree}
    assert names["run"] == "100755" and "docs/usage.md" not in names
    with pytest.raises(github.GithubException, match="fast forward"):
        repo.get_git_ref("heads/dev").edit(base.sha)
    repo.get_git_ref("heads/dev").edit(base.sha, force=True)
    repo.create_git_ref("refs/heads/other", base.sha)
    with pytest.raises(github.GithubException, match="already exists"):
        repo.create_git_ref("refs/heads/other", base.sha)
    repo.get_git_ref("heads/other").delete()
    assert [b.name for b in repo.get_branches()] == ["dev", "main"]
    compared = repo.compare("main", "dev")
    assert (compared.status, compared.ahead_by, compared.behind_by, len(compared.files)) == ("ahead", 1, 0, 6)
    firmware = client(simulator).get_repo("norrsken/firmware")
    tag = firmware.get_git_ref("tags/v1.0")
    assert tag.object.type == "tag" and firmware.get_git_tag(tag.object.sha).object.sha == firmware.get_tags()[0].commit.sha


def test_issues_and_pulls_through_pygithub(simulator):
    repo = client(simulator).get_repo("norrsken/firmware")
    issue = repo.create_issue("New / one", "body", labels=["bug"], assignee="jonas")
    issue.create_comment("first")
    issue.edit(state="closed", title="Old")
    again = repo.get_issue(issue.number)
    assert (again.state, again.title, again.comments, [x.name for x in again.labels]) == ("closed", "Old", 1, ["bug"])
    assert [c.body for c in again.get_comments()] == ["first"]
    pull = next(p for p in repo.get_pulls() if p.head.ref == "feature/ultrasonic")
    assert [f.filename for f in pull.get_files()] == ["src/ultrasonic.c"]
    with pytest.raises(github.GithubException, match="approve your own"):
        client_of_priya(simulator).get_repo("norrsken/firmware").get_pull(pull.number).create_review(body="x", event="APPROVE")
    pull.create_review(body="fine", event="APPROVE")
    assert [r.state for r in pull.get_reviews()] == ["CHANGES_REQUESTED", "APPROVED"]
    done = pull.merge(merge_method="squash")
    assert done.merged and repo.get_contents("src/ultrasonic.c").size > 10
    closed = int(pull.body.rpartition("#")[2])
    assert repo.get_issue(closed).state == "closed", "the text of the pull request closes it"
    with pytest.raises(github.GithubException, match="not mergeable"):
        repo.get_pull(pull.number).merge()


def client_of_priya(simulator):
    simulator.tokens["ghp_priya"] = "priya"
    return client(simulator, "ghp_priya")


def test_a_conflict_is_not_merged(simulator):
    repo = client(simulator).get_repo("norrsken/sync-todo-to-readme")
    pull = repo.create_pull("main", "dev", title="x", body="")
    repo.update_file("src/sync.py", "m", "other", repo.get_contents("src/sync.py").sha, branch="main")
    assert repo.get_pull(pull.number).mergeable is False
    with pytest.raises(github.GithubException, match="not mergeable"):
        repo.get_pull(pull.number).merge()


def test_repositories_and_forks(simulator):
    hub = client(simulator)
    made = hub.get_user().create_repo("mine", description="d", auto_init=True, private=True)
    assert made.get_contents("README.md").decoded_content == b"# mine\nd\n"
    fork = hub.get_repo("kisho/sensor-sdk").create_fork()
    assert fork.full_name == "mara/sensor-sdk" and fork.parent.full_name == "kisho/sensor-sdk"
    simulator.tokens["ghp_hiroshi"] = "hiroshi"
    with pytest.raises(github.UnknownObjectException):
        client(simulator, "ghp_hiroshi").get_repo("norrsken/cloud")
    with pytest.raises(github.GithubException) as caught:
        client(simulator, "ghp_hiroshi").get_repo("norrsken/firmware").create_file("x", "m", "c")
    assert caught.value.status == 403
    assert [r.full_name for r in hub.search_repositories("todo")] == ["norrsken/sync-todo-to-readme"]


def test_pages_and_etags(simulator):
    status, headers, body = ask(simulator, "/repos/norrsken/firmware/issues?state=all&per_page=5&page=2")
    assert status == 200 and len(json.loads(body)) == 5
    assert {part.rpartition("rel=")[2] for part in headers["Link"].split(", ")} == {'"prev"', '"next"', '"last"', '"first"'}
    used = simulator.used
    status, again, body = ask(simulator, "/repos/norrsken/firmware/issues?state=all&per_page=5&page=2", **{"If-None-Match": headers["ETag"]})
    assert status == 304 and body == b"" and simulator.used == used and again["X-RateLimit-Remaining"] == str(5000 - used)
    simulator.hub.add_issue(simulator.hub.repos["norrsken/firmware"], "jonas", "one more")
    assert ask(simulator, "/repos/norrsken/firmware/issues?state=all&per_page=5&page=2", **{"If-None-Match": headers["ETag"]})[0] == 200


def test_errors_have_githubs_form(simulator):
    for path, status in (("/nothing", 404), ("/repos/a/b", 404), ("/repos/norrsken/new-idea/git/trees/main", 409), ("/search/code?q=", 422),
                         ("/repos/norrsken/firmware/commits/nope", 422), ("/repos/norrsken/firmware/git/blobs/" + "0" * 40, 404)):
        got, _, body = ask(simulator, path)
        assert got == status and json.loads(body)["message"] and json.loads(body)["status"] == str(status), path
    assert ask(simulator, "/user", Authorization="token wrong")[0] == 401
    simulator.limit = 0
    status, headers, body = ask(simulator, "/user")
    assert status == 403 and headers["X-RateLimit-Remaining"] == "0" and "API rate limit exceeded" in json.loads(body)["message"]
    simulator.limit = 5000
    simulator.fault("status", "/user", status=403, seconds=3)
    status, headers, body = ask(simulator, "/user")
    assert status == 403 and headers["Retry-After"] == "3" and "secondary rate limit" in json.loads(body)["message"]


def test_raw_and_diff_and_archives(simulator):
    sha = simulator.hub.objects.at(simulator.hub.commit_of(simulator.hub.repos["norrsken/firmware"], "main").tree, "images/boot.bin")[1]
    data = ask(simulator, f"/repos/norrsken/firmware/git/blobs/{sha}", Accept="application/vnd.github.raw+json")[2]
    assert data == bytes(range(256)) * 16
    diff = ask(simulator, "/repos/norrsken/firmware/compare/main...dev", Accept="application/vnd.github.diff")[2].decode()
    assert diff.startswith("diff --git a/docs/crlf.txt b/docs/crlf.txt\ndeleted file mode 100644\nindex ")
    for kind in ("tarball", "zipball"):
        status, headers, _ = ask(simulator, f"/repos/norrsken/firmware/{kind}/main")
        assert status == 302
        with urllib.request.urlopen(headers["Location"], timeout=20) as response:
            content = io.BytesIO(response.read())
        names = tarfile.open(fileobj=content).getnames() if kind == "tarball" else zipfile.ZipFile(content).namelist()
        inside = {name.partition("/")[2].rstrip("/") for name in names}
        assert {"README.md", "docs/Überblick – Sensoren.md", "vendor/sdk"} <= inside and not any(name.startswith("internal") for name in inside)
        assert ask(simulator, headers["Location"].removeprefix(simulator.address.rstrip("/")))[0] == 400, "with the API's token"


def test_git_applies_the_diffs(year, tmp_path):
    """What we call a diff changes one tree into the other, as git sees it."""
    repo = year.hub.repos["norrsken/sync-todo-to-readme"]
    try:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, capture_output=True)
    except OSError:
        pytest.skip("git is not installed")
    for path, (_, sha) in year.hub.objects.files(year.hub.commit_of(repo, "main").tree).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(year.hub.objects.blobs[sha])
    diff = ask(year, "/repos/norrsken/sync-todo-to-readme/compare/main...dev", Accept="application/vnd.github.diff")[2]
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "add", "-A"], check=True, capture_output=True)
    subprocess.run([*git, "apply", "--index", "-"], input=diff, check=True, capture_output=True)
    sha = subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()
    assert sha == year.hub.commit_of(repo, "dev").tree


def test_the_index_lags():
    clock = Clock(NOW)
    with GitHubSimulator(size=0.05, index_lag=60, clock=clock, links=True) as simulator:
        hub = client(simulator)
        repo = hub.get_repo("norrsken/firmware")
        repo.create_file("new.txt", "m", "a quagga")
        repo.create_issue("quagga")
        assert hub.search_code("quagga").totalCount == hub.search_issues("quagga").totalCount == 0
        clock.advance(61)
        assert [c.path for c in hub.search_code("quagga repo:norrsken/firmware")] == ["new.txt"]
        assert hub.search_issues("quagga is:issue").totalCount == 1 and hub.search_issues("quagga is:pr").totalCount == 0
        assert hub.search_code("quag").totalCount == 0, "whole words"


def test_snapshots(simulator):
    before, kept = simulator.state(), simulator.snapshot()
    repo = client(simulator).get_repo("norrsken/firmware")
    repo.create_issue("one")
    repo.create_file("x", "m", "c", branch="dev")
    change = simulator.diff(before, simulator.state())
    assert len(change["added"]) == 1 and list(change["changed"]) == ["norrsken/firmware refs/heads/dev"] and not change["removed"]
    simulator.restore(kept)
    assert simulator.state() == before
    simulator.reset(1, 0.1)
    assert simulator.state() == before


def test_only_loopback(simulator):
    assert simulator.address.startswith("http://127.0.0.1:")
