"""Help and manual, both written from the commands that the program reads."""
from __future__ import annotations

import textwrap

from mirage.console.vfs.model import Argument, Command, Option

WIDTH = 100


def usage(command: Command) -> str:
    """`vfs fs [OPTIONS] <ID_OR_PATH> <COMMAND>`."""
    words = []
    for above in command.path:
        words.append(above.name)
        if above is command and command.options:
            words.append("[OPTIONS]")
        words.extend(shown(argument) for argument in above.arguments)
    if command.commands:
        words.append("<COMMAND>")
    return " ".join(words)


def shown(argument: Argument) -> str:
    if argument.rest:
        return "[COMMAND] [ARGS]..." if not argument.required else "<COMMAND> [ARGS]..."
    return f"<{argument.name}>" if argument.required else f"[{argument.name}]"


def notes(item: Option | Argument) -> str:
    """The text of an option or operand, with its possible values, default and variable."""
    more = []
    if item.values:
        more.append(f"possible values: {', '.join(item.values)}")
    if item.default is not None:
        more.append(f"default: {item.default}")
    text = [item.help] if item.help else []
    if more:
        text.append(f"[{'; '.join(more)}]")
    if isinstance(item, Option) and item.env:
        text.append(f"[env: {item.env}]")
    return " ".join(text)


def named(option: Option) -> str:
    return (f"{option.short}, " if option.short else "") + option.long + (f" <{option.value}>" if option.value else "")


def missing(command: Command) -> bool:
    """Does it do nothing in this version?"""
    return all(map(missing, command.commands)) if command.commands else command.run is None


def about(command: Command) -> str:
    """One line of a list of commands."""
    return command.about + (" [not available in this version]" if missing(command) else "")


def help_text(command: Command) -> str:
    parts = [command.about]
    if missing(command):
        parts.extend(["", "Not available in this version."])
    if command.more:
        parts.extend(["", textwrap.fill(command.more, WIDTH, break_on_hyphens=False)])
    parts.extend(["", f"Usage: {usage(command)}"])
    if command.commands:
        parts.extend(["", "Commands:", *_table([(c.name, about(c)) for c in command.commands])])
    operands = [(shown(a).split()[0], notes(a)) for a in command.arguments]
    if any(a.rest for a in command.arguments):
        operands.append(("[ARGS]...", "Arguments for the command"))
    if operands:
        parts.extend(["", "Arguments:", *_table(operands)])
    options = [(named(o) if o.short else "    " + named(o), notes(o)) for o in command.options]
    options.append(("-h, --help", "Print help"))
    if command.parent is None:
        options.append(("-V, --version", "Print version"))
    parts.extend(["", "Options:", *_table(options)])
    return "\n".join(parts) + "\n"


def _table(rows: list[tuple[str, str]]) -> list[str]:
    width = min(44, max(len(name) for name, _ in rows))
    lines = []
    for name, text in rows:
        wrapped = textwrap.wrap(text, WIDTH - width - 4, break_on_hyphens=False) or [""]
        if len(name) > width:
            lines.append(f"  {name}")
            lines.extend(f"  {'':{width}}  {line}".rstrip() for line in wrapped)
        else:
            lines.append(f"  {name:{width}}  {wrapped[0]}".rstrip())
            lines.extend(f"  {'':{width}}  {line}" for line in wrapped[1:])
    return lines


def manual(root: Command) -> str:
    """docs/MANUAL.md: a section for each command."""
    parts = ["# vfs", "",
             "Every section is written from the commands that the program reads; `vfs COMMAND --help` says "
             "the same.", ""]
    for command in _all(root):
        depth = len(command.path)
        parts.extend([f"{'#' * depth} {command.title}", "", command.about, ""])
        if command.more:
            parts.extend([command.more, ""])
        if missing(command):
            parts.extend(["Not available in this version.", ""])
        parts.extend(["```", usage(command), "```", ""])
        if command.arguments:
            parts.append("Arguments:")
            parts.append("")
            for argument in command.arguments:
                parts.append(f"- `{shown(argument).split()[0]}` — {notes(argument)}".rstrip(" —"))
                if argument.rest:
                    parts.append("- `[ARGS]...` — Arguments for the command")
            parts.append("")
        if command.options:
            parts.extend(["Options:", ""])
            parts.extend(f"- `{named(o)}` — {notes(o)}".rstrip(" —") for o in command.options)
            parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _all(root: Command) -> list[Command]:
    found = []
    for command in root.commands:
        found.append(command)
        found.extend(_all(command))
    return found
