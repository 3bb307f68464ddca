"""The answer to a question: by its words, by its meaning, or both."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.index.database import Hit, IndexDatabase

if TYPE_CHECKING:
    from collections.abc import Sequence

MODES = ("text", "semantic", "hybrid")
RANK = 60                                                    # of reciprocal rank fusion (Cormack et al. 2009)
LEAST = 0.15                                                 # a cosine below is no hit


def ask(database: IndexDatabase, question: str, tops: Sequence[str], most: int, mode: str,
        model: Any = None) -> list[Hit]:
    """Hits, best first. mode "semantic" and "hybrid" need the model."""
    if mode == "text" or model is None:
        return database.by_text(question, tops, most)
    meant = by_meaning(database, question, tops, most, model)
    if mode == "semantic":
        return meant
    return fuse(database.by_text(question, tops, most), meant)[:most]


def by_meaning(database: IndexDatabase, question: str, tops: Sequence[str], most: int, model: Any) -> list[Hit]:
    """Files by the cosine of their best passage and the question."""
    rows = database.passages(tops)
    if not rows:
        return []
    np = model.np
    matrix = np.frombuffer(b"".join(row[2] for row in rows), "<f2").reshape(len(rows), -1).astype("float32")
    scores = matrix @ model.encode([question])[0]
    found: dict[str, Hit] = {}
    for i in np.argsort(-scores, kind="stable"):
        score = float(scores[i])
        if score < LEAST or len(found) >= most:
            break
        path, version, _, text = rows[i]
        found.setdefault(path, Hit(path, version, score, text))
    return list(found.values())


def fuse(*answers: list[Hit]) -> list[Hit]:
    """Reciprocal rank fusion; scores from 0 to 1, 1 for what is first in every answer."""
    best = len(answers) / (RANK + 1)
    sums: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for answer in answers:
        for rank, hit in enumerate(answer, 1):
            sums[hit.path] = sums.get(hit.path, 0.0) + 1 / (RANK + rank)
            hits.setdefault(hit.path, hit)
    order = sorted(sums, key=lambda path: -sums[path])
    return [Hit(path, hits[path].version, sums[path] / best, hits[path].text) for path in order]
