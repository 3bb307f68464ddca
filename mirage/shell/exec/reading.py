"""`read [-r] name ...` without the way through the builtin's arguments: what loops over lines run most.

Only where the words are constant and nothing of the shell's state asks for more; everything else goes to the builtin.
"""
from __future__ import annotations

from mirage.shell import ast
from mirage.shell.exec.traps import failed, slow_tick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.exec.compile import Run
    from mirage.shell.state import Shell


def compile_read(node: ast.Simple, general: Run, alone: bool) -> Run:
    """`general`, the command as any other, behind a short cut where its words allow one."""
    words = _constants(node.words)
    names = words[2:] if words[1:2] == ("-r",) else words[1:]
    if node.assigns or node.redirs or not names or not all(name.isascii() and name.isidentifier() for name in names):
        return general
    from mirage.shell.builtins.read import plain_options, read_names
    options = plain_options(len(names) < len(words) - 1)
    line = node.line
    last = words[-1]

    def run(sh: Shell) -> int:
        gate = sh.machine.gate
        if (sh.traps or sh.options.xtrace or "read" in sh.functions or sh.extra and "disabled" in sh.extra
                or gate is not None and gate.rules_commands):
            return general(sh)
        kernel = sh.kernel
        kernel.budget -= 1
        if kernel.budget < 0:
            slow_tick(sh)
        sh.line = line
        if gate is not None:
            gate.ran(sh.proc, words)
        status = read_names(sh, options, names)
        sh.last_arg = last
        sh.pipestatus = None
        sh.status = status
        if status:
            sh.line = line
            return status if alone else failed(sh, status, line)
        return 0
    return run


def _constants(words: Sequence[ast.Word | ast.Assign]) -> tuple[str, ...]:
    """The words where all are constant, else nothing."""
    out = []
    for word in words:
        if not isinstance(word, ast.Word) or word.lit is None or word.glob:
            return ()
        out.append(word.lit)
    return tuple(out)
