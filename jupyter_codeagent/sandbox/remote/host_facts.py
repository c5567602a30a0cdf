"""Facts that the relay reads in /proc about the machine or container it is in; they are no promise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jupyter_codeagent.sandbox.guest.layers import own_status


def read_host_facts() -> dict[str, Any]:
    """Return ``interfaces``, ``root_writable``, ``uid``, ``capabilities`` and ``no_new_privileges``."""
    status = own_status()
    return {
        "interfaces": _interfaces(),
        "root_writable": os.access("/", os.W_OK) and not _read_only_root(),
        "uid": os.getuid(),
        "capabilities": int(status.get("CapEff", "0"), 16),
        "no_new_privileges": status.get("NoNewPrivs") == "1",
    }


def _interfaces() -> list[str]:
    """Return the network interfaces without loopback; an empty list means that there is no way out."""
    names = (line.partition(":")[0].strip() for line in Path("/proc/net/dev").read_text("utf-8").splitlines()[2:])
    return [name for name in names if name != "lo"]


def _read_only_root() -> bool:
    return bool(os.statvfs("/").f_flag & os.ST_RDONLY)
