"""Search by Gmail's index of words. The answer is a superset of what matches, or says what was left out.

What the index finds for a whole word: it occurs in the subject, the people, the body or a file name. A word in our
files may come from elsewhere: keys, dates, ids, labels, MIME types, sizes, the first letter behind an escaped newline,
or the content of an attachment. Each of these is looked after here.
"""
from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from mirage.mounts.gmail.client import BATCH
from mirage.mounts.gmail.folders import ARCHIVE_QUERY
from mirage.mounts.gmail.mailbox import LIST, PAGE, query_of
from mirage.mounts.mail.folders import Folder
from mirage.mounts.mail.message import JSON
from mirage.process import blocking
from mirage.vfs.search import Candidates, left_out

if TYPE_CHECKING:
    from mirage.mounts.gmail.mount import Gmail
    from mirage.mounts.mail.message import Meta
    from mirage.vfs.search import Query

CONSTANT = frozenset(("id", "threadid", "folder", "date", "from", "to", "cc", "bcc", "replyto", "subject", "body",
                      "labels", "attachments", "name", "mimetype", "size", "path"))
TOKEN = re.compile(r"\w+")
PLAIN = re.compile(r"[^\W_]{3,}")
HEX_ID = re.compile(r"[0-9a-f]*[0-9][0-9a-f]*|[0-9a-f]{14,}")
NUMBER = re.compile(r"\d{3,13}")
YEAR = re.compile(r"(?:19|20)\d\d")
TIME = re.compile(r"\d+t\d+|\d+z")
LAST_LETTER = 0x52F                                          # Latin, Greek, Cyrillic: scripts with spaces
ESCAPES = "ntrbf"                                            # `\n` in JSON: a word may have one letter less
NEWEST = 20


def search(mount: Gmail, path: str, query: Query) -> Candidates | None:
    """Candidates below a folder; None: read everything."""
    mode = query.mode if query.mode != "auto" else mount.mode
    folder = mount.folder_at(path) if mode != "exact" else None
    if folder is None:
        return None
    words = _tokens(query)
    if query.whole_words:
        terms, labels = _terms(mount, words)
        if terms or labels:
            return _Search(mount, folder, query).whole(terms, labels)
    terms = [w for w in words if PLAIN.fullmatch(w)]
    if not terms:
        return None
    items = _Search(mount, folder, query)
    total = items.unread()
    if mode == "auto" and total <= mount.bound:
        return None
    return items.service(terms, total)


def _tokens(query: Query) -> list[str]:
    found = [t.casefold() for literal in query.literals for t in TOKEN.findall(literal)]
    return list(dict.fromkeys(found))


def _terms(mount: Gmail, words: list[str]) -> tuple[list[str], list[Folder | str]]:
    """(words to send, or else the folders and labels that have one of the words in their name)."""
    constant = CONSTANT | {w.casefold() for w in TOKEN.findall(mount.point)}
    terms, named = [], []
    for word in words:
        if word in constant or not PLAIN.fullmatch(word) or ord(max(word)) > LAST_LETTER or TIME.fullmatch(word):
            continue
        if word.isdigit() and (YEAR.fullmatch(word) or not NUMBER.fullmatch(word)):
            continue
        if not word.isdigit() and HEX_ID.fullmatch(word):
            continue
        if re.fullmatch(r"u00[01][0-9a-f].*", word):
            continue
        places = _named(mount, word)
        if places:
            named.append((word, places))
        else:
            terms.append(word)
    if terms or not named:
        return terms, []
    return [named[0][0]], named[0][1]


def _named(mount: Gmail, word: str) -> list[Folder | str]:
    """Folders, and labels without one, whose name has the word."""
    folders = mount.box.folders()
    found: list[Folder | str] = [f for f in folders.by_label.values()
                                 if word in (w.casefold() for w in TOKEN.findall(f.path))]
    found += [id for id, name in folders.names.items()
              if word in (w.casefold() for w in (*TOKEN.findall(name), *PLAIN.findall(name)))]
    return found


class _Search:
    def __init__(self, mount: Gmail, top: Folder, query: Query) -> None:
        self.mount = mount
        self.box = mount.box
        self.top = top
        self.query = query
        self.folders = [f for f in top.walk() if f.label is not None]
        self.everywhere = not top.path

    def unread(self) -> int:
        """How many messages are below, less those that are kept."""
        if self._listed():
            ids = {id for f in self.folders for id in self.box._lists[f.label or ""]}
            return sum(id not in self.box.contents for id in ids)
        if self.everywhere:
            return self.box.count(self.top)
        return sum(self.box.count(f) for f in self.folders)

    def _listed(self) -> bool:
        return all(self.box.is_listed(f) for f in self.folders)

    # ---- asking

    def _targets(self) -> list[dict[str, Any]]:
        """Parameters of messages.list: for everything in one, else folder by folder."""
        if self.everywhere:
            return [{"includeSpamTrash": True}]
        return [query_of(f.label or "") for f in self.folders]

    def _ask(self, parameters: list[dict[str, Any]]) -> list[list[str]]:
        """The ids that each messages.list gives; the first pages together."""
        client = self.mount.client
        found: list[list[str]] = []
        for at in range(0, len(parameters), BATCH):
            piece = [{"maxResults": PAGE, **p} for p in parameters[at:at + BATCH]]
            answers = blocking.call(client.batch, [client.users("messages.list", **p) for p in piece])
            for answer, p in zip(answers, piece, strict=True):
                if isinstance(answer, OSError):
                    raise answer
                ids = [m["id"] for m in answer.get("messages", ())]
                token = answer.get("nextPageToken")
                if token and p["maxResults"] == PAGE:
                    ids += [m["id"] for m in blocking.call(partial(self._rest, token, p))]
                found.append(ids)
        return found

    def _rest(self, token: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        """The messages of the pages from a token on."""
        first = self.mount.client.call(LIST, **parameters, pageToken=token)
        found: list[dict[str, Any]] = first.get("messages", [])
        while first.get("nextPageToken"):
            first = self.mount.client.call(LIST, **parameters, pageToken=first["nextPageToken"])
            found += first.get("messages", [])
        return found

    def whole(self, terms: list[str], labels: list[Folder | str]) -> Candidates:
        """Every file with these whole words is among the candidates, or the note says what is not."""
        targets = self._targets()
        text = " ".join(_forms(term) for term in terms)
        names = self.query.names
        asked = [_with(t, text) for t in targets]
        asked += [{**t, "maxResults": NEWEST} for t in targets]
        asked += [_with(t, "has:attachment") for t in targets]
        asked += [_of_label(label) for label in labels]
        size = len(targets)
        answers = self._ask(asked)
        found = dict.fromkeys(id for ids in [*answers[:size], *answers[3 * size:]] for id in ids)
        found |= dict.fromkeys(self._newest(targets, answers[size:2 * size]))
        attached = list(dict.fromkeys(id for ids in answers[2 * size:3 * size] for id in ids if id not in found))
        skipped, known = 0, []
        readable = len(attached) <= self.mount.bound
        if len(found) <= self.mount.bound:                   # these will be read: whole, instead of twice
            self.box.load([*found, *(attached if names is None and readable else ())])
        if readable:
            known = self.box.metas(attached)
            if names is not None:
                self.box.load([m.id for m in known if any(names(a.name) for a in m.attachments)])
            for meta in known:
                if self._in_attachments(meta, terms):
                    found[meta.id] = None
        else:
            skipped = len(attached)
        paths = self._paths(self.box.metas(found))
        paths += self._paths([m for m in known if m.id not in found], messages=False)
        return self._candidates(paths, skipped)

    def service(self, words: list[str], total: int) -> Candidates:
        """What the service finds for the words of the pattern, which is not all that matches."""
        targets = self._targets()
        answers = self._ask([*(_with(t, " ".join(words)) for t in targets),
                             *({**t, "maxResults": NEWEST} for t in targets)])
        found = dict.fromkeys(id for ids in answers[:len(targets)] for id in ids)
        found |= dict.fromkeys(self._newest(targets, answers[len(targets):]))
        new = [id for id in found if id not in self.box.contents]
        kept = [m.id for m in self.box.kept() if m.id not in found]
        skipped = max(0, total - (len(new) if self._listed() else len(found) + len(kept)))
        found |= dict.fromkeys(kept)
        return self._candidates(self._paths(self.box.metas(found)), skipped)

    def _newest(self, targets: list[dict[str, Any]], first: list[list[str]]) -> list[str]:
        """Messages that the index may not know yet."""
        since = self.mount.client.now() - self.mount.lag
        found = self.box.recent(since)
        for target, ids in zip(targets, first, strict=True):
            metas = self.box.metas(ids)
            new = [m.id for m in metas if m.date / 1000 >= since]
            if len(new) == NEWEST:                           # perhaps there are more: all of the last day
                day = f"{target.get('q', '')} after:{int(since) - 86400}".strip()
                new = [m.id for m in self.box.metas(self._ask([{**target, "q": day}])[0]) if m.date / 1000 >= since]
                new += [m.id for m in metas]
            found += new
        return found

    # ---- from messages to paths

    @staticmethod
    def _in_attachments(meta: Meta, terms: list[str]) -> bool:
        """Is a word in the names, types or sizes that the file tells of the attachments?"""
        text = " ".join(f"{a.name} {a.title} {a.mime_type} {a.size}" for a in meta.attachments).casefold()
        words = set(TOKEN.findall(text)) | set(PLAIN.findall(text))
        return any(term in words for term in terms)

    def _paths(self, metas: list[Meta], messages: bool = True) -> list[str]:
        """The files of messages that the command would read, and those of their attachments."""
        inside = {f.path for f in self.folders}
        names, known = self.query.names, self.box.folders()
        found = []
        for meta in metas:
            for folder in known.of(meta.labels):
                if folder.path not in inside:
                    continue
                path = self.mount.path_of(meta, folder)
                if messages and (names is None or names(path.rpartition("/")[2])):
                    found.append(path)
                stem = path.removesuffix(JSON)
                found += [f"{stem}/{a.name}" for a in meta.attachments if names is None or names(a.name)]
        return found

    def _candidates(self, paths: list[str], skipped: int) -> Candidates:
        paths = sorted(dict.fromkeys(paths), key=_walk_order)
        self.mount.counters.add(searches=1, candidates=len(paths))
        return Candidates(paths, not skipped, skipped, left_out(skipped))


def _forms(term: str) -> str:
    """The word in the text or a file name; also without the letter of an escape sequence before it."""
    forms = [term, f"filename:{term}"]
    if term[0] in ESCAPES and len(term) > 1:
        forms.append(term[1:])
    return "{" + " ".join(forms) + "}"


def _with(target: dict[str, Any], text: str) -> dict[str, Any]:
    return {**target, "q": f"{target.get('q', '')} {text}".strip()}


def _of_label(label: Folder | str) -> dict[str, Any]:
    if isinstance(label, str):
        return {"labelIds": [label], "includeSpamTrash": True}
    return query_of(label.label or "") if label.label != "ARCHIVE" else {"q": ARCHIVE_QUERY}


def _walk_order(path: str) -> list[tuple[int, str]]:
    """A walk gives the files of a directory before what is in its directories."""
    *directories, name = path.split("/")
    return [*((1, d) for d in directories), (0, name)]
