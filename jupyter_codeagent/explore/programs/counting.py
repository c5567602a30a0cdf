"""Expressions of numpy that count rows before they are drawn, for libraries that would be given every row."""

from __future__ import annotations

from jupyter_codeagent.explore.programs.forms import Histogram

BINS, CELLS = 60, 40


def value_edges(form: Histogram) -> str:
    """Return the edges of a histogram's bars."""
    space = "geomspace" if form.log else "linspace"
    return f"np.{space}({form.values}.min(), {form.values}.max(), {BINS + 1})"


def cell_edges(series: str, scale: str) -> str:
    """Return the edges of cells along one axis, equally wide on its scale."""
    ends = f"({series}.min(), {series}.max(), {CELLS + 1})"
    if scale in ("", '"linear"'):
        return f"np.linspace{ends}"
    if scale == '"log"':
        return f"np.geomspace{ends}"
    return f"np.geomspace{ends} if {series}.min() > 0 else np.linspace{ends}"
