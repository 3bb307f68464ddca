"""A mount whose search finds whole words, as services do: for tests of the tools that use it."""
from __future__ import annotations

import re

from mirage.mounts.memory import Memory
from mirage.vfs.pushdown import walk_order
from mirage.vfs.search import Candidates
from mirage.vfs.service import Counters
from mirage.vfs.types import Capabilities, Entry

NOTE = "searched by the service for whole words; {} items not read (--exact reads them)"


class WordSearch:
    """`files` as Memory takes them. bound: files up to which a search for parts of words reads everything.

    asked  (path, literals) of each search;  contents: paths that were read;  down: errors instead of answers
    """

    capabilities = Capabilities("read_many", "search")

    def __init__(self, files: dict[str, bytes], bound: int = 500) -> None:
        self.memory = Memory(files)
        self.counters = Counters()
        self.bound = bound
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.contents: list[str] = []
        self.listed: list[str] = []
        self.down: OSError | None = None

    def list(self, path):
        self.listed.append(path)
        self.counters.add(calls=1)
        return sorted((Entry(e.name, e.stat) for e in self.memory.list(path)), key=lambda e: e.name)

    def stat(self, path):
        return self.memory.stat(path)

    def read(self, path, offset=0, length=None):
        self.counters.add(calls=1)
        self.contents.append(path)
        return self.memory.read(path, offset, length)

    def read_many(self, paths):
        for path in paths:
            yield path, self.read(path)

    def files(self, at="/"):
        for entry in self.memory.list(at):
            path = f"{at.rstrip('/')}/{entry.name}"
            if self.memory.stat(path).is_dir:
                yield from self.files(path)
            else:
                yield path

    def search(self, path, query):
        self.asked.append((path, query.literals))
        if self.down is not None:
            raise self.down
        inside = [p for p in self.files() if p.startswith(path.rstrip("/") + "/")]
        if query.mode == "exact" or not query.whole_words and len(inside) <= self.bound:
            return None
        flags = re.IGNORECASE if query.ignore_case else 0
        words = [re.compile(rf"(?<!\w){re.escape(w)}(?!\w)", flags) for t in query.literals for w in re.findall(r"\w+", t)]
        found = [p for p in inside if (query.names is None or query.names(p.rpartition("/")[2]))
                 and all(w.search(self.memory.read(p).decode()) for w in words)]
        self.counters.add(calls=1, searches=1, candidates=len(found))
        left = 0 if query.whole_words else len(inside) - len(found)
        return Candidates(sorted(found, key=walk_order), not left, left, NOTE.format(left) if left else "")
