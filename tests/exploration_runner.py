"""A program of a finding run as a cell would be, with its tables and figures looked at."""

from __future__ import annotations

import ast
import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

mpl.use("Agg")


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a program has shown."""

    printed: str
    table: Any
    figures: tuple[Figure, ...]
    made: frozenset[str]
    """Names that it has assigned."""

    @property
    def output(self) -> str:
        """Return what a notebook would show of it, as text."""
        table = self.table.to_string() if hasattr(self.table, "to_string") else repr(self.table)
        return f"{self.printed}\n{table}"


def run(program: str, names: Mapping[str, Any]) -> Ran:
    """Run a program on these names; a warning is an error."""
    plt.close("all")
    namespace = dict(names)
    tree = ast.parse(program)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr | ast.With), ast.unparse(last)
    printed = io.StringIO()
    shown: list[Any] = []
    namespace["display"] = shown.append
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(tree, "program", "exec"), namespace)
        if isinstance(last, ast.Expr):
            table = eval(compile(ast.Expression(last.value), "program", "eval"), namespace)
        else:
            exec(compile(ast.Module([last], []), "program", "exec"), namespace)
            table = shown[-1]
        figures = tuple(plt.figure(number) for number in plt.get_fignums())
        for figure in figures:
            figure.canvas.draw()
    made = frozenset(name for name, value in namespace.items() if name not in names or value is not names[name])
    return Ran(printed=printed.getvalue(), table=table, figures=figures, made=made - {"__builtins__", "display"})


def faults(figure: Figure) -> Iterator[str]:
    """Yield what is wrong with a figure to the eye: text over text, cut text, colours too pale."""
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    edges = figure.bbox
    axes_of_all = [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    hidden = {id(text) for axis in axes_of_all for text in axis.get_ticklabels(which="both")}
    hidden -= {id(text) for axis in axes_of_all for text in _tick_labels(axis)}  # ticks out of view are not drawn
    for text in figure.findobj(mpl.text.Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden:
            box = text.get_window_extent(renderer)
            if not _inside(box, edges):
                yield f"cut: {text.get_text()!r} {[round(edge) for edge in box.extents]}"
    for axis in axes_of_all:
        boxes = [label.get_window_extent(renderer) for label in _tick_labels(axis)]
        if any(one.overlaps(other) for one, other in pairwise(boxes)):
            yield f"tick labels overlap: {[label.get_text() for label in _tick_labels(axis)]}"
    for axes in figure.axes:
        if axes.get_window_extent().width < 0.25 * edges.width and axes.get_label() != "<colorbar>":
            yield "no room for the data"
        yield from _pale(axes)
    yield from _text_over_text(figure, renderer)


def _text_over_text(figure: Figure, renderer: Any) -> Iterator[str]:
    headings = [
        *figure.texts,
        *(t for axes in figure.axes for t in (axes.xaxis.label, axes.yaxis.label)),
        *_legends(figure),
    ]
    shown = [one for one in headings if not hasattr(one, "get_text") or one.get_text().strip()]
    for place, one in enumerate(shown):
        for other in shown[place + 1 :]:
            if one.get_window_extent(renderer).overlaps(other.get_window_extent(renderer)):
                yield f"text over text: {one} {other}"


def _legends(figure: Figure) -> list[Any]:
    return [axes.get_legend() for axes in figure.axes if axes.get_legend()]


def _inside(box: Any, edges: Any) -> bool:
    slack = 1.0
    return bool(
        box.x0 >= edges.x0 - slack
        and box.y0 >= edges.y0 - slack
        and box.x1 <= edges.x1 + slack
        and box.y1 <= edges.y1 + slack
    )


def _tick_labels(axis: Any) -> list[Any]:
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * max(abs(low), abs(high))
    return [
        label
        for tick in axis.get_major_ticks()
        for label in (tick.label1, tick.label2)
        if label.get_visible() and label.get_text() and low - slack <= tick.get_loc() <= high + slack
    ]


def _pale(axes: Any) -> Iterator[str]:
    colours = [line.get_color() for line in axes.lines] + [patch.get_facecolor() for patch in axes.patches]
    for colour in colours:
        if contrast(colour) < 2.5:
            yield f"pale: {colour}"


def contrast(colour: Any) -> float:
    """Return the contrast of a colour against white, as WCAG counts it."""
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    return 1.05 / (luminance + 0.05)
