"""Which findings are shown, in which order."""

from __future__ import annotations

from dataclasses import replace

from jupyter_codeagent.explore.overview import overview_words
from jupyter_codeagent.explore.ranking import choose
from jupyter_codeagent.types.exploration import Exploration, FactValue, Finding, FindingKind, TableOverview


def found(kind: FindingKind, *columns: str, effect: float = 0.5, p: float = 0.0, **facts: FactValue) -> Finding:
    return Finding(kind=kind, table="t", columns=columns, effect=effect, p_value=p, facts=facts)


def insights(*findings: Finding, tried: int = 1, mentioned: tuple[str, ...] = ()) -> list[Finding]:
    tables = tuple(
        TableOverview(table=one, library="pandas", rows=9) for one in dict.fromkeys(each.table for each in findings)
    )
    return list(choose(Exploration(tables=tables, findings=findings, tried=tried), mentioned).insights)


def test_chance_is_left_out_by_the_number_of_questions() -> None:
    sure, unsure = found("correlation", "a", "b", p=1e-5), found("correlation", "c", "d", p=1e-4)

    assert insights(sure, unsure, tried=500) == [sure]


def test_quality_joins_and_descriptions_are_no_insights() -> None:
    insight, gap, skew = found("correlation", "a", "b"), found("gap", "day"), found("skew", "a")
    join = found("join", "k", "k", left="t", right="u", matched=0.5)
    chosen = choose(Exploration(findings=(insight, gap, skew, join), tried=1))

    assert (chosen.insights, chosen.quality, chosen.joins) == ((insight,), (gap,), (join,))


def test_what_turns_round_comes_first_and_surprises_have_a_bonus() -> None:
    strong = found("group_difference", "a", "g", effect=0.6)
    turned = found("reversal", "b", "g", "h", effect=0.3)
    shift = found("break", "c", "day", effect=0.5)
    curve = found("correlation", "d", "e", effect=0.45, form="curve")

    assert insights(strong, curve, shift, turned) == [turned, shift, curve, strong]


def test_what_was_asked_about_comes_before_everything() -> None:
    asked, turned = found("correlation", "a", "b", effect=0.1), found("reversal", "c", "g", "h", effect=0.9)

    assert insights(turned, asked, mentioned=("a",)) == [asked, turned]


def test_a_column_and_a_kind_appear_three_times() -> None:
    about_a = [found("trend", "a", "t1"), found("season", "a", "t2"), found("break", "a", "t3")]
    more = found("group_difference", "a", "g")
    lines = [found("correlation", f"x{place}", f"y{place}", effect=0.2) for place in range(5)]
    chosen = insights(*about_a, more, *lines)

    assert more not in chosen
    assert [one.kind for one in chosen].count("correlation") == 3


def test_the_number_of_rows_is_no_column_that_appears_too_often() -> None:
    counts = [
        found("trend", "", "t1"),
        found("season", "", "t2"),
        found("break", "", "t3"),
        found("season", "", "t4"),
    ]

    assert len(insights(*counts)) == 4


def test_nearly_equal_columns_say_a_thing_once() -> None:
    same = found("correlation", "x", "y", effect=0.9)
    stronger, weaker = (
        found("group_difference", "x", "g", effect=0.5),
        found("group_difference", "y", "g", effect=0.4),
    )

    assert insights(weaker, stronger, same) == [same, stronger]


def test_a_change_of_all_rows_is_told_with_that_of_a_group_unless_it_is_larger() -> None:
    whole, group = found("trend", "y", "day", effect=0.3), found("group_trend", "y", "day", "g", effect=0.6)
    other = found("trend", "z", "day", effect=0.3)

    assert insights(whole, group, other) == [group, other]
    assert insights(whole, replace(group, effect=0.2)) == [whole, replace(group, effect=0.2)]


def test_eight_insights_of_a_table_at_most_and_the_order_is_stable() -> None:
    kinds: tuple[FindingKind, ...] = ("association", "correlation", "group_difference")
    many = [found(kind, f"a{n}{kind}", f"b{n}{kind}") for n in range(4) for kind in kinds]

    assert insights(*many) == many[:8]
    assert insights(*many, *many) == many[:8]


def test_of_several_tables_each_has_its_place() -> None:
    kinds: tuple[FindingKind, ...] = ("association", "correlation", "group_difference")
    strong = [found(kind, f"a{n}{kind}", f"b{n}{kind}", effect=0.8) for n in range(3) for kind in kinds]
    weak = [replace(one, table="u", effect=0.2) for one in strong]
    chosen = insights(*strong, *weak)

    assert [one.table for one in chosen] == ["t"] * 5 + ["u"] * 5


def test_what_everybody_knows_comes_last() -> None:
    known, new = (
        found("correlation", "air_time", "distance", effect=0.99),
        found("association", "a", "b", effect=0.3),
    )

    assert insights(known, new) == [new, known]


def test_quality_is_ordered_by_importance_and_six_at_most() -> None:
    gap, wrong = found("gap", "day", effect=0.9), found("impossible", "x", effect=0.1)
    outliers = [found("outliers", f"c{place}") for place in range(9)]
    types = [found("text_type", f"d{place}") for place in range(9)]
    chosen = choose(Exploration(findings=(gap, *outliers, *types, wrong), tried=1)).quality

    assert chosen[0] == wrong
    assert len(chosen) == 6


def test_joins_that_keep_rows_come_first_and_five_at_most() -> None:
    many = [
        found("join", f"k{place}", "k", left="t", right=f"u{place}", matched=0.9, right_unique=place == 6)
        for place in range(8)
    ]
    chosen = choose(Exploration(findings=tuple(many), tried=1)).joins

    assert chosen[0] == many[6]
    assert len(chosen) == 5


def test_two_numbers_that_say_nearly_the_same_are_told_in_the_overview_alone_unless_asked_about() -> None:
    pair = found("correlation", "air_time", "distance", effect=0.99, r=0.99, form="line")
    other = found("correlation", "air_time", "delay", r=-0.5, form="line")
    curve = found("correlation", "a", "b", effect=0.99, r=0.99, form="curve")
    tables = (TableOverview(table="t", library="pandas", rows=9),)

    assert insights(pair, other, curve) == [other, curve]
    assert pair in insights(pair, other, mentioned=("distance",))
    assert "air_time and distance carry nearly the same information." in overview_words(
        Exploration(tables=tables, findings=(pair, other), tried=1), "t"
    )


def test_numbers_that_all_follow_one_are_told_in_one_sentence() -> None:
    pairs = [("a", "b"), ("c", "b"), ("d", "e"), ("b", "f")]
    alike = tuple(found("correlation", *pair, effect=0.99, r=0.99, form="line") for pair in pairs)
    tables = (TableOverview(table="t", library="pandas", rows=9),)
    said = overview_words(Exploration(tables=tables, findings=alike, tried=1), "t")

    assert "b, a, c and f carry nearly the same information." in said
    assert "d and e carry nearly the same information." in said
    assert len(said) == 3
