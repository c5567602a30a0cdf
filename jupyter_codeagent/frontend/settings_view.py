"""The settings of one kernel as its pages display and change them. On the background loop."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import (
    EmbeddedView,
    ModelsMessage,
    RefusedMessage,
    ServedView,
    ServerView,
    SettingsView,
    SettingView,
)
from jupyter_codeagent.models.endpoint import host_and_port, is_loopback, origin
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.models.server_status import embedded_status, model_server_statuses
from jupyter_codeagent.models.servers import configured_server
from jupyter_codeagent.settings.config import CodeAgent, check_settings
from jupyter_codeagent.settings.policy import read_policy
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.settings.view import check_change, effective_settings
from jupyter_codeagent.types.approvals import Grant
from jupyter_codeagent.types.embedded import EMBEDDED, EMBEDDED_PREFIX, is_embedded
from jupyter_codeagent.types.errors import CodeAgentError, UsageError


class SettingsHandler:
    """Displays settings, changes them for this kernel, and finds models. A refusal is sent with its reason."""

    def __init__(
        self,
        *,
        config: CodeAgent,
        models: ModelResolver,
        grants: Grants,
        settings: Callable[[], Settings],
        link: Callable[[], PanelLink | None],
        changed: Callable[[], None],
        submit: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._config = config
        self._models = models
        self._grants = grants
        self._settings = settings
        self._link = link
        self._changed = changed
        self._submit = submit

    def view(self) -> SettingsView:
        """Return all settings, or why the configuration cannot be used; ask no server."""
        try:
            values = [
                SettingView(name=s.name, value=s.value, source=s.source, fixed=s.fixed, limit=s.limit)
                for s in effective_settings(self._config, read_policy())
            ]
            return SettingsView(values=values, server=self._server(), problem="")
        except UsageError as error:
            return SettingsView(values=[], server=None, problem=str(error))

    def handle_message(self, data: Mapping[str, Any]) -> None:
        """Handle what a page sends about settings; ignore anything else."""
        match data:
            case {"type": "hello", "preferences": preferences}:
                self.adopt(preferences)
            case {"type": "preferences", "preferences": preferences}:
                self.adopt(preferences)
                self.send_state()
            case {"type": "choose", "name": "model" | "base_url" as name}:
                self._refuse(f"{name} is chosen with its server, in the list of models; it was not set.")
                self.send_state()
            case {"type": "choose", "name": str(name), "value": str() | int() | float() as value}:
                self.choose({name: value})
            case {"type": "use_model", "model": str(model), "base_url": str(base_url), "confirmed": str(confirmed)}:
                self.use_model(model, base_url, confirmed)
            case {"type": "find_models"}:
                self._submit(self.find_models())

    def adopt(self, preferences: object) -> None:
        """Adopt the user's settings in JupyterLab, as a page read them."""
        refusals = ["The settings of JupyterLab did not arrive as names and values; reload the page."]
        if isinstance(preferences, dict):
            wanted, refusals = dict(preferences), []
            try:
                _check_address(wanted)
            except UsageError as error:
                refusals.append(str(error))
                del wanted["base_url"]
            refusals += self._config.adopt_preferences(wanted)
        if refusals:
            self._submit(self._refuse_later(refusals))

    async def _refuse_later(self, refusals: Sequence[str]) -> None:
        """Send the refusals once the connecting page can receive them."""
        for refusal in refusals:
            self._refuse(refusal)

    def choose(self, values: Mapping[str, Any]) -> None:
        """Set the values in this kernel, all or none, if the administrator allows it."""
        try:
            policy = read_policy()
            check_settings(values)
            _check_address(values)
            for name, value in values.items():
                check_change(name, value, policy)
            self._config.set_in_session(**values)
        except UsageError as error:
            self._refuse(str(error))
        self.send_state()

    def use_model(self, model: str, base_url: str, confirmed: str) -> None:
        """Use another model from the next run on; on a remote host only if the user approved this very host.

        It is the approval that a run would ask for. A server of another user on this machine is left to the run.
        """
        values = {"model": model if base_url else EMBEDDED, "base_url": base_url}
        try:
            policy = read_policy()
            for name, value in values.items():
                check_change(name, value, policy)
            if base_url and not is_loopback(base_url):
                if confirmed != host_and_port(base_url):
                    raise UsageError(
                        f"{host_and_port(base_url)} is not this machine: approve it by name before it is used."
                    )
                self._grants.add([Grant(kind="server", subject=origin(base_url))])
        except UsageError as error:
            self._refuse(str(error))
            self.send_state()
            return
        self.choose(values)

    async def find_models(self) -> None:
        """Ask the named servers and loopback for models; send the pages the answers."""
        try:
            settings = self._settings().model
            addresses = self._config.server_addresses() if settings.servers is None else settings.servers
            servers = await model_server_statuses(addresses, settings, os.environ)
        except UsageError as error:
            self._refuse(str(error))
            return
        embedded = embedded_status(settings)
        self._send(
            ModelsMessage(
                type="models",
                servers=[
                    ServedView(
                        base_url=server.base_url,
                        label=server.label,
                        remote=server.remote,
                        problem=server.problem,
                        models=list(server.models),
                    )
                    for server in servers
                ],
                embedded=EmbeddedView(name=embedded.name, problem=embedded.problem),
                looked=settings.discover,
            )
        )

    def _server(self) -> ServerView | None:
        settings = self._settings().model
        found = self._models.known(settings)
        if found is not None:
            return ServerView(model=found.model, label=found.label, remote=found.remote)
        if is_embedded(settings.model) and not settings.base_url:
            return ServerView(model=settings.model.removeprefix(EMBEDDED_PREFIX), label=EMBEDDED, remote=False)
        model = settings.model or os.environ.get("CODEAGENT_MODEL", "")
        try:
            named = configured_server(settings, os.environ)
            if named is None:
                return None
            label, remote = host_and_port(named.base_url), not is_loopback(named.base_url)
        except CodeAgentError as error:  # displayed where it can be corrected
            return ServerView(model=model, label=str(error), remote=True)
        return ServerView(model=model, label=label, remote=remote)

    def send_state(self) -> None:
        """Send every page the settings in force."""
        link = self._link()
        if link is not None:
            link.send_state()
        self._changed()

    def _refuse(self, text: str) -> None:
        self._send(RefusedMessage(type="refused", text=text))

    def _send(self, message: ModelsMessage | RefusedMessage) -> None:
        link = self._link()
        if link is not None:
            link.send(message)


def _check_address(values: Mapping[str, Any]) -> None:
    """Raise UsageError for an address to which no request could be sent."""
    if isinstance(address := values.get("base_url"), str) and address.strip():
        host_and_port(address.strip())
