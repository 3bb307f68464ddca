"""Simple commands: assignments, lookup (function, builtin, program), temporary environment, redirections.

The order is bash's: words are expanded, then the temporary assignments, then redirections are done.
"""
from __future__ import annotations

import errno
import os

from mirage.process.process import Process, refusal_note
from mirage.process.signals import Exit
from mirage.shell import ast
from mirage.shell import builtins as builtins_table
from mirage.shell.control import ShellError
from mirage.shell.exec.calls import MAX_FRAMES, PROGRAM_WEIGHT, NotExecuted, call_function
from mirage.shell.exec.jobs import notify, report_death
from mirage.shell.exec.local import compile_local
from mirage.shell.exec.reading import compile_read
from mirage.shell.exec.redirect import Redirections, apply, apply_in_child, compile_redirections, forget, restore
from mirage.shell.exec.substitution import close_substitutions, holds_substitution
from mirage.shell.exec.traps import child_ended, failed, run_debug, slow_tick
from mirage.shell.expand import compile_assign, compile_declaration, compile_single, compile_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from mirage.shell.exec.compile import Run
    from mirage.shell.exec.redirect import Redirection, Undo
    from mirage.shell.state import Shell

    Builtin: TypeAlias = Callable[[Shell, list[Any]], int]
    Fields: TypeAlias = Callable[[Shell], list[Any]]

NOT_FOUND, NOT_EXECUTABLE = 127, 126
INDIRECT = "invalid indirect expansion"                      # the one error of an assignment that ends no shell
_SPECIAL = builtins_table.SPECIAL
_DECLARATION = builtins_table.DECLARATION
_load_builtin = builtins_table.load


def find_builtin(sh: Shell, name: str) -> Builtin | None:
    """The builtin of that name, unless `enable -n` took it away."""
    if sh.extra and name in sh.extra.get("disabled", ()):
        return None
    return _exec_alone if name == "exec" else _load_builtin(name)


def compile_simple(node: ast.Simple, alone: bool = False) -> Run:
    """A simple command. `alone`: its process has nothing else to run, a program takes it over; as the process ends
    with its status, it is the parent that looks at `set -e` and runs the DEBUG and ERR traps."""
    run = _compile(node, alone)
    parts = [*node.assigns, *node.words, *(redir.target for redir in node.redirs)]
    return _closing(run) if any(holds_substitution(part) for part in parts) else run


def _closing(run: Run) -> Run:
    """Close the descriptors of process substitutions after the command."""
    def closing(sh: Shell) -> int:
        mark = len(sh.substitution_fds)
        try:
            return run(sh)
        finally:
            close_substitutions(sh, mark)
    return closing


def _describe(node: ast.Simple) -> Callable[[], str]:
    box: list[str] = []

    def describe() -> str:
        if not box:
            from mirage.shell.printer import command_text
            box.append(command_text(node))
        return box[0]
    return describe


def _compile(node: ast.Simple, alone: bool) -> Run:
    line = node.line
    describe = _describe(node)
    redirections = compile_redirections(node.redirs)
    if not node.words:
        return _without_words(node, redirections, describe, alone)
    fields = _compile_fields(node.words)
    assigns = _compile_temporary(node.assigns)
    plain = not assigns and not redirections
    first = node.words[0]
    name = first.lit if isinstance(first, ast.Word) and not first.glob else None
    if plain and name is not None and name not in _OWN:
        constant = _constant_name(name, fields, line, describe, alone)
        if name == "read":
            return compile_read(node, constant, alone)
        return compile_local(node, constant) if name == "local" else constant

    def run(sh: Shell) -> int:
        kernel = sh.kernel
        kernel.budget -= 1
        if kernel.budget < 0:
            slow_tick(sh)
        sh.line = line
        sh.command = describe
        if sh.traps and "DEBUG" in sh.traps and not alone:
            if run_debug(sh, line) and sh.shopt["extdebug"]:
                return sh.status
        substituted = sh.substituted
        argv = fields(sh)
        if not argv:
            return _nothing_left(sh, node, redirections, substituted)
        return execute(sh, argv, assigns, redirections, line, alone)
    return run


def _constant_name(name: str, fields: Fields, line: int, describe: Callable[[], str], alone: bool) -> Run:
    """The fast path: the name is constant, nothing is assigned or redirected."""
    known: Builtin | None = None
    declares = name in _DECLARATION                          # its arguments are not only texts

    def run(sh: Shell) -> int:
        kernel = sh.kernel
        kernel.budget -= 1
        if kernel.budget < 0:
            slow_tick(sh)
        sh.line = line
        sh.command = describe
        if sh.traps or sh.options.xtrace:
            if "DEBUG" in sh.traps and not alone and run_debug(sh, line) and sh.shopt["extdebug"]:
                return sh.status
            argv = fields(sh)
            if sh.options.xtrace:
                from mirage.shell.exec.trace import trace_words
                trace_words(sh, argv)
        else:
            argv = fields(sh)
        function = sh.functions.get(name)
        gate = sh.machine.gate
        if function is None:
            nonlocal known
            builtin = known
            if builtin is None or sh.extra and "disabled" in sh.extra:
                builtin = known = find_builtin(sh, name)
            if builtin is None:
                status = run_program(sh, argv, (), alone)
            elif gate is not None and (declares or gate.rules_commands) and not may_run(sh, argv):
                status = NOT_EXECUTABLE
            else:
                if gate is not None and not (declares or gate.rules_commands):
                    gate.ran(sh.proc, tuple(argv))
                try:
                    status = builtin(sh, argv[1:])
                except OSError as e:
                    status = write_error(sh, name, e)
                except ShellError as e:
                    status = builtin_failed(sh, name, e)
        elif name in _SPECIAL and sh.options.posix:
            return execute(sh, argv, (), Redirections(), line, alone)
        elif gate is not None and (declares or gate.rules_commands) and not may_run(sh, argv):
            status = NOT_EXECUTABLE
        else:
            if gate is not None and not (declares or gate.rules_commands):
                gate.ran(sh.proc, tuple(argv))
            status = call_function(sh, function, name, argv[1:])
        if name == "set" and sh.options.noexec and not sh.interactive:
            raise NotExecuted
        last = argv[-1]
        sh.last_arg = last if last.__class__ is str else last.name
        sh.pipestatus = None
        sh.status = status
        if status:
            if status == 2 and function is None:
                _usage_ends(sh, name)
            sh.line = line
            return status if alone else failed(sh, status, line)
        return 0
    return run


# ------------------------------------------------------------------------------------------------------------- words


def _compile_fields(words: Sequence[ast.Word | ast.Assign]) -> Fields:
    """The words of a command to its arguments; those of a declaration builtin hold Assignment objects."""
    plain = [word for word in words if isinstance(word, ast.Word)]
    if len(plain) == len(words):
        if all(word.lit is not None for word in plain):
            constant = [word.lit for word in plain]
            return lambda sh: constant.copy()
        return compile_words(plain)
    first = words[0]
    name = first.lit if isinstance(first, ast.Word) else None
    parts: list[Fields] = []
    for word in words:
        if isinstance(word, ast.Word):
            parts.append(compile_words((word,)))
        elif name in _DECLARATION:
            parts.append(_declaration(word, name or ""))
        elif word.word is not None:
            parts.append(compile_words((word.word,)))
        else:
            text = word.text
            parts.append(lambda sh, text=text: [text])  # type: ignore[misc]

    def fields(sh: Shell) -> list[Any]:
        out: list[Any] = []
        for part in parts:
            out += part(sh)
        return out
    return fields


def _declaration(assign: ast.Assign, name: str) -> Fields:
    """An assignment argument: an object for the builtin, a word where a function has the builtin's name."""
    make = compile_declaration(assign)
    plain = compile_words((assign.word,)) if assign.word is not None else None
    several = _with_braces(assign)

    def field(sh: Shell) -> list[Any]:
        if name in sh.functions and plain is not None:
            return plain(sh)
        if several and sh.options.braceexpand:
            return [each(sh) for each in several]
        return [make(sh)]
    return field


def _with_braces(assign: ast.Assign) -> list[Callable[[Shell], Any]]:
    """`local a={1,2}` are two assignments."""
    if assign.word is None or assign.word.lit is not None or "{" not in assign.text:
        return []
    from mirage.shell.expand.brace import alternatives
    out = []
    before = assign.text.partition("=")[0] + "="
    for word in alternatives(assign.word):
        head = word.parts[0]
        if not isinstance(head, ast.Lit) or not head.text.startswith(before):
            return []
        value = ast.Word((ast.Lit(head.text[len(before):]), *word.parts[1:]), None, False)
        out.append(compile_declaration(ast.Assign(assign.name, assign.sub, assign.op, value, assign.text)))
    return out


def _compile_temporary(assigns: Sequence[ast.Assign]) -> tuple[tuple[str, Callable[[Shell], str], bool], ...]:
    out: list[tuple[str, Callable[[Shell], str], bool]] = []
    for assign in assigns:
        value = assign.value
        if isinstance(value, ast.ArrayLit):
            text = assign.text.partition("=")[2]
            out.append((assign.name, lambda sh, text=text: text, assign.op == "+="))  # type: ignore[misc]
        elif value.lit is not None:
            lit = value.lit
            out.append((_temporary_name(assign), lambda sh, lit=lit: lit, assign.op == "+="))  # type: ignore[misc]
        else:
            out.append((_temporary_name(assign), compile_single(value), assign.op == "+="))
    return tuple(out)


def _temporary_name(assign: ast.Assign) -> str:
    """The name; with the subscript of an element, which bash refuses."""
    return assign.name if assign.sub is None else f"{assign.name}[{assign.sub.word.text}]"


# ----------------------------------------------------------------------------------------- assignments without a name


def _without_words(node: ast.Simple, redirections: Sequence[Redirection], describe: Callable[[], str],
                   alone: bool) -> Run:
    line = node.line
    assigns = tuple(compile_assign(assign) for assign in node.assigns)
    sources = node.assigns
    named = any(isinstance(redir.fd, str) for redir in node.redirs)

    def run(sh: Shell) -> int:
        kernel = sh.kernel
        kernel.budget -= 1
        if kernel.budget < 0:
            slow_tick(sh)
        sh.line = line
        sh.command = describe
        if sh.traps and "DEBUG" in sh.traps and not alone:
            if run_debug(sh, line) and sh.shopt["extdebug"]:
                return sh.status
        substituted = sh.substituted
        if sh.options.xtrace:
            for source, assign in zip(sources, assigns, strict=True):
                traced_assignment(sh, source, assign)
        else:
            try:
                for assign in assigns:
                    assign(sh)
            except ShellError as e:
                raise ends_posix_shell(sh, e) from None
        status = sh.status if sh.substituted != substituted else 0
        if redirections:
            status = _redirect_only(sh, redirections, status, named)
        sh.last_arg = ""
        sh.pipestatus = None
        sh.status = status
        return failed(sh, status, line) if status and not alone else status
    return _one_assignment(assigns[0], line, describe, run, alone) if len(assigns) == 1 and not redirections else run


def _one_assignment(assign: Callable[[Shell], None], line: int, describe: Callable[[], str], general: Run,
                    alone: bool) -> Run:
    """`name=value`, the most frequent of all commands, behind a short cut."""
    def run(sh: Shell) -> int:
        if sh.traps or sh.options.xtrace:
            return general(sh)
        kernel = sh.kernel
        kernel.budget -= 1
        if kernel.budget < 0:
            slow_tick(sh)
        sh.line = line
        sh.command = describe
        substituted = sh.substituted
        try:
            assign(sh)
        except ShellError as e:
            raise ends_posix_shell(sh, e) from None
        sh.last_arg = ""
        sh.pipestatus = None
        if sh.substituted == substituted:
            sh.status = 0
            return 0
        status = sh.status
        return failed(sh, status, line) if status and not alone else status
    return run


def _nothing_left(sh: Shell, node: ast.Simple, redirections: Sequence[Redirection], substituted: int) -> int:
    """The words expanded to nothing: what is left are assignments and redirections."""
    for assign in node.assigns:
        if sh.options.xtrace:
            traced_assignment(sh, assign, compile_assign(assign))
        else:
            compile_assign(assign)(sh)
    status = sh.status if sh.substituted != substituted else 0
    if redirections:
        status = _redirect_only(sh, redirections, status)
    sh.pipestatus = None
    sh.status = status
    return failed(sh, status, node.line) if status else 0


def _redirect_only(sh: Shell, redirections: Sequence[Redirection], status: int, named: bool = False) -> int:
    """Redirections without a command; with `{name}>` bash does them in a subshell."""
    if named:
        from mirage.shell.exec.pipeline import in_subshell
        return in_subshell(sh, lambda sub: 0 if apply(sub, redirections, None) else 1)
    undo: Undo = []
    before = sh.substituted
    try:
        done = apply(sh, redirections, undo, True)
        if sh.substituted != before:
            status = sh.status
    finally:
        closed = restore(sh, undo)
    return status if done and closed else 1


def traced_assignment(sh: Shell, source: ast.Assign, assign: Callable[[Shell], None]) -> None:
    """One assignment with `set -x`."""
    from mirage.shell.exec.trace import quoted
    value = source.value
    if not isinstance(value, ast.Word):
        from mirage.shell.exec.trace import trace_text
        trace_text(sh, source.text)
        assign(sh)
        return
    text = compile_single(value)(sh)
    target = source.text.partition("=")[0].removesuffix("+") if source.sub else source.name
    from mirage.shell.exec.trace import trace_text
    trace_text(sh, f"{target}{source.op}{quoted(text) if text else ''}")
    literal = ast.Word((ast.Quoted(text),), text, False, text)
    compile_assign(ast.Assign(source.name, source.sub, source.op, literal, source.text))(sh)


# ---------------------------------------------------------------------------------------------------------- execution


def execute(sh: Shell, argv: list[Any], assigns: Sequence[tuple[str, Callable[[Shell], str], bool]],
            redirections: Redirections, line: int, alone: bool = False, *, functions: bool = True) -> int:
    """Run expanded words with temporary assignments and redirections; the status, also in `sh.status`."""
    name = argv[0]
    pushed = False
    undo: Undo = []
    try:
        if assigns:
            sh.push_scope(True)
            pushed = True
            _assign_temporary(sh, assigns, name in _SPECIAL)
        if sh.options.xtrace:
            from mirage.shell.exec.trace import trace_words
            trace_words(sh, argv)
        function, builtin = look_up(sh, name, functions)
        gate = sh.machine.gate
        if gate is not None:
            gate.begin(sh.proc, argv)
        if name in _OWN and function is None and builtin is not None:
            status = _OWN[name](sh, argv, redirections, alone)
        elif function is None and builtin is None:
            status = apply_in_child(sh, redirections, undo) or run_program(sh, argv, undo, alone)
        elif not apply(sh, redirections, undo):
            status = 1
            if builtin is not None and name in _SPECIAL and sh.options.posix:
                raise Exit(1)
        elif gate is not None and not may_run(sh, argv):
            status = NOT_EXECUTABLE
        elif function is not None:
            if pushed:
                sh.scopes[-1].of_call = True
            status = call_function(sh, function, name, argv[1:])
        else:
            assert builtin is not None
            try:
                status = run_builtin(sh, builtin, name, argv[1:])
            finally:
                if pushed and sh.options.posix and name in _SPECIAL:
                    _keep_assignments(sh)
    except ShellError as e:
        e.report(sh)
        raise
    finally:
        closed = restore(sh, undo) if undo else True
        if pushed:
            sh.pop_scope()
    if not closed and not status:
        status = 1
    last = argv[-1]
    sh.last_arg = last if last.__class__ is str else last.name
    sh.pipestatus = None
    sh.status = status
    if status:
        if status == 2 and builtin is not None:
            _usage_ends(sh, name)
        sh.line = line
        return status if alone else failed(sh, status, line)
    return 0


def _usage_ends(sh: Shell, name: str) -> None:
    """In POSIX mode a usage error of these builtins (their only status 2) ends a shell that is not interactive."""
    if sh.options.posix and not sh.interactive and name in ("export", "readonly", "set", "shift", "trap", "unset"):
        raise Exit(2)


def _assign_temporary(sh: Shell, assigns: Sequence[tuple[str, Callable[[Shell], str], bool]], special: bool) -> None:
    scope = sh.scopes[-1]
    for name, value_of, append in assigns:
        value = value_of(sh)
        if sh.options.xtrace:
            from mirage.shell.exec.trace import quoted, trace_text
            trace_text(sh, f"{name}{'+' if append else ''}={quoted(value) if value else ''}")
        if name[-1] == "]":
            sh.error(f"`{name}': not a valid identifier")
            continue
        if append:
            value = (sh.get(name) or "") + value
        try:
            sh.set_temp(scope, name, value)
        except ShellError as e:
            e.report(sh)
            if sh.options.posix:
                raise (ends_posix_shell(sh, e) if special else e) from None


def ends_posix_shell(sh: Shell, error: ShellError) -> ShellError:
    """In POSIX mode an assignment error ends a shell that is not interactive."""
    if sh.options.posix and not sh.interactive and not error.fatal and not error.message.endswith(INDIRECT):
        error.fatal, error.status = True, sh.fatal_status()
    return error


def _keep_assignments(sh: Shell) -> None:
    """POSIX mode: assignments before a special builtin stay."""
    sh.scopes[-1].clear()


def look_up(sh: Shell, name: str, functions: bool = True) -> tuple[ast.Function | None, Builtin | None]:
    """The function or builtin that `name` is; (None, None): a program."""
    function = sh.functions.get(name) if functions else None
    if function is not None and name in _SPECIAL and sh.options.posix:
        function = None
    return (function, None) if function is not None else (None, find_builtin(sh, name))


def may_run(sh: Shell, argv: Sequence[Any]) -> bool:
    """Does the policy let this builtin or function run? If not, that is said: status 126."""
    try:
        sh.machine.gate.exec(sh.proc, argv)  # type: ignore[union-attr]
    except OSError as e:
        sh.error(f"{argv[0]}: {e.strerror}")
        sh.proc.write_error(refusal_note(e))
        return False
    return True


def run_builtin(sh: Shell, builtin: Builtin, name: str, args: list[Any]) -> int:
    try:
        return builtin(sh, args)
    except OSError as e:
        return write_error(sh, name, e)
    except ShellError as e:
        return builtin_failed(sh, name, e)


def write_error(sh: Shell, name: str, error: OSError) -> int:
    """A builtin could not write its output."""
    sh.builtin_error(name, f"write error: {error.strerror}")
    return 1


def builtin_failed(sh: Shell, name: str, error: ShellError) -> int:
    """A ShellError that a builtin let out: `NAME: message`, and status 1 unless it ends the shell."""
    if error.fatal or error.reported:
        error.report(sh)
        raise error
    error.report(sh, name)
    return error.status


def run_builtin_or_program(sh: Shell, argv: list[str]) -> int:
    """As `command` runs it: no functions; `exec` and others that are special lose what is special."""
    name = argv[0]
    builtin = find_builtin(sh, name)
    if name in _OWN and builtin is not None:
        return _OWN[name](sh, argv, (), False)
    if builtin is not None:
        if sh.machine.gate is not None and not may_run(sh, argv):
            return NOT_EXECUTABLE
        return run_builtin(sh, builtin, name, argv[1:])
    return run_program(sh, argv, (), False)


# ----------------------------------------------------------------------------------------------------------- programs


def run_program(sh: Shell, argv: list[Any], undo: Undo | tuple[()], alone: bool) -> int:
    """Run a program in the foreground, on this greenlet; `undo`: redirections that hold for it only."""
    proc = sh.proc
    if argv[0].startswith("%"):                              # `%1` stands for `fg %1`
        return run_builtin(sh, _load_builtin("fg"), "fg", argv)  # type: ignore[arg-type]
    env = proc.env = sh.exported()
    try:
        main = find_program(sh, argv)
    except OSError as e:
        return _not_run(sh, argv, e)
    if alone and not sh.traps:
        return _take_over(sh, argv, main, undo)
    child = Process(proc.kernel, proc.machine, argv, parent=proc, env=env)
    if undo:
        restore(sh, undo)
    if sh.frames + PROGRAM_WEIGHT <= MAX_FRAMES:
        status = child.execute(main)
    else:
        frames, sh.frames = sh.frames, 0
        try:
            status = sh.kernel.call_deep(lambda: child.execute(main))
        finally:
            sh.frames = frames
    if child.exit_signal:
        report_death(sh, child)
    if sh.traps:
        child_ended(sh)
    if sh.jobs.jobs:
        notify(sh)
    return status


def find_program(sh: Shell, argv: Sequence[str]) -> Callable[[Process], int]:
    """The `main` of a program, found by the hash table or `$PATH`. Raises OSError."""
    proc, name = sh.proc, argv[0]
    if "/" not in name and not sh.get("PATH"):
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), f"./{name}")
    if "/" in name or not sh.options.hashall:
        return sh.machine.program(proc, argv)
    table = sh.hash_table
    search = proc.env.get("PATH")
    if sh.extra.get("hashed_for", search) != search:
        table.clear()
    path = table.get(name)
    if path is None:
        path = sh.machine.find_program(proc, name)
        if path is not None:
            table[name] = path
            sh.extra["hashed_for"] = search
    hits = f"hits of {name}"
    sh.extra[hits] = sh.extra.get(hits, 0) + 1
    return sh.machine.program(proc, argv, path)


def _take_over(sh: Shell, argv: list[str], main: Callable[[Process], int], undo: Undo | tuple[()]) -> int:
    """exec: the process stops being a shell and becomes the program."""
    proc = sh.proc
    if undo:
        forget(undo)
    proc.argv = list(argv)
    proc.env = dict(proc.env)
    proc.shell = None
    proc.caught.clear()
    return main(proc)


def _not_run(sh: Shell, argv: list[str], error: OSError) -> int:
    """Why a program cannot be run, in bash's words; 127 or 126."""
    name = argv[0]
    note = refusal_note(error)
    if error.errno == errno.ENOENT and "/" not in name and "/" not in (error.filename or ""):
        from mirage.text.quoting import shown
        handler = sh.functions.get("command_not_found_handle")
        if handler is not None:
            from mirage.shell.exec.pipeline import in_subshell
            return in_subshell(sh, lambda sub: call_function(sub, handler, "command_not_found_handle", argv))
        text = f"{shown(name)}: command not found"
    elif error.errno == errno.ENOEXEC:
        text = f"{name}: cannot execute binary file: Exec format error"
    elif getattr(error, "interpreter", None):
        text = f"{name}: cannot execute: required file not found"
    else:
        path = name if "/" in name or not sh.get("PATH") else error.filename or name
        text = f"{path}: {error.strerror}"
        sh.hash_table.pop(name, None)
    sh.error(text)
    if note:
        sh.proc.write_error(note)
    if sh.traps:
        child_ended(sh)
    return NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE


# --------------------------------------------------------------------------------------------------------------- exec


def _exec(sh: Shell, argv: list[str], redirections: Sequence[Redirection], alone: bool) -> int:
    """`exec [-cl] [-a name] [command [argument ...]]`: redirections stay."""
    from mirage.shell.builtins._common import getopt
    if sh.machine.gate is not None and not may_run(sh, argv):
        return NOT_EXECUTABLE
    undo: Undo = []
    if not apply(sh, redirections, undo, False):
        restore(sh, undo)
        if sh.options.posix:
            raise Exit(1)
        return 1
    parsed = getopt(sh, "exec", argv[1:], "cla:")
    if parsed is None:
        restore(sh, undo)
        return 2
    options, words = parsed
    if not words:
        forget(undo)
        return 0
    return _replace_shell(sh, dict(options), words, undo)


def _replace_shell(sh: Shell, options: dict[str, str], words: list[str], undo: Undo) -> int:
    proc = sh.proc
    env: dict[str, str] = {} if "c" in options else sh.exported()
    proc.env = sh.exported()
    try:
        main = find_program(sh, words)
    except OSError as e:
        name = words[0] if "/" not in words[0] else sh.proc.fs.abspath(words[0])
        if e.errno == errno.ENOENT and "/" not in name:
            sh.error(f"exec: {name}: not found")
        elif e.errno == errno.EISDIR:
            sh.error(f"{name}: {e.strerror}")
            sh.error(f"exec: {name}: cannot execute: {e.strerror}")
        elif e.errno == errno.ENOENT:
            sh.error(f"{name}: {e.strerror}" if "/" in name else f"exec: {name}: cannot execute: {e.strerror}")
        else:
            sh.error(f"{name}: {e.strerror}")
            sh.error(f"exec: {name}: cannot execute: {e.strerror}")
        sh.proc.write_error(refusal_note(e))
        status = NOT_FOUND if e.errno == errno.ENOENT else NOT_EXECUTABLE
        if sh.shopt["execfail"] or sh.interactive:
            restore(sh, undo)
            return status
        raise Exit(status) from None
    forget(undo)
    name = options.get("a", words[0])
    proc.env = env
    child = Process(proc.kernel, proc.machine, ["-" + name if "l" in options else name, *words[1:]],
                    parent=proc, env=env)
    status = child.execute(main)
    sh.traps.pop("EXIT", None)
    raise Exit(status)


def _exec_alone(sh: Shell, args: list[str]) -> int:
    """`exec` where it is called as any builtin (`builtin exec`)."""
    return _exec(sh, ["exec", *args], (), False)


_OWN: dict[str, Callable[[Any, list[Any], Any, bool], int]] = {"exec": _exec}
