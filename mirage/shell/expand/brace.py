"""Brace expansion: ``{a,b}``, ``{1..9..2}``. It comes before all other expansions, so it is done on the tree."""

from __future__ import annotations

from mirage.shell import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from mirage.shell.state import Shell

    Expand: TypeAlias = Callable[[Shell], list[str]]

STATIC = 2048  # words that one word may become when it is compiled; more are made when it runs
_ITEM_BYTES = 64


def source(part: ast.Part) -> str:
    """A Brace or BraceRange as it was written, near enough."""
    if isinstance(part, ast.BraceRange):
        step = "" if part.step is None else ".." + part.step
        return "{" + f"{part.a}..{part.b}{step}" + "}"
    if isinstance(part, ast.Brace):
        return "{" + ",".join(word.text for word in part.alts) + "}"
    return getattr(part, "text", "")


def without(parts: Sequence[ast.Part]) -> list[ast.Part]:
    """The parts with braces as literal text, where no brace expansion is done."""
    out: list[ast.Part] = []
    for part in parts:
        if isinstance(part, ast.BraceRange):
            out.append(ast.Lit(source(part)))
        elif isinstance(part, ast.Brace):
            out.append(ast.Lit("{"))
            for index, word in enumerate(part.alts):
                if index:
                    out.append(ast.Lit(","))
                out += without(word.parts)
            out.append(ast.Lit("}"))
        else:
            out.append(part)
    return out


def compile_braces(word: ast.Word, compile_word: Callable[[ast.Word], Expand]) -> Expand:
    """A word with braces to a closure that gives its fields."""
    plain = compile_word(_word(without(word.parts)))
    size = count(word.parts)
    texts = _all_literal(word.parts)
    expand: Expand
    if texts and not _has_magic(word.parts):
        parts = word.parts

        def literal(sh: Shell) -> list[str]:
            sh.kernel.fits(size * _ITEM_BYTES)
            return ["".join(pieces) for pieces in _texts(parts)]

        expand = literal
    elif size <= STATIC:
        words = [compile_word(_word(parts)) for parts in _products(word.parts)]

        def compiled(sh: Shell) -> list[str]:
            out: list[str] = []
            for each in words:
                out += each(sh)
            return out

        expand = compiled
    else:
        parts = word.parts

        def dynamic(sh: Shell) -> list[str]:
            sh.kernel.fits(size * _ITEM_BYTES)
            out: list[str] = []
            for each in _products(parts):
                out += compile_word(_word(each))(sh)
                sh.kernel.tick()
            return out

        expand = dynamic
    return lambda sh: expand(sh) if sh.options.braceexpand else plain(sh)


def alternatives(word: ast.Word) -> list[ast.Word]:
    """The words that the braces of `word` make; none where there are no braces, or too many words."""
    braces = any(isinstance(part, ast.Brace | ast.BraceRange) for part in word.parts)
    return [_word(parts) for parts in _products(word.parts)] if braces and count(word.parts) <= STATIC else []


def _word(parts: Sequence[ast.Part]) -> ast.Word:
    """A Word of parts, with `lit` and `glob` as the parser sets them."""
    from mirage.shell.expand.fields import MAGIC

    merged: list[ast.Part] = []
    for part in parts:
        if isinstance(part, ast.Lit) and merged and isinstance(merged[-1], ast.Lit):
            merged[-1] = ast.Lit(merged[-1].text + part.text)
        elif isinstance(part, ast.Lit) and merged and (bare := _bare_name(merged[-1])):
            name, rest = _longer_name(bare, part.text)
            merged[-1] = ast.Param(name, text="$" + name)
            if rest:
                merged.append(ast.Lit(rest))
        else:
            merged.append(part)
    glob = any(isinstance(part, ast.Lit) and MAGIC.search(part.text) for part in merged)
    lit = None
    texts = [part.text for part in merged if isinstance(part, ast.Lit | ast.Quoted)]
    if len(texts) == len(merged):
        if len(merged) == 1 and isinstance(merged[0], ast.Lit) and texts[0].startswith("~"):
            return _with_tilde(texts[0])
        if any(texts) or any(isinstance(part, ast.Quoted) for part in merged):
            lit = "".join(texts)
    return ast.Word(tuple(merged), lit, glob)


def _bare_name(part: ast.Part) -> str:
    """The name in ``$name`` without braces, or "". In ``{$a,b}_c`` it grows to ``$a_c``: braces go by the text."""
    bare = isinstance(part, ast.Param) and part.text == "$" + part.name and part.name.isidentifier()
    return part.name if isinstance(part, ast.Param) and bare else ""


def _longer_name(name: str, text: str) -> tuple[str, str]:
    end = 0
    while end < len(text) and (text[end].isalnum() and text[end].isascii() or text[end] == "_"):
        end += 1
    return name + text[:end], text[end:]


def _with_tilde(text: str) -> ast.Word:
    from mirage.shell.parse import parse_word

    return parse_word(text)


def _all_literal(parts: Sequence[ast.Part]) -> bool:
    for part in parts:
        if isinstance(part, ast.Brace):
            if not all(_all_literal(word.parts) for word in part.alts):
                return False
        elif isinstance(part, ast.Lit):
            if part.text.startswith("~"):
                return False
        elif not isinstance(part, ast.Quoted | ast.BraceRange):
            return False
    # a word that becomes empty ({,a}) disappears unless it holds quotes: left to the general way
    return not any(isinstance(part, ast.Brace) and any(not word.parts for word in part.alts) for part in parts)


def _has_magic(parts: Sequence[ast.Part]) -> bool:
    from mirage.shell.expand.fields import MAGIC

    for part in parts:
        if isinstance(part, ast.Lit) and MAGIC.search(part.text):
            return True
        if isinstance(part, ast.Brace) and any(_has_magic(word.parts) for word in part.alts):
            return True
        if isinstance(part, ast.BraceRange) and not part.a.lstrip("-").isdigit():
            return True  # {Z..a} holds `[` and a backslash
    return False


def count(parts: Sequence[ast.Part]) -> int:
    """How many words the parts become."""
    total = 1
    for part in parts:
        if isinstance(part, ast.Brace):
            total *= sum(count(word.parts) for word in part.alts)
        elif isinstance(part, ast.BraceRange):
            total *= len(_range(part))
    return total


def _products(parts: Sequence[ast.Part], at: int = 0) -> Iterator[list[ast.Part]]:
    """Every combination, the leftmost brace changing slowest."""
    head: list[ast.Part] = []
    while at < len(parts) and not isinstance(parts[at], ast.Brace | ast.BraceRange):
        head.append(parts[at])
        at += 1
    if at == len(parts):
        yield head
        return
    for choice in _choices(parts[at]):
        for rest in _products(parts, at + 1):
            yield head + choice + rest


def _choices(part: ast.Part) -> Iterator[list[ast.Part]]:
    if isinstance(part, ast.BraceRange):
        for text in texts_of_range(part):
            yield [ast.Lit(text) if text != "\\" else ast.Quoted("")]
    elif isinstance(part, ast.Brace):
        for word in part.alts:
            yield from _products(word.parts)


def _texts(parts: Sequence[ast.Part], at: int = 0) -> Iterator[list[str]]:
    head = ""
    while at < len(parts) and isinstance(part := parts[at], ast.Lit | ast.Quoted):
        head += part.text
        at += 1
    if at == len(parts):
        yield [head]
        return
    part = parts[at]
    is_last = at + 1 == len(parts)
    for choice in _choice_texts(part):
        if is_last:
            yield [head, choice]
        else:
            for rest in _texts(parts, at + 1):
                yield [head, choice, *rest]


def _choice_texts(part: ast.Part) -> Iterator[str]:
    if isinstance(part, ast.BraceRange):
        yield from texts_of_range(part)
    elif isinstance(part, ast.Brace):
        for word in part.alts:
            for pieces in _texts(word.parts):
                yield "".join(pieces)


def _range(part: ast.BraceRange) -> range:
    if part.a.lstrip("+-").isdigit():
        first, last = int(part.a), int(part.b)
    else:
        first, last = ord(part.a), ord(part.b)
    step = abs(int(part.step)) if part.step else 1
    step = step or 1
    return range(first, last + 1, step) if first <= last else range(first, last - 1, -step)


def texts_of_range(part: ast.BraceRange) -> Iterator[str]:
    """The texts of ``{a..b..step}``, padded with zeros when an end is written so."""
    numbers = _range(part)
    if not part.a.lstrip("+-").isdigit():
        return map(chr, numbers)
    if _padded(part.a) or _padded(part.b):
        width = max(len(part.a.lstrip("+")), len(part.b.lstrip("+")))
        return (f"{number:0{width}d}" for number in numbers)
    return map(str, numbers)


def _padded(text: str) -> bool:
    digits = text.lstrip("+-")
    return len(digits) > 1 and digits[0] == "0"
