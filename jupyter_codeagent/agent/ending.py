"""End a run: with its result and perhaps a sentence about it, or with the reason why there is none."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jupyter_codeagent.agent.answer.answer import (
    MAX_ANSWER_TOKENS,
    answer_messages,
    check_answer,
    find_invented,
    is_output_complete,
    is_self_explanatory,
)
from jupyter_codeagent.agent.dependencies import LoopDependencies
from jupyter_codeagent.agent.feedback import hidden_columns_hint, mask_for, reply_of
from jupyter_codeagent.agent.model_step import context_window
from jupyter_codeagent.agent.output_text import output_text
from jupyter_codeagent.agent.prompt.context_window import fit_messages
from jupyter_codeagent.agent.prompt.hidden_columns import asked_hidden
from jupyter_codeagent.agent.prompt.observe import SEARCHED_CHARS, observation, observe
from jupyter_codeagent.agent.verdict.assumptions import find_assumptions
from jupyter_codeagent.agent.verdict.signals import signals_of
from jupyter_codeagent.agent.verdict.verdict import judge
from jupyter_codeagent.notebook.outputs.interactive import INTERACTIVE_MIME
from jupyter_codeagent.types.messages import CompletionRequest
from jupyter_codeagent.types.run import AgentRun, RunStatus, Step
from jupyter_codeagent.types.sandbox import Output

IMAGES = {"image/png", "image/jpeg", "image/svg+xml"}


async def finish(run: AgentRun, step: Step, deps: LoopDependencies, *, calls: int) -> AgentRun:
    """End a run that has its result, after `calls` calls of the model.

    The model is asked for one sentence about it if a call is left and the settings allow it.
    """
    assert step.result is not None
    notes = [note for note in (step.note, *step.result.notes) if note]
    run = replace(
        with_result(run, step, hidden=_asked_hidden(run, deps)), written=step.written, notes=(*run.notes, *notes)
    )
    may_send_result = run.request.privacy != "schema"  # the result is made of the data
    wants_words = displays_text(run.outputs) and not is_self_explanatory(run.outputs, run.request.prompt)
    # A sentence would make a doubtful figure look right.
    is_doubtful = run.verdict is not None and run.verdict.level == "doubtful"
    if deps.answer and may_send_result and wants_words and not is_doubtful and calls < run.request.max_steps:
        run = await _answer(run, step, deps)
    return end_run(run, "ok")


def _asked_hidden(run: AgentRun, deps: LoopDependencies) -> str:
    """Return the hidden columns that an earlier attempt asked for."""
    errors = (step.result.error for step in run.steps if step.result is not None)
    found = (asked_hidden(error, deps.hidden_columns) for error in errors if error is not None)
    return next(filter(None, found), "")


def with_result(run: AgentRun, step: Step, *, hidden: str = "") -> AgentRun:
    """Return the run with what its kept step displayed and did to the rows, and with the verdict on it.

    `hidden`: the hidden columns that an earlier attempt asked for.
    """
    assert step.result is not None
    run = replace(
        run,
        code=step.code,
        outputs=step.result.outputs,
        operations=step.result.operations,
        not_observed=step.result.not_observed,
        assumptions=find_assumptions(step.result.operations, run.request.prompt),
    )
    return replace(run, verdict=judge(replace(signals_of(run, step), hidden=hidden), run.request.prompt))


def displays_text(outputs: Sequence[Output]) -> bool:
    """Check whether there is text to write a sentence about: of a plot a text model can only invent facts."""
    return any(
        output["output_type"] == "stream"
        or (output["output_type"] in ("display_data", "execute_result") and not _is_picture(output["data"]))
        for output in outputs
    )


def _is_picture(data: Mapping[str, Any]) -> bool:
    """Check whether the output is an image or an interactive chart."""
    kind = data.get(INTERACTIVE_MIME, {}).get("kind", "html")
    return bool(IMAGES & data.keys()) or kind != "html"


async def _answer(run: AgentRun, step: Step, deps: LoopDependencies) -> AgentRun:
    """Ask the model for a sentence about the result, and drop it where it has invented numbers or names."""
    assert step.result is not None
    outputs = output_text(step.result)
    mask = await mask_for(observe(step.result, step.code, max_chars=SEARCHED_CHARS), deps)
    seen = observation(step.result, step.code, mask=mask)
    if not is_output_complete(seen.text):
        return run
    messages = answer_messages(step.messages, reply_of(step), seen)
    fitted = fit_messages(messages, run.request.prompt, context_window(run, deps), MAX_ANSWER_TOKENS)
    if not fitted.fits:
        return replace(run, notes=(*run.notes, "no sentence was asked for: the model's context has no room for it"))
    deps.watcher.progress(run, "answer")
    completion = await deps.model.complete(
        CompletionRequest(
            messages=fitted.messages,
            purpose="sentence",
            max_tokens=MAX_ANSWER_TOKENS,
            seed=deps.seed,
        ),
        on_text=lambda text: deps.watcher.progress(run, "answer", text),
        is_complete=lambda _: False,
    )
    answer = check_answer(completion.text, outputs, run.request.prompt, step.code)
    run = replace(run, answer=answer)
    if not answer and (invented := find_invented(completion.text, outputs, run.request.prompt, step.code)):
        note = f"the model's sentence was dropped: {', '.join(invented[:3])} is not in the output"
        run = replace(run, notes=(*run.notes, note))
    return run


def end_run(run: AgentRun, status: RunStatus, error: str = "") -> AgentRun:
    """End a run, with a note for each step whose messages were cut to the context window."""
    left_out = (f"step {step.index}: {step.left_out}" for step in run.steps if step.left_out)
    notes = tuple(dict.fromkeys((*run.notes, *left_out)))
    return replace(run, status=status, error=error, notes=notes, ended_at=time.time())


def problem_of_rerun(step: Step) -> str:
    """Return why code that had run before does not run again; no model reads it."""
    return last_problem(step, {}).removeprefix("Last error: ").removeprefix("Last: ")


def last_problem(step: Step, hidden_columns: Mapping[str, frozenset[str]]) -> str:
    """Return the last problem, for the end of the error message."""
    if step.result is None:
        return f"Last: {step.note}."
    if step.result.reason:  # time limit or kill: the exception it caused says less
        return f"Last: {step.result.reason}"
    if step.result.error is not None:
        first = step.result.error.evalue.split("\n")[0][:200]
        hidden = hidden_columns_hint(step, hidden_columns)
        return f"Last error: {step.result.error.ename}: {first}" + (f" ({hidden})" if hidden else "")
    return f"Last: {step.note}"
