from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("httpx")
pytest.importorskip("markdownify")

from mirage import Terminal
from mirage.bench.services.canvas import CanvasSimulator
from mirage.bench.services.gmail import GmailSimulator
from mirage.clis import make_cli
from mirage.clis.canvas import CanvasCli
from mirage.mounts import Memory
from mirage.mounts.canvas.tree import Canvas
from tests.clis.support import run
from tests.mounts.canvas_support import ODD, STUDENT, make_mount, make_terminal

PUBLISHED = Path(__file__).parent / "data" / "canvas-operations.json"
SAFE = "/canvas/courses/Safe work at height__101"


@pytest.fixture
def simulator():
    with CanvasSimulator(courses=3, enrollments=30) as simulator:
        yield simulator


@pytest.fixture
def terminal(simulator):
    with make_terminal(simulator, make_mount(simulator, account=1)) as terminal:
        yield terminal


def test_operations_are_those_of_the_usual_server():
    """Every operation of the published server with its arguments, but for those that the data file says are left out."""
    published = json.loads(PUBLISHED.read_text())
    cli = CanvasCli(Canvas("https://canvas.example"))
    for name, arguments in published["operations"].items():
        schema = cli.operations[name].model.model_json_schema()
        left_out = set(published["left_out"].get(name, ()))
        assert set(arguments["required"]) <= set(schema.get("required", ())) | left_out, name
        assert set(arguments["arguments"]) - set(schema["properties"]) == left_out, name
    assert len(cli.operations) == 76 and max(len(o.summary.split()) for o in cli.operations.values()) <= 7


def test_effects():
    effects = {name: o.effects for name, o in CanvasCli(Canvas("https://canvas.example")).operations.items()}
    for name, found in effects.items():
        verb = name.split("-")[0]
        if verb in ("list", "get"):
            assert found == ("read",), name
        elif verb in ("delete", "unenroll"):
            assert found == ("destroy",), name
        else:
            assert "read" not in found, name
    assert effects["create-conversation"] == effects["create-announcement"] == ("send",)
    assert effects["enroll-user"] == ("create", "share") and effects["upload-file"] == ("create", "destroy")


def test_a_schedule_in_a_mail_becomes_courses():
    """A table attached to a mail, a course for each of its lines; with a teacher, an announcement, a file, published."""
    pytest.importorskip("googleapiclient")
    from tests.mounts import gmail_support
    with GmailSimulator(messages=60) as mail, CanvasSimulator(courses=3, enrollments=30) as canvas:
        mount = make_mount(canvas, account=1)
        mounts = {"/mail": gmail_support.make_mount(mail), "/canvas": mount}
        before = canvas.state()
        with Terminal(mounts, clis=[CanvasCli(mount)]) as terminal:
            listed = terminal.run("ls /mail/INBOX/2026-09-09; ls /mail/INBOX/2026-09-09/Course_Schedule_Notification__6").stdout.splitlines()
            assert "Course_Schedule_Notification__6.email.json" in listed and listed[-1] == "course_schedule.md"
            result = terminal.run(r"""
cd /workspace
grep '^| ' /mail/INBOX/2026-09-09/Course_Schedule_Notification__6/course_schedule.md | tail -n +2 |
  jq -R 'split("|") | map(gsub("^ +| +$"; "")) | {name: .[1], date: .[2], room: .[4]}' | jq -s . > admin3_courses.json
jq length admin3_courses.json
while IFS= read -r row; do
  name=$(printf '%s' "$row" | jq -r '.name')
  args=$(jq -n --arg n "$name" '{account_id:1,name:$n,course_code:$n,time_zone:"America/Denver"}')
  out=$(canvas create-course "$args")
  id=$(printf '%s' "$out" | jq -r '.id')
  printf '%s\t%s\n' "$id" "$name" >> /workspace/admin3_course_ids.tsv
done < <(jq -c '.[]' /workspace/admin3_courses.json)
""")
            assert (result.exit_code, result.stdout, result.stderr) == (0, "27\n", "")
            added = canvas.diff(before, canvas.state())["added"]
            courses = {c["name"]: c for key, c in added.items() if key.startswith("courses ")}
            assert len(courses) == 27 and {c["time_zone"] for c in courses.values()} == {"America/Denver"}
            assert all(c["course_code"] == name and c["workflow_state"] == "unpublished" for name, c in courses.items())
            assert terminal.run("wc -l < admin3_course_ids.tsv; ls /canvas/courses | wc -l").stdout == "27\n30\n"
            canvas.clear_log()
            result = terminal.run(r"""
while IFS=$'\t' read -r id name; do
  canvas enroll-user "{\"course_id\": $id, \"user_id\": 2, \"role\": \"TeacherEnrollment\"}" &&
  canvas create-announcement --course_id "$id" --title "Welcome to $name" --message '<p>See you soon.</p>' &&
  canvas upload-file --course_id "$id" --file /mail/INBOX/2026-09-09/Course_Schedule_Notification__6/course_schedule.md --name syllabus.md &&
  canvas publish-course --course_id "$id"
done < admin3_course_ids.tsv > log.jsonl
head -1 admin3_course_ids.tsv | tr '\t' ' '
""")
            assert result.exit_code == 0 and result.stderr == "" and len(canvas.log) == 27 * (3 + 3)
            id, _, name = result.stdout.strip().partition(" ")
            look = terminal.run(f"cd '/canvas/courses/{name}__{id}'; jq -r .workflow_state course.json; jq -r .type enrollments.jsonl; "
                                "cat announcements/*.md; head -1 files/syllabus.md")
            assert look.stdout == f"available\nTeacherEnrollment\n# Welcome to {name}\n\nMara Lindqvist, {look.stdout.split('Lindqvist, ')[1][:20]}\n\n" \
                                  "See you soon.\n# Course schedule, autumn 2026\n"
            assert {c["workflow_state"] for key, c in canvas.state().items() if key.startswith("courses ") and int(key[8:]) > 103} == {"available"}


def test_a_change_shows_and_nothing_else_is_asked_for(simulator, terminal):
    terminal.run(f"ls -R /canvas > /dev/null; cat '{SAFE}'/*/*.md '{SAFE}'/*.json* '{SAFE}'/submissions/* /canvas/conversations/* > /dev/null")
    everything = f"ls -R /canvas > x; cat '{SAFE}'/*/*.md '{SAFE}'/*.json* '{SAFE}'/submissions/* /canvas/conversations/* > x"
    simulator.clear_log()
    terminal.run(everything)
    refused = len(simulator.log)                             # the closed course, each time
    for line, look, asked in (
            ("create-assignment --course_id 101 --name Essay --points_possible 5", f"ls '{SAFE}/assignments' '{SAFE}/submissions' | grep -c Essay", 2),
            ("create-page --course_id 101 --title Neu --body '<p>Hej</p>' --published", f"tail -1 '{SAFE}/pages/Neu.md'", 3),
            ("update-page --course_id 101 --page_url overview --body '<p>Changed</p>'", f"tail -1 '{SAFE}/pages/Overview.md'", 3),
            ("create-module --course_id 101 --name Extra", f"ls '{SAFE}/modules' | grep -c Extra", 2),
            ("create-announcement --course_id 101 --title Fire --message '<p>Out</p>'", f"tail -1 '{SAFE}'/announcements/Fire__*.md", 2),
            ("enroll-user --course_id 101 --user_id 330", f"tail -1 '{SAFE}/enrollments.jsonl' | jq .user_id", 2),
            ("submit-grade --course_id 101 --assignment_id 1001 --user_id 330 --grade 9 --comment 'Well done'",
             f"jq -c 'select(.user_id==330)|.score,.submission_comments[0].comment' '{SAFE}/submissions/Read the manual__1001.jsonl'", 2),
            ("create-conversation '{\"recipients\": [3], \"body\": \"Hej\", \"subject\": \"Fika\"}'", "jq -r '.messages[0].body' /canvas/conversations/Fika*", 5),
            ("update-course --course_id 101 --name 'Safe work' --workflow_state completed", "ls /canvas/courses | grep '^Safe'", 2)):
        simulator.clear_log()
        result = terminal.run(f"canvas {line} > out; {look}")
        assert result.exit_code == 0 and result.stdout and not result.stderr, (line, result)
        assert len(simulator.log) == asked, (line, simulator.log)
    simulator.clear_log()
    terminal.run("ls -R '/canvas/courses/Safe work__101' /canvas/files > x; ls /canvas/courses")
    assert len(simulator.log) <= 8 and refused < 12          # the course has a new path


def test_pages_are_changed_and_deleted(terminal):
    page = run(terminal, "canvas create-page '{\"course_id\": 101, \"title\": \"Plan\", \"body\": \"<p>1</p>\"}'")
    assert terminal.run(f"cat '{SAFE}/pages/Plan.md'").stdout == "# Plan\n\n*not published*\n\n1\n"
    run(terminal, f"canvas update-page --course_id 101 --page_url {page['url']} --body '<p>2</p>' --published")
    assert terminal.run(f"cat '{SAFE}/pages/Plan.md'").stdout == "# Plan\n\n2\n"
    run(terminal, "canvas delete-page --course_id 101 --page_url plan")
    assert terminal.run(f"cat '{SAFE}/pages/Plan.md'").exit_code == 1


def test_files_go_up_in_three_steps(simulator, terminal):
    terminal.run(f"ls '{SAFE}/files'; printf 'Grüße' > 'a ü.txt'; head -c 3000000 /dev/zero > big.bin")
    for redirects in (False, True):
        simulator.upload_redirects = redirects
        found = run(terminal, "canvas upload-file --course_id 101 --file 'a ü.txt' --folder 'new/deep'")
        assert found["size"] == 7 and found["content-type"] == "text/plain"
        assert terminal.run(f"cat '{SAFE}/files/new/deep/a ü.txt'").stdout == "Grüße"
    run(terminal, "canvas upload-file '{\"file\": \"big.bin\"}'")
    assert terminal.run("cmp /canvas/files/big.bin big.bin && stat -c %s /canvas/files/big.bin").stdout == "3000000\n"
    error = run(terminal, "canvas upload-file --file nothing --course_id 101", 1)["error"]
    assert error == {"code": "file", "message": "nothing: No such file or directory"}


def test_looking(terminal):
    assert len(run(terminal, "canvas list-enrollments --course_id 101")) == 32
    assert len(run(terminal, "canvas list-enrollments --course_id 101 --type TeacherEnrollment")) == 2
    assert [c["id"] for c in run(terminal, "canvas list-courses")] == [101, 102, 103]
    users = run(terminal, "canvas list-account-users --account_id 1 --search_term norrsken --per_page 3")
    assert len(users) == 3
    assert len(run(terminal, "canvas list-submissions --course_id 101 --assignment_id 1001")) == 30
    assert run(terminal, "canvas get-syllabus --course_id 101")["syllabus_body"].startswith("<p>What")
    assert run(terminal, "canvas get-conversation --conversation_id 54")["messages"][0]["body"].startswith("Wer")
    assert run(terminal, "canvas get-course-grades --course_id 101")[0]["grades"]["current_grade"] is None
    assert run(terminal, "canvas list-account-courses --account_id 1 --search_term height")[0]["name"] == "Safe work at height"


def test_refusals_of_canvas(simulator, terminal):
    for line, code, word in (("get-course --course_id 999", 404, "The specified resource does not exist. (404)"),
                             ("get-course --course_id 103", 403, "user not authorized to perform that action (403)"),
                             ("create-assignment --course_id 101 --name ' '", 400, "is too short (400)"),
                             ("enroll-user --course_id 101 --user_id 9999", 404, "The specified resource does not exist. (404)"),
                             ("create-conversation --recipients 9999 --body x", 400, "restricted by role (400)")):
        assert run(terminal, f"canvas {line}", 1)["error"] == {"code": code, "message": f"canvas: {word}"}
    assert run(terminal, "canvas get-course --course_id abc", 2)["error"]["code"] == "invalid_arguments"
    assert "did you mean create-course" in run(terminal, "canvas create-curse", 2)["error"]["message"]
    with make_terminal(simulator, make_mount(simulator, STUDENT)) as other:
        assert run(other, "canvas create-page --course_id 102 --title x", 1)["error"]["code"] == 403
        assert run(other, "canvas submit-assignment --course_id 102 --assignment_id 1006 --submission_type online_text_entry --body Answer")["attempt"]


def test_a_lost_answer_changes_once(simulator, terminal):
    before = simulator.state()
    simulator.fault("reset", "POST", after=True)
    assert "connection failed" in run(terminal, "canvas create-course --account_id 1 --name Once", 1)["error"]["message"]
    assert sum(key.startswith("courses ") for key in simulator.diff(before, simulator.state())["added"]) == 1
    assert terminal.run("ls /canvas/courses | grep -c Once").stdout == "1\n"
    simulator.heal()
    simulator.fault("status", "POST", status=503)
    run(terminal, "canvas create-course --account_id 1 --name Never", 1)
    assert simulator.calls("POST") == 2


def test_policy(simulator):
    policy = ("rules:\n  - {effect: call, cli: canvas, operation: create-course, when: 'account_id != `1`', action: deny, reason: only ours}\n"
              "  - {effect: [destroy, share], action: deny, reason: nobody}\n  - {path: '/canvas/courses/Safe*/**', action: hide}\n")
    with make_terminal(simulator, policy=policy) as terminal:
        before = simulator.state()
        for line in ("create-course --account_id 2 --name x", "delete-page --course_id 101 --page_url overview", "enroll-user --course_id 101 --user_id 9"):
            assert terminal.run(f"canvas {line}").exit_code == 126
        assert simulator.state() == before
        assert terminal.run(f"cat '{SAFE}/course.json'").exit_code == 1
        assert terminal.run(f"cat '/canvas{ODD}/course.json'").exit_code == 0


def test_from_config(simulator, tmp_path):
    mount = make_mount(simulator)
    mounts = {"/": Memory(), "/school": mount}
    cli = make_cli("lms", "canvas", {}, mounts=mounts, folder=tmp_path)
    assert cli.mount is mount and cli.name == "lms"
    other = make_cli("canvas", "canvas", {"url": "https://other.example", "token": "env:OTHER"}, mounts=mounts, folder=tmp_path)
    assert other.mount is not mount
    for options in ({"colour": "red"}, {"url": "https://x", "token": "abc"}):
        with pytest.raises(ValueError):
            make_cli("canvas", "canvas", options, mounts=mounts, folder=tmp_path)
    with pytest.raises(ValueError):
        make_cli("canvas", "canvas", {}, mounts={}, folder=tmp_path)


def test_the_example_of_the_readme(simulator, tmp_path, monkeypatch):
    from mirage.config import load
    from mirage.mounts import canvas
    readme = (Path(canvas.__file__).parent / "README.md").read_text()
    text = re.search(r"```yaml\n(.*?)```", readme, re.S).group(1)
    command = re.search(r"`(canvas create-course [^`]*)`", readme).group(1)
    (tmp_path / "mirage.yaml").write_text(text.replace("https://school.instructure.com", simulator.address).replace(", account", ", rate: 0, account"))
    monkeypatch.setenv("CANVAS_TOKEN", "canvas-simulator")
    with load(tmp_path / "mirage.yaml").make_terminal() as terminal:
        assert terminal.run(f"{command}; ls /canvas/courses | grep Phil").stdout == "104\nPhilosophy-7__104\n"
        result = terminal.run("grep -rl canvas-simulator / 2>/dev/null; env; canvas get-user-profile; cat /proc/*/environ")
        assert "canvas-simulator" not in result.stdout + result.stderr
