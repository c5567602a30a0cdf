"""Where a model is: one frozen value, and what can be told from an address alone."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from jupyter_codeagent.errors import ModelRefusedError, UsageError

EndpointKind = Literal["server", "embedded", "registered"]


@dataclass(frozen=True, kw_only=True)
class ModelEndpoint:
    """One model, found and named, not yet opened."""

    model: str
    label: str
    """Host and port, `embedded`, or the name of an entry point: what receipts say."""
    kind: EndpointKind
    remote: bool
    """Whether prompts leave this machine."""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    supports_prefill: bool = False
    supports_grammar: bool = False
    context_tokens: int = 0
    """Prompt and reply together, as the server tells it; 0 if it does not."""


def is_loopback(base_url: str) -> bool:
    """Whether the address can only be this machine. A name other than ``localhost`` is taken for remote.

    Raises
    ------
    UsageError
        It is no address at all.
    """
    host = _split(base_url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_and_port(base_url: str) -> str:
    """``127.0.0.1:8080``; never user name or password.

    Raises
    ------
    UsageError
        It is no http address.
    """
    parts = _split(base_url)
    try:
        port = parts.port
    except ValueError as error:
        raise UsageError(f"The base URL {_shown(base_url)} has no valid port.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"The base URL {_shown(base_url)} is not an address such as http://127.0.0.1:8000/v1.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}:{port}" if port else host


def origin(base_url: str) -> tuple[str, str, int]:
    """Scheme, host and port: a key that was meant for one is for no other. Raises UsageError."""
    host_and_port(base_url)
    parts = urlsplit(base_url)
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


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


def _split(base_url: str) -> SplitResult:
    try:
        return urlsplit(base_url)
    except ValueError as error:  # as with a bracket that is not closed
        raise UsageError(
            f"The base URL {_shown(base_url)} is not an address such as http://127.0.0.1:8000/v1."
        ) from error


def _shown(base_url: str) -> str:
    """Without user name and password."""
    return repr(base_url.rpartition("@")[2])
