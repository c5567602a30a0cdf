"""Choose the program whose result agrees with most others.

A majority over executed results (Wang et al. 2022, self-consistency; Shi et al. 2022, MBR-EXEC, for programs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_codeagent.agent.result_comparison import Findings, agree, findings, warning_count
from jupyter_codeagent.agent.rules.registry import find_issue
from jupyter_codeagent.agent.rules.rule import Program
from jupyter_codeagent.types.run import Step


@dataclass(frozen=True, kw_only=True)
class Vote:
    """The outcome of a vote; programs are numbered from 0 in the order of the vote."""

    groups: tuple[tuple[int, ...], ...] = ()
    """Programs with the same result, the largest group first; each group begins with its best program."""
    all_look_wrong: bool = False
    """All results look wrong; the vote had no better ones."""

    @property
    def chosen(self) -> int | None:
        """The number of the chosen program; None where no program has a result."""
        return self.groups[0][0] if self.groups else None

    def is_decided(self, waiting: int) -> bool:
        """Check whether the results of `waiting` more programs cannot change the majority."""
        sizes = [len(group) for group in self.groups] + [0, 0]
        return waiting == 0 or (not self.all_look_wrong and sizes[0] > sizes[1] + waiting)


def vote(steps: Sequence[Step], prompt: str = "") -> Vote:
    """Vote on the results of `steps`.

    Ties go to the program with fewer warnings, then to the earliest. A program that failed has no vote, nor one
    whose result looks wrong, unless there is no other.
    """
    found = {
        at: findings(step.result)
        for at, step in enumerate(steps)
        if step.result is not None and step.result.status == "ok"
    }
    clean = {at: one for at, one in found.items() if not _looks_wrong(steps[at], prompt)}
    warnings = {at: _warnings(steps[at]) for at in found}
    left, groups = dict(clean or found), []
    while left:
        group = _largest(left, warnings)
        groups.append(group)
        left = {at: one for at, one in left.items() if at not in group}
    return Vote(groups=tuple(groups), all_look_wrong=bool(found) and not clean)


def _largest(left: dict[int, Findings], warnings: dict[int, int]) -> tuple[int, ...]:
    """Return the program that most others agree with, followed by these others."""
    agreeing = {at: [other for other in left if agree(left[at], left[other])] for at in left}
    best = min(left, key=lambda at: (-len(agreeing[at]), warnings[at], at))
    return (best, *(other for other in agreeing[best] if other != best))


def _looks_wrong(step: Step, prompt: str) -> bool:
    return find_issue(Program(code=step.code, prompt=prompt, result=step.result)) is not None


def _warnings(step: Step) -> int:
    return warning_count(step.result) if step.result is not None else 0
