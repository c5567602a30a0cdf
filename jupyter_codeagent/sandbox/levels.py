"""The promises of each level: as text, and as probes that must be blocked."""

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
    "namespaces": "Install bubblewrap (`apt install bubblewrap`) to hide file names, too.",
    "landlock": "This machine or container forbids user namespaces, which would also hide the host name and other"
    " processes; `jupyter codeagent doctor` names the command that allows them.",
    "seatbelt": "On macOS only the watchdog limits memory; the level `container` has a hard limit.",
    "container": "",
    "command": "",
    "gateway": "",
    "none": "Nothing is isolated. %config CodeAgent.sandbox = 'auto' turns the sandbox on again.",
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
class Measurement:
    """Result of the self-test, which runs before any other code in the sandbox."""

    level: SandboxLevel
    """The level that was requested."""
    inner: SandboxLevel
    """The level that confines the kernel itself: for a container or a remote machine, the one started there."""
    probes: Mapping[str, bool]
    """Probe name to whether the probe succeeded, which is bad."""
    layers: Mapping[str, Any] = field(default_factory=dict)
    """As `guest.layers` describes them."""
    outside: Mapping[str, str] = field(default_factory=dict)
    """Namespaces of the machine or container around the sandbox."""
    landlock_abi: int = 0
    where: str = ""
    outer_layers: tuple[str, ...] = ()
    """Layers around the machine that the sandbox is on, as text: those of a container."""


def promised_probes(level: SandboxLevel, policy: SandboxPolicy) -> frozenset[str]:
    """Return the names of the probes (`guest.probes`) that this level has to block."""
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
    """Return the probes that succeeded although the level promises to block them, or that were not run."""
    return tuple(sorted(name for name in promised_probes(level, policy) if measured.get(name, True)))


def format_status(measured: Measurement, policy: SandboxPolicy) -> SandboxStatus:
    """Return the status of a measured sandbox, with its layers and limits as text."""
    return SandboxStatus(
        level=measured.level,
        where=measured.where,
        layers=(*measured.outer_layers, *format_layers(measured, policy)),
        closed=tuple(name for name, is_open in measured.probes.items() if not is_open),
        open=tuple(name for name, is_open in measured.probes.items() if is_open),
        limits=_limits(measured, policy),
        hint=HINTS[measured.inner] if measured.level == measured.inner else "",
    )


def format_layers(measured: Measurement, policy: SandboxPolicy) -> tuple[str, ...]:
    """Return one line for each layer that the process itself reports."""
    if measured.inner == "none":
        return ("no isolation: the code runs with your permissions",)
    if measured.inner == "seatbelt":
        return ("macOS Seatbelt profile: only allowed files, no network, no access to other processes",)
    reported = measured.layers
    own = [
        name
        for key, name in NAMESPACE_NAMES.items()
        if key in reported.get("namespaces", {}) and reported["namespaces"][key] != measured.outside.get(key)
    ]
    lines = [f"separate namespaces ({measured.inner}): {', '.join(own)}"] if own else ["no separate namespaces"]
    if measured.landlock_abi:
        lines.append(f"Landlock ABI {measured.landlock_abi}: only allowed files, writing only to scratch")
    processes = "" if policy.subprocess else ", no new processes"
    if filters := reported.get("filters"):
        lines.append(f"seccomp, {filters} filters: no new sockets, no privileged system calls{processes}")
    if reported.get("capabilities") == 0 and reported.get("no_new_privileges"):
        lines.append("no capabilities, no way to gain privileges")
    return tuple(lines)


def _limits(measured: Measurement, policy: SandboxPolicy) -> tuple[str, ...]:
    disk = "size of its tmpfs" if measured.inner == "bubblewrap" else "checked every 0.5 s"
    return (
        f"memory {format_bytes(policy.memory_bytes)} (watchdog, every 50 ms)",
        f"{policy.wall_s:g} s per execution, then an interrupt, {policy.grace_s:g} s later a kill",
        f"CPU time {policy.processors:g} × that, with the same consequences",
        f"{policy.processes} processes, {policy.threads} threads (watchdog)",
        f"disk {format_bytes(policy.disk_bytes)} ({disk}), {policy.files} files (watchdog)",
        f"output {format_bytes(policy.output_bytes)} in {policy.output_messages} messages",
    )
