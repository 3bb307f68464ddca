"""The index file: an SQLite database with the texts (FTS5) and the vectors of their passages."""
from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path
from urllib.parse import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

FORMAT = 1
SCHEMA = f"""
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, version TEXT NOT NULL, size INTEGER NOT NULL);
CREATE VIRTUAL TABLE texts USING fts5(name, content, tokenize = "unicode61 remove_diacritics 2");
CREATE TABLE vectors (file INTEGER NOT NULL, part INTEGER NOT NULL, vector BLOB NOT NULL, text TEXT NOT NULL,
                      PRIMARY KEY (file, part)) WITHOUT ROWID;
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO about VALUES ('format', '{FORMAT}');
"""
WORD = re.compile(r'"[^"]+"\*?|[^\s"]+')
LETTER = re.compile(r"\w")


class IndexUnusable(Exception):
    """The index cannot be used; the text says why."""


class Hit:
    """A file that a question finds. `score`: larger is better, comparable within one answer."""

    __slots__ = ("path", "score", "text", "version")

    def __init__(self, path: str, version: str, score: float, text: str) -> None:
        self.path = path
        self.version = version
        self.score = score
        self.text = text


class IndexDatabase:
    """path: of the host. `writable` makes it where it is missing. Raises IndexUnusable."""

    def __init__(self, path: str | os.PathLike[str], writable: bool = False) -> None:
        self.path = Path(path)
        if writable:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        elif not self.path.is_file():
            raise IndexUnusable("there is no index; make one with: mirage index PATH")
        mode = "rwc" if writable else "ro"
        try:
            place = f"file:{quote(str(self.path.absolute()))}?mode={mode}"
            self.db = sqlite3.connect(place, uri=True, timeout=10, check_same_thread=False)
            if writable and not self.db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                self.db.executescript(SCHEMA)
            known = self.about("format")
        except sqlite3.Error as e:
            raise IndexUnusable(f"the index cannot be opened: {e}") from None
        if known != str(FORMAT):
            raise IndexUnusable(f"the index has format {known or 'unknown'}, this version reads {FORMAT}: make it anew")

    def close(self) -> None:
        self.db.close()

    def about(self, name: str) -> str:
        row = self.db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def remember(self, name: str, value: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    # ---- changes

    def versions(self, top: str) -> dict[str, tuple[int, str]]:
        """path -> (id, version) of what is known at and below a path."""
        where, values = _below([top])
        return {path: (id, version) for id, path, version in
                self.db.execute(f"SELECT id, path, version FROM files WHERE {where}", values)}

    def put(self, path: str, version: str, content: str | None, parts: Sequence[tuple[str, bytes]] = ()) -> None:
        """Replace what is known of a file. content None: it has no text."""
        row = self.db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        if row:
            self.drop([row[0]])
        id = self.db.execute("INSERT INTO files (path, version, size) VALUES (?, ?, ?)",
                             (path, version, len(content or ""))).lastrowid
        if content is not None:
            name = re.sub(r"[_/.-]+", " ", path)
            self.db.execute("INSERT INTO texts (rowid, name, content) VALUES (?, ?, ?)", (id, name, content))
        self.db.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?)",
                            [(id, number, vector, text[:200]) for number, (text, vector) in enumerate(parts)])

    def drop(self, ids: Iterable[int]) -> None:
        for id in ids:
            self.db.execute("DELETE FROM files WHERE id = ?", (id,))
            self.db.execute("DELETE FROM texts WHERE rowid = ?", (id,))
            self.db.execute("DELETE FROM vectors WHERE file = ?", (id,))

    def commit(self) -> None:
        self.db.commit()

    # ---- questions

    def by_text(self, question: str, tops: Sequence[str], most: int) -> list[Hit]:
        """Files with all words of the question, best first; then those with some of them."""
        words = _fts_words(question)
        if not words:
            return []
        where, values = _below(tops)
        found: dict[str, Hit] = {}
        for text in dict.fromkeys((" AND ".join(words), " OR ".join(words))):
            rows = self.db.execute(
                "SELECT f.path, f.version, -bm25(texts, 2.0, 1.0), snippet(texts, 1, '', '', '...', 14) FROM texts "
                f"JOIN files f ON f.id = texts.rowid WHERE texts MATCH ? AND {where} ORDER BY 3 DESC, 1 LIMIT ?",
                (text, *values, most))
            for path, version, score, snippet in rows:
                found.setdefault(path, Hit(path, version, score, snippet))
            if len(found) >= most:
                break
        return list(found.values())[:most]

    def passages(self, tops: Sequence[str]) -> list[tuple[Any, ...]]:
        """(path, version, vector, beginning of the text) of every passage below one of the paths."""
        where, values = _below(tops)
        return self.db.execute("SELECT f.path, f.version, v.vector, v.text FROM vectors v "
                               f"JOIN files f ON f.id = v.file WHERE {where}", values).fetchall()

    def count(self) -> tuple[int, int]:
        """(files with text, passages with a vector)"""
        files = self.db.execute("SELECT count(*) FROM files WHERE size > 0").fetchone()[0]
        return int(files), int(self.db.execute("SELECT count(*) FROM vectors").fetchone()[0])


def _below(tops: Sequence[str]) -> tuple[str, list[str]]:
    """SQL and its values: the path is one of `tops`, or below one."""
    parts, values = [], []
    for top in tops or ["/"]:
        prefix = top.rstrip("/")
        parts.append("(path = ? OR path > ? AND path < ?)")
        values += [top, prefix + "/", prefix + "0"]
    return "(" + " OR ".join(parts) + ")", values


def _fts_words(question: str) -> list[str]:
    """Words and "phrases" as FTS5 takes them; `word*` is a beginning. Everything else is taken as it is."""
    found = []
    for word in WORD.findall(question):
        star = "*" if word.endswith("*") else ""
        text = word.rstrip("*").strip('"').replace('"', " ")
        if LETTER.search(text):
            found.append(f'"{text}"{star}')
    return found
