"""Keys and joins of several columns: those that are there are found, in both libraries, and no others."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from noise_tables import KINDS, noise_table

from jupyter_codeagent.sandbox.guest.exploration.joins import KeyReader, find_joins
from jupyter_codeagent.sandbox.guest.exploration.overview import find_keys
from jupyter_codeagent.sandbox.guest.exploration.search import Search
from jupyter_codeagent.sandbox.guest.exploration.sources import open_source
from jupyter_codeagent.sandbox.guest.exploration.table import Table

Facts = dict[str, Any]
LIBRARIES = [pytest.param(lambda frame: frame, id="pandas"), pytest.param(pl.from_pandas, id="polars")]
Convert = Callable[[pd.DataFrame], Any]
BY_TWO = "trips.(depot, day) = weather.(depot, day)"


def opened(name: str, frame: Any, hidden: Collection[str] = (), max_rows: int = 100_000) -> Table:
    source = open_source(frame)
    assert source is not None
    return Table(name, source, hidden, max_rows)


def joins(hidden: Collection[str] = (), **frames: Any) -> dict[str, Facts]:
    search = Search("", time.monotonic() + 60)
    find_joins([opened(name, frame, hidden) for name, frame in frames.items()], KeyReader(), search)
    return {_side(one.columns, one.facts): one.facts for one in search.findings}


def _side(columns: tuple[str, ...], facts: Facts) -> str:
    many = len(columns) // 2
    return f"{facts['left']}.({', '.join(columns[:many])}) = {facts['right']}.({', '.join(columns[many:])})"


def grid(**levels: Any) -> pd.DataFrame:
    """Return all combinations, in a random order."""
    every = pd.DataFrame(product(*levels.values()), columns=list(levels))
    return every.sample(frac=1, random_state=3, ignore_index=True)


def weather(days: int = 90) -> pd.DataFrame:
    made = grid(depot=["north", "south", "harbour"], day=pd.date_range("2024-01-01", periods=days))
    return made.assign(rain=np.random.default_rng(4).gamma(2, 3, len(made)))


def trips(days: int = 90, rows: int = 1500) -> pd.DataFrame:
    random = np.random.default_rng(5)
    first = np.datetime64("2024-01-01", "us")
    return pd.DataFrame(
        {
            "depot": random.choice(["north", "south", "harbour"], rows),
            "day": first + random.integers(0, days, rows).astype("timedelta64[D]"),
            "seats": random.integers(2, 60, rows),
            "km": random.lognormal(3, 1, rows),
        }
    )


@pytest.mark.parametrize("convert", LIBRARIES)
def test_two_columns_that_are_a_key_together_join_whichever_table_comes_first(convert: Convert) -> None:
    left, right = convert(trips(days=96)), convert(weather())
    matched = float((trips(days=96)["day"] < "2024-03-31").mean())
    facts = {"n": 1500, "left": "trips", "right": "weather", "right_unique": True, "repeats": 0}

    for found in (joins(trips=left, weather=right), joins(weather=right, trips=left)):
        assert found == {BY_TWO: facts | {"matched": pytest.approx(matched)}}


RENAMED: dict[str, tuple[dict[str, str], str]] = {
    "spelled otherwise": ({"depot": "Depot", "day": "DAY_"}, "Depot, DAY_"),
    "one of them": ({"depot": "station"}, "station, day"),
    "after a table": ({"depot": "trip_depot"}, "trip_depot, day"),
    "the date": ({"day": "measured"}, "depot, measured"),
}


@pytest.mark.parametrize("name", RENAMED)
def test_columns_of_other_names_are_known_by_their_values(name: str) -> None:
    names, keys = RENAMED[name]
    assert list(joins(trips=trips(), weather=weather().rename(columns=names))) == [
        f"trips.(depot, day) = weather.({keys})"
    ]


@pytest.mark.parametrize("as_text", [False, True])
def test_both_may_have_other_names_where_one_has_many_values(as_text: bool) -> None:
    moments = pd.date_range("2024-01-01", periods=90, freq="h")
    right = weather().assign(day=lambda t: t["day"].map(dict(zip(sorted(set(t["day"])), moments, strict=True))))
    left = right.sample(700, replace=True, random_state=1).drop(columns="rain").reset_index(drop=True)
    if as_text:
        left, right = left.astype({"day": str}), right.astype({"day": str})
    right = right.rename(columns={"depot": "station", "day": "measured"})

    assert list(joins(trips=left, weather=right)) == ["trips.(depot, day) = weather.(station, measured)"]


@pytest.mark.parametrize(("kept", "is_told"), [(0.97, True), (0.6, True), (0.3, False)])
def test_most_rows_have_to_find_a_partner(kept: float, is_told: bool) -> None:
    found = joins(trips=trips(), weather=weather().sample(frac=kept, random_state=1))

    assert list(found) == ([BY_TWO] if is_told else [])
    assert all(facts["matched"] == pytest.approx(kept, abs=0.05) for facts in found.values())


@pytest.mark.parametrize("convert", LIBRARIES)
def test_rows_that_lack_a_key_have_no_partner(convert: Convert) -> None:
    left, right = trips(), weather()
    left.loc[:299, "depot"] = None
    left.loc[200:449, "day"] = None
    right.loc[:3, "depot"] = None
    right.loc[2:5, "day"] = None
    known = right.dropna()
    matched = len(left.dropna().merge(known, on=["depot", "day"])) / len(left)

    found = joins(trips=convert(left), weather=convert(right))
    assert found == {
        BY_TWO: {
            "n": 1500,
            "left": "trips",
            "right": "weather",
            "matched": pytest.approx(matched),
            "right_unique": True,
            "repeats": 0,
        }
    }


@pytest.mark.parametrize(("again", "is_told"), [(6, True), (90, False)])
def test_a_few_rows_that_repeat_a_key_are_told_and_many_make_it_none(again: int, is_told: bool) -> None:
    right = pd.concat([weather(), weather().head(again)], ignore_index=True)
    found = joins(trips=trips(), weather=right)

    assert [(name, facts["repeats"]) for name, facts in found.items()] == ([(BY_TWO, again)] if is_told else [])


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d"))


def in_zone(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(day=frame["day"].dt.tz_localize("UTC"))


TYPES: dict[str, tuple[pd.DataFrame, pd.DataFrame, bool]] = {
    "text dates on both sides": (as_text(trips()), as_text(weather()), True),
    "dates and text dates": (trips(), as_text(weather()), False),
    "text dates and dates": (as_text(trips()), weather(), False),
    "time zones on both sides": (in_zone(trips()), in_zone(weather()), True),
    "a time zone on one side": (trips(), in_zone(weather()), False),
    "other units": (trips(), weather().astype({"day": "datetime64[ns]"}), True),
    "days and moments": (trips(), weather().assign(day=lambda t: t["day"].dt.date), False),
    "categories": (trips().astype({"depot": "category"}), weather(), True),
}


@pytest.mark.parametrize("name", TYPES)
def test_only_columns_that_a_join_can_compare_are_joined(name: str) -> None:
    left, right, is_told = TYPES[name]
    assert list(joins(trips=left, weather=right)) == ([BY_TWO] if is_told else [])
    if "days" not in name:  # of which pandas knows no type
        found = joins(trips=pl.from_pandas(left), weather=pl.from_pandas(right))
        assert list(found) == ([BY_TWO] if is_told else [])


@pytest.mark.parametrize("convert", LIBRARIES)
def test_integers_join_floats_with_missing_values(convert: Convert) -> None:
    lines = grid(order_no=range(5000, 5200), line_no=range(1, 6)).sample(700, random_state=1)
    returns = lines.sample(250, random_state=2).reset_index(drop=True).astype(float)
    returns.loc[:19, "line_no"] = np.nan
    found = joins(returns=convert(returns.assign(reason="broken")), lines=convert(lines.assign(price=2.5)))

    assert [(name, facts["matched"]) for name, facts in found.items()] == [
        ("returns.(order_no, line_no) = lines.(order_no, line_no)", pytest.approx(230 / 250))
    ]
    assert find_keys(opened("lines", lines)) == [["order_no", "line_no"]]


def customers(again: int) -> pd.DataFrame:
    """Return customers of whom some stand twice, none of them twice in one city."""
    codes = [f"C{number:04}" for number in range(1000)]
    cities = np.random.default_rng(6).choice(["Oslo", "Rome", "Lima", "Bonn", "Cork"], 1000)
    twice = pd.DataFrame({"customer": codes[:again], "city": np.where(cities[:again] == "Oslo", "Rome", "Oslo")})
    return pd.concat([pd.DataFrame({"customer": codes, "city": cities}), twice], ignore_index=True)


@pytest.mark.parametrize("again", [1, 10, 30])
def test_a_column_that_is_nearly_unique_makes_no_key_with_any_other(again: int) -> None:
    known = customers(again)
    orders = known.sample(3000, replace=True, random_state=2).reset_index(drop=True).assign(total=1.5)

    assert not known.duplicated(["customer", "city"]).any()
    assert find_keys(opened("customers", known)) == []
    assert {name: facts["repeats"] for name, facts in joins(orders=orders, customers=known).items()} == {
        "orders.(customer) = customers.(customer)": again
    }


def test_where_a_pair_is_the_key_no_join_is_told_that_multiplies_rows() -> None:
    prices = grid(product=[f"P{number:03}" for number in range(60)], half=["first", "second"]).assign(price=1.5)
    sales = prices.drop(columns="price").sample(2000, replace=True, random_state=1).assign(sold=2)

    assert list(joins(sales=sales, prices=prices)) == ["sales.(product, half) = prices.(product, half)"]
    assert list(joins(sales=sales.drop(columns="half"), prices=prices)) == ["sales.(product) = prices.(product)"]


def test_where_a_single_column_suffices_no_pair_is_told() -> None:
    right = weather().assign(reading_id=lambda t: np.arange(len(t)) + 70)
    left = right.drop(columns="rain").sample(900, replace=True, random_state=1)
    calendar = weather().drop_duplicates("day")

    assert list(joins(trips=left, weather=right)) == ["trips.(reading_id) = weather.(reading_id)"]
    assert joins(trips=trips(), weather=calendar) == {}


def test_three_columns_join_where_no_two_do() -> None:
    names = [f"P{number:02}" for number in range(20)]
    target = grid(shop=["N", "S", "E", "W"], product=names, month=range(1, 13)).assign(target=100)
    sold = target.drop(columns="target").sample(1500, replace=True, random_state=1).assign(sold=3)
    by_three = "sold.(shop, product, month) = target.(shop, product, month)"

    assert list(joins(target=target, sold=sold)) == [by_three]
    assert list(joins(target=target.rename(columns={"month": "in_month"}), sold=sold)) == []
    one_shop = target.query("shop == 'N'")
    assert list(joins(sold=sold.query("shop == 'N'"), target=one_shop)) == [
        "sold.(product, month) = target.(product, month)"
    ]


def test_a_table_of_counts_by_two_columns_joins_what_it_counts() -> None:
    counts = trips().groupby(["depot", "day"], as_index=False).agg(trips=("km", "size"))
    assert list(joins(counts=counts, trips=trips())) == ["trips.(depot, day) = counts.(depot, day)"]


def test_of_two_tables_with_the_same_keys_the_later_one_is_on_the_right() -> None:
    people, wealth = (
        grid(country=["NO", "IT"], year=range(1990, 2020)),
        grid(country=["NO", "IT"], Year=range(1990, 2020)),
    )
    assert list(joins(people=people, wealth=wealth)) == ["people.(country, year) = wealth.(country, Year)"]


def test_two_states_of_one_table_are_not_joined_by_several_columns() -> None:
    lines = grid(order_no=range(5000, 5200), line_no=range(1, 6)).assign(price=2.5, item="chair")
    assert joins(lines=lines, clean=lines.sample(700, random_state=1)) == {}


def test_hidden_columns_join_nothing() -> None:
    assert joins(hidden=["day"], trips=trips(), weather=weather()) == {}


LOOKALIKES: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = {
    "letters that stand for anything": (
        trips().assign(grade=np.tile(list("abc"), 500)).drop(columns="depot"),
        weather().assign(depot=lambda t: t["depot"].str[0].map({"n": "a", "s": "b", "h": "c"})),
    ),
    "other days": (trips(), weather().assign(day=lambda t: t["day"] - pd.Timedelta(days=400))),
    "other depots": (trips(), weather().assign(depot=lambda t: "D" + t["depot"])),
    "floats": (trips().assign(level=lambda t: t["km"]), weather().assign(level=lambda t: t["rain"])),
    "numbers of other names": (
        pd.DataFrame({"age": np.tile(range(20, 60), 25), "score": np.repeat(range(10), 100)}),
        grid(visits=range(100), rank=range(20)),
    ),
    "days of other names and nothing sure": (
        trips().rename(columns={"day": "booked", "depot": "from"}),
        weather().rename(columns={"day": "measured", "depot": "station"}),
    ),
}


@pytest.mark.parametrize("name", LOOKALIKES)
def test_what_only_looks_alike_is_not_joined(name: str) -> None:
    left, right = LOOKALIKES[name]
    if name == "floats":
        left, right = left.drop(columns="day"), right.drop(columns="day")
    assert joins(trips=left, weather=right) == {}


@pytest.mark.parametrize("seed", range(3))
def test_tables_of_noise_are_not_joined(seed: int) -> None:
    tables = [opened(kind, noise_table(kind, seed)) for kind in KINDS]
    tables += [
        opened(f"{kind}_2", noise_table(kind, seed + 50)) for kind in ("plain", "ties", "dates", "clustered")
    ]
    for one, other in combinations(tables, 2):
        search = Search("", time.monotonic() + 60)
        find_joins([one, other], KeyReader(), search)
        assert search.findings == [], (one.name, other.name)


@pytest.mark.parametrize("convert", LIBRARIES)
def test_the_key_of_a_table_may_be_a_pair(convert: Convert) -> None:
    assert find_keys(opened("weather", convert(weather()))) == [["day", "depot"]]


def test_a_pair_is_no_key_by_chance_with_missing_values_or_as_floats() -> None:
    random = np.random.default_rng(8)
    few = pd.DataFrame({"city": [f"c{one}" for one in range(39)] + ["c1"], "team": random.choice(list("abcd"), 40)})
    measured = pd.DataFrame({"x": random.normal(size=300).round(1), "age": random.integers(18, 80, 300)})
    lacking = weather()
    lacking.loc[0, "depot"] = None

    for table in (few, measured, lacking):
        assert find_keys(opened("t", table)) == []


def test_of_a_large_table_all_rows_have_to_have_their_own_pair() -> None:
    large = grid(shop=[f"S{one:03}" for one in range(300)], hour=range(100))
    one_twice = pd.concat([large, large.head(1)], ignore_index=True)

    assert find_keys(opened("t", large, max_rows=1000)) == [["shop", "hour"]]
    assert find_keys(opened("t", one_twice, max_rows=1000)) == []
