"""Rules about commands: every way to run one, by whatever name."""
from __future__ import annotations

import pytest

from mirage import Terminal
from mirage.mounts import Host, Memory
from tests.policy.support import terminal

NO_RM = "rules: [{effect: exec, command: rm, action: deny, reason: NORM}]"
WAYS = r"""
rm f
r''m f
\rm f
"r"m f
$(echo rm) f
x=rm; $x f
x=(rm f); "${x[@]}"
{rm,f}
command rm f
command -p rm f
env rm f
env -S 'rm f'
env -i /usr/bin/rm f
timeout 5 rm f
nice -n 5 rm f
nohup rm f
time rm f
xargs rm <<< f
xargs -I{} rm {} <<< f
find . -name f -exec rm {} \;
find . -name f -exec rm {} +
find . -name f -execdir rm {} \;
/usr/bin/rm f
/bin/rm f
/usr/bin/../bin/rm f
(cd /usr/bin; ./rm /data/f)
ln -s /usr/bin/rm y; ./y f
ln -s /usr/bin z; z/rm f
shopt -s expand_aliases
exec rm f
exec -a ls rm f
bash -c 'rm f'
sh -c 'exec rm f'
bash <<< 'rm f'
echo 'rm f' | bash
printf '#!/bin/bash\nrm f\n' > s; chmod +x s; ./s
printf 'rm f\n' > s; chmod +x s; ./s
printf '#!/usr/bin/rm\n' > s; chmod +x s; ./s
printf '#!/usr/bin/env rm\n' > s; chmod +x s; ./s
hash -p /usr/bin/rm foo; foo f
eval rm f
eval "r""m f"
source /dev/stdin <<< 'rm f'
awk 'BEGIN{system("rm f")}'
awk 'BEGIN{"rm f" | getline}'
awk 'BEGIN{print | "rm f"}'
echo | sed '1e rm f'
echo rm f | sed -n 'e'
(rm f)
rm f | cat
rm f & wait
coproc rm f; wait
echo $(rm f)
cat <(rm f)
trap 'rm f' EXIT; exit
trap 'rm f' ERR; false
trap 'rm f' DEBUG; true
PATH=/bin rm f
mapfile -C 'rm f;:' -c 1 x <<< a
a=(1); [[ -v 'a[$(rm f)]' ]]
x='$(rm f)'; echo "${x@P}"
PS4='$(rm f)'; set -x; true
f() { rm f; }; f
command_not_found_handle() { rm f; }; nosuch
compgen -C 'rm f' x
""".strip().splitlines()


def test_a_copy_of_a_tool_is_no_program():
    with terminal(NO_RM, {"/data": Memory({"f": "1"})}, cwd="/data") as t:
        result = t.run("cp /usr/bin/rm z; chmod +x z; ./z f")
        assert (result.exit_code, result.stderr) == (126, "./z: ./z: cannot execute binary file\n")
        assert t.fs.exists("/data/f")


def test_a_denied_command_does_not_run():
    for line in WAYS:
        if line.startswith("shopt"):
            line += "\nalias q=rm\nq f"
        with terminal(NO_RM, {"/data": Memory({"f": "1"})}, cwd="/data") as t:
            result = t.run(line, timeout=5)
            assert t.fs.exists("/data/f"), line
            assert "mirage: denied: NORM\n" in result.stderr, line
            assert [r.effect for r in result.refusals][:1] == ["exec"] and not t.machine.errors, line


@pytest.mark.parametrize(("line", "stderr", "status"), [
    ("rm f", "bash: line 1: rm: Permission denied\n", 126),
    ("/bin/rm f", "bash: line 1: /bin/rm: Permission denied\n", 126),
    ("env rm f", "env: ‘rm’: Permission denied\n", 126),
    ("timeout 1 rm f", "timeout: failed to run command ‘rm’: Permission denied\n", 126),
    ("xargs rm <<< f", "xargs: rm: Permission denied\n", 126),
    ("find f -exec rm {} \\;", "find: ‘rm’: Permission denied\n", 0),
    ("exec rm f", "bash: line 1: rm: Permission denied\nbash: line 1: exec: rm: cannot execute: Permission denied\n", 126),
    ("rm() { :; }; rm f", "bash: line 1: rm: Permission denied\n", 126),
])
def test_words_and_status(line, stderr, status):
    with terminal(NO_RM, {"/data": Memory({"f": "1"})}, cwd="/data") as t:
        result = t.run(line)
        assert (result.stderr, result.exit_code) == (stderr + "mirage: denied: NORM\n", status)


def test_builtins_are_commands_too():
    names = "echo cd read mapfile eval exec test source export printf type alias trap wait declare ulimit pwd".split()
    policy = f"rules: [{{effect: exec, command: [{', '.join(names)}], action: deny, reason: NOB}}]"
    lines = [*names, "builtin echo", "command echo", "builtin cd /", ". /data/f", "[ -e f ]", "readarray x", "typeset x=1",
             "X=1 echo x", "export X=1", "declare -a x=(1 2)", "exec 3<f", "! pwd", "/usr/bin/echo", "echo() { :; }; echo"]
    with terminal(policy, {"/data": Memory({"f": "1"})}, cwd="/data") as t:
        for line in lines:
            result = t.run(line)
            assert result.stderr.endswith("mirage: denied: NOB\n") and result.stdout == "", line
            assert result.exit_code == (0 if line.startswith("!") else 126), line


def test_a_refused_command_line_goes_on():
    with terminal(NO_RM, {"/data": Memory({"f": "1"})}, cwd="/data") as t:
        result = t.run("rm f || echo refused $?; rm f; echo $?; set -e; rm f; echo not here")
        assert result.stdout == "refused 126\n126\n" and result.exit_code == 126


def test_only_some_commands():
    policy = "rules: [{effect: exec, command: [cat, ln, printf, chmod, bash], action: allow}, " \
             "{effect: exec, action: deny, reason: ONLY}]"
    with terminal(policy, {"/data": Memory({"f": "1\n", "g": "2\n"})}, cwd="/data") as t:
        assert t.run("cat f; /bin/cat f; bash -c 'cat f'").stdout == "1\n1\n1\n"
        for line in ("rm f", "ls", "ln -s /usr/bin/rm cat; ./cat f", "printf 'rm f' > s; chmod +x s; bash s; ./s",
                     "printf '#!/usr/bin/awk -f' > k; chmod +x k; ./k", "bash -c 'ls'", "echo", "egrep 1 f", "f() { ls; }; f"):
            assert "mirage: denied: ONLY\n" in t.run(line).stderr, line
        assert t.run("cat f").stdout == "1\n"


def test_a_script_needs_its_interpreter():
    with terminal("rules: [{effect: exec, command: [awk, bash], action: deny}]", cwd="/tmp") as t:
        for line in ("gawk 1", "sh -c ls", "printf '#!/usr/bin/gawk -f' > s; chmod +x s; ./s", "printf ls > b; chmod +x b; ./b"):
            assert t.run(line).exit_code == 126, line


# ---- whole mounts

WHOLE = """
grep -r x /gd
grep -rn x /gd/
grep -R x /gd
grep -rex /gd
grep -r -e x /gd
grep --recursive x /gd
grep --recurs --rege=x /gd
grep -d recurse x /gd
grep --directories=recurse x /gd
grep -dr x /gd; grep -r x /gd
grep -r --include='*.txt' x /gd
grep -r --include '*.txt' x /gd
grep -r -- x /gd
egrep -r x /gd
grep -r x /
grep -r x /tmp /gd
cd /gd; grep -r x
cd /gd; grep -r x .
cd /gd; grep -r x ./
cd /gd/d; grep -r x ..
cd /gd/d; grep -r x ../../gd
ln -s /gd /tmp/l; grep -r x /tmp/l/
grep -r x /{gd,tmp}
grep -r x /g*
cd /; grep -r x *
x=/gd; grep -r y $x
rg x /gd
cd /gd; rg x
rg --files /gd
find /gd -name x
find /gd
find -L /gd
find -O2 /gd
cd /gd; find
cd /gd; find . -type f
find / -name x
ls -R /gd
ls -lR /gd
ls --recursive /gd
cd /gd; ls -R
tree /gd
cd /gd; tree -L 2
du -s /gd
cat /gd
echo /gd | xargs grep -r x
find /gd/d -exec grep -r x /gd {} +
env grep -r x /gd
timeout 5 grep -r x /gd
bash -c 'grep -r x /gd'
diff -r /gd /tmp
/usr/bin/grep -r x /gd
""".strip().splitlines()
PART = """
grep x /gd/a.txt
grep -r x /gd/d
cd /gd; grep x a.txt
cd /gd/d; grep -r x .
cd /gd; grep -r gd d
cd /; grep -r gd workspace
ls /gd
ls -l /gd
ls -R /gd/d
find /gd/d
find /workspace
grep -r x /workspace
cat /gd/a.txt
cat /gd/*.txt
tree /gd/d
ls -R /workspace
grep -c x < /gd/a.txt
""".strip().splitlines()


def test_no_whole_mount(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").write_text("x\n")
    (tmp_path / "a.txt").write_text("x\n")
    for line in WHOLE:
        with Terminal({"/gd": Host(tmp_path)}, policy="no-whole-mount") as t:
            result = t.run(line)
            assert result.refusals and result.refusals[-1].effect == "exec", line
            assert "mirage: denied: name a directory or file inside the mount, not the whole mount\n" in result.stderr, line
    with Terminal({"/gd": Host(tmp_path)}, policy="no-whole-mount") as t:
        for line in PART:
            assert not t.run(line).refusals, line
