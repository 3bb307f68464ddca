"""The order in which gawk walks an array, and its sorted orders.

gawk keeps integers from 0 in a tree (walked upwards), other integers and integers that would waste too much of the
tree in one hash table, all else in another; the tables come first. Their order depends on the hash functions and on
the order of insertion, which a dict keeps.
"""
from __future__ import annotations

from functools import cmp_to_key

from mirage.commands.awk.values import Array, StrNum, number_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

PRIMES = (13, 127, 1021, 8191, 16381, 32749, 65497, 131101, 262147, 524309, 1048583, 2097169, 4194319, 8388617,
          16777259, 33554467, 67108879, 134217757, 268435459, 536870923, 1073741827)
TEXT_CHAIN = 2
NUMBER_CHAIN = 10
TREE_BITS = 10
WASTE = 1 << (TREE_BITS + 1)
WORD = 0xFFFFFFFF


def walk_order(array: Array) -> list[str]:
    """The keys as `for (key in array)` meets them."""
    keys = list(array)
    if len(keys) < 2:
        return keys
    tree: list[int] = []
    numbers: list[int] = []
    texts: list[str] = []
    shape: str | None = None                                 # tree, numbers or texts: what the first key chose
    other: str | None = None                                 # what holds the keys that the tree does not take
    capacity = 0
    leaves: set[tuple[int, int]] = set()
    for key in keys:
        number = integer_key(key)
        if shape is None:
            shape = "texts" if number is None else "tree" if number >= 0 else "numbers"
        if shape == "tree" and number is not None and number >= 0:
            leaf, size, estimate = leaf_of(number)
            if leaf in leaves or capacity + estimate - len(tree) <= WASTE:
                if leaf not in leaves:
                    leaves.add(leaf)
                    capacity += size
                tree.append(number)
                continue
        if shape == "texts":
            texts.append(key)
            continue
        if shape == "tree" and other is None:
            other = "texts" if number is None else "numbers"
        if number is not None and other != "texts":
            numbers.append(number)
        else:
            texts.append(key)
    ordered = hashed(texts, text_hash, TEXT_CHAIN)
    if numbers:
        ordered += [str(number) for number in hashed_numbers(numbers)]
    tree.sort()
    return ordered + [str(number) for number in tree]


def integer_key(key: str) -> int | None:
    """The number that a key stands for, where it is written as gawk would write it and has 32 bits."""
    size = len(key)
    if not size or size > 11:
        return None
    if key.isdecimal() and key.isascii():
        if key[0] == "0" and size > 1:
            return None
        value = int(key)
        return value if value <= 0x7FFFFFFF else None
    if key[0] == "-" and key[1:].isdecimal() and key.isascii() and key[1] != "0":
        value = int(key)
        return value if value >= -0x80000000 else None
    return None


def leaf_of(number: int) -> tuple[tuple[int, int], int, int]:
    """(leaf of the tree, its size, upper bound of the memory it may add)"""
    bits = number.bit_length() - 1
    top = TREE_BITS if bits < TREE_BITS else bits + 1
    power = top - 1
    estimate = max(power, TREE_BITS)
    while estimate >= TREE_BITS:
        estimate = (estimate + 1) // 2
    size_bits = ((TREE_BITS if power < TREE_BITS else power) + 1) // 2
    base = 0 if power < TREE_BITS else 1 << power
    while size_bits > TREE_BITS:
        base += (number - base) >> size_bits << size_bits
        size_bits = (size_bits + 1) // 2
    return (top, (number - base) >> size_bits if base == 0 or power >= TREE_BITS else 0), 1 << size_bits, 1 << estimate


def text_hash(key: str) -> int:
    """The sdbm hash of the bytes, in 32 bits."""
    value = 0
    for byte in key.encode("utf-8", "surrogateescape"):
        value = ((byte if byte < 128 else byte - 256) + value * 65599) & WORD
    return value


def number_hash(number: int) -> int:
    k = number & WORD
    k ^= (k << 3) & WORD
    k = (k + (k >> 5)) & WORD
    k ^= (k << 4) & WORD
    k = (k + (k >> 17)) & WORD
    k ^= (k << 25) & WORD
    return (k + (k >> 6)) & WORD


def hashed(keys: list[str], function: Callable[[str], int], chain: int) -> list[str]:
    """Keys in the order of a hash table with chains, newest first, that grows along PRIMES."""
    size = PRIMES[0]
    step = 0
    table: dict[int, list[tuple[int, str]]] = {}             # each chain: newest last
    for count, key in enumerate(keys, 1):
        code = function(key)
        if count // size > chain and step + 1 < len(PRIMES):
            step += 1
            size = PRIMES[step]
            grown: dict[int, list[tuple[int, str]]] = {}
            for place in sorted(table):
                for entry in reversed(table[place]):
                    grown.setdefault(entry[0] % size, []).append(entry)
            table = grown
        table.setdefault(code % size, []).append((code, key))
    return [key for place in sorted(table) for _, key in reversed(table[place])]


def hashed_numbers(numbers: list[int]) -> list[int]:
    """The same for integers, two of which share a bucket; only the newest bucket of a chain may be half full."""
    size, step = PRIMES[0], 0
    table: dict[int, list[list[int]]] = {}                   # each chain: newest bucket last

    def insert(number: int) -> None:
        buckets = table.setdefault(number_hash(number) % size, [])
        if not buckets or len(buckets[-1]) == 2:
            buckets.append([])
        buckets[-1].append(number)

    for count, number in enumerate(numbers, 1):
        if count // size > NUMBER_CHAIN and step + 1 < len(PRIMES):
            step += 1
            size = PRIMES[step]
            old, table = table, {}
            for place in sorted(old):
                for bucket in reversed(old[place]):
                    for item in bucket:
                        insert(item)
        insert(number)
    return [item for place in sorted(table) for bucket in reversed(table[place]) for item in bucket]


# ---- sorting

def value_rank(value: Any) -> int:
    """Numbers before strings before arrays."""
    if isinstance(value, Array):
        return 2
    return 0 if type(value) is float or type(value) is StrNum else 1


def by_type(text: Callable[[Any], str]) -> Callable[[Any], Any]:
    """Sort key of @val_type_asc and of asort: numbers, then strings, then arrays."""
    def key(value: Any) -> Any:
        rank = value_rank(value)
        return (rank, number_of(value)) if rank == 0 else (rank, text(value)) if rank == 1 else (rank,)

    return key


def sorted_keys(array: Array, order: str, text: Callable[[Any], str],
                call: Callable[..., float] | None) -> list[str]:
    """Keys in one of gawk's predefined orders, or by a user's function `call(i1, v1, i2, v2)`."""
    keys = walk_order(array)
    if call is not None:
        def compare(a: str, b: str) -> int:
            result = call(a, array[a], b, array[b])
            return -1 if result < 0 else 1 if result > 0 else 0

        return sorted(keys, key=cmp_to_key(compare))
    descending = order.endswith("_desc")
    if order.startswith("@ind_str"):
        keys.sort(reverse=descending)
    elif order.startswith("@ind_num"):
        keys.sort(key=lambda k: (number_of(k), k), reverse=descending)
    elif order.startswith("@val_num"):
        keys.sort(key=lambda k: ((1, 0.0, k) if isinstance(array[k], Array)
                                 else (0, number_of(array[k]), text(array[k]), k)), reverse=descending)
    elif order.startswith("@val_str"):
        keys.sort(key=lambda k: ((1, "", k) if isinstance(array[k], Array) else (0, text(array[k]), k)),
                  reverse=descending)
    elif order.startswith("@val_type"):
        rank = by_type(text)
        keys.sort(key=lambda k: (*rank(array[k]), k), reverse=descending)
    return keys


ORDERS = frozenset(f"@{what}_{way}" for what in ("ind_str", "ind_num", "val_num", "val_str", "val_type")
                   for way in ("asc", "desc")) | {"@unsorted"}


def numbered(items: Iterable[Any]) -> Array:
    return Array((str(n), item) for n, item in enumerate(items, 1))
