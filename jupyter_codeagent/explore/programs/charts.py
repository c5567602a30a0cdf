"""What charts of all kinds share, whichever library draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jupyter_codeagent.explore.names import bare
from jupyter_codeagent.explore.programs import altair_charts, matplotlib_charts, plotly_charts
from jupyter_codeagent.explore.programs.draft import Draft
from jupyter_codeagent.explore.programs.forms import Around, Form
from jupyter_codeagent.types.charts import ChartLibrary

DECADES = 1_000
"""How many times larger the largest value is where an axis is logarithmic."""
_WRITERS: Mapping[ChartLibrary, Callable[[Draft, Form, Around], None]] = {
    "matplotlib": matplotlib_charts.write,
    "altair": altair_charts.write,
    "plotly": plotly_charts.write,
}


def draw(draft: Draft, form: Form, *, x: str, y: str, n: str, height: float = 4.0) -> None:
    """Add the lines of a chart to the draft; `n` is the expression for the number of rows behind it."""
    _WRITERS[draft.charts](draft, form, Around(x=x, y=y, n=n, height=height))


def axis_name(draft: Draft, place: int) -> str:
    """Return a column's name for an axis."""
    return bare(draft.finding.columns[place])


def height_for(rows: int) -> float:
    """Return the height of a figure with so many horizontal rows."""
    return round(min(max(1.7 + 0.3 * rows, 2.6), 5.6), 1)


def span_decades(*figures: float) -> bool:
    """Check whether figures are positive and more than three decades apart."""
    return 0 < min(figures) < max(figures) / DECADES


def are_close(*figures: float) -> bool:
    """Check whether figures differ by so little that labels of an axis might show only by how much."""
    return max(figures) - min(figures) < max(map(abs, figures)) / 100


def shown_rows(draft: Draft, table: str, levels: int) -> str:
    """Return the line that keeps the highest and lowest rows of a sorted table; empty if all of them fit."""
    if levels <= draft.most:
        return ""
    half = draft.most // 2
    if draft.is_polars:
        return f"{table} = pl.concat([{table}[:{half}], {table}[{half}:][-{half}:]])  # the lowest and the highest"
    return f"{table} = {table}.drop({table}.index[{half}:-{half}])  # the lowest and the highest"


def ends_shown(draft: Draft, levels: int) -> str:
    """Return what an axis says of the rows that `shown_rows` keeps."""
    return f" (lowest and highest of {levels})" if levels > draft.most else ""


def rounded_table(draft: Draft, table: str, columns: tuple[str, ...], digits: int | None = None) -> str:
    """Return the expression for a table with its computed columns (as literals) as the words round them."""
    digits = draft.digits if digits is None else digits
    if draft.is_polars:
        names = ", ".join(columns)
        whole = ".cast(pl.Int64)" if digits == 0 else ""
        return f"{table}.with_columns(pl.col({names}).round({digits}){whole})"
    return f"{table}.round({digits})" + (".convert_dtypes()" if digits == 0 else "")
