"""Differences between two trees as git prints them: one patch per file, no renames."""
from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirage.bench.services.github.objects import Files, Objects

ZERO = "0" * 7


def changed(objects: Objects, before: Files, after: Files) -> list[dict[str, Any]]:
    """Files that differ: filename, status, sha, modes, additions, deletions, patch (None where binary)."""
    found = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        status = "added" if old is None else "removed" if new is None else "modified"
        a, b = _data(objects, old), _data(objects, new)
        binary = b"\0" in a[:8000] or b"\0" in b[:8000]
        lines = [] if binary else _lines(a, b)
        found.append({"filename": path, "status": status, "sha": (new or old or ("", ""))[1], "old": old, "new": new,
                      "additions": sum(line.startswith("+") for line in lines),
                      "deletions": sum(line.startswith("-") for line in lines),
                      "patch": None if binary else "".join(lines).rstrip("\n")})
    return found


def whole(files: list[dict[str, Any]]) -> str:
    """The text of `git diff`."""
    out = []
    for file in files:
        path, old, new = file["filename"], file["old"], file["new"]
        shas = f"{old[1][:7] if old else ZERO}..{new[1][:7] if new else ZERO}"
        out.append(f"diff --git a/{path} b/{path}\n")
        if old is None:
            out.append(f"new file mode {new[0]}\n")
        elif new is None:
            out.append(f"deleted file mode {old[0]}\n")
        elif old[0] != new[0]:
            out.append(f"old mode {old[0]}\nnew mode {new[0]}\n")
        same = f" {new[0]}" if old and new and old[0] == new[0] else ""
        if old is None or new is None or old[1] != new[1]:
            out.append(f"index {shas}{same}\n")
        names = f"{f'a/{path}' if old else '/dev/null'}", f"{f'b/{path}' if new else '/dev/null'}"
        if file["patch"] is None:
            out.append(f"Binary files {names[0]} and {names[1]} differ\n")
        elif file["patch"]:
            out.append(f"--- {names[0]}\n+++ {names[1]}\n{file['patch']}\n")
    return "".join(out)


def _data(objects: Objects, entry: tuple[str, str] | None) -> bytes:
    if entry is None:
        return b""
    return objects.blobs.get(entry[1], f"Subproject commit {entry[1]}\n".encode())


def _lines(a: bytes, b: bytes) -> list[str]:
    """The hunks of a unified diff."""
    texts = [data.decode("utf-8", "replace").split("\n") for data in (a, b)]
    marks = ["\n" if not lines[-1] else "\n\\ No newline at end of file\n" for lines in texts]
    sides = [[line + "\n" for line in lines[:-1]] + ([lines[-1] + mark] if lines[-1] else [])
             for lines, mark in zip(texts, marks, strict=True)]
    return list(difflib.unified_diff(sides[0], sides[1]))[2:]
