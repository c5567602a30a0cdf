"""What could be asked from here, with its health. Only addresses that a person named are asked, and loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from jupyter_codeagent.errors import CodeAgentError, UsageError
from jupyter_codeagent.models.discovery import chosen_server, embedded_problem, loopback_servers
from jupyter_codeagent.models.endpoint import host_and_port, is_loopback, origin
from jupyter_codeagent.models.listing import list_served
from jupyter_codeagent.models.published import model_name
from jupyter_codeagent.settings import ModelSettings


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
    """The named servers, whatever they answer; then what answers on loopback, if it is to be looked for."""
    named = await asyncio.gather(*(_asked(address, settings, environ) for address in addresses))
    known = {origin(server.base_url) for server in named if not server.problem}
    found = [
        ServedModels(
            base_url=address.base_url,
            label=host_and_port(address.base_url),
            remote=False,
            problem="",
            models=tuple(model.name for model in models if model.chats),
        )
        for address, models in await loopback_servers(settings)
    ]
    return [*named, *(server for server in found if origin(server.base_url) not in known)]


def embedded_state(settings: ModelSettings) -> EmbeddedState:
    """Asks nobody."""
    return EmbeddedState(name=model_name(settings), problem=embedded_problem(settings))


def _with_its_keys(
    address: str, settings: ModelSettings, environ: Mapping[str, str]
) -> tuple[ModelSettings, Mapping[str, str]]:
    """For this server; a key that names no server is for the one in force only."""
    in_force = settings.base_url or environ.get("CODEAGENT_BASE_URL", "") or environ.get("OPENAI_BASE_URL", "")
    asked = replace(settings, base_url=address)
    with suppress(UsageError):  # one in force that is no address gets no key, and is no fault of this server
        if in_force and origin(in_force.strip()) == origin(address):
            return asked, environ
    bound = {name: value for name, value in environ.items() if name != "CODEAGENT_API_KEY"}
    return replace(asked, api_key=""), environ if environ.get("CODEAGENT_BASE_URL") else bound


async def _asked(address: str, settings: ModelSettings, environ: Mapping[str, str]) -> ServedModels:
    try:
        label, remote = host_and_port(address), not is_loopback(address)
    except CodeAgentError as error:
        return ServedModels(base_url=address, label=address.rpartition("@")[2], remote=True, problem=str(error))
    unusable = ServedModels(base_url=address, label=label, remote=remote, problem="")
    try:
        server = chosen_server(*_with_its_keys(address, settings, environ))
        assert server is not None, "an address was given"
        listed = await asyncio.to_thread(
            list_served, server.base_url, server.api_key, timeout_s=settings.connect_timeout_s
        )
    except CodeAgentError as error:
        return replace(unusable, problem=str(error))
    if listed is None:
        return replace(unusable, problem="it answers, but does not list its models: name one with --model")
    return replace(unusable, models=tuple(model.name for model in listed if model.chats))
