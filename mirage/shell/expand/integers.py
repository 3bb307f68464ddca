"""Arithmetic on ordinary variables: fast, as `Shell.vars` keeps the number that was computed, not its text.

Every closure looks its variable up itself and leaves what is unusual (texts, attributes, unset) to `number_in` and
`store`.
"""

from __future__ import annotations

import operator

from mirage.shell.arith import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from mirage.shell.control import ShellError
    from mirage.shell.state import Shell

    Value: TypeAlias = Callable[[Shell], int]

LOW, HIGH = -(1 << 63), (1 << 63) - 1
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def unbound(sh: Shell, name: str) -> ShellError:
    return sh.fail(f"{name}: unbound variable", sh.fatal_status(), True)


def number_in(sh: Shell, name: str, value: Any) -> int:
    """The number of the variable `name`, whose entry in `vars` is `value`; a decimal text becomes its number there."""
    if value.__class__ is int:
        known: int = value
        return known
    if value.__class__ is str:
        if value.isdigit() and value.isascii() and len(value) < 19 and (value[0] != "0" or len(value) == 1):
            number = sh.vars[name] = int(value)
            return number
        text: str = value
    else:
        found = None if value is None else sh.scalar(name, value)
        if found is None:
            if sh.options.nounset:
                raise unbound(sh, name)
            return 0
        text = found
    from mirage.shell.expand.arith import number_of

    return number_of(sh, text)


def store(sh: Shell, name: str, number: int) -> None:
    names = sh.vars
    kind = names.get(name).__class__
    if (kind is int or kind is str) and not sh.options.allexport:
        names[name] = number
    else:
        sh.set(name, str(number))


def read(name: str) -> Value:
    def variable(sh: Shell) -> int:
        value: Any = sh.vars.get(name)
        if value.__class__ is not int:
            value = number_in(sh, name, value)
        number: int = value
        return number

    return variable


def step(name: str, by: int, after: bool) -> Value:
    """``x++`` and its kin; `after`: the value is that before the step."""

    def stepped(sh: Shell) -> int:
        names: dict[str, Any] = sh.vars
        value = names.get(name)
        if value.__class__ is not int:
            value = number_in(sh, name, value)
        old: int = value
        new = old + by
        if not LOW <= new <= HIGH:
            new = wrap(new)
        if names.get(name).__class__ is int and not sh.options.allexport:
            names[name] = new
        else:
            store(sh, name, new)
        return old if after else new

    return stepped


def assign(name: str, value: Value) -> Value:
    """``name = value``."""

    def assigned(sh: Shell) -> int:
        number = value(sh)
        store(sh, name, number)
        return number

    return assigned


def add_to(name: str, value: Value) -> Value:
    """``name += value``."""

    def added(sh: Shell) -> int:
        names: dict[str, Any] = sh.vars
        old = names.get(name)
        if old.__class__ is not int:
            old = number_in(sh, name, old)
        number: int = old + value(sh)
        if not LOW <= number <= HIGH:
            number = wrap(number)
        if names.get(name).__class__ is int and not sh.options.allexport:
            names[name] = number
        else:
            store(sh, name, number)
        return number

    return added


def plus_constant(name: str, constant: int) -> Value:
    """``name + constant``."""

    def plus(sh: Shell) -> int:
        value: Any = sh.vars.get(name)
        if value.__class__ is not int:
            value = number_in(sh, name, value)
        number: int = value + constant
        return number if LOW <= number <= HIGH else wrap(number)

    return plus


def plus_variable(name: str, other: str) -> Value:
    """``name + other``."""

    def plus(sh: Shell) -> int:
        names: dict[str, Any] = sh.vars
        value = names.get(name)
        if value.__class__ is not int:
            value = number_in(sh, name, value)
        second = names.get(other)
        if second.__class__ is not int:
            second = number_in(sh, other, second)
        number: int = value + second
        return number if LOW <= number <= HIGH else wrap(number)

    return plus


def compare(op: str, name: str, constant: int) -> Value:
    """``name < constant`` and the like."""
    holds = COMPARISONS[op]

    def compared(sh: Shell) -> int:
        value: Any = sh.vars.get(name)
        if value.__class__ is not int:
            value = number_in(sh, name, value)
        return 1 if holds(value, constant) else 0

    return compared
