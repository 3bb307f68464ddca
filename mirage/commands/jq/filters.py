"""What a piece of a program compiles to, and the small parts that all compiled filters share.

A filter maps one value to a stream of values. Its environment is a linked list of nodes
`(content, parent node, depth)`: content is the value of a variable, the closure of a parameter
`(filter, environment)`, or the mark of a label; depth counts nested calls of recursive functions.
"""
from __future__ import annotations

from itertools import islice

from mirage.commands.jq.errors import JqError
from mirage.commands.jq.values import equal, index, is_number, iterate, reserve, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Env = tuple[Any, Any, int]
    One = Callable[[Any, Any], Any]
    Stream = Callable[[Any, Any], Iterable[Any]]
    Place = tuple[tuple[Any, ...] | None, Any]               # (path, value); path None: the value has none
    Places = Callable[[Place, Any], Iterable[Place]]

ROOT: Env = (None, None, 0)
SLICE = 1 << 14
ITEM_SIZE = 32                                               # bytes of a small value in an array, roughly


class Filter:
    """`one(value, env)` where there is always exactly one result (else None); `stream(value, env)`: an iterable.

    `places(place, env)` gives results with their paths; it is compiled when it is first asked for.
    """

    __slots__ = ("_make_places", "_places", "one", "stream")

    def __init__(self, one: One | None = None, stream: Stream | None = None,
                 places: Callable[[], Places] | None = None) -> None:
        self.one = one
        if stream is None:
            assert one is not None
            stream = single(one)
        self.stream = stream
        self._make_places = places
        self._places: Places | None = None

    @property
    def places(self) -> Places:
        if self._places is None:
            self._places = self._make_places() if self._make_places else computed(self)
        return self._places


def single(one: One) -> Stream:
    return lambda value, env: (one(value, env),)


def computed(code: Filter) -> Places:
    """Paths of a filter that computes values: only what is the very input value keeps its path."""
    stream = code.stream

    def places(place: Place, env: Any) -> Iterator[Place]:
        path, value = place
        for result in stream(value, env):
            if result is value and not is_number(value):
                yield place
            else:
                yield None, result

    return places


def child(place: Place, key: Any) -> Place:
    """The place at `key` of a place, for reading or writing."""
    path, value = place
    if path is None:
        raise JqError(f"Invalid path expression near attempt to access element {shown(key)} of {shown(value)}")
    return (*path, key), index(value, key)


def children(place: Place) -> Iterator[Place]:
    path, value = place
    if path is None:
        raise JqError(f"Invalid path expression near attempt to iterate through {shown(value)}")
    if type(value) is dict:
        for key, item in value.items():
            yield (*path, key), item
    else:
        for key, item in enumerate(iterate(value)):
            yield (*path, key), item


def truthy(value: Any) -> bool:
    return value is not None and value is not False


def collect(stream: Iterable[Any], check: Callable[[], None]) -> list[Any]:
    """All results as a list, with a look at the limits every few thousand."""
    iterator = iter(stream)
    out = list(islice(iterator, SLICE))
    if len(out) < SLICE:
        return out
    while True:
        check()
        reserve(len(out) * ITEM_SIZE)
        more = list(islice(iterator, SLICE))
        if not more:
            return out
        out += more


def constant(value: Any) -> Filter:
    return Filter(lambda v, env: value)


def up(hops: int) -> Callable[[Any], Any]:
    """A function from an environment to the one `hops` nodes further out."""
    if hops == 0:
        return lambda env: env
    if hops == 1:
        return lambda env: env[1]
    if hops == 2:
        return lambda env: env[1][1]
    if hops == 3:
        return lambda env: env[1][1][1]

    def ancestor(env: Any) -> Any:
        for _ in range(hops):
            env = env[1]
        return env

    return ancestor


def variable(hops: int) -> One:
    if hops == 0:
        return lambda v, env: env[0]
    if hops == 1:
        return lambda v, env: env[1][0]
    if hops == 2:
        return lambda v, env: env[1][1][0]
    ancestor = up(hops)
    return lambda v, env: ancestor(env)[0]


def product(function: Callable[..., Any], arguments: list[Filter]) -> Filter:
    """`function(input, arguments...)` for every combination of argument values; the last one varies slowest."""
    ones = [a.one for a in arguments]
    if all(one is not None for one in ones):
        return Filter(_apply(function, ones))
    if len(arguments) == 1:
        stream = arguments[0].stream

        def one_argument(v: Any, env: Any) -> Iterator[Any]:
            for a in stream(v, env):
                yield function(v, a)

        return Filter(stream=one_argument)
    streams = [a.stream for a in arguments]

    def combinations(v: Any, env: Any, at: int, later: tuple[Any, ...]) -> Iterator[Any]:
        if at < 0:
            yield function(v, *later)
            return
        for a in streams[at](v, env):
            yield from combinations(v, env, at - 1, (a, *later))

    return Filter(stream=lambda v, env: combinations(v, env, len(streams) - 1, ()))


def _apply(function: Callable[..., Any], ones: list[Any]) -> One:
    if not ones:
        return lambda v, env: function(v)
    if len(ones) == 1:
        first = ones[0]
        return lambda v, env: function(v, first(v, env))
    if len(ones) == 2:
        first, second = ones
        return lambda v, env: function(v, first(v, env), second(v, env))
    return lambda v, env: function(v, *[one(v, env) for one in ones])


def compare_to(op: str, right: Any) -> Callable[[Any], bool] | None:
    """A quick test `left == right` (or !=) against a constant, where one exists."""
    if op not in ("==", "!=") or type(right) in (list, dict) or right != right:
        return None
    if right is None or right is True or right is False:
        return (lambda x: x is right) if op == "==" else (lambda x: x is not right)
    if type(right) is str:
        return (lambda x: x == right) if op == "==" else (lambda x: x != right)
    if is_number(right):
        if op == "==":
            return lambda x: x == right and x is not True and x is not False
        return lambda x: not (x == right and x is not True and x is not False)
    return lambda x: equal(x, right) == (op == "==")
