"""history and fc: the commands of the session, kept in memory (`sh.history`)."""
from __future__ import annotations

import os
import re

from mirage.commands._io import read_all
from mirage.shell.builtins._common import USAGE_STATUS, decode, encode, getopt, number, os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell


def builtin_history(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "history", args, "acd:npsrw")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    given = dict(options)
    if "c" in given:
        sh.history.clear()
        sh.extra["history_saved"] = 0
    if "d" in given:
        return _delete(sh, given["d"])
    if "s" in given:
        if words:
            sh.history.append(" ".join(words))
        return 0
    if "p" in given:
        status = 0
        for word in words:
            if word.startswith("!"):
                sh.builtin_error("history", f"{word}: history expansion failed")
                status = 1
            else:
                sh.out(encode(word + "\n"))
        return status
    if given.keys() & {"a", "n", "r", "w"}:
        return _file(sh, next(letter for letter in given if letter in "anrw"), words)
    if "c" in given:
        return 0
    count = len(sh.history)
    if words:
        limit = number(words[0])
        if limit is None:
            sh.builtin_error("history", f"{words[0]}: numeric argument required")
            return 1
        count = min(abs(limit), count)
    first = len(sh.history) - count
    sh.out(encode("".join(f"{at + 1:5d}  {line}\n" for at, line in enumerate(sh.history[first:], first))))
    return 0


def _delete(sh: Shell, text: str) -> int:
    """`-d offset` or `-d first-last`."""
    match = re.fullmatch(r"(-?[0-9]{1,9})(?:-(-?[0-9]{1,9}))?", text)
    size = len(sh.history)
    if match is not None:
        ends = [int(end) for end in match.groups() if end is not None]
        places = [end + size if end < 0 else end - 1 for end in ends]
        if all(0 <= place < size for place in places) and places[0] <= places[-1]:
            del sh.history[places[0]:places[-1] + 1]
            return 0
    sh.builtin_error("history", f"{text}: history position out of range")
    return 1


def _file(sh: Shell, letter: str, words: Sequence[str]) -> int:
    """-w, -a write the list to a file, -r, -n read it."""
    path = words[0] if words else sh.get("HISTFILE")
    if not path:
        return 0
    try:
        if letter in "rn":
            with sh.proc.opened(path) as file:
                data = read_all(sh.proc, file)
            sh.history += decode(data).splitlines()
        else:
            lines = sh.history[sh.extra.get("history_saved", 0):] if letter == "a" else sh.history
            if letter == "a" and not lines:
                return 0
            flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if letter == "a" else os.O_TRUNC)
            with sh.proc.opened(path, flags, 0o600) as file:
                file.write(encode("".join(line + "\n" for line in lines)))
        sh.extra["history_saved"] = len(sh.history)
    except OSError as e:
        return os_error(sh, "history", path, e)
    return 0


def builtin_fc(sh: Shell, args: Sequence[str]) -> int:
    words = list(args)
    # -5 is a position, no option
    cut = next((i for i, word in enumerate(words) if re.fullmatch("-[0-9]+", word)), len(words))
    parsed = getopt(sh, "fc", words[:cut], "e:lnrs")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed[0], parsed[1] + words[cut:]
    given = dict(options)
    if "s" in given or given.get("e") == "-":
        return _again(sh, words)
    if "l" not in given:
        sh.builtin_error("fc", "no command found" if not sh.history else "no editor in this terminal")
        return 1
    size = len(sh.history)
    if not size:
        return 0
    first = _position(sh, words[0]) if words else max(0, size - 16)
    last = _position(sh, words[1]) if len(words) > 1 else size - 1
    if first is None or last is None:
        sh.builtin_error("fc", "history specification out of range")
        return 1
    backwards = "r" in given
    if first > last:
        first, last, backwards = last, first, not backwards
    places = range(first, last + 1)
    lines = [f"{'' if 'n' in given else place + 1}\t {sh.history[place]}\n"
             for place in (reversed(places) if backwards else places)]
    sh.out(encode("".join(lines)))
    return 0


def _position(sh: Shell, word: str) -> int | None:
    """An entry by number, by number from the end, or by how it begins."""
    size = len(sh.history)
    value = number(word)
    if value is not None:
        place = size + value if value < 0 else value - 1 if value else size - 1
        return place if 0 <= place < size else None
    return next((place for place in range(size - 1, -1, -1) if sh.history[place].startswith(word)), None)


def _again(sh: Shell, words: Sequence[str]) -> int:
    """`fc -s [old=new] [command]`: run an entry once more."""
    changes = [word.partition("=") for word in words if "=" in word]
    named = [word for word in words if "=" not in word]
    place = _position(sh, named[0]) if named else len(sh.history) - 1
    if place is None or place < 0:
        sh.builtin_error("fc", "no command found")
        return 1
    line = sh.history[place]
    for old, _, new in changes:
        line = line.replace(old, new, 1) if old else line
    sh.proc.write_error(line + "\n")
    sh.history[-1] = line                                    # takes the place of the `fc` command itself
    return sh.eval_text(line)
