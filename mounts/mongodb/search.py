"""Search: which collections have a document in which the words of a pattern can stand.

Collections of up to `bound` documents are read. Of larger ones the server is asked first which fields there are and of
which types, then with $regex whether one of the texts holds the word. Where a file can hold it otherwise (names of
fields, numbers, dates, ids, base64), or nobody can tell (arrays in arrays, too many fields), it is read as well.
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mirage.process import blocking
from mirage.text.words import json_variants, words_of
from mirage.vfs.search import Candidates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.mounts.mongodb.documents import Known
    from mirage.mounts.mongodb.mount import MongoDB
    from mirage.vfs.search import Query

CONTAINERS = 24                                              # objects and arrays that are looked into
CONSTANTS = "null true false oid date numberDouble numberDecimal numberLong numberInt Infinity NaN"
FIGURES = re.compile(r"[0-9eETZ]+")                          # of numbers and dates
HEX = re.compile(r"[0-9a-f]+")
PLAIN = {"string", "object", "array", "bool", "null", "int", "long", "double", "decimal", "date", "objectId"}


def search(mount: MongoDB, path: str, query: Query) -> Candidates | None:
    """None where nothing in the query can be asked for."""
    words = words_of(query.literals)
    if query.ignore_case and not all(word.isascii() for word in words):
        return None
    sought = [variants for word in words if "" not in (variants := json_variants(word))]
    if not sought:
        return None
    found: list[str] = []
    for place, (database, name, kind), file in mount.places(path):
        if query.names is not None and not query.names(file):
            continue
        if file == "count":
            hit = all(word.isdigit() for word in words)
        elif file == "schema.json":
            hit = True
        else:
            mount.counters.add(searches=1)
            collection = (database, name, mount.bound)
            hit = kind != "collection" or blocking.call(
                mount.server.run, _has, collection, sought, query.ignore_case, mount.known)
        if hit:
            found.append(place)
    mount.counters.add(candidates=len(found))
    return Candidates(found)


def _has(client: Any, place: tuple[str, str, int], sought: list[list[str]], ignore_case: bool, known: Known) -> bool:
    """May a line of the collection hold each of the words?"""
    database, name, bound = place
    collection = client[database][name]
    if collection.estimated_document_count() <= bound:
        return True
    conditions = _conditions(_fields_of(collection, known), sought, ignore_case)
    if conditions is None:
        return True
    return all(c is not None and collection.find_one(c, {"_id": 1}) is not None for c in conditions)


def documents_with(client: Any, place: tuple[str, str, int], queries: Sequence[Query],
                   known: Known) -> dict[str, Any] | None:
    """The filter of the documents whose line may match one of the queries; None: every one may, or they are few."""
    database, name, bound = place
    collection = client[database][name]
    if collection.estimated_document_count() <= bound:
        return None
    fields, choices = _fields_of(collection, known), []
    for query in queries:
        words = words_of(query.literals)
        if query.ignore_case and not all(word.isascii() for word in words):
            return None
        sought = [variants for word in words if "" not in (variants := json_variants(word))]
        conditions = _conditions(fields, sought, query.ignore_case)
        if not conditions:
            return None
        if None not in conditions:
            choices.append({"$and": conditions})
    return {"$or": choices} if choices else {"_id": {"$in": []}}


def _conditions(fields: dict[str, set[str]] | None, sought: list[list[str]], ignore_case: bool) -> list[Any] | None:
    """What holds for a document with each of the words; None among them: no document has it. None: nobody can tell."""
    if fields is None:
        return None
    kinds = set().union(*fields.values()) if fields else set()
    texts = [path for path, types in fields.items() if "string" in types]
    names = " ".join([CONSTANTS, *fields]).casefold()
    found: list[Any] = []
    for variants in sought:
        if any(word.casefold() in names for word in variants) or any(_figure(word, kinds) for word in variants):
            continue
        choices = [{path: {"$regex": _pattern(word, ignore_case)}} for path in texts for word in variants]
        found.append({"$or": choices} if choices else None)
    return found


def _figure(word: str, kinds: set[str]) -> bool:
    """Can the word be in a number, a date or an id?"""
    if FIGURES.fullmatch(word):
        return bool(kinds & {"int", "long", "double", "decimal", "date", "objectId"})
    return "objectId" in kinds and HEX.fullmatch(word.lower()) is not None


def _pattern(word: str, ignore_case: bool) -> str:
    if not ignore_case:
        return re.escape(word)
    return "(?i)" + "".join("." if c in "kKsS" else re.escape(c) for c in word)   # U+212A and U+017F are these


def _fields_of(collection: Any, known: Known) -> dict[str, set[str]] | None:
    if collection.full_name not in known:
        known[collection.full_name] = _fields(collection)
    return known[collection.full_name]


def _fields(collection: Any) -> dict[str, set[str]] | None:
    """path -> types of every field of every document; None where there is more than can be asked about."""
    fields: dict[str, set[str]] = {}
    todo: list[tuple[str, bool]] = [("", False)]
    asked = 0
    while todo:
        path, array = todo.pop()
        asked += 1
        if asked > CONTAINERS:
            return None
        if array:
            elements = _types(collection, path)
            if not elements <= PLAIN - {"array"}:
                return None
            fields[path] |= elements
            if "object" not in elements:
                continue
        for key, types in _members(collection, path).items():
            if not types <= PLAIN or "." in key or key.startswith("$") or not key:
                return None
            inner = f"{path}.{key}" if path else key
            known = fields.setdefault(inner, set())
            known |= types
            if types & {"object", "array"}:
                todo.append((inner, "array" in types))
    return fields


def _values(path: str) -> list[Any]:
    """Stages that give the values at a path, those in arrays one by one, as `v`."""
    return [{"$project": {"_id": 0, "v": f"${path}"}}, *[{"$unwind": "$v"}] * (2 if "." in path else 1)]


def _types(collection: Any, path: str) -> set[str]:
    """The types of the elements of arrays."""
    found = collection.aggregate([*_values(path), {"$group": {"_id": {"$type": "$v"}}}])
    return {str(document["_id"]) for document in found}


def _members(collection: Any, path: str) -> dict[str, set[str]]:
    """Names and types of the fields of the objects at a path (of the documents themselves at "")."""
    objects: list[Any] = [{"$project": {"kv": {"$objectToArray": "$$ROOT"}}}]
    if path:
        objects = [*_values(path), {"$match": {"v": {"$type": "object"}}},
                   {"$project": {"kv": {"$objectToArray": "$v"}}}]
    found: dict[str, set[str]] = {}
    by_type = {"$group": {"_id": {"k": "$kv.k", "t": {"$type": "$kv.v"}}}}
    for document in collection.aggregate([*objects, {"$unwind": "$kv"}, by_type]):
        found.setdefault(str(document["_id"]["k"]), set()).add(str(document["_id"]["t"]))
    return found
