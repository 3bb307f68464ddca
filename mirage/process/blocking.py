"""One way to wait: yields to other greenlets inside a process, blocks in a plain thread (FUSE, HTTP, tests)."""
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    T = TypeVar("T")


def current_kernel() -> Any:
    """The kernel whose process runs here, or None in a plain thread."""
    module = sys.modules.get("greenlet")
    return getattr(module.getcurrent(), "kernel", None) if module else None


def call(function: Callable[..., T], *args: Any) -> T:
    """function(*args), on the pool when a process waits for it, else right here."""
    kernel = current_kernel()
    if kernel is None:
        return function(*args)
    result: T = kernel.call(function, *args)
    return result


def sleep(seconds: float) -> None:
    kernel = current_kernel()
    if kernel is None:
        import time
        time.sleep(seconds)
    else:
        kernel.sleep(seconds)


def map_ordered(function: Callable[[Any], T], items: Iterable[Any], width: int = 8) -> Iterator[T | Exception]:
    """function(item) for each, up to `width` at a time, results in order; an Exception is yielded, not raised."""
    import threading
    from collections import deque

    from mirage.process.pool import submit

    kernel = current_kernel()
    window: deque[list[Any]] = deque()
    todo = iter(items)
    bell = threading.Event()

    def launch() -> bool:
        try:
            item = next(todo)
        except StopIteration:
            return False
        cell: list[Any] = []
        wait = kernel.queue() if kernel else None

        def finished(result: Any, failure: BaseException | None) -> None:
            value = (result, failure)
            if kernel is None or wait is None:
                cell.append(value)
                bell.set()
            else:
                def deliver() -> None:
                    kernel._pending -= 1
                    cell.append(value)
                    wait.wake()
                kernel.post(deliver)

        if kernel is not None:
            kernel._pending += 1
        submit(function, (item,), finished)
        window.append([cell, wait])
        return True

    while len(window) < width and launch():
        pass
    while window:
        cell, wait = window.popleft()
        while not cell:
            if wait is not None:
                wait.wait()
            else:
                bell.wait(0.05)
                bell.clear()
        launch()
        result, failure = cell[0]
        if failure is not None and not isinstance(failure, Exception):
            raise failure
        yield failure if failure is not None else result
