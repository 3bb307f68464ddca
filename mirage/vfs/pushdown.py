"""Searching below a directory: which mounts can say what may match, asked at once, and what the policy lets be seen."""
from __future__ import annotations

import errno

from mirage.vfs.resolve import Target
from mirage.vfs.search import Candidates
from mirage.vfs.service import line_of, on_behalf
from mirage.vfs.types import error, permitted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mirage.vfs.filesystem import FileSystem
    from mirage.vfs.search import Query

    Reaches = Callable[[list[str]], bool]

WIDTH = 8                                                    # services that are asked at a time
READ = 4


def searches(fs: FileSystem, path: str, queries: Sequence[Query], reaches: Reaches) -> dict[str, Candidates | OSError]:
    """directory -> what its mount's search says, for the mounts at and below `path` that can and may be searched.

    The directories, and the paths of the candidates, begin with `path` as it was given. What is not in the answer is
    to be read. Candidates match at least one of the queries; what is hidden is left out, as in a walk.

    reaches  would the walk go into the directory of these names below `path`?
    """
    top = fs._find(path)
    places = _places(fs, top, path, reaches)
    if not places:
        return {}
    found: dict[str, Candidates | OSError] = {}
    asked: list[tuple[str, Target]] = []
    for shown, place in places:
        try:
            fs._ask("search", place, shown)
            asked.append((shown, place))
        except OSError as e:
            found[shown] = e
    for (shown, place), answer in zip(asked, _ask(asked, queries), strict=True):
        if isinstance(answer, OSError):
            answer.filename = shown
            del answer.filename2
            found[shown] = answer
        elif answer is not None:
            answer.paths, answer.refused, answer.withheld = _visible(fs, place, shown, answer.paths)
            found[shown] = answer
    return found


def _places(fs: FileSystem, top: Target, path: str, reaches: Reaches) -> list[tuple[str, Target]]:
    """(path to show, target) of the directories to search."""
    table = fs.machine.namespace.table
    if top.path not in table.children:
        return [(path, top)] if "search" in top.mounted.can and _may_list(fs, top) else []
    prefix = top.path.rstrip("/") + "/"
    base = path.rstrip("/")
    found = []
    for mounted in sorted(table.nested, key=lambda m: m.point):
        if "search" not in mounted.can or not mounted.point.startswith(prefix) or mounted.point in table.children:
            continue
        inside = mounted.point[len(prefix):]
        names = inside.split("/")
        try:
            if all(reaches(names[:n]) for n in range(1, len(names) + 1)) and _open(fs, prefix, names):
                found.append((f"{base}/{inside}", fs._find(mounted.point)))
        except OSError:                                      # the walk will say why
            continue
    return found


def _open(fs: FileSystem, prefix: str, names: list[str]) -> bool:
    """May the walk list every directory down to that one?"""
    return all(_may_list(fs, fs._find(prefix + "/".join(names[:n]))) for n in range(len(names) + 1))


def _may_list(fs: FileSystem, target: Target) -> bool:
    gate = fs.machine.gate
    if target.stat is None or not target.stat.is_dir or not permitted(target.stat, READ, fs.uid, fs.gid):
        return False
    return gate is None or bool(gate.allows("list", target, fs.proc))


def _ask(places: list[tuple[str, Target]], queries: Sequence[Query]) -> Iterable[Candidates | OSError | None]:
    if len(places) == 1:
        try:
            return [_search(places[0][1], queries)]
        except OSError as e:
            return [e]
    from mirage.process import blocking
    line = line_of()
    answers: list[Candidates | OSError | None] = []
    for answer in blocking.map_ordered(lambda p: on_behalf(line, _search, p[1], queries), places, WIDTH):
        if isinstance(answer, Exception) and not isinstance(answer, OSError):
            raise answer
        answers.append(answer)
    return answers


def _search(place: Target, queries: Sequence[Query]) -> Candidates | None:
    """The answer for the alternatives together; None: read everything."""
    found = []
    for query in queries:
        answer = place.mounted.mount.search(place.inner, query)
        if answer is None:
            return None
        found.append(answer)
    return found[0] if len(found) == 1 else _joined(found)


def _joined(answers: Sequence[Candidates]) -> Candidates | None:
    """Candidates of several questions in the order of a walk; None where that order cannot be told."""
    lists = [list(answer.paths) for answer in answers]
    if any(paths != sorted(paths, key=walk_order) for paths in lists):
        return None
    least = min(answers, key=lambda answer: answer.skipped)
    together = sorted({path for paths in lists for path in paths}, key=walk_order)
    return Candidates(together, all(answer.complete for answer in answers), least.skipped, least.note)


def walk_order(path: str) -> list[tuple[int, str]]:
    """A walk over sorted listings gives the files of a directory before what is in its directories."""
    *directories, name = path.split("/")
    return [*((1, d) for d in directories), (0, name)]


def _visible(fs: FileSystem, top: Target, path: str,
             inner_paths: Iterable[str]) -> tuple[list[str], tuple[tuple[str, OSError], ...], bool]:
    """The paths that a walk from `top` would reach and may read, as seen from outside; the directories that it may
    not list; and whether the policy lets some file below not be read (told whether or not it is a candidate)."""
    gate, mounted = fs.machine.gate, top.mounted
    cut = 0 if top.inner == "/" else len(top.inner)
    base = path.rstrip("/")
    if gate is None:
        return [base + inner[cut:] for inner in inner_paths], (), False
    open_: dict[str, bool] = {top.inner: True}
    refused: list[tuple[str, OSError]] = []

    def may_list(inner: str) -> bool:
        known = open_.get(inner)
        if known is None:
            place = Target(mounted, inner, mounted.outer(inner), None)
            known = may_list(inner.rpartition("/")[0] or "/") and gate.visible(place)
            if known and not gate.allows("list", place, fs.proc):
                known = False
                try:
                    fs._ask("list", place, base + inner[cut:])
                except OSError as e:
                    refused.append((base + inner[cut:], e))
            open_[inner] = known
        return known

    def may_see(inner: str) -> bool:
        if not looks:
            return True
        try:                                                 # with its Stat: it may have other names
            place = Target(mounted, inner, mounted.outer(inner), mounted.mount.stat(inner))
        except OSError:
            return False
        return bool(gate.visible(place)) and not gate.refuses("read", place)

    looks = gate.hides or gate.refuses_below("read", top)
    paths = [base + inner[cut:] for inner in inner_paths
             if may_list(inner.rpartition("/")[0] or "/") and may_see(inner)]
    return paths, tuple(refused), bool(gate.refuses_below("read", top))


def withheld(path: str) -> OSError:
    """What a tool says where files below `path` may not be read."""
    failure = error(errno.EACCES, path)
    failure.strerror = "some files may not be read: Permission denied"
    return failure
