"""What is known of one account: folders, listings, messages; asked for when needed, kept fresh by the history.

Every method may wait for the service, through mirage.process.blocking; no lock is held meanwhile.
"""
from __future__ import annotations

import errno
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from mirage.mounts.gmail.client import BATCH, GmailClient
from mirage.mounts.gmail.folders import ARCHIVE, ARCHIVE_QUERY, Folders
from mirage.mounts.mail.ahead import Ahead
from mirage.mounts.mail.message import Attachment, Mail, Meta, decode, walk
from mirage.process import blocking
from mirage.vfs.service import ByteCache, Freshness, service_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mirage.mounts.mail.folders import Folder

LIST = "gmail.users.messages.list"
PAGE = 500
FULL_BATCH = 50                                              # whole messages in one call
WIDTH = 4                                                    # calls at a time
SMALL = 1 << 20                                              # attachments up to this size are fetched several at once
LABELS_TTL = 30.0
_PART = "partId,mimeType,filename,body(attachmentId,size)"
FIELDS = ("id,threadId,labelIds,internalDate,payload(partId,mimeType,filename,headers,body(attachmentId,size),"
          f"parts({_PART},parts({_PART},parts({_PART},parts))))")


class Mailbox:
    """`cache` bounds the bytes of kept contents; `ttl` seconds until a long line asks for changes again."""

    def __init__(self, client: GmailClient, ttl: float = 30.0, cache: int = 64 << 20) -> None:
        self.client = client
        self.contents = ByteCache(cache)
        self._lock = threading.Lock()
        self._fresh = Freshness(ttl)
        self._labels_fresh = Freshness(LABELS_TTL)
        self._folders: Folders | None = None
        self.address = ""                                    # of the account, once known
        self._history = ""
        self._metas: dict[str, Meta] = {}
        self._lists: dict[str, dict[str, None]] = {}         # label -> ids, newest first
        self._sorted: dict[str, tuple[dict[str, None], list[Meta]]] = {}
        self._days: dict[tuple[str | None, int], tuple[int, list[Meta]]] = {}
        self._ids: dict[str, list[str]] = {}                 # first pages that were asked for in advance
        self._recent: dict[str, float] = {}                  # id -> when the history told of it, service's clock
        self._ahead = Ahead(self.contents)
        self._epoch = 0

    # ---- state

    def now(self) -> float:
        """Seconds since the epoch on the service's clock."""
        return self.client.now()

    def start(self, *more: Any) -> list[Any]:
        """Labels and the place in the history, if they are not known, together with further requests."""
        requests = list(more)
        known = self._folders is not None
        if not known:
            requests += [self._users("labels.list"), self._users("getProfile")]
        if not requests:
            return []
        answers: list[Any] = blocking.call(self.client.batch, requests)
        if not known:
            labels, profile = answers[-2:]
            for answer in (labels, profile):
                if isinstance(answer, OSError):
                    raise answer
            answers = answers[:-2]
            with self._lock:
                self._folders = Folders(labels.get("labels", ()))
                self._history = str(profile["historyId"])
                self.address = str(profile.get("emailAddress", ""))
            self._fresh.done()
            self._labels_fresh.done()
        return answers

    def _users(self, method: str, **parameters: Any) -> Any:
        """A request; the first one loads the library, which takes a quarter of a second."""
        if not self.client.connected:
            blocking.call(self.client.connect)
        return self.client.users(method, **parameters)

    def _message(self, id: str, **more: Any) -> Any:
        return self._users("messages.get", id=id, format="full", **more)

    def folders(self, again: bool = False) -> Folders:
        """The folders. `again`: somebody asks for one that is not there; look whether it was made meanwhile."""
        if self._folders is None:
            self.start()
        elif again and self._labels_fresh.due():
            self.reload_labels()
        assert self._folders is not None
        return self._folders

    def reload_labels(self) -> None:
        answer = blocking.call(self.client.execute, self._users("labels.list"))
        with self._lock:
            self._folders = Folders(answer.get("labels", ()))
        self._labels_fresh.done()

    def refresh(self) -> None:
        """Take in what changed, unless that was asked a moment ago. One call, and one more per 500 changes."""
        if self._folders is None:
            self.start()
            return
        if not self._fresh.due():
            return
        self._fresh.done()
        token, start = None, self._history
        while True:
            options: dict[str, Any] = {"pageToken": token} if token else {}
            try:
                answer = blocking.call(self.client.execute, self._users(
                    "history.list", startHistoryId=start, maxResults=PAGE, **options))
            except OSError as e:
                if e.errno != errno.ENOENT:
                    self._fresh.expire()
                    raise
                self.forget()                                # too long ago: the service does not know any more
                self.start()
                return
            for record in answer.get("history", ()):
                self._take(record)
            token = answer.get("nextPageToken")
            if not token:
                break
        with self._lock:
            self._history = str(answer.get("historyId") or start)

    def _take(self, record: dict[str, Any]) -> None:
        for change in record.get("messagesDeleted", ()):
            self.removed(change["message"]["id"])
        for kind in ("messagesAdded", "labelsAdded", "labelsRemoved"):
            for change in record.get(kind, ()):
                message = change["message"]
                self.changed(message["id"], message.get("labelIds", ()), new=kind == "messagesAdded")

    def changed(self, id: str, labels: Iterable[str], new: bool = False) -> None:
        """A message has these labels now."""
        now = frozenset(labels)
        with self._lock:
            folders = self._folders
            if folders is None:
                return
            if new:
                self._recent[id] = self.client.now()
            meta = self._metas.get(id)
            if meta is not None:
                meta.labels = now
            inside = {folder.label for folder in folders.of(now)}
            self._epoch += 1
            self._ids.clear()
            for label, ids in self._lists.items():
                if label in inside:
                    if id not in ids:
                        self._lists[label] = {id: None, **ids}
                elif id in ids:
                    self._lists[label] = {i: None for i in ids if i != id}

    def removed(self, id: str) -> None:
        """A message is gone."""
        with self._lock:
            self._epoch += 1
            self._ids.clear()
            self._metas.pop(id, None)
            self._recent.pop(id, None)
            for label, ids in self._lists.items():
                if id in ids:
                    self._lists[label] = {i: None for i in ids if i != id}
        self.contents.drop(id)

    def touch(self) -> None:
        """Somebody changed the account: ask before the next answer."""
        self._fresh.expire()

    def folders_changed(self) -> None:
        """Somebody made or deleted a folder: ask for all of them and for what is in them."""
        self._fresh.expire()
        self.reload_labels()
        with self._lock:
            self._lists.clear()
            self._sorted.clear()
            self._ids.clear()

    def forget(self) -> None:
        """Drop all that may have changed; contents of messages never change."""
        with self._lock:
            self._epoch += 1
            self._folders = None
            self._lists.clear()
            self._sorted.clear()
            self._ids.clear()
            self._metas.clear()

    # ---- listings

    def is_listed(self, folder: Folder) -> bool:
        return folder.label in self._lists

    def listed(self, folder: Folder, id: str) -> bool:
        if not all(c in "0123456789abcdef" for c in id):
            return False
        known = self._lists.get(folder.label or "")
        return known is None or id in known

    def messages(self, folder: Folder) -> list[Meta]:
        """All messages of a folder, oldest first: pages of ids, then what is not known in batches of 100.

        The same list object as long as nothing changes.
        """
        label = folder.label
        if label is None:
            return []
        ids = self._lists.get(label)
        if ids is None:
            ids = self._list(label)
        known = self._sorted.get(label)
        if known is not None and known[0] is ids:
            return known[1]
        metas = sorted(self.metas(ids), key=lambda m: (m.date, m.id))
        with self._lock:
            if self._lists.get(label) is ids:
                self._sorted[label] = (ids, metas)
        return metas

    def _list(self, label: str) -> dict[str, None]:
        epoch = self._epoch
        first = self._ids.pop(label, None)
        if first is None:
            if self._lists and label != ARCHIVE:             # the second folder: perhaps somebody looks at all
                self._list_ahead(label)
                first = self._ids.pop(label, None)
            if first is None:
                first = blocking.call(self._pages, label)
        ids = dict.fromkeys(first)
        with self._lock:
            if epoch == self._epoch:
                self._lists[label] = ids
        return ids

    def _pages(self, label: str) -> list[str]:
        found = self.client.pages(LIST, "messages", maxResults=PAGE, **query_of(label))
        return [m["id"] for m in found]

    def _list_ahead(self, label: str) -> None:
        """The first pages of every folder that is not listed yet, in one call; kept where they are all."""
        labels = [label, *(x for x in self.folders().by_label if x not in self._lists and x != label)][:BATCH]
        epoch = self._epoch
        answers = blocking.call(self.client.batch, [
            self._users("messages.list", maxResults=PAGE, **query_of(x)) for x in labels])
        with self._lock:
            if epoch == self._epoch:
                for x, answer in zip(labels, answers, strict=True):
                    if isinstance(answer, dict) and not answer.get("nextPageToken"):
                        self._ids[x] = [m["id"] for m in answer.get("messages", ())]

    def day(self, folder: Folder, start: int, end: int) -> list[Meta]:
        """The messages of a folder between two times (seconds since the epoch), without listing all of it."""
        key, epoch = (folder.label, start), self._epoch
        known = self._days.get(key)
        if known is not None and known[0] == epoch:
            return known[1]
        query = query_of(folder.label or "")
        query["q"] = f"{query.get('q', '')} after:{start - 1} before:{end + 1}".strip()
        found = blocking.call(partial(self.client.pages, LIST, "messages", maxResults=PAGE, **query))
        metas = sorted((m for m in self.metas([m["id"] for m in found]) if start * 1000 <= m.date < end * 1000),
                       key=lambda m: (m.date, m.id))
        self._days[key] = (epoch, metas)
        return metas

    def metas(self, ids: Iterable[str]) -> list[Meta]:
        """What listings need; messages that are gone are left out."""
        wanted = list(ids)
        missing = [id for id in wanted if id not in self._metas]
        if missing:
            self._each_batch(missing, BATCH, lambda id: self._message(id, fields=FIELDS),
                             lambda id, answer: self._keep(Meta(answer)))
        return [meta for id in wanted if (meta := self._metas.get(id)) is not None]

    def _keep(self, meta: Meta) -> Meta:
        with self._lock:
            known = self._metas.get(meta.id)
            if known is not None:
                return known
            self._metas[meta.id] = meta
            return meta

    def _each_batch(self, items: Sequence[Any], size: int, request: Callable[[Any], Any],
                    keep: Callable[[Any, Any], Any]) -> None:
        """Ask for every item in batches, several at a time. What is gone is left out; other errors are raised."""
        pieces = [items[i:i + size] for i in range(0, len(items), size)]

        def fetch(piece: Sequence[Any]) -> None:
            for item, answer in zip(piece, self.client.batch([request(item) for item in piece]), strict=True):
                if isinstance(answer, OSError):
                    if answer.errno != errno.ENOENT:
                        raise answer
                else:
                    keep(item, answer)

        if len(pieces) == 1:
            blocking.call(fetch, pieces[0])
            return
        for result in blocking.map_ordered(fetch, pieces, WIDTH):
            if isinstance(result, Exception):
                raise result

    def count(self, folder: Folder) -> int:
        """How many messages are in a folder, or in all for the root, as the service counts."""
        if folder.label is not None and folder.label in self._lists:
            return len(self._lists[folder.label])
        if folder.label in (None, ARCHIVE):
            return int(blocking.call(self.client.execute, self._users("getProfile"))["messagesTotal"])
        label = blocking.call(self.client.execute, self._users("labels.get", id=folder.label))
        return int(label["messagesTotal"])

    # ---- messages

    def meta(self, id: str) -> Meta | None:
        """One message; None where there is none. Not known: its content is fetched too, in the same call."""
        known = self._metas.get(id)
        if known is not None:
            return known
        request = self._users("messages.get", id=id, format="full")
        answer = self.start(request)[0]
        if isinstance(answer, OSError):
            if answer.errno in (errno.ENOENT, errno.EINVAL):
                return None
            raise answer
        return self._keep_mail(answer).meta

    def _keep_mail(self, answer: dict[str, Any]) -> Mail:
        for part in walk(answer.get("payload", {})):
            data = part.get("body", {})
            if data.get("attachmentId") and "data" not in data and not part.get("filename") \
                    and str(part.get("mimeType", "")).startswith("text/"):
                data["data"] = self._attachment_data(answer["id"], data["attachmentId"])
        mail = Mail(answer)
        mail.meta = self._keep(mail.meta)
        self.contents.put(mail.meta.id, mail, mail.size)
        return mail

    def mail(self, meta: Meta, following: Callable[[], list[Meta]] | None = None) -> Mail:
        """The content of a message. `following` gives what somebody who reads in order will want next."""
        known: Mail | None = self.contents.get(meta.id)
        if known is not None:
            self._ahead.read(meta)
            return known
        ahead = self._ahead.wanted(meta, following) if following is not None else []
        self.load([meta.id, *(m.id for m in ahead)])
        self._ahead.read(meta)
        known = self.contents.get(meta.id)
        if known is None:                                    # too large to be kept, or pushed out, or gone
            request = self._users("messages.get", id=meta.id, format="full")
            known = blocking.call(lambda: self._keep_mail(self.client.execute(request)))
        return known

    def load(self, ids: Iterable[str]) -> None:
        """Fetch contents that are not kept, 50 in a call, several calls at a time."""
        missing = [id for id in dict.fromkeys(ids) if id not in self.contents]
        if missing:
            self._each_batch(missing, FULL_BATCH, self._message, lambda id, answer: self._keep_mail(answer))

    def _attachment_data(self, id: str, token: str) -> str:
        return str(self.client.execute(self._part(id, token)).get("data", ""))

    def _part(self, id: str, token: str) -> Any:
        return self._users("messages.attachments.get", messageId=id, id=token)

    def attachment(self, meta: Meta, attachment: Attachment) -> bytes:
        """The bytes of an attachment. Their ids do not last, so they come from the message."""
        key = (meta.id, attachment.part)
        known: bytes | None = self.contents.get(key)
        if known is None:
            mail = self.mail(meta)
            known = blocking.call(self._fetch_attachment, mail, attachment)
        return known

    def _fetch_attachment(self, mail: Mail, attachment: Attachment) -> bytes:
        token = mail.tokens.get(attachment.part)
        if token is None:
            raise service_error(errno.EIO, f"gmail: the attachment {attachment.title!r} has no content")
        data = decode(self._attachment_data(mail.meta.id, token))
        return self._keep_attachment(mail.meta.id, attachment, data)

    def _keep_attachment(self, id: str, attachment: Attachment, data: bytes) -> bytes:
        attachment.size = len(data)
        self.contents.put((id, attachment.part), data, len(data) + 100)
        return data

    def load_attachments(self, pairs: Sequence[tuple[Meta, Attachment]]) -> None:
        """Fetch small attachments that are not kept, several in a call of about a megabyte."""
        missing = [(m, a) for m, a in pairs if (m.id, a.part) not in self.contents and (a.size or 0) <= SMALL]
        self.load([m.id for m, _ in missing])
        groups: list[list[tuple[Meta, Attachment, str]]] = []
        held = 0
        for meta, attachment in missing:
            mail: Mail | None = self.contents.get(meta.id)
            token = mail.tokens.get(attachment.part) if mail is not None else None
            if token is None:
                continue
            if not groups or held + (attachment.size or 0) > SMALL or len(groups[-1]) >= FULL_BATCH:
                groups.append([])
                held = 0
            groups[-1].append((meta, attachment, token))
            held += attachment.size or 0

        def fetch(group: list[tuple[Meta, Attachment, str]]) -> None:
            answers = self.client.batch([self._part(m.id, token) for m, _, token in group])
            for (m, a, _), answer in zip(group, answers, strict=True):
                if isinstance(answer, dict):
                    self._keep_attachment(m.id, a, decode(answer.get("data", "")))

        for result in blocking.map_ordered(fetch, groups, WIDTH):
            if isinstance(result, Exception):
                raise result

    def raw(self, id: str) -> bytes:
        """The message as it came, RFC 5322."""
        request = self._users("messages.get", id=id, format="raw")
        return decode(blocking.call(self.client.execute, request).get("raw", ""))

    def kept(self) -> list[Meta]:
        """The messages whose contents are here."""
        with self._lock:
            return [meta for id, meta in self._metas.items() if id in self.contents]

    def recent(self, since: float) -> list[str]:
        """Ids of messages that the history told of after a time of the service's clock."""
        with self._lock:
            self._recent = {id: at for id, at in self._recent.items() if at >= since}
            return list(self._recent)


def query_of(label: str) -> dict[str, Any]:
    """Parameters of messages.list for a folder."""
    return {"q": ARCHIVE_QUERY} if label == ARCHIVE else {"labelIds": [label]}
