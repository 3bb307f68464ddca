"""A person at a terminal: `mirage` on a pseudo-terminal, typed to and read from."""
from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[()][AB0]|[=>])")
UP, TAB, CTRL_C, CTRL_D, CTRL_R = "\x1b[A", "\t", "\x03", "\x04", "\x12"


class Keyboard:
    """`type` keys, `expect` text (without escape sequences) after what was expected before."""

    def __init__(self, folder: Path, *arguments: str, env: Mapping[str, str] | None = None, size: tuple[int, int] = (24, 80)) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1",
                       "XDG_STATE_HOME": str(folder / "state"), **(env or {})}
        self.child = subprocess.Popen([sys.executable, "-m", "mirage.console", *arguments], stdin=slave, stdout=slave, stderr=slave,
                                      cwd=folder, env=environment, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.raw = b""
        self.seen = 0

    @property
    def text(self) -> str:
        return _ESCAPES.sub("", self.raw.decode("utf-8", "replace")).replace("\r", "")

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def line(self, text: str) -> None:
        self.type(text + "\r")

    def expect(self, wanted: str, seconds: float = 20.0) -> str:
        """What appeared up to `wanted` (a regular expression) since the last call."""
        until = time.monotonic() + seconds
        while True:
            match = re.compile(wanted).search(self.text, self.seen)
            if match:
                before, self.seen = self.text[self.seen:match.end()], match.end()
                return before
            assert time.monotonic() < until and self._more(until), f"{wanted!r} did not come; last: {self.text[self.seen:][-1500:]!r}"

    def prompt(self) -> str:
        """The next prompt, when it reads keys: keys that come before it is drawn to its end are the line's."""
        before = self.expect(r"user@mirage:\S*\$ ")
        until = time.monotonic() + 5
        while time.monotonic() < until and self._more(time.monotonic() + 0.3):
            pass
        return before

    def _more(self, until: float) -> bool:
        if not select.select([self.master], [], [], max(0.0, until - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.raw += data
        return bool(data)

    def status(self, seconds: float = 20.0) -> int:
        """The exit status, after whatever it still prints."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self._more(until):
            pass
        return self.child.wait(max(0.1, until - time.monotonic()))

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        os.close(self.master)


def run(folder: Path, arguments: Sequence[str], stdin: bytes = b"", seconds: float = 60.0) -> subprocess.CompletedProcess[bytes]:
    """`mirage ARGUMENTS` without a terminal."""
    return subprocess.run([sys.executable, "-m", "mirage.console", *arguments], input=stdin, capture_output=True, cwd=folder, timeout=seconds, check=False)
