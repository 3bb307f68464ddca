"""The simulator: REST below /api/v1 in Canvas' shapes; pages by `Link`, ETags, roles, throttling by 403."""
from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from mirage.bench.services.canvas import seed as seeds
from mirage.bench.services.canvas.campus import ME, Campus, CanvasError, missing
from mirage.bench.services.canvas.routes import API, ROUTES, Call
from mirage.bench.services.clock import Clock
from mirage.bench.services.http import LogEntry, Request, Response, Service

if TYPE_CHECKING:
    Item = dict[str, Any]

ADMIN, TEACHER, STUDENT = "canvas-simulator", "canvas-teacher", "canvas-student"
WORDS = {401: "Invalid access token.", 404: "The specified resource does not exist.", 500: "An error occurred."}
THROTTLED = "403 Forbidden (Rate Limit Exceeded)"


class CanvasSimulator(Service):
    """One Canvas with an account for the academy.

    courses, enrollments  how many the seed makes
    tokens                token -> (user, "admin", "teacher" or "student"): what is not theirs is refused with 403
    etags                 answers have weak ETags
    upload_redirects      the second step of an upload answers 302 (older installations) instead of 201 with the file
    """

    def __init__(self, seed: int = 1, courses: int = 25, enrollments: int = 3000, clock: Clock | None = None) -> None:
        super().__init__()
        self.clock = clock or Clock(seeds.NOW)
        self.tokens = {ADMIN: (ME, "admin"), TEACHER: (2, "teacher"), STUDENT: (3, "student")}
        self.etags = True
        self.upload_redirects = False
        self.campus: Campus
        self._courses = courses
        self._enrollments = enrollments
        self.reset(seed, courses, enrollments)

    def reset(self, seed: int = 1, courses: int | None = None, enrollments: int | None = None) -> None:
        """Everything anew, in the size that it had unless another is given."""
        self._courses = courses = self._courses if courses is None else courses
        self._enrollments = enrollments = self._enrollments if enrollments is None else enrollments
        self.campus = Campus(self.clock)
        seeds.fill(self.campus, seed, courses, enrollments)

    @property
    def kept(self) -> Campus:
        return self.campus

    # ---- requests

    def error(self, status: int, message: str = "", headers: dict[str, str] | None = None, reason: str = "") -> Response:
        """`reason` "throttled": refused for the rate limit, which is a 403 with a text."""
        if reason == "throttled":
            return Response(403, THROTTLED.encode(), {"Content-Type": "text/plain", "X-Rate-Limit-Remaining": "0.0", **(headers or {})})
        return Response.of_json({"errors": [{"message": message or WORDS.get(status, reason or "error")}]}, status, headers)

    def handle(self, request: Request, entry: LogEntry) -> Response:
        if request.path == "/storage/upload":
            return self._store(request)
        if re.fullmatch(r"/files/\d+/(download|content)", request.path):
            return self._download(request)
        who = self.tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if who is None:
            return self.error(401, headers={"WWW-Authenticate": 'Bearer realm="canvas-lms"'})
        try:
            response = self._answer(request, Call(request, *who))
        except CanvasError as e:
            response = Response.of_json(e.body, e.status)
        except (ValueError, TypeError, KeyError):
            response = Response.of_json({"errors": [{"message": "malformed request"}]}, 400)
        response.headers.update({"X-Request-Cost": "0.05", "X-Rate-Limit-Remaining": "600.0"})
        if self.etags and request.method == "GET" and response.status == 200:
            etag = f'W/"{hashlib.md5(response.body).hexdigest()}"'
            if request.headers.get("if-none-match") == etag:
                return Response(304, b"", {"ETag": etag, **{k: v for k, v in response.headers.items() if k == "Link"}})
            response.headers["ETag"] = etag
        return response

    def _answer(self, request: Request, call: Call) -> Response:
        for method, pattern, handler in ROUTES:
            match = pattern.fullmatch(request.path)
            if match is None or method != request.method:
                continue
            with self.campus.lock:
                value = handler(self, call, **match.groupdict())
                if isinstance(value, list):
                    return self._page(call, value)
                return Response.of_json(self.shown(value), 200)
        raise missing()

    def shown(self, value: Any) -> Any:
        """Without the simulator's own fields, and with addresses."""
        if isinstance(value, list):
            return [self.shown(v) for v in value]
        if not isinstance(value, dict):
            return value
        found = {k: self.shown(v) for k, v in value.items() if not k.startswith("_")}
        if "display_name" in found and "folder_id" in found and not found["locked_for_user"]:
            found["url"] = f"{self.address}files/{found['id']}/download?download_frd=1&verifier={found['uuid']}"
        return found

    def _page(self, call: Call, items: list[Any]) -> Response:
        size, page = min(int(call.query.get("per_page", 10)), 100), int(call.query.get("page", 1))
        if size < 1 or page < 1:
            raise CanvasError(400, "per_page and page must be positive")
        last = max(1, -(-len(items) // size))
        rest = [(k, v) for k, values in call.request.query.items() if k not in ("page", "per_page") for v in values]

        def link(number: int, word: str) -> str:
            return f'<{self.address.rstrip("/")}{call.request.path}?{urlencode([*rest, ("page", number), ("per_page", size)])}>; rel="{word}"'
        links = [link(page, "current"), *([link(page + 1, "next")] if page < last else []),
                 *([link(page - 1, "prev")] if page > 1 else []), link(1, "first"), link(last, "last")]
        return Response.of_json(self.shown(items[size * (page - 1):size * page]), 200, {"Link": ",".join(links)})

    # ---- files

    def _store(self, request: Request) -> Response:
        """The second step of an upload: multipart fields and the file; no token is wanted here."""
        if "authorization" in request.headers:
            return Response(400, b"a token has no place here")
        boundary = request.headers["content-type"].partition("boundary=")[2].strip('"').encode()
        fields: dict[str, bytes] = {}
        for part in request.body.split(b"--" + boundary)[1:-1]:
            head, _, data = part.partition(b"\r\n\r\n")
            name = re.search(rb'name="([^"]*)"', head)
            fields[name.group(1).decode() if name else ""] = data.removesuffix(b"\r\n")
        upload = self.campus.uploads.pop(fields.get("key", b"").decode(), None)
        if upload is None or list(fields)[-1] != "file":
            return Response(400, b"bad upload")
        with self.campus.lock:
            file = self.campus.add_file(self.campus.get("folders", upload["folder"]), upload["name"], upload["type"], fields["file"])
            self.campus.tick()
        location = {"Location": f"{self.address.rstrip('/')}{API}/files/{file['id']}/create_success?uuid={file['uuid']}"}
        return Response(302, b"", location) if self.upload_redirects else Response.of_json(self.shown(file), 201, location)

    def _download(self, request: Request) -> Response:
        id = int(request.path.split("/")[2])
        file = self.campus.items["files"].get(id)
        if file is None:
            return self.error(404)
        if request.first("verifier") != file["uuid"] or file["locked_for_user"]:
            return Response(302, b"", {"Location": f"{self.address}login"})
        if request.path.endswith("/download"):
            return Response(302, b"", {"Location": f"{self.address}files/{id}/content?verifier={file['uuid']}"})
        data = self.campus.content[id]
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
        headers = {"Content-Type": file["content-type"], "Accept-Ranges": "bytes"}
        if match is None:
            return Response(200, data, headers)
        start, end = int(match.group(1)), min(int(match.group(2) or len(data)), len(data) - 1)
        if start >= len(data):
            return Response(416, b"", {"Content-Range": f"bytes */{len(data)}"})
        return Response(206, data[start:end + 1], {**headers, "Content-Range": f"bytes {start}-{end}/{len(data)}"})
