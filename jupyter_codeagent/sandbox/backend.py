"""Where a sandbox runs, as the one who drives it sees it: processes and channels, on this machine or on another."""

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
    """What a backend tells; all of it in its event loop."""

    on_shell: Callable[[Received], None]
    on_iopub: Callable[[Received], None]
    on_malformed: Callable[[], None]
    on_oversized: Callable[[Channel], None]
    """A message over the policy's limit was thrown away."""
    on_excess: Callable[[str], None]
    """A limit is passed that costs the sandbox its life; with the reason."""
    on_busy_processors: Callable[[str], None]
    """The processor time of the present request is used up; with the reason."""
    is_busy: Callable[[], bool]


class Backend(Protocol):
    """One sandbox's processes and channels. All methods are called from one event loop."""

    level: SandboxLevel
    inner: SandboxLevel
    """What confines the kernel itself, known after `start`; elsewhere than on this machine not the same."""
    where: str
    """Which container, host or gateway; empty for this machine."""
    around: tuple[str, ...]
    """Walls around the machine it is on, in words, known after `start`."""
    ended: asyncio.Event
    """Set when its processes are gone, for whatever reason."""

    async def start(self) -> Mapping[str, Any]:
        """Start it; returns what it says of itself once it is confined.

        Raises
        ------
        SandboxUnavailableError, OSError
        """
        ...

    async def connect(self, listener: Listener) -> None:
        """Open the channels. Raises TimeoutError."""
        ...

    def targets(self) -> AbstractAsyncContextManager[dict[str, Any]]:
        """Put up what the self-test tries to reach, on the machine where it runs."""
        ...

    def send(self, msg_type: str, content: dict[str, Any]) -> str:
        """Send a request on shell; returns its id."""
        ...

    async def reopen_output(self, timeout_s: float) -> None:
        """A new iopub channel in place of one that code inside has closed. Raises TimeoutError."""
        ...

    def begin(self, processor_s: float) -> None:
        """A request begins, and may use so much processor time."""
        ...

    def usage(self) -> tuple[Usage, int]:
        """What it uses now, and the highest memory since `begin` in bytes."""
        ...

    async def bring(self, files: Sequence[str]) -> str:
        """Have these files of the data directory in there; returns that directory as the code inside sees it.

        Raises
        ------
        SandboxDiedError
        """
        ...

    async def answer(self, msg_type: str, content: dict[str, Any]) -> None:
        """Send what the code that is running waits for: on the stdin channel.

        Raises
        ------
        ChannelBrokenError, SandboxDiedError
        """
        ...

    async def interrupt(self) -> None: ...

    def kill(self) -> None: ...

    async def close(self) -> None:
        """Kill, wait, remove; leaves nothing. Raises TimeoutError if processes cannot be ended."""
        ...

    @property
    def ending(self) -> str:
        """How it ended, in words; only meaningful once `ended` is set."""
        ...
