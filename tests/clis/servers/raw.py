"""An MCP server in plain Python that behaves as badly as the words on its command line say."""
from __future__ import annotations

import json
import sys
import time

HABITS = set(sys.argv[1:])
TOOLS = [
    {"name": "raw_echo", "description": "Say it again", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
    {"name": "raw_shapeless", "inputSchema": None, "annotations": "none", "outputSchema": {"type": 7}},
    {"name": "raw_odd", "description": "No proper schema", "inputSchema": {
        "type": "object", "properties": {"n": {"type": "whole", "pattern": "(a+)+$"}, "list": {"$ref": "#/definitions/list"}},
        "definitions": {"list": {"type": "array", "items": {"type": "integer"}}}}},
    {"description": "no name"}, "text",
]


def send(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def noise(text: str) -> None:
    if "noise" in HABITS:
        sys.stdout.buffer.write(text.encode("latin-1"))
        sys.stdout.flush()


def call(arguments: dict) -> dict:
    if "structure" in HABITS:
        return {"structuredContent": [1, 2]}
    if "nothing" in HABITS:
        return {"content": []}
    return {"content": [{"type": "text", "text": json.dumps(arguments)}]}


def answer(method: str, params: dict) -> object:
    if method == "initialize":
        version = "2024-10-07" if "ancient" in HABITS else "2024-11-05"
        return {"protocolVersion": version, "capabilities": {"tools": {}},
                **({} if "ancient" in HABITS else {"serverInfo": {"name": "raw", "version": "1"}})}
    if method == "tools/list":
        return {"tools": TOOLS}
    return call(params.get("arguments") or {})


def main() -> None:
    if "hang" in HABITS:
        time.sleep(60)
    if "crash" in HABITS:
        print("cannot start: key is", "k3y", file=sys.stderr)
        raise SystemExit(2)
    noise("Welcome to raw!\n\n\xff\xfe\n{\"level\": \"info\"}\n[1]\n")
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        if "deaf" in HABITS and request["method"] == "tools/call":
            HABITS.discard("deaf")
            time.sleep(30)
        noise("Loading... ")
        send({"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request.get("params") or {})})
        noise("done\n")
        if "once" in HABITS and request["method"] == "tools/call":
            return
    if "stays" in HABITS:
        time.sleep(60)


main()
