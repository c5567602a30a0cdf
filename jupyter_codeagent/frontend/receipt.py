"""The receipt of a run: what it did, in plain words, from its record alone.

It has one line, what needs attention, and the details. What was sent comes from the requests that were recorded
when they were sent (`sent_requests`), what ran and what never did from the decisions and results of the steps.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from jupyter_codeagent.agent.prompt.changes import receipt_lines
from jupyter_codeagent.frontend.receipt_words import (
    EARLIER,
    EARLIER_IN_SHORT,
    IN_DETAIL,
    IN_LINE,
    NOT_APPROVED,
    NOT_ISOLATED,
    NOT_RUN,
    PURPOSES,
    QUIET_NOTES,
    SERVER_OF,
    STATUS,
    STRONG_SANDBOXES,
    VERDICTS,
)
from jupyter_codeagent.notebook.outputs import visible_code
from jupyter_codeagent.types.messages import ContentKind, ModelCall, Usage
from jupyter_codeagent.types.run import AgentRun, Step
from jupyter_codeagent.types.sizes import format_bytes
from jupyter_codeagent.types.variables import CopiedVariable

MAX_NAMES = 3
"""Most variables that the line names; the details name all."""


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """The receipt that a cell, a terminal and `%agent show` display of a run."""

    line: str
    attention: tuple[str, ...]
    details: tuple[tuple[str, str], ...]
    """Pairs of title and text; the first, a summary, has no text."""


def receipt_of(run: AgentRun) -> Receipt:
    """Return the receipt of a run, from its record alone, with characters that deceive spelled out."""
    quiet, loud = _notes(run.notes)
    return Receipt(
        line=_line(" · ".join((_status(run), *_copied_in_line(run), _sent_in_line(run)))),
        attention=tuple(map(_line, _attention(run, loud))),
        details=tuple((_line(title), visible_code(text)) for title, text in _details(run, quiet)),
    )


def _line(text: str) -> str:
    """Return text as one line: a note that went on in a second one could pass for another of ours."""
    return " ".join(visible_code(text).split())


# --- the line -----------------------------------------------------------------------------------------


def _status(run: AgentRun) -> str:
    seconds = f"{(run.ended_at or time.time()) - run.started_at:.1f} s"
    word = STATUS[run.status] if run.status != "rejected" or ended_by_user(run) else NOT_APPROVED
    status = f"{word} {seconds}" if run.status == "ok" else f"{word} after {seconds}"
    return f"{status} · replayed, model not called" if run.replayed_from else status


def ended_by_user(run: AgentRun) -> bool:
    """Check whether the user ended the run by a stop or a no, which is no error; a missing approver is one."""
    last = run.steps[-1].decision if run.steps else None
    nobody = last is not None and last.decided_by == "nobody"
    return run.status == "stopped" or (run.status == "rejected" and not nobody)


def _copied_in_line(run: AgentRun) -> list[str]:
    names = {
        copied.name: f"{copied.name} (query plan)" if copied.reads else copied.name
        for copied in run.manifest.copied
    }
    unchanged = [names.pop(name) for name in run.manifest.unchanged if name in names]
    parts = [f"copied {_listed([*names.values()])}"] if names else []
    return [*parts, f"{_listed(unchanged)} already copied"] if unchanged else parts or ["nothing copied"]


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(names[:MAX_NAMES])
    return listed if len(names) <= MAX_NAMES else f"{listed} and {len(names) - MAX_NAMES} more"


def _sent_in_line(run: AgentRun) -> str:
    to = _target(run)
    if _is_of_older_version(run):
        return f"messages → {to}"
    kinds = _kinds(call for call in run.model_calls if call.sent)
    if not any(call.sent for call in run.model_calls):
        return "nothing sent"
    named = [kind for kind in kinds if not (kind == "names" and "statistics" in kinds)]
    words = ", ".join(IN_LINE[kind] for kind in named).replace(EARLIER, EARLIER_IN_SHORT)
    return f"{words or 'the question'} → {to}"


def _target(run: AgentRun) -> str:
    """Return where requests go, with the owner of the server if that is another user of this machine."""
    server = run.request.server
    if run.request.remote:
        return server
    owner = server.partition(SERVER_OF)[2]
    return f"this machine, server of {owner}" if owner else "this machine"


def _kinds(calls: Iterable[ModelCall]) -> tuple[ContentKind, ...]:
    found = set(chain.from_iterable(call.kinds for call in calls))
    return tuple(kind for kind in IN_LINE if kind in found)


def _is_of_older_version(run: AgentRun) -> bool:
    """Check whether the run has sent something and its record lacks the kinds of it, as older records do."""
    return not run.model_calls and (run.usage.calls > 0 or any(step.messages for step in run.steps))


# --- what needs attention -----------------------------------------------------------------------------


def _attention(run: AgentRun, notes: Sequence[str]) -> Iterable[str]:
    if run.sandbox == NOT_ISOLATED:
        yield f"{NOT_ISOLATED}: the code ran without a sandbox."
    elif run.sandbox and not run.sandbox.startswith(STRONG_SANDBOXES):
        yield f"Sandbox: {run.sandbox}"
    if run.request.remote and any(call.sent for call in run.model_calls):
        yield f"Sent to another machine: {run.request.server}"
    if ended_by_user(run):
        yield NOT_RUN
    yield from receipt_lines(run.changes)
    yield from notes


def _notes(notes: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the notes for the details, and those that are displayed; corrections of one program are one note."""
    quiet, loud = list[str](), list[str]()
    for note in notes:
        parts = [note] if _is_quiet(note) else note.split("; ")
        quiet += [part for part in parts if _is_quiet(part)]
        if rest := [part for part in parts if not _is_quiet(part)]:
            loud.append("; ".join(rest))
    return quiet, loud


def _is_quiet(note: str) -> bool:
    return any(pattern.fullmatch(note) for pattern in QUIET_NOTES)


# --- the details --------------------------------------------------------------------------------------


def _details(run: AgentRun, quiet_notes: Sequence[str]) -> Iterable[tuple[str, str]]:
    yield _summary(run), ""
    yield "Copied into the sandbox", _copies_text(run)
    yield f"Sent to {run.request.server or run.request.model}, on {_machine(run)}", _sent_text(run)
    if run.verdict is not None:
        yield f"Verdict: {VERDICTS[run.verdict.level].lower()}", run.verdict.reason
    if run.assumptions:
        yield "Assumed", "\n".join(assumption_lines(run))
    if run.operations or run.not_observed:
        yield "Steps of the code", "\n".join(operation_lines(run))
    if run.house_rules:
        yield "House rules", run.house_rules
    if run.context:
        yield "Description of your variables", run.context
    if notes := (*_attempts(run), *quiet_notes):
        yield "Notes", "\n".join(notes)
    for step in run.steps:
        seconds = f" · {step.duration_s:.1f} s" if step.duration_s else ""
        yield f"Step {step.index}: {step_outcome(step)}{seconds}", step.code


def _summary(run: AgentRun) -> str:
    steps = f"{len(run.steps)} step{'s' if len(run.steps) != 1 else ''}"
    sandbox = run.sandbox or "no sandbox used"
    return " · ".join((run.status, run.request.model, steps, tokens_text(run.usage), sandbox, f"run {run.id}"))


def tokens_text(usage: Usage) -> str:
    """Return ``1,210 tokens in (180 cached), 31 out``; with *about* if they were estimated."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    about = "about " if usage.estimated else ""
    return f"{about}{usage.prompt_tokens:,} tokens in{cached}, {usage.completion_tokens:,} out"


def _machine(run: AgentRun) -> str:
    return "another machine" if run.request.remote else "this machine"


def _copies_text(run: AgentRun) -> str:
    lines = []
    for copied in run.manifest.copied:
        unchanged = ", already copied" if copied.name in run.manifest.unchanged else ""
        lines.append(f"{copied.name}: {copied.type_name}, {_size(copied)}{unchanged}")
        lines += [f"  may read {file.path}" for file in copied.reads]
    lines += [f"{skipped.name}: not copied, {skipped.reason}" for skipped in run.manifest.skipped]
    return "\n".join(lines) or "nothing"


def _size(copied: CopiedVariable) -> str:
    """Return the size of a copy as text; for a lazy value, that of its plan."""
    files = len(copied.reads)
    size = (
        f"query plan, reads {files} local file{'s' if files > 1 else ''}"
        if files
        else format_bytes(copied.size_bytes)
    )
    return f"{size}; {copied.note}" if copied.note else size


def _sent_text(run: AgentRun) -> str:
    if _is_of_older_version(run):
        return "This run was recorded by an older version: its steps have the messages that were sent."
    lines, before = [], None
    for call in run.model_calls:
        lines.append(_call_text(call, before))
        before = call if call.purpose == "program" else before
    return "\n".join(lines) or "nothing"


def _call_text(call: ModelCall, before: ModelCall | None) -> str:
    """Return a line on a request; `before` is the latest request for a program, which most others extend."""
    purpose = PURPOSES.get(call.purpose, call.purpose)  # a record of an older version may have others
    if not call.sent:
        return f"{purpose}: not sent: no connection"
    kinds = [IN_DETAIL[kind] for kind in call.kinds]
    if call.purpose == "program":
        kinds.insert(0, "the question")
        if before is not None and before.sent and set(before.kinds) <= set(call.kinds):
            more = [IN_DETAIL[kind] for kind in call.kinds if kind not in before.kinds]
            kinds = ["the same", *(f"and {kind}" for kind in more)]
    tokens = f" ({tokens_text(call.usage)})" if call.usage.calls else ""
    return f"{purpose}: {', '.join(kinds)}{tokens}"


def verdict_line(run: AgentRun) -> str:
    """Return what a person should know of the result before using it; empty if that is nothing."""
    if run.verdict is None or run.verdict.level == "checked":
        return ""
    return f"{VERDICTS[run.verdict.level]}: {run.verdict.reason}"


def operation_lines(run: AgentRun) -> list[str]:
    """Return what the code did to rows and columns, a line for each step."""
    lines = [f"line {one.line}: {one.text}" for one in run.operations]
    return [*lines, f"some steps were not observed: {run.not_observed}"] if run.not_observed else lines


def assumption_lines(run: AgentRun) -> list[str]:
    """Return what the code decided unasked, with the command that asks for the other choice."""
    return [
        f"{one.text}; otherwise: %agent refine {run.id[:6]} {one.refinement}" if one.refinement else one.text
        for one in run.assumptions
    ]


# --- steps --------------------------------------------------------------------------------------------


def step_outcome(step: Step) -> str:
    """Return a text on what became of a step's code, and whether it ran at all."""
    decision, result = step.decision, step.result
    if decision is not None and decision.action == "reject":
        by = "nobody approved it" if decision.decided_by == "nobody" else "you rejected it"
        return f"never ran, {by}{f': {decision.reason}' if decision.reason else ''}"
    if result is not None and result.error is not None and not result.reason:
        return f"{result.error.ename}: {result.error.evalue}".split("\n")[0]
    if result is not None:
        return {"ok": "ran", "interrupted": "stopped while it ran"}.get(result.status, result.reason)
    if not step.code:
        return step.note or ("the reply was cut off" if step.reply else "no reply came")
    return "did not finish" if decision is not None else "never ran"


def _attempts(run: AgentRun) -> Iterable[str]:
    """Yield how the result was reached, if not at once."""
    steps = run.steps[:-1] if run.status == "ok" else run.steps
    counts = Counter(filter(None, map(_attempt, steps))) if run.request.candidates == 1 else {}
    repaired = "repaired in the sandbox" if run.status == "ok" else "in the sandbox"
    words = {
        "failed": ("failed attempt {}", "failed attempts {}"),
        "doubted": (
            "result that looked wrong, so the model was asked again",
            "results that looked wrong, so the model was asked again",
        ),
        "rejected": ("program that you rejected never ran", "programs that you rejected never ran"),
        "empty": ("reply without a program", "replies without a program"),
    }
    for kind, (one, several) in words.items():
        if count := counts.get(kind, 0):
            yield f"{count} {(one if count == 1 else several).format(repaired)}"


def _attempt(step: Step) -> str:
    """Return the outcome of a step that gave no result, in a word; empty if it was stopped."""
    if step.decision is not None and step.decision.action == "reject":
        return "rejected"
    if not step.code:
        return "empty" if step.note else ""
    if step.result is None or step.result.status == "interrupted":
        return ""
    return "doubted" if step.result.status == "ok" else "failed"
