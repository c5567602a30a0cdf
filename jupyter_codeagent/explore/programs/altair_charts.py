"""Charts of findings as lines of Altair.

What is drawn is put in a frame of its own with plain names: a column of the user's may be called anything, and
Altair reads ``a.b`` and ``a:N`` as more than a name. But for days over many years no frame has more than the 5,000
rows that Altair takes.
"""

from __future__ import annotations

from jupyter_codeagent.explore.programs.chart_text import axis_titles, caption, has_long_labels, in_chart, title_of
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

WIDTH, NARROW_WIDTH = 520, 400
"""Pixels, and beside long labels."""
LONG_LABEL = 20
MOST_ROWS = 5000
"""Of a frame that Altair takes unless it is told otherwise."""
PIXELS_PER_INCH = 70
PIXELS_PER_ROW = 26
LABEL_PIXELS = 320


def write(draft: Draft, form: Form, around: Around) -> None:
    """Add the lines of a chart to the draft."""
    title_x, title_y = axis_titles(draft, around)
    chart = draft.name("chart")
    x, y = _Channel("alt.X", title_x), _Channel("alt.Y", title_y)
    has_rows = isinstance(form, Bars | Intervals | Dumbbells)
    height = f"alt.Step({PIXELS_PER_ROW})" if has_rows else f"{PIXELS_PER_INCH * (around.height - 1):.0f}"
    width = NARROW_WIDTH if has_rows and has_long_labels(draft) else WIDTH
    title = draft.name("title")
    draft.write(
        *_data(draft, form, chart, x, y),
        f'{title} = alt.Title({title_of(draft)}, subtitle={caption(around)}, anchor="start")',
        *_shown(form, f"display({chart}.properties(title={title}, width={width}, height={height}))"),
    )


def _shown(form: Form, display: str) -> list[str]:
    if isinstance(form, Calendar) and form.days >= MOST_ROWS:
        return [
            'with alt.data_transformers.enable("default", max_rows=None):  # a row for each day',
            f"    {display}",
        ]
    return [display]


class _Channel:
    """The axis of a chart: its channel and title."""

    def __init__(self, channel: str, title: str) -> None:
        self.channel = channel
        self.title = title

    def of(self, field: str, more: str = "") -> str:
        """Return the encoding of a field along this axis."""
        return f'{self.channel}("{field}"){more}.title({self.title})'

    def categories(self, *, first_on_top: bool = False) -> str:
        """Return the encoding of categories in the order of the frame."""
        order = ".sort(None)" if first_on_top else ".sort(None).scale(reverse=True)"
        return self.of("level:N", f"{order}.axis(labelLimit={LABEL_PIXELS})")


def _frame(draft: Draft, **columns: str) -> str:
    library = "pl" if draft.is_polars else "pd"
    return f"{library}.DataFrame({{{', '.join(f'{literal(name)}: {value}' for name, value in columns.items())}}})"


def _made(draft: Draft, name: str, **columns: str) -> list[str]:
    """Return the lines that make a frame, one for each column."""
    library = "pl" if draft.is_polars else "pd"
    return [
        f"{name} = {library}.DataFrame({{",
        *(f"    {literal(column)}: {value}," for column, value in columns.items()),
        "})",
    ]


def _encoded(chart: str, mark: str, *channels: str) -> list[str]:
    """Return the lines of a statement that gives a chart its channels, one for each."""
    return [f"{chart}.{mark}.encode(", *(f"    {one}," for one in channels), ")"]


def _data(draft: Draft, form: Form, chart: str, x: _Channel, y: _Channel) -> list[str]:  # noqa: C901  (a case for each form)
    match form:
        case Bars():
            lines = _bars(draft, form, chart, x, y)
        case Intervals():
            lines = _intervals(draft, form, chart, x, y)
        case Histogram():
            lines = _histogram(draft, form, chart, x, y)
        case Points():
            lines = _points(draft, form, chart, x, y)
        case TimeLine():
            lines = _time_line(draft, form, chart, x, y)
        case LevelLines():
            lines = _level_lines(draft, form, chart, x, y)
        case CycleLine():
            lines = _cycle_line(draft, form, chart, x, y)
        case Calendar():
            lines = _calendar(draft, form, chart, x, y)
        case Dumbbells():
            lines = _dumbbells(draft, form, chart, x, y)
        case Strata():
            lines = _strata(draft, form, chart, x, y)
    return lines


def _reference(draft: Draft, chart: str, value: str, x: _Channel) -> list[str]:
    """Return the lines that mark the value of all rows."""
    frame = _frame(draft, value=f"[{value}]")
    mark = f'mark_rule(color="{GREY}", strokeDash=[4, 4])'
    return _encoded(f"{chart} += alt.Chart({frame})", mark, x.of("value"))


def _bars(draft: Draft, form: Bars, chart: str, x: _Channel, y: _Channel) -> list[str]:
    bars = draft.name("bars")
    lines, colour, mark = [], {}, f'mark_bar(color="{BLUE}", tooltip=True)'
    channels = [x.of("percent"), y.categories(first_on_top=form.first_on_top)]
    if form.levels:
        colours = draft.name("colors")
        lines = [f'{colours} = ["{VERMILION}" if level == {form.level} else "{BLUE}" for level in {form.levels}]']
        colour, mark = {"color": colours}, "mark_bar(tooltip=True)"
        channels.append('alt.Color("color:N").scale(None)')
    return [
        *lines,
        *_made(draft, bars, level=form.labels, percent=form.values, **colour),
        *_encoded(f"{chart} = alt.Chart({bars})", mark, *channels),
        *(_reference(draft, chart, form.reference, x) if form.reference else ()),
    ]


def _intervals(draft: Draft, form: Intervals, chart: str, x: _Channel, y: _Channel) -> list[str]:
    points, mean, reach = draft.name("points"), form.values, f"1.96 * {form.error}"
    low = f"np.maximum({mean} - {reach}, {mean} / 10)" if form.log else f"{mean} - {reach}"
    scale = '.scale(type="log")' if form.log else ".scale(zero=False)"
    rule, circle = f'mark_rule(color="{BLUE}")', f'mark_circle(color="{BLUE}", size=60, opacity=1, tooltip=True)'
    levels = y.categories()
    return [
        *_made(draft, points, level=form.labels, mean=mean, low=low, high=f"{mean} + {reach}"),
        *_encoded(f"{chart} = alt.Chart({points})", rule, x.of("low", scale), levels, 'alt.X2("high")'),
        *_encoded(f"{chart} += alt.Chart({points})", circle, x.of("mean", scale), levels),
        *_reference(draft, chart, form.reference, x),
    ]


def _histogram(draft: Draft, form: Histogram, chart: str, x: _Channel, y: _Channel) -> list[str]:
    edges, bars = draft.name("edges"), draft.name("bars")
    across = x.of("low", '.scale(type="log")' if form.log else "")
    up = y.of("rows", '.scale(type="log", domainMin=0.5)' if form.log_rows else "")
    floor = f"alt.Y2(datum={'0.5' if form.log_rows else '0'})"
    filled = f'{bars}.filter(pl.col("rows") > 0)' if draft.is_polars else f'{bars}[{bars}["rows"] > 0]'
    hues = _hues(
        [in_chart(draft, part.label) for part in form.parts], [literal(part.colour) for part in form.parts]
    )
    lines = [f"{edges} = {value_edges(form)}"]
    for number, part in enumerate(form.parts):
        label = {"part": in_chart(draft, part.label)} if part.label else {}
        rows = f"np.histogram({part.values}, {edges})[0]"
        hue = hues if part.label else f'color=alt.value("{part.colour}")'
        lines += [
            *_made(draft, bars, low=f"{edges}[:-1]", high=f"{edges}[1:]", rows=rows, **label),
            *_encoded(
                f"{chart} {'+' if number else ''}= alt.Chart({filled})",
                "mark_rect(tooltip=True)",
                *(across, up, 'alt.X2("high")', floor, hue),
            ),
        ]
    return [*lines, *(_marks(draft, form, chart, x) if form.marks else ())]


def _hues(names: list[str], colours: list[str], title: str = "None") -> str:
    """Return the encoding of parts that are told apart by colour: of their names and colours as literals."""
    is_long = max(map(len, names)) > LONG_LABEL
    wide = f", columns=1, labelLimit={LABEL_PIXELS}" if is_long else ""
    return (
        f'alt.Color("part:N").scale(domain=[{", ".join(names)}], range=[{", ".join(colours)}])'
        f'.legend(orient="top", title={title}{wide})'
    )


def _marks(draft: Draft, form: Histogram, chart: str, x: _Channel) -> list[str]:
    marks, names = draft.name("marks"), [in_chart(draft, mark.label) for mark in form.marks]
    colours = ['"black"' if mark.dashed else literal(VERMILION) for mark in form.marks]
    values, listed = ", ".join(mark.value for mark in form.marks), ", ".join(names)
    dashes = ", ".join("[5, 3]" if mark.dashed else "[1, 0]" for mark in form.marks)
    dash = f'alt.StrokeDash("part:N").scale(domain=[{listed}], range=[{dashes}])'
    return [
        *_made(draft, marks, value=f"[{values}]", part=f"[{listed}]"),
        *_encoded(
            f"{chart} += alt.Chart({marks})", "mark_rule(size=2)", x.of("value"), _hues(names, colours), dash
        ),
    ]


def _points(draft: Draft, form: Points, chart: str, x: _Channel, y: _Channel) -> list[str]:
    scales = [f".scale(type={scale or literal('linear')}, zero=False)" for scale in form.scales]
    axes = x.of("x", scales[0]), y.of("y", scales[1])
    if form.dense:
        lines = _cells(draft, form, chart, axes)
    else:
        points, mark = draft.name("points"), f'mark_circle(size=16, opacity=0.4, color="{BLUE}", tooltip=True)'
        lines = [
            f"{points} = {_frame(draft, x=form.x, y=form.y)}",
            *_encoded(f"{chart} = alt.Chart({points})", mark, *axes),
        ]
    if form.curve:
        frame = _frame(draft, x=form.curve.x, y=form.curve.y)
        mark = f'mark_line(color="{VERMILION}", size=2)'
        lines += [form.curve.made, *_encoded(f"{chart} += alt.Chart({frame})", mark, x.of("x"), y.of("y"))]
    return lines


def _cells(draft: Draft, form: Points, chart: str, axes: tuple[str, str]) -> list[str]:
    counts, edges, cells = draft.name("counts"), draft.name("edges"), draft.name("cells")
    i, j = draft.name("i"), draft.name("j")
    across, up = f"{edges}[0]", f"{edges}[1]"
    corners = {"x": f"{across}[{i}]", "x2": f"{across}[{i} + 1]", "y": f"{up}[{j}]", "y2": f"{up}[{j} + 1]"}
    shade = 'alt.Color("rows").scale(type="log", scheme="blues")'
    return [
        f"{edges} = [{cell_edges(form.x, form.scales[0])}, {cell_edges(form.y, form.scales[1])}]",
        f"{counts} = np.histogram2d({form.x}, {form.y}, bins={edges})[0]",
        f"{i}, {j} = np.nonzero({counts})",
        *_made(draft, cells, **corners, rows=f"{counts}[{i}, {j}]"),
        *_encoded(
            f"{chart} = alt.Chart({cells})",
            "mark_rect(tooltip=True)",
            *(*axes, 'alt.X2("x2")', 'alt.Y2("y2")', shade),
        ),
    ]


def _time_line(draft: Draft, form: TimeLine, chart: str, x: _Channel, y: _Channel) -> list[str]:
    encoded = draft.name("encoded")
    up = y.of("mean", '.scale(type="log")' if form.log else ".scale(zero=False)")
    thin, thick = (
        f"mark_line({_look(colour, form.few)}, size={size})" for colour, size in ((BLUE, 1.5), (VERMILION, 4))
    )
    line, level = _frame(draft, period=form.x, mean=form.y), _frame(draft, period=form.part_x, mean=form.level)
    return [
        f"{encoded} = [{x.of('period:T')}, {up}]",
        f"{chart} = alt.Chart({line}).{thin}.encode(*{encoded})",
        f"for {form.part} in {form.parts}:",
        f"    {chart} += alt.Chart({level}).{thick}.encode(*{encoded})",
    ]


def _level_lines(draft: Draft, form: LevelLines, chart: str, x: _Channel, y: _Channel) -> list[str]:
    shown, layers, encoded = draft.name("shown"), draft.name("layers"), draft.name("encoded")
    means = _frame(draft, period=form.x, mean=form.y, part=form.level)
    points, colours = ", point=True" if form.few else "", ", ".join(map(literal, COLOURS))
    return [
        f"{shown} = [*{form.levels}][:{len(COLOURS)}]",
        *_level_colours(draft, form.colour, form.title, f"domain={shown}, range=[{colours}]"),
        f"{encoded} = [{x.of('period:T')}, {y.of('mean', '.scale(zero=False)')}, {form.colour}]",
        f"{layers} = []",
        f"for {form.level} in {shown}:",
        f"    {form.line} = {form.made}",
        f"    {layers}.append(alt.Chart({means}).mark_line(tooltip=True{points}).encode(*{encoded}))",
        f"{chart} = alt.layer(*{layers})",
    ]


def _level_colours(draft: Draft, colour: str, title: str, scale: str) -> list[str]:
    """Return the statement that gives levels their colours."""
    return [
        f'{colour} = alt.Color("part:N").title({in_chart(draft, title)}).legend(',
        f'    symbolType="stroke", symbolOpacity=1, labelLimit={LABEL_PIXELS}',
        f").scale({scale})",
    ]


def _look(colour: str, has_points: bool) -> str:
    """Return the arguments of a line's look; Altair gives the points of a line a colour of their own."""
    return f'color="{colour}"' + (f', point=dict(color="{colour}", size=40)' if has_points else "")


def _cycle_line(draft: Draft, form: CycleLine, chart: str, x: _Channel, y: _Channel) -> list[str]:
    ticks, line = axis_ticks(form.cycle), draft.name("line")
    places, lines, across = form.x, list[str](), x.of("part:O", ".axis(labelAngle=0)")
    if ticks.names:
        names, first = draft.name("names"), " - 1" if form.cycle == "month" else ""
        lines = [f"{names} = {ticks.names}"]
        places = f"[{names}[i{first}] for i in {form.x}]"
        across = x.of("part:N", f".sort({names}).axis(labelAngle=0)")
    mark = f"mark_line({_look(BLUE, True)}, tooltip=True)"
    return [
        *lines,
        *_made(draft, line, part=places, mean=form.y),
        *_encoded(f"{chart} = alt.Chart({line})", mark, across, y.of("mean", ".scale(zero=False)")),
    ]


def _calendar(draft: Draft, form: Calendar, chart: str, x: _Channel, y: _Channel) -> list[str]:
    days = _frame(draft, day=form.x, rows=form.y)
    span = _frame(draft, start=f"[{form.start}]", end=f"[{form.end}]")
    rule, rect = f'mark_rule(color="{BLUE}", tooltip=True)', f'mark_rect(color="{VERMILION}", opacity=0.3)'
    return [
        *_encoded(f"{chart} = alt.Chart({days})", rule, x.of("day:T"), y.of("rows"), "alt.Y2(datum=0)"),
        *_encoded(f"{chart} += alt.Chart({span})", rect, x.of("start:T"), 'alt.X2("end")'),
    ]


def _dumbbells(draft: Draft, form: Dumbbells, chart: str, x: _Channel, y: _Channel) -> list[str]:
    names, long = form.names, draft.name("long")
    one, other = (in_chart(draft, text) for text in form.texts)
    part = f"[{one}] * len({names}) + [{other}] * len({names})"
    axes = x.of("mean", ".scale(zero=False)"), y.categories()
    hues = _hues([one, other], [literal(BLUE), literal(VERMILION)], in_chart(draft, form.title))
    line, circle = 'mark_line(color="#999999")', "mark_circle(size=90, opacity=1, tooltip=True)"
    return [
        f"{names} = {form.labels}",
        *_made(draft, long, level=f"[*{names}, *{names}]", mean=f"[*{form.a}, *{form.b}]", part=part),
        *_encoded(f"{chart} = alt.Chart({long})", line, *axes, 'alt.Detail("level")'),
        *_encoded(f"{chart} += alt.Chart({long})", circle, *axes, hues),
    ]


def _strata(draft: Draft, form: Strata, chart: str, x: _Channel, y: _Channel) -> list[str]:
    part, drawn, line = form.part, form.drawn, form.line
    shown, layers, encoded = draft.name("shown"), draft.name("layers"), draft.name("encoded")
    colours = ", ".join(map(literal, COLOURS))
    dots = _frame(draft, x=f"{drawn}[{form.x}]", y=f"{drawn}[{form.y}]", part=form.level)
    ends = _frame(draft, x=f"{line}[0]", y=f"{line}[1]", part=form.level)
    whole = _frame(draft, x=f"{line}[0]", y=f"{line}[1]", part='"overall"')
    axes = f"{x.of('x', '.scale(zero=False)')}, {y.of('y', '.scale(zero=False)')}"
    scale = f'domain=[*{shown}, "overall"], range=[*[{colours}][: len({shown})], "black"]'
    return [
        f"{shown} = [*{form.levels}][:{len(COLOURS)}]",
        *_level_colours(draft, form.colour, form.title, scale),
        f"{encoded} = [{axes}, {form.colour}]",
        f"{layers} = []",
        f"for {form.level} in {shown}:",
        f"    {part} = {form.chosen}",
        f"    {drawn} = {form.sample}",
        f"    {line} = np.polynomial.Polynomial.fit({part}[{form.x}], {part}[{form.y}], 1).linspace(2)",
        f"    {layers}.append(alt.Chart({dots}).mark_circle(size=12, opacity=0.35).encode(*{encoded}))",
        f"    {layers}.append(alt.Chart({ends}).mark_line().encode(*{encoded}))",
        f"{line} = np.polynomial.Polynomial.fit({form.rows}[{form.x}], {form.rows}[{form.y}], 1).linspace(2)",
        f"{layers}.append(alt.Chart({whole}).mark_line(size=3, strokeDash=[6, 4]).encode(*{encoded}))",
        f"{chart} = alt.layer(*{layers})",
    ]
