"""Small office files, made without their libraries: the same arguments give the same bytes."""
from __future__ import annotations

import io
import zipfile
from html import escape

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
CALC = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DRAW = "http://schemas.openxmlformats.org/drawingml/2006/main"
SHOW = "http://schemas.openxmlformats.org/presentationml/2006/main"
TYPES = "application/vnd.openxmlformats-officedocument."
STYLES = (("Normal", "Normal"), ("Title", "Title"), ("Heading1", "heading 1"), ("Heading2", "heading 2"), ("ListBullet", "List Bullet"))


def _archive(main: str, kind: str, files: dict[str, str], overrides: dict[str, str]) -> bytes:
    types = "".join(f'<Override PartName="/{name}" ContentType="{value}"/>' for name, value in {main: kind, **overrides}.items())
    parts = {
        "[Content_Types].xml": f'{HEAD}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>{types}</Types>',
        "_rels/.rels": _relations([("r1", "officeDocument", main)]), **files}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text)
    return out.getvalue()


def _relations(items: list[tuple[str, str, str]]) -> str:
    inner = "".join(f'<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}"/>' for id, kind, target in items)
    return f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">{inner}</Relationships>'


def docx(blocks: list[tuple[str, str]], table: list[list[str]] | None = None) -> bytes:
    """(style id, text) of each paragraph; `*text*` is bold."""
    def paragraph(style: str, text: str) -> str:
        runs = "".join(f'<w:r>{"<w:rPr><w:b/></w:rPr>" if n % 2 else ""}<w:t xml:space="preserve">{escape(part)}</w:t></w:r>'
                       for n, part in enumerate(text.split("*")) if part)
        return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{runs}</w:p>'
    body = "".join(paragraph(style, text) for style, text in blocks)
    if table:
        rows = "".join("<w:tr>" + "".join(f"<w:tc><w:tcPr/>{paragraph('Normal', cell)}</w:tc>" for cell in row) + "</w:tr>" for row in table)
        body += f'<w:tbl><w:tblPr/><w:tblGrid>{"<w:gridCol/>" * len(table[0])}</w:tblGrid>{rows}</w:tbl><w:p/>'
    styles = "".join(f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/></w:style>' for id, name in STYLES)
    return _archive("word/document.xml", f"{TYPES}wordprocessingml.document.main+xml", {
        "word/document.xml": f'{HEAD}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": f'{HEAD}<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
        "word/_rels/document.xml.rels": _relations([("r1", "styles", "styles.xml")])},
        {"word/styles.xml": f"{TYPES}wordprocessingml.styles+xml"})


def xlsx(sheets: dict[str, list[list[str | float]]]) -> bytes:
    """Texts and numbers, sheet by sheet."""
    files, overrides, relations, names = {}, {}, [], ""
    for n, (title, rows) in enumerate(sheets.items(), 1):
        lines = ""
        for y, row in enumerate(rows, 1):
            cells = "".join(f'<c r="{chr(65 + x)}{y}" t="inlineStr"><is><t>{escape(value)}</t></is></c>' if isinstance(value, str)
                            else f'<c r="{chr(65 + x)}{y}"><v>{value}</v></c>' for x, value in enumerate(row))
            lines += f'<row r="{y}">{cells}</row>'
        files[f"xl/worksheets/sheet{n}.xml"] = f'{HEAD}<worksheet xmlns="{CALC}"><sheetData>{lines}</sheetData></worksheet>'
        overrides[f"xl/worksheets/sheet{n}.xml"] = f"{TYPES}spreadsheetml.worksheet+xml"
        relations.append((f"r{n}", "worksheet", f"worksheets/sheet{n}.xml"))
        names += f'<sheet name="{escape(title)}" sheetId="{n}" r:id="r{n}"/>'
    files["xl/workbook.xml"] = f'{HEAD}<workbook xmlns="{CALC}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>'
    files["xl/_rels/workbook.xml.rels"] = _relations(relations)
    return _archive("xl/workbook.xml", f"{TYPES}spreadsheetml.sheet.main+xml", files, overrides)


def pptx(slides: list[tuple[str, list[str]]]) -> bytes:
    """(title, lines) of each slide."""
    files, overrides, relations, ids = {}, {}, [], ""

    def shape(id: int, kind: str, lines: list[str]) -> str:
        text = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines) or "<a:p/>"
        return (f'<p:sp><p:nvSpPr><p:cNvPr id="{id}" name="{kind} {id}"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
                f"<p:spPr/><p:txBody><a:bodyPr/>{text}</p:txBody></p:sp>")
    for n, (title, lines) in enumerate(slides, 1):
        tree = ('<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
                + shape(2, "title", [title]) + shape(3, "body", lines))
        files[f"ppt/slides/slide{n}.xml"] = f'{HEAD}<p:sld xmlns:a="{DRAW}" xmlns:p="{SHOW}"><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>'
        overrides[f"ppt/slides/slide{n}.xml"] = f"{TYPES}presentationml.slide+xml"
        relations.append((f"r{n}", "slide", f"slides/slide{n}.xml"))
        ids += f'<p:sldId id="{255 + n}" r:id="r{n}"/>'
    files["ppt/presentation.xml"] = f'{HEAD}<p:presentation xmlns:p="{SHOW}" xmlns:r="{OFFICE}"><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>'
    files["ppt/_rels/presentation.xml.rels"] = _relations(relations)
    return _archive("ppt/presentation.xml", f"{TYPES}presentationml.presentation.main+xml", files, overrides)
