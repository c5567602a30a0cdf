"""Charts of findings as lines of Altair.

What is drawn is put in a frame of its own with plain names: a column of the user's may be called anything, and
Altair reads ``a.b`` and ``a:N`` as more than a name. No frame has more than the 5,000 rows that Altair takes.
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
    Points,
    Strata,
    TimeLine,
)

WIDTH, NARROW_WIDTH = 520, 400
"""Pixels, and beside long labels."""
LONG_LABEL = 20
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
        f"display({chart}.properties(title={title}, width={width}, height={height}))",
    )


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


def _data(draft: Draft, form: Form, chart: str, x: _Channel, y: _Channel) -> list[str]:
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
        case CycleLine():
            lines = _cycle_line(draft, form, chart, x, y)
        case Calendar():
            lines = _calendar(draft, form, chart, x, y)
        case Dumbbells():
            lines = _dumbbells(draft, form, chart, x, y)
        case Strata():
            lines = _strata(draft, form, chart, x, y)
    return lines


def _reference(draft: Draft, chart: str, value: str, x: _Channel) -> str:
    """Return the line that marks the value of all rows."""
    frame = _frame(draft, value=f"[{value}]")
    return f'{chart} += alt.Chart({frame}).mark_rule(color="{GREY}", strokeDash=[4, 4]).encode({x.of("value")})'


def _bars(draft: Draft, form: Bars, chart: str, x: _Channel, y: _Channel) -> list[str]:
    bars = draft.name("bars")
    lines, colour, shown = [], {}, f'mark_bar(color="{BLUE}", tooltip=True)'
    encoded = [x.of("percent"), y.categories(first_on_top=form.first_on_top)]
    if form.levels:
        colours = draft.name("colors")
        lines = [f'{colours} = ["{VERMILION}" if level == {form.level} else "{BLUE}" for level in {form.levels}]']
        colour, shown = {"color": colours}, "mark_bar(tooltip=True)"
        encoded.append('alt.Color("color:N").scale(None)')
    return [
        *lines,
        f"{bars} = {_frame(draft, level=form.labels, percent=form.values, **colour)}",
        f"{chart} = alt.Chart({bars}).{shown}.encode(",
        *(f"    {one}," for one in encoded),
        ")",
        _reference(draft, chart, form.reference, x) if form.reference else "",
    ]


def _intervals(draft: Draft, form: Intervals, chart: str, x: _Channel, y: _Channel) -> list[str]:
    points, mean, reach = draft.name("points"), form.values, f"1.96 * {form.error}"
    frame = _frame(draft, level=form.labels, mean=mean, low=f"{mean} - {reach}", high=f"{mean} + {reach}")
    kind = '.scale(type="log")' if form.log else ".scale(zero=False)"
    low = x.of("low", '.scale(type="log", clamp=True)' if form.log else ".scale(zero=False)")
    return [
        f"{points} = {frame}",
        f"{chart} = alt.Chart({points}).encode({y.categories()})",
        f'{chart} = {chart}.mark_rule(color="{BLUE}").encode({low}, x2="high") + {chart}.mark_circle(',
        f'    color="{BLUE}", size=60, opacity=1, tooltip=True',
        f").encode({x.of('mean', kind)})",
        _reference(draft, chart, form.reference, x),
    ]


def _histogram(draft: Draft, form: Histogram, chart: str, x: _Channel, y: _Channel) -> list[str]:
    edges, bars, names = draft.name("edges"), draft.name("bars"), [part.label for part in form.parts]
    across = x.of("low", '.scale(type="log")' if form.log else "")
    up = y.of("rows", '.scale(type="log", domainMin=0.5)') if form.log_rows else y.of("rows")
    floor = "0.5" if form.log_rows else "0"
    lines = [f"{edges} = {value_edges(form)}"]
    hues = _hues([in_chart(draft, name) for name in names], [literal(part.colour) for part in form.parts])
    layers = []
    for part in form.parts:
        label = {"part": in_chart(draft, part.label)} if part.label else {}
        frame = _frame(
            draft,
            low=f"{edges}[:-1]",
            high=f"{edges}[1:]",
            rows=f"np.histogram({part.values}, {edges})[0]",
            **label,
        )
        layers.append((frame, hues if part.label else f'alt.value("{part.colour}")'))
    for number, (frame, hue) in enumerate(layers):
        lines += [
            f"{bars} = {frame}",
            f'{bars} = {bars}.filter(pl.col("rows") > 0)'
            if draft.is_polars
            else f'{bars} = {bars}[{bars}["rows"] > 0]',
            f"{chart} {'+' if number else ''}= alt.Chart({bars}).mark_rect(tooltip=True).encode(",
            f'    {across}, {up}, x2="high", y2=alt.datum({floor}), color={hue}',
            ")",
        ]
    if form.marks:
        lines += _marks(draft, form, chart, x)
    return lines


def _hues(names: list[str], colours: list[str], title: str = "None") -> str:
    """Return the encoding of parts that are told apart by colour: of their names and colours as literals."""
    is_long = max(map(len, names)) > LONG_LABEL
    wide = f", columns=1, labelLimit={LABEL_PIXELS}" if is_long else ""
    return (
        f'alt.Color("part:N").scale(domain=[{", ".join(names)}], range=[{", ".join(colours)}])'
        f'.legend(orient="top", title={title}{wide})'
    )


def _marks(draft: Draft, form: Histogram, chart: str, x: _Channel) -> list[str]:
    marks = draft.name("marks")
    names = [in_chart(draft, mark.label) for mark in form.marks]
    colours = ['"black"' if mark.dashed else literal(VERMILION) for mark in form.marks]
    values = ", ".join(mark.value for mark in form.marks)
    frame = _frame(draft, value=f"[{values}]", part=f"[{', '.join(names)}]")
    dashes = ", ".join("[5, 3]" if mark.dashed else "[1, 0]" for mark in form.marks)
    return [
        f"{marks} = {frame}",
        f"{chart} += alt.Chart({marks}).mark_rule(size=2).encode(",
        f"    {x.of('value')},",
        f"    {_hues(names, colours)},",
        f'    alt.StrokeDash("part:N").scale(domain=[{", ".join(names)}], range=[{dashes}]),',
        ")",
    ]


def _points(draft: Draft, form: Points, chart: str, x: _Channel, y: _Channel) -> list[str]:
    scales = [f".scale(type={scale or literal('linear')}, zero=False)" for scale in form.scales]
    if form.dense:
        lines = _cells(draft, form, chart, x, y, scales)
    else:
        points = draft.name("points")
        lines = [
            f"{points} = {_frame(draft, x=form.x, y=form.y)}",
            f"{chart} = alt.Chart({points}).mark_circle(",
            f'    size=16, opacity=0.4, color="{BLUE}", tooltip=True',
            ").encode(",
            f"    {x.of('x', scales[0])},",
            f"    {y.of('y', scales[1])},",
            ")",
        ]
    if form.curve:
        curve = form.curve
        frame = _frame(draft, x=curve.x, y=curve.y)
        lines += [
            curve.made,
            f'{chart} += alt.Chart({frame}).mark_line(color="{VERMILION}", size=2).encode(',
            f"    {x.of('x')}, {y.of('y')}",
            ")",
        ]
    return lines


def _cells(draft: Draft, form: Points, chart: str, x: _Channel, y: _Channel, scales: list[str]) -> list[str]:
    counts, edges, cells = draft.name("counts"), draft.name("edges"), draft.name("cells")
    across, up = (f"{edges}[{place}]" for place in (0, 1))
    columns, rows = draft.name("i"), draft.name("j")
    frame = _frame(
        draft,
        x=f"{across}[{columns}]",
        x2=f"{across}[{columns} + 1]",
        y=f"{up}[{rows}]",
        y2=f"{up}[{rows} + 1]",
        rows=f"{counts}[{columns}, {rows}]",
    )
    return [
        f"{edges} = [{cell_edges(form.x, form.scales[0])}, {cell_edges(form.y, form.scales[1])}]",
        f"{counts} = np.histogram2d({form.x}, {form.y}, bins={edges})[0]",
        f"{columns}, {rows} = np.nonzero({counts})",
        f"{cells} = {frame}",
        f"{chart} = alt.Chart({cells}).mark_rect(tooltip=True).encode(",
        f"    {x.of('x', scales[0])},",
        f"    {y.of('y', scales[1])},",
        '    x2="x2", y2="y2",',
        '    color=alt.Color("rows").scale(type="log", scheme="blues"),',
        ")",
    ]


def _time_line(draft: Draft, form: TimeLine, chart: str, x: _Channel, y: _Channel) -> list[str]:
    up = y.of("mean", '.scale(type="log")' if form.log else ".scale(zero=False)")
    encoded = draft.name("encoded")
    blue, vermilion = (_look(colour, form.few) for colour in (BLUE, VERMILION))
    return [
        f"{encoded} = [{x.of('period:T')}, {up}]",
        f"{chart} = alt.Chart({_frame(draft, period=form.x, mean=form.y)})"
        f".mark_line({blue}, size=1.5).encode(*{encoded})",
        f"for {form.part} in {form.parts}:",
        f"    {chart} += alt.Chart({_frame(draft, period=form.part_x, mean=form.level)})"
        f".mark_line({vermilion}, size=4).encode(*{encoded})",
    ]


def _look(colour: str, has_points: bool) -> str:
    """Return the arguments of a line's look; Altair gives the points of a line a colour of their own."""
    return f'color="{colour}"' + (f', point=dict(color="{colour}", size=40)' if has_points else "")


def _cycle_line(draft: Draft, form: CycleLine, chart: str, x: _Channel, y: _Channel) -> list[str]:
    ticks = axis_ticks(form.cycle)
    line, names, across = draft.name("line"), "", x.of("part:O", ".axis(labelAngle=0)")
    places = form.x
    if ticks.names:
        names = draft.name("names")
        places = f"[{names}[i{' - 1' if form.cycle == 'month' else ''}] for i in {form.x}]"
        across = x.of("part:N", f".sort({names}).axis(labelAngle=0)")
    return [
        f"{names} = {ticks.names}" if names else "",
        f"{line} = {_frame(draft, part=places, mean=form.y)}",
        f"{chart} = alt.Chart({line}).mark_line({_look(BLUE, True)}, tooltip=True).encode(",
        f"    {across},",
        f"    {y.of('mean', '.scale(zero=False)')},",
        ")",
    ]


def _calendar(draft: Draft, form: Calendar, chart: str, x: _Channel, y: _Channel) -> list[str]:
    span = _frame(draft, start=f"[{form.start}]", end=f"[{form.end}]")
    return [
        f"{chart} = alt.Chart({_frame(draft, day=form.x, rows=form.y)})"
        f'.mark_rule(color="{BLUE}", tooltip=True).encode(',
        f"    {x.of('day:T')}, {y.of('rows')}, y2=alt.datum(0)",
        ")",
        f'{chart} += alt.Chart({span}).mark_rect(color="{VERMILION}", opacity=0.3).encode(',
        f'    {x.of("start:T")}, x2="end"',
        ")",
    ]


def _dumbbells(draft: Draft, form: Dumbbells, chart: str, x: _Channel, y: _Channel) -> list[str]:
    names, long = form.names, draft.name("long")
    one, other = (in_chart(draft, text) for text in form.texts)
    frame = _frame(
        draft,
        level=f"[*{names}, *{names}]",
        mean=f"[*{form.a}, *{form.b}]",
        part=f"[{one}] * len({names}) + [{other}] * len({names})",
    )
    across = x.of("mean", ".scale(zero=False)")
    hues = _hues([one, other], [literal(BLUE), literal(VERMILION)], in_chart(draft, form.title))
    return [
        f"{names} = {form.labels}",
        f"{long} = {frame}",
        f"{chart} = alt.Chart({long}).encode({across}, {y.categories()})",
        f'{chart} = {chart}.mark_line(color="#999999").encode(detail="level") + {chart}.mark_circle(',
        "    size=90, opacity=1, tooltip=True",
        f").encode({hues})",
    ]


def _strata(draft: Draft, form: Strata, chart: str, x: _Channel, y: _Channel) -> list[str]:
    part, drawn, line = form.part, form.drawn, form.line
    shown, layers, encoded = draft.name("shown"), draft.name("layers"), draft.name("encoded")
    colours = ", ".join(map(literal, COLOURS))
    dots = _frame(draft, x=f"{drawn}[{form.x}]", y=f"{drawn}[{form.y}]", part=form.level)
    ends = _frame(draft, x=f"{line}[0]", y=f"{line}[1]", part=form.level)
    whole = _frame(draft, x=f"{line}[0]", y=f"{line}[1]", part='"overall"')
    axes = f"{x.of('x', '.scale(zero=False)')}, {y.of('y', '.scale(zero=False)')}"
    return [
        f"{shown} = [*{form.levels}][:{len(COLOURS)}]",
        f'{form.colour} = alt.Color("part:N").title({in_chart(draft, form.title)}).legend(',
        f'    symbolType="stroke", symbolOpacity=1, labelLimit={LABEL_PIXELS}',
        ").scale(",
        f'    domain=[*{shown}, "overall"], range=[*[{colours}][: len({shown})], "black"]',
        ")",
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
