from __future__ import annotations

import errno
import threading
import time

import pytest

from mirage.vfs.names import safe_name, split_id, unique_names, with_id
from mirage.vfs.service import ByteCache, Counters, Failure, Freshness, RateLimiter, Retry


@pytest.mark.parametrize(("title", "name"), [
    ("plain", "plain"), ("a/b\\c", "a_b\\c"), ("", "untitled"), ("  ", "untitled"), (".", "untitled"), ("..", "untitled"),
    ("two\nlines\t\x00\x7f\x85", "two_lines____"), ("e\u0301", "\u00e9"), (".hidden", ".hidden"), ("x" * 300, "x" * 120),
    ("é" * 100, "é" * 60), ("日" * 41, "日" * 40), ("\ud800bad", "_bad"), ("a " + "b" * 117 + " c", "a " + "b" * 117)])
def test_safe_names(title, name):
    assert safe_name(title) == name and len(name.encode()) <= 120


def test_ids_in_names():
    assert with_id("a__b", "9f") == "a__b__9f" and split_id("a__b__9f") == ("a__b", "9f") and split_id("none") == ("none", "")
    assert unique_names([("a.txt", "1"), ("A.TXT", "2"), ("b", "3"), ("x/y", "4"), ("x_y", "5")]) \
        == ["a__1.txt", "A__2.TXT", "b", "x_y__4", "x_y__5"]


def failing(*failures):
    todo, calls = list(failures), []

    def attempt():
        calls.append(time.monotonic())
        if todo:
            raise todo.pop(0)
        return "done"
    return attempt, calls


def test_retries():
    retry = Retry(tries=4, base=0.001, most=0.2)
    attempt, calls = failing(Failure(503, "busy"), Failure(0, "reset"), Failure(429, "slow down", 0.05))
    assert retry.run("svc", attempt) == "done" and len(calls) == 4 and calls[3] - calls[2] >= 0.05
    attempt, calls = failing(*[Failure(500, "broken")] * 9)
    with pytest.raises(OSError) as caught:
        retry.run("svc", attempt)
    assert caught.value.errno == errno.EIO and caught.value.note == "svc: broken" and len(calls) == 4


@pytest.mark.parametrize(("status", "number"), [(404, errno.ENOENT), (401, errno.EACCES), (403, errno.EACCES),
                                                (413, errno.EFBIG), (400, errno.EINVAL), (409, errno.EEXIST)])
def test_answers_that_are_final(status, number):
    attempt, calls = failing(Failure(status, "no"))
    with pytest.raises(OSError) as caught:
        Retry().run("svc", attempt)
    assert caught.value.errno == number and len(calls) == 1


def test_what_may_have_happened_is_not_repeated():
    for failure in (Failure(500, "x"), Failure(0, "x")):
        attempt, calls = failing(failure)
        with pytest.raises(OSError):
            Retry(base=0.001).run("svc", attempt, safe=False)
        assert len(calls) == 1
    attempt, calls = failing(Failure(429, "x"))
    assert Retry(base=0.001).run("svc", attempt, safe=False) == "done"


def test_a_long_wait_is_told_instead():
    attempt, calls = failing(Failure(429, "quota", 3600))
    with pytest.raises(BlockingIOError) as caught:
        Retry().run("svc", attempt)
    assert caught.value.note == "svc: quota (try again in 3600 s)" and len(calls) == 1


def test_rate_limiter():
    limiter = RateLimiter(rate=200, burst=10)
    started = time.monotonic()
    for _ in range(6):
        limiter.take(5)
    assert time.monotonic() - started > 0.09
    free = RateLimiter(0, 0)
    free.take(10**9)


def test_byte_cache():
    cache = ByteCache(100)
    for n in range(5):
        cache.put(n, str(n), 30)
    assert cache.size <= 100 and 0 not in cache and cache.get(4) == "4"
    cache.get(2)
    cache.put(5, "5", 30)
    assert 2 in cache and 3 not in cache
    cache.put("big", "x", 101)
    assert "big" not in cache
    cache.put(2, "new", 10)
    cache.drop(4)
    assert cache.get(2) == "new" and cache.size == 40
    cache.clear()
    assert cache.size == 0 and cache.get(2) is None


def test_counters_of_threads():
    counters = Counters()
    threads = [threading.Thread(target=lambda: [counters.add(calls=1, size=2) for _ in range(500)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counters.calls, counters.bytes) == (2000, 4000)


def test_freshness_outside_of_a_line():
    fresh = Freshness(0.05)
    assert fresh.due()
    fresh.done()
    assert not fresh.due()
    time.sleep(0.06)
    assert fresh.due()
    fresh.done()
    fresh.expire()
    assert fresh.due()
