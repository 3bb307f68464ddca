"""The tree that the shell parser makes: plain classes with slots, one per construct of the language.

Every node is made once by the parser and shared by all who parse the same text, from several threads: treat
nodes as immutable. Nodes compare by value; fields that only describe the source (``line``, ``text``, ``lit``)
do not take part.

Conventions used below
----------------------
* "commands" is a tuple of command nodes, run one after another (a *list* of the grammar). Members are
  `Simple`, `Pipeline`, `AndOr`, `Background`, a compound command, `Function` or `Coproc`.
* Text is ``str``; bytes that are not UTF-8 are lone surrogates (surrogateescape), ``$'\\377'`` included.
* ``line`` is the line number for ``LINENO`` (first line of the script is the parser's ``line`` option, 1).
* ``text`` is the source as written. It is for messages and for `mirage.shell.printer`, never for execution.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, TypeAlias

    from mirage.shell.errors import ParseError, ParseWarning


class Node:
    """Base of every node: value equality and a readable ``repr`` over the fields named in ``_cmp``."""

    __slots__ = ()
    _cmp: ClassVar[tuple[str, ...]] = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._cmp)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(repr(getattr(self, name)) for name in self._cmp)
        return f"{type(self).__name__}({fields})"


# --------------------------------------------------------------------------------------------- parts of words


class Lit(Node):
    """Unquoted literal text. May hold pattern characters (``* ? [``, extglob groups); never quotes."""

    __slots__ = ("text",)
    _cmp = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Quoted(Node):
    """Literal text from ``'..'``, ``\\c``, ``$'..'`` or a static ``".."``: never split, never a pattern.

    ``text`` has the quotes removed and escapes decoded; it may be empty (an empty word still is a word).
    """

    __slots__ = ("text",)
    _cmp = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class DQuote(Node):
    """``"..."`` with at least one expansion. ``parts``: Quoted, Param, CmdSub, Arith, BadSubst.

    Everything inside is quoted: results are not split and are no patterns (``"$@"`` makes several fields).
    """

    __slots__ = ("parts",)
    _cmp = ("parts",)

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts


class Param(Node):
    """``$name`` or ``${...}``.

    name      variable name, digits of a positional parameter, or one of ``@ * # ? $ ! -``
    sub       None, or the Subscript of ``${name[...]}``
    length    True for ``${#name}``
    indirect  ``''``; ``'!'`` for ``${!name...}``; ``'prefix@'`` / ``'prefix*'`` for ``${!name@}`` /
              ``${!name*}``; ``'keys'`` for ``${!name[@]}`` / ``${!name[*]}`` (``sub.star`` tells which)
    op        ``''`` or one of
              ``- = ? +`` and ``:- := :? :+``  arg: Word
              ``# ## % %%``                    arg: Word, the pattern
              ``/ // /# /%``                   arg: Word, the pattern; arg2: Word replacement or None
              ``^ ^^ , ,, ~ ~~``               arg: Word, the pattern (empty Word: any character)
              ``:``                            arg: Arith offset; arg2: Arith length or None
              ``@U @u @L @Q @E @P @A @K @a @k`` no arg
    text      the source, ``${...}`` or ``$name``, for messages
    """

    __slots__ = ("arg", "arg2", "indirect", "length", "name", "op", "sub", "text")
    _cmp = ("name", "sub", "length", "indirect", "op", "arg", "arg2")

    def __init__(
        self,
        name: str,
        sub: Subscript | None = None,
        length: bool = False,
        indirect: str = "",
        op: str = "",
        arg: Word | Arith | None = None,
        arg2: Word | Arith | None = None,
        text: str = "",
    ) -> None:
        self.name = name
        self.sub = sub
        self.length = length
        self.indirect = indirect
        self.op = op
        self.arg = arg
        self.arg2 = arg2
        self.text = text


class Subscript(Node):
    """The inside of ``[...]`` after an array name, in both readings.

    word  the key of an associative array (expand as if in double quotes, quotes removed)
    expr  the arithmetic expression of an indexed array; None: expand ``word`` to text, then evaluate the text
    star  ``'@'`` or ``'*'`` when the subscript is just that (unquoted), else ``''``
    """

    __slots__ = ("expr", "star", "word")
    _cmp = ("word", "expr")

    def __init__(self, word: Word, expr: Expr | None, star: str = "") -> None:
        self.word = word
        self.expr = expr
        self.star = star


class CmdSub(Node):
    """``$(...)`` or backquotes. ``body``: commands (empty for ``$()``).

    backtick  True when written with backquotes
    text      the source, delimiters included
    error     None, or the ParseError of a backquoted text (or of a ``$((`` that is neither arithmetic nor
              commands): bash reports it when it expands the word, after running the commands in ``body``
    ``$(<file)`` is a body of one Simple without words and assignments and with one ``<`` Redir.
    """

    __slots__ = ("backtick", "body", "error", "text")
    _cmp = ("body",)

    def __init__(self, body: Commands, backtick: bool = False, text: str = "", error: ParseError | None = None) -> None:
        self.body = body
        self.backtick = backtick
        self.text = text
        self.error = error


class ProcSub(Node):
    """``<(...)`` (``dir`` is ``'<'``: the body is read) or ``>(...)`` (``'>'``). ``text``: the source."""

    __slots__ = ("body", "dir", "text")
    _cmp = ("dir", "body")

    def __init__(self, dir: str, body: Commands, text: str = "") -> None:
        self.dir = dir
        self.body = body
        self.text = text


class Arith(Node):
    """``$((...))``, ``$[...]``, the inside of ``((...))`` or one expression of ``for ((..;..;..))``.

    word  the expression as a Word (to be expanded as if in double quotes); empty parts: an empty expression
    expr  the compiled expression, or None: expand ``word`` to text and evaluate the text
          (`mirage.shell.parse.parse_arith`), which also reports the errors of malformed expressions
    """

    __slots__ = ("expr", "word")
    _cmp = ("word", "expr")

    def __init__(self, word: Word, expr: Expr | None) -> None:
        self.word = word
        self.expr = expr


class Tilde(Node):
    """``~`` at the start of a word (or after ``:`` and ``=`` in an assignment). ``user``: ``''``, a login
    name, ``'+'``, ``'-'``, ``N``, ``+N`` or ``-N``. When it cannot be resolved it stands for ``'~' +
    user``."""

    __slots__ = ("user",)
    _cmp = ("user",)

    def __init__(self, user: str) -> None:
        self.user = user


class Brace(Node):
    """``{a,b}``: ``alts`` is a tuple of Words (two or more; each may hold further Brace parts)."""

    __slots__ = ("alts",)
    _cmp = ("alts",)

    def __init__(self, alts: tuple[Word, ...]) -> None:
        self.alts = alts


class BraceRange(Node):
    """``{a..b}`` or ``{a..b..step}``: the texts of the ends (both integers or both letters) and of the step
    (None when absent). Zero padding (``{01..10}``) is visible in the texts."""

    __slots__ = ("a", "b", "step")
    _cmp = ("a", "b", "step")

    def __init__(self, a: str, b: str, step: str | None) -> None:
        self.a = a
        self.b = b
        self.step = step


class BadSubst(Node):
    """``${...}`` that is no valid expansion: an error when expanded (``bash: ${x!y}: bad substitution``).

    text   the source
    error  None, or the text bash prints in place of ``<text>: bad substitution`` (here-document bodies)
    """

    __slots__ = ("error", "text")
    _cmp = ("text",)

    def __init__(self, text: str, error: str | None = None) -> None:
        self.text = text
        self.error = error


class Word(Node):
    """One word.

    parts  the pieces, in order
    lit    the final string when nothing in the word needs expansion (quotes already removed), else None.
           The fast path: most words have it. A word with ``lit`` is exactly one field, also when empty.
    glob   True when an unquoted literal holds pattern characters (results of expansions are not counted)
    text   the source as written, without backslash-newline pairs
    """

    __slots__ = ("glob", "lit", "parts", "text")
    _cmp = ("parts", "glob")

    def __init__(self, parts: tuple[Part, ...], lit: str | None, glob: bool, text: str = "") -> None:
        self.parts = parts
        self.lit = lit
        self.glob = glob
        self.text = text


class Assign(Node):
    """``name=value``, ``name[sub]+=value``, ``name=(...)``: before a command, or as an argument of a
    declaration builtin (declare, typeset, local, export, readonly, alias; of eval, let only ``name=(...)``).

    op     ``'='`` or ``'+='``
    value  Word (empty Word for ``name=``; tildes after ``:`` are Tilde parts) or ArrayLit
    word   the same source as a plain Word, for commands that are no declaration builtin after all
           (None for an ArrayLit)
    text   the source
    """

    __slots__ = ("name", "op", "sub", "text", "value", "word")
    _cmp = ("name", "sub", "op", "value")

    def __init__(
        self,
        name: str,
        sub: Subscript | None,
        op: str,
        value: Word | ArrayLit,
        text: str = "",
        word: Word | None = None,
    ) -> None:
        self.name = name
        self.sub = sub
        self.op = op
        self.value = value
        self.text = text
        self.word = word


class ArrayLit(Node):
    """``(...)`` after ``name=``. ``items``: tuple of ``(Subscript | None, op, Word)``; op is ``'='`` or
    ``'+='`` with a subscript and ``''`` without (such a Word undergoes all expansions and may make several
    elements)."""

    __slots__ = ("items",)
    _cmp = ("items",)

    def __init__(self, items: tuple[ArrayItem, ...]) -> None:
        self.items = items


# ------------------------------------------------------------------------------------------------- arithmetic


class Num(Node):
    """An integer constant. ``value`` is wrapped to 64 bits signed, as bash does."""

    __slots__ = ("value",)
    _cmp = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value


class AVar(Node):
    """A variable, by name: its value is itself evaluated as an expression. ``sub``: Subscript or None."""

    __slots__ = ("name", "sub")
    _cmp = ("name", "sub")

    def __init__(self, name: str, sub: Subscript | None = None) -> None:
        self.name = name
        self.sub = sub


class Un(Node):
    """Prefix operator: op ``- + ! ~``; ``++`` and ``--`` with an AVar as ``arg``."""

    __slots__ = ("arg", "op")
    _cmp = ("op", "arg")

    def __init__(self, op: str, arg: Expr) -> None:
        self.op = op
        self.arg = arg


class Post(Node):
    """``arg++`` or ``arg--``; ``arg`` is an AVar."""

    __slots__ = ("arg", "op")
    _cmp = ("op", "arg")

    def __init__(self, op: str, arg: AVar) -> None:
        self.op = op
        self.arg = arg


class Bin(Node):
    """Binary operator: ``, || && | ^ & == != < <= > >= << >> + - * / % **`` (|| and && are lazy).

    ``1+2+3+...`` leans to the left and may be thousands of terms long: walk ``left`` in a loop.
    """

    __slots__ = ("left", "op", "right")
    _cmp = ("op", "left", "right")

    def __init__(self, op: str, left: Expr, right: Expr) -> None:
        self.op = op
        self.left = left
        self.right = right


class ASet(Node):
    """Assignment: op ``= += -= *= /= %= <<= >>= &= ^= |=``; ``target`` is an AVar."""

    __slots__ = ("op", "target", "value")
    _cmp = ("op", "target", "value")

    def __init__(self, op: str, target: AVar, value: Expr) -> None:
        self.op = op
        self.target = target
        self.value = value


class Tern(Node):
    """``cond ? a : b`` (lazy)."""

    __slots__ = ("a", "b", "cond")
    _cmp = ("cond", "a", "b")

    def __init__(self, cond: Expr, a: Expr, b: Expr) -> None:
        self.cond = cond
        self.a = a
        self.b = b


class AExp(Node):
    """The text of an expansion (``part``: Param, CmdSub, Arith, ...) used as an operand.

    bash substitutes text: ``x=1+1; $((x_is_$x * 2))``. So the compiled expression holds only when the
    expansion gives a plain number (digits, without a sign or leading zero). For anything else throw the
    compiled expression away and evaluate the expanded text of the enclosing ``word`` (mind not to expand
    twice).
    """

    __slots__ = ("part",)
    _cmp = ("part",)

    def __init__(self, part: Part) -> None:
        self.part = part


# -------------------------------------------------------------------------------------------- inside of [[ ]]


class CUn(Node):
    """Unary test: ``op`` is ``-f``, ``-z``, ``-v``, ...; ``arg`` a Word (no splitting, no globbing)."""

    __slots__ = ("arg", "op")
    _cmp = ("op", "arg")

    def __init__(self, op: str, arg: Word) -> None:
        self.op = op
        self.arg = arg


class CBin(Node):
    """Binary test: ``= == != < > =~ -eq -ne -lt -le -gt -ge -nt -ot -ef``; ``left`` and ``right`` are Words.

    For ``= == !=`` the right word is a pattern (its Quoted and DQuote parts are literal; extglob groups count
    even when the option is off). For ``=~`` it is a regular expression, again with quoted parts literal.
    """

    __slots__ = ("left", "op", "right")
    _cmp = ("op", "left", "right")

    def __init__(self, op: str, left: Word, right: Word) -> None:
        self.op = op
        self.left = left
        self.right = right


class CLog(Node):
    """``left && right`` or ``left || right``. Long chains lean to the left: walk ``left`` in a loop."""

    __slots__ = ("left", "op", "right")
    _cmp = ("op", "left", "right")

    def __init__(self, op: str, left: Test, right: Test) -> None:
        self.op = op
        self.left = left
        self.right = right


class CNot(Node):
    """``! arg``."""

    __slots__ = ("arg",)
    _cmp = ("arg",)

    def __init__(self, arg: Test) -> None:
        self.arg = arg


class CGroup(Node):
    """``( arg )``."""

    __slots__ = ("arg",)
    _cmp = ("arg",)

    def __init__(self, arg: Test) -> None:
        self.arg = arg


class CWord(Node):
    """A lone word: true when it is not empty."""

    __slots__ = ("word",)
    _cmp = ("word",)

    def __init__(self, word: Word) -> None:
        self.word = word


# ----------------------------------------------------------------------------------------------- redirections


class Redir(Node):
    """One redirection.

    fd      int; None for the default of the operator; str for the variable of ``{name}>file`` (it may carry a
            subscript: ``'a[1]'``)
    op      ``< > >> >| <> <& >& &> &>> <<< << <<-``
    target  HereDoc for ``<<`` and ``<<-``, else a Word. ``2>&-`` and ``2>&1-`` have the target ``-``, ``1-``.
    """

    __slots__ = ("fd", "op", "target")
    _cmp = ("fd", "op", "target")

    def __init__(self, fd: int | str | None, op: str, target: Word | HereDoc) -> None:
        self.fd = fd
        self.op = op
        self.target = target


class HereDoc(Node):
    """A here-document.

    body    Word to be expanded as if in double quotes (its parts are those of a DQuote; a ``"`` is an
            ordinary character). For a quoted delimiter one Quoted part. ``body.lit`` is set when nothing
            needs expansion.
    delim   the delimiter, quotes removed
    quoted  True when the delimiter was quoted
    strip   True for ``<<-`` (leading tabs are already removed from the body)
    text    the body as written (tabs stripped for ``<<-``)
    """

    __slots__ = ("body", "delim", "quoted", "strip", "text")
    _cmp = ("quoted", "body")

    def __init__(self, delim: str, quoted: bool, strip: bool) -> None:
        self.delim = delim
        self.quoted = quoted
        self.strip = strip
        self.body: Word = Word((), "", False)
        self.text = ""


# --------------------------------------------------------------------------------------------------- commands


class Simple(Node):
    """A simple command: any of the three tuples may be empty, not all at once.

    assigns  Assign nodes before the first word
    words    Words; also Assign nodes (arguments of a declaration builtin)
    redirs   Redir nodes, in source order
    """

    __slots__ = ("assigns", "line", "redirs", "words")
    _cmp = ("assigns", "words", "redirs")

    def __init__(
        self,
        assigns: tuple[Assign, ...],
        words: tuple[Word | Assign, ...],
        redirs: tuple[Redir, ...],
        line: int = 0,
    ) -> None:
        self.assigns = assigns
        self.words = words
        self.redirs = redirs
        self.line = line


class Pipeline(Node):
    """``cmds`` joined by ``pipes`` (``'|'`` or ``'|&'``; one less than commands), with ``!`` and ``time``.

    negated  True for an odd number of ``!``
    timed    None, ``'t'`` for ``time``, ``'p'`` for ``time -p``
    A bare ``!`` or ``time`` has empty ``cmds``. A single command without ``!`` and ``time`` is no Pipeline.
    """

    __slots__ = ("cmds", "negated", "pipes", "timed")
    _cmp = ("cmds", "pipes", "negated", "timed")

    def __init__(self, cmds: tuple[Command, ...], pipes: tuple[str, ...], negated: bool, timed: str | None) -> None:
        self.cmds = cmds
        self.pipes = pipes
        self.negated = negated
        self.timed = timed


class AndOr(Node):
    """``first && a || b``: ``rest`` is a non-empty tuple of ``(op, command)``, op ``'&&'`` or ``'||'``."""

    __slots__ = ("first", "rest")
    _cmp = ("first", "rest")

    def __init__(self, first: Command, rest: tuple[tuple[str, Command], ...]) -> None:
        self.first = first
        self.rest = rest


class Background(Node):
    """``cmd &``; ``cmd`` is an AndOr, a Pipeline or a single command."""

    __slots__ = ("cmd",)
    _cmp = ("cmd",)

    def __init__(self, cmd: Command) -> None:
        self.cmd = cmd


class Subshell(Node):
    """``( body )``; ``body``: commands."""

    __slots__ = ("body", "line", "redirs")
    _cmp = ("body", "redirs")

    def __init__(self, body: Commands, redirs: tuple[Redir, ...] = (), line: int = 0) -> None:
        self.body = body
        self.redirs = redirs
        self.line = line


class Group(Node):
    """``{ body; }``; ``body``: commands."""

    __slots__ = ("body", "line", "redirs")
    _cmp = ("body", "redirs")

    def __init__(self, body: Commands, redirs: tuple[Redir, ...] = (), line: int = 0) -> None:
        self.body = body
        self.redirs = redirs
        self.line = line


class If(Node):
    """``if``: ``clauses`` is a tuple of ``(condition commands, body commands)``, one per if / elif;
    ``orelse``: commands of the else branch or None."""

    __slots__ = ("clauses", "line", "orelse", "redirs")
    _cmp = ("clauses", "orelse", "redirs")

    def __init__(
        self,
        clauses: tuple[tuple[Commands, Commands], ...],
        orelse: Commands | None,
        redirs: tuple[Redir, ...] = (),
        line: int = 0,
    ) -> None:
        self.clauses = clauses
        self.orelse = orelse
        self.redirs = redirs
        self.line = line


class While(Node):
    """``while`` or (``until`` True) ``until``; ``cond`` and ``body``: commands."""

    __slots__ = ("body", "cond", "line", "redirs", "until")
    _cmp = ("until", "cond", "body", "redirs")

    def __init__(
        self, until: bool, cond: Commands, body: Commands, redirs: tuple[Redir, ...] = (), line: int = 0
    ) -> None:
        self.until = until
        self.cond = cond
        self.body = body
        self.redirs = redirs
        self.line = line


class For(Node):
    """``for var in words; do body; done``. ``words`` is None without ``in`` (then: ``"$@"``).

    ``var`` is the source text: not checked, ``for 1x in ..`` is an error when it runs
    (``bash: `1x': not a valid identifier``).
    """

    __slots__ = ("body", "line", "redirs", "var", "words")
    _cmp = ("var", "words", "body", "redirs")

    def __init__(
        self,
        var: str,
        words: tuple[Word, ...] | None,
        body: Commands,
        redirs: tuple[Redir, ...] = (),
        line: int = 0,
    ) -> None:
        self.var = var
        self.words = words
        self.body = body
        self.redirs = redirs
        self.line = line


class Select(Node):
    """``select var in words; do body; done``; fields as in For."""

    __slots__ = ("body", "line", "redirs", "var", "words")
    _cmp = ("var", "words", "body", "redirs")

    def __init__(
        self,
        var: str,
        words: tuple[Word, ...] | None,
        body: Commands,
        redirs: tuple[Redir, ...] = (),
        line: int = 0,
    ) -> None:
        self.var = var
        self.words = words
        self.body = body
        self.redirs = redirs
        self.line = line


class ArithFor(Node):
    """``for ((init; cond; step)) do body; done``; an Arith with empty ``word.parts`` is an absent expression
    (an absent condition is true)."""

    __slots__ = ("body", "cond", "init", "line", "redirs", "step")
    _cmp = ("init", "cond", "step", "body", "redirs")

    def __init__(
        self,
        init: Arith,
        cond: Arith,
        step: Arith,
        body: Commands,
        redirs: tuple[Redir, ...] = (),
        line: int = 0,
    ) -> None:
        self.init = init
        self.cond = cond
        self.step = step
        self.body = body
        self.redirs = redirs
        self.line = line


class Case(Node):
    """``case word in clauses esac``."""

    __slots__ = ("clauses", "line", "redirs", "word")
    _cmp = ("word", "clauses", "redirs")

    def __init__(
        self, word: Word, clauses: tuple[CaseClause, ...], redirs: tuple[Redir, ...] = (), line: int = 0
    ) -> None:
        self.word = word
        self.clauses = clauses
        self.redirs = redirs
        self.line = line


class CaseClause(Node):
    """``pattern|pattern) body ;;``. ``patterns``: Words; ``body``: commands, may be empty;
    ``term``: ``';;'`` (also when omitted), ``';&'`` or ``';;&'``."""

    __slots__ = ("body", "patterns", "term")
    _cmp = ("patterns", "body", "term")

    def __init__(self, patterns: tuple[Word, ...], body: Commands, term: str) -> None:
        self.patterns = patterns
        self.body = body
        self.term = term


class Cond(Node):
    """``[[ expr ]]``; ``expr``: CUn, CBin, CLog, CNot, CGroup or CWord."""

    __slots__ = ("expr", "line", "redirs")
    _cmp = ("expr", "redirs")

    def __init__(self, expr: Test, redirs: tuple[Redir, ...] = (), line: int = 0) -> None:
        self.expr = expr
        self.redirs = redirs
        self.line = line


class ArithCmd(Node):
    """``((...))``: status 0 when the value of ``arith`` is not zero."""

    __slots__ = ("arith", "line", "redirs")
    _cmp = ("arith", "redirs")

    def __init__(self, arith: Arith, redirs: tuple[Redir, ...] = (), line: int = 0) -> None:
        self.arith = arith
        self.redirs = redirs
        self.line = line


class Function(Node):
    """A function definition.

    name   the name as written
    valid  False when the name held quotes or ``$`` (``bash: `$x': not a valid identifier`` when it runs)
    body   a compound command; its own ``redirs`` are applied at every call
    line   the line of the definition (where the name stands)
    """

    __slots__ = ("body", "line", "name", "valid")
    _cmp = ("name", "body")

    def __init__(self, name: str, body: Command, line: int = 0, valid: bool = True) -> None:
        self.name = name
        self.body = body
        self.line = line
        self.valid = valid


class Coproc(Node):
    """``coproc [name] body``; ``name`` is ``'COPROC'`` when omitted."""

    __slots__ = ("body", "line", "name")
    _cmp = ("name", "body")

    def __init__(self, name: str, body: Command, line: int = 0) -> None:
        self.name = name
        self.body = body
        self.line = line


class Script(Node):
    """What `mirage.shell.parse.parse` gives.

    items     commands, up to a syntax error (bash runs them before it reports the error)
    error     None or the ParseError
    warnings  tuple of ParseWarning (unterminated here-documents)
    """

    __slots__ = ("error", "items", "warnings")
    _cmp = ("items",)

    def __init__(
        self, items: Commands, error: ParseError | None = None, warnings: tuple[ParseWarning, ...] = ()
    ) -> None:
        self.items = items
        self.error = error
        self.warnings = warnings


class Lines(tuple):  # type: ignore[type-arg]
    """Commands inside ``$(...)`` of which some were separated by newlines; equal to the plain tuple.

    ``breaks``: the indexes of the commands that a newline follows. Only the printer looks at it: bash keeps
    those newlines when it prints a command substitution.
    """

    breaks: frozenset[int] = frozenset()


if TYPE_CHECKING:
    Part: TypeAlias = Lit | Quoted | DQuote | Param | CmdSub | ProcSub | Arith | Tilde | Brace | BraceRange | BadSubst
    ArrayItem: TypeAlias = tuple[Subscript | None, str, Word]
    Expr: TypeAlias = Num | AVar | Un | Post | Bin | ASet | Tern | AExp
    Test: TypeAlias = CUn | CBin | CLog | CNot | CGroup | CWord
    Compound: TypeAlias = Subshell | Group | If | While | For | Select | ArithFor | Case | Cond | ArithCmd
    Command: TypeAlias = Simple | Pipeline | AndOr | Background | Compound | Function | Coproc
    Commands: TypeAlias = tuple[Command, ...]
    AnyNode: TypeAlias = Any
