"""`select`: a menu on standard error, the answer from standard input."""
from __future__ import annotations

from mirage.shell.control import Break, Continue
from mirage.shell.exec.compile import announce, compile_commands
from mirage.shell.exec.traps import failed, slow_tick
from mirage.shell.expand import compile_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell import ast
    from mirage.shell.exec.compile import Run
    from mirage.shell.state import Shell

_TAB = 8


def compile_select(node: ast.Select) -> Run:
    name = node.var
    words = compile_words(node.words) if node.words is not None else None
    body = compile_commands(node.body)
    line = node.line
    head = ""

    def run(sh: Shell) -> int:
        nonlocal head
        sh.line = line
        if sh.traps or sh.options.xtrace:
            if not head:
                from mirage.shell.printer import word_text
                head = f"select {name} in " + ('"$@"' if node.words is None else " ".join(map(word_text, node.words)))
            sh.command = head
            announce(sh, head, line)
        if not (name.isascii() and name.isidentifier()):
            sh.error(f"`{name}': not a valid identifier")
            sh.status = 1
            return failed(sh, 1, line)
        values = words(sh) if words is not None else sh.positional.copy()
        sh.status = 0
        if not values:
            return 0
        sh.loop_depth += 1
        try:
            return _turns(sh, name, values, body)
        finally:
            sh.loop_depth -= 1
    return run


def _turns(sh: Shell, name: str, values: Sequence[str], body: Run) -> int:
    status = 0
    show = True
    while True:
        slow_tick(sh)
        answer = _ask(sh, values, show)
        if answer is None:
            sh.out(b"\n")
            sh.status = 1
            return 1
        sh.set("REPLY", answer)
        if not answer.strip():
            show = True
            continue
        choice = answer.strip()
        number = int(choice) if choice.isascii() and choice.isdecimal() and len(choice) < 9 else 0
        sh.set(name, values[number - 1] if 1 <= number <= len(values) else "")
        show = False
        try:
            status = body(sh)
        except Continue as e:
            if e.levels > 1 and sh.loop_depth > 1:
                e.levels -= 1
                raise
        except Break as e:
            if e.levels > 1 and sh.loop_depth > 1:
                e.levels -= 1
                raise
            sh.status = 0
            return 0
        show = not sh.get("REPLY")
        sh.status = status


def _ask(sh: Shell, values: Sequence[str], show: bool) -> str | None:
    if show:
        sh.proc.write_error(menu(values, _width(sh.get("COLUMNS"))))
    prompt = sh.get("PS3")
    sh.proc.write_error("#? " if prompt is None else prompt)
    data = sh.proc.stdin.readline()
    if not data.endswith(b"\n"):
        return None
    return data[:-1].decode("utf-8", "surrogateescape")


def _width(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 6 else 80


def menu(values: Sequence[str], width: int) -> str:
    """The numbered list in columns, as bash's print_select_list lays it out."""
    count = len(values)
    digits = len(str(count))
    longest = max(len(value) for value in values) + digits + 2 + 2
    columns = min(width // longest if longest < width else 1, count) or 1
    rows = -(-count // columns)
    columns = -(-count // rows)
    if rows == 1:
        rows, columns = columns, 1
    first = len(str(rows))
    out = []
    for row in range(rows):
        position = 0
        line = ""
        for index in range(row, count, rows):
            text = f"{index + 1:{first if position == 0 else digits}}) {values[index]}"
            line += text
            length = len(values[index]) + (first if position == 0 else digits) + 2
            if index + rows >= count:
                break
            line += _indent(position + length, position + longest)
            position += longest
        out.append(line + "\n")
    return "".join(out)


def _indent(start: int, to: int) -> str:
    """Tabs and blanks from one column to another, as bash writes them."""
    out = ""
    while start < to:
        if to // _TAB > start // _TAB:
            out += "\t"
            start += _TAB - start % _TAB
        else:
            out += " "
            start += 1
    return out
