"""The mount in docs/mounts.md does what the page says."""
from __future__ import annotations

import os
import re

import pytest

from tests.mounts.contract import MountContract
from tests.vfs.support import filesystem

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "mounts.md")


@pytest.fixture
def greetings():
    with open(PAGE, encoding="utf-8") as file:
        code = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)[0]
    names = {}
    exec(code, names)
    return names["Greetings"]()


def test_the_example_can_be_used(greetings):
    fs = filesystem({"/greet": greetings})
    assert fs.read("/greet/hello") == b"Hello!\n"
    assert [e.name for e in fs.list("/greet")] == ["hello", "bye"]
    assert [(p, len(es)) for p, es in fs.walk("/greet")] == [("/greet", 2)]


@pytest.mark.parametrize("test", ["names_are_names", "listing_agrees_with_stat", "size_is_what_reading_gives", "ranges",
                                  "version_is_stable", "readers_do_not_disturb_each_other", "walk_through_the_filesystem"])
def test_the_example_keeps_the_contract(greetings, test):
    getattr(MountContract(), f"test_{test}")(greetings)
