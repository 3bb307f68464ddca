"""The files that the workloads read, made without chance so that two runs compare."""
from __future__ import annotations

import json
from pathlib import Path

KINDS = ("disk", "net", "cpu", "ram")
LEVELS = ("INFO", "WARN", "ERROR")
DIRECTORIES, PER_DIRECTORY = 200, 100


def lines(part: int) -> bytes:
    """100,000 short lines."""
    return "".join(f"line {i} of the file\n" for i in range(100_000 // part)).encode()


def log(part: int) -> bytes:
    """10 MB of log: every third line has ERROR, one in 9,973 has the rare word `needle`."""
    parts = []
    for i in range(274_000 // part):
        word = "needle" if i % 9973 == 0 else "ms"
        parts.append(f"2026-01-{i % 28 + 1:02} {LEVELS[i % 3]} host{i % 97} {KINDS[i % 4]} {i * 7919 % 10007} {word}\n")
    return "".join(parts).encode()


def numbers(part: int) -> bytes:
    """200,000 lines of a key and a number, in no order, with repetitions."""
    return "".join(f"key{i * 7919 % 1009} {i * 104729 % 50021}\n" for i in range(200_000 // part)).encode()


def events(part: int) -> bytes:
    """20 MB of JSON objects, one a line."""
    parts = []
    for i in range(100_000 // part):
        parts.append(json.dumps({
            "id": i, "type": KINDS[i % 4],
            "user": {"name": f"user{i % 997}", "age": i % 90, "tags": ["a", "b", str(i % 7)]},
            "amount": i * 7919 % 10007, "ok": i % 3 == 0, "note": f"event number {i} of the run",
            "path": f"/srv/data/{i % 50}/{i}.bin"}))
    return ("\n".join(parts) + "\n").encode()


def tree(part: int) -> dict[str, bytes]:
    """20,000 small files in 200 directories, half of them .json; one in 101 has the word `needle`."""
    files = {}
    for d in range(DIRECTORIES // part):
        for f in range(PER_DIRECTORY):
            number = d * PER_DIRECTORY + f
            end = "json" if f % 2 else "txt"
            word = "needle" if number % 101 == 0 else "straw"
            files[f"tree/d{d:03}/f{f:03}.{end}"] = f'{{"id": {number}, "word": "{word}"}}\n'.encode() * 4
    return files


def small() -> dict[str, bytes]:
    """A little project, for the transcript of an agent."""
    files = {"project/README.md": b"# Project\n\nA demo.\n",
             "project/setup.cfg": b"[tool]\nname = demo\nversion = 1.4\n"}
    for i in range(40):
        body = f"import os\n\n\ndef function_{i}(x):\n    # TODO: {i}\n    return x + {i}\n" * (i % 5 + 1)
        files[f"project/src/module_{i}.py"] = body.encode()
        files[f"project/data/row_{i}.csv"] = "".join(f"{j},{j * i},name{j}\n" for j in range(50)).encode()
    return files


def make(part: int = 1) -> dict[str, bytes]:
    """Everything: relative path -> content; with `part`, that part of the lines and files."""
    return {"lines.txt": lines(part), "big.txt": log(part), "numbers.txt": numbers(part), "events.jsonl": events(part),
            **tree(part), **small()}


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
