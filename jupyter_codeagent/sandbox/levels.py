"""What each level promises, in words and as probes that must find nothing open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jupyter_codeagent.types.sandbox import SandboxLevel, SandboxPolicy, SandboxStatus
from jupyter_codeagent.types.sizes import format_bytes

EVERY_LEVEL = (
    "read files outside",
    "write files outside",
    "change metadata of files",
    "TCP",
    "UDP",
    "listen on a port",
    "Unix sockets",
    "abstract sockets",
    "environment",
    "environment of other processes",
    "see other processes",
    "signal other processes",
    "memory of other processes",
    "new user namespace",
    "io_uring",
)

ON_LINUX = {"abstract sockets", "new user namespace", "io_uring"}
ON_MACOS = {"services of the system", "native code from scratch", "see file names"}

HINTS: dict[SandboxLevel, str] = {
    "bubblewrap": "",
    "namespaces": "Install bubblewrap (`apt install bubblewrap`) to hide file names as well.",
    "landlock": "This machine or container forbids user namespaces; with them, host name and processes are hidden"
    " as well. On Ubuntu: `apt install bubblewrap`; in a container: allow unprivileged user namespaces.",
    "seatbelt": "There is no memory limit but the watchdog on macOS; the level `container` has one.",
    "container": "",
    "command": "",
    "gateway": "",
    "none": "Nothing is isolated. %config CodeAgent.sandbox = 'auto' brings a sandbox back.",
}
NAMESPACE_NAMES = {
    "user": "users",
    "mnt": "files",
    "pid": "processes",
    "net": "network",
    "ipc": "shared memory",
    "uts": "host name",
    "cgroup": "control groups",
}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What the self-test found, before any other code has run in there."""

    level: SandboxLevel
    """As asked for."""
    inner: SandboxLevel
    """What confines the kernel itself: the level, or in a container or elsewhere the one that was started there."""
    probes: Mapping[str, bool]
    """Probe name to whether it got through."""
    layers: Mapping[str, Any] = field(default_factory=dict)
    """As `guest.layers` describes them."""
    outside: Mapping[str, str] = field(default_factory=dict)
    """Namespaces of the machine or container around it."""
    landlock_abi: int = 0
    where: str = ""
    around: tuple[str, ...] = ()
    """Walls around the machine the sandbox is on, in words: those of a container."""


def promised(level: SandboxLevel, policy: SandboxPolicy) -> frozenset[str]:
    """Names of the probes (`guest.probes`) that this level has to close."""
    if level == "none":
        return frozenset()
    names = {*EVERY_LEVEL}
    if level == "seatbelt":
        names = (names - ON_LINUX) | ON_MACOS
    if not policy.subprocess:
        names.add("start a subprocess")
    if level in ("bubblewrap", "namespaces"):
        names.add("see the host name")
    if level == "bubblewrap":
        names.add("see file names")
    return frozenset(names)


def broken_promises(level: SandboxLevel, policy: SandboxPolicy, measured: Mapping[str, bool]) -> tuple[str, ...]:
    """Probes that got through although the level promises to close them, or that were not measured."""
    return tuple(sorted(name for name in promised(level, policy) if measured.get(name, True)))


def measured_status(measured: Measured, policy: SandboxPolicy) -> SandboxStatus:
    return SandboxStatus(
        level=measured.level,
        where=measured.where,
        layers=(*measured.around, *layers_in_words(measured, policy)),
        closed=tuple(name for name, is_open in measured.probes.items() if not is_open),
        open=tuple(name for name, is_open in measured.probes.items() if is_open),
        limits=_limits(measured, policy),
        hint=HINTS[measured.inner] if measured.level == measured.inner else "",
    )


def layers_in_words(measured: Measured, policy: SandboxPolicy) -> tuple[str, ...]:
    """One line for each layer that the process itself reports."""
    if measured.inner == "none":
        return ("no layer at all: the code runs as you",)
    if measured.inner == "seatbelt":
        return ("Seatbelt profile of macOS: files by allow-list, no network, no other processes",)
    told = measured.layers
    own = [
        name
        for key, name in NAMESPACE_NAMES.items()
        if key in told.get("namespaces", {}) and told["namespaces"][key] != measured.outside.get(key)
    ]
    lines = [f"own namespaces ({measured.inner}): {', '.join(own)}"] if own else ["no namespaces of its own"]
    if measured.landlock_abi:
        lines.append(f"Landlock ABI {measured.landlock_abi}: files by allow-list, scratch alone can be written")
    processes = "" if policy.subprocess else ", no new processes"
    if filters := told.get("filters"):
        lines.append(f"seccomp, {filters} filters: no new sockets, no privileged system calls{processes}")
    if told.get("capabilities") == 0 and told.get("no_new_privileges"):
        lines.append("no capabilities, and no way to gain privileges")
    return tuple(lines)


def _limits(measured: Measured, policy: SandboxPolicy) -> tuple[str, ...]:
    disk = "a tmpfs of that size" if measured.inner == "bubblewrap" else "checked every 0.5 s"
    return (
        f"memory {format_bytes(policy.memory_bytes)} (watchdog, every 50 ms)",
        f"{policy.wall_s:g} s for one execution, then interrupt, after {policy.grace_s:g} s more kill",
        f"processor time {policy.processors:g} × that, then the same",
        f"{policy.processes} processes, {policy.threads} threads (watchdog)",
        f"disk {format_bytes(policy.disk_bytes)} ({disk}), {policy.files} files (watchdog)",
        f"output {format_bytes(policy.output_bytes)} in {policy.output_messages} messages",
    )
