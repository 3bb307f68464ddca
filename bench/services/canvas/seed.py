"""The training academy of Norrsken Instruments in Canvas: a year of courses for staff and customers."""
from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mirage.bench.company import CUSTOMERS, ME, PEOPLE, PROJECTS, parts
from mirage.bench.demo import NOW
from mirage.bench.services.canvas.campus import ACCOUNT, Campus, stamp
from mirage.bench.services.gmail.files import big, pdf, png

if TYPE_CHECKING:
    Item = dict[str, Any]

__all__ = ["NOW", "fill"]
DAY = 86400.0
GIVEN = ("Alma", "Bjørn", "Chloé", "Dmitri", "Eszter", "Fatima", "Göran", "Hiroko", "İlker", "Jiří", "Kaisa", "Lucía", "Małgorzata",
         "Ngozi", "Ólafur", "Paulo", "Quentin", "Ragnhild", "Šárka", "Théo", "Uma", "Viktória", "Wei", "Xenia", "Yusuf", "Zoë")
FAMILY = ("Andersson", "Błaszczyk", "Castaño", "Đorđević", "Eriksen", "Fernández", "Grönlund", "Håkansson", "Ibrahim", "Jónsdóttir",
          "Köhler", "Lefèvre", "Müller")
COURSES = ("Safe work at height", "Firmware testing", "Calibration of anemometers", "Statistics for engineers",
           "Kalibrierung / Wind & Regen", "Låga temperaturer: batterier", "Introducción a las estaciones", "気象学入門",
           "Safe work at height", "Writing for customers", "First aid", "Soldering I", "Soldering II", "Project Apollo: service",
           "Project Borealis: API", "Data protection", "Radio basics", "Export control", "Installing a mast", "Onboarding 2026",
           "Support on the phone", "English for the field", "Quality and ISO 9001")
TOPICS = ("Read the manual", "Questions after chapter 1", "Calculate the drift", "Report on a field day", "Final test")
STYLES = ("<h2>{title}</h2><p>Welcome to <b>{course}</b>.</p><ul><li>Bring your own gloves</li><li>Be on time</li></ul>",
          "<h3>{title}</h3><p>See the <a href=\"https://wiki.norrsken.example/{n}\">wiki</a> for {topic}.</p><p>{text}</p>",
          "<p>{text}</p><table><tr><th>Week</th><th>Topic</th></tr><tr><td>1</td><td>{topic}</td></tr></table>")
LEARNERS = 330


def fill(campus: Campus, seed: int = 1, courses: int = 25, enrollments: int = 3000) -> None:
    """Fill an empty campus. The same seed gives the same; the oddities do not depend on it."""
    rng = random.Random(seed)
    campus.add("accounts", name="Norrsken Academy", parent_account_id=None, root_account_id=None, workflow_state="active",
               default_time_zone="Europe/Stockholm")
    campus.add("accounts", name="Customers", parent_account_id=ACCOUNT, root_account_id=ACCOUNT, workflow_state="active",
               default_time_zone="Europe/Stockholm")
    _people(campus)
    for n in range(courses - 2):
        _course(campus, rng, COURSES[n % len(COURSES)] + (f" ({n // len(COURSES) + 1})" if n >= len(COURSES) else ""), n,
                enrollments // max(1, courses - 2))
    _odd(campus)
    for n in range(12):
        sender = rng.randrange(2, 8)
        topic, text = rng.choice(PROJECTS["Apollo"])
        conversation(campus, topic, [sender], [(sender, text), (1, "Thank you, I have seen it.")][:1 + n % 2], NOW - (20 - n) * DAY)
    conversation(campus, "", [3], [(3, "No subject, sorry.\n\nPriya")], NOW - 5 * DAY)
    conversation(campus, "Räume / rooms\nOctober", [2, 3], [(2, "Wer nimmt Raum 3? 🏫")], NOW - 4 * DAY)
    conversation(campus, "Sent only", [4], [(1, "Please check the roster.")], NOW - 3 * DAY)
    home = campus.root_folder(None)
    campus.add_file(home, "profile.png", "image/png", png(3))
    campus.add_file(campus.folder_at(None, "unfiled"), "Zeugnis Ö.txt", "text/plain", "Alles sehr gut.\n".encode())


def _people(campus: Campus) -> None:
    for person in (ME, *PEOPLE):
        _person(campus, *parts(person)[:2])
    for name, address in CUSTOMERS:
        _person(campus, name, address)
    for n in range(LEARNERS - len(CUSTOMERS)):
        name = f"{GIVEN[n % len(GIVEN)]} {FAMILY[n // len(GIVEN) % len(FAMILY)]}"
        _person(campus, name, f"learner{n + 1}@customers.example")


def _person(campus: Campus, name: str, login: str) -> None:
    given, _, family = name.rpartition(" ")
    campus.add("users", name=name, sortable_name=f"{family}, {given}", short_name=name, login_id=login, email=login,
               created_at=stamp(NOW - 360 * DAY), sis_user_id=None, time_zone="Europe/Stockholm", bio=None, title=None)


def new_course(campus: Campus, name: str, account: int = ACCOUNT, state: str = "unpublished", **fields: Any) -> Item:
    """A course with its section, its group of assignments and its folder."""
    course = campus.add("courses", **{
        "name": name, "account_id": account, "uuid": "", "course_code": name or "Unnamed", "start_at": None, "end_at": None,
        "created_at": campus.now(), "workflow_state": state, "enrollment_term_id": 1, "time_zone": "Europe/Stockholm",
        "is_public": False, "license": "private", "default_view": "modules", "public_syllabus": False,
        "hide_final_grades": False, "_syllabus_body": None, "grading_standard_id": None, "sis_course_id": None,
        "storage_quota_mb": 500, "apply_assignment_group_weights": False, **fields})
    course["uuid"] = f"course{course['id']:06}"
    campus.add("sections", _course=course["id"], name=name or "Unnamed", start_at=None, end_at=None)
    campus.add("assignment_groups", _course=course["id"], name="Assignments", position=1, group_weight=0.0)
    campus.root_folder(course["id"])
    return course


def enroll(campus: Campus, course: int, user: int, kind: str = "StudentEnrollment", state: str = "active", at: str = "") -> Item:
    person = campus.items["users"][user]
    section = campus.of_course("sections", course)[0]["id"]
    return campus.add("enrollments", course_id=course, course_section_id=section, user_id=user, type=kind, role=kind,
                      enrollment_state=state, root_account_id=ACCOUNT, limit_privileges_to_course_section=False,
                      created_at=at or campus.now(), updated_at=at or campus.now(), associated_user_id=None,
                      total_activity_time=user * 37 % 5000, last_activity_at=None,
                      user={key: person[key] for key in ("id", "name", "sortable_name", "short_name", "login_id")},
                      **({"grades": {"current_score": user * 7 % 101, "final_score": user * 5 % 101, "current_grade": None}}
                         if kind == "StudentEnrollment" else {}))


def _course(campus: Campus, rng: random.Random, name: str, n: int, students: int) -> None:
    begin = NOW - (355 - n * 14) * DAY
    course = new_course(campus, name, 1 + n % 2, "available" if n % 6 != 4 else "unpublished", created_at=stamp(begin),
                        start_at=stamp(begin + 7 * DAY), course_code=f"NA-{101 + n}", _syllabus_body=f"<p>What you learn in {name}.</p>")
    id, when = course["id"], stamp(begin)
    enroll(campus, id, 1, "TeacherEnrollment", at=when)
    enroll(campus, id, 2 + n % 6, "TeacherEnrollment", at=when)
    for user in sorted(rng.sample(range(8, 8 + LEARNERS), min(students, LEARNERS))):
        enroll(campus, id, user, at=when)
    group = campus.of_course("assignment_groups", id)[0]["id"]
    for m, task in enumerate(TOPICS):
        assignment(campus, id, group, task, f"<p>{task} for <i>{name}</i>. Hand in before the lesson.</p>",
                   stamp(begin + (14 + 7 * m) * DAY), 10 * (m + 1))
    titles = ("Overview", "How to get there", f"Notes on {name}", "Equipment")
    urls = {}
    for m, title in enumerate(titles):
        subject, text = rng.choice(PROJECTS[("Apollo", "Borealis")[m % 2]])
        body = STYLES[m % 3].format(title=title, course=name, topic=subject, text=text, n=n)
        urls[title] = page(campus, id, title, body, stamp(begin + m * DAY))["url"]
    for m, title in enumerate(("Basics", "Practice")):
        found = module(campus, id, title, m + 1)
        for k, (kind, what) in enumerate((("Page", titles[m]), ("Assignment", TOPICS[m]), ("SubHeader", "Afterwards"))):
            campus.add("items", _module=found["id"], _course=id, module_id=found["id"], title=what, type=kind, position=k + 1, indent=0,
                       published=True, **({"page_url": urls[what]} if kind == "Page" else {}))
    topic_text = rng.choice(PROJECTS["Apollo"])[1]
    topic(campus, id, "Welcome", f"<p>Dear participants of {name},</p><p>{topic_text}</p>", True, stamp(begin + DAY))
    topic(campus, id, f"Room change on day {n + 1}", "<p>We meet in <b>room 102</b> instead.</p>", True, stamp(begin + 9 * DAY))
    topic(campus, id, "Introduce yourself", "<p>Who are you?</p>", False, stamp(begin + DAY))
    campus.add_file(campus.root_folder(id), "syllabus.pdf", "application/pdf", pdf(name, "Syllabus"))
    campus.add_file(campus.folder_at(id, "slides/day 1"), "intro.txt", "text/plain", f"Slides of {name}: drift, quartz, kelvin.\n".encode())


def assignment(campus: Campus, course: int, group: int, name: str, text: str | None, due: str | None, points: float) -> Item:
    return campus.add("assignments", course_id=course, assignment_group_id=group, name=name, description=text, due_at=due,
                      points_possible=points, grading_type="points", submission_types=["online_text_entry", "online_upload"],
                      published=True, workflow_state="published", position=1, created_at=campus.now(), updated_at=campus.now(),
                      has_submitted_submissions=True, html_url=f"courses/{course}/assignments")


def page(campus: Campus, course: int, title: str, body: str, at: str = "", published: bool = True) -> Item:
    url = campus.page_url(course, title)
    found = campus.add("pages", _course=course, url=url, title=title, created_at=at or campus.now(), updated_at=at or campus.now(),
                       published=published, front_page=False, editing_roles="teachers", locked_for_user=False, _body=body)
    found["page_id"] = found["id"]
    return found


def module(campus: Campus, course: int, name: str, position: int) -> Item:
    return campus.add("modules", _course=course, name=name, position=position, unlock_at=None, require_sequential_progress=False,
                      prerequisite_module_ids=[], published=True, workflow_state="active", _updated=campus.now())


def topic(campus: Campus, course: int, title: str, message: str, announcement: bool, at: str, author: int = 1) -> Item:
    person = campus.items["users"][author]
    return campus.add("discussion_topics", _course=course, title=title, message=message, posted_at=at, last_reply_at=at,
                      delayed_post_at=None, is_announcement=announcement, published=True, locked=False, attachments=[],
                      discussion_subentry_count=0, read_state="read", discussion_type="threaded",
                      author={"id": author, "display_name": person["name"]}, user_name=person["name"])


def conversation(campus: Campus, subject: str, others: list[int], messages: list[tuple[int, str]], at: float, context: str = "") -> Item:
    people = [1, *others]
    sent = [{"id": 7000 + 100 * len(campus.items["conversations"]) + k, "created_at": stamp(at + 60 * k), "body": text, "author_id": who,
             "generated": False, "media_comment": None, "forwarded_messages": [], "attachments": [],
             "participating_user_ids": people} for k, (who, text) in enumerate(messages)]
    received = [m for m in sent if m["author_id"] != 1]
    return campus.add("conversations", subject=subject, workflow_state="read", last_message=messages[-1][1][:100],
                      last_message_at=received[-1]["created_at"] if received else None,
                      last_authored_message_at=next((m["created_at"] for m in reversed(sent) if m["author_id"] == 1), None),
                      message_count=len(sent), subscribed=True, private=len(others) == 1, starred=False, properties=[],
                      audience=others, context_code=context or None, _messages=sent,
                      participants=[{"id": p, "name": campus.items["users"][p]["name"]} for p in people])


def _odd(campus: Campus) -> None:
    """What must not break; its names do not depend on the seed."""
    course = new_course(campus, "Odd / things\nof all kinds", state="available", course_code="NA-ODD")
    id = course["id"]
    enroll(campus, id, 1, "TeacherEnrollment")
    enroll(campus, id, 2)
    enroll(campus, id, 3)
    group = campus.of_course("assignment_groups", id)[0]["id"]
    assignment(campus, id, group, "Same name", "<p>first zebra</p>", None, 5)
    assignment(campus, id, group, "Same name", "<p>second</p>", None, 5)
    assignment(campus, id, group, "new\nline / slash", None, None, 0)
    page(campus, id, "Setup", "<p>One quagga</p>")
    page(campus, id, "Setup", "<p>Two: größer als &lt;1&gt; &amp; &quot;so&quot;</p><pre>a  b\n c</pre>")
    page(campus, id, "日本語のページ", "<p>温度計</p>")
    page(campus, id, "Draft", "", published=False)
    module(campus, id, "", 1)
    topic(campus, id, "Größe & Gewicht", "<p>Zażółć gęślą jaźń</p>", True, stamp(NOW - DAY))
    root = campus.root_folder(id)
    campus.add_file(root, "recording.bin", "application/octet-stream", big(10 << 20))
    campus.add_file(root, "a/b: c?.txt", "text/plain", b"odd name\n")
    campus.add_file(root, "notes", "text/plain", b"a file beside a folder of its name\n")
    campus.add_file(campus.folder_at(id, "notes"), "inside.txt", "text/plain", b"inside\n")
    campus.add_file(campus.folder_at(id, "räume/øst"), "plan ☃.txt", "text/plain", "Ostflügel\n".encode())
    locked = campus.add_file(root, "later.txt", "text/plain", b"not yet\n")
    locked.update(locked=True, locked_for_user=True, lock_explanation="This file is locked.")
    course = campus.add("courses", name=None, account_id=ACCOUNT, access_restricted_by_date=True, workflow_state="available")
    campus.add("sections", _course=course["id"], name="closed", start_at=None, end_at=None)
    enroll(campus, course["id"], 1)
