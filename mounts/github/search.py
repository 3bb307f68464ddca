"""Search: what of a `grep -r` GitHub's indexes answer, and what is read instead.

GitHub's code search knows whole words of text files below 384 KB on default branches, not of forks, not at once. So its
answer never shows that nothing else matches, and it is asked only where reading everything is much, or the user says
so; what was not read is always announced. Issues and pull requests: their titles, bodies and comments.
"""
from __future__ import annotations

import errno
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from mirage.mounts.github.refs import to_name
from mirage.mounts.github.tree import item_name
from mirage.process import blocking
from mirage.vfs.search import Candidates, left_out

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mirage.mounts.github.tree import GitHub
    from mirage.vfs.search import Query

WORD = re.compile(r"[^\W_]{2,}")
MOST = 10                                                    # pages of 100: GitHub gives no more
PER_PULL = 3                                                 # calls for pr.json and diff.patch
PER_CALL = 10                                                # issues whose comments come with one call, about
REPOS = 10                                                   # so many are looked at to know how much there is
KINDS = ("issues", "pulls", "actions", "tree")
ISSUES = (("issues", "issue", (".json", ".md")), ("pulls", "pr", ("/pr.json", "/pr.md")))
BELOW = ("tree", "issues", "pulls")


def search(mount: GitHub, path: str, query: Query) -> Candidates | None:
    """Candidates below a directory; None: read everything."""
    mode = query.mode if query.mode != "auto" else mount.mode
    if mode == "exact":
        return None
    words = list(dict.fromkeys(w for literal in query.literals for w in WORD.findall(literal)))
    found = _Search(mount, path, query)
    if not words or not found.possible():
        return None
    unread = found.unread() if mode == "auto" else None
    if (unread is not None and unread <= mount.bound) or not found.indexed():
        return None
    return found.ask(" ".join(words), unread)


class _Search:
    """One search. `full` is the repository of the operand, "" above them; `kind` the directory in it."""

    def __init__(self, mount: GitHub, path: str, query: Query) -> None:
        self.mount = mount
        self.client = mount.client
        self.path = path
        self.query = query
        names = [name for name in path.split("/") if name]
        if mount.only:
            names = [*mount.only.split("/"), "tree", *names]
        self.owner = names[0] if names else ""
        self.full = "/".join(names[:2]) if len(names) > 1 else ""
        self.kind = names[2] if len(names) > 2 else ""
        self.ref = names[3] if len(names) > 3 else ""
        self.inner = "/".join(names[4:])

    def possible(self) -> bool:
        """Can GitHub have an index of what is below the operand?"""
        return (not self.kind or self.kind in BELOW) and not (self.kind in ("issues", "pulls") and self.ref)

    def indexed(self) -> bool:
        """Code is searched on the default branch only."""
        return not self.ref or self.ref == to_name(self.mount.default_branch(self.full))

    # ---- how much is there to read?

    def unread(self) -> int | None:
        """Calls that reading everything takes, about; None: nobody knows, and it is much."""
        if self.kind == "tree":
            return self._files(self.full, [self.ref] if self.ref else list(self.mount.refs.list(self.full)))
        if self.full:
            return self._items(self.full, [self.kind] if self.kind else KINDS)
        repos = [name for name in self.mount.mine() if name.startswith(f"{self.owner}/" if self.owner else "")]
        if not 0 < len(repos) <= REPOS:
            return None
        total = 0
        for full in repos:
            total += self._items(full, KINDS)
            if total > self.mount.bound:
                return None
        return total

    def _items(self, full: str, kinds: Iterable[str]) -> int:
        """The same for these directories of a repository."""
        count = 0
        for kind in kinds:
            try:
                if kind == "tree":
                    count += self._files(full, list(self.mount.refs.list(full)))
                    continue
                items = self.mount.items(f"{self._base(full)}/{kind}")
            except OSError as e:
                if e.errno != errno.EACCES:
                    raise
                continue                                     # the walk will say so
            if kind == "issues":
                count += sum(bool(item.get("comments")) for item in items.values()) // PER_CALL
            else:
                count += len(items) * (PER_PULL if kind == "pulls" else 1)
        return count

    def _files(self, full: str, refs: list[str]) -> int:
        """Missing blobs, one call for those that come with an archive; other refs share most of them."""
        name = refs[0] if len(refs) == 1 else to_name(self.mount.default_branch(full))
        ref = self.mount.refs.find(full, name)
        if ref is None:
            return len(refs)
        snapshot = self.mount.refs.snapshot(full, ref)
        objects, tree = self.mount.objects, snapshot.tree
        if not tree.whole:
            return self.mount.bound + 1
        inside = self.inner + "/" if self.inner else ""
        missing = {node.sha: node.size for path, node in tree.files()
                   if path.startswith(inside) and node.size and objects.kept(node.sha) is None}
        small = objects.archive and tree.total <= objects.most and not tree.archived
        return 2 * (len(refs) - 1) + (min(len(missing), objects.archive + 1) if small else len(missing))

    # ---- asking

    def ask(self, text: str, unread: int | None) -> Candidates | None:
        where = f"repo:{self.full}" if self.full else f"user:{self.owner}" if self.owner else self._everywhere()
        paths: dict[str, None] = {}
        if self.kind in ("", "tree"):
            inside = f" path:{self.inner}" if self.inner else ""
            for hit in self._found("/search/code", f"{text} {where}{inside}"):
                self._add_file(paths, hit)
        for kind, word, suffixes in ISSUES:
            if self.kind in ("", kind) and not self.mount.only:
                for hit in self._found("/search/issues", f"{text} {where} is:{word}"):
                    full = hit["repository_url"].partition("/repos/")[2]
                    self._add(paths, [f"{self._base(full)}/{kind}/{item_name(hit)}{suffix}" for suffix in suffixes])
        self.mount.counters.add(searches=1, candidates=len(paths))
        skipped = None if unread is None else max(unread - len(paths), 1)
        return Candidates(sorted(paths, key=lambda p: p.split("/")), False, skipped or 1, left_out(skipped))

    def _everywhere(self) -> str:
        """The repositories of the account, by their owners."""
        owners = sorted({repo["owner"]["login"] for repo in self.mount.mine().values()})
        return " ".join(f"user:{owner}" for owner in owners[:8])

    def _found(self, path: str, text: str) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = blocking.call(partial(self.client.pages, path, "items", most=MOST, q=text))
        except OSError as e:
            if e.errno == errno.ENOENT or getattr(e, "status", 0) == 422:
                return []                                    # GitHub has no index of that, or no text to look for
            raise
        return found

    def _base(self, full: str) -> str:
        return "" if self.mount.only else f"/{full}"

    def _add_file(self, paths: dict[str, None], hit: dict[str, Any]) -> None:
        full = hit["repository"]["full_name"]
        branch = to_name(self.mount.default_branch(full))
        if self.inner and not f"{hit['path']}/".startswith(f"{self.inner}/"):
            return
        top = f"/{branch}" if self.mount.only else f"/{full}/tree/{branch}"
        self._add(paths, [f"{top}/{hit['path']}"])

    def _add(self, paths: dict[str, None], found: list[str]) -> None:
        """Those that the command would read, and that are there."""
        names = self.query.names
        for path in found:
            if names is not None and not names(path.rpartition("/")[2]):
                continue
            try:
                if self.mount.stat(path).is_file:
                    paths[path] = None
            except OSError as e:
                if e.errno not in (errno.ENOENT, errno.ENOTDIR):
                    raise
