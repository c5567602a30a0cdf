"""Removal of copies and sandbox directories when the Jupyter server of a kernel ends first.

A kernel whose server is gone exits at once, without any cleanup (`ipykernel.parentpoller`), as when a hub stops a
server. The next kernel of this user would remove what is left, but copies are the user's data, perhaps a gigabyte
of memory, and it may not come for days. So a process is started then that outlives the kernel and removes it.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from jupyter_codeagent.sandbox.data import directory as copies
from jupyter_codeagent.sandbox.local.walls import layout

KERNEL_END_LIMIT_S = 30.0
"""The kernel looks for its server once a second."""
SANDBOX_END_S = 1.0
"""Its sandboxes die with it, and hold their files a moment longer."""
POLL_S = 0.1
FORWARDED = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME")
MODULE = "jupyter_codeagent.sandbox.parent_end"

_watched: set[int] = set()


def sweep_after_parent() -> None:
    """Have what this kernel leaves removed if its server ends first; costs a sleeping thread. Linux only."""
    parent = os.getppid()
    is_servers = os.environ.get("JPY_PARENT_PID") == str(parent)
    if parent in _watched or not is_servers or sys.platform != "linux":
        return
    try:
        descriptor = os.pidfd_open(parent)
    except OSError:  # it has just ended, or this kernel of Linux is too old
        return
    _watched.add(parent)
    threading.Thread(target=_wait, args=(descriptor,), name="codeagent parent", daemon=True).start()


def _wait(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    poll.poll()
    kept = {name: os.environ[name] for name in FORWARDED if name in os.environ}
    subprocess.Popen(
        [sys.executable, "-P", "-m", MODULE, str(os.getpid())],
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )


def main(kernel: int) -> None:
    """Wait for the end of the kernel, and remove what it and other ended kernels of this user have left."""
    deadline = time.monotonic() + KERNEL_END_LIMIT_S
    while Path(f"/proc/{kernel}/fd").exists() and time.monotonic() < deadline and not _is_zombie(kernel):
        time.sleep(POLL_S)
    time.sleep(SANDBOX_END_S)
    for parent in (Path(tempfile.gettempdir()), Path("/tmp"), copies.MEMORY):  # noqa: S108  (only swept)
        layout.remove_abandoned(parent)
        copies.remove_abandoned(parent)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2][1] in "ZX"
    except OSError:
        return True


if __name__ == "__main__":
    main(int(sys.argv[1]))
