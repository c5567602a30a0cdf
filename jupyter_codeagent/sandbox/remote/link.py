"""The near side's way to a relay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from jupyter_codeagent.sandbox.local.channels.wire import Received

Channel = Literal["shell", "iopub"]


class Link(Protocol):
    """Lives in one event loop. What it hands on is hostile: the far side may have been taken over."""

    async def open(
        self,
        *,
        on_message: Callable[[Channel, Received], None],
        on_malformed: Callable[[], None],
        on_closed: Callable[[str], None],
    ) -> None:
        """Reach the relay. `on_closed` is called once, with the reason in words, when it is gone.

        Messages are read no faster than `on_message` returns: a flood waits on the far side.

        Raises
        ------
        SandboxUnavailableError
            It cannot be reached: what was tried, why it failed, what to do.
        """
        ...

    def send(self, msg_type: str, content: dict[str, Any], buffers: Sequence[bytes | memoryview] = ()) -> str:
        """Send on shell; returns the id of the message."""
        ...

    def kill(self) -> None:
        """End the far side at once, without waiting. `on_closed` follows."""
        ...

    async def close(self) -> None:
        """Kill, wait, leave nothing; idempotent."""
        ...
