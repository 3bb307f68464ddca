"""Pages and announcements of Canvas as Markdown."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirage.vfs.declare import Scope


def markdown(html: str) -> str:
    """HTML as Markdown, by markdownify; as plain text where it is nested too deeply for that."""
    from markdownify import markdownify
    try:
        text = markdownify(html, heading_style="ATX", bullets="-", escape_underscores=False, escape_asterisks=False)
    except RecursionError:
        from mirage.text.html import html_to_text
        text = html_to_text(html)
    return str(text).strip()


def _titled(title: str, line: str, html: str) -> str:
    parts = [f"# {' '.join(title.split())}", line, markdown(html)]
    return "\n\n".join(part for part in parts if part) + "\n"


def page_text(page: Any, scope: Scope) -> str:
    state = "" if page.get("published", True) else "*not published*"
    return _titled(page.get("title") or "", state, page.get("body") or "")


def announcement_text(topic: Any, scope: Scope) -> str:
    author = (topic.get("author") or {}).get("display_name") or topic.get("user_name") or ""
    line = ", ".join(part for part in (author, topic.get("posted_at") or "") if part)
    return _titled(topic.get("title") or "", line, topic.get("message") or "")
