"""Programs of others that know GitHub: its published OpenAPI document, the usual MCP server, an emulator."""
from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from mirage import Terminal
from mirage.bench.services.github import TOKEN, GitHubSimulator
from mirage.clis.github import GitHubCli
from mirage.mounts.github.tree import GitHub
from tests.mounts.github_support import QUICK, Token, make_mount

pytestmark = pytest.mark.judge
REPO = "--owner norrsken --repo firmware"
LIST = "--owner norrsken --repo sync-todo-to-readme"
PRELOAD = """\
const rules = Object.entries(JSON.parse(process.env.API_REWRITE));
const real = globalThis.fetch;
globalThis.fetch = (input, init) => {
  let url = typeof input === "string" ? input : input.url;
  for (const [from, to] of rules) if (url.startsWith(from)) url = to + url.slice(from.length);
  return real(url, init);
};
"""


@pytest.fixture(scope="module")
def npm(tmp_path_factory):
    """Installs a package once, outside of the repository; the folder of its files."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    top = tmp_path_factory.mktemp("npm")

    def install(package):
        folder = top / "node_modules" / package.rpartition("@")[0]
        if not folder.is_dir():
            done = subprocess.run(["npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--prefix", str(top), package],
                                  capture_output=True, timeout=600)
            if done.returncode:
                pytest.skip(f"npm cannot install {package} here")
        return folder
    return install


# ---- the document

PATHS = ["/user", "/user/repos", "/user/orgs", "/users/{username}:priya", "/users/{username}/repos:kisho", "/repos/{owner}/{repo}",
         "/repos/{owner}/{repo}/branches", "/repos/{owner}/{repo}/branches/{branch}:main", "/repos/{owner}/{repo}/tags",
         "/repos/{owner}/{repo}/git/ref/{ref}:heads/dev", "/repos/{owner}/{repo}/git/matching-refs/{ref}:tags",
         "/repos/{owner}/{repo}/git/trees/{tree_sha}:main?recursive=1", "/repos/{owner}/{repo}/commits",
         "/repos/{owner}/{repo}/commits/{ref}:dev", "/repos/{owner}/{repo}/commits/{ref}/status:feature/ultrasonic",
         "/repos/{owner}/{repo}/compare/{basehead}:main...dev", "/repos/{owner}/{repo}/contents/{path}:README.md",
         "/repos/{owner}/{repo}/contents/{path}:docs", "/repos/{owner}/{repo}/contents/{path}:LATEST.md",
         "/repos/{owner}/{repo}/issues?state=all", "/repos/{owner}/{repo}/issues/{issue_number}:1",
         "/repos/{owner}/{repo}/issues/comments", "/repos/{owner}/{repo}/labels", "/repos/{owner}/{repo}/pulls?state=all",
         "/repos/{owner}/{repo}/pulls/{pull_number}:PULL", "/repos/{owner}/{repo}/pulls/{pull_number}/files:PULL",
         "/repos/{owner}/{repo}/pulls/{pull_number}/reviews:PULL", "/repos/{owner}/{repo}/pulls/{pull_number}/comments:PULL",
         "/repos/{owner}/{repo}/releases", "/repos/{owner}/{repo}/releases/tags/{tag}:v1.0", "/repos/{owner}/{repo}/actions/runs",
         "/repos/{owner}/{repo}/actions/runs/{run_id}:RUN", "/repos/{owner}/{repo}/actions/runs/{run_id}/jobs:RUN",
         "/search/code?q=quartz", "/search/issues?q=zephyr", "/search/repositories?q=todo", "/search/users?q=priya"]


def test_answers_have_the_types_of_the_document(npm):
    """Each field that the simulator gives is one of GitHub's, with its type; it does not give all of them."""
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads((npm("@octokit/openapi@latest") / "generated" / "api.github.com.json").read_text())
    schemas = _lenient(document["components"])
    wrong = []
    with GitHubSimulator(size=0.1) as simulator:
        repo = simulator.hub.repos["norrsken/firmware"]
        names = {"PULL": str(max(repo.pulls)), "RUN": str(max(repo.runs))}
        for entry in PATHS:
            template, _, query = entry.partition("?")
            template, _, last = template.partition(":")
            path = template.replace("{owner}", "norrsken").replace("{repo}", "firmware")
            if "{" in path:
                at = path.index("{")
                path = path[:at] + names.get(last, last) + path[path.index("}") + 1:]
            request = urllib.request.Request(f"{simulator.address.rstrip('/')}{path}?{query}", headers={"Authorization": f"Bearer {TOKEN}"})
            with urllib.request.urlopen(request, timeout=20) as response:
                value = json.loads(response.read())
            schema = document["paths"][template]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            validator = jsonschema.Draft202012Validator({**_lenient(schema), "components": schemas})
            assert value, path
            wrong += [f"{path}: {'.'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(value)]
    assert wrong == []


def _lenient(schema):
    """Without what is required and without formats; null where the old keyword allows it."""
    if isinstance(schema, list):
        return [_lenient(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: _lenient(value) for key, value in schema.items()
           if not (key == "required" and isinstance(value, list)) and key not in ("format", "oneOf", "nullable", "examples", "example")}
    if isinstance(schema.get("oneOf"), list):
        out["anyOf"] = _lenient(schema["oneOf"])
    if schema.get("nullable"):
        if isinstance(out.get("type"), str):
            out["type"] = [out["type"], "null"]
        elif "allOf" in out or "anyOf" in out or "$ref" in out:
            out = {"anyOf": [out, {"type": "null"}]}
        if isinstance(out.get("enum"), list):
            out["enum"] = [*out["enum"], None]
    return out


# ---- the MCP server

FILES = json.dumps([{"path": "a.txt", "content": "a"}, {"path": "b/ü.txt", "content": "ä\n"}])
NOTES = json.dumps([{"path": "src/ultrasonic.c", "position": 1, "body": "hm"}])
LINES = [
    "search-repositories --query todo --perPage 2", f"get-file-contents {REPO} --path docs --branch main",
    f"create-or-update-file {LIST} --path new.txt --content hi --message m --branch dev",
    f"create-or-update-file {LIST} --path README.md --content 'ä' --message m --branch dev",
    f"push-files {LIST} --branch dev --message two --files '{FILES}'", f"create-branch {LIST} --branch x --from_branch dev",
    f"create-branch {LIST} --branch y", f"create-issue {LIST} --title 'A / b' --body b --labels bug --assignees jonas",
    f"list-issues {REPO} --state all --labels bug --per_page 5 --sort created --direction asc", f"get-issue {REPO} --issue_number 1",
    f"update-issue {REPO} --issue_number 1 --state closed --title New", f"add-issue-comment {REPO} --issue_number 1 --body hello",
    f"list-commits {REPO} --sha main --perPage 3", "search-code --q 'quartz repo:norrsken/firmware'",
    "search-issues --q 'zephyr repo:norrsken/firmware' --sort created", "search-users --q priya",
    f"list-pull-requests {REPO} --state all --base main", f"get-pull-request {REPO} --pull_number PULL",
    f"get-pull-request-files {REPO} --pull_number PULL", f"get-pull-request-status {REPO} --pull_number PULL",
    f"get-pull-request-comments {REPO} --pull_number PULL",
    f"create-pull-request-review {REPO} --pull_number PULL --body ok --event APPROVE --comments '{NOTES}'",
    f"get-pull-request-reviews {REPO} --pull_number PULL", f"merge-pull-request {REPO} --pull_number PULL --merge_method squash",
    f"create-pull-request {LIST} --title Dev --head dev --base main --body text",
    f"create-or-update-file {LIST} --path late.txt --content hi --message m --branch main",
    f"update-pull-request-branch {LIST} --pull_number 3",
    f"fork-repository {LIST}", "create-repository --name made --private true",
    f"get-issue {REPO} --issue_number 9999", f"merge-pull-request {REPO} --pull_number PULL"]


def test_the_usual_server_does_the_same(npm, tmp_path):
    """The real server, and our CLI, each against a simulator of its own: equal answers and equal changes."""
    pytest.importorskip("mcp")
    from mirage.clis.mcp import McpCli
    program = npm("@modelcontextprotocol/server-github@2025.4.8") / "dist" / "index.js"
    (tmp_path / "rewrite.mjs").write_text(PRELOAD)
    with GitHubSimulator(size=0.1) as theirs, GitHubSimulator(size=0.1) as ours:
        env = {"NODE_OPTIONS": f"--import {tmp_path}/rewrite.mjs", "GITHUB_PERSONAL_ACCESS_TOKEN": TOKEN,
               "API_REWRITE": json.dumps({"https://api.github.com": theirs.address.rstrip("/")})}
        hub = McpCli("hub", ["node", str(program)], env=env)
        pull = str(max(ours.hub.repos["norrsken/firmware"].pulls))
        with Terminal(clis=[hub, GitHubCli(make_mount(ours), point=None)]) as terminal:
            done = set()
            for line in LINES:
                line = line.replace("PULL", pull)
                a, b = terminal.run(f"hub {line}"), terminal.run(f"github {line}")
                assert a.exit_code == b.exit_code, (line, a, b)
                if a.exit_code == 0 and not line.startswith("update-pull-request-branch"):
                    _contained(json.loads(a.stdout), json.loads(b.stdout), line)
                done.add(line.split()[0])
            assert done == set(hub.operations)
        left, right = theirs.state(), ours.state()
        assert left == right, GitHubSimulator.diff(left, right)


def _contained(theirs, ours, where):
    """Everything that they print, we print."""
    if isinstance(theirs, dict):
        assert set(theirs) <= set(ours), where
        for key, value in theirs.items():
            _contained(value, ours[key], f"{where} .{key}")
    elif isinstance(theirs, list):
        assert len(theirs) == len(ours), where
        for one, other in zip(theirs, ours, strict=True):
            _contained(one, other, where)
    else:
        assert theirs == ours, where


# ---- the emulator

SEED = """\
tokens:
  ghp_judge: {login: alex}
github:
  users: [{login: alex, name: Alex, email: alex@example.com}]
  repos: [{owner: alex, name: tools, description: Tools, auto_init: true}]
"""


@pytest.fixture
def emulator(npm, tmp_path):
    """emulate 0.11.2: it runs on Node 20."""
    folder = npm("emulate@0.11.2")
    (tmp_path / "seed.yaml").write_text(SEED)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["node", str(folder / "dist" / "index.js"), "start", "--service", "github", "--port", str(port), "--seed", str(tmp_path / "seed.yaml")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"})
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"{address}/user", timeout=2)
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.1)
                if process.poll() is not None:
                    pytest.skip("the emulator does not start here")
        yield address
    finally:
        process.terminate()
        process.wait(10)


def test_another_emulator(emulator):
    """What emulate can do: no diffs, no tarballs, no hashes of git, no full branches; our calls get along with that."""
    mounts = []
    for options in ({}, {"repo": "alex/tools"}):
        mount = GitHub(Token("ghp_judge"), endpoint=emulator, rate=0.0, **options)
        mount.client.retry = QUICK
        mounts.append(mount)
    tools = "--owner alex --repo tools"
    files = json.dumps([{"path": "src/b.py", "content": "# TODO: two\n"}, {"path": "grün.txt", "content": "ä"}])
    with Terminal({"/github": mounts[0], "/repo": mounts[1]}, clis=[GitHubCli(mounts[0])]) as terminal:
        for line, wanted in (
                ("ls /github /github/alex /github/alex/tools", "/github:\nalex\n\n/github/alex:\ntools\n\n/github/alex/tools:\nactions\nissues\npulls\nreleases\ntree\n"),
                ("cat /github/alex/tools/tree/main/README.md", "# tools\n\nTools\n"),
                (f"github create-or-update-file {tools} --branch main --path src/a.py --content '# TODO: one' --message m | jq -r .path", "/github/alex/tools/tree/main/src/a.py\n"),
                ("cat /github/alex/tools/tree/main/src/a.py", "# TODO: one"),
                (f"github create-branch {tools} --branch feat/x | jq -r .path; ls /github/alex/tools/tree", "/github/alex/tools/tree/feat%2Fx\nfeat%2Fx\nmain\n"),
                (f"github push-files {tools} --branch feat/x --message two --files '{files}' | jq -r .path", "/github/alex/tools/tree/feat%2Fx\n"),
                ("cat /github/alex/tools/tree/feat%2Fx/grün.txt", "ä"),
                ("diff -rq /repo/main /repo/feat%2Fx", "Only in /repo/feat%2Fx: grün.txt\nOnly in /repo/feat%2Fx/src: b.py\n"),
                ("grep -RIn --include='*.py' TODO /repo/feat%2Fx", "/repo/feat%2Fx/src/a.py:1:# TODO: one\n/repo/feat%2Fx/src/b.py:1:# TODO: two\n"),
                (f"github create-issue {tools} --title 'Bug / one' --body text --labels bug | jq -r .path", "/github/alex/tools/issues/1__Bug _ one.json\n"),
                (f"github add-issue-comment {tools} --issue_number 1 --body hello | jq -r .body; tail -1 /github/alex/tools/issues/1*.md", "hello\nhello\n"),
                (f"github update-issue {tools} --issue_number 1 --state closed | jq -r .state; sed -n 3p /github/alex/tools/issues/1*.md | cut -d';' -f1", "closed\nclosed (completed)\n"),
                (f"github create-pull-request {tools} --title Feature --head feat/x --base main | jq -r .path", "/github/alex/tools/pulls/2__Feature/pr.json\n"),
                (f"github create-pull-request-review {tools} --pull_number 2 --body ok --event COMMENT | jq -r .state", "COMMENTED\n"),
                ("grep -o 'alex.* commented' /github/alex/tools/pulls/2*/pr.md", "alex** commented\n"),
                (f"github merge-pull-request {tools} --pull_number 2 | jq -r .merged; jq .merged /github/alex/tools/pulls/2*/pr.json", "true\ntrue\n"),
                (f"github create-release {tools} --tag_name v1 --name One --body b | jq -r .path; tail -1 /github/alex/tools/releases/v1.md", "/github/alex/tools/releases/v1.json\nb\n"),
                (f"github search-code --q 'TODO repo:alex/tools' | jq '.total_count > 0'; github list-commits {tools} | jq 'length > 2'", "true\ntrue\n"),
                (f"github get-file-contents {tools} --path src/a.py | jq -r .content; github list-issues {tools} --state all | jq length", "# TODO: one\n1\n"),
                ("github create-repository --name notes --autoInit | jq -r .path; ls /github/alex; cat /github/alex/notes/tree/main/README.md | head -1", "/github/alex/notes\nnotes\ntools\n# notes\n")):
            result = terminal.run(line)
            assert (result.stdout, result.stderr) == (wanted, ""), line
