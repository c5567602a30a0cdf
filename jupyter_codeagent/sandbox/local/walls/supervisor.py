"""A supervisor process between host and sandbox on macOS, not confined: ``python supervisor.py COMMAND …``.

It replaces Linux's parent-death signal: the sandbox ends when standard input does, a pipe that the host holds open
for as long as it lives, however it ends. Code in the sandbox cannot reach this process, block it with the
interpreter's lock, or end it by executing another program; all of that could happen to a thread inside.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

BROKEN = 127


def supervised(command: Sequence[str]) -> list[str]:
    """Return the command under its own supervisor, whose standard input must be the pipe."""
    return [sys.executable, "-I", "-S", "-B", os.path.abspath(__file__), *command]


def main(command: Sequence[str]) -> int:
    """Run the command and return its exit status; a signal as 128 + number, like bwrap and shells."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _let_pass)  # not SIG_IGN, which the command would inherit
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    status = child.wait()
    return 128 - status if status < 0 else status


def _let_pass(_number: int, _frame: object) -> None:
    """Ignore the signal: the host signals the kernel itself."""


def _end_with_input(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 4096):
        continue
    os.killpg(child.pid, signal.SIGKILL)


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
    except OSError as problem:
        print(problem, file=sys.stderr)
        status = BROKEN
    os._exit(status)
