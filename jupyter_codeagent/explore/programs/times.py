"""Programs for what changes over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from jupyter_codeagent.explore.programs.charts import are_close, axis_name, draw, rounded_table, span_decades
from jupyter_codeagent.explore.programs.colours import COLOURS
from jupyter_codeagent.explore.programs.cycles import SIZES
from jupyter_codeagent.explore.programs.draft import Draft, literal
from jupyter_codeagent.explore.programs.forms import Calendar, CycleLine, LevelLines, TimeLine
from jupyter_codeagent.explore.words import PERIODS, moment_named

_EVERY = {"h": "1h", "D": "1d", "W": "1w", "M": "1mo", "Q": "1q", "Y": "1y"}
_FREQUENCIES = {
    "h": '"h"',
    "D": '"D"',
    "W": '"W-MON", closed="left", label="left"',
    "M": '"MS"',
    "Q": '"QS"',
    "Y": '"YS"',
}
_CODES = {"hour": "h", "weekday": "D", "month": "M"}
_UNITS = {"hour": "hour", "weekday": "day", "month": "month"}
"""The periods whose rows are counted where the number of rows repeats a pattern."""


def trend(draft: Draft) -> None:
    """Write a value by period, with the means of the first and last quarter."""
    series = _write_periods(draft, draft.finding.text("period"))
    by, quarter, ends = series.table, draft.name("quarter"), draft.name("ends")
    rows = "" if draft.is_polars else ".iloc"
    draft.write(
        f"{quarter} = max(len({by}) // 4, 1)",
        f'{ends} = {{"first quarter": {by}{rows}[:{quarter}], "last quarter": {by}{rows}[-{quarter}:]}}',
    )
    _write_line(draft, series, ends)


def level_shift(draft: Draft) -> None:
    """Write a value by period, with the means before and after the shift."""
    series = _write_periods(draft, draft.finding.text("period"))
    by, sides, day = series.table, draft.name("sides"), draft.finding.text("at")[:10]
    named = moment_named(draft.finding)
    if draft.is_polars:
        when, at = f'pl.col("{series.period}")', _moment(draft, day)
        before, since = f"{by}.filter({when} < {at})", f"{by}.filter({when} >= {at})"
    else:
        before, since = f'{by}[{by}.index < "{day}"]', f'{by}[{by}.index >= "{day}"]'
    draft.write(
        f"{sides} = {{",
        f'    "before {named}": {before},',
        f'    "from {named}": {since},',
        "}",
    )
    _write_line(draft, series, sides)


@dataclass(frozen=True, kw_only=True)
class _Series:
    """A value by period, as the program has it: a frame of polars, or a series of pandas."""

    table: str
    period: str
    known: str
    """The rows that are behind it."""


def _mean(draft: Draft) -> str:
    return "mean" if draft.finding.columns[0] else "mean rows"


def _write_known(draft: Draft) -> str:
    """Write the rows that have a date, and a value if there is one."""
    places = [place for place in (0, 1) if draft.finding.columns[place]]
    rows = draft.rows(numbers=places[:-1], times=[1])
    known = draft.name("known")
    drop = f"drop_nulls({draft.cols(places)})" if draft.is_polars else f"dropna(subset={draft.cols(places)})"
    draft.write(f"{known} = {rows}.{drop}")
    return known


def _write_periods(draft: Draft, code: str) -> _Series:
    """Write the means, or the number of rows, by period, as the search takes them."""
    known, period = _write_known(draft), PERIODS[code]
    by = draft.name(f"by_{period}")
    if not draft.finding.columns[0]:
        _write_counts(draft, known, by, code, _mean(draft))
        ends = f"{by}[1:-1]" if draft.is_polars else f"{by}.iloc[1:-1]"
        draft.write(f"{by} = {ends}  # the first and the last are not whole")
    elif draft.is_polars:
        draft.write(
            f"{by} = (",
            f'    {known}.group_by({_truncated(draft, code)}.alias("{period}"))',
            f'    .agg(pl.col({draft.col(0)}).mean().alias("mean"), n=pl.len())',
            '    .filter(pl.col("n") >= pl.col("n").median() / 4)  # without periods of few rows',
            f'    .sort("{period}")',
            ")",
        )
    else:
        draft.write(
            f'{by} = {known}.groupby({_start(draft, known, code)})[{draft.col(0)}].agg(["mean", "count"])',
            f'{by} = {by}.loc[{by}["count"] >= {by}["count"].median() / 4, "mean"]  # without periods of few rows',
        )
    return _Series(table=by, period=period, known=known)


def _write_counts(draft: Draft, known: str, by: str, code: str, name: str) -> None:
    """Write the number of rows by period; periods without any count as well."""
    period, when = PERIODS.get(code, "hour"), draft.col(1)
    if not draft.is_polars:
        draft.write(f"{by} = {known}.resample({_FREQUENCIES[code]}, on={when}).size()")
        return
    draft.write(
        f"{by} = (",
        f'    {known}.group_by({_truncated(draft, code)}.alias("{period}"))',
        f'    .agg(pl.len().alias("{name}"))',
        f'    .sort("{period}")',
        f'    .upsample("{period}", every="{_EVERY[code]}")',
        f'    .with_columns(pl.col("{name}").fill_null(0))',
        ")",
    )


def _start(draft: Draft, known: str, code: str) -> str:
    series = f"{known}[{draft.col(1)}]"
    return f"{series}.dt.normalize()" if code == "D" else f'{series}.dt.to_period("{code}").dt.start_time'


def _truncated(draft: Draft, code: str) -> str:
    return f'pl.col({draft.col(1)}).dt.truncate("{_EVERY[code]}")'


def _write_line(draft: Draft, series: _Series, parts: str) -> None:
    """Write the line over time with the mean of each of the parts, and the table of these means."""
    by, part, mean = series.table, draft.name("part"), literal(_mean(draft))
    value = axis_name(draft, 0) if draft.finding.columns[0] else ""
    if draft.is_polars:
        x, y = f'{by}["{series.period}"]', f"{by}[{mean}]"
        part_x, level = f'{part}["{series.period}"]', f"{part}[{mean}].mean()"
        names = f'"part": [*{parts}], '
        means = f"{mean}: [{level} for {part} in {parts}.values()], "
        sizes = f'"{series.period}s": [len({part}) for {part} in {parts}.values()]'
        table = f"pl.DataFrame({{{names}{means}{sizes}}})"
    else:
        x, y, part_x, level = f"{by}.index", by, f"{part}.index", f"{part}.mean()"
        both = draft.name("both")
        draft.write(f"{both} = pd.DataFrame({parts})")
        table = f'pd.DataFrame({{{mean}: {both}.mean(), "{series.period}s": {both}.count()}})'
    finding = draft.finding
    is_trend = finding.kind == "trend"
    ends = [finding.number(fact) for fact in (("first", "last") if is_trend else ("before", "after"))]
    thick = f" (thick line: mean {'of the first and last quarter' if is_trend else 'before and after'})"
    form = TimeLine(
        x=x,
        y=y,
        parts=f"{parts}.values()",
        part=part,
        part_x=part_x,
        level=level,
        few=series.period in {"quarter", "year"},
        log=span_decades(*ends),
        close=are_close(*ends),
    )
    draw(
        draft,
        form,
        x=axis_name(draft, 1) + thick,
        y=f"mean {value} by {series.period}" if value else f"rows per {series.period}",
        n=f"len({series.known})",
    )
    draft.write(rounded_table(draft, table, (mean,)))


def group_trend(draft: Draft) -> None:
    """Write a value by period and level, with the means of each level's first and last quarter."""
    named = [literal(draft.level_as_text(2, fact)) for fact in ("level_high", "level_low")]
    known, changes, line, level = (draft.name(wanted) for wanted in ("known", "changes", "line", "level"))
    ends = _Ends(*(draft.label(wanted) for wanted in ("first quarter", "last quarter", "change")))
    distinct, frequent = draft.column(2).distinct, ""
    if distinct > draft.most:
        top = f"{known}[{draft.col(2)}].value_counts("
        top += f"sort=True)[{draft.col(2)}]" if draft.is_polars else ").index"
        frequent = f"{', '.join(named)}, *{top}[:{draft.most - len(named)}]"
    if draft.is_polars:
        made, x, y = _write_polars_changes(draft, known, changes, ends, frequent, level)
        levels = f"{changes}[{draft.col(2)}]"
    else:
        made, x, y = _write_pandas_changes(draft, known, changes, ends, frequent, level)
        levels = f"{changes}.index"
    period = PERIODS[draft.finding.text("period")]
    form = LevelLines(
        levels=f"dict.fromkeys([{', '.join(named)}, *{levels}])",
        level=level,
        colour=draft.name("color"),
        line=line,
        made=made,
        x=f"{line}{x}",
        y=f"{line}{y}",
        few=period in {"quarter", "year"},
        title=axis_name(draft, 2) + (f" (some of {distinct})" if distinct > len(COLOURS) else ""),
    )
    draw(
        draft,
        form,
        x=axis_name(draft, 1),
        y=f"mean {axis_name(draft, 0)} by {period}",
        n=f"len({known})",
        height=4.8,
    )
    draft.write(rounded_table(draft, changes, tuple(map(literal, ends))))


class _Ends(NamedTuple):
    """Columns of a table of changes."""

    first: str
    last: str
    change: str


def _write_pandas_changes(
    draft: Draft, known: str, changes: str, ends: _Ends, frequent: str, level: str
) -> tuple[str, str, str]:
    """Write the means of each level; return the expressions for one level's, their periods and their values."""
    code = draft.finding.text("period")
    value, group, by, quarter = draft.col(0), draft.col(2), draft.name(f"by_{PERIODS[code]}"), draft.name("quarter")
    rows, first, last, change = draft.rows(numbers=[0], times=[1]), *map(literal, ends)
    starts = draft.name("starts")
    draft.write(
        f"{known} = {rows}.dropna(subset={draft.cols()}).astype({{{group}: str}})",
        f"{starts} = {_start(draft, known, code)}",
        f"{by} = {known}.groupby([{starts}, {group}])[{value}].mean().unstack()",
        f"{quarter} = len({by}) // 4",
        f"{changes} = pd.DataFrame({{",
        f"    {first}: {by}.iloc[:{quarter}].mean(),",
        f"    {last}: {by}.iloc[-{quarter}:].mean(),",
        "})",
        f"{changes}[{change}] = {changes}[{last}] - {changes}[{first}]",
        f"{changes} = {changes}[{changes}.index.isin([{frequent}])]  # the most frequent" if frequent else "",
        f"{changes} = {changes}.dropna().sort_values({change})",
    )
    return f"{by}[{level}].dropna()", ".index", ""


def _write_polars_changes(
    draft: Draft, known: str, changes: str, ends: _Ends, frequent: str, level: str
) -> tuple[str, str, str]:
    """Write the means of each level; return the expressions for one level's, their periods and their values."""
    code = draft.finding.text("period")
    value, group, by, quarter = draft.col(0), draft.col(2), draft.name(f"by_{PERIODS[code]}"), draft.name("quarter")
    rows, first, last, change = draft.rows(numbers=[0], times=[1]), *map(literal, ends)
    period, mean, starts = literal(draft.label(PERIODS[code])), literal(draft.label("mean")), draft.name("starts")
    draft.write(
        f"{known} = {rows}.drop_nulls({draft.cols()}).with_columns(pl.col({group}).cast(pl.String))",
        f"{by} = (",
        f"    {known}.group_by({_truncated(draft, code)}.alias({period}), {group})",
        f"    .agg(pl.col({value}).mean().alias({mean}))",
        f"    .sort({period})",
        ")",
        f"{starts} = {by}[{period}].unique().sort()",
        f"{quarter} = len({starts}) // 4",
        f"{changes} = (",
        f"    {by}.group_by({group})",
        "    .agg(",
        f"        pl.col({mean}).filter(pl.col({period}) < {starts}[{quarter}]).mean().alias({first}),",
        f"        pl.col({mean}).filter(pl.col({period}) >= {starts}[-{quarter}]).mean().alias({last}),",
        "    )",
        f"    .with_columns((pl.col({last}) - pl.col({first})).alias({change}))",
        f"    .filter(pl.col({group}).is_in([{frequent}]))  # the most frequent" if frequent else "",
        f"    .drop_nulls().sort({change})",
        ")",
    )
    return f"{by}.filter(pl.col({group}) == {level})", f"[{period}]", f"[{mean}]"


def season(draft: Draft) -> None:
    """Write the means over the hours of the day, the days of the week or the months of the year."""
    cycle, counts = draft.finding.text("cycle"), not draft.finding.columns[0]
    known, by = _write_known(draft), draft.name(f"by_{draft.finding.text('cycle')}")
    mean, size = _mean(draft), SIZES[cycle]
    if draft.is_polars:
        _write_polars_cycle(draft, known, by, cycle)
        few = f"{by} = {by}.filter(pl.col({_weight(draft)}) >= pl.col({_weight(draft)}).sum() / {10 * size})"
        x = f'{by}["{cycle}"]'
    else:
        _write_pandas_cycle(draft, known, by, cycle)
        few = f"{by} = {by}[{by}[{_weight(draft)}] >= {by}[{_weight(draft)}].sum() / {10 * size}]"
        x = f"{by}.index"
    draft.write(f"{few}  # without {cycle}s of few rows")
    ends = draft.finding.number("lowest_mean"), draft.finding.number("highest_mean")
    draw(
        draft,
        CycleLine(x=x, y=f'{by}["{mean}"]', cycle=cycle, close=are_close(*ends)),
        x=f"{cycle} of {axis_name(draft, 1)}",
        y=f"mean rows per {_UNITS[cycle]}" if counts else f"mean {axis_name(draft, 0)}",
        n=f"len({known})",
    )
    _write_cycle_table(draft, by, cycle, mean)


def _weight(draft: Draft) -> str:
    """Return the column that says how many rows are behind a part of a cycle."""
    return '"n"' if draft.finding.columns[0] else literal(_mean(draft))


def _write_pandas_cycle(draft: Draft, known: str, by: str, cycle: str) -> None:
    part = {"hour": "hour", "weekday": "day_of_week", "month": "month"}[cycle]
    when = f"{known}[{draft.col(1)}]"
    names = f'.set_axis(["{_mean(draft)}", "n"], axis=1).rename_axis("{cycle}")'
    if draft.finding.columns[0]:
        draft.write(
            f'{by} = {known}.groupby({when}.dt.{part})[{draft.col(0)}].agg(["mean", "count"])',
            f"{by} = {by}{names}",
        )
        return
    per = draft.name(f"per_{_UNITS[cycle]}")
    _write_counts(draft, known, per, _CODES[cycle], _mean(draft))
    draft.write(
        f'{by} = {per}.groupby({per}.index.{part}).agg(["mean", "count"])',
        f"{by} = {by}{names}",
    )


def _write_polars_cycle(draft: Draft, known: str, by: str, cycle: str) -> None:
    when, mean, value = draft.col(1), _mean(draft), draft.col(0)
    part = {"hour": "dt.hour()", "weekday": "dt.weekday() - 1", "month": "dt.month()"}[cycle]
    source = known
    if not draft.finding.columns[0]:
        unit = _UNITS[cycle]
        source, value, when = draft.name(f"per_{unit}"), f'"{mean}"', f'"{unit}"'
        _write_counts(draft, known, source, _CODES[cycle], mean)
    draft.write(
        f"{by} = (",
        f'    {source}.group_by((pl.col({when}).{part}).alias("{cycle}"))',
        f'    .agg(pl.col({value}).mean().alias("{mean}"), n=pl.len())',
        f'    .sort("{cycle}")',
        ")",
    )


def _write_cycle_table(draft: Draft, by: str, cycle: str, mean: str) -> None:
    table, size = by, SIZES[cycle]
    if size > draft.most:
        half, ordered = draft.most // 2, draft.name("ordered")
        if draft.is_polars:
            draft.write(f'{ordered} = {by}.sort("{mean}")')
            table = f"pl.concat([{ordered}[:{half}], {ordered}[{half}:][-{half}:]])"
        else:
            draft.write(f'{ordered} = {by}.sort_values("{mean}")')
            table = f"{ordered}.drop({ordered}.index[{half}:-{half}])"
    draft.write(rounded_table(draft, table, (literal(mean),)))


def gap(draft: Draft) -> None:
    """Write the rows per day with the gap, and the longest gaps."""
    rows, when, days, gaps = draft.rows(times=[0]), draft.col(0), draft.name("days"), draft.name("gaps")
    finding = draft.finding
    start, end = finding.text("start")[:10], finding.text("end")[:10]
    if draft.is_polars:
        draft.write(
            f'{days} = {rows}.drop_nulls({when}).group_by(day=pl.col({when}).dt.date()).len().sort("day")',
            f'{gaps} = {days}.select(start="day", end=pl.col("day").shift(-1))',
            f'{gaps} = {gaps}.with_columns(days=(pl.col("end") - pl.col("start")).dt.total_days() - 1)',
        )
        x, height, n = f'{days}["day"]', f'{days}["len"]', f"{days}['len'].sum()"
        table = f'{gaps}.filter(pl.col("days") > 0).top_k(5, by="days")'
    else:
        draft.write(
            f"{days} = {rows}[{when}].dt.normalize().value_counts().sort_index()",
            f'{gaps} = pd.DataFrame({{"start": {days}.index[:-1], "end": {days}.index[1:]}})',
            f'{gaps}["days"] = ({gaps}["end"] - {gaps}["start"]).dt.days - 1',
        )
        x, height, n = f"{days}.index", days, f"{days}.sum()"
        table = f'{gaps}.query("days > 0").nlargest(5, "days")'
    draw(
        draft,
        Calendar(x=x, y=height, start=_moment(draft, start), end=_moment(draft, end), days=finding.count("n")),
        x=axis_name(draft, 0),
        y="rows per day",
        n=n,
    )
    draft.write(table)


def _moment(draft: Draft, day: str) -> str:
    if not draft.is_polars:
        return f'pd.Timestamp("{day}")'
    year, month, date = (int(part) for part in day.split("-"))
    return f"datetime({year}, {month}, {date})"
