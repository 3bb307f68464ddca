"""SKILL.md: the operations of the virtual CLIs by name, with their required arguments; schemas stay behind --help.

The page is part of a model's context, so it has a budget: arguments are left out where they do not fit, and then the
operations of CLIs that have very many.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from mirage.clis.framework import Operation, VirtualCli
    from mirage.machine import Machine

BUDGET = 7_400                                               # characters; below 2,000 tokens of o200k
SHOWN_ARGUMENTS = 3
FEW = 12                                                     # operations of one kind that are always named
MANY = 100                                                   # operations of a CLI whose arguments would not fit anyway

FRONT = "---\nname: workspace-commands\ndescription: Commands that act on the services of this workspace.\n---\n"
USAGE = """`CLI OPERATION '{"key": "value"}'` or `--key value`; the result is JSON on stdout.
`CLI OPERATION --help` shows the arguments, `CLI --help` a line for each operation."""


def skill_md(machine: Machine) -> str:
    """The text of /SKILL.md for the CLIs of this machine. Nothing is started or asked for it."""
    names = machine.cli_names()
    if not names:
        return f"{FRONT}\n# Commands\n\nThis workspace has no virtual CLIs; only files.\n"
    clis = [(name, machine.clis[name], list(machine.clis[name].known_operations().values())) for name in names]
    page = _page(clis)
    detailed: set[str] = set()
    for name, _, operations in sorted(clis, key=lambda c: len(c[2])):
        if len(operations) > MANY or len(more := _page(clis, detailed | {name})) > BUDGET:
            break
        page, detailed = more, detailed | {name}
    most = max((len(operations) for _, _, operations in clis), default=0)
    while len(page) > BUDGET and most > FEW:
        most = max(FEW, most * 3 // 4)
        page = _page(clis, most=most)
    return page


def _page(clis: Sequence[tuple[str, VirtualCli, Sequence[Operation]]], detailed: Container[str] = (),
          most: int = 0) -> str:
    """The page; required arguments for the CLIs in `detailed`, and at most `most` operations of a kind (0: all).

    Of CLIs with the same operations (two mailboxes) the first shows them.
    """
    usage = USAGE
    if detailed:
        whole = all(name in detailed for name, _, _ in clis)
        usage += f" In parentheses{'' if whole else ', where there is room'}: required arguments."
    parts = [f"{FRONT}\n# Commands\n\n{usage}\n"]
    told: dict[tuple[str, ...], str] = {}
    for name, cli, operations in clis:
        known = tuple(o.name for o in operations)
        if known and known in told:
            parts.append(f"**{name}**: as **{told[known]}**.\n")
            continue
        told[known] = name
        lines = [f"**{name}**: {cli.description}" + ("" if operations else f" See `{name} --help`.")]
        for title, chosen in (("look", [o for o in operations if set(o.effects) <= {"read"}]),
                              ("act", [o for o in operations if not set(o.effects) <= {"read"}])):
            shown = [_named(o, name in detailed) for o in (chosen[:most] if most else chosen)]
            if len(shown) < len(chosen):
                shown.append(f"and {len(chosen) - len(shown):,} more")
            if shown:
                lines.append(f"- {title}: {', '.join(shown)}")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _named(operation: Operation, arguments: bool) -> str:
    if not arguments:
        return operation.name
    from mirage.clis.framework import OperationError
    try:
        required = operation.model.model_json_schema().get("required", [])
    except OperationError:                                   # a document that is wrong there
        return operation.name
    if not required:
        return operation.name
    more = ["..."] if len(required) > SHOWN_ARGUMENTS else []
    return f"{operation.name}({', '.join([*required[:SHOWN_ARGUMENTS], *more])})"
