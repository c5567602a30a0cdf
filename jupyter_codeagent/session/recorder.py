"""The `RunWatcher` of a session: it writes what happens in a run to the history, the panel and the cell."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from jupyter_codeagent.agent.sent_requests import SentRequests
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import ProgressMessage, UsageView
from jupyter_codeagent.frontend.progress import Part, TextStream
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.types.messages import Usage
from jupyter_codeagent.types.run import AgentRun, Phase
from jupyter_codeagent.types.run_json import call_view, run_view
from jupyter_codeagent.types.sandbox import ExecutionResult, ToolCall

PROGRESS_INTERVAL_S = 0.25
DISPLAYED_CALLS = 20
"""Calls that are displayed while they are made; the record has all."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The latest state of the run in progress, for the cell's display."""

    run: AgentRun
    phase: Phase
    text: str


class RunRecorder:
    """Records one run; its methods are called on the background loop, `latest` is read on the main thread."""

    def __init__(self, run: AgentRun, run_log: RunLog, link: PanelLink | None) -> None:
        self._run_log = run_log
        self._link = link
        self._began = time.monotonic()
        self._sent_at = 0.0
        self._sent_phase: Phase | None = None
        self._stream = TextStream()
        self._later: asyncio.TimerHandle | None = None
        self._calls: tuple[ToolCall, ...] = ()
        self.sent = SentRequests(run.model_calls, changed=lambda: self.changed(self.latest.run))
        self.latest = Progress(run=run, phase="context", text="")

    def changed(self, run: AgentRun) -> None:
        """Write the record, then update cell and pages: what they display is always in the history too."""
        if run.ended_at is not None:  # measured on the monotonic clock: the wall clock may have been set meanwhile
            run = replace(run, ended_at=run.started_at + time.monotonic() - self._began)
        run = self._with_sent(run)
        self._run_log.write(run)
        self.latest = Progress(run=run, phase=self.latest.phase, text=self.latest.text)
        if self._link is not None:
            self._link.send({"type": "run", "run": run_view(run)})

    def _with_sent(self, run: AgentRun) -> AgentRun:
        """Return the run with what was sent and its cost; nothing else writes these fields."""
        return replace(run, model_calls=self.sent.calls, usage=self.sent.usage)

    def progress(self, run: AgentRun, phase: Phase, text: str = "") -> None:
        self.latest = Progress(run=run, phase=phase, text=text)
        if self._link is None:
            return
        wait_s = self._sent_at + PROGRESS_INTERVAL_S - time.monotonic()
        if phase != self._sent_phase or wait_s <= 0:
            self._send(self._link)
        elif self._later is None:  # the latest text is sent also when the model pauses after it
            self._later = asyncio.get_running_loop().call_later(wait_s, self._send, self._link)

    def called(self, calls: tuple[ToolCall, ...]) -> None:
        """Display the calls of the present execution so far."""
        self._calls = calls
        self.progress(self.latest.run, self.latest.phase, self.latest.text)

    def call_starts(self, calls: tuple[ToolCall, ...]) -> None:
        """Record a call that is about to be made, the last of these, in case the kernel ends meanwhile."""
        self._run_log.write(self._with_sent(with_calls(self.latest.run, calls)))

    def _send(self, link: PanelLink) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        run, phase, text = self.latest.run, self.latest.phase, self.latest.text
        if run.ended_at is not None:
            return
        self._sent_at, self._sent_phase = time.monotonic(), phase
        link.send(self._message(self._stream.next_part((phase, len(run.steps)), text)))

    def whole_progress(self) -> ProgressMessage:
        """Return the progress with the whole text, for a page that has just opened or missed a part."""
        return self._message(self._stream.whole(self.latest.text))

    def _message(self, part: Part) -> ProgressMessage:
        run, phase = self.latest.run, self.latest.phase
        calls = self._calls if phase == "sandbox" else ()  # else those of the step before
        return ProgressMessage(
            type="progress",
            run_id=run.id,
            phase=phase,
            step=len(run.steps),
            stream=part.stream,
            offset=part.offset,
            text=part.text,
            elapsed_s=time.monotonic() - self._began,
            usage=UsageView(**asdict(self.sent.usage)),  # type: ignore[typeddict-item]
            calls=[call_view(call) for call in calls[-DISPLAYED_CALLS:]],
            call_count=len(calls),
        )


def with_reply(run: AgentRun, text: str, usage: Usage) -> AgentRun:
    """Return the record of a run whose last reply was cut off, with the part that arrived and its cost."""
    if not run.steps or not text or run.steps[-1].reply:
        return run
    partial = replace(run.steps[-1], reply=text, usage=usage)
    return replace(run, steps=(*run.steps[:-1], partial))


def with_calls(run: AgentRun, calls: Sequence[ToolCall]) -> AgentRun:
    """Return the record of a run whose last step has no result yet, with the calls so far."""
    if not run.steps or not calls or run.steps[-1].result is not None:
        return run
    partial = replace(run.steps[-1], result=ExecutionResult(status="interrupted", calls=tuple(calls)))
    return replace(run, steps=(*run.steps[:-1], partial))
