"""The running awk program: its special variables, conversions, and the flow of records.

Generated code reads the attributes and calls the methods of one Runtime (`rt`). Parts: fields.py (the record and its
fields), redirection.py (files, pipes, getline), library.py (builtin functions).
"""
from __future__ import annotations

from mirage.commands.awk.arrays import ORDERS, sorted_keys, walk_order
from mirage.commands.awk.errors import ExitProgram, Fatal, NextFile, NextRecord
from mirage.commands.awk.fields import Fields
from mirage.commands.awk.formatting import Formatter
from mirage.commands.awk.library import Library
from mirage.commands.awk.redirection import Redirection
from mirage.commands.awk.regexes import Matcher, RegexError
from mirage.commands.awk.values import (
    UNSET,
    Array,
    StrNum,
    Unset,
    input_value,
    integral_text,
    key_text,
    non_decimal,
    number_of,
    to_number,
    truth,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mirage.process.process import Process

BUDGET = 2000
NUMERIC = frozenset(("NR", "FNR", "RSTART", "RLENGTH", "ARGIND"))
TEXTUAL = frozenset(("OFS", "ORS", "SUBSEP", "CONVFMT", "OFMT"))
DEEP_EVERY = 60
MAX_CALLS = 100_000
MEMORY_EVERY = 8
ELEMENT_SIZE = 150                                           # bytes of an array element, roughly
BIG = 1 << 16


class Runtime(Fields, Redirection, Library):
    """State of one run. `set_NAME` assigns a special variable and gives the value back."""

    unset = UNSET
    array_type = Array
    number = staticmethod(number_of)
    text_number = staticmethod(to_number)
    truth = staticmethod(truth)

    def __init__(self, process: Process, *, encoding: str = "utf-8", posix: bool = False,
                 non_decimal_data: bool = False, fold_case: bool = False) -> None:
        self.process = process
        self.encoding = encoding
        self.posix = posix
        self.budget = BUDGET
        self._checks = 0
        self._arrays: list[Array] = []
        self.depth = 0
        self.exit_status = 0
        self.exiting = False
        self.rule = "BEGIN"
        self.ranges: list[bool] = []
        self.rules: dict[str, list[Callable[[], Any]]] = {}
        self.functions: dict[str, Callable[..., Any]] = {}
        self.set_global: Callable[[str, Any], None] = lambda name, value: None
        self.get_global: Callable[[str], Any] = lambda name: UNSET
        self.global_names: set[str] = set()
        self.array_names: set[str] = set()
        self._matchers: dict[str, Matcher] = {}
        self.input_value = input_value if not non_decimal_data else hexadecimal_value
        self.NR = self.FNR = 0.0
        self.OFS: Any = " "
        self.ORS: Any = "\n"
        self.SUBSEP: Any = "\x1c"
        self.CONVFMT: Any = "%.6g"
        self.OFMT: Any = "%.6g"
        self.RSTART = 0.0
        self.RLENGTH = 0.0
        self.FILENAME: Any = ""
        self.IGNORECASE: Any = 1.0 if fold_case else 0.0
        self.RT: Any = ""
        self.ERRNO: Any = ""
        self.ARGC: Any = 0.0
        self.ARGIND = 0.0
        self.BINMODE: Any = 0.0
        self.LINT: Any = 0.0
        self.TEXTDOMAIN: Any = "messages"
        self.format = Formatter(number_of, self.text, process.kernel.fits).format
        self.start_fields()
        self.start_redirection()
        self.start_library()

    def set_special(self, name: str, value: Any) -> Any:
        """Assign one of the special variables that nothing else depends on."""
        if name in NUMERIC:
            setattr(self, name, number_of(value))
        else:
            setattr(self, name, self.text(value) if name in TEXTUAL else value)
        return value

    # ---- conversions

    def text(self, value: Any) -> str:
        """A value as text, numbers by CONVFMT."""
        if type(value) is float:
            text = key_text(value)
            return text if text is not None else self.by_format(value, self.CONVFMT)
        if type(value) is Array:
            raise Fatal("attempt to use an array in a scalar context")
        plain: str = value
        return plain

    def number_text(self, value: float) -> str:
        text = key_text(value)
        return text if text is not None else self.by_format(value, self.CONVFMT)

    number_key = number_text

    def key(self, value: Any) -> str:
        """A value as a subscript."""
        if type(value) is float:
            return self.number_text(value)
        if type(value) is Array:
            raise Fatal("attempt to use an array in a scalar context")
        return str.__str__(value)

    def number_output(self, value: float) -> str:
        """A number as print shows it."""
        text = integral_text(value)
        return text if text is not None else self.by_format(value, self.OFMT)

    def value_output(self, value: Any) -> str:
        return self.number_output(value) if type(value) is float else self.text(value)

    def by_format(self, value: float, form: Any) -> str:
        return f"{value:.6g}" if form == "%.6g" else self.format(str(form), [value])

    def big(self, text: str) -> str:
        """A long string that was just made: the next like it must fit too."""
        self.process.kernel.fits(len(text) * 2)
        return text

    # ---- comparison

    def _both_numbers(self, a: Any, b: Any) -> bool:
        ta, tb = type(a), type(b)
        return (ta is float or ta is StrNum or ta is Unset) and (tb is float or tb is StrNum or tb is Unset) and not (
            ta is Unset and tb is Unset)

    def order_of(self, a: Any, b: Any) -> int:
        if self._both_numbers(a, b):
            x, y = number_of(a), number_of(b)
            if x != x or y != y:
                return self._order_with_nan(x, y)
            return (x > y) - (x < y)
        x_text, y_text = self.text(a), self.text(b)
        if self.IGNORECASE:
            x_text, y_text = x_text.casefold(), y_text.casefold()
        return (x_text > y_text) - (x_text < y_text)

    @staticmethod
    def _order_with_nan(x: float, y: float) -> int:
        """NaN is equal to itself and greater than every number."""
        return (x != x) - (y != y)

    def less(self, a: Any, b: Any) -> bool:
        if type(a) is float and type(b) is float:
            return a < b
        return self.order_of(a, b) < 0

    def less_equal(self, a: Any, b: Any) -> bool:
        if type(a) is float and type(b) is float:
            return a <= b
        return self.order_of(a, b) <= 0

    def greater(self, a: Any, b: Any) -> bool:
        if type(a) is float and type(b) is float:
            return a > b
        return self.order_of(a, b) > 0

    def greater_equal(self, a: Any, b: Any) -> bool:
        if type(a) is float and type(b) is float:
            return a >= b
        return self.order_of(a, b) >= 0

    def equal(self, a: Any, b: Any) -> bool:
        if type(a) is float and type(b) is float:
            return a == b
        return self.order_of(a, b) == 0

    def not_equal(self, a: Any, b: Any) -> bool:
        return not self.equal(a, b)

    def compare_text(self, op: str, a: str, b: str) -> bool:
        if self.IGNORECASE:
            a, b = a.casefold(), b.casefold()
        order = (a > b) - (a < b)
        return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0, "==": order == 0,
                "!=": order != 0}[op]

    def case_number(self, value: Any, number: float) -> bool:
        return (type(value) is float or type(value) is StrNum) and number_of(value) == number

    def case_text(self, value: Any, text: str) -> bool:
        return type(value) is not float and str.__str__(value) == text

    # ---- arithmetic

    def divide(self, a: float, b: float, where: str = "") -> float:
        if b == 0.0:
            raise Fatal("division by zero attempted" + where)
        return a / b

    def chain(self, value: float, links: list[tuple[str, float]]) -> float:
        """A long sum or product, from left to right."""
        for op, operand in links:
            value = value + operand if op == "+" else value - operand if op == "-" else value * operand
        return value

    def modulo(self, a: float, b: float, where: str = " in `%'") -> float:
        if b == 0.0:
            raise Fatal("division by zero attempted" + where)
        from math import fmod
        try:
            return fmod(a, b)
        except ValueError:
            return float("nan")

    def power(self, a: float, b: float) -> float:
        from math import pow
        try:
            return pow(a, b)
        except OverflowError:
            return float("-inf") if a < 0 and b % 2 == 1 else float("inf")
        except ValueError:
            return float("inf") if a == 0 else float("nan")

    # ---- arrays

    def initial_array(self, name: str) -> Array:
        """What a global array holds at the start."""
        array = self._special_array(name)
        self._arrays.append(array)
        return array

    def _special_array(self, name: str) -> Array:
        if name == "ENVIRON":
            return Array((key, self.input_value(value)) for key, value in self.process.env.items())
        if name == "ARGV":
            return self.argv
        return self.procinfo if name == "PROCINFO" else Array()

    def store(self, value: Any, array: Array, key: str) -> Any:
        array[key] = value
        return value

    def subarray(self, array: Array, key: str) -> Array:
        """The array that is an element of `array`, made where there is nothing."""
        inner = array[key]
        if type(inner) is not Array:
            if type(inner) is not Unset:
                raise Fatal(f'attempt to use scalar `["{key}"]\' as an array')
            inner = array[key] = Array()
        return inner

    def need_array(self, value: Any, name: str) -> Array:
        """An array parameter that was not given, or was given something else."""
        if value is None or type(value) is Unset:
            return Array()
        if type(value) is Array:
            return value
        raise Fatal(f"attempt to use scalar parameter `{name}' as an array")

    def array_as_scalar(self, name: str) -> Any:
        raise Fatal(f"attempt to use array `{name}' in a scalar context")

    def scalar_as_array(self, name: str) -> Any:
        raise Fatal(f"attempt to use scalar `{name}' as an array")

    def order(self, array: Array) -> list[str]:
        """The keys of an array as `for` walks it: gawk's order, or PROCINFO["sorted_in"]."""
        if type(array) is not Array:
            raise Fatal("attempt to use a scalar value as array")
        if "sorted_in" not in self.procinfo:
            return walk_order(array)
        how = self.text(self.procinfo["sorted_in"])
        if not how or how == "@unsorted":
            return walk_order(array)
        if how in ORDERS:
            return sorted_keys(array, how, self.text, None)
        return sorted_keys(array, how, self.text, self.comparison_function(how))

    def comparison_function(self, name: str) -> Callable[..., float]:
        function = self.functions.get(name)
        if function is None:
            raise Fatal(f"sort comparison function `{name}' is not defined")
        compare: Callable[..., Any] = function
        return lambda *args: number_of(compare(*args))

    # ---- regular expressions

    def matcher(self, source: str) -> Matcher:
        found = self._matchers.get(source)
        if found is None:
            if len(self._matchers) > 500:
                self._matchers.clear()
            try:
                found = Matcher(source, truth(self.IGNORECASE), self.encoding)
            except RegexError as e:
                raise Fatal(f"invalid regexp: {e}: /{source}/") from None
            self._matchers[source] = found
        return found

    # ---- calls

    def check(self) -> None:
        """Every BUDGET turns of loops, calls and records: other processes, signals, and the size of arrays."""
        self.budget = BUDGET
        self._checks += 1
        if self._checks % MEMORY_EVERY == 0:
            self.process.kernel.fits(sum(map(len, self._arrays)) * ELEMENT_SIZE)
        self.process.check()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A recursive function: every few levels on a greenlet of its own, so that the stack does not grow."""
        self.depth += 1
        self.budget -= 1
        if self.budget < 0:
            self.check()
        if self.depth % DEEP_EVERY == 0:
            if self.depth > MAX_CALLS:
                raise Fatal("function calls are nested too deeply")
            result = self.process.kernel.call_deep(lambda: function(*arguments))
        else:
            result = function(*arguments)
        self.depth -= 1
        return result

    def indirect(self, name: str, arguments: list[Any]) -> Any:
        function = self.functions.get(name)
        if function is None:
            return self.indirect_builtin(name, arguments)
        return self.call(function, *arguments)

    # ---- flow

    def exit(self, status: float | None) -> None:
        if status is not None:
            self.exit_status = int(status) if status == status and abs(status) < 2 ** 31 else 0
        raise ExitProgram

    def next_record_from_function(self) -> None:
        if self.rule not in ("main",):
            raise Fatal(f"`next' cannot be called from a `{self.rule}' rule")
        raise NextRecord

    def skip_file(self) -> None:
        if self.rule not in ("main", "BEGINFILE"):
            raise Fatal(f"`nextfile' cannot be called from a `{self.rule}' rule")
        raise NextFile

    def run(self) -> int:
        """All rules over all input; the exit status."""
        rules = self.rules
        try:
            for rule in rules["BEGIN"]:
                rule()
            if rules["main"] or rules["END"] or rules["BEGINFILE"] or rules["ENDFILE"]:
                self.rule = "main"
                self.main_loop()
        except ExitProgram:
            self.exiting = True
        self.rule = "END"
        self.depth = 0
        try:
            for rule in rules["END"]:
                rule()
        except ExitProgram:
            pass
        return self.exit_status

    def main_loop(self) -> None:
        next_record = self.next_record
        main = self.rules["main"][0] if self.rules["main"] else None
        while True:
            try:
                if main is None:
                    while next_record():
                        pass
                else:
                    while next_record():
                        main()
                        self.split_records(main)
                return
            except NextRecord:
                self.depth = 0
            except NextFile:
                self.depth = 0
                self.close_input()


def hexadecimal_value(text: str) -> str:
    """input_value with -n: 0x.. and 0.. are numbers too."""
    number = non_decimal(text.strip(" \t\n"))
    if number is None:
        return input_value(text)
    result = StrNum(text)
    result.num = number
    return result
