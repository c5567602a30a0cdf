"""The interface of a model for the agent loop: one reply, or several to the same request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from jupyter_codeagent.types.messages import Completion, CompletionRequest


class Model(Protocol):
    """A chat model that streams. `openai_model.OpenAIModel` is one; tests have another."""

    @property
    def name(self) -> str:
        """Name on the server, for receipts and cell metadata."""
        ...

    @property
    def supports_prefill(self) -> bool:
        """Whether a last message of role assistant is continued instead of answered."""
        ...

    async def complete(
        self,
        request: CompletionRequest,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> Completion:
        """Stream one reply.

        `on_text` gets the whole reply so far (with the prefill), in the event loop's thread, for each chunk of the
        stream. When `is_complete` returns true for it the stream is closed: text after the code block costs time
        and is never read. Cancelling the task closes the HTTP stream.

        Raises
        ------
        ModelError
            One of its subclasses, with a one-line text for the user.
        """
        ...

    async def sample(
        self,
        request: CompletionRequest,
        count: int,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> tuple[Completion, ...]:
        """Stream several replies, each sampled with its own seed, counted up from that of the request.

        A server that supports it gets one request: it computes the prompt once and the replies together. The usages
        add up to what the server counted, with the prompt in the first. `on_text` gets one reply that still grows;
        `is_complete` ends each reply separately.

        Raises
        ------
        ModelError
            As in `complete`; no reply is returned then.
        """
        ...
