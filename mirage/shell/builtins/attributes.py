"""declare, typeset, local, export, readonly."""
from __future__ import annotations

from mirage.shell.builtins import ArrayValue, Assignment
from mirage.shell.builtins import _listing as listing
from mirage.shell.builtins._common import USAGE_STATUS, getopt, split_reference
from mirage.shell.control import ArithError, ShellError
from mirage.shell.state import (
    ARRAY,
    ASSOC,
    CAPITAL,
    EXPORT,
    INDEXED,
    INTEGER,
    LOWER,
    NAMEREF,
    READONLY,
    TRACE,
    UPPER,
    Var,
    is_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mirage.shell.state import Shell

_FLAGS = {"a": INDEXED, "A": ASSOC, "c": CAPITAL, "i": INTEGER, "l": LOWER, "n": NAMEREF, "r": READONLY, "t": TRACE,
          "u": UPPER, "x": EXPORT}
_CASES = LOWER | UPPER | CAPITAL


class _Options:
    __slots__ = ("add", "functions", "global_", "inherit", "names_only", "print_", "remove")

    def __init__(self) -> None:
        self.add = 0
        self.remove = 0
        self.functions = False                               # -f, -F
        self.names_only = False                              # -F
        self.global_ = False
        self.inherit = False
        self.print_ = False


def builtin_declare(sh: Shell, args: Sequence[str | Assignment]) -> int:
    return _declare(sh, "declare", args)


def builtin_typeset(sh: Shell, args: Sequence[str | Assignment]) -> int:
    return _declare(sh, "typeset", args)


def builtin_local(sh: Shell, args: Sequence[str | Assignment]) -> int:
    if not sh.function_depth:
        for arg in args:                                     # lists are assigned before the builtin runs
            if isinstance(arg, Assignment) and isinstance(arg.value, ArrayValue):
                _convert(sh, arg.name, ASSOC if "-A" in args else INDEXED)
                _assign_array(sh, arg.name, arg.value, arg.append)
        sh.builtin_error("local", "can only be used in a function")
        return 1
    return _declare(sh, "local", args)


def _split(args: Sequence[str | Assignment]) -> tuple[list[str], Sequence[str | Assignment]]:
    """The words before the first Assignment, where options may be, and all arguments."""
    words: list[str] = []
    for arg in args:
        if not isinstance(arg, str):
            break
        words.append(arg)
    return words, args


def _declare(sh: Shell, command: str, args: Sequence[str | Assignment]) -> int:
    words, args = _split(args)
    parsed = getopt(sh, command, words, "aAcfFgiIlnprtux", plus=True)
    if parsed is None:
        return USAGE_STATUS
    options = _Options()
    for letter, _ in parsed[0]:
        _set_option(options, letter)
    options.add &= ~options.remove
    operands = args[len(words) - len(parsed[1]):]
    if options.functions:
        return _functions(sh, command, options, operands)
    if not operands:
        return _list_all(sh, command, options)
    if options.print_:
        return _print(sh, command, operands)
    if options.add & _CASES and (options.add & _CASES) not in (LOWER, UPPER, CAPITAL):
        options.add &= ~_CASES
    status = 0
    for operand in operands:
        if not _declare_one(sh, command, options, operand):
            status = 1
    return status


def _set_option(options: _Options, letter: str) -> None:
    on = letter[0] != "+"
    letter = letter[-1]
    if letter in _FLAGS:
        if on:
            options.add |= _FLAGS[letter]
        else:
            options.remove |= _FLAGS[letter]
    elif letter in "fF":
        options.functions = True
        options.names_only = options.names_only or letter == "F"
    elif letter == "g":
        options.global_ = True
    elif letter == "I":
        options.inherit = True
    else:
        options.print_ = True


# --------------------------------------------------------------------------------------------------- listings


def _list_all(sh: Shell, command: str, options: _Options) -> int:
    if command == "local":
        scope = next((scope for scope in reversed(sh.scopes) if not scope.temporary), None)
        local = [name for name in sorted(sh.vars) if scope is not None and name in scope]
        sh.out(listing.joined(listing.declaration(sh, name) for name in local))
        return 0
    wanted = options.add
    if not wanted and not options.print_:
        sh.out(listing.all_variables(sh, not sh.options.posix).encode("utf-8", "surrogateescape"))
        return 0
    sh.out(listing.joined(listing.all_declarations(sh, wanted)))
    return 0


def _has(sh: Shell, name: str, wanted: int) -> bool:
    var = sh.vars[name]
    return isinstance(var, Var) and bool(var.flags & wanted)


def _print(sh: Shell, command: str, operands: Sequence[str | Assignment]) -> int:
    lines, status = [], 0
    for operand in operands:
        name = operand if isinstance(operand, str) else operand.text()
        if name in sh.vars and (command != "local" or sh.is_local_here(name)):
            lines.append(listing.declaration(sh, name))
        else:
            sh.out(listing.joined(lines))
            lines.clear()
            sh.builtin_error(command, f"{name}: not found")
            status = 1
    sh.out(listing.joined(lines))
    return status


def _functions(sh: Shell, command: str, options: _Options, operands: Sequence[str | Assignment]) -> int:
    wanted = options.add & (EXPORT | READONLY | TRACE)
    if not operands:
        lines = []
        for name in sorted(sh.functions):
            flags = sh.function_flags.get(name, 0)
            if wanted and flags & wanted != wanted:
                continue
            if not options.names_only:
                lines.append(listing.function_definition(sh, name))
            if options.names_only or flags:
                lines.append(listing.function_flags(sh, name))
        sh.out(listing.joined(lines))
        return 0
    status = 0
    for operand in operands:
        if not isinstance(operand, str):
            sh.builtin_error(command, "cannot use `-f' to make functions")
            return 1
        if operand not in sh.functions:
            status = 1
        elif wanted or options.remove:
            if not change_function(sh, command, operand, wanted, options.remove):
                status = 1
        elif options.names_only:
            sh.out(listing.joined([_function_place(sh, operand)]))
        else:
            lines = [listing.function_definition(sh, operand)]
            if sh.function_flags.get(operand):
                lines.append(listing.function_flags(sh, operand))
            sh.out(listing.joined(lines))
    return status


def _function_place(sh: Shell, name: str) -> str:
    """What `declare -F name` prints; with extdebug also where it was defined."""
    if not sh.shopt["extdebug"]:
        return name
    return f"{name} {sh.functions[name].line} {sh.function_sources.get(name, 'environment')}"


def change_function(sh: Shell, command: str, name: str, add: int, remove: int = 0) -> bool:
    """Give and take attributes of a function; False after an error."""
    flags = sh.function_flags.get(name, 0)
    if flags & READONLY & remove:
        sh.builtin_error(command, f"{name}: readonly function")
        return False
    sh.function_flags[name] = flags & ~remove | add
    sh.exports_changed()
    return True


# ----------------------------------------------------------------------------------------------- declarations


def parse_assignment(sh: Shell, text: str, array: Callable[[str], bool]) -> Assignment | None:
    """A word such as `name`, `name=value`, `name[sub]+=value`, `name=(...)`; None when it is none of them.

    `array(name)` tells whether a value in parentheses is a list. The value None of the result stands for no value.
    """
    target, eq, value = text.partition("=")
    append = eq != "" and target.endswith("+")
    if append:
        target = target[:-1]
    if "[" in target and not target.endswith("]"):           # the `=` stands inside the subscript
        end = text.find("]=")
        if end < 0:
            end = text.find("]+=")
        if end < 0:
            target, eq, value, append = text, "", "", False
        else:
            target, append = text[:end + 1], text[end + 1] == "+"
            eq, value = "=", text[end + (3 if append else 2):]
    reference = split_reference(target)
    if reference is None:
        return None
    name, key = reference
    if not eq:
        return Assignment(name, key, None, False)  # type: ignore[arg-type]
    if key is None and value[:1] == "(" and value[-1:] == ")" and array(name):
        compound = _compound(sh, name, value)
        if compound is not None:
            return Assignment(name, None, compound, append)
    return Assignment(name, key, value, append)


def _compound(sh: Shell, name: str, text: str) -> ArrayValue | None:
    """The value of an array that is given as text, expanded."""
    from mirage.shell import ast
    from mirage.shell.expand import compile_declaration
    from mirage.shell.parse import parse

    script = parse(f"{name}={text}")
    if script.error is not None or len(script.items) != 1:
        return None
    command = script.items[0]
    if not isinstance(command, ast.Simple) or len(command.assigns) != 1 or command.words:
        return None
    value = compile_declaration(command.assigns[0])(sh).value
    return value if isinstance(value, ArrayValue) else None


def _declare_one(sh: Shell, command: str, options: _Options, operand: str | Assignment) -> bool:
    """Declare one operand; False after an error (reported)."""
    if operand == "-" and command == "local":
        sh.make_local("-")
        return True
    wants_array = bool(options.add & ARRAY)
    if isinstance(operand, str):
        parsed = parse_assignment(sh, operand, lambda name: wants_array or sh.is_array(name))
        if parsed is None:
            sh.builtin_error(command, f"`{operand}': not a valid identifier")
            return False
    else:
        parsed = operand
        value = parsed.value
        if wants_array and parsed.key is None and isinstance(value, str) and value[:1] == "(" and value[-1] == ")":
            parsed = Assignment(parsed.name, None, _compound(sh, parsed.name, value) or value, parsed.append)
    name = parsed.name
    local = bool(sh.function_depth) and not options.global_
    try:
        if local:
            sh.make_local(name, options.inherit)
            return _apply(sh, command, options, parsed)
        if options.global_ and sh.function_depth:
            return _at_global(sh, name, lambda: _apply(sh, command, options, parsed))
        return _apply(sh, command, options, parsed)
    except ShellError as e:
        if e.fatal or (e.reported and e.message):
            raise
        e.report(sh, command)
        if isinstance(e, ArithError):
            e.fatal = True
            raise
        return False


def _at_global(sh: Shell, name: str, action: Callable[[], bool]) -> bool:
    """Run `action` with the global variable `name` in place of the local ones that hide it."""
    scope = next((scope for scope in sh.scopes if name in scope), None)
    if scope is None:
        return action()
    inner = sh.vars.get(name)
    outer = scope[name]
    if outer is None:
        sh.vars.pop(name, None)
    else:
        sh.vars[name] = outer  # type: ignore[assignment]
    try:
        return action()
    finally:
        scope[name] = sh.vars.get(name)
        if inner is None:
            sh.vars.pop(name, None)
        else:
            sh.vars[name] = inner
        sh.exports_changed()


def _apply(sh: Shell, command: str, options: _Options, parsed: Assignment) -> bool:
    """Attributes, then the value, then READONLY."""
    add, remove = options.add, options.remove
    name, value = parsed.name, parsed.value
    if add & NAMEREF or remove & NAMEREF:
        return _apply_nameref(sh, command, options, parsed)
    name, subscript = sh.resolve(name)
    if subscript is not None or not name:
        if isinstance(value, str):
            sh.set(parsed.name, value, parsed.append)
        return True
    flags = sh.flags(name)
    compound = isinstance(value, ArrayValue)
    if flags & READONLY and (value is not None or remove & READONLY):
        raise _ended_early(sh, f"{name}: readonly variable", compound)
    if (compound or parsed.key is not None) and not (flags | add) & ARRAY:
        add |= INDEXED
    if compound:
        _convert(sh, name, add)
    sh.declare(name, add & ~READONLY, remove)
    if parsed.key is not None:
        if value is not None:
            assert isinstance(value, str)
            sh.set_element(name, _element_key(sh, name, parsed.key), value, parsed.append)
    elif isinstance(value, ArrayValue):
        _assign_array(sh, name, value, parsed.append)
    elif value is not None:
        sh.set(name, value, parsed.append)
    if add & READONLY:
        sh.declare(name, READONLY)
    if add & (EXPORT | READONLY):
        sh.keep_temporary(name)
    return True


def _ended_early(sh: Shell, message: str, compound: bool) -> ShellError:
    """The error of a list, which ends the line; that of another value is the builtin's."""
    error = ShellError(message)
    if compound:
        error.report(sh)
    return error


def _convert(sh: Shell, name: str, add: int) -> None:
    """bash makes the array of a list before the builtin runs: outside of functions an error ends the line there."""
    try:
        sh.declare(name, add & ARRAY)
    except ShellError as e:
        e.report(sh)
        if not sh.function_depth:
            raise


def _element_key(sh: Shell, name: str, text: str) -> int | str:
    """The key for the expanded text of a subscript."""
    if sh.is_assoc(name):
        return text
    from mirage.shell.expand.arith import arith_eval

    return arith_eval(sh, text)


def _assign_array(sh: Shell, name: str, value: ArrayValue, append: bool) -> None:
    from mirage.shell.expand import assign_array

    assign_array(sh, name, value, append)


def _apply_nameref(sh: Shell, command: str, options: _Options, parsed: Assignment) -> bool:
    name, value = parsed.name, parsed.value
    if options.remove & NAMEREF:
        if name in sh.vars:
            sh.declare(name, options.add & ~NAMEREF, options.remove)
        return True
    if options.add & ARRAY:
        sh.declare(name, options.add & ARRAY)
    var = sh.entry(name)
    flags = 0 if var is None or isinstance(var, str) else var.flags
    if isinstance(value, ArrayValue) or parsed.key is not None or flags & ARRAY:
        raise ShellError(f"{name}: reference variable cannot be an array")
    old = var if var is None or isinstance(var, str) else var.value
    target = value if value is not None else old if isinstance(old, str) and old else None
    if target is not None and split_reference(target) is None:
        raise ShellError(f"`{target}': invalid variable name for name reference")
    if target == name:
        if not sh.function_depth or options.global_:
            raise ShellError(f"{name}: nameref variable self references not allowed")
        sh.builtin_error(command, f"warning: {name}: circular name reference")
        sh.show_outer(name)                                  # that is what such a reference leads to
        return True
    if flags & READONLY:
        raise ShellError(f"{name}: readonly variable")
    if value is not None:
        sh.declare(name, 0, NAMEREF)
        if sh.vars.get(name) is None:
            sh.declare(name)
        sh.set(name, value)
    sh.declare(name, options.add)
    return True


# ------------------------------------------------------------------------------------------- export, readonly


def builtin_export(sh: Shell, args: Sequence[str | Assignment]) -> int:
    return _mark(sh, "export", args, EXPORT, "afnp")


def builtin_readonly(sh: Shell, args: Sequence[str | Assignment]) -> int:
    return _mark(sh, "readonly", args, READONLY, "aAfnp")


def _mark(sh: Shell, command: str, args: Sequence[str | Assignment], flag: int, spec: str) -> int:
    words, args = _split(args)
    parsed = getopt(sh, command, words, spec)
    if parsed is None:
        return USAGE_STATUS
    letters = {letter for letter, _ in parsed[0]}
    operands = args[len(words) - len(parsed[1]):]
    add, remove = flag, 0
    if "a" in letters:
        add |= INDEXED
    if "A" in letters:
        add |= ASSOC
    if "n" in letters:
        add, remove = add & ~flag, flag & EXPORT
    if not operands:
        return _list_marked(sh, command, flag, letters)
    if "f" in letters:
        return _mark_functions(sh, command, operands, add, remove)
    status = 0
    for operand in operands:
        if not _mark_one(sh, command, operand, add, remove):
            status = 1
    return status


def _list_marked(sh: Shell, command: str, flag: int, letters: set[str]) -> int:
    if "f" in letters:
        lines = []
        for name in sorted(sh.functions):
            if sh.function_flags.get(name, 0) & flag:
                lines += [listing.function_definition(sh, name), listing.function_flags(sh, name)]
        sh.out(listing.joined(lines))
        return 0
    wanted = flag
    arrays = (INDEXED if "a" in letters else 0) | (ASSOC if "A" in letters else 0)
    keyword = command if sh.options.posix else None
    names = [name for name in sorted(sh.vars) if _has(sh, name, wanted) and (not arrays or _has(sh, name, arrays))]
    sh.out(listing.joined(listing.declaration(sh, name, keyword) for name in names))
    return 0


def _mark_functions(sh: Shell, command: str, operands: Sequence[str | Assignment], add: int, remove: int) -> int:
    status = 0
    for operand in operands:
        name = operand if isinstance(operand, str) else operand.text()
        if name not in sh.functions:
            sh.builtin_error(command, f"{name}: not a function")
            status = 1
        elif not change_function(sh, command, name, add & (EXPORT | READONLY), remove):
            status = 1
    return status


def _mark_one(sh: Shell, command: str, operand: str | Assignment, add: int, remove: int) -> bool:
    if isinstance(operand, str):
        parsed = parse_assignment(sh, operand, lambda name: bool(add & ARRAY) or sh.is_array(name))
        if parsed is None:
            sh.builtin_error(command, f"`{operand}': not a valid identifier")
            return False
    else:
        parsed = operand
    if parsed.key is not None:
        sh.builtin_error(command, f"`{parsed.name}[{parsed.key}]': not a valid identifier")
        return False
    name, value = parsed.name, parsed.value
    try:
        name, subscript = sh.resolve(name)
        if subscript is not None:
            raise ShellError(f"`{name}[{subscript}]': not a valid identifier")
        compound = isinstance(value, ArrayValue)
        flags = sh.flags(name)
        if value is not None and flags & READONLY:
            raise _ended_early(sh, f"{name}: readonly variable", compound)
        if compound and not (flags | add) & ARRAY:
            add |= INDEXED
        if compound:
            _convert(sh, name, add)
        elif value is not None or add & ARRAY:
            sh.declare(name, add & ARRAY)
        if isinstance(value, ArrayValue):
            _assign_array(sh, name, value, parsed.append)
        elif value is not None:
            sh.set(name, value, parsed.append)
        if add or (is_name(name) and name in sh.vars):
            sh.declare(name, add, remove)
            sh.keep_temporary(name)
    except ShellError as e:
        if e.fatal or (e.reported and e.message):
            raise
        e.report(sh)
        return False
    return True
