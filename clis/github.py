"""`github`: change repositories, issues, pull requests and releases, and ask what is no file."""
from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

from mirage.clis import _github as A
from mirage.clis.framework import Call, OperationError, VirtualCli, explained, operation
from mirage.mounts.github.client import part
from mirage.mounts.github.refs import to_name
from mirage.mounts.github.tree import GitHub, item_name
from mirage.process import blocking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount

CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b", re.IGNORECASE)
READ, MAKE, CHANGE = ("read",), ("create",), ("update",)


class GitHubCli(VirtualCli):
    """The account of `mount`; `point` is where it is mounted, for the paths in results (None: nowhere)."""

    description = "Change repositories, issues, pull requests and releases on GitHub."

    def __init__(self, mount: GitHub, point: str | None = "/github", name: str = "github") -> None:
        super().__init__()
        self.name = name
        self.mount = mount
        self.counters = mount.counters
        self.point = point

    def _get(self, path: str, **query: Any) -> Any:
        given = {key: ",".join(v) if isinstance(v, list) else v for key, v in query.items() if v is not None}
        return self._send("GET", path, given)

    def _send(self, method: str, path: str, query: Any = None, body: Any = None) -> Any:
        try:
            return blocking.call(lambda: self.mount.client.send(method, path, query, body=body)).value
        except OSError as e:
            raise explained(e) from None

    def _change(self, method: str, path: str, body: dict[str, Any], unsure: Callable[[], None]) -> Any:
        """Sent once. `unsure` makes stale what may have changed where nobody knows whether it was carried out."""
        try:
            return self._send(method, path, body={key: value for key, value in body.items() if value is not None})
        except OperationError:
            unsure()
            raise

    def _with_path(self, answer: dict[str, Any], full: str, rest: str) -> dict[str, Any]:
        path = self.mount.path_of(full, rest) if self.point is not None else None
        if path is None:
            return answer
        return {**answer, "path": f"{(self.point or '').rstrip('/')}{path}".rstrip("/") or "/"}

    @staticmethod
    def _rest(a: Any, *names: str) -> dict[str, Any]:
        """The given arguments that are not in the path."""
        return dict(a.model_dump(exclude={"owner", "repo", *names}, exclude_none=True))

    # ---- files and branches

    @operation("File, or listing of a directory", A.GetFileContents, READ)
    def get_file_contents(self, call: Call, a: A.GetFileContents) -> Any:
        found = self._get(f"{_base(a)}/contents/{part(a.path.strip('/'))}".rstrip("/"), ref=a.branch)
        if not isinstance(found, dict) or found.get("type") != "file":
            return found
        data = base64.b64decode(found.get("content") or "")
        if len(data) != found["size"]:
            try:
                data = blocking.call(lambda: self.mount.client.blob(a.full, found["sha"]))
            except OSError as e:
                raise explained(e) from None
        try:
            return {**found, "content": data.decode(), "encoding": "utf-8"}
        except UnicodeDecodeError:
            return {**found, "content": base64.b64encode(data).decode(), "encoding": "base64"}

    @operation("Write one file", A.CreateOrUpdateFile, ("create", "update"))
    def create_or_update_file(self, call: Call, a: A.CreateOrUpdateFile) -> Any:
        body = {"message": a.message, "branch": a.branch, "sha": a.sha or self._sha(a),
                "content": base64.b64encode(a.content.encode("utf-8", "surrogateescape")).decode()}
        return self._commit_file("PUT", a, body)

    @operation("Delete one file", A.DeleteFile, ("destroy",))
    def delete_file(self, call: Call, a: A.DeleteFile) -> Any:
        sha = a.sha or self._sha(a)
        if sha is None:
            raise OperationError(f"github: there is no {a.path}", 404)
        return self._commit_file("DELETE", a, {"message": a.message, "branch": a.branch, "sha": sha})

    def _sha(self, a: Any) -> str | None:
        try:
            found = self._get(f"{_base(a)}/contents/{part(a.path.strip('/'))}", ref=a.branch)
        except OperationError as e:
            if e.code == 404:
                return None
            raise
        if isinstance(found, list):
            raise OperationError(f"github: {a.path} is a directory", 422)
        return str(found["sha"])

    def _commit_file(self, method: str, a: Any, body: dict[str, Any]) -> Any:
        answer = self._change(method, f"{_base(a)}/contents/{part(a.path.strip('/'))}", body,
                              lambda: self.mount.changed_branch(a.full, a.branch))
        self.mount.changed_branch(a.full, a.branch, answer["commit"]["sha"], answer["commit"])
        return answer if method == "DELETE" else \
            self._with_path(answer, a.full, f"tree/{to_name(a.branch)}/{a.path.strip('/')}")

    @operation("Write several files in one commit", A.PushFiles, ("create", "update"))
    def push_files(self, call: Call, a: A.PushFiles) -> Any:
        tip = self._get(f"{_base(a)}/branches/{part(a.branch)}")["commit"]
        commit = tip.get("commit") or self._get(f"{_base(a)}/git/commits/{tip['sha']}")
        tree = commit["tree"]["sha"]
        modes = self._modes(a, tree)
        entries = [{"path": f.path.strip("/"), "mode": modes[f.path], "type": "blob", "content": f.content}
                   for f in a.files]

        def unsure() -> None:
            self.mount.changed_branch(a.full, a.branch)
        made = self._change("POST", f"{_base(a)}/git/trees", {"base_tree": tree, "tree": entries}, unsure)
        commit = self._change("POST", f"{_base(a)}/git/commits",
                              {"message": a.message, "tree": made["sha"], "parents": [tip["sha"]]}, unsure)
        answer = self._change("PATCH", f"{_base(a)}/git/refs/heads/{part(a.branch)}",
                              {"sha": commit["sha"], "force": False}, unsure)
        self.mount.changed_branch(a.full, a.branch, commit["sha"], commit)
        return self._with_path(answer, a.full, f"tree/{to_name(a.branch)}")

    def _modes(self, a: A.PushFiles, sha: str) -> dict[str, str]:
        """Programs stay executable."""
        try:
            tree = blocking.call(lambda: self.mount.objects.tree(a.full, sha))
            nodes = {f.path: blocking.call(self.mount.objects.node, tree, f.path.strip("/")) for f in a.files}
        except OSError as e:
            raise explained(e) from None
        return {path: "100755" if node is not None and not node.is_dir and node.mode & 0o777 == 0o555 else "100644"
                for path, node in nodes.items()}

    @operation("Make a branch", A.CreateBranch, MAKE)
    def create_branch(self, call: Call, a: A.CreateBranch) -> Any:
        start = a.from_branch or self._get(_base(a))["default_branch"]
        sha = self._get(f"{_base(a)}/git/ref/heads/{part(start)}")["object"]["sha"]
        answer = self._change("POST", f"{_base(a)}/git/refs", {"ref": f"refs/heads/{a.branch}", "sha": sha},
                              lambda: self.mount.changed_branch(a.full, a.branch))
        self.mount.changed_branch(a.full, a.branch, sha)
        return self._with_path(answer, a.full, f"tree/{to_name(a.branch)}")

    @operation("List commits", A.ListCommits, READ)
    def list_commits(self, call: Call, a: A.ListCommits) -> Any:
        return self._get(f"{_base(a)}/commits", sha=a.sha, page=a.page, per_page=a.perPage)

    @operation("Make a repository", A.CreateRepository, MAKE)
    def create_repository(self, call: Call, a: A.CreateRepository) -> Any:
        body = {"name": a.name, "description": a.description, "private": a.private, "auto_init": a.autoInit}
        answer = self._change("POST", "/user/repos", body, lambda: self.mount.changed_repos("", ""))
        return self._made(answer)

    @operation("Fork a repository", A.ForkRepository, MAKE)
    def fork_repository(self, call: Call, a: A.ForkRepository) -> Any:
        return self._made(self._change("POST", f"{_base(a)}/forks", {"organization": a.organization},
                                       lambda: self.mount.changed_repos("", "")))

    def _made(self, answer: dict[str, Any]) -> Any:
        self.mount.changed_repos(answer["owner"]["login"], answer["name"])
        return self._with_path(answer, answer["full_name"], "")

    # ---- issues

    @operation("Open an issue", A.CreateIssue, MAKE)
    def create_issue(self, call: Call, a: A.CreateIssue) -> Any:
        answer = self._change("POST", f"{_base(a)}/issues", self._rest(a), lambda: self._issue_changed(a.full, 0))
        return self._item(a, answer)

    @operation("Change, close or reopen an issue", A.UpdateIssue, CHANGE)
    def update_issue(self, call: Call, a: A.UpdateIssue) -> Any:
        answer = self._change("PATCH", f"{_base(a)}/issues/{a.issue_number}", self._rest(a, "issue_number"),
                              lambda: self._issue_changed(a.full, a.issue_number))
        return self._item(a, answer)

    @operation("Comment on an issue or pull request", A.AddIssueComment, MAKE)
    def add_issue_comment(self, call: Call, a: A.AddIssueComment) -> Any:
        answer = self._change("POST", f"{_base(a)}/issues/{a.issue_number}/comments", {"body": a.body},
                              lambda: self._issue_changed(a.full, a.issue_number))
        self.mount.changed_item(a.full, "pulls" if "/pull/" in answer["html_url"] else "issues", a.issue_number)
        return answer

    def _item(self, a: Any, answer: dict[str, Any]) -> Any:
        pull = "pull_request" in answer or "head" in answer
        self.mount.changed_item(a.full, "pulls" if pull else "issues", answer["number"],
                                answer if "pull_request" not in answer else None)
        name = item_name(answer)
        return self._with_path(answer, a.full, f"pulls/{name}/pr.json" if pull else f"issues/{name}.json")

    def _issue_changed(self, full: str, number: int) -> None:
        for kind in ("issues", "pulls"):
            self.mount.changed_item(full, kind, number)

    @operation("One issue", A.OneIssue, READ)
    def get_issue(self, call: Call, a: A.OneIssue) -> Any:
        return self._get(f"{_base(a)}/issues/{a.issue_number}")

    @operation("List issues", A.ListIssues, READ)
    def list_issues(self, call: Call, a: A.ListIssues) -> Any:
        return self._get(f"{_base(a)}/issues", **self._rest(a))

    # ---- pull requests

    @operation("Open a pull request", A.CreatePullRequest, MAKE)
    def create_pull_request(self, call: Call, a: A.CreatePullRequest) -> Any:
        return self._item(a, self._change("POST", f"{_base(a)}/pulls", self._rest(a),
                                          lambda: self.mount.changed_item(a.full, "pulls", 0)))

    @operation("Review a pull request", A.CreateReview, MAKE)
    def create_pull_request_review(self, call: Call, a: A.CreateReview) -> Any:
        def changed() -> None:
            self.mount.changed_item(a.full, "pulls", a.pull_number)
        answer = self._change("POST", f"{_pull(a)}/reviews", self._rest(a, "pull_number"), changed)
        changed()
        return answer

    @operation("Merge a pull request", A.MergePullRequest, CHANGE)
    def merge_pull_request(self, call: Call, a: A.MergePullRequest) -> Any:
        pull = self._get(_pull(a))

        def changed(sha: str = "") -> None:
            self.mount.changed_item(a.full, "pulls", a.pull_number)
            self.mount.changed_branch(a.full, pull["base"]["ref"], sha)
            if CLOSES.search(pull.get("body") or ""):
                self.mount.stale([f"/{a.full}/issues"], below=False)
        answer = self._change("PUT", f"{_pull(a)}/merge", self._rest(a, "pull_number"), changed)
        changed(answer["sha"])
        return answer

    @operation("Merge the base into a pull request's branch", A.UpdatePullRequestBranch, CHANGE)
    def update_pull_request_branch(self, call: Call, a: A.UpdatePullRequestBranch) -> Any:
        head = self._get(_pull(a))["head"]

        def changed() -> None:
            self.mount.changed_item(a.full, "pulls", a.pull_number)
            self.mount.changed_branch((head.get("repo") or {}).get("full_name", a.full), head["ref"])
        answer = self._change("PUT", f"{_pull(a)}/update-branch", {"expected_head_sha": a.expected_head_sha}, changed)
        changed()
        return answer

    @operation("One pull request", A.OnePull, READ)
    def get_pull_request(self, call: Call, a: A.OnePull) -> Any:
        return self._get(_pull(a))

    @operation("List pull requests", A.ListPullRequests, READ)
    def list_pull_requests(self, call: Call, a: A.ListPullRequests) -> Any:
        return self._get(f"{_base(a)}/pulls", **self._rest(a))

    @operation("Files that a pull request changes", A.OnePull, READ)
    def get_pull_request_files(self, call: Call, a: A.OnePull) -> Any:
        return self._all(f"{_pull(a)}/files")

    @operation("Checks of a pull request", A.OnePull, READ)
    def get_pull_request_status(self, call: Call, a: A.OnePull) -> Any:
        return self._get(f"{_base(a)}/commits/{self._get(_pull(a))['head']['sha']}/status")

    @operation("Review comments of a pull request", A.OnePull, READ)
    def get_pull_request_comments(self, call: Call, a: A.OnePull) -> Any:
        return self._all(f"{_pull(a)}/comments")

    @operation("Reviews of a pull request", A.OnePull, READ)
    def get_pull_request_reviews(self, call: Call, a: A.OnePull) -> Any:
        return self._all(f"{_pull(a)}/reviews")

    def _all(self, path: str) -> Any:
        try:
            return blocking.call(lambda: self.mount.client.pages(path))
        except OSError as e:
            raise explained(e) from None

    # ---- search

    @operation("Search code", A.SearchCode, READ)
    def search_code(self, call: Call, a: A.SearchCode) -> Any:
        return self._get("/search/code", **self._rest(a))

    @operation("Search issues and pull requests", A.SearchIssues, READ)
    def search_issues(self, call: Call, a: A.SearchIssues) -> Any:
        return self._get("/search/issues", **self._rest(a))

    @operation("Search repositories", A.SearchRepositories, READ)
    def search_repositories(self, call: Call, a: A.SearchRepositories) -> Any:
        return self._get("/search/repositories", q=a.query, page=a.page, per_page=a.perPage)

    @operation("Search people", A.SearchUsers, READ)
    def search_users(self, call: Call, a: A.SearchUsers) -> Any:
        return self._get("/search/users", **self._rest(a))

    # ---- releases and actions

    @operation("List releases", A.ListReleases, READ)
    def list_releases(self, call: Call, a: A.ListReleases) -> Any:
        return self._get(f"{_base(a)}/releases", **self._rest(a))

    @operation("Publish a release", A.CreateRelease, MAKE)
    def create_release(self, call: Call, a: A.CreateRelease) -> Any:
        def changed() -> None:
            self.mount.stale([f"/{a.full}/releases"])
            self.mount.refs.moved(a.full, a.tag_name)
        answer = self._change("POST", f"{_base(a)}/releases", self._rest(a), changed)
        changed()
        return self._with_path(answer, a.full, f"releases/{to_name(a.tag_name)}.json")

    @operation("List runs of workflows", A.ListWorkflowRuns, READ)
    def list_workflow_runs(self, call: Call, a: A.ListWorkflowRuns) -> Any:
        return self._get(f"{_base(a)}/actions/runs", **self._rest(a))

    @operation("Run a workflow's run again", A.OneRun, CHANGE)
    def rerun_workflow_run(self, call: Call, a: A.OneRun) -> Any:
        def changed() -> None:
            self.mount.stale([f"/{a.full}/actions"])
        answer = self._change("POST", f"{_base(a)}/actions/runs/{a.run_id}/rerun", {}, changed)
        changed()
        return answer or {}


def _base(a: Any) -> str:
    return f"/repos/{part(a.owner.replace('/', '_'))}/{part(a.repo.replace('/', '_'))}"


def _pull(a: Any) -> str:
    return f"{_base(a)}/pulls/{a.pull_number}"


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> GitHubCli:
    """For mirage.yaml. Without options, or with those of a github mount's account, the mount's connection is used."""
    from mirage.mounts.github import OPTIONS
    from mirage.vfs.registry import ProviderError, convert
    ready = {}
    for key, value in options.items():
        if key not in OPTIONS:
            raise ProviderError(f"clis.{name}: unknown option {key!r}; there are: {', '.join(sorted(OPTIONS))}")
        ready[key] = convert(name, key, value, OPTIONS[key], folder)
    found = [(point, mount) for point, mount in mounts.items() if isinstance(mount, GitHub) and (
        not ready or mount.client.same_account(ready.get("token"), str(ready.get("endpoint", ""))))]
    found.sort(key=lambda pair: bool(pair[1].only))
    if found:
        return GitHubCli(found[0][1], found[0][0], name)
    if not ready:
        raise ProviderError(f"clis.{name}: give a token, or mount github")
    return GitHubCli(GitHub(**ready), None, name)
