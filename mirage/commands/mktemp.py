"""mktemp: make a file or directory with a new name."""
from __future__ import annotations

import os
import random
import string

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode
from mirage.commands._text import fatal, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("dp:qtuV", {
    "directory": ("d", NONE), "quiet": ("q", NONE), "dry-run": ("u", NONE), "suffix": ("suffix", REQUIRED),
    "tmpdir": ("tmpdir", OPTIONAL)},
    help="Usage: NAME [OPTION]... [TEMPLATE]\n"
         "Create a temporary file or directory, safely, and print its name.\n")

LETTERS = string.ascii_letters + string.digits


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    folder: str | None = None
    suffix: str | None = None
    use_folder = not operands or "t" in flags
    for key, value in options:
        if key in ("p", "tmpdir"):
            folder, use_folder = value or None, True
        elif key == "suffix":
            suffix = value
    if len(operands) > 1:
        raise usage_error(proc, SPEC, "too many templates")
    template = operands[0] if operands else "tmp.XXXXXXXXXX"
    if suffix is not None:
        if not template.endswith("X"):
            raise fatal(proc, f"with --suffix, template {quote(proc, template)} must end in X")
        stem = template
    else:
        stem = template[:template.rfind("X") + 1] if "X" in template else template
        suffix = template[len(stem):]
    if "/" in suffix:
        raise fatal(proc, f"invalid suffix {quote(proc, suffix)}, contains directory separator")
    count = len(stem) - len(stem.rstrip("X"))
    if count < 3:
        raise fatal(proc, f"too few X's in template {quote(proc, template)}")
    if use_folder:
        if "t" in flags:
            folder = proc.env.get("TMPDIR") or folder or "/tmp"
            if "/" in template:
                raise fatal(proc, f"invalid template, {quote(proc, template)}, contains directory separator")
        else:
            folder = folder or proc.env.get("TMPDIR") or "/tmp"
            if template.startswith("/"):
                raise fatal(proc, f"invalid template, {quote(proc, template)}; with --tmpdir, it may not be absolute")
        stem = f"{folder}{stem}" if folder.endswith("/") else f"{folder}/{stem}"
    return _make(proc, stem, count, suffix, flags)


def _make(proc: Process, stem: str, count: int, suffix: str, flags: set[str]) -> int:
    generator = random.Random(os.urandom(16))
    directory, dry = "d" in flags, "u" in flags
    for _ in range(1000):
        path = stem[:len(stem) - count] + "".join(generator.choices(LETTERS, k=count)) + suffix
        try:
            if dry:
                if proc.fs.exists(path, follow=False):
                    continue
            elif directory:
                proc.fs.mkdir(path, 0o700)
            else:
                with proc.opened(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600):
                    pass
        except FileExistsError:
            continue
        except OSError as e:
            if "q" not in flags:
                kind = "directory" if directory else "file"
                proc.fail(f"failed to create {kind} via template {quote(proc, stem + suffix)}", e)
            return 1
        proc.stdout.write(encode(path) + b"\n")
        return 0
    return 1
