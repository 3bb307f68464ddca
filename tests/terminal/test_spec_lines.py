"""Lines that agents ran in other workspaces of this kind, character for character, in the demo's."""
from __future__ import annotations

import collections
import csv
import io
import json
import re

import pytest

pytest.importorskip("googleapiclient")
pytest.importorskip("github")
pytest.importorskip("httpx")
pytest.importorskip("slack_sdk")
pytest.importorskip("graphql")
pytest.importorskip("icalendar")
pytest.importorskip("markdownify")
pytest.importorskip("sqlalchemy")

from mirage.bench.services.gdrive.seed import TEAMS
from mirage.bench.services.github.seed import DEV, MAIN
from mirage.console.demo import demo_terminal

NHL = "/gd/Office pool/NHL schedule 2025-26.gsheet"


@pytest.fixture(scope="module")
def terminal():
    with demo_terminal() as terminal:
        yield terminal


@pytest.fixture(scope="module")
def schedule(terminal):
    """The rows of the sheet, by the other way to them."""
    return list(csv.reader(io.StringIO(terminal.run(f"cat '{NHL}/Schedule.csv'").stdout)))


def test_the_first_rows_of_a_spreadsheet(terminal, schedule):
    terminal.run(f"f='{NHL}.json'")
    result = terminal.run("""jq -c '.sheets[0].data[0].rowData[0:5][] | [.values[].formattedValue]' "$f" """)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(rows) == 5 and rows[0] == ["Date", "Start (ET)", "Visitor", "G", "Home", "G", "Status", "Notes"]
    assert [row[:7] for row in rows] == [row[:7] for row in schedule[:5]] and result.exit_code == 0


def test_a_spreadsheet_as_tsv_for_cut_sort_and_uniq(terminal, schedule):
    terminal.run(f"cd /workspace; f='{NHL}.json'")
    result = terminal.run("""jq -r '.sheets[0].data[0].rowData[1:][] | [.values[].formattedValue] | @tsv' "$f" > s.tsv""")
    assert result.exit_code == 0 and not result.stdout
    assert terminal.run("wc -l < s.tsv").stdout == "420\n"
    counted = terminal.run("cut -f 3 s.tsv | sort | uniq -c | sort -k1,1nr -k2").stdout.splitlines()
    expected = collections.Counter(row[2] for row in schedule[1:])
    assert {line.strip().partition(" ")[2]: int(line.split()[0]) for line in counted} == expected and set(expected) == set(TEAMS)


def test_two_branches_compared(terminal):
    result = terminal.run("diff -ruN --exclude='.git' /repo/main /repo/dev | sed -n '1,500p'")
    changed = re.findall(r"^diff -ruN \S+ /repo/main/(\S+) /repo/dev/\S+$", result.stdout, re.M)
    assert result.exit_code == 0 and not result.stderr
    assert set(changed) == set(DEV), "files that are new, changed or gone"
    added = re.findall(r"^\+(?!\+\+ )(.*)$", result.stdout, re.M)
    assert "# TODO: bound the cache" in added and "    # TODO: follow symbolic links" in added
    assert "-# TODO: read the branch from the command line" in result.stdout


def test_marks_in_a_branch(terminal):
    result = terminal.run("grep -RIn --include='*.py' -E 'TODO|FIXME|todo' /repo/dev | sed -n '1,300p'")
    files = {path: text for path, text in {**MAIN, **DEV}.items() if text is not None and path.endswith(".py")}
    expected = {f"/repo/dev/{path}:{n}:{line}" for path, text in files.items() for n, line in enumerate(text.splitlines(), 1)
                if re.search("TODO|FIXME|todo", line)}
    assert set(result.stdout.splitlines()) == expected and len(expected) >= 4 and result.exit_code == 0


def test_a_course_for_every_line_of_a_schedule(terminal):
    """The rest of that task, with teachers, announcements and files: tests/clis/test_canvas.py."""
    result = terminal.run(r"""
grep '^| ' /mail/INBOX/2026-09-09/Course_Schedule_Notification__6/course_schedule.md | tail -n +2 |
  jq -R 'split("|") | map(gsub("^ +| +$"; "")) | {name: .[1]}' | jq -s . > /workspace/admin3_courses.json
while IFS= read -r row; do
  name=$(printf '%s' "$row" | jq -r '.name')
  args=$(jq -n --arg n "$name" '{account_id:1,name:$n,course_code:$n,time_zone:"America/Denver"}')
  out=$(canvas create-course "$args")
  id=$(printf '%s' "$out" | jq -r '.id')
  printf '%s\t%s\n' "$id" "$name" >> /workspace/admin3_course_ids.tsv
done < <(jq -c '.[]' /workspace/admin3_courses.json)
""")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    result = terminal.run(r"""
while IFS=$'\t' read -r id name; do jq -r '"\(.name) \(.time_zone)"' "/canvas/courses/${name}__$id/course.json"; done < /workspace/admin3_course_ids.tsv
""")
    names = terminal.run("jq -r '.[].name' /workspace/admin3_courses.json").stdout.splitlines()
    assert len(names) == 27 and result.stdout.splitlines() == [f"{name} America/Denver" for name in names]


def test_an_application_is_read_back_in_sent(terminal):
    terminal.run("printf 'CV of Nils\n' > /workspace/cv.txt")
    sent = terminal.run("""mail send-email '{"to": "phd@uni-halle.example", "subject": "Application for a PhD position",
        "body": "Dear Dr. Köhler,\\n\\nplease find my CV attached.\\n", "attachments": ["/workspace/cv.txt"]}'""")
    assert sent.exit_code == 0 and not sent.stderr
    path = json.loads(sent.stdout)["path"]
    assert path.startswith("/mail/Sent/2026-09-30/Application for a PhD position__")
    result = terminal.run(f"""cat "{path}" | jq -r '.to[], .subject, .body, .attachments[].name'; cat "$(jq -r '.attachments[0].path' "{path}")" """)
    assert result.stdout.splitlines() == ["phd@uni-halle.example", "Application for a PhD position", "Dear Dr. Köhler,", "",
                                          "please find my CV attached.", "", "cv.txt", "CV of Nils"]


def test_a_search_of_everything_is_refused_before_it_reads():
    """`allow_paths` keeps an agent in its task; the answer is GNU's, with the reason behind it."""
    policy = "allow_paths: [/mail, /repo, /workspace]\n"
    with demo_terminal(policy=policy) as terminal:
        result = terminal.run("""find / -name "*github_token*" 2>/dev/null""")
        assert (result.exit_code, result.stdout) == (1, "") and result.usage.calls == 0
        result = terminal.run("""find / -name "*github_token*" """)
        assert re.match("find: .*: Permission denied\nmirage: denied: ", result.stderr)
        assert terminal.run("cat /usr/bin/google-sheet ~/.bash_history; ls /etc").stdout == ""
