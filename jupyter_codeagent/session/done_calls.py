"""The calls of the last runs, which `%agent tool undo` can undo."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.tools.broker import ToolCallBroker
from jupyter_codeagent.tools.undo import DoneCall, Undone, undo_calls, with_undone
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sandbox import ToolCall

KEPT_CALLS_RUNS = 20
"""Number of runs whose calls can be undone; their results are the user's objects, so few are kept."""


class DoneCalls:
    """Calls by run, oldest first."""

    def __init__(self, run_log: RunLog, changed: Callable[[AgentRun], object]) -> None:
        """Start without calls; `changed` is called with each record in which calls are marked as undone."""
        self._run_log = run_log
        self._changed = changed
        self._done: dict[str, list[DoneCall]] = {}

    def keep(self, run_id: str, broker: ToolCallBroker) -> None:
        """Keep the calls that a run has made."""
        if broker.done:
            self._done[run_id] = broker.done
            for old in list(self._done)[:-KEPT_CALLS_RUNS]:
                del self._done[old]

    def undo(self, run_id: str) -> Undone:
        """Undo the calls of a run, or without an id those of the last run that made any. Main thread.

        Raises
        ------
        UsageError
            No run of this kernel with such an id has made calls that can still be undone.
        """
        known = [run for run in self._done if run.startswith(run_id)]
        if not known:
            raise UsageError(
                f"No calls of {f'run {run_id}' if run_id else 'any run'} are left to undo in this kernel."
            )
        chosen = known[-1]
        undone: list[ToolCall] = []
        try:
            return undo_calls(self._done[chosen], undone)
        finally:
            if not any(one.tool.undo is not None for one in self._done[chosen]):
                del self._done[chosen]
            for run in self._run_log.of_same_cell(chosen):
                marked = with_undone(run, undone)
                if marked != run:
                    self._run_log.write(marked)
                    self._changed(marked)
