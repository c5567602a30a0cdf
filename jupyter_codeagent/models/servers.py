"""Model servers: the configured one, with its key, and those on the usual ports of this machine.

Each server is admitted before anything is sent to it (`admission`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from jupyter_codeagent.models.admission import admit
from jupyter_codeagent.models.endpoint import parse_address
from jupyter_codeagent.models.keys import key_for
from jupyter_codeagent.models.listing import fetch_model_list
from jupyter_codeagent.models.owners import NOBODY, Owners
from jupyter_codeagent.models.parsing import ListedModel
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import ModelError, UnconfirmedServerError

LOOPBACK_PORTS = {11434: "Ollama", 1234: "LM Studio", 8000: "vLLM", 8080: "llama.cpp"}
PROBE_TIMEOUT_S = 0.25
"""Enough on loopback; a port that accepts connections and never answers must not delay a run."""
PROBES_TIMEOUT_S = 0.29
"""Time limit for all probes together."""


@dataclass(frozen=True, kw_only=True)
class ServerAddress:
    """A server with the key that was set for it."""

    base_url: str
    api_key: str = field(default="", repr=False)

    @property
    def where(self) -> str:
        """Host and port."""
        return parse_address(self.base_url).label


FoundServer = tuple[ServerAddress, tuple[ListedModel, ...], Owners]


@dataclass(frozen=True, kw_only=True)
class LoopbackScan:
    """The servers on the usual ports of this machine, in the order of the ports."""

    found: tuple[FoundServer, ...] = ()
    skipped: tuple[tuple[ServerAddress, UnconfirmedServerError], ...] = ()
    """Servers of other users, to which nothing was sent."""


def configured_server(settings: ModelSettings, environ: Mapping[str, str]) -> ServerAddress | None:
    """Return the server that the user named, with its key; None if none is named."""
    named = settings.base_url or environ.get("CODEAGENT_BASE_URL", "") or environ.get("OPENAI_BASE_URL", "")
    return server_at(named, settings, environ) if named.strip() else None


def server_at(base_url: str, settings: ModelSettings, environ: Mapping[str, str]) -> ServerAddress:
    """Return the server at an address, with its key.

    Raises
    ------
    UsageError
        The address is not valid.
    ModelRefusedError
        The key cannot be sent.
    """
    url = parse_address(base_url).url
    return ServerAddress(base_url=url, api_key=key_for(url, settings, environ))


async def ask_for_models(
    server: ServerAddress, settings: ModelSettings
) -> tuple[tuple[ListedModel, ...] | None, Owners]:
    """Return the models that a server lists, and its owners.

    Raises
    ------
    ModelError
        `UnconfirmedServerError` means that nothing was sent.
    """
    uids = await asyncio.to_thread(admit, server.base_url, settings)
    limit_s = settings.connect_timeout_s
    return await asyncio.to_thread(fetch_model_list, server.base_url, server.api_key, timeout_s=limit_s), uids


async def loopback_servers(settings: ModelSettings) -> LoopbackScan:
    """Return the servers of this user and the system on the usual ports, and those of others without a request."""
    servers = loopback_candidates(settings)
    if not servers:
        return LoopbackScan()
    probes = [asyncio.ensure_future(asyncio.to_thread(_probe, server, settings)) for server in servers]
    await asyncio.wait(probes, timeout=PROBES_TIMEOUT_S)
    answers = [(server, probe.result()) for server, probe in zip(servers, probes, strict=True) if probe.done()]
    return LoopbackScan(
        found=tuple(answer for _, answer in answers if isinstance(answer, tuple)),
        skipped=tuple((server, answer) for server, answer in answers if isinstance(answer, UnconfirmedServerError)),
    )


def loopback_candidates(settings: ModelSettings) -> list[ServerAddress]:
    """Return the addresses of the usual ports; none if discovery is off."""
    ports = LOOPBACK_PORTS if settings.discover else {}
    return [ServerAddress(base_url=f"http://127.0.0.1:{port}/v1") for port in ports]


def _probe(server: ServerAddress, settings: ModelSettings) -> FoundServer | UnconfirmedServerError | None:
    try:
        uids = admit(server.base_url, settings)
        models = fetch_model_list(server.base_url, "", timeout_s=PROBE_TIMEOUT_S) if uids != NOBODY else None
    except UnconfirmedServerError as error:
        return error
    except ModelError:
        return None  # no model server there
    return (server, models, uids) if models else None
