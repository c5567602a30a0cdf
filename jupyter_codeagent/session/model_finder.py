"""Where the model is for some settings; a stranger's server is asked nothing before the user has allowed it."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.session.consent import Consent
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.approvals import Grant
from jupyter_codeagent.types.errors import UnconfirmedServerError


class ModelFinder:
    """Finds the model for some settings, after approval of its server if it needs one. Main thread."""

    def __init__(
        self,
        *,
        background: BackgroundLoop,
        models: ModelResolver,
        consent: Consent,
        with_grants: Callable[[Settings], Settings],
        found: Callable[[], object],
    ) -> None:
        """`found` is called when a model is known that was not before: pages display where it is."""
        self._background = background
        self._models = models
        self._consent = consent
        self._with_grants = with_grants
        self._found = found

    def find(self, settings: Settings, origin: CellOrigin | None = None) -> ModelEndpoint:
        """Return where the model is. With an origin, the user is asked about a server that needs approval.

        Raises
        ------
        ModelError, DeniedError
        """
        was_known = self._models.known(settings.model) is not None
        try:
            endpoint = self._background.run(self._models.find(settings.model))
        except UnconfirmedServerError as error:
            if origin is None:
                raise
            lasting = (Grant(kind="server", subject=error.grant),)
            self._consent.require("server", error.address, error.question, lasting, origin)
            return self.find(self._with_grants(settings))
        if not was_known:
            self._found()
        return endpoint
