"""From the files of a Terminal to the index: only what is new or changed is read."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.index.text import passages, text_of, wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mirage.index.database import IndexDatabase
    from mirage.vfs.filesystem import FileSystem
    from mirage.vfs.types import Stat

    Report = Callable[[str, int, int], None]
    Found = tuple[str, str]

TOGETHER = 64                                                # files that are read, and committed, at a time


class Summary:
    """Files: `added` and `changed` were read, `kept` were known; `removed` are gone; `skipped` have no text or too
    much of it. `errors`: (path, what went wrong)."""

    def __init__(self) -> None:
        self.added = self.changed = self.kept = self.removed = self.skipped = 0
        self.errors: list[tuple[str, str]] = []

    def as_dict(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in ("added", "changed", "kept", "removed", "skipped")}
        return {**found, "errors": [{"path": path, "error": text} for path, text in self.errors]}


def version_of(stat: Stat) -> str:
    """What changes when the content may have changed."""
    return stat.version or f"{stat.mtime_ns}:{stat.size}"


def unchanged(version: str, stat: Stat) -> bool:
    """Is the file what it was? A size that is not known, then or now, says nothing."""
    if stat.version:
        return stat.version == version
    mtime, _, size = version.rpartition(":")
    return mtime == str(stat.mtime_ns) and (stat.size is None or size in ("None", str(stat.size)))


def build(fs: FileSystem, database: IndexDatabase, tops: Sequence[str], model: Any = None,
          report: Report | None = None) -> Summary:
    """Bring the index up to date with everything below `tops` (absolute paths), as `fs` shows it.

    model   makes the vectors; None: full text only
    report  called with (what is being done, files done, files to do) now and then
    """
    summary = Summary()
    tell = report or (lambda what, done, most: None)
    for top in tops:
        known = database.versions(top)
        unsure: list[str] = []
        todo: list[Found] = []
        for path, stat in _files(fs, top, summary, unsure):
            row, version = known.pop(path, None), version_of(stat)
            if row is not None and unchanged(row[1], stat):
                summary.kept += 1
            elif not wanted(path.rpartition("/")[2], stat.size):
                summary.skipped += 1
                if row is not None:
                    database.drop([row[0]])
            else:
                todo.append((path, version))
                if row is None:
                    summary.added += 1
                else:
                    summary.changed += 1
            if not (len(todo) & 255):
                tell(f"listing {top}", summary.kept, len(todo))
        gone = [row[0] for path, row in known.items() if not path.startswith(tuple(unsure))]
        database.drop(gone)
        summary.removed += len(gone)
        for at in range(0, len(todo), TOGETHER):
            tell(f"indexing {top}", at, len(todo))
            _put(fs, database, todo[at:at + TOGETHER], model, summary)
            database.commit()
        database.commit()
    if model is not None:
        from mirage.index.model import NAME
        database.remember("model", NAME)
        database.commit()
    return summary


def _files(fs: FileSystem, top: str, summary: Summary, unsure: list[str]) -> Iterator[tuple[str, Stat]]:
    """Regular files with their Stat; `unsure` gets what could not be listed: nothing is known to be gone there."""
    def failed(path: str, error: OSError) -> None:
        summary.errors.append((path, str(error.strerror)))
        unsure.append(path.rstrip("/") + "/")

    stat = fs.stat(top)
    if stat.is_file:
        yield top, stat
        return
    for directory, entries in fs.walk(top, onerror=failed):
        for entry in entries:
            if entry.stat is not None and entry.stat.is_file:
                yield f"{directory.rstrip('/')}/{entry.name}", entry.stat


def _put(fs: FileSystem, database: IndexDatabase, files: list[Found], model: Any, summary: Summary) -> None:
    texts: list[tuple[str, str, str | None]] = []
    versions = dict(files)
    for path, data in fs.read_many([path for path, _ in files]):
        if isinstance(data, OSError):
            summary.errors.append((path, str(data.strerror)))
            continue
        text = text_of(data)
        summary.skipped += text is None
        texts.append((path, versions[path], text))
    parts = [passages(path, text) if model is not None and text is not None else [] for path, _, text in texts]
    flat = [part for each in parts for part in each]
    vectors = model.encode(flat).astype("float16") if flat else ()
    at = 0
    for (path, version, text), own in zip(texts, parts, strict=True):
        database.put(path, version, text, [(part, vectors[at + i].tobytes()) for i, part in enumerate(own)])
        at += len(own)
