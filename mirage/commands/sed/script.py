"""The sed script: what a command is, and the parser with GNU's errors (compile.c of sed 4.9)."""
from __future__ import annotations

from mirage.process.signals import Exit
from mirage.text.regex import RegexError, compile_bre

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process
    from mirage.text.regex import Regex

UNKNOWN_OPTION = "unknown option to `s'"


class Address:
    """kind: "line", "last", "regex" (None: the last one used), "step" (first~step), "plus" (+N), "multiple" (~N)."""

    __slots__ = ("kind", "number", "regex", "step")

    def __init__(self, kind: str, number: int = 0, step: int = 0, regex: Regex | None = None) -> None:
        self.kind = kind
        self.number = number
        self.step = step
        self.regex = regex


class Piece:
    """A part of a replacement: literal text, then group `ref` (-1: none), both in the case that `mode` asks for.

    mode: "" as it is, "U" upper, "L" lower; `first`: "u" or "l" for the next character, or "".
    """

    __slots__ = ("first", "mode", "prefix", "ref")

    def __init__(self, prefix: bytes, ref: int, mode: str, first: str) -> None:
        self.prefix = prefix
        self.ref = ref
        self.mode = mode
        self.first = first


class Substitution:
    __slots__ = ("evaluate", "everywhere", "number", "output", "pieces", "print", "regex")

    def __init__(self, regex: Regex | None, pieces: list[Piece]) -> None:
        self.regex = regex
        self.pieces = pieces
        self.everywhere = False
        self.number = 1
        self.print = 0
        self.evaluate = False
        self.output: str | None = None


class Command:
    """`target` is the index to go on at: the end of a block for `{`, the label for b, t, T."""

    __slots__ = ("a1", "a2", "active", "closed", "end", "label", "name", "negated", "number", "sub", "table", "target",
                 "text")

    def __init__(self) -> None:
        self.a1: Address | None = None
        self.a2: Address | None = None
        self.negated = False
        self.name = ""
        self.text = b""
        self.label = ""
        self.number = -1
        self.target = -1
        self.sub: Substitution | None = None
        self.table: list[tuple[bytes, bytes]] | bytes = b""
        self.active = False                                  # inside a range
        self.closed = False                                  # a range from a line number has begun once
        self.end = 0                                         # last line of an active range


class Script:
    """Parsed commands of all -e and -f parts."""

    def __init__(self, proc: Process, *, extended: bool, posix: bool, sandbox: bool, utf8: bool,
                 lines: bool = True) -> None:
        self.proc = proc
        self.lines = lines                                   # False: -z, where M has no lines to see
        self.extended = extended
        self.posix = posix
        self.sandbox = sandbox
        self.utf8 = utf8
        self.commands: list[Command] = []
        self.labels: dict[str, int] = {}
        self.blocks: list[tuple[int, str]] = []
        self.quiet = False                                   # the script begins with `#n`
        self.first = True
        self.pending: Command | None = None                  # a, i or c whose text goes on in the next -e
        self.parts = 0

    def add(self, text: str, where: str | None = None) -> None:
        """One -e (where None) or the content of the -f file `where`."""
        if where is None:
            self.parts += 1
        Parser(self, text, where).parse()

    def finish(self) -> None:
        """Resolve labels and look for what is left open."""
        if self.pending is not None:
            self.pending.text = self.pending.text or b""
            self.pending = None
        if self.blocks:
            self.error(f"{self.blocks[-1][1]}0: unmatched `{{'")
        for command in self.commands:
            if command.name in "btT" and command.label:
                if command.label not in self.labels:
                    self.proc.message(f"can't find label for jump to `{command.label}'")
                    raise Exit(4)
                command.target = self.labels[command.label]
            elif command.name in "btT":
                command.target = len(self.commands)

    def error(self, text: str) -> None:
        self.proc.message(text)
        raise Exit(1)


_LETTERS = {"t": "\t", "n": "\n", "f": "\f", "v": "\v", "a": "\a", "r": "\r"}
_GNU_ONLY = "wWsSbB<>`'"                                   # special behind a backslash, but not with --posix


class Parser:
    """Reads one part of the script character by character."""

    def __init__(self, script: Script, text: str, where: str | None) -> None:
        self.script = script
        self.text = text
        self.where = where
        self.at = 0

    # ---- characters

    def bad(self, text: str) -> Exit:
        """Report an error at the current place."""
        if self.where is None:
            place = f"-e expression #{self.script.parts}, char {self.at}"
        else:
            place = f"file {self.where} line {self.text.count(chr(10), 0, self.at) + 1}"
        self.script.proc.message(f"{place}: {text}")
        return Exit(1)

    def get(self) -> str:
        """The next character, "" at the end."""
        if self.at < len(self.text):
            self.at += 1
            return self.text[self.at - 1]
        return ""

    def back(self, c: str) -> None:
        if c:
            self.at -= 1

    def nonblank(self) -> str:
        c = self.get()
        while c in (" ", "\t"):
            c = self.get()
        return c

    def integer(self, c: str) -> int:
        begin = self.at - 1
        while c and c in "0123456789":
            c = self.get()
        self.back(c)
        return int(self.text[begin:self.at])

    def end_of_command(self) -> None:
        c = self.nonblank()
        if c in ("}", "#") and c:
            self.back(c)
        elif c not in ("", "\n", ";"):
            raise self.bad("extra characters after command")

    # ---- commands

    def parse(self) -> None:
        script = self.script
        if script.pending is not None:
            command, script.pending = script.pending, None
            self._read_text(command)
        elif script.first and self.text.startswith("#n"):
            script.quiet = True
        script.first = False
        while True:
            c = self.get()
            while c and (c.isspace() or c == ";"):
                c = self.get()
            if not c:
                return
            command = Command()
            address = self._address(c)
            if address is not None:
                if address.kind in ("plus", "multiple"):
                    raise self.bad("invalid usage of +N or ~N as first address")
                command.a1 = address
                c = self.nonblank()
                if c == ",":
                    command.a2 = self._address(self.nonblank())
                    if command.a2 is None:
                        raise self.bad("unexpected `,'")
                    c = self.nonblank()
                if address.kind == "line" and address.number == 0 and \
                        (command.a2 is None or command.a2.kind != "regex" or script.posix):
                    raise self.bad("invalid usage of line address 0")
            if c == "!":
                command.negated = True
                c = self.nonblank()
                if c == "!":
                    raise self.bad("multiple `!'s")
            if not c or c == "\n" and address is not None:
                raise self.bad("missing command")
            command.name = c
            self._command(command, c)

    def _address(self, c: str) -> Address | None:
        if c in ("/", "\\"):
            if c == "\\":
                c = self.get()
            raw = self._delimited(c, True)
            if raw is None:
                raise self.bad("unterminated address regex")
            flags = ""
            while True:
                c = self.nonblank()
                if c in ("I", "M") and not self.script.posix:
                    flags += c
                else:
                    break
            self.back(c)
            return Address("regex", regex=self._regex(raw, flags))
        if c and c in "0123456789":
            number = self.integer(c)
            c = self.nonblank()
            if c == "~" and not self.script.posix:
                step = self.nonblank()
                if step and step in "0123456789":
                    return Address("step", number, self.integer(step))
                self.back(step)
                return Address("step", number, 0)
            self.back(c)
            return Address("line", number)
        if c in ("+", "~") and c and not self.script.posix:
            digit = self.nonblank()
            if not digit or digit not in "0123456789":
                raise self.bad("missing command" if not digit else f"unknown command: `{c}'")
            return Address("plus" if c == "+" else "multiple", self.integer(digit))
        if c == "$":
            return Address("last")
        return None

    def _command(self, command: Command, c: str) -> None:
        script = self.script
        if c == "#":
            if command.a1 is not None:
                raise self.bad("comments don't accept any addresses")
            while c not in ("", "\n"):
                c = self.get()
            return
        if c and c in "=lra" and script.posix and command.a2 is not None:
            raise self.bad("command only uses one address")
        if c and c in "eFzQTRWv" and script.posix:
            raise self.bad(f"unknown command: `{c}'")
        if c == "{":
            place = f"-e expression #{script.parts}, char " if self.where is None else f"file {self.where} line "
            script.blocks.append((len(script.commands), place))
        elif c == "}":
            if not script.blocks:
                raise self.bad("unexpected `}'")
            if command.a1 is not None:
                raise self.bad("} doesn't want any addresses")
            opener, _ = script.blocks.pop()
            script.commands[opener].target = len(script.commands)
            self.end_of_command()
            return
        elif c == ":":
            if command.a1 is not None:
                raise self.bad(": doesn't want any addresses")
            label = self._label()
            if not label:
                raise self.bad("\":\" lacks a label")
            script.labels[label] = len(script.commands)
            return
        elif c in "btT":
            command.label = self._label()
        elif c in "aic":
            if c == "i" and script.posix and command.a2 is not None:
                raise self.bad("command only uses one address")
            self._text_command(command)
        elif c in "=dDFgGhHnNpPzx":
            self.end_of_command()
        elif c in "qQ":
            if command.a2 is not None:
                raise self.bad("command only uses one address")
            self._number(command)
        elif c in "lL":
            self._number(command)
        elif c == "e":
            if script.sandbox:
                raise self.bad("e/r/w commands disabled in sandbox mode")
            command.text = self._rest()
        elif c in "rRwW":
            command.label = self._filename()
        elif c == "s":
            self._substitution(command)
        elif c == "y":
            self._transliteration(command)
        elif c == "v":
            version = self._label()
            numbers = [int(n) for n in version.split(".") if n.isdecimal()]
            if numbers > [4, 9]:
                raise self.bad("expected newer version of sed")
            return
        else:
            raise self.bad(f"unknown command: `{c}'")
        script.commands.append(command)

    def _number(self, command: Command) -> None:
        c = self.nonblank()
        if c and c in "0123456789" and not self.script.posix:
            command.number = self.integer(c)
        else:
            self.back(c)
        self.end_of_command()

    def _label(self) -> str:
        c = self.nonblank()
        begin = self.at - len(c)
        while c and not c.isspace() and c not in ";}#":
            c = self.get()
        self.back(c)
        return self.text[begin:self.at]

    def _rest(self) -> bytes:
        c = self.nonblank()
        begin = self.at - len(c)
        while c not in ("", "\n"):
            c = self.get()
        return _encode(self.text[begin:self.at - len(c)])

    def _filename(self) -> str:
        if self.script.sandbox:
            raise self.bad("e/r/w commands disabled in sandbox mode")
        name = self._rest().decode("utf-8", "surrogateescape")
        if not name:
            raise self.bad("missing filename in r/R/w/W commands")
        return name

    # ---- a, i, c

    def _text_command(self, command: Command) -> None:
        c = self.nonblank()
        if not c:
            raise self.bad("expected \\ after `a', `c' or `i'")
        if c == "\\":
            c = self.get()
            if c in (" ", "\t"):
                mark = self.at - 1
                c = self.nonblank()
                if c != "\n":                                # one line: its blanks are part of the text
                    self.at = mark
                    self._read_text(command)
                    return
            if not c:
                self.script.pending = command
                return
            if c != "\n":
                self.back(c)
            self._read_text(command)
            return
        if c == "\n" or self.script.posix:
            raise self.bad("expected \\ after `a', `c' or `i'")
        self.back(c)
        self._read_text(command)

    def _read_text(self, command: Command) -> None:
        """The text up to a newline that no backslash quotes."""
        out: list[str] = []
        while True:
            c = self.get()
            if c in ("", "\n"):
                break
            if c == "\\":
                c = self.get()
                if not c:
                    break
                out.append(self._text_escape(c))
                continue
            out.append(c)
        command.text = b"".join(_encode(part) for part in out) + b"\n"

    def _text_escape(self, c: str) -> str:
        simple = _LETTERS.get(c)
        if simple is not None:
            return simple
        code = self._numeric(c)
        return c if code is None else code

    def _numeric(self, c: str) -> str | None:
        """\\dNNN, \\oNNN, \\xHH, \\cX behind the letter `c`, as one character (surrogate for a byte)."""
        base, most = {"d": (10, 3), "o": (8, 3), "x": (16, 2)}.get(c, (0, 0))
        if base:
            begin = self.at
            allowed = "0123456789abcdefABCDEF"[:base if base < 16 else 22]
            while self.at < len(self.text) and self.at - begin < most and self.text[self.at] in allowed:
                self.at += 1
            if self.at == begin:
                return None
            return _byte(int(self.text[begin:self.at], base) & 0xFF)
        if c == "c" and self.at < len(self.text):
            c = self.get()
            if c == "\\" and self.get() != "\\":
                raise self.bad("recursive escaping after \\c not allowed")
            return chr(ord(c.upper()) ^ 0x40) if ord(c) < 128 else c
        return None

    # ---- s and y

    def _delimited(self, delimiter: str, regex: bool) -> str | None:
        """The text up to the delimiter, which loses its own backslashes; None where it does not end."""
        text = self.text
        out: list[str] = []
        while True:
            c = self.get()
            if not c or c == "\n":
                self.back(c)
                return None
            if c == delimiter:
                return "".join(out)
            if c == "\\":
                c = self.get()
                if not c:
                    return None
                if c == delimiter:
                    if not regex and c == "&":
                        out.append("\\")
                elif c == "n" and regex:
                    out.append("\n")
                    continue
                elif c != "\n" or not regex:
                    out.append("\\")
            elif c == "[" and regex:
                end = _bracket_end(text, self.at)
                if end > 0:
                    bracket = text[self.at - 1:end]
                    out.append(bracket if self.script.posix else bracket.replace("\\n", "\n"))
                    self.at = end
                    continue
            out.append(c)

    def _regex(self, raw: str, flags: str) -> Regex | None:
        if not raw:
            if flags:
                raise self.bad("cannot specify modifiers on empty regexp")
            return None
        script = self.script
        text = self._convert(raw)
        try:
            syntax = ("posix-" if script.posix else "") + ("esed" if script.extended else "sed")
            return compile_bre(text, "I" in flags, syntax=syntax, utf8=script.utf8,
                               multiline="M" in flags and script.lines)
        except RegexError as e:
            if str(e).startswith("character class syntax"):
                script.error(str(e))
            raise self.bad(str(e)) from None

    def _convert(self, raw: str) -> str:
        """Numeric escapes of a regular expression become the character itself, special or not."""
        if "\\" not in raw:
            return raw
        inner = Parser(self.script, raw, self.where)
        out: list[str] = []
        posix = self.script.posix
        while c := inner.get():
            end = _bracket_end(raw, inner.at) if posix and c == "[" else 0
            if end > 0:                                      # a backslash in brackets is one
                out.append(raw[inner.at - 1:end])
                inner.at = end
                continue
            if c != "\\":
                out.append(c)
                continue
            c = inner.get()
            if posix and c and c in (_GNU_ONLY if self.script.extended else _GNU_ONLY + "+?|"):
                out.append(c)
                continue
            code = inner._numeric(c) if c in "doxc" and c else _LETTERS.get(c) if posix else None
            if code is None:
                out.append("\\" + c)
            else:
                out.append("\\\\" if code == "\\" else code)
        return _encode("".join(out)).decode("utf-8", "surrogateescape")

    def _substitution(self, command: Command) -> None:
        delimiter = self.get()
        if delimiter in ("", "\n", "\\"):
            raise self.bad("unterminated `s' command")
        raw = self._delimited(delimiter, True)
        replacement = None if raw is None else self._delimited(delimiter, False)
        if raw is None or replacement is None:
            raise self.bad("unterminated `s' command")
        sub = Substitution(None, [])
        flags = self._flags(sub)
        sub.regex = self._regex(raw, flags)
        sub.pieces = Replacement(self, replacement).parse()
        top = max((p.ref for p in sub.pieces), default=0)
        if sub.regex is not None and top > sub.regex.groups:
            raise self.bad(f"invalid reference \\{top} on `s' command's RHS")
        command.sub = sub

    def _flags(self, sub: Substitution) -> str:
        flags = ""
        numbered = False
        while True:
            c = self.get()
            if c and c in "iImMe" and self.script.posix:
                raise self.bad(UNKNOWN_OPTION)
            if c in ("i", "I"):
                flags += "I"
            elif c in ("m", "M"):
                flags += "M"
            elif c == "e":
                if self.script.sandbox:
                    raise self.bad("e/r/w commands disabled in sandbox mode")
                sub.evaluate = True
            elif c == "p":
                if sub.print:
                    raise self.bad("multiple `p' options to `s' command")
                sub.print = 2 if sub.evaluate else 1
            elif c == "g":
                if sub.everywhere:
                    raise self.bad("multiple `g' options to `s' command")
                sub.everywhere = True
            elif c == "w":
                sub.output = self._filename()
                return flags
            elif c and c in "0123456789":
                if numbered:
                    raise self.bad("multiple number options to `s' command")
                begin = self.at
                sub.number = self.integer(c)
                if sub.number == 0:
                    self.at = begin
                    raise self.bad("number option to `s' command may not be zero")
                numbered = True
            elif c in ("}", "#") and c:
                self.back(c)
                return flags
            elif c in ("", "\n", ";"):
                return flags
            elif c == "\r" and self.text.startswith("\n", self.at):
                self.at += 1
                return flags
            elif c not in (" ", "\t"):
                raise self.bad(UNKNOWN_OPTION)

    def _transliteration(self, command: Command) -> None:
        delimiter = self.get()
        if delimiter in ("", "\n", "\\"):
            raise self.bad("unterminated `y' command")
        source = self._delimited(delimiter, False)
        target = None if source is None else self._delimited(delimiter, False)
        if source is None or target is None:
            raise self.bad("unterminated `y' command")
        a, b = self._characters(source), self._characters(target)
        if len(a) != len(b):
            raise self.bad("strings for `y' command are different lengths")
        self.end_of_command()
        table: dict[bytes, bytes] = {}
        for old, new in zip(a, b, strict=True):
            table.setdefault(_encode(old), _encode(new))
        if all(len(old) == len(new) == 1 for old, new in table.items()):
            command.table = bytes.maketrans(b"".join(table), b"".join(table.values()))
        else:
            command.table = list(table.items())

    def _characters(self, text: str) -> list[str]:
        inner = Parser(self.script, text, self.where)
        out: list[str] = []
        while c := inner.get():
            if c == "\\":
                c = inner.get()
                simple = {"t": "\t", "n": "\n", "f": "\f", "v": "\v", "a": "\a", "r": "\r", "\\": "\\", "\n": "\n"}
                if c in simple:
                    c = simple[c]
                else:
                    c = inner._numeric(c) or c
                if not c:
                    break
            out.append(c)
        return out if self.script.utf8 else [chr(0xDC00 + b) if b > 127 else chr(b) for b in _encode("".join(out))]


class Replacement:
    """The right side of `s`."""

    def __init__(self, parser: Parser, text: str) -> None:
        self.outer = parser
        self.inner = Parser(parser.script, text, parser.where)
        self.pieces: list[Piece] = []
        self.literal: list[str] = []
        self.mode = ""
        self.first = ""

    def _cut(self, ref: int = -1) -> None:
        if self.literal or ref >= 0:
            self.pieces.append(Piece(b"".join(_encode(part) for part in self.literal), ref, self.mode, self.first))
            self.literal = []
            self.first = ""

    def parse(self) -> list[Piece]:
        inner, posix = self.inner, self.outer.script.posix
        while c := inner.get():
            if c == "&":
                self._cut(0)
            elif c != "\\":
                self.literal.append(c)
            else:
                c = inner.get()
                if c and c in "0123456789":
                    self._cut(int(c))
                elif c in ("U", "L", "E") and not posix:
                    self._cut()
                    self.mode = "" if c == "E" else c
                    self.first = ""
                elif c in ("u", "l") and not posix:
                    self._cut()
                    self.first = c
                else:
                    self.literal.append(inner._text_escape(c) if c else "\\")
        self._cut()
        return self.pieces


def _bracket_end(text: str, at: int) -> int:
    """The offset behind the bracket expression whose `[` is just before `at`, or -1 where it does not end."""
    if text.startswith("^", at):
        at += 1
    if text.startswith("]", at):
        at += 1
    while at < len(text):
        c = text[at]
        if c == "]":
            return at + 1
        if c == "\n":
            return -1
        if c == "[" and at + 1 < len(text) and text[at + 1] in ".:=":
            end = text.find(text[at + 1] + "]", at + 2)
            if end > 0:
                at = end + 2
                continue
        at += 1
    return -1


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _byte(code: int) -> str:
    return chr(code) if code < 0x80 else chr(0xDC00 + code)
