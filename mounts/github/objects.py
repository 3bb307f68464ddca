"""Trees and blobs: named by what is in them, so that each is fetched once, whatever branches have it."""
from __future__ import annotations

import errno
import io
import math
import stat as st
import tarfile
import threading
import zlib
from typing import TYPE_CHECKING, Any

from mirage.mounts.github.client import blob_sha
from mirage.vfs.declare.store import Kept
from mirage.vfs.service import service_error
from mirage.vfs.types import S_IFDIR, S_IFLNK, S_IFREG, Entry, Stat, enoent, error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mirage.mounts.github.client import GitHubClient
    from mirage.vfs.declare.store import Store

PLACE = "@objects"                                           # in the store: never stale
MODES = {"040000": S_IFDIR | 0o555, "160000": S_IFDIR | 0o555, "120000": S_IFLNK | 0o777, "100755": S_IFREG | 0o555}
SMALL = 8 << 20                                              # bytes of a tree that is always fetched as a whole
SHARE = 20                                                   # a larger one: where this part of it is needed
ENTRY = 250                                                  # bytes that an entry of a tree takes in memory
HEAD = 1536                                                  # bytes that a file takes in a tar beside its content


class Node:
    """A file, link, directory or submodule of a tree."""

    __slots__ = ("mode", "sha", "size")

    def __init__(self, mode: str, sha: str, size: int) -> None:
        self.mode = MODES.get(mode, S_IFREG | 0o444)
        self.sha = sha
        self.size = 0 if mode == "160000" else size

    @property
    def is_dir(self) -> bool:
        return st.S_ISDIR(self.mode)

    @property
    def is_module(self) -> bool:
        return self.is_dir and self.size == 0


class Tree:
    """A whole tree. `whole`: everything is here; else directories are fetched one by one.

    missed  blobs, and their bytes, that were not there when they were needed
    """

    def __init__(self, repo: str, sha: str) -> None:
        self.repo = repo
        self.sha = sha
        self.whole = True
        self.directories: dict[str, dict[str, Node]] = {"": {}}
        self.lock = threading.Lock()
        self.missed = (0, 0)
        self.total = 0
        self.archived = False

    def add(self, items: Iterable[dict[str, Any]], base: str = "") -> None:
        """Entries as GitHub gives them, with their directories."""
        for item in items:
            node = Node(item["mode"], item["sha"], item.get("size", 0) if item["type"] == "blob" else 4096)
            if item["mode"] == "160000":
                node.size = 0
            path = base + item["path"]
            self.directories.setdefault(path.rpartition("/")[0], {})[path.rpartition("/")[2]] = node
            if item["type"] == "tree":
                if self.whole:
                    self.directories.setdefault(path, {})
            elif item["type"] == "blob":
                self.total += node.size

    def need(self, size: int, at: int, most: int) -> bool:
        """A blob is missing: is it time to fetch the archive? `at`: from so many on; `most` bytes."""
        with self.lock:
            count, bytes_ = self.missed[0] + 1, self.missed[1] + size
            self.missed = count, bytes_
            return (count >= at and not self.archived and self.whole and self.total <= most
                    and (self.total <= SMALL or self.total <= SHARE * bytes_))

    def files(self) -> Iterator[tuple[str, Node]]:
        for directory, nodes in list(self.directories.items()):
            for name, node in nodes.items():
                if not node.is_dir:
                    yield (f"{directory}/{name}" if directory else name), node


class Snapshot:
    """A tree at a commit."""

    __slots__ = ("commit", "mtime", "repo", "tree")

    def __init__(self, repo: str, commit: str, mtime: int, tree: Tree) -> None:
        self.repo = repo
        self.commit = commit
        self.mtime = mtime
        self.tree = tree


class Objects:
    """The objects of one account.

    archive  so many missing blobs of a tree make its archive worth a call; 0: never
    most     bytes of the files of an archive
    """

    def __init__(self, client: GitHubClient, store: Store, archive: int, most: int, width: int) -> None:
        self.client = client
        self.store = store
        self.archive = archive
        self.most = most
        self.width = width

    # ---- trees

    def tree(self, repo: str, sha: str) -> Tree:
        def make(previous: Kept | None) -> Kept:
            tree = Tree(repo, sha)
            answer = self.client.get(f"/repos/{repo}/git/trees/{sha}", recursive=1)
            if answer.get("truncated"):
                tree.whole = False
                tree.directories = {"": self._directory(tree, "", sha)}
            else:
                tree.add(answer["tree"])
            return Kept(tree, ENTRY * len(answer["tree"]))
        found: Tree = self.store.get(("tree", repo, sha), PLACE, make, math.inf).value
        return found

    def _directory(self, tree: Tree, path: str, sha: str) -> dict[str, Node]:
        """One directory of a tree that is too large to be given as a whole."""
        answer = self.client.get(f"/repos/{tree.repo}/git/trees/{sha}")
        if answer.get("truncated"):
            raise service_error(errno.EFBIG, f"github: /{path} has too many entries")
        part = Tree(tree.repo, sha)
        part.add(answer["tree"])
        return part.directories[""]

    def children(self, tree: Tree, path: str) -> dict[str, Node]:
        found = tree.directories.get(path)
        if found is None:
            node = self.node(tree, path)
            if tree.whole or node is None:
                return {}
            made = self.store.get(("directory", tree.repo, node.sha), PLACE, lambda _: self._kept(tree, path, node.sha),
                                  math.inf).value
            found = tree.directories[path] = made
        return found

    def _kept(self, tree: Tree, path: str, sha: str) -> Kept:
        nodes = self._directory(tree, path, sha)
        return Kept(nodes, ENTRY * len(nodes))

    def node(self, tree: Tree, path: str) -> Node | None:
        """The node of a path such as `src/main.c`; `` is the tree itself. Links are not followed."""
        if not path:
            return Node("040000", tree.sha, 4096)
        head, _, name = path.rpartition("/")
        if head and head not in tree.directories:
            above = self.node(tree, head)
            if above is None or not above.is_dir or above.is_module:
                return None
        return self.children(tree, head).get(name)

    def find(self, tree: Tree, path: str, shown: str) -> Node:
        """ENOENT or ENOTDIR where there is no such node."""
        found = self.node(tree, path)
        if found is not None:
            return found
        head = path.rpartition("/")[0]
        while head:
            node = self.node(tree, head)
            if node is not None:
                raise error(errno.ENOENT if node.is_dir else errno.ENOTDIR, shown)
            head = head.rpartition("/")[0]
        raise enoent(shown)

    def link_in(self, tree: Tree, path: str) -> str:
        """The first part of a path, before the last one, that is a symbolic link; or ""."""
        at = ""
        for name in path.split("/")[:-1]:
            at = f"{at}/{name}" if at else name
            node = self.node(tree, at)
            if node is None or not node.is_dir:
                return at if node is not None and st.S_ISLNK(node.mode) else ""
        return ""

    def stat(self, snapshot: Snapshot, node: Node) -> Stat:
        if node.is_dir:
            return Stat(node.mode, 4096, snapshot.mtime, nlink=2)
        return Stat(node.mode, node.size, snapshot.mtime, version=node.sha)

    def list(self, snapshot: Snapshot, path: str) -> list[Entry]:
        nodes = self.children(snapshot.tree, path)
        return [Entry(name, self.stat(snapshot, nodes[name])) for name in sorted(nodes)]

    # ---- blobs

    def kept(self, sha: str) -> bytes | None:
        found = self.store.peek(("blob", sha), PLACE, math.inf)
        return found.value if found is not None else None

    def read(self, snapshot: Snapshot, node: Node) -> bytes:
        """The content of a file or link."""
        if node.size == 0:
            return b""
        data = self.kept(node.sha)
        if data is not None:
            return data
        tree = snapshot.tree
        if self.archive and tree.need(node.size, self.archive, self.most):
            self._fill(snapshot)
        return self._blob(snapshot.repo, node.sha)

    def _blob(self, repo: str, sha: str) -> bytes:
        def make(previous: Kept | None) -> Kept:
            data = self.client.blob(repo, sha)
            return Kept(data, len(data))
        found: bytes = self.store.get(("blob", sha), PLACE, make, math.inf).value
        return found

    def prefetch(self, snapshot: Snapshot, nodes: Iterable[Node]) -> None:
        """These will be read: fetch the archive now where that is worth it."""
        missing = {node.sha: node for node in nodes if node.size and self.kept(node.sha) is None}
        if not self.archive or len(missing) < 2:
            return
        wanted = [snapshot.tree.need(node.size, self.archive, self.most) for node in missing.values()]
        if wanted[-1]:
            self._fill(snapshot)

    def _fill(self, snapshot: Snapshot) -> None:
        """Keep what the archive of the commit has. What it lacks, or has changed on export, is fetched as blobs."""
        tree = snapshot.tree

        def make(previous: Kept | None) -> Kept:
            if not tree.archived:
                size = tree.total + HEAD * (sum(len(nodes) for nodes in tree.directories.values()) + 20)
                try:
                    data = self.client.archive(snapshot.repo, snapshot.commit, size)
                    self._unpack(tree, data, size)
                except (OSError, tarfile.TarError, zlib.error, EOFError):
                    pass                                     # each blob is fetched, or says what is wrong
                tree.archived = True
            return Kept(True, 1)
        self.store.get(("archive", tree.repo, tree.sha), PLACE, make, math.inf)

    def _unpack(self, tree: Tree, data: bytes, most: int) -> None:
        tool = zlib.decompressobj(wbits=31)
        plain = tool.decompress(data, most)
        if tool.unconsumed_tail:
            return
        known = dict(tree.files())
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as tar:
            for member in tar:
                path = member.name.partition("/")[2]
                node = known.get(path)
                if node is None or not node.size:
                    continue
                if member.issym():
                    content = member.linkname.encode("utf-8", "surrogateescape")
                elif member.isreg() and member.size == node.size:
                    file = tar.extractfile(member)
                    content = file.read() if file is not None else b""
                else:
                    continue
                if blob_sha(content) == node.sha:
                    self.store.put(("blob", node.sha), Kept(content, len(content)))

