"""help: one line about each builtin and compound command."""
from __future__ import annotations

from mirage.shell.builtins._common import USAGE_STATUS, encode, getopt
from mirage.shell.builtins._synopsis import SYNOPSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell

_COMPOUND: dict[str, str] = {
    "%": "job_spec [&]",
    "((": "(( expression ))",
    "[[": "[[ expression ]]",
    "case": "case WORD in [PATTERN [| PATTERN]...) COMMANDS ;;]... esac",
    "coproc": "coproc [NAME] command [redirections]",
    "for": "for NAME [in WORDS ... ] ; do COMMANDS; done",
    "for ((": "for (( exp1; exp2; exp3 )); do COMMANDS; done",
    "function": "function name { COMMANDS ; } or name () { COMMANDS ; }",
    "if": "if COMMANDS; then COMMANDS; [ elif COMMANDS; then COMMANDS; ]... [ else COMMANDS; ] fi",
    "select": "select NAME [in WORDS ... ;] do COMMANDS; done",
    "time": "time [-p] pipeline",
    "until": "until COMMANDS; do COMMANDS-2; done",
    "variables": "variables - Names and meanings of some shell variables",
    "while": "while COMMANDS; do COMMANDS-2; done",
    "{": "{ COMMANDS ; }",
}
_ABOUT: dict[str, str] = {
    "%": "Resume a job in the foreground.",
    "((": "Evaluate an arithmetic expression; success when it is not zero.",
    ".": "Run the commands of a file in the current shell.",
    ":": "Do nothing, successfully.",
    "[": "Evaluate a conditional expression; the last argument must be `]'.",
    "[[": "Evaluate a conditional expression with patterns and regular expressions.",
    "alias": "Define or show aliases.",
    "bg": "Continue jobs in the background.",
    "bind": "Bind keys of the line editor, which this terminal does not have.",
    "break": "Leave loops.",
    "builtin": "Run a builtin even if a function has its name.",
    "caller": "Show from where the current function was called.",
    "case": "Run the commands of the first pattern that matches a word.",
    "cd": "Change the current directory.",
    "command": "Run a command, not a function; or tell what a name is.",
    "compgen": "Show possible completions.",
    "complete": "Store how the arguments of commands are completed.",
    "compopt": "Change the options of stored completions.",
    "continue": "Go on with the next turn of a loop.",
    "coproc": "Run a command in the background with pipes to and from it.",
    "declare": "Set values and attributes of variables, or show them.",
    "dirs": "Show the directory stack.",
    "disown": "Take jobs out of the table of jobs.",
    "echo": "Write the arguments to standard output.",
    "enable": "Switch builtins on and off.",
    "eval": "Run the arguments as a command.",
    "exec": "Replace the shell with a command, or make redirections last.",
    "exit": "Leave the shell.",
    "export": "Pass variables on to the programs that are started.",
    "false": "Do nothing, unsuccessfully.",
    "fc": "Show or run again commands of the history.",
    "fg": "Continue a job in the foreground.",
    "for": "Run commands for each word of a list.",
    "for ((": "Run commands while an arithmetic expression is not zero.",
    "function": "Define a function.",
    "getopts": "Parse options of the positional parameters.",
    "hash": "Remember or show where programs are.",
    "help": "Tell about builtins.",
    "history": "Show or change the history.",
    "if": "Run commands depending on the status of others.",
    "jobs": "Show the jobs.",
    "kill": "Send a signal to processes or jobs.",
    "let": "Evaluate arithmetic expressions.",
    "local": "Make variables local to a function.",
    "logout": "Leave a login shell.",
    "mapfile": "Read lines into an array.",
    "popd": "Take directories from the directory stack.",
    "printf": "Write arguments according to a format.",
    "pushd": "Put directories on the directory stack.",
    "pwd": "Write the name of the current directory.",
    "read": "Read a line and split it into variables.",
    "readarray": "Read lines into an array.",
    "readonly": "Protect variables from change.",
    "return": "Leave a function or sourced file.",
    "select": "Let the user choose words from a list.",
    "set": "Set options and positional parameters, or show the variables.",
    "shift": "Drop positional parameters from the front.",
    "shopt": "Set or show options of the shell.",
    "source": "Run the commands of a file in the current shell.",
    "suspend": "Stop the shell, which this terminal refuses.",
    "test": "Evaluate a conditional expression.",
    "time": "Measure how long a pipeline takes.",
    "times": "Show how much time the shell has used.",
    "trap": "Run commands when signals and other events come.",
    "true": "Do nothing, successfully.",
    "type": "Tell what kind of command a name is.",
    "typeset": "Set values and attributes of variables; the same as `declare'.",
    "ulimit": "Set or show limits of resources.",
    "umask": "Set or show the mask of modes of new files.",
    "unalias": "Take away aliases.",
    "unset": "Take away variables and functions.",
    "until": "Run commands until others succeed.",
    "variables": "HOME, PATH, PWD, IFS and others have a meaning for the shell.",
    "wait": "Wait until processes end.",
    "while": "Run commands while others succeed.",
    "{": "Run commands as a group.",
}
TOPICS: tuple[str, ...] = tuple(sorted(_ABOUT))
_TITLES = {"((": "(( ... ))", "[[": "[[ ... ]]", "{": "{ ... }", "%": "%", "for ((": "for (("}


def _synopsis(name: str) -> str:
    return SYNOPSES.get(name) or _COMPOUND[name]


def _topics(pattern: str) -> list[str]:
    """By pattern; else by name; else by how names begin."""
    from mirage.text import pattern as patterns

    if patterns.has_magic(pattern) and pattern not in _ABOUT:
        matcher = patterns.compile(pattern)
        return [name for name in TOPICS if matcher.matches(name)]
    if pattern in _ABOUT:
        return [name for name in TOPICS if name == pattern or name == f"{pattern} (("]
    return [name for name in TOPICS if name.startswith(pattern)]


def builtin_help(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "help", args, "dms")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    letters = {letter for letter, _ in options}
    if not words:
        sh.out(encode(_overview()))
        return 0
    out: list[str] = []
    for word in words:
        names = _topics(word)
        if "*" in word or "?" in word:
            plural = "s" if len(words) > 1 else ""
            out.append(f"Shell commands matching keyword{plural} `{', '.join(words)}'\n\n")
        for name in names:
            title = _TITLES.get(name, name)
            if "d" in letters:
                out.append(f"{title} - {_ABOUT[name]}\n")
            elif "s" in letters:
                out.append(f"{title}: {_synopsis(name)}\n")
            elif "m" in letters:
                out.append(f"NAME\n    {title} - {_ABOUT[name]}\n\nSYNOPSIS\n    {_synopsis(name)}\n\n"
                           f"DESCRIPTION\n    {_ABOUT[name]}\n\nSEE ALSO\n    bash(1)\n\n")
            else:
                out.append(f"{title}: {_synopsis(name)}\n    {_ABOUT[name]}\n")
    sh.out(encode("".join(out)))
    if not any(_topics(word) for word in words):
        sh.builtin_error("help", f"no help topics match `{words[-1]}'.  Try `help help'.")
        return 1
    return 0


def _overview() -> str:
    lines = ["These commands are part of the shell.  `help NAME' tells more about NAME.", ""]
    lines += [f" {_synopsis(name)}" for name in TOPICS]
    return "\n".join(lines) + "\n"
