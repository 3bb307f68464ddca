"""VFS.md: front matter, a table of paths, the format of each kind of file, the rules an agent must know.

The page is part of a model's context. Where many services make it longer than its budget, each mount is one line, and
formats are shown as far as they fit.
"""
from __future__ import annotations

from itertools import groupby

from mirage.vfs.describe import Description, Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.machine import Machine
    from mirage.policy import Policy

SCRATCH = Description("Scratch space for your own files.", writable=True)
FOLDER = {True: "Files; may be changed.", False: "Files, read-only."}
BUDGET = 3_500                                               # characters; below 1,200 tokens of o200k
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
    parts = [*front, _lines(mounts)]
    left = BUDGET - len("\n".join(parts))
    for text in shown:
        if len(text) < left:
            parts.append(text)
            left -= len(text) + 1
    return "\n".join([*parts, *after])


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


def _lines(mounts: Sequence[tuple[str, Description]]) -> str:
    """A line for each mount, with paths below it; directories that several have in common are written once."""
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
            groups = groupby(paths, lambda p: p[0].partition("/")[0])
            line += ". " + "; ".join(_group(list(group)) for _, group in groups)
        lines.append(line)
    return "What is below each path; read-only where nothing else is said:\n\n" + "\n".join(lines) + "\n"


def _group(paths: Sequence[tuple[str, str]]) -> str:
    """`courses/<name>/`: `course.json` (...), `pages/<title>.md` (...)"""
    folders = [path.split("/")[:-1] for path, _ in paths]
    common = 0
    while len(paths) > 1 and all(len(f) > common and f[common] == folders[0][common] for f in folders):
        common += 1
    shown = []
    for path, text in paths:
        rest = "/".join(path.split("/")[common:])
        shown.append(f"`{rest}` ({text})" if rest else text)
    return (f"`{'/'.join(folders[0][:common])}/`: " if common else "") + ", ".join(shown)


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
    text = "Read files with shell commands (ls, grep, cat, jq, ...); a file is fetched when it is read."
    if machine.cli_names():
        names = ", ".join(f"`{name}`" for name in machine.cli_names())
        text += f" Changes to a service are commands: {names}; see /SKILL.md."
    return text + "\n"
