"""Which of several programs is kept: the one whose result agrees with most others.

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
    """How it went; programs are told by their place in what was voted on, from 0."""

    groups: tuple[tuple[int, ...], ...] = ()
    """Programs that found the same, the largest group first; in each, the one that is kept of it comes first."""
    all_look_wrong: bool = False
    """All results look wrong; they were voted on for want of better ones."""

    @property
    def chosen(self) -> int | None:
        """None where no program has a result."""
        return self.groups[0][0] if self.groups else None

    def is_decided(self, waiting: int) -> bool:
        """Whether so many programs that have not run cannot change what is found by most."""
        sizes = [len(group) for group in self.groups] + [0, 0]
        return waiting == 0 or (not self.all_look_wrong and sizes[0] > sizes[1] + waiting)


def vote(steps: Sequence[Step], prompt: str = "") -> Vote:
    """Ties go to the program with fewer warnings, then to the earliest.

    One that failed has no vote, nor one whose result looks wrong, unless there is no other.
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
    """The program that most others agree with, and these."""
    agreeing = {at: [other for other in left if agree(left[at], left[other])] for at in left}
    best = min(left, key=lambda at: (-len(agreeing[at]), warnings[at], at))
    return (best, *(other for other in agreeing[best] if other != best))


def _looks_wrong(step: Step, prompt: str) -> bool:
    return find_issue(Program(code=step.code, prompt=prompt, result=step.result)) is not None


def _warnings(step: Step) -> int:
    return warning_count(step.result) if step.result is not None else 0
