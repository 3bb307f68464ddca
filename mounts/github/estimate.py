"""What an action on the files of a ref would cost, from what is kept of them; nothing is asked."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mirage.mounts.github.objects import PLACE, Node, Snapshot
from mirage.mounts.github.refs import to_ref
from mirage.vfs.declare.estimate import estimate as declared
from mirage.vfs.estimate import Cost, Range, calls, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.mounts.github.tree import GitHub

ARCHIVE = 2                                                  # calls: where it is, and the archive itself


def estimate(mount: GitHub, path: str, action: str, queries: Sequence[Any] = ()) -> Cost:
    where = mount.split(path)
    if where is None:
        return declared(mount, path, action, queries)
    snapshot = _kept(mount, *where[:2])
    if snapshot is None or not snapshot.tree.whole:
        return unknown(len(queries)) if action in ("read", "read_all", "search") else calls(0, None)
    inner = where[2]
    node = mount.objects.node(snapshot.tree, inner)
    if node is None or action in ("stat", "list", "walk"):
        return calls(0, 0)
    if action == "read":
        return _blobs(mount, snapshot, [node] if not node.is_dir else [])
    inside = inner + "/" if inner and node.is_dir else inner
    nodes = [n for name, n in snapshot.tree.files() if name.startswith(inside) and n.mode & 0o170000 == 0o100000]
    cost = _blobs(mount, snapshot, nodes)
    if action == "search" and mount.mode != "exact" and any(query.mode != "exact" for query in queries):
        return Cost(Range(0, None), cost.bytes.maybe, Range(0, len(queries)))
    return cost


def _blobs(mount: GitHub, snapshot: Snapshot, nodes: list[Node]) -> Cost:
    """Reading these: one call for each that is not kept, or the archive and what it lacks."""
    missing = len({node.sha for node in nodes if node.size and mount.objects.kept(node.sha) is None})
    size = sum(node.size for node in nodes)
    whole = mount.objects.archive and not snapshot.tree.archived
    return Cost(Range(min(missing, ARCHIVE) if whole else missing, missing + (ARCHIVE if whole and missing else 0)),
                Range(size, size))


def _kept(mount: GitHub, full: str, name: str) -> Snapshot | None:
    """The files of a ref, where all that leads to them is kept."""
    store, ref = mount.store, to_ref(name)
    if not mount.only and store.peek(("repos",), "@repos") is None \
            and store.peek(("repo", *full.split("/")), f"@repo/{full}") is None:
        return None
    listed, one = mount.refs.known(full), store.peek(("ref", full, ref), f"@ref/{full}/{ref}")
    found = listed.value.get(ref) if listed is not None else one.value if one is not None else None
    if found is None:
        return None
    commit = store.peek(("commit", found["sha"]), PLACE, math.inf)
    if commit is None:
        return None
    tree = store.peek(("tree", full, commit.value[0]), PLACE, math.inf)
    return Snapshot(full, found["sha"], commit.value[1], tree.value) if tree is not None else None
