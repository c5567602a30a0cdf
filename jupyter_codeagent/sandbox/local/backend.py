"""A sandbox on this machine: an isolated kernel, its zmq channels, and a watchdog that monitors it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jupyter_codeagent.sandbox.backend import Listener
from jupyter_codeagent.sandbox.local.channels.connection import Connection
from jupyter_codeagent.sandbox.local.channels.wire import Received, read_message
from jupyter_codeagent.sandbox.local.walls.process import SandboxProcess
from jupyter_codeagent.sandbox.local.walls.provisioner import GUEST_DIR
from jupyter_codeagent.sandbox.local.walls.roots import python_roots
from jupyter_codeagent.sandbox.local.watch.processes import Usage, format_exit_status
from jupyter_codeagent.sandbox.local.watch.watchdog import Watchdog
from jupyter_codeagent.sandbox.probe_targets import open_targets
from jupyter_codeagent.types.sandbox import SandboxLevel, SandboxPolicy

CONNECT_TIMEOUT_S = 10.0


class LocalBackend:
    """Implements `backend.Backend`."""

    def __init__(self, level: SandboxLevel, policy: SandboxPolicy, data_dir: Path, preload: Sequence[str]) -> None:
        self.level: SandboxLevel = level
        self.inner: SandboxLevel = level
        self.where = ""
        self.outer_layers: tuple[str, ...] = ()
        self._policy = policy
        self._data_dir = data_dir
        self.process = SandboxProcess(level, policy, data_dir, preload)
        self.ended = self.process.ended
        self._listener: Listener | None = None
        self._connection: Connection[Received] | None = None
        self._watchdog: Watchdog | None = None
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> Mapping[str, Any]:
        return await self.process.start()

    async def connect(self, listener: Listener) -> None:
        self._watchdog = Watchdog(
            self.process.provisioner,
            self._policy,
            scratch=self.process.directory.scratch,
            is_busy=listener.is_busy,
            on_limit_exceeded=listener.on_limit_exceeded,
            on_cpu_limit=listener.on_cpu_limit,
        )
        self._watching = asyncio.create_task(self._watchdog.run(), name="sandbox watchdog")
        self._connection = Connection(
            self.process.manager,
            max_bytes=self._policy.message_bytes,
            read=lambda frames: read_message(self.process.manager.session, frames),
            on_shell=listener.on_shell,
            on_iopub=listener.on_iopub,
            on_malformed=listener.on_malformed,
            on_oversized=listener.on_oversized,
        )
        await self._connection.open(CONNECT_TIMEOUT_S)

    @contextlib.asynccontextmanager
    async def probe_targets(self) -> AsyncIterator[dict[str, Any]]:
        with open_probe_targets(self.process) as target:
            yield target

    def send(self, msg_type: str, content: dict[str, Any]) -> str:
        return self._connected.send(msg_type, content)

    async def reopen_output(self, timeout_s: float) -> None:
        await self._connected.open_iopub(timeout_s)

    def begin_request(self, processor_s: float) -> None:
        if self._watchdog is not None:
            self._watchdog.wake(processor_s)

    def usage(self) -> tuple[Usage, int]:
        if self._watchdog is None:
            return Usage(memory_bytes=0, threads=0, processes=0), 0
        return self._watchdog.measure(), self._watchdog.peak_bytes

    async def provide_files(self, files: Sequence[str]) -> str:
        """Allow the files to be mapped; the data directory is visible already."""
        if self._watchdog is not None:
            self._watchdog.allow_mapping(self._data_dir / name for name in files)
        return self.process.provisioner.paths.data

    async def answer(self, msg_type: str, content: dict[str, Any]) -> None:
        await self._connected.answer(msg_type, content)

    async def interrupt(self) -> None:
        await self.process.interrupt()

    def kill(self) -> None:
        self.process.kill()

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        if self._connection is not None:
            self._connection.close()
        await self.process.close()

    @property
    def exit_reason(self) -> str:
        return f"its process ended ({format_exit_status(self.process.exit_status)})"

    @property
    def _connected(self) -> Connection[Received]:
        if self._connection is None:
            raise RuntimeError("the sandbox has no channels yet: connect() comes first")
        return self._connection


def open_probe_targets(process: SandboxProcess) -> contextlib.AbstractContextManager[dict[str, Any]]:
    """Open probe targets for a sandbox that has been started on this machine."""
    bound = (*python_roots(), GUEST_DIR, "/usr", *process.provisioner.read_files)
    return open_targets(process.directory.root, environment=process.provisioner.environment, bound=bound)
