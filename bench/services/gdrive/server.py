"""The simulator: HTTP requests of the Drive, Sheets, Docs and Slides APIs to methods of a DriveStore."""
from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from mirage.bench.services.clock import Clock
from mirage.bench.services.gdrive.documents import Document, DocumentError, Presentation
from mirage.bench.services.gdrive.grid import SheetError, Spreadsheet
from mirage.bench.services.gdrive.seed import ME, NOW, fill
from mirage.bench.services.gdrive.store import DOC, FOLDER, SHEET, SLIDES, DriveError, DriveStore, File, as_text
from mirage.bench.services.gmail import fields
from mirage.bench.services.google import GoogleService
from mirage.bench.services.http import LogEntry, Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable

STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
          429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}
MESSAGES = {401: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
                 "valid authentication credential.", 403: "Request had insufficient authentication scopes.",
            404: "Requested entity was not found.", 429: "Quota exceeded for quota metric 'Queries'.",
            500: "Internal Error", 503: "The service is currently unavailable."}
REASONS = {
    401: "authError",
    403: "insufficientPermissions",
    404: "notFound",
    429: "rateLimitExceeded",
    500: "backendError",
    503: "backendError",
}
READ, FULL = "https://www.googleapis.com/auth/drive.readonly", "https://www.googleapis.com/auth/drive"
DEFAULT = "kind,id,name,mimeType,resourceKey"
EXPORTS = {
    DOC: {"text/plain": "txt", "application/pdf": "pdf", "text/markdown": "md"},
    SHEET: {"text/csv": "csv", "application/pdf": "pdf"},
    SLIDES: {"text/plain": "txt", "application/pdf": "pdf"},
}


class DriveSimulator(GoogleService):
    """One account's Drive, with its documents.

    files      about how many the seed makes
    index_lag  seconds (of `clock`) until a change is found by its words
    tokens     access token -> scope; refresh tokens give new ones
    """

    def __init__(self, seed: int = 1, files: int = 300, index_lag: float = 0.0, clock: Clock | None = None) -> None:
        super().__init__(FULL)
        self.clock = clock or Clock(NOW)
        self.index_lag = index_lag
        self.store: DriveStore
        self.incomplete = False                              # a search of all drives leaves something out
        self._sessions: dict[str, dict[str, Any]] = {}
        self._files = files
        self.reset(seed, files)

    def reset(self, seed: int = 1, files: int | None = None) -> None:
        """A new Drive with the files of the seed, in the size that it had unless another is given."""
        self._files = files = self._files if files is None else files
        self.store = DriveStore(ME, self.clock, self.index_lag)
        fill(self.store, seed, files)
        self._sessions.clear()

    @property
    def kept(self) -> DriveStore:
        return self.store

    # ---- requests

    def error(self, status: int, message: str = "", headers: dict[str, str] | None = None,
              reason: str = "") -> Response:
        message = message or MESSAGES.get(status, "Error")
        reason = reason or REASONS.get(status, "badRequest")
        return Response.of_json({"error": {"code": status, "message": message, "errors": [
            {"message": message, "domain": "global", "reason": reason}], "status": STATUS.get(status, "UNKNOWN")}},
            status, headers)

    def handle(self, request: Request, entry: LogEntry) -> Response:
        if request.path == "/token":
            return self.refresh(request)
        if request.headers.get("x-http-method-override") == "GET":
            request.method = "GET"
            request.query = parse_qs(request.body.decode(), keep_blank_values=True)
            entry.method, entry.query = "GET", request.query
        scope = self.scope_of(request)
        if scope is None:
            return self.unauthorized()
        if scope == READ and request.method != "GET":
            return self.error(403)
        path = request.path.removeprefix("/upload").removeprefix("/resumable")
        try:
            with self.store.lock:
                for method, pattern, function in ROUTES:
                    found = re.fullmatch(pattern, path)
                    if found is not None and method == request.method:
                        answer = function(self, request, *map(unquote, found.groups()))
                        self.store.settle()
                        break
                else:
                    return self.error(404)
        except DriveError as e:
            return self.error(e.status, str(e), reason=e.reason)
        except SheetError as e:
            return self.error(e.status, str(e))
        except DocumentError as e:
            return self.error(400, str(e))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as e:
            return self.error(400, f"Invalid value: {type(e).__name__}")
        return answer if isinstance(answer, Response) else self._json(request, answer)

    @staticmethod
    def _json(request: Request, value: Any) -> Response:
        if value is None:
            return Response(204)
        mask = request.first("fields")
        return Response.of_json(fields.apply(fields.parse(mask), value) if mask else value)


# ---- files

def _view(s: DriveSimulator, r: Request, file: File) -> Any:
    resource = {k: v for k, v in file.resource.items() if not k.startswith("_")}
    resource["owners"] = [{"emailAddress": p["emailAddress"], "me": p["emailAddress"] == s.store.me}
                          for p in file.permissions.values() if p["role"] == "owner"]
    resource["shared"] = len(file.permissions) > 1
    resource["webViewLink"] = f"https://drive.google.com/file/d/{resource['id']}/view"
    resource["permissions"] = list(file.permissions.values())
    return resource if r.first("fields") else fields.apply(fields.parse(DEFAULT), resource)


def _list_files(s: DriveSimulator, r: Request) -> Any:
    found = s.store.find(r.first("q"), r.first("corpora", "user"), r.first("driveId"),
                         r.first("includeItemsFromAllDrives") == "true", r.first("orderBy"))
    size, at = max(1, min(int(r.first("pageSize", "100")), 1000)), int(r.first("pageToken", "0"))
    mask = r.first("fields") or f"kind,nextPageToken,incompleteSearch,files({DEFAULT})"
    partial = s.incomplete and r.first("corpora") == "allDrives"
    answer: dict[str, Any] = {"kind": "drive#fileList", "incompleteSearch": partial, "files": []}
    if at + size < len(found):
        answer["nextPageToken"] = str(at + size)
    request = Request("GET", "/?fields=files", {}, b"")
    answer["files"] = [_view(s, request, f) for f in found[at:at + size]]
    return Response.of_json(fields.apply(fields.parse(mask), answer))


def _get_file(s: DriveSimulator, r: Request, id: str) -> Any:
    file = s.store.get(id)
    if r.first("alt") != "media":
        return _view(s, r, file)
    if file.content is None:
        raise DriveError(403, "Only files with binary content can be downloaded. Use Export with Docs Editors files.",
                         "fileNotDownloadable")
    return _ranged(file.data, file.resource["mimeType"], r.headers.get("range", ""))


def _ranged(data: bytes, kind: str, wanted: str) -> Response:
    match = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted)
    if match is None:
        return Response(200, data, {"Content-Type": kind})
    start, end = int(match.group(1)), int(match.group(2) or len(data) - 1)
    if start >= len(data):
        return Response(416, b"", {"Content-Range": f"bytes */{len(data)}"})
    end = min(end, len(data) - 1)
    return Response(
        206, data[start : end + 1], {"Content-Type": kind, "Content-Range": f"bytes {start}-{end}/{len(data)}"}
    )


def _export(s: DriveSimulator, r: Request, id: str) -> Any:
    from mirage.bench.services.gmail.files import pdf
    file, kind = s.store.get(id), r.first("mimeType")
    if kind not in EXPORTS.get(file.resource["mimeType"], {}):
        raise DriveError(400, "The requested conversion is not supported.", "badRequest")
    if kind == "text/csv":
        import csv
        import io
        out = io.StringIO()
        tab = s.store.sheets[id].tabs[0]
        csv.writer(out).writerows([c.get("formattedValue", "") for c in row] for row in tab.rows)
        return Response(200, out.getvalue().encode(), {"Content-Type": kind})
    text = file.indexed
    return Response(
        200, pdf(file.resource["name"], text) if kind == "application/pdf" else text.encode(), {"Content-Type": kind}
    )


def _multipart(r: Request) -> tuple[dict[str, Any], bytes, str]:
    """(resource, content, its type) of multipart/related."""
    kind = r.headers.get("content-type", "")
    boundary = b"--" + kind.partition("boundary=")[2].partition(";")[0].strip('" ').encode()
    pieces = r.body.split(boundary)[1:3]
    if len(pieces) < 2:
        raise DriveError(400, "Bad multipart request")
    (_, first), (head, data) = (re.split(rb"\r?\n\r?\n", piece, maxsplit=1) for piece in pieces)
    data = data.removesuffix(b"\n").removesuffix(b"\r")
    found = re.search(rb"content-type:\s*([^\r\n;]+)", head, re.IGNORECASE)
    if re.search(rb"transfer-encoding:\s*base64", head, re.IGNORECASE):
        import base64
        data = base64.b64decode(data)
    return json.loads(first or b"{}"), data, found.group(1).decode().strip() if found else "application/octet-stream"


def _create(s: DriveSimulator, r: Request) -> Any:
    how = r.first("uploadType")
    if how == "resumable":
        return _begin(s, r, "")
    resource, data, kind = _multipart(r) if how == "multipart" else (r.json() if how != "media" else {}, None, "")
    if how == "media":
        data, kind = r.body, r.headers.get("content-type", "")
    return _view(s, r, _new(s, resource, data, kind))


def _new(s: DriveSimulator, resource: dict[str, Any], data: bytes | None, media: str) -> File:
    store = s.store
    parent = (resource.get("parents") or ["root"])[0]
    if store.writable(parent).resource["mimeType"] != FOLDER:
        raise DriveError(403, "The specified parent is not a folder.", "parentNotAFolder")
    kind, name = resource.get("mimeType") or media or "application/octet-stream", resource.get("name", "Untitled")
    extra: dict[str, Any] = {k: resource[k] for k in ("description", "starred", "appProperties") if k in resource}
    if kind == FOLDER or data is None and kind.startswith("application/vnd.google-apps."):
        if "shortcutDetails" in resource:
            target = store.get(resource["shortcutDetails"]["targetId"])
            extra["shortcutDetails"] = {
                "targetId": target.resource["id"],
                "targetMimeType": target.resource["mimeType"],
            }
        id = store.add(parent, name, kind, **extra)
        _empty(s, id, name, kind, None)
    elif kind in (SHEET, DOC):                               # an upload that is converted
        id = store.add(parent, name, kind, **extra)
        _empty(s, id, name, kind, (data or b"").decode("utf-8", "replace"))
    else:
        id = store.add(parent, name, kind, data or b"", as_text(data or b"", kind), **extra)
    return store.files[id]


def _empty(s: DriveSimulator, id: str, name: str, kind: str, text: str | None) -> None:
    from mirage.bench.services.gdrive.documents import Paragraph
    if kind == SHEET:
        import csv
        made = s.store.sheets[id] = Spreadsheet(id, name)
        made.add("Sheet1", [list(row) for row in csv.reader((text or "").splitlines())])
    elif kind == DOC:
        s.store.documents[id] = Document(
            id,
            name,
            [Paragraph([(line, {})] if line else []) for line in text.rstrip("\n").split("\n")] if text else None,
        )
    elif kind == SLIDES:
        s.store.presentations[id] = Presentation(id, name)
    else:
        return
    s.store.reindex(id)


def _update(s: DriveSimulator, r: Request, id: str) -> Any:
    how = r.first("uploadType")
    if how == "resumable":
        return _begin(s, r, id)
    resource, data, kind = _multipart(r) if how == "multipart" else (r.json() if how != "media" else {}, None, "")
    if how == "media":
        data, kind = r.body, r.headers.get("content-type", "")
    add, remove = (r.first(key).split(",") if r.first(key) else [] for key in ("addParents", "removeParents"))
    return _view(s, r, s.store.update(id, resource, data, kind, add, remove))


def _begin(s: DriveSimulator, r: Request, id: str) -> Response:
    if not id:
        s.store.writable(((r.json() or {}).get("parents") or ["root"])[0])
    session = f"session{len(s._sessions) + 1}"
    s._sessions[session] = {
        "id": id,
        "resource": r.json(),
        "kind": r.headers.get("x-upload-content-type", ""),
        "data": b"",
        "fields": r.first("fields"),
        "done": None,
    }
    return Response(
        200, b"", {"Location": f"{s.address}upload/drive/v3/files?uploadType=resumable&upload_id={session}"}
    )


def _continue(s: DriveSimulator, r: Request, *_: str) -> Response:
    session = s._sessions.get(r.first("upload_id"))
    if session is None:
        raise DriveError(404, "Upload session not found", "notFound")
    match = re.fullmatch(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)", r.headers.get("content-range", ""))
    total = match.group(3) if match is not None else str(len(r.body))
    if session["done"] is None:
        start = int(match.group(1)) if match is not None and match.group(1) else len(session["data"])
        session["data"] = session["data"][:start] + r.body
        if total == "*" or len(session["data"]) < int(total):
            last = len(session["data"]) - 1
            return Response(308, b"", {"Range": f"bytes=0-{last}"} if last >= 0 else {})
        if session["id"]:
            file = s.store.update(session["id"], session["resource"], session["data"], session["kind"], [], [])
        else:
            file = _new(s, session["resource"], session["data"], session["kind"])
        session["done"] = file.resource["id"]
    request = Request("GET", f"/?fields={session['fields']}", {}, b"")
    return s._json(request, _view(s, request, s.store.get(session["done"])))


def _about(s: DriveSimulator, r: Request) -> Any:
    used = sum(int(f.resource.get("size", 0)) for f in s.store.files.values())
    return {"kind": "drive#about", "user": {"displayName": "Mara Lindqvist", "emailAddress": s.store.me, "me": True},
            "storageQuota": {"limit": str(15 << 30), "usage": str(used)}}


def _drives(s: DriveSimulator, r: Request) -> Any:
    found = [{"kind": "drive#drive", "id": id, "name": name} for id, name in s.store.drives.items()]
    size, at = int(r.first("pageSize", "10")), int(r.first("pageToken", "0"))
    return {"kind": "drive#driveList", "drives": found[at:at + size],
            **({"nextPageToken": str(at + size)} if at + size < len(found) else {})}


def _permissions(s: DriveSimulator, r: Request, id: str) -> Any:
    return {"kind": "drive#permissionList", "permissions": list(s.store.get(id).permissions.values())}


def _share(s: DriveSimulator, r: Request, id: str) -> Any:
    body, file = r.json(), s.store.writable(id)
    kind, role = body.get("type"), body.get("role")
    if kind not in ("user", "group", "domain", "anyone") or role not in (
        "owner",
        "organizer",
        "fileOrganizer",
        "writer",
        "commenter",
        "reader",
    ):
        raise DriveError(
            400,
            "The permission type field is required." if not kind else "The specified role is invalid or not supported.",
        )
    address = body.get("emailAddress") or body.get("domain") or ""
    if kind in ("user", "group") and "@" not in address:
        raise DriveError(
            400,
            "The specified emailAddress is invalid or not applicable for the given permission type.",
            "invalidSharingRequest",
        )
    return s.store.permit(file, address, role, kind)


def _unshare(s: DriveSimulator, r: Request, id: str, permission: str) -> Any:
    file = s.store.writable(id)
    if permission not in file.permissions:
        raise DriveError(404, f"Permission not found: {permission}.", "notFound")
    if file.permissions[permission]["role"] == "owner":
        raise DriveError(403, "The owner of a file cannot be removed.", "insufficientFilePermissions")
    del file.permissions[permission]


def _repermit(s: DriveSimulator, r: Request, id: str, permission: str) -> Any:
    file = s.store.writable(id)
    if permission not in file.permissions:
        raise DriveError(404, f"Permission not found: {permission}.", "notFound")
    file.permissions[permission]["role"] = r.json()["role"]
    return file.permissions[permission]


# ---- spreadsheets, documents, presentations

def _sheet(s: DriveSimulator, id: str, write: bool = False) -> Spreadsheet:
    found = s.store.sheets.get(id)
    if found is None:
        raise DriveError(404, "Requested entity was not found.", "notFound")
    if write:
        s.store.writable(id)
    return found


def _new_sheet(s: DriveSimulator, r: Request) -> Any:
    body = r.json()
    title = body.get("properties", {}).get("title", "Untitled spreadsheet")
    id = s.store.add("root", title, SHEET)
    made = s.store.sheets[id] = Spreadsheet(id, title)
    for sheet in body.get("sheets") or [{"properties": {"title": "Sheet1"}}]:
        made.add(sheet["properties"].get("title", "Sheet1"))
    s.store.reindex(id)
    return made.resource()


def _get_sheet(s: DriveSimulator, r: Request, id: str) -> Any:
    mask = r.first("fields")
    data = r.first("includeGridData") == "true" or "data" in fields.parse(mask).get("sheets", {}) if mask \
        else r.first("includeGridData") == "true"
    return _sheet(s, id).resource(data, r.query.get("ranges"))


def _batch_sheet(s: DriveSimulator, r: Request, id: str) -> Any:
    replies = _sheet(s, id, True).batch(r.json()["requests"])
    s.store.reindex(id)
    return {"spreadsheetId": id, "replies": replies}


def _values(s: DriveSimulator, r: Request, id: str, part: str) -> Any:
    return _sheet(s, id).get(part, r.first("valueRenderOption", "FORMATTED_VALUE"))


def _batch_get(s: DriveSimulator, r: Request, id: str) -> Any:
    sheet = _sheet(s, id)
    return {"spreadsheetId": id, "valueRanges": [sheet.get(part, r.first("valueRenderOption", "FORMATTED_VALUE"))
                                                 for part in r.query.get("ranges", [])]}


def _parsed(text: str) -> bool:
    if text not in ("RAW", "USER_ENTERED"):
        raise SheetError(400, "'valueInputOption' is required but not specified")
    return text == "USER_ENTERED"


def _update_values(s: DriveSimulator, r: Request, id: str, part: str) -> Any:
    answer = _sheet(s, id, True).update(part, r.json().get("values", []), _parsed(r.first("valueInputOption")))
    s.store.reindex(id)
    return answer


def _batch_values(s: DriveSimulator, r: Request, id: str) -> Any:
    body, sheet = r.json(), _sheet(s, id, True)
    for item in body["data"]:
        sheet.locate(item["range"])
    answers = [
        sheet.update(item["range"], item.get("values", []), _parsed(body.get("valueInputOption", "")))
        for item in body["data"]
    ]
    s.store.reindex(id)
    return {"spreadsheetId": id, "totalUpdatedCells": sum(a["updatedCells"] for a in answers), "responses": answers}


def _append_values(s: DriveSimulator, r: Request, id: str, part: str) -> Any:
    answer = _sheet(s, id, True).append(part, r.json().get("values", []), _parsed(r.first("valueInputOption")))
    s.store.reindex(id)
    return answer


def _clear_values(s: DriveSimulator, r: Request, id: str, part: str) -> Any:
    answer = _sheet(s, id, True).clear(part)
    s.store.reindex(id)
    return answer


def _copy_tab(s: DriveSimulator, r: Request, id: str, tab: str) -> Any:
    import copy
    source = _sheet(s, id).tab(int(tab))
    target = _sheet(s, r.json()["destinationSpreadsheetId"], True)
    title, number = f"Copy of {source.title}", 1
    while any(t.title == title for t in target.tabs):
        number += 1
        title = f"Copy of {source.title} {number}"
    made = target.add(title)
    made.rows = copy.deepcopy(source.rows)
    s.store.reindex(target.id)
    return made.properties


def _document(s: DriveSimulator, id: str) -> Document:
    found = s.store.documents.get(id)
    if found is None:
        raise DriveError(404, "Requested entity was not found.", "notFound")
    return found


def _new_document(s: DriveSimulator, r: Request) -> Any:
    title = r.json().get("title", "Untitled document")
    id = s.store.add("root", title, DOC)
    s.store.documents[id] = Document(id, title)
    s.store.reindex(id)
    return s.store.documents[id].resource(False)


def _batch_document(s: DriveSimulator, r: Request, id: str) -> Any:
    document = _document(s, id)
    s.store.writable(id)
    replies = document.batch(r.json()["requests"])
    s.store.reindex(id)
    return {"documentId": id, "replies": replies, "writeControl": {"requiredRevisionId": f"rev{document.revision}"}}


def _presentation(s: DriveSimulator, r: Request, id: str) -> Any:
    found = s.store.presentations.get(id)
    if found is None:
        raise DriveError(404, "Requested entity was not found.", "notFound")
    return found.resource()


def _new_presentation(s: DriveSimulator, r: Request) -> Any:
    title = r.json().get("title", "Untitled presentation")
    id = s.store.add("root", title, SLIDES)
    s.store.presentations[id] = Presentation(id, title)
    s.store.reindex(id)
    return s.store.presentations[id].resource()


FILES, ID = "/drive/v3/files", "([A-Za-z0-9_-]+)"
SHEETS, DOCS = "/v4/spreadsheets", "/v1/documents"
ROUTES: list[tuple[str, str, Callable[..., Any]]] = [
    ("GET", "/drive/v3/about", _about),
    ("GET", "/drive/v3/drives", _drives),
    ("GET", FILES, _list_files),
    ("POST", FILES, _create),
    ("PUT", FILES, _continue),
    ("GET", f"{FILES}/{ID}", _get_file),
    ("PATCH", f"{FILES}/{ID}", _update),
    ("PUT", f"{FILES}/{ID}", _continue),
    ("DELETE", f"{FILES}/{ID}", lambda s, r, id: s.store.delete(id)),
    ("POST", f"{FILES}/{ID}/copy", lambda s, r, id: _view(s, r, s.store.copy(id, r.json()))),
    ("GET", f"{FILES}/{ID}/export", _export),
    ("GET", f"{FILES}/{ID}/permissions", _permissions),
    ("POST", f"{FILES}/{ID}/permissions", _share),
    ("PATCH", f"{FILES}/{ID}/permissions/{ID}", _repermit),
    ("DELETE", f"{FILES}/{ID}/permissions/{ID}", _unshare),
    ("POST", SHEETS, _new_sheet),
    ("GET", f"{SHEETS}/{ID}", _get_sheet),
    ("POST", f"{SHEETS}/{ID}:batchUpdate", _batch_sheet),
    ("GET", f"{SHEETS}/{ID}/values:batchGet", _batch_get),
    ("POST", f"{SHEETS}/{ID}/values:batchUpdate", _batch_values),
    ("POST", f"{SHEETS}/{ID}/values/([^/]+):append", _append_values),
    ("POST", f"{SHEETS}/{ID}/values/([^/]+):clear", _clear_values),
    ("GET", f"{SHEETS}/{ID}/values/([^/]+)", _values),
    ("PUT", f"{SHEETS}/{ID}/values/([^/]+)", _update_values),
    ("POST", f"{SHEETS}/{ID}/sheets/([0-9]+):copyTo", _copy_tab),
    ("POST", DOCS, _new_document),
    ("GET", f"{DOCS}/{ID}", lambda s, r, id: _document(s, id).resource(r.first("includeTabsContent") == "true")),
    ("POST", f"{DOCS}/{ID}:batchUpdate", _batch_document),
    ("POST", "/v1/presentations", _new_presentation),
    ("GET", f"/v1/presentations/{ID}", _presentation),
]
