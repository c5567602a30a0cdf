"""What the openai package raises, as one line for the user. Keys are taken out whoever echoes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from jupyter_codeagent.errors import (
    BadReplyError,
    ContextTooLongError,
    ModelError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnreachableError,
)
from jupyter_codeagent.models.listing import names_told
from jupyter_codeagent.settings import ModelSettings

MAX_TEXT = 200
TOO_LONG = (
    "context_length",
    "exceed_context_size",
    "context size",
    "context length",
    "maximum context",
    "too many tokens",
)


def explain(error: Exception, *, where: str, model: str, api_key: str, settings: ModelSettings) -> ModelError:
    """The error of ours for one of the client's; `where` is host and port."""
    import openai

    said = said_by_server(error, api_key)
    if isinstance(error, openai.APITimeoutError):
        if type(error.__cause__).__name__ == "ConnectTimeout":  # of httpx or httpx2, by the version of openai
            return _no_connection(where, f"none within {settings.connect_timeout_s:g} s, the limit")
        return timed_out(where, settings.read_timeout_s)
    if isinstance(error, openai.APIStatusError):
        return _by_status(error, said, where, model)
    if isinstance(error, openai.APIConnectionError):
        return _lost_connection(where, error.__cause__ or error, api_key)
    if isinstance(error, openai.APIError) and _is_too_long(said, error):
        return _too_long(said, where)
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return BadReplyError(f"{where} sent something that is no JSON; look at its log, then ask again.")
    if isinstance(error, openai.APIError):  # an error inside the stream
        return ModelOverloadedError(f"{where} broke off its reply: {said}")
    return cut_off(where, said)


def timed_out(where: str, limit_s: float) -> ModelError:
    return ModelTimeoutError(
        f"{where} sent nothing for {limit_s:g} s, the limit: it may be busy. Ask again, or raise "
        "c.CodeAgent.read_timeout_s."
    )


def cut_off(where: str, reason: str = "") -> ModelError:
    return ModelUnreachableError(f"The reply of {where} was cut off{f' ({reason})' if reason else ''}; ask again.")


def not_a_stream(where: str, content_type: str) -> ModelError:
    kind = "a web page (HTML)" if "html" in content_type else f"{content_type or 'something'} in place of a stream"
    return BadReplyError(f"{where} answered with {kind}: check the base URL, it mostly ends in /v1.")


def empty(where: str, used_up_tokens: int | None = None) -> ModelError:
    """`used_up_tokens`: the limit that ended the reply, where one did."""
    if used_up_tokens is not None:
        return BadReplyError(
            f"The model at {where} used up its {used_up_tokens} tokens without an answer (it may think first): "
            "raise c.CodeAgent.max_tokens."
        )
    return BadReplyError(f"The model at {where} sent an empty reply; ask again or put it differently.")


def not_found(where: str, model: str, known: Sequence[str] | None) -> ModelError:
    """A 404; `known` is None where the server does not list its models either."""
    if known is None:
        return ModelNotFoundError(
            f"{where} has no model {model!r}, or no chat completions at this base URL (404): it mostly ends in /v1."
        )
    if model in known:
        return ModelNotFoundError(
            f"{where} has no model {model!r} for chat (404), although it lists it: choose another."
        )
    return ModelNotFoundError(f"{where} has no model {model!r} (404).{names_told(model, known)}")


def said_by_server(error: Exception, api_key: str) -> str:
    """The server's own words, one line, short, without the key."""
    return without_key(" ".join(message_of(error).split()), api_key)[:MAX_TEXT]


def message_of(error: Exception) -> str:
    """The server's own words in full."""
    body: Any = getattr(error, "body", None)
    text = body.get("message") if isinstance(body, dict) else None
    return str(text or getattr(error, "message", None) or error)


def without_key(text: str, api_key: str) -> str:
    return text.replace(api_key, "***") if api_key else text


def _lost_connection(where: str, cause: BaseException, api_key: str) -> ModelError:
    """Before the reply began, or in the midst of it."""
    reason = without_key(" ".join(str(cause).split()) or type(cause).__name__, api_key)[:MAX_TEXT]
    if type(cause).__name__ in ("RemoteProtocolError", "ReadError"):
        return cut_off(where, reason)
    return _no_connection(where, reason)


def _no_connection(where: str, reason: str) -> ModelError:
    return ModelUnreachableError(
        f"No connection to the model server at {where} ({reason}): start it, or give another with --base-url."
    )


def _by_status(error: Any, said: str, where: str, model: str) -> ModelError:
    status: int = error.status_code
    if status in (401, 403):
        return ModelRefusedError(f"{where} refused the key ({status}): check CODEAGENT_API_KEY. It said: {said}")
    if status == 404:
        return ModelNotFoundError(
            f"{where} has no model {model!r}, or no chat completions at this base URL (404): {said}. "
            "`%agent models` lists what there is."
        )
    if status in (400, 413, 422) and _is_too_long(said, error):
        return _too_long(said, where)
    if 300 <= status < 400:
        return BadReplyError(
            f"{where} sends the request on to another address ({status}), which is not followed: give that address "
            "with --base-url."
        )
    if status == 429:
        return ModelOverloadedError(
            f"{where} has reached a rate limit (429): wait, then ask again. It said: {said}"
        )
    if status >= 500:
        return ModelOverloadedError(f"{where} failed ({status}): look at its log, then ask again. It said: {said}")
    return BadReplyError(f"{where} did not accept the request ({status}): {said}")


def _is_too_long(said: str, error: Any) -> bool:
    told = " ".join((said, str(getattr(error, "code", "")), str(getattr(error, "type", "")))).lower()
    return any(words in told for words in TOO_LONG)


def _too_long(said: str, where: str) -> ModelError:
    return ContextTooLongError(
        f"The question with its conversation does not fit the context of the model at {where}: ask with --new, or "
        f"name fewer variables with --vars. It said: {said}"
    )
