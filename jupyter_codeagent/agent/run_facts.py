"""Facts about a run, read from its request and steps: names, repetitions, the program as rules see it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from jupyter_codeagent.agent.rules.rule import Program
from jupyter_codeagent.agent.source import bound_names, parse
from jupyter_codeagent.types.run import AgentRun, Step
from jupyter_codeagent.types.sandbox import ExecutionResult
from jupyter_codeagent.types.variables import LiveNames

WARNING = "the result looks wrong: "
"""Start of the note of a step that ran and whose result has an issue."""
LOOPING = "the reply repeated one passage without end and was stopped; write shorter lines"


def function_names(run: AgentRun) -> list[str]:
    """Return the user's functions that code may call."""
    return [stub.name for stub in run.manifest.tools if stub.policy != "deny"]


def copied_names(run: AgentRun) -> list[str]:
    """Return the names of the variables that are copied into the sandbox."""
    return [variable.name for variable in run.manifest.copied]


def program_of(
    run: AgentRun,
    code: str,
    *,
    defined: Collection[str] = (),
    incomplete: Mapping[str, Collection[str]] | None = None,
    live: LiveNames | None = None,
    asked_before: str = "",
    result: ExecutionResult | None = None,
    issue: str = "",
) -> Program:
    """Return a program of this run as the rules see it."""
    live = live if live is not None else LiveNames()
    return Program(
        code=code,
        prompt=run.request.prompt,
        copied=copied_names(run),
        defined=defined,
        functions=function_names(run),
        live=replace(live, taken=live.taken | (set(defined) - _made_by_attempts(run))),
        asked_before=asked_before,
        incomplete=incomplete or {},
        result=result,
        issue=issue,
        each_run_is_approved=run.request.approve == "ask",
    )


def _made_by_attempts(run: AgentRun) -> set[str]:
    """Return the names that earlier programs of the run bind: the next one is written in their place."""
    trees = (parse(step.code) for step in run.steps if step.code)
    return {name for tree in trees if tree is not None for name in bound_names(tree)}


def has_warning(step: Step) -> bool:
    """Check whether the step ran and its result looks wrong."""
    return step.note.startswith(WARNING)


def repeats(steps: Sequence[Step]) -> bool:
    """Check whether the model would repeat itself at temperature 0.

    The same code came to the same end twice in a row, or the last reply repeated one passage without end.
    """
    return bool(steps) and (steps[-1].note == LOOPING or (len(steps) > 1 and is_same(steps[-2], steps[-1])))


def repetitions(steps: Sequence[Step]) -> int:
    """Count how often the model has repeated itself."""
    return sum(is_same(before, after) for before, after in pairwise(steps))


def is_same(before: Step, after: Step) -> bool:
    """Check whether the same code came to the same end."""
    return before.code.strip() == after.code.strip() and failure(before.result) == failure(after.result)


def failure(result: ExecutionResult | None) -> tuple[str, str]:
    """Return how the execution ended, to compare it with another."""
    if result is None:
        return ("", "")
    return (result.error.ename, result.error.evalue) if result.error is not None else (result.status, result.reason)


def joined_notes(*notes: str) -> str:
    """Join the notes that are not empty into one line."""
    return "; ".join(note for note in notes if note)
