"""`--candidates K`: several programs for one question, each in a sandbox of its own; what most of them find wins.

A majority over executed results (Wang et al. 2022, self-consistency; Shi et al. 2022, MBR-EXEC, for programs).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from jupyter_codeagent.agent import Tools, run_agent
from jupyter_codeagent.errors import SandboxDiedError
from jupyter_codeagent.prompts.conversation import Turn
from jupyter_codeagent.prompts.observe import output_text
from jupyter_codeagent.sandbox.seat import SandboxSeat
from jupyter_codeagent.values import AgentRun, ExecutionResult, Usage

TEMPERATURE = 0.7
"""Of all candidates but the first, which is the one that a run without candidates would take."""

OpenSeat = Callable[[], AbstractAsyncContextManager[SandboxSeat]]


async def run_candidates(
    run: AgentRun, turns: Sequence[Turn], tools: Tools, open_seat: OpenSeat
) -> tuple[AgentRun, AgentRun | None]:
    """The run with all steps, and the candidate to take; None where none has a result (then the run has ended)."""
    ended: list[AgentRun] = []
    async for candidate in _candidates(run, turns, tools, open_seat):
        ended.append(candidate)
        run = replace(
            run,
            steps=tuple(
                replace(step, index=index)
                for index, step in enumerate((step for one in ended for step in one.steps), start=1)
            ),
            usage=sum((one.usage for one in ended), Usage()),
        )
        tools.watcher.changed(run)
    chosen, agreeing = vote(ended)
    if chosen is None:
        last = ended[-1]
        return replace(run, status=last.status, error=last.error, ended_at=last.ended_at), None
    note = f"{agreeing} of {len(ended)} candidates found this result"
    return replace(run, notes=(*run.notes, note)), chosen


async def _candidates(
    run: AgentRun, turns: Sequence[Turn], tools: Tools, open_seat: OpenSeat
) -> AsyncIterator[AgentRun]:
    for number in range(run.request.candidates):
        async with open_seat() as seat:
            await seat.prepare(run.manifest)
            for turn in turns:
                done = await seat.execute(turn.code, timeout_s=run.request.timeout_s)
                if done.status == "killed":
                    raise SandboxDiedError(f"The earlier code did not run again for a candidate: {done.reason}.")
                seat.settle()
            yield await run_agent(
                run,
                turns,
                replace(
                    tools,
                    runner=seat,
                    undo_attempt=seat.undo_attempt,
                    defined=lambda seat=seat: seat.names,  # type: ignore[misc]
                    temperature=TEMPERATURE if number else tools.temperature,
                    seed=tools.seed + number,
                    answer=False,
                ),
            )


def vote(candidates: Sequence[AgentRun]) -> tuple[AgentRun | None, int]:
    """The first candidate with the most frequent result, and how many have it. Failed ones have no vote."""
    results = {run.id + str(at): result_text(run) for at, run in enumerate(candidates) if run.status == "ok"}
    if not results:
        return None, 0
    [(best, count)] = Counter(results.values()).most_common(1)
    return next(run for run in candidates if run.status == "ok" and result_text(run) == best), count


def result_text(run: AgentRun) -> str:
    """What a run showed, so that equal results are equal texts: numbers rounded to what a reader would compare."""
    shown = output_text(ExecutionResult(status="ok", outputs=run.outputs))
    return " ".join(_rounded(word) for word in shown.split())


def _rounded(word: str) -> str:
    try:
        return f"{float(word.replace(',', '')):.4g}"
    except ValueError:
        return word
