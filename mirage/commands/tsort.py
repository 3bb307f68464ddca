"""tsort: topological sort, in the order of GNU's algorithm."""
from __future__ import annotations

from collections import deque

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import read_operand
from mirage.commands._text import extra_operand, fatal, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("w", {"w": ("w", NONE)},
            help="Usage: NAME [OPTION] [FILE]\nWrite totally ordered list consistent with the partial ordering in "
                 "FILE.\n")


class Node:
    __slots__ = ("before", "name", "printed", "trace", "successors")

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.before = 0
        self.successors: list[Node] = []
        self.printed = False
        self.trace: Node | None = None


def main(proc: Process) -> int:
    _, operands = parse(proc, SPEC)
    if len(operands) > 1:
        raise extra_operand(proc, SPEC, operands[1])
    name = operands[0] if operands else "-"
    try:
        words = read_operand(proc, name).split()
    except OSError as e:
        raise fatal(proc, f"{shell_quote(name)}: {e.strerror}") from None
    nodes: dict[bytes, Node] = {}
    if len(words) % 2:
        raise fatal(proc, f"{shell_quote(name)}: input contains an odd number of tokens")
    for i in range(0, len(words), 2):
        a = nodes.setdefault(words[i], Node(words[i]))
        b = nodes.setdefault(words[i + 1], Node(words[i + 1]))
        if a is not b:
            a.successors.insert(0, b)
            b.before += 1
    return _order(proc, name, sorted(nodes.values(), key=lambda n: n.name))


def _order(proc: Process, name: str, nodes: list[Node]) -> int:
    left, status = len(nodes), 0
    while left:
        ready = deque(n for n in nodes if not n.before and not n.printed)
        while ready:
            node = ready.popleft()
            node.printed = True
            left -= 1
            proc.stdout.write(node.name + b"\n")
            for after in node.successors:
                after.before -= 1
                if not after.before:
                    ready.append(after)
        if left:
            proc.stdout.flush()
            proc.message(f"{shell_quote(name)}: input contains a loop:")
            status = 1
            _break_loop(proc, [n for n in nodes if not n.printed])
        proc.check()
    return status


def _break_loop(proc: Process, nodes: list[Node]) -> None:
    """Walk back along the edges until a cycle closes; report it and drop its last edge."""
    loop: Node | None = None
    for node in nodes:
        node.trace = None
    while True:
        for node in nodes:
            if node.before <= 0:
                continue
            if loop is None:
                loop = node
            elif loop in node.successors:
                if node.trace is None:
                    node.trace, loop = loop, node
                    continue
                target = loop
                while loop is not None:
                    proc.message(loop.name.decode("utf-8", "replace"))
                    if loop is node:
                        node.successors.remove(target)
                        target.before -= 1
                        return
                    loop = loop.trace
        proc.check()
