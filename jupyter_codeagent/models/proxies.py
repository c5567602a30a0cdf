"""The user's proxies, for requests without the openai package.

urllib knows neither ``ALL_PROXY`` nor SOCKS, which that package takes from the environment: both have to go the
same way.
"""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from jupyter_codeagent.models.endpoint import is_loopback

INSTALL_SOCKS = "pip install socksio"
SOCKS_PORT = 1080
REPLY_BYTES = 512
"""More than the longest reply of SOCKS 5."""


def proxy_for(url: str) -> str:
    """Return the address of the proxy for this URL, with its scheme; empty if it is reached without."""
    parts = urlsplit(url)
    if is_loopback(url) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all") or ""
    return found if "://" in found or not found else f"http://{found}"


def is_socks(proxy: str) -> bool:
    """Check whether this is the address of a SOCKS proxy."""
    return proxy.lower().startswith(("socks5://", "socks5h://"))


def connect_to_socks(proxy: str, timeout_s: float) -> socket.socket:
    """Open a connection to the proxy itself.

    Raises
    ------
    OSError
        No connection, or the package that speaks SOCKS is missing.
    """
    try:
        import socksio  # noqa: F401
    except ModuleNotFoundError as error:
        raise OSError(f"a SOCKS proxy is set, which needs: {INSTALL_SOCKS}") from error
    parts = urlsplit(proxy)
    return socket.create_connection((parts.hostname or "", parts.port or SOCKS_PORT), timeout_s)


def open_tunnel(connection: socket.socket, proxy: str, address: tuple[str, int]) -> None:
    """Have the SOCKS proxy at the other end connect to `address`. It looks the name up.

    Raises
    ------
    OSError
        It does not, or gives no answer of SOCKS 5.
    """
    from socksio import ProtocolError, socks5

    parts = urlsplit(proxy)
    named = parts.username is not None
    method = socks5.SOCKS5AuthMethod.USERNAME_PASSWORD if named else socks5.SOCKS5AuthMethod.NO_AUTH_REQUIRED
    sides = socks5.SOCKS5Connection()

    def exchange(request: Any) -> Any:
        sides.send(request)
        connection.sendall(sides.data_to_send())
        return sides.receive_data(connection.recv(REPLY_BYTES))

    try:
        if exchange(socks5.SOCKS5AuthMethodsRequest([method])).method != method:
            raise OSError("the SOCKS proxy wants another way of signing in")
        if named:
            user, password = (unquote(part or "").encode() for part in (parts.username, parts.password))
            if not exchange(socks5.SOCKS5UsernamePasswordRequest(user, password)).success:
                raise OSError("the SOCKS proxy refuses name and password")
        command = socks5.SOCKS5CommandRequest.from_address(socks5.SOCKS5Command.CONNECT, address)
        if (code := exchange(command).reply_code) != socks5.SOCKS5ReplyCode.SUCCEEDED:
            raise OSError(f"the SOCKS proxy cannot connect: {code.name.replace('_', ' ').lower()}")
    except ProtocolError as error:
        raise OSError(f"the proxy gives no answer of SOCKS 5: {error}") from error
