"""A generated case, and how to make the same one again."""
from __future__ import annotations

import random

from tests.differential.shell import ShellScripts
from tests.differential.tools import TOOLS, ToolRuns

LINES = 3                                                    # invocations in the script of a tool


class Case:
    """Lines of a script, the files it runs on, its standard input."""

    __slots__ = ("files", "kind", "lines", "stdin")

    def __init__(self, kind: str, lines: list[str], files: dict[str, bytes], stdin: bytes) -> None:
        self.kind, self.lines, self.files, self.stdin = kind, lines, files, stdin

    @property
    def script(self) -> str:
        return "\n".join(self.lines) + "\n"


def case(seed: int, number: int, only: str = "") -> Case:
    """Case `number` of a run; `only`: `shell`, `tools` (any of them) or a name of TOOLS."""
    rng = random.Random(f"{seed}/{number}")
    tools = ToolRuns(rng)
    shell = rng.random() < 0.5 if not only else only == "shell"
    kind = "shell" if shell else only if only not in ("", "tools") else rng.choice(list(TOOLS))
    files = tools.files()
    if kind == "shell":
        del files["j.json"], files["c.csv"], files["w.txt"], files["d/sub/deep.txt"]
        files.update({"a.txt": b"one\ntwo words\n", "B.txt": b"", ".hid": b"h\n", "d/.x": b"", "xé.txt": b"",
                      "s.sh": b'echo "s $#"\nreturn 3 2>/dev/null\nexit 4\n'})
        return Case(kind, ShellScripts(rng).lines(), files, tools.stdin())
    return Case(kind, [f'{tools.line(kind)}; echo "[$?]"' for _ in range(LINES)], files, tools.stdin())
