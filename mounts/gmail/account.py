"""Changes of a Gmail account (mirage/mounts/mail/account.py)."""
from __future__ import annotations

import base64
import errno
from functools import partial
from typing import TYPE_CHECKING, Any

from mirage.mounts.gmail.folders import ARCHIVE
from mirage.mounts.gmail.mailbox import PAGE, query_of
from mirage.mounts.mail.account import Receipt, partly
from mirage.process import blocking
from mirage.vfs.service import service_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mirage.mounts.gmail.mount import Gmail
    from mirage.mounts.mail.message import Meta

MOST = 25 << 20                                              # bytes of attachments that Gmail takes
INLINE = 4 << 20                                             # larger messages are uploaded


class GmailAccount:
    most = MOST
    syntax = "words and Gmail's operators: from: subject: has:attachment after:2026/01/31 ..."

    def __init__(self, mount: Gmail) -> None:
        self.client = mount.client
        self.box = mount.box

    def _do(self, method: str, **parameters: Any) -> Any:
        """One request that changes something: never sent twice where it may have been carried out."""
        request = self.client.users(method, **parameters)
        return blocking.call(self.client.execute, request, request.method == "GET")

    def _done(self, answer: dict[str, Any], new: bool = False) -> Meta | Receipt:
        """The message that the service has just told of."""
        id = answer["id"]
        self.box.changed(id, answer.get("labelIds", ()), new)
        self.box.touch()
        try:
            metas = self.box.metas([id])
        except OSError:                                      # what was asked for has happened all the same
            metas = []
        return metas[0] if metas else Receipt(id, str(answer.get("threadId", "")))

    def _each(self, metas: Sequence[Meta], ask: Callable[[Meta], dict[str, Any]]) -> list[Meta | Receipt]:
        """One request for each message; the error of one says what was done before."""
        done: list[Meta | Receipt] = []
        for meta in metas:
            try:
                answer = ask(meta)
            except OSError as e:
                raise partly(e, [one.id for one in done], len(metas)) from None
            done.append(self._done(answer))
        return done

    @staticmethod
    def _resource(raw: bytes, wrap: bool = False, **message: Any) -> dict[str, Any]:
        """body and media_body of a method that takes a message."""
        message = {key: value for key, value in message.items() if value}
        if len(raw) <= INLINE:
            message["raw"] = base64.urlsafe_b64encode(raw).decode()
            return {"body": {"message": message} if wrap else message}
        from googleapiclient.http import MediaInMemoryUpload
        return {"body": {"message": message} if wrap else message or None,
                "media_body": MediaInMemoryUpload(raw, "message/rfc822")}

    def address(self) -> str:
        if not self.box.address:
            self.box.start()
        return self.box.address

    def send(self, raw: bytes, thread: str = "") -> Meta | Receipt:
        return self._done(self._do("messages.send", **self._resource(raw, threadId=thread)), new=True)

    def insert(self, raw: bytes, label: str, marks: Iterable[str] = ()) -> Meta | Receipt:
        labels = [*([] if label == ARCHIVE else [label]), *marks]
        return self._done(self._do("messages.insert", internalDateSource="dateHeader",
                                   **self._resource(raw, labelIds=labels)), new=True)

    # ---- filing

    def change(self, metas: Sequence[Meta], add: Sequence[str], remove: Sequence[str]) -> list[Meta]:
        body = {"addLabelIds": list(add), "removeLabelIds": list(remove)}
        if len(metas) == 1:
            answer = self._do("messages.modify", id=metas[0].id, body=body)
            self.box.changed(metas[0].id, answer.get("labelIds", ()))
        else:
            self._do("messages.batchModify", body={**body, "ids": [m.id for m in metas]})
            for meta in metas:
                self.box.changed(meta.id, (meta.labels | set(add)) - set(remove))
        self.box.touch()
        return list(metas)

    def move(self, metas: Sequence[Meta], label: str) -> list[Meta | Receipt]:
        """What was sent stays in Sent as well."""
        if label in ("SENT", "DRAFT"):
            raise service_error(errno.EINVAL, "gmail: messages cannot be moved to Sent or Drafts", 400)
        if label == "TRASH":
            return self.trash(metas)
        folders = self.box.folders().by_label
        add = [] if label == ARCHIVE else [label]

        def modify(meta: Meta) -> dict[str, Any]:
            remove = [x for x in meta.labels if x in folders and x not in ("SENT", "DRAFT", label)]
            answer: dict[str, Any] = self._do("messages.modify", id=meta.id, body={
                "addLabelIds": add, "removeLabelIds": remove})
            return answer
        return self._each(metas, modify)

    def trash(self, metas: Sequence[Meta]) -> list[Meta | Receipt]:
        return self._each(metas, lambda meta: self._do("messages.trash", id=meta.id))

    def delete(self, metas: Sequence[Meta]) -> None:
        if len(metas) == 1:
            self._do("messages.delete", id=metas[0].id)
        else:
            self._do("messages.batchDelete", body={"ids": [m.id for m in metas]})
        for meta in metas:
            self.box.removed(meta.id)
        self.box.touch()

    # ---- looking

    def search(self, query: str, label: str, most: int) -> tuple[list[str], bool]:
        options = query_of(label) if label else {}
        if query:
            options["q"] = f"{options.get('q', '')} {query}".strip()
        found = self._pages("messages", most + 1, **options)
        return [m["id"] for m in found], len(found) > most

    def _pages(self, key: str, most: int | None, **options: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = blocking.call(partial(
            self.client.pages, f"gmail.users.{key}.list", key, most, maxResults=PAGE, **options))
        return found

    def headers(self, meta: Meta) -> list[dict[str, str]]:
        answer = self._do("messages.get", id=meta.id, format="metadata")
        found: list[dict[str, str]] = answer.get("payload", {}).get("headers", [])
        return found

    def counts(self, labels: Sequence[str]) -> dict[str, tuple[int, int]]:
        if ARCHIVE in labels:
            raise service_error(errno.EINVAL, "gmail: Archive has no numbers: it is what has no folder", 400)
        answers = blocking.call(self.client.batch, [self.client.users("labels.get", id=x) for x in labels])
        return {x: (answer.get("messagesTotal", 0), answer.get("messagesUnread", 0))
                for x, answer in zip(labels, answers, strict=True) if isinstance(answer, dict)}

    def check(self) -> dict[str, Any]:
        answer = self._do("getProfile")
        return {"address": answer["emailAddress"], "messages": answer["messagesTotal"]}

    # ---- folders

    def create_folder(self, name: str) -> str:
        answer = self._do("labels.create", body={"name": name.strip("/")})
        self._folders_changed()
        return str(answer["id"])

    def delete_folder(self, label: str) -> None:
        if label == ARCHIVE:
            raise service_error(errno.EINVAL, "gmail: Archive cannot be deleted", 400)
        self._do("labels.delete", id=label)
        self._folders_changed()

    def _folders_changed(self) -> None:
        try:
            self.box.folders_changed()
        except OSError:                                      # asked for again when somebody looks
            self.box.forget()

    def reload_folders(self) -> None:
        self.box.reload_labels()

    # ---- drafts

    def save_draft(self, raw: bytes, id: str = "", old: Meta | None = None) -> tuple[str, Meta | Receipt]:
        resource = self._resource(raw, wrap=True)
        answer = self._do("drafts.update", id=id, **resource) if id else self._do("drafts.create", **resource)
        if old is not None:
            self.box.removed(old.id)
        return answer["id"], self._done({**answer["message"], "labelIds": ["DRAFT"]}, new=True)

    def drafts(self, most: int | None = None) -> list[tuple[str, str]]:
        return [(d["id"], d["message"]["id"]) for d in self._pages("drafts", most)]

    def delete_draft(self, id: str, meta: Meta) -> None:
        self._do("drafts.delete", id=id)
        self.box.removed(meta.id)
        self.box.touch()

    def send_draft(self, id: str, meta: Meta) -> Meta | Receipt:
        answer = self._do("drafts.send", body={"id": id})
        self.box.removed(meta.id)
        return self._done(answer, new=True)
