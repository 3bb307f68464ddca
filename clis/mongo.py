"""`mongo`: queries, and what changes a database, with the operations and arguments of MongoDB's own tools for agents.

Documents, filters and results are extended JSON: {"_id": {"$oid": "..."}, "at": {"$date": "2026-01-31T09:00:00Z"}}.
"""
from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mirage.clis.framework import Call, OperationError, VirtualCli, operation
from mirage.mounts.mongodb.documents import Documents, from_json, to_json
from mirage.mounts.mongodb.mount import MongoDB
from mirage.process import blocking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount

BYTES = 1 << 20                                              # of an answer, unless asked otherwise
WRITING = ("$out", "$merge")
Object = dict[str, Any]
Name = Annotated[str, Field(min_length=1)]
Filter = Annotated[Object | None, Field(description="query filter")]


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class OneDatabase(Arguments):
    database: Name


class OneCollection(OneDatabase):
    collection: Name


class FindArguments(Arguments):
    filter: Filter = None
    projection: Object | None = None
    limit: int = Field(10, ge=0, description="0: no limit")
    sort: Object | None = Field(None, description="field -> 1 or -1")


class Find(OneCollection, FindArguments):
    responseBytesLimit: int = Field(BYTES, ge=1)


class AggregateArguments(Arguments):
    pipeline: list[Object]


class Aggregate(OneCollection, AggregateArguments):
    responseBytesLimit: int = Field(BYTES, ge=1)


class CountArguments(Arguments):
    query: Filter = None


class Count(OneCollection, CountArguments):
    pass


class InsertMany(OneCollection):
    documents: list[Object] = Field(min_length=1)


class UpdateMany(OneCollection):
    filter: Filter = None
    update: Object | list[Object] = Field(description="update operators, such as {\"$set\": {...}}")
    upsert: bool = False


class DeleteMany(OneCollection):
    filter: Filter = None


class Schema(OneCollection):
    sampleSize: int = Field(50, ge=1, le=10_000)


class IndexDefinition(Arguments):
    type: Literal["classic"] = "classic"
    keys: Object = Field(description="field -> 1, -1, \"text\", ...", min_length=1)


class CreateIndex(OneCollection):
    name: str | None = None
    definition: list[IndexDefinition] = Field(min_length=1, max_length=1)


class DropIndex(OneCollection):
    indexName: Name
    type: Literal["classic"] = "classic"


class RenameCollection(OneCollection):
    newName: Name
    dropTarget: bool = Field(False, description="replace a collection of that name")


class ExplainFind(Arguments):
    name: Literal["find"]
    arguments: FindArguments


class ExplainAggregate(Arguments):
    name: Literal["aggregate"]
    arguments: AggregateArguments


class ExplainCount(Arguments):
    name: Literal["count"]
    arguments: CountArguments


class Explain(OneCollection):
    method: list[ExplainFind | ExplainAggregate | ExplainCount] = Field(min_length=1, max_length=1)
    verbosity: Literal["queryPlanner", "queryPlannerExtended", "executionStats", "allPlansExecution"] = "queryPlanner"


class MongoCli(VirtualCli):
    """The CLI of the server of `mount`."""

    description = "Query and change MongoDB. Collections are files too."

    def __init__(self, mount: MongoDB, name: str = "mongo") -> None:
        super().__init__()
        self.name = name
        self.mount = mount
        self.counters = mount.counters

    def _run(self, function: Callable[[Any], Any], changes: bool = False) -> Any:
        """function(client); its values as JSON."""
        try:
            return json.loads(to_json(blocking.call(self.mount.server.run, function)))
        except OSError as e:
            raise OperationError(_note(e), errno.errorcode.get(e.errno or 0, "io").lower()) from None
        except (OverflowError, TypeError, ValueError) as e:  # what the library says about values that cannot be sent
            raise OperationError(str(e), "invalid_arguments", 2) from None
        finally:
            if changes:
                self.mount.changed()

    # ---- reading

    @operation("Find documents", Find, effects=("read",), name="find")
    def find_documents(self, call: Call, a: Find) -> Any:
        sort = list(a.sort.items()) if a.sort else None
        return self._run(lambda client: _bounded(client[a.database][a.collection].find(
            _value(a.filter), a.projection, limit=a.limit, sort=sort), a.responseBytesLimit))

    @operation("Run an aggregation that reads", Aggregate, effects=("read",))
    def aggregate(self, call: Call, a: Aggregate) -> Any:
        _reading(a.pipeline)
        return self._run(lambda client: _bounded(
            client[a.database][a.collection].aggregate(_value(a.pipeline)), a.responseBytesLimit))

    @operation("Count documents", Count, effects=("read",))
    def count(self, call: Call, a: Count) -> Any:
        return {"count": self._run(lambda client: client[a.database][a.collection].count_documents(_value(a.query)))}

    @operation("List databases", Arguments, effects=("read",))
    def list_databases(self, call: Call, a: Arguments) -> Any:
        return self._run(lambda client: [{"name": found["name"], "size": found.get("sizeOnDisk", 0)}
                                         for found in client.list_databases()])

    @operation("List collections", OneDatabase, effects=("read",))
    def list_collections(self, call: Call, a: OneDatabase) -> Any:
        found = self._run(lambda client: [{"name": c["name"], "type": c.get("type", "collection")}
                                          for c in client[a.database].list_collections()])
        return sorted(found, key=lambda c: str(c["name"]))

    @operation("Fields and types, of a sample", Schema, effects=("read",))
    def collection_schema(self, call: Call, a: Schema) -> Any:
        return self._run(lambda client: Documents(
            self.mount.server, a.database, a.collection, "collection").schema(a.sampleSize))

    @operation("Indexes of a collection", OneCollection, effects=("read",))
    def collection_indexes(self, call: Call, a: OneCollection) -> Any:
        return self._run(lambda client: list(client[a.database][a.collection].list_indexes()))

    @operation("Size of a collection in bytes", OneCollection, effects=("read",))
    def collection_storage_size(self, call: Call, a: OneCollection) -> Any:
        found = self._run(lambda client: client[a.database].command("collStats", a.collection))
        return {"size": found.get("size", 0), "count": found.get("count", 0)}

    @operation("Statistics of a database", OneDatabase, effects=("read",))
    def db_stats(self, call: Call, a: OneDatabase) -> Any:
        return self._run(lambda client: client[a.database].command("dbStats"))

    @operation("How a query would be run", Explain, effects=("read",))
    def explain(self, call: Call, a: Explain) -> Any:
        method = a.method[0]
        given = _value(method.arguments.model_dump(exclude_none=True))
        if method.name == "aggregate":
            _reading(given["pipeline"])
            given["cursor"] = {}
        command = {method.name: a.collection, **given}
        return self._run(lambda client: client[a.database].command("explain", command, verbosity=a.verbosity))

    # ---- changing

    @operation("Insert documents", InsertMany, effects=("create",))
    def insert_many(self, call: Call, a: InsertMany) -> Any:
        documents = _value(a.documents)
        ids = self._run(lambda client: client[a.database][a.collection].insert_many(documents).inserted_ids, True)
        return {"insertedCount": len(ids), "insertedIds": ids}

    @operation("Update all documents that match", UpdateMany, effects=("update",))
    def update_many(self, call: Call, a: UpdateMany) -> Any:
        def change(client: Any) -> Any:
            done = client[a.database][a.collection].update_many(_value(a.filter), _value(a.update), upsert=a.upsert)
            return {"matchedCount": done.matched_count, "modifiedCount": done.modified_count,
                    **({"upsertedId": done.upserted_id} if done.upserted_id is not None else {})}
        return self._run(change, True)

    @operation("Delete all documents that match", DeleteMany, effects=("destroy",))
    def delete_many(self, call: Call, a: DeleteMany) -> Any:
        return {"deletedCount": self._run(
            lambda client: client[a.database][a.collection].delete_many(_value(a.filter)).deleted_count, True)}

    @operation("Create an index", CreateIndex, effects=("create",))
    def create_index(self, call: Call, a: CreateIndex) -> Any:
        named = {"name": a.name} if a.name else {}
        keys = list(a.definition[0].keys.items())
        return {"name": self._run(lambda client: client[a.database][a.collection].create_index(keys, **named))}

    @operation("Drop an index", DropIndex, effects=("destroy",))
    def drop_index(self, call: Call, a: DropIndex) -> Any:
        self._run(lambda client: client[a.database][a.collection].drop_index(a.indexName))
        return {"dropped": a.indexName}

    @operation("Create a collection", OneCollection, effects=("create",))
    def create_collection(self, call: Call, a: OneCollection) -> Any:
        self._run(lambda client: client[a.database].create_collection(a.collection).name, True)
        return {"created": a.collection}

    @operation("Drop a collection", OneCollection, effects=("destroy",))
    def drop_collection(self, call: Call, a: OneCollection) -> Any:
        self._run(lambda client: client[a.database].command("drop", a.collection), True)
        return {"dropped": a.collection}

    @operation("Drop a database", OneDatabase, effects=("destroy",))
    def drop_database(self, call: Call, a: OneDatabase) -> Any:
        self._run(lambda client: client.drop_database(a.database), True)
        return {"dropped": a.database}

    @operation("Rename a collection", RenameCollection, effects=("update", "destroy"),
               when={"destroy": lambda a: bool(a.dropTarget)})
    def rename_collection(self, call: Call, a: RenameCollection) -> Any:
        self._run(lambda client: client[a.database][a.collection].rename(a.newName, dropTarget=a.dropTarget), True)
        return {"renamed": a.collection, "newName": a.newName}


def _value(value: Any) -> Any:
    """The values of MongoDB that the arguments stand for; {} where none is given."""
    return from_json({} if value is None else value)


def _bounded(cursor: Any, most: int) -> list[Any]:
    """The documents; an error where their JSON has more bytes, never a part of them."""
    found, size = [], 0
    with cursor:
        for document in cursor:
            found.append(document)
            size += len(to_json(document).encode())
            if size > most:
                raise OperationError(f"more than {most:,} bytes: narrow it down, raise responseBytesLimit, or read "
                                     "documents.jsonl", 413)
    return found


def _reading(pipeline: list[Object]) -> None:
    for stage in pipeline:
        for word in WRITING:
            if word in stage:
                raise OperationError(f"{word} writes: aggregate only reads; pipe its result to insert-many", "eacces")


def _note(e: OSError) -> str:
    return str(getattr(e, "note", "") or e.strerror or e).removeprefix("mongodb: ")


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> MongoCli:
    """The CLI of a configuration: of the mount with the same URL; without options, of the first one.

    Raises ValueError for unknown options, and where there is neither a mount nor a URL.
    """
    from mirage.mounts.mongodb import OPTIONS
    from mirage.vfs.registry import ProviderError, convert, make_mount
    url = convert(name, "url", options["url"], OPTIONS["url"], folder) if "url" in options else None
    for mount in mounts.values():
        if isinstance(mount, MongoDB) and (not options or mount.server.url == url):
            return MongoCli(mount, name)
    if not options:
        raise ProviderError(f"clis.{name}: give url, or mount mongodb")
    return MongoCli(make_mount(provider, options, folder), name)
