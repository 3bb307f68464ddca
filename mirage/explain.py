"""What a policy would say to a command, without running it: `mirage policy check`.

Words of literals, tildes, braces and globs are expanded; whatever only running can tell (a variable, a substitution) is
reported as unknown. Every command of the text is looked at once, also in branches that might not run.
"""
from __future__ import annotations

import posixpath
from typing import Any

from mirage.policy.gate import Gate
from mirage.policy.operands import WRAPPERS, command_names, operands
from mirage.policy.rules import Decision
from mirage.policy.vocabulary import STRICTNESS
from mirage.shell import ast, printer
from mirage.shell.expand import compile_word
from mirage.shell.parse import parse
from mirage.terminal import Terminal
from mirage.vfs.resolve import resolve

UNKNOWN = "unknown"
SPECULATIVE = (ast.Param, ast.CmdSub, ast.ProcSub, ast.Arith, ast.BadSubst)
REDIRECTIONS = {">": "replace", ">|": "replace", "&>": "replace", ">>": "append", "&>>": "append", "<": "read",
                "<>": "append"}

OPERANDS: dict[str, str] = {
    "rm": "destroy", "rmdir": "destroy", "unlink": "destroy", "shred": "destroy", "truncate": "destroy",
    "mkdir": "create", "mkfifo": "create", "mktemp": "create", "touch": "touch", "tee": "replace",
    "chmod": "setattr", "chown": "setattr", "chgrp": "setattr", "ls": "list", "du": "list", "tree": "list",
    "stat": "stat", "test": "stat", "[": "stat", "cd": "stat", "pushd": "stat", "realpath": "stat", "readlink": "stat",
    "cp": "copy", "mv": "move", "ln": "link", "install": "copy", "find": "list",
    "echo": "", "printf": "", "true": "", "false": "", ":": "", "exit": "", "return": "", "seq": "", "sleep": "",
    "export": "", "declare": "", "local": "", "set": "", "shopt": "", "unset": "", "read": "", "basename": "",
    "dirname": "", "date": "", "expr": "", "yes": "", "which": "", "type": "", "kill": "", "wait": "", "trap": "",
    "shift": "", "let": "", "umask": "", "alias": "", "break": "", "continue": "",
}
"""What the operands of a command are for; a command that is not here reads them."""


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
    script = parse(text)
    if script.error is not None:
        raise ValueError(str(script.error))
    checker = _Checker(terminal)
    for item in script.items:
        checker.visit(item)
    return checker.findings


class _Checker:
    def __init__(self, terminal: Terminal) -> None:
        gate = terminal.machine.gate
        if not isinstance(gate, Gate):
            raise ValueError("this terminal has no policy")
        self.gate = gate
        self.terminal = terminal
        self.shell = terminal.session.shell
        self.cwd = terminal.cwd
        self.findings: list[Finding] = []

    # ---- the tree

    def visit(self, node: Any) -> None:
        if isinstance(node, tuple):
            for part in node:
                self.visit(part)
        elif isinstance(node, ast.Simple):
            self._simple(node)
        elif isinstance(node, ast.Redir):
            self._redirection(node, printer.redirection_text(node))
        elif isinstance(node, ast.Node):
            for name in node.__slots__:
                self.visit(getattr(node, name, None))

    def _simple(self, node: ast.Simple) -> None:
        shown = printer.command_text(node)
        for part in (*node.assigns, *node.words):
            self._inside(part)
        for redirection in node.redirs:
            self._redirection(redirection, shown)
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
        self._command(shown, words, unknown)

    def _inside(self, node: Any) -> None:
        """Commands inside the words of a command: $(...) and <(...)."""
        if isinstance(node, tuple):
            for part in node:
                self._inside(part)
        elif isinstance(node, (ast.CmdSub, ast.ProcSub)):
            self.visit(node.body)
        elif isinstance(node, ast.Node):
            for name in node.__slots__:
                self._inside(getattr(node, name, None))

    def _expand(self, word: ast.Word) -> list[str] | None:
        """The fields of a word, or None where only running can tell."""
        if word.lit is not None and not word.glob:
            return [word.lit]
        if _speculative(word):
            return None
        previous, self.shell.proc.cwd = self.shell.proc.cwd, self.cwd
        try:
            fields: list[str] = compile_word(word)(self.shell)
            return fields
        finally:
            self.shell.proc.cwd = previous

    # ---- questions

    def _command(self, shown: str, words: list[str], unknown: list[str]) -> None:
        name = posixpath.basename(words[0])
        decision = self.gate.policy.on_command(
            command_names(words), operands(words, self._real, self.gate._is_mount_root, self.cwd))
        self._say(shown, "exec", words[0], decision)
        if name in WRAPPERS and len(words) > 1 + WRAPPERS[name]:
            rest = [w for w in words[1:] if not w.startswith("-") and "=" not in w][WRAPPERS[name]:]
            if rest:
                self._command(shown, words[words.index(rest[0]):], unknown)
            return
        cli = self.terminal.machine.clis.get(name)
        if cli is not None:
            self._call(shown, cli, words, unknown)
            return
        for word in unknown:
            self._add(shown, "", word, UNKNOWN, "", f"depends on {word}")
        paths = [o.path for o in operands(words, self._absolute, lambda path: False, self.cwd)]
        skip = set(unknown)
        self._operands(shown, name, words, [p for p in paths if posixpath.basename(p) not in skip])
        if name == "cd" and not unknown:
            self.cwd = paths[0] if paths else "/home/user"

    def _operands(self, shown: str, name: str, words: list[str], paths: list[str]) -> None:
        use = OPERANDS.get(name, "read")
        if name == "sed" and any(w.startswith(("-i", "--in-place")) for w in words):
            use = "replace"
        if name == "find" and "-delete" in words:
            use = "destroy"
        if name == "tee" and ("-a" in words or "--append" in words):
            use = "append"
        if use in ("copy", "move", "link") and len(paths) > 1:
            first = {"copy": "read", "move": "destroy", "link": "link"}[use]
            for path in paths[:-1]:
                self._path(shown, first, path)
            last = paths[-1]
            folder = self.terminal.fs.exists(last) and self.terminal.fs.stat(last).is_dir
            for path in paths[:-1]:
                self._path(shown, "replace", posixpath.join(last, posixpath.basename(path)) if folder else last)
            return
        for path in paths:
            if use:
                self._path(shown, use, path)

    def _call(self, shown: str, cli: Any, words: list[str], unknown: list[str]) -> None:
        import json
        chosen = cli.operations.get(words[1]) if len(words) > 1 else None
        if chosen is None or "--help" in words:
            return
        arguments: Any = {}
        if len(words) > 2 and words[2].startswith("{") and words[2] not in unknown:
            try:
                arguments = json.loads(words[2])
            except ValueError:
                arguments = {}
        decision = self.gate.policy.on_call(cli.name, chosen.name, chosen.effects, arguments)
        if unknown and any(r.when is not None for s in self.gate.policy.sets for r in s.rules):
            self._add(shown, "call", f"{cli.name} {chosen.name}", UNKNOWN, "", f"depends on {unknown[0]}")
        self._say(shown, "call", f"{cli.name} {chosen.name}", decision)

    def _redirection(self, node: ast.Redir, shown: str) -> None:
        self._inside(node.target)
        use = REDIRECTIONS.get(node.op)
        if use is None or not isinstance(node.target, ast.Word):
            return
        known = self._expand(node.target)
        if known is None:
            text = printer.word_text(node.target)
            self._add(shown, use, text, UNKNOWN, "", f"depends on {text}")
            return
        for word in known:
            self._path(shown, use, self._absolute(word))

    def _path(self, shown: str, use: str, path: str) -> None:
        """`replace`, `append` and `touch` are create or more, as the file is there or not."""
        effect = use
        if use in ("replace", "append", "touch"):
            there = self._exists(path)
            effect = {"replace": "destroy", "append": "write", "touch": "setattr"}[use] if there else "create"
        self._say(shown, effect, path, self._decide(effect, path))

    def _decide(self, effect: str, path: str) -> Decision:
        try:
            target = resolve(self.terminal.machine.namespace.table, path, create=True)
        except OSError:
            return self.gate.policy.on_path(effect, path)
        return self.gate.decide(effect, target)

    def _exists(self, path: str) -> bool:
        try:
            return resolve(self.terminal.machine.namespace.table, path).stat is not None
        except OSError:
            return False

    def _absolute(self, word: str) -> str:
        return posixpath.normpath(posixpath.join(self.cwd, word))

    def _real(self, word: str) -> str:
        try:
            return resolve(self.terminal.machine.namespace.table, self._absolute(word), create=True).path
        except OSError:
            return self._absolute(word)

    def _say(self, shown: str, effect: str, target: str, decision: Decision) -> None:
        self._add(shown, effect, target, decision.action, decision.rule_name, decision.reason)

    def _add(self, shown: str, effect: str, target: str, action: str, rule: str, reason: str) -> None:
        self.findings.append(Finding(shown, effect, target, action, rule, reason))


def _speculative(node: Any) -> bool:
    if isinstance(node, tuple):
        return any(_speculative(part) for part in node)
    if isinstance(node, SPECULATIVE):
        return True
    return isinstance(node, ast.Node) and any(_speculative(getattr(node, name, None)) for name in node.__slots__)
