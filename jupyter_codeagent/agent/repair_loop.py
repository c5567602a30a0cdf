"""Execute a program, and again with the corrections that are certain, without asking the model."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace

from jupyter_codeagent.agent.dependencies import LoopDependencies
from jupyter_codeagent.agent.probing import probe
from jupyter_codeagent.agent.rules.registry import correct_result, find_hint, find_issue, repair
from jupyter_codeagent.agent.rules.rule import FILTER_ADVICE, Fix, Issue
from jupyter_codeagent.agent.run_facts import WARNING, failure, has_warning, joined_notes, program_of
from jupyter_codeagent.types.approvals import Grant, Proposal
from jupyter_codeagent.types.run import AgentRun, Step

MAX_REPAIRS = 5
"""Limit for successive corrections of one program; each costs a run."""
WHY_CHARS = 300


async def execute(run: AgentRun, step: Step, deps: LoopDependencies) -> Step:
    """Have the code decided if it is not yet, run it, and run it again where corrections of it are certain."""
    done = await _execute(run, step, run.steps, deps)
    if deps.corrects:
        done = await _repaired(run, done, step.note, deps)
    if done.result is None or done.result.error is None:
        return done
    hint = find_hint(done.result)
    return replace(done, rules=(*done.rules, hint.rule)) if hint is not None else done


async def _execute(run: AgentRun, step: Step, attempts: Sequence[Step], deps: LoopDependencies) -> Step:
    if step.decision is None:
        step = await decide_code(run, step, attempts, deps)
    if step.decision is None or step.decision.action == "reject":
        return step
    running = replace(run, status="running", steps=(*run.steps, step))
    deps.watcher.changed(running)
    deps.watcher.progress(running, "sandbox", step.code)
    deps.undo_attempt()
    result = await deps.runner.execute(step.code, timeout_s=run.request.timeout_s)
    issue = find_issue(program_of(run, step.code, deps, result=result))
    if issue is None:
        return replace(step, result=result)
    return replace(step, result=result, note=f"{WARNING}{issue.text}", rules=(*step.rules, issue.rule))


async def decide_code(
    run: AgentRun, step: Step, attempts: Sequence[Step], deps: LoopDependencies, *, note: str = ""
) -> Step:
    """Ask for a decision on the step's code.

    `attempts` are the earlier ones of this run; the last may be the same step before it was repaired.
    """
    proposal = Proposal(
        id=uuid.uuid4().hex[:12],
        run_id=run.id,
        kind="run",
        code=step.code,
        note=note,
        step=step.index,
        why=_why(attempts),
        previous_code=next((earlier.code for earlier in reversed(attempts) if earlier.code), ""),
        lasting=(Grant(kind="run"),),
    )
    if run.request.approve == "ask":
        waiting = replace(run, status="waiting", steps=(*run.steps, step))
        deps.watcher.changed(waiting)
        deps.watcher.progress(waiting, "waiting", step.code)
    decision = await deps.decide(proposal)
    written = decision.code if decision.edited else step.written
    return replace(step, decision=decision, code=decision.code, written=written)


def _why(attempts: Sequence[Step]) -> str:
    """Return why there is another attempt, for the person who decides."""
    if not attempts:
        return ""
    last = attempts[-1]
    if last.decision is not None and last.decision.action == "reject":
        return f"You rejected the previous attempt: {last.decision.reason}"
    if last.result is not None and last.result.error is not None:
        evalue = last.result.error.evalue.split("\n")[0][:WHY_CHARS]
        return f"The previous attempt failed: {last.result.error.ename}: {evalue}"
    if last.result is not None and last.result.status != "ok":
        return f"The previous attempt did not end well: {last.result.reason or last.result.status}"
    return f"About the previous attempt: {last.note}" if last.note else ""


async def _repaired(run: AgentRun, step: Step, note: str, deps: LoopDependencies) -> Step:
    """Run a step again with certain corrections, which is cheaper than a call of the model.

    `note` is the note on its code. Where no correction ends well, the step counts as it was before.
    """
    latest = step
    for _ in range(MAX_REPAIRS):
        found = await _correction(run, latest, deps)
        if not isinstance(found, Fix):
            if found is not None and has_warning(step):
                step = _with_cause(step, found)
            break
        note = joined_notes(note, *found.notes)
        rules = (*latest.rules, *found.rules)
        corrected = replace(latest, code=found.code, note=note, rules=rules, decision=None, result=None)
        again = await _execute(run, corrected, (*run.steps, replace(latest, note="")), deps)
        again = replace(again, written=step.written)  # also where a person has edited the correction
        refused = again.decision is not None and again.decision.action == "reject"
        is_ok = again.result is not None and again.result.status == "ok"
        if refused or (is_ok and (found.only_display or not has_warning(again))):
            return again
        same = failure(again.result) == failure(latest.result)
        latest = again
        if same:
            break
    if latest is not step and step.result is not None and step.result.status == "ok":
        return await run_again(run, step, deps)
    return step


def _with_cause(step: Step, issue: Issue) -> Step:
    """Name the filter that left nothing, in place of the advice to check all."""
    note = f"{step.note.removesuffix(FILTER_ADVICE).rstrip()} {issue.text}"
    return replace(step, note=note, rules=(*step.rules, issue.rule))


async def _correction(run: AgentRun, step: Step, deps: LoopDependencies) -> Fix | Issue | None:
    """Return a certain correction of a program that has run; an issue where only the cause is known."""
    result = step.result
    if result is None:
        return None
    issue = step.note.removeprefix(WARNING) if has_warning(step) else ""
    program = program_of(run, step.code, deps, result=result, issue=issue)
    fix = repair(program) if result.error is not None else None
    if fix is None and result.status == "ok":
        fix = correct_result(program)
    return fix if fix is not None else await probe(run, program, deps)


async def run_again(run: AgentRun, step: Step, deps: LoopDependencies) -> Step:
    """Execute a step again after another attempt, so that the sandbox holds the state of the kept step."""
    deps.undo_attempt()
    return replace(step, result=await deps.runner.execute(step.code, timeout_s=run.request.timeout_s))
