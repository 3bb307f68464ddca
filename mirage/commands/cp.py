"""cp: copy files and directories."""
from __future__ import annotations

from mirage.commands._backup import Backup
from mirage.commands._copy import Copier, join
from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._same_file import same_name
from mirage.commands._text import choice, fatal, shell_quote
from mirage.commands.basename import base_name
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("abdfHilLnprst:uvxPRS:TZ", {
    "archive": ("a", NONE), "attributes-only": ("attributes", NONE), "backup": ("backup", OPTIONAL),
    "copy-contents": ("contents", NONE), "debug": ("debug", NONE), "dereference": ("L", NONE), "force": ("f", NONE),
    "interactive": ("i", NONE), "link": ("l", NONE), "no-clobber": ("n", NONE), "no-dereference": ("P", NONE),
    "no-preserve": ("nopreserve", REQUIRED), "no-target-directory": ("T", NONE), "one-file-system": ("x", NONE),
    "parents": ("parents", NONE), "preserve": ("preserve", OPTIONAL), "recursive": ("r", NONE),
    "reflink": ("reflink", OPTIONAL), "remove-destination": ("remove", NONE), "sparse": ("sparse", REQUIRED),
    "strip-trailing-slashes": ("strip", NONE), "suffix": ("S", REQUIRED), "symbolic-link": ("s", NONE),
    "target-directory": ("t", REQUIRED), "update": ("update", OPTIONAL), "verbose": ("v", NONE),
    "keep-directory-symlink": ("keep", NONE), "context": ("Z", OPTIONAL)},
    help="Usage: NAME [OPTION]... [-T] SOURCE DEST\n  or:  NAME [OPTION]... SOURCE... DIRECTORY\n"
         "  or:  NAME [OPTION]... -t DIRECTORY SOURCE...\nCopy SOURCE to DEST, or multiple SOURCE(s) to DIRECTORY.\n")

PRESERVE = (("mode",), ("timestamps",), ("ownership",), ("links",), ("context",), ("xattr",), ("all",))
UPDATES = (("all",), ("none",), ("none-fail",), ("older",))


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    copier = Copier(proc)
    flags: set[str] = set()
    target_folder: str | None = None
    for key, value in options:
        flags.add(key)
        if key == "t":
            if target_folder is not None:
                raise fatal(proc, "multiple target directories specified")
            target_folder = value
        else:
            _option(proc, copier, key, value)
    copier.backup = Backup.from_options(proc, SPEC, options)
    if copier.hard_link and copier.symbolic_link:
        raise usage_error(proc, SPEC, "cannot make both hard and symbolic links")
    if copier.no_clobber and copier.backup.kind and "n" in flags:
        raise usage_error(proc, SPEC, "--backup is mutually exclusive with -n or --update=none-fail")
    if not copier.dereference:
        copier.dereference = "P" if copier.recursive and not copier.hard_link else "L"
    if copier.recursive and copier.dereference == "P" and "links" in copier.preserve:
        copier.dereference = "P"
    if "strip" in flags:
        operands = [o.rstrip("/") or o for o in operands]
    _run(proc, copier, operands, target_folder, "T" in flags, "parents" in flags)
    return copier.status


def _option(proc: Process, copier: Copier, key: str, value: str) -> None:
    if key == "a":
        copier.recursive, copier.dereference = True, "P"
        copier.preserve |= {"mode", "ownership", "timestamps", "links"}
    elif key == "d":
        copier.dereference = "P"
        copier.preserve.add("links")
    elif key in "HLP":
        copier.dereference = key
    elif key == "p":
        copier.preserve |= {"mode", "ownership", "timestamps"}
    elif key in ("preserve", "nopreserve"):
        option = "--preserve" if key == "preserve" else "--no-preserve"
        names = [choice(proc, SPEC, option, word, PRESERVE) for word in value.split(",")] if value \
            else ["mode", "ownership", "timestamps"]
        chosen = set(names)
        if "all" in chosen:
            chosen = {"mode", "ownership", "timestamps", "links"}
        if key == "preserve":
            copier.preserve |= chosen
        else:
            copier.preserve -= chosen
            copier.no_preserve_mode = copier.no_preserve_mode or "mode" in chosen
    elif key in "rR":
        copier.recursive = True
    elif key == "i":
        copier.interactive, copier.no_clobber = True, ""
    elif key == "n":
        copier.interactive, copier.no_clobber = False, "skip"
    elif key == "f":
        copier.force = True
    elif key in ("u", "update"):
        word = choice(proc, SPEC, "--update", value, UPDATES) if value else "older"
        copier.update = word == "older"
        copier.no_clobber = {"none": "skip", "none-fail": "fail"}.get(word, "")
    elif key in ("sparse", "reflink") and value:
        words = (("never",), ("auto",), ("always",)) if key == "sparse" else (("auto",), ("always",), ("never",))
        choice(proc, SPEC, f"--{key}", value, words)
    else:
        name = {"l": "hard_link", "s": "symbolic_link", "v": "verbose", "debug": "debug",
                "attributes": "attributes_only", "remove": "remove_destination"}.get(key)
        if name:
            setattr(copier, name, True)


def _run(proc: Process, copier: Copier, operands: list[str], folder: str | None, no_folder: bool,
         parents: bool) -> None:
    sources, target, folder = split_operands(proc, operands, folder, no_folder)
    if folder is None:
        if parents:
            raise usage_error(proc, SPEC, "with --parents, the destination must be a directory")
        assert target is not None
        if copier.force and copier.backup.kind and sources[0] == target and proc.fs.is_file(target):
            target, copier.backup = copier.backup.name(proc, target), Backup()
        copier.copy(sources[0], target)
        return
    made: set[str] = set()
    for number, source in enumerate(sources):
        name = base_name(source)
        if parents:
            place = _with_parents(proc, copier, source, folder)
            if place is None:
                continue
        else:
            place = folder if name == ".." else join(folder, name)
        if place in made and copier.backup.kind != "numbered":
            if not copier.backup.kind and any(same_name(proc.fs, source, earlier) for earlier in sources[:number]):
                proc.stdout.flush()
                kind = "directory" if proc.fs.is_dir(source) else "file"
                proc.message(f"warning: source {kind} {shell_quote(source, True)} specified more than once")
            else:
                copier.error(f"will not overwrite just-created {shell_quote(place, True)} with "
                             f"{shell_quote(source, True)}")
            continue
        if copier.copy(source, place) and not parents:
            made.add(place)


def split_operands(proc: Process, operands: list[str], folder: str | None,
                   no_folder: bool) -> tuple[list[str], str | None, str | None]:
    """(sources, target, None) for one file onto a name, (sources, None, directory) for files into a directory."""
    if not operands:
        raise usage_error(proc, SPEC, "missing file operand")
    if folder is None and len(operands) == 1:
        raise usage_error(proc, SPEC, f"missing destination file operand after {shell_quote(operands[0], True)}")
    if no_folder:
        if folder is not None:
            raise fatal(proc, "cannot combine --target-directory (-t) and --no-target-directory (-T)")
        if len(operands) > 2:
            raise usage_error(proc, SPEC, f"extra operand {shell_quote(operands[2], True)}")
        return operands[:1], operands[1], None
    if folder is not None:
        check_directory(proc, folder, "target directory ")
        return operands, None, folder
    last = operands[-1]
    if proc.fs.is_dir(last):
        return operands[:-1], None, last
    if len(operands) == 2:
        return operands[:1], last, None
    check_directory(proc, last, "target ")
    return operands[:-1], None, last


def check_directory(proc: Process, path: str, what: str, unreadable: str = "") -> None:
    """Fatal unless `path` is a directory; `unreadable` stands for `what` when it cannot be looked at."""
    reason, note = "Not a directory", ""
    try:
        if proc.fs.stat(path).is_dir:
            return
    except OSError as e:
        reason, note, what = e.strerror or "", refusal_note(e), unreadable or what
    proc.message(f"{what}{shell_quote(path, True)}: {reason}")
    proc.write_error(note)
    raise Exit(1)


def _with_parents(proc: Process, copier: Copier, source: str, folder: str) -> str | None:
    """--parents: make the directories of `source` below `folder`; the full target name."""
    relative = source.lstrip("/")
    parts = relative.rstrip("/").split("/")[:-1]
    at, original = folder, "/" if source.startswith("/") else ""
    for part in parts:
        at = join(at, part)
        original = join(original, part) if original else part
        try:
            stat = proc.fs.stat(original)
            if not proc.fs.exists(at):
                proc.fs.mkdir(at, stat.mode & 0o777)
                if copier.verbose:
                    text = f"{original} -> {at}\n"
                    proc.stdout.write(text.encode("utf-8", "surrogateescape"))
                if copier.preserve:
                    copier.attributes(original, at, stat)
        except OSError as e:
            copier.error(f"failed to get attributes of {shell_quote(original, True)}", e)
            return None
    return join(folder, relative.rstrip("/"))
