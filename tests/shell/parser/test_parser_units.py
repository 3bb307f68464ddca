"""One complete line at a time, with options that change on the way."""

from __future__ import annotations

import threading

import pytest

from mirage.shell.parse import ParseError, ParseOptions, UnitParser, clear_cache, needs_more, parse, units
from mirage.shell.printer import command_text
from tests.shell.parser.constructs import ALL_VALID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.shell.ast import Commands


def shown(items: Commands | None) -> str:
    assert items is not None
    return command_text(items)


def expanded(script: str, **aliases: str) -> str:
    parsed = parse(script, aliases=aliases)
    assert parsed.error is None
    return command_text(parsed.items)


def test_units() -> None:
    reader = units("a; b\n\nif c\nthen d\nfi\ne", line=3)
    assert shown(reader.next()) == "a; b"
    assert (reader.text, reader.line) == ("a; b\n", 3)
    assert shown(reader.next()) == "if c; then\n    d;\nfi"
    assert (reader.text.strip(), reader.line) == ("if c\nthen d\nfi", 5) or reader.text.startswith("\nif c")
    assert shown(reader.next()) == "e"
    assert reader.next() is None
    assert reader.next() is None


def test_what_comes_before_an_error_is_kept() -> None:
    script = parse("a\nb\nc | | d\ne")
    assert [command_text((item,)) for item in script.items] == ["a", "b"]
    assert script.error is not None
    assert script.error.lines() == (
        "bash: line 3: syntax error near unexpected token `|'",
        "bash: line 3: `c | | d'",
    )
    for _ in range(2):
        reader = UnitParser("a\n)\nb")
        assert shown(reader.next()) == "a"
        with pytest.raises(ParseError):
            reader.next()
        assert reader.next() is None
        assert reader.error is not None


def test_errors_say_what_could_have_followed() -> None:
    error = parse("for i in a; do b").error
    assert error is not None
    assert error.incomplete
    assert "DONE" in error.expected or error.expected


def test_an_interactive_terminal_knows_when_to_ask_for_more() -> None:
    for text in (
        "if a",
        "echo 'x",
        "a |",
        "a && \n",
        "{ a",
        "echo $(",
        "f() {\n",
        "cat <<E\n",
        "a \\",
        "echo ${x",
        "((1+",
        "a=(",
    ):
        assert needs_more(text), text
    for text in ("a", "a\n", "", "a )", "fi", "echo 'x'", "a \\\\", "cat <<E\nE\n"):
        assert not needs_more(text), text


def test_options_act_on_the_lines_after() -> None:
    options = ParseOptions()
    reader = UnitParser("ll a\nll b; echo @(x)\nll c", options)
    assert shown(reader.next()) == "ll a"
    options.aliases = {"ll": "ls -l"}
    options.extglob = True
    assert shown(reader.next()) == "ls -l b; echo @(x)"
    options.aliases = None
    assert shown(reader.next()) == "ll c"
    assert reader.next() is None
    again = UnitParser("ll a\nll b; echo @(x)\nll c")
    assert shown(again.next()) == "ll a"
    with pytest.raises(ParseError):
        again.next()


def test_aliases() -> None:
    assert expanded("ll a; x | ll && ll", ll="ls -l") == "ls -l a; x | ls -l && ls -l"
    assert expanded("a a; a", a="a b") == "a b a; a b"
    assert expanded("a; b", a="b", b="a") == "a; b"
    assert expanded("\\a; 'a' b; \"a\"", a="x") == "\\a; 'a' b; \"a\""
    assert expanded("x=1 a; >f a; ! a; time a", a="x") == "x=1 x; x > f; ! x; time x"
    assert expanded("for a in a; do a; done", a="x") == "for a in a;\ndo\n    x;\ndone"
    assert expanded("case a in a) a;; esac", a="x") == "case a in \n    a)\n        x\n    ;;\nesac"


def test_an_alias_with_a_trailing_blank_invites_the_next_word() -> None:
    assert expanded("sudo ll; sudo -u x ll", sudo="sudo ", ll="ls -l") == "sudo ls -l; sudo -u x ll"
    assert expanded("e x x; e y", e="echo ", x="y z", y="q") == "echo q z x; echo q"
    assert expanded("a a; a c b", a="b ", b="c ", c="d") == "d d; d d b"


def test_an_alias_may_hold_any_text() -> None:
    assert expanded("i echo; t", i="if true; then", t="fi") == "if true; then\n    echo;\nfi"
    assert expanded("a>f; a&&a", a="echo 2") == "echo 2 > f; echo 2 && echo 2"
    assert expanded('a y"; b', a='echo "x') == 'echo "x y"; b'
    assert expanded("a\nhi\nE\nb", a="cat <<E") == "cat <<E\nhi\nE\n b"
    assert expanded("a b; a", a="") == "b"
    assert expanded("a b\nc", a="# x") == "c"


def test_lines_are_those_of_the_text_before_aliases() -> None:
    script = parse("a\na; b\nc )", aliases={"a": "one two three four five\nsix"})
    assert command_text(script.items) == "one two three four five; six; one two three four five; six; b"
    assert script.error is not None
    assert script.error.line == 3
    assert [getattr(item, "line", 0) for item in script.items][-1] == 2


def test_alias_free_texts_are_parsed_once() -> None:
    clear_cache()
    text = "echo cached; echo $(x)"
    first = parse(text)
    assert parse(text) is first
    assert parse(text, extglob=True) is not first
    assert parse(text, line=2).items == first.items
    assert UnitParser(text).next() == first.items
    assert parse("ll", aliases={"ll": "x"}).items != parse("ll").items
    assert parse("ll").items == parse("ll", aliases={}).items


def test_threads_parse_the_same() -> None:
    expected = {script: repr(parse(script, extglob=True).items) for script in ALL_VALID}
    clear_cache()
    wrong: list[str] = []

    def work(start: int) -> None:
        for turn in range(150):
            script = ALL_VALID[(start * 37 + turn * 7) % len(ALL_VALID)]
            if turn % 10 == 0:
                clear_cache()
            if repr(parse(script, extglob=True).items) != expected[script]:
                wrong.append(script)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
