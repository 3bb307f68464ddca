"""Path patterns of rules: `*` and `?` stay within a component, `**` crosses them; a pattern covers what is below it.

`/secret`, `/secret/` and `/secret/**` all cover the folder and everything in it. A pattern without a leading slash
(`*.pem`, `.env*`) is looked for at any depth.
"""
from __future__ import annotations

import re


class PathPattern:
    """One compiled pattern. `anchored`: it begins at the root, so moving a folder can take names out of it."""

    __slots__ = ("_components", "_match", "anchored", "text")

    def __init__(self, text: str) -> None:
        if not text:
            raise ValueError("an empty path pattern")
        self.text = text
        components = [c for c in text.split("/") if c and c != "."]
        self.anchored = text.startswith("/") and components[:1] != ["**"]
        if ".." in components:
            raise ValueError(f"{text!r}: '..' is not allowed in a path pattern")
        while components and components[-1] == "**":
            components.pop()
        if not self.anchored and components[:1] != ["**"]:
            components.insert(0, "**")
        self._components = components
        try:
            self._match = re.compile(_regex(components), re.S).match
        except re.error as e:
            raise ValueError(f"{text!r} is not a path pattern: {e}") from None

    def covers(self, path: str) -> bool:
        """Does the pattern match `path` (absolute, normalized) or one of its ancestors?"""
        return self._match(path) is not None

    def reaches_below(self, folder: str) -> bool:
        """Could moving `folder` take something below it into the pattern or out of it?

        True where the pattern goes on below `folder`. A pattern that may begin anywhere (`.kube/config`) does so
        only where its first components are the last ones of `folder`: else it moves along.
        """
        names = [n for n in folder.split("/") if n]
        if self.anchored:
            return self._goes_on(self._components, names)
        own = self._components[1:]
        return any(self._goes_on(own, names[i:]) for i in range(len(names)))

    @staticmethod
    def _goes_on(components: list[str], names: list[str]) -> bool:
        for i, name in enumerate(names):
            if i >= len(components):
                return False
            component = components[i]
            if component == "**":
                return True
            if re.fullmatch(_component(component), name, re.S) is None:
                return False
        return len(components) > len(names)

    def __repr__(self) -> str:
        return f"PathPattern({self.text!r})"


END = r"(?=/|\Z)"


def _regex(components: list[str]) -> str:
    """Groups of components between `**`; each takes its first place and keeps it (atomic), so that no name, however
    chosen, makes the search long."""
    groups: list[list[str]] = [[]]
    for component in components:
        if component == "**":
            groups.append([])
        else:
            groups[-1].append(f"/(?=[^/]){_component(component)}{END}")
    first, *rest = ("".join(group) for group in groups)
    return first + "".join(f"(?>(?:/[^/]+)*?{group})" for group in rest if group) + r"(?:/.*)?\Z"


def _component(component: str) -> str:
    """One component as a regular expression that never crosses a slash; `*` atomic but for the last one."""
    pieces: list[list[str]] = [[]]
    i = 0
    while i < len(component):
        c = component[i]
        i += 1
        if c == "*":
            pieces.append([])
        elif c == "?":
            pieces[-1].append("[^/]")
        elif c == "[" and (end := component.find("]", i + 2 if component[i:i + 1] in ("!", "^") else i + 1)) > 0:
            body = component[i:end]
            negated = body[:1] in ("!", "^")
            body = body[1:] if negated else body
            escaped = re.sub(r"([\\\[\]^&|~])", r"\\\1", body)
            pieces[-1].append(f"[{'^/' if negated else ''}{escaped}]")
            i = end + 1
        else:
            pieces[-1].append(re.escape(c))
    first, *rest = ("".join(piece) for piece in pieces)
    if not rest:
        return first
    middle = "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1] if piece)
    return f"{first}{middle}[^/]*{rest[-1]}"
