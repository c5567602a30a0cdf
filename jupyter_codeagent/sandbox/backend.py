"""The interface to where a sandbox runs: its processes and channels, on this machine or on another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from jupyter_codeagent.sandbox.local.channels.connection import Channel
from jupyter_codeagent.sandbox.local.channels.wire import Received
from jupyter_codeagent.sandbox.local.watch.processes import Usage
from jupyter_codeagent.types.sandbox import SandboxLevel


@dataclass(frozen=True, kw_only=True)
class Listener:
    """Callbacks of a backend, all called in its event loop."""

    on_shell: Callable[[Received], None]
    on_iopub: Callable[[Received], None]
    on_malformed: Callable[[], None]
    on_oversized: Callable[[Channel], None]
    """Called when a message over the policy's limit was discarded."""
    on_limit_exceeded: Callable[[str], None]
    """Called with the reason when a limit is exceeded for which the sandbox is killed."""
    on_cpu_limit: Callable[[str], None]
    """Called with the reason when the CPU time of the current request is used up."""
    is_busy: Callable[[], bool]


class Backend(Protocol):
    """One sandbox's processes and channels. All methods are called from one event loop."""

    level: SandboxLevel
    inner: SandboxLevel
    """The level that confines the kernel itself, known after `start`; differs from `level` if that is remote."""
    where: str
    """Container, host or gateway; empty for this machine."""
    outer_layers: tuple[str, ...]
    """Layers around the machine that the sandbox is on, as text, known after `start`: those of a container."""
    ended: asyncio.Event
    """Set when the processes have ended, for whatever reason."""

    async def start(self) -> Mapping[str, Any]:
        """Start the sandbox, and return its own report once it is confined.

        Raises
        ------
        SandboxUnavailableError, OSError
        """
        ...

    async def connect(self, listener: Listener) -> None:
        """Open the channels.

        Raises
        ------
        TimeoutError
        """
        ...

    def probe_targets(self) -> AbstractAsyncContextManager[dict[str, Any]]:
        """Open files and listeners for the self-test to reach, on the machine where the sandbox runs."""
        ...

    def send(self, msg_type: str, content: dict[str, Any]) -> str:
        """Send a request on the shell channel, and return its id."""
        ...

    async def reopen_output(self, timeout_s: float) -> None:
        """Replace the iopub channel after code in the sandbox has closed it.

        Raises
        ------
        TimeoutError
        """
        ...

    def begin_request(self, processor_s: float) -> None:
        """Start counting for a request, which may use `processor_s` seconds of CPU time."""
        ...

    def usage(self) -> tuple[Usage, int]:
        """Return the present usage, and the highest memory in bytes since `begin_request`."""
        ...

    async def provide_files(self, files: Sequence[str]) -> str:
        """Make these files of the data directory readable in the sandbox.

        Returns the path of that directory as code in the sandbox sees it.

        Raises
        ------
        SandboxDiedError
        """
        ...

    async def answer(self, msg_type: str, content: dict[str, Any]) -> None:
        """Send the answer that the running code waits for, on the stdin channel.

        Raises
        ------
        ChannelBrokenError, SandboxDiedError
        """
        ...

    async def interrupt(self) -> None:
        """Send the kernel an interrupt."""
        ...

    def kill(self) -> None:
        """Kill all processes at once, without waiting."""
        ...

    async def close(self) -> None:
        """Kill the processes, wait for their end, and remove all files.

        Raises
        ------
        TimeoutError
            If processes cannot be ended.
        """
        ...

    @property
    def exit_reason(self) -> str:
        """Why the sandbox ended, as text; only meaningful once `ended` is set."""
        ...
