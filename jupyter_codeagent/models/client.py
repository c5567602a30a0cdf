"""The openai package's client, tied down.

No retry, no redirect, no proxy for loopback, no header but ours, no compressed body, and no more of an error than
its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.models.endpoint import host_and_port, is_loopback, sendable_key
from jupyter_codeagent.models.parsing import printable_line
from jupyter_codeagent.models.simple_http import UNCOMPRESSED
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import BadReplyError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

HEADERS = (
    "host",
    "accept",
    "accept-encoding",
    "connection",
    "content-type",
    "content-length",
    "transfer-encoding",
    "user-agent",
)
"""All that is sent besides the key. The package adds OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS of
the environment for whichever server it asks; they are meant for another one."""
MAX_ERROR_BYTES = 1 << 16


class HttpStatusError(Exception):
    """An answer with another status than success; `server_errors.to_model_error` says what it means."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body
        """Its beginning."""


_WHEN_SENT: ContextVar[Callable[[], None]] = ContextVar("when_sent", default=lambda: None)


@contextmanager
def when_sent(call: Callable[[], None]) -> Iterator[None]:
    """Have `call` called when the text of a request that is made inside leaves for its server.

    The openai package does not tell a server that nobody could reach from one that has got all of it.
    """
    token = _WHEN_SENT.set(call)
    try:
        yield
    finally:
        _WHEN_SENT.reset(token)


def new_client(base_url: str, api_key: str, settings: ModelSettings) -> AsyncOpenAI:
    """For one event loop. The first call imports the openai package: half a second. Raises ModelRefusedError."""
    import openai

    key = sendable_key(api_key)

    async def restrict_request(request: Any) -> None:
        for name in [name for name in request.headers if name.lower() not in HEADERS]:
            del request.headers[name]
        request.headers["accept-encoding"] = "identity"
        if key:
            request.headers["authorization"] = f"Bearer {key}"
        request.extensions["trace"] = _trace

    async def check_response(response: Any) -> None:
        """Before anything of the body is read; the client itself reads errors whole, however long they are."""
        encoding = str(response.headers.get("content-encoding", ""))
        if encoding.strip().lower() not in UNCOMPRESSED:
            raise BadReplyError(
                f"{where} sent a compressed reply ({printable_line(encoding)}), which was not asked for and is not "
                "read: switch that off there."
            )
        if not response.is_success:
            raise HttpStatusError(response.status_code, await _read_start(response))

    where, is_local = host_and_port(base_url), is_loopback(base_url)
    of_package: Any = type(openai.DEFAULT_CONNECTION_LIMITS)  # httpx or what has succeeded it, as openai likes
    http = openai.DefaultAsyncHttpxClient(
        trust_env=not is_local,  # what is meant for this machine must not go to the user's proxy
        # A new connection to this machine costs nothing; a kept one may be closed by the server as we use it.
        limits=of_package(max_keepalive_connections=0) if is_local else openai.DEFAULT_CONNECTION_LIMITS,
        follow_redirects=False,  # the prompt is for the server that was named
        event_hooks={"request": [restrict_request], "response": [check_response]},
    )
    limits: Any = openai.Timeout(settings.read_timeout_s, connect=settings.connect_timeout_s)
    return openai.AsyncOpenAI(
        base_url=base_url,
        api_key=key or "none",  # the package insists on one; `restrict_request` sends none
        timeout=limits,
        max_retries=0,  # a retry that nobody sees is a run that hangs
        http_client=http,
    )


async def _read_start(response: Any) -> bytes:
    body = b""
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > MAX_ERROR_BYTES:
            break
    return body[:MAX_ERROR_BYTES]


async def _trace(event: str, _: object) -> None:
    """Called by httpcore at each stage of a request: ``connection.connect_tcp.started`` …"""
    if event.endswith(".send_request_body.started"):
        _WHEN_SENT.get()()


def import_client() -> None:
    """Pay for the imports now, on a thread of the caller's choice."""
    import openai.resources.chat.completions  # noqa: F401
