"""The mount: /<db>/<collection>/{documents.jsonl,schema.json,count}."""
from __future__ import annotations

import errno
import json
import os
import threading
import time
from typing import TYPE_CHECKING, Any

from mirage.mounts.mongodb.client import Server
from mirage.mounts.mongodb.documents import Documents, DocumentsHandle
from mirage.process import blocking
from mirage.vfs.declare.pages import read_range
from mirage.vfs.describe import Description, Format
from mirage.vfs.handles import RangeHandle
from mirage.vfs.names import checksum_names, safe_name
from mirage.vfs.service import Freshness
from mirage.vfs.types import S_IFDIR, S_IFREG, Capabilities, Entry, Stat, enoent, error, new_device

if TYPE_CHECKING:
    from mirage.mounts.mongodb.documents import Known
    from mirage.mounts.sql.url import DatabaseUrl
    from mirage.vfs.search import Candidates, Query

    Collection = tuple[str, str, str]                        # database, name, "collection", "view" or "timeseries"
    Entries = list[Entry]
    Places = list[tuple[str, Collection, str]]

FILES = ("documents.jsonl", "schema.json", "count")
NEVER = set('/\\. "$*<>:|?')                                  # characters that no name of a database has
SYSTEM = ("admin", "config", "local")


class MongoDB:
    """One server, read-only; the CLI `mongo` changes it.

    url        a DatabaseUrl
    timeout    seconds that a command may take; 0 is no limit
    ttl        seconds until a long line looks again which collections there are; every new line looks once
    databases  only these, separated by commas; default: all but the server's own
    sample     documents that schema.json looks at
    bound      a collection of so many documents is read by `grep -r` without a search
    """

    capabilities = Capabilities("open", "search", "describe")

    def __init__(self, url: DatabaseUrl, timeout: float = 30.0, ttl: float = 30.0, databases: str = "",
                 sample: int = 200, bound: int = 1000) -> None:
        self.server = Server(url, timeout)
        self.counters = self.server.counters
        self.device = new_device()
        self.only = [name.strip() for name in databases.split(",") if name.strip()]
        self.sample = sample
        self.bound = bound
        self._fresh = Freshness(ttl)
        self._lock = threading.Lock()
        self._databases: dict[str, str] = {}
        self._listed = False                                 # all databases
        self._collections: dict[str, dict[str, Collection]] = {}
        self.known: Known = {}                               # fields of collections, for one line
        self._made = time.time_ns()

    # ---- what there is

    def databases(self) -> dict[str, str]:
        """Directory -> database, asked once per typed line."""
        with self._lock:
            if self._listed and not self._fresh.due():
                return self._databases
        names = self.only
        if not names:
            listed = blocking.call(self.server.run, lambda client: client.list_database_names())
            names = [name for name in listed if name not in SYSTEM]
        with self._lock:
            self._databases = dict(zip(checksum_names(sorted(names)), sorted(names), strict=True))
            if self._fresh.due():
                self._collections, self.known = {}, {}
                self._fresh.done()
            self._listed = True
            return self._databases

    def _database(self, directory: str) -> str | None:
        """The database of a directory. One that has collections is there: no list of all is needed.

        Names of databases that differ in letter case only cannot be, so an ASCII name is that of the directory.
        """
        with self._lock:
            if self._fresh.due():
                self._databases, self._collections, self.known = {}, {}, {}
                self._listed = False
                self._fresh.done()
            elif self._listed:
                return self._databases.get(directory)
        if not self.only and directory.isascii() and safe_name(directory) == directory and directory not in SYSTEM \
                and not set(directory) & NEVER and self.collections(directory):
            return directory
        return self.databases().get(directory)

    def collections(self, database: str) -> dict[str, Collection]:
        """Directory -> collection or view of a database."""
        with self._lock:
            found = self._collections.get(database)
        if found is None:
            listed = blocking.call(self.server.run, lambda client: list(client[database].list_collections()))
            kinds = {c["name"]: c.get("type", "collection") for c in listed if not c["name"].startswith("system.")}
            order = sorted(kinds)
            found = {file: (database, name, kinds[name])
                     for file, name in zip(checksum_names(order), order, strict=True)}
            with self._lock:
                self._collections[database] = found
        return found

    def changed(self) -> None:
        """Databases or collections may have been made or dropped."""
        with self._lock:
            self._fresh.expire()

    def _find(self, path: str) -> tuple[str | None, Collection | None, str]:
        """(database, collection, file); ENOENT and ENOTDIR."""
        if path == "/":
            return None, None, ""
        parts = path[1:].split("/")
        database = self._database(parts[0])
        if database is None:
            raise enoent(path)
        if len(parts) == 1:
            return database, None, ""
        collection = self.collections(database).get(parts[1])
        if collection is None or len(parts) > 2 and parts[2] not in FILES:
            raise enoent(path)
        if len(parts) > 3:
            raise error(errno.ENOTDIR, path)
        return database, collection, parts[2] if len(parts) == 3 else ""

    # ---- looking

    def list(self, path: str) -> Entries:
        database, collection, file = self._find(path)
        if file:
            raise error(errno.ENOTDIR, path)
        if collection is not None:
            return [Entry(name, self._file()) for name in FILES]
        names = self.databases() if database is None else self.collections(database)
        return [Entry(name, self._directory()) for name in names]

    def stat(self, path: str) -> Stat:
        return self._file() if self._find(path)[2] else self._directory()

    def _file(self) -> Stat:
        return Stat(S_IFREG | 0o444, None, self._made)

    def _directory(self) -> Stat:
        return Stat(S_IFDIR | 0o555, 4096, self._made, nlink=2)

    # ---- content

    def _open_file(self, path: str) -> tuple[Documents, str]:
        _, collection, file = self._find(path)
        if collection is None or not file:
            raise error(errno.EISDIR, path)
        return Documents(self.server, *collection, self.bound, self.known), file

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        documents, file = self._open_file(path)
        if file == "documents.jsonl":
            return read_range(documents.pages(), offset, length)
        data = b"%d\n" % documents.count() if file == "count" else self.schema(documents)
        return data[offset:] if length is None else data[offset:offset + length]

    def open(self, path: str, flags: int, mode: int = 0) -> DocumentsHandle | RangeHandle:
        if flags & os.O_ACCMODE != os.O_RDONLY or flags & os.O_TRUNC:
            raise error(errno.EROFS, path)
        documents, file = self._open_file(path)
        if file == "documents.jsonl":
            return DocumentsHandle(documents, self._file())
        return RangeHandle(self, path, self._file())

    def schema(self, documents: Documents) -> bytes:
        text = json.dumps(documents.schema(self.sample), ensure_ascii=False, indent=2)
        return f"{text}\n".encode("utf-8", "replace")

    # ---- search and description

    def search(self, path: str, query: Query) -> Candidates | None:
        """Files below a directory that may hold a match (mirage/mounts/mongodb/search.py)."""
        from mirage.mounts.mongodb.search import search
        return search(self, path, query)

    def places(self, path: str) -> Places:
        """(path, collection, file) of every file at or below `path`."""
        database, collection, file = self._find(path)
        if collection is not None:
            return [(path, collection, file)] if file else [(f"{path}/{name}", collection, name) for name in FILES]
        chosen: dict[str, Any] = self.databases() if database is None else {path[1:]: database}
        return [(f"/{directory}/{name}/{each}", found, each) for directory, own in chosen.items()
                for name, found in self.collections(own).items() for each in FILES]

    def backend(self, path: str) -> tuple[str, str]:
        """The server, for rules about another mount of it."""
        return f"mongodb:{self.server.url!r}", path

    def describe(self) -> Description:
        return Description(
            "MongoDB: databases, then collections. `head`, `tail -n`, `wc -l` are cheap. Change it with `mongo`.",
            [("<db>/<collection>/documents.jsonl", "extended JSON, a document a line"),
             ("<db>/<collection>/schema.json", "fields, indexes"),
             ("<db>/<collection>/count", "number of documents")],
            [Format("documents.jsonl", '{"_id": {"$oid": "66..."}, "at": {"$date": "2026-01-31T09:00:00Z"}}\n')])

    def close(self) -> None:
        self.server.close()

    def __repr__(self) -> str:
        return f"MongoDB({self.server.url!r})"
