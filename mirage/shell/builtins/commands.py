"""Which command a name is: builtin, command, type, hash, enable."""
from __future__ import annotations

from mirage.shell import builtins as table
from mirage.shell.builtins import _listing as listing
from mirage.shell.builtins._common import USAGE_STATUS, encode, getopt
from mirage.text import quoting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell

KEYWORDS = (
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
    "function", "time", "{", "}", "!", "[[", "]]", "coproc",
)
STANDARD_PATH = "/bin:/usr/bin:/sbin:/usr/sbin"


def find_all(sh: Shell, name: str, path: str | None = None) -> list[str]:
    """Every executable file that `name` could mean, in the order of $PATH."""
    if "/" in name:
        candidates = [name]
    elif name:
        folders = (sh.get("PATH") or "" if path is None else path).split(":")
        candidates = [f"{folder.rstrip('/') if folder != '/' else ''}/{name}" if folder else f"./{name}"
                      for folder in folders]
    else:
        candidates = []
    unique = list(dict.fromkeys(candidates))
    found = [candidate for candidate in unique if _is_program(sh, candidate)]
    if not found and "/" not in name:                        # bash then takes what cannot be executed
        found = [candidate for candidate in unique if sh.proc.fs.is_file(candidate)][:1]
    return found


def _is_program(sh: Shell, path: str) -> bool:
    return sh.machine.find_program(sh.proc, path) is not None


def find_program(sh: Shell, name: str, path: str | None = None) -> str | None:
    """The file that would run for `name`, or could not because it is not executable; None for none."""
    found = find_all(sh, name, path)
    return found[0] if found else None


# ------------------------------------------------------------------------------------------- builtin, command


def builtin_builtin(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "builtin", args, "")
    if parsed is None:
        return USAGE_STATUS
    words = parsed[1]
    if not words:
        return 0
    if not table.is_enabled(sh, words[0]):
        sh.builtin_error("builtin", f"{words[0]}: not a shell builtin")
        return 1
    return sh.run_command(words)


def builtin_command(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "command", args, "pvV")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    letters = {letter for letter, _ in options}
    if not words:
        return 0
    path = STANDARD_PATH if "p" in letters else None
    styles = [letter for letter, _ in options if letter != "p"]
    if not styles:
        if path is not None and not table.is_enabled(sh, words[0]) and "/" not in words[0]:
            program = find_program(sh, words[0], path)
            if program is None:
                sh.error(f"{words[0]}: command not found")
                return 127
            words = [program, *words[1:]]
        return sh.run_command(words)
    status = 1
    for name in words:
        lines = _describe(sh, name, styles[-1], path=path)
        if lines:
            sh.out(listing.joined(lines))
            status = 0
        elif styles[-1] == "V":
            sh.builtin_error("command", f"{name}: not found")
    return status


# ------------------------------------------------------------------------------------------------------- type


def _describe(sh: Shell, name: str, style: str, *, everything: bool = False, functions: bool = True,
              only_path: bool = False, force_path: bool = False, path: str | None = None) -> list[str]:
    """Lines about what `name` is, best first. `style`: V a sentence, v what to type, t one word, p a path."""
    lines: list[str] = []

    def add(word: str, short: str, sentence: str) -> bool:
        if style == "t":
            lines.append(word)
        elif style == "v":
            lines.append(short)
        elif style == "V":
            lines.append(sentence)
        return not everything

    if not force_path:
        if sh.shopt["expand_aliases"] and name in sh.aliases:
            value = sh.aliases[name]
            if add("alias", f"alias {name}={quoting.single(value)}", f"{name} is aliased to `{value}'"):
                return lines
        if name in KEYWORDS:
            if add("keyword", name, f"{name} is a shell keyword"):
                return lines
        if functions and name in sh.functions:
            text = f"{name} is a function"
            if style == "V":
                text += "\n" + listing.function_definition(sh, name)
            if add("function", name, text):
                return lines
        if table.is_enabled(sh, name):
            special = sh.options.posix and name in table.SPECIAL
            kind = "a special shell builtin" if special else "a shell builtin"
            if add("builtin", name, f"{name} is {kind}"):
                return lines
    hashed = sh.hash_table.get(name) if path is None else None
    if hashed is not None and not everything:
        add("file", hashed, f"{name} is hashed ({hashed})")
        if style == "p":
            lines.append(hashed)
        return lines
    if everything:
        programs = find_all(sh, name, path)
    else:
        program = find_program(sh, name, path)
        programs = [program] if program is not None else []
    for program in programs:
        if everything and not _is_program(sh, program):
            continue
        if style == "p":
            lines.append(program)
        elif style == "v" and "/" in name and not name.startswith("/"):
            lines.append(name)
        else:
            add("file", program, f"{name} is {program}")
    return lines


def builtin_type(sh: Shell, args: Sequence[str]) -> int:
    words = list(args)
    for i, word in enumerate(words):                         # the old long forms
        if word[:1] != "-":
            break
        words[i] = {"-type": "-t", "--type": "-t", "-path": "-p", "--path": "-p", "-all": "-a",
                    "--all": "-a"}.get(word, word)
    parsed = getopt(sh, "type", words, "afptP")
    if parsed is None:
        return USAGE_STATUS
    style, everything, functions, force = "V", False, True, False
    for letter, _ in parsed[0]:
        if letter == "a":
            everything = True
        elif letter == "f":
            functions = False
        elif letter in "pP":
            style = "p"
            force = force or letter == "P"
        else:
            style = "t"
    status = 0
    for name in parsed[1]:
        lines = _describe(sh, name, style, everything=everything, functions=functions, force_path=force)
        sh.out(listing.joined(lines))
        if not lines and not (style == "p" and not force and _is_internal(sh, name, functions)):
            if style == "V":
                sh.builtin_error("type", f"{name}: not found")
            status = 1
    return status


def _is_internal(sh: Shell, name: str, functions: bool) -> bool:
    """Something that `type -p` finds but has no path for."""
    return bool(_describe(sh, name, "t", functions=functions))


# ------------------------------------------------------------------------------------------------------- hash


def builtin_hash(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "hash", args, "dlp:rt")
    if parsed is None:
        return USAGE_STATUS
    options, names = parsed
    given = dict(options)
    if not sh.options.hashall:
        sh.builtin_error("hash", "hashing disabled")
        return 1
    if "r" in given:
        sh.hash_table.clear()
        for key in [key for key in sh.extra if key.startswith("hits of ")]:
            del sh.extra[key]
    if not names:
        if "t" in given or "d" in given:
            letter = "d" if "d" in given else "t"
            sh.builtin_error("hash", f"-{letter}: option requires an argument")
            return 1
        return 0 if "r" in given else _show_hashed(sh, "l" in given)
    if "p" in given:
        if sh.proc.fs.is_dir(given["p"]):
            sh.builtin_error("hash", f"{given['p']}: Is a directory")
            return 1
        for name in names:
            sh.hash_table[name] = given["p"]
        return 0
    status = 0
    for name in names:
        if "t" in given or "d" in given:
            path = sh.hash_table.get(name)
            if path is None and "d" in given and not sh.hash_table:
                continue
            if path is None:
                sh.builtin_error("hash", f"{name}: not found")
                status = 1
            elif "t" not in given:
                del sh.hash_table[name]
            elif "l" in given:
                sh.out(encode(f"builtin hash -p {quoting.minimal(path)} {name}\n"))
            else:
                sh.out(encode(f"{name}\t{path}\n" if len(names) > 1 else f"{path}\n"))
        elif "/" not in name and not table.is_enabled(sh, name) and name not in sh.functions:
            found = find_all(sh, name)
            if found:
                sh.hash_table[name] = found[0]
            else:
                sh.builtin_error("hash", f"{name}: not found")
                status = 1
    return status


def _show_hashed(sh: Shell, readable: bool) -> int:
    if not sh.hash_table:
        if not readable:
            sh.out(b"hash: hash table empty\n")
        return 0
    if readable:
        lines = [f"builtin hash -p {quoting.minimal(path)} {name}" for name, path in sh.hash_table.items()]
    else:
        hits = sh.extra
        lines = ["hits\tcommand", *(f"{hits.get(f'hits of {name}', 0):4}\t{path}"
                                    for name, path in sh.hash_table.items())]
    sh.out(listing.joined(lines))
    return 0


# ----------------------------------------------------------------------------------------------------- enable


def builtin_enable(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "enable", args, "adnpsf:")
    if parsed is None:
        return USAGE_STATUS
    options, names = parsed
    letters = {letter for letter, _ in options}
    disabled: frozenset[str] = sh.extra.get("disabled", frozenset())
    if not names or "p" in letters:
        shown = [name for name in table.NAMES if "s" not in letters or name in table.SPECIAL]
        if "a" not in letters:
            shown = [name for name in shown if (name in disabled) is ("n" in letters)]
        sh.out(listing.joined(f"enable {'-n ' if name in disabled else ''}{name}" for name in shown))
        return 0
    if "f" in letters:
        file = next(value for letter, value in options if letter == "f")
        sh.builtin_error("enable", f"cannot open shared object {file}: {file}: cannot open shared object file: "
                         "No such file or directory")
        return 1
    status = 0
    for name in names:
        if name not in table.TABLE:
            sh.builtin_error("enable", f"{name}: not a shell builtin")
            status = 1
        elif "d" in letters:
            sh.builtin_error("enable", f"{name}: not dynamically loaded")
            status = 1
        elif "n" in letters:
            disabled = disabled | {name}
        else:
            disabled = disabled - {name}
    if disabled:
        sh.extra["disabled"] = disabled
    else:
        sh.extra.pop("disabled", None)
    return status


