"""which: where programs are found (debianutils)."""
from __future__ import annotations

from mirage.commands._io import encode
from mirage.machine import DEFAULT_PATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process


def main(proc: Process) -> int:
    args = proc.argv[1:]
    every = silent = False
    while args and args[0].startswith("-") and len(args[0]) > 1:
        option = args.pop(0)
        if option == "--":
            break
        if option.startswith("--") or set(option[1:]) - {"a", "s"}:
            letter = option[1] if option.startswith("--") else next(c for c in option[1:] if c not in "as")
            proc.write_error(f"Illegal option -{letter}\n")
            proc.stdout.write(b"Usage: /usr/bin/which [-as] args\n")
            return 2
        every = every or "a" in option
        silent = silent or "s" in option
    status = 0 if args else 1
    for name in args:
        found = _all(proc, name)
        if not found:
            status = 1
        elif not silent:
            for path in found if every else found[:1]:
                proc.stdout.write(encode(path) + b"\n")
    return status


def _all(proc: Process, name: str) -> list[str]:
    if "/" in name:
        return [name] if proc.machine.find_program(proc, name) else []
    folders = proc.env.get("PATH", DEFAULT_PATH).split(":")
    paths = [f"{folder.rstrip('/') or ('' if folder else '.')}/{name}" for folder in folders]
    return [path for path in paths if name and proc.machine.find_program(proc, path)]
