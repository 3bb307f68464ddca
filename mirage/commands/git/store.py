"""A repository read through the terminal's files: objects (loose and packed), references, the index. Never written."""
from __future__ import annotations

import io
import re

from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.process.process import Process

_HEX = re.compile(r"[0-9a-f]{4,40}\Z")
DIRECTORY, LINK, SUBMODULE = 0o040000, 0o120000, 0o160000


def fatal(proc: Process, text: str, status: int = 128) -> Exit:
    proc.stdout.flush()
    proc.write_error(f"fatal: {text}\n")
    return Exit(status)


def unknown_revision(proc: Process, text: str) -> Exit:
    return fatal(proc, f"ambiguous argument '{text}': unknown revision or path not in the working tree.\n"
                       "Use '--' to separate paths from revisions, like this:\n"
                       "'git <command> [<revision>...] -- [<file>...]'")


class Repository:
    """top: the working tree ("" for a bare one); folder: its .git; prefix: the current folder below top, with slash."""

    def __init__(self, proc: Process, start: str, folder: str | None = None) -> None:
        self.proc = proc
        self.fs = proc.fs
        self.top, self.folder = self._find(start, folder)
        here = proc.fs.realpath(start, strict=False).rstrip("/") + "/"
        self.prefix = here[len(self.top.rstrip("/")) + 1:] if self.top and here.startswith(self.top.rstrip("/") + "/") \
            else ""
        self.packs: list[Any] | None = None
        self.cache: dict[str, tuple[int, bytes]] = {}
        self._refs: dict[str, str] | None = None

    def _find(self, start: str, folder: str | None) -> tuple[str, str]:
        if folder is not None:
            path = self.fs.realpath(folder, strict=False)
            if not self.fs.is_dir(f"{path}/objects"):
                raise fatal(self.proc, f"not a git repository: '{folder}'")
            return (path.rpartition("/")[0] or "/", path) if path.endswith("/.git") else ("", path)
        at = self.fs.realpath(start, strict=False)
        while True:
            base = at.rstrip("/")
            if self.fs.is_dir(f"{base}/.git/objects"):
                return at, f"{base}/.git"
            if self.fs.is_file(f"{base}/.git"):
                text = self.fs.read(f"{base}/.git").decode("utf-8", "replace")
                if text.startswith("gitdir: "):
                    target = text[8:].strip()
                    return at, target if target.startswith("/") else self.fs.realpath(f"{base}/{target}", strict=False)
            if self.fs.is_dir(f"{base}/objects") and self.fs.is_dir(f"{base}/refs") and self.fs.is_file(f"{base}/HEAD"):
                return "", at
            if at == "/":
                raise fatal(self.proc, "not a git repository (or any of the parent directories): .git")
            at = base.rpartition("/")[0] or "/"

    # ---- objects

    def raw(self, sha: str) -> tuple[int, bytes]:
        """(type number, content) of an object: 1 commit, 2 tree, 3 blob, 4 tag. KeyError if there is none."""
        found = self.cache.get(sha)
        if found is None:
            found = self._loose(sha) or self._packed(sha)
            if found is None:
                raise KeyError(sha)
            self.proc.check()
            if len(found[1]) < 1 << 20:
                if len(self.cache) > 5000:
                    self.cache.clear()
                self.cache[sha] = found
        return found

    def _loose(self, sha: str) -> tuple[int, bytes] | None:
        path = f"{self.folder}/objects/{sha[:2]}/{sha[2:]}"
        if not self.fs.is_file(path):
            return None
        import zlib
        limit = self.proc.kernel.limits.memory or 1 << 40
        try:
            data = zlib.decompressobj().decompress(self.fs.read(path), min(limit // 4, 1 << 31))
        except zlib.error:
            raise fatal(self.proc, f"loose object {sha} (stored in {path}) is corrupt") from None
        head, _, body = data.partition(b"\0")
        kinds = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}
        return kinds[head.split(b" ")[0]], body

    def _packed(self, sha: str) -> tuple[int, bytes] | None:
        if self.packs is None:
            self.packs = self._open_packs()
        key = sha.encode()
        for pack in self.packs:
            try:
                kind, data = pack.get_raw(key)
                return int(kind), data if isinstance(data, bytes) else b"".join(data)
            except KeyError:
                continue
        return None

    def _open_packs(self) -> list[Any]:
        from dulwich.object_format import SHA1
        from dulwich.pack import Pack, PackData, load_pack_index_file
        out, folder = [], f"{self.folder}/objects/pack"
        for entry in self.fs.list(folder) if self.fs.is_dir(folder) else ():
            if not entry.name.endswith(".idx"):
                continue
            path = f"{folder}/{entry.name[:-4]}.pack"
            if self.fs.is_file(path):
                self.proc.kernel.fits(2 * (self.fs.stat(path).size or 0))
                index = load_pack_index_file(path, io.BytesIO(self.fs.read(f"{folder}/{entry.name}")), SHA1)
                data = self.fs.read(path)
                out.append(Pack.from_objects(PackData.from_file(io.BytesIO(data), SHA1, len(data)), index))
        return out

    def kind(self, sha: str) -> str:
        return ("", "commit", "tree", "blob", "tag")[self.raw(sha)[0]]

    def blob(self, sha: str) -> bytes:
        return self.raw(sha)[1] if sha else b""

    def tree(self, sha: str) -> list[tuple[str, int, str]]:
        """(name, mode, sha) of a tree."""
        data, at, out = self.raw(sha)[1], 0, []
        while at < len(data):
            space, end = data.index(b" ", at), data.index(b"\0", at)
            out.append((data[space + 1:end].decode("utf-8", "surrogateescape"), int(data[at:space], 8),
                        data[end + 1:end + 21].hex()))
            at = end + 21
        return out

    def files(self, tree: str, base: str = "") -> dict[str, tuple[int, str]]:
        """path -> (mode, sha) of everything below a tree."""
        out: dict[str, tuple[int, str]] = {}
        stack = [(tree, base)]
        while stack:
            sha, prefix = stack.pop()
            for name, mode, inner in self.tree(sha):
                if mode == DIRECTORY:
                    stack.append((inner, f"{prefix}{name}/"))
                else:
                    out[prefix + name] = (mode, inner)
        return out

    def commit(self, sha: str) -> Commit:
        kind, data = self.raw(sha)
        if kind == 4:
            return self.commit(Commit("", data).fields["object"][0])
        return Commit(sha, data)

    # ---- references

    def refs(self) -> dict[str, str]:
        """Full name -> sha."""
        if self._refs is not None:
            return self._refs
        out: dict[str, str] = {}
        packed = f"{self.folder}/packed-refs"
        if self.fs.is_file(packed):
            for line in self.fs.read(packed).decode("utf-8", "surrogateescape").splitlines():
                sha, _, name = line.partition(" ")
                if len(sha) == 40 and name:
                    out[name] = sha
        if self.fs.is_dir(f"{self.folder}/refs"):
            for folder, entries in self.fs.walk(f"{self.folder}/refs"):
                for entry in entries:
                    if entry.stat is not None and entry.stat.is_file:
                        text = self.fs.read(f"{folder}/{entry.name}").decode("utf-8", "replace").strip()
                        name = f"{folder}/{entry.name}"[len(self.folder) + 1:]
                        if text.startswith("ref: "):
                            text = out.get(text[5:], "")
                        if len(text) == 40:
                            out[name] = text
        self._refs = dict(sorted(out.items()))
        return self._refs

    def head(self) -> tuple[str, str]:
        """(branch, or "" when detached; sha, or "" before the first commit)."""
        text = self.fs.read(f"{self.folder}/HEAD").decode("utf-8", "replace").strip()
        if text.startswith("ref: "):
            return text[5:].removeprefix("refs/heads/"), self.refs().get(text[5:], "")
        return "", text

    def resolve(self, text: str) -> str:
        """The object that a revision names; KeyError if there is none."""
        found = re.search(r"(\^\{[a-z]*\}|\^[0-9]*|~[0-9]*|@\{[^}]*\})\Z", text)
        if found and found.start():
            base = self.resolve(text[:found.start()])
            return self._step(base, found[1])
        if ":" in text:
            revision, _, path = text.partition(":")
            if not revision:
                entry = self.index().get(path)
                if entry is None:
                    raise KeyError(text)
                return entry[1]
            return self.at_path(self.commit(self.resolve(revision)).tree, path)
        if text in ("HEAD", "@"):
            sha = self.head()[1]
            if sha:
                return sha
            raise KeyError(text)
        refs = self.refs()
        for form in ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD"):
            if form.format(text) in refs:
                return refs[form.format(text)]
        if text in ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD") and self.fs.is_file(f"{self.folder}/{text}"):
            return self.fs.read(f"{self.folder}/{text}")[:40].decode()
        if _HEX.match(text.lower()):
            return self._abbreviated(text.lower())
        raise KeyError(text)

    def _step(self, sha: str, step: str) -> str:
        if step.startswith("^{"):
            want = step[2:-1]
            while self.raw(sha)[0] == 4:
                sha = Commit("", self.raw(sha)[1]).fields["object"][0]
            return self.commit(sha).tree if want == "tree" and self.raw(sha)[0] == 1 else sha
        if step.startswith("@{"):
            if step[2:-1] in ("0", ""):
                return sha
            raise KeyError(step)
        count = int(step[1:] or "1")
        if step[0] == "^":
            if count == 0:
                return self.commit(sha).sha
            parents = self.commit(sha).parents
            if count > len(parents):
                raise KeyError(step)
            return parents[count - 1]
        for _ in range(count):
            parents = self.commit(sha).parents
            if not parents:
                raise KeyError(step)
            sha = parents[0]
        return self.commit(sha).sha

    def at_path(self, tree: str, path: str) -> str:
        sha = tree
        if path.startswith("./"):
            path = self.prefix + path[2:]
        for part in [p for p in path.split("/") if p]:
            sha = next((inner for name, _, inner in self.tree(sha) if name == part), "")
            if not sha:
                raise KeyError(path)
        return sha

    def _abbreviated(self, text: str) -> str:
        if len(text) == 40:
            self.raw(text)
            return text
        found = set()
        folder = f"{self.folder}/objects/{text[:2]}"
        if self.fs.is_dir(folder):
            found |= {text[:2] + e.name for e in self.fs.list(folder) if e.name.startswith(text[2:])}
        if self.packs is None:
            self.packs = self._open_packs()
        for pack in self.packs:
            found |= {sha for name in pack if (sha := name.decode()).startswith(text)}
        if len(found) != 1:
            raise KeyError(text)
        return found.pop()

    def short(self, sha: str, least: int = 7) -> str:
        return sha[:least]

    # ---- index and configuration

    def index(self) -> dict[str, tuple[int, str, int, int]]:
        """path -> (mode, sha, mtime in ns, size) of the staged files."""
        path = f"{self.folder}/index"
        if not self.fs.is_file(path):
            return {}
        from dulwich.index import IndexEntry, read_index_dict_with_version
        entries = read_index_dict_with_version(io.BytesIO(self.fs.read(path)))[0]
        out = {}
        for name, entry in entries.items():
            if not isinstance(entry, IndexEntry):
                continue
            mtime = entry.mtime if isinstance(entry.mtime, tuple) else (int(entry.mtime), 0)
            out[name.decode("utf-8", "surrogateescape")] = (entry.mode, entry.sha.decode(), mtime[0] * 10**9 + mtime[1],
                                                            entry.size)
        return dict(sorted(out.items(), key=lambda pair: pair[0].encode("utf-8", "surrogateescape")))

    def config(self) -> list[tuple[str, str]]:
        """(section.key, value) of .git/config."""
        out, section = [], ""
        path = f"{self.folder}/config"
        text = self.fs.read(path).decode("utf-8", "replace") if self.fs.is_file(path) else ""
        for line in text.splitlines():
            line = line.strip()
            if found := re.fullmatch(r'\[([^\s"\]]+)(?:\s+"(.*)")?\]', line):
                section = found[1].lower() + (f".{found[2]}" if found[2] else "")
            elif line and line[0] not in "#;":
                key, equals, value = line.partition("=")
                out.append((f"{section}.{key.strip().lower()}", value.strip().strip('"') if equals else "true"))
        return out


class Commit:
    """A commit (or a tag: the same layout)."""

    __slots__ = ("fields", "message", "sha")

    def __init__(self, sha: str, data: bytes) -> None:
        self.sha = sha
        head, _, body = data.partition(b"\n\n")
        self.message = body.decode("utf-8", "replace")
        self.fields: dict[str, list[str]] = {}
        for line in head.decode("utf-8", "replace").split("\n"):
            key, _, value = line.partition(" ")
            if key:
                self.fields.setdefault(key, []).append(value)

    @property
    def tree(self) -> str:
        return self.fields["tree"][0]

    @property
    def parents(self) -> list[str]:
        return self.fields.get("parent", [])

    def person(self, role: str) -> tuple[str, str, int, str]:
        """(name, mail, seconds, zone) of the author, committer or tagger."""
        found = re.fullmatch(r"(.*?) ?<([^>]*)> ?(-?[0-9]+)? ?([-+][0-9]{4})?", (self.fields.get(role) or [""])[0])
        if not found:
            return "", "", 0, "+0000"
        return found[1], found[2], int(found[3] or 0), found[4] or "+0000"

    @property
    def subject(self) -> str:
        return " ".join(self.message.strip("\n").partition("\n\n")[0].split("\n"))

    @property
    def body(self) -> str:
        return self.message.strip("\n").partition("\n\n")[2].lstrip("\n")
