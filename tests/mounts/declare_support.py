"""Two small services over HTTP, and the declarations of docs/adding-a-service.md that read them."""
from __future__ import annotations

import hashlib
import re
from pathlib import Path

from mirage.bench.services.http import LogEntry, Request, Response, Simulator
from mirage.vfs.service import Retry
from tests.mounts.support import Given

GUIDE = Path(__file__).parents[2] / "docs" / "adding-a-service.md"
TOKEN = "desk-token-CANARY"
QUICK = Retry(tries=8, base=0.01, most=1.0)


def blocks(language):
    """The code of the guide."""
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)


class Token(Given):
    place, default = "env:DESK_TEST_TOKEN", TOKEN


class Desk(Simulator):
    """Projects with tickets: cursors, page numbers, ETags, bearer token."""

    etags = True

    def __init__(self):
        super().__init__()
        names = ["Printers", "Büro/Küche", "printers", "", "Network"]
        self.projects = [{"id": n + 1, "name": name} for n, name in enumerate(names)]
        self.tickets = {}
        for n in range(23):
            self.add(1 + n % 4, f"Ticket {n}: paper / ink" if n % 3 else "Same title", f"The printer {n} hums. Zażółć.\n")

    def add(self, project, title, body):
        id = len(self.tickets) + 1
        self.tickets[id] = {"id": id, "project": project, "title": title, "state": "open", "body": body,
                            "updated_at": f"2026-09-{1 + id % 28:02}T10:00:00Z", "comments": [{"text": f"comment {id}"}]}
        return self.tickets[id]

    def handle(self, request: Request, entry: LogEntry) -> Response:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return self.error(401, f"bad token {request.headers.get('authorization', '')}")
        response = self.answer(request)
        if self.etags and request.method == "GET" and response.status == 200:
            etag = f'"{hashlib.sha1(response.body).hexdigest()}"'
            if request.headers.get("if-none-match") == etag:
                return Response(304, b"", {"ETag": etag})
            response.headers["ETag"] = etag
        return response

    def answer(self, request: Request) -> Response:
        path = request.path
        if path == "/projects":
            at = int(request.first("cursor", "0"))
            more = at + 2 < len(self.projects)
            return Response.of_json({"projects": self.projects[at:at + 2], "next_cursor": str(at + 2) if more else None})
        found = re.fullmatch(r"/projects/(\d+)/tickets", path)
        if found and request.method == "POST":
            fields = request.json()
            if not fields["title"]:
                return self.error(422, "title must not be empty")
            return Response.of_json(self.add(int(found.group(1)), fields["title"], fields["body"]), 201)
        if found:
            page = int(request.first("page", "1"))
            mine = [t for t in self.tickets.values() if t["project"] == int(found.group(1))]
            brief = [{k: t[k] for k in ("id", "title", "updated_at")} for t in mine]
            return Response.of_json({"tickets": brief[5 * page - 5:5 * page]})
        found = re.fullmatch(r"/tickets/(\w+)", path)
        ticket = self.tickets.get(int(found.group(1))) if found and found.group(1).isdigit() else None
        if ticket is None:
            return self.error(404, "no such ticket")
        if request.method == "PATCH":
            ticket.update(request.json())
        return Response.of_json({"ticket": ticket})


class Library(Simulator):
    """Shelves with books: offsets, Link headers, versions, bytes, a key in a header of its own."""

    def __init__(self):
        super().__init__()
        self.books = {f"97{n}": {"isbn": f"97{n}", "title": f"Poems {n}", "author": "Ø. Dahl", "shelf": "po" if n % 2 else "sc",
                                 "revision": 1, "lent_to": None} for n in range(11)}

    def scan(self, isbn):
        return f"Text of {isbn}: ".encode() * 50

    def handle(self, request: Request, entry: LogEntry) -> Response:
        if request.headers.get("x-api-key") != TOKEN:
            return self.error(403, "forbidden")
        if request.path == "/shelves":
            return Response.of_json([{"key": "po", "name": "Poetry"}, {"key": "sc", "name": "Science"}])
        if request.path == "/loans":
            return self.loans(request)
        parts = request.path.strip("/").split("/")
        if parts[0] == "shelves":
            mine = [{k: b[k] for k in ("isbn", "title", "revision")} | {"scan_size": len(self.scan(b["isbn"]))}
                    for b in self.books.values() if b["shelf"] == parts[1]]
            at, limit = int(request.first("offset", "0")), int(request.first("limit", "2"))
            return Response.of_json({"data": mine[at:at + limit]})
        if parts[0] == "books" and parts[1] in self.books:
            if len(parts) == 3:
                return Response(200, self.scan(parts[1]))
            return Response.of_json(self.books[parts[1]])
        return self.error(404, "no such thing")

    def loans(self, request):
        if request.method == "POST":
            fields = request.json()
            book = self.books.get(fields["isbn"])
            if book is None:
                return self.error(404, "no such book")
            book["lent_to"] = fields["reader"]
            book["revision"] += 1
            return Response.of_json(book)
        loans = [{"isbn": b["isbn"], "reader": b["lent_to"]} for b in self.books.values() if b["lent_to"]]
        at = int(request.first("after", "0"))
        headers = {"Link": f'<{self.address}loans?after={at + 2}>; rel="next"'} if at + 2 < len(loans) else {}
        return Response.of_json(loans[at:at + 2], headers=headers)


def library_module():
    """The Python of the guide, executed."""
    namespace = {}
    exec(compile(blocks("python")[0], str(GUIDE), "exec"), namespace)
    return namespace
