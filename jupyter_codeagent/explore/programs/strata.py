"""Programs for what a third column changes: differences that turn round or grow within its levels."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_codeagent.explore.names import bare
from jupyter_codeagent.explore.programs.chart_text import labels
from jupyter_codeagent.explore.programs.charts import axis_name, draw, height_for, rounded_table
from jupyter_codeagent.explore.programs.colours import COLOURS
from jupyter_codeagent.explore.programs.draft import Draft, free_name, literal
from jupyter_codeagent.explore.programs.forms import Dumbbells, Strata

DRAWN_POINTS = 300
DIFFERENCE = "difference"
FEWEST_ROWS = 8
"""Rows of both groups that a stratum needs to be shown, as the search has it."""


@dataclass(frozen=True, kw_only=True)
class _Means:
    """The means of two groups by stratum, as the program has them."""

    table: str
    rows: str
    """The name of the rows behind them."""
    a: str
    b: str
    """The literals of the columns that hold the means."""
    difference: str
    """The name of the column with their difference."""


def interaction(draft: Draft) -> None:
    """Write the difference of two groups, or a correlation, within each level of a third column."""
    if not (draft.finding.text("a") or draft.finding.text("b")):
        _write_correlations(draft)
        return
    _write_dumbbell(draft, _write_means(draft, ("level_high", "level_low"), overall=False), overall=False)


def reversal(draft: Draft) -> None:
    """Write a difference, or a correlation, over all rows and within each level of a third column."""
    if draft.finding.text("a") or draft.finding.text("b"):
        _write_dumbbell(draft, _write_means(draft, (), overall=True), overall=True)
    else:
        _write_correlations(draft)


def _write_means(draft: Draft, strata: tuple[str, ...], *, overall: bool) -> _Means:
    rows = draft.rows(numbers=[0], levels={1: ("a", "b"), 2: strata})
    both, table = draft.name("both"), draft.name("means")
    a, b = draft.level(1, "a"), draft.level(1, "b")
    levels = [draft.finding.text(fact) for fact in ("a", "b")]
    difference = free_name(draft.label(DIFFERENCE), levels)
    if draft.is_polars:
        names = [literal(draft.label(level)) for level in levels]
        means = _Means(table=table, rows=both, a=names[0], b=names[1], difference=difference)
        _write_polars_means(draft, means, rows, strata, overall=overall)
    else:
        means = _Means(table=table, rows=both, a=a, b=b, difference=difference)
        _write_pandas_means(draft, means, rows, strata, overall=overall)
    return means


def _write_polars_means(draft: Draft, means: _Means, rows: str, strata: tuple[str, ...], *, overall: bool) -> None:
    value, group, stratum = draft.col(0), draft.col(1), draft.col(2)
    a, b = draft.level(1, "a"), draft.level(1, "b")
    aggregated = [
        f"    pl.col({value}).filter(pl.col({group}) == {level}).mean().alias({name}),"
        for level, name in ((a, means.a), (b, means.b))
    ]
    fewer = free_name(draft.label("fewer"), [draft.finding.text(fact) for fact in ("a", "b")])
    everything = [
        f"{means.table} = pl.concat([{means.table}, {means.rows}.select(",
        f'    pl.lit("overall").alias({stratum}),',
        *aggregated,
        ")])",
    ]
    last = f'pl.col({stratum}) == "overall", ' if overall else ""
    draft.write(
        f"{means.rows} = {rows}.drop_nulls([{value}, {stratum}]).filter(pl.col({group}).is_in([{a}, {b}]))",
        _frequent(draft, means.rows, strata),
        f"{means.table} = (",
        f"    {means.rows}.group_by(pl.col({stratum}).cast(pl.String))",
        "    .agg(",
        *(f"    {line}" for line in aggregated),
        f"        pl.min_horizontal((pl.col({group}) == {a}).sum(), (pl.col({group}) == {b}).sum())"
        f".alias({literal(fewer)}),",
        "    )",
        f"    .filter(pl.col({literal(fewer)}) >= {FEWEST_ROWS})",
        f"    .drop({literal(fewer)})",
        ")",
        *(everything if overall else ()),
        f"{means.table} = (",
        f"    {means.table}.with_columns({means.difference}=pl.col({means.a}) - pl.col({means.b}))",
        f'    .drop_nulls().sort({last}"{means.difference}")',
        ")",
    )


def _write_pandas_means(draft: Draft, means: _Means, rows: str, strata: tuple[str, ...], *, overall: bool) -> None:
    value, group, stratum = draft.col(0), draft.col(1), draft.col(2)
    a, b = draft.level(1, "a"), draft.level(1, "b")
    texts = [draft.col(place) for place in (1, 2) if draft.is_category(place)]
    typed = f".astype({{{', '.join(f'{name}: str' for name in texts)}}})" if texts else ""
    table, both = means.table, means.rows
    draft.write(
        f"{both} = {rows}.dropna(subset=[{value}, {stratum}])",
        f"{both} = {both}[{both}[{group}].isin([{a}, {b}])]{typed}",
        _frequent(draft, both, strata),
        f'{table} = {both}.groupby([{stratum}, {group}])[{value}].agg(["mean", "count"]).unstack()',
        f'{table} = {table}["mean"][({table}["count"] >= {FEWEST_ROWS}).all(axis=1)]',
        f"{table} = {table}.assign({means.difference}={table}[{a}] - {table}[{b}])",
        f'{table} = {table}.sort_values("{means.difference}")',
        *(
            (
                f'{table}.loc["overall"] = {both}.groupby({group})[{value}].mean()',
                f'{table}.loc["overall", "{means.difference}"] = '
                f'{table}.loc["overall"][{a}] - {table}.loc["overall"][{b}]',
            )
            if overall
            else ()
        ),
    )


def _frequent(draft: Draft, both: str, strata: tuple[str, ...]) -> str:
    """Return the line that keeps the most frequent strata where there are many."""
    most = draft.most - 1 - len(strata)
    if draft.column(2).distinct <= most:
        return ""
    stratum = draft.col(2)
    more = "".join(f", {draft.level(2, fact)}" for fact in strata)
    if draft.is_polars:
        top = f"{both}[{stratum}].value_counts(sort=True)[{stratum}][:{most}]"
        return f"{both} = {both}.filter(pl.col({stratum}).is_in([*{top}{more}]))  # the most frequent"
    top = f"{both}[{stratum}].value_counts().index[:{most}]"
    return f"{both} = {both}[{both}[{stratum}].isin([*{top}{more}])]  # the most frequent"


def _write_dumbbell(draft: Draft, means: _Means, *, overall: bool) -> None:
    finding = draft.finding
    strata = min(finding.count("strata") or draft.column(2).distinct or draft.most, draft.most)
    form = Dumbbells(
        names=draft.name("names"),
        labels=labels(draft, means.table, 2, "level_high", "level_low"),
        a=f"{means.table}[{means.a}]",
        b=f"{means.table}[{means.b}]",
        texts=(bare(finding.text("a")), bare(finding.text("b"))),
        table=means.table,
        rows=strata,
        overall=overall,
        title=axis_name(draft, 1),
    )
    draw(
        draft,
        form,
        x=f"mean {axis_name(draft, 0)}",
        y=axis_name(draft, 2) + (" (the most frequent)" if _frequent(draft, "", ()) else ""),
        n=f"len({means.rows})",
        height=height_for(strata + 2),
    )
    draft.write(rounded_table(draft, means.table, (means.a, means.b, f'"{means.difference}"')))


def _write_correlations(draft: Draft) -> None:
    y, x, stratum = draft.col(0), draft.col(1), draft.col(2)
    source, rows, table = draft.rows(numbers=[0, 1]), draft.name("complete"), draft.name("correlations")
    r, n = draft.label("r"), draft.label("n")
    level, colour, part, drawn, line = map(draft.name, ("level", "color", "part", "drawn", "line"))
    distinct = draft.column(2).distinct
    many = distinct >= draft.most
    named = [draft.level_as_text(2, fact) for fact in ("level_high", "level_low") if draft.finding.text(fact)]
    names = "".join(f"{literal(text)}, " for text in named)
    most = draft.most - 1 - len(named)
    if draft.is_polars:
        measured = f'{r}=pl.corr({x}, {y}, method="spearman"), {n}=pl.len()'
        draft.write(
            f"{rows} = {source}.select({y}, {x}, pl.col({stratum}).cast(pl.String)).drop_nulls()",
            f"{table} = pl.concat([",
            f"    {rows}.group_by({stratum})",
            f"    .agg({measured})",
            f'    .sort("{n}", descending=True)' + ("" if many else ","),
            f"    .filter((pl.int_range(pl.len()) < {most}) | pl.col({stratum}).is_in([{names[:-2]}])),"
            if many
            else "",
            f'    {rows}.select(pl.lit("overall").alias({stratum}), {measured}),',
            "])",
        )
        measurable = f"{table}.fill_nan(None).drop_nulls()[{stratum}][:-1]"
        chosen = f"{rows}.filter(pl.col({stratum}) == {level})"
        sample = f"{part}.sample(min({DRAWN_POINTS}, len({part})), seed=0)"
    else:
        draft.write(
            f"{rows} = {source}[[{y}, {x}, {stratum}]].dropna().astype({{{stratum}: str}})",
            f"{table} = pd.DataFrame({{",
            f'    "{r}": {rows}.groupby({stratum})[[{x}, {y}]].corr("spearman").xs({x}, level=-1)[{y}],',
            f'    "{n}": {rows}[{stratum}].value_counts(),',
            f'}}).sort_values("{n}", ascending=False)',
            f"{table} = {table}[{table}.index.isin([{names}*{table}.index[:{most}]])]  # the most frequent"
            if many
            else "",
            f'{table}.loc["overall"] = [{rows}[[{x}, {y}]].corr("spearman").iloc[0, 1], len({rows})]',
        )
        measurable, chosen = f"{table}.dropna().index[:-1]", f"{rows}[{rows}[{stratum}] == {level}]"
        sample = f"{part}.sample(min({DRAWN_POINTS}, len({part})), random_state=0)"
    levels = f"dict.fromkeys([{names}*{measurable}])" if many else measurable
    form = Strata(
        rows=rows,
        x=x,
        y=y,
        levels=levels,
        chosen=chosen,
        sample=sample,
        level=level,
        colour=colour,
        part=part,
        drawn=drawn,
        line=line,
        title=axis_name(draft, 2) + (f" (some of {distinct})" if distinct > len(COLOURS) else ""),
    )
    draw(
        draft,
        form,
        x=axis_name(draft, 1),
        y=axis_name(draft, 0),
        n=f"len({rows})",
        height=4.8,
    )
    draft.write(rounded_table(draft, table, (literal(r),), 2))
