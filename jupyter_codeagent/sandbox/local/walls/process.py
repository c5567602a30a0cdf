"""The processes of one sandbox from start to removal, without messages and limits."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager

from jupyter_codeagent.sandbox.local.walls.layout import PrivateDirectory
from jupyter_codeagent.sandbox.local.walls.provisioner import SandboxProvisioner
from jupyter_codeagent.sandbox.local.walls.spec import SandboxSpecManager, sandbox_spec
from jupyter_codeagent.sandbox.local.watch.processes import kill_tree, open_exit_descriptor
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxLevel, SandboxPolicy

START_TIMEOUT_S = 30.0
END_TIMEOUT_S = 5.0
MAX_PIPE_BYTES = 4096
DATA_SLACK_BYTES = 128 << 20
"""Memory that interpreter and libraries reserve but do not touch; honest code then gets a MemoryError first."""


def resource_limits(level: SandboxLevel, policy: SandboxPolicy) -> dict[str, int]:
    """Return RLIMIT name to value."""
    limits = {
        "CORE": 1,  # with 0 the host would still start its program for core dumps (core(5))
        "SIGPENDING": 1024,  # counted for the whole user, as message queues are
        "MSGQUEUE": 0,
        "NOFILE": 1024,
        "FSIZE": policy.disk_bytes,
        "DATA": policy.memory_bytes + DATA_SLACK_BYTES,
    }
    if level in ("bubblewrap", "namespaces"):  # without a user namespace it counts everything the user runs
        limits["NPROC"] = policy.processes + policy.threads
    return limits


class SandboxProcess:
    """Owner of the private directory and the kernel's processes; lives in one event loop thread."""

    def __init__(self, level: SandboxLevel, policy: SandboxPolicy, data_dir: Path, preload: Sequence[str]) -> None:
        self.level = level
        self.directory = PrivateDirectory.create()
        self.manager = AsyncKernelManager(
            kernel_name="sandbox",
            transport="ipc",
            connection_file=str(self.directory.connection / "k.json"),
            kernel_spec_manager=SandboxSpecManager(),
        )
        self.manager.cache_ports = False
        # Created here rather than looked up by entry point: the choice must not depend on installed metadata.
        self.provisioner = SandboxProvisioner(
            parent=self.manager,
            kernel_id=self.directory.root.name,
            kernel_spec=sandbox_spec(),
            level=level,
            data_dir=str(data_dir),
            scratch_dir=str(self.directory.scratch),
            disk_bytes=policy.disk_bytes,
            read_files=[file.path for file in policy.read_files],
            limits=resource_limits(level, policy),
            preload=list(preload),
            allow_subprocess=policy.subprocess,
        )
        self.manager.provisioner = self.provisioner
        self.ended = asyncio.Event()
        self._report = b""
        self._stderr = b""
        self._reported = asyncio.Event()
        self._pidfd = -1

    async def start(self) -> dict[str, Any]:
        """Start the sandbox, and return its own report once it is confined and bound.

        Raises
        ------
        SandboxUnavailableError
            If it ended instead, with the last line of its stderr.
        """
        # Not `manager.start_kernel`: it logs a traceback for every level that this machine does not have.
        command, arguments = await self.manager.pre_start_kernel()
        await self.provisioner.launch_kernel(command, **arguments)
        self._watch()
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                await self._reported.wait()
        except TimeoutError:
            raise SandboxUnavailableError(f"did not start within {START_TIMEOUT_S:g} s") from None
        try:
            report = json.loads(self._report)
        except ValueError:
            raise SandboxUnavailableError(self._failure_text()) from None
        return dict(report)

    def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        for fd in (self.provisioner.report_fd, self.provisioner.stderr_fd):
            os.set_blocking(fd, False)
        loop.add_reader(self.provisioner.report_fd, self._read_report)
        loop.add_reader(self.provisioner.stderr_fd, self._read_stderr)
        self._watch_exit()

    def _watch_exit(self) -> None:
        if self.provisioner.process is not None and self._pidfd < 0:
            self._pidfd = open_exit_descriptor(self.provisioner.process)
            asyncio.get_running_loop().add_reader(self._pidfd, self._on_exit)

    def _read_report(self) -> None:
        text = _read_some(self.provisioner.report_fd)
        self._report = (self._report + text)[:MAX_PIPE_BYTES]
        if not text or b"\n" in self._report:
            self._reported.set()
            asyncio.get_running_loop().remove_reader(self.provisioner.report_fd)

    def _read_stderr(self) -> None:
        """Read stderr for as long as the sandbox lives, since a full pipe would block it. Only the end is kept."""
        text = _read_some(self.provisioner.stderr_fd)
        self._stderr = (self._stderr + text)[-MAX_PIPE_BYTES:]
        if not text:
            asyncio.get_running_loop().remove_reader(self.provisioner.stderr_fd)

    def _on_exit(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        if self.provisioner.process is not None:
            self.provisioner.process.wait()
        self.ended.set()

    def _failure_text(self) -> str:
        if self.provisioner.stderr_fd >= 0:
            self._read_stderr()
        lines = self._stderr.decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"ended at once with status {self.exit_status}"

    @property
    def exit_status(self) -> int | None:
        """Exit status of the outer process; None while it runs."""
        return self.provisioner.process.returncode if self.provisioner.process else None

    async def interrupt(self) -> None:
        """Send SIGINT to the kernel; nothing happens if it is gone."""
        try:
            await self.provisioner.send_signal(signal.SIGINT)
        except ProcessLookupError:
            return

    def kill(self) -> None:
        """Send SIGKILL to all processes of the sandbox. `ended` is set soon after."""
        if (pid := self.provisioner.outer_pid) is not None and not self.ended.is_set():
            kill_tree(pid)

    async def close(self) -> None:
        """Kill the processes, wait for their end, and remove everything from the host.

        Raises
        ------
        TimeoutError
            If processes still exist after `END_TIMEOUT_S` (uninterruptible sleep); everything else is closed.
        """
        try:
            self._watch_exit()  # not started yet if the start was cancelled
            if self._pidfd >= 0:
                self.kill()
                async with asyncio.timeout(END_TIMEOUT_S):
                    await self.ended.wait()
        finally:
            self._close_descriptors()
            self.directory.remove()

    def _close_descriptors(self) -> None:
        loop = asyncio.get_running_loop()
        for fd in (self.provisioner.report_fd, self.provisioner.stderr_fd, self._pidfd):
            if fd >= 0:
                loop.remove_reader(fd)
        self.provisioner.close_pipes()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1


def _read_some(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except BlockingIOError:
        return b""
