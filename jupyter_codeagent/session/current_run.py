"""The run under way: how far it is, and how it is stopped."""

from __future__ import annotations

from collections import deque

from jupyter_codeagent.frontend.background_loop import BackgroundTask
from jupyter_codeagent.frontend.messages import ProgressMessage
from jupyter_codeagent.session.recorder import RunRecorder, with_calls, with_reply
from jupyter_codeagent.tools.broker import ToolCallBroker
from jupyter_codeagent.types.run import AgentRun

KEPT_STOPS = 100
"""Requests that were stopped before they began, and are remembered for when they do."""


class CurrentRun:
    """One of a session; there is at most one run at a time."""

    def __init__(self) -> None:
        self._task: BackgroundTask[AgentRun] | None = None
        self._recorder: RunRecorder | None = None
        self.broker: ToolCallBroker | None = None
        """Set once its code may call functions."""
        self._stopped_early: deque[str] = deque(maxlen=KEPT_STOPS)
        """Requests that were stopped before they began, and ids of runs that had ended."""

    def start(self, task: BackgroundTask[AgentRun], recorder: RunRecorder) -> None:
        """Note the run that has begun."""
        self._task = task
        self._recorder = recorder

    def end(self) -> ToolCallBroker | None:
        """Note that it has ended; return its broker, closed, if its code could call functions."""
        self._task, self._recorder = None, None
        broker, self.broker = self.broker, None
        if broker is not None:
            broker.close()
        return broker

    def stop(self) -> bool:
        """Stop it; return whether there was one. From any thread."""
        task, broker = self._task, self.broker
        if task is not None:
            task.cancel()
        if broker is not None:
            broker.interrupt()
        return task is not None

    def stop_early(self, request_id: str) -> None:
        """Stop a request that has not begun yet."""
        self._stopped_early.append(request_id)

    def was_stopped(self, request_id: str | None) -> bool:
        """Return whether this request was stopped before it began."""
        return request_id is not None and request_id in self._stopped_early

    def recorder_of(self, run_id: str) -> RunRecorder | None:
        """Return the recorder of the run with this id, if it is the one under way."""
        recorder = self._recorder
        return recorder if recorder is not None and recorder.latest.run.id == run_id else None

    @property
    def progress(self) -> ProgressMessage | None:
        """Whole, for a page that has just come; None if nothing runs."""
        return self._recorder.whole_progress() if self._recorder is not None else None

    def so_far(self, recorder: RunRecorder) -> AgentRun:
        """Return its record with the part of the reply that had come, or with the calls that had been made."""
        latest = recorder.latest
        if latest.phase == "model":
            return with_reply(latest.run, latest.text, recorder.sent.last_usage)
        if self.broker is None or latest.phase != "sandbox":
            return latest.run
        return with_calls(latest.run, self.broker.calls)
