"""The parts that charts of all kinds share: figure, title, axes, and how many rows are behind them."""

from __future__ import annotations

from textwrap import wrap

from jupyter_codeagent.explore.names import bare
from jupyter_codeagent.explore.programs.draft import MAX_LABEL_CHARS, Draft, literal

BLUE, VERMILION, GREEN, PINK, BLACK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "0.5"
"""Of Okabe and Ito, for all kinds of sight: those that can be seen on white."""
COLOURS = (BLUE, VERMILION, GREEN, PINK, BLACK, GREY)
TITLE_CHARS = 62
"""Width of a title on a figure of seven inches."""
NARROW_CHARS, LONG_LABEL_CHARS, CHARS_PER_INCH = 40, 20, 13
"""Width of an axis' label beside long categories, what counts as long, and characters along the other axis."""


class Chart:
    """The chart of a draft: its names, and what stands around the data."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.fig = draft.name("fig")
        self.ax = draft.name("ax")

    def write(self, *body: str, x: str, y: str, n: str = "", height: float = 4.0, dates: bool = False) -> None:
        """Add the chart's lines to the draft; `n` is the expression for the number of rows."""
        fig, ax = self.fig, self.ax
        lines = [f'{fig}, {ax} = plt.subplots(figsize=(7, {height:g}), layout="constrained")', *body]
        if dates:
            lines.append(f"{ax}.xaxis.set_major_formatter(ConciseDateFormatter({ax}.xaxis.get_major_locator()))")
        across, up = NARROW_CHARS if self._has_long_labels() else TITLE_CHARS, int(CHARS_PER_INCH * (height - 1))
        lines.append(f"{ax}.set(xlabel={in_chart(_wrapped(x, across))}, ylabel={in_chart(_wrapped(y, up))})")
        lines.append(f'{ax}.spines[["top", "right"]].set_visible(False)')
        lines.append(f"{fig}.suptitle({title_of(self.draft)})")
        if n:
            lines.append(f'{fig}.supxlabel(f"n = {{{n}:,}}", fontsize=8, color="0.4")')
        self.draft.write(*lines)

    def _has_long_labels(self) -> bool:
        finding = self.draft.finding
        return any(len(finding.text(fact)) > LONG_LABEL_CHARS for fact in finding.facts)


def _wrapped(text: str, chars: int) -> str:
    return "\n".join(wrap(text, chars))


def title_of(draft: Draft) -> str:
    """Return the title's literal, in lines that fit the figure."""
    return in_chart(_wrapped(draft.words.title, TITLE_CHARS))


def in_chart(text: str) -> str:
    """Return text as a literal for a chart; a dollar sign there begins mathematics."""
    return literal(text.replace("$", r"\$"))


def axis_name(draft: Draft, place: int) -> str:
    """Return a column's name for an axis."""
    return bare(draft.finding.columns[place])


def height_for(rows: int) -> float:
    """Return the height of a figure with so many horizontal rows."""
    return round(min(max(1.7 + 0.3 * rows, 2.6), 5.6), 1)


def labels(draft: Draft, table: str, place: int, *facts: str) -> str:
    """Return the expression for the categories of a table as text, short enough for an axis."""
    column = f"{table}[{draft.col(place)}].cast(pl.String)" if draft.is_polars else f"{table}.index.astype(str)"
    texts = [draft.finding.text(fact) for fact in facts]
    if not draft.knows_levels or any(len(text) > MAX_LABEL_CHARS for text in texts):
        column += f".str.slice(0, {MAX_LABEL_CHARS})"
    if not draft.knows_levels or any("$" in text for text in texts):
        call = (
            'str.replace_all("$", r"\\$", literal=True)'
            if draft.is_polars
            else 'str.replace("$", r"\\$", regex=False)'
        )
        column += f".{call}"
    return column


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


def few_bars(chart: Chart, levels: int) -> str:
    """Return the line that gives few rows of a chart room above and below; empty if there are more."""
    return f"{chart.ax}.margins(y={0.6 / levels:.1f})" if 0 < levels <= 3 else ""


def rounded_table(draft: Draft, table: str, columns: tuple[str, ...], digits: int | None = None) -> str:
    """Return the expression for a table with its computed columns (as literals) as the words round them."""
    digits = draft.digits if digits is None else digits
    if draft.is_polars:
        names = ", ".join(columns)
        whole = ".cast(pl.Int64)" if digits == 0 else ""
        return f"{table}.with_columns(pl.col({names}).round({digits}){whole})"
    return f"{table}.round({digits})" + (".convert_dtypes()" if digits == 0 else "")
