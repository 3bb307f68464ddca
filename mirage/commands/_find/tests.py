"""find's tests: -name, -type, -size, -newer, ..."""
from __future__ import annotations

import os

from mirage.commands._find.visit import Visit
from mirage.commands._io import encode
from mirage.commands._text import quote
from mirage.process.process import refusal_note
from mirage.text import pattern as glob
from mirage.vfs.types import S_IFMT, Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.commands._find.expression import CommandLine, Predicate

TYPES = {"f": 0o100000, "d": 0o040000, "l": 0o120000, "p": 0o010000, "c": 0o020000, "b": 0o060000, "s": 0o140000,
         "D": -1}
LETTERS = {kind: letter for letter, kind in TYPES.items()}
UNITS = {"b": 512, "c": 1, "w": 2, "k": 1024, "M": 1 << 20, "G": 1 << 30}
REGEX_TYPES = {"findutils-default": "emacs", "ed": "posix-basic", "emacs": "emacs", "gnu-awk": "find-awk",
               "grep": "find-grep", "posix-awk": "find-awk", "awk": "find-awk", "posix-basic": "posix-basic",
               "posix-egrep": "find-egrep", "egrep": "find-egrep", "posix-extended": "extended",
               "posix-minimal-basic": "posix-basic", "sed": "posix-basic"}
DAY = 86_400_000_000_000
GLOBS = {"-name": ("name", False), "-iname": ("name", True), "-path": ("path", False), "-ipath": ("path", True),
         "-wholename": ("path", False), "-iwholename": ("path", True), "-lname": ("link", False),
         "-ilname": ("link", True)}


class UsageError(Exception):
    """A command line that find refuses; the text without `find: `."""


class Tests:
    """Makes the function of a test; errors are UsageError."""

    def __init__(self, line: CommandLine) -> None:
        self.line = line
        self.proc = line.proc
        self.settings = line.settings

    def make(self, word: str) -> Predicate | None:
        """The test named `word`, whose arguments are read from the command line; None if there is no such test."""
        if word in GLOBS:
            return self._glob(word)
        if word.startswith("-newer"):
            return self._newer(word)
        method = _METHODS.get(word)
        if method is None:
            return None
        made: Predicate = getattr(self, method)(word)
        return made

    # ---- names

    def _glob(self, word: str) -> Predicate:
        kind, nocase = GLOBS[word]
        text = self.line.argument(word)
        matches = glob.compile(text, extglob=False, nocase=nocase).matches
        if kind == "name":
            return lambda visit: matches(visit.name)
        if kind == "path":
            if self.line.simple:
                self.settings.within.append((_fixed(text), nocase))
            return lambda visit: matches(visit.path)
        readlink = self.proc.fs.readlink

        def link(visit: Visit) -> bool:
            if not visit.stat.is_link:
                return False
            try:
                return matches(readlink(visit.path))
            except OSError:
                return False

        return link

    def regextype(self, name: str) -> str:
        if name not in REGEX_TYPES:
            known = ", ".join(f"‘{n}’" for n in REGEX_TYPES)
            raise UsageError(f"Unknown regular expression type ‘{name}’; valid types are {known}.")
        return REGEX_TYPES[name]

    def _regex(self, word: str) -> Predicate:
        from mirage.text.regex import RegexError, compile_bre, utf8_locale
        text = self.line.argument(word)
        try:
            regex = compile_bre(text, word == "-iregex", syntax=self.line.regextype, utf8=utf8_locale(self.proc.env))
        except RegexError as e:
            raise UsageError(f"failed to compile regular expression '{text}': {e}") from None
        return lambda visit: regex.fullmatch(encode(visit.path)) is not None

    # ---- kinds and sizes

    def _kinds(self, word: str) -> tuple[int, ...]:
        text = self.line.argument(word)
        if not text:
            raise UsageError(f"Arguments to {word} should contain at least one letter")
        found = []
        at = 0
        while True:
            if at >= len(text):
                raise UsageError(f"Last file type in list argument to {word} is missing, i.e., list is ending on: ','")
            if text[at] not in TYPES:
                raise UsageError(f"Unknown argument to {word}: {text[at]}")
            found.append(TYPES[text[at]])
            at += 1
            if at == len(text):
                return tuple(found)
            if text[at] != ",":
                raise UsageError(f"Must separate multiple arguments to {word} using: ','")
            at += 1

    def _type(self, word: str) -> Predicate:
        kinds = self._kinds(word)
        if len(kinds) == 1:
            kind = kinds[0]
            return lambda visit: visit.stat.mode & S_IFMT == kind
        return lambda visit: visit.stat.mode & S_IFMT in kinds

    def _xtype(self, word: str) -> Predicate:
        kinds = self._kinds(word)
        follow = self.settings.follow != "L"

        def test(visit: Visit) -> bool:
            try:
                stat = self.proc.fs.stat(visit.path, follow)
            except FileNotFoundError:
                stat = visit.stat
            except OSError as e:
                self.settings.fail(visit.path, e)
                return False
            return stat.mode & S_IFMT in kinds

        return test

    def size_of(self, visit: Visit) -> int:
        """st_size; a file of unknown size is read."""
        size = visit.stat.size
        if size is None:
            try:
                size = len(self.proc.fs.read(visit.path))
            except OSError as e:
                self.settings.fail(visit.path, e)
                return 0
        return size

    def _size(self, word: str) -> Predicate:
        text = self.line.argument(word)
        digits = text.lstrip("+-") if text[:1] in ("+", "-") else text
        unit = digits[-1:]
        if unit in UNITS and not unit.isdecimal():
            digits = digits[:-1]
        elif unit.isdecimal():
            unit = "b"
        elif unit:
            raise UsageError(f"invalid -size type `{unit}'")
        if not digits.isdecimal():
            raise UsageError(f"Invalid argument `{text}' to -size")
        block, wanted = UNITS[unit], int(digits)
        compare = comparison(text, wanted)
        return lambda visit: compare(-(-self.size_of(visit) // block))

    def _empty(self, word: str) -> Predicate:
        def test(visit: Visit) -> bool:
            if visit.stat.is_dir:
                try:
                    return not self.proc.fs.list(visit.path)
                except OSError as e:
                    self.settings.fail(visit.path, e)
                    return False
            return visit.stat.is_file and self.size_of(visit) == 0

        return test

    # ---- numbers, owners, modes

    def _number(self, word: str) -> Predicate:
        text = self.line.argument(word)
        digits = text[1:] if text[:1] in ("+", "-") else text
        if not digits.isdecimal():
            raise UsageError(f"non-numeric argument to {word}: ‘{text}’")
        compare = comparison(text, int(digits))
        field = {"-links": "nlink", "-inum": "ino", "-uid": "uid", "-gid": "gid"}[word]
        return lambda visit: compare(getattr(visit.stat, field))

    def _user(self, word: str) -> Predicate:
        from mirage.commands._users import user_id
        text = self.line.argument(word)
        uid = user_id(self.proc, text)
        if uid is None:
            raise UsageError(f"invalid user name or UID argument to -user: ‘{text}’")
        return lambda visit: visit.stat.uid == uid

    def _group(self, word: str) -> Predicate:
        from mirage.commands._users import group_id
        text = self.line.argument(word)
        gid = group_id(self.proc, text)
        if gid is None:
            raise UsageError(f"invalid group name or GID argument to -group: ‘{text}’")
        return lambda visit: visit.stat.gid == gid

    def _nouser(self, word: str) -> Predicate:
        users = self.proc.machine.users
        return lambda visit: visit.stat.uid not in users

    def _nogroup(self, word: str) -> Predicate:
        groups = self.proc.machine.groups
        return lambda visit: visit.stat.gid not in groups

    def _perm(self, word: str) -> Predicate:
        from mirage.commands._mode import Mode
        text = self.line.argument(word)
        kind = text[0] if text[:1] in ("-", "/") else ""
        try:
            body = text[len(kind):]
            if body[:1] == "+" and body[1:].isdecimal():
                raise ValueError(body)
            mode = Mode(body)
        except ValueError:
            raise UsageError(f"invalid mode ‘{text}’") from None
        on_file, on_dir = mode.apply(0, False, 0), mode.apply(0, True, 0)

        def bits(visit: Visit) -> int:
            return on_dir if visit.stat.is_dir else on_file

        if kind == "-":
            return lambda visit: visit.stat.mode & bits(visit) == bits(visit)
        if kind == "/":
            return lambda visit: not bits(visit) or bool(visit.stat.mode & bits(visit))
        return lambda visit: visit.stat.mode & 0o7777 == bits(visit)

    def _access(self, word: str) -> Predicate:
        mode = {"-readable": os.R_OK, "-writable": os.W_OK, "-executable": os.X_OK}[word]
        access = self.proc.fs.access
        return lambda visit: access(visit.path, mode)

    def _samefile(self, word: str) -> Predicate:
        identity = self._reference(self.line.argument(word)).identity
        return lambda visit: visit.stat.identity == identity

    def _constant(self, word: str) -> Predicate:
        value = word == "-true"
        return lambda visit: value

    def _fstype(self, word: str) -> Predicate:
        name = self.line.argument(word)
        return lambda visit: name == "tmpfs"

    def _context(self, word: str) -> Predicate:
        raise UsageError("invalid predicate -context: SELinux is not enabled.")

    # ---- times

    def _reference(self, name: str) -> Stat:
        try:
            return self.proc.fs.stat(name, self.settings.follow != "P")
        except OSError as e:
            raise UsageError(f"{quote(self.proc, name)}: {e.strerror}\n{refusal_note(e)}".rstrip("\n")) from None

    def _newer(self, word: str) -> Predicate:
        letters = word[6:] or "mm"
        if len(letters) != 2 or letters[0] not in "aBcm" or letters[1] not in "aBcmt":
            raise UsageError(f"invalid predicate `{word}'")
        text = self.line.argument(word)
        if letters[1] == "t":
            limit = self._date(text)
        else:
            limit = time_of(self._reference(text), letters[1])
        return self._younger(letters[0], limit)

    def _newer_file(self, word: str) -> Predicate:
        limit = self._reference(self.line.argument(word)).mtime_ns
        return self._younger(word[1], limit)

    def _younger(self, which: str, limit: int) -> Predicate:
        if which == "m" and self.line.simple:
            self.settings.modified_after(limit)
        return lambda visit: time_of(visit.stat, which) > limit

    def _date(self, text: str) -> int:
        from mirage.commands._times import zone
        from mirage.text import dates
        try:
            return dates.parse(text, self.settings.now_ns, zone(self.proc))
        except (ValueError, OverflowError):
            raise UsageError(f"I cannot figure out how to interpret ‘{text}’ as a date or time") from None

    def _age(self, word: str) -> Predicate:
        """-mtime and -mmin: GNU compares with a moment, so that +1 is more than two days."""
        text = self.line.argument(word)
        sign = text[:1] if text[:1] in ("+", "-") else ""
        try:
            number = float(text[len(sign):])
            if not text[len(sign):][:1].isdigit() and text[len(sign):][:1] != ".":
                raise ValueError(text)
        except ValueError:
            raise UsageError(f"invalid argument `{text}' to `{word}'") from None
        which = word[1]
        origin = self._day_start()
        if word.endswith("min"):
            window = 60_000_000_000
            origin += DAY
        else:
            window = DAY
            if sign == "-":
                origin += DAY - 1_000_000_000
        limit = origin - int(number * window)
        if sign == "+":
            return lambda visit: time_of(visit.stat, which) < limit
        if sign == "-":
            return self._younger(which, limit)
        return lambda visit: 0 < time_of(visit.stat, which) - limit <= window

    def _day_start(self) -> int:
        now = self.settings.now_ns
        if not self.settings.daystart:
            return now - DAY
        from mirage.commands._times import local
        when = local(self.proc, now)
        return now - (when.hour * 3600 + when.minute * 60 + when.second) * 1_000_000_000 - now % 1_000_000_000

    def _used(self, word: str) -> Predicate:
        text = self.line.argument(word)
        digits = text[1:] if text[:1] in ("+", "-") else text
        if not digits.isdecimal():
            raise UsageError(f"invalid argument `{text}' to `{word}'")
        compare = comparison(text, int(digits))
        return lambda visit: compare(max(0, visit.stat.atime_ns - visit.stat.ctime_ns) // DAY)


_METHODS = {
    "-regex": "_regex", "-iregex": "_regex", "-type": "_type", "-xtype": "_xtype", "-size": "_size",
    "-empty": "_empty", "-links": "_number", "-inum": "_number", "-uid": "_number", "-gid": "_number",
    "-user": "_user", "-group": "_group", "-nouser": "_nouser", "-nogroup": "_nogroup", "-perm": "_perm",
    "-readable": "_access", "-writable": "_access", "-executable": "_access", "-samefile": "_samefile",
    "-true": "_constant", "-false": "_constant", "-fstype": "_fstype", "-context": "_context",
    "-anewer": "_newer_file", "-cnewer": "_newer_file", "-mtime": "_age", "-atime": "_age", "-ctime": "_age",
    "-mmin": "_age", "-amin": "_age", "-cmin": "_age", "-used": "_used",
}


def _fixed(text: str) -> str:
    """What every path begins with that a pattern matches."""
    return text[:next((i for i, char in enumerate(text) if char in "*?[\\"), len(text))]


def comparison(text: str, wanted: int) -> Callable[[int], bool]:
    """+N: more, -N: less, N: exactly."""
    if text.startswith("+"):
        return lambda value: value > wanted
    if text.startswith("-"):
        return lambda value: value < wanted
    return lambda value: value == wanted


def time_of(stat: Stat, which: str) -> int:
    if which == "m":
        return stat.mtime_ns
    if which == "a":
        return stat.atime_ns
    if which == "c":
        return stat.ctime_ns
    return stat.btime_ns if stat.btime_ns is not None else stat.mtime_ns
