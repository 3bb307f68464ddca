"""VFS.md: front matter, a table of paths, the format of each kind of file, the rules an agent must know."""
from __future__ import annotations

from mirage.vfs.describe import Description, Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.machine import Machine
    from mirage.policy import Policy

SCRATCH = Description("Scratch space for your own files.", writable=True)
FOLDER = {True: "Files; may be changed.", False: "Files, read-only."}
SYSTEM = ("/", "/dev", "/proc", "/usr/bin", "/VFS.md", "/SKILL.md")


def vfs_md(machine: Machine, policy: Policy | None = None) -> str:
    """The text of /VFS.md for what is mounted now. Mounts that the policy hides are left out."""
    rows: list[str] = []
    formats: list[Format] = []
    for point, description in described_mounts(machine, policy):
        access = "" if description.writable else " Read-only."
        rows.append(f"| `{point}` | {description.summary}{access} |")
        rows.extend(f"| `{point.rstrip('/')}/{path}` | {text} |" for path, text in description.paths)
        formats.extend(f for f in description.formats if f.suffix not in {g.suffix for g in formats})
    parts = ["---\nname: workspace-filesystem\ndescription: The virtual filesystem layout of this workspace.\n---\n",
             "# Virtual Filesystem\n", _introduction(machine),
             "| Path | Description |\n|---|---|\n" + "\n".join(rows) + "\n"]
    for form in formats:
        note = f"{form.note}\n\n" if form.note else ""
        parts.append(f"## `{form.suffix}` format\n\n{note}```{form.language}\n{form.example.strip()}\n```\n")
    rules = policy.described() if policy is not None else []
    if rules:
        parts.append("## Rules\n\n" + "\n".join(f"- {rule}" for rule in rules) + "\n")
    return "\n".join(parts)


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
