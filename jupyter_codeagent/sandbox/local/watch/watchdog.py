"""The watchdog: measures a sandbox's memory, processes and files while it lives, and reports exceeded limits."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterable
from pathlib import Path

from jupyter_codeagent.sandbox.local.walls.provisioner import SandboxProvisioner
from jupyter_codeagent.sandbox.local.watch import processes, tree
from jupyter_codeagent.types.sandbox import SandboxPolicy
from jupyter_codeagent.types.sizes import format_bytes

BUSY_INTERVAL_S = 0.05
IDLE_INTERVAL_S = 0.5
"""Code can leave threads behind, so the sandbox is watched between executions as well."""
FILES_EVERY = 10
"""While busy, files are counted at every tenth measurement."""


class Watchdog:
    """Watchdog of one sandbox: `on_limit_exceeded` is called at most once, with the reason; then `run` returns."""

    def __init__(
        self,
        provisioner: SandboxProvisioner,
        policy: SandboxPolicy,
        *,
        scratch: Path,
        is_busy: Callable[[], bool],
        on_limit_exceeded: Callable[[str], None],
        on_cpu_limit: Callable[[str], None],
    ) -> None:
        self.peak_bytes = 0
        """Highest memory seen since `wake`."""
        self._provisioner = provisioner
        self._policy = policy
        self._scratch = scratch
        self._is_busy = is_busy
        self._on_limit_exceeded = on_limit_exceeded
        self._on_cpu_limit = on_cpu_limit
        self._allowed_s = self._processor_s = math.inf
        """Total CPU time of the sandbox at which the present request has used up its share."""
        self._excess = ""
        """Which limit was exceeded, as reported."""
        self._woken = asyncio.Event()
        self._copies: dict[int, Path] = {}
        """By inode: files of the host that the sandbox maps, as long as they have a name or are mapped."""

    def wake(self, processor_s: float) -> None:
        """Start counting for a request, which may use `processor_s` seconds of CPU time; reset the peak.

        The limit holds until the next request: threads that a cell leaves behind use the time of that cell.
        """
        self.peak_bytes = 0
        self._allowed_s = processor_s
        self._processor_s = self.measure().processor_s + processor_s
        self._woken.set()

    def allow_mapping(self, files: Iterable[Path]) -> None:
        """Do not count these files of the host, which may be removed while the sandbox maps them."""
        self._copies |= {path.stat().st_ino: path for path in files}

    def _forget_copies(self, pids: Iterable[int]) -> None:
        """Forget files that are gone: files of the sandbox may get their inodes."""
        gone = {inode for inode, path in self._copies.items() if not path.exists()}
        if gone:
            for inode in gone - tree.unlinked_mapped(pids, self._scratch):
                del self._copies[inode]

    def measure(self) -> processes.Usage:
        """Measure now, and report a limit that is exceeded.

        Also called when an execution ends, as short ones fit between two measurements: what it left is its own.
        """
        pid = self._provisioner.outer_pid
        usage = processes.measure(processes.process_tree(pid) if pid else ())
        self.peak_bytes = max(self.peak_bytes, usage.memory_bytes)
        self._report(find_excess(usage, self._policy))
        return usage

    def _report(self, excess: str) -> None:
        if excess and not self._excess:
            self._excess = excess
            self._on_limit_exceeded(excess)

    async def run(self) -> None:
        """Measure until a limit is exceeded, or the task is cancelled."""
        measurements = 0
        while not self._excess:
            busy = self._is_busy()
            usage = self.measure()
            if not busy or measurements % FILES_EVERY == 0:
                self._report(self._files())
            if usage.processor_s > self._processor_s:
                self._processor_s = math.inf  # reported once for each request
                self._on_cpu_limit(f"it used more than {self._allowed_s:g} s of CPU time, the limit")
            measurements += 1
            await self._pause(BUSY_INTERVAL_S if busy else IDLE_INTERVAL_S)

    async def _pause(self, interval_s: float) -> None:
        self._woken.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(interval_s):
                await self._woken.wait()

    def _files(self) -> str:
        files = used = 0
        if self._provisioner.level == "bubblewrap":
            paths = self._provisioner.paths
            if (pid := self._provisioner.inner_pid) is not None:
                files = processes.files_on_tmpfs(pid, (paths.scratch, paths.temporary, "/dev/shm"))  # noqa: S108
        else:
            found = tree.measure_tree(self._scratch, max_files=self._policy.files)
            if found.fault:
                return f"it made {found.fault}"
            pid = self._provisioner.outer_pid
            pids = processes.process_tree(pid) if pid else []
            self._forget_copies(pids)
            hidden = tree.unlinked_bytes(
                pids,
                self._scratch,
                unknown_bytes=self._policy.disk_bytes + 1,  # no honest code needs one, and each may be that large
                ignored=self._copies,
            )
            files, used = found.files, found.size_bytes + hidden
        if files > self._policy.files:
            return f"it made more than {self._policy.files} files"
        if used > self._policy.disk_bytes:
            return f"it wrote {format_bytes(used)} to disk, the limit is {format_bytes(self._policy.disk_bytes)}"
        return ""


def find_excess(usage: processes.Usage, policy: SandboxPolicy) -> str:
    """Return which limit is exceeded, as text for the user; empty if none is."""
    if usage.memory_bytes > policy.memory_bytes:
        used, limit = format_bytes(usage.memory_bytes), format_bytes(policy.memory_bytes)
        return f"it used {used} of memory, the limit is {limit}"
    if usage.processes > policy.processes:
        return f"it started {usage.processes} processes, the limit is {policy.processes}"
    if usage.threads > policy.threads:
        return f"it started {usage.threads} threads, the limit is {policy.threads}"
    return ""
