"""dc: the reverse-Polish desk calculator (GNU)."""
from __future__ import annotations

from math import isqrt

from mirage.commands._bc_machine import digits
from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import decode, encode, open_input, read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.process.process import Process

HELP = """Usage: dc [OPTION] [file ...]
  -e, --expression=EXPR    evaluate expression
  -f, --file=FILE          evaluate contents of file
  -h, --help               display this help and exit
  -V, --version            output version information and exit

Email bug reports to:  bug-dc@gnu.org .
"""
SPEC = Spec("e:f:hV", {"expression": ("e", REQUIRED), "file": ("f", REQUIRED), "help": ("h", NONE),
                       "version": ("V", NONE)}, help=HELP)
MAX_DIGITS = 1_000_000
MAX_DEPTH = 100_000


class DcError(Exception):
    """The operation is reported and skipped."""


class Quit(Exception):
    pass


class Number:
    """value / 10**scale."""

    __slots__ = ("scale", "value")

    def __init__(self, value: int, scale: int = 0) -> None:
        self.value = value
        self.scale = scale

    def to(self, scale: int) -> int:
        """The value at another scale, cut towards zero."""
        if scale >= self.scale:
            return int(self.value * 10 ** (scale - self.scale))
        quotient: int = abs(self.value) // 10 ** (self.scale - scale)
        return -quotient if self.value < 0 else quotient

    def whole(self) -> int:
        return self.to(0)


class Calculator:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.stack: list[Any] = []                            # Number or str
        self.registers: dict[str, list[Any]] = {}
        self.arrays: dict[str, list[dict[int, Any]]] = {}
        self.scale, self.ibase, self.obase = 0, 10, 10
        self.steps = 0

    # ---- stack

    def pop(self) -> Any:
        if not self.stack:
            raise DcError("stack empty")
        return self.stack.pop()

    def number(self) -> Number:
        value = self.pop()
        if not isinstance(value, Number):
            self.stack.append(value)
            raise DcError("non-numeric value")
        return value

    def two(self) -> tuple[Number, Number]:
        if len(self.stack) < 2:
            raise DcError("stack empty")
        if not isinstance(self.stack[-1], Number) or not isinstance(self.stack[-2], Number):
            raise DcError("non-numeric value")
        b, a = self.stack.pop(), self.stack.pop()
        return a, b

    def fits(self, bits: int) -> None:
        if bits > MAX_DIGITS * 4:
            raise DcError("out of memory: number too large")
        if bits > 100_000:
            self.proc.check()

    # ---- running

    def run(self, text: str) -> None:
        """Execute a program; macros are run without recursion, tail calls leave nothing behind."""
        frames: list[list[Any]] = [[text, 0]]                # text, position
        while frames:
            frame = frames[-1]
            if frame[1] >= len(frame[0]):
                frames.pop()
                continue
            self.steps += 1
            if not self.steps % 500:
                self.proc.check()
            try:
                macro = self.step(frame, frames)
            except DcError as e:
                self.proc.stdout.flush()
                self.proc.message(str(e))
                continue
            if macro is not None:
                if frame[1] >= len(frame[0]):
                    frames.pop()
                frames.append([macro, 0])
                if len(frames) > MAX_DEPTH:
                    self.proc.message("recursion too deep")
                    return

    def step(self, frame: list[Any], frames: list[list[Any]]) -> str | None:
        text, at = frame
        char = text[at]
        frame[1] = at + 1
        if char in "0123456789ABCDEF._":
            frame[1] = self.literal(text, at)
            return None
        if char == "[":
            frame[1] = self.string(text, at)
            return None
        if char == "#":
            end = text.find("\n", at)
            frame[1] = len(text) if end < 0 else end
            return None
        if char in " \t\n\r\f":
            return None
        if char in "sSlL:;":
            self.register(char, self.name(frame))
            return None
        if char in "<>=!":
            return self.conditional(char, frame)
        if char == "?":
            line = self.proc.file(0).readline().decode("utf-8", "surrogateescape")
            return line or None
        if char == "x":
            value = self.pop()
            if isinstance(value, str):
                return value
            self.stack.append(value)
            return None
        if char == "q":
            del frames[-1:]
            if not frames:
                raise Quit
            del frames[-1:]
            if not frames:
                raise Quit
            return None
        if char == "Q":
            count = self.number().whole()
            if count < 1:
                raise DcError("Q command requires a number >= 1")
            del frames[max(0, len(frames) - count):]
            return None
        self.command(char)
        return None

    def name(self, frame: list[Any]) -> str:
        text, at = frame
        if at >= len(text):
            raise DcError("unexpected end of input")
        frame[1] = at + 1
        return str(text[at])

    def literal(self, text: str, at: int) -> int:
        negative = text[at] == "_"
        at += negative
        start = at
        while at < len(text) and text[at] in "0123456789ABCDEF":
            at += 1
        whole, fraction = text[start:at], ""
        if at < len(text) and text[at] == ".":
            start = at = at + 1
            while at < len(text) and text[at] in "0123456789ABCDEF":
                at += 1
            fraction = text[start:at]
        self.fits((len(whole) + len(fraction)) * 4)
        scale = len(fraction)
        if self.ibase == 10 and not set(whole + fraction) & set("ABCDEF"):
            from mirage.commands._bc_machine import from_digits
            value = from_digits(whole + fraction)
        else:
            value = 0
            for digit in whole:
                value = value * self.ibase + int(digit, 16)
            numerator = 0
            for digit in fraction:
                numerator = numerator * self.ibase + int(digit, 16)
            value = value * 10 ** scale + numerator * 10 ** scale // self.ibase ** scale
        self.stack.append(Number(-value if negative else value, scale))
        return at

    def string(self, text: str, at: int) -> int:
        depth, start = 1, at + 1
        at += 1
        while at < len(text) and depth:
            depth += (text[at] == "[") - (text[at] == "]")
            at += 1
        self.stack.append(text[start:at - 1] if not depth else text[start:])
        return at

    def register(self, char: str, name: str) -> None:
        stack = self.registers.setdefault(name, [])
        if char == "s":
            value = self.pop()
            stack[-1:] = [value]
        elif char == "S":
            stack.append(self.pop())
        elif char == "l":
            if not stack:
                if char == "l":
                    self.stack.append(Number(0))
                return
            self.stack.append(stack[-1])
        elif char == "L":
            if not stack:
                raise DcError(f"stack register '{name}' ({ord(name):04o}) is empty")
            self.stack.append(stack.pop())
        elif char == ":":
            index = self.number().whole()
            value = self.pop()
            if index < 0:
                raise DcError("array index must be a nonnegative integer")
            self.arrays.setdefault(name, [{}])[-1][index] = value
        else:
            index = self.number().whole()
            if index < 0:
                raise DcError("array index must be a nonnegative integer")
            self.stack.append(self.arrays.get(name, [{}])[-1].get(index, Number(0)))

    def conditional(self, char: str, frame: list[Any]) -> str | None:
        negated = char == "!"
        if negated:
            text, at = frame
            if at < len(text) and text[at] in "<>=":
                char = text[at]
                frame[1] = at + 1
            else:
                end = text.find("\n", at)
                frame[1] = len(text) if end < 0 else end
                raise DcError("commands of the system are not available in this terminal")
        name = self.name(frame)
        a, b = self.two()
        scale = max(a.scale, b.scale)
        top, below = b.to(scale), a.to(scale)
        true = top < below if char == "<" else top > below if char == ">" else top == below
        if true == negated:
            return None
        stack = self.registers.get(name)
        if not stack:
            self.stack.append(Number(0))                     # what a register holds that nothing was stored in
            return None
        if isinstance(stack[-1], str):
            return stack[-1]
        self.stack.append(stack[-1])
        return None

    def command(self, char: str) -> None:
        stack = self.stack
        if char in "+-*/%~^":
            self.arithmetic(char)
        elif char == "|":
            if len(stack) < 3:
                raise DcError("stack empty")
            modulus, exponent, base = self.number().whole(), self.number().whole(), self.number().whole()
            if not modulus:
                raise DcError("remainder by zero")
            if exponent < 0:
                raise DcError("negative exponent")
            self.fits(modulus.bit_length() * 4)
            value = pow(abs(base), exponent, abs(modulus))
            stack.append(Number(-value if base < 0 and exponent % 2 else value))
        elif char == "v":
            a = self.number()
            if a.value < 0:
                raise DcError("square root of negative number")
            scale = max(self.scale, a.scale)
            self.fits(a.value.bit_length() + 8 * scale)
            stack.append(Number(isqrt(a.to(2 * scale)), scale))
        elif char in "pn":
            if not stack:
                raise DcError("stack empty")
            self.show(stack[-1], char == "p")
            if char == "n":
                stack.pop()
        elif char == "P":
            value = self.pop()
            if isinstance(value, str):
                self.proc.stdout.write(encode(value))
            else:
                whole = abs(value.whole())
                self.proc.stdout.write(whole.to_bytes(max(1, -(-whole.bit_length() // 8)), "big"))
        elif char == "f":
            for value in reversed(stack):
                self.show(value, True)
        elif char == "c":
            stack.clear()
        elif char == "d":
            if not stack:
                raise DcError("stack empty")
            self.proc.kernel.fits(len(stack) * 64)
            stack.append(stack[-1])
        elif char == "r":
            if len(stack) < 2:
                raise DcError("stack empty")
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif char == "R":
            self.rotate(self.number().whole())
        elif char == "z":
            stack.append(Number(len(stack)))
        elif char == "Z":
            value = self.pop()
            if isinstance(value, str):
                stack.append(Number(len(encode(value))))
            else:
                stack.append(Number(max(len(digits(abs(value.value))), value.scale) if value.value else 1))
        elif char == "X":
            value = self.pop()
            stack.append(Number(value.scale if isinstance(value, Number) else 0))
        elif char == "a":
            value = self.pop()
            if isinstance(value, Number):
                stack.append(bytes((value.whole() & 255,)).decode("utf-8", "surrogateescape"))
            else:
                stack.append(value[:1])
        elif char in "iok":
            self.parameter(char, self.number().whole())
        elif char in "IOK":
            stack.append(Number({"I": self.ibase, "O": self.obase, "K": self.scale}[char]))
        else:
            code = encode(char)[0]
            shown = f"'{char}' (0{code:o})" if char.isprintable() and code < 128 else f"(0{code:o})"
            self.proc.stdout.write(encode(f"{shown} unimplemented\n"))

    def rotate(self, count: int) -> None:
        size = abs(count)
        if size > len(self.stack):
            size = len(self.stack)
        if size > 1:
            top = self.stack[-size:]
            self.stack[-size:] = top[1:] + top[:1] if count > 0 else top[-1:] + top[:-1]

    def parameter(self, char: str, value: int) -> None:
        if char == "i":
            if not 2 <= value <= 16:
                raise DcError("input base must be a number between 2 and 16 (inclusive)")
            self.ibase = value
        elif char == "o":
            if value < 2:
                raise DcError("output base must be a number greater than 1")
            self.obase = value
        else:
            if value < 0:
                raise DcError("scale must be a nonnegative integer")
            self.scale = min(value, MAX_DIGITS)

    def arithmetic(self, char: str) -> None:
        if len(self.stack) < 2:
            raise DcError("stack empty")
        a, b = self.two()
        if char in "/%~" and not b.value:
            self.stack += [a, b]
            raise DcError("divide by zero" if char != "%" else "remainder by zero")
        if char in "+-":
            scale = max(a.scale, b.scale)
            self.stack.append(Number(a.to(scale) + (b.to(scale) if char == "+" else -b.to(scale)), scale))
        elif char == "*":
            self.fits(a.value.bit_length() + b.value.bit_length())
            full = a.scale + b.scale
            scale = min(full, max(self.scale, a.scale, b.scale))
            self.stack.append(Number(Number(a.value * b.value, full).to(scale), scale))
        elif char == "^":
            self.power(a, b)
        else:
            quotient = self.divide(a, b, self.scale)
            if char == "/":
                self.stack.append(quotient)
                return
            scale = max(self.scale + b.scale, a.scale)
            rest = a.to(scale) - Number(quotient.value * b.value, quotient.scale + b.scale).to(scale)
            if char == "~":
                self.stack.append(quotient)
            self.stack.append(Number(rest, scale))

    def divide(self, a: Number, b: Number, scale: int) -> Number:
        shift = scale + b.scale - a.scale
        self.fits(a.value.bit_length() + 4 * abs(shift))
        top, bottom = abs(a.value), abs(b.value)
        value = top * 10 ** shift // bottom if shift >= 0 else top // (bottom * 10 ** -shift)
        return Number(-value if (a.value < 0) != (b.value < 0) else value, scale)

    def power(self, a: Number, b: Number) -> None:
        count = b.whole()
        if b.to(b.scale) != count * 10 ** b.scale:
            self.proc.message("warning: non-zero scale in exponent")
        if count == 0:
            self.stack.append(Number(1))
            return
        size = abs(count)
        if abs(a.value) > 1:
            self.fits((a.value.bit_length() - 1) * size)
        elif a.scale:
            self.fits(size * a.scale * 4)
        value = a.value ** size if abs(a.value) > 1 or size < 2 else a.value if size % 2 else abs(a.value)
        full = a.scale * size
        if count > 0:
            scale = min(full, max(self.scale, a.scale))
            self.stack.append(Number(Number(value, full).to(scale), scale))
        elif not value:
            raise DcError("divide by zero")
        else:
            self.stack.append(self.divide(Number(1), Number(value, full), self.scale))

    # ---- output

    def show(self, value: Any, newline: bool) -> None:
        text = value if isinstance(value, str) else self.wrapped(self.text(value))
        self.proc.stdout.write(encode(text) + (b"\n" if newline else b""))

    def text(self, number: Number) -> str:
        from mirage.commands._bc_machine import Machine
        machine = Machine(self.proc)
        machine.obase = self.obase
        return machine.shown((number.value, number.scale))

    def wrapped(self, text: str) -> str:
        width = 70
        limit = self.proc.env.get("DC_LINE_LENGTH", "")
        if limit.isdecimal() and len(limit) < 6:
            width = int(limit)
            if width == 0:
                return text
        if len(text) < width:
            return text
        step = max(1, width - 1)
        return "\\\n".join(text[at:at + step] for at in range(0, len(text), step))


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    calculator = Calculator(proc)
    programs: list[str] = []
    try:
        for key, value in options:
            if key == "h" or key == "V":
                proc.stdout.write(HELP.encode() if key == "h" else b"dc (GNU bc 1.07.1) 1.4.1 (Mirage)\n")
                return 0
            programs.append(value)
            if key == "e":
                calculator.run(value)
            else:
                _file(proc, calculator, value)
        for name in operands:
            programs.append(name)
            _file(proc, calculator, name)
        if not programs:
            _file(proc, calculator, "-")
    except Quit:
        pass
    return 0


def _file(proc: Process, calculator: Calculator, name: str) -> None:
    """Run a file; one that cannot be opened is named, dc's status stays 0."""
    try:
        file = open_input(proc, name).incref()
    except OSError as e:
        proc.message(f"Could not open file {name}" if isinstance(e, FileNotFoundError) else f"{name}: {e.strerror}")
        return
    try:
        text = decode(read_all(proc, file))
    finally:
        file.decref()
    calculator.run(text)
