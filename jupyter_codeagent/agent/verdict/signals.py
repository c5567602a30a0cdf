"""What a run shows of how far its result can be believed, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_codeagent.agent.rules.registry import DISPLAY_RULES, KEEP_VARIABLES
from jupyter_codeagent.agent.run_facts import has_warning
from jupyter_codeagent.types.operations import Operation
from jupyter_codeagent.types.run import AgentRun, Step


@dataclass(frozen=True, kw_only=True)
class Signals:
    """What the verdict is made of; no further call of the model is in it."""

    operations: tuple[Operation, ...] = ()
    not_observed: str = ""
    databases: tuple[str, ...] = ()
    """Databases that the program asked: what happens to rows there is not counted."""
    code: str = ""
    """The program."""
    hidden: str = ""
    """Hidden columns that an earlier attempt asked for: ``'rating' of orders``."""
    unheeded: tuple[str, ...] = ()
    """What the question says and the program does not heed, see `verdict/prompt_check.py`."""
    warning: str = ""
    """What looked wrong about the result that was kept all the same."""
    replies: int = 1
    """Programs of the model one after the other, up to the one that was kept."""
    corrections: tuple[str, ...] = ()
    """Rules that changed what the program computes, before it ran or after it failed."""


def _attempts(run: AgentRun) -> int:
    """Return how many programs came one after the other; candidates came at once, and one of them ran again."""
    at_once, later = run.steps[: run.request.candidates], run.steps[run.request.candidates :]
    known = {one.code for one in at_once}
    return 1 + sum(bool(one.code) and one.code not in known for one in later)


def signals_of(run: AgentRun, step: Step) -> Signals:
    """Return the signals of a run that keeps the result of `step`."""
    called = {call.tool for call in step.result.calls} if step.result is not None else set()
    return Signals(
        operations=run.operations,
        not_observed=run.not_observed,
        databases=tuple(name for name in run.manifest.databases if name in called),
        code=run.code,
        warning=step.note if has_warning(step) else "",
        replies=_attempts(run),
        corrections=tuple(
            dict.fromkeys(rule for rule in step.rules if rule not in {*DISPLAY_RULES, KEEP_VARIABLES})
        ),
    )
