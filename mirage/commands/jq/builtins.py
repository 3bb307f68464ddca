"""Builtin functions that take filters as arguments, touch the run, or are written in jq itself."""
from __future__ import annotations

from mirage.commands.jq import assign, matching, tree
from mirage.commands.jq.definitions import DEFINITIONS
from mirage.commands.jq.errors import CompileError, Halt, JqError
from mirage.commands.jq.filters import ROOT, Filter, child, children, collect, computed, product, truthy
from mirage.commands.jq.functions import FUNCTIONS, extreme, get, group_pairs, to_stream
from mirage.commands.jq.numbers import EXACT, normal
from mirage.commands.jq.values import compare, is_number, iterate, mismatch, sort_key, unfit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from mirage.commands.jq.compiler import Compiler, FunctionCode, Scope
    from mirage.commands.jq.filters import Place, Places
    from mirage.commands.jq.program import Run


def call(compiler: Compiler, node: tree.Call, scope: Scope) -> Filter:
    """A call of something the program does not define itself."""
    name = f"{node.name}/{len(node.arguments)}"
    special = SPECIAL.get(name)
    if special is not None:
        return special(compiler, [compiler.compile(a, scope) for a in node.arguments])
    function = FUNCTIONS.get(name)
    if function is not None:
        return product(function, [compiler.compile(a, scope) for a in node.arguments])
    if name in DEFINITIONS:
        return compiler.invoke(defined(compiler, name), [compiler.compile(a, scope) for a in node.arguments],
                               scope.level)
    raise CompileError(f"{name} is not defined", node.line)


def defined(compiler: Compiler, name: str) -> FunctionCode:
    """A builtin written in jq, compiled once per run."""
    from mirage.commands.jq.compiler import FunctionCode, Scope
    from mirage.commands.jq.parser import parse
    known = compiler.run.definitions
    if name not in known:
        function = parse(DEFINITIONS[name]).functions[0]
        inner = Scope(None, name, None, 0)
        inner.content = FunctionCode(function, inner)
        known[name] = inner.content
    found: FunctionCode = known[name]
    return found


def names() -> list[str]:
    """What `builtins` lists."""
    every = {*SPECIAL, *FUNCTIONS, *DEFINITIONS} - {"null/0", "true/0", "false/0"}
    return sorted(name for name in every if name[0] != "_")


# ---- streams

def empty(compiler: Compiler, args: list[Filter]) -> Filter:
    return Filter(stream=lambda v, env: (), places=lambda: lambda place, env: ())


def select(compiler: Compiler, args: list[Filter]) -> Filter:
    test = args[0]
    one, stream = test.one, test.stream

    def places() -> Places:
        def visit(place: Place, env: Any) -> Iterator[Place]:
            for c in stream(place[1], env):
                if truthy(c):
                    yield place

        return visit

    if one is not None:
        def quick(v: Any, env: Any) -> Iterable[Any]:
            c = one(v, env)
            return () if c is None or c is False else (v,)

        return Filter(stream=quick, places=places)

    def general(v: Any, env: Any) -> Iterator[Any]:
        for c in stream(v, env):
            if truthy(c):
                yield v

    return Filter(stream=general, places=places)


def map_(compiler: Compiler, args: list[Filter]) -> Filter:
    one, stream, run = args[0].one, args[0].stream, compiler.run
    if one is not None:
        def quick(v: Any, env: Any) -> Any:
            return [one(item, env) for item in iterate(v)]

        return Filter(quick)

    def nested(v: Any, env: Any) -> Any:
        return collect((result for item in iterate(v) for result in stream(item, env)), run.check)

    return Filter(nested)


def map_values(compiler: Compiler, args: list[Filter]) -> Filter:
    each = Filter(stream=lambda v, env: iterate(v), places=lambda: lambda place, env: children(place))
    one = args[0].one
    general = assign.update(each, args[0], compiler.run).one
    assert general is not None
    if one is None:
        return Filter(general)

    def quick(v: Any, env: Any) -> Any:
        if type(v) is dict:
            return {key: one(item, env) for key, item in v.items()}
        if type(v) is list:
            return [one(item, env) for item in v]
        return general(v, env)

    return Filter(quick)


def recurse(compiler: Compiler, args: list[Filter]) -> Filter:
    """recurse/0, recurse(f), recurse(f; condition): depth first, without recursion of our own."""
    from mirage.commands.jq.compiler import recurse_all
    if not args:
        return recurse_all(compiler.run)
    run = compiler.run
    step, test = args[0], args[1] if len(args) > 1 else None

    def walker(steps: Any, value_of: Callable[[Any], Any]) -> Any:
        def allowed(item: Any, env: Any) -> Iterator[Any]:
            assert test is not None
            for c in test.stream(value_of(item), env):
                if truthy(c):
                    yield item

        def start(item: Any, env: Any) -> Iterator[Any]:
            for new in steps(item, env):
                if test is None:
                    yield new
                else:
                    yield from allowed(new, env)

        def walk(v: Any, env: Any) -> Iterator[Any]:
            yield v
            stack = [start(v, env)]
            while stack:
                for item in stack[-1]:
                    run.tick()
                    yield item
                    stack.append(start(item, env))
                    break
                else:
                    stack.pop()

        return walk

    return Filter(stream=walker(step.stream, lambda v: v), places=lambda: walker(step.places, lambda place: place[1]))


def range_(compiler: Compiler, args: list[Filter]) -> Filter:
    run = compiler.run
    if len(args) == 3:
        def by(v: Any, env: Any) -> Iterator[Any]:
            for start in args[0].stream(v, env):
                for stop in args[1].stream(v, env):
                    for step in args[2].stream(v, env):
                        yield from run.watch(steps(start, stop, step))

        return Filter(stream=by)
    low = args[0] if len(args) == 2 else Filter(lambda v, env: 0)
    high = args[-1]

    def between(v: Any, env: Any) -> Iterator[Any]:
        for start in low.stream(v, env):
            for stop in high.stream(v, env):
                yield from run.watch(steps(start, stop, 1))

    if low.one and high.one:
        first, last = low.one, high.one

        def simple(v: Any, env: Any) -> Iterable[Any]:
            start, stop = first(v, env), last(v, env)
            if type(start) is int and type(stop) is int and stop - start < 100_000:
                return range(start, stop)
            return run.watch(steps(start, stop, 1))

        return Filter(stream=simple)
    return Filter(stream=between)


def steps(start: Any, stop: Any, step: Any) -> Iterable[Any]:
    if not is_number(start) or not is_number(stop) or not is_number(step):
        raise JqError("Range bounds must be numeric")
    if type(start) is int and type(step) is int and step and stop == stop and abs(stop) < EXACT:
        return range(start, int(-(-stop // 1)) if step > 0 else int(stop // 1), step)
    return float_steps(float(start), float(stop), float(step))


def float_steps(at: float, stop: float, step: float) -> Iterator[Any]:
    while at < stop if step > 0 else at > stop if step < 0 else False:
        yield normal(at)
        at += step


def first(compiler: Compiler, args: list[Filter]) -> Filter:
    def taker(visit: Any) -> Any:
        def take(v: Any, env: Any) -> Iterator[Any]:
            for item in visit(v, env):
                yield item
                return

        return take

    return Filter(stream=taker(args[0].stream), places=lambda: taker(args[0].places))


def last(compiler: Compiler, args: list[Filter]) -> Filter:
    stream = args[0].stream

    def take(v: Any, env: Any) -> Any:
        item = None
        for item in stream(v, env):
            pass
        return item

    def places() -> Places:
        visit = args[0].places

        def walk(place: Place, env: Any) -> Iterator[Place]:
            item = place[0], None
            for item in visit(place, env):
                pass
            yield place[0], item[1]                          # a reduce in jq 1.7, which forgets the way

        return walk

    return Filter(take, places=places)


def limit(compiler: Compiler, args: list[Filter]) -> Filter:
    def limiter(visit: Any, value_of: Callable[[Any], Any]) -> Any:
        def walk(v: Any, env: Any) -> Iterator[Any]:
            for count in args[0].stream(value_of(v), env):
                if compare(count, 0) < 0:
                    yield from visit(v, env)
                elif compare(count, 0) > 0:
                    left = count
                    for item in visit(v, env):
                        left = left - 1 if is_number(left) else left
                        yield item
                        if left <= 0:
                            break

        return walk

    return Filter(stream=limiter(args[1].stream, lambda v: v),
                  places=lambda: limiter(args[1].places, lambda place: place[1]))


def until(compiler: Compiler, args: list[Filter]) -> Filter:
    condition, step = args
    run = compiler.run
    if condition.one and step.one:
        test, move = condition.one, step.one

        def loop(v: Any, env: Any) -> Any:
            while not truthy(test(v, env)):
                run.tick()
                v = move(v, env)
            return v

        return Filter(loop)
    return compiler.invoke(defined(compiler, "until/2"), args, 0)


def while_(compiler: Compiler, args: list[Filter]) -> Filter:
    condition, step = args
    run = compiler.run
    if condition.one and step.one:
        test, move = condition.one, step.one

        def loop(v: Any, env: Any) -> Iterator[Any]:
            while truthy(test(v, env)):
                run.tick()
                yield v
                v = move(v, env)

        return Filter(stream=loop)
    return compiler.invoke(defined(compiler, "while/2"), args, 0)


def repeat(compiler: Compiler, args: list[Filter]) -> Filter:
    """`def repeat(f): f, repeat(f)` as jq 1.7 has it: the same input again and again."""
    stream, run = args[0].stream, compiler.run

    def loop(v: Any, env: Any) -> Iterator[Any]:
        while True:
            run.tick()
            yield from stream(v, env)

    return Filter(stream=loop)


def quantifier(wanted: bool) -> Callable[[Compiler, list[Filter]], Filter]:
    """any (wanted true) and all (false): stops at the first item that decides."""
    def build(compiler: Compiler, args: list[Filter]) -> Filter:
        test = args[-1] if args else None
        source = args[0] if len(args) == 2 else None

        def decide(v: Any, env: Any) -> Any:
            for item in source.stream(v, env) if source else iterate(v):
                for c in test.stream(item, env) if test else (item,):
                    if truthy(c) is wanted:
                        return wanted
            return not wanted

        return Filter(decide)

    return build


def is_empty(compiler: Compiler, args: list[Filter]) -> Filter:
    stream = args[0].stream

    def decide(v: Any, env: Any) -> Any:
        for _ in stream(v, env):
            return False
        return True

    return Filter(decide)


# ---- paths

def path(compiler: Compiler, args: list[Filter]) -> Filter:
    visit = args[0].places

    def walk(v: Any, env: Any) -> Iterator[Any]:
        for found, value in visit(((), v), env):
            if found is None:
                raise assign.invalid(value)
            yield list(found)

    return Filter(stream=walk)


def getpath(compiler: Compiler, args: list[Filter]) -> Filter:
    code = product(get, args)

    def places() -> Places:
        keys = args[0].stream

        def visit(place: Place, env: Any) -> Iterator[Place]:
            for way in keys(place[1], env):
                if type(way) is not list:
                    raise JqError("Path must be specified as an array")
                here = place
                for key in way:
                    here = child(here, key)
                yield here

        return visit

    return Filter(code.one, code.stream, places)


def paths(compiler: Compiler, args: list[Filter]) -> Filter:
    from mirage.commands.jq.compiler import recurse_all
    visit = recurse_all(compiler.run).places

    def walk(v: Any, env: Any) -> Iterator[Any]:
        for found, _ in visit(((), v), ROOT):
            if found:
                yield list(found)

    return Filter(stream=walk)


def delete(compiler: Compiler, args: list[Filter]) -> Filter:
    visit = args[0].places

    def change(v: Any, env: Any) -> Any:
        from mirage.commands.jq.values import delete_paths
        found = []
        for way, value in visit(((), v), env):
            if way is None:
                raise assign.invalid(value)
            found.append(list(way))
        return delete_paths(v, found)

    return Filter(change)


def to_stream_(compiler: Compiler, args: list[Filter]) -> Filter:
    return Filter(stream=lambda v, env: to_stream(v))


# ---- sorting

def keyed(function: Callable[[Any, list[Any]], Any], what: str = "") -> Callable[[Compiler, list[Filter]], Filter]:
    """A builtin that orders or groups an array by `[f]` of each item."""
    def build(compiler: Compiler, args: list[Filter]) -> Filter:
        one, stream = args[0].one, args[0].stream

        def apply(v: Any, env: Any) -> Any:
            items = list(iterate(v))
            if one is not None:
                results = [one(item, env) for item in items]
            else:
                results = [list(stream(item, env)) for item in items]
            if type(v) is not list:
                raise mismatch(v, results, what)
            return function(items, results)

        return Filter(apply)

    return build


def sort_by(items: list[Any], results: list[Any]) -> list[Any]:
    if set(map(type, results)) in ({str}, {int}):
        order = sorted(range(len(items)), key=results.__getitem__)
    else:
        made = [sort_key(result) for result in results]
        order = sorted(range(len(items)), key=made.__getitem__)
    return [items[n] for n in order]


# ---- the run

def walk(compiler: Compiler, args: list[Filter]) -> Filter:
    one = args[0].one
    if one is None:
        return compiler.invoke(defined(compiler, "walk/1"), args, 0)
    apply = one

    def visit(v: Any, env: Any) -> Any:
        if type(v) is list:
            v = [visit(item, env) for item in v]
        elif type(v) is dict:
            v = {key: visit(item, env) for key, item in v.items()}
        return apply(v, env)

    return Filter(visit)


def env(compiler: Compiler, args: list[Filter]) -> Filter:
    run = compiler.run
    return Filter(lambda v, env: run.environment())


def input_(compiler: Compiler, args: list[Filter]) -> Filter:
    run = compiler.run
    return Filter(lambda v, env: run.next_input())


def inputs(compiler: Compiler, args: list[Filter]) -> Filter:
    run = compiler.run

    def rest(v: Any, env: Any) -> Iterator[Any]:
        while True:
            try:
                value = run.next_input()
            except JqError as e:
                if e.value == "break":
                    return
                raise
            yield value

    return Filter(stream=rest)


def debug(compiler: Compiler, args: list[Filter]) -> Filter:
    run = compiler.run
    if args:
        stream = args[0].stream

        def say(v: Any, env: Any) -> Any:
            for message in stream(v, env):
                run.debug(message)
            return v

        return Filter(say, places=lambda: lambda place, env: (say(place[1], env), (place,))[1])

    def show(v: Any, env: Any) -> Any:
        run.debug(v)
        return v

    return Filter(show, places=lambda: lambda place, env: (show(place[1], env), (place,))[1])


def standard_error(compiler: Compiler, args: list[Filter]) -> Filter:
    run = compiler.run

    def show(v: Any, env: Any) -> Any:
        run.standard_error(v)
        return v

    return Filter(show)


def halt(compiler: Compiler, args: list[Filter]) -> Filter:
    def stop(v: Any, env: Any) -> Any:
        raise Halt(0)

    return Filter(stop)


def halt_error(compiler: Compiler, args: list[Filter]) -> Filter:
    from mirage.commands.jq.encode import dumps

    def stop(v: Any, status: Any = 5) -> Any:
        if not is_number(status):
            raise unfit(v, "halt_error/1: number required")
        raise Halt(int(status) & 255, v if type(v) is str else "" if v is None else dumps(v) + "\n")

    return product(stop, args)


def of_run(get: Callable[[Run], Any]) -> Callable[[Compiler, list[Filter]], Filter]:
    def build(compiler: Compiler, args: list[Filter]) -> Filter:
        run = compiler.run
        return Filter(lambda v, env: get(run))

    return build


def module_meta(compiler: Compiler, args: list[Filter]) -> Filter:
    run = compiler.run
    return Filter(lambda v, env: run.modules.meta(v))


def add_of(compiler: Compiler, args: list[Filter]) -> Filter:
    from mirage.commands.jq.functions import add_all
    stream = args[0].stream
    return Filter(lambda v, env: add_all(list(stream(v, env))))


def error_places(compiler: Compiler, args: list[Filter]) -> Filter:
    def fail(v: Any, *message: Any) -> Any:
        raise JqError(message[0] if message else v)

    code = product(fail, args)
    return Filter(code.one, code.stream, lambda: computed(code))


SPECIAL: dict[str, Callable[[Compiler, list[Filter]], Filter]] = {
    "empty/0": empty, "error/0": error_places, "error/1": error_places, "select/1": select, "map/1": map_,
    "map_values/1": map_values, "recurse/0": recurse, "recurse/1": recurse, "recurse/2": recurse,
    "range/1": range_, "range/2": range_, "range/3": range_, "first/1": first, "last/1": last, "limit/2": limit,
    "until/2": until, "while/2": while_, "repeat/1": repeat, "isempty/1": is_empty,
    "any/0": quantifier(True), "any/1": quantifier(True), "any/2": quantifier(True),
    "all/0": quantifier(False), "all/1": quantifier(False), "all/2": quantifier(False),
    "path/1": path, "getpath/1": getpath, "paths/0": paths, "del/1": delete, "tostream/0": to_stream_,
    "sort_by/1": keyed(sort_by, "cannot be sorted, as they are not both arrays"),
    "group_by/1": keyed(lambda items, results: [m for _, m in group_pairs(items, results)],
                        "cannot be sorted, as they are not both arrays"),
    "unique_by/1": keyed(lambda items, results: [m[0] for _, m in group_pairs(items, results)],
                         "cannot be sorted, as they are not both arrays"),
    "min_by/1": keyed(lambda items, results: extreme(items, results, -1), "cannot be iterated over"),
    "max_by/1": keyed(lambda items, results: extreme(items, results, 1), "cannot be iterated over"),
    "walk/1": walk, "env/0": env, "input/0": input_, "inputs/0": inputs, "debug/0": debug, "debug/1": debug,
    "stderr/0": standard_error, "halt/0": halt, "halt_error/0": halt_error, "halt_error/1": halt_error,
    "now/0": of_run(lambda run: run.now()), "input_filename/0": of_run(lambda run: run.input_name()),
    "input_line_number/0": of_run(lambda run: run.line_number()), "builtins/0": of_run(lambda run: names()),
    "get_search_list/0": of_run(lambda run: run.modules.search_list()), "modulemeta/0": module_meta,
    "get_prog_origin/0": of_run(lambda run: "."), "get_jq_origin/0": of_run(lambda run: "/usr/bin"),
    "add/1": add_of,
    **matching.SPECIAL,
}
