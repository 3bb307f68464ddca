"""What each command of a text would cost: `mirage explain`."""
from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mirage.planner.checks import REDIRECTIONS, UNKNOWN, Checker, is_remote
from mirage.planner.explanation import Explanation, Step
from mirage.planner.searching import GREPS, queries
from mirage.policy.operands import WRAPPERS, operands
from mirage.policy.uses import WORDS, uses
from mirage.shell import ast, printer
from mirage.vfs.estimate import Cost, Range, calls, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mirage.terminal import Terminal
    from mirage.vfs.namespace import Mounted
    from mirage.vfs.search import Query

LEAVES = frozenset(("exit", "return", "exec", "break", "continue", "kill", "set", "trap"))
"""After these the rest of a text may not run."""

WHOLE = frozenset(("cat", "wc", "sort", "md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum", "base64",
                   "tac", "nl", "od", "rev"))
"""These read their operands to the end."""

ALWAYS_WHOLE_TREES = frozenset(("tar", "zip"))
FILE_TESTS = frozenset("-" + letter for letter in "abcdefghkprstuwxGLNOS")
MOST_FILES = 20_000                                          # local files that are counted
CHANGES = frozenset(("create", "write", "destroy", "replace", "append", "touch", "setattr", "link", "move", "copy"))


def explain(terminal: Terminal, text: str) -> Explanation:
    """ValueError where the text does not parse."""
    planner = _Planner(terminal)
    planner.whole(text)
    return Explanation(text, planner.steps, list(dict.fromkeys(planner.findings)))


class _Planner(Checker):
    """Also collects steps. `maybe`: what comes now may not run; `often`: it may run any number of times."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__(terminal)
        self.steps: list[Step] = []
        self.maybe = False
        self.often = False

    @contextmanager
    def _perhaps(self, often: bool = False) -> Iterator[None]:
        before = self.maybe, self.often
        self.maybe, self.often = True, before[1] or often
        try:
            yield
        finally:
            self.maybe, self.often = before[0] or self.left, before[1]

    left = False                                             # a command before may have ended the text

    # ---- the tree

    def visit(self, node: Any) -> None:
        if isinstance(node, (ast.While, ast.For, ast.Select, ast.ArithFor, ast.Function)):
            if isinstance(node, (ast.For, ast.Select)):
                self._globs(node.words)
            with self._perhaps(often=True):
                super().visit(node)
        elif isinstance(node, (ast.If, ast.Case, ast.Coproc, ast.Background)):
            with self._perhaps():
                super().visit(node)
        elif isinstance(node, ast.AndOr):
            super().visit(node.first)
            with self._perhaps():
                super().visit(node.rest)
        elif isinstance(node, ast.Pipeline) and len(node.cmds) > 1:
            with self._perhaps():                            # a reader that leaves stops those before it
                super().visit(tuple(node.cmds[:-1]))
            super().visit(node.cmds[-1])
        elif isinstance(node, ast.CUn):
            super().visit(node)
            if node.op in FILE_TESTS and isinstance(node.arg, ast.Word):
                self._word(f"[[ {node.op} {printer.word_text(node.arg)} ]]", "stat", node.arg)
        else:
            super().visit(node)

    def _inside(self, node: Any) -> None:
        if isinstance(node, ast.Param):
            with self._perhaps():
                super()._inside(node)
        else:
            super()._inside(node)

    def _globs(self, words: Any) -> None:
        for word in words or ():
            if isinstance(word, ast.Word) and word.glob and self._expand(word) is None:
                self._glob(printer.word_text(word), word)

    def _word(self, shown: str, action: str, word: ast.Word) -> None:
        for text in self._expand(word) or ():
            self._cost(shown, action, self.absolute(text))

    # ---- commands

    def _simple(self, node: ast.Simple) -> None:
        for word in node.words:
            if isinstance(word, ast.Word) and word.glob and self._expand(word) is None:
                self._glob(printer.command_text(node), word)
        super()._simple(node)

    def _glob(self, shown: str, word: ast.Word) -> None:
        """What the shell asks while it expands a glob over a remote mount."""
        if not self._asks_a_service(word):
            return
        text = printer.word_text(word)
        top = self.absolute(self._fixed_part(word))
        deep = "/" in text[len(self._fixed_part(word)):] or "**" in text or not is_remote(self.table.find(top))
        cost = self._estimate(self.table.find(top), top, "list", ())
        self._step(shown, self.table.find(top), "list", text, cost.plus(calls(0, None)) if deep else cost)

    def _command(self, shown: str, words: list[str], unknown: list[str], given: str | None = None) -> None:
        before = len(self.findings)
        shell = self.shell
        if words[0] in shell.functions or words[0] in shell.aliases:
            self._unknown(shown, words[0], "what it does is in the session")
        super()._command(shown, words, unknown, given)
        if words[0] in LEAVES:
            self.left = self.maybe = True
        if words[0] == "cd" and len(words) > 1:
            self._cost(shown, "stat", self.cwd)
        if words[0] not in WORDS or words[0] in ("xargs", "eval", "exec") or words[0] in WRAPPERS:
            for finding in self.findings[before:]:
                if finding.action == UNKNOWN and finding.effect in ("", "exec"):
                    self._unknown(shown, finding.target, finding.reason)

    def _uses(self, shown: str, name: str, words: list[str], unknown: list[str]) -> None:
        super()._uses(shown, name, words, unknown)
        if name == "cd":
            return
        skip = {self.absolute(word) for word in unknown}
        recursive = name in ALWAYS_WHOLE_TREES or any(
            o.recursive for o in operands([name, *words[1:]], self.absolute, lambda path: False, self.cwd))
        for use, path in uses([name, *words[1:]], self.cwd):
            if use != UNKNOWN and path not in skip:
                self._use(shown, name, words, use, path, recursive)

    def _use(self, shown: str, name: str, words: list[str], use: str, path: str, recursive: bool) -> None:
        asked: Sequence[Query] = ()
        action = "stat"
        if use in ("read", "copy"):
            action = "read_all" if recursive else "read"
            if recursive and name in (*GREPS, "rg"):
                found = queries(name, words)
                asked = found or ()
                action = "search" if found is not None else "walk" if "--files" in words else "read_all"
        elif use == "list":
            action = "walk" if recursive else "list"
            if name == "find" and "-maxdepth" in words[:-1]:
                action = {"0": "stat", "1": "list"}.get(words[words.index("-maxdepth") + 1], action)
            if name == "ls" and any(w.startswith("-") and not w.startswith("--") and "d" in w for w in words[1:]):
                action = "stat"
        elif use == "destroy" and recursive:
            action = "walk"
        mounted = self.table.find(path)
        if use in CHANGES and use != "copy" and is_remote(mounted):
            self._step(shown, mounted, "write", path, calls(0, None if mounted.can.writable else 0)
                       .plus(self._estimate(mounted, path, "stat", ()).maybe))
            return
        self._cost(shown, action, path, asked, name)

    def _call(self, shown: str, cli: Any, words: list[str], unknown: list[str]) -> None:
        before = len(self.findings)
        super()._call(shown, cli, words, unknown)
        made = [f for f in self.findings[before:] if f.effect == "call" and f.action != UNKNOWN]
        if made:
            refused = any(f.action in ("deny", "hide", "stage") for f in made)
            cost = calls(0, 0) if refused else Cost(Range(0, None), None, Range(0, 1))
            self.steps.append(Step(shown, cli.name, "call", made[0].target, self._bounded(cost)))

    def _redirection(self, node: ast.Redir, shown: str) -> None:
        before = len(self.findings)
        super()._redirection(node, shown)
        use = REDIRECTIONS.get(node.op)
        for finding in self.findings[before:]:
            if finding.action == UNKNOWN:
                self._unknown(shown, finding.target, finding.reason)
            elif use == "read":
                self._cost(shown, "read", finding.target)
            elif use is not None:
                self._use(shown, "", [], use, finding.target, False)

    # ---- costs

    def _cost(self, shown: str, action: str, path: str, asked: Sequence[Query] = (), name: str = "") -> None:
        """The cost at `path`, and at the mounts below it for actions on everything there."""
        mounted = self.table.find(path)
        if action in ("walk", "read_all", "search"):
            below = path.rstrip("/") + "/"
            for other in self.table.nested:
                if other.point.startswith(below) and is_remote(other):
                    self._step(shown, other, action, other.point, self._estimate(other, other.point, action, asked))
        if is_remote(mounted):
            self._step(shown, mounted, action, path, self._estimate(mounted, path, action, asked))
        elif action in ("read", "read_all", "search"):
            size = self._local(mounted, path, action)
            if size.high != 0:
                sure = name in WHOLE and action == "read" and self._decide("read", path).action == "allow"
                self._step(shown, None, action, path, Cost(None, size if sure else size.maybe))

    def _estimate(self, mounted: Mounted, path: str, action: str, asked: Sequence[Query]) -> Cost:
        estimate = getattr(mounted.mount, "estimate", None)
        if action == "search" and "search" not in mounted.can:
            action = "read_all"
        cost: Cost = estimate(mounted.inner(path), action, asked) if estimate is not None else unknown(len(asked))
        effect = "list" if action in ("list", "walk") else "read"
        if self._decide("stat", path).action != "allow" or self._decide(effect, path).action not in ("allow", "limit"):
            cost = cost.maybe
        if action == "search":
            words = sorted({word for query in asked for word in query.literals})
            kind = "whole words" if all(q.whole_words for q in asked) else "text"
            cost.note = f"{kind}: {', '.join(words)[:60]}; then what it names is read"
        return cost

    def _local(self, mounted: Mounted, path: str, action: str) -> Range:
        """Bytes of the terminal's own files and of those of the host."""
        stat = self._stat(path)
        if stat is None:
            return Range()
        if stat.is_file:
            return Range(stat.size or 0, stat.size)
        if not stat.is_dir or action == "read":
            return Range()
        below = path.rstrip("/") + "/"
        tops = [(mounted, mounted.inner(path))]
        tops += [(m, "/") for m in self.table.nested if m.point.startswith(below) and not is_remote(m)]
        size, left = 0, MOST_FILES
        for mount, top in tops:
            found, left = _sizes(mount, top, left)
            if found is None:
                return Range(0, None)
            size += found
        return Range(0, size)

    def _unknown(self, shown: str, word: str, why: str) -> None:
        """Anything may be read by it, where there are remote mounts."""
        cost = Cost(None, Range(0, None))
        if any(is_remote(m) for m in (self.table.root, *self.table.nested)):
            cost = unknown()
            cost.searches = Range(0, None)
        cost.note = why
        self.steps.append(Step(shown, "?", UNKNOWN, word, cost))

    def _step(self, shown: str, mounted: Mounted | None, action: str, path: str, cost: Cost) -> None:
        self.steps.append(Step(shown, mounted.point if mounted is not None else "", action, path, self._bounded(cost)))

    def _bounded(self, cost: Cost) -> Cost:
        cost = cost.maybe if self.maybe else cost
        return cost.often if self.often else cost


def _sizes(mounted: Mounted, top: str, left: int) -> tuple[int | None, int]:
    """(bytes of the files below, None where that cannot be told; how many more files may be counted)."""
    size, todo = 0, [top]
    while todo:
        at = todo.pop()
        try:
            entries = list(mounted.mount.list(at))
        except OSError:
            continue
        for entry in entries:
            left -= 1
            if left < 0 or entry.stat is None:
                return None, left
            if entry.stat.is_dir:
                todo.append(f"{at.rstrip('/')}/{entry.name}")
            elif entry.stat.is_file:
                if entry.stat.size is None:
                    return None, left
                size += entry.stat.size
    return size, left
