"""The simulated Canvas, asked by canvasapi, a library that others wrote for the real one."""
from __future__ import annotations

import warnings

import pytest

pytest.importorskip("canvasapi")

import canvasapi

from mirage.bench.company import PEOPLE
from mirage.bench.services.canvas import CanvasSimulator


@pytest.fixture
def simulator():
    with CanvasSimulator(courses=4, enrollments=260) as simulator:
        yield simulator


def client(simulator, token="canvas-simulator"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return canvasapi.Canvas(simulator.address, token)


def test_a_seed_is_a_campus():
    one, two, other = (CanvasSimulator(seed=seed, courses=4, enrollments=300) for seed in (1, 1, 2))
    assert one.state() == two.state() != other.state()
    whole = CanvasSimulator().campus.items
    assert len(whole["courses"]) == 25 and 2900 < len(whole["enrollments"]) < 3100
    assert {p.partition(" <")[0] for p in PEOPLE} <= {u["name"] for u in whole["users"].values()}


def test_pages_by_the_library(simulator):
    canvas = client(simulator)
    course = canvas.get_course(101)
    people = list(course.get_enrollments())
    assert len(people) == 132 and len({p.id for p in people}) == 132
    assert simulator.calls("/enrollments") == 2
    assert [c.id for c in canvas.get_courses(include=["total_students"])] == [101, 102, 103, 104]


def test_changes_by_the_library(simulator):
    canvas, before = client(simulator), simulator.state()
    course = canvas.get_account(1).create_course(course={"name": "New", "time_zone": "UTC"})
    course.update(course={"event": "offer"})
    work = course.create_assignment({"name": "Essay", "points_possible": 5})
    page = course.create_page({"title": "Hej då", "body": "<p>x</p>", "published": True})
    course.create_module({"name": "M"}).create_module_item({"type": "Page", "page_url": page.url, "title": "Hej"})
    course.create_discussion_topic(title="T", message="m", is_announcement=True)
    course.enroll_user(8, enrollment={"type": "StudentEnrollment", "enrollment_state": "active"})
    work.get_submission(8).edit(submission={"posted_grade": 4}, comment={"text_comment": "good"})
    found = work.get_submission(8)
    assert (found.score, found.submission_comments[0]["comment"], page.url) == (4.0, "good", "hej-da")
    assert canvas.get_course(course.id).workflow_state == "available"
    assert [t.title for t in course.get_discussion_topics(only_announcements=True)] == ["T"] and not list(course.get_discussion_topics())
    kinds = {key.split()[0] for key in simulator.diff(before, simulator.state())["added"]}
    assert {"courses", "assignments", "pages", "modules", "items", "discussion_topics", "enrollments", "submissions"} <= kinds


def test_uploads_by_the_library(simulator, tmp_path):
    (tmp_path / "x y.txt").write_text("hello")
    course = client(simulator).get_course(101)
    assert course.upload(str(tmp_path / "x y.txt"), parent_folder_path="a/b")[0]
    file = next(f for f in course.get_files() if f.display_name == "x y.txt")
    assert file.get_contents() == "hello" and file.size == 5


def test_errors(simulator):
    canvas = client(simulator)
    with pytest.raises(canvasapi.exceptions.ResourceDoesNotExist):
        canvas.get_course(999)
    with pytest.raises(canvasapi.exceptions.InvalidAccessToken):
        client(simulator, "wrong").get_course(101)
    with pytest.raises(canvasapi.exceptions.Forbidden):
        list(client(simulator, "canvas-student").get_course(104).get_enrollments())
    with pytest.raises(canvasapi.exceptions.BadRequest):
        canvas.get_course(101).create_assignment({"name": ""})
    simulator.fault("status", "/courses/101", status=403, reason="throttled")
    with pytest.raises(canvasapi.exceptions.CanvasException):
        canvas.get_course(101)


def test_snapshots(simulator):
    before, kept = simulator.state(), simulator.snapshot()
    client(simulator).create_conversation(["3"], "hi", subject="s")
    assert simulator.diff(before, simulator.state())["added"]["conversations 56"]["subject"] == "s"
    simulator.restore(kept)
    assert simulator.state() == before
