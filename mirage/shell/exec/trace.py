"""`set -x`: what is printed before a command runs."""
from __future__ import annotations

import re

from mirage.shell import ast
from mirage.shell.builtins import Assignment
from mirage.shell.control import ShellError
from mirage.shell.errors import ParseError
from mirage.text.quoting import ansi_c, is_printable, single

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.ast import Test
    from mirage.shell.state import Shell

_SPECIAL = re.compile(r"[ \t\n'\"\\|&;()<>!{}*\[\]?^$`]|\A[#~]|(?<=[:=])~")


def trace_text(sh: Shell, text: str) -> None:
    """PS4, its first character once more per level of substitution, `eval`, `source` and trap, and `text`."""
    from mirage.shell.expand import expand_text
    options = sh.options
    options.xtrace = False                                   # commands substituted in PS4 are not traced
    status, line = sh.status, sh.line
    prefix = sh.get("PS4") or ""
    try:
        prefix = expand_text(sh, prefix)
    except (ShellError, ParseError) as e:
        if isinstance(e, ShellError):
            e.report(sh)
        else:
            sh.error(e.msg)
    finally:
        options.xtrace = True
        sh.status, sh.line = status, line
    data = prefix[:1] * sh.extra.get("trace_level", 0) + prefix + text + "\n"
    fd = sh.get("BASH_XTRACEFD") or "2"
    file = sh.proc.fds.get(int(fd) if fd.isdecimal() and len(fd) < 10 else 2)
    if file is not None:
        try:
            file.write(data.encode("utf-8", "surrogateescape"))
        except OSError:
            pass


def quoted(word: str) -> str:
    """A word as `set -x` shows it."""
    if not word:
        return "''"
    if _SPECIAL.search(word):
        return single(word)
    return word if is_printable(word) else ansi_c(word)


def trace_words(sh: Shell, words: Sequence[object]) -> None:
    shown = []
    for word in words:
        if isinstance(word, Assignment) and not isinstance(word.value, str):
            trace_text(sh, _compound(word))
            shown.append(word.name)
        else:
            shown.append(_argument(word))
    trace_text(sh, " ".join(shown))
    if words[0] in ("export", "readonly"):                   # bash traces what these assign once more
        for word in words[1:]:
            if isinstance(word, Assignment) and isinstance(word.value, str):
                trace_text(sh, f"{word.name}{'+' if word.append else ''}={quoted(word.value) if word.value else ''}")


def _argument(word: object) -> str:
    if isinstance(word, str):
        return quoted(word)
    assert isinstance(word, Assignment)
    name = word.name if word.key is None else f"{word.name}[{word.key}]"
    op = "+=" if word.append else "="
    assert isinstance(word.value, str)
    return quoted(f"{name}{op}{word.value}")


def _compound(word: Assignment) -> str:
    """`declare m=([k]=v)`: bash shows the array first, all of it quoted."""
    assert not isinstance(word.value, str)
    items = " ".join((f"[{single(str(key))}]{sign}" if key is not None else "") + single(value)
                     for key, sign, value in word.value.items)
    return f"{word.name}{'+=' if word.append else '='}({items})"


def trace_cond(sh: Shell, test: Test) -> int:
    """`[[ ]]` with `set -x`: one line per primary that is evaluated; the status."""
    try:
        return 0 if _evaluate(sh, test, "") else 1
    except ShellError as e:
        if e.fatal:
            raise
        e.report(sh, "[[")
        return 2 if e.status == 2 else 1


def _evaluate(sh: Shell, test: Test, bang: str) -> bool:
    from mirage.shell.expand import compile_cond
    if isinstance(test, ast.CLog):
        left = _evaluate(sh, test.left, "")
        return left if left is (test.op == "||") else _evaluate(sh, test.right, "")
    if isinstance(test, ast.CGroup):
        return _evaluate(sh, test.arg, bang)
    if isinstance(test, ast.CNot):
        return not _evaluate(sh, test.arg, "! " + bang)
    trace_text(sh, f"[[ {bang}{_primary(sh, test)} ]]")
    return compile_cond(test)(sh)


def _primary(sh: Shell, test: Test) -> str:
    if isinstance(test, ast.CUn):
        return f"{test.op} {_operand(sh, test.arg)}"
    if isinstance(test, ast.CWord):
        return f"-n {_operand(sh, test.word)}"
    if isinstance(test, ast.CBin):
        right = _pattern_text(sh, test.right) if test.op in ("=", "==", "!=", "=~") else _operand(sh, test.right)
        return f"{_operand(sh, test.left)} {test.op} {right}"
    return ""


def _operand(sh: Shell, word: ast.Word) -> str:
    return _value(sh, word) or "''"


def _value(sh: Shell, word: ast.Word) -> str:
    """The expansion of a word for show; what has side effects is shown as written."""
    from mirage.shell.expand import compile_single
    if word.lit is not None:
        return word.lit
    if all(_pure(part) for part in word.parts):
        return compile_single(word)(sh)
    return word.text


def _pure(part: object) -> bool:
    if isinstance(part, ast.DQuote):
        return all(_pure(inner) for inner in part.parts)
    if isinstance(part, ast.Param):
        return part.op in ("", "#", "##", "%", "%%", "/", "//", "^", "^^", ",", ",,") and part.sub is None
    return isinstance(part, ast.Lit | ast.Quoted | ast.Tilde)


def _pattern_text(sh: Shell, word: ast.Word) -> str:
    """A pattern as bash shows it: quoted characters with a backslash before each."""
    out = []
    for part in word.parts:
        if isinstance(part, ast.Lit):
            out.append(part.text)
        elif isinstance(part, ast.Quoted):
            out.append("".join("\\" + char for char in part.text))
        elif isinstance(part, ast.DQuote):
            value = _value(sh, ast.Word((part,), None, False, ""))
            out.append("".join("\\" + char for char in value))
        else:
            out.append(_value(sh, ast.Word((part,), None, False, getattr(part, "text", ""))))
    return "".join(out)
