"""Every limit ends what it should, soon, and leaves the Terminal usable; none of it takes memory far beyond its limit."""
from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from mirage import Limits, Terminal

MEMORY, STEPS, PROCESSES, OUTPUT, DEPTH, TIMEOUT, DEADLOCK = (
    "limit: memory: ", "limit: steps: ", "limit: processes: ", "limit: output: ", "limit: depth: ", "timeout", "limit: deadlock: ")


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with Terminal(limits=Limits(timeout=10, steps=300_000, processes=40, output=1 << 20, memory=32 << 20)) as terminal:
        yield terminal


def ended(terminal: Terminal, script: str, status: int, reason: str, timeout: float | None = None) -> None:
    start = time.process_time()
    result = terminal.run(script, timeout=timeout)
    seconds = time.process_time() - start                    # of this process: other programs do not count
    assert (result.exit_code, result.stderr.rpartition("mirage: ")[2][:len(reason)]) == (status, reason), result.stderr[-300:]
    assert seconds < (timeout or 9) + 4, f"took {seconds:.1f} s"
    assert terminal.machine.errors == []
    assert list(terminal.session.kernel.processes.values()) == [terminal.session.process]
    assert terminal.run("builtin echo ok", timeout=10).stdout == "ok\n"


@pytest.mark.parametrize("script", [
    "f(){ echo $(f); }; f", "x='$(eval echo \"$x\")'; eval \"echo $x\"", "xargs -n1 -P0 sh -c : < <(yes)",
    "while :; do sleep inf & done", "f(){ env f; bash -c f; }; export -f f; f", "echo 'exec ./s' > s; chmod +x s; ./s", "while :; do coproc cat; done 2>/dev/null"])
def test_processes(terminal: Terminal, script: str) -> None:
    ended(terminal, script, 137, PROCESSES)


@pytest.mark.parametrize("script", [":(){ :|:& };:", "f(){ f|f & }; f"])
def test_fork_bombs(terminal: Terminal, script: str) -> None:
    """The line itself may be over at once; what it started reaches the limit, in this line or after it."""
    result = terminal.run(script)
    time.sleep(0.3)
    after = terminal.run("echo ok")
    assert result.exit_code in (0, 137) and "mirage: limit: processes: " in result.stderr + after.stderr
    assert after.stdout == "ok\n"
    assert len(terminal.session.kernel.processes) == 1


@pytest.mark.parametrize("script", ["yes", "cat /dev/zero", "x=$(printf %1000d 1); while :; do echo \"$x\"; done", "x=$(printf %1000d 1); while :; do echo \"$x\" >&2; done 2>&1", "yes | tee /dev/stdout >/dev/stdout"])
def test_output(terminal: Terminal, script: str) -> None:
    ended(terminal, script, 137, OUTPUT)


@pytest.mark.parametrize("script", [
    "while :; do :; done", "for ((;;)); do :; done", "until false; do :; done", "trap '' TERM INT; while :; do :; done", "f(){ :; }; while :; do f; done",
    "while :; do x=$(:); done", "trap 'kill -USR1 $$' USR1; kill -USR1 $$; while :; do :; done", "trap 'trap : DEBUG; :' DEBUG; while :; do :; done"])
def test_steps(terminal: Terminal, script: str) -> None:
    terminal.session.limits.steps = 20_000
    ended(terminal, script, 137, STEPS)


@pytest.mark.parametrize("script", [
    "f(){ f; }; f", "f='eval \"$f\"'; eval \"$f\"", "echo '. ./s' > s; . ./s", "trap 'f' ERR; set -E; f(){ false; f; }; f; f(){ f; }; f"])
def test_depth(terminal: Terminal, script: str) -> None:
    ended(terminal, script, 137, DEPTH)


@pytest.mark.parametrize("script", [
    "x=a; while :; do x=$x$x; done", "x=a; while :; do x+=$x; done", "echo {1..999999999}", "x=({1..99999999})", "printf %1000000000d 1", "printf '%1000000000d' 1 | wc -c", "printf '%*d' 999999999 1",
    "x=$(yes | head -c 5M); i=0; while :; do let i++; eval \"v$i=\\$x\\$i\"; done", "x=$(yes | head -c 5M); while :; do a[i++]=$x$i; done", "x=$(yes | head -c 3M); f(){ local y=$x$x; f; }; f",
    "x=$(yes | head -c 5M); f(){ ( y=$x$1; x=$y f $1$1 ) ; }; f 1", "x=$(cat /dev/zero | tr '\\0' a)", "x=$(head -c 12M /dev/zero | tr '\\0' a); echo \"$x$x\" | wc -c", "x=$(head -c 9M /dev/zero | tr '\\0' a); y=${x//a/bbbbbbbbbb}",
    "read x < /dev/zero", "mapfile < /dev/zero", "mapfile -d '' x < <(yes)", "history -r /dev/zero", "sort /dev/zero", "yes | sort", "yes | sort | head -1", "yes | tac", "yes | shuf", "yes | head -c 25M | sort -u | wc -l", "yes | jq -sR length",
    "head -c 10G /dev/zero > f", "cat /dev/zero > f", "yes >> f", "while :; do cat f f >> g; cat g g >> f; echo xxxxxxxxxxxxxxxxxxxxxxxxxxxx >> f; done 2>/dev/null",
    "jq -n '\"a\"*1e9|length'", "jq -n '[range(1e9)]|length'", "awk 'BEGIN{x=\"a\"; while(1) x=x x}'", "awk 'BEGIN{x=sprintf(\"%1000000000d\", 1)}'", "sed ':a;s/.*/&&/;ta' <<< xx", "sed ':a;G;h;ba' <<< x",
    "expand -t 1000000000 <<< $'\\ta' | wc -c", "head -c 40M /dev/zero | gzip > b.gz; gunzip b.gz; ls -l", "echo {a..z}{a..z}{a..z}{a..z}{a..z}{a..z}{a..z} | wc -c", "set -- $(yes | head -c 10M)", "IFS=y; x=$(yes | head -c 4M); set -- $x", "bash -c 'x=a; while :; do x=$x$x; done'"])
def test_memory(terminal: Terminal, script: str) -> None:
    ended(terminal, script, 137, MEMORY)


@pytest.mark.parametrize("script", [
    "sleep inf", "timeout 100 sleep inf", "sleep inf & wait", "sleep inf & kill -STOP $!; wait", "cat /dev/zero > /dev/null", "yes > /dev/null", "yes | wc -c", "while sleep 0; do :; done", "truncate -s 10T f; cat f | wc -c", "seq 1e12 | tail -1",
    "mkfifo p; sleep inf > p & cat p", "tail -f f 2>/dev/null || tail -f /etc/passwd", "while read -r x; do :; done < <(yes)", "read -n 5 x < /dev/zero", "trap '' TERM INT HUP QUIT USR1 CHLD; sleep inf", "trap 'sleep inf' EXIT; exit",
    "eval \"$(printf 'x%s=y;' {1..100000})\"", "x=$(printf 'a && %.0s' {1..30000}); eval \"$x true\"", "jq -n 'last(range(1e12))'", "awk 'BEGIN{while(1);}'", "sed ':a;ba' <<< x", "sed ':a;s/x/&&&&&/g;ta' <<< x", "awk 'BEGIN{while(1) print \"x\" > (\"f\" i++ % 9)}'", "find / -exec sleep inf \\;",
    "shopt -s extglob\ns=$(printf 'x%.0s' {1..2000}); [[ $s == *!(*!(*x)*)y ]]", "factor 170141183460469231731687303715884105727999999999999999999", "bc <<< 'while(1) x+=1'", "yes | split -l 1"])
def test_timeout(terminal: Terminal, script: str) -> None:
    terminal.session.limits.steps = None
    terminal.session.limits.memory = 256 << 20
    ended(terminal, script, 124, TIMEOUT, 0.25)


@pytest.mark.parametrize("script", [
    "mkfifo p; cat p", "mkfifo p; echo x > p", "mkfifo p; cat < p > p", "coproc cat; read x <&${COPROC[0]}", "coproc C { cat; }; cat <&${C[0]}", "coproc C { read x; read y; }; wait"])
def test_deadlock_is_seen_at_once(terminal: Terminal, script: str) -> None:
    ended(terminal, script, 124, DEADLOCK)


TEXT = "s=$(printf 'a%.0s' {1..300})!; "
DIGITS = "x=$(printf '(%.0s' {1..3000}); y=$(printf ')%.0s' {1..3000}); "


@pytest.mark.parametrize("script", [
    TEXT + "grep -E '^(a+)+$' <<< $s", TEXT + "grep -P '^(a+)+$' <<< $s", TEXT + "sed -E '/^(a+)+$/d' <<< $s", TEXT + "awk '/^(a+)+$/' <<< $s", TEXT + "[[ $s =~ ^(a+)+$ ]]", TEXT + "jq -Rn --arg s $s '$s|test(\"^(a+)+$\")'",
    TEXT + "grep -E '^(a|aa)+\\1$' <<< $s", TEXT + "sed -E 's/^(a*)*\\1\\1x$/b/' <<< $s", TEXT + "grep -E '(a*)*b\\1' <<< $s", TEXT + "touch ${s:0:200}; find . -regextype posix-extended -regex '.*(a+a+)+x'", TEXT + "jq -Rn --arg s $s '$s|test(\"(a|aa)+(?=y)\")'",
    TEXT + "case $s in *a*a*a*a*a*a*a*a*a*a*a*a*b) ;; esac; [[ $s == *a*a*a*a*a*a*a*b ]]; echo *a*a*a*a*a*a*a*b", "shopt -s extglob\n" + TEXT + "case $s in +(+(a)a)b) ;; esac; [[ $s == *(*(a)|+(aa))b ]]; echo ${s//+(a|aa)b/}", "shopt -s extglob\n" + TEXT + "[[ $s == !(*a*a*a*a*b)c ]]",
    "grep -E '((((a{1,100}){1,100}){1,100}){1,100}){1,100}' /etc/passwd", "grep -P '((((a{1,100}){1,100}){1,100}){1,100}){1,100}' /etc/passwd", "awk '/(((a{1,255}){1,255}){1,255}){1,255}/' /etc/passwd", "sed -E 's/(((a{1,255}){1,255}){1,255})/b/' /etc/passwd",
    DIGITS + 'eval "$x"', DIGITS + 'eval "echo $(printf \'$(%.0s\' {1..3000})"', DIGITS + 'echo $(( $x 1 $y ))', DIGITS + 'grep -E "$x" f', DIGITS + 'grep -E "${x}a$y" f', DIGITS + 'sed -E "s/$x//" f', DIGITS + 'awk "BEGIN{print ${x}1$y}"', DIGITS + 'expr $x 1', DIGITS + 'bc <<< "$x"', DIGITS + 'find . $(printf "( %.0s" {1..2000})',
    "x=$(printf '{ %.0s' {1..3000})echo$(printf ';}%.0s' {1..3000}); eval \"$x\"", "x=$(printf '${a:-%.0s' {1..3000})b$(printf '}%.0s' {1..3000}); eval \"echo $x\"", "x=$(printf '[%.0s' {1..20000}); jq . <<< \"$x\"; jq -n \"$x\"", "x=$(printf '! %.0s' {1..5000}); eval \"$x true\"",
    "x=y; y=x; echo $((x))", "declare -n a=b b=a; echo $a; a=1", "shopt -s expand_aliases; alias a=b b=a\na", "awk 'function f(n){return f(n+1)} BEGIN{f(1)}'", "jq -n 'def f: f+1; f'", "bc <<< 'define f(x){return f(x+1)} f(1)'; bc <<< '9^9^9^9'", "echo $((9**9**9))", "((x=2**63, x/-1, x%-1)); expr -9223372036854775808 / -1",
    "ln -s . d; shopt -s globstar; echo **/* | wc -c; find -L . | wc -l; grep -r x . | wc -l", "ln -s a b; ln -s b a; cat a; cd a; find -L .; cp a c", "cp -r . ./x/; mv . ./y; rm -rf .", "set -- {1..20000}; echo \"$@\" | wc -w; printf '%s\\n' \"$@\" | tail -1; ls \"$@\" 2>/dev/null", "for i in {1..40}; do mkdir x && cd x; done; cd /workspace; rm -r x; mkdir -p $(printf 'x/%.0s' {1..300}); rm -r x",
    "kill -STOP $$; kill -STOP $BASHPID", "trap 'exit 3' EXIT; exit 4", "exec 0<&- 1>&- 2>&-; echo x; ls; cat; sort; read z", "a[9223372036854775807]=1; a+=(2); x[999999999999]=1; echo ${!x[@]}", "head -n 99999999999999999999 /etc/passwd; tail -n 99999999999999999999 /etc/passwd; cut -c 1-99999999999999999999 f; fold -w 9999999999999999999999 f", "timeout 0.1 sh -c 'while :; do :; done'; timeout 0.1 sleep inf; timeout -s KILL 0.1 yes > /dev/null"])
def test_ends_by_itself(terminal: Terminal, script: str) -> None:
    result = terminal.run(script)
    assert "mirage: " not in result.stderr or result.exit_code == 137, result.stderr[-300:]
    assert terminal.machine.errors == []
    assert terminal.run("builtin echo ok").stdout == "ok\n"


def test_stopped_shell_goes_on_when_nobody_else_can_wake_it(terminal: Terminal) -> None:
    assert terminal.run("kill -STOP $$; echo on").stdout == "on\n"


def test_memory_is_given_back(terminal: Terminal) -> None:
    for _ in range(20):
        assert terminal.run("x=$(head -c 4M /dev/zero | tr '\\0' a); y=$x$x; unset x y; head -c 4M /dev/zero > f; rm f").exit_code == 0
    assert terminal.session.kernel.memory == 0


def test_replaced_values_do_not_add_up(terminal: Terminal) -> None:
    assert terminal.run("x=$(head -c 2M /dev/zero | tr '\\0' a); for i in {1..100}; do y=$x$i; done; echo ${#y}").stdout == "2097155\n"


def test_jobs_outlive_their_line_but_not_their_limits(terminal: Terminal) -> None:
    assert terminal.run("while :; do :; done & sleep inf & yes > /dev/null & echo started").stdout == "started\n"
    assert terminal.run("echo on; jobs | wc -l").stdout.startswith("on\n")
    terminal.run("kill -9 %1 %2 %3; wait")
    assert len(terminal.session.kernel.processes) == 1


def test_a_flood_between_lines_ends(terminal: Terminal) -> None:
    assert terminal.run("yes & echo started", timeout=5).exit_code in (0, 137)
    time.sleep(0.3)
    for _ in range(3):
        last = terminal.run("echo on")
    assert last.stdout.endswith("on\n")
    assert len(terminal.session.kernel.processes) == 1


@pytest.mark.parametrize("script", ["while :; do :; done", "sleep inf", "yes > /dev/null", "mkfifo p; sleep inf > p & cat p", "trap '' INT TERM; sleep inf", "timeout 100 sleep 50", "read x < <(sleep inf)"])
def test_cancel_from_another_thread(terminal: Terminal, script: str) -> None:
    terminal.session.limits.steps = None
    timer = threading.Timer(0.15, terminal.cancel)
    timer.start()
    result = terminal.run(script)
    assert (result.exit_code, result.stderr) == (130, "mirage: cancelled\n")
    assert terminal.run("echo ok").stdout == "ok\n"


def test_long_replacement_does_not_stall_another_terminal() -> None:
    lines = 0
    ready, over = threading.Event(), threading.Event()

    def other() -> None:
        nonlocal lines
        with Terminal() as terminal:
            while not over.is_set():
                terminal.run("echo x")
                lines += not over.is_set()
                ready.set()
                time.sleep(0.002)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        with Terminal() as terminal:
            ready.wait()
            before = lines
            result = terminal.run("shopt -s extglob\nx=$(head -c 10M /dev/zero | tr '\\0' a); y=${x//a/b}; y=${x//[ab]/c}; y=${x%%b*}; y=${x^^}; x=${x:0:300000}; y=$y${x//@(a|aa)/b}; echo ${#y}")
    finally:
        over.set()
        thread.join()
    assert result.stdout == "10635760\n"
    assert lines - before > 10


PEAK = """
import resource, sys
from mirage import Limits, Terminal
with Terminal(limits=Limits(timeout=30, memory=24 << 20)) as terminal:
    terminal.run("x=$(echo a | sort | jq -R . | awk 1 | sed s/a/b/)")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = terminal.run(sys.argv[1])
    print(result.exit_code, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("script", [
    "x=a; while :; do x=$x$x; done", "printf '%1000000000d' 1 | wc -c", "jq -n '\"a\"*1e9|length'", "x=$(cat /dev/zero)", "jq -n '[range(1e9)|tostring]|length'", "awk 'BEGIN{while(1) a[i++]=i \"x\"}'", "yes | sort"])
def test_peak_of_python(script: str) -> None:
    """The whole process stays within about one and a half times the limit."""
    run = subprocess.run([sys.executable, "-c", PEAK, script], capture_output=True, text=True, timeout=60, check=True)
    status, peak = map(int, run.stdout.split())
    assert status in (124, 137, 5)
    assert peak < 24 * 1.5 + 40
