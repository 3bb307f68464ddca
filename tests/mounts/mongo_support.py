"""A small MongoDB with a mount, for tests of the mount and the CLI."""
from __future__ import annotations

from mirage import Terminal
from mirage.bench.services.mongo import MongoSimulator
from mirage.clis.mongo import MongoCli
from mirage.mounts.mongodb import build
from mirage.mounts.sql.url import DatabaseUrl


def make_mount(simulator: MongoSimulator, **options: object):
    return build(DatabaseUrl(simulator.url), **{"timeout": 20.0, **options})


def make_terminal(simulator: MongoSimulator, mount=None, **options: object) -> Terminal:
    mount = mount or make_mount(simulator)
    return Terminal({"/mongo": mount}, clis=[MongoCli(mount)], **options)
