"""Executing bc: numbers are (integer, scale), worth integer / 10**scale."""
from __future__ import annotations

from math import isqrt

from mirage.commands._bc_language import BcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.commands._bc_language import Node
    from mirage.process.process import Process

    Number = tuple[int, int]

ZERO: tuple[int, int] = (0, 0)
ONE: tuple[int, int] = (1, 0)
MAX_DIGITS = 2_000_000
MAX_CALLS = 150
LINE = 70
LIBRARY = r"""
define e(x){auto a,b,c,d,e,f,i,m,n,v,z
a=ibase;ibase=A
z=scale
n=6+z+.44*x
scale=scale(x)+1
if(x<0){m=1;x=-x}
while(x>1){f+=1;x/=2;scale+=1}
scale=n
v=1+x
a[0]=x
e=1
d=x
c=1
for(i=2;1;i++){d=d*x;c=c*i;e=d/c
if(e==0){while(f--)v=v*v
scale=z
if(m)return(1/v)
return(v/1)}
v+=e}}
define l(x){auto e,f,i,m,n,v,z
if(x<=0)return((1-10^scale)/1)
z=scale
scale=6+scale
f=2
i=0
while(x>=2){f*=2;x=sqrt(x)}
while(x<=.5){f*=2;x=sqrt(x)}
v=n=(x-1)/(x+1)
m=n*n
for(i=3;1;i+=2){n*=m
e=n/i
if(e==0){v=f*v
scale=z
return(v/1)}
v+=e}}
define s(x){auto e,i,m,n,s,v,z
z=scale
scale=1.1*z+2
v=a(1)
if(x<0){m=1;x=-x}
scale=0
n=(x/v+2)/4
x=x-4*n*v
if(n%2)x=-x
scale=z+2
v=e=x
s=-x*x
for(i=3;1;i+=2){e*=s/(i*(i-1))
if(e==0){scale=z
if(m)return(-v/1)
return(v/1)}
v+=e}}
define c(x){auto v,z
z=scale
scale=scale*1.2
v=s(x+a(1)*2)
scale=z
return(v/1)}
define a(x){auto a,e,f,i,m,n,s,v,z
m=1
if(x<0){m=-1;x=-x}
if(x==1){if(scale<=25)return(.7853981633974483096156608/m)}
if(x==.2){if(scale<=25)return(.1973955598498807583700497/m)}
z=scale
if(x>.2){scale=z+5
a=a(.2)}
scale=z+3
while(x>.2){f+=1
x=(x-.2)/(1+x*.2)}
v=n=x
s=-x*x
for(i=3;1;i+=2){n*=s
e=n/i
if(e==0){scale=z
return((f*a+v)/m)}
v+=e}}
define j(n,x){auto a,d,e,f,i,m,s,v,z
z=scale
scale=0
n/=1
if(n<0){n=-n
if(n%2==1)m=1}
a=1
for(i=2;i<=n;i++)a*=i
scale=1.5*z
a=(x^n)/2^n/a
e=v=1
s=-x*x/4
scale+=length(a)-scale(a)
for(i=1;1;i++){e=e*s/i/(n+i)
if(e==0){scale=z
if(m)return(-a*v/1)
return(a*v/1)}
v+=e}}
"""


LIMITS = b"""BC_BASE_MAX     = 2147483647
BC_DIM_MAX      = 16777215
BC_SCALE_MAX    = 2147483647
BC_STRING_MAX   = 2147483647
MAX Exponent    = 9223372036854775807
Number of vars  = 32767
"""


class Halt(Exception):
    """The program ends."""


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Return(Exception):
    def __init__(self, value: tuple[int, int]) -> None:
        self.value = value


def digits(n: int) -> str:
    """Decimal digits of a natural number of any size, without Python's limit on such conversions."""
    if n.bit_length() < 13000:
        return str(n)
    half = n.bit_length() * 30103 // 200000
    high, low = divmod(n, 10 ** half)
    return digits(high) + digits(low).rjust(half, "0")


def from_digits(text: str) -> int:
    if len(text) <= 4000:
        return int(text or "0")
    half = len(text) // 2
    high: int = from_digits(text[:-half]) * 10 ** half
    return high + from_digits(text[-half:])


def truncate(value: int, scale: int, to: int) -> tuple[int, int]:
    """Fewer digits behind the point, towards zero."""
    if to >= scale:
        return value, scale
    factor = 10 ** (scale - to)
    return (value // factor if value >= 0 else -(-value // factor)), to


class Machine:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.scale = 0
        self.ibase = 10
        self.obase = 10
        self.last: Number = ZERO
        self.variables: dict[str, Number] = {}
        self.arrays: dict[str, dict[int, Number]] = {}
        self.functions: dict[str, tuple[list[tuple[str, bool]], list[tuple[str, bool]], list[Node]]] = {}
        self.voids: set[str] = set()
        self.calls = 0
        self.function = "(main)"
        self.column = 0

    def error(self, text: str) -> BcError:
        return BcError(text, self.function)

    # ---- statements

    def execute(self, code: list[Node]) -> None:
        try:
            for node in code:
                self.run(node)
        except (_Break, _Continue, _Return):
            pass

    def run(self, node: Node) -> None:
        self.proc.kernel.tick()
        kind = node[0]
        if kind == "value":
            value = self.evaluate(node[1])
            if not self.silent(node[1]):
                self.last = value
                self.print_number(value)
                self.newline()
        elif kind == "string":
            self.emit(node[1])
        elif kind == "print":
            for part in node[1]:
                if part[0] == "text":
                    self.emit(_unescape(part[1]))
                else:
                    self.last = self.evaluate(part)
                    self.print_number(self.last)
        elif kind == "block":
            for inner in node[1]:
                self.run(inner)
        elif kind == "if":
            if self.evaluate(node[1])[0]:
                self.run(node[2])
            elif node[3] is not None:
                self.run(node[3])
        elif kind in ("while", "for"):
            self.loop(node)
        elif kind == "define":
            self.functions[node[1]] = (node[2], node[3], node[4])
            (self.voids.add if node[5] else self.voids.discard)(node[1])
        elif kind == "return":
            raise _Return(self.evaluate(node[1]) if node[1] is not None else ZERO)
        elif kind == "break":
            raise _Break
        elif kind == "continue":
            raise _Continue
        elif kind == "limits":
            self.proc.stdout.write(LIMITS)
        elif kind == "halt":
            raise Halt

    def silent(self, node: Node) -> bool:
        """Assignments and void functions print nothing."""
        return node[0] == "assign" or node[0] == "call" and node[1] in self.voids

    def loop(self, node: Node) -> None:
        if node[0] == "while":
            condition, step, body = node[1], None, node[2]
        else:
            if node[1] is not None:
                self.evaluate(node[1])
            condition, step, body = node[2], node[3], node[4]
        while condition is None or self.evaluate(condition)[0]:
            try:
                self.run(body)
            except _Break:
                return
            except _Continue:
                pass
            if step is not None:
                self.evaluate(step)
            self.proc.kernel.tick()

    # ---- expressions

    def evaluate(self, node: Node) -> Number:
        kind = node[0]
        if kind == "number":
            return self.literal(node[1])
        if kind == "variable":
            return self.variables.get(node[1], ZERO)
        if kind == "binary":
            return self.binary(node[1], self.evaluate(node[2]), self.evaluate(node[3]))
        if kind == "group":
            return self.evaluate(node[1])
        if kind == "negative":
            value, scale = self.evaluate(node[1])
            return -value, scale
        if kind == "relation":
            return ONE if _compare(node[1], self.evaluate(node[2]), self.evaluate(node[3])) else ZERO
        if kind == "assign":
            return self.assign(node)
        if kind == "element":
            return self.arrays.get(node[1], {}).get(self.index(node[2]), ZERO)
        if kind == "special":
            return self.special(node[1])
        if kind in ("before", "after"):
            old = self.evaluate(node[2])
            new = self.binary(node[1], old, ONE)
            self.store(node[2], new)
            return new if kind == "before" else old
        if kind == "and":
            return ONE if self.evaluate(node[1])[0] and self.evaluate(node[2])[0] else ZERO
        if kind == "or":
            return ONE if self.evaluate(node[1])[0] or self.evaluate(node[2])[0] else ZERO
        if kind == "not":
            return ZERO if self.evaluate(node[1])[0] else ONE
        if kind == "call":
            return self.call(node[1], node[2])
        return self.builtin(node[1], node[2])

    def literal(self, text: str) -> Number:
        whole, _, fraction = text.partition(".")
        base = self.ibase
        if base == 10 and text.replace(".", "").isdecimal():
            return from_digits(whole + fraction), len(fraction)
        if len(whole) == 1 and not fraction:
            return int(whole, 16), 0
        value = 0
        for char in whole:
            digit = int(char, 16)
            value = value * base + (digit if len(whole) == 1 else min(digit, base - 1))
        numerator = 0
        for char in fraction:
            numerator = numerator * base + min(int(char, 16), base - 1)
        scale = len(fraction)
        return value * 10 ** scale + numerator * 10 ** scale // base ** scale, scale

    def special(self, name: str) -> Number:
        if name == "last":
            return self.last
        return {"scale": self.scale, "ibase": self.ibase, "obase": self.obase}[name], 0

    def index(self, node: Node) -> int:
        value, scale = self.evaluate(node)
        index = truncate(value, scale, 0)[0]
        if not 0 <= index < 16777216:
            raise self.error("Array index out of bounds.")
        return index

    def assign(self, node: Node) -> Number:
        _, operator, target, source = node
        value = self.evaluate(source)
        if operator:
            value = self.binary(operator, self.evaluate(target), value)
        self.store(target, value)
        return value

    def store(self, target: Node, value: Number) -> None:
        kind, name = target[0], target[1]
        if kind == "variable":
            self.variables[name] = value
        elif kind == "element":
            self.arrays.setdefault(name, {})[self.index(target[2])] = value
        elif name == "last":
            self.last = value
        else:
            number = truncate(value[0], value[1], 0)[0]
            if name == "scale":
                if not 0 <= number <= MAX_DIGITS:
                    self.proc.write_error("Runtime warning (func=(main), adr=0): "
                                          + ("negative scale, set to 0\n" if number < 0 else "scale too large\n"))
                    number = min(max(number, 0), MAX_DIGITS)
                self.scale = number
            elif name == "ibase":
                self.ibase = min(max(number, 2), 16)
            else:
                self.obase = min(max(number, 2), 1_000_000_000)

    def binary(self, operator: str, left: Number, right: Number) -> Number:
        a, a_scale = left
        b, b_scale = right
        if operator in "+-":
            scale = max(a_scale, b_scale)
            x, y = a * 10 ** (scale - a_scale), b * 10 ** (scale - b_scale)
            return (x + y if operator == "+" else x - y), scale
        if operator == "*":
            self.fits(a.bit_length() + b.bit_length())
            full = a_scale + b_scale
            return truncate(a * b, full, min(full, max(self.scale, a_scale, b_scale)))
        if operator == "^":
            return self.power(left, right)
        if not b:
            raise self.error("Divide by zero" if operator == "/" else "Modulo by zero")
        if operator == "/":
            return self.divide(left, right, self.scale)
        quotient, q_scale = self.divide(left, right, self.scale)
        scale = max(self.scale + b_scale, a_scale)
        product = quotient * b
        return truncate(a * 10 ** (scale - a_scale) - product * 10 ** max(0, scale - q_scale - b_scale), scale, scale)

    def divide(self, left: Number, right: Number, scale: int) -> Number:
        a, a_scale = left
        b, b_scale = right
        shift = scale + b_scale - a_scale
        self.fits(a.bit_length() + 4 * abs(shift))
        top, bottom = (abs(a) * 10 ** shift, abs(b)) if shift >= 0 else (abs(a), abs(b) * 10 ** -shift)
        value = top // bottom
        return (-value if (a < 0) != (b < 0) else value), scale

    def fits(self, bits: int) -> None:
        if bits > MAX_DIGITS * 4:
            raise self.error("Out of memory: number too large")
        if bits > 200_000:
            self.proc.check()

    def power(self, left: Number, right: Number) -> Number:
        base, base_scale = left
        exponent = truncate(right[0], right[1], 0)[0]
        if exponent == 0:
            return ONE
        count = abs(exponent)
        if base:
            self.fits((base.bit_length() - 1) * count if abs(base) > 1 else 0)
        if base_scale and count > MAX_DIGITS:
            raise self.error("exponent too large in raise")
        value = base ** count if abs(base) > 1 or count < 2 else (1 if base == 1 or not count % 2 and base == -1
                                                                  else base)
        if exponent > 0:
            full = base_scale * count
            return truncate(value, full, min(full, max(self.scale, base_scale)))
        if not base:
            raise self.error("Divide by zero")
        return self.divide(ONE, (value, base_scale * count), self.scale)

    def builtin(self, name: str, argument: Node | None) -> Number:
        if name == "read":
            text = self.proc.file(0).readline().decode("utf-8", "replace").strip()
            negative = text.startswith("-")
            value, scale = self.literal(text.lstrip("-") or "0")
            return (-value if negative else value), scale
        assert argument is not None
        value, scale = self.evaluate(argument)
        if name == "scale":
            return scale, 0
        if name == "length":
            return (max(len(digits(abs(value))), scale) if value else max(1, scale)), 0
        if value < 0:
            raise self.error("Square root of a negative number")
        if value in (0, 10 ** scale):                        # bc knows these two roots, without a fraction
            return int(value > 0), 0
        to = max(self.scale, scale)
        self.fits(value.bit_length() + 8 * to)
        shift = 2 * to - scale
        return isqrt(value * 10 ** shift if shift >= 0 else value // 10 ** -shift), to

    def call(self, name: str, arguments: list[Node]) -> Number:
        found = self.functions.get(name)
        if found is None:
            raise BcError(f"Function {name} not defined.", self.function)
        parameters, autos, body = found
        if len(parameters) != len(arguments):
            raise self.error("Parameter number mismatch")
        self.calls += 1
        if self.calls > MAX_CALLS:
            self.calls = 0
            raise self.error("Function call stack too deep")
        values: list[Any] = [dict(self.arrays.get(node[1], {})) if node[0] == "array" else self.evaluate(node)
                             for node in arguments]
        saved: list[tuple[str, bool, Any]] = []
        for name_, array in [*parameters, *autos]:
            saved.append((name_, array, self.arrays.get(name_) if array else self.variables.get(name_)))
        for (name_, array), value in zip(parameters, values):
            if array:
                self.arrays[name_] = value
            else:
                self.variables[name_] = value
        for name_, array in autos:
            if array:
                self.arrays[name_] = {}
            else:
                self.variables[name_] = ZERO
        outer, self.function = self.function, name
        base = self.ibase
        try:
            for node in body:
                self.run(node)
            return ZERO
        except _Return as e:
            return e.value
        finally:
            self.function, self.ibase = outer, base
            self.calls = max(0, self.calls - 1)
            for name_, array, old in reversed(saved):
                table: dict[str, Any] = self.arrays if array else self.variables
                if old is None:
                    table.pop(name_, None)
                else:
                    table[name_] = old

    # ---- output

    def emit(self, text: str) -> None:
        if text:
            self.proc.stdout.write(text.encode("utf-8", "surrogateescape"))
            self.column = 0 if text.endswith("\n") else self.column + len(text)

    def newline(self) -> None:
        self.proc.stdout.write(b"\n")
        self.column = 0

    def print_number(self, number: Number) -> None:
        text = self.shown(number)
        width = self.line_length()
        if not width or self.column + len(text) < width - 1:
            self.emit(text)
            return
        out, column = [], self.column
        for char in text:
            if column == width - 2:
                out.append("\\\n")
                column = 0
            out.append(char)
            column += 1
        self.proc.stdout.write("".join(out).encode())
        self.column = column

    def line_length(self) -> int:
        text = self.proc.env.get("BC_LINE_LENGTH", "")
        if text.isdecimal() and len(text) < 7:
            return int(text) if int(text) > 2 else 0
        return LINE

    def shown(self, number: Number) -> str:
        value, scale = number
        if not value:
            return "0"
        sign = "-" if value < 0 else ""
        value = abs(value)
        if self.obase == 10:
            text = digits(value)
            if not scale:
                return sign + text
            text = text.rjust(scale + 1, "0")
            whole, fraction = text[:-scale], text[-scale:]
            return f"{sign}{'' if whole == '0' else whole}.{fraction}"
        return sign + self.other_base(value, scale)

    def other_base(self, value: int, scale: int) -> str:
        base = self.obase
        unit = 10 ** scale
        whole, rest = divmod(value, unit)
        out: list[int] = []
        while whole:
            whole, digit = divmod(whole, base)
            out.append(digit)
        out.reverse()
        fraction: list[int] = []
        reached = 1
        while scale and reached < unit:
            rest *= base
            digit, rest = divmod(rest, unit)
            fraction.append(digit)
            reached *= base
        if base <= 16:
            text = "".join("0123456789ABCDEF"[d] for d in out)
            return text + ("." + "".join("0123456789ABCDEF"[d] for d in fraction) if fraction else "")
        width = len(str(base - 1))
        text = "".join(f" {d:0{width}d}" for d in out)
        return text + ("." + "".join(f"{' ' if n else ''}{d:0{width}d}" for n, d in enumerate(fraction)) if fraction
                       else "")


def _compare(operator: str, left: Number, right: Number) -> bool:
    scale = max(left[1], right[1])
    a: int = left[0] * 10 ** (scale - left[1])
    b: int = right[0] * 10 ** (scale - right[1])
    results = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
    return results[operator]


def _unescape(text: str) -> str:
    out, i = [], 0
    table = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "q": '"', "r": "\r", "t": "\t", "\\": "\\", "e": "\\"}
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            out.append(table.get(text[i + 1], ""))
            i += 2
        else:
            out.append(text[i])
            i += 1
    return "".join(out)
