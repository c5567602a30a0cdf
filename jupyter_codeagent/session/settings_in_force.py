"""The settings in force: configuration, then options, then the administrator's policy, then what was granted."""

from __future__ import annotations

from dataclasses import replace

from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.session.file_grants import granted_files
from jupyter_codeagent.session.run_request import asked_by, with_options
from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.settings.enforcement import within
from jupyter_codeagent.settings.policy import read_policy
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.options import RunOptions


class SettingsInForce:
    """Returns the settings of a run or of the session when called."""

    def __init__(self, config: CodeAgent, grants: Grants) -> None:
        self._config = config
        self._grants = grants

    def __call__(self, options: RunOptions | None = None) -> Settings:
        """Return the settings under these options.

        Raises
        ------
        UsageError
            The configuration or the administrator's policy cannot be used.
        """
        policy, options = read_policy(), options or RunOptions()
        settings = with_options(self._config.settings(), options)
        chosen = self._config.chosen() | asked_by(options)
        return self.with_grants(within(policy, self._config.with_environment(settings, policy.rules), chosen))

    def at_start(self) -> Settings:
        """Return the settings, or the defaults where the configuration cannot be used.

        Loading then continues: every run stops with the reason, and the panel displays it.
        """
        try:
            return self()
        except UsageError:
            return Settings()

    def with_grants(self, settings: Settings) -> Settings:
        """Add what the user allowed: files that the sandbox may read, servers that may be asked."""
        servers = (grant.subject for grant in self._grants.all if grant.kind == "server")
        allowed = tuple(dict.fromkeys((*settings.model.allowed, *servers)))
        return replace(
            settings,
            model=replace(settings.model, allowed=allowed),
            sandbox=replace(settings.sandbox, read_files=granted_files(self._grants)),
        )
