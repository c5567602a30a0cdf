"""Status of the available model servers. Only addresses that a person named and loopback are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jupyter_codeagent.models.admission import server_label
from jupyter_codeagent.models.discovery import embedded_problem
from jupyter_codeagent.models.embedded.catalogue import model_name
from jupyter_codeagent.models.endpoint import origin, parse_address
from jupyter_codeagent.models.servers import ask_for_models, loopback_servers, server_at
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import CodeAgentError


@dataclass(frozen=True, kw_only=True)
class ModelServerStatus:
    """The current status of one server."""

    base_url: str
    label: str
    remote: bool
    problem: str
    """Why it cannot be used; empty if it answered."""
    models: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EmbeddedStatus:
    """The status of the embedded model."""

    name: str
    problem: str
    """What to do before it can be used; empty if it is ready."""


async def model_server_statuses(
    addresses: Sequence[str], settings: ModelSettings, environ: Mapping[str, str]
) -> list[ModelServerStatus]:
    """Return the named servers, whatever their status, then those on loopback if discovery is on."""
    named = await asyncio.gather(*(_check_server(address, settings, environ) for address in addresses))
    known = {origin(server.base_url) for server in named if not server.problem}
    loopback = await loopback_servers(settings)
    answering = [
        ModelServerStatus(
            base_url=server.base_url,
            label=server_label(parse_address(server.base_url), uids),
            remote=False,
            problem="",
            models=tuple(model.name for model in models if model.chats),
        )
        for server, models, uids in loopback.found
    ]
    unconfirmed = [
        ModelServerStatus(base_url=server.base_url, label=server.where, remote=False, problem=str(error))
        for server, error in loopback.skipped
    ]
    return [*named, *(server for server in (*answering, *unconfirmed) if origin(server.base_url) not in known)]


def embedded_status(settings: ModelSettings) -> EmbeddedStatus:
    """Return the status of the embedded model. Makes no request."""
    return EmbeddedStatus(name=model_name(settings), problem=embedded_problem(settings))


async def _check_server(address: str, settings: ModelSettings, environ: Mapping[str, str]) -> ModelServerStatus:
    try:
        parsed = parse_address(address)
    except CodeAgentError as error:
        return ModelServerStatus(
            base_url=address, label=address.rpartition("@")[2], remote=True, problem=str(error)
        )
    status = ModelServerStatus(base_url=address, label=parsed.label, remote=not parsed.is_loopback, problem="")
    try:
        listed, uids = await ask_for_models(server_at(address, settings, environ), settings)
    except CodeAgentError as error:
        return replace(status, problem=str(error))
    status = replace(status, label=server_label(parsed, uids))
    if listed is None:
        return replace(status, problem="it answers, but does not list its models: name one with --model")
    return replace(status, models=tuple(model.name for model in listed if model.chats))
