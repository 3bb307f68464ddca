"""What one tenant costs another: the longest wait of an `echo` while long work runs, and the memory of a stream."""
from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable

PAUSE = 0.002                                                # seconds between two lines of the Terminal that waits
HEAVY = (
    ("sort 50 MB", "sort big > /dev/null"),
    ("sort -n 50 MB", "sort -k2,2n big > /dev/null"),
    ("grep 50 MB", "grep -c ERROR big; grep -E 'ERR.*7' big > /dev/null"),
    ("${x//a/b} on 10 MB", "x=$(head -c 10000000 big); y=${x//e/E}; echo ${#y}"),
    ("${x//[a-e]/b} on 10 MB", "x=$(head -c 10000000 big); y=${x//[a-e]/E}; echo ${#y}"),
    ("read 10 MB into an array", "mapfile -t a < <(head -c 10000000 big); echo ${#a[@]}"),
    ("word splitting 10 MB", "x=$(head -c 10000000 big); set -- $x; echo $#"),
    ("sed, awk, tr 50 MB", "sed s/ERROR/x/g big | awk '{n+=NF} END{print n}'; tr a-z A-Z < big | wc"),
    ("jq 20 MB in one document", "seq 1000000 | jq -s 'map(. * 2) | add'"),
    ("sha256sum, gzip, base64 50 MB", "sha256sum big; gzip -1 -c big | wc -c; base64 big | wc -l"),
    ("uniq, cut, wc, tac 50 MB", "uniq -c big | wc -l; cut -d' ' -f2 big | wc; tac big | wc -l"),
)
STREAMS = (
    ("yes | head -c 1G | grep -c", "yes | head -c 1000000000 | grep -c x"),
    ("seq | awk | wc", "yes abc def | head -c 1000000000 | cut -d' ' -f2 | tr a-z A-Z | wc -l"),
)


def longest_stalls(say: Callable[[str], object]) -> dict[str, float]:
    """Seconds that an `echo` of one Terminal took at most while another Terminal, on another thread, worked."""
    from mirage.mounts.memory import Memory
    from mirage.terminal import Terminal
    line = b"2026-01-02 ERROR host%d net %d ms and some more text\n"
    big = b"".join(line % (i % 97, i * 7919 % 100003) for i in range(1_000_000))
    found: dict[str, float] = {}
    say(f"\n{'longest wait of another echo':34} {'ms':>10}")
    with Terminal({"/bench": Memory({"big": big})}, cwd="/bench") as busy, Terminal() as other:
        for name, script in HEAVY:
            results: list[int] = []

            def work(script: str = script, results: list[int] = results) -> None:
                results.append(busy.run(script).exit_code)

            thread = threading.Thread(target=work)
            longest = 0.0
            thread.start()
            while thread.is_alive():
                due = time.perf_counter() + PAUSE
                time.sleep(PAUSE)                            # waking up needs the interpreter lock as well
                other.run("echo hi")
                longest = max(longest, time.perf_counter() - due)
            thread.join()
            found[name] = longest
            say(f"{name:34} {longest * 1000:10.0f}" + ("" if results == [0] else f"  (status {results})"))
    return found


_CHILD = """
import resource, sys
from mirage.terminal import Terminal
with Terminal() as terminal:
    result = terminal.run(sys.argv[1])
print(result.stdout.strip(), result.exit_code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def stream_memory(say: Callable[[str], object]) -> dict[str, float]:
    """Megabytes that a fresh process held at most while 1 GB went through a pipeline."""
    found: dict[str, float] = {}
    say(f"\n{'memory of a 1 GB stream':34} {'MB':>10}")
    for name, script in STREAMS:
        run = subprocess.run([sys.executable, "-c", _CHILD, script], check=True, stdout=subprocess.PIPE, text=True)
        found[name] = int(run.stdout.split()[-1]) / 1000
        say(f"{name:34} {found[name]:10.0f}  {run.stdout.strip()}")
    return found
