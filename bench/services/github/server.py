"""The simulator: GitHub's REST API as far as mounts, CLIs and the usual MCP server of agents call it."""
from __future__ import annotations

import base64
import binascii
import io
import re
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode

from mirage.bench.services.clock import Clock
from mirage.bench.services.github import shapes
from mirage.bench.services.github.diffs import whole
from mirage.bench.services.github.hub import GitHubError, Hub, iso
from mirage.bench.services.github.objects import FILE, LINK, MODULE, PROGRAM, TREE
from mirage.bench.services.github.seed import NOW, OWNER, fill
from mirage.bench.services.http import LogEntry, Request, Response, Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.bench.services.github.hub import Item, Repository

TOKEN = "ghp_simulator"
PER_PAGE = 30
SEARCH_MOST = 1000
QUALIFIER = re.compile(r"(-?[a-z-]+):(\"[^\"]*\"|\S+)")


class GitHubSimulator(Service):
    """One organization and its people.

    size       1: the whole seed; smaller: fewer issues and files
    index_lag  seconds (of `clock`) until a search finds what was changed
    limit      requests an hour; an answer 304 is not counted
    entries    the most entries that a recursive tree shows; the real service has 100,000
    links      addresses in answers are this server's, for clients that follow them, instead of GitHub's
    tokens     token -> login
    """

    def __init__(self, seed: int = 1, size: float = 1.0, index_lag: float = 0.0, clock: Clock | None = None,
                 limit: int = 5000, entries: int = 100_000, links: bool = False) -> None:
        super().__init__()
        self.clock = clock or Clock(NOW)
        self.index_lag = index_lag
        self.limit = limit
        self.entries = entries
        self.links = links
        self.tokens = {TOKEN: "mara"}
        self.used = 0
        self.hub: Hub
        self._size = size
        self.reset(seed, size)

    def reset(self, seed: int = 1, size: float | None = None) -> None:
        """The state of the seed, in the size that it had unless another is given."""
        self._size = size = self._size if size is None else size
        self.hub = Hub(self.clock, self.index_lag)
        fill(self.hub, seed, size)
        self.used = 0

    @property
    def kept(self) -> Hub:
        return self.hub

    # ---- requests

    def error(self, status: int, message: str = "", headers: dict[str, str] | None = None,
              reason: str = "") -> Response:
        if status in (403, 429) and not message and headers:
            message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        body = {"message": message or reason or "Server Error", "documentation_url": "https://docs.github.com/rest",
                "status": str(status)}
        return Response.of_json(body, status, headers)

    def handle(self, request: Request, entry: LogEntry) -> Response:
        if request.path.startswith("/_codeload/"):
            return self._codeload(request)
        words = request.headers.get("authorization", "").split()
        login = self.tokens.get(words[-1]) if words else None
        if login is None:
            return self.error(401, "Bad credentials" if words else "Requires authentication")
        with self.hub.lock:
            if self.used >= self.limit:
                return self.error(403, "API rate limit exceeded for user ID 1001.", self._rate())
            try:
                response = self._answer(request, login)
            except GitHubError as e:
                body: Item = {"message": e.message, "documentation_url": "https://docs.github.com/rest",
                              "status": str(e.status)}
                response = Response.of_json({**body, "errors": e.errors} if e.errors else body, e.status)
            if self.links and response.headers.get("Content-Type", "").startswith("application/json"):
                response.body = response.body.replace(shapes.API.encode(), self.address.rstrip("/").encode())
            if request.method == "GET" and response.status == 200:
                tag = shapes.etag(response.body)
                known = request.headers.get("if-none-match", "")
                if tag in (known, f"W/{known}"):
                    response = Response(304, b"")
                response.headers["ETag"] = tag
            self.used += response.status != 304
            response.headers.update(self._rate())
        return response

    def _rate(self) -> dict[str, str]:
        return {"X-RateLimit-Limit": str(self.limit), "X-RateLimit-Remaining": str(max(0, self.limit - self.used)),
                "X-RateLimit-Reset": str(int(self.now()) // 3600 * 3600 + 3600), "X-RateLimit-Used": str(self.used)}

    def _answer(self, request: Request, login: str) -> Response:
        path = request.path.rstrip("/") or "/"
        found = None
        for method, pattern, function in ROUTES:
            match = pattern.fullmatch(path)
            if match is None:
                continue
            found = match
            if method == request.method:
                try:
                    body = request.json() if request.body else {}
                except ValueError:
                    raise GitHubError(400, "Problems parsing JSON") from None
                call = Call(self, request, login, [unquote(text) for text in match.groups()], body)
                return function(call)
        raise GitHubError(405 if found else 404, "Method Not Allowed" if found else "")

    def _codeload(self, request: Request) -> Response:
        """The archive behind the redirection; its own token is in the address."""
        kind, owner, name, sha = request.path.split("/")[2:6]
        repo = self.hub.repos.get(f"{owner}/{name}".lower())
        if repo is None or request.first("token") != f"archive{repo.id}":
            return self.error(404, "Not Found")
        if "authorization" in request.headers:
            return self.error(400, "the token of the API does not belong here")
        return Response(200, archive(self.hub, repo, sha, kind), {"Content-Type": f"application/x-{kind}"})


class Call:
    """One request: its parts of the path, query and JSON."""

    def __init__(self, simulator: GitHubSimulator, request: Request, login: str, parts: list[str], body: Item) -> None:
        self.simulator = simulator
        self.hub = simulator.hub
        self.request = request
        self.login = login
        self.parts = parts
        self.body = body

    @property
    def repo(self) -> Repository:
        return self.hub.repo(self.login, self.parts[0], self.parts[1])

    @property
    def writable(self) -> Repository:
        repo = self.repo
        if not self.hub.writes(self.login, repo):
            raise GitHubError(403, "Must have push access to repository")
        return repo

    def number(self, at: int = 2) -> int:
        return int(self.parts[at])

    def query(self, name: str, default: str = "") -> str:
        return self.request.first(name, default)

    def page(self, items: list[Any], shape: Callable[[Any], Item], wrap: str = "", total: int = -1,
             **more: Any) -> Response:
        """One page, with the header Link."""
        try:
            size, number = min(int(self.query("per_page", str(PER_PAGE))), 100), int(self.query("page", "1"))
        except ValueError:
            size, number = PER_PAGE, 1
        size, number = max(size, 1), max(number, 1)
        last = max(1, -(-len(items) // size))
        links = []
        for name, at in (("prev", number - 1), ("next", number + 1), ("last", last), ("first", 1)):
            if 1 <= at <= last and (number < last if name in ("next", "last") else number > 1):
                query = {key: values[0] for key, values in self.request.query.items()} | {"page": str(at)}
                address = f"{self.simulator.address.rstrip('/')}{self.request.path}?{urlencode(query)}"
                links.append(f'<{address}>; rel="{name}"')
        shown: Any = [shape(item) for item in items[size * (number - 1):size * number]]
        if wrap:
            shown = {"total_count": len(items) if total < 0 else total, **more, wrap: shown}
        return Response.of_json(shown, 200, {"Link": ", ".join(links)} if links else None)


def ok(value: Any, status: int = 200) -> Response:
    return Response.of_json(value, status)


# ---- accounts

def _user(c: Call) -> Response:
    return ok(shapes.user(c.hub, c.login, full=True))


def _a_user(c: Call) -> Response:
    if c.parts[0] not in c.hub.users:
        raise GitHubError(404)
    return ok(shapes.user(c.hub, c.parts[0], full=True))


def _orgs(c: Call) -> Response:
    orgs = [name for name, u in c.hub.users.items() if c.login in u["members"]]
    return c.page(orgs, lambda name: shapes.user(c.hub, name))


def _user_repos(c: Call) -> Response:
    return c.page(c.hub.accessible(c.login), lambda r: shapes.repository(c.hub, r, c.login))


def _owner_repos(c: Call) -> Response:
    owner = c.parts[0]
    if owner not in c.hub.users:
        raise GitHubError(404)
    org = c.request.path.startswith("/orgs/")
    repos = [r for r in c.hub.repos.values() if r.owner == owner and (c.hub.may(c.login, r) if org else not r.private)]
    return c.page(sorted(repos, key=lambda r: r.name.lower()), lambda r: shapes.repository(c.hub, r, c.login))


def _make_repo(c: Call) -> Response:
    shapes.needed(c.body, "name")
    owner = c.parts[0] if c.parts else c.login
    if owner != c.login and c.login not in c.hub.users.get(owner, {}).get("members", ()):
        raise GitHubError(404)
    repo = c.hub.add_repo(owner, c.body["name"], private=bool(c.body.get("private")),
                          description=c.body.get("description"))
    if c.body.get("auto_init"):
        text = f"# {repo.name}\n" + (f"{repo.description}\n" if repo.description else "")
        c.hub.commit(repo, "main", {"README.md": text.encode()}, "Initial commit", c.login)
    return ok(shapes.repository(c.hub, repo, c.login), 201)


def _repo(c: Call) -> Response:
    return ok(shapes.repository(c.hub, c.repo, c.login, full=True))


def _fork(c: Call) -> Response:
    org = c.query("organization") or c.body.get("organization") or ""
    if org and c.login not in c.hub.users.get(org, {}).get("members", ()):
        raise GitHubError(404)
    return ok(shapes.repository(c.hub, c.hub.fork(c.login, c.repo, org), c.login, full=True), 202)


# ---- git

def _branches(c: Call) -> Response:
    repo = c.repo
    names = sorted(ref[11:] for ref in repo.refs if ref.startswith("refs/heads/"))
    return c.page(names, lambda name: shapes.branch(c.hub, repo, name))


def _branch(c: Call) -> Response:
    if f"refs/heads/{c.parts[2]}" not in c.repo.refs:
        raise GitHubError(404, "Branch not found")
    return ok(shapes.branch(c.hub, c.repo, c.parts[2], full=True))


def _tags(c: Call) -> Response:
    repo = c.repo
    names = sorted((ref[10:] for ref in repo.refs if ref.startswith("refs/tags/")), reverse=True)
    return c.page(names, lambda name: shapes.tag(c.hub, repo, name))


def _ref(c: Call) -> Response:
    if f"refs/{c.parts[2]}" not in c.repo.refs:
        raise GitHubError(404)
    return ok(shapes.ref(c.hub, c.repo, f"refs/{c.parts[2]}"))


def _matching_refs(c: Call) -> Response:
    repo = c.repo
    names = sorted(ref for ref in repo.refs if ref.startswith(f"refs/{c.parts[2]}"))
    return c.page(names, lambda name: shapes.ref(c.hub, repo, name))


def _make_ref(c: Call) -> Response:
    shapes.needed(c.body, "ref", "sha")
    repo, ref, sha = c.writable, c.body["ref"], c.body["sha"]
    if not re.fullmatch(r"refs/(heads|tags)/[^\s~^:?*\[\\]+", ref) or ".." in ref or ref.endswith(("/", ".lock")):
        raise GitHubError(422, f"{ref} is not a valid ref name.")
    if ref in repo.refs:
        raise GitHubError(422, "Reference already exists")
    if sha not in c.hub.objects.commits and sha not in c.hub.objects.tags:
        raise GitHubError(422, "Object does not exist")
    c.hub.set_ref(repo, ref, sha)
    return ok(shapes.ref(c.hub, repo, ref), 201)


def _move_ref(c: Call) -> Response:
    shapes.needed(c.body, "sha")
    repo, ref, sha = c.writable, f"refs/{c.parts[2]}", c.body["sha"]
    if ref not in repo.refs:
        raise GitHubError(422, "Reference does not exist")
    if sha not in c.hub.objects.commits:
        raise GitHubError(422, "Object does not exist")
    if not c.body.get("force") and c.hub.objects.merge_base(sha, repo.refs[ref]) != repo.refs[ref]:
        raise GitHubError(422, "Update is not a fast forward")
    c.hub.set_ref(repo, ref, sha)
    return ok(shapes.ref(c.hub, repo, ref))


def _delete_ref(c: Call) -> Response:
    if c.writable.refs.pop(f"refs/{c.parts[2]}", None) is None:
        raise GitHubError(422, "Reference does not exist")
    return Response(204)


def _tree(c: Call) -> Response:
    repo, sha = c.repo, c.parts[2]
    if sha not in c.hub.objects.trees:
        if not repo.refs:
            raise GitHubError(409, "Git Repository is empty.")
        sha = c.hub.commit_of(repo, sha).tree
    return ok(shapes.tree(c.hub, repo, sha, bool(c.query("recursive")), c.simulator.entries))


def _make_tree(c: Call) -> Response:
    repo, objects = c.writable, c.hub.objects
    base = c.body.get("base_tree")
    if base in objects.commits:
        base = objects.commits[base].tree
    if base and base not in objects.trees:
        raise GitHubError(422, "base_tree is not a valid tree oid")
    files = objects.files(base) if base else {}
    for entry in c.body.get("tree") or ():
        path, sha = entry.get("path", ""), entry.get("sha")
        if not path or path.startswith("/") or ".." in path.split("/"):
            raise GitHubError(422, "tree.path contains a malformed path component")
        if "content" in entry:
            sha = objects.add_blob(entry["content"].encode())
        if sha is None:
            if path not in files:
                raise GitHubError(422, "GitRPC::BadObjectState")
            del files[path]
            continue
        if sha in objects.trees:
            files.update(objects.files(sha, f"{path}/"))
            continue
        if sha not in objects.blobs and entry.get("mode") != MODULE:
            raise GitHubError(422, f"tree.sha {sha} is not a valid blob")
        files[path] = (entry.get("mode", FILE), sha)
    sha = objects.add_files(files)
    return ok(shapes.tree(c.hub, repo, sha, False, c.simulator.entries), 201)


def _blob(c: Call) -> Response:
    repo, sha = c.repo, c.parts[2]
    data = c.hub.objects.blobs.get(sha)
    if data is None:
        raise GitHubError(404)
    if ".raw" in c.request.headers.get("accept", ""):
        return Response(200, data, {"Content-Type": "application/vnd.github.raw+json; charset=utf-8"})
    return ok(shapes.blob(repo, sha, data))


def _make_blob(c: Call) -> Response:
    repo = c.writable
    text = c.body.get("content", "")
    try:
        data = base64.b64decode(text, validate=True) if c.body.get("encoding") == "base64" else text.encode()
    except binascii.Error:
        raise GitHubError(422, "content is not valid Base64") from None
    sha = c.hub.objects.add_blob(data)
    return ok({"sha": sha, "url": f"{shapes.API}/repos/{repo.full_name}/git/blobs/{sha}"}, 201)


def _git_commit(c: Call) -> Response:
    found = c.hub.objects.commits.get(c.parts[2])
    if found is None:
        raise GitHubError(404)
    return ok(shapes.git_commit(c.repo, found))


def _make_commit(c: Call) -> Response:
    shapes.needed(c.body, "message", "tree")
    repo, objects = c.writable, c.hub.objects
    parents = tuple(c.body.get("parents") or ())
    if c.body["tree"] not in objects.trees or any(p not in objects.commits for p in parents):
        raise GitHubError(422, "Tree SHA or parent does not exist")
    made = objects.add_commit(c.body["tree"], parents, c.hub.signature(c.login), int(c.hub.clock.now()),
                              c.body["message"])
    return ok(shapes.git_commit(repo, made), 201)


def _git_tag(c: Call) -> Response:
    if c.parts[2] not in c.hub.objects.tags:
        raise GitHubError(404)
    return ok(shapes.tag_object(c.hub, c.repo, c.parts[2]))


def _commits(c: Call) -> Response:
    repo = c.repo
    if not repo.refs:
        raise GitHubError(409, "Git Repository is empty.")
    found = c.hub.objects.history(c.hub.commit_of(repo, c.query("sha") or repo.default_branch).sha)
    path = c.query("path")
    if path:
        at = c.hub.objects.at
        found = [m for m in found if at(m.tree, path) != (
            at(c.hub.objects.commits[m.parents[0]].tree, path) if m.parents else None)]
    since, until = c.query("since"), c.query("until")
    found = [m for m in found if (not since or iso(m.when) >= since) and (not until or iso(m.when) <= until)]
    return c.page(found, lambda m: shapes.commit(c.hub, repo, m))


def _commit(c: Call) -> Response:
    repo = c.repo
    try:
        found = c.hub.commit_of(repo, c.parts[2])
    except GitHubError as e:
        raise GitHubError(422, e.message.replace("ref", "SHA:")) from None
    accept = c.request.headers.get("accept", "")
    parent = found.parents[0] if found.parents else ""
    files = c.hub.compare(parent, found.sha) if parent else []
    if accept.endswith(".sha"):
        return Response(200, found.sha.encode(), {"Content-Type": "application/vnd.github.sha; charset=utf-8"})
    return ok(shapes.commit(c.hub, repo, found, files))


def _compare(c: Call) -> Response:
    repo = c.repo
    base, _, head = c.parts[2].partition("...")
    a, b = c.hub.commit_of(repo, base), c.hub.commit_of(repo, head)
    fork = c.hub.objects.merge_base(a.sha, b.sha)
    old = {m.sha for m in c.hub.objects.history(a.sha)}
    new = {m.sha for m in c.hub.objects.history(b.sha)}
    ahead = [m for m in reversed(c.hub.objects.history(b.sha)) if m.sha not in old]
    behind = sum(m.sha not in new for m in c.hub.objects.history(a.sha))
    status = "diverged" if ahead and behind else "ahead" if ahead else "behind" if behind else "identical"
    files = c.hub.compare(a.sha, b.sha)
    if c.request.headers.get("accept", "").endswith("diff"):
        return Response(200, whole(files).encode(), {"Content-Type": "application/vnd.github.diff; charset=utf-8"})
    return ok({"url": f"{shapes.API}/repos/{repo.full_name}/compare/{c.parts[2]}", "status": status,
               "base_commit": shapes.commit(c.hub, repo, a), "ahead_by": len(ahead), "behind_by": behind,
               "merge_base_commit": shapes.commit(c.hub, repo, c.hub.objects.commits[fork]) if fork else None,
               "total_commits": len(ahead), "commits": [shapes.commit(c.hub, repo, m) for m in ahead],
               "files": [shapes.changed_file(repo, f, b.sha) for f in files]})


def _status(c: Call) -> Response:
    return ok(shapes.status(c.hub, c.repo, c.hub.commit_of(c.repo, c.parts[2]).sha))


def _archive(c: Call) -> Response:
    repo, kind = c.repo, "gzip" if "/tarball" in c.request.path else "zip"
    sha = c.hub.commit_of(repo, c.parts[2] if len(c.parts) > 2 else repo.default_branch).sha
    where = f"{c.simulator.address}_codeload/{kind}/{repo.full_name}/{sha}?token=archive{repo.id}"
    return Response(302, b"", {"Location": where})


def archive(hub: Hub, repo: Repository, sha: str, kind: str) -> bytes:
    """As `git archive` makes it: without what .gitattributes exports not, with $Format$ replaced where it says so."""
    commit = hub.objects.commits[sha]
    top, out = f"{repo.owner}-{repo.name}-{sha[:7]}", io.BytesIO()
    rules = [line.split() for line in hub.objects.blobs.get(
        (hub.objects.at(commit.tree, ".gitattributes") or ("", ""))[1], b"").decode().splitlines()]
    ignored = {words[0] for words in rules if "export-ignore" in words[1:]}
    replaced = {words[0] for words in rules if "export-subst" in words[1:]}
    entries = []
    for path, mode, one in hub.objects.walk(commit.tree, True):
        if path in ignored or any(path.startswith(f"{name}/") for name in ignored):
            continue
        data = hub.objects.blobs.get(one, b"")
        if path in replaced:
            data = data.replace(b"$Format:%H$", sha.encode())
        entries.append((f"{top}/{path}", mode, data))
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
            for name, mode, data in entries:
                z.writestr(zipfile.ZipInfo(name + ("/" if mode in (TREE, MODULE) else "")), data)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1, format=tarfile.PAX_FORMAT,
                      pax_headers={"comment": sha}) as tar:
        for name, mode, data in entries:
            info = tarfile.TarInfo(name)
            info.mtime, info.mode = commit.when, 0o775 if mode in (TREE, MODULE, PROGRAM) else 0o664
            if mode in (TREE, MODULE):
                info.type = tarfile.DIRTYPE
            elif mode == LINK:
                info.type, info.linkname = tarfile.SYMTYPE, data.decode()
            else:
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data) if mode in (FILE, PROGRAM) else None)
    return out.getvalue()


# ---- contents

def _contents(c: Call) -> Response:
    repo, path = c.repo, c.parts[2].strip("/") if len(c.parts) > 2 else ""
    where = c.query("ref") or repo.default_branch
    if not repo.refs:
        raise GitHubError(404, "This repository is empty.")
    tree = c.hub.commit_of(repo, where).tree
    found = c.hub.objects.at(tree, path)
    if found is None:
        raise GitHubError(404)
    mode, sha = found
    if mode == TREE:
        prefix = f"{path}/" if path else ""
        return ok([shapes.content(c.hub, repo, prefix + name, m, s, where, whole=False)
                   for name, (m, s) in c.hub.objects.trees[sha].items()])
    if ".raw" in c.request.headers.get("accept", ""):
        return Response(200, c.hub.objects.blobs[sha],
                        {"Content-Type": "application/vnd.github.raw+json; charset=utf-8"})
    return ok(shapes.content(c.hub, repo, path, mode, sha, where))


def _put_contents(c: Call) -> Response:
    repo, path = c.writable, c.parts[2].strip("/")
    shapes.needed(c.body, "message")
    branch = c.body.get("branch") or repo.default_branch
    if repo.refs and f"refs/heads/{branch}" not in repo.refs:
        raise GitHubError(404, f"Branch {branch} not found")
    if ".." in path.split("/") or not path:
        raise GitHubError(422, "path contains a malformed path component")
    deletes = c.request.method == "DELETE"
    try:
        data = None if deletes else base64.b64decode(c.body["content"], validate=True)
    except (KeyError, binascii.Error):
        raise GitHubError(422, "content is not valid Base64") from None
    found = c.hub.objects.at(c.hub.commit_of(repo, branch).tree, path) if repo.refs else None
    sha = c.body.get("sha")
    if deletes and found is None:
        raise GitHubError(404)
    if found is not None and not sha:
        raise GitHubError(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if sha and (found is None or found[1] != sha):
        raise GitHubError(409, f"{path} does not match {sha}")
    made = c.hub.commit(repo, branch, {path: data}, c.body["message"], c.login)
    new = c.hub.objects.at(made.tree, path)
    content = None if deletes or new is None else shapes.content(c.hub, repo, path, *new, branch, whole=False)
    return ok({"content": content, "commit": shapes.git_commit(repo, made)}, 200 if found else 201)


# ---- issues

def _matches(c: Call, state: str, default: str = "open") -> bool:
    wanted = c.query("state", default)
    return wanted == "all" or state == wanted


def _sorted(c: Call, items: list[Item], default: str = "created") -> list[Item]:
    key = {"updated": "updated", "comments": "number"}.get(c.query("sort", default), "created")
    return sorted(items, key=lambda i: (i[key], i["number"]), reverse=c.query("direction", "desc") == "desc")


def _issues(c: Call) -> Response:
    repo = c.repo
    if repo.parent:
        raise GitHubError(410, "Issues has been disabled in this repository.")
    labels, since = [w for w in c.query("labels").split(",") if w], c.query("since")
    found = [i for i in repo.issues.values() if _matches(c, i["state"]) and set(labels) <= set(i["labels"])
             and (not since or iso(i["updated"]) >= since)]
    return c.page(_sorted(c, found), lambda i: shapes.issue(c.hub, repo, i))


def _issue(c: Call) -> Response:
    return ok(shapes.issue(c.hub, c.repo, c.hub.issue(c.repo, c.number())))


def _make_issue(c: Call) -> Response:
    shapes.needed(c.body, "title")
    if c.repo.parent:
        raise GitHubError(410, "Issues has been disabled in this repository.")
    labels, people = c.body.get("labels") or (), c.body.get("assignees") or ()
    if any(login not in c.hub.users for login in people):
        raise GitHubError(422, "", [{"resource": "Issue", "field": "assignees", "code": "invalid"}])
    made = c.hub.add_issue(c.repo, c.login, c.body["title"], c.body.get("body"), labels=labels, assignees=people)
    return ok(shapes.issue(c.hub, c.repo, made), 201)


def _edit_issue(c: Call) -> Response:
    return ok(shapes.issue(c.hub, c.writable, c.hub.edit_issue(c.writable, c.number(), c.body)))


def _issue_comments(c: Call) -> Response:
    repo = c.repo
    c.hub.issue(repo, c.number())
    return c.page(c.hub.comments_of(repo, c.number()), lambda i: shapes.comment(c.hub, repo, i))


def _all_comments(c: Call) -> Response:
    repo = c.repo
    return c.page(list(repo.comments.values()), lambda i: shapes.comment(c.hub, repo, i))


def _make_comment(c: Call) -> Response:
    shapes.needed(c.body, "body")
    return ok(shapes.comment(c.hub, c.repo, c.hub.add_comment(c.repo, c.number(), c.login, c.body["body"])), 201)


def _labels(c: Call) -> Response:
    repo = c.repo
    return c.page(list(repo.labels), lambda name: shapes.label(repo, name))


# ---- pull requests

def _pulls(c: Call) -> Response:
    repo, head, base = c.repo, c.query("head").rpartition(":")[2], c.query("base")
    found = [repo.issues[n] for n, p in repo.pulls.items() if _matches(c, repo.issues[n]["state"])
             and (not head or p["head"] == head) and (not base or p["base"] == base)]
    return c.page(_sorted(c, found), lambda i: shapes.pull(c.hub, repo, i["number"]))


def _pull(c: Call) -> Response:
    repo = c.repo
    one, accept = c.hub.pull(repo, c.number()), c.request.headers.get("accept", "")
    if accept.endswith(("diff", "diff+json")):
        text = whole(c.hub.pull_files(repo, one))
        return Response(200, text.encode(), {"Content-Type": "application/vnd.github.diff; charset=utf-8"})
    return ok(shapes.pull(c.hub, repo, c.number(), full=True))


def _make_pull(c: Call) -> Response:
    shapes.needed(c.body, "title", "head", "base")
    made = c.hub.add_pull(c.repo, c.login, c.body["title"], c.body["head"], c.body["base"], c.body.get("body"),
                          draft=c.body.get("draft"))
    return ok(shapes.pull(c.hub, c.repo, made["number"], full=True), 201)


def _pull_files(c: Call) -> Response:
    repo = c.repo
    one = c.hub.pull(repo, c.number())
    return c.page(c.hub.pull_files(repo, one), lambda f: shapes.changed_file(repo, f, one["sha"]))


def _reviews(c: Call) -> Response:
    repo = c.repo
    c.hub.pull(repo, c.number())
    found = [r for r in repo.reviews.values() if r["number"] == c.number()]
    return c.page(found, lambda r: shapes.review(c.hub, repo, r))


def _make_review(c: Call) -> Response:
    b = c.body
    made = c.hub.add_review(c.repo, c.number(), c.login, b.get("event", "COMMENT"), b.get("body") or "",
                            b.get("commit_id") or "", b.get("comments") or ())
    return ok(shapes.review(c.hub, c.repo, made))


def _review_comments(c: Call) -> Response:
    repo = c.repo
    c.hub.pull(repo, c.number())
    found = [r for r in repo.review_comments.values() if r["number"] == c.number()]
    return c.page(found, lambda r: shapes.review_comment(c.hub, repo, r))


def _merge(c: Call) -> Response:
    b = c.body
    made = c.hub.merge(c.writable, c.number(), c.login, b.get("merge_method") or "merge", b.get("commit_title") or "",
                       b.get("commit_message") or "", b.get("sha") or "")
    return ok({"sha": made.sha, "merged": True, "message": "Pull Request successfully merged"})


def _update_branch(c: Call) -> Response:
    repo = c.writable
    one = c.hub.pull(repo, c.number())
    expected = c.body.get("expected_head_sha")
    if expected and expected != one["sha"]:
        raise GitHubError(422, f"expected head sha didn’t match current head ref {one['sha']}")
    base = repo.refs[f"refs/heads/{one['base']}"]
    if c.hub.objects.merge_base(base, one["sha"]) == base:
        raise GitHubError(422, "There are no new commits on the base branch.")
    tree = c.hub.merged_tree(one["sha"], base)
    if tree is None:
        raise GitHubError(422, "merge conflict between base and head")
    made = c.hub.objects.add_commit(tree, (one["sha"], base), c.hub.signature(c.login), int(c.hub.clock.now()),
                                    f"Merge branch '{one['base']}' into {one['head']}")
    c.hub.set_ref(repo, f"refs/heads/{one['head']}", made.sha)
    return ok({"message": "Updating pull request branch.",
               "url": f"{shapes.WEB}/{repo.full_name}/pull/{c.number()}"}, 202)


# ---- releases and runs

def _releases(c: Call) -> Response:
    repo = c.repo
    found = [r for r in repo.releases.values() if not r["draft"] or c.hub.writes(c.login, repo)]
    return c.page(sorted(found, key=lambda r: -r["created"]), lambda r: shapes.release(c.hub, repo, r))


def _release_by_tag(c: Call) -> Response:
    repo = c.repo
    for one in repo.releases.values():
        if one["tag"] == c.parts[2] and not one["draft"]:
            return ok(shapes.release(c.hub, repo, one))
    raise GitHubError(404)


def _make_release(c: Call) -> Response:
    shapes.needed(c.body, "tag_name")
    b = c.body
    made = c.hub.add_release(c.writable, c.login, b["tag_name"], name=b.get("name"), body=b.get("body"),
                             draft=b.get("draft"), prerelease=b.get("prerelease"), target=b.get("target_commitish"))
    return ok(shapes.release(c.hub, c.repo, made), 201)


def _runs(c: Call) -> Response:
    repo, branch, status = c.repo, c.query("branch"), c.query("status")
    found = [r for r in reversed(repo.runs.values()) if (not branch or r["branch"] == branch)
             and (not status or status in (r["status"], r["conclusion"]))]
    return c.page(found, lambda r: shapes.run(c.hub, repo, r), "workflow_runs")


def _run(c: Call) -> Response:
    if c.number() not in c.repo.runs:
        raise GitHubError(404)
    return ok(shapes.run(c.hub, c.repo, c.repo.runs[c.number()]))


def _jobs(c: Call) -> Response:
    if c.number() not in c.repo.runs:
        raise GitHubError(404)
    return c.page(shapes.jobs(c.repo, c.repo.runs[c.number()]), lambda j: j, "jobs")


def _rerun(c: Call) -> Response:
    run = c.writable.runs.get(c.number())
    if run is None:
        raise GitHubError(404)
    run.update(status="queued", conclusion=None, attempt=run["attempt"] + 1, updated=c.hub.clock.now())
    return ok({}, 201)


# ---- search

class Terms:
    """A query: words, and qualifiers such as repo:a/b."""

    def __init__(self, c: Call) -> None:
        text = c.query("q")
        if not text.strip():
            raise GitHubError(422, "Validation Failed", [{"resource": "Search", "field": "q", "code": "missing"}])
        self.given: dict[str, list[str]] = {}
        for key, value in QUALIFIER.findall(text):
            self.given.setdefault(key, []).append(value.strip('"'))
        rest = re.sub(r"[^\w\s]", " ", QUALIFIER.sub(" ", text))
        self.words = [w.casefold() for w in rest.split() if w not in ("AND", "OR", "NOT")]
        self.hub, self.login = c.hub, c.login

    def repos(self) -> list[Repository]:
        owners = self.given.get("org", []) + self.given.get("user", [])
        named = [name.lower() for name in self.given.get("repo", [])]
        found = [r for r in self.hub.repos.values() if self.hub.may(self.login, r)]
        if named and not any(r.full_name.lower() in named for r in found):
            raise GitHubError(422, "Validation Failed", [{
                "resource": "Search", "field": "q", "code": "invalid",
                "message": "The listed users and repositories cannot be searched either because the resources do not "
                           "exist or you do not have permission to view them."}])
        return [r for r in found if (not named and not owners) or r.full_name.lower() in named or r.owner in owners]


def _search_page(c: Call, found: list[Any], shape: Callable[[Any], Item]) -> Response:
    if int(c.query("page", "1")) * min(int(c.query("per_page", "30")), 100) > SEARCH_MOST:
        raise GitHubError(422, "Only the first 1000 search results are available")
    return c.page(found[:SEARCH_MOST], shape, "items", total=len(found), incomplete_results=False)


def _search_code(c: Call) -> Response:
    terms = Terms(c)
    if not terms.words:
        raise GitHubError(422, "Validation Failed", [{"resource": "Search", "field": "q", "code": "invalid"}])
    found = c.hub.search_code(terms.repos(), terms.words, (terms.given.get("path") or [""])[0].strip("/"))

    def shape(hit: tuple[Repository, str, str]) -> Item:
        repo, path, sha = hit
        one = shapes.content(c.hub, repo, path, FILE, sha, repo.default_branch, whole=False)
        return {**{k: one[k] for k in ("name", "path", "sha", "url", "git_url", "html_url")},
                "repository": shapes.repository(c.hub, repo, c.login), "score": 1.0}
    return _search_page(c, found, shape)


def _search_issues(c: Call) -> Response:
    terms = Terms(c)
    kinds = terms.given.get("is", []) + terms.given.get("type", [])
    places = set(",".join(terms.given.get("in", ["title,body,comments"])).split(","))
    found = []
    for repo, one in c.hub.search_issues(terms.repos(), terms.words, places):
        is_pull = one["number"] in repo.pulls
        if ("issue" in kinds and is_pull) or ("pr" in kinds and not is_pull):
            continue
        state = [k for k in (*kinds, *terms.given.get("state", [])) if k in ("open", "closed")]
        if (state and one["state"] not in state) or any(x not in one["labels"] for x in terms.given.get("label", [])):
            continue
        if any(one["user"] != login for login in terms.given.get("author", [])):
            continue
        found.append((repo, one))
    return _search_page(c, found, lambda hit: {**shapes.issue(c.hub, *hit), "score": 1.0})


def _search_repos(c: Call) -> Response:
    terms = Terms(c)
    found = [r for r in terms.repos() if all(w in f"{r.name} {r.description or ''}".casefold() for w in terms.words)]
    return _search_page(c, found, lambda r: {**shapes.repository(c.hub, r, c.login), "score": 1.0})


def _search_users(c: Call) -> Response:
    terms = Terms(c)
    found = [login for login, u in c.hub.users.items()
             if all(w in f"{login} {u['name']} {u['email']}".casefold() for w in terms.words)]
    return _search_page(c, found, lambda login: {**shapes.user(c.hub, login), "score": 1.0})


REPO = r"/repos/([^/]+)/([^/]+)"
ONE, REST, NUMBER = r"([^/]+)", r"(.+)", r"(\d+)"
_TABLE: list[tuple[str, str, Callable[[Call], Response]]] = [
    ("GET", "/user", _user), ("GET", "/user/orgs", _orgs), ("GET", "/user/repos", _user_repos),
    ("POST", "/user/repos", _make_repo), ("POST", f"/orgs/{ONE}/repos", _make_repo),
    ("GET", f"/users/{ONE}", _a_user), ("GET", f"/orgs/{ONE}", _a_user), ("GET", f"/users/{ONE}/repos", _owner_repos),
    ("GET", f"/orgs/{ONE}/repos", _owner_repos), ("GET", REPO, _repo), ("POST", f"{REPO}/forks", _fork),
    ("GET", f"{REPO}/branches", _branches), ("GET", f"{REPO}/branches/{REST}", _branch), ("GET", f"{REPO}/tags", _tags),
    ("GET", f"{REPO}/git/refs?/((?:heads|tags)/.+)", _ref), ("GET", f"{REPO}/git/matching-refs/{REST}", _matching_refs),
    ("POST", f"{REPO}/git/refs", _make_ref), ("PATCH", f"{REPO}/git/refs/{REST}", _move_ref),
    ("DELETE", f"{REPO}/git/refs/{REST}", _delete_ref), ("GET", f"{REPO}/git/trees/{REST}", _tree),
    ("POST", f"{REPO}/git/trees", _make_tree), ("GET", f"{REPO}/git/blobs/{ONE}", _blob),
    ("POST", f"{REPO}/git/blobs", _make_blob), ("GET", f"{REPO}/git/commits/{ONE}", _git_commit),
    ("POST", f"{REPO}/git/commits", _make_commit), ("GET", f"{REPO}/git/tags/{ONE}", _git_tag),
    ("GET", f"{REPO}/commits", _commits), ("GET", f"{REPO}/commits/{REST}/status", _status),
    ("GET", f"{REPO}/commits/{REST}", _commit), ("GET", f"{REPO}/compare/{REST}", _compare),
    ("GET", f"{REPO}/(?:tar|zip)ball/{REST}", _archive), ("GET", f"{REPO}/(?:tar|zip)ball", _archive),
    ("GET", f"{REPO}/contents", _contents), ("GET", f"{REPO}/contents/{REST}", _contents),
    ("PUT", f"{REPO}/contents/{REST}", _put_contents), ("DELETE", f"{REPO}/contents/{REST}", _put_contents),
    ("GET", f"{REPO}/issues", _issues), ("POST", f"{REPO}/issues", _make_issue),
    ("GET", f"{REPO}/issues/comments", _all_comments), ("GET", f"{REPO}/issues/{NUMBER}", _issue),
    ("PATCH", f"{REPO}/issues/{NUMBER}", _edit_issue), ("GET", f"{REPO}/issues/{NUMBER}/comments", _issue_comments),
    ("POST", f"{REPO}/issues/{NUMBER}/comments", _make_comment), ("GET", f"{REPO}/labels", _labels),
    ("GET", f"{REPO}/pulls", _pulls), ("POST", f"{REPO}/pulls", _make_pull), ("GET", f"{REPO}/pulls/{NUMBER}", _pull),
    ("GET", f"{REPO}/pulls/{NUMBER}/files", _pull_files), ("GET", f"{REPO}/pulls/{NUMBER}/reviews", _reviews),
    ("POST", f"{REPO}/pulls/{NUMBER}/reviews", _make_review), ("PUT", f"{REPO}/pulls/{NUMBER}/merge", _merge),
    ("GET", f"{REPO}/pulls/{NUMBER}/comments", _review_comments),
    ("PUT", f"{REPO}/pulls/{NUMBER}/update-branch", _update_branch),
    ("GET", f"{REPO}/releases", _releases), ("POST", f"{REPO}/releases", _make_release),
    ("GET", f"{REPO}/releases/tags/{REST}", _release_by_tag), ("GET", f"{REPO}/actions/runs", _runs),
    ("GET", f"{REPO}/actions/runs/{NUMBER}", _run), ("GET", f"{REPO}/actions/runs/{NUMBER}/jobs", _jobs),
    ("POST", f"{REPO}/actions/runs/{NUMBER}/rerun", _rerun),
    ("GET", "/search/code", _search_code), ("GET", "/search/issues", _search_issues),
    ("GET", "/search/repositories", _search_repos), ("GET", "/search/users", _search_users)]
ROUTES = [(method, re.compile(pattern), function) for method, pattern, function in _TABLE]
__all__ = ["NOW", "OWNER", "TOKEN", "GitHubSimulator", "archive"]
