"""VFS.md: front matter, a table of paths, the format of each kind of file, the rules an agent must know.

The page is part of a model's context. Where many services make it longer than its budget, each mount is one line, and
formats are only the names of what is in them, as far as they fit.
"""
from __future__ import annotations

import re
from itertools import groupby

from mirage.vfs.describe import Description, Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.machine import Machine
    from mirage.policy import Policy

SCRATCH = Description("Scratch space for your own files.", writable=True)
FOLDER = {True: "Files; may be changed.", False: "Files, read-only."}
BUDGET = 3_920                                               # characters; below 1,200 tokens of o200k
LONG = 40                                                    # characters of a path's explanation, where room is scarce
INTRODUCTION = ("Read files with shell commands (ls, grep, cat, jq, ...); a file is fetched when it is read. "
                "Changes to a service are commands; see /SKILL.md.\n")
SHAPES = "What is in the JSON files (`[...]` is a list, `a: {b}` is `.a.b`):\n"
SYSTEM = ("/", "/dev", "/proc", "/usr/bin", "/VFS.md", "/SKILL.md")


def vfs_md(machine: Machine, policy: Policy | None = None) -> str:
    """The text of /VFS.md for what is mounted now. Mounts that the policy hides are left out."""
    mounts = described_mounts(machine, policy)
    formats: list[Format] = []
    for _, description in mounts:
        formats.extend(f for f in description.formats if f.suffix not in {g.suffix for g in formats})
    shown = [_format(form) for form in formats]
    front = ["---\nname: workspace-filesystem\ndescription: The virtual filesystem layout of this workspace.\n---\n",
             "# Virtual Filesystem\n", _introduction(machine)]
    rules = policy.described() if policy is not None else []
    after = ["## Rules\n\n" + "\n".join(f"- {rule}" for rule in rules) + "\n"] if rules else []
    page = "\n".join([*front, _table(mounts), *shown, *after])
    if len(page) <= BUDGET:
        return page
    if machine.cli_names():
        front[-1] = INTRODUCTION
    ranked = [(rank, f"- `{point}`, `{form.suffix}`: `{text}`\n") for point, description in mounts
              for rank, form in enumerate(description.formats)
              if form.suffix not in _obvious(description) and "," in (text := shape(form.example))]
    shapes = [text for _, text in ranked]
    lines = _lines(mounts)
    if len("\n".join([*front, lines, SHAPES, *shapes])) > BUDGET:
        lines = _lines(mounts, most=LONG)
    parts = [*front, lines]
    left = BUDGET - len("\n".join([*parts, SHAPES]))
    chosen = set()
    for _, text in sorted(ranked, key=lambda r: (r[0], len(r[1]))):     # each mount's first, the short ones before
        left -= len(text)
        if left >= 0:
            chosen.add(text)
    told = [SHAPES, "".join(text for text in shapes if text in chosen)] if chosen else []
    return "\n".join([*parts, *told, *after])


def _table(mounts: Sequence[tuple[str, Description]]) -> str:
    rows: list[str] = []
    for point, description in mounts:
        access = "" if description.writable else " Read-only."
        rows.append(f"| `{point}` | {description.summary}{access} |")
        rows.extend(f"| `{point.rstrip('/')}/{path}` | {text} |" for path, text in description.paths)
    return "| Path | Description |\n|---|---|\n" + "\n".join(rows) + "\n"


def _format(form: Format) -> str:
    note = f"{form.note}\n\n" if form.note else ""
    return f"## `{form.suffix}` format\n\n{note}```{form.language}\n{form.example.strip()}\n```\n"


def shape(example: str) -> str:
    """The names in an example of JSON: `{"id": "1", "to": {"name": "x"}, "n": [1]}` is `{id, to: {name}, n: []}`."""
    text = re.sub(r'"([^"\\]*)"\s*:\s*', r"\1: ", example.strip())
    text = re.sub(r'"(?:[^"\\]|\\.)*"|-?\d[\d.]*|\b(?:true|false|null)\b|\.\.\.', "", text)
    text = re.sub(r"\[[\s,]*\]", "[]", re.sub(r"\{[\s,]*\}", "{}", text))
    text = re.sub(r"\s+", " ", re.sub(r":\s*(?=[,}])|: \{\}", "", text))
    return re.sub(r",? (?=\})|(?<=\{) ", "", text)


def _obvious(description: Description) -> set[str]:
    """Formats whose names are those of columns."""
    described = any(path.endswith("/schema.json") for path, _ in description.paths)
    return {"rows.jsonl", "documents.jsonl"} if described else set()


def _lines(mounts: Sequence[tuple[str, Description]], most: int = 0) -> str:
    """A line for each mount, with paths below it; directories that several have in common are written once.

    most  characters of an explanation; of longer ones the first part; those that tell nothing new are left out. 0: all
    """
    seen: dict[tuple[tuple[str, str], ...], str] = {}
    lines = []
    for point, description in mounts:
        first = description.summary.partition(". ")[0].rstrip(".")
        access = " (writable)" if description.writable and "read-only" not in first and point != "/workspace" else ""
        line = f"- `{point}`{access}: {first}"
        paths = description.paths
        if paths and paths in seen:
            line += f"; as `{seen[paths]}`"
        elif paths:
            seen[paths] = point
            groups = groupby(_cut(paths, most) if most else paths, lambda p: p[0].partition("/")[0])
            line += ". " + "; ".join(_group(list(group)) for _, group in groups)
        lines.append(line)
    return "What is below each path; read-only where nothing else is said:\n\n" + "\n".join(lines) + "\n"


def _cut(paths: Sequence[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    told: set[str] = set()
    cut = []
    for path, text in paths:
        short = text.partition(";")[0].partition(" (")[0] if len(text) > most else text
        new = [w for w in re.findall(r"\w{4,}", short) if w.lower().rstrip("s") not in path.lower()]
        cut.append((path, short if (new or not path) and short not in told else ""))
        told.add(short)
    return cut


def _group(paths: Sequence[tuple[str, str]]) -> str:
    """`courses/<name>/`: `course.json` (...), `pages/<title>.md` (...)"""
    folders = [path.split("/")[:-1] for path, _ in paths]
    common = 0
    while len(paths) > 1 and all(len(f) > common and f[common] == folders[0][common] for f in folders):
        common += 1
    shown = []
    for path, text in paths:
        rest = "/".join(path.split("/")[common:])
        shown.append((f"`{rest}` ({text})" if text else f"`{rest}`") if rest else text)
    return (f"`{'/'.join(folders[0][:common])}/`: " if common else "") + ", ".join(filter(None, shown))


def described_mounts(machine: Machine, policy: Policy | None) -> list[tuple[str, Description]]:
    """(mount point, Description) of every mount that an agent works with, sorted, and /workspace."""
    found: dict[str, Description] = {"/workspace": SCRATCH}
    for mounted in machine.namespace.mounts():
        point, mount = mounted.point, mounted.mount
        if point in SYSTEM or policy is not None and policy.hides(point):
            continue
        if "describe" in mount.capabilities:
            found[point] = mount.describe()
        elif point != "/workspace":
            writable = mount.capabilities.writable
            found[point] = Description(FOLDER[writable], writable=True)
    return sorted(found.items())


def _introduction(machine: Machine) -> str:
    names = ", ".join(f"`{name}`" for name in machine.cli_names())
    if not names:
        return INTRODUCTION.partition(" Changes")[0] + "\n"
    return INTRODUCTION.replace("commands;", f"commands: {names};")
