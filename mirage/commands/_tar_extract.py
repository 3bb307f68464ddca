"""tar -x and -d: members back to files."""
from __future__ import annotations

import os
import tarfile

from mirage.commands._io import BLOCK
from mirage.commands._text import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.commands.tar import Tar


class Extractor:
    def __init__(self, tar: Tar) -> None:
        self.tar = tar
        self.proc = tar.proc
        self.fs = tar.proc.fs
        self.folders: list[tuple[str, int, int]] = []        # (path, mode, mtime): set at the end
        self.delayed: list[tuple[str, str, int]] = []        # symbolic links that lead out of the tree
        self.base = tar.folder

    def place(self, name: str) -> str:
        return name if name.startswith("/") or not self.base else f"{self.base.rstrip('/')}/{name}"

    def target(self, info: tarfile.TarInfo) -> str | None:
        """The name to extract to; None for a member that is left out."""
        tar = self.tar
        name = info.name
        if tar.strip:
            parts = [p for p in name.split("/") if p]
            name = "/".join(parts[tar.strip:])
            if not name:
                return None
        name = tar.transformed(name)
        if "P" not in tar.flags:
            if ".." in name.split("/"):
                tar.error(f"{name}: Member name contains '..'")
                return None
            name = tar.safer(name)
        top = tar.values.get("top")
        if top is not None:
            name = f"{top or _stem(tar.archive)}/{name}"
        return name

    def member(self, archive: tarfile.TarFile, info: tarfile.TarInfo) -> None:
        tar = self.tar
        if "O" in tar.flags:
            if info.isreg():
                if tar.verbose:
                    tar.show(info, info.name, tar.verbose > 1)
                self.pour(archive, info, None)
            return
        name = self.target(info)
        if name is None:
            return
        if tar.verbose:
            tar.show(info, name if "shown" in tar.flags else info.name, tar.verbose > 1)
        path = self.place(name)
        try:
            self.make(archive, info, path, name)
        except OSError as e:
            what = "Cannot mkdir" if info.isdir() else "Cannot open"
            if info.issym():
                what = f"Cannot create symlink to {quote(self.proc, info.linkname)}"
            elif info.islnk():
                what = f"Cannot hard link to {quote(self.proc, info.linkname)}"
            tar.os_error(name, what, e)

    def make(self, archive: tarfile.TarFile, info: tarfile.TarInfo, path: str, name: str) -> None:
        tar, fs = self.tar, self.fs
        if info.isdir():
            try:
                if fs.stat(path, "keepdir" in tar.flags).is_dir:
                    self.folders.append((path, info.mode, int(info.mtime)))
                    return
                if "k" in tar.flags:
                    raise FileExistsError(17, "File exists", path)
                fs.unlink(path)
            except FileNotFoundError:
                pass
            self.parents(path)
            fs.mkdir(path.rstrip("/") or "/", info.mode & 0o777 | 0o700)
            self.folders.append((path, info.mode, int(info.mtime)))
            return
        if not self.clear(info, path):
            return
        self.parents(path)
        if info.issym():
            if info.linkname.startswith("/") or ".." in info.linkname.split("/"):
                self.delayed.append((path, info.linkname, int(info.mtime)))
            else:
                fs.symlink(info.linkname, path)
                fs.utime(path, None, int(info.mtime) * 10**9, False)
        elif info.islnk():
            source = info.linkname
            if tar.strip:
                source = "/".join([p for p in source.split("/") if p][tar.strip:])
            fs.link(self.place(tar.transformed(source, "h").lstrip("/") if "P" not in tar.flags else source), path)
        elif info.isfifo():
            fs.mkfifo(path, info.mode & 0o777)
        elif info.isreg():
            self.pour(archive, info, path)
            self.attributes(path, info.mode, int(info.mtime))
        else:
            tar.error(f"{name}: Cannot mknod: Operation not permitted")

    def clear(self, info: tarfile.TarInfo, path: str) -> bool:
        """Make room for a new file; False when the old one stays."""
        tar, fs = self.tar, self.fs
        try:
            old = fs.stat(path, False)
        except OSError:
            return True
        if "k" in tar.flags:
            raise FileExistsError(17, "File exists", path)
        if "skip" in tar.flags:
            return False
        if "newer" in tar.flags and old.mtime_ns >= int(info.mtime) * 10**9:
            self.proc.stdout.flush()
            self.proc.message(f"Current {quote(self.proc, path)} is newer or same age")
            return False
        if old.is_dir:
            fs.rmdir(path)
        elif not (info.isreg() and "overwrite" in tar.flags):
            fs.unlink(path)
        return True

    def parents(self, path: str) -> None:
        folder = path.rstrip("/").rpartition("/")[0]
        if folder and not self.fs.exists(folder):
            from mirage.commands.mkdir import make_parents
            make_parents(self.proc, folder, None, False)

    def pour(self, archive: tarfile.TarFile, info: tarfile.TarInfo, path: str | None) -> None:
        source = archive.extractfile(info)
        if path is None:
            target = self.proc.file(1).incref()
            self.proc.stdout.flush()
        else:
            target = self.proc.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, info.mode & 0o777).incref()
        try:
            while source is not None and (data := source.read(BLOCK)):
                target.write(data)
                self.proc.check()
        finally:
            target.decref()

    def attributes(self, path: str, mode: int, mtime: int) -> None:
        tar = self.tar
        wanted = mode & 0o7777 if "p" in tar.flags else mode & 0o777 & ~self.proc.umask
        try:
            self.fs.chmod(path, wanted)
            if "m" not in tar.flags:
                self.fs.utime(path, int(self.proc.now()) * 10**9, mtime * 10**9)
        except OSError as e:
            tar.os_error(path, "Cannot change mode", e)

    def finish(self) -> None:
        for path, text, mtime in self.delayed:
            try:
                self.fs.symlink(text, path)
                self.fs.utime(path, None, mtime * 10**9, False)
            except OSError as e:
                self.tar.os_error(path, f"Cannot create symlink to {quote(self.proc, text)}", e)
        for path, mode, mtime in reversed(self.folders):
            self.attributes(path, mode, mtime)


def _stem(archive: str) -> str:
    name = archive.rpartition("/")[2]
    for suffix in (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar"):
        if name.endswith(suffix):
            return name[:-len(suffix)]
    return name


def extract(tar: Tar) -> None:
    file = tar.open_archive()
    found: set[str] = set()
    if "O" in tar.flags:
        tar.listing = 2
    try:
        if tar.folder and not tar.proc.fs.is_dir(tar.folder):
            try:
                tar.proc.fs.stat(tar.folder)
                reason = "Not a directory"
            except OSError as e:
                reason = e.strerror or ""
            raise tar.fatal(f"{tar.folder}: Cannot open: {reason}")
        extractor = Extractor(tar)
        for archive, info in tar.members(file):
            if tar.wanted(info.name, found):
                extractor.member(archive, info)
        extractor.finish()
    finally:
        file.decref()
    tar.report_missing(found)


def compare(tar: Tar) -> None:
    """-d: say what differs between the archive and the files."""
    file = tar.open_archive()
    found: set[str] = set()
    proc = tar.proc
    try:
        for archive, info in tar.members(file):
            if not tar.wanted(info.name, found):
                continue
            if tar.verbose:
                tar.show(info, info.name, tar.verbose > 1)
            try:
                stat = proc.fs.stat(info.name, False)
            except OSError as e:
                proc.stdout.flush()
                proc.message(f"{info.name}: Warning: Cannot stat: {e.strerror}")
                tar.status = max(tar.status, 1)
                continue
            for differs, what in ((stat.mode & 0o7777 != info.mode & 0o7777 and not info.issym(), "Mode differs"),
                                  (stat.mtime_ns // 10**9 != int(info.mtime) and not info.isdir(), "Mod time differs"),
                                  (info.isreg() and stat.size != info.size, "Size differs")):
                if differs:
                    tar.write_list(f"{info.name}: {what}\n")
                    tar.status = max(tar.status, 1)
            if info.isreg() and stat.size == info.size:
                source = archive.extractfile(info)
                if source is not None and source.read() != proc.fs.read(info.name):
                    tar.write_list(f"{info.name}: Contents differ\n")
                    tar.status = max(tar.status, 1)
    finally:
        file.decref()
    tar.report_missing(found)
