"""JSON values: types, order, arithmetic, paths. Values are never changed in place by anyone who did not make them.

null, true, false are None, True, False; numbers as in numbers.py; strings, arrays, objects are str, list, dict.
"""
from __future__ import annotations

from math import isnan

from greenlet import getcurrent

from mirage.commands.jq.encode import dumps
from mirage.commands.jq.errors import JqError
from mirage.commands.jq.numbers import EXACT, normal, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

KINDS: dict[type, str] = {type(None): "null", bool: "boolean", str: "string", list: "array", dict: "object"}
RANKS: dict[str, int] = {"null": 0, "false": 1, "true": 2, "number": 3, "string": 4, "array": 5, "object": 6}
MAX_DEPTH = 10_000
MAX_INDEX = (1 << 29) - 1
BIG = 1 << 16


def kind(value: Any) -> str:
    """jq's name of the type."""
    return KINDS.get(type(value), "number")


def shown(value: Any, limit: int = 29) -> str:
    """JSON text for a message, cut after `limit` bytes."""
    text = dumps(value)
    raw = text.encode()
    if len(raw) <= limit:
        return text
    return raw[:limit - 3].decode("utf-8", "replace") + "..."


def described(value: Any) -> str:
    """`number (1)`, as messages name a value."""
    return f"{kind(value)} ({shown(value, 14)})"


def mismatch(left: Any, right: Any, what: str) -> JqError:
    return JqError(f"{described(left)} and {described(right)} {what}")


def unfit(value: Any, what: str) -> JqError:
    return JqError(f"{described(value)} {what}")


def reserve(size: int) -> None:
    """Raises LimitExceeded when one value of `size` bytes is more than the terminal allows."""
    kernel = getattr(getcurrent(), "kernel", None)
    if kernel is not None:
        kernel.fits(size)
    elif size > 1 << 30:
        raise JqError("Repeat string result too long")


def is_number(value: Any) -> bool:
    t = type(value)
    return t is int or t is float or t is not bool and isinstance(value, float)


# ---- equality and order

def equal(a: Any, b: Any) -> bool:
    if a is b:
        return a == a if type(a) is not list and type(a) is not dict else _same(a, b)
    return bool(a == b) and _same(a, b)


def _same(a: Any, b: Any) -> bool:
    """Are values that Python finds equal also of equal types (true is not 1)?"""
    ta = type(a)
    if ta is str:
        return True
    if ta is list:
        return all(map(_same, a, b)) if a is not b else all(map(equal_items, a, a))
    if ta is dict:
        return all(_same(value, b[key]) for key, value in a.items())
    return (ta is bool) == (type(b) is bool)


def equal_items(a: Any, b: Any) -> bool:
    return bool(a == b) and _same(a, b)


def rank(value: Any) -> int:
    if value is None:
        return 0
    t = type(value)
    if t is bool:
        return 2 if value else 1
    if t is str:
        return 4
    if t is list:
        return 5
    return 6 if t is dict else 3


def compare(a: Any, b: Any) -> int:
    """-1, 0, 1; null < false < true < numbers < strings < arrays < objects; NaN is less than every number."""
    ra, rb = rank(a), rank(b)
    if ra != rb:
        return -1 if ra < rb else 1
    if ra == 3:
        if a != a:
            return -1
        return int(a > b) - int(a < b) if b == b else 1
    if ra == 4:
        return int(a > b) - int(a < b)
    if ra == 5:
        for x, y in zip(a, b, strict=False):
            order = compare(x, y)
            if order:
                return order
        return (len(a) > len(b)) - (len(a) < len(b))
    if ra == 6:
        keys_a, keys_b = sorted(a), sorted(b)
        if keys_a != keys_b:
            return -1 if keys_a < keys_b else 1
        for key in keys_a:
            order = compare(a[key], b[key])
            if order:
                return order
    return 0


def sort_key(value: Any) -> Any:
    """A key that sorts like compare()."""
    r = rank(value)
    if r == 3:
        return (3, value) if value == value else (3, float("-inf"), 0)[:2]
    if r < 3:
        return (r,)
    if r == 4:
        return (4, value)
    if r == 5:
        return (5, [sort_key(item) for item in value])
    names = sorted(value)
    return (6, names, [sort_key(value[name]) for name in names])


def sorted_values(values: list[Any]) -> list[Any]:
    kinds = set(map(type, values))
    if kinds == {str} or kinds == {int}:
        return sorted(values)
    return sorted(values, key=sort_key)


# ---- arithmetic

def add(a: Any, b: Any) -> Any:
    ta, tb = type(a), type(b)
    if ta is int and tb is int:
        total = a + b
        return total if -EXACT <= total <= EXACT else float(total)
    if ta is str and tb is str or ta is list and tb is list:
        if len(a) + len(b) > BIG:
            reserve((len(a) + len(b)) * (8 if ta is list else 1))
        return a + b
    if a is None:
        return b
    if b is None:
        return a
    if ta is dict and tb is dict:
        if len(a) + len(b) > BIG:
            reserve((len(a) + len(b)) * 32)
        return {**a, **b}
    if is_number(a) and is_number(b):
        return normal(float(a) + float(b))
    raise mismatch(a, b, "cannot be added")


def subtract(a: Any, b: Any) -> Any:
    ta, tb = type(a), type(b)
    if ta is int and tb is int:
        total = a - b
        return total if -EXACT <= total <= EXACT else float(total)
    if is_number(a) and is_number(b):
        return normal(float(a) - float(b))
    if ta is list and tb is list:
        if all(type(x) is str for x in b):
            gone = set(b)
            return [x for x in a if type(x) is not str or x not in gone]
        return [x for x in a if not any(equal(x, y) for y in b)]
    raise mismatch(a, b, "cannot be subtracted")


def multiply(a: Any, b: Any) -> Any:
    ta, tb = type(a), type(b)
    if ta is int and tb is int and a and b:
        total = a * b
        return total if -EXACT <= total <= EXACT else float(total)
    if is_number(a) and is_number(b):
        return normal(float(a) * float(b))
    if ta is str and is_number(b) or tb is str and is_number(a):
        return repeat_text(*((a, b) if ta is str else (b, a)))
    if ta is dict and tb is dict:
        return merge(a, b)
    raise mismatch(a, b, "cannot be multiplied")


def repeat_text(text: str, count: float) -> str | None:
    """`text * count`: null for counts below 0; fractions are cut off."""
    if count != count or count < 0:
        return None
    times = int(min(count, 2.0 ** 62))
    if len(text) * times > BIG:
        reserve(len(text) * times)
    return text * times


def merge(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """`a * b` of objects: nested objects are merged too."""
    result = dict(a)
    for key, value in b.items():
        old = result.get(key)
        result[key] = merge(old, value) if type(old) is dict and type(value) is dict else value
    return result


def divide(a: Any, b: Any) -> Any:
    if is_number(a) and is_number(b):
        if b == 0:
            raise mismatch(a, b, "cannot be divided because the divisor is zero")
        return normal(float(a) / float(b))
    if type(a) is str and type(b) is str:
        return split(a, b)
    raise mismatch(a, b, "cannot be divided")


def split(text: str, separator: str) -> list[Any]:
    if not text:
        return []
    return text.split(separator) if separator else list(text)


def modulo(a: Any, b: Any) -> Any:
    if is_number(a) and is_number(b):
        if a != a or b != b:
            return float("nan")
        x, y = whole(a), whole(b)
        if y == 0:
            raise mismatch(a, b, "cannot be divided (remainder) because the divisor is zero")
        rest = abs(x) % abs(y)
        return normal(float(-rest if x < 0 else rest))
    raise mismatch(a, b, "cannot be divided (remainder)")


def negate(value: Any) -> Any:
    if type(value) is int and value:
        return -value
    if is_number(value):
        return normal(-float(value))
    raise unfit(value, "cannot be negated")


# ---- access

def index(value: Any, key: Any) -> Any:
    """`value[key]`"""
    tv, tk = type(value), type(key)
    if tk is str:
        if tv is dict:
            return value.get(key)
        if value is None:
            return None
        raise JqError(f'Cannot index {kind(value)} with string "{key}"')
    if tv is list:
        if tk is list:
            return indexes_of_list(value, key)
        if is_number(key):
            if key != key:
                return None
            at = floor_index(key)
            if at < 0:
                at += len(value)
            return value[at] if 0 <= at < len(value) else None
        if tk is dict:
            return slice_of(value, key.get("start"), key.get("end"), key)
    elif value is None and (is_number(key) or key is None or tk is dict):
        return None
    elif tv is str and tk is dict:
        return slice_of(value, key.get("start"), key.get("end"), key)
    raise JqError(f"Cannot index {kind(value)} with {kind(key)}")


def floor_index(key: float) -> int:
    if type(key) is int:
        return key
    return int(max(-2.0 ** 53, min(key // 1, 2.0 ** 53)))


def indexes_of_list(items: list[Any], wanted: list[Any]) -> list[int]:
    size = len(wanted)
    if not size:
        return []
    return [i for i in range(len(items) - size + 1)
            if all(equal(items[i + j], wanted[j]) for j in range(size))]


def bounds(size: int, low: Any, high: Any) -> tuple[int, int]:
    """Start and end of a slice within `size` items: rounded outwards, negative ones from the end."""
    if low is not None and not is_number(low) or high is not None and not is_number(high):
        raise JqError("Array/string slice indices must be integers")
    start = 0.0 if low is None or isnan(low) else low
    stop = size if high is None or isnan(high) else high
    if start < 0:
        start += size
    if stop < 0:
        stop += size
    start = max(0, min(start, size))
    stop = min(stop, size)
    first, last = int(start), int(stop)
    if stop < start:
        return first, first
    return first, last + 1 if last < stop else last


def slice_of(value: Any, low: Any, high: Any, key: Any = None) -> Any:
    """`value[low:high]`"""
    if value is None:
        return None
    if type(value) is list or type(value) is str:
        start, stop = bounds(len(value), low, high)
        return value[start:stop]
    raise JqError(f"Cannot index {kind(value)} with object")


def iterate(value: Any) -> Any:
    """An iterable over `value[]`."""
    if type(value) is list:
        return value
    if type(value) is dict:
        return value.values()
    if value is None:
        raise JqError("Cannot iterate over null (null)")
    raise JqError(f"Cannot iterate over {described(value)}")


# ---- paths

def get_path(value: Any, path: Sequence[Any]) -> Any:
    for key in path:
        if value is None:
            return None
        value = index(value, key)
    return value


def set_index(value: Any, key: Any, new: Any) -> Any:
    """`value` (copied) with `new` at `key`."""
    tv, tk = type(value), type(key)
    if tk is str and (tv is dict or value is None):
        result = dict(value) if value else {}
        result[key] = new
        return result
    if is_number(key) and (tv is list or value is None):
        return set_item(list(value) if value else [], key, new)
    if tk is dict and (tv is list or value is None):
        if type(new) is not list:
            raise JqError("A slice of an array can only be assigned another array")
        items = value or []
        start, stop = bounds(len(items), key.get("start"), key.get("end"))
        return items[:start] + new + items[stop:]
    raise bad_key(value, key)


def set_item(items: list[Any], key: float, new: Any) -> list[Any]:
    """`items` itself, changed at `key`, filled up with null where that is beyond the end."""
    if key != key:
        raise JqError("Cannot set array element at NaN index")
    at = floor_index(key)
    if at < 0:
        at += len(items)
        if at < 0:
            raise JqError("Out of bounds negative array index")
    if at >= len(items):
        if at > MAX_INDEX:
            raise JqError("Array index too large")
        if at - len(items) > BIG:
            reserve(at * 8)
        items.extend([None] * (at + 1 - len(items)))
    items[at] = new
    return items


def bad_key(value: Any, key: Any) -> JqError:
    """What is wrong with `key` for a value of this type (for reading and for writing)."""
    if type(value) is str and type(key) is dict:
        return JqError("Cannot update string slices")
    if type(key) is dict and type(value) is not dict:
        return JqError(f"Cannot update field at object index of {kind(value)}")
    if type(key) is list and type(value) is list:
        return JqError("Cannot update field at array index of array")
    if type(key) is str:
        return JqError(f'Cannot index {kind(value)} with string "{key}"')
    return JqError(f"Cannot index {kind(value)} with {kind(key)}")


def set_path(value: Any, path: Sequence[Any], new: Any) -> Any:
    return _set_path(value, path, 0, new)


def _set_path(value: Any, path: Sequence[Any], at: int, new: Any) -> Any:
    if at == len(path):
        return new
    if at > MAX_DEPTH:
        raise JqError("Path too deep")
    key = path[at]
    if at + 1 == len(path):
        return set_index(value, key, new)
    return set_index(value, key, _set_path(get_child(value, key), path, at + 1, new))


def get_child(value: Any, key: Any) -> Any:
    return index(value, key) if value is not None else None


def delete_paths(value: Any, paths: Any) -> Any:
    """`value` without what the paths name; longer and later ones go first."""
    for path in reversed(sorted_values(paths)):
        if type(path) is not list:
            raise JqError(f"Path must be specified as array, not {kind(path)}")
        value = delete_path(value, path, 0)
    return value


def delete_path(value: Any, path: Sequence[Any], at: int) -> Any:
    if at == len(path):
        return None
    if value is None:
        return None
    key = path[at]
    if at + 1 == len(path):
        return delete_key(value, key)
    child = index(value, key)
    if child is None:
        return value
    return set_index(value, key, delete_path(child, path, at + 1))


def delete_key(value: Any, key: Any) -> Any:
    tv, tk = type(value), type(key)
    if tv is dict:
        if tk is not str:
            raise JqError(f"Cannot index object with {kind(key)}")
        if key not in value:
            return value
        result = dict(value)
        del result[key]
        return result
    if tv is list:
        if tk is dict:
            start, stop = bounds(len(value), key.get("start"), key.get("end"))
            return value[:start] + value[stop:]
        if is_number(key):
            place = floor_index(key)
            if place < 0:
                place += len(value)
            return value[:place] + value[place + 1:] if 0 <= place < len(value) else value
        raise JqError(f"Cannot delete {kind(key)} element of array")
    raise JqError(f"Cannot delete fields from {kind(value)}")


def contains(a: Any, b: Any) -> bool:
    """Does `a` contain `b` (objects and arrays part by part, strings as substrings)?"""
    ta, tb = type(a), type(b)
    if ta is dict and tb is dict:
        return all(key in a and contains(a[key], item) for key, item in b.items())
    if ta is list and tb is list:
        return all(any(same_kind(x, y) and contains(x, y) for x in a) for y in b)
    if ta is str and tb is str:
        return b in a
    if same_kind(a, b):
        return equal(a, b)
    raise mismatch(a, b, "cannot have their containment checked")


def same_kind(a: Any, b: Any) -> bool:
    return kind(a) == kind(b)
