"""Facts about a run, read from its request and steps: names, repetitions, the program as rules see it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from jupyter_codeagent.agent.dependencies import LoopDependencies
from jupyter_codeagent.agent.rules.rule import Program
from jupyter_codeagent.agent.source import bound_names, parse
from jupyter_codeagent.types.run import AgentRun, Step
from jupyter_codeagent.types.sandbox import ExecutionResult

WARNING = "the result looks wrong: "
"""Start of the note of a step that ran and whose result has an issue."""
LOOPING = "the reply repeated one passage without end and was stopped; write shorter lines"


def function_names(run: AgentRun) -> list[str]:
    """Return the user's functions that code may call."""
    return [stub.name for stub in run.manifest.tools if stub.policy != "deny" and stub.kind == "function"]


def database_names(run: AgentRun) -> list[str]:
    """Return the user's databases that code may query."""
    return [*run.manifest.databases]


def copied_names(run: AgentRun) -> list[str]:
    """Return the names of the variables that are copied into the sandbox."""
    return [variable.name for variable in run.manifest.copied]


def failed_to_convert(run: AgentRun) -> bool:
    """Check whether the last program failed where it turns a column's text into dates or numbers."""
    error = run.steps[-1].result.error if run.steps and run.steps[-1].result else None
    return error is not None and re.match(r"\w+\[.+\] = pd\.to_(?:datetime|numeric)\(", error.source) is not None


def program_of(
    run: AgentRun, code: str, deps: LoopDependencies, *, result: ExecutionResult | None = None, issue: str = ""
) -> Program:
    """Return a program of this run as the rules see it."""
    defined = deps.defined()
    return Program(
        code=code,
        prompt=run.request.prompt,
        copied=copied_names(run),
        defined=defined,
        functions=function_names(run),
        live=replace(deps.live, taken=deps.live.taken | (set(defined) - _made_by_attempts(run))),
        asked_before=deps.turns[-1].prompt if deps.turns else "",
        joins=deps.joins,
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
