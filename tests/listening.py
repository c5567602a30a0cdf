"""On which port a server process listens: it takes a free one itself, so that no other process can be faster."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

LISTENS = "0A"
"""State of a listening socket in /proc/net/tcp (kernel: include/net/tcp_states.h)."""


def wait_for_port(server: subprocess.Popen[bytes], log_path: Path, timeout_s: float) -> int:
    """Return the port on which the process listens, as soon as it does.

    Raises
    ------
    RuntimeError
        It ended, or does not listen after `timeout_s`; with the end of its log.
    """
    deadline = time.monotonic() + timeout_s
    while server.poll() is None and time.monotonic() < deadline:
        ports = listening_ports(server.pid)
        if ports:
            return min(ports)
        time.sleep(0.05)
    state = "does not listen" if server.poll() is None else f"ended with {server.returncode}"
    text = log_path.read_text(encoding="utf-8", errors="replace")[-6000:]
    raise RuntimeError(f"The server {state} ({timeout_s:.0f} s at the most):\n{text}")


def listening_ports(pid: int) -> set[int]:
    """Return the TCP ports of IPv4 on which this very process listens."""
    own = _open_files(pid)
    rows = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENS and f"socket:[{row[9]}]" in own}


def _open_files(pid: int) -> set[str]:
    found = set()
    try:
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            found.add(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
    except OSError:
        pass  # closed meanwhile, or the process ended: the caller looks again
    return found
