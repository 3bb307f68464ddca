"""From syntax tree to filters: the language itself. Builtin functions are in builtins.py."""
from __future__ import annotations

from mirage.commands.jq import assign, bindings, builtins, tree
from mirage.commands.jq.errors import BreakLabel, CompileError, JqError
from mirage.commands.jq.filters import (
    ROOT,
    SLICE,
    Filter,
    child,
    children,
    collect,
    compare_to,
    constant,
    product,
    truthy,
    up,
    variable,
)
from mirage.commands.jq.formats import FORMATS, format_text
from mirage.commands.jq.values import (
    add,
    compare,
    described,
    divide,
    equal,
    index,
    iterate,
    modulo,
    multiply,
    negate,
    slice_of,
    subtract,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from mirage.commands.jq.filters import One, Place, Places, Stream
    from mirage.commands.jq.program import Run

DEEP_EVERY = 12                                              # nested calls per greenlet
MAX_CALLS = 10_000


class Scope:
    """Names visible at one point. `level` counts the environment nodes there; lookups go outwards.

    Functions are kept as `name/arity`, variables as `$name`, labels as `*name`.
    """

    __slots__ = ("content", "level", "name", "outer")

    def __init__(self, outer: Scope | None, name: str, content: Any, level: int) -> None:
        self.outer = outer
        self.name = name
        self.content = content
        self.level = level

    def find(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None:
            if scope.name == name:
                return scope
            scope = scope.outer
        return None

    def bound(self, name: str) -> Scope:
        """The scope inside a node that holds a variable or label."""
        return Scope(self, name, None, self.level + 1)

    def defined(self, name: str, content: Any) -> Scope:
        """The scope behind a definition, which takes no node."""
        return Scope(self, name, content, self.level)


class Parameter:
    """A closure parameter of the function being compiled."""


class FunctionCode:
    """A function: compiled on its first call site. `scope` is where its definition stands."""

    __slots__ = ("code", "compiling", "function", "level", "recursive", "scope")

    def __init__(self, function: tree.Function, scope: Scope) -> None:
        self.function = function
        self.level = scope.level
        self.scope = scope
        self.code: Filter | None = None
        self.compiling = False
        self.recursive = False


class Compiler:
    """Compiles for one run; `run` gives checks, inputs, environment and arguments."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def compile(self, node: tree.Node, scope: Scope) -> Filter:
        result: Filter = getattr(self, f"_{type(node).__name__}")(node, scope)
        return result

    # ---- simple terms

    def _Identity(self, node: tree.Identity, scope: Scope) -> Filter:
        return Filter(lambda v, env: v, places=lambda: lambda place, env: (place,))

    def _RecurseAll(self, node: tree.RecurseAll, scope: Scope) -> Filter:
        return recurse_all(self.run)

    def _Constant(self, node: tree.Constant, scope: Scope) -> Filter:
        return constant(node.value)

    def _Location(self, node: tree.Location, scope: Scope) -> Filter:
        return constant({"file": node.file, "line": node.line})

    def _Format(self, node: tree.Format, scope: Scope) -> Filter:
        name = node.name
        return Filter(lambda v, env: format_text(name, v))

    def _Text(self, node: tree.Text, scope: Scope) -> Filter:
        name = node.format[1:] if node.format else "text"
        parts = node.parts
        if all(isinstance(part, str) for part in parts):
            return constant("".join(str(part) for part in parts))
        convert = FORMATS.get(name)

        def text(value: Any) -> str:
            return convert(value) if convert else format_text(name, value)

        filters = [part if isinstance(part, str) else self.compile(part, scope) for part in parts]
        inner = [part for part in filters if isinstance(part, Filter)]

        def build(v: Any, *results: Any) -> str:
            taken = iter(results)
            return "".join([part if isinstance(part, str) else text(next(taken)) for part in filters])

        return product(build, inner)

    def _Negate(self, node: tree.Negate, scope: Scope) -> Filter:
        if isinstance(node.body, tree.Constant):
            return constant(negate(node.body.value))
        return chain(self.compile(node.body, scope), Filter(lambda v, env: negate(v)))

    # ---- access

    def _Index(self, node: tree.Index, scope: Scope) -> Filter:
        key = node.key
        if isinstance(key, tree.Text) and key.format is None and len(key.parts) == 1 and isinstance(key.parts[0], str):
            return self._field(node.target, key.parts[0], scope)
        target, inner = self.compile(node.target, scope), self.compile(key, scope)
        target_one, inner_one = target.one, inner.one

        def places() -> Places:
            find, keys = target.places, inner.stream

            def visit(place: Place, env: Any) -> Iterator[Place]:
                for k in keys(place[1], env):
                    for found in find(place, env):
                        yield child(found, k)

            return visit

        if target_one and inner_one:
            get, key_of = target_one, inner_one
            if isinstance(node.target, tree.Identity):
                return Filter(lambda v, env: index(v, key_of(v, env)), places=places)
            return Filter(lambda v, env: index(get(v, env), key_of(v, env)), places=places)
        targets, keys = target.stream, inner.stream

        def stream(v: Any, env: Any) -> Iterator[Any]:
            for k in keys(v, env):
                for t in targets(v, env):
                    yield index(t, k)

        return Filter(stream=stream, places=places)

    def _field(self, target: tree.Node, name: str, scope: Scope) -> Filter:
        def field(v: Any, env: Any) -> Any:
            if type(v) is dict:
                return v.get(name)
            if v is None:
                return None
            return index(v, name)

        access = Filter(field, places=lambda: lambda place, env: (child(place, name),))
        return access if isinstance(target, tree.Identity) else chain(self.compile(target, scope), access)

    def _Slice(self, node: tree.Slice, scope: Scope) -> Filter:
        target = self.compile(node.target, scope)
        low = self.compile(node.low, scope) if node.low else constant(None)
        high = self.compile(node.high, scope) if node.high else constant(None)

        def places() -> Places:
            find = target.places

            def visit(place: Place, env: Any) -> Iterator[Place]:
                for h in high.stream(place[1], env):
                    for lo in low.stream(place[1], env):
                        for found in find(place, env):
                            yield child(found, {"start": lo, "end": h})

            return visit

        if isinstance(node.target, tree.Identity):
            cut = product(slice_of, [low, high])
        else:
            cut = product(lambda v, t, lo, h: slice_of(t, lo, h), [target, low, high])
        return Filter(cut.one, cut.stream, places)

    def _Iterate(self, node: tree.Iterate, scope: Scope) -> Filter:
        each = Filter(stream=lambda v, env: iterate(v), places=lambda: lambda place, env: children(place))
        return each if isinstance(node.target, tree.Identity) else chain(self.compile(node.target, scope), each)

    # ---- construction

    def _Array(self, node: tree.Array, scope: Scope) -> Filter:
        if node.body is None:
            return Filter(lambda v, env: [])
        body = self.compile(node.body, scope)
        if body.one:
            one = body.one
            return Filter(lambda v, env: [one(v, env)])
        stream, check = body.stream, self.run.check
        return Filter(lambda v, env: collect(stream(v, env), check))

    def _Object(self, node: tree.Object, scope: Scope) -> Filter:
        pairs = [(self.compile(k, scope), self.compile(v, scope)) for k, v in node.pairs]
        names = [plain_key(k) for k, _ in node.pairs]
        if all(value.one for _, value in pairs) and all(key.one for key, _ in pairs):
            if all(name is not None for name in names):
                items = [(name, value.one) for name, (_, value) in zip(names, pairs, strict=True) if value.one]
                return Filter(lambda v, env: {name: one(v, env) for name, one in items})
            makers = [(key.one, value.one) for key, value in pairs if key.one and value.one]

            def build(v: Any, env: Any) -> dict[str, Any]:
                return {object_key(key(v, env)): one(v, env) for key, one in makers}

            return Filter(build)
        streams = [(key.stream, value.stream) for key, value in pairs]

        def combine(v: Any, env: Any, at: int, made: dict[str, Any]) -> Iterator[Any]:
            if at == len(streams):
                yield made
                return
            keys, contents = streams[at]
            for key in keys(v, env):
                name = object_key(key)
                for content in contents(v, env):
                    yield from combine(v, env, at + 1, {**made, name: content})

        return Filter(stream=lambda v, env: combine(v, env, 0, {}))

    # ---- composition

    def _Pipe(self, node: tree.Pipe, scope: Scope) -> Filter:
        return chain(self.compile(node.left, scope), self.compile(node.right, scope))

    def _Comma(self, node: tree.Comma, scope: Scope) -> Filter:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        first, second = left.stream, right.stream

        def stream(v: Any, env: Any) -> Iterator[Any]:
            yield from first(v, env)
            yield from second(v, env)

        def places() -> Places:
            before, after = left.places, right.places

            def visit(place: Place, env: Any) -> Iterator[Place]:
                yield from before(place, env)
                yield from after(place, env)

            return visit

        return Filter(stream=stream, places=places)

    def _Binary(self, node: tree.Binary, scope: Scope) -> Filter:
        op = node.op
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        if op == "//":
            return alternative(left, right)
        if op in ("and", "or"):
            return logical(op == "and", left, right)
        if isinstance(node.right, tree.Constant | tree.Text) and left.one and right.one:
            if not isinstance(node.right, tree.Text) or all(isinstance(p, str) for p in node.right.parts):
                quick = compare_to(op, right.one(None, None))
                if quick:
                    get, test = left.one, quick
                    return Filter(lambda v, env: test(get(v, env)))
        function = OPERATORS[op]
        if left.one and right.one:
            a, b = left.one, right.one
            if op in ("+", "-"):                             # the right side first, as jq does
                def ordered(v: Any, env: Any) -> Any:
                    second = b(v, env)
                    return function(a(v, env), second)
                return Filter(ordered)
            return Filter(lambda v, env: function(a(v, env), b(v, env)))
        lefts, rights = left.stream, right.stream

        def stream(v: Any, env: Any) -> Iterator[Any]:
            for second in rights(v, env):
                for first in lefts(v, env):
                    yield function(first, second)

        return Filter(stream=stream)

    def _Assign(self, node: tree.Assign, scope: Scope) -> Filter:
        left = self.compile(node.left, scope)
        if node.op == "|=":
            return assign.update(left, self.compile(node.right, scope), self.run)
        right = self.compile(node.right, scope)
        if node.op == "=":
            return assign.set_all(left, right, self.run)
        if node.op == "//=":
            return assign.update_default(left, right, self.run)
        return assign.update_with(left, right, OPERATORS[node.op[:-1]], self.run)

    # ---- control

    def _If(self, node: tree.If, scope: Scope) -> Filter:
        condition, then = self.compile(node.condition, scope), self.compile(node.then, scope)
        otherwise = self.compile(node.otherwise or tree.Identity(), scope)

        def places() -> Places:
            yes, no = then.places, otherwise.places

            def visit(place: Place, env: Any) -> Iterator[Place]:
                for c in condition.stream(place[1], env):
                    yield from (yes if truthy(c) else no)(place, env)

            return visit

        test = condition.one
        if test is None:
            tests, yes, no = condition.stream, then.stream, otherwise.stream

            def stream(v: Any, env: Any) -> Iterator[Any]:
                for c in tests(v, env):
                    yield from (no if c is None or c is False else yes)(v, env)

            return Filter(stream=stream, places=places)
        if then.one and otherwise.one:
            then_one, else_one = then.one, otherwise.one

            def one(v: Any, env: Any) -> Any:
                c = test(v, env)
                return else_one(v, env) if c is None or c is False else then_one(v, env)

            return Filter(one, places=places)
        then_stream, else_stream = then.stream, otherwise.stream

        def choose(v: Any, env: Any) -> Iterable[Any]:
            c = test(v, env)
            return else_stream(v, env) if c is None or c is False else then_stream(v, env)

        return Filter(stream=choose, places=places)

    def _Try(self, node: tree.Try, scope: Scope) -> Filter:
        body = self.compile(node.body, scope)
        handler = self.compile(node.handler, scope) if node.handler else None
        inner = body.stream

        def stream(v: Any, env: Any) -> Iterator[Any]:
            try:
                yield from inner(v, env)
                return
            except JqError as e:
                error = e.value
            if handler is not None:
                yield from handler.stream(error, env)

        def places() -> Places:
            visit = body.places

            def guarded(place: Place, env: Any) -> Iterator[Place]:
                try:
                    yield from visit(place, env)
                    return
                except JqError as e:
                    error = e.value
                if handler is not None:
                    yield from handler.places((None, error), env)

            return guarded

        return Filter(stream=stream, places=places)

    def _Label(self, node: tree.Label, scope: Scope) -> Filter:
        body = self.compile(node.body, scope.bound(f"*{node.name}"))

        def within(visit: Any) -> Any:
            def stream(v: Any, env: Any) -> Iterator[Any]:
                token = object()
                try:
                    yield from visit(v, (token, env, env[2]))
                except BreakLabel as e:
                    if e.token is not token:
                        raise

            return stream

        return Filter(stream=within(body.stream), places=lambda: within(body.places))

    def _Break(self, node: tree.Break, scope: Scope) -> Filter:
        target = scope.find(f"*{node.name}")
        if target is None:
            raise CompileError(f"$*label-{node.name} is not defined", node.line)
        label = up(scope.level - target.level)

        def stream(v: Any, env: Any) -> Iterable[Any]:
            raise BreakLabel(label(env)[0])

        return Filter(stream=stream, places=lambda: stream)

    def _Bind(self, node: tree.Bind, scope: Scope) -> Filter:
        return bindings.bind(self, node, scope)

    def _Reduce(self, node: tree.Reduce, scope: Scope) -> Filter:
        return bindings.reduce(self, node, scope)

    def _Foreach(self, node: tree.Foreach, scope: Scope) -> Filter:
        return bindings.foreach(self, node, scope)

    # ---- names

    def _Variable(self, node: tree.Variable, scope: Scope) -> Filter:
        found = scope.find(f"${node.name}")
        if found is not None:
            if found.content is not None:
                return constant(found.content[0])
            return Filter(variable(scope.level - found.level))
        if node.name == "ENV":
            return constant(self.run.environment())
        raise CompileError(f"${node.name} is not defined", node.line)

    def _Define(self, node: tree.Define, scope: Scope) -> Filter:
        return self.compile(node.rest, self.define(node.function, scope))

    def define(self, function: tree.Function, scope: Scope) -> Scope:
        """The scope in which `function` is visible (to itself too)."""
        inner = scope.defined(f"{function.name}/{len(function.parameters)}", None)
        inner.content = FunctionCode(function, inner)
        return inner

    def _Call(self, node: tree.Call, scope: Scope) -> Filter:
        name = f"{node.name}/{len(node.arguments)}"
        found = scope.find(name)
        if found is None:
            return builtins.call(self, node, scope)
        if isinstance(found.content, Parameter):
            return self._parameter(up(scope.level - found.level))
        if found.content is None:                            # f($x) defines x too
            return Filter(variable(scope.level - found.level))
        return self.invoke(found.content, [self.compile(a, scope) for a in node.arguments], scope.level)

    def _parameter(self, find: Callable[[Any], Any]) -> Filter:
        def stream(v: Any, env: Any) -> Iterable[Any]:
            code, home = find(env)[0]
            result: Iterable[Any] = code.stream(v, home)
            return result

        def visit(place: Place, env: Any) -> Iterable[Place]:
            code, home = find(env)[0]
            result: Iterable[Place] = code.places(place, home)
            return result

        return Closure(find, stream, lambda: visit)

    def body(self, code: FunctionCode) -> Filter:
        """The compiled body of a function; None-like laziness is in the caller when it is being compiled."""
        if code.code is None:
            code.compiling = True
            function, scope = code.function, code.scope
            for parameter in function.parameters:
                scope = scope.bound(f"{parameter.lstrip('$')}/0")
                scope.content = PARAMETER
            values = [p[1:] for p in function.parameters if p[0] == "$"]
            total = len(function.parameters)
            for n, name in enumerate(values):
                scope = scope.bound(f"${name}")
                alias = scope.defined(f"{name}/0", None)
                scope = alias
            code.code = self.compile(function.body, scope)
            if values:
                code.code = bind_values(code.code, [total - 1 - i for i, p in enumerate(function.parameters)
                                                    if p[0] == "$"])
            code.compiling = False
        return code.code

    def invoke(self, code: FunctionCode, arguments: list[Filter], level: int) -> Filter:
        """A call site of `code` at environment level `level`."""
        home = up(level - code.level) if code.level else at_root
        if code.compiling:
            code.recursive = True
            return self._recursive_call(code, arguments, home)
        body = self.body(code)
        if code.recursive:
            return self._recursive_call(code, arguments, home)
        if not arguments:
            return moved(body, home)
        enter = entry(arguments, home, 0)
        one = body.one
        return Filter((lambda v, env: one(v, enter(env))) if one else None,
                      None if one else lambda v, env: body.stream(v, enter(env)),
                      lambda: lambda place, env: body.places(place, enter(env)))

    def _recursive_call(self, code: FunctionCode, arguments: list[Filter], home: Callable[[Any], Any]) -> Filter:
        enter = entry(arguments, home, 1)
        run = self.run

        def call(kind: str, v: Any, env: Any) -> Iterable[Any]:
            inner = enter(env)
            if inner[2] > MAX_CALLS:
                raise JqError("Function calls are nested too deeply")
            run.tick()
            body = code.code
            assert body is not None
            visit = body.stream if kind == "stream" else body.places
            if inner[2] % DEEP_EVERY == 0:
                return run.deep(visit, v, inner)
            return visit(v, inner)

        return Filter(stream=lambda v, env: call("stream", v, env),
                      places=lambda: lambda place, env: call("places", place, env))


class Closure(Filter):
    """The call of a closure parameter; passed on as an argument it is handed over unchanged."""

    __slots__ = ("find",)

    def __init__(self, find: Callable[[Any], Any], stream: Stream, places: Callable[[], Places]) -> None:
        super().__init__(None, stream, places)
        self.find = find


PARAMETER = Parameter()
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": add, "-": subtract, "*": multiply, "/": divide, "%": modulo,
    "==": equal, "!=": lambda a, b: not equal(a, b),
    "<": lambda a, b: compare(a, b) < 0, "<=": lambda a, b: compare(a, b) <= 0,
    ">": lambda a, b: compare(a, b) > 0, ">=": lambda a, b: compare(a, b) >= 0,
}


def at_root(env: Any) -> Any:
    """The environment of a definition outside of everything."""
    return ROOT


def entry(arguments: list[Filter], home: Callable[[Any], Any], deeper: int) -> Callable[[Any], Any]:
    """From the caller's environment to that of the body: one node per parameter; the depth grows by `deeper`."""
    if not arguments:
        def count(env: Any) -> Any:
            there = home(env)
            return (there[0], there[1], env[2] + deeper)

        return count
    if len(arguments) == 1 and not isinstance(arguments[0], Closure):
        only = arguments[0]
        return lambda env: ((only, env), home(env), env[2] + deeper)

    def enter(env: Any) -> Any:
        inner = home(env)
        depth = env[2] + deeper
        for argument in arguments:
            inner = ((argument.find(env)[0] if isinstance(argument, Closure) else (argument, env)), inner, depth)
        return inner

    return enter


def moved(body: Filter, home: Callable[[Any], Any]) -> Filter:
    """A call without arguments: the body in the environment of its definition, at the caller's depth."""
    def enter(env: Any) -> Any:
        there = home(env)
        return there if there[2] == env[2] else (there[0], there[1], env[2])

    one, stream = body.one, body.stream
    return Filter((lambda v, env: one(v, enter(env))) if one else None,
                  None if one else lambda v, env: stream(v, enter(env)),
                  lambda: lambda place, env: body.places(place, enter(env)))


def bind_values(body: Filter, positions: list[int]) -> Filter:
    """Adds a variable for each parameter written `$name`: `positions` are hops from the last parameter."""
    def combine(visit: Any, v: Any, value: Any, env: Any, inner: Any, at: int) -> Iterator[Any]:
        if at == len(positions):
            yield from visit(v, inner)
            return
        node = env
        for _ in range(positions[at]):
            node = node[1]
        code, home = node[0]
        for result in code.stream(value, home):
            yield from combine(visit, v, value, env, (result, inner, inner[2]), at + 1)

    def walk_places(place: Place, env: Any) -> Iterator[Place]:
        return combine(body.places, place, place[1], env, env, 0)

    if len(positions) == 1:
        hops = up(positions[0])
        stream = body.stream

        def simple(v: Any, env: Any) -> Iterator[Any]:
            code, home = hops(env)[0]
            for result in code.stream(v, home):
                yield from stream(v, (result, env, env[2]))

        return Filter(stream=simple, places=lambda: walk_places)
    return Filter(stream=lambda v, env: combine(body.stream, v, v, env, env, 0), places=lambda: walk_places)


def chain(left: Filter, right: Filter) -> Filter:
    """`left | right`"""
    def places() -> Places:
        first, second = left.places, right.places

        def visit(place: Place, env: Any) -> Iterator[Place]:
            for middle in first(place, env):
                yield from second(middle, env)

        return visit

    if left.one:
        first = left.one
        if right.one:
            second = right.one
            return Filter(lambda v, env: second(first(v, env), env), places=places)
        rest = right.stream
        return Filter(stream=lambda v, env: rest(first(v, env), env), places=places)
    firsts = left.stream
    if right.one:
        second_one: One = right.one

        def mapped(v: Any, env: Any) -> Iterator[Any]:
            for middle in firsts(v, env):
                yield second_one(middle, env)

        return Filter(stream=mapped, places=places)
    seconds = right.stream

    def nested(v: Any, env: Any) -> Iterator[Any]:
        for middle in firsts(v, env):
            yield from seconds(middle, env)

    return Filter(stream=nested, places=places)


def alternative(left: Filter, right: Filter) -> Filter:
    """`left // right`: what is not null and not false on the left, else the right."""
    def places() -> Places:
        first, second = left.places, right.places

        def visit(place: Place, env: Any) -> Iterator[Place]:
            found = False
            for result in first(place, env):
                if truthy(result[1]):
                    found = True
                    yield result
            if not found:
                yield from second(place, env)

        return visit

    if left.one and right.one:
        a, b = left.one, right.one

        def one(v: Any, env: Any) -> Any:
            result = a(v, env)
            return b(v, env) if result is None or result is False else result

        return Filter(one, places=places)
    firsts, seconds = left.stream, right.stream

    def stream(v: Any, env: Any) -> Iterator[Any]:
        found = False
        for result in firsts(v, env):
            if result is not None and result is not False:
                found = True
                yield result
        if not found:
            yield from seconds(v, env)

    return Filter(stream=stream, places=places)


def logical(both: bool, left: Filter, right: Filter) -> Filter:
    """`and` (both) and `or`: the right side only where the left does not decide."""
    if left.one and right.one:
        a, b = left.one, right.one
        if both:
            return Filter(lambda v, env: truthy(a(v, env)) and truthy(b(v, env)))
        return Filter(lambda v, env: truthy(a(v, env)) or truthy(b(v, env)))
    firsts, seconds = left.stream, right.stream

    def stream(v: Any, env: Any) -> Iterator[Any]:
        for first in firsts(v, env):
            if truthy(first) is not both:
                yield not both
            else:
                for second in seconds(v, env):
                    yield truthy(second)

    return Filter(stream=stream)


def recurse_all(run: Run) -> Filter:
    """`..`: the value and all that is in it, outermost first."""
    def stream(v: Any, env: Any) -> Iterator[Any]:
        stack = [iter((v,))]
        count = 0
        while stack:
            for item in stack[-1]:
                yield item
                count += 1
                if count % SLICE == 0:
                    run.check()
                if type(item) is list:
                    stack.append(iter(item))
                    break
                if type(item) is dict:
                    stack.append(iter(item.values()))
                    break
            else:
                stack.pop()

    def visit(place: Place, env: Any) -> Iterator[Place]:
        yield place
        stack = [children(place)] if type(place[1]) in (list, dict) else []
        while stack:
            for item in stack[-1]:
                yield item
                if type(item[1]) is list or type(item[1]) is dict:
                    stack.append(children(item))
                    break
            else:
                stack.pop()

    return Filter(stream=stream, places=lambda: visit)


def plain_key(node: tree.Node) -> str | None:
    """The key of an object construction where it is a constant."""
    if isinstance(node, tree.Text) and all(isinstance(part, str) for part in node.parts):
        return "".join(str(part) for part in node.parts)
    return None


def object_key(key: Any) -> str:
    if type(key) is not str:
        raise JqError(f"Cannot use {described(key)} as object key")
    return key


__all__ = ["Compiler", "FunctionCode", "Scope"]
