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
"""The list of kernelspecs is the longest."""
CONNECT_TIMEOUT_S = 20.0
SHORT_TIMEOUT_S = 20.0
END_INTERVAL_S = 0.5
PING_INTERVAL_S = 30.0
"""Proxies close a websocket on which nothing happens; a gateway that vanished is noticed within twice this."""
KERNEL_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
INSTALL_HINT = (
    "Install jupyter-codeagent on the gateway's machine, and there run "
    "`python -m jupyter_codeagent.sandbox.remote.kernelspec`"
)
REFUSALS: dict[int, str] = {
    401: "refuses the token",
    403: "refuses the token, or what the token may do",
    404: "knows no such address: is it a Jupyter server or kernel gateway, and is its base path in the URL?",
    429: "has too much to do",
}


class GatewayApi:
    """Lives in one event loop. The token is sent in a header and to this address only, and is in no error text."""

    def __init__(self, url: str, token: str) -> None:
        """Raises SandboxUnavailableError for an address that cannot be one."""
        self.url = checked_url(url)
        self._token = checked_token(token)
        # Not `AsyncHTTPClient`: an application may have configured one that follows environment and proxies.
        self._client = SimpleAsyncHTTPClient(force_instance=True, max_body_size=ANSWER_BYTES)

    def close(self) -> None:
        self._client.close()

    async def require_kernelspec(self, name: str) -> None:
        """Raises SandboxUnavailableError where the gateway does not have it, or cannot be asked."""
        told = await self._json("GET", "/api/kernelspecs", timeout_s=SHORT_TIMEOUT_S)
        known = told.get("kernelspecs")
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
        """The new kernel's id. Raises SandboxUnavailableError."""
        told = await self._json("POST", "/api/kernels", {"name": name}, timeout_s=timeout_s)
        kernel_id = told.get("id")
        if not isinstance(kernel_id, str) or not KERNEL_ID.fullmatch(kernel_id):
            raise SandboxUnavailableError(f"{self.url} answers with no id of a kernel: is it a Jupyter server?")
        return kernel_id

    async def end_kernel(self, kernel_id: str, *, timeout_s: float) -> None:
        """Also where it has ended already. Raises SandboxUnavailableError if the gateway does not confirm it.

        Asked again where the gateway fails: a Jupyter server does (500) while it restarts a kernel that died.
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
        """To the kernel's channels. Raises SandboxUnavailableError."""
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
        response = await self._fetch(method, path, body, timeout_s=timeout_s)
        if not 200 <= response.code < 300:
            raise SandboxUnavailableError(self._refusal(response))
        try:
            told = json.loads(response.body)
        except (ValueError, RecursionError):
            raise SandboxUnavailableError(
                f"{self.url} answers with {self._kind(response)} instead of JSON: it is no Jupyter server, or a"
                " login page or a proxy stands before it."
            ) from None
        if not isinstance(told, dict):
            raise SandboxUnavailableError(f"{self.url} answers with no JSON object: is it a Jupyter server?")
        return told

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
        """`problem` is not chained: what the libraries say may hold the headers."""
        if isinstance(problem, ConnectionRefusedError):
            return f"Nothing listens at {self.url}: is the gateway running?"
        if isinstance(problem, ssl.SSLCertVerificationError):
            return (
                f"The certificate of {self.url} is not trusted ({self._said(problem.verify_message)}). For an"
                " authority of your own, set SSL_CERT_FILE."
            )
        return f"{self.url} cannot be reached: {self._said(str(problem) or type(problem).__name__)}."

    def _refusal(self, response: HTTPResponse) -> str:
        code = response.code
        if 300 <= code < 400:
            target = self._said(response.headers.get("Location", "nowhere"))
            return (
                f"{self.url} redirects to {target}, which is not followed: give the address where the gateway is."
            )
        if code in (401, 403) and not self._token:
            return f"{self.url} wants a token (HTTP {code}), and none is configured."
        what = REFUSALS.get(code, "failed" if code >= 500 else "refuses")
        said = self._message(response)
        return f"{self.url} {what} (HTTP {code}{f': {said}' if said else ''})."

    def _message(self, response: HTTPResponse) -> str:
        """What the server says of its own error, if it does so as Jupyter servers do."""
        try:
            told = json.loads(response.body)
        except (ValueError, RecursionError):
            return ""
        message = told.get("message") if isinstance(told, dict) else None
        return self._said(message) if isinstance(message, str) else ""

    def _kind(self, response: HTTPResponse) -> str:
        return self._said(response.headers.get("Content-Type", "").partition(";")[0]) or "something"

    def _said(self, text: object) -> str:
        """Of the other side, which may give our token back to us."""
        line = one_line(text, 2000)
        return one_line(line.replace(self._token, "***") if self._token else line, 300)


def _close_unwanted(connecting: asyncio.Future[WebSocketClientConnection]) -> None:
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


def checked_url(url: str) -> str:
    """Without a slash at its end. Raises SandboxUnavailableError."""
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
    """Without the blanks that come along with a copy. Raises SandboxUnavailableError."""
    token = token.strip()
    if not all("!" <= character <= "~" for character in token):
        raise SandboxUnavailableError(
            "The gateway's token holds characters that no HTTP header can: copy it again."
        )
    return token
