"""What `grep -r` asks of Linear: not its search, but its filters, which find any part of a text.

A word of plain letters that a file has is in the title, the description, a comment, or in the name of something that
the issue is related to: all of these are asked about. Where a word can come from elsewhere (keys, ids, the team, the
workspace, the letter behind an escaped newline) it is not asked for, and everything is read.
"""
from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from mirage.mounts.linear import queries
from mirage.mounts.linear.text import FACTS
from mirage.process import blocking
from mirage.vfs.names import safe_name
from mirage.vfs.search import Candidates

if TYPE_CHECKING:
    from mirage.mounts.linear.tree import Linear
    from mirage.vfs.search import Query

WORD = re.compile(r"[A-Za-z]{3,}")
HEX = re.compile(r"[0-9a-f]+")
PRIORITIES = ("No priority", "Urgent", "High", "Medium", "Low")
CONSTANT = " ".join(
    [
        queries.ISSUE,
        *(fields for fields, _ in queries.LISTS.values()),
        *queries.LISTS,
        *(n for n, _ in FACTS),
        *PRIORITIES,
        "nodes null Labels Sub-issue Attachment Comments somebody https linear app issue "
        "triage backlog unstarted started completed canceled",
    ]
).casefold()


def search(mount: Linear, path: str, query: Query) -> Candidates | None:
    """Candidates below a directory; None: read everything."""
    mode = query.mode if query.mode != "auto" else mount.mode
    parts = path.strip("/").split("/") if path != "/" else []
    if mode == "exact" or parts[1:2] not in ([], ["issues"]):
        return None
    words = [w for literal in query.literals for w in WORD.findall(literal) if _is_plain(w)]
    if not words:
        return None
    word = max(words, key=len)
    teams = [team for team in blocking.call(mount.teams) if not parts or team["key"] == parts[0]]
    names = " ".join([mount.point, mount.client.base, *(f"{team['key']} {team['name']}" for team in teams)]).casefold()
    if word.casefold() in names or word.casefold() in blocking.call(_workspace, mount):
        return None
    forms = [word, word[1:]] if word[0] in "ntrbf" else [word]
    found: list[Any] = []
    for team in teams:
        filter = {
            "and": [{"team": {"id": {"eq": team["id"]}}}, {"or": [part for form in forms for part in _anywhere(form)]}]
        }
        found += blocking.call(partial(mount.client.nodes, queries.issues(f"{queries.BRIEF} team {{ key }}", 100),
                                       {"filter": filter}, "issues"))
    names_wanted = query.names or (lambda name: True)
    paths = [f"/{issue['team']['key']}/issues/{safe_name(stem)}{suffix}" for issue in found
             for stem in (f"{issue['identifier']}__{safe_name(issue['title'])}",) for suffix in (".json", ".md")]
    for team in teams if len(parts) < 2 else []:             # few, and all that is in them is listed anyway
        paths += [f"/{team['key']}/members.jsonl"]
        for directory in ("projects", "cycles"):
            paths += [f"/{team['key']}/{directory}/{e.name}" for e in mount.list(f"/{team['key']}/{directory}")]
    paths = sorted((p for p in paths if names_wanted(p.rpartition("/")[2])), key=_in_walk)
    mount.counters.add(searches=1, candidates=len(paths))
    return Candidates(paths)


def _is_plain(word: str) -> bool:
    """Can only texts and names have it? After an escaped newline its first letter may belong to the escape."""
    shorter = word[1:] if word[0] in "ntrbf" else word
    return len(shorter) > 2 and not HEX.fullmatch(word.casefold()) and not HEX.fullmatch(shorter.casefold()) \
        and word.casefold() not in CONSTANT and shorter.casefold() not in CONSTANT


def _workspace(mount: Linear) -> str:
    from mirage.vfs.declare.store import Kept
    text = "query Workspace { organization { urlKey } }"
    return str(
        mount.store.get(
            ("workspace",), "/.workspace", lambda _: Kept(mount.client.query(text)["organization"]["urlKey"], 0), 600.0
        ).value
    ).casefold()


def _anywhere(word: str) -> list[Any]:
    """Filters for issues that have a word in a text or a name."""
    has = {"containsIgnoreCase": word}
    people = [{"name": has}, {"displayName": has}]
    return [
        {"title": has},
        {"description": has},
        {"state": {"name": has}},
        {"project": {"name": has}},
        {"cycle": {"name": has}},
        {"parent": {"title": has}},
        {"labels": {"name": has}},
        {"comments": {"body": has}},
        {"attachments": {"title": has}},
        {"attachments": {"url": has}},
        {"children": {"title": has}},
        *({who: person} for who in ("assignee", "creator") for person in people),
        *({"comments": {"user": person}} for person in people),
    ]


def _in_walk(path: str) -> list[tuple[bool, str]]:
    """The order of a walk: the files of a directory stand before what is below."""
    *above, name = path.split("/")
    return [*((True, part) for part in above), (False, name)]
