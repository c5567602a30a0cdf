"""The client's connection to a relay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from jupyter_codeagent.sandbox.local.channels.wire import Received

Channel = Literal["shell", "iopub"]


class Link(Protocol):
    """A connection to a relay; lives in one event loop. Its messages are hostile: the relay may be compromised."""

    async def open(
        self,
        *,
        on_message: Callable[[Channel, Received], None],
        on_malformed: Callable[[], None],
        on_closed: Callable[[str], None],
    ) -> None:
        """Connect to the relay. `on_closed` is called once, with the reason as text, when it is gone.

        Messages are read no faster than `on_message` returns: a flood waits on the remote side.

        Raises
        ------
        SandboxUnavailableError
            If it cannot be reached. The text says what was tried, why it failed, and what to do.
        """
        ...

    def send(self, msg_type: str, content: dict[str, Any], buffers: Sequence[bytes | memoryview] = ()) -> str:
        """Send a message on shell, and return its id."""
        ...

    def kill(self) -> None:
        """End the relay at once, without waiting. `on_closed` follows."""
        ...

    async def close(self) -> None:
        """End the relay, wait for its end, and release everything; idempotent."""
        ...
