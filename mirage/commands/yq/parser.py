"""Expressions of yq (mikefarah, version 4): text -> nested tuples (operator, operands...)."""
from __future__ import annotations

import re

from mirage.commands.yq.node import YqError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Tree = tuple[Any, ...]

_TOKEN = re.compile(r"""[ \t\r\n]+|\#[^\n]*|(?P<recurse>\.\.\.|\.\.)
|(?P<path>\.(?:[A-Za-z_$][A-Za-z0-9_$/*-]*\??|"(?:[^"\\]|\\.)*"\??))
|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<name>[a-zA-Z_@][a-zA-Z0-9_]*)
|(?P<variable>\$[A-Za-z_][A-Za-z0-9_]*)
|(?P<op>\*=?[?+dnc]+|\|=|\+=|-=|\*=|//=|//|==|!=|<=|>=|[|,+\-*/%<>=()\[\]{}:;?.])""", re.VERBOSE)
PRECEDENCE = {"|": 1, ",": 2, "=": 3, "|=": 3, "+=": 3, "-=": 3, "*=": 3, "//=": 3, "//": 4, "or": 5, "and": 6,
              "==": 8, "!=": 8, "<": 8, "<=": 8, ">": 8, ">=": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}
METADATA = frozenset(("line_comment", "lineComment", "head_comment", "headComment", "foot_comment", "footComment",
                      "comments", "style", "tag", "anchor", "alias", "key"))
ARITY0 = {"keys", "length", "to_entries", "from_entries", "reverse", "sort", "unique", "flatten", "not", "path",
          "parent",
          "key", "line", "column", "filename", "file_index", "fileIndex", "fi", "document_index", "documentIndex", "di",
          "tag", "type", "kind", "style", "anchor", "alias", "line_comment", "lineComment", "head_comment",
          "headComment",
          "foot_comment", "footComment", "comments", "upcase", "downcase", "ascii_upcase", "ascii_downcase", "trim",
          "any", "all", "first",
          "last", "min", "max", "to_json", "tojson", "from_json", "fromjson", "to_yaml", "toyaml", "from_yaml",
          "fromyaml",
          "to_string", "tostring", "to_number", "tonumber", "empty", "now", "envsubst", "add", "is_key", "pivot",
          "explode",
          "to_props", "to_csv", "to_tsv", "to_xml", "from_xml", "from_csv", "from_tsv", "from_props", "splitDoc",
          "split_doc",
          "collect", "shuffle", "parents", "root", "toarray", "abs", "is_null"}
ARITY1 = {"select", "map", "map_values", "has", "del", "sort_by", "sort_keys", "sortKeys", "group_by", "unique_by",
          "join",
          "split", "contains", "test", "match", "capture", "env", "strenv", "with_entries", "any_c", "all_c", "pick",
          "omit",
          "load", "load_str", "loadstr", "eval", "range", "ltrimstr", "rtrimstr", "startswith", "endswith", "filter",
          "error", "min_by", "max_by", "first_by", "inside", "splits", "limit", "sub", "with", "from_unix",
          "format_datetime"}


class Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str, bool]] = []         # kind, text, directly behind the one before
        at, glued = 0, False
        while at < len(text):
            found = _TOKEN.match(text, at)
            if not found:
                raise YqError(f"1:{at + 1}: lexer: invalid input text \"{text[at:at + 20]}\"")
            if found.lastgroup:
                self.tokens.append((found.lastgroup, found[0], glued))
            glued = bool(found.lastgroup)
            at = found.end()
        self.at = 0
        self.depth = 0

    def peek(self) -> tuple[str, str, bool]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("", "", False)

    def is_op(self, *values: str) -> bool:
        kind, text, _ = self.peek()
        return kind in ("op", "name") and text in values

    def expect(self, value: str) -> None:
        if not self.is_op(value):
            raise YqError(f"bad expression, please check expression syntax: expected '{value}'")
        self.at += 1

    def parse(self) -> Tree:
        if not self.tokens:
            return ("self",)
        tree = self.expression(0)
        if self.at < len(self.tokens):
            raise YqError(f"bad expression, please check expression syntax near '{self.peek()[1]}'")
        return tree

    def expression(self, lowest: int) -> Tree:
        self.depth += 1
        if self.depth > 200:
            raise YqError("expression is nested too deeply")
        left = self.postfix(self.term())
        while True:
            kind, text, _ = self.peek()
            operator = "*" if kind == "op" and text[0] == "*" and "=" not in text else \
                "*=" if kind == "op" and text[0] == "*" else text
            if kind == "name" and text == "as":
                self.at += 1
                variable = self.peek()[1]
                self.at += 1
                if self.is_op("ireduce"):
                    self.at += 1
                    self.expect("(")
                    start = self.expression(0)
                    self.expect(";")
                    body = self.expression(0)
                    self.expect(")")
                    left = ("reduce", left, variable, start, body)
                    continue
                self.expect("|")
                left = ("bind", left, variable, self.expression(0))
                continue
            if kind == "name" and text in METADATA:
                self.at += 1
                left = ("binary", "|", left, ("call", text, []), "")
                continue
            if kind == "name" and text == "ref":
                raise YqError("'ref' is not supported in this terminal")
            if kind not in ("op", "name") or operator not in PRECEDENCE or PRECEDENCE[operator] < lowest:
                break
            self.at += 1
            right_to_left = PRECEDENCE[operator] == 3 or operator == "|"
            right = self.expression(PRECEDENCE[operator] + (0 if right_to_left else 1))
            left = ("binary", operator, left, right, text[1:].replace("=", "") if operator[0] == "*" else "")
        self.depth -= 1
        return left

    def postfix(self, left: Tree) -> Tree:
        while True:
            kind, text, glued = self.peek()
            if kind == "path" and glued:
                left = self._path(left)
            elif kind == "op" and text == "[" and glued:
                left = self._index(left)
            elif kind == "op" and text == "?" and glued:
                self.at += 1
                left = ("optional", left)
            elif kind == "op" and text == "." and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1][1] == "[":
                self.at += 1
            else:
                return left

    def _path(self, left: Tree) -> Tree:
        text = self.tokens[self.at][1][1:]
        self.at += 1
        optional = text.endswith("?")
        text = text.removesuffix("?")
        name = unescape(text[1:-1]) if text.startswith('"') else text
        tree: Tree = ("field", left, name)
        return ("optional", tree) if optional else tree

    def _index(self, left: Tree) -> Tree:
        self.expect("[")
        if self.is_op("]"):
            self.at += 1
            return ("each", left)
        low = None if self.is_op(":") else self.expression(2)
        if self.is_op(":"):
            self.at += 1
            high = None if self.is_op("]") else self.expression(2)
            self.expect("]")
            return ("slice", left, low, high)
        items = [low]
        while self.is_op(","):
            self.at += 1
            items.append(self.expression(2))
        self.expect("]")
        return ("index", left, items)

    def term(self) -> Tree:
        kind, text, _ = self.peek()
        if not kind:
            raise YqError("bad expression, please check expression syntax: unexpected end")
        if kind == "path":
            return self._path(("self",))
        self.at += 1
        if kind == "recurse":
            return ("recurse", text == "...")
        if kind == "number":
            return ("number", text)
        if kind == "string":
            return ("string", unescape(text[1:-1]))
        if kind == "variable":
            return ("variable", text)
        if kind == "op":
            return self._operator(text)
        if text in ("true", "false", "null"):
            return ("constant", text)
        return self._call(text)

    def _operator(self, text: str) -> Tree:
        if text == ".":
            if self.is_op("["):
                return self._index(("self",))
            return ("self",)
        if text == "(":
            tree = self.expression(0)
            self.expect(")")
            return tree
        if text == "[":
            if self.is_op("]"):
                self.at += 1
                return ("collect", None)
            tree = self.expression(0)
            self.expect("]")
            return ("collect", tree)
        if text == "{":
            return self._object()
        if text == "-":
            return ("negative", self.postfix(self.term()))
        raise YqError(f"bad expression, please check expression syntax near '{text}'")

    def _object(self) -> Tree:
        pairs: list[tuple[Tree, Tree]] = []
        while not self.is_op("}"):
            kind, text, _ = self.peek()
            if kind == "name":
                self.at += 1
                key: Tree = ("string", text)
            elif kind == "op" and text == "(":
                self.at += 1
                key = self.expression(0)
                self.expect(")")
            else:
                key = self.postfix(self.term())
            if self.is_op(":"):
                self.at += 1
                value = self.expression(3)
            else:
                value = ("field", ("self",), key[1]) if key[0] == "string" else key
                key = ("string", key[2]) if key[0] == "field" else key
            pairs.append((key, value))
            if not self.is_op(","):
                break
            self.at += 1
        self.expect("}")
        return ("object", pairs)

    def _call(self, name: str) -> Tree:
        if name.startswith("@"):
            return ("format", name[1:])
        if self.is_op("(") and name in ("env", "strenv"):
            self.at += 1
            variable = self.peek()[1]
            self.at += 1
            self.expect(")")
            return ("env", variable, name == "strenv")
        arguments: list[Tree] = []
        if self.is_op("("):
            self.at += 1
            while not self.is_op(")"):
                arguments.append(self.expression(3 if name in ("sub", "range", "test", "match", "capture") else 0))
                if self.is_op(";") or self.is_op(","):
                    self.at += 1
                elif not self.is_op(")"):
                    raise YqError("bad expression, please check expression syntax: expected ')'")
            self.at += 1
        if name not in ARITY0 and name not in ARITY1:
            raise YqError(f"1:1: invalid input text \"{name}\"")
        if name == "sub" and len(arguments) != 2:
            raise YqError("'sub' expects 2 args")
        if name in ARITY1 and not arguments:
            raise YqError(f"'{name}' expects 1 arg but received none")
        return ("call", name, arguments)


def unescape(text: str) -> str:
    table = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "f": "\f", "v": "\v", "a": "\a", "b": "\b"}
    return re.sub(r"\\(.)", lambda m: table.get(m[1], m[0]), text, flags=re.DOTALL) if "\\" in text else text


def parse(text: str) -> Tree:
    return Parser(text).parse()
