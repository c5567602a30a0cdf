"""What the kernel says is in force for this very process; told to the host, which puts it into words."""

from __future__ import annotations

import os
import resource
from typing import Any

NAMESPACES = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
LIMITS = ("DATA", "FSIZE", "NOFILE", "NPROC", "CORE")


def describe_layers() -> dict[str, Any]:
    """``namespaces`` (name to identity), ``filters`` of seccomp, ``capabilities``, ``limits`` … as JSON."""
    status = _status()
    return {
        "namespaces": namespaces(),
        "filters": int(status.get("Seccomp_filters", "0")),
        "no_new_privileges": status.get("NoNewPrivs") == "1",
        "capabilities": int(status.get("CapEff", "0"), 16) | int(status.get("CapBnd", "0"), 16),
        "limits": {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0] for name in LIMITS},
        "uid": os.getuid(),
    }


def namespaces() -> dict[str, str]:
    """Of this process; empty where there is no /proc."""
    found: dict[str, str] = {}
    for name in NAMESPACES:
        try:
            found[name] = os.readlink(f"/proc/self/ns/{name}")
        except OSError:
            continue  # an older kernel, or another system
    return found


def _status() -> dict[str, str]:
    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
