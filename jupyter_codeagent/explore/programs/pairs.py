"""Programs for two numbers, and for a column that repeats another."""

from __future__ import annotations

from jupyter_codeagent.explore.figures import rounded
from jupyter_codeagent.explore.programs.charts import axis_name, draw, span_decades
from jupyter_codeagent.explore.programs.draft import Draft, literal
from jupyter_codeagent.explore.programs.forms import Curve, Points
from jupyter_codeagent.types.exploration import Finding

MOST_POINTS = 5_000
"""Rows up to which each is a point; of more, a point would hide others."""
STRONG_SKEW = 4.0


def correlation(draft: Draft) -> None:
    """Write two numbers against each other."""
    rows, pairs = draft.rows(numbers=[0, 1]), draft.name("pairs")
    x, y = draft.col(0), draft.col(1)
    if draft.is_polars:
        draft.write(f"{pairs} = {rows}.select({x}, {y}).drop_nulls()")
    else:
        draft.write(f"{pairs} = {rows}[[{x}, {y}]].dropna()")
    curve = draft.finding.text("form") == "curve"
    series = f"{pairs}[{x}]", f"{pairs}[{y}]"
    form = Points(
        x=series[0],
        y=series[1],
        scales=(_scale(draft, 0, series[0]), _scale(draft, 1, series[1])),
        dense=draft.finding.count("n") > MOST_POINTS,
        curve=_line_of_means(draft, pairs) if curve else None,
    )
    draw(
        draft,
        form,
        x=axis_name(draft, 0),
        y=axis_name(draft, 1),
        n=f"len({pairs})",
        height=4.5,
    )
    if curve and draft.finding.has("peak"):
        _both_sides(draft, pairs)
    elif draft.is_polars:
        draft.write(f'{pairs}.select(r=pl.corr({x}, {y}, method="spearman").round(2), n=pl.len())')
    else:
        draft.write(f'pd.DataFrame({{"r": {pairs}.corr("spearman").loc[{x}, {y}].round(2), "n": [len({pairs})]}})')


def _scale(draft: Draft, place: int, series: str) -> str:
    """Return the expression for the scale of an axis; empty where it is linear."""
    name = draft.finding.columns[place]
    for one in draft.exploration.findings:
        if one.table != draft.table or one.columns != (name,):
            continue
        if one.kind == "outliers" and spans_decades(one):
            return '"log"'
        if one.kind == "skew" and (spans_decades(one) or one.number("skewness") > STRONG_SKEW):
            return f'"log" if {series}.min() > 0 else "linear"'
    return ""


def spans_decades(finding: Finding) -> bool:
    """Check whether the extremes of a column are known, and lie more than three decades apart."""
    is_known = finding.kind in {"outliers", "skew"} and finding.has("lowest") and finding.has("highest")
    return is_known and span_decades(finding.number("lowest"), finding.number("highest"))


def _line_of_means(draft: Draft, pairs: str) -> Curve:
    x, y, means = draft.col(0), draft.col(1), draft.name("means")
    if draft.is_polars:
        bins = f"(20 * pl.col({x}).rank() / len({pairs})).ceil()"
        line = f'{means} = {pairs}.group_by({bins}.alias("bin")).agg(pl.col({x}, {y}).mean()).sort({x})'
    else:
        line = f'{means} = {pairs}.groupby(pd.qcut({pairs}[{x}], 20, duplicates="drop"), observed=True).mean()'
    return Curve(made=line, x=f"{means}[{x}]", y=f"{means}[{y}]")


def _both_sides(draft: Draft, pairs: str) -> None:
    """Write correlations below and above the place where the curve turns."""
    peak = draft.finding.number("peak")
    shown = rounded(peak, draft.digits)
    x, y = draft.col(0), draft.col(1)
    below, above = f"up to {shown}", f"above {shown}"
    name = literal(axis_name(draft, 0))
    at = literal(float(shown.replace(",", "")))
    if draft.is_polars:
        side = f'pl.when(pl.col({x}) <= {at}).then(pl.lit("{below}")).otherwise(pl.lit("{above}"))'
        draft.write(
            f"{pairs}.group_by({side}.alias({name})).agg(",
            f'    {draft.label("r")}=pl.corr({x}, {y}, method="spearman").round(2), {draft.label("n")}=pl.len()',
            f").sort({name})",
        )
        return
    side = draft.name("side")
    draft.write(
        f'{side} = ({pairs}[{x}] <= {at}).map({{True: "{below}", False: "{above}"}}).rename({name})',
        f'{pairs}.groupby({side})[[{x}, {y}]].corr("spearman").xs({x}, level=-1)[[{y}]].round(2)',
    )


def same(draft: Draft) -> None:
    """Write how often two columns agree."""
    one, other, finding = draft.col(0), draft.col(1), draft.finding
    numbers = draft.column(0).role == draft.column(1).role == "number"
    rows, pairs = draft.rows(numbers=[0, 1] if numbers else []), draft.name("pairs")
    if draft.is_polars:
        draft.write(f"{pairs} = {rows}.select({one}, {other}).drop_nulls()")
    else:
        draft.write(f"{pairs} = {rows}[[{one}, {other}]].dropna()")
    if finding.has("factor") and finding.number("factor") != 1:
        ratio = draft.name("ratio")
        draft.write(
            f"{ratio} = ({pairs}[{other}] / {pairs}[{one}]).round({draft.digits})",
            f"{ratio}.value_counts({'sort=True' if draft.is_polars else ''}).head(5)",
        )
        return
    if numbers and not finding.has("factor"):
        r = f"{pairs}[{one}].corr({pairs}[{other}])"
        r = f"{pairs}.select(pl.corr({one}, {other})).item()" if draft.is_polars else r
        frame = "pl" if draft.is_polars else "pd"
        draft.write(f'{frame}.DataFrame({{"r": [round({r}, 6)], "n": [len({pairs})]}})')
        return
    equal = draft.name("equal")
    texts = ".cast(pl.String)" if draft.is_polars else ".astype(str)"
    differ = not numbers and draft.column(0).type != draft.column(1).type
    as_text = texts if differ or draft.is_category(0, 1) else ""
    frame = "pl" if draft.is_polars else "pd"
    draft.write(
        f"{equal} = {pairs}[{one}]{as_text} == {pairs}[{other}]{as_text}",
        f'{frame}.DataFrame({{"equal %": [round(100 * {equal}.mean(), 1)], "n": [len({pairs})]}})',
    )
