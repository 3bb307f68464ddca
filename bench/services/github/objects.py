"""Git's objects: blobs, trees, commits and tags under their real SHA-1 names. Nothing is ever changed or removed."""
from __future__ import annotations

import hashlib
from datetime import UTC, datetime

TREE, LINK, MODULE, FILE, PROGRAM = "040000", "120000", "160000", "100644", "100755"
KINDS = {TREE: "tree", MODULE: "commit"}

Files = dict[str, tuple[str, str]]                           # path -> (mode, sha)


class Commit:
    """`when` is in seconds since the epoch; author and committer are `Name <address>`."""

    __slots__ = ("author", "committer", "message", "parents", "sha", "tree", "when")

    def __init__(self, sha: str, tree: str, parents: tuple[str, ...], author: str, committer: str, when: int,
                 message: str) -> None:
        self.sha = sha
        self.tree = tree
        self.parents = parents
        self.author = author
        self.committer = committer
        self.when = when
        self.message = message


def blob_sha(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Objects:
    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.trees: dict[str, dict[str, tuple[str, str]]] = {}   # sha -> name -> (mode, sha)
        self.commits: dict[str, Commit] = {}
        self.tags: dict[str, dict[str, object]] = {}

    def add_blob(self, data: bytes) -> str:
        sha = blob_sha(data)
        self.blobs[sha] = data
        return sha

    def add_tree(self, entries: dict[str, tuple[str, str]]) -> str:
        """A tree of one directory."""
        def order(name: str) -> bytes:
            return name.encode() + (b"/" if entries[name][0] == TREE else b"")
        data = b"".join(b"%s %s\0%s" % (entries[name][0].lstrip("0").encode(), name.encode(),
                                        bytes.fromhex(entries[name][1])) for name in sorted(entries, key=order))
        sha = hashlib.sha1(b"tree %d\0" % len(data) + data).hexdigest()
        self.trees[sha] = {name: entries[name] for name in sorted(entries, key=order)}
        return sha

    def add_files(self, files: Files) -> str:
        """The tree of all these paths, with its directories."""
        here: dict[str, tuple[str, str]] = {}
        below: dict[str, Files] = {}
        for path, entry in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = entry
            else:
                here[name] = entry
        for name, inner in below.items():
            here[name] = (TREE, self.add_files(inner))
        return self.add_tree(here)

    def add_commit(self, tree: str, parents: tuple[str, ...], author: str, when: int, message: str,
                   committer: str = "") -> Commit:
        committer = committer or author
        lines = [f"tree {tree}", *(f"parent {p}" for p in parents), f"author {author} {when} +0000",
                 f"committer {committer} {when} +0000", "", message]
        data = "\n".join(lines).encode()
        sha = hashlib.sha1(b"commit %d\0" % len(data) + data).hexdigest()
        self.commits[sha] = Commit(sha, tree, parents, author, committer, when, message)
        return self.commits[sha]

    def add_tag(self, name: str, target: str, tagger: str, when: int, message: str) -> str:
        data = f"object {target}\ntype commit\ntag {name}\ntagger {tagger} {when} +0000\n\n{message}\n".encode()
        sha = hashlib.sha1(b"tag %d\0" % len(data) + data).hexdigest()
        self.tags[sha] = {"tag": name, "object": target, "tagger": tagger, "when": when, "message": message}
        return sha

    # ---- looking

    def files(self, tree: str, prefix: str = "") -> Files:
        """Every path of a tree that is no directory."""
        found: Files = {}
        for name, (mode, sha) in self.trees[tree].items():
            if mode == TREE:
                found.update(self.files(sha, f"{prefix}{name}/"))
            else:
                found[prefix + name] = (mode, sha)
        return found

    def walk(self, tree: str, recursive: bool, prefix: str = "") -> list[tuple[str, str, str]]:
        """(path, mode, sha) in git's order; directories too."""
        found = []
        for name, (mode, sha) in self.trees[tree].items():
            found.append((prefix + name, mode, sha))
            if recursive and mode == TREE:
                found += self.walk(sha, True, f"{prefix}{name}/")
        return found

    def at(self, tree: str, path: str) -> tuple[str, str] | None:
        """(mode, sha) of a path; of the tree itself where the path is empty."""
        found: tuple[str, str] = (TREE, tree)
        for name in filter(None, path.split("/")):
            entry = self.trees[found[1]].get(name) if found[0] == TREE else None
            if entry is None:
                return None
            found = entry
        return found

    def history(self, sha: str) -> list[Commit]:
        """The commit and its ancestors, newest first."""
        seen, todo = {sha}, [sha]
        found = []
        while todo:
            commit = self.commits[todo.pop()]
            found.append(commit)
            todo += [p for p in commit.parents if p not in seen]
            seen.update(commit.parents)
        return sorted(found, key=lambda c: -c.when)

    def merge_base(self, a: str, b: str) -> str:
        """The newest commit that both have; "" where there is none."""
        mine = {c.sha for c in self.history(a)}
        return next((c.sha for c in self.history(b) if c.sha in mine), "")


def iso(when: float) -> str:
    return datetime.fromtimestamp(int(when), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
