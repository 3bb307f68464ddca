"""Search: which tables have a row in which the words of a pattern can stand.

The words (runs of letters, digits and _) of a query's literals are asked for with LIKE. Where a file can hold a word
that is in no text of the database (column names, `null`, numbers and dates as we write them, base64, escapes of JSON),
the table counts as a candidate.
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from mirage.mounts.sql.rendering import CONSTANTS
from mirage.process import blocking
from mirage.text.words import json_variants, words_of
from mirage.vfs.search import Candidates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mirage.mounts.sql.catalog import Relation
    from mirage.mounts.sql.mount import Sql
    from mirage.vfs.search import Query

    Columns = Sequence[tuple[str, Any]]

FIGURES = re.compile(r"[0-9TZeE]+")                          # of numbers, dates and times
PERIOD = ("days", "day")                                     # in the text of an interval


def search(mount: Sql, path: str, query: Query) -> Candidates | None:
    """None where nothing in the query can be asked for."""
    words = words_of(query.literals)
    if query.ignore_case and not all(word.isascii() for word in words):
        return None
    sought = [variants for word in words if "" not in (variants := json_variants(word))]
    if not sought:
        return None
    found: list[str] = []
    answers: dict[int, bool] = {}
    for place, relation, file in mount.places(path):
        if query.names is not None and not query.names(file):
            continue
        if file == "schema.json":
            text = mount.describe_table(relation).decode()
            hit = all(_inside(word, text, query.ignore_case) for word in words)
        elif file == "count":
            hit = all(word.isdigit() for word in words)
        else:
            known = answers.get(id(relation))
            if known is None:
                mount.counters.add(searches=1)
                known = answers[id(relation)] = _has(mount, relation, sought, query.ignore_case)
            hit = known
        if hit:
            found.append(place)
    mount.counters.add(candidates=len(found))
    return Candidates(found)


def _inside(word: str, text: str, ignore_case: bool) -> bool:
    return word.lower() in text.lower() if ignore_case else word in text


def _has(mount: Sql, relation: Relation, sought: list[list[str]], ignore_case: bool) -> bool:
    """May a row of the relation, or the names of its columns, hold each of the words?"""
    columns = mount.columns(relation)
    source = sa.table(relation.name, *[sa.column(name) for name, _ in columns], schema=relation.schema)
    checks = []
    for condition in _conditions(source, columns, sought, mount.database.dialect, ignore_case):
        if condition is None:
            return False
        checks.append(sa.exists(sa.select(sa.literal_column("1")).select_from(source).where(condition)))
    if not checks:
        return True
    query = sa.select(*[check.label(f"c{i}") for i, check in enumerate(checks)])
    row = blocking.call(mount.database.run, lambda connection: connection.execute(query).fetchone())
    return all(row)


def rows_with(source: Any, columns: Columns, queries: Sequence[Query], dialect: str) -> Any:
    """The condition of the rows whose line of JSON may match one of the queries; None: every row may."""
    choices = []
    for query in queries:
        words = words_of(query.literals)
        if query.ignore_case and not all(word.isascii() for word in words):
            return None
        sought = [variants for word in words if "" not in (variants := json_variants(word))]
        conditions = list(_conditions(source, columns, sought, dialect, query.ignore_case))
        if not conditions:
            return None
        if not any(condition is None for condition in conditions):
            choices.append(sa.and_(*conditions))
    return sa.or_(*choices) if choices else sa.false()


def _conditions(source: Any, columns: Columns, sought: list[list[str]], dialect: str,
                ignore_case: bool) -> Iterator[Any]:
    """What holds for a row with each of the words; None: no row has it. Nothing for words that cannot be asked for."""
    constant = " ".join([CONSTANTS, *(name for name, _ in columns)])
    for variants in sought:
        if any(_inside(word, constant, True) for word in variants):
            continue
        choices: list[Any] = []
        for name, kind in columns:
            choice = _column(source.c[name], kind, variants, dialect, ignore_case)
            if choice is True:
                break
            if choice is not None:
                choices.append(choice)
        else:
            yield sa.or_(*choices) if choices else None


def _column(column: Any, kind: Any, variants: list[str], dialect: str, ignore_case: bool) -> Any:
    """The condition that a value of the column holds a word; None: it cannot; True: nobody can tell."""
    figures = any(FIGURES.fullmatch(word) for word in variants)
    if dialect == "sqlite":                                  # any value in any column
        choices = [_like(column, word, ignore_case, False) for word in variants]
        opaque = ["blob", "real"] if figures else ["blob"]
        return sa.or_(*choices, sa.func.typeof(column).in_(opaque))
    if isinstance(kind, sa.String):
        return sa.or_(*[_like(column, word, ignore_case, isinstance(kind, sa.Enum)) for word in variants])
    if isinstance(kind, sa.Integer | sa.Uuid):
        return sa.or_(*[_like(column, word, ignore_case, True) for word in variants])
    if isinstance(kind, sa.Boolean):
        return None
    if isinstance(kind, sa.Numeric | sa.Date | sa.DateTime | sa.Time):
        return True if figures else None
    if isinstance(kind, sa.Interval):
        return True if figures or any(word in text for word in variants for text in PERIOD) else None
    return True


def _like(column: Any, word: str, ignore_case: bool, cast: bool) -> Any:
    pattern = word.replace("_", "!_")
    if ignore_case:
        pattern = re.sub("[kKsS]", "_", pattern)             # U+212A and U+017F are these, letter case ignored
    value = sa.cast(column, sa.Text) if cast else column
    return value.ilike(f"%{pattern}%", escape="!") if ignore_case else value.like(f"%{pattern}%", escape="!")
