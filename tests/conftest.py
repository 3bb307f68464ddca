"""For all tests: a slow or busy machine must not make one fail, so hypothesis has no deadline per example."""
from __future__ import annotations

import signal

import pytest
from hypothesis import settings

settings.register_profile("mirage", deadline=None)
settings.load_profile("mirage")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:        # of a job in the background, and its children's too
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Judges install programs of others, which takes minutes: `pytest -m judge` runs them."""
    if "judge" not in config.option.markexpr:
        skip = pytest.mark.skip(reason="a judge; run with -m judge")
        for item in items:
            if "judge" in item.keywords:
                item.add_marker(skip)
