"""Variables: destructuring `as`, alternatives `?//`, reduce and foreach."""
from __future__ import annotations

from mirage.commands.jq import tree
from mirage.commands.jq.errors import JqError
from mirage.commands.jq.filters import Filter
from mirage.commands.jq.values import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mirage.commands.jq.compiler import Compiler, Scope
    from mirage.commands.jq.filters import Place, Places

    # (value, dot, environment) -> environments with the pattern's variables bound
    Binder = Callable[[Any, Any, Any], Iterator[Any]]


def names(pattern: tree.Pattern) -> list[str]:
    """The variables of a pattern, in order, each once."""
    found: list[str] = []
    if isinstance(pattern, tree.NamePattern):
        found = [pattern.name]
    elif isinstance(pattern, tree.ArrayPattern):
        for item in pattern.items:
            found += names(item)
    elif isinstance(pattern, tree.ObjectPattern):
        for name, _, inner in pattern.entries:
            found += ([name] if name else []) + (names(inner) if inner else [])
    return list(dict.fromkeys(found))


def binder(compiler: Compiler, pattern: tree.Pattern, scope: Scope) -> tuple[Binder, Scope]:
    """How to bind one pattern, and the scope with its variables."""
    if isinstance(pattern, tree.NamePattern):
        def bind_name(value: Any, dot: Any, env: Any) -> Iterator[Any]:
            yield (value, env, env[2])

        return bind_name, scope.bound(f"${pattern.name}")
    steps: list[Binder] = []
    if isinstance(pattern, tree.ArrayPattern):
        for position, item in enumerate(pattern.items):
            inner, scope = binder(compiler, item, scope)
            steps.append(_item(position, inner))
    elif isinstance(pattern, tree.ObjectPattern):
        for name, key, value_pattern in pattern.entries:
            code = compiler.compile(key, scope)
            if name is not None:
                scope = scope.bound(f"${name}")
            part: Binder | None = None
            if value_pattern is not None:
                part, scope = binder(compiler, value_pattern, scope)
            steps.append(_entry(code, name is not None, part))

    def bind_all(value: Any, dot: Any, env: Any) -> Iterator[Any]:
        return _steps(steps, 0, value, dot, env)

    return bind_all, scope


def _steps(steps: list[Binder], at: int, value: Any, dot: Any, env: Any) -> Iterator[Any]:
    if at == len(steps):
        yield env
        return
    for inner in steps[at](value, dot, env):
        yield from _steps(steps, at + 1, value, dot, inner)


def _item(position: int, inner: Binder) -> Binder:
    def bind(value: Any, dot: Any, env: Any) -> Iterator[Any]:
        return inner(index(value, position), dot, env)

    return bind


def _entry(key: Filter, named: bool, inner: Binder | None) -> Binder:
    def bind(value: Any, dot: Any, env: Any) -> Iterator[Any]:
        for k in key.stream(dot, env):
            if type(k) is not str:
                from mirage.commands.jq.values import described, kind
                raise JqError(f"Cannot index {kind(value)} with {kind(k)}" if value is not None
                              else f"Cannot index null with {described(k)}")
            part = index(value, k)
            here = (part, env, env[2]) if named else env
            if inner is None:
                yield here
            else:
                yield from inner(part, dot, here)

    return bind


class Alternatives:
    """The patterns of one `as`: binders that give the same variables, and the scope of the body.

    A single name is the common case: `single` is then true and binding is one node.
    """

    def __init__(self, compiler: Compiler, patterns: list[tree.Pattern], scope: Scope) -> None:
        self.single = len(patterns) == 1 and isinstance(patterns[0], tree.NamePattern)
        if len(patterns) == 1:
            made, self.scope = binder(compiler, patterns[0], scope)
            self.binders = [made]
            return
        every = list(dict.fromkeys(name for pattern in patterns for name in names(pattern)))
        self.binders = []
        inner = scope
        for name in every:
            inner = inner.bound(f"${name}")
        self.scope = inner
        for pattern in patterns:
            made, own = binder(compiler, pattern, scope)
            hops = []
            for name in every:
                found = own.find(f"${name}")
                known = found is not None and found.level > scope.level
                hops.append(own.level - found.level if known and found is not None else -1)
            self.binders.append(_arranged(made, hops))

    def run(self, value: Any, dot: Any, env: Any, body: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        """The results of `body(environment)` for every binding; after an error the next pattern is tried."""
        last = len(self.binders) - 1
        for number, made in enumerate(self.binders):
            try:
                for inner in made(value, dot, env):
                    yield from body(inner)
                return
            except JqError:
                if number == last:
                    raise


def _arranged(made: Binder, hops: list[int]) -> Binder:
    """Binds all variables of all alternatives in one order; those of other patterns are null."""
    def bind(value: Any, dot: Any, env: Any) -> Iterator[Any]:
        for own in made(value, dot, env):
            inner = env
            for hop in hops:
                node = own
                for _ in range(hop):
                    node = node[1]
                inner = (node[0] if hop >= 0 else None, inner, env[2])
            yield inner

    return bind


def bind(compiler: Compiler, node: tree.Bind, scope: Scope) -> Filter:
    """`source as patterns | body`"""
    source = compiler.compile(node.source, scope)
    alternatives = Alternatives(compiler, node.patterns, scope)
    body = compiler.compile(node.body, alternatives.scope)

    def places() -> Places:
        visit = body.places

        def walk(place: Place, env: Any) -> Iterator[Place]:
            for value in source.stream(place[1], env):
                yield from alternatives.run(value, place[1], env, lambda inner: iter(visit(place, inner)))

        return walk

    if alternatives.single:
        if source.one and body.one:
            get, result = source.one, body.one
            return Filter(lambda v, env: result(v, (get(v, env), env, env[2])), places=places)
        sources, results = source.stream, body.stream

        def simple(v: Any, env: Any) -> Iterator[Any]:
            for value in sources(v, env):
                yield from results(v, (value, env, env[2]))

        return Filter(stream=simple, places=places)

    def stream(v: Any, env: Any) -> Iterator[Any]:
        for value in source.stream(v, env):
            yield from alternatives.run(value, v, env, lambda inner: iter(body.stream(v, inner)))

    return Filter(stream=stream, places=places)


def reduce(compiler: Compiler, node: tree.Reduce, scope: Scope) -> Filter:
    """`reduce source as patterns (start; update)`: the last result of `update` is the next state, none is null."""
    source, start = compiler.compile(node.source, scope), compiler.compile(node.start, scope)
    alternatives = Alternatives(compiler, node.patterns, scope)
    update = compiler.compile(node.update, alternatives.scope)
    run = compiler.run
    next_one, nexts, sources = update.one, update.stream, source.stream

    def fold(v: Any, env: Any, state: Any) -> Any:
        if alternatives.single and next_one:
            for value in sources(v, env):
                run.tick()
                state = next_one(state, (value, env, env[2]))
            return state
        for value in sources(v, env):
            run.tick()
            before, state = state, None

            def step(inner: Any, before: Any = before) -> Iterator[Any]:
                return iter(nexts(before, inner))

            for state in alternatives.run(value, v, env, step):
                pass
        return state

    def places() -> Places:
        starts, updates = start.places, update.places

        def walk(place: Place, env: Any) -> Iterator[Place]:
            for state in starts(place, env):
                path = state[0]
                for value in sources(place[1], env):
                    before = state
                    state = ((), None)

                    def step(inner: Any, before: Place = before) -> Iterator[Any]:
                        return iter(updates(before, inner))

                    for state in alternatives.run(value, place[1], env, step):
                        pass
                yield path, state[1]                         # jq 1.7 forgets the way that `update` went

        return walk

    if start.one:
        begin = start.one
        return Filter(lambda v, env: fold(v, env, begin(v, env)), places=places)

    def stream(v: Any, env: Any) -> Iterator[Any]:
        for state in start.stream(v, env):
            yield fold(v, env, state)

    return Filter(stream=stream, places=places)


def foreach(compiler: Compiler, node: tree.Foreach, scope: Scope) -> Filter:
    """`foreach source as patterns (start; update; extract)`: every state, or what `extract` makes of it."""
    source, start = compiler.compile(node.source, scope), compiler.compile(node.start, scope)
    alternatives = Alternatives(compiler, node.patterns, scope)
    update = compiler.compile(node.update, alternatives.scope)
    extract = compiler.compile(node.extract, alternatives.scope) if node.extract else None
    run = compiler.run

    def walker(starts: Any, updates: Any, extracts: Any, of: Callable[[Any], Any], nothing: Any) -> Any:
        def walk(v: Any, env: Any) -> Iterator[Any]:
            for state in starts(v, env):
                for value in source.stream(of(v), env):
                    run.tick()
                    cell = [nothing]                         # what an update without a result leaves

                    def steps(inner: Any, before: Any = state, cell: list[Any] = cell) -> Iterator[Any]:
                        for new in updates(before, inner):
                            cell[0] = new
                            if extracts is None:
                                yield new
                            else:
                                yield from extracts(new, inner)

                    yield from alternatives.run(value, of(v), env, steps)
                    state = cell[0]

        return walk

    return Filter(stream=walker(start.stream, update.stream, extract.stream if extract else None, lambda v: v,
                                None),
                  places=lambda: walker(start.places, update.places, extract.places if extract else None,
                                        lambda place: place[1], ((), None)))
