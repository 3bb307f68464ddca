"""`google-doc`: make and edit documents."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from mirage.clis._drive import ANYWHERE, FIELDS, Arguments, DriveTool, FileId, Name, tool_from_config
from mirage.clis.framework import Call, OperationError, operation
from mirage.mounts.gdrive.items import DOC
from mirage.mounts.gdrive.texts import document_text, single_tab

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount


class CreateDocument(Arguments):
    title: Name
    text: str | None = Field(None, description="plain text to begin with")
    folder_id: str | None = Field(None, description="id of the folder, or its path; default: the top")


class OneDocument(Arguments):
    document_id: FileId


class AppendText(OneDocument):
    text: str = Field(min_length=1)


class InsertText(AppendText):
    index: int = Field(description="startIndex of an element of the document; 1 is the beginning", ge=1)


class ReplaceText(OneDocument):
    find: str = Field(min_length=1)
    replace: str
    match_case: bool = True


class BatchUpdate(OneDocument):
    requests: list[dict[str, Any]] = Field(description="requests of documents.batchUpdate", min_length=1)


class DocCli(DriveTool):
    default, description = "google-doc", "Make and edit Google documents."

    @operation("Make a document", CreateDocument, effects=("create",))
    def create_document(self, call: Call, a: CreateDocument) -> Any:
        folder = self.folder_of(call, a.folder_id)
        made = self.write(
            "drive.files.create",
            inside=[folder],
            body={"name": a.title, "mimeType": DOC, "parents": [folder]},
            fields=FIELDS,
            **ANYWHERE,
        )
        if a.text:
            try:
                self._batch(made["id"], [_append(a.text)])
            except OperationError as e:
                text = f"the document {made['id']} was made, but its text was not put in: {e}"
                raise OperationError(text, e.code) from None
        return self.shown(made, folder, "doc-text")

    @operation("A document as Markdown", OneDocument, effects=("read",))
    def get_document(self, call: Call, a: OneDocument) -> Any:
        found = self.read("docs.documents.get", documentId=self.id_of(call, a.document_id), includeTabsContent=True)
        return {"documentId": found["documentId"], "title": found.get("title", ""),
                "text": document_text(single_tab(found))}

    @operation("Insert text at an index", InsertText, effects=("update",))
    def insert_text(self, call: Call, a: InsertText) -> Any:
        return self._batch(self.id_of(call, a.document_id),
                           [{"insertText": {"location": {"index": a.index}, "text": a.text}}])

    @operation("Append text", AppendText, effects=("update",))
    def append_text(self, call: Call, a: AppendText) -> Any:
        return self._batch(self.id_of(call, a.document_id), [_append(a.text)])

    @operation("Replace text everywhere", ReplaceText, effects=("update",))
    def replace_text(self, call: Call, a: ReplaceText) -> Any:
        answer = self._batch(self.id_of(call, a.document_id), [{"replaceAllText": {
            "containsText": {"text": a.find, "matchCase": a.match_case}, "replaceText": a.replace}}])
        count = answer["replies"][0].get("replaceAllText", {}).get("occurrencesChanged", 0)
        return {"documentId": answer["documentId"], "occurrencesChanged": count}

    @operation("Any requests of documents.batchUpdate", BatchUpdate, effects=("update", "destroy"),
               when={"destroy": lambda a: any(key.startswith("delete") for r in a.requests for key in r)})
    def batch_update(self, call: Call, a: BatchUpdate) -> Any:
        return self._batch(self.id_of(call, a.document_id), a.requests)

    def _batch(self, id: str, requests: list[dict[str, Any]]) -> Any:
        return self.write("docs.documents.batchUpdate", [id], documentId=id, body={"requests": requests})


def _append(text: str) -> dict[str, Any]:
    return {"insertText": {"endOfSegmentLocation": {}, "text": text}}


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> DocCli:
    """For mirage.yaml; see tool_from_config."""
    return tool_from_config(DocCli, name, options, mounts, folder)
