"""A Session over the usual tree in memory: the smallest real terminal."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mirage.machine import Machine
from mirage.process.limits import Limits
from mirage.shell.exec.session import Done, Session
from mirage.vfs.namespace import Namespace
from mirage.vfs.tree import default_mounts

ENVIRONMENT = {"HOME": "/home/user", "USER": "user", "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


def new_session(**limits: Any) -> Session:
    machine = Machine(Namespace())
    for path, mount in default_mounts(machine.program_names).items():
        machine.namespace.mount(path, mount)
    return Session(machine, Limits(**limits), env=ENVIRONMENT, cwd="/home/user")


@pytest.fixture
def make_session() -> Iterator[Callable[..., Session]]:
    sessions: list[Session] = []

    def make(**limits: Any) -> Session:
        sessions.append(new_session(**limits))
        return sessions[-1]

    yield make
    for session in sessions:
        session.close()


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    return make_session(timeout=10)


@pytest.fixture
def bash(session: Session) -> Callable[[str], Done]:
    """Run a text as `bash -c` would, to its end and the EXIT trap."""
    return lambda text, stdin=b"": session.run(text, stdin, final=True)
