"""Between the host and a sandbox on macOS, outside of the walls: a script, ``python supervisor.py COMMAND …``.

It takes the place of Linux's parent-death signal: the sandbox ends when standard input does, a pipe that the host
holds open for as long as it lives, however it ends. Nothing inside can reach this process, hold it up with the
interpreter's lock, or lose it by executing another program; a thread inside could suffer all of that.
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
    """The command below a supervisor of its own; its standard input must be the pipe."""
    return [sys.executable, "-I", "-S", "-B", os.path.abspath(__file__), *command]


def main(command: Sequence[str]) -> int:
    """Exit status of the command; a signal as 128 + number, as bwrap and shells say it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _let_pass)  # not SIG_IGN, which the command would inherit
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    status = child.wait()
    return 128 - status if status < 0 else status


def _let_pass(_number: int, _frame: object) -> None:
    """The host signals the kernel itself."""


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
