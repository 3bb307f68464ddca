"""The grammar: bashlex's productions and LALR tables, read from the installed bashlex.

bashlex ports bash's yacc grammar. Its productions are the docstrings of ``bashlex.parser.p_*``; its ``yacc``
module makes LALR tables of them. `load` takes both, adjusts a few productions (`_adjusted`) and keeps the
finished tables in the user's cache folder, because building them takes a tenth of a second. A cache that
cannot be read, written or believed is ignored. bashlex is imported only to build, normally and unchanged, so
that other users of bashlex in the process are not disturbed; its parser is never called.
"""

from __future__ import annotations

import _imp
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Rule: TypeAlias = tuple[str, tuple[str, ...]]
    Rows: TypeAlias = list[dict[str, int]]
    RawTables: TypeAlias = tuple[Rows, Rows, list[Rule]]

START = "inputunit"
FORMAT = 3
_MAGIC = b"mirage-grammar\n"
_KEY = 0x73A1_77C5_0B29_D86D


def load() -> RawTables:
    """``(action, goto, rules)``: rows by state, and the productions by number (0 is the augmented start)."""
    sources = _bashlex_sources()
    path = _cache_path(sources)
    tables = _read_cache(path) if path else None
    if tables is None:
        tables = build()
        if path:
            _write_cache(path, tables)
    return tables


def build() -> RawTables:
    """Generate the tables with bashlex's yacc."""
    from bashlex import parser, tokenizer, yacc

    grammar = yacc.Grammar([token.name for token in tokenizer.tokentype])
    for level, entry in enumerate(parser.precedence):
        for token in entry[1:]:
            grammar.set_precedence(token, entry[0], level + 1)
    for lhs, rhs in _adjusted(_rules(parser)):
        grammar.add_production(lhs, list(rhs), lhs, "bashlex", 0)
    grammar.set_start(START)
    lr = yacc.LRTable(grammar)
    rules = [(production.name, tuple(production.prod)) for production in lr.lr_productions]
    return _rows(lr.lr_action), _rows(lr.lr_goto), rules


def _rows(table: dict[int, dict[str, int]]) -> Rows:
    return [dict(table.get(state, {})) for state in range(max(table) + 1)]


def _rules(parser: Any) -> list[Rule]:
    """bashlex's productions, in the order of its source."""
    functions = [f for name, f in vars(parser).items() if name.startswith("p_") and name != "p_error"]
    functions.sort(key=lambda f: f.__code__.co_firstlineno)
    rules: list[Rule] = []
    for function in functions:
        if not function.__doc__:
            raise ImportError("bashlex's grammar is in its docstrings: it cannot be built under `python -OO`")
        lhs = ""
        for line in function.__doc__.splitlines():
            fields = line.split()
            if fields and fields[0] != "|":
                lhs = fields.pop(0)
            if fields:
                rules.append((lhs, tuple(fields[1:])))
    return rules


def _adjusted(rules: list[Rule]) -> list[Rule]:
    """Our changes: no error recovery; `select` takes the bodies that `for` takes, also after an empty word
    list; `time --`. The start symbol comes first."""
    start: list[Rule] = []
    middle: list[Rule] = []
    extra: list[Rule] = [("timespec", ("TIME", "TIMEIGN"))]
    for lhs, rhs in rules:
        if lhs == START:
            if "error" not in rhs:
                start.append((lhs, rhs))
        elif lhs == "select_command":
            body = tuple("compound_list" if symbol == "list" else symbol for symbol in rhs)
            extra.append((lhs, body))
            if "word_list" in body:
                extra.append((lhs, tuple(symbol for symbol in body if symbol != "word_list")))
        else:
            middle.append((lhs, rhs))
    return start + middle + extra


# ------------------------------------------------------------------------------------------------ table cache


def _checksum(data: bytes) -> int:
    """Python's own hash of source files (PEP 552). The modules that have others take a millisecond to load."""
    return int.from_bytes(_imp.source_hash(_KEY, data), "little")


def _bashlex_sources() -> list[bytes]:
    """The bytes of the files that determine the tables, found without importing bashlex."""
    for folder in _bashlex_folders():
        try:
            sources = []
            for name in ("parser.py", "tokenizer.py", "yacc.py"):
                with open(os.path.join(folder, name), "rb") as file:
                    sources.append(file.read())
            return sources
        except OSError:
            continue
    return []


def _bashlex_folders() -> list[str]:
    module = sys.modules.get("bashlex")
    if module is not None and getattr(module, "__path__", None):
        return list(module.__path__)
    return [os.path.join(entry or ".", "bashlex") for entry in sys.path]


def _cache_path(sources: list[bytes]) -> str | None:
    """Where tables made of these sources are kept; None when that cannot be said."""
    if not sources:
        return None
    try:
        with open(__file__, "rb") as file:  # our own rules are part of the key
            own = file.read()
    except OSError:
        return None
    key = "-".join(f"{_checksum(text):016x}{len(text):x}" for text in [*sources, own])
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.path.expanduser("~")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".cache")
    return os.path.join(base, "mirage", f"grammar-{FORMAT}.{marshal.version}-{key}.tab")


def _read_cache(path: str) -> RawTables | None:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    start = len(_MAGIC) + 16
    payload = data[start:]
    if not data.startswith(_MAGIC) or data[len(_MAGIC) : start] != b"%016x" % _checksum(payload):
        return None
    try:
        action, goto, rules = marshal.loads(payload)
    except (ValueError, TypeError, EOFError):
        return None
    return action, goto, rules


def _write_cache(path: str, tables: RawTables) -> None:
    payload = marshal.dumps(tables)
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(temporary, "xb") as file:
            file.write(_MAGIC + b"%016x" % _checksum(payload) + payload)
        os.replace(temporary, path)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass
