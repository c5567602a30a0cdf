"""Charts of findings as lines of matplotlib."""

from __future__ import annotations

from textwrap import wrap

from jupyter_codeagent.explore.programs.chart_text import axis_titles, caption, has_long_labels, in_chart, title_of
from jupyter_codeagent.explore.programs.colours import BLUE, COLOURS, GREY, VERMILION
from jupyter_codeagent.explore.programs.cycles import axis_ticks
from jupyter_codeagent.explore.programs.draft import Draft, literal
from jupyter_codeagent.explore.programs.forms import (
    Around,
    Bars,
    Calendar,
    CycleLine,
    Dumbbells,
    Form,
    Histogram,
    Intervals,
    LevelLines,
    Points,
    Strata,
    TimeLine,
)

LONG_LABEL = 18
TEXT_COLOUR = 'plt.rcParams["text.color"]'
"""Black on white, and white in a dark style."""


def write(draft: Draft, form: Form, around: Around) -> None:
    """Add the lines of a chart to the draft."""
    fig, ax = draft.name("fig"), draft.name("ax")
    x, y = axis_titles(draft, around)
    lines = [
        f'{fig}, {ax} = plt.subplots(figsize=(7, {around.height:g}), layout="constrained")',
        *_data(draft, form, fig, ax),
        f"{ax}.set(xlabel={x}, ylabel={y})",
        f'{ax}.spines[["top", "right"]].set_visible(False)',
        f"{fig}.suptitle({title_of(draft)})",
        f'{fig}.supxlabel({caption(around)}, fontsize=8, color="{GREY}")',
    ]
    draft.write(*lines)


def _data(draft: Draft, form: Form, fig: str, ax: str) -> list[str]:  # noqa: C901  (a case for each form)
    match form:
        case Bars():
            lines = _bars(draft, form, ax)
        case Intervals():
            lines = _intervals(form, ax)
        case Histogram():
            lines = _histogram(draft, form, ax)
        case Points():
            lines = _points(draft, form, fig, ax)
        case TimeLine():
            lines = _time_line(form, ax)
        case LevelLines():
            lines = _level_lines(draft, form, fig, ax)
        case CycleLine():
            ticks = axis_ticks(form.cycle)
            shown = f"{ticks.places}, {ticks.names}" if ticks.names else ticks.places
            lines = [
                f'{ax}.plot({form.x}, {form.y}, color="{BLUE}", marker="o")',
                f"{ax}.set_xticks({shown})",
                _whole_labels(ax, "y", form.close),
            ]
        case Calendar():
            lines = [
                f'{ax}.vlines({form.x}, 0, {form.y}, color="{BLUE}", linewidth=1)',
                f'{ax}.axvspan({form.start}, {form.end}, color="{VERMILION}", alpha=0.3)',
                f"{ax}.set_ylim(bottom=0)",
                _dates(ax),
            ]
        case Dumbbells():
            lines = _dumbbells(draft, form, ax)
        case Strata():
            lines = _strata(draft, form, fig, ax)
    return lines


def _dates(ax: str) -> str:
    return f"{ax}.xaxis.set_major_formatter(ConciseDateFormatter({ax}.xaxis.get_major_locator()))"


def _whole_labels(ax: str, axis: str, close: bool) -> str:
    """Return the line without which labels would be those above ``+7.1423e4``; empty where it is not needed."""
    return f'{ax}.ticklabel_format(axis="{axis}", useOffset=False)' if close else ""


def _few(ax: str, rows: int) -> str:
    """Return the line that gives few rows of a chart room above and below; empty if there are more."""
    return f"{ax}.margins(y={0.6 / rows:.1f})" if 0 < rows <= 3 else ""


def _legend(ax: str, columns: int = 2) -> str:
    return f'{ax}.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols={columns}, frameon=False)'


def _bars(draft: Draft, form: Bars, ax: str) -> list[str]:
    lines, colour = [], f'"{BLUE}"'
    if form.levels:
        colour = draft.name("colors")
        lines = [f'{colour} = ["{VERMILION}" if level == {form.level} else "{BLUE}" for level in {form.levels}]']
    return [
        *lines,
        f"{ax}.barh({form.labels}, {form.values}, color={colour})",
        f'{ax}.axvline({form.reference}, color="{GREY}", linestyle="--", linewidth=1)' if form.reference else "",
        _few(ax, form.rows),
        f"{ax}.invert_yaxis()" if form.first_on_top else "",
    ]


def _intervals(form: Intervals, ax: str) -> list[str]:
    return [
        f"{ax}.errorbar(",
        f"    {form.values},",
        f"    {form.labels},",
        f"    xerr=1.96 * {form.error},",
        '    fmt="o",',
        f'    color="{BLUE}",',
        ")",
        f'{ax}.axvline({form.reference}, color="{GREY}", linestyle="--", linewidth=1)',
        f'{ax}.set_xscale("log", nonpositive="clip")' if form.log else "",
        _whole_labels(ax, "x", form.close),
        _few(ax, form.rows),
    ]


def _histogram(draft: Draft, form: Histogram, ax: str) -> list[str]:
    bins = f"np.geomspace({form.values}.min(), {form.values}.max(), 60)" if form.log else "60"
    if len(form.parts) == 1:
        (part,) = form.parts
        lines = [f'{ax}.hist({part.values}, bins={bins}, color="{part.colour}")']
    else:
        parts = ", ".join(part.values for part in form.parts)
        colours = ", ".join(literal(part.colour) for part in form.parts)
        names = ", ".join(in_chart(draft, part.label) for part in form.parts)
        logarithmic = "log=True, " if form.log_rows else ""
        lines = [
            f"{ax}.hist(",
            f"    [{parts}],",
            f"    bins={bins}, {logarithmic}stacked=True, color=[{colours}], label=[{names}],",
            ")",
        ]
    for mark in form.marks:
        look = f'color={TEXT_COLOUR}, linestyle="--"' if mark.dashed else f'color="{VERMILION}"'
        lines.append(f"{ax}.axvline({mark.value}, {look}, label={in_chart(draft, mark.label)})")
    return [
        *lines,
        f'{ax}.set_xscale("log")' if form.log else "",
        f"{ax}.set_ylim(bottom=0.5)" if form.log_rows else f'{ax}.yaxis.set_major_formatter("{{x:,.0f}}")',
        _legend(ax),
    ]


def _points(draft: Draft, form: Points, fig: str, ax: str) -> list[str]:
    scales = [(axis, scale) for axis, scale in zip("xy", form.scales, strict=True) if scale]
    if form.dense:
        cells, named = draft.name("cells"), "".join(f", {axis}scale={scale}" for axis, scale in scales)
        lines = [
            f'{cells} = {ax}.hexbin({form.x}, {form.y}, gridsize=40, mincnt=1, bins="log", cmap="Blues"{named})',
            f'{fig}.colorbar({cells}, label="rows")',
        ]
    else:
        lines = [f'{ax}.scatter({form.x}, {form.y}, s=12, alpha=0.4, color="{BLUE}", edgecolors="none")']
        lines += [f"{ax}.set_{axis}scale({scale})" for axis, scale in scales]
    if not scales:
        lines.append(f"{ax}.ticklabel_format(useOffset=False)")
    if form.curve:
        curve = form.curve
        lines += [curve.made, f'{ax}.plot({curve.x}, {curve.y}, color="{VERMILION}", linewidth=2)']
    return lines


def _time_line(form: TimeLine, ax: str) -> list[str]:
    marker = ', marker="o"' if form.few else ""
    return [
        f'{ax}.plot({form.x}, {form.y}, color="{BLUE}", linewidth=1{marker})',
        f"for {form.part} in {form.parts}:",
        f"    {ax}.plot({form.part_x}, [{form.level}] * len({form.part}),"
        f' color="{VERMILION}", linewidth=3{marker})',
        f'{ax}.set_yscale("log")' if form.log else "",
        _whole_labels(ax, "y", form.close),
        _dates(ax),
    ]


def _level_lines(draft: Draft, form: LevelLines, fig: str, ax: str) -> list[str]:
    marker = ', marker="o"' if form.few else ""
    colours = draft.name("colors")
    legend = _legend(ax, 1) if has_long_labels(draft) else _levels_legend(draft, fig, form.title)
    return [
        f"{colours} = [{', '.join(map(literal, COLOURS))}]",
        f"for {form.level}, {form.colour} in zip({form.levels}, {colours}):",
        f"    {form.line} = {form.made}",
        f"    {ax}.plot({form.x}, {form.y}, color={form.colour}, label={_level_label(draft, form.level)}{marker})",
        _dates(ax),
        legend,
    ]


def _level_label(draft: Draft, level: str) -> str:
    """Return the expression for a level's name in the legend, where a dollar sign would begin mathematics."""
    has_dollar = any("$" in draft.finding.text(fact) for fact in ("level_high", "level_low"))
    return f'{level}.replace("$", r"\\$")' if has_dollar else level


def _levels_legend(draft: Draft, fig: str, title: str) -> str:
    """Return the line of a legend beside the data."""
    shown = in_chart(draft, "\n".join(wrap(title, LONG_LABEL)))
    return f'{fig}.legend(title={shown}, loc="outside right center", frameon=False)'


def _dumbbells(draft: Draft, form: Dumbbells, ax: str) -> list[str]:
    one, other = (in_chart(draft, text) for text in form.texts)
    return [
        f"{form.names} = {form.labels}",
        f'{ax}.hlines({form.names}, {form.a}, {form.b}, color="0.6")',
        f'{ax}.scatter({form.a}, {form.names}, s=60, color="{BLUE}", zorder=3, label={one})',
        f'{ax}.scatter({form.b}, {form.names}, s=60, color="{VERMILION}", zorder=3, label={other})',
        _few(ax, form.rows),
        f'{ax}.axhline(len({form.table}) - 1.5, color="0.6", linewidth=0.8)' if form.overall else "",
        _legend(ax, 1 if max(map(len, form.texts)) > LONG_LABEL else 2),
    ]


def _strata(draft: Draft, form: Strata, fig: str, ax: str) -> list[str]:
    rows, x, y, part, drawn, line = form.rows, form.x, form.y, form.part, form.drawn, form.line
    colours = ", ".join(map(literal, COLOURS))
    return [
        f"for {form.level}, {form.colour} in zip({form.levels}, [{colours}]):",
        f"    {part} = {form.chosen}",
        f"    {drawn} = {form.sample}",
        f'    {ax}.scatter({drawn}[{x}], {drawn}[{y}], s=8, alpha=0.35, color={form.colour}, edgecolors="none")',
        f"    {line} = np.polynomial.Polynomial.fit({part}[{x}], {part}[{y}], 1).linspace(2)",
        f"    {ax}.plot(*{line}, color={form.colour}, label={_level_label(draft, form.level)})",
        f"{line} = np.polynomial.Polynomial.fit({rows}[{x}], {rows}[{y}], 1).linspace(2)",
        f'{ax}.plot(*{line}, color={TEXT_COLOUR}, linestyle="--", linewidth=2, label="overall")',
        _levels_legend(draft, fig, form.title),
    ]
