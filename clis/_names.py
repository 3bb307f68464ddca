"""Names of operations from the names that a service gives its tools."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def words_of(text: str) -> list[str]:
    """`slack_post_message`, `listInvoices`, `repos/get` as lower-case words."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", text)
    return [word for word in re.split(r"[^a-zA-Z0-9]+", text.lower()) if word]


def operation_names(tools: Sequence[str], service: Iterable[str]) -> dict[str, str]:
    """Tool -> operation: words joined by `-`, without the words of the service that every tool begins with.

    service  texts that name the service: the CLI, the server, its title
    Tools that would get the same name keep a number at its end.
    """
    split = {tool: words_of(tool) or ["call"] for tool in tools}
    known = {"api", "mcp", *(word for text in service for word in words_of(text))}
    while split:
        first = {words[0] for words in split.values()}
        if len(first) > 1 or not first <= known or any(len(words) < 2 for words in split.values()):
            break
        split = {tool: words[1:] for tool, words in split.items()}
    names: dict[str, str] = {}
    taken: set[str] = set()
    for tool, words in split.items():
        name, number = "-".join(words), 1
        while name in taken or name in ("help", "-h"):
            number += 1
            name = f"{'-'.join(words)}-{number}"
        taken.add(name)
        names[tool] = name
    return names
