"""tar: create, list, extract and change archives (GNU tar 1.35's formats and messages)."""
from __future__ import annotations

import fnmatch
import os
import stat as st
import tarfile

from mirage.commands._archive_stream import SUFFIXES, BadStream, Reader, Writer
from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import BLOCK, decode, encode, open_input, read_all
from mirage.commands._tar_names import Transform, TransformError
from mirage.commands._text import quote
from mirage.commands._times import full_iso
from mirage.commands._users import group_name, user_name
from mirage.process.files import OpenFile
from mirage.process.process import refusal_note
from mirage.process.signals import Exit
from mirage.vfs.types import Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mirage.process.process import Process

SPEC = Spec("AcdtruxpPf:zjJaZvOkKmC:X:T:hlwWSBib:N:oUg:I:L:nHs", {
    "catenate": ("A", NONE), "concatenate": ("A", NONE), "create": ("c", NONE), "diff": ("d", NONE),
    "compare": ("d", NONE),
    "delete": ("delete", NONE), "append": ("r", NONE), "list": ("t", NONE), "update": ("u", NONE),
    "extract": ("x", NONE),
    "get": ("x", NONE), "file": ("f", REQUIRED), "gzip": ("z", NONE), "gunzip": ("z", NONE), "bzip2": ("j", NONE),
    "xz": ("J", NONE), "zstd": ("zstd", NONE), "lzma": ("lzma", NONE), "auto-compress": ("a", NONE),
    "no-auto-compress": ("noauto", NONE), "use-compress-program": ("I", REQUIRED), "verbose": ("v", NONE),
    "to-stdout": ("O", NONE), "keep-old-files": ("k", NONE), "skip-old-files": ("skip", NONE),
    "keep-newer-files": ("newer", NONE), "overwrite": ("overwrite", NONE), "unlink-first": ("U", NONE),
    "overwrite-dir": ("overwritedir", NONE), "keep-directory-symlink": ("keepdir", NONE), "touch": ("m", NONE),
    "directory": ("C", REQUIRED), "exclude": ("exclude", REQUIRED), "exclude-from": ("X", REQUIRED),
    "exclude-vcs": ("vcs", NONE), "files-from": ("T", REQUIRED), "null": ("null", NONE), "no-null": ("nonull", NONE),
    "dereference": ("h", NONE), "hard-dereference": ("hardderef", NONE), "absolute-names": ("P", NONE),
    "same-permissions": ("p", NONE), "preserve-permissions": ("p", NONE), "no-same-permissions": ("nop", NONE),
    "same-owner": ("sameowner", NONE), "no-same-owner": ("o", NONE), "strip-components": ("strip", REQUIRED),
    "transform": ("transform", REQUIRED), "xform": ("transform", REQUIRED), "wildcards": ("wildcards", NONE),
    "no-wildcards": ("nowildcards", NONE), "anchored": ("anchored", NONE), "no-anchored": ("noanchored", NONE),
    "remove-files": ("removefiles", NONE), "owner": ("owner", REQUIRED), "group": ("group", REQUIRED),
    "mode": ("mode", REQUIRED), "mtime": ("mtime", REQUIRED), "numeric-owner": ("numeric", NONE),
    "no-recursion": ("norecursion", NONE), "recursion": ("recursion", NONE), "sort": ("sort", REQUIRED),
    "format": ("format", REQUIRED), "old-archive": ("old", NONE), "posix": ("posix", NONE),
    "totals": ("totals", OPTIONAL),
    "full-time": ("fulltime", NONE), "utc": ("utc", NONE), "one-top-level": ("top", OPTIONAL),
    "show-transformed-names": ("shown", NONE), "ignore-failed-read": ("ignorefailed", NONE),
    "blocking-factor": ("b", REQUIRED), "ignore-zeros": ("i", NONE), "newer-mtime": ("N", REQUIRED),
    "warning": ("warning", REQUIRED), "no-xattrs": ("noxattrs", NONE), "xattrs": ("xattrs", NONE),
    "acls": ("acls", NONE),
    "selinux": ("selinux", NONE), "sparse": ("S", NONE), "one-file-system": ("onefs", NONE), "verify": ("W", NONE),
    "occurrence": ("occurrence", OPTIONAL), "delay-directory-restore": ("delay", NONE),
    "quoting-style": ("qs", REQUIRED)},
    help="Usage: NAME [OPTION...] [FILE]...\n"
         "GNU 'tar' saves many files together into a single tape or disk archive, and can\n"
         "restore individual files from the archive.\n", status=2, permute=False)

MODES = ("A", "c", "d", "delete", "r", "t", "u", "x")
COMPRESS = {"z": "gzip", "j": "bzip2", "J": "xz", "lzma": "lzma"}
VCS = ("CVS", "RCS", "SCCS", ".git", ".gitignore", ".gitattributes", ".gitmodules", ".cvsignore", ".svn", ".arch-ids",
       ".bzr", ".bzrignore", ".bzrtags", ".hg", ".hgignore", ".hgtags", "_darcs")
RECORD = 10240
NEEDS = "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options"


class Tar:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.flags: set[str] = set()
        self.values: dict[str, str] = {}
        self.verbose = 0
        self.mode = ""
        self.operands: list[tuple[str, str]] = []            # (directory given with -C, name)
        self.folder = ""
        self.exclude: list[str] = []
        self.transforms: list[Transform] = []
        self.kind = ""
        self.strip = 0
        self.status = 0
        self.removed_prefix: set[tuple[str, str]] = set()
        self.width = 19
        self.listing = 1

    # ---- messages

    def error(self, text: str, status: int = 2) -> None:
        self.proc.stdout.flush()
        self.proc.message(text)
        self.status = max(self.status, status)

    def os_error(self, name: str, what: str, e: OSError) -> None:
        self.error(f"{_shown(name)}: {what}: {e.strerror}")
        self.proc.write_error(refusal_note(e))

    def usage(self, text: str) -> Exit:
        self.proc.message(text)
        self.proc.write_error("Try 'tar --help' or 'tar --usage' for more information.\n")
        return Exit(2)

    def fatal(self, text: str) -> Exit:
        self.proc.stdout.flush()
        self.proc.message(text)
        self.proc.message("Error is not recoverable: exiting now")
        return Exit(2)

    def write_list(self, text: str) -> None:
        """A line of the listing: stdout, or stderr where stdout carries data."""
        if self.listing == 2:
            self.proc.write_error(text)
        else:
            self.proc.stdout.write(encode(text))

    # ---- arguments

    def parse(self) -> None:
        args = self.proc.argv[1:]
        if args and not args[0].startswith("-") and args[0]:
            args = self.old_style(args)
        while args:
            before = len(args)
            options, rest = parse(self.proc, SPEC, args)
            for key, value in options:
                self.option(key, value)
            consumed = args[:before - len(rest)]
            if consumed and consumed[-1] == "--":
                self.operands += [(self.folder, name) for name in rest]
                return
            if rest:
                self.operands.append((self.folder, rest[0]))
            args = rest[1:]

    def old_style(self, args: list[str]) -> list[str]:
        """`tar xzf a.tgz`: letters without a dash, their arguments follow in order."""
        out, rest = [], args[1:]
        for letter in args[0]:
            if SPEC.short.get(letter) == REQUIRED:
                if not rest:
                    raise self.usage(f"Old option '{letter}' requires an argument.")
                out += [f"-{letter}", rest.pop(0)]
            else:
                out.append(f"-{letter}")
        return out + rest

    def option(self, key: str, value: str) -> None:
        if key in MODES:
            if self.mode and self.mode != key:
                raise self.usage("You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option")
            self.mode = key
        elif key == "v":
            self.verbose += 1
        elif key == "C":
            self.folder = value if value.startswith("/") or not self.folder else f"{self.folder}/{value}"
        elif key == "exclude":
            self.exclude.append(value)
        elif key == "X":
            self.exclude += self.lines(value)
        elif key == "vcs":
            self.exclude += VCS
        elif key == "T":
            self.operands += [(self.folder, name) for name in self.lines(value, "null" in self.flags)]
            self.flags.add("T")
        elif key == "transform":
            try:
                self.transforms += Transform.parse(value)
            except TransformError as e:
                raise self.usage(str(e)) from None
        elif key == "strip":
            if not value.isdecimal():
                raise self.usage(f"{value}: Invalid number of elements")
            self.strip = int(value)
        elif key in COMPRESS:
            self.kind = COMPRESS[key]
        elif key == "I":
            program = value.split()[0] if value.split() else ""
            if program not in ("gzip", "bzip2", "xz", "pigz", "lzma"):
                raise self.fatal(f"{value}: Cannot exec: No such file or directory")
            self.kind = "gzip" if program == "pigz" else program
        elif key == "zstd":
            raise self.fatal("zstd: Cannot exec: No such file or directory")
        else:
            self.values[key] = value
        self.flags.add(key)

    def lines(self, name: str, null: bool = False) -> list[str]:
        try:
            file = open_input(self.proc, name).incref()
            try:
                data = read_all(self.proc, file)
            finally:
                file.decref()
        except OSError as e:
            raise self.fatal(f"{name}: Cannot open: {e.strerror}") from None
        return [decode(line) for line in data.split(b"\0" if null else b"\n") if line]

    @property
    def archive(self) -> str:
        return self.values.get("f", "-")

    # ---- names

    def excluded(self, name: str) -> bool:
        name = name.rstrip("/")
        for pattern in self.exclude:
            pattern = pattern.rstrip("/") or pattern
            if fnmatch.fnmatchcase(name, pattern):
                return True
            if "anchored" in self.flags:
                continue
            at = name.find("/")
            while at >= 0:
                if fnmatch.fnmatchcase(name[at + 1:], pattern):
                    return True
                at = name.find("/", at + 1)
        return False

    def safer(self, name: str, what: str = "member names") -> str:
        """Without a leading slash (said once); with -P as it is."""
        if "P" in self.flags:
            return name
        stripped = name.lstrip("/")
        prefix = name[:len(name) - len(stripped)]
        parts = stripped.split("/")
        if ".." in parts:
            last = len(parts) - 1 - parts[::-1].index("..")
            prefix += "/".join(parts[:last + 1]) + "/"
            stripped = "/".join(parts[last + 1:])
        if prefix and (prefix, what) not in self.removed_prefix:
            self.removed_prefix.add((prefix, what))
            self.proc.stdout.flush()
            self.proc.message(f"Removing leading `{prefix}' from {what}")
        return stripped or "."

    def transformed(self, name: str, kind: str = "r") -> str:
        for transform in self.transforms:
            name = transform.apply(name, kind)
        return name

    # ---- listing

    def show(self, info: tarfile.TarInfo, name: str, long: bool) -> None:
        shown = name + "/" if info.isdir() and not name.endswith("/") else name
        if not long:
            self.write_list(f"{_shown(shown)}\n")
            return
        kind = {tarfile.DIRTYPE: st.S_IFDIR, tarfile.SYMTYPE: st.S_IFLNK, tarfile.FIFOTYPE: st.S_IFIFO,
                tarfile.CHRTYPE: st.S_IFCHR, tarfile.BLKTYPE: st.S_IFBLK}.get(info.type, st.S_IFREG)
        mode = st.filemode(kind | info.mode & 0o7777)
        if info.islnk():
            mode = "h" + mode[1:]
        numeric = "numeric" in self.flags
        user = str(info.uid) if numeric or not info.uname else info.uname
        group = str(info.gid) if numeric or not info.gname else info.gname
        size = str(info.size if info.isreg() else 0)
        pad = len(user) + len(group) + len(size) + 2
        self.width = max(self.width, pad)
        when = full_iso(self.proc, int(info.mtime) * 10**9)
        when = when[:19] if "fulltime" in self.flags else when[:16]
        tail = ""
        if info.issym():
            tail = f" -> {_shown(info.linkname)}"
        elif info.islnk():
            tail = f" link to {_shown(info.linkname)}"
        self.write_list(f"{mode} {user}/{group} {size:>{self.width - pad + len(size)}} {when} {_shown(shown)}{tail}\n")

    # ---- reading

    def open_archive(self) -> OpenFile:
        name = self.archive
        try:
            return open_input(self.proc, name).incref()
        except OSError as e:
            if isinstance(e, IsADirectoryError):
                self.proc.message(f"{name}: Cannot read: Is a directory")
                self.proc.message("At beginning of tape, quitting now")
                self.proc.message("Error is not recoverable: exiting now")
                raise Exit(2) from None
            self.proc.fail(f"{name}: Cannot open", e)
            self.proc.message("Error is not recoverable: exiting now")
            raise Exit(2) from None

    def members(self, file: OpenFile) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
        """The members of the archive, one after the other, as they stream in."""
        reader = Reader(self.proc, file, None)
        wrong = {"gzip": "gzip", "bzip2": "bzip2", "xz": "xz"}.get(self.kind)
        if wrong and reader.kind != self.kind:
            self.proc.write_error(f"\n{wrong}: stdin: not in {wrong} format\n" if wrong == "gzip" else
                                  f"{wrong}: (stdin): File format not recognized\n")
            self.proc.message("Child returned status 1")
            self.proc.message("Error is not recoverable: exiting now")
            raise Exit(2)
        first = reader.read(512)
        if not first.strip(b"\0"):
            if len(first) < 512:
                self.error("This does not look like a tar archive")
                self.ending()
            return
        reader.buffer = first + reader.buffer
        reader.position -= len(first)
        try:
            stream: Any = reader                             # of a file, only read() is needed
            tar: Any = tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape",
                                    ignore_zeros="i" in self.flags)
            while (info := tar.next()) is not None:
                yield tar, info
                tar.members = []
                self.proc.check()
        except tarfile.ReadError as e:
            if "unexpected end" in str(e):
                self.error("Unexpected EOF in archive")
                self.proc.message("Error is not recoverable: exiting now")
                raise Exit(2) from None
            self.error("This does not look like a tar archive")
            self.ending()
        except (BadStream, tarfile.TarError, EOFError, ValueError):
            if reader.kind:
                self.proc.write_error(f"\n{reader.kind}: stdin: unexpected end of file\n")
            self.error("Unexpected EOF in archive")
            self.proc.message("Error is not recoverable: exiting now")
            raise Exit(2) from None

    def ending(self) -> None:
        self.proc.message("Exiting with failure status due to previous errors")
        raise Exit(2)

    def wanted(self, name: str, found: set[str]) -> bool:
        """Is a member among the operands (itself or below one)?"""
        if self.exclude and any(self.excluded(part) for part in _prefixes(name.rstrip("/"))):
            return False
        if not self.operands:
            return True
        plain = name.rstrip("/")
        for _, operand in self.operands:
            target = operand.rstrip("/") or operand
            if "wildcards" in self.flags:
                hit = any(fnmatch.fnmatchcase(part, target) for part in _prefixes(plain))
            else:
                hit = plain == target or plain.startswith(target + "/")
            if hit:
                found.add(operand)
                return True
        return False

    def report_missing(self, found: set[str]) -> None:
        missing = [operand for _, operand in self.operands if operand not in found]
        if any(c in name for name in missing for c in "*?[") and not self.flags & {"wildcards", "nowildcards"}:
            self.proc.stdout.flush()
            self.proc.message("Pattern matching characters used in file names")
            self.proc.message("Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning")
        for name in missing:
            self.error(f"{_shown(name)}: Not found in archive")

    def list_members(self) -> None:
        file = self.open_archive()
        found: set[str] = set()
        try:
            for _, info in self.members(file):
                if self.wanted(info.name, found):
                    name = self.transformed(info.name) if "shown" in self.flags else info.name
                    self.show(info, name, self.verbose > 0)
        finally:
            file.decref()
        self.report_missing(found)

    def run(self) -> int:
        self.parse()
        if not self.mode:
            raise self.usage(NEEDS)
        if "f" not in self.values and "TAPE" in self.proc.env:
            self.values["f"] = self.proc.env["TAPE"]
        if self.mode == "t":
            self.list_members()
        elif self.mode in ("x", "d"):
            from mirage.commands._tar_extract import compare, extract
            (extract if self.mode == "x" else compare)(self)
        elif self.mode == "c":
            create(self)
        else:
            change(self)
        if self.status:
            self.proc.stdout.flush()
            if self.status >= 2:
                self.proc.message("Exiting with failure status due to previous errors")
        return self.status


def _prefixes(name: str) -> Iterator[str]:
    """The name and the directories above it."""
    yield name
    while "/" in name:
        name = name.rpartition("/")[0]
        if name:
            yield name


def _shown(name: str) -> str:
    """GNU tar's escape quoting."""
    if name.isprintable() and "\\" not in name:
        return name
    from mirage.commands._text import c_escape
    return c_escape(name, "")


# ---- writing


class Creator:
    """Writes members to an archive stream."""

    def __init__(self, tar: Tar, out: Writer, archive: tuple[int, int] | None) -> None:
        self.tar = tar
        self.out = out
        self.archive = archive
        self.links: dict[tuple[int, int], str] = {}
        self.newest: dict[str, int] | None = None
        self.removable: list[tuple[str, bool]] = []
        v = tar.values
        form = v.get("format", "gnu")
        self.format: Any = tarfile.PAX_FORMAT if form in ("pax", "posix") or "posix" in tar.flags else \
            tarfile.USTAR_FORMAT if form in ("ustar", "v7") else tarfile.GNU_FORMAT

    def operand(self, folder: str, name: str) -> None:
        path = name if name.startswith("/") or not folder else f"{folder.rstrip('/')}/{name}"
        stack = [(path, name, True)]
        while stack:
            here, member, top = stack.pop()
            children = self.add(here, member, top)
            stack.extend((f"{here.rstrip('/')}/{child}", f"{member.rstrip('/')}/{child}", False)
                         for child in reversed(children))
            self.tar.proc.check()

    def add(self, path: str, name: str, top: bool) -> list[str]:
        """One file; the names in it where it is a directory to go into."""
        tar, fs = self.tar, self.tar.proc.fs
        if tar.excluded(name):
            return []
        try:
            stat = fs.stat(path, "h" in tar.flags)
        except OSError as e:
            if "ignorefailed" in tar.flags:
                tar.proc.message(f"{_shown(name)}: Warning: Cannot stat: {e.strerror}")
            else:
                tar.os_error(name, "Cannot stat", e)
            return []
        if self.archive is not None and stat.identity == self.archive and stat.ino:
            tar.error(f"{_shown(name)}: archive cannot contain itself; not dumped", 0)
            return []
        children: list[str] = []
        if stat.is_dir and "norecursion" not in tar.flags:
            try:
                children = [entry.name for entry in fs.list(path)]
            except OSError as e:
                tar.os_error(name, "Cannot open", e)
                return []
            if tar.values.get("sort") == "name":
                children.sort(key=encode)
        info = self.info(path, name, stat)
        if info is None:
            return children
        if self.newest is not None and self.newest.get(info.name.rstrip("/"), -1) >= info.mtime and not stat.is_dir:
            return []
        if self.newest is not None and stat.is_dir and info.name.rstrip("/") in self.newest:
            return children
        if not self.dump(path, name, info):
            return []
        if tar.verbose:
            shown = info.name if "shown" in tar.flags else name
            if tar.verbose > 1:
                tar.show(info, shown, True)
            else:
                tar.show(info, shown.rstrip("/") or shown, False)
        if "removefiles" in tar.flags:
            self.removable.append((path, stat.is_dir))
        return children

    def info(self, path: str, name: str, stat: Stat) -> tarfile.TarInfo | None:
        tar, proc = self.tar, self.tar.proc
        member = tar.safer(name)
        info = tarfile.TarInfo(tar.transformed(member.rstrip("/") or member))
        info.mode = stat.mode & 0o7777
        info.uid, info.gid = stat.uid, stat.gid
        info.uname, info.gname = user_name(proc, stat.uid), group_name(proc, stat.gid)
        info.mtime = stat.mtime_ns // 10**9
        if stat.is_dir:
            info.type = tarfile.DIRTYPE
            info.name = info.name.rstrip("/") + "/"
        elif stat.is_link:
            info.type = tarfile.SYMTYPE
            info.linkname = tar.transformed(proc.fs.readlink(path), "s")
        elif stat.is_fifo:
            info.type = tarfile.FIFOTYPE
        elif stat.is_char:
            info.type = tarfile.CHRTYPE
            info.devmajor, info.devminor = stat.rdev >> 8 & 0xFFF, stat.rdev & 0xFF
        elif not stat.is_file:
            tar.error(f"{_shown(name)}: socket ignored", 0)
            return None
        elif stat.nlink > 1 and stat.ino and "hardderef" not in tar.flags:
            first = self.links.setdefault(stat.identity, info.name)
            if first != info.name:
                info.type = tarfile.LNKTYPE
                info.linkname = tar.safer(first, "hard link targets")
        self.override(info, stat)
        return info

    def override(self, info: tarfile.TarInfo, stat: Stat) -> None:
        """--owner, --group, --mode, --mtime."""
        tar, proc, v = self.tar, self.tar.proc, self.tar.values
        from mirage.commands._users import group_id, user_id
        if "owner" in v:
            name, _, number = v["owner"].partition(":")
            uid = int(number) if number.isdecimal() else user_id(proc, name.lstrip("+"))
            if uid is None:
                raise tar.fatal(f"Invalid owner: {quote(proc, name)}")
            info.uid, info.uname = uid, "" if name.lstrip("+").isdecimal() and not number else name
        if "group" in v:
            name, _, number = v["group"].partition(":")
            gid = int(number) if number.isdecimal() else group_id(proc, name.lstrip("+"))
            if gid is None:
                raise tar.fatal(f"Invalid group: {quote(proc, name)}")
            info.gid, info.gname = gid, "" if name.lstrip("+").isdecimal() and not number else name
        if "numeric" in tar.flags:
            info.uname = info.gname = ""
        if "mode" in v:
            from mirage.commands._mode import Mode
            try:
                info.mode = Mode(v["mode"]).apply(info.mode, stat.is_dir, proc.umask)
            except ValueError:
                raise tar.fatal("Invalid mode given on option") from None
        if "mtime" in v:
            from mirage.commands._times import zone
            from mirage.text import dates
            try:
                if v["mtime"].startswith(("/", ".")):
                    info.mtime = proc.fs.stat(v["mtime"]).mtime_ns // 10**9
                else:
                    info.mtime = dates.parse(v["mtime"], int(proc.now() * 1e9), zone(proc)) // 10**9
            except (ValueError, OSError):
                raise tar.fatal(f"Invalid mtime: {v['mtime']}") from None

    def dump(self, path: str, name: str, info: tarfile.TarInfo) -> bool:
        tar, proc = self.tar, self.tar.proc
        if not info.isreg():
            self.header(info)
            return True
        try:
            file = proc.open(path).incref()
        except OSError as e:
            tar.os_error(name, "Cannot open", e)
            return False
        try:
            size = file.stat().size
            data = b""
            if size is None:
                data = read_all(proc, file)
                size = len(data)
            info.size = size
            self.header(info)
            left = size
            while left > 0:
                piece = data or file.read(min(BLOCK, left))
                data = b""
                if not piece:
                    tar.error(f"{_shown(name)}: File shrank by {left} bytes; padding with zeros", 1)
                    piece = b"\0" * min(left, BLOCK)
                self.out.write(piece[:left])
                left -= len(piece)
            if size % 512:
                self.out.write(b"\0" * (512 - size % 512))
        finally:
            file.decref()
        return True

    def header(self, info: tarfile.TarInfo) -> None:
        try:
            self.out.write(info.tobuf(self.format, "utf-8", "surrogateescape"))
        except ValueError as e:
            self.tar.error(f"{_shown(info.name)}: {e}")

    def finish(self) -> None:
        self.out.write(b"\0" * 1024)
        rest = self.out.size % RECORD
        if rest:
            self.out.write(b"\0" * (RECORD - rest))
        self.out.finish()
        for path, is_dir in reversed(self.removable):
            try:
                (self.tar.proc.fs.rmdir if is_dir else self.tar.proc.fs.unlink)(path)
            except OSError as e:
                self.tar.os_error(path, "Cannot rmdir" if is_dir else "Cannot unlink", e)


def create(tar: Tar) -> None:
    proc = tar.proc
    if not tar.operands and "T" not in tar.flags:
        raise tar.usage("Cowardly refusing to create an empty archive")
    kind, name = tar.kind, tar.archive
    if not kind and "a" in tar.flags:
        kind = SUFFIXES.get(name.rpartition(".")[2], "")
    archive: tuple[int, int] | None = None
    if name == "-":
        file = proc.file(1).incref()
        tar.listing = 2
        if file.isatty():
            raise tar.fatal("Refusing to write archive contents to terminal (missing -f option?)")
    else:
        try:
            file = proc.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC).incref()
            archive = file.stat().identity
        except OSError as e:
            tar.proc.message(f"{name}: Cannot open: {e.strerror}")
            proc.write_error(refusal_note(e))
            tar.proc.message("Error is not recoverable: exiting now")
            raise Exit(2) from None
    try:
        creator = Creator(tar, Writer(proc, file, kind), archive)
        for folder, operand in tar.operands:
            creator.operand(folder, operand)
        creator.finish()
    finally:
        file.decref()


def change(tar: Tar) -> None:
    """-r, -u, -A and --delete on an existing, uncompressed archive."""
    import io

    proc, name = tar.proc, tar.archive
    if name == "-":
        raise tar.usage("Options '-Aru' are incompatible with '-f -'")
    if tar.kind:
        raise tar.usage("Cannot update compressed archives")
    try:
        data = proc.fs.read(name) if proc.fs.exists(name) or tar.mode in ("A", "delete") else b""
    except OSError as e:
        raise tar.fatal(f"{name}: Cannot open: {e.strerror}") from None
    kept: list[tuple[int, int, tarfile.TarInfo]] = []
    try:
        if data.strip(b"\0"):
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:", encoding="utf-8", errors="surrogateescape") as old:
                start = 0
                for info in old:
                    end = info.offset_data + (-(-info.size // 512) * 512 if info.isreg() else 0)
                    kept.append((start, end, info))
                    start = end
    except tarfile.TarError:
        if data[:2] in (b"\x1f\x8b", b"BZ", b"\xfd7"):
            raise tar.fatal("Cannot update compressed archives") from None
        raise tar.fatal("This does not look like a tar archive") from None
    found: set[str] = set()
    if tar.mode == "delete":
        kept = [item for item in kept if not (tar.operands and tar.wanted(item[2].name, found))]
        tar.report_missing(found)
    file = proc.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC).incref()
    try:
        creator = Creator(tar, Writer(proc, file, ""), file.stat().identity)
        for start, end, _ in kept:
            creator.out.write(data[start:end])
        if tar.mode == "u":
            creator.newest = {info.name.rstrip("/"): int(info.mtime) for _, _, info in kept}
        for folder, operand in tar.operands if tar.mode in ("r", "u") else ():
            creator.operand(folder, operand)
        if tar.mode == "A":
            for _, operand in tar.operands:
                creator.out.write(_body(proc.fs.read(operand)))
        creator.finish()
    finally:
        file.decref()


def _body(data: bytes) -> bytes:
    """An archive without its end blocks."""
    import io
    end = 0
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        for info in tar:
            end = info.offset_data + (-(-info.size // 512) * 512 if info.isreg() else 0)
    return data[:end]


def main(proc: Process) -> int:
    return Tar(proc).run()
