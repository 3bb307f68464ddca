"""HTML to plain text, for reading: blocks on lines of their own, lists with dashes, table cells with bars."""
from __future__ import annotations

import re
from html.parser import HTMLParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    Attributes = list[tuple[str, str | None]]

HIDDEN = frozenset(("script", "style", "head", "title", "template", "noscript", "svg", "math", "object"))
PARAGRAPH = frozenset(("p", "blockquote", "pre", "ul", "ol", "dl", "table", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
                       "figure"))
LINE = frozenset(("div", "tr", "li", "dt", "dd", "section", "article", "header", "footer", "main", "nav", "form",
                  "address", "aside", "fieldset", "center", "tbody", "thead", "tfoot", "caption", "option", "body",
                  "html"))
VOID = frozenset(("br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "wbr"))
_SPACE = re.compile(r"[ \t\r\n\f\v]+")


class _Converter(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.line: list[str] = []
        self.hidden = 0
        self.pre = 0
        self.blank = False
        self.lists: list[int] = []                           # 0: dashes, else the next number
        self.cells = 0

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag in HIDDEN:
            self.hidden += 1
        if self.hidden:
            return
        if tag == "br":
            self._end(force=True)
        elif tag in PARAGRAPH:
            self._paragraph()
            if tag in ("ul", "ol"):
                self.lists.append(1 if tag == "ol" else 0)
            elif tag == "pre":
                self.pre += 1
            elif tag == "hr":
                self.lines.append("---")
                self.blank = True
        elif tag in LINE:
            self._end()
            if tag == "li":
                self._item()
            elif tag == "tr":
                self.cells = 0
        elif tag in ("td", "th"):
            if self.cells:
                self.line.append(" | ")
            self.cells += 1
        elif tag == "img":
            text = next((value for name, value in attrs if name == "alt" and value), "")
            if text:
                self.handle_data(f"[{text}]")

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in HIDDEN:
            self.hidden = max(0, self.hidden - 1)
            return
        if self.hidden:
            return
        if tag in PARAGRAPH and tag != "hr":
            self._paragraph()
            if tag in ("ul", "ol") and self.lists:
                self.lists.pop()
            elif tag == "pre":
                self.pre = max(0, self.pre - 1)
        elif tag in LINE:
            self._end()

    def handle_data(self, data: str) -> None:
        if self.hidden:
            return
        if self.pre:
            first, *rest = data.split("\n")
            self.line.append(first)
            for text in rest:
                self._end(force=True)
                self.line.append(text)
            return
        text = _SPACE.sub(" ", data)
        if text.startswith(" ") and (not self.line or self.line[-1].endswith(" ")):
            text = text[1:]
        if text:
            self.line.append(text)

    def _item(self) -> None:
        if self.lists and self.lists[-1]:
            mark, self.lists[-1] = f"{self.lists[-1]}. ", self.lists[-1] + 1
        else:
            mark = "- "
        self.line.append("  " * max(0, len(self.lists) - 1) + mark)

    def _end(self, force: bool = False) -> None:
        """End the line; an empty one counts only with `force`."""
        text = "".join(self.line).replace("\xa0", " ").replace("\u200b", "").rstrip()
        self.line.clear()
        if text:
            if self.blank and self.lines:
                self.lines.append("")
            self.blank = False
            self.lines.append(text)
        elif force and self.lines and self.lines[-1]:
            self.lines.append("")

    def _paragraph(self) -> None:
        self._end()
        self.blank = bool(self.lines) and self.lines[-1] != ""

    def text(self) -> str:
        self._end()
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        return "\n".join(self.lines) + "\n" if self.lines else ""


def html_to_text(html: str) -> str:
    """What a reader sees of a page or message, as lines. Links lose their addresses. Never raises for bad HTML."""
    converter = _Converter()
    converter.feed(html)
    converter.close()
    return converter.text()
