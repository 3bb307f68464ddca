from __future__ import annotations

import errno
import json
import re

import pytest

pytest.importorskip("httpx")
pytest.importorskip("markdownify")

from mirage.bench.services.canvas import CanvasSimulator
from mirage.bench.services.gmail.files import big
from mirage.mounts.canvas.text import markdown
from mirage.vfs.registry import ProviderError
from mirage.vfs.registry import make_mount as mount_by_name
from mirage.vfs.service import Retry
from tests.mounts.canvas_support import ODD, QUICK, STUDENT, TEACHER, Token, make_mount, make_terminal
from tests.mounts.contract import MountContract, everything, raises


@pytest.fixture(scope="module")
def small():
    """Two courses, without what nobody may read."""
    with CanvasSimulator(courses=3, enrollments=9) as simulator:
        closed(simulator)
        yield simulator


def closed(simulator):
    campus = simulator.campus
    for id in [i for i, c in campus.items["courses"].items() if c.get("access_restricted_by_date")]:
        del campus.items["courses"][id]
    for id in [i for i, f in campus.items["files"].items() if f["locked"] or f["display_name"] == "recording.bin"]:
        del campus.items["files"][id]


@pytest.fixture
def simulator():
    with CanvasSimulator(courses=3, enrollments=110) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def academy():
    with CanvasSimulator() as simulator:
        yield simulator


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, small):
        small.heal()
        small.fault("status", "/courses", times=3, status=403, reason="throttled")
        small.fault("status", "/pages", times=2, status=500)
        small.fault("status", "/files/", times=2, status=429, seconds=0.02)
        small.fault("reset", "/assignments", times=2)
        small.fault("truncate", "/api/v1/", times=3)
        small.fault("short", "/api/v1/", times=2)
        small.fault("truncate", "/content", times=1)
        small.fault("short", "/content", times=1)
        mount = make_mount(small)
        mount.client.retry = Retry(tries=12, base=0.01, most=1.0)
        yield mount
        small.heal()


# ---- the tree

def test_names(simulator):
    mount = make_mount(simulator)
    assert [e.name for e in mount.list("/")] == ["conversations", "courses", "files"]
    assert [e.name for e in mount.list("/courses")] == ["Odd _ things_of all kinds__102", "Safe work at height__101", "untitled__103"]
    assert [e.name for e in mount.list(ODD)] == ["announcements", "assignments", "course.json", "enrollments.jsonl", "files",
                                                 "modules", "pages", "submissions"]
    assert [e.name for e in mount.list(f"{ODD}/assignments")][-1] == "new_line _ slash__1008.json"
    assert [e.name for e in mount.list(f"{ODD}/submissions")][-1] == "new_line _ slash__1008.jsonl"
    pages = [e.name for e in mount.list(f"{ODD}/pages")]
    assert pages[0] == "Draft.md" and pages[-1] == "日本語のページ.md" and len({p for p in pages if p.startswith("Setup__")}) == 2
    assert next(e.name for e in mount.list(f"{ODD}/modules")).startswith("untitled__")
    assert {"notes", "a_b: c?.txt", "räume"} <= {e.name for e in mount.list(f"{ODD}/files")}
    assert {"Sent only__55.json", "untitled__53.json", "Räume _ rooms_October__54.json"} <= {e.name for e in mount.list("/conversations")}


def test_contents(simulator):
    mount = make_mount(simulator)
    course = json.loads(mount.read("/courses/Safe work at height__101/course.json"))
    assert course["syllabus_body"].startswith("<p>What you learn") and course["total_students"] == 110
    enrollments = mount.read("/courses/Safe work at height__101/enrollments.jsonl").decode().splitlines()
    assert len(enrollments) == 112 and json.loads(enrollments[0])["user"]["name"] == "Mara Lindqvist"
    assignments = [e.name for e in mount.list("/courses/Safe work at height__101/assignments")]
    first = json.loads(mount.read(f"/courses/Safe work at height__101/assignments/{assignments[0]}"))
    lines = mount.read(f"/courses/Safe work at height__101/submissions/{assignments[0]}l").decode().splitlines()
    assert len(lines) == 110 and {json.loads(line)["assignment_id"] for line in lines} == {first["id"]}
    module = json.loads(mount.read("/courses/Safe work at height__101/modules/Basics__1001.json"))
    assert [item["type"] for item in module["items"]] == ["Page", "Assignment", "SubHeader"]
    talk = json.loads(mount.read("/conversations/Räume _ rooms_October__54.json"))
    assert talk["messages"][0]["body"] == "Wer nimmt Raum 3? 🏫"
    assert simulator.campus.items["conversations"][54]["workflow_state"] == "read"
    assert mount.read("/files/unfiled/Zeugnis Ö.txt").decode() == "Alles sehr gut.\n"
    assert mount.read(f"{ODD}/files/räume/øst/plan ☃.txt").decode() == "Ostflügel\n"


def test_markdown(simulator):
    mount = make_mount(simulator)
    assert mount.read("/courses/Safe work at height__101/pages/Overview.md").decode() == (
        "# Overview\n\n## Overview\n\nWelcome to **Safe work at height**.\n\n- Bring your own gloves\n- Be on time\n")
    pages = sorted(e.name for e in mount.list(f"{ODD}/pages") if e.name.startswith("Setup"))
    assert mount.read(f"{ODD}/pages/{pages[1]}").decode() == (
        "# Setup\n\nTwo: größer als <1> & \"so\"\n\n```\na  b\n c\n```\n")
    note = next(e.name for e in mount.list(f"{ODD}/announcements") if e.name.endswith(".md"))
    assert mount.read(f"{ODD}/announcements/{note}").decode() == (
        "# Größe & Gewicht\n\nMara Lindqvist, 2026-09-29T16:00:00Z\n\nZażółć gęślą jaźń\n")
    assert markdown("<div>" * 3000 + "deep" + "</div>" * 3000).strip() == "deep"


def test_a_wrong_name_is_no_name(simulator):
    mount = make_mount(simulator)
    other = next(i for i, a in simulator.campus.items["assignments"].items() if a["course_id"] == 101)
    topic = next(i for i, t in simulator.campus.items["discussion_topics"].items() if not t["is_announcement"])
    for path in ("/courses/Other__101", "/courses/Safe work at height__102", "/courses/Safe work at height__999", "/courses/untitled__101",
                 "/courses/Safe work at height", f"{ODD}/assignments/Read the manual__{other}.json", f"{ODD}/assignments/x__y.json",
                 f"{ODD}/pages/None.md", f"/courses/Safe work at height__101/announcements/Introduce yourself__{topic}.json",
                 f"{ODD}/files/none", "/conversations/Other__54.json"):
        raises(errno.ENOENT, mount.stat, path)


def test_what_may_not_be_seen(simulator):
    with make_terminal(simulator, make_mount(simulator, STUDENT)) as terminal:
        path = f"/canvas{ODD}"
        assert "Setup" in terminal.run(f"ls '{path}/pages'").stdout
        for file in ("enrollments.jsonl", "submissions/*"):
            result = terminal.run(f"cat '{path}'/{file}")
            assert result.exit_code == 1 and result.stdout == "" and "Permission denied" in result.stderr
            assert "mirage: canvas: user not authorized" in result.stderr
    with make_terminal(simulator) as terminal:
        assert "Permission denied" in terminal.run("cat /canvas/courses/untitled__103/enrollments.jsonl").stderr
        result = terminal.run(f"cat '/canvas{ODD}/files/later.txt'")
        assert "Permission denied" in result.stderr and "later.txt is locked" in result.stderr


def test_only_the_account_lists_all_courses(simulator):
    assert [e.name for e in make_mount(simulator, TEACHER).list("/courses")] == ["Odd _ things_of all kinds__102", "Safe work at height__101"]
    raises(errno.EACCES, make_mount(simulator, TEACHER, account=1).list, "/courses")
    simulator.campus.items["enrollments"].clear()
    assert make_mount(simulator).list("/courses") == [] and len(make_mount(simulator, account=1).list("/courses")) == 3


# ---- cost

def test_calls_are_as_few_as_can_be(academy):
    academy.heal()
    with make_terminal(academy) as terminal:
        academy.clear_log()
        terminal.run("echo hi; ls /; cat /VFS.md; canvas --help; canvas create-page --help")
        assert academy.log == []
        deep = "/canvas/courses/Safe work at height__101"
        assert terminal.run(f"cat '{deep}/assignments/Read the manual__1001.json' | jq .id").stdout == "1001\n"
        assert [e.path for e in academy.log] == ["/api/v1/courses/101", "/api/v1/courses/101/assignments/1001"]
        academy.clear_log()
        terminal.run(f"head -1 '{deep}/submissions/Read the manual__1001.jsonl'")
        assert len(academy.log) == 3                             # the assignment, two pages of submissions
        academy.clear_log()
        assert terminal.run("ls /canvas/courses").stdout.count("\n") == 25 and len(academy.log) == 1
        result = terminal.run("ls /canvas/courses; cat /canvas/courses/*/course.json | jq -s length")
        assert result.stdout.endswith("\n25\n") and len(academy.log) == 1
        academy.clear_log()
        assert terminal.run(f"cat '{deep}'/pages/*.md | wc -l; cat '{deep}'/pages/*.md > /workspace/x").exit_code == 0
        assert len(academy.log) == 5                             # the listing, and four pages once
        academy.clear_log()
        terminal.run(f"cat '{deep}/enrollments.jsonl' | wc -l; cat '{deep}'/modules/* '{deep}'/announcements/*")
        assert len(academy.log) == 4                             # two pages, a listing each
        academy.clear_log()
        terminal.run(f"find '{deep}/files' -type f; cat '{deep}/files/slides/day 1/intro.txt'")
        assert len(academy.log) == 4 and academy.calls("/folders") == 1    # folders, files, the address and its redirection


def test_after_the_ttl_one_question_with_an_etag(simulator):
    mount = make_mount(simulator, ttl=0.0)
    before = mount.read("/courses/Safe work at height__101/enrollments.jsonl")
    simulator.clear_log()
    assert mount.read("/courses/Safe work at height__101/enrollments.jsonl") == before
    assert [e.status for e in simulator.log] == [304, 304, 304]
    simulator.campus.page(101, "overview").update(_body="<p>new</p>", updated_at="2026-09-30T17:00:00Z")
    assert mount.read("/courses/Safe work at height__101/pages/Overview.md").endswith(b"\n\nnew\n")


def test_large_files_are_read_by_ranges(academy):
    academy.heal()
    path = "/canvas/courses/Odd _ things_of all kinds__124/files/recording.bin"
    data = big(10 << 20)
    with make_terminal(academy) as terminal:
        terminal.run(f"ls -l '{path}'")
        academy.clear_log()
        assert terminal.run(f"head -c 100 '{path}'").stdout_bytes == data[:100]
        assert terminal.run(f"tail -c 100 '{path}'").stdout_bytes == data[-100:]
        assert sum(e.sent for e in academy.log) < 1 << 20
        academy.fault("short", "/content", times=2)
        assert terminal.run(f"sha1sum '{path}' | cut -c1-8; wc -c < '{path}'").stdout.endswith(f"\n{10 << 20}\n")
        academy.fault("truncate", "/content")
        result = terminal.run(f"tail -c 50 '{path}'")
        assert result.exit_code == 1 and result.stdout == "" and "Input/output error" in result.stderr
        academy.heal()


# ---- failures

@pytest.mark.parametrize(("fault", "number"), [
    ({"kind": "status", "status": 403, "reason": "throttled"}, errno.EAGAIN), ({"kind": "status", "status": 429}, errno.EAGAIN),
    ({"kind": "status", "status": 500}, errno.EIO), ({"kind": "status", "status": 403}, errno.EACCES),
    ({"kind": "status", "status": 401}, errno.EACCES), ({"kind": "reset"}, errno.EIO), ({"kind": "truncate"}, errno.EIO),
    ({"kind": "short"}, errno.EIO)])
def test_what_does_not_heal_is_an_errno(simulator, fault, number):
    mount = make_mount(simulator)
    mount.list("/courses/Safe work at height__101")
    simulator.fault(match="/enrollments", **fault)
    raises(number, mount.read, "/courses/Safe work at height__101/enrollments.jsonl")
    simulator.heal()
    assert mount.read("/courses/Safe work at height__101/enrollments.jsonl").count(b"\n") == 112


def test_a_throttled_request_is_sent_again(simulator):
    with make_terminal(simulator) as terminal:
        simulator.fault("status", "", times=2, status=403, reason="throttled")
        assert terminal.run("canvas create-course --account_id 1 --name Later | jq -r .name").stdout == "Later\n"
        assert len([e for e in simulator.log if e.status == 403]) == 2


def test_tokens_show_nowhere(simulator):
    mount = make_mount(simulator, "canvas-CANARY")
    mount.client.retry = QUICK
    with pytest.raises(PermissionError) as caught:
        mount.list("/courses")
    assert caught.value.note == "canvas: Invalid access token. (401)"
    assert "CANARY" not in f"{caught.value!r} {mount!r} {mount.client!r}"
    simulator.fault("status", "/courses", status=401, reason="canvas-CANARY is bad")
    with pytest.raises(OSError) as caught:
        mount.list("/courses")
    assert "CANARY" not in f"{caught.value!r} {caught.value.note}"
    mount = make_mount(simulator)
    simulator.heal()
    simulator.clear_log()
    seen = []
    simulator._download, plain = lambda request: seen.append(request.headers) or plain(request), simulator._download
    mount.read("/courses/Safe work at height__101/files/syllabus.pdf")
    assert len(seen) == 2
    raises(errno.EIO, mount.client.send, "GET", "https://evil.example/x", raw=True)
    raises(errno.EIO, mount.client.part, "https://evil.example/x", 0, 10, 100)


def test_options_are_checked():
    for options in ({}, {"url": "ftp://x"}, {"url": "https://x", "colour": "red"}, {"url": "https://x", "token": "hunter2"},
                    {"url": "https://x", "account": "me"}):
        with pytest.raises((ProviderError, ValueError)) as caught:
            mount_by_name("canvas", options)
        assert "hunter2" not in str(caught.value)
    assert mount_by_name("canvas", {"url": "school.example", "token": "env:X"}).client.base == "https://school.example/api/v1"


# ---- grep reads everything

WORDS = """zebra quagga größer Setup gloves Welcome participants Mara Priya Jonas StudentEnrollment TeacherEnrollment active drift quartz
kelvin Zażółć jaźń Ostflügel sehr gut rooms Raum Räume subject messages body Thank seen roster check submitted graded Answer
Read manual Calculate Final test points_possible 10 50 id name published Basics Practice SubHeader Overview Equipment Notes
wiki table Week Topic syllabus learn height work Safe Odd things kinds nobody nothing 温度計 日本語 UPPER lower room 102 instead
Dear Who you uploaded inside beside folder odd Alles score comments grade missing late user sortable_name example learner
Andersson Köhler Müller Zoë İlker Ólafur 2025 2026 html null true false available private term Default""".split()


def test_grep_finds_what_is_there(small):
    small.heal()
    texts = {}
    mount = make_mount(small)
    for path, stat in everything(mount):
        if stat.is_file and not path.endswith((".pdf", ".png", ".bin")):
            texts["/canvas" + path] = mount.read(path).decode()
    with make_terminal(small, mount) as terminal:
        for number, word in enumerate(WORDS[::2]):
            flags = ("-rl", "-rli", "-rlw", "-rlF")[number % 4]
            pattern = re.compile(rf"\b{word}\b" if "w" in flags else word, re.I if "i" in flags else 0)
            top = f"/canvas{ODD}" if number % 5 else "/canvas"
            found = terminal.run(f"grep {flags} --exclude='*.pdf' --exclude='*.png' '{word}' '{top}'")
            wanted = {p for p, text in texts.items() if p.startswith(top) and pattern.search(text)}
            assert set(found.stdout.splitlines()) == wanted, word
            assert found.stderr == ""


def test_tokens_are_asked_for_again(simulator):
    token = Token("canvas-old")
    from mirage.mounts.canvas.tree import Canvas
    mount = Canvas(simulator.address, token, rate=0)
    raises(errno.EACCES, mount.list, "/courses")
    token.text = "canvas-simulator"
    assert len(mount.list("/courses")) == 3
