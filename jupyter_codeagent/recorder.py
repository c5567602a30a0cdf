"""The `RunWatcher` of a session: what happens in a run goes to history, to the panel and to the cell."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace

from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import ProgressMessage, UsageView
from jupyter_codeagent.record import run_view
from jupyter_codeagent.runbook import RunBook
from jupyter_codeagent.values import AgentRun, Phase

PROGRESS_INTERVAL_S = 0.25


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The newest state of a run under way, for the cell's display."""

    run: AgentRun
    phase: Phase
    text: str


class RunRecorder:
    """Lives for one run; its methods are called on the background loop, `latest` is read on the main thread."""

    def __init__(self, run: AgentRun, book: RunBook, link: PanelLink | None) -> None:
        self._book = book
        self._link = link
        self._began = time.monotonic()
        self._sent_at = 0.0
        self._sent_phase: Phase | None = None
        self.latest = Progress(run=run, phase="context", text="")

    def changed(self, run: AgentRun) -> None:
        """Write the record, then tell cell and pages: what they show is always in the history too."""
        if run.ended_at is not None:  # by our own count: the clock on the wall may have been set meanwhile
            run = replace(run, ended_at=run.started_at + time.monotonic() - self._began)
        self._book.write(run)
        self.latest = Progress(run=run, phase=self.latest.phase, text=self.latest.text)
        if self._link is not None:
            self._link.send({"type": "run", "run": run_view(run)})

    def progress(self, run: AgentRun, phase: Phase, text: str = "") -> None:
        self.latest = Progress(run=run, phase=phase, text=text)
        now = time.monotonic()
        if self._link is None or (phase == self._sent_phase and now - self._sent_at < PROGRESS_INTERVAL_S):
            return
        self._sent_at, self._sent_phase = now, phase
        self._link.send(
            ProgressMessage(
                type="progress",
                run_id=run.id,
                phase=phase,
                step=len(run.steps),
                text=text,
                elapsed_s=now - self._began,
                usage=UsageView(**asdict(run.usage)),  # type: ignore[typeddict-item]
            )
        )
