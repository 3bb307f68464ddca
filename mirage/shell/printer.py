"""Tree to text, laid out as bash does: `declare -f`, `type`, `$BASH_COMMAND`, job lists.

The layout follows bash 5.2 byte for byte, oddities included (``{ `` with a trailing blank, here-documents
held back to the end of their line). Words come out as they were written; commands in ``$(...)`` are laid out
again, as bash does when it reads them.
"""

from __future__ import annotations

import re

from mirage.shell import ast
from mirage.shell.words import ansi_c, skip_ansi_c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mirage.shell.ast import Command, Commands, Part, Test

_INDENT = 4
_OPERATOR_OF = re.compile(r"!?(?:[A-Za-z0-9_]+|[@*?$!#-])(?:\[[^]]*\])?[#%/^,]")
_RESERVED = frozenset(
    ("if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done",
     "function", "time", "{", "}", "!", "[[", "]]", "coproc", "in")
)  # fmt: skip


def function_text(node: ast.Function, name: str | None = None) -> str:
    """A function as ``declare -f`` prints it, without the last newline."""
    name = node.name if name is None else name
    printer = _Printer()
    printer.put(f"function {name} () \n" if name in _RESERVED else f"{name} () \n")
    printer.function_body(node.body)
    return printer.result()


def command_text(node: Command | Commands) -> str:
    """A command (or commands) outside of a function, as `$BASH_COMMAND` and job lists show it."""
    printer = _Printer()
    printer.commands(node if isinstance(node, tuple) else (node,))
    return printer.result()


def substitution_text(body: Commands) -> str:
    """The inside of ``$(...)``."""
    printer = _Printer(substitution=True)
    printer.commands(body)
    text = printer.result()
    return " " + text if text.startswith("(") else text


def word_text(word: ast.Word | ast.Assign) -> str:
    """A word as bash keeps it: as written, with substituted commands laid out again."""
    if type(word) is ast.Assign:
        return _assign_text(word)
    assert type(word) is ast.Word
    text = word.text
    if "$" not in text and "(" not in text:
        return text
    return _rewritten(text, _substitutions(word.parts))


def redirection_text(redir: ast.Redir) -> str:
    """A redirection; a here-document without its body."""
    return _redirection(redir)


def single_quoted(text: str) -> str:
    """The text in single quotes, as bash writes it."""
    return "'" + text.replace("'", "'\\''") + "'"


class _Printer:
    """Output and the state that bash keeps while it prints."""

    def __init__(self, substitution: bool = False) -> None:
        self.out: list[str] = []
        self.last = ""  # the last character written
        self.indent = 0
        self.skip = False  # the next command stands on the line already begun
        self.functions = 0  # how many function bodies we are in
        self.connections = 0
        self.deferred: list[ast.HereDoc] = []
        self.was_heredoc = False
        self.substitution = substitution

    def result(self) -> str:
        return "".join(self.out)

    def put(self, text: str) -> None:
        if text:
            self.out.append(text)
            self.last = text[-1]

    def newline(self, text: str) -> None:
        self.put("\n" + " " * self.indent + text)

    def semicolon(self) -> None:
        if self.last not in ("&", "\n"):
            self.put(";")

    # ------------------------------------------------------------------------------------------------- lists

    def commands(self, items: Commands) -> None:
        """A list. bash holds it as a left-leaning tree of connections."""
        size = len(items)
        if not size:
            return
        breaks = items.breaks if isinstance(items, ast.Lines) else frozenset()
        alone = size == 1 and type(items[0]) is not ast.Background
        self.begin()
        if not alone:
            self.connections += 1
        for index, item in enumerate(items):
            background = type(item) is ast.Background
            self.skip = self.skip or index == 0
            self.command(item.cmd if type(item) is ast.Background else item)
            if index:
                self.heredocs("")
            last = index == size - 1
            if background:
                self.heredocs(" &")
                if not last:
                    self.put(" ")
                    self.skip = True
            elif not last:
                self.separate("\n" if index in breaks else ";")
        if not alone:
            self.heredocs("")
            self.connections -= 1

    def separate(self, separator: str) -> None:
        if self.deferred:
            self.heredocs("" if self.functions else ";")
        elif self.was_heredoc:
            self.was_heredoc = False
        elif separator == ";" or not self.substitution or self.functions:
            self.put(";")
        if self.functions:
            self.put("\n")
        else:
            if separator == ";":
                self.put(" ")
            elif self.substitution and self.last != "\n":
                self.put("\n")
            self.skip = True

    def begin(self) -> None:
        """Indent, unless the line has already begun."""
        if self.skip:
            self.skip = False
        else:
            self.put(" " * self.indent)

    def heredocs(self, text: str) -> None:
        """Write ``text`` and then the bodies of the here-documents held back."""
        shown = text if text != ";" else ""
        self.put(shown)
        if self.deferred:
            self.bodies(self.deferred)
            self.deferred = []
            if shown:
                self.put(" ")

    def bodies(self, documents: Iterable[ast.HereDoc]) -> None:
        self.put("\n")
        for document in documents:
            self.put(document.text)
            self.put(document.delim + "\n")
        self.was_heredoc = True

    # ---------------------------------------------------------------------------------------------- commands

    def command(self, node: Command) -> None:
        """One command."""
        kind = type(node)
        if kind is ast.AndOr or kind is ast.Pipeline:
            self.connection(node)
            return
        self.begin()
        self.bare(node)

    def connection(self, node: Command) -> None:
        if type(node) is ast.AndOr:
            self.begin()
            self.connections += 1
            self.skip = True
            self.command(node.first)
            for operator, command in node.rest:
                self.heredocs(f" {operator} ")
                self.skip = True
                self.command(command)
                self.heredocs("")
            self.connections -= 1
        elif type(node) is ast.Pipeline:
            self.begin()
            if node.timed:
                self.put("time -p " if node.timed == "p" else "time ")
            if node.negated:
                self.put("! ")
            if len(node.cmds) == 1:
                self.skip = True
                self.command(node.cmds[0])
            elif node.cmds:
                self.pipes(node)

    def pipes(self, node: ast.Pipeline) -> None:
        self.connections += 1
        for index, command in enumerate(node.cmds):
            both = index < len(node.pipes) and node.pipes[index] == "|&"
            self.skip = True
            self.command(command)
            if both:
                simple = type(command) is ast.Simple
                self.put(" 2>&1" if simple or hasattr(command, "redirs") else "")
            if index:
                self.heredocs("")
            if index < len(node.pipes):
                self.heredocs(" |")
                self.put(" ")
        self.heredocs("")
        self.connections -= 1

    def bare(self, node: Command) -> None:
        """A command without its indentation."""
        if type(node) is ast.Simple:
            self.simple(node)
        elif type(node) is ast.Function:
            self.was_heredoc = False
            self.put(f"function {node.name} () \n" + " " * self.indent)
            self.function_body(node.body)
        elif type(node) is ast.Coproc:
            # bash 5.2.37 leaves the name out before a simple command, which cannot have one
            self.put("coproc " if type(node.body) is ast.Simple else f"coproc {node.name} ")
            self.skip = True
            self.command(node.body)
        elif type(node) is ast.Background:
            self.commands((node,))
        else:
            self.compound(node)
            redirs: tuple[ast.Redir, ...] = getattr(node, "redirs", ())
            if redirs:
                self.put(" ")
                self.redirections(redirs)

    def simple(self, node: ast.Simple) -> None:
        words = [_assign_text(assign) for assign in node.assigns]
        words.extend(word_text(word) for word in node.words)
        self.put(" ".join(words))
        if node.redirs:
            if words:
                self.put(" ")
            self.redirections(node.redirs)

    def compound(self, node: Command) -> None:
        """A compound command without its redirections."""
        kind = type(node)
        if type(node) is ast.For:
            self.loop_head("for", node.var, node.words)
            self.loop_body(node.body)
        elif type(node) is ast.Select:
            self.loop_head("select", node.var, node.words)
            self.loop_body(node.body)
        elif type(node) is ast.ArithFor:
            parts = [_arith_text(expression) or "1" for expression in (node.init, node.cond, node.step)]
            self.put(f"for (({'; '.join(parts)}))")
            self.loop_body(node.body)
        elif type(node) is ast.While:
            self.put("until " if node.until else "while ")
            self.skip = True
            self.commands(node.cond)
            self.heredocs("")
            self.semicolon()
            self.put(" do\n")
            self.indented(node.body)
            self.semicolon()
            self.newline("done")
        elif type(node) is ast.If:
            self.conditional(node.clauses, node.orelse)
        elif type(node) is ast.Case:
            self.case(node)
        elif type(node) is ast.Group:
            self.group(node.body)
        elif type(node) is ast.Subshell:
            self.put("( ")
            self.skip = True
            self.commands(node.body)
            self.heredocs("")
            self.put(" )")
        elif type(node) is ast.Cond:
            self.put(f"[[ {_test_text(node.expr)} ]]")
        elif type(node) is ast.ArithCmd:
            self.put(f"(({_arith_text(node.arith)}))")
        else:
            raise TypeError(kind.__name__)

    def loop_head(self, keyword: str, var: str, words: tuple[ast.Word, ...] | None) -> None:
        listed = '"$@"' if words is None else " ".join(map(word_text, words))
        self.put(f"{keyword} {var} in {listed};")

    def loop_body(self, body: Commands) -> None:
        self.newline("do\n")
        self.indented(body)
        self.semicolon()
        self.newline("done")

    def indented(self, body: Commands) -> None:
        self.indent += _INDENT
        self.commands(body)
        self.heredocs("")
        self.indent -= _INDENT

    def conditional(self, clauses: tuple[tuple[Commands, Commands], ...], orelse: Commands | None) -> None:
        """``elif`` comes out as an ``if`` inside ``else``."""
        depth = 0
        for index, (test, body) in enumerate(clauses):
            if index:
                self.semicolon()
                self.newline("else\n")
                self.indent += _INDENT
                self.put(" " * self.indent)
                depth += 1
            self.put("if ")
            self.skip = True
            self.commands(test)
            self.heredocs("")
            self.semicolon()
            self.put(" then\n")
            self.indented(body)
        if orelse is not None:
            self.semicolon()
            self.newline("else\n")
            self.indented(orelse)
        self.semicolon()
        self.newline("fi")
        for _ in range(depth):
            self.indent -= _INDENT
            self.semicolon()
            self.newline("fi")

    def case(self, node: ast.Case) -> None:
        self.put(f"case {word_text(node.word)} in ")
        self.indent += _INDENT
        for clause in node.clauses:
            self.newline(" | ".join(map(word_text, clause.patterns)) + ")\n")
            self.indented(clause.body)
            self.newline(clause.term)
        self.indent -= _INDENT
        self.newline("esac")

    def group(self, body: Commands) -> None:
        self.put("{ ")
        if not self.functions:
            self.skip = True
            self.commands(body)
            self.heredocs("")
            self.semicolon()
            self.put(" }")
            return
        self.put("\n")
        self.indented(body)
        self.newline("}")

    def function_body(self, body: Command) -> None:
        self.put("{ \n")
        self.functions += 1
        self.indent += _INDENT
        redirs: tuple[ast.Redir, ...] = ()
        if type(body) is ast.Group:
            redirs = body.redirs
            self.commands(body.body)
        else:
            self.command(body)
        self.heredocs("")
        self.indent -= _INDENT
        self.functions -= 1
        self.newline("} " if redirs else "}")
        if redirs:
            self.redirections(redirs)
        self.was_heredoc = False

    # ------------------------------------------------------------------------------------------ redirections

    def redirections(self, redirs: tuple[ast.Redir, ...]) -> None:
        self.was_heredoc = False
        self.put(" ".join(map(_redirection, redirs)))
        documents = [redir.target for redir in redirs if type(redir.target) is ast.HereDoc]
        if documents and self.connections:
            self.deferred = documents
        elif documents:
            self.bodies(documents)


def _redirection(redir: ast.Redir) -> str:
    target, op, fd = redir.target, redir.op, redir.fd
    named = f"{{{fd}}}" if isinstance(fd, str) else ""
    number = fd if isinstance(fd, int) else None
    if type(target) is ast.HereDoc:
        delimiter = single_quoted(target.delim) if target.quoted else target.delim
        return f"{named or (number or '')}{op}{delimiter}"
    assert type(target) is ast.Word
    text = word_text(target)
    if op in ("&>", "&>>"):
        return f"{op} {text}"
    if op in ("<&", ">&"):
        return _duplication(named, number, op, text)
    default = 1 if op in (">", ">>", ">|", "<>") else 0
    number = (0 if op[0] == "<" else 1) if number is None else number
    return f"{named or ('' if number == default else number)}{op} {text}"


def _duplication(named: str, number: int | None, op: str, text: str) -> str:
    default = 1 if op == ">&" else 0
    number = default if number is None else number
    if text == "-":
        return f"{named or number}>&-"
    moved = text[:-1] if text.endswith("-") else text
    if moved.isdigit() or (moved != text and moved):
        return f"{named or number}{op}{text}"
    return f"{named or ('' if number == default else number)}{op}{text}"


# ----------------------------------------------------------------------------------------------- words, tests


def _arith_text(arith: ast.Arith) -> str:
    return _rewritten(arith.word.text, _substitutions(arith.word.parts))


def _test_text(test: Test) -> str:
    inverted = False
    while type(test) is ast.CNot:
        inverted = not inverted
        test = test.arg
    sign = "! " if inverted else ""
    if type(test) is ast.CGroup:
        return f"{sign}( {_test_text(test.arg)} )"
    if type(test) is ast.CLog:
        return f"{_test_text(test.left)} {test.op} {_test_text(test.right)}"
    if type(test) is ast.CBin:
        return f"{sign}{word_text(test.left)} {test.op} {word_text(test.right)}"
    if type(test) is ast.CUn:
        return f"{sign}{test.op} {word_text(test.arg)}"
    assert type(test) is ast.CWord
    return f"{sign}-n {word_text(test.word)}"


def _assign_text(assign: ast.Assign) -> str:
    value = assign.value
    if type(value) is ast.ArrayLit:
        key = f"[{word_text(assign.sub.word)}]" if assign.sub else ""
        return f"{assign.name}{key}{assign.op}({' '.join(map(_item_text, value.items))})"
    assert type(value) is ast.Word
    parts = value.parts if assign.sub is None else assign.sub.word.parts + value.parts
    return _rewritten(assign.text, _substitutions(parts))


def _item_text(item: ast.ArrayItem) -> str:
    sub, op, word = item
    return word_text(word) if sub is None else f"[{word_text(sub.word)}]{op}{word_text(word)}"


def _substitutions(parts: Iterable[Part]) -> list[ast.CmdSub | ast.ProcSub]:
    """The outermost command and process substitutions, in source order."""
    found: list[ast.CmdSub | ast.ProcSub] = []
    for part in parts:
        if type(part) is ast.CmdSub or type(part) is ast.ProcSub:
            found.append(part)
        elif type(part) is ast.DQuote:
            found.extend(_substitutions(part.parts))
        elif type(part) is ast.Arith:
            found.extend(_substitutions(part.word.parts))
        elif type(part) is ast.Brace:
            for word in part.alts:
                found.extend(_substitutions(word.parts))
        elif type(part) is ast.Param:
            if part.sub is not None:
                found.extend(_substitutions(part.sub.word.parts))
            for arg in (part.arg, part.arg2):
                if type(arg) is ast.Word:
                    found.extend(_substitutions(arg.parts))
                elif type(arg) is ast.Arith:
                    found.extend(_substitutions(arg.word.parts))
    return found


def _rewritten(text: str, substitutions: list[ast.CmdSub | ast.ProcSub]) -> str:
    """The source of a word with its substitutions laid out again and ``$'..'`` decoded, as bash keeps it."""
    pieces: list[str] = []
    quotes = _Quotes()
    pos = 0
    for part in substitutions:
        at = text.find(part.text, pos)
        if at < 0:
            continue
        pieces.append(quotes.decoded(text[pos:at]))
        if type(part) is ast.CmdSub and (part.backtick or part.text.startswith("$((")):
            pieces.append(part.text)
        else:
            lead = part.dir if type(part) is ast.ProcSub else "$"
            pieces.append(f"{lead}({substitution_text(part.body)})")
        pos = at + len(part.text)
    pieces.append(quotes.decoded(text[pos:]))
    return "".join(pieces)


class _Quotes:
    """Decodes ``$'..'`` and ``$".."`` in the source of a word, piece by piece."""

    def __init__(self) -> None:
        self.double = False
        self.outer: list[bool] = []  # the same outside of each ${ } that is open

    def decoded(self, text: str) -> str:
        out: list[str] = []
        pos = 0
        while pos < len(text):
            piece, pos = self.step(text, pos)
            out.append(piece)
        return "".join(out)

    def step(self, text: str, pos: int) -> tuple[str, int]:
        """The next bit of output, and the position after its source."""
        char = text[pos]
        end = pos + 1
        if char == "\\":
            end = pos + 2
        elif char == '"':
            self.double = not self.double
        elif char == "'" and not self.double:
            end = text.find("'", pos + 1) + 1 or len(text)
        elif char == "}" and self.outer:
            self.double = self.outer.pop()
        elif char == "$":
            following = text[pos + 1 : pos + 2]
            if following == "{":
                self.outer.append(self.double)
                if _OPERATOR_OF.match(text, pos + 2):
                    self.double = False  # patterns have quotes of their own
                end = pos + 2
            elif following == "'" and not self.double:
                stop = skip_ansi_c(text, pos + 2)
                return single_quoted(ansi_c(text[pos + 2 : stop])), stop + 1
            elif following == '"' and not self.double:
                return "", end
        return text[pos:end], end
