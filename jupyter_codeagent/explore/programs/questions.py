"""Programs for questions that go on from a result, where no finding has a program of its own."""

from __future__ import annotations

from jupyter_codeagent.explore.programs.chart_text import labels
from jupyter_codeagent.explore.programs.charts import axis_name, draw, height_for, rounded_table
from jupyter_codeagent.explore.programs.draft import Draft, literal
from jupyter_codeagent.explore.programs.forms import Bars

MOST_EXAMPLES = 10
MOST_ACROSS = 6
"""Columns of a table that is made of two categories."""


def counts(draft: Draft) -> None:
    """Write the number of rows by category, the most frequent first."""
    by, group, n = draft.by(0), draft.col(0), draft.label("rows")
    levels = draft.column(0).distinct
    if draft.is_polars:
        draft.write(
            f"{by} = {draft.table}.drop_nulls({group}).group_by({group}).agg(pl.len().alias({literal(n)}))",
            f"{by} = {by}.sort({literal(n)}, {group}, descending=[True, False]).head({draft.most})",
        )
        table, sizes, total = by, f"{by}[{literal(n)}]", f"{by}[{literal(n)}].sum()".replace('"', "'")
    else:
        draft.write(
            f"{by} = {draft.table}.groupby({group}{draft.observed(0)}).size()",
            f'{by} = {by}.sort_values(ascending=False, kind="stable").head({draft.most})',
        )
        table, sizes, total = f"{by}.to_frame({literal(n)})", by, f"{by}.sum()"
    draw(
        draft,
        Bars(labels=labels(draft, by, 0, "level"), values=sizes, rows=levels, first_on_top=True),
        x="rows",
        y=axis_name(draft, 0) + (" (the most frequent)" if levels > draft.most else ""),
        n=total,
        height=height_for(min(levels, draft.most)),
    )
    draft.write(table)


def highest_rows(draft: Draft) -> None:
    """Write the rows with the highest numbers."""
    rows, value, shown = draft.rows(numbers=[0]), draft.col(0), draft.shown_columns()
    if draft.is_polars:
        draft.write(
            f"{rows}.drop_nulls({value}).sort({value}, descending=True, maintain_order=True)"
            f".select({shown}).head({MOST_EXAMPLES})"
        )
    else:
        draft.write(f"{rows}.nlargest({MOST_EXAMPLES}, {value})[{shown}]")


def means_within(draft: Draft) -> None:
    """Write means by two categories: one below the other, and beside each other."""
    rows, means = draft.rows(numbers=[0]), draft.name("means")
    value, group, other = draft.col(0), draft.col(1), draft.col(2)
    if draft.is_polars:
        draft.write(
            f"{means} = (",
            f"    {rows}.drop_nulls([{value}, {group}, {other}])",
            f'    .pivot(on={other}, index={group}, values={value}, aggregate_function="mean", sort_columns=True)',
            f"    .sort({group})",
            ")",
        )
        computed = f"pl.all().exclude({group}).round({draft.digits})"
        draft.write(f"{means}.with_columns({computed})")
    else:
        draft.write(f"{means} = {rows}.groupby([{group}, {other}]{draft.observed(1, 2)})[{value}].mean().unstack()")
        draft.write(rounded_table(draft, means, ()))


def shares(draft: Draft) -> None:
    """Write which share each category of a column has within each category of another."""
    known, share = draft.name("known"), draft.name("share")
    a, b, percent = draft.col(0), draft.col(1), literal(draft.label("share %"))
    if draft.is_polars:
        n = draft.label("n")
        draft.write(
            f"{known} = {draft.table}.drop_nulls([{a}, {b}])",
            f"{share} = (",
            f"    {known}.group_by({a}, {b}).agg({n}=pl.len())",
            f'    .with_columns((100 * pl.col("{n}") / pl.col("{n}").sum().over({a})).round(1).alias({percent}))',
            f"    .pivot(on={b}, index={a}, values={percent}, sort_columns=True)",
            "    .fill_null(0)",
            f"    .sort({a})",
            ")",
            share,
        )
    else:
        sizes = draft.name("sizes")
        draft.write(
            f"{known} = {draft.table}[[{a}, {b}]].dropna()",
            f"{sizes} = {known}.groupby([{a}, {b}]{draft.observed(0, 1)}).size().unstack(fill_value=0)",
            f"{share} = (100 * {sizes}.div({sizes}.sum(axis=1), axis=0)).round(1)",
            share,
        )


def missing_within(draft: Draft) -> None:
    """Write how often a value is missing by category, the highest share first."""
    by, value, group = draft.by(1), draft.col(0), draft.col(1)
    percent, n = draft.label("missing %"), draft.label("n")
    if draft.is_polars:
        series = f"pl.col({value})"
        if draft.column(0).type.lower().startswith("float"):
            series += ".fill_nan(None)"
        draft.write(
            f"{by} = (",
            f"    {draft.table}.drop_nulls({group}).group_by({group})",
            f"    .agg((100 * {series}.is_null().mean()).round(1).alias({literal(percent)}), {n}=pl.len())",
            f"    .sort({literal(percent)}, {group}, descending=[True, False])",
            f"    .head({draft.most})",
            ")",
            by,
        )
    else:
        missing = draft.name("missing")
        draft.write(
            f"{missing} = 100.0 * {draft.table}[{value}].isna()",
            f'{by} = {missing}.groupby({draft.table}[{group}]{draft.observed(1)}).agg(["mean", "count"])',
            f"{by} = {by}.set_axis([{literal(percent)}, {literal(n)}], axis=1).round(1)",
            f'{by}.sort_values({literal(percent)}, ascending=False, kind="stable").head({draft.most})',
        )
