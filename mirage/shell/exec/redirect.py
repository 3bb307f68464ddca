"""Redirections: compiled once, applied to the descriptors of the shell's process, undone exactly.

A compiled redirection is `f(sh, undo, child)`. `undo` collects (descriptor, what it was) and is None for `exec`;
`child` says that the command is a program (or a subshell): then `{name}>file` does not outlive it either.
"""
from __future__ import annotations

import errno
import os

from mirage.process.files import Source
from mirage.process.process import refusal_note
from mirage.shell.ast import Arith, DQuote, HereDoc, Param, Word
from mirage.shell.control import ShellError
from mirage.shell.expand import compile_heredoc, compile_single, compile_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from mirage.process.files import OpenFile
    from mirage.process.process import Process
    from mirage.shell.ast import Redir
    from mirage.shell.state import Shell

    Undo: TypeAlias = list[tuple[int, OpenFile | None]]
    Redirection: TypeAlias = Callable[[Shell, Undo | None, bool], None]

_FLAGS = {
    "<": os.O_RDONLY,
    ">": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    ">|": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    ">>": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "<>": os.O_RDWR | os.O_CREAT,
    "&>": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    "&>>": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
}
_LOWEST_NAMED = 10                                           # first descriptor that {name}> may use


class RedirectionFailed(Exception):
    """`text` is bash's message without its prefix; `note` a line of the policy, or nothing."""

    def __init__(self, text: str, note: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.note = note


class Redirections(tuple["Redirection", ...]):
    """Compiled redirections. assigning: working out their words may change variables."""

    assigning = False


def compile_redirections(redirs: Sequence[Redir]) -> Redirections:
    made = Redirections(_compile(redir) for redir in redirs)
    made.assigning = any(_may_assign(redir.target) for redir in redirs)
    return made


def _may_assign(node: object) -> bool:
    """Is there arithmetic in a word, or an expansion that assigns or has a subscript?"""
    if isinstance(node, Arith):
        return True
    if isinstance(node, HereDoc):
        return _may_assign(node.body)
    if isinstance(node, Param):
        return (node.op in ("=", ":=", ":") or node.sub is not None
                or _may_assign(node.arg) or _may_assign(node.arg2))
    return isinstance(node, Word | DQuote) and any(_may_assign(part) for part in node.parts)


def apply(sh: Shell, redirections: Sequence[Redirection], undo: Undo | None, child: bool = False) -> bool:
    """Do them in order; False after the first that fails (its message is printed)."""
    try:
        for redirection in redirections:
            redirection(sh, undo, child)
    except RedirectionFailed as e:
        sh.error(e.text)
        if e.note:
            sh.proc.write_error(e.note)
        return False
    except ShellError as e:
        e.report(sh)
        raise
    return True


def apply_in_child(sh: Shell, redirections: Redirections, undo: Undo | None) -> int:
    """The same as bash does it in the new process of a program, which an expansion error only ends, and whose
    variables are its own: its status, 0 when all is done."""
    before = sh.fork(sh.proc) if redirections.assigning else None
    sh.extra["in_child"] = True
    try:
        return apply_in_subshell(sh, redirections, undo)
    finally:
        sh.extra["in_child"] = False
        if before is not None:
            sh.restore_variables(before)


def apply_in_subshell(sh: Shell, redirections: Redirections, undo: Undo | None) -> int:
    """The same for a subshell, whose commands see what the redirections assigned."""
    try:
        return 0 if apply(sh, redirections, undo, True) else 1
    except ShellError as e:
        return e.status


def restore(sh: Shell, undo: Undo) -> bool:
    """Undo what `apply` did; False (after a message) when closing a file failed: a remote write."""
    fds = sh.proc.fds
    failure: OSError | None = None
    while undo:
        fd, old = undo.pop()
        now = fds.get(fd)
        if old is not None:
            fds[fd] = old
        elif now is not None:
            del fds[fd]
        if now is not None:
            try:
                now.decref()
            except OSError as e:
                failure = e
    if failure is None:
        return True
    try:
        sh.error(f"{failure.filename or 'write error'}: {failure.strerror}")
    except OSError:
        pass
    return False


def forget(undo: Undo) -> None:
    """Keep the redirections (`exec`): the saved files are let go."""
    for _, old in undo:
        if old is not None:
            old.decref()
    undo.clear()


def _save(proc: Process, fd: int, undo: Undo | None) -> None:
    if undo is not None:
        old = proc.fds.get(fd)
        undo.append((fd, old.incref() if old is not None else None))


def _install(sh: Shell, fd: int | str, file: OpenFile, undo: Undo | None, child: bool) -> None:
    proc = sh.proc
    if isinstance(fd, int):
        file.incref()
        _save(proc, fd, undo)
        proc.install(fd, file)
        file.decref()
        return
    number = proc.allocate(file, _LOWEST_NAMED)
    if undo is not None and (child or sh.shopt["varredir_close"]):
        undo.append((number, None))
    if not child:
        _set_variable(sh, fd, str(number))


def _set_variable(sh: Shell, name: str, value: str) -> None:
    base, bracket, subscript = name.partition("[")
    if not bracket:
        sh.set(base, value)
        return
    from mirage.shell.expand import element_key
    sh.set_element(base, element_key(sh, base, subscript[:-1]), value)


def _get_variable(sh: Shell, name: str) -> str | None:
    base, bracket, subscript = name.partition("[")
    if not bracket:
        return sh.get(base)
    from mirage.shell.expand import element_key
    return sh.get_element(base, element_key(sh, base, subscript[:-1]))


# ---------------------------------------------------------------------------------------------------------- compiling


def _compile(redir: Redir) -> Redirection:
    op, fd, target = redir.op, redir.fd, redir.target
    if isinstance(target, HereDoc):
        return _heredoc(0 if fd is None else fd, target)
    if op == "<<<":
        return _herestring(0 if fd is None else fd, target)
    if op in ("<&", ">&"):
        return _duplicate(fd, op, target)
    if fd is None:
        fd = 0 if op in ("<", "<>") else 1
    return _file(fd, op, target)


def target_of(redir: Redir) -> Callable[[Shell], str]:
    """The file name that a redirection to or from a file expands to; RedirectionFailed when it is ambiguous."""
    return _target(redir.target)  # type: ignore[arg-type]


def _file(fd: int | str, op: str, target: Word) -> Redirection:
    flags = _FLAGS[op]
    name_of = _target(target)
    both = op in ("&>", "&>>")
    guarded = op in (">", "&>")

    def redirect(sh: Shell, undo: Undo | None, child: bool) -> None:
        name = name_of(sh)
        if guarded and sh.options.noclobber:
            _refuse_existing(sh, name)
        file = open_file(sh, name, flags)
        _install(sh, fd, file, undo, child)
        if both:
            _install(sh, 2, file, undo, child)
    return redirect


def _target(word: Word) -> Callable[[Shell], str]:
    """The one field that a redirection's word must expand to."""
    lit = word.lit
    if lit is not None and not word.glob:
        return lambda sh: lit
    expand = compile_words((word,))
    single = compile_single(word)
    text = word.text

    def target(sh: Shell) -> str:
        if sh.options.posix:
            return single(sh)
        fields = expand(sh)
        if len(fields) != 1:
            raise RedirectionFailed(f"{text}: ambiguous redirect")
        return fields[0]
    return target


def _refuse_existing(sh: Shell, name: str) -> None:
    try:
        if sh.proc.fs.stat(name).is_file:
            raise RedirectionFailed(f"{name}: cannot overwrite existing file")
    except OSError:
        pass


def open_file(sh: Shell, name: str, flags: int) -> OpenFile:
    """Open for a redirection; RedirectionFailed in bash's words."""
    if not name:
        raise RedirectionFailed(": No such file or directory")
    if name.startswith(("/dev/tcp/", "/dev/udp/")):
        _refuse_network(sh, name)
    try:
        return sh.proc.open(name, flags)
    except OSError as e:
        raise RedirectionFailed(f"{name}: {e.strerror}", refusal_note(e)) from None


def _refuse_network(sh: Shell, name: str) -> None:
    """There is no network: what bash prints in a machine without one."""
    parts = name.split("/")
    if len(parts) != 5 or not parts[3] or not parts[4]:
        return
    host = parts[3]
    if host.replace(".", "").isdecimal() or host == "localhost" or ":" in host:
        sh.proc.write_error(f"{sh.name.rsplit('/', 1)[-1]}: connect: {os.strerror(errno.ENETUNREACH)}\n")
        raise RedirectionFailed(f"{name}: {os.strerror(errno.ENETUNREACH)}")
    sh.error(f"{host}: Name or service not known")
    raise RedirectionFailed(f"{name}: {os.strerror(errno.EINVAL)}")


def _duplicate(fd: int | str | None, op: str, target: Word) -> Redirection:
    default = 0 if op == "<&" else 1
    to = default if fd is None else fd
    expand = compile_words((target,))
    text = target.text
    file_too = op == ">&" and fd is None

    def redirect(sh: Shell, undo: Undo | None, child: bool) -> None:
        fields = expand(sh)
        if len(fields) != 1:
            raise RedirectionFailed(f"{text}: ambiguous redirect")
        value = fields[0]
        if value == "-":
            _close(sh, to, undo)
            return
        move = value.endswith("-")
        digits = value[:-1] if move else value
        if digits.isascii() and digits.isdecimal() and len(digits) < 10:
            source = int(digits)
            file = sh.proc.fds.get(source)
            if file is None:
                raise RedirectionFailed(f"{text.removesuffix('-')}: {os.strerror(errno.EBADF)}")
            if source == to:
                return
            _install(sh, to, file, undo, child)
            if move:
                _save(sh.proc, source, undo)
                sh.proc.close(source)
        elif file_too:
            if sh.options.noclobber:
                _refuse_existing(sh, value)
            file = open_file(sh, value, _FLAGS[">"])
            _install(sh, 1, file, undo, child)
            _install(sh, 2, file, undo, child)
        else:
            raise RedirectionFailed(f"{text}: ambiguous redirect")
    return redirect


def _close(sh: Shell, fd: int | str, undo: Undo | None) -> None:
    if isinstance(fd, int):
        number = fd
    else:
        value = _get_variable(sh, fd)
        if value is None or not value.isdecimal() or int(value) not in sh.proc.fds:
            raise RedirectionFailed(f"{value or fd}: {os.strerror(errno.EBADF)}" if value else
                                    f"{fd}: ambiguous redirect")
        number = int(value)
    if number in sh.proc.fds:
        _save(sh.proc, number, undo)
        sh.proc.close(number)


def _heredoc(fd: int | str, target: HereDoc) -> Redirection:
    lit = target.body.lit
    if lit is not None:
        constant = lit.encode("utf-8", "surrogateescape")
        return lambda sh, undo, child: _install(sh, fd, Source(constant), undo, child)
    expand = compile_heredoc(target.body)

    def redirect(sh: Shell, undo: Undo | None, child: bool) -> None:
        text = expand(sh)
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        _install(sh, fd, Source(data), undo, child)
    return redirect


def _herestring(fd: int | str, target: Word) -> Redirection:
    lit = target.lit
    if lit is not None:
        constant = lit.encode("utf-8", "surrogateescape") + b"\n"
        return lambda sh, undo, child: _install(sh, fd, Source(constant), undo, child)
    expand = compile_single(target)

    def redirect(sh: Shell, undo: Undo | None, child: bool) -> None:
        _install(sh, fd, Source(expand(sh).encode("utf-8", "surrogateescape") + b"\n"), undo, child)
    return redirect
