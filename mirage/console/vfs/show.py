"""`vfs diff`, `vfs timeline`, `vfs version`."""
from __future__ import annotations

import json

from mirage.console.vfs.files import letter, out
from mirage.console.vfs.model import Failure
from mirage.console.vfs.opening import open_database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.console.vfs.model import Parsed

FEATURES = {"fs": True, "kv": True, "toolCalls": True, "overlay": True, "partialOrigin": True, "timeline": True,
            "clone": True,
            "encryption": True, "mount": True, "nfs": True, "mcp": True, "run": False, "sync": False}


def diff(parsed: Parsed) -> int:
    """`A f /path`, `M f /path`, `D f /path`."""
    from mirage.mounts.vfs.maintenance import base_of, layer_of
    with open_database(parsed) as vfs:
        if base_of(vfs) is None:
            raise Failure("the database has no base directory (made with `vfs init --base DIR`)")
        layer = layer_of(vfs)
        for change, path, stat in layer.changes():
            if stat is None:
                try:
                    stat = layer.base.stat(path)
                except OSError:
                    continue
            out(f"{change} {letter(stat)} {path}")
    return 0


def timeline(parsed: Parsed) -> int:
    text = parsed.get("limit")
    if not text.isdigit():
        raise Failure(f"invalid value '{text}' for '--limit <LIMIT>'", 2)
    with open_database(parsed) as vfs:
        calls = vfs.tools.list(int(text), parsed.get("filter"), parsed.get("status"))
    if parsed.get("format") == "json":
        print(json.dumps([call.as_dict() for call in calls], indent=2))
        return 0
    if not calls:
        print("No tool calls found.")
        return 0
    rows = [("ID", "TOOL", "STATUS", "DURATION", "STARTED")]
    rows.extend((str(c.id), c.name, c.status, "--" if c.duration_ms is None else f"{c.duration_ms}ms",
                 moment(c.started_at)) for c in calls)
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def moment(seconds: int) -> str:
    from datetime import UTC, datetime
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"


def version(parsed: Parsed) -> int:
    from mirage import __version__
    from mirage.mounts.vfs.schema import OLDEST, VERSION
    if parsed.get("json"):
        print(json.dumps({"version": __version__, "schemaVersion": VERSION, "artifactVersion": VERSION,
                          "minSupportedArtifactVersion": OLDEST, "features": FEATURES}))
    else:
        print(f"vfs {__version__}\nschema version {VERSION}, reads from {OLDEST}\n"
              f"features: {', '.join(name for name, there in FEATURES.items() if there)}")
    return 0
