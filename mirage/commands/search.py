"""search: find files by words or meaning in the index that `mirage index` made."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.index.database import Hit
    from mirage.process.process import Process

R_OK = 4
HELP = """\
Usage: search [OPTION]... QUERY [PATH]...
Find files below each PATH (default: everywhere) by the words of QUERY, and by its meaning where the index knows it.
The index is made outside, by the owner of this terminal; what changed since then is marked.
"a phrase" in QUERY stays together, word* is the beginning of a word.

  -n, --max-count=NUM  at most NUM files (default 10)
  -l, --files          print only the paths
      --text           by words alone
      --semantic       by meaning alone
      --hybrid         by both (the default, where the index has both)
      --json           one JSON object per line: path, score, text, stale
      --help           display this help text and exit

Prints SCORE, PATH and a part of the text, with tabs between. Exit status is 0 if something was found, 1 if not,
2 if the index cannot be used.
"""
SPEC = Spec("n:l", {"max-count": ("n", REQUIRED), "files": ("l", NONE), "text": ("text", NONE),
                    "semantic": ("semantic", NONE), "hybrid": ("hybrid", NONE), "json": ("json", NONE)},
            help=HELP, status=2, usage="Usage: search [OPTION]... QUERY [PATH]...\n")
SPARE = 5                                                    # times more hits than wanted: some may not be shown


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    most, mode, style = 10, "", "plain"
    for key, value in given:
        if key == "n":
            if not (value.isdecimal() and value.isascii() and int(value[:7]) > 0):
                raise usage_error(proc, SPEC, f"invalid number of files: '{value}'")
            most = min(int(value[:7]), 1000)
        elif key in ("text", "semantic", "hybrid"):
            mode = key
        else:
            style = {"l": "files", "json": "json"}[key]
    if not operands or not operands[0].strip():
        raise usage_error(proc, SPEC, "there is nothing to search for")
    tops = _tops(proc, operands[1:])
    count = stale = gone = 0
    for hit in _ask(proc, operands[0], tops, most * SPARE, mode):
        fresh = _fresh(proc, hit)
        if fresh is None:
            gone += not proc.fs.exists(hit.path) and proc.fs.shows(hit.path)
            continue
        stale += not fresh
        _print(proc, hit, style, fresh)
        count += 1
        if count == most:
            break
    if stale and style == "plain":
        proc.stdout.flush()
        proc.message(f"{stale} of these files changed since they were indexed")
    if gone and style != "json":
        proc.stdout.flush()
        proc.message(f"{gone} {'file' if gone == 1 else 'files'} of the index cannot be opened any more")
    return 0 if count else 1


def _tops(proc: Process, paths: list[str]) -> list[str]:
    found = []
    for path in paths:
        try:
            proc.fs.stat(path)
            found.append(proc.fs.realpath(path))
        except OSError as e:
            proc.fail(path, e)
            raise Exit(2) from None
    return found


def _ask(proc: Process, question: str, tops: list[str], most: int, mode: str) -> list[Hit]:
    from mirage.index.database import IndexDatabase, IndexUnusable
    from mirage.index.query import ask
    from mirage.process import blocking
    try:
        place = proc.machine.index
        if place is None:
            raise IndexUnusable("this terminal has no index")
        database = IndexDatabase(place)
        try:
            known, model = database.about("model"), None
            if mode in ("semantic", "hybrid") and not known:
                raise IndexUnusable("the index has full text only; --text searches it")
            if known and mode != "text":
                from mirage.index.model import MISSING, load
                model = load()
                if model is None and mode:
                    raise IndexUnusable(MISSING)
            return blocking.call(ask, database, question, tops, most, mode or "hybrid", model)
        finally:
            database.close()
    except IndexUnusable as e:
        proc.message(str(e))
        raise Exit(2) from None


def _fresh(proc: Process, hit: Hit) -> bool | None:
    """Is the file what it was? None where it may not be shown: gone, hidden, not to be read, not to be searched."""
    from mirage.index.build import unchanged
    try:
        stat = proc.fs.stat(hit.path)
    except OSError:
        return None
    if not proc.fs.access(hit.path, R_OK) or not proc.fs.allows("search", hit.path):
        return None
    return unchanged(hit.version, stat)


def _print(proc: Process, hit: Hit, style: str, fresh: bool) -> None:
    text = " ".join(hit.text.split())
    if style == "files":
        line = hit.path
    elif style == "json":
        import json
        line = json.dumps({"path": hit.path, "score": round(hit.score, 4), "text": text, "stale": not fresh},
                          ensure_ascii=False)
    else:
        line = f"{hit.score:.3f}\t{hit.path}\t{text}" + ("" if fresh else " [changed since]")
    proc.stdout.write(encode(line) + b"\n")
