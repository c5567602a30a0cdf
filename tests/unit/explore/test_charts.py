"""Charts of all kinds, drawn and looked at: what overlaps, is cut, pale or hidden is found in the figure itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import altair as alt
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from chart_faults import contrast, faults
from exploration_cases import (
    CARRIERS,
    CASES,
    WITHOUT_CHART,
    Case,
    associated,
    correlated,
    finding_of,
    frames,
    grouped,
    missing_by,
    over_time,
    quality,
    seasonal,
    slopes,
    three_ways,
    turned_correlation,
)
from exploration_runner import Ran, run
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from evals.explore.planted import planted_cases
from jupyter_codeagent.explore.cells import cells_of
from jupyter_codeagent.explore.programs import program
from jupyter_codeagent.explore.programs.colours import COLOURS, GREY
from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.notebook.outputs.interactive import interactive_entry
from jupyter_codeagent.sandbox.guest.exploration.explore import explore
from jupyter_codeagent.types.charts import CHART_LIBRARIES, ChartLibrary
from jupyter_codeagent.types.exploration import Exploration

LIBRARIES = ("pandas", "polars")
OTHERS: tuple[ChartLibrary, ...] = ("altair", "plotly")
ALTAIRS_LIMIT = 5000
FIGURES = ("highest_mean", "lowest_mean", "first", "last", "before", "after", "median", "mean")
"""Facts on the scale of the first column."""


def in_units(case: Case, times: float, plus: float = 0.0) -> Case:
    """Return the case with its values in another unit."""
    name, table = next(iter(case.tables.items()))
    value = case.columns[0]
    facts = {
        key: one * times + plus
        if key in FIGURES or (case.kind in {"outliers", "skew"} and key in EXTREMES)
        else one
        for key, one in case.facts.items()
        if one is not None
    }
    return replace(case, tables={name: table.assign(**{value: table[value] * times + plus})}, facts=facts)


EXTREMES = ("low", "high", "lowest", "highest")
FOREIGN = ["Île-de-France", "Ελλάδα", "Україна", "Österreich–Süd", "1 < 2 & 3"]
MOST = [f"a category with number {number}" for number in range(45)]


def over_decades() -> Case:
    """Return groups whose means differ by a factor of 40,000."""
    table = pd.DataFrame(
        {"sales": np.repeat([0.5, 30.0, 900.0, 20_000.0], 200), "country": np.repeat(list("abcd"), 200)}
    )
    table["sales"] *= np.random.default_rng(1).uniform(0.8, 1.2, 800)
    by = table.groupby("country")["sales"].mean()
    facts = {"highest": "d", "lowest": "a", "highest_mean": float(by["d"]), "lowest_mean": float(by["a"])}
    facts |= {"highest_n": 200, "lowest_n": 200, "levels": 4, "n": 800}
    return Case(tables={"shops": table}, kind="group_difference", columns=["sales", "country"], facts=facts)


def long_tail() -> Case:
    """Return a long tail over more than three decades."""
    case = quality("skew")
    price = next(iter(case.tables.values()))["price"]
    ends = {"lowest": float(price.min()), "highest": float(price.max())}
    return replace(case, facts=case.facts | ends)


def growth() -> Case:
    """Return a value that grows a thousandfold."""
    case = over_time("trend")
    name, table = next(iter(case.tables.items()))
    table = table.assign(delay=np.exp(table["delay"].clip(0)) * 3)
    known = table.dropna()
    by = known.groupby(known["dep time"].dt.to_period("M").dt.start_time)["delay"].mean()
    quarter = len(by) // 4
    ends = {"first": float(by.iloc[:quarter].mean()), "last": float(by.iloc[-quarter:].mean()) * 4}
    return replace(case, tables={name: table}, facts=case.facts | ends)


HARD: dict[str, Callable[[], Case]] = {
    "huge": lambda: in_units(grouped(CARRIERS), 3e11),
    "tiny": lambda: in_units(grouped(CARRIERS), 2e-9),
    "nearly equal": lambda: in_units(grouped(CARRIERS), 0.01, 71423.0),
    "foreign": lambda: grouped(FOREIGN),
    "foreign shares": lambda: associated(FOREIGN, a="Größe", b="naïve", outcomes=("ja & nein", "$5 <b>x</b> $6")),
    "foreign gaps": lambda: missing_by(FOREIGN, value="Straße"),
    "foreign strata": lambda: three_ways("interaction", FOREIGN, ("männlich", "weiblich")),
    "45 categories": lambda: grouped(MOST, rows=4000),
    "45 shares": lambda: associated(MOST),
    "45 gaps": lambda: missing_by(MOST),
    "45 strata": lambda: three_ways("interaction", MOST),
    "over decades": over_decades,
    "long tail": long_tail,
    "long tail of millions": lambda: in_units(long_tail(), 1e6),
    "growth": growth,
    "huge trend": lambda: in_units(over_time("trend"), 3e11),
    "tiny trend": lambda: in_units(over_time("break"), 2e-9),
    "nearly equal trend": lambda: in_units(over_time("break"), 0.01, 71423.0),
    "trend of years": lambda: over_time("trend", period="Y"),
    "huge season": lambda: in_units(seasonal("weekday"), 3e11),
    "nearly equal season": lambda: in_units(seasonal("month"), 0.01, 71423.0),
    "huge outliers": lambda: in_units(quality("outliers"), 1e7),
    "huge pairs": lambda: in_units(correlated(), 1e12),
    "nearly equal pairs": lambda: in_units(correlated(curve=True), 0.001, 71423.0),
    "huge strata": lambda: in_units(three_ways("reversal", ["arts", "law"]), 1e9),
    "huge slopes": lambda: in_units(slopes(), 1e9),
}


WITH_CHART = [name for name in CASES if CASES[name]().kind not in WITHOUT_CHART]
ALL: dict[str, Callable[[], Case]] = {**{name: CASES[name] for name in WITH_CHART}, **HARD}


@cache
def case_of(name: str) -> Case:
    return ALL[name]()


def drawn(case: Case, library: str = "pandas", charts: ChartLibrary = "matplotlib") -> Ran:
    finding, exploration = finding_of(case, library)
    return run(program(finding, exploration, charts=charts), frames(case, library))


def figure_of(case: Case, library: str = "pandas") -> Figure:
    (figure,) = drawn(case, library).figures
    return figure


def sizes(figure: Figure) -> list[float]:
    """Return the lengths of the bars, or the places of the points, from below."""
    axes: Any = figure.axes[0]
    if axes.patches:
        found = [patch.get_width() for patch in axes.patches]
        return found[::-1] if axes.yaxis_inverted() else found
    return [float(value) for value in axes.lines[0].get_xdata()]


OTHER_STYLE = pytest.mark.rare("each library is looked at in one style, each style with one library")


@pytest.mark.parametrize(
    ("style", "library"),
    [
        ("default", "pandas"),
        ("dark_background", "polars"),
        pytest.param("default", "polars", marks=OTHER_STYLE),
        pytest.param("dark_background", "pandas", marks=OTHER_STYLE),
    ],
)
@pytest.mark.parametrize("name", ALL)
def test_every_chart_can_be_read_in_a_light_and_in_a_dark_style(name: str, style: str, library: str) -> None:
    with plt.style.context(style):
        assert list(faults(figure_of(case_of(name), library))) == []


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "name",
    [
        "group",
        "group_many",
        "association",
        "association_many",
        "missing_by_group",
        "missing_by_many",
        "missing_together",
    ],
)
def test_categories_without_an_order_are_sorted_by_their_values(name: str, library: str) -> None:
    found = sizes(figure_of(case_of(name), library))

    assert found == sorted(found)
    assert len(set(found)) > 1


SIZES = ["small", "medium", "large", "huge"]
IN_ORDER: dict[str, tuple[Callable[[list[Any]], Case], int]] = {
    "group": (grouped, 1),
    "association": (associated, 0),
    "missing": (missing_by, 1),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("levels", ["numbers", "ordered categories"])
@pytest.mark.parametrize("name", IN_ORDER)
def test_categories_with_an_order_keep_it(name: str, levels: str, library: str) -> None:
    make, place = IN_ORDER[name]
    names: list[Any] = [3, 1, 4, 2] if levels == "numbers" else [SIZES[2], SIZES[0], SIZES[3], SIZES[1]]
    case = make(names)
    column = case.columns[place]
    if levels == "ordered categories":
        ordered = pd.CategoricalDtype(SIZES, ordered=True)
        case = replace(case, tables={key: table.astype({column: ordered}) for key, table in case.tables.items()})
    tables = frames(case, library)
    finding, exploration = finding_of(case, library)
    if levels == "ordered categories":
        exploration = with_type(
            exploration, column, "category ordered" if library == "pandas" else "Enum(categories"
        )
        if library == "polars":
            tables = {key: table.with_columns(pl.col(column).cast(pl.Enum(SIZES))) for key, table in tables.items()}
    (figure,) = run(program(finding, exploration), tables).figures
    (axes,) = figure.axes
    shown = [label.get_text() for label in axes.get_yticklabels()]

    assert shown == (["1", "2", "3", "4"] if levels == "numbers" else SIZES)


def with_type(exploration: Any, column: str, stored: str) -> Any:
    (table,) = exploration.tables
    columns = tuple(replace(one, type=stored) if one.name == column else one for one in table.columns)
    return replace(exploration, tables=(replace(table, columns=columns),))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("name", "axis"), [("over decades", "x"), ("long tail", "x"), ("growth", "y"), ("outliers", "x")]
)
def test_positive_values_over_more_than_three_decades_have_a_logarithmic_axis(
    name: str, axis: str, library: str
) -> None:
    (axes,) = figure_of(case_of(name), library).axes

    assert (axes.get_xscale() if axis == "x" else axes.get_yscale()) == "log"


@pytest.mark.parametrize("name", ["group", "skew", "trend", "line", "outliers_both"])
def test_other_axes_are_linear(name: str) -> None:
    (axes,) = figure_of(case_of(name)).axes

    assert axes.get_xscale() == "linear"


@pytest.mark.parametrize("name", WITH_CHART)
def test_the_number_of_rows_stands_below_each_chart(name: str) -> None:
    case = case_of(name)
    told = figure_of(case).get_supxlabel()

    assert told.startswith("n = ")
    assert 0 < int(told.removeprefix("n = ").replace(",", "")) <= len(next(iter(case.tables.values())))


@cache
def explored(name: str) -> tuple[dict[str, pd.DataFrame], Exploration]:
    tables = dict(next(one for one in planted_cases("development") if one.name == name).tables)
    known = {key: tuple(map(str, table.columns)) for key, table in tables.items()}
    return tables, read_report(json.dumps(explore(dict(tables), {}, 60, 500_000)), known)


@pytest.mark.parametrize("charts", CHART_LIBRARIES)
@pytest.mark.parametrize("name", [one.name for one in planted_cases("development")])
def test_what_is_found_in_generated_tables_is_drawn_without_a_fault(name: str, charts: ChartLibrary) -> None:
    tables, exploration = explored(name)
    for cell in cells_of(exploration, goal="", taken=list(tables), personal={}, charts=charts):
        ran = run(cell.code, tables)
        assert [fault for figure in ran.figures for fault in faults(figure)] == [], cell.code


def test_a_legend_says_that_it_has_not_all_levels() -> None:
    figure = figure_of(turned_correlation(strata=9))
    shown = [text.get_text() for text in figure.legends[0].get_texts()]

    assert figure.legends[0].get_title().get_text().replace("\n", " ") == "field (some of 9)"
    assert len(shown) == len(COLOURS) + 1
    assert figure_of(case_of("reversal_numbers")).legends[0].get_title().get_text() == "field"


# --- a test that finds nothing wrong has to find what is wrong


def tick_labels_too_large(figure: Figure) -> None:
    figure.axes[0].tick_params(labelsize=60)


def title_too_long(figure: Figure) -> None:
    figure.suptitle("a title that is far too long for its figure " * 4)


def text_at_the_same_place(figure: Figure) -> None:
    figure.text(0.5, 0.985, "one over the other", ha="center", va="top")


def pale_text(figure: Figure) -> None:
    figure.axes[0].xaxis.label.set_color("0.7")


def pale_bars(figure: Figure) -> None:
    figure.axes[0].patches[0].set_facecolor("#F0E442")


def dark_background(figure: Figure) -> None:
    figure.set_facecolor("black")


def no_caption(figure: Figure) -> None:
    figure.supxlabel("")


def points_over_decades(figure: Figure) -> None:
    figure.axes[0].scatter([1, 10, 100_000], [0, 1, 2], color=COLOURS[0])


BAD: dict[Callable[[Figure], None], str] = {
    tick_labels_too_large: "text over text",
    title_too_long: "cut",
    text_at_the_same_place: "text over text",
    pale_text: "pale text",
    pale_bars: "a colour of its own",
    dark_background: "pale text",
    no_caption: "no number of rows",
    points_over_decades: "hides its small values",
}


@pytest.mark.parametrize("spoil", BAD)
def test_a_chart_that_is_bad_on_purpose_is_found_out(spoil: Callable[[Figure], None]) -> None:
    figure = figure_of(case_of("association"))
    assert list(faults(figure)) == []
    spoil(figure)
    figure.canvas.draw()

    assert any(fault.startswith(BAD[spoil]) or BAD[spoil] in fault for fault in faults(figure)), list(
        faults(figure)
    )


# --- colours

SIGHT = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.01182, 0.04294, 0.968881),
    ),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
    "usual": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
}
"""How colours are seen (Machado, Oliveira and Fernandes 2009), in linear RGB."""
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1.0, 1.089)
MIN_DISTANCE = 15.0
"""In CIELAB, where 2.3 can just be seen."""


def seen(colour: str, sight: str) -> Any:
    """Return a colour in CIELAB as somebody sees it."""
    parts = np.asarray(to_rgb(colour))
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = np.asarray(XYZ) @ np.clip(np.asarray(SIGHT[sight]) @ linear, 0, 1) / WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_can_be_told_apart_by_the_colour_blind(sight: str) -> None:
    for one, other in combinations(COLOURS, 2):
        distance = float(np.linalg.norm(seen(one, sight) - seen(other, sight)))
        assert distance >= MIN_DISTANCE, f"{one} {other} {distance:.0f}"


def test_brown_and_orange_could_not_be_told_apart() -> None:
    assert float(np.linalg.norm(seen("#8A6D00", "protanopia") - seen("#D55E00", "protanopia"))) < MIN_DISTANCE


@pytest.mark.parametrize("background", ["white", "black"])
def test_colours_can_be_seen_on_white_and_on_black(background: str) -> None:
    assert all(contrast(colour, background) >= 2.8 for colour in COLOURS)
    assert contrast(GREY, background) >= 4.5


# --- other libraries


def specification(ran: Ran) -> dict[str, Any]:
    (chart,) = ran.displayed
    assert ran.figures == ()
    assert isinstance(chart, dict)
    return chart


def longest(specified: dict[str, Any], charts: ChartLibrary) -> int:
    """Return the number of rows of the largest data of a chart."""
    if charts == "altair":
        return max(len(rows) for rows in specified["datasets"].values())
    return max(np.size(trace.get(key, ())) for trace in specified["data"] for key in "xy")


@pytest.mark.parametrize("charts", OTHERS)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ALL)
def test_every_chart_is_drawn_by_altair_and_plotly_with_title_axes_and_number_of_rows(
    name: str, library: str, charts: ChartLibrary
) -> None:
    ran = drawn(case_of(name), library, charts)
    found = specification(ran)
    text = json.dumps(found, ensure_ascii=False)
    mime = "application/vnd.vegalite.v6+json" if charts == "altair" else "application/vnd.plotly.v1+json"

    assert "n = " in text
    assert '"title"' in text
    assert longest(found, charts) <= ALTAIRS_LIMIT
    entry, dropped = interactive_entry({mime: found}, "")
    assert (entry is not None, dropped) == (True, "")
    assert "undefined" not in text


@pytest.mark.parametrize("charts", OTHERS)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("curve", [False, True])
def test_a_million_rows_make_a_small_chart_that_says_how_many_they_are(
    curve: bool, library: str, charts: ChartLibrary
) -> None:
    case = correlated(curve=curve, rows=1_000_000)
    found = specification(drawn(case, library, charts))

    assert longest(found, charts) <= ALTAIRS_LIMIT
    assert len(json.dumps(found)) < 400_000
    assert f"n = {len(next(iter(case.tables.values())).dropna()):,}" in json.dumps(found)


@pytest.mark.parametrize("charts", OTHERS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_days_over_twenty_years_are_drawn_and_no_option_of_the_users_is_changed(
    library: str, charts: ChartLibrary
) -> None:
    days = pd.date_range("2001-01-01", periods=7300).delete(range(3000, 3030))
    table = pd.DataFrame({"dep time": days.repeat(2)})
    facts = {"start": f"{days[2999]:%Y-%m-%d}", "end": f"{days[3000]:%Y-%m-%d}", "days": 30, "usual_days": 1.0}
    case = Case(tables={"t": table}, kind="gap", columns=["dep time"], facts=facts | {"n": len(days)})
    before = dict(alt.data_transformers.options)
    ran = drawn(case, library, charts)

    assert alt.data_transformers.options == before
    assert longest(specification(ran), charts) == len(days)


@pytest.mark.parametrize("charts", OTHERS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_charts_of_a_program_are_drawn_by_one_library_alone(library: str, charts: ChartLibrary) -> None:
    for name in WITH_CHART:
        finding, exploration = finding_of(case_of(name), library)
        code = program(finding, exploration, charts=charts)
        assert "matplotlib" not in code
        assert "plt." not in code
        assert ("import altair as alt" in code) == (charts == "altair")
        assert ("import plotly.graph_objects as go" in code) == (charts == "plotly")


@pytest.mark.parametrize("charts", OTHERS)
def test_categories_that_are_numbers_are_no_axis_of_numbers(charts: ChartLibrary) -> None:
    found = specification(drawn(case_of("group_numbers"), "pandas", charts))

    assert (
        '"nominal"' in json.dumps(found) if charts == "altair" else found["layout"]["yaxis"]["type"] == "category"
    )
