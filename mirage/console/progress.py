"""A line on the screen while a long line waits for services: `reading /mail: 340/1,200`. It vanishes at the end."""
from __future__ import annotations

import sys
import threading
import time

from mirage.vfs.progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.terminal import Terminal

PATIENCE = 1.0                                               # seconds before anything is shown
PERIOD = 0.2                                                 # seconds between two looks


class ProgressLine:
    """Shows what one Terminal waits for, on standard error, which must be a terminal.

    `with line:` around a line that runs; `hide()` before something else is written to the screen.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.progress = terminal.machine.progress = Progress()
        self._lock = threading.RLock()
        self._display: Any = None
        self._running: threading.Event | None = None
        self._hidden_until = 0.0

    def __enter__(self) -> ProgressLine:
        self.progress.clear()
        self._before = self._calls()
        self._running = threading.Event()
        threading.Thread(target=self._watch, args=(self._running,), name="mirage-progress", daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._running is not None:
            self._running.set()
        self.hide()

    def hide(self) -> None:
        """Take the line off the screen; it comes back at a later look."""
        with self._lock:
            self._hidden_until = time.monotonic() + PERIOD
            if self._display is not None:
                self._display.stop()
                self._display = None

    def _watch(self, ended: threading.Event) -> None:
        if ended.wait(PATIENCE):
            return
        last = ""
        while not ended.wait(PERIOD):
            text = self.text()
            if text and (text != last or self._display is not None):
                self._show(text, ended)
            last = text

    def _show(self, text: str, ended: threading.Event) -> None:
        with self._lock:
            if ended.is_set() or time.monotonic() < self._hidden_until:
                return
            if self._display is None:
                from rich.console import Console
                from rich.live import Live
                console = Console(file=sys.stderr, highlight=False)
                self._display = Live(console=console, transient=True, auto_refresh=False, redirect_stdout=False,
                                     redirect_stderr=False)
                self._display.start()
            from rich.text import Text
            self._display.update(Text(text, style="dim", overflow="ellipsis", no_wrap=True), refresh=True)

    def text(self) -> str:
        """What to show now, or nothing."""
        reading = [f"{place}: {done:,}/{most:,}" for place, (done, most) in list(self.progress.places.items())
                   if done < most]
        if reading:
            return "reading " + ", ".join(reading)
        waiting = [f"{place} ({count - self._before.get(place, 0):,} calls)" for place, count in self._calls().items()
                   if count > self._before.get(place, 0)]
        return "waiting for " + ", ".join(waiting) if waiting else ""

    def _calls(self) -> dict[str, int]:
        table = self.terminal.machine.namespace.table
        return {m.point: m.mount.counters.calls for m in (table.root, *table.nested) if hasattr(m.mount, "counters")}
