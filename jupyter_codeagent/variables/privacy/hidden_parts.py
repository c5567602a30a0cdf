"""What is hidden, recognised inside of other values: an object may hold a hidden frame, or be made of one.

A frame of its own is another value, whose columns are hidden by its own name. What cannot be narrowed is not: a
grouping, a lazy plan, a fitted model, a frame in the attributes of another. It is refused where it holds a hidden
value itself, and where it names a column that is hidden somewhere. Nothing is run or computed to find out.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.describe import unknown
from jupyter_codeagent.variables.privacy.column_filter import can_be_narrowed, known_kind

_RELATIONS = (
    *("duckdb._relation.DuckDBPyRelation", "duckdb.duckdb.DuckDBPyRelation", "_duckdb.DuckDBPyRelation"),
    *("dask.dataframe.dask_expr._collection.DataFrame", "dask_expr._collection.DataFrame"),
    "ibis.expr.types.relations.Table",
)
"""Over something else, which may be a frame in memory."""
_FIGURES = ("matplotlib.artist.Artist", "plotly.basedatatypes.BaseFigure")


@dataclass(frozen=True, kw_only=True)
class HiddenParts:
    """Of all variables at one moment."""

    names: Mapping[int, str] = field(default_factory=dict)
    """`id` of a value of which something is hidden -> a variable that it was seen under."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Hidden label -> the variable."""
    frames: Mapping[frozenset[str], str] = field(default_factory=dict)
    """All labels of a frame that is hidden as a whole -> the variable."""
    own: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Variable -> labels that are hidden of it, under this name or another one."""

    def refusal(self, whole: object, value: object) -> str:
        """Why a copy of `whole` must not have `value` in it, which may be `whole` itself; empty if it may.

        Called for each object that a copy reaches.
        """
        if value is not whole and id(value) in self.names:
            return f"it holds {self.names[id(value)]!r}, of which something is hidden"
        if not self.labels and not self.frames:
            return ""
        named = known_kind(value, _NAMED)
        if named is None or (value is whole and can_be_narrowed(value)) or _is_part(value, whole):
            return ""
        kind = f"{type(value).__module__.partition('.')[0]} {type(value).__name__}"
        if named is _of_figure:
            return f"a {kind} may show what is hidden"
        if label := self._first_hidden(named(value)):
            holds = "is" if value is whole else "holds"
            return f"it {holds} a {kind} of {label!r}, which is hidden in {self.labels[label]!r}"
        if named is _of_lazy_frame:
            for labels in map(frozenset, _plan_schemas(value)):
                if labels in self.frames:
                    return f"its plan holds a frame like {self.frames[labels]!r}, which is hidden"
        return ""

    def withheld(self, value: object) -> str:
        """Why nothing of a variable is told or copied; empty if it is. A lazy plan is looked into at its copy."""
        is_lazy = known_kind(value, _NAMED) is _of_lazy_frame
        return "" if is_lazy else self.refusal(value, value)

    def __bool__(self) -> bool:
        return bool(self.names or self.labels)

    def without_names(
        self, summaries: Sequence[VariableSummary], values: Mapping[str, Any]
    ) -> tuple[VariableSummary, ...]:
        """Told by type only where a description would name what is hidden."""
        return tuple(
            unknown(summary.name, values[summary.name]) if self._tells(summary, values) else summary
            for summary in summaries
        )

    def _tells(self, summary: VariableSummary, values: Mapping[str, Any]) -> bool:
        if summary.name not in values:
            return False
        told = [summary.headline.removeprefix(f"{summary.name}:"), *(column.name for column in summary.columns)]
        if can_be_narrowed(values[summary.name]):
            return any(repr(label) in text for label in self.own.get(summary.name, ()) for text in told)
        words = [re.compile(rf"(?<!\w){re.escape(label)}(?!\w)") for label in self.labels]
        return any(word.search(text) for word in words for text in told)

    def _first_hidden(self, labels: Iterable[object]) -> str:
        """By its own text, or by its first part where labels have several; empty if none is hidden."""
        texts = ((str(label), str(label[0]) if isinstance(label, tuple) and label else "") for label in labels)
        return next((text for both in texts for text in both if text in self.labels), "")


NOTHING_HIDDEN = HiddenParts()


def frame_labels(value: object) -> frozenset[str] | None:
    """The labels of a frame's columns; None for other values."""
    labels = known_kind(value, _FRAMES)
    return None if labels is None else frozenset(map(str, labels(value)))


def _is_part(value: object, whole: object) -> bool:
    """Of a frame that is a value of its own: its index, or a column of polars."""
    if not can_be_narrowed(whole):
        return False
    return known_kind(value, _PARTS) is not None


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
    """Of the frames in memory that its plan holds; files of the plan are another source."""
    return [label for labels in _plan_schemas(lazy) for label in labels]


def _of_columns(value: Any) -> list[object]:
    """Known without asking a database or computing anything."""
    return list(value.columns)


def _of_figure(figure: Any) -> list[object]:
    return []


def _plan_schemas(lazy: Any) -> list[list[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated, as its layout follows the version of polars
        plan = json.loads(lazy.serialize(format="json"))
    found: list[list[str]] = []
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            scan = node.get("DataFrameScan")
            if isinstance(scan, dict):
                found.append(list(scan["schema"]["fields"]))
            waiting.extend(part for kind, part in node.items() if kind != "DataFrameScan")
        elif isinstance(node, list) and not (node and isinstance(node[0], int)):
            waiting.extend(node)
    return found


_PARTS: dict[str, bool] = dict.fromkeys(
    ("pandas.Index", "pandas.core.indexes.base.Index", "polars.series.series.Series"), True
)
_FRAMES: dict[str, Callable[[Any], list[object]]] = {
    **dict.fromkeys(("pandas.DataFrame", "pandas.core.frame.DataFrame"), lambda frame: list(frame.columns)),
    "polars.dataframe.frame.DataFrame": lambda frame: list(frame.columns),
    **dict.fromkeys(("pyarrow.lib.Table", "pyarrow.lib.RecordBatch"), lambda table: list(table.schema.names)),
}
_NAMED: dict[str, Callable[[Any], list[object]]] = {
    **_FRAMES,
    **dict.fromkeys(("pandas.DataFrame", "pandas.core.frame.DataFrame"), _of_frame),
    **dict.fromkeys(("pandas.Series", "pandas.core.series.Series"), _of_series),
    **dict.fromkeys(("pandas.Index", "pandas.core.indexes.base.Index"), _of_index),
    "pandas.core.groupby.groupby.BaseGroupBy": _of_grouping,
    "polars.series.series.Series": lambda series: [series.name],
    "polars.lazyframe.frame.LazyFrame": _of_lazy_frame,
    "xarray.core.dataset.Dataset": _of_dataset,
    "xarray.core.dataarray.DataArray": _of_data_array,
    "sklearn.base.BaseEstimator": _of_estimator,
    **dict.fromkeys(_RELATIONS, _of_columns),
    **dict.fromkeys(_FIGURES, _of_figure),
}
