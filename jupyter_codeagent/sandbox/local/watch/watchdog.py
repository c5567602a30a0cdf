"""Looks at a sandbox's memory, processes and files while it lives, and says when a limit is passed."""

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
"""Code can leave threads behind, so it is watched between executions as well."""
FILES_EVERY = 10
"""Files are counted at every tenth look while busy."""


class Watchdog:
    """`run` until the sandbox ends; calls `on_excess` at most once, with the reason, and then ends."""

    def __init__(
        self,
        provisioner: SandboxProvisioner,
        policy: SandboxPolicy,
        *,
        scratch: Path,
        is_busy: Callable[[], bool],
        on_excess: Callable[[str], None],
        on_busy_processors: Callable[[str], None],
    ) -> None:
        self.peak_bytes = 0
        """Highest memory seen since `wake`."""
        self._provisioner = provisioner
        self._policy = policy
        self._scratch = scratch
        self._is_busy = is_busy
        self._on_excess = on_excess
        self._on_busy_processors = on_busy_processors
        self._allowed_s = self._processor_s = math.inf
        """Of processor time, counted since the sandbox began: at this point it is too much."""
        self._woken = asyncio.Event()
        self._copies: dict[int, Path] = {}
        """By inode: what the host has put there for the sandbox to map, as long as it has a name or is mapped."""

    def wake(self, processor_s: float) -> None:
        """Look now and forget the old peak: a request begins, and gets so many seconds of processor time.

        They count until the next request: threads that a cell leaves behind live on the last one's.
        """
        self.peak_bytes = 0
        self._allowed_s = processor_s
        self._processor_s = self.look().processor_s + processor_s
        self._woken.set()

    def let_map(self, files: Iterable[Path]) -> None:
        """They are the host's: that they are removed while the sandbox maps them is not the sandbox's doing."""
        self._copies |= {path.stat().st_ino: path for path in files}

    def _forget_copies(self, pids: Iterable[int]) -> None:
        """Those that are gone: their inodes may be given to files of the sandbox."""
        gone = {inode for inode, path in self._copies.items() if not path.exists()}
        if gone:
            for inode in gone - tree.unlinked_mapped(pids, self._scratch):
                del self._copies[inode]

    def look(self) -> processes.Usage:
        """Measure now; also called when an execution ends, as short ones fit between two looks."""
        pid = self._provisioner.outer_pid
        usage = processes.measure(processes.process_tree(pid) if pid else ())
        self.peak_bytes = max(self.peak_bytes, usage.memory_bytes)
        return usage

    async def run(self) -> None:
        looks = 0
        while True:
            busy = self._is_busy()
            usage = self.look()
            excess = excess_of(usage, self._policy) or (
                self._files() if not busy or looks % FILES_EVERY == 0 else ""
            )
            if excess:
                self._on_excess(excess)
                return
            if usage.processor_s > self._processor_s:
                self._processor_s = math.inf  # told once for each request
                self._on_busy_processors(f"it used more than {self._allowed_s:g} s of processor time, the limit")
            looks += 1
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
                unknown_bytes=self._policy.disk_bytes + 1,  # nobody needs one, and each may be as large
                apart=self._copies,
            )
            files, used = found.files, found.size_bytes + hidden
        if files > self._policy.files:
            return f"it made more than {self._policy.files} files"
        if used > self._policy.disk_bytes:
            return f"it wrote {format_bytes(used)} to disk, the limit is {format_bytes(self._policy.disk_bytes)}"
        return ""


def excess_of(usage: processes.Usage, policy: SandboxPolicy) -> str:
    """Which limit is passed, as the user reads it; empty if none is."""
    if usage.memory_bytes > policy.memory_bytes:
        used, limit = format_bytes(usage.memory_bytes), format_bytes(policy.memory_bytes)
        return f"it used {used} of memory, the limit is {limit}"
    if usage.processes > policy.processes:
        return f"it started {usage.processes} processes, the limit is {policy.processes}"
    if usage.threads > policy.threads:
        return f"it started {usage.threads} threads, the limit is {policy.threads}"
    return ""
