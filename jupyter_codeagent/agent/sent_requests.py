"""Record every request of a run to its model, so that the receipt lists what was sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from jupyter_codeagent.models.client import when_sent
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.protocol import Model
from jupyter_codeagent.models.tokens import estimate_tokens
from jupyter_codeagent.types.errors import CodeAgentError, ModelError
from jupyter_codeagent.types.messages import (
    Completion,
    CompletionRequest,
    ContentKind,
    ModelCall,
    ModelCallPurpose,
    Usage,
)
from jupyter_codeagent.types.tagged_text import kinds_in


class SentRequests:
    """The requests of one run. Written on the background loop, read from any thread."""

    def __init__(self, before: Sequence[ModelCall] = (), *, changed: Callable[[], None] = lambda: None) -> None:
        """Start with the calls in `before`, which were made while the run was prepared.

        `changed` is called when something new has been sent.
        """
        self._before = tuple(before)
        self._changed = changed
        self._requests: list[_Request] = []
        self._known: set[tuple[ModelCallPurpose, tuple[ContentKind, ...]]] = set()

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """All calls in order; equal ones that follow each other are merged."""
        merged: list[ModelCall] = list(self._before)
        for call in (request.call for request in tuple(self._requests)):
            last = merged[-1] if merged else None
            if last is not None and replace(last, usage=call.usage) == call:
                merged[-1] = replace(last, usage=last.usage + call.usage)
            else:
                merged.append(call)
        return tuple(merged)

    @property
    def usage(self) -> Usage:
        """Tokens of all requests so far."""
        return sum((call.usage for call in self.calls), Usage())

    @property
    def last_usage(self) -> Usage:
        """Tokens of the latest request."""
        return self._requests[-1].call.usage if self._requests else Usage()

    def of(self, model: Model, endpoint: ModelEndpoint) -> Model:
        """Return the model with its requests recorded here.

        A registered model does not report when it sends; its requests count as sent at once.
        """
        return _RecordedModel(model, self, assume_sent=endpoint.kind == "registered")

    def begin(self, request: CompletionRequest, *, sent: bool) -> _Request:
        """Record a request that is about to be made; `sent` if it counts as sent at once."""
        pending = _Request(request=request, on_sent=self._on_sent)
        self._requests.append(pending)
        if sent:
            pending.mark_sent()
        return pending

    def _on_sent(self, purpose: ModelCallPurpose, kinds: tuple[ContentKind, ...]) -> None:
        if (purpose, kinds) not in self._known:  # once for each kind, not for each of hundreds of texts
            self._known.add((purpose, kinds))
            self._changed()


@dataclass
class _Request:
    """The state of one request."""

    request: CompletionRequest
    on_sent: Callable[[ModelCallPurpose, tuple[ContentKind, ...]], None]
    sent: bool = False
    text: str = ""
    """The reply so far."""
    counted: Usage | None = None
    callback_error: CodeAgentError | None = None
    refused: bool = False
    """The server has answered with an error; as far as known it has read nothing."""

    def mark_sent(self) -> None:
        """Mark the request as sent and report it, once."""
        if self.sent:
            return
        self.sent = True
        try:
            self.on_sent(self.request.purpose, self._kinds)
        except CodeAgentError as error:  # raised here it would pass for an error of the connection
            self.callback_error = error

    def answered(self, replies: Sequence[Completion]) -> tuple[Completion, ...]:
        """Return the replies, with estimated tokens where the server has not counted them.

        Raises
        ------
        CodeAgentError
            What the `changed` callback has raised.
        """
        self.mark_sent()
        if self.callback_error is not None:
            raise self.callback_error
        counted = sum((reply.usage for reply in replies), Usage())
        if not counted.prompt_tokens and not counted.completion_tokens:
            replies = [self._estimated(reply, is_first=not at) for at, reply in enumerate(replies)]
        self.counted = sum((reply.usage for reply in replies), Usage())
        return tuple(replies)

    @property
    def call(self) -> ModelCall:
        """The request as the receipt lists it."""
        return ModelCall(purpose=self.request.purpose, kinds=self._kinds, sent=self.sent, usage=self._usage)

    @property
    def _kinds(self) -> tuple[ContentKind, ...]:
        return kinds_in(self.request.messages, self.request.prefill_spans)

    @property
    def _usage(self) -> Usage:
        if self.counted is not None:
            return self.counted
        if not self.sent or (self.refused and not self.text):
            return Usage()
        return Usage(
            prompt_tokens=self._prompt_tokens, completion_tokens=self._written(self.text), calls=1, estimated=True
        )

    @property
    def _prompt_tokens(self) -> int:
        return sum(estimate_tokens(message.content) for message in self.request.messages)

    def _written(self, text: str) -> int:
        return estimate_tokens(text.removeprefix(self.request.prefill))

    def _estimated(self, reply: Completion, *, is_first: bool) -> Completion:
        usage = replace(
            reply.usage,
            prompt_tokens=self._prompt_tokens if is_first else 0,
            completion_tokens=self._written(reply.text),
            estimated=True,
        )
        return replace(reply, usage=usage)


class _RecordedModel:
    """A model whose requests are recorded; see `protocol.Model`."""

    def __init__(self, model: Model, requests: SentRequests, *, assume_sent: bool) -> None:
        self._model = model
        self._requests = requests
        self._assume_sent = assume_sent

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def supports_prefill(self) -> bool:
        return self._model.supports_prefill

    async def complete(
        self,
        request: CompletionRequest,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> Completion:
        """Record one completion; see `protocol.Model.complete`."""
        [reply] = await self._record(
            request,
            on_text,
            lambda seen: _one(self._model.complete(request, on_text=seen, is_complete=is_complete)),
        )
        return reply

    async def sample(
        self,
        request: CompletionRequest,
        count: int,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> tuple[Completion, ...]:
        """Record one sampling of several replies; see `protocol.Model.sample`."""
        return await self._record(
            request,
            on_text,
            lambda seen: self._model.sample(request, count, on_text=seen, is_complete=is_complete),
        )

    async def _record(
        self,
        request: CompletionRequest,
        on_text: Callable[[str], None],
        ask: Callable[[Callable[[str], None]], Awaitable[tuple[Completion, ...]]],
    ) -> tuple[Completion, ...]:
        pending = self._requests.begin(request, sent=self._assume_sent)

        def seen(text: str) -> None:
            pending.text = text
            on_text(text)

        with when_sent(pending.mark_sent):
            try:
                return pending.answered(await ask(seen))
            except ModelError:
                pending.refused = True
                raise


async def _one(reply: Awaitable[Completion]) -> tuple[Completion, ...]:
    return (await reply,)
