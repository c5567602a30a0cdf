"""Parsing of server responses: JSON of any shape becomes a typed value or one error.

Everything is checked against the protocol. Counts are whole numbers from 0 to `MAX_COUNT`; text for people is short
and contains neither control characters nor marks that reorder it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_codeagent.notebook.outputs import clean_text
from jupyter_codeagent.notebook.outputs.text import strip_colours
from jupyter_codeagent.types.errors import BadReplyError
from jupyter_codeagent.types.messages import Usage

MAX_COUNT = 10**9
MAX_NAME_CHARS = 200
MAX_READ_CHARS = 1 << 16
MAX_MESSAGE_CHARS = 2000
MAX_DISPLAY_CHARS = 200
PREFILL_SERVERS = ("llamacpp", "vllm")
"""`owned_by` of servers that continue a last message of role assistant, as both document."""
GRAMMAR_SERVER = "llamacpp"
"""`owned_by` of the server that supports a GBNF grammar in a request."""
REASONING_KEYS = ("reasoning_content", "reasoning")
"""Keys with the reasoning of reasoning models."""
CALL_MARK = "\n<tool_call>\n"
"""Put before the arguments of a tool call, as models write it where the server does not read calls."""
_SURROGATE = re.compile("[\ud800-\udfff]")

KINDS = {"dict": "an object", "list": "a list", "str": "text", "bool": "true or false"}

FinishReason = Literal["", "stop", "length"]


@dataclass(frozen=True, kw_only=True)
class ListedModel:
    """One entry of ``/models``."""

    name: str
    supports_prefill: bool = False
    supports_grammar: bool = False
    context_tokens: int = 0
    """Context window; 0 if the server does not report it."""

    @property
    def chats(self) -> bool:
        """Whether the name is not one of a model for another purpose."""
        return not any(word in self.name.lower() for word in NOT_CHAT_WORDS)


NOT_CHAT_WORDS = ("embed", "rerank", "whisper", "tts", "moderation", "dall-e", "clip")
"""Words in the names of models that do not chat."""


@dataclass(frozen=True, kw_only=True)
class ServerError:
    """A server's error message, cleaned."""

    message: str
    kind: str = ""
    """Code and type of the error, as one text."""

    @property
    def summary(self) -> str:
        """The message, shortened to fit a line."""
        return shorten(self.message, MAX_DISPLAY_CHARS)


@dataclass(frozen=True, kw_only=True)
class ChoiceDelta:
    """The addition to one reply in one chunk of the stream."""

    index: int | None
    """Index among several replies; None if the server does not send it."""
    text: str
    reasoning_chars: int
    finish_reason: FinishReason


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """One event of the stream."""

    choices: tuple[ChoiceDelta, ...] = ()
    usage: Usage | None = None
    timings: Usage | None = None
    """Usage from the `timings` of llama.cpp."""
    error: ServerError | None = None

    @property
    def has_text(self) -> bool:
        """Whether it contains text or reasoning."""
        return any(piece.text or piece.reasoning_chars for piece in self.choices)


def parse_json(text: bytes | str) -> Any:
    """Parse any JSON; raise ValueError if it is not valid or nested too deeply."""
    try:
        return json.loads(text if isinstance(text, str) else text.decode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def parse_chunk(text: str, where: str, api_key: str) -> Chunk:
    """Parse one event of a stream of replies.

    Raises
    ------
    BadReplyError
        It does not follow the protocol.
    """
    try:
        event = parse_json(text)
    except ValueError as error:
        raise BadReplyError(f"{where} sent something that is not JSON; look at its log, then ask again.") from error
    event = _object(event, "a part of the stream", where)
    if event.get("error"):
        return Chunk(error=parse_error(event, api_key))
    choices = event.get("choices")
    if choices is not None and not isinstance(choices, list):
        raise _protocol_error("choices", choices, where)
    return Chunk(
        choices=tuple(_choice_delta(_object(choice, "choices[…]", where), where) for choice in choices or ()),
        usage=_usage(event.get("usage")),
        timings=_timings(event.get("timings")),
    )


def _choice_delta(choice: Mapping[str, Any], where: str) -> ChoiceDelta:
    delta = choice.get("delta")
    delta = _object({} if delta is None else delta, "delta", where)
    content, finish, index = delta.get("content"), choice.get("finish_reason"), choice.get("index")
    if content is not None and not isinstance(content, str):
        raise _protocol_error("delta.content", content, where)
    reasoning = [delta[key] for key in REASONING_KEYS if isinstance(delta.get(key), str)]
    return ChoiceDelta(
        index=index if type(index) is int else None,
        text=_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", (content or "") + _called(delta)),
        reasoning_chars=max(map(len, reasoning), default=0),
        finish_reason=""
        if not finish or not isinstance(finish, str)
        else "length"
        if finish == "length"
        else "stop",
    )


def _called(delta: Mapping[str, Any]) -> str:
    """Return the arguments of tool calls as text: some models answer by a call of a tool that nobody offered."""
    calls = delta.get("tool_calls")
    listed = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    functions = [function for function in (*listed, delta.get("function_call")) if isinstance(function, dict)]
    return "".join(
        (CALL_MARK if function.get("name") else "") + (given if isinstance(given, str) else json.dumps(given))
        for function in functions
        if isinstance(given := function.get("arguments") or "", str | dict)
    )


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=count(usage.get("prompt_tokens")),
        completion_tokens=count(usage.get("completion_tokens")),
        cached_tokens=count(details.get("cached_tokens")) if isinstance(details, dict) else 0,
        calls=1,
    )


def _timings(timings: Any) -> Usage | None:
    """Return the usage in llama.cpp's timings: `prompt_n` tokens were read, `cache_n` more came from the cache."""
    if not isinstance(timings, dict):
        return None
    known, read, written = (count(timings.get(key)) for key in ("cache_n", "prompt_n", "predicted_n"))
    return Usage(prompt_tokens=count(known + read), completion_tokens=written, cached_tokens=known, calls=1)


def count(value: Any) -> int:
    """Return a number of tokens, limited to the valid range; 0 for a value that is not a number."""
    if type(value) is float and math.isfinite(value):
        value = int(min(max(value, 0.0), float(MAX_COUNT)))
    return min(max(value, 0), MAX_COUNT) if type(value) is int else 0


def parse_error(body: Any, api_key: str) -> ServerError:
    """Return the error in a body of any form: an object, a text, or whatever a proxy sends."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return ServerError(message=printable_line(error, api_key))
    kinds = (
        str(error[key])[:MAX_DISPLAY_CHARS] for key in ("code", "type") if isinstance(error.get(key), str | int)
    )
    return ServerError(
        message=printable_line(error.get("message") or error.get("detail") or error, api_key), kind=" ".join(kinds)
    )


def parse_error_body(body: bytes, api_key: str) -> ServerError:
    """Return the error in the raw bytes of a body, which may be cut."""
    try:
        return parse_error(parse_json(body), api_key)
    except ValueError:
        return ServerError(message=printable_line(body.decode("utf-8", "replace"), api_key))


def printable_line(value: Any, api_key: str = "") -> str:
    """Return text of a server as one printable line, without the key, control characters and hidden marks."""
    text = (value if isinstance(value, str) else json.dumps(value))[:MAX_READ_CHARS]
    words_alone = " ".join(strip_colours(clean_text(text)).split())
    line = "".join(one if one.isprintable() else f"<U+{ord(one):04X}>" for one in words_alone)
    return shorten(line.replace(api_key, "***") if api_key else line, MAX_MESSAGE_CHARS)


def shorten(text: str, limit: int) -> str:
    """Return the text, cut at the limit with an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def parse_models(body: bytes) -> tuple[ListedModel, ...] | None:
    """Parse the body of ``/models``; None if it is something else, such as a web page on the same port.

    A model whose name cannot be displayed unchanged is left out: a person could not recognise it.
    """
    try:
        listed = parse_json(body)
    except ValueError:
        return None
    entries = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        return None
    return tuple(
        ListedModel(
            name=entry["id"],
            supports_prefill=entry.get("owned_by") in PREFILL_SERVERS,
            supports_grammar=entry.get("owned_by") == GRAMMAR_SERVER,
            context_tokens=_context_tokens(entry),
        )
        for entry in entries
        if isinstance(entry, dict) and is_displayable_name(entry.get("id"))
    )


def is_displayable_name(name: Any) -> bool:
    """Check whether a name can be displayed unchanged: no controls, no marks that reorder or hide text."""
    return isinstance(name, str) and 0 < len(name) <= MAX_NAME_CHARS and name.isprintable()


def _context_tokens(entry: Mapping[str, Any]) -> int:
    """Return the context window: ``max_model_len`` of vLLM, ``meta.n_ctx`` of llama.cpp (not older versions)."""
    meta = entry.get("meta")
    return count(entry.get("max_model_len")) or (count(meta.get("n_ctx")) if isinstance(meta, dict) else 0)


def parse_token_count(body: bytes, text: str) -> int | None:
    """Return the tokens of `text`: vLLM sends their number, llama.cpp the tokens. None for an impossible number."""
    try:
        answer = parse_json(body)
    except ValueError:
        return None
    if not isinstance(answer, dict):
        return None
    tokens = answer.get("tokens")
    found = count(answer.get("count")) or (len(tokens) if isinstance(tokens, list) else 0)
    # A token has at least one byte.
    return found if 0 < found <= 2 * len(text.encode("utf-8", "replace")) + 16 else None


def _object(value: Any, what: str, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _protocol_error(what, value, where)
    return value


def _protocol_error(what: str, value: Any, where: str) -> BadReplyError:
    kind = "null" if value is None else KINDS.get(type(value).__name__, "a number")
    return BadReplyError(
        f"{where} sent a reply that does not follow the OpenAI protocol ({what} is {kind}): check its base URL, or "
        "look at its log."
    )
