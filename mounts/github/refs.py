"""Branches and tags as names of directories (`/` is `%2F`), and the commits they stand for."""
from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mirage.mounts.github.client import Expected, part
from mirage.mounts.github.objects import PLACE, Snapshot
from mirage.vfs.declare.store import Kept
from mirage.vfs.names import safe_name

if TYPE_CHECKING:
    from mirage.mounts.github.client import GitHubClient
    from mirage.mounts.github.objects import Objects
    from mirage.vfs.declare.store import Store

Ref = dict[str, str]                                         # name, sha
LONG = 110                                                   # bytes of a name that may be cut off
MISSING = (404, 409, 410, 422)


def to_name(ref: str) -> str:
    """`feature/x` is feature%2Fx."""
    return ref.replace("%", "%25").replace("/", "%2F")


def to_ref(name: str) -> str:
    """The ref of a name; "" where it is not the name of any."""
    ref = name.replace("%2F", "/").replace("%25", "%")
    return ref if to_name(ref) == name else ""


class Refs:
    """Only names that a listing would show are refs: no abbreviations, no commits by their sha."""

    def __init__(self, client: GitHubClient, store: Store, objects: Objects) -> None:
        self.client = client
        self.store = store
        self.objects = objects

    def list(self, repo: str) -> dict[str, Ref]:
        """Every branch, then every tag; a tag with the name of a branch is tags/<name>."""
        def make(previous: Kept | None) -> Kept:
            found: dict[str, Ref] = {}
            with Expected():
                for branch in self.client.pages(f"/repos/{repo}/branches"):
                    found[branch["name"]] = {"name": branch["name"], "sha": branch["commit"]["sha"]}
                for tag in self.client.pages(f"/repos/{repo}/tags"):
                    name = f"tags/{tag['name']}" if tag["name"] in found else tag["name"]
                    found.setdefault(name, {"name": name, "sha": tag["commit"]["sha"]})
            return Kept(found, 300 * len(found))
        refs: dict[str, Ref] = self.store.get(("refs", repo), f"@refs/{repo}", make).value
        return refs

    def known(self, repo: str) -> Kept | None:
        return self.store.peek(("refs", repo), f"@refs/{repo}")

    def find(self, repo: str, name: str) -> Ref | None:
        """The ref of a directory's name."""
        ref, listed = to_ref(name), self.known(repo)
        if not ref or safe_name(name) != name or ref.startswith("/") or ref.endswith("/") or "//" in ref or ".." in ref:
            return None
        found: Ref | None
        if listed is not None:
            found = listed.value.get(ref)
        else:
            with Expected():
                found = self.store.get(("ref", repo, ref), f"@ref/{repo}/{ref}",
                                       lambda _: Kept(self._ask(repo, ref), 400)).value
        if found is None and (not name.isascii() or len(name) > LONG):
            found = next((r for r in self.list(repo).values() if safe_name(to_name(r["name"])) == name), None)
        return found

    def _ask(self, repo: str, ref: str) -> Ref | None:
        branch = self._get(f"/repos/{repo}/branches/{part(ref)}")
        if branch is not None and branch.get("name") == ref:
            if "commit" in branch["commit"]:
                self.keep_commit(branch["commit"]["sha"], branch["commit"]["commit"])
            return {"name": ref, "sha": branch["commit"]["sha"]}
        tag = self._get(f"/repos/{repo}/git/ref/tags/{part(ref)}")
        for _ in range(5):
            if not isinstance(tag, dict) or tag.get("ref", f"refs/tags/{ref}") != f"refs/tags/{ref}":
                break
            if tag["object"]["type"] == "commit":
                return {"name": ref, "sha": tag["object"]["sha"]}
            if tag["object"]["type"] != "tag":
                break
            tag = self._get(f"/repos/{repo}/git/tags/{tag['object']['sha']}")
        return self.list(repo).get(ref) if ref.startswith("tags/") else None

    def _get(self, path: str) -> Any:
        try:
            return self.client.get(path)
        except OSError as e:
            if getattr(e, "status", 0) in MISSING:
                return None
            raise

    # ---- commits

    def keep_commit(self, sha: str, commit: Any) -> None:
        """What an answer tells of a commit: its tree and date."""
        value = (commit["tree"]["sha"], _nanoseconds(commit["committer"]["date"]))
        self.store.put(("commit", sha), Kept(value, 100))

    def snapshot(self, repo: str, ref: Ref) -> Snapshot:
        sha = ref["sha"]

        def make(previous: Kept | None) -> Kept:
            commit = self.client.get(f"/repos/{repo}/git/commits/{sha}")
            return Kept((commit["tree"]["sha"], _nanoseconds(commit["committer"]["date"])), 100)
        with Expected():
            tree, when = self.store.get(("commit", sha), PLACE, make, math.inf).value
            return Snapshot(repo, sha, when, self.objects.tree(repo, tree))

    # ---- changes of ours

    def moved(self, repo: str, ref: str, sha: str = "") -> None:
        """A ref is at another commit, or new; without `sha` nobody knows where it is."""
        listed = self.known(repo)
        self.store.drop([f"@ref/{repo}/{ref}", *([] if listed is not None and sha else [f"@refs/{repo}"])], below=False)
        if not sha:
            return
        one = {"name": ref, "sha": sha}
        self.store.put(("ref", repo, ref), Kept(one, 400))
        if listed is not None:
            made = self.store.put(("refs", repo), Kept({**listed.value, ref: one}, listed.size + 300))
            made.at = listed.at


def _nanoseconds(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).timestamp()) * 10**9
    except (ValueError, TypeError):
        return 0
