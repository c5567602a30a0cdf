"""What each rule did in stored results: ``python -m evals rules LABEL…``.

How often it fired, in answers that were right and wrong; and where some label was asked without it, how the answers
to the same questions differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evals.report import markdown
from evals.results import TaskResult, TurnResult
from jupyter_codeagent.agent.rules.registry import RULES

WITHOUT = " without "
HEADINGS = (
    "rule",
    "stage",
    "fired",
    "turns right",
    "turns wrong",
    "asked without",
    "wrong → right",
    "right → wrong",
)

Turns = Mapping[tuple[str, str, int], TurnResult]
"""(suite, task, number of the turn) -> its result."""


@dataclass(frozen=True, kw_only=True)
class RuleCount:
    """One rule in a set of results."""

    rule: str
    stage: str
    fired: int
    right: int
    """Turns that were right in which it fired."""
    wrong: int
    asked_without: int
    """Turns that were asked with it and without."""
    won: int
    """Of these, wrong without it and right with it."""
    lost: int


def count_rules(results: Iterable[TaskResult]) -> list[RuleCount]:
    """Count each rule of the table in the results of ours; those that were asked without it are compared."""
    by_system: dict[str, dict[tuple[str, str, int], TurnResult]] = {}
    for result in results:
        turns = by_system.setdefault(result.system, {})
        turns |= {(result.suite, result.task, at): turn for at, turn in enumerate(result.turns)}
    whole = by_system.get("ours", {})
    return [_count(rule.name, rule.stage, whole, by_system.get(f"ours{WITHOUT}{rule.name}", {})) for rule in RULES]


def _count(rule: str, stage: str, whole: Turns, without: Turns) -> RuleCount:
    fired = [turn for turn in whole.values() if rule in turn.rules]
    both = [(whole[key].right, without[key].right) for key in whole if key in without]
    return RuleCount(
        rule=rule,
        stage=stage,
        fired=sum(turn.rules.count(rule) for turn in fired),
        right=sum(turn.right for turn in fired),
        wrong=sum(not turn.right for turn in fired),
        asked_without=len(both),
        won=both.count((True, False)),
        lost=both.count((False, True)),
    )


def rules_table(results: Sequence[TaskResult]) -> str:
    """Return the counts as a table in Markdown; a comparison that was not made is left empty."""
    rows = [_row(one) for one in count_rules(results)]
    return markdown(HEADINGS, rows)


def _row(one: RuleCount) -> tuple[str, ...]:
    compared = (str(one.asked_without), str(one.won), str(one.lost)) if one.asked_without else ("", "", "")
    return one.rule, one.stage, str(one.fired), str(one.right), str(one.wrong), *compared
