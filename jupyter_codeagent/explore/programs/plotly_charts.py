"""Charts of findings as lines of Plotly: graph objects with few points, since a figure carries all its data."""

from __future__ import annotations

from jupyter_codeagent.explore.programs.chart_text import axis_titles, caption, in_chart, title_lines, title_of
from jupyter_codeagent.explore.programs.colours import BLUE, COLOURS, GREY, VERMILION
from jupyter_codeagent.explore.programs.counting import cell_edges, value_edges
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

PIXELS_PER_INCH = 90
TITLE_PIXELS, TOP_PIXELS, BOTTOM_PIXELS, LEGEND_PIXELS = 24, 82, 60, 40
"""Height of one line of the title; of the first with what stands below it; of what stands below the data."""


def write(draft: Draft, form: Form, around: Around) -> None:
    """Add the lines of a chart to the draft."""
    fig = draft.name("fig")
    x, y = axis_titles(draft, around)
    more_lines = TITLE_PIXELS * (len(title_lines(draft)) - 1)
    has_legend = isinstance(form, Histogram | Dumbbells)
    top, bottom = TOP_PIXELS + more_lines, BOTTOM_PIXELS + LEGEND_PIXELS * has_legend
    height = round(PIXELS_PER_INCH * around.height) + more_lines + LEGEND_PIXELS * has_legend
    draft.write(
        *_data(draft, form, fig),
        f"{fig}.update_layout(",
        f"    title_text={title_of(draft)},",
        f"    title_subtitle_text={caption(around)},",
        f"    xaxis_title={x},",
        f"    yaxis_title={y},",
        '    template="plotly_white", title_y=1, title_yanchor="top", title_pad_t=26,',
        f"    height={height}, margin=dict(t={top}, b={bottom}, l=60, r=20),",
        ")",
        f"display({fig})",
    )


def _data(draft: Draft, form: Form, fig: str) -> list[str]:  # noqa: C901  (a case for each form)
    match form:
        case Bars():
            lines = _bars(draft, form, fig)
        case Intervals():
            lines = [
                f"{fig} = go.Figure(go.Scatter(",
                f"    x={form.values}, y={form.labels},",
                f"    error_x_array=1.96 * {form.error},",
                f'    mode="markers", marker=dict(color="{BLUE}", size=9),',
                "))",
                _reference(fig, form.reference),
                f'{fig}.update_xaxes(type="log", dtick=1)' if form.log else "",
                _categories(fig),
            ]
        case Histogram():
            lines = _histogram(draft, form, fig)
        case Points():
            lines = _points(draft, form, fig)
        case TimeLine():
            lines = _time_line(form, fig)
        case LevelLines():
            lines = _level_lines(draft, form, fig)
        case CycleLine():
            ticks = axis_ticks(form.cycle)
            names = f", ticktext={ticks.names}" if ticks.names else ""
            lines = [
                f'{fig} = go.Figure(go.Scatter(x={form.x}, y={form.y}, mode="lines+markers", line_color="{BLUE}"))',
                f"{fig}.update_xaxes(tickvals=[*{ticks.places}]{names})",
            ]
        case Calendar():
            lines = [
                f'{fig} = go.Figure(go.Bar(x={form.x}, y={form.y}, marker=dict(color="{BLUE}", line_width=0)))',
                f'{fig}.add_vrect({form.start}, {form.end}, fillcolor="{VERMILION}", opacity=0.3, line_width=0)',
            ]
        case Dumbbells():
            lines = _dumbbells(draft, form, fig)
        case Strata():
            lines = _strata(draft, form, fig)
    return lines


def _categories(fig: str, *, first_on_top: bool = False) -> str:
    """Return the line by which the other axis has categories, also where they look like numbers or dates."""
    reverse = ', autorange="reversed"' if first_on_top else ""
    return f'{fig}.update_yaxes(type="category"{reverse})'


def _reference(fig: str, value: str) -> str:
    return f'{fig}.add_vline({value}, line=dict(color="{GREY}", dash="dash", width=1))'


def _bars(draft: Draft, form: Bars, fig: str) -> list[str]:
    lines, colour = [], f'"{BLUE}"'
    if form.levels:
        colour = draft.name("colors")
        lines = [f'{colour} = ["{VERMILION}" if level == {form.level} else "{BLUE}" for level in {form.levels}]']
    return [
        *lines,
        f'{fig} = go.Figure(go.Bar(x={form.values}, y={form.labels}, orientation="h", marker_color={colour}))',
        _reference(fig, form.reference) if form.reference else "",
        _categories(fig, first_on_top=form.first_on_top),
    ]


def _legend(title: str = "") -> str:
    shown = f"title_text={title}, " if title else ""
    return f'legend=dict({shown}orientation="h", yref="container", y=0.01, yanchor="bottom")'


def _histogram(draft: Draft, form: Histogram, fig: str) -> list[str]:
    edges, top = draft.name("edges"), draft.name("highest")
    lines = [
        f"{edges} = {value_edges(form)}",
        f"{fig} = go.Figure()",
    ]
    for part in form.parts:
        named = f"name={in_chart(draft, part.label)}, " if part.label else "showlegend=False, "
        lines += [
            f"{fig}.add_bar(",
            f"    x=({edges}[:-1] + {edges}[1:]) / 2, width=np.diff({edges}),",
            f"    y=np.histogram({part.values}, {edges})[0],",
            f'    {named}marker=dict(color="{part.colour}", line_width=0),',
            ")",
        ]
    if form.marks:
        lines.append(f"{top} = np.histogram({form.values}, {edges})[0].max()")
    for mark in form.marks:
        look = 'color="black", dash="dash"' if mark.dashed else f'color="{VERMILION}"'
        lines.append(
            f"{fig}.add_scatter(x=[{mark.value}] * 2, y=[0, {top}], "
            f'mode="lines", line=dict({look}), name={in_chart(draft, mark.label)})'
        )
    return [
        *lines,
        f'{fig}.update_xaxes(type="log", dtick=1)' if form.log else "",
        f'{fig}.update_yaxes(type="log", dtick=1)' if form.log_rows else "",
        f'{fig}.update_layout(barmode="stack", {_legend()})',
    ]


def _points(draft: Draft, form: Points, fig: str) -> list[str]:
    if form.dense:
        lines = _cells(draft, form, fig)
    else:
        lines = [
            f'{fig} = go.Figure(go.Scatter(x={form.x}, y={form.y}, mode="markers", showlegend=False,',
            f'    marker=dict(color="{BLUE}", size=5, opacity=0.4)))',
        ]
    if form.curve:
        curve = form.curve
        lines += [
            curve.made,
            f"{fig}.add_scatter(",
            f'    x={curve.x}, y={curve.y}, mode="lines", line_color="{VERMILION}", showlegend=False',
            ")",
        ]
    scales = [(axis, scale) for axis, scale in zip("xy", form.scales, strict=True) if scale]
    return [*lines, *(f"{fig}.update_{axis}axes(type={scale})" for axis, scale in scales)]


def _cells(draft: Draft, form: Points, fig: str) -> list[str]:
    counts, edges, powers = draft.name("counts"), draft.name("edges"), draft.name("powers")
    return [
        f"{edges} = [{cell_edges(form.x, form.scales[0])}, {cell_edges(form.y, form.scales[1])}]",
        f"{counts} = np.histogram2d({form.x}, {form.y}, bins={edges})[0].T",
        f"{counts} = np.log10(np.where({counts} > 0, {counts}, np.nan))",
        f"{powers} = range(1 + int(np.nanmax({counts})))",
        f"{fig} = go.Figure(go.Heatmap(",
        f'    x={edges}[0], y={edges}[1], z={counts}, colorscale="Blues", zmin=-0.5, hoverinfo="skip",',
        '    colorbar=dict(title="rows",',
        f'        tickvals=[*{powers}], ticktext=[f"{{10**power:,}}" for power in {powers}]),',
        "))",
    ]


def _time_line(form: TimeLine, fig: str) -> list[str]:
    mode = "lines+markers" if form.few else "lines"
    return [
        f'{fig} = go.Figure(go.Scatter(x={form.x}, y={form.y}, mode="{mode}", line_color="{BLUE}"))',
        f"for {form.part} in {form.parts}:",
        f"    {fig}.add_scatter(",
        f"        x={form.part_x}, y=[{form.level}] * len({form.part}),",
        f'        mode="{mode}", line=dict(color="{VERMILION}", width=4),',
        "    )",
        f'{fig}.update_yaxes(type="log", dtick=1)' if form.log else "",
        f"{fig}.update_layout(showlegend=False)",
    ]


def _level_lines(draft: Draft, form: LevelLines, fig: str) -> list[str]:
    mode, colours = "lines+markers" if form.few else "lines", draft.name("colors")
    return [
        f"{fig} = go.Figure()",
        f"{colours} = [{', '.join(map(literal, COLOURS))}]",
        f"for {form.level}, {form.colour} in zip({form.levels}, {colours}):",
        f"    {form.line} = {form.made}",
        f"    {fig}.add_scatter(",
        f'        x={form.x}, y={form.y}, mode="{mode}", line_color={form.colour}, name={form.level}',
        "    )",
        f"{fig}.update_layout(legend_title={in_chart(draft, form.title)})",
    ]


def _dumbbells(draft: Draft, form: Dumbbells, fig: str) -> list[str]:
    name, low, high = (draft.name(wanted) for wanted in ("name", "low", "high"))
    shown = [
        f'{fig}.add_scatter(x={values}, y={form.names}, mode="markers", name={in_chart(draft, text)}, '
        f'marker=dict(color="{colour}", size=11))'
        for values, text, colour in zip((form.a, form.b), form.texts, (BLUE, VERMILION), strict=True)
    ]
    return [
        f"{form.names} = {form.labels}",
        f"{fig} = go.Figure()",
        f"for {name}, {low}, {high} in zip({form.names}, {form.a}, {form.b}):",
        f"    {fig}.add_scatter(",
        f'        x=[{low}, {high}], y=[{name}, {name}], mode="lines", line_color="#999999", showlegend=False',
        "    )",
        *shown,
        _categories(fig),
        f"{fig}.update_layout({_legend(in_chart(draft, form.title))})",
    ]


def _strata(draft: Draft, form: Strata, fig: str) -> list[str]:
    rows, x, y, part, drawn, line = form.rows, form.x, form.y, form.part, form.drawn, form.line
    colours = ", ".join(map(literal, COLOURS))
    return [
        f"{fig} = go.Figure()",
        f"for {form.level}, {form.colour} in zip({form.levels}, [{colours}]):",
        f"    {part} = {form.chosen}",
        f"    {drawn} = {form.sample}",
        f"    {fig}.add_scatter(",
        f'        x={drawn}[{x}], y={drawn}[{y}], mode="markers", showlegend=False,',
        f"        marker=dict(color={form.colour}, size=4, opacity=0.35),",
        "    )",
        f"    {line} = np.polynomial.Polynomial.fit({part}[{x}], {part}[{y}], 1).linspace(2)",
        f"    {fig}.add_scatter(",
        f'        x={line}[0], y={line}[1], mode="lines", line_color={form.colour}, name={form.level}',
        "    )",
        f"{line} = np.polynomial.Polynomial.fit({rows}[{x}], {rows}[{y}], 1).linspace(2)",
        f"{fig}.add_scatter(",
        f'    x={line}[0], y={line}[1], mode="lines", name="overall",',
        '    line=dict(color="black", dash="dash", width=3),',
        ")",
        f"{fig}.update_layout(legend_title={in_chart(draft, form.title)})",
    ]
