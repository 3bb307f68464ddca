from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from mirage import Terminal
from mirage.bench.services.github import TOKEN, GitHubSimulator
from mirage.clis import make_cli
from mirage.clis.github import GitHubCli
from mirage.mounts.github.tree import GitHub
from mirage.mounts.memory import Memory
from tests.mounts.github_support import FIRMWARE, MAIN, TODO, Token, make_mount, make_terminal

SCHEMAS = Path(__file__).parent / "data" / "github-operations.json"
OURS = {"delete-file", "list-releases", "create-release", "list-workflow-runs", "rerun-workflow-run"}
REPO = "--owner norrsken --repo firmware"
LIST = "--owner norrsken --repo sync-todo-to-readme"


@pytest.fixture
def simulator():
    with GitHubSimulator(size=0.05) as simulator:
        yield simulator


@pytest.fixture
def terminal(simulator):
    with make_terminal(simulator) as terminal:
        yield terminal


def run(terminal, line, status=0):
    result = terminal.run(f"github {line}")
    assert result.exit_code == status, result
    return json.loads(result.stdout if status == 0 else result.stderr.splitlines()[0])


def log(simulator):
    return [f"{e.method} {e.path.partition('norrsken/')[2] or e.path}" for e in simulator.log]


def test_operations_are_those_of_the_usual_server():
    """Names (`get_issue` is get-issue), arguments, types, choices, what is required, and what is in lists."""
    published = json.loads(SCHEMAS.read_text())
    cli = GitHubCli(GitHub(Token()))
    assert set(cli.operations) == set(published) | OURS and len(published) == 26
    for name, arguments in published.items():
        schema = cli.operations[name].model.model_json_schema()
        _same(schema, schema, arguments, name)


def _same(root, schema, arguments, where):
    assert set(schema["properties"]) == set(arguments), where
    assert set(schema.get("required", ())) == {k for k, a in arguments.items() if a.get("required")}, where
    for key, argument in arguments.items():
        mine = schema["properties"][key]
        parts = [p for p in mine.get("anyOf", [mine]) if p.get("type") != "null"]
        assert {p["type"] for p in parts} <= {argument["type"], "integer" if argument["type"] == "number" else ""}, (where, key)
        assert parts[0].get("enum", []) == argument.get("enum", []), (where, key)
        if "items" in argument:
            items = parts[0]["items"]
            items = [root["$defs"][p["$ref"].rpartition("/")[2]] if "$ref" in p else p for p in items.get("anyOf", [items])]
            assert [p["type"] for p in items] == [p["type"] for p in argument["items"]], (where, key)
            for one, other in zip(items, argument["items"], strict=True):
                if "fields" in other:
                    _same(root, one, other["fields"], (where, key))


def test_effects():
    effects = {name: o.effects for name, o in GitHubCli(GitHub(Token())).operations.items()}
    assert {name for name, e in effects.items() if e != ("read",)} == {
        "create-or-update-file", "delete-file", "push-files", "create-branch", "create-repository", "fork-repository",
        "create-issue", "update-issue", "add-issue-comment", "create-pull-request", "create-pull-request-review",
        "merge-pull-request", "update-pull-request-branch", "create-release", "rerun-workflow-run"}
    assert effects["delete-file"] == ("destroy",) and effects["push-files"] == ("create", "update")


def test_the_help_is_short():
    text = GitHubCli(GitHub(Token())).help()
    assert len(text) < 2500 and all(len(line) < 80 for line in text.splitlines())


# ---- files

def test_a_written_file_is_in_its_branch_at_once(simulator, terminal):
    terminal.run(f"ls /github{FIRMWARE}/tree; cat /github{MAIN}/README.md /github{FIRMWARE}/tree/dev/README.md; ls /github{FIRMWARE}/issues")
    before = simulator.state()
    simulator.clear_log()
    answer = run(terminal, f"create-or-update-file {REPO} --branch dev --path docs/grün.md --content 'Grüße\n' --message 'Add it'")
    assert answer["path"] == f"/github{FIRMWARE}/tree/dev/docs/grün.md"
    assert terminal.run(f"cat '{answer['path']}'; ls /github{FIRMWARE}/tree | grep -c dev").stdout == "Grüße\n1\n"
    assert log(simulator) == ["GET firmware/contents/docs/gr%C3%BCn.md", "PUT firmware/contents/docs/gr%C3%BCn.md",
                              f"GET firmware/git/trees/{answer['commit']['tree']['sha']}",
                              f"GET firmware/git/blobs/{answer['content']['sha']}"]
    assert set(simulator.diff(before, simulator.state())["changed"]) == {"norrsken/firmware refs/heads/dev"}
    simulator.clear_log()
    terminal.run(f"cat /github{MAIN}/README.md; ls /github{FIRMWARE}/issues /github{FIRMWARE}/tree /github{MAIN}")
    assert simulator.log == [], "nothing else is fetched again"


def test_replace_and_delete(simulator, terminal):
    path = f"/github/{TODO}/tree/main/docs/usage.md"
    assert terminal.run(f"cat {path}").stdout.startswith("# Usage")
    run(terminal, f"create-or-update-file {LIST} --branch main --path docs/usage.md --content x --message m")
    assert terminal.run(f"cat {path}").stdout == "x"
    error = run(terminal, f"create-or-update-file {LIST} --branch main --path docs/usage.md --content y --message m --sha {'0' * 40}", 1)
    assert error["error"]["code"] == 409
    run(terminal, f"delete-file {LIST} --branch main --path docs/usage.md --message gone")
    assert terminal.run(f"cat {path}").stderr == f"cat: {path}: No such file or directory\n"
    assert run(terminal, f"delete-file {LIST} --branch main --path docs/usage.md --message gone", 1)["error"]["code"] == 404
    assert run(terminal, f"create-or-update-file {LIST} --branch main --path src --content y --message m", 1)["error"]["code"] == 422


def test_several_files_in_one_commit(simulator, terminal):
    terminal.run(f"cat /github{MAIN}/Makefile > old; ls /github{FIRMWARE}/tree")
    before = simulator.hub.repos["norrsken/firmware"].refs["refs/heads/main"]
    simulator.clear_log()
    files = [{"path": "scripts/flash.sh", "content": "#!/bin/sh\necho new\n"}, {"path": "a/b/c.txt", "content": "ä"}]
    answer = run(terminal, f"push-files {REPO} --branch main --message 'Two files' --files '{json.dumps(files)}'")
    assert answer["ref"] == "refs/heads/main" and answer["path"] == f"/github{MAIN}"
    assert log(simulator) == ["GET firmware/branches/main", "POST firmware/git/trees", "POST firmware/git/commits",
                              "PATCH firmware/git/refs/heads/main"]
    commit = simulator.hub.objects.commits[answer["object"]["sha"]]
    assert commit.parents == (before,) and commit.message == "Two files"
    assert terminal.run(f"/github{MAIN}/scripts/flash.sh; cat /github{MAIN}/a/b/c.txt; cmp /github{MAIN}/Makefile old").stdout == "new\nä"
    assert [m["sha"] for m in run(terminal, f"list-commits {REPO} --sha main --perPage 2")] == [commit.sha, before]


def test_a_push_that_came_too_late_overwrites_nothing(simulator, terminal):
    class Meanwhile:
        """Somebody else pushes between the two requests."""

        def __init__(self, simulator):
            self.simulator, self.handle = simulator, simulator.handle

        def __call__(self, request, entry):
            if request.method == "PATCH":
                repo = self.simulator.hub.repos[TODO]
                self.simulator.hub.commit(repo, "dev", {"other.txt": b"theirs"}, "Theirs", "jonas")
            return self.handle(request, entry)
    simulator.handle = Meanwhile(simulator)
    files = json.dumps([{"path": "mine.txt", "content": "mine"}])
    error = run(terminal, f"push-files {LIST} --branch dev --message m --files '{files}'", 1)
    assert error["error"] == {"code": 422, "message": "github: Update is not a fast forward (422)"}
    assert terminal.run(f"ls /github/{TODO}/tree/dev | grep txt").stdout == "other.txt\n"


def test_get_file_contents(simulator, terminal):
    assert run(terminal, f"get-file-contents {REPO} --path README.md")["content"].endswith("Lizenz: für innen.\n")
    large = run(terminal, f"get-file-contents {REPO} --path data/calibration.csv --branch main")
    assert large["content"].startswith("0,0,0\n1,7919,") and large["size"] == len(large["content"])
    image = run(terminal, f"get-file-contents {REPO} --path images/board.png")
    assert base64.b64decode(image["content"]).startswith(b"\x89PNG") and image["encoding"] == "base64"
    names = [e["name"] for e in run(terminal, f"get-file-contents {REPO} --path /docs/")]
    assert "Überblick – Sensoren.md" in names and "manual.md" in names
    assert len(run(terminal, f"get-file-contents {REPO} --path ''")) > 10
    assert run(terminal, f"get-file-contents {REPO} --path nope", 1)["error"]["code"] == 404


def test_branches_repositories_forks(simulator, terminal):
    terminal.run(f"ls /github /github/norrsken /github/{TODO}/tree")
    answer = run(terminal, f"create-branch {LIST} --branch fix/sort")
    assert answer["path"] == f"/github/{TODO}/tree/fix%2Fsort"
    assert terminal.run(f"ls /github/{TODO}/tree; cat {answer['path']}/.gitignore").stdout == "dev\nfix%2Fsort\nmain\n__pycache__/\n*.pyc\n"
    run(terminal, f"create-branch {LIST} --branch from-dev --from_branch dev")
    assert terminal.run(f"cat /github/{TODO}/tree/from-dev/src/cache.py | head -1").stdout == "# TODO: bound the cache\n"
    assert run(terminal, f"create-branch {LIST} --branch dev", 1)["error"]["message"] == "github: Reference already exists (422)"
    made = run(terminal, "create-repository --name notes --description Notizen --private --autoInit")
    assert made["path"] == "/github/mara/notes" and made["private"]
    assert terminal.run("ls /github/mara; cat /github/mara/notes/tree/main/README.md").stdout == "dotfiles\nnotes\n# notes\nNotizen\n"
    fork = run(terminal, f"fork-repository {LIST}")
    assert fork["full_name"] == "mara/sync-todo-to-readme"
    assert terminal.run("ls /github/mara/sync-todo-to-readme/tree").stdout == "dev\nfix%2Fsort\nfrom-dev\nmain\n"
    assert terminal.run("ls /github/mara/sync-todo-to-readme/issues").exit_code == 0, "a fork has no issues"
    assert run(terminal, "create-issue --owner mara --repo sync-todo-to-readme --title x", 1)["error"]["code"] == 410
    assert run(terminal, "create-repository --name notes", 1)["error"]["code"] == 422


# ---- issues

def test_issues_are_fresh_and_nothing_else_is_fetched(simulator, terminal):
    folder = f"/github{FIRMWARE}/issues"
    terminal.run(f"cat {folder}/*.json > all; ls /github{FIRMWARE}/pulls /github{FIRMWARE}/tree")
    simulator.clear_log()
    answer = run(terminal, f"create-issue {REPO} --title 'Wind / Regen' --body 'Größer' --labels bug --labels neu --assignees jonas")
    number = answer["number"]
    assert answer["path"] == f"{folder}/{number}__Wind _ Regen.json" and [x["name"] for x in answer["labels"]] == ["bug", "neu"]
    assert terminal.run(f"jq -r .body '{answer['path']}'; ls {folder} | grep -c {number}__").stdout == "Größer\n2\n"
    assert log(simulator) == ["POST firmware/issues", "GET firmware/issues"]
    simulator.clear_log()
    run(terminal, f"add-issue-comment {REPO} --issue_number {number} --body 'Me too'")
    assert terminal.run(f"tail -1 {folder}/{number}__*.md").stdout == "Me too\n"
    run(terminal, f"add-issue-comment {REPO} --issue_number {number} --body 'And I'")
    assert terminal.run(f"jq -r '.comment_list[].body' {folder}/{number}__*.json").stdout == "Me too\nAnd I\n"
    changed = run(terminal, f"update-issue {REPO} --issue_number {number} --title 'Just wind' --state closed")
    assert changed["path"].endswith("__Just wind.json") and changed["state"] == "closed"
    assert terminal.run(f"ls {folder} | grep {number}__; head -3 '{folder}/{number}__Just wind.md' | tail -1").stdout.startswith(
        f"{number}__Just wind.json\n{number}__Just wind.md\nclosed (completed); by mara")
    simulator.clear_log()
    terminal.run(f"cat {folder}/*.json > all; ls /github{FIRMWARE}/pulls /github{FIRMWARE}/tree")
    assert simulator.log == []


def test_looking_at_issues(simulator, terminal):
    assert run(terminal, f"get-issue {REPO} --issue_number 1")["number"] == 1
    found = run(terminal, f"list-issues {REPO} --state all --labels bug --sort created --direction asc --per_page 3")
    assert len(found) == 3 and all("bug" in [label["name"] for label in i["labels"]] for i in found)
    hit = run(terminal, "search-issues --q 'zephyr repo:norrsken/firmware'")
    assert hit["total_count"] == 1 and hit["items"][0]["title"] == "Crash / reboot when it hails"
    assert run(terminal, "search-code --q 'Überblick repo:norrsken/firmware' --per_page 5")["items"][0]["path"].startswith("docs/")
    assert run(terminal, "search-repositories --query todo")["items"][0]["name"] == "sync-todo-to-readme"
    assert run(terminal, "search-users --q Raman")["items"][0]["login"] == "priya"


# ---- pull requests

def test_from_a_branch_to_a_merge(simulator, terminal):
    pulls = f"/github{FIRMWARE}/pulls"
    (number,) = [n for n, p in simulator.hub.repos["norrsken/firmware"].pulls.items() if p["head"] == "feature/ultrasonic"]
    terminal.run(f"cat {pulls}/*/pr.md {pulls}/*/diff.patch /github{FIRMWARE}/issues/*.md /github{MAIN}/README.md > all; ls /github{FIRMWARE}/tree")
    it = f"{REPO} --pull_number {number}"
    assert run(terminal, f"get-pull-request {it}")["mergeable"] is True
    assert [f["filename"] for f in run(terminal, f"get-pull-request-files {it}")] == ["src/ultrasonic.c"]
    status = run(terminal, f"get-pull-request-status {it}")
    assert status["state"] == "pending" and status["total_count"] == 2
    assert run(terminal, f"get-pull-request-comments {it}")[0]["path"] == "src/ultrasonic.c"
    comments = json.dumps([{"path": "src/ultrasonic.c", "line": 2, "body": "static?"}])
    run(terminal, f"create-pull-request-review {it} --body 'Fine now' --event APPROVE --comments '{comments}'")
    assert [r["state"] for r in run(terminal, f"get-pull-request-reviews {it}")] == ["CHANGES_REQUESTED", "APPROVED"]
    assert "**mara** approved" in terminal.run(f"cat {pulls}/{number}__*/pr.md").stdout
    run(terminal, f"add-issue-comment {REPO} --issue_number {number} --body Hurra")
    assert "\nHurra\n" in terminal.run(f"cat {pulls}/{number}__*/pr.md").stdout
    simulator.clear_log()
    answer = run(terminal, f"merge-pull-request {it} --merge_method squash --commit_title 'Ultrasonic (#1)'")
    assert answer["merged"] is True
    assert terminal.run(f"cat /github{MAIN}/src/ultrasonic.c | wc -l; head -3 {pulls}/{number}__*/pr.md | tail -1 | cut -c1-7").stdout == "2\nmerged,\n"
    closed = re.search(r"#(\d+)", simulator.hub.repos["norrsken/firmware"].issues[number]["body"]).group(1)
    assert "\nclosed (completed);" in terminal.run(f"head -3 /github{FIRMWARE}/issues/{closed}__*.md").stdout
    others = [e for e in simulator.log if re.search(r"/(?:pulls|issues)/(\d+)", e.path)
              and re.search(r"/(?:pulls|issues)/(\d+)", e.path).group(1) not in (str(number), closed)]
    assert others == [], "no other issue or pull request was read again"
    assert run(terminal, f"merge-pull-request {it}", 1)["error"] == {"code": 405, "message": "github: Pull Request is not mergeable (405)"}


def test_open_and_update_a_pull_request(simulator, terminal):
    pulls = f"/github/{TODO}/pulls"
    assert terminal.run(f"ls {pulls}").stdout == ""
    made = run(terminal, f"create-pull-request {LIST} --title 'Cache' --body 'a\nb' --head dev --base main --draft")
    assert made["draft"] and made["path"] == f"{pulls}/2__Cache/pr.json"
    assert terminal.run(f"grep -c ^+++ {pulls}/2__Cache/diff.patch; jq .additions {made['path']}").stdout == f"6\n{made['additions']}\n"
    run(terminal, f"create-or-update-file {LIST} --branch dev --path new.txt --content hi --message m")
    assert terminal.run(f"grep -A3 '^+++ b/new.txt' {pulls}/2__Cache/diff.patch | tail -2").stdout == "+hi\n\\ No newline at end of file\n"
    run(terminal, f"create-or-update-file {LIST} --branch main --path on-main.txt --content hi --message m")
    run(terminal, f"update-pull-request-branch {LIST} --pull_number 2")
    assert terminal.run(f"cat /github/{TODO}/tree/dev/on-main.txt").stdout == "hi"
    found = run(terminal, f"list-pull-requests {LIST} --state open --head norrsken:dev --base main")
    assert [p["number"] for p in found] == [2]
    error = run(terminal, f"create-pull-request {LIST} --title again --head dev --base main", 1)["error"]
    assert error == {"code": 422, "message": "github: Validation Failed: A pull request already exists for norrsken:dev. (422)"}
    assert run(terminal, f"create-pull-request {LIST} --title x --head nope --base main", 1)["error"]["message"] \
        == "github: Validation Failed: head invalid (422)"


# ---- releases and actions

def test_releases_and_runs(simulator, terminal):
    terminal.run(f"cat /github{FIRMWARE}/releases/*.md; ls /github{FIRMWARE}/tree /github{FIRMWARE}/actions")
    made = run(terminal, f"create-release {REPO} --tag_name v2/rc --name 'Second' --body '* new' --prerelease --target_commitish dev")
    assert made["path"] == f"/github{FIRMWARE}/releases/v2%2Frc.json"
    result = terminal.run(f"head -5 /github{FIRMWARE}/releases/v2%2Frc.md; cat /github{FIRMWARE}/tree/v2%2Frc/src/new.c")
    assert result.stdout == "# Second\n\nv2/rc, prerelease, 2026-09-30, by mara\n\n* new\nint ready;\n"
    assert [r["tag_name"] for r in run(terminal, f"list-releases {REPO} --per_page 1")] == ["v2/rc"]
    (one,) = run(terminal, f"list-workflow-runs {REPO} --per_page 1")["workflow_runs"]
    run(terminal, f"rerun-workflow-run {REPO} --run_id {one['id']}")
    assert terminal.run(f"jq -r '.status, .run_attempt' /github{FIRMWARE}/actions/{one['id']}.json").stdout == "queued\n2\n"


# ---- what goes wrong

def test_a_lost_answer_never_writes_twice(simulator, terminal):
    folder = f"/github{FIRMWARE}/issues"
    terminal.run(f"ls {folder} /github{FIRMWARE}/tree; cat /github{FIRMWARE}/tree/dev/Makefile")
    before = simulator.state()
    simulator.fault("reset", "POST", after=True)
    error = run(terminal, f"create-issue {REPO} --title Once", 1)
    assert "connection failed" in error["error"]["message"]
    assert len(simulator.diff(before, simulator.state())["added"]) == 1
    assert terminal.run(f"ls {folder} | grep -c Once").stdout == "2\n"
    simulator.heal()
    simulator.fault("reset", "PUT", after=True)
    run(terminal, f"create-or-update-file {REPO} --branch dev --path Makefile --content changed --message m", 1)
    assert terminal.run(f"cat /github{FIRMWARE}/tree/dev/Makefile").stdout == "changed"
    simulator.heal()
    simulator.fault("status", "POST", status=403, times=1, seconds=0.01)
    run(terminal, f"create-issue {REPO} --title Later")
    simulator.heal()
    simulator.fault("status", "POST", status=502)
    simulator.clear_log()
    run(terminal, f"create-issue {REPO} --title Never", 1)
    assert simulator.calls("POST") == 1


def test_refusals_of_the_service(simulator, terminal):
    for line, code in ((f"get-issue {REPO} --issue_number 9999", 404), ("get-issue --owner a/../b --repo x --issue_number 1", 404),
                       ("create-issue --owner kisho --repo nope --title x", 404), (f"create-issue {REPO} --title x --assignees nobody", 422),
                       ("create-or-update-file --owner kisho --repo sensor-sdk --branch main --path x --content x --message m", 403)):
        assert run(terminal, line, 1)["error"]["code"] == code, line
    for line in (f"create-issue {REPO} --title ''", f"list-issues {REPO} --state maybe", f"get-issue {REPO}", f"push-files {REPO} --branch x --message m"):
        assert run(terminal, line, 2)["error"]["code"] == "invalid_arguments", line
    assert "did you mean create-issue" in run(terminal, "create-isue", 2)["error"]["message"]


def test_policy(simulator):
    policy = ("rules:\n  - {effect: call, cli: github, operation: 'merge-*', action: deny, reason: people merge}\n"
              "  - {effect: call, cli: github, when: \"branch == 'main'\", action: deny, reason: not on main}\n")
    with make_terminal(simulator, policy=policy) as terminal:
        before = simulator.state()
        result = terminal.run(f"github merge-pull-request {REPO} --pull_number 1")
        assert result.exit_code == 126 and "mirage: denied: people merge" in result.stderr
        result = terminal.run(f"github create-or-update-file {LIST} --branch main --path x --content x --message m")
        assert result.exit_code == 126 and simulator.state() == before
        assert terminal.run(f"github create-or-update-file {LIST} --branch dev --path x --content x --message m").exit_code == 0


def test_from_config(simulator, tmp_path):
    mount, one = make_mount(simulator), make_mount(simulator, repo=TODO)
    mounts = {"/": Memory(), "/repo": one, "/hub": mount}
    cli = make_cli("gh", "github", {}, mounts=mounts, folder=tmp_path)
    assert cli.mount is mount and cli.point == "/hub" and cli.name == "gh"
    cli = make_cli("gh", "github", {}, mounts={"/repo": one}, folder=tmp_path)
    with Terminal({"/repo": one}, clis=[cli]) as terminal:
        terminal.run("cat /repo/dev/README.md /repo/main/README.md; ls /repo")
        simulator.clear_log()
        out = terminal.run(f"gh create-or-update-file {LIST} --branch dev --path README.md --content new --message m | jq -r .path; cat /repo/dev/README.md")
        assert out.stdout == "/repo/dev/README.md\nnew"
        assert terminal.run(f"gh create-issue {LIST} --title x | jq -r .path").stdout == "null\n"
    other = make_cli("github", "github", {"token": "env:OTHER"}, mounts=mounts, folder=tmp_path)
    assert other.mount is not mount and other.point is None
    for options in ({"colour": "red"}, {"token": "ghp_1"}):
        with pytest.raises(ValueError):
            make_cli("github", "github", options, mounts=mounts, folder=tmp_path)
    with pytest.raises(ValueError):
        make_cli("github", "github", {}, mounts={}, folder=tmp_path)


def test_the_example_of_the_readme(simulator, tmp_path, monkeypatch):
    from mirage.config import load
    from mirage.mounts import github
    text = re.search(r"```yaml\n(.*?)```", (Path(github.__file__).parent / "README.md").read_text(), re.S).group(1)
    (tmp_path / "mirage.yaml").write_text(text.replace('token: "env:GITHUB_TOKEN"', f'token: "env:GITHUB_TOKEN", endpoint: "{simulator.address}", rate: 0'))
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    shown = re.search(r"```console\n(.*?)```", (Path(github.__file__).parent / "README.md").read_text(), re.S).group(1)
    with load(tmp_path / "mirage.yaml").make_terminal() as terminal:
        for line in re.findall(r"^\$ (.*)", shown, re.M):
            result = terminal.run(line)
            assert result.exit_code == 0 and result.stderr == "" and result.stdout, line
        result = terminal.run("grep -rl ghp_ /workspace /proc 2>/dev/null; env; github search-users --q mara; cat /proc/*/environ")
        assert "ghp_" not in result.stdout + result.stderr
