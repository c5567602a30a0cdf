"""What the agent loop needs of a model: one reply, or several to the same question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from jupyter_codeagent.types.messages import Completion, CompletionRequest


class Model(Protocol):
    """A chat model that streams. Implementations: `openai_model.OpenAIModel`, `scripted.ScriptedModel`."""

    @property
    def name(self) -> str:
        """As the server calls it; goes into receipts and cell metadata."""
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

        `on_text` gets the whole reply so far (prefill in front), in the event loop's thread, for every piece
        of the stream. When `is_complete` says true of it the stream is closed: what a model chats after its
        code block costs time and is never read. Cancelling the task closes the HTTP stream.

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
        """Stream several replies, each sampled with a seed of its own counted up from the request's.

        Of a server that can do it, one request: it computes the prompt once and the replies together. Their usages
        add up to what the server has counted, the prompt with the first. `on_text` gets one reply that still grows.
        `is_complete` ends each for itself.

        Raises
        ------
        ModelError
            As `complete`; there is none of the replies then.
        """
        ...
