"""grep and rg over mounts that search: one, several, below rules of a policy."""
from __future__ import annotations

import errno

import pytest

from mirage import Terminal
from mirage.mounts.memory import Memory
from tests.mounts.word_search import WordSearch

LETTERS = {"a/one.txt": b"an apple here\n", "a/two.txt": b"pineapple\n", "b/three.txt": b"nothing\n",
           "b/deep/four.txt": b"two apples\nApple\n", "top.txt": b"apple\n", "b/.hidden": b"apple\n"}
CHATS = {"general/chat.txt": b"who has an apple?\nme\n", "random/chat.txt": b"pears\n", "random/x.md": b"apple pie\n"}


@pytest.fixture
def letters():
    return WordSearch(LETTERS)


@pytest.fixture
def chats():
    return WordSearch(CHATS)


HIDDEN = "rules: [{path: /proc, action: hide}, {path: /root, action: hide}]"


def make(letters, chats, policy=HIDDEN):
    return Terminal({"/mail": letters, "/work/chat": chats, "/notes": Memory({"n.txt": b"apple\n", "m.txt": b"plum\n"})},
                    policy=policy)


@pytest.fixture
def terminal(letters, chats):
    with make(letters, chats) as terminal:
        yield terminal


LINES = ["grep -rw apple /", "grep -rlw apple /mail /work /notes", "grep -rnwi apple / --exclude-dir=proc",
         "cd /work && grep -rw apple", "cd /work; grep -rw apple .", "grep -rwh apple /mail /notes/n.txt",
         "grep -rwc apple /mail /work --include='*.txt'", "grep -rwL apple /work /mail", "grep -rw -e apple -e pears /work /mail",
         r"grep -rE '\b(apple|pears)\b' /work", r"grep -rP '\bapple\b.*\?' /work /mail", "grep -rwq apple /; echo $?",
         "grep -rwm1 apple /", "grep -rwo apple /mail", "grep -rwx apple /mail", "grep -rwl nowhere /; echo $?",
         "cd /mail; grep -rw apple b a", "grep -rw --exclude-dir=b apple /mail", "grep -rwF 'an apple' /"]
RG_LINES = ["rg -w apple /mail /work", "rg -nw apple /", "rg -lw apple / | cat", r"rg '\bapple\b' /mail/b /mail/a", "rg -wc apple /mail",
            "cd /work && rg -w apple", "cd /work && rg -w apple .", "rg -w -g '*.md' apple /work", "rg -w -t md apple /", "rg -w. apple /mail",
            "rg -w --sort path apple /", "rg -wq apple /; echo $?", "rg -w --max-depth 1 apple /mail", "rg -w -e apple -e pears /work",
            "rg -wi APPLE /mail", "rg -wl nowhere /work; echo $?", "echo 'deep' > /tmp/.ignore; rg -w apple /mail", "cd /mail; rg -w nowhere; echo $?"]


@pytest.mark.parametrize("line", [*LINES, *RG_LINES])
def test_the_same_lines_with_and_without_the_services(line, letters, chats):
    with make(letters, chats) as terminal:
        pushed = terminal.run(line)
        exact = terminal.run(line.replace("rg ", "rg --exact ").replace("grep ", "grep --exact "))
        assert (pushed.stdout, pushed.stderr, pushed.exit_code) == (exact.stdout, exact.stderr, exact.exit_code)
        assert pushed.usage.searches >= 1 and exact.usage.searches == 0


def test_every_service_is_asked_once_and_only_candidates_are_read(terminal, letters, chats):
    result = terminal.run("grep -rw apple / --include='*.txt'")
    assert [letters.asked, chats.asked] == [[("/", ("apple",))], [("/", ("apple",))]]
    assert sorted(letters.contents) == ["/a/one.txt", "/top.txt"] and chats.contents == ["/general/chat.txt"]
    assert letters.listed == [] and chats.listed == []
    assert result.usage.searches == 2 and result.usage.candidates == 3
    assert "/notes/n.txt:apple\n" in result.stdout


def test_usage_tells_of_each_mount(terminal):
    usage = terminal.run("grep -rw apple / --include='*.txt'").usage
    assert usage.mounts["/mail"] == {"calls": 3, "searches": 1, "candidates": 2}
    assert usage.mounts["/work/chat"] == {"calls": 2, "searches": 1, "candidates": 1}
    assert usage.as_dict()["mounts"] == usage.mounts
    assert terminal.run("echo hi").usage.mounts == {}


def test_what_was_not_read_is_said_by_every_tool(letters, chats):
    letters.bound = 2
    with make(letters, chats) as terminal:
        result = terminal.run("grep -r apple /")
        assert result.stderr == ("grep: /mail: searched by the service for whole words; 3 items not read "
                                 "(--exact reads them)\n")
        assert "/mail/a/one.txt:an apple here" in result.stdout and "pineapple" not in result.stdout
        assert "pineapple" in terminal.run("grep -r --exact apple /").stdout
        assert terminal.run("grep -rs apple /mail").stderr == ""
        told = terminal.run("rg apple /mail")
        assert told.stderr.startswith("rg: /mail: searched by the service for whole words; ")
        assert "pineapple" not in told.stdout and "pineapple" in terminal.run("rg --exact apple /mail").stdout
        counted = terminal.run("grep -rc apple /mail")               # a count of 0 must be true
        assert "/mail/a/two.txt:1" in counted.stdout and counted.stderr == ""


@pytest.mark.parametrize("line", ["grep -rv apple /mail", "grep -rz apple /mail", "rg -v apple /mail",
                                  "rg --files-without-match -w apple /mail", "rg --passthru -w apple /mail", "grep -rc '^[a-z]*$' /mail",
                                  "cat /mail/*/*.txt | grep -w apple", "grep -w apple /mail/top.txt", "rg -w apple /mail/top.txt"])
def test_never_asked(terminal, line):
    assert terminal.run(line).usage.searches == 0


def test_a_service_that_fails_stops_nothing_else(letters, chats):
    letters.down = OSError(errno.EIO, "Input/output error")
    with make(letters, chats) as terminal:
        result = terminal.run("grep -rw apple /mail /work /notes")
        assert result.stderr == "grep: /mail: Input/output error\n" and result.exit_code == 2
        assert result.stdout.splitlines()[-1] == "/notes/n.txt:apple" and "/work/chat/general" in result.stdout
        assert terminal.run("rg -w apple /mail /work").exit_code == 2


def test_hidden_places_are_not_asked_about(letters, chats):
    rules = """
rules:
  - {path: /work/chat, action: hide}
  - {path: /mail/b/**, action: hide}
"""
    with make(letters, chats, rules) as terminal:
        for tool in ("grep -rw", "rg -w"):
            result = terminal.run(f"{tool} apple / 2>&1; {tool} -i apple /mail 2>&1")
            assert "chat" not in result.stdout and "/mail/b" not in result.stdout and "/mail/top.txt" in result.stdout
        assert chats.asked == [] and not any(path.startswith("/b/") for path in letters.contents)


def test_what_may_not_be_read_does_not_show_by_being_a_candidate(letters, chats):
    rules = "rules: [{path: /mail/a/**, effect: [read], action: deny, reason: closed}]"
    with make(letters, chats, rules) as terminal:
        found, missing = terminal.run("grep -rw apple /mail"), terminal.run("grep -rw nowhere /mail")
        assert "/a/one" not in found.stdout and found.stderr == missing.stderr != "" and found.exit_code == 2
        assert not any(path.startswith("/a/") for path in letters.contents)
        assert terminal.run("rg -w apple /mail").stderr == terminal.run("rg -w nowhere /mail").stderr != ""
        counted = terminal.run("grep -rwc nowhere /mail")
        assert "/mail/a/one.txt: Permission denied" in counted.stderr and "/mail/a/one.txt:" not in counted.stdout


def test_a_directory_that_may_not_be_listed_is_reported_as_in_a_walk(letters, chats):
    rules = "rules: [{path: /mail, effect: [list], action: deny, reason: closed}]"
    with make(letters, chats, rules) as terminal:
        result = terminal.run("grep -rw apple / --include='*.txt'")
        assert "grep: /mail: Permission denied\nmirage: denied: closed\n" in result.stderr and letters.asked == []
    with make(letters, chats, "rules: [{path: /mail, effect: [search], action: deny, reason: no search}]") as terminal:
        result = terminal.run("grep -rw apple /mail")
        assert "Permission denied\nmirage: denied: no search" in result.stderr and letters.asked == []


@pytest.mark.parametrize(("line", "listed"), [
    ("find / -path '/mail/a/*'", ["/", "/a"]), ("find /mail -path '/mail/b/deep/*' -type f", ["/", "/b", "/b/deep"]),
    ("find /mail -ipath '/MAIL/A/*' -print", ["/", "/a"]), ("cd /mail; find . -path './a/*'", ["/", "/a"]),
    ("find /mail -type f -path '*/four.txt'", ["/", "/a", "/b", "/b/deep"]), ("find /mail -path '/mail/a/*' -o -name x", ["/", "/a", "/b", "/b/deep"]),
    ("find /mail ! -path '/mail/a/*'", ["/", "/a", "/b", "/b/deep"]), ("find /mail -name x -print -path '/mail/a/*'", ["/", "/a", "/b", "/b/deep"]),
    ("find /mail -maxdepth 1", ["/"]), ("find /mail -path '/nowhere/*'", ["/"]), ("find /mail -depth -path '/mail/a/*'", ["/", "/a"]),
    ("find /mail -name -path -print", ["/", "/a", "/b", "/b/deep"])])
def test_find_lists_only_where_its_paths_can_be(letters, chats, line, listed):
    with make(letters, chats) as terminal:
        found = terminal.run(line)
        assert sorted(set(letters.listed)) == listed
    with Terminal({"/mail": Memory(LETTERS), "/work/chat": Memory(CHATS), "/notes": Memory({"n.txt": b"apple\n", "m.txt": b"plum\n"})},
                  policy=HIDDEN) as plain:
        assert sorted(plain.run(line).stdout.splitlines()) == sorted(found.stdout.splitlines())
