"""Files of the host's /proc and /sys that code may read: about its own process, nothing about others."""

from __future__ import annotations

from pathlib import Path

ABOUT_ITSELF = (
    "auxv",
    "cgroup",
    "cmdline",
    "environ",
    "exe",
    "fd",
    "fdinfo",
    "io",
    "limits",
    "maps",
    "mountinfo",
    "mounts",
    "pagemap",
    "smaps",
    "smaps_rollup",
    "stat",
    "statm",
    "status",
)
"""Names in /proc/self. `pagemap` tells which pages of the copies were written to (`guest.pages`); DuckDB aborts
without `cgroup`. Not `net`: without a network namespace it lists the host's connections and sockets."""
FOR_ALLOCATORS = (
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/sys/kernel/mm/transparent_hugepage",
)
"""Memory allocators and BLAS count processors and pages."""
CGROUPS = Path("/sys/fs/cgroup")
LIMITS_V2 = ("cpu.max", "memory.max", "memory.high")
LIMITS_V1 = {"memory": ("memory.limit_in_bytes",), "cpu": ("cpu.cfs_quota_us", "cpu.cfs_period_us")}


def machine_files() -> list[str]:
    """Return the files that describe process and machine; some may not exist."""
    own = [f"/proc/self/{name}" for name in ABOUT_ITSELF]
    return [*own, *FOR_ALLOCATORS, *cgroup_limits(Path("/proc/self/cgroup").read_text(encoding="utf-8"))]


def cgroup_limits(membership: str) -> list[str]:
    """Return the files with the limits of a process's cgroup, by its /proc/PID/cgroup (cgroups(7)).

    Their directories are not included: those list the processes of the whole machine.
    """
    found = []
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            found += [str(CGROUPS / path.lstrip("/") / name) for name in LIMITS_V2]
        for controller in controllers.split(","):
            found += [str(CGROUPS / controller / path.lstrip("/") / name) for name in LIMITS_V1.get(controller, ())]
    return found
