"""Programs for what differs between groups."""

from __future__ import annotations

from jupyter_codeagent.explore.names import bare
from jupyter_codeagent.explore.programs.chart_text import labels
from jupyter_codeagent.explore.programs.charts import (
    are_close,
    axis_name,
    draw,
    ends_shown,
    height_for,
    rounded_table,
    shown_rows,
    span_decades,
)
from jupyter_codeagent.explore.programs.draft import Draft, literal
from jupyter_codeagent.explore.programs.forms import Bars, Intervals

FEWEST_ROWS = 10
"""Rows that a group needs to be shown, as the search has it: few rows have extreme means by chance."""


def group_difference(draft: Draft) -> None:
    """Write means by group with their intervals."""
    levels = draft.finding.count("levels")
    in_order = levels <= draft.most and draft.has_order(1)
    rows, by = draft.rows(numbers=[0]), draft.by(1)
    mean, n, error = draft.label("mean"), draft.label("n"), draft.label("error")
    value, group = draft.col(0), draft.col(1)
    if draft.is_polars:
        draft.write(
            f"{by} = (",
            f"    {rows}.drop_nulls([{value}, {group}])",
            f"    .group_by({group})",
            "    .agg(",
            f"        {mean}=pl.col({value}).mean(),",
            f"        {n}=pl.len(),",
            f"        {error}=pl.col({value}).std() / pl.len().sqrt(),",
            "    )",
            f"    .filter(pl.col({literal(n)}) >= {FEWEST_ROWS})" if levels > 2 else "",
            f"    .sort({group if in_order else literal(mean)})",
            ")",
            shown_rows(draft, by, levels),
        )
        table = f"{by}.drop({literal(error)})"
    else:
        draft.write(
            f"{by} = (",
            f"    {rows}.groupby({group}{draft.observed(1)})[{value}]",
            f'    .agg({mean}="mean", {n}="count", {error}="sem")',
            f'    .query("{n} >= {FEWEST_ROWS}")' if levels > 2 else "",
            "" if in_order else f"    .sort_values({literal(mean)})",
            ")",
            shown_rows(draft, by, levels),
        )
        table = f"{by}[[{literal(mean)}, {literal(n)}]]"
    ends = draft.finding.number("lowest_mean"), draft.finding.number("highest_mean")
    form = Intervals(
        labels=labels(draft, by, 1, "highest", "lowest"),
        values=f"{by}[{literal(mean)}]",
        error=f"{by}[{literal(error)}]",
        reference=f"{rows}[{value}].mean()",
        rows=levels,
        log=span_decades(*ends),
        close=are_close(*ends),
    )
    draw(
        draft,
        form,
        x=f"mean {axis_name(draft, 0)} with 95 % interval (dashed: all rows)",
        y=axis_name(draft, 1) + ends_shown(draft, levels),
        n=f"{by}['{n}'].sum()",
        height=height_for(min(levels, draft.most)),
    )
    draft.write(rounded_table(draft, table, (literal(mean),)))


def association(draft: Draft) -> None:
    """Write the share of one category within each category of another."""
    levels, most = draft.finding.count("levels_a"), draft.most - 2
    in_order = levels <= draft.most and draft.has_order(0)
    rows = draft.rows(levels={0: ("a_level",), 1: ("b_level",)})
    known, share, overall = draft.name("known"), draft.name("share"), draft.name("overall")
    percent, n = draft.label("share %"), draft.label("n")
    a, b = draft.col(0), draft.col(1)
    a_level, b_level = draft.level(0, "a_level"), draft.level(1, "b_level")
    if draft.is_polars:
        top = f"{known}[{a}].value_counts(sort=True)[{a}][:{most}]"
        draft.write(
            f"{known} = {rows}.drop_nulls([{a}, {b}])",
            f"{overall} = 100 * ({known}[{b}] == {b_level}).mean()",
            f"{share} = (",
            f"    {known}.group_by({a})",
            f"    .agg((100 * (pl.col({b}) == {b_level}).mean()).alias({literal(percent)}), {n}=pl.len())",
            f"    .filter(pl.col({literal(n)}) >= {FEWEST_ROWS})",
            f"    .filter(pl.col({a}).is_in([*{top}, {a_level}]))  # the most frequent"
            if levels > draft.most
            else "",
            f"    .sort({a if in_order else literal(percent)})",
            ")",
        )
        everything = f'pl.DataFrame({{{a}: ["all"], {literal(percent)}: [{overall}], "{n}": [{known}.height]}})'
        each = f"{share}.with_columns(pl.col({a}).cast(pl.String))"
        table = rounded_table(
            draft, f'pl.concat([{each}, {everything}], how="vertical_relaxed")', (literal(percent),), 1
        )
        levels_shown = f"{share}[{a}]"
    else:
        top = f"{known}[{a}].value_counts().index[:{most}]"
        hit = draft.name("is_it")
        draft.write(
            f"{known} = {rows}[[{a}, {b}]].dropna()",
            f"{hit} = 100 * ({known}[{b}] == {b_level}).astype(float)",
            f'{share} = {hit}.groupby({known}[{a}]{draft.observed(0)}).agg(["mean", "count"])',
            f"{share} = {share}.set_axis([{literal(percent)}, {literal(n)}], axis=1)",
            f"{share} = {share}[{share}[{literal(n)}] >= {FEWEST_ROWS}]"
            + ("" if in_order else f".sort_values({literal(percent)})"),
            f"{share} = {share}[{share}.index.isin([*{top}, {a_level}])]  # the most frequent"
            if levels > draft.most
            else "",
            f"{overall} = {hit}.mean()",
        )
        levels_shown = f"{share}.index"
        everything = f'pd.DataFrame({{{literal(percent)}: {overall}, {literal(n)}: len({known})}}, index=["all"])'
        table = f"pd.concat([{share}, {everything}]).round(1)"
    form = Bars(
        labels=labels(draft, share, 0, "a_level"),
        values=f"{share}[{literal(percent)}]",
        rows=levels,
        levels=levels_shown,
        level=a_level,
        reference=overall,
    )
    draw(
        draft,
        form,
        x=f"% of rows with {axis_name(draft, 1)} {bare(draft.finding.text('b_level'))} (dashed: all rows)",
        y=axis_name(draft, 0) + (" (the most frequent)" if levels > draft.most else ""),
        n=f"len({known})",
        height=height_for(min(levels, draft.most)),
    )
    draft.write(table)


def missing_by_group(draft: Draft) -> None:
    """Write the share of missing values by group, and that of one group against the others."""
    levels = draft.finding.count("levels")
    in_order = levels <= draft.most and draft.has_order(1)
    rows = draft.rows(levels={1: ("level",)})
    by, against, known = draft.by(1), draft.name("against"), draft.name("known")
    percent, n = draft.label("missing %"), draft.label("n")
    value, group, level = draft.col(0), draft.col(1), draft.level(1, "level")
    name = literal(draft.finding.text("level"))
    if draft.is_polars:
        shares = f"(100 * {_is_missing(draft)}.mean()).alias({literal(percent)}), {n}=pl.len()"
        side = f'pl.when(pl.col({group}) == {level}).then(pl.lit({name})).otherwise(pl.lit("all others"))'
        draft.write(
            f"{known} = {rows}.drop_nulls({group})",
            f"{by} = {known}.group_by({group}).agg({shares})",
            f"{by} = {by}.filter(pl.col({literal(n)}) >= {FEWEST_ROWS})"
            f".sort({group if in_order else literal(percent)})",
            shown_rows(draft, by, levels),
            f"{against} = {known}.group_by({side}.alias({group})).agg({shares}).sort({literal(percent)})",
        )
        values, levels_shown = f"{by}[{literal(percent)}]", f"{by}[{group}]"
    else:
        missing, side = draft.name("missing"), draft.name("side")
        draft.write(
            f"{known} = {rows}.dropna(subset={group})",
            f"{missing} = 100.0 * {known}[{value}].isna()",
            f'{by} = {missing}.groupby({known}[{group}]{draft.observed(1)}).agg(["mean", "count"])',
            f'{by} = {by}.query("count >= {FEWEST_ROWS}")["mean"]' + ("" if in_order else ".sort_values()"),
            shown_rows(draft, by, levels),
            f'{side} = ({known}[{group}] == {level}).map({{True: {name}, False: "all others"}})',
            f'{against} = {missing}.groupby({side}).agg(["mean", "count"])'
            f".set_axis([{literal(percent)}, {literal(n)}], axis=1)",
        )
        values, levels_shown = by, f"{by}.index"
    form = Bars(labels=labels(draft, by, 1, "level"), values=values, rows=levels, levels=levels_shown, level=level)
    draw(
        draft,
        form,
        x=f"% of rows without {axis_name(draft, 0)}",
        y=axis_name(draft, 1) + ends_shown(draft, levels),
        n=f"len({known})",
        height=height_for(min(levels, draft.most)),
    )
    draft.write(rounded_table(draft, against, (literal(percent),), 1))


def _is_missing(draft: Draft) -> str:
    column = f"pl.col({draft.col(0)})"
    if draft.column(0).type.lower().startswith("float"):
        return f"({column}.is_null() | {column}.is_nan())"
    return f"{column}.is_null()"
