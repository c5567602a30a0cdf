"""A small HTTP request to a model server without the openai package, whose import takes half a second.

Its size and time are limited, whatever the server does. Redirects are not followed. Requests to this machine do not
use the user's proxy, requests to others do (`proxies`). The embedded server listens on a Unix socket, whose path
takes the place of host and port.
"""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from jupyter_codeagent.models.endpoint import sendable_key
from jupyter_codeagent.models.proxies import connect_to_socks, is_socks, open_tunnel, proxy_for

MAX_BYTES = 4 << 20
READ_BYTES = 1 << 16
UNCOMPRESSED = ("", "identity")
"""Content encodings without compression: a compressed body may expand to a thousand times its size."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """The response to a request."""

    status: int
    body: bytes = b""
    """Empty if the body was too long, compressed, or that of an error."""


class NotConnectedError(OSError):
    """There was no connection, so nothing of the request was sent."""


def http_request(
    url: str, *, api_key: str = "", json_body: bytes | None = None, timeout_s: float, socket_path: str = ""
) -> Response:
    """Send a GET request, or POST if there is a body. Blocks `timeout_s` at most, after the DNS lookup.

    With `socket_path` the connection goes there, whatever host the URL has.

    Raises
    ------
    NotConnectedError
        Nothing was sent.
    OSError, ValueError, http.client.HTTPException
        No response, or none in time.
    ModelRefusedError
        The key contains characters that no header can have.
    """
    request = urllib.request.Request(url, data=json_body)  # noqa: S310  (the address was parsed: http alone)
    if json_body is not None:
        request.add_header("Content-Type", "application/json")
    if key := sendable_key(api_key):
        request.add_header("Authorization", f"Bearer {key}")
    proxy = "" if socket_path else proxy_for(url)
    with _Deadline(timeout_s, socket_path, proxy if is_socks(proxy) else "") as deadline:
        try:
            with _opener("" if is_socks(proxy) else proxy, deadline).open(request, timeout=timeout_s) as answer:
                return Response(status=answer.status, body=_read(answer))
        except urllib.error.HTTPError as error:
            error.close()
            return Response(status=error.code)
        except OSError as error:
            if not deadline.has_connected:
                reason = getattr(error, "reason", error)  # urllib packs it
                raise NotConnectedError(*(reason.args if isinstance(reason, OSError) else [str(reason)])) from error
            raise
        finally:
            deadline.check()


def _read(answer: Any) -> bytes:
    if str(answer.headers.get("Content-Encoding", "")).strip().lower() not in UNCOMPRESSED:
        return b""
    body = b""
    while piece := answer.read1(READ_BYTES):
        body += piece
        if len(body) > MAX_BYTES:
            return b""
    return body


def _opener(proxy: str, deadline: _Deadline) -> urllib.request.OpenerDirector:
    proxies = urllib.request.ProxyHandler({"http": proxy, "https": proxy} if proxy else {})
    return urllib.request.build_opener(proxies, _NoRedirect(), _Http(deadline), _Https(deadline))


class _Deadline:
    """A time limit for the whole connection: the timeout of a socket restarts with each byte received."""

    def __init__(self, limit_s: float, socket_path: str, socks_proxy: str) -> None:
        self._limit_s = limit_s
        self._socket_path = socket_path
        self._socks_proxy = socks_proxy
        self._timer = threading.Timer(limit_s, self._end)
        self._timer.daemon = True
        self._is_over = False
        self._sockets: list[socket.socket] = []
        self.has_connected = False
        """Whether bytes for the server could be sent."""

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._timer.cancel()
        for twin in self._sockets:
            twin.close()

    def connect(self, address: tuple[str, int], *arguments: Any, **options: Any) -> socket.socket:
        """Open a connection, as `socket.create_connection`; or to the Unix socket, or through the SOCKS proxy."""
        if self._socket_path:
            connection = _connect_unix(self._socket_path, self._limit_s)
        elif self._socks_proxy:
            connection = connect_to_socks(self._socks_proxy, self._limit_s)
        else:
            connection = socket.create_connection(address, *arguments, **options)
        self._sockets.append(connection.dup())  # TLS detaches the socket itself
        if self._is_over:
            self._end()
        if self._socks_proxy:
            try:
                open_tunnel(connection, self._socks_proxy, address)
            except OSError:
                connection.close()
                raise
        self.has_connected = True
        return connection

    def check(self) -> None:
        """Raise TimeoutError if the time is over, whatever error the closed connection caused."""
        if self._is_over:
            raise TimeoutError(f"no whole answer within {self._limit_s:g} s, the limit")

    def _end(self) -> None:
        self._is_over = True
        for twin in self._sockets:
            with suppress(OSError):  # the server has closed it already
                twin.shutdown(socket.SHUT_RDWR)

    def connection(self, kind: type[http.client.HTTPConnection]) -> Callable[..., http.client.HTTPConnection]:
        """Return a factory of connections for urllib, which calls it with a host and options."""

        def make(host: str, **options: Any) -> http.client.HTTPConnection:
            connection = kind(host, **options)
            setattr(connection, "_create_connection", self.connect)  # noqa: B010  (http.client's own hook, untyped)
            return connection

        return make


class _UnixSocket(socket.socket):
    """A Unix socket that ignores the options of TCP, which `http.client` sets on every connection."""

    def setsockopt(self, *arguments: Any) -> None:
        if arguments[0] != socket.IPPROTO_TCP:
            super().setsockopt(*arguments)


def _connect_unix(path: str, timeout_s: float) -> socket.socket:
    connection = _UnixSocket(socket.AF_UNIX)
    connection.settimeout(timeout_s)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


class _Http(urllib.request.HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._deadline.connection(http.client.HTTPConnection), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._deadline.connection(http.client.HTTPSConnection), req)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A handler that refuses redirects, which would send the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None
