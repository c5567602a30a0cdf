"""Discovery of the model: option, configuration, environment, loopback, embedded; no remote one by default.

Each server is admitted before anything is sent to it (`admission`), and gets only its own key (`keys`); a server
that was found on loopback gets none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from jupyter_codeagent.models.admission import admit, admit_registered, check_owners, owners_at, server_label
from jupyter_codeagent.models.embedded.catalogue import (
    DEFAULT_MODEL,
    INSTALL_LOCAL,
    catalogue,
    fetch_command,
    model_name,
    published_weights,
    uses_own_file,
)
from jupyter_codeagent.models.embedded.launcher import embedded_installed
from jupyter_codeagent.models.embedded.weights import weights_ready
from jupyter_codeagent.models.endpoint import ModelEndpoint, origin, parse_address
from jupyter_codeagent.models.listing import format_available
from jupyter_codeagent.models.owners import NOBODY, Owners, are_trusted
from jupyter_codeagent.models.parsing import (
    MAX_DISPLAY_CHARS,
    ListedModel,
    is_displayable_name,
    printable_line,
    shorten,
)
from jupyter_codeagent.models.protocol import Model
from jupyter_codeagent.models.servers import (
    FoundServer,
    LoopbackScan,
    ServerAddress,
    ask_for_models,
    configured_server,
    loopback_candidates,
    loopback_servers,
)
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.embedded import EMBEDDED, EMBEDDED_PREFIX, is_embedded
from jupyter_codeagent.types.errors import (
    ModelError,
    ModelNotFoundError,
    ModelOverloadedError,
    NoModelError,
    UsageError,
    WeightsError,
)

GROUP = "jupyter_codeagent.models"
UNNAMED_MODEL = "the first model it lists"
"""Name in a dry run where no model is named and no server may be asked."""
WAYS_TO_A_MODEL = (
    f"Install the embedded model ({INSTALL_LOCAL}), start Ollama, LM Studio, vLLM or llama.cpp, or give a server"
    " with --base-url."
)


@dataclass(frozen=True, kw_only=True)
class FoundModel:
    """A line of `%agent models`."""

    name: str
    label: str
    """Host and port, or `embedded`, with the environment variables that selected it."""
    ready: bool = True
    problem: str = ""
    """What to do before it can be used; empty if it is ready."""


async def resolve_model(settings: ModelSettings, environ: Mapping[str, str]) -> ModelEndpoint:
    """Return the model for these settings.

    Raises
    ------
    NoModelError, ModelNotFoundError, ModelUnreachableError, ModelRefusedError, WeightsError, UsageError
    UnconfirmedServerError
        Its server was named and needs a confirmation.
    """
    name = _wanted_name(settings, environ)
    server = _from_settings(settings, environ, name)
    if isinstance(server, ModelEndpoint):
        if server.kind == "registered":
            admit_registered(server.model, server.label, settings)
        return server
    if server is not None:
        return await _endpoint_on_server(server, name, settings)
    loopback = await loopback_servers(settings)
    for address, models, uids in loopback.found:
        usable = [model for model in models if model.name == name or (not name and model.chats)]
        if usable:
            return _endpoint(address, usable[0], uids)
    return _fallback(settings, environ, name, loopback)


def predict_model(settings: ModelSettings, environ: Mapping[str, str]) -> ModelEndpoint:
    """Return the model that `resolve_model` would probably find, without any request, for a dry run.

    Raises
    ------
    NoModelError, ModelNotFoundError, ModelRefusedError, WeightsError, UsageError
    """
    name = _wanted_name(settings, environ)
    server = _from_settings(settings, environ, name)
    if isinstance(server, ModelEndpoint):
        return server
    looked_at = [server] if server is not None else loopback_candidates(settings)
    for one in looked_at:
        uids = owners_at(one.base_url)
        if server is not None or (uids != NOBODY and are_trusted(uids)):
            return _endpoint(one, ListedModel(name=name or UNNAMED_MODEL), uids)
    return _fallback(settings, environ, name, LoopbackScan())


def _wanted_name(settings: ModelSettings, environ: Mapping[str, str]) -> str:
    name = settings.model or environ.get("CODEAGENT_MODEL", "")
    if name and not is_displayable_name(name):
        raise UsageError(f"{name[:60]!r} cannot be the name of a model.")
    return name


def _from_settings(
    settings: ModelSettings, environ: Mapping[str, str], name: str
) -> ModelEndpoint | ServerAddress | None:
    """Return the model or server that the settings alone determine; None if one has to be searched for."""
    # An administrator fixes the server by its address: a package of the user must not bypass it.
    if name and not settings.base_url and (registered := _registered(name)) is not None:
        return ModelEndpoint(model=name, label=registered.value, kind="registered", remote=True)
    if is_embedded(name) and not settings.base_url:
        return _embedded(replace(settings, model=name))
    server = configured_server(settings, environ)
    return _embedded(settings) if server is None and name == model_name(settings) else server


def _fallback(
    settings: ModelSettings, environ: Mapping[str, str], name: str, loopback: LoopbackScan
) -> ModelEndpoint:
    """Return the embedded model, because no server has the wanted one.

    Raises
    ------
    ModelNotFoundError, NoModelError, WeightsError, UsageError
    """
    if name in catalogue():
        return _embedded(replace(settings, model=f"{EMBEDDED_PREFIX}{name}"))
    skipped = "".join(f" {error}" for _, error in loopback.skipped)
    if name:
        raise ModelNotFoundError(f"{_not_found_message(name, loopback.found, settings)}{skipped}")
    if embedded_installed():
        return _embedded(settings)
    lone_key = " OPENAI_API_KEY alone is not used: set OPENAI_BASE_URL too." if "OPENAI_API_KEY" in environ else ""
    raise NoModelError(
        f"No model is configured and no server was found on this machine. {WAYS_TO_A_MODEL}{lone_key}{skipped}"
    )


async def open_model(endpoint: ModelEndpoint, settings: ModelSettings) -> Model:
    """Open the model of an endpoint; starting the embedded one takes seconds the first time.

    Raises
    ------
    ModelError
    """
    from jupyter_codeagent.models.client import import_client
    from jupyter_codeagent.models.embedded.model import EmbeddedModel
    from jupyter_codeagent.models.openai_model import OpenAIModel

    if endpoint.kind == "registered":
        return _open_registered(endpoint, settings)
    await asyncio.to_thread(import_client)  # would block the event loop, and any cancellation, for half a second
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
        check=partial(check_owners, endpoint),
    )


async def list_models(settings: ModelSettings, environ: Mapping[str, str]) -> list[FoundModel]:
    """Return all available models: the configured server's first, then loopback, then the embedded one."""
    lines: list[FoundModel] = []
    server = configured_server(settings, environ)
    if server is not None:
        lines += [
            replace(line, label=f"{line.label}{_environment_note(line.name, settings, environ)}")
            for line in await _models_of_server(server, settings)
        ]
    loopback = await loopback_servers(settings)
    for address, models, uids in loopback.found:
        if server is None or origin(address.base_url) != origin(server.base_url):
            where = server_label(parse_address(address.base_url), uids)
            lines += [FoundModel(name=model.name, label=where) for model in models]
    lines += [
        FoundModel(name="?", label=address.where, ready=False, problem=str(error))
        for address, error in loopback.skipped
        if server is None or origin(address.base_url) != origin(server.base_url)
    ]
    problem = embedded_problem(settings)
    lines.append(FoundModel(name=model_name(settings), label=EMBEDDED, ready=not problem, problem=problem))
    return lines


async def _endpoint_on_server(server: ServerAddress, name: str, settings: ModelSettings) -> ModelEndpoint:
    where = server.where
    try:
        models, uids = await ask_for_models(server, settings)
    except ModelOverloadedError:
        if not name:
            raise
        # This affects the list only; the model may answer nevertheless.
        models, uids = None, await asyncio.to_thread(admit, server.base_url, settings)
    if models is None:  # it does not list its models
        if name:
            return _endpoint(server, ListedModel(name=name), uids)
        path = "" if server.base_url.endswith("/v1") else " (a base URL usually ends in /v1)"
        raise NoModelError(
            f"{where} does not say which models it has{path}: name one with --model or CODEAGENT_MODEL."
        )
    if not name:
        usable = next((model for model in models if model.chats), None)
        if usable is None:
            raise NoModelError(
                f"{where} has no chat model: load one there, or give another server with --base-url."
            )
        return _endpoint(server, usable, uids)
    wanted = next((model for model in models if model.name in (name, f"{name}:latest")), None)
    if wanted is None:
        raise ModelNotFoundError(
            f"{where} has no model {name!r}.{format_available(name, [model.name for model in models])}"
        )
    return _endpoint(server, wanted, uids)


def _endpoint(server: ServerAddress, model: ListedModel, uids: Owners) -> ModelEndpoint:
    address = parse_address(server.base_url)
    return ModelEndpoint(
        model=model.name,
        label=server_label(address, uids),
        kind="server",
        remote=not address.is_loopback,
        base_url=server.base_url,
        api_key=server.api_key,
        supports_prefill=model.supports_prefill,
        supports_grammar=model.supports_grammar,
        context_tokens=model.context_tokens,
        owners=uids,
    )


def embedded_problem(settings: ModelSettings) -> str:
    """Return what to do before the embedded model can be used; empty if it is ready. Makes no request."""
    if not embedded_installed():
        return f"not installed: {INSTALL_LOCAL}"
    if not weights_ready(settings):
        return f"weights not fetched: {fetch_command(model_name(settings))}"
    return ""


def _embedded(settings: ModelSettings) -> ModelEndpoint:
    """Return the embedded model; missing weights of the default one are reported when it is started."""
    name = model_name(settings)
    if not embedded_installed():
        raise NoModelError(f"The embedded model is not installed; run: {INSTALL_LOCAL}")
    if name != DEFAULT_MODEL and not uses_own_file(settings):
        published_weights(name)
        if not weights_ready(settings):
            raise WeightsError(f"The weights of {name} are missing; run: {fetch_command(name)}")
    return ModelEndpoint(
        model=name, label=EMBEDDED, kind="embedded", remote=False, supports_prefill=True, supports_grammar=True
    )


async def _models_of_server(server: ServerAddress, settings: ModelSettings) -> list[FoundModel]:
    try:
        models, uids = await ask_for_models(server, settings)
    except ModelError as error:
        return [FoundModel(name="?", label=server.where, ready=False, problem=str(error))]
    where = server_label(parse_address(server.base_url), uids)
    if models is None:
        return [FoundModel(name="?", label=where, ready=False, problem="it does not list its models")]
    return [FoundModel(name=model.name, label=where) for model in models]


def _registered(name: str) -> EntryPoint | None:
    return next(iter(entry_points(group=GROUP, name=name)), None)


def _open_registered(endpoint: ModelEndpoint, settings: ModelSettings) -> Model:
    try:
        registered = _registered(endpoint.model)
        assert registered is not None, "resolve_model found it"
        return cast("Model", registered.load()(settings))
    except ModelError:
        raise
    except Exception as error:  # code of another package, which may raise anything
        raise NoModelError(
            f"The model {endpoint.model!r} ({endpoint.label}) could not be opened: {type(error).__name__}: "
            f"{shorten(printable_line(str(error)), MAX_DISPLAY_CHARS)}; --debug shows where."
        ) from error


def _not_found_message(name: str, found: Sequence[FoundServer], settings: ModelSettings) -> str:
    known = [model.name for _, models, _ in found for model in models]
    known += [model_name(settings)] if embedded_installed() else []
    looked = "No local server has" if settings.discover else "No server is given, and none is looked for, that has"
    return f"{looked} the model {name!r}; give its server with --base-url.{format_available(name, known)}"


def _environment_note(name: str, settings: ModelSettings, environ: Mapping[str, str]) -> str:
    """Return the environment variables that selected a model: `` (CODEAGENT_BASE_URL)``."""
    urls = [one for one in ("CODEAGENT_BASE_URL", "OPENAI_BASE_URL") if environ.get(one) and not settings.base_url]
    chosen = not settings.model and environ.get("CODEAGENT_MODEL") == name
    variables = [*urls[:1], *(["CODEAGENT_MODEL"] if chosen else [])]
    return f" ({', '.join(variables)})" if variables else ""
