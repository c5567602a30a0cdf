"""The endpoint of a model, and the parsing of addresses."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, urlsplit

from jupyter_codeagent.models.owners import Owners
from jupyter_codeagent.types.errors import ModelRefusedError, UsageError

USUAL_PORTS = {"http": 80, "https": 443}
MAX_URL_CHARS = 2000
HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_.])?")

EndpointKind = Literal["server", "embedded", "registered"]


@dataclass(frozen=True, kw_only=True)
class ModelEndpoint:
    """One model that was found but not opened."""

    model: str
    label: str
    """Label for receipts: host and port, `embedded`, or the name of an entry point. It includes the owner of a
    local server of another user."""
    kind: EndpointKind
    remote: bool
    """Whether prompts leave this machine."""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    supports_prefill: bool = False
    supports_grammar: bool = False
    context_tokens: int = 0
    """Context window (prompt and reply together) that the server reports; 0 if it does not."""
    owners: Owners = None
    """Owners of a local server when it was found."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """A base URL, parsed once, so that the same address is displayed, compared and connected to."""

    scheme: str
    host: str
    """Host in ASCII and lower case: ``xn--…`` for a name in other letters, which may look like a different name."""
    port: int
    path: str
    """Path without a slash at the end."""

    @property
    def label(self) -> str:
        """``127.0.0.1:8080``, without the default port of the scheme."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == USUAL_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port; keys and grants are bound to it."""
        return f"{self.scheme}://{self.label}"

    @property
    def url(self) -> str:
        return f"{self.origin}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Whether it can only be this machine. Any name other than ``localhost`` counts as remote."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_address(base_url: str) -> Address:
    """Parse the base URL of a server.

    Raises
    ------
    UsageError
        It is not an http address, or programs could parse it differently.
    """
    text = base_url.strip()
    wrong = f"The base URL {_displayed(text)} is not an address such as http://127.0.0.1:8000/v1."
    if len(text) > MAX_URL_CHARS or not text.isprintable() or set(text) & set("\\ ?#"):
        raise UsageError(wrong)
    try:
        parts = urlsplit(text)
        host = _ascii_host(parts.hostname or "")
    except ValueError as error:  # such as an unclosed bracket
        raise UsageError(wrong) from error
    if parts.scheme not in USUAL_PORTS:
        raise UsageError(wrong)
    if parts.username is not None:
        raise UsageError(
            f"The base URL {_displayed(text)} contains a user name, which is not sent: set a key in "
            "CODEAGENT_API_KEY."
        )
    try:
        port = USUAL_PORTS[parts.scheme] if parts.port is None else parts.port
    except ValueError as error:
        raise UsageError(f"The base URL {_displayed(text)} has no valid port.") from error
    return Address(
        scheme=parts.scheme, host=host, port=port, path=quote(parts.path, safe="/%:@!$&'()*+,;=~").rstrip("/")
    )


def _ascii_host(host: str) -> str:
    """Return the host in ASCII; raise ValueError if it is not valid."""
    if ":" in host:
        address = ipaddress.IPv6Address(host)
        if address.scope_id is not None:
            raise ValueError("a scope")
        return str(address)
    name = host.encode("idna").decode("ascii").lower()
    if not HOST.fullmatch(name):
        raise ValueError("no host")
    return name


def is_loopback(base_url: str) -> bool:
    """Return `Address.is_loopback` of a base URL. Raises UsageError."""
    return parse_address(base_url).is_loopback


def host_and_port(base_url: str) -> str:
    """Return host and port of a base URL: ``127.0.0.1:8080``. Raises UsageError."""
    return parse_address(base_url).label


def origin(base_url: str) -> str:
    """Return the origin of a base URL: ``https://api.example.org``. Raises UsageError."""
    return parse_address(base_url).origin


def origins(addresses: Iterable[str]) -> list[str]:
    """Return the origins of the valid addresses, in their order."""
    found = []
    for address in addresses:
        with suppress(UsageError):
            found.append(origin(address))
    return found


def sendable_key(api_key: str) -> str:
    """Return the key without blanks and line ends around it, which copying often adds.

    Raises
    ------
    ModelRefusedError
        It contains characters that no HTTP header can have; the error of a library would contain the key.
    """
    key = api_key.strip()
    if not all("!" <= letter <= "~" for letter in key):
        raise ModelRefusedError(
            "The API key contains a blank, a line end or a letter outside ASCII and cannot be sent: check "
            "CODEAGENT_API_KEY."
        )
    return key


def _displayed(base_url: str) -> str:
    """Return the URL for a message: without user name and password, and not longer than a line."""
    return repr(base_url.rpartition("@")[2][:200])
