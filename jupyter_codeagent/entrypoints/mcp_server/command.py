"""Serve MCP on the standard streams, or over HTTP on loopback with a token."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
import secrets
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_core.paths import jupyter_runtime_dir, secure_write

from jupyter_codeagent.entrypoints.kernel_clients.running_kernels import WantedKernel
from jupyter_codeagent.entrypoints.mcp_server.server import KernelClients, new_server
from jupyter_codeagent.types.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
MCP_TOKEN = "CODEAGENT_MCP_TOKEN"  # noqa: S105  (the name of the variable, not a token)
MIN_TOKEN_CHARS = 16
PATH = "/mcp"


async def serve_stdio(wanted: WantedKernel) -> None:
    """Serve one client on the standard streams until it closes them."""
    from mcp.server.stdio import stdio_server

    clients = KernelClients(wanted)
    server = new_server(clients.call)
    try:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
    finally:
        await clients.close()


async def serve_http(wanted: WantedKernel, port: int, token: str, report: Any) -> None:
    """Serve clients that have the token, on loopback; port 0 means any. `report` gets a line for the user."""
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    with socket.create_server((HOST, port)) as listening:
        port = listening.getsockname()[1]
        hosts = [f"{HOST}:{port}", f"localhost:{port}"]
        security = TransportSecuritySettings(
            allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
        )
        clients = KernelClients(wanted)
        app = new_server(clients.call).streamable_http_app(streamable_http_path=PATH, transport_security=security)
        url = f"http://{HOST}:{port}{PATH}"
        config = uvicorn.Config(BearerToken(app, token), log_level="warning", access_log=False)
        try:
            with _announced(url, token) as file:
                report(f"MCP server at {url}; the token for the Authorization header: {file}")
                await uvicorn.Server(config).serve(sockets=[listening])
        finally:
            await clients.close()


class BearerToken:
    """Lets a request pass that has the token in its Authorization header."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if scope["type"] == "http" and len(given) == 1 and hmac.compare_digest(given[0], self._wanted):
            await self._app(scope, receive, send)
            return
        if scope["type"] == "http":
            refusal = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
            await send({"type": "http.response.start", "status": 401, "headers": refusal})
            await send({"type": "http.response.body", "body": b"The Authorization header has no valid token."})


def token_for_clients() -> str:
    """Return the token of the environment, or a new one.

    Raises
    ------
    UsageError
        That of the environment can be guessed, or does not fit into a header.
    """
    token = os.environ.get(MCP_TOKEN, "")
    if not token:
        return secrets.token_urlsafe(32)
    if len(token) < MIN_TOKEN_CHARS or not all("!" <= character <= "~" for character in token):
        raise UsageError(
            f"{MCP_TOKEN} has {len(token)} characters: give {MIN_TOKEN_CHARS} or more, without blanks and"
            " accents, or leave it unset for a new token."
        )
    return token


@contextmanager
def _announced(url: str, token: str) -> Iterator[Path]:
    """Write address and token into a file that only this user can read, as Jupyter servers do."""
    file = Path(jupyter_runtime_dir()) / f"codeagent-mcp-{os.getpid()}.json"
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with secure_write(str(file)) as out:
        json.dump({"url": url, "token": token}, out)
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


def serve(wanted: WantedKernel, port: int | None, report: Any) -> None:
    """Serve until the client, or Ctrl+C, ends it; over HTTP if a port is given."""
    logging.getLogger("mcp").setLevel(logging.ERROR)  # its warnings quote headers of whoever knocks
    if port is None:
        asyncio.run(serve_stdio(wanted))
    else:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:  # not under nohup
                signal.signal(number, _end)
        asyncio.run(serve_http(wanted, port, token_for_clients(), report))


def _end(number: int, _frame: object) -> None:
    """End by an exception, as Ctrl+C does: a signal's default leaves the file with the token behind."""
    raise SystemExit(128 + number)
