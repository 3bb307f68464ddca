"""The JSON of GitHub's REST API. Addresses are the real service's, so that the same seed gives the same bytes."""
from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mirage.bench.services.github.hub import GitHubError
from mirage.bench.services.github.objects import KINDS, LINK, MODULE, TREE, Commit, iso

if TYPE_CHECKING:
    from mirage.bench.services.github.hub import Hub, Item, Repository

API, WEB = "https://api.github.com", "https://github.com"


def _node(kind: str, id: Any) -> str:
    return f"{kind}_{base64.urlsafe_b64encode(str(id).encode()).decode().rstrip('=')}"


def _when(value: float | None) -> str | None:
    return None if value is None else iso(value)


def user(hub: Hub, login: str, full: bool = False) -> Item:
    u = hub.users[login]
    shape = {"login": login, "id": u["id"], "node_id": _node("U", u["id"]), "gravatar_id": "", "type": u["type"],
             "avatar_url": f"https://avatars.githubusercontent.com/u/{u['id']}?v=4", "url": f"{API}/users/{login}",
             "html_url": f"{WEB}/{login}", "repos_url": f"{API}/users/{login}/repos", "site_admin": False}
    return {**shape, "name": u["name"], "email": u["email"], "company": None, "created_at": "2020-01-01T00:00:00Z"} \
        if full else shape


def repository(hub: Hub, repo: Repository, login: str = "", full: bool = False) -> Item:
    base, web = f"{API}/repos/{repo.full_name}", f"{WEB}/{repo.full_name}"
    writes = bool(login) and hub.writes(login, repo)
    shape = {
        "id": repo.id, "node_id": _node("R", repo.id), "name": repo.name, "full_name": repo.full_name,
        "private": repo.private, "owner": user(hub, repo.owner), "html_url": web, "description": repo.description,
        "fork": bool(repo.parent), "url": base, "created_at": iso(repo.created), "updated_at": iso(repo.updated),
        "pushed_at": iso(repo.pushed), "git_url": f"git://github.com/{repo.full_name}.git",
        "ssh_url": f"git@github.com:{repo.full_name}.git", "clone_url": f"{web}.git",
        "trees_url": f"{base}/git/trees{{/sha}}", "branches_url": f"{base}/branches{{/branch}}",
        "issues_url": f"{base}/issues{{/number}}", "size": 120, "stargazers_count": 3, "watchers_count": 3,
        "language": "Python", "has_issues": not repo.parent,
        "forks_count": sum(r.parent == repo.full_name for r in hub.repos.values()),
        "archived": False, "disabled": False, "topics": [], "visibility": "private" if repo.private else "public",
        "open_issues_count": sum(i["state"] == "open" for i in repo.issues.values()),
        "default_branch": repo.default_branch,
        "permissions": {"admin": writes, "push": writes, "pull": True}}
    parent = hub.repos.get(repo.parent.lower()) if repo.parent and full else None
    if parent is None:
        return shape
    return {**shape, "parent": repository(hub, parent), "source": repository(hub, parent)}


def _person(text: str, when: int) -> Item:
    name, _, address = text.partition(" <")
    return {"name": name, "email": address.rstrip(">"), "date": iso(when)}


def _account(hub: Hub, text: str) -> Item | None:
    address = text.partition(" <")[2].rstrip(">")
    login = next((name for name, u in hub.users.items() if u["email"] == address), None)
    return user(hub, login) if login is not None else None


def git_commit(repo: Repository, commit: Commit) -> Item:
    base = f"{API}/repos/{repo.full_name}/git"
    return {"sha": commit.sha, "node_id": _node("C", commit.sha), "url": f"{base}/commits/{commit.sha}",
            "html_url": f"{WEB}/{repo.full_name}/commit/{commit.sha}", "author": _person(commit.author, commit.when),
            "committer": _person(commit.committer, commit.when), "message": commit.message,
            "tree": {"sha": commit.tree, "url": f"{base}/trees/{commit.tree}"},
            "parents": [{"sha": p, "url": f"{base}/commits/{p}", "html_url": f"{WEB}/{repo.full_name}/commit/{p}"}
                        for p in commit.parents],
            "verification": {"verified": False, "reason": "unsigned", "signature": None, "payload": None}}


def commit(hub: Hub, repo: Repository, one: Commit, files: list[Item] | None = None) -> Item:
    base = f"{API}/repos/{repo.full_name}/commits/{one.sha}"
    inner = git_commit(repo, one)
    shape = {"sha": one.sha, "node_id": inner["node_id"], "url": base, "html_url": inner["html_url"],
             "comments_url": f"{base}/comments", "author": _account(hub, one.author),
             "committer": _account(hub, one.committer), "parents": inner["parents"],
             "commit": {**{k: inner[k] for k in ("author", "committer", "message", "tree", "url", "verification")},
                        "comment_count": 0}}
    if files is None:
        return shape
    plus, minus = sum(f["additions"] for f in files), sum(f["deletions"] for f in files)
    return {**shape, "stats": {"total": plus + minus, "additions": plus, "deletions": minus},
            "files": [changed_file(repo, f, one.sha) for f in files]}


def changed_file(repo: Repository, file: Item, sha: str) -> Item:
    name, web = quote(file["filename"]), f"{WEB}/{repo.full_name}"
    shape = {"sha": file["sha"], "filename": file["filename"], "status": file["status"], "additions": file["additions"],
             "deletions": file["deletions"], "changes": file["additions"] + file["deletions"],
             "blob_url": f"{web}/blob/{sha}/{name}", "raw_url": f"{web}/raw/{sha}/{name}",
             "contents_url": f"{API}/repos/{repo.full_name}/contents/{name}?ref={sha}"}
    return {**shape, "patch": file["patch"]} if file["patch"] is not None else shape


def branch(hub: Hub, repo: Repository, name: str, full: bool = False) -> Item:
    sha = repo.refs[f"refs/heads/{name}"]
    short = {"sha": sha, "url": f"{API}/repos/{repo.full_name}/commits/{sha}"}
    return {"name": name, "commit": commit(hub, repo, hub.objects.commits[sha]) if full else short, "protected": False}


def tag(hub: Hub, repo: Repository, name: str) -> Item:
    sha, base = hub.peel(repo.refs[f"refs/tags/{name}"]).sha, f"{API}/repos/{repo.full_name}"
    return {"name": name, "commit": {"sha": sha, "url": f"{base}/commits/{sha}"}, "node_id": _node("REF", name),
            "zipball_url": f"{base}/zipball/refs/tags/{name}", "tarball_url": f"{base}/tarball/refs/tags/{name}"}


def ref(hub: Hub, repo: Repository, name: str) -> Item:
    sha = repo.refs[name]
    kind = "tag" if sha in hub.objects.tags else "commit"
    base = f"{API}/repos/{repo.full_name}/git"
    return {"ref": name, "node_id": _node("REF", name), "url": f"{base}/{quote(name)}",
            "object": {"sha": sha, "type": kind, "url": f"{base}/{kind}s/{sha}"}}


def tag_object(hub: Hub, repo: Repository, sha: str) -> Item:
    t = hub.objects.tags[sha]
    base = f"{API}/repos/{repo.full_name}/git"
    return {"node_id": _node("T", sha), "tag": t["tag"], "sha": sha, "url": f"{base}/tags/{sha}",
            "message": t["message"],
            "tagger": _person(str(t["tagger"]), int(str(t["when"]))),
            "object": {"type": "commit", "sha": t["object"], "url": f"{base}/commits/{t['object']}"}}


def tree(hub: Hub, repo: Repository, sha: str, recursive: bool, most: int) -> Item:
    base = f"{API}/repos/{repo.full_name}/git"
    entries = []
    for path, mode, one in hub.objects.walk(sha, recursive):
        kind = KINDS.get(mode, "blob")
        entry: Item = {"path": path, "mode": mode, "type": kind, "sha": one}
        if kind == "blob":
            entry["size"] = len(hub.objects.blobs[one])
        entry["url"] = f"{base}/{kind}s/{one}"
        entries.append(entry)
    return {"sha": sha, "url": f"{base}/trees/{sha}", "tree": entries[:most], "truncated": len(entries) > most}


def blob(repo: Repository, sha: str, data: bytes) -> Item:
    text = base64.encodebytes(data).decode()
    return {"sha": sha, "node_id": _node("B", sha), "size": len(data), "content": text, "encoding": "base64",
            "url": f"{API}/repos/{repo.full_name}/git/blobs/{sha}"}


def content(hub: Hub, repo: Repository, path: str, mode: str, sha: str, where: str, whole: bool = True) -> Item:
    """A file or directory as contents/ shows it."""
    name, base = quote(path), f"{API}/repos/{repo.full_name}"
    kind = {TREE: "dir", LINK: "symlink", MODULE: "submodule"}.get(mode, "file")
    data = hub.objects.blobs.get(sha, b"")
    url, web = f"{base}/contents/{name}?ref={where}", f"{WEB}/{repo.full_name}"
    git = f"{base}/git/{'trees' if kind == 'dir' else 'blobs'}/{sha}"
    page = f"{web}/{'tree' if kind == 'dir' else 'blob'}/{where}/{name}"
    down = f"https://raw.githubusercontent.com/{repo.full_name}/{where}/{name}" if kind in ("file", "symlink") else None
    shape: Item = {"name": path.rpartition("/")[2], "path": path, "sha": sha, "size": len(data), "url": url,
                   "html_url": page, "git_url": git, "download_url": down, "type": kind}
    if whole and kind == "file":
        large = len(data) > 1 << 20
        shape["content"] = "" if large else base64.encodebytes(data).decode()
        shape["encoding"] = "none" if large else "base64"
    if whole and kind == "symlink":
        shape["target"] = data.decode("utf-8", "replace")
    return {**shape, "_links": {"self": url, "git": git, "html": page}}


def label(repo: Repository, name: str) -> Item:
    one = repo.labels[name]
    return {"id": one["id"], "node_id": _node("LA", one["id"]), "name": name, "color": one["color"], "default": False,
            "url": f"{API}/repos/{repo.full_name}/labels/{quote(name)}", "description": None}


def issue(hub: Hub, repo: Repository, one: Item) -> Item:
    base, number = f"{API}/repos/{repo.full_name}", one["number"]
    url, is_pull = f"{base}/issues/{number}", number in repo.pulls
    people = [user(hub, login) for login in one["assignees"] if login in hub.users]
    shape = {
        "url": url, "repository_url": base, "labels_url": f"{url}/labels{{/name}}", "comments_url": f"{url}/comments",
        "events_url": f"{url}/events", "html_url": f"{WEB}/{repo.full_name}/{'pull' if is_pull else 'issues'}/{number}",
        "id": one["id"], "node_id": _node("PR" if is_pull else "I", one["id"]), "number": number, "title": one["title"],
        "user": user(hub, one["user"]), "labels": [label(repo, name) for name in one["labels"]], "state": one["state"],
        "locked": False, "assignee": people[0] if people else None, "assignees": people, "milestone": None,
        "comments": len(hub.comments_of(repo, number)), "created_at": iso(one["created"]),
        "updated_at": iso(one["updated"]), "closed_at": _when(one["closed"]), "author_association": "MEMBER",
        "active_lock_reason": None, "body": one["body"], "state_reason": one["reason"]}
    if is_pull:
        web = f"{WEB}/{repo.full_name}/pull/{number}"
        shape["pull_request"] = {"url": f"{base}/pulls/{number}", "html_url": web, "diff_url": f"{web}.diff",
                                 "patch_url": f"{web}.patch", "merged_at": _when(repo.pulls[number]["merged"])}
    return shape


def comment(hub: Hub, repo: Repository, one: Item) -> Item:
    base = f"{API}/repos/{repo.full_name}/issues"
    return {"url": f"{base}/comments/{one['id']}", "issue_url": f"{base}/{one['number']}", "id": one["id"],
            "html_url": f"{WEB}/{repo.full_name}/{'pull' if one['number'] in repo.pulls else 'issues'}/{one['number']}"
                        f"#issuecomment-{one['id']}",
            "node_id": _node("IC", one["id"]), "user": user(hub, one["user"]), "created_at": iso(one["created"]),
            "updated_at": iso(one["updated"]), "author_association": "MEMBER", "body": one["body"]}


def pull(hub: Hub, repo: Repository, number: int, full: bool = False) -> Item:
    base, one, web = f"{API}/repos/{repo.full_name}", repo.pulls[number], f"{WEB}/{repo.full_name}/pull/{number}"
    as_issue = issue(hub, repo, repo.issues[number])
    keys = ("number", "state", "locked", "title", "user", "body", "labels", "milestone", "assignee", "assignees",
            "created_at", "updated_at", "closed_at", "author_association")
    source = hub.repos.get(one["head_repo"].lower())

    def side(name: str, sha: str, where: Repository | None) -> Item:
        owner = where.owner if where is not None else repo.owner
        return {"label": f"{owner}:{name}", "ref": name, "sha": sha, "user": user(hub, owner),
                "repo": repository(hub, where) if where is not None else None}
    shape = {"url": f"{base}/pulls/{number}", "id": one["id"], "node_id": _node("PR", one["id"]), "html_url": web,
             "diff_url": f"{web}.diff", "patch_url": f"{web}.patch", "issue_url": f"{base}/issues/{number}",
             **{key: as_issue[key] for key in keys}, "merged_at": _when(one["merged"]), "draft": one["draft"],
             "merge_commit_sha": one["merge_sha"], "requested_reviewers": [], "requested_teams": [],
             "head": side(one["head"], one["sha"], source), "base": side(one["base"], one["base_sha"], repo)}
    if not full:
        return shape
    files = hub.pull_files(repo, one)
    comments = [c for c in repo.review_comments.values() if c["number"] == number]
    open_ = one["merged"] is None and as_issue["state"] == "open"
    tip: str = repo.refs.get(f"refs/heads/{one['base']}") or one["base_sha"]
    clean = open_ and hub.merged_tree(tip, one["sha"]) is not None
    fork = hub.objects.merge_base(one["base_sha"], one["sha"])
    known = {c.sha for c in hub.objects.history(fork)} if fork else set()
    return {**shape, "merged": one["merged"] is not None, "mergeable": clean if open_ else None,
            "mergeable_state": "clean" if clean else "dirty" if open_ else "unknown", "comments": as_issue["comments"],
            "merged_by": user(hub, one["merged_by"]) if one["merged_by"] else None, "review_comments": len(comments),
            "maintainer_can_modify": False, "commits": sum(c.sha not in known for c in hub.objects.history(one["sha"])),
            "additions": sum(f["additions"] for f in files), "deletions": sum(f["deletions"] for f in files),
            "changed_files": len(files)}


def review(hub: Hub, repo: Repository, one: Item) -> Item:
    base, web = f"{API}/repos/{repo.full_name}/pulls/{one['number']}", f"{WEB}/{repo.full_name}/pull/{one['number']}"
    return {"id": one["id"], "node_id": _node("PRR", one["id"]), "user": user(hub, one["user"]), "body": one["body"],
            "state": one["state"], "html_url": f"{web}#pullrequestreview-{one['id']}", "pull_request_url": base,
            "author_association": "MEMBER", "submitted_at": iso(one["submitted"]), "commit_id": one["commit"]}


def review_comment(hub: Hub, repo: Repository, one: Item) -> Item:
    base, web = f"{API}/repos/{repo.full_name}/pulls", f"{WEB}/{repo.full_name}/pull/{one['number']}"
    url, page, pull_url = f"{base}/comments/{one['id']}", f"{web}#discussion_r{one['id']}", f"{base}/{one['number']}"
    at = one["position"] or one["line"]
    line = {"line": one["line"]} if one["line"] else {}
    return {**line, "url": url, "pull_request_review_id": one["review"], "id": one["id"],
            "node_id": _node("PRRC", one["id"]),
            "diff_hunk": "@@ -1 +1 @@", "path": one["path"], "position": at,
            "original_position": at, "commit_id": one["commit"], "original_commit_id": one["commit"],
            "user": user(hub, one["user"]), "body": one["body"], "created_at": iso(one["created"]),
            "updated_at": iso(one["created"]), "html_url": page, "pull_request_url": pull_url,
            "author_association": "MEMBER",
            "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull_url}}}


def release(hub: Hub, repo: Repository, one: Item) -> Item:
    base = f"{API}/repos/{repo.full_name}"
    return {"url": f"{base}/releases/{one['id']}",
            "html_url": f"{WEB}/{repo.full_name}/releases/tag/{quote(one['tag'])}",
            "assets_url": f"{base}/releases/{one['id']}/assets", "id": one["id"], "node_id": _node("RE", one["id"]),
            "author": user(hub, one["user"]), "tag_name": one["tag"], "target_commitish": one["target"],
            "name": one["name"], "draft": one["draft"], "prerelease": one["prerelease"],
            "created_at": iso(one["created"]), "published_at": _when(one["published"]), "assets": [],
            "tarball_url": f"{base}/tarball/{quote(one['tag'])}", "zipball_url": f"{base}/zipball/{quote(one['tag'])}",
            "body": one["body"]}


def run(hub: Hub, repo: Repository, one: Item) -> Item:
    url = f"{API}/repos/{repo.full_name}/actions/runs/{one['id']}"
    message = hub.objects.commits[one["sha"]].message
    return {"id": one["id"], "name": one["name"], "node_id": _node("WFR", one["id"]), "head_branch": one["branch"],
            "head_sha": one["sha"], "path": f".github/workflows/{one['name']}.yml", "run_number": one["number"],
            "run_attempt": one["attempt"], "event": one["event"], "display_title": message.partition("\n")[0],
            "status": one["status"], "conclusion": one["conclusion"], "workflow_id": 77, "url": url,
            "html_url": f"{WEB}/{repo.full_name}/actions/runs/{one['id']}", "created_at": iso(one["created"]),
            "updated_at": iso(one["updated"]), "run_started_at": iso(one["created"]), "jobs_url": f"{url}/jobs",
            "logs_url": f"{url}/logs", "repository": {"id": repo.id, "name": repo.name, "full_name": repo.full_name}}


def jobs(repo: Repository, one: Item) -> list[Item]:
    steps = [{"name": name, "number": n, "status": "completed",
              "conclusion": one["conclusion"] if name == (one["step"] or "Run tests") else "success"}
             for n, name in enumerate(("Set up job", "Checkout", "Build firmware", "Run tests"), 1)]
    return [{"id": one["id"] * 10 + 1, "run_id": one["id"], "name": one["name"], "status": one["status"],
             "conclusion": one["conclusion"], "started_at": iso(one["created"]), "completed_at": iso(one["updated"]),
             "steps": steps, "labels": ["ubuntu-24.04"], "runner_name": "runner-1",
             "html_url": f"{WEB}/{repo.full_name}/actions/runs/{one['id']}/job/{one['id'] * 10 + 1}"}]


def status(hub: Hub, repo: Repository, sha: str) -> Item:
    base = f"{API}/repos/{repo.full_name}"
    found = {s["context"]: s for s in repo.statuses.get(sha, ())}
    states = {s["state"] for s in found.values()}
    state = "failure" if states & {"failure", "error"} else "success" if states == {"success"} else "pending"
    return {"state": state, "sha": sha, "total_count": len(found), "url": f"{base}/commits/{sha}/status",
            "commit_url": f"{base}/commits/{sha}", "repository": repository(hub, repo),
            "statuses": [{"url": f"{base}/statuses/{sha}", "id": s["id"], "node_id": _node("SC", s["id"]),
                          "state": s["state"], "description": s["description"], "target_url": None,
                          "context": s["context"], "created_at": iso(s["created"]), "updated_at": iso(s["created"])}
                         for s in found.values()]}


def etag(body: bytes) -> str:
    return f'W/"{hashlib.sha256(body).hexdigest()}"'


def needed(body: Any, *keys: str) -> None:
    """422 where a field of a request is missing."""
    missing = [key for key in keys if not body.get(key)]
    if missing:
        raise GitHubError(422, "", [{"resource": "request", "field": key, "code": "missing_field"} for key in missing])
