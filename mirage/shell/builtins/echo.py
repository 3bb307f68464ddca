"""echo."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell

_LARGE = 1 << 16                                             # characters; what is shorter is not counted


def builtin_echo(sh: Shell, args: Sequence[str]) -> int:
    xpg = sh.shopt["xpg_echo"]
    if not xpg and (not args or args[0][:1] != "-"):
        text = " ".join(args)
        if len(text) > _LARGE:
            sh.kernel.fits(3 * len(text))
        sh.out((text + "\n").encode("utf-8", "surrogateescape"))
        return 0
    newline, escapes, at = True, xpg, 0
    if not (xpg and sh.options.posix):
        while at < len(args) and len(args[at]) > 1 and args[at][0] == "-" and not args[at][1:].strip("neE"):
            for letter in args[at][1:]:
                if letter == "n":
                    newline = False
                else:
                    escapes = letter == "e"
            at += 1
    text = " ".join(args[at:])
    sh.kernel.fits(3 * len(text))
    if escapes and "\\" in text:
        text, stopped = _expand(sh, text)
        newline = newline and not stopped
    sh.out((text + "\n" if newline else text).encode("utf-8", "surrogateescape"))
    return 0


def _expand(sh: Shell, text: str) -> tuple[str, bool]:
    """The text with the escapes of `echo -e` replaced, and whether `\\c` ended it."""
    from mirage.shell.builtins._escapes import escape

    out: list[str] = []
    i = 0
    while (j := text.find("\\", i)) >= 0:
        out.append(text[i:j])
        letter = text[j + 1:j + 2]
        if letter == "c":
            return "".join(out), True
        if letter in ("1", "2", "3", "4", "5", "6", "7", "'", '"', "?"):
            out.append(text[j:j + 2])
            i = j + 2
            continue
        char, i = escape(text, j + 1, 4)
        out.append(char if char is not None else text[j:i])
    out.append(text[i:])
    return "".join(out), False
