"""The output of the `%%agent` cell itself: the reply as it streams, then one line with folded details."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Literal, Protocol

from IPython.display import display, update_display

from jupyter_codeagent.frontend.receipt import ended_by_user, receipt_of, verdict_line
from jupyter_codeagent.frontend.receipt_words import NOT_ISOLATED, NOT_RUN, STATUS
from jupyter_codeagent.notebook.outputs import clean_text, visible_code
from jupyter_codeagent.notebook.outputs.html import NO_FORMULAS
from jupyter_codeagent.notebook.outputs.text import strip_colours
from jupyter_codeagent.types.exploration import ExplorationResult
from jupyter_codeagent.types.run import AgentRun, Phase
from jupyter_codeagent.types.run_json import run_with_messages
from jupyter_codeagent.types.sandbox import SandboxStatus

UPDATE_S = 0.25
LINES_BESIDE_PANEL = 12
LINES_ALONE = 40
MAX_SHOWN_CHARS = 8_000
Bundle = dict[str, str]
META = "codeagent"
"""Key of our metadata of an output, as of a cell."""

PHASES: dict[Phase, str] = {
    "context": "reading variables",
    "loading": "loading the model into memory",
    "model": "the model is writing",
    "waiting": "waiting for your decision",
    "sandbox": "running in the sandbox",
    "inserting": "inserting cells",
    "ended": "done",
}


def show_text(text: str) -> None:
    """Print text with names and values of others in it: what a terminal would obey is spelled out."""
    print(visible_code(text), flush=True)


class CellDisplay(Protocol):
    """Displays a run. Called on the main thread only."""

    def progress(self, run: AgentRun, phase: Phase, text: str, *, recorded: bool = True) -> None:
        """Display what happens; `recorded` says whether the history has the run, or will have it."""

    def finish(self, run: AgentRun) -> None: ...


class NotebookDisplay:
    """One output that is updated in place, at most four times a second.

    A front end renders the whole output at every update, so only the last lines of a stream are displayed, as plain
    text. Markdown or HTML highlighted again for every token costs the browser whole seconds. The panel has it all.
    """

    def __init__(
        self, has_panel: Callable[[], bool] = lambda: False, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._id = f"codeagent-{uuid.uuid4().hex[:12]}"
        self._has_panel = has_panel
        self._clock = clock
        self._started = clock()
        self._shown = ""
        self._shown_phase: tuple[int, Phase] | None = None
        self._shown_at = 0.0

    def progress(self, run: AgentRun, phase: Phase, text: str, *, recorded: bool = True) -> None:
        now, at = self._clock(), (len(run.steps), phase)
        if at == self._shown_phase and now - self._shown_at < UPDATE_S:
            return
        self._shown_phase, self._shown_at = at, now
        lines = LINES_BESIDE_PANEL if self._has_panel() else LINES_ALONE
        bundle = {"text/plain": progress_text(run, phase, text, int(now - self._started), lines)}
        is_replaced = recorded and not run.request.exploration
        self._show(bundle, _until(run, "ended") if is_replaced else {})

    def finish(self, run: AgentRun) -> None:
        self._show(receipt_bundle(run), _until(run, "inserted") if run.placed == "undelivered" else {})

    def end(self, text: str) -> None:
        """Display how an exploration or a report ended, which is no single run."""
        self._show({"text/plain": visible_code(text)})

    def _show(self, bundle: Bundle, metadata: Mapping[str, object] = MappingProxyType({})) -> None:
        content = bundle.get("text/html", bundle["text/plain"])
        if content == self._shown:
            return
        if self._shown:
            update_display(bundle, display_id=self._id, raw=True, metadata=dict(metadata))
        else:
            display(bundle, display_id=self._id, raw=True, metadata=dict(metadata))
        self._shown = content


def _until(run: AgentRun, event: Literal["ended", "inserted"]) -> dict[str, object]:
    """Return metadata of an output that is out of date once its run has ended, or its cells are inserted.

    A page that was loaded again gets no more updates of outputs; it replaces this one by the run's receipt.
    """
    return {META: {"run_id": run.id, "until": event}}


class TerminalDisplay:
    """Prints to a terminal, which cannot update what it printed: what is new, then the receipt."""

    def __init__(self) -> None:
        self._phase: tuple[int, Phase] | None = None
        self._printed = 0

    def progress(self, run: AgentRun, phase: Phase, text: str, *, recorded: bool = True) -> None:
        text = strip_colours(clean_text(text))  # a terminal would obey what a model writes
        at = (len(run.steps), phase)
        if at != self._phase:
            if self._printed:
                print()
            print(f"[{PHASES[phase]}]", flush=True)
            self._phase, self._printed = at, 0
        if phase == "model" and len(text) > self._printed:
            print(text[self._printed :], end="", flush=True)
            self._printed = len(text)

    def finish(self, run: AgentRun) -> None:
        if self._printed:
            print()
        show_text(receipt_text(run))

    def end(self, text: str) -> None:
        """Print how an exploration or a report ended."""
        show_text(text)


class JsonDisplay:
    """For `--json`: prints the run's record at its end, without what it keeps for a replay, and nothing else."""

    def progress(self, run: AgentRun, phase: Phase, text: str, *, recorded: bool = True) -> None:
        pass

    def finish(self, run: AgentRun) -> None:
        print(json.dumps(run_with_messages(run)))


def progress_text(run: AgentRun, phase: Phase, text: str, elapsed_s: int, lines: int = LINES_ALONE) -> str:
    """Return the state of the run in progress, and the last lines of its growing text."""
    step = f"step {len(run.steps)} · " if run.steps else ""
    above, tail = last_lines(text, lines)
    more = f"… {above} lines above\n" if above > 1 else ""
    return f"{step}{PHASES[phase]} · {elapsed_s} s\n\n{more}{clean_text(tail)}".rstrip()


def last_lines(text: str, lines: int) -> tuple[int, str]:
    """Return how many lines are left out, and the rest; one more line rather than a note on a single one."""
    whole = text.rstrip().split("\n")
    above = len(whole) - lines
    if above <= 1:
        above = 0
    # One line may be as long as a whole data set.
    return above, "\n".join(whole[above:])[-MAX_SHOWN_CHARS:]


def receipt_text(run: AgentRun) -> str:
    """Return one line, what needs attention, and how to see the rest; for front ends without HTML."""
    receipt = receipt_of(run)
    verdict = verdict_line(run)
    return "\n".join(
        (f"{receipt.line} · %agent show {run.id[:6]}", *([verdict] if verdict else []), *receipt.attention)
    )


def whole_receipt_text(run: AgentRun) -> str:
    """Return the receipt with the details, the error and all notes."""
    receipt = receipt_of(run)
    attention = receipt.attention if ended_by_user(run) else (run.error, *receipt.attention)
    sections = (f"--- {title}\n{text}" if text else title for title, text in receipt.details if title or text)
    return "\n".join((receipt.line, *filter(None, attention), *sections))


def exploration_text(result: ExplorationResult, seconds: float) -> str:
    """Return a line on the whole, one for each finding, and what was left out."""
    count = len(result.runs)
    cells = f"{count} finding{'s' if count != 1 else ''}" if count else "nothing new to report"
    lines = [f"{STATUS['ok']} {seconds:.1f} s · {cells} · nothing sent, no model used"]
    lines += [f"  {run.answer or run.request.prompt} · {run.id[:6]}" for run in result.runs]
    lines += [
        f"  not shown: {run.request.prompt} ({run.error}) · %agent show {run.id[:6]}" for run in result.failed
    ]
    return "\n".join([*lines, *(f"  {note}" for note in result.notes)])


def receipt_bundle(run: AgentRun) -> Bundle:
    """Return the receipt as an output of the question's cell."""
    return {"text/plain": receipt_text(run), "text/html": receipt_html(run)}


def receipt_html(run: AgentRun) -> str:
    """Return the receipt as HTML: its line, the details on a click, and below what needs attention.

    Everything that is not ours is escaped.
    """
    receipt = receipt_of(run)
    details = "".join(_section(title, text) for title, text in receipt.details)
    folded = f"<details><summary><small>{escape(receipt.line)}</small></summary>{details}</details>"
    attention = "".join(_attention(text) for text in receipt.attention)
    return f'<div class="jp-CodeAgent-receipt {NO_FORMULAS}">{folded}{attention}</div>'


def _attention(text: str) -> str:
    html = f"<b>{escape(text)}</b>" if text.startswith(NOT_ISOLATED) else escape(text)
    quiet = " jp-mod-quiet" if text == NOT_RUN else ""
    return f'<div class="jp-CodeAgent-receiptNote{quiet}"><small>{html}</small></div>'


def _section(title: str, text: str) -> str:
    if not text:
        return f"<div><small>{escape(title)}</small></div>"
    return f"<div><small><b>{escape(title)}</b></small></div><pre><small>{escape(text)}</small></pre>"


def status_text(status: SandboxStatus | None) -> Sequence[str]:
    """Return lines on the sandbox for `%agent status` and `doctor`.

    They name what is blocked, what is not, the limits, and how to get a better sandbox.
    """
    if status is None:
        return ["sandbox: not started yet"]
    lines = [f"sandbox: {status.label}"]
    lines += [f"  layer: {layer}" for layer in status.layers]
    if status.closed:
        lines.append(f"  blocked (tested at startup): {', '.join(status.closed)}")
    if status.open:
        lines.append(f"  not blocked: {', '.join(status.open)}")
    lines += [f"  limit: {limit}" for limit in status.limits]
    if status.hint:
        lines.append(f"  better: {status.hint}")
    return lines
