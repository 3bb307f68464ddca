"""What each production of the grammar makes: nodes of the tree.

`action_for` gives the action of a production, chosen by its text, so that it does not depend on numbers that
move when a production is added. An action is called with the lexer and the list of values of the right side.
None stands for a unit production that passes its value on. A production nobody thought of is an error at
start-up, not at run time.
"""

from __future__ import annotations

from mirage.shell import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, TypeAlias

    class Reader(Protocol):
        """What actions use of the lexer."""

        queue: list[tuple[str, Any]]
        nested: bool
        command_pos: int

        def line(self, pos: int) -> int: ...

    Action: TypeAlias = Callable[[Any, list[Any]], Any]
    Rhs: TypeAlias = tuple[str, ...]


class _End:
    """The type of `END`."""


END = _End()  # the value of a unit that is the end of the text


def action_for(lhs: str, rhs: Rhs) -> Action | None:
    """The action of the production ``lhs : rhs``."""
    try:
        maker = _MAKERS[lhs]
    except KeyError:
        production = f"{lhs} : {' '.join(rhs)}"
        raise ImportError(f"bashlex's grammar has a production without an action: {production}") from None
    return maker(rhs)


# ------------------------------------------------------------------------------------------------------ lists


def _sequence(flat: list[Any], keep_lines: bool) -> ast.Commands:
    """``[command, operator, command, operator, ...]`` to a tuple of commands."""
    items: list[Any] = []
    breaks: list[int] = []
    index = 0
    size = len(flat)
    while index < size:
        item = flat[index]
        index += 1
        rest: list[tuple[str, Any]] = []
        while index < size and flat[index] in ("&&", "||"):
            rest.append((flat[index], flat[index + 1]))
            index += 2
        if rest:
            item = ast.AndOr(item, tuple(rest))
        operator = "\n"
        if index < size:
            operator = flat[index]
            index += 1
            if operator == "&":
                item = ast.Background(item)
        if operator == "\n":
            breaks.append(len(items))
        items.append(item)
    if keep_lines and breaks:
        lines = ast.Lines(items)
        lines.breaks = frozenset(breaks)
        return lines
    return tuple(items)


def _join(lexer: Reader, values: list[Any]) -> Any:
    """``list1 : list1 OPERATOR newline_list list1``: both sides are flat lists."""
    flat: list[Any] = values[0]
    flat.append(values[1])
    flat.extend(values[-1])
    return flat


def _start_list(lexer: Reader, values: list[Any]) -> Any:
    return [values[0]]


def _append(lexer: Reader, values: list[Any]) -> Any:
    values[0].append(values[-1])
    return values[0]


def _one_or_append(rhs: Rhs) -> Action:
    return _start_list if len(rhs) == 1 else _append


def _one_or_join(rhs: Rhs) -> Action:
    return _start_list if len(rhs) == 1 else _join


def _make_sequence(lexer: Reader, values: list[Any]) -> Any:
    return _sequence(values[-1], lexer.nested)


def _make_ended_sequence(lexer: Reader, values: list[Any]) -> Any:
    values[0].append(values[1])
    return _sequence(values[0], lexer.nested)


def _simple_list(rhs: Rhs) -> Action:
    return _make_sequence if len(rhs) == 1 else _make_ended_sequence


def _compound_list(rhs: Rhs) -> Action | None:
    return None if len(rhs) == 1 else _make_sequence


def _ended_list(rhs: Rhs) -> Action:
    return _make_ended_sequence


def _second(lexer: Reader, values: list[Any]) -> Any:
    return values[1]


def _first(lexer: Reader, values: list[Any]) -> Any:
    return values[0]


def _nothing(lexer: Reader, values: list[Any]) -> Any:
    return None


def _unit(rhs: Rhs) -> Action:
    if rhs == ("EOF",):
        return lambda lexer, values: END
    return _nothing if rhs == ("NEWLINE",) else _first


# -------------------------------------------------------------------------------------------- simple commands


def _make_redirection(lexer: Reader, values: list[Any]) -> Any:
    target = values[-1]
    if type(target) is int:  # digits with another redirection right behind them
        target = ast.Word((ast.Lit(str(target)),), str(target), False, str(target))
    return ast.Redir(values[0] if len(values) == 3 else None, values[-2], target)


def _simple(lexer: Reader, elements: list[Any]) -> ast.Simple:
    assigns: list[ast.Assign] = []
    words: list[ast.Word | ast.Assign] = []
    redirs: list[ast.Redir] = []
    for element in elements:
        kind = type(element)
        if kind is ast.Word:
            words.append(element)
        elif kind is ast.Assign:
            if words:
                words.append(element)
            else:
                assigns.append(element)
        else:
            redirs.append(element)
    return ast.Simple(tuple(assigns), tuple(words), tuple(redirs), lexer.line(lexer.command_pos) + _newlines(elements))


def _newlines(elements: list[Any]) -> int:
    """The line of a command is where bash is when it knows that it is one: behind the word that follows its name
    (which could have been the parenthesis of a function), else behind its first assignment or redirection."""
    count = 0
    for element in elements[: 2 if type(elements[0]) is ast.Word else 1]:
        if type(element) is ast.Redir:
            element = element.target
        if type(element) is not ast.HereDoc:
            count += element.text.count("\n")
    return count


def _make_simple(lexer: Reader, values: list[Any]) -> Any:
    return _simple(lexer, values[0])


def _redirected(lexer: Reader, values: list[Any]) -> Any:
    """A compound command (the second value from the end) with the redirections behind it."""
    command, redirs = values[-2], values[-1]
    command.redirs = command.redirs + tuple(redirs)
    return command


def _command(rhs: Rhs) -> Action | None:
    if rhs == ("simple_command",):
        return _make_simple
    return None if len(rhs) == 1 else _redirected


def _function_body(rhs: Rhs) -> Action | None:
    return None if len(rhs) == 1 else _redirected


# ------------------------------------------------------------------------------------------ compound commands


def _shell_command(rhs: Rhs) -> Action | None:
    if len(rhs) == 1:
        return None
    until = rhs[0] == "UNTIL"
    return lambda lexer, v: ast.While(until, v[1], v[3], (), lexer.line(v[0]))


def _for(rhs: Rhs) -> Action:
    return _loop(ast.For, rhs)


def _select(rhs: Rhs) -> Action:
    return _loop(ast.Select, rhs)


def _loop(kind: type[ast.For] | type[ast.Select], rhs: Rhs) -> Action:
    if "word_list" in rhs:
        return lambda lexer, v: kind(v[1].text, tuple(v[4]), v[-2], (), lexer.line(v[0]))
    words: tuple[()] | None = () if "IN" in rhs else None
    return lambda lexer, v: kind(v[1].text, words, v[-2], (), lexer.line(v[0]))


def _arith_for(rhs: Rhs) -> Action:
    return lambda lexer, v: ast.ArithFor(v[1][0], v[1][1], v[1][2], v[-2], (), lexer.line(v[0]))


def _case(rhs: Rhs) -> Action:
    filled = "case_clause_sequence" in rhs or "case_clause" in rhs
    return lambda lexer, v: ast.Case(v[1], tuple(v[4]) if filled else (), (), lexer.line(v[0]) + v[1].text.count("\n"))


def _case_clause(rhs: Rhs) -> Action:
    """The last clause, without a terminator."""

    def last(lexer: Reader, values: list[Any]) -> Any:
        clauses: list[Any] = values[0] if len(values) == 2 else []
        clauses.append(ast.CaseClause(values[-1][0], values[-1][1], ";;"))
        return clauses

    return last


def _case_clauses(rhs: Rhs) -> Action:
    def terminated(lexer: Reader, values: list[Any]) -> Any:
        clauses: list[Any] = values[0] if len(values) == 3 else []
        clauses.append(ast.CaseClause(values[-2][0], values[-2][1], values[-1]))
        return clauses

    return terminated


def _pattern_list(rhs: Rhs) -> Action:
    place = rhs.index("pattern")
    return lambda lexer, v: (tuple(v[place]), v[-1] or ())


def _function(rhs: Rhs) -> Action:
    place = 1 if rhs[0] == "FUNCTION" else 0

    def define(lexer: Reader, values: list[Any]) -> Any:
        name: ast.Word = values[place]
        valid = name.lit == name.text if name.lit is not None else name.glob and len(name.parts) == 1
        return ast.Function(name.text, values[-1], lexer.line(values[1 - place]), valid)

    return define


def _subshell(rhs: Rhs) -> Action:
    return lambda lexer, v: ast.Subshell(v[1], (), lexer.line(v[2]))


def _group(rhs: Rhs) -> Action:
    return lambda lexer, v: ast.Group(v[1], (), lexer.line(v[0]))


def _arith_command(rhs: Rhs) -> Action:
    return lambda lexer, v: ast.ArithCmd(v[0], (), lexer.line(lexer.command_pos))


def _cond_command(rhs: Rhs) -> Action:
    return lambda lexer, v: ast.Cond(v[1], (), lexer.line(v[2]))


def _coproc(rhs: Rhs) -> Action:
    if "simple_command" in rhs:
        return lambda lexer, v: ast.Coproc("COPROC", _simple(lexer, v[1]), lexer.line(v[0]))
    named = rhs[1] == "WORD"
    redirected = rhs[-1] == "redirection_list"

    def coprocess(lexer: Reader, values: list[Any]) -> Any:
        body = _redirected(lexer, values) if redirected else values[-1]
        return ast.Coproc(values[1].text if named else "COPROC", body, lexer.line(values[0]))

    return coprocess


def _if(rhs: Rhs) -> Action:
    if "elif_clause" in rhs:

        def with_elif(lexer: Reader, v: list[Any]) -> Any:
            clauses, orelse = v[4]
            return ast.If(((v[1], v[3]), *reversed(clauses)), orelse, (), lexer.line(v[0]))

        return with_elif
    if "ELSE" in rhs:
        return lambda lexer, v: ast.If(((v[1], v[3]),), v[5], (), lexer.line(v[0]))
    return lambda lexer, v: ast.If(((v[1], v[3]),), None, (), lexer.line(v[0]))


def _elif(rhs: Rhs) -> Action:
    """``(clauses, else)``, the clauses last one first."""
    if "elif_clause" in rhs:

        def more(lexer: Reader, v: list[Any]) -> Any:
            v[4][0].append((v[1], v[3]))
            return v[4]

        return more
    if "ELSE" in rhs:
        return lambda lexer, v: ([(v[1], v[3])], v[5])
    return lambda lexer, v: ([(v[1], v[3])], None)


# -------------------------------------------------------------------------------------------------- pipelines


def _pipeline(rhs: Rhs) -> Action:
    if len(rhs) == 1:
        return _start_list
    return _join


def _pipeline_command(rhs: Rhs) -> Action:
    if len(rhs) == 1:

        def plain(lexer: Reader, values: list[Any]) -> Any:
            flat = values[0]
            if len(flat) == 1:
                return flat[0]
            return ast.Pipeline(tuple(flat[::2]), tuple(flat[1::2]), False, None)

        return plain
    negates = rhs[0] == "BANG"
    if rhs[1] == "list_terminator":

        def bare(lexer: Reader, values: list[Any]) -> Any:
            if values[1]:  # the terminator ends the list too: give it back
                lexer.queue.insert(0, ("SEMICOLON" if values[1] == ";" else "NEWLINE", values[1]))
            return ast.Pipeline((), (), negates, None if negates else values[0])

        return bare

    def prefixed(lexer: Reader, values: list[Any]) -> Any:
        inner = values[1]
        if type(inner) is not ast.Pipeline:
            inner = ast.Pipeline((inner,), (), False, None)
        timed = inner.timed if negates else values[0]
        return ast.Pipeline(inner.cmds, inner.pipes, inner.negated ^ negates, timed)

    return prefixed


def _timespec(rhs: Rhs) -> Action:
    value = "p" if len(rhs) > 1 else "t"  # bash takes `time --` for `time -p`
    return lambda lexer, values: value


def _pass(rhs: Rhs) -> None:
    return None


_MAKERS: dict[str, Callable[[Rhs], Action | None]] = {
    "inputunit": _unit,
    "word_list": _one_or_append,
    "redirection": lambda rhs: _make_redirection,
    "simple_command_element": _pass,
    "redirection_list": _one_or_append,
    "simple_command": _one_or_append,
    "command": _command,
    "shell_command": _shell_command,
    "for_command": _for,
    "arith_for_command": _arith_for,
    "select_command": _select,
    "case_command": _case,
    "function_def": _function,
    "function_body": _function_body,
    "subshell": _subshell,
    "coproc": _coproc,
    "if_command": _if,
    "group_command": _group,
    "arith_command": _arith_command,
    "cond_command": _cond_command,
    "elif_clause": _elif,
    "case_clause": _case_clause,
    "pattern_list": _pattern_list,
    "case_clause_sequence": _case_clauses,
    "pattern": _one_or_append,
    "list": lambda rhs: _second,
    "compound_list": _compound_list,
    "list0": _ended_list,
    "list1": _one_or_join,
    "simple_list_terminator": lambda rhs: _nothing,
    "list_terminator": lambda rhs: _first,
    "newline_list": lambda rhs: _nothing,
    "simple_list": _simple_list,
    "simple_list1": _one_or_join,
    "pipeline_command": _pipeline_command,
    "pipeline": _pipeline,
    "timespec": _timespec,
    "empty": lambda rhs: _nothing,
}
