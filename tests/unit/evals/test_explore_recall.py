"""What an exploration shows of tables with planted findings and of noise: the goals that docs/explore.md states."""

from __future__ import annotations

from evals.explore.judge import judge, judge_noise
from evals.explore.noise import noise_cases
from evals.explore.planted import planted_cases
from evals.suites.explore import found_in


def test_four_of_five_planted_findings_are_shown_and_no_insight_is_of_nothing() -> None:
    cases = planted_cases("development")
    verdict = judge(cases, [one for case in cases for one in found_in(case.tables)])
    assert verdict.recall.found >= 0.8 * verdict.recall.of, verdict.missed
    assert verdict.unrelated == ()


def test_tables_of_noise_show_nothing() -> None:
    noise = [judge_noise([case], found_in(case.tables)) for case in noise_cases(20)]
    assert [one for one in noise if one.false_effects or one.false_quality] == []
