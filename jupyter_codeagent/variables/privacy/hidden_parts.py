"""Find hidden values inside other values: an object may hold a hidden frame, or be derived from one.

A frame can be narrowed: its columns are hidden by its own name. Some values cannot: a grouping, a lazy plan, a
fitted model, a frame in the attributes of another. They are refused where they hold a hidden value, and where they
name a column that is hidden in any variable. Nothing is run or computed to find out.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.describe import describe_by_type
from jupyter_codeagent.variables.introspection import lookup_by_type
from jupyter_codeagent.variables.privacy.column_filter import can_be_narrowed
from jupyter_codeagent.variables.type_names import (
    ARROW_BATCH,
    ARROW_TABLE,
    DASK_FRAME,
    DUCKDB_RELATION,
    PANDAS_FRAME,
    PANDAS_INDEX,
    PANDAS_SERIES,
    POLARS_EXPRESSION,
    POLARS_FRAME,
    POLARS_LAZY_FRAME,
    POLARS_SERIES,
    XARRAY_ARRAY,
    XARRAY_DATASET,
)

_RELATIONS = (
    *DUCKDB_RELATION,
    *DASK_FRAME,
    "ibis.expr.types.relations.Table",
)
"""Plans over other data, which may be a frame in memory."""
_FIGURES = ("matplotlib.artist.Artist", "plotly.basedatatypes.BaseFigure")


@dataclass(frozen=True, kw_only=True)
class HiddenParts:
    """Everything that is hidden of all variables at one moment."""

    names: Mapping[int, str] = field(default_factory=dict)
    """`id` of a value of which something is hidden -> a variable that had it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Hidden label -> the variable."""
    frames: Mapping[frozenset[str], str] = field(default_factory=dict)
    """All labels of a frame that is hidden as a whole -> the variable."""
    own: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Variable -> labels that are hidden of it, under this name or another one."""

    def refusal(self, whole: object, value: object) -> str:
        """Return why a copy of `whole` must not contain `value`, which may be `whole` itself; empty if it may.

        Called for each object that a copy reaches.
        """
        if value is not whole and id(value) in self.names:
            return f"it holds {self.names[id(value)]!r}, of which something is hidden"
        if not self.labels and not self.frames:
            return ""
        named = lookup_by_type(value, _NAMED)
        if named is None or (value is whole and can_be_narrowed(value)) or _is_part(value, whole):
            return ""
        kind = f"{type(value).__module__.partition('.')[0]} {type(value).__name__}"
        if named is _of_figure:
            return f"a {kind} may show what is hidden"
        if label := self._first_hidden(named(value)):
            holds = "is" if value is whole else "holds"
            return f"it {holds} a {kind} of {label!r}, which is hidden in {self.labels[label]!r}"
        if named is _of_lazy_frame:
            for labels in map(frozenset, _plan_schemas(_plan_of(value))):
                if labels in self.frames:
                    return f"its plan holds a frame like {self.frames[labels]!r}, which is hidden"
        return ""

    def reason_to_withhold(self, value: object) -> str:
        """Return why a variable is not shared; empty if it is.

        Lazy plans and expressions are checked when they are copied or queried: reading one serializes its data.
        """
        is_plan = lookup_by_type(value, _NAMED) in (_of_lazy_frame, _of_expression)
        return "" if is_plan else self.refusal(value, value)

    def __bool__(self) -> bool:
        return bool(self.names or self.labels)

    def without_names(
        self, summaries: Sequence[VariableSummary], values: Mapping[str, Any]
    ) -> tuple[VariableSummary, ...]:
        """Replace summaries that would name hidden columns with type-only ones."""
        return tuple(
            describe_by_type(summary.name, values[summary.name]) if self._names_hidden(summary, values) else summary
            for summary in summaries
        )

    def _names_hidden(self, summary: VariableSummary, values: Mapping[str, Any]) -> bool:
        if summary.name not in values:
            return False
        texts = [summary.headline.removeprefix(f"{summary.name}:"), *(column.name for column in summary.columns)]
        if can_be_narrowed(values[summary.name]):
            return any(repr(label) in text for label in self.own.get(summary.name, ()) for text in texts)
        words = [re.compile(rf"(?<!\w){re.escape(label)}(?!\w)") for label in self.labels]
        return any(word.search(text) for word in words for text in texts)

    def _first_hidden(self, labels: Iterable[object]) -> str:
        """Return the first hidden label, or the hidden first level of a label; empty if none is hidden."""
        texts = ((str(label), str(label[0]) if isinstance(label, tuple) and label else "") for label in labels)
        return next((text for both in texts for text in both if text in self.labels), "")


NOTHING_HIDDEN = HiddenParts()


def frame_labels(value: object) -> frozenset[str] | None:
    """Return the labels of a frame's columns; None for other values."""
    labels = lookup_by_type(value, _FRAMES)
    return None if labels is None else frozenset(map(str, labels(value)))


def _is_part(value: object, whole: object) -> bool:
    """Check for the index or a polars column of a frame, which is narrowed together with the frame."""
    if not can_be_narrowed(whole):
        return False
    return lookup_by_type(value, _PARTS) is not None


def _of_frame(frame: Any) -> list[object]:
    return [*frame.columns, *frame.columns.names, *frame.index.names]


def _of_series(series: Any) -> list[object]:
    return [series.name, *series.index.names]


def _of_index(index: Any) -> list[object]:
    return list(index.names)


def _of_grouping(grouped: Any) -> list[object]:
    return list(grouped._grouper.names)


def _of_estimator(estimator: Any) -> list[object]:
    names = vars(estimator).get("feature_names_in_")
    return [] if names is None else list(names)


def _of_dataset(dataset: Any) -> list[object]:
    return list(dataset.variables)


def _of_data_array(array: Any) -> list[object]:
    return [array.name, *array.coords, *array.dims]


def _of_lazy_frame(lazy: Any) -> list[object]:
    """Return the labels of frames and Series in memory that the plan holds; labels of its files do not count."""
    return [label for labels in _plan_schemas(_plan_of(lazy)) for label in labels]


def _of_expression(expression: Any) -> list[object]:
    """Return the names of the Series that stand in it as literals: ``pl.col("a").is_in(people["wage"])``."""
    return [label for labels in _plan_schemas(_plan_of(expression.meta)) for label in labels]


def _of_columns(value: Any) -> list[object]:
    """Return columns that are known without asking a database or computing anything."""
    return list(value.columns)


def _of_figure(figure: Any) -> list[object]:
    return []


def _plan_of(lazy: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the format is deprecated, since it differs between versions of polars
        return json.loads(lazy.serialize(format="json"))


def _plan_schemas(plan: Any) -> list[list[str]]:
    """Return the labels of each frame and each Series in memory that a plan of polars holds."""
    import polars as pl

    found: list[list[str]] = []
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            scan = node.get("DataFrameScan")
            if isinstance(scan, dict):
                found.append(list(scan["schema"]["fields"]))
            literal = node.get("Literal")
            if isinstance(literal, dict) and "Series" in literal:
                found.append(pl.read_ipc_stream(io.BytesIO(bytes(literal["Series"])), n_rows=0).columns)
            waiting.extend(part for kind, part in node.items() if kind != "DataFrameScan")
        elif isinstance(node, list) and not (node and isinstance(node[0], int)):
            waiting.extend(node)
    return found


_PARTS: dict[str, bool] = dict.fromkeys((*PANDAS_INDEX, POLARS_SERIES), True)
_FRAMES: dict[str, Callable[[Any], list[object]]] = {
    **dict.fromkeys(PANDAS_FRAME, lambda frame: list(frame.columns)),
    POLARS_FRAME: lambda frame: list(frame.columns),
    **dict.fromkeys((ARROW_TABLE, ARROW_BATCH), lambda table: list(table.schema.names)),
}
_NAMED: dict[str, Callable[[Any], list[object]]] = {
    **_FRAMES,
    **dict.fromkeys(PANDAS_FRAME, _of_frame),
    **dict.fromkeys(PANDAS_SERIES, _of_series),
    **dict.fromkeys(PANDAS_INDEX, _of_index),
    "pandas.core.groupby.groupby.BaseGroupBy": _of_grouping,
    POLARS_SERIES: lambda series: [series.name],
    POLARS_LAZY_FRAME: _of_lazy_frame,
    POLARS_EXPRESSION: _of_expression,
    XARRAY_DATASET: _of_dataset,
    XARRAY_ARRAY: _of_data_array,
    "sklearn.base.BaseEstimator": _of_estimator,
    **dict.fromkeys(_RELATIONS, _of_columns),
    **dict.fromkeys(_FIGURES, _of_figure),
}
