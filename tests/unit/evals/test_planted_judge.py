"""The judge of what was found counts what is planted, what follows from it, and what is not there."""

from __future__ import annotations

import pytest

from evals.explore.case import Case, Planted, plant
from evals.explore.judge import Found, connections, judge, judge_noise, names, shown, wilson
from evals.explore.noise import noise_cases
from evals.explore.planted import Half, planted_cases, planted_in

CASE = Case(
    "shop",
    {},
    (
        plant("group_difference", "orders", "value", "channel"),
        plant("correlation", "orders", "value", "items"),
        plant("trend", "orders", "delay"),
        plant("missing_by_group", "orders", "rating", "channel"),
        plant("duplicates", "orders"),
        plant("join", "orders", "customer", "id", other="customers"),
    ),
    {"orders": "day"},
)


def found(kind: str, *columns: str, table: str = "orders") -> Found:
    return Found(kind, table, frozenset(columns))


def exactly(planted: Planted) -> Found:
    return Found(planted.kind, planted.table, planted.columns)


@pytest.mark.parametrize("half", ["development", "held_back"])
def test_who_names_exactly_what_is_planted_finds_all_of_it(half: Half) -> None:
    cases = planted_cases(half)
    verdict = judge(cases, [exactly(planted) for planted in planted_in(cases)])
    assert verdict.recall.found == verdict.recall.of == len(planted_in(cases))
    assert not verdict.missed
    assert not verdict.unrelated
    assert not verdict.related
    assert not verdict.quality_not_planted


def test_who_names_nothing_finds_nothing() -> None:
    verdict = judge([CASE], [])
    assert (verdict.recall.found, verdict.recall.of) == (0, 6)
    assert verdict.missed == CASE.planted
    assert verdict.by_kind["trend"].of == 1


@pytest.mark.parametrize(
    ("one", "right"),
    [
        (found("correlation", "value", "items"), True),
        (found("association", "value", "items"), True),
        (found("correlation", "value", "items", "channel"), True),
        (found("correlation", "value", "items", "a", "b", "c"), False),
        (found("correlation", "value"), False),
        (found("trend", "value", "items"), False),
        (found("correlation", "value", "items", table="returns"), False),
    ],
)
def test_a_finding_names_what_is_planted_with_few_others(one: Found, right: bool) -> None:
    assert names(one, CASE.planted[1]) == right


def test_extra_columns_are_refused_where_they_are_not_allowed() -> None:
    strict = Planted("gap", "orders", frozenset({"day"}), extra=False)
    assert names(found("gap", "day"), strict)
    assert not names(found("gap", "day", "value"), strict)


def test_time_may_be_named_or_not() -> None:
    assert names(found("trend", "delay"), CASE.planted[2])
    assert names(found("break", "delay", "day"), CASE.planted[2])


def test_repeated_rows_are_found_under_any_columns() -> None:
    assert names(found("duplicates"), CASE.planted[4])
    assert names(found("duplicates", "order_id"), CASE.planted[4])


def test_a_join_is_found_at_either_table_by_the_key_of_one() -> None:
    assert names(found("join", "customer"), CASE.planted[5])
    assert names(found("join", "id", table="customers"), CASE.planted[5])
    assert not names(found("join", "day"), CASE.planted[5])
    assert not names(found("join", "id", table="items"), CASE.planted[5])


def test_the_ninth_insight_is_not_seen_but_every_flaw_is() -> None:
    insights = [found("distribution", f"c{at}") for at in range(8)]
    late = found("correlation", "value", "items")
    flaws = [found("missing_by_group", "rating", "channel"), found("outliers", "value")]
    elsewhere = found("trend", "x", table="returns")
    assert shown([*insights, *flaws, late, elsewhere]) == [*insights, *flaws, elsewhere]
    assert judge([CASE], [*insights, late]).recall.found == 0
    assert judge([CASE], [*insights, *flaws]).recall.found == 1


def test_insights_that_follow_from_planted_effects_are_counted_apart_from_those_that_do_not() -> None:
    false = [
        found("correlation", "items", "noise"),
        found("trend", "value"),
        found("group_difference", "rating", "channel"),
    ]
    verdict = judge(
        [CASE],
        [
            found("group_difference", "items", "channel"),
            found("distribution", "value"),
            *false,
            exactly(CASE.planted[0]),
        ],
    )
    assert verdict.planted == 1
    assert verdict.related == 1
    assert verdict.unrelated == tuple(false)
    assert verdict.describing == 1


def test_flaws_that_were_not_planted_are_listed() -> None:
    other = found("outliers", "noise")
    assert judge([CASE], [other, exactly(CASE.planted[3])]).quality_not_planted == (other,)


def test_effects_that_share_a_column_are_connected_and_flaws_connect_nothing() -> None:
    assert connections(CASE) == [
        ("orders", frozenset({"value", "channel", "items"})),
        ("orders", frozenset({"delay", "day"})),
    ]


def test_on_noise_each_effect_is_false_and_descriptions_are_not() -> None:
    cases = noise_cases(2)
    effect, flaw = found("trend", "age", table="noise_1"), found("outliers", "amount", table="noise_0")
    verdict = judge_noise(cases, [found("distribution", "age", table="noise_0"), effect, effect, flaw])
    assert verdict.false_effects == (effect, effect)
    assert verdict.false_quality == (flaw,)
    assert (verdict.tables_with_false_effects.found, verdict.tables_with_false_effects.of) == (1, 2)


def test_the_interval_is_that_of_wilson() -> None:
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson(0, 0) == (0, 1)
    assert str(judge([CASE], []).recall) == "0 of 6 (0% to 39%)"
