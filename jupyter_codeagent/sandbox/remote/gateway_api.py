"""The requests that start and end a kernel at a Jupyter server or kernel gateway."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import time
from typing import Any
from urllib.parse import urlsplit

from tornado.httpclient import HTTPClientError, HTTPRequest, HTTPResponse
from tornado.iostream import StreamClosedError
from tornado.simple_httpclient import HTTPTimeoutError, SimpleAsyncHTTPClient
from tornado.websocket import WebSocketClientConnection, WebSocketError, websocket_connect

from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.sandbox.remote.websocket_messages import V1
from jupyter_codeagent.types.errors import SandboxUnavailableError

ANSWER_BYTES = 4 << 20
"""Limit for an answer; the list of kernelspecs is the longest."""
CONNECT_TIMEOUT_S = 20.0
SHORT_TIMEOUT_S = 20.0
END_INTERVAL_S = 0.5
PING_INTERVAL_S = 30.0
"""Proxies close an idle websocket; a vanished gateway is noticed within twice this time."""
KERNEL_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
INSTALL_HINT = (
    "Install jupyter-codeagent on the gateway's machine, and there run "
    "`python -m jupyter_codeagent.sandbox.remote.kernelspec`"
)
HTTP_ERRORS: dict[int, str] = {
    401: "refuses the token",
    403: "refuses the token, or what the token may do",
    404: "does not know this address: is it a Jupyter server or kernel gateway, and is its base path in the URL?",
    429: "is overloaded",
}


class GatewayApi:
    """A client of a gateway; lives in one event loop.

    The token is sent in a header, to this address only, and is in no error text.
    """

    def __init__(self, url: str, token: str) -> None:
        """Check address and token; raise SandboxUnavailableError for invalid ones."""
        self.url = checked_url(url)
        self._token = checked_token(token)
        # Not `AsyncHTTPClient`: an application may have configured one that uses environment and proxies.
        self._client = SimpleAsyncHTTPClient(force_instance=True, max_body_size=ANSWER_BYTES)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    async def require_kernelspec(self, name: str) -> None:
        """Raise SandboxUnavailableError where the gateway lacks the kernelspec, or does not answer."""
        answer = await self._json("GET", "/api/kernelspecs", timeout_s=SHORT_TIMEOUT_S)
        known = answer.get("kernelspecs")
        if not isinstance(known, dict):
            raise SandboxUnavailableError(
                f"{self.url} answers with no list of kernelspecs: is it a Jupyter server?"
            )
        if name not in known:
            there = one_line(", ".join(sorted(map(str, known))), 200) or "none"
            raise SandboxUnavailableError(
                f"The gateway {self.url} has no kernelspec {name!r} (it has: {there}). {INSTALL_HINT}."
            )

    async def start_kernel(self, name: str, *, timeout_s: float) -> str:
        """Start a kernel and return its id.

        Raises
        ------
        SandboxUnavailableError
        """
        answer = await self._json("POST", "/api/kernels", {"name": name}, timeout_s=timeout_s)
        kernel_id = answer.get("id")
        if not isinstance(kernel_id, str) or not KERNEL_ID.fullmatch(kernel_id):
            raise SandboxUnavailableError(f"{self.url} answers with no id of a kernel: is it a Jupyter server?")
        return kernel_id

    async def sessions(self) -> list[dict[str, Any]]:
        """Return the sessions of a Jupyter server: the notebooks that have a running kernel.

        Raises
        ------
        SandboxUnavailableError
        """
        answer = await self._parsed("GET", "/api/sessions", timeout_s=SHORT_TIMEOUT_S)
        if not isinstance(answer, list):
            raise SandboxUnavailableError(f"{self.url} answers with no list of sessions: is it a Jupyter server?")
        return [session for session in answer if isinstance(session, dict)]

    async def end_kernel(self, kernel_id: str, *, timeout_s: float) -> None:
        """End a kernel, which may have ended already.

        The request is repeated where the gateway fails: a Jupyter server does (500) while it restarts a kernel.

        Raises
        ------
        SandboxUnavailableError
            If the gateway does not confirm it.
        """
        until = time.monotonic() + timeout_s
        while True:
            left_s = max(1.0, until - time.monotonic())
            response = await self._fetch("DELETE", f"/api/kernels/{kernel_id}", None, timeout_s=left_s)
            if response.code in (200, 202, 204, 404):
                return
            if response.code < 500 or time.monotonic() >= until:
                raise SandboxUnavailableError(self._refusal(response))
            await asyncio.sleep(END_INTERVAL_S)

    async def open_websocket(
        self, kernel_id: str, session_id: str, *, max_bytes: int, timeout_s: float
    ) -> WebSocketClientConnection:
        """Open a websocket to the kernel's channels.

        Raises
        ------
        SandboxUnavailableError
        """
        scheme, rest = self.url.split(":", 1)
        address = f"{'wss' if scheme == 'https' else 'ws'}:{rest}/api/kernels/{kernel_id}/channels"
        request = HTTPRequest(
            f"{address}?session_id={session_id}",
            headers=self._headers(),
            connect_timeout=min(CONNECT_TIMEOUT_S, timeout_s),
            request_timeout=timeout_s,
        )
        connecting = asyncio.ensure_future(
            websocket_connect(
                request,
                subprotocols=[V1],
                max_message_size=max_bytes,
                ping_interval=PING_INTERVAL_S,
                ping_timeout=PING_INTERVAL_S,
            )
        )
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            connecting.add_done_callback(_close_unwanted)  # it would stay open without an owner
            raise
        except HTTPTimeoutError:
            raise SandboxUnavailableError(f"{self.url} opened no channel within {timeout_s:.3g} s.") from None
        except HTTPClientError as problem:
            if problem.response is not None:
                raise SandboxUnavailableError(self._refusal(problem.response)) from None
            raise SandboxUnavailableError(self._failure(problem)) from None
        except (OSError, StreamClosedError, WebSocketError, ValueError) as problem:
            raise SandboxUnavailableError(self._failure(problem)) from None

    async def _json(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, timeout_s: float
    ) -> dict[str, Any]:
        answer = await self._parsed(method, path, body, timeout_s=timeout_s)
        if not isinstance(answer, dict):
            raise SandboxUnavailableError(f"{self.url} answers with no JSON object: is it a Jupyter server?")
        return answer

    async def _parsed(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, timeout_s: float
    ) -> object:
        response = await self._fetch(method, path, body, timeout_s=timeout_s)
        if not 200 <= response.code < 300:
            raise SandboxUnavailableError(self._refusal(response))
        try:
            answer: object = json.loads(response.body)
        except (ValueError, RecursionError):
            raise SandboxUnavailableError(
                f"{self.url} answers with {self._content_type(response)} instead of JSON: it is not a Jupyter"
                " server, or a login page or a proxy answers in its place."
            ) from None
        return answer

    async def _fetch(
        self, method: str, path: str, body: dict[str, Any] | None, *, timeout_s: float
    ) -> HTTPResponse:
        request = HTTPRequest(
            self.url + path,
            method=method,
            headers={**self._headers(), "Content-Type": "application/json"},
            body=None if body is None else json.dumps(body),
            follow_redirects=False,
            connect_timeout=min(CONNECT_TIMEOUT_S, timeout_s),
            request_timeout=timeout_s,
        )
        try:
            return await self._client.fetch(request, raise_error=False)
        except HTTPTimeoutError:
            raise SandboxUnavailableError(
                f"{self.url} did not answer {method} {path} within {timeout_s:.3g} s."
            ) from None
        except (OSError, HTTPClientError, StreamClosedError, ValueError) as problem:
            raise SandboxUnavailableError(self._failure(problem)) from None

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"token {self._token}"} if self._token else {}

    def _failure(self, problem: BaseException) -> str:
        """Format an error of the connection; it is not chained, as the libraries' texts may hold the headers."""
        if isinstance(problem, ConnectionRefusedError):
            return f"Nothing listens at {self.url}: is the gateway running?"
        if isinstance(problem, ssl.SSLCertVerificationError):
            return (
                f"The certificate of {self.url} is not trusted ({self._redacted(problem.verify_message)}). For an"
                " authority of your own, set SSL_CERT_FILE."
            )
        return f"{self.url} cannot be reached: {self._redacted(str(problem) or type(problem).__name__)}."

    def _refusal(self, response: HTTPResponse) -> str:
        code = response.code
        if 300 <= code < 400:
            target = self._redacted(response.headers.get("Location", "nowhere"))
            return (
                f"{self.url} redirects to {target}, which is not followed: give the address where the gateway is."
            )
        if code in (401, 403) and not self._token:
            return f"{self.url} wants a token (HTTP {code}), and none is configured."
        what = HTTP_ERRORS.get(code, "failed" if code >= 500 else "refuses")
        message = self._message(response)
        return f"{self.url} {what} (HTTP {code}{f': {message}' if message else ''})."

    def _message(self, response: HTTPResponse) -> str:
        """Return the server's own error message, if it has the form of Jupyter servers."""
        try:
            answer = json.loads(response.body)
        except (ValueError, RecursionError):
            return ""
        message = answer.get("message") if isinstance(answer, dict) else None
        return self._redacted(message) if isinstance(message, str) else ""

    def _content_type(self, response: HTTPResponse) -> str:
        return self._redacted(response.headers.get("Content-Type", "").partition(";")[0]) or "something"

    def _redacted(self, text: object) -> str:
        """Return text of the server without our token, which it may repeat."""
        line = one_line(text, 2000)
        return one_line(line.replace(self._token, "***") if self._token else line, 300)


def _close_unwanted(connecting: asyncio.Future[WebSocketClientConnection]) -> None:
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


def checked_url(url: str) -> str:
    """Check an address, and return it without a slash at its end.

    Raises
    ------
    SandboxUnavailableError
    """
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise SandboxUnavailableError("The gateway's address holds a user name or password: give a token instead.")
    if parts.query or parts.fragment:
        raise SandboxUnavailableError("The gateway's address holds `?` or `#`: give the token by its own option.")
    try:
        port_is_valid = parts.port != 0
    except ValueError:
        port_is_valid = False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_valid:
        raise SandboxUnavailableError(
            f"The gateway's address {one_line(url, 100)!r} is not one such as https://gateway.example:8888."
        )
    return url.rstrip("/")


def checked_token(token: str) -> str:
    """Check a token, and return it without surrounding whitespace.

    Raises
    ------
    SandboxUnavailableError
    """
    token = token.strip()
    if not all("!" <= character <= "~" for character in token):
        raise SandboxUnavailableError(
            "The gateway's token holds characters that no HTTP header can: copy it again."
        )
    return token
