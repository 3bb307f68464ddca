"""Terminals with a secret in them, and what must never be seen of it."""
from __future__ import annotations

from mirage import Terminal
from mirage.mounts import Memory

SECRET = "xyzzy-4711"
FILES = {
    "secret/key.txt": f"{SECRET} one\n", "secret/sub/deep.txt": f"{SECRET} two\n", "secret/run.sh": f"echo {SECRET}\n",
    "dir/a.txt": "alpha\n", "pub.txt": "public\n", "x.pem": f"{SECRET} three\n",
}
RULES = {
    action: "rules:\n"
            f"  - {{path: /data/secret/**, action: {action}, reason: KEEPOUT}}\n"
            f"  - {{path: '*.pem', action: {action}, reason: KEEPOUT}}\n"
    for action in ("hide", "deny")
}


def files(root: str = "") -> Memory:
    """The tree at the root of a mount, or in a folder of it (then its directories can be moved)."""
    memory = Memory({root + name: text for name, text in FILES.items()})
    memory.setattr(f"/{root}secret/run.sh", mode=0o755)
    return memory


def terminal(policy, mounts=None, cwd="/", **options):
    return Terminal({"/data": files()} if mounts is None else mounts, policy=policy, cwd=cwd, **options)


def rule(action="deny", **keys):
    """One rule as YAML flow, with the rest of its keys."""
    parts = [f"{key}: {value}" for key, value in keys.items()]
    return "rules:\n  - {" + ", ".join([*parts, f"action: {action}"]) + "}\n"


def seen(result):
    return result.stdout + result.stderr
