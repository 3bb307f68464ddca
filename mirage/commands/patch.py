"""patch: apply diffs (GNU patch 2.8's search with offsets and fuzz)."""
from __future__ import annotations

import os

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import encode, read_all
from mirage.commands._patch_parse import FilePatch, Hunk, Malformed
from mirage.commands._patch_parse import parse as parse_patch
from mirage.commands._text import shell_quote
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("bB:cd:D:eEfF:i:lnNo:p:r:RstTuvVY:z:Zg:", {
    "backup": ("b", NONE), "prefix": ("B", REQUIRED), "directory": ("d", REQUIRED), "remove-empty-files": ("E", NONE),
    "force": ("f", NONE), "fuzz": ("F", REQUIRED), "input": ("i", REQUIRED), "ignore-whitespace": ("l", NONE),
    "forward": ("N", NONE), "output": ("o", REQUIRED), "strip": ("p", REQUIRED), "reject-file": ("r", REQUIRED),
    "reverse": ("R", NONE), "quiet": ("s", NONE), "silent": ("s", NONE), "batch": ("t", NONE), "unified": ("u", NONE),
    "normal": ("n", NONE), "context": ("c", NONE), "ed": ("e", NONE), "dry-run": ("dry", NONE),
    "verbose": ("verbose", NONE), "suffix": ("z", REQUIRED),
    "no-backup-if-mismatch": ("nobackup", NONE), "binary": ("binary", NONE)},
    help="Usage: NAME [OPTION]... [ORIGFILE [PATCHFILE]]\n", status=2, usage="patch: ")


class Applied:
    """What came out of one file."""

    __slots__ = ("clean", "failed", "lines")

    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines
        self.failed: list[Hunk] = []
        self.clean = True


class Patcher:
    def __init__(self, proc: Process, flags: set[str], values: dict[str, str]) -> None:
        self.proc = proc
        self.flags = flags
        self.values = values
        fuzz = values.get("F", "2")
        self.fuzz = int(fuzz) if fuzz.isdecimal() else 2
        self.status = 0

    def say(self, text: str) -> None:
        if "s" not in self.flags:
            self.proc.stdout.write(encode(text + "\n"))

    def fatal(self, text: str) -> Exit:
        self.proc.stdout.flush()
        self.proc.write_error(f"patch: **** {text}\n")
        return Exit(2)

    def path(self, name: str) -> str:
        folder = self.values.get("d")
        return name if folder is None or name.startswith("/") else f"{folder.rstrip('/')}/{name}"

    def stripped(self, name: str) -> str | None:
        """A name of the patch with -p applied (without -p only its last part); None if nothing is left."""
        if not name or name == "/dev/null":
            return None
        if "p" not in self.values:
            return name.rstrip("/").rpartition("/")[2] if name.startswith("/") or "/" in name else name
        count = int(self.values["p"]) if self.values["p"].isdecimal() else 0
        parts = [part for n, part in enumerate(name.split("/")) if part or not n]
        if count >= len(parts):
            return None
        rest = "/".join(parts[count:])
        return None if ".." in rest.split("/") else rest

    def choose(self, patch: FilePatch) -> str | None:
        """The file to change: an existing one of the names, else the new one."""
        names = [n for n in (self.stripped(patch.old_name), self.stripped(patch.new_name),
                             self.stripped(patch.index)) if n]
        existing = [n for n in names if self.proc.fs.is_file(self.path(n))]
        if existing:
            return min(existing, key=lambda n: (n.count("/"), len(n.rpartition("/")[2]), len(n)))
        return names[-1] if names else None

    def file(self, patch: FilePatch, name: str | None) -> None:
        target = name or self.choose(patch)
        if target is None:
            self.say("can't find file to patch at input line 3\nPerhaps you used the wrong -p or --strip option?")
            self.status = max(self.status, 1)
            return
        path = self.path(target)
        hunks = [h.reversed() for h in patch.hunks] if "R" in self.flags else patch.hunks
        old_name, new_name = (patch.new_name, patch.old_name) if "R" in self.flags else (patch.old_name, patch.new_name)
        exists = self.proc.fs.exists(path)
        try:
            data = self.proc.fs.read(path) if exists else b""
        except OSError as e:
            raise self.fatal(f"Can't open file {target} : {e.strerror}") from None
        output = self.values.get("o")
        label = shell_quote(target) if output is None else f"{shell_quote(output)} (read from {shell_quote(target)})"
        self.say(f"{'checking' if 'dry' in self.flags else 'patching'} file {label}")
        lines = data.splitlines(keepends=True) if b"\r" not in data else _lines(data)
        if hunks and self.locate(lines, hunks[0], 0, 0) is None and \
                self.locate(lines, hunks[0].reversed(), 0, 0) is not None:
            question = "Reversed (or previously applied) patch detected!"
            if "N" in self.flags:
                self.say(f"{question}  Skipping patch.")
            else:
                self.say(f"{question}  Assume -R? [n] \nApply anyway? [n] \nSkipping patch.")
            self.reject(target, hunks, len(hunks), "ignored", old_name, new_name)
            return
        applied = self.edit(lines, patch) if patch.script else self.apply(lines, hunks)
        if "dry" not in self.flags:
            self.write(path if output is None else self.path(output), data, applied, exists, new_name)
        if applied.failed:
            self.reject(target if output is None else output, applied.failed, len(hunks), "FAILED", old_name, new_name)

    def edit(self, lines: list[bytes], patch: FilePatch) -> Applied:
        """Run the commands of an ed script, which go from the end of the file to its beginning."""
        out = Applied(list(lines))
        for first, last, letter, text in patch.script:
            if not 0 <= first <= last <= len(out.lines) or not first and letter != b"a":
                raise self.fatal("ed script names lines that are not there")
            if letter == b"a":
                out.lines[last:last] = text
            else:
                out.lines[first - 1:last] = text
            self.proc.check()
        return out

    def apply(self, lines: list[bytes], hunks: list[Hunk]) -> Applied:
        out = Applied(list(lines))
        shift = offset = frozen = 0
        for number, hunk in enumerate(hunks, 1):
            found = None
            for fuzz in range(min(self.fuzz, max(hunk.context())) + 1):
                found = self.locate(out.lines, hunk, offset + shift, fuzz, frozen)
                if found is not None:
                    break
            guess = hunk.old_start + (0 if hunk.old else 1) + shift + offset
            if found is None:
                self.say(f"Hunk #{number} FAILED at {hunk.old_start + shift + offset}.")
                out.failed.append(hunk)
                out.clean = False
                continue
            where, before, after = found
            old, new = hunk.old, hunk.new
            if fuzz or where != guess - offset:
                moved = where - (guess - offset)
                if fuzz or moved:
                    out.clean = False
                    text = f"Hunk #{number} succeeded at {where}"
                    text += f" with fuzz {fuzz}" if fuzz else ""
                    text += f" (offset {moved} line{'' if abs(moved) == 1 else 's'})" if moved else ""
                    self.say(text + ".")
            offset += where - guess
            start = where - 1 + before
            out.lines[start:where - 1 + len(old) - after] = new[before:len(new) - after]
            shift += len(new) - len(old)
            frozen = where - 1 + len(new) - after
            self.proc.check()
        return out

    def locate(self, lines: list[bytes], hunk: Hunk, shift: int, fuzz: int,
               frozen: int = 0) -> tuple[int, int, int] | None:
        """(line from 1, context lines left out before, behind) where the hunk fits; None: nowhere."""
        pattern = hunk.old
        guess = hunk.old_start + (0 if pattern else 1) + shift
        if not pattern:
            return (guess, 0, 0) if guess - 1 <= len(lines) else None
        before, after = hunk.context()
        context = max(before, after)
        skip_before, skip_after = fuzz + before - context, fuzz + after - context
        last = len(lines) - len(pattern) + 1

        def fits(where: int, left: int, right: int) -> bool:
            body = pattern[left:len(pattern) - right]
            start = where - 1 + left
            return start >= 0 and where > frozen - left and lines[start:start + len(body)] == body
        if skip_before < 0 and hunk.old_start <= 1:
            if skip_after < 0 and len(pattern) != len(lines):
                return None
            return (1, 0, max(0, skip_after)) if fits(1, 0, max(0, skip_after)) else None
        skip_before = max(0, skip_before)
        if skip_after < 0:
            return (last, skip_before, 0) if last >= 1 and fits(last, skip_before, 0) else None
        for distance in range(max(len(lines), guess) + 1):
            for where in (guess + distance, guess - distance):
                if 1 <= where <= last + skip_after and fits(where, skip_before, skip_after):
                    return where, skip_before, skip_after
            if not distance & 0xFFF:
                self.proc.check()
        return None

    def write(self, path: str, before: bytes, applied: Applied, exists: bool, new_name: str) -> None:
        fs, proc = self.proc.fs, self.proc
        data = b"".join(applied.lines)
        mismatch = not applied.clean and "nobackup" not in self.flags
        if "b" in self.flags or mismatch and exists:
            backup = self.values.get("B", "") + path + self.values.get("z", ".orig")
            fs.write(backup, before)
        if not data and (new_name == "/dev/null" or "E" in self.flags) and not applied.failed:
            if exists:
                fs.unlink(path)
                folder = path.rpartition("/")[0]
                if folder and not fs.list(folder):
                    fs.rmdir(folder)
            return
        if not exists and "/" in path:
            from mirage.commands.mkdir import make_parents
            make_parents(proc, path.rpartition("/")[0], None, False)
        with proc.opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
            file.write(data)

    def reject(self, target: str, hunks: list[Hunk], total: int, word: str, old_name: str, new_name: str) -> None:
        self.status = max(self.status, 1)
        name = self.values.get("r", target + ".rej")
        tail = "" if "dry" in self.flags else f" -- saving rejects to file {shell_quote(name)}"
        self.say(f"{len(hunks)} out of {total} hunk{'' if total == 1 else 's'} {word}{tail}")
        if "dry" in self.flags:
            return
        out = [b"--- " + encode(old_name or target) + b"\n+++ " + encode(new_name or target) + b"\n"]
        for hunk in hunks:
            out.append(b"@@ -%s +%s @@\n" % (_range(hunk.old_start, len(hunk.old)),
                                             _range(hunk.new_start, len(hunk.new))))
            for sign, line in hunk.rows:
                out.append(sign + line + (b"" if line.endswith(b"\n") else b"\n\\ No newline at end of file\n"))
        self.proc.fs.write(self.path(name), b"".join(out))


def _range(start: int, count: int) -> bytes:
    return b"%d" % start if count == 1 else b"%d,%d" % (start, count)


def _lines(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    last = parts.pop()
    return [part + b"\n" for part in parts] + ([last] if last else [])


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    patcher = Patcher(proc, flags, dict(options))
    folder = patcher.values.get("d")
    if folder is not None and not proc.fs.is_dir(folder):
        raise patcher.fatal(f"Can't change to directory {folder} : No such file or directory")
    source = patcher.values.get("i") or (operands[1] if len(operands) > 1 else "-")
    try:
        data = read_all(proc, proc.file(0)) if source == "-" else proc.fs.read(source)
    except OSError as e:
        raise patcher.fatal(f"Can't open patch file {source} : {e.strerror}") from None
    try:
        patches = parse_patch(data)
    except Malformed as e:
        raise patcher.fatal(f"malformed patch at line {e.args[0]}: ") from None
    if not patches:
        if data.strip():
            raise patcher.fatal("Only garbage was found in the patch input.")
        return 0
    for number, patch in enumerate(patches):
        patcher.file(patch, operands[0] if operands and number == 0 else None)
    return patcher.status
