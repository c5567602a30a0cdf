"""From a table by way of the report to programs that run: odd tables as people have them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from exploration_runner import faults, run

from jupyter_codeagent.explore.cells import FindingCell, cells_of
from jupyter_codeagent.explore.figures import are_shown
from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.sandbox.guest.exploration.explore import explore
from jupyter_codeagent.sandbox.guest.exploration.index_columns import index_columns
from jupyter_codeagent.session.index_levels import shown_levels

ROWS = 600


def shop(**columns: Any) -> pd.DataFrame:
    """Return a table in which sales are higher in the south, with more columns."""
    rng = np.random.default_rng(7)
    region = rng.choice(["north", "south", "west"], ROWS)
    sales = rng.normal(100, 10, ROWS) + 15 * (region == "south")
    made = {name: of(rng, region, sales) if callable(of) else of for name, of in columns.items()}
    return pd.DataFrame({"region": region, "sales": sales, **made})


def cells(table: Any, personal: Collection[str] = ()) -> tuple[FindingCell, ...]:
    left_out = {"t": list(personal)}
    labels = [*index_columns(table), *table.columns]
    known = {"t": [name for name in labels if isinstance(name, str) and name.isprintable()]}
    exploration = read_report(json.dumps(explore({"t": table}, left_out, 60, 500_000)), known)
    return cells_of(exploration, goal="", taken=["t"], personal=left_out)


def shown(table: Any, personal: Collection[str] = ()) -> dict[str, str]:
    """Run all programs; return their outputs by what is said. No figure may be missing, and no chart ugly."""
    outputs = {}
    for cell in cells(table, personal):
        ran = run(cell.code, {"t": table})
        assert are_shown(cell.figures, ran.output), f"{cell.words}\n{ran.output}"
        assert [fault for figure in ran.figures for fault in faults(figure)] == []
        outputs[cell.words] = ran.output
    return outputs


def subclass(table: pd.DataFrame) -> pd.DataFrame:
    class Surveyed(pd.DataFrame):
        pass

    return Surveyed(table)


ODD: dict[str, Callable[[], Any]] = {
    "a category of numbers": lambda: shop().assign(
        region=lambda t: t["region"].map({"north": 1, "south": 2, "west": 3}).astype("category")
    ),
    "a category of intervals": lambda: shop(band=lambda _, __, sales: pd.cut(sales, 4)),
    "decimals": lambda: shop(
        price=lambda _, __, sales: [Decimal(str(round(one, 2))) for one in sales],
        cost=lambda rng, _, sales: [Decimal(str(round(one, 1))) for one in sales * 2 + rng.normal(0, 9, ROWS)],
    ),
    "integers of any size": lambda: shop(big=lambda _, __, sales: [10**25 * int(one) for one in sales]),
    "infinite numbers": lambda: shop(
        net=lambda rng, _, sales: np.where(rng.random(ROWS) < 0.02, np.inf, sales),
        tax=lambda rng, _, sales: np.where(rng.random(ROWS) < 0.02, -np.inf, sales + rng.normal(0, 5, ROWS)),
    ),
    "flags of Arrow": lambda: shop(good=lambda _, __, sales: sales > 105).convert_dtypes(dtype_backend="pyarrow"),
    "an index with a column's name": lambda: shop().set_index("region", drop=False),
    "an index that says something": lambda: shop().set_index(pd.date_range("2020", periods=ROWS, name="day")),
    "an index of dates without a name": lambda: shop().set_index(pd.date_range("2020", periods=ROWS, tz="UTC")),
    "an index of quarters": lambda: shop().set_index(
        pd.period_range("1870Q1", periods=ROWS, freq="Q", name="when")
    ),
    "levels of an index": lambda: shop(town=np.arange(ROWS) % 3, no=range(ROWS)).set_index(["town", "no"]),
    "a level without a name": lambda: shop().set_index([pd.Index(range(ROWS), name="no"), pd.Index([7] * ROWS)]),
    "a subclass": lambda: subclass(shop()),
    "a number that stands still in a group": lambda: shop(
        visits=lambda rng, region, sales: np.where(
            region == "west", 5.0, sales * np.where(region == "north", 1, -1) + rng.normal(0, 5, ROWS)
        )
    ),
    "other units": lambda: shop(
        tons=lambda _, __, sales: sales / 1000,
        nano=lambda _, __, sales: sales * 1e9,
        again=lambda _, __, s: s * 1.0001,
    ),
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", ODD)
def test_every_program_of_an_odd_table_runs_and_shows_what_is_said(name: str, library: str) -> None:
    table = ODD[name]()
    if library == "polars":
        try:
            table = pl.from_pandas(table)
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            pytest.skip("polars has no such column")
    said = shown(table)

    assert any("sales is highest for region" in line for line in said)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%dT%H:%M:%SZ", "%b %d, %Y"])
def test_dates_that_are_text_have_trends_seasons_and_gaps(written: str, library: Any) -> None:
    rng = np.random.default_rng(5)
    days: Any = pd.Series(pd.date_range("2021-03-01", "2023-06-30", freq="D"))
    days = days[(days < "2022-05-01") | (days > "2022-05-20")].repeat(2)
    sales = 100 + np.arange(len(days)) / 40 + 9 * (days.dt.day_of_week >= 5) + rng.normal(0, 5, len(days))
    said = shown(library({"day": list(days.dt.strftime(written)), "sales": list(sales)}))

    assert any(line.startswith("sales rises over day") for line in said)
    assert any(line.startswith("sales is highest on S") for line in said)
    assert any(line.startswith("t has no rows between 2022-04-30 and 2022-05-21") for line in said)
    assert any(line.startswith("day holds dates as text in 100 %") for line in said)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("written", ["${:,.2f}", "{:.2f} €", "{:.1f}%", "german", "{:.3e}"])
def test_numbers_that_are_text_are_compared_and_correlated(written: str, library: Any) -> None:
    table = shop(
        cost=lambda rng, _, sales: sales * 30 + rng.normal(0, 90, ROWS),
        day=lambda rng, _, __: pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, ROWS), unit="D"),
    )
    table["cost"] += 300 * (table["day"] - table["day"].min()).dt.days / 100
    german = str.maketrans(",.", ".,")
    texts = [
        f"{one:,.2f}".translate(german) if written == "german" else written.format(one) for one in table["cost"]
    ]
    texts[5], texts[9] = None, "n/a"  # type: ignore[call-overload]
    said = shown(library({**table.to_dict("list"), "cost": texts}))

    assert any(line.startswith("cost holds numbers as text in 99.8 %") for line in said)
    assert any(line.startswith("cost rises with sales (Spearman r 0.7") for line in said)
    assert any(line.startswith("cost is highest for region south") for line in said)
    assert any(line.startswith("cost rises over day") for line in said)


NOT_NUMBERS: dict[str, Callable[[list[float]], list[str]]] = {
    "two ways to write decimals": lambda values: ["1,5", *(f"{one:.2f}" for one in values[1:])],
    "a text with a figure in it": lambda values: ["Lot 7", *(f"{one:.2f}" for one in values[1:])],
    "negative ones in brackets": lambda values: ["(0.36)", *(f"{one:,.2f}" for one in values[1:])],
    "another minus": lambda values: ["\N{MINUS SIGN}5.00", *(f"{one:.2f}" for one in values[1:])],
    "two currencies": lambda values: ["€10.00", *(f"${one:,.2f}" for one in values[1:])],
    "thousands or three decimals": lambda values: [f"{round(one * 9):,}".replace(",", ".") for one in values],
    "versions": lambda values: [f"3.{round(one) % 5 + 8}" for one in values],
    "telephones": lambda values: [f"+4915{round(one * 1e6)}" for one in values],
    "too large": lambda values: ["1e400", *(f"{one:.2f}" for one in values[1:])],
}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("written", NOT_NUMBERS)
def test_texts_that_may_be_other_numbers_or_none_are_not_read(written: str, library: Any) -> None:
    table = shop()
    texts = NOT_NUMBERS[written]([*table["sales"]])
    report = explore({"t": library({**table.to_dict("list"), "price": texts})}, {}, 60, 500_000)
    said = [one for one in report["findings"] if "price" in one["columns"] and one["kind"] != "text_type"]

    assert [one["kind"] for one in said if one["kind"] in ("correlation", "group_difference", "outliers")] == []


def test_thousands_and_three_decimals_of_a_comma_are_told_apart() -> None:
    table = shop(cost=lambda rng, _, sales: sales + rng.normal(0, 9, ROWS))
    thousands = [f"{round(one * 30):,}" for one in table["cost"]]
    decimals = [f"{one / 200:.3f}".replace(".", ",") for one in table["cost"]]
    prices, shares = (shown(shop().assign(price=texts)) for texts in (thousands, decimals))

    assert any(line.startswith("price is highest for region south (mean 3,4") for line in prices)
    assert any(line.startswith("price is highest for region south (mean 0.5") for line in shares)


def test_each_column_of_text_that_is_read_has_the_finding_that_its_programs_need() -> None:
    rng = np.random.default_rng(2)
    texts = {f"c{place}": [f"${one:,.2f}" for one in rng.normal(100, 9, ROWS)] for place in range(70)}

    assert any(line.startswith("sales is highest") for line in shown(shop().assign(**texts)))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("odd", ["TBC", "9999-12-31", "2022-05", " 2022-05-01"])
@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d/%m/%Y", " %Y-%m-%d"])
def test_odd_dates_among_texts_make_no_false_time(written: str, odd: str, library: Any) -> None:
    days = pd.Series([one for one in pd.date_range("2018-01-01", "2023-12-01", freq="MS") for _ in range(8)])
    texts = [*days.dt.strftime(written)]
    texts[::50] = [odd] * len(texts[::50])
    sales = np.arange(len(days)) / 40 + np.random.default_rng(5).normal(0, 5, len(days))
    report = explore({"t": library({"day": texts, "sales": list(sales)})}, {}, 60, 500_000)

    dates = report["tables"][0]["dates"]
    assert dates is None or (dates["first"], dates["last"]) in (
        ("2018-01-01", "2023-12-01"),
        ("2018-02-01", "2023-12-01"),
    )


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("levels", [[True, False], ["$0-$25k", "$25k+"], [1.0, 2.0, 7.0], ["1", "02"]], ids=str)
def test_a_trend_of_a_group_names_its_levels_as_the_program_does(levels: list[Any], library: Any) -> None:
    rng = np.random.default_rng(6)
    days, which = rng.integers(0, 700, 4000), rng.integers(0, len(levels), 4000)
    table = {
        "day": list(pd.Timestamp("2022-01-01") + pd.to_timedelta(days, unit="D")),
        "band": [levels[one] for one in which],
        "pay": list(rng.normal(0, 1, 4000) + np.where(which == 0, 2, -2) * days / 700),
    }

    assert any(line.startswith("How pay changes over day depends on band") for line in shown(library(table)))


@pytest.mark.parametrize(
    "texts", [["1", "2", "3"], ["80331", "10115", "20095"], ["A1", "B2", "C3"], ["E1", "E2", "E3"]]
)
def test_codes_that_are_text_stay_groups(texts: list[str]) -> None:
    table = shop().assign(
        region=lambda t: t["region"].map(dict(zip(["north", "south", "west"], texts, strict=True)))
    )

    assert any(line.startswith(f"sales is highest for region {texts[1]}") for line in shown(table))


def test_dates_that_are_text_are_read_in_their_format_where_the_index_says_something() -> None:
    days = pd.Series(pd.date_range("2021-03-01", "2022-06-30", freq="D"))
    sales = np.arange(len(days)) / 40 + np.random.default_rng(5).normal(0, 5, len(days))
    table = pd.DataFrame({"day": days.dt.strftime("%d/%m/%Y"), "sales": sales})
    table.index = pd.Index([f"n{row}" for row in range(len(days))], name="no")
    codes = [cell.code for cell in cells(table)]
    trends = [code for code in codes if "over time" in code]

    assert trends
    assert all('format="%d/%m/%Y"' in code for code in trends)


@pytest.mark.parametrize(
    "texts",
    [
        [f"{month:02}/{day:02}/2024" for month in range(1, 13) for day in range(1, 13)],
        [f"2024-{month:02}" if month % 2 else f"2024-{month:02}-01" for month in range(1, 13)] * 12,
    ],
    ids=["day or month", "days or months"],
)
def test_dates_that_could_be_others_are_no_time(texts: list[str]) -> None:
    table = pd.DataFrame({"day": texts, "sales": np.arange(float(len(texts)))})

    assert not any("over day" in line for line in shown(table))


def test_numbers_of_a_category_are_no_text() -> None:
    assert not any("text" in line for line in shown(ODD["a category of numbers"]()))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{:,.2f}", "3210.57"),
        ("EUR {:,.2f}", ""),
        ("german", "3210.57"),
        ("{:.1f}%", "3210.6"),
    ],
)
def test_numbers_in_text_are_read_with_their_own_decimal_sign(written: str, read: str, library: Any) -> None:
    numbers = np.linspace(3210.57, 98765.43, 200)
    if written == "german":
        texts = [f"{one:,.2f}".translate(str.maketrans(",.", ".,")) for one in numbers]
    else:
        texts = [written.format(one) for one in numbers]
    said = shown(library({"price": texts, "n": list(range(200))}))
    found = [output for line, output in said.items() if line.startswith("price holds")]

    assert bool(found) == bool(read)
    assert all(read in output for output in found)


def test_columns_that_cannot_be_looked_at_are_counted_and_no_row_is_said_to_repeat() -> None:
    twice = pd.DataFrame(np.tile(np.arange(50), (3, 2)).T)
    twice.columns = pd.Index(["a", "b", "b"])
    wide = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 400)), columns=[f"c{n}" for n in range(400)])

    assert next(iter(shown(twice))) == "t has 100 rows and 3 columns, of which 1 was examined."
    said, output = next(iter(shown(wide).items()))
    assert said == "t has 60 rows and 400 columns, of which 300 were examined."
    assert "c59" in output
    assert "c60" not in output


def test_no_value_of_a_column_that_was_not_looked_at_or_is_personal_is_shown() -> None:
    mails = [f"canary{n}@example.com" for n in range(ROWS)]
    more = pd.DataFrame(np.zeros((ROWS, 320)), columns=[f"c{n}" for n in range(320)])
    tables = [
        shop(mail=mails).rename(columns={"mail": 0}),
        shop(mail=mails).rename(columns={"mail": "e\nmail"}),
        pd.concat([more, shop(mail=mails)], axis=1),
        shop(mail=mails).set_index("mail"),
        shop(mail=mails, id=[*range(ROWS - 3), 1, 2, 3]).set_index("mail"),
    ]
    for table in tables:
        assert "canary" not in json.dumps(shown(table, personal=["mail"]))


def weekly(index: pd.Index[Any], **columns: Any) -> pd.DataFrame:
    """Return a table whose sales rise with the rows."""
    noise = np.random.default_rng(4).normal(0, 3, len(index))
    return pd.DataFrame({"sales": np.arange(len(index)) / 10 + noise, **columns}, index=index)


@pytest.mark.parametrize(
    ("table", "size", "program"),
    [
        (weekly(pd.date_range("2020", periods=200)), "indexed by date.", 't.reset_index(names="date")'),
        (
            weekly(pd.period_range("1980Q1", periods=80, freq="Q", name="quarter")),
            "indexed by quarter.",
            "t.reset_index()",
        ),
        (
            weekly(
                pd.MultiIndex.from_product([["a", "b"], pd.date_range("2020", periods=200)], names=["shop", "day"])
            ).assign(sales=np.tile(np.arange(200) / 10, 2)),
            "indexed by shop and day.",
            "t.reset_index()",
        ),
    ],
)
def test_an_index_of_times_is_a_column_over_which_things_change(table: Any, size: str, program: str) -> None:
    made = cells(table)
    assert made[0].words.split(" Unique key")[0] == f"t has {len(table)} rows and 1 column, {size}"
    trend = next(cell for cell in made if "sales rises over" in cell.words)
    assert f"plain = {program}" in trend.code
    assert are_shown(trend.figures, run(trend.code, {"t": table}).output)
    assert any("first quarter" in output for output in shown(table).values())


def test_an_index_that_cannot_be_looked_at_is_named_and_makes_rows_differ() -> None:
    table = pd.DataFrame({"day": [1.0, 2.0] * 100}, index=pd.date_range("2020", periods=200, name="day"))
    report = explore({"t": table}, {}, 60, 1000)

    assert report["tables"][0]["repeated_rows"] == 0
    table = table.set_axis([f"day {n}" for n in range(200)])
    report = explore({"t": table}, {}, 60, 1000)
    assert report["skipped"] == [
        {"table": "t", "why": "its index (without a name) was not examined: `reset_index()` turns it into a column"}
    ]


def test_an_index_of_which_a_level_is_hidden_is_in_no_program() -> None:
    table = weekly(pd.date_range("2020", periods=200, name="day"))
    exploration = read_report(json.dumps(explore({"t": table}, {}, 60, 1000)), {"t": ["sales"]})
    made = cells_of(exploration, goal="", taken=["t"], personal={})
    assert made
    assert not any("day" in cell.words + cell.code for cell in made)
    assert shown_levels(table, table) == ("day",)
    assert shown_levels(table.reset_index(drop=True), table) == ()


def test_shares_are_of_all_rows_with_both_values() -> None:
    rng = np.random.default_rng(3)
    maker = rng.choice(["A", "B", "C", *(f"rare{n}" for n in range(40))], 900, p=[0.3, 0.3, 0.3, *[0.0025] * 40])
    engine = np.where((maker == "A") & (rng.random(900) < 0.5), "jet", rng.choice(["fan", "prop"], 900))
    said = shown(pd.DataFrame({"maker": maker, "engine": engine}))

    share = f"{round(100 * float(np.mean(engine == 'jet')), 1):g} % of all"
    assert any("engine is jet" in line and share in line for line in said), list(said)


def test_the_strata_that_are_named_are_shown_although_they_are_rare() -> None:
    rng = np.random.default_rng(5)
    sizes = [400] * 14 + [60]
    site = np.repeat([f"s{n}" for n in range(len(sizes))], sizes)
    x = rng.normal(size=len(site))
    y = np.where(site == "s14", -x, x) + rng.normal(0, 0.5, len(site))
    for table in (pd.DataFrame({"site": site, "x": x, "y": y}), pl.DataFrame({"site": site, "x": x, "y": y})):
        assert any("for s14" in line for line in shown(table))


def test_far_values_of_a_long_tail_are_those_that_the_line_counts() -> None:
    rng = np.random.default_rng(2)
    speed = np.append(rng.gamma(4, 2.5, 3000), 1048.36)
    said = shown(pd.DataFrame({"speed": speed, "other": rng.normal(size=3001)}))

    assert any(line.startswith("1 value of speed is far from all others, up to 1,048") for line in said)


def test_measurements_tell_rows_apart_by_chance_and_are_no_keys() -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"income": rng.choice(10**6, 60, replace=False), "taxes": rng.choice(10**5, 60)})

    assert "Unique key" not in next(iter(shown(table)))


def test_the_number_of_a_row_is_no_measurement_although_only_some_rows_are_looked_at() -> None:
    table = pd.DataFrame({"row": np.arange(5000), "x": np.random.default_rng(1).normal(size=5000)})
    roles = {one["name"]: one["role"] for one in explore({"t": table}, {}, 60, 1000)["tables"][0]["columns"]}

    assert roles["row"] == "identifier"


@pytest.mark.parametrize(
    "name",
    [
        "zipcode",
        "zip_code",
        "Postcode",
        "PLZ",
        "store_nbr",
        "OrderNo",
        "customer_no",
        "StudentNumber",
        "county_fips",
    ],
)
def test_a_code_is_no_measurement(name: str) -> None:
    table = pd.DataFrame({name: np.repeat(np.arange(10_000, 10_300), 4), "no": 1, "x": 1.5})

    (overview,) = explore({"t": table}, {}, 60, 1000)["tables"]
    assert overview["columns"][0]["role"] == "other"


def test_a_code_that_a_few_rows_share_is_no_key_with_repetitions() -> None:
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"zipcode": rng.integers(10_000, 99_999, 900), "x": rng.normal(size=900)})

    assert table["zipcode"].nunique() not in (900, 0)
    assert not any("zipcode" in line for line in shown(table))


def test_two_tables_are_joined_by_a_code_of_the_same_name() -> None:
    rng = np.random.default_rng(5)
    codes = np.arange(10_000, 99_999, 701)
    shops = pd.DataFrame({"zipcode": codes, "income": rng.normal(size=len(codes))})
    orders = pd.DataFrame({"zipcode": rng.choice(codes, 2000), "price": rng.normal(size=2000)})
    found = explore({"orders": orders, "shops": shops}, {}, 60, 10_000)["findings"]

    assert [one["columns"] for one in found if one["kind"] == "join"] == [["zipcode", "zipcode"]]


@pytest.mark.parametrize("name", ["votes", "no", "number", "encode", "casino", "education-num"])
def test_other_names_of_numbers_are_no_codes(name: str) -> None:
    table = pd.DataFrame({name: np.repeat(np.arange(10_000, 10_300), 4), "x": 1.5})

    (overview,) = explore({"t": table}, {}, 60, 1000)["tables"]
    assert overview["columns"][0]["role"] == "number"


@pytest.mark.parametrize(
    ("first", "second", "is_found"),
    [
        ("latitude", "longitude", False),
        ("Lat", "Lng", False),
        ("start_lat", "start_lon", False),
        ("plate", "long", True),
    ],
)
def test_how_a_latitude_goes_with_a_longitude_is_no_finding(first: str, second: str, is_found: bool) -> None:
    rng = np.random.default_rng(6)
    north = rng.normal(size=900)
    lines = shown(pd.DataFrame({first: north, second: north + rng.normal(size=900)}))

    assert any("rises with" in line for line in lines) == is_found


@pytest.mark.parametrize(
    ("numbers", "is_found"),
    [
        pytest.param(np.arange(101, 131), False, id="consecutive"),
        pytest.param(np.arange(30) ** 2, False, id="in the order of the alphabet"),
        pytest.param(np.maximum(np.arange(30), 1) ** 2, False, id="two names share one"),
        pytest.param(np.arange(30) ** 2 % 97 * 1000 + np.arange(30), True, id="a size of each"),
    ],
)
def test_numbers_that_number_names_are_no_findings(numbers: np.ndarray, is_found: bool) -> None:
    rng = np.random.default_rng(3)
    names = [f"{chr(65 + at)}ville" for at in range(26)] + ["Zz1", "Zz2", "Zz3", "Zz4"]
    town = rng.integers(0, 30, 2000)
    table = pd.DataFrame({"town": np.array(names)[town], "figure": numbers[town]})
    table["income"] = 30 * rng.normal(size=2000) + np.argsort(np.argsort(numbers))[town]
    lines = " ".join(shown(table))

    assert ("income rises with figure" in lines or "figure rises with income" in lines) == is_found


@pytest.mark.parametrize(("others", "is_compared"), [(9, True), (60, False)])
def test_levels_that_are_spellings_of_one_are_not_compared(others: int, is_compared: bool) -> None:
    rng = np.random.default_rng(7)
    drink = rng.choice(["Crema", "Filter"], 2000)
    price = rng.normal(size=2000) + (drink == "Filter")
    drink[:others] = np.char.upper(drink[:others])
    lines = shown(pd.DataFrame({"drink": drink, "price": price}))

    assert any("drink differs from another value only by case" in line for line in lines)
    assert any("price is highest for drink" in line for line in lines) == is_compared


def test_measurements_at_regular_times_say_nothing_of_how_many_there_are() -> None:
    table = pd.DataFrame({"when": pd.date_range("2023-01-01", periods=ROWS, freq="7h"), "x": np.zeros(ROWS)})

    assert not any("number of rows" in line for line in shown(table))


def test_categories_that_have_an_order_are_shown_in_it() -> None:
    sizes = pd.CategoricalDtype(["small", "medium", "large"], ordered=True)
    names = {"north": "small", "south": "medium", "west": "large"}
    table = shop().assign(size=lambda t: t["region"].map(names).astype(sizes)).drop(columns="region")
    (code,) = (cell.code for cell in cells(table) if "sales is highest for size medium" in cell.words)

    assert run(code, {"t": table}).figures[0].axes[0].get_yticklabels()[-1].get_text() == "large"


def by_year(name: str) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    years = rng.integers(1985, 2024, 1500)
    grown = 0.05 * (years - 1985) + rng.normal(0, 1, 1500)
    return pd.DataFrame({name: years, "crop": grown, "price": 2.0 * (years >= 2008) + rng.normal(0, 1, 1500)})


YEARS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "integers": lambda table: table,
    "with gaps": lambda table: table.assign(
        year=table["year"].where(np.arange(len(table)) % 50 > 0)  # floats, then
    ),
    "nullable": lambda table: table.convert_dtypes(),
    "polars": pl.from_pandas,
    "polars with gaps": lambda table: pl.from_pandas(table).with_columns(
        pl.when(pl.int_range(pl.len()) % 50 > 0).then("year").cast(pl.Float64).alias("year")
    ),
}


@pytest.mark.parametrize("kind", YEARS)
def test_years_as_whole_numbers_are_time_where_a_table_has_no_dates(kind: str) -> None:
    said = list(shown(YEARS[kind](by_year("year"))))

    assert any(line.startswith("crop rises over year: mean ") for line in said), said
    assert any(line.startswith("price jumps in 2008 (year): mean ") for line in said), said
    assert not any("runs from" in line or "number of rows" in line for line in said)


def test_years_are_known_by_their_names_in_other_languages_and_are_no_time_beside_dates() -> None:
    assert any(line.startswith("crop rises over Jahr") for line in shown(by_year("Jahr")))
    assert not any("over plot" in line for line in shown(by_year("plot")))
    dated = by_year("year").assign(day=pd.date_range("2023", periods=1500, freq="7h"))
    assert not any("over year" in line for line in shown(dated))


def test_years_of_noise_are_no_trend() -> None:
    rng = np.random.default_rng(11)
    for _ in range(12):
        table = pd.DataFrame({"year": rng.integers(1990, 2024, 900), "x": rng.normal(size=900)})
        assert len(shown(table)) == 1
