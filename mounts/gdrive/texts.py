"""Documents and presentations of Google as Markdown, spreadsheets as CSV, from the resources of their APIs."""
from __future__ import annotations

import csv
import io
import json
import secrets
from typing import TYPE_CHECKING, Any

from mirage.mounts.gdrive.office import marked, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    Resource = dict[str, Any]

DEEPEST = 20                                                 # levels of a list
CELLS = 10_000_000                                           # of a spreadsheet
MONOSPACED = ("courier", "consolas", "mono", "menlo", "source code")
ORDERED = ("DECIMAL", "ALPHA", "ROMAN", "ZERO_DECIMAL", "UPPER_ALPHA", "UPPER_ROMAN")


# ---- documents

def single_tab(document: Resource) -> Resource:
    """A document of one tab as the API gives it to those who do not ask for tabs: `body` and so on at the top."""
    tabs = document.get("tabs") or []
    if len(tabs) != 1 or tabs[0].get("childTabs"):
        return document
    return {**{k: v for k, v in document.items() if k != "tabs"}, **tabs[0].get("documentTab", {})}


def document_text(document: Resource) -> str:
    """A document as Markdown; tabs become sections."""
    if "tabs" not in document:
        return "\n\n".join(_Document(document).blocks()) + "\n"
    parts = []
    for tab in _tabs(document["tabs"]):
        title = tab.get("tabProperties", {}).get("title", "")
        parts += [f"<!-- tab: {title} -->", *_Document(tab.get("documentTab", {})).blocks()]
    return "\n\n".join(parts) + "\n"


def _tabs(tabs: list[Resource]) -> Iterator[Resource]:
    for tab in tabs:
        yield tab
        yield from _tabs(tab.get("childTabs", []))


class _Document:
    def __init__(self, part: Resource) -> None:
        self.part = part
        self.counts: dict[tuple[str, int], int] = {}
        self.notes: list[str] = []

    def blocks(self) -> list[str]:
        found = self._content(self.part.get("body", {}).get("content", []))
        for number, id in enumerate(self.notes, 1):
            note = self.part.get("footnotes", {}).get(id, {}).get("content", [])
            found.append(f"[^{number}]: " + " ".join(self._content(note)).strip())
        return found

    def _content(self, content: list[Resource]) -> list[str]:
        """Blocks; the items of a list are one block."""
        found: list[str] = []
        in_list = False
        for element in content:
            if "table" in element:
                rows = element["table"].get("tableRows", [])
                found.append(table([["<br>".join(self._content(cell.get("content", [])))
                                     for cell in row.get("tableCells", [])] for row in rows]))
                in_list = False
            elif "paragraph" in element:
                text, is_item = self._paragraph(element["paragraph"])
                if not text:
                    continue
                if is_item and in_list:
                    found[-1] += "\n" + text
                else:
                    found.append(text)
                in_list = is_item
        return found

    def _paragraph(self, paragraph: Resource) -> tuple[str, bool]:
        text = "".join(self._element(e) for e in paragraph.get("elements", [])).strip("\n").replace("\v", "\n")
        style = paragraph.get("paragraphStyle", {}).get("namedStyleType", "")
        bullet = paragraph.get("bullet")
        if not text.strip():
            return "", False
        if bullet is not None:
            return self._bullet(bullet) + text.strip(), True
        if style == "TITLE":
            return f"# {text.strip()}", False
        if style.startswith("HEADING_"):
            return f"{'#' * min(int(style[8:]), 6)} {text.strip()}", False
        return text.strip(" "), False

    def _bullet(self, bullet: Resource) -> str:
        id, level = str(bullet.get("listId", "")), min(int(bullet.get("nestingLevel", 0)), DEEPEST)
        levels = self.part.get("lists", {}).get(id, {}).get("listProperties", {}).get("nestingLevels", [])
        glyph = levels[level].get("glyphType", "") if level < len(levels) else ""
        for key in [key for key in self.counts if key[0] == id and key[1] > level]:
            del self.counts[key]
        if glyph not in ORDERED:
            return "  " * level + "- "
        number = self.counts[id, level] = self.counts.get((id, level), 0) + 1
        return "   " * level + f"{number}. "

    def _element(self, element: Resource) -> str:
        if "textRun" in element:
            run = element["textRun"]
            return _run(run.get("content", ""), run.get("textStyle", {}))
        if "person" in element:
            who = element["person"].get("personProperties", {})
            return str(who.get("name") or who.get("email", ""))
        if "richLink" in element:
            link = element["richLink"].get("richLinkProperties", {})
            return f"[{link.get('title') or link.get('uri', '')}]({link.get('uri', '')})"
        if "dateElement" in element:
            date = element["dateElement"].get("dateElementProperties", {})
            return str(date.get("displayText") or date.get("timestamp", ""))
        if "inlineObjectElement" in element:
            objects = self.part.get("inlineObjects", {})
            held = objects.get(element["inlineObjectElement"].get("inlineObjectId", ""), {})
            about = held.get("inlineObjectProperties", {}).get("embeddedObject", {})
            return f"![{about.get('description') or about.get('title') or 'image'}]()"
        if "footnoteReference" in element:
            self.notes.append(element["footnoteReference"].get("footnoteId", ""))
            return f"[^{len(self.notes)}]"
        return "---" if "horizontalRule" in element else ""


def _run(text: str, style: Resource) -> str:
    url = (style.get("link") or {}).get("url", "")
    font = str((style.get("weightedFontFamily") or {}).get("fontFamily", "")).lower()
    inner = text.rstrip("\n")
    tail = text[len(inner):]
    if any(name in font for name in MONOSPACED) and inner.strip():
        inner = f"`{inner}`"
    else:
        inner = marked(inner, bool(style.get("bold")), bool(style.get("italic")), bool(style.get("strikethrough")))
    if url and inner.strip():
        inner = f"[{inner}]({url})"
    return inner + tail


# ---- presentations

def slides_text(presentation: Resource) -> str:
    """A presentation as Markdown: a section for each slide, its notes as a quotation."""
    parts = [f"# {presentation.get('title', '')}"]
    for number, slide in enumerate(presentation.get("slides", []), 1):
        title, blocks = "", []
        for element in _elements(slide.get("pageElements", [])):
            shape = element.get("shape", {})
            text = _slide_text(shape.get("text", {}))
            kind = shape.get("placeholder", {}).get("type", "")
            if kind in ("TITLE", "CENTERED_TITLE") and not title:
                title = " ".join(text.split())
            elif text:
                blocks.append(text)
            if "table" in element:
                rows = element["table"].get("tableRows", [])
                blocks.append(table([[_slide_text(cell.get("text", {})) for cell in row.get("tableCells", [])]
                                     for row in rows]))
        parts.append(f"## Slide {number}" + (f": {title}" if title else ""))
        parts += blocks
        page = slide.get("slideProperties", {}).get("notesPage", {})
        wanted = page.get("notesProperties", {}).get("speakerNotesObjectId")
        for element in page.get("pageElements", []):
            notes = _slide_text(element.get("shape", {}).get("text", {}))
            if notes and element.get("objectId") == wanted:
                parts.append("> " + notes.replace("\n", "\n> "))
    return "\n\n".join(parts) + "\n"


def _elements(elements: list[Resource]) -> Iterator[Resource]:
    for element in elements:
        yield element
        yield from _elements(element.get("elementGroup", {}).get("children", []))


def _slide_text(text: Resource) -> str:
    """Lines of a text; paragraphs with bullets as list items."""
    out, start = "", ""
    for element in text.get("textElements", []):
        if "paragraphMarker" in element:
            bullet = element["paragraphMarker"].get("bullet")
            start = "  " * min(bullet.get("nestingLevel", 0), DEEPEST) + "- " if bullet is not None else ""
        else:
            run = element.get("textRun") or element.get("autoText") or {}
            piece = _run(run.get("content", ""), run.get("style", {}))
            if piece:
                out += start + piece
                start = ""
    return "\n".join(line.rstrip() for line in out.replace("\v", "\n").split("\n")).strip("\n")


# ---- spreadsheets

def sheet_json(spreadsheet: Resource) -> bytes:
    """The resource, each row of cells on a line of its own."""
    rows: list[str] = []
    token = secrets.token_hex(12)

    def mark(found: list[Resource]) -> list[str]:
        marks = []
        for row in found:
            marks.append(f"{token}{len(rows)}")
            rows.append(json.dumps(row, ensure_ascii=False))
        return marks
    sheets = [{**sheet, "data": [{**grid, "rowData": mark(grid["rowData"])} if "rowData" in grid else grid
                                 for grid in sheet["data"]]} if "data" in sheet else sheet
              for sheet in spreadsheet.get("sheets", [])]
    text = json.dumps({**spreadsheet, "sheets": sheets}, ensure_ascii=False, indent=2)
    pieces = text.split(f'"{token}')
    out = [pieces[0]]
    for piece in pieces[1:]:
        number, _, rest = piece.partition('"')
        out += [rows[int(number)], rest]
    return "".join(out).encode("utf-8", "backslashreplace") + b"\n"


def tab_csv(sheet: Resource) -> bytes:
    """The cells of a tab as they are displayed; rows are as long as the longest, empty ones at the end are left out."""
    rows: list[list[str]] = []
    for grid in sheet.get("data", []):
        top, left = grid.get("startRow", 0), grid.get("startColumn", 0)
        if max(top, left) > CELLS:
            raise ValueError("a grid begins outside of what a spreadsheet can have")
        for number, row in enumerate(grid.get("rowData", []), top):
            while len(rows) <= number:
                rows.append([])
            cells = [cell.get("formattedValue", "") for cell in row.get("values", [])]
            line = rows[number]
            line += [""] * (left + len(cells) - len(line))
            line[left:left + len(cells)] = cells
    while rows and not any(rows[-1]):
        rows.pop()
    width = max((n + 1 for row in rows for n, cell in enumerate(row) if cell), default=0)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([*row[:width], *[""] * (width - len(row))] for row in rows)
    return out.getvalue().encode("utf-8", "backslashreplace")
