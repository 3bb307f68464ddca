"""The trees that scripts become."""

from __future__ import annotations

from mirage.shell.ast import (
    AExp,
    AndOr,
    Arith,
    ArithCmd,
    ArithFor,
    ArrayLit,
    ASet,
    Assign,
    AVar,
    Background,
    BadSubst,
    Bin,
    Brace,
    BraceRange,
    Case,
    CaseClause,
    CBin,
    CGroup,
    CLog,
    CmdSub,
    CNot,
    Cond,
    Coproc,
    CUn,
    CWord,
    DQuote,
    For,
    Function,
    Group,
    HereDoc,
    If,
    Lit,
    Num,
    Param,
    Pipeline,
    Post,
    ProcSub,
    Quoted,
    Redir,
    Select,
    Simple,
    Subscript,
    Subshell,
    Tern,
    Tilde,
    Un,
    While,
    Word,
)  # fmt: skip
from mirage.shell.parse import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.shell.ast import Command, Part


def one(script: str) -> Command:
    parsed = parse(script, extglob=True)
    assert parsed.error is None, parsed.error
    (item,) = parsed.items
    return item


def plain(text: str, glob: bool = False) -> Word:
    return Word((Lit(text),), None if glob else text, glob)


def word(*parts: Part, glob: bool = False) -> Word:
    return Word(parts, None, glob)


def simple(*words: str) -> Simple:
    return Simple((), tuple(plain(text) for text in words), ())


def argument(script: str) -> tuple[Part, ...]:
    command = one(script)
    assert type(command) is Simple
    last = command.words[-1]
    assert type(last) is Word
    return last.parts


def expression(text: str) -> object:
    (part,) = argument(f"echo $(({text}))")
    assert type(part) is Arith
    return part.expr


def test_simple_commands_and_lists() -> None:
    a, b, c = simple("a"), simple("b"), simple("c")
    assert parse("a; b & c").items == (a, Background(b), c)
    assert one("a && b || c") == AndOr(a, (("&&", b), ("||", c)))
    assert one("a | b |& c") == Pipeline((a, b, c), ("|", "|&"), False, None)
    assert one("! a") == Pipeline((a,), (), True, None)
    assert one("! ! a") == Pipeline((a,), (), False, None)
    assert one("time -p a | b") == Pipeline((a, b), ("|",), False, "p")
    assert one("time") == Pipeline((), (), False, "t")
    assert one("x=1 y+=2 a >f") == Simple(
        (Assign("x", None, "=", plain("1")), Assign("y", None, "+=", plain("2"))),
        (plain("a"),),
        (Redir(None, ">", plain("f")),),
    )


def test_compound_commands() -> None:
    a, b, c, d = simple("a"), simple("b"), simple("c"), simple("d")
    assert one("( a; b ) >f") == Subshell((a, b), (Redir(None, ">", plain("f")),))
    assert one("{ a; }") == Group((a,))
    assert one("if a; then b; elif c; then d; else a; fi") == If((((a,), (b,)), ((c,), (d,))), (a,))
    assert one("while a; do b; done") == While(False, (a,), (b,))
    assert one("until a; do b; done") == While(True, (a,), (b,))
    assert one("for i in x y; do a; done") == For("i", (plain("x"), plain("y")), (a,))
    assert one("for i; do a; done") == For("i", None, (a,))
    assert one("for i in; do a; done") == For("i", (), (a,))
    assert one("select i in x; do a; done") == Select("i", (plain("x"),), (a,))
    assert one("case x in a|b) c ;& *) esac") == Case(
        plain("x"),
        (CaseClause((plain("a"), plain("b")), (c,), ";&"), CaseClause((plain("*", True),), (), ";;")),
    )
    assert one("f() { a; } >x") == Function("f", Group((a,), (Redir(None, ">", plain("x")),)))
    assert one("function f ( a )") == Function("f", Subshell((a,)))
    assert one("coproc a") == Coproc("COPROC", a)
    assert one("coproc X { a; }") == Coproc("X", Group((a,)))


def test_arithmetic_commands() -> None:
    command = one("((i++))")
    assert type(command) is ArithCmd
    assert command.arith.expr == Post("++", AVar("i"))
    loop = one("for ((i=0; ; i+=2)); do a; done")
    assert type(loop) is ArithFor
    assert loop.init.expr == ASet("=", AVar("i"), Num(0))
    assert loop.cond.word.parts == ()
    assert loop.step.expr == ASet("+=", AVar("i"), Num(2))


def test_conditions() -> None:
    def test(script: str) -> object:
        command = one(script)
        assert type(command) is Cond
        return command.expr

    assert test("[[ -f x && ! a ]]") == CLog("&&", CUn("-f", plain("x")), CNot(CWord(plain("a"))))
    assert test("[[ ( a == b* ) || c -lt 3 ]]") == CLog(
        "||", CGroup(CBin("==", plain("a"), plain("b*", True))), CBin("-lt", plain("c"), plain("3"))
    )
    assert test('[[ $x =~ ^a"b" ]]') == CBin("=~", word(Param("x")), Word((Lit("^a"), Quoted("b")), "^ab", False))
    assert test("[[ a == @(b|c d) ]]") == CBin("==", plain("a"), plain("@(b|c d)", True))


def test_words_that_need_no_expansion_have_their_text_ready() -> None:
    for script, text in (
        ("echo abc", "abc"), ("echo 'a b'", "a b"), ('echo "a b"c', "a bc"), ("echo a\\ b", "a b"), ("echo ''", ""),
        ("echo $'a\\tb'", "a\tb"), ("echo $'\\xff'", "\udcff"), ("echo $'\\303\\251'", "é"), ("echo \\*", "*"), ("echo a\\\nb", "ab"),
    ):  # fmt: skip
        command = one(script)
        assert type(command) is Simple
        found = command.words[1]
        assert type(found) is Word
        assert found.lit == text, script
    for script in ("echo *", "echo $x", "echo ~", "echo {a,b}", "echo `a`", "echo [a]"):
        command = one(script)
        assert type(command) is Simple
        found = command.words[1]
        assert type(found) is Word
        assert found.lit is None, script


def test_expansions() -> None:
    assert argument("echo $x") == (Param("x"),)
    assert argument('echo "a$x"') == (DQuote((Quoted("a"), Param("x"))),)
    assert argument("echo ${x:-a b}") == (Param("x", op=":-", arg=plain("a b")),)
    assert argument("echo ${#x}") == (Param("x", length=True),)
    assert argument("echo ${!x}") == (Param("x", indirect="!"),)
    assert argument("echo ${!x@}") == (Param("x", indirect="prefix@"),)
    assert argument("echo ${x//a/b}") == (Param("x", op="//", arg=plain("a"), arg2=plain("b")),)
    assert argument("echo ${x/#a}") == (Param("x", op="/#", arg=plain("a")),)
    assert argument("echo ${x@Q}") == (Param("x", op="@Q"),)
    assert argument("echo ${x!}") == (BadSubst("${x!}"),)
    assert argument("echo $(a)") == (CmdSub((simple("a"),)),)
    assert argument("echo `a \\`b\\``") == (CmdSub((Simple((), (plain("a"), word(CmdSub((simple("b"),)))), ()),)),)
    assert argument("echo <(a)") == (ProcSub("<", (simple("a"),)),)
    assert argument("echo ~a/b") == (Tilde("a"), Lit("/b"))
    assert argument("echo {a,b{1..3}}") == (Brace((plain("a"), word(Lit("b"), BraceRange("1", "3", None)))),)
    (part,) = argument("echo ${a[1]}")
    assert part == Param("a", Subscript(plain("1"), Num(1)))
    (part,) = argument('echo "${a[@]}"')
    assert type(part) is DQuote
    assert type(part.parts[0]) is Param
    assert part.parts[0].sub is not None
    assert part.parts[0].sub.star == "@"
    (part,) = argument("echo ${!a[*]}")
    assert type(part) is Param
    assert (part.indirect, part.sub and part.sub.star) == ("keys", "*")
    (part,) = argument("echo ${x:1:2}")
    assert type(part) is Param
    assert type(part.arg) is Arith
    assert type(part.arg2) is Arith
    assert (part.op, part.arg.expr, part.arg2.expr) == (":", Num(1), Num(2))


def test_expressions() -> None:
    x, y = AVar("x"), AVar("y")
    assert expression("1+2*3") == Bin("+", Num(1), Bin("*", Num(2), Num(3)))
    assert expression("2**3**2") == Bin("**", Num(2), Bin("**", Num(3), Num(2)))
    assert expression("-2**2") == Bin("**", Un("-", Num(2)), Num(2))
    assert expression("x = y += 1") == ASet("=", x, ASet("+=", y, Num(1)))
    assert expression("x ? 1 : y ? 2 : 3") == Tern(x, Num(1), Tern(y, Num(2), Num(3)))
    assert expression("0x1f + 017 + 16#ff + 36#Z") == Bin("+", Bin("+", Bin("+", Num(31), Num(15)), Num(255)), Num(35))
    assert expression("a[i+1]") == AVar("a", Subscript(plain("i+1"), Bin("+", AVar("i"), Num(1))))
    assert expression("$x + ${#y}") == Bin("+", AExp(Param("x")), AExp(Param("y", length=True)))
    assert expression("9223372036854775808") == Num(-(2**63))
    assert expression("") == Num(0)
    assert expression("5--3") == Bin("-", Num(5), Un("-", Num(3)))
    for text in ("1 $op 2", "x$y", "1+", "1 2", "$x=3", "08", "1+(", "1 = 2"):
        (part,) = argument(f"echo $(({text}))") if "(" not in text else (Arith(plain(""), None),)
        assert type(part) is Arith
        assert part.expr is None, text


def test_assignments_and_arrays() -> None:
    def assigned(script: str) -> Assign:
        command = one(script)
        assert type(command) is Simple
        return command.assigns[0]

    assert assigned("x=~/a:~b").value == word(Tilde(""), Lit("/a"), Lit(":"), Tilde("b"))
    assert assigned("x=").value == Word((), "", False)
    assert assigned("x={a,b}").value == plain("{a,b}")
    assert assigned("a[1]+=x") == Assign("a", Subscript(plain("1"), Num(1)), "+=", plain("x"))
    assert assigned('a=(x [1]=y\n "z")').value == ArrayLit(
        (
            (None, "", plain("x")),
            (Subscript(plain("1"), Num(1)), "=", plain("y")),
            (None, "", Word((Quoted("z"),), "z", False)),
        )
    )
    command = one("export a=$x b")
    assert type(command) is Simple
    assert command.words[1] == Assign("a", None, "=", word(Param("x")))
    assert type(command.words[1]) is Assign
    assert command.words[1].word == word(Lit("a="), Param("x"))
    command = one("echo a=$x")
    assert type(command) is Simple
    assert command.words[1] == word(Lit("a="), Param("x"))


def test_here_documents() -> None:
    def document(script: str) -> HereDoc:
        command = parse(script).items[0]
        assert type(command) is Simple
        target = command.redirs[0].target
        assert type(target) is HereDoc
        return target

    assert document("cat <<E\na $x\nE\n").body.parts == (Quoted("a "), Param("x"), Quoted("\n"))
    assert document("cat <<'E'\na $x\nE\n").body.lit == "a $x\n"
    assert document("cat <<-E\n\ta\n\tE\n").body.lit == "a\n"
    assert document('cat <<E\n"\\$x\\a"\nE\n').body.lit == '"$x\\a"\n'
    assert document("cat <<E\na\\\nb\nE\n").body.lit == "ab\n"
    assert document("cat <<E\n${\nE\n").body.parts[0] == BadSubst("${\n")
    assert parse("a <<X; b <<Y\n1\nX\n2\nY\nc").items[2] == simple("c")


def test_lines() -> None:
    parsed = parse("a\n\nif b\nthen c\nfi\nf() {\n d\n}\necho $(\ne)\n", line=10)
    a, branch, function, echo = parsed.items
    assert type(a) is Simple
    assert type(branch) is If
    assert type(function) is Function
    assert type(function.body) is Group
    assert type(echo) is Simple
    assert (a.line, branch.line, function.line) == (10, 12, 15)
    inner = branch.clauses[0][1][0]
    assert type(inner) is Simple
    assert inner.line == 13
    body = function.body.body[0]
    assert type(body) is Simple
    assert body.line == 16
    substituted = echo.words[1]
    assert type(substituted) is Word
    assert type(substituted.parts[0]) is CmdSub
    command = substituted.parts[0].body[0]
    assert type(command) is Simple
    assert command.line == 19


def test_equality_is_by_value_and_ignores_the_source() -> None:
    assert parse("echo  hi").items == parse("\n\necho hi").items
    assert parse("echo hi").items != parse("echo ho").items
    assert repr(one("a")) == "Simple((), (Word((Lit('a'),), False),), ())"
