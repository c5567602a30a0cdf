"""What the user sees in the `%%agent` cell itself: the reply as it streams, then one line with folded details."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from html import escape
from typing import Protocol

from IPython.display import display, update_display

from jupyter_codeagent.outputs import clean_text
from jupyter_codeagent.prompts.changes import receipt_lines
from jupyter_codeagent.record import run_with_messages
from jupyter_codeagent.values import AgentRun, CopiedVariable, Phase, SandboxStatus, Step

MIB = 1 << 20
UPDATE_S = 0.25
LINES_BESIDE_PANEL = 12
LINES_ALONE = 40
MAX_SHOWN_CHARS = 8_000
Bundle = dict[str, str]

PHASES: dict[Phase, str] = {
    "context": "reading variables",
    "loading": "loading the model into memory",
    "model": "the model is writing",
    "waiting": "waiting for your decision",
    "sandbox": "running in the sandbox",
    "answer": "the model is summing up",
    "inserting": "inserting cells",
    "ended": "done",
}


class CellDisplay(Protocol):
    """Where a run shows itself. Called on the main thread only."""

    def progress(self, run: AgentRun, phase: Phase, text: str) -> None: ...

    def finish(self, run: AgentRun) -> None: ...


class NotebookDisplay:
    """One output that is updated in place, at most four times a second.

    A front end draws an output as a whole at every update: what streams is plain text and its last lines only.
    Markdown or HTML highlighted anew for every token costs the browser whole seconds. The panel shows all of it.
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

    def progress(self, run: AgentRun, phase: Phase, text: str) -> None:
        now, at = self._clock(), (len(run.steps), phase)
        if at == self._shown_phase and now - self._shown_at < UPDATE_S:
            return
        self._shown_phase, self._shown_at = at, now
        lines = LINES_BESIDE_PANEL if self._has_panel() else LINES_ALONE
        self._show({"text/plain": progress_text(run, phase, text, int(now - self._started), lines)})

    def finish(self, run: AgentRun) -> None:
        self._show({"text/plain": receipt_line(run), "text/html": receipt_html(run)})

    def _show(self, bundle: Bundle) -> None:
        content = bundle.get("text/html", bundle["text/plain"])
        if content == self._shown:
            return
        if self._shown:
            update_display(bundle, display_id=self._id, raw=True)
        else:
            display(bundle, display_id=self._id, raw=True)
        self._shown = content


class TerminalDisplay:
    """A terminal cannot update what it printed: print what is new, then the receipt."""

    def __init__(self) -> None:
        self._phase: tuple[int, Phase] | None = None
        self._printed = 0

    def progress(self, run: AgentRun, phase: Phase, text: str) -> None:
        text = clean_text(text)  # a model can write escape sequences, and a terminal would obey
        at = (len(run.steps), phase)
        if at != self._phase:
            if self._printed:
                print()
            print(f"[{PHASES[phase]}]", flush=True)
            self._phase, self._printed = at, 0
        if phase in ("model", "answer") and len(text) > self._printed:
            print(text[self._printed :], end="", flush=True)
            self._printed = len(text)

    def finish(self, run: AgentRun) -> None:
        if self._printed:
            print()
        print(receipt_line(run), flush=True)


class JsonDisplay:
    """For `--json`: the run's record at its end, without what it keeps for a replay, and nothing else."""

    def progress(self, run: AgentRun, phase: Phase, text: str) -> None:
        pass

    def finish(self, run: AgentRun) -> None:
        print(json.dumps(run_with_messages(run)))


def progress_text(run: AgentRun, phase: Phase, text: str, elapsed_s: int, lines: int = LINES_ALONE) -> str:
    """Where a run under way stands, and the last lines of its growing text."""
    step = f"step {len(run.steps)} · " if run.steps else ""
    above, shown = last_lines(text, lines)
    more = f"… {above} lines above\n" if above > 1 else ""
    return f"{step}{PHASES[phase]} · {elapsed_s} s\n\n{more}{clean_text(shown)}".rstrip()


def last_lines(text: str, lines: int) -> tuple[int, str]:
    """How many lines are left out, and the rest; a line more rather than a note that one is left out."""
    whole = text.rstrip().split("\n")
    above = len(whole) - lines
    if above <= 1:
        above = 0
    # One line may be as long as a whole data set.
    return above, "\n".join(whole[above:])[-MAX_SHOWN_CHARS:]


def receipt_line(run: AgentRun) -> str:
    """Status, model, steps, tokens, seconds, sandbox, what was copied and what was sent: one line."""
    mark = {"ok": "✓", "failed": "✗", "stopped": "■", "rejected": "✗"}.get(run.status, "…")
    usage = run.usage
    cached = f", {usage.cached_tokens} cached" if usage.cached_tokens else ""
    seconds = (run.ended_at or time.time()) - run.started_at
    parts = [
        f"{mark} {run.status}{' (replayed)' if run.replayed_from else ''}",
        run.request.model,
        f"{len(run.steps)} step{'s' if len(run.steps) != 1 else ''}",
        f"{usage.prompt_tokens} in{cached}, {usage.completion_tokens} out",
        f"{seconds:.1f} s",
        run.sandbox or "no sandbox used",
        _copied(run),
        *receipt_lines(run.changes),
        _sent(run),
        *run.notes,
    ]
    return " · ".join(part for part in parts if part) + (f"\n{run.error}" if run.error else "")


def _copied(run: AgentRun) -> str:
    if not run.manifest.copied:
        return "nothing copied"
    return "copied " + ", ".join(f"{c.name} ({_size(c)})" for c in run.manifest.copied)


def _size(copy: CopiedVariable) -> str:
    """Of what was copied; of a lazy value the plan alone was."""
    size = f"plan, reads {len(copy.reads)} local file{'s' if len(copy.reads) > 1 else ''}" if copy.reads else ""
    return "; ".join(part for part in (size or size_text(copy.size_bytes), copy.note) if part)


def _sent(run: AgentRun) -> str:
    began = any(step.messages for step in run.steps)
    if not run.usage.calls and not began:
        return "nothing sent"
    what = {
        "schema": "names and types",
        "stats": "names, types and statistics",
        "samples": "names, types, statistics and sample rows",
    }[run.request.privacy]
    if run.usage.calls > 1 and run.request.privacy != "schema":
        what += ", and what the code showed"
    where = f"REMOTE {run.request.server}" if run.request.remote else f"{run.request.server} on this machine"
    # A call that was stopped or failed is not counted, and what went out went out.
    return f"{'sent' if run.usage.calls else 'may have sent'} {what} to {where}"


def size_text(size_bytes: int) -> str:
    """``48.5 MiB``, ``3 KiB``."""
    if size_bytes >= 1 << 30:
        return f"{size_bytes / (1 << 30):.1f} GiB"
    return f"{size_bytes / MIB:.1f} MiB" if size_bytes >= MIB else f"{max(1, size_bytes >> 10)} KiB"


def receipt_html(run: AgentRun) -> str:
    """The line with folded details. Everything that is not ours is escaped."""
    details = [
        _section("What was sent about your variables", run.context),
        _section("Copied into the sandbox", _manifest_text(run)),
        *(_section(_step_title(step), _step_text(step)) for step in run.steps),
    ]
    lines = receipt_line(run).split("\n")
    head = "<br>".join(escape(line) for line in lines)
    body = "".join(details)
    warning = "<b>NOT ISOLATED: the code ran without a sandbox.</b> " if run.sandbox == "NOT ISOLATED" else ""
    folded = f"<details><summary>details · run {escape(run.id)}</summary>{body}</details>"
    return f'<div class="jp-CodeAgent-receipt">{warning}{head}{folded}</div>'


def _section(title: str, text: str) -> str:
    return f"<p><b>{escape(title)}</b></p><pre>{escape(text)}</pre>" if text else ""


def _manifest_text(run: AgentRun) -> str:
    lines = [f"{c.name}: {c.type_name}, {_size(c)}" for c in run.manifest.copied]
    lines += [f"  may read {file.path}" for c in run.manifest.copied for file in c.reads]
    lines += [f"{s.name}: not copied, {s.reason}" for s in run.manifest.skipped]
    return "\n".join(lines)


def _step_title(step: Step) -> str:
    status = step.result.status if step.result is not None else "not run"
    return f"Step {step.index}: {status}, {step.duration_s:.1f} s"


def _step_text(step: Step) -> str:
    problem = ""
    if step.result is not None and step.result.reason:
        problem = f"\n# {step.result.reason}"
    elif step.result is not None and step.result.error is not None:
        problem = f"\n# {step.result.error.ename}: {step.result.error.evalue}"
    note = f"\n# {step.note}" if step.note else ""
    return f"{step.code}{problem}{note}"


def status_text(status: SandboxStatus | None) -> Sequence[str]:
    """What is closed, what is not hidden, which limits hold, how to get better; for `%agent status`, `doctor`."""
    if status is None:
        return ["sandbox: not started yet"]
    lines = [f"sandbox: {status.label}"]
    lines += [f"  layer: {layer}" for layer in status.layers]
    if status.closed:
        lines.append(f"  closed (probed from inside): {', '.join(status.closed)}")
    if status.open:
        lines.append(f"  not hidden: {', '.join(status.open)}")
    lines += [f"  limit: {limit}" for limit in status.limits]
    if status.hint:
        lines.append(f"  better: {status.hint}")
    return lines
