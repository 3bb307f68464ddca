"""The text of PDF and office files as Markdown, through pypdf, python-docx, openpyxl and python-pptx (imported late).

ValueError, with a text for people, where a file holds none that can be read. Sizes are bounded before a library sees
them: these formats can be small files of huge content.
"""
from __future__ import annotations

import importlib.util
import io
import zipfile
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_XML = "application/vnd.openxmlformats-officedocument."
KINDS = {"pdf": ("application/pdf", "pypdf"), "docx": (_XML + "wordprocessingml.document", "docx"),
         "xlsx": (_XML + "spreadsheetml.sheet", "openpyxl"), "pptx": (_XML + "presentationml.presentation", "pptx")}
MOST = 64 << 20                                              # bytes of a file
UNPACKED = 256 << 20                                         # bytes of what is inside
TEXT = 32 << 20                                              # characters of a result
CELLS = 2_000_000


@cache
def available(kind: str) -> bool:
    """Is the library for this kind installed?"""
    return importlib.util.find_spec(KINDS[kind][1]) is not None


def to_markdown(kind: str, data: bytes) -> str:
    """The text of a file of kind "pdf", "docx", "xlsx" or "pptx"."""
    if len(data) > MOST:
        raise ValueError(f"the file is larger than {MOST >> 20} MiB")
    try:
        if kind != "pdf":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                if sum(info.file_size for info in archive.infolist()) > UNPACKED:
                    raise ValueError(f"the file unpacks to more than {UNPACKED >> 20} MiB")
        parts, size = [], 0
        for part in READERS[kind](io.BytesIO(data)):
            size += len(part)
            if size > TEXT:
                raise ValueError("the text is too long")
            parts.append(part)
    except ValueError:
        raise
    except RecursionError:
        raise ValueError("the file is nested too deeply") from None
    except Exception as e:                                   # the libraries raise anything for a broken file
        raise ValueError(f"no text can be read from the file ({type(e).__name__})") from None
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _pdf(file: io.BytesIO) -> Iterator[str]:
    import logging

    from pypdf import PdfReader
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    reader = PdfReader(file)
    if reader.is_encrypted and not reader.decrypt(""):
        raise ValueError("the file needs a password")
    title = reader.metadata.title if reader.metadata else None
    if title:
        yield f"# {_line(title)}"
    several = len(reader.pages) > 1
    for number, page in enumerate(reader.pages, 1):
        text = "\n".join(line.rstrip() for line in page.extract_text().splitlines()).strip()
        yield f"<!-- page {number} -->\n\n{text}" if several else text


def _docx(file: io.BytesIO) -> Iterator[str]:
    import docx
    from docx.table import Table
    from docx.text.paragraph import Paragraph
    document = docx.Document(file)
    items: list[str] = []                                    # of the list that goes on
    for block in document.iter_inner_content():
        text = _paragraph(block) if isinstance(block, Paragraph) else ""
        if text.startswith(("- ", "1. ")):
            items.append(text)
            continue
        yield "\n".join(items)
        items = []
        yield table([[cell.text for cell in row.cells] for row in block.rows]) if isinstance(block, Table) else text
    yield "\n".join(items)


def _paragraph(block: Any) -> str:
    from docx.text.run import Run
    text = ""
    for part in block.iter_inner_content():
        if isinstance(part, Run):
            text += marked(part.text, bool(part.bold), bool(part.italic))
        else:                                                # a hyperlink
            text += f"[{part.text}]({part.url})" if part.url else part.text
    style = block.style.name if block.style is not None else ""
    if style.startswith("Heading ") and style[8:].isdigit():
        return f"{'#' * min(int(style[8:]), 6)} {text.strip()}"
    if style == "Title":
        return f"# {text.strip()}"
    if style.startswith("List"):
        return f"{'1.' if 'Number' in style else '-'} {text.strip()}"
    return text


def _xlsx(file: io.BytesIO) -> Iterator[str]:
    import warnings

    import openpyxl
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    cells = 0
    for sheet in book.worksheets:
        rows: list[list[str]] = []
        for row in sheet.iter_rows(values_only=True):
            cells += len(row)
            if cells > CELLS:
                raise ValueError("the workbook has too many cells")
            rows.append(["" if value is None else _cell(value) for value in row])
        while rows and not any(rows[-1]):
            rows.pop()
        yield f"## {_line(sheet.title)}"
        yield table(rows)


def _cell(value: object) -> str:
    from datetime import datetime
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime) and (value.hour, value.minute, value.second) == (0, 0, 0):
        return value.date().isoformat()
    return str(value)


def _pptx(file: io.BytesIO) -> Iterator[str]:
    import pptx
    for number, slide in enumerate(pptx.Presentation(file).slides, 1):
        title = slide.shapes.title
        yield f"## Slide {number}" + (f": {_line(title.text_frame.text)}" if title is not None else "")
        for shape in slide.shapes:
            if shape.has_text_frame and (title is None or shape.shape_id != title.shape_id):
                yield "\n".join(f"{'  ' * p.level}- {p.text}" for p in shape.text_frame.paragraphs if p.text.strip())
            elif getattr(shape, "has_table", False):
                yield table([[cell.text for cell in row.cells] for row in shape.table.rows])
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            yield "> " + notes.replace("\n", "\n> ") if notes else ""


READERS = {"pdf": _pdf, "docx": _docx, "xlsx": _xlsx, "pptx": _pptx}


# ---- Markdown

def table(rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; the first row is its head."""
    cells = [[_line(cell).replace("|", "\\|") for cell in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    if not width:
        return ""
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "---|" * width, *lines[1:]])


def marked(text: str, bold: bool = False, italic: bool = False, struck: bool = False) -> str:
    """Text with its marks, spaces at its ends outside of them."""
    mark = ("**" if bold else "") + ("*" if italic else "")
    inner = text.strip()
    if not inner or not (mark or struck):
        return text
    before, after = text[:len(text) - len(text.lstrip())], text[len(text.rstrip()):]
    if struck:
        inner = f"~~{inner}~~"
    return f"{before}{mark}{inner}{mark[::-1]}{after}"


def _line(text: str) -> str:
    return " ".join(str(text).split())
