"""Python source for calls of builtin functions."""
from __future__ import annotations

from mirage.commands.awk import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.commands.awk.generator import Generator

    Emit = Callable[[Generator, list[tree.Node]], str]

ONE_NUMBER = {"sin": "sine", "cos": "cosine", "exp": "exponential", "log": "logarithm", "sqrt": "square_root",
              "int": "integer", "compl": "complement"}


def builtin_call(g: Generator, node: tree.Call) -> str:
    """The expression; its kind is what Generator.kind says of the call."""
    name, args = node.name, node.arguments
    if name in ONE_NUMBER:
        return f"rt.{ONE_NUMBER[name]}({g.number(args[0])})"
    return EMIT[name](g, args)


def length(g: Generator, args: list[tree.Node]) -> str:
    if not args:
        return "float(len(_line()))"
    node = args[0]
    while isinstance(node, tree.Paren):
        node = node.body
    if g.is_array(node):
        assert isinstance(node, tree.Name)
        return f"float(len({g.variable(node.name)}))"
    if isinstance(node, tree.Element | tree.Name):
        return f"rt.length({g.raw(node)})"
    return f"float(len({g.text(node)}))"


def substr(g: Generator, args: list[tree.Node]) -> str:
    count = g.number(args[2]) if len(args) > 2 else "None"
    return f"rt.substr({g.text(args[0])}, {g.number(args[1])}, {count})"


def index(g: Generator, args: list[tree.Node]) -> str:
    return f"rt.index({g.text(args[0])}, {g.text(args[1])})"


def array_argument(g: Generator, args: list[tree.Node], position: int) -> str:
    if position >= len(args):
        return "None"
    node = args[position]
    while isinstance(node, tree.Paren):
        node = node.body
    if isinstance(node, tree.Name | tree.Element):
        return g.array(node)
    return "rt.scalar_as_array('')"


def separator(g: Generator, args: list[tree.Node], position: int) -> str:
    """The separator of split: a Matcher for a regular expression constant, else text, None when not given."""
    if position >= len(args):
        return "None"
    node = args[position]
    return g.matcher(node) if isinstance(node, tree.Regex) else g.text(node)


def split(g: Generator, args: list[tree.Node]) -> str:
    return (f"rt.split({g.text(args[0])}, {array_argument(g, args, 1)}, {separator(g, args, 2)}, "
            f"{array_argument(g, args, 3)})")


def patsplit(g: Generator, args: list[tree.Node]) -> str:
    pattern = g.matcher(args[2]) if len(args) > 2 else "_rx(rt.FPAT)"
    return f"rt.patsplit({g.text(args[0])}, {array_argument(g, args, 1)}, {pattern}, {array_argument(g, args, 3)})"


def substitution(everywhere: bool) -> Emit:
    def emit(g: Generator, args: list[tree.Node]) -> str:
        target: tree.Node = args[2] if len(args) > 2 else tree.Field(tree.Number(0.0))
        while isinstance(target, tree.Paren):
            target = target.body
        regex, replacement = g.matcher(args[0]), g.text(args[1])
        if not isinstance(target, tree.Name | tree.Element | tree.Field):
            return f"rt.substitute({regex}, {replacement}, {g.text(target)}, {everywhere})"
        steps, fixed = g.fixed(target)
        old = g.old_text(fixed)
        count = g.temporary()
        steps.append(f"{count} := rt.substitute({regex}, {replacement}, {old}, {everywhere})")
        steps.append(f"{g.put(fixed, 'rt.substituted')} if {count} else None")
        return f"[{', '.join(steps)}][-2]"

    return emit


def gensub(g: Generator, args: list[tree.Node]) -> str:
    subject = g.text(args[3]) if len(args) > 3 else "_line()"
    return f"rt.gensub({g.matcher(args[0])}, {g.text(args[1])}, {g.raw(args[2])}, {subject})"


def match(g: Generator, args: list[tree.Node]) -> str:
    return f"rt.match({g.text(args[0])}, {g.matcher(args[1])}, {array_argument(g, args, 2)})"


def sprintf(g: Generator, args: list[tree.Node]) -> str:
    return f"_fmt({g.text(args[0])}, [{', '.join(g.raw(a) for a in args[1:])}])"


def values(method: str, least: int = 0) -> Emit:
    """A call of a runtime method with the values of all arguments."""
    def emit(g: Generator, args: list[tree.Node]) -> str:
        return f"rt.{method}({', '.join(g.argument(a) for a in args)})"

    return emit


def texts(method: str) -> Emit:
    def emit(g: Generator, args: list[tree.Node]) -> str:
        return f"rt.{method}({', '.join(g.text(a) for a in args)})"

    return emit


def numbers(method: str) -> Emit:
    def emit(g: Generator, args: list[tree.Node]) -> str:
        return f"rt.{method}({', '.join(g.number(a) for a in args)})"

    return emit


def sorting(method: str) -> Emit:
    def emit(g: Generator, args: list[tree.Node]) -> str:
        how = g.text(args[2]) if len(args) > 2 else "None"
        return f"rt.{method}({array_argument(g, args, 0)}, {array_argument(g, args, 1)}, {how})"

    return emit


def typeof(g: Generator, args: list[tree.Node]) -> str:
    node = args[0]
    if isinstance(node, tree.Element):
        return f"rt.typeof({g.array(node.array)}.get({g.keys(node.keys)}))"
    if isinstance(node, tree.Field):
        return f"rt.typeof_field({g.number(node.index)})"
    return f"rt.typeof({g.argument(node)})"


def first_text(g: Generator, args: list[tree.Node]) -> str:
    return g.text(args[0])


EMIT: dict[str, Emit] = {
    "length": length, "substr": substr, "index": index, "split": split, "patsplit": patsplit,
    "sub": substitution(False), "gsub": substitution(True), "gensub": gensub, "match": match, "sprintf": sprintf,
    "atan2": numbers("arc_tangent"), "rand": numbers("rand"), "srand": values("srand"),
    "tolower": texts("lower"), "toupper": texts("upper"), "system": texts("system"), "close": texts("close"),
    "fflush": texts("fflush"), "strftime": values("strftime"), "systime": numbers("systime"),
    "mktime": values("mktime"), "and": numbers("bits_and"), "or": numbers("bits_or"), "xor": numbers("bits_xor"),
    "lshift": numbers("shift_left"), "rshift": numbers("shift_right"), "strtonum": values("strtonum"),
    "asort": sorting("asort"), "asorti": sorting("asorti"), "typeof": typeof, "isarray": values("is_array"),
    "mkbool": values("make_boolean"), "dcgettext": first_text, "dcngettext": first_text,
    "bindtextdomain": first_text,
}
