"""What the adapters' options have in common: effects, texts that may name a secret, one-line summaries."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mirage.policy.vocabulary import CALL_EFFECTS
from mirage.vfs.secrets import KINDS, Secret

if TYPE_CHECKING:
    from collections.abc import Sequence


def summary(text: str) -> str:
    """The first sentence, at most 100 characters."""
    sentence = text.partition(". ")[0].rstrip(".")
    return sentence if len(sentence) <= 100 else sentence[:97].rpartition(" ")[0] + "..."


def secret_or_text(value: str | Secret, folder: str | os.PathLike[str] = "") -> str | Secret:
    """`env:NAME` and the like name a secret; anything else is itself."""
    if isinstance(value, Secret):
        return value
    if not isinstance(value, str):
        raise ValueError("values of env and headers, and the url, must be texts")
    kind, colon, _ = value.partition(":")
    return Secret(value, folder) if colon and kind in KINDS else value


def check_effects(effects: Sequence[str]) -> tuple[str, ...]:
    """Raises ValueError for a word that is no effect of a call."""
    found = (effects,) if isinstance(effects, str) else tuple(effects)
    for effect in found:
        if effect not in CALL_EFFECTS:
            raise ValueError(f"{effect!r} is no effect; there are: {', '.join(CALL_EFFECTS)}")
    return found
