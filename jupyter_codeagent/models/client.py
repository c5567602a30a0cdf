"""The client of the openai package, restricted.

It has no retries, no redirects, no proxy for loopback, no additional headers and no compressed bodies, and reads
only the beginning of an error.
"""

from __future__ import annotations

import sys
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
"""All headers that are sent besides the key. The package adds OPENAI_ORG_ID, OPENAI_PROJECT_ID and
OPENAI_CUSTOM_HEADERS of the environment to requests to any server, although they are meant for OpenAI's."""
MAX_ERROR_BYTES = 1 << 16


class HttpStatusError(Exception):
    """A response with an error status; `server_errors.to_model_error` explains it."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body
        """Beginning of the body."""


_WHEN_SENT: ContextVar[Callable[[], None]] = ContextVar("when_sent", default=lambda: None)


@contextmanager
def when_sent(call: Callable[[], None]) -> Iterator[None]:
    """Call `call` when the text of a request in the block is being sent.

    The errors of the openai package do not distinguish an unreachable server from one that got the whole request.
    """
    token = _WHEN_SENT.set(call)
    try:
        yield
    finally:
        _WHEN_SENT.reset(token)


def new_client(base_url: str, api_key: str, settings: ModelSettings, *, socket_path: str = "") -> AsyncOpenAI:
    """Return a client for one event loop. The first call imports the openai package, which takes half a second.

    With `socket_path` it connects to that Unix socket, whatever host the URL has.

    Raises
    ------
    ModelRefusedError
        The key contains characters that no header can have.
    """
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
        """Check the response before its body is read; the client would read an error of any length."""
        encoding = str(response.headers.get("content-encoding", ""))
        if encoding.strip().lower() not in UNCOMPRESSED:
            raise BadReplyError(
                f"{where} sent a compressed reply ({printable_line(encoding)}), which was not asked for and is not "
                "read: switch that off there."
            )
        if not response.is_success:
            raise HttpStatusError(response.status_code, await _read_start(response))

    where, is_local = host_and_port(base_url), is_loopback(base_url)
    limits_type: Any = type(openai.DEFAULT_CONNECTION_LIMITS)  # of httpx or its successor, by the version of openai
    httpx: Any = sys.modules[limits_type.__module__.partition(".")[0]]
    # A new local connection is cheap; the server may close a kept one just when it is used.
    pool = limits_type(max_keepalive_connections=0) if is_local else openai.DEFAULT_CONNECTION_LIMITS
    http = openai.DefaultAsyncHttpxClient(
        trust_env=not is_local,  # requests to this machine must not go to the user's proxy
        limits=pool,
        transport=httpx.AsyncHTTPTransport(uds=socket_path, limits=pool) if socket_path else None,
        follow_redirects=False,  # the prompt is only for the server that was named
        event_hooks={"request": [restrict_request], "response": [check_response]},
    )
    limits: Any = openai.Timeout(settings.read_timeout_s, connect=settings.connect_timeout_s)
    return openai.AsyncOpenAI(
        base_url=base_url,
        api_key=key or "none",  # the package requires one; `restrict_request` sends none
        timeout=limits,
        max_retries=0,  # an invisible retry looks like a run that hangs
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
    """Handle an event of httpcore, one per stage of a request, such as ``connection.connect_tcp.started``."""
    if event.endswith(".send_request_body.started"):
        _WHEN_SENT.get()()


def import_client() -> None:
    """Import the openai package now, in the caller's thread."""
    import openai.resources.chat.completions  # noqa: F401
