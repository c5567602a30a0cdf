"""The run in progress: how far it is, and how it is stopped.

Explorations are several runs in one task, and the re-run of a report has no run at all.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from jupyter_codeagent.frontend.background_loop import BackgroundTask
from jupyter_codeagent.frontend.messages import ProgressMessage
from jupyter_codeagent.session.recorder import RunRecorder, with_calls, with_reply
from jupyter_codeagent.tools.broker import ToolCallBroker
from jupyter_codeagent.types.run import AgentRun

KEPT_STOPS = 100
"""Number of requests kept that were stopped while nothing of them ran."""


class CurrentRun:
    """The run of a session; there is at most one at a time."""

    def __init__(self) -> None:
        self._task: BackgroundTask[Any] | None = None
        self.recorder: RunRecorder | None = None
        """Recorder of the run in progress."""
        self.broker: ToolCallBroker | None = None
        """Set once the run's code may call functions."""
        self._names: set[str] = set()
        """By what pages may name what is in progress: ids of its runs, and of the request of a report."""
        self._stopped_early: deque[str] = deque(maxlen=KEPT_STOPS)
        """Requests that were stopped while nothing of them ran, and ids of runs that had ended."""
        self._stopped_cells: deque[str] = deque(maxlen=KEPT_STOPS)
        """Cells whose question was stopped in its chat before it began."""

    def start(self, task: BackgroundTask[Any], recorder: RunRecorder) -> None:
        """Keep the run that has begun."""
        self._task = task
        self.follow(recorder)
        if self.take_stop(recorder.latest.run.request.cell_id):
            task.cancel()

    def start_rerun(self, task: BackgroundTask[Any], request_id: str | None) -> None:
        """Keep a task that can be stopped like a run and has no record of its own; pages know it by its request."""
        self._task = task
        self._names = {request_id} if request_id is not None else set()

    def follow(self, recorder: RunRecorder) -> None:
        """Take the next run of the same task as the run in progress."""
        self.recorder = recorder
        self._names.add(recorder.latest.run.id)

    def end(self) -> ToolCallBroker | None:
        """End the run; return its broker, closed, if its code could call functions."""
        self._task, self.recorder = None, None
        self._names.clear()
        broker, self.broker = self.broker, None
        if broker is not None:
            broker.close()
        return broker

    def stop(self) -> bool:
        """Stop the run; return whether there was one. Any thread."""
        task, broker = self._task, self.broker
        if task is not None:
            task.cancel()
        if broker is not None:
            broker.interrupt()
        return task is not None

    def is_called(self, name: str) -> bool:
        """Return whether a page that says this means what is in progress."""
        return name in self._names

    def stop_early(self, request_id: str) -> None:
        """Stop a request that has not begun yet, or that is about to write its report."""
        self._stopped_early.append(request_id)

    def was_stopped(self, request_id: str | None) -> bool:
        """Return whether this request was stopped while nothing of it ran."""
        return request_id is not None and request_id in self._stopped_early

    def stop_cell(self, cell_id: str) -> None:
        """Stop the question of a cell that a chat has put into the notebook and the kernel has yet to run."""
        self._stopped_cells.append(cell_id)

    def take_stop(self, cell_id: str | None) -> bool:
        """Return whether the question of this cell was stopped; once, so that a person may run the cell later."""
        if cell_id is None or cell_id not in self._stopped_cells:
            return False
        self._stopped_cells.remove(cell_id)
        return True

    def recorder_of(self, run_id: str) -> RunRecorder | None:
        """Return the recorder of the run with this id, if it is in progress."""
        recorder = self.recorder
        return recorder if recorder is not None and recorder.latest.run.id == run_id else None

    @property
    def progress(self) -> ProgressMessage | None:
        """Whole progress, for a page that has just opened; None if nothing runs."""
        return self.recorder.whole_progress() if self.recorder is not None else None

    def so_far(self, recorder: RunRecorder) -> AgentRun:
        """Return the record of the run with the part of the reply that has arrived, or with the calls made."""
        latest = recorder.latest
        if latest.phase == "model":
            return with_reply(latest.run, latest.text, recorder.sent.last_usage)
        if self.broker is None or latest.phase != "sandbox":
            return latest.run
        return with_calls(latest.run, self.broker.calls)
