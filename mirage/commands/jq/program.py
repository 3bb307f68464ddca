"""One run of jq: the compiled program, its inputs, arguments, modules, and the limits it must keep."""
from __future__ import annotations

from mirage.commands.jq import tree
from mirage.commands.jq.compiler import Compiler, Scope
from mirage.commands.jq.encode import dumps
from mirage.commands.jq.errors import BreakLabel, CompileError, JqError
from mirage.commands.jq.filters import ROOT
from mirage.commands.jq.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from mirage.commands.jq.compiler import FunctionCode
    from mirage.commands.jq.inputs import Inputs
    from mirage.commands.jq.modules import Modules
    from mirage.process.process import Process

STEPS = 2000
END = object()


class Run:
    """What compiled filters reach beyond their values. `process` None: no terminal (no limits, no environment)."""

    def __init__(self, process: Process | None = None, inputs: Inputs | None = None, modules: Modules | None = None,
                 arguments: Mapping[str, Any] | None = None) -> None:
        self.process = process
        self.inputs = inputs
        self._modules = modules
        self.arguments = dict(arguments or {})
        self.definitions: dict[str, FunctionCode] = {}
        self._steps = STEPS
        self._environment: dict[str, Any] | None = None

    # ---- limits

    def tick(self) -> None:
        """One turn of a loop or call."""
        self._steps -= 1
        if self._steps < 0:
            self.check()

    def check(self) -> None:
        self._steps = STEPS
        if self.process is not None:
            self.process.check()

    def watch(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items, with a look at the limits now and then."""
        for item in items:
            self._steps -= 1
            if self._steps < 0:
                self.check()
            yield item

    def deep(self, visit: Callable[[Any, Any], Iterable[Any]], value: Any, env: Any) -> Iterable[Any]:
        """`visit(value, env)` worked out on a greenlet of its own, so that recursion does not grow the stack."""
        if self.process is None:
            return visit(value, env)
        return self._deep(visit, value, env)

    def _deep(self, visit: Callable[[Any, Any], Iterable[Any]], value: Any, env: Any) -> Iterator[Any]:
        assert self.process is not None
        call_deep = self.process.kernel.call_deep
        iterator = call_deep(lambda: iter(visit(value, env)))
        while True:
            item = call_deep(lambda: next(iterator, END))
            if item is END:
                return
            yield item

    # ---- the world

    def environment(self) -> dict[str, Any]:
        if self._environment is None:
            env = self.process.env if self.process is not None else {}
            self._environment = {name: value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                                 for name, value in env.items()}
        return self._environment

    def next_input(self) -> Any:
        """The next input value; the error `break` at the end."""
        value = self.inputs.next() if self.inputs is not None else None
        if value is None:
            raise JqError("break")
        return value[0]

    def input_name(self) -> str | None:
        return self.inputs.name if self.inputs is not None else None

    def line_number(self) -> int:
        return self.inputs.line if self.inputs is not None else 0

    def now(self) -> float:
        if self.process is not None:
            return self.process.now()
        import time
        return time.time()

    def debug(self, value: Any) -> None:
        self.write_error(dumps(["DEBUG:", value]) + "\n")

    def standard_error(self, value: Any) -> None:
        self.write_error(value if type(value) is str else dumps(value))

    def write_error(self, text: str) -> None:
        if self.process is not None:
            self.process.write_error(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))

    @property
    def modules(self) -> Modules:
        if self._modules is None:
            from mirage.commands.jq.modules import Modules
            self._modules = Modules(self.process, [])
        return self._modules


def compile_program(run: Run, text: str) -> Callable[[Any], Iterable[Any]]:
    """A function from an input value to its results. Raises CompileError; results raise JqError and BreakLabel."""
    try:
        program = parse(text)
        scope = Scope(None, "", None, 0)
        for name, value in run.arguments.items():
            scope = Scope(scope, f"${name}", (value,), 0)
        compiler = Compiler(run)
        if program.imports:
            scope = run.modules.link(compiler, program, scope, None)
        for function in program.functions:
            scope = compiler.define(function, scope)
        code = compiler.compile(program.body or tree.Identity(), scope)
        check_functions(compiler, scope)
    except RecursionError:
        raise CompileError("program is nested too deeply") from None
    stream = code.stream

    def results(value: Any) -> Iterator[Any]:
        try:
            yield from stream(value, ROOT)
        except RecursionError:
            raise JqError("Function calls or data are nested too deeply") from None
        except BreakLabel:
            raise JqError("break") from None

    return results


def check_functions(compiler: Compiler, scope: Scope | None) -> None:
    """Definitions that nothing calls are checked for undefined names too."""
    from mirage.commands.jq.compiler import FunctionCode
    while scope is not None:
        if isinstance(scope.content, FunctionCode):
            compiler.body(scope.content)
        scope = scope.outer
