"""Runs in mirage-ai's own environment, without this package: one script after another, each in a new workspace.

    python peer_driver.py      reads a line of JSON {vfs, config, options, at}, then for each script a line
                               {before: [...], line}; answers "ready" after `before`, waits for a line, then answers
                               {status, output}
"""
from __future__ import annotations

import asyncio
import importlib
import json
import pkgutil
import sys
from typing import Any


def find(name: str) -> Any:
    """A class of the peer's package, wherever it is."""
    package: Any = importlib.import_module("mirage")
    if hasattr(package, name):
        return getattr(package, name)
    for folder in ("vfs", "core"):
        parent = importlib.import_module(f"mirage.{folder}")
        for module in pkgutil.iter_modules(parent.__path__):
            if not name.lower().startswith(module.name.replace("_", "")):
                continue
            for path in (f"mirage.{folder}.{module.name}", f"mirage.{folder}.{module.name}.config",
                         f"mirage.{folder}.{module.name}.{module.name}"):
                try:
                    found = getattr(importlib.import_module(path), name, None)
                except ImportError:
                    continue
                if found is not None:
                    return found
    raise LookupError(name)


def main() -> None:
    about = json.loads(sys.stdin.readline())
    mirage: Any = importlib.import_module("mirage")
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    def say(value: Any) -> None:
        print(json.dumps(value), flush=True)

    for text in sys.stdin:
        if not text.strip():
            continue
        script = json.loads(text)
        try:
            mount = find(about["vfs"])(find(about["config"])(**about["options"]))
            workspace = mirage.Workspace({about["at"]: mount}, mode=mirage.MountMode.EXEC)

            async def run(line: str, workspace: Any = workspace) -> tuple[int, str]:
                result = await workspace.shell(line)
                output = await result.stdout_str() + await result.stderr_str()
                return int(result.exit_code), output

            for line in script["before"]:
                loop.run_until_complete(run(line))
            say("ready")
            sys.stdin.readline()
            status, output = loop.run_until_complete(run(script["line"]))
            say({"status": status, "output": output[-300:]})
        except Exception as e:
            say({"status": -1, "output": f"{type(e).__name__}: {e}"[:300]})


if __name__ == "__main__":
    main()
