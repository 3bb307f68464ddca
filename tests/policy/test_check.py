"""`mirage policy check`: the verdict on a command that does not run."""
from __future__ import annotations

import json

import pytest

from mirage.console.main import main
from mirage.mounts import Memory
from mirage.planner import check, verdict
from tests.policy.support import terminal

POLICY = """
rules:
  - {path: "/data/keep/**", effect: [destroy], action: deny, reason: KEEP}
  - {path: "/data/secret/**", action: hide}
  - {effect: exec, command: rm, action: ask}
"""


@pytest.fixture(scope="module")
def term():
    files = {"keep/f": "1", "keep/g": "2", "secret/k": "s", "pub": "p", "dir/": None}
    with terminal(POLICY, {"/data": Memory(files)}, cwd="/data") as t:
        yield t


def told(term, text):
    return [(f.action, f.effect, f.target) for f in check(term, text)]


@pytest.mark.parametrize(("text", "answer"), [
    ("cat pub", "allow"), ("> pub", "allow"), ("> keep/f", "deny"), (">> keep/f", "allow"), ("> keep/new", "allow"),
    ("cat secret/k", "hide"), ("cat < secret/k", "hide"), ("echo $(cat secret/k)", "hide"), ("cd keep; : > f", "deny"),
    ("unlink keep/f", "deny"), ("find keep -delete", "deny"), ("find dir -delete", "allow"), ("truncate -s 0 pub", "allow"), ("rm pub", "ask"),
    ("env X=1 rm pub", "ask"), ("timeout 5 nice -n 3 rm pub", "ask"), ("command rm pub", "ask"), ("exec rm pub", "ask"),
    ("echo pub | xargs -n 1 rm", "ask"), ("find . -name x -exec rm {} \\;", "ask"), ("bash -c 'rm pub'", "ask"),
    ("sh -ec 'rm pub'", "ask"), ("eval 'rm pub'", "ask"), ("eval rm pub", "ask"), ("f() { rm pub; }; f", "ask"),
    ("bash <<< 'rm pub'", "ask"), ("bash <<E\nrm pub\nE", "ask"), ("cat <<E\n$(rm pub)\nE", "ask"), ("/bin/rm pub", "ask"),
    ("trap 'rm pub' EXIT", "ask"), ("if false; then rm pub; fi", "ask"), ("false && rm pub", "ask"), ("rm pub &", "ask"),
    ("while :; do rm pub; done", "ask"), ("case x in y) rm pub;; esac", "ask"), ("(rm pub)", "ask"), ("cat <(rm pub)", "ask"),
    ("env -S 'rm pub'", "ask"), ("bash -c \"bash -c 'rm pub'\"", "ask"), ("coproc rm pub", "ask"),
    ("cp pub keep/f", "deny"), ("cp pub keep", "allow"), ("mv keep/f x", "deny"), ("mv pub keep/f", "deny"),
    ("tee keep/f", "deny"), ("tee -a keep/f", "allow"), ("sort -o keep/f pub", "deny"), ("sort -okeep/f pub", "deny"),
    ("sort --output=keep/f pub", "deny"), ("dd if=pub of=keep/f", "deny"), ("dd if=secret/k", "hide"),
    ("tar cf keep/f pub", "deny"), ("tar -c -f keep/f pub", "deny"), ("tar cf x secret", "hide"), ("tar tf keep/f", "allow"),
    ("tar xf pub", "unknown"), ("sed -i s/a/b/ keep/f", "deny"), ("sed s/a/b/ keep/f", "allow"), ("sed 'w keep/f' pub", "deny"),
    ("sed 'r secret/k' pub", "hide"), ("sed 's/a/b/w keep/f' pub", "deny"), ("sed '1e date' pub", "unknown"),
    ("awk '{print > \"keep/f\"}' pub", "deny"), ("awk 'BEGIN{getline < \"secret/k\"}'", "hide"),
    ("awk 'BEGIN{system(\"x\")}'", "unknown"), ("gzip keep/f", "deny"), ("gzip -c keep/f", "allow"), ("cat keep/*", "allow"),
    ("unlink keep/{f,g}", "deny"), ("shuf -o keep/f pub", "deny"), ("uniq pub keep/f", "deny"), ("install pub keep/f", "deny"),
    ("ln -f pub keep/f", "deny"), ("chmod 644 keep/f", "allow"), ("echo x >& keep/f", "deny"), ("echo x 2>&1", "allow"),
    ("cat $x", "unknown"), ("$x pub", "unknown"), ("> $x", "unknown"), ("source pub", "unknown"), ("bash pub", "unknown"),
    ("echo rm | bash", "unknown"), ("echo x | xargs cat", "unknown"), ("eval $x", "unknown"), ("rm $x", "ask"),
    ("ls -l", "allow"), ("true", "allow"), ("", "allow"), ("echo \"$x\"", "unknown"), ("x=1", "allow"), ("[[ -e pub ]]", "allow"),
])
def test_verdicts(term, text, answer):
    before = {e.name for e in term.fs.list("/data")}
    assert verdict(check(term, text)) == answer, told(term, text)
    assert {e.name for e in term.fs.list("/data")} == before


def test_what_is_said(term):
    assert told(term, "cat k* pub > out") == [
        ("allow", "create", "/data/out"), ("allow", "exec", "cat"), ("allow", "read", "/data/keep"), ("allow", "read", "/data/pub")]
    assert told(term, "cd dir && touch new") == [
        ("allow", "exec", "cd"), ("allow", "stat", "/data/dir"), ("allow", "exec", "touch"), ("allow", "create", "/data/dir/new")]
    assert [f.reason for f in check(term, "cat $HOME/x")] == ["", "depends on $HOME/x"]
    with pytest.raises(ValueError):
        check(term, "if true; then")


def test_a_link_does_not_change_what_a_tool_is(term):
    term.run("ln -s /usr/bin/rm /tmp/x; ln -s /data/keep/f /tmp/y")
    assert verdict(check(term, "/tmp/x pub")) == "ask"
    assert verdict(check(term, "> /tmp/y")) == "deny"


@pytest.mark.parametrize(("command", "status", "answer"), [
    ("cat pub", 0, "allow"), ("rm pub", 1, "ask"), ("> /data/keep/f", 0, "allow"), ("cat $x", 3, "unknown"),
    ("cat /data/secret/k", 1, "hide")])
def test_status_and_json(tmp_path, capsys, command, status, answer):
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    assert main(["policy", "check", "-f", str(file), "--json", command]) == status
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == answer
    assert all(set(f) == {"command", "effect", "target", "action", "rule", "reason"} for f in found["findings"])
    assert main(["policy", "check", "--policy", "no-secrets", "-f", str(file), command]) == status
    assert capsys.readouterr().out.endswith(f"verdict: {answer}\n")


def test_bad_usage(tmp_path, capsys):
    file = tmp_path / "policy.yaml"
    file.write_text("rules: [{path: /x, action: nope}]")
    assert main(["policy", "check", "--policy", "read-only", "if"]) == 2
    assert main(["policy", "check", "true"]) == 2
    assert main(["policy", "check", "-f", str(file), "true"]) == 2
    assert "unknown action 'nope'" in capsys.readouterr().err
    assert main(["policy", "check", "-f", str(tmp_path / "none.yaml"), "true"]) == 2
    assert main(["policy", "list"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")] == [
        "no-secrets", "no-whole-mount", "read-only", "workspace-only"]
