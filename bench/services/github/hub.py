"""The state behind the simulated GitHub: accounts, repositories, issues, pull requests, releases, runs. Thread-safe."""
from __future__ import annotations

import copy
import re
import threading
from typing import TYPE_CHECKING, Any

from mirage.bench.services.github import diffs
from mirage.bench.services.github.objects import FILE, MODULE, TREE, Commit, Files, Objects, iso

if TYPE_CHECKING:
    from mirage.bench.services.clock import Clock

WORD = re.compile(r"\w+")
CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
LARGEST_SEARCHED = 384 << 10                                 # bytes; GitHub indexes smaller files only

Item = dict[str, Any]


class GitHubError(Exception):
    """`status` of HTTP; `errors` as in an answer 422."""

    def __init__(self, status: int, message: str = "", errors: list[Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message or {404: "Not Found", 422: "Validation Failed", 409: "Conflict"}.get(status, "error")
        self.errors = errors


class Repository:
    """One repository. Issues and pull requests share their numbers; both are in `issues`, pulls has the rest."""

    def __init__(self, id: int, owner: str, name: str, created: float, **more: Any) -> None:
        self.id = id
        self.owner = owner
        self.name = name
        self.private: bool = more.get("private", False)
        self.description: str | None = more.get("description")
        self.default_branch: str = more.get("default_branch", "main")
        self.parent: str = more.get("parent", "")
        self.created = self.updated = self.pushed = created
        self.refs: dict[str, str] = {}                       # refs/heads/main -> sha
        self.issues: dict[int, Item] = {}
        self.comments: dict[int, Item] = {}
        self.pulls: dict[int, Item] = {}
        self.reviews: dict[int, Item] = {}
        self.review_comments: dict[int, Item] = {}
        self.labels: dict[str, Item] = {}
        self.releases: dict[int, Item] = {}
        self.runs: dict[int, Item] = {}
        self.statuses: dict[str, list[Item]] = {}
        self.tips: list[tuple[float, str]] = []              # (time, tree) of the default branch, for the index
        self.counter = 0

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    def next_id(self) -> int:
        self.counter += 1
        return self.id * 100_000 + self.counter


class Hub:
    """index_lag  seconds until a change of a file, an issue or a comment is found by its words"""

    def __init__(self, clock: Clock, index_lag: float = 0.0) -> None:
        self.clock = clock
        self.index_lag = index_lag
        self.lock = threading.RLock()
        self.objects = Objects()
        self.users: dict[str, Item] = {}
        self.repos: dict[str, Repository] = {}               # by full name in lower case

    # ---- accounts and repositories

    def add_user(self, login: str, name: str = "", email: str = "", kind: str = "User",
                 members: tuple[str, ...] = ()) -> None:
        self.users[login] = {"login": login, "id": 1001 + len(self.users), "name": name or login, "type": kind,
                             "email": email or f"{login}@users.noreply.github.example", "members": members}

    def signature(self, login: str) -> str:
        user = self.users[login]
        return f"{user['name']} <{user['email']}>"

    def add_repo(self, owner: str, name: str, created: float | None = None, **more: Any) -> Repository:
        if not NAME.fullmatch(name) or name in (".", ".."):
            raise GitHubError(422, "Repository creation failed.", [{"resource": "Repository", "field": "name"}])
        if f"{owner}/{name}".lower() in self.repos:
            raise GitHubError(422, "Repository creation failed.",
                              [{"resource": "Repository", "code": "custom", "field": "name",
                                "message": "name already exists on this account"}])
        repo = Repository(5001 + len(self.repos), owner, name, self.clock.now() if created is None else created, **more)
        self.repos[repo.full_name.lower()] = repo
        return repo

    def may(self, login: str, repo: Repository) -> bool:
        """Does the account see the repository? In this company who sees also writes."""
        return not repo.private or self.writes(login, repo)

    def writes(self, login: str, repo: Repository) -> bool:
        return login == repo.owner or login in self.users[repo.owner]["members"]

    def repo(self, login: str, owner: str, name: str) -> Repository:
        found = self.repos.get(f"{owner}/{name}".lower())
        if found is None or not self.may(login, found):
            raise GitHubError(404)
        return found

    def accessible(self, login: str) -> list[Repository]:
        return sorted((r for r in self.repos.values() if self.writes(login, r)), key=lambda r: r.full_name.lower())

    def fork(self, login: str, source: Repository, organization: str = "") -> Repository:
        owner = organization or login
        found = self.repos.get(f"{owner}/{source.name}".lower())
        if found is not None:
            return found
        repo = self.add_repo(owner, source.name, description=source.description, private=source.private,
                             default_branch=source.default_branch, parent=source.full_name)
        repo.refs = {ref: sha for ref, sha in source.refs.items() if ref.startswith(("refs/heads/", "refs/tags/"))}
        return repo

    # ---- refs and commits

    def commit_of(self, repo: Repository, text: str) -> Commit:
        """The commit of a branch, tag or (abbreviated) sha; 404 where there is none."""
        text = text.removeprefix("refs/")
        for ref in (f"refs/heads/{text}", f"refs/tags/{text}", f"refs/{text}"):
            if ref in repo.refs:
                return self.peel(repo.refs[ref])
        if text == "HEAD":
            return self.commit_of(repo, repo.default_branch)
        if re.fullmatch(r"[0-9a-f]{7,40}", text):
            found = [c for sha, c in self.objects.commits.items() if sha.startswith(text)]
            if len(found) == 1:
                return found[0]
        raise GitHubError(404, f"No commit found for the ref {text}")

    def peel(self, sha: str) -> Commit:
        while sha in self.objects.tags:
            sha = str(self.objects.tags[sha]["object"])
        return self.objects.commits[sha]

    def set_ref(self, repo: Repository, ref: str, sha: str, at: float | None = None) -> None:
        """Move or make a ref; the open pull requests of a branch change with it."""
        now = self.clock.now() if at is None else at
        repo.refs[ref] = sha
        repo.pushed = repo.updated = max(now, repo.pushed)
        branch = ref.removeprefix("refs/heads/")
        if branch == repo.default_branch:
            repo.tips.append((now, self.peel(sha).tree))
        for number, pull in repo.pulls.items():
            mine = pull["head"] == branch and pull["head_repo"] == repo.full_name
            if mine and repo.issues[number]["state"] == "open":
                pull["sha"] = sha
                self.touch(repo, number)

    def commit(self, repo: Repository, branch: str, files: dict[str, Any], message: str, login: str,
               at: float | None = None) -> Commit:
        """Change files of a branch (bytes, None to remove, or (mode, bytes)); makes the branch where there is none."""
        ref = f"refs/heads/{branch}"
        parents = (repo.refs[ref],) if ref in repo.refs else ()
        entries = dict(self.objects.files(self.objects.commits[parents[0]].tree)) if parents else {}
        for path, content in files.items():
            if content is None:
                entries.pop(path, None)
                continue
            mode, data = content if isinstance(content, tuple) else (entries.get(path, (FILE,))[0], content)
            entries[path] = (mode, data if mode == MODULE else self.objects.add_blob(data))
        when = int(self.clock.now() if at is None else at)
        made = self.objects.add_commit(self.objects.add_files(entries), parents, self.signature(login), when, message)
        self.set_ref(repo, ref, made.sha, at)
        return made

    # ---- issues and pull requests

    def touch(self, repo: Repository, number: int, at: float | None = None) -> None:
        repo.issues[number]["updated"] = self.clock.now() if at is None else at

    def issue(self, repo: Repository, number: int) -> Item:
        found = repo.issues.get(number)
        if found is None:
            raise GitHubError(404)
        return found

    def pull(self, repo: Repository, number: int) -> Item:
        found = repo.pulls.get(number)
        if found is None:
            raise GitHubError(404)
        return found

    def add_issue(self, repo: Repository, login: str, title: str, body: str | None = None, at: float | None = None,
                  labels: Any = (), assignees: Any = (), **more: Any) -> Item:
        now = self.clock.now() if at is None else at
        number = len(repo.issues) + 1
        for label in labels:
            self.add_label(repo, label)
        issue: Item = {"number": number, "id": repo.next_id(), "title": title, "body": body, "user": login,
                       "state": "open", "reason": None, "labels": list(labels), "assignees": list(assignees),
                       "created": now, "updated": now, "closed": None, **more}
        repo.issues[number] = issue
        return issue

    def add_label(self, repo: Repository, name: str, color: str = "ededed") -> None:
        repo.labels.setdefault(name, {"id": repo.next_id(), "name": name, "color": color})

    def edit_issue(self, repo: Repository, number: int, changes: Item, at: float | None = None) -> Item:
        issue = self.issue(repo, number)
        now = self.clock.now() if at is None else at
        for key in ("title", "body", "labels", "assignees"):
            if changes.get(key) is not None:
                issue[key] = changes[key]
        for label in issue["labels"]:
            self.add_label(repo, label)
        state = changes.get("state")
        if state in ("open", "closed") and state != issue["state"]:
            issue.update(state=state, closed=now if state == "closed" else None,
                         reason=changes.get("state_reason", "completed") if state == "closed" else "reopened")
        self.touch(repo, number, now)
        return issue

    def add_comment(self, repo: Repository, number: int, login: str, body: str, at: float | None = None) -> Item:
        self.issue(repo, number)
        now = self.clock.now() if at is None else at
        comment: Item = {"id": repo.next_id(), "number": number, "user": login, "body": body, "created": now,
                         "updated": now}
        repo.comments[comment["id"]] = comment
        self.touch(repo, number, now)
        return comment

    def comments_of(self, repo: Repository, number: int) -> list[Item]:
        return [c for c in repo.comments.values() if c["number"] == number]

    def add_pull(self, repo: Repository, login: str, title: str, head: str, base: str, body: str | None = None,
                 at: float | None = None, **more: Any) -> Item:
        owner, _, branch = head.rpartition(":")
        source = self.repos.get(f"{owner}/{repo.name}".lower()) if owner and owner != repo.owner else repo
        if source is None or f"refs/heads/{branch}" not in source.refs:
            raise GitHubError(422, "", [{"resource": "PullRequest", "field": "head", "code": "invalid"}])
        if f"refs/heads/{base}" not in repo.refs:
            raise GitHubError(422, "", [{"resource": "PullRequest", "field": "base", "code": "invalid"}])
        head_sha, base_sha = source.refs[f"refs/heads/{branch}"], repo.refs[f"refs/heads/{base}"]
        if self.objects.merge_base(base_sha, head_sha) == head_sha:
            raise GitHubError(422, "", [{"resource": "PullRequest", "code": "custom",
                                         "message": f"No commits between {base} and {branch}"}])
        if any(p["head"] == branch and p["base"] == base and p["head_repo"] == source.full_name
               and repo.issues[n]["state"] == "open" for n, p in repo.pulls.items()):
            raise GitHubError(422, "", [{"resource": "PullRequest", "code": "custom",
                                         "message": f"A pull request already exists for {source.owner}:{branch}."}])
        issue = self.add_issue(repo, login, title, body, at)
        repo.pulls[issue["number"]] = {
            "number": issue["number"], "id": repo.next_id(), "head": branch, "head_repo": source.full_name,
            "base": base, "sha": head_sha, "base_sha": base_sha, "draft": bool(more.get("draft")), "merged": None,
            "merged_by": None, "merge_sha": None}
        return issue

    def pull_files(self, repo: Repository, pull: Item) -> list[Item]:
        tip = repo.refs.get(f"refs/heads/{pull['base']}")
        base: str = pull["base_sha"] if pull["merged"] or tip is None else tip
        return self.compare(base, pull["sha"])

    def compare(self, base: str, head: str) -> list[Item]:
        """What the head changed since it left the base."""
        fork = self.objects.merge_base(base, head) if base else ""
        before = self.objects.files(self.objects.commits[fork].tree) if fork else {}
        return diffs.changed(self.objects, before, self.objects.files(self.objects.commits[head].tree))

    def merged_tree(self, base: str, head: str) -> str | None:
        """The tree of a merge; None where both changed one file."""
        fork = self.objects.merge_base(base, head)
        start: Files = self.objects.files(self.objects.commits[fork].tree) if fork else {}
        ours = self.objects.files(self.objects.commits[base].tree)
        theirs = self.objects.files(self.objects.commits[head].tree)
        for path in {*start, *theirs}:
            old, mine, new = start.get(path), ours.get(path), theirs.get(path)
            if new in (old, mine):
                continue
            if mine != old:
                return None
            if new is None:
                ours.pop(path, None)
            else:
                ours[path] = new
        return self.objects.add_files(ours)

    def merge(self, repo: Repository, number: int, login: str, method: str = "merge", title: str = "",
              text: str = "", sha: str = "", at: float | None = None) -> Commit:
        pull, issue = self.pull(repo, number), repo.issues[number]
        if issue["state"] != "open" or pull["draft"]:
            raise GitHubError(405, "Pull Request is not mergeable")
        if sha and sha != pull["sha"]:
            raise GitHubError(409, "Head branch was modified. Review and try the merge again.")
        now = self.clock.now() if at is None else at
        ref = f"refs/heads/{pull['base']}"
        base = repo.refs[ref]
        tree = self.merged_tree(base, pull["sha"])
        if tree is None:
            raise GitHubError(405, "Pull Request is not mergeable")
        title = title or (f"Merge pull request #{number} from {pull['head_repo'].partition('/')[0]}/{pull['head']}"
                          if method == "merge" else f"{issue['title']} (#{number})")
        parents = (base, pull["sha"]) if method == "merge" else (base,)
        text = text or (issue["title"] if method == "merge" else "")
        made = self.objects.add_commit(tree, parents, self.signature(login), int(now), f"{title}\n\n{text}".rstrip())
        pull.update(merged=now, merged_by=login, merge_sha=made.sha, base_sha=base)
        issue.update(state="closed", closed=now, updated=now)
        self.set_ref(repo, ref, made.sha, now)
        if pull["base"] == repo.default_branch:
            for other in CLOSES.findall(issue["body"] or ""):
                if int(other) in repo.issues and int(other) not in repo.pulls:
                    self.edit_issue(repo, int(other), {"state": "closed"}, now)
        return made

    def add_review(self, repo: Repository, number: int, login: str, event: str, body: str = "", commit: str = "",
                   comments: Any = (), at: float | None = None) -> Item:
        pull = self.pull(repo, number)
        states = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
        if event not in states:
            raise GitHubError(422, "", ["event is not valid"])
        if event != "COMMENT" and repo.issues[number]["user"] == login:
            what = "approve" if event == "APPROVE" else "request changes on"
            raise GitHubError(422, f"Review Can not {what} your own pull request")
        now = self.clock.now() if at is None else at
        files = {f["filename"] for f in self.pull_files(repo, pull)}
        for comment in comments:
            if comment.get("path") not in files:
                raise GitHubError(422, "Unprocessable Entity", ["Path could not be resolved"])
        review: Item = {"id": repo.next_id(), "number": number, "user": login, "state": states[event], "body": body,
                  "commit": commit or pull["sha"], "submitted": now}
        repo.reviews[review["id"]] = review
        for comment in comments:
            one: Item = {"id": repo.next_id(), "number": number, "review": review["id"], "user": login, "created": now,
                   "path": comment["path"], "position": comment.get("position"), "line": comment.get("line"),
                   "body": comment["body"], "commit": review["commit"]}
            repo.review_comments[one["id"]] = one
        self.touch(repo, number, now)
        return review

    # ---- releases, runs, statuses

    def add_release(self, repo: Repository, login: str, tag: str, at: float | None = None, **more: Any) -> Item:
        now = self.clock.now() if at is None else at
        if any(r["tag"] == tag for r in repo.releases.values()):
            raise GitHubError(422, "", [{"resource": "Release", "code": "already_exists", "field": "tag_name"}])
        target = more.get("target") or repo.default_branch
        if f"refs/tags/{tag}" not in repo.refs and not more.get("draft"):
            self.set_ref(repo, f"refs/tags/{tag}", self.commit_of(repo, target).sha, now)
        release: Item = {"id": repo.next_id(), "tag": tag, "target": target, "name": more.get("name"),
                   "body": more.get("body"),
                   "draft": bool(more.get("draft")), "prerelease": bool(more.get("prerelease")), "user": login,
                   "created": now, "published": None if more.get("draft") else now}
        repo.releases[release["id"]] = release
        return release

    def add_run(self, repo: Repository, branch: str, sha: str, at: float, conclusion: str, name: str = "build",
                event: str = "push", step: str = "") -> Item:
        run: Item = {"id": repo.id * 1_000_000 + len(repo.runs) + 1, "name": name, "branch": branch, "sha": sha,
               "event": event,
               "number": len(repo.runs) + 1, "status": "completed", "conclusion": conclusion, "created": at,
               "updated": at + 184, "attempt": 1, "step": step}
        repo.runs[run["id"]] = run
        return run

    def add_status(self, repo: Repository, sha: str, state: str, context: str, text: str, at: float) -> None:
        repo.statuses.setdefault(sha, []).append({"id": repo.next_id(), "state": state, "context": context,
                                                  "description": text, "created": at})

    # ---- search

    def indexed_tree(self, repo: Repository) -> str | None:
        """The default branch's tree that the code search knows; forks are not indexed."""
        newest = self.clock.now() - self.index_lag
        known = [tree for at, tree in repo.tips if not self.index_lag or at <= newest]
        return known[-1] if known and not repo.parent else None

    def search_code(self, repos: list[Repository], words: list[str],
                    path: str = "") -> list[tuple[Repository, str, str]]:
        """(repository, path, sha) of small text files whose words, or name, have every word."""
        found = []
        for repo in repos:
            tree = self.indexed_tree(repo)
            for name, (mode, sha) in self.objects.files(tree).items() if tree else ():
                data = self.objects.blobs.get(sha, b"") if mode != MODULE else b""
                if len(data) >= LARGEST_SEARCHED or b"\0" in data or not f"{name}/".startswith(path and path + "/"):
                    continue
                tokens = {w.casefold() for w in WORD.findall(data.decode("utf-8", "replace"))}
                if all(word in tokens for word in words):
                    found.append((repo, name, sha))
        return found

    def search_issues(self, repos: list[Repository], words: list[str],
                      places: set[str]) -> list[tuple[Repository, Item]]:
        """Issues and pull requests with every word in their title, body or comments."""
        newest = self.clock.now() - self.index_lag
        found = []
        for repo in repos:
            comments: dict[int, list[str]] = {}
            for c in repo.comments.values() if "comments" in places else ():
                comments.setdefault(c["number"], []).append(c["body"])
            for number, issue in repo.issues.items():
                if self.index_lag and issue["updated"] > newest:
                    continue
                texts = [*([issue["title"]] if "title" in places else []),
                         *([issue["body"] or ""] if "body" in places else []), *comments.get(number, ())]
                tokens = {w.casefold() for w in WORD.findall(" ".join(texts))}
                if all(word in tokens for word in words):
                    found.append((repo, issue))
        return sorted(found, key=lambda pair: -pair[1]["created"])

    # ---- comparing

    def state(self) -> dict[str, Any]:
        """What somebody could have changed: refs, issues, comments, reviews, releases."""
        with self.lock:
            found: dict[str, Any] = {}
            for name, repo in self.repos.items():
                found[name] = {"default_branch": repo.default_branch, "private": repo.private, "parent": repo.parent}
                found.update({f"{name} {ref}": sha for ref, sha in repo.refs.items()})
                for kind in ("issues", "pulls", "comments", "reviews", "review_comments", "releases"):
                    for key, item in getattr(repo, kind).items():
                        plain = {k: v for k, v in item.items() if k not in ("updated", "base_sha")}
                        found[f"{name} {kind} {key}"] = copy.deepcopy(plain)
            return found

    def snapshot(self) -> Any:
        with self.lock:
            return copy.deepcopy((self.users, self.repos))

    def restore(self, snapshot: Any) -> None:
        with self.lock:
            self.users, self.repos = copy.deepcopy(snapshot)


__all__ = ["TREE", "GitHubError", "Hub", "Repository", "iso"]
