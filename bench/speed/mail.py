"""How long `grep -r` takes over 500 messages of a mailbox whose every answer is 50 ms away.

    python -m mirage.bench.speed.mail [--messages N] [--latency SECONDS] [--rate UNITS]

The simulated Gmail runs in a process of its own. Printed are the seconds of wall time and of processor time of this
process, and the calls: first with the names known (`find` before), then with nothing known. `--rate 250` switches the
limiter on.
"""
from __future__ import annotations

import argparse
import subprocess
import sys
import time

from mirage.mounts.gmail.mount import Gmail
from mirage.terminal import Terminal
from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SERVER = """\
import sys, time
from mirage.bench.services.gmail import GmailSimulator
simulator = GmailSimulator(messages=int(sys.argv[1]))
print(simulator.start(), flush=True)
sys.stdin.readline()
simulator.fault("latency", seconds=float(sys.argv[2]))
print("slow", flush=True)
sys.stdin.readline()
"""
GREP = "grep -r --exact --include='*.email.json' -c 'no such text' /mail | wc -l"


class Token(Secret):
    """The simulator's token."""

    __slots__ = ()

    def reveal(self) -> str:
        return "simulator-token"


def measure(messages: int, latency: float, rate: float, known: bool) -> str:
    """One run, as a line of the table."""
    with subprocess.Popen([sys.executable, "-c", SERVER, str(messages), str(latency)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None and server.stdin is not None
        mount = Gmail(Token("env:MIRAGE_BENCH_TOKEN"), endpoint=server.stdout.readline().strip(), rate=rate)
        with Terminal({"/mail": mount}) as terminal:
            terminal.run("find /mail > /dev/null" if known else "ls /mail > /dev/null")
            server.stdin.write("slow\n")
            server.stdin.flush()
            server.stdout.readline()
            calls, started, used = mount.counters.calls, time.perf_counter(), time.process_time()
            result = terminal.run(GREP)
            seconds, used = time.perf_counter() - started, time.process_time() - used
        server.kill()
    state = "names known" if known else "nothing known"
    return (f"{state:14} {result.stdout.strip():>5} files  {seconds:5.2f} s  processor {used:5.2f} s  "
            f"{mount.counters.calls - calls:3} calls  {result.stderr.strip()}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=500)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--rate", type=float, default=0.0)
    options = parser.parse_args(arguments)
    for known in (True, False):
        print(measure(options.messages, options.latency, options.rate, known), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
