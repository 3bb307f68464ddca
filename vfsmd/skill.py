"""SKILL.md: every operation of the virtual CLIs, a few words each; schemas stay behind --help."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.machine import Machine


def skill_md(machine: Machine) -> str:
    """The text of /SKILL.md for the CLIs of this machine."""
    parts = ["---\nname: workspace-commands\ndescription: Commands that act on the services of this workspace.\n---\n",
             "# Commands\n"]
    names = machine.cli_names()
    if not names:
        parts.append("This workspace has no virtual CLIs; only files.\n")
        return "\n".join(parts)
    example_cli = machine.clis[names[0]]
    example = next(iter(example_cli.operations))
    parts.append(f"Usage: `CLI OPERATION '{{\"key\": \"value\"}}'` or `--key value`; JSON comes out. "
                 f"The arguments of an operation: `{example_cli.name} {example} --help`.\n")
    for name in names:
        cli = machine.clis[name]
        lines = [f"- `{operation.name}`: {operation.summary}" for operation in cli.operations.values()]
        parts.append(f"## {name}\n\n{cli.description}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)
