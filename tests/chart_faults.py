"""What is wrong with a figure to the eye, found in the figure itself as it is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import Collection, LineCollection, PathCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from jupyter_codeagent.explore.programs.colours import COLOURS, GREY

mpl.use("Agg")

MIN_TEXT_CONTRAST = 4.5
MIN_DATA_CONTRAST = 2.5
DECADES = 1000
SIDE_COLOURS = (GREY, to_hex("0.6"))
CAPTION = re.compile(r"n = \d{1,3}(,\d{3})*")


def faults(figure: Figure) -> Iterator[str]:
    """Yield what is wrong: text over text, cut or pale text, other colours, no number of rows, a hidden span."""
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    texts = list(_texts(figure, renderer))
    for text, box in texts:
        if not _inside(box, figure.bbox):
            yield f"cut: {text.get_text()!r} {[round(edge) for edge in box.extents]}"
        if (found := contrast(text.get_color(), figure.get_facecolor())) < MIN_TEXT_CONTRAST:
            yield f"pale text: {text.get_text()!r}, contrast {found:.1f}"
    for (one, box), (other, other_box) in combinations(texts, 2):
        if box.padded(-0.5).overlaps(other_box.padded(-0.5)):
            yield f"text over text: {one.get_text()!r} {other.get_text()!r}"
    for axes in figure.axes:
        if axes.get_label() != "<colorbar>":
            yield from _faults_of(axes, figure.bbox.width)
    if not CAPTION.fullmatch(figure.get_supxlabel()):
        yield f"no number of rows: {figure.get_supxlabel()!r}"


def _faults_of(axes: Any, width: float) -> Iterator[str]:
    if axes.get_window_extent().width < 0.25 * width:
        yield "no room for the data"
    yield from _colours(axes)
    yield from _hidden_spans(axes)
    for axis in (axes.xaxis, axes.yaxis):
        left_out = axis.get_offset_text().get_text()
        if "+" in left_out.replace("e+", ""):
            yield f"labels leave out {left_out}"


def _texts(figure: Figure, renderer: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the texts that are drawn, with their boxes; ticks out of view are not drawn."""
    axes_of_all = [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    hidden = {id(text) for axis in axes_of_all for text in axis.get_ticklabels(which="both")}
    for axis in axes_of_all:
        ticks = (*axis.get_major_ticks(), *axis.get_minor_ticks())
        hidden |= {id(text) for tick in ticks for text in (tick.label1, tick.label2)}
        hidden -= {id(text) for text in _tick_labels(axis, ticks)}
    for text in figure.findobj(mpl.text.Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden:
            yield text, text.get_window_extent(renderer)


def _tick_labels(axis: Any, ticks: Any) -> list[Any]:
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * max(abs(low), abs(high))
    return [
        label
        for tick in ticks
        for label in (tick.label1, tick.label2)
        if label.get_visible() and label.get_text() and low - slack <= tick.get_loc() <= high + slack
    ]


def _inside(box: Any, edges: Any) -> bool:
    slack = 1.0
    return bool(
        box.x0 >= edges.x0 - slack
        and box.y0 >= edges.y0 - slack
        and box.x1 <= edges.x1 + slack
        and box.y1 <= edges.y1 + slack
    )


def _colours(axes: Any) -> Iterator[str]:
    background = axes.get_facecolor()
    allowed = {to_hex(colour) for colour in (*COLOURS, *SIDE_COLOURS, mpl.rcParams["text.color"])}
    for colour in _data_colours(axes):
        if to_hex(colour).lower() not in {one.lower() for one in allowed}:
            yield f"a colour of its own: {to_hex(colour)}"
        elif contrast(colour, background) < MIN_DATA_CONTRAST:
            yield f"pale: {to_hex(colour)}"


def _data_colours(axes: Any) -> Iterator[Any]:
    yield from (line.get_color() for line in axes.lines)
    yield from (patch.get_facecolor()[:3] for patch in axes.patches)
    for drawn in axes.collections:
        if drawn.get_array() is None:  # else the colours are a scale
            yield from (colour[:3] for colour in _colours_of(drawn))


def _colours_of(drawn: Collection) -> Any:
    return drawn.get_edgecolor() if isinstance(drawn, LineCollection) else drawn.get_facecolor()


def _hidden_spans(axes: Any) -> Iterator[str]:
    """Yield axes of positive values over more than three decades that are not logarithmic."""
    for name, axis, place in (("x", axes.xaxis, 0), ("y", axes.yaxis, 1)):
        points = [drawn.get_offsets() for drawn in axes.collections if isinstance(drawn, PathCollection)]
        values = [float(value) for offsets in points for value in np.asarray(offsets)[:, place]]
        if len(values) > 2 and 0 < min(values) < max(values) / DECADES and axis.get_scale() == "linear":
            yield f"{name} hides its small values: {min(values):g} to {max(values):g} on a linear axis"


def contrast(colour: Any, background: Any = "white") -> float:
    """Return the contrast of two colours, as WCAG counts it."""
    light, dark = sorted((_luminance(colour), _luminance(background)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Any) -> float:
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
