"""Run code that exists already, of a record or of an exploration: no model is asked, everything else is as ever."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from jupyter_codeagent.agent.dependencies import Decide, RunWatcher
from jupyter_codeagent.sandbox.protocol import CodeRunner
from jupyter_codeagent.types.approvals import Grant, Proposal
from jupyter_codeagent.types.run import AgentRun, Step

FROM_TEMPLATE = "written from a template"
"""Note of a step whose program no model has written."""


@dataclass(frozen=True, kw_only=True)
class GivenProgram:
    """A program that answers a question without a model."""

    code: str
    tables: tuple[str, ...]
    """The variables that it needs."""


async def run_given_code(
    run: AgentRun, code: str, *, why: str, note: str, decide: Decide, runner: CodeRunner, watcher: RunWatcher
) -> Step:
    """Have the code decided and run; return the step, without a result where it may not run.

    `why` is displayed to whoever decides, `note` is in the record of the step.
    """
    decision = await decide(
        Proposal(
            id=uuid.uuid4().hex[:12],
            run_id=run.id,
            kind="run",
            code=code,
            note=why,
            lasting=(Grant(kind="run"),),
        )
    )
    step = Step(index=len(run.steps) + 1, messages=(), code=decision.code, decision=decision, note=note)
    if decision.action != "approve":
        return step
    so_far = replace(run, steps=(*run.steps, step))
    watcher.changed(so_far)
    watcher.progress(so_far, "sandbox", step.code)
    result = await runner.execute(step.code, timeout_s=run.request.timeout_s)
    return replace(step, result=result, duration_s=result.duration_s)
