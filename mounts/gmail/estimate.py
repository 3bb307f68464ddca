"""What an action on a mailbox would cost, from what is known of it now."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.mounts.mail.folders import DAY
from mirage.mounts.mail.message import EML, JSON
from mirage.vfs.estimate import Cost, Range, calls
from mirage.vfs.names import split_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.mounts.gmail.mount import Gmail
    from mirage.mounts.mail.folders import Folder
    from mirage.mounts.mail.message import Meta

FREE = calls(0, 0)


def estimate(mount: Gmail, path: str, action: str, queries: Sequence[Any] = ()) -> Cost:
    box = mount.box
    if box._folders is None:
        return _unknown(mount, path, action, queries)
    known = box._folders
    cost = calls(1, 2)                                       # a line asks what changed; 500 changes are one answer
    parts = path.strip("/").split("/") if path != "/" else []
    folder, at = known.root, 0
    while at < len(parts) and parts[at] in folder.children:
        folder = folder.children[parts[at]]
        at += 1
    rest = parts[at:]
    if rest and (folder.label is None or not DAY.fullmatch(rest[0])):
        return cost.plus(calls(0, 1))                        # perhaps a label that was made a moment ago
    if not rest:
        return cost.plus(_folder(mount, folder, action, queries))
    if len(rest) == 1:
        return cost.plus(_day(mount, folder, rest[0], action))
    return cost.plus(_message(mount, folder, rest, action))


def _unknown(mount: Gmail, path: str, action: str, queries: Sequence[Any]) -> Cost:
    """Before the first request: labels and the place in the history come in one call, with a message by its id."""
    if path == "/" and action == "stat":
        return FREE
    refresh = 1 if mount.client._user is not None else 0     # a new access token
    id = split_id(path.rpartition("/")[2].removesuffix(JSON).removesuffix(EML))[1]
    if id and action in ("stat", "read") and path.endswith(JSON):
        return Cost(Range(1, 2 + refresh), Range(0, None if action == "read" else 0))
    if action == "stat" and path.count("/") == 1:
        return calls(1, 2 + refresh)
    searches = Range(0, len(queries)) if action == "search" else Range()
    return Cost(Range(1, None), Range(0, None if action in ("read", "read_all", "search") else 0), searches)


def _folder(mount: Gmail, folder: Folder, action: str, queries: Sequence[Any]) -> Cost:
    if action in ("stat", "read"):
        return FREE
    box = mount.box
    folders = [f for f in folder.walk() if f.label is not None]
    if action == "list":
        return FREE if folder.label is None or box.is_listed(folder) else calls(1, None)
    listed = all(box.is_listed(f) for f in folders)
    walk = _metas(mount, folders) if listed else calls(1, None)
    if action == "walk":
        return walk
    reading = walk.plus(_contents(mount, folders)) if listed else walk.plus(Cost(Range(0, None), Range(0, None)))
    if action == "read_all":
        return reading
    searching = Cost(Range(1, None), Range(0, None), Range(len(queries), len(queries)))
    if mount.mode == "exact":
        return reading
    if all(query.whole_words for query in queries):
        either = searching.either(reading)                   # a word that is in no message is not asked for
        return Cost(either.calls, either.bytes, Range(0, len(queries)))
    return searching.either(reading)


def _metas(mount: Gmail, folders: list[Folder]) -> Cost:
    box = mount.box
    missing = sum(id not in box._metas for f in folders for id in box._lists[f.label or ""])
    return calls(min(missing, 1), missing)


def _contents(mount: Gmail, folders: list[Folder]) -> Cost:
    box = mount.box
    ids = {id for f in folders for id in box._lists[f.label or ""]}
    metas: list[Meta] = [meta for id in ids if (meta := box._metas.get(id)) is not None]
    missing = sum(meta.id not in box.contents for meta in metas)
    attached = sum((meta.id, a.part) not in box.contents for meta in metas for a in meta.attachments)
    most = missing + attached + (len(ids) - len(metas))
    return Cost(Range(min(missing, 1), most), Range(0, None))


def _day(mount: Gmail, folder: Folder, day: str, action: str) -> Cost:
    if mount.box.is_listed(folder):
        cost = _metas(mount, [folder])
        if action in ("read_all", "search"):
            return cost.plus(_contents(mount, [folder])).maybe
        return cost.maybe
    return Cost(Range(0, None), Range(0, None if action in ("read_all", "search") else 0))


def _message(mount: Gmail, folder: Folder, rest: list[str], action: str) -> Cost:
    box, name = mount.box, rest[1]
    stem = name.removesuffix(JSON).removesuffix(EML)
    id = split_id(stem)[1]
    meta = box._metas.get(id)
    if meta is None:                                         # asked for by its id, with its content
        own = Cost(Range(0 if box.is_listed(folder) else 1, 1), Range(0, None if action == "read" else 0))
        extra = action in ("read", "read_all", "search") and (name.endswith(EML) or not name.endswith(JSON))
        return own.plus(Cost(Range(0, None), Range(0, None))) if extra else own
    if action not in ("read", "read_all", "search"):
        return FREE
    if len(rest) > 2 or not name.endswith((JSON, EML)):
        wanted = [a for a in meta.attachments if len(rest) < 3 or a.name == rest[2]]
        missing = sum((id, a.part) not in box.contents for a in wanted)
        return Cost(Range(min(missing, 1), missing + 1 if missing else 0), Range(0, sum(a.size or 0 for a in wanted)))
    kept = (id, "eml") if name.endswith(EML) else id
    return Cost(Range() if kept in box.contents else Range(1, 1), Range(0, None))
