"""Messages as text: `[09:15] Jonas Weiß: ...`, replies below their parent, names in the place of ids."""
from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

MENTION = re.compile(r"<([^<>]+)>")
Names = Callable[[str], str]


def chat_text(messages: list[dict[str, Any]], user: Names, clock: Callable[[dict[str, Any]], str]) -> str:
    """One line or more for each message. `user` gives the name of an id, `clock` the time of a message."""
    lines: list[str] = []
    for message in messages:
        lines += _lines(message, user, clock(message), "")
        for reply in message.get("replies", ()):
            lines += _lines(reply, user, clock(reply), "    ")
    return "".join(line + "\n" for line in lines)


def _lines(message: dict[str, Any], user: Names, when: str, indent: str) -> list[str]:
    who = user(message.get("user", "")) or message.get("username") or message.get("bot_id") or "somebody"
    text = plain(message.get("text", ""), user)
    first, *rest = text.split("\n")
    lines = [f"{indent}[{when}] {who}: {first}", *(f"{indent}  {line}" for line in rest)]
    for attachment in message.get("attachments", ()):
        shown = attachment.get("text") or attachment.get("fallback") or ""
        lines += [f"{indent}  | {line}" for line in plain(shown, user).split("\n") if line]
    lines += [f"{indent}  [file: {file.get('name') or file.get('id', '')}]" for file in message.get("files", ())]
    reactions = " ".join(f":{r['name']}: {r['count']}" for r in message.get("reactions", ()))
    return [*lines, f"{indent}  {reactions}"] if reactions else lines


def plain(text: str, user: Names) -> str:
    """Slack's markup as text: `<@U1>` is @name, `<#C1|general>` #general, `<https://x|label>` label (https://x)."""
    def put(match: re.Match[str]) -> str:
        target, _, label = match.group(1).partition("|")
        if target[0] == "@":
            return f"@{label or user(target[1:]) or target[1:]}"
        if target[0] == "#":
            return f"#{label or target[1:]}"
        if target[0] == "!":
            return f"@{label or target[1:].partition('^')[0]}"
        return f"{label} ({target})" if label and label not in target else target
    return html.unescape(MENTION.sub(put, text))
