"""The state behind the simulated Gmail: messages, labels, drafts, history. Thread-safe, ids and clock deterministic."""
from __future__ import annotations

import copy
import hashlib
import threading
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from mirage.bench.services.gmail import mime
from mirage.bench.services.gmail.search import Index, parse_query

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mirage.bench.services.clock import Clock

SYSTEM = ("INBOX", "SENT", "DRAFT", "TRASH", "SPAM", "STARRED", "IMPORTANT", "UNREAD", "CHAT", "CATEGORY_FORUMS",
          "CATEGORY_UPDATES", "CATEGORY_PERSONAL", "CATEGORY_PROMOTIONS", "CATEGORY_SOCIAL")
DERIVED = ("SENT", "DRAFT")                                  # labels that nobody can set


class MailError(Exception):
    """An error of the API: HTTP status, message, and the reason of Google's error list."""

    def __init__(self, status: int, message: str, reason: str = "invalidArgument") -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


NOT_FOUND = "Requested entity was not found."


class Stored:
    """One message. `received` is in seconds of the mailbox's clock, `date` in milliseconds since the epoch."""

    __slots__ = ("_raw", "body", "date", "headers", "history", "id", "labels", "received", "thread")

    def __init__(self, id: str, thread: str, labels: Iterable[str], date: int, headers: mime.Headers, body: mime.Part,
                 raw: bytes | None = None, received: float = 0.0, history: int = 1) -> None:
        self.id = id
        self.thread = thread
        self.labels = set(labels)
        self.date = date
        self.headers = headers
        self.body = body
        self.received = received
        self.history = history
        self._raw = raw

    @property
    def raw(self) -> bytes:
        return self._raw if self._raw is not None else mime.to_bytes(self.headers, self.body)

    def header(self, name: str) -> str:
        name = name.lower()
        return next((v for n, v in self.headers if n.lower() == name), "")

    def attachments(self) -> list[mime.Part]:
        return [p for p in self.body.walk() if p.filename and not p.parts]

    def text(self) -> str:
        """All text of the bodies."""
        return "\n".join(p.content.decode("utf-8", "replace") for p in self.body.walk()
                         if p.mime_type.startswith("text/") and not p.filename)

    def size(self) -> int:
        return sum(p.size for p in self.body.walk() if not p.parts) + 600

    def state(self) -> dict[str, Any]:
        """What a comparison of two states looks at."""
        return {"threadId": self.thread, "labels": sorted(self.labels), "from": self.header("From"),
                "to": self.header("To"), "cc": self.header("Cc"), "bcc": self.header("Bcc"),
                "subject": self.header("Subject"), "text": self.text(),
                "attachments": [{"name": p.filename, "size": p.size, "sha256": hashlib.sha256(p.content).hexdigest()}
                                for p in self.attachments()]}


class Mailbox:
    """One account. Every method takes and gives the API's shapes; errors are MailError.

    index_lag  seconds until a new message is found by its words
    """

    def __init__(self, address: str, clock: Clock, index_lag: float = 0.0) -> None:
        self.address = address
        self.clock = clock
        self.index_lag = index_lag
        self.lock = threading.RLock()
        self.messages: dict[str, Stored] = {}
        self.labels: dict[str, str] = {name: name for name in SYSTEM}
        self.drafts: dict[str, str] = {}                     # draft id -> message id
        self.history: list[dict[str, Any]] = []
        self.history_id = 1000
        self.oldest_history = 1000
        self._next = 0
        self._index = Index()

    # ---- seeding and comparison

    def new_id(self, kind: str) -> str:
        self._next += 1
        return hashlib.blake2b(f"{kind}{self._next}".encode(), digest_size=8).hexdigest()

    def add(self, message: Stored) -> None:
        """A message as it was before the history began."""
        self.messages[message.id] = message

    def add_label(self, name: str) -> str:
        """The id of a user label, made if missing."""
        for id, known in self.labels.items():
            if known == name:
                return id
        id = f"Label_{sum(i.startswith('Label_') for i in self.labels) + 1}"
        self.labels[id] = name
        return id

    def snapshot(self) -> Any:
        """A copy to go back to with restore()."""
        with self.lock:
            messages = {}
            for id, m in self.messages.items():
                messages[id] = copy.copy(m)
                messages[id].labels = set(m.labels)
            return (messages, dict(self.labels), dict(self.drafts), list(self.history), self.history_id,
                    self.oldest_history, self._next)

    def restore(self, snapshot: Any) -> None:
        """The state of a snapshot(); the history goes on, so that clients see that everything changed."""
        with self.lock:
            messages, labels, drafts, history, number, oldest, counter = snapshot
            self.messages = {id: copy.copy(m) for id, m in messages.items()}
            for m in self.messages.values():
                m.labels = set(m.labels)
            self.labels, self.drafts, self.history = dict(labels), dict(drafts), list(history)
            self.history_id = max(self.history_id, number) + 1
            self.oldest_history = self.history_id
            self._next = counter
            self._index = Index()

    def state(self) -> dict[str, Any]:
        """Everything that counts, as plain values."""
        with self.lock:
            return {"messages": {id: m.state() for id, m in self.messages.items()},
                    "labels": {id: name for id, name in self.labels.items() if id not in SYSTEM},
                    "drafts": dict(self.drafts)}

    # ---- history

    def _record(self, kind: str, message: Stored, labels: Iterable[str] | None = None) -> None:
        self.history_id += 1
        message.history = self.history_id
        reference = {"id": message.id, "threadId": message.thread, "labelIds": sorted(message.labels)}
        change: dict[str, Any] = {"message": reference}
        if labels is not None:
            change["labelIds"] = sorted(labels)
        self.history.append({"id": str(self.history_id), "messages": [{"id": message.id, "threadId": message.thread}],
                             kind: [change]})

    def list_history(self, start: int, kinds: list[str], label: str, size: int, page: str) -> dict[str, Any]:
        with self.lock:
            if start < self.oldest_history:
                raise MailError(404, NOT_FOUND, "notFound")
            names = {"messageAdded": "messagesAdded", "messageDeleted": "messagesDeleted", "labelAdded": "labelsAdded",
                     "labelRemoved": "labelsRemoved"}
            wanted = {names[k] for k in kinds if k in names} or set(names.values())
            found = [h for h in self.history if int(h["id"]) > start and wanted & h.keys()
                     and (not label or any(label in c["message"]["labelIds"] or label in c.get("labelIds", ())
                                           for k in wanted for c in h.get(k, ())))]
            at = int(page or 0)
            result: dict[str, Any] = {"historyId": str(self.history_id)}
            if found[at:at + size]:
                result["history"] = found[at:at + size]
            if at + size < len(found):
                result["nextPageToken"] = str(at + size)
            return result

    def profile(self) -> dict[str, Any]:
        with self.lock:
            return {"emailAddress": self.address, "messagesTotal": len(self.messages),
                    "threadsTotal": len({m.thread for m in self.messages.values()}), "historyId": str(self.history_id)}

    # ---- labels

    def label(self, id: str, counts: bool = False) -> dict[str, Any]:
        with self.lock:
            if id not in self.labels:
                raise MailError(404, NOT_FOUND, "notFound")
            system = id in SYSTEM
            result: dict[str, Any] = {"id": id, "name": self.labels[id], "type": "system" if system else "user"}
            if not system:
                result |= {"messageListVisibility": "show", "labelListVisibility": "labelShow"}
            if counts:
                inside = [m for m in self.messages.values() if id in m.labels]
                unread = [m for m in inside if "UNREAD" in m.labels]
                result |= {"messagesTotal": len(inside), "messagesUnread": len(unread),
                           "threadsTotal": len({m.thread for m in inside}),
                           "threadsUnread": len({m.thread for m in unread})}
            return result

    def list_labels(self) -> dict[str, Any]:
        with self.lock:
            return {"labels": [self.label(id) for id in self.labels]}

    def create_label(self, name: str) -> dict[str, Any]:
        with self.lock:
            name = name.strip("/ ")
            if not name:
                raise MailError(400, "Invalid label name")
            if name.lower() in (known.lower() for known in self.labels.values()):
                raise MailError(409, "Label name exists or conflicts", "aborted")
            return self.label(self.add_label(name))

    def rename_label(self, id: str, name: str) -> dict[str, Any]:
        with self.lock:
            self._user_label(id)
            if any(known.lower() == name.lower() and other != id for other, known in self.labels.items()):
                raise MailError(409, "Label name exists or conflicts", "aborted")
            self.labels[id] = name
            return self.label(id)

    def delete_label(self, id: str) -> None:
        with self.lock:
            self._user_label(id)
            for message in self.messages.values():
                if id in message.labels:
                    message.labels.discard(id)
                    self._record("labelsRemoved", message, [id])
            del self.labels[id]

    def _user_label(self, id: str) -> None:
        if id not in self.labels:
            raise MailError(404, NOT_FOUND, "notFound")
        if id in SYSTEM:
            raise MailError(400, "Invalid update request")

    # ---- looking at messages

    def get(self, id: str) -> Stored:
        found = self.messages.get(id)
        if found is None:
            raise MailError(404, NOT_FOUND, "notFound")
        return found

    def search(self, query: str, labels: list[str], spam_and_trash: bool) -> list[Stored]:
        """Messages that match, newest first."""
        with self.lock:
            for label in labels:
                if label not in self.labels:
                    raise MailError(400, f"Invalid label: {label}")
            wanted = parse_query(query, self.clock.now()) if query.strip() else None
            everywhere = spam_and_trash or (wanted is not None and wanted.everywhere) \
                or bool({"SPAM", "TRASH"} & set(labels))
            now, found = self.clock.now(), []
            for message in self.messages.values():
                if not everywhere and message.labels & {"SPAM", "TRASH"}:
                    continue
                if not all(label in message.labels for label in labels):
                    continue
                if wanted is not None:
                    fresh = self.index_lag > 0 and now - message.received < self.index_lag
                    if not wanted.matches(self._index.of(message, self.labels, fresh)):
                        continue
                found.append(message)
            found.sort(key=lambda m: (m.date, m.id), reverse=True)
            return found

    def view(self, message: Stored, form: str, names: list[str]) -> dict[str, Any]:
        """A message resource in one of the API's formats."""
        result: dict[str, Any] = {"id": message.id, "threadId": message.thread, "labelIds": sorted(message.labels),
                                  "snippet": " ".join(message.text().split())[:100],
                                  "historyId": str(message.history), "internalDate": str(message.date),
                                  "sizeEstimate": message.size()}
        if form == "raw":
            result["raw"] = mime.encode(message.raw)
        elif form == "metadata":
            wanted = {n.lower() for n in names}
            result["payload"] = {"mimeType": message.body.mime_type,
                                 "headers": [{"name": n, "value": v} for n, v in message.headers
                                             if not wanted or n.lower() in wanted]}
        elif form == "full":
            result["payload"] = mime.payload(message.body, [*message.headers, *message.body.own_headers()])
        elif form != "minimal":
            raise MailError(400, f"Invalid value at 'format' \"{form}\"")
        return result

    # ---- changing messages

    def change_labels(self, ids: list[str], add: list[str], remove: list[str]) -> list[Stored]:
        with self.lock:
            for label in [*add, *remove]:
                if label not in self.labels or label in DERIVED:
                    raise MailError(400, f"Invalid label: {label}")
            found = [self.get(id) for id in ids]
            for message in found:
                self._set_labels(message, set(add), set(remove))
            return found

    def _set_labels(self, message: Stored, add: set[str], remove: set[str]) -> None:
        added, removed = add - message.labels, remove & message.labels
        message.labels = (message.labels | added) - removed
        if added:
            self._record("labelsAdded", message, added)
        if removed:
            self._record("labelsRemoved", message, removed)

    def trash(self, ids: list[str], back: bool = False) -> list[Stored]:
        with self.lock:
            found = [self.get(id) for id in ids]
            for message in found:
                if back:
                    self._set_labels(message, set(), {"TRASH"})
                else:
                    self._set_labels(message, {"TRASH"}, {"INBOX", "SPAM"})
            return found

    def delete(self, ids: list[str], strict: bool = True) -> None:
        with self.lock:
            for id in ids:
                if strict:
                    self.get(id)
                message = self.messages.pop(id, None)
                if message is not None:
                    self.drafts = {d: m for d, m in self.drafts.items() if m != id}
                    self._index.forget(id)
                    self._record("messagesDeleted", message)

    def receive(self, raw: bytes, labels: Iterable[str], thread: str = "", dated: bool = False) -> Stored:
        """A new message from its bytes; `dated`: at the time of its header Date."""
        headers, body = mime.from_bytes(raw)
        message = self._store(headers, body, labels, thread, raw)
        try:
            sent = parsedate_to_datetime(message.header("Date")) if dated else None
        except ValueError:
            sent = None
        if sent is not None:
            message.date = int(sent.timestamp()) * 1000
        return message

    def deliver(self, sender: str, subject: str, text: str, labels: Iterable[str] = ("INBOX", "UNREAD"),
                parts: list[mime.Part] | None = None, to: str = "") -> Stored:
        """Somebody writes to this account, as tests need it."""
        body = mime.text("plain", text)
        if parts:
            body = mime.Part("multipart/mixed", None, "", [body, *parts])
        headers = [("From", sender), ("To", to or self.address), ("Subject", subject)]
        return self._store(headers, body, labels, "", None)

    def _store(self, headers: mime.Headers, body: mime.Part, labels: Iterable[str], thread: str,
               raw: bytes | None) -> Stored:
        with self.lock:
            self.clock.advance(1)
            now, id = self.clock.now(), self.new_id("message")
            if thread and not any(m.thread == thread for m in self.messages.values()):
                raise MailError(404, NOT_FOUND, "notFound")
            message = Stored(id, thread or self._thread_of(headers) or id, labels, int(now) * 1000, headers, body, raw,
                             now)
            self.messages[id] = message
            self._record("messagesAdded", message)
            return message

    def _thread_of(self, headers: mime.Headers) -> str:
        """The thread of the message that this one refers to."""
        known = " ".join(v for n, v in headers if n.lower() in ("in-reply-to", "references"))
        if known:
            for message in self.messages.values():
                own = message.header("Message-ID")
                if own and own in known:
                    return message.thread
        return ""

    def send(self, raw: bytes, thread: str = "") -> Stored:
        """Send a message; who writes to this account itself also gets it."""
        headers, body = mime.from_bytes(raw)
        names = {n.lower() for n, _ in headers}
        recipients = " ".join(v for n, v in headers if n.lower() in ("to", "cc", "bcc"))
        if "@" not in recipients:
            raise MailError(400, "Recipient address required")
        if "from" not in names:
            headers.insert(0, ("From", self.address))
        with self.lock:
            if "message-id" not in names:
                headers.append(("Message-ID", f"<{self.new_id('mid')}@mail.gmail.com>"))
            labels = ["SENT"]
            if self.address.lower() in recipients.lower():
                labels += ["INBOX", "UNREAD"]
            return self._store(headers, body, labels, thread, raw if names >= {"from", "message-id"} else None)

    # ---- drafts

    def create_draft(self, raw: bytes, thread: str = "") -> dict[str, Any]:
        with self.lock:
            message = self.receive(raw, ["DRAFT"], thread)
            id = f"r{int(self.new_id('draft'), 16) >> 1}"
            self.drafts[id] = message.id
            return self.draft(id, "minimal")

    def draft(self, id: str, form: str = "full") -> dict[str, Any]:
        with self.lock:
            if id not in self.drafts:
                raise MailError(404, NOT_FOUND, "notFound")
            view = self.view(self.get(self.drafts[id]), form, [])
            if form == "minimal":
                view = {k: view[k] for k in ("id", "threadId", "labelIds")}
            return {"id": id, "message": view}

    def update_draft(self, id: str, raw: bytes, thread: str = "") -> dict[str, Any]:
        with self.lock:
            old = self.get(self.draft(id)["message"]["id"])
            message = self.receive(raw, ["DRAFT"], thread or (old.thread if old.thread != old.id else ""))
            self.drafts[id] = message.id
            self.delete([old.id])
            return self.draft(id, "minimal")

    def delete_draft(self, id: str) -> None:
        with self.lock:
            self.delete([self.draft(id)["message"]["id"]])

    def send_draft(self, id: str) -> Stored:
        with self.lock:
            old = self.get(self.draft(id)["message"]["id"])
            sent = self.send(old.raw, old.thread if old.thread != old.id else "")
            self.delete([old.id])
            return sent

    # ---- threads

    def thread(self, id: str) -> list[Stored]:
        with self.lock:
            found = [m for m in self.messages.values() if m.thread == id]
            if not found:
                raise MailError(404, NOT_FOUND, "notFound")
            return sorted(found, key=lambda m: m.date)


def difference(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What changed between two state()s: for messages, labels and drafts what was added, removed, changed."""
    result: dict[str, Any] = {}
    for kind in ("messages", "labels", "drafts"):
        old, new = before[kind], after[kind]
        result[kind] = {"added": {k: new[k] for k in new if k not in old},
                        "removed": {k: old[k] for k in old if k not in new},
                        "changed": {k: {"before": old[k], "after": new[k]} for k in new
                                    if k in old and old[k] != new[k]}}
    return result
