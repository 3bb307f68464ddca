"""Command substitution, on the same greenlet where the shell waits anyway, and process substitution."""
from __future__ import annotations

import os
import re

from mirage.process.files import Capture
from mirage.shell import ast
from mirage.shell.control import ShellError
from mirage.shell.exec.compile import compiled_alone
from mirage.shell.exec.traps import child_ended, slow_tick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.kernel import Kernel
    from mirage.shell.ast import Commands
    from mirage.shell.state import Shell

HIGHEST = 63                                                 # the descriptor of the first process substitution


class _Output(Capture):
    """Standard output of a command substitution: counted as memory, and waited for until nobody holds it."""

    __slots__ = ("closed", "kernel")

    def __init__(self, kernel: Kernel) -> None:
        super().__init__("stdout")
        self.kernel = kernel
        self.closed = kernel.queue()

    def write(self, data: bytes) -> int:
        self.kernel.charge(2 * len(data))                    # the pieces, and what they are joined to
        return super().write(data)

    def close(self) -> None:
        self.closed.wake()


def capture(sh: Shell, body: Commands) -> str:
    """The output of `$(body)` without trailing newlines and NUL bytes; its status becomes `sh.status`."""
    kernel = sh.kernel
    kernel.budget -= 1
    if kernel.budget < 0:
        slow_tick(sh)
    sh.substituted += 1
    if not body:
        sh.status = 0
        return ""
    file = _file_alone(body)
    data = _read_file(sh, file) if file is not None else _run(sh, body)
    if b"\0" in data:
        data = data.replace(b"\0", b"")
        sh.warn("command substitution: ignored null byte in input")
    from mirage.shell.expand.fields import LARGE
    if len(data) > LARGE:
        sh.grow(len(data))
    return data.rstrip(b"\n").decode("utf-8", "surrogateescape")


def with_aliases(sh: Shell, text: str, body: Commands) -> Commands:
    """`body`, the commands of `text`, with the aliases of this moment; bash reads a substitution when it runs it."""
    from mirage.shell.parse import parse
    options = sh.options
    script = parse(text, aliases=sh.aliases, extglob=sh.shopt["extglob"], posix=options.posix, line=sh.line)
    return body if script.error is not None or script.warnings else script.items


def located(part: ast.CmdSub | ast.ProcSub, dquoted: bool = False) -> Callable[[Shell], Commands]:
    """The commands of a substitution with bash's line numbers: bash lays them out anew, and reads that text when it
    runs them, from the line of the command on."""
    body = part.body
    first = 0 if "\n" in part.text else _only_line(body)
    known: dict[int, Commands] = {}

    def commands(sh: Shell) -> Commands:
        line = sh.line
        if line == first:
            return body
        found = known.get(line)
        if found is None:
            from mirage.shell.parse import parse
            script = parse(_laid_out(part, dquoted), extglob=sh.shopt["extglob"], posix=sh.options.posix, line=line)
            found = known[line] = body if script.error is not None else script.items
        return found
    return commands


def _only_line(body: Commands) -> int:
    """The line of simple commands that are all on one; 0 for others."""
    lines = set()
    todo = list(body)
    while todo:
        node = todo.pop()
        if type(node) is ast.Simple:
            lines.add(node.line)
        elif type(node) is ast.AndOr:
            todo += (node.first, *(command for _, command in node.rest))
        elif type(node) is ast.Pipeline:
            todo += node.cmds
        else:
            return 0
    return lines.pop() if len(lines) == 1 else 0


def _laid_out(part: ast.CmdSub | ast.ProcSub, dquoted: bool) -> str:
    from mirage.shell.printer import substitution_text
    if type(part) is ast.CmdSub and part.backtick:
        text = part.text[1:-1].replace("\\\n", "")
        return re.sub(r'\\([$`\\"])' if dquoted else r"\\([$`\\])", r"\1", text)
    return substitution_text(part.body)


def _run(sh: Shell, body: Commands) -> bytes:
    from mirage.shell.exec.pipeline import fork, run_here
    kernel = sh.kernel
    output = _Output(kernel)
    table = dict(sh.proc.fds)
    table[1] = output
    line = sh.line
    sub = fork(sh, table, keep_jobs=True)
    sub.extra["trace_level"] = sub.extra.get("trace_level", 0) + 1
    if not sub.shopt["inherit_errexit"] and not sub.options.posix:
        sub.options.errexit = False
    try:
        status = run_here(sub, compiled_alone(body))
        if sh.traps:
            child_ended(sh)
        while output.refs > 0:
            output.closed.wait()
        data = output.getvalue()
    finally:
        kernel.release(2 * output.size)
    sh.line = line
    sh.status = status
    return data


def _file_alone(body: Commands) -> ast.Redir | None:
    """The redirection of `$(<file)`."""
    if len(body) == 1 and type(body[0]) is ast.Simple:
        node = body[0]
        if not node.words and not node.assigns and len(node.redirs) == 1:
            redir = node.redirs[0]
            if redir.op == "<" and redir.fd in (None, 0):
                return redir
    return None


def _read_file(sh: Shell, redir: ast.Redir) -> bytes:
    from mirage.shell.exec.redirect import RedirectionFailed, open_file, target_of
    try:
        name = target_of(redir)(sh)
        file = open_file(sh, name, os.O_RDONLY).incref()
    except RedirectionFailed as e:
        sh.error(e.text)
        if e.note:
            sh.proc.write_error(e.note)
        sh.status = 1
        return b""
    parts: list[bytes] = []
    size = 0
    try:
        while data := file.read(1 << 20):
            parts.append(data)
            size += len(data)
            sh.kernel.fits(size)
            sh.kernel.check()
    except OSError as e:
        sh.error(f"{name}: {e.strerror}")
        sh.status = 1
        return b""
    finally:
        file.decref()
    sh.status = 0
    return b"".join(parts)


# ------------------------------------------------------------------------------------------------ process substitution


def process_substitution(sh: Shell, direction: str, body: Commands) -> str:
    """Start `<(body)` or `>(body)`; the path `/dev/fd/N` that stands for its other end."""
    from mirage.shell.exec.pipeline import fork, launch
    proc = sh.proc
    reader, writer = proc.pipe()
    table = dict(proc.fds)
    for fd in sh.substitution_fds:
        table.pop(fd, None)
    if direction == "<":
        table[1] = writer
        mine = reader
    else:
        table[0] = reader
        mine = writer
    sub = fork(sh, table)
    sub.extra["trace_level"] = sub.extra.get("trace_level", 0) + 1
    if not sub.shopt["inherit_errexit"]:
        sub.options.errexit = False
    fd = HIGHEST
    while fd in proc.fds and fd > 9:
        fd -= 1
    if fd in proc.fds:
        raise ShellError("cannot make pipe for process substitution: Too many open files")
    proc.fds[fd] = mine.incref()
    sh.substitution_fds.append(fd)
    redir = _file_alone(body)
    if redir is not None:
        launch(sub, lambda shell: _copy_file(shell, redir))
    else:
        launch(sub, compiled_alone(body) if body else _nothing)
    if sh.traps and not sh.extra.get("in_child"):
        sub.proc.on_exit.append(lambda: child_ended(sh))
    sh.last_bg = sub.proc.pid
    sh.jobs.watch(sub.proc)
    return f"/dev/fd/{fd}"


def _copy_file(sh: Shell, redir: ast.Redir) -> int:
    """`<(<file)`."""
    sh.out(_read_file(sh, redir))
    return sh.status


def _nothing(sh: Shell) -> int:
    return 0


def close_substitutions(sh: Shell, mark: int) -> None:
    """Close what process substitutions opened since `mark` (the length of `sh.substitution_fds` then)."""
    fds = sh.substitution_fds
    while len(fds) > mark:
        fd = fds.pop()
        if fd in sh.proc.fds:
            sh.proc.close(fd)


def holds_substitution(part: object) -> bool:
    """Is there a process substitution in this word, assignment or redirection target?"""
    if isinstance(part, ast.Word):
        return part.lit is None and any(holds_substitution(inner) for inner in part.parts)
    if isinstance(part, ast.ProcSub):
        return True
    if isinstance(part, ast.Assign):
        return holds_substitution(part.value)
    if isinstance(part, ast.ArrayLit):
        return any(holds_substitution(word) for _, _, word in part.items)
    if isinstance(part, ast.Brace):
        return any(holds_substitution(word) for word in part.alts)
    if isinstance(part, ast.DQuote):
        return any(holds_substitution(inner) for inner in part.parts)
    if isinstance(part, ast.Param):
        return holds_substitution(part.arg) or holds_substitution(part.arg2)
    return False
