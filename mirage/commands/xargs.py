"""xargs: build and execute command lines from standard input (GNU findutils 4.10)."""
from __future__ import annotations

import os

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import decode, encode, line_blocks
from mirage.commands._text import quote, shell_quote
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

MAX_SIZE = 131_072
HELP = """\
Usage: xargs [OPTION]... COMMAND [INITIAL-ARGS]...
Run COMMAND with arguments INITIAL-ARGS and more arguments read from input.

Mandatory and optional arguments to long options are also
mandatory or optional for the corresponding short option.
  -0, --null                   items are separated by a null, not whitespace;
                                 disables quote and backslash processing and
                                 logical EOF processing
  -a, --arg-file=FILE          read arguments from FILE, not standard input
  -d, --delimiter=CHARACTER    items in input stream are separated by CHARACTER,
                                 not by whitespace; disables quote and backslash
                                 processing and logical EOF processing
  -E END                       set logical EOF string; if END occurs as a line
                                 of input, the rest of the input is ignored
                                 (ignored if -0 or -d was specified)
  -e, --eof[=END]              equivalent to -E END if END is specified;
                                 otherwise, there is no end-of-file string
  -I R                         same as --replace=R
  -i, --replace[=R]            replace R in INITIAL-ARGS with names read
                                 from standard input, split at newlines;
                                 if R is unspecified, assume {}
  -L, --max-lines=MAX-LINES    use at most MAX-LINES non-blank input lines per
                                 command line
  -l[MAX-LINES]                similar to -L but defaults to at most one non-
                                 blank input line if MAX-LINES is not specified
  -n, --max-args=MAX-ARGS      use at most MAX-ARGS arguments per command line
  -o, --open-tty               Reopen stdin as /dev/tty in the child process
                                 before executing the command; useful to run an
                                 interactive application.
  -P, --max-procs=MAX-PROCS    run at most MAX-PROCS processes at a time
  -p, --interactive            prompt before running commands
      --process-slot-var=VAR   set environment variable VAR in child processes
  -r, --no-run-if-empty        if there are no arguments, then do not run COMMAND;
                                 if this option is not given, COMMAND will be
                                 run at least once
  -s, --max-chars=MAX-CHARS    limit length of command line to MAX-CHARS
      --show-limits            show limits on command-line length
  -t, --verbose                print commands before executing them
  -x, --exit                   exit if the size (see -s) is exceeded
      --help                   display this help and exit
      --version                output version information and exit
"""
SPEC = Spec("0a:E:e::i::I:l::L:n:prs:txP:d:o", {
    "null": ("0", NONE), "arg-file": ("a", REQUIRED), "delimiter": ("d", REQUIRED), "eof": ("e", OPTIONAL),
    "replace": ("i", OPTIONAL), "max-lines": ("l", OPTIONAL), "max-args": ("n", REQUIRED),
    "open-tty": ("o", NONE), "interactive": ("p", NONE), "no-run-if-empty": ("r", NONE), "max-chars": ("s", REQUIRED),
    "show-limits": ("limits", NONE), "verbose": ("t", NONE), "exit": ("x", NONE), "max-procs": ("P", REQUIRED),
    "process-slot-var": ("slot", REQUIRED)}, help=HELP, permute=False)
LONG = {"n": "--max-args", "L": "--max-lines", "I": "--replace/-I/-i"}


class Options:
    def __init__(self) -> None:
        self.delimiter: bytes | None = None
        self.file: str | None = None
        self.eof: bytes | None = None
        self.replace: str | None = None
        self.lines = 0
        self.args = 0
        self.size = MAX_SIZE
        self.exit = False
        self.run_empty = True
        self.verbose = False
        self.ask = False
        self.parallel = 1
        self.slot_variable = ""
        self.open_tty = False


def main(proc: Process) -> int:
    given, command = parse(proc, SPEC)
    options = _options(proc, given)
    return Runner(proc, options, command or ["echo"]).run()


def _options(proc: Process, given: list[tuple[str, str]]) -> Options:
    o = Options()
    for key, value in given:
        if key == "0":
            o.delimiter = b"\0"
        elif key == "d":
            o.delimiter = _delimiter(proc, value)
        elif key == "a":
            o.file = value
        elif key in ("E", "e"):
            o.eof = encode(value) if value else None
        elif key in ("I", "i"):
            o.replace = value or "{}"
            if o.args:
                _conflict(proc, "--max-args", "--replace/-I/-i", "--max-args")
            if o.lines:
                _conflict(proc, "--max-lines", "--replace/-I/-i", "--max-lines")
            o.args = o.lines = 0
        elif key in ("L", "l"):
            o.lines = _number(proc, key, value, 1) if value else 1
            if o.args:
                _conflict(proc, "--max-args", "--max-lines", "--max-args")
            if o.replace is not None:
                _conflict(proc, "--replace", "--max-lines", "--replace")
            o.args, o.replace = 0, None
        elif key == "n":
            o.args = _number(proc, key, value, 1)
            if o.lines:
                _conflict(proc, "--max-lines", "--max-args/-n", "--max-lines")
            o.lines = 0
            if o.replace is not None:
                if o.args != 1:
                    _conflict(proc, "--replace", "--max-args/-n", "--replace")
                    o.replace = None
                else:
                    o.args = 0
        elif key == "s":
            o.size = _number(proc, key, value, 1)
        elif key == "P":
            o.parallel = _number(proc, key, value, 0) or 1 << 30
        elif key == "slot":
            o.slot_variable = value
        elif key == "limits":
            _show_limits(proc, o)
        else:
            name = {"p": "ask", "t": "verbose", "x": "exit", "o": "open_tty"}.get(key)
            if name:
                setattr(o, name, True)
            elif key == "r":
                o.run_empty = False
    o.verbose = o.verbose or o.ask
    if o.replace is not None or o.lines:
        o.exit = True
    return o


def _conflict(proc: Process, first: str, second: str, dropped: str) -> None:
    proc.message(f"warning: options {first} and {second} are mutually exclusive, ignoring previous {dropped} value")


def _number(proc: Process, letter: str, text: str, least: int) -> int:
    body = text[1:] if text[:1] in ("+", "-") else text
    if not body.isdecimal():
        proc.message(f'invalid number "{text}" for -{letter} option')
    elif int(text) < least:
        proc.message(f"value {text} for -{letter} option should be >= {least}")
    else:
        return int(text)
    proc.write_error("Try 'xargs --help' for more information.\n")
    raise Exit(1)


def _delimiter(proc: Process, text: str) -> bytes:
    raw = encode(text)
    if len(raw) == 1:
        return raw
    if raw[:1] == b"\\" and len(raw) > 1:
        simple = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
        letter = text[1]
        try:
            if letter in simple and len(text) == 2:
                return bytes((simple[letter],))
            if letter == "x":
                return bytes((int(text[2:], 16),))
            if letter in "01234567":
                return bytes((int(text[1:], 8),))
        except (ValueError, OverflowError):
            pass
        proc.message(f"Invalid escape sequence {text} in input delimiter specification.")
        raise Exit(1)
    proc.message(f"Invalid input delimiter specification {text}: the delimiter must be either a single character or an "
                 "escape sequence starting with \\.")
    raise Exit(1)


def _show_limits(proc: Process, o: Options) -> None:
    used = sum(len(k) + len(v) + 2 for k, v in proc.env.items())
    proc.write_error(f"Your environment variables take up {used} bytes\n"
                     f"POSIX upper limit on argument length (this system): {2_097_152 - 2048 - used}\n"
                     "POSIX smallest allowable upper limit on argument length (all systems): 4096\n"
                     f"Maximum length of command we could actually use: {2_097_152 - 2048 - 2 * used}\n"
                     f"Size of command buffer we are actually using: {o.size}\n"
                     f"Maximum parallelism (--max-procs must be no greater): 2147483647\n")


class Runner:
    """Collects arguments and starts commands."""

    def __init__(self, proc: Process, options: Options, command: list[str]) -> None:
        self.proc = proc
        self.o = options
        self.command = command
        self.status = 0
        self.children: dict[int, Process] = {}               # slot -> child
        self.ended = proc.kernel.queue()
        self.started = False

    def run(self) -> int:
        proc, o = self.proc, self.o
        try:
            file = (proc.file(0) if o.file in (None, "-") else proc.open(o.file or "")).incref()
        except OSError as e:
            proc.message(f"Cannot open input file {quote(proc, o.file or '')}: {e.strerror}")
            return 1
        try:
            if o.replace is not None:
                self._replacing(file)
            else:
                self._appending(file)
            self._wait_all()
        except Exit as e:
            self._wait_quietly()
            return e.status
        finally:
            file.decref()
        return self.status

    # ---- input

    def _items(self, file: OpenFile) -> Iterator[tuple[bytes, bool]]:
        """(argument, does the input line end behind it) one after the other."""
        o = self.o
        if o.delimiter is not None:
            for block in line_blocks(self.proc, file, o.delimiter):
                items = block.split(o.delimiter)
                if not items[-1]:
                    items.pop()
                for item in items:
                    yield item, True
            return
        for block in line_blocks(self.proc, file):
            if o.eof is None and not o.lines and not any(c in block for c in b"'\"\\\0") and o.replace is None:
                for item in block.replace(b"\t", b" ").replace(b"\n", b" ").split(b" "):
                    if item:
                        yield item, False
                continue
            yield from self._quoted(block)
            if self.ended_by_eof:
                return

    ended_by_eof = False

    def _quoted(self, block: bytes) -> Iterator[tuple[bytes, bool]]:
        """Arguments of whole lines with quotes and backslashes; a line that ends in a blank goes on."""
        at, size = 0, len(block)
        replacing = self.o.replace is not None
        item = bytearray()
        inside = False                                       # an argument has begun (perhaps an empty quoted one)
        pending: bytes | None = None
        while at < size:
            c = block[at]
            at += 1
            if c == 10 or not replacing and c in b" \t":
                if inside:
                    if pending is not None:
                        yield pending, False
                    pending = self._complete(item)
                    if pending is None:
                        return
                    item, inside = bytearray(), False
                if c == 10 and pending is not None and (at < 2 or block[at - 2] not in b" \t" or replacing):
                    yield pending, True
                    pending = None
            elif replacing and not inside and c in b" \t":
                continue
            elif c in b"'\"":
                end = block.find(bytes((c,)), at)
                line = block.find(b"\n", at)
                if end < 0 or 0 <= line < end:
                    if pending is not None:
                        yield pending, False
                    self._unmatched(c)
                item += block[at:end]
                at, inside = end + 1, True
            elif c == 92:
                item += block[at:at + 1]
                at, inside = at + 1, True
            else:
                item.append(c)
                inside = True
        if inside:
            if pending is not None:
                yield pending, False
            pending = self._complete(item)
        if pending is not None:
            yield pending, True

    def _complete(self, item: bytearray) -> bytes | None:
        """The argument, or None where it is the end-of-file string."""
        if self.o.eof is not None and item == self.o.eof:
            self.ended_by_eof = True
            return None
        data = bytes(item)
        if b"\0" in data:
            if not self.nul_seen:
                self.nul_seen = True
                self.proc.message("WARNING: a NUL character occurred in the input.  It cannot be passed through in the "
                                  "argument list.  Did you mean to use the --null option?")
            data = data.partition(b"\0")[0]
        return data

    def _unmatched(self, c: int) -> None:
        kind = "double" if c == 34 else "single"
        self.quote_error = (f"unmatched {kind} quote; by default quotes are special to xargs unless you use the -0 "
                            "option")
        raise UnmatchedQuote

    quote_error = ""
    nul_seen = False

    # ---- command lines

    def _appending(self, file: OpenFile) -> None:
        o = self.o
        fixed = sum(len(encode(a)) + 1 for a in self.command)
        if fixed > o.size:
            self._fatal("argument line too long" if fixed <= o.size + 1
                        else "cannot fit single argument within argument "
                        "list size limit")
        words: list[bytes] = []
        size, lines = fixed, 0
        try:
            for item, line_end in self._items(file):
                length = len(item) + 1
                if size + length > o.size:
                    if not words or o.exit:
                        self._fatal("argument list too long" if o.exit and words else "argument line too long")
                    self._start(words)
                    words, size, lines = [], fixed, 0
                    if size + length > o.size:
                        self._fatal("argument line too long")
                words.append(item)
                size += length
                if line_end:
                    lines += 1
                if o.args and len(words) >= o.args or o.lines and lines >= o.lines:
                    if o.exit and o.args and size > o.size:
                        self._fatal("argument list too long")
                    self._start(words)
                    words, size, lines = [], fixed, 0
        except UnmatchedQuote:
            if words:
                self._start(words)
            self._fatal(self.quote_error)
        if words or o.run_empty and not self.started:
            self._start(words)

    def _replacing(self, file: OpenFile) -> None:
        """-I: one command for each line."""
        o = self.o
        mark = encode(o.replace or "{}")
        words = [encode(a) for a in self.command]
        try:
            for item, _ in self._items(file):
                argv = [words[0], *(a.replace(mark, item) for a in words[1:])]
                if sum(len(a) + 1 for a in argv) > o.size:
                    self._fatal("command too long")
                self._launch([decode(a) for a in argv])
        except UnmatchedQuote:
            self._fatal(self.quote_error)

    def _fatal(self, text: str) -> None:
        self._wait_all()
        self.proc.message(text)
        raise Exit(1)

    def _start(self, words: list[bytes]) -> None:
        self._launch([*self.command, *(decode(w) for w in words)])

    def _launch(self, argv: list[str]) -> None:
        proc, o = self.proc, self.o
        self.started = True
        if o.verbose and not self._shown(argv):
            return
        while len(self.children) >= o.parallel:
            self._wait_one()
        slot = next(n for n in range(len(self.children) + 1) if n not in self.children)
        env = {**proc.env, o.slot_variable: str(slot)} if o.slot_variable else None
        fds = {}
        if o.file is None or o.open_tty:
            try:
                fds[0] = proc.open("/dev/tty" if o.open_tty else "/dev/null", os.O_RDONLY)
            except OSError:
                fds = {}
        proc.flush()
        try:
            child = proc.spawn(argv, fds=fds, env=env)
        except OSError as e:
            self._wait_all()
            text = "Permission denied" if isinstance(e, IsADirectoryError) else e.strerror
            proc.message(f"{argv[0]}: {text}")
            note = refusal_note(e)
            if note:
                proc.write_error(note)
            raise Exit(127 if isinstance(e, FileNotFoundError) else 126) from None
        self.children[slot] = child
        child.on_exit.append(self.ended.wake)
        if o.parallel == 1:
            self._wait_one()

    def _shown(self, argv: list[str]) -> bool:
        proc = self.proc
        text = " ".join(shell_quote(a) for a in argv)
        if not self.o.ask:
            proc.write_error(text + "\n")
            return True
        proc.write_error(text + "?...")
        try:
            with proc.opened("/dev/tty") as terminal:
                answer = terminal.readline()
        except OSError as e:
            proc.message(f"failed to open /dev/tty for reading: {e.strerror}")
            raise Exit(1) from None
        return answer[:1] in (b"y", b"Y")

    # ---- children

    def _wait_one(self) -> None:
        while not any(child.status is not None for child in self.children.values()):
            self.ended.wait()
        for slot, child in list(self.children.items()):
            if child.status is not None:
                del self.children[slot]
                self._reap(child)

    def _reap(self, child: Process) -> None:
        name = child.argv[0]
        if child.exit_signal:
            self.proc.message(f"{name}: terminated by signal {child.exit_signal}")
            raise Exit(125)
        if child.status == 255:
            self.proc.message(f"{name}: exited with status 255; aborting")
            raise Exit(124)
        if child.status:
            self.status = 123

    def _wait_all(self) -> None:
        while self.children:
            self._wait_one()

    def _wait_quietly(self) -> None:
        for child in self.children.values():
            self.proc.wait(child)


class UnmatchedQuote(Exception):
    pass
