"""The interactive terminal, typed to on a pseudo-terminal."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pty")
from tests.console.keyboard import CTRL_C, CTRL_D, CTRL_R, TAB, UP, Keyboard

Open = Callable[..., Keyboard]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("one\ntwo\n")
    (tmp_path / "my file.txt").write_text("spaces\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "er.txt").write_text("deep\n")
    (tmp_path / "secret.txt").write_text("hidden\n")
    (tmp_path / "policy.yaml").write_text('rules:\n  - {path: "/src/secret.txt", action: hide}\n'
                                          '  - {effect: exec, command: [rm], action: ask, reason: "rm needs a person"}\n')
    return tmp_path


@pytest.fixture
def open_terminal(folder: Path) -> Iterator[Open]:
    opened: list[Keyboard] = []

    def make(*arguments: str, **options: Any) -> Keyboard:
        opened.append(Keyboard(folder, *arguments, **options))
        opened[-1].prompt()
        return opened[-1]

    yield make
    for keyboard in opened:
        keyboard.close()


def test_lines_keep_their_state_and_ctrl_d_leaves_with_the_last_status(open_terminal: Open) -> None:
    t = open_terminal()
    t.line("x=5; cd /src; pwd")
    t.expect("\n/src\n")
    t.expect(r"user@mirage:/src\$ ")
    t.line("echo $((x * 3))")
    t.expect("\n15\n")
    t.prompt()
    t.line("nothing-here")
    t.expect("\nbash: nothing-here: command not found\n")
    t.prompt()
    t.type(CTRL_D)
    t.expect("exit")
    assert t.status() == 127


def test_exit_leaves_with_its_status_and_runs_the_exit_trap(open_terminal: Open) -> None:
    t = open_terminal()
    t.line("trap 'echo farewell' EXIT")
    t.prompt()
    t.line("exit 3")
    t.expect("\nfarewell")
    assert t.status() == 3


def test_a_construct_that_is_open_goes_on_on_the_next_line(open_terminal: Open) -> None:
    t = open_terminal()
    t.line("for i in a b")
    t.line("do echo item-$i")
    t.line("done")
    t.expect("\nitem-a\nitem-b\n")
    t.prompt()
    t.line("cat <<END")
    t.line("hello $((1+1))")
    t.line("END")
    t.expect("\nhello 2\n")
    t.prompt()
    t.line("echo 'open")
    t.line("quote'")
    t.expect("\nopen\nquote\n")
    t.prompt()
    t.line("echo back\\")
    t.line("slash")
    t.expect("\nbackslash\n")


def test_a_syntax_error_is_told_and_forgotten(open_terminal: Open) -> None:
    t = open_terminal()
    t.line("echo )")
    t.expect(r"bash: (line 1: )?syntax error near unexpected token `\)'")
    t.prompt()
    t.line("echo still here")
    t.expect("\nstill here\n")


@pytest.mark.parametrize("line", ["sleep 100", "while :; do :; done", "yes | sleep 100", "sleep 100 & wait", "cat",
                                  "sleep 50 | cat", "read x", "(while :; do :; done) | cat"])
def test_ctrl_c_stops_the_line_only(open_terminal: Open, line: str) -> None:
    t = open_terminal()
    t.line("x=kept")
    t.prompt()
    t.line("echo started; " + line)
    t.expect("\nstarted\n")
    t.type(CTRL_C)
    t.prompt()
    t.line("echo $? $x")
    t.expect("\n130 kept\n", 5)


def test_ctrl_c_at_the_prompt_clears_the_line(open_terminal: Open) -> None:
    t = open_terminal()
    t.type("echo wrong")
    t.expect("wrong")
    t.type(CTRL_C)
    t.prompt()
    t.line("echo right")
    t.expect("\nright\n")
    assert "\nwrong\n" not in t.text


def test_what_is_typed_goes_to_the_running_command(open_terminal: Open) -> None:
    t = open_terminal()
    t.line("read -p 'name? ' name; echo \"hello $name\"")
    t.expect(r"\nname\? ")
    t.line("Ada")
    t.expect("\nhello Ada\n")
    t.prompt()
    t.line("echo go; cat > /tmp/typed; wc -l < /tmp/typed")
    t.expect("\ngo\n")
    t.type("one\rtwo\r" + CTRL_D)
    t.expect("\n2\n")
    t.prompt()
    t.line("echo now; cat | tr a-z A-Z")
    t.expect("\nnow\n")
    t.type("shout\r" + CTRL_D)
    t.expect("\nSHOUT\n")
    t.prompt()
    t.line("echo done")
    t.expect("\ndone\n")


def test_the_terminal_is_one_to_the_commands(open_terminal: Open) -> None:
    t = open_terminal(size=(30, 61))
    t.line("test -t 0 && test -t 1 && echo both; echo hi | { test -t 0 || echo pipe; }; echo $COLUMNS $LINES $TERM $-")
    t.expect("\nboth\npipe\n61 30 xterm-256color ")
    assert "i" in t.expect(r"\S+\n")


def test_colours_only_where_a_person_looks(open_terminal: Open) -> None:
    t = open_terminal()
    t.line("cd /src; ls; echo end")
    t.expect("\nend\n")
    assert b"\x1b[01;34mdeep\x1b[0m" in t.raw
    t.prompt()
    before = len(t.raw)
    t.line("ls | cat; echo stop")
    t.expect("\nstop\n")
    assert b"\x1b[01;34m" not in t.raw[before:]
    t.prompt()
    before = len(t.raw)
    t.line("grep two notes.txt")
    t.expect("\ntwo\n")
    assert b"\x1b[01;31m" in t.raw[before:]


def test_completion(open_terminal: Open) -> None:
    t = open_terminal("--policy", "policy.yaml")
    for typed, result in (
        ("cat /src/no" + TAB, "one\ntwo\n"), ("cat /src/my" + TAB, "spaces\n"), ("cat '/src/de" + TAB + "er" + TAB, "deep\n"),
        ('cat "/src/my' + TAB, "spaces\n"), ("echo a | sha256su" + TAB + "| cut -c 1-5", "87428\n"),
        ('echo "<$(basena' + TAB + '/a/b)>"', "<b>\n"), ('name_of_it=v; echo "$HOSTN' + TAB + '"', "mirage\n"),
        ('echo $name_of' + TAB, "v\n"), ("D=/src; echo ok", "ok\n"), ("cat < $D/no" + TAB, "one\ntwo\n"), ("cat $D/de" + TAB + TAB, "deep\n"),
        ("cat /src/sec" + TAB + "ret.txt", "cat: /src/secret.txt: No such file or directory\n"),
        ("ls /src/" + TAB + "de" + TAB, "er.txt\n"), ("for f in /src/no" + TAB + "; do wc -l <$f; done", "2\n"),
    ):
        t.line(typed)
        t.expect("\n" + re.escape(result))
        t.prompt()


def test_two_possible_completions_are_listed(open_terminal: Open) -> None:
    t = open_terminal("--policy", "policy.yaml")
    t.type("cat /src/" + TAB + TAB)
    listed = t.expect(r"policy\.yaml")
    assert "deep/" in listed and "secret" not in listed


def test_history_is_searched_and_kept(open_terminal: Open) -> None:
    t = open_terminal()
    for line in ("echo first-$((1+1))", "echo second", " echo unkept"):
        t.line(line)
        t.prompt()
    t.type(UP + UP + "\r")
    t.expect("\nsecond\n")
    t.prompt()
    t.type(CTRL_R)
    t.expect("I-search")
    t.type("fir")
    t.expect("first-")
    t.type("\r")
    t.expect("\nfirst-2\n")
    t.prompt()
    t.line("history | tail -2")
    t.expect(r"\n +\d+  echo first-\$\(\(1\+1\)\)\n +\d+  history \| tail -2\n")
    t.prompt()
    t.line("exit")
    assert t.status() == 0
    again = open_terminal()
    again.type("ech" + UP + "\r")
    again.expect("\nfirst-2\n")


def test_a_job_is_announced_and_writes_above_the_prompt(open_terminal: Open) -> None:
    t = open_terminal()
    t.line("(sleep 0.3; echo from the job) &")
    t.expect(r"\n\[1\] \d+\n")
    t.prompt()
    t.type("echo ha")
    t.expect("from the job")
    t.line("lf")
    t.expect("\nhalf\n")
    t.expect(r"\[1\]\+ +Done +\(")
    t.prompt()
    t.line("jobs; echo none")
    t.expect("\nnone\n")


def test_the_owner_answers(open_terminal: Open) -> None:
    t = open_terminal("--policy", "policy.yaml")
    t.line("touch a b c d; rm a; ls")
    t.expect(r"approval needed: exec rm a\n.*rm needs a person\n(.*\n)?.*\[N\]o: ")
    t.line("n")
    t.expect(r"\nbash: (line 1: )?rm: Permission denied\nmirage: denied: refused by the owner\na +b +c +d\n")
    t.prompt()
    t.line("rm b; ls")
    t.expect(r"\[N\]o: ")
    t.line("y")
    t.expect("\na +c +d\n")
    t.prompt()
    t.line("rm c; rm d; ls; echo end")
    t.expect(r"\[N\]o: ")
    t.line("a")
    t.expect("\na\nend\n")
    t.prompt()


def test_ctrl_c_refuses_an_open_question(open_terminal: Open) -> None:
    t = open_terminal("--policy", "policy.yaml")
    t.line("touch a; rm a; echo not reached")
    t.expect(r"\[N\]o: ")
    t.type(CTRL_C)
    t.prompt()
    t.line("ls; echo end")
    t.expect("\na\nend\n")


def test_much_output_wide_characters_and_a_paste(open_terminal: Open) -> None:
    t = open_terminal()
    t.line("seq 20000; echo end")
    t.expect("\n19999\n20000\nend\n", 30)
    t.prompt()
    t.line("echo 'ü 漢字 🙂'; printf 'caf\\xe9\\n' | wc -c")
    t.expect("\nü 漢字 🙂\n5\n")
    t.prompt()
    t.type("\x1b[200~echo pasted-1\necho pasted-2\x1b[201~")
    t.expect("pasted-2")
    assert "\npasted-1\n" not in t.text
    t.type("\r")
    t.expect("\npasted-1\npasted-2\n")


def test_no_time_limit_but_the_one_given(open_terminal: Open) -> None:
    t = open_terminal("--timeout", "0.3")
    t.line("sleep inf")
    t.expect("mirage: timeout")
    t.prompt()
    t.line("echo $?")
    t.expect("\n124\n")


def test_a_history_that_cannot_be_written_is_no_obstacle(open_terminal: Open, folder: Path) -> None:
    (folder / "state").write_text("in the way")
    t = open_terminal()
    assert re.search("mirage: the history is not kept", t.text)
    t.line("echo fine")
    t.expect("\nfine\n")
