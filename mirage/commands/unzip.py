"""unzip: list, test and extract zip archives (Info-ZIP 6.00)."""
from __future__ import annotations

import fnmatch
import io
import os
import stat as st
import zipfile
import zlib

from mirage.commands._io import encode
from mirage.commands.zip import is_link, mtime_of
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

USAGE = """UnZip 6.00 of 20 April 2009, by Debian. Original by Info-ZIP.

Usage: unzip [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]
  Default action is to extract files in list, except those in xlist, to exdir;
  file[.zip] may be a wildcard.  -Z => ZipInfo mode ("unzip -Z" for usage).

  -p  extract files to pipe, no messages     -l  list files (short format)
  -f  freshen existing files, create none    -t  test compressed archive data
  -u  update files, create if necessary      -z  display archive comment only
  -v  list verbosely/show version info       -T  timestamp archive to latest
  -x  exclude files that follow (in xlist)   -d  extract files into exdir
modifiers:
  -n  never overwrite existing files         -q  quiet mode (-qq => quieter)
  -o  overwrite files WITHOUT prompting      -a  auto-convert any text files
  -j  junk paths (do not make directories)   -aa treat ALL files as text
  -U  use escapes for all non-ASCII Unicode  -UU ignore any Unicode fields
  -C  match filenames case-insensitively     -L  make (some) names lowercase
  -X  restore UID/GID info                   -V  retain VMS version numbers
  -K  keep setuid/setgid/tacky permissions   -M  pipe through "more" pager
See "unzip -hh" or unzip.txt for more help.  Examples:
  unzip data1 -x joe   => extract all files except joe from zipfile data1.zip
  unzip -p foo | more  => send contents of foo.zip via pipe into program more
  unzip -fo foo ReadMe => quietly replace existing ReadMe if archive file newer
"""
LETTERS = set("plftuzvTnqoajUCLXVKMDc:^Z1h")


class Unzip:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.flags: list[str] = []
        self.folder = ""
        self.archive = ""
        self.patterns: list[str] = []
        self.exclude: list[str] = []
        self.status = 0
        self.answer = ""

    def quiet(self) -> int:
        return self.flags.count("q")

    def write(self, text: str) -> None:
        self.proc.stdout.write(encode(text))

    def error(self, text: str) -> None:
        self.proc.stdout.flush()
        self.proc.write_error(text)

    def parse(self) -> None:
        args = self.proc.argv[1:]
        if self.proc.name == "zipinfo":
            self.flags.append("Z")
        into: list[str] | None = None
        i = 0
        while i < len(args):
            arg = args[i]
            i += 1
            if arg.startswith("-") and len(arg) > 1:
                into = None
                letters = arg[1:]
                for number, letter in enumerate(letters):
                    if letter == "d":
                        rest = letters[number + 1:]
                        if not rest:
                            if i >= len(args):
                                self.error("error:  must specify directory to which to extract with -d option\n")
                                raise Exit(10)
                            rest = args[i]
                            i += 1
                        self.folder = rest
                        break
                    if letter == "x":
                        into = self.exclude
                    elif letter in LETTERS:
                        self.flags.append(letter)
                    else:
                        self.error(USAGE)
                        raise Exit(10)
            elif into is not None:
                into.append(arg)
            elif not self.archive:
                self.archive = arg
            else:
                self.patterns.append(arg)

    def open(self) -> zipfile.ZipFile:
        proc, name = self.proc, self.archive
        for path in (name, name + ".zip", name + ".ZIP"):
            if not proc.fs.is_file(path):
                continue
            self.archive = path
            try:
                data = proc.fs.read(path)
                return zipfile.ZipFile(io.BytesIO(data))
            except OSError as e:
                self.error(f"error:  cannot open zipfile [ {path} ]\n        {e.strerror}\n{refusal_note(e)}")
                raise Exit(9) from None
            except (zipfile.BadZipFile, ValueError):
                if self.quiet() < 2 and "Z" not in self.flags:
                    self.write(f"Archive:  {path}\n")
                if "Z" in self.flags:
                    self.write("")
                self.error("  End-of-central-directory signature not found.  Either this file is not\n"
                           "  a zipfile, or it constitutes one disk of a multi-part archive.  In the\n"
                           "  latter case the central directory and zipfile comment will be found on\n"
                           "  the last disk(s) of this archive.\n"
                           f"unzip:  cannot find zipfile directory in one of {path} or\n"
                           f"        {path}.zip, and cannot find {path}.ZIP, period.\n")
                raise Exit(9) from None
        self.error(f"unzip:  cannot find or open {name}, {name}.zip or {name}.ZIP.\n")
        raise Exit(9)

    def chosen(self, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
        fold = "C" in self.flags
        used: set[str] = set()
        out = []

        def hit(name: str, pattern: str) -> bool:
            return fnmatch.fnmatchcase(name.lower(), pattern.lower()) if fold else fnmatch.fnmatchcase(name, pattern)
        for info in archive.infolist():
            name = info.filename
            if self.patterns:
                found = [p for p in self.patterns if hit(name, p)]
                used.update(found)
                if not found:
                    continue
            if not any(hit(name, p) for p in self.exclude):
                out.append(info)
        self.unmatched = [p for p in self.patterns if p not in used]
        return out

    def run(self) -> int:
        self.parse()
        if not self.archive:
            if self.flags and "h" not in self.flags:
                self.error(USAGE)
                return 10
            self.write(USAGE)
            return 0
        with self.open() as archive:
            members = self.chosen(archive)
            if "Z" in self.flags:
                self.zipinfo(archive, members)
            else:
                if not self.quiet() and not {"p"} & set(self.flags) or self.quiet() == 1 and "v" in self.flags:
                    self.write(f"Archive:  {self.archive}\n")
                if "v" in self.flags:
                    self.verbose(members)
                elif "l" in self.flags:
                    self.short_list(members)
                elif "t" in self.flags:
                    self.test(archive, members)
                else:
                    self.extract(archive, members)
        for pattern in self.unmatched:
            self.error(f"caution: filename not matched:  {pattern}\n")
            self.status = max(self.status, 11)
        return self.status

    # ---- listings

    def short_list(self, members: list[zipfile.ZipInfo]) -> None:
        if self.quiet() < 2:
            self.write("  Length      Date    Time    Name\n---------  ---------- -----   ----\n")
        for info in members:
            self.write(f"{info.file_size:9d}  {_date(info)}   {info.filename}\n")
        if self.quiet() < 2:
            total = sum(i.file_size for i in members)
            files = f"{len(members)} file{'' if len(members) == 1 else 's'}"
            self.write(f"---------                     -------\n{total:9d}                     {files}\n")

    def verbose(self, members: list[zipfile.ZipInfo]) -> None:
        self.write(" Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n"
                   "--------  ------  ------- ---- ---------- ----- --------  ----\n")
        for info in members:
            method = {0: "Stored", 8: "Defl:N", 12: "BZip2", 14: "LZMA"}.get(info.compress_type, "Unk")
            self.write(f"{info.file_size:8d}  {method:<6}{info.compress_size:9d}"
                       f"{_ratio(info.file_size, info.compress_size):4d}% {_date(info)} {info.CRC:08x}  "
                       f"{info.filename}\n")
        total, packed = sum(i.file_size for i in members), sum(i.compress_size for i in members)
        files = f"{len(members)} file{'' if len(members) == 1 else 's'}"
        self.write(f"--------          -------  ---                            -------\n"
                   f"{total:8d}{packed:17d}{_ratio(total, packed):4d}%                            {files}\n")

    def zipinfo(self, archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> None:
        if "1" in self.flags:
            for info in members:
                self.write(info.filename + "\n")
            return
        size = self.proc.fs.stat(self.archive).size
        self.write(f"Archive:  {self.archive}\nZip file size: {size} bytes, number of entries: "
                   f"{len(archive.infolist())}\n")
        for info in members:
            mode = st.filemode(info.external_attr >> 16) if info.external_attr >> 16 else "-rw----"
            method = {0: "stor", 8: "defN"}.get(info.compress_type, "unk:")
            y, mo, d, h, mi, _ = info.date_time
            month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[mo - 1]
            self.write(f"{mode:<10}  {info.create_version / 10:.1f} unx {info.file_size:8d} bx {method} "
                       f"{y % 100:02d}-{month}-{d:02d} {h:02d}:{mi:02d} {info.filename}\n")
        total, packed = sum(i.file_size for i in members), sum(i.compress_size for i in members)
        ratio = 100 * (total - packed) / total if total else 0
        files = f"{len(members)} file{'' if len(members) == 1 else 's'}"
        self.write(f"{files}, {total} bytes uncompressed, {packed} bytes compressed:  {ratio:.1f}%\n")

    # ---- contents

    def data(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes | None:
        if info.flag_bits & 1:
            self.error(f"   skipping: {info.filename:<22}  unable to get password\n")
            self.status = max(self.status, 82)
            return None
        self.proc.kernel.fits(info.file_size)
        self.proc.check()
        try:
            return archive.read(info)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as e:
            text = "bad CRC" if "CRC" in str(e) else "invalid compressed data"
            self.error(f"  error:  {text} {info.filename}\n")
            self.status = max(self.status, 2)
            return None

    def test(self, archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> None:
        bad = 0
        for info in members:
            if not self.quiet():
                self.write(f"    testing: {info.filename:<22} ")
            good = self.data(archive, info) is not None
            bad += not good
            if good and not self.quiet():
                self.write("  OK\n")
        if self.quiet() < 2:
            if bad:
                self.write(f"At least one error was detected in {self.archive}.\n")
            else:
                self.write(f"No errors detected in compressed data of {self.archive}.\n")

    def extract(self, archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> None:
        folders: list[tuple[str, int, int]] = []
        for info in members:
            if "p" in self.flags or "c" in self.flags:
                if info.is_dir():
                    continue
                data = self.data(archive, info)
                if data is not None:
                    if "c" in self.flags:
                        self.write(f"{self.verb(info)}: {info.filename:<22}  \n")
                    self.proc.stdout.write(data + (b"\n" if "c" in self.flags else b""))
                continue
            path = self.target(info)
            if path is None:
                continue
            try:
                self.one(archive, info, path, folders)
            except OSError as e:
                self.error(f"error:  cannot create {path}\n        {e.strerror}\n{refusal_note(e)}")
                self.status = max(self.status, 50)
        for path, mode, mtime in reversed(folders):
            self.proc.fs.chmod(path, mode)
            self.proc.fs.utime(path, None, mtime * 10**9)

    def verb(self, info: zipfile.ZipInfo) -> str:
        return " extracting" if info.compress_type == 0 else "  inflating"

    def target(self, info: zipfile.ZipInfo) -> str | None:
        """Where a member goes; None for one that is left out."""
        name = info.filename
        if name.startswith("/"):
            self.error(f"warning:  stripped absolute path spec from {name}\n")
            self.status = max(self.status, 1)
            name = name.lstrip("/")
        parts = name.split("/")
        if ".." in parts:
            self.error(f'warning:  skipped "../" path component(s) in {name}\n')
            self.status = max(self.status, 1)
            name = "/".join(part for part in parts if part != "..")
        if "j" in self.flags:
            if info.is_dir():
                return None
            name = name.rpartition("/")[2]
        if "L" in self.flags:
            name = name.lower()
        if not name:
            return None
        return f"{self.folder.rstrip('/') or '/'}/{name}" if self.folder and self.folder != "/" else self.folder + name

    def one(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str,
            folders: list[tuple[str, int, int]]) -> None:
        fs, mode, mtime = self.proc.fs, info.external_attr >> 16 & 0o777, mtime_of(info, self.proc)
        if info.is_dir():
            if not fs.is_dir(path):
                self.parents(path)
                fs.mkdir(path.rstrip("/"))
                if not self.quiet():
                    self.write(f"   creating: {path}\n")
                folders.append((path.rstrip("/"), mode or 0o755, mtime))
            return
        exists = fs.exists(path, follow=False)
        if exists:
            if {"u", "f"} & set(self.flags) and fs.stat(path).mtime_ns // 10**9 >= mtime:
                return
            if not self.may_replace(path):
                return
            fs.unlink(path)
        elif "f" in self.flags:
            return
        data = self.data(archive, info)
        if data is None:
            return
        self.parents(path)
        if is_link(info):
            fs.symlink(data.decode("utf-8", "surrogateescape"), path)
            if not self.quiet():
                self.write(f"    linking: {path:<22}  -> {data.decode('utf-8', 'replace')} \n")
            return
        if "a" in self.flags:
            data = data.replace(b"\r\n", b"\n")
        with self.proc.opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
            file.write(data)
        if mode:
            fs.chmod(path, mode)
        fs.utime(path, None, mtime * 10**9)
        if not self.quiet():
            self.write(f"{self.verb(info)}: {path:<22}  \n")

    def parents(self, path: str) -> None:
        folder = path.rstrip("/").rpartition("/")[0]
        if folder and not self.proc.fs.exists(folder):
            from mirage.commands.mkdir import make_parents
            make_parents(self.proc, folder, None, False)

    def may_replace(self, path: str) -> bool:
        if "n" in self.flags or self.answer == "N":
            return False
        if "o" in self.flags or self.answer == "A":
            return True
        while True:
            self.error(f"replace {path}? [y]es, [n]o, [A]ll, [N]one, [r]ename: ")
            line = self.proc.file(0).readline()
            if not line:
                self.error(' NULL\n(EOF or read error, treating as "[N]one" ...)\n')
                self.answer = "N"
                self.status = max(self.status, 1)
                return False
            letter = line[:1].decode("latin-1")
            if letter in "yY" and letter.strip():
                return True
            if letter == "n" or letter == "r":
                return False
            if letter in "AN" and letter.strip():
                self.answer = letter
                return letter == "A"
            self.error(f"error:  invalid response [{line.decode('latin-1').strip() or '{ENTER}'}]\n")


def _date(info: zipfile.ZipInfo) -> str:
    year, month, day, hour, minute, _ = info.date_time
    return f"{year:04d}-{month:02d}-{day:02d} {hour:02d}:{minute:02d}"


def _ratio(size: int, packed: int) -> int:
    return (1 + 200 * (size - packed) // size) // 2 if size and packed < size else 0


def main(proc: Process) -> int:
    return Unzip(proc).run()
