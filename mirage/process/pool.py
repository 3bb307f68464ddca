"""The bounded pool of threads that run blocking calls to services. Started by the first call, not before."""
from __future__ import annotations

import queue
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SIZE = 32
_jobs: queue.SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...], Callable[[Any, BaseException | None], None]]]
_jobs = queue.SimpleQueue()
_lock = threading.Lock()
_threads = 0
_busy = 0
_pid = 0


def _work() -> None:
    global _busy
    while True:
        function, args, finished = _jobs.get()
        try:
            result, failure = function(*args), None
        except BaseException as e:                           # handed to the greenlet that asked
            result, failure = None, e
        with _lock:
            _busy -= 1
        finished(result, failure)
        del function, args, finished, result, failure


def submit(function: Callable[..., Any], args: tuple[Any, ...],
           finished: Callable[[Any, BaseException | None], None]) -> None:
    """Run function(*args) on a pool thread, then call finished(result, failure) there."""
    global _threads, _busy, _pid, _jobs
    import os
    with _lock:
        if _pid != os.getpid():                              # after a fork the threads are gone
            _pid, _threads, _busy, _jobs = os.getpid(), 0, 0, queue.SimpleQueue()
        _busy += 1
        if _busy > _threads and _threads < SIZE:
            _threads += 1
            threading.Thread(target=_work, name=f"mirage-pool-{_threads}", daemon=True).start()
    _jobs.put((function, args, finished))
