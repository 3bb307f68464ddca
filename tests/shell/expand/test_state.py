"""The Shell object itself: what builtins and the interpreter call."""

from __future__ import annotations

import pytest

from mirage import Terminal
from mirage.shell.control import ShellError
from mirage.shell.state import ASSOC, EXPORT, INDEXED, INTEGER, NAMEREF, READONLY, UPPER, Shell, Var


@pytest.fixture
def sh():
    with Terminal(cwd="/home/user", env={"LANG": "C.UTF-8"}) as terminal:
        yield terminal.session.shell


def fork(sh: Shell) -> Shell:
    return sh.fork(sh.proc)


def test_a_plain_variable_is_a_str_in_vars(sh: Shell) -> None:
    sh.set("x", "1")
    assert sh.vars["x"] == "1"
    sh.set("x", "2", append=True)
    assert (sh.get("x"), sh.get("nothing"), sh.flags("x")) == ("12", None, 0)
    sh.declare("x", EXPORT)
    assert isinstance(sh.vars["x"], Var)
    sh.declare("x", 0, EXPORT)
    assert sh.vars["x"] == "12"


def test_attributes_apply_to_what_is_assigned(sh: Shell) -> None:
    sh.declare("n", INTEGER)
    sh.set("n", "2*3")
    sh.set("n", "4", append=True)
    sh.declare("u", UPPER)
    sh.set("u", "abc")
    assert (sh.get("n"), sh.get("u")) == ("10", "ABC")
    sh.declare("n", READONLY)
    with pytest.raises(ShellError, match="n: readonly variable"):
        sh.set("n", "1")
    with pytest.raises(ShellError, match="n: cannot unset: readonly variable"):
        sh.unset("n")


def test_indexed_arrays_are_read_in_the_order_of_their_indexes(sh: Shell) -> None:
    for key in (5, 1, 3):
        sh.set_element("a", key, f"v{key}")
    assert (sh.keys("a"), sh.elements("a")) == (["1", "3", "5"], ["v1", "v3", "v5"])
    sh.set_element("a", -1, "last")
    sh.append_elements("a", ["next"])
    assert sh.keys("a") == ["1", "3", "5", "6"]
    assert (sh.get("a"), sh.get_element("a", 5), sh.get_element("a", -1)) == (None, "last", "next")
    with pytest.raises(ShellError, match="bad array subscript"):
        sh.set_element("a", -9, "x")
    sh.unset_element("a", -1)
    assert sh.keys("a") == ["1", "3", "5"]


def test_associative_arrays_are_read_in_the_order_of_bash(sh: Shell) -> None:
    sh.declare("h", ASSOC)
    for key in ("apple", "pear", "fig", "plum", "kiwi"):
        sh.set_element("h", key, key)
    first = sh.keys("h")
    sh.unset_element("h", "fig")
    sh.set_element("h", "fig", "again")
    assert sh.keys("h") == first  # the place is that of the hash, not of the insertion
    with pytest.raises(ShellError, match="cannot convert"):
        sh.declare("h", INDEXED)


def test_a_subshell_changes_nothing_outside_and_sees_no_later_change(sh: Shell) -> None:
    sh.set_array("a", ["1", "2"])
    sh.declare("e", EXPORT)
    sh.set("e", "old")
    child = fork(sh)
    child.set_element("a", 0, "child")
    sh.set_element("a", 1, "parent")
    child.set("e", "new")
    child.options.noglob = True
    child.positional.append("x")
    assert (sh.elements("a"), child.elements("a")) == (["1", "parent"], ["child", "2"])
    assert (sh.exported()["e"], child.exported()["e"]) == ("old", "new")
    assert not sh.options.noglob and not sh.positional
    assert (child.get("BASH_SUBSHELL"), sh.get("BASH_SUBSHELL")) == ("1", "0")


def test_scopes_are_undone(sh: Shell) -> None:
    sh.set("x", "outer")
    sh.push_scope()
    sh.make_local("x")
    assert sh.get("x") is None
    sh.set("x", "inner")
    sh.push_scope()
    sh.set("x", "seen from below")
    sh.unset("x")
    assert sh.get("x") == "outer"
    sh.pop_scope()
    sh.pop_scope()
    assert sh.get("x") == "outer"
    with pytest.raises(ShellError, match="can only be used in a function"):
        sh.make_local("x")


def test_temporary_assignments_are_exported_and_undone(sh: Shell) -> None:
    sh.set("x", "1")
    sh.with_temp([("x", "2"), ("y", "3")])
    assert {name: sh.exported()[name] for name in ("x", "y")} == {"x": "2", "y": "3"}
    sh.pop_scope()
    assert (sh.get("x"), sh.get("y"), "x" in sh.exported()) == ("1", None, False)


def test_the_environment_is_kept_until_something_changes(sh: Shell) -> None:
    first = sh.exported()
    sh.set("plain", "1")
    assert sh.exported() is first
    sh.declare("plain", EXPORT)
    assert sh.exported()["plain"] == "1" and "plain" not in first


def test_namerefs(sh: Shell) -> None:
    sh.set_array("a", ["x", "y"])
    sh.declare("r", NAMEREF)
    sh.set("r", "a[1]")
    assert (sh.resolve("r"), sh.get("r")) == (("a", "1"), "y")
    sh.set("r", "z")
    assert sh.elements("a") == ["x", "z"]
    sh.unset("r", nameref=True)
    assert sh.elements("a") == ["x", "z"] and sh.get("r") is None


def test_text_targets(sh: Shell) -> None:
    sh.set("i", "2")
    sh.assign("a[i+1]", "three")
    sh.assign("s", "word")
    assert (sh.keys("a"), sh.fetch("a[3]"), sh.fetch("s"), sh.fetch("a[0]")) == (["3"], "three", "word", None)


def test_options(sh: Shell) -> None:
    assert sh.options.dash() == "hBc"
    assert sh.options.set("errexit", True) and sh.options.set_letter("f", True) and not sh.options.set("nosuch", True)
    assert (sh.options.dash(), sh.options.get("noglob"), sh.options.get("nosuch")) == ("efhBc", True, None)
    assert len(sh.shopt) == 57 and sh.get("SHELLOPTS") == "braceexpand:errexit:hashall:interactive-comments:noglob"
