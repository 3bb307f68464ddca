"""Runs in a peer's own environment, without this package: one workload after another, a line of JSON for each.

    python peer_driver.py PEER FOLDER SECONDS [SCRIPT]

Without SCRIPT the workloads come as JSON [[name, script], ...] on standard input.

Files of FOLDER are loaded into the peer's memory under /bench first. The answer: name, cpu, status, bytes.
A workload that takes more than SECONDS of processor time is answered by an error, and the process ends.
"""
from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

MANY = 10 ** 9


def load(folder: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    files = {}
    for directory, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(directory, name)
            inner = os.path.relpath(path, folder)
            if wanted(inner):
                with open(path, "rb") as file:
                    files[inner] = file.read()
    return files


def bashkit(files: dict[str, bytes]) -> Callable[[str], tuple[int, str]]:
    module: Any = importlib.import_module("bashkit")
    bash = module.Bash(cwd="/bench", max_commands=MANY, max_loop_iterations=MANY, timeout_seconds=3600.0,
                files={f"/bench/{name}": data.decode() for name, data in files.items()})

    def run(script: str) -> tuple[int, str]:
        result = bash.execute_sync(script)
        return result.exit_code, result.stdout or result.stderr
    return run


def just_bash(files: dict[str, bytes]) -> Callable[[str], tuple[int, str]]:
    module: Any = importlib.import_module("just_bash")
    bash = module.Bash(cwd="/bench", files={f"/bench/{name}": data.decode() for name, data in files.items()},
                limits=module.ExecutionLimits(1000, MANY, MANY, MANY, MANY))

    def run(script: str) -> tuple[int, str]:
        result = bash.run(script)
        return result.exit_code, result.stdout
    return run


def mirage_ai(files: dict[str, bytes]) -> Callable[[str], tuple[int, str]]:
    mirage: Any = importlib.import_module("mirage")          # the peer's package, which has our name
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    workspace = mirage.Workspace({"/bench": mirage.RAMVFS()}, mode=mirage.MountMode.EXEC)

    async def fill() -> None:
        made = set()
        for name, data in files.items():
            at = "/bench"
            for part in name.split("/")[:-1]:
                at += "/" + part
                if at not in made:
                    made.add(at)
                    await workspace.vfs.mkdir(at)
            await workspace.vfs.write(f"/bench/{name}", data)
        await workspace.shell("cd /bench")

    loop.run_until_complete(fill())

    async def shell(script: str) -> tuple[int, str]:
        result = await workspace.shell(script)
        text = await result.stdout_str()
        return result.exit_code, text

    return lambda script: loop.run_until_complete(shell(script))


def main() -> None:
    peer, folder, seconds, *script = sys.argv[1:]
    chosen = [["script", script[0]]] if script else json.load(sys.stdin)
    scripts = " ".join(script for _, script in chosen)
    parts = ("tree", "project", "lines.txt", "big.txt", "numbers.txt", "events.jsonl")
    wanted = [name for name in parts if name in scripts]
    files = load(folder, lambda name: name.startswith(tuple(wanted)))
    make = {"bashkit": bashkit, "just-bash": just_bash, "mirage-ai": mirage_ai}[peer]
    run = make(files)
    print(json.dumps({"name": "ready"}), flush=True)
    running = ""

    def stop(*_: object) -> None:
        print(json.dumps({"name": running, "error": f"more than {seconds} s"}), flush=True)
        os._exit(1)

    signal.signal(signal.SIGPROF, stop)
    for running, text in chosen:
        if peer == "bashkit":                                # one session runs 100,000 commands at most
            run = make(files)
        signal.setitimer(signal.ITIMER_PROF, float(seconds))
        started = time.process_time()
        try:
            status, output = run(text)
        except Exception as e:
            status, output = -1, f"{type(e).__name__}: {e}"
        used = time.process_time() - started
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps({"name": running, "cpu": used, "status": status, "output": output[-200:],
                          "size": len(output.encode("utf-8", "surrogateescape"))}), flush=True)


if __name__ == "__main__":
    main()
