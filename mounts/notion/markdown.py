"""Blocks of Notion as Markdown."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mirage.mounts.notion.values import as_text, plain, title_of
from mirage.vfs.names import with_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Block = dict[str, Any]

LISTS = ("bulleted_list_item", "numbered_list_item", "to_do")
TRANSPARENT = ("column_list", "column", "synced_block", "template")
SILENT = ("table_of_contents", "breadcrumb", "unsupported", "tab")
MARKS = (("bold", "**"), ("italic", "*"), ("strikethrough", "~~"))


def page_markdown(page: Block) -> str:
    """Title, the values of a row, and the blocks of a page that has them as `blocks`."""
    parts = [f"# {' '.join(title_of(page).split()) or 'untitled'}"]
    values = [f"- **{name}**: {' '.join(as_text(value).split())}" for name, value in page["properties"].items()
              if value.get("type") != "title"]
    if values:
        parts.append("\n".join(values))
    body = blocks_markdown(page["blocks"])
    return "\n\n".join([*parts, *([body] if body else [])]) + "\n"


def blocks_markdown(blocks: Iterable[Block]) -> str:
    """Blocks with an empty line between them, except between items of a list."""
    out: list[str] = []
    before, number = "", 0
    for block in blocks:
        kind = block["type"]
        number = number + 1 if kind == "numbered_list_item" == before else 1
        text = _block(block, number)
        if text is None:
            continue
        if out:
            out.append("\n" if kind in LISTS and before in LISTS else "\n\n")
        out.append(text)
        before = kind
    return "".join(out)


def _block(block: Block, number: int) -> str | None:
    """None for what cannot be seen."""
    kind = block["type"]
    content = block.get(kind) or {}
    inside = block.get("children", [])
    if kind in TRANSPARENT:
        return blocks_markdown(inside) or None
    if kind in SILENT:
        return None
    if kind in LISTS:
        box = ("[x] " if content.get("checked") else "[ ] ") if kind == "to_do" else ""
        mark = f"{number}. " if kind == "numbered_list_item" else "- "
        return _under(mark + box + _hanging(rich_markdown(content["rich_text"]), len(mark)), inside, " " * len(mark))
    make = KINDS.get(kind)
    if make is not None:
        return make(block, content)
    text = rich_markdown(content["rich_text"]) if "rich_text" in content else ""
    if not text and "rich_text" not in content:
        return f"[{kind}]"
    return _under(text, inside, "    ")


def _hanging(text: str, width: int) -> str:
    return text.replace("\n", "\n" + " " * width)


def _under(text: str, inside: list[Block], indent: str) -> str:
    """A block with the blocks inside it, indented."""
    below = blocks_markdown(inside)
    if not below:
        return text
    gap = "\n" if inside[0]["type"] in LISTS else "\n\n"
    return text + gap + "\n".join(indent + line if line else "" for line in below.split("\n"))


def _heading(block: Block, content: Block) -> str:
    mark = "#" * (int(block["type"][-1]) + 1)                # the title is the only #
    return _under(f"{mark} {' '.join(rich_markdown(content['rich_text']).split())}", block.get("children", []), "")


def _quoted(text: str, block: Block) -> str:
    whole = "\n\n".join(part for part in (text, blocks_markdown(block.get("children", []))) if part)
    return "\n".join(f"> {line}".rstrip() for line in whole.split("\n"))


def _callout(block: Block, content: Block) -> str:
    emoji = (content.get("icon") or {}).get("emoji", "")
    return _quoted(f"{emoji} {rich_markdown(content['rich_text'])}".strip(), block)


def _code(block: Block, content: Block) -> str:
    text = plain(content["rich_text"])
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    language = content.get("language", "")
    shown = "" if language == "plain text" else language
    return _captioned(f"{fence}{shown}\n{text}\n{fence}", content)


def _captioned(text: str, content: Block) -> str:
    caption = rich_markdown(content.get("caption", []))
    return f"{text}\n\n{caption}" if caption else text


def _toggle(block: Block, content: Block) -> str:
    return _under(f"- {_hanging(rich_markdown(content['rich_text']), 2)}", block.get("children", []), "  ")


def _table(block: Block, content: Block) -> str:
    rows = [[rich_markdown(cell).replace("|", "\\|").replace("\n", " ") for cell in row["table_row"]["cells"]]
            for row in block.get("children", []) if row["type"] == "table_row"]
    if not rows:
        return "[table]"
    head, body = (rows[0], rows[1:]) if content.get("has_column_header") else ([""] * len(rows[0]), rows)
    lines = [head, ["---"] * len(rows[0]), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _file(block: Block, content: Block) -> str:
    """Image, video, file, pdf, audio: the address; those of Notion's own store end after an hour."""
    url = (content.get(content.get("type", "")) or {}).get("url", "")
    name = (
        " ".join(plain(content.get("caption", [])).split())
        or content.get("name")
        or url.partition("?")[0].rpartition("/")[2]
    )
    return f"{'!' if block['type'] == 'image' else ''}[{_escaped(name)}]({_address(url)})"


def _bookmark(block: Block, content: Block) -> str:
    url = content.get("url", "")
    caption = " ".join(plain(content.get("caption", [])).split())
    return f"[{_escaped(caption)}]({_address(url)})" if caption else f"<{_address(url)}>"


def _child(block: Block, content: Block) -> str:
    title = content.get("title", "")
    name = with_id(title, block["id"].replace("-", ""))
    file = "page.md" if block["type"] == "child_page" else "rows.csv"
    return f"[{_escaped(' '.join(title.split()) or 'untitled')}]({_address(f'{name}/{file}')})"


def _link_to_page(block: Block, content: Block) -> str:
    id = content.get(content.get("type", ""), "")
    return f"<https://www.notion.so/{str(id).replace('-', '')}>"


KINDS: dict[str, Callable[[Block, Block], str]] = {
    "heading_1": _heading,
    "heading_2": _heading,
    "heading_3": _heading,
    "callout": _callout,
    "code": _code,
    "quote": lambda block, content: _quoted(rich_markdown(content["rich_text"]), block),
    "toggle": _toggle,
    "table": _table,
    "divider": lambda block, content: "---",
    "equation": lambda block, content: f"$$\n{content['expression']}\n$$",
    "image": _file,
    "video": _file,
    "file": _file,
    "pdf": _file,
    "audio": _file,
    "bookmark": _bookmark,
    "embed": _bookmark,
    "link_preview": _bookmark,
    "child_page": _child,
    "child_database": _child,
    "link_to_page": _link_to_page,
}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _address(url: str) -> str:
    return url.replace(" ", "%20").replace("(", "%28").replace(")", "%29").replace("\n", "%0A")


def rich_markdown(pieces: Iterable[Block]) -> str:
    """Rich text with its annotations, links, equations and mentions."""
    return "".join(_piece(piece) for piece in pieces)


def _piece(piece: Block) -> str:
    text = piece.get("plain_text", "")
    if piece.get("type") == "equation":
        return f"${piece['equation']['expression']}$"
    notes = piece.get("annotations") or {}
    core = text.strip()
    if not core:
        return str(text)
    before, after = text[:len(text) - len(text.lstrip())], text[len(text.rstrip()):]
    if notes.get("code"):
        fence = "``" if "`" in core else "`"
        core = f"{fence}{core}{fence}"
    for name, mark in MARKS:
        if notes.get(name):
            core = f"{mark}{core}{mark}"
    href = piece.get("href")
    if href:
        core = f"[{core if notes.get('code') else _escaped(core)}]({_address(href)})"
    return f"{before}{core}{after}"
