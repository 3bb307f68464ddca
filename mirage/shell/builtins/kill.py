"""kill."""
from __future__ import annotations

from mirage.process.signals import NAMES, SIGTERM
from mirage.shell.builtins import _signals as signals
from mirage.shell.builtins._common import encode, number, usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.process.process import Process
    from mirage.shell.state import Shell


def builtin_kill(sh: Shell, args: Sequence[str]) -> int:
    if not args:
        return usage(sh, "kill")
    words = list(args)
    signal: int | None = SIGTERM
    given = ""
    listing = False
    while words and words[0][:1] == "-" and len(words[0]) > 1:
        word = words.pop(0)
        if word == "--":
            break
        if word in ("-l", "-L"):
            listing = True
            continue
        if word in ("-s", "-n"):
            if not words:
                sh.builtin_error("kill", f"{word}: option requires an argument")
                return 1
            given = words.pop(0)
        elif word[:2] in ("-s", "-n") and signals.find(word[1:]) is None:
            given = word[2:]
        elif given:
            words.insert(0, word)
            break
        else:
            given = word[1:]
        signal = signals.find(given)
    if listing:
        return _list(sh, words)
    if signal is None:
        sh.builtin_error("kill", f"{given}: invalid signal specification")
        return 1
    if not words:
        return usage(sh, "kill")
    sent = 0
    for word in words:
        sent += _send(sh, word, signal)
    return 0 if sent else 1


def _list(sh: Shell, words: Sequence[str]) -> int:
    if not words:
        sh.out(encode(signals.listing()))
        return 0
    status = 0
    out = []
    for word in words:
        value = number(word)
        if value is None:
            found = signals.find(word)
            if found is not None:
                out.append(f"{found}\n")
                continue
        else:
            if value > 128:
                value -= 128
            if value == 0:
                out.append("EXIT\n")
                continue
            if value in NAMES:
                out.append(signals.listed_name(value) + "\n")
                continue
            if value in (32, 33):                            # used by the C library, without a name
                continue
        sh.out(encode("".join(out)))
        out = []
        sh.builtin_error("kill", f"{word}: invalid signal specification")
        status = 1
    sh.out(encode("".join(out)))
    return status


def _send(sh: Shell, word: str, signal: int) -> bool:
    """Signal what one operand names; False after an error."""
    if word[:1] == "%":
        from mirage.shell.builtins.jobs import find_job

        job = find_job(sh, "kill", word)
        if job is None:
            return False
        if job.done:
            sh.builtin_error("kill", f"({job.leader}) - No such process")
            return False
        job.signal(signal)
        return True
    pid = number(word)
    if pid is None:
        sh.builtin_error("kill", f"{word}: arguments must be process or job IDs" if word
                         else "`': not a pid or valid job spec")
        return False
    kernel = sh.kernel
    targets: list[Process]
    if pid > 0:
        found = kernel.processes.get(pid)
        targets = [found] if found is not None else []
    elif pid == -1:
        targets = []
    else:
        group = sh.proc.group if pid == 0 else -pid
        targets = [process for process in kernel.processes.values() if process.group == group]
    if not targets:
        reason = "Operation not permitted" if pid in (1, -1) else "No such process"
        sh.builtin_error("kill", f"({pid}) - {reason}")
        return False
    for process in sorted(targets, key=lambda process: process is kernel.current):
        kernel.kill(process, signal)
    return True
