"""`mail`: what changes a mailbox, and what the usual mail tools of agents offer; for Gmail and IMAP."""
from __future__ import annotations

import base64
import errno
import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mirage.clis._compose import File, addresses, compose
from mirage.clis.framework import Call, OperationError, VirtualCli, operation
from mirage.mounts.mail.account import Receipt, partly
from mirage.mounts.mail.message import EML, JSON
from mirage.mounts.mail.tree import MailMount
from mirage.process import blocking
from mirage.vfs.names import split_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from mirage.mounts.mail.account import Account
    from mirage.mounts.mail.message import Mail, Meta
    from mirage.vfs.types import Mount

MARKS = {"read": ((), ("UNREAD",)), "unread": (("UNREAD",), ()), "important": (("IMPORTANT",), ()),
         "not_important": ((), ("IMPORTANT",)), "starred": (("STARRED",), ()), "not_starred": ((), ("STARRED",))}
EVERYWHERE = "*"
EXPORT = "mirage-mail-export"


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
    query: str = Field(description="words, and from: to: subject: before:2026/01/31 after: ...", min_length=1)
    folder: Folder = Field("INBOX", description="`*`: everywhere but Spam and Trash")


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


class ExportEmails(Arguments):
    folder: Folder | None = Field(None, description="default: INBOX")
    export_path: str = Field("emails_export.json", description="a file that is written in the terminal")
    max_emails: int | None = Field(None, ge=1, description="the newest ones; default: all")
    export_all_folders: bool = False


class ImportEmails(Arguments):
    import_path: str = Field(description="a file of export-emails, an .eml file, or a directory of them", min_length=1)
    target_folder: Folder | None = Field(None, description="where they go; default: where they were, else INBOX")
    preserve_folders: bool = Field(True, description="false: all of them into target_folder")


class DownloadAttachment(OneEmail):
    attachment_filename: str
    path: str = Field("", description="where to put it; default: the current directory")


class MailCli(VirtualCli):
    """The CLI of one account. It shares the caches of the mount `service`, which is at `point` if it is mounted."""

    name = "mail"
    description = "Send, answer, file and delete e-mails. Read and search them as files."

    def __init__(self, service: MailMount, point: str | None = None, name: str = "mail") -> None:
        super().__init__()
        self.name = name
        self.service = service
        self.box = service.box
        self.account: Account = service.account()
        self.point = point
        self.counters = service.counters

    # ---- helpers

    def _do(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """function(*arguments), with the service's errors in its own words."""
        try:
            return function(*arguments)
        except OSError as e:
            raise _explained(e) from None

    def _meta(self, id: str) -> Meta:
        """The message of an id or a path. OperationError 404 where there is none."""
        self._do(self.box.refresh)
        meta: Meta | None = self._do(self.box.meta, _id_of(id))
        if meta is None:
            raise OperationError(f"no message {id!r}", 404)
        return meta

    def _metas(self, ids: list[str]) -> list[Meta]:
        return [self._meta(id) for id in ids]

    def _mail(self, meta: Meta) -> Mail:
        mail: Mail = self._do(self.box.mail, meta)
        return mail

    def _label(self, folder: str) -> str:
        """The label id of a folder; its path may begin with the mount's."""
        name = folder
        if self.point is not None and (folder + "/").startswith(self.point.rstrip("/") + "/"):
            name = folder[len(self.point):]
        self._do(self.box.refresh)
        found: str | None = self.box.folders().label_of(name)
        if found is None:
            self._do(self.account.reload_folders)
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

    def _result(self, meta: Meta | Receipt, label: str | None = "", folder: str = "") -> dict[str, Any]:
        """What an operation prints about a message that it changed or made; without what cannot be asked any more.

        folder  the name of `label`, where that is not known
        """
        result = {"id": meta.id or None, "threadId": meta.thread or None}
        try:
            if folder:
                label = self.box.folders().label_of(folder)
            path = None if isinstance(meta, Receipt) else self._path(meta, label or "")
        except OSError:
            path = None
        return {**result, "path": path} if path is not None else result

    def _summary(self, meta: Meta, label: str = "") -> dict[str, Any]:
        result = {"id": meta.id, "threadId": meta.thread, "date": self.service.days.iso(meta.date),
                  "subject": meta.subject, "labels": self.box.folders().shown(meta.labels)}
        path = self._path(meta, label)
        return {**result, "path": path} if path is not None else result

    def _sender(self, name: str | None = None, address: str | None = None) -> str:
        from email.utils import formataddr
        return formataddr((name or "", address or self._do(self.account.address)))

    def _files(self, call: Call, paths: list[str] | None) -> list[File]:
        files, total = [], 0
        for path in paths or ():
            data = call.read_file(path)
            total += len(data)
            if total > self.account.most:
                raise OperationError(f"attachments are larger than {self.account.most >> 20} MiB", 413)
            files.append((path.rpartition("/")[2], data))
        return files

    def _attached(self, meta: Meta) -> list[File]:
        return [(f.title, self._do(self.box.attachment, meta, f)) for f in meta.attachments]

    def _send(self, raw: bytes, thread: str = "") -> dict[str, Any]:
        return self._sent(self._do(self.account.send, raw, thread))

    def _sent(self, meta: Meta | Receipt) -> dict[str, Any]:
        return self._result(meta, folder="Sent")

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
        subject = meta.subject if meta.subject.lower().startswith("fwd:") else f"Fwd: {meta.subject}"
        raw = compose(self._sender(), [a.to], _clean(subject), text, html=a.html_body, cc=_list(a.cc), bcc=_list(a.bcc),
                      files=self._attached(meta), date=call.proc.now())
        return self._send(raw)

    # ---- looking

    @operation("List a folder, newest first", GetEmails, effects=("read",))
    def get_emails(self, call: Call, a: GetEmails) -> Any:
        return self._listed("", self._label(a.folder), a)

    @operation("Search with the service's syntax, newest first", SearchEmails, effects=("read",))
    def search_emails(self, call: Call, a: SearchEmails) -> Any:
        self.counters.add(searches=1)
        return self._listed(a.query, "" if a.folder == EVERYWHERE else self._label(a.folder), a)

    def _listed(self, query: str, label: str, a: Page) -> Any:
        found, more = self._do(self.account.search, query, label, a.page * a.page_size)
        self._do(self.box.refresh)
        metas = self._do(self.box.metas, found[(a.page - 1) * a.page_size:a.page * a.page_size])
        return {"emails": [self._summary(m, label) for m in metas], "page": a.page, "page_size": a.page_size,
                "more": more}

    @operation("Read an e-mail (the same JSON as its file)", OneEmail, effects=("read",))
    def read_email(self, call: Call, a: OneEmail) -> Any:
        meta = self._meta(a.email_id)
        folder = self.box.folders().of(meta.labels)[0]
        value = json.loads(self.service.render(self._mail(meta), meta, folder))
        return value if self.point is None else {**value, "path": self._path(meta)}

    @operation("All headers of an e-mail", OneEmail, effects=("read",))
    def get_email_headers(self, call: Call, a: OneEmail) -> Any:
        meta = self._meta(a.email_id)
        return {"id": meta.id, "headers": self._do(self.account.headers, meta)}

    @operation("Copy an attachment into a directory", DownloadAttachment, effects=("read",))
    def download_attachment(self, call: Call, a: DownloadAttachment) -> Any:
        meta = self._meta(a.email_id)
        wanted = [f for f in meta.attachments if a.attachment_filename in (f.name, f.title)]
        if not wanted:
            known = ", ".join(f.name for f in meta.attachments) or "none"
            raise OperationError(f"no attachment {a.attachment_filename!r}; there are: {known}", 404)
        path = a.path or wanted[0].name
        if call.proc.fs.is_dir(path):
            path = f"{path.rstrip('/')}/{wanted[0].name}"
        data = self._do(self.box.attachment, meta, wanted[0])
        self._do(call.proc.fs.write, path, data)
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

    def _change(self, ids: list[str], add: Any, remove: Any) -> Any:
        return {"emails": [self._summary(m) for m in self._do(self.account.change, self._metas(ids), add, remove)]}

    @operation("Move an e-mail to another folder", MoveEmail, effects=("update",))
    def move_email(self, call: Call, a: MoveEmail) -> Any:
        return self._move([a.email_id], a.target_folder)[0]

    @operation("Move e-mails to another folder", MoveEmails, effects=("update",))
    def move_emails(self, call: Call, a: MoveEmails) -> Any:
        return {"emails": self._move(a.email_ids, a.target_folder)}

    def _move(self, ids: list[str], target: str) -> list[dict[str, Any]]:
        label = self._label(target)
        return [self._result(m, label) for m in self._do(self.account.move, self._metas(ids), label)]

    @operation("Move e-mails to Trash", ManyEmails, effects=("update",))
    def trash_emails(self, call: Call, a: ManyEmails) -> Any:
        return {"emails": [self._result(m) for m in self._do(self.account.trash, self._metas(a.email_ids))]}

    @operation("Delete an e-mail for good", OneEmail, effects=("destroy",))
    def delete_email(self, call: Call, a: OneEmail) -> Any:
        return self._delete([a.email_id])

    @operation("Delete e-mails for good", ManyEmails, effects=("destroy",))
    def delete_emails(self, call: Call, a: ManyEmails) -> Any:
        return self._delete(a.email_ids)

    def _delete(self, ids: list[str]) -> Any:
        metas = self._metas(ids)
        self._do(self.account.delete, metas)
        return {"deleted": [m.id for m in metas]}

    # ---- folders

    @operation("List the folders with their numbers of e-mails", Nothing, effects=("read",))
    def get_folders(self, call: Call, a: Nothing) -> Any:
        return {"folders": self._stats(None)}

    @operation("Create a folder; A/B makes B in A", FolderName, effects=("create",))
    def create_folder(self, call: Call, a: FolderName) -> Any:
        label = self._do(self.account.create_folder, a.folder_name)
        try:
            return self._folder(label)
        except (OSError, KeyError):                          # it was made; it cannot be looked at just now
            return {"name": a.folder_name, "id": label}

    @operation("Delete a folder", FolderName, effects=("destroy",))
    def delete_folder(self, call: Call, a: FolderName) -> Any:
        self._do(self.account.delete_folder, self._label(a.folder_name))
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
        labels = [self._label(name)] if name else [x for x in self._do(self.box.folders).by_label if x != "ARCHIVE"]
        return [{**self._folder(x), "messages": messages, "unread": unread}
                for x, (messages, unread) in self._do(self.account.counts, labels).items()]

    @operation("Is the account reachable?", Nothing, effects=("read",))
    def check_connection(self, call: Call, a: Nothing) -> Any:
        return {"connected": True, **self._do(self.account.check)}

    # ---- drafts

    @operation("Save a draft", SaveDraft, effects=("create",))
    def save_draft(self, call: Call, a: SaveDraft) -> Any:
        raw = compose(self._sender(), _list(a.to), a.subject, a.body, html=a.html_body, cc=_list(a.cc),
                      bcc=_list(a.bcc), files=self._files(call, a.attachments), date=call.proc.now())
        return self._draft_result(*self._do(self.account.save_draft, raw))

    def _draft_result(self, id: str, meta: Meta | Receipt) -> dict[str, Any]:
        return {**self._result(meta, folder="Drafts"), "id": id or None, "messageId": meta.id or None}

    @operation("List drafts", Page, effects=("read",))
    def get_drafts(self, call: Call, a: Page) -> Any:
        drafts = self._do(self.account.drafts, a.page * a.page_size)
        chosen = drafts[(a.page - 1) * a.page_size:a.page * a.page_size]
        metas = {m.id: m for m in self._do(self.box.metas, [message for _, message in chosen])}
        label = self.box.folders().label_of("Drafts") or ""
        return {"drafts": [{**self._summary(metas[message], label), "id": id, "messageId": message}
                           for id, message in chosen if message in metas]}

    def _draft(self, id: str) -> tuple[str, Meta]:
        """(draft id, its message) from the id of either, or a path."""
        wanted = _id_of(id)
        for draft, message in self._do(self.account.drafts):
            if wanted in (draft, message):
                return draft, self._meta(message)
        raise OperationError(f"no draft {id!r}", 404)

    @operation("Change a draft; what is not given stays", UpdateDraft, effects=("update",))
    def update_draft(self, call: Call, a: UpdateDraft) -> Any:
        id, meta = self._draft(a.draft_id)
        mail = self._mail(meta)
        raw = compose(self._sender(), _list(a.to) if a.to else mail.addresses("To"),
                      meta.subject if a.subject is None else a.subject, mail.body if a.body is None else a.body,
                      html=a.html_body, cc=_list(a.cc) if a.cc else mail.addresses("Cc"),
                      bcc=_list(a.bcc) if a.bcc else mail.addresses("Bcc"), files=self._attached(meta),
                      date=call.proc.now())
        return self._draft_result(*self._do(self.account.save_draft, raw, id, meta))

    @operation("Delete a draft", OneDraft, effects=("destroy",))
    def delete_draft(self, call: Call, a: OneDraft) -> Any:
        id, meta = self._draft(a.draft_id)
        self._do(self.account.delete_draft, id, meta)
        return {"deleted": id}

    @operation("Send a draft", OneDraft, effects=("send",))
    def send_draft(self, call: Call, a: OneDraft) -> Any:
        return self._sent(self._do(self.account.send_draft, *self._draft(a.draft_id)))

    # ---- archives

    @operation("Write e-mails into a file", ExportEmails, effects=("read",))
    def export_emails(self, call: Call, a: ExportEmails) -> Any:
        if a.folder is not None and a.export_all_folders:
            raise OperationError("give either folder or export_all_folders", "invalid_arguments", 2)
        known = self._do(self.box.folders).by_label
        labels = list(known) if a.export_all_folders else [self._label(a.folder or "INBOX")]
        found = []
        for label in labels:
            metas = self._do(self.box.messages, known[label])
            newest = metas[-a.max_emails:] if a.max_emails is not None else metas
            for meta, raw in zip(newest, blocking.map_ordered(self.box.raw, [m.id for m in newest], 4), strict=True):
                if isinstance(raw, Exception):
                    raise _explained(raw) if isinstance(raw, OSError) else raw
                marks = [mark for mark in ("UNREAD", "STARRED", "IMPORTANT") if mark in meta.labels]
                found.append({"folder": known[label].path, "marks": marks, "subject": meta.subject,
                              "date": self.service.days.iso(meta.date), "raw": base64.b64encode(raw).decode()})
        text = json.dumps({"format": EXPORT, "emails": found}, ensure_ascii=False, indent=1) + "\n"
        self._do(call.proc.fs.write, a.export_path, text.encode("utf-8", "replace"))
        return {"path": a.export_path, "exported": len(found)}

    @operation("Put e-mails from files into the mailbox", ImportEmails, effects=("create",))
    def import_emails(self, call: Call, a: ImportEmails) -> Any:
        target = self._label(a.target_folder) if a.target_folder is not None else None
        if target is None and not a.preserve_folders:
            raise OperationError("target_folder is needed where preserve_folders is false", "invalid_arguments", 2)
        results: list[dict[str, Any]] = []
        archived = list(self._archived(call, a.import_path))
        for folder, marks, raw in archived:
            own = folder if a.preserve_folders else None
            label = self._do(self._label_or_new, own) if own else target or self._label("INBOX")
            try:
                made = self.account.insert(raw, label, marks)
            except OSError as e:
                done = [str(result["id"]) for result in results]
                raise _explained(partly(e, done, len(archived))) from None
            results.append(self._result(made, label))
        return {"imported": len(results), "emails": results}

    def _label_or_new(self, folder: str) -> str:
        try:
            return self._label(folder)
        except OperationError:
            return self.account.create_folder(folder)

    def _archived(self, call: Call, path: str) -> Iterator[tuple[str | None, list[str], bytes]]:
        """(folder, marks, message) of what is in a file of export-emails, an .eml file, or a directory."""
        fs = call.proc.fs
        if fs.is_dir(path):
            for entry in sorted(fs.list(path), key=lambda e: e.name):
                if entry.name.endswith((EML, ".json")):
                    yield from self._archived(call, f"{path.rstrip('/')}/{entry.name}")
            return
        data = call.read_file(path)
        if not path.endswith(".json"):
            yield None, [], data
            return
        try:
            value = json.loads(data)
            if value["format"] != EXPORT:
                raise ValueError("another format")
            emails = [(str(e["folder"]), [str(m) for m in e["marks"]], base64.b64decode(e["raw"], validate=True))
                      for e in value["emails"]]
        except (ValueError, KeyError, TypeError):
            raise OperationError(f"{path}: not a file of export-emails", "file") from None
        yield from emails


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
    """The CLI of a configuration. It shares the mount of the same account; without options, the first of the provider.

    Raises ValueError for unknown options, and where there is neither a mount nor a token.
    """
    from importlib import import_module

    from mirage.vfs.registry import ProviderError, convert
    module = import_module(f"mirage.mounts.{provider}")
    ready = {}
    for key, value in options.items():
        if key not in module.OPTIONS:
            known = ", ".join(sorted(module.OPTIONS))
            raise ProviderError(f"clis.{name}: unknown option {key!r}; there are: {known}")
        ready[key] = convert(name, key, value, module.OPTIONS[key], folder)
    for point, mount in mounts.items():
        if isinstance(mount, MailMount) and mount.service.name == provider and (not ready or mount.is_account(ready)):
            return MailCli(mount, point, name)
    if not ready:
        raise ProviderError(f"clis.{name}: give the options of an account, or mount {provider}")
    return MailCli(module.build(**ready), None, name)
