"""Documents as lines of extended JSON, batch by batch, and the schema that a sample of them shows."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.process import blocking
from mirage.vfs.declare.pages import PagesHandle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mirage.mounts.mongodb.client import Server
    from mirage.vfs.search import Query
    from mirage.vfs.types import Stat

    Known = dict[str, dict[str, set[str]] | None]

SLICE = 1000                                                 # documents that are turned into text at a time
TAIL_MOST = 100_000                                          # lines from the end that are asked for
NAMES = {"float": "double", "str": "string", "dict": "object", "list": "array", "bool": "bool", "NoneType": "null",
         "Int64": "long", "datetime": "date", "DatetimeMS": "date", "ObjectId": "objectId", "Decimal128": "decimal",
         "bytes": "binData", "Binary": "binData", "Regex": "regex", "Timestamp": "timestamp", "Code": "javascript",
         "MinKey": "minKey", "MaxKey": "maxKey"}


def to_json(value: Any) -> str:
    """Relaxed extended JSON: what JSON itself has is plain, the rest is {"$oid": ...}, {"$date": ...} and so on."""
    from bson.json_util import RELAXED_JSON_OPTIONS, dumps
    return dumps(value, json_options=RELAXED_JSON_OPTIONS, ensure_ascii=False)


def from_json(value: Any) -> Any:
    """The values of MongoDB of a parsed extended JSON. ValueError where it is none."""
    import json

    from bson.errors import BSONError
    from bson.json_util import JSONOptions, loads
    try:
        return loads(json.dumps(value), json_options=JSONOptions(tz_aware=True))
    except (BSONError, TypeError, KeyError, OverflowError) as e:
        raise ValueError(f"no extended JSON: {e}") from None


def lines(documents: Iterable[Any]) -> bytes:
    return "".join([to_json(document) + "\n" for document in documents]).encode("utf-8", "replace")


class Documents:
    """The documents of one collection, in the order of `_id`; those of a view as they come.

    chosen  a filter of those that are read;  bound: up to so many documents nothing is chosen
    known   fields of collections that were asked for (see search.py)
    """

    def __init__(self, server: Server, database: str, name: str, kind: str, bound: int = 1000,
                 known: Known | None = None, chosen: dict[str, Any] | None = None) -> None:
        self.server = server
        self.database = database
        self.name = name
        self.kind = kind
        self.ordered = kind == "collection"
        self.bound = bound
        self._known: Known = {} if known is None else known
        self._chosen = chosen or {}

    def _order(self, direction: int) -> list[tuple[str, int]] | None:
        return [("_id", direction)] if self.ordered else None

    def pages(self) -> Iterator[bytes]:
        """Batches as the server makes them (101 documents, then up to 16 MiB), in pieces."""
        import bson

        def begin(client: Any) -> Any:
            return client[self.database][self.name].find_raw_batches(self._chosen, sort=self._order(1))

        def batch(client: Any, cursor: Any) -> list[Any] | None:
            data = next(cursor, None)
            return None if data is None else bson.decode_all(data, client.codec_options)
        cursor = self.server.run(begin)
        try:
            while (documents := blocking.call(self.server.run, batch, cursor)) is not None:
                for at in range(0, len(documents), SLICE):
                    yield lines(documents[at:at + SLICE])
        finally:
            cursor.close()

    def count(self) -> int:
        def ask(client: Any) -> int:
            number: int = client[self.database][self.name].count_documents({})
            return number
        counted: int = blocking.call(self.server.run, ask)
        return counted

    def last(self, count: int) -> bytes | None:
        """The last lines; None where the end cannot be asked for."""
        if not self.ordered or count > TAIL_MOST:
            return None
        if not count:
            return b""
        found = blocking.call(self.server.run, lambda client: list(
            client[self.database][self.name].find({}, sort=self._order(-1), limit=count)))
        return lines(reversed(found))

    def only(self, queries: Sequence[Query]) -> Documents | None:
        """Those whose line may match one of the queries; None where every one may."""
        from mirage.mounts.mongodb.search import documents_with
        if not self.ordered:
            return None
        place = (self.database, self.name, self.bound)
        chosen = blocking.call(self.server.run, documents_with, place, queries, self._known)
        if chosen is None:
            return None
        self.server.counters.add(searches=1)
        return Documents(self.server, self.database, self.name, self.kind, self.bound, self._known, chosen)

    def schema(self, size: int) -> dict[str, Any]:
        """Fields, their types and how often they are there, of `size` documents at random."""
        def ask(client: Any) -> tuple[list[Any], list[Any]]:
            collection = client[self.database][self.name]
            sample = list(collection.aggregate([{"$sample": {"size": size}}]))
            return sample, list(collection.list_indexes()) if self.ordered else []
        sample, indexes = blocking.call(self.server.run, ask)
        fields: dict[str, dict[str, int]] = {}
        for document in sample:
            _count(document, "", fields)
        return {"database": self.database, "collection": self.name, "sampled": len(sample),
                "fields": {path: dict(sorted(types.items())) for path, types in sorted(fields.items())},
                "indexes": [{"name": index["name"], "key": dict(index["key"]),
                             **({"unique": True} if index.get("unique") else {})} for index in indexes]}


def _count(value: Any, path: str, fields: dict[str, dict[str, int]]) -> None:
    """path -> type -> number; `a.b` is a field of an object, `a[]` are the elements of an array."""
    if path:
        types = fields.setdefault(path, {})
        name = type_name(value)
        types[name] = types.get(name, 0) + 1
    if isinstance(value, dict):
        for key, inner in value.items():
            _count(inner, f"{path}.{key}" if path else key, fields)
    elif isinstance(value, list):
        for inner in value:
            _count(inner, f"{path}[]", fields)


def type_name(value: Any) -> str:
    name = type(value).__name__
    if name == "int":
        return "int" if -2**31 <= value < 2**31 else "long"
    return NAMES.get(name, name)


class DocumentsHandle(PagesHandle):
    """An open documents.jsonl: reads up to where it is read, and answers `wc -l` and `tail` without reading."""

    __slots__ = ("_documents",)

    def __init__(self, documents: Documents, stat: Stat) -> None:
        self._documents = documents
        super().__init__(documents.pages, stat)

    def count_lines(self) -> int:
        return self._documents.count()

    def last_lines(self, count: int) -> bytes | None:
        return self._documents.last(count)

    def lines_with(self, queries: Sequence[Query]) -> DocumentsHandle | None:
        documents = self._documents.only(queries)
        return None if documents is None else DocumentsHandle(documents, self._stat)
