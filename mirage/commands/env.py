"""env: run a program in a changed environment, or print the environment."""
from __future__ import annotations

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode
from mirage.commands._text import fatal, quote, shell_quote
from mirage.process.signals import NUMBERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("iS:u:C:v0a:", {
    "ignore-environment": ("i", NONE), "null": ("0", NONE), "unset": ("u", REQUIRED), "chdir": ("C", REQUIRED),
    "split-string": ("S", REQUIRED), "debug": ("v", NONE), "argv0": ("a", REQUIRED),
    "default-signal": ("default", OPTIONAL), "ignore-signal": ("ignore", OPTIONAL),
    "block-signal": ("block", OPTIONAL), "list-signal-handling": ("list", NONE)},
    help="Usage: NAME [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]\n"
         "Set each NAME to VALUE in the environment and run COMMAND.\n", status=125, permute=False)


def main(proc: Process) -> int:
    args = proc.argv[1:]
    for _ in range(20):
        options, operands = parse(proc, SPEC, args)
        at = next((n for n, (key, _) in enumerate(options) if key == "S"), None)
        if at is None:
            break
        args = [*_again(options[:at]), *split_string(proc, options[at][1]), *_again(options[at + 1:]), *operands]
    environment = dict(proc.env)
    end, folder, argv0 = b"\n", None, None
    ignored: set[int] = set()
    defaults: set[int] = set()
    for key, value in options:
        if key == "i":
            environment.clear()
    for key, value in options:
        if key == "u":
            if not value or "=" in value:
                raise fatal(proc, f"cannot unset {quote(proc, value)}: Invalid argument", 125)
            environment.pop(value, None)
        elif key == "0":
            end = b"\0"
        elif key == "C":
            folder = value
        elif key == "a":
            argv0 = value
        elif key in ("ignore", "default"):
            (ignored if key == "ignore" else defaults).update(_signals(proc, value))
    if operands and operands[0] == "-":
        environment.clear()
        operands.pop(0)
    while operands and "=" in operands[0]:
        name, _, value = operands.pop(0).partition("=")
        environment[name] = value
    if not operands:
        if folder is not None:
            raise usage_error(proc, SPEC, "must specify command with --chdir (-C)")
        for name, value in environment.items():
            proc.stdout.write(encode(f"{name}={value}") + end)
        return 0
    if end == b"\0":
        raise usage_error(proc, SPEC, "cannot specify --null (-0) with command")
    return _run(proc, operands, environment, folder, argv0, ignored, defaults)


def _run(proc: Process, argv: list[str], environment: dict[str, str], folder: str | None, argv0: str | None,
         ignored: set[int], defaults: set[int]) -> int:
    cwd = None
    if folder is not None:
        try:
            if not proc.fs.stat(folder).is_dir:
                raise fatal(proc, f"cannot change directory to {shell_quote(folder, True)}: Not a directory", 125)
        except OSError as e:
            raise fatal(proc, f"cannot change directory to {shell_quote(folder, True)}: {e.strerror}", 125) from None
        cwd = proc.fs.abspath(folder)
    if ignored or defaults:
        proc.ignored = (proc.ignored | ignored) - defaults
    proc.flush()
    old_env, old_cwd = proc.env, proc.cwd
    proc.env = environment
    if cwd is not None:
        proc.cwd = cwd
    try:
        child = proc.spawn(argv, env=environment, cwd=cwd)
    except OSError as e:
        proc.env, proc.cwd = old_env, old_cwd
        status = 127 if isinstance(e, FileNotFoundError) else 126
        proc.fail(quote(proc, argv[0]), e)
        if " " in argv[0] and status == 127:
            proc.message("use -[v]S to pass options in shebang lines")
        return status
    if argv0 is not None:
        child.argv[0] = argv0
    return proc.wait(child)


def _again(options: list[tuple[str, str]]) -> list[str]:
    """Parsed options as arguments again."""
    out: list[str] = []
    for key, value in options:
        name = {"default": "default-signal", "ignore": "ignore-signal", "block": "block-signal",
                "list": "list-signal-handling"}.get(key)
        if name:
            out.append(f"--{name}" + (f"={value}" if value else ""))
        elif key in "uCa":
            out += [f"-{key}", value]
        else:
            out.append(f"-{key}")
    return out


def _signals(proc: Process, text: str) -> set[int]:
    if not text:
        return set(NUMBERS.values())
    found = set()
    for name in text.split(","):
        number = int(name) if name.isdecimal() else NUMBERS.get(name.upper().removeprefix("SIG"))
        if number is None:
            raise usage_error(proc, SPEC, f"{quote(proc, name)}: invalid signal")
        found.add(number)
    return found


def split_string(proc: Process, text: str) -> list[str]:
    """`-S`: split into words with quotes, backslash escapes and ${NAME}."""
    words: list[str] = []
    word: list[str] | None = None
    quoted = ""
    i = 0
    while i < len(text):
        char = text[i]
        i += 1
        if quoted == "'" and char != "'" and not (char == "\\" and text[i:i + 1] in ("'", "\\")):
            assert word is not None
            word.append(char)
        elif char in "'\"" and (not quoted or quoted == char):
            quoted = "" if quoted else char
            word = word if word is not None else []
        elif char in " \t\n\v\f\r" and not quoted:
            if word is not None:
                words.append("".join(word))
                word = None
        elif char == "#" and word is None and not quoted:
            break
        elif char == "\\":
            if i >= len(text):
                raise fatal(proc, "invalid backslash at end of string in -S", 125)
            escape = text[i]
            i += 1
            word = word if word is not None else []
            if escape == "c":
                if quoted:
                    raise fatal(proc, "'\\c' must not appear in double-quoted -S string", 125)
                break
            if escape == "_":
                if quoted:
                    word.append(" ")
                else:
                    if word:
                        words.append("".join(word))
                    word = None
            elif escape in "fnrtv":
                word.append({"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}[escape])
            elif escape in "\"#$'\\":
                word.append(escape)
            else:
                raise fatal(proc, f"invalid sequence '\\{escape}' in -S", 125)
        elif char == "$" and quoted != "'":
            close = text.find("}", i)
            name = text[i + 1:close]
            if not text.startswith("{", i) or close < 0 or not name.isidentifier():
                raise fatal(proc, f"only ${{VARNAME}} expansion is supported, error at: {text[i - 1:]}", 125)
            word = (word or []) + list(proc.env.get(name, ""))
            i = close + 1
        else:
            word = word if word is not None else []
            word.append(char)
    if quoted:
        raise fatal(proc, "no terminating quote in -S string", 125)
    if word is not None:
        words.append("".join(word))
    return words
