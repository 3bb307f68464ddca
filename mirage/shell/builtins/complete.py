"""compgen, complete, compopt, bind. Completions are stored and listed; only compgen ever makes any."""
from __future__ import annotations

from mirage.shell import builtins as table
from mirage.shell.builtins._common import USAGE_STATUS, encode, getopt, usage
from mirage.shell.control import ShellError
from mirage.shell.errors import ParseError
from mirage.text import quoting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mirage.shell.state import Shell

_LETTERS = {"a": "alias", "b": "builtin", "c": "command", "d": "directory", "e": "export", "f": "file", "g": "group",
            "j": "job", "k": "keyword", "s": "service", "u": "user", "v": "variable"}
_ACTIONS = (*_LETTERS.values(), "arrayvar", "binding", "disabled", "enabled", "function", "helptopic", "hostname",
            "running", "setopt", "shopt", "signal", "stopped")
_OPTIONS = ("bashdefault", "default", "dirnames", "filenames", "noquote", "nosort", "nospace", "plusdirs")
_WITH_VALUE = ("G", "W", "P", "S", "X", "F", "C")            # in the order in which `complete -p` prints them
_SPECIAL_NAMES = {"D": "-D", "E": "-E", "I": "-I"}


class Specification:
    """One completion specification."""

    __slots__ = ("actions", "options", "values")

    def __init__(self) -> None:
        self.options: list[str] = []
        self.actions: list[str] = []
        self.values: dict[str, str] = {}


def _read(sh: Shell, command: str, options: Sequence[tuple[str, str]]) -> Specification | None:
    """A specification from the options; None after an error message."""
    spec = Specification()
    for letter, value in options:
        if letter == "A":
            if value not in _ACTIONS:
                sh.builtin_error(command, f"{value}: invalid action name")
                return None
            spec.actions.append(value)
        elif letter == "o":
            if value not in _OPTIONS:
                sh.builtin_error(command, f"{value}: invalid option name")
                return None
            spec.options.append(value)
        elif letter in _LETTERS:
            spec.actions.append(_LETTERS[letter])
        elif letter in _WITH_VALUE:
            spec.values[letter] = value
    return spec


# ---------------------------------------------------------------------------------------------------- compgen


def builtin_compgen(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "compgen", args, "abcdefgjksuvo:A:G:W:P:S:X:F:C:")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    if not options:
        return 0
    spec = _read(sh, "compgen", options)
    if spec is None:
        return USAGE_STATUS
    word = words[0] if words else ""
    found = _candidates(sh, spec, word)
    pattern = spec.values.get("X")
    if pattern is not None:
        found = _filtered(found, pattern, word)
    prefix, suffix = spec.values.get("P", ""), spec.values.get("S", "")
    lines = [f"{prefix}{candidate}{suffix}\n" for candidate in found]
    sh.out(encode("".join(lines)))
    return 0 if lines else 1


def _candidates(sh: Shell, spec: Specification, word: str) -> list[str]:
    found: list[str] = []
    for action in dict.fromkeys(spec.actions):
        found += _generate(sh, action, word)
    if "G" in spec.values:
        from mirage.shell.expand.glob import glob
        found += glob(sh, spec.values["G"])
    if "W" in spec.values:
        found += [item for item in _word_list(sh, spec.values["W"]) if item.startswith(word)]
    if "F" in spec.values:
        sh.builtin_error("compgen", "warning: -F option may not work as you expect")
        found += _from_function(sh, spec.values["F"], word)
    if "C" in spec.values:
        sh.builtin_error("compgen", "warning: -C option may not work as you expect")
        found += _from_command(sh, spec.values["C"], word)
    if not found:
        if "dirnames" in spec.options:
            found = _files(sh, word, True)
        elif "default" in spec.options or "bashdefault" in spec.options:
            found = _files(sh, word)
    if "plusdirs" in spec.options:
        found += _files(sh, word, True)
    return found


def _filtered(found: list[str], pattern: str, word: str) -> list[str]:
    """-X: take away what matches; with `!` before the pattern what does not. `&` is the word."""
    from mirage.text import pattern as patterns

    negated = pattern.startswith("!")
    text = pattern[1:] if negated else pattern
    text = text.replace("\\&", "\0").replace("&", word).replace("\0", "&")
    matcher = patterns.compile(text)
    return [candidate for candidate in found if matcher.matches(candidate) is negated]


def _word_list(sh: Shell, text: str) -> list[str]:
    """-W: split at IFS outside of quotes, then each word is expanded."""
    from mirage.shell.expand import compile_word
    from mirage.shell.parse import parse_word

    ifs = sh.get("IFS")
    fields: list[str] = []
    try:
        for piece in _quoted_split(text, " \t\n" if ifs is None else ifs):
            fields += compile_word(parse_word(piece))(sh)
    except ParseError as e:
        sh.error(e.msg)
        return []
    except ShellError as e:
        e.report(sh)
        return []
    return fields


def _quoted_split(text: str, separators: str) -> list[str]:
    """Pieces between separators that stand outside of quotes and substitutions."""
    pieces: list[str] = []
    start = i = 0
    closing = {"'": "'", '"': '"', "`": "`"}
    while i < len(text):
        char = text[i]
        if char == "\\":
            i += 2
            continue
        if char in closing:
            end = text.find(closing[char], i + 1)
            i = len(text) if end < 0 else end + 1
            continue
        if char == "$" and text[i + 1:i + 2] in ("(", "{"):
            i = _balanced(text, i + 1)
            continue
        if char in separators:
            pieces.append(text[start:i])
            start = i + 1
        i += 1
    pieces.append(text[start:])
    return [piece for piece in pieces if piece]


def _balanced(text: str, i: int) -> int:
    """Index after the bracket that closes the one at text[i]."""
    opening = text[i]
    closing = ")" if opening == "(" else "}"
    depth = 0
    while i < len(text):
        if text[i] == "\\":
            i += 1
        elif text[i] == opening:
            depth += 1
        elif text[i] == closing:
            depth -= 1
            if not depth:
                return i + 1
        i += 1
    return i


def _from_function(sh: Shell, name: str, word: str) -> list[str]:
    if name not in sh.functions:
        sh.error(f"completion: function `{name}' not found")
        return []
    sh.run_function(name, ["compgen", word, ""])
    return sh.elements("COMPREPLY")


def _from_command(sh: Shell, text: str, word: str) -> list[str]:
    from mirage.shell.parse import parse

    script = parse(f"{text} compgen {quoting.quote(word) if word else chr(39) * 2} ''")
    return sh.capture(script.items).split("\n")


def _files(sh: Shell, word: str, directories: bool = False) -> list[str]:
    folder, slash, start = word.rpartition("/")
    fs = sh.proc.fs
    try:
        entries = list(fs.list(folder or ("/" if slash else ".")))
    except OSError:
        return []
    names = [entry.name for entry in entries if entry.name.startswith(start)]
    found = [f"{folder}{slash}{name}" for name in sorted(names)]
    return [name for name in found if fs.is_dir(name)] if directories else found


def _programs(sh: Shell, word: str) -> list[str]:
    found: set[str] = set()
    for folder in dict.fromkeys((sh.get("PATH") or "").split(":")):
        try:
            found.update(entry.name for entry in sh.proc.fs.list(folder or ".") if entry.name.startswith(word))
        except OSError:
            continue
    return sorted(found)


def _commands(sh: Shell, word: str) -> list[str]:
    from mirage.shell.builtins.commands import KEYWORDS

    names = [*sh.aliases, *KEYWORDS, *sh.functions, *table.NAMES]
    return [name for name in names if name.startswith(word)] + _programs(sh, word)


def _variables(sh: Shell, exported: bool = False, arrays: bool = False) -> list[str]:
    from mirage.shell.state import ARRAY, EXPORT

    wanted = EXPORT if exported else ARRAY if arrays else 0
    return [name for name in sorted(sh.vars) if (not wanted or sh.flags(name) & wanted) and sh.array(name)]


def _signal_names() -> Iterable[str]:
    from mirage.process.signals import NAMES
    from mirage.shell.builtins._signals import listed_name

    return ("EXIT", *(f"SIG{listed_name(value)}" for value in sorted(NAMES)), "DEBUG", "ERR", "RETURN")


def _job_texts(sh: Shell, wanted: str) -> list[str]:
    if sh.jobs is None:
        return []
    return [job.text.split(" ", 1)[0] for job in sh.jobs
            if wanted == "job" or job.state().lower() == wanted]


def _keywords() -> list[str]:
    from mirage.shell.builtins.commands import KEYWORDS

    return list(KEYWORDS)


def _help_topics() -> list[str]:
    from mirage.shell.builtins.help import TOPICS

    return list(TOPICS)


def _set_options() -> list[str]:
    from mirage.shell.state_options import NAMES

    return list(NAMES)


_SOURCES: dict[str, Callable[[Shell], Iterable[str]]] = {
    "alias": lambda sh: sorted(sh.aliases),
    "arrayvar": lambda sh: _variables(sh, arrays=True),
    "binding": lambda sh: (),
    "builtin": lambda sh: table.NAMES,
    "disabled": lambda sh: [name for name in table.NAMES if not table.is_enabled(sh, name)],
    "enabled": lambda sh: [name for name in table.NAMES if table.is_enabled(sh, name)],
    "export": lambda sh: _variables(sh, exported=True),
    "function": lambda sh: sorted(sh.functions),
    "group": lambda sh: sorted(sh.machine.groups.values()),
    "helptopic": lambda sh: _help_topics(),
    "hostname": lambda sh: ("localhost",),
    "job": lambda sh: _job_texts(sh, "job"),
    "keyword": lambda sh: _keywords(),
    "running": lambda sh: _job_texts(sh, "running"),
    "service": lambda sh: (),
    "setopt": lambda sh: _set_options(),
    "shopt": lambda sh: sh.shopt,
    "signal": lambda sh: _signal_names(),
    "stopped": lambda sh: _job_texts(sh, "stopped"),
    "user": lambda sh: sorted(name for name, _ in sh.machine.users.values()),
    "variable": lambda sh: _variables(sh),
}


def _generate(sh: Shell, action: str, word: str) -> list[str]:
    if action == "file":
        return _files(sh, word)
    if action == "directory":
        return _files(sh, word, True)
    if action == "command":
        return _commands(sh, word)
    return [name for name in _SOURCES[action](sh) if name.startswith(word)]


# --------------------------------------------------------------------------------------------------- complete


def _table(sh: Shell) -> dict[str, Specification]:
    found: dict[str, Specification] = sh.extra.setdefault("completions", {})
    return found


def _line(name: str, spec: Specification) -> str:
    words = ["complete"]
    words += [f"-o {option}" for option in _OPTIONS if option in spec.options]
    letters = {action: letter for letter, action in _LETTERS.items()}
    words += [f"-{letters[action]}" for action in sorted(set(spec.actions) & letters.keys(), key=letters.__getitem__)]
    words += [f"-A {action}" for action in _ACTIONS if action in spec.actions and action not in letters]
    for letter in _WITH_VALUE:
        if letter in spec.values:
            value = spec.values[letter]
            words.append(f"-{letter} {value if letter == 'F' else quoting.single(value) if value else chr(39) * 2}")
    words.append(name)
    return " ".join(words) + "\n"


def builtin_complete(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "complete", args, "abcdefgjksuvo:A:G:W:P:S:X:F:C:prDEI")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    letters = [letter for letter, _ in options]
    completions = _table(sh)
    names = [_SPECIAL_NAMES[letter] for letter in letters if letter in _SPECIAL_NAMES][:1] or words
    if "r" in letters:
        if not names:
            completions.clear()
            return 0
        status = 0
        for name in names:
            if completions.pop(name, None) is None:
                sh.builtin_error("complete", f"{name}: no completion specification")
                status = 1
        return status
    if "p" in letters or (not options and not words):
        status = 0
        lines = []
        for name in names or completions:
            if name in completions:
                lines.append(_line(name, completions[name]))
            else:
                sh.builtin_error("complete", f"{name}: no completion specification")
                status = 1
        sh.out(encode("".join(lines)))
        return status
    spec = _read(sh, "complete", options)
    if spec is None:
        return USAGE_STATUS
    if not names:
        return usage(sh, "complete")
    for name in names:
        completions[name] = spec
    return 0


def builtin_compopt(sh: Shell, args: Sequence[str]) -> int:
    """`compopt [-o|+o option] name ...`: change the options of specifications."""
    add: list[str] = []
    remove: list[str] = []
    names: list[str] = []
    words = list(args)
    while words:
        word = words.pop(0)
        if word in ("-o", "+o"):
            if not words:
                sh.builtin_error("compopt", f"{word}: option requires an argument")
                return usage(sh, "compopt")
            option = words.pop(0)
            if option not in _OPTIONS:
                sh.builtin_error("compopt", f"{option}: invalid option name")
                return USAGE_STATUS
            (add if word == "-o" else remove).append(option)
        elif word in ("-D", "-E", "-I"):
            names = [word]
        elif word[:1] == "-" and word != "--":
            sh.builtin_error("compopt", f"{word[:2]}: invalid option")
            return usage(sh, "compopt")
        else:
            names += [word] if word != "--" else []
    if not names:
        sh.builtin_error("compopt", "not currently executing completion function")
        return 1
    status = 0
    completions = _table(sh)
    for name in names:
        spec = completions.get(name)
        if spec is None:
            sh.builtin_error("compopt", f"{name}: no completion specification")
            status = 1
        elif add or remove:
            spec.options = [option for option in (*spec.options, *add) if option not in remove]
        else:
            states = " ".join(f"{'-' if option in spec.options else '+'}o {option}" for option in _OPTIONS)
            sh.out(encode(f"compopt {states} {name}\n"))
    return status


def builtin_bind(sh: Shell, args: Sequence[str]) -> int:
    """There is no line editor whose keys could be bound."""
    sh.builtin_error("bind", "warning: line editing not enabled")
    parsed = getopt(sh, "bind", args, "lvpVPsSXf:q:u:m:r:x:")
    return USAGE_STATUS if parsed is None else 0
