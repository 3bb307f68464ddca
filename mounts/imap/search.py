"""Search by IMAP's SEARCH, which finds texts inside words too (RFC 3501). A superset of what matches, or it is said.

A file matches where the text is in the body, or in what stands around it (people, subject, keys, dates, labels, names
of files), which is known without asking. Not every server looks into HTML and encoded texts as they are shown, so that
messages of which the text is one of these are read, as attachments are.
"""
from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING

from mirage.mounts.imap.mailbox import ImapMeta
from mirage.mounts.mail.message import JSON, Mail
from mirage.vfs.search import Candidates, left_out

if TYPE_CHECKING:
    from mirage.mounts.imap.mount import Imap
    from mirage.mounts.mail.folders import Folder
    from mirage.vfs.search import Query

TOKEN = re.compile(r"[^\W_]+")
ESCAPES = "ntrbfu"                                           # `\n` in JSON: a word may have a letter more than the text
SHORTEST = 3


def search(mount: Imap, path: str, query: Query) -> Candidates | None:
    """Candidates below a folder; None: read everything."""
    mode = query.mode if query.mode != "auto" else mount.mode
    top = mount.folder_at(path) if mode != "exact" else None
    words = [w for literal in query.literals for w in TOKEN.findall(literal)]
    words = [w[1:] if w[0] in ESCAPES else w for w in words if not re.match(r"u[0-9a-f]{4}", w)]
    word = max(words, key=len, default="")
    if top is None or len(word) < SHORTEST:
        return None
    folders = [f for f in top.walk() if f.label is not None]
    found: dict[Folder, set[ImapMeta]] = {}
    doubtful: dict[Folder, list[ImapMeta]] = {}
    for folder in folders:
        metas = [m for m in mount.box.messages(folder) if isinstance(m, ImapMeta)]
        hits = _hits(mount, folder, word)
        if hits is None:
            return None
        low = word.casefold()
        found[folder] = {m for m in metas if m.uid in hits or low in _around(mount, m, folder)}
        doubtful[folder] = [m for m in metas if m.encoded and m not in found[folder]]
    return _candidates(mount, query, mode, found, doubtful)


def _hits(mount: Imap, folder: Folder, word: str) -> set[int] | None:
    """uids whose body has the word; None where the server cannot search for it."""
    try:
        return set(mount.box.search(folder.label or "", ["BODY", word], None if word.isascii() else "UTF-8"))
    except OSError as e:
        if e.errno == errno.EINVAL:
            return None
        raise


def _around(mount: Imap, meta: ImapMeta, folder: Folder) -> str:
    """The message's file without its body, letter case ignored."""
    if meta.bare is None:
        meta.bare = Mail({"id": meta.id, "payload": {**meta.part, "parts": (), "body": {}, "mimeType": ""}})
    return mount.render(meta.bare, meta, folder).decode("utf-8", "replace").casefold()


def _candidates(mount: Imap, query: Query, mode: str, found: dict[Folder, set[ImapMeta]],
                doubtful: dict[Folder, list[ImapMeta]]) -> Candidates:
    names, contents = query.names, mount.box.contents
    unread = [m for metas in doubtful.values() for m in metas if m.id not in contents]
    attached = [m for folder in found for m in mount.box.messages(folder)
                if any(names is None or names(a.name) for a in m.attachments)]
    skipped = 0
    if mode != "service" and len(unread) <= mount.bound or not unread:
        for folder, metas in doubtful.items():
            found[folder] |= set(metas)
    else:
        skipped += len(unread)
        for folder, metas in doubtful.items():
            found[folder] |= {m for m in metas if m.id in contents}
    if len(attached) > mount.bound or mode == "service" and attached:
        skipped += sum(names is None or names(a.name) for m in attached for a in m.attachments)
        attached = []
    files = {m.id for m in attached}
    wanted = [m.id for metas in found.values() for m in metas]
    if len(wanted) <= mount.bound:
        mount.box.load(wanted)
    paths = []
    for folder in found:
        for meta in mount.box.messages(folder):
            path = mount.path_of(meta, folder)
            if meta in found[folder] and (names is None or names(path.rpartition("/")[2])):
                paths.append(path)
            if meta.id in files:
                stem = path.removesuffix(JSON)
                paths += [f"{stem}/{a.name}" for a in meta.attachments if names is None or names(a.name)]
    paths = sorted(dict.fromkeys(paths), key=_walk_order)
    mount.counters.add(searches=1, candidates=len(paths))
    return Candidates(paths, not skipped, skipped, left_out(skipped, "for parts of words"))


def _walk_order(path: str) -> list[tuple[int, str]]:
    """A walk gives the files of a directory before what is in its directories."""
    *directories, name = path.split("/")
    return [*((1, d) for d in directories), (0, name)]
