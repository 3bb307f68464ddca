"""The tree compiled to closures `run(sh) -> status`. They capture no state and are shared by all Terminals.

Every closure of a command leaves its status in `sh.status`. Conditions run with `sh.in_condition` raised, which
suspends `set -e` and the ERR trap.
"""
from __future__ import annotations

from mirage.process.signals import Exit
from mirage.shell import ast
from mirage.shell.control import ArithError, Break, Continue, ShellError
from mirage.shell.exec.traps import failed, run_debug, slow_tick
from mirage.shell.expand import compile_arith, compile_cond, compile_pattern, compile_single, compile_words
from mirage.text.pause import pause

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from mirage.shell.ast import Command, Commands
    from mirage.shell.state import Shell

    Run: TypeAlias = Callable[[Shell], int]

NESTING = 40                                                 # nested commands after which a fresh greenlet goes on
_CACHE_SIZE = 4096
_PLAIN = (str, int)                                          # classes of the values of ordinary variables
_PAUSE_EVERY = 256                                           # commands
_cache: dict[int, tuple[Any, Run]] = {}


def compiled(body: Commands) -> Run:
    """The closure of a command list, kept by the identity of the list."""
    entry = _cache.get(id(body))
    if entry is not None:
        return entry[1]
    run = compile_commands(body)
    remember(body, run)
    return run


def compiled_alone(body: Commands) -> Run:
    """The same for a body that is all that its process runs: a single program then takes the process over."""
    key = ~id(body)
    entry = _cache.get(key)
    if entry is not None:
        return entry[1]
    run = compile_command(body[0], alone=True) if len(body) == 1 else compile_commands(body)
    remember(body, run, key)
    return run


def remember(node: Any, run: Run, key: int | None = None) -> None:
    if len(_cache) >= _CACHE_SIZE:
        _cache.clear()
    _cache[id(node) if key is None else key] = (node, run)


def nesting(node: Any) -> int:
    """How many compound commands lie in each other below `node` (a command or a list of commands)."""
    deepest = 0
    todo = [(node, 0)]
    while todo:
        item, depth = todo.pop()
        deepest = max(deepest, depth)
        if isinstance(item, tuple):
            todo.extend((child, depth) for child in item)
        else:
            todo.extend((child, depth + 1) for child in _children(item))
    return deepest


def _children(node: Any) -> list[Any]:
    kind = type(node)
    if kind in (ast.Group, ast.Subshell, ast.For, ast.Select, ast.ArithFor):
        return [node.body]
    if kind is ast.While:
        return [node.cond, node.body]
    if kind is ast.If:
        return [part for clause in node.clauses for part in clause] + ([node.orelse] if node.orelse else [])
    if kind is ast.Case:
        return [clause.body for clause in node.clauses]
    if kind is ast.AndOr:
        return [node.first, *(command for _, command in node.rest)]
    if kind is ast.Pipeline:
        return list(node.cmds)
    if kind is ast.Background:
        return [node.cmd]
    return []


# ------------------------------------------------------------------------------------------------------------ lists


def compile_commands(commands: Commands) -> Run:
    """Commands one after another; the status of the last."""
    if len(commands) == 1:
        return compile_command(commands[0])
    if not commands:
        return _nothing
    body = _compile_all(commands)
    if len(body) == 2:
        first, second = body

        def both(sh: Shell) -> int:
            first(sh)
            return second(sh)
        return both

    def run(sh: Shell) -> int:
        status = 0
        for command in body:
            status = command(sh)
        return status
    return run


def _nothing(sh: Shell) -> int:
    sh.status = 0
    return 0


def _compile_all(commands: Commands) -> tuple[Run, ...]:
    body = []
    for number, command in enumerate(commands, 1):
        body.append(compile_command(command))
        if not number % _PAUSE_EVERY:
            pause()
    return tuple(body)


def compile_command(node: Command, alone: bool = False) -> Run:
    """One command. `alone`: it is all that its process runs, so a program needs no process of its own."""
    if isinstance(node, ast.Simple):
        from mirage.shell.exec.simple import compile_simple
        return compile_simple(node, alone)
    make = _MAKERS.get(type(node))
    if make is None:
        raise TypeError(f"not a command: {node!r}")
    if nesting(node) % NESTING == NESTING - 1:
        return _on_fresh_stack(node, make)
    return _with_redirections(node, make(node))


def _on_fresh_stack(node: Any, make: Callable[[Any], Run]) -> Run:
    """Compile lazily and run on a fresh greenlet: deep nesting must not grow one stack."""
    box: list[Run] = []

    def run(sh: Shell) -> int:
        def body() -> int:
            if not box:
                box.append(_with_redirections(node, make(node)))
            return box[0](sh)
        return sh.kernel.call_deep(body)
    return run


def context_line(sh: Shell) -> int:
    """The line of a command that has none: that where the unit ends that runs, or that of the function
    or loop around it."""
    level, line = sh.base_line
    stack = sh.call_stack
    if level == len(stack):
        return line
    node = sh.functions.get(stack[-1].function)
    return line if node is None else node.line


def _with_redirections(node: Any, body: Run) -> Run:
    redirs = getattr(node, "redirs", None)
    if not redirs:
        return body
    from mirage.shell.exec.redirect import apply, apply_in_subshell, compile_redirections, restore
    from mirage.shell.exec.substitution import close_substitutions, holds_substitution
    redirections = compile_redirections(redirs)
    substitutes = any(holds_substitution(redir.target) for redir in redirs)
    child = type(node) is ast.Subshell
    feeds = child and any(redir.fd in (None, 0) and redir.op[0] == "<" for redir in redirs)

    def run(sh: Shell) -> int:
        if sh.proc.pending:
            slow_tick(sh)
        undo: list[Any] = []
        mark = len(sh.substitution_fds)
        done = True
        line = sh.line = node.line if child else context_line(sh)
        before = sh.fork(sh.proc) if child and redirections.assigning else None
        if feeds:
            sh.extra["stdin_redirected"] = True
        try:
            failure = apply_in_subshell(sh, redirections, undo) if child else not apply(sh, redirections, undo)
            if failure:
                done = False
                status = sh.status = int(failure)
            else:
                status = body(sh)
        except ShellError as e:
            e.report(sh)
            raise
        finally:
            closed = restore(sh, undo) if undo else True
            if feeds:
                sh.extra["stdin_redirected"] = False
            if before is not None:
                sh.restore_variables(before)
            if substitutes:
                close_substitutions(sh, mark)
        if not done or not closed and not status:
            sh.status = status = status or 1
            return failed(sh, status, line)
        return status
    return run


def condition(commands: Commands) -> Run:
    """Commands whose failure is no error (after `if`, `while`, before `&&`)."""
    if len(commands) == 1:
        node = commands[0]
        if type(node) is ast.ArithCmd and not node.redirs:
            return _arith_command(node, checked=False)
        if type(node) is ast.Cond and not node.redirs:
            return _cond_command(node, checked=False)
    return unchecked(compile_commands(commands))


def unchecked(body: Run) -> Run:
    def run(sh: Shell) -> int:
        sh.in_condition += 1
        try:
            return body(sh)
        finally:
            sh.in_condition -= 1
    return run


# ---------------------------------------------------------------------------------------------- compound commands


def _and_or(node: ast.AndOr) -> Run:
    commands = [node.first, *(command for _, command in node.rest)]
    first = condition((node.first,))
    last = len(node.rest) - 1
    rest = []
    for index, (op, command) in enumerate(node.rest):
        rest.append((op == "&&", compile_command(command) if index == last else condition((command,))))
        if index % _PAUSE_EVERY == _PAUSE_EVERY - 1:
            pause()
    if len(commands) == 2:
        wanted, second = rest[0]

        def pair(sh: Shell) -> int:
            status = first(sh)
            return second(sh) if (status == 0) is wanted else status
        return pair

    def run(sh: Shell) -> int:
        status = first(sh)
        for if_true, command in rest:
            if (status == 0) is if_true:
                status = command(sh)
        return status
    return run


def _group(node: ast.Group) -> Run:
    return compile_commands(node.body)


def _if(node: ast.If) -> Run:
    clauses = tuple((condition(cond), compile_commands(body)) for cond, body in node.clauses)
    orelse = compile_commands(node.orelse) if node.orelse else _nothing
    if len(clauses) == 1:
        cond, body = clauses[0]
        return lambda sh: orelse(sh) if cond(sh) else body(sh)

    def run(sh: Shell) -> int:
        for cond, body in clauses:
            if not cond(sh):
                return body(sh)
        return orelse(sh)
    return run


def _while(node: ast.While) -> Run:
    cond = condition(node.cond)
    body = compile_commands(node.body)
    until = node.until

    def run(sh: Shell) -> int:
        kernel = sh.kernel
        status = 0
        sh.loop_depth += 1
        try:
            while True:
                kernel.budget -= 1
                if kernel.budget < 0:
                    slow_tick(sh)
                try:
                    if (cond(sh) != 0) is not until:
                        break
                    status = body(sh)
                except Continue as e:
                    if e.levels > 1 and sh.loop_depth > 1:
                        e.levels -= 1
                        raise
                    status = sh.status
        except Break as e:
            if e.levels > 1 and sh.loop_depth > 1:
                e.levels -= 1
                raise
            status = sh.status
        finally:
            sh.loop_depth -= 1
        sh.status = status
        return status
    return run


def _for(node: ast.For) -> Run:
    name = node.var
    words = compile_words(node.words) if node.words is not None else None
    head = ""
    body = compile_commands(node.body)
    line = node.line
    valid = name.isascii() and name.isidentifier()

    def run(sh: Shell) -> int:
        nonlocal head
        sh.line = line
        if not valid:
            sh.error(f"`{name}': not a valid identifier")
            sh.status = 1
            return failed(sh, 1, line)
        values = words(sh) if words is not None else sh.positional.copy()
        kernel = sh.kernel
        status = 0
        variables = sh.vars
        sh.loop_depth += 1
        base = sh.base_line
        sh.base_line = (len(sh.call_stack), line)
        try:
            for value in values:
                kernel.budget -= 1
                if kernel.budget < 0:
                    slow_tick(sh)
                if sh.traps or sh.options.xtrace:
                    head = head or _for_head(node)
                    sh.command = head
                    announce(sh, head, line)
                if variables.get(name).__class__ in _PLAIN and not sh.options.allexport:
                    variables[name] = value
                elif not _set_loop_variable(sh, name, value):
                    sh.status = 1
                    return failed(sh, 1, line)
                try:
                    status = body(sh)
                except Continue as e:
                    if e.levels > 1 and sh.loop_depth > 1:
                        e.levels -= 1
                        raise
                    status = sh.status
        except Break as e:
            if e.levels > 1 and sh.loop_depth > 1:
                e.levels -= 1
                raise
            status = sh.status
        finally:
            sh.loop_depth -= 1
            sh.base_line = base
        sh.status = status
        return status
    return run


def _for_head(node: ast.For) -> str:
    """`for NAME in WORDS`, as BASH_COMMAND and `set -x` show it."""
    from mirage.shell.printer import word_text
    words = '"$@"' if node.words is None else " ".join(map(word_text, node.words))
    return f"for {node.var} in {words}"


def _set_loop_variable(sh: Shell, name: str, value: str) -> bool:
    """False (after the message) when the variable is readonly: only the loop fails. A nameref gets a new target."""
    try:
        if not sh.rebind(name, value):
            sh.set(name, value)
    except ShellError as e:
        e.report(sh)
        if sh.options.posix and not sh.interactive:
            raise Exit(sh.fatal_status()) from None
        return False
    return True


def announce(sh: Shell, text: str, line: int, trace: str | None = None) -> bool:
    """DEBUG trap and `set -x` for the head of a compound command; False when `extdebug` skips it."""
    if "DEBUG" in sh.traps:
        skipped = run_debug(sh, line)
        if skipped and sh.shopt["extdebug"]:
            return False
    if sh.options.xtrace:
        from mirage.shell.exec.trace import trace_text
        sh.line = line
        trace_text(sh, text if trace is None else trace)
    return True


def _arith_for(node: ast.ArithFor) -> Run:
    def part(arith: ast.Arith) -> tuple[Callable[[Shell], int] | None, str]:
        return (compile_arith(arith) if arith.word.parts else None), arith.word.text.strip(" \t\n")

    (init, init_text), (cond, cond_text), (step, step_text) = part(node.init), part(node.cond), part(node.step)
    body = compile_commands(node.body)
    line = node.line

    def evaluate(sh: Shell, expression: Callable[[Shell], int] | None, text: str) -> int:
        if sh.traps or sh.options.xtrace:
            sh.command = f"(({text}))"
            announce(sh, f"(( {text or '1'} ))", line)
        if expression is None:
            return 1
        try:
            return expression(sh)
        except ShellError as e:
            e.report(sh, "((")
            raise _ArithFailed from None

    def run(sh: Shell) -> int:
        kernel = sh.kernel
        status = 0
        sh.line = line
        sh.loop_depth += 1
        try:
            if init is not None or sh.options.xtrace:
                evaluate(sh, init, init_text)
            while True:
                kernel.budget -= 1
                if kernel.budget < 0:
                    slow_tick(sh)
                sh.line = line
                if sh.traps or sh.options.xtrace:
                    go_on = evaluate(sh, cond, cond_text)
                else:
                    go_on = cond(sh) if cond is not None else 1
                if not go_on:
                    break
                try:
                    status = body(sh)
                except Continue as e:
                    if e.levels > 1 and sh.loop_depth > 1:
                        e.levels -= 1
                        raise
                    status = sh.status
                sh.line = line
                if sh.traps or sh.options.xtrace:
                    evaluate(sh, step, step_text)
                elif step is not None:
                    step(sh)
        except Break as e:
            if e.levels > 1 and sh.loop_depth > 1:
                e.levels -= 1
                raise
            status = sh.status
        except (ShellError, _ArithFailed) as e:
            if isinstance(e, ShellError):
                if e.fatal or not isinstance(e, ArithError):
                    raise
                e.report(sh, "((")
            status = sh.status = 1
            return failed(sh, 1, line)
        finally:
            sh.loop_depth -= 1
        sh.status = status
        return status
    return run


class _ArithFailed(Exception):
    """An expression of `for ((` was wrong; its message is printed."""


def _case(node: ast.Case) -> Run:
    subject = compile_single(node.word)
    clauses = tuple((_case_patterns(clause.patterns), compile_commands(clause.body), clause.term)
                    for clause in node.clauses)
    text = ""
    line = node.line

    def run(sh: Shell) -> int:
        nonlocal text
        sh.line = line
        if sh.traps or sh.options.xtrace:
            if not text:
                from mirage.shell.printer import word_text
                text = f"case {word_text(node.word)} in "
            sh.command = text
            if not announce(sh, text.rstrip(), line):
                return sh.status
        value = subject(sh)
        status = 0
        falling = False
        base = sh.base_line
        sh.base_line = (len(sh.call_stack), line)
        try:
            for matches, body, term in clauses:
                if falling or matches(sh, value):
                    status = body(sh)
                    if term == ";;":
                        break
                    falling = term == ";&"
        finally:
            sh.base_line = base
        sh.status = status
        return status
    return run


def _case_patterns(words: Sequence[ast.Word]) -> Callable[[Shell, str], bool]:
    patterns = tuple(_case_pattern(word) for word in words)
    if len(patterns) == 1:
        return patterns[0]
    return lambda sh, value: any(matches(sh, value) for matches in patterns)


def _case_pattern(word: ast.Word) -> Callable[[Shell, str], bool]:
    lit = word.lit
    pattern = compile_pattern(word)
    if lit is not None and not word.glob:
        return lambda sh, value: value == lit or sh.shopt["nocasematch"] and pattern(sh).matches(value)
    return lambda sh, value: pattern(sh).matches(value)


def _cond_command(node: ast.Cond, checked: bool = True) -> Run:
    test = compile_cond(node.expr)
    if _substitutes(node.expr):
        test = _closing(test)
    line = node.line

    def run(sh: Shell) -> int:
        sh.line = line
        sh.command = describe
        if sh.traps or sh.options.xtrace:
            if "DEBUG" in sh.traps:
                run_debug(sh, line)
            if sh.options.xtrace:
                from mirage.shell.exec.trace import trace_cond
                status = trace_cond(sh, node.expr)
                sh.status = status
                return failed(sh, status, line) if status and checked else status
        try:
            status = 0 if test(sh) else 1
        except ShellError as e:
            if e.fatal:
                raise
            e.report(sh, "[[")
            status = 2 if e.status == 2 else 1
        sh.pipestatus = None
        sh.status = status
        return failed(sh, status, line) if status and checked else status

    def describe() -> str:
        from mirage.shell.printer import command_text
        return command_text(node)
    return run


def _substitutes(expr: Any) -> bool:
    """Is there a process substitution in the expression of `[[`?"""
    from mirage.shell.exec.substitution import holds_substitution
    if isinstance(expr, ast.Word):
        return holds_substitution(expr)
    slots: tuple[str, ...] = getattr(expr, "__slots__", ()) if isinstance(expr, ast.Node) else ()
    return any(_substitutes(getattr(expr, slot)) for slot in slots)


def _closing(test: Callable[[Shell], Any]) -> Callable[[Shell], Any]:
    """Close the descriptors of process substitutions after the test."""
    from mirage.shell.exec.substitution import close_substitutions

    def closing(sh: Shell) -> Any:
        mark = len(sh.substitution_fds)
        try:
            return test(sh)
        finally:
            close_substitutions(sh, mark)
    return closing


def _arith_command(node: ast.ArithCmd, checked: bool = True) -> Run:
    value = compile_arith(node.arith)
    text = node.arith.word.text
    line = node.line
    command = f"(({text}))"

    def run(sh: Shell) -> int:
        sh.line = line
        sh.command = command
        if sh.traps or sh.options.xtrace:
            announce(sh, f"(( {text} ))", line)
        try:
            status = 0 if value(sh) else 1
        except ShellError as e:
            if e.fatal:
                raise
            e.report(sh, "((")
            status = 1
        sh.pipestatus = None
        sh.status = status
        return failed(sh, status, line) if status and checked else status
    return run


def _select(node: ast.Select) -> Run:
    from mirage.shell.exec.select import compile_select
    return compile_select(node)


def _function(node: ast.Function) -> Run:
    from mirage.shell.exec.calls import define_function

    def run(sh: Shell) -> int:
        sh.line = node.line
        return define_function(sh, node)
    return run


def _subshell(node: ast.Subshell) -> Run:
    from mirage.shell.exec.pipeline import compile_subshell
    return compile_subshell(node)


def _pipeline(node: ast.Pipeline) -> Run:
    from mirage.shell.exec.pipeline import compile_pipeline
    return compile_pipeline(node)


def _background(node: ast.Background) -> Run:
    from mirage.shell.exec.pipeline import compile_background
    return compile_background(node)


def _coproc(node: ast.Coproc) -> Run:
    from mirage.shell.exec.pipeline import compile_coproc
    return compile_coproc(node)


_MAKERS: dict[type, Callable[[Any], Run]] = {
    ast.AndOr: _and_or, ast.Group: _group, ast.If: _if, ast.While: _while, ast.For: _for, ast.ArithFor: _arith_for,
    ast.Case: _case, ast.Cond: _cond_command, ast.ArithCmd: _arith_command, ast.Select: _select,
    ast.Function: _function, ast.Subshell: _subshell, ast.Pipeline: _pipeline, ast.Background: _background,
    ast.Coproc: _coproc,
}
