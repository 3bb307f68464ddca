"""Prompt strings: the backslash escapes of PS1, then expansions (``${x@P}``, PS4)."""

from __future__ import annotations

import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.shell.state import Shell

_ESCAPE = re.compile(r"\\(D\{([^}]*)\}|[0-7]{1,3}|.)", re.S)


def expand_prompt(sh: Shell, text: str) -> str:
    """Escapes, then parameters, commands and arithmetic (when ``promptvars`` is on)."""
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: _escape(sh, match), text)
    return expand_text(sh, text) if sh.shopt["promptvars"] else text


def expand_text(sh: Shell, text: str) -> str:
    """A text expanded as if in double quotes."""
    if "$" not in text and "`" not in text and "\\" not in text:
        return text
    from mirage.shell.errors import ParseError
    from mirage.shell.expand.word import dquoted_text
    from mirage.shell.parse import parse_dquoted

    try:
        word = parse_dquoted(text, extglob=sh.shopt["extglob"])
    except ParseError as error:
        raise sh.fail(error.msg) from None
    return word.lit if word.lit is not None else dquoted_text(word.parts)(sh)


def _escape(sh: Shell, match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "01234567":
        return chr(int(code, 8) & 127)
    if code in ("[", "]"):
        return ""
    simple = {"a": "\a", "e": "\x1b", "n": "\n", "r": "\r", "\\": "\\\\", "j": "0", "l": "tty", "s": "bash", "v": "5.2",
              "V": "5.2.37", "u": "user", "#": "1"}  # fmt: skip
    if code in simple:
        if code == "u":
            return sh.get("USER") or "user"
        if code == "j":
            return str(len(sh.jobs)) if sh.jobs is not None and hasattr(sh.jobs, "__len__") else "0"
        return simple[code]
    if code == "$":
        return "\\$" if sh.shopt["promptvars"] else "$"
    if code == "!":
        return str(len(sh.history) + 1)
    if code in ("h", "H"):
        host: str = sh.machine.hostname
        return host.partition(".")[0] if code == "h" else host
    if code in ("w", "W"):
        return _directory(sh, code == "W")
    form = {"t": "%H:%M:%S", "T": "%I:%M:%S", "@": "%I:%M %p", "A": "%H:%M", "d": "%a %b %d"}.get(code)
    if code[0] == "D":
        form = match[2] or "%H:%M:%S"
    if form:
        return _time(sh, form)
    return "\\\\" + code


def _directory(sh: Shell, last: bool) -> str:
    cwd, home = sh.proc.cwd, sh.get("HOME")
    if last:
        if cwd == home:
            return "~"
        return cwd.rsplit("/", 1)[1] or "/"
    if home and (cwd == home or cwd.startswith(home + "/")):
        return "~" + cwd[len(home) :]
    return cwd


def _time(sh: Shell, form: str) -> str:
    return time.strftime(form, time.gmtime(sh.proc.now()))
