"""What is in a table is found, with the right facts, in pandas and polars alike."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from planted_tables import CASES, planted_table

from jupyter_codeagent.sandbox.guest.exploration.explore import explore

Report = dict[str, Any]


def look_at(table: object, **others: object) -> Report:
    report: Report = explore({"t": table, **others}, {}, 60, 100_000)
    json.dumps(report, allow_nan=False)
    return report


def found(report: Report, kind: str, *columns: str) -> Report:
    """Return the one finding of a kind about these columns, after the correction that the host makes."""
    same: list[Report] = [
        one for one in report["findings"] if one["kind"] == kind and one["columns"] == list(columns)
    ]
    assert len(same) == 1, report["findings"]
    assert same[0]["p_value"] * report["tried"] <= 0.01
    assert 0 <= same[0]["effect"] <= 1
    assert same[0]["facts"]["n"] > 0
    return same[0]


EXPECTED: dict[str, tuple[str, list[str], dict[str, Any]]] = {
    "duplicates": ("duplicates", [], {"repeated": 20, "rows": 2020}),
    "repeated id": ("duplicates", ["order_id"], {"repeated": 3, "rows": 2000}),
    "number text": ("text_type", ["price"], {"meant": "number", "other": ["n/a"], "format": ""}),
    "date text": ("text_type", ["sold"], {"meant": "date", "share": 1.0, "format": "%d.%m.%Y"}),
    "missing": ("missing", ["y"], {"rows": 2000}),
    "missing by group": ("missing_by_group", ["y", "g"], {"level": "b", "levels": 4}),
    "missing together": ("missing_together", ["x", "t"], {}),
    "gap": ("gap", ["day"], {"start": "2016-11-30", "end": "2016-12-13", "days": 12, "usual_days": 1.0}),
    "outliers": ("outliers", ["y"], {"count": 10, "low": None, "highest": 190.0}),
    "long outliers": ("outliers", ["y"], {"count": 6, "low": None}),
    "negative": ("impossible", ["age"], {"count": 8, "why": "negative"}),
    "sentinel": ("impossible", ["age"], {"count": 20, "why": "sentinel", "value": 999.0}),
    "ratio": ("ratio", ["euro", "kg"], {"count": 3}),
    "skew": ("skew", ["income"], {}),
    "group": ("group_difference", ["y", "g"], {"highest": "c", "levels": 5}),
    "line": ("correlation", ["x", "y"], {"form": "line", "peak": None}),
    "curve": ("correlation", ["x", "y"], {"form": "curve"}),
    "association": ("association", ["a", "b"], {"levels_a": 3, "levels_b": 3}),
    "trend": ("trend", ["y", "at"], {"period": "W"}),
    "group trend": ("group_trend", ["y", "at", "g"], {"level_high": "a", "level_low": "b"}),
    "row trend": ("trend", ["", "day"], {}),
    "weekday": ("season", ["y", "at"], {"cycle": "weekday"}),
    "month": ("season", ["y", "at"], {"cycle": "month"}),
    "hour": ("season", ["y", "at"], {"cycle": "hour"}),
    "break": ("break", ["y", "at"], {"period": "W"}),
    "simpson": ("reversal", ["y", "g", "s"], {"a": "a", "b": "b", "strata": 3, "agreeing": 3}),
    "simpson line": ("reversal", ["y", "x", "s"], {"a": "", "b": "", "strata": 4, "agreeing": 4}),
    "slopes": ("interaction", ["y", "x", "s"], {"a": "", "b": "", "level_high": "A", "level_low": "B"}),
    "interaction": ("interaction", ["y", "g", "s"], {"a": "a", "b": "b", "level_high": "A", "level_low": "B"}),
    "same": ("same", ["km", "miles"], {}),
}


@pytest.mark.parametrize("name", CASES)
def test_what_was_planted_is_found(name: str) -> None:
    kind, columns, facts = EXPECTED[name]
    report = look_at(planted_table(name))
    finding = found(report, kind, *columns)
    assert {key: finding["facts"][key] for key in facts} == facts
    assert report["skipped"] == []


@pytest.mark.parametrize("name", CASES)
def test_pandas_and_polars_give_the_same(name: str) -> None:
    frame = planted_table(name)
    ours, theirs = look_at(frame), look_at(pl.from_pandas(frame))
    assert theirs["tables"][0]["library"] == "polars"
    assert ours["tried"] == theirs["tried"]
    assert [one["columns"] for one in ours["findings"]] == [one["columns"] for one in theirs["findings"]]
    for one, other in zip(ours["findings"], theirs["findings"], strict=True):
        assert one["facts"].pop("other", None) == other["facts"].pop("other", None)
        assert one["facts"] == pytest.approx(other["facts"])
    roles = [
        [(column["name"], column["role"]) for column in report["tables"][0]["columns"]] for report in (ours, theirs)
    ]
    assert roles[0] == roles[1]


def test_figures_of_a_group_difference_are_those_of_the_table() -> None:
    frame = planted_table("group")
    facts = found(look_at(frame), "group_difference", "y", "g")["facts"]
    means, sizes = frame.groupby("g")["y"].mean(), frame["g"].value_counts()
    assert facts["highest_mean"] == pytest.approx(means["c"])
    assert facts["lowest_mean"] == pytest.approx(means.min())
    assert facts["highest_n"] == sizes["c"]


def test_figures_of_a_group_trend_are_those_of_the_table() -> None:
    frame = planted_table("group trend")
    facts = found(look_at(frame), "group_trend", "y", "at", "g")["facts"]
    starts = frame["at"].dt.to_period(facts["period"])
    means = frame.groupby([starts, "g"])["y"].mean().unstack()
    quarter = len(means) // 4
    for end, level in (("high", "a"), ("low", "b")):
        assert facts[f"first_{end}"] == pytest.approx(means[level].iloc[:quarter].mean())
        assert facts[f"last_{end}"] == pytest.approx(means[level].iloc[-quarter:].mean())


@pytest.mark.parametrize(("factor", "told"), [(1.5, []), (2.0, []), (10.0, [3]), (100.0, [3])])
def test_a_few_slips_are_found_in_a_short_table_and_a_few_large_values_are_none(
    factor: float, told: list[int]
) -> None:
    values = np.random.default_rng(4).normal(100, 10, 150)
    values[[3, 50, 90]] *= factor
    report = look_at(pd.DataFrame({"y": values, "z": range(150)}))
    assert [one["facts"]["count"] for one in report["findings"] if one["kind"] == "outliers"] == told


@pytest.mark.parametrize("factor", [0.01, 3.0, 10.0])
def test_a_ratio_is_told_with_the_number_above_that_is_too_large_and_only_if_it_is_far(factor: float) -> None:
    frame = planted_table("ratio")
    frame.loc[[5, 70, 900], "euro"] *= factor / 100
    told = [(one["columns"], one["facts"]["count"]) for one in look_at(frame)["findings"] if one["kind"] == "ratio"]
    assert told == {0.01: [(["kg", "euro"], 3)], 3.0: [], 10.0: [(["euro", "kg"], 3)]}[factor]


def test_numbers_that_have_no_usual_ratio_are_not_told_to_be_far_from_it() -> None:
    random = np.random.default_rng(1)
    for spread in (0.6, 1.5):
        size = np.exp(random.normal(size=3000))
        price = size * np.exp(spread * random.normal(size=3000))
        price[:3] *= 100
        assert not [
            one for one in look_at(pd.DataFrame({"a": size, "b": price}))["findings"] if one["kind"] == "ratio"
        ]


@pytest.mark.parametrize("rise", [12, 90])
def test_a_trend_of_one_group_of_six_is_found_however_strong_it_is(rise: float) -> None:
    found_in = 0
    for seed in range(10):
        random = np.random.default_rng(seed)
        month, group = np.repeat(np.arange(60), 96), np.tile(np.arange(6), 60 * 16)
        day = (np.datetime64("2018-01", "M") + month).astype("datetime64[s]")
        value = random.normal(100, 5, len(month)) + (group == 0) * month * rise / 60
        table = pd.DataFrame({"day": day, "g": np.array(list("abcdef"))[group], "v": value})
        found_in += any(one["kind"] == "group_trend" for one in look_at(table)["findings"])
    assert found_in >= 6


def test_a_census_every_fifth_year_has_trends() -> None:
    random = np.random.default_rng(3)
    year = np.repeat(np.arange(1952, 2008, 5), 40)
    age = 50 + 0.3 * (year - 1952) + random.normal(0, 5, len(year))
    trend = found(look_at(pd.DataFrame({"year": year, "age": age})), "trend", "age", "year")["facts"]
    assert (trend["period"], trend["periods"]) == ("Y", 12)
    assert trend["last"] - trend["first"] == pytest.approx(13.5, abs=2)


def test_a_walk_whose_steps_go_one_way_has_a_trend() -> None:
    random = np.random.default_rng(4)
    day = np.datetime64("2024-01-01") + np.arange(200)
    level = np.cumsum(random.normal(1, 1, 200))
    found(look_at(pd.DataFrame({"day": day, "level": level})), "trend", "level", "day")


def test_directions_and_places() -> None:
    trend = found(look_at(planted_table("trend")), "trend", "y", "at")["facts"]
    assert trend["last"] - trend["first"] == pytest.approx(0.75, abs=0.2)
    weekday = found(look_at(planted_table("weekday")), "season", "y", "at")["facts"]
    assert weekday["highest"] in (5, 6)
    assert weekday["lowest"] in range(5)
    month = found(look_at(planted_table("month")), "season", "y", "at")["facts"]
    assert month["highest"] in (2, 3, 4)
    assert month["lowest"] in (8, 9, 10)
    shift = found(look_at(planted_table("break")), "break", "y", "at")["facts"]
    assert "2022-05-01" < shift["at"] < "2022-06-10"
    assert shift["after"] - shift["before"] == pytest.approx(1, abs=0.2)
    peak = found(look_at(planted_table("curve")), "correlation", "x", "y")["facts"]["peak"]
    assert abs(peak) < 0.25
    reversal = found(look_at(planted_table("simpson")), "reversal", "y", "g", "s")["facts"]
    assert reversal["overall"] > 0.2
    assert reversal["within"] == pytest.approx(-0.45, abs=0.15)
    assert found(look_at(planted_table("same")), "same", "km", "miles")["facts"]["factor"] == pytest.approx(
        0.621371
    )


def test_other_effects_that_are_there_are_all_that_is_found() -> None:
    for name in ("group", "line", "curve", "association", "trend", "group trend", "weekday", "break"):
        kinds = {one["kind"] for one in look_at(planted_table(name))["findings"]} - {"skew", "missing"}
        assert kinds == {EXPECTED[name][0]}, name


def test_joins_with_unmatched_and_with_repeated_keys() -> None:
    random = np.random.default_rng(5)
    codes = [f"C{number:03}" for number in range(120)]
    orders = pd.DataFrame({"customer": random.choice(codes, 900), "amount": random.normal(size=900)})
    customers = pd.DataFrame({"customer": codes[:90] + codes[:3], "name": [f"n {code}" for code in range(93)]})
    report = look_at(orders, customers=customers)
    facts = found(report, "join", "customer", "customer")["facts"]
    matched = float(orders["customer"].isin(customers["customer"]).mean())
    assert facts == {
        "n": 900,
        "left": "t",
        "right": "customers",
        "matched": pytest.approx(matched),
        "right_unique": False,
        "repeats": 3,
    }


def test_numbers_join_by_name_only() -> None:
    random = np.random.default_rng(6)
    orders = pd.DataFrame({"customer_id": random.integers(1, 80, 500), "seats": random.integers(1, 80, 500)})
    customers = pd.DataFrame({"id": np.arange(1, 81), "age": random.integers(18, 80, 80)})
    report = explore({"orders": orders, "customers": customers}, {}, 60, 100_000)
    joins = [one["columns"] for one in report["findings"] if one["kind"] == "join"]
    assert joins == [["customer_id", "id"]]


def test_recodings_and_functions_are_no_relations() -> None:
    random = np.random.default_rng(7)
    age = random.uniform(18, 90, 1500)
    city = random.choice(["Rome", "Milan", "Paris", "Lyon"], 1500)
    frame = pd.DataFrame(
        {
            "age": age,
            "age_group": pd.cut(age, [0, 30, 50, 100], labels=["young", "middle", "old"]),
            "squared": age**2,
            "city": city,
            "country": np.where(np.isin(city, ["Rome", "Milan"]), "IT", "FR"),
        }
    )
    assert look_at(frame)["findings"] == []


def test_a_group_spelled_twice_is_taken_once() -> None:
    frame = planted_table("group")
    frame["g_name"] = frame["g"].map({letter: f"Group {letter.upper()}" for letter in "abcde"})
    report = look_at(frame)
    assert [one["columns"] for one in report["findings"] if one["kind"] == "group_difference"] == [["y", "g"]]


def test_parts_of_dates_are_groups_only() -> None:
    day = pd.date_range("2020-01-01", periods=1000)
    random = np.random.default_rng(8)
    parts = pd.DataFrame({"year": day.year, "month": day.month, "day": day.day})
    parts["y"] = random.normal(size=1000) + 0.8 * (parts["month"] == 7)
    report = look_at(parts)
    assert [(one["kind"], one["columns"]) for one in report["findings"]] == [("group_difference", ["y", "month"])]


def test_flags_and_small_numbers() -> None:
    random = np.random.default_rng(9)
    plan = random.choice(["free", "paid"], 2000)
    frame = pd.DataFrame({"plan": plan, "churned": (random.random(2000) < np.where(plan == "free", 0.4, 0.1)) * 1})
    frame["stars"] = random.integers(1, 6, 2000)
    frame["price"] = random.normal(size=2000) + 0.3 * frame["stars"]
    report = look_at(frame)
    facts = found(report, "association", "plan", "churned")["facts"]
    assert (facts["a_level"], facts["b_level"]) == ("free", "1")
    assert found(report, "correlation", "stars", "price")["facts"]["form"] == "line"
    assert {one["kind"] for one in report["findings"]} == {"association", "correlation"}


def test_the_overview() -> None:
    frame = planted_table("trend")
    frame.insert(0, "id", [f"K{row}" for row in range(len(frame))])
    frame["flag"] = frame["noise"] > 0
    frame["one"] = 1
    frame.loc[:9, "noise"] = np.nan
    overview = look_at(frame)["tables"][0]
    roles = {column["name"]: column["role"] for column in overview["columns"]}
    assert roles == {
        "id": "identifier",
        "noise": "number",
        "long": "number",
        "kind": "category",
        "at": "date",
        "y": "number",
        "flag": "flag",
        "one": "constant",
    }
    assert overview["keys"] == [["id"], ["at"]]
    assert overview["rows"] == 2000
    assert overview["dates"]["column"] == "at"
    assert overview["dates"]["first"] == "2021-03-05"
    assert next(column["missing"] for column in overview["columns"] if column["name"] == "noise") == 10


@pytest.mark.parametrize(("value", "why"), [(-1, "only negative"), (-999, "sentinel")])
def test_a_value_is_far_only_if_it_is_further_away_than_the_others_reach(value: int, why: str) -> None:
    quantities = np.random.default_rng(11).integers(1, 9, 2000)
    for likely_one in (0.0, 0.9):  # with nearly all at 1, two below it is far from none of them
        qty = np.where(np.random.default_rng(12).random(2000) < likely_one, 1, quantities)
        qty[:16] = value
        facts = found(look_at(pd.DataFrame({"qty": qty})), "impossible", "qty")["facts"]
        assert (facts["why"], facts["value"], facts["count"]) == (why, value, 16)


def _mixed(name: str) -> pd.DataFrame:
    random = np.random.default_rng(13)
    group = random.integers(0, 3, 900)
    x, noise = 3 * group + random.normal(size=900), random.normal(size=900)
    y = np.array([0, 4, 1])[group] + noise
    if name == "rises in each group":
        y = np.array([4, 3, -4])[group] + (x - 3 * group) + noise
    if name == "a curve beside groups":
        group = random.integers(0, 3, 900)
        y = 3 * group - (x - 3) ** 2 / 3 + noise
    if name == "a curve cut into ranges":
        y = -((x - 3) ** 2) + noise
        group = np.digitize(x, [1, 3, 5])
    return pd.DataFrame({"x": x, "y": y, "g": np.array(list("abcd"))[group]})


@pytest.mark.parametrize("name", ["lies apart in each group", "rises in each group"])
def test_groups_that_lie_apart_make_no_curve(name: str) -> None:
    findings = look_at(_mixed(name))["findings"]
    assert "group_difference" in [one["kind"] for one in findings]
    assert not any(one["facts"].get("form") == "curve" for one in findings)
    if name == "rises in each group":  # the line over all rows is told as a reversal, and not as a line
        assert "reversal" in [one["kind"] for one in findings]
        assert "correlation" not in [one["kind"] for one in findings]


@pytest.mark.parametrize("name", ["a curve beside groups", "a curve cut into ranges"])
def test_a_curve_is_told_beside_groups_that_do_not_make_it(name: str) -> None:
    facts = found(look_at(_mixed(name)), "correlation", "x", "y")["facts"]
    assert facts["form"] == "curve"


def test_hidden_columns_are_in_no_finding() -> None:
    report = explore({"t": planted_table("line")}, {"t": ["x"]}, 60, 100_000)
    assert not any("x" in one["columns"] for one in report["findings"])


@pytest.mark.parametrize("rows", [1001, 1300, 1999, 5000])
def test_no_row_is_picked_twice_so_that_a_key_is_known_by_some_rows(rows: int) -> None:
    table = pd.DataFrame({"code": [f"C{number:04}" for number in range(rows)]})
    assert explore({"t": table}, {}, 60, 1000)["tables"][0]["keys"] == [["code"]]


def test_a_large_table_is_sampled_in_order() -> None:
    random = np.random.default_rng(10)
    x = random.normal(size=60_000)
    frame = pd.DataFrame({"day": pd.date_range("2000-01-01", periods=60_000, freq="h"), "x": x})
    frame["y"] = x + random.normal(size=60_000) * 2
    report = explore({"t": frame}, {}, 60, 10_000)
    assert report["tables"][0]["sampled"] == 10_000
    assert report["tables"][0]["rows"] == 60_000
    assert [one["kind"] for one in report["findings"]] == ["correlation"]


@pytest.mark.parametrize(("years", "is_group"), [(2, True), (7, True), (8, False)])
def test_a_few_years_are_groups_and_many_are_time(years: int, is_group: bool) -> None:
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"year": np.repeat(np.arange(2001, 2001 + years), 60)})
    table["y"] = rng.normal(0, 1, len(table)) + (table["year"] == 2001) * 2
    findings = look_at(table)["findings"]
    assert (
        any(one["columns"] == ["y", "year"] and one["kind"] == "group_difference" for one in findings) == is_group
    )


@pytest.mark.parametrize("turns", [True, False])
def test_a_curve_turns_only_where_it_rises_on_one_side_and_falls_on_the_other(turns: bool) -> None:
    rng = np.random.default_rng(6)
    x = rng.uniform(0, 10, 1000)
    table = pd.DataFrame({"x": x, "y": -3 * (x - 7) ** 2 * ((x > 7) | turns) + rng.normal(0, 2, 1000)})
    facts = found(look_at(table), "correlation", "x", "y")["facts"]
    assert facts["form"] == "curve"
    assert (facts["peak"] is not None) == turns
