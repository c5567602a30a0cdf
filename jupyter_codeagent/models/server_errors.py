"""Errors of model servers as one-line errors for the user. A key that a server echoes is removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jupyter_codeagent.models.client import HttpStatusError
from jupyter_codeagent.models.listing import format_available, key_refused_error
from jupyter_codeagent.models.parsing import (
    MAX_DISPLAY_CHARS,
    ServerError,
    parse_error_body,
    printable_line,
    shorten,
)
from jupyter_codeagent.models.reply import TooMuchTextError
from jupyter_codeagent.models.reply_timeout import read_timeout_error
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import (
    BadReplyError,
    ContextTooLongError,
    ModelError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelUnreachableError,
)

TOO_LONG = (
    "context_length",
    "exceed_context_size",
    "context size",
    "context length",
    "maximum context",
    "too many tokens",
)
TIMEOUTS = {"TimeoutError", "ReadTimeout", "WriteTimeout", "PoolTimeout", "APITimeoutError"}
CUT_OFF = {"RemoteProtocolError", "ReadError"}


def to_model_error(
    error: Exception, *, where: str, model: str, api_key: str, settings: ModelSettings
) -> ModelError:
    """Return the `ModelError` for an error of the client; `where` is host and port."""
    import openai

    for cause in _causes(error):
        if isinstance(cause, ModelError):
            return cause
        if isinstance(cause, HttpStatusError):
            return _by_status(
                cause.status, parse_error_body(cause.body, api_key), where, model, has_key=bool(api_key)
            )
        if isinstance(cause, TooMuchTextError):
            return _too_much_text(where, cause.limit)
    kinds = {
        type(cause).__name__ for cause in _causes(error)
    }  # httpx or httpx2, depending on the version of openai
    if "ConnectTimeout" in kinds:
        return _no_connection(where, f"none within {settings.connect_timeout_s:g} s, the limit")
    if kinds & TIMEOUTS:
        return read_timeout_error(where, settings.read_timeout_s)
    cause = error.__cause__ or error
    reason = shorten(printable_line(str(cause), api_key) or type(cause).__name__, MAX_DISPLAY_CHARS)
    if isinstance(error, openai.APIConnectionError) and not kinds & CUT_OFF:
        return _no_connection(where, reason)
    return cut_off(where, reason)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the chain of causes from the outermost; its order depends on the version of openai."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def error_in_stream(error: ServerError, where: str) -> ModelError:
    """Return the error for an error message within the stream."""
    if _is_too_long(error):
        return _too_long(error, where)
    return ModelOverloadedError(f"{where} aborted its reply: {error.summary}")


def cut_off(where: str, reason: str = "") -> ModelError:
    """Return the error for a stream that ended before the reply did."""
    return ModelUnreachableError(f"The reply of {where} was cut off{f' ({reason})' if reason else ''}; ask again.")


def not_a_stream(where: str, content_type: str) -> ModelError:
    """Return the error for a response that is not an event stream."""
    error = printable_line(content_type)
    kind = "a web page (HTML)" if "html" in error else f"{shorten(error, 100) or 'something'} in place of a stream"
    return BadReplyError(f"{where} answered with {kind}: check the base URL, it usually ends in /v1.")


def too_many_chunks(where: str, max_tokens: int) -> ModelError:
    """Return the error for a stream with far more chunks than tokens."""
    return BadReplyError(
        f"{where} sent far more parts than the {max_tokens} tokens that were asked for; the reply was closed. Look "
        "at its log, or use another server."
    )


def _too_much_text(where: str, limit: int) -> ModelError:
    return BadReplyError(
        f"{where} sent more than {limit:,} characters, which is more than the tokens that were asked for can be: "
        "it overlooks max_tokens. The reply was closed; use another server or model."
    )


def empty_reply(where: str, used_up_tokens: int | None = None) -> ModelError:
    """Return the error for an empty reply.

    Parameters
    ----------
    where
        Host and port of the server.
    used_up_tokens
        The token limit that ended the reply; None if it ended by itself.
    """
    if used_up_tokens is not None:
        return BadReplyError(
            f"The model at {where} used up its {used_up_tokens} tokens without an answer (it may think first): "
            "raise c.CodeAgent.max_tokens."
        )
    return BadReplyError(f"The model at {where} sent an empty reply; ask again, or rephrase the question.")


def not_found(where: str, model: str, known: Sequence[str] | None) -> ModelError:
    """Return the error for status 404; `known` is None if the server does not list its models either."""
    if known is None:
        return ModelNotFoundError(
            f"{where} has no model {model!r}, or no chat completions at this base URL (404): it usually ends "
            "in /v1."
        )
    if model in known:
        return ModelNotFoundError(
            f"{where} has no model {model!r} for chat (404), although it lists it: choose another."
        )
    return ModelNotFoundError(f"{where} has no model {model!r} (404).{format_available(model, known)}")


def _no_connection(where: str, reason: str) -> ModelError:
    return ModelUnreachableError(
        f"No connection to the model server at {where} ({reason}): start it, or give another with --base-url."
    )


def _by_status(status: int, error: ServerError, where: str, model: str, *, has_key: bool) -> ModelError:
    summary = error.summary
    if status in (401, 403):
        return key_refused_error(where, status, has_key=has_key, message=summary)
    if status == 404:
        return ModelNotFoundError(
            f"{where} has no model {model!r}, or no chat completions at this base URL (404): {summary}. "
            "`%agent models` lists what there is."
        )
    if status in (400, 413, 422) and _is_too_long(error):
        return _too_long(error, where)
    if 300 <= status < 400:
        return BadReplyError(
            f"{where} sends the request on to another address ({status}), which is not followed: give that address "
            "with --base-url."
        )
    if status == 429:
        return ModelOverloadedError(
            f"{where} has reached a rate limit (429): wait, then ask again. It said: {summary}"
        )
    if status >= 500:
        return ModelOverloadedError(
            f"{where} failed ({status}): look at its log, then ask again. It said: {summary}"
        )
    objection = error.message if status in (400, 422) else ""
    return BadReplyError(f"{where} did not accept the request ({status}): {summary}", objection=objection)


def _is_too_long(error: ServerError) -> bool:
    text = f"{error.message} {error.kind}".lower()
    return any(phrase in text for phrase in TOO_LONG)


def _too_long(error: ServerError, where: str) -> ModelError:
    return ContextTooLongError(
        f"The question with its conversation does not fit the context of the model at {where}: ask with --new, or "
        f"name fewer variables with --vars. It said: {error.summary}"
    )
