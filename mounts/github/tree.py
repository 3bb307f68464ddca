"""The tree of GitHub as a declaration, with the files of each ref below it as git names them."""
from __future__ import annotations

import errno
import hashlib
import json
import re
import stat as st
from typing import TYPE_CHECKING, Any

from mirage.mounts.github.client import PER_PAGE, Expected, GitHubClient, part
from mirage.mounts.github.objects import Node, Objects, Snapshot
from mirage.mounts.github.refs import MISSING, Refs, to_name
from mirage.mounts.github.threads import Threads
from mirage.process import blocking
from mirage.vfs.declare import Declared, Directory, File, Listing, Paging, Rendering, Scope, Service
from mirage.vfs.declare.store import Kept
from mirage.vfs.describe import Description
from mirage.vfs.names import safe_name
from mirage.vfs.types import Capabilities, Entry, Stat, enoent, error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mirage.vfs.declare.mount import Place
    from mirage.vfs.estimate import Cost
    from mirage.vfs.search import Query
    from mirage.vfs.secrets import Secret

    Entries = list[Entry]
    Item = dict[str, Any]

MODES = ("exact", "service", "auto")
LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:_[a-z0-9]+)?(?:\[bot\])?")
NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
NUMBER = re.compile(r"([1-9][0-9]{0,9})__")
ISSUE = '{"number": 7, "title": "...", "state": "open", "user": {"login": "..."}, "labels": [...], "body": "...", ' \
        '"comments": 1,\n "comment_list": [{"user": {"login": "..."}, "body": "...", "created_at": "..."}]}\n'
PULL = '{"number": 8, "merged": false, "head": {"ref": "..."}, "base": {"ref": "main"}, "comment_list": [...],\n' \
       ' "review_list": [{"state": "APPROVED", ...}], "review_comment_list": [{"path": "...", "line": 3, ...}]}\n'


class GitHub(Declared):
    """The repositories of an account, read-only; changes are made with the CLI `github`.

    token     Secret; without it only public repositories
    repo      owner/name: the root has the refs of this repository, and nothing else
    endpoint  another server (GitHub Enterprise, a simulator)
    search    "exact", "service" or "auto": what `grep -r` does where reading everything is much
    rate      requests a second, 0: no limit
    ttl       seconds until things are asked for again
    cache     bytes to keep
    bound     so many unread items are read rather than searched
    archive   from so many missing files of a ref on, its tarball is fetched; 0: never
    runs      pages of 100 runs that a listing of actions reads
    client    instead of token, endpoint and rate
    """

    client: GitHubClient

    def __init__(self, token: Secret | None = None, repo: str = "", endpoint: str = "", search: str = "auto",
                 rate: float = 15.0, ttl: float = 30.0, cache: int = 128 << 20, bound: int = 500, archive: int = 5,
                 runs: int = 10, client: GitHubClient | None = None) -> None:
        if search not in MODES:
            raise ValueError(f"github: search must be one of {', '.join(MODES)}, not {search!r}")
        owner, _, name = repo.partition("/")
        if repo and not (LOGIN.fullmatch(owner) and NAME.fullmatch(name)):
            raise ValueError(f"github: repo must be owner/name, not {repo!r}")
        client = client or GitHubClient(token, endpoint, rate)
        self.only = repo
        self._depth = 2 if repo else 5                       # slashes of a path below a ref's directory
        self.runs = runs
        super().__init__(self._service(), client, ttl=ttl, cache=cache)
        self.capabilities = Capabilities("read_many", "describe", "search", "lookup")
        self.mode = search
        self.bound = bound
        self.objects = Objects(client, self.store, archive, cache // 2, self.width)
        self.refs = Refs(client, self.store, self.objects)
        self.threads = Threads(client, self.store)
        self._owners: set[str] = set()

    def _service(self) -> Service:
        from mirage.mounts.github.search import search
        refs = Directory(name="{name}", each=self._refs, id="''", find=self._ref, ttl=0.0,
                         about="files of a branch or tag; `/` in its name is `%2F`")
        if self.only:
            return Service(name="github", summary=f"The repository {self.only} of GitHub, by branch and tag. "
                           "Change it with the `github` CLI.", tree=[refs], search=search)
        repo = Directory(name="{name}", each=self._list_repos, find=self._find_repo, as_="repo", modified="pushed_at",
                         children=[Directory(name="tree", children=[refs]), *self._threads(), *self._rest()])
        owner = Directory(name="{login}", each=self._list_owners, id="login", find=self._find_owner, as_="owner",
                          children=[repo])
        return Service(name="github", summary="GitHub. Change things with the `github` CLI.", tree=[owner],
                       search=search)

    def _threads(self) -> list[Directory]:
        """Issues and pull requests."""
        from mirage.mounts.github.text import issue_text, pull_text

        def every(kind: str, items: str = "@") -> Listing:
            paging = Paging(kind="link", size=PER_PAGE, size_parameter="per_page")
            return Listing(path=f"/repos/{{repo.owner.login}}/{{repo.name}}/{kind}", items=items, paging=paging,
                           query={"state": "all", "sort": "created", "direction": "asc"})
        issues = every("issues", "[?pull_request == null]")
        issue = File(name="{number}__{title}", each=lambda scope: self._issues(scope, issues), find=self._find_issue,
                     modified="updated_at", version="updated_at", about="with comments",
                     content=lambda scope: self.threads.issue(self.full(scope), scope.item),
                     renderings=[Rendering(suffix=".json", example=ISSUE, note="`.md` is the same to read."),
                                 Rendering(suffix=".md", format="text", render=issue_text)])
        pr = File(name="pr", modified="pull.updated_at", version="pull.updated_at", about="with reviews",
                  content=lambda scope: self.threads.pull(self.full(scope), scope["pull"]),
                  renderings=[Rendering(suffix=".json", example=PULL, note="`pr.md` is the same to read."),
                              Rendering(suffix=".md", format="text", render=pull_text)])
        diff = File(name="diff", modified="pull.updated_at", version="pull.updated_at",
                    content=lambda scope: self.threads.diff(self.full(scope), scope["pull"]),
                    renderings=[Rendering(suffix=".patch", format="bytes")])
        pull = Directory(name="{number}__{title}", each=every("pulls"), find=self._find_pull, as_="pull",
                         modified="updated_at", children=[pr, diff])
        return [Directory(name="issues", children=[issue]), Directory(name="pulls", children=[pull])]

    def _rest(self) -> list[Directory]:
        """Releases, and runs of workflows."""
        from mirage.mounts.github.text import release_text
        release = File(name="{tag}", each=self._releases, id="release.id", modified="release.created_at",
                       about="a release", renderings=[
                           Rendering(suffix=".json", render=lambda item, scope: _json(item["release"])),
                           Rendering(suffix=".md", format="text",
                                     render=lambda item, scope: release_text(item["release"]))])
        run = File(name="{id}", each=self._runs, find=self._find_run, modified="updated_at", version="updated_at",
                   content=lambda scope: self.threads.run(self.full(scope), scope.item),
                   about="a run with its jobs")
        return [Directory(name="releases", children=[release]), Directory(name="actions", children=[run])]

    # ---- accounts and repositories

    def full(self, scope: Scope) -> str:
        """owner/name of the repository that a hook is called for."""
        return self.only or str(scope["repo"]["full_name"])

    def mine(self) -> dict[str, Item]:
        """owner/name -> every repository that the account has part in."""
        def make(previous: Kept | None) -> Kept:
            with Expected():
                found = {repo["full_name"]: repo for repo in self.client.pages("/user/repos", sort="full_name")}
                self._owners.update(repo["owner"]["login"] for repo in found.values())
            return Kept(found, 6000 * len(found))
        repos: dict[str, Item] = self.store.get(("repos",), "@repos", make).value
        return repos

    def repo(self, owner: str, name: str) -> Item | None:
        """A repository by its exact name; the names that it had before are none."""
        def make(previous: Kept | None) -> Kept:
            found = self._get(f"/repos/{owner}/{name}") if LOGIN.fullmatch(owner) and NAME.fullmatch(name) else None
            if found is None or found["full_name"] != f"{owner}/{name}":
                return Kept(None, 100)
            self._owners.add(owner)
            return Kept(found, 6000)
        listed = self.store.peek(("repos",), "@repos")
        one: Item | None = listed.value.get(f"{owner}/{name}") if listed is not None else None
        return one or self.store.get(("repo", owner, name), f"@repo/{owner}/{name}", make).value

    def default_branch(self, full: str) -> str:
        repo = self.repo(*full.split("/"))
        return str(repo["default_branch"]) if repo is not None else ""

    def _get(self, path: str) -> Any:
        try:
            return self.client.get(path)
        except OSError as e:
            if getattr(e, "status", 0) in MISSING:
                return None
            raise

    def _list_owners(self, scope: Scope) -> list[Item]:
        return [{"login": login} for login in sorted({repo["owner"]["login"] for repo in self.mine().values()})]

    def _find_owner(self, scope: Scope, name: str) -> Item | None:
        if name in self._owners:
            return {"login": name}
        if not LOGIN.fullmatch(name):
            return None
        user = self._get(f"/users/{part(name)}")
        return {"login": name} if user is not None and user["login"] == name else None

    def _list_repos(self, scope: Scope) -> list[Item]:
        owner = scope["owner"]["login"]
        found = [repo for repo in self.mine().values() if repo["owner"]["login"] == owner]
        return found or self.client.pages(f"/users/{part(owner)}/repos", sort="full_name")

    def _find_repo(self, scope: Scope, name: str) -> Item | None:
        return self.repo(scope["owner"]["login"], name)

    # ---- hooks of a repository

    def _refs(self, scope: Scope) -> list[Item]:
        return [{**ref, "name": to_name(name)} for name, ref in self.refs.list(self.full(scope)).items()]

    def _ref(self, scope: Scope, name: str) -> Item | None:
        ref = self.refs.find(self.full(scope), name)
        return {**ref, "name": name} if ref is not None else None

    def _issues(self, scope: Scope, listing: Listing) -> list[Item]:
        """None where issues are switched off, as they are in forks."""
        if scope["repo"].get("has_issues") is False:
            return []
        try:
            found: list[Item] = self.fetch_listing(listing, scope.context).value
        except OSError as e:
            if getattr(e, "status", 0) == 410:
                return []
            raise
        return found

    def _numbered(self, scope: Scope, name: str, kind: str) -> Item | None:
        """The issue or pull request of a name, by its number."""
        match = NUMBER.match(name)
        found: Item | None = self._get(f"/repos/{self.full(scope)}/{kind}/{match.group(1)}") if match else None
        with Expected():
            return found if found is not None and item_name(found) == name else None

    def _find_issue(self, scope: Scope, name: str) -> Item | None:
        found = self._numbered(scope, name, "issues")
        return found if found is not None and not found.get("pull_request") else None

    def _find_pull(self, scope: Scope, name: str) -> Item | None:
        return self._numbered(scope, name, "pulls")

    def _releases(self, scope: Scope) -> list[Item]:
        return [{"tag": to_name(release["tag_name"]), "release": release}
                for release in self.client.pages(f"/repos/{self.full(scope)}/releases")]

    def _runs(self, scope: Scope) -> list[Item]:
        return self.client.pages(f"/repos/{self.full(scope)}/actions/runs", "workflow_runs", most=self.runs)

    def _find_run(self, scope: Scope, name: str) -> Item | None:
        found: Item | None = self._get(f"/repos/{self.full(scope)}/actions/runs/{name}") if name.isdigit() else None
        return found if found is not None and str(found["id"]) == name else None

    # ---- the files of a ref

    def find(self, path: str) -> Place:
        names = path.strip("/").split("/")
        if not self.only and len(names) > 1 and names[0] not in self._owners and self.repo(names[0], names[1]) is None:
            raise enoent(path)
        return super().find(path)

    def split(self, path: str) -> tuple[str, str, str] | None:
        """(owner/name, name of the ref, path in its files) of a ref's directory and what is below; None elsewhere."""
        names = path.strip("/").split("/") if path != "/" else []
        full = self.only
        if not full:
            if len(names) < 4 or names[2] != "tree":
                return None
            full, names = f"{names[0]}/{names[1]}", names[3:]
        return (full, names[0], "/".join(names[1:])) if names else None

    def inside(self, path: str) -> tuple[Snapshot, str] | None:
        """(a ref's files, path in them) where a path is the directory of a ref, or below; None elsewhere."""
        where = self.split(path)
        if where is None or (not self.only and self.repo(*where[0].split("/")) is None):
            return None
        full, name, inner = where
        ref = self.refs.find(full, name)
        return (self.refs.snapshot(full, ref), inner) if ref is not None else None

    def _node(self, path: str) -> tuple[Snapshot, Node, str] | None:
        found = self.inside(path)
        if found is None:
            return None
        snapshot, inner = found
        return snapshot, self.objects.find(snapshot.tree, inner, path), inner

    def list(self, path: str) -> Entries:
        found = self._node(path)
        if found is None:
            entries = super().list(path)
        else:
            snapshot, node, inner = found
            if not node.is_dir:
                raise error(errno.ENOTDIR, path)
            entries = self.objects.list(snapshot, inner)
        for entry in entries:
            if entry.stat is not None:
                self._identify(f"{path.rstrip('/')}/{entry.name}", entry.stat)
        return entries

    def stat(self, path: str) -> Stat:
        found = self._node(path) if path.count("/") >= self._depth else None
        if found is None:
            return self._identify(path, super().stat(path))
        return self._identify(path, self.objects.stat(*found[:2]))

    def lookup(self, path: str, uid: int) -> Stat | str:
        found = self.inside(path) if path.count("/") >= self._depth else None
        if found is None:
            return self.stat(path)
        snapshot, inner = found
        node = self.objects.node(snapshot.tree, inner)
        if node is not None:
            return self._identify(path, self.objects.stat(snapshot, node))
        link = self.objects.link_in(snapshot.tree, inner)
        return path[:len(path) - len(inner)] + link if link else self.stat(path)

    def readlink(self, path: str) -> str:
        found = self._node(path)
        if found is None or not st.S_ISLNK(found[1].mode):
            self.stat(path)
            raise error(errno.EINVAL, path)
        return self.objects.read(*found[:2]).decode("utf-8", "surrogateescape")

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        found = self._node(path)
        if found is None:
            return super().read(path, offset, length)
        snapshot, node, _ = found
        if node.is_dir:
            raise error(errno.EISDIR, path)
        if not st.S_ISREG(node.mode):
            raise error(errno.EINVAL, path)
        data = self.objects.read(snapshot, node)
        return data[offset:] if length is None else data[offset:offset + length]

    def read_many(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Contents in the order of the paths; what one call can give for many of them is fetched before."""
        missing = [path for path in paths if not self._at_hand(path)]
        if missing:
            blocking.call(lambda: self._prefetch(missing))
            missing = [path for path in missing if not self._at_hand(path)]
        fetched = dict(super().read_many(missing)) if missing else {}
        for path in paths:
            try:
                yield path, fetched[path] if path in fetched else self.read(path)
            except OSError as e:
                yield path, e

    def _at_hand(self, path: str) -> bool:
        """Can it be read without asking?"""
        try:
            found = self._node(path)
            if found is not None:
                return not found[1].size or self.objects.kept(found[1].sha) is not None
            return self.store.peek(*self._content_key(path)) is not None
        except OSError:
            return False

    def _content_key(self, path: str) -> Any:
        place = self.find(path)
        return self._key(place.node, place.stem, place.scope, True)

    def _prefetch(self, paths: Sequence[str]) -> None:
        nodes: dict[int, tuple[Snapshot, list[Node]]] = {}
        issues: dict[str, list[Item]] = {}
        for path in paths:
            try:
                found = self._node(path)
                if found is not None:
                    nodes.setdefault(id(found[0].tree), (found[0], []))[1].append(found[1])
                elif path.split("/")[3:4] == ["issues"]:
                    scope = self.find(path).scope
                    issues.setdefault(self.full(scope), []).append(scope.item)
            except OSError:
                continue                                     # reading it will say why
        for snapshot, wanted in nodes.values():
            self.objects.prefetch(snapshot, wanted)
        for full, items in issues.items():
            self.threads.prefetch(full, items)

    def _identify(self, path: str, stat: Stat) -> Stat:
        stat.dev = self.device
        digest = hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=6).digest()
        stat.ino = int.from_bytes(digest, "big") | 1
        return stat

    # ---- changes of ours

    def changed_item(self, full: str, kind: str, number: int, item: Item | None = None) -> None:
        """An issue ("issues") or pull request ("pulls") is new or different: the listing, and the item.

        item  as the API gave it just now
        """
        top = f"/{full}/{kind}"
        listed = self.store.peek((top, 0, "list"), top)
        stems = [stem for stem in (listed.value if listed is not None else ()) if stem.startswith(f"{number}__")]
        self.store.drop([f"{top}/{stem}" for stem in {*stems, *self.threads.names(full, number)}])
        self.store.drop([top], below=False)
        if item is not None:
            self.store.put((top, 0, "find", item_name(item)), Kept(item, len(str(item))))

    def changed_branch(self, full: str, branch: str, sha: str = "", commit: Any = None) -> None:
        """A branch has another commit: `sha`, described by `commit` as the API does; without them nobody knows."""
        if sha and commit is not None:
            self.refs.keep_commit(sha, commit)
        self.refs.moved(full, branch, sha)
        pulls, listed = f"/{full}/pulls", self.store.peek((f"/{full}/pulls", 0, "list"), f"/{full}/pulls")
        hit = {(full, pull["number"]) for pull in (listed.value.values() if listed is not None else ())
               if pull["state"] == "open" and pull["head"]["ref"] == branch}
        for where, number in hit | self.threads.pulls_of(full, branch):
            self.changed_item(where, "pulls", number)
        self.store.drop([f"/{full}/actions", *([] if listed is not None else [pulls])], below=False)

    def changed_repos(self, owner: str, name: str) -> None:
        """A repository is new or different."""
        self.store.drop(["@repos", f"@repo/{owner}/{name}", "/", f"/{owner}"], below=False)

    def path_of(self, full: str, rest: str) -> str | None:
        """The path in the mount of something of a repository; None where this mount does not have it."""
        if not self.only:
            return f"/{full}/{rest}"
        return rest.removeprefix("tree") if full == self.only and rest.startswith("tree/") else None

    def backend(self, path: str) -> tuple[str, str]:
        """The server, and the path in a mount of all repositories."""
        return f"github:{self.client.endpoint}", f"/{self.only}/tree{path}".rstrip("/") if self.only else path

    def estimate(self, path: str, action: str, queries: Sequence[Query] = ()) -> Cost:
        from mirage.mounts.github.estimate import estimate
        return estimate(self, path, action, queries)

    def describe(self) -> Description:
        found = super().describe()
        names = {"<login>/<name>": "<owner>/<repo>", "<name>/": "<ref>/", "pr.json": "{pr.json,diff.patch}"}
        paths = []
        for path, about in found.paths:
            for old, new in names.items():
                path = path.replace(old, new)
            paths.append((path, about))
        return Description(found.summary, paths, found.formats)

    def __repr__(self) -> str:
        return f"GitHub({self.client.endpoint}{', ' + self.only if self.only else ''})"


def item_name(item: Item) -> str:
    """`<n>__<Title>` of an issue or pull request."""
    return safe_name(f"{item['number']}__{item['title']}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"

