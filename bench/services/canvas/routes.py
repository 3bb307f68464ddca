"""What the simulated Canvas answers: one function for each method and path below /api/v1."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from mirage.bench.services.canvas import seed as seeds
from mirage.bench.services.canvas.campus import CanvasError, forbidden, invalid, missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.bench.services.canvas.server import CanvasSimulator
    from mirage.bench.services.http import Request

    Item = dict[str, Any]
    Handler = Callable[..., Any]

API = "/api/v1"
STATES = {"offer": "available", "claim": "unpublished", "conclude": "completed", "delete": "deleted", "undelete": "claimed"}
ROUTES: list[tuple[str, re.Pattern[str], Handler]] = []
COURSE_FIELDS = ("name", "course_code", "start_at", "end_at", "time_zone", "license", "is_public", "public_syllabus",
                 "is_public_to_auth_users", "public_syllabus_to_auth", "public_description", "sis_course_id", "integration_id",
                 "hide_final_grades", "allow_student_wiki_edits", "open_enrollment", "self_enrollment", "default_view",
                 "apply_assignment_group_weights", "restrict_enrollments_to_course_dates", "allow_wiki_comments",
                 "allow_student_forum_attachments")
FIELDS = {"assignments": ("name", "description", "due_at", "points_possible", "submission_types", "allowed_extensions",
                          "published", "grading_type", "unlock_at", "lock_at", "assignment_group_id", "position"),
          "modules": ("name", "position", "unlock_at", "require_sequential_progress", "prerequisite_module_ids", "published"),
          "items": ("title", "type", "content_id", "page_url", "external_url", "position", "indent", "published", "new_tab"),
          "quizzes": ("title", "quiz_type", "time_limit", "published", "description", "due_at", "points_possible"),
          "discussion_topics": ("title", "message", "published", "delayed_post_at", "is_announcement", "discussion_type",
                                "pinned", "locked")}


def route(method: str, path: str) -> Callable[[Handler], Handler]:
    """`{name}` in the path is one component."""
    pattern = re.compile(API + re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))

    def mark(handler: Handler) -> Handler:
        ROUTES.append((method, pattern, handler))
        return handler
    return mark


class Call:
    """One request: who asks, and the parameters of query and body."""

    def __init__(self, request: Request, user: int, role: str) -> None:
        self.request = request
        self.user = user
        self.role = role
        kind = request.headers.get("content-type", "")
        self.query: Item = nested([(k, v) for k, values in request.query.items() for v in values])
        if kind.startswith("application/json") and request.body:
            self.fields: Item = {**self.query, **request.json()}
        else:
            self.fields = {**self.query, **nested(parse_qsl(request.body.decode(), keep_blank_values=True))}

    def wrapped(self, name: str) -> Item:
        found = self.fields.get(name)
        if not isinstance(found, dict):
            raise CanvasError(400, f"{name} is missing")
        return found

    def includes(self, name: str) -> bool:
        return name in (self.query.get("include") or ())


def nested(pairs: list[tuple[str, str]]) -> Item:
    """`course[name]=x&include[]=a` as objects and lists."""
    found: Item = {}
    for key, value in pairs:
        names = [key.partition("[")[0], *re.findall(r"\[([^\]]*)\]", key)]
        at: Any = found
        for name, following in zip(names, names[1:], strict=False):
            at = at.setdefault(name, [] if following == "" else {})
        at.append(value) if names[-1] == "" else at.__setitem__(names[-1], value)
    return found


# ---- courses

def shown_course(s: CanvasSimulator, call: Call, course: Item) -> Item:
    if course.get("access_restricted_by_date"):
        return {"id": course["id"], "access_restricted_by_date": True}
    found = dict(course)
    if call.includes("syllabus_body"):
        found["syllabus_body"] = course["_syllabus_body"]
    if call.includes("term"):
        found["term"] = {"id": 1, "name": "Default Term", "start_at": None, "end_at": None}
    if call.includes("total_students"):
        found["total_students"] = len(s.campus.students(course["id"]))
    if call.includes("teachers"):
        found["teachers"] = [{"id": e["user_id"], "display_name": e["user"]["name"]}
                             for e in s.campus.of_course("enrollments", course["id"]) if e["type"] == "TeacherEnrollment"]
    return found


def searched(call: Call, items: list[Item], *keys: str) -> list[Item]:
    """`search_term`: a part of the name, at least two characters."""
    term = str(call.query.get("search_term") or "")
    if term and len(term) < 2:
        raise invalid("search_term", "2 or more characters is required")
    return [i for i in items if not term or any(term.casefold() in str(i.get(key) or "").casefold() for key in keys)]


@route("GET", "/courses")
def list_courses(s: CanvasSimulator, call: Call) -> Any:
    mine = [c for c in s.campus.items["courses"].values() if c["workflow_state"] != "deleted"
            and (entry := s.campus.enrolled(c["id"], call.user)) is not None
            and (c["workflow_state"] != "unpublished" or entry["type"] != "StudentEnrollment")]
    if call.query.get("enrollment_state") == "active":
        mine = [c for c in mine if c["workflow_state"] != "completed"]
    return [shown_course(s, call, c) for c in mine]


@route("GET", "/accounts/{account}/courses")
def account_courses(s: CanvasSimulator, call: Call, account: str) -> Any:
    admin(s, call, account)
    inside = [int(account), *(a["id"] for a in s.campus.items["accounts"].values() if a["parent_account_id"] == int(account))]
    found = [c for c in s.campus.items["courses"].values() if c["account_id"] in inside and c["workflow_state"] != "deleted"]
    return [shown_course(s, call, c) for c in searched(call, found, "name", "course_code")]


def admin(s: CanvasSimulator, call: Call, account: str) -> Item:
    found = s.campus.get("accounts", account)
    if call.role != "admin":
        raise forbidden()
    return found


@route("POST", "/accounts/{account}/courses")
def create_course(s: CanvasSimulator, call: Call, account: str) -> Any:
    id = admin(s, call, account)["id"]
    fields = call.wrapped("course")
    s.campus.tick()
    course = seeds.new_course(s.campus, str(fields.get("name") or "Unnamed Course"), id,
                              **{k: v for k, v in fields.items() if k in COURSE_FIELDS and k != "name"})
    course["_syllabus_body"] = fields.get("syllabus_body")
    if call.fields.get("offer") in (True, "true"):
        course["workflow_state"] = "available"
    return course


@route("GET", "/courses/{course}")
def get_course(s: CanvasSimulator, call: Call, course: str) -> Any:
    return shown_course(s, call, s.campus.course(course, call.user, call.role))


def teaching(s: CanvasSimulator, call: Call, course: str) -> Item:
    """The course, for those who may change it and see everything in it."""
    found = s.campus.course(course, call.user, call.role)
    if call.role != "admin" and s.campus.enrolled(found["id"], call.user, "TeacherEnrollment") is None:
        raise forbidden()
    return found


@route("PUT", "/courses/{course}")
def update_course(s: CanvasSimulator, call: Call, course: str) -> Any:
    found, fields = teaching(s, call, course), call.wrapped("course")
    s.campus.tick()
    found.update({k: v for k, v in fields.items() if k in COURSE_FIELDS})
    if "syllabus_body" in fields:
        found["_syllabus_body"] = fields["syllabus_body"]
    if "event" in fields:
        if fields["event"] not in STATES:
            raise invalid("event", "is not included in the list")
        found["workflow_state"] = STATES[fields["event"]]
    return found


@route("DELETE", "/courses/{course}")
def delete_course(s: CanvasSimulator, call: Call, course: str) -> Any:
    found, event = teaching(s, call, course), call.fields.get("event")
    if event not in ("delete", "conclude"):
        raise CanvasError(400, "event must be delete or conclude")
    s.campus.tick()
    found["workflow_state"] = STATES[event]
    return {event: True}


@route("GET", "/courses/{course}/users")
def course_users(s: CanvasSimulator, call: Call, course: str) -> Any:
    ids = dict.fromkeys(e["user_id"] for e in s.campus.of_course("enrollments", teaching(s, call, course)["id"]))
    return searched(call, [s.campus.items["users"][id] for id in ids], "name", "login_id")


@route("GET", "/courses/{course}/enrollments")
def list_enrollments(s: CanvasSimulator, call: Call, course: str) -> Any:
    found = s.campus.of_course("enrollments", teaching(s, call, course)["id"])
    kinds, states = call.query.get("type"), call.query.get("state")
    return [e for e in found if (not kinds or e["type"] in kinds)
            and (e["enrollment_state"] in states if states else e["enrollment_state"] in ("active", "invited"))]


@route("POST", "/courses/{course}/enrollments")
def enroll_user(s: CanvasSimulator, call: Call, course: str) -> Any:
    found, fields = teaching(s, call, course), call.wrapped("enrollment")
    user = s.campus.items["users"].get(int(fields["user_id"]))
    if user is None:
        raise missing()
    kind = str(fields.get("type") or "StudentEnrollment")
    if not kind.endswith("Enrollment"):
        raise CanvasError(400, "Invalid type")
    s.campus.tick()
    for old in s.campus.of_course("enrollments", found["id"]):
        if old["user_id"] == user["id"] and old["type"] == kind:
            old.update(enrollment_state=fields.get("enrollment_state") or "active", updated_at=s.campus.now())
            return old
    return seeds.enroll(s.campus, found["id"], user["id"], kind, fields.get("enrollment_state") or "invited")


@route("DELETE", "/courses/{course}/enrollments/{id}")
def unenroll(s: CanvasSimulator, call: Call, course: str, id: str) -> Any:
    found = s.campus.get("enrollments", id, teaching(s, call, course)["id"])
    s.campus.tick()
    found["enrollment_state"] = {"delete": "deleted", "conclude": "completed"}.get(str(call.fields.get("task")), "completed")
    return found


# ---- what has a list, an item and changes

def listed(kind: str, title: str, keep: Callable[[Call, Item], bool] = lambda call, item: True) -> None:
    """GET, POST, PUT and DELETE of a kind of object in a course."""
    wrap = {"assignments": "assignment", "modules": "module", "quizzes": "quiz", "discussion_topics": ""}[kind]

    def decorated(s: CanvasSimulator, call: Call, item: Item) -> Item:
        if kind != "modules":
            return item
        parts = [i for i in s.campus.items["items"].values() if i["module_id"] == item["id"]]
        return {**item, "items_count": len(parts), **({"items": parts} if call.includes("items") else {})}

    def checked(fields: Item) -> Item:
        if kind == "assignments" and not str(fields.get("name", "x")).strip():
            raise invalid("name", "is too short", "too_short")
        if title in fields and len(str(fields[title])) > 255:
            raise CanvasError(422, body={"errors": {title: [{"attribute": title, "message": "is too long", "type": "too_long"}]}})
        return {k: v for k, v in fields.items() if k in FIELDS[kind]}

    @route("GET", f"/courses/{{course}}/{kind}")
    def many(s: CanvasSimulator, call: Call, course: str) -> Any:
        found = s.campus.of_course(kind, s.campus.course(course, call.user, call.role)["id"])
        return [decorated(s, call, i) for i in searched(call, found, title) if keep(call, i)]

    @route("GET", f"/courses/{{course}}/{kind}/{{id}}")
    def one(s: CanvasSimulator, call: Call, course: str, id: str) -> Any:
        return decorated(s, call, s.campus.get(kind, id, s.campus.course(course, call.user, call.role)["id"]))

    @route("POST", f"/courses/{{course}}/{kind}")
    def create(s: CanvasSimulator, call: Call, course: str) -> Any:
        found = teaching(s, call, course)
        fields = checked(call.wrapped(wrap) if wrap else call.fields)
        if not fields.get(title):
            raise invalid(title, "can't be blank", "blank")
        s.campus.tick()
        position = len(s.campus.of_course(kind, found["id"])) + 1
        if kind == "assignments":
            group = s.campus.of_course("assignment_groups", found["id"])[0]["id"]
            item = seeds.assignment(s.campus, found["id"], group, fields["name"], None, None, 0)
        elif kind == "modules":
            item = seeds.module(s.campus, found["id"], fields["name"], position)
        elif kind == "discussion_topics":
            item = seeds.topic(s.campus, found["id"], fields["title"], "", False, s.campus.now(), call.user)
        else:
            item = s.campus.add("quizzes", _course=found["id"], quiz_type="assignment", published=False, question_count=0)
        item.update(fields)
        return decorated(s, call, item)

    @route("PUT", f"/courses/{{course}}/{kind}/{{id}}")
    def update(s: CanvasSimulator, call: Call, course: str, id: str) -> Any:
        item = s.campus.get(kind, id, teaching(s, call, course)["id"])
        item.update(checked(call.wrapped(wrap) if wrap else call.fields))
        item["updated_at"] = s.campus.tick()
        return decorated(s, call, item)

    @route("DELETE", f"/courses/{{course}}/{kind}/{{id}}")
    def delete(s: CanvasSimulator, call: Call, course: str, id: str) -> Any:
        item = s.campus.get(kind, id, teaching(s, call, course)["id"])
        s.campus.tick()
        del s.campus.items[kind][item["id"]]
        return item


listed("assignments", "name")
listed("modules", "name")
listed("quizzes", "title")
listed("discussion_topics", "title",
       lambda call, item: bool(item["is_announcement"]) == (call.query.get("only_announcements") in ("true", "1", "True")))


@route("GET", "/courses/{course}/{kind}")
def plain_lists(s: CanvasSimulator, call: Call, course: str, kind: str) -> Any:
    id = s.campus.course(course, call.user, call.role)["id"]
    if kind == "pages":
        return searched(call, s.campus.of_course(kind, id), "title")
    if kind == "files":
        return searched(call, s.campus.of_course(kind, id), "display_name")
    if kind in ("assignment_groups", "folders", "rubrics", "sections"):
        return s.campus.of_course(kind, id)
    raise missing()


@route("GET", "/courses/{course}/rubrics/{id}")
def get_rubric(s: CanvasSimulator, call: Call, course: str, id: str) -> Any:
    return s.campus.get("rubrics", id, s.campus.course(course, call.user, call.role)["id"])


# ---- submissions

@route("GET", "/courses/{course}/assignments/{id}/submissions")
def list_submissions(s: CanvasSimulator, call: Call, course: str, id: str) -> Any:
    found = teaching(s, call, course)["id"]
    task = s.campus.get("assignments", id, found)
    return [s.campus.submission(task, user) for user in s.campus.students(found)]


@route("GET", "/courses/{course}/assignments/{id}/submissions/{user}")
def get_submission(s: CanvasSimulator, call: Call, course: str, id: str, user: str) -> Any:
    found = s.campus.course(course, call.user, call.role)["id"]
    student = call.user if user == "self" else int(user)
    if student != call.user:
        teaching(s, call, course)
    if s.campus.enrolled(found, student) is None:
        raise missing()
    return s.campus.submission(s.campus.get("assignments", id, found), student)


@route("POST", "/courses/{course}/assignments/{id}/submissions")
def submit(s: CanvasSimulator, call: Call, course: str, id: str) -> Any:
    found, fields = s.campus.course(course, call.user, call.role)["id"], call.wrapped("submission")
    task = s.campus.get("assignments", id, found)
    if fields.get("submission_type") not in ("online_text_entry", "online_url", "online_upload"):
        raise CanvasError(400, "Invalid submission[submission_type] given")
    old = s.campus.submission(task, call.user)
    s.campus.graded[task["id"], call.user] = {
        "submission_type": fields["submission_type"], "body": fields.get("body"), "url": fields.get("url"), "missing": False,
        "attempt": (old["attempt"] or 0) + 1, "submitted_at": s.campus.tick(), "workflow_state": "submitted",
        "attachments": [s.campus.get("files", file) for file in fields.get("file_ids") or ()]}
    return s.campus.submission(task, call.user)


@route("PUT", "/courses/{course}/assignments/{id}/submissions/{user}")
def grade(s: CanvasSimulator, call: Call, course: str, id: str, user: str) -> Any:
    found = teaching(s, call, course)["id"]
    task = s.campus.get("assignments", id, found)
    if int(user) not in s.campus.students(found):
        raise missing()
    kept = s.campus.graded.setdefault((task["id"], int(user)), {})
    posted, comment = call.fields.get("submission", {}).get("posted_grade"), call.fields.get("comment", {}).get("text_comment")
    now = s.campus.tick()
    if posted is not None:
        number = str(posted).rstrip("%").replace(".", "", 1).isdigit()
        kept.update(grade=str(posted), score=float(str(posted).rstrip("%")) if number else None, workflow_state="graded",
                    graded_at=now, grader_id=call.user)
    if comment:
        comments = s.campus.submission(task, int(user))["submission_comments"]
        kept["submission_comments"] = [*comments, {"id": len(comments) + 1, "author_id": call.user, "comment": comment, "created_at": now}]
    return s.campus.submission(task, int(user))


# ---- pages, modules' items, discussions

@route("GET", "/courses/{course}/pages/{url}")
def get_page(s: CanvasSimulator, call: Call, course: str, url: str) -> Any:
    found = s.campus.page(s.campus.course(course, call.user, call.role)["id"], url)
    return {**found, "body": found["_body"]}


@route("POST", "/courses/{course}/pages")
def create_page(s: CanvasSimulator, call: Call, course: str) -> Any:
    found, fields = teaching(s, call, course)["id"], call.wrapped("wiki_page")
    s.campus.tick()
    page = seeds.page(s.campus, found, str(fields.get("title") or "Untitled Page"), str(fields.get("body") or ""),
                      published=bool(fields.get("published", False)))
    return {**page, "body": page["_body"]}


@route("PUT", "/courses/{course}/pages/{url}")
def update_page(s: CanvasSimulator, call: Call, course: str, url: str) -> Any:
    page, fields = s.campus.page(teaching(s, call, course)["id"], url), call.wrapped("wiki_page")
    page["_body"] = fields.get("body", page["_body"])
    page.update({k: fields[k] for k in ("title", "published", "editing_roles", "front_page") if k in fields}, updated_at=s.campus.tick())
    return {**page, "body": page["_body"]}


@route("DELETE", "/courses/{course}/pages/{url}")
def delete_page(s: CanvasSimulator, call: Call, course: str, url: str) -> Any:
    page = s.campus.page(teaching(s, call, course)["id"], url)
    s.campus.tick()
    return s.campus.items["pages"].pop(page["id"])


@route("GET", "/courses/{course}/modules/{module}/items")
def list_items(s: CanvasSimulator, call: Call, course: str, module: str) -> Any:
    found = s.campus.get("modules", module, s.campus.course(course, call.user, call.role)["id"])
    return [i for i in s.campus.items["items"].values() if i["module_id"] == found["id"]]


@route("GET", "/courses/{course}/modules/{module}/items/{id}")
def get_item(s: CanvasSimulator, call: Call, course: str, module: str, id: str) -> Any:
    return s.campus.get("items", id, s.campus.course(course, call.user, call.role)["id"])


@route("POST", "/courses/{course}/modules/{module}/items")
def create_item(s: CanvasSimulator, call: Call, course: str, module: str) -> Any:
    id = teaching(s, call, course)["id"]
    found, fields = s.campus.get("modules", module, id), call.wrapped("module_item")
    s.campus.tick()
    return s.campus.add("items", _course=id, module_id=found["id"], position=len(list_items(s, call, course, module)) + 1, published=False,
                        **{k: v for k, v in fields.items() if k in FIELDS["items"] and k not in ("position", "published")})


@route("PUT", "/courses/{course}/modules/{module}/items/{id}/done")
def item_done(s: CanvasSimulator, call: Call, course: str, module: str, id: str) -> Any:
    item = get_item(s, call, course, module, id)
    item["completion_requirement"] = {"type": "must_mark_done", "completed": True}
    s.campus.tick()
    return {}


@route("GET", "/courses/{course}/discussion_topics/{topic}/entries")
def list_entries(s: CanvasSimulator, call: Call, course: str, topic: str) -> Any:
    found = s.campus.get("discussion_topics", topic, s.campus.course(course, call.user, call.role)["id"])
    return [e for e in s.campus.items["entries"].values() if e["_topic"] == found["id"]]


@route("POST", "/courses/{course}/discussion_topics/{topic}/entries")
def create_entry(s: CanvasSimulator, call: Call, course: str, topic: str) -> Any:
    found = s.campus.get("discussion_topics", topic, s.campus.course(course, call.user, call.role)["id"])
    found["discussion_subentry_count"] += 1
    return s.campus.add("entries", _topic=found["id"], user_id=call.user, message=str(call.fields["message"]), created_at=s.campus.tick(),
                        user_name=s.campus.items["users"][call.user]["name"])


@route("POST", "/courses/{course}/quizzes/{quiz}/submissions")
def start_quiz(s: CanvasSimulator, call: Call, course: str, quiz: str) -> Any:
    found = s.campus.get("quizzes", quiz, s.campus.course(course, call.user, call.role)["id"])
    return {"quiz_submissions": [{"id": 1, "quiz_id": found["id"], "user_id": call.user, "attempt": 1, "started_at": s.campus.tick()}]}


# ---- files

def upload(s: CanvasSimulator, call: Call, folder: Item) -> Any:
    name = str(call.fields.get("name") or "")
    if not name:
        raise invalid("name", "can't be blank", "blank")
    if int(call.fields.get("size") or 0) > 500 << 20:
        raise CanvasError(400, "file size exceeds quota")
    key = f"upload-{len(s.campus.uploads) + int(s.clock.now())}"
    s.campus.uploads[key] = {"folder": folder["id"], "name": name, "type": str(call.fields.get("content_type") or "application/octet-stream")}
    return {"upload_url": f"{s.address}storage/upload", "upload_params": {"key": key, "filename": name}, "file_param": "file", "progress": None}


@route("POST", "/courses/{course}/files")
def upload_to_course(s: CanvasSimulator, call: Call, course: str) -> Any:
    id = teaching(s, call, course)["id"]
    return upload(s, call, s.campus.folder_at(id, str(call.fields.get("parent_folder_path") or "")))


@route("POST", "/folders/{folder}/files")
def upload_to_folder(s: CanvasSimulator, call: Call, folder: str) -> Any:
    return upload(s, call, s.campus.get("folders", folder))


@route("POST", "/users/self/files")
def upload_mine(s: CanvasSimulator, call: Call) -> Any:
    return upload(s, call, s.campus.folder_at(None, str(call.fields.get("parent_folder_path") or "")))


@route("GET", "/files/{id}")
def get_file(s: CanvasSimulator, call: Call, id: str) -> Any:
    return s.campus.get("files", id)


@route("GET", "/files/{id}/create_success")
def uploaded(s: CanvasSimulator, call: Call, id: str) -> Any:
    return s.campus.get("files", id)


@route("DELETE", "/files/{id}")
def delete_file(s: CanvasSimulator, call: Call, id: str) -> Any:
    found = s.campus.get("files", id)
    s.campus.tick()
    return s.campus.items["files"].pop(found["id"])


@route("GET", "/folders/{folder}/files")
def folder_files(s: CanvasSimulator, call: Call, folder: str) -> Any:
    return [f for f in s.campus.items["files"].values() if f["folder_id"] == s.campus.get("folders", folder)["id"]]


@route("GET", "/users/self/{kind}")
def mine(s: CanvasSimulator, call: Call, kind: str) -> Any:
    me = s.campus.items["users"][call.user]
    if kind in ("files", "folders"):
        return [i for i in s.campus.items[kind].values() if i["_course"] is None]
    if kind == "profile":
        return {**me, "primary_email": me["email"], "calendar": None}
    if kind == "upcoming_events":
        tasks = sorted((a for a in s.campus.items["assignments"].values() if a["due_at"] and a["due_at"] > s.campus.now()), key=lambda a: a["due_at"])
        return [{"id": f"assignment_{a['id']}", "title": a["name"], "type": "assignment", "assignment": a} for a in tasks]
    if kind == "activity_stream":
        return [{"type": "Message", "title": c["subject"], "conversation_id": c["id"]} for c in inbox(s, "")]
    if kind == "enrollments":
        return [e for e in s.campus.items["enrollments"].values() if e["user_id"] == call.user]
    raise missing()


# ---- conversations

def inbox(s: CanvasSimulator, scope: str) -> list[Item]:
    found = sorted(s.campus.items["conversations"].values(), key=lambda c: str(c["last_message_at"] or c["last_authored_message_at"]), reverse=True)
    if scope == "sent":
        return [c for c in found if c["last_authored_message_at"]]
    if scope == "archived":
        return [c for c in found if c["workflow_state"] == "archived"]
    return [c for c in found if c["last_message_at"] and c["workflow_state"] != "archived"]


@route("GET", "/conversations")
def list_conversations(s: CanvasSimulator, call: Call) -> Any:
    return inbox(s, str(call.query.get("scope") or "")) if call.role == "admin" else []


def read_conversation(s: CanvasSimulator, call: Call, id: str) -> Item:
    if call.role != "admin":
        raise missing()
    return s.campus.get("conversations", id)


@route("GET", "/conversations/{id}")
def get_conversation(s: CanvasSimulator, call: Call, id: str) -> Any:
    found = read_conversation(s, call, id)
    if call.query.get("auto_mark_as_read") not in ("false", "0") and found["workflow_state"] == "unread":
        found["workflow_state"] = "read"
    return {**found, "messages": list(reversed(found["_messages"]))}


@route("POST", "/conversations")
def create_conversation(s: CanvasSimulator, call: Call) -> Any:
    recipients, body = call.fields.get("recipients") or [], str(call.fields.get("body") or "")
    if not recipients or not body.strip():
        raise invalid("body" if recipients else "recipients", "blank", "blank")
    others = [int(str(r)) for r in recipients if str(r).isdigit() and int(str(r)) in s.campus.items["users"]]
    if len(others) != len(recipients):
        raise invalid("recipients", "restricted by role")
    s.campus.tick()
    groups = [others] if call.fields.get("group_conversation") in (True, "true") else [[other] for other in others]
    return [seeds.conversation(s.campus, str(call.fields.get("subject") or ""), group, [(call.user, body)], s.clock.now(),
                               str(call.fields.get("context_code") or "")) for group in groups]


@route("POST", "/conversations/{id}/add_message")
def add_message(s: CanvasSimulator, call: Call, id: str) -> Any:
    found, body = read_conversation(s, call, id), str(call.fields.get("body") or "")
    if not body.strip():
        raise invalid("body", "blank", "blank")
    now = s.campus.tick()
    found["_messages"].append({**found["_messages"][-1], "id": found["_messages"][-1]["id"] + 1, "created_at": now, "body": body, "author_id": call.user})
    found.update(message_count=len(found["_messages"]), last_authored_message_at=now, last_message=body[:100])
    return {**found, "messages": found["_messages"][-1:]}


@route("DELETE", "/conversations/{id}")
def delete_conversation(s: CanvasSimulator, call: Call, id: str) -> Any:
    found = read_conversation(s, call, id)
    s.campus.tick()
    return s.campus.items["conversations"].pop(found["id"])


# ---- people and accounts

@route("GET", "/users/{id}")
def get_user(s: CanvasSimulator, call: Call, id: str) -> Any:
    return s.campus.items["users"][call.user] if id == "self" else s.campus.get("users", id)


@route("PUT", "/users/{id}")
def update_user(s: CanvasSimulator, call: Call, id: str) -> Any:
    user = get_user(s, call, id)
    user.update({k: v for k, v in call.wrapped("user").items() if k in ("name", "short_name", "bio", "title", "time_zone")})
    s.campus.tick()
    return user


@route("GET", "/accounts")
def list_accounts(s: CanvasSimulator, call: Call) -> Any:
    return list(s.campus.items["accounts"].values()) if call.role == "admin" else []


@route("GET", "/accounts/{account}")
def get_account(s: CanvasSimulator, call: Call, account: str) -> Any:
    return admin(s, call, account)


@route("GET", "/accounts/{account}/sub_accounts")
def sub_accounts(s: CanvasSimulator, call: Call, account: str) -> Any:
    return [a for a in s.campus.items["accounts"].values() if a["parent_account_id"] == admin(s, call, account)["id"]]


@route("GET", "/accounts/{account}/users")
def account_users(s: CanvasSimulator, call: Call, account: str) -> Any:
    admin(s, call, account)
    return searched(call, list(s.campus.items["users"].values()), "name", "login_id", "email")


@route("POST", "/accounts/{account}/users")
def create_user(s: CanvasSimulator, call: Call, account: str) -> Any:
    admin(s, call, account)
    login, fields = str(call.wrapped("pseudonym").get("unique_id") or ""), call.fields.get("user") or {}
    if any(u["login_id"] == login for u in s.campus.items["users"].values()):
        raise CanvasError(400, body={"errors": {"pseudonym": {"unique_id": [{"attribute": "unique_id", "message": "taken", "type": "taken"}]}}})
    s.campus.tick()
    name = str(fields.get("name") or login)
    return s.campus.add("users", **{"name": name, "sortable_name": name, "short_name": name, "login_id": login, "email": login,
                                    "created_at": s.campus.now(), **{k: v for k, v in fields.items() if isinstance(v, str)}})


@route("GET", "/accounts/{account}/reports")
def reports(s: CanvasSimulator, call: Call, account: str) -> Any:
    admin(s, call, account)
    return [{"report": "provisioning_csv", "title": "Provisioning", "parameters": {"users": {"required": False}}}]


@route("POST", "/accounts/{account}/reports/{report}")
def create_report(s: CanvasSimulator, call: Call, account: str, report: str) -> Any:
    admin(s, call, account)
    return {"id": 1, "report": report, "status": "created", "progress": 0, "parameters": call.fields.get("parameters"), "created_at": s.campus.tick()}


@route("GET", "/calendar_events")
def calendar_events(s: CanvasSimulator, call: Call) -> Any:
    return list(s.campus.items["calendar_events"].values())


@route("GET", "/dashboard/dashboard_cards")
def cards(s: CanvasSimulator, call: Call) -> Any:
    return [{"id": c["id"], "shortName": c.get("name"), "href": f"/courses/{c['id']}"} for c in list_courses(s, call)]
