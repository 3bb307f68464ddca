"""`vfs clone`: git fetches the repository through a mount, the files go straight into the database.

The index that git would have written while it checked out the files is written for them as they are in the database.
Files are dated a second before the clone began, so that the index is newer than any of them: git then takes its word
for them, and notices every later change.
"""
from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time

from mirage.console.vfs.git_index import Entry, index
from mirage.console.vfs.model import Failure
from mirage.console.vfs.opening import FOLDER, is_id, view
from mirage.console.vfs.private import private_temporary
from mirage.console.vfs.progress import bar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

    from mirage.console.vfs.model import Parsed
    from mirage.mounts.vfs import Vfs
    from mirage.mounts.vfs.bulk import Import, Made

LONG = 4 << 20                                               # bytes of a file that is not read whole
PIECE = 1 << 20
LOOSE = 100                                                  # objects that are files of their own
GITLINK, LINK = 0o160000, 0o120000
CONVERTING = ("filter", "text", "crlf", "eol", "ident", "working-tree-encoding")


def clone(parsed: Parsed) -> int:
    from mirage.console.vfs.mounting import check_backend, inside
    check_backend(parsed)
    source = parsed.get("SOURCE")
    name = parsed.get("NAME") or name_of(source)
    if not name or "/" in name or name in (".", "..", ".git"):
        raise Failure(f"'{name}' is no name for a directory; give one behind the source")
    path, new = _place(parsed.get("ID_OR_PATH"))
    parsed.values["ID_OR_PATH"] = path
    if os.path.exists(source):
        source = os.path.abspath(source)
    done = False
    try:
        verify = bool(parsed.get("verify"))
        status = inside(parsed, lambda vfs, place: Clone(vfs, place, source, name).run(verify), create=True)
        done = status == 0
        return status
    finally:
        if new and not done:
            for ending in ("", "-wal", "-shm", "-open"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path + ending)


def name_of(source: str) -> str:
    """What git calls the clone: the last part of the source, without `.git`."""
    text = source.rstrip("/").removesuffix("/.git").rstrip("/")
    return text.rpartition("/")[2].rpartition(":")[2].removesuffix(".git").removesuffix(".bundle")


def _place(text: str) -> tuple[str, bool]:
    """The file of the database, and whether it is to be made."""
    if text == ":memory:":
        raise Failure("a database in memory ends with this program: there is nothing to clone into")
    path = os.path.join(FOLDER, text + ".db")
    if is_id(text) and (os.path.isfile(path) or not os.path.exists(text)):
        os.makedirs(FOLDER, exist_ok=True)
        return os.path.abspath(path), not os.path.exists(path)
    return os.path.abspath(text), not os.path.exists(text)


class Clone:
    """`place` is where the database is mounted."""

    def __init__(self, vfs: Vfs, place: str, source: str, name: str) -> None:
        self._vfs = vfs
        self._source = source
        self._name = name
        self._place = place
        self._repository = os.path.join(place, name)
        self._env = private_temporary().environment() | {"GIT_OPTIONAL_LOCKS": "0"}
        for variable in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            self._env.pop(variable, None)

    def run(self, verify: bool) -> int:
        if os.path.lexists(self._repository):
            raise Failure(f"/{self._name} exists already in the database")
        try:
            count = self._clone()
            if verify and (changes := self._git("status", "--porcelain", "--ignored")):
                first = changes.decode("utf-8", "replace").splitlines()[0]
                raise Failure(f"the clone is not clean: git status says '{first}'")
        except BaseException:
            from mirage.mounts.vfs.database import OwnerFiles
            with contextlib.suppress(OSError):
                OwnerFiles(view(self._vfs)).remove(f"/{self._name}", recursive=True)
            raise
        self._vfs.sync()
        print(f"Cloned {self._source} into /{self._name}: {count} files")
        return 0

    def _git(self, *words: str, input: bytes | None = None, check: bool = True) -> bytes:
        """The output of a git command in the clone. Failure with git's last words."""
        result = subprocess.run(["git", *words], cwd=self._repository, env=self._env, input=input, capture_output=True)
        if check and result.returncode:
            raise Failure(f"git {words[0]}: {_last(result.stderr)}")
        return result.stdout

    def _clone(self) -> int:
        start = time.time_ns() // 10 ** 9 * 10 ** 9 - 10 ** 9
        loud = ["--progress"] if sys.stderr.isatty() else ["--quiet"]
        try:
            result = subprocess.run(["git", "clone", "--no-checkout", *_fetched(self._source), *loud, "--",
                                     self._source, self._name], cwd=self._place, env=self._env,
                                    stdin=subprocess.DEVNULL if not loud else None,
                                    stderr=None if sys.stderr.isatty() else subprocess.PIPE)
        except FileNotFoundError:
            raise Failure("git is not installed") from None
        if result.returncode:
            raise Failure(f"git clone: {_last(result.stderr or b'')}" if result.stderr else "git clone failed")
        tree = self._git("rev-parse", "-q", "--verify", "HEAD^{tree}", check=False).strip()
        if not tree:
            return 0                                         # a repository without commits
        trees, entries = self._listed(bytes.fromhex(tree.decode()))
        converted = self._converted(entries)
        self._import([e for e in entries if e.path not in converted], trees, start)
        self._write_index(entries, trees)
        if converted:
            self._git("checkout-index", "-q", "-f", "-u", "-z", "--stdin", input=b"\0".join(sorted(converted)) + b"\0")
        return len(entries)

    def _listed(self, tree: bytes) -> tuple[dict[bytes, bytes], list[Entry]]:
        """The trees of HEAD by path, and its files; `tree` is the one of all."""
        trees = {b"": tree}
        entries = []
        for line in self._git("ls-tree", "-r", "-t", "-z", "--full-tree", "HEAD").split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            mode, kind, digest = about.split()
            shown = path.decode("utf-8", "replace")
            if int(mode, 8) == GITLINK:
                raise Failure(f"the repository has a submodule, {shown}: submodules are not supported")
            if any(part in (b"", b".", b"..") or part.lower() == b".git" for part in path.split(b"/")):
                raise Failure(f"the repository has a file whose name is not allowed: {shown}")
            if kind == b"tree":
                trees[path] = bytes.fromhex(digest.decode())
            else:
                entries.append(Entry(path, int(mode, 8), bytes.fromhex(digest.decode())))
        return trees, entries

    def _converted(self, entries: list[Entry]) -> set[bytes]:
        """Files that are not in the repository as they must be on disk: git writes those. Failure for filters."""
        where = []
        if any(e.path.rpartition(b"/")[2] == b".gitattributes" for e in entries):
            self._git("read-tree", "HEAD")
            where = ["--cached"]
        words = self._git("check-attr", *where, "-z", "--stdin", *CONVERTING,
                          input=b"".join(e.path + b"\0" for e in entries)).split(b"\0")
        said = self._git("config", "-z", "--get-regexp", r"^core\.(autocrlf|eol)$", check=False).lower()
        values = dict(line.split(b"\n", 1) for line in said.split(b"\0") if b"\n" in line)
        crlf = values.get(b"core.autocrlf") == b"true"
        native = crlf or values.get(b"core.eol") == b"crlf"
        found: set[bytes] = set()
        text: dict[bytes, bytes] = {}
        no = (b"unspecified", b"unset")
        for path, attribute, value in zip(words[0::3], words[1::3], words[2::3], strict=False):
            if attribute == b"filter" and value not in (*no, b"set"):
                raise Failure(f"{_shown(path)} needs the filter '{_shown(value)}': "
                              "smudge and clean filters are not supported")
            if attribute == b"eol" and value == b"crlf" or attribute == b"ident" and value == b"set" \
                    or attribute == b"working-tree-encoding" and value not in no:
                found.add(path)
            elif attribute in (b"text", b"crlf") and value != b"unspecified":
                text[path] = value
        if native:
            found.update(e.path for e in entries
                         if text.get(e.path, b"auto" if crlf else b"unset") not in (b"unset", b"input"))
        return {e.path for e in entries if e.path in found and e.mode != LINK} if found else found

    def _import(self, entries: list[Entry], trees: dict[bytes, bytes], start: int) -> None:
        from mirage.mounts.vfs.bulk import Import
        from mirage.vfs.inodes import Owners
        mask = os.umask(0)
        os.umask(mask)
        owner = Owners((os.getuid(), os.getgid())).stored(os.getuid(), os.getgid())
        files = Import(self._vfs.mount, f"/{self._name}", owner, start)
        files.directories([os.fsdecode(path) for path in trees if path], 0o777 & ~mask)
        made: list[tuple[Entry, Made]] = []
        with bar("Writing files") as progress, self._contents(entries) as contents:
            for number, entry in enumerate(entries):
                made.append((entry, _stored(files, entry, contents, mask)))
                if progress is not None and not number % 100:
                    progress(number, len(entries))
        files.flush()
        for entry, one in made:
            entry.ino, entry.size, entry.mtime, entry.ctime = one.ino, one.size, one.mtime, one.ctime

    @contextlib.contextmanager
    def _contents(self, entries: Sequence[Entry]) -> Iterator[IO[bytes]]:
        """The output of `git cat-file --batch` for all of them."""
        process = subprocess.Popen(["git", "cat-file", "--batch", "--buffer"], cwd=self._repository, env=self._env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 18)

        questions, answers = process.stdin, process.stdout
        assert questions is not None and answers is not None

        def ask() -> None:
            with contextlib.suppress(OSError), questions:
                for entry in entries:
                    questions.write(entry.digest.hex().encode() + b"\n")

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        try:
            yield answers
        finally:
            answers.close()
            process.wait()
            asking.join()

    def _write_index(self, entries: list[Entry], trees: dict[bytes, bytes]) -> None:
        data = index(entries, trees, os.stat(self._repository).st_dev, (os.getuid(), os.getgid()))
        path = os.path.join(self._repository, ".git", "index")
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.rename(path + ".new", path)


def _fetched(source: str) -> list[str]:
    """A repository of this machine is copied where it consists of packs. Else it comes as one (a file for each object
    is slow on a mount), without a search for what its objects have in common, which takes longer than all the rest."""
    if not os.path.isdir(source):
        return []
    done = subprocess.run(["git", "-C", source, "count-objects"], capture_output=True, text=True)
    if done.returncode == 0 and int(done.stdout.split()[0]) <= LOOSE:
        return ["--no-hardlinks"]
    return ["--no-local", "--upload-pack", "git -c pack.window=0 upload-pack"]


def _stored(files: Import, entry: Entry, contents: IO[bytes], mask: int) -> Made:
    head = contents.readline().split()
    if len(head) != 3 or head[1] != b"blob":
        raise Failure(f"git cat-file: {b' '.join(head).decode('utf-8', 'replace') or 'no answer'}")
    size, path = int(head[2]), os.fsdecode(entry.path)
    mode = (0o777 if entry.mode & 0o100 else 0o666) & ~mask
    if size > LONG and entry.mode != LINK:
        made = files.long_file(path, mode, _pieces(contents, size))
    else:
        data = _exactly(contents, size)
        made = files.symlink(path, data) if entry.mode == LINK else files.file(path, mode, data)
    contents.readline()
    return made


def _pieces(contents: IO[bytes], size: int) -> Iterator[bytes]:
    while size:
        data = _exactly(contents, min(size, PIECE))
        size -= len(data)
        yield data


def _exactly(contents: IO[bytes], size: int) -> bytes:
    data = contents.read(size)
    if len(data) < size:
        raise Failure("git cat-file ended too early")
    return data


def _last(text: bytes) -> str:
    lines = text.decode("utf-8", "replace").strip().splitlines()
    told = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines or ["failed"]
    return told[-1]


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "replace")

