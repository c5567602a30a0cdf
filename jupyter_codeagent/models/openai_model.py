"""Any OpenAI-compatible server, through the `openai` package: streamed, stoppable, with one-line errors."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

from jupyter_codeagent.models import server_errors
from jupyter_codeagent.models.client import new_client
from jupyter_codeagent.models.endpoint import host_and_port
from jupyter_codeagent.models.events import MAX_EVENT_BYTES, read_events
from jupyter_codeagent.models.listing import fetch_model_list
from jupyter_codeagent.models.parsing import Chunk, parse_chunk
from jupyter_codeagent.models.reply import Replies
from jupyter_codeagent.models.reply_timeout import ReplyTimeout
from jupyter_codeagent.models.sampling import sample_separately
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import BadReplyError, ModelError, ModelNotFoundError
from jupyter_codeagent.types.messages import Completion, CompletionRequest

if TYPE_CHECKING:
    from openai import AsyncOpenAI

USAGE_WAIT_S = 0.3
"""Time to wait for the usage, which comes last, after the code is complete."""
USAGE_WAIT_AFTER_END_S = 5.0
"""The same after the model has ended by itself: the usage is on its way then."""
CHUNKS_PER_TOKEN, EXTRA_CHUNKS = 4, 1024
"""Limit for the chunks of a stream: per token, and in addition."""
CHUNK_BYTES_PER_TOKEN = 4096
"""Average limit per token for its chunk, with usage and all that servers add to the text."""

OPTIONAL_PARAMETERS = {
    "stream_options": r"stream[_ ]options",
    "seed": r"\bseed\b",
    "temperature": r"\btemperature\b",
    "stop": r"['\"`]stop['\"`]",
    "max_tokens": r"max_completion_tokens",
    "n": r"n_cmpl|completion choice|['\"`]n['\"`]|\bn (?:must|should|has to) be\b",
    "prefill": r"prefill|continue_final_message|add_generation_prompt",
    "grammar": r"grammar|initialize samplers",
}
"""Parameters that some servers refuse, with patterns for their error 400; the request is repeated without them.

``max_tokens`` is sent under its newer name then. llama.cpp refuses a prefill for reasoning models.
"""


class OpenAIModel:
    """One model of one server; see `protocol.Model`."""

    def __init__(
        self,
        *,
        name: str,
        base_url: str,
        api_key: str,
        settings: ModelSettings,
        supports_prefill: bool,
        supports_grammar: bool = False,
        socket_path: str = "",
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Keep the parameters; `check` raises a ModelError before a request if its server must not be asked.

        `socket_path`: the Unix socket that takes the place of the URL's host and port.
        """
        self._name = name
        self._base_url = base_url
        self._api_key = api_key.strip()
        self._settings = settings
        self._where = host_and_port(base_url)
        self._socket_path = socket_path
        self._check = check
        supported = {"prefill": supports_prefill, "grammar": supports_grammar}
        self._unsupported: set[str] = {name for name, supports in supported.items() if not supports}
        self._client: tuple[asyncio.AbstractEventLoop, AsyncGenerator[AsyncOpenAI], AsyncOpenAI] | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def supports_prefill(self) -> bool:
        return "prefill" not in self._unsupported

    async def complete(
        self,
        request: CompletionRequest,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> Completion:
        """See `protocol.Model.complete`."""
        [completion] = await self._complete(request, 1, on_text=on_text, is_complete=is_complete)
        return completion

    async def sample(
        self,
        request: CompletionRequest,
        count: int,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> tuple[Completion, ...]:
        """See `protocol.Model.sample`; llama.cpp and vLLM get one request, whose prompt is computed once."""
        replies: tuple[Completion, ...] = ()
        if count > 1 and "n" not in self._unsupported:
            replies = await self._complete(request, count, on_text=on_text, is_complete=is_complete)
            if len(replies) < count:  # the server ignores `n`
                self._unsupported.add("n")
        rest = await sample_separately(
            self.complete, request, range(len(replies), count), on_text=on_text, is_complete=is_complete
        )
        return (*replies, *rest)

    async def _complete(
        self,
        request: CompletionRequest,
        count: int,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> tuple[Completion, ...]:
        """Send one request for `count` replies, and return as many as the server gives."""
        started = time.monotonic()
        stream, prefill = await self._ask(request, count)
        replies = Replies(count, prefill, request.max_tokens)
        chunks = self._chunks(stream, request.max_tokens, count)
        async with aclosing(chunks):  # the server stops generating when the stream is closed
            async for chunk in chunks:
                with self._translated_errors():
                    replies.add(chunk)
                if chunk.has_text:
                    on_text(replies.displayed.text)
                    for reply in replies.each:
                        reply.complete = reply.complete or is_complete(reply.text)
                if all(reply.ended for reply in replies.each):
                    await _await_usage(replies, chunks)
                    break
        arrived = replies.arrived
        if not all(reply.finish_reason for reply in arrived):
            raise server_errors.cut_off(self._where)
        if count == 1 and not arrived[0].received.strip() and not prefill:
            limit = request.max_tokens if arrived[0].finish_reason == "length" else None
            raise server_errors.empty_reply(self._where, limit)
        duration_s = time.monotonic() - started
        return tuple(
            Completion(
                text=reply.text,
                finish_reason=reply.finish_reason or "closed",
                usage=usage,
                model=self._name,
                duration_s=duration_s,
            )
            for reply, usage in zip(arrived, replies.usages(), strict=True)
        )

    async def close(self) -> None:
        """Close the connections; the end of the event loop closes them, too."""
        client, self._client = self._client, None
        if client is not None and client[0] is asyncio.get_running_loop():
            await client[1].aclose()

    async def _ask(self, request: CompletionRequest, count: int) -> tuple[Any, str]:
        """Return the open stream, and the prefill that was sent with the request."""
        while True:
            body = self._body(request, count)
            refused = set(self._unsupported)
            try:
                with self._translated_errors():
                    await asyncio.to_thread(self._check)
                    async with asyncio.timeout(self._settings.connect_timeout_s + self._settings.read_timeout_s):
                        stream = await (await self._client_of_loop()).chat.completions.create(**body)
                return stream, "" if "prefill" in refused else request.prefill
            except ModelNotFoundError as error:
                raise await self._not_found(error) from error
            except BadReplyError as error:
                if not self._drop_refused_options(error, refused):
                    raise

    def _drop_refused_options(self, error: BadReplyError, refused: set[str]) -> bool:
        """Stop sending the parameters that the server refused, and return whether there are new ones."""
        text = error.objection
        named = {name for name, pattern in OPTIONAL_PARAMETERS.items() if re.search(pattern, text, re.IGNORECASE)}
        self._unsupported |= named
        return bool(named - refused)

    def _body(self, request: CompletionRequest, count: int) -> Any:
        """Return the arguments of `chat.completions.create`."""
        prefills = self.supports_prefill
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        extra: dict[str, Any] = {}
        options: dict[str, Any] = {
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "seed": request.seed,
            "stop": list(request.stop) or None,
            "max_tokens": request.max_tokens,
        }
        if count > 1:
            options["n"] = count
        if prefills:  # llama.cpp or vLLM: they can send usage in each chunk, also of a stream that is closed early
            extra["timings_per_token"] = True
            options["stream_options"]["continuous_usage_stats"] = True
        if prefills and request.prefill:
            messages.append({"role": "assistant", "content": request.prefill})
            # vLLM needs both; llama.cpp continues the message without them and ignores them.
            extra |= {"continue_final_message": True, "add_generation_prompt": False}
        fits = prefills or not request.prefill
        if not fits:
            del options["stop"]  # without the prefill the closing fence as stop would match the opening one
        if request.grammar and fits and "grammar" not in self._unsupported:
            extra["grammar"] = request.grammar
        if "max_tokens" in self._unsupported:
            options["max_completion_tokens"] = request.max_tokens
        kept = {name: value for name, value in options.items() if name not in self._unsupported}
        return {"model": self._name, "messages": cast("Any", messages), "stream": True, "extra_body": extra, **kept}

    async def _client_of_loop(self) -> AsyncOpenAI:
        """Return the client of this event loop; its connections cannot be used in another."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            client = new_client(self._base_url, self._api_key, self._settings, socket_path=self._socket_path)
            living = _closed_with_loop(client)
            self._client = (loop, living, await anext(living))
        return self._client[2]

    async def _chunks(self, stream: Any, max_tokens: int, count: int) -> AsyncGenerator[Chunk]:
        """Yield the chunks of a stream, for `count` replies of at most `max_tokens` each."""
        tokens, key = max_tokens * count, self._api_key
        try:
            self._check_stream(stream)
            timeout = ReplyTimeout(self._settings.read_timeout_s, count, self._where)
            most_bytes = CHUNK_BYTES_PER_TOKEN * tokens + MAX_EVENT_BYTES
            async with (
                aclosing(stream.response.aiter_raw()) as pieces,
                aclosing(read_events(pieces, where=self._where, max_bytes=most_bytes)) as events,
            ):
                for _ in range(CHUNKS_PER_TOKEN * tokens + EXTRA_CHUNKS):
                    with self._translated_errors():
                        event = await timeout.wait_for(anext(events, None))
                        chunk = parse_chunk(event, self._where, key) if event is not None else None
                    if chunk is None:
                        return
                    if chunk.error is not None:
                        raise server_errors.error_in_stream(chunk.error, self._where)
                    yield chunk
                    if chunk.has_text:
                        timeout.restart()
            raise server_errors.too_many_chunks(self._where, max_tokens)
        finally:
            await stream.close()

    def _check_stream(self, stream: Any) -> None:
        """Raise BadReplyError for a web page, or a reply that is not streamed."""
        if isinstance(stream, str):
            raise server_errors.not_a_stream(self._where, "text/html" if "<html" in stream.lower() else "text")
        content_type = str(stream.response.headers.get("content-type", ""))
        if "event-stream" not in content_type:
            raise server_errors.not_a_stream(self._where, content_type)

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Convert all errors of the client to a one-line `ModelError`."""
        try:
            yield
        except ModelError:
            raise
        except Exception as error:  # the client and its HTTP library raise many kinds
            raise server_errors.to_model_error(
                error, where=self._where, model=self._name, api_key=self._api_key, settings=self._settings
            ) from error

    async def _not_found(self, error: ModelError) -> ModelError:
        """Return the error 404 with the models that the server has."""
        limit_s = self._settings.connect_timeout_s
        try:
            listed = await asyncio.to_thread(fetch_model_list, self._base_url, self._api_key, timeout_s=limit_s)
        except ModelError:
            return error  # the 404 matters more
        return server_errors.not_found(
            self._where, self._name, None if listed is None else [one.name for one in listed]
        )


async def _closed_with_loop(client: AsyncOpenAI) -> AsyncGenerator[AsyncOpenAI]:
    """Yield the client, and close it with the event loop: `loop.shutdown_asyncgens` finalizes this generator."""
    try:
        yield client
    finally:
        await client.close()


async def _await_usage(replies: Replies, chunks: AsyncGenerator[Chunk]) -> None:
    """Wait a moment for the usage, which comes last: a model that has finished its code mostly ends by itself.

    Usage in each chunk is no reason not to wait at such an end: vLLM tells only in the last what its cache had.
    """
    ended = all(reply.finish_reason for reply in replies.each)
    if ended or not replies.has_usage:
        quick = replies.has_usage or any(reply.complete for reply in replies.each)
        # The replies are whole: whatever happens now, only the usage is missing.
        with suppress(TimeoutError, ModelError):
            async with asyncio.timeout(USAGE_WAIT_S if quick else USAGE_WAIT_AFTER_END_S):
                async for chunk in chunks:
                    replies.end(chunk)
    for reply in replies.each:
        reply.finish_reason = reply.finish_reason or "closed"
