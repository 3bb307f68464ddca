"""The web of the demo: a few pages with dates and tags, in pieces where they are asked for."""
from __future__ import annotations

import hashlib
import re
from email.utils import formatdate
from typing import TYPE_CHECKING

from mirage.bench.demo.contents import pages
from mirage.bench.services.clock import Clock
from mirage.bench.services.http import Response, Simulator

if TYPE_CHECKING:
    from mirage.bench.services.http import LogEntry, Request

KINDS = {"csv": "text/csv", "html": "text/html", "json": "application/json"}
DAY = 86400


class Website(Simulator):
    """Serves `pages()`."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.pages = pages()
        self.clock = clock
        self._written = formatdate(clock.now() // DAY * DAY, usegmt=True)

    def now(self) -> float:
        return self.clock.now()

    def handle(self, request: Request, entry: LogEntry) -> Response:
        data = self.pages.get(request.path.strip("/"))
        if data is None or request.method not in ("GET", "HEAD"):
            return self.error(404 if data is None else 405, "no such page")
        etag = f'"{hashlib.sha1(data).hexdigest()[:16]}"'
        headers = {"ETag": etag, "Last-Modified": self._written, "Accept-Ranges": "bytes",
                   "Content-Type": KINDS[request.path.rpartition(".")[2]]}
        if request.headers.get("if-none-match") == etag:
            return Response(304, b"", headers)
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
        if found and int(found[1]) < len(data):
            start, end = int(found[1]), min(int(found[2] or len(data)) + 1, len(data))
            return Response(206, data[start:end], {**headers, "Content-Range": f"bytes {start}-{end - 1}/{len(data)}"})
        return Response(200, data, headers)
