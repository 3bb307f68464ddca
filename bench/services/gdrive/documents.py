"""Documents and presentations of the simulator: paragraphs, tables, and the requests of batchUpdate."""
from __future__ import annotations

import copy
from typing import Any

Style = dict[str, Any]
Run = tuple[str, Style]


class DocumentError(Exception):
    """A request that the API refuses."""


class Paragraph:
    """Runs of text; the line end behind the last one is implied. Other elements are given as they are."""

    def __init__(
        self, runs: list[Run | dict[str, Any]], style: str = "NORMAL_TEXT", bullet: tuple[str, int] | None = None
    ) -> None:
        self.runs = runs
        self.style = style
        self.bullet = bullet

    @property
    def text(self) -> str:
        return "".join(run[0] if isinstance(run, tuple) else "\ufffc" for run in self.runs)

    def split(self, at: int) -> Paragraph:
        """Cut the paragraph in two at a position of its text; the second part."""
        before: list[Run | dict[str, Any]] = []
        after: list[Run | dict[str, Any]] = []
        seen = 0
        for run in self.runs:
            text = run[0] if isinstance(run, tuple) else "\ufffc"
            cut = max(0, min(len(text), at - seen))
            if isinstance(run, tuple):
                if text[:cut]:
                    before.append((text[:cut], run[1]))
                if text[cut:]:
                    after.append((text[cut:], run[1]))
            else:
                (before if cut else after).append(run)
            seen += len(text)
        self.runs = before
        return Paragraph(after, self.style, self.bullet)


class Table:
    """Rows of cells, each a text."""

    def __init__(self, rows: list[list[str]]) -> None:
        self.rows = rows

    @property
    def text(self) -> str:
        return "\n".join("\t".join(row) for row in self.rows)


class Document:
    def __init__(self, id: str, title: str, blocks: list[Paragraph | Table] | None = None) -> None:
        self.id = id
        self.title = title
        self.blocks: list[Paragraph | Table] = blocks if blocks is not None else [Paragraph([])]
        self.lists: dict[str, list[str]] = {}                # list id -> glyph types of its levels
        self.footnotes: dict[str, str] = {}
        self.objects: dict[str, str] = {}                    # inline object id -> description
        self.revision = 1
        self.tabs: list[tuple[str, list[Paragraph | Table]]] = []    # further tabs: (title, blocks)

    # ---- the resource

    def resource(self, with_tabs: bool) -> dict[str, Any]:
        head = {"documentId": self.id, "title": self.title, "revisionId": f"rev{self.revision}",
                "suggestionsViewMode": "SUGGESTIONS_INLINE"}
        if not with_tabs:
            return {**head, **self._part(self.blocks)}
        tabs = [("Tab 1", self.blocks), *self.tabs]
        return {**head, "tabs": [{"tabProperties": {"tabId": f"t.{n}", "title": title, "index": n},
                                  "documentTab": self._part(blocks)} for n, (title, blocks) in enumerate(tabs)]}

    def _part(self, blocks: list[Paragraph | Table]) -> dict[str, Any]:
        content: list[dict[str, Any]] = [
            {"endIndex": 1, "sectionBreak": {"sectionStyle": {"columnSeparatorStyle": "NONE"}}}
        ]
        at = 1
        for block in blocks:
            if isinstance(block, Table):
                element, at = _table(block, at)
            else:
                element, at = _paragraph(block, at)
            content.append(element)
        part: dict[str, Any] = {
            "body": {"content": content},
            "documentStyle": {"pageNumberStart": 1},
            "namedStyles": {
                "styles": [
                    {"namedStyleType": "NORMAL_TEXT", "textStyle": {"fontSize": {"magnitude": 11, "unit": "PT"}}}
                ]
            },
        }
        if self.lists:
            part["lists"] = {id: {"listProperties": {"nestingLevels": [
                {"glyphType": glyph, "glyphFormat": f"%{n}."} if glyph else {"glyphSymbol": "●", "glyphFormat": f"%{n}"}
                for n, glyph in enumerate(levels)]}} for id, levels in self.lists.items()}
        if self.footnotes:
            part["footnotes"] = {id: {"footnoteId": id, "content": [_paragraph(Paragraph([(text, {})]), 0)[0]]}
                                 for id, text in self.footnotes.items()}
        if self.objects:
            part["inlineObjects"] = {id: {"objectId": id, "inlineObjectProperties": {"embeddedObject": {
                "description": text, "imageProperties": {"contentUri": "https://lh3.googleusercontent.com/signed"}}}}
                for id, text in self.objects.items()}
        return part

    def text(self) -> str:
        """What the index knows: what is displayed, and where links lead."""
        parts = [self.title, *self.footnotes.values(), *self.objects.values()]
        for title, blocks in [("", self.blocks), *self.tabs]:
            parts.append(title)
            for block in blocks:
                parts.append(block.text)
                if isinstance(block, Paragraph):
                    parts += [
                        run[1]["link"]["url"] for run in block.runs if isinstance(run, tuple) and "link" in run[1]
                    ]
                    parts += [str(run) for run in block.runs if isinstance(run, dict)]
        return "\n".join(parts)

    def state(self) -> Any:
        return {
            "title": self.title,
            "text": self.text(),
            "styles": [b.style for b in self.blocks if isinstance(b, Paragraph)],
        }

    # ---- batchUpdate

    def batch(self, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        saved = copy.deepcopy((self.blocks, self.lists))
        try:
            replies = []
            for request in requests:
                (kind, body), = request.items()
                method = getattr(self, f"_{kind}", None)
                if method is None:
                    raise DocumentError(f'Unknown name "{kind}" at \'requests[0]\': Cannot find field.')
                replies.append(method(body) or {})
            self.revision += 1
            return replies
        except (DocumentError, KeyError, TypeError, ValueError):
            self.blocks, self.lists = saved
            raise

    def _spans(self) -> list[tuple[int, int, Paragraph | Table]]:
        found, at = [], 1
        for block in self.blocks:
            end = (_table(block, at) if isinstance(block, Table) else _paragraph(block, at))[1]
            found.append((at, end, block))
            at = end
        return found

    def end(self) -> int:
        return self._spans()[-1][1]

    def _insertText(self, body: dict[str, Any]) -> None:
        index = body["location"]["index"] if "location" in body else self.end() - 1
        for start, end, block in self._spans():
            if start <= index < end:
                if isinstance(block, Table):
                    break
                rest = block.split(index - start)
                first, *lines = body["text"].split("\n")
                block.runs.append((first, _style_at(block)))
                following = [Paragraph([(line, {})] if line else [], block.style, block.bullet) for line in lines]
                (following[-1] if following else block).runs += rest.runs
                position = self.blocks.index(block) + 1
                self.blocks[position:position] = following
                return
        raise DocumentError(
            f"Invalid requests[0].insertText: Index {index} must be less than the end index of the referenced "
            f"segment, {self.end()}."
        )

    def _deleteContentRange(self, body: dict[str, Any]) -> None:
        start, end = body["range"]["startIndex"], body["range"]["endIndex"]
        if not 1 <= start < end < self.end():
            raise DocumentError(
                "Invalid requests[0].deleteContentRange: The range should not be empty, nor include the "
                "newline character at the end of the segment."
            )
        kept: list[Paragraph | Table] = []
        joined: Paragraph | None = None
        for first, last, block in self._spans():
            if last <= start or first >= end or isinstance(block, Table):
                if not (isinstance(block, Table) and start <= first and last <= end):
                    kept.append(block)
                continue
            rest = block.split(max(0, min(end, last - 1) - first)) if end < last else Paragraph([])
            if start > first:
                block.split(start - first)
            else:
                block.runs = []
            if joined is None:
                joined = block
                kept.append(block)
            joined.runs += rest.runs
        self.blocks = kept

    def _replaceAllText(self, body: dict[str, Any]) -> dict[str, Any]:
        wanted, new = body["containsText"]["text"], body.get("replaceText", "")
        exact = body["containsText"].get("matchCase", False)
        count = 0
        for block in self.blocks:
            if isinstance(block, Table):
                for row in block.rows:
                    for n, cell in enumerate(row):
                        row[n], found = _replace(cell, wanted, new, exact)
                        count += found
                continue
            for n, run in enumerate(block.runs):
                if isinstance(run, tuple):
                    text, found = _replace(run[0], wanted, new, exact)
                    block.runs[n] = (text, run[1])
                    count += found
        return {"replaceAllText": {"occurrencesChanged": count} if count else {}}

    def _updateTextStyle(self, body: dict[str, Any]) -> None:
        first, last = body["range"]["startIndex"], body["range"]["endIndex"]
        for start, end, block in self._spans():
            if isinstance(block, Paragraph) and start < last and end > first:
                tail = block.split(min(last, end - 1) - start)
                middle = block.split(max(0, first - start))
                block.runs += [
                    (r[0], {**r[1], **body["textStyle"]}) if isinstance(r, tuple) else r for r in middle.runs
                ]
                block.runs += tail.runs

    def _updateParagraphStyle(self, body: dict[str, Any]) -> None:
        for block in self._inside(body["range"]):
            block.style = body["paragraphStyle"].get("namedStyleType", block.style)

    def _createParagraphBullets(self, body: dict[str, Any]) -> None:
        id = f"kix.l{len(self.lists)}"
        self.lists[id] = ["DECIMAL" if body.get("bulletPreset", "").startswith("NUMBERED") else ""] * 9
        for block in self._inside(body["range"]):
            block.bullet = (id, 0)

    def _inside(self, part: dict[str, int]) -> list[Paragraph]:
        return [block for start, end, block in self._spans() if isinstance(block, Paragraph)
                and start < part["endIndex"] and end > part["startIndex"]]


def _style_at(block: Paragraph) -> Style:
    last = block.runs[-1] if block.runs else None
    return dict(last[1]) if isinstance(last, tuple) else {}


def _replace(text: str, wanted: str, new: str, exact: bool) -> tuple[str, int]:
    import re
    return re.subn(re.escape(wanted), lambda m: new, text, flags=0 if exact else re.IGNORECASE)


def _length(text: str) -> int:
    """UTF-16 code units, in which the API counts."""
    return len(text.encode("utf-16-le")) // 2


def _paragraph(block: Paragraph, at: int) -> tuple[dict[str, Any], int]:
    start = at
    elements: list[dict[str, Any]] = []
    runs: list[Any] = list(block.runs)
    if runs and isinstance(runs[-1], tuple):
        runs[-1] = (runs[-1][0] + "\n", runs[-1][1])
    else:
        runs.append(("\n", {}))
    for run in runs:
        size = _length(run[0]) if isinstance(run, tuple) else 1
        body = {"textRun": {"content": run[0], "textStyle": run[1]}} if isinstance(run, tuple) else run
        elements.append({"startIndex": at, "endIndex": at + size, **body})
        at += size
    paragraph: dict[str, Any] = {
        "elements": elements,
        "paragraphStyle": {"namedStyleType": block.style, "direction": "LEFT_TO_RIGHT"},
    }
    if block.bullet is not None:
        paragraph["bullet"] = {
            "listId": block.bullet[0],
            **({"nestingLevel": block.bullet[1]} if block.bullet[1] else {}),
        }
    return {"startIndex": start, "endIndex": at, "paragraph": paragraph}, at


def _table(block: Table, at: int) -> tuple[dict[str, Any], int]:
    start = at
    at += 1
    rows = []
    for row in block.rows:
        first, cells = at, []
        at += 1
        for text in row:
            begin = at
            element, at = _paragraph(Paragraph([(text, {})] if text else []), at + 1)
            cells.append({"startIndex": begin, "endIndex": at, "content": [element]})
        rows.append({"startIndex": first, "endIndex": at, "tableCells": cells})
    at += 1
    return {"startIndex": start, "endIndex": at, "table": {
        "rows": len(rows), "columns": max((len(r) for r in block.rows), default=0), "tableRows": rows}}, at


class Presentation:
    """slides: (title, lines, notes) each."""

    def __init__(self, id: str, title: str, slides: list[tuple[str, list[str], str]] | None = None) -> None:
        self.id = id
        self.title = title
        self.slides = slides or [("", [], "")]

    def resource(self) -> dict[str, Any]:
        return {
            "presentationId": self.id,
            "title": self.title,
            "locale": "en_GB",
            "revisionId": "r1",
            "pageSize": {
                "width": {"magnitude": 9144000, "unit": "EMU"},
                "height": {"magnitude": 5143500, "unit": "EMU"},
            },
            "slides": [self._slide(n, *slide) for n, slide in enumerate(self.slides)],
        }

    @staticmethod
    def _slide(n: int, title: str, lines: list[str], notes: str) -> dict[str, Any]:
        body = [
            e
            for line in lines
            for e in (
                {"paragraphMarker": {"style": {}, "bullet": {"listId": "l1", "glyph": "●"}}},
                {"textRun": {"content": line + "\n", "style": {}}},
            )
        ]
        return {
            "objectId": f"p{n}",
            "pageElements": [
                {
                    "objectId": f"p{n}_title",
                    "shape": {
                        "shapeType": "TEXT_BOX",
                        "placeholder": {"type": "TITLE"},
                        "text": {
                            "textElements": [
                                {"paragraphMarker": {"style": {}}},
                                {"textRun": {"content": title + "\n", "style": {}}},
                            ]
                        },
                    },
                },
                {
                    "objectId": f"p{n}_body",
                    "shape": {"shapeType": "TEXT_BOX", "placeholder": {"type": "BODY"}, "text": {"textElements": body}},
                },
            ],
            "slideProperties": {
                "notesPage": {
                    "objectId": f"p{n}_np",
                    "notesProperties": {"speakerNotesObjectId": f"p{n}_notes"},
                    "pageElements": [
                        {
                            "objectId": f"p{n}_notes",
                            "shape": {
                                "text": {
                                    "textElements": [
                                        {"paragraphMarker": {"style": {}}},
                                        {"textRun": {"content": notes + "\n", "style": {}}},
                                    ]
                                }
                            },
                        }
                    ]
                    if notes
                    else [],
                }
            },
        }

    def text(self) -> str:
        return "\n".join(
            [self.title, *(part for title, lines, notes in self.slides for part in (title, *lines, notes))]
        )

    def state(self) -> Any:
        return {"title": self.title, "slides": self.slides}
