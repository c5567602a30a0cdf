"""The agent loop: ask the model, have the code decided, run it in the sandbox, give feedback to the model.

Knows only protocols and text; does no I/O of its own.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace

from jupyter_codeagent.agent.dependencies import LoopDependencies
from jupyter_codeagent.agent.ending import REJECTED, end_run, finish, last_problem
from jupyter_codeagent.agent.feedback import mask_for, resume_prefill, with_feedback
from jupyter_codeagent.agent.model_step import begin_step, complete, read_reply
from jupyter_codeagent.agent.output_text import output_text
from jupyter_codeagent.agent.prompt.conversation import Turn, compact
from jupyter_codeagent.agent.prompt.system import first_messages
from jupyter_codeagent.agent.repair_loop import execute, run_again
from jupyter_codeagent.agent.reply.own_words import own_words, words_instead
from jupyter_codeagent.agent.rules.error_reading import missing_name
from jupyter_codeagent.agent.run_facts import has_warning, repeats, repetitions
from jupyter_codeagent.types.approvals import Decision
from jupyter_codeagent.types.charts import ChartLibrary
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.run import AgentRun, Step
from jupyter_codeagent.types.tagged_text import TaggedText
from jupyter_codeagent.types.variables import LiveNames

CONVERSATION_CHARS = 6000
"""Limit for the earlier turns that are sent again; about a fifth of the embedded model's context window."""
WHAT_HELPS = "Ask for one thing at a time, naming tables and columns, or use a larger model (%agent models)."
"""After a model has failed at a question."""


async def run_agent(run: AgentRun, turns: Sequence[Turn], deps: LoopDependencies) -> AgentRun:
    """Take steps until code gives a result, or a person or a limit stops the run; return the ended run.

    A result that looks wrong (empty, all missing, nothing displayed) goes back to the model once; the next is
    accepted. A model that answers in words is asked once for code or the reason; words again end the run, and are
    displayed.
    Where the model repeats the same code to the same failure or issue, it is asked once more from the beginning and
    at a higher temperature; a second repetition ends the run. The same holds for a reply that repeats one passage
    without end.

    Raises
    ------
    ModelError, SandboxError
        The watcher has the record up to then. ContextTooLongError also where the question alone does not fit;
        nothing was sent then.
    """
    return await continue_run(run, await _step(run, conversation(run, turns), deps), deps)


async def continue_run(run: AgentRun, step: Step, deps: LoopDependencies) -> AgentRun:
    """Continue from the first step, as it ended, to the end of the run; see `run_agent`."""
    for calls in range(1, run.request.max_steps + 1):
        warned = any(has_warning(earlier) for earlier in run.steps)
        run = replace(run, steps=(*run.steps, step))
        deps.watcher.changed(run)
        if step.decision is not None and (refusal := _refusal(step.decision)):
            return end_run(run, "rejected", refusal)
        if step.result is not None and step.result.status == "ok" and _is_accepted(run, step, warned=warned):
            return finish(run, step, deps)
        if missing := _missing_charts(step, run.request.charts):
            return end_run(run, "failed", missing)
        if words := words_instead(run.steps):
            return end_run(run, "failed", f"The model wrote no code. {await _quoted(words, deps)}")
        if repetitions(run.steps) > 1:
            return await _failed(run, deps, f"The model repeated itself after {calls} steps.")
        if calls == run.request.max_steps:
            break
        if repeats(run.steps):
            step = await _step(run, run.steps[0].messages, deps)
        elif beginning := await resume_prefill(run, step, deps):
            step = await _step(run, step.messages, deps, beginning=beginning)
        else:
            step = await _step(run, await with_feedback(run, step, deps), deps)
    limit = run.request.max_steps
    return await _failed(run, deps, f"No working code after {limit} step{'s' if limit > 1 else ''}.")


async def _failed(run: AgentRun, deps: LoopDependencies, why: str) -> AgentRun:
    """End a run without a clean result.

    The latest result with a warning is taken all the same, if it displays something: it is marked as doubtful.
    """
    last = run.steps[-1]
    warned = [step for step in run.steps if has_warning(step) and step.result and output_text(step.result).strip()]
    if warned:
        step = last if warned[-1] is last else await run_again(run, warned[-1], deps)
        if step.result is not None and step.result.status == "ok":
            return finish(run, step, deps)
    if words := own_words(last):
        return end_run(run, "failed", f"{why} {await _quoted(words, deps)}")
    problem = last_problem(last, deps.hidden_columns)
    if last.result is not None and last.result.reason:  # a limit: no other model helps
        return end_run(run, "failed", f"{why} {problem}")
    helps = _name_not_copied(last, deps.live) or WHAT_HELPS
    return end_run(run, "failed", f"{why} {problem.rstrip('.')}. {helps}")


def _name_not_copied(step: Step, live: LiveNames) -> str:
    """Return what to do where the code needs a variable of the user's that the sandbox does not have."""
    error = step.result.error if step.result is not None else None
    name = missing_name(error) if error is not None else ""
    if name not in live.data:
        return ""
    return f"Your variable {name} was not copied: name it in the question, or with --vars {name},…"


def _missing_charts(step: Step, charts: ChartLibrary) -> str:
    """Return what to do where the library that charts are drawn with is not installed; no other code helps."""
    error = step.result.error if step.result is not None else None
    if error is None or re.search(rf"No module named '{charts}\b", error.evalue) is None:
        return ""
    return (
        f"Charts need {charts}, which is not installed in this kernel: run `%pip install {charts}`, then ask again."
    )


async def _quoted(words: str, deps: LoopDependencies) -> str:
    """Return the model's own words for the error message.

    They are masked as what is sent to the model is: the message stays in the notebook.
    """
    return f"The model says: “{(await mask_for(words, deps))(words)}”"


def conversation(run: AgentRun, turns: Sequence[Turn]) -> tuple[Message, ...]:
    """Return the messages of the run's first call."""
    context = TaggedText(run.context, run.context_spans)
    history = compact(turns, CONVERSATION_CHARS)
    request = run.request
    return first_messages(context, request.prompt, history, house_rules=run.house_rules, charts=request.charts)


async def _step(
    run: AgentRun, messages: tuple[Message, ...], deps: LoopDependencies, *, beginning: TaggedText | None = None
) -> Step:
    """Call the model once; if it wrote code, have it decided and run it."""
    started = time.monotonic()
    step = await begin_step(run, messages, deps, beginning=beginning)
    step = read_reply(run, step, await complete(run, step, deps), deps)
    if step.code:
        step = await execute(run, step, deps)
    return replace(step, duration_s=time.monotonic() - started)


def _refusal(decision: Decision) -> str:
    """Return why the run ends with this decision; empty if it continues.

    A rejection with a reason is a wish for other code.
    """
    if decision.action != "reject":
        return ""
    if decision.decided_by == "nobody":
        return f"The code was not run: {decision.reason}."
    return "" if decision.reason else REJECTED


def _is_accepted(run: AgentRun, step: Step, *, warned: bool) -> bool:
    """Check whether the result is accepted: it looks right, or an issue went back to the model before.

    The same program as the one with the issue is asked for once more, as after a failure.
    """
    if not has_warning(step):
        return True
    again = repeats(run.steps) and repetitions(run.steps) == 1 and len(run.steps) < run.request.max_steps
    return warned and not again
