"""`gdrive`: files and folders of Google Drive: make, upload, move, share, throw away, and look."""
from __future__ import annotations

import mimetypes
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from mirage.clis._drive import ANYWHERE, FIELDS, Arguments, DriveTool, FileId, Name, Nothing, tool_from_config
from mirage.clis.framework import Call, OperationError, operation
from mirage.mounts.gdrive.account import ALL
from mirage.mounts.gdrive.items import DOC, FOLDER, SHEET, SHORTCUT
from mirage.mounts.gdrive.search import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount

INLINE = 5 << 20                                             # larger files are uploaded in pieces
CHUNK = 8 << 20
KINDS = {".md": "text/markdown", ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".jsonl": "application/jsonl"}
CONVERTED = {"text/csv": SHEET, "text/tab-separated-values": SHEET, "text/plain": DOC, "text/markdown": DOC,
             "text/html": DOC}
Role = Literal["reader", "commenter", "writer", "fileOrganizer", "organizer", "owner"]


class OneFile(Arguments):
    file_id: FileId


class Page(Arguments):
    page_size: int = Field(100, ge=1, le=1000)
    page_token: str | None = Field(None, description="nextPageToken of the page before")


class ListFiles(Page):
    folder_id: str | None = Field(None, description="id of the folder, or its path; default: the top")


class SearchFiles(Page):
    query: str = Field(description="words of the content or name", min_length=1)
    q: str | None = Field(None, description="further condition in Drive's query language: mimeType = '...' and ...")
    page_size: int = Field(20, ge=1, le=1000)


class InFolder(Arguments):
    parent_id: str | None = Field(None, description="id of the folder, or its path; default: the top")


class CreateFolder(InFolder):
    name: Name


class UploadFile(InFolder):
    path: str = Field(description="file of the terminal", min_length=1)
    name: str | None = Field(None, description="default: that of the file")
    mime_type: str | None = None
    convert: bool = Field(False, description="make a Google document of a text, a spreadsheet of a CSV")


class UpdateFile(OneFile):
    path: str = Field(description="file of the terminal with the new content", min_length=1)


class ExportFile(OneFile):
    mime_type: str = Field(description="application/pdf, text/csv, text/plain, ...", min_length=1)


class MoveFile(OneFile):
    folder_id: str = Field(description="id of the folder, or its path", min_length=1)


class CopyFile(OneFile, InFolder):
    name: str | None = None


class RenameFile(OneFile):
    name: Name


class ShareFile(OneFile):
    role: Role
    email: str | None = Field(None, description="address of a person or group")
    domain: str | None = None
    anyone: bool = Field(False, description="everybody who has the link")
    notify: bool = Field(True, description="send an e-mail")

    @model_validator(mode="after")
    def _one(self) -> ShareFile:
        if (self.email is not None) + (self.domain is not None) + self.anyone != 1:
            raise ValueError("give one of email, domain and anyone")
        return self


class OnePermission(OneFile):
    permission_id: str = Field(description="id in the list of permissions", min_length=1)


class UpdatePermission(OnePermission):
    role: Role


class DriveCli(DriveTool):
    default, description = "gdrive", "Change Google Drive: files, folders, sharing."

    # ---- looking

    @operation("List a folder", ListFiles, effects=("read",))
    def list_files(self, call: Call, a: ListFiles) -> Any:
        folder = self.folder_of(call, a.folder_id)
        return self._list(f"'{folder}' in parents and trashed = false", a, "folder,name")

    @operation("Search by words", SearchFiles, effects=("read",))
    def search_files(self, call: Call, a: SearchFiles) -> Any:
        q = f"fullText contains {quoted(a.query)} and trashed = false"
        return self._list(f"{q} and ({a.q})" if a.q else q, a)

    def _list(self, q: str, a: Page, order: str | None = None) -> Any:
        given = {key: value for key, value in (("pageToken", a.page_token), ("orderBy", order)) if value}
        return self.read("drive.files.list", q=q, pageSize=a.page_size, fields=f"nextPageToken,files({FIELDS})",
                         **ALL, **given)

    @operation("About one file", OneFile, effects=("read",))
    def get_file(self, call: Call, a: OneFile) -> Any:
        return self.read("drive.files.get", fileId=self.id_of(call, a.file_id), **ANYWHERE,
                         fields=FIELDS + ",description,createdTime,owners(emailAddress),shared,trashed,driveId,version")

    @operation("Print a document in another format", ExportFile, effects=("read",))
    def export_file(self, call: Call, a: ExportFile) -> bytes:
        data, _ = self._do(partial(self.client.media, "drive.files.export_media", fileId=self.id_of(call, a.file_id),
                                   mimeType=a.mime_type))
        return bytes(data)

    @operation("Who has access", OneFile, effects=("read",))
    def list_permissions(self, call: Call, a: OneFile) -> Any:
        found = self._do(partial(self.client.pages, "drive.permissions.list", "permissions",
                                 fileId=self.id_of(call, a.file_id), **ANYWHERE, pageSize=100,
                                 fields="nextPageToken,permissions(id,type,role,emailAddress,domain,displayName)"))
        return {"permissions": found}

    @operation("List shared drives", Nothing, effects=("read",))
    def list_drives(self, call: Call, a: Nothing) -> Any:
        return {"drives": self._do(partial(self.client.pages, "drive.drives.list", "drives", pageSize=100,
                                           fields="nextPageToken,drives(id,name)"))}

    @operation("The account and its space", Nothing, effects=("read",))
    def about(self, call: Call, a: Nothing) -> Any:
        return self.read("drive.about.get", fields="user(displayName,emailAddress),storageQuota")

    # ---- making

    def _create(self, parent: str, body: dict[str, Any], **media: Any) -> Any:
        body = {**body, "parents": [parent]}
        made = self.write("drive.files.create", inside=[parent], body=body, fields=FIELDS, **ANYWHERE, **media)
        return self.shown(made, parent)

    @operation("Make a folder", CreateFolder, effects=("create",))
    def create_folder(self, call: Call, a: CreateFolder) -> Any:
        return self._create(self.folder_of(call, a.parent_id), {"name": a.name, "mimeType": FOLDER})

    @operation("Upload a file", UploadFile, effects=("create",))
    def upload_file(self, call: Call, a: UploadFile) -> Any:
        data, kind = call.read_file(a.path), a.mime_type or _kind(a.path)
        parent, body = self.folder_of(call, a.parent_id), {"name": a.name or a.path.rstrip("/").rpartition("/")[2]}
        if a.convert:
            if kind not in CONVERTED:
                raise OperationError(f"{a.path}: {kind} cannot be converted", "invalid_arguments", 2)
            body["mimeType"] = CONVERTED[kind]
        if len(data) <= INLINE:
            return self._create(parent, body, media_body=_media(data, kind))
        return self.shown(
            self._upload("drive.files.create", [], [parent], data, kind, body={**body, "parents": [parent]}), parent
        )

    @operation("Replace a file's content", UpdateFile, effects=("update",))
    def update_file(self, call: Call, a: UpdateFile) -> Any:
        data, id, kind = call.read_file(a.path), self.id_of(call, a.file_id), _kind(a.path)
        if len(data) > INLINE:
            return self._upload("drive.files.update", [id], [], data, kind, fileId=id)
        return self.write(
            "drive.files.update", [id], fileId=id, media_body=_media(data, kind), fields=FIELDS, **ANYWHERE
        )

    def _upload(
        self, method: str, changes: list[str], inside: list[str], data: bytes, kind: str, **parameters: Any
    ) -> Any:
        """In pieces; after a failure it goes on where it was."""
        try:
            return self._do(partial(self.client.upload, method, media_body=_media(data, kind, True), fields=FIELDS,
                                    **ANYWHERE, **parameters))
        finally:
            self.mount.account.changed(*changes, inside=inside)

    @operation("Copy a file", CopyFile, effects=("create",))
    def copy_file(self, call: Call, a: CopyFile) -> Any:
        id = self.id_of(call, a.file_id)
        parents = [self.id_of(call, a.parent_id)] if a.parent_id else self._parents(id)
        body = {**({"name": a.name} if a.name else {}), "parents": parents}
        made = self.write("drive.files.copy", inside=parents, fileId=id, body=body, fields=FIELDS, **ANYWHERE)
        return self.shown(made, parents[0] if parents else "")

    @operation("Make a shortcut to a file", CopyFile, effects=("create",))
    def create_shortcut(self, call: Call, a: CopyFile) -> Any:
        id = self.id_of(call, a.file_id)
        name = a.name or self.read("drive.files.get", fileId=id, fields="name", **ANYWHERE)["name"]
        return self._create(self.folder_of(call, a.parent_id),
                            {"name": name, "mimeType": SHORTCUT, "shortcutDetails": {"targetId": id}})

    # ---- changing

    def _parents(self, id: str) -> list[str]:
        found: list[str] = self.read("drive.files.get", fileId=id, fields="parents", **ANYWHERE).get("parents", [])
        return found

    def _change(self, id: str, body: dict[str, Any]) -> Any:
        return self.write("drive.files.update", [id], self._unlisted(id), fileId=id, body=body,
                          fields=FIELDS + ",trashed", **ANYWHERE)

    def _unlisted(self, id: str) -> list[str]:
        """The folder of a file, where nobody has listed it: perhaps it comes back into one that was."""
        return [] if id in self.mount.account.parents else self._parents(id)

    @operation("Move a file or folder", MoveFile, effects=("update",))
    def move_file(self, call: Call, a: MoveFile) -> Any:
        id, folder = self.id_of(call, a.file_id), self.id_of(call, a.folder_id)
        old = self._parents(id)
        made = self.write("drive.files.update", [id], [folder, *old], fileId=id, addParents=folder,
                          removeParents=",".join(old), fields=FIELDS, **ANYWHERE)
        self.mount.account.parents.pop(id, None)
        return self.shown(made, folder)

    @operation("Rename a file or folder", RenameFile, effects=("update",))
    def rename_file(self, call: Call, a: RenameFile) -> Any:
        made = self._change(self.id_of(call, a.file_id), {"name": a.name})
        return self.shown(made, self.mount.account.parents.get(made["id"], ""))

    @operation("Throw a file or folder away", OneFile, effects=("destroy",))
    def trash_file(self, call: Call, a: OneFile) -> Any:
        return self._change(self.id_of(call, a.file_id), {"trashed": True})

    @operation("Take it back out of the trash", OneFile, effects=("update",))
    def untrash_file(self, call: Call, a: OneFile) -> Any:
        return self._change(self.id_of(call, a.file_id), {"trashed": False})

    @operation("Delete for good, without trash", OneFile, effects=("destroy",))
    def delete_file(self, call: Call, a: OneFile) -> Any:
        id = self.id_of(call, a.file_id)
        self.write("drive.files.delete", [id], fileId=id, **ANYWHERE)
        return {"id": id, "deleted": True}

    # ---- sharing

    @operation("Share with a person, domain or everybody", ShareFile, effects=("share",))
    def share_file(self, call: Call, a: ShareFile) -> Any:
        body: dict[str, Any] = {"role": a.role, "type": "anyone" if a.anyone else "user" if a.email else "domain"}
        if a.email:
            body["emailAddress"] = a.email
        if a.domain:
            body["domain"] = a.domain
        id = self.id_of(call, a.file_id)
        more: dict[str, Any] = {"sendNotificationEmail": a.notify} if a.email else {}
        if a.role == "owner":
            more["transferOwnership"] = True
        return self.write("drive.permissions.create", fileId=id, body=body, fields="id,type,role,emailAddress,domain",
                          **ANYWHERE, **more)

    @operation("Change somebody's role", UpdatePermission, effects=("share",))
    def update_permission(self, call: Call, a: UpdatePermission) -> Any:
        return self.write("drive.permissions.update", fileId=self.id_of(call, a.file_id), body={"role": a.role},
                          permissionId=a.permission_id, fields="id,type,role,emailAddress,domain", **ANYWHERE)

    @operation("Take access away", OnePermission, effects=("share",))
    def remove_permission(self, call: Call, a: OnePermission) -> Any:
        self.write("drive.permissions.delete", fileId=self.id_of(call, a.file_id), permissionId=a.permission_id,
                   **ANYWHERE)
        return {"id": a.permission_id, "removed": True}


def _kind(path: str) -> str:
    name = path.rpartition("/")[2]
    suffix = "." + name.rpartition(".")[2].lower() if "." in name else ""
    return KINDS.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"


def _media(data: bytes, kind: str, resumable: bool = False) -> Any:
    from googleapiclient.http import MediaInMemoryUpload
    return MediaInMemoryUpload(data, mimetype=kind, resumable=resumable, **({"chunksize": CHUNK} if resumable else {}))


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> DriveCli:
    """For mirage.yaml; see tool_from_config."""
    return tool_from_config(DriveCli, name, options, mounts, folder)
