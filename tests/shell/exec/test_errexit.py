"""`set -e` and where it does not count."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Done

CASES: dict[str, tuple[str, str, str, int]] = {
    "conditions are exempt": (
        'set -e; if false; then :; fi; while false; do :; done; until true; do :; done; false || true; false && true; ! true; ! false; echo alive; false; echo no',
        'alive\n',
        "",
        1,
    ),
    "a function in a condition is exempt as a whole": (
        'set -e; f() { false; echo "goes on"; }; f || echo no; if f; then echo yes; fi; f && echo and; ! f; f; echo no',
        'goes on\ngoes on\nyes\ngoes on\nand\ngoes on\n',
        "",
        1,
    ),
    "subshells and groups": (
        'set -e; (false) || echo caught; { false; echo in; } && true; (false; echo no); echo no',
        'caught\nin\n',
        "",
        1,
    ),
    "a pipeline counts as its last stage": (
        'set -e; false | true; echo alive; true | false; echo no',
        'alive\n',
        "",
        1,
    ),
    "with pipefail": (
        'set -eo pipefail; true | true; echo alive; false | true; echo no',
        'alive\n',
        "",
        1,
    ),
    "command substitution switches it off unless inherited": (
        'set -e; x=$(false; echo on); echo $x; shopt -s inherit_errexit; x=$(false; echo on) || echo "[$x]"; y=$(false; echo no); echo no',
        'on\n',
        "",
        1,
    ),
    "local hides the status of a substitution": (
        'set -e; f() { local x=$(false); echo alive; }; f; x=$(false); echo no',
        'alive\n',
        "",
        1,
    ),
    "tests and arithmetic": (
        'set -e; [[ a == b ]] || :; ((0)) || :; echo alive; ((0)); echo no',
        'alive\n',
        "",
        1,
    ),
    "loops and case": (
        'set -e; for i in 1 2; do false || continue; done; case x in x) false || :; esac; echo alive; for i in 1; do false; done; echo no',
        'alive\n',
        "",
        1,
    ),
    "the EXIT trap sees the status": (
        'set -e; trap \'echo "exit $?"\' EXIT; f() { return 3; }; f; echo no',
        'exit 3\n',
        "",
        3,
    ),
    "a redirection that fails": (
        'set -e; : < nofile || echo caught; : < nofile; echo no',
        'caught\n',
        'bash: line 1: nofile: No such file or directory\n'
        'bash: line 1: nofile: No such file or directory\n',
        1,
    ),
    "switched off inside": (
        'set -e; f() { set +e; false; echo "in f"; }; f; false; echo "still alive"',
        'in f\nstill alive\n',
        "",
        0,
    ),
    "eval and source": (
        "set -e; eval 'false' || echo caught; echo 'false; echo no' > s; . ./s; echo no",
        'caught\n',
        "",
        1,
    ),
    "an error that discards a line ends the shell": (
        'set -e; readonly r=1; r=2\n'
        'echo no',
        "",
        'bash: line 1: r: readonly variable\n',
        1,
    ),
}
"""title -> (script, stdout, stderr, status), as bash 5.2.37 does it."""


@pytest.mark.parametrize("title", CASES)
def test_as_bash(title: str, bash: Callable[[str], Done]) -> None:
    script, stdout, stderr, status = CASES[title]
    done = bash(script)
    assert (done.stdout.decode(), done.stderr.decode(), done.status) == (stdout, stderr, status)
