"""A short run of the comparison with the real programs; skipped where there is no jail (jail.py says why).

The reference is the directory in MIRAGE_REFERENCE (a Debian 13), else this machine, if its programs are those versions.
"""
from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.differential.cases import Case, case
from tests.differential.compare import compare
from tests.differential.explained import reason
from tests.differential.jail import Jail, available, versions

REFERENCE = os.environ.get("MIRAGE_REFERENCE", "/")
BATCHES, SIZE, SEED = 10, 20, 2026


@pytest.fixture(scope="module")
def jail() -> Iterator[Jail]:
    problem = available(REFERENCE)
    if problem:
        pytest.skip(problem)
    with Jail(REFERENCE) as one:
        other = versions(one)[1]
        if other:
            pytest.skip(f"other versions of {', '.join(other)} in {REFERENCE}")
        yield one


@pytest.mark.parametrize("batch", range(BATCHES))
def test_generated_cases_give_what_the_real_programs_give(jail: Jail, batch: int) -> None:
    for number in range(batch * SIZE, (batch + 1) * SIZE):
        found = compare(jail, case(SEED, number))
        if found is not None:
            assert reason(found), found.text()


def test_a_difference_is_found(jail: Jail) -> None:
    found = compare(jail, Case("shell", ["echo $HOSTNAME"], {}, b""))
    assert found is not None and found.real.stdout == b"localhost\n" and found.mine.stdout != found.real.stdout


def test_the_jail_confines(jail: Jail) -> None:
    answer = jail.run("id -u; ls /home; touch /usr/x 2>/dev/null || echo refused; cat /proc/net/dev | grep -vc lo:", {"f": b""})
    assert answer.stdout == b"1000\nuser\nrefused\n2\n"
