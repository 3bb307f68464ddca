"""The state of one shell: variables and their scopes, options, functions, and where it is in the script.

A subshell is `Shell.fork`: dicts are copied, Var objects shared until one side changes one (`Var.owner`).
"""

from __future__ import annotations

from operator import itemgetter

from mirage.process.signals import Exit
from mirage.shell.control import ArithError, Break, Continue, Return, ShellError
from mirage.shell.state_dynamic import BASH_VERSINFO, CONSTANTS, TABLE
from mirage.shell.state_options import SHOPT_DEFAULTS, Options
from mirage.shell.state_vars import (
    ARRAY,
    ASSOC,
    CAPITAL,
    CASES,
    EXPORT,
    INDEXED,
    INTEGER,
    LOWER,
    NAMEREF,
    READONLY,
    TRACE,
    UPPER,
    Dynamic,
    Var,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from mirage.process.kernel import Kernel
    from mirage.process.process import Process
    from mirage.shell.ast import Commands, Function
    from mirage.shell.state_dynamic import Random

__all__ = [
    "ARRAY", "ASSOC", "CAPITAL", "EXPORT", "INDEXED", "INTEGER", "LOWER", "NAMEREF", "READONLY", "TRACE", "UPPER",
    "ArithError", "Break", "Continue", "Dynamic", "Frame", "Options", "Return", "Scope", "Shell", "ShellError", "Var",
    "is_name",
]  # fmt: skip

_VALUE_BYTES = 100  # what a value takes besides its characters
_FEW = 64
DASH = "-"  # key of a Scope: the options that `local -` saved


def is_name(text: str) -> bool:
    """Is it a valid variable name (ASCII letters, digits, underscores)?"""
    return text.isascii() and text.isidentifier()


class Frame(tuple["Any", ...]):
    """One call on the stack, made of (function, source, line, args).

    function  its name, ``source`` for a sourced file, ``main`` for the script
    source  the file that the code of the frame is from; line: the line of the call; args: `$@` of the call where
    ``shopt -s extdebug`` keeps it, else None
    """

    __slots__ = ()
    function = property(itemgetter(0))
    source = property(itemgetter(1))
    line = property(itemgetter(2))
    args = property(itemgetter(3))


class Scope(dict[str, "str | int | Var | Options | None"]):
    """What the names that are local to a call, or temporary to a command, were before: undone by `pop_scope`.

    temporary  True for the scope of ``X=1 command``
    of_call    the command is a function: its local variables take the place of the temporary ones
    """

    __slots__ = ()
    temporary = False
    of_call = False

    def copy(self) -> Scope:
        return Scope(self)


class TemporaryScope(Scope):
    __slots__ = ("of_call",)
    temporary = True

    def __init__(self) -> None:
        super().__init__()
        self.of_call = False

    def copy(self) -> TemporaryScope:
        new = TemporaryScope()
        new.of_call = self.of_call
        new.update(self)
        return new


class Shell:
    """One shell.

    vars            name -> str (an ordinary unexported variable), int (the same, its value was computed and nobody
                    has needed the text yet) or Var; `entry` gives the text for the number
    scopes          innermost last; empty outside functions
    functions       name -> Function node; function_flags: name -> EXPORT, READONLY, TRACE
    positional      ``$1 ...``; name: ``$0``
    traps           signal name (``INT``), ``EXIT``, ``ERR``, ``DEBUG``, ``RETURN`` -> text
    dir_stack       what `pushd` keeps below the current directory
    status          ``$?``; pipestatus: None stands for the one status of ``$?``
    last_bg         ``$!`` (0: none); last_arg: ``$_``; command: BASH_COMMAND, a text or a function that makes it
    line            LINENO; base_line: (depth of call_stack, line) for a command without a line of its own
    depth           nested calls, evals, sources; function_depth: nested functions
    in_condition    greater 0: ``set -e`` is suspended; loop_depth: nested loops of this function
    shell_pid       ``$$``; subshell_level: BASH_SUBSHELL; interactive: messages carry no line number
    jobs, history, hash_table (name -> path), optind, getopts_offset: of the builtins
    frames          weight of the calls on this greenlet's stack; function_sources: name -> file of its definition
    substituted     how many command substitutions ran; substitution_fds: descriptors of `<()` of running commands
    trap_command    BASH_COMMAND while a trap runs, else None
    grown           bytes put into arrays and new variables since memory was last counted (see `grow`)
    arith_level, holes: of `mirage.shell.expand.arith`
    extra           whatever else a builtin has to remember; copied (flat) by fork
    """

    __slots__ = (
        "_exported", "aliases", "arith_level", "base_line", "call_stack", "command", "depth", "dir_stack", "extra",
        "frames", "function_depth", "function_flags", "function_sources", "functions", "getopts_offset",
        "grow_limit", "grown",
        "hash_table", "history", "holes", "in_condition", "interactive", "jobs", "kernel", "last_arg",
        "last_bg", "line", "loop_depth", "machine", "name", "optind", "options", "pipestatus", "positional",
        "proc", "random", "scopes", "seconds_base", "shell_pid", "shopt", "status", "subshell_level",
        "substituted", "substitution_fds", "token", "trap_command", "traps", "vars",
    )  # fmt: skip

    vars: dict[str, str | int | Var]
    line: int
    name: str
    optind: int
    proc: Process
    subshell_level: int
    command: str | Callable[[], str]
    pipestatus: Sequence[int] | None
    jobs: Any

    def __init__(self, proc: Process, name: str = "bash", positional: Iterable[str] = ()) -> None:
        self.proc = proc
        self.kernel: Kernel = proc.kernel
        self.machine = proc.machine
        self.token = object()
        self.name = name
        self.positional: list[str] = list(positional)
        self.scopes: list[Scope] = []
        self.functions: dict[str, Function] = {}
        self.function_flags: dict[str, int] = {}
        self.aliases: dict[str, str] = {}
        self.options = Options()
        self.shopt: dict[str, bool] = dict(SHOPT_DEFAULTS)
        self.traps: dict[str, str] = {}
        self.dir_stack: list[str] = []
        self.status = 0
        self.pipestatus = None
        self.last_bg = 0
        self.last_arg = ""
        self.line = 1
        self.base_line = (0, 1)
        self.depth = 0
        self.function_depth = 0
        self.loop_depth = 0
        self.in_condition = 0
        self.call_stack: list[Frame] = []
        self.command = ""
        self.jobs = None
        self.history: list[str] = []
        self.hash_table: dict[str, str] = {}
        self.optind = 1
        self.getopts_offset = 0
        self.random: Random | None = None
        self.seconds_base = float(int(proc.now()))
        self.shell_pid = proc.pid
        self.subshell_level = 0
        self.interactive = False
        self.extra: dict[str, Any] = {}
        self.frames = 0
        self.function_sources: dict[str, str] = {}
        self.substituted = 0
        self.substitution_fds: list[int] = []
        self.trap_command: str | None = None
        limit = self.kernel.limits.memory
        self.grow_limit = limit >> 2 if limit else 1 << 62
        self.grown = 0
        self.arith_level = 0
        self.holes: list[int] = []
        self._exported: dict[str, str] | None = None
        self.vars = dict(TABLE)
        self._start_variables(proc.env)

    def _start_variables(self, env: Mapping[str, str]) -> None:
        names, token = self.vars, self.token
        for name, value in CONSTANTS.items():
            names[name] = value
        names["HOSTNAME"] = self.machine.hostname
        names["BASH_VERSINFO"] = Var(dict(enumerate(BASH_VERSINFO)), INDEXED | READONLY, token)
        for name, value in (("EUID", "1000"), ("UID", "1000"), ("PPID", self._parent_pid())):
            names[name] = Var(value, INTEGER | READONLY, token)
        for name, value in env.items():
            old = names.get(name)
            if is_name(name) and name not in ("IFS", "BASH", "BASH_VERSION") and not isinstance(old, Var):
                names[name] = Var(value, EXPORT, token)
        level = env.get("SHLVL", "")
        level = str(int(level) + 1) if level.isascii() and level.isdigit() and len(level) < 4 else "1"
        names["SHLVL"] = Var(level, EXPORT, token)
        names["PWD"] = Var(self.proc.cwd, EXPORT, token)
        names.setdefault("OLDPWD", Var(None, EXPORT, token))
        names.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
        names.setdefault("TERM", "dumb")

    def _parent_pid(self) -> str:
        parent = self.proc.parent
        return str(parent.pid if parent else 1)

    def fork(self, proc: Process) -> Shell:
        """A subshell that runs in `proc`: the same state, to be changed apart."""
        new = Shell.__new__(Shell)  # written out: a loop over the slots takes five times as long
        new._exported = self.exported()  # known here, it need not be made again by every subshell of a loop
        new.arith_level = self.arith_level
        new.base_line = self.base_line
        new.command = self.command
        new.depth = self.depth
        new.frames = self.frames
        new.function_depth = self.function_depth
        new.getopts_offset = self.getopts_offset
        new.grow_limit = self.grow_limit
        new.grown = self.grown
        new.holes = self.holes
        new.in_condition = self.in_condition
        new.interactive = self.interactive
        new.jobs = self.jobs
        new.kernel = self.kernel
        new.last_arg = self.last_arg
        new.last_bg = self.last_bg
        new.line = self.line
        new.loop_depth = self.loop_depth
        new.machine = self.machine
        new.name = self.name
        new.optind = self.optind
        new.pipestatus = self.pipestatus
        new.seconds_base = self.seconds_base
        new.shell_pid = self.shell_pid
        new.status = self.status
        new.substituted = self.substituted
        new.trap_command = self.trap_command
        new.proc = proc
        new.vars = self.vars.copy()
        new.scopes = [scope.copy() for scope in self.scopes] if self.scopes else []
        new.functions = self.functions.copy()
        new.function_flags = self.function_flags.copy()
        new.function_sources = self.function_sources.copy()
        new.substitution_fds = []
        new.aliases = self.aliases.copy()
        new.options = self.options.copy()
        new.shopt = self.shopt.copy()
        new.traps = self.traps.copy()
        new.dir_stack = self.dir_stack.copy()
        new.positional = self.positional.copy()
        new.call_stack = self.call_stack.copy()
        new.hash_table = self.hash_table.copy()
        new.history = self.history.copy()
        new.extra = self.extra.copy()
        new.random = None
        new.subshell_level = self.subshell_level + 1
        new.token = object()
        self.token = object()  # from now on both copy a Var before they change it
        return new

    # ------------------------------------------------------------------------------------------ reading variables

    def get(self, name: str) -> str | None:
        """The value of ``$name``; None when unset. Element 0 of an array; namerefs followed."""
        var = self.vars.get(name)
        if var is None or var.__class__ is str:
            return var
        return self.scalar(name, var)  # type: ignore[arg-type]

    def entry(self, name: str) -> str | Var | None:
        """The entry of `name` in `vars`; a number has become its text, there too."""
        var = self.vars.get(name)
        if var.__class__ is int:
            var = self.vars[name] = str(var)
        return var  # type: ignore[return-value]

    def scalar(self, name: str, var: int | Var) -> str | None:
        """`get` for a name whose entry in `vars` is `var`, no str."""
        if isinstance(var, int):
            return str(var)
        if var.flags & NAMEREF:
            if var.value is None:
                return None
            target, subscript = self.resolve(name)
            if subscript is not None:
                return self.fetch_subscript(target, subscript)
            found = self.entry(target)
            if found is None or isinstance(found, str):
                return found
            if found.flags & NAMEREF:
                return None
            name, var = target, found
        value = var.read(self)
        if value.__class__ is dict:
            return value.get("0" if var.flags & ASSOC else 0)  # type: ignore[arg-type]
        return value  # type: ignore[return-value]

    def resolve(self, name: str) -> tuple[str, str | None]:
        """Where the nameref `name` leads: (variable, subscript or None); `name` itself when it is none.

        A circle gives ``("", None)`` after bash's warning.
        """
        names = self.vars
        first, seen = name, 0
        while True:
            var = names.get(name)
            if not isinstance(var, Var) or not var.flags & NAMEREF or not var.value:
                return name, None
            target: str = var.value  # type: ignore[assignment]
            if target.endswith("]"):
                base, _, subscript = target.partition("[")
                return base, subscript[:-1]
            seen += 1
            if target == first or seen > 100:
                self.warn(f"{first}: circular name reference")
                return "", None
            name = target

    def lookup(self, name: str) -> str | Var | None:
        """The entry of `name` in `vars`, namerefs followed (None also for a nameref to an element)."""
        var = self.entry(name)
        if var.__class__ is Var and var.flags & NAMEREF and var.value:
            name, subscript = self.resolve(name)
            return self.entry(name) if subscript is None else None
        return var

    def flags(self, name: str) -> int:
        """Attributes of `name` (namerefs followed); 0 for a plain variable or none."""
        var = self.lookup(name)
        return 0 if var is None or var.__class__ is str else var.flags  # type: ignore[union-attr]

    def is_assoc(self, name: str) -> bool:
        return bool(self.flags(name) & ASSOC)

    def is_array(self, name: str) -> bool:
        return bool(self.flags(name) & ARRAY)

    def is_set(self, name: str) -> bool:
        """Has it a value (for an array: element 0)? ``[[ -v name ]]``."""
        return self.get(name) is not None

    def array(self, name: str) -> dict[int, str] | dict[str, str]:
        """All elements in bash's order; a scalar is ``{0: value}``, unset is empty. Read only."""
        var = self.vars.get(name)
        if var is None:
            return {}
        if not isinstance(var, Var):
            return {0: str(var)}
        if var.flags & NAMEREF:
            target, subscript = self.resolve(name)
            return {} if subscript is not None or target == name else self.array(target)
        if isinstance(var, Dynamic):
            value = var.read(self)
        elif isinstance(var.value, dict):
            return var.ordered()
        else:
            value = var.value
        if value is None:
            return {}
        return value if isinstance(value, dict) else {0: value}

    def elements(self, name: str) -> list[str]:
        return list(self.array(name).values())

    def keys(self, name: str) -> list[str]:
        return [str(key) for key in self.array(name)]

    def get_element(self, name: str, key: int | str) -> str | None:
        """``${name[key]}``; None when unset. A negative index counts from the end (too far: a message)."""
        values: dict[Any, str] = self.array(name)
        if key.__class__ is int and key < 0:
            key += (max(values) if values else -1) + 1
            if key < 0:
                self.error(f"{name}: bad array subscript")
                if self.options.errexit:  # also in conditions
                    raise Exit(self.status or 1)
                return None
        return values.get(key)

    # ------------------------------------------------------------------------------------------ writing variables

    def grow(self, size: int) -> None:
        """About `size` bytes are to be kept: when that adds up, count all that shells hold (LimitExceeded)."""
        self.grown += size
        if self.grown > self.grow_limit:
            self.kernel.fits(size)
            self.grown = 0
            self.kernel.count_values()
            self.kernel.fits(size)

    def held(self, seen: set[int]) -> int:
        """Bytes of all values, about, without the texts (their ids) that were `seen` already; adds to `seen`."""
        total = 0
        places: list[Iterable[object]] = [self.vars.values(), self.positional]
        places += [scope.values() for scope in self.scopes]
        while places:
            for value in places.pop():
                if isinstance(value, str):
                    total += _VALUE_BYTES
                    if id(value) not in seen:
                        seen.add(id(value))
                        total += len(value) if value.isascii() else 4 * len(value)
                elif isinstance(value, int):
                    total += _VALUE_BYTES
                elif isinstance(value, Var) and value.value is not None:
                    places.append(value.value.values() if isinstance(value.value, dict) else (value.value,))
        return total

    def set(self, name: str, value: str, append: bool = False) -> None:
        """``name=value`` / ``name+=value``. ShellError when readonly or when its arithmetic is wrong."""
        old = self.vars.get(name)
        if not isinstance(old, Var):
            if old is None:
                self.grow(len(value) + _VALUE_BYTES)
            if append and old is not None:
                text = str(old)
                self.kernel.fits(len(text) + len(value))
                value = text + value
            if self.options.allexport:
                self.vars[name] = Var(value, EXPORT, self.token)
                self._exported = None
            else:
                self.vars[name] = value
            return
        self._set_var(name, old, value, append)

    def _set_var(self, name: str, var: Var, value: str, append: bool) -> None:
        flags = var.flags
        if flags & NAMEREF:
            if var.value is None:
                self._set_reference(name, value)
                return
            target, subscript = self.resolve(name)
            if not target:
                raise ShellError("")
            if subscript is not None:
                self.assign(f"{target}[{subscript}]", value, append)
                return
            found = self.entry(target)
            if found.__class__ is Var and found.flags & NAMEREF:
                self._set_reference(target, value)
            else:
                self.set(target, value, append)
            return
        if flags & READONLY:
            raise ShellError(f"{name}: readonly variable")
        if var.__class__ is Dynamic:
            if var.assign is not None:
                old = self.scalar(name, var) if append else None
                var.assign(self, self._transform(flags, value, old))
            return
        if flags & ARRAY:
            self.set_element(name, "0" if flags & ASSOC else 0, value, append)
            return
        if flags & (INTEGER | CASES) or append:
            value = self._transform(flags, value, var.value if append else None)  # type: ignore[arg-type]
        if self.options.allexport:
            flags |= EXPORT
        if not flags:
            self.vars[name] = value
            return
        var = self.own(name, var)
        var.value = value
        var.flags = flags
        if flags & EXPORT:
            self._exported = None

    def rebind(self, name: str, target: str) -> bool:
        """Let the nameref `name` lead to `target`; False when it is none."""
        var = self.vars.get(name)
        if not isinstance(var, Var) or not var.flags & NAMEREF:
            return False
        self._set_reference(name, target)
        return True

    def _set_reference(self, name: str, value: str) -> None:
        """The first assignment to a nameref without a target makes `value` its target."""
        if not is_name(value.partition("[")[0]):
            raise ShellError(f"`{value}': not a valid identifier")
        self.own(name, self.vars[name]).value = value  # type: ignore[arg-type]

    def _transform(self, flags: int, value: str, old: str | None) -> str:
        """What an assignment of `value` stores under the attributes `flags`; `old` is not None for ``+=``."""
        if flags & INTEGER:
            from mirage.shell.expand.arith import arith_eval, wrap

            number = arith_eval(self, value)
            return str(wrap(number + arith_eval(self, old)) if old is not None else number)
        if old:
            self.kernel.fits(len(old) + len(value))
            value = old + value
        if flags & LOWER:
            return value.lower()
        if flags & UPPER:
            return value.upper()
        if flags & CAPITAL:
            return value[:1].upper() + value[1:].lower()
        return value

    def own(self, name: str, var: Var) -> Var:
        """`var`, the entry of `name`, as an object that only this shell has."""
        if var.owner is not self.token:
            var = self.vars[name] = var.copy(self.token)
        return var

    def set_element(self, name: str, key: int | str, value: str, append: bool = False) -> None:
        """``name[key]=value``; `key` is a str exactly when `name` is an associative array (`is_assoc`)."""
        if key.__class__ is int and key < 0 and name not in self.vars:
            raise ShellError(f"{name}[{key}]: bad array subscript")
        name, var = self._array_to_write(name, key.__class__ is str)
        flags = var.flags
        values: dict[Any, str] = var.value  # type: ignore[assignment]
        if key.__class__ is int and key < 0:
            index = key + var.top() + 1
            if index < 0:
                raise ShellError(f"{name}[{key}]: bad array subscript")
            key = index
        self.grown += len(value) + _VALUE_BYTES
        if self.grown > self.grow_limit:
            self.grow(0)
        old = values.get(key)
        if append or flags & (INTEGER | CASES):
            value = self._transform(flags, value, (old or "") if append else None)
        if old is None:
            if var.fresh or flags & ASSOC or values and key < var.top():  # type: ignore[operator]
                var.fresh += 1
        values[key] = value

    def _array_to_write(self, name: str, assoc: bool = False) -> tuple[str, Var]:
        """The Var of an array that this shell may change; a scalar or nothing becomes an indexed array."""
        var = self.entry(name)
        if var.__class__ is Var and var.flags & NAMEREF and var.value:
            target, subscript = self.resolve(name)
            if subscript is not None:
                raise ShellError(f"`{target}[{subscript}]': not a valid identifier")
            if not target:
                raise ShellError("")
            name, var = target, self.entry(target)
        if var is None or isinstance(var, str):
            flags = INDEXED | (EXPORT if self.options.allexport else 0)
            new = self.vars[name] = Var({} if var is None else {0: var}, flags, self.token)
            new.fresh = 0
            return name, new
        assert isinstance(var, Var)
        if var.flags & READONLY:
            raise ShellError(f"{name}: readonly variable")
        if var.__class__ is Dynamic:
            value = var.read(self) if var.flags & ARRAY else None
            return name, Var(dict(value) if isinstance(value, dict) else {}, var.flags, self.token)
        var = self.own(name, var)
        if not var.flags & ARRAY:
            var.flags |= ASSOC if assoc else INDEXED
            var.value = {} if var.value is None else {0: var.value}  # type: ignore[assignment]
            if var.flags & EXPORT:
                self._exported = None
        elif var.value is None:
            var.value = {}
        return name, var

    def set_array(
        self, name: str, values: dict[int, str] | dict[str, str] | Iterable[str], assoc: bool = False
    ) -> None:
        """Replace all elements (attributes of an existing variable stay and apply)."""
        name, var = self._array_to_write(name, assoc)
        if var.flags & ASSOC:
            assoc = True
        new: dict[Any, str] = dict(values) if isinstance(values, dict) else dict(enumerate(values))
        if len(new) > _FEW:
            self.grow(sum(map(len, new.values())) + _VALUE_BYTES * len(new))
        if var.flags & (INTEGER | CASES):
            new = {key: self._transform(var.flags, value, None) for key, value in new.items()}
        var.value = new
        var.fresh = len(new) if assoc or not _ascending(new) else 0

    def append_elements(self, name: str, values: Iterable[str]) -> None:
        """``name+=(...)`` of an indexed array (or a scalar, which becomes one): after the highest index."""
        name, var = self._array_to_write(name)
        values = list(values)
        self.grown += sum(map(len, values)) + _VALUE_BYTES * len(values)
        if self.grown > self.grow_limit:
            self.grow(0)
        at = var.top() + 1
        elements: dict[int, str] = var.value  # type: ignore[assignment]
        change = var.flags & (INTEGER | CASES)
        for value in values:
            elements[at] = self._transform(var.flags, value, None) if change else value
            at += 1

    def replace_array(self, name: str, values: dict[int, str]) -> None:
        """Give the shell's own indexed array `name` new elements (BASH_REMATCH), unless it is readonly."""
        old = self.vars.get(name)
        if not isinstance(old, Var) or not old.flags & (READONLY | NAMEREF):
            new = self.vars[name] = Var(values, INDEXED, self.token)
            new.fresh = 0

    def assign(self, target: str, value: str, append: bool = False) -> None:
        """Assign to a text ``name`` or ``name[subscript]``, as `read`, `printf -v` and namerefs do."""
        if not target.endswith("]"):
            self.set(target, value, append)
            return
        name, _, subscript = target.partition("[")
        self.set_element(name, self.subscript_key(name, subscript[:-1]), value, append)

    def fetch(self, target: str) -> str | None:
        """The value of a text ``name`` or ``name[subscript]``; None when unset."""
        if not target.endswith("]"):
            return self.get(target)
        name, _, subscript = target.partition("[")
        return self.fetch_subscript(name, subscript[:-1])

    def fetch_subscript(self, name: str, subscript: str) -> str | None:
        """``${name[subscript]}`` for a subscript that is only known as text (``@`` and ``*`` join the elements)."""
        if subscript in ("@", "*") and not self.is_assoc(name):
            values = self.elements(name)
            return " ".join(values) if values else None
        return self.get_element(name, self.subscript_key(name, subscript))

    def subscript_key(self, name: str, subscript: str) -> int | str:
        """The key that the text of a subscript means for the array `name`; expansions in it are done."""
        from mirage.shell.expand.subscript import text_key

        return text_key(self, name, subscript)

    def unset(self, name: str, nameref: bool = False) -> bool:
        """Remove a variable (with `nameref` the nameref itself); False when there was none. ShellError when readonly.

        Inside a function that made it local it stays local; that of a calling function gives way to what it hid.
        """
        var = self.vars.get(name)
        if var is None:
            return False
        if isinstance(var, Var):
            if var.flags & NAMEREF and not nameref and var.value:
                target, subscript = self.resolve(name)
                if subscript in ("@", "*") and self.is_array(target) and not self.is_assoc(target):
                    self.set_array(target, ())
                    return True
                if subscript is not None:
                    self.unset_element(target, self.subscript_key(target, subscript))
                    return True
                return bool(target) and target != name and self.unset(target, True)
            if var.flags & READONLY:
                raise ShellError(f"{name}: cannot unset: readonly variable")
            if var.flags & EXPORT:
                self._exported = None
        for index in range(len(self.scopes) - 1, -1, -1):
            scope = self.scopes[index]
            if name in scope:
                if not scope.temporary and (index == len(self.scopes) - 1 or self.shopt["localvar_unset"]):
                    self.vars[name] = Var(None, 0, self.token)
                else:
                    self._restore(name, scope.pop(name))
                    outer = self.scopes[index - 1] if index else scope
                    if outer.of_call and not scope.temporary and name in outer:
                        self._restore(name, outer.pop(name))
                return True
        del self.vars[name]
        return True

    def unset_element(self, name: str, key: int | str) -> None:
        """``unset 'name[key]'``; element 0 of a scalar is the scalar."""
        name, subscript = self.resolve(name)
        var = self.entry(name)
        if var is None or subscript is not None:
            return
        if var.__class__ is not str and var.flags & READONLY:  # type: ignore[union-attr]
            raise ShellError(f"{name}: cannot unset: readonly variable")
        if var.__class__ is str or not var.flags & ARRAY:  # type: ignore[union-attr]
            if key in (0, "0"):
                self.unset(name)
                return
            raise ShellError(f"{name}: not an array variable")
        if var.__class__ is Dynamic:
            return
        assert isinstance(var, Var)
        if var.value is None:
            return
        var = self.own(name, var)
        if key.__class__ is int and key < 0:
            key += var.top() + 1
            if key < 0:
                raise ShellError(f"[{key - var.top() - 1}]: bad array subscript")
        var.ordered()
        var.value.pop(key, None)  # type: ignore[union-attr,arg-type]

    def declare(self, name: str, add: int = 0, remove: int = 0) -> None:
        """Give and take attributes (`name` itself, namerefs are not followed); creates an unset variable.

        ShellError: taking READONLY, or turning one kind of array into the other.
        """
        old = self.entry(name)
        if old is None:
            if not add and not remove and self.options.allexport:
                add = EXPORT
            self.vars[name] = Var(None, add, self.token)
            return
        if old.__class__ is str:
            if not add:
                return
            var = self.vars[name] = Var(old, 0, self.token)
        else:
            var = old  # type: ignore[assignment]
        if var.flags & READONLY and remove & READONLY:
            raise ShellError(f"{name}: readonly variable")
        if add & INDEXED and var.flags & ASSOC:
            raise ShellError(f"{name}: cannot convert associative to indexed array")
        if add & ASSOC and var.flags & INDEXED:
            raise ShellError(f"{name}: cannot convert indexed to associative array")
        if remove & ARRAY & var.flags:
            raise ShellError(f"{name}: cannot destroy array variables in this way")
        var = self.own(name, var)
        if add & ARRAY and not var.flags & ARRAY and var.__class__ is Var and var.value is not None:
            var.value = {"0": var.value} if add & ASSOC else {0: var.value}  # type: ignore[assignment]
            var.fresh = 0
        if add & CASES:
            remove |= CASES & ~add
        if (add | remove | var.flags) & EXPORT:
            self._exported = None
        var.flags = var.flags & ~remove | add
        if not var.flags and var.__class__ is Var and var.value is not None:
            self.vars[name] = var.value  # type: ignore[assignment]

    def restore_variables(self, before: Shell) -> None:
        """Take the variables back that a fork of this shell has kept."""
        self.vars, self.scopes, self._exported = before.vars, before.scopes, before._exported

    # --------------------------------------------------------------------------------------------------- scopes

    def push_scope(self, temporary: bool = False) -> Scope:
        """Enter a function (or, `temporary`, a command with assignments before it); undone by `pop_scope`."""
        scope = TemporaryScope() if temporary else Scope()
        self.scopes.append(scope)
        return scope

    def pop_scope(self) -> None:
        scope = self.scopes.pop()
        if not scope:
            return
        variables = self.vars
        for name, value in scope.items():
            now = variables.get(name).__class__
            kind = value.__class__
            if (now is str or now is int) and (value is None or kind is str or kind is int):
                if value is None:
                    del variables[name]
                else:
                    variables[name] = value  # type: ignore[assignment]
            elif name == DASH:
                self.options = value  # type: ignore[assignment]
            else:
                self._restore(name, value)

    def _restore(self, name: str, value: Any) -> None:
        now = self.entry(name)
        if value is None:
            if now is None:
                return
            del self.vars[name]
        else:
            self.vars[name] = value
        if now.__class__ is not str or value.__class__ is not str and value is not None:
            self._exported = None

    def make_local(self, name: str, inherit: bool = False) -> None:
        """``local name``: an unset variable of the innermost function; nothing when it is local there already.

        A temporary assignment of the call (``x=1 f``) becomes the local one. `inherit` (``local -I``,
        ``localvar_inherit``): value and attributes are those of the hidden variable.
        ShellError when the hidden one is readonly. ``make_local("-")`` saves the options.
        """
        index = len(self.scopes) - 1
        while index >= 0 and self.scopes[index].temporary:
            index -= 1
        if index < 0:
            raise ShellError("can only be used in a function")
        scope = self.scopes[index]
        if name in scope:
            return
        if name == DASH:
            scope[DASH] = self.options
            self.options = self.options.copy()
            return
        old = self.entry(name)
        if old.__class__ is Var and old.flags & READONLY and not self._is_local(name):
            raise ShellError(f"{name}: readonly variable")
        scope[name] = old
        if old.__class__ is Var and self._is_temporary(name, index):
            self.vars[name] = old.copy(self.token)
            return
        if old.__class__ is not str and old is not None and old.flags & EXPORT:  # type: ignore[union-attr]
            self._exported = None
        if (inherit or self.shopt["localvar_inherit"]) and old is not None and not isinstance(old, Dynamic):
            if isinstance(old, Var):
                copy = old.copy(self.token)
                copy.flags &= ~NAMEREF
                self.vars[name] = copy
            return
        exported = old.flags & EXPORT if isinstance(old, Var) else 0
        self.vars[name] = Var(None, exported, self.token)

    def _is_temporary(self, name: str, index: int) -> bool:
        """Is what the function of scope `index` sees under that name a temporary assignment?"""
        for outer in reversed(self.scopes[:index]):
            if name in outer:
                return outer.temporary
        return False

    def show_outer(self, name: str) -> None:
        """`name` is not local any more to the running function."""
        scope = next((scope for scope in reversed(self.scopes) if not scope.temporary), None)
        if scope is not None and name in scope:
            self._restore(name, scope.pop(name))

    def keep_temporary(self, name: str) -> None:
        """A temporary variable of the running call that it exports or makes readonly outlives the call (bash)."""
        index = len(self.scopes) - 1
        while index > 0 and self.scopes[index].temporary:
            index -= 1
        if index > 0 and self.scopes[index - 1].of_call and name in self.scopes[index - 1]:
            self.scopes[index].pop(name, None)
            del self.scopes[index - 1][name]

    def _is_local(self, name: str) -> bool:
        return any(name in scope for scope in self.scopes if not scope.temporary)

    def is_local_here(self, name: str) -> bool:
        """Was it made local by the innermost function?"""
        return bool(self.scopes) and name in self.scopes[-1]

    def with_temp(self, assignments: Iterable[tuple[str, str]]) -> None:
        """``name=value ... command``: a temporary scope with exported variables; the caller must `pop_scope`.

        ShellError when one is readonly (nothing is pushed then).
        """
        scope = self.push_scope(True)
        try:
            for name, value in assignments:
                self.set_temp(scope, name, value)
        except BaseException:
            self.pop_scope()
            raise

    def set_temp(self, scope: Scope, name: str, value: str) -> None:
        """One temporary assignment into a scope of `push_scope(True)`."""
        name, subscript = self.resolve(name)
        old = self.entry(name)
        flags = 0 if old is None or old.__class__ is str else old.flags  # type: ignore[union-attr]
        if flags & READONLY:
            raise ShellError(f"{name}: readonly variable")
        if flags & (INTEGER | CASES):
            value = self._transform(flags, value, None)
        if name not in scope:
            scope[name] = old
        self._exported = None
        if isinstance(old, Dynamic) and old.assign is not None:
            scope.pop(name) if scope[name] is old else None
            old.assign(self, value)
            return
        self.vars[name] = Var(value, flags & ~ARRAY | EXPORT, self.token)

    def exported(self) -> dict[str, str]:
        """The environment of a program; do not change it (it is kept until a variable changes)."""
        env = self._exported
        if env is None:
            env = self._exported = {}
            for name, var in self.vars.items():
                if isinstance(var, Var) and var.flags & EXPORT and not var.flags & ARRAY:
                    value = self.scalar(name, var)
                    if value is not None:
                        env[name] = value
            for name, flags in self.function_flags.items():
                if flags & EXPORT and name in self.functions:
                    env[f"BASH_FUNC_{name}%%"] = _exported_function(self.functions[name])
        return env

    def exports_changed(self) -> None:
        """To be called after `function_flags` or an exported function changed."""
        self._exported = None

    # --------------------------------------------------------------------------------------------------- messages

    def prefix(self) -> str:
        """What bash's messages begin with: ``bash: line 3: ``."""
        name = self.call_stack[-1].source if self.call_stack else self.name
        return f"{name}: " if self.interactive else f"{name}: line {self.line}: "

    def error(self, text: str) -> None:
        """``bash: line N: text`` on standard error."""
        try:
            self.proc.write_error(f"{self.prefix()}{text}\n")
        except OSError:
            pass

    def warn(self, text: str) -> None:
        self.error(f"warning: {text}")

    def builtin_error(self, name: str, text: str) -> None:
        """``bash: line N: name: text`` on standard error."""
        self.error(f"{name}: {text}")

    def fail(self, text: str, status: int = 1, fatal: bool = False) -> ShellError:
        """Print `text` and make the ShellError to raise."""
        error = ShellError(text, status, fatal)
        error.report(self)
        return error

    def bad_substitution(self, text: str) -> ShellError:
        """Print `text`; the error to raise ends a script in POSIX mode."""
        fatal = self.options.posix and not self.interactive
        return self.fail(text, self.fatal_status() if fatal else 1, fatal)

    def fatal_status(self) -> int:
        """The status with which ``${x?}`` and ``set -u`` end this shell."""
        return 127 if self.options.command and not self.subshell_level else 1

    def out(self, data: bytes) -> None:
        """Write to standard output at once (as bash flushes after each builtin); may raise OSError."""
        if data:
            self.proc.file(1).write(data)

    # ---------------------------------------------------------------- running code (see mirage.shell.exec)

    def capture(self, body: Commands) -> str:
        """The output of ``$(body)`` without trailing newlines; sets `status`."""
        from mirage.shell.exec.substitution import capture

        return capture(self, body)

    def process_substitution(self, direction: str, body: Commands) -> str:
        """Start ``<(body)`` or ``>(body)``; the path that stands for it."""
        from mirage.shell.exec.substitution import process_substitution

        return process_substitution(self, direction, body)

    def eval_text(self, text: str, line: int | None = None) -> int:
        """Run `text` as `eval` does; the status."""
        from mirage.shell.exec.calls import eval_text

        return eval_text(self, text, line)

    def run_function(self, name: str, args: Sequence[str]) -> int:
        """Call the shell function `name`; the status."""
        from mirage.shell.exec.calls import run_function

        return run_function(self, name, args)

    def run_command(self, argv: Sequence[str]) -> int:
        """Run a builtin or program, no function, as `command` does; the status."""
        from mirage.shell.exec.calls import run_command

        return run_command(self, argv)


def _exported_function(node: Function) -> str:
    """A function as the environment holds it: one blank per level, the first command beside the brace."""
    from mirage.shell.printer import function_text

    _, _, body = function_text(node).partition("\n")
    lines = [" " * ((len(line) - len(line.lstrip(" "))) // 4) + line.lstrip(" ") for line in body.split("\n")]
    return "() " + "\n".join(lines).replace("{ \n ", "{  ", 1)


def _ascending(keys: Iterable[int]) -> bool:
    last = -1
    for key in keys:
        if key < last:
            return False
        last = key
    return True
