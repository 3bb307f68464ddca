"""find's command line: options, start points, and the expression as a tree of Python functions."""
from __future__ import annotations

from mirage.commands._find.actions import ACTIONS, Actions
from mirage.commands._find.tests import Tests, UsageError
from mirage.commands._find.visit import Settings, Visit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.process import Process

    Predicate = Callable[[Visit], bool]

OPERATORS = {"(", ")", "!", "-not", "-a", "-and", "-o", "-or", ","}
OPTIONS_WITHOUT_ARGUMENT = ("-depth", "-d", "-daystart", "-follow", "-mount", "-xdev", "-noleaf", "-warn", "-nowarn",
                            "-ignore_readdir_race", "-noignore_readdir_race")


class CommandLine:
    """Reads the arguments; `roots` and `test` are the result."""

    def __init__(self, proc: Process, settings: Settings) -> None:
        self.proc = proc
        self.settings = settings
        self.roots: list[str] = []
        self.files_from: str | None = None
        self.words: list[str] = []
        self.at = 0
        self.acts = False
        self.simple = True                                   # so far all tests must hold, and nothing was done
        self.regextype = "emacs"
        self.tests = Tests(self)
        self.actions = Actions(self)

    # ---- the command line

    def parse(self, args: list[str]) -> Predicate:
        rest = self._leading(list(args))
        while rest and not looks_like_expression(rest[0], True):
            self.roots.append(rest.pop(0))
        self.words = rest
        self._global_options()
        if not self.words:
            test: Predicate = self.actions.printer()
            self.acts = True
        else:
            test = self._comma()
            if self.at < len(self.words):
                word = self.words[self.at]
                if word == ")":
                    raise UsageError("you have too many ')'")
                raise UsageError(f"paths must precede expression: `{word}'")
        if self.actions.deletes and self.settings.prunes and not self.settings.explicit_depth:
            raise UsageError("The -delete action automatically turns on -depth, but -prune does nothing when -depth is "
                             "in effect.  If you want to carry on anyway, just explicitly use the -depth option.")
        if not self.acts:
            return _both(test, self.actions.printer())
        return test

    def _leading(self, args: list[str]) -> list[str]:
        while args:
            word = args[0]
            if word in ("-H", "-L", "-P"):
                self.settings.follow = word[1]
            elif word == "-D":
                if len(args) < 2:
                    raise UsageError("Missing argument after the -D option.")
                args.pop(0)
                known = ("exec", "opt", "rates", "search", "stat", "time", "tree", "all", "help")
                for flag in args[0].split(","):
                    if flag not in known:
                        self.proc.message(f"Ignoring unrecognised debug flag ‘{flag}’")
            elif word.startswith("-O"):
                if not word[2:].isdecimal():
                    raise UsageError("The -O option must be immediately followed by a decimal integer")
            elif word == "--":
                args.pop(0)
                break
            else:
                break
            args.pop(0)
        return args

    def _global_options(self) -> None:
        """-follow counts for tests that stand before it as well."""
        if "-follow" in self.words:
            self.settings.follow = "L"

    # ---- operators, from the loosest to the tightest

    def _peek(self) -> str | None:
        return self.words[self.at] if self.at < len(self.words) else None

    def _comma(self) -> Predicate:
        left = self._or()
        while self._peek() == ",":
            self.settings.find_all()
            self.simple = False
            right = self._operand(",", self._or)
            left = _then(left, right)
        return left

    def _or(self) -> Predicate:
        left = self._and()
        while (word := self._peek()) in ("-o", "-or"):
            self.settings.find_all()
            self.simple = False
            left = _either(left, self._operand(word, self._and))
        return left

    def _and(self) -> Predicate:
        left = self._not()
        while True:
            word = self._peek()
            if word in ("-a", "-and"):
                left = _both(left, self._operand(word, self._not))
            elif word is None or word in (")", ",", "-o", "-or"):
                return left
            else:
                left = _both(left, self._not())

    def _operand(self, operator: str, parse: Callable[[], Predicate]) -> Predicate:
        self.at += 1
        if self._peek() is None:
            raise UsageError(f"expected an expression after '{operator}'")
        return parse()

    def _not(self) -> Predicate:
        word = self._peek()
        if word in ("!", "-not"):
            self.simple = False
            inner = self._operand(word, self._not)
            return lambda visit: not inner(visit)
        if word == "(":
            self.simple = False
            self.at += 1
            if self._peek() == ")":
                raise UsageError("invalid expression; empty parentheses are not allowed.")
            if self._peek() is None:
                raise UsageError("invalid expression; expected to find a ')' but didn't see one. "
                                 "Perhaps you need an extra predicate after '('")
            inner = self._comma()
            if self._peek() != ")":
                raise UsageError("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
            self.at += 1
            return inner
        if word in ("-o", "-or", "-a", "-and", ","):
            raise UsageError(f"invalid expression; you have used a binary operator '{word}' with nothing before it.")
        if word is None:
            raise UsageError("invalid expression")
        if word == ")":
            raise UsageError("invalid expression; you have too many ')'" if self.at else "you have too many ')'")
        return self._primary(word)

    # ---- primaries

    def argument(self, name: str) -> str:
        """The word after `name`."""
        if self.at >= len(self.words):
            raise UsageError(f"missing argument to `{name}'")
        self.at += 1
        return self.words[self.at - 1]

    def _primary(self, word: str) -> Predicate:
        self.at += 1
        if word in OPTIONS_WITHOUT_ARGUMENT:
            return self._option(word)
        if word in ("-maxdepth", "-mindepth"):
            text = self.argument(word)
            if not text.isdecimal():
                raise UsageError(f"Expected a positive decimal integer argument to {word}, but got ‘{text}’")
            setattr(self.settings, word[1:], int(text))
            return lambda visit: True
        if word == "-regextype":
            self.regextype = self.tests.regextype(self.argument(word))
            return lambda visit: True
        if word == "-files0-from":
            self.files_from = self.argument(word)
            return lambda visit: True
        if word in ACTIONS:
            self.simple = False
            self.acts = self.acts or ACTIONS[word][1]
            action: Predicate = getattr(self.actions, ACTIONS[word][0])(word)
            return action
        test = self.tests.make(word)
        if test is not None:
            return test
        if word.startswith("-"):
            raise UsageError(f"unknown predicate `{word}'")
        hint = ""
        if self.at >= 2 and self.words[self.at - 2] not in OPERATORS and self.at >= 3:
            previous = self.words[self.at - 3]
            if previous in ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname"):
                hint = f"\nfind: possible unquoted pattern after predicate `{previous}'?"
        raise UsageError(f"paths must precede expression: `{word}'{hint}")

    def _option(self, word: str) -> Predicate:
        s = self.settings
        if word in ("-depth", "-d"):
            s.depth = s.explicit_depth = True
        elif word == "-daystart":
            s.daystart = True
        elif word in ("-mount", "-xdev"):
            s.xdev = True
        elif word in ("-warn", "-nowarn"):
            s.warn = word == "-warn"
        elif word.endswith("readdir_race"):
            s.ignore_race = word == "-ignore_readdir_race"
        return lambda visit: True


def looks_like_expression(word: str, leading: bool) -> bool:
    if word.startswith("-"):
        return len(word) > 1
    if word in (")", ","):
        return not leading
    return word in ("(", "!")


def _then(left: Predicate, right: Predicate) -> Predicate:
    def both(visit: Visit) -> bool:
        left(visit)
        return right(visit)
    return both


def _either(left: Predicate, right: Predicate) -> Predicate:
    return lambda visit: left(visit) or right(visit)


def _both(left: Predicate, right: Predicate) -> Predicate:
    return lambda visit: left(visit) and right(visit)
