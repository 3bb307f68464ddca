"""`google-sheet`: read and change spreadsheets, with the operations and arguments of agents' usual sheets tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from mirage.clis._drive import ANYWHERE, FIELDS, Arguments, DriveTool, FileId, Name, tool_from_config
from mirage.clis.framework import Call, OperationError, operation
from mirage.mounts.gdrive.account import ALL
from mirage.mounts.gdrive.items import FOLDER, SHEET
from mirage.mounts.gdrive.search import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount

Tab = Annotated[str, Field(description="title of the sheet (tab)", min_length=1)]
Range = Annotated[str | None, Field(description="A1:C10; default: everything")]
Values = Annotated[list[list[Any]], Field(description="rows of values; texts are read as if typed: =SUM(A1:A3) counts")]
Destroys = {"destroy": lambda a: any(key.startswith("delete") for request in a.requests for key in request)}


class OneSpreadsheet(Arguments):
    spreadsheet_id: FileId


class OneSheet(OneSpreadsheet):
    sheet: Tab


class GetSheetFormulas(OneSheet):
    range: Range = None


class GetSheetData(GetSheetFormulas):
    include_grid_data: bool = Field(False, description="cells as resources, with formats")


class UpdateCells(OneSheet):
    range: str = Field(description="A1:C10", min_length=1)
    data: Values


class BatchUpdateCells(OneSheet):
    ranges: dict[str, Values] = Field(description='{"A1:B2": [[1, 2], [3, 4]], ...}', min_length=1)


class AddRows(OneSheet):
    count: int = Field(ge=1)
    start_row: int | None = Field(None, description="0-based; default: at the beginning", ge=0)


class AddColumns(OneSheet):
    count: int = Field(ge=1)
    start_column: int | None = Field(None, description="0-based; default: at the beginning", ge=0)


class CopySheet(Arguments):
    src_spreadsheet: FileId
    src_sheet: Tab
    dst_spreadsheet: FileId
    dst_sheet: Tab


class RenameSheet(Arguments):
    spreadsheet: FileId
    sheet: Tab
    new_name: Name


class One(BaseModel):
    model_config = ConfigDict(extra="allow")
    spreadsheet_id: FileId
    sheet: Tab
    range: str = Field(min_length=1)


class GetMultipleSheetData(Arguments):
    queries: list[One] = Field(min_length=1)


class GetMultipleSpreadsheetSummary(Arguments):
    spreadsheet_ids: list[FileId] = Field(min_length=1)
    rows_to_fetch: int = Field(5, ge=1, le=1000)


class CreateSpreadsheet(Arguments):
    title: Name
    folder_id: str | None = Field(None, description="id of the folder, or its path; default: the top")


class CreateSheet(OneSpreadsheet):
    title: Name


class ListSpreadsheets(Arguments):
    folder_id: str | None = Field(None, description="id of the folder, or its path; default: the top")


class ListFolders(Arguments):
    parent_folder_id: str | None = Field(None, description="id of the folder, or its path; default: the top")


class ShareSpreadsheet(OneSpreadsheet):
    recipients: list[dict[str, str]] = Field(description='[{"email_address": "a@b.example", "role": "reader"}, ...]; '
                                                         "roles: reader, commenter, writer", min_length=1)
    send_notification: bool = True


class SearchSpreadsheets(Arguments):
    query: str = Field(description="words of the content or name", min_length=1)
    max_results: int = Field(20, ge=1, le=100)


class FindInSpreadsheet(OneSpreadsheet):
    query: str = Field(min_length=1)
    sheet: str | None = Field(None, description="only this sheet; default: all")
    case_sensitive: bool = False
    max_results: int = Field(50, ge=1)


class BatchUpdate(OneSpreadsheet):
    requests: list[dict[str, Any]] = Field(description="requests of spreadsheets.batchUpdate", min_length=1)


class SheetCli(DriveTool):
    default, description = "google-sheet", "Read and change Google spreadsheets."

    # ---- reading

    @operation("Values of a sheet", GetSheetData, effects=("read",))
    def get_sheet_data(self, call: Call, a: GetSheetData) -> Any:
        id, where = self.id_of(call, a.spreadsheet_id), _where(a.sheet, a.range)
        if a.include_grid_data:
            return self.read("sheets.spreadsheets.get", spreadsheetId=id, ranges=[where], includeGridData=True)
        found = self.read("sheets.spreadsheets.values.get", spreadsheetId=id, range=where)
        return {"spreadsheetId": id, "valueRanges": [{"range": where, "values": found.get("values", [])}]}

    @operation("Formulas of a sheet", GetSheetFormulas, effects=("read",))
    def get_sheet_formulas(self, call: Call, a: GetSheetFormulas) -> Any:
        return self.read("sheets.spreadsheets.values.get", spreadsheetId=self.id_of(call, a.spreadsheet_id),
                         range=_where(a.sheet, a.range), valueRenderOption="FORMULA").get("values", [])

    @operation("Set cells", UpdateCells, effects=("update",))
    def update_cells(self, call: Call, a: UpdateCells) -> Any:
        id = self.id_of(call, a.spreadsheet_id)
        return self.write("sheets.spreadsheets.values.update", [id], spreadsheetId=id, range=_where(a.sheet, a.range),
                          valueInputOption="USER_ENTERED", body={"values": a.data})

    @operation("Set several ranges of cells", BatchUpdateCells, effects=("update",))
    def batch_update_cells(self, call: Call, a: BatchUpdateCells) -> Any:
        id = self.id_of(call, a.spreadsheet_id)
        data = [{"range": _where(a.sheet, part), "values": values} for part, values in a.ranges.items()]
        return self.write("sheets.spreadsheets.values.batchUpdate", [id], spreadsheetId=id,
                          body={"valueInputOption": "USER_ENTERED", "data": data})

    @operation("Insert empty rows", AddRows, effects=("update",))
    def add_rows(self, call: Call, a: AddRows) -> Any:
        return self._insert(call, a, "ROWS", a.start_row or 0, a.count)

    @operation("Insert empty columns", AddColumns, effects=("update",))
    def add_columns(self, call: Call, a: AddColumns) -> Any:
        return self._insert(call, a, "COLUMNS", a.start_column or 0, a.count)

    def _insert(self, call: Call, a: OneSheet, dimension: str, start: int, count: int) -> Any:
        id = self.id_of(call, a.spreadsheet_id)
        return self._batch(
            id,
            [
                {
                    "insertDimension": {
                        "inheritFromBefore": start > 0,
                        "range": {
                            "sheetId": self._tab(id, a.sheet),
                            "dimension": dimension,
                            "startIndex": start,
                            "endIndex": start + count,
                        },
                    }
                }
            ],
        )

    @operation("Titles of the sheets", OneSpreadsheet, effects=("read",))
    def list_sheets(self, call: Call, a: OneSpreadsheet) -> Any:
        return list(self._tabs(self.id_of(call, a.spreadsheet_id)))

    @operation("Copy a sheet to another spreadsheet", CopySheet, effects=("create",))
    def copy_sheet(self, call: Call, a: CopySheet) -> Any:
        source, target = self.id_of(call, a.src_spreadsheet), self.id_of(call, a.dst_spreadsheet)
        made = self.write("sheets.spreadsheets.sheets.copyTo", [target], spreadsheetId=source,
                          sheetId=self._tab(source, a.src_sheet), body={"destinationSpreadsheetId": target})
        if made["title"] == a.dst_sheet:
            return {"copy": made}
        return {"copy": made, "rename": self._rename(target, made["sheetId"], a.dst_sheet)}

    @operation("Rename a sheet", RenameSheet, effects=("update",))
    def rename_sheet(self, call: Call, a: RenameSheet) -> Any:
        id = self.id_of(call, a.spreadsheet)
        return self._rename(id, self._tab(id, a.sheet), a.new_name)

    def _rename(self, id: str, tab: int, title: str) -> Any:
        return self._batch(id, [{"updateSheetProperties": {"properties": {"sheetId": tab, "title": title},
                                                           "fields": "title"}}])

    @operation("Values of several ranges", GetMultipleSheetData, effects=("read",))
    def get_multiple_sheet_data(self, call: Call, a: GetMultipleSheetData) -> Any:
        results = []
        for query in a.queries:
            try:
                found = self.read("sheets.spreadsheets.values.get", range=_where(query.sheet, query.range),
                                  spreadsheetId=self.id_of(call, query.spreadsheet_id))
                results.append({**query.model_dump(), "data": found.get("values", [])})
            except OperationError as e:
                results.append({**query.model_dump(), "error": str(e)})
        return results

    @operation("First rows of several spreadsheets", GetMultipleSpreadsheetSummary, effects=("read",))
    def get_multiple_spreadsheet_summary(self, call: Call, a: GetMultipleSpreadsheetSummary) -> Any:
        results: list[dict[str, Any]] = []
        for text in a.spreadsheet_ids:
            summary: dict[str, Any] = {"spreadsheet_id": text, "title": None, "sheets": [], "error": None}
            try:
                summary |= self._summary(self.id_of(call, text), a.rows_to_fetch)
            except OperationError as e:
                summary["error"] = str(e)
            results.append(summary)
        return results

    def _summary(self, id: str, count: int) -> dict[str, Any]:
        found = self.read("sheets.spreadsheets.get", spreadsheetId=id,
                          fields="properties(title),sheets(properties(title,sheetId,sheetType))")
        tabs = [sheet["properties"] for sheet in found["sheets"]
                if sheet["properties"].get("sheetType", "GRID") == "GRID"]
        answer = self.read("sheets.spreadsheets.values.batchGet", spreadsheetId=id,
                           ranges=[_where(tab["title"], f"A1:{count}") for tab in tabs])
        sheets = []
        for tab, part in zip(tabs, answer["valueRanges"], strict=True):
            rows = part.get("values", [])
            sheets.append({"title": tab["title"], "sheet_id": tab["sheetId"], "headers": rows[0] if rows else [],
                           "first_rows": rows[1:]})
        return {"title": found["properties"]["title"], "sheets": sheets}

    @operation("Make a spreadsheet", CreateSpreadsheet, effects=("create",))
    def create_spreadsheet(self, call: Call, a: CreateSpreadsheet) -> Any:
        folder = self.folder_of(call, a.folder_id)
        made = self.write(
            "drive.files.create",
            inside=[folder],
            body={"name": a.title, "mimeType": SHEET, "parents": [folder]},
            fields="id,name,parents",
            **ANYWHERE,
        )
        shown = self.shown({"id": made["id"]}, folder, "sheet")
        return {"spreadsheetId": made["id"], "title": made.get("name", a.title),
                "folder": (made.get("parents") or ["root"])[0], **{k: v for k, v in shown.items() if k == "path"}}

    @operation("Add a sheet", CreateSheet, effects=("create",))
    def create_sheet(self, call: Call, a: CreateSheet) -> Any:
        id = self.id_of(call, a.spreadsheet_id)
        made = self._batch(id, [{"addSheet": {"properties": {"title": a.title}}}])["replies"][0]["addSheet"][
            "properties"
        ]
        return {"sheetId": made["sheetId"], "title": made["title"], "index": made.get("index"), "spreadsheetId": id}

    @operation("Spreadsheets of a folder", ListSpreadsheets, effects=("read",))
    def list_spreadsheets(self, call: Call, a: ListSpreadsheets) -> Any:
        found = self._files(self.folder_of(call, a.folder_id), SHEET)
        return [{"id": file["id"], "title": file["name"]} for file in found]

    def _files(self, folder: str, kind: str) -> list[dict[str, Any]]:
        q = f"'{folder}' in parents and mimeType = '{kind}' and trashed = false"
        found: list[dict[str, Any]] = self._do(
            lambda: self.client.pages(
                "drive.files.list",
                "files",
                q=q,
                pageSize=1000,
                orderBy="name",
                fields="nextPageToken,files(id,name,parents)",
                **ALL,
            )
        )
        return found

    @operation("Share with people", ShareSpreadsheet, effects=("share",))
    def share_spreadsheet(self, call: Call, a: ShareSpreadsheet) -> Any:
        id = self.id_of(call, a.spreadsheet_id)
        successes, failures = [], []
        for person in a.recipients:
            address, role = person.get("email_address", ""), person.get("role", "writer")
            if not address or role not in ("reader", "commenter", "writer"):
                failures.append({"email_address": address or None, "error": f"invalid role {role!r}" if address else
                                 "email_address is missing"})
                continue
            try:
                made = self.write("drive.permissions.create", fileId=id, fields="id",
                                  body={"type": "user", "role": role, "emailAddress": address},
                                  sendNotificationEmail=a.send_notification, **ANYWHERE)
                successes.append({"email_address": address, "role": role, "permissionId": made["id"]})
            except OperationError as e:
                failures.append({"email_address": address, "error": str(e)})
        return {"successes": successes, "failures": failures}

    @operation("Folders in a folder", ListFolders, effects=("read",))
    def list_folders(self, call: Call, a: ListFolders) -> Any:
        found = self._files(self.folder_of(call, a.parent_folder_id), FOLDER)
        return [
            {"id": file["id"], "name": file["name"], "parent": (file.get("parents") or ["root"])[0]} for file in found
        ]

    @operation("Search spreadsheets", SearchSpreadsheets, effects=("read",))
    def search_spreadsheets(self, call: Call, a: SearchSpreadsheets) -> Any:
        q = f"mimeType = '{SHEET}' and trashed = false and fullText contains {quoted(a.query)}"
        return self.read("drive.files.list", q=q, pageSize=a.max_results, fields=f"files({FIELDS})", **ALL)["files"]

    @operation("Find cells with a text", FindInSpreadsheet, effects=("read",))
    def find_in_spreadsheet(self, call: Call, a: FindInSpreadsheet) -> Any:
        id = self.id_of(call, a.spreadsheet_id)
        tabs = [a.sheet] if a.sheet else list(self._tabs(id))
        answer = self.read(
            "sheets.spreadsheets.values.batchGet", spreadsheetId=id, ranges=[_where(t, None) for t in tabs]
        )
        wanted = a.query if a.case_sensitive else a.query.lower()
        found: list[dict[str, Any]] = []
        for tab, part in zip(tabs, answer["valueRanges"], strict=True):
            for y, row in enumerate(part.get("values", []), 1):
                for x, value in enumerate(row):
                    text = str(value)
                    if wanted in (text if a.case_sensitive else text.lower()):
                        found.append({"sheet": tab, "cell": f"{_column(x)}{y}", "value": value})
                        if len(found) >= a.max_results:
                            return found
        return found

    @operation("Any requests of spreadsheets.batchUpdate", BatchUpdate, effects=("update", "destroy"), when=Destroys)
    def batch_update(self, call: Call, a: BatchUpdate) -> Any:
        return self._batch(self.id_of(call, a.spreadsheet_id), a.requests)

    # ---- helpers

    def _batch(self, id: str, requests: list[dict[str, Any]]) -> Any:
        return self.write("sheets.spreadsheets.batchUpdate", [id], spreadsheetId=id, body={"requests": requests})

    def _tabs(self, id: str) -> dict[str, int]:
        """title -> sheetId"""
        found = self.read("sheets.spreadsheets.get", spreadsheetId=id, fields="sheets(properties(title,sheetId))")
        return {sheet["properties"]["title"]: sheet["properties"].get("sheetId", 0) for sheet in found["sheets"]}

    def _tab(self, id: str, title: str) -> int:
        tabs = self._tabs(id)
        if title not in tabs:
            raise OperationError(f"there is no sheet {title!r}; there are: {', '.join(tabs)}", 404)
        return tabs[title]


def _where(sheet: str, part: str | None) -> str:
    """A range in A1 notation."""
    name = "'" + sheet.replace("'", "''") + "'"
    return f"{name}!{part}" if part else name


def _column(number: int) -> str:
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> SheetCli:
    """For mirage.yaml; see tool_from_config."""
    return tool_from_config(SheetCli, name, options, mounts, folder)
