from __future__ import annotations

import subprocess
import sys

import pytest

from mirage.console.demo import demo_terminal
from mirage.console.main import main
from tests.console.keyboard import run


@pytest.fixture(scope="module")
def terminal():
    with demo_terminal() as terminal:
        yield terminal


def demo(capfd, *args):
    status = main(["demo", "exec", *args])
    out, err = capfd.readouterr()
    return status, out, err


def test_the_line_of_the_readme(capfd):
    status, out, err = demo(capfd, 'grep -rl invoice /mail | head -3; jq -r .subject "$(find /mail/INBOX -name "*.email.json" '
                            '| head -1)"; mail send-email --help')
    lines = out.splitlines()
    assert status == 0 and all(line.startswith("/mail/") and line.endswith(".email.json") for line in lines[:3])
    assert lines[4] == "Usage: mail send-email ['{JSON}' | --key value ... | @FILE | -]" and lines[3]
    assert "Effects: send" in out and err.count("\n") == err.count("items not read (--exact reads them)")


def test_sending_shows_in_the_same_line(capfd):
    status, out, err = demo(capfd, "mail send-email --to ingrid@bergenhavn.example --subject Offer --body Hello "
                            "--attachments /docs/sales/price-list.csv | jq -r .path; ls /mail/Sent/2026-09-30; date +%F")
    path, folder, name, day = out.splitlines()
    assert status == 0 and not err and day == "2026-09-30"
    assert path.rpartition("/")[2] == name == folder + ".email.json" and name.startswith("Offer__")


def test_start_asks_nothing_and_loads_little(terminal):
    code = ("import sys; from mirage.console.demo import demo_terminal; t = demo_terminal(); r = t.run('echo hi; ls /docs; type mail'); "
            "t.close(); heavy = {'googleapiclient', 'httplib2', 'mirage.clis.mail', 'mirage.bench.services.gmail', 'slack_sdk', 'mirage.mounts.slack.tree', 'mirage.bench.services.slack'} & set(sys.modules); "
            "print(sorted(heavy), 'mail' in r.stdout)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[] True\n", done


def test_the_guides_are_short(terminal):
    encoding = pytest.importorskip("bpe_openai").get_encoding("o200k_base")
    guides = [terminal.run(f"cat /{name}.md").stdout for name in ("VFS", "SKILL")]
    assert "`/docs`" in guides[0] and "`/mail/<Folder>/" in guides[0] and "send-email(" in guides[1]
    sizes = [len(encoding.encode(guide)) for guide in guides]
    assert "`/slack/channels/<name>__<id>/" in guides[0] and "post-message(" in guides[1]
    assert sizes[0] < 1200 and sizes[1] < 2000, sizes


def test_slack(capfd):
    status, out, err = demo(capfd, "cat /slack/channels/apollo*/2026-09-22/chat.txt | head -1; slack post-message --channel_id C05RANDOM "
                            "--text 'Hello everybody' | jq -r .path; tail -1 /slack/channels/random__C05RANDOM/2026-09-30/chat.txt; "
                            "grep -rlw --include='chat.*' Champagne /mail /slack; ls /slack/dms | wc -l")
    lines = out.splitlines()
    assert status == 0 and not err and lines[0].startswith("[09:00] Jonas Weiß: The drift is back. @Priya Raman")
    assert lines[1] == "/slack/channels/random__C05RANDOM/2026-09-30/chat.jsonl" and lines[2] == "[16:00] Mara Lindqvist: Hello everybody"
    assert "/slack/channels/general__C01GENERAL/2026-09-24/chat.txt" in lines and lines[-1] == "7"


def test_documents(terminal):
    result = terminal.run("find /docs -type f | wc -l; jq -r '.[0].name' /docs/sales/customers.json; "
                          "head -1 /docs/apollo/budget.csv; echo x > /docs/new")
    assert result.stdout.splitlines()[:3] == ["14", "Bergen Harbour", "item,planned_eur,spent_eur,owner"]
    assert "Read-only file system" in result.stderr


def test_the_course_schedule(terminal):
    result = terminal.run("cd /mail/INBOX/2026-09-09; jq -r '.attachments[0].path' Course*.json; "
                          "grep -c '^| [A-Z].*2026' C*/course_schedule.md; head -1 \"$(jq -r '.attachments[0].path' C*.json)\"")
    assert result.stdout.splitlines()[-3:] == [
        "/mail/INBOX/2026-09-09/Course_Schedule_Notification__6/course_schedule.md", "27", "# Course schedule, autumn 2026"]


def test_options_reach_the_terminal():
    from mirage.mounts.memory import Memory
    with demo_terminal({"/extra": Memory({"a": b"1"})}, env={"X": "y"}, policy="read-only", cwd="/docs") as terminal:
        assert terminal.run("cat /extra/a; echo $X; pwd").stdout == "1y\n/docs\n"
        assert terminal.run("mail send-email --to a@b.example --subject x --body y").exit_code == 126


def test_nothing_is_left_behind():
    import threading
    before = set(threading.enumerate())
    terminal = demo_terminal()
    terminal.run("ls /mail /slack/channels")
    terminal.close()
    for thread in [t for t in set(threading.enumerate()) - before if t.name.endswith("Simulator")]:
        thread.join(5)
        assert not thread.is_alive()


def test_interactive_with_a_pipe(tmp_path):
    done = run(tmp_path, ["demo"], b"cd /mail/Sent\npwd\nls | wc -l\n")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == b"/mail/Sent"
