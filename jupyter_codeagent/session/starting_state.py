"""The state that a run starts from: conversation, sandbox and copies without what must not be there any more."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing


@dataclass(frozen=True, kw_only=True)
class StartingState:
    """The starting state of a session's runs. Main thread."""

    background: BackgroundLoop
    run_log: RunLog
    workspace: SandboxWorkspace
    sharing: NotebookSharing
    grants: Grants

    def forget_all(self) -> None:
        """Forget the conversation and the sandbox's variables."""
        self.run_log.forget_conversation()
        self._reset_sandbox()

    def restore_copies(self, cell_id: str | None) -> None:
        """Load again the copies that earlier runs of this cell changed: asked again, it changes them once more."""
        if self.workspace.current is not None:
            self.workspace.current.reload(self.run_log.changed_by_cell(cell_id))

    def remove_hidden(self, notebook: str | None) -> None:
        """Abandon a sandbox that has what is hidden now, and undo what a failed run did to the copies.

        Raises
        ------
        UsageError
            The notebook's lists of hidden variables cannot be read.
        """
        self.sharing.adopt_file(notebook)
        if self.sharing.must_reset:
            self._reset_sandbox()
        if self.workspace.current is not None:
            self.workspace.current.undo_attempt()

    def _reset_sandbox(self) -> None:
        hidden, self.sharing.must_reset = self.sharing.must_reset, False  # now: more may be hidden meanwhile
        try:
            if self.workspace.current is not None:
                self.background.run(self.workspace.current.reset())
            if hidden:
                self.workspace.forget_copies()
                self.grants.clear("mount")  # hidden data may be read from a file
        except BaseException:
            self.sharing.must_reset = True
            raise
