"""End a run: with its result, or with the reason why there is none."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from jupyter_codeagent.agent.dependencies import LoopDependencies
from jupyter_codeagent.agent.feedback import hidden_columns_hint
from jupyter_codeagent.agent.prompt.hidden_columns import asked_hidden
from jupyter_codeagent.agent.verdict.assumptions import find_assumptions
from jupyter_codeagent.agent.verdict.prompt_check import unheeded
from jupyter_codeagent.agent.verdict.signals import signals_of
from jupyter_codeagent.agent.verdict.verdict import judge
from jupyter_codeagent.types.run import AgentRun, RunStatus, Step

REJECTED = "You rejected the code; no cells were inserted."


def finish(run: AgentRun, step: Step, deps: LoopDependencies) -> AgentRun:
    """End a run that has its result in `step`."""
    assert step.result is not None
    notes = [note for note in (step.note, *step.result.notes) if note]
    # What the program did that this one replaces, this one has to do again.
    replaced = {one.code for one in deps.replaces}
    turns = [turn for turn in deps.turns if (turn.ran or turn.code) not in replaced]
    passed_over = tuple(unheeded(run.request.prompt, step.code, deps.live, turns))
    run = with_result(run, step, hidden=_asked_hidden(run, deps), passed_over=passed_over)
    return end_run(replace(run, written=step.written, notes=(*run.notes, *notes)), "ok")


def _asked_hidden(run: AgentRun, deps: LoopDependencies) -> str:
    """Return the hidden columns that an earlier attempt asked for."""
    errors = (step.result.error for step in run.steps if step.result is not None)
    found = (asked_hidden(error, deps.hidden_columns) for error in errors if error is not None)
    return next(filter(None, found), "")


def with_result(run: AgentRun, step: Step, *, hidden: str = "", passed_over: tuple[str, ...] = ()) -> AgentRun:
    """Return the run with what its kept step displayed and did to the rows, and with the verdict on it.

    `hidden`: the hidden columns that an earlier attempt asked for. `passed_over`: what the question says and the
    program does not heed.
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
    signals = replace(signals_of(run, step), hidden=hidden, unheeded=passed_over)
    return replace(run, verdict=judge(signals, run.request.prompt))


def end_run(run: AgentRun, status: RunStatus, error: str = "") -> AgentRun:
    """End a run, with a note for each step whose messages were cut to the context window."""
    left_out = (f"step {step.index}: {step.left_out}" for step in run.steps if step.left_out)
    notes = tuple(dict.fromkeys((*run.notes, *left_out)))
    return replace(run, status=status, error=error, notes=notes, ended_at=time.time())


def internal_error(fault: BaseException) -> str:
    """Return the line for what no code of ours expected: it is our mistake, not the user's."""
    return f"Internal error in jupyter-codeagent: {fault!r}"


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
