from __future__ import annotations

import sys

import pytest

from mirage.text.html import html_to_text


@pytest.mark.parametrize(("html", "text"), [
    ("", ""), ("plain", "plain\n"), ("<p>a</p><p>b</p>", "a\n\nb\n"), ("a<br>b<br/>c", "a\nb\nc\n"),
    ("<div>a</div><div>b</div>", "a\nb\n"), ("in<b>voice</b> &amp; more&nbsp;x", "invoice & more x\n"),
    ("<style>p{}</style><script>var a = '<p>';</script>seen<!-- hidden -->", "seen\n"),
    ("<ul><li>one</li><li>two<ol><li>x</li><li>y</li></ol></li></ul>", "- one\n- two\n\n  1. x\n  2. y\n"),
    ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2\n"),
    ("<pre>x\n  y</pre>z", "x\n  y\n\nz\n"), ("  a \n\n  b  ", "a b\n"), ("<a href='http://x.example'>link</a>", "link\n"),
    ("<img alt='logo' src=x>after", "[logo]after\n"), ("<h1>T</h1>text<hr>end", "T\n\ntext\n---\n\nend\n"),
    ("<p>unclosed <b>tags <i>here", "unclosed tags here\n"), ("a < b && c > d", "a < b && c > d\n"),
    ("&#252;&uuml;&unknown;", "üü&unknown;\n"), ("<html><head><title>t</title></head><body>b</body></html>", "b\n")])
def test_conversion(html, text):
    assert html_to_text(html) == text


def test_work_grows_with_the_size():
    def calls(size):
        count = 0

        def counted(frame, event, argument):
            nonlocal count
            count += 1
        sys.setprofile(counted)
        try:
            html_to_text("<div>" * size + "x" + "</div>" * size + "<p>word &amp; " * size)
        finally:
            sys.setprofile(None)
        return count
    assert calls(4000) < 2.5 * calls(2000)
