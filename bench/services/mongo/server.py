"""The server: commands of the driver, carried out on collections of mongomock. A log of commands, and faults on demand."""
from __future__ import annotations

import copy
import itertools
import socket
import socketserver
import threading
import time
from typing import TYPE_CHECKING, Any

import bson
import mongomock
from bson import ObjectId
from pymongo.errors import PyMongoError

from mirage.bench.services.mongo.seed import fill
from mirage.bench.services.mongo.types import install
from mirage.bench.services.mongo.wire import CODEC, Message, read_message, reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Document = dict[str, Any]

FIRST = 101                                                  # documents of a first batch, unless asked otherwise
BATCH = 16 << 20                                             # bytes of a batch at most
FAULTS = ("error", "reset", "latency")
SYSTEM = ("admin", "config", "local")
CODES = {"Unauthorized": 13, "CursorNotFound": 43, "ExceededTimeLimit": 50, "NamespaceNotFound": 26, "CommandNotFound": 59,
         "NamespaceExists": 48, "IndexNotFound": 27, "BadValue": 2, "DuplicateKey": 11000, "InterruptedAtShutdown": 11600,
         "NotWritablePrimary": 10107, "FailedToParse": 9}


class CommandError(Exception):
    """What the server refuses: the name of its code, and the message."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Entry:
    """A logged command."""

    __slots__ = ("command", "database", "sent")

    def __init__(self, database: str, command: Document) -> None:
        self.database = database
        self.command = command
        self.sent = 0

    @property
    def name(self) -> str:
        return next(iter(self.command))

    def __repr__(self) -> str:
        return f"{self.name} {self.database}.{self.command[self.name]}"


class Fault:
    """error    answer with an error of this `name` of MongoDB
    reset    close the connection without an answer; `after`: the command was carried out before
    latency  wait `seconds` before the answer
    command  the commands that it is for ("": all);  times: how often; None: always
    """

    def __init__(self, kind: str, command: str = "", times: int | None = None, name: str = "InterruptedAtShutdown",
                 seconds: float = 0.0, after: bool = False) -> None:
        if kind not in FAULTS:
            raise ValueError(f"unknown fault {kind!r}")
        self.kind, self.command, self.times, self.name, self.seconds, self.after = kind, command, times, name, seconds, after


class MongoSimulator:
    """One server with the databases of the company, no passwords unless `users` has some.

    documents  how many the seed makes
    """

    def __init__(self, seed: int = 1, documents: int = 16000) -> None:
        install()
        self.log: list[Entry] = []
        self.lock = threading.RLock()
        self._faults: list[Fault] = []
        self._cursors: dict[int, tuple[str, Iterator[Document]]] = {}
        self._ids = itertools.count(1000)
        self._server: socketserver.ThreadingTCPServer | None = None
        self.client: Any = None
        self._documents = documents
        self.reset(seed, documents)

    # ---- for tests and benchmarks

    def reset(self, seed: int = 1, documents: int | None = None) -> None:
        """Everything anew, in the size that it had unless another is given."""
        self._documents = documents = self._documents if documents is None else documents
        self.client = mongomock.MongoClient(tz_aware=False)
        fill(self.client, seed, documents)

    def state(self) -> Document:
        """Every document by database, collection and id."""
        with self.lock:
            return {f"{d}.{c} {document['_id']}": copy.deepcopy(document) for d in self.client.list_database_names()
                    for c in self.client[d].list_collection_names() for document in self.client[d][c].find()}

    def snapshot(self) -> Any:
        with self.lock:
            return {d: {c: list(self.client[d][c].find()) for c in self.client[d].list_collection_names()}
                    for d in self.client.list_database_names()}

    def restore(self, snapshot: Any) -> None:
        with self.lock:
            self.client = mongomock.MongoClient(tz_aware=False)
            for database, collections in snapshot.items():
                for name, documents in collections.items():
                    self.client[database].create_collection(name)
                    if documents:
                        self.client[database][name].insert_many(copy.deepcopy(documents))

    @staticmethod
    def diff(before: Document, after: Document) -> Document:
        return {"added": {k: v for k, v in after.items() if k not in before},
                "removed": {k: v for k, v in before.items() if k not in after},
                "changed": {k: (before[k], v) for k, v in after.items() if k in before and before[k] != v}}

    def fault(self, kind: str, command: str = "", **options: Any) -> Fault:
        fault = Fault(kind, command, **options)
        with self.lock:
            self._faults.append(fault)
        return fault

    def heal(self) -> None:
        with self.lock:
            self._faults.clear()

    def clear_log(self) -> None:
        self.log.clear()

    def calls(self, name: str = "") -> int:
        """Logged commands of a name, without the driver's own (hello, ping, endSessions)."""
        return sum(name in ("", e.name) for e in self.log)

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("the server was not started")
        return f"mongodb://127.0.0.1:{self._server.server_address[1]}/"

    def start(self, port: int = 0, listening: socket.socket | None = None) -> str:
        """Listen on loopback, on a socket that listens already where one is given; the URL."""
        if self._server is None:
            handler = type("Handler", (_Handler,), {"simulator": self})
            self._server = _Server(("127.0.0.1", port), handler, bind_and_activate=listening is None)
            if listening is not None:
                self._server.socket.close()
                self._server.socket, self._server.server_address = listening, listening.getsockname()
            threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self.url

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> MongoSimulator:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    # ---- commands

    def take_fault(self, name: str, kinds: tuple[str, ...]) -> Fault | None:
        with self.lock:
            for fault in self._faults:
                if fault.kind in kinds and fault.command in ("", name) and fault.times != 0:
                    fault.times = None if fault.times is None else fault.times - 1
                    return fault
        return None

    def answer(self, message: Message) -> Document | None:
        """None: the connection is to be closed."""
        command = message.command
        name, database = next(iter(command)), str(command.get("$db", "admin"))
        quiet = name.lower() in ("hello", "ismaster", "ping", "endsessions", "buildinfo")
        entry = Entry(database, command)
        if quiet:
            return {**QUIET.get(name.lower(), {}), "ok": 1.0}
        with self.lock:
            self.log.append(entry)
        if (fault := self.take_fault(name, ("latency",))) is not None:
            time.sleep(fault.seconds)
        reset = self.take_fault(name, ("reset",))
        if reset is not None and not reset.after:
            return None
        try:
            if (fault := self.take_fault(name, ("error",))) is not None:
                raise CommandError(fault.name, "a fault of the simulator")
            method = COMMANDS.get(name)
            if method is None:
                raise CommandError("CommandNotFound", f"no such command: '{name}'")
            with self.lock:
                found = {**method(self, self.client[database], command), "ok": 1.0}
        except CommandError as e:
            found = {"ok": 0.0, "errmsg": str(e), "code": CODES[e.name], "codeName": e.name}
        except (PyMongoError, NotImplementedError, TypeError, ValueError, KeyError) as e:
            found = {"ok": 0.0, "errmsg": str(e) or type(e).__name__, "code": getattr(e, "code", None) or 2, "codeName": "BadValue"}
        if reset is not None:
            return None
        return found

    def batch(self, namespace: str, documents: Iterator[Document], size: int | None, key: str, single: bool = False,
              id: int = 0) -> Document:
        """A batch of documents and the id of the cursor, 0 where nothing is left."""
        found: list[Document] = []
        total = 0
        for document in documents:
            if found and (len(found) == size or total + len(bson.encode(document)) > BATCH):
                documents = itertools.chain([document], documents)
                break
            found.append(document)
            total += len(bson.encode(document)) if size is None or size > 1000 else 0
        else:
            self._cursors.pop(id, None)
            return {"cursor": {key: found, "id": bson.Int64(0), "ns": namespace}}
        if single:
            return {"cursor": {key: found, "id": bson.Int64(0), "ns": namespace}}
        id = id or next(self._ids)
        self._cursors[id] = (namespace, documents)
        return {"cursor": {key: found, "id": bson.Int64(id), "ns": namespace}}

    def _existing(self, db: Any, name: str) -> bool:
        return name in db.list_collection_names()

    def find(self, db: Any, c: Document) -> Document:
        cursor = db[c["find"]].find(c.get("filter") or {}, c.get("projection") or None)
        if c.get("sort"):
            cursor = cursor.sort(list(c["sort"].items()))
        if c.get("skip"):
            cursor = cursor.skip(c["skip"])
        if c.get("limit"):
            cursor = cursor.limit(abs(c["limit"]))
        documents = iter(list(cursor))
        limit = c.get("limit") or 0
        size = c.get("batchSize", FIRST)
        return self.batch(f"{db.name}.{c['find']}", documents, size or FIRST, "firstBatch", bool(c.get("singleBatch")) or 0 < limit <= size)

    def get_more(self, db: Any, c: Document) -> Document:
        found = self._cursors.get(int(c["getMore"]))
        if found is None:
            raise CommandError("CursorNotFound", f"cursor id {c['getMore']} not found")
        return self.batch(found[0], found[1], c.get("batchSize"), "nextBatch", id=int(c["getMore"]))

    def kill_cursors(self, db: Any, c: Document) -> Document:
        killed = [id for id in c["cursors"] if self._cursors.pop(int(id), None) is not None]
        return {"cursorsKilled": killed, "cursorsNotFound": [], "cursorsAlive": [], "cursorsUnknown": []}

    def aggregate(self, db: Any, c: Document) -> Document:
        if c["aggregate"] == 1:
            raise CommandError("BadValue", "aggregation of a database is not there")
        documents = iter(list(db[c["aggregate"]].aggregate(c["pipeline"])))
        return self.batch(f"{db.name}.{c['aggregate']}", documents, c.get("cursor", {}).get("batchSize", FIRST), "firstBatch")

    def count(self, db: Any, c: Document) -> Document:
        return {"n": db[c["count"]].count_documents(c.get("query") or {})}

    def distinct(self, db: Any, c: Document) -> Document:
        return {"values": db[c["distinct"]].distinct(c["key"], c.get("query") or {})}

    def insert(self, db: Any, c: Document) -> Document:
        errors, done = [], 0
        for index, document in enumerate(c["documents"]):
            try:
                db[c["insert"]].insert_one(document)
                done += 1
            except mongomock.DuplicateKeyError as e:
                errors.append({"index": index, "code": 11000, "errmsg": str(e)})
                if c.get("ordered", True):
                    break
        return {"n": done, **({"writeErrors": errors} if errors else {})}

    def update(self, db: Any, c: Document) -> Document:
        matched = modified = 0
        upserted = []
        for index, one in enumerate(c["updates"]):
            collection, change = db[c["update"]], one["u"]
            operators = isinstance(change, list) or next(iter(change), "").startswith("$")
            method = (collection.update_many if one.get("multi") else collection.update_one) if operators else collection.replace_one
            done = method(one["q"], change, upsert=one.get("upsert", False))
            matched += done.matched_count
            modified += done.modified_count or 0
            if done.upserted_id is not None:
                upserted.append({"index": index, "_id": done.upserted_id})
        return {"n": matched + len(upserted), "nModified": modified, **({"upserted": upserted} if upserted else {})}

    def delete(self, db: Any, c: Document) -> Document:
        done = 0
        for one in c["deletes"]:
            method = db[c["delete"]].delete_one if one.get("limit") else db[c["delete"]].delete_many
            done += method(one["q"]).deleted_count
        return {"n": done}

    # ---- databases, collections, indexes

    def list_databases(self, db: Any, c: Document) -> Document:
        names = sorted({*SYSTEM, *self.client.list_database_names()})
        return {"databases": [{"name": name, "sizeOnDisk": bson.Int64(4096), "empty": False} for name in names], "totalSize": bson.Int64(0)}

    def list_collections(self, db: Any, c: Document) -> Document:
        names = sorted(name for name in db.list_collection_names() if c.get("filter", {}).get("name", name) == name)
        found = [{"name": name, "type": "collection", "options": {}, "info": {"readOnly": False}} for name in names]
        return self.batch(f"{db.name}.$cmd.listCollections", iter(found), c.get("cursor", {}).get("batchSize"), "firstBatch")

    def list_indexes(self, db: Any, c: Document) -> Document:
        name = c["listIndexes"]
        if not self._existing(db, name):
            raise CommandError("NamespaceNotFound", f"ns does not exist: {db.name}.{name}")
        found = [{"v": 2, "key": dict(index["key"]), "name": key, **({"unique": True} if index.get("unique") else {})}
                 for key, index in db[name].index_information().items()]
        return self.batch(f"{db.name}.{name}", iter(found), None, "firstBatch")

    def create_indexes(self, db: Any, c: Document) -> Document:
        for index in c["indexes"]:
            db[c["createIndexes"]].create_index(list(index["key"].items()), name=index["name"], unique=index.get("unique", False))
        return {"numIndexesAfter": len(db[c["createIndexes"]].index_information())}

    def drop_indexes(self, db: Any, c: Document) -> Document:
        collection, name = db[c["dropIndexes"]], c["index"]
        if name not in collection.index_information():
            raise CommandError("IndexNotFound", f"index not found with name [{name}]")
        collection.drop_index(name)
        return {"nIndexesWas": len(collection.index_information()) + 1}

    def create(self, db: Any, c: Document) -> Document:
        if self._existing(db, c["create"]):
            raise CommandError("NamespaceExists", f"Collection {db.name}.{c['create']} already exists.")
        db.create_collection(c["create"])
        return {}

    def drop(self, db: Any, c: Document) -> Document:
        if not self._existing(db, c["drop"]):
            raise CommandError("NamespaceNotFound", "ns not found")
        db.drop_collection(c["drop"])
        return {}

    def drop_database(self, db: Any, c: Document) -> Document:
        self.client.drop_database(db.name)
        return {"dropped": db.name}

    def rename_collection(self, db: Any, c: Document) -> Document:
        (source, old), (_, new) = (str(c[key]).split(".", 1) for key in ("renameCollection", "to"))
        found = self.client[source]
        if not self._existing(found, old):
            raise CommandError("NamespaceNotFound", f"Source collection {source}.{old} does not exist")
        if self._existing(found, new):
            if not c.get("dropTarget"):
                raise CommandError("NamespaceExists", "target namespace exists")
            found.drop_collection(new)
        found[old].rename(new)
        return {}

    def collection_stats(self, db: Any, c: Document) -> Document:
        documents = list(db[c["collStats"]].find())
        return {"ns": f"{db.name}.{c['collStats']}", "count": len(documents), "size": sum(len(bson.encode(d)) for d in documents)}

    def database_stats(self, db: Any, c: Document) -> Document:
        names = db.list_collection_names()
        return {"db": db.name, "collections": len(names), "objects": sum(db[n].count_documents({}) for n in names)}

    def explain(self, db: Any, c: Document) -> Document:
        return {"queryPlanner": {"namespace": f"{db.name}.{next(iter(c['explain'].values()))}", "winningPlan": {"stage": "COLLSCAN"}}}


HELLO = {"ismaster": True, "isWritablePrimary": True, "helloOk": True, "maxBsonObjectSize": 16 << 20, "maxMessageSizeBytes": 48 << 20,
         "maxWriteBatchSize": 100000, "minWireVersion": 0, "maxWireVersion": 21, "readOnly": False, "logicalSessionTimeoutMinutes": 30}
QUIET: dict[str, Document] = {"hello": HELLO, "ismaster": HELLO, "buildinfo": {"version": "7.0.0", "versionArray": [7, 0, 0, 0]}}
S = MongoSimulator
COMMANDS: dict[str, Callable[[MongoSimulator, Any, Document], Document]] = {
    "find": S.find, "getMore": S.get_more, "killCursors": S.kill_cursors, "aggregate": S.aggregate, "count": S.count,
    "distinct": S.distinct, "insert": S.insert, "update": S.update, "delete": S.delete, "listDatabases": S.list_databases,
    "listCollections": S.list_collections, "listIndexes": S.list_indexes, "createIndexes": S.create_indexes,
    "dropIndexes": S.drop_indexes, "create": S.create, "drop": S.drop, "dropDatabase": S.drop_database,
    "renameCollection": S.rename_collection, "collStats": S.collection_stats, "dbStats": S.database_stats, "explain": S.explain}


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64
    block_on_close = False


class _Handler(socketserver.BaseRequestHandler):
    simulator: MongoSimulator

    def handle(self) -> None:
        connection: socket.socket = self.request
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while (message := read_message(connection)) is not None:
                answer = self.simulator.answer(message)
                if answer is None:
                    return
                if not message.silent:
                    connection.sendall(reply(message, answer))
        except (ValueError, OSError):
            return


__all__ = ["CODEC", "MongoSimulator", "ObjectId"]
