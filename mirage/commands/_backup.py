"""Backups of what cp, mv, ln and install replace: --backup=CONTROL, -b, -S SUFFIX."""
from __future__ import annotations

import re

from mirage.commands._text import choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.commands._getopt import Spec
    from mirage.process.process import Process

CONTROLS = (("none", "off"), ("simple", "never"), ("existing", "nil"), ("numbered", "t"))


class Backup:
    """`kind` is "" for none, else simple, existing or numbered."""

    __slots__ = ("kind", "suffix")

    def __init__(self, kind: str = "", suffix: str = "~") -> None:
        self.kind = kind
        self.suffix = suffix

    @classmethod
    def from_options(cls, proc: Process, spec: Spec, options: Sequence[tuple[str, str]]) -> Backup:
        """From parsed options with the keys `b`, `backup` and `S`."""
        backup = cls(suffix=proc.env.get("SIMPLE_BACKUP_SUFFIX") or "~")
        wanted, control = False, ""
        for key, value in options:
            if key == "b":
                wanted = True
            elif key == "backup":
                wanted = True
                control = value or control
            elif key == "S":
                wanted = True
                if value and "/" not in value:
                    backup.suffix = value
        if wanted:
            if control:
                kind = choice(proc, spec, "backup type", control, CONTROLS)
            else:
                kind = {"none": "none", "off": "none", "simple": "simple", "never": "simple", "numbered": "numbered",
                        "t": "numbered"}.get(proc.env.get("VERSION_CONTROL", ""), "existing")
            backup.kind = "" if kind == "none" else kind
        return backup

    def name(self, proc: Process, path: str) -> str:
        """What the backup of `path` would be called."""
        kind = self.kind
        if kind in ("existing", "numbered"):
            folder, slash, base = path.rpartition("/")
            pattern = re.compile(re.escape(base) + r"\.~([0-9]{1,18})~\Z")
            try:
                names = [entry.name for entry in proc.fs.list(folder or ("/" if slash else "."))]
            except OSError:
                names = []
            numbers = [int(found[1]) for name in names if (found := pattern.match(name))]
            if numbers or kind == "numbered":
                return f"{path}.~{max(numbers, default=0) + 1}~"
        return path + self.suffix

    def make(self, proc: Process, path: str) -> str:
        """Rename `path` to its backup, whose name is returned; "" when there is nothing to do. May raise OSError."""
        if not self.kind or not proc.fs.exists(path, follow=False):
            return ""
        name = self.name(proc, path)
        proc.fs.rename(path, name)
        return name
