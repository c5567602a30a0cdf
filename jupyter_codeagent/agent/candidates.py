"""Sample K programs for one question (`--candidates K`), run each in its own sandbox, and vote on the results.

The cost is K times the completion tokens and one prompt. Where no program gave a result, the run continues from the
failure of the first one, as a run of one program does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from jupyter_codeagent.agent.candidate_vote import Vote, vote
from jupyter_codeagent.agent.dependencies import LoopDependencies, RunWatcher
from jupyter_codeagent.agent.ending import end_run, finish
from jupyter_codeagent.agent.loop import continue_run, conversation
from jupyter_codeagent.agent.model_step import (
    SAMPLING_TEMPERATURE,
    begin_step,
    complete,
    completion_request,
    is_enough,
    read_reply,
)
from jupyter_codeagent.agent.output_text import output_text
from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.agent.repair_loop import decide_code, execute
from jupyter_codeagent.agent.result_comparison import agree, findings
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.types.approvals import Decision
from jupyter_codeagent.types.errors import SandboxDiedError
from jupyter_codeagent.types.messages import Usage
from jupyter_codeagent.types.run import AgentRun, Phase, Step
from jupyter_codeagent.types.sandbox import ExecutionResult
from jupyter_codeagent.types.syntax_trees import module_tree

MAX_BRIEF_CHARS = 40
"""Length of another result in the run's note."""

OpenSandbox = Callable[[], AbstractAsyncContextManager[PersistentSandbox]]


async def run_candidates(
    run: AgentRun, turns: Sequence[Turn], deps: LoopDependencies, open_sandbox: OpenSandbox
) -> AgentRun:
    """Sample, decide, run and vote; run the chosen program once more in the notebook's own sandbox.

    Raises
    ------
    ModelError, SandboxError
        As `run_agent`.
    """
    steps = await _sample(run, turns, deps)
    decision, edited = await _decide(run, steps, deps)
    if decision is not None and (decision.action == "reject" or edited):
        return await _without_vote(run, steps, decision, deps)
    if decision is not None:
        steps = await _execute_all(run, steps, turns, decision, deps, open_sandbox)
    result = vote(steps, run.request.prompt)
    if result.chosen is None:
        at = next((at for at, step in enumerate(steps) if step.result is not None), 0)
        return await _continue_from(run, _with_vote_notes(steps, result), at, steps[at], deps)
    return await _run_chosen(run, steps, result, deps)


# --- the programs -------------------------------------------------------------------------------------


async def _sample(run: AgentRun, turns: Sequence[Turn], deps: LoopDependencies) -> list[Step]:
    """Return one step for each reply.

    The first reply comes as in any run, all others at once: by then the server has the prompt in its cache.
    """
    prepared = await begin_step(run, conversation(run, turns), deps)
    first = await complete(run, prepared, deps)
    with_first = replace(run, steps=(replace(prepared, reply=first.text),))
    request = replace(
        completion_request(prepared, deps),
        temperature=max(deps.temperature, SAMPLING_TEMPERATURE),
        seed=deps.seed + 1,
    )
    second = replace(with_first, steps=(*with_first.steps, replace(prepared, index=2)))
    deps.watcher.changed(second)
    deps.watcher.progress(second, "model")
    others = await deps.model.sample(
        request,
        run.request.candidates - 1,
        on_text=lambda text: deps.watcher.progress(second, "model", text),
        is_complete=is_enough,
    )
    return [
        replace(read_reply(run, replace(prepared, index=index), one, deps), duration_s=one.duration_s)
        for index, one in enumerate((first, *others), start=1)
    ]


async def _decide(run: AgentRun, steps: Sequence[Step], deps: LoopDependencies) -> tuple[Decision | None, bool]:
    """Ask for one decision on all programs.

    Returns
    -------
    The decision, None without a program; and whether the user has edited the code.
    """
    programs = list({_program(step.code): step.code for step in steps if step.code}.values())
    if not programs:
        return None, False
    if len(programs) == 1:
        [joined], note = programs, "All candidates wrote this program."
    else:
        parts = (f"# --- program {at} of {len(programs)} ---\n{code}" for at, code in enumerate(programs, start=1))
        joined = "\n\n".join(code.strip("\n") for code in parts) + "\n"
        note = "Each program runs in a sandbox of its own; the one whose result most agree with is kept."
    whole = replace(steps[0], code=joined, note="")
    decided = await decide_code(run, whole, (), deps, note=note)
    assert decided.decision is not None
    return decided.decision, decided.decision.action == "approve" and decided.code != joined


def _program(code: str) -> str:
    """Return a text that is equal for programs which differ in comments and layout only."""
    try:
        return ast.dump(module_tree(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code


async def _execute_all(
    run: AgentRun,
    steps: Sequence[Step],
    turns: Sequence[Turn],
    decision: Decision,
    deps: LoopDependencies,
    open_sandbox: OpenSandbox,
) -> list[Step]:
    """Run each different program once, one after the other, until those that wait cannot change the vote."""
    done: list[Step] = []
    results: dict[str, Step] = {}
    for at, step in enumerate(steps):
        program = _program(step.code)
        if program in results:
            same = results[program]
            done.append(replace(step, code=same.code, decision=same.decision, result=same.result, note=same.note))
        elif not step.code or vote(done, run.request.prompt).is_decided(len(steps) - at):
            done.append(step)
        else:
            async with open_sandbox() as sandbox:
                await _replay_turns(sandbox, run, turns)
                decided = replace(step, decision=replace(decision, code=step.code))
                executed = await _execute(replace(run, steps=tuple(done)), decided, deps, sandbox)
            results[program] = executed
            done.append(executed)
        deps.watcher.changed(replace(run, steps=tuple(done)))
    return done


async def _replay_turns(sandbox: PersistentSandbox, run: AgentRun, turns: Sequence[Turn]) -> None:
    """Bring a fresh sandbox to the state of the notebook's sandbox."""
    await sandbox.prepare(run.manifest)
    for turn in turns:
        done = await sandbox.execute(turn.ran or turn.code, timeout_s=run.request.timeout_s)
        if done.status == "killed":
            raise SandboxDiedError(f"The earlier code did not run again for a candidate: {done.reason}.")
        sandbox.keep_changes()


async def _execute(run: AgentRun, step: Step, deps: LoopDependencies, sandbox: PersistentSandbox) -> Step:
    deps = replace(
        deps,
        runner=sandbox,
        undo_attempt=sandbox.undo_attempt,
        defined=lambda: sandbox.names,
        corrects=run.request.approve != "ask",  # a corrected program was not in the question
    )
    done = await execute(run, step, deps)
    took_s = done.result.duration_s if done.result is not None else 0.0
    return replace(done, duration_s=step.duration_s + took_s)


# --- the end ------------------------------------------------------------------------------------------


async def _run_chosen(run: AgentRun, steps: Sequence[Step], result: Vote, deps: LoopDependencies) -> AgentRun:
    """Run the chosen program in the notebook's own sandbox, so that its variables are there for the next run."""
    assert result.chosen is not None
    best = steps[result.chosen]
    assert best.result is not None
    run = replace(
        run,
        status="running",
        steps=_with_vote_notes(steps, result),
        notes=(*run.notes, format_vote(steps, result)),
    )
    again = replace(
        best,
        index=len(steps) + 1,
        messages=(),
        prefill="",
        reply="",
        result=None,
        usage=Usage(),
        note=f"candidate {result.chosen + 1} again, in the notebook's sandbox",
    )
    running = replace(run, steps=(*run.steps, again))
    deps.watcher.changed(running)
    deps.watcher.progress(running, "sandbox", again.code)
    deps.undo_attempt()
    result_again = await deps.runner.execute(again.code, timeout_s=run.request.timeout_s)
    again = replace(again, result=result_again, duration_s=result_again.duration_s)
    run = replace(run, steps=(*run.steps, again))
    deps.watcher.changed(run)
    if result_again.status != "ok":
        why = (
            f"{result_again.error.ename}: {result_again.error.evalue}"
            if result_again.error is not None
            else result_again.reason
        )
        first_line = why.split("\n")[0][:200]
        return end_run(run, "failed", f"The chosen candidate did not run a second time: {first_line}")
    if not agree(findings(result_again), findings(best.result)):
        run = replace(run, notes=(*run.notes, "its result differs from one execution to the next"))
    return finish(run, replace(best, result=result_again), deps)


async def _without_vote(
    run: AgentRun, steps: Sequence[Step], decision: Decision, deps: LoopDependencies
) -> AgentRun:
    """Continue after the user has rejected the programs, or has edited the code that may run instead."""
    first = replace(steps[0], decision=decision)
    if decision.action == "approve":
        combined = replace(deps, watcher=_CombinedWatcher(deps.watcher, (), tuple(steps[1:])))
        written = replace(first, code=decision.code, note="")
        first = await execute(run, written, combined)
    return await _continue_from(run, steps, 0, first, deps)


async def _continue_from(
    run: AgentRun, steps: Sequence[Step], at: int, step: Step, deps: LoopDependencies
) -> AgentRun:
    """Continue from one candidate's step as a run of one program does; the others stay in the record."""
    before, after = tuple(steps[:at]), tuple(steps[at + 1 :])
    combined = _CombinedWatcher(deps.watcher, before, after)
    done = await continue_run(run, step, replace(deps, watcher=combined))
    return combined.whole(done)


@dataclass(frozen=True)
class _CombinedWatcher(RunWatcher):
    """A watcher that reports a run which continues from one candidate, with the steps of all others."""

    watcher: RunWatcher
    before: tuple[Step, ...]
    after: tuple[Step, ...]

    def whole(self, run: AgentRun) -> AgentRun:
        """Return `run` with the steps of the other candidates."""
        steps = (*self.before, *run.steps[:1], *self.after, *run.steps[1:])
        return replace(run, steps=tuple(replace(step, index=at) for at, step in enumerate(steps, start=1)))

    def changed(self, run: AgentRun) -> None:
        self.watcher.changed(self.whole(run))

    def progress(self, run: AgentRun, phase: Phase, text: str = "") -> None:
        self.watcher.progress(self.whole(run), phase, text)


# --- notes -------------------------------------------------------------------------------------------


def format_vote(steps: Sequence[Step], result: Vote) -> str:
    """Format the vote for the run's notes: ``3 of 5 candidates found this result; 1 found 0.38; 1 failed``."""
    total, (first, *others) = len(steps), result.groups
    parts = [f"{len(first)} of {total} candidates found this result"]
    parts += [f"{len(group)} found {_brief(steps[group[0]].result)}" for group in others]
    voted = {at for group in result.groups for at in group}
    rest = [step for at, step in enumerate(steps) if at not in voted]
    waiting = sum(_is_waiting(step) for step in rest)
    looks_wrong = sum(step.result is not None and step.result.status == "ok" for step in rest)
    counts = {
        "gave a result that looks wrong": looks_wrong,
        "failed": len(rest) - waiting - looks_wrong,
        "not run, the vote was decided": waiting,
    }
    return "; ".join([*parts, *(f"{count} {what}" for what, count in counts.items() if count)])


def _with_vote_notes(steps: Sequence[Step], result: Vote) -> tuple[Step, ...]:
    """Note on each step what became of it in the vote; a step that did not run gets no note."""
    noted = []
    for at, step in enumerate(steps):
        agreed = bool(result.groups) and at in result.groups[0]
        voted = any(at in group for group in result.groups)
        what = (
            "chosen" if at == result.chosen else "the same result" if agreed else "another result" if voted else ""
        )
        place = f"candidate {at + 1} of {len(steps)}" + (f": {what}" if what else "")
        note = f"{place}; {step.note}" if step.note else place
        noted.append(step if _is_waiting(step) else replace(step, note=note))
    return tuple(noted)


def _is_waiting(step: Step) -> bool:
    return bool(step.code) and step.decision is None


def _brief(result: ExecutionResult | None) -> str:
    """Return the first line of the output, shortened to `MAX_BRIEF_CHARS`."""
    lines = (line.strip() for line in output_text(result).split("\n")) if result is not None else ()
    line = next((line for line in lines if line), "nothing")
    return line if len(line) <= MAX_BRIEF_CHARS else f"{line[: MAX_BRIEF_CHARS - 1]}…"
