"""The walk over a text that does not run, and what the policy says about each command: `mirage policy check`.

No service is asked anything: a path of a remote mount is taken as it is written, and a glob over one is unknown.
"""
from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from mirage.policy.gate import Gate
from mirage.policy.operands import WRAPPERS, command_names, operands
from mirage.policy.rules import ALLOW, Decision, strictest
from mirage.policy.uses import uses
from mirage.policy.vocabulary import STRICTNESS
from mirage.shell import ast, printer
from mirage.shell.expand import compile_word
from mirage.shell.parse import parse
from mirage.terminal import Terminal
from mirage.vfs.resolve import Target, resolve

if TYPE_CHECKING:
    from mirage.vfs.namespace import Mounted
    from mirage.vfs.types import Stat

UNKNOWN = "unknown"
SPECULATIVE = (ast.Param, ast.CmdSub, ast.ProcSub, ast.Arith, ast.BadSubst)
REDIRECTIONS = {">": "replace", ">|": "replace", "&>": "replace", ">&": "replace", ">>": "append", "&>>": "append",
                "<": "read", "<>": "append"}
SHELLS = ("bash", "sh")
TAKES_VALUE = {"env": "uCS", "timeout": "ks", "nice": "n", "xargs": "aEILnPsd", "exec": "a", "stdbuf": "ioe",
               "time": "fo"}
MAX_DEPTH = 20


class Finding:
    """One decision: the command it is about, what it asks for, and the answer."""

    __slots__ = ("action", "command", "effect", "reason", "rule", "target")

    def __init__(self, command: str, effect: str, target: str, action: str, rule: str, reason: str) -> None:
        self.command = command
        self.effect = effect
        self.target = target
        self.action = action
        self.rule = rule
        self.reason = reason

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def verdict(findings: list[Finding]) -> str:
    """The strictest action of all findings; unknown is stricter than allow and weaker than every refusal."""
    worst = "allow"
    for finding in findings:
        if finding.action == UNKNOWN:
            worst = UNKNOWN if worst == "allow" else worst
        elif STRICTNESS[finding.action] > (0 if worst == UNKNOWN else STRICTNESS[worst]):
            worst = finding.action
    return worst


def check(terminal: Terminal, text: str) -> list[Finding]:
    """Every decision about `text`, in the order of the text. Raises ValueError where it does not parse."""
    checker = Checker(terminal)
    if checker.gate is None:
        raise ValueError("this terminal has no policy")
    checker.whole(text)
    return checker.findings


class Checker:
    """Collects findings; without a policy everything is allowed."""

    def __init__(self, terminal: Terminal) -> None:
        gate = terminal.machine.gate
        self.gate = gate if isinstance(gate, Gate) else None
        self.terminal = terminal
        self.table = terminal.machine.namespace.table
        self.shell = terminal.session.shell
        self.cwd = terminal.cwd
        self.findings: list[Finding] = []
        self.depth = 0

    # ---- the tree

    def whole(self, text: str) -> None:
        """Visit every command of a text; ValueError where it does not parse."""
        script = parse(text)
        if script.error is not None:
            raise ValueError(str(script.error))
        self.visit(tuple(script.items))

    def text(self, text: str, shown: str) -> None:
        """Commands given as text, to eval or bash -c."""
        script = parse(text) if self.depth < MAX_DEPTH else None
        if script is None or script.error is not None:
            self._add(shown, "exec", text, UNKNOWN, "", "commands that cannot be read")
            return
        self.depth += 1
        self.visit(tuple(script.items))
        self.depth -= 1

    def visit(self, node: Any) -> None:
        if isinstance(node, tuple):
            for part in node:
                self.visit(part)
        elif isinstance(node, ast.Simple):
            self._simple(node)
        elif isinstance(node, ast.Redir):
            self._redirection(node, printer.redirection_text(node))
        elif isinstance(node, ast.Node):
            self.visit(_parts(node))

    def _simple(self, node: ast.Simple) -> None:
        shown = printer.command_text(node)
        for part in (*node.assigns, *node.words):
            self._inside(part)
        given = None
        for redirection in node.redirs:
            self._redirection(redirection, shown)
            given = self._given(redirection) or given
        if not node.words:
            return
        words: list[str] = []
        unknown: list[str] = []
        for word in node.words:
            known = self._expand(word) if isinstance(word, ast.Word) else [printer.word_text(word)]
            if known is None:
                unknown.append(printer.word_text(word))
                known = [] if not words and len(unknown) == 1 else [printer.word_text(word)]
            words.extend(known)
        if unknown and (not words or node.words[0].text == unknown[0]):
            self._add(shown, "exec", unknown[0], UNKNOWN, "", f"the command depends on {unknown[0]}")
            return
        self._command(shown, words, unknown, given)

    @staticmethod
    def _given(node: ast.Redir) -> str | None:
        """The text of a here-document or here-string for standard input, where it is literal."""
        if node.fd not in (None, 0):
            return None
        if isinstance(node.target, ast.HereDoc):
            return node.target.body.lit
        return node.target.lit if node.op == "<<<" and isinstance(node.target, ast.Word) else None

    def _inside(self, node: Any) -> None:
        """Commands inside the words of a command: $(...) and <(...)."""
        if isinstance(node, tuple):
            for part in node:
                self._inside(part)
        elif isinstance(node, (ast.CmdSub, ast.ProcSub)):
            self.visit(node.body)
        elif isinstance(node, ast.Node):
            self._inside(_parts(node))

    def _expand(self, word: ast.Word) -> list[str] | None:
        """The fields of a word, or None where only running can tell."""
        if word.lit is not None and not word.glob:
            return [word.lit]
        if _speculative(word) or word.glob and self._asks_a_service(word):
            return None
        previous, self.shell.proc.cwd = self.shell.proc.cwd, self.cwd
        try:
            fields: list[str] = compile_word(word)(self.shell)
            return fields
        finally:
            self.shell.proc.cwd = previous

    def _asks_a_service(self, word: ast.Word) -> bool:
        """Would expanding the glob list a directory of a remote mount?"""
        top = self.absolute(self._fixed_part(word))
        below = top.rstrip("/") + "/"
        return is_remote(self.table.find(top)) or any(
            is_remote(m) and m.point.startswith(below) for m in self.table.nested)

    @staticmethod
    def _fixed_part(word: ast.Word) -> str:
        """The directory in which the first pattern of a glob is looked for."""
        text = printer.word_text(word)
        first = next((i for i, char in enumerate(text) if char in "*?[{@!+"), len(text))
        return text[:first].rpartition("/")[0] + "/" if "/" in text[:first] else "."

    # ---- questions

    def _command(self, shown: str, words: list[str], unknown: list[str], given: str | None = None) -> None:
        name = posixpath.basename(words[0])
        programs = self._programs(words[0])
        gate = self.gate
        if gate is not None:
            found = operands([programs[0] if programs else words[0], *words[1:]], self._real, gate.is_mount_root,
                             self.cwd)
            self._say(shown, "exec", words[0], strictest(
                gate.policy.each_on_command(command_names(words), programs, lambda: found)))
        if programs:
            name = posixpath.basename(programs[0])
        for word in unknown:
            self._add(shown, "", word, UNKNOWN, "", f"depends on {word}")
        if self._nested(shown, name, words, unknown, given):
            return
        cli = self.terminal.machine.clis.get(name)
        if cli is not None:
            self._call(shown, cli, words, unknown)
            return
        self._uses(shown, name, words, unknown)
        if name == "cd" and not unknown:
            self.cwd = self.absolute(words[1]) if len(words) > 1 else "/home/user"

    def _programs(self, word: str) -> tuple[str, ...]:
        """What runs where `word` is a program: the tool that a path or link leads to."""
        process = self.shell.proc
        previous, process.cwd = process.cwd, self.cwd
        try:
            if "/" not in word:
                found = self.terminal.machine.find_program(process, word)
                return (found,) if found is not None else ()
            return (self._real(word),)
        finally:
            process.cwd = previous

    def _nested(self, shown: str, name: str, words: list[str], unknown: list[str], given: str | None) -> bool:
        """Commands inside a command. True: there is nothing else to say about it."""
        rest = _rest(name, words)
        if name in WRAPPERS or name == "exec":
            if rest:
                self._command(shown, rest, [])
            return True
        if name == "xargs":
            self._add(shown, "", "standard input", UNKNOWN, "", "operands come from standard input")
            if rest:
                self._command(shown, rest, [])
            return True
        if name == "eval":
            if not unknown:
                self.text(" ".join(words[1:]), shown)
            return True
        if name in SHELLS:
            self._shell(shown, words, given)
            return True
        if name in ("source", ".") and len(words) > 1:
            self._path(shown, "read", self.absolute(words[1]))
            self._add(shown, "exec", words[1], UNKNOWN, "", "the commands are in a file")
            return True
        if name == "trap" and len(words) > 2 and words[1] not in ("-", ""):
            self.text(words[1], shown)
        if name == "find":
            for i, word in enumerate(words):
                if word in ("-exec", "-execdir", "-ok", "-okdir"):
                    end = next((j for j in range(i + 1, len(words)) if words[j] in (";", "+")), len(words))
                    self._command(shown, [w for w in words[i + 1:end] if w != "{}"] or ["{}"], [])
                    self._add(shown, "", "{}", UNKNOWN, "", "operands are what find finds")
        return False

    def _shell(self, shown: str, words: list[str], given: str | None) -> None:
        for i, word in enumerate(words[1:], 1):
            if word.startswith("-") and not word.startswith("--") and "c" in word and i + 1 < len(words):
                self.text(words[i + 1], shown)
                return
            if not word.startswith("-"):
                self._path(shown, "read", self.absolute(word))
                self._add(shown, "exec", word, UNKNOWN, "", "the commands are in a file")
                return
        if given is not None:
            self.text(given, shown)
        else:
            self._add(shown, "exec", "standard input", UNKNOWN, "", "the commands come from standard input")

    def _uses(self, shown: str, name: str, words: list[str], unknown: list[str]) -> None:
        skip = {self.absolute(word) for word in unknown}
        group: list[tuple[str, str]] = []
        for use, path in uses([name, *words[1:]], self.cwd):
            if use == UNKNOWN:
                self._add(shown, "", words[0], UNKNOWN, "", path)
            elif use in ("copy", "move", "link"):
                group.append((use, path))
            elif path not in skip:
                self._path(shown, use, path)
        if group:
            self._group(shown, group, skip)

    def _group(self, shown: str, group: list[tuple[str, str]], skip: set[str]) -> None:
        use, last = group[-1]
        first = {"copy": "read", "move": "destroy", "link": "link"}[use]
        stat = self._stat(last)
        folder = stat is not None and stat.is_dir
        for _, path in group[:-1] or [(use, self.cwd)]:
            if path not in skip:
                self._path(shown, first, path)
            if last not in skip:
                self._path(shown, "replace", posixpath.join(last, posixpath.basename(path)) if folder else last)

    def _call(self, shown: str, cli: Any, words: list[str], unknown: list[str]) -> None:
        import json
        chosen = cli.known_operations().get(words[1]) if len(words) > 1 else None
        if chosen is None or "--help" in words:
            return
        arguments: Any = {}
        if len(words) > 2 and words[2].startswith("{") and words[2] not in unknown:
            try:
                arguments = json.loads(words[2])
            except ValueError:
                arguments = {}
        policy = self.gate.policy if self.gate is not None else None
        if policy is not None and unknown and any(r.when is not None for s in policy.sets for r in s.rules):
            self._add(shown, "call", f"{cli.name} {chosen.name}", UNKNOWN, "", f"depends on {unknown[0]}")
        self._say(shown, "call", f"{cli.name} {chosen.name}", strictest(
            policy.each_on_call(cli.name, chosen.name, chosen.effects, arguments) if policy is not None else ()))

    def _redirection(self, node: ast.Redir, shown: str) -> None:
        self._inside(node.target)
        use = REDIRECTIONS.get(node.op)
        if use is None or not isinstance(node.target, ast.Word) or node.op == ">&" and _descriptor(node.target.lit):
            return
        known = self._expand(node.target)
        if known is None:
            text = printer.word_text(node.target)
            self._add(shown, use, text, UNKNOWN, "", f"depends on {text}")
            return
        for word in known:
            self._path(shown, use, self.absolute(word))

    def _path(self, shown: str, use: str, path: str) -> None:
        """`replace`, `append` and `touch` are create or more, as the file is there or not."""
        effect = use
        if use in ("replace", "append", "touch"):
            there = self._exists(path)
            effect = {"replace": "destroy", "append": "write", "touch": "setattr"}[use] if there else "create"
        self._say(shown, effect, path, self._decide(effect, path))

    def _decide(self, effect: str, path: str) -> Decision:
        if self.gate is None:
            return ALLOW
        target = self._target(path)
        return self.gate.policy.on_path(effect, path) if target is None else self.gate.decide(effect, target)

    def _target(self, path: str) -> Target | None:
        """The object of a path; of a remote mount its place alone."""
        mounted = self.table.find(path)
        if is_remote(mounted):
            return Target(mounted, mounted.inner(path), path, None)
        try:
            return resolve(self.table, path, create=True)
        except OSError:
            return None

    def _stat(self, path: str) -> Stat | None:
        """None where there is nothing, or where only a service knows."""
        target = self._target(path)
        return target.stat if target is not None else None

    def _exists(self, path: str) -> bool:
        """Also where only a service knows: replacing is the worse case."""
        return is_remote(self.table.find(path)) or self._stat(path) is not None

    def absolute(self, word: str) -> str:
        return posixpath.normpath(posixpath.join(self.cwd, word))

    def _real(self, word: str) -> str:
        target = self._target(self.absolute(word))
        return target.path if target is not None else self.absolute(word)

    def _say(self, shown: str, effect: str, target: str, decision: Decision) -> None:
        self._add(shown, effect, target, decision.action, decision.rule_name, decision.reason)

    def _add(self, shown: str, effect: str, target: str, action: str, rule: str, reason: str) -> None:
        self.findings.append(Finding(shown, effect, target, action, rule, reason))


def is_remote(mounted: Mounted) -> bool:
    """Does looking there cost something? Mounts of services count what they do."""
    return hasattr(mounted.mount, "counters")


def _descriptor(word: str | None) -> bool:
    return word is not None and word.rstrip("-").isdecimal() or word == "-"


def _rest(name: str, words: list[str]) -> list[str]:
    """The command that a wrapper runs: what follows its options, assignments and own operands."""
    values, own, i = TAKES_VALUE.get(name, ""), WRAPPERS.get(name, 0), 1
    while i < len(words):
        word = words[i]
        if word == "--":
            i += 1
            break
        if word.startswith("-") and len(word) > 1:
            if name == "env" and word in ("-S", "--split-string"):
                return [part for w in words[i + 1:] for part in w.split()]
            i += 2 if len(word) == 2 and word[1] in values else 1
        elif name == "env" and "=" in word:
            i += 1
        else:
            break
    return words[i + own:]


def _speculative(node: Any) -> bool:
    if isinstance(node, tuple):
        return any(_speculative(part) for part in node)
    if isinstance(node, SPECULATIVE):
        return True
    return isinstance(node, ast.Node) and _speculative(_parts(node))


def _parts(node: ast.Node) -> tuple[Any, ...]:
    names: tuple[str, ...] = node.__slots__
    return tuple(getattr(node, name, None) for name in names)
