"""One tool for a model's harness: run a line in the Terminal, get the merged output back."""
from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mirage.terminal import Terminal

NAME = "bash"
DESCRIPTION = (
    "Run bash in a virtual terminal. Services and folders appear as files; pipes, loops, jq, grep, awk and the usual "
    "Unix tools work on them. State (cwd, variables, files) is kept between calls. Start with: cat /VFS.md")
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "What to run; may be several lines."},
        "timeout": {"type": "number", "description": "Seconds after which it is stopped."},
    },
    "required": ["command"],
    "additionalProperties": False,
}


def definitions(terminal: Terminal, style: str) -> list[dict[str, Any]]:
    """The list to pass as `tools` (openai: chat completions; anthropic: messages; mcp: tools/list)."""
    if style == "openai":
        return [{"type": "function",
                 "function": {"name": NAME, "description": DESCRIPTION, "parameters": PARAMETERS}}]
    if style == "anthropic":
        return [{"name": NAME, "description": DESCRIPTION, "input_schema": PARAMETERS}]
    if style == "mcp":
        return [{"name": NAME, "description": DESCRIPTION, "inputSchema": PARAMETERS}]
    raise ValueError(f"unknown style {style!r}; known: openai, anthropic, mcp")


def call(terminal: Terminal, tool_name: str, arguments: Mapping[str, Any] | str) -> str:
    """Output in order, then the exit status when it is not 0. Bad arguments give a text that says so."""
    if tool_name != NAME:
        return f"unknown tool {tool_name!r}; the only tool is {NAME!r}"
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError as e:
            return f"the arguments are not JSON: {e}"
    if not isinstance(arguments, dict) or not isinstance(arguments.get("command"), str):
        return 'the arguments must be an object like {"command": "ls"}'
    unknown = sorted(set(arguments) - {"command", "timeout"})
    if unknown:
        return f"unknown argument {unknown[0]!r}; known: command, timeout"
    timeout = arguments.get("timeout")
    if timeout is not None and (not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or timeout <= 0):
        return "timeout must be a positive number of seconds"
    result = terminal.run(arguments["command"], timeout=timeout)
    output = result.merged
    if result.exit_code:
        separator = "" if not output or output.endswith("\n") else "\n"
        return f"{output}{separator}[exit status {result.exit_code}]"
    return output
