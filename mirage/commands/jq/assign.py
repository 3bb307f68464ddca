"""Assignments: `=`, `|=`, `+=` and the like, on the paths of their left side."""
from __future__ import annotations

from mirage.commands.jq.filters import Filter
from mirage.commands.jq.values import bad_key, delete_paths, floor_index, get_path, is_number, set_item, set_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mirage.commands.jq.errors import JqError
    from mirage.commands.jq.program import Run


class Builder:
    """A value that is changed at many paths: each array or object is copied once, then changed in place."""

    __slots__ = ("owned", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.owned: dict[int, Any] = {}

    def get(self, path: tuple[Any, ...]) -> Any:
        """What is at `path` now; whoever gets an array or object may keep it, so it is no longer ours."""
        value = get_path(self.value, path)
        if id(value) in self.owned:
            self.owned.clear()
        return value

    def set(self, path: tuple[Any, ...], new: Any) -> None:
        if not path:
            self.value = new
            return
        for key in path:
            if type(key) is not str and not is_number(key):
                self.value = set_path(self.value, path, new)
                self.owned.clear()
                return
        node = self.value = self._own(self.value, path[0])
        for at in range(len(path) - 1):
            key = path[at]
            old = node.get(key) if type(node) is dict else self._item(node, key)
            inner = self._own(old, path[at + 1])
            if inner is not old:
                self._put(node, key, inner)
            node = inner
        self._put(node, path[-1], new)

    def _own(self, value: Any, key: Any) -> Any:
        """`value` if it is ours, else a copy (null becomes what `key` needs)."""
        if id(value) in self.owned and (type(value) is dict) == (type(key) is str):
            return value
        copy: Any
        if type(key) is str and (type(value) is dict or value is None):
            copy = dict(value) if value else {}
        elif type(key) is not str and (type(value) is list or value is None):
            copy = list(value) if value else []
        else:
            raise self._error(value, key)
        self.owned[id(copy)] = copy
        return copy

    @staticmethod
    def _error(value: Any, key: Any) -> JqError:
        return bad_key(value, key)

    @staticmethod
    def _item(items: list[Any], key: Any) -> Any:
        at = floor_index(key) if key == key else -1
        if at < 0:
            at += len(items)
        return items[at] if 0 <= at < len(items) else None

    @staticmethod
    def _put(node: Any, key: Any, new: Any) -> None:
        if type(node) is dict:
            node[key] = new
        else:
            set_item(node, key, new)


def update(left: Filter, right: Filter, run: Run) -> Filter:
    """`left |= right`: the first result of `right` at each path; paths where it gives none are deleted at the end."""
    find = left.places
    stream, one = right.stream, right.one

    def change(v: Any, env: Any) -> Any:
        builder = Builder(v)
        gone = []
        for path, _ in find(((), v), env):
            run.tick()
            if path is None:
                raise invalid(_)
            old = builder.get(path)
            if one:
                builder.set(path, one(old, env))
                continue
            for new in stream(old, env):
                builder.set(path, new)
                break
            else:
                gone.append(list(path))
        return delete_paths(builder.value, gone) if gone else builder.value

    return Filter(change)


def set_all(left: Filter, right: Filter, run: Run) -> Filter:
    """`left = right`: one result for each value of `right`, which sees the whole input."""
    find = left.places

    def assign(v: Any, env: Any, new: Any) -> Any:
        builder = Builder(v)
        for path, value in find(((), v), env):
            run.tick()
            if path is None:
                raise invalid(value)
            builder.set(path, new)
        return builder.value

    return _for_each(right, assign)


def update_with(left: Filter, right: Filter, function: Callable[[Any, Any], Any], run: Run) -> Filter:
    """`left op= right`"""
    find = left.places

    def change(v: Any, env: Any, operand: Any) -> Any:
        builder = Builder(v)
        for path, value in find(((), v), env):
            run.tick()
            if path is None:
                raise invalid(value)
            builder.set(path, function(builder.get(path), operand))
        return builder.value

    return _for_each(right, change)


def update_default(left: Filter, right: Filter, run: Run) -> Filter:
    """`left //= right`: only where there is null or false."""
    def keep(old: Any, new: Any) -> Any:
        return new if old is None or old is False else old

    return update_with(left, right, keep, run)


def _for_each(right: Filter, change: Callable[[Any, Any, Any], Any]) -> Filter:
    if right.one:
        one = right.one
        return Filter(lambda v, env: change(v, env, one(v, env)))
    operands = right.stream

    def stream(v: Any, env: Any) -> Iterator[Any]:
        for operand in operands(v, env):
            yield change(v, env, operand)

    return Filter(stream=stream)


def invalid(value: Any) -> JqError:
    from mirage.commands.jq.errors import JqError
    from mirage.commands.jq.values import shown
    return JqError(f"Invalid path expression with result {shown(value)}")
