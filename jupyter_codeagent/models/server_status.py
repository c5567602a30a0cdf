"""What could be asked from here, with its health. Only addresses that a person named are asked, and loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jupyter_codeagent.models.admission import label
from jupyter_codeagent.models.discovery import embedded_problem
from jupyter_codeagent.models.embedded.published import model_name
from jupyter_codeagent.models.endpoint import origin, parse_address
from jupyter_codeagent.models.servers import ask_for_models, loopback_servers, server_at
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import CodeAgentError


@dataclass(frozen=True, kw_only=True)
class ServedModels:
    """One server that was asked just now."""

    base_url: str
    label: str
    remote: bool
    problem: str
    """Why it cannot be used; empty if it answered."""
    models: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EmbeddedState:
    """Of the model that runs without a server."""

    name: str
    problem: str
    """What to do before it can be used; empty if it is ready."""


async def served_models(
    addresses: Sequence[str], settings: ModelSettings, environ: Mapping[str, str]
) -> list[ServedModels]:
    """The named servers, whatever they answer; then what is on loopback, if it is to be looked for."""
    named = await asyncio.gather(*(_asked(address, settings, environ) for address in addresses))
    known = {origin(server.base_url) for server in named if not server.problem}
    around = await loopback_servers(settings)
    found = [
        ServedModels(
            base_url=server.base_url,
            label=label(parse_address(server.base_url), uids),
            remote=False,
            problem="",
            models=tuple(model.name for model in models if model.chats),
        )
        for server, models, uids in around.found
    ]
    others = [
        ServedModels(base_url=server.base_url, label=server.where, remote=False, problem=str(error))
        for server, error in around.passed_over
    ]
    return [*named, *(server for server in (*found, *others) if origin(server.base_url) not in known)]


def embedded_state(settings: ModelSettings) -> EmbeddedState:
    """Asks nobody."""
    return EmbeddedState(name=model_name(settings), problem=embedded_problem(settings))


async def _asked(address: str, settings: ModelSettings, environ: Mapping[str, str]) -> ServedModels:
    try:
        parsed = parse_address(address)
    except CodeAgentError as error:
        return ServedModels(base_url=address, label=address.rpartition("@")[2], remote=True, problem=str(error))
    unusable = ServedModels(base_url=address, label=parsed.label, remote=not parsed.is_loopback, problem="")
    try:
        listed, uids = await ask_for_models(server_at(address, settings, environ), settings)
    except CodeAgentError as error:
        return replace(unusable, problem=str(error))
    unusable = replace(unusable, label=label(parsed, uids))
    if listed is None:
        return replace(unusable, problem="it answers, but does not list its models: name one with --model")
    return replace(unusable, models=tuple(model.name for model in listed if model.chats))
