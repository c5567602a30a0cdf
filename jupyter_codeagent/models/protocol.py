"""What the agent loop needs of a model: one verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from jupyter_codeagent.values import Completion, CompletionRequest


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
