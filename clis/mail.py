"""`mail`: what changes a mailbox, and what the usual mail tools of agents offer, over the Gmail API."""
from __future__ import annotations

import errno
import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mirage.clis._compose import File, addresses, compose
from mirage.clis.framework import Call, OperationError, VirtualCli, operation
from mirage.mounts.gmail.folders import ARCHIVE
from mirage.mounts.gmail.message import EML, JSON
from mirage.mounts.gmail.mount import Gmail
from mirage.process import blocking
from mirage.vfs.names import split_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mirage.mounts.gmail.message import Mail, Meta
    from mirage.vfs.types import Mount

MOST = 25 << 20                                              # bytes of attachments that Gmail takes
INLINE = 4 << 20                                             # larger messages are uploaded
MARKS = {"read": ((), ("UNREAD",)), "unread": (("UNREAD",), ()), "important": (("IMPORTANT",), ()),
         "not_important": ((), ("IMPORTANT",)), "starred": (("STARRED",), ()), "not_starred": ((), ("STARRED",))}


def _one_line(text: str) -> str:
    if any(c in text for c in "\r\n\0"):
        raise ValueError("must be one line")
    return text


def _people(text: str) -> str:
    return ", ".join(addresses(_one_line(text)))


Line = Annotated[str, AfterValidator(_one_line)]
People = Annotated[str, AfterValidator(_people)]
Id = Annotated[str, Field(description="id of the message, or the path of its file", min_length=1)]
Ids = Annotated[list[str], Field(description="ids of messages, or paths of their files", min_length=1)]
Folder = Annotated[str, Field(description="folder such as INBOX, Sent, Archive, Projects/Apollo", min_length=1)]
Files = Annotated[list[str] | None, Field(description="paths of files to attach")]


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Nothing(Arguments):
    pass


class Content(Arguments):
    html_body: str | None = Field(None, description="the same text as HTML")
    cc: People | None = Field(None, description="addresses, comma-separated")
    bcc: People | None = Field(None, description="addresses, comma-separated")


class SendEmail(Content):
    to: People = Field(description="addresses, comma-separated")
    subject: Line
    body: str = Field(description="plain text")
    attachments: Files = None
    from_addr: Line | None = Field(None, description="an address of the account other than its own")
    from_name: Line | None = Field(None, description="the sender's name")


class ReplyEmail(Content):
    email_id: Id
    body: str = Field(description="plain text")
    reply_all: bool = Field(False, description="also to the others who got it")
    attachments: Files = None


class ForwardEmail(Content):
    email_id: Id
    to: People = Field(description="addresses, comma-separated")
    body: str | None = Field(None, description="text before the forwarded message")


class Page(Arguments):
    page: int = Field(1, ge=1)
    page_size: int = Field(20, ge=1, le=500)


class GetEmails(Page):
    folder: Folder = "INBOX"


class SearchEmails(Page):
    query: str = Field(description="words and Gmail's operators: from: subject: has:attachment after:2026/01/31 ...",
                       min_length=1)
    folder: Folder | None = Field(None, description="only in this folder; default: everywhere but Spam and Trash")


class OneEmail(Arguments):
    email_id: Id


class ManyEmails(Arguments):
    email_ids: Ids


class MoveEmail(OneEmail):
    target_folder: Folder


class MoveEmails(ManyEmails):
    target_folder: Folder


class MarkEmails(ManyEmails):
    status: Literal["read", "unread", "important", "not_important", "starred", "not_starred"]


class LabelEmails(ManyEmails):
    add: list[str] = Field(default_factory=list, description="labels to add")
    remove: list[str] = Field(default_factory=list, description="labels to take away")


class FolderName(Arguments):
    folder_name: Folder


class SomeFolder(Arguments):
    folder_name: Folder | None = Field(None, description="default: all folders")


class SaveDraft(Content):
    subject: Line
    body: str = Field(description="plain text")
    to: People | None = Field(None, description="addresses, comma-separated")
    attachments: Files = None


class UpdateDraft(Content):
    draft_id: str = Field(description="id of the draft, or the path of its file", min_length=1)
    subject: Line | None = None
    body: str | None = Field(None, description="plain text")
    to: People | None = Field(None, description="addresses, comma-separated")


class OneDraft(Arguments):
    draft_id: str = Field(description="id of the draft, or the path of its file", min_length=1)


class DownloadAttachment(OneEmail):
    attachment_filename: str
    path: str = Field("", description="where to put it; default: the current directory")


class MailCli(VirtualCli):
    """The CLI of one account. It shares the caches of the mount `service`, which is at `point` if it is mounted."""

    name = "mail"
    description = "Send, answer, file and delete e-mails. Read and search them as files."

    def __init__(self, service: Gmail, point: str | None = None, name: str = "mail") -> None:
        super().__init__()
        self.name = name
        self.service = service
        self.box = service.box
        self.point = point
        self.counters = service.counters

    # ---- helpers

    def _do(self, request: Any) -> Any:
        """One request that changes something: never sent twice where it may have been carried out."""
        try:
            return blocking.call(self.service.client.execute, request, request.method == "GET")
        except OSError as e:
            raise _explained(e) from None

    @property
    def _api(self) -> Any:
        return self.box.api

    def _pages(self, method: Any, key: str, most: int | None, **options: Any) -> list[dict[str, Any]]:
        pages = partial(self.service.client.pages, method, key, most, maxResults=500, **options)
        return blocking.call(pages)

    def _meta(self, id: str) -> Meta:
        """The message of an id or a path. OperationError 404 where there is none."""
        try:
            self.box.refresh()
            meta = self.box.meta(_id_of(id))
        except OSError as e:
            raise _explained(e) from None
        if meta is None:
            raise OperationError(f"no message {id!r}", 404)
        return meta

    def _mail(self, meta: Meta) -> Mail:
        try:
            return self.box.mail(meta)
        except OSError as e:
            raise _explained(e) from None

    def _label(self, folder: str) -> str:
        """The label id of a folder; its path may begin with the mount's."""
        name = folder
        if self.point is not None and (folder + "/").startswith(self.point.rstrip("/") + "/"):
            name = folder[len(self.point):]
        self.box.refresh()
        found = self.box.folders().label_of(name)
        if found is None:
            self.box.reload_labels()
            found = self.box.folders().label_of(name)
        if found is None:
            known = ", ".join(sorted(f.path for f in self.box.folders().by_label.values()))
            raise OperationError(f"no folder {folder!r}; there are: {known}", 404)
        return found

    def _path(self, meta: Meta, label: str = "") -> str | None:
        """The path of a message in the terminal: in the folder of `label`, where it is there, else in its first."""
        if self.point is None:
            return None
        folders = self.box.folders().of(meta.labels)
        chosen = next((f for f in folders if f.label == label), folders[0])
        return self.point.rstrip("/") + self.service.path_of(meta, chosen)

    def _result(self, answer: dict[str, Any], label: str = "", new: bool = False, **more: Any) -> dict[str, Any]:
        """What an operation prints about a message that the service has just told of."""
        id = answer["id"]
        self.box.changed(id, answer.get("labelIds", ()), new)
        self.box.touch()
        metas = self.box.metas([id])
        result = {"id": id, "threadId": answer.get("threadId", ""), **more}
        if metas and self.point is not None:
            result["path"] = self._path(metas[0], label)
        return result

    def _summary(self, meta: Meta, label: str = "") -> dict[str, Any]:
        result = {"id": meta.id, "threadId": meta.thread, "date": self.service.days.iso(meta.date),
                  "subject": meta.subject, "labels": self.box.folders().shown(meta.labels)}
        path = self._path(meta, label)
        return {**result, "path": path} if path is not None else result

    def _sender(self, name: str | None = None, address: str | None = None) -> str:
        from email.utils import formataddr
        if not self.box.address:
            try:
                self.box.start()
            except OSError as e:
                raise _explained(e) from None
        return formataddr((name or "", address or self.box.address))

    def _files(self, call: Call, paths: list[str] | None) -> list[File]:
        files, total = [], 0
        for path in paths or ():
            data = call.read_file(path)
            total += len(data)
            if total > MOST:
                raise OperationError(f"attachments are larger than {MOST >> 20} MiB", 413)
            files.append((path.rpartition("/")[2], data))
        return files

    def _resource(self, raw: bytes, thread: str = "", wrap: bool = False) -> dict[str, Any]:
        """body and media_body of a method that takes a message."""
        import base64
        message: dict[str, Any] = {"threadId": thread} if thread else {}
        if len(raw) <= INLINE:
            message["raw"] = base64.urlsafe_b64encode(raw).decode()
            return {"body": {"message": message} if wrap else message}
        from googleapiclient.http import MediaInMemoryUpload
        return {"body": {"message": message} if wrap else message or None,
                "media_body": MediaInMemoryUpload(raw, "message/rfc822")}

    def _send(self, raw: bytes, thread: str = "") -> dict[str, Any]:
        answer = self._do(self._api.messages.send(userId="me", **self._resource(raw, thread)))
        return self._result(answer, "SENT", new=True)

    # ---- sending

    @operation("Send an e-mail", SendEmail, effects=("send",))
    def send_email(self, call: Call, a: SendEmail) -> Any:
        raw = compose(self._sender(a.from_name, a.from_addr), [a.to], a.subject, a.body, html=a.html_body,
                      cc=_list(a.cc), bcc=_list(a.bcc), files=self._files(call, a.attachments), date=call.proc.now())
        return self._send(raw)

    @operation("Answer an e-mail", ReplyEmail, effects=("send",))
    def reply_email(self, call: Call, a: ReplyEmail) -> Any:
        mail = self._mail(self._meta(a.email_id))
        own = self._sender().lower()
        mine = own in ", ".join(mail.addresses("From")).lower()
        to = mail.addresses("To") if mine else mail.addresses("Reply-To") or mail.addresses("From")
        cc = _list(a.cc)
        if a.reply_all:
            others = ([] if mine else mail.addresses("To")) + mail.addresses("Cc")
            cc = [*cc, *(person for person in others if own not in person.lower() and person not in to)]
        if not to:
            raise OperationError("the message has no sender to answer to", 400)
        subject = mail.meta.subject
        raw = compose(self._sender(), to, subject if subject.lower().startswith("re:") else _clean(f"Re: {subject}"),
                      a.body, html=a.html_body, cc=cc, bcc=_list(a.bcc), files=self._files(call, a.attachments),
                      replies_to=mail.headers["Message-ID"], references=" ".join(mail.headers["References"].split()),
                      date=call.proc.now())
        return self._send(raw, mail.meta.thread)

    @operation("Send an e-mail on, with its attachments", ForwardEmail, effects=("send",))
    def forward_email(self, call: Call, a: ForwardEmail) -> Any:
        meta = self._meta(a.email_id)
        mail = self._mail(meta)
        head = [("From", ", ".join(mail.addresses("From"))), ("Date", self.service.days.iso(meta.date)),
                ("Subject", meta.subject), ("To", ", ".join(mail.addresses("To")))]
        quoted = "".join(f"{name}: {value}\n" for name, value in head)
        text = f"{a.body or ''}\n\n---------- Forwarded message ----------\n{quoted}\n{mail.body}".lstrip("\n")
        try:
            files = [(f.title, self.box.attachment(meta, f)) for f in meta.attachments]
        except OSError as e:
            raise _explained(e) from None
        subject = meta.subject if meta.subject.lower().startswith("fwd:") else f"Fwd: {meta.subject}"
        raw = compose(self._sender(), [a.to], _clean(subject), text, html=a.html_body, cc=_list(a.cc), bcc=_list(a.bcc),
                      files=files, date=call.proc.now())
        return self._send(raw)

    # ---- looking

    @operation("List a folder, newest first", GetEmails, effects=("read",))
    def get_emails(self, call: Call, a: GetEmails) -> Any:
        from mirage.mounts.gmail.mailbox import query_of
        label = self._label(a.folder)
        return self._listed(query_of(label), a, label)

    @operation("Search with Gmail's syntax, newest first", SearchEmails, effects=("read",))
    def search_emails(self, call: Call, a: SearchEmails) -> Any:
        from mirage.mounts.gmail.mailbox import query_of
        label = self._label(a.folder) if a.folder else ""
        options = query_of(label) if label else {}
        options["q"] = f"{options.get('q', '')} {a.query}".strip()
        self.counters.add(searches=1)
        return self._listed(options, a, label)

    def _listed(self, options: dict[str, Any], a: Page, label: str) -> Any:
        try:
            found = self._pages(self._api.messages.list, "messages", a.page * a.page_size, **options)
            self.box.refresh()
            metas = self.box.metas([m["id"] for m in found[(a.page - 1) * a.page_size:a.page * a.page_size]])
        except OSError as e:
            raise _explained(e) from None
        return {"emails": [self._summary(m, label) for m in metas], "page": a.page, "page_size": a.page_size,
                "more": len(found) > a.page * a.page_size}

    @operation("Read an e-mail (the same JSON as its file)", OneEmail, effects=("read",))
    def read_email(self, call: Call, a: OneEmail) -> Any:
        meta = self._meta(a.email_id)
        folder = self.box.folders().of(meta.labels)[0]
        data = self._mail(meta).render(meta, folder.path, self.point or "/", self.service.days.iso(meta.date),
                                       self.service.days.of(meta.date), self.box.folders().shown(meta.labels))
        value = json.loads(data)
        return value if self.point is None else {**value, "path": self._path(meta)}

    @operation("All headers of an e-mail", OneEmail, effects=("read",))
    def get_email_headers(self, call: Call, a: OneEmail) -> Any:
        meta = self._meta(a.email_id)
        answer = self._do(self._api.messages.get(userId="me", id=meta.id, format="metadata"))
        return {"id": meta.id, "headers": answer.get("payload", {}).get("headers", [])}

    @operation("Copy an attachment into a directory", DownloadAttachment, effects=("read",))
    def download_attachment(self, call: Call, a: DownloadAttachment) -> Any:
        meta = self._meta(a.email_id)
        wanted = [f for f in meta.attachments if a.attachment_filename in (f.name, f.title)]
        if not wanted:
            known = ", ".join(f.name for f in meta.attachments) or "none"
            raise OperationError(f"no attachment {a.attachment_filename!r}; there are: {known}", 404)
        path = a.path or wanted[0].name
        try:
            if call.proc.fs.is_dir(path):
                path = f"{path.rstrip('/')}/{wanted[0].name}"
            data = self.box.attachment(meta, wanted[0])
            call.proc.fs.write(path, data)
        except OSError as e:
            raise _explained(e) from None
        return {"path": path, "size": len(data)}

    # ---- filing

    @operation("Mark as read, unread, important, starred, ...", MarkEmails, effects=("update",))
    def mark_emails(self, call: Call, a: MarkEmails) -> Any:
        add, remove = MARKS[a.status]
        return self._change(a.email_ids, add, remove)

    @operation("Add or take away labels", LabelEmails, effects=("update",))
    def label_emails(self, call: Call, a: LabelEmails) -> Any:
        if not a.add and not a.remove:
            raise OperationError("nothing to add or remove", "invalid_arguments", 2)
        return self._change(a.email_ids, [self._label(n) for n in a.add], [self._label(n) for n in a.remove])

    @operation("Move an e-mail to another folder", MoveEmail, effects=("update",))
    def move_email(self, call: Call, a: MoveEmail) -> Any:
        return self._move([a.email_id], a.target_folder)[0]

    @operation("Move e-mails to another folder", MoveEmails, effects=("update",))
    def move_emails(self, call: Call, a: MoveEmails) -> Any:
        return {"emails": self._move(a.email_ids, a.target_folder)}

    def _move(self, ids: list[str], target: str) -> list[dict[str, Any]]:
        """Out of every folder, into one. What was sent stays in Sent as well."""
        label = self._label(target)
        if label in ("SENT", "DRAFT"):
            raise OperationError(f"messages cannot be moved to {target}", 400)
        metas = [self._meta(id) for id in ids]
        if label == "TRASH":
            return self._trash(metas)
        folders = self.box.folders().by_label
        results = []
        for meta in metas:
            remove = [x for x in meta.labels if x in folders and x not in ("SENT", "DRAFT", label)]
            answer = self._do(self._api.messages.modify(userId="me", id=meta.id, body={
                "addLabelIds": [] if label == ARCHIVE else [label], "removeLabelIds": remove}))
            results.append(self._result(answer, label))
        return results

    def _change(self, ids: list[str], add: Any, remove: Any) -> Any:
        metas = [self._meta(id) for id in ids]
        body = {"addLabelIds": list(add), "removeLabelIds": list(remove)}
        if len(metas) == 1:
            answer = self._do(self._api.messages.modify(userId="me", id=metas[0].id, body=body))
            self.box.changed(metas[0].id, answer.get("labelIds", ()))
        else:
            self._do(self._api.messages.batchModify(userId="me", body={**body, "ids": [m.id for m in metas]}))
            for meta in metas:
                self.box.changed(meta.id, (meta.labels | set(add)) - set(remove))
        self.box.touch()
        return {"emails": [self._summary(m) for m in metas]}

    def _trash(self, metas: list[Meta]) -> list[dict[str, Any]]:
        return [self._result(self._do(self._api.messages.trash(userId="me", id=m.id)), "TRASH") for m in metas]

    @operation("Move e-mails to Trash", ManyEmails, effects=("update",))
    def trash_emails(self, call: Call, a: ManyEmails) -> Any:
        return {"emails": self._trash([self._meta(id) for id in a.email_ids])}

    @operation("Delete an e-mail for good", OneEmail, effects=("destroy",))
    def delete_email(self, call: Call, a: OneEmail) -> Any:
        return self._delete([a.email_id])

    @operation("Delete e-mails for good", ManyEmails, effects=("destroy",))
    def delete_emails(self, call: Call, a: ManyEmails) -> Any:
        return self._delete(a.email_ids)

    def _delete(self, ids: list[str]) -> Any:
        metas = [self._meta(id) for id in ids]
        if len(metas) == 1:
            self._do(self._api.messages.delete(userId="me", id=metas[0].id))
        else:
            self._do(self._api.messages.batchDelete(userId="me", body={"ids": [m.id for m in metas]}))
        for meta in metas:
            self.box.removed(meta.id)
        self.box.touch()
        return {"deleted": [m.id for m in metas]}

    # ---- folders

    @operation("List the folders with their numbers of e-mails", Nothing, effects=("read",))
    def get_folders(self, call: Call, a: Nothing) -> Any:
        return {"folders": self._stats(None)}

    @operation("Create a folder; A/B makes B in A", FolderName, effects=("create",))
    def create_folder(self, call: Call, a: FolderName) -> Any:
        answer = self._do(self._api.labels.create(userId="me", body={"name": a.folder_name.strip("/")}))
        self.box.folders_changed()
        return self._folder(answer["id"])

    @operation("Delete a folder; its e-mails stay in Archive", FolderName, effects=("destroy",))
    def delete_folder(self, call: Call, a: FolderName) -> Any:
        label = self._label(a.folder_name)
        if label == ARCHIVE:
            raise OperationError("Archive cannot be deleted", 400)
        self._do(self._api.labels.delete(userId="me", id=label))
        self.box.folders_changed()
        return {"deleted": a.folder_name}

    @operation("Numbers of e-mails", SomeFolder, effects=("read",))
    def get_mailbox_stats(self, call: Call, a: SomeFolder) -> Any:
        return {"folders": self._stats(a.folder_name)}

    @operation("Numbers of unread e-mails", SomeFolder, effects=("read",))
    def get_unread_count(self, call: Call, a: SomeFolder) -> Any:
        return {f["name"]: f["unread"] for f in self._stats(a.folder_name)}

    def _folder(self, label: str) -> dict[str, Any]:
        folder = self.box.folders().by_label[label]
        result: dict[str, Any] = {"name": folder.path, "id": label}
        if self.point is not None:
            result["path"] = f"{self.point.rstrip('/')}/{folder.path}"
        return result

    def _stats(self, name: str | None) -> list[dict[str, Any]]:
        labels = [self._label(name)] if name else [x for x in self.box.folders().by_label if x != ARCHIVE]
        if ARCHIVE in labels:
            raise OperationError("Archive has no numbers: it is what has no folder", 400)
        get = self._api.labels.get
        try:
            answers = blocking.call(self.service.client.batch, [get(userId="me", id=x) for x in labels])
        except OSError as e:
            raise _explained(e) from None
        return [{**self._folder(x), "messages": answer.get("messagesTotal", 0),
                 "unread": answer.get("messagesUnread", 0)} for x, answer in zip(labels, answers, strict=True)
                if isinstance(answer, dict)]

    @operation("Is the account reachable?", Nothing, effects=("read",))
    def check_connection(self, call: Call, a: Nothing) -> Any:
        answer = self._do(self._api.get_profile(userId="me"))
        return {"connected": True, "address": answer["emailAddress"], "messages": answer["messagesTotal"]}

    # ---- drafts

    @operation("Save a draft", SaveDraft, effects=("create",))
    def save_draft(self, call: Call, a: SaveDraft) -> Any:
        raw = compose(self._sender(), _list(a.to), a.subject, a.body, html=a.html_body, cc=_list(a.cc),
                      bcc=_list(a.bcc), files=self._files(call, a.attachments), date=call.proc.now())
        answer = self._do(self._api.drafts.create(userId="me", **self._resource(raw, wrap=True)))
        return self._draft_result(answer)

    def _draft_result(self, answer: dict[str, Any]) -> dict[str, Any]:
        result = self._result({**answer["message"], "labelIds": ["DRAFT"]}, "DRAFT", new=True)
        return {**result, "id": answer["id"], "messageId": result["id"]}

    @operation("List drafts", Page, effects=("read",))
    def get_drafts(self, call: Call, a: Page) -> Any:
        drafts = self._drafts(a.page * a.page_size)
        chosen = drafts[(a.page - 1) * a.page_size:a.page * a.page_size]
        metas = {m.id: m for m in self.box.metas([d["message"]["id"] for d in chosen])}
        return {"drafts": [{**self._summary(metas[d["message"]["id"]], "DRAFT"), "id": d["id"],
                            "messageId": d["message"]["id"]} for d in chosen if d["message"]["id"] in metas]}

    def _drafts(self, most: int | None = None) -> list[dict[str, Any]]:
        try:
            return self._pages(self._api.drafts.list, "drafts", most)
        except OSError as e:
            raise _explained(e) from None

    def _draft(self, id: str) -> tuple[str, Meta]:
        """(draft id, its message) from the id of either, or a path."""
        wanted = _id_of(id)
        for draft in self._drafts():
            if wanted in (draft["id"], draft["message"]["id"]):
                return draft["id"], self._meta(draft["message"]["id"])
        raise OperationError(f"no draft {id!r}", 404)

    @operation("Change a draft; what is not given stays", UpdateDraft, effects=("update",))
    def update_draft(self, call: Call, a: UpdateDraft) -> Any:
        id, meta = self._draft(a.draft_id)
        mail = self._mail(meta)
        try:
            files = [(f.title, self.box.attachment(meta, f)) for f in meta.attachments]
        except OSError as e:
            raise _explained(e) from None
        raw = compose(self._sender(), _list(a.to) if a.to else mail.addresses("To"),
                      meta.subject if a.subject is None else a.subject, mail.body if a.body is None else a.body,
                      html=a.html_body, cc=_list(a.cc) if a.cc else mail.addresses("Cc"),
                      bcc=_list(a.bcc) if a.bcc else mail.addresses("Bcc"), files=files, date=call.proc.now())
        answer = self._do(self._api.drafts.update(userId="me", id=id, **self._resource(raw, wrap=True)))
        self.box.removed(meta.id)
        return self._draft_result(answer)

    @operation("Delete a draft", OneDraft, effects=("destroy",))
    def delete_draft(self, call: Call, a: OneDraft) -> Any:
        id, meta = self._draft(a.draft_id)
        self._do(self._api.drafts.delete(userId="me", id=id))
        self.box.removed(meta.id)
        self.box.touch()
        return {"deleted": id}

    @operation("Send a draft", OneDraft, effects=("send",))
    def send_draft(self, call: Call, a: OneDraft) -> Any:
        id, meta = self._draft(a.draft_id)
        answer = self._do(self._api.drafts.send(userId="me", body={"id": id}))
        self.box.removed(meta.id)
        return self._result(answer, "SENT", new=True)


def _id_of(text: str) -> str:
    """The id in a path such as /mail/INBOX/2026-09-09/Subject__6.email.json; other text is an id itself."""
    if "/" not in text and "__" not in text:
        return text
    name = text.rstrip("/").rpartition("/")[2]
    return split_id(name.removesuffix(JSON).removesuffix(EML))[1] or text


def _list(text: str | None) -> list[str]:
    return [text] if text else []


def _clean(subject: str) -> str:
    return " ".join(subject.split())


def _explained(e: OSError) -> OperationError:
    """The service's own words and status; the agent sees them as JSON."""
    note = str(getattr(e, "note", "") or e.strerror or e)
    status = getattr(e, "status", 0)
    return OperationError(note, status or errno.errorcode.get(e.errno or 0, "io").lower())


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> MailCli:
    """The CLI of a configuration. It shares the mount of the same account; without options, the first Gmail mount.

    Raises ValueError for unknown options, and where there is neither a mount nor a token.
    """
    from mirage.mounts.gmail import OPTIONS
    from mirage.vfs.registry import ProviderError, convert
    ready = {}
    for key, value in options.items():
        if key not in OPTIONS:
            raise ProviderError(f"clis.{name}: unknown option {key!r}; there are: {', '.join(sorted(OPTIONS))}")
        ready[key] = convert(name, key, value, OPTIONS[key], folder)
    for point, mount in mounts.items():
        if isinstance(mount, Gmail) and (not ready or mount.client.same_account(
                ready.get("token"), ready.get("credentials"), ready.get("endpoint", ""))):
            return MailCli(mount, point, name)
    if not ready:
        raise ProviderError(f"clis.{name}: give token or credentials, or mount gmail")
    return MailCli(Gmail(**ready), None, name)
