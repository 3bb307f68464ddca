"""A hidden path does not exist: nothing that an agent can see differs from a tree without it."""
from __future__ import annotations

import re

import pytest

from mirage.mounts import Memory
from tests.policy.support import FILES, RULES, terminal

VISIBLE = {name: text for name, text in FILES.items() if not name.startswith("secret") and name != "x.pem"}
SAME = r"""
ls -R /data
ls -la /data | tail -n +4
ls -l /data | wc -l
ls -ld /data /data/dir
stat -c '%n %h %F' /data /data/dir
find /data | sort
find /data -newer /data/pub.txt -name '*.pem'
find /data -name 'x*' -o -name secret
find /data -links +2
find /data -empty
find /data -type d | wc -l
du -a /data | sort -k2
du -s --inodes /data
tree /data
echo /data/* /data/*/* /data/s* /data/?.pem
shopt -s globstar nullglob; echo /data/** /data/secret*
tar cf - -C /data . | tar tf - | sort
cp -r /data /tmp/c; find /tmp/c | sort
grep -rc a /data | sort
rg -c a /data | sort
compgen -f /data/ | sort
compgen -f /data/se
compgen -d /data/
for f in secret secret/key.txt secret/none x.pem none; do [ -e /data/$f ]; echo $?; done
[[ -d /data/secret ]]; echo $?
[[ /data/pub.txt -nt /data/secret ]]; echo $?
[[ /data/pub.txt -nt /data/x.pem ]]; echo $?
cat /data/x.pem
cat /data/secret
cat /data/secret/key.txt
cd /data/secret
cd /data/secret/..
ls /data/secret/..
/data/secret/run.sh
/data/x.pem
bash /data/secret/run.sh
. /data/x.pem
cat < /data/x.pem
rm /data/x.pem
rm -r /data/secret
rmdir /data/secret
unlink /data/x.pem
mv /data/x.pem /tmp
mv -n /data/secret /tmp/s
cp /data/x.pem /tmp
ln /data/x.pem /tmp/x
chmod 600 /data/x.pem
touch -c /data/x.pem
stat /data/secret
readlink -f /data/secret/key.txt
realpath /data/x.pem
realpath -e /data/secret
ln -s /data/x.pem /tmp/l; cat /tmp/l; [ -e /tmp/l ]; echo $?; readlink /tmp/l; ls -L /tmp/l
ln -s /data/secret /tmp/l; ls /tmp/l/; cd /tmp/l
diff /data/x.pem /data/pub.txt
truncate -s 0 -c /data/x.pem; echo $?
command -v /data/secret/run.sh; type /data/secret/run.sh
PATH=/data/secret; run.sh
cd /data; compgen -c run
df /data/secret
jq . /data/x.pem
awk 1 /data/x.pem
sed p /data/x.pem
head /data/x.pem
mkdir /data/secret/n
> /data/secret/n
""".strip().splitlines()
ALWAYS_ABSENT = {                                            # a new name cannot be made there: as in a missing directory
    "mkdir /data/secret": "mkdir: cannot create directory ‘/data/secret’: No such file or directory\n",
    "mkdir -p /data/secret/a": "mkdir: cannot create directory ‘/data/secret’: No such file or directory\n",
    "> /data/x.pem": "bash: line 1: /data/x.pem: No such file or directory\n",
    "set -C; > /data/x.pem": "bash: line 1: /data/x.pem: No such file or directory\n",
    "> /data/new.pem": "bash: line 1: /data/new.pem: No such file or directory\n",
    "touch /data/new.pem": "touch: cannot touch '/data/new.pem': No such file or directory\n",
    "ln -s x /data/secret": "ln: failed to create symbolic link '/data/secret': No such file or directory\n",
    "mkfifo /data/x.pem": "mkfifo: cannot create fifo '/data/x.pem': No such file or directory\n",
    "cp /data/pub.txt /data/x.pem": "cp: cannot create regular file '/data/x.pem': No such file or directory\n",
    "mv /data/pub.txt /data/x.pem": "mv: cannot move '/data/pub.txt' to '/data/x.pem': No such file or directory\n",
    "mv /data/pub.txt /data/new.pem": "mv: cannot move '/data/pub.txt' to '/data/new.pem': No such file or directory\n",
    "mv -T /data/dir /data/secret": "mv: cannot move '/data/dir' to '/data/secret': No such file or directory\n",
}


def test_like_a_tree_without_it():
    for line in SAME:
        with terminal(RULES["hide"]) as hidden, terminal(RULES["hide"], {"/data": Memory(VISIBLE)}) as absent:
            one, two = hidden.run(line), absent.run(line)
            assert (one.stdout, one.stderr, one.exit_code) == (two.stdout, two.stderr, two.exit_code), line
            assert "mirage:" not in one.stderr and not one.refusals and "secret" not in str(one.effects), line


def test_nothing_can_be_made_at_a_hidden_name():
    for line, message in ALWAYS_ABSENT.items():
        with terminal(RULES["hide"]) as t:
            result = t.run(line)
            assert result.stderr == message and result.exit_code == 1 and not result.refusals, line


def test_what_holds_something_hidden_stays_as_if_it_were_busy():
    policy = "rules: [{path: /w/a/secret, action: hide, reason: TELLTALE}, {path: .kube/config, action: hide}]"
    files = {"a/secret/k": "s", "a/f": "f", "b/": None, "k/.kube/config": "s"}
    for line, expected in {
        "mv /w/a /w/c": "mv: cannot move '/w/a' to '/w/c': Device or resource busy\n",
        "mv /w/k/.kube /w/k/plain": "mv: cannot move '/w/k/.kube' to '/w/k/plain': Device or resource busy\n",
        "rm -r /w/a": "rm: cannot remove '/w/a': Device or resource busy\n",
        "rm /w/a/f; rmdir /w/a": "rmdir: failed to remove '/w/a': Device or resource busy\n",
        "rm /w/a/f; mv -T /w/b /w/a": "mv: cannot move '/w/b' to '/w/a': Device or resource busy\n",
        "rmdir /w/k/.kube": "rmdir: failed to remove '/w/k/.kube': Device or resource busy\n",
        "mv /w/k /w/l": "",
    }.items():
        with terminal(policy, {"/w": Memory(files)}) as t:
            assert re.sub("overwrite", "move", t.run(line).stderr) == expected, line
            assert t.run("rmdir /w/a").stderr                # and with something visible in it: as ever
    with terminal(policy, {"/w": Memory(files)}) as t:
        assert t.run("rmdir /w/a").stderr == "rmdir: failed to remove '/w/a': Directory not empty\n"


def test_a_hidden_program():
    with terminal("rules: [{path: /usr/bin/seq, action: hide}]") as t:
        for line in ("seq 3", "/usr/bin/seq 3", "/bin/seq 3", "command -v seq", "which seq", "type seq", "hash seq",
                     "compgen -c seq", "cat /usr/bin/seq", "ls /usr/bin | grep -x seq", "echo 3 | xargs seq", "env seq 3",
                     "ln -s /usr/bin/seq /tmp/q; /tmp/q 3"):
            result = t.run(line)
            assert result.exit_code != 0 and not result.stdout and "mirage" not in result.stderr, line
        assert t.run("seq 3").stderr == "bash: line 1: seq: command not found\n"
        assert t.run("command_not_found_handle() { echo no $1; }; seq 1").stdout == "no seq\n"


def test_a_hidden_mount():
    with terminal("rules: [{path: /mail, action: hide}]", {"/mail": Memory({"m": "x"}), "/data": Memory()}) as t:
        for line in ("ls /", "df", "df -a", "cat /VFS.md", "cat /proc/mounts /proc/self/mounts", "echo /*", "find / -name mail",
                     "tree -L 1 /", "compgen -f /m", "du /"):
            result = t.run(line)
            assert "mail" not in result.stdout + result.stderr, line
        assert t.run("cd /mail").stderr == "bash: line 1: cd: /mail: No such file or directory\n"


def test_completion_says_nothing():
    from mirage.console.completion import ShellCompleter, find_place
    with terminal(RULES["hide"] + "  - {path: /usr/bin/seq, action: hide}\n") as t:
        complete = ShellCompleter(t)

        def offered(text):
            return sorted(shown for _, _, shown in complete.candidates(find_place(text)))
        assert offered("cat /data/") == ["dir/", "pub.txt"]
        assert offered("cat /data/secret/") == offered("cat /data/x") == offered("seq") == []
        assert offered("sort") == ["sort"]


def test_the_journal_knows_and_the_agent_does_not():
    with terminal(RULES["hide"]) as t:
        result = t.run("cat /data/secret/key.txt; history; rm /data/x.pem")
        assert not result.refusals and not result.effects
        records = t.machine.gate.journal.records("verdict = 'hide'")
        assert {r["target"] for r in records} == {"/data/secret/key.txt", "/data/x.pem"}
        assert result.usage.reads == 0 and result.usage.bytes == 0


@pytest.mark.parametrize("path", ["/data/secret", "/data/secret/", "/data/secret/**", "/data/s[aeiou]cret", "/data/*ecret",
                                  "/**/secret", "secret", "**/secret", "data/secret", "/data/./secret"])
def test_spellings_of_a_pattern(path):
    with terminal(f"rules: [{{path: '{path}', action: hide}}]") as t:
        assert t.run("cat /data/secret/key.txt; ls -d /data/secret /data/secret/sub").stdout == ""
        assert t.run("cat /data/pub.txt").stdout == "public\n"
