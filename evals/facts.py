"""What stands in figures and variables, as plain data; imported by the workers of other systems too."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Any

MAX_TABLE_ROWS = 200_000
MAX_TABLES = 40


MAX_TEXT_CHARS = 20_000


def as_in_a_notebook() -> None:
    """Plots go nowhere, and frames are shown 20 columns wide instead of cut at the width of a terminal."""
    import matplotlib
    import pandas as pd

    matplotlib.use("Agg")
    pd.set_option("display.max_columns", 20)


def evidence(text: str, namespace: Mapping[str, Any], figures: list[dict[str, Any]]) -> dict[str, Any]:
    """As JSON; `evals.programs.read_evidence` reads it."""
    encoded = {name: base64.b64encode(data).decode() for name, data in tables(namespace).items()}
    return {"text": text[:MAX_TEXT_CHARS], "figures": figures, "tables": encoded}


def figures_now(plt: Any) -> list[dict[str, Any]]:
    """One entry for each axes of each open figure; fields of `evals.task.FigureFacts`."""
    return [facts(axes) for number in plt.get_fignums() for axes in plt.figure(number).axes]


def facts(axes: Any) -> dict[str, Any]:
    """Reads the artists of one matplotlib axes."""
    axes.figure.canvas.draw()
    rectangles = [patch for patch in axes.patches if type(patch).__name__ == "Rectangle"]
    horizontal = _is_horizontal(axes)
    legend = axes.get_legend()
    title = axes.get_title() or (axes.figure._suptitle.get_text() if axes.figure._suptitle else "")
    return {
        "title": title,
        "x_label": axes.get_xlabel(),
        "y_label": axes.get_ylabel(),
        "x_ticks": [label.get_text() for label in axes.get_xticklabels()],
        "y_ticks": [label.get_text() for label in axes.get_yticklabels()],
        "bars": [float(bar.get_width() if horizontal else bar.get_height()) for bar in rectangles],
        "lines": [[float(y) for y in _floats(line.get_ydata())] for line in axes.lines],
        "point_count": sum(len(collection.get_offsets()) for collection in axes.collections),
        "patch_count": len(axes.patches),
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
    }


def _is_horizontal(axes: Any) -> bool:
    containers = [one for one in axes.containers if type(one).__name__ == "BarContainer"]
    return bool(containers) and all(one.orientation == "horizontal" for one in containers)


def _floats(values: Any) -> list[float]:
    import numpy as np

    try:
        return list(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        return []


def tables(namespace: Mapping[str, Any]) -> dict[str, bytes]:
    """Frames and series as Parquet, scalars and short lists as JSON in a one-cell frame; by name."""
    found: dict[str, bytes] = {}
    for name, value in namespace.items():
        if name.startswith("_") or len(found) >= MAX_TABLES:
            continue
        table = _as_table(value)
        if table is not None and len(table) <= MAX_TABLE_ROWS:
            data = _parquet(table)
            if data is not None:
                found[name] = data
    return found


def _parquet(table: Any) -> bytes | None:
    """What Arrow cannot hold, as the intervals of `pandas.cut`, comes as text; None for what it never holds."""
    for as_texts in (False, True):
        buffer = io.BytesIO()
        try:
            (_with_texts(table) if as_texts else table).to_parquet(buffer)
        except Exception:  # noqa: BLE001  (no evidence for a judge)
            continue
        return buffer.getvalue()
    return None


def _with_texts(table: Any) -> Any:
    """The index as columns, and what is neither number nor date as text."""
    flat = table.reset_index()
    kept = flat.select_dtypes(["number", "bool", "datetime", "datetimetz"]).columns
    return flat.astype({name: str for name in flat if name not in kept})


def _as_table(value: Any) -> Any:
    """A frame whose columns are texts; None for what is no table."""
    import pandas as pd

    if type(value).__module__.startswith("polars") and hasattr(value, "to_pandas"):
        value = value.to_pandas()
    if isinstance(value, bool | int | float | str):
        value = pd.Series([value], name="value")
    if isinstance(value, list) and value and len(value) <= 1000:
        value = pd.Series(value, name="value")
    if isinstance(value, pd.Series):
        value = value.to_frame(name=str(value.name) if value.name is not None else "value")
    if not isinstance(value, pd.DataFrame):
        return None
    return value.set_axis([str(column) for column in value.columns], axis=1)
