"""What each level promises, in words and as probes that must find nothing open."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_codeagent.values import SandboxLevel, SandboxPolicy, SandboxStatus

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

HINTS: dict[SandboxLevel, str] = {
    "bubblewrap": "",
    "namespaces": "Install bubblewrap (`apt install bubblewrap`) to hide file names as well.",
    "landlock": "This machine or container forbids user namespaces; with them, host name and processes are hidden"
    " as well. On Ubuntu: `apt install bubblewrap`; in a container: allow unprivileged user namespaces.",
    "none": "Nothing is isolated. Remove `none` from the sandbox levels to get a sandbox back.",
}


def promised(level: SandboxLevel, policy: SandboxPolicy) -> frozenset[str]:
    """Names of the probes (`inside.probes`) that this level has to close."""
    if level == "none":
        return frozenset()
    names = {*EVERY_LEVEL}
    if not policy.subprocess:
        names.add("start a subprocess")
    if level != "landlock":
        names.add("see the host name")
    if level == "bubblewrap":
        names.add("see file names")
    return frozenset(names)


def broken_promises(level: SandboxLevel, policy: SandboxPolicy, measured: Mapping[str, bool]) -> tuple[str, ...]:
    """Probes that got through although the level promises to close them, or that were not measured."""
    return tuple(sorted(name for name in promised(level, policy) if measured.get(name, True)))


def measured_status(
    level: SandboxLevel, policy: SandboxPolicy, measured: Mapping[str, bool], landlock_abi: int
) -> SandboxStatus:
    return SandboxStatus(
        level=level,
        closed=tuple(name for name, is_open in measured.items() if not is_open),
        open=tuple(name for name, is_open in measured.items() if is_open),
        limits=_limits(level, policy, landlock_abi),
        hint=HINTS[level],
    )


def _limits(level: SandboxLevel, policy: SandboxPolicy, landlock_abi: int) -> tuple[str, ...]:
    disk = "checked every 0.5 s" if level != "bubblewrap" else "a tmpfs of that size"
    return (
        f"memory {in_words(policy.memory_bytes)} (checked every 50 ms)",
        f"{policy.wall_s:g} s for one execution, then interrupt, after {policy.grace_s:g} s more kill",
        f"processor time {policy.processors:g} × that, then the same",
        f"{policy.processes} processes, {policy.threads} threads",
        f"disk {in_words(policy.disk_bytes)} ({disk}), {policy.files} files",
        f"output {in_words(policy.output_bytes)} in {policy.output_messages} messages",
        f"Landlock ABI {landlock_abi}" if landlock_abi else "no Landlock",
    )


def in_words(size_bytes: int) -> str:
    """``2 GiB``, ``512 MiB``, ``900 KiB``, ``12 bytes``."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.3g} {name}"
    return f"{size_bytes} bytes"
