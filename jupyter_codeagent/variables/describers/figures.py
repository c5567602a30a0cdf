"""Describers of figures, by the titles and labels that the user has set. Nothing is rendered."""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.types.variables import Privacy, VariableSummary
from jupyter_codeagent.variables.introspection import type_name
from jupyter_codeagent.variables.privacy.secret import private_text
from jupyter_codeagent.variables.text import quoted, safe

MAX_AXES = 4
TITLE_CHARS = 40


def describe_figure(name: str, figure: Any, privacy: Privacy) -> VariableSummary:
    """Describe a matplotlib figure by its axes."""
    axes = figure.axes
    texts = [text for axis in axes[:MAX_AXES] if (text := _axes_text(axis, privacy))]
    return _line(name, "Figure", f" with {len(axes)} axes{': ' if texts else ''}{'; '.join(texts)}")


def describe_axes(name: str, axes: Any, privacy: Privacy) -> VariableSummary:
    """Describe matplotlib axes by title and labels."""
    text = _axes_text(axes, privacy)
    return _line(name, safe(type_name(type(axes)), 40), f" {text}" if text else "")


def describe_plotly(name: str, figure: Any, privacy: Privacy) -> VariableSummary:
    """Describe a plotly figure by the types of its traces."""
    kinds = [safe(str(trace.type), 20) for trace in figure.data]
    of = f" of {', '.join(dict.fromkeys(kinds))}" if kinds else ""
    return _line(name, "plotly.Figure", f" with {len(kinds)} traces{of}")


def _axes_text(axes: Any, privacy: Privacy) -> str:
    if privacy == "schema":
        return ""
    texts = (axes.get_title(), f"x {axes.get_xlabel()}".strip(), f"y {axes.get_ylabel()}".strip())
    return ", ".join(_label(text) for text in texts if text not in ("", "x", "y"))


def _label(text: str) -> str:
    return "***" if private_text(text) else quoted(text, TITLE_CHARS)


def _line(name: str, kind: str, text: str) -> VariableSummary:
    return VariableSummary(name=name, type_name=kind, headline=f"{name}: {kind}{text}")


DESCRIBERS = {
    "matplotlib.figure.FigureBase": describe_figure,
    "matplotlib.axes._base._AxesBase": describe_axes,
    "plotly.basedatatypes.BaseFigure": describe_plotly,
}
