"""The layers that the system's kernel reports for this process; the host formats them for people."""

from __future__ import annotations

import os
from typing import Any

NAMESPACES = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")


def describe_layers() -> dict[str, Any]:
    """Return ``namespaces`` (name to id), ``filters`` of seccomp, ``no_new_privileges`` and ``capabilities``."""
    status = own_status()
    return {
        "namespaces": namespaces(),
        "filters": int(status.get("Seccomp_filters", "0")),
        "no_new_privileges": status.get("NoNewPrivs") == "1",
        "capabilities": int(status.get("CapEff", "0"), 16) | int(status.get("CapBnd", "0"), 16),
    }


def namespaces() -> dict[str, str]:
    """Return the namespaces of this process; none where there is no /proc."""
    found: dict[str, str] = {}
    for name in NAMESPACES:
        try:
            found[name] = os.readlink(f"/proc/self/ns/{name}")
        except OSError:
            continue  # an older kernel, or another system
    return found


def own_status() -> dict[str, str]:
    """Return the fields of /proc/self/status; none where there is no /proc."""
    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
