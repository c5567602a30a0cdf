"""Where a model is: one frozen value, and what can be told from an address alone."""

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
    """One model, found and named, not yet opened."""

    model: str
    label: str
    """Host and port, `embedded`, or the name of an entry point: what receipts say. Of a server on this machine that
    is not this user's also whose it is."""
    kind: EndpointKind
    remote: bool
    """Whether prompts leave this machine."""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    supports_prefill: bool = False
    supports_grammar: bool = False
    context_tokens: int = 0
    """Prompt and reply together, as the server tells it; 0 if it does not."""
    owners: Owners = None
    """Of a server on this machine: whose it was when it was found."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """A base URL, taken apart once: what is shown, compared and connected to is the same."""

    scheme: str
    host: str
    """ASCII, in lower case: ``xn--…`` for a name in other letters, which may look like one that it is not."""
    port: int
    path: str
    """Without a slash at the end."""

    @property
    def label(self) -> str:
        """``127.0.0.1:8080``, without the port that goes without saying."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == USUAL_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port: what was meant for one is for no other."""
        return f"{self.scheme}://{self.label}"

    @property
    def url(self) -> str:
        return f"{self.origin}{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Whether it can only be this machine. A name other than ``localhost`` is taken for remote."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_address(base_url: str) -> Address:
    """The base URL of a server.

    Raises
    ------
    UsageError
        It is no http address, or one that two programs could read differently.
    """
    text = base_url.strip()
    wrong = f"The base URL {_displayed(text)} is not an address such as http://127.0.0.1:8000/v1."
    if len(text) > MAX_URL_CHARS or not text.isprintable() or set(text) & set("\\ ?#"):
        raise UsageError(wrong)
    try:
        parts = urlsplit(text)
        host = _ascii_host(parts.hostname or "")
    except ValueError as error:  # as with a bracket that is not closed
        raise UsageError(wrong) from error
    if parts.scheme not in USUAL_PORTS:
        raise UsageError(wrong)
    if parts.username is not None:
        raise UsageError(
            f"The base URL {_displayed(text)} holds a user name, which is not sent:"
            " give a key in CODEAGENT_API_KEY."
        )
    try:
        port = USUAL_PORTS[parts.scheme] if parts.port is None else parts.port
    except ValueError as error:
        raise UsageError(f"The base URL {_displayed(text)} has no valid port.") from error
    return Address(
        scheme=parts.scheme, host=host, port=port, path=quote(parts.path, safe="/%:@!$&'()*+,;=~").rstrip("/")
    )


def _ascii_host(host: str) -> str:
    """Raises ValueError for what is no host."""
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
    """See `Address.is_loopback`. Raises UsageError."""
    return parse_address(base_url).is_loopback


def host_and_port(base_url: str) -> str:
    """``127.0.0.1:8080``. Raises UsageError."""
    return parse_address(base_url).label


def origin(base_url: str) -> str:
    """``https://api.example.org``. Raises UsageError."""
    return parse_address(base_url).origin


def origins(addresses: Iterable[str]) -> list[str]:
    """Of those that are addresses, in their order."""
    found = []
    for address in addresses:
        with suppress(UsageError):
            found.append(origin(address))
    return found


def sendable_key(api_key: str) -> str:
    """The key without the blanks and line ends that come along with a copy.

    Raises
    ------
    ModelRefusedError
        It holds something that no HTTP header can; the libraries would tell so with the key in their message.
    """
    key = api_key.strip()
    if not all("!" <= letter <= "~" for letter in key):
        raise ModelRefusedError(
            "The API key holds a blank, a line end or a letter outside ASCII and cannot be sent: check "
            "CODEAGENT_API_KEY."
        )
    return key


def _displayed(base_url: str) -> str:
    """Without user name and password, and not longer than a line."""
    return repr(base_url.rpartition("@")[2][:200])
