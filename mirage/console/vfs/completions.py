"""`vfs completions`: what a shell needs to complete `vfs`, and the lines in its start-up file that load it."""
from __future__ import annotations

import os
from pathlib import Path

from mirage.console.vfs.commands import SHELLS, build
from mirage.console.vfs.model import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.console.vfs.model import Command, Parsed

BEGIN, END = "# >>> vfs completions >>>", "# <<< vfs completions <<<"
RC = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/completions/vfs.fish",
      "elvish": ".config/elvish/rc.elv", "power-shell": ".config/powershell/profile.ps1"}


def _commands(command: Command, before: str = "") -> list[tuple[str, list[str]]]:
    """("fs ls", words that may follow)."""
    words = [c.name for c in command.commands] + [o.long for o in command.options] + ["--help"]
    found = [(before, words)]
    for below in command.commands:
        found.extend(_commands(below, f"{before} {below.name}".strip()))
    return found


def script(shell: str) -> str:
    """The completion of one shell."""
    table = _commands(build())
    if shell in ("bash", "zsh"):
        cases = "\n".join(f"    '{name}') words='{' '.join(words)}' ;;" for name, words in table)
        start = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
        names = "|".join(sorted({part for name, _ in table for part in name.split()}))
        return (f"{start}_vfs() {{\n  local path='' word words='' i\n  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                f"    word=${{COMP_WORDS[i]}}\n"
                f"    case $word in {names}) path=\"${{path:+$path }}$word\" ;; esac\n  done\n"
                f"  case $path in\n{cases}\n  esac\n"
                "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
                "complete -o default -F _vfs vfs\n")
    root = build()
    if shell == "fish":
        lines = [f"complete -c vfs -n __fish_use_subcommand -a {c.name} -d '{_quoted(c.about)}'" for c in root.commands]
        for command in root.commands:
            seen = f"__fish_seen_subcommand_from {command.name}"
            lines.extend(f"complete -c vfs -n '{seen}' -a {c.name} -d '{_quoted(c.about)}'" for c in command.commands)
            lines.extend(f"complete -c vfs -n '{seen}' -l {o.long[2:]} -d '{_quoted(o.help)}'" for o in command.options)
        return "\n".join(lines) + "\n"
    if shell == "elvish":
        cases = "\n".join(f"  &'{name}'=[{' '.join(words)}]" for name, words in table)
        return ("set edit:completion:arg-completer[vfs] = {|@words|\n  var table = [\n" + cases + "\n  ]\n"
                "  var path = ''\n  for word $words[1..-1] {\n    var next = (str:trim-left $path' '$word ' ')\n"
                "    if (has-key $table $next) { set path = $next }\n  }\n  all $table[$path]\n}\n")
    cases = "\n".join(f"    '{name}' = @({', '.join(repr(w) for w in words)})" for name, words in table)
    return ("Register-ArgumentCompleter -Native -CommandName vfs -ScriptBlock {\n"
            "  param($word, $ast, $position)\n  $table = @{\n" + cases + "\n  }\n  $path = ''\n"
            "  foreach ($e in $ast.CommandElements | Select-Object -Skip 1) {\n    $next = \"$path $e\".Trim()\n"
            "    if ($table.ContainsKey($next)) { $path = $next }\n  }\n"
            "  $table[$path] | Where-Object { $_ -like \"$word*\" }\n}\n")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _shell(parsed: Parsed) -> str:
    named: str | None = parsed.get("SHELL")
    name = named or os.path.basename(os.environ.get("SHELL", ""))
    name = "power-shell" if name in ("pwsh", "powershell") else name
    if name not in SHELLS:
        raise Failure(f"unknown shell '{name}'; name one of {', '.join(SHELLS)}")
    return name


def install(parsed: Parsed) -> int:
    shell = _shell(parsed)
    path = Path.home() / RC[shell]
    text = _without(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}{BEGIN}\n{script(shell)}{END}\n")
    print(f"Installed completions for {shell} in {path}")
    return 0


def uninstall(parsed: Parsed) -> int:
    shell = _shell(parsed)
    path = Path.home() / RC[shell]
    if not path.exists() or BEGIN not in path.read_text():
        print(f"No completions for {shell} in {path}")
        return 0
    path.write_text(_without(path))
    print(f"Removed completions for {shell} from {path}")
    return 0


def _without(path: Path) -> str:
    """The file's text without what install() put there."""
    text = path.read_text() if path.exists() else ""
    if BEGIN not in text:
        return text if not text or text.endswith("\n") else text + "\n"
    head, _, rest = text.partition(BEGIN)
    return head + rest.partition(END)[2].removeprefix("\n")


def show(parsed: Parsed) -> int:
    print("vfs completions install SHELL adds the completions to the start-up file of your shell:\n")
    for shell in SHELLS:
        print(f"  {shell:12} ~/{RC[shell]}")
    print("\nBy hand: put the output of\n"
          "  python -c 'from mirage.console.vfs.completions import script; print(script(\"bash\"))'\n"
          "into that file.")
    return 0
