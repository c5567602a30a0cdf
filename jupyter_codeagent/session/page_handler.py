"""The messages of pages, each handed to the part of the session that acts on it.

Acknowledgements and answers to proposals never come here: the link itself waits for them (`frontend/link.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.approvals.live_effects import LiveEffects
from jupyter_codeagent.frontend.messages import EffectsMessage, ToPage, effects_view
from jupyter_codeagent.frontend.settings_view import SettingsHandler
from jupyter_codeagent.session.bring_back import ResultTransfer
from jupyter_codeagent.session.cell_decisions import CellDecisions
from jupyter_codeagent.session.chat_questions import ChatQuestions
from jupyter_codeagent.session.client_runs import ClientRuns
from jupyter_codeagent.session.current_run import CurrentRun
from jupyter_codeagent.session.variables_view import VariablesView
from jupyter_codeagent.types.run import CellState
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing
from jupyter_codeagent.variables.privacy.sharing.rules import Shared


@dataclass(frozen=True, kw_only=True)
class PageHandler:
    """Handles messages on the background loop; ignores unknown ones."""

    settings: SettingsHandler
    sharing: NotebookSharing
    variables: VariablesView
    effects: LiveEffects
    results: Callable[[], ResultTransfer]
    decisions: Callable[[], CellDecisions]
    grants: Grants
    send: Callable[[ToPage], None]
    current_run: CurrentRun
    client_runs: Callable[[], ClientRuns]
    chat_questions: Callable[[], ChatQuestions]
    submit: Callable[[Coroutine[Any, Any, None]], object]

    def handle_message(self, data: Mapping[str, Any]) -> None:
        """Handle one message of one page.

        Raises
        ------
        HistoryError
            The history could not record a decision about cells.
        """
        self.settings.handle_message(data)
        match data:
            case {"type": "stop" | "missed" | "ask_ended"}:
                self._handle_running(data)
            case {"type": "cell_state" | "applied" | "find_effects" | "take_back"}:
                self._handle_code(data)
            case {"type": "share", "name": str(name), "shared": str(shared)} if shared in get_args(Shared):
                self.sharing.share(name, cast("Shared", shared))
                self.variables.switched(str(data.get("id", "")))
            case {"type": "share_columns", "name": str(name), "columns": list(labels), "hidden": bool(hidden)}:
                self.sharing.share_columns(name, frozenset(map(str, labels)), "hidden" if hidden else "shared")
                self.variables.switched(str(data.get("id", "")))
            case {"type": "find_columns", "name": str(name), "search": str(search)}:
                self.send(self.variables.found(name, search))
            case {"type": "pull", "id": str(request_id), "run_id": str(run_id), "name": str(name)}:
                self.submit(self._answer_pull(name, request_id, run_id))
            case {"type": "hello"}:
                if "sharing" in data:
                    self.sharing.adopt_page(data["sharing"])
                self.variables.look_soon()
            case {"type": "sharing", "sharing": lists}:
                self.sharing.adopt_page(lists)
                self.variables.switched()

    def _handle_running(self, data: Mapping[str, Any]) -> None:
        """Stop what the page displays, never the next run; send it what it missed; note what it has run."""
        match data:
            case {"type": "stop", "run_id": str(run_id)}:
                if self.current_run.is_called(run_id):
                    self.current_run.stop()
                elif not self.client_runs().stop(run_id):  # the request of that run has not begun yet
                    self.current_run.stop_early(run_id)
            case {"type": "missed", "run_id": str(run_id)}:
                if (recorder := self.current_run.recorder_of(run_id)) is not None:
                    self.send(recorder.whole_progress())
            case {"type": "ask_ended", "id": str(question)}:
                self.chat_questions().ended(question)

    def _handle_code(self, data: Mapping[str, Any]) -> None:
        """Record what a person decided about code or cells, or look up what code would do."""
        match data:
            case {"type": "take_back", "kind": str(kind), "subject": str(subject)}:
                self.grants.take_back(kind, subject)
            case {"type": "cell_state", "run_id": str(run_id), "state": str(state)} if state in get_args(CellState):
                decided, session = cast("CellState", state), str(data.get("session", ""))
                self.decisions().set_cell_state(run_id, decided, decided_by="panel", session=session)
            case {"type": "applied", "run_id": str(run_id), "code": str(code)}:
                self.decisions().note_applied(run_id, code, decided_by="panel")
            case {"type": "find_effects", "id": str(request_id), "code": str(code), "in_kernel": bool(in_kernel)}:
                self.submit(self._answer_effects(code, request_id, in_kernel=in_kernel))

    async def _answer_pull(self, name: str, request_id: str, run_id: str) -> None:
        self.send(await self.results().answer_pull(name, request_id, run_id))

    async def _answer_effects(self, code: str, request_id: str, *, in_kernel: bool) -> None:
        effects = await self.effects.of(code, in_kernel=in_kernel)
        self.send(EffectsMessage(type="effects", id=request_id, effects=effects_view(effects)))
