"""zgrep, zegrep, zfgrep, bzgrep, xzgrep: grep in files that may be compressed."""
from __future__ import annotations

from mirage.commands._archive_stream import BadStream, Reader
from mirage.process.files import Source
from mirage.process.process import refusal_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

VALUED = set("efmABCdD")
USAGE = """Usage: /usr/bin/zgrep [OPTION]... [-e] PATTERN [FILE]...
Look for instances of PATTERN in the input FILEs, using their
uncompressed contents if they are compressed.
"""


def main(proc: Process) -> int:
    args = proc.argv[1:]
    options: list[str] = {"zegrep": ["-E"], "zfgrep": ["-F"]}.get(proc.name, [])
    operands: list[str] = []
    has_pattern = False
    i = 0
    while i < len(args):
        arg = args[i]
        i += 1
        if arg == "--":
            operands += args[i:]
            break
        if arg in ("--help", "--version"):
            proc.stdout.write(USAGE.encode() if arg == "--help" else f"{proc.name} (Mirage)\n".encode())
            return 0
        if not arg.startswith("-") or arg == "-":
            operands.append(arg)
            continue
        options.append(arg)
        has_pattern = has_pattern or arg.startswith(("--regexp", "--file"))
        if not arg.startswith("--"):
            at = next((n for n, c in enumerate(arg[1:], 1) if c in VALUED), None)
            if at is not None:
                has_pattern = has_pattern or arg[at] in "ef"
                if at == len(arg) - 1 and i < len(args):
                    options.append(args[i])
                    i += 1
    if not has_pattern:
        if not operands:
            proc.write_error("/usr/bin/zgrep: 188: 1: missing pattern; try `/usr/bin/zgrep --help' for help\n")
            return 2
        options += ["-e", operands.pop(0)]
    files = operands or ["-"]
    names = any(o == "--with-filename" or o[:1] == "-" and o[1:2] != "-" and "H" in o for o in options)
    listing = any(o[:1] == "-" and o[1:2] != "-" and set(o) & set("lL") for o in options)
    label = len(files) > 1 or names or listing
    status = 1
    for name in files:
        status = _merge(status, _one(proc, options, name, label))
    return status


def _merge(status: int, new: int) -> int:
    if new > 1 or status > 1:
        return max(new, status, 2)
    return 0 if new == 0 or status == 0 else 1


def _one(proc: Process, options: list[str], name: str, label: bool) -> int:
    try:
        packed = name != "-" and not proc.fs.exists(name) and proc.fs.exists(f"{name}.gz")
        file = (proc.file(0) if name == "-" else proc.open(f"{name}.gz" if packed else name)).incref()
    except OSError as e:
        missing = f"{name}.gz" if isinstance(e, FileNotFoundError) else name
        proc.write_error(f"gzip: {missing}: {e.strerror}\n{refusal_note(e)}")
        return 2
    try:
        reader = Reader(proc, file)
        parts = []
        size = 0
        while data := reader.read(1 << 20):
            size += len(data)
            proc.kernel.fits(size)
            parts.append(data)
    except IsADirectoryError:
        proc.write_error(f"gzip: {name} is a directory -- ignored\n")
        return 1
    except BadStream:
        proc.write_error(f"\ngzip: {'stdin' if name == '-' else name}: unexpected end of file\n")
        return 2
    finally:
        file.decref()
    extra = ["-H", f"--label={'(standard input)' if name == '-' else name}"] if label else []
    return proc.run(["grep", *extra, *options, "--", "-"], fds={0: Source(b"".join(parts))})
