"""The whole state of a session, for a page that has just opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import PROTOCOL, StateMessage, grant_views
from jupyter_codeagent.frontend.settings_view import SettingsHandler
from jupyter_codeagent.frontend.state import sandbox_view
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.current_run import CurrentRun
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.session.variables_view import VariablesView
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.approvals import APPROVE_ORDER, ApprovalPolicy
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.run_json import run_view


@dataclass(frozen=True, kw_only=True)
class PageState:
    """Builds the state; called on the background loop."""

    settings: Callable[[], Settings]
    models: ModelResolver
    settings_handler: SettingsHandler
    workspace: SandboxWorkspace
    variables_view: VariablesView
    run_log: RunLog
    grants: Grants
    current_run: CurrentRun
    link: Callable[[], PanelLink | None]

    def __call__(self) -> StateMessage:
        """Return the state message for a page."""
        model, approve = self._model_and_approve()
        link = self.link()
        return StateMessage(
            type="state",
            protocol=PROTOCOL,
            model=model,
            approve=approve,
            settings=self.settings_handler.view(),
            sandbox=sandbox_view(self.workspace.status),
            context=self.variables_view.view,
            runs=[run_view(run) for run in self.run_log.recent],
            proposals=link.proposals if link is not None else [],
            grants=grant_views(self.grants.all),
            progress=self.current_run.progress,
        )

    def _model_and_approve(self) -> tuple[str, ApprovalPolicy]:
        """Return model and approval policy of the settings; a page links without them, too, and displays why."""
        try:
            settings = self.settings()
        except UsageError:
            return "", APPROVE_ORDER[0]
        return self.models.name(settings.model) or settings.model.model, settings.approve
