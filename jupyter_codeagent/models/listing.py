"""Which models a server has, asked without the openai package: it takes half a second to import."""

from __future__ import annotations

import difflib
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.errors import ModelError, ModelOverloadedError, ModelRefusedError, ModelUnreachableError
from jupyter_codeagent.models.endpoint import host_and_port, is_loopback, sendable_key

MAX_BYTES = 4 << 20
READ_BYTES = 1 << 16
NOT_CHAT = ("embed", "rerank", "whisper", "tts", "moderation", "dall-e", "clip")
"""In the names of models that do not chat."""
CONTINUES = ("llamacpp", "vllm")
"""`owned_by` of servers that continue a last message of role assistant; both say so in their documentation."""
TAKES_GRAMMAR = "llamacpp"
"""`owned_by` of the server that reads GBNF in a request."""


@dataclass(frozen=True, kw_only=True)
class ListedModel:
    """One entry of ``/models``."""

    name: str
    supports_prefill: bool = False
    supports_grammar: bool = False
    context_tokens: int = 0
    """0 where the server does not tell."""

    @property
    def chats(self) -> bool:
        return not any(word in self.name.lower() for word in NOT_CHAT)


def list_served(base_url: str, api_key: str, *, timeout_s: float) -> tuple[ListedModel, ...] | None:
    """The models of an OpenAI-compatible server; None if it does not tell (some gateways). Blocks.

    Raises
    ------
    ModelUnreachableError, ModelRefusedError, ModelOverloadedError, UsageError
    """
    where = host_and_port(base_url)
    request = urllib.request.Request(f"{base_url.rstrip('/')}/models")  # noqa: S310  (host_and_port allows http only)
    if key := sendable_key(api_key):
        request.add_header("Authorization", f"Bearer {key}")
    # What is meant for this machine must not go to the user's proxy.
    proxies = urllib.request.ProxyHandler({} if is_loopback(base_url) else None)
    try:
        with urllib.request.build_opener(proxies, _NoRedirect()).open(request, timeout=timeout_s) as answer:
            return read_models(_read(answer, time.monotonic() + timeout_s))
    except urllib.error.HTTPError as error:
        error.close()
        if fault := _fault(error.code, where):
            raise fault from error
        return None
    except (OSError, ValueError, http.client.HTTPException) as error:  # ValueError: no host can have this name
        raise unreachable(where, error) from error


def _read(answer: Any, deadline: float) -> bytes:
    """The body; a server that sends without an end is given up, not waited for."""
    body = b""
    while piece := answer.read1(READ_BYTES):
        body += piece
        if len(body) > MAX_BYTES or time.monotonic() > deadline:
            return b""
    return body


def _fault(status: int, where: str) -> ModelError | None:
    """What concerns every request; with any other status there is just no list."""
    if status in (401, 403):
        return ModelRefusedError(f"{where} refused the key ({status}): check CODEAGENT_API_KEY.")
    if status in (429, 500, 502, 503, 504):
        return ModelOverloadedError(f"{where} cannot answer now ({status}): it may still be loading; ask again.")
    return None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


def read_models(text: bytes) -> tuple[ListedModel, ...] | None:
    """The body of ``/models``; None if it is something else, as of a web page on the same port."""
    try:
        body = json.loads(text)
    except ValueError:
        return None
    entries = body.get("data") if isinstance(body, dict) else None
    if not isinstance(entries, list):
        return None
    return tuple(
        ListedModel(
            name=entry["id"],
            supports_prefill=entry.get("owned_by") in CONTINUES,
            supports_grammar=entry.get("owned_by") == TAKES_GRAMMAR,
            context_tokens=_context_tokens(entry),
        )
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    )


def _context_tokens(entry: dict[str, Any]) -> int:
    """vLLM tells it as ``max_model_len``, llama.cpp as ``n_ctx`` in ``meta`` (older ones do not)."""
    meta = entry.get("meta")
    told = entry.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
    return told if type(told) is int and told > 0 else 0


def unreachable(where: str, error: Exception) -> ModelError:
    """One line for a server that could not be talked to."""
    reason = getattr(error, "reason", error)
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return ModelUnreachableError(
        f"No connection to the model server at {where} ({text}): start it, or give another with --base-url."
    )


def names_told(name: str, known: Sequence[str]) -> str:
    """What there is instead of `name`, the nearest first, as the end of a line."""
    near = difflib.get_close_matches(name, known, n=5, cutoff=0.4)
    shown = list(dict.fromkeys((*near, *known)))[:5]
    return f" There are: {', '.join(shown)}." if shown else ""
