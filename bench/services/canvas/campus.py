"""The state behind the simulated Canvas: accounts, users, courses and what is in them. Thread-safe, ids deterministic.

Objects are kept in the shape of the API; keys that begin with `_` are the simulator's own and never sent.
"""
from __future__ import annotations

import copy
import hashlib
import re
import threading
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirage.bench.services.clock import Clock

    Item = dict[str, Any]

ME = 1
ACCOUNT = 1
KINDS = ("assignment_groups", "assignments", "calendar_events", "conversations", "courses", "discussion_topics",
         "enrollments", "entries", "files", "folders", "items", "modules", "pages", "quizzes", "rubrics", "sections",
         "users", "accounts")
FIRST = {"courses": 100, "users": 0, "accounts": 0, "enrollments": 5000, "files": 900, "conversations": 40}


class CanvasError(Exception):
    """An error of the API: the HTTP status and the body."""

    def __init__(self, status: int, message: str = "", body: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = body if body is not None else {"errors": [{"message": message}]}


def missing() -> CanvasError:
    return CanvasError(404, "The specified resource does not exist.")


def forbidden() -> CanvasError:
    return CanvasError(403, body={"status": "unauthorized",
                                  "errors": [{"message": "user not authorized to perform that action"}]})


def invalid(field: str, message: str, kind: str = "invalid") -> CanvasError:
    return CanvasError(400, body={"errors": {field: [{"attribute": field, "message": message, "type": kind}]}})


class Campus:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.lock = threading.RLock()
        self.items: dict[str, dict[int, Item]] = {kind: {} for kind in KINDS}
        self.content: dict[int, bytes] = {}                  # of files
        self.graded: dict[tuple[int, int], Item] = {}        # (assignment, user) -> what differs from the seed's
        self.uploads: dict[str, Item] = {}
        self._last = {kind: FIRST.get(kind, 1000) for kind in KINDS}

    # ---- time and ids

    def now(self) -> str:
        return stamp(self.clock.now())

    def tick(self) -> str:
        """A change takes a second."""
        self.clock.advance(1)
        return self.now()

    def add(self, kind: str, **fields: Any) -> Item:
        with self.lock:
            self._last[kind] += 1
            item = {"id": self._last[kind], **fields}
            self.items[kind][item["id"]] = item
            return item

    # ---- looking

    def get(self, kind: str, id: Any, course: int | None = None) -> Item:
        found = self.items[kind].get(int(id)) if str(id).isdigit() else None
        if found is None or course is not None and found.get("course_id", found.get("_course")) != course:
            raise missing()
        return found

    def of_course(self, kind: str, course: int) -> list[Item]:
        with self.lock:
            return [i for i in self.items[kind].values() if i.get("course_id", i.get("_course")) == course]

    def course(self, id: Any, user: int, role: str) -> Item:
        found = self.get("courses", id)
        if found["workflow_state"] == "deleted":
            raise missing()
        if found.get("access_restricted_by_date"):
            raise forbidden()
        if role != "admin" and not self.enrolled(found["id"], user):
            raise forbidden()
        return found

    def enrolled(self, course: int, user: int, *types: str) -> Item | None:
        return next((e for e in self.of_course("enrollments", course) if e["user_id"] == user
                     and e["enrollment_state"] != "deleted" and (not types or e["type"] in types)), None)

    def page(self, course: int, url: str) -> Item:
        for page in self.of_course("pages", course):
            if url in (page["url"], str(page["page_id"])):
                return page
        raise missing()

    def page_url(self, course: int, title: str) -> str:
        text = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
        slug = re.sub(r"[^a-z0-9]+", "-", text).strip("-") or "page"
        taken = {page["url"] for page in self.of_course("pages", course)}
        number, url = 1, slug
        while url in taken:
            number += 1
            url = f"{slug}-{number}"
        return url

    # ---- submissions: every student has one for every assignment

    def submission(self, assignment: Item, user: int) -> Item:
        """As the seed has it, changed by what was handed in and graded since."""
        id = assignment["id"] * 1000 + user
        dice = hashlib.sha256(f"{id}".encode()).digest()
        handed_in, graded = dice[0] < 170, dice[0] < 120
        score = round(float(assignment["points_possible"] or 0) * dice[1] / 255)
        found = {"id": id, "assignment_id": assignment["id"], "user_id": user, "attempt": 1 if handed_in else None,
                 "submission_type": "online_text_entry" if handed_in else None,
                 "body": f"<p>Answer {dice[2]} of participant {user}</p>" if handed_in else None, "url": None,
                 "submitted_at": assignment["due_at"] if handed_in else None, "score": score if graded else None,
                 "grade": str(score) if graded else None, "grader_id": 2 if graded else None, "late": dice[3] < 30,
                 "missing": not handed_in, "excused": False, "preview_url": f"{id}",
                 "workflow_state": "graded" if graded else "submitted" if handed_in else "unsubmitted",
                 "submission_comments": []}
        return {**found, **self.graded.get((assignment["id"], user), {})}

    def students(self, course: int) -> list[int]:
        return sorted({e["user_id"] for e in self.of_course("enrollments", course)
                       if e["type"] == "StudentEnrollment" and e["enrollment_state"] == "active"})

    # ---- files

    def root_folder(self, course: int | None) -> Item:
        for folder in self.items["folders"].values():
            if folder["_course"] == course and folder["parent_folder_id"] is None:
                return folder
        name = "course files" if course is not None else "my files"
        return self.add("folders", _course=course, name=name, full_name=name, parent_folder_id=None,
                        context_type="Course" if course is not None else "User", context_id=course or ME,
                        created_at=self.now(), updated_at=self.now(), locked=False, hidden=False)

    def folder_at(self, course: int | None, path: str) -> Item:
        """The folder of a path, made where it does not exist."""
        at = self.root_folder(course)
        for name in filter(None, path.split("/")):
            found = next((f for f in self.items["folders"].values()
                          if f["parent_folder_id"] == at["id"] and f["name"] == name), None)
            at = found or self.add("folders", **{key: at[key] for key in ("_course", "context_type", "context_id")},
                                   name=name, full_name=f"{at['full_name']}/{name}", parent_folder_id=at["id"],
                                   created_at=self.now(), updated_at=self.now(), locked=False, hidden=False)
        return at

    def add_file(self, folder: Item, name: str, kind: str, data: bytes, **more: Any) -> Item:
        with self.lock:
            for old in [f for f in self.items["files"].values()
                        if f["folder_id"] == folder["id"] and f["display_name"] == name and not more.get("_keep")]:
                del self.items["files"][old["id"]], self.content[old["id"]]
            file = self.add("files", _course=folder["_course"], uuid="", folder_id=folder["id"], display_name=name,
                            filename=name.replace("/", "_"), size=len(data), created_at=self.now(), url="",
                            updated_at=self.now(), modified_at=self.now(), locked=False, hidden=False,
                            locked_for_user=False, **{"content-type": kind}, **more)
            file["uuid"] = hashlib.sha256(f"file {file['id']}".encode()).hexdigest()[:32]
            self.content[file["id"]] = data
            return file

    # ---- comparing

    def state(self) -> dict[str, Item]:
        """Every object by its kind and id."""
        with self.lock:
            found = {f"{kind} {id}": copy.deepcopy(item) for kind, items in self.items.items() for id, item in items.items()}
            found.update({f"submissions {a} {u}": copy.deepcopy(fields) for (a, u), fields in self.graded.items()})
            return found

    def snapshot(self) -> Any:
        with self.lock:
            return copy.deepcopy((self.items, self.graded, self.uploads, self._last)), dict(self.content), self.clock.now()

    def restore(self, snapshot: Any) -> None:
        with self.lock:
            self.items, self.graded, self.uploads, self._last = copy.deepcopy(snapshot[0])
            self.content = dict(snapshot[1])
            self.clock.advance(snapshot[2] - self.clock.now())


def stamp(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
