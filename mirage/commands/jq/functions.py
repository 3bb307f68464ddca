"""Builtin functions that map one value and their arguments' values to one value, by `name/arity`."""
from __future__ import annotations

from mirage.commands.jq import dates, mathematics
from mirage.commands.jq.decode import loads
from mirage.commands.jq.encode import dumps
from mirage.commands.jq.errors import JqError, ParseError
from mirage.commands.jq.formats import format_text, text
from mirage.commands.jq.numbers import EXACT
from mirage.commands.jq.values import (
    add,
    compare,
    contains,
    delete_paths,
    described,
    get_path,
    index,
    indexes_of_list,
    is_number,
    iterate,
    kind,
    mismatch,
    reserve,
    set_path,
    sort_key,
    sorted_values,
    split,
    unfit,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def length(value: Any) -> Any:
    if type(value) in (str, list, dict):
        return len(value)
    if value is None:
        return 0
    if is_number(value):
        return abs(value) if type(value) is int else mathematics.fabs(value)
    raise unfit(value, "has no length")


def utf8_length(value: Any) -> int:
    if type(value) is not str:
        raise unfit(value, "only strings have UTF-8 byte length")
    return len(value.encode())


def keys(value: Any) -> list[Any]:
    if type(value) is dict:
        return sorted(value)
    return keys_unsorted(value)


def keys_unsorted(value: Any) -> list[Any]:
    if type(value) is dict:
        return list(value)
    if type(value) is list:
        return list(range(len(value)))
    raise unfit(value, "has no keys")


def has(value: Any, key: Any) -> bool:
    if type(value) is dict and type(key) is str:
        return key in value
    if type(value) is list and is_number(key):
        return bool(0 <= key < len(value))
    if value is None:
        return False
    raise JqError(f"Cannot check whether {kind(value)} has a {kind(key)} key")


def add_all(value: Any) -> Any:
    items = list(iterate(value))
    kinds = set(map(type, items))
    if kinds == {str}:
        reserve(sum(map(len, items)))
        return "".join(items)
    if kinds == {int}:
        total = sum(items)
        if -EXACT <= total <= EXACT and all(-EXACT <= item <= EXACT for item in items):
            return total
    if kinds == {list}:
        joined: list[Any] = []
        for item in items:
            joined += item
        return joined
    if kinds == {dict}:
        merged: dict[str, Any] = {}
        for item in items:
            merged.update(item)
        return merged
    result: Any = None
    for item in items:
        result = add(result, item)
    return result


def to_number(value: Any) -> Any:
    if is_number(value):
        return value
    if type(value) is not str:
        raise unfit(value, "cannot be parsed as a number")
    result = from_json(value)
    if not is_number(result):
        raise unfit(value, "cannot be parsed as a number")
    return result


def from_json(value: Any) -> Any:
    if type(value) is not str:
        raise unfit(value, "only strings can be parsed")
    try:
        return loads(value)
    except ParseError as e:
        raise JqError(f"{e} (while parsing '{value}')") from None


def starts_with(value: Any, prefix: Any) -> bool:
    if type(value) is not str or type(prefix) is not str:
        raise JqError("startswith() requires string inputs")
    return value.startswith(prefix)


def ends_with(value: Any, suffix: Any) -> bool:
    if type(value) is not str or type(suffix) is not str:
        raise JqError("endswith() requires string inputs")
    return value.endswith(suffix)


def strip_left(value: Any, prefix: Any) -> Any:
    return value.removeprefix(prefix) if type(value) is str and type(prefix) is str else value


def strip_right(value: Any, suffix: Any) -> Any:
    return value.removesuffix(suffix) if type(value) is str and type(suffix) is str else value


def _trimmer(function: Callable[[str], str]) -> Callable[[Any], str]:
    def trim(value: Any) -> str:
        if type(value) is not str:
            raise unfit(value, "trim input must be a string")
        return function(value)

    return trim


WHITE = " \t\n\v\f\r"


def split_text(value: Any, separator: Any) -> list[Any]:
    if type(value) is not str or type(separator) is not str:
        raise JqError("split input and separator must be strings")
    return split(value, separator)


def join(value: Any, separator: Any) -> Any:
    items = list(iterate(value))
    if not items:
        return ""
    if type(separator) is str and all(type(item) is str for item in items):
        reserve(sum(map(len, items)) + len(separator) * len(items))
        return separator.join(items)
    result: Any = None
    for item in items:
        before = "" if result is None else add(result, separator)
        if type(item) is bool or is_number(item):
            item = text(item)
        elif item is None:
            item = ""
        result = add(before, item)
    return result if result is not None and result is not False else ""


def explode(value: Any) -> list[int]:
    if type(value) is not str:
        raise JqError("explode input must be a string")
    return [ord(c) for c in value]


def implode(value: Any) -> str:
    if type(value) is not list:
        raise JqError("implode input must be an array")
    out = []
    for code in value:
        if not is_number(code) or code != code:
            raise unfit(code, "can't be imploded, unicode codepoint needs to be numeric")
        number = int(max(-1.0, min(code, 2.0 ** 31)))
        out.append(chr(number) if 0 <= number < 0xD800 or 0xE000 <= number <= 0x10FFFF else "\ufffd")
    return "".join(out)


def _letters(low: str, high: str, shift: int) -> Callable[[Any], str]:
    table = {code: code + shift for code in range(ord(low), ord(high) + 1)}

    def convert(value: Any) -> str:
        if type(value) is not str:
            raise JqError("explode input must be a string")
        return value.translate(table)

    return convert


def to_entries(value: Any) -> list[Any]:
    if type(value) is dict:
        return [{"key": key, "value": item} for key, item in value.items()]
    return [{"key": key, "value": value[key]} for key in keys_unsorted(value)]


def from_entries(value: Any) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for entry in iterate(value):
        key = None
        for name in ("key", "Key", "name", "Name"):
            key = index(entry, name)
            if key is not None and key is not False:
                break
        else:
            key = None if key is False else key
        if type(key) is not str:
            raise JqError(f"Cannot use {described(key)} as object key")
        result[key] = entry["value"] if "value" in entry else entry.get("Value")
    return result


def reverse(value: Any) -> Any:
    if type(value) is str:
        return [index(value, 0)] if value else []
    if value is None:
        return []
    if type(value) is list:
        return value[::-1]
    return [index(value, length(value) - 1 - n) for n in range(int(length(value)))]


def indices(value: Any, wanted: Any) -> Any:
    if type(value) is list:
        return indexes_of_list(value, wanted if type(wanted) is list else [wanted])
    if type(value) is str and type(wanted) is str:
        return positions(value, wanted)
    return index(value, wanted)


def positions(value: str, wanted: str) -> list[int]:
    """Offsets in bytes, as jq 1.7 counts."""
    found: list[int] = []
    if wanted:
        data, piece = value.encode("utf-8", "surrogatepass"), wanted.encode("utf-8", "surrogatepass")
        at = data.find(piece)
        while at >= 0:
            found.append(at)
            at = data.find(piece, at + 1)
    return found


def first_index(value: Any, wanted: Any) -> Any:
    return index(indices(value, wanted), 0)


def last_index(value: Any, wanted: Any) -> Any:
    found = indices(value, wanted)
    return index(found, -1) if found is not None else None


def flatten(value: Any, depth: Any = 1e9) -> list[Any]:
    if is_number(depth) and depth < 0:
        raise JqError("flatten depth must not be negative")
    levels = depth if is_number(depth) else 1e9
    out: list[Any] = []
    stack = [(iter(iterate(value)), levels)]
    while stack:
        items, left = stack[-1]
        for item in items:
            if type(item) is list and left != 0:
                stack.append((iter(item), left - 1))
                break
            out.append(item)
        else:
            stack.pop()
    return out


def need_array(value: Any, what: str = "cannot be sorted, as it is not an array") -> list[Any]:
    if type(value) is not list:
        raise unfit(value, what)
    return value


def sort(value: Any) -> list[Any]:
    return sorted_values(need_array(value))


def group_pairs(items: list[Any], results: list[Any]) -> list[tuple[Any, list[Any]]]:
    """(key, members) of items that have equal keys, in the order of the keys."""
    order = sorted(zip(map(sort_key, results), range(len(items)), strict=True))
    groups: list[tuple[Any, list[Any]]] = []
    last: Any = None
    for key, place in order:
        if groups and key == last and not _holds_nan(key):
            groups[-1][1].append(items[place])
        else:
            groups.append((results[place], [items[place]]))
        last = key
    return groups


def _holds_nan(key: Any) -> bool:
    return bool(key[0] == 3 and key[1] == float("-inf"))


def unique(value: Any) -> list[Any]:
    items = list(iterate(value))
    if type(value) is not list:
        raise mismatch(value, [[item] for item in items], "cannot be sorted, as they are not both arrays")
    if set(map(type, items)) == {str}:
        return sorted(set(items))
    return [members[0] for _, members in group_pairs(items, items)]


def least(value: Any) -> Any:
    if type(value) is not list:
        raise mismatch(value, value, "cannot be iterated over")
    return extreme(value, value, -1)


def greatest(value: Any) -> Any:
    if type(value) is not list:
        raise mismatch(value, value, "cannot be iterated over")
    return extreme(value, value, 1)


def extreme(items: list[Any], results: list[Any], sign: int) -> Any:
    """The item with the least (sign -1: the first of equals) or greatest (1: the last) key."""
    best, best_key = None, None
    for n, item in enumerate(items):
        if n == 0 or (compare(results[n], best_key) >= 0 if sign > 0 else compare(results[n], best_key) < 0):
            best, best_key = item, results[n]
    return best


def transpose(value: Any) -> list[Any]:
    rows = need_array(value, "cannot be transposed")
    width = max((int(length(row)) for row in rows), default=0)
    return [[index(row, n) for row in rows] for n in range(width)]


def inside(value: Any, outer: Any) -> bool:
    return contains(outer, value)


def binary_search(value: Any, target: Any) -> int:
    items = value if type(value) is list else [index(value, n) for n in range(int(length(value)))]
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        order = compare(items[middle], target)
        if order == 0:
            return middle
        if order < 0:
            low = middle + 1
        else:
            high = middle
    return -1 - low


def get(value: Any, path: Any) -> Any:
    if type(path) is not list:
        raise JqError("Path must be specified as an array")
    return get_path(value, path)


def put(value: Any, path: Any, new: Any) -> Any:
    if type(path) is not list:
        raise JqError("Path must be specified as an array")
    return set_path(value, path, new)


def remove(value: Any, paths: Any) -> Any:
    if type(paths) is not list:
        raise JqError("Paths must be specified as an array")
    return delete_paths(value, paths)


def to_stream(value: Any) -> list[Any]:
    """The events of `tostream`."""
    events: list[Any] = []

    def visit(item: Any, path: list[Any], top: bool) -> None:
        pairs = list(item.items()) if type(item) is dict else list(enumerate(item)) if type(item) is list else []
        if not pairs:
            events.append([path, item])
        for key, inner in pairs:
            visit(inner, [*path, key], False)
        if pairs:
            events.append([[*path, pairs[-1][0]]])

    visit(value, [], True)
    return events


def ascii_text(value: Any) -> str:
    return implode([value])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "null/0": lambda v: None, "true/0": lambda v: True, "false/0": lambda v: False,
    "not/0": lambda v: v is None or v is False,
    "type/0": kind, "length/0": length, "utf8bytelength/0": utf8_length, "keys/0": keys,
    "keys_unsorted/0": keys_unsorted, "has/1": has, "contains/1": contains, "inside/1": inside, "add/0": add_all,
    "tostring/0": text, "tonumber/0": to_number, "tojson/0": dumps, "fromjson/0": from_json,
    "startswith/1": starts_with, "endswith/1": ends_with, "ltrimstr/1": strip_left, "rtrimstr/1": strip_right,
    "trim/0": _trimmer(lambda s: s.strip(WHITE)), "ltrim/0": _trimmer(lambda s: s.lstrip(WHITE)),
    "rtrim/0": _trimmer(lambda s: s.rstrip(WHITE)), "split/1": split_text, "join/1": join, "explode/0": explode,
    "implode/0": implode, "ascii/0": ascii_text, "ascii_downcase/0": _letters("A", "Z", 32),
    "ascii_upcase/0": _letters("a", "z", -32),
    "to_entries/0": to_entries, "from_entries/0": from_entries, "reverse/0": reverse, "indices/1": indices,
    "_indices/1": indices, "index/1": first_index, "rindex/1": last_index, "flatten/0": flatten, "flatten/1": flatten,
    "sort/0": sort, "unique/0": unique, "min/0": least, "max/0": greatest, "transpose/0": transpose,
    "bsearch/1": binary_search, "setpath/2": put, "delpaths/1": remove,
    "format/1": lambda v, name: format_text(name, v),
    "toarray/0": lambda v: v if type(v) is list else [v],
    "have_decnum/0": lambda v: True, "have_literal_numbers/0": lambda v: True,
    **mathematics.FUNCTIONS, **dates.FUNCTIONS,
}
