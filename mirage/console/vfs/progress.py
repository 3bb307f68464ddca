"""Progress bars: on standard error, and only where that is a terminal."""
from __future__ import annotations

import contextlib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def bar(text: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function to be called with how much is done of how much; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    with Progress(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), console=Console(stderr=True),
                  transient=True) as shown:
        task = shown.add_task(text, total=None)
        yield lambda done, all: shown.update(task, completed=done, total=all or None)
