"""What pages say, and who acts on it: switches, searches, decisions about cells, questions, the run under way.

Acknowledgements and answers to proposals never come here: the link itself waits for them (`frontend/link.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.approvals.live_effects import LiveEffects
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import EffectsMessage, ToPage, effects_view
from jupyter_codeagent.frontend.settings_view import SettingsHandler
from jupyter_codeagent.session.bring_back import ResultDecisions
from jupyter_codeagent.session.hiding import Hiding
from jupyter_codeagent.session.recorder import RunRecorder
from jupyter_codeagent.session.variables_view import VariablesView
from jupyter_codeagent.types.run import CellState
from jupyter_codeagent.variables.privacy.sharing.rules import Shared


@dataclass(frozen=True, kw_only=True)
class PageHandler:
    """Everything here happens on the background loop. What is not understood is nobody's business."""

    settings: SettingsHandler
    hiding: Hiding
    shown: VariablesView
    effects: LiveEffects
    results: Callable[[], ResultDecisions]
    grants: Grants
    link: Callable[[], PanelLink | None]
    running: Callable[[str], RunRecorder | None]
    """The recorder of the run with this id, if it is the one under way."""
    stop: Callable[[], object]
    stop_early: Callable[[str], object]
    """What the request with this id asks for, should it not have begun yet."""
    submit: Callable[[Coroutine[Any, Any, None]], object]

    def heard(self, data: Mapping[str, Any]) -> None:
        """One message of one page.

        Raises
        ------
        HistoryError
            A decision about cells that the history did not take.
        """
        self.settings.heard(data)
        match data:
            case {"type": "stop" | "missed", "run_id": str(run_id)}:
                self._heard_of_running(str(data["type"]), run_id)
            case {"type": "cell_state" | "applied" | "find_effects" | "take_back"}:
                self._heard_of_code(data)
            case {"type": "share", "name": str(name), "shared": str(shared)} if shared in get_args(Shared):
                self.hiding.share(name, cast("Shared", shared))
                self.shown.switched(str(data.get("id", "")))
            case {"type": "share_columns", "name": str(name), "columns": list(labels), "hidden": bool(hidden)}:
                self.hiding.share_columns(name, frozenset(map(str, labels)), "hidden" if hidden else "shared")
                self.shown.switched(str(data.get("id", "")))
            case {"type": "find_columns", "name": str(name), "search": str(search)}:
                self._send(self.shown.found(name, search))
            case {"type": "pull", "id": str(request_id), "run_id": str(run_id), "name": str(name)}:
                self.submit(self._answer_pull(name, request_id, run_id))
            case {"type": "hello"}:
                if "sharing" in data:
                    self.hiding.adopt_page(data["sharing"])
                self.shown.look_soon()
            case {"type": "sharing", "sharing": lists}:
                self.hiding.adopt_page(lists)
                self.shown.switched()

    def _heard_of_running(self, kind: str, run_id: str) -> None:
        """Stop is meant for the run that was seen in the page, not for the next one."""
        recorder = self.running(run_id)
        if kind == "stop":
            _ = self.stop() if recorder is not None else self.stop_early(run_id)
        elif recorder is not None:
            self._send(recorder.whole_progress())

    def _heard_of_code(self, data: Mapping[str, Any]) -> None:
        """A person looks at code, or decides about it."""
        match data:
            case {"type": "take_back", "kind": str(kind), "subject": str(subject)}:
                self.grants.take_back(kind, subject)
            case {"type": "cell_state", "run_id": str(run_id), "state": str(state)} if state in get_args(CellState):
                decided, session = cast("CellState", state), str(data.get("session", ""))
                self.results().set_cell_state(run_id, decided, decided_by="panel", session=session)
            case {"type": "applied", "run_id": str(run_id), "code": str(code)}:
                self.results().note_applied(run_id, code, decided_by="panel")
            case {"type": "find_effects", "id": str(request_id), "code": str(code), "in_kernel": bool(in_kernel)}:
                self.submit(self._answer_effects(code, request_id, in_kernel=in_kernel))

    async def _answer_pull(self, name: str, request_id: str, run_id: str) -> None:
        self._send(await self.results().answer_pull(name, request_id, run_id))

    async def _answer_effects(self, code: str, request_id: str, *, in_kernel: bool) -> None:
        effects = await self.effects.of(code, in_kernel=in_kernel)
        self._send(EffectsMessage(type="effects", id=request_id, effects=effects_view(effects)))

    def _send(self, message: ToPage) -> None:
        link = self.link()
        if link is not None:
            link.send(message)
