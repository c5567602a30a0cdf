"""The models of a server."""

from __future__ import annotations

import difflib
import http.client
from collections.abc import Sequence

from jupyter_codeagent.models.endpoint import host_and_port
from jupyter_codeagent.models.parsing import ListedModel, parse_models, printable_line
from jupyter_codeagent.models.simple_http import http_request
from jupyter_codeagent.types.errors import (
    ModelError,
    ModelOverloadedError,
    ModelRefusedError,
    ModelUnreachableError,
)


def fetch_model_list(base_url: str, api_key: str, *, timeout_s: float) -> tuple[ListedModel, ...] | None:
    """Return the models of an OpenAI-compatible server; None if it does not list them (some gateways). Blocks.

    The server must have been admitted before.

    Raises
    ------
    ModelUnreachableError, ModelRefusedError, ModelOverloadedError, UsageError
    """
    where = host_and_port(base_url)
    try:
        answer = http_request(f"{base_url.rstrip('/')}/models", api_key=api_key, timeout_s=timeout_s)
    except (OSError, ValueError, http.client.HTTPException) as error:  # ValueError: no host can have this name
        raise unreachable_error(where, error) from error
    if fault := _fault(answer.status, where, has_key=bool(api_key.strip())):
        raise fault
    return parse_models(answer.body)


def _fault(status: int, where: str, *, has_key: bool) -> ModelError | None:
    """Return the error for a status that affects all requests; None for one that means there is no list."""
    if status in (401, 403):
        return key_refused_error(where, status, has_key=has_key)
    if status in (429, 500, 502, 503, 504):
        return ModelOverloadedError(f"{where} cannot answer now ({status}): it may still be loading; ask again.")
    return None


def key_refused_error(where: str, status: int, *, has_key: bool, message: str = "") -> ModelRefusedError:
    """Return the error for status 401 or 403; a key that exists and was not sent was set for another server."""
    why = (
        f"{where} refused the key ({status}): check CODEAGENT_API_KEY."
        if has_key
        else f"{where} requires a key ({status}), and none was sent: CODEAGENT_API_KEY is sent only to the server "
        "in CODEAGENT_BASE_URL, OPENAI_API_KEY only to the one in OPENAI_BASE_URL."
    )
    return ModelRefusedError(f"{why} It said: {message}" if message else why)


def unreachable_error(where: str, error: Exception) -> ModelError:
    """Return the error for a server that cannot be reached."""
    reason = getattr(error, "reason", error)
    text = printable_line(str(getattr(reason, "strerror", None) or str(reason) or type(reason).__name__))
    return ModelUnreachableError(
        f"No connection to the model server at {where} ({text}): start it, or give another with --base-url."
    )


def format_available(name: str, known: Sequence[str]) -> str:
    """Return the available names for the end of a message, those similar to `name` first."""
    near = difflib.get_close_matches(name, known, n=5, cutoff=0.4)
    listed = list(dict.fromkeys((*near, *known)))[:5]
    return f" There are: {', '.join(listed)}." if listed else ""
